"""What the pieces of one part cost to buy: stock first, spares with them, then packs, minimum orders and price steps.

One function of the pieces in the design, part by part. The program builds it from rows (``program_purchase``), CP-SAT
from conditions of its own; both must come to what ``PartTerms.buy`` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from gpunet.catalogs import find_part, split_medium_id
from gpunet.models.case import Case
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog, Status
from gpunet.models.terms import PriceBreak, Spares
from gpunet.solver.offers import ENDLESS, Bought, Source, Step, cheapest, in_order, source_of
from gpunet.solver.quotes import Offer, offers, offers_in_time, weeks_of
from gpunet.solver.vendor_discounts import Schedule, by_vendor

WEEKS_PER_YEAR = Fraction(36525, 700)


class Share(NamedTuple):
    """Pieces of one part that are bought from one source."""

    source: Source
    pieces: int

    @property
    def cents(self) -> int:
        """What they cost."""
        return self.pieces * self.source.price(self.pieces)


class Purchase(NamedTuple):
    """What is bought of one part."""

    spares: int
    """Pieces beside those in the design."""
    from_stock: int
    bought: int
    """Pieces ordered, surplus included."""
    surplus: int
    """Pieces ordered beyond what the design and its spares need, for a whole pack, a minimum order or a lower price."""
    cents: int
    at_list: int
    """Pieces that are paid at the price without steps; 0 for a part that is offered by suppliers."""
    shares: tuple[Share, ...] = ()
    """Who delivers, for a part that is offered by suppliers."""


@dataclass(frozen=True)
class SpareRule:
    """Spares of one part."""

    failures_per_piece: Fraction = Fraction(0)
    """Failures expected of one piece while a replacement is on its way."""
    service_level: float = 0.0
    minimum: int = 0

    def spares(self, pieces: int) -> int:
        """Spares for so many pieces in use."""
        if not pieces:
            return 0
        found = self.minimum
        while self.most_pieces(found) < pieces:
            found += 1
        return found

    def most_more(self, pieces: int, most: int) -> int:
        """The most spares that so many pieces add, whatever is in use already, up to ``most`` in all."""
        return _most_more(self, pieces, most)

    def most_pieces(self, spares: int) -> int:
        """The most pieces for which so many spares are enough; 0 below the minimum."""
        if spares < self.minimum:
            return 0
        return _most_pieces(self.failures_per_piece, self.service_level, spares)


@lru_cache(maxsize=100_000)
def _most_pieces(rate: Fraction, level: float, spares: int) -> int:
    if not rate:
        return ENDLESS
    low, high = 0, 1
    while chance_at_most(spares, rate * high) >= level:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if chance_at_most(spares, rate * middle) >= level:
            low = middle
        else:
            high = middle
    return low


@lru_cache(maxsize=100_000)
def _most_more(rule: SpareRule, pieces: int, most: int) -> int:
    found, level = rule.spares(min(pieces, most)), rule.minimum
    while (reached := rule.most_pieces(level)) < most:
        # Spares rise just beyond what a level is enough for, so nothing gains more than what begins there.
        found = max(found, rule.spares(min(most, reached + pieces)) - level)
        level += 1
    return found


def chance_at_most(events: int, mean: Fraction) -> float:
    """Probability of at most ``events`` where ``mean`` are expected, by Poisson's law."""
    rate = float(mean)
    if not rate:
        return 1.0
    return math.fsum(math.exp(k * math.log(rate) - rate - math.lgamma(k + 1)) for k in range(events + 1))


@dataclass(frozen=True)
class PartTerms:
    """Everything that makes a part more than its quantity times its price."""

    unit_cents: int
    owned: int = 0
    pack: int = 1
    least: int = 1
    """Minimum order."""
    most: int | None = None
    """Pieces that can be had; none without a limit."""
    breaks: tuple[Step, ...] = ()
    incremental: bool = False
    spare: SpareRule | None = None
    sources: tuple[Source, ...] | None = None
    """Offers of suppliers that the part is bought from, and no price or step beside them counts; none where nobody
    offers it."""
    discount: Schedule | None = None
    """What its vendor takes off the whole order, where the part counts towards that."""
    weighed_cents: int | None = None
    """What the totals of a design count for a piece before its order is known; its unit price where none is told."""

    @property
    def has_order_terms(self) -> bool:
        """Whether more may be bought than is needed, or at another price."""
        return self.pack > 1 or self.least > 1 or bool(self.breaks) or self.sources is not None

    @property
    def rises_with_every_piece(self) -> bool:
        """Whether one piece more always costs its price more: without steps, minimum orders and packs."""
        offers = self.sources or ()
        return self.pack == 1 and self.least == 1 and not self.breaks and all(x.is_plain for x in offers)

    @property
    def is_stock_alone(self) -> bool:
        """Whether nothing but stock makes the part special."""
        return not self.has_order_terms and self.spare is None and self.most is None and self.discount is None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Unit prices, from one piece on."""
        return (Step(1, self.unit_cents), *self.breaks)

    @property
    def counted_cents(self) -> int:
        """What a piece counts for in the totals of a design before its order is known."""
        return self.unit_cents if self.weighed_cents is None else self.weighed_cents

    @property
    def floor_cents(self) -> int:
        """The least that one more piece may cost."""
        return 0 if self.owned else self.least_price_cents

    @property
    def least_price_cents(self) -> int:
        """The least that one piece is sold for."""
        if self.sources is not None:
            return min((x.least_price_cents for x in self.sources), default=self.unit_cents)
        least = min(step.cents for step in self.steps)
        return least if self.discount is None else math.floor(least * (1 - self.discount.deepest))

    def spares(self, pieces: int) -> int:
        """Spares for so many pieces in the design."""
        return 0 if self.spare is None else self.spare.spares(pieces)

    def orders(self, most: int) -> Iterator[tuple[int, int, int, int]]:
        """Sizes of order by price step: from, to, unit price, and what comes on top once, cents.

        Of a part that is offered by suppliers, those of every offer in turn.
        """
        for source in self.sources or ():
            yield from ((*size, 0) for size in source.sizes(most))
        if self.sources is not None:
            return
        for i, step in enumerate(self.steps):
            last = self.steps[i + 1].pieces - 1 if i + 1 < len(self.steps) else most
            first = max(step.pieces, self.least)
            if first <= min(last, most):
                yield first, min(last, most), step.cents, self._once(i)

    def _once(self, i: int) -> int:
        """What the pieces below a step cost more than at its price, where each keeps the price of its own step."""
        if not self.incremental:
            return 0
        return sum(
            (below.cents - self.steps[i].cents) * (self.steps[j + 1].pieces - below.pieces)
            for j, below in enumerate(self.steps[:i])
        )

    def price(self, bought: int) -> int:
        """What an order costs, cents."""
        i = max(j for j, step in enumerate(self.steps) if step.pieces <= bought) if bought else 0
        return self.steps[i].cents * bought + (self._once(i) if bought else 0)

    def largest_order(self, pieces: int) -> int:
        """No cheapest order for up to so many pieces is larger."""
        least, last = self.least, self.steps[-1].pieces
        for source in self.sources or ():
            least, last = max(least, source.least), max(last, source.steps[-1].pieces)
        needed = max(pieces + self.spares(pieces), least, last)
        return self.pack * math.ceil(needed / self.pack)

    def most_for(self, pieces: int, most: int) -> int | None:
        """The most that so many pieces add to the price of any design, of up to ``most``; none where supply may end.

        Prices fall from step to step, so no piece adds more than its price without steps.
        """
        if self.most is not None or self.sources is not None:
            return None
        spares = 0 if self.spare is None else self.spare.most_more(pieces, most)
        return self.unit_cents * (pieces + spares + self.pack - 1 + self.least - 1)

    def buy(self, pieces: int) -> Purchase | None:
        """The cheapest way to have so many pieces in the design; none where so many cannot be had.

        Of orders at one cost the smallest. Limits on suppliers are the matter of ``order_all``.
        """
        spares, from_stock, due = self.due(pieces)
        if not due:
            return Purchase(spares, from_stock, 0, 0, 0, 0)
        if self.sources is not None:
            order = cheapest(self.sources, due, self.pack, self.most, None)
            return None if order is None else self.shared(pieces, order)
        sizes = {self.pack * math.ceil(max(due, self.least, step.pieces) / self.pack) for step in self.steps}
        best = min(
            ((self.price(n), n) for n in sizes if self.most is None or n <= self.most),
            default=None,
        )
        if best is None:
            return None
        cents, bought = best
        at_list = bought
        if self.breaks and bought >= self.breaks[0].pieces:
            at_list = self.breaks[0].pieces - 1 if self.incremental else 0
        return Purchase(spares, from_stock, bought, bought - due, cents, at_list)

    def due(self, pieces: int) -> tuple[int, int, int]:
        """Spares for so many pieces, what stock gives of all, and what is left to buy."""
        spares = self.spares(pieces)
        from_stock = min(self.owned, pieces + spares)
        return spares, from_stock, pieces + spares - from_stock

    def shared(self, pieces: int, order: Bought) -> Purchase:
        """So many pieces in the design with an order from several sources."""
        spares, from_stock, due = self.due(pieces)
        shares = tuple(Share(s, n) for s, n in zip(self.sources or (), order.by_source, strict=True) if n)
        return Purchase(spares, from_stock, order.pieces, order.pieces - due, order.cents, 0, shares)


class PurchaseRules:
    """The terms of every part under one case. ``listed`` gives the catalogue price of a part, cents."""

    def __init__(self, case: Case, catalog: Catalog, listed: Callable[[str], int | None]) -> None:
        self._catalog, self._terms, self._spares, self._listed = catalog, case.terms, case.spares, listed
        self._case = case
        self.buying = case.buying
        """Limits on the whole order, where it is split among suppliers."""
        self._offers: Mapping[str, tuple[Offer, ...]] = {} if case.buying is None else offers_in_time(case)
        self._stated = set(case.prices.overrides_usd)
        self.discounts: Mapping[str, Schedule] = by_vendor(self._terms.vendor_discounts if self._terms else ())
        """Discounts on everything that is bought of a vendor, by vendor."""
        self._quoted = offers(case).keys() if self.discounts else set()
        self.owned: Mapping[str, int] = {o.part: o.quantity for o in case.owned}
        """Pieces in the house, by part."""
        self._most: dict[str, int] = {}
        self._limit = limit = case.limits.lead_time_weeks
        for supply in case.supply or ():
            in_time = limit is None or supply.from_week <= limit
            self._most[supply.part] = self._most.get(supply.part, 0) + (supply.at_most if in_time else 0)
        self._breaks: Mapping[str, PriceBreak] = {b.part: b for b in (case.terms.price_breaks if case.terms else ())}

    @property
    def is_plain(self) -> bool:
        """Whether every part is its quantity times its price, stock aside."""
        return self._terms is None and self._spares is None and not self._most and self.buying is None

    @property
    def has_spares(self) -> bool:
        """Whether spares are bought."""
        return self._spares is not None

    def is_offered(self, part: str) -> bool:
        """Whether the pieces of a part are split among suppliers; a price that the case states itself comes first."""
        base, _ = split_medium_id(part)
        return part in self._offers and not {part, base} & self._stated

    def stock_alone(self, part: str) -> str:
        """Why no piece of a part can be bought beside those in the house, in words; empty where it can."""
        item = find_part(self._catalog, part)
        if item is None:
            return ""
        if item.status is Status.DISCONTINUED:
            return f"{part} is discontinued"
        weeks = weeks_of(self._case, part, item.lead_time_weeks)
        late = self._limit is not None and weeks is not None and weeks > self._limit
        return f"{part} is delivered later than limits.lead_time_weeks" if late else ""

    def is_unquoted(self, part: str) -> bool:
        """Whether a part cannot be bought, since only what is quoted may be."""
        return not self.is_offered(part) and not self.may_be_listed(part)

    def may_be_listed(self, part: str) -> bool:
        """Whether a part may be bought at its catalogue price or at one that the case states."""
        if self.buying is None or {part, split_medium_id(part)[0]} & self._stated:
            return True
        return self.buying.at_list == "always" or (self.buying.at_list == "unquoted" and part not in self._offers)

    def _sources(self, part: str, least: int, supposed: int | None) -> tuple[Source, ...] | None:
        """Where a part can be bought; none where only its price says so. A supposed price, cents, is that of all."""
        if not self.is_offered(part):
            return None if self.may_be_listed(part) else ()
        found = [source_of(offer, least) for offer in self._offers[part]]
        listed = self._listed(part) if self.may_be_listed(part) else None
        if listed is not None:
            found.append(Source("", "", (Step(1, listed),), least))
        return tuple(x if supposed is None else x.at(supposed) for x in in_order(found))

    def of(self, part: str, unit_cents: int, supposed: bool = False) -> PartTerms | None:
        """The terms of one part at a unit price, cents; none where it is just its quantity times that.

        ``supposed``: the price stands for every price that a supplier asks.
        """
        owned = self.owned.get(part, 0)
        not_sold = bool(self.stock_alone(part))
        if self.is_plain and not not_sold:
            return PartTerms(unit_cents, owned) if owned else None
        base, _ = split_medium_id(part)
        least = self._named(self._terms.minimum_order if self._terms else {}, part, base, 1)
        found = PartTerms(
            unit_cents,
            owned,
            pack=self._named(self._terms.packs if self._terms else {}, part, base, 1),
            least=least,
            most=0 if not_sold else self._most.get(part),
            breaks=self._steps(part, base),
            incremental=(b := self._breaks.get(part) or self._breaks.get(base)) is not None and b.kind == "incremental",
            spare=None if self._spares is None else self._spare_rule(self._spares, part, base),
            sources=self._sources(part, least, unit_cents if supposed else None),
            discount=self.discount_of(part),
        )
        if found.sources is not None:
            # Every source has its own minimum and steps.
            found = replace(found, least=1, breaks=())
        return None if found.is_stock_alone and not owned else found

    def discount_of(self, part: str) -> Schedule | None:
        """The discount towards which a part counts: that of its vendor, where it is bought at catalogue price."""
        if not self.discounts or part in self._quoted or {part, split_medium_id(part)[0]} & self._stated:
            return None
        item = find_part(self._catalog, part)
        return None if item is None else self.discounts.get(item.vendor)

    def cheapest(self, part: str, unit_cents: int, supposed: bool = False) -> int:
        """The least that one piece may cost, cents; where spares are bought also the least that one more piece adds."""
        if part in self.owned:
            return 0
        found = None if self._terms is None and self.buying is None else self.of(part, unit_cents, supposed)
        if found is None or not (found.has_order_terms or found.discount):
            return unit_cents
        # Up to a whole pack, or where the next step costs no more in all, one more piece may add nothing.
        return 0 if self.has_spares and not found.rises_with_every_piece else found.least_price_cents

    @staticmethod
    def _named(table: Mapping[str, int], part: str, base: str, otherwise: int) -> int:
        return table.get(part, table.get(base, otherwise))

    def _steps(self, part: str, base: str) -> tuple[Step, ...]:
        found = self._breaks.get(part) or self._breaks.get(base)
        return () if found is None else tuple(Step(s.from_pieces, usd_to_cents(s.usd)) for s in found.steps)

    def _spare_rule(self, asked: Spares, part: str, base: str) -> SpareRule | None:
        kind = self._kind(base)
        if kind is None:
            return None
        rates, least = asked.failure_percent_per_year, asked.minimum
        percent = rates.get(part, rates.get(base, rates.get(kind, 0.0)))
        minimum = least.get(part, least.get(base, least.get(kind, 0)))
        if not percent and not minimum:
            return None
        per_piece = Fraction(str(percent)) / 100 * Fraction(str(asked.replenish_weeks)) / WEEKS_PER_YEAR
        return SpareRule(per_piece, asked.service_level, minimum)

    def _kind(self, base: str) -> str | None:
        """Kind of a part of which spares are kept; adapters are the servers' own."""
        catalog = self._catalog
        tables = (
            ("switch", catalog.switches),
            ("module", catalog.modules),
            ("cable", catalog.cables),
            ("fibre", catalog.fibres),
            ("panel", catalog.accessories),
        )
        return next((kind for kind, table in tables if base in table), None)
