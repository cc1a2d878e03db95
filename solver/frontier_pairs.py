"""Every design that none beats on two totals, by stepping a ceiling on one of them down (epsilon-constraint).

A question is lexicographic: the least of the one total under a ceiling on the other, then the least of the other. Its
answer is beaten by nothing, and the next question starts one cent or one milliwatt below it, so no such design is
passed over, on the convex hull or off it. n designs take at most 2n + 1 questions.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from gpunet.models.case import Case, Objective
from gpunet.solver.tasks import Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench

FIRST_POINTS = 16
"""Designs found in one go before the rest of the range is shared out."""
MORE_POINTS = 32
"""Designs per step once it is."""
SHARES = 8
"""Parts of the range that are walked side by side: each costs at most one question that finds a known design."""


class Pair(NamedTuple):
    """Two totals: ``least`` is minimised under a falling ceiling on ``stepped``."""

    least: Objective
    stepped: Objective


class Walked(NamedTuple):
    """What was found so far."""

    points: list[dict[str, Any]]
    complete: bool
    solves: int


def pair_of(x: Objective, y: Objective) -> Pair:
    """Which of two totals is stepped. A case has ceilings on cost and on power, so tco is the one minimised."""
    return Pair(y, x) if y is Objective.TCO else Pair(x, y)


def under(case: Case, objective: Objective, most: int) -> Case:
    """The case with a ceiling on cost, cents, or on power, milliwatts. Raises ValueError for tco."""
    if objective is Objective.TCO:
        raise ValueError("a case has no ceiling on tco")
    # Decimal notation keeps every cent and milliwatt: both are read back from the shortest text of the float.
    limit = {"cost_usd": most / 100} if objective is Objective.COST else {"power_kw": most / 1_000_000}
    return case.model_copy(update={"limits": case.limits.model_copy(update=limit)})


def point_of(answer: Answer) -> dict[str, Any]:
    """A design as data for JSON: its exact totals, cents, milliwatts and cents, and its summary."""
    summary = answer.summary()
    assert summary is not None
    assert answer.weight is not None
    return {**answer.weight._asdict(), "design": summary.model_dump(mode="json")}


def extreme(bench: Workbench, first: str, then: str) -> dict[str, Any] | None:
    """The least of one total, then of the other, as data for JSON."""
    case = bench.case.model_copy(update={"objective": (Objective(first), Objective(then))})
    answer = bench.of(case, keep=False)
    return point_of(answer) if answer.is_optimal else None


def walk(bench: Workbench, pair: Pair, most: int, until: int, points: int, gap: int) -> dict[str, Any]:
    """Up to ``points`` designs under ceilings from ``most`` down to ``until``, and the ceiling to go on with."""
    found: list[dict[str, Any]] = []
    case = bench.case.model_copy(update={"objective": tuple(pair)})
    while most >= until and len(found) < points:
        answer = bench.of(under(case, pair.stepped, most), keep=False)
        if not answer.is_optimal:
            return {"points": found, "next": None}
        found.append(point_of(answer))
        most = found[-1][pair.stepped.value] - gap
    return {"points": found, "next": most if most >= until else None}


def frontier_of_pair(bench: Workbench, pair: Pair, gap: int, plan: Plan) -> Walked:
    """Every design that none beats; with a ``gap`` above 1, cents or milliwatts, not those nearer than that."""
    least, stepped = pair.least.value, pair.stepped.value
    points: list[dict[str, Any]] = []
    solves = 0
    for ends in ((least, stepped), (stepped, least)):
        task = Task(f"least {ends[0]}", extreme, ends)
        found = run_tasks(bench, "frontier", [task], plan).get(task.name)
        solves += found.solves if found is not None else 0
        if found is None or found.data is None:
            return Walked(points, found is not None, solves)
        points.append(found.data)
    # At the far end the ceiling would be the other extreme's own value, and so would the answer.
    shares = [(points[0][stepped] - gap, points[1][stepped] + 1)]
    size, complete = FIRST_POINTS, True
    while shares and complete:
        tasks = [
            Task(f"{least}, {stepped} from {most} to {until}, {size} by {gap}", walk, (pair, most, until, size, gap))
            for most, until in shares
            if most >= until
        ]
        walked = run_tasks(bench, "frontier", tasks, plan)
        complete = len(walked) == len(tasks)
        points += [point for x in walked.values() for point in x.data["points"]]
        solves += sum(x.solves for x in walked.values())
        left = [
            (walked[task.name].data["next"], task.args[2])
            for task in tasks
            if task.name in walked and walked[task.name].data["next"] is not None
        ]
        shares = _shared_out(*left[0]) if size == FIRST_POINTS and left else left
        size = MORE_POINTS
    # Neighbouring shares may have found the same totals; the first find stands, whatever the number of processes.
    distinct = {(point[least], point[stepped]): point for point in reversed(points)}
    return Walked(list(distinct.values()), complete, solves)


def _shared_out(most: int, until: int) -> list[tuple[int, int]]:
    """A range of ceilings in equal parts, highest first."""
    edges = [most + 1 - (most + 1 - until) * i // SHARES for i in range(SHARES + 1)]
    return [(high - 1, low) for high, low in itertools.pairwise(edges) if high > low]
