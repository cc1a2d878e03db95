"""Three engines, one answer; and an engine that stops early, fails or lies is never believed.

That the engines agree on every shipped case stands in ``test_cases``.
"""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from case_answers import CASES, written_answer
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog

from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case, FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver import cp_sat, engines
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine, EngineError, Outcome, Raw, broken, solve
from gpunet.solver.instance import Instance
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.optimize import optimize
from gpunet.solver.prices import Weight
from gpunet.solver.program import Formulation
from gpunet.solver.search import Found, search

CATALOG = awkward_catalog()
FAMILIES = ("plain", "limits", "fabrics", "parts")
OTHERS = (Engine.SCIP, Engine.CP_SAT)


def compiled(case: Case) -> Compiled | None:
    """A case made ready; none where it does not get that far."""
    try:
        return compile_case(case, CATALOG)
    except (SiteTooSmallError, NoPortsError):
        return None


def found(case: Case, engine: Engine = Engine.HIGHS, limit_s: float | None = None) -> Found:
    """What the search finds; the reasons for nothing are left out."""
    return search(compile_case(case, CATALOG), engine, limit_s)


def with_objective(case: Case, *objectives: Objective) -> Case:
    """The case with other objectives, by rank."""
    return case.model_copy(update={"objective": objectives})


def best(case: Case) -> Weight:
    """All three totals of the optimum."""
    solved = found(case)
    assert solved.outcome.choice is not None
    assert solved.data is not None
    return solved.outcome.choice.net(solved.data)


# --- agreement --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_engines_return_the_same_design(family: str) -> None:
    """Whatever the case, the three engines agree byte for byte and wire for wire, or find nothing alike."""
    with_design = 0
    for seed in range(10):
        case = random_case(seed, CATALOG, family)
        if compiled(case) is None:
            continue
        if found(case).outcome.status is Status.INFEASIBLE:
            assert {found(case, engine).outcome.status for engine in OTHERS} == {Status.INFEASIBLE}, case.name
            continue
        with_design += 1
        mine = optimize(case, CATALOG)
        assert mine.result.status is Status.OPTIMAL
        for engine in OTHERS:
            other = optimize(case, CATALOG, engine=engine.value)
            same = {"engine": mine.result.engine, "seconds": mine.result.seconds}
            assert other.result.model_copy(update=same).model_dump_json() == mine.result.model_dump_json(), case.name
            assert other.ledger == mine.ledger
    assert with_design >= 3


@cache
def shared() -> Found:
    """A solved case in which several fabrics share what there is, with templates to choose from."""
    return found(random_case(42, CATALOG, "fabrics"))


TIGHTER: dict[str, Callable[[Instance, Weight], dict[str, Any]]] = {
    "cost_ceiling": lambda _, w: {"limits": {"cost_usd": (w.cost - 1) / 100}},
    "power_ceiling": lambda _, w: {"limits": {"power_kw": (w.power - 1) / 1e6}},
    "site_power": lambda data, w: {"site": {"power_kw": (w.power + data.servers_mw - 1) / 1e6}},
}


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("limit", TIGHTER)
def test_a_limit_just_below_the_optimum_is_infeasible(limit: str, engine: Engine) -> None:
    """Every engine has every ceiling: at the optimum it changes nothing, a cent or milliwatt below nothing is left."""
    objective = Objective.COST if limit == "cost_ceiling" else Objective.POWER
    case = with_objective(random_case(42, CATALOG, "fabrics"), objective)
    data = found(case).data
    assert data is not None
    optimum = solve(data, engine)
    assert optimum.choice is not None
    changes = TIGHTER[limit](data, optimum.choice.net(data))
    ((section, ceiling),) = changes.items()
    ((setting, value),) = ceiling.items()
    step = 0.01 if limit == "cost_ceiling" else 1e-6
    for below, status in ((0, Status.OPTIMAL), (1, Status.INFEASIBLE)):
        model = getattr(case, section).model_copy(update={setting: round(value + step * (1 - below), 6)})
        tight = dataclasses.replace(data, case=case.model_copy(update={section: model}))
        assert solve(tight, engine).status is status


@pytest.mark.parametrize("limits", [{"skus": n} for n in (8, 7, 6)] + [{"vendors": 2}] + [{"racks": n} for n in (1, 2)])
def test_counted_limits_mean_the_same_to_every_engine(limits: dict[str, int]) -> None:
    """Parts, vendors and racks are counted alike in the program and in CP-SAT's own formulation."""
    data = shared().data
    assert data is not None
    case = data.case.model_copy(update={"limits": data.case.limits.model_copy(update=limits)})
    limited = dataclasses.replace(data, case=case)
    mine = solve(limited, Engine.HIGHS)
    for engine in OTHERS:
        other = solve(limited, engine)
        assert (other.status, other.value, other.choice) == (mine.status, mine.value, mine.choice)


def test_limits_that_an_answer_breaks_are_named() -> None:
    """Whatever an engine says, its answer is held to every limit in integers."""
    data, choice = shared().data, shared().outcome.choice
    assert data is not None
    assert choice is not None
    assert broken(data, choice) == []
    total, case = choice.net(data), data.case

    def limited(**limits: float) -> Instance:
        return dataclasses.replace(data, case=case.model_copy(update={"limits": case.limits.model_copy(update=limits)}))

    n_parts = len(choice.parts(data))
    n_vendors = len({data.vendor(part) for part in choice.parts(data)})
    assert broken(limited(cost_usd=(total.cost - 1) / 100), choice) == ["cost_ceiling"]
    assert broken(limited(power_kw=(total.power - 1) / 1e6), choice) == ["power_ceiling"]
    assert broken(limited(skus=n_parts - 1), choice) == ["sku_limit"]
    assert broken(limited(skus=n_parts, vendors=n_vendors), choice) == []
    assert broken(limited(vendors=n_vendors - 1), choice) == ["vendor_limit"]
    site = case.site.model_copy(update={"power_kw": (total.power + data.servers_mw - 1) / 1e6})
    assert broken(dataclasses.replace(data, case=case.model_copy(update={"site": site})), choice) == ["site_power"]
    full = copy.copy(data.machines.room)
    full.leaf_width = 0
    machines = dataclasses.replace(data.machines, room=full)
    assert broken(dataclasses.replace(data, machines=machines), choice) == ["network_space"]
    built = {key: [n + 1 for n in counts] for key, counts in choice.built.items()}
    assert broken(data, dataclasses.replace(choice, built=built)) == ["every_link_built"]


@pytest.mark.parametrize("seed", [19, 63, 86, 90, 117])
def test_objectives_count_by_rank(seed: int) -> None:
    """Of the coolest designs the cheapest is taken: the cheapest under a ceiling at the coolest; every engine does."""
    case = random_case(seed, CATALOG, "plain")
    coolest, ranked = (best(with_objective(case, *o)) for o in ([Objective.POWER], [Objective.POWER, Objective.COST]))
    ceiling = case.limits.model_copy(update={"power_kw": coolest.power / 1e6})
    under = best(with_objective(case, Objective.COST).model_copy(update={"limits": ceiling}))
    assert ranked.power == coolest.power
    assert ranked.cost == under.cost
    # The seeds are those where the second objective has something to say.
    assert ranked.cost < coolest.cost
    for engine in OTHERS:
        assert found(with_objective(case, Objective.POWER, Objective.COST), engine).outcome.value == ranked.power


def test_three_objectives_and_their_order() -> None:
    """The value told is that of the first objective; the order matters."""
    case = random_case(117, CATALOG, "plain")
    first = {o: best(with_objective(case, o, *(set(Objective) - {o}))).of(o) for o in Objective}
    assert first == {o: best(with_objective(case, o)).of(o) for o in Objective}
    result = optimize(with_objective(case, Objective.POWER, Objective.COST, Objective.TCO), CATALOG).result
    assert result.objective is not None
    assert result.objective.name == "power,cost,tco"
    assert round(result.objective.value * 1000) == first[Objective.POWER]


# --- stopped early ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", Engine)
@pytest.mark.parametrize("limit_s", [1e-9, 0.01])
def test_what_is_said_after_a_stop_is_true(engine: Engine, limit_s: float) -> None:
    """Optimal only at the optimum, and a bound that no design undercuts; without a design there is no value."""
    for family in ("plain", "limits", "fabrics"):
        for seed in range(8):
            case = random_case(seed, CATALOG, family)
            if compiled(case) is None:
                continue
            optimum, stopped = found(case).outcome.value, found(case, engine, limit_s).outcome
            if stopped.status in (Status.INFEASIBLE, Status.NO_SOLUTION):
                assert stopped.value is None
                assert stopped.gap is None
                assert stopped.status is Status.NO_SOLUTION or optimum is None, case.name
                continue
            assert optimum is not None
            assert stopped.value is not None
            assert stopped.bound is not None
            assert stopped.bound <= optimum <= stopped.value
            assert stopped.gap == (stopped.value - stopped.bound) / stopped.value
            if stopped.status is Status.OPTIMAL:
                assert stopped.value == optimum


@pytest.mark.parametrize("engine", Engine)
def test_an_enumeration_cut_short_is_never_optimal(engine: Engine) -> None:
    """With no time at all a large case ends with the gap that is left, or with nothing, and with a bound that holds."""
    catalog = load_catalog()
    path = CASES / "superpod-b200-16su.yaml"
    outcome = search(compile_case(read_case(path, catalog), catalog), engine, 1e-9).outcome
    assert outcome.status in (Status.FEASIBLE, Status.NO_SOLUTION)
    answer = float(written_answer(path)[0].split(", ")[1].split(" ")[0].replace(",", "").removesuffix("USD")) * 100
    assert outcome.bound is not None
    assert outcome.bound < answer
    if outcome.value is not None:
        assert outcome.value >= answer
        assert outcome.gap is not None
        assert outcome.gap > 0


def test_a_stop_is_never_called_infeasible() -> None:
    """The case has a design, so a search without time has found nothing yet, and must not say that there is none."""
    case = random_case(27, CATALOG, "limits")
    assert found(case).outcome.status is Status.OPTIMAL
    assert found(case, limit_s=1e-9).outcome.status is not Status.INFEASIBLE


def test_a_stopped_result_tells_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A design that is not proven comes with value, bound and gap, and with every check passed."""
    honest = optimize(CASE, CATALOG).result
    assert honest.totals is not None
    bent(monkeypatch, lambda _, raw: dataclasses.replace(raw, status=Status.FEASIBLE, bound=-1))
    result = optimize(CASE, CATALOG).result
    assert result.status is Status.FEASIBLE
    assert result.objective is not None
    assert result.bound is not None
    assert result.gap == pytest.approx((result.objective.value - result.bound) / result.objective.value)
    assert result.bound <= honest.totals.cost_usd <= result.objective.value
    assert result.verify is not None
    assert result.verify.passed


def test_a_second_objective_that_is_cut_short_is_not_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first objective is proven, the design in hand is kept, and the whole is called feasible."""
    case = with_objective(CASE, Objective.COST, Objective.POWER)
    data = found(case).data
    assert data is not None
    optimum = solve(data, Engine.HIGHS)
    for late in (Raw(Status.NO_SOLUTION, None, None), None):
        calls = 0

        def second(_: Formulation, raw: Raw, late: Raw | None = late) -> Raw:
            nonlocal calls
            calls += 1
            return raw if calls == 1 else late or dataclasses.replace(raw, status=Status.FEASIBLE)

        with monkeypatch.context() as patch:
            bent(patch, second)
            outcome = solve(data, Engine.HIGHS)
        assert calls == 2
        assert (outcome.status, outcome.value, outcome.bound) == (Status.FEASIBLE, optimum.value, optimum.value)


def test_the_clock_leaves_a_solver_its_least_time() -> None:
    """A solver is always given a hundredth of a second: none at all would mean no limit to some."""
    assert engines.Clock(None).left() is None
    assert engines.Clock(-5).left() == 0.01
    left = engines.Clock(60).left()
    assert left is not None
    assert 50 < left <= 60
    assert engines.Clock(-5).end_s < time.monotonic() < engines.Clock(None).end_s


# --- an engine that lies ----------------------------------------------------------------------------------------------

CASE = Case.model_validate(
    {
        "cluster": {"servers": 6, "server": "server-2"},
        "fabrics": {"backend": {"min_leaves": 2, "protocols": ["infiniband"]}},
        "site": {"tray_rise_m": 1, "slack_m": 0},
    }
)
Lie = Callable[[Formulation, Raw], Raw]


def bent(monkeypatch: pytest.MonkeyPatch, lie: Lie) -> None:
    """Let HiGHS answer through a liar."""
    honest = engines.run_highs
    monkeypatch.setattr(engines, "run_highs", lambda f, clock: lie(f, honest(f, clock)))


@cache
def instance() -> Instance:
    """The instance that the lies are about: it has a better and a worse template."""
    data = found(CASE).data
    assert data is not None
    assert len(data.templates[FabricName.BACKEND]) > 1
    return data


@cache
def optimum() -> Outcome:
    """What is true of it."""
    return solve(instance(), Engine.HIGHS)


def worst(f: Formulation) -> Callable[[Any], float]:
    """A solution that keeps every rule and is not the best: another template, every block built its first way."""
    data, backend = f.data, FabricName.BACKEND
    true = optimum().choice
    assert true is not None
    n = next(i for i, t in enumerate(data.templates[backend]) if t.rank() != true.templates[backend].rank())
    values = {f.z[backend][n].name: 1.0}
    values |= {xs[0].name: float(data.need(key, data.templates[backend][n])) for key, xs in f.x.items()}
    return lambda v: values.get(v.name, 0.0)


def built(f: Formulation) -> list[Any]:
    """The variables of what is built, those in use first."""
    return sorted((x for xs in f.x.values() for x in xs), key=lambda x: -(x.value() or 0))


LIES: dict[str, tuple[Lie, str]] = {
    "fraction": (
        lambda _, raw: dataclasses.replace(raw, value_of=lambda v: (v.value() or 0) + 0.3),
        r"is not an integer",
    ),
    "nearly a whole": (
        lambda _, raw: dataclasses.replace(raw, value_of=lambda v: (v.value() or 0) * 0.999),
        r"is not an integer",
    ),
    "a link left out": (
        lambda f, raw: dataclasses.replace(
            raw, value_of=lambda v: 0.0 if v is next(iter(built(f))) else v.value() or 0
        ),
        r"breaks every_link_built once rounded",
    ),
    "a link too many": (
        lambda f, raw: dataclasses.replace(raw, value_of=lambda v: (v.value() or 0) + (v is next(iter(built(f))))),
        r"breaks every_link_built once rounded",
    ),
    "a bound above": (
        lambda _, raw: dataclasses.replace(raw, bound=(raw.bound or 0) + 2),
        r"called optimal at .*, but the design weighs",
    ),
    "a bound below": (
        lambda _, raw: dataclasses.replace(raw, bound=(raw.bound or 0) - 2),
        r"called optimal at .*, but the design weighs",
    ),
    "a worse design": (
        lambda f, raw: dataclasses.replace(raw, value_of=worst(f)),
        r"called optimal at .*, but the design weighs",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_refused(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that does not hold in integers is an error, and a result that says so, never a design."""
    data, _ = instance(), optimum()
    answer, says = LIES[lie]
    bent(monkeypatch, answer)
    with pytest.raises(EngineError, match=says):
        solve(data, Engine.HIGHS)
    result = optimize(CASE, CATALOG).result
    assert (result.status, result.totals) == (Status.FAILED, None)
    assert result.reasons[0].startswith("highs: ")


def test_noise_below_the_tolerance_is_no_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """8.99999 is 9: solvers work in floating point."""
    data, true = instance(), optimum()
    bent(monkeypatch, lambda _, raw: dataclasses.replace(raw, value_of=lambda v: (v.value() or 0) - 1e-5))
    assert solve(data, Engine.HIGHS) == true


def test_a_tie_break_must_not_change_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run only chooses among equals; one that comes back with a dearer design is refused."""
    data, _ = instance(), optimum()
    calls = 0

    def late(f: Formulation, raw: Raw) -> Raw:
        nonlocal calls
        calls += 1
        return raw if calls == 1 else dataclasses.replace(raw, value_of=worst(f))

    bent(monkeypatch, late)
    with pytest.raises(EngineError, match="the tie-break changed the objective"):
        solve(data, Engine.HIGHS)
    assert calls == 2


def test_an_empty_answer_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing at all breaks no ceiling and weighs little; the verifier misses the servers' links."""
    bent(monkeypatch, lambda *_: Raw(Status.OPTIMAL, lambda _: 0.0, None))
    result = optimize(CASE, CATALOG).result
    assert result.status is Status.FAILED
    assert result.verify is not None
    assert not result.verify.passed


def test_cp_sat_is_held_to_the_same_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer of CP-SAT's own formulation with a link too few is refused alike."""
    data, honest = instance(), cp_sat._minimise

    def short(*args: Any) -> Any:
        status, choice, bound = honest(*args)
        assert choice is not None
        return status, dataclasses.replace(choice, built={k: [0] * len(n) for k, n in choice.built.items()}), bound

    monkeypatch.setattr(cp_sat, "_minimise", short)
    with pytest.raises(EngineError, match="breaks every_link_built"):
        solve(data, Engine.CP_SAT)


# --- silence ----------------------------------------------------------------------------------------------------------


def test_the_interface_prints_nothing() -> None:
    """A program that calls ``gpunet.optimize`` finds its standard output as it left it: no banner, no log."""
    script = (
        "import gpunet\n"
        "case = {'cluster': {'servers': 4, 'server': 'dgx-h100'}, 'fabrics': {'backend': {}}}\n"
        f"for engine in {[engine.value for engine in Engine]}:\n"
        "    assert gpunet.optimize(case, engine=engine).result.status == 'optimal'"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
