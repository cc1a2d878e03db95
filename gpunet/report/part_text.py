"""One entry of the catalogue in full: every figure with how it is known, since when and from where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel

from gpunet.catalogs import split_medium_id
from gpunet.catalogs.load import FILES
from gpunet.models.evidence import Fact, How, Price, Source
from gpunet.models.parts import (
    Airflow,
    Cable,
    CageGroup,
    Catalog,
    Connector,
    Fibre,
    OpticalInterface,
    Part,
    PortMode,
    Shell,
    StockLength,
)
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Table, Tone
from gpunet.report.words import counted, gbps, price, usd

_COLUMNS = (Column("field", name=True), Column("value"), Column("known by"))
_SOURCE_COLUMNS = (Column("source", name=True), Column("date", name=True), Column("what it is"))
_OWN_PLACE = frozenset({"id", "note", "how", "src"})
"""Fields that are shown beside the figures they belong to."""


class _Line(NamedTuple):
    field: str
    value: str
    how: How | None = None
    src: str = ""
    date: str = ""
    note: str = ""


def part_report(catalog: Catalog, name: str) -> list[Block] | None:
    """Everything about a part, a stock length or an optical interface; none where the catalogue has no such entry."""
    item = catalog.interfaces.get(name) or _part(catalog, name)
    if item is None:
        return None
    lines = list(_lines("", item, None))
    keys = {key: None for line in lines if line.src for key in line.src.split("+")}
    blocks: list[Block] = [Heading(f"{name}: {_title(catalog, item)}")]
    if isinstance(item, Part) and item.note:
        blocks.append(Paragraph(f"Note: {item.note}"))
    blocks.append(Table(_COLUMNS, tuple(_row(catalog, line) for line in lines)))
    sources = tuple(_source_row(key, catalog.sources.get(key)) for key in keys)
    return [*blocks, Table(_SOURCE_COLUMNS, sources)] if sources else blocks


def names_of(catalog: Catalog) -> dict[str, str]:
    """Ids by the names that people use, in lower case: the id, the vendor's name and the orderable numbers."""
    found = {name.casefold(): name for name in catalog.interfaces}
    parts: list[Part] = [p for stem, entry in FILES.items() if entry.kind for p in getattr(catalog, stem).values()]
    for part in reversed(parts):
        found |= {name.casefold(): part.id for name in (part.model, *part.model.split("/"), *part.part_numbers)}
    return found | {part.id.casefold(): part.id for part in parts}


def _part(catalog: Catalog, name: str) -> Part | None:
    """A part; of a stock length, the cable or fibre with that length alone."""
    for stem, entry in FILES.items():
        if entry.kind and name in getattr(catalog, stem):
            part: Part = getattr(catalog, stem)[name]
            return part
    base, length_m = split_medium_id(name)
    medium: Cable | Fibre | None = catalog.cables.get(base) or catalog.fibres.get(base)
    lengths = tuple(stock for stock in medium.lengths if stock.length_m == length_m) if medium else ()
    return medium.model_copy(update={"lengths": lengths}) if medium and lengths else None


def _title(catalog: Catalog, item: Part | OpticalInterface) -> str:
    if isinstance(item, OpticalInterface):
        return "optical interface"
    kind = next(entry.kind for stem, entry in FILES.items() if entry.kind and item.id in getattr(catalog, stem))
    return f"{kind}, {item.vendor} {item.model}"


def _lines(path: str, value: object, owner: OpticalInterface | None) -> Iterator[_Line]:
    """Lines of a value and of everything inside it. ``owner`` is what vouches for plain figures inside it."""
    how, src = (owner.how, owner.src) if owner else (None, "")
    match value:
        case None | "" | () | False:
            return
        case Fact():
            yield _Line(path, f"{value.v:,.10g}", value.how, value.src, value.date, value.note)
        case Price():
            yield _Line(path, _band(value), value.how, value.src, value.date, value.note)
        case CageGroup():
            yield _Line(path, _cages(value), value.how, value.src, note=value.note)
            yield _Line(f"{path}.modes", "\n".join(map(_mode, value.modes)), value.how, value.src)
            yield from _lines(f"{path}.power_limit_w", value.power_limit_w, None)
            yield from _lines(f"{path}.hot", value.hot, None)
            yield from _lines(f"{path}.power_to_port", value.power_to_port, None)
        case Airflow():
            ways = ", ".join(value.offered) or "none, for it has no fans"
            yield _Line(path, ways, value.how, value.src, note=value.note)
        case Connector():
            yield _Line(path, f"{value.kind} {value.polish}".rstrip(), how, src)
        case StockLength():
            yield from _lines(f"{path} {value.length_m:g} m", value.price, None)
        case BaseModel():
            inner = value if isinstance(value, OpticalInterface) else owner
            for name in type(value).model_fields:
                if name not in _OWN_PLACE:
                    yield from _lines(f"{path}.{name}" if path else name, getattr(value, name), inner)
        case dict():
            if value:
                yield _Line(path, ", ".join(f"{_plain(key)}: {_plain(item)}" for key, item in value.items()), how, src)
        case tuple():
            if any(isinstance(item, BaseModel) for item in value):
                for number, item in enumerate(value):
                    yield from _lines(path if isinstance(item, StockLength) else f"{path}[{number}]", item, owner)
            else:
                yield _Line(path, ", ".join(map(_plain, value)), how, src)
        case _:
            yield _Line(path, _plain(value), how, src)


def _cages(group: CageGroup) -> str:
    shell = "" if group.shell is Shell.NONE else f"-{group.shell.value}"
    text = (
        f"{group.name}: {group.count} x {group.form_factor.value}{shell}, {_lanes(group.host_lanes, group.lane_gbps)}"
    )
    if group.also_accepts:
        text += f", also takes {', '.join(group.also_accepts)}"
    if group.linear_host:
        text += ", qualified for linear optics"
    return text if group.fabric else f"{text}, carries no fabric link"


def _mode(mode: PortMode) -> str:
    speaks = "" if len(mode.protocols) > 1 else f", {mode.protocols[0].value} alone"
    return f"{mode.ports} x {gbps(mode.speed_gbps)}, {_lanes(mode.lanes, mode.lane_gbps)} each{speaks}"


def _lanes(number: int, lane_gbps: float) -> str:
    return f"{counted(number, 'lane')} of {gbps(lane_gbps)}"


def _plain(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float() | int():
            return f"{value:,.10g}"
    return str(value)


def _band(found: Price) -> str:
    text = f"{price(found.mid_usd, found.how)} USD"
    low, high = found.low_usd, found.high_usd
    if low is None and high is None:
        return text
    low, high = (found.mid_usd if low is None else low), (found.mid_usd if high is None else high)
    return f"{text}, {usd(low)} to {usd(high)}"


def _row(catalog: Catalog, line: _Line) -> tuple[str | Cell, ...]:
    value = f"{line.value}\n({line.note})" if line.note else line.value
    if line.how is None:
        return line.field, value, ""
    source = catalog.sources.get(line.src.split("+")[0])
    known = f"{line.how.value} {line.date or (source.date if source else '')} {line.src}"
    return line.field, value, known if line.how is How.READ else Cell(known, Tone.WEAK)


def _source_row(key: str, source: Source | None) -> tuple[str, str, str]:
    if source is None:
        return key, "", "not listed among the sources"
    seen = "" if source.how is How.READ else f" ({source.how.value})"
    return key, source.date, f"{source.at}{seen}{'; ' + source.note if source.note else ''}"
