"""The only module that calls a solver or reads its status.

HiGHS solves the program that PuLP built. SCIP, from OR-Tools, solves the same program handed over as MPS. OR-Tools'
own HiGHS is never called: it crashes in a process that has loaded PuLP's. CP-SAT has a formulation of its own
(``cp_sat``). Every engine stops at gap 0 or at the time limit, and says which.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from gpunet.models.case import Objective
from gpunet.models.design import Status
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.program import Formulation, formulate, read_choice, set_objective, set_tie_break
from gpunet.solver.program_plant import set_class_order
from gpunet.solver.space import fit_on_top, fit_zones

SEED = 0
BOUND_TOLERANCE = 1e-3
"""Cents or milliwatts by which a floating-point bound may lie above the integer optimum it proves."""


class Engine(StrEnum):
    """Solvers that can be asked for."""

    HIGHS = "highs"
    SCIP = "scip"
    CP_SAT = "cp-sat"


class EngineError(RuntimeError):
    """A solver failed or returned something that does not hold in integers."""


@dataclass(frozen=True)
class Outcome:
    """How a solve ended. ``bound`` and ``value`` are integers of the first objective, constants included."""

    status: Status
    choice: Choice | None
    value: int | None
    bound: float | None

    @property
    def gap(self) -> float | None:
        """Relative distance between the design and the bound; 0 when proven, none without a design."""
        if self.value is None:
            return None
        if self.status is Status.OPTIMAL:
            return 0.0
        if self.bound is None or self.value == 0:
            return 1.0
        return max(0.0, (self.value - self.bound) / abs(self.value))


class Program(Protocol):
    """A program that PuLP has built."""

    prob: Any


@dataclass(frozen=True)
class Raw:
    """What one run of one solver returned."""

    status: Status
    value_of: Callable[[Any], float] | None
    bound: float | None


class Clock:
    """Seconds left of a time limit; unlimited without one."""

    def __init__(self, limit_s: float | None) -> None:
        self._end = None if limit_s is None else time.monotonic() + limit_s

    @property
    def end_s(self) -> float:
        """The moment of the monotonic clock at which the limit strikes; infinite when unlimited."""
        return math.inf if self._end is None else self._end

    def left(self) -> float | None:
        """Seconds left, never below a hundredth; none when unlimited."""
        return None if self._end is None else max(0.01, self._end - time.monotonic())


def solve(data: Instance, engine: Engine, limit_s: float | None = None) -> Outcome:
    """Solve an instance lexicographically, then break ties by rank.

    Returns optimal with gap 0, or feasible with the gap left when the time limit struck, infeasible, or
    no_solution. Raises EngineError when a solver fails or its answer does not hold in integers.
    """
    clock = Clock(limit_s)
    if engine is Engine.CP_SAT:
        from gpunet.solver.cp_sat import solve_cp_sat

        return solve_cp_sat(data, clock)
    run = run_highs if engine is Engine.HIGHS else run_scip
    return _lexicographic(data, data.case.objectives, run, clock)


def _lexicographic(
    data: Instance, objectives: Sequence[Objective], run: Callable[[Formulation, Clock], Raw], clock: Clock
) -> Outcome:
    f = formulate(data)
    first: tuple[int, float | None] | None = None
    best: Choice | None = None
    proven = True
    for objective in objectives:
        constant = set_objective(f, objective)
        raw = with_racks(f, run, clock)
        if raw.value_of is None:
            if best is None:
                return Outcome(raw.status, None, None, None if raw.bound is None else raw.bound + constant)
            proven = False
            break
        best = _rounded(f, raw, data, objective)
        value = best.net(data).of(objective)
        bound = None if raw.bound is None else raw.bound + constant
        if first is None:
            first = (value, bound)
        if raw.status is not Status.OPTIMAL:
            proven = False
            break
        _check_bound(value, bound)
        f.add(f"at_best_{objective.value}", f.total(objective) <= value - data.fixed.of(objective))
    if proven:
        set_tie_break(f)
        raw = with_racks(f, run, clock)
        if data.trays and raw.status is Status.OPTIMAL and raw.bound is not None:
            set_class_order(f, round(raw.bound))
            raw = with_racks(f, run, clock)
        if raw.value_of is not None:
            best = _rounded(f, raw, data, objectives[0])
            if first is not None and best.net(data).of(objectives[0]) != first[0]:
                raise EngineError("the tie-break changed the objective")
    if best is None or first is None:
        raise EngineError("no objective was solved")
    return Outcome(Status.OPTIMAL if proven else Status.FEASIBLE, best, first[0], first[1])


def with_racks(f: Formulation, run: Callable[[Formulation, Clock], Raw], clock: Clock) -> Raw:
    """Solve until the network racks that the program counts are those that its choice needs.

    The program bounds the racks from below, so its bound holds at any time; its choice only when this ends. Where the
    time limit comes first, a choice whose racks break a limit is none.
    """
    while True:
        raw = run(f, clock)
        if raw.value_of is None or f.data.racks is None:
            return raw
        value = raw.value_of
        try:
            choice = read_choice(f, value)
        except ValueError as error:
            raise EngineError(str(error)) from error
        cuts = choice.racks_lacking(f.data, [round(value(r)) for r in f.racks])
        if not cuts:
            return raw
        if raw.status is not Status.OPTIMAL:
            return Raw(Status.NO_SOLUTION, None, raw.bound) if broken(f.data, choice) else raw
        f.told(cuts)


def _rounded(f: Formulation, raw: Raw, data: Instance, objective: Objective) -> Choice:
    assert raw.value_of is not None
    try:
        choice = read_choice(f, raw.value_of)
    except ValueError as error:
        raise EngineError(str(error)) from error
    problems = broken(data, choice)
    if problems:
        raise EngineError(f"the solver's answer breaks {', '.join(problems)} once rounded ({objective.value})")
    return choice


def _check_bound(value: int, bound: float | None) -> None:
    if bound is not None and abs(value - bound) > max(1.0, abs(value) * 1e-9) - BOUND_TOLERANCE:
        raise EngineError(f"called optimal at {bound}, but the design weighs {value}")


def broken(data: Instance, choice: Choice) -> list[str]:
    """Constraint families that a choice breaks, in integer arithmetic."""
    found = []
    if choice.short_of(data):
        return ["supply"]
    net = choice.net(data)
    if data.cost_limit is not None and net.cost > data.cost_limit:
        found.append("cost_ceiling")
    if data.power_limit is not None and net.power > data.power_limit:
        found.append("power_ceiling")
    if data.site_limit is not None and net.power + data.servers_mw > data.site_limit:
        found.append("site_power")
    room, chosen = data.machines.room, [[t] for t in choice.templates.values()]
    if not fit_zones(room, chosen) if data.racks is None else data.racks.is_beyond(choice.templates):
        found.append("network_space")
    if not fit_on_top(room, chosen):
        found.append("top_of_rack_space")
    if any(load > data.trays[section] for section, load in choice.tray_loads(data).items()):
        found.append("tray_fill")
    parts = choice.parts(data)
    limits = data.case.limits
    if limits.racks is not None and data.racks is not None and data.racks.count(choice.templates) > limits.racks:
        found.append("rack_limit")
    if limits.skus is not None and len(parts) > limits.skus:
        found.append("sku_limit")
    if limits.vendors is not None and len({data.vendor(p) for p in parts}) > limits.vendors:
        found.append("vendor_limit")
    for key, counts in choice.built.items():
        if sum(counts) != sum(data.need(key, t) for t in choice.templates.values()):
            found.append("every_link_built")
            break
    return found


def _silent_highs(options: dict[str, float]) -> Any:
    """PuLP's way to HiGHS, with a HiGHS that says nothing.

    The library's own constructor registers callbacks, which prints a banner on standard output before any option can
    be set from outside, so output is turned off inside it.
    """
    import highspy
    import pulp

    class Mute(highspy.Highs):  # type: ignore[misc]  # the library has no types
        def enableCallbacks(self) -> None:  # noqa: N802  # its name in the library
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    class ThroughPulp(pulp.HiGHS):  # type: ignore[misc]
        def createAndConfigureSolver(self, lp: Any) -> None:  # noqa: N802
            lp.solverModel = Mute()
            for name, value in options.items():
                if lp.solverModel.setOptionValue(name, value) != highspy.HighsStatus.kOk:
                    raise EngineError(f"HiGHS does not take the option {name} = {value}")

    return ThroughPulp()


def run_highs(f: Program, clock: Clock) -> Raw:
    """Minimise the program as it stands with HiGHS. Raises EngineError when it fails."""
    import highspy

    # A second thread count in one process would otherwise be refused.
    highspy.Highs.resetGlobalScheduler(True)
    left = clock.left()
    options = {"mip_rel_gap": 0.0, "mip_abs_gap": 0.0, "threads": 1, "random_seed": SEED}
    f.prob.solve(_silent_highs(options if left is None else {**options, "time_limit": left}))
    highs = f.prob.solverModel
    info, status, models = highs.getInfo(), highs.getModelStatus(), highspy.HighsModelStatus
    has = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    if status == models.kOptimal:
        # The bound of a solved program with no integer column is its objective.
        return Raw(Status.OPTIMAL, lambda v: float(v.value() or 0.0), float(info.objective_function_value))
    if status in (models.kInfeasible, models.kUnboundedOrInfeasible):
        return Raw(Status.INFEASIBLE, None, None)
    if status in (models.kTimeLimit, models.kIterationLimit, models.kSolutionLimit, models.kInterrupt):
        bound = float(info.mip_dual_bound)
        return Raw(
            Status.FEASIBLE if has else Status.NO_SOLUTION,
            (lambda v: float(v.value() or 0.0)) if has else None,
            bound if abs(bound) < 1e30 else None,
        )
    raise EngineError(f"HiGHS ended with {highs.modelStatusToString(status)}")


def run_scip(f: Program, clock: Clock) -> Raw:
    """Minimise the program as it stands with SCIP. Raises EngineError when it fails."""
    from ortools.linear_solver.python import model_builder

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.mps"
        renamed = f.prob.writeMPS(str(path))
        text = path.read_text(encoding="utf-8")
    del renamed
    model = model_builder.Model()
    if not model.import_from_mps_string(text):
        raise EngineError("SCIP could not read the program")
    solver = model_builder.Solver("scip")
    left = clock.left()
    if left is not None:
        solver.set_time_limit_in_seconds(left)
    solver.set_solver_specific_parameters(f"limits/gap=0\nrandomization/randomseedshift={SEED}\n")
    status = solver.solve(model)
    statuses = model_builder.SolveStatus
    if status in (statuses.OPTIMAL, statuses.FEASIBLE):
        values = {model.var_from_index(i).name: i for i in range(model.num_variables)}
        read = {name: float(solver.value(model.var_from_index(i))) for name, i in values.items()}
        optimal = status == statuses.OPTIMAL
        return Raw(
            Status.OPTIMAL if optimal else Status.FEASIBLE,
            # A column that no row and no objective mentions is not handed over; it is 0.
            lambda v: read.get(v.name, 0.0),
            float(solver.objective_value if optimal else solver.best_objective_bound),
        )
    if status in (statuses.INFEASIBLE, statuses.ABNORMAL) and status == statuses.INFEASIBLE:
        return Raw(Status.INFEASIBLE, None, None)
    if status == statuses.NOT_SOLVED:
        return Raw(Status.NO_SOLUTION, None, None)
    raise EngineError(f"SCIP ended with {status}")
