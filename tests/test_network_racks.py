"""Network racks with a price: packed into the fewest, the same in the program and in the ledger, and on the bill."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest
import yaml
from case_answers import CASES
from hypothesis import given, settings
from hypothesis import strategies as st

from gpunet.catalogs import load_catalog
from gpunet.models.case import Case, FabricName, Limits, Objective
from gpunet.models.design import Design, Status
from gpunet.solver.candidates import Finder, compile_case
from gpunet.solver.engines import Engine, broken
from gpunet.solver.held import with_oob
from gpunet.solver.optimize import optimize
from gpunet.solver.packing import Size, pack
from gpunet.solver.search import search
from gpunet.solver.verify import verify

CATALOG = load_catalog()
UNITS, POWER_MW = 10, 100


def fewest_by_trying(boxes: list[Size]) -> int:
    """The fewest racks, by putting every box into every rack in turn."""
    best = len(boxes)

    def place(left: list[Size], racks: tuple[Size, ...]) -> None:
        nonlocal best
        if len(racks) >= best and left:
            return
        if not left:
            best = min(best, len(racks))
            return
        box, *rest = left
        for i, rack in enumerate(racks):
            if rack.units + box.units <= UNITS and rack.power_mw + box.power_mw <= POWER_MW:
                fuller = Size(rack.units + box.units, rack.power_mw + box.power_mw)
                place(rest, (*racks[:i], fuller, *racks[i + 1 :]))
        place(rest, (*racks, box))

    place(sorted(boxes, reverse=True), ())
    return best


@settings(max_examples=60, deadline=None)
@given(st.lists(st.builds(Size, st.integers(1, 7), st.integers(5, 70)), min_size=1, max_size=7))
def test_as_few_racks_as_there_can_be(boxes: list[Size]) -> None:
    """Packing is as good as trying everything, loses no box and overfills no rack."""
    racks = pack(tuple(sorted(Counter(boxes).items())), UNITS, POWER_MW)
    assert len(racks) == fewest_by_trying(boxes)
    assert sum((Counter(dict(rack)) for rack in racks), Counter()) == Counter(boxes)
    for rack in racks:
        assert sum(s.units * n for s, n in rack) <= UNITS
        assert sum(s.power_mw * n for s, n in rack) <= POWER_MW


def test_packing_beyond_first_fit() -> None:
    """Three racks of 4 + 3 + 3 units are found, which largest first does not find."""
    boxes = ((Size(3, 1), 6), (Size(4, 1), 3))
    assert len(pack(boxes, UNITS, POWER_MW)) == 3


def design_of(engine: str, **site: Any) -> Design:
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    data["site"]["rack"] |= site
    design = optimize(Case.model_validate({"name": "racks", **data}), CATALOG, engine=engine)
    assert design.result.status is Status.OPTIMAL
    return design


def racks_of(design: Design) -> int:
    """Racks of switches in the ledger."""
    servers = {d.rack for d in design.ledger.devices if d.kind == "server"}
    return len({d.rack for d in design.ledger.devices if d.kind == "switch"} - servers)


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_the_price_of_a_rack_saves_one(engine: str) -> None:
    """Free racks stand where cables are shortest; at a price every leaf stands in one row, and what stands is paid."""
    free, priced = design_of(engine, cost_usd=0), design_of(engine, cost_usd=15000)
    assert (racks_of(free), racks_of(priced)) == (3, 2)
    (line,) = [x for x in priced.result.bom if x.kind == "rack"]
    assert (line.quantity, line.extended_usd) == (2, 30000)
    assert free.result.totals is not None
    assert priced.result.totals is not None
    assert priced.result.totals.cost_usd - 30000 > free.result.totals.cost_usd
    assert priced.result.totals.cost_usd == pytest.approx(sum(x.extended_usd for x in priced.result.bom))


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_a_limit_counts_the_racks_that_stand(engine: str) -> None:
    """Two racks are enough for the leaves of one of three rows and the spines, one is not; no price takes part."""
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    data["site"]["rack"].pop("cost_usd")
    two, one = (Case.model_validate({"name": "limit", **data, "limits": {"racks": racks}}) for racks in (2, 1))
    design = optimize(two, CATALOG, engine=engine)
    assert design.result.status is Status.OPTIMAL
    assert racks_of(design) == 2
    assert design.result.totals is not None
    assert design.result.totals.cost_usd == 939_888
    assert not [x for x in design.result.bom if x.kind == "rack"]
    assert search(compile_case(one, CATALOG), Engine(engine)).outcome.status is Status.INFEASIBLE


@pytest.mark.parametrize("engine", ["highs", "cp-sat"])
@pytest.mark.parametrize(("power_kw", "racks"), [(14, 2), (12.1, 3)])
def test_no_place_is_left_empty_for_fear(engine: str, power_kw: float, racks: int) -> None:
    """With one place a row, 8 leaves fill it to 98 %; where it holds 7, a second row is used, never a second place."""
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    data["site"] |= {"network_racks_per_row": 1, "network_racks_central": 1}
    data["site"]["rack"]["power_kw"] = power_kw
    design = optimize(Case.model_validate({"name": "tight", **data}), CATALOG, engine=engine)
    assert design.result.status is Status.OPTIMAL
    assert racks_of(design) == racks


@pytest.mark.parametrize(("per_row", "central"), [(3, 1), (2, 2), (2, 1), (1, 2), (1, 1)])
def test_a_part_allowed_takes_no_place_from_others(per_row: int, central: int) -> None:
    """A chassis of half a rack, allowed beside the switch of the design, never makes the design of a tight room worse.

    Space was once kept for the largest switch allowed, which made a better design impossible when one was allowed.
    """
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    data["site"] |= {"network_racks_per_row": per_row, "network_racks_central": central}
    data["site"]["rack"] = {"power_kw": 12.1}
    alone = search(compile_case(Case.model_validate({"name": "tight", **data}), CATALOG)).outcome
    data["fabrics"]["backend"]["parts"]["allow"] += ["ib-q3400"]
    beside = search(compile_case(Case.model_validate({"name": "tight", **data}), CATALOG)).outcome
    assert alone.status is Status.OPTIMAL
    assert beside.status is Status.OPTIMAL
    assert alone.value is not None
    assert beside.value is not None
    assert beside.value <= alone.value


def test_an_answer_with_racks_too_many_is_refused() -> None:
    """Whatever an engine says, the racks of its answer are counted once more."""
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    found = search(compile_case(Case.model_validate({"name": "limit", **data, "limits": {"racks": 2}}), CATALOG))
    assert found.data is not None
    assert found.outcome.choice is not None
    assert broken(found.data, found.outcome.choice) == []
    tighter = found.data.case.model_copy(update={"limits": Limits(racks=1)})
    assert broken(dataclasses.replace(found.data, case=tighter), found.outcome.choice) == ["rack_limit"]


@pytest.mark.parametrize("engine", ["highs", "cp-sat"])
def test_suppliers_share_an_order_that_racks_decide(engine: str) -> None:
    """Switches are split between two suppliers, and racks are saved as before: neither is left out of the proof."""
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    offer = {"part": "ib-qm9700", "unit_usd": 20000, "at_most": 7}
    more = {"buying": {}, "quotes": [{"supplier": s, "lines": [offer]} for s in ("north", "south")]}
    design = optimize(Case.model_validate({"name": "racks", **data, **more}), CATALOG, engine=engine)
    assert design.result.status is Status.OPTIMAL
    assert {x.supplier: x.quantity for x in design.result.bom if x.kind == "switch"} == {"north": 7, "south": 5}
    assert [x.quantity for x in design.result.bom if x.kind == "rack"] == [2]


def test_four_fabrics_stand_in_the_racks_they_pay_for() -> None:
    """With every fabric, management leaves among them, engines agree and the ledger holds what the program counted."""
    data = {"name": "all", "cluster": {"gpus": 256, "server": "dgx-h100"}, "site": {"rack": {"cost_usd": 4000}}}
    found = [optimize(Case.model_validate(data), CATALOG, engine=e) for e in ("highs", "cp-sat")]
    assert [d.result.status for d in found] == [Status.OPTIMAL] * 2
    assert len({d.result.objective.value for d in found if d.result.objective}) == 1
    assert {x.quantity for d in found for x in d.result.bom if x.kind == "rack"} == {racks_of(found[0])}


def test_verify_counts_racks_itself() -> None:
    """A bill with a rack fewer than the switches stand in is refused, and so is one without any."""
    design = design_of("highs", cost_usd=15000)
    for bom in (
        tuple(
            x.model_copy(update={"quantity": 1, "extended_usd": 15000}) if x.kind == "rack" else x
            for x in design.result.bom
        ),
        tuple(x for x in design.result.bom if x.kind != "rack"),
    ):
        spoilt = Design(design.case, design.result.model_copy(update={"bom": bom}), design.ledger)
        failed = [c for c in verify(spoilt, CATALOG).checks if not c.passed]
        assert [c.name for c in failed] == ["bom"]
        assert "network rack" in failed[0].detail


def test_only_power_counts_where_only_power_is_asked_for() -> None:
    """An objective of power is not moved by a price, and the bill still counts the racks that stand."""
    data = yaml.safe_load((CASES / "rack-price.yaml").read_text())
    design = optimize(Case.model_validate({"name": "cool", **data, "objective": "power"}), CATALOG)
    assert design.result.status is Status.OPTIMAL
    (line,) = [x for x in design.result.bom if x.kind == "rack"]
    assert line.quantity == racks_of(design)


@pytest.mark.parametrize(("racks_per_row", "more"), [(2, 1), (20, 0)])
def test_a_row_keeps_room_for_a_management_leaf_more(racks_per_row: int, more: int) -> None:
    """Management leaves follow their ports, so the fullest of several rows counts one more than planned."""
    data = {
        "name": "oob",
        "cluster": {"servers": 40, "server": "dgx-h100"},
        "fabrics": {"oob": {"max_tiers": 2}},
        "site": {"racks_per_row": racks_per_row, "servers_per_rack": 2},
    }
    compiled = compile_case(Case.model_validate(data), CATALOG)
    measure, room = compiled.measures[FabricName.OOB], compiled.machines.room
    held = with_oob(compiled, {}, Objective.COST, None, Finder())[FabricName.OOB]
    assert any(t.n_leaves > 2 for t in held)
    for t in held:
        by_row = Counter(p.zone for p in measure.positions(t))
        in_rows = t.n_leaves - t.central_leaves
        planned = max(by_row[zone.name] for zone in room.row_zones)
        assert t.facts.leaf_load == min(planned + more, in_rows) * measure.rack_share(t.leaf)
