"""What a cell of a supplier's table means: money, counts, days and delivery times in the ways that people write them.

Every function gives the value, or raises ``CellError`` with what was expected. Nothing that can be read in two ways is
guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from typing import Literal

from gpunet.quote_table import Value

Mark = Literal[".", ","]
"""Decimal mark."""
DAYS_PER_WEEK = 7
WEEKS_PER_MONTH = 365.25 / 12 / DAYS_PER_WEEK
LARGEST_PRICE_USD = 1e9
MOST_PIECES = 10_000_000

SYMBOLS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW"}
"""Signs of currencies."""
CURRENCIES = (
    "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "RMB", "INR", "KRW", "CAD", "AUD", "SGD", "TWD", "HKD", "SEK", "NOK",
    "DKK", "PLN", "CZK", "AED", "SAR", "ILS", "BRL", "MXN", "ZAR", "NZD",
)  # fmt: skip
"""Currencies that are told apart from other words."""
INCLUDED = ("included", "incl.", "free of charge", "foc", "no charge")
"""Words in place of a price that mean that nothing more is paid."""
_CURRENCY_WORD = re.compile(rf"(?<![A-Za-z])(?:US\$|US\s?dollars?|{'|'.join(CURRENCIES)})(?![A-Za-z])", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d[\d.,' \u00a0\u202f]*")
_DAY_FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %b %Y", "%d %B %Y", "%b %d %Y", "%B %d %Y")
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})")
_SPAN = re.compile(
    r"(?:(?P<low>\d+(?:[.,]\d+)?)\s*(?:-|–|to)\s*)?(?P<high>\d+(?:[.,]\d+)?)\s*(?P<unit>[A-Za-z]*)\.?(?:\s*aro)?",
    re.IGNORECASE,
)
_UNITS = {"d": 1 / DAYS_PER_WEEK, "w": 1.0, "m": WEEKS_PER_MONTH}
_IN_STOCK = ("in stock", "stock", "ex stock", "available", "immediate")


class CellError(ValueError):
    """A cell that cannot be read; its text says what was expected."""


def decimal_mark(cells: Iterable[Value]) -> Mark | None:
    """The decimal mark that numbers of a table show beyond doubt; none where no number settles it.

    Two marks in one number settle it, and so does one mark that is not followed by exactly three digits. Raises
    ``CellError`` where two numbers say different things.
    """
    found: dict[Mark, str] = {}
    for cell in cells:
        text = _bare(cell) if isinstance(cell, str) else ""
        marks = [mark for mark in text if mark in ".,"]
        if not marks or not re.fullmatch(r"-?[\d., ']+", text):
            continue
        last: Mark = "." if marks[-1] == "." else ","
        other: Mark = "," if last == "." else "."
        behind = text[text.rindex(last) + 1 :]
        if len(set(marks)) == 2 or (len(marks) == 1 and len(behind) != 3):
            found.setdefault(last, text)
        elif len(marks) > 1:
            found.setdefault(other, text)
    if len(found) == 2:
        raise CellError(f"one decimal mark in all numbers, not both as in {found['.']} and {found[',']}")
    return next(iter(found), None)


def money(cell: Value, mark: Mark | None) -> float:
    """A price, without its currency. ``mark`` is the decimal mark of the table, where it is known."""
    if isinstance(cell, str) and cell.strip().casefold() in INCLUDED:
        return 0.0
    value = _number(cell, mark, "a price such as 1,249.00")
    if not 0 <= value <= LARGEST_PRICE_USD:
        raise CellError(f"a price from 0 to {LARGEST_PRICE_USD:,.0f}")
    return round(value, 4)


def pieces(cell: Value, mark: Mark | None) -> int:
    """A number of pieces."""
    if isinstance(cell, str):
        cell = re.sub(r"\s*(?:pcs?|pieces?|units?|ea|each|x|nos?)\.?$", "", cell.strip(), flags=re.IGNORECASE)
    value = _number(cell, mark, "a whole number of pieces")
    if not (value.is_integer() and 1 <= value <= MOST_PIECES):
        raise CellError(f"a whole number of pieces from 1 to {MOST_PIECES:,}")
    return int(value)


def day(cell: Value) -> str:
    """A day, ISO 8601."""
    if isinstance(cell, date):
        return cell.isoformat()
    text = re.sub(r"[,\s]+", " ", str(cell)).strip()
    text = re.sub(r" \d\d:\d\d(:\d\d)?$", "", text)
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        first, second, year = map(int, slashed.groups())
        if first <= 12 and second <= 12 and first != second:
            raise CellError(f"a day that can be read in one way only, such as {year}-{first:02d}-{second:02d}")
        month, of_month = (second, first) if first > 12 else (first, second)
        text = f"{year}-{month:02d}-{of_month:02d}"
    for shape in _DAY_FORMATS:
        try:
            return datetime.strptime(text, shape).date().isoformat()
        except ValueError:
            continue
    raise CellError("a day such as 2026-12-31")


def weeks(cell: Value, unit: str = "w") -> float:
    """A delivery time, weeks; of a span the longer. ``unit`` is what a bare number counts: ``d``, ``w`` or ``m``."""
    text = str(cell).strip()
    if text.casefold() in _IN_STOCK:
        return 0.0
    found = _SPAN.fullmatch(text)
    word = found["unit"].casefold() if found else ""
    units = {"day": "d", "days": "d", "d": "d", "week": "w", "weeks": "w", "wk": "w", "wks": "w", "w": "w"}
    units |= {"month": "m", "months": "m", "mo": "m", "": unit}
    if not found or word not in units:
        raise CellError("a delivery time such as 12 weeks or 60 days")
    return round(float(found["high"].replace(",", ".")) * _UNITS[units[word]], 2)


def metres(cell: Value) -> float:
    """A length, m."""
    found = re.fullmatch(r"(\d+(?:[.,]\d+)?)\s*(?:m|mtr|meters?|metres?)?\.?", str(cell).strip(), re.IGNORECASE)
    if not found or float(found[1].replace(",", ".")) <= 0:
        raise CellError("a length in metres such as 30 or 0.5 m")
    return float(found[1].replace(",", "."))


def currency(text: str) -> str | None:
    """The currency that a text names, by letters or sign; none where it names none."""
    word = _CURRENCY_WORD.search(text)
    if word:
        return "USD" if word[0].upper().startswith("US") else word[0].upper()
    return next((name for sign, name in SYMBOLS.items() if sign in text), None)


def _bare(text: str) -> str:
    """A number without its currency."""
    text = _CURRENCY_WORD.sub("", text)
    return "".join(mark for mark in text if mark not in SYMBOLS).strip()


def _number(cell: Value, mark: Mark | None, expected: str) -> float:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(cell)
    text = _bare(str(cell)) if isinstance(cell, str) else ""
    text = text.removesuffix("-").removesuffix(".").removesuffix(",")
    if not _NUMBER.fullmatch(text):
        raise CellError(expected)
    text = re.sub(r"[' \u00a0\u202f]", "", text)
    marks = {found for found in text if found in ".,"}
    if mark is None and len(marks) == 1:
        (only,) = marks
        if text.count(only) == 1 and len(text[text.index(only) + 1 :]) == 3:
            raise CellError(f"{expected}; {text} can be read in two ways, so give --decimal")
        mark = "." if (only == ".") == (text.count(only) == 1) else ","
    elif mark is None:
        mark = "." if text.rfind(".") > text.rfind(",") else ","
    thousands = "," if mark == "." else "."
    grouped = re.fullmatch(rf"(-?\d+|-?\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+)(?:{re.escape(mark)}(\d*))?", text)
    if not grouped:
        raise CellError(f"{expected}, with {mark} before the decimals")
    return float(f"{grouped[1].replace(thousands, '')}.{grouped[2] or '0'}")
