"""Finds templates again and again at changing prices: what was found at other prices bounds what is best now.

Where one price alone is supposed, templates that it cannot affect are as they were: only the others are looked for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Objective
from gpunet.solver.candidates import Compiled, Finder, best_of, passes
from gpunet.solver.links import cage_kinds
from gpunet.solver.mating import accepts
from gpunet.solver.ports import faces
from gpunet.solver.prices import ZERO
from gpunet.solver.scope import OBJECTIVES, Affected, Cutoff, Scope
from gpunet.solver.template import Measure, Template, path_switches
from gpunet.solver.tiers import Tiers


@dataclass(frozen=True)
class _Known:
    """Every template of a group that weighs at most ``limit`` on one objective, at one set of prices."""

    templates: list[Template]
    limit: float


class Remembering(Finder):
    """A finder for one compiled case at changing prices: what was best before bounds what is best now."""

    def __init__(self, compiled: Compiled) -> None:
        self._prices = compiled.prices
        self._known: dict[object, _Known] = {}
        self._best: dict[object, list[Template]] = {}
        self._parts: dict[object, frozenset[str]] = {}
        self._tiers: dict[object, list[list[Tiers] | None]] = {}
        self._unaffected: dict[tuple[object, str], _Known] = {}

    def near(self, scopes: list[Scope], objective: Objective, slack: int) -> list[Template]:
        group, prices = _identity(scopes, objective), self._prices_of(scopes)
        known = self._known.get((group, prices))
        if known is not None and known.templates:
            limit = min(t.facts.least[objective] for t in known.templates) + slack
            if limit <= known.limit:
                return [t for t in known.templates if t.facts.least[objective] <= limit]
        # An optimum of earlier prices is a design still: at today's prices nothing better weighs more than it.
        seen = self._best.setdefault(group, [])
        most = slack + min(
            (x for t in seen if (x := _least_now(t, scopes[0], objective)) is not None), default=math.inf
        )
        part = next(iter(prices))[0] if len(prices) == 1 else None
        near = None if part is None else self._near_affected(scopes, objective, slack, most, part)
        if near is None:
            near = best_of(scopes, objective, slack, most)
            if not prices:
                self._tiers[group] = [s.tiers.get(OBJECTIVES.index(objective)) for s in scopes]
        if near:
            best = min(near, key=lambda t: t.facts.least[objective])
            found = self._known[group, prices] = _Known(near, best.facts.least[objective] + slack)
            if part is not None:
                self._keep_unaffected(scopes[0], group, part, found)
            if not any(t.rank() == best.rank() for t in seen):
                # A copy, for it is weighed at other prices again, and what is known at these is not.
                seen.append(dataclasses.replace(best, facts=dataclasses.replace(best.facts)))
        return near

    def _near_affected(
        self, scopes: list[Scope], objective: Objective, slack: int, most: float, part: str
    ) -> list[Template] | None:
        """Near the best where one price alone is supposed: all else is as it was at another price of that part.

        None where templates that the part cannot affect were not looked for far enough.
        """
        group = _identity(scopes, objective)
        today = self._known.get((group, frozenset()))
        if (group, part) not in self._unaffected and today is not None:
            self._keep_unaffected(scopes[0], group, part, today)
        rest = self._unaffected.get((group, part))
        if rest is None:
            return None
        most = min(most, slack + min((t.facts.least[objective] for t in rest.templates), default=math.inf))
        if most > rest.limit:
            return None
        tiers = self._tiers.get(group) if today is not None and most <= today.limit else None
        narrow = [s.affected_by(part, t) for s, t in zip(scopes, tiers or [None] * len(scopes), strict=True)]
        found = [*rest.templates, *best_of(narrow, objective, slack, most)]
        most = slack + min((t.facts.least[objective] for t in found), default=math.inf)
        return [t for t in found if t.facts.least[objective] <= most] if most <= rest.limit else None

    def _keep_unaffected(self, scope: Scope, group: object, part: str, known: _Known) -> None:
        """Remember what a part's price cannot affect of the templates known at one price of it."""
        kept = self._unaffected.get((group, part))
        if kept is None or kept.limit < known.limit:
            affected = Affected(part, scope.measure)
            rest = [t for t in known.templates if not affected.template(t)]
            self._unaffected[group, part] = _Known(rest, known.limit)

    def within(self, scopes: list[Scope], cutoff: Cutoff, first: Objective) -> list[Template]:
        key = _identity(scopes, first), self._prices_of(scopes)
        known = self._known.get(key)
        if known is None or known.limit < cutoff.most[first]:
            if any(math.isfinite(most) for o, most in cutoff.most.items() if o is not first):
                return super().within(scopes, cutoff, first)
            known = self._known[key] = _Known(super().within(scopes, cutoff, first), cutoff.most[first])
        return [t for t in known.templates if passes(t, cutoff)]

    def _prices_of(self, scopes: list[Scope]) -> frozenset[tuple[str, int]]:
        """The supposed prices that can matter to these scopes."""
        supposed = self._prices.supposed
        if not supposed:
            return frozenset()
        group = _identity(scopes, Objective.COST)
        if group not in self._parts:
            self._parts[group] = frozenset().union(*(_parts_of(scope) for scope in scopes))
        matter = self._parts[group]
        return frozenset(x for x in supposed.items() if x[0] in matter or split_medium_id(x[0])[0] in matter)


def _identity(scopes: Iterable[Scope], objective: Objective) -> object:
    """What tells a group from every other of the same case."""
    return objective, tuple(
        (
            s.fabric,
            s.protocol,
            s.carries_storage,
            s.row_leaves,
            s.central_leaves,
            s.leaf_models,
            tuple(x.id for x in s.switches),
        )
        for s in scopes
    )


def _parts_of(scope: Scope) -> frozenset[str]:
    """Every part whose price can matter to a fabric, and some more; a length of fibre or cable by its base."""
    parts = scope.measure.book.parts
    kinds = [
        *(
            k
            for s in scope.switches
            for f in faces(s, scope.protocol)
            for k in cage_kinds(f.group, f.modes, s.protocol)
        ),
        *(k for e in scope.kinds for k in cage_kinds(e.cage, e.modes, scope.protocol)),
    ]
    plugs = {plug for kind in set(kinds) for plug in accepts(kind)}
    modules = [m for m in parts.modules.values() if m.form_factor in plugs]
    connectors = {m.connector for m in modules}
    cables = [c for c in parts.cables.values() if {c.end_a.form_factor, c.end_b.form_factor} <= plugs]
    fibres = [f for f in parts.fibres.values() if {f.connector_a, f.connector_b} <= connectors]
    return frozenset(part.id for part in (*scope.switches, *modules, *cables, *fibres, *parts.panels.values()))


def reweigh(measure: Measure, t: Template) -> None:
    """Weigh the switches of a template found at other prices at today's."""
    switches = {s.id: s for wing in t.wings or (t,) for s in path_switches(wing)}
    t.facts.switch_weight = sum((measure.switch_weight(switches[p]).times(n) for p, n in t.switches.items()), ZERO)


def _least_now(t: Template, scope: Scope, objective: Objective) -> int | None:
    """What a template found at other prices weighs at today's; none when it cannot be built any more."""
    reweigh(scope.measure, t)
    return scope.measure.least(t, objective)
