"""``gpunet watch``: designs a case anew whenever it is saved, and says what that changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpunet.cli_options import CasePath, ChosenEngine, EngineName, ObjectiveNames, TimeLimit, case_of, check_seconds
from gpunet.shell import CatalogDirs, complain, print_report, spare_collecting

if TYPE_CHECKING:
    from gpunet.models.design import Design

EPILOG = """\b
    Examples:
      gpunet watch case.yaml
      gpunet watch case.yaml --objective power
      gpunet watch case.yaml --catalog my-parts   also when a part there changes
    """
LOOK_S = 0.2
"""Seconds between two looks at the files."""


def watch(
    case: CasePath,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    time_limit: TimeLimit = None,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Design a case anew whenever it is saved, and show what changed.

    The case, the quotes that it names and the folders of --catalog are watched. Mistakes in them are told, and the next
    save is waited for; what changed is told against the last design there was. Ctrl-C ends it.
    """
    from gpunet.catalogs import load_catalog

    check_seconds(time_limit)
    saves = Saves()
    quotes: list[Path] = []
    if not case.exists():
        # Most likely a slip of the pen: waiting for such a file to appear would help nobody.
        case_of(case, load_catalog(), objective)
    spare_collecting()
    before: Design | None = None
    while True:
        quotes = _quotes_of(case, quotes)
        saves.mark([case, *quotes, *(catalog_dirs or ())])
        before = _designed(case, catalog_dirs, objective, engine, time_limit, before) or before
        complain(f"{case}: waiting for the next save; Ctrl-C ends this")
        saves.wait()


def _quotes_of(case: Path, known: list[Path]) -> list[Path]:
    """The quote files that a case names; while the case cannot be read, those that were known."""
    from gpunet.catalogs.located_yaml import read_yaml
    from gpunet.models.problems import InputError

    try:
        data = read_yaml(case).data
    except InputError:
        return known
    named = data.get("quotes") if isinstance(data, dict) else None
    return [case.parent / name for name in named if isinstance(name, str)] if isinstance(named, list) else []


def _designed(
    path: Path,
    catalog_dirs: list[Path] | None,
    objective: str | None,
    engine: EngineName,
    time_limit_s: float | None,
    before: Design | None,
) -> Design | None:
    """Design the case and show the answer, or what is wrong; gives back the design where there is one to build."""
    from gpunet import progress
    from gpunet.catalogs import load_catalog
    from gpunet.models.problems import InputError

    try:
        catalog = load_catalog(catalog_dirs or ())
        case = case_of(path, catalog, objective)
    except InputError as error:
        complain(error.render())
        return None

    def work(tell: progress.Tell) -> Design:
        from gpunet.solver.optimize import optimize as solve

        return solve(case, catalog, engine=engine.value, time_limit_s=time_limit_s, tell=tell)

    design = progress.run("designing", work)
    from gpunet.report.answer import answer, failed_checks, no_answer
    from gpunet.report.blocks import Paragraph
    from gpunet.report.changes_text import changes

    result = design.result
    refused = result.verify is not None and not result.verify.passed
    if refused or result.totals is None:
        complain(failed_checks(result) if refused else no_answer(result))
        return None
    print_report(changes(before, design) if before else [Paragraph(answer(design))])
    return design


class _Seen(NamedTuple):
    """How a file looked. A file that an editor puts in the place of the old one has another number."""

    path: Path
    number: int
    changed_ns: int
    size: int


class Saves:
    """Notices when any of some files, or of the files in some folders, is saved.

    It looks at them again and again, which works on every file system, also where a file is replaced by another of its
    name, as most editors do it. A file that is gone for a moment is waited for.
    """

    def __init__(self, sleep: Callable[[float], object] = time.sleep) -> None:
        self._paths: list[Path] = []
        self._sleep = sleep
        self._known: list[_Seen] = []

    def mark(self, paths: Iterable[Path]) -> None:
        """Take these files, and those in these folders, for known as they are now."""
        self._paths = list(paths)
        self._known = self._look()

    def wait(self) -> None:
        """Return when the files are others than those known, and are no longer being written."""
        seen = self._known
        while True:
            self._sleep(LOOK_S)
            before, seen = seen, self._look()
            if seen == before and seen != self._known:
                return

    def _look(self) -> list[_Seen]:
        return sorted(seen for path in self._paths for seen in _files(path))


def _files(path: Path) -> Iterator[_Seen]:
    try:
        for file in path.iterdir() if path.is_dir() else [path]:
            found = file.stat()
            yield _Seen(file, found.st_ino, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):
        # Gone between the look into the folder and the look at the file, which the next look will tell; or a name that
        # no file can have.
        return
