"""Two and three tiers over one leaf model: every spine and core that fits, as far as the cutoff lets it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gpunet.models.case import Striping
from gpunet.models.parts import Switch
from gpunet.solver.cores import CorePort, core_counts, cores_over, spine_counts
from gpunet.solver.filled import template_within
from gpunet.solver.ports import Face, fits
from gpunet.solver.scope import (
    OBJECTIVES,
    ROUNDING,
    Affected,
    Bound,
    Cutoff,
    Scope,
    Spread,
    is_overfull,
    plus,
    too_slow,
)
from gpunet.solver.spreads import Joint, Leaf, down_uses, fewest_leaves, leaf_ports, uplink_gbps_of
from gpunet.solver.template import LEAF_SPINE, SPINE_CORE, Template, Upper
from gpunet.solver.tray_bound import uplinks_overfill
from gpunet.solver.wiring import Stripe, lower_cages, upper_cages


class Above(NamedTuple):
    """A spine model, run with one face down."""

    per_port: float
    """Least weight of the spine by the port, on one objective."""
    weight: Bound
    """Least weight of one switch."""
    spine: Switch
    face: Face


def above_of(scope: Scope, rank: int) -> dict[float, list[Above]]:
    """Every spine model and face by the speed of its links, thriftiest by the port first."""
    found: dict[float, list[Above]] = {}
    for spine in scope.switches:
        weight = scope.measure.bound_weight(spine)
        for face in scope.usable[spine.id]:
            per_port = weight[rank] / (face.cages * face.ports)
            found.setdefault(face.speed_gbps, []).append(Above(per_port, weight, spine, face))
    for above in found.values():
        above.sort(key=lambda x: x.per_port)
    return found


def tiers_over(
    scope: Scope, cutoff: Cutoff, alone: Cutoff, leaf: Leaf, base: Bound, above: dict[float, list[Above]], rank: int
) -> Iterator[Tiers]:
    """Every spine model and face that could stand over a leaf, with lower bounds, all within the cutoff ``alone``.

    Only affected ones where a scope has the others already.
    """
    measure, spec = scope.measure, scope.spec
    only = None if scope.standing is None or scope.only is None or scope.only.leaf(leaf) else scope.only
    is_switch = only is not None and only.base in scope.usable
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
        for per_port, spine_weight, spine, face in above.get(up.speed_gbps, ()):
            if is_switch and only is not None and spine.id != only.base:
                continue
            if start[rank] + per_port * uplinks > most + ROUNDING:
                # Every spine after this one takes as much or more for the uplinks.
                break
            if too_slow(scope, [leaf.switch, spine, leaf.switch], [LEAF_SPINE]):
                continue
            spines = max(spec.min_spines, -(-uplinks // (face.cages * face.ports)))
            bound = plus(start, spine_weight, spines)
            if not alone.passes(bound):
                continue
            joint = leaf.joint(up, spine, face, uplinks, sigma)
            if only is not None and joint is not None and not only.tier(spine, joint.pair):
                continue
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
    deep: Bound
    """Least weight in three tiers, cores not counted."""
    cores: Bound = (0.0, 0.0, 0.0)
    """Least weight of cores and their links."""

    @property
    def deep_start(self) -> Bound:
        """Least weight in three tiers."""
        return plus(self.deep, self.cores, 1)

    def within(self, scope: Scope, cutoff: Cutoff) -> Tiers:
        """The same tiers for another question, at prices that do not affect them."""
        return dataclasses.replace(self, scope=scope, cutoff=cutoff, cores=(0.0, 0.0, 0.0))

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
                need = math.ceil(spread.uplink_gbps / self._up_gbps)
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
        self._up_gbps = Fraction(self.up.speed_gbps)
        sigma = max(k.oversubscription for k in self.scope.kinds)
        self._gbps_above = Fraction(self.face.speed_gbps) / sigma
        self._links: dict[int, Bound] = {}
        self._ratios: dict[float, Fraction] = {}
        self._over: dict[tuple[int, int], list[CorePort]] = {}
        self._per_core_gbps: Bound | None = None
        self.is_affected = self.scope.only is None or self.is_touched_by(self.scope.only)

    def is_touched_by(self, only: Affected) -> bool:
        """Whether a price affects leaves, spines or the links below the spines."""
        return only.leaf(self.leaf) or only.tier(self.spine, self.joint.pair)

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

    def _links_above(self, links: int, speed_gbps: float) -> int:
        """Links to the cores that carry what comes up over so many links."""
        if speed_gbps not in self._ratios:
            self._ratios[speed_gbps] = self._gbps_above / Fraction(speed_gbps)
        ratio = self._ratios[speed_gbps]
        return -(-links * ratio.numerator // ratio.denominator)

    def _cores_over(self, usable: dict[str, list[Face]], up: int, rank: int) -> list[CorePort]:
        """Core models and faces for face number ``up`` of the spine, thriftiest first; affected ones at least."""
        if (up, rank) not in self._over:
            over, only = cores_over(self.scope, usable, self.spine, up, rank), self.scope.only
            if only is not None and not self.is_affected:
                over = [x for x in over if only.tier(x.core, x.pair)]
            self._over[up, rank] = over
        return self._over[up, rank]

    def least_per_core_gbps(self, usable: dict[str, list[Face]]) -> Bound:
        """What one Gb/s from a spine to the cores weighs at least: the best core and link for one of its faces."""
        if self._per_core_gbps is None:
            least = [math.inf] * len(OBJECTIVES)
            for up in range(len(usable[self.spine.id])):
                for rank in range(len(OBJECTIVES)):
                    for best in self._cores_over(usable, up, rank)[:1]:
                        least[rank] = min(least[rank], best.per_port / best.face.speed_gbps)
            self._per_core_gbps = (least[0], least[1], least[2])
        return self._per_core_gbps

    def three(self, usable: dict[str, list[Face]], rank: int) -> Iterator[Template]:
        """Pods of leaf and spine under planes of cores."""
        scope, spec = self.scope, self.scope.spec
        if too_slow(scope, [self.leaf.switch, self.spine] * 2, [LEAF_SPINE, SPINE_CORE]):
            return
        ports = self.face.cages * self.face.ports
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
                need = math.ceil(spread.uplink_gbps / self._up_gbps)
                if need > self.leaf.most_uplinks(spread, self.up) or self._leaf_is_overfull(spread, need):
                    continue
                groups = spread.n_leaves // spread.leaves_per_group
                for groups_per_pod in range(min(groups - 1, ports // spread.leaves_per_group), 0, -1):
                    leaves = groups_per_pod * spread.leaves_per_group
                    pods = math.ceil(groups / groups_per_pod)
                    if math.ceil(groups / pods) != groups_per_pod:
                        continue
                    for upper in self._uppers(leaves, need, spread, ports, link, pods):
                        yield from self._cores(spread, leaves, pods, upper, usable, rank, link)

    def _cores(
        self,
        spread: Spread,
        leaves_per_pod: int,
        pods: int,
        upper: Upper,
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
        n_spines = upper.count * pods
        bound = self._bound(spread.n_leaves, n_spines, spread.n_leaves * upper.links_per_lower, link)
        per_gbps = self.least_per_core_gbps(usable)
        gbps = down * float(self._gbps_above)
        if not self.cutoff.passes(plus(bound, per_gbps, gbps * n_spines), spread.n_leaves, n_spines):
            return
        for number, spine_up in enumerate(usable[self.spine.id]):
            if spine_up.speed_gbps < upper.face.speed_gbps:
                continue
            need = self._links_above(down, spine_up.speed_gbps)
            # Where only ports are counted, all leaves are spread over all spines.
            held = down if strict else math.ceil(spread.n_leaves * upper.links_per_lower / n_spines)
            below, above = (LEAF_SPINE, upper.face.speed_gbps, held), (SPINE_CORE, spine_up.speed_gbps, need)
            if is_overfull(scope, self.spine, below, above):
                continue
            if not fits(self.spine, [(upper.face, down_cages), (spine_up, math.ceil(need / spine_up.ports))]):
                continue
            for per_port, core, face, _, across in self._cores_over(usable, number, rank):
                if bound[rank] + n_spines * need * per_port > self.cutoff.most[OBJECTIVES[rank]] + ROUNDING:
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
                if not self.cutoff.passes(plus(with_cores, across, n_spines * need)):
                    continue
                for cores in core_counts(scope, core, face, spine_up, pods, need, upper.count):
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
