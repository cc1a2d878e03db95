"""Templates whose leaves are of two kinds under the same spines (two tiers, one kind of endpoint).

The hosts are cut in two: the first share stands under leaves of one kind, the rest under leaves of another, which may
be another model, another face, or the same with fewer ports. The cuts tried are those that pay: all but the last
group, and as many groups as owned switches can serve.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from gpunet.models.case import Striping, Topology
from gpunet.solver.demand import Endpoints
from gpunet.solver.filled import accept, bare
from gpunet.solver.ports import fits
from gpunet.solver.scope import Bound, Cutoff, Scope, Spread, plus
from gpunet.solver.spreads import down_uses, spreads
from gpunet.solver.template import Template, Upper
from gpunet.solver.tiers import Tiers
from gpunet.solver.wiring import Stripe, lower_cages, upper_cages


def mixed_templates(scope: Scope, cutoff: Cutoff, tiers: Sequence[Tiers]) -> Iterator[Template]:
    """Every template with two kinds of leaves within the cutoff."""
    if len(scope.kinds) != 1 or scope.management or scope.spec.striping is not Striping.STRICT:
        return
    by_spine: dict[str, list[Tiers]] = {}
    for t in tiers:
        by_spine.setdefault(t.spine.id, []).append(t)
    parts = _Parts(scope)
    for over in by_spine.values():
        for a, b in itertools.product(over, repeat=2):
            if scope.out_of_time():
                return
            if not cutoff.passes(_floor(a, b)):
                continue
            for family_a in a.leaf.families():
                for family_b in b.leaf.families():
                    if family_a[0] is family_b[0]:
                        yield from _cut(parts, cutoff, (a, family_a), (b, family_b))


def _floor(a: Tiers, b: Tiers) -> Bound:
    """A lower bound for both kinds together: half the lighter kind's bound for all hosts.

    Host by host the wings weigh no less than the lighter kind does; rounding up to whole switches at most doubles a
    count, and that rounding is in the bound for all hosts.
    """
    x, y = a.start, b.start
    return (min(x[0], y[0]) * 0.5, min(x[1], y[1]) * 0.5, min(x[2], y[2]) * 0.5)


Side = tuple[Tiers, tuple[Topology, int]]


class _Parts:
    """Shares of the hosts, and the fewest leaves that each kind needs for a share; worked out once for every spine."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.hosts = len(scope.kinds[0].hosts)
        self._shares: dict[tuple[int, int], Scope] = {}
        self._fewest: dict[tuple[object, ...], Spread | None] = {}

    def share(self, first: int, end: int) -> Scope:
        """The scope with the hosts ``first`` to ``end`` alone, ``end`` not included."""
        if (first, end) not in self._shares:
            kind = self.scope.kinds[0]
            some: Endpoints = dataclasses.replace(kind, hosts=kind.hosts[first:end])
            self._shares[first, end] = dataclasses.replace(self.scope, kinds=(some,))
        return self._shares[first, end]

    def fewest(self, side: Side, first: int, end: int) -> Spread | None:
        """The spread of a share with the fewest leaves whose uplinks still fit beside the endpoints."""
        tiers, family = side
        key = (id(tiers.leaf), id(tiers.up), family, first, end)
        if key not in self._fewest:
            self._fewest[key] = _fewest(self.share(first, end), tiers, family)
        return self._fewest[key]


def _cut(parts: _Parts, cutoff: Cutoff, a: Side, b: Side) -> Iterator[Template]:
    n = parts.hosts
    for cut in sorted(_cuts(parts, a, b)):
        if not 0 < cut < n:
            continue
        wings = []
        for side, span in ((a, (0, cut)), (b, (cut, n))):
            spread = parts.fewest(side, *span)
            if spread is None:
                break
            wings.append((parts.share(*span), side[0], spread))
        if len(wings) == 2 and cutoff.passes(_switches_floor(wings)):
            yield from _under_spines(parts.scope, cutoff, wings)


def _switches_floor(wings: Sequence[tuple[Scope, Tiers, Spread]]) -> Bound:
    """What the leaves of both kinds and one spine weigh at least."""
    measure = wings[0][0].measure
    total: Bound = plus((0.0, 0.0, 0.0), measure.bound_weight(wings[0][1].spine), 1)
    for _, tiers, spread in wings:
        total = plus(total, measure.bound_weight(tiers.leaf.switch), spread.n_leaves)
    return total


def _cuts(parts: _Parts, a: Side, b: Side) -> set[int]:
    """Where to cut the hosts: before the last group of the first kind, or before what owned leaves can serve."""
    kind, n = parts.scope.kinds[0], parts.hosts
    found = set()
    first, last = parts.fewest(a, 0, n), parts.fewest(b, 0, n)
    if first is not None:
        found.add((math.ceil(n / _hosts(kind, first)) - 1) * _hosts(kind, first))
    owned = {o.part: o.quantity for o in parts.scope.measure.room.case.owned}
    for side, spread, from_end in ((a, first, False), (b, last, True)):
        groups = owned.get(side[0].leaf.switch.id, 0) // (spread.leaves_per_group if spread else 1)
        if spread is not None and groups:
            served = min(n, groups * _hosts(kind, spread))
            found.add(n - served if from_end else served)
    return found


def _hosts(kind: Endpoints, spread: Spread) -> int:
    """Whole hosts that one group of leaves serves."""
    plan = spread.plans[0]
    return plan.hosts_per_group if plan.rails_per_leaf else max(1, plan.cages_per_leaf // kind.cages_per_host)


def _fewest(scope: Scope, tiers: Tiers, family: tuple[Topology, int]) -> Spread | None:
    """The spread with the fewest leaves whose uplinks still fit beside the endpoints."""
    for spread in spreads(scope, tiers.leaf.switch, tiers.leaf.downs, family):
        need = math.ceil(spread.uplink_gbps / Fraction(tiers.up.speed_gbps))
        uses = [*down_uses(scope, tiers.leaf.downs, spread), (tiers.up, math.ceil(need / tiers.up.ports))]
        if fits(tiers.leaf.switch, uses):
            return spread
    return None


def _under_spines(scope: Scope, cutoff: Cutoff, wings: Sequence[tuple[Scope, Tiers, Spread]]) -> Iterator[Template]:
    spec = scope.spec
    spine = wings[0][1].spine
    needs = [math.ceil(s.uplink_gbps / Fraction(t.up.speed_gbps)) for _, t, s in wings]
    if sum(s.n_leaves for _, _, s in wings) < max(2, spec.min_leaves):
        return
    seen: set[tuple[int, ...]] = set()
    for count in range(spec.min_spines, max(*needs, spec.min_spines) + 1):
        multiplicities = tuple(math.ceil(need / count) for need in needs)
        if multiplicities in seen:
            continue
        uses = []
        fit = True
        for (part, t, spread), b in zip(wings, multiplicities, strict=True):
            stripe = Stripe(count, b, t.up.ports, t.face.ports)
            fit = fit and fits(t.leaf.switch, [*down_uses(part, t.leaf.downs, spread), (t.up, lower_cages(stripe))])
            uses.append((t.face, upper_cages(stripe, spread.n_leaves)))
        if not fit or not fits(spine, uses):
            continue
        seen.add(multiplicities)
        parts = [
            bare(part, t.leaf.switch, t.leaf.downs, spread, Upper(spine, t.up, t.face, count, b, count * b))
            for (part, t, spread), b in zip(wings, multiplicities, strict=True)
        ]
        whole = dataclasses.replace(
            parts[0],
            kinds=scope.kinds,
            n_leaves=sum(w.n_leaves for w in parts),
            leaves_per_pod=sum(w.n_leaves for w in parts),
            wings=tuple(parts),
            facts=type(parts[0].facts)(),
        )
        found = accept(scope, whole)
        if found is not None and cutoff.passes([found.facts.least[o] for o in cutoff.most]):
            yield found
