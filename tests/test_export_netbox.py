"""The NetBox export against the columns, words and order of NetBox's bulk import, object by object."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sample_design import converged, hand_catalog, one_rack, two_by_two, two_pods, with_ledger

from gpunet.catalogs import load_catalog
from gpunet.export import export
from gpunet.export.netbox_words import CABLE_TYPES, ETHERNET_TYPES, FIBRE_TYPES, INFINIBAND_TYPES
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.ledger import Adapter
from gpunet.models.parts import Catalog
from gpunet.solver.optimize import optimize

Rows = list[dict[str, str]]
IMPORTS = {
    "01-sites": ({"name", "slug", "status"}, set()),
    "02-manufacturers": ({"name", "slug"}, set()),
    "03-device-roles": ({"name", "slug", "color"}, set()),
    "04-device-types": ({"manufacturer", "model", "slug"}, {"part_number", "u_height", "description"}),
    "05-module-types": ({"manufacturer", "model"}, {"part_number", "description"}),
    "06-racks": ({"site", "name", "status", "width", "u_height"}, {"description"}),
    "07-devices": (
        {"name", "role", "manufacturer", "device_type", "status", "site"},
        {"rack", "position", "face", "description"},
    ),
    "08-module-bays": ({"device", "name"}, {"position"}),
    "09-modules": ({"device", "module_bay", "module_type", "status"}, {"replicate_components"}),
    "10-interfaces": ({"device", "name", "type"}, {"speed", "mgmt_only", "description"}),
    "11-cables": (
        {f"side_{side}_{what}" for side in "ab" for what in ("device", "type", "name")},
        {"type", "status", "label", "length", "length_unit", "description"},
    ),
}
"""Columns of NetBox's import forms (4.2 and later): those they ask for, and those in use of the rest they know."""
INTERFACE_TYPES = {
    "1000base-t",
    "10gbase-t",
    "1000base-x-sfp",
    "10gbase-x-sfpp",
    "25gbase-x-sfp28",
    "50gbase-x-sfp56",
    "50gbase-x-sfp28",
    "100gbase-x-sfpdd",
    "100gbase-x-qsfp28",
    "100gbase-x-qsfpdd",
    "200gbase-x-qsfp56",
    "200gbase-x-qsfpdd",
    "400gbase-x-qsfp112",
    "400gbase-x-qsfpdd",
    "400gbase-x-osfp",
    "400gbase-x-osfp-rhs",
    "800gbase-x-qsfpdd",
    "800gbase-x-osfp",
    "infiniband-edr",
    "infiniband-hdr",
    "infiniband-ndr",
    "infiniband-xdr",
    "other",
}
"""Words of NetBox for interfaces that a design may have."""
CABLES = {"cat6a", "dac-passive", "dac-active", "aoc", "mmf-om3", "mmf-om4", "mmf-om5", "smf-os2"}
"""Words of NetBox for cables that a design may have."""


def with_cards() -> Design:
    """A rack with splitters, and two NICs bought for a server."""
    return with_ledger(one_rack("split"), adapters=[Adapter("server-1", "nic-400", 2)])


def everything() -> tuple[Design, Catalog]:
    """A real design: four fabrics, InfiniBand and Ethernet, with storage servers, PDUs and reserved endpoints."""
    catalog = load_catalog()
    fabrics = {
        "backend": {"protocols": ["infiniband"]},
        "storage": {"storage_servers": 2},
        "frontend": {},
        "oob": {},
    }
    cluster = {"gpus": 64, "server": "dgx-h100", "reserved_ports": {"backend": 2}}
    case = Case.model_validate({"cluster": cluster, "fabrics": fabrics})
    return optimize(case, catalog), catalog


DESIGNS: dict[str, Callable[[], tuple[Design, Catalog]]] = {
    "two-tiers": lambda: (two_by_two(), hand_catalog()),
    "three-tiers": lambda: (two_pods(), hand_catalog()),
    "converged": lambda: (converged(1), hand_catalog()),
    "splitters": lambda: (with_cards(), hand_catalog()),
    "copper": lambda: (one_rack("dac"), hand_catalog()),
    "everything": everything,
}


class Netbox:
    """A design and the tables exported of it."""

    def __init__(self, design: Design, catalog: Catalog, folder: Path) -> None:
        self.design, self.catalog = design, catalog
        self.tables: dict[str, Rows] = {}
        self.columns: dict[str, list[str]] = {}
        for path in write_all(folder, export(design, catalog, "netbox")):
            with path.open(encoding="utf-8", newline="") as stream:
                reader = csv.DictReader(stream)
                self.tables[path.stem] = list(reader)
                self.columns[path.stem] = list(reader.fieldnames or ())

    def __getitem__(self, name: str) -> Rows:
        return next(rows for stem, rows in self.tables.items() if stem.partition("-")[2] == name)


@pytest.fixture(scope="module", params=DESIGNS)
def netbox(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Netbox:
    return Netbox(*DESIGNS[request.param](), tmp_path_factory.mktemp("netbox"))


def test_columns_are_those_of_the_import_forms(netbox: Netbox) -> None:
    """Every column that a form asks for is there, and none that it does not know."""
    assert set(netbox.columns) == set(IMPORTS)
    for name, (needed, known) in IMPORTS.items():
        assert needed <= set(netbox.columns[name]) <= needed | known
        assert len(netbox.columns[name]) == len(set(netbox.columns[name]))
        for row in netbox.tables[name]:
            assert all(row[column] for column in needed)


def unique(rows: Rows, *columns: str) -> set[tuple[str, ...]]:
    found = [tuple(row[column] for column in columns) for row in rows]
    assert len(found) == len(set(found))
    return set(found)


def used(rows: Rows, *columns: str) -> set[tuple[str, ...]]:
    return {tuple(row[column] for column in columns) for row in rows}


def test_every_name_is_imported_before_it_is_used(netbox: Netbox) -> None:
    """In the order of the files each reference finds its object, and names that must be unique are."""
    sites, makers = unique(netbox["sites"], "name"), unique(netbox["manufacturers"], "name")
    roles, racks = unique(netbox["device-roles"], "name"), unique(netbox["racks"], "site", "name")
    types, devices = unique(netbox["device-types"], "manufacturer", "model"), unique(netbox["devices"], "name")
    modules = unique(netbox["module-types"], "model")
    bays, ports = unique(netbox["module-bays"], "device", "name"), unique(netbox["interfaces"], "device", "name")
    for table in ("sites", "manufacturers", "device-roles", "device-types"):
        assert all(re.fullmatch(r"[-a-zA-Z0-9_]+", slug) for (slug,) in unique(netbox[table], "slug"))
    assert used(netbox["device-types"], "manufacturer") | used(netbox["module-types"], "manufacturer") == makers
    assert used(netbox["racks"], "site") | used(netbox["devices"], "site") == sites
    assert used(netbox["devices"], "role") == roles
    assert used(netbox["devices"], "manufacturer", "device_type") == types
    assert used(netbox["devices"], "site", "rack") <= racks
    assert used(netbox["module-bays"], "device") | used(netbox["interfaces"], "device") <= devices
    assert unique(netbox["modules"], "device", "module_bay") <= bays
    assert used(netbox["modules"], "module_type") == modules
    ends = [*unique(netbox["cables"], "side_a_device", "side_a_name")]
    ends += unique(netbox["cables"], "side_b_device", "side_b_name")
    assert len(ends) == len(set(ends))
    assert set(ends) <= ports


def test_words_are_netboxs(netbox: Netbox) -> None:
    """Types, status, units and colours are words that NetBox knows."""
    assert used(netbox["interfaces"], "type") <= {(word,) for word in INTERFACE_TYPES}
    assert used(netbox["cables"], "type") <= {(word,) for word in CABLES}
    assert used(netbox["cables"], "length_unit", "side_a_type", "side_b_type") == {
        ("m", "dcim.interface", "dcim.interface")
    }
    for table in ("sites", "racks", "devices", "modules", "cables"):
        assert used(netbox[table], "status") <= {("planned",)}
    assert all(re.fullmatch("[0-9a-f]{6}", row["color"]) for row in netbox["device-roles"])
    assert used(netbox["devices"], "face") <= {("front",), ("",)}


def test_the_ledger_is_all_there(netbox: Netbox) -> None:
    """Racks, devices in their units, modules in their cages and links with their lengths, and nothing else."""
    ledger = netbox.design.ledger
    assert [row["name"] for row in netbox["racks"]] == [place.name for place in ledger.places]
    places = [(row["name"], row["rack"], row["position"]) for row in netbox["devices"]]
    assert places == [(d.name, d.rack, str(d.unit) if d.unit else "") for d in ledger.devices]
    heights = {row["model"]: int(row["u_height"]) for row in netbox["device-types"]}
    taken = [heights[row["device_type"]] for row in netbox["devices"]]
    assert taken == [d.rack_units if d.unit else 0 for d in ledger.devices]
    ids = {row["model"]: row["description"] for row in netbox["module-types"]}
    seats = [(row["device"], row["module_bay"], ids[row["module_type"]]) for row in netbox["modules"]]
    expected = [(s.device, f"{s.group}/{s.cage}", s.part) for s in ledger.seats]
    expected += [(a.device, f"nic-{n + 1}", a.part) for a in ledger.adapters for n in range(a.quantity)]
    assert seats == expected
    cables = [
        (
            *(row[f"side_{side}_{what}"] for side in "ab" for what in ("device", "name")),
            row["label"],
            float(row["length"]),
            row["description"],
        )
        for row in netbox["cables"]
    ]
    assert cables == [
        (
            link.a_device,
            f"{link.a_group}/{link.a_cage}/{link.a_port}",
            link.b_device,
            f"{link.b_group}/{link.b_cage}/{link.b_port}",
            str(link.assembly),
            link.length_m,
            link.medium,
        )
        for link in ledger.links
    ]


def test_ports_run_at_the_speed_of_their_links(netbox: Netbox) -> None:
    """Speeds are in kb/s; the management port alone is management only."""
    speeds = {(row["device"], row["name"]): int(row["speed"]) for row in netbox["interfaces"]}
    for link in netbox.design.ledger.links:
        assert speeds[link.a_device, f"{link.a_group}/{link.a_cage}/{link.a_port}"] == link.speed_gbps * 10**6
        assert speeds[link.b_device, f"{link.b_group}/{link.b_cage}/{link.b_port}"] == link.speed_gbps * 10**6
    management = {row["name"].split("/")[0] for row in netbox["interfaces"] if row["mgmt_only"] == "true"}
    assert management <= {"mgmt", "bmc"}


def test_a_split_cage_has_all_its_channels(tmp_path: Path) -> None:
    """A cage split in four has four physical interfaces; a splitter's cables share the number of the piece."""
    netbox = Netbox(with_cards(), hand_catalog(), tmp_path)
    channels = [row["name"] for row in netbox["interfaces"] if row["device"] == "leaf-1"]
    assert channels == [f"fabric/1/{port}" for port in (1, 2, 3, 4)]
    assert sorted(row["label"] for row in netbox["cables"]) == ["1", "1", "2", "2"]
    assert {row["type"] for row in netbox["interfaces"]} == {"infiniband-ndr"}


def test_free_cages_are_free_bays(tmp_path: Path) -> None:
    """Every cage of a switch is a bay, whether or not a module is in it; a fixed RJ45 port is none."""
    netbox = Netbox(two_by_two(), hand_catalog(), tmp_path)
    bays = [row["name"] for row in netbox["module-bays"] if row["device"] == "spine-1"]
    assert bays == [f"fabric/{cage}" for cage in range(1, 9)]
    assert [row["module_bay"] for row in netbox["modules"] if row["device"] == "spine-1"] == ["fabric/1", "fabric/2"]
    oob = {device.name for device in netbox.design.ledger.devices if device.fabric == "oob"}
    assert oob
    assert not [row for row in netbox["module-bays"] if row["device"] in oob]


def test_every_word_in_the_tables_is_known() -> None:
    """No part of the catalogue can lead to a word that NetBox lacks."""
    assert {*ETHERNET_TYPES.values(), *INFINIBAND_TYPES.values()} <= INTERFACE_TYPES
    assert {*CABLE_TYPES.values(), *FIBRE_TYPES.values()} <= CABLES
