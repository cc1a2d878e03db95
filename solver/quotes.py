"""What the quotes of a case say of a part: the lowest price that holds on the day of the order, and who else offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case
from gpunet.models.evidence import Fact, usd_to_cents
from gpunet.models.parts import Part
from gpunet.models.quote import QuoteFile, QuoteLine


@dataclass(frozen=True)
class Offer:
    """A part in a quote."""

    quote: QuoteFile
    line: QuoteLine

    @property
    def cents(self) -> int:
        """Unit price, cents."""
        return usd_to_cents(self.line.unit_usd)


def quotes_of(case: Case) -> tuple[QuoteFile, ...]:
    """The quotes of a case. Raises ``ValueError`` for a name of a file in place of a quote, which nobody has read."""
    for quote in case.quotes or ():
        if isinstance(quote, str):
            raise ValueError(f"the quote {quote!r} is the name of a file; read the case with gpunet.load_case")
    return tuple(quote for quote in case.quotes or () if isinstance(quote, QuoteFile))


def offers(case: Case) -> dict[str, tuple[Offer, ...]]:
    """Every offer that holds, by part, the lowest price first; among equal prices in the order of the case."""
    found: dict[str, list[Offer]] = {}
    for quote in quotes_of(case):
        if case.order_date is None or not quote.has_lapsed(case.order_date):
            for line in quote.lines:
                found.setdefault(line.part, []).append(Offer(quote, line))
    return {part: tuple(sorted(several, key=lambda offer: offer.cents)) for part, several in found.items()}


def offers_in_time(case: Case) -> dict[str, tuple[Offer, ...]]:
    """Offers that hold on the day of the order and are delivered within ``limits.lead_time_weeks``, by part."""
    limit = case.limits.lead_time_weeks
    found = {}
    for part, several in offers(case).items():
        kept = tuple(x for x in several if limit is None or (x.line.lead_time_weeks or 0) <= limit)
        if kept:
            found[part] = kept
    return found


def weeks_of(case: Case, part: str, listed: Fact | None) -> float | None:
    """Delivery time of a part that is bought at its price, weeks; none where nobody knows.

    That of the lowest quote in time, of the quickest where all are late, of the catalogue where a quote states none or
    none is used.
    """
    weeks = None if listed is None else listed.v
    if case.buying is not None or {part, split_medium_id(part)[0]} & set(case.prices.overrides_usd):
        return weeks
    asked = offers(case).get(part, ())
    if not asked:
        return weeks
    in_time = offers_in_time(case).get(part, ())
    stated = in_time[0].line.lead_time_weeks if in_time else min(x.line.lead_time_weeks or 0 for x in asked)
    return weeks if stated is None else stated


def later_weeks(case: Case, parts: Iterable[Part]) -> list[float]:
    """Delivery times beyond the limit of the case that the catalogue, a quote or ``supply`` states, weeks, rising."""
    weeks = {part.lead_time_weeks.v for part in parts if part.lead_time_weeks is not None}
    weeks |= {x.from_week for x in case.supply or ()}
    weeks |= {x.lead_time_weeks for quote in quotes_of(case) for x in quote.lines if x.lead_time_weeks is not None}
    return sorted(w for w in weeks if w > (case.limits.lead_time_weeks or 0))


def offer_note(several: tuple[Offer, ...]) -> str:
    """How long the lowest offer holds and what the others ask, in words."""
    best = several[0].quote
    others = ", ".join(f"{offer.cents / 100:,.2f} from {offer.quote.title}" for offer in several[1:])
    said = [f"valid until {best.valid_until}" if best.valid_until else "", f"also {others}" if others else ""]
    return "; ".join(filter(None, said))


def lapsed_quotes(case: Case, today: str) -> Iterator[str]:
    """Quotes that no longer hold, each in a sentence: on the day of the order, or today where the case names none."""
    day = case.order_date or today
    for quote in quotes_of(case):
        if quote.has_lapsed(day):
            until = f"the quote of {quote.title} was valid until {quote.valid_until}"
            if case.order_date is not None:
                yield f"{until}, before the order_date {day}: its prices are not used"
            else:
                yield f"{until}, and today is {day}: its prices are used all the same, for the case has no order_date"
