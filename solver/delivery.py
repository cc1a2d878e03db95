"""When everything that is bought is there, and which part sets that date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpunet.catalogs import find_part
from gpunet.models.case import Case
from gpunet.models.design import BomLine, Delivery
from gpunet.models.parts import Catalog
from gpunet.solver.quotes import offers, quotes_of


class _Wait(NamedTuple):
    """How long one part takes."""

    weeks: float
    how: str


def asks_for_time(case: Case) -> bool:
    """Whether the case says anything about weeks: a limit, a supply from some week on, or a quoted delivery time."""
    quoted = any(line.lead_time_weeks is not None for quote in quotes_of(case) for line in quote.lines)
    supplied = any(supply.from_week for supply in case.supply or ())
    return case.limits.lead_time_weeks is not None or supplied or quoted


def delivery_of(case: Case, catalog: Catalog, bom: Iterable[BomLine]) -> Delivery | None:
    """The last delivery among the parts that are bought; none where no delivery time is known.

    A delivery time that the seller quotes stands for that of the catalogue. Supply counts as far as the order needs it,
    the earliest first.
    """
    lines: dict[str, list[BomLine]] = {}
    for line in bom:
        if line.bought and find_part(catalog, line.part) is not None:
            lines.setdefault(line.part, []).append(line)
    waits = {part: _wait(case, catalog, part, several) for part, several in lines.items()}
    known = {part: wait for part, wait in waits.items() if wait is not None}
    if not known:
        return None
    weeks = max(wait.weeks for wait in known.values())
    last = [part for part, wait in known.items() if wait.weeks == weeks]
    return Delivery(
        weeks=weeks,
        parts=tuple(last),
        how=known[last[0]].how,
        unknown=tuple(part for part, wait in waits.items() if wait is None),
    )


def _wait(case: Case, catalog: Catalog, part: str, lines: Iterable[BomLine]) -> _Wait | None:
    several = list(lines)
    found = [wait for line in several if (wait := _seller_takes(case, catalog, line)) is not None]
    week = _supplied_by(case, part, sum(line.bought for line in several))
    if week:
        found.append(_Wait(week, "supply"))
    return max(found, key=lambda wait: wait.weeks, default=None)


def _seller_takes(case: Case, catalog: Catalog, line: BomLine) -> _Wait | None:
    """The delivery time of one line: that of its quote, else that of the catalogue."""
    asked = offers(case).get(line.part, ()) if line.price_how == "quoted" else ()
    if line.supplier:
        asked = tuple(x for x in asked if (x.quote.supplier, x.quote.title) == (line.supplier, line.price_source))
    else:
        # Where the order is not split, all of it comes from the lowest quote, whose title the line bears.
        asked = tuple(x for x in asked if x.quote.title == line.price_source)[:1]
    if asked and asked[0].line.lead_time_weeks is not None:
        return _Wait(asked[0].line.lead_time_weeks, "quoted")
    part = find_part(catalog, line.part)
    if part is None or part.lead_time_weeks is None:
        return None
    return _Wait(part.lead_time_weeks.v, part.lead_time_weeks.how.value)


def _supplied_by(case: Case, part: str, pieces: int) -> float:
    """The week by which so many pieces of a part can be had; 0 where nothing is said of it."""
    limit = case.limits.lead_time_weeks
    entries = sorted((s.from_week, s.at_most) for s in case.supply or () if s.part == part)
    for week, at_most in entries:
        pieces -= at_most
        if pieces <= 0 or (limit is not None and week > limit):
            return week
    return 0.0
