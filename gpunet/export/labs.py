"""The Ethernet fabrics as topologies of containerlab and netlab, which start a network of containers.

Every Ethernet switch and everything that stands on an Ethernet fabric is a node, and every link a link. Interfaces are
numbered through from ``eth1`` on each node, in the order of its ports, for ``eth0`` belongs to the lab. Which port that
is, and speed and cable, stand in comments. Both files are YAML, written by hand: a dumper takes minutes for large ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpunet.export import ExportError
from gpunet.export.ports import End, Ports, a_end, b_end
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Device, Link
from gpunet.models.parts import Catalog

SWITCH_KIND, SWITCH_IMAGE = "sonic-vs", "docker-sonic-vs:latest"
HOST_KIND, HOST_IMAGE = "linux", "alpine:latest"
SWITCH_DEVICE, HOST_DEVICE = "frr", "linux"
KBPS_PER_GBPS = 10**6
MOST_NODES, LONGEST_NAME = 150, 16
"""Nodes and letters of a name that netlab allows unless told otherwise."""


class Lab:
    """What runs in a lab: the nodes, the links, and the interface of every end."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        ports = Ports(design, catalog)
        self.name = re.sub(r"[^a-z0-9]+", "-", (design.case.name or "design").lower()).strip("-") or "design"
        self.links = [link for link in design.ledger.links if not ports.is_infiniband(link.a_device)]
        if not self.links:
            raise ExportError("no fabric is Ethernet, and labs of containers run no other")
        ends = {end for link in self.links for end in (a_end(link), b_end(link))}
        self.nodes = [device for device in design.ledger.devices if device.name in {end.device for end in ends}]
        self._switches = {node.name for node in self.nodes if ports.is_switch(node.name)}
        self._switches -= {node.name for node in self.nodes if ports.is_infiniband(node.name)}
        self._numbers: dict[End, int] = {}
        last: dict[str, int] = {}
        for end in sorted(ends, key=lambda end: (end.device, ports.port_number(end))):
            last[end.device] = self._numbers[end] = last.get(end.device, 0) + 1

    def is_switch(self, node: Device) -> bool:
        """Whether a node switches Ethernet; an InfiniBand switch with its management port is a host here."""
        return node.name in self._switches

    def number(self, end: End) -> int:
        """Number of the interface at an end, from 1."""
        return self._numbers[end]


def _note(link: Link) -> str:
    a, b = a_end(link), b_end(link)
    return f"{link.speed_gbps:g}G {a.label} - {b.label}, {link.medium}"


# --- containerlab -----------------------------------------------------------------------------------------------------


def containerlab_files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``network.clab.yml``. Raises ``ExportError`` where no fabric is Ethernet."""
    lab = Lab(design, catalog)
    return {"network.clab.yml": lambda path: _write(path, _containerlab(lab))}


def _containerlab(lab: Lab) -> Iterator[str]:
    yield f"name: {lab.name}"
    yield "topology:"
    yield "  kinds:"
    yield f"    {SWITCH_KIND}: {{image: {json.dumps(SWITCH_IMAGE)}}}"
    yield f"    {HOST_KIND}: {{image: {json.dumps(HOST_IMAGE)}}}"
    yield "  nodes:"
    for node in lab.nodes:
        switch = lab.is_switch(node)
        labels = {"part": node.part, "fabric": node.fabric, "rack": node.rack, "unit": str(node.unit)}
        told = {name: text for name, text in labels.items() if text}
        group = node.tier or node.kind
        kind = SWITCH_KIND if switch else HOST_KIND
        yield f"    {json.dumps(node.name)}: {{kind: {kind}, group: {group}, labels: {json.dumps(told)}}}"
    yield "  links:"
    for link in lab.links:
        a, b = (json.dumps(f"{end.device}:eth{lab.number(end)}") for end in (a_end(link), b_end(link)))
        yield f"    - endpoints: [{a}, {b}]  # {_note(link)}"


# --- netlab -----------------------------------------------------------------------------------------------------------


def netlab_files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``topology.yml``. Raises ``ExportError`` where no fabric is Ethernet."""
    lab = Lab(design, catalog)
    return {"topology.yml": lambda path: _write(path, _netlab(lab))}


def _netlab(lab: Lab) -> Iterator[str]:
    yield f"name: {lab.name}"
    yield "provider: clab"
    longest = max(len(node.name) for node in lab.nodes)
    if longest > LONGEST_NAME:
        yield f"defaults.const.MAX_NODE_ID_LENGTH: {longest}"
    if len(lab.nodes) > MOST_NODES:
        yield f"defaults.const.MAX_NODE_ID: {len(lab.nodes)}"
        # The usual /24 pools have no room for so many.
        yield "addressing:"
        yield "  loopback: {ipv4: 10.0.0.0/16}"
        yield "  router_id: {ipv4: 10.0.0.0/16, prefix: 32}"
        yield "  mgmt: {ipv4: 172.31.0.0/16, start: 100}"
    yield "nodes:"
    for node in lab.nodes:
        device = SWITCH_DEVICE if lab.is_switch(node) else HOST_DEVICE
        yield f"  {json.dumps(node.name)}: {{device: {device}}}  # {node.part or node.kind}, {node.rack}"
    yield "links:"
    for link in lab.links:
        ends = ", ".join(
            f"{json.dumps(end.device)}: {{ifindex: {lab.number(end)}}}" for end in (a_end(link), b_end(link))
        )
        # Cables alone: addresses are for whoever runs the lab to give.
        kbps = round(link.speed_gbps * KBPS_PER_GBPS)
        yield f"  - {{{ends}, prefix: false, bandwidth: {kbps}}}  # {_note(link)}"


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)
