"""What pieces cost in the phases of a plan: today's prices, less what they fall by until then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from gpunet.models.case import Case
from gpunet.models.parts import Catalog
from gpunet.solver.prices import PriceList, Quote

QUARTERS_PER_YEAR = 4
Charge = Callable[[str, int], int]
"""From a part and its price in the first phase, cents, to what a piece of it is counted at, cents."""


@dataclass(frozen=True)
class Timeline:
    """By how much prices have fallen by each phase."""

    factors: tuple[Decimal, ...]
    """Price : price in the first phase, one per phase."""

    @staticmethod
    def of(case: Case) -> Timeline:
        """The timeline of a case that has phases."""
        assert case.phases is not None
        left = 1 - Decimal(str(case.price_decline_per_year or 0))
        first = case.phases[0].quarter
        return Timeline(tuple(left ** (Decimal(x.quarter - first) / QUARTERS_PER_YEAR) for x in case.phases))

    @property
    def phases(self) -> int:
        """How many phases there are."""
        return len(self.factors)

    def cents(self, phase: int, first_cents: int) -> int:
        """The price in a phase, to the cent. Never more than in the phase before."""
        return int((first_cents * self.factors[phase]).to_integral_value(ROUND_HALF_UP))

    def held(self, phase: int, until: int | None, first_cents: int) -> int:
        """What it costs to buy a piece in one phase rather than in a later one; all of its price where never, cents."""
        return self.cents(phase, first_cents) - (0 if until is None else self.cents(until, first_cents))

    def is_flat(self, phase: int) -> bool:
        """Whether prices are the same in the phase after it."""
        return phase + 1 < self.phases and self.factors[phase] == self.factors[phase + 1]


class PhasePrices(PriceList):
    """The prices of a case, each turned into what a piece is counted at."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        super().__init__(case, catalog)
        self._charge: Charge = lambda _, cents: cents

    def charge(self, how: Charge) -> None:
        """Count pieces otherwise from now on."""
        self._charge = how
        self._quotes.clear()
        self._weights.clear()

    def _find(self, part: str) -> Quote | None:
        found = super()._find(part)
        return None if found is None else replace(found, cents=self._charge(part, found.cents))
