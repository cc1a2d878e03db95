"""A frontier, as a person reads it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import NamedTuple

from gpunet.models.study_frontier import Axis, Frontier, FrontierPoint
from gpunet.report.blocks import Block, Cell, Column, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, listed

_CHANGES_SHOWN = 3
_ROWS = 60
_TITLES = {
    "cost": "cost USD",
    "power": "power W",
    "tco": "tco USD",
    "gpus": "GPUs",
    "oversubscription": "oversubscription",
    "latency": "latency ns",
    "racks": "network racks",
}
_ONE = {
    "cost": "USD",
    "power": "W",
    "tco": "USD",
    "gpus": "GPU",
    "oversubscription": "unit of ratio",
    "latency": "ns",
    "racks": "rack",
}
_WORDS = {"cost": "cheapest", "power": "coolest", "tco": "cheapest to run"}


class _Run(NamedTuple):
    """Points in a row that all differ from the one before by the same figures: one part swapped for another, say."""

    first: int
    last: int


def frontier_report(study: Frontier) -> list[Block]:
    """The answer in one paragraph, then the points."""
    if not study.points:
        why = "stopped before the first design" if not study.complete else "no design"
        return [Paragraph(f"{study.case}: {why}, so there is nothing to weigh ({study.status.value}).", Tone.BAD)]
    blocks: list[Block] = [Paragraph(_answer(study)), _table(study), Paragraph(f"Looked at: {study.how}.")]
    off = sum(not p.supported for p in study.points)
    if off and len(study.points) > 2:
        blocks.append(
            Point(
                f"{counted(off, 'point')} marked * lie off the convex hull: no weighting of {study.x.name} and "
                f"{study.y.name} would have found {'it' if off == 1 else 'them'}."
            )
        )
    if study.beaten:
        blocks.append(Point(f"Not worth asking for, more comes for as little: {_values(study.beaten, study.y)}."))
    if study.impossible:
        blocks.append(Point(f"No design: {_values(study.impossible, study.y)}.", Tone.BAD))
    return blocks


def _answer(study: Frontier) -> str:
    first, last = study.points[0], study.points[-1]
    where = f" of {study.fabric}" if study.fabric else ""
    text = f"{study.case}: {counted(len(study.points), 'design')} that none beats on {study.x.name} and {study.y.name}"
    text += f"{where}, proven with {counted(study.solves, 'solve')}. "
    text += f"The {_WORDS[study.x.name]} has {_at(first, study)}"
    return text + (f"; at the other end stands {_at(last, study)}." if len(study.points) > 1 else ".")


def _at(point: FrontierPoint, study: Frontier) -> str:
    y = "an unpublished latency" if point.y is None else f"{_figure(point.y, study.y)} {study.y.unit}"
    return f"{_figure(point.x, study.x)} {study.x.unit} and {y}"


def _figure(value: float, axis: Axis) -> str:
    if axis.unit == "USD":
        return f"{value:,.2f}"
    return f"{value:,.3f}" if axis.name == "power" else f"{value:,.6g}" if axis.name != "gpus" else f"{value:,.0f}"


def _values(values: Iterable[float], axis: Axis) -> str:
    return f"{listed([_figure(v, axis) for v in values])} {axis.unit}"


def _runs(study: Frontier) -> list[_Run]:
    """Points one by one, but longer rows of equal steps together."""
    points = study.points
    steps = [
        (round(b.x - a.x, 4), None if a.y is None or b.y is None else round(b.y - a.y, 4), b.change)
        for a, b in itertools.pairwise(points)
    ]
    runs, i = [_Run(0, 0)], 1
    while i < len(points):
        last = i
        while last + 1 < len(points) and steps[last] == steps[i - 1]:
            last += 1
        runs.append(_Run(i, last))
        i = last + 1
    return runs


def _table(study: Frontier) -> Table:
    runs = _runs(study)
    shown = runs if len(runs) <= _ROWS else [*runs[: _ROWS - 1], runs[-1]]
    columns = (
        Column(_TITLES[study.x.name], number=True),
        Column(_TITLES[study.y.name], number=True),
        Column("points", number=True),
        Column(f"{study.x.unit} per {_ONE[study.y.name]}", number=True),
        Column("what changes"),
    )
    rows = [_row(study, run) for run in shown]
    if len(shown) < len(runs):
        hidden = runs[_ROWS - 1 : -1]
        left_out = sum(run.last - run.first + 1 for run in hidden)
        rows.insert(-1, ("...", "...", str(left_out), "", Cell("left out here; --json lists them all", Tone.WEAK)))
    return Table(columns, tuple(rows))


def _row(study: Frontier, run: _Run) -> tuple[str | Cell, ...]:
    point, n = study.points[run.last], run.last - run.first + 1
    before = study.points[run.first - 1] if run.first else None
    rate = "-"
    if before is not None and before.y is not None and point.y is not None and point.y != before.y:
        rate = f"{abs((point.x - before.x) / (point.y - before.y)):,.2f}"
    mark = "" if point.supported else " *"
    return (
        _figure(point.x, study.x) + mark,
        "unknown" if point.y is None else _figure(point.y, study.y),
        str(n),
        rate,
        "-" if before is None else ("each " if n > 1 else "") + _changes(point.change),
    )


def _changes(change: tuple[str, ...]) -> str:
    every = list(change)
    shown = every[:_CHANGES_SHOWN] if len(every) > _CHANGES_SHOWN + 1 else every
    rest = f" and {len(every) - len(shown)} more" if len(shown) < len(every) else ""
    return ", ".join(shown) + rest or "nothing but lengths"
