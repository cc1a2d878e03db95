"""Max-flow: do the bundles carry what was promised between leaves, pods and halves of the cluster?

Traffic goes up and then down, so the graph is layered: leaf, spine, core, spine, leaf. A path that dips
through a third leaf is none.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from gpunet.models.design import Check
from gpunet.solver.verify_book import Floats, Ints
from gpunet.solver.verify_growth import SLIP, needed_gbps
from gpunet.solver.verify_network import Bundles, Network
from gpunet.solver.verify_report import Findings

MOST_PAIRS = 150
"""Pairs of leaves tried one by one; beyond it, one pair for every two classes of alike leaves."""
ENOUGH = 1 / SLIP


def check_flow(nets: list[Network]) -> Check:
    """Every leaf sends all it owes to another leaf, and one half of the cluster to the other."""
    findings = Findings("flow")
    notes = []
    for net in nets:
        if net.tiers == 1 or len(net.leaves) < 2:
            notes.append(f"{net.name}: one tier, nothing to carry")
            continue
        # Where only ports are counted nothing is promised; the shortfall is then a note, not a violation.
        local = findings if net.strict else Findings("flow")
        notes.append(_Flows(net, local).run())
        if local is not findings and local.count:
            notes.append(f"{net.name}: {local.count:,} cuts carry less than non-blocking (striping: ports)")
    return findings.check("; ".join(notes) or "no network")


class _Flows:
    """The cuts of one network."""

    def __init__(self, net: Network, findings: Findings) -> None:
        self.net = net
        self.findings = findings
        self.owed = needed_gbps(net)
        self.up_of = _by(net.leaf_spine.low, net.leaf_spine)
        self.cores_of = _by(net.spine_core.low, net.spine_core)

    def run(self) -> str:
        """All cuts; returns what was tried, in words."""
        leaves = self.net.leaves.tolist()
        pairs = list(combinations(leaves, 2)) if len(leaves) * (len(leaves) - 1) // 2 <= MOST_PAIRS else []
        how = f"every pair of {len(leaves)} leaves"
        if not pairs:
            classes = self._classes()
            firsts = [members[:2] for members in classes.values()]
            reps = [leaf for members in firsts for leaf in members]
            pairs = list(combinations(reps, 2))[:MOST_PAIRS]
            how = f"{len(pairs)} pairs for {len(classes)} classes of alike leaves out of {len(leaves)}"
        for x, y in pairs:
            self._pair(x, y)
        cuts = self._halves_of_pods() + self._halves_of_cluster()
        return f"{self.net.name}: {how}, {cuts} bisections"

    def _classes(self) -> dict[tuple[object, ...], list[int]]:
        """Leaves that differ in nothing a flow can feel, pods included."""
        found: dict[tuple[object, ...], list[int]] = {}
        pods = self.net.pods
        for leaf in self.net.leaves.tolist():
            sizes = [gbps for _, gbps in self.up_of.get(leaf, [])]
            kind = (len(sizes), min(sizes, default=0.0), max(sizes, default=0.0), float(self.owed[leaf]))
            found.setdefault((int(pods[leaf]), *kind), []).append(leaf)
        # Pods are alike too: two of each kind of pod stand for all.
        kinds: dict[tuple[object, ...], set[object]] = {}
        chosen: dict[tuple[object, ...], list[int]] = {}
        for key, members in found.items():
            same = kinds.setdefault(key[1:], set())
            if len(same) < 2:
                same.add(key[0])
                chosen[key] = members
        return chosen

    def _pair(self, x: int, y: int) -> None:
        net = self.net
        across = net.pods[x] != net.pods[y]
        promised = min(self.owed[x], self.owed[y]) / (net.tightest_sigma if across else 1.0)
        edges = self._between(x, y)
        carried = _max_flow(edges, ("leaf up", x), ("leaf down", y))
        if carried < promised * ENOUGH:
            name = net.book.node_name
            self.findings.add(f"{net.name}: {name(x)} to {name(y)} carries {carried:g} of {promised:g} Gb/s promised")

    def _between(self, x: int, y: int) -> list[tuple[object, object, float]]:
        """The layered graph between two leaves."""
        edges: list[tuple[object, object, float]] = []
        down = dict(self.up_of.get(y, []))
        for spine, gbps in self.up_of.get(x, []):
            edges.append((("leaf up", x), ("up", spine), gbps))
            if spine in down:
                edges.append((("up", spine), ("down", spine), np.inf))
            edges += [(("up", spine), ("core", core), g) for core, g in self.cores_of.get(spine, [])]
        for spine, gbps in down.items():
            edges += [(("core", core), ("down", spine), g) for core, g in self.cores_of.get(spine, [])]
            edges.append((("down", spine), ("leaf down", y), gbps))
        return edges

    def _halves_of_pods(self) -> int:
        """One half of a pod's leaves to the other half, in one pod of each kind."""
        net, tried = self.net, set()
        bundles, pods = net.leaf_spine, net.pods
        count = 0
        for pod in np.unique(pods[net.leaves]).tolist():
            leaves = net.leaves[pods[net.leaves] == pod]
            here = pods[bundles.low] == pod
            kind = (len(leaves), int(here.sum()), float(bundles.bandwidth[here].sum()), float(self.owed[leaves].sum()))
            if len(leaves) < 2 or kind in tried:
                continue
            tried.add(kind)
            half = np.isin(bundles.low, leaves[: len(leaves) // 2])
            edges: list[tuple[object, object, float]] = []
            for spine in np.unique(bundles.high[here]).tolist():
                at = here & (bundles.high == spine)
                edges.append(("first half", spine, float(bundles.bandwidth[at & half].sum())))
                edges.append((spine, "second half", float(bundles.bandwidth[at & ~half].sum())))
            first, second = self.owed[leaves[: len(leaves) // 2]].sum(), self.owed[leaves[len(leaves) // 2 :]].sum()
            self._cut(
                edges, float(min(first, second)), f"the halves of the pod of {net.book.node_name(int(leaves[0]))}"
            )
            count += 1
        return count

    def _halves_of_cluster(self) -> int:
        """One half of the pods to the other over the core planes."""
        net = self.net
        if net.tiers < 3:
            return 0
        pods, planes, bundles = net.pods, net.planes, net.spine_core
        every = np.unique(pods[net.leaves]).tolist()
        first = set(every[: len(every) // 2])
        owed = {pod: float(self.owed[net.leaves[pods[net.leaves] == pod]].sum()) for pod in every}
        key, at = np.unique(pods[bundles.low] * (len(pods) + 1) + planes[bundles.low], return_inverse=True)
        gbps = np.bincount(at.reshape(-1), bundles.bandwidth)
        edges: list[tuple[object, object, float]] = []
        for k, g in zip(key.tolist(), gbps.tolist(), strict=True):
            pod, plane = ("pod", k // (len(pods) + 1)), ("plane", k % (len(pods) + 1))
            edges.append((pod, plane, g) if pod[1] in first else (plane, pod, g))
        for pod_no in every:
            own = owed[pod_no] / net.tightest_sigma
            side = ("first half", ("pod", pod_no), own) if pod_no in first else (("pod", pod_no), "second half", own)
            edges.append(side)
        promised = min(sum(owed[p] for p in first), sum(owed[p] for p in every if p not in first))
        self._cut(edges, promised / net.tightest_sigma, "the halves of the cluster")
        return 1

    def _cut(self, edges: list[tuple[object, object, float]], promised: float, what: str) -> None:
        carried = _max_flow(edges, "first half", "second half")
        if carried < promised * ENOUGH:
            self.findings.add(f"{self.net.name}: between {what} {carried:g} of {promised:g} Gb/s promised")


def _by(node: Ints, bundles: Bundles) -> dict[int, list[tuple[int, float]]]:
    """Bundles by their lower node: the upper node and Gb/s, speeds added up."""
    found: dict[int, dict[int, float]] = {}
    bandwidth: Floats = bundles.bandwidth
    for low, high, gbps in zip(node.tolist(), bundles.high.tolist(), bandwidth.tolist(), strict=True):
        mine = found.setdefault(low, {})
        mine[high] = mine.get(high, 0.0) + gbps
    return {low: list(mine.items()) for low, mine in found.items()}


def _max_flow(edges: list[tuple[object, object, float]], source: object, sink: object) -> float:
    """Largest flow, Gb/s; 0 where an end has no edge. An infinite capacity is an edge without one."""
    import networkx as nx

    graph: Any = nx.DiGraph()
    for x, y, gbps in edges:
        if np.isinf(gbps):
            graph.add_edge(x, y)
        else:
            graph.add_edge(x, y, capacity=gbps)
    if source not in graph or sink not in graph:
        return 0.0
    return float(nx.maximum_flow_value(graph, source, sink))
