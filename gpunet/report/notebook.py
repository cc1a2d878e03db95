"""Results in a notebook: as a page, and as tables for pandas."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, get_args, get_origin

from gpunet.design_file import tables_of
from gpunet.models.base import Strict
from gpunet.models.design import Design
from gpunet.models.study import Study
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import usd

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_OPEN = 15
"""Rows of a section that is shown unfolded."""
_FIRST = {"Design": "bom", "Alternatives": "fabrics.alternatives", "Explanation": "clashes.limits"}
"""The most telling table of a result, where that is not its first one."""
_STUDY, _SUMMARY = "gpunet.report.{0}_text", "summary"
_COLOURS = {Tone.GOOD: "#1a7f37", Tone.BAD: "#cf222e", Tone.WEAK: "#9a6700"}


# --- as a page --------------------------------------------------------------------------------------------------------


def page(result: Design | Study) -> str:
    """The report that the command line prints, as HTML that stands in any page: no script, no style of its own."""
    return f'<div style="max-width: 72em">{"".join(_sections(_report(result)))}</div>'


def line(result: Design | Study) -> str:
    """What the result is, in one line."""
    if isinstance(result, Study):
        return f"<{type(result).__name__} of {result.case}: {result.status}, {result.solves} solves>"
    totals = result.result.totals
    cost = "" if totals is None else f", {usd(totals.cost_usd)} USD"
    return f"<Design of {result.result.case}: {result.result.status}{cost}>"


def _report(result: Design | Study) -> list[Block]:
    if isinstance(result, Study):
        # The report of a study is the function that its command prints; one that no command asks for has none.
        name = _STUDY.format(result.study)
        if importlib.util.find_spec(name) is None:
            return [Paragraph(line(result))]
        module = importlib.import_module(name)
        report: Callable[[Study], Iterable[Block]] = getattr(module, f"{result.study}_report")
        return list(report(result))
    if result.result.totals is None:
        from gpunet.report.answer import no_answer

        head, *reasons = no_answer(result.result).splitlines()
        return [Paragraph(head, Tone.BAD), *(Point(reason.strip()) for reason in reasons)]
    from gpunet.report.design_text import design_report

    return design_report(result)


def _sections(blocks: Iterable[Block]) -> Iterator[str]:
    """What stands before the first heading, then every heading with what belongs to it, to be folded."""
    title: str | None = None
    held: list[Block] = []
    for block in blocks:
        if isinstance(block, Heading):
            yield _section(title, held)
            title, held = block.text, []
        else:
            held.append(block)
    yield _section(title, held)


def _section(title: str | None, blocks: list[Block]) -> str:
    inside = "".join(_html(blocks))
    if title is None:
        return inside
    rows = sum(len(block.rows) if isinstance(block, Table) else 1 for block in blocks)
    unfolded = " open" if rows <= MOST_OPEN else ""
    return f'<details{unfolded} style="margin: 0.5em 0"><summary><b>{escape(title)}</b></summary>{inside}</details>'


def _html(blocks: list[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Table():
                yield _table(block)
            case Point():
                yield f"<ul><li>{_toned(block.text, block.tone)}</li></ul>"
            case _:
                yield f"<p>{_toned(block.text, getattr(block, 'tone', None))}</p>"


def _table(table: Table) -> str:
    head = "".join(_cell("th", column.title, column) for column in table.columns)
    rows = [*table.rows, *([tuple(_bold(cell) for cell in table.total)] if table.total else [])]
    body = ("".join(_cell("td", cell, column) for cell, column in zip(row, table.columns, strict=True)) for row in rows)
    lines = "".join(f"<tr>{cells}</tr>" for cells in body)
    return f'<div style="overflow-x: auto"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


class _Bold(str):
    """Text of a total."""


def _bold(cell: str | Cell) -> str:
    return _Bold(cell.text if isinstance(cell, Cell) else cell)


def _cell(tag: str, cell: str | Cell, column: Column) -> str:
    text, tone = (cell.text, cell.tone) if isinstance(cell, Cell) else (cell, None)
    style = f"padding: 0.1em 0.7em; text-align: {'right' if column.number else 'left'}"
    if column.number or column.name:
        style += "; white-space: nowrap"
    inside = _toned(text, tone)
    return f'<{tag} style="{style}">{f"<b>{inside}</b>" if isinstance(cell, _Bold) else inside}</{tag}>'


def _toned(text: str, tone: Tone | None) -> str:
    return f'<span style="color: {_COLOURS[tone]}">{escape(text)}</span>' if tone and text else escape(text)


# --- as tables --------------------------------------------------------------------------------------------------------

Row = dict[str, Any]


def frame(result: Design | Study, table: str = "") -> DataFrame:
    """One of the tables of a result. Raises ``ValueError`` for one that there is not."""
    import pandas as pd

    found = _tables(result)
    names = tables(result)
    if table and table not in found:
        raise ValueError(f"found {table!r}, expected a table of this result: {', '.join(names)}")
    columns, rows = found[table or names[0]]
    return pd.DataFrame(rows, columns=columns)


def tables(result: Design | Study) -> tuple[str, ...]:
    """Names of the tables of a result, the one it gives by itself first: the most telling one that has rows."""
    found = _tables(result)
    told = _FIRST.get(type(result).__name__)
    names = sorted(found, key=lambda name: (name != told, name == _SUMMARY, name.count(".")))
    first = next(name for name in names if found[name][1])
    return (first, *(name for name in names if name != first))


def _tables(result: Design | Study) -> dict[str, tuple[list[str], list[Any]]]:
    """Columns and rows of every table, also of those that have no row in this result."""
    top = result.result if isinstance(result, Design) else result
    found: dict[str, tuple[list[str], list[Any]]] = dict(_collections(type(top), [({}, top)], "", ()))
    if isinstance(result, Design):
        for name, row in tables_of(result.ledger).items():
            found[name] = list(row._fields), getattr(result.ledger, name)
    found[_SUMMARY] = list(_columns(type(top))), [_flat(top, type(top))]
    return found


def _collections(
    model: type[Strict], outer: list[tuple[Row, Any]], path: str, outside: tuple[str, ...]
) -> Iterator[tuple[str, Any]]:
    """The tables within models of one kind, which come with the rows that they stand in, by the columns ``outside``."""
    for field, (holds, item) in _models_in(model).items():
        name = f"{path}{field}"
        if holds is None:
            inner = [(keys, value) for keys, one in outer if (value := getattr(one, field)) is not None]
            within = outside
        else:
            inner = []
            within = (*outside, field)
            for keys, one in outer:
                held = getattr(one, field)
                named = held.items() if holds is dict else enumerate(held, len(inner))
                inner += [({**keys, field: key}, value) for key, value in named]
            # A list numbers its own rows; of a mapping the names belong to the row.
            columns = list(_columns(item))
            if columns:
                rows = [{**keys, **_flat(value, item)} for keys, value in inner]
                yield name, ([*(within if holds is dict else outside), *columns], rows)
        yield from _collections(item, inner, f"{name}.", within)


def _columns(model: type[Strict], prefix: str = "") -> Iterator[str]:
    """The plain fields of a model, those of models within it with a dot."""
    within = _models_in(model)
    for field in model.model_fields:
        holds, item = within.get(field, (None, None))
        if item is None:
            yield f"{prefix}{field}"
        elif holds is None:
            yield from _columns(item, f"{prefix}{field}.")


def _flat(value: Any, model: type[Strict], prefix: str = "") -> Row:
    found: Row = {}
    within = _models_in(model)
    for field in model.model_fields:
        holds, item = within.get(field, (None, None))
        held = None if value is None else getattr(value, field)
        if item is None:
            found[f"{prefix}{field}"] = held.value if isinstance(held, Enum) else held
        elif holds is None:
            found |= _flat(held, item, f"{prefix}{field}.")
    return found


@cache
def _models_in(model: type[Strict]) -> dict[str, tuple[type | None, type[Strict]]]:
    """The fields of a model that hold models: one, a tuple of them, or a mapping of names to them."""
    found: dict[str, tuple[type | None, type[Strict]]] = {}
    for field, info in model.model_fields.items():
        holds: type | None = None
        hint: Any = info.annotation
        if get_origin(hint) in (tuple, dict):
            holds, hint = get_origin(hint), get_args(hint)[1 if get_origin(hint) is dict else 0]
        for option in get_args(hint) or (hint,):
            if isinstance(option, type) and issubclass(option, Strict):
                found[field] = holds, option
    return found
