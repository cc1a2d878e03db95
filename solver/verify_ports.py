"""Rows that name things that exist, ports that are free, and counts that the silicon allows."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gpunet.models.design import Check
from gpunet.models.parts import Protocol
from gpunet.solver.verify_book import (
    CLASSES,
    ENDPOINT_LEAF,
    KINDS,
    LEAF_SPINE,
    MOST_PORTS,
    SPINE_CORE,
    Book,
    coded,
    distinct,
)
from gpunet.solver.verify_links import Wiring
from gpunet.solver.verify_report import Findings

TIERS = ("leaf", "spine", "core")


def check_ledger(book: Book) -> Check:
    """Devices, places and adapters: names unique, everything they refer to exists."""
    findings = Findings("ledger")
    ledger, catalog = book.ledger, book.catalog
    for what, names in (("rack place", [p.name for p in ledger.places]), ("device", [d.name for d in ledger.devices])):
        for name, count in Counter(names).items():
            if count > 1:
                findings.add(f"{what} {name!r} is listed {count} times")
    parts = {
        "switch": set(catalog.switches),
        "server": set(catalog.servers),
        "storage-server": set(catalog.nics),
        "reserved": set(catalog.nics) | set(catalog.servers),
        "pdu": {""},
    }
    for device in ledger.devices:
        if device.kind not in KINDS:
            findings.add(f"{device.name} is a {device.kind!r}; known are {', '.join(KINDS)}")
        elif device.part not in parts[device.kind]:
            findings.add(f"{device.name}: no {device.kind} {device.part!r} in the catalogue")
        elif (device.tier in TIERS) != (device.kind == "switch"):
            findings.add(f"{device.name}: a {device.kind} with the tier {device.tier!r}")
    lost = np.flatnonzero(book.dev_rack < 0)
    findings.add_rows(lost, lambda i: f"{ledger.devices[i].name} stands in no rack place {ledger.devices[i].rack!r}")
    for adapter in ledger.adapters:
        if adapter.device not in book.device_index:
            findings.add(f"adapter {adapter.part} for no device {adapter.device!r}")
        elif adapter.part not in catalog.nics:
            findings.add(f"{adapter.device}: no NIC {adapter.part!r} in the catalogue")
        elif adapter.quantity < 1:
            findings.add(f"{adapter.device}: {adapter.quantity} x {adapter.part}")
    return findings.check(f"{len(ledger.devices):,} devices in {len(ledger.places):,} rack places, every name unique")


def check_ports(wiring: Wiring) -> Check:
    """Every link ends on a port that exists, in a mode the cage has, and no port is used twice."""
    book = wiring.book
    findings = Findings("ports")
    findings.add_rows(book.bad_rows, lambda row: _why_bad(book, row))
    _ends_of_class(book, findings)
    ends = np.concatenate([book.a_cage, book.b_cage])
    ports = np.concatenate([book.a_port, book.b_port])
    speed = np.concatenate([book.speed, book.speed])
    group = book.cage_group[ends]
    most = np.array([[g.most_ports(s) for s in book.speeds] or [0] for g in book.groups] or [[0]], np.int64)
    limit = most[group, speed]
    for i in np.flatnonzero(ports > limit).tolist():
        cage, gbps = book.cage_name(int(ends[i])), book.speed_gbps[speed[i]]
        has = f"{limit[i]} ports of {gbps:g}G" if limit[i] else f"no mode of {gbps:g}G"
        findings.add(f"{cage}: port {ports[i]} is used; the cage has {has}")
    two_speeds = distinct(ends[book.cage_speed[ends] != speed])
    findings.add_rows(two_speeds, lambda c: f"{book.cage_name(c)}: links of different speeds in one cage")
    used = np.sort(ends * (MOST_PORTS + 1) + ports)
    findings.add_rows(
        distinct(used[1:][used[1:] == used[:-1]]),
        lambda u: f"{book.cage_name(u // (MOST_PORTS + 1))} port {u % (MOST_PORTS + 1)} is used twice or more",
    )
    return findings.check(f"{len(book.row):,} links on {2 * len(book.row):,} ports that exist, none used twice")


def _why_bad(book: Book, row: int) -> str:
    link = book.ledger.links[row]
    where = f"link {row + 1}"
    for device, group, cage in (
        (link.a_device, link.a_group, link.a_cage),
        (link.b_device, link.b_group, link.b_cage),
    ):
        if book.cage_at(device, group, cage) < 0:
            return f"{where}: {book.why_no_cage(device, group, cage)}"
    if link.link_class not in CLASSES:
        return f"{where}: link class {link.link_class!r}; known are {', '.join(CLASSES)}"
    return f"{where}: ports {link.a_port} and {link.b_port}; ports count from 1"


def _ends_of_class(book: Book, findings: Findings) -> None:
    """``a`` and ``b`` are what the link class says, and belong to the fabric."""
    devices = book.ledger.devices
    tier, tier_names = coded([d.tier if d.kind == "switch" else "" for d in devices])
    fabric, fabric_names = coded([d.fabric for d in devices])
    a, b = book.cage_device[book.a_cage], book.cage_device[book.b_cage]
    managed = np.array([g.managed for g in book.groups] or [False])
    fabric_cage = np.array([g.cages.fabric for g in book.groups] or [False])
    at_a, at_b = book.cage_group[book.a_cage], book.cage_group[book.b_cage]
    tier_no = {name: tier_names.index(name) if name in tier_names else -1 for name in TIERS}
    ends_well = np.zeros(len(book.row), bool)
    for name, lower, upper in ((LEAF_SPINE, "leaf", "spine"), (SPINE_CORE, "spine", "core")):
        one_fabric = fabric[a] == fabric[b]
        pair = (tier[a] == tier_no[lower]) & (tier[b] == tier_no[upper]) & one_fabric & ~managed[at_b]
        ends_well |= book.in_class(name) & pair & fabric_cage[at_b]
    no_switch = tier[b] == (tier_names.index("") if "" in tier_names else -1)
    endpoint = managed[at_b] | (no_switch & fabric_cage[at_b])
    ends_well |= book.in_class(ENDPOINT_LEAF) & (tier[a] == tier_no["leaf"]) & endpoint
    # The network that carries each fabric: its own, or the one whose switches it shares.
    shared = {name: design.shared_with for name, design in book.result.fabrics.items() if design.shared_with}
    carrier = [shared.get(name, name) for name in book.fabric_names]
    owner = np.array([fabric_names.index(f) if f in fabric_names else -1 for f in carrier] or [-1])
    carried = (fabric[a] == owner[book.served]) & (fabric[a] == owner[book.fabric])
    named = (book.fabric == book.served) | (np.array(carrier or [""])[book.served] == _names(book)[book.fabric])
    sound = ends_well & fabric_cage[at_a] & (a != b) & carried & named
    findings.add_rows(
        np.flatnonzero(~sound),
        lambda i: (
            f"{book.link_name(i)} is no {book.class_names[int(book.klass[i])]} link of the fabric "
            f"{book.fabric_names[int(book.fabric[i])]!r}"
        ),
    )


def _names(book: Book) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    return np.array(book.fabric_names or [""])


def check_logical_ports(wiring: Wiring) -> Check:
    """The silicon's limit on logical ports, per switch, per independent switch and per pipeline."""
    book = wiring.book
    findings = Findings("logical-ports")
    ports = wiring.cage_mode_ports
    fabric = np.array([g.switch is not None and g.cages.fabric for g in book.groups] or [False])[book.cage_group]
    per_node = np.bincount(book.cage_node[fabric], ports[fabric], minlength=len(book.node_device))
    for node, device in enumerate(book.node_device.tolist()):
        switch = book.catalog.switches.get(book.ledger.devices[device].part)
        if switch is None or switch.max_logical_ports is None or book.ledger.devices[device].kind != "switch":
            continue
        limit = switch.max_logical_ports.v / switch.independent_switches
        if per_node[node] > limit:
            findings.add(f"{book.node_name(node)}: {per_node[node]:g} logical ports, {switch.id} drives {limit:g}")
    for number, group in enumerate(book.groups):
        if group.switch is None or not group.cages.fabric:
            continue
        adjacent, drives = group.switch.cages_per_pipeline, group.switch.ports_per_pipeline
        if not adjacent or not drives:
            continue
        cages = np.flatnonzero((book.cage_group == number) & (ports > 0))
        pipeline = (book.cage_no[cages] - 1) // adjacent
        key, at = np.unique(book.cage_device[cages] * MOST_PORTS**2 + pipeline, return_inverse=True)
        driven = np.bincount(at.reshape(-1), ports[cages], minlength=len(key))
        for i in np.flatnonzero(driven > drives).tolist():
            name = book.ledger.devices[int(key[i]) // MOST_PORTS**2].name
            first = int(key[i]) % MOST_PORTS**2 * adjacent + 1
            findings.add(
                f"{name} {group.name} {first} to {first + adjacent - 1}: {driven[i]:g} ports on a pipeline for {drives}"
            )
    return findings.check("no switch and no pipeline drives more logical ports than its silicon allows")


def protocol_of(book: Book, fabric: str) -> Protocol | None:
    """Protocol of the switches of a fabric; none where it has no switch or several protocols."""
    found = {
        book.catalog.switches[d.part].protocol
        for d in book.ledger.devices
        if d.kind == "switch" and d.fabric == fabric and d.part in book.catalog.switches
    }
    return found.pop() if len(found) == 1 else None
