"""An order split among suppliers: the whole order by itself against plain loops, whole designs, and mistakes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from exhaustive_offers import order_cents
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data
from gpunet.models.case import Case
from gpunet.models.design import Design, Result, Status
from gpunet.models.problems import InputError
from gpunet.report.csv_files import BOM_COLUMNS, design_files
from gpunet.solver.explain import explain
from gpunet.solver.optimize import optimize
from gpunet.solver.order import order_all
from gpunet.solver.prices import PriceList
from gpunet.solver.sensitivity import sensitivity
from gpunet.solver.verify import verify

CATALOG = tiny_catalog()
SWITCH, FLAT, TWIN, FIBRE = "ib-tiny-8", "flat-sr4", "twin-sr4", "mpo-om4-n010"
"""What the design of ``case_of`` without quotes is made of: 1, 16, 8 and 16 pieces."""
ONLY = {"allow": [SWITCH, FLAT, TWIN, "mpo-om4"]}


def case_of(**more: Any) -> Case:
    """Eight small servers on one backend."""
    data = {"name": "buy", "cluster": {"servers": 8, "server": "server-2"}, "fabrics": {"backend": {}}}
    return case_from_data(data | more, CATALOG)


def quote(supplier: str, *lines: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"supplier": supplier, "lines": list(lines), **more}


def line(part: str, usd: float, **more: Any) -> dict[str, Any]:
    return {"part": part, "unit_usd": usd, **more}


def lines_of(result: Result, part: str) -> list[tuple[str, int, float]]:
    """Supplier, pieces and price of every line of a part."""
    return [(x.supplier, x.bought, x.unit_price_usd) for x in result.bom if x.part == part]


def cost(case: Case, engine: str = "highs") -> float:
    """Cost of the best design; infinite where there is none."""
    totals = optimize(case, CATALOG, engine=engine).result.totals
    return float("inf") if totals is None else totals.cost_usd


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    """Quotes for two parts, and limits on how the order is split."""
    quotes = []
    for supplier in ("first", "second", "third"):
        lines = []
        for part in (FLAT, TWIN):
            found = line(part, draw(st.sampled_from([5, 7, 20])))
            if draw(st.booleans()):
                found["at_most"] = draw(st.integers(1, 9))
            if draw(st.booleans()):
                found["minimum"] = draw(st.integers(2, 6))
            if draw(st.booleans()):
                found["steps"] = [{"from_pieces": draw(st.integers(2, 8)), "unit_usd": draw(st.sampled_from([0, 4]))}]
            if draw(st.integers(0, 3)):
                lines.append(found)
        if lines:
            quotes.append(quote(supplier, *lines))
    return {
        "quotes": quotes or [quote("first", line(FLAT, 5), line(TWIN, 5))],
        "buying": {
            "at_list": draw(st.sampled_from(["unquoted", "always"])),
            "max_suppliers": draw(st.sampled_from([None, 1, 2])),
            "max_split_lines": draw(st.sampled_from([None, 0, 1])),
        },
        "terms": {"packs": {FLAT: draw(st.integers(1, 4))}},
        "supply": [{"part": TWIN, "at_most": draw(st.integers(4, 30))}],
    }


@settings(deadline=None, max_examples=150)
@given(more=orders(), flats=st.integers(0, 12), twins=st.integers(0, 12))
def test_an_order_is_the_cheapest_within_the_limits(more: dict[str, Any], flats: int, twins: int) -> None:
    """However two parts are split, no other way within the limits costs less, and what is bought keeps them."""
    case = case_of(**more)
    prices = PriceList(case, CATALOG)
    pieces = {FLAT: flats, TWIN: twins}
    pieces = {part: n for part, n in pieces.items() if prices.rules.is_offered(part)}
    terms = {part: x for part in pieces if (x := prices.terms(part)) is not None}
    listed = {part: found.cents for part in pieces if (found := prices.listed(part)) is not None}
    found = order_all(terms, pieces, case.buying)
    expected = order_cents(case, pieces, listed)
    bought = [x for x in found.values() if x is not None]
    if expected is None:
        assert len(bought) < len(found)
        return
    assert sum(x.cents for x in bought) == expected
    sellers = [{share.source.supplier for share in x.shares} for x in bought]
    assert case.buying is not None
    assert len(set().union(*sellers) - {""}) <= (case.buying.max_suppliers or 3)
    if case.buying.max_split_lines is not None:
        assert sum(len(names) > 1 for names in sellers) <= case.buying.max_split_lines


TWO = [
    quote("Alder", line(FLAT, 300, at_most=10), line(TWIN, 880), valid_until="2026-12-31", date="2026-11-01"),
    quote("Birch", line(FLAT, 420), line(TWIN, 700, steps=[{"from_pieces": 8, "unit_usd": 650}]), reference="B-7"),
]


@pytest.mark.parametrize(
    ("buying", "flats", "usd"),
    [
        # 16 modules: 10 at 300 and 6 at 420; 8 twins at 650 from Birch; switch and fibre at list.
        ({}, [("Alder", 10, 300), ("Birch", 6, 420)], 9000 + 800 + 3000 + 2520 + 5200),
        ({"max_suppliers": 2}, [("Alder", 10, 300), ("Birch", 6, 420)], 20520),
        ({"max_suppliers": 1}, [("Birch", 16, 420)], 9000 + 800 + 6720 + 5200),
        ({"max_split_lines": 0}, [("Birch", 16, 420)], 21720),
        # The catalogue asks 500 for the module, which no limit on suppliers counts.
        ({"max_suppliers": 1, "at_list": "always"}, [("Birch", 16, 420)], 21720),
    ],
)
def test_an_order_is_split(buying: dict[str, Any], flats: list[tuple[str, int, float]], usd: float) -> None:
    """By hand: the cheaper supplier as far as it goes, within the limits; engines agree line by line."""
    case = case_of(quotes=TWO, buying=buying, parts=ONLY)
    result = optimize(case, CATALOG).result
    assert result.status is Status.OPTIMAL
    assert result.totals is not None
    assert result.totals.cost_usd == usd
    assert lines_of(result, FLAT) == flats
    for engine in ("scip", "cp-sat"):
        assert optimize(case, CATALOG, engine=engine).result.bom == result.bom


def test_the_bill_names_supplier_quote_and_last_day() -> None:
    """A line for each part and supplier, known by its quote; what nobody quotes has no supplier."""
    result = optimize(case_of(quotes=TWO, buying={}, parts=ONLY), CATALOG).result
    told = {(x.part, x.supplier): x for x in result.bom}
    alder, birch = told[FLAT, "Alder"], told[FLAT, "Birch"]
    assert (alder.price_source, alder.price_date, alder.valid_until) == ("Alder", "2026-11-01", "2026-12-31")
    assert (birch.price_source, birch.valid_until, birch.price_how) == ("Birch B-7", "", "quoted")
    assert told[SWITCH, ""].price_how == "estimated"
    assert "supplier" not in told[SWITCH, ""].model_dump()
    assert sum(x.quantity for x in result.bom if x.part == FLAT) == 16


def test_stock_spares_and_packs_go_with_it() -> None:
    """Stock first, then packs from each supplier; spares are bought with the rest, and lines add up to the need."""
    more = {
        "owned": [{"part": FLAT, "quantity": 3}],
        "spares": {"minimum": {"module": 2}},
        "terms": {"packs": {FLAT: 4}},
        "supply": [{"part": TWIN, "at_most": 10}],
    }
    design = optimize(case_of(quotes=TWO, buying={}, parts=ONLY, **more), CATALOG)
    lines = [x for x in design.result.bom if x.part == FLAT]
    # 16 and 2 spares less 3 are 15: two packs of four from Alder, whose ten are two packs, and two from Birch.
    assert [(x.supplier, x.bought, x.owned) for x in lines] == [("Alder", 8, 3), ("Birch", 8, 0)]
    assert [sum(getattr(x, what) for x in lines) for what in ("quantity", "spares", "surplus")] == [16, 2, 1]
    assert design.result.verify is not None
    assert design.result.verify.passed
    assert cost(design.case, "cp-sat") == cost(design.case, "scip") == cost(design.case)


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_more_stock_than_any_machine_counts(engine: str) -> None:
    """Stock and offers without measure are as good as enough of them, whichever engine is asked."""
    endless, enough = (
        case_of(
            owned=[{"part": FIBRE, "quantity": n}],
            quotes=[quote("Alder", line(FLAT, 300, at_most=n))],
            buying={"max_suppliers": n, "max_split_lines": n},
            spares={"minimum": {"module": 2}},
            parts=ONLY,
        )
        for n in (10**30, 100)
    )
    assert cost(endless, engine) == cost(enough) < float("inf")


def test_nothing_but_quotes() -> None:
    """With ``never`` a design is made of what is quoted, and of stock; or there is none, and explain says so."""
    every = quote("Cedar", line(SWITCH, 8000), line(FLAT, 450), line(TWIN, 900), line(FIBRE, 40))
    result = optimize(case_of(quotes=[every], buying={"at_list": "never"}), CATALOG).result
    assert {x.supplier for x in result.bom} == {"Cedar"}
    some = quote("Cedar", line(SWITCH, 8000), line(FLAT, 450), line(TWIN, 900))
    study = explain(case_of(quotes=[some], buying={"at_list": "never"}, parts=ONLY), CATALOG)
    assert [held.setting for clash in study.clashes for held in clash.limits if held.enough] == ["buying.at_list"]
    stock = [{"part": FIBRE, "quantity": 16}]
    owned = optimize(case_of(quotes=[some], buying={"at_list": "never"}, parts=ONLY, owned=stock), CATALOG).result
    assert owned.status is Status.OPTIMAL


def test_explain_names_the_limit_on_suppliers() -> None:
    """Two suppliers with half of the modules each and one allowed: explain says that two are enough."""
    halves = [quote(name, line(FLAT, 300, at_most=8)) for name in ("Alder", "Birch")]
    case = case_of(quotes=halves, buying={"max_suppliers": 1}, parts=ONLY)
    assert cost(case) == float("inf")
    held = {x.setting: x.enough for clash in explain(case, CATALOG).clashes for x in clash.limits}
    assert (held["buying.max_suppliers"], held["buying.at_list"]) == ("2", "always")
    split = case_of(quotes=halves, buying={"max_split_lines": 0}, parts=ONLY)
    held = {x.setting: x.enough for clash in explain(split, CATALOG).clashes for x in clash.limits}
    assert held["buying.max_split_lines"] == "1"


def test_offers_that_lapse_or_come_late_do_not_count() -> None:
    """By the day of the order and the weeks allowed; what is then left without an offer is bought at list."""
    soon = quote("Alder", line(FLAT, 300, lead_time_weeks=10), valid_until="2026-12-01")
    for more, listed in (
        ({}, False),
        ({"order_date": "2026-12-02"}, True),
        ({"limits": {"lead_time_weeks": 9}}, True),
        ({"limits": {"lead_time_weeks": 10}, "order_date": "2026-12-01"}, False),
    ):
        result = optimize(case_of(quotes=[soon], buying={}, parts=ONLY, **more), CATALOG).result
        assert lines_of(result, FLAT) == ([("", 16, 500)] if listed else [("Alder", 16, 300)]), more


def test_quoted_adapters_count_among_suppliers() -> None:
    """An adapter that every design needs is an offer too: with one supplier allowed all comes from who sells it."""
    from exhaustive_catalog import awkward_catalog

    catalog = awkward_catalog()
    data = {"cluster": {"servers": 4, "server": "server-4"}, "fabrics": {"frontend": {"server_gbps": 200}}}
    plain = optimize(Case.model_validate(data), catalog).result
    nic = next(x for x in plain.bom if x.kind == "nic")
    module = next(x for x in plain.bom if x.kind == "module")
    quotes = [
        quote("Alder", line(nic.part, 900), line(module.part, 1)),
        quote("Birch", line(nic.part, 100, at_most=nic.quantity - 1)),
    ]
    values = {}
    for most in (1, 2):
        case = case_from_data({**data, "quotes": quotes, "buying": {"max_suppliers": most}}, catalog)
        found = {engine: optimize(case, catalog, engine=engine).result for engine in ("highs", "scip", "cp-sat")}
        assert {x.status for x in found.values()} == {Status.OPTIMAL}
        assert len({x.totals.cost_usd for x in found.values() if x.totals}) == 1
        values[most] = lines_of(found["highs"], nic.part)
    assert values == {
        1: [("Alder", nic.quantity, 900)],
        2: [("Birch", nic.quantity - 1, 100), ("Alder", 1, 900)],
    }


# --- properties -------------------------------------------------------------------------------------------------------


@st.composite
def offered(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Quotes of three suppliers for the modules."""
    found = []
    for supplier in ("Alder", "Birch", "Cedar"):
        flat = line(FLAT, draw(st.integers(100, 600)), at_most=draw(st.integers(4, 16)))
        twin = line(TWIN, draw(st.integers(500, 1000)), minimum=draw(st.integers(1, 8)))
        found.append(quote(supplier, flat, twin))
    return found


@settings(deadline=None, max_examples=12)
@given(quotes=offered())
def test_more_suppliers_never_cost_more(quotes: list[dict[str, Any]]) -> None:
    """Neither one supplier nor one split line more ever raises the cost."""
    by_suppliers = [cost(case_of(quotes=quotes, buying={"max_suppliers": n})) for n in (1, 2, 3)]
    by_split = [cost(case_of(quotes=quotes, buying={"max_split_lines": n})) for n in (0, 1, 2)]
    assert by_suppliers == sorted(by_suppliers, reverse=True)
    assert by_split == sorted(by_split, reverse=True)
    assert by_suppliers[-1] == by_split[-1] == cost(case_of(quotes=quotes, buying={}))


@settings(deadline=None, max_examples=12)
@given(quotes=offered(), order=st.permutations(range(3)), most=st.sampled_from([1, 2, 3]))
def test_the_order_of_quotes_changes_nothing(quotes: list[dict[str, Any]], order: list[int], most: int) -> None:
    """The same quotes in another order make the same bill, ties among suppliers included."""
    quotes[1]["lines"][0] = dict(quotes[0]["lines"][0])
    one = optimize(case_of(quotes=quotes, buying={"max_suppliers": most}), CATALOG).result
    other = optimize(case_of(quotes=[quotes[i] for i in order], buying={"max_suppliers": most}), CATALOG).result
    assert one.bom == other.bom


@settings(deadline=None, max_examples=10)
@given(usd=st.integers(100, 400), dearer=st.integers(1, 300))
def test_a_dearer_offer_changes_nothing(usd: int, dearer: int) -> None:
    """Where one supplier has enough of everything, another that asks more for it makes no difference."""
    enough = quote("Alder", line(FLAT, usd))
    alone = optimize(case_of(quotes=[enough], buying={}), CATALOG).result
    both = optimize(case_of(quotes=[quote("Birch", line(FLAT, usd + dearer)), enough], buying={}), CATALOG).result
    assert alone.bom == both.bom


def test_without_buying_quotes_are_prices_as_before() -> None:
    """A case without ``buying`` takes the lowest quote for any number of pieces, and its bill names no supplier."""
    result = optimize(case_of(quotes=TWO, parts=ONLY), CATALOG).result
    assert lines_of(result, FLAT) == [("", 16, 300)]
    assert "buying" not in {x.name for x in result.verify.checks} if result.verify else False


def test_price_ranges_leave_out_what_is_split() -> None:
    """A part whose order is split has no one price; the study says so and looks at all others."""
    study = sensitivity(case_of(quotes=TWO, buying={}, parts=ONLY), CATALOG)
    assert FLAT not in {x.part for x in study.prices}
    assert SWITCH in {x.part for x in study.prices}
    assert any(note.startswith("buying:") for note in study.notes)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "check"),
    [
        ({"quantity": 1}, "bom"),
        ({"spares": 1}, "bom"),
        ({"unit_price_usd": 1.0}, "bom"),
        ({"extended_usd": 1.0}, "bom"),
        ({"supplier": "Cedar"}, "bom"),
        ({"supplier": ""}, "bom"),
        ({"price_source": "Alder A-2"}, "bom"),
        ({"valid_until": "2027-12-31"}, "bom"),
    ],
)
def test_verify_reads_every_line_against_its_quote(what: dict[str, Any], check: str) -> None:
    """A line with one figure or name changed is refused, whichever it is."""
    design = optimize(case_of(quotes=TWO, buying={}, parts=ONLY), CATALOG)
    for i, told in enumerate(design.result.bom):
        if told.supplier and any(getattr(told, name) != value for name, value in what.items()):
            update = {name: value + getattr(told, name) if isinstance(value, int | float) else value
                      for name, value in what.items()}  # fmt: skip
            bom = (*design.result.bom[:i], told.model_copy(update=update), *design.result.bom[i + 1 :])
            result = design.result.model_copy(update={"bom": bom})
            failed = {
                x.name for x in verify(Design(design.case, result, design.ledger), CATALOG).checks if not x.passed
            }
            assert check in failed, told


def test_verify_counts_suppliers_and_what_they_have() -> None:
    """The same bill fails where the case allows fewer suppliers or split lines, where an offer is smaller, has a
    minimum, has lapsed, or where the part may not be bought at list."""
    design = optimize(case_of(quotes=TWO, buying={}, parts=ONLY), CATALOG)

    def failed(**more: Any) -> set[str]:
        case = case_of(**{"quotes": TWO, "buying": {}, "parts": ONLY, **more})
        found = verify(Design(case, design.result, design.ledger), CATALOG)
        return {x.name for x in found.checks if not x.passed}

    assert failed() == set()
    assert failed(buying={"max_suppliers": 1}) == {"buying"}
    assert failed(buying={"max_split_lines": 0}) == {"buying"}
    assert "bom" in failed(buying={"at_list": "never"})
    assert "bom" in failed(order_date="2027-01-01")
    for changed in ({"at_most": 9}, {"at_most": 10, "minimum": 11}, {"quantity": 9}):
        fewer = [quote("Alder", line(FLAT, 300, **changed), line(TWIN, 880)), TWO[1]]
        fewer[0] |= {"valid_until": "2026-12-31", "date": "2026-11-01"}
        assert "bom" in failed(quotes=fewer), changed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"buying": {}}, "buying: found no quotes, expected quotes to buy from"),
        ({"quotes": TWO, "buying": {"max_suppliers": 0}}, "buying.max_suppliers: found 0, expected"),
        ({"quotes": TWO, "buying": {"at_list": "sometimes"}}, "expected one of unquoted, always, never"),
        ({"quotes": [*TWO, TWO[1]], "buying": {}}, "quotes[1] is a quote of Birch B-7 too"),
        (
            {
                "quotes": TWO,
                "buying": {},
                "terms": {"price_breaks": [{"part": FLAT, "steps": [{"from_pieces": 2, "usd": 1}]}]},
            },
            "found flat-sr4, which is quoted, expected a part that no quote offers",
        ),
        (
            {"quotes": [quote(f"S{i}", line(FLAT, 300)) for i in range(20)], "buying": {"max_suppliers": 10}},
            "buying.max_suppliers: found 10 of 20 suppliers",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, Any], said: str) -> None:
    """Each with the field, what was found and what was expected."""
    with pytest.raises(InputError) as refused:
        case_of(**more)
    assert said in str(refused.value)


def test_the_csv_bill_names_suppliers_only_where_the_order_is_split(tmp_path: Path) -> None:
    """Who delivers stands behind the other columns; without ``buying`` the file has the columns it always had."""
    quotes = [quote("Alder", line(FLAT, 300, at_most=10))]
    heads = []
    for more in ({}, {"buying": {"at_list": "always"}}):
        design = optimize(case_of(parts=ONLY, quotes=quotes, **more), CATALOG)
        design_files(design, CATALOG)["bom.csv"](tmp_path / "bom.csv")  # type: ignore[operator]
        with (tmp_path / "bom.csv").open(encoding="utf-8", newline="") as stream:
            head, *rows = csv.reader(stream)
        heads.append(tuple(head))
    assert heads == [BOM_COLUMNS, (*BOM_COLUMNS, "supplier")]
    assert [row[-1] for row in rows] == [x.supplier for x in design.result.bom]
    assert "Alder" in {row[-1] for row in rows}
