"""The room of ``switch_placement: shortest``, found anew: every room there is, measured place by place."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from exhaustive_room import Room

from gpunet.models.case import Case, Placement
from gpunet.models.parts import Catalog

Plan = tuple[int, int, tuple[int, ...]]
"""Rows before the central zone, its first column, and the first column of the zone of every row."""


def room_of(case: Case, catalog: Catalog) -> Room:
    """The room of a case, with its zones placed."""
    return ShortestRoom(case, catalog) if case.site.switch_placement is Placement.SHORTEST else Room(case, catalog)


class ShortestRoom(Room):
    """A room of the least total length. Of equals the first row counts, then the first columns."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        super().__init__(case, catalog)
        server = catalog.servers[case.cluster.server]
        each = sum(c.cages.count for c in server.cages if getattr(case.fabrics, c.role.value) is not None)
        self.cables: dict[int, int] = {}
        for i in range(self.servers):
            self.cables[i // self.per_rack] = self.cables.get(i // self.per_rack, 0) + each
        for i in range(self.storage_servers):
            rack = self.server_racks + i // self.storage_per_rack
            self.cables[rack] = self.cables.get(rack, 0) + 1
        self.in_row = [[r for r in self.cables if r // self.columns == row] for row in range(self.rows)]
        self.best: tuple[int, Plan] | None = None
        for plan in self._one_row() if self.single else self._rows():
            self.plan = plan
            total = self.total_um()
            if self.best is None or total < self.best[0]:
                self.best = total, plan
        assert self.best is not None
        self.plan = self.best[1]

    def _rows(self) -> Iterator[Plan]:
        starts = range(self.columns + self.leaf_width - self.middle_columns + 1)
        zones = itertools.product(*(range(len(racks) + 1) for racks in self.in_row))
        return ((b, s, z) for b, s, z in itertools.product(range(self.rows + 1), starts, list(zones)))

    def _one_row(self) -> Iterator[Plan]:
        """Racks before the zone and before the block; the one that comes second is moved by the width of the other."""
        for zone, block in itertools.product(range(len(self.in_row[0]) + 1), repeat=2):
            if zone <= block:
                yield 1, block + self.leaf_width, (zone,)
            if block <= zone:
                yield 1, block, (zone + self.middle_width,)

    def total_um(self) -> int:
        """Every run that counts, micrometres."""
        total = 0
        for racks in self.in_row:
            for rack in racks:
                zone = self.leaf_zone(rack)
                runs_m = self.run([self.rack(rack)], zone) + self.run(zone, self.middle())
                total += self.cables[rack] * round(runs_m * 1_000_000)
        return total

    def rack(self, number: int) -> tuple[float, float]:
        """Where a rack of servers stands: the racks of a row fill the places that no zone takes."""
        row, column = divmod(number, self.columns)
        _, start, zones = self.plan
        taken = {zones[row] + i for i in range(self.leaf_width)}
        if self.single:
            taken |= {start + i for i in range(self.middle_width)}
        free = [x for x in range(self.columns + len(taken)) if x not in taken]
        return free[column] * self.case.site.rack_pitch_m, self._row_y(row)

    def _row_y(self, row: int) -> float:
        return (row + (self.network_rows if row >= self.plan[0] else 0)) * self.case.site.row_pitch_m

    def middle(self) -> list[tuple[float, float]]:
        """Every place of the central zone."""
        before, start, _ = self.plan
        pitch, row_pitch = self.case.site.rack_pitch_m, self.case.site.row_pitch_m
        if self.single:
            return [((start + i) * pitch, 0.0) for i in range(self.middle_width)]
        lines = (divmod(i, self.middle_columns) for i in range(self.middle_width))
        return [((start + column) * pitch, (before + line) * row_pitch) for line, column in lines]

    def leaf_zone(self, rack: int) -> list[tuple[float, float]]:
        """Every place where the leaves of a group may stand whose first host is in ``rack``."""
        row = self.leaf_row(rack)
        pitch = self.case.site.rack_pitch_m
        return [((self.plan[2][row] + i) * pitch, self._row_y(row)) for i in range(self.leaf_width)]
