"""The workbook: its formulas, reckoned by an office program, agree with the design, also after a price is typed."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from outside_tools import tool
from sample_design import hand_catalog, one_rack, two_by_two, with_result
from typer.testing import CliRunner

from gpunet import cli, optimize
from gpunet.catalogs import find_part, load_catalog
from gpunet.design_file import write_design
from gpunet.export import export
from gpunet.models.design import BomLine, Design, Status
from gpunet.models.problems import InputError
from gpunet.models.study import DesignSummary
from gpunet.models.study_sensitivity import Band, Headroom, PricePiece, PriceRange, Regret, Sensitivity, Step, Worth
from gpunet.report.csv_files import device_draws
from gpunet.report.workbook import read_study, workbook
from gpunet.report.workbook_page import letter
from gpunet.report.workbook_sensitivity import HOW_TO
from gpunet.shell import Exit

SHIPPED = load_catalog()
HAND = hand_catalog()
ROOT = Path(__file__).parent.parent
SHEETS = ["Summary", "BOM", "Power", "Cabling", "Racks", "Sensitivity", "Evidence"]
CASE: dict[str, Any] = {
    "name": "quoted",
    "cluster": {"gpus": 64, "server": "dgx-h100"},
    "prices": {"overrides_usd": {"ib-qm9700": 31000.55}, "discounts": {"nvidia": 0.07}},
    "owned": [{"part": "ib-qm9700", "quantity": 1}],
    "tco": {"years": 5, "usd_per_kwh": 0.113, "pue": 1.27, "support_rate": 0.043},
    "fabrics": {"backend": {"protocols": ["infiniband"]}, "storage": {}, "frontend": {}, "oob": {}},
}


@pytest.fixture(scope="module")
def design() -> Design:
    """A real design with discounts, an owned switch, a price from the case, and cables whose ends draw."""
    return optimize(CASE)


@pytest.fixture(scope="module")
def split() -> Design:
    """A real design whose order is split between two suppliers, part by part."""
    return optimize(ROOT / "cases/buying-split.yaml")


Changes = dict[str, dict[str, Any]]
"""Values to type, by sheet and cell."""


def typed_prices(design: Design, made: bytes) -> tuple[Changes, dict[str, Any], dict[str, Any]]:
    """New prices for a module and for a switch, and the lines where they are typed."""
    book = opened(made)
    lines, _ = table(book, "BOM")
    price = column(book, "BOM", "Unit price, USD")
    module = next(row for row in lines if row["Kind"] == "module")
    owned = {line.part for line in design.result.bom if line.owned >= line.quantity}
    switch = next(row for row in lines if row["Kind"] == "switch" and row["Part"] not in owned)
    return {"BOM": {f"{price}{module['row']}": 1234.56, f"{price}{switch['row']}": 20000.01}}, module, switch


def typed_others(made: bytes) -> tuple[Changes, dict[str, Any], dict[str, Any]]:
    """Spares of a fibre, more owned cables than are needed, another PUE and other watts, and the lines of the bill."""
    book = opened(made)
    lines, _ = table(book, "BOM")
    fibre, cable = (next(row for row in lines if row["Kind"] == kind) for kind in ("fibre", "cable"))
    spares, owned = column(book, "BOM", "Spares"), column(book, "BOM", "Owned")
    names = {row[0].value: row[1].coordinate for row in book["Summary"].iter_rows() if row[0].value}
    draws, _ = table(book, "Power")
    changes = {
        "BOM": {f"{spares}{fibre['row']}": 7, f"{owned}{cable['row']}": cable["In the design"] + 3},
        "Summary": {names["PUE"]: 1.5},
        "Power": {f"{column(book, 'Power', 'Each at most, W')}{draws[0]['row']}": 1000},
    }
    return changes, fibre, cable


def studied(design: Design) -> tuple[BomLine, float]:
    """A line of the bill with the highest price up to which the study below holds it the best, USD."""
    line = next(line for line in design.result.bom if line.kind == "module")
    return line, line.unit_price_usd * 1.5


def opened(made: bytes, values: bool = False) -> Any:
    """A workbook as it was written: its formulas, or the results stored with them."""
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(made), data_only=values)


@pytest.fixture(scope="module")
def reckoned(design: Design, split: Design, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Workbooks that an office program reckoned anew, all in one go, some after values were typed into cells."""
    program, place = tool("soffice"), tmp_path_factory.mktemp("office")
    made = workbook(design, SHIPPED)
    books: dict[str, tuple[bytes, Changes]] = {name: (workbook(make(), HAND), {}) for name, make in MADE.items()}
    books["plain"] = made, {}
    books["prices"] = made, typed_prices(design, made)[0]
    books["others"] = made, typed_others(made)[0]
    books["suppliers"] = workbook(split, SHIPPED), {}
    line, limit = studied(design)
    with_study = workbook(design, SHIPPED, study_of(design, line, limit))
    book = opened(with_study)
    row = next(row["row"] for row in table(book, "BOM")[0] if row["Part"] == line.part)
    cell = f"{column(book, 'BOM', 'Unit price, USD')}{row}"
    for name, usd in (("below", line.unit_price_usd / 2 - 0.01), ("within", limit - 0.01), ("above", limit + 0.01)):
        books[name] = with_study, {"BOM": {cell: usd}}
    for name, (written, changes) in books.items():
        book = opened(written)
        for sheet, cells in changes.items():
            for where, value in cells.items():
                book[sheet][where] = value
        # Saved like this, formulas have no results: every number that comes back was reckoned by the office program.
        book.save(place / f"{name}.xlsx")
    profile = f"-env:UserInstallation={(place / 'profile').as_uri()}"
    command = [program, "--headless", profile, "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", place / "out"]
    paths = [place / f"{name}.xlsx" for name in books]
    subprocess.run([*command, *paths], check=True, capture_output=True, timeout=180)
    return {path.stem: opened((place / "out" / path.name).read_bytes(), values=True) for path in paths}


MADE: dict[str, Any] = {"two-by-two": two_by_two, "dac": lambda: one_rack("dac"), "split": lambda: one_rack("split")}


def table(book: Any, name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of a sheet by title of column, with ``row``, their number, and the last of them, the total."""
    sheet = book[name]
    rows = list(sheet.iter_rows(values_only=True))
    head = next(i for i, row in enumerate(rows) if sum(cell is not None for cell in row) > 4)
    named = [dict(zip(rows[head], row, strict=True), row=i) for i, row in enumerate(rows[head + 1 :], start=head + 2)]
    return named[:-1], named[-1]


def column(book: Any, name: str, title: str) -> str:
    """Letter of a column by its title."""
    for row in book[name].iter_rows():
        for cell in row:
            if cell.value == title:
                return str(cell.column_letter)
    raise AssertionError(title)


def figures(book: Any) -> dict[str, tuple[float, float]]:
    """The lines of the summary with two figures: now, and as designed."""
    found = {}
    for row in book["Summary"].iter_rows(values_only=True):
        if isinstance(row[1], int | float) and isinstance(row[2], int | float):
            found[str(row[0])] = (row[1], row[2])
    return found


def cents(value: float | Decimal) -> int:
    """USD in whole cents."""
    return int((Decimal(str(value)) * 100).to_integral_value(ROUND_HALF_UP))


def total(design: Design) -> Any:
    """The totals of a design that has some."""
    assert design.result.totals is not None
    return design.result.totals


# --- reckoned by an office program ------------------------------------------------------------------------------------


def agrees(book: Any, design: Design) -> None:
    """Every total of a reckoned workbook is that of the design, to the cent and the milliwatt."""
    totals, now = total(design), figures(book)
    for name, value in (("Network cost, USD", totals.cost_usd), ("Cost of ownership, USD", totals.tco_usd)):
        assert [cents(figure) for figure in now[name]] == [cents(value)] * 2, name
    for name, value in (("Largest draw, W", totals.power_max_w), ("Typical draw, W", totals.power_typical_w)):
        assert [round(1000 * figure) for figure in now[name]] == [round(1000 * value)] * 2, name
    assert now["Rack units of switches"] == (totals.rack_units, totals.rack_units)
    lines, foot = table(book, "BOM")
    assert [(row["Part"], cents(row["Total, USD"])) for row in lines] == [
        (line.part, cents(line.extended_usd)) for line in design.result.bom
    ]
    assert [row["To buy"] for row in lines] == [line.quantity - line.owned for line in design.result.bom]
    assert (cents(foot["Total, USD"]), cents(foot["Change of total, USD"])) == (cents(totals.cost_usd), 0)
    assert foot["Share"] == pytest.approx(1 if totals.cost_usd else 0)
    _, power = table(book, "Power")
    assert round(1000 * power["At most, W"]) == round(1000 * totals.power_max_w)


@pytest.mark.parametrize("name", MADE)
def test_totals_of_hand_made_designs_agree(reckoned: dict[str, Any], name: str) -> None:
    """On a small catalogue with round prices, an office program comes to the totals of the design."""
    agrees(reckoned[name], MADE[name]())


def test_totals_agree_and_stored_results_are_right(reckoned: dict[str, Any], design: Design) -> None:
    """So it does on a real design; and every result that the file holds for quick viewers is what it comes to."""
    made = workbook(design, SHIPPED)
    agrees(reckoned["plain"], design)
    formulas, stored = opened(made), opened(made, values=True)
    checked = 0
    for sheet in formulas:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    there = f"{sheet.title}!{cell.coordinate}"
                    want, found = (book[sheet.title][cell.coordinate].value for book in (reckoned["plain"], stored))
                    assert found == (pytest.approx(want, abs=1e-6) if isinstance(want, int | float) else want), there
                    checked += 1
    assert checked > 100


def test_split_orders_agree_and_name_the_supplier(reckoned: dict[str, Any], split: Design) -> None:
    """So it does where two suppliers deliver one part; the column of suppliers is there then, and only then."""
    agrees(reckoned["suppliers"], split)
    lines, _ = table(reckoned["suppliers"], "BOM")
    told = [(line.part, line.supplier or None, line.bought) for line in split.result.bom]
    assert [(row["Part"], row["Supplier"], row["To buy"]) for row in lines] == told
    assert len({line.part for line in split.result.bom}) < len(split.result.bom)
    assert "Supplier" not in table(reckoned["plain"], "BOM")[0][0]


def test_a_typed_price_moves_every_total(reckoned: dict[str, Any], design: Design) -> None:
    """A buyer types a price for modules and one for switches: line, bill, summary, support and evidence follow."""
    _, module, switch = typed_prices(design, workbook(design, SHIPPED))
    after = reckoned["prices"]
    bought = {line.part: line.quantity - line.owned for line in design.result.bom}
    more = bought[module["Part"]] * (cents(1234.56) - cents(module["Unit price, USD"]))
    more += bought[switch["Part"]] * (cents(20000.01) - cents(switch["Unit price, USD"]))
    was = cents(total(design).cost_usd)
    now = figures(after)
    assert more
    assert [cents(figure) for figure in now["Network cost, USD"]] == [was + more, was]
    lines, foot = table(after, "BOM")
    assert (cents(foot["Total, USD"]), cents(foot["Change of total, USD"])) == (was + more, more)
    rate = Decimal(str(design.case.tco.support_rate)) * Decimal(str(design.case.tco.years))
    support = sum(
        line.quantity * cents(rate * Decimal(str(row["Unit price, USD"])))
        for line, row in zip(design.result.bom, lines, strict=True)
        if line.kind == "switch"
    )
    assert cents(now["Support, USD"][0]) == support
    energy = cents(now["Energy, USD"][0])
    assert energy == cents(now["Energy, USD"][1])
    assert cents(now["Cost of ownership, USD"][0]) == was + more + support + energy
    how = {row["Part"]: row["Price known by"] for row in lines}
    assert how[module["Part"]] == how[switch["Part"]] == "typed here"
    shares = {row[0]: row[1] for row in after["Summary"].iter_rows(values_only=True)}
    typed = bought[module["Part"]] * cents(1234.56) + bought[switch["Part"]] * cents(20000.01)
    assert cents(shares["typed here"]) == typed
    assert cents(shares["module"]) == sum(cents(row["Total, USD"]) for row in lines if row["Kind"] == "module")


def test_spares_stock_and_assumptions_can_be_typed_too(reckoned: dict[str, Any], design: Design) -> None:
    """Spares are bought, owned pieces are not, watts and the price of energy carry into the cost of ownership."""
    _, fibre, cable = typed_others(workbook(design, SHIPPED))
    after = reckoned["others"]
    now = figures(after)
    line = next(line for line in design.result.bom if line.part == cable["Part"])
    expected = cents(total(design).cost_usd) + 7 * cents(fibre["Unit price, USD"]) - cents(line.extended_usd)
    assert cents(now["Network cost, USD"][0]) == expected
    tco = design.case.tco
    kwh = Decimal(str(tco.years)) * 8766 * Decimal("1.5") * Decimal(str(tco.usd_per_kwh)) / 1000
    watts = [(row["Pieces"], row["Each at most, W"]) for row in table(after, "Power")[0]]
    assert watts[0][1] == 1000
    assert cents(now["Energy, USD"][0]) == sum(n * cents(kwh * Decimal(str(each))) for n, each in watts)
    assert now["Largest draw, W"][0] == pytest.approx(sum(n * each for n, each in watts))


def test_racks_add_up(reckoned: dict[str, Any], design: Design) -> None:
    """The lines of a rack hold its devices, each rack sums them, and the room sums the racks, not both."""
    rows, room = table(reckoned["plain"], "Racks")
    drawn = list(device_draws(design, SHIPPED))
    racks = [row for row in rows if row["Limit, W"] is not None]
    assert [row["Device"] for row in rows if row not in racks] == [device.name for device, _ in drawn]
    for rack in racks:
        inside = [(device, draw) for device, draw in drawn if device.rack == rack["Rack"]]
        assert round(1000 * rack["At most, W"]) == sum(draw for _, draw in inside)
        assert rack["Units"] == sum(device.rack_units for device, _ in inside if device.unit)
        assert rack["Units free"] == design.case.site.rack.units - rack["Units"]
        assert rack["Share of limit"] == pytest.approx(rack["At most, W"] / rack["Limit, W"])
    assert round(1000 * room["At most, W"]) == sum(draw for _, draw in drawn)


# --- how it looks and prints ------------------------------------------------------------------------------------------


def test_sheets_stand_in_order_and_print_whole(design: Design) -> None:
    """The agreed sheets; titles of columns frozen and on every page, all that is written within the printed area."""
    book = opened(workbook(design, SHIPPED))
    assert book.sheetnames == SHEETS
    for name in SHEETS:
        sheet = book[name]
        area = sheet.print_area.replace("$", "").replace("'", "").split("!")[-1]
        wide = sheet.max_column - 1 if name != "Sensitivity" else 9
        assert area == f"A1:{letter(wide)}{sheet.max_row}", name
        assert sheet.page_setup.paperSize in (8, 9)
        assert "Page &P of &N" in str(sheet.oddFooter.right.text)
        if name in ("BOM", "Power", "Cabling", "Racks", "Evidence"):
            head = next(
                i for i, row in enumerate(sheet.iter_rows(values_only=True), 1) if sum(c is not None for c in row) > 4
            )
            assert re.fullmatch(rf"[A-Z]{head + 1}", sheet.freeze_panes), name
            assert sheet.print_title_rows == f"${head}:${head}", name
            assert sheet.auto_filter.ref.startswith(f"A{head}:"), name
        widths = [dimension.width for dimension in sheet.column_dimensions.values()]
        assert all(width and width >= 5 for width in widths)
    formats = {cell.number_format for row in book["BOM"].iter_rows() for cell in row if cell.value is not None}
    assert {"#,##0", "#,##0.00", "0.0%"} <= formats


def test_estimates_are_marked(design: Design) -> None:
    """A price that nobody offered is orange with a ~, by a rule that lets go when another price is typed."""
    book = opened(workbook(design, SHIPPED))
    price, how = column(book, "BOM", "Unit price, USD"), column(book, "BOM", "Price known by")
    first = next(row[0].row for row in book["BOM"].iter_rows() if row[0].value == design.result.bom[0].part)
    last = first + len(design.result.bom) - 1
    rules = {str(area.sqref): area.rules for area in book["BOM"].conditional_formatting}
    weak = rules[f"{price}{first}:{price}{last}"][0]
    assert weak.formula == [
        f'NOT(OR(${how}{first}="read",${how}{first}="quoted",${how}{first}="typed here",${how}{first}=""))'
    ]
    assert weak.dxf.numFmt.formatCode == '"~"#,##0.00'
    assert weak.dxf.fill.bgColor.rgb == "FFFDE7C7"
    cell = book["BOM"][f"{how}{first}"].value
    assert cell.startswith("=IF(ROUND(")
    assert {line.price_how for line in design.result.bom} >= {"estimated", "quoted"}
    evidence = list(book["Evidence"].conditional_formatting)
    assert '="estimated"' in evidence[0].rules[0].formula[0]
    assert '="recalled"' in evidence[0].rules[0].formula[0]
    watts = column(book, "Power", "Each at most, W")
    marked = {row[0].value: book["Power"][f"{watts}{row[0].row}"].fill.fgColor.rgb for row in book["Power"].iter_rows()}
    for line in design.result.bom:
        part = find_part(SHIPPED, line.part)
        if line.kind == "switch":
            weak_watts = part.power_chassis_max_w.how.value != "read"  # type: ignore[union-attr]
            assert (marked[line.part] == "FFFDE7C7") == weak_watts


def test_every_number_has_its_evidence(design: Design) -> None:
    """Each figure of each part in the design, counted from the raw catalogue, is on the sheet with source and date."""
    rows, last = table(opened(workbook(design, SHIPPED)), "Evidence")
    rows.append(last)
    parts = {line.part for line in design.result.bom} | {d.part for d in design.ledger.devices if d.part}
    for name in sorted(parts):
        part = find_part(SHIPPED, name)
        assert part is not None
        own = [row for row in rows if row["Part"] == name]
        data = json.loads(part.model_dump_json(exclude={"lengths"}))
        facts = sorted((fact["v"], fact["how"], fact["src"]) for fact in facts_in(data))
        shown = sorted(
            (row["Value"], row["Known by"], row["Source"]) for row in own if isinstance(row["Value"], int | float)
        )
        assert [fact for fact in facts if fact not in shown] == [], name
    for line in design.result.bom:
        row = next(row for row in rows if row["Part"] == line.part)
        assert (row["Number"], row["Value"]) == ("unit price in this design", line.unit_price_usd)
        assert (row["Known by"], row["Source"]) == (line.price_how, line.price_source or None)
    for row in rows:
        assert row["Known by"] in ("read", "recalled", "estimated", "quoted")
        if row["Known by"] != "quoted":
            assert row["Date"], row
            assert row["Where"], row


def facts_in(data: Any) -> list[dict[str, Any]]:
    """Every number with evidence inside plain data."""
    if isinstance(data, dict):
        own = [data] if {"v", "how", "src"} <= set(data) else []
        return own + [fact for value in data.values() for fact in facts_in(value)]
    return [fact for item in data for fact in facts_in(item)] if isinstance(data, list) else []


def test_texts_are_never_formulas(design: Design) -> None:
    """A case named like a formula is a name: nothing that a user writes runs in somebody's workbook."""
    evil = '=HYPERLINK("http://example.com","x")'
    line = design.result.bom[0].model_copy(update={"note": evil, "price_source": "@evil"})
    made = workbook(with_result(design, case=evil, bom=(line, *design.result.bom[1:])), SHIPPED)
    book = opened(made)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if "HYPERLINK" in str(cell.value)]
    assert len(cells) >= len(SHEETS)
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr"}


def test_the_same_design_gives_the_same_bytes(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also another day, and however long the run took; the file bears a fixed date."""
    import time

    made = workbook(design, SHIPPED)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 100_000)
    assert workbook(with_result(design, seconds=77.7), SHIPPED) == made
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert b"2000-01-01T00:00:00Z" in archive.read("docProps/core.xml")
    assert export(design, SHIPPED, "workbook") == {"bom.xlsx": made}


# --- sensitivity ------------------------------------------------------------------------------------------------------


def study_of(design: Design, line: BomLine, to_usd: float | None) -> Sensitivity:
    """A study in which the price of one line may move between half of it and a limit."""
    totals = total(design)
    summary = DesignSummary(cost_usd=totals.cost_usd, power_max_w=1, tco_usd=totals.tco_usd, fabrics={}, parts={})
    low = line.unit_price_usd / 2

    def piece(start: float, end: float | None, *change: str) -> PricePiece:
        return PricePiece(from_usd=start, to_usd=end, quantity=1, design=summary, change=change)

    found = PriceRange(
        part=line.part,
        kind=line.kind,
        in_design=True,
        price_usd=line.unit_price_usd,
        price_how=line.price_how,
        stays_from_usd=low,
        stays_to_usd=to_usd,
        looked_to_usd=1e6,
        pieces=(piece(0, low, "+9 x cheap"), piece(low, to_usd), piece(to_usd or 0, None, "-1 x this", "+1 x other")),
    )
    outside = found.model_copy(update={"part": "never-bought", "in_design": False})
    band = {"low_usd": 1, "high_usd": 2, "price_usd": 1.5, "price_how": "read", "at_low_usd": 7, "at_high_usd": 8}
    return Sensitivity(
        study="sensitivity",
        case=design.result.case,
        objective="cost",
        status=Status.OPTIMAL,
        engine="highs",
        solves=1,
        catalog_version=design.result.catalog_version,
        gpunet_version="0",
        design=summary,
        value=totals.cost_usd,
        prices=(found, outside),
        never=("gold-cable",),
        steps=(
            Step(
                setting="cluster.gpus",
                direction="up",
                unit="GPUs",
                value=64,
                holds_to=96,
                next_value=104,
                cost_change_usd=1234.5,
                power_change_w=5,
                change=("+1 x leaf",),
                looked_to=200,
            ),
        ),
        headroom=(Headroom(what="free ports", where="backend leaf", amount=4, unit="ports"),),
        limits=(Worth(setting="limits.skus", change="13", value=5, saved=2, design_change=("-1 x b",)),),
        bands=(Band(part=line.part, changes_design=False, **band),),
        regrets=(
            Regret(
                name="low", worst_regret_usd=3, worst_scenario="high", by_scenario_usd={}, change=(), design=summary
            ),
        ),
        notes=("not looked at: prices of NICs",),
    )


def words(book: Any, name: str = "Sensitivity") -> list[str]:
    """Every text of a sheet."""
    return [str(value) for row in book[name].iter_rows(values_only=True) for value in row if value is not None]


def test_without_a_study_the_sheet_says_how_to_get_one(design: Design) -> None:
    """The commands stand there as they are typed."""
    assert set(HOW_TO) <= set(words(opened(workbook(design, SHIPPED))))
    for command in HOW_TO:
        name, options = command.split()[1], [word for word in command.split() if word.startswith("-")]
        help_text = CliRunner().invoke(cli.app, [name, "--help"]).stdout
        assert all(f"{option} " in help_text or f"{option}\n" in help_text for option in options)


@pytest.mark.parametrize(
    ("name", "verdict"), [("within", "yes"), ("above", "no: run again"), ("below", "no: run again")]
)
def test_a_typed_price_is_held_against_its_range(reckoned: dict[str, Any], name: str, verdict: str) -> None:
    """Within the range the design stays the best; above or below, the sheet says to run again."""
    rows = list(reckoned[name]["Sensitivity"].iter_rows(values_only=True))
    head = next(i for i, row in enumerate(rows) if row[0] == "Part or setting")
    inside, outside = (dict(zip(rows[head], row, strict=True)) for row in rows[head + 1 : head + 3])
    assert inside["Still the best?"] == verdict
    assert (inside["Below that"], inside["Above that"]) == ("+9 x cheap", "-1 x this; +1 x other")
    assert outside["Still the best?"] is None


def test_all_of_a_study_is_told(design: Design) -> None:
    """Steps, free room, limits, price bands, regrets and what was left out."""
    texts = words(opened(workbook(design, SHIPPED, study_of(design, *studied(design)))))
    for text in ("cluster.gpus", "+1 x leaf", "free ports", "limits.skus", "not looked at: prices of NICs", "as today"):
        assert text in texts
    assert any("gold-cable" in text for text in texts)


def test_an_open_range_has_no_upper_end(design: Design) -> None:
    """Where no price ends the range, the sheet says any."""
    made = workbook(design, SHIPPED, study_of(design, design.result.bom[0], None))
    assert "any" in words(opened(made))


@pytest.mark.parametrize("field", ["case", "objective", "catalog_version"])
def test_a_study_of_something_else_is_refused(design: Design, field: str) -> None:
    """Ranges of another case, goal or catalogue say nothing about this design."""
    study = study_of(design, design.result.bom[0], None).model_copy(update={field: "other"})
    with pytest.raises(ValueError, match="other"):
        workbook(design, SHIPPED, study)


def test_a_design_without_totals_has_no_workbook(design: Design) -> None:
    """A result without a design is refused, not written as an empty file."""
    with pytest.raises(ValueError, match="no design"):
        workbook(with_result(design, totals=None), SHIPPED)


def test_the_command_takes_a_study(design: Design, tmp_path: Path) -> None:
    """From a folder and the JSON of a study; what is no study is named with what was expected."""
    (tmp_path / "design.json").write_text(write_design(design), encoding="utf-8")
    study = study_of(design, design.result.bom[0], None)
    (tmp_path / "study.json").write_text(study.model_dump_json(), encoding="utf-8")
    place = tmp_path / "bom.xlsx"

    def run(*more: str) -> Any:
        return CliRunner().invoke(cli.app, ["workbook", str(tmp_path), "-o", str(place), *more])

    done = run("--study", str(tmp_path / "study.json"))
    assert (done.exit_code, done.stdout) == (Exit.DONE, "")
    assert place.read_bytes() == workbook(design, SHIPPED, study)
    for name, text, reason in (
        ("none.json", None, "no such file"),
        ("list.json", "[]", "what gpunet sensitivity --json prints"),
        ("design.json", None, "what gpunet sensitivity --json prints"),
        ("study.json", study.model_copy(update={"case": "x"}).model_dump_json(), "the study is of case x"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
        done = run("--study", str(tmp_path / name))
        assert done.exit_code == Exit.BAD_INPUT
        assert reason in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    with pytest.raises(InputError):
        read_study(tmp_path)


def test_a_catalogue_of_ones_own_needs_no_vendor_words() -> None:
    """Parts that the shipped catalogue does not know stand in the bill like any other."""
    rows, _ = table(opened(workbook(two_by_two(), HAND)), "BOM")
    assert {row["Part"]: row["Vendor"] for row in rows}["ib-tiny-8"] == "northstar"
