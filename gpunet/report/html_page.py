"""The page: sections of blocks, charts and pictures, set by the templates into one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from gpunet.report.blocks import Block, Cell, Point
from gpunet.report.charts import Chart, still

if TYPE_CHECKING:
    from jinja2 import Environment

_LINE_SEPARATORS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028"})
"""Marks that would end a script, or begin a comment, inside a page."""


@dataclass(frozen=True)
class Picture:
    """A drawing that is SVG already."""

    name: str
    title: str
    says: str
    svg: str


@dataclass(frozen=True)
class Facts:
    """Figures side by side: a name, the figure, and a word on it."""

    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Fold:
    """Blocks behind a summary that opens them."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Shelf:
    """Folds to look something up in; too much for paper, and left out there."""

    title: str
    folds: tuple[Fold, ...]


@dataclass(frozen=True)
class Grid:
    """Charts side by side where there is room."""

    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class Command:
    """How to get what was not asked for."""

    what: str
    """What would stand here."""
    option: str
    """Option of ``gpunet report`` that brings it."""
    command: str = ""
    """Command that writes a file for ``--study``; none where only the option brings it."""


Item = Block | Chart | Picture | Facts | Fold | Shelf | Grid | Command


@dataclass(frozen=True)
class Section:
    """A chapter of the page."""

    name: str
    """Identifier, for links."""
    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Page:
    """All that the templates set."""

    title: str
    answer: Section
    sections: tuple[Section, ...]
    made_with: str
    """Program, catalogue and solver."""


def render(page: Page) -> str:
    """The page as one HTML file. Equal pages give equal bytes."""
    charts = [c for s in (page.answer, *page.sections) for c in _charts(s)]
    names = [section.name for section in page.sections] + [chart.name for chart in charts]
    if len(set(names)) != len(names):
        raise ValueError(f"two parts of the page have one name: {names}")
    environment = _environment()
    template = environment.get_template("report.html.j2")
    html = template.render(
        page=page,
        stills={chart.name: still(chart) for chart in charts},
        specs=script_data({chart.name: chart.spec for chart in charts}),
        library=library() if charts else "",
    )
    return "\n".join(line.rstrip() for line in html.splitlines() if line.strip()) + "\n"


def _charts(section: Section) -> list[Chart]:
    found: list[Chart] = []
    for item in section.items:
        found += item.charts if isinstance(item, Grid) else [item] if isinstance(item, Chart) else []
    return found


def script_data(data: Any) -> str:
    """Data as JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).translate(_LINE_SEPARATORS)


@cache
def library() -> str:
    """The chart library, once for all charts: Vega, Vega-Lite and Vega-Embed."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("gpunet.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = kind
    environment.filters["plain"] = _plain
    environment.filters["tone"] = _tone
    environment.filters["marked"] = _marked
    return environment


def kind(item: Item) -> str:
    """Which macro sets an item: the name of its class in lower case."""
    return type(item).__name__.lower()


def _plain(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def _tone(cell: str | Cell) -> str:
    return cell.tone.value if isinstance(cell, Cell) else ""


def _marked(blocks: Sequence[Block]) -> list[Block | list[Point]]:
    """The blocks with points in a row gathered into lists."""
    found: list[Block | list[Point]] = []
    for block in blocks:
        if not isinstance(block, Point):
            found.append(block)
        elif found and isinstance(found[-1], list):
            found[-1].append(block)
        else:
            found.append([block])
    return found
