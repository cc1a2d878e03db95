"""What the network draws, part by part, and what the energy costs over the years of the case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.design import Design
from gpunet.models.evidence import Fact
from gpunet.models.parts import Catalog
from gpunet.report.cabling import Run
from gpunet.report.words import FIRM
from gpunet.report.workbook_page import WEAK_CELL, Book, Cell, Column, Formula, Value
from gpunet.solver.prices import HOURS_PER_YEAR, PriceList

SHEET = "Power"
YEARS, USD_PER_KWH, PUE, SUPPORT_RATE = "tco_years", "tco_usd_per_kwh", "tco_pue", "tco_support_rate"
"""Names of the cells that hold the assumptions of the case."""
_COLUMNS = (
    Column("Part", 24),
    Column("What draws", 20),
    Column("Pieces", 10, "count"),
    Column("Each at most, W", 12, "watts"),
    Column("Each typically, W", 12, "watts"),
    Column("At most, W", 14, "watts"),
    Column("Typically, W", 14, "watts"),
    Column("Share", 8, "share"),
    Column("Energy over the years, USD", 15, "usd"),
    Column("Watts known by", 14, "wrap"),
    Column("Source", 26, "wrap"),
    Column("Note", 44, "wrap"),
)
_HEAD_ROW = 3


class Draw(NamedTuple):
    """Pieces that draw alike."""

    part: str
    what: str
    pieces: int
    most: Fact
    typical: Fact


class PowerCells(NamedTuple):
    """Where the totals stand."""

    most: str
    typical: str
    energy: str
    energy_cents: int
    """Energy over the years as designed."""


def draws(design: Design, catalog: Catalog, runs: Sequence[Run]) -> list[Draw]:
    """Everything of the network that draws power, switches first."""
    ledger = design.ledger
    found = []
    for part, n in sorted(Counter(d.part for d in ledger.devices if d.kind == "switch").items()):
        switch = catalog.switches[part]
        found.append(Draw(part, "switch without plugs", n, switch.power_chassis_max_w, switch.power_chassis_typ_w))
    for part, n in sorted(Counter(s.part for s in ledger.seats).items()):
        module = catalog.modules[part]
        found.append(Draw(part, "module", n, module.power_max_w, module.power_typ_w))
    return [*found, *_cable_ends(catalog, runs)]


def _cable_ends(catalog: Catalog, runs: Sequence[Run]) -> Iterator[Draw]:
    heads: Counter[str] = Counter()
    tails: Counter[str] = Counter()
    seen: set[int] = set()
    for run in runs:
        if split_medium_id(run.part)[0] in catalog.cables:
            heads[run.part] += run.assembly not in seen
            tails[run.part] += 1
            seen.add(run.assembly)
    for part in sorted(heads):
        cable = catalog.cables[split_medium_id(part)[0]]
        if cable.end_a.power_w.v == cable.end_b.power_w.v and heads[part] == tails[part]:
            if cable.end_a.power_w.v:
                yield Draw(part, "cable ends", 2 * heads[part], cable.end_a.power_w, cable.end_a.power_w)
            continue
        for what, n, end in (("cable heads", heads[part], cable.end_a), ("cable legs", tails[part], cable.end_b)):
            if end.power_w.v:
                yield Draw(part, what, n, end.power_w, end.power_w)


def write_power(book: Book, design: Design, catalog: Catalog, runs: Sequence[Run]) -> PowerCells:
    """The sheet, and where its totals stand."""
    sheet = book.sheet(SHEET, _COLUMNS)
    sheet.title(
        f"Power of the network: {design.result.case}",
        "Switches, modules and active cables at both ends; servers and their NICs are not counted. Watts can be typed "
        "into the yellow cells; orange ones are estimated or recalled. Years, USD per kWh and PUE stand on Summary.",
    )
    head = sheet.head()
    lines = draws(design, catalog, runs)
    prices = PriceList(design.case, catalog)
    first, last = _HEAD_ROW + 2, _HEAD_ROW + 1 + max(1, len(lines))
    totals = design.result.totals
    most = totals.power_max_w if totals else 0.0
    energy = 0
    for row, line in enumerate(lines, start=first):
        cents = line.pieces * prices.energy_cents(line.most.milli)
        energy += cents
        kwh = f"{YEARS}*{HOURS_PER_YEAR}*{PUE}*{USD_PER_KWH}*D{row}/1000"
        own = line.pieces * line.most.v
        values: list[Value] = [
            line.part,
            line.what,
            line.pieces,
            _watts(line.most),
            _watts(line.typical),
            Formula(f"C{row}*D{row}", own),
            Formula(f"C{row}*E{row}", line.pieces * line.typical.v),
            Formula(f"IF(F${last + 1}=0,0,F{row}/F${last + 1})", own / most if most else 0.0),
            Formula(f"C{row}*ROUND({kwh},2)", cents / 100),
            _known(line),
            " and ".join(dict.fromkeys((line.most.src, line.typical.src))),
            "; ".join(dict.fromkeys(filter(None, (line.most.note, line.typical.note)))),
        ]
        sheet.add(values)
    if not lines:
        sheet.add([None] * len(_COLUMNS))
    sheet.freeze(head)
    sums = {"F": most, "G": totals.power_typical_w if totals else 0.0, "I": energy / 100}
    foot: list[Value] = ["Total", *[None] * (len(_COLUMNS) - 1)]
    for column, value in sums.items():
        foot[ord(column) - ord("A")] = Formula(f"SUM({column}{first}:{column}{last})", value)
    sheet.add(foot, "total")
    sheet.mark(
        (first - 1, 9, last - 1, 9),
        f'OR(ISNUMBER(SEARCH("estimated",J{first})),ISNUMBER(SEARCH("recalled",J{first})))',
        WEAK_CELL,
    )
    sheet.finish()
    most_cell, typical_cell, energy_cell = (f"{SHEET}!${column}${last + 1}" for column in "FGI")
    return PowerCells(most_cell, typical_cell, energy_cell, energy)


def _watts(fact: Fact) -> Value:
    return Cell(fact.v, "input" if fact.how.value in FIRM else "weak-input")


def _known(line: Draw) -> str:
    most, typical = line.most.how.value, line.typical.how.value
    return most if most == typical else f"{most}; typical {typical}"
