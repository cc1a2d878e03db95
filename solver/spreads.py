"""Leaf models, and the ways to spread a fabric's endpoints over leaves of one model."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import NamedTuple

from gpunet.models.case import Topology
from gpunet.models.parts import Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.filled import bare
from gpunet.solver.ports import Face, Use, fits
from gpunet.solver.scope import Bound, Scope, Spread, plus
from gpunet.solver.template import ENDPOINT_LEAF, LEAF_SPINE
from gpunet.solver.tray_bound import endpoints_overfill
from gpunet.solver.wiring import Attach, Stripe, leaf_cages, lower_cages, upper_cages


class Joint(NamedTuple):
    """What follows from a leaf face under a spine face, whatever the prices."""

    pair: int
    """Number of the pair of cages."""
    deep_spines: int
    """Fewest spines when half their bandwidth goes on to cores."""
    core_gbps: float
    """Least bandwidth from spines to cores, Gb/s."""


@dataclass
class Leaf:
    """A leaf model with its down faces; its spreads are found once and shared by every spine."""

    scope: Scope
    switch: Switch
    downs: tuple[Face, ...]
    _known: dict[tuple[Topology, int], list[Spread]] = field(default_factory=dict)
    _rest: dict[tuple[Topology, int], Iterator[Spread]] = field(default_factory=dict)
    _joints: dict[tuple[int, int, str], Joint | None] = field(default_factory=dict)
    _lengths: dict[int, Counter[float]] = field(default_factory=dict)
    _fits: dict[tuple[int, int, int, str, Stripe, int], bool] = field(default_factory=dict)
    _most_uplinks: dict[tuple[int, int], int] = field(default_factory=dict)

    @cached_property
    def fewest(self) -> int:
        """Leaves that there are at least, uplinks taken at the widest face."""
        scope = self.scope
        ups = [f for f in scope.usable[self.switch.id] if f.speed_gbps >= max(k.speed_gbps for k in scope.kinds)]
        return min(
            (fewest_leaves(scope, self, up, math.ceil(uplink_gbps_of(scope) / Fraction(up.speed_gbps))) for up in ups),
            default=1,
        )

    def joint(self, up: Face, spine: Switch, face: Face, uplinks: int, sigma: Fraction) -> Joint | None:
        """The leaf under a spine; none where nothing joins them over the run that every template has."""
        key = (id(up), id(face), spine.id)
        if key not in self._joints:
            measure, spec = self.scope.measure, self.scope.spec
            pair = measure.pair((up, self.switch), (face, spine))
            gbps = uplinks * Fraction(up.speed_gbps)
            deep_spines = max(2 * spec.min_spines, math.ceil(gbps * (1 + 1 / sigma) / Fraction(_gbps(spine))))
            joins = measure.book.reaches(pair, measure.needed_m[LEAF_SPINE])
            self._joints[key] = Joint(pair, deep_spines, float(gbps / sigma)) if joins else None
        return self._joints[key]

    def lengths(self, spread: Spread) -> Counter[float]:
        """Leaves of a spread by their distance from the spines, m."""
        if id(spread) not in self._lengths:
            lengths = self.scope.measure.leaf_spread_m(bare(self.scope, self.switch, self.downs, spread))
            self._lengths[id(spread)] = lengths
        return self._lengths[id(spread)]

    def most_uplinks(self, spread: Spread, up: Face) -> int:
        """Uplinks that the cages left beside a full leaf's endpoints can carry at most."""
        key = (id(spread), id(up))
        if key not in self._most_uplinks:
            uses = down_uses(self.scope, self.downs, spread)
            taken = sum(cages for face, cages in uses if face.group.name == up.group.name)
            ports = min(up.cages, up.group.count - taken) * up.ports
            if self.switch.max_logical_ports is not None:
                ports = min(
                    ports, int(self.switch.max_logical_ports.v) - sum(face.ports * cages for face, cages in uses)
                )
            self._most_uplinks[key] = ports
        return self._most_uplinks[key]

    def fits_under(self, spread: Spread, up: Face, spine: Switch, face: Face, stripe: Stripe, n_lower: int) -> bool:
        """Whether both switches have the cages for a stripe from ``n_lower`` leaves."""
        key = (id(spread), id(up), id(face), spine.id, stripe, n_lower)
        if key not in self._fits:
            down, over = down_uses(self.scope, self.downs, spread), upper_cages(stripe, n_lower)
            self._fits[key] = (
                over <= face.cages
                and fits(self.switch, [*down, (up, lower_cages(stripe))])
                and fits(spine, [(face, over)])
            )
        return self._fits[key]

    def families(self) -> list[tuple[Topology, int]]:
        """The kinds of spread: topology and rails per leaf."""
        return families(self.scope)

    def spreads(self, family: tuple[Topology, int], most_leaves: int) -> Iterator[Spread]:
        """Spreads of one family, fewest leaves first, up to ``most_leaves``."""
        known = self._known.setdefault(family, [])
        if family not in self._rest:
            self._rest[family] = spreads(self.scope, self.switch, self.downs, family)
        i = 0
        while True:
            if i == len(known):
                found = next(self._rest[family], None)
                if found is None:
                    return
                known.append(found)
            if known[i].n_leaves > most_leaves:
                return
            yield known[i]
            i += 1


def leaves_of(scope: Scope) -> list[Leaf]:
    """Every leaf model with every choice of down faces."""
    return [
        Leaf(scope, switch, downs)
        for switch in scope.switches
        if scope.leaf_models is None or switch.id in scope.leaf_models
        for downs in itertools.product(*(_down_faces(scope, switch, scope.usable[switch.id], k) for k in scope.kinds))
    ]


def _down_faces(scope: Scope, leaf: Switch, found: list[Face], kind: Endpoints) -> list[Face]:
    """Faces that can hold this kind of endpoint at the distance of the farthest one."""
    measure = scope.measure
    at_speed = [f for f in found if f.speed_gbps == kind.speed_gbps]
    far_m = measure.needed_m[ENDPOINT_LEAF] if kind.kind != "storage-server" else measure.shortest_m[ENDPOINT_LEAF]
    joined = [f for f in at_speed if measure.book.reaches(measure.endpoint_pair(f, leaf, kind), far_m)]
    if at_speed and not joined:
        scope.refuse("interconnect")
    return joined


def endpoint_bound(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> Bound | None:
    """Least weight of all endpoint links, each at the shortest run it can have; none when one cannot be built.

    None as well where they are more than the trays of the case can hold.
    """
    measure = scope.measure
    total: Bound = (0, 0, 0)
    for kind, face in zip(scope.kinds, downs, strict=True):
        pair = measure.endpoint_pair(face, leaf, kind)
        for length_m, links in measure.nearest_m(kind).items():
            link = measure.book.least_per_link(pair, length_m)
            if link is None:
                return None
            total = plus(total, link, links)
    return None if endpoints_overfill(scope, leaf, downs) else total


def uplink_gbps_of(scope: Scope) -> Fraction:
    """Bandwidth that all leaves together need upwards, Gb/s."""
    return _needed_gbps(
        tuple((k.future_cages * k.ports_per_cage, k.speed_gbps, k.oversubscription) for k in scope.kinds)
    )


@cache
def _needed_gbps(kinds: tuple[tuple[int, float, Fraction], ...]) -> Fraction:
    return sum((ports * Fraction(gbps) / oversubscription for ports, gbps, oversubscription in kinds), Fraction(0))


def families(scope: Scope) -> list[tuple[Topology, int]]:
    """Topologies with the rails one leaf may serve; 0 where rails do not matter."""
    found: list[tuple[Topology, int]] = []
    for topology in scope.topologies:
        if topology is Topology.LEAF_SPINE:
            found.append((topology, 0))
        elif scope.kinds[0].rail:
            rails, per_cage = scope.kinds[0].ports_per_host, scope.kinds[0].ports_per_cage
            found += [(topology, k) for k in range(1, rails + 1) if rails % k == 0 and (k % per_cage == 0 or k == 1)]
    return found


def spreads(scope: Scope, leaf: Switch, downs: Sequence[Face], family: tuple[Topology, int]) -> Iterator[Spread]:
    """Ways to spread the endpoints over ``leaf`` in one family, fewest leaves first."""
    if scope.management:
        yield from _management_spreads(scope, leaf, downs)
    elif family[0] is Topology.RAIL_OPTIMIZED:
        yield from _rail_spreads(scope, leaf, downs, family[1])
    else:
        yield from _plain_spreads(scope, leaf, downs)


def _rail_spreads(scope: Scope, leaf: Switch, downs: Sequence[Face], k: int) -> Iterator[Spread]:
    kind = scope.kinds[0]
    n_hosts, per_group = len(kind.hosts), kind.ports_per_host // k
    first = math.ceil(n_hosts * k / max(1, downs[0].cages * downs[0].ports))
    for groups in range(max(1, first), n_hosts + 1):
        g = math.ceil(n_hosts / groups)
        if math.ceil(n_hosts / g) != groups:
            continue
        plan = Attach(k, g, math.ceil(g * k / kind.ports_per_cage), downs[0].ports)
        spread = spread_of(scope, downs, Topology.RAIL_OPTIMIZED, groups * per_group, per_group, plan)
        if fits(leaf, down_uses(scope, downs, spread)):
            yield spread


def _plain_spreads(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> Iterator[Spread]:
    kind = scope.kinds[0]
    cages = kind.future_cages
    first = math.ceil(cages * kind.ports_per_cage / max(1, downs[0].cages * downs[0].ports))
    for n in range(max(1, first), cages + 1):
        per_leaf = math.ceil(cages / n)
        if math.ceil(cages / per_leaf) != n:
            continue
        plan = Attach(0, 0, per_leaf, downs[0].ports)
        spread = spread_of(scope, downs, Topology.LEAF_SPINE, n, 1, plan)
        if fits(leaf, down_uses(scope, downs, spread)):
            yield spread


def _management_spreads(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> Iterator[Spread]:
    """Management leaves are filled one after the other; how many there are is given with the scope."""
    n = scope.row_leaves + scope.central_leaves
    if fits(leaf, [(downs[0], downs[0].cages)]):
        plan = Attach(0, 0, downs[0].cages * downs[0].ports, downs[0].ports)
        spread = spread_of(scope, downs, Topology.LEAF_SPINE, n, 1, plan)
        yield dataclasses.replace(spread, central_leaves=scope.central_leaves)


def spread_of(
    scope: Scope, downs: Sequence[Face], topology: Topology, n_leaves: int, per_group: int, first: Attach
) -> Spread:
    """A spread of every kind of endpoint, from the plan of the first."""
    plans = [first]
    for kind, face in zip(scope.kinds[1:], downs[1:], strict=True):
        plans.append(Attach(0, 0, math.ceil(kind.future_cages / n_leaves), face.ports))
    gbps = Fraction(0)
    for kind, plan in zip(scope.kinds, plans, strict=True):
        ports = plan.cages_per_leaf * kind.ports_per_cage
        if plan.rails_per_leaf:
            ports = plan.hosts_per_group * plan.rails_per_leaf
        gbps += ports * Fraction(kind.speed_gbps) / kind.oversubscription
    return Spread(topology, n_leaves, per_group, tuple(plans), gbps)


def down_uses(scope: Scope, downs: Sequence[Face], spread: Spread) -> list[Use]:
    """Cages of one leaf for each kind of endpoint."""
    return [(face, leaf_cages(kind, plan)) for kind, plan, face in zip(scope.kinds, spread.plans, downs, strict=True)]


def leaf_ports(scope: Scope, spread: Spread) -> list[tuple[str, float, int]]:
    """Ports of the fullest leaf for every kind of endpoint, as ``is_overfull`` takes them."""
    if scope.gauge is None:
        return []
    plans = zip(scope.kinds, spread.plans, strict=True)
    return [(ENDPOINT_LEAF, kind.speed_gbps, scope.gauge.leaf_ports(kind, plan)) for kind, plan in plans]


def fewest_leaves(scope: Scope, leaf: Leaf, up: Face, uplinks: int) -> int:
    """Leaves whose cages can hold every endpoint and every uplink, group by group."""
    need: dict[str, int] = {}
    for kind, face in zip(scope.kinds, leaf.downs, strict=True):
        cages = math.ceil(kind.future_cages * kind.ports_per_cage / face.ports)
        need[face.group.name] = need.get(face.group.name, 0) + cages
    need[up.group.name] = need.get(up.group.name, 0) + math.ceil(uplinks / up.ports)
    counts = {g.name: g.count for g in leaf.switch.cages}
    return max(math.ceil(cages / counts[name]) for name, cages in need.items())


def _gbps(switch: Switch) -> float:
    """Bandwidth of all fabric cages at their widest mode, Gb/s."""
    return sum(g.count * max((m.ports * m.speed_gbps for m in g.modes), default=0.0) for g in switch.cages if g.fabric)


def _most_ports(switch: Switch) -> float:
    limit = switch.max_logical_ports.v if switch.max_logical_ports else math.inf
    return min(limit, sum(g.count * max(m.ports for m in g.modes) for g in switch.cages if g.fabric and g.modes))
