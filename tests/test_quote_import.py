"""Suppliers' tables become quote files: every dialect is read, every mistake is told, and no near match is taken."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gpunet
from gpunet import cli
from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog, medium_id
from gpunet.catalogs.part_numbers import PartNumbers
from gpunet.models.problems import InputError
from gpunet.models.quote import QuoteFile, QuoteLine, QuoteStep, UnmatchedLine
from gpunet.quote_columns import HEADINGS, LABELS
from gpunet.quote_file import overrides_of, read_quote, write_quote
from gpunet.quote_import import ImportOptions, import_quote
from gpunet.quote_values import CellError, day, money, pieces, weeks
from gpunet.shell import Exit

ROOT = Path(__file__).parent.parent
CATALOG = load_catalog()
NUMBERS = PartNumbers(CATALOG)
HEAD = ["Part Number", "Qty", "Unit Price (USD)"]
SWITCH, MODULE, JUMPER = ["QM9700", "12", "31000"], ["MMA4Z00-NS", "384", "849.50"], ["MFP7E10-N030", "416", "68.5"]


def text_of(rows: list[list[str]], **dialect: Any) -> str:
    stream = io.StringIO()
    csv.writer(stream, **dialect).writerows(rows)
    return stream.getvalue()


def table(folder: Path, rows: list[list[str]], name: str = "acme.csv", encoding: str = "utf-8", **dialect: Any) -> Path:
    path = folder / name
    path.write_bytes(text_of(rows, **dialect).encode(encoding))
    return path


def prices_of(quote: QuoteFile) -> dict[str, tuple[int | None, float]]:
    return {line.part: (line.quantity, line.unit_usd) for line in quote.lines}


def problems_of(path: Path, options: ImportOptions | None = None) -> list[str]:
    with pytest.raises(InputError) as error:
        import_quote(path, CATALOG, options)
    return [problem.render().removeprefix(f"{path}:") for problem in error.value.problems]


ALL_THREE = {
    "ib-qm9700": (12, 31000.0),
    "nv-mma4z00-ns": (384, 849.5),
    "nv-mfp7e10-n030": (416, 68.5),
}


# --- dialects ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "dialect"),
    [
        ("utf-8", {}),
        ("utf-8-sig", {"delimiter": ";"}),
        ("utf-16", {"delimiter": "\t"}),
        ("cp1252", {"delimiter": "|", "quoting": csv.QUOTE_ALL}),
    ],
)
def test_dialects_of_csv(tmp_path: Path, encoding: str, dialect: dict[str, Any]) -> None:
    """Delimiter, quotes and encoding make no difference."""
    rows = [HEAD, SWITCH, MODULE, JUMPER]
    found = import_quote(table(tmp_path, rows, encoding=encoding, **dialect), CATALOG)
    assert prices_of(found.quote) == ALL_THREE
    assert not found.quote.unmatched


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook(tmp_path: Path) -> None:
    """Numbers, days and empty sheets of a workbook are what they are; the head above the table is read."""
    rows: list[list[object]] = [
        ["Quote number", "Q-7"],
        ["Quote date:", datetime.datetime(2026, 11, 16)],
        ["Valid until: 31 December 2026"],
        [],
        [*HEAD, "Lead time (days)"],
        ["QM9700", 12, 31000, 84],
        ["MMA4Z00-NS", 384.0, 849.5, None],
        ["MFP7E10-N030", 416, 68.5, "in stock"],
    ]
    path = workbook(tmp_path / "acme.xlsx", {"Cover": [], "Prices": rows, "Other": [["x"]]})
    found = import_quote(path, CATALOG)
    quote = found.quote
    assert prices_of(quote) == ALL_THREE
    assert (quote.reference, quote.date, quote.valid_until) == ("Q-7", "2026-11-16", "2026-12-31")
    assert [line.lead_time_weeks for line in quote.lines] == [12, None, 0]
    assert problems_of(path, ImportOptions(sheet="Prise")) == [
        " found no sheet 'Prise', expected one of Cover, Prices, Other; nearest: Prices"
    ]
    bad = workbook(tmp_path / "bad.xlsx", {"P": [list(HEAD), ["QM9700", "a few", 1]]})
    assert problems_of(bad) == ["2:2: P!B2: found 'a few', expected a whole number of pieces"]


@pytest.mark.parametrize("meaning", ["part", "quantity", "price", "lead time", "valid until", "minimum"])
def test_every_listed_heading_is_known(tmp_path: Path, meaning: str) -> None:
    """Each heading of the documented list is taken for what it stands for, also in capitals and with a unit."""
    cells = {"part": "QM9700", "price": "31000", "quantity": "12", "lead time": "3", "minimum": "2"}
    cells["valid until"] = "2026-12-31"
    for heading in HEADINGS[meaning]:
        heads = {"part": "Part Number", "price": "Unit Price", meaning: f"{heading.upper()} (x)"}
        rows = [list(heads.values()), [cells[of] for of in heads]]
        found = import_quote(table(tmp_path, rows), CATALOG)
        assert found.columns[meaning] == heads[meaning], heading


def test_headings_of_ones_own(tmp_path: Path) -> None:
    """A column is named by its heading, or by its letter in a workbook; two equal headings are not guessed at."""
    rows = [["Teil", "Preis netto"], ["QM9700", "31000"]]
    path = table(tmp_path, rows)
    told = problems_of(path)
    assert told[0].startswith("1: found 'Teil', 'Preis netto', expected a column for the part")
    assert "--column part=HEADING" in told[0]
    options = ImportOptions(columns={"part": "teil", "price": "Preis netto"})
    assert prices_of(import_quote(path, CATALOG, options).quote) == {"ib-qm9700": (None, 31000.0)}
    book = workbook(tmp_path / "b.xlsx", {"P": [list(row) for row in rows]})
    options = ImportOptions(columns={"part": "A", "price": "B"})
    assert prices_of(import_quote(book, CATALOG, options).quote) == {"ib-qm9700": (None, 31000.0)}
    twice = table(tmp_path, [["Part", "Unit Price", "Unit Price"], ["QM9700", "31000", "30000"]])
    assert problems_of(twice) == [
        "1:3: column 3: found 'Unit Price' over columns 2 and 3, expected one column for the price"
    ]


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("31,000.00", 31000),
        ("$1,249.50", 1249.5),
        ("31.000,00", 31000),
        ("1'249.50", 1249.5),
        ("1 249,50", 1249.5),
        ("USD 879", 879),
        ("1.234.567", 1234567),
        ("included", 0),
        (68.5, 68.5),
    ],
)
def test_prices(text: str | float, value: float) -> None:
    """Money as it is written in many places."""
    assert money(text, None) == value


@pytest.mark.parametrize("text", ["1,249", "31.000", "abc", "-5", "1,2,3", "", "12.34.56,7"])
def test_prices_that_say_nothing_definite(text: str) -> None:
    """What can be read in two ways, or in none, is refused."""
    with pytest.raises(CellError):
        money(text, None)


@given(st.decimals(min_value=0, max_value=10**7, places=2), st.sampled_from(".,"))
def test_any_price_comes_back(value: Any, mark: Any) -> None:
    """A price with two decimals is read back to the cent, whichever mark it is written with."""
    text = f"{value:,.2f}"
    text = text if mark == "." else text.translate(str.maketrans(".,", ",."))
    assert money(text, None) == money(text, mark) == float(value)


def test_the_table_settles_the_decimal_mark(tmp_path: Path) -> None:
    """One number that is clear makes the others clear; two that contradict each other are refused."""
    rows = [HEAD, ["QM9700", "12", "31.000"], ["MMA4Z00-NS", "384", "849,50"]]
    assert prices_of(import_quote(table(tmp_path, rows), CATALOG).quote)["ib-qm9700"] == (12, 31000)
    assert problems_of(table(tmp_path, rows[:2])) == [
        "2:3: column 3: found '31.000', expected a price such as 1,249.00; 31.000 can be read in two ways, so give "
        "--decimal"
    ]
    told = import_quote(table(tmp_path, rows[:2]), CATALOG, ImportOptions(decimal=","))
    assert told.quote.lines[0].unit_usd == 31000
    assert "one decimal mark" in problems_of(table(tmp_path, [*rows, ["MFP7E10-N030", "1", "68.5"]]))[0]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-12-31", "2026-12-31"),
        ("31.12.2026", "2026-12-31"),
        ("12/31/2026", "2026-12-31"),
        ("May 3, 2027", "2027-05-03"),
    ],
)
def test_days(text: str, found: str) -> None:
    """Days in many forms."""
    assert day(text) == found


def test_days_and_times_that_are_refused() -> None:
    """Neither month nor day is guessed, and no word for a delivery time is made up."""
    for text in ("09/10/2026", "soon", "2026-02-30"):
        with pytest.raises(CellError):
            day(text)
    assert [weeks(x) for x in ("12-16 weeks", "21 days", 3)] == [16, 3, 3]
    with pytest.raises(CellError):
        weeks("TBD")
    assert pieces("1,024 pcs", ".") == 1024
    for text in ("0", "1.5", "-2", "many"):
        with pytest.raises(CellError):
            pieces(text, ".")


# --- malformed tables -------------------------------------------------------------------------------------------------


def test_every_bad_cell_is_told(tmp_path: Path) -> None:
    """All mistakes at once, each with row, column, what was found and what was expected."""
    rows = [
        [*HEAD, "Lead time"],
        ["QM9700", "a dozen", "31000.00", ""],
        ["MMA4Z00-NS", "1", "", ""],
        ["x", "1", "1", "TBD"],
    ]
    assert problems_of(table(tmp_path, rows)) == [
        "2:2: column 2: found 'a dozen', expected a whole number of pieces",
        "3:3: column 3: found nothing, expected a unit price",
        "4:4: column 4: found 'TBD', expected a delivery time such as 12 weeks or 60 days",
    ]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "found an empty file"),
        (b"\x89PNG\r\n\0\0\0", "found bytes that are no text"),
        (b"PK\x03\x04junk", "expected CSV, or a workbook saved as .xlsx"),
        (b'Part,Price\n"QM9700,1\n', "expected quotes in pairs"),
        (b"only words\nand more\n", "expected a column for the part"),
        (b"Part,Unit Price\n", "found no row below the headings"),
        (b"Part,Unit Price (EUR)\nQM9700,31000.00\n", "found EUR in 'Unit Price (EUR)', expected USD"),
        ("Part,Unit Price\nQM9700,€31000.00\n".encode(), "found EUR"),
        (b"Part,Price,Currency\nQM9700,31000.00,GBP\n", "found GBP"),
    ],
)
def test_files_that_are_no_quote(tmp_path: Path, content: bytes, says: str) -> None:
    """Each is refused with what was found and what was expected."""
    path = tmp_path / "acme.csv"
    path.write_bytes(content)
    assert says in problems_of(path)[0]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """No file, a folder, and a workbook that is none."""
    assert problems_of(tmp_path / "no.csv") == [" no such file"]
    assert "a directory" in problems_of(tmp_path)[0]
    fake = tmp_path / "fake.xlsx"
    fake.write_bytes(b"PK\x03\x04 and nothing more")
    assert problems_of(fake) == [" found no workbook that can be read, expected CSV, or a workbook saved as .xlsx"]


@settings(max_examples=40)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".xlsx"]))
def test_noise_never_ends_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, noise: bytes, ending: str) -> None:
    """Whatever stands in a file, the answer is a quote or a message."""
    path = tmp_path_factory.mktemp("noise") / f"x{ending}"
    path.write_bytes(b"Part,Price\n" + noise if ending == ".csv" else noise)
    with contextlib.suppress(InputError):
        assert import_quote(path, CATALOG).quote.lines


# --- part numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "part"),
    [
        ("MFP7E10-N030", "nv-mfp7e10-n030"),
        ("mfp7e10 - n025", "nv-mfp7e10-n025"),
        ("MCP4Y10-N00A", "nv-mcp4y10-n000.5"),
        ("MCP4Y10-N01A", "nv-mcp4y10-n001.5"),
        ("980-9IA0F-00N001", "nv-mcp4y10-n001"),
        ("MFS1S00-H050V", "nv-mfs1s00-v-n050"),
        ("MCP1650-H001E30", "nv-mcp1650-n001"),
        ("MCP7F80-W02AR26", "nv-mcp7f80-n002.5"),
        ("DAC-SFP-25G-3M", "gen-dac-sfp28-n003"),
        ("MCP1600-C00A", "gen-dac-qsfp28-n000.5"),
        ("QDD-400G-PC003", "gen-dac-qdd400-n003"),
        ("LC-LC duplex OS2 10m", "gen-lc-os2-n010"),
        ("MMA4Z00-NS", "nv-mma4z00-ns"),
        ("980-9I30G-00NM00", "nv-mms4x00-nm"),
        ("QM9790", "ib-qm9700"),
        ("MCX75310AAS-NEAT", "cx7-osfp"),
        ("DGX H100", "dgx-h100"),
        ("osfp-800g-2dr4", "osfp-800g-2dr4"),
    ],
)
def test_numbers_that_suppliers_write(number: str, part: str) -> None:
    """Ids, part numbers, order codes and models, with the length suffixes of the vendors."""
    assert NUMBERS.find(number).part == part


def test_every_number_of_the_catalogue_is_found_or_told_apart() -> None:
    """Each id and stock length finds itself; each part number finds a part that has it, or says that several have."""
    for stem in ("switches", "nics", "modules", "servers"):
        for part in getattr(CATALOG, stem).values():
            assert NUMBERS.find(part.id).part == part.id
            for number in part.part_numbers:
                found = NUMBERS.find(number)
                assert found.part == part.id or part.id in found.nearest, number
    for medium in (*CATALOG.cables.values(), *CATALOG.fibres.values()):
        for stock in medium.lengths:
            assert NUMBERS.find(medium_id(medium.id, stock.length_m)).part == medium_id(medium.id, stock.length_m)


@pytest.mark.parametrize(
    ("number", "why", "nearest"),
    [
        ("MQM9700-NS2F", "no part of the catalogue has this number", "ib-qm9700"),
        ("MFP7E10-N033", "the catalogue has no nv-mfp7e10 of 33 m", "nv-mfp7e10-n035"),
        ("MFP7E10", "nv-mfp7e10 is sold by length, and no length is given", "nv-mfp7e10-n003"),
        ("MMS4A00", "2 parts of the catalogue have this number", "nv-mms4a00-ihs"),
        ("OSFP-400G-DR4", "2 parts of the catalogue have this number", "osfp112-400g-dr4"),
        ("MMA4Z00-NX", "no part of the catalogue has this number", "nv-mma4z00-ns"),
    ],
)
def test_near_matches_are_named_and_never_taken(number: str, why: str, nearest: str) -> None:
    """An unknown number, a length that is not sold, none at all, and one number for two parts."""
    found = NUMBERS.find(number)
    assert found.part is None
    assert found.why == why
    assert nearest in found.nearest


@given(st.text(max_size=30))
def test_no_text_finds_a_part_by_chance(text: str) -> None:
    """A part is found only under a name that, spaces and capitals aside, is one of its own."""
    found = NUMBERS.find(text)
    assert found.part is None or found.by in ("id", "part number", "model", "length")


def test_unmatched_rows_price_nothing(tmp_path: Path) -> None:
    """Rows without a part are kept for the record, and --as takes them on the user's word."""
    rows = [HEAD, ["MQM9700-NS2F", "12", "31000.00"], MODULE, ["Install", "1", "500"], ["Total", "", "99"]]
    path = table(tmp_path, rows)
    found = import_quote(path, CATALOG)
    assert prices_of(found.quote) == {"nv-mma4z00-ns": (384, 849.5)}
    assert next((x.sku, x.nearest[:1], x.row) for x in found.quote.unmatched) == ("MQM9700-NS2F", ("ib-qm9700",), 2)
    assert any("row 5" in note for note in found.notes)
    told = import_quote(path, CATALOG, ImportOptions(aliases={"mqm9700-ns2f": "ib-qm9700"}))
    assert prices_of(told.quote)["ib-qm9700"] == (12, 31000)
    wrong = ImportOptions(aliases={"MQM9700-NS2F": "ib-qm970"})
    assert "nearest: ib-qm9700" in problems_of(path, wrong)[0]
    only = table(tmp_path, rows[:2])
    assert problems_of(only) == [
        "2:1: column 1: found 'MQM9700-NS2F', expected a part number of the catalogue, or --as NUMBER=ID; "
        "nearest: ib-qm9700"
    ]


def test_a_part_in_two_rows(tmp_path: Path) -> None:
    """At one price the quantities add up; at two prices the quote is refused."""
    same = [HEAD, MODULE, MODULE]
    assert prices_of(import_quote(table(tmp_path, same), CATALOG).quote) == {"nv-mma4z00-ns": (768, 849.5)}
    assert problems_of(table(tmp_path, [HEAD, MODULE, ["MMA4Z00-NS", "1", "800.00"]])) == [
        "3:3: column 3: found nv-mma4z00-ns again, at 800.00, expected the price of row 2, 849.50; a quote has one "
        "price per part"
    ]


def test_sums_that_do_not_add_up_are_told(tmp_path: Path) -> None:
    """Where the supplier's total is not quantity times price, somebody should ask."""
    rows = [[*HEAD, "Ext. Price"], [*MODULE, "326208.00"], [*JUMPER, "28000.00"]]
    notes = import_quote(table(tmp_path, rows), CATALOG).notes
    assert notes == ("row 3: 416 x 68.50 is 28,496.00, and the quote says 28,000.00",)


def test_a_length_in_a_column_of_its_own(tmp_path: Path) -> None:
    """A number without length and a length beside it are one part."""
    rows = [[*HEAD, "Length"], ["MFP7E10", "4", "68.50", "30 m"]]
    assert import_quote(table(tmp_path, rows), CATALOG).quote.lines[0].part == "nv-mfp7e10-n030"


def test_validity(tmp_path: Path) -> None:
    """The earliest day holds; a quote that has lapsed says so, and one that ends before it begins is none."""
    rows = [[*HEAD, "Valid until"], [*SWITCH, "2026-12-31"], [*MODULE, "2026-11-30"]]
    path = table(tmp_path, rows)
    found = import_quote(path, CATALOG, today="2026-12-01")
    assert found.quote.valid_until == "2026-11-30"
    assert found.lapsed_on == "2026-12-01"
    assert import_quote(path, CATALOG, today="2026-11-30").lapsed_on is None
    assert "expected a day from its date" in problems_of(path, ImportOptions(date="2026-12-15"))[0]


# --- quote files ------------------------------------------------------------------------------------------------------

PARTS = st.sampled_from(["ib-qm9700", "nv-mma4z00-ns", "nv-mfp7e10-n030", "nv-mcp4y10-n000.5"])
WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=20).filter(str.strip)


@st.composite
def quote_files(draw: st.DrawFn) -> QuoteFile:
    lines = [
        QuoteLine(
            part=part,
            unit_usd=draw(st.integers(0, 10**8)) / 100,
            quantity=draw(st.none() | st.integers(1, 1000)),
            at_most=draw(st.none() | st.integers(1, 1000)),
            steps=draw(st.sampled_from([(), (QuoteStep(from_pieces=10, unit_usd=1.5),)])),
            sku=draw(st.just("") | WORDS),
        )
        for part in draw(st.lists(PARTS, min_size=1, unique=True))
    ]
    unmatched = [UnmatchedLine(sku=word, nearest=("ib-qm9700",)) for word in draw(st.lists(WORDS, max_size=2))]
    return QuoteFile(supplier=draw(WORDS), reference=draw(WORDS), date="2026-11-02", lines=lines, unmatched=unmatched)


@settings(max_examples=40)
@given(quote_files())
def test_a_quote_file_reads_back(tmp_path_factory: pytest.TempPathFactory, quote: QuoteFile) -> None:
    """Whatever names a supplier uses, the file that is written holds the same quote."""
    path = tmp_path_factory.mktemp("quote") / "q.yaml"
    path.write_text(write_quote(quote), encoding="utf-8")
    assert read_quote(path, CATALOG) == quote


def test_wrong_quote_files(tmp_path: Path) -> None:
    """Every mistake stands with its line and what was expected."""
    path = tmp_path / "q.yaml"
    path.write_text(
        "supplier: x\ncurrency: EUR\nvalid_until: 31.12.2026\nlines:\n- {part: nv-mfp7e10, unit_usd: 5}\n"
        "- {part: ib-qm970, unit_usd: -1}\n"
    )
    with pytest.raises(InputError) as error:
        read_quote(path, CATALOG)
    told = {(problem.line, problem.path): problem for problem in error.value.problems}
    assert set(told) == {
        (2, "currency"),
        (3, "valid_until"),
        (5, "lines[0].part"),
        (6, "lines[1].part"),
        (6, "lines[1].unit_usd"),
    }
    assert told[6, "lines[1].part"].nearest.startswith("ib-qm9700")
    path.write_text("supplier: x\nlines:\n- {part: ib-qm9700, unit_usd: 5}\n- {part: ib-qm9700, unit_usd: 6}\n")
    with pytest.raises(InputError, match="quoted twice"):
        read_quote(path, CATALOG)


def test_prices_for_a_case(tmp_path: Path) -> None:
    """The prices as a piece of a case file are those of the quote, to the cent."""
    quote = QuoteFile(supplier="x", lines=(QuoteLine(part="ib-qm9700", unit_usd=123456.78),))
    path = tmp_path / "case.yaml"
    path.write_text("cluster: {gpus: 256, server: dgx-h100}\n" + overrides_of(quote))
    assert read_case(path, CATALOG).prices.overrides_usd == {"ib-qm9700": 123456.78}


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    """It writes a quote file once, and says what it could not match."""
    source = ROOT / "cases/quotes/reseller-a.csv"
    out = tmp_path / "a.yaml"
    words = ["quote", "import", str(source), "-o", str(out), "--supplier", "Reseller A"]
    done = CliRunner().invoke(cli.app, [*words, "--as", "MQM9700-NS2F=ib-qm9700"])
    assert done.exit_code == Exit.DONE, done.output
    assert "Freight" in done.stdout
    assert read_quote(out, CATALOG) == read_quote(ROOT / "cases/quotes/reseller-a.yaml", CATALOG)
    again = CliRunner().invoke(cli.app, words)
    assert again.exit_code == Exit.BAD_INPUT
    assert "exists already" in again.stderr
    prices = CliRunner().invoke(cli.app, ["quote", "import", str(source), "--prices"])
    assert "nv-mma4z00-ns: 849\n" in prices.stdout
    for option, word in (("--column", "prise=X"), ("--decimal", "dot"), ("--as", "x"), ("--valid-until", "soon")):
        bad = CliRunner().invoke(cli.app, ["quote", "import", str(source), option, word])
        assert bad.exit_code == Exit.BAD_INPUT, option
        assert option in bad.stderr


def test_python() -> None:
    """The same for programs."""
    found = gpunet.import_quote(ROOT / "cases/quotes/reseller-a.csv", aliases={"MQM9700-NS2F": "ib-qm9700"})
    assert found.quote.lines == gpunet.load_quote(ROOT / "cases/quotes/reseller-a.yaml").lines


# --- quotes in a case -------------------------------------------------------------------------------------------------


def test_a_case_names_its_quotes(tmp_path: Path) -> None:
    """Files are looked for from the folder of the case on; one that is missing or wrong is told."""
    assert [quote.supplier for quote in read_case(ROOT / "cases/quotes-256.yaml", CATALOG).quotes or ()] == [
        "Reseller A",
        "Reseller B",
    ]
    (tmp_path / "acme.yaml").write_text("supplier: acme\nlines:\n- {part: ib-qm9700, unit_usd: x}\n")
    case = tmp_path / "case.yaml"
    case.write_text("cluster: {gpus: 8, server: dgx-h100}\nquotes: [acne.yaml, acme.yaml]\n")
    with pytest.raises(InputError) as error:
        read_case(case, CATALOG)
    told = error.value.problems
    assert {(Path(p.file).name, p.line, p.path) for p in told} == {
        ("case.yaml", 2, "quotes[0]"),
        ("acme.yaml", 3, "lines[0].unit_usd"),
    }
    assert [p.nearest for p in told if p.path == "quotes[0]"] == ["acme.yaml"]
    data = {"cluster": {"gpus": 8, "server": "dgx-h100"}}
    inline = {"supplier": "x", "lines": [{"part": "ib-qm970", "unit_usd": 1}]}
    with pytest.raises(InputError, match="nearest: ib-qm9700"):
        case_from_data({**data, "quotes": [inline]}, CATALOG)
    backwards = {"supplier": "x", "date": "2026-02-01", "valid_until": "2026-01-01"}
    with pytest.raises(InputError, match="valid_until 2026-01-01 is before date 2026-02-01"):
        case_from_data({**data, "quotes": [{**backwards, "lines": [{"part": "ib-qm9700", "unit_usd": 1}]}]}, CATALOG)
    for odd in (3, "", "a\0b"):
        with pytest.raises(InputError, match=r"quotes\[0\]"):
            case_from_data({**data, "quotes": [odd]}, CATALOG)


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_lists_every_heading_and_field() -> None:
    """What a column may be called, what may stand above the table, and every field of a quote file is documented."""
    page = (ROOT / "docs/quotes.md").read_text("utf-8")
    for table_of in (HEADINGS, LABELS):
        for meaning, names in table_of.items():
            assert f"| `{meaning}` | {', '.join(names)} |" in page
    for model in (QuoteFile, QuoteLine):
        for name, field in model.model_fields.items():
            assert f"| `{name}` | {' '.join((field.description or '').replace('``', '`').split())} |" in page
