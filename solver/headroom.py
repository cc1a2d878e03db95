"""Flow control headroom: what every port keeps free, and whether a switch's packet buffer holds it for its ports.

A template is judged with every link as long as the longest piece that any way of building it would take, and with the
ports kept for growth in use; so whatever the program then chooses fits. The figures of a result are those of the
ledger. The formula and where it is from: docs/lossless.md.
"""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from gpunet.models.case import Case, FabricName
from gpunet.models.design import TierHeadroom
from gpunet.models.evidence import How
from gpunet.models.ledger import Ledger
from gpunet.models.lossless import Lossless, UnknownBuffers
from gpunet.models.parts import Catalog, Protocol, Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.wiring import Block, attach, leaf_cages

if TYPE_CHECKING:
    from gpunet.solver.template import Measure, Template, Upper

LEAF_SPINE, SPINE_CORE = "leaf-spine", "spine-core"
PAUSE_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
"""Quanta of 512 bit times within which IEEE 802.3, 31B.3.7, lets a port of so many Gb/s stop."""
QUANTUM_BITS = 512
PAUSE_FRAME_BYTES = 84
"""A pause frame of 64 bytes with its preamble of 8 and the gap of 12 before it."""
NS_PER_M = 5
"""Light in glass (evidence.md 4)."""
BYTES_PER_MB = 1_000_000
"""The smaller of the two meanings that vendors give a megabyte."""
Cages = list[int]
"""Headroom of each cage of one switch that is in use, bytes."""


def rules_for(
    case: Case, fabric: FabricName, protocol: Protocol, carries_storage: bool = False
) -> tuple[Lossless, ...]:
    """What the switches of a fabric must hold headroom for; nothing where the case asks for none."""
    if protocol is not Protocol.ETHERNET:
        return ()
    named = {
        FabricName.BACKEND: (case.fabrics.backend, case.fabrics.storage if carries_storage else None),
        FabricName.STORAGE: (case.fabrics.storage,),
    }
    return tuple(spec.lossless for spec in named.get(fabric, ()) if spec is not None and spec.lossless is not None)


def gauge_for(case: Case, fabric: FabricName, protocol: Protocol, carries_storage: bool = False) -> Gauge | None:
    """The judge of a fabric's templates; none where the case asks for no headroom."""
    rules = rules_for(case, fabric, protocol, carries_storage)
    return Gauge(rules) if rules else None


def reaction_ns(speed_gbps: float) -> Fraction:
    """Time a sender takes to stop at most, by IEEE 802.3, ns; of a speed not listed, that of the next slower listed."""
    listed = max((speed for speed in PAUSE_QUANTA if speed <= speed_gbps), default=min(PAUSE_QUANTA))
    return Fraction(PAUSE_QUANTA[listed] * QUANTUM_BITS, listed)


def port_bytes(rule: Lossless, speed_gbps: float, length_m: float) -> int:
    """Headroom of one port for all lossless classes, bytes, rounded up for each class."""
    response = reaction_ns(speed_gbps) if rule.response_ns is None else _exact(rule.response_ns)
    delay_ns = 2 * NS_PER_M * _exact(length_m) + response + _exact(rule.interface_ns)
    received = rule.mtu_bytes + PAUSE_FRAME_BYTES + _exact(speed_gbps) * delay_ns / 8
    return rule.classes * math.ceil(_exact(rule.cell_factor) * received + (rule.lossless_mtu_bytes or rule.mtu_bytes))


def _exact(value: float) -> Fraction:
    return Fraction(str(value))


def buffer_bytes(switch: Switch) -> int | None:
    """Packet buffer of a switch, all pools, bytes; none where it is not in the catalogue."""
    return None if switch.buffer_mb is None else math.floor(_exact(switch.buffer_mb.v) * BYTES_PER_MB)


def pool_load(switch: Switch, cages: Iterable[int]) -> int:
    """Headroom that can fall to one pool of the buffer at most, bytes.

    Which cages share a pool is not published. Pools serve equally many cages, so none can serve more than its share
    of them, and at worst those are the fullest.
    """
    if switch.buffer_pools == 1:
        return sum(cages)
    served = math.ceil(sum(group.count for group in switch.cages if group.fabric) / switch.buffer_pools)
    return sum(heapq.nlargest(served, cages))


@dataclass
class Gauge:
    """Judges the templates of one fabric by the rules of one case; what many templates share is kept."""

    rules: tuple[Lossless, ...]
    """What the fabric asks for, and what storage asks for that it carries: every port obeys them all."""
    _ports: dict[tuple[float, float], int] = field(default_factory=dict)
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
        whole = buffer_bytes(switch)
        if whole is None:
            return None
        share = min(_exact(rule.buffer_share) for rule in self.rules)
        return math.floor(whole * share / switch.buffer_pools)

    def refuses(self, switch: Switch) -> bool:
        """Whether a switch is out because nobody knows its buffer."""
        return switch.buffer_mb is None and any(r.unknown_buffers is UnknownBuffers.REFUSE for r in self.rules)

    def refusal(self, measure: Measure, t: Template) -> str | None:
        """The setting that refuses a template, its facts filled in; none where all its switches hold their headroom."""
        used = {s.id: s for wing in t.wings or (t,) for s in (wing.leaf, *(u.switch for u in _uppers(wing)))}
        if any(self.refuses(switch) for switch in used.values()):
            return "lossless.unknown_buffers"
        for switch, least, fullest in self._tiers(measure, t):
            room = self.room(switch)
            if room is None or least <= room:
                continue
            if any(pool_load(switch, cages) > room for cages in fullest):
                return "lossless"
        return None

    def _tiers(self, measure: Measure, t: Template) -> Iterator[tuple[Switch, int, Iterator[Cages]]]:
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
        kind = t.kinds[i]
        if id(kind) not in self._later:
            hosts = tuple(h if h.device is not None else dataclasses.replace(h, device="later") for h in kind.hosts)
            # The kind is kept so that no other can come to stand at its address.
            self._later[id(kind)] = kind, dataclasses.replace(kind, hosts=hosts)
        positions, per_group = measure.positions(t), 1 if t.plans[i].rails_per_leaf else t.leaves_per_group
        _, full = self._later[id(kind)]
        return attach(full, t.plans[i], lambda host, q: measure.host_to_leaf_m(host, positions[q // per_group]))

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
        key = (pair, t.stripe(upper), tuple(lengths), is_core)
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


def _uppers(t: Template) -> tuple[Upper, ...]:
    return tuple(upper for upper in (t.spine, t.core) if upper is not None)


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


# --- what the ledger says ---------------------------------------------------------------------------------------------


def headroom_of(
    ledger: Ledger, catalog: Catalog, fabric: FabricName, rules: Sequence[Lossless]
) -> tuple[TierHeadroom, ...]:
    """Headroom by tier and switch model on the switches of a fabric, each on its fullest one; empty without rules."""
    if not rules:
        return ()
    gauge = Gauge(tuple(rules))
    mine = {d.name: d for d in ledger.devices if d.kind == "switch" and d.fabric == fabric.value}
    carrying = {
        part: {g.name for g in catalog.switches[part].cages if g.fabric} for part in {d.part for d in mine.values()}
    }
    ports: dict[str, list[tuple[str, int, int]]] = {name: [] for name in mine}
    for link in ledger.links:
        for device, group, cage in (
            (link.a_device, link.a_group, link.a_cage),
            (link.b_device, link.b_group, link.b_cage),
        ):
            if device in mine and group in carrying[mine[device].part]:
                ports[device].append((group, cage, gauge.port(link.speed_gbps, link.length_m)))
    fullest: dict[tuple[str, str], TierHeadroom] = {}
    for name, device in mine.items():
        switch = catalog.switches[device.part]
        line = _line(switch, device.tier, ports[name])
        key = (device.tier, device.part)
        if key not in fullest or _rank(line) > _rank(fullest[key]):
            fullest[key] = line
    return tuple(fullest.values())


def _rank(line: TierHeadroom) -> tuple[int, int]:
    return line.pool_bytes, line.total_bytes


def _line(switch: Switch, tier: str, ports: Sequence[tuple[str, int, int]]) -> TierHeadroom:
    cages: Counter[tuple[str, int]] = Counter()
    for group, cage, each in ports:
        cages[group, cage] += each
    whole, load = buffer_bytes(switch), pool_load(switch, cages.values())
    return TierHeadroom(
        tier=tier,
        switch=switch.id,
        ports=len(ports),
        least_port_bytes=min((each for *_, each in ports), default=0),
        most_port_bytes=max((each for *_, each in ports), default=0),
        total_bytes=sum(cages.values()),
        pools=switch.buffer_pools,
        pool_bytes=load,
        buffer_bytes=whole,
        share=None if whole is None else round(load * switch.buffer_pools / whole, 4),
        buffer_how="" if switch.buffer_mb is None else switch.buffer_mb.how.value,
    )


def headroom_warnings(t: Template, case: Case) -> Iterator[str]:
    """What of a template's headroom rests on less than a published figure."""
    rules = rules_for(case, t.fabric, t.protocol, t.carries_storage)
    if not rules:
        return
    where = f"{t.fabric.value}: headroom"
    leaves = [wing.leaf for wing in t.wings or (t,)]
    for switch in {s.id: s for s in (*leaves, *(upper.switch for upper in _uppers(t)))}.values():
        fact = switch.buffer_mb
        if fact is None:
            yield f"{where}: the buffer of {switch.id} is not known, so nothing is checked against it"
        elif fact.how is not How.READ:
            yield f"{where}: the buffer of {switch.id}, {fact.v:g} MB, is {fact.how.value}, not read in a document"
        if fact is not None and fact.note:
            yield f"{where}: the buffer of {switch.id}, {fact.v:g} MB: {fact.note}"
    if any(rule.response_ns is None for rule in rules):
        speeds = {kind.speed_gbps for kind in t.kinds} | {upper.face.speed_gbps for upper in _uppers(t)}
        for speed in sorted(speeds - set(PAUSE_QUANTA)):
            yield (
                f"{where}: no pause reaction time is listed for {speed:g}G; {float(reaction_ns(speed)):,.0f} ns of a "
                "slower speed is taken: give lossless.response_ns"
            )
