"""What people read and what spreadsheets get says what the design says, and no estimate looks like an offer."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sample_design import CASE, hand_catalog, one_rack, two_by_two, with_result

from gpunet.catalogs import load_catalog
from gpunet.catalogs.check import check_catalog
from gpunet.catalogs.findings import Finding, Level
from gpunet.files import write_all
from gpunet.models.design import BomLine, Check, Design, ObjectiveValue, Status, Tier, Verification
from gpunet.models.evidence import Fact, How, Source
from gpunet.report.answer import answer, failed_checks, no_answer
from gpunet.report.blocks import Cell, Column, Heading, Paragraph, Point, Shown, Table, Tone
from gpunet.report.catalog_text import check_report, parts_list
from gpunet.report.csv_files import BOM_COLUMNS, CABLING_COLUMNS, RACK_COLUMNS, design_files
from gpunet.report.design_text import design_page, design_report, verification
from gpunet.report.part_text import names_of, part_report
from gpunet.report.screen import LINE_WIDTH, PLAIN_WIDTH, Screen, render, screen_of
from gpunet.report.words import percent
from gpunet.solver.verify import verify

GOLDEN = Path(__file__).parent / "golden"
CATALOG = hand_catalog()
SHIPPED = load_catalog()


def told(base: Design | None = None, **fields: Any) -> Design:
    """A design with everything a report can show: tiers, reasons, owned parts, ties, warnings."""
    design = base or two_by_two({**CASE, "owned": [{"part": "ib-tiny-8", "quantity": 1}]}, CATALOG)
    backend = design.result.fabrics["backend"]
    lines = tuple(
        line.model_copy(update={"reason": f"OM4 reach 50 m covers {line.length_m:g} m; 18 W + 9 W (limits 18 W, none)"})
        for line in backend.interconnects
    )
    leaf = Tier(tier="leaf", switch="ib-tiny-8", count=2, down_ports=4, up_ports=4, down_gbps=1600, up_gbps=1600)
    spine = Tier(tier="spine", switch="ib-tiny-8", count=2, down_ports=4, up_ports=0, down_gbps=1600)
    fabrics = {
        "backend": backend.model_copy(
            update={"tiers": (leaf, spine), "interconnects": lines, "ties": 1, "latency_ns": 1234.0}
        ),
        "storage": backend.model_copy(
            update={"shared_with": "backend", "tiers": (), "links": {}, "interconnects": (), "ties": 9}
        ),
        "oob": design.result.fabrics["oob"],
    }
    how = {"ib-tiny-8": "read", "twin-sr4": "quoted", "flat-sr4": "recalled"}
    kinds = {"cord": "cable", "mpo": "fibre", "flat": "module", "twin": "module", "ib": "switch", "oob": "switch"}
    bom = tuple(
        line.model_copy(update={"kind": kinds[line.part.split("-")[0]], "price_how": how.get(line.part, "estimated")})
        for line in design.result.bom
    )
    checks = (
        Check(name="ports", passed=True, detail="26 links on 52 ports that exist, none used twice"),
        Check(name="oversubscription", passed=True, detail="backend at most 1:1; oob at most 1:1"),
    )
    shown = {
        "fabrics": fabrics,
        "bom": bom,
        "verify": Verification(passed=True, checks=checks),
        "engine": "highs",
        "seconds": 1.23,
        "warnings": ("twin-sr4 in ib-tiny-8: only with firmware 2 [see note]",),
    }
    return with_result(design, **{**shown, **fields})


def text(blocks: Sequence[Shown], width: int = 200) -> str:
    """Blocks as a file would hold them."""
    return render(blocks, Screen(width))


def read_csv(tmp_path: Path, design: Design, name: str) -> list[dict[str, str]]:
    """Rows of one file of a design."""
    write_all(tmp_path, {name: design_files(design, CATALOG)[name]})
    with (tmp_path / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


# --- a design in words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 120])
def test_a_report_reads_as_agreed(width: int) -> None:
    """The whole report, byte for byte, on a narrow and a wide page. UPDATE_GOLDEN=1 writes it anew, for review."""
    found = text(design_page(told(), CATALOG), width)
    path = GOLDEN / f"design-{width}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 120])
def test_lines_keep_within_the_page(width: int) -> None:
    """Nothing runs over the edge where the page is wide enough, and running text stays short enough to read."""
    found = text(design_page(told(), CATALOG), width)
    assert max(map(len, found.splitlines())) <= width
    assert max(map(len, text([Paragraph("word " * 100)], width).splitlines())) <= min(width, LINE_WIDTH)


def test_no_figure_is_cut_on_a_narrow_page() -> None:
    """Figures and ids stay whole however narrow the page is: half a figure is a wrong figure."""
    found = text(design_report(told()), 40)
    for line in told().result.bom:
        assert line.part in found.split()
        assert f"{line.extended_usd:,.2f}" in found.split()


def test_the_answer_names_cost_draw_and_proof() -> None:
    """The first paragraph alone answers what to build, for how much, how hot, and how sure that is."""
    design = told()
    found = answer(design)
    totals = design.result.totals
    assert totals is not None
    assert f"{totals.cost_usd:,.2f} USD" in found
    assert f"{totals.power_max_w / 1000:,.2f} kW at most" in found
    assert f"{totals.power_typical_w / 1000:,.2f} kW typically" in found
    assert "Proven optimal" in found
    assert "gap 0; highs" in found


def test_ties_are_told_once_for_switches_that_are_shared() -> None:
    """Another design as good is named for its fabric, and not again for the fabric that rides on it."""
    found = answer(told())
    assert "1 other way to build backend" in found
    assert "storage" not in found.partition("Ties")[2]


def test_links_that_tie_are_told_too() -> None:
    """Parts that other parts could stand in for are named for their fabric, beside switches that tie or alone."""
    fabrics = told().result.fabrics
    for ties, expected in (
        (1, "1 other way to build backend would come to exactly the same; other parts would build 2 classes of links"),
        (0, "Ties: other parts would build 2 classes of links of backend for exactly the same"),
    ):
        tied = fabrics["backend"].model_copy(update={"ties": ties, "link_ties": 2})
        assert expected in answer(told(fabrics={**fabrics, "backend": tied}))


@pytest.mark.parametrize(
    ("name", "bound", "expected"),
    [
        ("cost", 90.0, "the cost is within 10.0 % of the best possible, which is 90.00 USD or more"),
        ("tco", 90.0, "the cost of ownership is within 10.0 % of the best possible, which is 90.00 USD or more"),
        ("power,cost", 9000.0, "the largest draw is within 10.0 % of the best possible, which is 9.00 kW or more"),
    ],
)
def test_a_stopped_run_names_its_gap(name: str, bound: float, expected: str) -> None:
    """A design that is not proven says how far from the best it may be, in the unit of what is minimised."""
    objective = ObjectiveValue(name=name, value=bound / 0.9)
    design = told(status=Status.FEASIBLE, gap=0.1, bound=bound, objective=objective)
    assert expected in answer(design)
    assert "optimal" not in answer(design)


def test_a_stopped_run_without_a_bound_claims_nothing() -> None:
    """Where no bound is known, no gap is made up."""
    found = answer(told(status=Status.FEASIBLE, gap=1.0, bound=None))
    assert "not known" in found
    assert "%" not in found


def test_ranked_objectives_are_named_in_order() -> None:
    """A lexicographic optimum says what came first."""
    found = answer(told(objective=ObjectiveValue(name="cost,power", value=1.0)))
    assert "lower cost, then of largest draw" in found


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.INFEASIBLE, "no design meets the case"),
        (Status.NO_SOLUTION, "there may be one"),
        (Status.FAILED, "the solver failed"),
    ],
)
def test_without_a_design_every_reason_is_told(status: Status, expected: str) -> None:
    """Infeasible, out of time and failed are three things, and each keeps its reasons."""
    found = no_answer(told(status=status, totals=None, reasons=("limits.cost_usd: too low", "site: small")).result)
    assert expected in found.splitlines()[0]
    assert found.splitlines()[1:] == ["  limits.cost_usd: too low", "  site: small"]


def test_a_refused_design_names_every_failed_check() -> None:
    """A design that fails is told by what is wrong with it, check by check."""
    design = two_by_two(catalog=CATALOG)
    design.ledger.links[0] = design.ledger.links[0]._replace(a_device="nowhere")
    result = with_result(design, verify=verify(design, CATALOG)).result
    assert result.verify is not None
    failed = [check for check in result.verify.checks if not check.passed]
    found = failed_checks(result)
    assert len(failed) > 1
    assert all(f"  {check.name}: {check.detail}" in found.splitlines() for check in failed)
    rows = verification(result.verify)[1]
    assert isinstance(rows, Table)
    assert [row[1] for row in rows.rows[: len(failed)]] == [Cell("FAILED", Tone.BAD)] * len(failed)


# --- prices -----------------------------------------------------------------------------------------------------------


def line(part: str, how: str, extended_usd: float) -> BomLine:
    """A bill line of one piece."""
    return BomLine(
        part=part,
        kind="switch",
        quantity=1,
        unit_price_usd=extended_usd,
        extended_usd=extended_usd,
        price_source="list",
        price_date="2026-11",
        price_how=how,
    )


def test_an_estimate_never_looks_like_an_offer() -> None:
    """Prices that were read or quoted stand bare; every other one carries the mark, and its row says how it came."""
    bom = (line("a", "read", 100), line("b", "quoted", 200), line("c", "estimated", 300), line("d", "recalled", 400))
    rows = {row.split()[0]: row for row in text(design_report(told(bom=bom))).splitlines() if " 2026-11" in row}
    assert " 100.00 " in rows["a"]
    assert " 200.00 " in rows["b"]
    assert "~300.00" in rows["c"]
    assert "estimated 2026-11 list" in rows["c"]
    assert "~400.00" in rows["d"]
    assert "recalled 2026-11 list" in rows["d"]
    assert "~" not in rows["a"] + rows["b"]


def test_the_bill_says_what_share_rests_on_estimates() -> None:
    """One line under the bill weighs the evidence by money."""
    bom = (line("a", "read", 100), line("b", "quoted", 200), line("c", "estimated", 700))
    found = " ".join(text(design_report(told(bom=bom))).split())
    assert "Estimated prices carry 70.0 % of the total; 20.0 % on prices quoted and 10.0 % on prices read." in found


def test_a_bill_of_owned_parts_divides_by_nothing() -> None:
    """Where nothing is paid there is no share to tell."""
    bom = (line("a", "estimated", 0).model_copy(update={"owned": 1}),)
    assert "Nothing has to be paid for" in text(design_report(told(bom=bom)))


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.0, "0.0 %"), (1.0, "100.0 %"), (0.5, "50.0 %"), (0.0004, "0.04 %"), (0.99996, "99.996 %"), (1e-9, "under")],
)
def test_a_small_share_never_reads_as_none(share: float, expected: str) -> None:
    """Rounding hides neither the last per mille nor the first."""
    assert percent(share).startswith(expected.rstrip("%").rstrip())


# --- the page ---------------------------------------------------------------------------------------------------------


def test_plain_text_is_plain() -> None:
    """What goes to a file has no colour, no drawn boxes and no trailing blanks."""
    found = text(design_report(told()))
    assert found.isascii()
    assert "\x1b" not in found
    assert all(row == row.rstrip() for row in found.splitlines())


def test_a_terminal_gets_colour_unless_it_does_not_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour on a terminal, none with NO_COLOR."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    block = [Paragraph("careful", Tone.BAD)]
    assert "\x1b[1;31m" in render(block, Screen(80, terminal=True))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in render(block, Screen(80, terminal=True))


def test_text_cannot_steer_the_terminal() -> None:
    """Control characters of a catalogue or a design file are shown as question marks, markup as it stands."""
    evil = "\x1b[2Jcleared\rover [bold]x[/bold] :smile:\u202e"
    table = Table((Column("a"), Column("b", number=True)), ((evil, "1"),), ("total", evil))
    found = text([Heading(evil), Paragraph(evil), Point(evil), table])
    assert "\x1b" not in found
    assert "\r" not in found
    assert "\u202e" not in found
    assert found.count("?[2Jcleared?over [bold]x[/bold] :smile:?") == 5


class _Stream:
    def __init__(self, tty: bool, encoding: str = "utf-8") -> None:
        self.encoding = encoding
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


def test_width_follows_columns_and_a_file_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS decides where it is given; a file gets a width of its own; boxes are drawn on UTF-8 terminals alone."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen_of(_Stream(False)) == Screen(PLAIN_WIDTH, False, False)  # type: ignore[arg-type]
    assert screen_of(None) == Screen(PLAIN_WIDTH, False, False)
    monkeypatch.setenv("COLUMNS", "77")
    assert screen_of(_Stream(True)) == Screen(77, True, True)  # type: ignore[arg-type]
    assert screen_of(_Stream(True, "ascii")) == Screen(77, True, False)  # type: ignore[arg-type]
    assert screen_of(_Stream(False)) == Screen(77, False, False)  # type: ignore[arg-type]
    monkeypatch.setenv("COLUMNS", "nonsense")
    assert screen_of(_Stream(False)).width == PLAIN_WIDTH  # type: ignore[arg-type]


# --- files ------------------------------------------------------------------------------------------------------------


def test_files_have_the_agreed_columns_and_line_ends(tmp_path: Path) -> None:
    """Other people's scripts read these names; every line ends in a line feed."""
    write_all(tmp_path, design_files(told(), CATALOG))
    for name, columns in (("bom", BOM_COLUMNS), ("cabling", CABLING_COLUMNS), ("racks", RACK_COLUMNS)):
        data = (tmp_path / f"{name}.csv").read_bytes()
        assert data.split(b"\n")[0].decode() == ",".join(columns)
        assert b"\r" not in data
        assert data.endswith(b"\n")
    assert json.loads((tmp_path / "design.json").read_text())["seconds"] == 0.0


def test_bill_file_adds_up_to_the_cost(tmp_path: Path) -> None:
    """The rows of bom.csv are the bill: they sum to the cost, and carry what a buyer orders by."""
    design = told()
    rows = read_csv(tmp_path, design, "bom.csv")
    assert design.result.totals is not None
    assert sum(round(100 * float(row["extended_usd"])) for row in rows) == round(100 * design.result.totals.cost_usd)
    switch = next(row for row in rows if row["part"] == "ib-tiny-8")
    assert (switch["quantity"], switch["owned"], switch["price_how"]) == ("4", "1", "read")
    assert switch["vendor"] == CATALOG.switches["ib-tiny-8"].vendor
    assert switch["model"] == CATALOG.switches["ib-tiny-8"].model


def test_cabling_has_every_link_with_both_ends(tmp_path: Path) -> None:
    """A row for every jumper, with rack, unit, cage, port and module at both ends, and labels that mirror."""
    design = told()
    rows = read_csv(tmp_path, design, "cabling.csv")
    assert len(rows) == len(design.ledger.links)
    places = {d.name: (d.rack, str(d.unit or "")) for d in design.ledger.devices}
    modules = {(s.device, s.group, str(s.cage)): s.part for s in design.ledger.seats}
    links = {str(link.assembly): link for link in design.ledger.links}
    assert {row["assembly"] for row in rows} == set(links)
    for row in rows:
        link = links[row["assembly"]]
        assert (row["part"], float(row["length_m"]), row["links"]) == (link.medium, link.length_m, "1")
        for end in "ab":
            device, cage, port = row[f"{end}_device"], row[f"{end}_cage"], row[f"{end}_port"]
            group = row[f"{end}_cage_group"]
            wired = (getattr(link, f"{end}_{field}") for field in ("device", "group", "cage", "port"))
            assert (device, group, int(cage), int(port)) == tuple(wired)
            assert (row[f"{end}_rack"], row[f"{end}_unit"]) == places[device]
            assert row[f"{end}_module"] == modules.get((device, group, cage), "")
        number, near, far = row["a_label"].replace(" > ", " ").split()
        assert row["b_label"] == f"{number} {far} > {near}"
        assert number == row["assembly"]
    assert len({row["a_label"] for row in rows}) == len(rows)


@pytest.mark.parametrize(("link", "rows_expected", "legs"), [("dac", 4, 2), ("split", 4, 2), ("straight", 4, 1)])
def test_a_splitter_has_a_row_for_every_leg(tmp_path: Path, link: str, rows_expected: int, legs: int) -> None:
    """Legs of one splitter share the number of their assembly and are counted within it."""
    rows = read_csv(tmp_path, one_rack(link), "cabling.csv")
    assert len(rows) == rows_expected
    per_piece = Counter(row["assembly"] for row in rows)
    assert set(per_piece.values()) == {legs}
    assert {row["leg"] for row in rows} == {str(n + 1) for n in range(legs)}


def test_a_cable_with_two_links_is_one_row(tmp_path: Path) -> None:
    """A straight cable between two twin cages carries two links and is still one thing to pull."""
    design = one_rack("dac")
    links = design.ledger.links
    for number in (1, 3):
        first = links[number - 1]
        links[number] = links[number]._replace(b_device=first.b_device, b_group=first.b_group, b_cage=first.b_cage)
    rows = read_csv(tmp_path, design, "cabling.csv")
    assert [(row["links"], row["a_port"], row["leg"]) for row in rows] == [("2", "1+2", "1")] * 2


def test_rack_file_holds_every_device_and_its_draw(tmp_path: Path) -> None:
    """Servers included, from the lowest unit up; watts hold the modules."""
    design = told()
    rows = read_csv(tmp_path, design, "racks.csv")
    assert {row["device"] for row in rows} == {d.name for d in design.ledger.devices}
    order = [place.name for place in design.ledger.places]
    assert [order.index(row["rack"]) for row in rows] == sorted(order.index(row["rack"]) for row in rows)
    for rack in order:
        units = [int(row["unit"] or 0) for row in rows if row["rack"] == rack]
        assert units == sorted(units)
    modules = Counter(seat.device for seat in design.ledger.seats)
    leaf = next(row for row in rows if row["device"] == "leaf-1")
    twin, chassis = CATALOG.modules["twin-sr4"].power_max_w.v, CATALOG.switches["ib-tiny-8"].power_chassis_max_w.v
    assert float(leaf["power_max_w"]) == chassis + modules["leaf-1"] * twin
    server = next(row for row in rows if row["device"] == "server-1")
    assert float(server["power_max_w"]) >= CATALOG.servers["server-2"].power_max_w.v
    assert next(row for row in rows if row["kind"] == "pdu")["unit"] == ""


# --- the catalogue ----------------------------------------------------------------------------------------------------


def test_every_part_of_the_catalogue_can_be_shown() -> None:
    """No entry of any kind breaks its page, and every figure with evidence names its source on it."""
    names = sorted({*names_of(SHIPPED).values()})
    for name in names:
        blocks = part_report(SHIPPED, name)
        assert blocks is not None, name
        tables = [block for block in blocks if isinstance(block, Table)]
        known = {row[0] for row in tables[1].rows} if len(tables) > 1 else set()
        for row in tables[0].rows:
            evidence = row[2].text if isinstance(row[2], Cell) else row[2]
            if evidence:
                assert set(evidence.split()[-1].split("+")) <= known, name
    assert len(names) > 300


def _facts(value: object) -> list[Fact]:
    if isinstance(value, Fact):
        return [value]
    if isinstance(value, BaseModel):
        return [fact for name in type(value).model_fields for fact in _facts(getattr(value, name))]
    return [fact for item in value for fact in _facts(item)] if isinstance(value, tuple) else []


def test_a_page_shows_every_number_with_its_evidence() -> None:
    """Every fact of a switch stands on its page with value, how it is known and its note."""
    switch = SHIPPED.switches["ib-qm9700"]
    blocks = part_report(SHIPPED, switch.id)
    assert blocks is not None
    page = " ".join(text(blocks, 400).split())
    facts = _facts(switch)
    assert len(facts) > 5
    for fact in facts:
        assert f"{fact.v:,g} " in page
        assert fact.src in page
        assert fact.note in page
    assert f"{switch.price.mid_usd:,.2f} USD" in page if switch.price else False


def test_a_stock_length_shows_its_own_price_alone() -> None:
    """One length of a fibre is a part of its own."""
    fibre = next(iter(SHIPPED.fibres.values()))
    one, other = fibre.lengths[0], fibre.lengths[-1]
    blocks = part_report(SHIPPED, f"{fibre.id}-n{int(one.length_m):03d}")
    assert blocks is not None
    assert f"lengths {one.length_m:g} m" in text(blocks)
    assert f"lengths {other.length_m:g} m" not in text(blocks)
    assert part_report(SHIPPED, f"{fibre.id}-n9999") is None


def test_the_list_marks_what_nobody_offers() -> None:
    """In the list too an estimate is marked, a part without price says none, and filters filter."""
    found = text(parts_list(SHIPPED, "switch", "nvidia"))
    rows = {row.split()[0]: row for row in found.splitlines() if row and row.split()[0] in SHIPPED.switches}
    assert set(rows) == {s.id for s in SHIPPED.switches.values() if s.vendor == "nvidia"}
    for name, row in rows.items():
        price = SHIPPED.switches[name].price
        if price is None:
            assert " none " in row
        else:
            assert ("~" in row) == (price.how is not How.READ)
            assert f"{price.mid_usd:,.2f}" in row


def test_the_check_counts_notes_and_lists_them_on_demand() -> None:
    """Errors and warnings are always shown; notes are counted, and listed when asked for."""
    findings = check_catalog(SHIPPED, date(2026, 12, 2))
    findings = [Finding(Level.ERROR, "switches", "made-up", "broken"), *findings]
    brief, full = (" ".join(text(check_report(SHIPPED, findings, all_), 300).split()) for all_ in (False, True))
    notes = [finding for finding in findings if finding.level is Level.INFO]
    estimated = sum(note.message.startswith("estimated: ") for note in notes)
    assert "1 error, " in brief
    assert "error: switches: made-up: broken" in brief
    assert f"{len(notes)} notes" in brief
    assert f"{estimated} parts with estimated figures" in brief
    assert "info: " not in brief
    assert full.count("- info: ") == len(notes)


def test_an_unlisted_source_does_not_break_the_page() -> None:
    """A catalogue with a hole is shown with the hole named."""
    switch = SHIPPED.switches["ib-qm9700"]
    odd = switch.model_copy(update={"rack_units": Fact(v=1, how=How.READ, src="nobody")})
    broken = SHIPPED.model_copy(update={"switches": {**SHIPPED.switches, odd.id: odd}})
    blocks = part_report(broken, odd.id)
    assert blocks is not None
    assert "nobody" in text(blocks)
    assert "not listed among the sources" in text(blocks)
    assert isinstance(SHIPPED.sources["est"], Source)
