"""How many network racks switches stand in, by filling one rack after the other in every way."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from exhaustive_room import MIDDLE

from gpunet.models.case import Case
from gpunet.models.parts import Catalog


class Box(NamedTuple):
    """What a switch takes of a rack."""

    units: int
    power_mw: int


Stands = tuple[tuple[tuple[int, Box], int], ...]
"""Switches by row, ``MIDDLE`` for the central zone, and size."""


def stands_of(catalog: Catalog, switches: Sequence[tuple[str, int]], leaf_rows: Sequence[int]) -> Stands:
    """Where the switches of a design stand: ``switches`` tier by tier, the leaves first."""
    found: Counter[tuple[int, Box]] = Counter()
    for tier, (part, count) in enumerate(switches):
        switch = catalog.switches[part]
        watts = switch.power_supply_w or switch.power_chassis_max_w
        box = Box(math.ceil(switch.rack_units.v), watts.milli)
        for row in leaf_rows if tier == 0 else [MIDDLE] * count:
            found[row, box] += 1
    return tuple(sorted(found.items()))


def together(one: Stands, other: Stands) -> Stands:
    """The switches of both."""
    return tuple(sorted((Counter(dict(one)) + Counter(dict(other))).items()))


def is_within(one: Stands, other: Stands) -> bool:
    """Whether every switch of one stands in the other too."""
    return Counter(dict(one)) <= Counter(dict(other))


def fewest_racks(case: Case, stands: Stands) -> int | None:
    """Network racks, row by row the fewest; none where a switch is larger than a rack or a row has
    too few."""
    rack = case.site.rack
    power_w = min(rack.power_kw, rack.cooling_kw or rack.power_kw) * 1000
    rows: dict[int, list[tuple[Box, int]]] = {}
    for (row, box), n in stands:
        rows.setdefault(row, []).append((box, n))
    total = 0
    for row, boxes in rows.items():
        places = case.site.network_racks_central if row == MIDDLE else case.site.network_racks_per_row
        racks = _fewest(tuple(boxes), rack.units, round(power_w * 1000))
        if racks is None or (places is not None and racks > places):
            return None
        total += racks
    return total


@cache
def _fewest(boxes: tuple[tuple[Box, int], ...], units: int, power_mw: int) -> int | None:
    """The fewest racks for boxes of some sizes: one rack with the first box in it, then the rest."""
    if not boxes:
        return 0
    best: int | None = None
    for taken in itertools.product(*(range(n, -1, -1) for _, n in boxes)):
        if not taken[0]:
            break
        left_units = units - sum(n * box.units for n, (box, _) in zip(taken, boxes, strict=True))
        left_mw = power_mw - sum(n * box.power_mw for n, (box, _) in zip(taken, boxes, strict=True))
        if left_units < 0 or left_mw < 0:
            continue
        rest = tuple((box, n - m) for m, (box, n) in zip(taken, boxes, strict=True) if n > m)
        if any(box.units <= left_units and box.power_mw <= left_mw for box, _ in rest):
            # Another box would fit: a fuller rack is tried as well, and is no worse.
            continue
        others = _fewest(rest, units, power_mw)
        if others is None:
            return None
        best = others + 1 if best is None else min(best, others + 1)
    return best
