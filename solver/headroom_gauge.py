"""Judges templates by their flow control headroom, while they are enumerated.

A template is judged with every link as long as the longest piece that any way of building it would take, and with the
ports kept for growth in use; so whatever the program then chooses fits.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpunet.models.case import Case, FabricName
from gpunet.models.lossless import Lossless, UnknownBuffers
from gpunet.models.parts import Protocol, Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.headroom import buffer_bytes, exact, pool_load, port_bytes, rules_for, uppers
from gpunet.solver.wiring import Attach, Block, attach, leaf_cages

if TYPE_CHECKING:
    from gpunet.solver.template import Measure, Template, Upper

LEAF_SPINE, SPINE_CORE = "leaf-spine", "spine-core"
Ports = tuple[str, float, int]
"""Class of links, Gb/s of a port, and how many ports."""
Cages = list[int]
"""Headroom of each cage of one switch that is in use, bytes."""


def gauge_for(case: Case, fabric: FabricName, protocol: Protocol, carries_storage: bool = False) -> Gauge | None:
    """The judge of a fabric's templates; none where the case asks for no headroom."""
    rules = rules_for(case, fabric, protocol, carries_storage)
    return Gauge(rules) if rules else None


@dataclass
class Gauge:
    """Judges the templates of one fabric by the rules of one case; what many templates share is kept."""

    rules: tuple[Lossless, ...]
    """What the fabric asks for, and what storage asks for that it carries: every port obeys them all."""
    _ports: dict[tuple[float, float], int] = field(default_factory=dict)
    _rooms: dict[str, int | None] = field(default_factory=dict)
    _least: dict[tuple[str, float], int] = field(default_factory=dict)
    _leaf_ports: dict[tuple[int, Attach], int] = field(default_factory=dict)
    _most: dict[tuple[object, ...], int] = field(default_factory=dict)
    _down: dict[tuple[object, ...], dict[int, Cages]] = field(default_factory=dict)
    _stripes: dict[tuple[object, ...], tuple[dict[int, Cages], dict[int, Cages]]] = field(default_factory=dict)
    _later: dict[int, tuple[Endpoints, Endpoints]] = field(default_factory=dict)

    def port(self, speed_gbps: float, length_m: float) -> int:
        """Headroom of one port, bytes."""
        key = (speed_gbps, length_m)
        if key not in self._ports:
            self._ports[key] = max(port_bytes(rule, speed_gbps, length_m) for rule in self.rules)
        return self._ports[key]

    def room(self, switch: Switch) -> int | None:
        """Headroom that one pool of a switch may hold, bytes; none where the buffer is not known."""
        if switch.id not in self._rooms:
            whole, share = buffer_bytes(switch), min(exact(rule.buffer_share) for rule in self.rules)
            self._rooms[switch.id] = None if whole is None else math.floor(whole * share / switch.buffer_pools)
        return self._rooms[switch.id]

    def refuses(self, switch: Switch) -> bool:
        """Whether a switch is out because nobody knows its buffer."""
        return switch.buffer_mb is None and any(r.unknown_buffers is UnknownBuffers.REFUSE for r in self.rules)

    def is_beyond(self, measure: Measure, switch: Switch, ports: Iterable[Ports]) -> bool:
        """Whether so many ports of a switch are too many even with every link as short as the room allows.

        Quick, and true only of what ``refusal`` refuses too: designs need not be counted out to see it.
        """
        room = self.room(switch)
        return room is not None and room * switch.buffer_pools < sum(
            self._shortest(measure, link_class, speed) * n for link_class, speed, n in ports
        )

    def most_ports(self, measure: Measure, switch: Switch, link_class: str, speed_gbps: float) -> float:
        """Ports of one kind that a switch can have at most with every link as short as the room allows."""
        room = self.room(switch)
        if room is None:
            return math.inf
        return room * switch.buffer_pools // self._shortest(measure, link_class, speed_gbps)

    def _shortest(self, measure: Measure, link_class: str, speed_gbps: float) -> int:
        key = (link_class, speed_gbps)
        if key not in self._least:
            self._least[key] = self.port(speed_gbps, measure.shortest_m[link_class])
        return self._least[key]

    def leaf_ports(self, kind: Endpoints, plan: Attach) -> int:
        """Ports that the first leaf has for a kind of endpoint, growth included; no leaf needs to have more."""
        key = (id(kind), plan)
        if key not in self._leaf_ports:
            self._filled_kind(kind)
            if plan.rails_per_leaf:
                group = kind.hosts[: plan.hosts_per_group]
                ports = sum(min(host.cages * kind.ports_per_cage, plan.rails_per_leaf) for host in group)
            else:
                ports = min(plan.cages_per_leaf, kind.future_cages) * kind.ports_per_cage
            self._leaf_ports[key] = ports
        return self._leaf_ports[key]

    def refusal(self, measure: Measure, t: Template) -> str | None:
        """The setting that refuses a template, its facts filled in; none where all its switches hold their headroom."""
        used = {s.id: s for wing in t.wings or (t,) for s in (wing.leaf, *(u.switch for u in uppers(wing)))}
        if any(self.refuses(switch) for switch in used.values()):
            return "lossless.unknown_buffers"
        for switch, least, fullest in self.tiers(measure, t):
            room = self.room(switch)
            if room is None or least <= room:
                continue
            if any(pool_load(switch, cages) > room for cages in fullest):
                return "lossless"
        return None

    def tiers(self, measure: Measure, t: Template) -> Iterator[tuple[Switch, int, Iterator[Cages]]]:
        """Each tier: its switch, a bound on the headroom of each, and the cages of each, worked out when asked for."""
        wings = t.wings or (t,)
        for wing in wings:
            yield wing.leaf, self._leaf_bound(measure, wing), self._leaves(measure, wing)
        if t.spine is not None:
            bound = sum(self._bound_down(measure, wing, wing.spine, _lower(wing)) for wing in wings)
            yield t.spine.switch, bound + self._bound_up(measure, t, t.core), self._spines(measure, t)
        if t.core is not None:
            lower = t.n_pods if t.core.multiplicity else t.n_spines
            yield t.core.switch, self._bound_down(measure, t, t.core, lower), self._cores(measure, t)

    # --- bounds: every port at the longest link of its class ----------------------------------------------------------

    def _leaf_bound(self, measure: Measure, t: Template) -> int:
        total = self._bound_up(measure, t, t.spine)
        for i, (kind, plan) in enumerate(zip(t.kinds, t.plans, strict=True)):
            total += leaf_cages(kind, plan) * plan.ports_per_leaf_cage * self._most_down(measure, t, i)
        return total

    def _most_down(self, measure: Measure, t: Template, i: int) -> int:
        key = self._down_key(measure, t, i)
        if key not in self._most:
            pair, speed = key[0], t.kinds[i].speed_gbps
            assert isinstance(pair, int)
            lengths = {_longest_m(measure, pair, block) for block in self._endpoint_blocks(measure, t, i)}
            self._most[key] = max((self.port(speed, length) for length in lengths), default=0)
        return self._most[key]

    def _bound_up(self, measure: Measure, t: Template, upper: Upper | None) -> int:
        return 0 if upper is None else upper.links_per_lower * self._most_between(measure, t, upper)

    def _bound_down(self, measure: Measure, t: Template, upper: Upper | None, n_lower: int) -> int:
        if upper is None:
            return 0
        each = upper.multiplicity
        ports = n_lower * each if each else math.ceil(n_lower * upper.links_per_lower / upper.count)
        return ports * self._most_between(measure, t, upper)

    def _most_between(self, measure: Measure, t: Template, upper: Upper) -> int:
        pair = _pair(measure, t, upper)
        link_class = SPINE_CORE if upper is t.core else LEAF_SPINE
        lengths = {
            _piece_m(measure, pair, key.step_m, key.shape)
            for key in t.facts.blocks
            if key.pair == pair and key.link_class == link_class
        }
        return max((self.port(upper.face.speed_gbps, length) for length in lengths), default=0)

    # --- cages of every switch ----------------------------------------------------------------------------------------

    def _leaves(self, measure: Measure, t: Template) -> Iterator[Cages]:
        down = [self._endpoint_cages(measure, t, i) for i in range(len(t.kinds))]
        for leaf in range(t.n_leaves):
            cages = [x for found in down for x in found.get(leaf, ())]
            if t.spine is not None:
                pod, place = divmod(leaf, t.leaves_per_pod)
                cages += self._between(measure, t, t.spine, pod)[0].get(place, ())
            yield cages

    def _spines(self, measure: Measure, t: Template) -> Iterator[Cages]:
        assert t.spine is not None
        for pod in range(t.n_pods):
            below: dict[int, Cages] = {}
            for wing in t.wings or (t,):
                assert wing.spine is not None
                for spine, cages in self._between(measure, wing, wing.spine, pod)[1].items():
                    below[spine] = below.get(spine, []) + cages
            above = [] if t.core is None else self._between(measure, t, t.core, 0)[0].get(pod, [])
            for cages in below.values():
                yield cages + above

    def _cores(self, measure: Measure, t: Template) -> Iterator[Cages]:
        assert t.core is not None
        yield from self._between(measure, t, t.core, 0)[1].values()

    def _endpoint_cages(self, measure: Measure, t: Template, i: int) -> dict[int, Cages]:
        key = self._down_key(measure, t, i)
        if key not in self._down:
            pair, kind = key[0], t.kinds[i]
            assert isinstance(pair, int)
            found: Counter[tuple[int, int]] = Counter()
            for block in self._endpoint_blocks(measure, t, i):
                each = self.port(kind.speed_gbps, _longest_m(measure, pair, block))
                for n in range(block.count):
                    for wire in block.wires(n):
                        found[wire.a, wire.a_cage] += each
            self._down[key] = _by_switch(found)
        return self._down[key]

    def _endpoint_blocks(self, measure: Measure, t: Template, i: int) -> Iterator[Block]:
        """Blocks of one kind of endpoint with every place kept for growth filled."""
        full = self._filled_kind(t.kinds[i])
        positions, per_group = measure.positions(t), 1 if t.plans[i].rails_per_leaf else t.leaves_per_group
        return attach(full, t.plans[i], lambda host, q: measure.host_to_leaf_m(host, positions[q // per_group]))

    def _filled_kind(self, kind: Endpoints) -> Endpoints:
        if id(kind) not in self._later:
            hosts = tuple(h if h.device is not None else dataclasses.replace(h, device="later") for h in kind.hosts)
            # The kind is kept so that no other can come to stand at its address.
            self._later[id(kind)] = kind, dataclasses.replace(kind, hosts=hosts)
        return self._later[id(kind)][1]

    def _down_key(self, measure: Measure, t: Template, i: int) -> tuple[object, ...]:
        pair = measure.endpoint_pair(t.downs[i], t.leaf, t.kinds[i])
        return (pair, id(t.kinds[i]), t.plans[i], id(measure.positions(t)), t.leaves_per_group)

    def _between(
        self, measure: Measure, t: Template, upper: Upper, group: int
    ) -> tuple[dict[int, Cages], dict[int, Cages]]:
        """Cages of the lower and of the upper switches of one pod or plane, by number within it."""
        pair, speed = _pair(measure, t, upper), upper.face.speed_gbps
        is_core = upper is t.core
        if not upper.multiplicity:
            return self._counted(measure, t, upper)
        if is_core:
            central = measure.room.central.name
            lengths = [measure.room.zone_to_zone_m(central, central)] * t.n_pods
        else:
            lengths = measure.leaf_lengths(t)[group * t.leaves_per_pod : (group + 1) * t.leaves_per_pod]
        places = measure.leaf_places(t)[group * t.leaves_per_pod :][: t.leaves_per_pod] if measure.bundles else ()
        key = (pair, t.stripe(upper), tuple(lengths), is_core, tuple(places))
        if key not in self._stripes:
            low: Counter[tuple[int, int]] = Counter()
            high: Counter[tuple[int, int]] = Counter()
            for block in measure.core_blocks(t) if is_core else measure.spine_blocks(t, group):
                each = self.port(speed, _longest_m(measure, pair, block))
                for n in range(block.count):
                    for wire in block.wires(n):
                        low[wire.a, wire.a_cage] += each
                        high[wire.b, wire.b_cage] += each
            self._stripes[key] = _by_switch(low), _by_switch(high)
        return self._stripes[key]

    def _counted(self, measure: Measure, t: Template, upper: Upper) -> tuple[dict[int, Cages], dict[int, Cages]]:
        """Where only ports are counted: every lower switch full, the upper ones as even as they come."""
        each = self._most_between(measure, t, upper)
        is_core = upper is t.core
        n_lower, n_upper = (t.n_spines, t.n_cores) if is_core else (t.n_leaves, t.n_spines)
        up = _filled(upper.links_per_lower, upper.lower_face.ports, each)
        down = _filled(math.ceil(n_lower * upper.links_per_lower / n_upper), upper.face.ports, each)
        lowers = range(n_lower if is_core else t.leaves_per_pod)
        return dict.fromkeys(lowers, up), {0: down}


def _lower(t: Template) -> int:
    """Leaves under one spine."""
    return min(t.leaves_per_pod, t.n_leaves)


def _pair(measure: Measure, t: Template, upper: Upper) -> int:
    below = t.leaf if upper is t.spine else t.spine.switch if t.spine is not None else t.leaf
    return measure.pair((upper.lower_face, below), (upper.face, upper.switch))


def _longest_m(measure: Measure, pair: int, block: Block) -> float:
    """The longest piece of fibre or cable that any way of building a block takes, m."""
    return _piece_m(measure, pair, measure.book.step(block.length_m), block.shape, block.length_m)


def _piece_m(measure: Measure, pair: int, step_m: float, shape: object, routed_m: float = 0.0) -> float:
    ways = measure.book.ways(pair, step_m, shape)  # type: ignore[arg-type]
    return max((way.interconnect.medium_length_m for way in ways), default=routed_m if math.isinf(step_m) else step_m)


def _by_switch(cages: Counter[tuple[int, int]]) -> dict[int, Cages]:
    found: dict[int, Cages] = {}
    for (switch, _), total in cages.items():
        found.setdefault(switch, []).append(total)
    return found


def _filled(ports: int, per_cage: int, each: int) -> Cages:
    whole, rest = divmod(ports, per_cage)
    return [per_cage * each] * whole + ([rest * each] if rest else [])
