"""Management ports: what the out-of-band fabric connects, and how long its runs can be.

Out-of-band leaves serve ports in the order of the rows, so a leaf may stand one or more rows before a port it
serves. Which ports share a leaf depends on how many switches the other fabrics bring, so each kind of run is
measured at the longest it can be; copper runs are cheap enough for that to cost little.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from gpunet.models.case import Case, FabricName, Placement
from gpunet.models.parts import Protocol
from gpunet.solver.demand import BMC_GROUP, RJ45_PORT, Endpoints, Host, Machines, server_name, storage_name
from gpunet.solver.layout import Room
from gpunet.solver.links import LinkBook
from gpunet.solver.prices import PriceList
from gpunet.solver.template import ENDPOINT_LEAF, LEAF_SPINE, SPINE_CORE, Measure, Position
from gpunet.solver.wiring import Attach

PORTS_PER_LEAF_AT_MOST = 48
"""Access ports of the widest management switch: no leaf serves ports further apart than that many."""


def oob_endpoints(case: Case, machines: Machines) -> Endpoints:
    """Every BMC and PDU in the order of the racks; growth places last. Storage servers have one port."""
    spec = case.fabrics.oob
    assert spec is not None
    room, bmcs = machines.room, machines.server.bmc_ports
    by_rack: list[list[Host]] = [[] for _ in range(room.n_racks)]
    for i in range(machines.n_servers):
        by_rack[room.server_rack(i)].append(Host(server_name(i), room.server_rack(i), bmcs))
    for i in range(machines.n_storage):
        by_rack[room.storage_rack(i)].append(Host(storage_name(i), room.storage_rack(i), 1))
    hosts = []
    for rack, members in enumerate(by_rack):
        hosts += members
        hosts += [Host(pdu_name(room.racks[rack].name, p), rack, 1) for p in range(spec.pdus_per_rack)]
    later = machines.n_servers_future - machines.n_servers
    hosts += [Host(None, room.n_racks - 1, bmcs)] * later
    free = room.n_server_racks * room.servers_per_rack - machines.n_servers
    more_racks = math.ceil(max(0, later - free) / room.servers_per_rack)
    hosts += [Host(None, room.n_racks - 1, 1)] * (more_racks * spec.pdus_per_rack)
    return Endpoints(
        fabric=FabricName.OOB,
        kind="management",
        group=BMC_GROUP,
        cage=RJ45_PORT,
        modes=RJ45_PORT.modes,
        hosts=tuple(hosts),
        cages_per_host=1,
        rail=False,
        oversubscription=Fraction(str(spec.oversubscription)),
        protocols=(Protocol.ETHERNET,),
    )


def pdu_name(rack: str, i: int) -> str:
    """Device name of PDU ``i`` of a rack, from 0."""
    return f"pdu-{rack}-{chr(ord('a') + i)}" if i < 26 else f"pdu-{rack}-{i + 1}"


class Runs(NamedTuple):
    """Longest runs of the out-of-band fabric, m."""

    endpoint_m: float
    """A BMC or PDU to its leaf."""
    row_switch_m: float
    """A switch in a row to its leaf."""
    central_switch_m: float
    """A switch in the central zone to its leaf."""
    uplink_m: float
    """A leaf to the spines."""


def management_runs(case: Case, machines: Machines) -> Runs:
    """How long the runs of the out-of-band fabric can be, whichever ports share a leaf."""
    room, spec = machines.room, case.fabrics.oob
    assert spec is not None
    central = room.central.name
    per_rack = room.servers_per_rack * machines.server.bmc_ports + spec.pdus_per_rack
    back = math.ceil(PORTS_PER_LEAF_AT_MOST / max(1, per_rack * room.racks_per_row))
    zones = [central] if room.network_places_together else [zone.name for zone in room.row_zones]

    def near(row: int) -> list[str]:
        return zones if len(zones) == 1 else zones[max(0, row - back) : row + 1]

    endpoint = max(room.rack_to_zone_m(rack, z) for rack in range(room.n_racks) for z in near(room.row_of(rack)))
    between = max(room.zone_to_zone_m(zone, z) for row, zone in enumerate(zones) for z in near(row))
    if room.rows == 1 or room.network_places_together:
        between = max(between, room.zone_to_zone_m(central, zones[0]))
    if case.site.switch_placement is Placement.TOP_OF_RACK:
        # Leaves on the servers' racks are managed from where the servers are.
        between = max(between, endpoint)
    uplink = max(room.zone_to_zone_m(zone, central) for zone in [*zones, central])
    return Runs(endpoint, between, room.zone_to_zone_m(central, central), uplink)


class ManagementMeasure(Measure):
    """Measures out-of-band templates at the longest run each link can have."""

    def __init__(self, room: Room, book: LinkBook, prices: PriceList, runs: Runs) -> None:
        super().__init__(room, book, prices)
        self.trays = None
        self.runs = runs

    @cached_property
    def shortest_m(self) -> dict[str, float]:
        """Every run is measured at its longest, so that is also the shortest, m."""
        return {
            ENDPOINT_LEAF: self.runs.endpoint_m,
            LEAF_SPINE: self.runs.uplink_m,
            SPINE_CORE: self.runs.central_switch_m,
        }

    @cached_property
    def needed_m(self) -> dict[str, float]:
        """The same: there is one length per class, m."""
        return self.shortest_m

    def nearest_m(self, kind: Endpoints) -> Counter[float]:
        """The same for every BMC and PDU, m."""
        return Counter({self.runs.endpoint_m: kind.present_links})

    def _position(self, kind: Endpoints, plan: Attach, q: int) -> Position:
        """The row of the leaf's first port: management leaves stand in the rows even when others stand on racks."""
        starts = self._first_cages(kind)
        first = kind.hosts[min(len(starts) - 1, bisect.bisect_right(starts, q * plan.cages_per_leaf) - 1)].rack
        return Position(self.room.leaf_zone(first), first, first)

    def host_to_leaf_m(self, _host: Host, _leaf: Position) -> float:
        """The longest run of a BMC or PDU, m."""
        return self.runs.endpoint_m

    def leaf_to_central_m(self, _leaf: Position) -> float:
        """The longest run of a leaf to its spines, m."""
        return self.runs.uplink_m
