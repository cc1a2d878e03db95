"""A design at a glance in a wide terminal: its topology, and bars of what every fabric costs and draws."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.report.blocks import Shown, Sketch
from gpunet.report.html_breakdown import booked
from gpunet.report.words import counted, gbps, kw, usd

WIDE = 110
"""Columns from which a sketch is shown."""
_GAP = "   "
_TIERS = ("core", "spine", "leaf")
_UP = {"leaf": "leaf-spine", "spine": "spine-core"}
_ENDPOINTS = {
    "server": ("server", "servers"),
    "storage-server": ("storage server", "storage servers"),
    "reserved": ("reserved endpoint", "reserved endpoints"),
    "switch": ("switch", "switches"),
    "pdu": ("PDU", "PDUs"),
}
_LONGEST_BAR = 30


@dataclass(frozen=True)
class _Pen:
    """Characters to draw with."""

    across: str
    down: str
    corners: tuple[str, str, str, str]
    """Top left, top right, bottom left, bottom right."""
    to_down: str
    to_up: str
    fills: str
    """One for every kind of part in a bar."""
    times: str


_UNICODE = _Pen("─", "│", ("┌", "┐", "└", "┘"), "┬", "┴", "█▓▒░·:", "×")
_PLAIN = _Pen("-", "|", ("+", "+", "+", "+"), "+", "+", "#=:.-~", "x")


def sketch(design: Design, catalog: Catalog) -> list[Shown]:
    """Topology and bars, for pages of ``WIDE`` columns and more."""
    found = [_Topology(design).lines, _Bars(design, catalog).lines]
    return [Sketch(WIDE, draw) for draw in found]


class _Topology:
    """Every fabric as a stack of tiers, side by side."""

    def __init__(self, design: Design) -> None:
        built = design.result.fabrics
        carrier = {name: fabric.shared_with or name for name, fabric in built.items()}
        kinds = {d.name: d.kind for d in design.ledger.devices}
        own = {d.name: d.fabric for d in design.ledger.devices if d.kind == "switch"}
        self._names: defaultdict[str, list[str]] = defaultdict(list)
        for name, on in carrier.items():
            self._names[on].append(name)
        self._switches = Counter((d.fabric, d.tier, d.part) for d in design.ledger.devices if d.kind == "switch")
        self._links = Counter((carrier[x.fabric], x.link_class, x.speed_gbps) for x in design.ledger.links)
        ends = {(carrier[x.fabric], x.b_device) for x in design.ledger.links if x.link_class == "endpoint-leaf"}
        self._ends = Counter((fabric, kinds[name]) for fabric, name in ends if own.get(name) != fabric)
        self._ends += Counter((f, "switch") for f, name in ends if own.get(name) == f)

    def lines(self, width: int, unicode: bool) -> list[str]:
        """Fabrics in rows of as many as fit."""
        pen = _UNICODE if unicode else _PLAIN
        rows: list[list[list[str]]] = []
        for fabric in self._names:
            stack = self._stack(fabric, pen)
            if rows and sum(len(one[0]) + len(_GAP) for one in rows[-1]) + len(stack[0]) <= width:
                rows[-1].append(stack)
            else:
                rows.append([stack])
        lines: list[str] = []
        for row in rows:
            tall = max(map(len, row))
            padded = [[one[0], *[" " * len(one[0])] * (tall - len(one)), *one[1:]] for one in row]
            lines += ["", *(_GAP.join(cells).rstrip() for cells in zip(*padded, strict=True))]
        return lines[1:]

    def _stack(self, fabric: str, pen: _Pen) -> list[str]:
        """One fabric from its name down to its endpoints, all lines of one length."""
        boxes: list[tuple[str, list[str], str]] = []
        for tier in _TIERS:
            parts = [(part, n) for (name, at, part), n in self._switches.items() if (name, at) == (fabric, tier)]
            if parts:
                says = [f"{n:,} {pen.times} {part}" for part, n in parts]
                boxes.append((tier, says, self._speeds(fabric, _UP.get(tier, ""), pen)))
        ends = [counted(n, *_ENDPOINTS.get(kind, (kind, kind))) for kind, n in self._kinds(fabric)]
        boxes.append(("connected", ends or ["nothing"], self._speeds(fabric, "endpoint-leaf", pen)))
        title = " + ".join(self._names[fabric])
        inner = max([len(line) for _, says, up in boxes for line in [*says, up]] + [len(title), 12]) + 2
        lines = [title.ljust(inner + 2)]
        middle = inner // 2
        left, right, low_left, low_right = pen.corners
        for i, (name, says, up) in enumerate(boxes):
            if i:
                lines.append(up.center(inner + 2))
            head = f"{pen.across} {name} ".ljust(inner, pen.across)
            if i and len(name) + 3 <= middle:
                head = head[:middle] + pen.to_up + head[middle + 1 :]
            lines.append(left + head + right)
            lines += [f"{pen.down} {line.ljust(inner - 1)}{pen.down}" for line in says]
            foot = pen.across * inner
            if i < len(boxes) - 1:
                foot = foot[:middle] + pen.to_down + foot[middle + 1 :]
            lines.append(low_left + foot + low_right)
        return lines

    def _kinds(self, fabric: str) -> list[tuple[str, int]]:
        return [(kind, self._ends[fabric, kind]) for kind in _ENDPOINTS if self._ends[fabric, kind]]

    def _speeds(self, fabric: str, link_class: str, pen: _Pen) -> str:
        found = [(speed, n) for (name, kind, speed), n in self._links.items() if (name, kind) == (fabric, link_class)]
        return " + ".join(f"{n:,} {pen.times} {gbps(speed)}" for speed, n in sorted(found, reverse=True))


class _Bars:
    """What every fabric costs and draws, by kind of part."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        self._cost: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._draw: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in booked(design, catalog):
            # Whole cents and milliwatts, for sums of fractions would depend on their order.
            self._cost[one.place.fabric][one.kind] += round(one.cost_usd * 100)
            self._draw[one.place.fabric][one.kind] += round(one.power_max_w * 1000)
        self._kinds = list(dict.fromkeys(kind for kinds in self._cost.values() for kind in kinds))

    def lines(self, width: int, unicode: bool) -> list[str]:
        """A line for every fabric with two bars, and what their characters mean."""
        if not self._cost:
            return []
        pen = _UNICODE if unicode else _PLAIN
        fills = {kind: pen.fills[i % len(pen.fills)] for i, kind in enumerate(self._kinds)}
        money = {name: f"{usd(kinds.total() / 100)} USD" for name, kinds in self._cost.items()}
        watts = {name: kw(kinds.total() / 1000) for name, kinds in self._draw.items()}
        label = max(map(len, self._cost)) + 2
        amount, warmth = max(map(len, money.values())), max(map(len, watts.values()))
        long = min(_LONGEST_BAR, (width - label - amount - warmth - len(_GAP) - 2) // 2)
        most_cost = max(kinds.total() for kinds in self._cost.values())
        most_draw = max(kinds.total() for kinds in self._draw.values())
        lines = [f"{'':{label}}{'cost':<{long + amount + 1}}{_GAP}largest draw"]
        for name in self._cost:
            cost = f"{_bar(self._cost[name], most_cost, fills, long):<{long}} {money[name]:>{amount}}"
            draw = f"{_bar(self._draw[name], most_draw, fills, long):<{long}} {watts[name]:>{warmth}}"
            lines.append(f"{name:<{label}}{cost}{_GAP}{draw}")
        return [*lines, " " * label + "  ".join(f"{fill} {kind}" for kind, fill in fills.items())]


def _bar(kinds: Mapping[str, int], most: int, fills: Mapping[str, str], long: int) -> str:
    """A bar in proportion to the longest, split by kind; at least one character where there is anything."""
    bar, so_far = "", 0
    for kind, fill in fills.items():
        so_far += kinds.get(kind, 0)
        end = -(-so_far * long // most) if most else 0
        bar += fill * (end - len(bar))
    return bar
