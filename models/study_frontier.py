"""What one goal costs in terms of another: every design that none beats on both."""

from __future__ import annotations

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.study import DesignSummary, Study


class Axis(Strict):
    """One of the two goals."""

    name: str
    """``cost``, ``power``, ``tco``, ``gpus``, ``oversubscription``, ``latency`` or ``racks``."""
    unit: str
    """``USD``, ``W``, ``GPUs``, ``ratio``, ``ns`` or ``racks``."""
    more_is_better: bool = False
    """True for GPUs alone; of everything else less is better."""


class FrontierPoint(Strict):
    """A design that none beats: whatever is better on one axis is worse on the other."""

    x: float
    """Its place on the x axis, in the unit of that axis."""
    y: float | None
    """Its place on the y axis, in the unit of that axis; none where a switch publishes no latency."""
    supported: bool
    """Whether some weighting of the two axes finds it; a sum of both never finds the others."""
    change: tuple[str, ...] = ()
    """What it is built with in place of the point before: ``-1 x switch a``, ``+2 x switch b``."""
    design: DesignSummary
    """The design."""


class Frontier(Study):
    """The answer of ``gpunet frontier``."""

    x: Axis
    """What is paid: cost, power or tco."""
    y: Axis
    """What is had for it."""
    fabric: str | None = None
    """Fabric whose setting is stepped, where the y axis is one of a fabric."""
    points: tuple[FrontierPoint, ...] = ()
    """Every design that none beats, by x, least first."""
    beaten: tuple[float, ...] = ()
    """Values of y that were solved and are no point: something at least as good on y has no larger x."""
    impossible: tuple[float, ...] = ()
    """Values of y that were asked for and that no design reaches."""
    spacing: float | None = Field(default=None, ge=0)
    """Least distance between points that was asked for; points nearer to the one before may be left out."""
    how: str = ""
    """Which values were looked at, in words."""
