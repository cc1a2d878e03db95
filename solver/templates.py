"""Enumerates every template of a fabric in integer arithmetic, cut off by a bound.

A cutoff is a ceiling per objective that a template must not exceed by itself; with no cutoff everything is
enumerated. Lower bounds used to skip are sums of switches and cheapest links, so nothing within the cutoff is lost.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from typing import NamedTuple

from gpunet.models.case import FabricBase, FabricName, Objective, Striping, Topology
from gpunet.models.parts import Protocol, Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.eligible import lossy_where_lossless
from gpunet.solver.headroom_gauge import Gauge
from gpunet.solver.ports import Face, Use, faces, fits
from gpunet.solver.template import (
    ENDPOINT_LEAF,
    FIBRE_NS_PER_M,
    LEAF_SPINE,
    SPINE_CORE,
    Measure,
    Template,
    Upper,
)
from gpunet.solver.wiring import Attach, Stripe, leaf_cages, lower_cages, upper_cages

OBJECTIVES = tuple(Objective)


class StandIn(NamedTuple):
    """A template by its counts and the most that it can ever add to a total."""

    leaves: int
    above: int
    """Spines and cores."""
    rank: int
    """Number of the objective in ``OBJECTIVES``."""
    most: float


@dataclass
class Cutoff:
    """The most a template may weigh by itself, per objective."""

    most: dict[Objective, float] = field(default_factory=lambda: dict.fromkeys(OBJECTIVES, math.inf))
    stand_ins: tuple[StandIn, ...] = ()
    """Templates that stand in for any that has no fewer leaves and no fewer switches above, and weighs more."""

    def passes(self, bound: Sequence[float], leaves: int = 0, above: int = 0) -> bool:
        """True when a lower bound (cost, power, tco), and counts that are no higher, are within the cutoff."""
        cost, power, tco = bound
        most = self.most
        if not (cost <= most[Objective.COST] and power <= most[Objective.POWER] and tco <= most[Objective.TCO]):
            return False
        return not any(x.leaves <= leaves and x.above <= above and bound[x.rank] > x.most for x in self.stand_ins)


@dataclass
class Scope:
    """One fabric over one protocol: what to connect and with which parts."""

    fabric: FabricName
    protocol: Protocol
    spec: FabricBase
    topologies: tuple[Topology, ...]
    kinds: tuple[Endpoints, ...]
    switches: list[Switch]
    measure: Measure
    carries_storage: bool = False
    gauge: Gauge | None = None
    """Judges flow control headroom; none where the case asks for none."""
    row_leaves: int = 0
    """Management leaves in the rows; out-of-band only."""
    central_leaves: int = 0
    """Management leaves in the central zone; out-of-band only."""
    management: bool = False
    leaf_models: frozenset[str] | None = None
    """Models that may be leaves; any when none."""
    core_faces: dict[tuple[float, int], list[tuple[float, Switch, Face]]] = field(default_factory=dict, init=False)
    """Core faces by speed and objective, thriftiest first; found when first asked for."""
    core_gbps: dict[str, Bound] = field(default_factory=dict, init=False)
    """What one Gb/s to the cores weighs at least, by spine model; found when first asked for."""
    bases: dict[int, Bound | None] = field(default_factory=dict, init=False)
    """Least weight of all endpoint links, by the number of the leaf in ``leaves``; found when first asked for."""
    above: dict[int, dict[float, list[Above]]] = field(default_factory=dict, init=False)
    """Spine models and faces by objective and speed, lightest first; found when first asked for."""
    deadline_s: float = math.inf
    """Moment of the monotonic clock after which enumeration stops, once it has found a template."""
    yielded: int = 0
    cut_short: bool = False
    """True when the deadline ended an enumeration: what it found is not all there is."""
    refused: dict[str, int] = field(default_factory=dict)
    """Why templates were refused, by the name of the limit, counted; read by explain."""
    usable: dict[str, list[Face]] = field(default_factory=dict, init=False)
    """Faces of each switch model; found when first asked for, whatever the prices."""
    leaves: list[Leaf] | None = field(default=None, init=False)
    """Leaf models with their down faces; found when first asked for, whatever the prices."""

    def forget_prices(self) -> None:
        """Drop what depends on prices, which have changed."""
        for known in (self.core_faces, self.core_gbps, self.bases, self.above):
            known.clear()

    def out_of_time(self) -> bool:
        """True when the deadline has passed and something has been found; remembers that it cut a search short."""
        if self.yielded and time.monotonic() > self.deadline_s:
            self.cut_short = True
        return self.cut_short

    def refuse(self, limit: str) -> None:
        """Count one refusal."""
        self.refused[limit] = self.refused.get(limit, 0) + 1


def _is_overfull(scope: Scope, switch: Switch, *ports: tuple[str, float, int]) -> bool:
    """Whether flow control headroom alone forbids so many ports (link class, Gb/s, count) on a switch."""
    if scope.gauge is None or not scope.gauge.is_beyond(scope.measure, switch, ports):
        return False
    scope.refuse("lossless")
    return True


def _leaf_ports(scope: Scope, spread: Spread) -> list[tuple[str, float, int]]:
    """Ports of the fullest leaf for every kind of endpoint, as ``_is_overfull`` takes them."""
    if scope.gauge is None:
        return []
    plans = zip(scope.kinds, spread.plans, strict=True)
    return [(ENDPOINT_LEAF, kind.speed_gbps, scope.gauge.leaf_ports(kind, plan)) for kind, plan in plans]


def _usable_faces(scope: Scope, switch: Switch) -> list[Face]:
    asked = scope.gauge is not None
    return [
        f for f in faces(switch, scope.protocol) if not lossy_where_lossless(switch, scope.fabric, f.speed_gbps, asked)
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


def _endpoint_bound(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> Bound | None:
    """Least weight of all endpoint links, each at the shortest run it can have; none when one cannot be built."""
    measure = scope.measure
    total: Bound = (0, 0, 0)
    for kind, face in zip(scope.kinds, downs, strict=True):
        pair = measure.endpoint_pair(face, leaf, kind)
        for length_m, links in measure.nearest_m(kind).items():
            link = measure.book.least_per_link(pair, length_m)
            if link is None:
                return None
            total = plus(total, link, links)
    return total


@dataclass(frozen=True)
class Spread:
    """Endpoints over leaves of one model: plans and what one leaf must carry."""

    topology: Topology
    n_leaves: int
    leaves_per_group: int
    plans: tuple[Attach, ...]
    uplink_gbps: Fraction
    """Bandwidth one leaf needs upwards: every kind's downlinks over its oversubscription."""
    central_leaves: int = 0


Bound = tuple[float, float, float]


def plus(bound: Bound, weight: Sequence[float], times: float) -> Bound:
    """``bound + weight * times``, objective by objective."""
    return (bound[0] + weight[0] * times, bound[1] + weight[1] * times, bound[2] + weight[2] * times)


def enumerate_templates(scope: Scope, cutoff: Cutoff, first: Objective = Objective.COST) -> Iterator[Template]:
    """Every template of a scope within the cutoff; the caller may lower the cutoff while it runs.

    The most promising by ``first`` come first, so that a falling cutoff soon skips nearly everything.
    """
    rank = OBJECTIVES.index(first)
    if not scope.usable:
        scope.usable = {s.id: _usable_faces(scope, s) for s in scope.switches}
    if scope.leaves is None:
        scope.leaves = _leaves(scope)
    usable = scope.usable
    # One kind of leaf may be too dear for every host and still right for a few of them beside another kind.
    alone = Cutoff() if scope.spec.mixed_leaves else cutoff
    leaves: list[tuple[Bound, Leaf]] = []
    bounds: dict[int, Bound] = {}
    for number, leaf in enumerate(scope.leaves):
        if number not in scope.bases:
            scope.bases[number] = _endpoint_bound(scope, leaf.switch, leaf.downs)
        base = scope.bases[number]
        if base is not None and alone.passes(base):
            leaves.append((base, leaf))
            bounds[id(leaf)] = plus(base, scope.measure.bound_weight(leaf.switch), leaf.fewest)
    leaves.sort(key=lambda item: bounds[id(item[1])][rank])
    for base, leaf in leaves:
        yield from _one_tier(scope, cutoff, leaf.switch, leaf.downs, base)
    if scope.spec.max_tiers < 2:
        return
    tiers: list[Tiers] = []
    if rank not in scope.above:
        scope.above[rank] = _above(scope, rank)
    above = scope.above[rank]
    for base, leaf in leaves:
        if scope.out_of_time():
            return
        if not alone.passes(bounds[id(leaf)]):
            continue
        over = sorted(_tiers(scope, cutoff, alone, leaf, base, above, rank), key=lambda t: t.start[rank])
        for t in over:
            if cutoff.passes(t.start):
                yield from t.two()
        tiers += over
    if scope.spec.mixed_leaves:
        from gpunet.solver.mixed import mixed_templates

        yield from mixed_templates(scope, cutoff, tiers)
    if scope.spec.max_tiers < 3:
        return
    tiers = [t for t in tiers if cutoff.passes(t.deep_start)]
    if not tiers:
        return
    for t in tiers:
        t.cores = plus((0.0, 0.0, 0.0), _least_per_core_gbps(scope, usable, t.spine), t.joint.core_gbps)
        t.deep_start = plus(t.deep_start, t.cores, 1)
    tiers.sort(key=lambda t: t.deep_start[rank])
    for t in tiers:
        if scope.out_of_time():
            return
        if cutoff.passes(t.deep_start):
            yield from t.three(usable, rank)


def _leaves(scope: Scope) -> list[Leaf]:
    """Every leaf model with every choice of down faces."""
    return [
        Leaf(scope, switch, downs)
        for switch in scope.switches
        if scope.leaf_models is None or switch.id in scope.leaf_models
        for downs in itertools.product(*(_down_faces(scope, switch, scope.usable[switch.id], k) for k in scope.kinds))
    ]


def _uplink_gbps(scope: Scope) -> Fraction:
    """Bandwidth that all leaves together need upwards, Gb/s."""
    return _needed_gbps(
        tuple((k.future_cages * k.ports_per_cage, k.speed_gbps, k.oversubscription) for k in scope.kinds)
    )


@cache
def _needed_gbps(kinds: tuple[tuple[int, float, Fraction], ...]) -> Fraction:
    return sum((ports * Fraction(gbps) / oversubscription for ports, gbps, oversubscription in kinds), Fraction(0))


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
            (_fewest_leaves(scope, self, up, math.ceil(_uplink_gbps(scope) / Fraction(up.speed_gbps))) for up in ups),
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
        spread = _spread(scope, downs, Topology.RAIL_OPTIMIZED, groups * per_group, per_group, plan)
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
        spread = _spread(scope, downs, Topology.LEAF_SPINE, n, 1, plan)
        if fits(leaf, down_uses(scope, downs, spread)):
            yield spread


def _management_spreads(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> Iterator[Spread]:
    """Management leaves are filled one after the other; how many there are is given with the scope."""
    n = scope.row_leaves + scope.central_leaves
    if fits(leaf, [(downs[0], downs[0].cages)]):
        plan = Attach(0, 0, downs[0].cages * downs[0].ports, downs[0].ports)
        spread = _spread(scope, downs, Topology.LEAF_SPINE, n, 1, plan)
        yield dataclasses.replace(spread, central_leaves=scope.central_leaves)


def _spread(
    scope: Scope, downs: Sequence[Face], topology: Topology, n_leaves: int, per_group: int, first: Attach
) -> Spread:
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


def accept(scope: Scope, t: Template) -> Template | None:
    """Fill a template's facts; none when the room or a limit of the fabric refuses it."""
    scope.measure.fill(t)
    spec, room = scope.spec, scope.measure.room
    if t.facts.top_units > room.free_units or t.facts.top_mw > room.free_mw:
        scope.refuse("site.rack")
        return None
    if spec.latency_ns is not None and (t.facts.latency_ns is None or t.facts.latency_ns > spec.latency_ns):
        scope.refuse("latency_ns")
        return None
    refusal = None if scope.gauge is None else scope.gauge.refusal(scope.measure, t)
    if refusal is not None:
        scope.refuse(refusal)
        return None
    for objective in OBJECTIVES:
        least = scope.measure.least(t, objective)
        if least is None:
            scope.refuse("interconnect")
            return None
        t.facts.least[objective] = least
    scope.yielded += 1
    return t


def bare(
    scope: Scope,
    leaf: Switch,
    downs: Sequence[Face],
    spread: Spread,
    spine: Upper | None = None,
    core: Upper | None = None,
    leaves_per_pod: int = 0,
) -> Template:
    """A template before anything about it is computed."""
    return Template(
        fabric=scope.fabric,
        protocol=scope.protocol,
        topology=spread.topology,
        striping=scope.spec.striping,
        kinds=scope.kinds,
        leaf=leaf,
        n_leaves=spread.n_leaves,
        leaves_per_group=spread.leaves_per_group,
        downs=tuple(downs),
        plans=spread.plans,
        spine=spine,
        core=core,
        leaves_per_pod=leaves_per_pod or spread.n_leaves,
        carries_storage=scope.carries_storage,
        central_leaves=spread.central_leaves,
        management=scope.management,
    )


def _refined(scope: Scope, t: Template, base: Bound) -> Bound:
    """A lower bound with the exact switches and every uplink at its own length: cheap, and close to the truth."""
    measure = scope.measure
    bound = plus(base, measure.bound_weight(t.leaf), t.n_leaves)
    if t.spine is not None:
        bound = plus(bound, measure.bound_weight(t.spine.switch), t.n_spines)
        pair = measure.pair((t.spine.lower_face, t.leaf), (t.spine.face, t.spine.switch))
        for length_m, leaves in measure.leaf_spread_m(t).items():
            link = measure.book.least_per_link(pair, length_m)
            if link is None:
                return (math.inf, math.inf, math.inf)
            bound = plus(bound, link, leaves * t.spine.links_per_lower)
    if t.core is not None and t.spine is not None:
        bound = plus(bound, measure.bound_weight(t.core.switch), t.n_cores)
        pair = measure.pair((t.core.lower_face, t.spine.switch), (t.core.face, t.core.switch))
        link = _least(measure, pair, SPINE_CORE)
        if link is not None:
            bound = plus(bound, link, t.n_spines * t.core.links_per_lower)
    return bound


def _template(
    scope: Scope,
    cutoff: Cutoff,
    base: Bound,
    leaf: Switch,
    downs: Sequence[Face],
    spread: Spread,
    spine: Upper | None = None,
    core: Upper | None = None,
    leaves_per_pod: int = 0,
) -> Template | None:
    """A template with its facts, or none when the cutoff, the room or a limit of the fabric refuses it."""
    t = bare(scope, leaf, downs, spread, spine, core, leaves_per_pod)
    spec = scope.spec
    if spec.max_hops is not None and 2 * t.tiers - 1 > spec.max_hops:
        scope.refuse("max_hops")
        return None
    if not cutoff.passes(_refined(scope, t, base), t.n_leaves, t.n_spines + t.n_cores):
        return None
    return accept(scope, t)


def _one_tier(scope: Scope, cutoff: Cutoff, leaf: Switch, downs: Sequence[Face], base: Bound) -> Iterator[Template]:
    if scope.management and (scope.row_leaves, scope.central_leaves) != (1, 0):
        return
    if scope.spec.min_leaves > 1 or not cutoff.passes(plus(base, scope.measure.bound_weight(leaf), 1), 1):
        return
    topology = scope.topologies[0] if scope.kinds[0].rail else Topology.LEAF_SPINE
    kind = scope.kinds[0]
    cages = downs[0].cages if scope.management else kind.future_cages
    # A single leaf serves every rail: its endpoints are counted one by one, part-filled hosts as they are.
    plan = Attach(0, 0, cages, downs[0].ports)
    spread = _spread(scope, downs, topology, 1, 1, plan)
    if fits(leaf, down_uses(scope, downs, spread)):
        found = _template(scope, cutoff, base, leaf, downs, spread)
        if found is not None:
            yield found


class Joint(NamedTuple):
    """What follows from a leaf face under a spine face, whatever the prices."""

    pair: int
    """Number of the pair of cages."""
    deep_spines: int
    """Fewest spines when half their bandwidth goes on to cores."""
    core_gbps: float
    """Least bandwidth from spines to cores, Gb/s."""


class Above(NamedTuple):
    """A spine model, run with one face down."""

    weight: Bound
    """Least weight of one switch."""
    spine: Switch
    face: Face


def _above(scope: Scope, rank: int) -> dict[float, list[Above]]:
    """Every spine model and face by the speed of its links, lightest first."""
    found: dict[float, list[Above]] = {}
    for spine in scope.switches:
        weight = scope.measure.bound_weight(spine)
        for face in scope.usable[spine.id]:
            found.setdefault(face.speed_gbps, []).append(Above(weight, spine, face))
    for above in found.values():
        above.sort(key=lambda x: x.weight[rank])
    return found


def _tiers(
    scope: Scope, cutoff: Cutoff, alone: Cutoff, leaf: Leaf, base: Bound, above: dict[float, list[Above]], rank: int
) -> Iterator[Tiers]:
    """Every spine model and face that could stand over a leaf, with lower bounds, all within the cutoff ``alone``."""
    measure, spec = scope.measure, scope.spec
    fastest = max(k.speed_gbps for k in scope.kinds)
    leaf_weight = measure.bound_weight(leaf.switch)
    least_gbps = _uplink_gbps(scope)
    sigma = max(k.oversubscription for k in scope.kinds)
    for up in scope.usable[leaf.switch.id]:
        if up.speed_gbps < fastest:
            continue
        uplinks = math.ceil(least_gbps / Fraction(up.speed_gbps))
        fewest = max(spec.min_leaves, 2, _fewest_leaves(scope, leaf, up, uplinks))
        if scope.management:
            fewest = scope.row_leaves + scope.central_leaves
        start = plus(base, leaf_weight, fewest)
        if not alone.passes(start):
            continue
        most = alone.most[OBJECTIVES[rank]]
        for spine_weight, spine, face in above.get(up.speed_gbps, ()):
            if start[rank] + spine_weight[rank] * spec.min_spines > most:
                # Every spine after this one weighs as much or more.
                break
            if _too_slow(scope, [leaf.switch, spine, leaf.switch], [LEAF_SPINE]):
                continue
            spines = max(spec.min_spines, -(-uplinks // (face.cages * face.ports)))
            bound = plus(start, spine_weight, spines)
            if not alone.passes(bound):
                continue
            joint = leaf.joint(up, spine, face, uplinks, sigma)
            link = None if joint is None else measure.book.least_per_link(joint.pair, measure.shortest_m[LEAF_SPINE])
            if joint is None or link is None:
                scope.refuse("interconnect")
                continue
            bound = plus(bound, link, uplinks)
            if alone.passes(bound):
                deep = plus(bound, spine_weight, max(0, joint.deep_spines - spines))
                yield Tiers(scope, cutoff, leaf, up, spine, face, base, link, uplinks, joint, bound, deep)


def _too_slow(scope: Scope, passed: Sequence[Switch], link_classes: Sequence[str]) -> bool:
    """True when these switches and the shortest fibre between them already break the latency limit.

    A switch without a published latency cannot be shown to keep it.
    """
    limit = scope.spec.latency_ns
    if limit is None:
        return False
    metres = 2 * sum(scope.measure.shortest_m[link_class] for link_class in link_classes)
    known = [s.latency_ns.v for s in passed if s.latency_ns is not None]
    if len(known) == len(passed) and sum(known) + metres * FIBRE_NS_PER_M <= limit:
        return False
    scope.refuse("latency_ns")
    return True


def _least_per_core_gbps(scope: Scope, usable: dict[str, list[Face]], spine: Switch) -> Bound:
    """What one Gb/s from a spine to the cores weighs at least: the best core and link for one of its faces."""
    if spine.id not in scope.core_gbps:
        measure = scope.measure
        least = [math.inf] * len(OBJECTIVES)
        for up in usable[spine.id]:
            for core in scope.switches:
                weight = measure.bound_weight(core)
                for face in usable[core.id]:
                    if face.speed_gbps != up.speed_gbps:
                        continue
                    link = _least(measure, measure.pair((up, spine), (face, core)), SPINE_CORE)
                    if link is not None:
                        gbps = face.cages * face.ports * face.speed_gbps
                        least = [
                            min(x, w / gbps + y / face.speed_gbps) for x, w, y in zip(least, weight, link, strict=True)
                        ]
        scope.core_gbps[spine.id] = (least[0], least[1], least[2])
    return scope.core_gbps[spine.id]


def _fewest_leaves(scope: Scope, leaf: Leaf, up: Face, uplinks: int) -> int:
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


def _least(measure: Measure, pair: int, link_class: str) -> tuple[float, ...] | None:
    """Least weight of a link between two cages per objective; none when nothing joins them."""
    return measure.book.least_per_link(pair, measure.shortest_m[link_class])


def _most_ports(switch: Switch) -> float:
    limit = switch.max_logical_ports.v if switch.max_logical_ports else math.inf
    return min(limit, sum(g.count * max(m.ports for m in g.modes) for g in switch.cages if g.fabric and g.modes))


@dataclass
class Tiers:
    """One leaf model and face under one spine model and face, in two or three tiers."""

    scope: Scope
    cutoff: Cutoff
    leaf: Leaf
    up: Face
    spine: Switch
    face: Face
    base: Bound
    link: tuple[float, ...]
    uplinks: int
    """Fewest leaf uplinks that carry every endpoint."""
    joint: Joint
    start: Bound
    """Least weight in two tiers."""
    deep_start: Bound
    """Least weight in three tiers, cores not counted."""
    cores: Bound = (0.0, 0.0, 0.0)
    """Least weight of cores and their links."""

    def two(self) -> Iterator[Template]:
        """Leaf and spine."""
        scope, spec = self.scope, self.scope.spec
        ports = self.face.cages * self.face.ports
        # Counting ports, too, a spine must reach every leaf: with more leaves than ports the tiers fall apart.
        for family in self.leaf.families():
            for spread in self.leaf.spreads(family, ports):
                if spread.n_leaves < max(2, spec.min_leaves):
                    continue
                least = spread.n_leaves, spec.min_spines
                if not self.cutoff.passes(self._bound(*least, self.uplinks), *least):
                    # More leaves of this family only weigh more.
                    break
                link = self._link_at(spread)
                if not self.cutoff.passes(self._bound(*least, self.uplinks, link), *least):
                    continue
                need = math.ceil(spread.uplink_gbps / Fraction(self.up.speed_gbps))
                if need > self.leaf.most_uplinks(spread, self.up) or self._leaf_is_overfull(spread, need):
                    continue
                for upper in self._uppers(spread.n_leaves, need, spread, ports, link):
                    found = _template(scope, self.cutoff, self.base, self.leaf.switch, self.leaf.downs, spread, upper)
                    if found is not None:
                        yield found

    def __post_init__(self) -> None:
        measure = self.scope.measure
        self._leaf_weight = measure.bound_weight(self.leaf.switch)
        self._spine_weight = measure.bound_weight(self.spine)
        self._spine_ports = self.face.cages * self.face.ports
        self._links: dict[int, Bound] = {}

    def _leaf_is_overfull(self, spread: Spread, uplinks: int) -> bool:
        scope = self.scope
        up = (LEAF_SPINE, self.up.speed_gbps, uplinks)
        return _is_overfull(scope, self.leaf.switch, *_leaf_ports(scope, spread), up)

    def _link_at(self, spread: Spread) -> tuple[float, ...]:
        """Least weight of an uplink on average, every leaf at its own distance from the spines."""
        lengths, book = self.leaf.lengths(spread), self.scope.measure.book
        key = id(lengths)
        if key not in self._links:
            total: Bound = (0.0, 0.0, 0.0)
            for length_m, leaves in lengths.items():
                link = book.least_per_link(self.joint.pair, length_m)
                total = plus(total, link or (math.inf,) * len(OBJECTIVES), leaves / spread.n_leaves)
            self._links[key] = total
        return self._links[key]

    def _bound(self, leaves: int, spines: int, uplinks: int, link: Sequence[float] | None = None) -> Bound:
        """Least weight of so many leaves, spines (as the uplinks need at least) and uplinks."""
        n = max(spines, -(-uplinks // self._spine_ports))
        base, leaf, spine, link = self.base, self._leaf_weight, self._spine_weight, link or self.link
        return (
            base[0] + leaves * leaf[0] + n * spine[0] + uplinks * link[0],
            base[1] + leaves * leaf[1] + n * spine[1] + uplinks * link[1],
            base[2] + leaves * leaf[2] + n * spine[2] + uplinks * link[2],
        )

    def _deep_bound(self, leaves: int, spines: int, uplinks: int, link: Sequence[float] | None = None) -> Bound:
        """Least weight of three tiers with so many leaves, spines and uplinks."""
        return plus(self._bound(leaves, max(spines, self.joint.deep_spines), uplinks, link), self.cores, 1)

    def _uppers(
        self, n_lower: int, need: int, spread: Spread, ports: int, link: Sequence[float], pods: int = 1
    ) -> Iterator[Upper]:
        """Spine counts and multiplicities that give each of ``n_lower`` leaves ``need`` uplinks."""
        scope, spec = self.scope, self.scope.spec
        if spec.striping is Striping.PORTS:
            down = down_uses(self.scope, self.leaf.downs, spread)
            count = max(spec.min_spines, math.ceil(n_lower * need / ports))
            upper = Upper(self.spine, self.up, self.face, count, 0, need)
            if fits(self.leaf.switch, [*down, (self.up, math.ceil(need / self.up.ports))]):
                yield upper
            return
        most = ports // n_lower
        if scope.gauge is not None:
            held = scope.gauge.most_ports(scope.measure, self.spine, LEAF_SPINE, self.face.speed_gbps)
            if held < n_lower:
                scope.refuse("lossless")
            most = int(min(most, held // n_lower))
        if most < 1:
            return
        whole = max(self.up.ports, self.face.ports)
        room = self.leaf.most_uplinks(spread, self.up)
        seen: set[int] = set()
        bound = self._bound if pods == 1 else self._deep_bound
        for count in spine_counts(need, most, spec.min_spines):
            b, counts = math.ceil(need / count), (spread.n_leaves, count * pods)
            if not self.cutoff.passes(bound(*counts, self.uplinks, link), *counts):
                return
            for multiplicity in {b, math.ceil(b / whole) * whole}:
                stripe = Stripe(count, multiplicity, self.up.ports, self.face.ports)
                if multiplicity > most or multiplicity in seen or count * multiplicity > room:
                    continue
                uplinks = spread.n_leaves * count * multiplicity
                if not self.cutoff.passes(bound(*counts, uplinks, link), *counts):
                    continue
                if not self.leaf.fits_under(spread, self.up, self.spine, self.face, stripe, n_lower):
                    continue
                # With the same multiplicity, more spines are only more of everything.
                seen.add(multiplicity)
                yield Upper(self.spine, self.up, self.face, count, multiplicity, count * multiplicity)

    def three(self, usable: dict[str, list[Face]], rank: int) -> Iterator[Template]:
        """Pods of leaf and spine under planes of cores."""
        scope, spec = self.scope, self.scope.spec
        if _too_slow(scope, [self.leaf.switch, self.spine] * 2, [LEAF_SPINE, SPINE_CORE]):
            return
        ports = self.face.cages * self.face.ports
        sigma = max(k.oversubscription for k in scope.kinds)
        for family in self.leaf.families():
            for spread in self.leaf.spreads(family, 10**9):
                if scope.out_of_time():
                    return
                if spread.n_leaves < max(2, spec.min_leaves):
                    continue
                least = spread.n_leaves, self.joint.deep_spines
                if not self.cutoff.passes(self._deep_bound(*least, self.uplinks), *least):
                    break
                link = self._link_at(spread)
                if not self.cutoff.passes(self._deep_bound(*least, self.uplinks, link), *least):
                    continue
                need = math.ceil(spread.uplink_gbps / Fraction(self.up.speed_gbps))
                if need > self.leaf.most_uplinks(spread, self.up) or self._leaf_is_overfull(spread, need):
                    continue
                groups = spread.n_leaves // spread.leaves_per_group
                for groups_per_pod in range(min(groups - 1, ports // spread.leaves_per_group), 0, -1):
                    leaves = groups_per_pod * spread.leaves_per_group
                    pods = math.ceil(groups / groups_per_pod)
                    if math.ceil(groups / pods) != groups_per_pod:
                        continue
                    for upper in self._uppers(leaves, need, spread, ports, link, pods):
                        yield from self._cores(spread, leaves, pods, upper, sigma, usable, rank, link)

    def _cores(
        self,
        spread: Spread,
        leaves_per_pod: int,
        pods: int,
        upper: Upper,
        sigma: Fraction,
        usable: dict[str, list[Face]],
        rank: int,
        link: Sequence[float],
    ) -> Iterator[Template]:
        scope, spec, measure = self.scope, self.scope.spec, self.scope.measure
        strict = spec.striping is Striping.STRICT
        if strict:
            down = leaves_per_pod * upper.multiplicity
            down_cages = upper_cages(
                Stripe(upper.count, upper.multiplicity, upper.lower_face.ports, upper.face.ports), leaves_per_pod
            )
        else:
            down = math.ceil(leaves_per_pod * upper.links_per_lower / upper.count)
            down_cages = math.ceil(down / upper.face.ports)
        gbps = down * Fraction(upper.face.speed_gbps) / sigma
        n_spines = upper.count * pods
        bound = self._bound(spread.n_leaves, n_spines, spread.n_leaves * upper.links_per_lower, link)
        per_gbps = _least_per_core_gbps(scope, usable, self.spine)
        if not self.cutoff.passes(plus(bound, per_gbps, float(gbps * n_spines)), spread.n_leaves, n_spines):
            return
        for spine_up in usable[self.spine.id]:
            if spine_up.speed_gbps < upper.face.speed_gbps:
                continue
            need = math.ceil(gbps / Fraction(spine_up.speed_gbps))
            # Where only ports are counted, all leaves are spread over all spines.
            held = down if strict else math.ceil(spread.n_leaves * upper.links_per_lower / n_spines)
            below, above = (LEAF_SPINE, upper.face.speed_gbps, held), (SPINE_CORE, spine_up.speed_gbps, need)
            if _is_overfull(scope, self.spine, below, above):
                continue
            if not fits(self.spine, [(upper.face, down_cages), (spine_up, math.ceil(need / spine_up.ports))]):
                continue
            for per_port, core, face in _core_faces(scope, usable, spine_up.speed_gbps, rank):
                if bound[rank] + n_spines * need * per_port > self.cutoff.most[OBJECTIVES[rank]]:
                    break
                if _too_slow(scope, [*[self.leaf.switch, self.spine] * 2, core], [LEAF_SPINE, SPINE_CORE]):
                    continue
                ports = face.cages * face.ports
                fewest = max(spec.min_cores, math.ceil(n_spines * need / ports))
                if strict:
                    fewest = upper.count * max(spec.min_cores, math.ceil(pods * need / ports))
                with_cores = plus(bound, measure.bound_weight(core), fewest)
                if ports < pods or not self.cutoff.passes(with_cores, spread.n_leaves, n_spines + fewest):
                    continue
                across = _least(measure, measure.pair((spine_up, self.spine), (face, core)), SPINE_CORE)
                if across is None or not self.cutoff.passes(plus(with_cores, across, n_spines * need)):
                    continue
                for cores in _core_counts(scope, core, face, spine_up, pods, need, upper.count):
                    stripe = Stripe(cores.count, cores.multiplicity, spine_up.ports, face.ports)
                    up_cages = lower_cages(stripe) if strict else math.ceil(need / spine_up.ports)
                    if not fits(self.spine, [(upper.face, down_cages), (spine_up, up_cages)]):
                        continue
                    leaf = self.leaf
                    found = _template(
                        scope, self.cutoff, self.base, leaf.switch, leaf.downs, spread, upper, cores, leaves_per_pod
                    )
                    if found is not None:
                        yield found


def _core_faces(
    scope: Scope, usable: dict[str, list[Face]], speed_gbps: float, rank: int
) -> list[tuple[float, Switch, Face]]:
    """Core models and faces at one speed with their weight per port, thriftiest first."""
    key = (speed_gbps, rank)
    if key not in scope.core_faces:
        found = [
            (scope.measure.bound_weight(s)[rank] / (f.cages * f.ports), s, f)
            for s in scope.switches
            for f in usable[s.id]
            if f.speed_gbps == speed_gbps
        ]
        scope.core_faces[key] = sorted(found, key=lambda x: x[0])
    return scope.core_faces[key]


def spine_counts(need: int, most: int, fewest: int) -> Iterator[int]:
    """For every multiplicity up to ``most``, the fewest upper switches that give ``need`` links, in rising order.

    With one multiplicity, more switches are only more of everything.
    """
    count = max(fewest, math.ceil(need / most))
    while True:
        yield count
        b = math.ceil(need / count)
        if b <= 1:
            return
        count = max(count + 1, math.ceil(need / (b - 1)))


def _core_counts(
    scope: Scope, core: Switch, face: Face, spine_up: Face, pods: int, need: int, planes: int
) -> Iterator[Upper]:
    """Cores of one plane; by ports only, the cores of all planes together."""
    spec = scope.spec
    ports = face.cages * face.ports
    if spec.striping is Striping.PORTS:
        total = max(spec.min_cores, math.ceil(pods * planes * need / ports))
        yield Upper(core, spine_up, face, total, 0, need)
        return
    most = ports // pods
    if scope.gauge is not None:
        held = scope.gauge.most_ports(scope.measure, core, SPINE_CORE, face.speed_gbps)
        if held < pods:
            scope.refuse("lossless")
        most = int(min(most, held // pods))
    if most < 1:
        return
    whole = max(spine_up.ports, face.ports)
    seen: set[int] = set()
    for count in spine_counts(need, most, spec.min_cores):
        b = math.ceil(need / count)
        for multiplicity in sorted({b, math.ceil(b / whole) * whole}):
            stripe = Stripe(count, multiplicity, spine_up.ports, face.ports)
            if multiplicity > most or multiplicity in seen or upper_cages(stripe, pods) > face.cages:
                continue
            if not fits(core, [(face, upper_cages(stripe, pods))]):
                continue
            seen.add(multiplicity)
            yield Upper(core, spine_up, face, count, multiplicity, count * multiplicity)
