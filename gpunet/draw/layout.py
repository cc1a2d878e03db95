"""Finds a place for every box, frame and label of a fabric, so that nothing lies over anything else.

A label stands above the box whose links it counts and is never wider than it, so labels cannot meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gpunet.draw.fold import Box, Group, Panel
from gpunet.draw.labels import box_lines, bundle_lines, group_title, panel_facts, spanned
from gpunet.draw.svg import LINE, text_width
from gpunet.models.parts import Catalog

TEXT, HEAD, TITLE = 12.0, 13.0, 16.0
"""Sizes of text: plain, the first line of a box or label, the name of a fabric."""
ROW = TEXT * LINE
PAD, GAP, STACK = 14.0, 18.0, 6.0
"""Inside a frame, between boxes, and what the copies behind a folded box stick out."""
FAN, FAN_PER_LINE, FAN_MOST = 46.0, 0.45, 110.0
"""Height in which lines spread between two tiers: the least, more for every line, the most."""
CELL_H, CELL_LEAST = 22.0, 27.0
MOST_CELLS, MOST_END_CELLS = 16, 8
"""Switches and endpoints that are drawn one by one; more are folded."""
SAMPLE = 20.0
"""Width of the piece of line in front of a label."""
TITLE_H = 22.0


@dataclass
class Spot:
    """A box with its place, its text, and the labels above it."""

    box: Box
    lines: list[str]
    labels: list[tuple[str, list[str]]]
    """For every bundle upwards its cable or fibre ('' where mixed) and its lines."""
    least: float
    """Narrowest width."""
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0
    cells: list[str] = field(default_factory=list)
    """Labels of the single devices, or of their groups; empty for a folded box."""
    cell_of: list[int] = field(default_factory=list)
    """Cell of every device of a copy."""

    @property
    def beside(self) -> bool:
        """True where there is room for the labels side by side; they are stacked otherwise."""
        return all(label_width(lines) + 4 <= self.width / len(self.labels) for _, lines in self.labels)

    @property
    def label_height(self) -> float:
        """Height of all labels above the box."""
        rows = [len(lines) for _, lines in self.labels]
        return (max(rows) if self.beside else sum(rows)) * ROW + 8 if rows else 0

    def cell_x(self, cell: int) -> float:
        """Middle of a cell."""
        return self.x + self.width * (cell + 0.5) / len(self.cells)


@dataclass
class Frame:
    """The outline around a group."""

    group: Group
    title: str
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0


@dataclass
class Arranged:
    """A panel in its own coordinates."""

    panel: Panel
    facts: list[str]
    least: float
    width: float = 0
    height: float = 0
    spots: dict[int, Spot] = field(default_factory=dict)
    """By the identity of the box."""
    frames: list[Frame] = field(default_factory=list)


def measured(panel: Panel, catalog: Catalog) -> Arranged:
    """A panel with the narrowest widths of everything in it."""
    facts = panel_facts(panel.fabric, _tiers(panel)) if panel.fabric else []
    found = Arranged(panel, facts, 0)
    for box in panel.boxes():
        found.spots[id(box)] = _spot(box, panel, catalog)
    groups = _across([_group_least(group, found) for group in panel.groups])
    top = _across([found.spots[id(box)].least for box in panel.top])
    head = max([text_width(title(panel), TITLE, True), *(text_width(fact, TEXT) for fact in facts)])
    found.least = max(groups, top, head) + 2 * PAD
    return found


def title(panel: Panel) -> str:
    """Name of a fabric with those that run on it."""
    return " + ".join([panel.name, *panel.shared]) + (" (converged)" if panel.shared else "")


def label_width(lines: Sequence[str]) -> float:
    """Width of a label with the sample of its line."""
    head, *rest = lines
    return max([text_width(head, HEAD, True) + SAMPLE, *(text_width(line, TEXT) for line in rest)]) + 12


def _tiers(panel: Panel) -> int:
    return len({box.tier for box in panel.boxes() if box.tier})


def _spot(box: Box, panel: Panel, catalog: Catalog) -> Spot:
    lines = box_lines(box, catalog)
    labels = [
        (next(iter(b.media)) if len(b.media) == 1 else "", bundle_lines(b, panel))
        for b in panel.bundles
        if b.lower is box
    ]
    widest = max(text_width(line, HEAD if i == 0 else TEXT, i == 0) for i, line in enumerate(lines)) + 2 * PAD
    widest = max([widest, *(label_width(said) + 12 for _, said in labels)])
    return Spot(box, lines, labels, max(widest, _one_by_one(box) * CELL_LEAST))


def _one_by_one(box: Box) -> int:
    """Devices of a copy that may be drawn one by one; 0 for a box that is folded."""
    low, high = box.each
    return high if low == high and 1 < high <= (MOST_CELLS if box.tier else MOST_END_CELLS) else 0


def _across(widths: Sequence[float]) -> float:
    return sum(widths) + GAP * (len(widths) - 1) if widths else 0


def _group_least(group: Group, found: Arranged) -> float:
    rows = [_across([found.spots[id(box)].least for box in row]) for row in (group.switches, group.endpoints)]
    rows += [_across([_group_least(inner, found) for inner in group.inner]), text_width(group_title(group), TEXT)]
    return max(rows) + 2 * PAD


# --- places -----------------------------------------------------------------------------------------------------------


def arranged(found: Arranged, width: float) -> Arranged:
    """The panel at a width, which is at least its least one: every place is set."""
    panel = found.panel
    found.width = width
    _spread([found.spots[id(box)] for box in panel.top], PAD, width - 2 * PAD)
    room = width - 2 * PAD
    for group, (x, wide) in zip(
        panel.groups, _shares([_group_least(g, found) for g in panel.groups], PAD, room), strict=True
    ):
        _columns(group, found, x, wide, outer=len(panel.groups) > 1 or group.copies > 1)
    for spot in found.spots.values():
        _cells(spot)
    y = PAD + TITLE * LINE + len(found.facts) * ROW + 8
    if panel.top:
        y = _row([found.spots[id(box)] for box in panel.top], y) + _fan(found)
    y = _down(panel.groups, found, y)
    found.height = y + PAD
    return found


def _fan(found: Arranged) -> float:
    """Height under the top tier, by how many lines end there."""
    top = {id(box) for box in found.panel.top}
    lines = {
        (
            id(bundle.lower),
            cell(found.spots[id(bundle.lower)], strand.lower),
            id(strand.upper_box),
            cell(upper, strand.upper),
        )
        for bundle in found.panel.bundles
        for strand in bundle.strands
        for upper in [found.spots[id(strand.upper_box)]]
        if id(strand.upper_box) in top and upper.cells
    }
    return min(FAN_MOST, FAN + FAN_PER_LINE * len(lines))


def cell(spot: Spot, place: int) -> int:
    """Cell of the device at a place in its copy; 0 where devices are folded."""
    return spot.cell_of[min(place, len(spot.cell_of) - 1)] if spot.cells else 0


def _shares(least: Sequence[float], x: float, room: float) -> list[tuple[float, float]]:
    """Start and width of things side by side that share a room, each at least as wide as it must be."""
    spare = (room - _across(least)) / sum(least) if least else 0
    found = []
    for width in least:
        found.append((x, width * (1 + spare)))
        x += width * (1 + spare) + GAP
    return found


def _spread(spots: Sequence[Spot], x: float, room: float) -> None:
    for spot, (at, wide) in zip(spots, _shares([spot.least for spot in spots], x, room), strict=True):
        spot.x, spot.width = at, wide


def _columns(group: Group, found: Arranged, x: float, width: float, outer: bool) -> None:
    if outer:
        found.frames.append(Frame(group, group_title(group), x, 0, width))
    inside, room = x + PAD, width - 2 * PAD
    for row in (group.switches, group.endpoints):
        _spread([found.spots[id(box)] for box in row], inside, room)
    shares = _shares([_group_least(inner, found) for inner in group.inner], inside, room)
    for inner, (at, wide) in zip(group.inner, shares, strict=True):
        _columns(inner, found, at, wide, outer=len(group.inner) > 1 or inner.copies > 1)


def _cells(spot: Spot) -> None:
    """Decide what is drawn one by one: devices, or else their planes where those are few."""
    first = spot.box.copies[spot.box.shown]
    count = _one_by_one(spot.box)
    if count:
        spot.cells = _cell_names(spot, count)
        spot.cell_of = list(range(count))
        return
    groups = list(dict.fromkeys(device.group for device in first))
    same = spot.box.each[0] == spot.box.each[1] and len(spot.box.copies) == 1
    if same and spot.box.tier == "core" and 1 < len(groups) <= MOST_CELLS and spot.width >= len(groups) * CELL_LEAST:
        wide = spot.width / len(groups)
        names = [f"plane {i + 1}" for i in range(len(groups))]
        fits = all(text_width(name, TEXT) < wide - 4 for name in names)
        spot.cells = names if fits else [f"p{i + 1}" for i in range(len(groups))]
        spot.cell_of = [groups.index(device.group) for device in first]
        sizes = Counter(spot.cell_of).values()
        spot.lines.append(f"{spanned((min(sizes), max(sizes)))} in each plane")


def _cell_names(spot: Spot, count: int) -> list[str]:
    rails = [spot.box.rails.get(device.name, "") for device in spot.box.copies[spot.box.shown]]
    wide = spot.width / count - 4
    if not all(rails):
        return [str(i + 1) for i in range(count)]
    forms: list[list[str]] = [
        [f"rail{'s' if any(mark in rail for mark in '–,') else ''} {rail}" for rail in rails],
        [f"R{rail}" for rail in rails],
    ]
    return next((form for form in forms if all(text_width(name, TEXT) <= wide for name in form)), [""] * count)


def _row(spots: Sequence[Spot], y: float) -> float:
    """Set the height of boxes that stand in one row under their labels; the bottom of the row."""
    band = max((spot.label_height for spot in spots), default=0)
    strip = CELL_H if any(spot.cells for spot in spots) else 0
    lines = max((len(spot.lines) for spot in spots), default=0)
    for spot in spots:
        spot.y = y + band
        spot.height = strip + lines * ROW + 12
    return y + band + strip + lines * ROW + 12 + STACK


def _down(groups: Sequence[Group], found: Arranged, y: float) -> float:
    """Set the rows of groups that stand side by side, all at the same heights; the bottom of the frames."""
    framed = {id(frame.group): frame for frame in found.frames}
    frames = [framed[id(group)] for group in groups if id(group) in framed]
    start, edge = y, PAD if frames else 0.0
    y = _row([found.spots[id(box)] for group in groups for box in group.switches], y + edge)
    inner = [unit for group in groups for unit in group.inner]
    if inner:
        y = _down(inner, found, y + FAN)
    ends = [found.spots[id(box)] for group in groups for box in group.endpoints]
    if ends:
        y = _row(ends, y + FAN / 2)
    if frames:
        y += TITLE_H
    for frame in frames:
        frame.y, frame.height = start, y - start
    return y + STACK if frames else y
