"""What vendors take off all that is bought of them: the sum by itself, whole designs, and mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from exhaustive import least
from exhaustive_purchase import paid_cents
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.design import BomLine, Design, Status
from gpunet.models.problems import InputError
from gpunet.models.terms import VendorDiscount
from gpunet.solver.optimize import optimize
from gpunet.solver.sensitivity import sensitivity
from gpunet.solver.vendor_discounts import schedule_of
from gpunet.solver.verify import verify

CATALOG = tiny_catalog()
KINDS = ("all-units", "incremental")
ENGINES = ("highs", "scip", "cp-sat")


def case_of(*discounts: dict[str, Any], **more: Any) -> Case:
    """Four small servers on one backend of one tier."""
    data: dict[str, Any] = {
        "name": "vendors",
        "cluster": {"servers": 4, "server": sorted(CATALOG.servers)[0]},
        "fabrics": {"backend": {"max_tiers": 1}},
    }
    terms = {"vendor_discounts": list(discounts)} | more.pop("terms", {})
    return Case.model_validate(data | more | {"terms": terms})


def discount(vendor: str, *steps: tuple[float, float], kind: str = "all-units") -> dict[str, Any]:
    """A discount of a vendor, its steps as USD and per cent."""
    return {"vendor": vendor, "kind": kind, "steps": [{"from_usd": usd, "off_percent": off} for usd, off in steps]}


def taken_off(design: Design) -> list[BomLine]:
    """Lines of the bill that take something off."""
    return [line for line in design.result.bom if line.kind == "discount"]


@st.composite
def discounts(draw: st.DrawFn) -> VendorDiscount:
    """Up to three steps, some of them a cent or a hundredth of a per cent apart."""
    starts = sorted(draw(st.sets(st.integers(1, 400), min_size=1, max_size=3)))
    offs = sorted(draw(st.sets(st.integers(1, 10_000), min_size=len(starts), max_size=len(starts))))
    steps = [(start / 100, off / 100) for start, off in zip(starts, offs, strict=True)]
    return VendorDiscount.model_validate(discount("x", *steps, kind=draw(st.sampled_from(KINDS))))


@settings(deadline=None)
@given(told=discounts(), spent=st.integers(0, 600))
def test_what_is_paid_is_the_least_there_is_and_never_falls(told: VendorDiscount, spent: int) -> None:
    """To the cent as by plain loops; a cent more of spending is paid for by a cent or by nothing."""
    schedule = schedule_of(told)

    def paid(cents: int) -> int:
        best = schedule.best(cents)
        return cents - (best[1] if best else 0)

    assert paid(spent) == paid_cents(told, spent)
    assert paid(spent + 1) - paid(spent) in (0, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_with_exhaustive_search(engine: str, kind: str) -> None:
    """Two vendors with two steps each: one optimum to the cent, one line a vendor, a bill that adds up, verified."""
    case = case_of(
        discount("lumen", (1000, 7.25), (5000, 33.33), kind=kind),
        discount("northstar", (3000, 3), (9000.01, 12.5), kind=kind),
        parts={"deny": ["southern:*"]},
    )
    design = optimize(case, CATALOG, engine=engine)
    assert design.result.totals is not None
    cents = round(design.result.totals.cost_usd * 100)
    assert (cents,) == least(case, CATALOG)
    assert cents == round(sum(line.extended_usd for line in design.result.bom) * 100)
    assert [line.part.partition(":")[0] for line in taken_off(design)] == ["lumen", "northstar"]
    assert all(line.extended_usd < 0 for line in taken_off(design))
    assert verify(design, CATALOG).passed


@pytest.mark.parametrize("engine", ENGINES)
def test_a_discount_turns_the_switch_and_a_ceiling_counts_it(engine: str) -> None:
    """The best design at unit prices gives way; a ceiling of its cost holds, and a cent below it nothing does."""
    plain = optimize(case_of(), CATALOG).result
    vendor = CATALOG.switches[next(line.part for line in plain.bom if line.kind == "switch")].vendor
    other = next(x.vendor for x in CATALOG.switches.values() if x.vendor != vendor)
    told = discount(other, (2000, 90))
    turned = optimize(case_of(told), CATALOG, engine=engine).result
    assert turned.totals is not None
    assert {CATALOG.switches[line.part].vendor for line in turned.bom if line.kind == "switch"} == {other}
    cost = turned.totals.cost_usd
    assert optimize(case_of(told, limits={"cost_usd": cost}), CATALOG, engine=engine).result.status is Status.OPTIMAL
    short = case_of(told, limits={"cost_usd": round(cost - 0.01, 2)})
    assert optimize(short, CATALOG, engine=engine).result.status is Status.INFEASIBLE


def test_a_step_is_kept_by_paying_for_no_less_than_it_begins_at() -> None:
    """Of what is spent a cent below a step the start of the step is paid for, and the line says how much is unused."""
    spent = sum(line.extended_usd for line in optimize(case_of(), CATALOG).result.bom if line.kind == "module")
    allow = [line.part for line in optimize(case_of(), CATALOG).result.bom if line.kind in ("switch", "module")]
    others = dict.fromkeys((*CATALOG.fibres, *CATALOG.cables), 0)
    case = case_of(
        discount("lumen", (spent + 0.01, 50)), parts={"allow": [*allow, "mpo-*"]}, prices={"overrides_usd": others}
    )
    design = optimize(case, CATALOG)
    (line,) = taken_off(design)
    assert "0.01 USD more are paid for" in line.note
    assert line.extended_usd == -(spent + 0.01 - 0.01 - round((spent + 0.01) / 2 + 0.0001, 2))
    assert verify(design, CATALOG).passed


def test_what_is_quoted_stated_or_owned_does_not_count() -> None:
    """A vendor takes nothing off a price that the case states, one that is quoted, or what is in the house."""
    told = discount("northstar", (0.01, 50)), discount("southern", (0.01, 50))
    used = next(line for line in optimize(case_of(), CATALOG).result.bom if line.kind == "switch")
    only = {"parts": {"allow": [used.part, "lumen:*"]}}
    assert taken_off(optimize(case_of(*told, **only), CATALOG))
    stated = case_of(*told, **only, prices={"overrides_usd": {used.part: used.unit_price_usd}})
    quoted = case_of(
        *told, **only, quotes=[{"supplier": "x", "lines": [{"part": used.part, "unit_usd": used.unit_price_usd}]}]
    )
    owned = case_of(*told, **only, owned=[{"part": used.part, "quantity": used.quantity}])
    for case in (stated, quoted, owned):
        design = optimize(case, CATALOG)
        assert design.result.status is Status.OPTIMAL
        assert not taken_off(design)
        assert verify(design, CATALOG).passed


@pytest.mark.parametrize("change", ["extended_usd", "unit_price_usd", "part", "gone", "twice"])
def test_verify_counts_what_is_taken_off_again(change: str) -> None:
    """A discount changed by a cent, under another name, left out or there twice is refused."""
    design = optimize(case_of(discount("lumen", (1000, 7.25))), CATALOG)
    (line,) = taken_off(design)
    value = "lumen: 99 % off" if change == "part" else round(getattr(line, change, 0) - 0.01, 2)
    rest = tuple(x for x in design.result.bom if x is not line)
    found = {"gone": (), "twice": (line, line)}.get(change, (line.model_copy(update={change: value}),))
    result = design.result.model_copy(update={"bom": (*rest, *found)})
    assert not verify(Design(design.case, result, design.ledger), CATALOG).passed


def test_price_ranges_leave_out_what_counts_by_name() -> None:
    """What a piece adds depends on all that is bought of the vendor: no range, and the reason with the names."""
    study = sensitivity(case_of(discount("lumen", (1000, 7.25))), CATALOG)
    mine = {*CATALOG.modules, *CATALOG.fibres, *CATALOG.cables}
    assert study.prices
    assert not {x.part for x in study.prices} & mine
    (note,) = [note for note in study.notes if "vendor_discounts" in note]
    assert any(part in note for part in mine)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (discount("nvida", (1, 1)), "nearest: nvidia"),
        (discount("nvidia", (2, 1), (1, 2)), "begin at more USD"),
        (discount("nvidia", (1, 2), (2, 2)), "take off more"),
        (discount("nvidia", (1, 101)), "at most 100"),
        (discount("nvidia", (1, 1.234)), "two decimals"),
    ],
)
def test_mistakes_are_told(wrong: dict[str, Any], told: str) -> None:
    """Unknown vendors with the nearest name, steps that do not rise, and percentages out of range."""
    data = {"name": "x", "cluster": {"gpus": 8, "server": "dgx-h100"}, "fabrics": {"backend": {}}}
    with pytest.raises(InputError, match=told):
        case_from_data(data | {"terms": {"vendor_discounts": [wrong]}}, load_catalog())


def test_a_vendor_has_one_entry() -> None:
    """A second entry of a vendor names the first."""
    data = {"name": "x", "cluster": {"gpus": 8, "server": "dgx-h100"}, "fabrics": {"backend": {}}}
    terms = {"vendor_discounts": [discount("nvidia", (1, 1)), discount("nvidia", (2, 2))]}
    with pytest.raises(InputError, match=r"vendor_discounts\[0\] is of the same vendor"):
        case_from_data(data | {"terms": terms}, load_catalog())
