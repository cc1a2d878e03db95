"""Two and three tiers over one leaf model: every spine and core that fits, as far as the cutoff lets it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gpunet.models.case import Striping
from gpunet.models.parts import Switch
from gpunet.solver.filled import template_within
from gpunet.solver.ports import Face, fits
from gpunet.solver.scope import OBJECTIVES, Bound, Cutoff, Scope, Spread, is_overfull, least_link, plus, too_slow
from gpunet.solver.spreads import Joint, Leaf, down_uses, fewest_leaves, leaf_ports, uplink_gbps_of
from gpunet.solver.template import LEAF_SPINE, SPINE_CORE, Template, Upper
from gpunet.solver.tray_bound import uplinks_overfill
from gpunet.solver.wiring import Stripe, lower_cages, upper_cages


class Above(NamedTuple):
    """A spine model, run with one face down."""

    weight: Bound
    """Least weight of one switch."""
    spine: Switch
    face: Face


def above_of(scope: Scope, rank: int) -> dict[float, list[Above]]:
    """Every spine model and face by the speed of its links, lightest first."""
    found: dict[float, list[Above]] = {}
    for spine in scope.switches:
        weight = scope.measure.bound_weight(spine)
        for face in scope.usable[spine.id]:
            found.setdefault(face.speed_gbps, []).append(Above(weight, spine, face))
    for above in found.values():
        above.sort(key=lambda x: x.weight[rank])
    return found


def tiers_over(
    scope: Scope, cutoff: Cutoff, alone: Cutoff, leaf: Leaf, base: Bound, above: dict[float, list[Above]], rank: int
) -> Iterator[Tiers]:
    """Every spine model and face that could stand over a leaf, with lower bounds, all within the cutoff ``alone``."""
    measure, spec = scope.measure, scope.spec
    fastest = max(k.speed_gbps for k in scope.kinds)
    leaf_weight = measure.bound_weight(leaf.switch)
    least_gbps = uplink_gbps_of(scope)
    sigma = max(k.oversubscription for k in scope.kinds)
    for up in scope.usable[leaf.switch.id]:
        if up.speed_gbps < fastest:
            continue
        uplinks = math.ceil(least_gbps / Fraction(up.speed_gbps))
        fewest = max(spec.min_leaves, 2, fewest_leaves(scope, leaf, up, uplinks))
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
            if too_slow(scope, [leaf.switch, spine, leaf.switch], [LEAF_SPINE]):
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
            if alone.passes(bound) and not uplinks_overfill(scope, joint.pair, uplinks):
                deep = plus(bound, spine_weight, max(0, joint.deep_spines - spines))
                yield Tiers(scope, cutoff, leaf, up, spine, face, base, link, uplinks, joint, bound, deep)


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
                    found = template_within(
                        scope, self.cutoff, self.base, self.leaf.switch, self.leaf.downs, spread, upper
                    )
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
        return is_overfull(scope, self.leaf.switch, *leaf_ports(scope, spread), up)

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
        if too_slow(scope, [self.leaf.switch, self.spine] * 2, [LEAF_SPINE, SPINE_CORE]):
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
        per_gbps = least_per_core_gbps(scope, usable, self.spine)
        if not self.cutoff.passes(plus(bound, per_gbps, float(gbps * n_spines)), spread.n_leaves, n_spines):
            return
        for spine_up in usable[self.spine.id]:
            if spine_up.speed_gbps < upper.face.speed_gbps:
                continue
            need = math.ceil(gbps / Fraction(spine_up.speed_gbps))
            # Where only ports are counted, all leaves are spread over all spines.
            held = down if strict else math.ceil(spread.n_leaves * upper.links_per_lower / n_spines)
            below, above = (LEAF_SPINE, upper.face.speed_gbps, held), (SPINE_CORE, spine_up.speed_gbps, need)
            if is_overfull(scope, self.spine, below, above):
                continue
            if not fits(self.spine, [(upper.face, down_cages), (spine_up, math.ceil(need / spine_up.ports))]):
                continue
            for per_port, core, face in _core_faces(scope, usable, spine_up.speed_gbps, rank):
                if bound[rank] + n_spines * need * per_port > self.cutoff.most[OBJECTIVES[rank]]:
                    break
                if too_slow(scope, [*[self.leaf.switch, self.spine] * 2, core], [LEAF_SPINE, SPINE_CORE]):
                    continue
                ports = face.cages * face.ports
                fewest = max(spec.min_cores, math.ceil(n_spines * need / ports))
                if strict:
                    fewest = upper.count * max(spec.min_cores, math.ceil(pods * need / ports))
                with_cores = plus(bound, measure.bound_weight(core), fewest)
                if ports < pods or not self.cutoff.passes(with_cores, spread.n_leaves, n_spines + fewest):
                    continue
                across = least_link(measure, measure.pair((spine_up, self.spine), (face, core)), SPINE_CORE)
                if across is None or not self.cutoff.passes(plus(with_cores, across, n_spines * need)):
                    continue
                for cores in _core_counts(scope, core, face, spine_up, pods, need, upper.count):
                    stripe = Stripe(cores.count, cores.multiplicity, spine_up.ports, face.ports)
                    up_cages = lower_cages(stripe) if strict else math.ceil(need / spine_up.ports)
                    if not fits(self.spine, [(upper.face, down_cages), (spine_up, up_cages)]):
                        continue
                    leaf = self.leaf
                    found = template_within(
                        scope, self.cutoff, self.base, leaf.switch, leaf.downs, spread, upper, cores, leaves_per_pod
                    )
                    if found is not None:
                        yield found


def least_per_core_gbps(scope: Scope, usable: dict[str, list[Face]], spine: Switch) -> Bound:
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
                    link = least_link(measure, measure.pair((up, spine), (face, core)), SPINE_CORE)
                    if link is not None:
                        gbps = face.cages * face.ports * face.speed_gbps
                        least = [
                            min(x, w / gbps + y / face.speed_gbps) for x, w, y in zip(least, weight, link, strict=True)
                        ]
        scope.core_gbps[spine.id] = (least[0], least[1], least[2])
    return scope.core_gbps[spine.id]


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
