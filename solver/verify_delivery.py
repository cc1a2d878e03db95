"""The date of delivery, worked out again from the case, the catalogue and the lines of the bill."""

from __future__ import annotations

from gpunet.models.design import BomLine, Check
from gpunet.models.quote import QuoteFile
from gpunet.solver.verify_money import SERVICES, Bill
from gpunet.solver.verify_report import Findings


def check_delivery(bill: Bill) -> Check:
    """The week told is the latest of any part that is bought, and the parts told are those that take so long."""
    findings = Findings("delivery")
    told = bill.book.result.delivery
    assert told is not None
    weeks: dict[str, list[float]] = {}
    ordered: dict[str, int] = {}
    for line in bill.book.result.bom:
        if line.kind not in SERVICES and line.bought:
            weeks.setdefault(line.part, []).extend(_weeks(bill, line))
            ordered[line.part] = ordered.get(line.part, 0) + line.bought
    for part, pieces in ordered.items():
        weeks[part] += _supply(bill, part, pieces)
    latest = {part: max(several) for part, several in weeks.items() if several}
    last = max(latest.values(), default=0.0)
    slowest = {part for part, week in latest.items() if week == last}
    unknown = set(weeks) - set(latest)
    if told.weeks != last:
        findings.add(f"{told.weeks:g} weeks reported, the last part takes {last:g}")
    for what, named, mine in (("last", set(told.parts), slowest), ("without a known time", set(told.unknown), unknown)):
        if named != mine:
            findings.add(f"{what}: {', '.join(sorted(named))} reported, {', '.join(sorted(mine))} by the bill")
    return findings.check(f"{', '.join(sorted(slowest))}: {last:g} weeks")


def _weeks(bill: Bill, line: BomLine) -> list[float]:
    """The delivery time of a line: of the quote that its price names, else of the catalogue."""
    for quote in bill.case.quotes or ():
        if isinstance(quote, QuoteFile) and line.price_how == "quoted" and quote.title == line.price_source:
            asked = [x for x in quote.lines if x.part == line.part and x.lead_time_weeks is not None]
            if asked:
                return [x.lead_time_weeks for x in asked[:1] if x.lead_time_weeks is not None]
    part = bill.lines[line.part].part if line.part in bill.lines else None
    return [] if part is None or part.lead_time_weeks is None else [part.lead_time_weeks.v]


def _supply(bill: Bill, name: str, pieces: int) -> list[float]:
    """The week of the supply that the last of so many pieces comes from."""
    several = sorted((s for s in bill.case.supply or () if s.part == name), key=lambda s: s.from_week)
    reached = [s for i, s in enumerate(several) if sum(x.at_most for x in several[:i]) < pieces]
    return [reached[-1].from_week] if reached and reached[-1].from_week else []
