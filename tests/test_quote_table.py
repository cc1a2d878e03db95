"""Suppliers' tables as they come: under any name, in any encoding, with formulas, hidden sheets and long heads."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import openpyxl
import pytest

from gpunet.catalogs import load_catalog
from gpunet.models.problems import InputError
from gpunet.models.quote import QuoteImport
from gpunet.quote_import import ImportOptions, import_quote

CATALOG = load_catalog()
HEAD = ["Part Number", "Qty", "Unit Price"]
ROW: list[object] = ["QM9700", 12, 31000]
TEXT = "Part Number,Qty,Unit Price\nQM9700,12,31000.00\n"


def read(folder: Path, name: str, content: bytes, options: ImportOptions | None = None) -> QuoteImport:
    path = folder / name
    path.write_bytes(content)
    return import_quote(path, CATALOG, options)


def refused(folder: Path, name: str, content: bytes, options: ImportOptions | None = None) -> str:
    with pytest.raises(InputError) as error:
        read(folder, name, content, options)
    return error.value.problems[0].render().removeprefix(f"{folder / name}:").strip()


def book_of(*sheets: tuple[str, list[list[object]]], hidden: tuple[str, ...] = (), number_format: str = "") -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        sheet.sheet_state = "hidden" if name in hidden else "visible"
        if number_format:
            sheet["C2"].number_format = number_format
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def is_the_switch(found: QuoteImport) -> bool:
    return [(x.part, x.quantity, x.unit_usd) for x in found.quote.lines] == [("ib-qm9700", 12, 31000)]


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.xls", "a.ods", "a.txt", "a"])
def test_what_a_file_is_follows_from_what_stands_in_it(tmp_path: Path, name: str) -> None:
    """The name of a file tells nothing."""
    assert is_the_switch(read(tmp_path, name, TEXT.encode()))
    assert is_the_switch(read(tmp_path, name, book_of(("P", [list(HEAD), ROW]))))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    """With or without a mark of its order, and with letters beyond ASCII."""
    text = "Part Number;Qty;Unit Price;Description\nQM9700;12;31.000,00;Schalter f\u00fcr R\u00e4ume\n"
    assert is_the_switch(read(tmp_path, "a.csv", text.encode(encoding)))


def test_a_first_line_names_the_delimiter(tmp_path: Path) -> None:
    """Spreadsheet programs write ``sep=`` above a table."""
    assert is_the_switch(read(tmp_path, "a.csv", b"sep=;\r\n" + TEXT.replace(",", ";").encode()))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "a workbook in the old form (.xls), or under a password"),
        (b"<html><table><tr><td>Part", "a page of HTML or XML"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>", "a page of HTML or XML"),
        (b"PK\x03\x04" + bytes(50), "no workbook that can be read"),
    ],
)
def test_what_is_no_table_is_told_by_what_it_is(tmp_path: Path, content: bytes, says: str) -> None:
    """Whatever the file is called."""
    assert says in refused(tmp_path, "a.csv", content)
    assert says in refused(tmp_path, "a.xlsx", content)


def test_a_cell_without_end(tmp_path: Path) -> None:
    """A cell beyond what CSV readers take is told at its row, also where quotes that do not end make it."""
    limit = csv.field_size_limit()
    says = f"found a cell of more than {limit:,} characters"
    assert refused(tmp_path, "a.csv", (TEXT + "x" * (limit + 1) + ",1,1\n").encode()).startswith(f"3: {says}")
    assert refused(tmp_path, "b.csv", (TEXT + '"' + "QM9700,1,1\n" * (limit // 8)).encode()).startswith(f"3: {says}")


def test_headings_below_a_long_head(tmp_path: Path) -> None:
    """Terms of a hundred lines may stand above a table, in CSV and in a workbook."""
    terms = "Our terms, all of them, hold; no others do.\n" * 100
    assert is_the_switch(read(tmp_path, "a.csv", (terms + TEXT.replace(",", ";")).encode()))
    rows: list[list[object]] = [["Our terms"] for _ in range(100)]
    assert is_the_switch(read(tmp_path, "a.xlsx", book_of(("P", [*rows, list(HEAD), ROW]))))


def test_hidden_sheets_are_read_only_by_name(tmp_path: Path) -> None:
    """What the supplier has put out of sight is not the quote, unless somebody says so."""
    old: list[list[object]] = [list(HEAD), ["QM9700", 1, 99]]
    both = book_of(("Costs", old), ("Quote", [list(HEAD), ROW]), hidden=("Costs",))
    assert is_the_switch(read(tmp_path, "a.xlsx", both))
    assert read(tmp_path, "a.xlsx", both, ImportOptions(sheet="Costs")).quote.lines[0].unit_usd == 99
    none = book_of(("Costs", old), ("Quote", []), hidden=("Costs",))
    assert "--sheet 'Costs'" in refused(tmp_path, "b.xlsx", none)


def test_formulas_without_results(tmp_path: Path) -> None:
    """A price that was never worked out is told as a formula; where nobody needs the cell it does no harm."""
    bad = book_of(("P", [list(HEAD), ["QM9700", 12, "=62000/2"]]))
    assert refused(tmp_path, "a.xlsx", bad).startswith(
        "2:3: P!C2: found '=62000/2, a formula saved without its result', expected a price"
    )
    good = book_of(("P", [[*HEAD, "Total"], [*ROW, "=B2*C2"], ["Total", None, None, "=SUM(D2:D2)"]]))
    assert is_the_switch(read(tmp_path, "b.xlsx", good))


@pytest.mark.parametrize("shape", ["[$€-407]#,##0.00", "#,##0.00\\ [$EUR]", '"€"#,##0.00', "_-[$£-809]* #,##0.00_-"])
def test_currencies_in_number_formats(tmp_path: Path, shape: str) -> None:
    """A workbook may name the currency of a number in its format alone."""
    says = refused(tmp_path, "a.xlsx", book_of(("P", [list(HEAD), ROW]), number_format=shape))
    assert says.startswith("2:3: P!C2: found ")
    assert "expected USD" in says


@pytest.mark.parametrize("shape", ["[$$-409]#,##0.00", '"$"#,##0.00', "[Red]#,##0", "[$-409]#,##0"])
def test_dollars_in_number_formats(tmp_path: Path, shape: str) -> None:
    """Dollars, colours and countries are no other currency."""
    assert is_the_switch(read(tmp_path, "a.xlsx", book_of(("P", [list(HEAD), ROW]), number_format=shape)))


def test_merged_headings(tmp_path: Path) -> None:
    """A title over several columns and a part over several rows leave cells empty, and no row is taken twice."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for row in [["Quote for switches"], list(HEAD), ROW, [None, 3, 5]]:
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("A3:A4")
    stream = io.BytesIO()
    book.save(stream)
    found = read(tmp_path, "a.xlsx", stream.getvalue())
    assert is_the_switch(found)
    assert found.notes == ("row 4 has no part number and is left out: '3'",)
