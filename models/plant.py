"""The passive plant of a site: cords alone, or cords, panels and trunks."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt, field_validator

from gpunet.models.base import Strict


class Structure(StrEnum):
    """What lies between two modules."""

    DIRECT = "direct"
    """One cord."""
    ONE_PANEL = "one-panel"
    """A cord, a panel, and a long cord with one male end that enters the far module."""
    TWO_PANELS = "two-panels"
    """A cord, a panel, a trunk, a panel, a cord."""

    @property
    def panels(self) -> int:
        """Panels in the channel."""
        return list(Structure).index(self)


class Mates(StrEnum):
    """Quality of mated pairs."""

    LOW_LOSS = "low-loss"
    STANDARD = "standard"


class Tray(Strict):
    """The trays that cables lie in, all of one size. Every section of them holds no more than its share of cable."""

    width_mm: PositiveFloat
    """Inside width, mm."""
    depth_mm: PositiveFloat
    """Depth that cables may be laid to, mm."""
    fill: Annotated[float, Field(gt=0, le=1)]
    """Most that the cross-sections of cables may come to : width x depth; 0.5 is 50 %."""
    per_row: PositiveInt = 1
    """Trays side by side over the racks of a row, and across the aisles to it."""
    central: PositiveInt = 1
    """Trays side by side into the central zone."""


class Plant(Strict):
    """How fibre is laid. Cable assemblies with fixed ends, copper and AOC, never pass a panel."""

    structure: Structure | Annotated[tuple[Structure, ...], Field(min_length=1)] = tuple(Structure)
    """``direct``, ``one-panel``, ``two-panels``, or a list from which the program picks for every bundle of links."""
    mates: Mates = Mates.LOW_LOSS
    """``low-loss`` counts the loss that the catalogue gives, ``standard`` the worst case per mated pair."""

    @field_validator("structure")
    @classmethod
    def _structures_differ(cls, value: Structure | tuple[Structure, ...]) -> object:
        if isinstance(value, tuple) and len(set(value)) != len(value):
            raise ValueError("name each structure at most once")
        return value

    @property
    def structures(self) -> tuple[Structure, ...]:
        """The structures allowed."""
        return self.structure if isinstance(self.structure, tuple) else (self.structure,)
