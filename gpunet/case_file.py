"""Reads a case: its shape from the models, its part names from the catalogue, its sense from the rules between fields.

All mistakes of a file are reported together, each at its line, so that one round of mending is enough.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path as FilePath
from typing import Any

from gpunet.case_buying import buying_problems
from gpunet.case_phases import phases_problems
from gpunet.catalogs import medium_id, split_medium_id
from gpunet.catalogs.load import FILES
from gpunet.catalogs.located_yaml import Located, check, path_text, read_yaml
from gpunet.catalogs.schema_words import Path, nearest
from gpunet.catalogs.yaml_nodes import MAX_DEPTH, MAX_DIGITS, Position
from gpunet.models.case import Case, FabricName, StorageMode
from gpunet.models.parts import Cable, Catalog, Fibre, Part
from gpunet.models.problems import InputError, Problem, quoted
from gpunet.models.study_sensitivity import PriceScenarios
from gpunet.quote_file import read_quotes

MOST_LISTED = 12
_EACH = "*"
_STEP = re.compile(r"\['(?P<odd>[^']*)'\]|\[(?P<index>\d+)\]|(?P<plain>[^.\[\]]+)")


@dataclass(frozen=True)
class CaseFile:
    """A case and where each of its fields stands."""

    case: Case
    located: Located

    def position_of(self, path: str | Path) -> Position | None:
        """Where a field such as ``limits.cost_usd`` or ``owned[0].part`` is written; none where the file leaves it out
        or the case came from no file."""
        return self.located.key_position(_parsed(path) if isinstance(path, str) else path)


def read_case(path: str | FilePath, catalog: Catalog) -> Case:
    """The case in a file. Raises ``InputError`` with everything that is wrong with it."""
    return read_case_file(path, catalog).case


def read_case_file(path: str | FilePath, catalog: Catalog) -> CaseFile:
    """Like ``read_case``, with the positions of the fields."""
    return _case_file(read_yaml(path), catalog, FilePath(path).stem, FilePath(path).parent)


def case_from_data(data: Mapping[str, Any], catalog: Catalog, name: str = "case") -> Case:
    """The case in nested dicts and lists, as a Python program would write it. Raises ``InputError``.

    ``name`` stands for the file in messages, and is the name of the case where the data give none. Quote files are
    looked for from the current folder on.
    """
    return _case_file(Located(name, _plain(data, name, ())), catalog, name, FilePath()).case


def _case_file(located: Located, catalog: Catalog, name: str, folder: FilePath) -> CaseFile:
    case, problems = check(Case, located)
    quotes, wrong = read_quotes(located, catalog, folder)
    # What is wrong with a quote says more than that it is neither a name nor a quote.
    problems = [problem for problem in problems if not problem.path.startswith("quotes[")] + wrong
    told = {problem.path for problem in problems}
    problems += [problem for problem in _unknown_names(located, catalog, _REFERENCES) if problem.path not in told]
    name_given = located.data.get("name") if isinstance(located.data, dict) else None
    if isinstance(name_given, str) and not name_given.isprintable():
        problems.append(located.problem(("name",), expected="printable text on one line"))
    if case is not None and case.quotes is not None:
        case = case.model_copy(update={"quotes": tuple(quotes.get(i, quote) for i, quote in enumerate(case.quotes))})
    if case is not None:
        problems += _contradictions(case, located)
        problems += buying_problems(case, located)
        problems += phases_problems(case, located, catalog)
    if case is None or problems:
        raise InputError(problems)
    if not case.name:
        case = case.model_copy(update={"name": "".join(mark if mark.isprintable() else "?" for mark in name)})
    return CaseFile(case, located)


def read_scenarios(path: str | FilePath, catalog: Catalog) -> dict[str, dict[str, float]]:
    """Price scenarios in a file: scenario -> part -> unit price, USD. Raises ``InputError``."""
    located = read_yaml(path)
    found, problems = check(PriceScenarios, located)
    told = {problem.path for problem in problems}
    names = (_Reference(("scenarios", _EACH, _EACH), _owned, by_key=True),)
    problems += [problem for problem in _unknown_names(located, catalog, names) if problem.path not in told]
    if found is None or problems:
        raise InputError(problems)
    return found.scenarios


@dataclass(frozen=True)
class _Names:
    """Names that a field may hold."""

    what: str
    known: Iterable[str]
    also_called: Mapping[str, str]
    """Other names of the same things, in lower case: orderable numbers and vendors' names."""

    def expected(self) -> str:
        known = list(self.known)
        listed = ", ".join(known) if 0 < len(known) <= MOST_LISTED else "see gpunet catalog list"
        return f"{self.what} ({listed})"

    def nearest(self, name: str) -> str:
        return self.also_called.get(name.casefold()) or self._nearest_length(name) or nearest(name, self.known)

    def _nearest_length(self, name: str) -> str:
        """For a cable or fibre in a length that is not sold, the length that comes closest."""
        base, length_m = split_medium_id(name)
        if length_m is None:
            return ""
        sold = {
            stock: metres for stock in self.known for of, metres in [split_medium_id(stock)] if of == base and metres
        }
        return min(sold, key=lambda stock: abs(sold[stock] - length_m), default="")


@dataclass(frozen=True)
class _Reference:
    """A place in a case that names something of the catalogue."""

    place: tuple[str, ...]
    names: Callable[[Catalog], _Names]
    by_key: bool = False
    """True where the keys of a mapping are the names."""


def _servers(catalog: Catalog) -> _Names:
    return _Names("a server of the catalogue", catalog.servers, _also_called(catalog.servers))


def _nics(catalog: Catalog) -> _Names:
    return _Names("a NIC of the catalogue", catalog.nics, _also_called(catalog.nics))


def _vendors(catalog: Catalog) -> _Names:
    return _Names("a vendor of the catalogue", sorted({part.vendor for part in _parts(catalog).values()}), {})


def _patterns(catalog: Catalog) -> _Names:
    parts = _parts(catalog)
    groups = [f"{name}:*" for name in (*_kinds(catalog), *_vendors(catalog).known)]
    return _Names("a part id, vendor:* or kind:*", [*parts, *groups], _also_called(parts))


def _priced(catalog: Catalog) -> _Names:
    parts = {name: part for name, part in _parts(catalog).items() if name not in catalog.servers}
    what = "a part id, for a cable or fibre with or without its length"
    return _Names(what, [*parts, *_stock_lengths(catalog)], _also_called(parts))


def _owned(catalog: Catalog) -> _Names:
    media = catalog.cables.keys() | catalog.fibres.keys() | catalog.servers.keys()
    parts = {name: part for name, part in _parts(catalog).items() if name not in media}
    return _Names(
        "a part id, for a cable or fibre with its length", [*parts, *_stock_lengths(catalog)], _also_called(parts)
    )


def _patterns_of_switches(catalog: Catalog) -> _Names:
    groups = ["switch:*", *sorted({f"{switch.vendor}:*" for switch in catalog.switches.values()})]
    return _Names("a switch, vendor:* or switch:*", [*catalog.switches, *groups], _also_called(catalog.switches))


def _hosts(catalog: Catalog) -> _Names:
    """Whatever modules are plugged into."""
    hosts = {**catalog.switches, **catalog.nics, **catalog.servers}
    groups = [f"{name}:*" for name in ("switch", "nic", "server", *sorted({host.vendor for host in hosts.values()}))]
    return _Names("a switch, NIC or server, vendor:* or kind:*", [*hosts, *groups], _also_called(hosts))


def _codings(catalog: Catalog) -> _Names:
    known = sorted({module.coded_for for module in catalog.modules.values()})
    return _Names("any or a vendor that modules are coded for", ["any", *known], {})


def _spared(catalog: Catalog) -> _Names:
    kinds = ("switch", "module", "cable", "fibre", "panel")
    named = _priced(catalog)
    return _Names(f"{', '.join(kinds)} or {named.what}", [*kinds, *named.known], named.also_called)


_REFERENCES = (
    _Reference(("terms", "price_breaks", _EACH, "part"), _priced),
    _Reference(("terms", "vendor_discounts", _EACH, "vendor"), _vendors),
    _Reference(("terms", "minimum_order", _EACH), _priced, by_key=True),
    _Reference(("terms", "packs", _EACH), _priced, by_key=True),
    _Reference(("terms", "licences", _EACH, "switch"), _patterns_of_switches),
    _Reference(("terms", "coding", _EACH), _hosts, by_key=True),
    _Reference(("terms", "coding", _EACH, _EACH), _codings),
    _Reference(("spares", "failure_percent_per_year", _EACH), _spared, by_key=True),
    _Reference(("spares", "minimum", _EACH), _spared, by_key=True),
    _Reference(("supply", _EACH, "part"), _owned),
    _Reference(("cluster", "server"), _servers),
    _Reference(("cluster", "nics", _EACH), _nics),
    _Reference(("fabrics", "storage", "storage_server_nic"), _nics),
    _Reference(("fabrics", _EACH, "parts", _EACH, _EACH), _patterns),
    _Reference(("parts", _EACH, _EACH), _patterns),
    _Reference(("prices", "overrides_usd", _EACH), _priced, by_key=True),
    _Reference(("prices", "discounts", _EACH), _vendors, by_key=True),
    _Reference(("owned", _EACH, "part"), _owned),
)


def _unknown_names(located: Located, catalog: Catalog, references: Iterable[_Reference]) -> Iterator[Problem]:
    """Names in a file that the catalogue does not have. Looks at the data, so that a wrong field elsewhere, for which
    there is no ``Case``, hides none of them."""
    for reference in references:
        names = reference.names(catalog)
        known = frozenset(names.known)
        for path in _matching(located.data, reference.place):
            name = path[-1] if reference.by_key else located.at(path)
            if isinstance(name, str) and name not in known:
                yield located.problem(
                    path,
                    found=quoted(name),
                    expected=names.expected(),
                    nearest=names.nearest(name),
                    at_key=reference.by_key,
                )


def _contradictions(case: Case, located: Located) -> Iterator[Problem]:
    """Fields that are each right and make no sense together."""
    fabrics = case.fabrics
    designed = {fabric for fabric in FabricName if getattr(fabrics, fabric) is not None}
    storage_path: Path = ("fabrics", "storage", "mode")
    if fabrics.storage and fabrics.storage.mode is StorageMode.NONE:
        designed.remove(FabricName.STORAGE)
    if fabrics.storage and fabrics.storage.mode in (StorageMode.CONVERGED, StorageMode.AUTO) and not fabrics.backend:
        yield located.problem(
            storage_path,
            expected="separate or none, for there is no fabrics.backend to share",
        )
    if not designed:
        yield located.problem(
            ("fabrics",), found="no fabric to design", expected=f"at least one of {', '.join(FabricName)}"
        )
    for field in ("reserved_ports", "nics"):
        for fabric in getattr(case.cluster, field):
            if designed and fabric not in designed:
                yield located.problem(
                    ("cluster", field, str(fabric)),
                    found=f"the fabric {fabric}, which is not designed",
                    expected=f"one of {', '.join(name for name in FabricName if name in designed)}",
                    at_key=True,
                )
    first: dict[str, int] = {}
    for index, owned in enumerate(case.owned):
        if first.setdefault(owned.part, index) != index:
            message = f"owned[{first[owned.part]}] names the same part; give one entry with the sum"
            yield located.problem(("owned", index, "part"), message=message)
    first = {}
    for index, price_break in enumerate(case.terms.price_breaks if case.terms else ()):
        if first.setdefault(price_break.part, index) != index:
            message = f"price_breaks[{first[price_break.part]}] names the same part; give one entry with all its steps"
            yield located.problem(("terms", "price_breaks", index, "part"), message=message)
    first = {}
    for index, discount in enumerate(case.terms.vendor_discounts if case.terms else ()):
        if first.setdefault(discount.vendor, index) != index:
            message = f"vendor_discounts[{first[discount.vendor]}] is of the same vendor; give one entry with all steps"
            yield located.problem(("terms", "vendor_discounts", index, "vendor"), message=message)


def _kinds(catalog: Catalog) -> dict[str, Mapping[str, Part]]:
    return {entry.kind: getattr(catalog, stem) for stem, entry in FILES.items() if entry.kind}


def _parts(catalog: Catalog) -> dict[str, Part]:
    return {name: part for parts in _kinds(catalog).values() for name, part in parts.items()}


def _stock_lengths(catalog: Catalog) -> list[str]:
    media: tuple[Cable | Fibre, ...] = (*catalog.cables.values(), *catalog.fibres.values())
    return [medium_id(part.id, stock.length_m) for part in media for stock in part.lengths]


def _also_called(parts: Mapping[str, Part]) -> dict[str, str]:
    return {name.casefold(): part.id for part in parts.values() for name in (part.model, *part.part_numbers)}


def _matching(data: object, place: tuple[str, ...], path: Path = ()) -> Iterator[Path]:
    """Key paths of the data that a place stands for, ``*`` being every key or every item."""
    if not place:
        yield path
    elif isinstance(data, dict):
        for key in data if place[0] == _EACH else place[:1]:
            if key in data:
                yield from _matching(data[key], place[1:], (*path, key))
    elif isinstance(data, list) and place[0] == _EACH:
        for index, item in enumerate(data):
            yield from _matching(item, place[1:], (*path, index))


def _parsed(path: str) -> Path:
    steps = _STEP.finditer(path)
    return tuple(int(step["index"]) if step["index"] else step["odd"] or step["plain"] for step in steps)


def _plain(data: object, name: str, path: Path) -> object:
    """Data of a Python program as a file would hold them: enumerations as text, numbers of any library as numbers."""
    if len(path) > MAX_DEPTH:
        raise _foreign(name, (), "data nested in itself or too deep", f"at most {MAX_DEPTH} levels")
    match data:
        case None | bool():
            return data
        case str():
            return str.__str__(data)  # of an enumeration, its value
        case numbers.Real() | Decimal():
            number = int(data) if isinstance(data, numbers.Integral) else float(data)
            if not abs(number) < 10**MAX_DIGITS:
                raise _foreign(name, path, "a number that is not finite or too large", f"at most {MAX_DIGITS} digits")
            return number
        case Mapping():
            if odd := [key for key in data if not isinstance(key, str)]:
                raise _foreign(name, path, f"{quoted(repr(odd[0]))} as a field name", "text")
            return {str.__str__(key): _plain(value, name, (*path, str.__str__(key))) for key, value in data.items()}
        case list() | tuple():
            return [_plain(item, name, (*path, index)) for index, item in enumerate(data)]
        case _:
            raise _foreign(name, path, f"a {type(data).__name__}", "text, a number, a list or a mapping")


def _foreign(name: str, path: Path, found: str, expected: str) -> InputError:
    return InputError([Problem(name, path=path_text(path), found=found, expected=expected)])
