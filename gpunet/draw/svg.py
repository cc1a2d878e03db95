"""A small writer of SVG: well-formed by construction, text as text, readable in the dark and on paper.

Every element carries its colours for light paper as attributes, which every program understands; the style holds only
the colours for a dark screen, in classes that apply inside the picture alone.
"""

from __future__ import annotations

import math
import unicodedata
from xml.etree import ElementTree as ET

FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
LINE = 1.3
"""Height of a line of text, in its size."""
LIGHT = {"ink": "#1b1f24", "soft": "#4d5661", "paper": "#ffffff", "panel": "#f6f8fa", "rule": "#6e7781"}
"""Colours on light paper: text, lesser text, paper, the ground of a panel, outlines."""
DARK = {"ink": "#eceff3", "soft": "#b6c0cc", "paper": "#12161b", "panel": "#1a2028", "rule": "#8b96a3"}
"""The same on a dark screen."""
_NARROW, _WIDE = set("ijl.,:;|!'()[]-/ ftrI·"), set("mwMW×–@%→↑↓≤")
_EM_NARROW, _EM_PLAIN, _EM_CAPITAL, _EM_WIDE, _EM_FULL = 0.36, 0.6, 0.74, 0.95, 1.1
_BOLD = 1.08


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of a text in any of the fonts, in the unit of its size; a little more than the widest common one takes."""
    em = 0.0
    for mark in text:
        if mark in _NARROW:
            em += _EM_NARROW
        elif mark in _WIDE:
            em += _EM_WIDE
        elif unicodedata.east_asian_width(mark) in "WF":
            em += _EM_FULL
        else:
            em += _EM_CAPITAL if mark.isupper() else _EM_PLAIN
    return em * size * (_BOLD if bold else 1)


def shortened(text: str, size: float, width: float, bold: bool = False) -> str:
    """The text, cut with an ellipsis where it is wider than ``width``."""
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def number(value: float) -> str:
    """A coordinate: short, and the same on every machine."""
    return f"{value:.1f}".removesuffix(".0")


class Picture:
    """An SVG that grows; elements go into the innermost open group."""

    def __init__(self, prefix: str, width: float, height: float, title: str, description: str) -> None:
        self.prefix = prefix
        # Whole numbers, so that a PNG has no edge of half pixels.
        width, height = math.ceil(width), math.ceil(height)
        self._root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {number(width)} {number(height)}",
                "width": number(width),
                "height": number(height),
                "role": "img",
                "aria-labelledby": f"{prefix}-title {prefix}-desc",
                "class": prefix,
                "font-family": FONTS,
                "style": "max-width:100%;height:auto",
            },
        )
        self._open = [self._root]
        self._add("title", {"id": f"{prefix}-title"}, clean(title))
        self._add("desc", {"id": f"{prefix}-desc"}, clean(description))
        self._add("style", {}, _dark_style(prefix))
        self.rect(0, 0, width, height, fill="paper")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 12,
        *,
        ink: str = "ink",
        bold: bool = False,
        at: str = "start",
    ) -> None:
        """Text on a baseline; ``at`` is ``start``, ``middle`` or ``end``."""
        given = {"x": number(x), "y": number(y), "font-size": number(size), **self._ink("fill", ink)}
        if bold:
            given["font-weight"] = "bold"
        if at != "start":
            given["text-anchor"] = at
        self._add("text", given, clean(text))

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str = "",
        opacity: float = 1,
        radius: float = 0,
        dash: str = "",
        line_width: float = 1,
    ) -> None:
        """A rectangle; colours are names of ``LIGHT`` or plain colours; ``opacity`` is that of the fill."""
        given = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
        given |= self._inks(fill, stroke)
        if radius:
            given["rx"] = number(radius)
        if opacity < 1:
            given["fill-opacity"] = f"{opacity:g}"
        if stroke:
            given["stroke-width"] = number(line_width)
        if dash:
            given["stroke-dasharray"] = dash
        self._add("rect", given)

    def path(
        self, points: list[tuple[float, float]], stroke: str, *, width: float = 1, dash: str = "", opacity: float = 1
    ) -> None:
        """A line through points."""
        steps = " ".join(f"{number(x)} {number(y)}" for x, y in points)
        given = {"d": f"M{steps}", **self._inks("none", stroke), "stroke-width": number(width)}
        if dash:
            given["stroke-dasharray"] = dash
        if opacity < 1:
            given["stroke-opacity"] = f"{opacity:g}"
        self._add("path", given)

    def open(self, **data: str | int | float) -> None:
        """Open a group; what is given becomes ``data-`` attributes of it."""
        attributes = {f"data-{name.replace('_', '-')}": f"{value}" for name, value in data.items()}
        self._open.append(ET.SubElement(self._open[-1], "g", attributes))

    def hint(self, text: str) -> None:
        """What a pointer over the open group shows."""
        self._add("title", {}, clean(text))

    def close(self) -> None:
        """Close the innermost group."""
        self._open.pop()

    def __str__(self) -> str:
        ET.indent(self._root, " ")
        return ET.tostring(self._root, encoding="unicode") + "\n"

    def _add(self, tag: str, attributes: dict[str, str], text: str = "") -> None:
        ET.SubElement(self._open[-1], tag, attributes).text = text or None

    def _ink(self, what: str, colour: str) -> dict[str, str]:
        if colour not in LIGHT:
            return {what: colour}
        return {what: LIGHT[colour], "class": f"{self.prefix}-{what}-{colour}"}

    def _inks(self, fill: str, stroke: str) -> dict[str, str]:
        found = self._ink("fill", fill)
        if stroke:
            line = self._ink("stroke", stroke)
            classes = " ".join(filter(None, [found.get("class", ""), line.get("class", "")]))
            found |= line
            if classes:
                found["class"] = classes
        return found


def clean(text: str) -> str:
    """Text without characters that XML does not allow."""
    return "".join(mark if mark.isprintable() else "?" for mark in text)


def _dark_style(prefix: str) -> str:
    rules = "".join(
        f".{prefix} .{prefix}-{what}-{name}{{{what}:{colour}}}" for name, colour in DARK.items() for what in _PAINTED
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


_PAINTED = ("fill", "stroke")
