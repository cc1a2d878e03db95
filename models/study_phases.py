"""What to buy now and what later, as a cluster grows in phases."""

from __future__ import annotations

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.study import FabricSummary, Study


class PhaseLine(Strict):
    """What is bought of one part in one phase."""

    part: str
    """Catalogue id, with its length for a cable or fibre."""
    kind: str
    """``switch``, ``module``, ``cable``, ``fibre`` or ``nic``."""
    quantity: int
    """Pieces bought in this phase."""
    in_use: int
    """Pieces in the network of this phase."""
    idle: int
    """Pieces bought by then that this phase does not use."""
    unit_price_usd: float
    """Price of a piece in this phase, USD."""
    extended_usd: float
    """What they cost together, USD."""


class PhaseStep(Strict):
    """One phase of a plan."""

    when: str
    """Quarter."""
    gpus: int
    """GPUs by then, those of whole servers."""
    asked_gpus: int
    """GPUs by then as the case asks for them; servers are bought whole."""
    servers: int
    """Servers by then."""
    price_factor: float
    """Price : price in the first phase."""
    cost_usd: float
    """What is spent in this phase, USD."""
    power_max_w: float
    """Largest draw of the network as it stands in this phase, W."""
    fabrics: dict[str, FabricSummary]
    """Each fabric by name, as it stands in this phase."""
    lines: tuple[PhaseLine, ...]
    """What is bought, and what is idle."""
    verified: bool
    """Whether the network of this phase passes every check of ``gpunet verify``."""
    cables_before: int
    """Cables that stood before this phase; 0 in the first."""
    moved_cables: int
    """Of these, how many must be moved: a cable stays where the same part joins the same devices again."""
    moved_cables_at_least: int
    """No naming of the switches moves fewer; where it is the same figure, that one is the least."""


class PhasedPlan(Strict):
    """One way to get from the first phase to the last."""

    name: str
    """``plan``, ``end-state-at-once`` or ``unplanned``."""
    cost_usd: float
    """All that is spent, at the prices of the phases, USD."""
    bound_usd: float
    """No such plan costs less, USD."""
    more_usd: float
    """What it costs more than the plan, USD."""
    moved_cables: int
    """Cables that are moved, all phases together."""
    steps: tuple[PhaseStep, ...]
    """The phases."""


class Phases(Study):
    """The answer of ``gpunet phases``."""

    price_decline_per_year: float
    """Share by which prices fall in a year."""
    limit_moved_cables: int | None = None
    """Most cables that may be moved; none without a limit."""
    limit_cost_usd: float | None = None
    """Most that may be spent over all phases, USD; none without a limit."""
    gap: float | None
    """Relative distance between the plan and the bound; 0 when proven."""
    reasons: tuple[str, ...] = ()
    """Why there is no plan."""
    plans: tuple[PhasedPlan, ...] = Field(default=())
    """The plan, then what it is compared with: the end state bought at once, and each phase by itself."""
