"""Rack by rack: what stands where, how full and how hot each rack is."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from gpunet.models.design import Design
from gpunet.models.evidence import MILLIWATTS_PER_WATT
from gpunet.models.parts import Catalog
from gpunet.report.csv_files import device_draws
from gpunet.report.words import counted, listed
from gpunet.report.workbook_page import WRONG_CELL, Book, Column, Formula

SHEET = "Racks"
_W_PER_KW = 1000
_SUM = 9
"""Function of SUBTOTAL that adds up; it leaves out cells that are subtotals themselves."""
_COLUMNS = (
    Column("Rack", 11),
    Column("Device", 30),
    Column("Kind", 15),
    Column("Part", 24),
    Column("Fabric", 11),
    Column("Tier", 8),
    Column("Lowest unit", 9, "count"),
    Column("Units", 8, "count"),
    Column("At most, W", 14, "watts"),
    Column("Limit, W", 12, "watts"),
    Column("Share of limit", 10, "share"),
    Column("Units free", 9, "count"),
    Column("x, m", 8, "number"),
    Column("y, m", 8, "number"),
)
_PLURALS = {"switch": "switches", "reserved": "reserved endpoints", "pdu": "PDUs", "storage-server": "storage servers"}


def write_racks(book: Book, design: Design, catalog: Catalog) -> None:
    """The sheet: a line for every rack, with its devices folded below it."""
    rack = design.case.site.rack
    limit_w = min(rack.power_kw, rack.cooling_kw or rack.power_kw) * _W_PER_KW
    sheet = book.sheet(SHEET, _COLUMNS)
    sheet.sheet.outline_settings(True, False, True, False)
    sheet.title(
        f"Racks: {design.result.case}",
        f"Largest draw with all plugs, servers included. A rack has {rack.units} units and {limit_w:,.0f} W of power "
        "and cooling. Fold and unfold the devices with the signs in the margin.",
    )
    head = sheet.head()
    places = {place.name: place for place in design.ledger.places}
    total_units, total_w = 0, 0.0
    first = sheet.row
    for name, group in groupby(device_draws(design, catalog), key=lambda draw: draw[0].rack):
        inside = list(group)
        units = sum(device.rack_units for device, _ in inside if device.unit)
        watts = sum(power_mw for _, power_mw in inside) / MILLIWATTS_PER_WATT
        total_units, total_w = total_units + units, total_w + watts
        top, bottom = sheet.row + 2, sheet.row + 1 + len(inside)
        place = places[name]
        sheet.add(
            [
                name,
                _contents(Counter(device.kind for device, _ in inside)),
                *[None] * 5,
                Formula(f"SUBTOTAL({_SUM},H{top}:H{bottom})", units),
                Formula(f"SUBTOTAL({_SUM},I{top}:I{bottom})", watts),
                limit_w,
                Formula(f"I{top - 1}/J{top - 1}", watts / limit_w),
                Formula(f"{rack.units}-H{top - 1}", rack.units - units),
                place.x_m,
                place.y_m,
            ],
            "group",
        )
        for device, power_mw in inside:
            sheet.add(
                [
                    name,
                    device.name,
                    device.kind,
                    device.part,
                    device.fabric,
                    device.tier,
                    device.unit or None,
                    device.rack_units if device.unit else None,
                    power_mw / MILLIWATTS_PER_WATT,
                ],
                level=1,
            )
    last = sheet.row
    sheet.freeze(head, 2)
    sums = (("H", total_units), ("I", total_w))
    totals = [Formula(f"SUBTOTAL({_SUM},{column}{first + 1}:{column}{last})", value) for column, value in sums]
    sheet.add(["Room", *[None] * 6, *totals, *[None] * 5], "total")
    if last > first:
        sheet.mark((first, 10, last - 1, 10), f'AND($K{first + 1}<>"",$K{first + 1}>1)', WRONG_CELL)
    sheet.finish()


def _contents(kinds: Counter[str]) -> str:
    return listed([counted(n, kind, _PLURALS.get(kind, "")) for kind, n in kinds.items()])
