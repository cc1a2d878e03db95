"""What the case asks for against what is attached: endpoints, bandwidth, growth, rails."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from gpunet.models.case import StorageMode, Topology
from gpunet.models.design import Check
from gpunet.solver.verify_book import Book, Floats, Ints, tally
from gpunet.solver.verify_groups import BMC, MGMT, server_cages
from gpunet.solver.verify_ports import protocol_of
from gpunet.solver.verify_report import Findings

SERVERS_PER_STORAGE_SERVER = 8


def fabric_links(book: Book, fabric: str) -> Ints:
    """Endpoint links of one fabric."""
    return np.flatnonzero(book.of_fabric(fabric) & book.in_class("endpoint-leaf"))


def check_attached(book: Book) -> Check:
    """Every endpoint that the case asks for is there and has the ports and the bandwidth it is owed."""
    findings = Findings("attached")
    case = book.case
    servers = book.devices_of("server")
    if len(servers) != book.server_count:
        findings.add(f"{len(servers):,} servers in the design, the case asks for {book.server_count:,}")
    other = [i for i in servers if book.ledger.devices[i].part != case.cluster.server]
    findings.add_rows(other, lambda i: f"{book.ledger.devices[i].name} is no {case.cluster.server}")
    wanted = wanted_fabrics(book)
    for fabric in wanted:
        if fabric not in book.result.fabrics:
            findings.add(f"{fabric}: asked for, not in the result")
    for number in np.unique(np.concatenate([book.fabric, book.served])).tolist():
        if (fabric := book.fabric_names[number]) not in wanted:
            findings.add(f"{fabric}: has links, the case does not ask for it")
    if "backend" in wanted:
        _backend(book, servers, findings)
    if "storage" in wanted:
        _storage(book, servers, findings)
    if "frontend" in wanted and case.fabrics.frontend is not None:
        _bandwidth(book, "frontend", servers, case.fabrics.frontend.server_gbps, findings)
    if "oob" in wanted:
        _management(book, findings)
    _reserved(book, findings)
    _adapters(book, wanted, servers, findings)
    return findings.check(
        f"{len(servers):,} servers and every other endpoint have all their ports on {', '.join(wanted)}"
    )


def wanted_fabrics(book: Book) -> list[str]:
    """Fabrics that the case asks for."""
    fabrics = book.case.fabrics
    found = [name for name in ("backend", "storage", "frontend", "oob") if getattr(fabrics, name) is not None]
    if fabrics.storage is not None and fabrics.storage.mode is StorageMode.NONE:
        found.remove("storage")
    return found


def _per_device(book: Book, links: Ints, weights: Floats) -> Floats:
    return tally(book.cage_device[book.b_cage[links]], weights, len(book.ledger.devices))


def _backend(book: Book, servers: list[int], findings: Findings) -> None:
    """Every port of every backend cage, at one speed."""
    spec, links = book.case.fabrics.backend, fabric_links(book, "backend")
    server = book.catalog.servers.get(book.case.cluster.server)
    found = server_cages(book.case, book.catalog, server).get("backend") if server else None
    if spec is None or found is None:
        findings.add(f"{book.case.cluster.server} has no backend cages")
        return
    cages = found[0].cages
    protocol = protocol_of(book, "backend")
    usable = [m for m in cages.modes if protocol is None or protocol in m.protocols]
    speed = spec.speed_gbps
    if speed is None:
        speed = max(usable, key=lambda m: (m.ports * m.speed_gbps, m.speed_gbps)).speed_gbps if usable else 0.0
    ports = cages.count * max((m.ports for m in usable if m.speed_gbps == speed), default=0)
    if not ports:
        findings.add(f"backend: the server has no mode of {speed:g}G")
    off = links[book.gbps[links] != speed]
    findings.add_rows(off, lambda i: f"{book.link_name(i)} runs {book.gbps[i]:g}G, not {speed:g}G")
    have = _per_device(book, links, np.ones(len(links)))
    short = [i for i in servers if have[i] != ports]
    findings.add_rows(
        short, lambda i: f"{book.ledger.devices[i].name}: {have[i]:g} backend ports attached, {ports} asked for"
    )


def _bandwidth(book: Book, fabric: str, devices: list[int], gbps: float, findings: Findings) -> None:
    links = fabric_links(book, fabric)
    have = _per_device(book, links, book.gbps[links])
    short = [i for i in devices if have[i] < gbps]
    findings.add_rows(
        short, lambda i: f"{book.ledger.devices[i].name}: {have[i]:g} Gb/s on {fabric}, {gbps:g} asked for"
    )


def _storage(book: Book, servers: list[int], findings: Findings) -> None:
    spec = book.case.fabrics.storage
    if spec is None:
        return
    gbps = spec.server_gbps
    server = book.catalog.servers.get(book.case.cluster.server)
    if gbps is None and server is not None:
        found = server_cages(book.case, book.catalog, server).get("storage")
        protocol = protocol_of(book, "storage") or protocol_of(book, "backend")
        gbps = 0.0
        if found is not None:
            modes = [m for m in found[0].cages.modes if protocol is None or protocol in m.protocols]
            gbps = found[0].cages.count * max((m.ports * m.speed_gbps for m in modes), default=0.0)
    _bandwidth(book, "storage", servers, gbps or 0.0, findings)
    wanted = spec.storage_servers
    if wanted is None:
        wanted = math.ceil(book.server_count / SERVERS_PER_STORAGE_SERVER)
    stores = book.devices_of("storage-server")
    if len(stores) != wanted:
        findings.add(f"{len(stores)} storage servers in the design, {wanted} asked for")
    _bandwidth(book, "storage", stores, spec.storage_server_gbps, findings)


def _management(book: Book, findings: Findings) -> None:
    """One 1G port for every BMC port, every switch of another fabric, and every PDU."""
    links = fabric_links(book, "oob")
    cages = np.zeros(len(book.cage_device), bool)
    cages[book.b_cage[links]] = True
    names = [g.name for g in book.groups]
    kinds = [g.kind for g in book.groups]
    owed = np.array([n == BMC or (n == MGMT and k in ("switch", "pdu")) for n, k in zip(names, kinds, strict=True)])
    own = np.array([d.fabric == "oob" for d in book.ledger.devices] or [False])
    if len(book.cage_device):
        missing = np.flatnonzero(owed[book.cage_group] & ~own[book.cage_device] & ~cages)
        findings.add_rows(missing, lambda c: f"{book.cage_name(c)} has no management link")
    oob = book.case.fabrics.oob
    per_rack = oob.pdus_per_rack if oob is not None else 0
    pdus = Counter(d.rack for d in book.ledger.devices if d.kind == "pdu")
    used = {d.rack for d in book.ledger.devices if d.kind in ("server", "storage-server")}
    wrong = sorted(rack for rack in used if pdus[rack] != per_rack)
    for rack in wrong:
        findings.add(f"{rack}: {pdus[rack]} PDUs with a management port, {per_rack} asked for")


def _reserved(book: Book, findings: Findings) -> None:
    for fabric, ports in book.case.cluster.reserved_ports.items():
        links = fabric_links(book, fabric.value)
        kinds = [book.ledger.devices[d].kind for d in book.cage_device[book.b_cage[links]].tolist()]
        have = kinds.count("reserved")
        if have < ports and fabric.value in wanted_fabrics(book):
            findings.add(f"{fabric.value}: {have} reserved ports attached, {ports} asked for")


def _adapters(book: Book, wanted: list[str], servers: list[int], findings: Findings) -> None:
    """NICs that the server does not include are bought for every server."""
    server = book.catalog.servers.get(book.case.cluster.server)
    if server is None:
        return
    owed: Counter[str] = Counter()
    for fabric, (cages, cards) in server_cages(book.case, book.catalog, server).items():
        if fabric in wanted and cages.nic is not None:
            owed[cages.nic] += cards
    bought: Counter[tuple[str, str]] = Counter()
    for adapter in book.ledger.adapters:
        bought[adapter.device, adapter.part] += adapter.quantity
    for nic, cards in owed.items():
        for name in (book.ledger.devices[i].name for i in servers):
            if bought[name, nic] != cards:
                findings.add(f"{name}: {bought[name, nic]} x {nic} bought, it takes {cards}")


def rail_optimized(book: Book) -> bool:
    backend = book.result.fabrics.get("backend")
    return backend is not None and backend.topology == Topology.RAIL_OPTIMIZED.value


def check_rails(book: Book) -> Check:
    """Rail-optimised: port i of every server of a leaf group goes to the same leaf of the group."""
    findings = Findings("rails")
    if not rail_optimized(book):
        return findings.check("no fabric is rail-optimised")
    links = fabric_links(book, "backend")
    servers = np.array([d.kind == "server" for d in book.ledger.devices] or [False])
    links = links[servers[book.cage_device[book.b_cage[links]]]]
    if not len(links):
        findings.add("backend: rail-optimised, but no server is attached")
        return findings.check("")
    server = book.cage_device[book.b_cage[links]]
    leaf = book.cage_node[book.a_cage[links]]
    group = np.array([d.group for d in book.ledger.devices], np.int64)[book.node_device[leaf]]
    home = np.zeros(len(book.ledger.devices), np.int64)
    home[server] = group
    split = np.unique(server[home[server] != group])
    findings.add_rows(split, lambda i: f"{book.ledger.devices[i].name} is attached to several leaf groups")
    most = np.array([max((m.ports for m in g.cages.modes), default=1) for g in book.groups], np.int64)
    b = book.b_cage[links]
    rail = (book.cage_no[b] - 1) * most[book.cage_group[b]] + book.b_port[links]
    groups, at = np.unique(group, return_inverse=True)
    key, first, place = np.unique(at.reshape(-1) * (int(rail.max()) + 1) + rail, return_index=True, return_inverse=True)
    off = np.flatnonzero(leaf != leaf[first][place.reshape(-1)])
    findings.add_rows(
        off,
        lambda k: (
            f"{book.ledger.devices[int(server[k])].name}: rail {rail[k]} goes to {book.node_name(int(leaf[k]))}, "
            f"that of its group to {book.node_name(int(leaf[first][place.reshape(-1)[k]]))}"
        ),
    )
    return findings.check(
        f"{len(key)} rails in {len(groups)} leaf groups, each on one leaf for every server of its group"
    )
