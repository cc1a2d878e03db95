"""Ethernet exports: containerlab's documented topology, and netlab itself, which transforms what it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sample_design import hand_catalog, one_rack, two_by_two, with_ledger

from gpunet.catalogs import load_catalog
from gpunet.export import ExportError, export
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.ledger import Device, Link
from gpunet.models.parts import Catalog
from gpunet.solver.optimize import optimize

STRINGS = {"type": "object", "additionalProperties": {"type": "string"}}
TOPOLOGY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "topology"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9][a-zA-Z0-9._-]*$"},
        "topology": {
            "type": "object",
            "required": ["nodes", "links"],
            "additionalProperties": False,
            "properties": {
                "kinds": {
                    "type": "object",
                    "propertyNames": {"enum": ["linux", "sonic-vs"]},
                    "additionalProperties": {
                        "type": "object",
                        "properties": {"image": {"type": "string"}},
                        "additionalProperties": False,
                    },
                },
                "nodes": {
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": {"pattern": "^[a-zA-Z0-9][a-zA-Z0-9._-]*$"},
                    "additionalProperties": {
                        "type": "object",
                        "required": ["kind"],
                        "additionalProperties": False,
                        "properties": {
                            "kind": {"enum": ["linux", "sonic-vs"]},
                            "group": {"type": "string"},
                            "labels": STRINGS,
                        },
                    },
                },
                "links": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["endpoints"],
                        "additionalProperties": False,
                        "properties": {
                            "endpoints": {
                                "type": "array",
                                "minItems": 2,
                                "maxItems": 2,
                                "uniqueItems": True,
                                "items": {"type": "string", "pattern": r"^\S+:eth[1-9]\d*$"},
                            }
                        },
                    },
                },
            },
        },
    },
}
"""What containerlab documents of the keys in use: a topology has named nodes of known kinds and links of two ends.

For these two kinds the interfaces of links are ``eth1`` and up; ``eth0`` is the management of the lab.
"""


@pytest.fixture(scope="module")
def small() -> tuple[Design, Catalog]:
    """4 servers with an Ethernet backend of two tiers, and their management."""
    catalog = load_catalog()
    backend = {"protocols": ["ethernet"], "parts": {"allow": ["eth-sn5600"]}}
    fabrics = {"backend": backend, "oob": {}}
    case = Case.model_validate({"name": "Try it!", "cluster": {"servers": 4, "server": "dgx-h100"}, "fabrics": fabrics})
    return optimize(case, catalog), catalog


def read(design: Design, catalog: Catalog, name: str, folder: Path) -> dict[str, Any]:
    """An export as any YAML reader has it."""
    (path,) = write_all(folder, export(design, catalog, name))
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def ends(link: Link) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    a = link.a_device, link.a_group, link.a_cage, link.a_port
    return a, (link.b_device, link.b_group, link.b_cage, link.b_port)


def check(links: list[Link], wired: list[tuple[tuple[str, int], tuple[str, int]]]) -> None:
    """Every link of the ledger is there, in its order, and each end has an interface of its own, from 1 upwards."""
    assert [(a[0], b[0]) for a, b in wired] == [(link.a_device, link.b_device) for link in links]
    numbers: dict[str, dict[tuple[Any, ...], int]] = {}
    for link, pair in zip(links, wired, strict=True):
        for end, (device, number) in zip(ends(link), pair, strict=True):
            numbers.setdefault(device, {})[end] = number
    for own in numbers.values():
        assert sorted(own.values()) == list(range(1, len(own) + 1))


def split(end: str) -> tuple[str, int]:
    device, interface = end.split(":")
    return device, int(interface.removeprefix("eth"))


# --- containerlab -----------------------------------------------------------------------------------------------------


def test_containerlab_gets_what_it_documents(small: tuple[Design, Catalog], tmp_path: Path) -> None:
    """The file keeps to the documented topology: switches of one kind, all else of another, links of interfaces."""
    lab = read(*small, "containerlab", tmp_path)
    jsonschema.validate(lab, TOPOLOGY_SCHEMA)
    assert lab["name"] == "try-it"
    ledger = small[0].ledger
    nodes = lab["topology"]["nodes"]
    kinds = {device.name: "sonic-vs" if device.kind == "switch" else "linux" for device in ledger.devices}
    assert {name: node["kind"] for name, node in nodes.items()} == kinds
    leaf = next(device for device in ledger.devices if device.tier == "leaf" and device.fabric == "backend")
    labels = {"part": leaf.part, "fabric": "backend", "rack": leaf.rack, "unit": str(leaf.unit)}
    assert nodes[leaf.name] == {"kind": "sonic-vs", "group": "leaf", "labels": labels}
    wired = [link["endpoints"] for link in lab["topology"]["links"]]
    check(ledger.links, [(split(a), split(b)) for a, b in wired])


def test_the_schema_refuses_what_containerlab_would(small: tuple[Design, Catalog], tmp_path: Path) -> None:
    """The check is worth something: a node of no kind, a link of one end or to the lab's own interface fails it."""
    for spoil in (
        lambda lab: lab["topology"]["nodes"]["server-00001"].pop("kind"),
        lambda lab: lab["topology"]["links"][0]["endpoints"].pop(),
        lambda lab: lab["topology"]["links"][0].update(endpoints=["server-00001:eth0", "server-00002:eth1"]),
    ):
        lab = read(*small, "containerlab", tmp_path)
        spoil(lab)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(lab, TOPOLOGY_SCHEMA)


def test_infiniband_stays_out_of_a_lab(tmp_path: Path) -> None:
    """Of a design with both, the lab has Ethernet: an InfiniBand switch stands there with its management port only."""
    design = two_by_two()
    lab = read(design, hand_catalog(), "containerlab", tmp_path)
    ethernet = [link for link in design.ledger.links if link.fabric == "oob"]
    check(ethernet, [(split(a), split(b)) for a, b in (x["endpoints"] for x in lab["topology"]["links"])])
    nodes = lab["topology"]["nodes"]
    switches = {d.name for d in design.ledger.devices if d.fabric == "oob"}
    assert {name for name, node in nodes.items() if node["kind"] == "sonic-vs"} == switches
    assert nodes["leaf-1"]["kind"] == "linux"


@pytest.mark.parametrize("name", ["containerlab", "netlab"])
def test_a_design_without_ethernet_is_refused(name: str) -> None:
    """The message says that labs of containers run Ethernet only."""
    with pytest.raises(ExportError, match="no fabric is Ethernet"):
        export(one_rack("dac"), hand_catalog(), name)


# --- netlab -----------------------------------------------------------------------------------------------------------


def test_netlab_transforms_the_topology(small: tuple[Design, Catalog], tmp_path: Path) -> None:
    """netlab accepts the topology, and the nodes and links that it goes on with are those of the ledger."""
    netlab = Path(sys.executable).with_name("netlab")
    write_all(tmp_path, export(*small, "netlab"))
    done = subprocess.run(
        [netlab, "create", "-o", "yaml=made.yml", "topology.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    whole = yaml.safe_load((tmp_path / "made.yml").read_text(encoding="utf-8"))
    made = whole["links"]
    ledger = small[0].ledger
    wired = [[(end["node"], end["ifindex"]) for end in link["interfaces"]] for link in made]
    check(ledger.links, [(a, b) for a, b in wired])
    devices = {device.name: "frr" if device.kind == "switch" else "linux" for device in ledger.devices}
    assert {name: node["device"] for name, node in whole["nodes"].items()} == devices
    assert [link["bandwidth"] for link in made] == [link.speed_gbps * 10**6 for link in ledger.links]


def test_netlab_is_given_room(small: tuple[Design, Catalog], tmp_path: Path) -> None:
    """A lab of more nodes or longer names than netlab allows says so in the file; a small one says nothing."""
    topology = read(*small, "netlab", tmp_path)
    assert topology["defaults.const.MAX_NODE_ID_LENGTH"] == len("backend-leaf-0001")
    assert "defaults.const.MAX_NODE_ID" not in topology
    design, catalog = small
    ledger = design.ledger
    link = next(link for link in ledger.links if link.fabric == "oob")
    extra = [Device(f"pdu-{i}", "pdu", "", "", "", -1, ledger.devices[0].rack, 0, 0) for i in range(150)]
    links = [
        link._replace(b_device=device.name, b_group="mgmt", b_cage=1, a_cage=i + 1) for i, device in enumerate(extra)
    ]
    many = with_ledger(design, devices=[*ledger.devices, *extra], links=links)
    topology = read(many, catalog, "netlab", tmp_path)
    assert topology["defaults.const.MAX_NODE_ID"] == 151
    assert topology["addressing"]["mgmt"]["ipv4"].endswith("/16")
