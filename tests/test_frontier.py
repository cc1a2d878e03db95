"""Frontiers: equal to plain enumeration, no point missed that a weighted sum would miss, and few solves."""

from __future__ import annotations

import itertools
import json
import threading
from pathlib import Path

import pytest
from exhaustive import front, least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gpunet
from gpunet.cli import app
from gpunet.models.case import Case, FabricName, Limits, Objective, StorageMode
from gpunet.models.design import Status
from gpunet.models.evidence import usd_to_cents, watts_to_milliwatts
from gpunet.models.study_frontier import Frontier
from gpunet.solver.frontier import FrontierError, frontier, on_hull
from gpunet.solver.frontier_pairs import Pair, under
from gpunet.solver.frontier_steps import fewest_racks, racks_of
from gpunet.solver.requirement_steps import moved
from gpunet.solver.tasks import Plan
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
PAIRS = [("cost", "power"), ("power", "cost"), ("cost", "tco"), ("power", "tco"), ("tco", "power")]
CASES = [("plain", seed) for seed in (0, 1, 3, 5, 6, 10, 14, 20, 27, 29, 30, 36, 37)]
CASES += [("limits", seed) for seed in (3, 4, 6, 10, 12, 15, 20)]
CASES += [("parts", seed) for seed in (0, 6, 7, 10, 12)] + [("fabrics", seed) for seed in (0, 2, 6, 10, 19, 20, 21)]


def exact(study: Frontier) -> list[tuple[int, int]]:
    """The points in cents and milliwatts."""

    def whole(axis: str, value: float | None) -> int:
        assert value is not None
        return watts_to_milliwatts(value) if axis == "power" else usd_to_cents(value)

    return [(whole(study.x.name, p.x), whole(study.y.name, p.y)) for p in study.points]


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_the_frontier_is_that_of_plain_enumeration(family: str, seed: int) -> None:
    """To the cent and milliwatt, with at most 2n + 1 solves for n points, for several pairs of totals."""
    base = random_case(seed, CATALOG, family)
    for x, y in (PAIRS[0], PAIRS[1 + seed % 4]):
        case = base.model_copy(update={"objective": (Objective(x), Objective(y))})
        study = frontier(base, CATALOG, x=x, y=y)
        expected = front(case, CATALOG)
        assert exact(study) == expected
        assert study.solves <= 2 * len(expected) + 1
        assert study.status is (Status.OPTIMAL if expected else Status.INFEASIBLE)
        for point in study.points:
            totals = {"cost": point.design.cost_usd, "power": point.design.power_max_w, "tco": point.design.tco_usd}
            assert (point.x, point.y) == (totals[x], totals[y])


def test_a_weighted_sum_misses_what_the_frontier_has() -> None:
    """Off the hull: whatever the weights, something else weighs less; and real solves at many weights never find it."""
    base = random_case(3, CATALOG, "plain")
    study = frontier(base, CATALOG)
    points = exact(study)
    off = {p for p, point in zip(points, study.points, strict=True) if not point.supported}
    assert len(off) >= 3
    assert off < set(front(base.model_copy(update={"objective": (Objective.COST, Objective.POWER)}), CATALOG))
    for weight in (w / 50 for w in range(2001)):
        values = {p: p[0] + weight * p[1] for p in points}
        assert not {p for p in off if values[p] <= min(values.values())}
    found = set()
    for usd_per_kwh in (0.0, 0.02, 0.1, 0.3, 1.0, 2.0, 5.0, 20.0, 100.0):
        tco = base.tco.model_copy(update={"usd_per_kwh": usd_per_kwh, "support_rate": 0.0})
        weight = Workbench(base.model_copy(update={"tco": tco, "objective": Objective.TCO}), CATALOG).at({}).weight
        assert weight is not None
        found.add((weight.cost, weight.power))
    assert len(found & set(points)) >= 2
    assert not found & off


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=9))
@settings(derandomize=True, deadline=None)
def test_the_hull_is_what_weights_can_find(raw: list[tuple[int, int]]) -> None:
    """A point is on the hull exactly when it is the least of some weighting, its edges included."""
    points: list[tuple[int, int]] = []
    for x, y in sorted(set(raw)):
        if not points or (x > points[-1][0] and y < points[-1][1]):
            points.append((x, y))
    weights = {(1, 0), (0, 1)} | {(a[1] - b[1], b[0] - a[0]) for a in points for b in points if a[0] < b[0]}
    least_of = {w: min(w[0] * x + w[1] * y for x, y in points) for w in weights}
    expected = [any(w[0] * x + w[1] * y == least_of[w] for w in weights) for x, y in points]
    assert on_hull(points) == expected


@given(st.integers(1, 10**12))
@settings(derandomize=True)
def test_a_stepped_ceiling_is_exact(units: int) -> None:
    """Every cent and every milliwatt survives the way through the case."""
    case = Case.model_validate({"cluster": {"servers": 1, "server": "server-2"}})
    limits: Limits = under(case, Objective.COST, units).limits
    assert limits.cost_usd is not None
    assert usd_to_cents(limits.cost_usd) == units
    limits = under(case, Objective.POWER, units).limits
    assert limits.power_kw is not None
    assert watts_to_milliwatts(limits.power_kw * 1000) == units
    with pytest.raises(ValueError, match="no ceiling on tco"):
        under(case, Objective.TCO, units)


def test_limits_of_the_case_stay_in_force() -> None:
    """A ceiling in the case cuts the frontier off there and changes nothing else."""
    base = random_case(3, CATALOG, "plain")
    whole = exact(frontier(base, CATALOG))
    dearest, hottest = whole[-4][0], whole[3][1]
    limits = Limits(cost_usd=dearest / 100, power_kw=hottest / 1e6)
    cut = exact(frontier(base.model_copy(update={"limits": limits}), CATALOG))
    assert cut == whole[3:-3]


def test_thinned_points_are_points() -> None:
    """With a least distance every point is one of the whole frontier, none is nearer, and both ends are there."""
    base = random_case(3, CATALOG, "plain")
    whole, thin = exact(frontier(base, CATALOG)), exact(frontier(base, CATALOG, step=8))
    assert set(thin) < set(whole)
    assert (thin[0], thin[-1]) == (whole[0], whole[-1])
    assert all(a[1] - b[1] >= 8000 for a, b in itertools.pairwise(thin[:-1]))


# --- stepped requirements ---------------------------------------------------------------------------------------------


def at_most(study: Frontier, y: float) -> float | None:
    """The least x that the frontier has at ``y`` or better."""
    return min((p.x for p in study.points if p.y is not None and p.y <= y + 1e-6), default=None)


@pytest.mark.parametrize(("family", "seed"), [("plain", 2), ("plain", 12), ("fabrics", 4)])
def test_oversubscription_is_that_of_plain_enumeration(family: str, seed: int) -> None:
    """At every ratio of a fine list, the frontier has the least cost that enumeration finds."""
    base = random_case(seed, CATALOG, family).model_copy(update={"objective": Objective.COST})
    study = frontier(base, CATALOG, y="oversubscription", to_value=6)
    assert study.points
    for ratio in (1, 1.2, 1.334, 1.5, 1.7, 2, 2.5, 3, 4, 5, 6):
        expected = least(moved(base, "fabrics.backend.oversubscription", float(ratio)), CATALOG)
        assert (None if expected is None else expected[0] / 100) == at_most(study, ratio)
    for point in study.points:
        assert point.y is not None
        assert least(moved(base, "fabrics.backend.oversubscription", point.y), CATALOG) == (round(point.x * 100),)


def test_oversubscription_of_storage_that_the_backend_carries() -> None:
    """Storage has its own ratio where it shares the backend's switches."""
    base = random_case(4, CATALOG, "fabrics")
    assert base.fabrics.storage is not None
    base = moved(base, "fabrics.storage.mode", StorageMode.CONVERGED).model_copy(update={"objective": Objective.COST})
    study = frontier(base, CATALOG, y="oversubscription", fabric="storage", to_value=5)
    for ratio in (1, 1.25, 1.5, 2, 3, 5):
        expected = least(moved(base, "fabrics.storage.oversubscription", float(ratio)), CATALOG)
        assert (None if expected is None else expected[0] / 100) == at_most(study, ratio)


@pytest.mark.parametrize("seed", [2, 5, 6, 10, 14, 29])
def test_latency_is_that_of_plain_enumeration(seed: int) -> None:
    """At every limit of a fine list, the frontier has the least cost that enumeration finds."""
    base = moved(random_case(seed, CATALOG, "plain"), "fabrics.backend.latency_ns", None)
    base = moved(base, "fabrics.backend.max_hops", None).model_copy(update={"objective": Objective.COST})
    study = frontier(base, CATALOG, y="latency")
    for limit in (300, 550, 600, 700, 1000, 1600, 1800, 2000, 2400, 3000, 4000, 9000):
        expected = least(moved(base, "fabrics.backend.latency_ns", limit), CATALOG)
        assert (None if expected is None else expected[0] / 100) == at_most(study, limit)


@pytest.mark.parametrize("seed", [11, 17, 18])
def test_racks_are_those_of_fresh_solves(seed: int) -> None:
    """At every number of racks the frontier has the optimum under that limit."""
    base = random_case(seed, CATALOG, "plain").model_copy(update={"objective": Objective.COST})
    base = moved(base, "site.rack.units", 7)
    study = frontier(base, CATALOG, y="racks")
    bench = Workbench(base, CATALOG)
    free = bench.of(moved(base, "limits.racks", 1000))
    assert free.weight == bench.at({}).weight
    fewest = fewest_racks(bench)
    assert fewest is not None
    for racks in range(1, racks_of(free) + 2):
        there = bench.of(moved(base, "limits.racks", racks))
        assert there.is_optimal or there.status is Status.INFEASIBLE
        assert (there.weight.cost / 100 if there.weight else None) == at_most(study, racks)
        assert racks >= fewest or not there.is_optimal


def test_gpus_are_those_of_plain_enumeration() -> None:
    """Every count is solved; a count that costs no less than a larger one is told apart, and one without a design."""
    base = random_case(13, CATALOG, "plain").model_copy(update={"objective": Objective.COST})
    each = int(CATALOG.servers[base.cluster.server].gpus.v)
    study = frontier(base, CATALOG, y="gpus", from_value=1, to_value=5 * each, step=each)
    worth = {n * each: least(moved(base, "cluster.servers", n), CATALOG) for n in range(1, 6)}
    found = {p.y: p.x for p in study.points}
    assert each in study.beaten
    for gpus, expected in worth.items():
        if expected is None:
            assert gpus in study.impossible
            continue
        assert min((x for y, x in found.items() if y is not None and y >= gpus), default=None) == min(
            w[0] / 100 for g, w in worth.items() if g >= gpus and w is not None
        )
        assert found.get(gpus, expected[0] / 100) == expected[0] / 100
    assert set(found) | set(study.beaten) | set(study.impossible) == set(worth)


# --- running ----------------------------------------------------------------------------------------------------------


def test_any_number_of_processes_gives_the_same_bytes() -> None:
    """Two processes answer like one, on a frontier long enough to be shared out."""
    base = random_case(3, CATALOG, "plain")
    one, two = frontier(base, CATALOG, Plan()), frontier(base, CATALOG, Plan(jobs=2))
    assert len(one.points) > 16
    assert one.model_dump_json() == two.model_dump_json()


def test_a_stopped_frontier_goes_on_where_it_was(tmp_path: Path) -> None:
    """What is there when it stops are points of the whole; the next run gives the whole, solves included."""
    base = random_case(3, CATALOG, "plain")
    whole, stop, journal = frontier(base, CATALOG), threading.Event(), tmp_path / "work.jsonl"

    def tell(text: str) -> None:
        if "last: cost, power" in text:
            stop.set()

    part = frontier(base, CATALOG, Plan(journal=journal, stop=stop, tell=tell))
    assert not part.complete
    assert 2 < len(part.points) < len(whole.points)
    assert set(exact(part)) < set(exact(whole))
    assert frontier(base, CATALOG, Plan(journal=journal)).model_dump_json() == whole.model_dump_json()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"x": "gpus", "y": "cost"}, "what is paid"),
        ({"x": "cost", "y": "cost"}, "two different ones"),
        ({"y": "colour"}, "expected cost, power"),
        ({"y": "power", "from_value": 3}, "not power"),
        ({"y": "gpus", "from_value": 9, "to_value": 3}, "rising range"),
        ({"y": "oversubscription", "from_value": 0.5}, "1 is non-blocking"),
        ({"y": "latency", "fabric": "storage"}, "expected one the case has: backend"),
        ({"y": "power", "step": 0}, "above 0"),
        ({"y": "gpus", "to_value": 1e9}, "at most"),
    ],
)
def test_what_cannot_be_done_is_refused(asked: dict[str, object], says: str) -> None:
    """Before anything is solved, with what was found and what was expected."""
    with pytest.raises(FrontierError, match=says):
        frontier(random_case(3, CATALOG, "plain"), CATALOG, **asked)  # type: ignore[arg-type]


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["frontier", *words])
    return result.exit_code, result.output


def test_the_command_weighs_cost_against_power() -> None:
    """A shipped case, thinned: JSON with the design of every point, the report with the same ends."""
    code, output = run("cases/guide-128.yaml", "--step", "100", "--json")
    assert code == 0, output
    study = Frontier.model_validate(json.loads(output))
    assert [p.x for p in study.points] == sorted(p.x for p in study.points)
    assert all(p.design.fabrics["backend"].switches for p in study.points)
    middle = study.points[len(study.points) // 2]
    case = gpunet.load_case("cases/guide-128.yaml")
    design = gpunet.optimize(moved(case, "limits.power_kw", (middle.y or 0) / 1000), objective="cost,power").result
    assert design.totals is not None
    assert (design.totals.cost_usd, design.totals.power_max_w) == (middle.x, middle.y)
    assert design.verify is not None
    assert design.verify.passed
    code, output = run("cases/guide-128.yaml", "--step", "100")
    assert code == 0
    assert f"{study.points[0].x:,.2f}" in output
    assert f"{study.points[-1].x:,.2f}" in output


def test_the_command_says_what_is_wrong() -> None:
    """A bad pair is a bad option; a case without a design ends with exit code 1."""
    code, output = run("cases/guide-128.yaml", "--x", "power", "--y", "power")
    assert (code, "--y" in output) == (2, True)
    code, output = run("cases/no-tiers.yaml", "--y", "latency")
    assert (code, "no design" in output) == (1, True)


def test_the_python_interface_answers_alike() -> None:
    """The same study from a path and from Python."""
    study = gpunet.frontier("cases/guide-128.yaml", y="gpus", from_value=64, to_value=96)
    assert [p.y for p in study.points] == [64, 72, 80, 88, 96]
    assert Pair(Objective.COST, Objective.POWER).stepped is Objective.POWER
    assert study.fabric is None
    assert FabricName.BACKEND.value in study.points[0].design.fabrics
