"""Finds the certified optimum: hold enough templates, solve, and prove that none left out could be better."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.candidates import Compiled, Held, best_of, instance, oob_scopes, span_of, within
from gpunet.solver.engines import Clock, Engine, Outcome, solve
from gpunet.solver.instance import Instance
from gpunet.solver.template import Template
from gpunet.solver.templates import Cutoff, Scope

WIDER = (1.25, 2.0, 5.0, math.inf)
"""How far beyond its best a fabric's templates are tried while no feasible design is known."""

Progress = Callable[[str], None]
Group = tuple[FabricName, bool]
"""A fabric, and whether its switches carry storage beside it: a choice has at most one template of each group."""


@dataclass
class Found:
    """A solved instance. ``data`` is none when a fabric has no template at all."""

    outcome: Outcome
    data: Instance | None
    empty: tuple[FabricName, ...] = ()
    """Fabrics without any template."""


INFEASIBLE = Outcome(Status.INFEASIBLE, None, None, None)


@dataclass
class Floors:
    """The least that each group weighs by itself, on the first objective. A group without templates is missing."""

    least: dict[Group, int]
    storage_optional: bool
    fixed: int

    def others(self, group: Group) -> int:
        """The least that everything else weighs in a design that has a template of ``group``."""
        backend = [g for g in self.least if g[0] is FabricName.BACKEND]
        rest = sum(w for g, w in self.least.items() if g[0] not in (group[0], FabricName.BACKEND, FabricName.STORAGE))
        storage = self.least.get((FabricName.STORAGE, False), 0)
        plain = self.least.get((FabricName.BACKEND, False), 0)
        if group[0] is FabricName.STORAGE:
            return rest + plain
        if group[0] is FabricName.BACKEND:
            return rest + (0 if group[1] else storage)
        ways = [self.least[g] + (0 if g[1] else storage) for g in backend]
        return rest + (min(ways) if ways else storage)


def groups(compiled: Compiled) -> dict[Group, list[Scope]]:
    """The scopes of every fabric but out-of-band, by group."""
    found: dict[Group, list[Scope]] = {}
    for fabric, scopes in compiled.scopes.items():
        for scope in scopes:
            found.setdefault((fabric, scope.carries_storage), []).append(scope)
    return found


def search(
    compiled: Compiled, engine: Engine = Engine.HIGHS, limit_s: float | None = None, tell: Progress | None = None
) -> Found:
    """Solve a compiled case to proven optimality, or to the best design within the time limit."""
    clock = Clock(limit_s)
    say = tell or (lambda _: None)
    first = compiled.case.objectives[0]
    best: dict[Group, list[Template]] = {}
    for group, scopes in groups(compiled).items():
        say(f"templates of {group[0].value}")
        best[group] = best_of(scopes, first)
    empty = _empty(compiled, best)
    if empty:
        return Found(INFEASIBLE, None, empty)
    floors = Floors(
        {g: min(t.facts.least[first] for t in ts) for g, ts in best.items() if ts},
        compiled.storage_optional,
        compiled.fixed.of(first),
    )
    held, oob_floor = _with_oob(compiled, _by_fabric(compiled, best), first, None)
    if oob_floor is not None:
        floors.least[FabricName.OOB, False] = oob_floor
    if FabricName.OOB in held and not held[FabricName.OOB]:
        return Found(INFEASIBLE, None, (FabricName.OOB,))
    say("solving")
    data = instance(compiled, held)
    outcome = solve(data, engine, clock.left())
    for factor in WIDER:
        if outcome.status is not Status.INFEASIBLE:
            break
        say("looking beyond each fabric's best")
        cutoffs = {g: _ceiling_cutoff(compiled, g, first, floors, factor) for g in floors.least}
        data = instance(compiled, _held_within(compiled, cutoffs, first)[0])
        outcome = solve(data, engine, clock.left())
    if outcome.value is None or outcome.status is not Status.OPTIMAL:
        return Found(outcome, data)
    return _certify(compiled, engine, clock, Found(outcome, data), floors, say)


def _empty(compiled: Compiled, best: dict[Group, list[Template]]) -> tuple[FabricName, ...]:
    """Fabrics that have no template, storage excepted where a backend can carry it."""
    has = {fabric for (fabric, _), ts in best.items() if ts}
    carried = bool(best.get((FabricName.BACKEND, True)))
    return tuple(
        fabric
        for fabric in compiled.scopes
        if fabric is not FabricName.OOB
        and fabric not in has
        and not (fabric is FabricName.STORAGE and compiled.storage_optional and carried)
    )


def _by_fabric(compiled: Compiled, found: dict[Group, list[Template]]) -> Held:
    held: Held = {fabric: [] for fabric in compiled.scopes if fabric is not FabricName.OOB}
    for (fabric, _), templates in found.items():
        held[fabric] += templates
    return held


def _held_within(compiled: Compiled, cutoffs: dict[Group, Cutoff], first: Objective) -> tuple[Held, int | None]:
    """Every template within its group's cutoff."""
    found = {
        g: [t for scope in scopes for t in within(scope, cutoffs[g], first)]
        for g, scopes in groups(compiled).items()
        if g in cutoffs
    }
    return _with_oob(compiled, _by_fabric(compiled, found), first, cutoffs.get((FabricName.OOB, False)))


def _with_oob(compiled: Compiled, held: Held, first: Objective, cutoff: Cutoff | None) -> tuple[Held, int | None]:
    """Add out-of-band templates for every number of switches that the held ones can bring.

    Without a cutoff: the best of every size. Returns the least weight over all sizes beside.
    """
    if FabricName.OOB not in compiled.scopes:
        return dict(held), None
    found: list[Template] = []
    for scope in oob_scopes(compiled, span_of(compiled, held)):
        found += best_of([scope], first) if cutoff is None else within(scope, cutoff, first)
    floor = min((t.facts.least[first] for t in found), default=0)
    return {**held, FabricName.OOB: found}, floor


def _ceiling_cutoff(compiled: Compiled, group: Group, first: Objective, floors: Floors, factor: float) -> Cutoff:
    """The most a template may weigh: ``factor`` times its group's best, and never more than a ceiling leaves it.

    What a ceiling leaves is the ceiling less what the other fabrics weigh at least; only the first objective's
    floors are known without another search, so for the others the other fabrics count as nothing.
    """
    limits, cutoff = compiled.case.limits, Cutoff()
    if not math.isinf(factor):
        cutoff.most[first] = floors.least[group] * factor
    for objective, ceiling in (
        (Objective.COST, None if limits.cost_usd is None else limits.cost_usd * 100 - compiled.fixed.cost),
        (Objective.POWER, None if limits.power_kw is None else limits.power_kw * 1e6),
    ):
        if ceiling is not None:
            left = ceiling - (floors.others(group) if objective is first else 0)
            cutoff.most[objective] = min(cutoff.most[objective], left)
    return cutoff


def _certify(compiled: Compiled, engine: Engine, clock: Clock, found: Found, floors: Floors, say: Progress) -> Found:
    """Add every template that could still be in a better or equal design, and solve again if there is any.

    With a design of worth U known, a template is out when it weighs more than U less the least that everything
    else in its design weighs.
    """
    assert found.data is not None
    assert found.outcome.value is not None
    first = compiled.case.objectives[0]
    say("proving that nothing left out is better")
    cutoffs = {}
    for group in floors.least:
        cutoffs[group] = Cutoff()
        cutoffs[group].most[first] = found.outcome.value - floors.fixed - floors.others(group)
    held, _ = _held_within(compiled, cutoffs, first)
    known = {(f, t.rank()) for f, ts in found.data.templates.items() for t in ts}
    if all((f, t.rank()) in known for f, ts in held.items() for t in ts):
        return found
    data = instance(compiled, held)
    outcome = solve(data, engine, clock.left())
    if outcome.value is None:
        # The time limit struck before anything was found: the design in hand still stands, unproven.
        stands = found.outcome
        return Found(Outcome(Status.FEASIBLE, stands.choice, stands.value, outcome.bound), found.data)
    return Found(outcome, data)
