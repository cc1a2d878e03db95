"""Every design of one fabric over one protocol, as ``docs/method.md`` defines them, in plain loops.

A design is a count of switches and a count of blocks. A block is written as the links between its cages, one by one:
``((a cage, b cage), links)``; nothing cleverer is needed to price it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from exhaustive_room import MIDDLE, Host, Kind, Room
from exhaustive_trays import Spot, of_host, passed

from gpunet.models.case import FabricBase, Topology
from gpunet.models.parts import CageGroup, PortMode, Protocol, Switch

NS_PER_M = 5.0

Joins = tuple[tuple[tuple[tuple[int, ...], tuple[int, ...]], int], ...]
"""Links of a block between each pair of its cages."""


class Face(NamedTuple):
    """One cage group of one device, split one way, at one speed."""

    owner: str
    """Switch id, or the name of the kind of endpoint."""
    group: str
    ports: int
    speed: float
    hot: bool


class Block(NamedTuple):
    """Links that share cages among themselves and with no other link."""

    a: Face
    b: Face
    joins: Joins
    length_m: float
    tier: str = "endpoint"
    """``endpoint``, ``leaf-spine`` or ``spine-core``."""
    trays: frozenset[str] = frozenset()
    """Sections of tray that a link of it passes, where the case limits trays."""


class Design(NamedTuple):
    """One design of one fabric."""

    switches: tuple[tuple[str, int], ...]
    """Switch ids with their numbers, tier by tier."""
    blocks: Callable[[], Counter[Block]]
    switch_ns: float | None
    """Switches of the longest path, ns; none where one publishes no latency."""
    leaf_rows: tuple[int, ...]
    """Row of every leaf; ``MIDDLE`` for the central zone, where all other switches stand."""


class Spread(NamedTuple):
    """How the endpoints are spread over leaves: ``rails`` per leaf with ``per_group`` hosts a group, or else
    ``per_leaf`` endpoint cages a leaf."""

    leaves: int
    leaves_per_group: int
    rails: int
    per_group: int
    per_leaf: int


class Fabric(NamedTuple):
    """What is to be connected, with what."""

    spec: FabricBase
    protocol: Protocol
    topologies: tuple[Topology, ...]
    kinds: tuple[Kind, ...]
    switches: tuple[Switch, ...]
    room: Room


Counts = tuple[tuple[str, int], ...]
"""Switch ids with their numbers, tier by tier."""


def designs(fabric: Fabric, is_hopeless: Callable[[Counts], bool] = lambda _: False) -> Iterator[Design]:
    """Every design of the fabric, fewest tiers first, but those whose lower tiers alone are hopeless already."""
    return _Search(fabric, is_hopeless).all()


def group_of(switch: Switch, face: Face) -> CageGroup:
    """The cage group that a face of a switch shows."""
    return next(group for group in switch.cages if group.name == face.group)


def modes_of(group: CageGroup, protocol: Protocol, face: Face) -> list[PortMode]:
    """The ways to run the split that a face shows."""
    return [m for m in group.modes if (m.ports, m.speed_gbps) == (face.ports, face.speed) and protocol in m.protocols]


def faces_of(switch: Switch, protocol: Protocol) -> list[Face]:
    """Every face that a switch can show."""
    found = []
    for group in switch.cages:
        for ports, speed in {(m.ports, m.speed_gbps) for m in group.modes if protocol in m.protocols}:
            if group.fabric:
                found.append(Face(switch.id, group.name, ports, speed, hot=False))
                if group.hot is not None:
                    found.append(Face(switch.id, group.name, ports, speed, hot=True))
    return sorted(found)


def holds(switch: Switch, uses: Sequence[tuple[Face, int]]) -> bool:
    """Whether the switch has all these cages at once."""
    for group in switch.cages:
        taken = sum(cages for face, cages in uses if face.group == group.name)
        hot = sum(cages for face, cages in uses if face.group == group.name and face.hot)
        if taken > group.count or (group.hot is not None and hot > group.hot.count):
            return False
    loads = [face.ports for face, cages in uses for _ in range(cages)]
    if switch.max_logical_ports is not None and sum(loads) > switch.max_logical_ports.v:
        return False
    if switch.cages_per_pipeline is None or switch.ports_per_pipeline is None:
        return True
    every_cage = sum(group.count for group in switch.cages if group.fabric)
    loads += [0] * (every_cage - len(loads))
    pipelines = every_cage // switch.cages_per_pipeline
    return _packs(tuple(sorted(loads, reverse=True)), switch.cages_per_pipeline, switch.ports_per_pipeline, pipelines)


@cache
def _packs(loads: tuple[int, ...], share: int, limit: int, pipelines: int) -> bool:
    """Whether the loads fall into pipelines of ``share`` cages with no more than ``limit`` ports each, by trying."""
    if pipelines == 0:
        return not any(loads)
    first, rest = loads[0], loads[1:]
    for others in set(itertools.combinations(rest, share - 1)):
        if first + sum(others) <= limit:
            left = list(rest)
            for load in others:
                left.remove(load)
            if _packs(tuple(left), share, limit, pipelines - 1):
                return True
    return False


class Stripe(NamedTuple):
    """``multiplicity`` links from each lower switch to each of ``uppers`` upper switches."""

    uppers: int
    multiplicity: int
    lower: Face
    upper: Face

    def layers(self) -> list[int]:
        """Whole cage pairs first, then the binary digits of the rest."""
        whole = max(self.lower.ports, self.upper.ports)
        found = [whole] * (self.multiplicity // whole)
        rest = self.multiplicity % whole
        for digit in reversed(range(rest.bit_length())):
            if rest & (1 << digit):
                found.append(1 << digit)
        return found

    def lower_cages(self) -> int:
        """Cages that one lower switch needs."""
        return sum(
            math.ceil(len(chunk) * layer / self.lower.ports)
            for layer in self.layers()
            for chunk in self.upper_chunks(layer)
        )

    def upper_cages(self, lowers: int) -> int:
        """Cages that one upper switch needs under ``lowers`` lower switches."""
        return sum(
            math.ceil(len(chunk) * layer / self.upper.ports)
            for layer in self.layers()
            for chunk in self.lower_chunks(layer, list(range(lowers)))
        )

    def upper_chunks(self, layer: int) -> list[list[int]]:
        """Upper switches that share the cages of a lower switch."""
        return _chunks(list(range(self.uppers)), math.ceil(self.lower.ports / layer))

    def lower_chunks(self, layer: int, lowers: list[int]) -> list[list[int]]:
        """Lower switches that share the cages of an upper switch."""
        return _chunks(lowers, math.ceil(self.upper.ports / layer))


@cache
def stripe_blocks(
    stripe: Stripe, lower_lengths: tuple[float, ...], tier: str, trays: tuple[frozenset[str], ...] = ()
) -> Counter[Block]:
    """The blocks between lower switches with runs of these lengths and all upper switches."""
    found: Counter[Block] = Counter()
    for layer in stripe.layers():
        for lowers in stripe.lower_chunks(layer, list(range(len(lower_lengths)))):
            longest = max(lower_lengths[i] for i in lowers)
            for uppers in stripe.upper_chunks(layer):
                joins = _joins(
                    ((i, (u * layer + n) // stripe.lower.ports), (u, (i * layer + n) // stripe.upper.ports))
                    for i in range(len(lowers))
                    for u in range(len(uppers))
                    for n in range(layer)
                )
                sections = frozenset[str]().union(*(trays[i] for i in lowers if trays))
                found[Block(stripe.lower, stripe.upper, joins, longest, tier, sections)] += 1
    return found


def _joins(links: Iterator[tuple[tuple[int, ...], tuple[int, ...]]]) -> Joins:
    return tuple(sorted(Counter(links).items()))


def _chunks(items: list[int], size: int) -> list[list[int]]:
    return [items[i : i + size] for i in range(0, len(items), size)]


class _Search:
    def __init__(self, fabric: Fabric, is_hopeless: Callable[[Counts], bool]) -> None:
        self.f, self.is_hopeless = fabric, is_hopeless
        self.spec, self.kinds, self.room = fabric.spec, fabric.kinds, fabric.room
        self.switches = {s.id: s for s in fabric.switches}
        self.faces = {s.id: faces_of(s, fabric.protocol) for s in fabric.switches}
        self.fastest = max(kind.speed for kind in self.kinds)
        self.cages = [[(h, c) for h, host in enumerate(kind.hosts) for c in range(host.cages)] for kind in self.kinds]
        self._attached: dict[tuple[Spread, int, Face], Counter[Block]] = {}
        self._stripes = cache(self._find_stripes)
        self._leaf_lengths = cache(self._find_leaf_lengths)

    def all(self) -> Iterator[Design]:
        spreads = [spread for spread in self._spreads() if spread.leaves >= max(2, self.spec.min_leaves)]
        for tiers in range(1, self.spec.max_tiers + 1):
            for leaf in self.f.switches:
                choices = [[f for f in self.faces[leaf.id] if f.speed == kind.speed] for kind in self.kinds]
                for downs in itertools.product(*choices):
                    if tiers == 1:
                        yield from self._one_tier(leaf, downs)
                    else:
                        for spread in spreads:
                            yield from self._with_spines(leaf, downs, spread, tiers)

    def _one_tier(self, leaf: Switch, downs: tuple[Face, ...]) -> Iterator[Design]:
        spread = Spread(1, 1, 0, 0, len(self.cages[0]))
        latency_ns = leaf.latency_ns.v if leaf.latency_ns else None
        if self.spec.min_leaves == 1 and holds(leaf, self._down_uses(spread, downs)) and self._in_limits(1, latency_ns):
            rows = self._leaf_rows(spread)
            yield Design(((leaf.id, 1),), lambda: self._endpoint_blocks(spread, downs), latency_ns, rows)

    def _spreads(self) -> list[Spread]:
        found = []
        first = self.kinds[0]
        if Topology.RAIL_OPTIMIZED in self.f.topologies and first.has_rails:
            rails = first.cages_per_host * first.ports
            for k in range(1, rails + 1):
                if rails % k or (k != 1 and k % first.ports):
                    continue
                for groups in range(1, len(first.hosts) + 1):
                    g = math.ceil(len(first.hosts) / groups)
                    if math.ceil(len(first.hosts) / g) == groups:
                        found.append(Spread(groups * rails // k, rails // k, k, g, 0))
        if Topology.LEAF_SPINE in self.f.topologies:
            for leaves in range(1, first.cages + 1):
                c = math.ceil(first.cages / leaves)
                if math.ceil(first.cages / c) == leaves:
                    found.append(Spread(leaves, 1, 0, 0, c))
        return found

    def _down_ports(self, spread: Spread, kind: int) -> int:
        """Ports that a full leaf gives to a kind of endpoint."""
        if kind > 0:
            return math.ceil(self.kinds[kind].cages / spread.leaves) * self.kinds[kind].ports
        return spread.per_group * spread.rails if spread.rails else spread.per_leaf * self.kinds[0].ports

    def _down_uses(self, spread: Spread, downs: tuple[Face, ...]) -> list[tuple[Face, int]]:
        return [(face, math.ceil(self._down_ports(spread, i) / face.ports)) for i, face in enumerate(downs)]

    def _in_limits(self, hops: int, latency_ns: float | None) -> bool:
        if self.spec.max_hops is not None and hops > self.spec.max_hops:
            return False
        return self.spec.latency_ns is None or (latency_ns is not None and latency_ns <= self.spec.latency_ns)

    def _with_spines(self, leaf: Switch, downs: tuple[Face, ...], spread: Spread, tiers: int) -> Iterator[Design]:
        down_uses = self._down_uses(spread, downs)
        if not holds(leaf, down_uses) or self.is_hopeless(((leaf.id, spread.leaves),)):
            return
        gbps = sum(self._down_ports(spread, i) * Fraction(kind.speed) / kind.sigma for i, kind in enumerate(self.kinds))
        for up in self.faces[leaf.id]:
            need = math.ceil(gbps / Fraction(up.speed))
            for spine in self.f.switches if up.speed >= self.fastest else ():
                for face in (face for face in self.faces[spine.id] if face.speed == up.speed):
                    for pods, in_pod in self._pods(spread) if tiers == 3 else [(1, spread.leaves)]:
                        for stripe in self._stripes(need, self.spec.min_spines, up, face, spine.id, in_pod):
                            if not holds(leaf, [*down_uses, (up, stripe.lower_cages())]):
                                continue
                            if tiers == 2:
                                yield from self._two_tiers(leaf, downs, spread, spine, stripe)
                            else:
                                yield from self._three_tiers(leaf, downs, spread, spine, stripe, pods, in_pod)

    def _pods(self, spread: Spread) -> Iterator[tuple[int, int]]:
        """Pods, two or more, and the leaves of a full one."""
        groups = spread.leaves // spread.leaves_per_group
        for per_pod in range(1, groups):
            pods = math.ceil(groups / per_pod)
            if math.ceil(groups / pods) == per_pod:
                yield pods, per_pod * spread.leaves_per_group

    def _find_stripes(self, need: int, least: int, lower: Face, upper: Face, switch: str, lowers: int) -> list[Stripe]:
        """Upper switches and multiplicities that give every lower switch ``need`` links."""
        whole = max(lower.ports, upper.ports)
        fewest: dict[int, int] = {}
        for uppers in range(least, max(need, least) + 1):
            each = math.ceil(need / uppers)
            for multiplicity in (each, math.ceil(each / whole) * whole):
                fewest.setdefault(multiplicity, uppers)
        found = [Stripe(uppers, multiplicity, lower, upper) for multiplicity, uppers in fewest.items()]
        return [stripe for stripe in found if holds(self.switches[switch], [(upper, stripe.upper_cages(lowers))])]

    def _two_tiers(
        self, leaf: Switch, downs: tuple[Face, ...], spread: Spread, spine: Switch, stripe: Stripe
    ) -> Iterator[Design]:
        lengths, trays = self._leaf_lengths(spread), self._leaf_trays(spread)
        if self._in_limits(3, latency([leaf, leaf, spine], 2 * max(lengths))):
            yield Design(
                ((leaf.id, spread.leaves), (spine.id, stripe.uppers)),
                lambda: self._endpoint_blocks(spread, downs) + stripe_blocks(stripe, lengths, "leaf-spine", trays),
                latency([leaf, leaf, spine]),
                self._leaf_rows(spread),
            )

    def _three_tiers(
        self,
        leaf: Switch,
        downs: tuple[Face, ...],
        spread: Spread,
        spine: Switch,
        stripe: Stripe,
        pods: int,
        in_pod: int,
    ) -> Iterator[Design]:
        lower_tiers = ((leaf.id, spread.leaves), (spine.id, stripe.uppers * pods))
        if self.is_hopeless(lower_tiers):
            return
        down_uses = [(stripe.upper, stripe.upper_cages(in_pod))]
        sigma = max(kind.sigma for kind in self.kinds)
        gbps = in_pod * stripe.multiplicity * Fraction(stripe.upper.speed) / sigma
        lengths, between = self._leaf_lengths(spread), self.room.spine_to_core()
        for up in self.faces[spine.id]:
            if up.speed < self.fastest:
                continue
            need = math.ceil(gbps / Fraction(up.speed))
            for core in self.f.switches:
                if not self._in_limits(5, latency([leaf, leaf, spine, spine, core], 2 * max(lengths) + 2 * between)):
                    continue
                for face in self.faces[core.id]:
                    if face.speed != up.speed:
                        continue
                    for plane in self._stripes(need, self.spec.min_cores, up, face, core.id, pods):
                        if holds(spine, [*down_uses, (up, plane.lower_cages())]):
                            yield Design(
                                (*lower_tiers, (core.id, plane.uppers * stripe.uppers)),
                                lambda plane=plane: self._three_tier_blocks(spread, downs, stripe, plane, pods, in_pod),
                                latency([leaf, leaf, spine, spine, core]),
                                self._leaf_rows(spread),
                            )

    def _three_tier_blocks(
        self, spread: Spread, downs: tuple[Face, ...], stripe: Stripe, plane: Stripe, pods: int, in_pod: int
    ) -> Counter[Block]:
        found = Counter(self._endpoint_blocks(spread, downs))
        lengths, trays = self._leaf_lengths(spread), self._leaf_trays(spread)
        for pod in range(pods):
            here = slice(pod * in_pod, (pod + 1) * in_pod)
            found.update(stripe_blocks(stripe, lengths[here], "leaf-spine", trays[here]))
        for block, count in stripe_blocks(plane, (self.room.spine_to_core(),) * pods, "spine-core").items():
            found[block] += count * stripe.uppers
        return found

    def _first_rack(self, spread: Spread, leaf: int) -> int:
        """Rack of the first host of the leaf's group."""
        first = self.kinds[0]
        if spread.rails:
            return first.hosts[leaf // spread.leaves_per_group * spread.per_group].rack
        return first.hosts[self.cages[0][leaf * spread.per_leaf][0]].rack

    def _find_leaf_lengths(self, spread: Spread) -> tuple[float, ...]:
        return tuple(self.room.leaf_to_spine(self._first_rack(spread, leaf)) for leaf in range(spread.leaves))

    def _leaf_trays(self, spread: Spread) -> tuple[frozenset[str], ...]:
        """Sections between every leaf and the spines."""
        if self.room.case.site.tray is None:
            return ()
        spines = Spot(MIDDLE, None)
        return tuple(passed(self.room, [(Spot(row, None), spines)]) for row in self._leaf_rows(spread))

    def _leaf_rows(self, spread: Spread) -> tuple[int, ...]:
        return tuple(self.room.leaf_row(self._first_rack(spread, leaf)) for leaf in range(spread.leaves))

    def _endpoint_blocks(self, spread: Spread, downs: tuple[Face, ...]) -> Counter[Block]:
        found: Counter[Block] = Counter()
        for i, face in enumerate(downs):
            if (spread, i, face) not in self._attached:
                self._attached[spread, i, face] = self._attach(spread, i, face)
            found.update(self._attached[spread, i, face])
        return found

    def _attach(self, spread: Spread, i: int, face: Face) -> Counter[Block]:
        kind = self.kinds[i]
        there = Face(f"{i}:{kind.name}", kind.cage.name, kind.ports, kind.speed, hot=False)
        found: Counter[Block] = Counter()
        for hosts, joins, leaf in self._endpoint_joins(spread, i, face):
            length_m = max(self.room.host_to_leaf(host, self._first_rack(spread, leaf)) for host in hosts)
            here = Spot(self.room.leaf_row(self._first_rack(spread, leaf)), None)
            cables = [(of_host(self.room, host.rack), here) for host in hosts] if self.room.case.site.tray else []
            found[Block(face, there, joins, length_m, trays=passed(self.room, cables))] += 1
        return found

    def _endpoint_joins(self, spread: Spread, i: int, face: Face) -> Iterator[tuple[list[Host], Joins, int]]:
        """Hosts, links and leaf of every endpoint block that is built now."""
        kind = self.kinds[i]
        if i == 0 and spread.rails and spread.rails < kind.ports:
            yield from self._split_cages(spread, face)
            return
        per_chunk = max(1, face.ports // kind.ports)
        for leaf in range(spread.leaves):
            for chunk in _chunks(list(range(len(seats := self._seats(spread, i, leaf)))), per_chunk):
                there = [seats[n] for n in chunk]
                built = [(n, seat) for n, seat in enumerate(there) if seat is not None and kind.hosts[seat[0]].present]
                if built:
                    joins = _joins(
                        (((n * kind.ports + port) // face.ports,), (n,)) for n, _ in built for port in range(kind.ports)
                    )
                    yield [kind.hosts[seat[0]] for _, seat in built], joins, leaf

    def _seats(self, spread: Spread, i: int, leaf: int) -> list[tuple[int, int] | None]:
        """Endpoint cages of a leaf in port order; none where a host has no such cage."""
        kind = self.kinds[i]
        if i == 0 and spread.rails:
            group, place = divmod(leaf, spread.leaves_per_group)
            hosts = range(group * spread.per_group, min((group + 1) * spread.per_group, len(kind.hosts)))
            each = spread.rails // kind.ports
            return [
                (h, c) if c < kind.hosts[h].cages else None
                for h in hosts
                for c in range(place * each, (place + 1) * each)
            ]
        size = spread.per_leaf if i == 0 else math.ceil(kind.cages / spread.leaves)
        return list(self.cages[i][leaf * size : (leaf + 1) * size])

    def _split_cages(self, spread: Spread, face: Face) -> Iterator[tuple[list[Host], Joins, int]]:
        """The ports of one endpoint cage go to as many leaves: blocks of ``face.ports`` hosts."""
        kind = self.kinds[0]
        for start in range(0, len(kind.hosts), spread.per_group):
            group = list(range(start, min(start + spread.per_group, len(kind.hosts))))
            for chunk in _chunks(group, face.ports):
                for cage in range(kind.cages_per_host):
                    built = [h for h in chunk if kind.hosts[h].present and cage < kind.hosts[h].cages]
                    if built:
                        joins = _joins(((rail,), (h - chunk[0],)) for h in built for rail in range(kind.ports))
                        leaf = start // spread.per_group * spread.leaves_per_group
                        yield [kind.hosts[h] for h in built], joins, leaf


def latency(passed: Sequence[Switch], metres: float = 0.0) -> float | None:
    """Switches and fibre of a path, ns; none where a switch publishes no latency."""
    known = [switch.latency_ns.v for switch in passed if switch.latency_ns is not None]
    return sum(known) + metres * NS_PER_M if len(known) == len(passed) else None
