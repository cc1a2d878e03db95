"""What a vendor takes off everything that is bought of it at catalogue price.

One function of what that comes to, cents, part by part after the parts' own price steps. It never falls as more is
bought, and what is left to pay never falls either: so the cheapest order of every part makes the cheapest order of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from gpunet.models.evidence import usd_to_cents
from gpunet.models.terms import VendorDiscount

if TYPE_CHECKING:
    from gpunet.solver.purchase import PartTerms, Purchase


@dataclass(frozen=True)
class Tier:
    """One step of a vendor's discount."""

    from_cents: int
    off: Fraction
    """Share that is taken off."""
    before: Fraction
    """What it takes off less than its share of everything, cents: for ``incremental``, where what lies below the step
    keeps the lesser share of its own step."""
    least_cents: int
    """What is paid at least, cents: for ``all-units``, where a step is kept by paying for no less than it begins at."""

    def saves(self, spent: int) -> int:
        """What it takes off, rounded down to whole cents; below 0 where so little is bought that it does not pay."""
        return min(math.floor(self.off * spent - self.before), spent - self.least_cents)

    def unused_cents(self, spent: int) -> int:
        """What is paid for and not bought to keep the step, at catalogue price, cents."""
        return max(0, self.from_cents - spent) if self.least_cents else 0


@dataclass(frozen=True)
class Schedule:
    """The discount of one vendor."""

    vendor: str
    incremental: bool
    tiers: tuple[Tier, ...]

    @property
    def deepest(self) -> Fraction:
        """No order has a larger share taken off."""
        return max(tier.off for tier in self.tiers)

    def best(self, spent: int) -> tuple[Tier, int] | None:
        """The step that takes off most, and how much, cents; none where none does."""
        saved, i = max((tier.saves(spent), -i) for i, tier in enumerate(self.tiers))
        return (self.tiers[-i], saved) if saved > 0 else None


def schedule_of(told: VendorDiscount) -> Schedule:
    """The discount of a vendor as the case tells it."""
    starts = [usd_to_cents(step.from_usd) for step in told.steps]
    offs = [Fraction(str(step.off_percent)) / 100 for step in told.steps]
    incremental = told.kind == "incremental"
    befores = [offs[0] * starts[0]]
    for i, (below, above) in enumerate(pairwise(offs), start=1):
        befores.append(befores[-1] + (above - below) * starts[i])
    tiers = tuple(
        Tier(start, off, before, 0) if incremental else Tier(start, off, Fraction(0), start - math.floor(off * start))
        for start, off, before in zip(starts, offs, befores, strict=True)
    )
    return Schedule(told.vendor, incremental, tiers)


class Saved(NamedTuple):
    """What one vendor takes off an order."""

    schedule: Schedule
    tier: Tier
    spent: int
    """What is bought of the vendor before that, cents."""
    cents: int


def saved_on(terms: Mapping[str, PartTerms], orders: Mapping[str, Purchase | None]) -> Iterator[Saved]:
    """What every vendor takes off the order of a design, vendor by vendor; those that take off nothing left out."""
    for schedule, parts in counted_by(terms):
        spent = sum(order.cents for part in parts if (order := orders.get(part)) is not None)
        best = schedule.best(spent)
        if best is not None:
            yield Saved(schedule, best[0], spent, best[1])


def counted_by(terms: Mapping[str, PartTerms]) -> Iterator[tuple[Schedule, list[str]]]:
    """Every vendor with a discount, and the parts that count towards it."""
    found: dict[str, tuple[Schedule, list[str]]] = {}
    for part in sorted(terms):
        schedule = terms[part].discount
        if schedule is not None:
            found.setdefault(schedule.vendor, (schedule, []))[1].append(part)
    for vendor in sorted(found):
        yield found[vendor]


def saved_cents(terms: Mapping[str, PartTerms], orders: Mapping[str, Purchase | None]) -> int:
    """What all vendors together take off the order of a design, cents."""
    return sum(saved.cents for saved in saved_on(terms, orders))


def by_vendor(told: Iterable[VendorDiscount]) -> dict[str, Schedule]:
    """The discounts of a case, by vendor."""
    return {x.vendor: schedule_of(x) for x in told}
