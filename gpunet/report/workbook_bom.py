"""The bill as a sheet that reckons: who types a price, a spare or an owned piece sees every total follow."""

from __future__ import annotations

from typing import NamedTuple

from gpunet.catalogs import find_part
from gpunet.models.design import BomLine, Design
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.report.words import FIRM
from gpunet.report.workbook_page import WEAK_CELL, Book, Cell, Column, Formula, Sheet, Value, letter

SHEET = "BOM"
TYPED = "typed here"
"""How a price is known that a reader has put in place of the design's."""
_COLUMNS = {
    "part": Column("Part", 24),
    "kind": Column("Kind", 11),
    "vendor": Column("Vendor", 11),
    "model": Column("Model", 28, "wrap"),
    "quantity": Column("In the design", 10, "count"),
    "spares": Column("Spares", 9, "count"),
    "owned": Column("Owned", 9, "count"),
    "surplus": Column("For packs or steps", 10, "count"),
    "bought": Column("To buy", 10, "count"),
    "supplier": Column("Supplier", 18, "wrap"),
    "price": Column("Unit price, USD", 14, "usd"),
    "steps": Column("Price steps, USD", 13, "usd"),
    "total": Column("Total, USD", 16, "usd"),
    "share": Column("Share", 8, "share"),
    "designed": Column("Designed with, USD", 14, "usd"),
    "change": Column("Change of total, USD", 14, "usd"),
    "how": Column("Price known by", 12),
    "date": Column("Seen on", 12),
    "source": Column("Source", 20, "wrap"),
    "numbers": Column("Order numbers", 30, "wrap"),
    "note": Column("Note", 44, "wrap"),
}
_OPTIONAL = ("surplus", "supplier", "steps")
"""Columns that only some designs fill."""
_NOT_PARTS = ("licence", "installation", "rack", "discount")


class BomCells(NamedTuple):
    """Where the bill stands, for formulas of other sheets."""

    first: int
    """Row of the first line as a workbook counts, from 1."""
    last: int
    columns: dict[str, str]
    """Letter by name of column."""
    row_of: dict[str, int]
    """Row of every part, from 1."""

    def column(self, name: str) -> str:
        """A column of all lines: ``BOM!$L$5:$L$19``."""
        at = self.columns[name]
        return f"{SHEET}!${at}${self.first}:${at}${self.last}"

    def cell(self, name: str, part: str) -> str:
        """A cell of the line of a part: ``BOM!$L$7``."""
        return f"{SHEET}!${self.columns[name]}${self.row_of[part]}"

    @property
    def total(self) -> str:
        """The cell with the network cost."""
        return f"{SHEET}!${self.columns['total']}${self.last + 1}"


_HEAD_ROW = 3
"""Row of the titles, from 0: below title, hint and an empty row."""


def bom_cells(design: Design) -> BomCells:
    """Where everything will stand."""
    names = _shown(design)
    first = _HEAD_ROW + 2
    lines = list(enumerate(design.result.bom, start=first))
    rows = {line.part: row for row, line in lines if line.kind not in _NOT_PARTS}
    columns = {name: letter(number) for number, name in enumerate(names)}
    return BomCells(first, first + max(1, len(lines)) - 1, columns, rows)


def _shown(design: Design) -> list[str]:
    lines = design.result.bom
    filled = {
        "surplus": any(_more(line).surplus for line in lines),
        "supplier": any(line.supplier for line in lines),
        "steps": any(map(_steps_cents, lines)),
    }
    return [name for name in _COLUMNS if name not in _OPTIONAL or filled[name]]


class _More(NamedTuple):
    """Pieces of a line beside those in the design."""

    spares: int
    surplus: int
    bought: int


def _more(line: BomLine) -> _More:
    """A bill without terms of sale knows no spares and no packs."""
    spares, surplus = getattr(line, "spares", 0), getattr(line, "surplus", 0)
    return _More(spares, surplus, line.quantity + spares - line.owned + surplus)


def _steps_cents(line: BomLine) -> int:
    """What a line costs more than its pieces at its unit price, cents: the dearer pieces before a price step."""
    return usd_to_cents(line.extended_usd) - _more(line).bought * usd_to_cents(line.unit_price_usd)


def write_bom(book: Book, design: Design, catalog: Catalog, cells: BomCells) -> None:
    """The sheet."""
    names = _shown(design)
    sheet = book.sheet(SHEET, [_COLUMNS[name] for name in names], large=True)
    sheet.title(
        f"Bill of materials: {design.result.case}",
        "Type into the yellow cells: unit prices, spares, owned pieces. Every total follows, on this sheet and on all "
        "others. An orange price with ~ is an estimate that nobody has offered.",
    )
    head = sheet.head()
    total = design.result.totals.cost_usd if design.result.totals else 0.0
    for row, line in enumerate(design.result.bom, start=cells.first):
        values = _line(line, row, catalog, cells, total)
        sheet.add([values[name] for name in names])
    if not design.result.bom:
        sheet.add([None] * len(names))
    sheet.freeze(head)
    _foot(sheet, names, cells, total)
    _marks(sheet, names, cells)
    sheet.finish()


def _line(line: BomLine, row: int, catalog: Catalog, cells: BomCells, total: float) -> dict[str, Value]:
    part = None if line.kind in _NOT_PARTS else find_part(catalog, line.part)
    at = {name: f"${column}{row}" for name, column in cells.columns.items()}
    surplus = f"+{at['surplus']}" if "surplus" in at else ""
    steps = f"+{at['steps']}" if "steps" in at else ""
    more = _more(line)
    known = line.price_how.replace('"', '""')
    return {
        "part": line.part,
        "kind": line.kind,
        "vendor": part.vendor if part else "",
        "model": part.model if part else "",
        "quantity": line.quantity,
        "spares": Cell(more.spares, "input"),
        "owned": Cell(line.owned, "input"),
        "surplus": more.surplus,
        "bought": Formula(f"MAX(0,{at['quantity']}+{at['spares']}-{at['owned']}){surplus}", more.bought),
        "supplier": line.supplier,
        "price": Cell(line.unit_price_usd, "input"),
        "steps": _steps_cents(line) / 100,
        "total": Formula(f"ROUND({at['bought']}*{at['price']},2){steps}", line.extended_usd),
        "share": Formula(
            f"IF({cells.total}=0,0,{at['total']}/{cells.total})", line.extended_usd / total if total else 0.0
        ),
        "designed": line.unit_price_usd,
        "change": Formula(f"{at['total']}-{line.extended_usd!r}", 0.0),
        "how": Formula(f'IF(ROUND({at["price"]}-{at["designed"]},2)=0,"{known}","{TYPED}")', line.price_how),
        "date": line.price_date,
        "source": line.price_source,
        "numbers": "; ".join(part.part_numbers) if part else "",
        "note": line.note,
    }


def _foot(sheet: Sheet, names: list[str], cells: BomCells, total: float) -> None:
    values: dict[str, Value] = {"part": "Total"}
    sums = {"total": total, "change": 0.0, "share": 1.0 if total else 0.0}
    for name, value in sums.items():
        column = cells.columns[name]
        values[name] = Formula(f"SUM({column}{cells.first}:{column}{cells.last})", value)
    sheet.add([values.get(name) for name in names], "total")


def _marks(sheet: Sheet, names: list[str], cells: BomCells) -> None:
    """Estimates look like estimates until a price is typed; a typed price is told apart too."""
    how = f"${cells.columns['how']}{cells.first}"
    firm = ",".join(f'{how}="{word}"' for word in (*FIRM, TYPED, ""))
    for name, more in (("price", {"num_format": '"~"#,##0.00'}), ("how", {})):
        column = names.index(name)
        area = (cells.first - 1, column, cells.last - 1, column)
        sheet.mark(area, f"NOT(OR({firm}))", {**WEAK_CELL, **more})
        sheet.mark(area, f'{how}="{TYPED}"', {"bold": True, "bg_color": "#DDF3E4"})
