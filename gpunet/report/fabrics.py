"""The fabrics: switches by tier, and what every link is made of and why."""

from __future__ import annotations

from gpunet.models.design import FabricDesign, InterconnectLine, Result, Tier
from gpunet.report.blocks import Block, Column, Heading, Paragraph, Table
from gpunet.report.headroom_text import headroom
from gpunet.report.words import counted, gbps

_TIERS = (
    Column("tier", name=True),
    Column("switch", name=True),
    Column("count", number=True),
    Column("ports down", number=True),
    Column("ports up", number=True),
)
_LINKS = (
    Column("links", name=True),
    Column("count", number=True),
    Column("speed", number=True),
    Column("length", number=True),
    Column("built with, and why it fits"),
)


def fabrics(result: Result) -> list[Block]:
    """A section for every fabric."""
    return [block for name, fabric in result.fabrics.items() for block in _fabric(name, fabric)]


def _fabric(name: str, fabric: FabricDesign) -> list[Block]:
    if fabric.shared_with:
        return [
            Heading(f"Fabric {name}: converged"),
            Paragraph(f"Runs on the switches of {fabric.shared_with}, whose tiers and links include it."),
        ]
    striping = "" if fabric.striping == "strict" else f", striping {fabric.striping} (not proven non-blocking)"
    return [
        Heading(f"Fabric {name}: {fabric.protocol}, {fabric.topology}{striping}"),
        Table(_TIERS, tuple(_tier(tier) for tier in fabric.tiers)),
        Paragraph(_facts(fabric)),
        *headroom(fabric.headroom),
        Table(_LINKS, tuple(_line(line) for line in fabric.interconnects)),
    ]


def _tier(tier: Tier) -> tuple[str, ...]:
    down, up = _ports(tier.down_ports, tier.down_gbps), _ports(tier.up_ports, tier.up_gbps)
    return tier.tier, tier.switch, f"{tier.count:,}", down, up


def _ports(ports: int, total_gbps: float) -> str:
    """Ports at one speed, or of several speeds with their sum."""
    if not ports:
        return "none"
    if not total_gbps:
        return f"{ports:,}"
    each = total_gbps / ports
    return f"{ports:,} x {gbps(each)}" if each == round(each) else f"{ports:,} ({total_gbps:,.0f}G in all)"


def _facts(fabric: FabricDesign) -> str:
    latency = "latency unknown" if fabric.latency_ns is None else f"{fabric.latency_ns:,.0f} ns"
    links = ", ".join(f"{name} {count:,}" for name, count in fabric.links.items())
    return (
        f"Oversubscription as built {fabric.oversubscription:g}:1. "
        f"Longest path: {counted(fabric.hops, 'switch', 'switches')}, {latency}. Links: {links}."
    )


def _line(line: InterconnectLine) -> tuple[str, ...]:
    a, b = _ends(line.link_class)
    if line.a_part and line.b_part:
        same = line.a_part == line.b_part
        ends = f"2 x {line.a_part}" if same else f"{line.a_part} ({a}) + {line.b_part} ({b})"
        built = f"{ends} + {line.medium}"
    else:
        built = line.medium
    why = f"{built}\n{line.reason}" if line.reason else built
    return line.link_class, f"{line.count:,}", gbps(line.speed_gbps), f"{line.length_m:g} m", why


def _ends(link_class: str) -> tuple[str, str]:
    """Names of the a and b ends: the leaf is a, and b is the endpoint or the higher switch."""
    lower, _, higher = link_class.partition("-")
    return (higher, lower) if lower == "endpoint" else (lower, higher)
