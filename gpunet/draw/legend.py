"""The legend: what every colour stands for, and how much of it there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpunet.draw.palette import TINT, Palette
from gpunet.draw.svg import LINE, Picture, shortened, text_width
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog, Part
from gpunet.report.words import counted

KINDS = {
    "switch": ("switch", "switches"),
    "server": ("server", "servers"),
    "storage-server": ("storage server", "storage servers"),
    "reserved": ("reserved endpoint", "reserved endpoints"),
    "pdu": ("PDU", "PDUs"),
}
"""Kinds of devices, one and several, in the order in which they are told."""

_SIZE, _SMALL = 12.0, 11.0
_MARK = 26.0
_GAP = 18.0
_HEIGHT = (_SIZE + _SMALL) * LINE + 8
_MOST = 270.0
"""Widest an entry gets; what is longer is cut in its second line."""


@dataclass(frozen=True)
class Entry:
    """One colour."""

    text: str
    small: str
    colour: str
    dash: str = ""
    line: bool = False
    """True for a kind of link."""
    counts: tuple[str, int, str, str] = ("", 0, "", "")
    """What is counted, how many, and their part and kind."""


def device_entries(devices: Iterable[Device], catalog: Catalog, palette: Palette) -> list[Entry]:
    """An entry for every kind and part, switches first."""
    counts = Counter((device.kind, device.part) for device in devices)
    order = list(KINDS)
    entries = []
    for (kind, part), count in sorted(counts.items(), key=lambda item: order.index(item[0][0])):
        whole = catalog.switches.get(part) or catalog.servers.get(part) or catalog.nics.get(part)
        text = f"{counted(count, *KINDS[kind])} {part}".rstrip()
        entries.append(
            Entry(text, _maker(whole) if whole else "", palette.body(part), counts=("devices", count, part, kind))
        )
    return entries


def medium_entries(links: Mapping[str, int], catalog: Catalog, palette: Palette) -> list[Entry]:
    """An entry for every cable and fibre with the links it carries."""
    entries = []
    for medium, count in links.items():
        stroke = palette.line(medium)
        fibre, cable = catalog.fibres.get(medium), catalog.cables.get(medium)
        what = f"{fibre.grade} fibre ({fibre.vendor})" if fibre else f"{cable.kind} ({cable.vendor})" if cable else ""
        text = f"{counted(count, 'link')} {medium}"
        entries.append(Entry(text, what, stroke.colour, stroke.dash, True, ("links", count, medium, "")))
    return entries


def _maker(part: Part) -> str:
    """Model and vendor of a part."""
    return part.model if part.model.lower().startswith(part.vendor) else f"{part.model} ({part.vendor})"


def legend_height(entries: Sequence[Entry], width: float) -> float:
    """Height that the legend takes at a width."""
    columns, _ = _grid(entries, width)
    return -(-len(entries) // columns) * _HEIGHT if entries else 0


def write_legend(picture: Picture, entries: Sequence[Entry], x: float, y: float, width: float) -> None:
    """Write the entries in columns from a corner on."""
    columns, wide = _grid(entries, width)
    for i, entry in enumerate(entries):
        row, column = divmod(i, columns)
        left, top = x + column * (wide + _GAP), y + row * _HEIGHT
        what, count, part, kind = entry.counts
        picture.open(legend=what, count=count, part=part, kind=kind)
        if entry.line:
            picture.path([(left, top + 9), (left + _MARK - 6, top + 9)], entry.colour, width=3, dash=entry.dash)
        else:
            picture.rect(left, top + 1, _MARK - 8, 16, fill="paper")
            picture.rect(left, top + 1, _MARK - 8, 16, fill=entry.colour, opacity=TINT, stroke="rule")
            picture.rect(left, top + 13, _MARK - 8, 4, fill=entry.colour)
        picture.text(left + _MARK, top + _SIZE, entry.text, _SIZE)
        if entry.small:
            small = shortened(entry.small, _SMALL, wide - _MARK)
            picture.text(left + _MARK, top + _SIZE + _SMALL * LINE, small, _SMALL, ink="soft")
        picture.close()


def _grid(entries: Sequence[Entry], width: float) -> tuple[int, float]:
    """Columns and their width."""
    needed = [text_width(entry.text, _SIZE) for entry in entries]
    wished = [min(text_width(entry.small, _SMALL), _MOST - _MARK) for entry in entries]
    wide = max([*needed, *wished], default=0) + _MARK
    columns = max(1, int((width + _GAP) // (wide + _GAP)))
    return columns, wide
