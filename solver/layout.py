"""The room: where racks stand and how long every run is.

Servers fill racks in order, racks fill rows in order. Switches stand in *zones*: one per row for leaves, one
central zone for spines, cores and everything shared. A run to a zone is measured to the zone's far edge, so a
length never depends on which of its racks a switch ends up in, and every cable bought is long enough.
The zones' widths follow from the cluster alone, never from the design, so every design is measured alike.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

from gpunet.models.case import FIXED_PLACEMENTS, Case, Placement
from gpunet.models.evidence import watts_to_milliwatts
from gpunet.models.ledger import RackPlace
from gpunet.models.problems import InputError, Problem
from gpunet.solver.shortest import Sizes, shortest

IN_RACK_M = 2.0
"""A run between two boxes of one rack: no tray, one length (DAC class, evidence.md 1 T1 uses 3 m to the tray).

Boxes of one zone may share a rack, so no run is planned shorter, however close the racks stand.
"""
RACKS_PER_ROW_AT_LEAST = 12
LEAF_W_PER_400G = 120.0
"""Watts of leaf kept per 400 Gb/s of endpoint when a zone is sized: twice what 64-port switches need."""
FILL_FOR_SIZING = 0.8

Point = tuple[float, float]


def no_one_room(case: Case) -> Problem:
    """What is wrong where a case has to say how its switches stand and leaves it open."""
    known = ", ".join(p.value for p in FIXED_PLACEMENTS)
    return Problem(
        case.name or "case",
        path="site.switch_placement",
        found=Placement.CHEAPEST.value,
        expected=f"one of {known}",
        message="what is asked needs one room; gpunet optimize says which placement is cheapest",
    )


class SiteTooSmallError(ValueError):
    """The room given cannot hold the servers. ``setting`` names the field to change."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass(frozen=True)
class Zone:
    """A run of adjacent rack places, possibly over several rows."""

    name: str
    places: tuple[RackPlace, ...]

    @property
    def corners(self) -> tuple[Point, ...]:
        """The points a farthest run can end at: both ends of every row of the zone, m."""
        rows: dict[float, list[float]] = {}
        for place in self.places:
            rows.setdefault(place.y_m, []).append(place.x_m)
        return tuple({(x, y) for y, xs in rows.items() for x in (min(xs), max(xs))})


@dataclass(frozen=True)
class ServerLoad:
    """What one server asks of a rack: height in units and the largest draw with every cage at its limit, mW."""

    rack_units: int
    power_mw: int
    cables: int = 1
    """Cages to cable, for ``shortest`` alone."""


class Room:
    """Places and distances. ``server_rack[i]`` is the rack number of server ``i``; storage servers follow."""

    def __init__(
        self, case: Case, server: ServerLoad, n_servers: int, storage: ServerLoad, n_storage: int, endpoint_gbps: float
    ) -> None:
        site = case.site
        if site.switch_placement is Placement.CHEAPEST:
            raise InputError([no_one_room(case)])
        self.case = case
        self.server_units, self.server_mw = server.rack_units, server.power_mw
        self.rack_mw = watts_to_milliwatts(min(site.rack.power_kw, site.rack.cooling_kw or site.rack.power_kw) * 1000)
        self.servers_per_rack = _per_rack(case, server, self.rack_mw)
        self.storage_per_rack = _fits(site.rack.units, self.rack_mw, storage) if n_storage else 1
        if n_storage and self.storage_per_rack == 0:
            raise SiteTooSmallError(
                "site.rack",
                f"one storage server needs {storage.rack_units} units and {storage.power_mw / 1e6:g} kW; "
                f"a rack has {site.rack.units} units and {self.rack_mw / 1e6:g} kW",
            )
        self.n_server_racks = math.ceil(n_servers / self.servers_per_rack)
        self.n_racks = self.n_server_racks + (math.ceil(n_storage / self.storage_per_rack) if n_storage else 0)
        self.racks_per_row, self.rows = _grid(case, self.n_racks)
        self.endpoint_gbps = endpoint_gbps
        self.n_servers, self.n_storage = n_servers, n_storage
        self.server_cables, self.storage_cables = server.cables, storage.cables
        self._place()

    def _place(self) -> None:
        site, pitch, row_pitch = self.case.site, self.case.site.rack_pitch_m, self.case.site.row_pitch_m
        watts = self.endpoint_gbps * self.n_servers / 400 * LEAF_W_PER_400G
        rack_w = self.rack_mw / 1000 * FILL_FOR_SIZING
        per_row = min(1.0, self.racks_per_row / max(1, self.n_server_racks))
        self.leaf_width = site.network_racks_per_row or 1 + math.ceil(watts * per_row / rack_w)
        self.central_width = site.network_racks_central or 1 + math.ceil(watts / rack_w)
        together = self.network_places_together
        if together and site.network_racks_central is None:
            self.central_width += 1 + math.ceil(watts / rack_w)
        own_row = self.rows > 1 or together
        columns = self._central_columns()
        self.network_rows = math.ceil(self.central_width / columns) if own_row else 0
        zones, before, start = self._zone_columns(columns, own_row)

        def row_y(row: int) -> float:
            return (row if row < before else row + self.network_rows) * row_pitch

        in_row = [] if own_row else [range(start, start + self.central_width)]
        free = [_free([range(zone, zone + self.leaf_width), *in_row], self.racks_per_row) for zone in zones]
        self.racks = [
            RackPlace(f"r{row + 1:02d}-c{col + 1:02d}", free[row][col] * pitch, row_y(row))
            for row, col in (divmod(i, self.racks_per_row) for i in range(self.n_racks))
        ]
        if own_row:
            central = tuple(
                RackPlace(f"n{r + 1:02d}-c{c + 1:02d}", (start + c) * pitch, (before + r) * row_pitch)
                for r, c in (divmod(i, columns) for i in range(self.central_width))
            )
        else:
            central = tuple(RackPlace(f"n01-c{i + 1:02d}", (start + i) * pitch, 0.0) for i in range(self.central_width))
        self.central = Zone("central", central)
        self.row_zones = [
            Zone(
                f"row-{row + 1:02d}",
                tuple(
                    RackPlace(f"r{row + 1:02d}-n{i + 1:02d}", (zone + i) * pitch, row_y(row))
                    for i in range(self.leaf_width)
                ),
            )
            for row, zone in enumerate(zones)
        ]
        self.zones = {zone.name: zone for zone in [*self.row_zones, self.central]}
        self._corners = {name: zone.corners for name, zone in self.zones.items()}

    def _zone_columns(self, columns: int, own_row: bool) -> tuple[list[int], int, int]:
        """First column of every row's zone, rows before the central zone, and its first column."""
        placement = self.case.site.switch_placement
        if placement is Placement.SHORTEST:
            found = shortest(self._sizes(columns))
            return list(found.zones), found.before, found.central
        first = self.racks_per_row // 2 if placement is Placement.ROW_MIDDLE else self.racks_per_row
        start = {
            Placement.ROW_END: self.racks_per_row - columns,
            Placement.ROW_MIDDLE: max(0, first - columns // 2),
        }.get(placement, (self.racks_per_row - columns) // 2)
        if not own_row:
            start = self.racks_per_row + self.leaf_width
        return [first] * self.rows, self.rows // 2 if own_row else self.rows, start

    def _sizes(self, columns: int) -> Sizes:
        """The room before its zones are placed."""
        site = self.case.site
        cables = [0] * (self.rows * self.racks_per_row)
        for count, rack_of, cables_each in (
            (self.n_servers, self.server_rack, self.server_cables),
            (self.n_storage, self.storage_rack, self.storage_cables),
        ):
            for machine in range(count):
                cables[rack_of(machine)] += cables_each
        in_row = [cables[: self.n_racks][i : i + self.racks_per_row] for i in range(0, len(cables), self.racks_per_row)]
        return Sizes(
            tuple(map(tuple, in_row)),
            self.racks_per_row,
            self.leaf_width,
            self.central_width,
            columns,
            site.rack_pitch_m,
            site.row_pitch_m,
            extra_m=2 * site.tray_rise_m + site.slack_m,
            least_m=IN_RACK_M,
        )

    def _central_columns(self) -> int:
        """Columns of the central zone: a square block, no wider than a row and no narrower than 12 racks."""
        site = self.case.site
        square = math.ceil(math.sqrt(self.central_width * site.row_pitch_m / site.rack_pitch_m))
        return min(self.racks_per_row, max(RACKS_PER_ROW_AT_LEAST, square))

    @property
    def free_units(self) -> int:
        """Rack units left on top of the servers of a full rack."""
        return self.case.site.rack.units - self.servers_per_rack * self.server_units

    @property
    def free_mw(self) -> int:
        """Power left beside the servers of a full rack, mW."""
        return self.rack_mw - self.servers_per_rack * self.server_mw

    @property
    def leaf_room(self) -> int:
        """What one row zone holds, millionths of a rack."""
        return self.leaf_width * 1_000_000

    @property
    def central_room(self) -> int:
        """What the central zone holds, millionths of a rack."""
        return self.central_width * 1_000_000

    @property
    def counts_network_racks(self) -> bool:
        """True where a network rack has a price, or their number a limit."""
        return self.case.site.rack.cost_usd is not None or self.case.limits.racks is not None

    @property
    def network_places_together(self) -> bool:
        """True when leaves stand in the central zone too."""
        return self.case.site.switch_placement is Placement.NETWORK_ROW

    def row_of(self, rack: int) -> int:
        """Row of rack number ``rack``, from 0."""
        return rack // self.racks_per_row

    def server_rack(self, server: int) -> int:
        """Rack number of server ``server``, both from 0."""
        return server // self.servers_per_rack

    def storage_rack(self, storage_server: int) -> int:
        """Rack number of storage server ``storage_server``, both from 0; storage racks follow the server racks."""
        return self.n_server_racks + storage_server // self.storage_per_rack

    @cache  # noqa: B019 - a room lives as long as its case
    def rack_to_zone_m(self, rack: int, zone: str) -> float:
        """Routed length from a rack to the farthest place of a zone, m, before rounding to a stock length."""
        place = self.racks[rack]
        return self._routed(max(_manhattan((place.x_m, place.y_m), corner) for corner in self._corners[zone]))

    @cache  # noqa: B019
    def zone_to_zone_m(self, a: str, b: str) -> float:
        """Routed length between the farthest places of two zones, m."""
        return self._routed(max(_manhattan(p, q) for p in self._corners[a] for q in self._corners[b]))

    @cache  # noqa: B019
    def rack_to_racks_m(self, rack: int, first: int, last: int) -> float:
        """Routed length from a rack to the farthest rack of ``first..last`` (top-of-rack leaves), m."""
        if rack == first == last:
            return IN_RACK_M
        here = self.racks[rack]
        return self._routed(
            max(
                _manhattan((here.x_m, here.y_m), (self.racks[i].x_m, self.racks[i].y_m)) for i in range(first, last + 1)
            )
        )

    def _routed(self, horizontal_m: float) -> float:
        site = self.case.site
        return max(IN_RACK_M, round(horizontal_m + 2 * site.tray_rise_m + site.slack_m, 6))

    def leaf_zone(self, rack: int) -> str:
        """Zone in which the leaf of a group that starts in ``rack`` stands (not for top-of-rack)."""
        if self.case.site.switch_placement is Placement.NETWORK_ROW:
            return self.central.name
        return self.row_zones[min(self.row_of(rack), self.rows - 1)].name


def _free(taken: list[range], count: int) -> list[int]:
    """The first columns of a row that nothing else takes."""
    columns = (column for column in itertools.count() if not any(column in some for some in taken))
    return list(itertools.islice(columns, count))


def _manhattan(p: Point, q: Point) -> float:
    return abs(p[0] - q[0]) + abs(p[1] - q[1])


def _fits(units: int, rack_mw: int, load: ServerLoad) -> int:
    return min(units // load.rack_units, rack_mw // load.power_mw if load.power_mw else units)


def _per_rack(case: Case, server: ServerLoad, rack_mw: int) -> int:
    site = case.site
    most = _fits(site.rack.units, rack_mw, server)
    if most == 0:
        raise SiteTooSmallError(
            "site.rack",
            f"one {case.cluster.server} needs {server.rack_units} units and {server.power_mw / 1e6:g} kW with every "
            f"cage at its limit; a rack has {site.rack.units} units and {rack_mw / 1e6:g} kW",
        )
    if site.servers_per_rack is not None and site.servers_per_rack > most:
        raise SiteTooSmallError(
            "site.servers_per_rack",
            f"{site.servers_per_rack} x {case.cluster.server} need {site.servers_per_rack * server.rack_units} units "
            f"and {site.servers_per_rack * server.power_mw / 1e6:g} kW with every cage at its limit; a rack has "
            f"{site.rack.units} units and {rack_mw / 1e6:g} kW: at most {most} fit",
        )
    return site.servers_per_rack or most


def _grid(case: Case, n_racks: int) -> tuple[int, int]:
    """Racks per row and rows; a square room where the case leaves them open."""
    site = case.site
    if site.racks_per_row is not None:
        per_row = site.racks_per_row
    elif site.rows is not None:
        per_row = math.ceil(n_racks / site.rows)
    else:
        square = math.ceil(math.sqrt(n_racks * site.row_pitch_m / site.rack_pitch_m))
        per_row = min(n_racks, max(RACKS_PER_ROW_AT_LEAST, square))
    rows = site.rows or math.ceil(n_racks / per_row)
    if rows * per_row < n_racks:
        raise SiteTooSmallError(
            "site.rows", f"{n_racks} racks are needed; {rows} rows of {per_row} hold {rows * per_row}"
        )
    return per_row, rows
