"""Whether a quoted list can be cabled, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpunet.models.quote import CaseFit, Leftover, Missing, QuoteCheck
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, listed, usd

_OVER = (
    Column("part", name=True),
    Column("over", number=True),
    Column("of", number=True),
    Column("rule"),
    Column("why"),
)
_MISSING = (
    Column("part", name=True),
    Column("pieces", number=True),
    Column("unit USD", number=True),
    Column("total USD", number=True),
)
_MOST_NUMBERS = 8


def check_report(check: QuoteCheck) -> list[Block]:
    """The verdict, what stays over and why, what is missing, and what a case makes of the list."""
    return list(_check(check))


def _check(check: QuoteCheck) -> Iterator[Block]:
    yield Paragraph(_verdict(check), Tone.GOOD if check.builds else Tone.BAD)
    yield Paragraph(_links(check))
    if check.leftover:
        yield Heading("Left over when as many links as possible are built")
        yield Table(_OVER, tuple(map(_over_row, check.leftover)))
    for ports in check.open_ports:
        yield Point(f"{ports.quantity:,} of {ports.of:,} cages of {ports.part} ({ports.cages}) get no link", Tone.BAD)
    if check.missing:
        yield Heading("Missing: the shortest list with which everything is used")
        yield _missing(check.missing)
        yield Paragraph(f"With these added, {counted(check.links_then, 'link')} can be built.")
    if check.unmatched:
        numbers = [*check.unmatched[:_MOST_NUMBERS]]
        more = len(check.unmatched) - len(numbers)
        rest = [f"{more:,} more"] if more > 0 else []
        yield Point(f"Not judged, for the catalogue does not know them: {listed([*numbers, *rest])}", Tone.BAD)
    if check.without_quantity:
        yield Point(f"Quoted without a quantity, so no part of the list: {listed(check.without_quantity)}", Tone.WEAK)
    yield from (Point(note, Tone.WEAK) for note in check.notes)
    if check.free_cages:
        free = [f"{n:,} of {part}" for part, n in check.free_cages.items()]
        yield Paragraph(f"Cages that stay empty: {listed(free)}.")
    if check.fit is not None:
        yield from _fit(check.fit)


def _verdict(check: QuoteCheck) -> str:
    beside = [f"{n:,} x {part}" for part, n in check.have.items()]
    there = f", with {listed(beside)} there already" if beside else ""
    unknown = len(check.unmatched)
    but = f" {counted(unknown, 'line is', 'lines are')} unknown and not judged." if unknown else ""
    if check.builds:
        return f"The list of {check.quote} can be cabled{there}: every module and every cable finds its place.{but}"
    over = [f"{x.quantity:,} x {x.part}" for x in check.leftover if not _is_spare_medium(x)]
    idle = [*over, *(f"{x.quantity:,} cages of {x.part}" for x in check.open_ports)]
    return f"The list of {check.quote} cannot be cabled as it is{there}: {listed(idle)} stay without a link.{but}"


def _is_spare_medium(over: Leftover) -> bool:
    """Fibres beyond what the links need are no fault by themselves."""
    return not over.rule and over.why.startswith("more than")


def _links(check: QuoteCheck) -> str:
    if check.links == check.links_bound:
        return f"{counted(check.links, 'link')} can be built, port to port, and no way of cabling builds more: proven."
    return (
        f"{counted(check.links, 'link')} can be built, port to port; it is proven that more than {check.links_bound:,} "
        "cannot."
    )


def _over_row(over: Leftover) -> tuple[str | Cell, ...]:
    return (over.part, f"{over.quantity:,}", f"{over.of:,}", over.rule, over.why)


def _missing(missing: Iterable[Missing]) -> Table:
    rows = []
    total = 0.0
    for part in missing:
        amount = (part.unit_usd or 0.0) * part.quantity
        total += amount
        unit = "no price" if part.unit_usd is None else usd(part.unit_usd)
        rows.append((part.part, f"{part.quantity:,}", unit, usd(amount)))
    return Table(_MISSING, tuple(rows), ("total", "", "", usd(total)))


def _fit(fit: CaseFit) -> Iterator[Block]:
    yield Heading(f"The case {fit.case}")
    if fit.status == "builds":
        yield Paragraph("The list builds a design of the case, proven: nothing has to be added.", Tone.GOOD)
    elif fit.status == "incomplete":
        yield Paragraph("The list builds no design of the case, proven. The cheapest parts to add:", Tone.BAD)
        yield _missing(fit.missing)
    elif fit.status == "infeasible":
        yield Paragraph("The case has no design, whatever is bought: gpunet explain says why.", Tone.BAD)
    else:
        yield Paragraph(f"Whether the list builds the case was not found out ({fit.status}).", Tone.BAD)
    if fit.switches:
        yield Paragraph(f"Design: {listed([f'{n:,} x {name}' for name, n in fit.switches.items()])}.")
    if fit.surplus:
        over = [f"{n:,} x {part}" for part, n in fit.surplus.items()]
        yield Paragraph(f"Not used by it: {listed(over)}.")
    yield from (Point(note, Tone.WEAK) for note in fit.notes)
