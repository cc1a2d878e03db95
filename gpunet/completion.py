"""What the Tab key offers for words whose values the command line cannot know by itself.

A shell offers its own file names where nothing is given here. Nothing heavy is imported, and nothing may fail: half of
what is completed is not there yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpunet.models.parts import Catalog

WORDS = ("protocol", "vendor", "form-factor", "optics", "objective", "placement")
"""What ``compare --by`` knows beside case files."""
OBJECTIVES = ("cost", "power", "tco")
FABRICS = ("backend", "storage", "frontend", "oob")
_CASES = (".yaml", ".yml")
_DESIGNS = (".json",)


def case_files(incomplete: str) -> list[str]:
    """Case files, and the folders on the way to them."""
    return _files(incomplete, _CASES)


def design_files(incomplete: str) -> list[str]:
    """Design files, and the folders on the way to them."""
    return _files(incomplete, _DESIGNS)


def cases_and_designs(incomplete: str) -> list[str]:
    """Files that hold a case or a design, and folders."""
    return _files(incomplete, (*_CASES, *_DESIGNS))


def objectives(incomplete: str) -> list[str]:
    """Objectives by rank: after a comma those that are not named yet."""
    done, comma, _ = incomplete.rpartition(",")
    named = done.split(",")
    return [f"{done}{comma}{name}" for name in OBJECTIVES if name not in named]


def fabrics(incomplete: str) -> Sequence[str]:
    """Fabrics of a case."""
    del incomplete
    return FABRICS


def comparisons(incomplete: str) -> list[str]:
    """What ``compare --by`` takes: a word, or another case."""
    return [*WORDS, *case_files(incomplete)]


def export_formats(incomplete: str) -> list[str]:
    """Formats of ``gpunet export``."""
    from gpunet.export import FORMATS

    del incomplete
    return list(FORMATS)


def label_sheets(incomplete: str) -> list[str]:
    """Kinds of label sheets."""
    from gpunet.report.labels import SHEETS

    del incomplete
    return list(SHEETS)


def part_ids(ctx: Any, incomplete: str) -> Iterable[str]:
    """Parts of the catalogue, those of ``--catalog`` among them."""
    from gpunet.report.part_text import names_of

    catalog = _catalog(ctx)
    if catalog is None:
        return []
    start = incomplete.casefold()
    return sorted({name for name in names_of(catalog).values() if name.casefold().startswith(start)})


def part_kinds(incomplete: str) -> Sequence[str]:
    """Kinds of parts."""
    from gpunet.catalogs import PART_KINDS

    del incomplete
    return list(PART_KINDS)


def vendors(ctx: Any, incomplete: str) -> Iterable[str]:
    """Vendors of parts."""
    from gpunet.report.catalog_text import parts_of

    del incomplete
    catalog = _catalog(ctx)
    return sorted({part.vendor for parts in parts_of(catalog).values() for part in parts}) if catalog else []


def _catalog(ctx: Any) -> Catalog | None:
    """The catalogue with the folders that the words so far lay over it; none where one of them is wrong."""
    from gpunet.catalogs import load_catalog
    from gpunet.models.problems import InputError

    try:
        return load_catalog([Path(folder) for folder in ctx.params.get("catalog_dirs") or ()])
    except InputError:
        return None


def _files(incomplete: str, suffixes: Sequence[str]) -> list[str]:
    """Names that go on from ``incomplete``: files of these kinds, and folders, which end in a slash.

    A shell puts a blank behind the only name it is offered, and behind a folder that would be in the way: a folder that
    is alone is gone into. Names with a blank, and what begins with ``~``, are left to the shell, which quotes them.
    """
    while True:
        head, slash, start = incomplete.rpartition("/")
        folder = Path(f"{head}{slash}" or ".")
        try:
            entries = sorted(folder.iterdir())
        except (OSError, ValueError):
            return []
        found = []
        for entry in entries:
            name = entry.name
            hidden = name.startswith(".") and not start.startswith(".")
            if hidden or not name.startswith(start) or any(mark.isspace() for mark in name):
                continue
            if entry.is_dir():
                found.append(f"{head}{slash}{name}/")
            elif name.lower().endswith(tuple(suffixes)):
                found.append(f"{head}{slash}{name}")
        if len(found) != 1 or not found[0].endswith("/"):
            return found
        incomplete = found[0]
