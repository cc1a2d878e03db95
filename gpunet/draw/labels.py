"""What stands in the boxes and on the bundles of a topology picture."""

from __future__ import annotations

from gpunet.draw.fold import OWN_SWITCH, Box, Bundle, Group, Panel, Range
from gpunet.models.design import FabricDesign
from gpunet.models.parts import Catalog
from gpunet.report.words import counted, gbps

_NOUNS = {
    "leaf": ("leaf", "leaves"),
    "spine": ("spine", "spines"),
    "core": ("core", "cores"),
    "server": ("server", "servers"),
    "storage-server": ("storage server", "storage servers"),
    "reserved": ("reserved endpoint", "reserved endpoints"),
    "pdu": ("PDU", "PDUs"),
    "switch": ("switch", "switches"),
    OWN_SWITCH: ("own switch", "own switches"),
}
_PROTOCOLS = {"infiniband": "InfiniBand", "ethernet": "Ethernet"}
MOST_MEDIA = 3
"""Cables and fibres that a bundle names; the legend has all."""


def noun(box: Box, several: bool = True) -> str:
    """What one of the devices is called, or several."""
    singular, plural = _NOUNS.get(box.tier or box.kind, ("device", "devices"))
    return plural if several else singular


def spanned(span: Range) -> str:
    """``4``, or ``3–4``."""
    low, high = span
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def gpus(box: Box, catalog: Catalog) -> int:
    """GPUs in the servers of a box."""
    server = catalog.servers.get(box.part) if box.kind == "server" else None
    return round(server.gpus.v) * box.total if server else 0


def box_lines(box: Box, catalog: Catalog) -> list[str]:
    """Count, part, and what all copies hold together; the first line is the important one."""
    folded = len(box.copies) > 1
    low, high = box.each
    if low == high:
        first = f"{high:,} {noun(box, high != 1)}{' each' if folded else ''}"
        rest = [f"{box.total:,} in all"] if folded else []
    else:
        first = f"{box.total:,} {noun(box, box.total != 1)}"
        rest = [f"{spanned(box.each)} each"]
    rest += [f"{gpus(box, catalog):,} GPUs"] if gpus(box, catalog) else []
    return list(filter(None, [first, part_name(box, catalog), ", ".join(rest)]))


def part_name(box: Box, catalog: Catalog) -> str:
    """The part of the devices; of those that are no part of the network, their NIC or what they are connected like."""
    if box.kind == OWN_SWITCH:
        return "(counted above)"
    if box.kind == "switch" and not box.part:
        return f"{len({d.part for copy in box.copies for d in copy})} models"
    if box.kind in ("storage-server", "reserved") and box.part:
        return f"{'NIC' if box.part in catalog.nics else 'ports as'} {box.part}"
    return box.part


def bundle_lines(bundle: Bundle, panel: Panel) -> list[str]:
    """Links and speed, how they spread, and what they run on."""
    whose = f"{bundle.fabric} " if panel.shared and not bundle.lower.tier else ""
    in_all = " in all" if len(bundle.lower.copies) > 1 else ""
    spread = [f"{spanned(bundle.per_device)} per {noun(bundle.lower, False)}"]
    uppers = {(id(s.upper_box), s.upper) for s in bundle.strands}
    if bundle.parallel[1] > 1 and (len(uppers) > 1 or bundle.lower.tier):
        spread.append(f"{spanned(bundle.parallel)} parallel")
    media = [
        f"{medium} {low:g} m" if low == high else f"{medium} {low:g}–{high:g} m"
        for medium, (_, low, high) in bundle.media.items()
    ]
    if len(media) > MOST_MEDIA:
        media = [*media[: MOST_MEDIA - 1], f"and {len(media) - MOST_MEDIA + 1} more"]
    return [f"{whose}{bundle.links:,} × {gbps(bundle.speed_gbps)}{in_all}", ", ".join(spread), *media]


def group_title(group: Group) -> str:
    """What a frame holds, and for how many it stands."""
    rails = any(len(copy) > 1 for box in group.switches for copy in box.copies)
    pod = bool(group.inner)
    one = "pod" if pod else "scalable unit" if rails else "leaf group"
    if group.copies == 1:
        return f"{one} {group.first}"
    inside = "" if group.per_parent[1] == group.copies else f", {spanned(group.per_parent)} in each pod"
    drawn = "alike, one is drawn" if group.alike else "not alike, the counts are of all"
    return f"{group.copies:,} {one}s{inside}; {drawn}"


def panel_facts(fabric: FabricDesign, tiers: int) -> list[str]:
    """Lines about a fabric: what it is, and how well it carries."""
    striping = "" if fabric.striping == "strict" else f", striping {fabric.striping} (not proven non-blocking)"
    latency = "" if fabric.latency_ns is None else f", {fabric.latency_ns:,.0f} ns"
    protocol = _PROTOCOLS.get(fabric.protocol, fabric.protocol)
    return [
        f"{protocol}, {fabric.topology}, {counted(tiers, 'tier')}{striping}",
        f"oversubscription {fabric.oversubscription:g}:1",
        f"longest path {counted(fabric.hops, 'switch', 'switches')}{latency}",
    ]
