"""Turns blocks into text: with colour and rules on a terminal, plain everywhere else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from gpunet.report.blocks import Cell, Heading, Paragraph, Point, Shown, Sketch, Table, Tone

if TYPE_CHECKING:
    from rich.console import RenderableType

PLAIN_WIDTH = 120
"""Columns of text that goes to a file or another program, where COLUMNS does not say otherwise."""
LINE_WIDTH = 100
"""Columns of running text: longer lines are hard to read."""
NARROWEST = 40
_ENDLESS = 1_000_000
"""Columns of the page: a table too wide for the screen runs over its edge."""
_LEAST_TEXT = 12
_GAP = 2
_STYLES = {Tone.GOOD: "green", Tone.BAD: "bold red", Tone.WEAK: "yellow"}
_RULED = " ── \n"
_DASHED = " -- \n"
_BLANK = "    \n"


@dataclass(frozen=True)
class Screen:
    """Where a report is shown."""

    width: int = PLAIN_WIDTH
    """Columns."""
    terminal: bool = False
    """True for a terminal, which understands colour; NO_COLOR is honoured there."""
    unicode: bool = False
    """True where rules may be drawn with box characters."""


def screen_of(stream: TextIO | None) -> Screen:
    """The screen behind a stream such as ``sys.stdout``."""
    terminal = stream is not None and stream.isatty()
    stated = os.environ.get("COLUMNS", "")
    if stated.isdecimal() and int(stated) > 0:
        width = int(stated)
    elif terminal and stream is not None:
        try:
            width = os.get_terminal_size(stream.fileno()).columns or PLAIN_WIDTH
        except OSError:
            width = PLAIN_WIDTH
    else:
        width = PLAIN_WIDTH
    encoding = (getattr(stream, "encoding", "") or "").lower().replace("-", "")
    return Screen(max(width, NARROWEST), terminal, terminal and encoding == "utf8")


def printable(text: str) -> str:
    """Text without the characters that could steer a terminal; line ends stay."""
    return "".join(mark if mark.isprintable() or mark == "\n" else "?" for mark in text.replace("\t", " "))


def render(blocks: Iterable[Shown], screen: Screen) -> str:
    """The blocks as text that ends with a line end."""
    from io import StringIO

    from rich.console import Console

    page = StringIO()
    console = Console(
        file=page,
        width=_ENDLESS,
        force_terminal=screen.terminal,
        color_system="auto" if screen.terminal else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    before: Shown | None = None
    for block in blocks:
        if isinstance(block, Sketch) and not (drawing := _sketched(block, screen)):
            continue
        if before is not None and not (isinstance(before, Point) and isinstance(block, Point)):
            console.print()
        if isinstance(block, Table):
            console.print(_grid(block, screen), width=max(screen.width, _least_width(block)))
        elif isinstance(block, Sketch):
            console.print(drawing)
        else:
            console.print(_running(block), width=min(screen.width, LINE_WIDTH))
        before = block
    # Tables are padded to their width, which only bloats a file.
    lines = page.getvalue().splitlines()
    return "".join(f"{line if screen.terminal else line.rstrip()}\n" for line in lines)


def _sketched(sketch: Sketch, screen: Screen) -> str:
    """The lines of a sketch; none where the page is too narrow for it."""
    if screen.width < sketch.least:
        return ""
    return "\n".join(printable(line) for line in sketch.draw(screen.width, screen.unicode))


def _running(block: Heading | Paragraph | Point) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    if isinstance(block, Heading):
        return Text(printable(block.text), "bold")
    text = _text(Cell(block.text, block.tone) if block.tone else block.text)
    if isinstance(block, Paragraph):
        return text
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_row(Text("-"), text)
    return Padding(grid, (0, 0, 0, 2))


def _grid(table: Table, screen: Screen) -> RenderableType:
    from rich.box import Box
    from rich.table import Table as Grid

    rule = _RULED if screen.unicode else _DASHED
    # Lines of a box: top, head, rule under the head, row, row rule, rule over the foot, foot, bottom.
    box = Box(_BLANK * 2 + rule + _BLANK * 2 + rule + _BLANK * 2, ascii=not screen.unicode)
    grid = Grid(
        box=box,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_footer=bool(table.total),
        header_style="bold",
    )
    for number, (column, least) in enumerate(zip(table.columns, _least_widths(table), strict=True)):
        grid.add_column(
            column.title,
            footer=_text(table.total[number]) if table.total else "",
            justify="right" if column.number else "left",
            no_wrap=column.number or column.name,
            min_width=least,
            overflow="fold",
        )
    for row in table.rows:
        grid.add_row(*map(_text, row))
    return grid


def _least_widths(table: Table) -> list[int]:
    """Columns that each table column needs: a figure or an id is never cut short, for it would be a wrong one."""
    from rich.cells import cell_len

    rows = [*table.rows, *filter(None, [table.total])]
    found = []
    for number, column in enumerate(table.columns):
        widest = max(cell_len(printable(_plain(cell))) for cell in (column.title, *(row[number] for row in rows)))
        found.append(widest if column.number or column.name else min(widest, _LEAST_TEXT))
    return found


def _least_width(table: Table) -> int:
    widths = _least_widths(table)
    return sum(widths) + _GAP * (len(widths) - 1)


def _plain(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def _text(cell: str | Cell) -> RenderableType:
    from rich.text import Text

    return Text(printable(_plain(cell)), _STYLES[cell.tone] if isinstance(cell, Cell) else "", overflow="fold")
