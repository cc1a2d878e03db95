"""The result: what to build, what it costs, and what was checked. Names are the contract of the JSON result."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from gpunet.models.base import Strict
from gpunet.models.case import Case
from gpunet.models.ledger import Ledger
from gpunet.models.shown import Shown


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
    """``leaf``, ``spine`` or ``core``."""
    switch: str
    """Switch model, a catalogue id."""
    count: int
    """Switches."""
    down_ports: int
    """Logical ports facing down on each switch."""
    up_ports: int
    """Logical ports facing up on each switch."""
    down_gbps: float = 0
    """Bandwidth of one switch downwards, Gb/s."""
    up_gbps: float = 0
    """Bandwidth of one switch upwards, Gb/s."""


class TierHeadroom(Strict):
    """Flow control headroom of one tier with one switch model, on its fullest switch."""

    tier: str
    """``leaf``, ``spine`` or ``core``."""
    switch: str
    """Switch model, a catalogue id."""
    ports: int
    """Ports in use."""
    least_port_bytes: int
    """Headroom of the port that needs least, all lossless classes, bytes."""
    most_port_bytes: int
    """Headroom of the port that needs most, all lossless classes, bytes."""
    total_bytes: int
    """Headroom of all ports in use, bytes."""
    pools: int = 1
    """Parts of the packet buffer that are no one pool."""
    pool_bytes: int
    """Headroom that can fall to one pool at most: of the fullest cages, as many as a pool serves, bytes."""
    buffer_bytes: int | None
    """Packet buffer of the switch, all pools, bytes; none where it is not known."""
    share: float | None
    """Headroom of the fullest pool : buffer of a pool; none where the buffer is not known."""
    buffer_how: str
    """Evidence for the buffer: ``read``, ``recalled`` or ``estimated``; empty where it is not known."""


class InterconnectLine(Strict):
    """Links of one class built one way."""

    link_class: str
    """``endpoint-leaf``, ``leaf-spine`` or ``spine-core``."""
    length_m: float
    """Stock length, m."""
    speed_gbps: float
    """Speed of one link, Gb/s."""
    count: int
    """Links."""
    a_part: str | None
    """Module at the leaf of an endpoint link, at the lower switch of any other; none for a cable."""
    medium: str
    """Fibre or cable with its stock length, such as ``nv-mfp7e10-n030``."""
    b_part: str | None
    """Module at the far end; none for a cable."""
    reason: str = ""
    """Why it fits: reach, rate, watts."""


class FabricDesign(Strict):
    """One fabric of the design."""

    protocol: str
    """``infiniband`` or ``ethernet``."""
    topology: str
    """``rail-optimized`` or ``leaf-spine``."""
    oversubscription: float
    """Largest downlink : uplink bandwidth of any tier as built and filled."""
    striping: str = "strict"
    """``strict``, or ``ports`` where nothing proves the fabric non-blocking."""
    shared_with: str = ""
    """The fabric whose switches carry this one (converged storage)."""
    tiers: tuple[Tier, ...]
    """Switches, from the leaves up."""
    links: dict[str, int]
    """Links by class."""
    interconnects: tuple[InterconnectLine, ...]
    """What every link is built with."""
    hops: int
    """Switches on the longest path."""
    latency_ns: float | None
    """Switches and fibre on the longest path, ns; none where a switch publishes no latency."""
    ties: int = 0
    """Other switches, or counts of them, for this fabric that come to exactly the same on every objective, everything
    else as it is; 0 as well where nothing is proven."""
    link_ties: int = 0
    """Classes of links of one length that other parts would build for exactly the same."""
    headroom: tuple[TierHeadroom, ...] = ()
    """Flow control headroom by tier; left out of the JSON where the case asks for none."""

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        found: dict[str, object] = handler(self)
        return {name: value for name, value in found.items() if value or name != "headroom"}


_LEFT_OUT = ("spares", "surplus", "supplier", "valid_until")
"""Fields of a line that are not written where they say nothing."""


class BomLine(Strict):
    """One line of the bill."""

    part: str
    """Catalogue id; for a cable or fibre with its stock length. The name of a licence, of work, of racks
    or of what a vendor takes off."""
    kind: str
    """``switch``, ``nic``, ``module``, ``cable``, ``fibre``, ``panel``, ``licence``, ``installation``, ``rack`` or
    ``discount``."""
    quantity: int
    """Pieces in the design."""
    owned: int = 0
    """How many of them and of their spares are already in the house."""
    spares: int = 0
    """Spare pieces beside those in the design; left out of the JSON when there are none."""
    surplus: int = 0
    """Pieces bought beyond that, for whole packs, a minimum order or a lower price; left out when there are none."""
    unit_price_usd: float
    """Price of one piece after basis, override, discount and price steps, USD."""
    extended_usd: float
    """Price of the pieces that must be bought, USD."""
    price_source: str
    """Source keys of the catalogue, or ``case file``."""
    price_date: str
    """When the price was seen, ISO 8601."""
    price_how: str
    """``read``, ``recalled``, ``estimated``, or ``quoted`` by the case."""
    note: str = ""
    """Discounts, seller, basis of an estimate."""
    supplier: str = ""
    """Who is to deliver, where the order is split among suppliers; left out for a price that no quote gives."""
    valid_until: str = ""
    """Last day on which the offer holds, ISO 8601; left out where the order is not split or the offer has no end."""

    @property
    def bought(self) -> int:
        """Pieces that are ordered."""
        return self.quantity + self.spares - self.owned + self.surplus

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        found: dict[str, object] = handler(self)
        return {name: value for name, value in found.items() if value or name not in _LEFT_OUT}


class Delivery(Strict):
    """When everything that is bought is there, and what sets that date."""

    weeks: float
    """Weeks from the order until the last of the parts with a known delivery time is there."""
    parts: tuple[str, ...]
    """Parts that take so long, in the order of the bill."""
    how: str
    """How the time of the first of them is known: ``read``, ``recalled`` or ``estimated`` by the catalogue, ``quoted``
    by its supplier, or ``supply``: the week of the case's supply that the order reaches into."""
    unknown: tuple[str, ...] = ()
    """Parts that are bought and whose delivery time nobody gives."""


class TraySection(Strict):
    """One section of tray."""

    section: str
    """``racks-01`` over the racks of a row, ``cross-01`` across the aisles to it, or ``central``; with leaves
    within rows ``racks-01-left`` and ``racks-01-right``."""
    used_mm2: float
    """Cross-section of the cables in it, mm²."""
    limit_mm2: float
    """Cross-section of the cables that the case allows there, mm²."""
    share: float
    """One : the other."""


class Check(Strict):
    """One verification."""

    name: str
    """Short name."""
    passed: bool
    """Whether it holds."""
    detail: str
    """What was counted, or what is wrong."""


class Verification(Strict):
    """All verifications."""

    passed: bool
    """Whether every check holds."""
    checks: tuple[Check, ...]
    """One per rule."""


class PlacementTried(Strict):
    """One placement of the switches, at its own optimum."""

    placement: str
    """A value of ``site.switch_placement``."""
    status: Status
    """How its search ended: ``infeasible`` where no design of the case stands so."""
    objectives: tuple[float, ...] = ()
    """Value of every objective, by rank: USD for cost and tco, W for power; empty without a design."""
    chosen: bool = False
    """Whether it is the one that is built."""


class Result(Strict):
    """The JSON result of ``gpunet optimize``."""

    case: str
    """Name of the case."""
    status: Status
    """How the solve ended."""
    gap: float | None
    """Relative gap between the design and the best bound; 0 when proven; none without a design."""
    objective: ObjectiveValue | None
    """What was minimised; none without a design."""
    bound: float | None = None
    """Proven bound on the objective, in its unit."""
    totals: Totals | None
    """Sums over everything that is built; none without a design."""
    fabrics: dict[str, FabricDesign] = Field(default_factory=dict)
    """Each fabric by name."""
    bom: tuple[BomLine, ...] = ()
    """What to buy."""
    delivery: Delivery | None = None
    """When the last part is there; only where the case asks about time (a limit, supply by weeks or quoted delivery
    times), and left out of the JSON otherwise."""
    placements: tuple[PlacementTried, ...] = ()
    """Every placement that ``site.switch_placement: cheapest`` looked at, in the order in which it takes equals; the
    case of the design names the one that is built. Left out of the JSON where the case gives the placement."""
    trays: tuple[TraySection, ...] = ()
    """How full every section of tray is; left out of the JSON where the case limits none."""
    verify: Verification | None = None
    """What was checked; none without a design."""
    reasons: tuple[str, ...] = ()
    """Why there is no design, in the user's terms."""
    warnings: tuple[str, ...] = ()
    """What the user should know: parts the vendor supports only with a limitation, estimates, defaults."""
    catalog_version: str
    """Hash of the catalogue that was used."""
    gpunet_version: str
    """Version of gpunet."""
    engine: str
    """``highs``, ``scip`` or ``cp-sat``."""
    seconds: float = 0.0
    """Time from reading the parts to the verified design, s."""

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        found: dict[str, object] = handler(self)
        return {
            name: value for name, value in found.items() if value or name not in ("delivery", "placements", "trays")
        }


@dataclass(repr=False)
class Design(Shown):
    """A result with its case and its ledger."""

    case: Case
    result: Result
    ledger: Ledger = field(default_factory=Ledger)
