"""Reads the shipped catalogue and the catalogue folders of a user into one ``Catalog``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from gpunet.catalogs.media import split_medium_id
from gpunet.catalogs.plain_yaml import read_plain_yaml
from gpunet.models.base import Strict
from gpunet.models.evidence import Source
from gpunet.models.parts import (
    Accessory,
    Cable,
    Catalog,
    Fibre,
    Module,
    Nic,
    OpticalInterface,
    Part,
    Server,
    Switch,
)
from gpunet.models.problems import InputError, Problem

if TYPE_CHECKING:
    from gpunet.catalogs.located_yaml import Located

Raw = dict[str, dict[str, Any]]
"""File stem, then id, then the entry as written, with its id filled in."""

VERSION_DIGITS = 12


@dataclass(frozen=True)
class FileKind:
    """What one file of a catalogue holds."""

    model: type[Strict]
    kind: str
    """Kind of part as people name it; empty for what cannot be bought."""


FILES: dict[str, FileKind] = {
    "sources": FileKind(Source, ""),
    "interfaces": FileKind(OpticalInterface, ""),
    "switches": FileKind(Switch, "switch"),
    "nics": FileKind(Nic, "nic"),
    "servers": FileKind(Server, "server"),
    "modules": FileKind(Module, "module"),
    "cables": FileKind(Cable, "cable"),
    "fibres": FileKind(Fibre, "fibre"),
    "accessories": FileKind(Accessory, "accessory"),
}
"""Files of a catalogue folder by stem, which is also the name of the ``Catalog`` field they fill."""

PART_KINDS: tuple[str, ...] = tuple(entry.kind for entry in FILES.values() if entry.kind)
"""Kinds of part: ``switch``, ``nic``, ``server``, ``module``, ``cable``, ``fibre``, ``accessory``."""


def load_catalog(extra: Sequence[Path | str] = ()) -> Catalog:
    """The shipped catalogue, then each folder of ``extra`` on top, in order.

    A folder holds files named and written as the shipped ones, as many as it needs. An entry whose id is known
    replaces the whole entry, any other is added. ``Catalog.version`` is a hash of the content, equal on every machine.

    Raises ``InputError`` with every mistake in the user's folders, each with file, line and column.
    """
    if not extra:
        return _shipped()
    catalog, raw = _shipped(), {stem: dict(entries) for stem, entries in _shipped_raw().items()}
    changed: dict[str, dict[str, Any]] = {stem: dict(getattr(catalog, stem)) for stem in FILES}
    for folder in extra:
        _lay_over(Path(folder), raw, changed)
    return catalog.model_copy(update={"version": _version(raw), **changed})


def find_part(catalog: Catalog, part_id: str) -> Part | None:
    """The part with an id, or none. The id of a stock length, such as ``nv-mfp7e10-n030``, finds its cable or fibre."""
    kind = part_kind(catalog, part_id)
    if kind is None:
        return None
    stem = next(stem for stem, entry in FILES.items() if entry.kind == kind)
    parts: Mapping[str, Part] = getattr(catalog, stem)
    return parts.get(part_id) or parts[split_medium_id(part_id)[0]]


def part_kind(catalog: Catalog, part_id: str) -> str | None:
    """Kind of the part with an id, one of ``PART_KINDS``; none where there is no such part.

    The id of a stock length is of the kind of its cable or fibre, provided that length is sold.
    """
    for stem, entry in FILES.items():
        if entry.kind and part_id in getattr(catalog, stem):
            return entry.kind
    base, length_m = split_medium_id(part_id)
    if length_m is None:
        return None
    media: tuple[tuple[str, Mapping[str, Cable | Fibre]], ...] = (("cable", catalog.cables), ("fibre", catalog.fibres))
    for kind, parts in media:
        if base in parts and any(stock.length_m == length_m for stock in parts[base].lengths):
            return kind
    return None


@cache
def _shipped() -> Catalog:
    raw = _shipped_raw()
    return Catalog.model_validate({"version": _version(raw), **raw})


@cache
def _shipped_raw() -> Raw:
    folder = files(__package__)
    raw: Raw = {}
    for stem in FILES:
        text = folder.joinpath(f"{stem}.yaml").read_text(encoding="utf-8")
        entries: dict[str, Any] = cast("dict[str, Any]", read_plain_yaml(text))
        raw[stem] = {key: _with_id(stem, key, entry) for key, entry in entries.items()}
    return raw


def _with_id(stem: str, key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """An entry with the id that its key gives it; sources have none."""
    return entry if stem == "sources" else {"id": key, **entry}


def _version(raw: Raw) -> str:
    """Hash of the content; layout, comments and order of the files do not enter."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:VERSION_DIGITS]


def _lay_over(folder: Path, raw: Raw, parts: dict[str, dict[str, Any]]) -> None:
    """Put the entries of a user's folder over what there is."""
    # Reading with positions costs start-up time, which only users with a catalogue of their own should pay.
    from gpunet.catalogs.located_yaml import check, read_yaml

    problems: list[Problem] = []
    located: dict[str, Located] = {}
    for path in _catalogue_files(folder):
        stem = path.stem
        try:
            located[stem] = read_yaml(path)
        except InputError as error:
            problems += error.problems
            continue
        for key in _entries(located[stem], problems):
            entry = _id_filled_in(located[stem], stem, key, problems)
            instance, found = check(FILES[stem].model, located[stem], (key,))
            problems += found
            if instance is not None:
                raw[stem][key], parts[stem][key] = entry, instance
    if not problems:
        problems = [
            located[broken.stem].problem(
                (broken.key, *broken.place), expected=broken.expected, nearest=broken.nearest, message=broken.message
            )
            for broken in _broken_references(parts)
            if broken.stem in located and broken.key in _entries(located[broken.stem], [])
        ]
    if problems:
        raise InputError(problems)


def _catalogue_files(folder: Path) -> list[Path]:
    """The catalogue files of a user's folder."""
    from gpunet.catalogs.schema_words import nearest

    if not folder.is_dir():
        raise InputError([Problem(str(folder), found="no folder", expected="a folder with catalogue files")])
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml") and path.is_file())
    names = [f"{stem}.yaml" for stem in FILES]
    problems = [
        Problem(
            str(path),
            found="a file of unknown name",
            expected=f"one of {', '.join(names)}",
            nearest=nearest(path.name, names),
        )
        for path in paths
        if path.name not in names
    ]
    if not paths:
        problems = [Problem(str(folder), found="no catalogue file", expected=f"one of {', '.join(names)}")]
    if problems:
        raise InputError(problems)
    return paths


def _entries(located: Located, problems: list[Problem]) -> list[str]:
    """Ids of a user's file."""
    if not isinstance(located.data, dict):
        problems.append(located.problem((), expected="a mapping from ids to entries"))
        return []
    return list(located.data)


def _id_filled_in(located: Located, stem: str, key: str, problems: list[Problem]) -> Any:
    entry = located.at((key,))
    if stem == "sources" or not isinstance(entry, dict):
        return entry
    if entry.get("id", key) != key:
        problems.append(located.problem((key, "id"), expected=f"no id, or {key!r}, as the entry is called"))
    entry["id"] = key
    return entry


class _Broken(NamedTuple):
    """A reference that no answer could be computed with."""

    stem: str
    key: str
    place: tuple[str | int, ...] = ()
    expected: str = ""
    nearest: str = ""
    message: str = ""


def _broken_references(parts: Mapping[str, Mapping[str, Any]]) -> Iterator[_Broken]:
    """References to entries that do not exist, and ids that mean two things."""
    from gpunet.catalogs.schema_words import nearest

    def unless_known(name: str | None, known: str, what: str, broken: _Broken) -> Iterator[_Broken]:
        if name is not None and name not in parts[known]:
            yield broken._replace(expected=f"{what} of the catalogue", nearest=nearest(name, parts[known]))

    for key, module in parts["modules"].items():
        broken = _Broken("modules", key, ("interface",))
        yield from unless_known(module.interface, "interfaces", "an optical interface", broken)
    for key, server in parts["servers"].items():
        for number, role in enumerate(server.cages):
            yield from unless_known(role.nic, "nics", "a NIC", _Broken("servers", key, ("cages", number, "nic")))
    for key, switch in parts["switches"].items():
        for number, name in enumerate(switch.refuses_modules):
            broken = _Broken("switches", key, ("refuses_modules", number))
            yield from unless_known(name, "modules", "a module", broken)
    for stem, entry in FILES.items():
        for key in parts[stem] if entry.kind else ():
            if split_medium_id(key)[1] is not None:
                yield _Broken(stem, key, message="an id may not end like a stock length (-n030): lengths are named so")
            for other, namesake in FILES.items():
                if other != stem and namesake.kind and key in parts[other]:
                    yield _Broken(stem, key, message=f"{other}.yaml has a part of this id")
