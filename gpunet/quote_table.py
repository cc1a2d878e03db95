"""Reads a supplier's table, CSV or Excel, into rows of cells that know where they stand."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

from gpunet.models.problems import InputError, Problem, quoted

MOST_BYTES = 20_000_000
MOST_ROWS = 100_000
MOST_COLUMNS = 200
DELIMITERS = ",;\t|"
_LINES_SAMPLED = 2_000
"""Lines that tell the delimiter of a CSV: enough for what stands above a table."""
_ZIP, _OLD_WORKBOOK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""First bytes of a workbook, and of one in the old binary form or under a password."""
_SEPARATOR = re.compile(r'"?sep=(.)"?[ ,;\t]*\r?\n', re.IGNORECASE)
"""First line by which spreadsheet programs say what stands between the cells."""

_LOCALE = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
"""A currency and a country in a number format: ``[$€-407]``."""

Value = str | float | int | date | None


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    number: int
    """Row in the file, from 1; of a CSV the line on which the row begins."""
    cells: tuple[Value, ...]
    shown: Mapping[int, str] = field(default_factory=dict)
    """Column -> number format, for numbers of a workbook: a currency may stand there alone."""

    def text(self, column: int) -> str:
        """What stands in a column, as text without spaces around it; empty where there is nothing."""
        value = self.cells[column] if column < len(self.cells) else None
        if value is None:
            return ""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return str(value).strip()

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands in the row."""
        return not any(self.text(column) for column in range(len(self.cells)))


@dataclass(frozen=True)
class Grid:
    """A table as it stands in a file."""

    file: str
    rows: tuple[Row, ...]
    sheet: str = ""
    """Sheet of a workbook; empty for a CSV."""
    delimiter: str = ""
    """What stands between the cells of a CSV; empty for a workbook."""

    def problem(self, row: int, column: int | None, found: str = "", expected: str = "", nearest: str = "") -> Problem:
        """A problem at a cell: the row as line, the column by its letters in a workbook, else by its number."""
        name = "" if column is None else f"column {letters(column)}" if self.sheet else f"column {column + 1}"
        place = f"{self.sheet}!{letters(column)}{row}" if self.sheet and column is not None else name
        return Problem(self.file, row, None if column is None else column + 1, place, found, expected, nearest)


def letters(column: int) -> str:
    """Name of a column of a workbook, from 0: ``A``, ``Z``, ``AA``."""
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def read_grid(path: str | Path, sheet: str | None = None, delimiter: str | None = None) -> Grid:
    """The table in a file. Raises ``InputError`` where there is none that can be read.

    What a file is follows from what stands in it, for suppliers name a workbook ``.csv`` and a CSV ``.xls``. ``sheet``
    names one of a workbook's sheets; without it the first that is not hidden and holds anything is read. ``delimiter``
    is what stands between the cells of a CSV; without it, the one that the file names in a first line ``sep=``, or the
    one of comma, semicolon, tab and bar that splits most rows alike.
    """
    file = str(path)
    content = _bytes(Path(path), file)
    if content.startswith(_ZIP):
        return _workbook(file, content, sheet)
    if content.startswith(_OLD_WORKBOOK):
        found = "a workbook in the old form (.xls), or under a password"
        _refuse(file, found, "CSV, or a workbook saved as .xlsx without a password")
    if re.match(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|table|\?xml)", content, re.IGNORECASE):
        _refuse(file, "a page of HTML or XML, whatever its name", "CSV, or a workbook saved as .xlsx")
    if sheet is not None:
        _refuse(file, "a CSV file, which has no sheets", "--sheet with a workbook only")
    return _csv(file, content, delimiter)


def _bytes(path: Path, file: str) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError([Problem(file, message="no such file")]) from None
    except IsADirectoryError:
        raise InputError([Problem(file, found="a directory", expected="a quote: CSV or .xlsx")]) from None
    except (OSError, ValueError) as error:
        says = getattr(error, "strerror", None) or str(error)
        raise InputError([Problem(file, message=f"cannot be read: {says}")]) from None
    if len(content) > MOST_BYTES:
        _refuse(file, f"more than {MOST_BYTES:,} bytes", "a quote, which is far smaller")
    if not content.strip():
        _refuse(file, "an empty file", "a table with a row of headings")
    return content


def _refuse(file: str, found: str, expected: str) -> None:
    raise InputError([Problem(file, found=found, expected=expected)])


# --- CSV --------------------------------------------------------------------------------------------------------------


def _csv(file: str, content: bytes, delimiter: str | None) -> Grid:
    text = _decoded(file, content)
    chosen = delimiter or _delimiter(text)
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=chosen, strict=True)
    try:
        begins = 1
        for cells in reader:
            rows.append(Row(begins, tuple(cell.strip() or None for cell in cells)))
            _check_size(file, rows[-1], len(rows))
            begins = reader.line_num + 1
    except csv.Error as error:
        long = "field larger" in str(error)
        found = (
            f"a cell of more than {csv.field_size_limit():,} characters"
            if long
            else f"a row that does not end: {error}"
        )
        expected = "cells far shorter, and quotes in pairs" if long else "quotes in pairs"
        raise InputError([Problem(file, begins, found=found, expected=expected)]) from None
    return Grid(file, tuple(rows), delimiter=chosen)


def _decoded(file: str, content: bytes) -> str:
    encodings = ["utf-16"] if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252"]
    if b"\0" in content[:2]:  # UTF-16 without its mark: a table begins with letters of one byte
        encodings = ["utf-16-be" if content[:1] == b"\0" else "utf-16-le"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise InputError([Problem(file, found="bytes that are no text", expected="CSV in UTF-8, UTF-16 or Windows-1252")])


def _delimiter(text: str) -> str:
    """The delimiter that the first line names, else one that gives a row of headings, for prose above a table has more
    commas than the table; among several, and where none does, the one that gives the most cells in rows of equal width.
    """
    from gpunet.quote_columns import are_headings

    said = _SEPARATOR.match(text)
    if said and said[1] in DELIMITERS:
        return said[1]
    sample = text.splitlines()[:_LINES_SAMPLED]

    def score(mark: str) -> tuple[bool, int, int]:
        widths: dict[int, int] = {}
        heads = False
        try:
            for cells in csv.reader(sample, delimiter=mark):
                if len(cells) > 1:
                    widths[len(cells)] = widths.get(len(cells), 0) + 1
                    heads = heads or are_headings(cells)
        except csv.Error:
            return heads, 0, 0
        width = max(widths, key=lambda n: (widths[n] * (n - 1), n), default=0)
        return heads, widths.get(width, 0) * (width - 1), -DELIMITERS.index(mark)

    return max(DELIMITERS, key=score)


# --- workbooks --------------------------------------------------------------------------------------------------------


def _workbook(file: str, content: bytes, wanted: str | None) -> Grid:
    book = _opened(file, content, data_only=True)
    try:
        names = book.sheetnames
        if wanted is not None and wanted not in names:
            from gpunet.catalogs.schema_words import nearest

            found, expected = f"no sheet {quoted(wanted)}", f"one of {', '.join(names)}"
            raise InputError([Problem(file, found=found, expected=expected, nearest=nearest(wanted, names))])
        hidden = [name for name in names if book[name].sheet_state != "visible"]
        for name in [wanted] if wanted is not None else [name for name in names if name not in hidden]:
            rows = tuple(_sheet_rows(file, book[name], partial(_formulas, file, content, name)))
            if any(not row.is_empty for row in rows):
                return Grid(file, rows, sheet=name)
    finally:
        book.close()
    more = f"; of hidden ones, one is read where it is named: --sheet {quoted(hidden[0])}" if hidden else ""
    raise InputError([Problem(file, found="only empty sheets", expected=f"a table with a row of headings{more}")])


def _opened(file: str, content: bytes, *, data_only: bool) -> Any:
    """The workbook, with the results of its formulas or with the formulas themselves."""
    import warnings

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return openpyxl.load_workbook(io.BytesIO(content), data_only=data_only, read_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError):
        expected = "CSV, or a workbook saved as .xlsx"
        raise InputError([Problem(file, found="no workbook that can be read", expected=expected)]) from None


def _formulas(file: str, content: bytes, sheet: str) -> dict[tuple[int, int], str]:
    """Formulas of a sheet by row and column, both from 1."""
    book = _opened(file, content, data_only=False)
    try:
        cells = (cell for row in book[sheet].iter_rows() for cell in row if cell.data_type == "f")
        return {(cell.row, cell.column): str(getattr(cell.value, "text", cell.value)) for cell in cells}
    finally:
        book.close()


def _sheet_rows(file: str, sheet: Any, formulas: Callable[[], dict[tuple[int, int], str]]) -> Iterator[Row]:
    """Rows of a sheet. A formula whose result was never saved stands as its text: it is no empty cell, and no value."""
    if not hasattr(sheet, "iter_rows"):  # a sheet that holds a chart alone
        return
    unsaved = formulas()
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        values: list[Value] = []
        shown: dict[int, str] = {}
        for column, cell in enumerate(cells):
            value = _value(cell.value)
            formula = unsaved.get((number, column + 1))
            if value is None and formula is not None and cell.data_type != "str":
                value = f"{formula}, a formula saved without its result"
            if isinstance(value, int | float):
                shown[column] = _LOCALE.sub(r"\1", cell.number_format)
            values.append(value)
        row = Row(number, tuple(values), shown)
        _check_size(file, row, number)
        yield row


def _value(cell: object) -> Value:
    if isinstance(cell, bool) or cell is None:
        return None if cell is None else str(cell)
    if isinstance(cell, datetime):
        return cell.date()
    if isinstance(cell, int | float | date):
        return cell
    return str(cell).strip() or None


def _check_size(file: str, row: Row, count: int) -> None:
    if count > MOST_ROWS:
        _refuse(file, f"more than {MOST_ROWS:,} rows", "a quote, which is far shorter")
    if len(row.cells) > MOST_COLUMNS and any(row.text(n) for n in range(MOST_COLUMNS, len(row.cells))):
        _refuse(file, f"more than {MOST_COLUMNS} columns", "a quote, which is far narrower")
