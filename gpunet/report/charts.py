"""The charts of a report as Vega-Lite specifications: data inside, colours by name, so that the page decides on them.

Colours are CSS variables, such as ``var(--switch)``: one drawing serves light, dark and paper. No chart has a legend
of its own; the page lists the series beside it as buttons, which set the parameter ``shown``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpunet.draw.svg import FONTS
from gpunet.report.blocks import Table

Row = dict[str, Any]
"""One datum: text and plain numbers."""
SHOWN = "shown"
"""Parameter that holds the series to be shown."""
ZOOM = "zoom"
"""Selection that holds the part of both axes to be shown."""
STILL_WIDTH_PX = 640
"""Width of the drawing for paper and for browsers without scripts; it scales with the page."""
_ROOM = {"left": 24, "right": 14, "top": 5, "bottom": 5}
"""Free edge of a still drawing: the fonts of the reader may be wider than those it was measured with."""
_BAR_PX = 26
_LABEL_PX = 150
_INK, _WEAK, _RULE, _MARK = "var(--ink)", "var(--weak)", "var(--rule)", "var(--mark)"


@dataclass(frozen=True)
class Series:
    """One colour of a chart."""

    name: str
    """Name, also in the data."""
    colour: str
    """CSS colour, a variable of the page."""


@dataclass(frozen=True)
class Chart:
    """A chart with what it shows in words and in figures."""

    name: str
    """Identifier in the page."""
    title: str
    says: str
    """What to see in it, in a sentence or two."""
    spec: dict[str, Any]
    """Vega-Lite specification; its width follows that of the page."""
    table: Table
    """The data as people read them."""
    series: tuple[Series, ...] = ()
    """Series that can be switched off and on; none for a chart in one colour."""
    zooms: bool = False
    """Whether its axes can be zoomed and moved."""


def still(chart: Chart) -> str:
    """The chart as an SVG drawing that needs no script; its ids begin with the name of the chart."""
    import re

    import vl_convert

    spec = chart.spec | {"width": STILL_WIDTH_PX, "padding": _ROOM}
    svg = vl_convert.vegalite_to_svg(spec, vl_version=_version(chart.spec))
    # The converter numbers ids on from one drawing to the next.
    for number, found in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', svg)), start=1):
        svg = svg.replace(f'id="{found}"', f'id="{chart.name}-{number}"')
        svg = svg.replace(f"url(#{found})", f"url(#{chart.name}-{number})")
    # Labels for readers of screens are on the figure and in its table; on every tick they only add weight.
    svg = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert size is not None
    return re.sub(r"<svg [^>]*>", f'<svg viewBox="{size[0][9:-1]}" aria-hidden="true" focusable="false">', svg, count=1)


def _version(spec: dict[str, Any]) -> str:
    """``6.4`` of the address of the schema: the release of Vega-Lite that the specification is written for."""
    major, minor, *_ = str(spec["$schema"]).rsplit("/v", 1)[1].split(".")
    return f"{major}.{minor}"


# --- kinds of charts --------------------------------------------------------------------------------------------------


def stacked(
    rows: Sequence[Row],
    series: Sequence[Series],
    *,
    row: str,
    colour: str,
    value: str,
    title: str,
    form: str,
    line_at: float | None = None,
) -> dict[str, Any]:
    """Horizontal bars, one for every ``row``, stacked by ``colour``; a line all down at ``line_at``, where given.

    ``form`` is the number format of the axis.
    """
    import altair as alt

    names = list(dict.fromkeys(datum[row] for datum in rows))
    rank = {s.name: i for i, s in enumerate(series)}
    bars = (
        alt.Chart(alt.InlineData(values=[datum | {"rank": rank[datum[colour]]} for datum in rows]))
        .transform_filter(f"indexof({SHOWN}, datum['{colour}']) >= 0")
        .mark_bar()
        .encode(
            x=alt.X(f"sum({value}):Q", title=title, axis=_axis(form)),
            y=alt.Y(f"{row}:N", sort=names, title=None, scale=alt.Scale(domain=names)),
            color=_coloured(colour, series),
            order=alt.Order("rank:Q"),
            tooltip=[
                alt.Tooltip(f"{row}:N"),
                alt.Tooltip(f"{colour}:N"),
                alt.Tooltip(f"sum({value}):Q", title=title, format=",.2f"),
            ],
        )
    )
    layers: list[Any] = [bars]
    if line_at is not None:
        layers.append(_line_at(line_at))
    chart = alt.layer(*layers).add_params(alt.param(name=SHOWN, value=[s.name for s in series]))
    return _finished(chart, bars=len(names))


def scatter(
    rows: Sequence[Row],
    series: Sequence[Series],
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    x_form: str,
    y_form: str,
    ceilings: Sequence[Row] = (),
) -> dict[str, Any]:
    """Points joined by a line in the order of ``x``, that of the ``chosen`` design marked; zoomed by the wheel.

    ``series`` are the values of ``kind``. ``ceilings`` are rows with a figure ``at`` on the y axis and a ``label``.
    """
    import altair as alt

    # Points at the ends of an axis are drawn whole.
    scale = alt.Scale(zero=False, padding=14)
    axes = {
        "x": alt.X(f"{x}:Q", title=x_title, axis=_axis(x_form), scale=scale),
        "y": alt.Y(f"{y}:Q", title=y_title, axis=_axis(y_form), scale=scale),
    }
    base = alt.Chart(alt.InlineData(values=list(rows)))
    line = base.mark_line(color=_WEAK, strokeWidth=1, clip=True).encode(**axes, order=alt.Order(f"{x}:Q"))
    points = (
        base.transform_filter(f"indexof({SHOWN}, datum.kind) >= 0")
        .mark_point(filled=True, size=70, opacity=1, clip=True)
        .encode(
            **axes,
            color=_coloured("kind", series),
            tooltip=[
                alt.Tooltip(f"{x}:Q", title=x_title, format=",.2f"),
                alt.Tooltip(f"{y}:Q", title=y_title, format=",.2f"),
                alt.Tooltip("change:N", title="in place of the point before"),
            ],
        )
    )
    chosen = (
        base.transform_filter("datum.chosen")
        .mark_point(shape="diamond", size=330, stroke=_MARK, strokeWidth=3, filled=False, opacity=1, clip=True)
        .encode(**axes, tooltip=[alt.Tooltip("chosen:N", title="design")])
    )
    # The wheel alone scrolls the page.
    zoom = alt.selection_interval(name=ZOOM, bind="scales", zoom="wheel![event.ctrlKey || event.shiftKey]")
    layers = [line, points.add_params(zoom), chosen]
    if ceilings:
        marked = alt.Chart(alt.InlineData(values=list(ceilings)))
        at = alt.Y("at:Q")
        layers.append(marked.mark_rule(color=_MARK, strokeDash=[6, 4], clip=True).encode(y=at))
        layers.append(
            marked.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=_INK, font=FONTS).encode(
                x=alt.value(0), y=at, text="label:N"
            )
        )
    chart = alt.layer(*layers).add_params(alt.param(name=SHOWN, value=[s.name for s in series]))
    spec = _finished(chart, height=320)
    spec["usermeta"] = {ZOOM: {"x": x, "y": y}}
    return spec


def spans(
    rows: Sequence[Row],
    series: Sequence[Series],
    *,
    title: str,
    form: str,
    line_at: float,
    ticks: Sequence[Row] = (),
    tips: Sequence[str] = (),
) -> dict[str, Any]:
    """Horizontal bars from ``from`` to ``to`` in rows by ``part``, coloured by ``kind``; an upright line ``line_at``.

    ``ticks`` are rows with ``part`` and ``at``, and ``tips`` fields that the pointer shows.
    """
    import altair as alt

    names = list(dict.fromkeys(datum["part"] for datum in rows))
    y = alt.Y("part:N", sort=names, title=None, scale=alt.Scale(domain=names))
    bars = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .transform_filter(f"indexof({SHOWN}, datum.kind) >= 0")
        .mark_bar(height=15)
        .encode(
            x=alt.X("from:Q", title=title, axis=_axis(form)),
            x2="to:Q",
            y=y,
            color=_coloured("kind", series),
            tooltip=[alt.Tooltip("part:N"), *(alt.Tooltip(f"{tip}:N") for tip in tips)],
        )
    )
    layers: list[Any] = [bars]
    if ticks:
        marks = alt.Chart(alt.InlineData(values=list(ticks)))
        layers.append(
            marks.mark_tick(color=_INK, thickness=2, size=21).encode(
                x="at:Q", y=y, tooltip=[alt.Tooltip("part:N"), alt.Tooltip("says:N", title="there")]
            )
        )
    layers.append(_line_at(line_at))
    chart = alt.layer(*layers).add_params(alt.param(name=SHOWN, value=[s.name for s in series]))
    return _finished(chart, bars=len(names))


def columns(
    rows: Sequence[Row], series: Sequence[Series], *, x_title: str, y_title: str, limits: Sequence[Row] = ()
) -> dict[str, Any]:
    """Upright bars of ``count`` over ``x`` with width, stacked by ``kind``; ``limits`` are upright lines.

    A row holds ``x``, ``count`` and ``kind``; a limit ``x`` and ``label``.
    """
    import altair as alt

    domain = [s.name for s in series]
    most = max([*(datum["x"] for datum in rows), *(limit["x"] for limit in limits)])
    scale = alt.Scale(domain=[0, most * 1.06], nice=False, padding=0)
    bars = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .transform_filter(f"indexof({SHOWN}, datum.kind) >= 0")
        .mark_bar(size=11)
        .encode(
            x=alt.X("x:Q", title=x_title, axis=_axis(",.3~f"), scale=scale),
            y=alt.Y("sum(count):Q", title=y_title, axis=alt.Axis(tickCount=4, format=",d")),
            color=_coloured("kind", series),
            tooltip=[
                alt.Tooltip("kind:N", title="links"),
                alt.Tooltip("x:Q", title=x_title),
                alt.Tooltip("sum(count):Q", title=y_title, format=",d"),
            ],
        )
    )
    layers: list[Any] = [bars]
    if limits:
        lines = alt.Chart(alt.InlineData(values=list(limits)))
        x = alt.X("x:Q")
        layers.append(lines.mark_rule(color=_MARK, strokeDash=[5, 3], strokeWidth=2).encode(x=x))
        layers.append(
            lines.mark_text(align="right", baseline="top", dx=-4, color=_INK, font=FONTS, fontSize=11).encode(
                x=x, y=alt.value(2), text="label:N"
            )
        )
    chart = alt.layer(*layers).add_params(alt.param(name=SHOWN, value=domain))
    return _finished(chart, height=190)


def plan(rows: Sequence[Row], series: Sequence[Series], *, cell_px: float) -> dict[str, Any]:
    """The room from above: a square for every rack at ``x_m``, ``y_m``, coloured by ``kind``."""
    import altair as alt

    high_m = max(datum["y_m"] for datum in rows) - min(datum["y_m"] for datum in rows)
    wide_m = max(datum["x_m"] for datum in rows) - min(datum["x_m"] for datum in rows)
    scale = alt.Scale(nice=False, zero=False, padding=cell_px)
    chart = (
        alt.Chart(alt.InlineData(values=list(rows)))
        .transform_filter(f"indexof({SHOWN}, datum.kind) >= 0")
        .mark_square(size=cell_px * cell_px, opacity=1, stroke=_RULE, strokeWidth=0.5)
        .encode(
            x=alt.X("x_m:Q", title="along the row, m", axis=_axis(",.3~f"), scale=scale),
            y=alt.Y("y_m:Q", title="across the rows, m", axis=_axis(",.3~f"), scale=scale),
            color=_coloured("kind", series),
            tooltip=[alt.Tooltip("rack:N"), alt.Tooltip("heat_kw:Q", title="heat, kW", format=",.2f")],
        )
        .add_params(alt.param(name=SHOWN, value=[s.name for s in series]))
    )
    return _finished(chart, height=round(min(420, max(110, 60 + 640 * high_m / max(wide_m, high_m, 1)))))


def _axis(form: str) -> Any:
    """A horizontal or upright axis of figures with few ticks; nothing is 0 and not 0k."""
    import altair as alt

    return alt.Axis(format=form, tickCount=5, labelExpr="datum.value === 0 ? '0' : datum.label")


def _line_at(at: float) -> Any:
    import altair as alt

    return alt.Chart(alt.InlineData(values=[{"at": at}])).mark_rule(color=_MARK, strokeWidth=2).encode(x="at:Q")


def _coloured(field: str, series: Sequence[Series]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[s.name for s in series], range=[s.colour for s in series])
    return alt.Color(f"{field}:N", scale=scale, legend=None)


def _finished(chart: Any, *, bars: int = 0, height: int = 0) -> dict[str, Any]:
    """The specification, as wide as the page, in the colours of the page."""
    text = {"labelFont": FONTS, "titleFont": FONTS, "labelColor": _INK, "titleColor": _INK}
    finished = chart.properties(width="container", height=height or bars * _BAR_PX + 4).configure(
        background="transparent",
        # Readers of screens get the figure's label and its table.
        aria=False,
        mark={"aria": False},
        font=FONTS,
        view={"stroke": None},
        axis={
            **text,
            "aria": False,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": "normal",
            "labelLimit": _LABEL_PX,
            "labelOverlap": "greedy",
            "domainColor": _WEAK,
            "tickColor": _WEAK,
            "gridColor": _RULE,
        },
        axisY={"domain": False, "ticks": False, "labelPadding": 6},
    )
    spec: dict[str, Any] = finished.to_dict()
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec
