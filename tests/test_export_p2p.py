"""NVIDIA's point-to-point list: the documented columns, read as its readers do, and every link in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from sample_design import converged, hand_catalog, one_rack, two_by_two, two_pods

from gpunet.catalogs import load_catalog
from gpunet.export import export
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.solver.optimize import optimize

DOCUMENTED = [
    *("A-Rack", "A-U", "A-Node Name", "A-Type", "A-Port"),
    *("Z-Rack", "Z-RU", "Z-Node Name", "Z-Type", "Z-Port"),
]
"""Headings of the cable validation tool, as its manual has them."""


def sheets(design: Design, catalog: Catalog, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of every sheet by heading."""
    (path,) = write_all(folder, export(design, catalog, "nvidia-p2p"))
    book = load_workbook(path, read_only=True)
    found = {}
    for sheet in book.worksheets:
        head, *rows = sheet.iter_rows(values_only=True)
        assert list(head[: len(DOCUMENTED)]) == DOCUMENTED
        found[sheet.title] = [dict(zip(map(str, head), row, strict=True)) for row in rows]
    book.close()
    return found


@pytest.mark.parametrize(
    "design", [two_by_two(), two_pods(), converged(1), one_rack("split")], ids=["two", "three", "converged", "split"]
)
def test_every_link_is_listed(design: Design, tmp_path: Path) -> None:
    """A sheet for each fabric and a row for each link: endpoint or lower switch first, with rack, unit and part."""
    found = sheets(design, hand_catalog(), tmp_path)
    devices = {device.name: device for device in design.ledger.devices}
    assert list(found) == [name for name in design.result.fabrics if any(x.fabric == name for x in design.ledger.links)]
    for fabric, rows in found.items():
        links = [link for link in design.ledger.links if link.fabric == fabric]
        for row, link in zip(rows, links, strict=True):
            pair = (link.a_device, link.b_device)
            a, z = pair[::-1] if link.link_class == "endpoint-leaf" else pair
            assert (row["A-Node Name"], row["Z-Node Name"]) == (a, z)
            for side, unit, name in (("A", "A-U", a), ("Z", "Z-RU", z)):
                device = devices[name]
                assert (row[f"{side}-Rack"], row[unit]) == (device.rack, device.unit or None)
                assert row[f"{side}-Type"] == ("Switch" if device.kind == "switch" else "Host")
            built = (row["Speed, Gb/s"], row["Cable"], row["Length, m"], row["Piece"])
            assert built == (link.speed_gbps, link.medium, link.length_m, link.assembly)


def test_no_port_is_listed_twice(tmp_path: Path) -> None:
    """Within a node every port has a name of its own."""
    design = two_pods()
    rows = [row for rows in sheets(design, hand_catalog(), tmp_path).values() for row in rows]
    ports = [(row[f"{side}-Node Name"], row[f"{side}-Port"]) for row in rows for side in "AZ"]
    assert len(ports) == len(set(ports)) == 2 * len(design.ledger.links)


def ports(case: dict[str, Any], folder: Path) -> tuple[set[str], set[str]]:
    """Port names of hosts and of switches in the backend of a case."""
    catalog = load_catalog()
    rows = sheets(optimize(Case.model_validate(case), catalog), catalog, folder)["backend"]
    hosts = {row["A-Port"] for row in rows if row["A-Type"] == "Host"}
    return hosts, {row["Z-Port"] for row in rows if row["Z-Type"] == "Switch"}


@pytest.mark.parametrize(
    ("server", "allow", "host", "switch"),
    [
        ("dgx-h100", "eth-sn5600", r"rail[1-8]", r"swp\d+s[01]"),
        ("dgx-h100", "ib-qm9700", r"[1-8]", r"[1-9]\d?"),
        ("dgx-b300", "ib-q3400", r"[1-8]", r"sw\d+p[12]"),
    ],
    ids=["ethernet", "infiniband", "nvos"],
)
def test_ports_have_the_names_of_the_manual(server: str, allow: str, host: str, switch: str, tmp_path: Path) -> None:
    """Rails and ``swp`` ports on Ethernet, numbers on InfiniBand, ``sw`` ports where NVOS runs."""
    protocol = "ethernet" if allow.startswith("eth") else "infiniband"
    backend = {"protocols": [protocol], "parts": {"allow": [allow]}}
    case = {"cluster": {"servers": 4, "server": server}, "fabrics": {"backend": backend}}
    hosts, switches = ports(case, tmp_path)
    assert len(hosts) == 8
    assert all(re.fullmatch(host, name) for name in hosts)
    assert all(re.fullmatch(switch, name) for name in switches)


def test_the_management_of_a_switch_is_its_own_port(tmp_path: Path) -> None:
    """Not one of the ports on its face plate."""
    rows = sheets(two_by_two(), hand_catalog(), tmp_path)["oob"]
    assert {row["A-Port"] for row in rows if row["A-Type"] == "Switch"} == {"eth0"}
