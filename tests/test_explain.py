"""Why there is no design: clashes of named limits and smallest changes, held to exhaustive search; and what binds."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from case_answers import CASES
from exhaustive import least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from typer.testing import CliRunner

import gpunet
from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.cli import app
from gpunet.models.case import Case, PartFilter
from gpunet.models.design import Status
from gpunet.models.evidence import Fact, How
from gpunet.models.parts import Catalog
from gpunet.models.parts import Status as PartStatus
from gpunet.models.study_explain import Explanation
from gpunet.report.blocks import Heading, Paragraph, Point
from gpunet.report.explain_text import explain_report
from gpunet.solver import program
from gpunet.solver.admit import admit, let_in, shut_out
from gpunet.solver.clash import clashes, keeping, known_limits
from gpunet.solver.explain import explain, why_not
from gpunet.solver.ladders import Ladder, Shares
from gpunet.solver.least_change import Change, least_change
from gpunet.solver.lifts import How as Search
from gpunet.solver.lifts import Limit, Order, put
from gpunet.solver.optimize import optimize
from gpunet.solver.tasks import Plan
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
BARELY = {"cost": 0.01, "power": 1e-6}
"""A cent in USD and a milliwatt in kW."""
INFEASIBLE = [
    *(("plain", seed) for seed in (22, 34, 41, 49, 83, 146, 155, 199, 215)),
    *(("limits", seed) for seed in (0, 1, 10, 18, 35, 43, 48, 56, 59)),
    *(("fabrics", seed) for seed in (1, 3, 5, 8, 17, 18, 24)),
    *(("parts", seed) for seed in (3, 4, 8)),
]
"""Small random cases without a design, of every family."""


@cache
def bench_of(family: str, seed: int) -> Workbench:
    """A random case that has no design."""
    bench = Workbench(random_case(seed, CATALOG, family), CATALOG)
    assert not bench.at({}).is_optimal
    return bench


def universe(bench: Workbench, found: list[list[Limit]]) -> list[Limit]:
    """The limits that a clash is among: sizes of the room at their defaults only where it needs them."""
    every = known_limits(bench)
    needed = any(limit.order is Order.ROOM for clash in found for limit in clash)
    return every if needed else [limit for limit in every if limit.order is not Order.ROOM]


def has_design(case: Case) -> bool:
    """What exhaustive search says."""
    return least(case, CATALOG) is not None


def changes_of(bench: Workbench) -> list[tuple[Limit, Change | None]]:
    """Every limit of the clashes with its smallest change."""
    found, _ = clashes(bench)
    limits = {limit.setting: limit for clash in found for limit in clash}
    return [(limit, least_change(bench, bench.case, limit)) for limit in limits.values()]


@pytest.mark.parametrize(("family", "seed"), INFEASIBLE)
def test_a_clash_is_one_and_every_limit_of_it_is_needed(family: str, seed: int) -> None:
    """Exhaustive search finds no design that keeps a clash, and one as soon as any limit of it is let go."""
    bench = bench_of(family, seed)
    found, _ = clashes(bench)
    limits = universe(bench, found)
    assert found
    for clash in found:
        assert not any(has_design(case) for case in keeping(bench.case, limits, clash))
        for limit in clash:
            fewer = [x for x in clash if x is not limit]
            assert any(has_design(case) for case in keeping(bench.case, limits, fewer)), limit.setting


@pytest.mark.parametrize(("family", "seed"), INFEASIBLE)
def test_a_smallest_change_is_enough_and_no_smaller_one_is(family: str, seed: int) -> None:
    """Exhaustive search agrees with every value: it has a design, the step before has none; or nothing helps at all."""
    bench = bench_of(family, seed)
    for limit, change in changes_of(bench):
        if change is None:
            assert not has_design(limit.lifted(bench.case)), limit.setting
            continue
        assert has_design(put(bench.case, limit.setting, change.value)), limit.setting
        if limit.how is Search.LEAST:
            assert limit.aim is not None
            less = change.value - BARELY[limit.aim.value]
            assert not has_design(put(bench.case, limit.setting, less)), limit.setting
        elif limit.how is Search.LATENCY:
            assert not has_design(put(bench.case, limit.setting, change.value - 0.01))
        elif limit.how is Search.ALONG and change.value in limit.nearer:
            before = _before(limit, change.value)
            assert not any(has_design(put(bench.case, limit.setting, value)) for value in before), limit.setting


def _before(limit: Limit, value: Any) -> list[Any]:
    """The two values of a ladder before one."""
    at = next(i for i in range(len(limit.nearer)) if limit.nearer[i] == value)
    return [limit.nearer[i] for i in range(max(0, at - 2), at)]


def test_the_random_cases_need_every_kind_of_search() -> None:
    """The cases above cover ladders, alternatives, ceilings, latency and lists of parts."""
    kinds = {limit.how for key in INFEASIBLE for clash in clashes(bench_of(*key))[0] for limit in clash}
    assert kinds == set(Search)


@cache
def shipped(name: str) -> Explanation:
    """The explanation of a shipped case."""
    catalog = load_catalog()
    return explain(read_case(CASES / f"{name}.yaml", catalog), catalog)


SHIPPED = {
    "no-power": {"limits.power_kw": "9.915", "cluster.gpus": "224"},
    "no-reach": {
        "site.fibre": "[OM4, OS2]",
        "site.row_pitch_m": "38.6",
        "site.rows": "not set",
        "cluster.gpus": "32",
    },
    "no-single-limit": {"limits.cost_usd": None, "limits.power_kw": None, "cluster.gpus": "136"},
    "no-tiers": {
        "fabrics.backend.max_tiers": "3",
        "fabrics.backend.parts.allow": "adding ib-q3400",
        "fabrics.backend.oversubscription": "1.1",
        "cluster.gpus": "2048",
    },
}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_cases_name_their_limits_and_what_is_enough(name: str) -> None:
    """The user's own settings, each with the value that alone is enough, hand-checked once."""
    study = shipped(name)
    assert study.status is Status.INFEASIBLE
    assert {x.setting: x.enough for clash in study.clashes for x in clash.limits} == SHIPPED[name]
    for clash in study.clashes:
        for x in clash.limits:
            assert (x.design is None) == (x.enough is None)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_limit_of_a_shipped_clash_removed_in_turn_finds_a_design(name: str) -> None:
    """With all limits of the set there is no design, without any one of them there is: by fresh searches."""
    catalog = load_catalog()
    case = read_case(CASES / f"{name}.yaml", catalog)
    bench = Workbench(case, catalog)
    limits = [x for x in known_limits(bench) if x.order is not Order.ROOM]
    fresh = Workbench(case, catalog)
    for clash in shipped(name).clashes:
        names = {x.setting for x in clash.limits}
        kept = [x for x in limits if x.setting in names]
        assert len(kept) == len(names)
        assert not any(fresh.of(found).is_optimal for found in keeping(case, limits, kept))
        for limit in kept:
            fewer = [x for x in kept if x is not limit]
            assert any(fresh.has_design(found) for found in keeping(case, limits, fewer)), limit.setting


def test_limits_that_must_move_together_do_with_the_values_named() -> None:
    """Where no single ceiling helps, both at once do, and the size of the cluster is no way out of them."""
    together = shipped("no-single-limit").together
    assert together is not None
    moved = {x.setting: x.enough for x in together.limits}
    assert moved == {"limits.cost_usd": "397792.00", "limits.power_kw": "6.91"}
    catalog = load_catalog()
    case = read_case(CASES / "no-single-limit.yaml", catalog)
    for cost_usd, power_kw, status in (
        (397_792.0, 6.91, Status.OPTIMAL),
        (397_791.99, 6.91, Status.INFEASIBLE),
        (397_792.0, 6.909999, Status.INFEASIBLE),
    ):
        limits = case.limits.model_copy(update={"cost_usd": cost_usd, "power_kw": power_kw})
        assert Workbench(case.model_copy(update={"limits": limits}), catalog).at({}).status is status


def test_optimize_gives_the_reasons_of_explain() -> None:
    """One search behind both: the settings and words of the study stand in the reasons."""
    catalog = load_catalog()
    reasons = optimize(read_case(CASES / "no-tiers.yaml", catalog), catalog).result.reasons
    for clash in shipped("no-tiers").clashes:
        for x in clash.limits:
            assert f"{x.setting}: {x.words}" in reasons


def test_reasons_keep_to_the_time_that_is_left() -> None:
    """With no time left nothing is begun, what is plain is told all the same, and so is that more could be."""
    catalog = load_catalog()
    found = why_not(read_case(CASES / "no-reach.yaml", catalog), catalog, "highs", 0.0)
    assert found[0].startswith("fabrics.backend: infiniband leaf to spine needs 112 m")
    assert found[1:] == ("stopped before every limit was looked at: gpunet explain takes the time it needs",)


def small(**sections: Any) -> Case:
    """Two servers and a backend, with more sections."""
    data = {"name": "small", "cluster": {"servers": 2, "server": "server-2"}, "fabrics": {"backend": {}}}
    return Case.model_validate(data | sections)


def test_a_room_too_small_names_its_settings() -> None:
    """A room that cannot hold the racks is explained like everything else: rows, racks and servers, each alone."""
    case = small(
        cluster={"servers": 9, "server": "server-2"}, site={"rows": 2, "racks_per_row": 2, "servers_per_rack": 2}
    )
    study = explain(case, CATALOG)
    assert study.obstacles == ("site.rows: 5 racks are needed; 2 rows of 2 hold 4",)
    enough = {x.setting: x.enough for clash in study.clashes for x in clash.limits}
    assert enough == {
        "site.rows": "3",
        "site.racks_per_row": "3",
        "site.servers_per_rack": "not set",
        "cluster.servers": "8",
    }


def test_a_rack_at_its_default_is_named_where_nothing_else_could_be() -> None:
    """A server that no default rack holds: the clash needs a size of the room that the case does not give."""
    heavy = CATALOG.servers["server-2"].model_copy(
        update={"power_max_w": Fact(v=60_000, how=How.ESTIMATED, src="made-up")}
    )
    catalog: Catalog = CATALOG.model_copy(update={"servers": {**CATALOG.servers, "server-2": heavy}})
    study = explain(small(), catalog)
    (clash,) = study.clashes
    (only,) = clash.limits
    assert (only.setting, only.is_default) == ("site.rack.power_kw", True)
    assert only.enough is not None
    assert 60 < float(only.enough) < 60.1
    rack = {"rack": {"power_kw": round(float(only.enough) - 0.01, 2)}}
    assert not Workbench(small(site=rack), catalog).at({}).is_optimal


def test_no_limit_to_blame_is_said_so() -> None:
    """A server that nothing can be plugged into has no design whatever the limits are."""
    catalog = CATALOG.model_copy(update={"modules": {}, "cables": {}, "fibres": {}})
    study = explain(small(limits={"cost_usd": 1}), catalog)
    assert study.status is Status.INFEASIBLE
    assert not study.clashes
    assert "even without the limits of the case" in study.notes[0]


def test_letting_parts_in_lets_in_nothing_else() -> None:
    """For every part that some filter, status or grade keeps out, admitting it changes what is shut out by it alone."""
    legacy = CATALOG.modules["flat-sr4"].model_copy(update={"status": PartStatus.LEGACY})
    catalog = CATALOG.model_copy(update={"modules": {**CATALOG.modules, "flat-sr4": legacy}})
    case = small(
        parts={"deny": ["umbra:*", "eth-tiny-8"], "allow": ["southern:*", "ib-tiny-8"]},
        fabrics={"backend": {"parts": {"deny": ["mpo-om4"]}, "protocols": ["ethernet"]}},
        site={"fibre": ["OM4"]},
    )
    (fabric,) = shut_out(case, catalog)
    before = shut_out(case, catalog)[fabric]
    tried = 0
    for part, by in before.items():
        after = shut_out(admit(case, catalog, [part], [fabric], by), catalog)[fabric]
        if by != "fabrics.backend.protocols" and catalog.switches.get(part, None) is not None:
            # Let through the lists, a switch of another protocol is still out by that.
            assert after.get(part) in (None, "fabrics.backend.protocols")
        else:
            assert part not in after
        others = set(before) - {part}
        assert {p for p in others if p not in after} == set()
        assert {p for p in after if p not in before} <= set(catalog.fibres) | set(catalog.switches)
        tried += 1
    assert tried > 10
    assert let_in(PartFilter(deny=("module:*",)), catalog, ["flat-sr4"], case).deny == tuple(
        p for p in catalog.modules if p != "flat-sr4"
    )


@pytest.mark.parametrize("seed", [1, 5, 12])
def test_what_binds_and_what_is_kept_out_is_solved_afresh(seed: int) -> None:
    """Every saving of a limit and of a part let in is the difference to a fresh search, and none is left out."""
    case = random_case(seed, CATALOG, "plain").model_copy(update={"parts": PartFilter(deny=("umbra:*", "eth-tiny-16"))})
    bench = Workbench(case, CATALOG)
    if not bench.at({}).is_optimal:
        pytest.skip("these parts do not make a design")
    study = explain(case, CATALOG)
    assert study.value is not None
    unit = 1000 if case.objectives[0].value == "power" else 100
    named = {limit.setting: limit for limit in known_limits(bench)}
    for worth in study.limits:
        if not worth.setting.endswith(".oversubscription"):
            there = Workbench(named[worth.setting].lifted(case), CATALOG).at({})
            assert worth.value == (there.value / unit if there.is_optimal else None)
    for group in study.shut_out:
        found = {x.part: x.saved for x in group.better}
        for part in group.parts if group.saved is not None else ():
            there = Workbench(admit(case, CATALOG, [part], list(shut_out(case, CATALOG)), group.by), CATALOG).at({})
            saved = (bench.at({}).value - there.value) / unit
            assert found.get(part, 0.0) == pytest.approx(saved)


def test_kept_out_parts_are_found_by_halving() -> None:
    """Of the parts denied, exactly those are named that make the design cheaper alone."""
    case = small(parts={"deny": ["eth-tiny-8", "ib-tiny-4", "eth-duo-6", "mpo-os2"]}, objective="cost")
    study = explain(case, CATALOG)
    (group,) = [g for g in study.shut_out if g.by == "parts.deny"]
    singly = {}
    for part in group.parts:
        left = [p for p in case.parts.deny if p != part]
        there = Workbench(small(parts={"deny": left}), CATALOG).at({})
        if there.value / 100 < (study.value or 0):
            singly[part] = round((study.value or 0) - there.value / 100, 2)
    assert singly
    assert {x.part: round(x.saved, 2) for x in group.better} == singly


def test_every_family_of_the_program_has_its_limit() -> None:
    """A limit that the program enforces can be named in a clash, unless it is no limit of the user's."""
    case = small(
        limits={"cost_usd": 1, "power_kw": 1, "racks": 1, "vendors": 1, "skus": 1, "lead_time_weeks": 1},
        site={
            "power_kw": 1,
            "network_racks_per_row": 1,
            "network_racks_central": 1,
            "tray": {"width_mm": 1, "depth_mm": 1, "fill": 1},
        },
    )
    named = {limit.setting for limit in known_limits(Workbench(case, CATALOG))}
    asked = {s for family in program.FAMILIES for s in family.setting.split(", ") if s.startswith(("limits.", "site."))}
    assert "site.tray.width_mm" in named
    assert asked <= named | {"site.rack", "site.rack.cost_usd", "site.switch_placement", "site.tray"}


def test_ladders_end_where_they_should() -> None:
    """Each step asks for less than the one before, and a share of growth never comes to more servers than meant."""
    assert [Ladder(0.3, -0.1, 4)[i] for i in range(4)] == [0.3, 0.2, 0.1, 0.0]
    assert len(Ladder(1, 1, -3)) == 0
    shares = Shares(7, 3)
    assert [shares[i] for i in range(len(shares))] == [0.428571, 0.285714, 0.142857, 0.0]


def test_any_number_of_processes_gives_the_same_bytes() -> None:
    """Two processes answer like one, with a design and without."""
    for case in (random_case(35, CATALOG, "limits"), random_case(5, CATALOG, "plain")):
        one, two = explain(case, CATALOG), explain(case, CATALOG, Plan(jobs=2))
        assert one.model_dump_json() == two.model_dump_json()
        assert one.complete


def test_a_stopped_study_says_so_and_goes_on(tmp_path: Path) -> None:
    """Stopped before the changes are known, it is incomplete; resumed, it is what one run would have given."""
    case = random_case(35, CATALOG, "limits")
    whole = explain(case, CATALOG)
    plan = Plan(journal=tmp_path / "work.jsonl")
    plan.tell = lambda text: plan.stop.set() if "last: clash" in text else None
    part = explain(case, CATALOG, plan)
    assert not part.complete
    assert explain(case, CATALOG, Plan(journal=plan.journal)) == whole


def test_the_report_answers_first_and_names_every_way_out() -> None:
    """The first paragraph says what is enough; limits that must move together have a section of their own."""
    (first, *rest) = explain_report(shipped("no-reach"))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("no-reach: no design meets the case, proven;")
    assert "site.fibre [OM4, OS2]; site.row_pitch_m 38.6; site.rows not set; cluster.gpus 32" in first.text
    assert any(isinstance(block, Point) and "leaf to spine needs 112 m" in block.text for block in rest)
    headings = [block.text for block in explain_report(shipped("no-single-limit")) if isinstance(block, Heading)]
    assert "limits.cost_usd and limits.power_kw: all of these must give way, and that is enough" in headings


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explain", *words])
    return result.exit_code, result.output


def test_the_command_tells_why_there_is_no_design() -> None:
    """Exit code 1, and all of the study as JSON."""
    code, output = run("cases/no-tiers.yaml", "--json")
    assert code == 1
    assert Explanation.model_validate(json.loads(output)) == shipped("no-tiers")


def test_the_command_tells_what_holds_a_design() -> None:
    """Exit code 0; the limits that bind are named with what they cost."""
    code, output = run("cases/guide-128.yaml")
    assert code == 0
    assert "Limits that bind" in output
    assert "fabrics.backend.min_leaves" in output


def test_the_python_interface_is_the_same_study() -> None:
    """``gpunet.explain`` takes what ``gpunet.optimize`` takes."""
    assert gpunet.explain(CASES / "no-tiers.yaml") == shipped("no-tiers")
    with pytest.raises(ValueError, match="objective"):
        gpunet.explain(CASES / "no-tiers.yaml", objective="beauty")
