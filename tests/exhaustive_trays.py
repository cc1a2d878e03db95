"""Trays, worked out anew from ``docs/passive-plant.md`` for the exhaustive search."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from exhaustive_room import MIDDLE, Room

from gpunet.models.case import Placement
from gpunet.models.parts import Catalog

Loads = tuple[tuple[str, int], ...]
"""Hundredths of mm² in every section that has any, in order of name."""


class Spot(NamedTuple):
    """Where a cable ends: a rack of machines, or the network racks of a row or of the middle."""

    row: int
    rack: int | None


def of_host(room: Room, rack: int) -> Spot:
    """Where a machine or a reserved port is."""
    return Spot(MIDDLE, None) if rack == MIDDLE else Spot(rack // room.columns, rack)


def passed(room: Room, cables: Iterable[tuple[Spot, Spot]]) -> frozenset[str]:
    """Every section that one of the cables passes."""
    found = set()
    for one, other in cables:
        if one == other:
            continue
        for spot in (one, other):
            if spot.rack is not None:
                name = f"racks-{spot.row + 1:02d}"
                if room.case.site.switch_placement in (Placement.ROW_MIDDLE, Placement.SHORTEST):
                    name += "-left" if room.rack(spot.rack) < min(room.leaf_zone(spot.rack)) else "-right"
                found.add(name)
            if one.row != other.row:
                found.add("central" if spot.row == MIDDLE else f"cross-{spot.row + 1:02d}")
    return frozenset(found)


def piece_load(catalog: Catalog, part: str) -> int:
    """What one piece takes of a tray."""
    item = catalog.cables.get(part) or catalog.fibres[part]
    assert item.diameter_mm is not None
    return item.strands * math.ceil(25 * math.pi * item.diameter_mm.v**2)


def with_more(loads: Loads, sections: Iterable[str], load: int) -> Loads:
    """The loads with something more in some sections."""
    return tuple(sorted((Counter(dict(loads)) + Counter(dict.fromkeys(sections, load))).items()))


def together(one: Loads, other: Loads) -> Loads:
    """Both loads in the same trays."""
    return tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items()))


def is_overfull(room: Room, loads: Loads) -> bool:
    """Whether some section holds more than the case allows."""
    tray = room.case.site.tray
    if tray is None:
        return False
    allowed = math.floor(100 * Fraction(str(tray.width_mm)) * Fraction(str(tray.depth_mm)) * Fraction(str(tray.fill)))
    return any(load > allowed * (tray.central if name == "central" else tray.per_row) for name, load in loads)
