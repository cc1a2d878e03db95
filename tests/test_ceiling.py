"""Ceilings: the largest number that fits is that of an exhaustive scan, also where cost falls as servers join."""

from __future__ import annotations

import json
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from exhaustive import least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from typer.testing import CliRunner

import gpunet
from gpunet.cli import app
from gpunet.models.case import MAX_SERVERS, Case, Limits, Objective
from gpunet.models.design import Status
from gpunet.models.study_ceiling import Ceiling
from gpunet.solver.ceiling import CeilingError, ceiling, growth_of, within
from gpunet.solver.demand import survey
from gpunet.solver.requirement_steps import moved
from gpunet.solver.server_floor import ServerFloor, largest
from gpunet.solver.tasks import Plan
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
BEYOND = 2
"""Numbers past the bound that are looked at too."""


def base_case(seed: int, family: str = "plain", objective: Objective = Objective.COST) -> Case:
    return random_case(seed, CATALOG, family).model_copy(update={"objective": objective})


def capped(case: Case, cost_usd: float | None, power_kw: float | None) -> Case:
    limits = case.limits.model_copy(update={"cost_usd": cost_usd, "power_kw": power_kw})
    return case.model_copy(update={"limits": limits})


def worth(case: Case, objective: Objective) -> int:
    """The least of one total by a fresh solve, cents or milliwatts."""
    return Workbench(case.model_copy(update={"objective": objective}), CATALOG).at({}).value


def scan(case: Case, most: int) -> int | None:
    """The largest number up to ``most`` for which plain enumeration finds a design within the limits."""
    fitting = [n for n in range(1, most + 1) if least(moved(case, "cluster.servers", n), CATALOG) is not None]
    return max(fitting, default=None)


@pytest.mark.parametrize(
    ("family", "seed", "servers", "share"),
    [
        ("plain", 0, 3, 1.0),
        ("plain", 3, 4, 1.04),
        ("plain", 5, 1, 1.3),
        ("plain", 10, 4, 1.1),
        ("plain", 17, 3, 1.0),
        ("plain", 20, 2, 1.05),
        ("plain", 26, 4, 1.0),
        ("parts", 2, 1, 1.6),
        ("fabrics", 6, 1, 2.1),
        ("fabrics", 10, 1, 1.2),
    ],
)
def test_the_largest_number_is_that_of_an_exhaustive_scan(family: str, seed: int, servers: int, share: float) -> None:
    """Under a ceiling on cost, scanned by plain enumeration past the bound that the study claims."""
    case = base_case(seed, family)
    case = capped(case, None, None)
    usd = round(share * worth(moved(case, "cluster.servers", servers), Objective.COST) / 100, 2)
    study = ceiling(case, CATALOG, cost_usd=usd)
    assert study.servers is not None
    assert study.servers >= servers
    assert study.servers == scan(capped(case, usd, None), study.at_most_servers + BEYOND)
    assert study.gpus == study.servers * study.gpus_per_server
    assert study.design is not None
    assert study.design.cost_usd <= usd
    assert study.next_design is None or study.next_design.cost_usd > usd


@pytest.mark.parametrize(("seed", "small"), [(13, 1), (96, 1), (61, 8), (30, 12)])
def test_cost_that_falls_as_servers_join_is_no_trap(seed: int, small: int) -> None:
    """One server more costs less here; between the two costs the smaller number does not fit, the larger one does."""
    case = capped(base_case(seed), None, None)
    dear, cheap = (worth(moved(case, "cluster.servers", n), Objective.COST) for n in (small, small + 1))
    assert cheap < dear
    study = ceiling(case, CATALOG, cost_usd=cheap / 100)
    bench = Workbench(capped(case, cheap / 100, None), CATALOG)
    fitting = [
        n
        for n in range(1, study.at_most_servers + BEYOND + 1)
        if bench.of(moved(bench.case, "cluster.servers", n)).is_optimal
    ]
    assert small not in fitting
    assert small + 1 in fitting
    assert study.servers == max(fitting)


@pytest.mark.parametrize("seed", [3, 6, 10])
@pytest.mark.parametrize("objective", [Objective.COST, Objective.POWER, Objective.TCO])
def test_two_ceilings_at_once_and_those_of_the_case(seed: int, objective: Objective) -> None:
    """Cost and power together, one of them in the case or from the site, whatever is minimised."""
    case = capped(base_case(seed, objective=objective), None, None)
    three = moved(case, "cluster.servers", 3)
    usd, watts = worth(three, Objective.COST) * 1.02 / 100, worth(three, Objective.POWER) * 1.02 / 1000
    both = capped(case, usd, watts / 1000)
    study = ceiling(case, CATALOG, cost_usd=usd, power_kw=watts / 1000)
    assert study.servers == scan(both, study.at_most_servers + BEYOND)
    in_case = ceiling(both, CATALOG, cost_usd=usd * 9)
    assert (in_case.servers, in_case.cost_usd, in_case.power_kw) == (study.servers, usd, watts / 1000)
    server_w = CATALOG.servers[case.cluster.server].power_max_w.v
    site = moved(case, "site.power_kw", (3 * server_w + watts) / 1000)
    of_site = ceiling(site, CATALOG)
    assert of_site.servers == scan(site, of_site.at_most_servers + BEYOND)
    assert (of_site.cost_usd, of_site.power_kw) == (None, None)


@pytest.mark.parametrize(("family", "seed"), [*(("plain", s) for s in range(20)), *(("fabrics", s) for s in range(6))])
def test_the_floor_lies_under_every_optimum_and_never_falls(family: str, seed: int) -> None:
    """For every number of servers and of places, against fresh solves; so what it rules out cannot fit."""
    case = capped(random_case(seed, CATALOG, family), None, None)
    floor, bench = ServerFloor(case, CATALOG), Workbench(case, CATALOG)
    for objective in (Objective.COST, Objective.POWER):
        before = 0.0
        for n in range(1, 8):
            answer = bench.of(moved(moved(case, "cluster.growth", 0.0), "cluster.servers", n))
            bound = floor.least(objective, n, n)
            assert before <= bound <= floor.least(objective, n, n + 3)
            assert answer.weight is None or bound <= answer.weight.of(objective)
            before = bound
    grown = moved(moved(case, "cluster.growth", growth_of(2, 5)), "cluster.servers", 2)
    answer = bench.of(grown)
    assert answer.weight is None or floor.least(Objective.COST, 2, 5) <= answer.weight.cost


def test_ports_end_what_money_does_not() -> None:
    """Where a single tier is allowed, no more servers than the largest switch has ports, at any price."""
    case = capped(base_case(2), 1e12, None)
    flat = moved(moved(case, "fabrics.backend.max_tiers", 1), "fabrics.backend.min_leaves", 1)
    study = ceiling(flat, CATALOG)
    assert study.servers is not None
    assert study.servers == scan(flat, study.at_most_servers + BEYOND)
    assert study.next_design is None
    assert largest(ServerFloor(flat, CATALOG), None, MAX_SERVERS) == study.at_most_servers


def test_a_room_ends_what_money_does_not() -> None:
    """Rows and racks given: the room holds so many servers, and the reason for no more is named."""
    case = capped(base_case(26), 1e7, None)
    site = case.site.model_copy(update={"rows": 1, "racks_per_row": 2, "servers_per_rack": 2})
    study = ceiling(case.model_copy(update={"site": site}), CATALOG)
    assert (study.servers, study.at_most_servers) == (4, 4)
    assert "site.rows" in study.next_reason


@pytest.mark.parametrize(("servers", "places"), [(s, m) for s in (1, 3, 7, 11, 12, 49) for m in range(s, 4 * s + 1)])
def test_growth_means_the_places_it_was_reckoned_from(servers: int, places: int) -> None:
    """Rounding up to whole servers never makes one more of it."""
    case = Case.model_validate({"cluster": {"servers": servers, "server": "server-2"}})
    grown = moved(case, "cluster.growth", growth_of(servers, places))
    assert survey(grown, CATALOG).n_servers_future == places


@pytest.mark.parametrize(("seed", "share"), [(2, 1.25), (3, 1.08), (6, 1.08), (12, 1.08), (17, 1.1), (29, 1.08)])
def test_what_else_the_money_buys_is_exact(seed: int, share: float) -> None:
    """Growth is that of an exhaustive scan; the least ratio fits, and nothing just below it does: by enumeration."""
    case = capped(base_case(seed), None, None)
    case = moved(moved(case, "fabrics.backend.oversubscription", 3.0), "cluster.growth", 0.0)
    usd = worth(case, Objective.COST) * share / 100
    study, limited = ceiling(case, CATALOG, cost_usd=usd), capped(case, usd, None)
    found = {x.setting: x for x in study.extremes}
    ratio = found["fabrics.backend.oversubscription"].value
    assert ratio is not None
    assert ratio <= 3
    assert seed != 2 or 1 < ratio < 3
    assert least(moved(limited, "fabrics.backend.oversubscription", ratio), CATALOG) is not None
    if not found["fabrics.backend.oversubscription"].at_end:
        assert least(moved(limited, "fabrics.backend.oversubscription", ratio - 1e-5), CATALOG) is None
    n, growth = study.case_servers, found["cluster.growth"].value
    assert growth is not None
    places = survey(moved(limited, "cluster.growth", growth), CATALOG).n_servers_future
    bench = Workbench(limited, CATALOG)
    most = largest(ServerFloor(limited, CATALOG), n, 101 * n)
    fitting = [m for m in range(n, most + BEYOND) if within(bench, moved(limited, "cluster.growth", growth_of(n, m)))]
    assert places == max(fitting)
    grown = (moved(limited, "cluster.growth", growth_of(n, m)) for m in (places, places + 1))
    assert [least(x, CATALOG) is not None for x in grown] == [True, False]


def test_a_case_that_does_not_fit_hears_from_which_ratio_on_it_would() -> None:
    """The case itself is too dear; a looser ratio makes it fit, and that ratio is named."""
    case = moved(capped(base_case(17), None, None), "fabrics.backend.oversubscription", 1.0)
    loose = worth(moved(case, "fabrics.backend.oversubscription", 3.0), Objective.COST)
    assert loose < worth(case, Objective.COST)
    study = ceiling(case, CATALOG, cost_usd=loose / 100)
    assert study.case_design is None
    ratio = next(x for x in study.extremes if x.setting == "fabrics.backend.oversubscription")
    assert ratio.value is not None
    assert 1 < ratio.value <= 3


def test_over_the_ceiling_at_one_server() -> None:
    """Nothing fits: infeasible, and what one server takes is told."""
    case = capped(base_case(3), None, None)
    study = ceiling(case, CATALOG, cost_usd=1.0)
    assert (study.status, study.servers, study.design) == (Status.INFEASIBLE, None, None)
    assert study.first_design is not None
    assert study.first_design.cost_usd == worth(moved(case, "cluster.servers", 1), Objective.COST) / 100


@pytest.mark.parametrize(
    ("asked", "says"),
    [({}, "nothing to stay under"), ({"cost_usd": -1.0}, "above 0"), ({"power_kw": math.inf}, "above 0")],
)
def test_what_is_no_ceiling_is_refused(asked: dict[str, float], says: str) -> None:
    """Before anything is solved."""
    case = base_case(3).model_copy(update={"limits": Limits()})
    with pytest.raises(CeilingError, match=says):
        ceiling(case, CATALOG, **asked)  # type: ignore[arg-type]


def study_of(plan: Plan) -> Ceiling:
    return ceiling(capped(base_case(3), None, None), CATALOG, plan, cost_usd=14_000)


def test_any_number_of_processes_gives_the_same_bytes() -> None:
    """Two processes answer like one, counts of solves included."""
    assert study_of(Plan()).model_dump_json() == study_of(Plan(jobs=2)).model_dump_json()


def test_a_stopped_study_goes_on_where_it_was(tmp_path: Path) -> None:
    """Stopped before the number is known it names none; the next run gives what one run would have given."""
    stop, journal, whole = threading.Event(), tmp_path / "work.jsonl", study_of(Plan())

    def tell(text: str) -> None:
        if "last: servers" in text:
            stop.set()

    part = study_of(Plan(journal=journal, stop=stop, tell=tell))
    assert not part.complete
    assert part.servers is None
    assert study_of(Plan(journal=journal)).model_dump_json() == whole.model_dump_json()


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["ceiling", *words])
    return result.exit_code, result.output


def test_the_command_says_what_fits() -> None:
    """A shipped case: as many GPUs as fresh solves allow, and a report with the same figures."""
    code, output = run("cases/guide-128.yaml", "--cost", "450000", "--power-kw", "12", "--json")
    assert code == 0, output
    study = Ceiling.model_validate(json.loads(output))
    design: Any = study.design
    assert study.gpus == 128
    more = gpunet.optimize(_more(study.servers or 0)).result.totals
    assert more is not None
    assert more.cost_usd > 450_000
    assert study.next_design is not None
    assert study.next_design.cost_usd == more.cost_usd
    code, output = run("cases/guide-128.yaml", "--cost", "450000", "--power-kw", "12")
    assert f"at most {study.gpus} GPUs" in output
    assert f"{design.cost_usd:,.2f}" in output
    assert "One server more would take" in output


def _more(servers: int) -> Case:
    return moved(gpunet.load_case("cases/guide-128.yaml"), "cluster.servers", servers + 1)


def test_the_command_says_what_is_wrong() -> None:
    """No ceiling is a bad option; nothing that fits is exit code 1; too dear a case is told."""
    code, output = run("cases/guide-128.yaml")
    assert (code, "--cost" in output) == (2, True)
    code, output = run("cases/guide-128.yaml", "--cost", "900")
    assert (code, "no number of servers fits" in output) == (1, True)


def test_the_python_interface_answers_alike() -> None:
    """The same study from a path and from Python."""
    study = gpunet.ceiling("cases/guide-128.yaml", power_kw=6)
    assert study.servers is not None
    assert study.design is not None
    assert study.design.power_max_w <= 6000
