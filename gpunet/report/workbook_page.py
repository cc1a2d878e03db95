"""Sheets of a workbook: formats, headings, frozen rows and how they print. Knows nothing of networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from textwrap import wrap
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

_MADE = datetime(2000, 1, 1)
"""Stands in the file where programs look for its date: equal designs give equal bytes."""
_A4, _A3 = 9, 8
_LINE_POINTS, _HEAD_POINTS = 15, 5
_MARGIN, _NARROW = 2, 1.1
"""Characters of a column that no line of text reaches, and letters that take the width of a digit."""
_INK, _PAPER, _RULE = "#1F2A37", "#FFFFFF", "#C9D1DB"
_KINDS: dict[str, dict[str, Any]] = {
    "text": {"align": "left", "indent": 1},
    "wrap": {"align": "left", "indent": 1, "text_wrap": True},
    "count": {"num_format": "#,##0"},
    "usd": {"num_format": "#,##0.00"},
    "watts": {"num_format": "#,##0.0##"},
    "share": {"num_format": "0.0%"},
    "number": {"num_format": "#,##0.######"},
}
"""Kinds of column: how its cells are aligned and how its figures are written."""
_LOOKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "input": {"bg_color": "#FFF9DB", "font_color": "#0B4FAE", "border": 1, "border_color": "#D9C97A"},
    "weak": {"bg_color": "#FDE7C7", "italic": True},
    "weak-input": {
        "bg_color": "#FDE7C7",
        "italic": True,
        "font_color": "#0B4FAE",
        "border": 1,
        "border_color": "#D9C97A",
    },
    "total": {"bold": True, "top": 1, "bottom": 6, "bg_color": "#EEF2F7"},
    "group": {"bold": True, "bg_color": "#EEF2F7", "top": 1, "top_color": _RULE},
    "head": {"bold": True, "bg_color": _INK, "font_color": _PAPER, "text_wrap": True, "valign": "vcenter"},
    "title": {"bold": True, "font_size": 16, "font_color": _INK, "indent": 0},
    "section": {"bold": True, "font_size": 12, "font_color": _INK, "bottom": 1, "bottom_color": _INK, "indent": 0},
    "group-start": {"top": 1, "top_color": _RULE},
    "code": {"font_name": "Consolas", "bg_color": "#EEF2F7"},
    "hint": {"italic": True, "font_color": "#4A5568", "indent": 0},
}
WEAK_CELL: dict[str, Any] = {"bg_color": "#FDE7C7", "italic": True}
"""What a cell looks like that holds an estimate."""
WRONG_CELL: dict[str, Any] = {"bg_color": "#F8CFCF", "bold": True}
"""What a cell looks like that breaks a limit."""


class Column(NamedTuple):
    """One column of a sheet."""

    title: str
    width: float
    """Characters."""
    kind: str = "text"


class Formula(NamedTuple):
    """A formula and its result today, for programs that show a workbook without reckoning."""

    text: str
    value: float | str


class Cell(NamedTuple):
    """A value that looks otherwise than its row."""

    value: Value
    look: str
    kind: str = ""
    """Kind of cell, where it is not that of the column."""


Value = str | float | int | Formula | Cell | None


def _lines(value: Value, column: Column) -> int:
    """Lines that a text takes in its column: programs do not agree on setting the height of a row themselves."""
    text = value.value if isinstance(value, Cell) else value
    if column.kind != "wrap" or not isinstance(text, str):
        return 1
    return _wrapped(text, column.width)


def _wrapped(text: str, width: float) -> int:
    room = max(1, int(width * _NARROW - _MARGIN))
    if len(text) <= room and "\n" not in text:
        return 1
    return sum(max(1, len(wrap(part, room))) for part in text.split("\n"))


def letter(column: int) -> str:
    """Name of a column by its number from 0: ``A``, ``Z``, ``AA``."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


class Book:
    """A workbook that is being written. Its sheets hold their rows on disk, not in memory."""

    def __init__(self, stream: IO[bytes], title: str) -> None:
        from xlsxwriter import Workbook

        # Texts come from cases and catalogues: none of them is to be taken for a formula, a number or an address.
        plain = {"strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
        self.file = Workbook(stream, {"constant_memory": True, **plain})
        self.file.set_properties({"title": title, "created": _MADE})
        self.title = title
        self._formats: dict[tuple[tuple[str, Any], ...], Format] = {}
        self._looks: dict[tuple[str, str], Format] = {}

    def format(self, kind: str = "text", look: str = "plain") -> Format:
        """The format of a kind of cell in one look."""
        found = self._looks.get((kind, look))
        if found is None:
            found = self._looks[kind, look] = self.format_of({"valign": "top", **_KINDS[kind], **_LOOKS[look]})
        return found

    def format_of(self, properties: Mapping[str, Any]) -> Format:
        """The format with these properties, made once."""
        key = tuple(sorted(properties.items()))
        if key not in self._formats:
            self._formats[key] = self.file.add_format(dict(properties))
        return self._formats[key]

    def sheet(self, name: str, columns: Sequence[Column], *, wide: bool = True, large: bool = False) -> Sheet:
        """A new sheet: ``wide`` prints across, ``large`` on A3."""
        return Sheet(self, self.file.add_worksheet(name), columns, wide, large)

    def close(self) -> None:
        """Write the file."""
        self.file.close()


class Sheet:
    """Rows from top to bottom; ``row`` is the number from 0 of the next."""

    def __init__(self, book: Book, sheet: Worksheet, columns: Sequence[Column], wide: bool, large: bool) -> None:
        self.book = book
        self.sheet = sheet
        self.columns = columns
        self.row = 0
        self._head: int | None = None
        for number, column in enumerate(columns):
            sheet.set_column(number, number, column.width)
        if wide:
            sheet.set_landscape()
        sheet.set_paper(_A3 if large else _A4)
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        title = book.title.replace("&", "&&")
        sheet.set_footer(f"&L&8{title}&C&8&A&R&8Page &P of &N")
        sheet.hide_gridlines(2)

    def title(self, text: str, hint: str = "", *, column: int = 0) -> None:
        """The heading of the sheet, and from a column on what to do with it."""
        self.sheet.set_row(self.row, 24)
        self.sheet.write_string(self.row, 0, text, self.book.format(look="title"))
        self.row += 1
        if hint:
            self.line(hint, "hint", column)
        self.row += 1

    def line(self, text: str, look: str = "plain", column: int = 0) -> None:
        """A line of text across the sheet."""
        self.sheet.write_string(self.row, column, text, self.book.format(look=look))
        self.row += 1

    def paragraph(self, text: str, look: str = "plain") -> None:
        """Text over the whole width, broken into lines."""
        whole = Column("", sum(column.width for column in self.columns), "wrap")
        form = self.book.format("wrap", look)
        self.sheet.set_row(self.row, _LINE_POINTS * _lines(text, whole))
        self.sheet.merge_range(self.row, 0, self.row, len(self.columns) - 1, "", form)
        self.sheet.write_string(self.row, 0, text, form)
        self.row += 1

    def section(self, text: str) -> None:
        """A heading over the whole width."""
        self.row += 1
        for number in range(len(self.columns)):
            self.sheet.write_blank(self.row, number, None, self.book.format(look="section"))
        self.sheet.write_string(self.row, 0, text, self.book.format(look="section"))
        self.row += 1

    def head(self, titles: Sequence[str] | None = None, *, figures: bool = True) -> int:
        """The row of column titles; give back its number. ``figures`` sets them to the side where figures stand."""
        shown = titles if titles is not None else [column.title for column in self.columns]
        lines = max(_wrapped(text, column.width) for text, column in zip(shown, self.columns, strict=False))
        self.sheet.set_row(self.row, _LINE_POINTS * lines + _HEAD_POINTS)
        for number, text in enumerate(shown):
            right = figures and self.columns[number].kind not in ("text", "wrap")
            form = {**_KINDS["text"], **_LOOKS["head"], **({"align": "right"} if right else {})}
            self.sheet.write_string(self.row, number, text, self.book.format_of(form))
        self.row += 1
        return self.row - 1

    def add(self, values: Sequence[Value], look: str = "plain", *, level: int = 0) -> int:
        """A row of values, each as its column says; give back its number. ``level`` folds it under a row above."""
        row, columns = self.row, self.columns
        lines = max(1, *(_lines(value, column) for value, column in zip(values, columns, strict=False)))
        if level or lines > 1:
            self.sheet.set_row(row, _LINE_POINTS * lines if lines > 1 else None, None, {"level": level})
        for number, value in enumerate(values):
            self._write(row, number, value, look, columns[number].kind)
        self.row += 1
        return row

    def _write(self, row: int, number: int, value: Value, look: str, kind: str) -> None:
        if isinstance(value, Cell):
            look, kind, value = value.look, value.kind or kind, value.value
        form = self.book.format(kind, look)
        match value:
            case None | "":
                if look != "plain":
                    self.sheet.write_blank(row, number, None, form)
            case str():
                self.sheet.write_string(row, number, value, form)
            case Formula():
                self.sheet.write_formula(row, number, f"={value.text}", form, value.value)
            case int() | float():
                self.sheet.write_number(row, number, value, form)

    def freeze(self, head: int, columns: int = 1, *, filtered: bool = True) -> None:
        """Keep the titles in sight and on every page, and offer filters on the rows written so far below them."""
        self.sheet.freeze_panes(head + 1, columns)
        self.sheet.repeat_rows(head)
        if filtered and self.row > head + 1:
            self.sheet.autofilter(head, 0, self.row - 1, len(self.columns) - 1)

    def split(self, column: int, kept: int, percent: int) -> None:
        """Print on two pages side by side, one after the other, cut before a column, with the first columns on both."""
        self.sheet.print_across()
        self.sheet.set_print_scale(percent)
        self.sheet.set_v_pagebreaks([column])
        self.sheet.repeat_columns(0, kept - 1)

    def finish(self) -> None:
        """Print all that is written, and nothing beside it."""
        self.sheet.print_area(0, 0, max(0, self.row - 1), len(self.columns) - 1)

    def mark(self, area: tuple[int, int, int, int], formula: str, look: Mapping[str, Any]) -> None:
        """Give the cells of an area (first row, first column, last row, last column) a look where a formula holds."""
        form = self.book.file.add_format(dict(look))
        self.sheet.conditional_format(*area, {"type": "formula", "criteria": f"={formula}", "format": form})
