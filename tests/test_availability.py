"""What can be had: discontinued parts, delivery times, and the week of a supply."""

from __future__ import annotations

import dataclasses
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook
from tiny_catalog import fact, tiny_catalog

from gpunet.models.case import Case
from gpunet.models.design import Design, Result, Status
from gpunet.models.parts import Catalog
from gpunet.models.parts import Status as PartStatus
from gpunet.report.delivery import delivery_words
from gpunet.report.design_text import design_page
from gpunet.report.html import html_report
from gpunet.report.workbook import workbook
from gpunet.solver.explain import explain
from gpunet.solver.optimize import optimize
from gpunet.solver.verify import verify

CATALOG = tiny_catalog()
FLAT = "flat-sr4"
NO_OTHER = {"deny": ["flat-dr4", "cable:*"]}
"""Leaves the flat multimode module as the only one that fits the adapters."""
PIECES = 16
"""Modules at the adapters of eight servers with two each."""


def case_of(**more: Any) -> Case:
    """Eight small servers on one backend."""
    data = {"name": "had", "cluster": {"servers": 8, "server": "server-2"}, "fabrics": {"backend": {}}}
    return Case.model_validate(data | more)


def changed(table: str, part: str, **fields: Any) -> Catalog:
    """The tiny catalogue with some fields of one part changed."""
    parts = dict(getattr(CATALOG, table))
    parts[part] = parts[part].model_copy(update=fields)
    return CATALOG.model_copy(update={table: parts})


GONE = changed("modules", FLAT, status=PartStatus.DISCONTINUED)


def used(result: Result, part: str) -> tuple[int, int]:
    """Pieces of a part in the design and spares of it, and pieces bought."""
    lines = [line for line in result.bom if line.part == part]
    return sum(x.quantity + x.spares for x in lines), sum(x.bought for x in lines)


def owned(quantity: int) -> dict[str, Any]:
    """So many of the flat modules in the house."""
    return {"owned": [{"part": FLAT, "quantity": quantity}]}


def test_naming_a_discontinued_part_does_not_let_it_in() -> None:
    """What a list of allowed parts names is refused all the same, and the reason says so; another part is taken."""
    assert used(optimize(case_of(), CATALOG).result, FLAT) == (PIECES, PIECES)
    named = case_of(parts={"allow": [FLAT, "module:*"]})
    assert used(optimize(named, GONE).result, FLAT) == (0, 0)
    alone = optimize(case_of(parts={"allow": [FLAT, "twin-sr4"], "deny": ["cable:*"]}), GONE).result
    assert alone.status is Status.INFEASIBLE
    assert f"parts.allow: {FLAT} is shut out: status discontinued" in alone.reasons[0]


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_a_discontinued_part_goes_as_far_as_it_is_owned(engine: str) -> None:
    """Of fifteen where sixteen are wanted none is bought; the rest of the design is built another way."""
    design = optimize(case_of(**owned(PIECES - 1)), GONE, engine=engine)
    assert design.result.status is Status.OPTIMAL
    pieces, bought = used(design.result, FLAT)
    assert 0 < pieces < PIECES
    assert bought == 0
    assert any(text.startswith(f"{FLAT}: discontinued") for text in design.result.warnings)
    assert used(optimize(case_of(**owned(PIECES)), GONE, engine=engine).result, FLAT) == (PIECES, 0)


@pytest.mark.parametrize(("have", "more"), [(PIECES - 1, {}), (PIECES, {"spares": {"minimum": {FLAT: 1}}})])
def test_explain_says_how_many_more_of_a_discontinued_part_it_takes(have: int, more: dict[str, Any]) -> None:
    """One piece fewer than the design and its spares need: the entry is named with the number that is enough."""
    study = explain(case_of(parts=NO_OTHER, **owned(have), **more), GONE)
    assert study.status is Status.INFEASIBLE
    held = {limit.setting: limit for clash in study.clashes for limit in clash.limits}
    assert held["owned[0].quantity"].enough == str(have + 1)
    assert "discontinued" in held["owned[0].quantity"].words
    assert optimize(case_of(parts=NO_OTHER, **owned(have + 1), **more), GONE).result.status is Status.OPTIMAL


def test_an_adapter_that_nobody_sells_leaves_no_design() -> None:
    """Adapters that every design needs are refused too, unless all of them are owned."""
    catalog = changed("nics", "nic-400", status=PartStatus.DISCONTINUED)
    storage = {"mode": "separate", "storage_servers": 2, "storage_server_nic": "nic-400", "storage_server_gbps": 400}
    servers = {"cluster": {"servers": 8, "server": "server-2", "nics": {"storage": "nic-400"}}}
    data = servers | {"fabrics": {"backend": {}, "storage": storage | {"server_gbps": 400}}}
    needed = used(optimize(case_of(**data), CATALOG).result, "nic-400")[0]
    assert needed
    without = optimize(case_of(**data), catalog).result
    assert without.status is Status.INFEASIBLE
    stock = [{"part": "nic-400", "quantity": needed}]
    assert optimize(case_of(**data, owned=stock), catalog).result.status is Status.OPTIMAL


def test_verify_refuses_to_buy_what_is_discontinued() -> None:
    """A design that is right today is wrong once a part of it that must be bought is gone."""
    design = optimize(case_of(**owned(PIECES - 1)), CATALOG)
    assert verify(design, CATALOG).passed
    checks = {check.name: check for check in verify(Design(design.case, design.result, design.ledger), GONE).checks}
    assert not checks["support"].passed
    assert f"{FLAT}: discontinued, and 1 of it are to be bought" in checks["support"].detail


def test_an_owned_part_that_comes_too_late_is_not_bought() -> None:
    """What is in the house is used whatever its delivery time, and not a piece more."""
    late = changed("modules", FLAT, lead_time_weeks=fact(30))
    case = case_of(limits={"lead_time_weeks": 20}, **owned(PIECES - 1))
    design = optimize(case, late)
    assert design.result.status is Status.OPTIMAL, design.result.verify
    pieces, bought = used(design.result, FLAT)
    assert 0 < pieces < PIECES
    assert bought == 0
    assert used(optimize(case_of(limits={"lead_time_weeks": 30}, **owned(PIECES - 1)), late).result, FLAT)[1] == 1


def test_explain_names_the_week_of_a_supply() -> None:
    """Where waiting for a supply is enough, its week is the smallest change, not the next delivery time of any part."""
    catalog = changed("switches", "eth-tiny-8", lead_time_weeks=fact(40))
    only = {"allow": ["ib-tiny-8"]}
    supply = [{"part": "ib-tiny-8", "at_most": 4, "from_week": week} for week in (24, 36)]
    study = explain(case_of(parts=only, limits={"lead_time_weeks": 20}, supply=supply), catalog)
    held = {limit.setting: limit for clash in study.clashes for limit in clash.limits}
    assert held["limits.lead_time_weeks"].enough == "24"


# --- the date ---------------------------------------------------------------------------------------------------------


def slow(weeks: dict[str, float]) -> Catalog:
    """The tiny catalogue with delivery times of some modules."""
    modules = {part: m.model_copy(update={"lead_time_weeks": fact(weeks[part])} if part in weeks else {})
               for part, m in CATALOG.modules.items()}  # fmt: skip
    return CATALOG.model_copy(update={"modules": modules})


def quote(part: str, weeks: float) -> dict[str, Any]:
    """A quote of one part with its delivery time."""
    return {"supplier": "Alder", "lines": [{"part": part, "unit_usd": 1, "lead_time_weeks": weeks}]}


SUPPLY = [{"part": FLAT, "at_most": 10, "from_week": week} for week in (30, 6, 18)]


@pytest.mark.parametrize(
    ("more", "weeks", "parts", "how"),
    [
        ({"limits": {"lead_time_weeks": 20}}, 12, ("twin-sr4",), "estimated"),
        ({"supply": SUPPLY}, 18, (FLAT,), "supply"),
        ({"supply": SUPPLY, "owned": [{"part": FLAT, "quantity": 6}]}, 12, ("twin-sr4",), "estimated"),
        ({"quotes": [quote("twin-sr4", 3)]}, 9, (FLAT,), "estimated"),
        ({"quotes": [quote("twin-sr4", 40)]}, 40, ("twin-sr4",), "quoted"),
        ({"quotes": [quote("twin-sr4", 40)], "buying": {}}, 40, ("twin-sr4",), "quoted"),
        ({"quotes": [quote("twin-sr4", 9)]}, 9, (FLAT, "twin-sr4"), "estimated"),
    ],
)
def test_the_part_that_comes_last_sets_the_date(
    more: dict[str, Any], weeks: float, parts: tuple[str, ...], how: str
) -> None:
    """Catalogue, quotes and supply by weeks, as far as the order reaches; stock sets no date; checked again."""
    catalog = slow({FLAT: 9, "twin-sr4": 12})
    design = optimize(case_of(**more), catalog)
    found = design.result.delivery
    assert found is not None
    assert (found.weeks, found.parts, found.how) == (weeks, parts, how)
    assert "ib-tiny-8" in found.unknown
    for wrong in ({"weeks": weeks + 1}, {"parts": ("ib-tiny-8",)}, {"unknown": ()}):
        told = design.result.model_copy(update={"delivery": found.model_copy(update=wrong)})
        checks = {check.name: check for check in verify(Design(design.case, told, design.ledger), catalog).checks}
        assert not checks["delivery"].passed, wrong


def test_a_case_that_says_nothing_of_time_gets_no_new_field() -> None:
    """The JSON stays as it was; the reports tell the date all the same, and nothing where no time is known."""
    catalog = slow({FLAT: 9, "twin-sr4": 12})
    design = optimize(case_of(), catalog)
    assert "delivery" not in design.result.model_dump(mode="json")
    assert "set by twin-sr4: ~12 weeks after the order (estimated)" in delivery_words(design, catalog)
    assert delivery_words(design) == ""
    assert delivery_words(optimize(case_of(), CATALOG), CATALOG) == ""


def test_every_report_names_the_part_that_sets_the_date() -> None:
    """Printed report, page and workbook."""
    catalog = slow({FLAT: 9, "twin-sr4": 12})
    design = optimize(case_of(), catalog)
    says = delivery_words(design, catalog)
    assert any(getattr(block, "text", "") == says for block in design_page(design, catalog))
    assert says in unescape(html_report(design, catalog))
    book = load_workbook(BytesIO(workbook(design, catalog)))
    assert says in [cell.value for row in book["Summary"].iter_rows() for cell in row]


def promised(weeks: float | None, usd: float = 1.0) -> dict[str, Any]:
    """A quote for the flat modules with a delivery time."""
    line = {"part": FLAT, "unit_usd": usd} | ({} if weeks is None else {"lead_time_weeks": weeks})
    return {"supplier": f"Seller {weeks}", "lines": [line]}


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_what_a_quote_promises_counts_against_the_limit(engine: str) -> None:
    """Of two quotes the dearer is taken where the other is late; where all are late the part is refused."""
    case = case_of(quotes=[promised(30), promised(8, 2.0)], limits={"lead_time_weeks": 12})
    design = optimize(case, CATALOG, engine=engine)
    assert used(design.result, FLAT) == (PIECES, PIECES)
    assert {x.unit_price_usd for x in design.result.bom if x.part == FLAT} == {2.0}
    assert all(check.passed for check in verify(design, CATALOG).checks)
    late = case_of(quotes=[promised(30)], limits={"lead_time_weeks": 12})
    other = optimize(late, CATALOG, engine=engine)
    assert used(other.result, FLAT) == (0, 0)
    spoilt = dataclasses.replace(design, case=late)
    assert any("lead time" in c.detail for c in verify(spoilt, CATALOG).checks if not c.passed)


def test_a_quote_in_time_lets_in_what_the_catalogue_calls_late() -> None:
    """The seller's word stands for that of the catalogue; a quote that says nothing of time changes nothing."""
    slow = changed("modules", FLAT, lead_time_weeks=fact(40))
    limits = {"lead_time_weeks": 12}
    assert used(optimize(case_of(limits=limits), slow).result, FLAT) == (0, 0)
    assert used(optimize(case_of(limits=limits, quotes=[promised(None)]), slow).result, FLAT) == (0, 0)
    design = optimize(case_of(limits=limits, quotes=[promised(8)]), slow)
    assert used(design.result, FLAT) == (PIECES, PIECES)
    assert all(check.passed for check in verify(design, slow).checks)


def test_a_length_that_is_quoted_late_and_the_week_that_is_enough() -> None:
    """One length is refused and not its kind; explain names the week of the quote."""
    fibre = {"part": "mpo-om4-n010", "unit_usd": 1, "lead_time_weeks": 30}
    only = {"allow": ["ib-tiny-8", FLAT, "twin-sr4", "mpo-om4"], "deny": ["cable:*"]}
    quotes = [{"supplier": "S", "lines": [fibre]}, promised(30)]
    case = case_of(parts=only, quotes=quotes, limits={"lead_time_weeks": 12})
    assert optimize(case, CATALOG).result.status is Status.INFEASIBLE
    assert "30 weeks" in str(explain(case, CATALOG))
    assert used(
        optimize(case_of(quotes=quotes[:1], limits={"lead_time_weeks": 12}), CATALOG).result, "mpo-om4-n010"
    ) == (0, 0)
