"""Every shipped case: its answer, the published design it stands for, and three engines that agree on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from case_answers import CASES, answer_of, case_paths, written_answer

from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.design import Design, FabricDesign, Result, Status
from gpunet.models.evidence import Fact, How
from gpunet.models.parts import Catalog
from gpunet.solver.candidates import compile_case
from gpunet.solver.engines import Engine
from gpunet.solver.optimize import optimize
from gpunet.solver.search import search

CATALOG = load_catalog()
NAMES = [path.stem for path in case_paths()]
KNOWN: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "known_answers.yaml").read_text())


class Solved(NamedTuple):
    """A solved case; of its ledger only a fingerprint, for the largest has 200,000 links."""

    result: Result
    ledger: int


@cache
def solved(name: str, engine: str = "highs") -> Solved:
    """A shipped case, solved once per process and engine."""
    design = optimize(read_case(CASES / f"{name}.yaml", CATALOG), CATALOG, engine=engine)
    x = design.ledger
    rows = (
        tuple(x.places),
        tuple(x.devices),
        tuple(x.adapters),
        tuple(x.seats),
        tuple(x.links),
        tuple(x.panels),
        tuple(x.channels),
    )
    return Solved(design.result, hash(rows))


def variant(name: str, change: Callable[[dict[str, Any]], object]) -> Case:
    """A shipped case with something in its data changed."""
    data = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    change(data)
    return case_from_data(data, CATALOG, name)


def design_of(case: Case, catalog: Catalog = CATALOG) -> Design:
    """The design of a case, which must be optimal and verified."""
    design = optimize(case, catalog)
    assert design.result.status is Status.OPTIMAL, design.result.reasons
    return design


def cost_usd(result: Result) -> float:
    """What a design costs, USD."""
    assert result.totals is not None
    return result.totals.cost_usd


def counts(fabric: FabricDesign) -> dict[str, int]:
    """Switches by tier."""
    return {tier.tier: tier.count for tier in fabric.tiers}


def modules_between(result: Result, link_class: str) -> set[str | None]:
    """Modules at both ends of the backend links of a class."""
    lines = [x for x in result.fabrics["backend"].interconnects if x.link_class == link_class]
    return {part for line in lines for part in (line.a_part, line.b_part)}


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_in_the_header_is_what_is_found(name: str) -> None:
    """Status, cost to the cent, watts and switches stand in the header of the case, and the design is verified."""
    result = solved(name).result
    assert answer_of(result) == written_answer(CASES / f"{name}.yaml")
    if result.status is Status.OPTIMAL:
        assert result.gap == 0
        assert result.verify is not None
        assert result.verify.passed
    else:
        assert result.reasons


@pytest.mark.parametrize("name", NAMES)
def test_engines_agree(name: str) -> None:
    """SCIP on the same program, and CP-SAT on one of its own, find the very design that HiGHS finds, wire for wire."""
    mine = solved(name)
    for engine in ("scip", "cp-sat"):
        other = solved(name, engine)
        same = {"engine": mine.result.engine, "seconds": mine.result.seconds}
        assert other.result.model_copy(update=same) == mine.result
        assert other.ledger == mine.ledger


@pytest.mark.parametrize("name", [name for name, known in KNOWN.items() if "switches" in known])
def test_published_designs(name: str) -> None:
    """Switches and links per tier are the published ones, or the entry says why they are not and they differ."""
    known, backend = KNOWN[name], solved(name).result.fabrics["backend"]
    links = {k: n * known.get("links_each", 1) for k, n in known["links"].items()}
    found = {k: backend.links.get(k, 0) for k in links}
    if "differs" in known:
        assert counts(backend) != known["switches"]
    else:
        assert counts(backend) == known["switches"]
        assert found == links


def test_the_cost_sheet_is_met_to_the_dollar() -> None:
    """48 switches at the sheet's price are the sheet's 1,728,000 USD."""
    (line,) = [x for x in solved("h100-sheet-1024").result.bom if x.kind == "switch"]
    assert (line.quantity, line.extended_usd) == (48, KNOWN["h100-sheet-1024"]["switch_cost_usd"])


def test_spines_bought_ahead_are_a_setting() -> None:
    """Without min_spines the 512-GPU reference needs 4 spines, half of the published 8."""
    case = variant("era-2-8-9-400-16su", lambda d: d["fabrics"]["backend"].pop("min_spines"))
    assert counts(design_of(case).result.fabrics["backend"]) == {"leaf": 8, "spine": 4}


@pytest.mark.parametrize("name", ["era-2-8-9-400-3su", "era-2-8-9-400-4su"])
def test_the_nearest_clos_of_a_back_to_back_pair(name: str) -> None:
    """With two leaves asked for, one spine stands where the reference joins the pair directly."""
    case = variant(name, lambda d: d["fabrics"]["backend"].update(min_leaves=2))
    assert counts(design_of(case).result.fabrics["backend"]) == {"leaf": 2, "spine": 1}


def test_one_server_more_needs_a_third_tier() -> None:
    """Two tiers of 256 ports end at 32,768 endpoints exactly."""
    case = variant("th6-400g-2tier-max", lambda d: d["cluster"].update(gpus=32776))
    assert search(compile_case(case, CATALOG), Engine.HIGHS).outcome.status is Status.INFEASIBLE


def test_the_guide_buys_twice_the_switches() -> None:
    """Where the guide budgets 16 leaves and 8 spines, 12 switches with its 512 modules do, and one does without."""
    infiniband = solved("guide-256-infiniband").result
    assert counts(infiniband.fabrics["backend"]) == {"leaf": 8, "spine": 4}
    assert sum(x.quantity for x in infiniband.bom if x.kind == "module") == 512
    assert counts(solved("guide-256").result.fabrics["backend"]) == {"leaf": 1}


@pytest.mark.parametrize(
    ("name", "ports", "speed_gbps", "tbps"),
    [("guide-128", 64, 800, 51.2), ("guide-128-infiniband", 128, 400, 51.2), ("guide-1024", 512, 800, 409.6)],
)
def test_the_guide_counts_spine_ports(name: str, ports: int, speed_gbps: float, tbps: float) -> None:
    """Spine ports and bandwidth into the spines are those of the guide's arithmetic."""
    backend = solved(name).result.fabrics["backend"]
    leaf, spine = backend.tiers
    assert spine.count * spine.down_ports == backend.links["leaf-spine"] == ports
    assert {x.speed_gbps for x in backend.interconnects if x.link_class == "leaf-spine"} == {speed_gbps}
    assert spine.count * spine.down_gbps / 1000 == leaf.count * leaf.up_gbps / 1000 == tbps


def test_a_cost_that_anyone_can_add_up() -> None:
    """12 switches, 384 + 128 modules, 416 + 96 jumpers at catalogue prices: the optimum in cents, by hand."""
    by_hand = 12 * 32_870_00 + 384 * 879_00 + 128 * 1_249_00 + 416 * 70_00 + 96 * 82_50
    assert round(cost_usd(solved("guide-256-infiniband").result) * 100) == by_hand == 928_888_00


def test_single_mode_wins_to_the_servers_and_multimode_between_switches() -> None:
    """Eight lanes of 50G mate four of 100G only as DR4; between two QSFP-DD cages the cheap SR8 does."""
    result = solved("h800-400g-qdd").result
    assert modules_between(result, "endpoint-leaf") == {"qdd-400g-dr4", "nv-mms4x00-ns400"}
    assert modules_between(result, "leaf-spine") == {"qdd-400g-sr8"}
    backend = result.fabrics["backend"]
    assert max(x.length_m for x in backend.interconnects if x.link_class == "endpoint-leaf") == 100
    case = variant("h800-400g-qdd", lambda d: d["site"].update(fibre=["OM4"], rack={"power_kw": 44}))
    assert modules_between(design_of(case).result, "endpoint-leaf") >= {"qdd-400g-vsr4"}


def test_storage_oversubscription_is_that_of_the_case() -> None:
    """2:1 is 2:1: at 4:1 two leaves would do where three are bought, and no leaf exceeds the ratio."""
    storage = solved("storage-512-separate").result.fabrics["storage"]
    assert counts(storage) == {"leaf": 3, "spine": 1}
    assert 1 < storage.oversubscription <= 2
    case = variant("storage-512-separate", lambda d: d["fabrics"]["storage"].update(oversubscription=4))
    loose = design_of(case).result.fabrics["storage"]
    assert counts(loose) == {"leaf": 2, "spine": 1}
    assert 2 < loose.oversubscription <= 4


def test_auto_takes_the_cheaper_place_for_storage() -> None:
    """512 GPUs keep storage apart; 32 GPUs leave room on the backend's own switch, and auto takes that."""
    separate, converged = (solved(f"storage-512-{mode}").result for mode in ("separate", "converged"))
    auto = solved("storage-512-auto").result
    assert auto.fabrics == separate.fabrics
    assert cost_usd(auto) == cost_usd(separate) < cost_usd(converged)
    small: dict[str, Result] = {}
    for mode in ("auto", "converged", "separate"):

        def change(data: dict[str, Any], mode: str = mode) -> None:
            data["cluster"]["gpus"] = 32
            data["fabrics"]["storage"].update(mode=mode, storage_servers=4)

        small[mode] = design_of(variant("storage-512-auto", change)).result
    assert small["auto"].fabrics["storage"].shared_with == "backend"
    assert cost_usd(small["auto"]) == cost_usd(small["converged"]) < cost_usd(small["separate"])


def cages_with_limit(part: str, limit_w: float) -> Catalog:
    """The catalogue with another module limit in the fabric cages of a switch, and the supply to feed them."""
    switch = CATALOG.switches[part]
    cages = tuple(g.model_copy(update={"power_limit_w": estimate(limit_w)}) if g.fabric else g for g in switch.cages)
    supply = switch.power_chassis_max_w.v + sum(g.count * limit_w for g in cages if g.fabric)
    changed = switch.model_copy(update={"cages": cages, "power_supply_w": estimate(supply)})
    return CATALOG.model_copy(update={"switches": {**CATALOG.switches, part: changed}})


def estimate(value: float) -> Fact:
    """A figure for a part that there is not."""
    return Fact(v=value, how=How.ESTIMATED, src="est")


@pytest.mark.parametrize(
    ("name", "switch", "limit_w", "hot", "cool"),
    [
        ("hot-cages-18w", "ib-qm9700", 18, "nv-mms4x90-nr", "nv-mma4z00-ns"),
        ("hot-cages-30w", "ib-q3400", 33.5, "nv-mms4a00-ihs", "nv-mms4c10-ihs"),
    ],
)
def test_a_cage_limit_decides(name: str, switch: str, limit_w: float, hot: str, cool: str) -> None:
    """The hotter module is cheaper and shut out by the cage; in a cage that stood it, it would win."""
    limited = solved(name).result
    assert modules_between(limited, "leaf-spine") == {cool}
    assert CATALOG.modules[hot].power_max_w.v == limit_w
    free = design_of(read_case(CASES / f"{name}.yaml", CATALOG), cages_with_limit(switch, limit_w)).result
    assert modules_between(free, "leaf-spine") == {hot}
    assert cost_usd(free) < cost_usd(limited)


def test_hot_modules_sit_in_hot_cages_only() -> None:
    """The 14 W modules on offer take the 16 cages of 21 W by number; where more are needed the offer is of no use."""
    design = design_of(read_case(CASES / "hot-cages-12w.yaml", CATALOG))
    hot = Counter(seat.cage for seat in design.ledger.seats if seat.part == "qdd-400g-lr8")
    assert sorted(hot) == list(range(1, 65, 4))
    assert set(hot.values()) == {8}
    case = variant("hot-cages-12w", lambda d: d["fabrics"]["backend"].pop("min_spines"))
    free = design_of(case).result
    assert counts(free.fabrics["backend"]) == {"leaf": 4, "spine": 1}
    assert "qdd-400g-lr8" not in modules_between(free, "leaf-spine")


def test_a_rack_limit_changes_the_optics() -> None:
    """12 kW a rack make a row so long that single-mode modules take over beyond 50 m; at 44 kW there is none."""
    result = solved("hot-cages-rack").result
    lines = [x for x in result.fabrics["backend"].interconnects if x.link_class == "endpoint-leaf"]
    far = {x.b_part for x in lines if x.length_m > 50}
    near = {x.b_part for x in lines if x.length_m <= 50}
    assert far == {"nv-mms4x00-ns-flt"}
    assert near == {"nv-mma4z00-ns-flt"}
    assert sum(x.count for x in lines if x.length_m > 50) > 512
    dense = design_of(variant("hot-cages-rack", lambda d: d["site"].update(rack={"power_kw": 44}))).result
    assert modules_between(dense, "endpoint-leaf") == {"nv-mma4z00-ns", "nv-mma4z00-ns-flt"}


REASONS = {
    "no-reach": (
        "fabrics.backend: infiniband leaf to spine needs 112 m in this room; with the parts allowed such a link covers "
        "at most 50 m (nv-mma4z00-ns: OM4 reach 50 m)",
        "site.fibre: OM4 allowed; adding OS2 is enough, with runs up to nv-mfp7e30-n150",
    ),
    "no-power": ("limits.power_kw: 9 kW allowed; the coolest design that keeps every other limit draws 9.915 kW",),
    "no-tiers": ("fabrics.backend.max_tiers: 2 allowed; 3 are enough, using 177 x ib-qm9700",),
    "no-single-limit": (
        "limits.cost_usd and limits.power_kw: each of these is in the way, so no single one helps; without them a "
        "design exists that costs 397,792.00 and draws 6.910 kW, using 1 x eth-nokia-h6-128",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_no_design_comes_with_its_reason(name: str) -> None:
    """The reasons name the user's own settings, what was found, and the smallest change that helps."""
    result = solved(name).result
    assert result.status is Status.INFEASIBLE
    for reason in REASONS[name]:
        assert reason in result.reasons


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("no-reach", lambda d: d["site"].update(fibre=["OM4", "OS2"])),
        ("no-power", lambda d: d["limits"].update(power_kw=9.915)),
        ("no-tiers", lambda d: d["fabrics"]["backend"].update(max_tiers=3)),
        ("no-tiers", lambda d: d["cluster"].update(gpus=2048)),
        ("no-single-limit", lambda d: d["limits"].update(cost_usd=397_792, power_kw=6.91)),
    ],
)
def test_the_smallest_change_is_enough(name: str, change: Callable[[dict[str, Any]], object]) -> None:
    """The change that a reason names leads to a design, so the reason is right."""
    design_of(variant(name, change))


def test_the_cases_are_listed() -> None:
    """The folder's page lists every case, and everything known belongs to a case."""
    page = (CASES / "README.md").read_text()
    assert [name for name in NAMES if f"`{name}`" not in page] == []
    assert set(KNOWN) <= set(NAMES)
