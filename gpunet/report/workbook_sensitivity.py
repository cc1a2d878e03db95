"""How firm the design is, as a sheet: price ranges set against the prices typed into the bill."""

from __future__ import annotations

from gpunet.models.design import Design
from gpunet.models.study_sensitivity import PriceRange, Sensitivity
from gpunet.report.words import FIRM
from gpunet.report.workbook_bom import BomCells
from gpunet.report.workbook_page import WEAK_CELL, WRONG_CELL, Book, Cell, Column, Formula, Sheet, Value

SHEET = "Sensitivity"
_COLUMNS = (
    Column("Part or setting", 34, "wrap"),
    Column("Kind", 18, "wrap"),
    Column("Price today, USD", 14, "usd"),
    Column("Known by", 11),
    Column("Stays best from, USD", 14, "usd"),
    Column("to, USD", 14, "usd"),
    Column("Price in BOM, USD", 14, "usd"),
    Column("Still the best?", 15),
    Column("Below that", 46, "wrap"),
    Column("Above that", 46, "wrap"),
)
_YES, _NO = "yes", "no: run again"
HOW_TO = (
    "gpunet sensitivity case.yaml --bands --json > sensitivity.json",
    "gpunet workbook case.yaml --study sensitivity.json -o bom.xlsx",
)
"""What fills this sheet."""


def write_sensitivity(book: Book, design: Design, cells: BomCells, study: Sensitivity | None) -> None:
    """The sheet; without a study, how to get one."""
    sheet = book.sheet(SHEET, _COLUMNS)
    if study is None:
        sheet.title(f"Sensitivity: {design.result.case}")
        sheet.line("How far can each price move before another design is better? That takes a study of its own:")
        sheet.row += 1
        for command in HOW_TO:
            sheet.line(command, "code")
        sheet.row += 1
        sheet.line(
            "With it, this sheet says part by part whether the price typed into BOM still leaves this design the best."
        )
        sheet.finish()
        return
    sheet.title(
        f"Sensitivity: {design.result.case}",
        "A price alone may move within its range, all others as they are; then this design stays the best. Several "
        "typed prices at once: design again with prices.overrides_usd.",
    )
    head = sheet.head()
    first = sheet.row
    for found in study.prices:
        sheet.add(_price(found, cells, sheet.row + 1))
    last = sheet.row
    sheet.freeze(head, filtered=False)
    if last > first:
        firm = ",".join(f'$D{first + 1}="{word}"' for word in FIRM)
        sheet.mark((first, 2, last - 1, 3), f"NOT(OR({firm}))", WEAK_CELL)
        sheet.mark((first, 7, last - 1, 7), f'$H{first + 1}="{_NO}"', WRONG_CELL)
    if study.never:
        sheet.paragraph(f"Never used, not even for nothing: {', '.join(study.never)}.", "hint")
    _steps(sheet, study)
    _limits(sheet, study)
    _bands(sheet, study)
    _regrets(sheet, study)
    for note in study.notes:
        sheet.paragraph(note, "hint")
    sheet.finish()


def _price(found: PriceRange, cells: BomCells, row: int) -> list[Value]:
    in_bill = found.part in cells.row_of
    now: Value = Formula(cells.cell("price", found.part), found.price_usd) if in_bill else None
    upper = f",G{row}<=F{row}" if found.stays_to_usd is not None else ""
    still: Value = Formula(f'IF(AND(G{row}>=E{row}{upper}),"{_YES}","{_NO}")', _YES) if in_bill else None
    own = next((i for i, piece in enumerate(found.pieces) if not piece.change), None)
    below = found.pieces[own - 1] if own else None
    above = found.pieces[own + 1] if own is not None and own + 1 < len(found.pieces) else None
    return [
        found.part,
        found.kind if found.in_design else f"{found.kind}, not used",
        found.price_usd,
        found.price_how,
        found.stays_from_usd,
        found.stays_to_usd if found.stays_to_usd is not None else Cell("any", "plain", "text"),
        now,
        still,
        "; ".join(below.change) if below else "",
        "; ".join(above.change) if above else "",
    ]


def _table(sheet: Sheet, title: str, heads: tuple[str, ...]) -> None:
    sheet.section(title)
    sheet.head([*heads, *[""] * (len(_COLUMNS) - len(heads))])


def _steps(sheet: Sheet, study: Sensitivity) -> None:
    if not study.steps:
        return
    heads = ("Setting", "Direction", "Today", "Unit", "Same switches to", "Next", "Cost change, USD", "Draw change, W")
    _table(sheet, "Where requirements next change what is built", (*heads, "What changes"))
    for step in study.steps:
        values: list[Value] = [step.setting, step.direction, _n(step.value), step.unit, _n(step.holds_to)]
        values += [_n(step.next_value), step.cost_change_usd, _n(step.power_change_w), "; ".join(step.change)]
        sheet.add(values)


def _limits(sheet: Sheet, study: Sensitivity) -> None:
    if study.headroom:
        _table(sheet, "Paid for and not used", ("What", "Amount", "", "Unit", "Where"))
        for room in study.headroom:
            sheet.add(
                [room.what, Cell(room.amount, "plain", "number"), None, room.unit, Cell(room.where, "plain", "text")]
            )
    if study.limits:
        _table(
            sheet,
            "What loosening a limit is worth",
            ("Setting", "", "Objective then", "", "Saved", "", "", "", "Change", "Design"),
        )
        for worth in study.limits:
            values: list[Value] = [worth.setting, None, worth.value, None, worth.saved, None, None, None]
            sheet.add([*values, worth.change, "; ".join(worth.design_change)])


def _bands(sheet: Sheet, study: Sensitivity) -> None:
    if not study.bands:
        return
    heads = (
        "Part",
        "Changes design",
        "Price, USD",
        "Known by",
        "Low, USD",
        "High, USD",
        "Objective at low",
        "Objective at high",
    )
    _table(sheet, "Each price over its band, widest first", heads)
    for band in study.bands:
        values: list[Value] = [band.part, "yes" if band.changes_design else "no", band.price_usd, band.price_how]
        values += [band.low_usd, band.high_usd, band.at_low_usd, Cell(band.at_high_usd, "plain", "usd")]
        sheet.add(values)


def _regrets(sheet: Sheet, study: Sensitivity) -> None:
    if not study.regrets:
        return
    _table(
        sheet,
        "Designs by worst regret",
        ("Design best for", "", "Worst regret", "", "", "", "", "", "Scenario", "Built otherwise"),
    )
    for regret in study.regrets:
        values: list[Value] = [regret.name, None, regret.worst_regret_usd, *[None] * 5, regret.worst_scenario]
        sheet.add([*values, "; ".join(regret.change) or "as today"])


def _n(value: float | None) -> Value:
    return None if value is None else Cell(value, "plain", "number")
