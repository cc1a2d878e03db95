"""The point-to-point list that NVIDIA's cable validation tool checks a fabric against: a workbook, a sheet per fabric.

Side A is the endpoint, or the lower switch; side Z the switch above it. Ports are named as the tool expects: rails of
hosts and ``swp3s1`` of switches on Ethernet, numbers of adapters and ports on InfiniBand, ``sw3p2`` under NVOS. Columns
after those of the tool say what the link is built with; the tool reads columns by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gpunet.export.ports import End, Ports, a_end, b_end
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Link
from gpunet.models.parts import Catalog
from gpunet.solver.verify_groups import BMC, MGMT

COLUMNS = (
    ("A-Rack", 9),
    ("A-U", 5),
    ("A-Node Name", 22),
    ("A-Type", 8),
    ("A-Port", 10),
    ("Z-Rack", 9),
    ("Z-RU", 5),
    ("Z-Node Name", 22),
    ("Z-Type", 8),
    ("Z-Port", 10),
    ("Speed, Gb/s", 11),
    ("Cable", 24),
    ("Length, m", 10),
    ("Piece", 8),
    ("A-Module", 22),
    ("Z-Module", 22),
)
"""Headings and widths; the first ten are those of the tool."""
MADE = datetime(2000, 1, 1)
"""Date in the file's properties: the same list gives the same bytes."""


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``p2p.xlsx``."""
    return {"p2p.xlsx": lambda path: _write(path, design, catalog)}


def _write(path: Path, design: Design, catalog: Catalog) -> None:
    from xlsxwriter import Workbook

    # The backend comes first, as in the result.
    fabrics: dict[str, list[Link]] = {name: [] for name in design.result.fabrics}
    for link in design.ledger.links:
        fabrics.setdefault(link.fabric, []).append(link)
    ports = Ports(design, catalog)
    modules = {seat[:3]: seat.part for seat in design.ledger.seats}
    with Workbook(path, {"constant_memory": True}) as book:
        book.set_properties({"title": f"Point to point: {design.case.name or 'design'}", "created": MADE})
        bold, left = book.add_format({"bold": True}), book.add_format({"align": "left"})
        for fabric, links in fabrics.items():
            if not links:
                continue
            sheet = book.add_worksheet(fabric)
            sheet.set_landscape()
            sheet.fit_to_pages(1, 0)
            sheet.repeat_rows(0)
            sheet.freeze_panes(1, 0)
            sheet.autofilter(0, 0, len(links), len(COLUMNS) - 1)
            for number, (_, width) in enumerate(COLUMNS):
                sheet.set_column(number, number, width, left)
            sheet.write_row(0, 0, [name for name, _ in COLUMNS], bold)
            # Asked by kind, a cell is written several times as fast as where the writer has to find out.
            write = {str: sheet.write_string, int: sheet.write_number, float: sheet.write_number}
            for number, row in enumerate(_rows(links, ports, modules), 1):
                for column, value in enumerate(row):
                    if value != "":
                        write[type(value)](number, column, value)


def _rows(
    links: Sequence[Link], ports: Ports, modules: Mapping[tuple[str, str, int], str]
) -> Iterator[tuple[object, ...]]:
    for link in links:
        # The ledger names the leaf first, the tool the host.
        near, far = a_end(link), b_end(link)
        a, z = (far, near) if link.link_class == "endpoint-leaf" else (near, far)
        built = (link.speed_gbps, link.medium, link.length_m, link.assembly)
        infiniband = ports.is_infiniband(link.a_device)
        sides = (*_side(a, ports, infiniband), *_side(z, ports, infiniband))
        yield *sides, *built, modules.get(a[:3], ""), modules.get(z[:3], "")


def _side(end: End, ports: Ports, infiniband: bool) -> tuple[object, ...]:
    device = ports.devices[end.device]
    switch = ports.is_switch(end.device)
    # An InfiniBand host is known by the numbers of its adapters.
    adapter = infiniband and not switch and end.group not in (BMC, MGMT)
    port = str(ports.port_number(end)) if adapter else ports.name(end)
    return device.rack, device.unit or "", end.device, "Switch" if switch else "Host", port
