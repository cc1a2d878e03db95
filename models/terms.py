"""What buying is like: price steps, packs, minimum orders, licences, laying of cables, spares and supply."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from gpunet.models.base import Strict

Name = Annotated[str, Field(min_length=1)]


class PriceStep(Strict):
    """A unit price from some quantity on."""

    from_pieces: int = Field(ge=2)
    """Pieces ordered from which the price holds."""
    usd: NonNegativeFloat
    """Unit price, USD."""


class PriceBreak(Strict):
    """Prices of one part by the quantity ordered; below the first step the part costs what it costs otherwise."""

    part: Name
    """A part id; for a cable or fibre with or without its length, and then for every length by itself."""
    kind: Literal["all-units", "incremental"] = "all-units"
    """``all-units``: the price of the step reached holds for every piece. ``incremental``: for the pieces beyond it."""
    steps: tuple[PriceStep, ...] = Field(min_length=1)
    """Steps, each from more pieces than the one before."""

    @field_validator("steps")
    @classmethod
    def _steps_rise(cls, value: tuple[PriceStep, ...]) -> tuple[PriceStep, ...]:
        if any(value[i].from_pieces >= step.from_pieces for i, step in enumerate(value[1:])):
            raise ValueError("each step must begin at more pieces than the one before")
        if any(value[i].usd < step.usd for i, step in enumerate(value[1:])):
            raise ValueError("a later step must not cost more than the one before")
        return value


class DiscountStep(Strict):
    """A discount from some amount on."""

    from_usd: PositiveFloat
    """What is bought of the vendor, before this discount, from which the step holds, USD."""
    off_percent: float = Field(gt=0, le=100)
    """What is taken off, %; no more than two decimals."""

    @field_validator("off_percent")
    @classmethod
    def _two_decimals(cls, value: float) -> float:
        if round(value, 2) != value:
            raise ValueError("give no more than two decimals")
        return value


class VendorDiscount(Strict):
    """What a vendor takes off everything that is bought of it at catalogue price, by what that comes to.

    Counted are parts of the vendor at their price after ``prices.discounts`` and their own price steps, spares and
    surplus with them, stock without. Parts that a quote offers or that ``prices.overrides_usd`` prices, licences and
    laying do not count. The sum is discounted, rounded down to whole cents, on a line of the bill of its own.
    """

    vendor: Name
    """Vendor as the catalogue names it."""
    kind: Literal["all-units", "incremental"] = "all-units"
    """``all-units``: the step reached holds for everything. A step is also kept by paying for no less than it begins
    at, where that costs less. ``incremental``: each step holds for what lies beyond it."""
    steps: tuple[DiscountStep, ...] = Field(min_length=1)
    """Steps, each from more USD than the one before and with more taken off."""

    @field_validator("steps")
    @classmethod
    def _steps_rise(cls, value: tuple[DiscountStep, ...]) -> tuple[DiscountStep, ...]:
        if any(value[i].from_usd >= step.from_usd for i, step in enumerate(value[1:])):
            raise ValueError("each step must begin at more USD than the one before")
        if any(value[i].off_percent >= step.off_percent for i, step in enumerate(value[1:])):
            raise ValueError("a later step must take off more than the one before")
        return value


class Licence(Strict):
    """Software that every switch of some models needs; a line of its own on the bill."""

    switch: Name
    """A switch id, ``vendor:*``, or ``switch:*`` for every model."""
    name: Name
    """What it is called on the bill."""
    usd: NonNegativeFloat = 0.0
    """Price per switch, once, USD."""
    usd_per_year: NonNegativeFloat = 0.0
    """Price per switch and year, USD; counted over the years of ``tco``, in the cost of ownership alone."""
    prepaid_years: PositiveFloat | None = None
    """Years of it bought with the network, on a line of the bill; years of ``tco`` beyond them count as usual."""


class Installation(Strict):
    """What laying one cable or fibre costs; a line of its own on the bill."""

    in_rack_usd: NonNegativeFloat = 0.0
    """Per piece no longer than ``in_rack_m``, USD."""
    across_racks_usd: NonNegativeFloat = 0.0
    """Per piece that is longer, USD."""
    in_rack_m: PositiveFloat = 3.0
    """Longest stock length that is laid within a rack, m."""


class Terms(Strict):
    """Terms of sale."""

    price_breaks: tuple[PriceBreak, ...] = ()
    """Unit prices by quantity ordered."""
    vendor_discounts: tuple[VendorDiscount, ...] = ()
    """Discounts on everything that is bought of a vendor."""
    minimum_order: dict[Name, PositiveInt] = Field(default_factory=dict)
    """Fewest pieces of a part that are sold, where any are."""
    packs: dict[Name, PositiveInt] = Field(default_factory=dict)
    """Pieces in a pack of a part; only whole packs are sold."""
    licences: tuple[Licence, ...] = ()
    """Software by switch."""
    installation: Installation | None = None
    """Laying of cables."""
    coding: dict[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] | None = None
    """Codings of modules that a host takes, by switch, NIC or server, ``vendor:*`` or kind (``switch:*``, ``nic:*``,
    ``server:*``); the most exact name counts. ``any`` takes every module. A host that is not named takes what the
    catalogue says of it, and every module where it says nothing."""


class Spares(Strict):
    """How many spare pieces of each part are bought: enough for the failures while a replacement is on its way.

    Counted over all fabrics together, so that a part which two of them share needs fewer spares than two parts.
    """

    service_level: float = Field(default=0.95, gt=0, lt=1)
    """Least probability that spares last until replacements arrive, part by part; failures follow a Poisson law."""
    replenish_weeks: PositiveFloat = 8.0
    """Time from a failure to its replacement on the shelf, weeks."""
    failure_percent_per_year: dict[Name, Annotated[float, Field(ge=0, le=1000)]] = Field(default_factory=dict)
    """Share of pieces that fail in a year, %, by part id or by kind: ``switch``, ``module``, ``cable``, ``fibre``."""
    minimum: dict[Name, PositiveInt] = Field(default_factory=dict)
    """Fewest spares of every part in use, by part id or by kind."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Spares:
        if not self.failure_percent_per_year and not self.minimum:
            raise ValueError("give failure_percent_per_year, minimum or both")
        return self


class Supply(Strict):
    """What can be had of one part."""

    part: Name
    """A part id; for a cable or fibre with its length."""
    at_most: int = Field(ge=0)
    """Pieces."""
    from_week: NonNegativeFloat = 0.0
    """Week from which they can be had. Later than ``limits.lead_time_weeks`` they do not count. An earlier week does
    not let in a part whose delivery time in the catalogue is longer than that limit."""


class Buying(Strict):
    """How the order is split among the suppliers that quote: every quoted line is an offer.

    An offer goes as far as its ``at_most``; where none is stated as far as its ``quantity``; else it has no end.
    """

    at_list: Literal["unquoted", "always", "never"] = "unquoted"
    """What may be bought at catalogue price, from nobody in particular: ``unquoted``, parts that no quote offers;
    ``always``, any part beside its quotes; ``never``, nothing."""
    max_suppliers: PositiveInt | None = None
    """Most suppliers among which the whole order is split."""
    max_split_lines: NonNegativeInt | None = None
    """Most parts that are bought from more than one supplier, the catalogue counting as one."""
