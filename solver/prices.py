"""Unit prices and watts of every part under one case, in integer cents and milliwatts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, Objective
from gpunet.models.evidence import Price, usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.models.terms import Licence
from gpunet.solver.purchase import PartTerms, PurchaseRules
from gpunet.solver.quotes import offer_note, offers, offers_in_time

HOURS_PER_YEAR = 8766
"""365.25 days (DESIGN 2)."""


class Weight(NamedTuple):
    """What one unit adds to each total."""

    cost: int
    """Cents."""
    power: int
    """Largest draw, mW."""
    tco: int
    """Cents over the years of the case: price, energy and support, each rounded to the cent per unit."""

    def of(self, objective: Objective) -> int:
        """The figure that ``objective`` sums."""
        return int(getattr(self, objective.value))

    def __add__(self, other: object) -> Weight:
        if not isinstance(other, Weight):
            return NotImplemented
        return Weight(self.cost + other.cost, self.power + other.power, self.tco + other.tco)

    def times(self, n: int) -> Weight:
        """``n`` units."""
        return Weight(self.cost * n, self.power * n, self.tco * n)


ZERO = Weight(0, 0, 0)


@dataclass(frozen=True)
class Quote:
    """A unit price as the bill shows it."""

    cents: int
    source: str
    date: str
    how: str
    note: str


class Added(NamedTuple):
    """A line of the bill that is no part: one unit of it comes with one piece of some part."""

    kind: str
    """``licence`` or ``installation``."""
    name: str
    cents: int
    """Price, once."""
    later_cents: int
    """Price over the years of the case, on top."""


class PriceList:
    """Prices after basis, overrides, quotes and discounts. Discounts do not apply to an override or a quote."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        self._case, self._catalog = case, catalog
        self._offers = offers_in_time(case)
        self._late = offers(case).keys() - self._offers.keys() if case.buying is None else set()
        """Parts whose every quote promises a day too late."""
        self._quotes: dict[str, Quote | None] = {}
        self._supposed: dict[str, Quote] = {}
        self._weights: dict[tuple[str, int, bool], Weight | None] = {}
        self.rules = PurchaseRules(case, catalog, self._listed_cents)
        tco = case.tco
        kwh_per_mw = Decimal(str(tco.years)) * HOURS_PER_YEAR / Decimal(1_000_000)
        self._cents_per_mw = kwh_per_mw * Decimal(str(tco.pue)) * Decimal(str(tco.usd_per_kwh)) * 100
        self._support = Decimal(str(tco.years)) * Decimal(str(tco.support_rate))

    def suppose(self, prices: Mapping[str, int]) -> list[str]:
        """Take these unit prices, cents, in place of the case's own; returns the parts whose price has changed.

        Every call replaces what was supposed before. A part without a price gets none by being left out.
        """
        before = {part: self.cents(part) for part in {*self._supposed, *prices}}
        self._supposed = {part: Quote(cents, "supposed", "", "supposed", "") for part, cents in prices.items()}
        for part in before:
            self._quotes.pop(part, None)
        changed = sorted(part for part, cents in before.items() if self.cents(part) != cents)
        self._weights = {key: weight for key, weight in self._weights.items() if key[0] not in changed}
        return changed

    @property
    def rack_cents(self) -> int | None:
        """Price of a network rack, cents; none where racks are not paid for."""
        cost_usd = self._case.site.rack.cost_usd
        return None if cost_usd is None else usd_to_cents(cost_usd)

    @property
    def supposed(self) -> dict[str, int]:
        """Unit prices that stand in for the case's own, cents."""
        return {part: quote.cents for part, quote in self._supposed.items()}

    def quote(self, part: str) -> Quote | None:
        """The unit price of a part or of a stock length; none where nobody gives one."""
        if part not in self._quotes:
            self._quotes[part] = self._find(part)
        return self._quotes[part]

    def band(self, part: str) -> tuple[int, int] | None:
        """Low and high end of the price band of a part, discounts taken off, cents; none for a quoted price."""
        overrides = self._case.prices.overrides_usd
        base, length_m = split_medium_id(part)
        found = self._catalogue_price(part if length_m is None else base, length_m)
        if part in overrides or base in overrides or part in self._offers or found is None:
            return None
        vendor, price = found
        return self._discounted(vendor, price.cents("low")), self._discounted(vendor, price.cents("high"))

    def _discounted(self, vendor: str, cents: int) -> int:
        discount = self._case.prices.discounts.get(vendor)
        return cents if discount is None else _whole(Decimal(cents) * (1 - Decimal(str(discount))))

    def cents(self, part: str) -> int | None:
        """Unit price, cents; none where nobody gives one."""
        quote = self.quote(part)
        return None if quote is None else quote.cents

    def free_cents(self, part: str) -> int:
        """What a unit may cost less than its price when it is taken from owned stock or reaches a price step, cents."""
        cents = self.cents(part) or 0
        return cents - self.rules.cheapest(part, cents, part in self._supposed)

    def terms(self, part: str) -> PartTerms | None:
        """Stock, spares, supply and terms of sale of a part; none where it is just its quantity times its price."""
        return self.rules.of(part, self.cents(part) or 0, part in self._supposed)

    def added(self, part: str) -> tuple[Added, ...]:
        """What comes with every piece of a part and is no part itself: licences of a switch, laying of a cable."""
        terms = self._case.terms
        if terms is None:
            return ()
        base, length_m = split_medium_id(part)
        switch = self._catalog.switches.get(part)
        years = Decimal(str(self._case.tco.years))
        found = [
            line
            for x in terms.licences
            if switch is not None and x.switch in (part, "switch:*", f"{switch.vendor}:*")
            for line in _licence(x, years)
        ]
        laid = terms.installation
        if laid is not None and length_m is not None and (base in self._catalog.fibres or base in self._catalog.cables):
            within = length_m <= laid.in_rack_m
            name = "in a rack" if within else "across racks"
            found.append(
                Added("installation", name, usd_to_cents(laid.in_rack_usd if within else laid.across_racks_usd), 0)
            )
        return tuple(found)

    def energy_cents(self, power_mw: int) -> int:
        """Energy of one unit over the years of the case, cents."""
        return _whole(self._cents_per_mw * power_mw)

    def support_cents(self, switch: str) -> int:
        """Support of one switch over the years of the case, cents."""
        return self.support_of(self.cents(switch) or 0)

    def support_of(self, cents: int) -> int:
        """Support of one switch that costs ``cents``, over the years of the case, cents."""
        return _whole(self._support * cents)

    def weight(self, part: str, power_mw: int, supported: bool = False) -> Weight | None:
        """What one unit of ``part`` that draws ``power_mw`` adds to each total; none without a price."""
        key = (part, power_mw, supported)
        if key not in self._weights:
            cents = self.cents(part)
            support = self.support_cents(part) if supported else 0
            once = sum(x.cents for x in self.added(part))
            later = sum(x.later_cents for x in self.added(part)) + self.energy_cents(power_mw) + support
            self._weights[key] = None if cents is None else Weight(cents + once, power_mw, cents + once + later)
        return self._weights[key]

    def _find(self, part: str) -> Quote | None:
        if part in self._supposed:
            return self._supposed[part]
        overrides = self._case.prices.overrides_usd
        base, _ = split_medium_id(part)
        for key in (part, base):
            if key in overrides:
                return Quote(usd_to_cents(overrides[key]), "case file", "", "quoted", "prices.overrides_usd")
        may_be_listed = self.rules.may_be_listed(part)
        if part not in self._offers:
            if part in self._late:
                may_be_listed = False
            # What is in the house needs no seller.
            return self.listed(part) if may_be_listed or part in self.rules.owned else None
        offer = self._offers[part][0]
        listed = self.listed(part) if may_be_listed and self.rules.buying is not None else None
        if listed is not None and listed.cents < offer.cents:
            return listed
        return Quote(offer.cents, offer.quote.title, offer.quote.date or "", "quoted", offer_note(self._offers[part]))

    def _listed_cents(self, part: str) -> int | None:
        listed = self.listed(part)
        return None if listed is None else listed.cents

    def listed(self, part: str) -> Quote | None:
        """The price of the catalogue after discount, whatever suppliers quote; none where it has none."""
        base, length_m = split_medium_id(part)
        found = self._catalogue_price(part if length_m is None else base, length_m)
        if found is None:
            return None
        vendor, price = found
        cents = self._discounted(vendor, price.cents(self._case.prices.basis))
        discount = self._case.prices.discounts.get(vendor)
        note = price.note
        if discount is not None:
            note = f"{discount:.1%} off; {note}" if note else f"{discount:.1%} off"
        first = self._catalog.sources.get(price.src.split("+")[0])
        return Quote(cents, price.src, price.date or (first.date if first else ""), price.how.value, note)

    def _catalogue_price(self, part: str, length_m: float | None) -> tuple[str, Price] | None:
        catalog = self._catalog
        if length_m is not None:
            medium = catalog.fibres.get(part) or catalog.cables.get(part)
            if medium is None:
                return None
            return next(((medium.vendor, s.price) for s in medium.lengths if s.length_m == length_m), None)
        tables = (catalog.switches, catalog.modules, catalog.nics, catalog.accessories)
        item = next((table[part] for table in tables if part in table), None)
        return (item.vendor, item.price) if item is not None and item.price is not None else None


def _licence(x: Licence, years: Decimal) -> list[Added]:
    """The lines of one licence: what it costs once, and the years of it that are paid with the network."""
    yearly, prepaid = Decimal(str(x.usd_per_year)) * 100, Decimal(str(x.prepaid_years or 0))
    once = Added("licence", x.name, usd_to_cents(x.usd), _whole(yearly * max(years - prepaid, Decimal(0))))
    return (
        [once, Added("licence", f"{x.name}, {x.prepaid_years:g} years", _whole(yearly * prepaid), 0)]
        if prepaid
        else [once]
    )


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))
