"""The bill with the evidence for every price."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.design import BomLine, Result
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Table, Tone
from gpunet.report.words import FIRM, WEAK_MARK, listed, percent, price, usd

_EXTRA = ("owned", "spares", "surplus")
"""Columns that are shown where any line fills them."""


def bill(result: Result) -> list[Block]:
    """Quantities and prices, and what share of the total rests on which evidence."""
    total = sum(line.extended_usd for line in result.bom)
    more = tuple(name for name in _EXTRA if any(getattr(line, name) for line in result.bom))
    columns = [Column("part", name=True), Column("kind", name=True), Column("quantity", number=True)]
    columns += [Column(name, number=True) for name in more]
    if any(line.supplier for line in result.bom):
        columns.append(Column("supplier", name=True))
        more = (*more, "supplier")
    columns += [Column("unit USD", number=True), Column("total USD", number=True), Column("price known by")]
    rows = tuple(_row(line, more) for line in result.bom)
    foot = ("total", "", "", *("" for _ in more), "", usd(total), "")
    return [Heading("Bill of materials"), Table(tuple(columns), rows, foot), Paragraph(_shares(result, total))]


def _row(line: BomLine, more: Sequence[str]) -> tuple[str | Cell, ...]:
    firm = line.price_how in FIRM
    unit = price(line.unit_price_usd, line.price_how)
    evidence = " ".join(text for text in (line.price_how, line.price_date, line.price_source) if text)
    return (
        line.part,
        line.kind,
        f"{line.quantity:,}",
        *(n if isinstance(n := getattr(line, name), str) else f"{n:,}" if n else "" for name in more),
        unit if firm else Cell(unit, Tone.WEAK),
        usd(line.extended_usd),
        evidence if firm else Cell(evidence, Tone.WEAK),
    )


def _shares(result: Result, total: float) -> str:
    by_how: dict[str, float] = {}
    for line in result.bom:
        by_how[line.price_how] = by_how.get(line.price_how, 0.0) + line.extended_usd
    estimated = by_how.pop("estimated", 0.0)
    if not total:
        return "Nothing has to be paid for, so no price matters."
    rest = listed([f"{percent(amount / total)} on prices {how}" for how, amount in sorted(by_how.items()) if amount])
    text = f"Estimated prices carry {percent(estimated / total)} of the total"
    text += f"; {rest}." if rest else "."
    if any(line.price_how not in FIRM for line in result.bom):
        text += f" {WEAK_MARK} marks prices that nobody has offered: worked out or remembered, never a quote."
    return text
