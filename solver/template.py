"""A template: one fully counted way to build a fabric. Everything inside it is an exact integer."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gpunet.models.case import FabricName, Objective, Striping, Topology
from gpunet.models.parts import Protocol, Switch
from gpunet.solver.demand import CENTRAL, Endpoints, Host
from gpunet.solver.layout import IN_RACK_M, Room
from gpunet.solver.links import LinkBook, cage_kinds
from gpunet.solver.ports import Face, Use
from gpunet.solver.prices import ZERO, PriceList, Weight
from gpunet.solver.stands import Stand, joined, stands_of
from gpunet.solver.trays import Place, Trays
from gpunet.solver.wiring import (
    Attach,
    Block,
    InTrays,
    Shape,
    Stripe,
    attach,
    leaf_cages,
    leaves_alike,
    lower_cages,
    no_trays,
    stripe_blocks,
    stripe_bundles,
    upper_cages,
)

ENDPOINT_LEAF, LEAF_SPINE, SPINE_CORE = "endpoint-leaf", "leaf-spine", "spine-core"
FIBRE_NS_PER_M = 5.0
"""Light in glass (evidence.md 4)."""


class LinkClass(NamedTuple):
    """All blocks of a fabric that price alike: same cages, length step and shape."""

    link_class: str
    pair: int
    step_m: float
    shape: Shape


class Upper(NamedTuple):
    """The tier above: which switches, how they face down, how many, and the links from each switch below."""

    switch: Switch
    lower_face: Face
    """Face of the switches below that looks up."""
    face: Face
    """Face of these switches that looks down."""
    count: int  # type: ignore[assignment]  # hides tuple.count, which nothing needs here
    """Switches of one group: spines of a pod, cores of a plane; all cores when only ports are counted."""
    multiplicity: int
    """Links from each switch below to each of these; 0 when only ports are counted."""
    links_per_lower: int
    """Uplinks of each switch below."""


@dataclass(frozen=True, eq=False)
class Template:
    """A fabric, fully counted. ``kinds[i]`` attaches by ``plans[i]`` to leaf face ``downs[i]``."""

    fabric: FabricName
    protocol: Protocol
    topology: Topology
    striping: Striping
    kinds: tuple[Endpoints, ...]
    leaf: Switch
    n_leaves: int
    leaves_per_group: int
    downs: tuple[Face, ...]
    plans: tuple[Attach, ...]
    spine: Upper | None = None
    core: Upper | None = None
    leaves_per_pod: int = 0
    """Leaves under one set of spines; all leaves in two tiers."""
    carries_storage: bool = False
    """True for a backend that also carries storage."""
    central_leaves: int = 0
    """Of the leaves, those in the central zone that serve only switches there; out-of-band only."""
    management: bool = False
    """True for out-of-band: its leaves also serve one port of every switch."""
    wings: tuple[Template, ...] = ()
    """Leaves of two kinds under the same spines: a template for each, over its own share of the hosts."""
    facts: Facts = field(default_factory=lambda: Facts(), compare=False)

    @property
    def tiers(self) -> int:
        """Switch tiers."""
        return 1 + (self.spine is not None) + (self.core is not None)

    @property
    def n_pods(self) -> int:
        """Groups of spines."""
        return math.ceil(self.n_leaves / self.leaves_per_pod) if self.spine else 0

    @property
    def n_spines(self) -> int:
        """Spines of all pods."""
        return self.spine.count * self.n_pods if self.spine else 0

    @property
    def n_cores(self) -> int:
        """Cores of all planes; there is a plane for every spine of a pod. By ports only, cores are counted together."""
        if self.core is None or self.spine is None:
            return 0
        return self.core.count * self.spine.count if self.core.multiplicity else self.core.count

    @cached_property
    def switches(self) -> dict[str, int]:
        """Switches by model."""
        found: dict[str, int] = {}
        for wing in self.wings or (self,):
            found[wing.leaf.id] = found.get(wing.leaf.id, 0) + wing.n_leaves
        for upper, count in ((self.spine, self.n_spines), (self.core, self.n_cores)):
            if upper is not None:
                found[upper.switch.id] = found.get(upper.switch.id, 0) + count
        return found

    @property
    def n_switches(self) -> int:
        """Switches of all tiers."""
        return self.n_leaves + self.n_spines + self.n_cores

    def stripe(self, upper: Upper) -> Stripe:
        """The wiring pattern below ``upper``."""
        return Stripe(upper.count, upper.multiplicity, upper.lower_face.ports, upper.face.ports)

    def leaf_uses(self) -> list[Use]:
        """Cages of one leaf: one entry per kind of endpoint, then the uplinks."""
        uses: list[Use] = [
            (face, leaf_cages(kind, plan)) for kind, plan, face in zip(self.kinds, self.plans, self.downs, strict=True)
        ]
        if self.spine is not None:
            uses.append((self.spine.lower_face, self.up_cages(self.spine)))
        return uses

    def up_cages(self, upper: Upper) -> int:
        """Uplink cages of one switch below ``upper``."""
        if upper.multiplicity:
            return lower_cages(self.stripe(upper))
        return math.ceil(upper.links_per_lower / upper.lower_face.ports)

    def down_cages(self, upper: Upper, n_lower: int) -> int:
        """Downlink cages of one switch of ``upper`` above ``n_lower`` switches."""
        if upper.multiplicity:
            return upper_cages(self.stripe(upper), n_lower)
        return math.ceil(math.ceil(n_lower * upper.links_per_lower / upper.count) / upper.face.ports)

    def rank(self) -> tuple[object, ...]:
        """Fixed order among templates of equal worth: plainer first."""
        return (
            self.tiers,
            self.n_switches,
            len(self.switches),
            self.facts.links,
            self.topology is not Topology.RAIL_OPTIMIZED,
            self.protocol.value,
            tuple(sorted(self.switches)),
            self.n_leaves,
            self.n_spines,
            self.n_pods,
            self.plans,
            tuple((f.group.name, f.ports, f.speed_gbps, f.hot) for f in self.downs),
            tuple(
                (
                    u.count,
                    u.multiplicity,
                    u.face.speed_gbps,
                    u.face.ports,
                    u.lower_face.ports,
                    u.face.hot,
                    u.lower_face.hot,
                )
                for u in (self.spine, self.core)
                if u is not None
            ),
            tuple(wing.rank() for wing in self.wings),
            self._identity(),
        )

    def _identity(self) -> tuple[object, ...]:
        """What tells templates of equal rank apart: no two of a fabric may be taken for one another."""
        uppers = [u for u in (self.spine, self.core) if u is not None]
        return (
            self.carries_storage,
            self.central_leaves,
            self.leaves_per_group,
            self.leaf.id,
            tuple((u.switch.id, u.face.group.name, u.lower_face.group.name) for u in uppers),
        )


@dataclass
class Facts:
    """What follows from a template's counts, computed once by ``Measure``."""

    blocks: dict[LinkClass, int] = field(default_factory=dict)
    links: int = 0
    leaf_load: int = 0
    """Share of a rack that the leaves of the fullest row zone take, millionths."""
    central_load: int = 0
    """Share of a rack that all switches in the central zone take, millionths."""
    leaf_reserve: int = 0
    """Most that first-fit may leave free in a row zone, for the largest leaf there is one, millionths of a rack."""
    central_reserve: int = 0
    """Most that first-fit may leave free in the central zone, for the largest switch there, millionths of a rack."""
    top_units: int = 0
    """Rack units that leaves take on top of servers in the fullest rack."""
    top_mw: int = 0
    """Watts that leaves draw on top of servers in the fullest rack, mW."""
    row_switches: int = 0
    """Switches whose management port is served from the rows."""
    central_switches: int = 0
    """Switches whose management port is served from the central zone; 0 in a room of one row."""
    hops: int = 1
    latency_ns: float | None = None
    switch_weight: Weight = ZERO
    stands: dict[Stand, int] = field(default_factory=dict)
    """Switches by where they stand; known only where network racks have a price."""
    least: dict[Objective, int] = field(default_factory=dict)
    """Least weight per objective of the template by itself, owned parts free."""


def path_switches(t: Template) -> list[Switch]:
    """Switches on the longest path: up to the highest tier and down again."""
    passed = [t.leaf] * (1 if t.spine is None else 2)
    if t.spine is not None:
        passed += [t.spine.switch] * (1 if t.core is None else 2)
    if t.core is not None:
        passed.append(t.core.switch)
    return passed


class Position(NamedTuple):
    """Where the leaves of one group stand: a zone, or the server racks first..last (top-of-rack)."""

    zone: str | None
    first: int
    last: int


class Measure:
    """Turns counts into blocks, loads and latency, in one room. Results that many templates share are kept."""

    def __init__(self, room: Room, book: LinkBook, prices: PriceList, on_racks: bool = False) -> None:
        self.room, self.book, self.prices = room, book, prices
        self.on_racks = on_racks
        """True where leaves stand on top of the servers' racks."""
        self.bundles = book.parts.through_panels
        """True where links between switches are built in bundles, which may share trunks."""
        self.trays: Trays | None = None if room.case.site.tray is None else Trays(room)
        """Trays that hold only so much; none where the case limits none."""
        self._positions: dict[tuple[object, ...], list[Position]] = {}
        self._attached: dict[tuple[object, ...], dict[tuple[float, Shape], int]] = {}
        self._striped: dict[tuple[object, ...], dict[tuple[float, Shape], int]] = {}
        self._lengths: dict[tuple[object, ...], list[float]] = {}
        self._kinds: dict[tuple[object, ...], int] = {}
        self._weights: dict[str, Weight] = {}
        self._bound_weights: dict[str, Weight] = {}
        self._shares: dict[str, int] = {}
        self._starts: dict[int, list[int]] = {}
        self._nearest: dict[int, Counter[float]] = {}
        self._spread_m: dict[int, Counter[float]] = {}

    @cached_property
    def shortest_m(self) -> dict[str, float]:
        """The shortest run that any link of a class can have in this room, m."""
        room = self.room
        central = room.central.name
        between = room.zone_to_zone_m(central, central)
        if self.on_racks:
            up = min(room.rack_to_zone_m(rack, central) for rack in range(room.n_racks))
            return {ENDPOINT_LEAF: IN_RACK_M, LEAF_SPINE: up, SPINE_CORE: between}
        zones = [central] if room.network_places_together else [zone.name for zone in room.row_zones]
        down = min(room.rack_to_zone_m(rack, zone) for rack in range(room.n_racks) for zone in {room.leaf_zone(rack)})
        down = min(down, *(room.zone_to_zone_m(central, zone) for zone in zones))
        return {
            ENDPOINT_LEAF: down,
            LEAF_SPINE: min(room.zone_to_zone_m(zone, central) for zone in zones),
            SPINE_CORE: between,
        }

    @cached_property
    def needed_m(self) -> dict[str, float]:
        """A run that some link of a class must have in every template of this room, m.

        The first leaf stands with the first server, and every server's leaf is no nearer than its own row's zone.
        """
        room = self.room
        central = room.central.name
        between = room.zone_to_zone_m(central, central)
        if self.on_racks:
            return {ENDPOINT_LEAF: IN_RACK_M, LEAF_SPINE: room.rack_to_zone_m(0, central), SPINE_CORE: between}
        return {
            ENDPOINT_LEAF: max(
                room.rack_to_zone_m(rack, room.leaf_zone(rack)) for rack in range(max(1, room.n_server_racks))
            ),
            LEAF_SPINE: room.zone_to_zone_m(room.leaf_zone(0), central),
            SPINE_CORE: between,
        }

    def nearest_m(self, kind: Endpoints) -> Counter[float]:
        """Links of a kind by the shortest run each can have, m: no leaf is nearer than the zone of its own row."""
        found = self._nearest.get(id(kind))
        if found is None:
            room, found = self.room, Counter()
            for host in kind.hosts:
                if host.device is None:
                    continue
                if self.on_racks or host.rack == CENTRAL:
                    length = self.shortest_m[ENDPOINT_LEAF]
                else:
                    length = room.rack_to_zone_m(host.rack, room.leaf_zone(host.rack))
                found[length] += host.cages * kind.ports_per_cage
            self._nearest[id(kind)] = found
        return found

    def positions(self, t: Template) -> list[Position]:
        """Where each leaf group stands: with its first host."""
        kind, plan = t.kinds[0], t.plans[0]
        key = (
            id(kind),
            plan.rails_per_leaf,
            plan.hosts_per_group,
            plan.cages_per_leaf if not plan.rails_per_leaf else 0,
            t.n_leaves // t.leaves_per_group,
            t.central_leaves,
        )
        if key not in self._positions:
            n_groups = t.n_leaves // t.leaves_per_group - t.central_leaves
            central = Position(self.room.central.name, 0, 0)
            self._positions[key] = [self._position(kind, plan, q) for q in range(n_groups)] + [
                central
            ] * t.central_leaves
        return self._positions[key]

    def _position(self, kind: Endpoints, plan: Attach, q: int) -> Position:
        if plan.rails_per_leaf:
            first, last = q * plan.hosts_per_group, (q + 1) * plan.hosts_per_group - 1
        else:
            starts = self._first_cages(kind)
            first = bisect.bisect_right(starts, q * plan.cages_per_leaf) - 1
            last = bisect.bisect_right(starts, (q + 1) * plan.cages_per_leaf - 1) - 1
        racks = [kind.hosts[min(i, len(kind.hosts) - 1)].rack for i in (first, min(last, len(kind.hosts) - 1))]
        first_rack = self.room.n_server_racks - 1 if racks[0] == CENTRAL else racks[0]
        last_rack = first_rack if racks[1] == CENTRAL else max(first_rack, racks[1])
        if self.on_racks:
            return Position(None, first_rack, last_rack)
        return Position(self.room.leaf_zone(first_rack), first_rack, last_rack)

    def _first_cages(self, kind: Endpoints) -> list[int]:
        """Number of the first cage of every host, in host order."""
        found = self._starts.get(id(kind))
        if found is None:
            found = self._starts[id(kind)] = [0, *itertools.accumulate(h.cages for h in kind.hosts)][:-1]
        return found

    def host_to_leaf_m(self, host: Host, leaf: Position) -> float:
        """Routed length from a host to a leaf group, m."""
        room = self.room
        if leaf.zone is None:
            if host.rack == CENTRAL:
                return max(room.rack_to_zone_m(r, room.central.name) for r in range(leaf.first, leaf.last + 1))
            return room.rack_to_racks_m(host.rack, leaf.first, leaf.last)
        if host.rack == CENTRAL:
            return room.zone_to_zone_m(room.central.name, leaf.zone)
        return room.rack_to_zone_m(host.rack, leaf.zone)

    def leaf_to_central_m(self, leaf: Position) -> float:
        """Routed length from a leaf group to the central zone, m."""
        room = self.room
        if leaf.zone is None:
            return max(room.rack_to_zone_m(r, room.central.name) for r in range(leaf.first, leaf.last + 1))
        return room.zone_to_zone_m(leaf.zone, room.central.name)

    def attach_blocks(self, t: Template, i: int, first_leaves: bool = False) -> Iterator[Block]:
        """Blocks of endpoint kind ``i`` of a template; see ``attach``."""
        positions = self.positions(t)
        per_group = 1 if t.plans[i].rails_per_leaf else t.leaves_per_group

        def length_m(host: Host, q: int) -> float:
            return self.host_to_leaf_m(host, positions[q // per_group])

        def trays(hosts: Sequence[Host], q: int) -> InTrays | None:
            leaf = positions[q // per_group]
            ends: Sequence[Place] = [leaf.zone] if leaf.zone is not None else range(leaf.first, leaf.last + 1)
            central = self.room.central.name
            here = {central if host.rack == CENTRAL else host.rack for host in hosts}
            return self._passed((place, end) for place in here for end in ends)

        return attach(t.kinds[i], t.plans[i], length_m, first_leaves, trays if self.trays else no_trays)

    def _passed(self, runs: Iterator[tuple[Place, Place]], with_cords: bool = False) -> InTrays | None:
        """Trays that some run between two places passes."""
        sections = self.trays.passed(runs) if self.trays is not None else ()
        return InTrays(sections, with_cords) if sections else None

    def leaf_lengths(self, t: Template) -> list[float]:
        """Routed length of every leaf to its spines, m."""
        positions = self.positions(t)
        key = (id(positions), t.leaves_per_group)
        if key not in self._lengths:
            self._lengths[key] = [self.leaf_to_central_m(p) for p in positions for _ in range(t.leaves_per_group)]
        return self._lengths[key]

    def leaf_spread_m(self, t: Template) -> Counter[float]:
        """Leaves by their routed length to the spines, m."""
        lengths = self.leaf_lengths(t)
        if id(lengths) not in self._spread_m:
            self._spread_m[id(lengths)] = Counter(lengths)
        return self._spread_m[id(lengths)]

    def spine_blocks(self, t: Template, pod: int) -> Iterator[Block]:
        """Blocks between the leaves and the spines of one pod."""
        assert t.spine is not None
        first, last = pod * t.leaves_per_pod, (pod + 1) * t.leaves_per_pod
        places = self.leaf_places(t)[first:last] if self.bundles or self.trays else []
        return self._striped_blocks(t.stripe(t.spine), self.leaf_lengths(t)[first:last], places)

    def core_blocks(self, t: Template) -> Iterator[Block]:
        """Blocks between the spines and the cores of one plane; every plane is alike."""
        assert t.core is not None
        central = self.room.central.name
        lengths = [self.room.zone_to_zone_m(central, central)] * t.n_pods
        return self._striped_blocks(t.stripe(t.core), lengths, [central] * t.n_pods)

    def _striped_blocks(self, stripe: Stripe, lengths_m: list[float], places: Sequence[Place]) -> Iterator[Block]:
        """Blocks of a stripe, or bundles where links may run through panels together."""

        def passed(lowers: range) -> InTrays | None:
            here, central = set(places[lowers.start : lowers.stop]), self.room.central.name
            return self._passed(((place, central) for place in here), self.bundles and len(here) > 1)

        trays = passed if self.trays else no_trays
        if not self.bundles:
            return stripe_blocks(stripe, lengths_m, trays)
        at_upper = self._spread([self.room.central.name] * stripe.upper)

        def cords_of(lowers: range) -> tuple[float, float]:
            return self._spread(places[lowers.start : lowers.stop]), at_upper

        return stripe_bundles(stripe, lengths_m, cords_of, trays)

    def _spread(self, places: Sequence[Place]) -> float:
        """Farthest way between switches, one in each of these places, m."""
        if len(places) == 1:
            return IN_RACK_M
        room, different = self.room, sorted(set(places), key=str)

        def apart(p: Place, q: Place) -> float:
            if isinstance(p, str) and isinstance(q, str):
                alone = p == q and len(room.zones[p].places) == 1
                return IN_RACK_M if alone else room.zone_to_zone_m(p, q)
            if isinstance(p, int) and isinstance(q, int):
                return room.rack_to_racks_m(p, q, q)
            rack, zone = (p, q) if isinstance(p, int) else (q, p)
            return room.rack_to_zone_m(rack, zone)

        return max(apart(p, q) for p in different for q in different)

    def leaf_places(self, t: Template) -> list[Place]:
        """Zone, or number of the server rack, of every leaf."""
        found: list[Place] = []
        for p in self.positions(t):
            racks = range(p.first, p.last + 1)
            found += [racks[j % len(racks)] if p.zone is None else p.zone for j in range(t.leaves_per_group)]
        return found

    def pair(self, lower: tuple[Face, Switch], upper: tuple[Face, Switch]) -> int:
        """The pair number of two switch faces, lower tier first."""
        key = (id(lower[1]), lower[0].group.name, *lower[0][1:3], lower[0].hot)
        key2 = (id(upper[1]), upper[0].group.name, *upper[0][1:3], upper[0].hot)
        if (key, key2) not in self._kinds:
            a, b = (
                cage_kinds(face.group, face.modes, switch.protocol, face.hot, switch) for face, switch in (lower, upper)
            )
            self._kinds[key, key2] = self.book.pair(a, b)
        return self._kinds[key, key2]

    def endpoint_pair(self, face: Face, switch: Switch, kind: Endpoints) -> int:
        """The pair number of a leaf face and an endpoint cage."""
        key = (id(switch), face.group.name, *face[1:3], face.hot, id(kind))
        if key not in self._kinds:
            a = cage_kinds(face.group, face.modes, switch.protocol, face.hot, switch)
            b = cage_kinds(kind.cage, kind.modes, switch.protocol)
            self._kinds[key] = self.book.pair(a, b)
        return self._kinds[key]

    def forget(self, part: str) -> None:
        """Drop what depends on the price of a part, which has changed."""
        self._weights.pop(part, None)
        self._bound_weights.pop(part, None)

    def forget_all(self) -> None:
        """Drop everything that depends on prices, for all of them have changed."""
        self._weights.clear()
        self._bound_weights.clear()
        self.book.forget_all()

    def switch_weight(self, switch: Switch) -> Weight:
        """What one switch adds to each total."""
        found = self._weights.get(switch.id)
        if found is None:
            weight = self.prices.weight(switch.id, switch.power_chassis_max_w.milli, supported=True)
            if weight is None:
                raise ValueError(f"{switch.id} has no price")
            found = self._weights[switch.id] = weight
        return found

    def bound_weight(self, switch: Switch) -> Weight:
        """What one switch adds to each total at least: owned switches may be free."""
        found = self._bound_weights.get(switch.id)
        if found is None:
            weight = self.switch_weight(switch)
            free = self.prices.free_cents(switch.id)
            found = self._bound_weights[switch.id] = Weight(weight.cost - free, weight.power, weight.tco - free)
        return found

    def rack_share(self, switch: Switch) -> int:
        """Share of a rack one switch takes by units or watts, whichever is more, millionths, rounded up."""
        if switch.id not in self._shares:
            site = self.room.case.site
            watts = switch.power_supply_w or switch.power_chassis_max_w
            self._shares[switch.id] = max(
                math.ceil(switch.rack_units.v * 1_000_000 / site.rack.units),
                math.ceil(watts.milli * 1_000_000 / self.room.rack_mw),
            )
        return self._shares[switch.id]

    def fill(self, t: Template) -> None:
        """Compute the facts of a template."""
        facts = t.facts
        if t.wings:
            self._join(t)
            return
        for i, kind in enumerate(t.kinds):
            counted = self._count_attach(t, i)
            self._add(facts, ENDPOINT_LEAF, self.endpoint_pair(t.downs[i], t.leaf, kind), counted, 1)
        if t.spine is not None:
            pair = self.pair((t.spine.lower_face, t.leaf), (t.spine.face, t.spine.switch))
            self._add(facts, LEAF_SPINE, pair, self._count_spine(t), 1)
        if t.core is not None and t.spine is not None:
            pair = self.pair((t.core.lower_face, t.spine.switch), (t.core.face, t.core.switch))
            self._add(facts, SPINE_CORE, pair, self._count_core(t), 1)
        facts.links = sum(key.shape.links * n for key, n in facts.blocks.items())
        self._loads(t)
        self._latency(t)

    def _join(self, t: Template) -> None:
        """Facts of a template with wings: theirs together, the shared spines counted once."""
        assert t.spine is not None
        facts, again = t.facts, len(t.wings) - 1
        for wing in t.wings:
            self.fill(wing)
            for key, n in wing.facts.blocks.items():
                facts.blocks[key] = facts.blocks.get(key, 0) + n
            facts.links += wing.facts.links
            facts.leaf_load += wing.facts.leaf_load
            facts.central_load += wing.facts.central_load
            facts.leaf_reserve = max(facts.leaf_reserve, wing.facts.leaf_reserve)
            facts.central_reserve = max(facts.central_reserve, wing.facts.central_reserve)
            facts.top_units += wing.facts.top_units
            facts.top_mw += wing.facts.top_mw
            facts.row_switches += wing.facts.row_switches
            facts.switch_weight += wing.facts.switch_weight
        facts.central_load -= again * t.n_spines * self.rack_share(t.spine.switch)
        facts.switch_weight += self.switch_weight(t.spine.switch).times(-again * t.n_spines)
        if self.room.counts_network_racks:
            facts.stands = joined(self.room, t.spine.switch, t.n_spines, [wing.facts.stands for wing in t.wings])
        if t.wings[0].facts.central_switches == 0:
            facts.row_switches = t.n_switches
        facts.central_switches = t.n_switches - facts.row_switches
        facts.hops = max(wing.facts.hops for wing in t.wings)
        latencies = [wing.facts.latency_ns for wing in t.wings]
        facts.latency_ns = None if None in latencies else max(x for x in latencies if x is not None)

    def _add(
        self, facts: Facts, link_class: str, pair: int, counted: dict[tuple[float, Shape], int], times: int
    ) -> None:
        for (step, shape), n in counted.items():
            key = LinkClass(link_class, pair, step, shape)
            facts.blocks[key] = facts.blocks.get(key, 0) + n * times

    def _tally(self, blocks: Iterator[Block]) -> dict[tuple[float, Shape], int]:
        found: dict[tuple[float, Shape], int] = {}
        for block in blocks:
            key = (self.book.step(block.length_m), block.shape)
            found[key] = found.get(key, 0) + block.count
        return found

    def _count_attach(self, t: Template, i: int) -> dict[tuple[float, Shape], int]:
        key = (id(t.kinds[i]), t.plans[i], id(t.kinds[0]), t.plans[0][:3], t.leaves_per_group, t.n_leaves)
        if key not in self._attached:
            alike = leaves_alike(t.kinds[i], t.plans[i])
            found = self._tally(self.attach_blocks(t, i, first_leaves=alike > 1))
            self._attached[key] = {shape: n * alike for shape, n in found.items()}
        return self._attached[key]

    def _count_spine(self, t: Template) -> dict[tuple[float, Shape], int]:
        assert t.spine is not None
        if not t.spine.multiplicity:
            return self._uncounted(t, t.spine, t.n_leaves, t.n_spines, max(self.leaf_lengths(t)))
        key = (t.stripe(t.spine), id(t.kinds[0]), t.plans[0][:3], t.leaves_per_group, t.n_leaves, t.leaves_per_pod)
        if key not in self._striped:
            total: dict[tuple[float, Shape], int] = {}
            stripe, lengths = t.stripe(t.spine), self.leaf_lengths(t)
            places = self.leaf_places(t) if self.bundles or self.trays else [""] * len(lengths)
            # Pods whose leaves stand alike are counted once.
            leaves = list(zip(lengths, places, strict=True))
            pods = Counter(tuple(leaves[p * t.leaves_per_pod : (p + 1) * t.leaves_per_pod]) for p in range(t.n_pods))
            for pod, alike in pods.items():
                blocks = self._striped_blocks(stripe, [m for m, _ in pod], [place for _, place in pod])
                for k, n in self._tally(blocks).items():
                    total[k] = total.get(k, 0) + n * alike
            self._striped[key] = total
        return self._striped[key]

    def _count_core(self, t: Template) -> dict[tuple[float, Shape], int]:
        assert t.core is not None
        assert t.spine is not None
        if not t.core.multiplicity:
            central = self.room.central.name
            return self._uncounted(t, t.core, t.n_spines, t.n_cores, self.room.zone_to_zone_m(central, central))
        return {k: n * t.spine.count for k, n in self._tally(self.core_blocks(t)).items()}

    def _uncounted(
        self, t: Template, upper: Upper, n_lower: int, n_upper: int, length_m: float
    ) -> dict[tuple[float, Shape], int]:
        """One block for a whole tier whose links are only counted (striping by ports)."""
        return {(self.book.step(length_m), self.counted_shape(t, upper, n_lower, n_upper)): 1} if t.spine else {}

    def counted_shape(self, t: Template, upper: Upper, n_lower: int, n_upper: int) -> Shape:
        """Shape of a whole tier whose links are only counted."""
        shape, central = ports_shape(upper, n_lower, n_upper), self.room.central.name
        if self.trays is None or upper is not t.spine:
            return shape
        return shape._replace(trays=self._passed((place, central) for place in set(self.leaf_places(t))))

    def _loads(self, t: Template) -> None:
        share = self.rack_share(t.leaf)
        per_zone: dict[str | None, int] = {}
        for p in self.positions(t):
            per_zone[p.zone] = per_zone.get(p.zone, 0) + t.leaves_per_group * share
        self._on_top(t)
        if self.room.counts_network_racks:
            t.facts.stands = stands_of(self.room, t, self.positions(t))
        central = self.room.central.name
        t.facts.central_load = per_zone.pop(central, 0)
        one_pool = self.room.rows == 1 or self.room.network_places_together
        in_rows = sum(1 for p in self.positions(t) if p.zone != central) * t.leaves_per_group
        t.facts.row_switches = t.n_switches if one_pool else in_rows
        t.facts.central_switches = t.n_switches - t.facts.row_switches
        t.facts.leaf_load = max((n for zone, n in per_zone.items() if zone is not None), default=0)
        if t.management:
            # A lone management leaf cannot manage itself. Leaves follow their ports, so a row may get one more.
            t.facts.row_switches -= t.n_leaves - t.central_leaves == 1
            t.facts.central_switches -= t.central_leaves == 1
            if not one_pool and t.facts.leaf_load < in_rows * share:
                t.facts.leaf_load += share
        in_rows, in_middle = share if t.facts.leaf_load else 0, share if t.facts.central_load else 0
        for upper, count in ((t.spine, t.n_spines), (t.core, t.n_cores)):
            if upper is not None:
                t.facts.central_load += count * self.rack_share(upper.switch)
                in_middle = max(in_middle, self.rack_share(upper.switch))
        t.facts.leaf_reserve = (self.room.leaf_width - 1) * in_rows
        t.facts.central_reserve = (self.room.central_width - 1) * in_middle
        t.facts.switch_weight = sum(
            (
                self.switch_weight(s).times(n)
                for s, n in (
                    (t.leaf, t.n_leaves),
                    *((u.switch, n) for u, n in ((t.spine, t.n_spines), (t.core, t.n_cores)) if u is not None),
                )
            ),
            ZERO,
        )

    def _on_top(self, t: Template) -> None:
        per_rack: dict[int, int] = {}
        for p in self.positions(t):
            if p.zone is None:
                for j in range(t.leaves_per_group):
                    rack = p.first + j % (p.last - p.first + 1)
                    per_rack[rack] = per_rack.get(rack, 0) + 1
        most = max(per_rack.values(), default=0)
        watts = t.leaf.power_supply_w or t.leaf.power_chassis_max_w
        t.facts.top_units = most * math.ceil(t.leaf.rack_units.v)
        t.facts.top_mw = most * watts.milli

    def _latency(self, t: Template) -> None:
        t.facts.hops = 2 * t.tiers - 1
        passed = path_switches(t)
        if all(s.latency_ns is not None for s in passed):
            metres = 2 * (self._longest_m(t, LEAF_SPINE) + self._longest_m(t, SPINE_CORE))
            t.facts.latency_ns = sum(s.latency_ns.v for s in passed if s.latency_ns) + metres * FIBRE_NS_PER_M

    def _longest_m(self, t: Template, link_class: str) -> float:
        """The longest piece of fibre or cable that any way would use in a class, m; 0 where the class is empty."""
        return max(
            (
                way.interconnect.medium_length_m
                for key in t.facts.blocks
                if key.link_class == link_class
                for way in self.book.ways(key.pair, key.step_m, key.shape)
            ),
            default=0.0,
        )

    def least(self, t: Template, objective: Objective) -> int | None:
        """Least weight of a template by itself, each link class built its best way, owned parts free.

        None when a link class cannot be built.
        """
        total = t.facts.switch_weight.of(objective)
        if objective is not Objective.POWER:
            total -= sum(self.prices.free_cents(part) * n for part, n in t.switches.items())
        for key, n in t.facts.blocks.items():
            best = self.book.best(key.pair, key.step_m, key.shape, objective)
            if best is None:
                return None
            total += best * n
        return total


def ports_shape(upper: Upper, n_lower: int, n_upper: int) -> Shape:
    """Shape of a tier wired round-robin: every lower switch full, upper switches as even as they come."""
    links = n_lower * upper.links_per_lower
    full, more = divmod(links, n_upper)

    def cages(per_switch: int, per_cage: int) -> tuple[int, ...]:
        whole, rest = divmod(per_switch, per_cage)
        return (per_cage,) * whole + ((rest,) if rest else ())

    b_fill = cages(full + 1, upper.face.ports) * more + cages(full, upper.face.ports) * (n_upper - more)
    return Shape(cages(upper.links_per_lower, upper.lower_face.ports) * n_lower, b_fill, False, False)
