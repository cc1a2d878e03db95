"""Flow control headroom: the formula, what it refuses, what is told of it, and the check that counts it again."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import yaml
from case_answers import CASES
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case, FabricName
from gpunet.models.design import Check, Design, Result, Status
from gpunet.models.evidence import Fact, How
from gpunet.models.ledger import Ledger
from gpunet.models.lossless import Lossless
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError
from gpunet.report.blocks import Table
from gpunet.report.design_text import design_report
from gpunet.report.headroom_text import headroom as headroom_blocks
from gpunet.solver import verify_headroom
from gpunet.solver.apart import solve_apart
from gpunet.solver.build import Builder
from gpunet.solver.candidates import Compiled, compile_case, instance
from gpunet.solver.engines import Engine
from gpunet.solver.explain import explain
from gpunet.solver.headroom import headroom_of, pool_load, port_bytes
from gpunet.solver.obstacles import obstacles
from gpunet.solver.optimize import optimize
from gpunet.solver.scope import Cutoff, Scope
from gpunet.solver.search import search
from gpunet.solver.template import Template
from gpunet.solver.templates import enumerate_templates
from gpunet.solver.verify import verify
from gpunet.solver.verify_book import Book
from gpunet.solver.verify_network import networks

CATALOG = load_catalog()
NOTHING = Result(
    case="", status=Status.OPTIMAL, gap=0, objective=None, totals=None,
    catalog_version="", gpunet_version="", engine="",
)  # fmt: skip
FIVE, ONE_TIER = CASES / "lossless-128.yaml", CASES / "lossless-one-tier.yaml"


def five(**lossless: Any) -> dict[str, Any]:
    """The data of lossless-128 with other settings of ``lossless``."""
    data: dict[str, Any] = yaml.safe_load(FIVE.read_text("utf-8"))
    data["fabrics"]["backend"]["lossless"] |= lossless
    return data


@cache
def designed() -> Design:
    """The design of lossless-128."""
    design = optimize(read_case(FIVE, CATALOG), CATALOG)
    assert design.result.status is Status.OPTIMAL
    return design


def switches_of(design: Design) -> Mapping[str, int]:
    """Switches of the backend by tier."""
    return {tier.tier: tier.count for tier in design.result.fabrics["backend"].tiers}


def check_of(design: Design, catalog: Catalog = CATALOG) -> Check:
    """The check of headroom, and no other: what it finds is its own."""
    return verify_headroom.check_headroom(networks(Book(design, catalog)))


def with_switch(catalog: Catalog, part: str, **fields: Any) -> Catalog:
    """A catalogue with something of one switch changed."""
    switch = catalog.switches[part].model_copy(update=fields)
    return catalog.model_copy(update={"switches": {**catalog.switches, part: switch}})


# --- the formula ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "gbps", "length_m", "wanted"),
    [
        # 2 * (9,216 + 84 + 400 * (100 + 1,158.4) / 8) + 9,216
        ({}, 400, 10, 153_656),
        ({"classes": 3}, 400, 10, 3 * 153_656),
        # 9,216 + 84 + 100 * (1,000 + 2,017.28) / 8 + 9,216
        ({"cell_factor": 1}, 100, 100, 56_232),
        # Frames of 1,500 bytes, and nothing but them, the pause and 1,000 ns: 1,500 + 84 + 50,000 + 1,500
        ({"cell_factor": 1, "mtu_bytes": 1500, "response_ns": 1000}, 400, 0, 53_084),
        ({"cell_factor": 1, "mtu_bytes": 1500, "response_ns": 400, "interface_ns": 600}, 400, 0, 53_084),
        ({"cell_factor": 1, "mtu_bytes": 1500, "lossless_mtu_bytes": 1000, "response_ns": 1000}, 400, 0, 52_584),
        # No figure for 800G: the time of 400G. 2 * (9,216 + 84 + 800 * 1,258.4 / 8) + 9,216
        ({}, 800, 10, 279_496),
        # 1 / 3 of a byte is a byte of buffer: 100 * (0.01 * 10 + 0) / 8 = 1.25
        ({"cell_factor": 1, "mtu_bytes": 64, "response_ns": 0}, 100, 0.01, 64 + 84 + 2 + 64),
    ],
)
def test_the_formula_by_hand(fields: dict[str, Any], gbps: float, length_m: float, wanted: int) -> None:
    """Headroom of a port is what docs/lossless.md says, worked out here by hand."""
    assert port_bytes(Lossless(**fields), gbps, length_m) == wanted


@settings(max_examples=200, deadline=None)
@given(
    rule=st.builds(
        Lossless,
        classes=st.integers(1, 8),
        mtu_bytes=st.integers(64, 16_000),
        lossless_mtu_bytes=st.none() | st.integers(64, 16_000),
        response_ns=st.none() | st.floats(0, 5000).map(lambda x: round(x, 3)),
        interface_ns=st.floats(0, 5000).map(lambda x: round(x, 3)),
        cell_factor=st.floats(1, 3).map(lambda x: round(x, 2)),
    ),
    gbps=st.sampled_from([1, 10, 25, 40, 50, 100, 200, 400, 800, 1600]),
    length_m=st.sampled_from([0.5, 1, 1.5, 3, 10, 15, 30, 100, 500, 2000]),
)
def test_verify_counts_the_same_bytes_in_its_own_way(rule: Lossless, gbps: float, length_m: float) -> None:
    """The formula of the solver and that of the verification agree to the byte."""
    assert verify_headroom._needs(rule, gbps, length_m) == port_bytes(rule, gbps, length_m)


def test_of_several_pools_the_fullest_cages_count() -> None:
    """Two pools serve 32 of 64 cages each, so the 32 fullest cages must fit one pool; one pool takes everything."""
    whole = CATALOG.switches["eth-n9600-64od"]
    assert whole.buffer_pools == 2
    cages = [7] * 20 + [3] * 30
    assert pool_load(whole, cages) == 20 * 7 + 12 * 3
    assert pool_load(whole.model_copy(update={"buffer_pools": 1}), cages) == 20 * 7 + 30 * 3


# --- the choice -------------------------------------------------------------------------------------------------------


def test_headroom_changes_the_optimum() -> None:
    """128 ports fit one switch, their headroom does not: three leaves and two spines, within the share."""
    assert switches_of(designed()) == {"leaf": 3, "spine": 2}
    free = optimize(case_from_data(five(buffer_share=1.0), CATALOG), CATALOG)
    assert switches_of(free) == {"leaf": 1}
    verified = designed().result.verify
    assert verified is not None
    assert verified.passed
    assert [c.name for c in verified.checks][-1] == "headroom"
    for line in designed().result.fabrics["backend"].headroom:
        assert line.share is not None
        assert line.share <= 0.2
        assert line.buffer_bytes == 160_000_000


def test_the_last_byte_decides() -> None:
    """One switch is enough with just the buffer its ports need, and not with a byte less."""
    one = optimize(case_from_data(five(buffer_share=1.0), CATALOG), CATALOG)
    (line,) = one.result.fabrics["backend"].headroom
    for spare in (0, -1):
        mb = (5 * (line.total_bytes + spare)) / 1_000_000
        catalog = with_switch(CATALOG, "eth-sn5600", buffer_mb=Fact(v=mb, how=How.READ, src="mem"))
        leaves = switches_of(optimize(case_from_data(five(), catalog), catalog))["leaf"]
        assert (leaves == 1) == (spare == 0)


def test_pools_change_the_optimum() -> None:
    """A buffer in two halves: 48 cages of 64 are in use, and the 32 fullest take two thirds of the headroom."""
    data = five(buffer_share=0.2)
    data["cluster"]["gpus"] = 96
    room = {"buffer_mb": Fact(v=150.0, how=How.READ, src="mem")}
    leaves = {}
    for pools in (1, 2):
        catalog = with_switch(CATALOG, "eth-sn5600", buffer_pools=pools, **room)
        leaves[pools] = switches_of(optimize(case_from_data(data, catalog), catalog))["leaf"]
    assert leaves[1] == 1
    assert leaves[2] > 1


def test_without_lossless_nothing_is_told() -> None:
    """A case that asks for no headroom gets no field, no check and no warning of it."""
    data = five()
    del data["fabrics"]["backend"]["lossless"]
    design = optimize(case_from_data(data, CATALOG), CATALOG)
    assert "headroom" not in design.result.model_dump_json()
    assert "lossless" not in design.case.model_dump_json(exclude_none=True)
    assert "headroom" in designed().result.model_dump_json()


def tiny(buffer_mb: float, pools: int = 1, **backend: Any) -> tuple[Case, Catalog]:
    """A small case on made-up Ethernet switches that all have the same buffer."""
    catalog = tiny_catalog()
    for part, switch in catalog.switches.items():
        if switch.protocol == "ethernet":
            fact = Fact(v=buffer_mb, how=How.READ, src="made-up")
            catalog = with_switch(catalog, part, buffer_mb=fact, buffer_pools=pools)
    server = next(iter(catalog.servers))
    fields = {"protocols": ["ethernet"], "lossless": {}} | backend
    data = {"cluster": {"servers": 9, "server": server, "growth": 0.25}, "fabrics": {"backend": fields}}
    return case_from_data(data, catalog), catalog


def scope_of(case: Case, catalog: Catalog) -> Scope:
    """The one scope of a backend."""
    (scope,) = compile_case(case, catalog).scopes[FabricName.BACKEND]
    return scope


@pytest.mark.parametrize("pools", [1, 2])
@pytest.mark.parametrize("striping", ["strict", "ports"])
@pytest.mark.parametrize("buffer_mb", [0.4, 0.7, 1.1, 1.6, 2.5])
def test_what_is_skipped_early_is_what_would_be_refused(buffer_mb: float, striping: str, pools: int) -> None:
    """The templates found are all those found without headroom that hold it, counted out one by one."""
    case, catalog = tiny(buffer_mb, pools, striping=striping, oversubscription=2)
    scope = scope_of(case, catalog)
    found = {t.rank() for t in enumerate_templates(scope, Cutoff())}
    free = scope_of(case, catalog)
    gauge, free.gauge = free.gauge, None
    assert gauge is not None
    every = list(enumerate_templates(free, Cutoff()))
    assert found == {t.rank() for t in every if gauge.refusal(free.measure, t) is None}
    if (buffer_mb, pools) == (1.1, 1):
        assert 0 < len(found) < len(every)


def ledger_of(compiled: Compiled, template: Template) -> Ledger:
    """One template built, whatever it costs."""
    data = instance(compiled, {FabricName.BACKEND: [template]})
    outcome = solve_apart(data)
    assert outcome is not None
    assert outcome.choice is not None
    return Builder(compiled, data, outcome.choice).build()


@pytest.mark.parametrize("striping", ["strict", "ports"])
def test_templates_are_counted_as_they_are_wired(striping: str) -> None:
    """Every ninth template of a small case, built and counted from its ledger by the code of the verification: the
    fullest switch of each tier has just the headroom that the template was judged by. No limit takes part."""
    case, catalog = tiny(1000, 2, striping=striping, oversubscription=2, max_tiers=3, parts={"deny": ["cable:*"]})
    case = case.model_copy(update={"cluster": case.cluster.model_copy(update={"growth": 0.0})})
    compiled = compile_case(case, catalog)
    (scope,) = compiled.scopes[FabricName.BACKEND]
    gauge = scope.gauge
    assert gauge is not None
    tiers = Counter[int]()
    for template in list(enumerate_templates(scope, Cutoff()))[::9]:
        ledger = ledger_of(compiled, template)
        (net,) = networks(Book(Design(case, NOTHING, ledger), catalog))
        built: dict[str, int] = {}
        for load in verify_headroom._loads(net, list(gauge.rules)):
            built[load.line.tier] = max(built.get(load.line.tier, 0), load.line.pool_bytes)
        counted = [max(pool_load(s, c) for c in cages) for s, _, cages in gauge.tiers(scope.measure, template)]
        assert [built[tier] for tier in ("leaf", "spine", "core")[: template.tiers]] == counted
        tiers[template.tiers] += 1
    assert tiers[2] > 3
    assert tiers[3] > 10


@pytest.mark.parametrize(
    ("gpus", "fields"),
    [(128, {}), (128, {"classes": 3}), (200, {"buffer_share": 0.5}), (72, {"classes": 4, "mtu_bytes": 4200})],
)
def test_templates_are_judged_by_no_less_than_what_is_built(gpus: int, fields: dict[str, Any]) -> None:
    """The fullest switch of each tier, as the template counts it, has the headroom of the ledger or more."""
    data = five(**fields)
    data["cluster"]["gpus"] = gpus
    case = case_from_data(data, CATALOG)
    design = optimize(case, CATALOG)
    compiled = compile_case(case, CATALOG)
    choice = search(compiled, Engine.HIGHS, None, lambda _: None).outcome.choice
    assert choice is not None
    template = choice.templates[FabricName.BACKEND]
    (scope,) = compiled.scopes[FabricName.BACKEND]
    assert scope.gauge is not None
    lines = design.result.fabrics["backend"].headroom
    counted = list(scope.gauge.tiers(scope.measure, template))
    assert len(counted) == len(lines)
    for (switch, bound, cages), line in zip(counted, lines, strict=True):
        fullest = max(pool_load(switch, each) for each in cages)
        assert line.pool_bytes <= fullest <= bound
        # At these lengths every way takes a piece of the same length, and all leaves are as full as planned.
        assert line.pool_bytes == fullest


def test_growth_keeps_headroom() -> None:
    """Ports kept for servers to come count: with growth a switch is full that is not full today."""
    data = five(buffer_share=0.2)
    data["cluster"]["gpus"] = 96
    assert switches_of(optimize(case_from_data(data, CATALOG), CATALOG)) == {"leaf": 1}
    data["cluster"]["growth"] = 0.3
    assert switches_of(optimize(case_from_data(data, CATALOG), CATALOG))["leaf"] > 1


# --- unknown buffers, and speeds without flow control -----------------------------------------------------------------


def test_a_switch_with_an_unknown_buffer_is_refused_by_name() -> None:
    """A box without a published buffer: refused, the setting named; with ``warn`` used, and said to be unknown."""
    data = five()
    data["fabrics"]["backend"]["parts"] = {"allow": ["eth-nokia-h6-128"]}
    refused = case_from_data(data, CATALOG)
    compiled = compile_case(refused, CATALOG)
    assert compiled.eligible[FabricName.BACKEND].shut_out["eth-nokia-h6-128"].endswith("lossless.unknown_buffers")
    assert any("eth-nokia-h6-128" in text and "unknown_buffers" in text for text in obstacles(compiled))
    data["fabrics"]["backend"]["lossless"]["unknown_buffers"] = "warn"
    design = optimize(case_from_data(data, CATALOG), CATALOG)
    assert design.result.status is Status.OPTIMAL
    (line,) = design.result.fabrics["backend"].headroom
    assert (line.buffer_bytes, line.share, line.buffer_how) == (None, None, "")
    assert any("eth-nokia-h6-128 is not known" in text for text in design.result.warnings)
    (table,) = [block for block in headroom_blocks((line,)) if isinstance(block, Table)]
    assert [str(cell[0]) for cell in table.rows[0][-2:]] == ["not known", "not known"]
    assert "which the case refuses" in check_of(Design(refused, design.result, design.ledger)).detail


def test_a_remembered_buffer_is_no_fact() -> None:
    """A buffer that was not read in a document is marked and warned of."""
    catalog = with_switch(CATALOG, "eth-sn5600", buffer_mb=Fact(v=160, how=How.RECALLED, src="mem", note="hearsay"))
    design = optimize(case_from_data(five(), catalog), catalog)
    text = "\n".join(design.result.warnings)
    assert "is recalled, not read" in text
    assert "hearsay" in text
    (table,) = [b for b in headroom_blocks(design.result.fabrics["backend"].headroom) if isinstance(b, Table)]
    assert table.rows[0][5][0] == "~160,000,000"


LOSSY = [s for s in CATALOG.switches.values() if s.lossy_only_speeds_gbps]


@pytest.mark.parametrize("fabric", ["backend", "storage"])
@pytest.mark.parametrize("asked", [False, True])
def test_lossy_speeds_are_shut_out(fabric: str, asked: bool) -> None:
    """No face of a speed that is lossy only: never in an Ethernet backend, in storage where it must be lossless."""
    fields: dict[str, Any] = {"protocols": ["ethernet"]}
    if asked:
        fields["lossless"] = {"unknown_buffers": "warn"}
    fabrics = {"backend": {"protocols": ["ethernet"]}} | {fabric: fields}
    data = {"cluster": {"gpus": 64, "server": "hgx-h100-xe9680"}, "fabrics": fabrics}
    (scope,) = compile_case(case_from_data(data, CATALOG), CATALOG).scopes[FabricName(fabric)]
    next(enumerate_templates(scope, Cutoff()), None)
    assert len(LOSSY) >= 5
    for switch in LOSSY:
        if switch.id not in scope.usable:
            continue
        speeds = {face.speed_gbps for face in scope.usable[switch.id]}
        kept = fabric == "storage" and not asked
        assert bool(speeds & set(switch.lossy_only_speeds_gbps)) == kept, switch.id
        assert speeds


def test_explain_says_that_a_speed_is_lossy_only() -> None:
    """A backend of 400G on a switch that drops at 400G: the obstacle names the switch and flow control."""
    catalog = with_switch(CATALOG, "eth-sn5600", lossy_only_speeds_gbps=(400.0,))
    told = obstacles(compile_case(case_from_data(five(), catalog), catalog))
    assert [text for text in told if "400G ports with flow control" in text and "eth-sn5600" in text]
    design = optimize(case_from_data(five(), catalog), catalog)
    assert design.result.status is Status.INFEASIBLE


# --- explain and the report -------------------------------------------------------------------------------------------


def test_explain_names_headroom_and_the_smallest_change() -> None:
    """One tier: half the classes or a quarter of the buffer is enough, or no headroom at all; nothing less is."""
    study = explain(read_case(ONE_TIER, CATALOG), CATALOG)
    enough = {limit.setting: limit.enough for clash in study.clashes for limit in clash.limits}
    where = "fabrics.backend.lossless"
    assert enough[f"{where}.classes"] == "1"
    assert enough[f"{where}.buffer_share"] == "0.25"
    assert enough[where] == "not set"


def test_the_report_has_a_line_for_each_tier() -> None:
    """Bytes a port, bytes in all, buffer and share, as in the result."""
    tables = [b for b in design_report(designed()) if isinstance(b, Table) and b.columns[0].title == "headroom"]
    (table,) = tables
    assert [row[0] for row in table.rows] == ["leaf", "spine"]
    assert table.rows[0][1:] == ("eth-sn5600", "87", "307,312 to 317,312", "26,976,144", "160,000,000", "16.9 %")


def test_wrong_settings_are_told() -> None:
    """More classes than Ethernet has, no buffer at all, frames below the least: each is refused at its place."""
    for field, value in (("classes", 9), ("buffer_share", 0), ("mtu_bytes", 10), ("cell_factor", 0.5)):
        with pytest.raises(InputError) as caught:
            case_from_data(five(**{field: value}), CATALOG)
        assert f"fabrics.backend.lossless.{field}" in str(caught.value)


# --- verification -----------------------------------------------------------------------------------------------------


def test_verify_finds_too_little_buffer() -> None:
    """More classes, a smaller share, a smaller buffer or pools than the design was made for: the check fails."""
    design = designed()
    assert check_of(design).passed
    for fields in ({"classes": 3}, {"buffer_share": 0.1}, {"interface_ns": 3000.0}):
        other = Design(case_from_data(five(**fields), CATALOG), design.result, design.ledger)
        assert "bytes of headroom" in check_of(other).detail
    small = with_switch(CATALOG, "eth-sn5600", buffer_mb=Fact(v=100, how=How.READ, src="mem"))
    assert "the buffer may give 20,000,000" in check_of(design, small).detail
    pools = with_switch(CATALOG, "eth-sn5600", buffer_pools=4)
    assert "one of 4 pools" in check_of(design, pools).detail
    unknown = with_switch(CATALOG, "eth-sn5600", buffer_mb=None)
    assert "not known" in check_of(design, unknown).detail


@pytest.mark.parametrize(
    "field", ["total_bytes", "pool_bytes", "most_port_bytes", "least_port_bytes", "ports", "share"]
)
def test_verify_finds_a_wrong_report(field: str) -> None:
    """Every figure of the result is counted again."""
    design = designed()
    fabric = design.result.fabrics["backend"]
    value = getattr(fabric.headroom[0], field)
    line = fabric.headroom[0].model_copy(update={field: value - 1 if field != "share" else 0.05})
    changed = fabric.model_copy(update={"headroom": (line, *fabric.headroom[1:])})
    result = design.result.model_copy(update={"fabrics": {"backend": changed}})
    assert field in check_of(Design(design.case, result, design.ledger)).detail


def test_verify_finds_headroom_that_is_missing_or_made_up() -> None:
    """A tier left out of the report, and headroom reported where nothing was asked for."""
    design = designed()
    fabric = design.result.fabrics["backend"]
    left_out = fabric.model_copy(update={"headroom": fabric.headroom[1:]})
    result = design.result.model_copy(update={"fabrics": {"backend": left_out}})
    assert "not reported" in check_of(Design(design.case, result, design.ledger)).detail
    data = five()
    del data["fabrics"]["backend"]["lossless"]
    plain = case_from_data(data, CATALOG)
    verified = verify(Design(plain, design.result, design.ledger), CATALOG)
    assert [c.name for c in verified.checks if not c.passed] == ["headroom"]


def test_verify_finds_a_speed_without_flow_control() -> None:
    """The switch of the design, had it 400G only lossy."""
    catalog = with_switch(CATALOG, "eth-sn5600", lossy_only_speeds_gbps=(400.0,))
    assert "without flow control" in check_of(designed(), catalog).detail


def test_converged_storage_obeys_both() -> None:
    """Storage on the backend's switches: every port keeps what the stricter of the two asks for."""
    data = five(classes=1, buffer_share=0.9)
    data["cluster"]["gpus"] = 96
    data["fabrics"]["storage"] = {"mode": "converged", "lossless": {"classes": 2, "buffer_share": 0.2}}
    design = optimize(case_from_data(data, CATALOG), CATALOG)
    assert design.result.status is Status.OPTIMAL, design.result.reasons
    lines = design.result.fabrics["backend"].headroom
    assert design.result.fabrics["storage"].headroom == ()
    case = design.case
    assert case.fabrics.storage is not None
    assert case.fabrics.storage.lossless is not None
    assert lines == headroom_of(design.ledger, CATALOG, FabricName.BACKEND, [case.fabrics.storage.lossless])
    assert all(line.share is not None and line.share <= 0.2 for line in lines)
    loose = copy.deepcopy(data)
    del loose["fabrics"]["storage"]["lossless"]
    freer = optimize(case_from_data(loose, CATALOG), CATALOG)
    assert sum(switches_of(freer).values()) < sum(switches_of(design).values())
