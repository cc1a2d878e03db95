"""Reads a supplier's table, CSV or Excel, into rows of cells that know where they stand."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from gpunet.models.problems import InputError, Problem, quoted

MOST_BYTES = 20_000_000
MOST_ROWS = 100_000
MOST_COLUMNS = 200
DELIMITERS = ",;\t|"
WORKBOOKS = (".xlsx", ".xlsm")
_OLD_WORKBOOKS = (".xls", ".xlsb", ".ods")

Value = str | float | int | date | None


@dataclass(frozen=True)
class Row:
    """One row of a table."""

    number: int
    """Row in the file, from 1; of a CSV the line on which the row begins."""
    cells: tuple[Value, ...]

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

    ``sheet`` names one of a workbook's sheets; without it the first that holds anything is read. ``delimiter`` is what
    stands between the cells of a CSV; without it, the one of comma, semicolon, tab and bar that splits most rows alike.
    """
    file = str(path)
    content = _bytes(Path(path), file)
    if Path(path).suffix.lower() in WORKBOOKS:
        return _workbook(file, content, sheet)
    if Path(path).suffix.lower() in _OLD_WORKBOOKS or content[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
        _refuse(file, f"a file named {quoted(Path(path).name)}", "CSV, or a workbook saved as .xlsx")
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
        problem = Problem(file, begins, found=f"a row that does not end: {error}", expected="quotes in pairs")
        raise InputError([problem]) from None
    return Grid(file, tuple(rows), delimiter=chosen)


def _decoded(file: str, content: bytes) -> str:
    encodings = ["utf-16"] if content.startswith((b"\xff\xfe", b"\xfe\xff")) else ["utf-8-sig", "cp1252"]
    for encoding in encodings:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise InputError([Problem(file, found="bytes that are no text", expected="CSV in UTF-8, UTF-16 or Windows-1252")])


def _delimiter(text: str) -> str:
    """The delimiter that gives the most cells in rows of equal width; a comma where none splits anything."""
    sample = text.splitlines()[:60]

    def score(mark: str) -> tuple[int, int]:
        widths: dict[int, int] = {}
        try:
            for cells in csv.reader(sample, delimiter=mark):
                if len(cells) > 1:
                    widths[len(cells)] = widths.get(len(cells), 0) + 1
        except csv.Error:
            return 0, 0
        width = max(widths, key=lambda n: (widths[n] * (n - 1), n), default=0)
        return widths.get(width, 0) * (width - 1), -DELIMITERS.index(mark)

    return max(DELIMITERS, key=score)


# --- workbooks --------------------------------------------------------------------------------------------------------


def _workbook(file: str, content: bytes, wanted: str | None) -> Grid:
    import warnings

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), data_only=True, read_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError):
        raise InputError([Problem(file, found="no workbook", expected="a workbook saved as .xlsx")]) from None
    try:
        if wanted is not None and wanted not in book.sheetnames:
            from gpunet.catalogs.schema_words import nearest

            problem = Problem(
                file,
                found=f"no sheet {quoted(wanted)}",
                expected=f"one of {', '.join(book.sheetnames)}",
                nearest=nearest(wanted, book.sheetnames),
            )
            raise InputError([problem])
        for name in [wanted] if wanted is not None else book.sheetnames:
            rows = tuple(_sheet_rows(file, book[name]))
            if any(not row.is_empty for row in rows):
                return Grid(file, rows, sheet=name)
    finally:
        book.close()
    raise InputError([Problem(file, found="only empty sheets", expected="a table with a row of headings")])


def _sheet_rows(file: str, sheet: object) -> Iterator[Row]:
    values = getattr(sheet, "iter_rows", None)
    if values is None:  # a sheet that holds a chart alone
        return
    for number, cells in enumerate(values(values_only=True), start=1):
        row = Row(number, tuple(_value(cell) for cell in cells))
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
