"""Where a number comes from. Every number of the catalogue carries one of these."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from pydantic import Field

from gpunet.models.base import Strict

CENTS_PER_USD = 100
MILLIWATTS_PER_WATT = 1000


class How(StrEnum):
    """How a number is known, from firmest to weakest."""

    READ = "read"
    RECALLED = "recalled"
    ESTIMATED = "estimated"


class Source(Strict):
    """One entry of ``catalogs/sources.yaml``: what a source key stands for."""

    at: str
    """Address, document or public repository the number was taken from."""
    how: How = How.READ
    """How the source itself was seen."""
    date: str
    """Day, month or year of the reading, ISO 8601 (``2026-09-22``, ``2026-09`` or ``2026``)."""
    note: str = ""
    """What the source is good for, and its limits."""


class Fact(Strict):
    """One number with its evidence."""

    v: float
    """The value, in the unit that the field's name carries."""
    how: How
    """Whether it was read, recalled or estimated."""
    src: str
    """Key in ``catalogs/sources.yaml``; several keys are joined with ``+``."""
    date: str = ""
    """ISO date when it differs from the date of the source."""
    note: str = ""
    """Basis of an estimate, or a doubt about a reading."""

    @property
    def milli(self) -> int:
        """The value in thousandths, rounded half up: milliwatts for a ``_w`` field."""
        return int((Decimal(str(self.v)) * 1000).to_integral_value(ROUND_HALF_UP))


class Price(Strict):
    """A unit price with its band. ``low`` and ``high`` equal ``mid`` where no band is known."""

    mid_usd: float = Field(ge=0)
    """The working figure, USD before tax."""
    low_usd: float | None = Field(default=None, ge=0)
    """Low end of the band seen or estimated, USD."""
    high_usd: float | None = Field(default=None, ge=0)
    """High end of the band seen or estimated, USD."""
    how: How
    """Whether the working figure was read, recalled or estimated."""
    src: str
    """Key in ``catalogs/sources.yaml``; several keys are joined with ``+``."""
    date: str = ""
    """ISO date of the working figure when it differs from the date of the source."""
    note: str = ""
    """Seller, kind (street, list, equivalent part) or basis of the estimate."""

    def cents(self, basis: str = "mid") -> int:
        """Unit price in integer cents on basis ``low``, ``mid`` or ``high``."""
        chosen = {"low": self.low_usd, "mid": self.mid_usd, "high": self.high_usd}[basis]
        return usd_to_cents(self.mid_usd if chosen is None else chosen)


def usd_to_cents(usd: float) -> int:
    """Convert USD to integer cents, rounding half up. Shared by every price of the project."""
    return int((Decimal(str(usd)) * CENTS_PER_USD).to_integral_value(ROUND_HALF_UP))


def watts_to_milliwatts(watts: float) -> int:
    """Convert W to integer mW, rounding half up."""
    return int((Decimal(str(watts)) * MILLIWATTS_PER_WATT).to_integral_value(ROUND_HALF_UP))
