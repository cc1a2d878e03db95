"""``site.switch_placement: cheapest``: every placement of the switches at its own proven optimum, and the best of them.

Each placement is searched and certified like a case of its own. A room where switches stand elsewhere has other
lengths, so another design may be its best; no design of one placement says anything about another's.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

from gpunet.models.case import FIXED_PLACEMENTS, Case, Objective, Placement
from gpunet.models.design import PlacementTried, Status
from gpunet.models.parts import Catalog
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.engines import Clock, Engine, Outcome
from gpunet.solver.interconnects import Tables
from gpunet.solver.prices import Weight
from gpunet.solver.search import Found, search

UNIT = {Objective.COST: 100, Objective.TCO: 100, Objective.POWER: 1000}
"""Solver units in one unit of the result: cents in a dollar, milliwatts in a watt."""


@dataclasses.dataclass(frozen=True)
class Settled:
    """The placement taken. ``found`` says of all placements how the search ended."""

    compiled: Compiled
    found: Found
    placements: tuple[PlacementTried, ...]


def is_open(case: Case) -> bool:
    """Whether the case leaves the placement to the search."""
    return case.site.switch_placement is Placement.CHEAPEST


def placed(case: Case, placement: Placement) -> Case:
    """The case with its switches placed."""
    return case.model_copy(update={"site": case.site.model_copy(update={"switch_placement": placement})})


def worth(case: Case, weight: Weight) -> tuple[int, ...]:
    """What a design weighs on every objective of the case, by rank."""
    return tuple(weight.of(objective) for objective in case.objectives)


def settle(case: Case, catalog: Catalog, engine: Engine, limit_s: float | None, say: Callable[[str], None]) -> Settled:
    """Search every placement and take the best; of equals the first of ``FIXED_PLACEMENTS``.

    Raises SiteTooSmallError and NoPortsError, which are the same for every placement.
    """
    clock, tables = Clock(limit_s), Tables()
    tried: list[PlacementTried] = []
    outcomes: list[Outcome] = []
    best: tuple[tuple[int, ...], Compiled, Found] | None = None
    last: tuple[Compiled, Found] | None = None
    for number, placement in enumerate(FIXED_PLACEMENTS):
        say(f"placement {placement.value}")
        compiled = compile_case(placed(case, placement), catalog, tables)
        left_s = clock.left()
        share_s = None if left_s is None else left_s / (len(FIXED_PLACEMENTS) - number)
        found = search(compiled, engine, share_s, say)
        last = compiled, found
        outcomes.append(found.outcome)
        values: tuple[int, ...] = ()
        if found.outcome.choice is not None and found.data is not None:
            values = worth(case, found.outcome.choice.net(found.data))
            if best is None or values < best[0]:
                best = values, compiled, found
        units = (UNIT[objective] for objective in case.objectives)
        shown = tuple(value / unit for value, unit in zip(values, units, strict=False))
        tried.append(PlacementTried(placement=placement.value, status=found.outcome.status, objectives=shown))
    if best is None:
        assert last is not None
        none = all(o.status is Status.INFEASIBLE for o in outcomes)
        ended = Status.INFEASIBLE if none else Status.NO_SOLUTION
        nothing = dataclasses.replace(last[1].outcome, status=ended, choice=None, value=None)
        return Settled(last[0], dataclasses.replace(last[1], outcome=nothing), tuple(tried))
    _, compiled, found = best
    taken = compiled.case.site.switch_placement.value
    chosen = (x.model_copy(update={"chosen": x.placement == taken}) for x in tried)
    return Settled(compiled, dataclasses.replace(found, outcome=_over_all(found.outcome, outcomes)), tuple(chosen))


def none_stands(placements: Sequence[PlacementTried]) -> tuple[str, ...]:
    """The first reason of a case that has no design wherever its switches stand."""
    if not placements:
        return ()
    names = ", ".join(x.placement for x in placements)
    first = placements[0].placement
    return (f"site.switch_placement: no design with any of {names}; what follows is about {first}",)


def _over_all(taken: Outcome, outcomes: Sequence[Outcome]) -> Outcome:
    """The outcome of the placement taken, as far as it is proven over all of them.

    A search that the time limit cut short still has a bound; nothing cheaper than that stands in its placement.
    """
    bounds = []
    for outcome in outcomes:
        if outcome.status is Status.INFEASIBLE:
            continue
        if outcome.status is Status.OPTIMAL and outcome.value is not None:
            bounds.append(float(outcome.value))
        else:
            bounds.append(-math.inf if outcome.bound is None else outcome.bound)
    if all(o.status in (Status.OPTIMAL, Status.INFEASIBLE) for o in outcomes):
        return taken
    least = min(bounds)
    return dataclasses.replace(taken, status=Status.FEASIBLE, bound=least if math.isfinite(least) else None)
