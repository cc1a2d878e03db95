"""Which column of a supplier's table holds what, by its heading."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpunet.models.problems import InputError, Problem, quoted
from gpunet.quote_table import Grid, Row, letters

_ROWS_TOLD = 60
"""Rows from the top among which an error names the one that comes nearest to headings."""

HEADINGS: dict[str, tuple[str, ...]] = {
    "part": (
        "part number", "part no", "part num", "part #", "part", "part id", "p/n", "pn", "sku", "mpn", "item number",
        "item no", "item code", "item #", "item id", "product number", "product code", "product id", "product no",
        "article number", "article no", "article", "material", "material number", "model number", "model no", "model",
        "manufacturer part number", "manufacturer part no", "manufacturer p/n", "mfr part number", "mfr part no",
        "mfr p/n", "mfg part number", "mfg part no", "mfg p/n", "vendor part number", "oem part number", "opn",
        "ordering code", "order code", "order number",
    ),
    "quantity": (
        "quantity", "qty", "qty ordered", "order qty", "ordered", "quoted qty", "qnty", "amount of units", "units",
        "pieces", "pcs", "count", "number of units", "no of units",
    ),
    "price": (
        "unit price", "unit cost", "price per unit", "price/unit", "price each", "price ea", "each", "net price",
        "net unit price", "unit net price", "unit net", "sell price", "sales price", "your price", "quoted price",
        "discounted price", "discounted unit price", "unit sell price", "customer price", "final unit price", "price",
        "unit usd", "usd each", "rate",
    ),
    "extended": (
        "extended price", "ext price", "extended", "ext", "extended amount", "extended net price", "line total",
        "total price", "total", "amount", "subtotal", "net total", "total net", "net value", "total cost", "sum",
    ),
    "currency": ("currency", "curr", "ccy", "cur"),
    "valid until": (
        "valid until", "valid to", "valid through", "valid thru", "validity", "validity date", "expires", "expiry",
        "expiry date", "expiration", "expiration date", "quote valid until", "price valid until", "offer valid until",
    ),
    "lead time": (
        "lead time", "leadtime", "lt", "lead time weeks", "lead time days", "lead time in weeks", "lead time in days",
        "delivery", "delivery time", "delivery weeks", "availability", "eta", "estimated lead time", "ship time",
        "lead",
    ),
    "length": ("length", "length m", "cable length", "cable length m", "metres", "meters"),
    "minimum": ("moq", "minimum order", "minimum order quantity", "min order", "min order qty", "min qty", "minimum"),
    "available": (
        "available qty", "qty available", "available quantity", "stock qty", "max qty", "maximum quantity",
        "on hand", "in stock qty",
    ),
    "description": ("description", "desc", "item description", "product description", "product", "item", "details"),
    "supplier": ("supplier", "seller", "vendor name", "reseller"),
}  # fmt: skip
"""What a column may hold -> usual headings. Case, full stops and what stands in brackets make no difference."""
NEEDED = ("part", "price")

LABELS: dict[str, tuple[str, ...]] = {
    "valid until": (*HEADINGS["valid until"], "quote expires", "quote expiration date"),
    "date": ("date", "quote date", "quotation date", "date of quote", "issued", "date issued", "offer date"),
    "currency": HEADINGS["currency"],
    "supplier": ("supplier", "seller", "reseller", "quoted by", "from", "vendor"),
    "reference": (
        "quote", "quote number", "quote no", "quote #", "quote id", "quotation", "quotation number", "quotation no",
        "reference", "ref", "offer number", "offer no",
    ),
}  # fmt: skip
"""What may stand above the table, beside or behind a label such as ``Valid until:``."""


@dataclass(frozen=True)
class Columns:
    """Where the headings stand and what each column holds."""

    row: int
    """Index of the row of headings among the rows of the grid."""
    places: Mapping[str, int]
    """Meaning -> column, from 0."""
    headings: Mapping[str, str]
    """Meaning -> heading as written."""

    def of(self, meaning: str) -> int | None:
        """The column with a meaning; none where there is none."""
        return self.places.get(meaning)


def plain(heading: str) -> str:
    """A heading as it is compared: ``Unit Price (USD)`` is ``unit price``."""
    text = re.sub(r"\(.*?\)|\[.*?\]", " ", heading.casefold())
    text = (
        re.sub(r"\b(?:usd|us\$|eur|gbp)\b|[$€£.:*]", " ", text)
        if text.strip() not in ("unit usd", "usd each")
        else text
    )
    return " ".join(text.replace("_", " ").replace("\n", " ").split())


def are_headings(cells: Sequence[str]) -> bool:
    """Whether cells name a part and a price, in words that are known."""
    names = {plain(cell) for cell in cells}
    return all(not names.isdisjoint(HEADINGS[meaning]) for meaning in NEEDED)


def find_columns(grid: Grid, given: Mapping[str, str]) -> Columns:
    """The row of headings and what its columns hold. ``given`` names headings, or letters of columns, by meaning.

    The row is the first that names a part and a price. Raises ``InputError`` where there is none, where a heading that
    was given is missing, or where two columns have equal claims to be the part or the price.
    """
    best: tuple[int, int] = (0, 0)
    for index, row in enumerate(grid.rows):
        if index >= _ROWS_TOLD and sum(bool(row.text(n)) for n in range(len(row.cells))) < len(NEEDED):
            continue
        places, twice = _meanings(grid, row, given)
        if all(meaning in places for meaning in NEEDED):
            _settled(grid, row, twice)
            return Columns(index, places, {meaning: row.text(column) for meaning, column in places.items()})
        best = max(best, (len(places), -index)) if index < _ROWS_TOLD else best
    first = next((index for index, row in enumerate(grid.rows) if not row.is_empty), 0)
    raise InputError([_no_headings(grid, given, -best[1] if best[0] else first)])


def _meanings(grid: Grid, row: Row, given: Mapping[str, str]) -> tuple[dict[str, int], dict[str, list[int]]]:
    places: dict[str, int] = {}
    twice: dict[str, list[int]] = {}
    names = [plain(row.text(column)) for column in range(len(row.cells))]
    for meaning, heading in given.items():
        exact = [column for column in range(len(names)) if row.text(column).casefold() == heading.casefold()]
        column = next(iter(exact), None)
        if column is None and plain(heading):
            column = next((n for n, name in enumerate(names) if name == plain(heading)), None)
        if column is None and grid.sheet and re.fullmatch(r"[A-Za-z]{1,2}", heading):
            column = next((n for n in range(len(names)) if letters(n) == heading.upper() and names[n]), None)
        if column is not None:
            places[meaning] = column
    for meaning, headings in HEADINGS.items():
        if meaning in given:
            continue
        free = [n for n in range(len(names)) if n not in places.values()]
        ranked = [n for heading in headings for n in free if names[n] == heading]
        if ranked:
            places[meaning] = ranked[0]
            twice[meaning] = [n for n in free if names[n] == names[ranked[0]]]
    return places, twice


def _settled(grid: Grid, row: Row, twice: Mapping[str, list[int]]) -> None:
    for meaning in NEEDED:
        columns = twice.get(meaning, [])
        if len(columns) > 1:
            found = f"{quoted(row.text(columns[0]))} over columns {' and '.join(_name(grid, n) for n in columns)}"
            problem = grid.problem(row.number, columns[1], found, f"one column for the {meaning}")
            raise InputError([problem])


def _name(grid: Grid, column: int) -> str:
    return letters(column) if grid.sheet else str(column + 1)


def _no_headings(grid: Grid, given: Mapping[str, str], index: int) -> Problem:
    from gpunet.catalogs.schema_words import nearest

    row = grid.rows[index] if index < len(grid.rows) else Row(1, ())
    there = [row.text(column) for column in range(len(row.cells)) if row.text(column)]
    places, _ = _meanings(grid, row, given)
    missing = [meaning for meaning in dict.fromkeys((*NEEDED, *given)) if meaning not in places]
    words = {plain(heading): heading for heading in there}
    wanted = [given.get(meaning, "") or HEADINGS[meaning][0] for meaning in missing]
    close = next((words[near] for word in wanted if (near := nearest(plain(word), list(words)))), "")
    listed = ", ".join(quoted(heading) for heading in there[:12]) or "no row of headings"
    expected = " and ".join(
        f"a column for the {meaning}, such as {word.title()}" for meaning, word in zip(missing, wanted, strict=True)
    )
    return grid.problem(row.number, None, listed, f"{expected}; name it with --column {missing[0]}=HEADING", close)


def labelled(grid: Grid, columns: Columns) -> dict[str, tuple[int, int, object]]:
    """What stands above the table beside a label: meaning -> (row, column, value)."""
    found: dict[str, tuple[int, int, object]] = {}
    for row in grid.rows[: columns.row]:
        for column in range(len(row.cells)):
            label, _, behind = row.text(column).partition(":")
            meaning = next((m for m, names in LABELS.items() if plain(label) in names), None)
            if meaning is None or meaning in found:
                continue
            if behind.strip():
                found[meaning] = (row.number, column, behind.strip())
                continue
            beside = next((n for n in range(column + 1, len(row.cells)) if row.text(n)), None)
            if beside is not None:
                found[meaning] = (row.number, beside, row.cells[beside])
    return found
