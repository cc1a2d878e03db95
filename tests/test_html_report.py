"""The HTML report: read in a real browser, by eye, keyboard and paper; its figures are those of the design."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from outside_tools import tool
from sample_design import hand_catalog, two_by_two, with_result
from typer.testing import CliRunner

from gpunet import cli
from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.design_file import write_design
from gpunet.models.case import FabricName
from gpunet.models.design import Design, Status
from gpunet.models.ledger import Ledger
from gpunet.models.study import Study
from gpunet.models.study_rivals import Rivals
from gpunet.report.html import html_report
from gpunet.report.html_breakdown import booked
from gpunet.report.html_run import NotTheOptimumError, Wanted, make_studies, misfit
from gpunet.shell import Exit
from gpunet.solver.choices import denying
from gpunet.solver.optimize import optimize
from gpunet.solver.tasks import Plan
from gpunet.study_file import read_study

ROOT = Path(__file__).parent.parent
CATALOG = hand_catalog()
NAME = 'by <hand> & "eye"'
CASE: dict[str, Any] = {
    "name": NAME,
    "cluster": {"servers": 4, "server": "server-2"},
    "fabrics": {"backend": {}, "oob": {}},
}
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)
DESK, PHONE = (1200, 900), (360, 740)
BARS = ".live .mark-rect path"


@pytest.fixture(scope="module")
def design() -> Design:
    """A small design of two fabrics."""
    return optimize(case_from_data(CASE, CATALOG), CATALOG)


@pytest.fixture(scope="module")
def studies(design: Design) -> list[Study]:
    """Every study that a report can have made."""
    return make_studies(design, CATALOG, Wanted.ALL, [], Plan())


@pytest.fixture(scope="module")
def page(design: Design, studies: list[Study], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report with all studies."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(html_report(design, CATALOG, studies), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a screen."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = tool("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(tool("chromedriver")))
    driver.set_script_timeout(60)
    try:
        yield driver
    finally:
        driver.quit()


def visit(driver: Any, page: Path, size: tuple[int, int] = DESK, *, dark: bool = False, media: str = "") -> None:
    """Open a page as it is on some screen, and wait until its charts are drawn."""
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": scheme})
    screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size is PHONE}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(page.as_uri())
    wait = "const done = arguments[0]; chartsDrawn.then(() => done(''), (error) => done(String(error)));"
    assert driver.execute_async_script(wait) == ""


def script(driver: Any, code: str, *args: Any) -> Any:
    """What a script in the page returns."""
    return driver.execute_script(f"return {code}", *args)


# --- in the browser ---------------------------------------------------------------------------------------------------


def test_the_page_stands_alone(chromium: Any, page: Path) -> None:
    """It asks for nothing but itself, reports no error, and draws every chart."""
    visit(chromium, page)
    assert [entry for entry in chromium.get_log("browser") if entry["level"] != "INFO"] == []
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert page.as_uri() in asked
    assert [url for url in asked if url != page.as_uri() and not url.startswith("data:")] == []
    marks = script(
        chromium,
        "[...document.querySelectorAll('figure.chart')].map((f) => "
        "[f.id, f.querySelectorAll('.live [class*=role-mark] :is(path, line)').length])",
    )
    assert len(marks) > 12
    assert [name for name, count in marks if not count] == []


def test_every_chapter_is_there(page: Path) -> None:
    """The answer first, then the chapters in their order, each with a heading and a link to it."""
    text = page.read_text("utf-8")
    wanted = "answer topology breakdown frontier ceiling prices ranges protocols racks lengths bill evidence checks"
    assert re.findall(r'<section id="([\w-]+)"', text) == wanted.split()
    assert re.findall(r'<li><a href="#([\w-]+)"', text) == wanted.split()


def test_links_and_names_resolve(chromium: Any, page: Path) -> None:
    """Every link inside the page leads somewhere, no name is given twice, and drawings find what they refer to."""
    visit(chromium, page)
    links = script(chromium, "[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
    assert links
    assert [link for link in links if not link.startswith("#")] == []
    assert [link for link in links if not script(chromium, "document.getElementById(arguments[0])", link[1:])] == []
    # The chart library numbers its own clips; everything else is ours.
    ids = script(chromium, "[...document.querySelectorAll('[id]:not(.live *)')].map((e) => e.id)")
    assert sorted(set(ids)) == sorted(ids)
    used = set(re.findall(r'url\(#([\w-]+)\)|aria-labelledby="([\w -]+)"', page.read_text("utf-8")))
    names = {name for pair in used for text in pair for name in text.split()}
    assert names
    assert names <= set(ids)


def test_series_are_switched_with_the_keyboard(chromium: Any, page: Path) -> None:
    """The space bar on a series takes its bars out of the chart, and puts them back."""
    from selenium.webdriver.common.keys import Keys

    visit(chromium, page)
    figure = chromium.find_element("id", "cost-by-fabric")
    button = figure.find_element("css selector", ".keys button")
    before = len(figure.find_elements("css selector", BARS))
    for pressed, fewer in (("false", True), ("true", False)):
        button.send_keys(Keys.SPACE)
        settled(chromium, "cost-by-fabric")
        assert button.get_attribute("aria-pressed") == pressed
        assert (len(figure.find_elements("css selector", BARS)) < before) is fewer


def settled(driver: Any, name: str) -> None:
    """Wait until a chart has taken in what was asked."""
    wait = "const [name, done] = arguments; chartViews.get(name).runAsync().then(() => done());"
    driver.execute_async_script(wait, name)


def test_axes_are_zoomed_with_buttons(chromium: Any, page: Path) -> None:
    """Zooming in shows half of what was shown or so, and show all brings it back."""
    from selenium.webdriver.common.keys import Keys

    visit(chromium, page)
    name = "curve-cost"
    figure = chromium.find_element("id", name)

    def shown() -> float:
        low, high = script(chromium, "chartViews.get(arguments[0]).scale('x').domain()", name)
        return float(high - low)

    whole = shown()
    near, _, back = figure.find_elements("css selector", ".zoom button")
    near.send_keys(Keys.ENTER)
    settled(chromium, name)
    assert 0.3 * whole < shown() < 0.9 * whole
    back.send_keys(Keys.ENTER)
    settled(chromium, name)
    assert shown() == pytest.approx(whole)


def test_the_chosen_design_is_marked(chromium: Any, page: Path, design: Design) -> None:
    """On the frontier and on the curve one point is the design, where its totals are."""
    visit(chromium, page)
    assert design.result.totals is not None
    for name, field in (("frontier-cost-power", "x"), ("curve-cost", "cost")):
        rows = script(chromium, "Object.values(CHARTS[arguments[0]].datasets).flat()", name)
        assert [row[field] for row in rows if row.get("chosen")] == [design.result.totals.cost_usd]


def test_a_phone_shows_the_page_without_scrolling_sideways(chromium: Any, page: Path) -> None:
    """At 360 pixels nothing sticks out but tables and drawings, which scroll in a box of their own."""
    visit(chromium, page, PHONE)
    assert script(chromium, "document.documentElement.scrollWidth") <= PHONE[0]
    assert (
        script(
            chromium,
            "[...document.querySelectorAll('main *')].filter((e) => !e.closest('.scroll, .hidden, svg') && "
            "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))",
        )
        == []
    )
    widths = script(chromium, "[...document.querySelectorAll('.live svg')].map((e) => e.clientWidth)")
    assert 200 < min(widths) <= max(widths) <= PHONE[0]


def luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)``, from 0 to 1."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_charts_follow_the_colours_of_the_screen(chromium: Any, page: Path, dark: bool) -> None:
    """Text of the page and of its charts stands out from the paper, dark on light or light on dark."""
    visit(chromium, page, dark=dark)
    paper = luminance(script(chromium, "getComputedStyle(document.body).backgroundColor"))
    assert (paper < 0.1) is dark
    for where, what in (("h1", "color"), (".live svg text", "fill"), (".picture svg text", "fill")):
        ink = luminance(script(chromium, f"getComputedStyle(document.querySelector('{where}')).{what}"))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7, where


@pytest.mark.parametrize(("size", "dark"), [(DESK, False), (PHONE, True)], ids=["desk-light", "phone-dark"])
def test_nothing_keeps_anyone_out(chromium: Any, page: Path, size: tuple[int, int], dark: bool) -> None:
    """axe-core finds nothing serious or critical, with every fold open."""
    from axe_core_python.selenium import Axe

    visit(chromium, page, size, dark=dark)
    chromium.execute_script("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    found = Axe().run(chromium, options={"resultTypes": ["violations"]})
    assert found["passes"]
    bad = [
        (v["id"], v["nodes"][0]["html"][:200]) for v in found["violations"] if v["impact"] in ("serious", "critical")
    ]
    assert bad == []


def test_paper_gets_drawings_and_open_folds(chromium: Any, page: Path) -> None:
    """In print the still drawings stand for the charts, and what is folded away is told."""
    from pypdf import PdfReader

    visit(chromium, page, media="print")
    seen = "[...document.querySelectorAll(arguments[0])].map((e) => e.getBoundingClientRect().height)"
    assert max(script(chromium, seen, ".live")) == 0
    assert min(script(chromium, seen, ".still svg")) > 20
    printed = chromium.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    path = page.with_suffix(".pdf")
    path.write_bytes(base64.b64decode(printed["data"]))
    pages = [sheet.extract_text() for sheet in PdfReader(path).pages]
    text = " ".join(" ".join(pages).split())
    assert len(pages) > 3
    assert "Why this and not the runner-up" in text
    assert "cluster.servers" in text  # folded on the screen
    assert "Show all" not in text


def test_without_scripts_the_drawings_remain(chromium: Any, page: Path) -> None:
    """A reader who runs no scripts sees every chart, still."""
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        chromium.get(page.as_uri())
        stills = chromium.find_elements("css selector", ".still svg")
        assert len(stills) > 12
        assert all(still.is_displayed() and still.size["height"] > 20 for still in stills)
    finally:
        chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# --- figures ----------------------------------------------------------------------------------------------------------


class Texts(HTMLParser):
    """The text of every element with a name, and the cells of every table by the name of what is around it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.facts: dict[str, str] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self._stack: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._term = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._stack.append((tag, named.get("id") or ""))
        self._text = []
        if tag == "tr":
            self.tables.setdefault(self._around(), []).append([])
        if tag in ("meta", "link", "input", "br"):
            self._stack.pop()

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        text = "".join(self._text).strip()
        if tag == "dt":
            self._term = text
        if tag == "strong" and self._term:
            self.facts[self._term] = text
        if tag in ("td", "th"):
            self.tables[self._around()][-1].append(text)
        while self._stack and self._stack.pop()[0] != tag:
            pass
        self._text = []

    def _around(self) -> str:
        return next(name for tag, name in reversed(self._stack) if name and tag in ("section", "figure"))


def figure(text: str) -> float:
    """A figure as people read it."""
    return float(text.replace(",", "").replace("~", "").split(" ")[0])


def test_figures_are_those_of_the_design_file(page: Path, design: Design) -> None:
    """Totals, bill, fabrics and checks of the page are those of design.json; the parts of each sum make its total."""
    texts = Texts(page.read_text("utf-8"))
    data = json.loads(write_design(design))
    totals = data["totals"]
    assert figure(texts.facts["Network cost, USD"]) == totals["cost_usd"]
    assert figure(texts.facts["Owning it, USD"]) == totals["tco_usd"]
    assert figure(texts.facts["Largest draw"]) == round(totals["power_max_w"] / 1000, 2)
    assert texts.facts["Proof"] == data["status"]
    assert figure(texts.facts["Checks"]) == sum(check["passed"] for check in data["verify"]["checks"])
    bill = {row[0]: row for row in texts.tables["bill"][1:]}
    for line in data["bom"]:
        row = bill[line["part"]]
        assert (int(figure(row[2])), figure(row[3]), figure(row[4])) == (
            line["quantity"],
            line["unit_price_usd"],
            line["extended_usd"],
        )
    built = {row[0]: row for row in texts.tables["answer"][: len(data["fabrics"]) + 1]}
    for name, fabric in data["fabrics"].items():
        assert int(figure(built[name][3])) == sum(fabric["links"].values())
        assert all(f"{tier['count']:,} x {tier['switch']}" in built[name][2] for tier in fabric["tiers"])
    for chart, total in (("cost", totals["cost_usd"]), ("power", totals["power_max_w"])):
        for by in ("fabric", "tier"):
            rows = texts.tables[f"{chart}-by-{by}"]
            assert figure(rows[-1][-1]) == total
            assert sum(figure(row[-1]) for row in rows[1:-1]) == pytest.approx(total)
    lengths = [row for name, rows in texts.tables.items() if name.startswith("lengths-") for row in rows[1:]]
    assert sum(int(figure(row[2])) for row in lengths) == len(design.ledger.links)
    heat = sum(figure(row[-1]) for row in texts.tables["heat"][1:])
    assert heat * 1000 > totals["power_max_w"]
    evidence = {row[0]: row for row in texts.tables["evidence"]}
    assert all(evidence[line["part"]][2] == line["price_how"] for line in data["bom"])


def test_the_names_of_users_are_text(page: Path) -> None:
    """A case named like markup is shown, and is no markup; the data of the charts cannot end their script."""
    text = page.read_text("utf-8")
    assert "by &lt;hand&gt; &amp; &#34;eye&#34;" in text
    assert "<hand>" not in text
    assert len(re.findall(r"</script", text)) == len(re.findall(r"<script\b", text)) == 3


def test_equal_designs_give_equal_pages(page: Path, design: Design, studies: list[Study]) -> None:
    """Written again in the same process, after other charts, the page has the same bytes."""
    assert html_report(design, CATALOG, studies) == page.read_text("utf-8")


def test_a_chapter_that_was_not_asked_for_says_how_to_get_it(design: Design) -> None:
    """Without studies there is one line for each, with the command; and no chart of it."""
    text = html_report(design, CATALOG)
    for command in ("frontier", "ceiling", "sensitivity", "compare"):
        assert f'<code class="line">gpunet {command} ' in text
    assert text.count("Not part of this report") == 7
    assert 'id="tornado"' not in text


def test_a_result_without_a_design_has_no_report() -> None:
    """Nothing is made up where nothing was found."""
    case = case_from_data(CASE, CATALOG)
    empty = Design(case, two_by_two().result.model_copy(update={"totals": None}), Ledger())
    with pytest.raises(ValueError, match="without a design"):
        html_report(empty, CATALOG)


@pytest.mark.parametrize("name", ["guide-256", "storage-512-converged", "buying-split"])
def test_every_cent_and_milliwatt_is_booked_once(name: str) -> None:
    """Over fabrics, tiers and kinds of a real design the sums are its totals, and each kind has its lines' price."""
    catalog = load_catalog()
    design = optimize(read_case(ROOT / f"cases/{name}.yaml", catalog), catalog)
    totals = design.result.totals
    assert totals is not None
    found = booked(design, catalog)
    assert len({(one.place, one.kind) for one in found}) == len(found)
    assert sum(round(one.cost_usd * 100) for one in found) == round(totals.cost_usd * 100)
    assert sum(round(one.power_max_w * 1000) for one in found) == round(totals.power_max_w * 1000)
    for kind in {line.kind for line in design.result.bom}:
        spent = sum(line.extended_usd for line in design.result.bom if line.kind == kind)
        assert sum(one.cost_usd for one in found if one.kind == kind) == pytest.approx(spent)
    assert {one.place.fabric for one in found} <= set(design.result.fabrics)


def test_the_bill_names_suppliers_where_the_order_is_split() -> None:
    """A line for each part and supplier, and no such column on the bill of a design that is bought at list."""
    catalog = load_catalog()
    heads = []
    for name in ("buying-split", "guide-256-infiniband"):
        design = optimize(read_case(ROOT / f"cases/{name}.yaml", catalog), catalog)
        page = html_report(design, catalog)
        chapter = page[page.index('<section id="bill"') :]
        cells = [
            {re.sub("<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd]\b.*?>(.*?)</t[hd]>", row, re.DOTALL)}
            for row in re.findall(r"<tr\b.*?>(.*?)</tr>", chapter[: chapter.index("</section>")], re.DOTALL)
        ]
        heads.append("supplier" in cells[0])
        for line in design.result.bom:
            assert any({line.part, f"{line.bought:,}"} | ({line.supplier} - {""}) <= row for row in cells), line
    assert heads == [True, False]


def test_the_largest_published_pod_gives_a_page_of_sane_size() -> None:
    """16,384 GPUs and 49,152 links fold into charts and drawings of under 10 MB."""
    catalog = load_catalog()
    design = optimize(read_case(ROOT / "cases/superpod-h100-64su.yaml", catalog), catalog)
    text = html_report(design, catalog)
    assert 500_000 < len(text.encode()) < 10_000_000
    assert "16,384 GPUs" in text


# --- the runner-up ----------------------------------------------------------------------------------------------------


def test_the_runner_up_is_what_solving_without_a_part_finds(design: Design, studies: list[Study]) -> None:
    """For every switch model the figure is that of a fresh optimum of the case without it."""
    (found,) = (study for study in studies if isinstance(study, Rivals))
    assert {(r.fabric, r.part) for r in found.rivals} == {
        (name, tier.switch) for name, fabric in design.result.fabrics.items() for tier in fabric.tiers
    }
    for rival in found.rivals:
        fresh = optimize(denying(design.case, FabricName(rival.fabric), [rival.part]), CATALOG).result
        assert rival.status is fresh.status
        if fresh.totals is None or rival.design is None:
            assert (rival.more, rival.design, fresh.totals) == (None, None, None)
            continue
        assert rival.design.cost_usd == fresh.totals.cost_usd
        assert design.result.totals is not None
        assert rival.more == pytest.approx(fresh.totals.cost_usd - design.result.totals.cost_usd)
    assert any(rival.more for rival in found.rivals)


def test_studies_of_something_else_are_refused(design: Design, studies: list[Study]) -> None:
    """Another case, another catalogue or another optimum: each is told, and what fits is not."""
    assert [misfit(design, study) for study in studies] == [""] * len(studies)
    rivals = next(study for study in studies if isinstance(study, Rivals))
    for change, says in (
        ({"case": "other"}, "case 'other'"),
        ({"catalog_version": "0"}, "catalogue 0"),
        ({"value": 1.0}, "optimum 1.00"),
        ({"objective": "power"}, "power"),
    ):
        assert says in misfit(design, rivals.model_copy(update=change))


def test_a_design_that_is_no_optimum_gets_no_studies(design: Design) -> None:
    """Where the case has a better design, what is best beside it would be told of the wrong one."""
    dearer = with_result(two_by_two(), case=design.case.name, catalog_version=CATALOG.version)
    dearer = Design(design.case, dearer.result, dearer.ledger)
    with pytest.raises(NotTheOptimumError, match="not the proven optimum"):
        make_studies(dearer, CATALOG, Wanted.QUICK, [], Plan())


# --- the command ------------------------------------------------------------------------------------------------------


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(cli.app, ["report", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path, design: Design, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the design, and a command line that knows its catalogue."""
    monkeypatch.setattr("gpunet.cli_report.load_parts", lambda _: CATALOG)
    (tmp_path / "design.json").write_text(write_design(design), encoding="utf-8")
    return tmp_path


def test_the_command_writes_the_page(folder: Path, studies: list[Study]) -> None:
    """With quick studies it has the runner-up and protocols; a study given is taken, not made."""
    out = folder / "report.html"
    done = run(folder, "-o", out)
    assert (done.exit_code, "is written" in done.output) == (Exit.DONE, True), done.output
    text = out.read_text("utf-8")
    assert "Without " in text
    assert 'id="compare-protocol-cost"' in text
    prices = folder / "prices.json"
    sensitivity = next(study for study in studies if study.study == "sensitivity")
    prices.write_text(sensitivity.model_dump_json(), encoding="utf-8")
    done = run(folder, "-o", out, "--studies", "none", "--study", prices)
    assert done.exit_code == Exit.DONE, done.output
    text = out.read_text("utf-8")
    assert 'id="tornado"' in text
    assert 'id="compare-protocol-cost"' not in text


def test_the_command_says_what_it_cannot_use(folder: Path, studies: list[Study]) -> None:
    """A wrong ending, a file that is no study, and a study of another case: one message each, and nothing written."""
    out = folder / "report.html"
    other = folder / "other.json"
    other.write_text(studies[0].model_copy(update={"case": "other"}).model_dump_json(), encoding="utf-8")
    broken = folder / "broken.json"
    broken.write_text('{"study": "weather"}', encoding="utf-8")
    half = folder / "half.json"
    half.write_text('{"study": "rivals", "case": 7}', encoding="utf-8")
    for words, says in (
        ((folder, "-o", folder / "report.pdf"), "ends in .html"),
        ((folder, "-o", out, "--study", other), "case 'other'"),
        ((folder, "-o", out, "--study", broken), "found 'weather'"),
        ((folder, "-o", out, "--study", half), "half.json: case"),
        ((folder, "-o", out, "--study", folder / "none.json"), "no such file"),
    ):
        done = run(*words)
        assert (done.exit_code, says in done.output) == (Exit.BAD_INPUT, True), done.output
    assert not out.exists()


def test_studies_are_read_as_they_were_written(tmp_path: Path, studies: list[Study]) -> None:
    """What --json prints of any study comes back whole."""
    for number, study in enumerate(studies):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(study.model_dump(mode="json")), encoding="utf-8")
        assert read_study(path) == study
    assert all(study.status is Status.OPTIMAL for study in studies)
