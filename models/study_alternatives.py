"""Designs that are nearly as good: every structure within some share of the optimum, and what all of them need."""

from __future__ import annotations

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.study import DesignSummary, Study


class Structure(Strict):
    """A kind of design of one fabric: all that is not a count."""

    protocol: str
    """``infiniband`` or ``ethernet``."""
    topology: str
    """``rail-optimized`` or ``leaf-spine``."""
    tiers: int
    """Tiers of switches."""
    leaves: tuple[str, ...]
    """Leaf models."""
    spine: str = ""
    """Spine model; empty without spines."""
    core: str = ""
    """Core model; empty without cores."""
    speeds_gbps: dict[str, tuple[float, ...]]
    """Speeds of the links of each class, Gb/s."""
    optics: dict[str, tuple[str, ...]]
    """Optics of each link class: reach tiers such as ``DR``, ``AOC``, ``copper``."""
    carries_storage: bool = False
    """Whether storage runs on the same switches."""


class Alternative(Strict):
    """The best whole design in which one fabric has this structure; the other fabrics are free."""

    structure: Structure
    """What the fabric is."""
    value: float
    """First objective of the whole design: USD, or W for power."""
    more: float
    """What that is above the optimum, in the same unit."""
    cost_usd: float
    """Network cost of the whole design, USD."""
    power_max_w: float
    """Largest draw of the whole design, W."""
    tco_usd: float
    """Cost, energy and support of the whole design over the years of the case, USD."""
    switches: dict[str, int]
    """Switches of the fabric by ``tier model``."""
    parts: dict[str, int]
    """Pieces of every part of the fabric; for fibre and cable all lengths together."""
    in_optimum: bool = False
    """Whether the optimum has this structure."""


class PartUse(Strict):
    """How far a fabric depends on one part."""

    part: str
    """Catalogue id; for fibre and cable all lengths together."""
    kind: str
    """``switch``, ``module``, ``cable`` or ``fibre``."""
    structures: int
    """Structures within the slack whose best design has it in this fabric."""
    fewest: int
    """Fewest pieces in the best design of any structure within the slack."""
    most: int
    """Most pieces."""
    in_optimum: int
    """Pieces in the optimum."""
    needed: bool
    """Whether every design within the slack has it in this fabric; proven by solving without it."""
    without_more: float | None = None
    """What the best design without it is above the optimum, USD or W; none where there is no such design, or where the
    optimum does without it."""


class FabricAlternatives(Strict):
    """Everything within the slack for one fabric."""

    alternatives: tuple[Alternative, ...]
    """One for every structure within the slack, best first."""
    shared: tuple[str, ...]
    """What every design within the slack has in common in this fabric."""
    parts: tuple[PartUse, ...]
    """Every part of any of them, most used first."""
    ties: int
    """Structures other than the optimum's whose best design is worth exactly as much."""


class Alternatives(Study):
    """Every structurally different design within a share of the optimum."""

    within: float
    """Slack as a share of the optimum: 0.05 is 5 %."""
    value: float | None
    """The optimum: USD, or W for power; none without a design."""
    most: float | None
    """Value at which the slack ends."""
    design: DesignSummary | None
    """The optimum in figures; none without one."""
    fabrics: dict[str, FabricAlternatives] = Field(default_factory=dict)
    """By fabric."""
    notes: tuple[str, ...] = ()
    """What the reader should know."""
