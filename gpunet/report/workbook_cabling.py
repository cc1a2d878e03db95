"""The cabling schedule as sheets: the runs, the bundles in the order of pulling, and what to order by length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import groupby

from gpunet.catalogs import split_medium_id
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.report.cabling import End, Run, bundles, schedule
from gpunet.report.cabling_media import medium_of
from gpunet.report.cabling_panels import channel_rows, passive_parts
from gpunet.report.workbook_page import Book, Column, Value

_RUN_COLUMNS = (
    Column("Pull", 7, "count"),
    Column("Bundle", 9),
    Column("Piece", 8, "count"),
    Column("Leg", 5, "count"),
    Column("Route", 12),
    Column("Fabric", 10),
    Column("Part", 22),
    Column("Length, m", 8, "number"),
    Column("Medium", 9),
    Column("Polarity", 10),
)
_KEPT = 4
"""Columns that are repeated on the second page: they tell which run it is."""
_PLACE_COLUMNS = (Column("device", 21), Column("rack", 9), Column("unit", 6, "count"), Column("cage/port", 15))
_PLUG_COLUMNS = (Column("module", 20), Column("plug", 12), Column("label", 58, "wrap"))
_MORE_COLUMNS = (Column("Fibres at head", 10), Column("Gb/s", 6, "number"), Column("Links", 6, "count"))


def _both(columns: Sequence[Column]) -> list[Column]:
    return [column._replace(title=f"{side} {column.title}") for side in "AB" for column in columns]


_FIRST_PAGE = (*_RUN_COLUMNS, *_both(_PLACE_COLUMNS))
_COLUMNS = (*_FIRST_PAGE, *_MORE_COLUMNS, *_both(_PLUG_COLUMNS))
_SCALE = 65
"""Percent at which either page fills the width of the paper."""
_BUNDLE_COLUMNS = (
    Column("Bundle", 9),
    Column("Route", 14),
    Column("From", 12),
    Column("To", 12),
    Column("Fabric", 12),
    Column("Part", 26),
    Column("Length, m", 9, "number"),
    Column("Medium", 9),
    Column("Cables", 8, "count"),
    Column("First pull", 9, "count"),
    Column("Last pull", 9, "count"),
    Column("Done", 10),
)
_PANEL_COLUMNS = (
    Column("Piece", 8, "count"),
    Column("Structure", 12),
    Column("A device", 21),
    Column("A port", 15),
    Column("A cord", 22),
    Column("A panel/place", 14),
    Column("A rack", 10),
    Column("Run", 28),
    Column("Run no.", 9, "count"),
    Column("Connector", 10, "count"),
    Column("B panel/place", 14),
    Column("B rack", 10),
    Column("B cord", 22),
    Column("B device", 21),
    Column("B port", 15),
)
_ORDER_COLUMNS = (
    Column("Part", 28),
    Column("Medium", 10),
    Column("Length, m", 10, "number"),
    Column("Polarity", 12),
    Column("Head", 14),
    Column("Far end", 14),
    Column("Pieces", 10, "count"),
    Column("Metres", 12, "number"),
)


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``cabling.xlsx``: the schedule, its bundles and the cables by length."""
    runs = schedule(design, catalog)
    stream = BytesIO()
    book = Book(stream, f"{design.result.case}: cabling")
    _write_bundles(book, design, runs)
    write_runs(book, design, runs)
    _write_order(book, design, runs, catalog)
    write_panels(book, design)
    book.close()
    return {"cabling.xlsx": stream.getvalue()}


def write_runs(book: Book, design: Design, runs: Sequence[Run]) -> None:
    """A line for every run, one bundle after another."""
    sheet = book.sheet("Cabling", _COLUMNS, large=True)
    sheet.title(
        f"Cabling schedule: {design.result.case}",
        "In the order of pulling. A label names its own end first: number of the piece, rack and unit, cage group, "
        "cage and port, then the far end. The legs of a splitter share the number of the piece.",
        column=_KEPT,
    )
    head = sheet.head()
    last = ""
    for run in runs:
        look = "plain" if run.bundle == last else "group-start"
        last = run.bundle
        values: list[Value] = [
            run.pull,
            run.bundle,
            run.assembly,
            run.leg,
            run.route,
            run.fabric,
            run.part,
            run.length_m,
            run.medium,
            run.polarity,
            *_place(run.a),
            *_place(run.b),
            run.fibres,
            run.speed_gbps,
            run.links,
            *_plugged(run.a),
            *_plugged(run.b),
        ]
        sheet.add(values, look)
    sheet.freeze(head, _KEPT)
    sheet.split(len(_FIRST_PAGE), _KEPT, _SCALE)
    sheet.finish()


def _place(end: End) -> list[Value]:
    return [end.device, end.rack, end.unit or None, f"{end.cage_group} {end.cage}/{end.port}"]


def _plugged(end: End) -> list[Value]:
    return [end.module, end.connector, end.label]


def _write_bundles(book: Book, design: Design, runs: Sequence[Run]) -> None:
    sheet = book.sheet("Bundles", _BUNDLE_COLUMNS)
    sheet.title(
        f"Bundles: {design.result.case}",
        "Pull from the top down: routes between rows first, the longest before all others, racks within themselves "
        "last. The cables of a bundle run together and are of one part.",
    )
    head = sheet.head()
    for _, group in groupby(bundles(runs), key=lambda bundle: bundle.route):
        for number, bundle in enumerate(group):
            sheet.add([*bundle, None], "plain" if number else "group-start")
    sheet.freeze(head)
    sheet.add(["Total", *[None] * 7, len({run.assembly for run in runs}), *[None] * 3], "total")
    sheet.finish()


def write_panels(book: Book, design: Design) -> None:
    """A line for every channel through panels; no sheet where there is none."""
    if not design.ledger.channels:
        return
    sheet = book.sheet("Panels", _PANEL_COLUMNS, large=True)
    sheet.title(
        f"Panels: {design.result.case}",
        "From the device at A over its cord, the panel there, the run, the panel at B and the cord there to the device "
        "at B. A panel is told by number and place; channels with one run number share the run.",
    )
    head = sheet.head()
    for row in channel_rows(design):
        sheet.add(list(row))
    sheet.freeze(head, 1)
    sheet.finish()


def _write_order(book: Book, design: Design, runs: Sequence[Run], catalog: Catalog) -> None:
    sheet = book.sheet("Lengths", _ORDER_COLUMNS, wide=False)
    sheet.title(f"Cables by length: {design.result.case}", "What must be on site before the work starts; no spares.")
    head = sheet.head()
    laid = {row.assembly for row in design.ledger.channels}
    pieces = {run.assembly: run for run in reversed(runs) if run.assembly not in laid}
    count = Counter(run.part for run in pieces.values())
    first = {run.part: run for run in pieces.values()}
    for part in sorted(count, key=lambda name: (first[name].medium, name)):
        run = first[part]
        ends = (run.b, run.a) if run.head == "b" else (run.a, run.b)
        sheet.add(
            [
                part,
                run.medium,
                run.length_m,
                run.polarity,
                ends[0].connector,
                ends[1].connector,
                count[part],
                count[part] * run.length_m,
            ]
        )
    metres, total = sum(run.length_m for run in pieces.values()), len(pieces)
    for part, n in sorted(passive_parts(design.ledger).items()):
        medium, (_, length_m) = medium_of(part, catalog), split_medium_id(part)
        each_m = length_m or 0.0
        sheet.add([part, medium.name, each_m, medium.polarity, medium.head, medium.tail, n, n * each_m])
        metres, total = metres + n * each_m, total + n
    sheet.freeze(head)
    sheet.add(["Total", *[None] * 5, total, metres], "total")
    sheet.finish()
