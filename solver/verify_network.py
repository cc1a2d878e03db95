"""Each network of switches as a graph of bundles: one edge for all links between the same two switches.

A network is the set of switches bought for one fabric; converged storage runs on the backend's network. The
nodes are switches; a box of k independent switches is k nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpunet.models.case import FabricBase, Striping
from gpunet.models.design import Check
from gpunet.solver.verify_book import (
    ENDPOINT_LEAF,
    LEAF_SPINE,
    SPINE_CORE,
    Book,
    Bools,
    Floats,
    Ints,
    tally,
)
from gpunet.solver.verify_report import Findings

NS_PER_M = 5.0
"""Light in fibre and signals in copper (evidence.md 4)."""


@dataclass(frozen=True)
class Bundles:
    """Links of one class, joined: ``count`` links of one speed between ``low`` and ``high``."""

    low: Ints
    high: Ints
    gbps: Floats
    count: Ints

    @property
    def bandwidth(self) -> Floats:
        """Gb/s of each bundle."""
        return self.gbps * self.count


@dataclass
class Network:
    """Switches of one fabric and what joins them."""

    name: str
    book: Book
    leaves: Ints
    spines: Ints
    cores: Ints
    leaf_spine: Bundles
    spine_core: Bundles
    endpoint_links: Ints
    """Good links that join endpoints to the leaves."""
    carried: list[str]
    """Fabrics whose endpoints this network serves."""

    @property
    def tiers(self) -> int:
        """Switch tiers in use."""
        return 3 if len(self.cores) else 2 if len(self.spines) else 1

    @cached_property
    def down_gbps(self) -> dict[str, Floats]:
        """Per carried fabric: endpoint bandwidth attached to every node, Gb/s."""
        book, links = self.book, self.endpoint_links
        node = book.cage_node[book.a_cage[links]]
        found = {}
        for name in self.carried:
            here = book.of_fabric(name)[links]
            found[name] = tally(node[here], book.gbps[links][here], len(book.node_device))
        return found

    @cached_property
    def up_gbps(self) -> Floats:
        """Uplink bandwidth of every node, Gb/s."""
        return self._sum(self.leaf_spine, "low") + self._sum(self.spine_core, "low")

    @cached_property
    def from_below_gbps(self) -> Floats:
        """Bandwidth that lower switches bring to every node, Gb/s."""
        return self._sum(self.leaf_spine, "high") + self._sum(self.spine_core, "high")

    def _sum(self, bundles: Bundles, end: str) -> Floats:
        node = getattr(bundles, end)
        return tally(node, bundles.bandwidth, len(self.book.node_device))

    @cached_property
    def pods(self) -> Ints:
        """Per node: number of the leaf-spine component it is in, the smallest node of it."""
        return components(len(self.book.node_device), [(self.leaf_spine.low, self.leaf_spine.high)])

    @cached_property
    def planes(self) -> Ints:
        """Per node: number of the spine-core component it is in, the smallest node of it."""
        return components(len(self.book.node_device), [(self.spine_core.low, self.spine_core.high)])

    def sigma(self, fabric: str) -> float:
        """Largest oversubscription the case allows to the endpoints of a fabric."""
        spec = spec_of(self.book, fabric)
        return spec.oversubscription if spec is not None else 1.0

    @property
    def tightest_sigma(self) -> float:
        """The strictest oversubscription of the fabrics carried, which holds above the leaves."""
        return min((self.sigma(f) for f in self.carried), default=self.sigma(self.name))

    @property
    def strict(self) -> bool:
        """True where the case asks for equal multiplicity."""
        specs = [spec_of(self.book, f) for f in {self.name, *self.carried}]
        return any(s is None or s.striping is Striping.STRICT for s in specs)


def spec_of(book: Book, fabric: str) -> FabricBase | None:
    """What the case asks of a fabric; none where it does not want it."""
    found = getattr(book.case.fabrics, fabric, None)
    return found if isinstance(found, FabricBase) else None


def networks(book: Book) -> list[Network]:
    """Every network of the design, in the order in which its switches are listed."""
    devices = book.ledger.devices
    names = list(dict.fromkeys(d.fabric for d in devices if d.kind == "switch"))
    found = []
    node_fabric = [devices[d].fabric if devices[d].kind == "switch" else "" for d in book.node_device.tolist()]
    node_tier = [devices[d].tier if devices[d].kind == "switch" else "" for d in book.node_device.tolist()]
    fabric, tier = np.array(node_fabric, dtype=object), np.array(node_tier, dtype=object)
    a_fabric = fabric[book.cage_node[book.a_cage]]
    used = np.zeros(len(book.node_device), bool)
    used[book.cage_node[np.concatenate([book.a_cage, book.b_cage])]] = True
    several = np.bincount(book.node_device)[book.node_device] > 1 if len(book.node_device) else used
    # The unused half of a box is no switch of the network; an unused whole box is, and is dark.
    whole_box_idle = np.bincount(book.node_device, used)[book.node_device] == 0 if len(used) else used
    counted = used | ~several | whole_box_idle
    for name in names:
        mine = (a_fabric == name) if len(a_fabric) else np.zeros(0, bool)
        here = (fabric == name) & counted
        endpoint = np.flatnonzero(mine & book.in_class(ENDPOINT_LEAF))
        carried = [book.fabric_names[i] for i in np.unique(book.served[endpoint]).tolist()]
        leaves, spines, cores = (np.flatnonzero(here & (tier == t)) for t in ("leaf", "spine", "core"))
        up, across = (_bundles(book, mine & book.in_class(c)) for c in (LEAF_SPINE, SPINE_CORE))
        served = [*(f for f in carried if f == name), *(f for f in sorted(carried) if f != name)]
        found.append(Network(name, book, leaves, spines, cores, up, across, endpoint, served))
    return found


def _bundles(book: Book, links: Bools) -> Bundles:
    low, high = book.cage_node[book.a_cage[links]], book.cage_node[book.b_cage[links]]
    nodes, speeds = len(book.node_device) + 1, len(book.speeds) + 1
    key, count = np.unique((low * nodes + high) * speeds + book.speed[links], return_counts=True)
    pair = key // speeds
    return Bundles(pair // nodes, pair % nodes, book.speed_gbps[key % speeds], count)


def components(nodes: int, edges: list[tuple[Ints, Ints]]) -> Ints:
    """Label of every node: the smallest node it is connected with."""
    label = np.arange(nodes, dtype=np.int64)
    while True:
        before = label.copy()
        for x, y in edges:
            least = np.minimum(label[x], label[y])
            np.minimum.at(label, x, least)
            np.minimum.at(label, y, least)
        label = label[label]
        if (label == before).all():
            return label


def check_connected(nets: list[Network]) -> Check:
    """The switches of every fabric are one component, so every endpoint reaches every other."""
    findings = Findings("connected")
    for net in nets:
        edges = [(b.low, b.high) for b in (net.leaf_spine, net.spine_core)]
        label = components(len(net.book.node_device), edges)
        everywhere = np.concatenate([net.leaves, net.spines, net.cores])
        parts = np.unique(label[everywhere])
        if len(parts) > 1:
            apart = net.book.node_name(int(parts[1]))
            findings.add(f"{net.name}: {len(parts)} parts without a link between them ({apart} is in the second)")
    return findings.check(f"each of {len(nets)} networks is in one piece")


def check_striping(nets: list[Network]) -> Check:
    """Strict: every switch runs equally many equal-speed links to every switch above it; nothing stands dark."""
    findings = Findings("striping")
    notes = []
    for net in nets:
        _dark(net, findings)
        if not net.strict:
            notes.append(f"{net.name}: not proven non-blocking (striping: ports)")
            continue
        _equal_multiplicity(net, net.leaf_spine, net.pods, net.spines, "spine", findings)
        _equal_multiplicity(net, net.spine_core, net.planes, net.cores, "core", findings)
        if net.tiers == 3:
            _equal_planes(net, findings)
        notes.append(f"{net.name}: equal multiplicity at every tier")
    return findings.check("; ".join(notes) or "no network")


def _dark(net: Network, findings: Findings) -> None:
    name = net.book.node_name
    idle = net.spines[net.from_below_gbps[net.spines] == 0]
    findings.add_rows(idle, lambda n: f"{net.name}: spine {name(n)} is dark, no leaf is linked to it")
    idle = net.cores[net.from_below_gbps[net.cores] == 0]
    findings.add_rows(idle, lambda n: f"{net.name}: core {name(n)} is dark, no spine is linked to it")
    if net.tiers > 1:
        alone = net.leaves[net.up_gbps[net.leaves] == 0]
        findings.add_rows(alone, lambda n: f"{net.name}: leaf {name(n)} has no uplink")
    if net.tiers > 2:
        alone = net.spines[net.up_gbps[net.spines] == 0]
        findings.add_rows(alone, lambda n: f"{net.name}: spine {name(n)} has no link to a core")


def _equal_multiplicity(
    net: Network, bundles: Bundles, group: Ints, uppers: Ints, what: str, findings: Findings
) -> None:
    """Each lower switch: one bundle to every upper switch of its group, all of one size and speed."""
    if not len(bundles.low):
        return
    lower, first, bundles_each = np.unique(bundles.low, return_index=True, return_counts=True)
    uppers_in = np.bincount(group[uppers], minlength=len(group))[group[lower]]
    count, gbps = bundles.count, bundles.gbps
    at = np.searchsorted(lower, bundles.low)
    uneven = np.bincount(at, (count != count[first][at]) | (gbps != gbps[first][at])) > 0
    for i in np.flatnonzero(uneven | (bundles_each != uppers_in)).tolist():
        mine = np.flatnonzero(bundles.low == lower[i])
        shown = ", ".join(f"{count[k]} x {gbps[k]:g}G to {net.book.node_name(int(bundles.high[k]))}" for k in mine[:4])
        more = ", …" if len(mine) > 4 else ""
        missing = "" if bundles_each[i] == uppers_in[i] else f"; its group has {uppers_in[i]} {what}s"
        findings.add(f"{net.name}: {net.book.node_name(int(lower[i]))} has {shown}{more}{missing}")


def _equal_planes(net: Network, findings: Findings) -> None:
    """Every pod brings the same share of its bandwidth to every core plane, and spreads it evenly over its spines."""
    spines = net.spines
    pod, plane, up = net.pods[spines], net.planes[spines], net.up_gbps[spines]
    pods, pod_at = np.unique(pod, return_inverse=True)
    planes, plane_at = np.unique(plane, return_inverse=True)
    table = np.zeros((len(pods), len(planes)))
    np.add.at(table, (pod_at.reshape(-1), plane_at.reshape(-1)), up)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-9)
    odd = np.flatnonzero(np.abs(share - share[0]).max(axis=1) > 1e-9)
    name = net.book.node_name
    findings.add_rows(
        odd,
        lambda i: f"{net.name}: the pod of {name(int(pods[i]))} meets other core planes than {name(int(pods[0]))}'s",
    )
    for i in range(len(pods)):
        mine = up[pod_at.reshape(-1) == i]
        if mine.max() != mine.min():
            findings.add(
                f"{net.name}: spines of the pod of {name(int(pods[i]))} have {mine.min():g} to {mine.max():g} Gb/s up"
            )


def check_hops(nets: list[Network]) -> Check:
    """Switches on the longest path: as reported, and within the case."""
    findings = Findings("hops")
    notes = []
    for net in nets:
        hops = 2 * net.tiers - 1
        for fabric in net.carried or [net.name]:
            reported = net.book.result.fabrics.get(fabric)
            if reported is not None and reported.hops != hops:
                findings.add(f"{fabric}: the longest path crosses {hops} switches, {reported.hops} are reported")
            spec = spec_of(net.book, fabric)
            if spec is not None and spec.max_hops is not None and hops > spec.max_hops:
                findings.add(f"{fabric}: the longest path crosses {hops} switches, the case allows {spec.max_hops}")
        notes.append(f"{net.name} {hops}")
    return findings.check("switches on the longest path: " + ", ".join(notes))


def check_latency(nets: list[Network]) -> Check:
    """Switches and medium on the longest switch-to-switch path within the case's limit."""
    findings = Findings("latency")
    notes = []
    for net in nets:
        limits = {f: s.latency_ns for f in net.carried or [net.name] if (s := spec_of(net.book, f)) and s.latency_ns}
        worst = worst_latency_ns(net)
        notes.append(f"{net.name} {'unknown' if worst is None else f'{worst:g} ns'}")
        for fabric, limit in limits.items():
            if worst is None:
                findings.add(f"{fabric}: {limit:g} ns cannot be shown, a switch publishes no latency")
            elif worst > limit:
                findings.add(f"{fabric}: {worst:g} ns on the longest path, the case allows {limit:g} ns")
    return findings.check("longest path: " + ", ".join(notes))


def worst_latency_ns(net: Network) -> float | None:
    """Slowest switch of each tier and longest piece of each class, up and down again; none where one is unknown."""
    book = net.book
    total = 0.0
    for nodes, times in ((net.leaves, 1 if net.tiers == 1 else 2), (net.spines, net.tiers - 1), (net.cores, 1)):
        parts = {book.ledger.devices[d].part for d in np.unique(book.node_device[nodes]).tolist()}
        facts = [book.catalog.switches[p].latency_ns for p in parts if p in book.catalog.switches]
        if any(f is None for f in facts):
            return None
        total += times * max((f.v for f in facts if f is not None), default=0.0)
    lengths = np.array([length_m for _, length_m in book.media] or [0.0])[book.medium]
    fabric = np.isin(book.cage_node[book.a_cage], np.concatenate([net.leaves, net.spines]))
    for klass in (LEAF_SPINE, SPINE_CORE):
        total += 2 * NS_PER_M * float(lengths[fabric & book.in_class(klass)].max(initial=0.0))
    return total
