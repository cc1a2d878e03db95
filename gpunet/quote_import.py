"""Makes a quote of a supplier's table: columns, values, and which part of the catalogue each row is.

A part is taken only where the number is exactly one that the catalogue knows, or where the user says so. What comes
close is named and not taken.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gpunet.catalogs.part_numbers import Found, PartNumbers, folded
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted
from gpunet.models.quote import Match, QuoteFile, QuoteImport, QuoteLine, UnmatchedLine
from gpunet.quote_columns import Columns, find_columns, labelled
from gpunet.quote_table import Grid, Row, Value, read_grid
from gpunet.quote_values import CellError, Mark, currency, day, decimal_mark, metres, money, pieces, weeks

T = TypeVar("T")
BY_USER = "--as"
_NO_PART = (
    "total",
    "subtotal",
    "sub total",
    "grand total",
    "shipping",
    "freight",
    "tax",
    "vat",
    "handling",
    "discount",
)
"""Beginnings of rows that are no part."""
_CENT = 0.01


@dataclass(frozen=True)
class ImportOptions:
    """What the user says about a supplier's table, where it does not say so itself or says otherwise."""

    supplier: str | None = None
    reference: str | None = None
    date: str | None = None
    """Day of the quote, ISO 8601."""
    valid_until: str | None = None
    """Last day on which the prices hold, ISO 8601."""
    currency: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """Meaning -> heading, or letter of the column in a workbook."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Supplier's part number -> catalogue id."""
    sheet: str | None = None
    delimiter: str | None = None
    decimal: Mark | None = None
    """Decimal mark."""


@dataclass
class _Line:
    """A row with its values."""

    row: int
    sku: str
    description: str
    unit_usd: float
    quantity: int | None
    minimum: int | None
    at_most: int | None
    lead_time_weeks: float | None
    length_m: float | None


def import_quote(
    path: str | Path, catalog: Catalog, options: ImportOptions | None = None, today: str | None = None
) -> QuoteImport:
    """The quote in a supplier's table. ``today``, ISO 8601, tells whether it still holds.

    Raises ``InputError`` with every cell that cannot be read, each with row and column, with what keeps the table from
    being a quote, and where no row is a part of the catalogue.
    """
    return _Import(str(path), catalog, options or ImportOptions()).done(today)


class _Import:
    def __init__(self, file: str, catalog: Catalog, options: ImportOptions) -> None:
        self.file, self.options = file, options
        self.numbers = PartNumbers(catalog)
        self.aliases = self._aliases()
        self.grid: Grid = read_grid(file, options.sheet, options.delimiter)
        self.columns: Columns = find_columns(self.grid, options.columns)
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.labels = labelled(self.grid, self.columns)
        self.mark = self._decimal_mark()

    def done(self, today: str | None) -> QuoteImport:
        self._check_currencies()
        valid_until = self._valid_until()
        lines = [line for row in self.grid.rows[self.columns.row + 1 :] if (line := self._line(row)) is not None]
        supplier = self.options.supplier or self._supplier() or Path(self.file).stem
        reference = self.options.reference or self._label_text("reference")
        date = self.options.date or self._label_day("date")
        matches: list[Match] = []
        unmatched: list[UnmatchedLine] = []
        taken: dict[str, tuple[_Line, QuoteLine]] = {}
        for line in lines:
            found = self._part(line)
            if found.part is None:
                unmatched.append(_unmatched(line, found))
                continue
            matches.append(Match(row=line.row, sku=line.sku, part=found.part, by=found.by))
            self._take(taken, line, found.part)
        if not self.problems and not lines:
            row = self.grid.rows[self.columns.row].number
            self.problems.append(self.grid.problem(row, None, "no row below the headings", "a row per part"))
        elif not self.problems and not taken:
            self.problems += [self._no_part(line) for line in unmatched]
        if not self.problems and date is not None and valid_until is not None and valid_until < date:
            self.problems.append(
                Problem(self.file, found=f"valid until {valid_until}", expected=f"a day from its date {date} on")
            )
        if self.problems:
            raise InputError(self.problems)
        quote = QuoteFile(
            supplier=supplier,
            reference=reference,
            date=date,
            valid_until=valid_until,
            lines=tuple(line for _, line in taken.values()),
            unmatched=tuple(unmatched),
        )
        return QuoteImport(
            file=self.file,
            quote=quote,
            columns=dict(self.columns.headings),
            matches=tuple(matches),
            notes=tuple(self.notes),
            lapsed_on=today if today is not None and quote.has_lapsed(today) else None,
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _line(self, row: Row) -> _Line | None:
        """The values of a row; none for a row that is no part, or whose mistakes were noted."""
        if row.is_empty:
            return None
        sku = self._text(row, "part")
        price = self._cell(row, "price")
        if not sku or (sku.casefold().startswith(_NO_PART) and not self._cell(row, "quantity")):
            says = next((row.text(n) for n in range(len(row.cells)) if row.text(n)), "")
            self.notes.append(f"row {row.number} has no part number and is left out: {quoted(says)}")
            return None
        if price is None and self._cell(row, "quantity") is None:
            self.notes.append(f"row {row.number} has neither price nor quantity and is left out: {quoted(sku)}")
            return None
        before = len(self.problems)
        unit_usd = self._read(row, "price", lambda cell: money(cell, self.mark), needed="a unit price")
        quantity = self._read(row, "quantity", lambda cell: pieces(cell, self.mark))
        minimum = self._read(row, "minimum", lambda cell: pieces(cell, self.mark))
        at_most = self._read(row, "available", lambda cell: pieces(cell, self.mark))
        length_m = self._read(row, "length", metres)
        lead = self._read(row, "lead time", lambda cell: weeks(cell, self._lead_unit()))
        if len(self.problems) > before or unit_usd is None:
            return None
        self._check_sum(row, quantity, unit_usd)
        description = self._text(row, "description")
        return _Line(row.number, sku, description, unit_usd, quantity, minimum, at_most, lead, length_m)

    def _read(self, row: Row, meaning: str, read: Callable[[Value], T], needed: str = "") -> T | None:
        """The value of a cell; none, with a problem noted, where it cannot be read."""
        column, cell = self.columns.of(meaning), self._cell(row, meaning)
        if column is None:
            return None
        if cell is None or not row.text(column):
            if needed:
                self.problems.append(self.grid.problem(row.number, column, "nothing", needed))
            return None
        try:
            return read(cell)
        except CellError as error:
            self.problems.append(self.grid.problem(row.number, column, quoted(row.text(column)), str(error)))
            return None

    def _cell(self, row: Row, meaning: str) -> Value:
        column = self.columns.of(meaning)
        return row.cells[column] if column is not None and column < len(row.cells) else None

    def _text(self, row: Row, meaning: str) -> str:
        column = self.columns.of(meaning)
        return "" if column is None else " ".join(row.text(column).split())

    def _check_sum(self, row: Row, quantity: int | None, unit_usd: float) -> None:
        """Note where quantity times price is not the sum that the supplier writes beside it."""
        try:
            stated = money(self._cell(row, "extended"), self.mark)
        except CellError:
            return
        if quantity is not None and abs(stated - quantity * unit_usd) > _CENT * quantity + _CENT:
            self.notes.append(
                f"row {row.number}: {quantity:,} x {unit_usd:,.2f} is {quantity * unit_usd:,.2f}, and the quote says "
                f"{stated:,.2f}"
            )

    def _take(self, taken: dict[str, tuple[_Line, QuoteLine]], line: _Line, part: str) -> None:
        """Add a row to the quote; a part that comes again at the same price is one line with the sum."""
        before = taken.get(part)
        quantity = line.quantity
        if before is not None:
            first, old = before
            if old.unit_usd != line.unit_usd:
                column = self.columns.of("price")
                found = f"{part} again, at {line.unit_usd:,.2f}"
                expected = f"the price of row {first.row}, {old.unit_usd:,.2f}; a quote has one price per part"
                self.problems.append(self.grid.problem(line.row, column, found, expected))
                return
            quantity = None if None in (quantity, old.quantity) else (quantity or 0) + (old.quantity or 0)
            line = first
            self.notes.append(f"{part} stands in more than one row; its quantities are added up")
        quote = QuoteLine(
            part=part,
            unit_usd=line.unit_usd,
            quantity=quantity,
            at_most=line.at_most,
            minimum=line.minimum,
            lead_time_weeks=line.lead_time_weeks,
            sku=line.sku,
        )
        taken[part] = (line, quote)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _part(self, line: _Line) -> Found:
        said = self.aliases.get(folded(line.sku))
        return Found(said, BY_USER) if said is not None else self.numbers.find(line.sku, line.length_m)

    def _aliases(self) -> dict[str, str]:
        found = {}
        for sku, part in self.options.aliases.items():
            known = self.numbers.find(part)
            if known.part is None:
                problem = Problem(
                    self.file,
                    path=f"--as {sku}={part}",
                    found=quoted(part),
                    expected="an id of the catalogue, for a cable or fibre with its length",
                    nearest=", ".join(known.nearest),
                )
                raise InputError([problem])
            found[folded(sku)] = known.part
        return found

    def _no_part(self, line: UnmatchedLine) -> Problem:
        expected = "a part number of the catalogue, or --as NUMBER=ID"
        column = self.columns.of("part")
        return self.grid.problem(line.row or 1, column, quoted(line.sku), expected, ", ".join(line.nearest))

    # --- what holds for the whole quote -------------------------------------------------------------------------------

    def _decimal_mark(self) -> Mark | None:
        if self.options.decimal is not None:
            return self.options.decimal
        columns = [n for m in ("price", "extended") if (n := self.columns.of(m)) is not None]
        cells = [row.cells[n] for row in self.grid.rows[self.columns.row + 1 :] for n in columns if n < len(row.cells)]
        try:
            return decimal_mark(cells)
        except CellError as error:
            column = self.columns.of("price")
            row = self.grid.rows[self.columns.row].number
            raise InputError([self.grid.problem(row, column, "two decimal marks", f"{error}")]) from None

    def _lead_unit(self) -> str:
        heading = self.columns.headings.get("lead time", "").casefold()
        return "d" if "day" in heading else "m" if "month" in heading else "w"

    def _check_currencies(self) -> None:
        """Every currency that is named anywhere must be USD."""
        expected = "USD; convert the prices first, for gpunet counts in USD alone"
        if self.options.currency is not None and self.options.currency.upper() != "USD":
            problem = Problem(self.file, path="--currency", found=self.options.currency, expected=expected)
            raise InputError([problem])
        head = self.grid.rows[self.columns.row]
        seen: list[tuple[int, int, str]] = []
        for meaning in ("price", "extended"):
            column = self.columns.of(meaning)
            if column is not None:
                rows = [head, *self.grid.rows[self.columns.row + 1 :]]
                seen += [(row.number, column, row.text(column)) for row in rows]
                seen += [(row.number, column, row.shown.get(column, "")) for row in rows]
        column = self.columns.of("currency")
        if column is not None:
            seen += [(row.number, column, row.text(column)) for row in self.grid.rows[self.columns.row + 1 :]]
        if "currency" in self.labels:
            number, place, value = self.labels["currency"]
            seen.append((number, place, str(value)))
        for number, place, text in seen:
            named = currency(text)
            if named not in (None, "USD"):
                self.problems.append(self.grid.problem(number, place, f"{named} in {quoted(text)}", expected))
                return

    def _valid_until(self) -> str | None:
        """The last day on which every price holds: the earliest of the days that are stated."""
        if self.options.valid_until is not None:
            return self.options.valid_until
        days = [self._label_day("valid until")]
        if self.columns.of("valid until") is not None:
            rows = self.grid.rows[self.columns.row + 1 :]
            days += [self._read(row, "valid until", day) for row in rows if self._text(row, "part")]
        stated = sorted({found for found in days if found is not None})
        if len(stated) > 1:
            self.notes.append(f"rows are valid until {', '.join(stated)}; the quote as a whole until {stated[0]}")
        return stated[0] if stated else None

    def _supplier(self) -> str:
        column = self.columns.of("supplier")
        if column is None:
            return self._label_text("supplier")
        names = dict.fromkeys(row.text(column) for row in self.grid.rows[self.columns.row + 1 :] if row.text(column))
        if len(names) > 1:
            found, row = ", ".join(map(quoted, names)), self.grid.rows[self.columns.row].number
            self.problems.append(self.grid.problem(row, column, found, "one supplier per quote"))
        return next(iter(names), "")

    def _label_text(self, meaning: str) -> str:
        return str(self.labels[meaning][2]).strip() if meaning in self.labels else ""

    def _label_day(self, meaning: str) -> str | None:
        if meaning not in self.labels:
            return None
        row, column, value = self.labels[meaning]
        try:
            return day(value if isinstance(value, str | datetime.date) else str(value))
        except CellError as error:
            self.problems.append(self.grid.problem(row, column, quoted(str(value)), str(error)))
            return None


def _unmatched(line: _Line, found: Found) -> UnmatchedLine:
    return UnmatchedLine(
        sku=line.sku,
        description=line.description,
        quantity=line.quantity,
        unit_usd=line.unit_usd,
        nearest=found.nearest,
        why=found.why,
        row=line.row,
    )
