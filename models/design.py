"""The result: what to build, what it costs, and what was checked. Names are the contract of the JSON result."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.case import Case
from gpunet.models.ledger import Ledger


class Status(StrEnum):
    """The five ways a solve can end."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NO_SOLUTION = "no_solution"
    FAILED = "failed"


class ObjectiveValue(Strict):
    """What was minimised."""

    name: str
    """``cost``, ``power``, ``tco``, or names joined by a comma for lexicographic order."""
    value: float
    """Value of the first objective: USD for cost and tco, W for power."""


class Totals(Strict):
    """Sums over the ledger."""

    cost_usd: float
    """Network cost, USD."""
    power_max_w: float
    """Largest draw of the network, modules at both ends included, servers not, W."""
    power_typical_w: float
    """Typical draw of the same, W."""
    rack_units: int
    """Rack units of the network's switches."""
    tco_usd: float
    """Cost plus energy and support over the years of the case, USD."""


class Tier(Strict):
    """One tier of one fabric, one switch model."""

    tier: str
    switch: str
    count: int
    down_ports: int
    """Logical ports facing down on each switch."""
    up_ports: int
    """Logical ports facing up on each switch."""
    down_gbps: float = 0
    up_gbps: float = 0


class InterconnectLine(Strict):
    """Links of one class built one way."""

    link_class: str
    length_m: float
    """Stock length, m."""
    speed_gbps: float
    count: int
    """Links."""
    a_part: str | None
    medium: str
    b_part: str | None
    reason: str = ""
    """Why it fits: reach, rate, watts."""


class FabricDesign(Strict):
    """One fabric of the design."""

    protocol: str
    topology: str
    oversubscription: float
    """Largest downlink : uplink bandwidth of any tier as built and filled."""
    striping: str = "strict"
    shared_with: str = ""
    """The fabric whose switches carry this one (converged storage)."""
    tiers: tuple[Tier, ...]
    links: dict[str, int]
    """Links by class."""
    interconnects: tuple[InterconnectLine, ...]
    hops: int
    """Switches on the longest path."""
    latency_ns: float | None
    """Switches and fibre on the longest path, ns; none where a switch publishes no latency."""
    ties: int = 0
    """Other templates of this fabric at exactly the same objective."""


class BomLine(Strict):
    """One line of the bill."""

    part: str
    kind: str
    quantity: int
    owned: int = 0
    """How many of them are already in the house."""
    unit_price_usd: float
    extended_usd: float
    price_source: str
    price_date: str
    price_how: str
    note: str = ""


class Check(Strict):
    """One verification."""

    name: str
    passed: bool
    detail: str


class Verification(Strict):
    """All verifications."""

    passed: bool
    checks: tuple[Check, ...]


class Result(Strict):
    """The JSON result of ``gpunet optimize``."""

    case: str
    status: Status
    gap: float | None
    """Relative gap between the design and the best bound; 0 when proven; none without a design."""
    objective: ObjectiveValue | None
    bound: float | None = None
    """Proven bound on the objective, in its unit."""
    totals: Totals | None
    fabrics: dict[str, FabricDesign] = Field(default_factory=dict)
    bom: tuple[BomLine, ...] = ()
    verify: Verification | None = None
    reasons: tuple[str, ...] = ()
    """Why there is no design, in the user's terms."""
    warnings: tuple[str, ...] = ()
    """What the user should know: parts the vendor supports only with a limitation, estimates, defaults."""
    catalog_version: str
    gpunet_version: str
    engine: str
    seconds: float = 0.0


@dataclass
class Design:
    """A result with its case and its ledger."""

    case: Case
    result: Result
    ledger: Ledger = field(default_factory=Ledger)
