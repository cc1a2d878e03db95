"""What parts cost to buy: the rules by themselves against plain loops, whole designs, and mistakes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from exhaustive_purchase import purchase_cents
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_catalog import tiny_catalog

from gpunet.models.case import Case
from gpunet.models.design import Design, Status
from gpunet.solver.explain import explain
from gpunet.solver.optimize import optimize
from gpunet.solver.prices import PriceList
from gpunet.solver.purchase import SpareRule, chance_at_most
from gpunet.solver.verify import verify

CATALOG = tiny_catalog()
MODULE = sorted(CATALOG.modules)[0]


def case_of(**more: Any) -> Case:
    """Eight small servers on one backend."""
    data = {"name": "buy", "cluster": {"servers": 8, "server": sorted(CATALOG.servers)[0]}, "fabrics": {"backend": {}}}
    return Case.model_validate(data | more)


@st.composite
def purchases(draw: st.DrawFn) -> dict[str, Any]:
    """Terms of one part."""
    first = draw(st.integers(2, 9))
    steps = [{"from_pieces": first, "usd": 5}, {"from_pieces": first + draw(st.integers(1, 9)), "usd": 2}]
    more: dict[str, Any] = {"terms": {}}
    if draw(st.booleans()):
        kind = draw(st.sampled_from(["all-units", "incremental"]))
        more["terms"]["price_breaks"] = [{"part": MODULE, "kind": kind, "steps": steps}]
    if draw(st.booleans()):
        more["terms"]["packs"] = {MODULE: draw(st.integers(1, 9))}
    if draw(st.booleans()):
        more["terms"]["minimum_order"] = {MODULE: draw(st.integers(1, 20))}
    if draw(st.booleans()):
        more["supply"] = [{"part": MODULE, "at_most": draw(st.integers(0, 30))}]
    if draw(st.booleans()):
        more["owned"] = [{"part": MODULE, "quantity": draw(st.integers(1, 9))}]
    if draw(st.booleans()):
        more["spares"] = {"failure_percent_per_year": {MODULE: draw(st.integers(1, 300))}, "minimum": {MODULE: 1}}
    return more


@settings(deadline=None)
@given(more=purchases(), pieces=st.integers(0, 25))
def test_an_order_is_the_cheapest_of_all_sizes(more: dict[str, Any], pieces: int) -> None:
    """Whatever the terms together, no size of order that covers the need costs less."""
    case = case_of(**more)
    prices = PriceList(case, CATALOG)
    terms, cents = prices.terms(MODULE), prices.cents(MODULE)
    assert cents is not None
    expected = purchase_cents(case, MODULE, pieces, cents)
    if terms is None:
        assert expected == pieces * cents
        return
    order = terms.buy(pieces)
    assert (None if order is None else order.cents) == expected
    if order is not None:
        assert order.bought + order.from_stock == pieces + order.spares + order.surplus


@settings(deadline=None)
@given(pieces=st.integers(1, 3000), percent=st.integers(1, 400), level=st.sampled_from([0.8, 0.95, 0.99, 0.999]))
def test_spares_are_the_fewest_that_last(pieces: int, percent: int, level: float) -> None:
    """One spare fewer would last less often than asked for, and those there are last often enough."""
    each = Fraction(percent, 100) / 10
    spares = SpareRule(each, level).spares(pieces)
    assert chance_at_most(spares, each * pieces) >= level
    assert spares == 0 or chance_at_most(spares - 1, each * pieces) < level


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_engines_agree_where_everything_is_asked_for_at_once(engine: str) -> None:
    """Steps, packs, minimum orders, licences, laying, spares and stock together: one design, one bill, verified."""
    design = _everything(engine)
    assert design.result.status is Status.OPTIMAL
    assert design.result.bom == _everything("highs").result.bom
    kinds = {line.kind for line in design.result.bom}
    assert {"licence", "installation"} <= kinds
    assert any(line.spares for line in design.result.bom)
    assert any(line.surplus for line in design.result.bom)


def _everything(engine: str) -> Design:
    used = optimize(case_of(), CATALOG).result.bom
    module = next(line.part for line in used if line.kind == "module")
    more: dict[str, Any] = {
        "terms": {
            "price_breaks": [{"part": module, "steps": [{"from_pieces": 5, "usd": 1}]}],
            "packs": {module: 7},
            "licences": [{"switch": "switch:*", "name": "software", "usd": 10, "usd_per_year": 1.25}],
            "installation": {"in_rack_usd": 1, "across_racks_usd": 2},
        },
        "spares": {"failure_percent_per_year": {"module": 40}, "minimum": {"switch": 1}},
        "owned": [{"part": module, "quantity": 2}],
    }
    return optimize(case_of(**more), CATALOG, engine=engine)


@pytest.mark.parametrize("field", ["spares", "surplus", "extended_usd", "quantity"])
def test_verify_counts_the_bill_again(field: str) -> None:
    """A bill with one figure changed is refused, line by line."""
    design = _everything("highs")
    for i, line in enumerate(design.result.bom):
        wrong = line.model_copy(update={field: getattr(line, field) + 1})
        bom = (*design.result.bom[:i], wrong, *design.result.bom[i + 1 :])
        result = design.result.model_copy(update={"bom": bom})
        assert not verify(Design(design.case, result, design.ledger), CATALOG).passed, line.part


def test_a_switch_that_runs_out_gives_way_to_another_or_to_the_reason() -> None:
    """Supply of the best switch shuts it out; supply of none of any leaves no design, and explain names the entries."""
    best = next(line for line in optimize(case_of(), CATALOG).result.bom if line.kind == "switch")
    short = optimize(case_of(supply=[{"part": best.part, "at_most": best.quantity - 1}]), CATALOG).result
    assert short.status is Status.OPTIMAL
    assert all(line.bought < best.quantity for line in short.bom if line.part == best.part)
    none = case_of(supply=[{"part": part, "at_most": 0} for part in CATALOG.switches])
    study = explain(none, CATALOG)
    assert study.status is Status.INFEASIBLE
    assert any("supply[" in held.setting for clash in study.clashes for held in clash.limits)


def test_late_supply_does_not_count() -> None:
    """What comes after the weeks allowed is not there; without a limit on weeks it is."""
    best = next(line for line in optimize(case_of(), CATALOG).result.bom if line.kind == "switch")
    late = [{"part": best.part, "at_most": 100, "from_week": 12}]
    within = optimize(case_of(supply=late, limits={"lead_time_weeks": 12}), CATALOG).result
    beyond = optimize(case_of(supply=late, limits={"lead_time_weeks": 11}), CATALOG).result
    assert best.part in {line.part for line in within.bom}
    assert best.part not in {line.part for line in beyond.bom}


def test_stock_of_adapters_does_not_tighten_the_proof() -> None:
    """Adapters are the same in every design, so owning some takes their price off and changes nothing else."""
    from exhaustive_catalog import awkward_catalog

    catalog = awkward_catalog()
    data = {
        "cluster": {"servers": 4, "server": "server-4"},
        "fabrics": {"backend": {}, "frontend": {"server_gbps": 200}},
    }
    plain = optimize(Case.model_validate(data), catalog).result
    nic = next(line for line in plain.bom if line.kind == "nic")
    ceiling = plain.totals.cost_usd - 2 * nic.unit_price_usd if plain.totals else 0
    more = {"owned": [{"part": nic.part, "quantity": 2}], "limits": {"cost_usd": ceiling}}
    owned = optimize(Case.model_validate(data | more), catalog).result
    assert owned.totals is not None
    assert owned.totals.cost_usd == ceiling
    assert {f: d.tiers for f, d in owned.fabrics.items()} == {f: d.tiers for f, d in plain.fabrics.items()}


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
@pytest.mark.parametrize(("prepaid", "later"), [(3, 1), (2.5, 1.5), (6, 0)])
def test_prepaid_years_are_a_line_of_the_bill(engine: str, prepaid: float, later: float) -> None:
    """Years bought with the network are in the cost, on a line; those of the horizon beyond them in the tco alone."""
    licence = {"switch": "switch:*", "name": "software", "usd": 10}
    plain = optimize(case_of(terms={"licences": [licence]}), CATALOG, engine=engine).result
    yearly = {**licence, "usd_per_year": 8, "prepaid_years": prepaid}
    result = optimize(case_of(terms={"licences": [yearly]}), CATALOG, engine=engine).result
    assert result.status is Status.OPTIMAL, result.verify
    switches = sum(line.quantity for line in result.bom if line.kind == "switch")
    lines = {line.part: line for line in result.bom if line.kind == "licence"}
    (name,) = set(lines) - {"software"}
    assert name == f"software, {prepaid:g} years"
    assert (lines[name].quantity, lines[name].unit_price_usd) == (switches, 8 * prepaid)
    assert plain.totals is not None
    assert result.totals is not None
    assert result.totals.cost_usd - plain.totals.cost_usd == pytest.approx(switches * 8 * prepaid)
    assert result.totals.tco_usd - plain.totals.tco_usd == pytest.approx(switches * 8 * (prepaid + later))


def test_prepaid_years_turn_the_switch_as_plain_search_says() -> None:
    """A switch whose software must be paid ahead gives way; the optimum is that of plain enumeration."""
    from exhaustive import least

    best = next(line for line in optimize(case_of(), CATALOG).result.bom if line.kind == "switch")
    licence = {"switch": best.part, "name": "support", "usd_per_year": 3000, "prepaid_years": 3}
    case = case_of(terms={"licences": [licence]})
    result = optimize(case, CATALOG).result
    assert best.part not in {line.part for line in result.bom}
    assert result.totals is not None
    assert least(case, CATALOG) == (round(result.totals.cost_usd * 100),)
