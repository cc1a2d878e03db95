"""Quotes in a case: the lowest that holds on the day of the order is the price, and everything agrees on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from gpunet import cli
from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.design_file import read_design, write_design
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.solver.optimize import optimize
from gpunet.solver.prices import PriceList
from gpunet.solver.quotes import lapsed_quotes
from gpunet.solver.verify import verify

ROOT = Path(__file__).parent.parent
CATALOG = load_catalog()
SWITCH = "ib-qm9700"


def quote(supplier: str, usd: float, until: str | None = None, part: str = SWITCH) -> dict[str, Any]:
    ends = {"valid_until": until} if until else {}
    return {
        "supplier": supplier,
        "date": "2026-11-01" if not until or until > "2026-11" else until,
        **ends,
        "lines": [{"part": part, "unit_usd": usd}],
    }


def case_with(*quotes: dict[str, Any], **more: Any) -> Case:
    data = {"cluster": {"servers": 4, "server": "dgx-h100"}, "fabrics": {"backend": {"protocols": ["infiniband"]}}}
    return case_from_data({**data, "quotes": list(quotes), **more}, CATALOG)


@cache
def shipped() -> Design:
    return optimize(read_case(ROOT / "cases/quotes-256.yaml", CATALOG), CATALOG)


def test_the_lowest_quote_is_the_price() -> None:
    """Of two suppliers the cheaper one is taken and named, and the other's price is told."""
    found = PriceList(case_with(quote("dear", 33000), quote("cheap", 31000, "2026-12-31")), CATALOG).quote(SWITCH)
    assert found is not None
    assert (found.cents, found.source, found.date, found.how) == (31_000_00, "cheap", "2026-11-01", "quoted")
    assert found.note == "valid until 2026-12-31; also 33,000.00 from dear"


def test_order_of_precedence() -> None:
    """The case's own override beats every quote, a quote beats the catalogue, and no discount is taken off either."""
    offer = quote("x", 31000)
    discounts = {"discounts": {"nvidia": 0.5}}
    assert PriceList(case_with(offer, prices=discounts), CATALOG).cents(SWITCH) == 31_000_00
    prices = {**discounts, "overrides_usd": {SWITCH: 40000}}
    assert PriceList(case_with(offer, prices=prices), CATALOG).cents(SWITCH) == 40_000_00
    assert PriceList(case_with(offer), CATALOG).band(SWITCH) is None
    assert PriceList(case_with(offer), CATALOG).cents("nv-mma4z00-ns") == 879_00


@pytest.mark.parametrize(("ordered", "usd"), [("2026-11-30", 30000), ("2026-12-01", 31000), (None, 30000)])
def test_lapsed_quotes_do_not_count(ordered: str | None, usd: float) -> None:
    """A quote holds on its last day and not on the next; without a day of order every quote counts."""
    more = {"order_date": ordered} if ordered else {}
    case = case_with(quote("long", 31000), quote("short", 30000, "2026-11-30"), **more)
    assert PriceList(case, CATALOG).cents(SWITCH) == usd * 100
    told = list(lapsed_quotes(case, "2026-12-05"))
    assert bool(told) == (ordered != "2026-11-30")
    if told:
        assert "the quote of short was valid until 2026-11-30" in told[0]


def test_the_bill_names_the_supplier() -> None:
    """Lines of the bill carry supplier, day and how; the design is verified, and its file holds the quotes."""
    design = shipped()
    lines = {line.part: line for line in design.result.bom}
    assert (lines[SWITCH].unit_price_usd, lines[SWITCH].price_how) == (31000, "quoted")
    assert (lines[SWITCH].price_source, lines[SWITCH].price_date) == ("Reseller A A-1041", "2026-11-16")
    assert lines["nv-mma4z00-ns-flt"].price_how == "read"
    assert design.result.verify is not None
    assert design.result.verify.passed


def test_verify_knows_the_quotes(tmp_path: Path) -> None:
    """A design with quotes passes from its file, and fails where the quote in it is changed."""
    path = tmp_path / "design.json"
    text = write_design(shipped())
    path.write_text(text, encoding="utf-8")
    assert verify(read_design(path, CATALOG), CATALOG).passed
    assert text.count('"unit_usd": 31000') == 1
    path.write_text(text.replace('"unit_usd": 31000', '"unit_usd": 30999'), encoding="utf-8")
    failed = {check.name for check in verify(read_design(path, CATALOG), CATALOG).checks if not check.passed}
    assert "bom" in failed


def test_a_quote_turns_the_design() -> None:
    """With the quote single-mode modules win, and without it multimode ones."""
    case = read_case(ROOT / "cases/quotes-single-mode.yaml", CATALOG)
    for asked, module in ((case, "nv-mms4x00-ns"), (case.model_copy(update={"quotes": None}), "nv-mma4z00-ns")):
        assert module in {line.part for line in optimize(asked, CATALOG).result.bom}


def test_ten_days_earlier() -> None:
    """On the last day of the second quote the answer is the one that the header works out by hand."""
    case = read_case(ROOT / "cases/quotes-256.yaml", CATALOG).model_copy(update={"order_date": "2026-11-30"})
    totals = optimize(case, CATALOG).result.totals
    assert totals is not None
    assert totals.cost_usd == 877_232


def test_lapsed_quotes_are_told_on_the_screen(tmp_path: Path) -> None:
    """The command line says plainly that a price no longer holds; standard output stays the answer."""
    path = tmp_path / "case.yaml"
    data = {"cluster": {"servers": 1, "server": "dgx-h100"}, "fabrics": {"backend": {"protocols": ["infiniband"]}}}
    path.write_text(yaml.safe_dump({**data, "quotes": [quote("old", 30000, "2020-01-31")]}))
    done = CliRunner().invoke(cli.app, ["optimize", str(path)])
    assert "the quote of old was valid until 2020-01-31" in done.stderr
    assert "is used" not in done.stdout
