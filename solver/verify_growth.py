"""Bandwidth down against bandwidth up at every switch, today and when the cluster has grown."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from gpunet.models.design import Check
from gpunet.solver.verify_book import Bools, Floats, Ints
from gpunet.solver.verify_demand import rail_optimized
from gpunet.solver.verify_network import Network
from gpunet.solver.verify_report import Findings

SLIP = 1 + 1e-9
"""A third of a Gb/s is no binary fraction."""


def check_oversubscription(nets: list[Network]) -> Check:
    """Downlink bandwidth within what the uplinks carry at every switch, now and when the cluster has grown."""
    findings = Findings("oversubscription")
    notes = []
    for net in nets:
        if net.tiers > 1:
            _leaf_ratio(net, findings)
        if net.tiers > 2:
            _spine_ratio(net, findings)
        notes.append(_growth(net, findings))
    return findings.check("; ".join(notes) or "no network")


def needed_gbps(net: Network) -> Floats:
    """Uplink bandwidth that the attached endpoints are promised at every node, Gb/s."""
    total = np.zeros(len(net.book.node_device))
    for fabric, down in net.down_gbps.items():
        total += down / net.sigma(fabric)
    return total


def _leaf_ratio(net: Network, findings: Findings) -> None:
    needed, up = needed_gbps(net), net.up_gbps
    over = net.leaves[needed[net.leaves] > up[net.leaves] * SLIP]
    findings.add_rows(
        over,
        lambda n: (
            f"{net.name}: leaf {net.book.node_name(n)} owes {needed[n]:g} Gb/s to its endpoints, has {up[n]:g} up"
        ),
    )


def _spine_ratio(net: Network, findings: Findings) -> None:
    sigma = net.tightest_sigma
    below, up = net.from_below_gbps, net.up_gbps
    over = net.spines[below[net.spines] > sigma * up[net.spines] * SLIP]
    findings.add_rows(
        over,
        lambda n: (
            f"{net.name}: spine {net.book.node_name(n)} has {below[n]:g} Gb/s down and {up[n]:g} up, "
            f"more than {sigma:g}:1"
        ),
    )


def _growth(net: Network, findings: Findings) -> str:
    """Free ports and free uplink bandwidth for the servers that come later; returns a note for the detail."""
    book = net.book
    share = 1 + Fraction(str(book.case.cluster.growth))
    more = math.ceil(book.server_count * share) - book.server_count
    worst = _worst_ratio(net)
    if more <= 0 or not book.server_count:
        return f"{net.name} at most {worst:.3g}:1"
    room = Room(net)
    for fabric in net.carried:
        held = room.seat(fabric, more)
        if held < more:
            findings.add(
                f"{net.name}: free ports and uplink bandwidth serve {held:,} more servers on {fabric}, "
                f"growth asks for {more:,}"
            )
    return f"{net.name} at most {worst:.3g}:1, room for {more:,} more servers"


def _worst_ratio(net: Network) -> float:
    if net.tiers == 1 or not net.carried:
        return 1.0
    down = np.sum(list(net.down_gbps.values()), axis=0)[net.leaves]
    up = net.up_gbps[net.leaves]
    return float((down / np.maximum(up, 1e-9)).max(initial=0.0))


class Seats(NamedTuple):
    """Where servers that come later may be plugged in on one fabric."""

    free: Ints
    """Free ports of every cage."""
    speed: int
    """Index of the speed."""
    cost_gbps: float
    """Uplink bandwidth that one port is promised."""


class Room:
    """What every leaf can still take: free ports cage by cage, and uplink bandwidth not yet promised."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self.book = net.book
        self.head_gbps = net.up_gbps - needed_gbps(net)
        if net.tiers == 1:
            self.head_gbps = np.full(len(self.book.node_device), np.inf)
        # Growth fills these up, fabric by fabric.
        self.used = self.book.cage_used.copy()
        self.speed = self.book.cage_speed.copy()
        self._by_node = np.argsort(self.book.cage_node, kind="stable")
        self._sorted_nodes = self.book.cage_node[self._by_node]

    def seat(self, fabric: str, servers: int) -> int:
        """Seat growth servers on one fabric; returns how many find room."""
        net, book = self.net, self.book
        links = net.endpoint_links[book.of_fabric(fabric)[net.endpoint_links]]
        kinds = np.array([d.kind == "server" for d in book.ledger.devices])
        links = links[kinds[book.cage_device[book.b_cage[links]]]]
        if not len(links):
            return servers
        speed = float(book.gbps[links].max())
        each = len(links) / max(1, len(book.devices_of("server")))
        free = self._free_ports(links, speed)
        seats = Seats(free, book.speeds.index(speed), speed / net.sigma(fabric))
        ports = np.minimum(self._per_node(free), np.floor(self.head_gbps / seats.cost_gbps * SLIP)).astype(np.int64)
        if fabric == "backend" and rail_optimized(book):
            return self._seat_rails(links, ports, servers, seats)
        left = math.ceil(servers * each)
        for leaf in net.leaves.tolist():
            used = min(left, int(ports[leaf]))
            self._take(leaf, used, seats)
            left -= used
        return servers - math.ceil(left / each)

    def _take(self, leaf: int, ports: int, seats: Seats) -> None:
        """Fill cages of a leaf, those already started first."""
        self.head_gbps[leaf] -= ports * seats.cost_gbps
        low, high = np.searchsorted(self._sorted_nodes, [leaf, leaf + 1])
        cages = self._by_node[low:high]
        for cage in cages[np.argsort(-self.used[cages], kind="stable")].tolist():
            here = min(ports, int(seats.free[cage]))
            if here:
                self.used[cage] += here
                self.speed[cage] = seats.speed
                ports -= here

    def _seat_rails(self, links: Ints, ports: Ints, servers: int, seats: Seats) -> int:
        """A server of a rail-optimised fabric takes a port on every leaf of one group, so the fullest leaf decides."""
        book, net = self.book, self.net
        leaf = book.cage_node[book.a_cage[links]]
        per_server: dict[int, int] = {}
        first = book.cage_device[book.b_cage[links]]
        for node in np.unique(leaf).tolist():
            here = first[leaf == node]
            per_server[node] = int(np.bincount(here).max())
        groups: dict[int, list[int]] = {}
        for node in net.leaves.tolist():
            groups.setdefault(book.ledger.devices[int(book.node_device[node])].group, []).append(node)
        full = max((sum(per_server.get(n, 0) for n in nodes) for nodes in groups.values()), default=0)
        held = 0
        for nodes in groups.values():
            # A group that is still empty shares the rails evenly over its leaves.
            even = -(-full // len(nodes))
            takes = {n: per_server.get(n, 0) or even for n in nodes}
            if sum(takes.values()) < full:
                continue
            more = min(min(int(ports[n]) // takes[n] for n in nodes), servers - held)
            for n in nodes:
                self._take(n, more * takes[n], seats)
            held += more
        return held

    def _free_ports(self, links: Ints, speed_gbps: float) -> Ints:
        """Ports of every cage that could still run at the endpoint speed."""
        book = self.book
        speed = book.speeds.index(speed_gbps)
        used = {int(g) for g in np.unique(book.cage_group[book.a_cage[links]])}
        parts = {book.groups[g].part for g in used}
        # On a switch model that has endpoints they go where they go today; elsewhere into any cage of that speed.
        takes = np.array(
            [
                g.most_ports(speed_gbps)
                if g.switch is not None and g.cages.fabric and (i in used or g.part not in parts)
                else 0
                for i, g in enumerate(book.groups)
            ],
            np.int64,
        )
        room = takes[book.cage_group]
        other: Bools = (self.used > 0) & (self.speed != speed)
        return np.where(other, 0, np.maximum(0, room - self.used))

    def _per_node(self, free: Ints) -> Floats:
        """Free ports of every node, no more than its silicon still drives."""
        book = self.book
        per_node = np.bincount(book.cage_node, free, minlength=len(book.node_device)).astype(np.float64)
        fabric = np.array([g.switch is not None and g.cages.fabric for g in book.groups])[book.cage_group]
        used = np.bincount(book.cage_node[fabric], self.used[fabric], minlength=len(book.node_device))
        for node in self.net.leaves.tolist():
            switch = book.catalog.switches.get(book.ledger.devices[int(book.node_device[node])].part)
            if switch is not None and switch.max_logical_ports is not None:
                limit = switch.max_logical_ports.v / switch.independent_switches - used[node]
                per_node[node] = min(per_node[node], max(0.0, limit))
        return per_node
