"""What every study shares: questions that follow a design, each answered by exact re-solving."""

from __future__ import annotations

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.design import Status
from gpunet.models.shown import Shown


class FabricSummary(Strict):
    """One fabric of a design, without its wiring."""

    protocol: str
    """``infiniband`` or ``ethernet``."""
    topology: str
    """``rail-optimized`` or ``leaf-spine``."""
    tiers: int
    """Tiers of switches."""
    switches: dict[str, int]
    """Switches by ``tier model``, such as ``leaf ib-qm9700``, from the leaves up."""
    hops: int
    """Switches on the longest path."""
    latency_ns: float | None
    """Switches and the longest fibre that may be used on the longest path, ns; none where a switch publishes none."""
    carries_storage: bool = False
    """Whether storage runs on the same switches."""


class DesignSummary(Strict):
    """A design in figures: what a study compares."""

    cost_usd: float
    """Network cost, USD."""
    power_max_w: float
    """Largest draw of the network, W."""
    tco_usd: float
    """Cost, energy and support over the years of the case, USD."""
    fabrics: dict[str, FabricSummary]
    """Each fabric by name."""
    parts: dict[str, int]
    """Pieces of every part."""
    bought: dict[str, int] = Field(default_factory=dict)
    """Pieces that must be bought, owned stock taken off."""


class Study(Shown, Strict):
    """What all studies carry."""

    study: str
    """Name of the study, that of the command."""
    case: str
    """Name of the case."""
    objective: str
    """``cost``, ``power``, ``tco``, or names joined by a comma."""
    status: Status
    """How the case itself ended."""
    engine: str
    """``highs``, ``scip`` or ``cp-sat``."""
    solves: int
    """Designs solved to proven optimality, or proven not to exist, for the answer."""
    complete: bool = True
    """False when the study was stopped before all of it was answered."""
    catalog_version: str
    """Hash of the catalogue."""
    gpunet_version: str
    """Version of gpunet."""
