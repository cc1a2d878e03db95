"""Trays: which sections of tray a cable passes, and how much of each the cables of a design may fill.

Three kinds of section are looked at. The tray over the racks of a row carries every cable that leaves a rack there; the
cross tray of a row every cable with one end in the row, in a rack or in its zone, and the other elsewhere; the central
tray every cable with one end in the central zone. Out-of-band cables have trays of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache, cached_property

from gpunet.models.case import Placement
from gpunet.models.parts import SoldByLength
from gpunet.models.plant import Tray
from gpunet.solver.layout import Room

Place = str | int
"""Zone of a switch, or the number of the rack that a machine or a switch stands in with machines."""
WITHIN_ROWS = (Placement.ROW_MIDDLE, Placement.SHORTEST)
"""Placements in which leaves may have racks of servers on both sides."""
PER_MM2 = 100
"""Cross-sections are counted in hundredths of a square millimetre, every strand rounded up."""


def cross_section(part: SoldByLength) -> int:
    """What one piece fills of a tray, all its strands, hundredths of mm²."""
    if part.diameter_mm is None:
        raise ValueError(f"no diameter of {part.id} is known")
    return part.strands * math.ceil(math.pi * part.diameter_mm.v**2 / 4 * PER_MM2)


def holds(tray: Tray, central: bool) -> int:
    """What cables may fill of a section, hundredths of mm², rounded down."""
    width, depth, fill = (Fraction(str(x)) for x in (tray.width_mm, tray.depth_mm, tray.fill))
    return math.floor(width * depth * fill * PER_MM2) * (tray.central if central else tray.per_row)


class Trays:
    """The sections of the trays of a room. They are there whether or not the case limits them."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.central = room.central.name
        self._rows = {zone.name: row for row, zone in enumerate(room.row_zones)}

    @cached_property
    def limits(self) -> dict[str, int]:
        """What every section may hold, hundredths of mm²; empty where the case limits none."""
        tray = self.room.case.site.tray
        if tray is None:
            return {}
        racks = dict.fromkeys(self.over(rack) for rack in range(self.room.n_racks))
        cross = [_cross(row) for row in range(self.room.rows)]
        return {name: holds(tray, name == self.central) for name in (*racks, *cross, self.central)}

    def passed(self, runs: Iterable[tuple[Place, Place]]) -> tuple[str, ...]:
        """Every section that some cable between the two places of a run passes, in order of name."""
        return tuple(sorted({name for run in set(runs) for name in self._passed(*run)}))

    @cache  # noqa: B019 - trays live as long as their room
    def _passed(self, one: Place, other: Place) -> tuple[str, ...]:
        if one == other:
            return ()
        found = [self.over(place) for place in (one, other) if isinstance(place, int)]
        rows = self._row(one), self._row(other)
        if rows[0] != rows[1]:
            found += [self.central if row is None else _cross(row) for row in rows]
        return tuple(found)

    def _row(self, place: Place) -> int | None:
        """Row of a place; none in the central zone."""
        return self.room.row_of(place) if isinstance(place, int) else self._rows.get(place)

    def over(self, rack: int) -> str:
        """The tray over a rack: one for the whole row, or one for each side of leaves that stand within it."""
        row = self.room.row_of(rack)
        name = f"racks-{row + 1:02d}"
        if self.room.case.site.switch_placement not in WITHIN_ROWS:
            return name
        is_left = self.room.racks[rack].x_m < self.room.row_zones[row].places[0].x_m
        return f"{name}-{'left' if is_left else 'right'}"


def _cross(row: int) -> str:
    return f"cross-{row + 1:02d}"
