"""Enumerates every template of a fabric in integer arithmetic, the most promising first, cut off by a bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpunet.models.case import Objective, Topology
from gpunet.models.parts import Switch
from gpunet.solver.filled import template_within
from gpunet.solver.mixed import mixed_templates
from gpunet.solver.ports import Face, fits
from gpunet.solver.scope import OBJECTIVES, Bound, Cutoff, Scope, plus, usable_faces
from gpunet.solver.spreads import Leaf, down_uses, endpoint_bound, leaves_of, spread_of
from gpunet.solver.template import Template
from gpunet.solver.tiers import above_of, tiers_over
from gpunet.solver.wiring import Attach


def enumerate_templates(scope: Scope, cutoff: Cutoff, first: Objective = Objective.COST) -> Iterator[Template]:
    """Every template of a scope within the cutoff; the caller may lower the cutoff while it runs.

    The most promising by ``first`` come first, so that a falling cutoff soon skips nearly everything.
    """
    rank = OBJECTIVES.index(first)
    if not scope.usable:
        scope.usable = {s.id: usable_faces(scope, s) for s in scope.switches}
    if scope.leaves is None:
        scope.leaves = leaves_of(scope)
    usable = scope.usable
    # One kind of leaf may be too dear for every host and still right for a few of them beside another kind.
    alone = Cutoff() if scope.spec.mixed_leaves else cutoff
    leaves: list[tuple[Bound, Leaf]] = []
    bounds: dict[int, Bound] = {}
    for number, leaf in enumerate(scope.leaves):
        if number not in scope.bases:
            scope.bases[number] = endpoint_bound(scope, leaf.switch, leaf.downs)
        base = scope.bases[number]
        if base is not None and alone.passes(base):
            leaves.append((base, leaf))
            bounds[id(leaf)] = plus(base, scope.measure.bound_weight(leaf.switch), leaf.fewest)
    leaves.sort(key=lambda item: bounds[id(item[1])][rank])
    only = scope.only
    for base, leaf in leaves:
        if only is None or only.leaf(leaf):
            yield from _one_tier(scope, cutoff, leaf.switch, leaf.downs, base)
    if scope.spec.max_tiers < 2:
        return
    tiers = [t.within(scope, cutoff) for t in scope.standing or () if alone.passes(t.start)]
    if rank not in scope.above:
        scope.above[rank] = above_of(scope, rank)
    above = scope.above[rank]
    for base, leaf in leaves:
        if scope.out_of_time():
            return
        if not alone.passes(bounds[id(leaf)]):
            continue
        over = sorted(tiers_over(scope, cutoff, alone, leaf, base, above, rank), key=lambda t: t.start[rank])
        for t in over:
            if t.is_affected and cutoff.passes(t.start):
                yield from t.two()
        tiers += over
    if only is None:
        scope.tiers[rank] = tiers
    if scope.spec.mixed_leaves:
        for mixed in mixed_templates(scope, cutoff, tiers):
            if only is None or only.template(mixed):
                yield mixed
    if scope.spec.max_tiers < 3:
        return
    tiers = [t for t in tiers if cutoff.passes(t.deep_start)]
    if not tiers:
        return
    for t in tiers:
        t.cores = plus((0.0, 0.0, 0.0), t.least_per_core_gbps(usable), t.joint.core_gbps)
    tiers.sort(key=lambda t: t.deep_start[rank])
    for t in tiers:
        if scope.out_of_time():
            return
        if cutoff.passes(t.deep_start):
            yield from t.three(usable, rank)


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
    spread = spread_of(scope, downs, topology, 1, 1, plan)
    if fits(leaf, down_uses(scope, downs, spread)):
        found = template_within(scope, cutoff, base, leaf, downs, spread)
        if found is not None:
            yield found
