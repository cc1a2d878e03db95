"""A colour for every part of a design, told apart by people of every colour vision, on light and dark paper."""

from __future__ import annotations

from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.design import Design
from gpunet.models.parts import Catalog

BODIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8a8a8a")
"""Colours of boxes (Okabe and Ito); text stands on a light tint of them."""
LINES = ("#1a7fc1", "#c95a00", "#00946b", "#b5588f", "#7a7f2a", "#7f6a5b")
"""Colours of lines: at least 3 : 1 on light and on dark paper."""
MIXED = "#808890"
"""Where several parts share a box or a line, or a device has no part."""
DASHES = ("", "7 3", "2 3", "9 3 2 3")
"""Lines of equal colour differ in their dashes; copper is dashed from the start."""
TINT = 0.18
"""Opacity of a colour under text."""


@dataclass(frozen=True)
class Stroke:
    """How the links of one cable or fibre are drawn."""

    colour: str
    dash: str


class Palette:
    """Colours by part, in the order of the ledger, so that every picture of a design agrees."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        ledger = design.ledger
        parts = dict.fromkeys(d.part for d in ledger.devices if d.part)
        # Switches first: they are what the picture is about, and get the colours that differ most.
        switches = [part for part in parts if part in catalog.switches]
        others = [part for part in parts if part not in catalog.switches]
        self._body = {part: BODIES[i % len(BODIES)] for i, part in enumerate([*switches, *others])}
        media = dict.fromkeys(split_medium_id(medium)[0] for medium in dict.fromkeys(x.medium for x in ledger.links))
        self._line: dict[str, Stroke] = {}
        for i, medium in enumerate(media):
            copper = medium in catalog.cables and catalog.cables[medium].kind.value != "AOC"
            dash = DASHES[(i // len(LINES) + copper) % len(DASHES)]
            self._line[medium] = Stroke(LINES[i % len(LINES)], dash)

    def body(self, part: str) -> str:
        """Colour of a device by its part."""
        return self._body.get(part, MIXED)

    def line(self, medium: str) -> Stroke:
        """Stroke of links by their cable or fibre."""
        return self._line.get(medium, Stroke(MIXED, ""))
