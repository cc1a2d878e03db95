"""Results in a notebook: they show what the command line prints, their tables hold what they hold, the example runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sample_design import hand_catalog

import gpunet
from gpunet.case_file import case_from_data
from gpunet.models.design import Design, Status
from gpunet.models.study import Study
from gpunet.models.study_rivals import Rivals
from gpunet.report.blocks import Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.design_text import design_report
from gpunet.report.notebook import _sections
from gpunet.solver.alternatives import alternatives
from gpunet.solver.ceiling import ceiling
from gpunet.solver.compare import compare
from gpunet.solver.explain import explain
from gpunet.solver.frontier import frontier
from gpunet.solver.optimize import optimize
from gpunet.solver.sensitivity import sensitivity
from gpunet.solver.tasks import Plan

ROOT = Path(__file__).parent.parent
CATALOG = hand_catalog()
CASE = case_from_data(
    {"cluster": {"servers": 4, "server": "server-2"}, "fabrics": {"backend": {}, "oob": {}}}, CATALOG, "<a> & b"
)
STUDIES: dict[str, Any] = {
    "alternatives": lambda: alternatives(CASE, CATALOG, Plan(), within=0.5),
    "ceiling": lambda: ceiling(CASE, CATALOG, Plan(), cost_usd=50_000),
    "compare": lambda: compare(CASE, CATALOG, Plan(), by="protocol"),
    "explain": lambda: explain(CASE, CATALOG, Plan()),
    "frontier": lambda: frontier(CASE, CATALOG, Plan()),
    "sensitivity": lambda: sensitivity(CASE, CATALOG, Plan()),
}


@pytest.fixture(scope="module")
def design() -> Design:
    """Two fabrics on the hand catalogue."""
    return optimize(CASE, CATALOG)


@pytest.fixture(scope="module", params=STUDIES)
def study(request: pytest.FixtureRequest) -> Study:
    """One of the studies of the same case."""
    found: Study = STUDIES[request.param]()
    return found


# --- pages ------------------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Reads HTML strictly: every tag is closed in order, and nothing acts or comes from elsewhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.words = ""
        self.folded: list[bool] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {
            "div",
            "details",
            "summary",
            "b",
            "p",
            "ul",
            "li",
            "span",
            "th",
            "td",
            "tr",
            "thead",
            "tbody",
            "table",
        }
        assert {name for name, _ in attrs} <= {"style", "open"}
        self.open.append(tag)
        if tag == "details":
            self.folded.append(("open", None) not in attrs)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


def text(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def test_a_design_shows_its_whole_report(design: Design) -> None:
    """Every paragraph, heading and cell of the printed report, in order, names with signs of HTML among them."""
    page = Page(design._repr_html_())
    cells: list[str] = []
    for block in design_report(design):
        if isinstance(block, Table):
            cells += [column.title for column in block.columns]
            cells += [text(cell) for row in (*block.rows, block.total) for cell in row]
        else:
            assert block.text in page.words
    assert page.cells == cells
    assert "<a> & b: build" in page.words


def test_a_study_shows_its_report(study: Study) -> None:
    """With the name of the case as it is written."""
    page = Page(study._repr_html_())
    assert "<a> & b" in page.words
    assert page.cells


def test_a_study_without_a_command_shows_what_it_is() -> None:
    """Such as the rivals of a design, which only reports ask for: one line, and the tables."""
    rivals = explain(CASE, CATALOG, Plan()).model_dump(include=set(Study.model_fields))
    found = Rivals(**{**rivals, "study": "rivals"}, value=None)
    assert Page(found._repr_html_()).words == repr(found)
    assert {"rivals", "rivals.design.fabrics", "summary"} == set(found.tables())


def test_long_sections_are_folded() -> None:
    """Few rows lie open; many are folded under their heading; tones are kept."""
    column = (Column("name", name=True), Column("number", number=True))
    few, many = (Table(column, (("x", Cell("1", Tone.WEAK)),) * n, ("total", "2")) for n in (2, 40))
    html = "".join(_sections([Paragraph("first"), Heading("few"), few, Point("point"), Heading("many"), many]))
    assert Page(html).folded == [False, True]
    assert html.startswith("<p>first</p><details open")
    assert html.count("color:") == 42
    assert "text-align: right" in html


def test_no_design_shows_why() -> None:
    """A result without a design shows its reasons, and its tables are empty."""
    case = CASE.model_copy(update={"limits": CASE.limits.model_copy(update={"cost_usd": 1.0})})
    found = optimize(case, CATALOG)
    assert found.result.status is Status.INFEASIBLE
    page = Page(found._repr_html_())
    assert "no design meets the case" in page.words
    assert found.result.reasons
    assert all(reason in page.words for reason in found.result.reasons)
    assert len(found.to_frame("bom")) == 0
    assert "quantity" in found.to_frame("bom").columns


def test_the_line_is_short(design: Design, study: Study) -> None:
    """What a shell prints is one line, not half a million links."""
    assert repr(design) == f"<Design of <a> & b: optimal, {design.result.totals.cost_usd:,.2f} USD>"  # type: ignore[union-attr]
    assert re.fullmatch(rf"<{type(study).__name__} of <a> & b: optimal, \d+ solves>", repr(study))


# --- tables -----------------------------------------------------------------------------------------------------------


def test_the_tables_of_a_design_hold_what_it_holds(design: Design) -> None:
    """Bill, links, tiers by fabric, and the totals in the summary."""
    bill = design.to_frame()
    assert list(bill.part) == [line.part for line in design.result.bom]
    assert design.result.totals is not None
    assert bill.extended_usd.sum() == pytest.approx(design.result.totals.cost_usd)
    assert list(design.to_frame("links").itertuples(index=False, name=None)) == [tuple(x) for x in design.ledger.links]
    tiers = design.to_frame("fabrics.tiers")
    assert list(zip(tiers.fabrics, tiers.switch, tiers["count"], strict=True)) == [
        (name, tier.switch, tier.count) for name, fabric in design.result.fabrics.items() for tier in fabric.tiers
    ]
    (summary,) = design.to_frame("summary").to_dict("records")
    assert summary["totals.cost_usd"] == design.result.totals.cost_usd
    assert summary["status"] == "optimal"


def plain(data: Any) -> list[Any]:
    """Every plain value within data as JSON has it."""
    if isinstance(data, dict):
        return [value for item in data.values() for value in plain(item)]
    if isinstance(data, (list, tuple)):
        return [value for item in data for value in plain(item)]
    return [data]


def test_the_tables_of_a_study_hold_all_of_it(study: Study) -> None:
    """Every value of the study stands in one of its tables; rows of inner tables name rows of outer ones that exist."""
    assert study.tables()[-1] == "summary"
    held: list[Any] = []
    for name in study.tables():
        frame = study.to_frame(name)
        assert len(frame.columns) == len(set(frame.columns))
        for column in frame.columns:
            held += plain(list(frame[column]))
        outer = name.rpartition(".")[0]
        if outer in study.tables():
            rows, key = study.to_frame(outer), outer.rpartition(".")[2]
            assert set(frame[key]) <= set(rows[key] if key in rows.columns else rows.index)
    told = {str(value) for value in held}
    wanted = {str(value) for value in plain(study.model_dump()) if value is not None and not isinstance(value, float)}
    assert wanted <= told
    assert len(study.to_frame()) > 0


def test_a_table_that_there_is_not_is_told(design: Design) -> None:
    """With the names of those that there are."""
    with pytest.raises(ValueError, match=r"found 'bill', expected a table of this result: bom, .*links.*summary"):
        design.to_frame("bill")


def test_inner_rows_belong_to_their_outer_row() -> None:
    """The pieces of every price range are those of its part."""
    found = STUDIES["sensitivity"]()
    pieces = found.to_frame("prices.pieces")
    for number, price in enumerate(found.prices):
        assert list(pieces[pieces.prices == number].from_usd) == [piece.from_usd for piece in price.pieces]
    assert len(pieces) > len(found.prices)


# --- the example ------------------------------------------------------------------------------------------------------


def test_the_example_shows_what_it_keeps() -> None:
    """The notebook of the documentation runs from the first cell to the last and shows what is in the file."""
    kept = (ROOT / "docs/notebook.ipynb").read_text("utf-8")
    # In a process of its own, for the sockets of a kernel outlive the run.
    code = "import sys; from run_notebook import executed; sys.stdout.write(executed())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "docs", check=False)
    assert done.returncode == 0, done.stderr
    shown = done.stdout
    assert [cell.get("outputs") for cell in json.loads(shown)["cells"]] == [
        cell.get("outputs") for cell in json.loads(kept)["cells"]
    ]
    assert shown == kept


def test_the_page_about_notebooks_is_true() -> None:
    """Its Python runs, and every table that it names is one."""
    page = (ROOT / "docs/notebook.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(example, "notebook.md", "exec"), {})
    rows = re.findall(r"^\| `gpunet\.(\w+)` \| (.+) \| (.+) \|$", page, re.MULTILINE)
    assert {name for name, _, _ in rows} == {"optimize", *STUDIES}
    small = gpunet.optimize({"cluster": {"gpus": 16, "server": "dgx-h100"}, "fabrics": {"backend": {}}})
    for name, own, others in rows:
        result: Any = small if name == "optimize" else STUDIES[name]()
        named = re.findall(r"`([\w.]+)`", own + others)
        assert set(named) <= set(result.tables()), name
        assert result.tables()[0] in re.findall(r"`([\w.]+)`", own), name
