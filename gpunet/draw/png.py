"""Pictures as PNG, for slides and documents that take no SVG."""

from __future__ import annotations

SCALE = 2.0
"""Pixels for one unit of the picture: sharp on paper and on dense screens."""


def to_png(svg: str, scale: float = SCALE) -> bytes:
    """An SVG of this program as PNG on white paper, ``scale`` pixels to its unit."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg, scale=scale))
