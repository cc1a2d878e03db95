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
from gpunet.solver.templates import Cutoff, enumerate_templates

WIDER = (1.25, 2.0, 5.0, math.inf)
"""How far beyond its best a fabric's templates are tried while no feasible design is known."""

Progress = Callable[[str], None]


@dataclass
class Found:
    """A solved instance. ``data`` is none when a fabric has no template at all."""

    outcome: Outcome
    data: Instance | None
    empty: tuple[FabricName, ...] = ()
    """Fabrics without any template."""


INFEASIBLE = Outcome(Status.INFEASIBLE, None, None, None)


def search(
    compiled: Compiled, engine: Engine = Engine.HIGHS, limit_s: float | None = None, tell: Progress | None = None
) -> Found:
    """Solve a compiled case to proven optimality, or to the best design within the time limit."""
    clock = Clock(limit_s)
    say = tell or (lambda _: None)
    first = compiled.case.objectives[0]
    best: Held = {}
    for fabric in compiled.scopes:
        if fabric is not FabricName.OOB:
            say(f"templates of {fabric.value}")
            best[fabric] = best_of(compiled.scopes[fabric], first)
    empty = tuple(f for f, ts in best.items() if not ts and not _may_be_empty(compiled, f, best))
    if empty:
        return Found(INFEASIBLE, None, empty)
    floor = {f: min((t.facts.least[first] for t in ts), default=0) for f, ts in best.items()}
    held, oob_floor = _with_oob(compiled, best, first, None)
    if oob_floor is not None:
        floor[FabricName.OOB] = oob_floor
    if FabricName.OOB in held and not held[FabricName.OOB]:
        return Found(INFEASIBLE, None, (FabricName.OOB,))
    say("solving")
    data = instance(compiled, held)
    outcome = solve(data, engine, clock.left())
    for factor in WIDER:
        if outcome.status is not Status.INFEASIBLE:
            break
        say("looking beyond each fabric's best")
        cutoffs = {f: _ceiling_cutoff(compiled, f, first, floor, factor) for f in floor}
        wide = {f: within(compiled, f, cutoffs[f]) for f in best}
        held, _ = _with_oob(compiled, wide, first, cutoffs.get(FabricName.OOB))
        data = instance(compiled, held)
        outcome = solve(data, engine, clock.left())
    if outcome.value is None or outcome.status is not Status.OPTIMAL:
        return Found(outcome, data)
    return _certify(compiled, engine, clock, Found(outcome, data), floor, say)


def _may_be_empty(compiled: Compiled, fabric: FabricName, held: Held) -> bool:
    """Storage may have no template of its own where the backend can carry it."""
    carried = any(t.carries_storage for t in held.get(FabricName.BACKEND, []))
    return fabric is FabricName.STORAGE and compiled.storage_optional and carried


def _with_oob(compiled: Compiled, held: Held, objective: Objective, cutoff: Cutoff | None) -> tuple[Held, int | None]:
    """Add out-of-band templates for every number of switches that the held ones can bring.

    Without a cutoff: the best of every size. Returns the least weight over all sizes beside.
    """
    if FabricName.OOB not in compiled.scopes:
        return dict(held), None
    found: list[Template] = []
    for scopes in oob_scopes(compiled, span_of(compiled, held)):
        if cutoff is None:
            found += best_of(scopes, objective)
        else:
            found += [
                t
                for scope in scopes
                for t in enumerate_templates(scope, cutoff)
                if cutoff.passes([t.facts.least[o] for o in cutoff.most])
            ]
    floor = min((t.facts.least[objective] for t in found), default=0)
    return {**held, FabricName.OOB: found}, floor


def _ceiling_cutoff(
    compiled: Compiled, fabric: FabricName, first: Objective, floor: dict[FabricName, int], factor: float
) -> Cutoff:
    """The most a template may weigh: ``factor`` times its fabric's best, and never more than a ceiling leaves it.

    What a ceiling leaves is the ceiling less what the other fabrics draw at least; only the objective's own floor
    is known without another search, so the other objectives count the other fabrics as nothing.
    """
    limits, cutoff = compiled.case.limits, Cutoff()
    others = sum(worth for f, worth in floor.items() if f is not fabric and not _optional(compiled, f))
    if not math.isinf(factor):
        cutoff.most[first] = floor[fabric] * factor
    for objective, ceiling in (
        (Objective.COST, None if limits.cost_usd is None else limits.cost_usd * 100 - compiled.fixed.cost),
        (Objective.POWER, None if limits.power_kw is None else limits.power_kw * 1e6),
    ):
        if ceiling is not None:
            left = ceiling - (others if objective is first else 0)
            cutoff.most[objective] = min(cutoff.most[objective], left)
    return cutoff


def _optional(compiled: Compiled, fabric: FabricName) -> bool:
    return fabric is FabricName.STORAGE and compiled.storage_optional


def _certify(
    compiled: Compiled,
    engine: Engine,
    clock: Clock,
    found: Found,
    floor: dict[FabricName, int],
    say: Progress,
) -> Found:
    """Add every template that could still be in a better or equal design, and solve again if there is any.

    With a design of worth U known, a template of fabric f is out when it weighs more than U less the least that
    the other fabrics weigh.
    """
    assert found.data is not None
    first = compiled.case.objectives[0]
    while True:
        assert found.outcome.value is not None
        worth = found.outcome.value - compiled.fixed.of(first)
        cutoffs = {}
        for fabric in floor:
            others = sum(w for f, w in floor.items() if f is not fabric and not _optional(compiled, f))
            cutoffs[fabric] = Cutoff()
            cutoffs[fabric].most[first] = worth - others
        say("proving that nothing left out is better")
        held = {f: within(compiled, f, cutoffs[f]) for f in floor if f is not FabricName.OOB}
        held, oob_floor = _with_oob(compiled, held, first, cutoffs.get(FabricName.OOB))
        if oob_floor is not None:
            floor[FabricName.OOB] = min(floor[FabricName.OOB], oob_floor)
        known = {(f, t.rank()) for f, ts in found.data.templates.items() for t in ts}
        if all((f, t.rank()) in known for f, ts in held.items() for t in ts):
            return found
        before = found.outcome.value
        data = instance(compiled, held)
        outcome = solve(data, engine, clock.left())
        if outcome.value is None:
            # The time limit struck before anything was found: the design in hand still stands, unproven.
            return Found(Outcome(Status.FEASIBLE, found.outcome.choice, found.outcome.value, outcome.bound), found.data)
        found = Found(outcome, data)
        if outcome.status is not Status.OPTIMAL or outcome.value == before:
            return found
