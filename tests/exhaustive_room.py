"""The room and the machines, worked out anew from ``docs/method.md`` for the exhaustive search.

Nothing here is shared with the solver: an error on either side shows as a disagreement.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from gpunet.models.case import Case, FabricName, Placement, StorageMode
from gpunet.models.parts import CageGroup, Catalog, PortMode, Protocol, Server, ServerRole

MIDDLE = -1
"""Rack number of what stands in the central zone."""


class Host(NamedTuple):
    """A machine, or a place kept for one."""

    rack: int
    cages: int
    present: bool


class Kind(NamedTuple):
    """Endpoints that are all alike."""

    name: str
    cage: CageGroup
    modes: tuple[PortMode, ...]
    hosts: tuple[Host, ...]
    cages_per_host: int
    sigma: Fraction
    has_rails: bool
    nic: str | None
    """NIC that is bought with every host, one card for all its cages here."""
    cards: int

    @property
    def ports(self) -> int:
        """Ports of one endpoint cage."""
        return self.modes[0].ports

    @property
    def speed(self) -> float:
        """Gb/s of one port."""
        return self.modes[0].speed_gbps

    @property
    def cages(self) -> int:
        """All cages, those of machines that come later included."""
        return sum(host.cages for host in self.hosts)


class TooSmallError(Exception):
    """The site cannot hold the machines, or the machines have no ports for what is asked."""


class Room:
    """Where racks and zones stand, m."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        self.case = case
        site, server = case.site, catalog.servers[case.cluster.server]
        self.servers = case.cluster.servers or math.ceil((case.cluster.gpus or 0) / int(server.gpus.v))
        self.future = math.ceil(self.servers * (1 + Fraction(str(case.cluster.growth))))
        self.storage_servers = _storage_servers(case, self.servers)
        rack_w = min(site.rack.power_kw, site.rack.cooling_kw or site.rack.power_kw) * 1000
        self.per_rack = _servers_per_rack(case, server, rack_w)
        server_racks = math.ceil(self.servers / self.per_rack)
        self.server_racks = server_racks
        self.storage_per_rack = 1
        if self.storage_servers and case.fabrics.storage is not None:
            spec = case.fabrics.storage
            by_power = int(rack_w // spec.storage_server_w) if spec.storage_server_w else site.rack.units
            self.storage_per_rack = min(site.rack.units // spec.storage_server_units, by_power)
            if not self.storage_per_rack:
                raise TooSmallError
        racks = server_racks + math.ceil(self.storage_servers / self.storage_per_rack)
        self.columns, self.rows = _grid(case, racks)
        gbps = sum(
            c.cages.count * max(m.ports * m.speed_gbps for m in c.cages.modes)
            for c in server.cages
            if c.role is ServerRole.BACKEND
        )
        zone_w = gbps * self.servers / 400 * 120
        share = min(1.0, self.columns / server_racks)
        self.leaf_width = site.network_racks_per_row or 1 + math.ceil(zone_w * share / (0.8 * rack_w))
        width = 1 + math.ceil(zone_w / (0.8 * rack_w))
        together = site.switch_placement is Placement.NETWORK_ROW
        self.middle_width = site.network_racks_central or width * (2 if together else 1)
        self.single = self.rows == 1 and not together
        block = math.ceil(math.sqrt(self.middle_width * site.row_pitch_m / site.rack_pitch_m))
        self.middle_columns = min(self.columns, max(12, block))
        self.network_rows = 0 if self.single else math.ceil(self.middle_width / self.middle_columns)
        self._to_leaf: dict[tuple[int, int], float] = {}
        self._to_spine: dict[int, float] = {}
        self._to_core: float | None = None
        self.first_column = self.columns // 2 if site.switch_placement is Placement.ROW_MIDDLE else self.columns

    def rack(self, number: int) -> tuple[float, float]:
        """Where a rack of servers stands."""
        row, column = divmod(number, self.columns)
        if self.case.site.switch_placement is Placement.ROW_MIDDLE and column >= self.first_column:
            column += self.leaf_width
        return column * self.case.site.rack_pitch_m, self._row_y(row)

    def _row_y(self, row: int) -> float:
        beyond_middle = not self.single and row >= self.rows // 2
        return (row + (self.network_rows if beyond_middle else 0)) * self.case.site.row_pitch_m

    def middle(self) -> list[tuple[float, float]]:
        """Every place of the central zone."""
        pitch, row_pitch = self.case.site.rack_pitch_m, self.case.site.row_pitch_m
        if self.single:
            start = self.columns + self.leaf_width
            return [((start + i) * pitch, 0.0) for i in range(self.middle_width)]
        spare = self.columns - self.middle_columns
        if self.case.site.switch_placement is Placement.ROW_END:
            start = spare
        elif self.case.site.switch_placement is Placement.ROW_MIDDLE:
            start = max(0, self.first_column - self.middle_columns // 2)
        else:
            start = spare // 2
        return [
            ((start + i % self.middle_columns) * pitch, (self.rows // 2 + i // self.middle_columns) * row_pitch)
            for i in range(self.middle_width)
        ]

    def leaf_row(self, rack: int) -> int:
        """Row beside which the leaves of a group stand whose first host is in ``rack``; ``MIDDLE`` where none does."""
        if self.case.site.switch_placement is Placement.NETWORK_ROW:
            return MIDDLE
        # Reserved ports belong to no row: a leaf that begins with one stands where the servers end.
        return (self.server_racks - 1 if rack == MIDDLE else rack) // self.columns

    def leaf_zone(self, rack: int) -> list[tuple[float, float]]:
        """Every place where the leaves of a group may stand whose first host is in ``rack``."""
        row = self.leaf_row(rack)
        if row == MIDDLE:
            return self.middle()
        return [
            ((self.first_column + i) * self.case.site.rack_pitch_m, self._row_y(row)) for i in range(self.leaf_width)
        ]

    def run(self, ends: Sequence[tuple[float, float]], zone: Sequence[tuple[float, float]]) -> float:
        """Routed length between the farthest places of two zones."""
        site = self.case.site
        far = max(abs(p[0] - q[0]) + abs(p[1] - q[1]) for p in ends for q in zone)
        return max(2.0, round(far + 2 * site.tray_rise_m + site.slack_m, 6))

    def host_to_leaf(self, host: Host, leaf_rack: int) -> float:
        """Routed length from a host to a leaf of the group that begins in ``leaf_rack``."""
        key = host.rack, self.leaf_row(leaf_rack)
        if key not in self._to_leaf:
            ends = self.middle() if host.rack == MIDDLE else [self.rack(host.rack)]
            self._to_leaf[key] = self.run(ends, self.leaf_zone(leaf_rack))
        return self._to_leaf[key]

    def leaf_to_spine(self, leaf_rack: int) -> float:
        """Routed length from a leaf of the group that begins in ``leaf_rack`` to any spine."""
        row = self.leaf_row(leaf_rack)
        if row not in self._to_spine:
            self._to_spine[row] = self.run(self.leaf_zone(leaf_rack), self.middle())
        return self._to_spine[row]

    def spine_to_core(self) -> float:
        """Routed length from any spine to any core."""
        if self._to_core is None:
            self._to_core = self.run(self.middle(), self.middle())
        return self._to_core


def _storage_servers(case: Case, servers: int) -> int:
    spec = case.fabrics.storage
    if spec is None or spec.mode is StorageMode.NONE:
        return 0
    return math.ceil(servers / 8) if spec.storage_servers is None else spec.storage_servers


def _servers_per_rack(case: Case, server: Server, rack_w: float) -> int:
    limits = [c.cages.count * c.cages.power_limit_w.v for c in server.cages if c.cages.power_limit_w]
    draw_w = server.power_max_w.v + sum(limits)
    most = min(case.site.rack.units // math.ceil(server.rack_units.v), int(rack_w // draw_w))
    if most == 0 or (case.site.servers_per_rack or 0) > most:
        raise TooSmallError
    return case.site.servers_per_rack or most


def _grid(case: Case, racks: int) -> tuple[int, int]:
    """Columns and rows."""
    site = case.site
    if site.racks_per_row is not None:
        columns = site.racks_per_row
    elif site.rows is not None:
        columns = math.ceil(racks / site.rows)
    else:
        columns = min(racks, max(12, math.ceil(math.sqrt(racks * site.row_pitch_m / site.rack_pitch_m))))
    rows = site.rows or math.ceil(racks / columns)
    if rows * columns < racks:
        raise TooSmallError
    return columns, rows


def kinds_of(case: Case, catalog: Catalog, room: Room, fabric: FabricName, protocol: Protocol) -> list[Kind]:
    """The endpoints of a fabric over one protocol. Raises TooSmallError when the machines cannot serve it."""
    server = catalog.servers[case.cluster.server]
    if fabric is FabricName.BACKEND:
        assert case.fabrics.backend is not None
        speed = case.fabrics.backend.speed_gbps
        sigma = Fraction(str(case.fabrics.backend.oversubscription))
        cages = next((c for c in server.cages if c.role is ServerRole.BACKEND), None)
        usable = [m for m in cages.cages.modes if protocol in m.protocols] if cages else []
        if cages is None or protocol not in cages.protocols or not usable:
            raise TooSmallError
        if speed is None:
            widest = max(m.ports * m.speed_gbps for m in usable)
            speed = max(m.speed_gbps for m in usable if m.ports * m.speed_gbps == widest)
        modes = _all_ports(usable, speed)
        hosts = _hosts(case, room, fabric, modes, cages.cages.count)
        return [_kind("backend", cages.cages, modes, hosts, cages.cages.count, sigma, cages.nic, catalog, rails=True)]
    spec = case.fabrics.storage if fabric is FabricName.STORAGE else case.fabrics.frontend
    assert spec is not None
    sigma = Fraction(str(spec.oversubscription))
    role = ServerRole(fabric.value)
    cages = next((c for c in server.cages if c.role is role), None)
    usable = [m for m in cages.cages.modes if protocol in m.protocols] if cages else []
    if cages is None or protocol not in cages.protocols or not usable:
        raise TooSmallError
    count = cages.cages.count
    if spec.server_gbps is None:
        widest = max(m.ports * m.speed_gbps for m in usable)
        used, speed = count, max(m.speed_gbps for m in usable if m.ports * m.speed_gbps == widest)
    else:
        gives = {(n, m.speed_gbps): n * m.ports * m.speed_gbps for n in range(1, count + 1) for m in usable}
        enough = [way for way, gbps in gives.items() if gbps >= spec.server_gbps]
        if not enough:
            raise TooSmallError
        used, speed = min(enough)
    modes = _all_ports(usable, speed)
    hosts = _hosts(case, room, fabric, modes, used)
    found = [_kind(fabric.value, cages.cages, modes, hosts, used, sigma, cages.nic, catalog)]
    if fabric is FabricName.STORAGE and room.storage_servers:
        found.append(_storage_kind(case, catalog, room, protocol, sigma))
    return found


def _storage_kind(case: Case, catalog: Catalog, room: Room, protocol: Protocol, sigma: Fraction) -> Kind:
    """Storage servers with the NIC that the case names."""
    spec = case.fabrics.storage
    assert spec is not None
    assert spec.storage_server_nic is not None, "the exhaustive search wants a named NIC"
    nic = catalog.nics[spec.storage_server_nic]
    usable = [m for m in nic.cages[0].modes if protocol in m.protocols and protocol in nic.protocols]
    if not usable:
        raise TooSmallError
    modes = _all_ports(usable, min(spec.storage_server_gbps, max(m.speed_gbps for m in usable)))
    if not modes:
        raise TooSmallError
    cages = math.ceil(spec.storage_server_gbps / modes[0].speed_gbps / modes[0].ports)
    hosts = tuple(
        Host(room.server_racks + i // room.storage_per_rack, cages, present=True) for i in range(room.storage_servers)
    )
    return Kind("storage-server", nic.cages[0], modes, hosts, cages, sigma, has_rails=False, nic=None, cards=0)


def _kind(
    name: str,
    cage: CageGroup,
    modes: tuple[PortMode, ...],
    hosts: tuple[Host, ...],
    cages_per_host: int,
    sigma: Fraction,
    nic: str | None,
    catalog: Catalog,
    rails: bool = False,
) -> Kind:
    cards = cage.count // catalog.nics[nic].cages[0].count if nic else 0
    return Kind(name, cage, modes, hosts, cages_per_host, sigma, rails, nic, cards)


def _all_ports(usable: Sequence[PortMode], speed: float) -> tuple[PortMode, ...]:
    at_speed = [m for m in usable if m.speed_gbps == speed]
    if not at_speed:
        raise TooSmallError
    most = max(m.ports for m in at_speed)
    return tuple(m for m in at_speed if m.ports == most)


def _hosts(
    case: Case, room: Room, fabric: FabricName, modes: tuple[PortMode, ...], cages_per_host: int
) -> tuple[Host, ...]:
    """Servers, servers that come later, then reserved ports as part-filled hosts."""
    hosts = [Host(i // room.per_rack, cages_per_host, present=True) for i in range(room.servers)]
    last = (room.servers - 1) // room.per_rack
    hosts += [Host(last, cages_per_host, present=False)] * (room.future - room.servers)
    reserved = math.ceil(case.cluster.reserved_ports.get(fabric, 0) / modes[0].ports)
    full, rest = divmod(reserved, cages_per_host)
    hosts += [Host(MIDDLE, cages_per_host, present=True)] * full
    if rest:
        hosts.append(Host(MIDDLE, rest, present=True))
    return tuple(hosts)
