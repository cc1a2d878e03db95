"""The first sheet: what the network costs and draws, on which prices that rests, and what was proven."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpunet.models.design import BomLine, Design, FabricDesign, Totals
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.report.answer import answer
from gpunet.report.delivery import delivery_words
from gpunet.report.words import gbps
from gpunet.report.workbook_bom import TYPED, BomCells
from gpunet.report.workbook_page import Book, Cell, Column, Formula, Sheet, Value
from gpunet.report.workbook_power import PUE, SUPPORT_RATE, USD_PER_KWH, YEARS, PowerCells
from gpunet.solver.prices import PriceList

SHEET = "Summary"
_COLUMNS = (
    Column("", 34, "wrap"),
    Column("", 17, "usd"),
    Column("", 17, "usd"),
    Column("", 19, "usd"),
    Column("", 44, "wrap"),
)
_KINDS = ("switch", "module", "cable", "fibre", "panel", "nic", "licence", "installation", "rack", "discount")
_KNOWN = ("read", "quoted", "recalled", "estimated")
_ROW_PIXELS, _CHART_ROWS, _CHART_WIDTH = 20, 9, 440
_BAR = "#2F6DB5"
_SECONDS = re.compile(r", [\d,.]+ s(?=\))")
"""How long a run took is no part of the design: without it, equal designs give equal bytes."""


class Summary:
    """The sheet in two steps: it stands first in the book, and is written last, when all totals have their place."""

    def __init__(self, book: Book, design: Design) -> None:
        self.book = book
        self.sheet = book.sheet(SHEET, _COLUMNS, wide=False)
        self._lines = design.result.bom

    def write(self, design: Design, totals: Totals, catalog: Catalog, cells: BomCells, power: PowerCells) -> None:
        """Fill it."""
        sheet = self.sheet
        hint = "White figures follow from the yellow cells, here and on the sheets BOM and Power."
        sheet.title(f"{design.result.case}: the network in figures", hint)
        self._totals(design, totals, catalog, cells, power)
        self._assumptions(design)
        kinds, known = _present(self._lines, "kind", _KINDS), _present(self._lines, "price_how", _KNOWN)
        charted = self._shares(cells, "Cost by kind of part", "kind", kinds)
        self._shares(cells, "Cost by how its price is known", "how", [*known, TYPED])
        self._chart(*charted)
        _fabrics(sheet, design)
        sheet.section("As designed")
        sheet.paragraph(_SECONDS.sub("", answer(design)))
        told = delivery_words(design, catalog)
        if told:
            sheet.paragraph(told)
        for warning in design.result.warnings:
            sheet.paragraph(warning)
        sheet.paragraph(
            "A new price changes the totals and not the design. Whether this design is then still the best is told by "
            "the sheet Sensitivity, or by a new run with prices.overrides_usd. "
            f"Catalogue {design.result.catalog_version}, gpunet {design.result.gpunet_version}.",
            "hint",
        )
        sheet.finish()

    def _totals(self, design: Design, totals: Totals, catalog: Catalog, cells: BomCells, power: PowerCells) -> None:
        sheet = self.sheet
        sheet.head(["Totals", "Now", "As designed", "Change", "From"])
        prices = PriceList(design.case, catalog)
        switches = [line for line in design.result.bom if line.kind == "switch"]
        support = sum(line.quantity * prices.support_of(usd_to_cents(line.unit_price_usd)) for line in switches)
        # Yearly licences, and what support differs on the price before a step or the lowest offer: kept as they are.
        rest = usd_to_cents(totals.tco_usd) - usd_to_cents(totals.cost_usd) - power.energy_cents - support
        supported = f'({cells.column("kind")}="switch")*{cells.column("quantity")}'
        per_switch = f"ROUND({SUPPORT_RATE}*{YEARS}*{cells.column('price')},2)"
        first = sheet.row + 1
        self._total("Network cost, USD", cells.total, totals.cost_usd, "usd", "BOM", "total")
        self._total(
            "Energy, USD", power.energy, power.energy_cents / 100, "usd", "Power: at the largest draw, all years"
        )
        source = "of every switch, all years"
        self._total("Support, USD", f"SUMPRODUCT({supported}*{per_switch})", support / 100, "usd", source)
        if rest:
            self._total(
                "Other yearly costs, USD",
                repr(rest / 100),
                rest / 100,
                "usd",
                "licences and the like: fixed as designed",
            )
        owned = f"SUM(B{first}:B{sheet.row})"
        self._total("Cost of ownership, USD", owned, totals.tco_usd, "usd", "the sum of these", "total")
        self._total("Largest draw, W", power.most, totals.power_max_w, "watts", "Power")
        self._total("Typical draw, W", power.typical, totals.power_typical_w, "watts", "Power")
        self._total("Rack units of switches", str(totals.rack_units), totals.rack_units, "count", "Racks")

    def _total(self, name: str, formula: str, value: float, kind: str, source: str, look: str = "plain") -> None:
        row = self.sheet.row + 1
        now, change = Formula(formula, value), Formula(f"B{row}-C{row}", 0.0)
        figures = [Cell(figure, look, kind) for figure in (now, value, change)]
        self.sheet.add([name, *figures, source], look)

    def _assumptions(self, design: Design) -> None:
        """The cells that the other sheets know by name."""
        sheet, tco = self.sheet, design.case.tco
        sheet.section("Assumptions")
        rows: tuple[tuple[str, str, float, str, str], ...] = (
            ("Years", YEARS, tco.years, "number", "tco.years"),
            ("Price of energy, USD per kWh", USD_PER_KWH, tco.usd_per_kwh, "number", "tco.usd_per_kwh"),
            ("PUE", PUE, tco.pue, "number", "tco.pue"),
            ("Support a year, share of price", SUPPORT_RATE, tco.support_rate, "share", "tco.support_rate"),
        )
        for name, cell, value, kind, setting in rows:
            row = sheet.add([name, Cell(value, "input", kind), None, None, setting])
            self.book.file.define_name(cell, f"={SHEET}!$B${row + 1}")

    def _shares(self, cells: BomCells, title: str, column: str, words: Sequence[str]) -> tuple[int, int]:
        """What each kind of line costs and its share; give back the first and last row, from 0."""
        sheet = self.sheet
        sheet.section(title)
        first = sheet.row
        by_kind = column == "kind"
        cost = sum(line.extended_usd for line in self._lines)
        for word in words:
            row = sheet.row + 1
            amount = f'SUMIF({cells.column(column)},"{word}",{cells.column("total")})'
            share = f"IF({cells.total}=0,0,B{row}/{cells.total})"
            usd = sum(line.extended_usd for line in self._lines if word == (line.kind if by_kind else line.price_how))
            values: list[Value] = [word, Formula(amount, round(usd, 2))]
            sheet.add([*values, Cell(Formula(share, usd / cost if cost else 0.0), "plain", "share")])
        return first, sheet.row - 1

    def _chart(self, first: int, last: int) -> None:
        """Bars of the cost by kind of part, beside the shares, which stand in these rows and below."""
        sheet = self.sheet
        sheet.row = max(sheet.row, first + _CHART_ROWS)
        chart = self.book.file.add_chart({"type": "bar"})
        chart.add_series(
            {
                "name": "USD",
                "categories": [SHEET, first, 0, last, 0],
                "values": [SHEET, first, 1, last, 1],
                "fill": {"color": _BAR},
                "gap": 40,
                "data_labels": {"value": True, "num_format": "#,##0", "font": {"size": 9}},
            }
        )
        chart.set_title({"name": "Cost by kind of part, USD", "name_font": {"size": 11, "bold": False}})
        chart.set_legend({"none": True})
        chart.set_y_axis({"reverse": True, "num_font": {"size": 9}})
        chart.set_x_axis({"visible": False, "major_gridlines": {"visible": False}, "min": 0})
        chart.set_size({"width": _CHART_WIDTH, "height": _ROW_PIXELS * (sheet.row - first)})
        sheet.sheet.insert_chart(first, 3, chart, {"x_offset": 12, "y_offset": 4})


def _present(lines: Sequence[BomLine], field: str, words: Sequence[str]) -> list[str]:
    """The words that occur, in their order, and any other after them."""
    found = dict.fromkeys(getattr(line, field) for line in lines)
    return [*(word for word in words if word in found), *(word for word in found if word not in words)]


def _fabrics(sheet: Sheet, design: Design) -> None:
    sheet.section("Fabrics")
    sheet.head(["Fabric", "Protocol", "Topology", "Oversubscription", "Switches and links"], figures=False)
    for name, fabric in design.result.fabrics.items():
        texts: list[Value] = [Cell(text, "plain", "wrap") for text in (fabric.protocol, fabric.topology)]
        ratio = f"{fabric.oversubscription:.4g}:1"
        sheet.add([name, *texts, Cell(ratio, "plain", "wrap"), _built(fabric)])


def _built(fabric: FabricDesign) -> str:
    if fabric.shared_with:
        return f"on the switches of {fabric.shared_with}"
    tiers = [f"{tier.count:,} x {tier.switch} {tier.tier}" for tier in fabric.tiers]
    speeds = {line.link_class: gbps(line.speed_gbps) for line in fabric.interconnects}
    links = [f"{n:,} x {speeds.get(name, '')} {name}" for name, n in fabric.links.items()]
    return "\n".join([*tiers, *links])
