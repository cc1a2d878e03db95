"""Values that a limit may take, each of which asks for less than the one before; computed when asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gpunet.models.plant import Mates, Plant, Structure

RESOLUTION = 2
"""Decimals of metres, kilowatts and ratios that are looked at."""


@dataclass(frozen=True)
class Ladder(Sequence[Any]):
    """Evenly spaced values, computed when asked for."""

    first: float
    step: float
    values: int
    """How many."""
    whole: bool = False

    def __len__(self) -> int:
        return max(0, self.values)

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        value = round(self.first + i * self.step, RESOLUTION)
        return int(value) if self.whole else value


@dataclass(frozen=True)
class Shares(Sequence[Any]):
    """Growths that come to one server fewer each, down to none."""

    servers: int
    more: int
    """Servers to come at the first value."""

    def __len__(self) -> int:
        return self.more + 1

    def __getitem__(self, i: Any) -> Any:
        if not 0 <= i < len(self):
            raise IndexError(i)
        # Rounded down, so that a share never comes to one server more.
        return math.floor((self.more - i) * 1_000_000 / self.servers) / 1_000_000


def up(value: int, most: int = 100_000) -> Ladder:
    """Whole numbers above a value, up to ``most``."""
    return Ladder(value + 1, 1, most - value, whole=True)


def down(value: int, least: int) -> Ladder:
    """Whole numbers below a value, down to ``least``."""
    return Ladder(value - 1, -1, value - least, whole=True)


def finer(value: float, to: float) -> Ladder:
    """From a value up or down to another, in steps of the resolution."""
    grain = 10**RESOLUTION
    first = math.floor(value * grain + 1e-6) + 1 if to > value else math.ceil(value * grain - 1e-6) - 1
    count = abs(round(to * grain) - first) + 1
    return Ladder(
        first / grain, (1 if to > value else -1) / grain, count if (to - value) * (to * grain - first) >= 0 else 0
    )


def looser_plants(plant: Plant | None) -> Iterator[tuple[str, Any, Sequence[Any], str]]:
    """Settings of the passive plant that ask for something: field, value, looser values, and what the value is."""
    if plant is None:
        return
    given = plant.structures
    if more := [x for x in Structure if x not in given]:
        yield "structure", given, [*((*given, x) for x in more), (*given, *more)], "allowed"
    if plant.mates is not Mates.LOW_LOSS:
        yield "mates", plant.mates, [Mates.LOW_LOSS], "reckoned with"
