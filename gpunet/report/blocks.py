"""What a report is made of: headings, paragraphs, points and tables, before anything knows of a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Tone(StrEnum):
    """What a text means to the reader; a terminal shows it in colour, plain text goes without."""

    GOOD = "good"
    BAD = "bad"
    WEAK = "weak"
    """A figure that is no firm one: estimated, or remembered."""


class Cell(NamedTuple):
    """A table cell with a tone."""

    text: str
    tone: Tone


@dataclass(frozen=True)
class Heading:
    """Opens a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True)
class Point:
    """One entry of a list."""

    text: str
    tone: Tone | None = None


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    number: bool = False
    """True for figures: set to the right and never broken."""
    name: bool = False
    """True for ids, which are never broken either, so that they can be copied."""


@dataclass(frozen=True)
class Table:
    """Rows under column titles; ``total`` is a last row set apart."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    total: tuple[str | Cell, ...] = ()


@dataclass(frozen=True)
class Sketch:
    """A drawing in characters, which a page that is too narrow goes without."""

    least: int
    """Columns that it needs."""
    draw: Callable[[int, bool], list[str]]
    """Its lines for a page of so many columns; the second says whether box characters may be used."""


Block = Heading | Paragraph | Point | Table
Shown = Block | Sketch
"""What a page of text may hold."""
