"""The files of a design for spreadsheets: bill, cabling schedule and rack list.

Rows stand in a fixed order and lines end in a line feed, so that two runs of one case write the same bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gpunet.catalogs import find_part
from gpunet.design_file import write_design
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.evidence import MILLIWATTS_PER_WATT
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog
from gpunet.report.cabling import End, Run, schedule
from gpunet.report.cabling_panels import ChannelRow, channel_rows

BOM_COLUMNS = (
    "part",
    "kind",
    "vendor",
    "model",
    "part_numbers",
    "quantity",
    "owned",
    "unit_price_usd",
    "extended_usd",
    "price_how",
    "price_source",
    "price_date",
    "note",
)
_RUN_FIELDS = tuple(field for field in Run._fields if field not in ("a", "b", "head"))
CABLING_COLUMNS = (*_RUN_FIELDS, *(f"{side}_{field}" for side in "ab" for field in End._fields))
RACK_COLUMNS = ("device", "rack", "unit", "rack_units", "kind", "part", "fabric", "tier", "power_max_w")


def design_files(design: Design, catalog: Catalog) -> dict[str, Content]:
    """Every file of a design by name: what ``-o`` writes."""
    return {
        "design.json": write_design(design),
        "bom.csv": csv_file(_bom_columns(design), lambda: _bom_rows(design, catalog)),
        **cabling_file(design, catalog),
        "racks.csv": csv_file(RACK_COLUMNS, lambda: rack_rows(design, catalog)),
        **panels_file(design),
    }


def panels_file(design: Design) -> dict[str, Content]:
    """What is plugged where in panels; none for a design without them."""
    return {"panels.csv": csv_file(ChannelRow._fields, lambda: channel_rows(design))} if design.ledger.channels else {}


def cabling_file(design: Design, catalog: Catalog) -> dict[str, Content]:
    """The cabling schedule alone."""
    return {"cabling.csv": csv_file(CABLING_COLUMNS, lambda: cabling_rows(design, catalog))}


def csv_file(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[object]]]) -> Callable[[Path], None]:
    """A file of rows under column names, which are made when it is written."""

    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows())

    return write


def _bom_columns(design: Design) -> tuple[str, ...]:
    """The columns of the bill; who delivers a line is one of them where the order is split among suppliers."""
    return (*BOM_COLUMNS, "supplier") if design.case.buying is not None else BOM_COLUMNS


def _bom_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    split = design.case.buying is not None
    for line in design.result.bom:
        part = find_part(catalog, line.part)
        yield (
            line.part,
            line.kind,
            part.vendor if part else "",
            part.model if part else "",
            " ".join(part.part_numbers) if part else "",
            line.quantity,
            line.owned,
            f"{line.unit_price_usd:.2f}",
            f"{line.extended_usd:.2f}",
            line.price_how,
            line.price_source,
            line.price_date,
            line.note,
            *((line.supplier,) if split else ()),
        )


# --- cabling ----------------------------------------------------------------------------------------------------------


def cabling_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    """A row for every jumper, cable and leg of a splitter, in the order of pulling.

    Legs of one splitter share the number of their assembly. A port reads ``1+2`` where one plug carries several links.
    A label names its own end first, then the far one.
    """
    plain = _Plain()
    for run in schedule(design, catalog):
        *head, speed_gbps, part, length_m, medium, polarity, fibres, a, b, _ = run
        yield (
            *head,
            plain[speed_gbps],
            part,
            plain[length_m],
            medium,
            polarity,
            fibres,
            a.device,
            a.rack,
            a.unit or "",
            *a[3:],
            b.device,
            b.rack,
            b.unit or "",
            *b[3:],
        )


class _Plain(dict[float, str]):
    """Figures as text, each made once: few lengths and speeds stand in half a million rows."""

    def __missing__(self, value: float) -> str:
        text = self[value] = f"{value:g}"
        return text


# --- racks ------------------------------------------------------------------------------------------------------------


def rack_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    """A row for every device, rack by rack from the lowest unit, with its largest draw, plugs included."""
    for d, draw_mw in device_draws(design, catalog):
        yield d.name, d.rack, d.unit or "", d.rack_units, d.kind, d.part, d.fabric, d.tier, _watts(draw_mw)


def device_draws(design: Design, catalog: Catalog) -> Iterator[tuple[Device, int]]:
    """Every device with its largest draw, plugs included, mW; rack by rack from the lowest unit."""
    # numpy is heavy, and only who writes files should wait for it.
    from gpunet.solver.verify_book import Book
    from gpunet.solver.verify_links import Wiring
    from gpunet.solver.verify_site import Heat

    heat = Heat(Wiring(Book(design, catalog)))
    draw_mw = (heat.body_mw + heat.plugs_mw).tolist()
    rank = {place.name: number for number, place in enumerate(design.ledger.places)}
    devices = design.ledger.devices
    for i in sorted(range(len(draw_mw)), key=lambda i: (rank[devices[i].rack], devices[i].unit, i)):
        yield devices[i], draw_mw[i]


def _watts(milliwatts: int) -> str:
    return f"{milliwatts / MILLIWATTS_PER_WATT:.3f}".rstrip("0").rstrip(".")
