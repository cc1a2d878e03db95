"""Growth in phases: the plan against plain enumeration, what it is compared with, cables that move, and mistakes."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from exhaustive_phases import least_plan
from tiny_catalog import tiny_catalog
from typer.testing import CliRunner

from gpunet.case_file import case_from_data, read_case
from gpunet.case_phases import refuse_unplanned
from gpunet.catalogs import load_catalog
from gpunet.catalogs.located_yaml import Located
from gpunet.cli import app
from gpunet.models.case import Case, FabricName
from gpunet.models.design import Status
from gpunet.models.ledger import Device, Ledger, Link
from gpunet.models.problems import InputError
from gpunet.models.study_phases import PhasedPlan, Phases
from gpunet.report.phases_text import phases_report
from gpunet.solver.engines import Clock, Engine
from gpunet.solver.moved import moved_cables
from gpunet.solver.phase_moves import FewMoves, Moving, _together, rows_of
from gpunet.solver.phase_prices import Timeline
from gpunet.solver.phase_program import cost_of, solve_plan
from gpunet.solver.phase_search import Planned
from gpunet.solver.phases import PhasesError, _Study, phases
from gpunet.solver.template import Template

CATALOG = tiny_catalog()
CASES = Path(__file__).parent.parent / "cases"
MEDIA = [
    ["twin-sr4", "flat-sr4", "qsfp-sr4", "mpo-om4"],
    ["twin-sr4", "flat-sr4", "qsfp-sr4", "mpo-om4", "dac-twin-twin"],
    ["twin-dr4", "flat-dr4", "twin-sr4", "flat-sr4", "mpo-os2", "mpo-om4"],
]


def case_of(*sizes: int, **more: Any) -> Case:
    """A backend of small servers that grows once a year."""
    data: dict[str, Any] = {
        "name": "grow",
        "cluster": {"servers": sizes[-1], "server": "server-2"},
        "fabrics": {"backend": {}},
        "phases": [{"when": f"{2027 + i}Q1", "servers": n} for i, n in enumerate(sizes)],
        "price_decline_per_year": 0.2,
    }
    return case_from_data(data | more, CATALOG)


def plan_of(study: Phases) -> PhasedPlan:
    return study.plans[0]


def drawn(seed: int, fewest: bool = False) -> Case:
    """A small case with few parts; two phases of at most three servers where ``fewest``."""
    draw = Random(seed)
    media = draw.choice(MEDIA)
    small = fewest or media is MEDIA[2]
    sizes = sorted(draw.sample(range(1, 4 if fewest else 5 if small else 9), 3 if seed % 4 == 3 and not small else 2))
    switches = draw.sample(sorted(CATALOG.switches), 2 if fewest else draw.choice([2, 3, 4]))
    protocols = sorted({CATALOG.switches[s].protocol.value for s in switches})
    prices = {s: draw.choice([500, 2_000, 5_000, 9_000, 20_000]) for s in switches}
    if seed % 2:
        prices |= {part: draw.choice([50, 400, 1_000, 3_000]) for part in media}
    return case_of(
        *sizes,
        name=f"drawn-{seed}",
        fabrics={"backend": {"protocols": protocols, "oversubscription": draw.choice([1, 2]), "max_tiers": 2}},
        parts={"allow": [*switches, *media]},
        prices={"overrides_usd": prices},
        price_decline_per_year=draw.choice([0, 0.1, 0.3, 0.7]),
        site={"servers_per_rack": draw.choice([1, 2, 4])},
    )


NEED_THE_PROGRAM = (51, 59, 162)
"""Drawn cases whose bound does not meet the first plan found, so that the program decides."""


@pytest.mark.parametrize("seed", [*range(24), *NEED_THE_PROGRAM])
def test_the_plan_is_the_least_of_all(seed: int) -> None:
    """Plain enumeration of every series of designs finds the same least cost, to the cent, or no plan on both sides."""
    case = drawn(seed)
    study = phases(case, CATALOG)
    expected = least_plan(case, CATALOG, FabricName.BACKEND)
    if expected is None:
        assert study.plans == ()
        assert study.status is Status.INFEASIBLE
        return
    assert study.status is Status.OPTIMAL
    assert round(plan_of(study).cost_usd * 100) == expected
    assert all(step.verified for plan in study.plans for step in plan.steps)
    assert min(plan.more_usd for plan in study.plans) >= 0


@pytest.mark.parametrize("seed", [3, 8, NEED_THE_PROGRAM[0]])
def test_a_ceiling_on_what_is_spent(seed: int) -> None:
    """At the least that enumeration finds there is the same plan; with a cent less there is proven to be none."""
    case = drawn(seed)
    least = least_plan(case, CATALOG, FabricName.BACKEND)
    assert least is not None
    adapters = round(plan_of(phases(case, CATALOG)).cost_usd * 100) - least

    def limited(cents: int) -> Phases:
        limits = case.limits.model_copy(update={"cost_usd": cents / 100})
        return phases(case.model_copy(update={"limits": limits}), CATALOG)

    study = limited(least + adapters)
    assert study.status is Status.OPTIMAL
    assert study.plans == phases(case, CATALOG).plans
    none = limited(least + adapters - 1)
    assert (none.status, none.plans) == (Status.INFEASIBLE, ())
    assert f"{(least + adapters) / 100:,.2f} USD over all phases" in none.reasons[0]


@pytest.mark.parametrize("engine", ["scip", "cp-sat"])
@pytest.mark.parametrize("seed", [1, *NEED_THE_PROGRAM])
def test_engines_agree(seed: int, engine: str) -> None:
    """Every engine finds the same plan, not only the same cost."""
    case = drawn(seed)
    mine, other = phases(case, CATALOG), phases(case, CATALOG, engine=engine)
    assert mine.model_copy(update={"engine": engine}) == other
    assert (mine.solves > 0) == (seed in NEED_THE_PROGRAM)


def test_prices_fall_by_the_quarter() -> None:
    """Half a year at 19 % a year is a tenth; what is held until a later phase costs the difference, or all of it."""
    case = case_of(1, 2, phases=[{"when": "2027Q3", "servers": 1}, {"when": "2028Q1", "servers": 2}])
    timeline = Timeline.of(case.model_copy(update={"price_decline_per_year": 0.19}))
    assert timeline.cents(0, 1005) == 1005
    assert timeline.cents(1, 1005) == 905
    assert timeline.held(0, 1, 1005) == 100
    assert timeline.held(0, None, 1005) == 1005
    assert not timeline.is_flat(0)


def test_a_plan_buys_what_the_next_phase_can_use() -> None:
    """The cheapest network for one phase alone is of no use later; the plan takes a dearer one that is."""
    prices = {"eth-tiny-8": 4_000, "eth-tiny-16": 5_000}
    case = case_of(
        4,
        8,
        fabrics={"backend": {"protocols": ["ethernet"]}},
        price_decline_per_year=0.05,
        prices={"overrides_usd": prices},
    )
    study = phases(case, CATALOG)
    plan, at_once, unplanned = study.plans
    assert study.status is Status.OPTIMAL
    assert plan.steps[0].fabrics["backend"].switches == {"leaf eth-tiny-16": 1}
    assert plan.cost_usd == sum(line.extended_usd for step in plan.steps for line in step.lines)
    assert at_once.more_usd > 0
    assert at_once.steps[1].lines == ()
    assert unplanned.more_usd >= 0
    assert plan.moved_cables == plan.steps[1].moved_cables == 0
    assert plan.steps[1].cables_before == 8


def test_a_flat_price_costs_no_more_than_the_end_state_at_once() -> None:
    """Where prices do not fall, nothing is dearer than buying the end state at once, and the plan finds as much."""
    study = phases(case_of(3, 6, price_decline_per_year=0), CATALOG)
    assert study.status is Status.OPTIMAL
    assert study.plans[1].more_usd >= 0


def test_a_stopped_plan_says_so() -> None:
    """Out of time the plan is called feasible, and the bound stays below the optimum."""
    best = plan_of(phases(drawn(8), CATALOG)).cost_usd
    study = phases(drawn(8), CATALOG, time_limit_s=1e-9)
    if study.plans:
        assert study.status is Status.FEASIBLE
        assert study.gap is not None
        assert study.gap > 0
        assert plan_of(study).bound_usd <= best <= plan_of(study).cost_usd
    else:
        assert study.status is Status.NO_SOLUTION


# --- cables that move -------------------------------------------------------------------------------------------------


def ledger(*links: tuple[str, str, str], part: str = "switch-a") -> Ledger:
    """A ledger of cables, each a medium and the two devices that it joins."""
    found = Ledger()
    names = sorted({name for _, a, b in links for name in (a, b)})
    for name in names:
        tier = next((t for t in ("leaf", "spine", "core") if t in name), "")
        kind = "switch" if tier else "server"
        found.devices.append(Device(name, kind, part if tier else "server", "backend", tier, 0, "r01-c01", 1, 1))
    for i, (medium, a, b) in enumerate(links):
        found.links.append(Link("backend", "endpoint-leaf", 400, a, "g", i, 1, b, "g", i, 1, i, medium, 5))
    return found


def test_a_switch_may_take_another_name() -> None:
    """Leaves that swap their names move nothing; a server that changes its leaf moves its cable."""
    before = ledger(
        ("c", "leaf-1", "s1"), ("c", "leaf-2", "s2"), ("c", "leaf-1", "spine-1"), ("c", "leaf-2", "spine-1")
    )
    swapped = ledger(
        ("c", "leaf-2", "s1"), ("c", "leaf-1", "s2"), ("c", "leaf-1", "spine-9"), ("c", "leaf-2", "spine-9")
    )
    assert moved_cables(before, swapped) == (4, 0, 0)
    gathered = ledger(("c", "leaf-1", "s1"), ("c", "leaf-1", "s2"), ("c", "leaf-1", "spine-1"))
    assert moved_cables(before, gathered) == (4, 2, 2)


def test_another_part_is_no_cable_that_stays() -> None:
    """A cable of another part between the same devices is a new one, and so is every cable of another switch."""
    before = ledger(("c", "leaf-1", "s1"), ("c", "leaf-1", "s2"))
    assert moved_cables(before, ledger(("d", "leaf-1", "s1"), ("c", "leaf-1", "s2"))) == (2, 1, 1)
    assert moved_cables(before, ledger(("c", "leaf-1", "s1"), ("c", "leaf-1", "s2"), part="switch-b")) == (2, 2, 2)


# --- the face ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "path", "words"),
    [
        ({"phases": [{"when": "2028Q1", "servers": 1}, {"when": "2027Q1", "servers": 2}]}, "phases[1].when", "after"),
        ({"phases": [{"when": "2027Q1", "servers": 2}, {"when": "2028Q1", "servers": 2}]}, "phases[1]", "more in"),
        ({"phases": [{"when": "2027Q1", "servers": 1}, {"when": "2028Q1", "servers": 3}]}, "phases[1]", "same number"),
        ({"phases": [{"when": "2027-01", "servers": 1}, {"when": "2028Q1", "servers": 2}]}, "phases[0].when", ""),
        ({"phases": [{"when": "2027Q1", "servers": 2}]}, "phases", ""),
        ({"objective": "power"}, "objective", "cost"),
        ({"owned": [{"part": "eth-tiny-8", "quantity": 1}]}, "owned", "every piece at its price"),
        ({"spares": {"minimum": {"switch": 1}}}, "spares", "every piece at its price"),
        ({"limits": {"power_kw": 1e6}}, "limits.power_kw", "no limit over all fabrics"),
        ({"site": {"rack": {"cost_usd": 900}}}, "site.rack.cost_usd", "fabrics share them"),
        ({"site": {"tray": {"width_mm": 1, "depth_mm": 1, "fill": 1}}}, "site.tray", "no limit over all fabrics"),
        ({"site": {"power_kw": 1000}}, "site.power_kw", "no limit over all fabrics"),
        ({"fabrics": {"backend": {}, "oob": {}}}, "fabrics.oob", "one by one"),
        ({"cluster": {"servers": 2, "server": "server-2", "growth": 0.5}}, "cluster.growth", "no growth"),
        ({"fabrics": {"backend": {}, "storage": {"mode": "auto"}}}, "fabrics.storage.mode", "separate or converged"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(more: dict[str, Any], path: str, words: str) -> None:
    """A mistake, or a setting that a plan would pass over, is named with what was expected."""
    with pytest.raises(InputError) as caught:
        refuse_unplanned(case_of(1, 2, **more), Located("grow", more))
    problem = next(x for x in caught.value.problems if x.path == path)
    assert words in f"{problem.expected} {problem.message}"


def test_a_case_without_phases_has_no_plan() -> None:
    """The study says what is missing."""
    case = case_of(1, 2).model_copy(update={"phases": None})
    with pytest.raises(PhasesError, match="no phases"):
        phases(case, CATALOG)


def test_the_report_tells_the_plan() -> None:
    """Cost, proof, cables and every phase stand in the report."""
    study = phases(case_of(2, 4), CATALOG)
    text = " ".join(str(block) for block in phases_report(study))
    assert "proven the least" in text
    assert "2027Q1: 4 GPUs" in text
    assert f"{plan_of(study).cost_usd:,.2f}" in text


def test_the_command_prints_json_and_refuses_a_case_without_phases(tmp_path: Path) -> None:
    """``--json`` holds the study; a case without phases is a usage error that says so."""
    file = tmp_path / "grow.yaml"
    text = "cluster: {gpus: 64, server: dgx-h100}\nfabrics: {frontend: {}}\n"
    file.write_text(text + "phases: [{when: 2027Q1, gpus: 16}, {when: 2028Q1, gpus: 64}]\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["phases", str(file), "--json"])
    assert done.exit_code == 0, done.output
    study = Phases.model_validate(json.loads(done.stdout))
    assert study.status is Status.OPTIMAL
    file.write_text(text, encoding="utf-8")
    done = CliRunner().invoke(app, ["phases", str(file)])
    assert done.exit_code == 2
    assert "no phases" in done.output


def test_the_command_refuses_what_it_cannot_plan_at_its_line(tmp_path: Path) -> None:
    """A setting that a plan would pass over is named with its line; the end state itself can still be designed."""
    file = tmp_path / "grow.yaml"
    text = "cluster: {gpus: 64, server: dgx-h100}\nfabrics: {frontend: {}}\nlimits: {racks: 40}\n"
    file.write_text(text + "phases: [{when: 2027Q1, gpus: 16}, {when: 2028Q1, gpus: 64}]\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["phases", str(file)])
    assert done.exit_code == 2
    assert "grow.yaml:3:17: limits.racks" in done.output
    assert CliRunner().invoke(app, ["optimize", str(file), "--json"]).exit_code == 0


# --- few cables move --------------------------------------------------------------------------------------------------


class Every:
    """Every series of templates of a small case, with what it costs and moves, none left out by any bound."""

    def __init__(self, case: Case) -> None:
        study = _Study(case, CATALOG, "highs", Clock(None), lambda _: None)
        study._compile()
        self.planner = study._planner(FabricName.BACKEND)
        self.looks = FewMoves(self.planner, Planned((), 0, 0))
        found = []
        for q, stage in enumerate(self.planner.stages):
            self.planner.floor(q)
            found.append(stage.within(1e15))
        self.series = [self._weighed(templates) for templates in product(*found)]

    def _weighed(self, templates: tuple[Template, ...]) -> tuple[int, int, int]:
        steps = self.planner.steps(0, [[t] for t in templates], {})
        solved = solve_plan(steps, {}, Engine.HIGHS, Clock(None))
        moved = self.looks._moves(solved.built)
        least = sum(self.looks._at_least(q, a, b) for q, (a, b) in enumerate(pairwise(templates)))
        return cost_of(steps, tuple(x.parts for x in solved.built), {}), moved, least


@pytest.mark.parametrize("seed", [4, 7, 16])
def test_the_plan_within_a_limit_is_the_least_of_all(seed: int) -> None:
    """Over every series of templates, the least cost at each limit, and the fewest moves at that cost, are found."""
    case = drawn(seed, fewest=True)
    every = Every(case)
    assert all(least <= moved for _, moved, least in every.series)
    proven = 0
    for limit in (None, *sorted({moved for _, moved, _ in every.series})[:4]):
        limited = case.model_copy(update={"limits": case.limits.model_copy(update={"moved_cables": limit})})
        study = phases(limited, CATALOG)
        expected = min((cents, moved) for cents, moved, _ in every.series if limit is None or moved <= limit)
        assert (round(plan_of(study).cost_usd * 100), plan_of(study).moved_cables) == expected
        assert round(plan_of(study).bound_usd * 100) <= expected[0]
        proven += study.status is Status.OPTIMAL
    assert proven > 1


@pytest.mark.parametrize("seed", range(6))
def test_what_a_template_says_of_its_leaves_is_what_is_wired(seed: int) -> None:
    """Every leaf has the links to every machine that the bound on moved cables counts with."""
    study = _Study(drawn(seed, fewest=True), CATALOG, "highs", Clock(None), lambda _: None)
    study._compile()
    planner = study._planner(FabricName.BACKEND)
    looks = FewMoves(planner, Planned((), 0, 0))
    seen = 0
    for q, stage in enumerate(planner.stages):
        for t in stage.within(1e15):
            wired: Counter[tuple[str, str]] = Counter()
            for link in looks._ledger(q, stage.built(t)).links:
                if link.link_class == "endpoint-leaf":
                    wired[link.a_device, link.b_device] += 1
            rows = [sorted(row.items()) for row in rows_of(t) if row]
            by_leaf: dict[str, dict[str, int]] = {}
            for (leaf, host), n in wired.items():
                by_leaf.setdefault(leaf, {})[host] = n
            assert sorted(rows) == sorted(sorted(row.items()) for row in by_leaf.values())
            seen += 1
    assert seen > 3


def moving(cents: int, moved: int, bound: int | None = None, found: bool = True) -> Moving:
    """A plan of one fabric; of its designs only that there are some."""
    return Moving(Planned((BUILT,) if found else (), cents, cents if bound is None else bound), moved)


BUILT: Any = "built"


def test_fabrics_share_a_limit() -> None:
    """The cheapest choice within the limit is taken, and its bound says what a plan that was not found may cost."""
    fronts = [[moving(100, 9), moving(130, 4), moving(190, 0)], [moving(50, 6), moving(75, 1), moving(90, 0)]]
    assert [x.plan.cents for x in _together(fronts, 10)] == [100, 75]
    assert [x.plan.cents for x in _together(fronts, 5)] == [130, 75]
    assert [x.plan.cents for x in _together(fronts, 4)] == [130, 90]
    assert all(x.plan.is_proven for x in _together(fronts, 4))
    unknown = [[moving(100, 9), moving(0, 0, 120, found=False)], [moving(50, 1)]]
    found = _together(unknown, 10)
    assert [x.plan.cents for x in found] == [100, 50]
    assert all(x.plan.is_proven for x in found)
    nothing = _together(unknown, 5)
    assert not any(x.plan.built for x in nothing)
    assert sum(x.plan.bound for x in nothing) == 170
    stopped = _together([[moving(130, 4, 101), moving(190, 0)], [moving(50, 0)]], 4)
    assert [x.plan.cents for x in stopped] == [130, 50]
    assert sum(x.plan.bound for x in stopped) == 151


# --- shipped cases ----------------------------------------------------------------------------------------------------

SHIPPED = {
    "phases-256-1024": (2_707_631.12, (762_712.00, 1_944_919.12), 192, 343_216.88, 39_062.00),
    "phases-64-128-256": (492_978.18, (255_887.00, 85_083.34, 152_007.84), 0, 45_109.82, 97_130.89),
    "phases-128-512-unmoved": (1_369_780.08, (496_856.00, 872_924.08), 0, 154_043.92, -47_019.00),
}
"""What a plan costs, in all and phase by phase, the cables it moves, and what the two other ways cost more."""


@pytest.mark.parametrize("name", SHIPPED)
def test_the_plan_of_a_shipped_case(name: str) -> None:
    """Cost to the cent, phase by phase, proven, with the cables that move; every phase of every way is verified."""
    catalog = load_catalog()
    study = phases(read_case(CASES / f"{name}.yaml", catalog), catalog)
    plan, at_once, unplanned = study.plans
    assert study.status is Status.OPTIMAL
    spent = tuple(step.cost_usd for step in plan.steps)
    assert (plan.cost_usd, spent, plan.moved_cables, at_once.more_usd, unplanned.more_usd) == SHIPPED[name]
    assert all(step.verified for way in study.plans for step in way.steps)
    assert plan.bound_usd == plan.cost_usd


@pytest.mark.parametrize("engine", ["scip", "cp-sat"])
def test_engines_agree_on_a_shipped_case(engine: str) -> None:
    """Every engine finds the same plan for three networks over three phases."""
    catalog = load_catalog()
    case = read_case(CASES / "phases-64-128-256.yaml", catalog)
    mine, other = phases(case, catalog), phases(case, catalog, engine=engine)
    assert mine.model_copy(update={"engine": engine}) == other
