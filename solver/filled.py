"""A template from its counts, with its facts, and whether the cutoff and the limits let it through."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gpunet.models.parts import Switch
from gpunet.solver.ports import Face
from gpunet.solver.scope import OBJECTIVES, Bound, Cutoff, Scope, Spread, least_link, plus
from gpunet.solver.space import fit_on_top, fit_zones, uppers_fit
from gpunet.solver.template import SPINE_CORE, Template, Upper
from gpunet.solver.tray_bound import overfills


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
        link = least_link(measure, pair, SPINE_CORE)
        if link is not None:
            bound = plus(bound, link, t.n_spines * t.core.links_per_lower)
    return bound


def template_within(
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
    if not uppers_fit(scope.measure, t):
        # Filling costs more than this, and at a low price of a small switch most templates end here.
        scope.refuse("network_racks")
        return None
    return accept(scope, t)


def accept(scope: Scope, t: Template) -> Template | None:
    """Fill a template's facts; none when the room or a limit of the fabric refuses it."""
    scope.measure.fill(t)
    spec, room = scope.spec, scope.measure.room
    if not fit_on_top(room, [[t]]):
        scope.refuse("site.rack")
        return None
    if not room.counts_network_racks and not fit_zones(room, [[t]]):
        scope.refuse("network_racks")
        return None
    if spec.latency_ns is not None and (t.facts.latency_ns is None or t.facts.latency_ns > spec.latency_ns):
        scope.refuse("latency_ns")
        return None
    if overfills(scope, t):
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
