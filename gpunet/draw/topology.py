"""The topology picture: every fabric with its tiers, its links and what they are made of."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from gpunet.draw.fold import OWN_SWITCH, Bundle, Panel, panels
from gpunet.draw.labels import part_name
from gpunet.draw.layout import (
    CELL_H,
    GAP,
    HEAD,
    PAD,
    ROW,
    SAMPLE,
    STACK,
    TEXT,
    TITLE,
    TITLE_H,
    Arranged,
    Spot,
    arranged,
    cell,
    label_width,
    measured,
    title,
)
from gpunet.draw.legend import KINDS, Entry, device_entries, legend_height, medium_entries, write_legend
from gpunet.draw.palette import TINT, Palette
from gpunet.draw.svg import Picture, shortened, text_width
from gpunet.models.design import Design
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog
from gpunet.report.words import counted, listed

PREFIX = "gn-topology"
WIDTH = 1120.0
"""Least width of the picture: a page on its side, and most screens."""
MARGIN = 20.0
HEADER = 58.0
_FEW_LINES = 48
"""Lines of one bundle that can be followed by eye; more are drawn thinner."""
_PARALLEL = 4
"""Parallel links that are drawn one by one."""
_APART = 3.0


def topology_svg(
    design: Design, catalog: Catalog, fabrics: Sequence[str] | None = None, *, prefix: str = PREFIX
) -> str:
    """The topology of all fabrics, or of those named, as SVG: a fabric that shares switches comes with them.

    ``prefix`` starts every id and class, so that several pictures can stand in one page. Equal designs give equal
    bytes. Raises ``ValueError`` for a fabric that the design does not have.
    """
    built = design.result.fabrics
    for name in fabrics or ():
        if name not in built:
            raise ValueError(f"found {name!r} as a fabric, expected {', '.join(built)}")
    wanted = None if fabrics is None else [built[name].shared_with or name for name in fabrics]
    shown = [measured(panel, catalog) for panel in panels(design, wanted)]
    rows = _packed(shown)
    width = max([WIDTH, *(_row_width(row) for row in rows)])
    for row in rows:
        spare = (width - _row_width(row)) / len(row)
        for panel in row:
            arranged(panel, panel.least + spare)
    drawn = [panel.panel for panel in shown]
    palette = Palette(design, catalog)
    entries = _legend(drawn, catalog, palette)
    tall = [max(panel.height for panel in row) for row in rows]
    height = HEADER + sum(tall) + GAP * len(rows) + legend_height(entries, width - 2 * MARGIN) + MARGIN
    name = design.result.case or "design"
    picture = Picture(prefix, width, height, f"{name}: topology", _described(drawn, catalog))
    picture.text(MARGIN, 30, shortened(f"{name}: topology", 20, WIDTH - 2 * MARGIN, True), 20, bold=True)
    picture.text(MARGIN, 50, _summary(drawn, catalog), 13, ink="soft")
    y = HEADER
    for row, deep in zip(rows, tall, strict=True):
        x = MARGIN
        for panel in row:
            _Draw(picture, panel, catalog, palette, x, y, deep).all()
            x += panel.width + GAP
        y += deep + GAP
    write_legend(picture, entries, MARGIN, y, width - 2 * MARGIN)
    return str(picture)


def _packed(shown: Sequence[Arranged]) -> list[list[Arranged]]:
    """Panels in rows, in their order, as many to a row as stand there."""
    rows: list[list[Arranged]] = []
    for panel in shown:
        if rows and _row_width([*rows[-1], panel]) <= WIDTH:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    return rows


def _row_width(row: Sequence[Arranged]) -> float:
    return sum(panel.least for panel in row) + GAP * (len(row) - 1) + 2 * MARGIN


def _devices(drawn: Sequence[Panel]) -> dict[str, Device]:
    """Every device in the panels, once."""
    boxes = [box for panel in drawn for box in panel.boxes() if box.kind != OWN_SWITCH]
    return {device.name: device for box in boxes for copy in box.copies for device in copy}


def _gpus(devices: Sequence[Device], catalog: Catalog) -> int:
    servers = [catalog.servers[d.part] for d in devices if d.kind == "server" and d.part in catalog.servers]
    return sum(round(server.gpus.v) for server in servers)


def _summary(drawn: Sequence[Panel], catalog: Catalog) -> str:
    devices = list(_devices(drawn).values())
    kinds = Counter(device.kind for device in devices)
    links = sum(bundle.links for panel in drawn for bundle in panel.bundles)
    found = [counted(_gpus(devices, catalog), "GPU")] + [counted(kinds[k], *KINDS[k]) for k in KINDS if kinds[k]]
    return ", ".join([*found, counted(links, "link"), counted(len(drawn), "fabric")])


def _described(drawn: Sequence[Panel], catalog: Catalog) -> str:
    """The picture in words, for those who do not see it."""
    said = [_summary(drawn, catalog) + "."]
    for panel in drawn:
        tiers: Counter[tuple[str, str]] = Counter()
        for box in panel.boxes():
            if box.tier:
                tiers[box.tier, box.part] += box.total
        links: Counter[tuple[str, float]] = Counter()
        for bundle in panel.bundles:
            links[bundle.link_class, bundle.speed_gbps] += bundle.links
        switches = listed([f"{n:,} {part} ({tier})" for (tier, part), n in tiers.items()])
        wires = listed([f"{n:,} {kind} at {speed:g}G" for (kind, speed), n in links.items()])
        said.append(f"{title(panel)}: {switches or 'no switches'}; links: {wires or 'none'}.")
    return " ".join(said)


def _legend(drawn: Sequence[Panel], catalog: Catalog, palette: Palette) -> list[Entry]:
    media: Counter[str] = Counter()
    for panel in drawn:
        for bundle in panel.bundles:
            media.update({medium: n for medium, (n, _, _) in bundle.media.items()})
    return device_entries(_devices(drawn).values(), catalog, palette) + medium_entries(media, catalog, palette)


class _Draw:
    """Draws one panel at its place."""

    def __init__(
        self, picture: Picture, found: Arranged, catalog: Catalog, palette: Palette, x: float, y: float, height: float
    ) -> None:
        self.picture, self.found, self.catalog, self.palette, self.height = picture, found, catalog, palette, height
        self.x, self.y = x, y
        for spot in found.spots.values():
            spot.x += x
            spot.y += y
        for frame in found.frames:
            frame.x += x
            frame.y += y

    def all(self) -> None:
        picture, panel = self.picture, self.found.panel
        picture.open(fabric=panel.name)
        picture.rect(self.x, self.y, self.found.width, self.height, fill="panel", stroke="rule", radius=6)
        y = self.y + PAD + TITLE
        picture.text(self.x + PAD, y, title(panel), TITLE, bold=True)
        for fact in self.found.facts:
            y += ROW
            picture.text(self.x + PAD, y, fact, TEXT, ink="soft")
        self._frames()
        for bundle in panel.bundles:
            self._lines(bundle)
        for spot in self.found.spots.values():
            self._labels(spot)
        for spot in self.found.spots.values():
            self._box(spot)
        picture.close()

    def _frames(self) -> None:
        for frame in self.found.frames:
            for back in range(2 if frame.group.copies > 1 else 0, -1, -1):
                off = back * STACK / 2
                self.picture.rect(
                    frame.x + off, frame.y + off, frame.width, frame.height, fill="paper", stroke="rule", radius=8
                )
            self.picture.text(
                frame.x + frame.width / 2, frame.y + frame.height - TITLE_H / 2 + 4, frame.title, TEXT, at="middle"
            )

    # --- links --------------------------------------------------------------------------------------------------------

    def _lines(self, bundle: Bundle) -> None:
        """The links of the first copy, device to device where devices are drawn, as one line where they are folded."""
        lower = self.found.spots[id(bundle.lower)]
        pairs: dict[tuple[int, int, int], int] = defaultdict(int)
        media: dict[tuple[int, int, int], set[str]] = defaultdict(set)
        for strand in bundle.strands:
            upper = self.found.spots[id(strand.upper_box)]
            key = cell(lower, strand.lower), id(strand.upper_box), cell(upper, strand.upper)
            pairs[key] += strand.links
            media[key].add(strand.medium)
        few = len(pairs) <= _FEW_LINES
        apart = sum(min(count, _PARALLEL) for count in pairs.values()) <= _FEW_LINES
        siblings = [b for b in self.found.panel.bundles if b.lower is bundle.lower]
        aside = (siblings.index(bundle) + 0.5) / len(siblings)
        order = sorted(pairs, key=lambda k: (k[0], self._upper_x(k)))
        fans = Counter(key[0] for key in order)
        seen: Counter[int] = Counter()
        for key in order:
            place, folded = key[0], not lower.cells and not self.found.spots[key[1]].cells
            share = aside if fans[place] == 1 else (seen[place] + 0.5) / fans[place]
            seen[place] += 1
            kinds = media[key]
            stroke = self.palette.line(next(iter(kinds)) if len(kinds) == 1 else "")
            count = pairs[key]
            strokes = count if apart and not folded and count <= _PARALLEL else 1
            width = 4.0 if folded else 1.2 if strokes > 1 or not few else min(4.0, 1.0 + 0.3 * math.log2(count))
            points = self._way(lower, key, share)
            for i in range(strokes):
                off = (i - (strokes - 1) / 2) * _APART
                moved = [(x + off, y) for x, y in points]
                self.picture.path(moved, stroke.colour, width=width, dash=stroke.dash, opacity=0.9 if few else 0.5)

    def _upper_x(self, key: tuple[int, int, int]) -> float:
        spot = self.found.spots[key[1]]
        return spot.cell_x(key[2]) if spot.cells else spot.x + spot.width / 2

    def _way(self, lower: Spot, key: tuple[int, int, int], share: float) -> list[tuple[float, float]]:
        """From the top of the lower box straight up past its labels, then over to the upper box."""
        upper = self.found.spots[key[1]]
        if lower.cells:
            wide = lower.width / len(lower.cells)
            x = lower.cell_x(key[0]) + (share - 0.5) * wide * 0.7
        else:
            x = lower.x + lower.width * share
        end = upper.cell_x(key[2]) if upper.cells else min(max(x, upper.x + 8), upper.x + upper.width - 8)
        return [(x, lower.y), (x, lower.y - lower.label_height), (end, upper.y + upper.height)]

    def _labels(self, spot: Spot) -> None:
        """The labels of the bundles that go up from a box, over each other or side by side."""
        bundles = [b for b in self.found.panel.bundles if b.lower is spot.box]
        y = spot.y - spot.label_height
        for i, (bundle, (medium, lines)) in enumerate(zip(bundles, spot.labels, strict=True)):
            share = (i + 0.5) / len(bundles) if spot.beside else 0.5
            self._label(bundle, medium, lines, spot.x + spot.width * share, y)
            y += 0 if spot.beside else len(lines) * ROW

    def _label(self, bundle: Bundle, medium: str, lines: Sequence[str], middle: float, y: float) -> None:
        picture, stroke = self.picture, self.palette.line(medium)
        head, *rest = lines
        picture.open(
            links=bundle.links, link_class=bundle.link_class, fabric=bundle.fabric, gbps=f"{bundle.speed_gbps:g}"
        )
        wide, left = label_width(lines), middle - (text_width(head, HEAD, True) + SAMPLE) / 2
        picture.rect(middle - wide / 2, y + 2, wide, len(lines) * ROW + 2, fill="paper", radius=4)
        sample = [(left, y + ROW - 4), (left + SAMPLE - 6, y + ROW - 4)]
        picture.path(sample, stroke.colour, width=3, dash=stroke.dash)
        picture.text(middle + SAMPLE / 2, y + ROW, head, HEAD, bold=True, at="middle")
        for i, line in enumerate(rest, start=2):
            picture.text(middle, y + i * ROW, line, TEXT, ink="soft", at="middle")
        picture.close()

    # --- boxes --------------------------------------------------------------------------------------------------------

    def _box(self, spot: Spot) -> None:
        picture, box = self.picture, spot.box
        colour = self.palette.body(box.part)
        again = box.kind == OWN_SWITCH
        counts = {"again": box.total} if again else {"devices": box.total}
        picture.open(**counts, kind=box.kind, part=box.part, tier=box.tier)
        names = [device.name for copy in box.copies for device in copy]
        span = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        picture.hint(": ".join(filter(None, [span, part_name(box, self.catalog)])))
        folded = not spot.cells and box.each[1] > 1
        for back in range(2 if folded else 0, 0, -1):
            off = back * STACK / 2
            picture.rect(spot.x + off, spot.y + off, spot.width, spot.height, fill="paper", stroke="rule", radius=3)
        picture.rect(spot.x, spot.y, spot.width, spot.height, fill="paper", radius=3)
        picture.rect(
            spot.x,
            spot.y,
            spot.width,
            spot.height,
            fill=colour,
            opacity=TINT,
            stroke="rule",
            radius=3,
            dash="4 3" if again else "",
        )
        if spot.cells:
            wide = spot.width / len(spot.cells)
            for i, name in enumerate(spot.cells):
                picture.rect(spot.x + i * wide, spot.y, wide, CELL_H, fill=colour, opacity=TINT, stroke="rule")
                if name:
                    picture.text(spot.cell_x(i), spot.y + 15, name, TEXT, at="middle")
        picture.rect(spot.x, spot.y + spot.height - 4, spot.width, 4, fill=colour)
        y = spot.y + (CELL_H if spot.cells else (spot.height - len(spot.lines) * ROW - 8) / 2)
        for i, line in enumerate(spot.lines):
            picture.text(
                spot.x + spot.width / 2, y + (i + 1) * ROW - 1, line, HEAD if i == 0 else TEXT, bold=i == 0, at="middle"
            )
        picture.close()
