"""``site.switch_placement: shortest``: where the zones of switches stand so that the cables of the room are shortest.

What is minimised follows from the machines alone, so that every design is measured in the same room: for every server
and storage server, times the cages that are cabled, the run to the zone of its row and the run from there to the
central zone. Where the central block stands, rows do not touch one another. So every place of the block is tried, and
for each of them every row takes its own best column: all rooms are compared, and none is taken on trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

MICRO = 1_000_000
"""Micrometres in a metre: lengths are compared as whole numbers."""


@dataclass(frozen=True)
class Sizes:
    """A room whose zones are not placed yet. Racks of a row stand side by side from column 0; a zone shifts them."""

    weights: tuple[tuple[int, ...], ...]
    """Cabled cages of every rack, row by row."""
    racks_per_row: int
    leaf_width: int
    """Rack places kept for leaves in a row."""
    central_width: int
    central_columns: int
    """Columns of the central block in rows of its own; a room of one row has it in that row, in one line."""
    pitch_m: float
    row_pitch_m: float
    extra_m: float
    """What every run takes beside the way along the floor."""
    least_m: float
    """The shortest run there is."""

    @property
    def central_rows(self) -> int:
        """Rows that the central block takes."""
        return -(-self.central_width // self.central_columns)


@dataclass(frozen=True)
class Places:
    """Columns and rows of the zones."""

    before: int
    """Rows of servers before the central block; all of them where it stands in their row."""
    central: int
    """First column of the central block."""
    zones: tuple[int, ...]
    """Column of every row that the zone for leaves stands in, before the rack that was there."""
    total_um: int
    """Length of all runs counted, micrometres."""


def shortest(sizes: Sizes) -> Places:
    """The places of the least total; of equals the first row, then the first columns."""
    return _in_one_row(sizes) if len(sizes.weights) == 1 else _in_rows(sizes)


def _um(length_m: float) -> int:
    return round(length_m * MICRO)


def _to_zone(sizes: Sizes, weights: Sequence[int], column: int) -> int:
    """All runs from the racks of a row to its zone, by the zone's column."""
    pitch, extra, least = _um(sizes.pitch_m), _um(sizes.extra_m), _um(sizes.least_m)
    total = 0
    for rack, weight in enumerate(weights):
        # Left of the zone its last place is the farthest, right of it, moved by its width, its first.
        columns = column + sizes.leaf_width - 1 - rack if rack < column else rack + sizes.leaf_width - column
        total += weight * max(least, columns * pitch + extra)
    return total


def _in_rows(sizes: Sizes) -> Places:
    """The block in rows of its own: every place of it, and for each the best column of every row."""
    import numpy as np

    pitch, row_pitch = _um(sizes.pitch_m), _um(sizes.row_pitch_m)
    extra, least, width = _um(sizes.extra_m), _um(sizes.least_m), sizes.leaf_width
    starts = np.arange(sizes.racks_per_row + width - sizes.central_columns + 1, dtype=np.int64)[:, None]
    full_rows, rest = divmod(sizes.central_width, sizes.central_columns)
    known: dict[tuple[int, ...], list[int]] = {}
    best: tuple[int, int, int] | None = None

    def across(columns: Ints, last: int) -> Ints:
        """Between the farthest columns of a row's zone and of a line of the block, ``last`` columns after its start."""
        found: Ints = pitch * np.maximum(abs(starts + last - columns), abs(columns + (width - 1) - starts))
        return found

    def costs(before: int, row: int) -> Ints:
        """By start of the block and column of the row's zone."""
        weights = sizes.weights[row]
        if weights not in known:
            known[weights] = [_to_zone(sizes, weights, column) for column in range(len(weights) + 1)]
        columns = np.arange(len(weights) + 1, dtype=np.int64)[None, :]
        here = row if row < before else row + sizes.central_rows
        way = np.zeros((len(starts), len(weights) + 1), np.int64)
        if full_rows:
            far = max(abs(here - before), abs(here - before - full_rows + 1))
            way = np.maximum(way, across(columns, sizes.central_columns - 1) + far * row_pitch)
        if rest:
            way = np.maximum(way, across(columns, rest - 1) + abs(here - before - full_rows) * row_pitch)
        found: Ints = np.array(known[weights], np.int64)[None, :] + sum(weights) * np.maximum(least, way + extra)
        return found

    rows = range(len(sizes.weights))
    for before in range(len(rows) + 1):
        totals = np.zeros(len(starts), np.int64)
        for row in rows:
            totals += costs(before, row).min(axis=1)
        start = int(np.argmin(totals))
        if best is None or int(totals[start]) < best[0]:
            best = int(totals[start]), before, start
    assert best is not None
    total, before, start = best
    zones = tuple(int(np.argmin(costs(before, row)[start])) for row in rows)
    return Places(before, start, zones, total)


def _in_one_row(sizes: Sizes) -> Places:
    """Both zones in the only row: every pair of columns, and where they are one both orders."""
    import numpy as np

    weights = np.array(sizes.weights[0], np.int64)
    racks = np.arange(len(weights), dtype=np.int64)
    pitch, extra, least = _um(sizes.pitch_m), _um(sizes.extra_m), _um(sizes.least_m)
    best: tuple[int, int, int] | None = None
    for zone in range(len(weights) + 1):
        for block in range(len(weights) + 1):
            for zone_first in (True, False) if zone == block else (zone < block,):
                first = zone + (0 if zone_first else sizes.central_width)
                central = block + (sizes.leaf_width if zone_first else 0)
                last = first + sizes.leaf_width - 1
                x = racks + sizes.leaf_width * (racks >= zone) + sizes.central_width * (racks >= block)
                runs = np.maximum(abs(x - first), abs(x - last)) * pitch + extra
                far = max(abs(central + sizes.central_width - 1 - first), abs(last - central))
                to_central = max(least, far * pitch + extra)
                total = int((weights * np.maximum(least, runs)).sum()) + int(weights.sum()) * to_central
                if best is None or total < best[0]:
                    best = total, first, central
    assert best is not None
    total, first, central = best
    return Places(1, central, (first,), total)
