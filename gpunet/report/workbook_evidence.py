"""Where every number of the design comes from: part by part, number by number, source and date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import BaseModel

from gpunet.catalogs import find_part, split_medium_id
from gpunet.models.design import Design
from gpunet.models.evidence import Fact, How, Price
from gpunet.models.parts import Cable, CageGroup, Catalog, Fibre, OpticalInterface, Part
from gpunet.report.workbook_page import WEAK_CELL, Book, Column, Value

SHEET = "Evidence"
_COLUMNS = (
    Column("Part", 24),
    Column("Number", 30, "wrap"),
    Column("Value", 14, "number"),
    Column("Unit", 9),
    Column("Low", 12, "number"),
    Column("High", 12, "number"),
    Column("Known by", 11),
    Column("Date", 12),
    Column("Source", 22, "wrap"),
    Column("Where", 68, "wrap"),
    Column("Note", 44, "wrap"),
)
_UNITS = {"usd": "USD", "w": "W", "ns": "ns", "m": "m", "weeks": "weeks", "mb": "MB", "gbps": "Gb/s", "units": "U"}


class Number(NamedTuple):
    """One number with its evidence."""

    part: str
    name: str
    value: float | str
    unit: str
    how: str
    src: str
    date: str
    note: str
    low: float | None = None
    high: float | None = None


def numbers(design: Design, catalog: Catalog) -> Iterator[Number]:
    """Every number behind the design: prices of the bill first, then the catalogue's figures of every part in use."""
    for line in design.result.bom:
        yield Number(
            line.part,
            "unit price in this design",
            line.unit_price_usd,
            "USD",
            line.price_how,
            line.price_source,
            line.price_date,
            line.note,
        )
    for name in _parts(design):
        part = find_part(catalog, name)
        if part is not None:
            yield from _figures(name, "", _at_length(part, name))
    faces = {catalog.modules[s.part].interface for s in design.ledger.seats if s.part in catalog.modules}
    for face in sorted(filter(None, faces)):
        if face in catalog.interfaces:
            yield from _interface(catalog.interfaces[face])


def _parts(design: Design) -> list[str]:
    """Parts of the bill, then those that stand in the room without being bought."""
    found = {
        line.part: None
        for line in design.result.bom
        if line.kind not in ("licence", "installation", "rack", "discount")
    }
    found |= {device.part: None for device in design.ledger.devices if device.part}
    return list(found)


def _at_length(part: Part, name: str) -> Part:
    """A cable or fibre with the one stock length that is meant."""
    _, length_m = split_medium_id(name)
    if isinstance(part, Cable | Fibre):
        lengths = tuple(stock for stock in part.lengths if stock.length_m == length_m)
        return part.model_copy(update={"lengths": lengths})
    return part


def _figures(part: str, path: str, value: object) -> Iterator[Number]:
    match value:
        case Fact():
            name, unit = _named(path)
            yield Number(part, name, value.v, unit, value.how.value, value.src, value.date, value.note)
        case Price():
            name, _ = _named(path)
            band = (value.low_usd, value.high_usd)
            how = value.how.value
            yield Number(
                part, f"{name} in the catalogue", value.mid_usd, "USD", how, value.src, value.date, value.note, *band
            )
        case CageGroup():
            name, _ = _named(path)
            cages = f"{value.count} x {value.form_factor.value}, {value.host_lanes} lanes of {value.lane_gbps:g}G"
            yield Number(part, f"{name} {value.name}", cages, "", value.how.value, value.src, "", value.note)
            yield from _figures(part, f"{path} {value.name} power limit w", value.power_limit_w)
            if value.hot is not None:
                yield from _figures(part, f"{path} {value.name} hot cages power limit w", value.hot.power_limit_w)
        case BaseModel():
            for name in type(value).model_fields:
                yield from _figures(part, f"{path} {name}".strip(), getattr(value, name))
        case tuple():
            for item in value:
                yield from _figures(part, path, item)


def _named(path: str) -> tuple[str, str]:
    """A number in words and its unit, from the names of its fields: ``latency_ns`` is latency in ns."""
    words = path.replace("_", " ").split()
    words = [word for i, word in enumerate(words) if i == 0 or word != words[i - 1]]
    unit = _UNITS.get(words[-1], "") if len(words) > 1 else ""
    return " ".join(words[:-1] if unit and words[-1] != "units" else words), unit


def _interface(face: OpticalInterface) -> Iterator[Number]:
    """Reach and loss budget of an optical interface by grade of fibre."""
    tables = (("standard reach", "m", face.reach_m), ("loss budget", "dB", face.loss_budget_db))
    for name, unit, table in tables:
        for grade, value in table.items():
            yield Number(face.id, f"{name} on {grade}", value, unit, face.how.value, face.src, "", "")


def write_evidence(book: Book, design: Design, catalog: Catalog) -> None:
    """The sheet."""
    sheet = book.sheet(SHEET, _COLUMNS, large=True)
    sheet.title(
        f"Evidence: {design.result.case}",
        "read: seen in the source. quoted: given by the case. recalled: remembered, not seen again. estimated: worked "
        "out, nobody has offered it; these two are orange.",
    )
    head = sheet.head()
    first = sheet.row
    for number in numbers(design, catalog):
        keys = [key for key in number.src.split("+") if key]
        sources = [catalog.sources[key] for key in keys if key in catalog.sources]
        date = number.date or (sources[0].date if sources else "")
        where = "\n".join(source.at for source in sources)
        values: list[Value] = [number.part, number.name, number.value, number.unit, number.low, number.high]
        sheet.add([*values, number.how, date, number.src, where, number.note])
    sheet.freeze(head, 2)
    weak = ",".join(f'$G{first + 1}="{how.value}"' for how in How if how is not How.READ)
    if sheet.row > first:
        sheet.mark((first, 1, sheet.row - 1, 6), f"OR({weak})", WEAK_CELL)
    sheet.finish()
