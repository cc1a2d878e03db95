"""CP-SAT's own formulation of a plan: one index per phase, pieces that are there as a maximum over phases.

It shares no rows with ``phase_program``: agreement between the engines is a real check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpunet.models.design import Status
from gpunet.solver.cp_sat import new_solver
from gpunet.solver.engines import Clock, EngineError
from gpunet.solver.phase_program import Solved, Step, built_of, most_of, parts_of, rank_scale
from gpunet.solver.template import LinkClass


def solve_plan_cp_sat(steps: tuple[Step, ...], stock: Mapping[str, int], clock: Clock) -> Solved:
    """The cheapest plan with CP-SAT. Same contract as ``phase_program.solve_plan``."""
    from ortools.sat.python import cp_model

    cp = cp_model.CpModel()
    index = [cp.new_int_var(0, len(step.templates) - 1, f"t_{q}") for q, step in enumerate(steps)]

    def look_up(q: int, table: list[int], name: str) -> Any:
        if len(set(table)) == 1:
            return table[0]
        found = cp.new_int_var(min(table), max(table), name)
        cp.add_element(index[q], table, found)
        return found

    blocks: list[dict[LinkClass, list[Any]]] = []
    there: dict[str, Any] = dict(stock)
    most = dict(stock)
    total: Any = -sum(step.held_cents.get(part, 0) * n for step in steps for part, n in stock.items())
    for q, step in enumerate(steps):
        blocks.append({})
        for k, (link, ways) in enumerate(step.ways.items()):
            laid = [cp.new_int_var(0, most_of(step, link), f"b_{q}_{k}_{w}") for w in range(len(ways))]
            cp.add(sum(laid) == look_up(q, [t.facts.blocks.get(link, 0) for t in step.templates], f"need_{q}_{k}"))
            blocks[q][link] = laid
        for i, part in enumerate(sorted(parts_of(step))):
            used = look_up(q, [t.switches.get(part, 0) for t in step.templates], f"n_{q}_{i}")
            limit = max(t.switches.get(part, 0) for t in step.templates)
            for link, laid in blocks[q].items():
                each = [dict(way.parts).get(part, 0) for way in step.ways[link]]
                used += sum(n * b for n, b in zip(each, laid, strict=True) if n)
                limit += max(each) * most_of(step, link)
            most[part] = max(most.get(part, 0), limit)
            stands = cp.new_int_var(0, most[part], f"s_{q}_{i}")
            cp.add_max_equality(stands, [used, there.get(part, 0)])
            there[part] = stands
        total += sum(step.held_cents.get(part, 0) * n for part, n in there.items())
    status, read, bound = _minimise(cp, total, clock)
    if read is None:
        return Solved(status, (), bound)
    if status is Status.OPTIMAL:
        cp.add(total <= read.value(total))
        ranks = rank_scale(steps) * sum(index) + sum(
            i * b for of_phase in blocks for laid in of_phase.values() for i, b in enumerate(laid)
        )
        _, better, _ = _minimise(cp, ranks, clock)
        read = better or read
    built = tuple(
        built_of(
            step,
            step.templates[read.value(index[q])],
            {link: [read.value(b) for b in laid] for link, laid in blocks[q].items()},
        )
        for q, step in enumerate(steps)
    )
    return Solved(status, built, bound)


def _minimise(cp: Any, goal: Any, clock: Clock) -> tuple[Status, Any, float | None]:
    from ortools.sat.python import cp_model

    solver = new_solver(clock)
    cp.minimize(goal)
    status = solver.solve(cp)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        ended = Status.OPTIMAL if status == cp_model.OPTIMAL else Status.FEASIBLE
        return ended, solver, solver.best_objective_bound
    if status == cp_model.INFEASIBLE:
        return Status.INFEASIBLE, None, None
    if status == cp_model.UNKNOWN:
        return Status.NO_SOLUTION, None, None
    raise EngineError(f"CP-SAT ended with {solver.status_name(status)}")
