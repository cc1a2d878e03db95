"""Reads pictures back: where every text stands, what every box and bundle counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree as ET

from gpunet.draw.svg import text_width

NS = "{http://www.w3.org/2000/svg}"
ASCENT, DESCENT = 0.76, 0.22
"""How far letters reach above and below their line, in the size of the text."""


@dataclass(frozen=True)
class Words:
    """A text with the rectangle it fills."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    ink: str


class Drawn:
    """A picture of gpunet."""

    def __init__(self, svg: str) -> None:
        self.root = ET.fromstring(svg)
        _, _, self.width, self.height = map(float, self.root.get("viewBox", "").split())

    def words(self, within: ET.Element | None = None) -> list[Words]:
        """Every text, in the order of the picture."""
        return [_words(e) for e in (self.root if within is None else within).iter(f"{NS}text")]

    def groups(self, attribute: str) -> list[ET.Element]:
        """Every group with a data attribute."""
        return [e for e in self.root.iter(f"{NS}g") if e.get(f"data-{attribute}") is not None]

    def panels(self) -> dict[str, ET.Element]:
        """The fabrics of a topology."""
        return {e.get("data-fabric", ""): e for e in self.root.findall(f"{NS}g[@data-fabric]")}

    def overlaps(self) -> list[tuple[str, str]]:
        """Texts that lie over each other."""
        found = self.words()
        found.sort(key=lambda w: (w.top, w.left))
        return [
            (a.text, b.text)
            for i, a in enumerate(found)
            for b in found[i + 1 :]
            if a.left < b.right - 0.5 and b.left < a.right - 0.5 and a.top < b.bottom - 0.5 and b.top < a.bottom - 0.5
        ]

    def outside(self) -> list[str]:
        """What lies outside of the picture: texts, rectangles and lines."""
        texts = [w.text for w in self.words() if not self._holds(w.left, w.top, w.right, w.bottom)]
        rects = [
            ET.tostring(e, encoding="unicode") for e in self.root.iter(f"{NS}rect") if not self._holds(*corners(e))
        ]
        lines = []
        for e in self.root.iter(f"{NS}path"):
            at = [float(figure) for figure in re.findall(r"-?[\d.]+", e.get("d", ""))]
            lines += [e.get("d", "") for x, y in zip(at[::2], at[1::2], strict=True) if not self._holds(x, y, x, y)]
        return texts + rects + lines

    def _holds(self, left: float, top: float, right: float, bottom: float) -> bool:
        return left >= 0 and top >= 0 and right <= self.width + 0.1 and bottom <= self.height + 0.1


def corners(rect: ET.Element) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a rectangle."""
    x, y, w, h = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def counted(groups: list[ET.Element], attribute: str, *keys: str) -> Counter[tuple[str, ...]]:
    """Sum of a data attribute by other ones."""
    found: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        found[tuple(group.get(f"data-{key}", "") for key in keys)] += int(group.get(f"data-{attribute}", "0"))
    return found


def figure(text: str) -> int:
    """The first number of a text; 1,024 is one number."""
    found = re.search(r"\d[\d,]*", text)
    assert found is not None, text
    return int(found[0].replace(",", ""))


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, as the accessibility guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Contrast of two colours, 1 to 21."""
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def tinted(ground: str, colour: str, opacity: float) -> str:
    """A ground under a colour that lets it through."""
    pairs = [(int(ground[i : i + 2], 16), int(colour[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(g + (c - g) * opacity):02x}" for g, c in pairs)


def rising(values: list[float]) -> bool:
    """Whether no value is below the one before."""
    return all(a <= b for a, b in pairwise(values))


def _words(element: ET.Element) -> Words:
    size, x, y = (float(element.get(name, "0")) for name in ("font-size", "x", "y"))
    text = element.text or ""
    wide = text_width(text, size, element.get("font-weight") == "bold")
    left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[element.get("text-anchor", "start")]
    return Words(text, left, y - ASCENT * size, left + wide, y + DESCENT * size, element.get("fill", ""))
