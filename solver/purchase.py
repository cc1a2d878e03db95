"""What the pieces of one part cost to buy: stock first, spares with them, then packs, minimum orders and price steps.

One function of the pieces in the design, part by part. The program builds it from rows (``program_purchase``), CP-SAT
from conditions of its own; both must come to what ``PartTerms.buy`` says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.models.terms import PriceBreak, Spares

WEEKS_PER_YEAR = Fraction(36525, 700)
ENDLESS = 1 << 40
"""More pieces than any design has."""


class Step(NamedTuple):
    """A unit price from some quantity on."""

    pieces: int
    cents: int


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
    """Pieces that are paid at the price without steps."""


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

    @property
    def has_order_terms(self) -> bool:
        """Whether more may be bought than is needed, or at another price."""
        return self.pack > 1 or self.least > 1 or bool(self.breaks)

    @property
    def is_stock_alone(self) -> bool:
        """Whether nothing but stock makes the part special."""
        return not self.has_order_terms and self.spare is None and self.most is None

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Unit prices, from one piece on."""
        return (Step(1, self.unit_cents), *self.breaks)

    @property
    def floor_cents(self) -> int:
        """The least that one more piece may cost."""
        return 0 if self.owned else self.least_price_cents

    @property
    def least_price_cents(self) -> int:
        """The least that one piece is sold for."""
        return min(step.cents for step in self.steps)

    def spares(self, pieces: int) -> int:
        """Spares for so many pieces in the design."""
        return 0 if self.spare is None else self.spare.spares(pieces)

    def orders(self, most: int) -> Iterator[tuple[int, int, int, int]]:
        """Sizes of order by price step: from, to, unit price, and what comes on top once, cents."""
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
        needed = max(pieces + self.spares(pieces), self.least, self.steps[-1].pieces)
        return self.pack * math.ceil(needed / self.pack)

    def most_for(self, pieces: int, most: int) -> int | None:
        """The most that so many pieces add to the price of any design, of up to ``most``; none where supply may end.

        Prices fall from step to step, so no piece adds more than its price without steps.
        """
        if self.most is not None:
            return None
        spares = 0 if self.spare is None else self.spare.most_more(pieces, most)
        return self.unit_cents * (pieces + spares + self.pack - 1 + self.least - 1)

    def buy(self, pieces: int) -> Purchase | None:
        """The cheapest way to have so many pieces in the design; none where so many cannot be had.

        Of orders at one cost the smallest.
        """
        spares = self.spares(pieces)
        from_stock = min(self.owned, pieces + spares)
        due = pieces + spares - from_stock
        if not due:
            return Purchase(spares, from_stock, 0, 0, 0, 0)
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


class PurchaseRules:
    """The terms of every part under one case."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        self._catalog, self._terms, self._spares = catalog, case.terms, case.spares
        self._owned = {o.part: o.quantity for o in case.owned}
        self._most: dict[str, int] = {}
        limit = case.limits.lead_time_weeks
        for supply in case.supply or ():
            in_time = limit is None or supply.from_week <= limit
            self._most[supply.part] = self._most.get(supply.part, 0) + (supply.at_most if in_time else 0)
        self._breaks: Mapping[str, PriceBreak] = {b.part: b for b in (case.terms.price_breaks if case.terms else ())}

    @property
    def is_plain(self) -> bool:
        """Whether every part is its quantity times its price, stock aside."""
        return self._terms is None and self._spares is None and not self._most

    @property
    def has_spares(self) -> bool:
        """Whether spares are bought."""
        return self._spares is not None

    def of(self, part: str, unit_cents: int) -> PartTerms | None:
        """The terms of one part at a unit price, cents; none where it is just its quantity times that."""
        owned = self._owned.get(part, 0)
        if self.is_plain:
            return PartTerms(unit_cents, owned) if owned else None
        base, _ = split_medium_id(part)
        found = PartTerms(
            unit_cents,
            owned,
            pack=self._named(self._terms.packs if self._terms else {}, part, base, 1),
            least=self._named(self._terms.minimum_order if self._terms else {}, part, base, 1),
            most=self._most.get(part),
            breaks=self._steps(part, base),
            incremental=(b := self._breaks.get(part) or self._breaks.get(base)) is not None and b.kind == "incremental",
            spare=None if self._spares is None else self._spare_rule(self._spares, part, base),
        )
        return None if found.is_stock_alone and not owned else found

    def cheapest(self, part: str, unit_cents: int) -> int:
        """The least that one piece may cost, cents; where spares are bought also the least that one more piece adds."""
        if part in self._owned:
            return 0
        found = None if self._terms is None else self.of(part, unit_cents)
        if found is None or not found.has_order_terms:
            return unit_cents
        # Up to a whole pack, or where the next step costs no more in all, one more piece may add nothing.
        return 0 if self.has_spares else found.least_price_cents

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
        )
        return next((kind for kind, table in tables if base in table), None)
