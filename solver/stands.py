"""Where the switches of a template stand, as far as the template alone decides it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpunet.models.parts import Switch
from gpunet.solver.racks import rack_draw_mw

if TYPE_CHECKING:
    from gpunet.solver.layout import Room
    from gpunet.solver.template import Position, Template


class Stand(NamedTuple):
    """A zone, and what a switch takes of a rack there."""

    zone: str
    """Empty on top of the servers' racks, where no network rack is used."""
    row: int | None
    """Row of the zone or the rack; none in the central zone."""
    units: int
    power_mw: int


def stands_of(room: Room, t: Template, positions: Sequence[Position]) -> dict[Stand, int]:
    """Switches of a template by where they stand.

    Leaves of the out-of-band fabric in the rows are missing: they follow the ports that all fabrics bring.
    """
    rows = {zone.name: row for row, zone in enumerate(room.row_zones)}
    units, power = _size(t.leaf)
    found: Counter[Stand] = Counter()
    for p in positions[t.n_leaves - t.central_leaves :] if t.management else positions:
        if p.zone is not None:
            found[Stand(p.zone, rows.get(p.zone), units, power)] += t.leaves_per_group
            continue
        for j in range(t.leaves_per_group):
            found[Stand("", room.row_of(p.first + j % (p.last - p.first + 1)), 0, 0)] += 1
    for upper, count in ((t.spine, t.n_spines), (t.core, t.n_cores)):
        if upper is not None and count:
            found[Stand(room.central.name, None, *_size(upper.switch))] += count
    return dict(found)


def joined(room: Room, spine: Switch, n_spines: int, wings: Sequence[Mapping[Stand, int]]) -> dict[Stand, int]:
    """Stands of leaves of several kinds under the same spines, which every one of ``wings`` counts."""
    found: Counter[Stand] = Counter()
    for stands in wings:
        found.update(stands)
    found[Stand(room.central.name, None, *_size(spine))] -= (len(wings) - 1) * n_spines
    return dict(found)


def _size(switch: Switch) -> tuple[int, int]:
    return math.ceil(switch.rack_units.v), rack_draw_mw(switch)
