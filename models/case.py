"""The case: what a user asks for. Names are the contract of the case file."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import (
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    field_validator,
    model_validator,
)

from gpunet.models.base import Strict
from gpunet.models.lossless import Lossless
from gpunet.models.parts import AirDirection, Protocol
from gpunet.models.phase import Phase
from gpunet.models.plant import Plant, Tray
from gpunet.models.quote import Day, QuoteFile
from gpunet.models.terms import Buying, Spares, Supply, Terms

MAX_SERVERS = 1_000_000
Pattern = Annotated[str, Field(min_length=1)]


class FabricName(StrEnum):
    """The four networks of a cluster."""

    BACKEND = "backend"
    STORAGE = "storage"
    FRONTEND = "frontend"
    OOB = "oob"


class Topology(StrEnum):
    """How endpoints are spread over leaves."""

    RAIL_OPTIMIZED = "rail-optimized"
    LEAF_SPINE = "leaf-spine"


class Striping(StrEnum):
    """``strict``: equal multiplicity to every spine. ``ports``: count ports only, not proven non-blocking."""

    STRICT = "strict"
    PORTS = "ports"


class StorageMode(StrEnum):
    """Where storage traffic runs."""

    SEPARATE = "separate"
    CONVERGED = "converged"
    AUTO = "auto"
    NONE = "none"


class Placement(StrEnum):
    """Where leaves stand. ``top-of-rack`` puts backend leaves on the servers' racks, the others at the row's end."""

    TOP_OF_RACK = "top-of-rack"
    ROW_END = "row-end"
    ROW_MIDDLE = "row-middle"
    NETWORK_ROW = "network-row"
    SHORTEST = "shortest"
    """Every zone where the runs of the room are shortest in all, in its row and in the middle."""
    CHEAPEST = "cheapest"
    """Not a placement but a question: whichever of the others has the best design."""


FIXED_PLACEMENTS = (
    Placement.ROW_END,
    Placement.ROW_MIDDLE,
    Placement.NETWORK_ROW,
    Placement.TOP_OF_RACK,
    Placement.SHORTEST,
)
"""The placements that a room can be laid out by. Of those that come to the same, ``cheapest`` takes the first."""


class Objective(StrEnum):
    """What is minimised."""

    COST = "cost"
    POWER = "power"
    TCO = "tco"


class PartFilter(Strict):
    """Which parts may be used. ``allow`` narrows only the kinds of part it names."""

    allow: tuple[Pattern, ...] = ()
    """Part ids, ``vendor:*`` (``nvidia:*``) or ``kind:*`` (``switch:*``)."""
    deny: tuple[Pattern, ...] = ()
    """Part ids, ``vendor:*`` or ``kind:*`` that must not be used."""


class Cluster(Strict):
    """The machines to connect."""

    gpus: PositiveInt | None = None
    """GPUs; rounded up to whole servers. Give this or ``servers``."""
    servers: PositiveInt | None = None
    """Servers. Give this or ``gpus``."""
    server: str
    """Server model, a catalogue id."""
    growth: float = Field(default=0.0, ge=0, le=100)
    """Share of servers added later that ports and bandwidth must already serve; 0.20 is 20 %."""
    reserved_ports: dict[FabricName, NonNegativeInt] = Field(default_factory=dict)
    """Endpoints that are not servers (fabric managers, gateways), per fabric, at the endpoint speed."""
    nics: dict[FabricName, str] = Field(default_factory=dict)
    """NIC model per fabric, where the server lets the buyer choose; a catalogue id."""

    @model_validator(mode="after")
    def _one_size(self) -> Cluster:
        if (self.gpus is None) == (self.servers is None):
            raise ValueError("give exactly one of gpus and servers")
        if self.servers is not None and self.servers > MAX_SERVERS:
            raise ValueError(f"servers must be at most {MAX_SERVERS:,}")
        if self.gpus is not None and self.gpus > 8 * MAX_SERVERS:
            raise ValueError(f"gpus must be at most {8 * MAX_SERVERS:,}")
        return self


class FabricBase(Strict):
    """What every fabric has."""

    protocols: tuple[Protocol, ...] = Field(default=(Protocol.INFINIBAND, Protocol.ETHERNET), min_length=1)
    """Protocols allowed; the program picks one."""
    oversubscription: float = Field(default=1.0, ge=1.0)
    """Largest downlink : uplink bandwidth allowed at each tier; 1 is non-blocking."""
    striping: Striping = Striping.STRICT
    """``strict``, or ``ports`` to reproduce tables that only count ports."""
    max_tiers: int = Field(default=3, ge=1, le=3)
    """Most switch tiers allowed."""
    latency_ns: PositiveFloat | None = None
    """Longest switch-to-switch path allowed: switch latencies and fibre, ns."""
    max_hops: PositiveInt | None = None
    """Most switches on the longest path."""
    min_leaves: PositiveInt = 1
    """Fewest leaves, for redundancy."""
    min_spines: PositiveInt = 1
    """Fewest spines where there is a spine tier, for redundancy."""
    min_cores: PositiveInt = 1
    """Fewest cores where there is a core tier, for redundancy."""
    mixed_leaves: bool = False
    """Also try leaves of two kinds under the same spines, two tiers: a smaller last group, or owned switches."""
    parts: PartFilter = PartFilter()
    """Narrows the parts for this fabric alone."""


class Backend(FabricBase):
    """GPU to GPU."""

    topologies: tuple[Topology, ...] = Field(default=(Topology.RAIL_OPTIMIZED, Topology.LEAF_SPINE), min_length=1)
    """Topologies allowed; the program picks one."""
    speed_gbps: PositiveFloat | None = None
    """Speed of an endpoint, Gb/s; the server's NIC speed when empty."""
    lossless: Lossless | None = None
    """Flow control headroom that an Ethernet backend must have buffer for; not looked at when empty."""


class Storage(FabricBase):
    """GPU servers to storage servers."""

    mode: StorageMode = StorageMode.SEPARATE
    """``separate``, ``converged`` (on the backend's switches), ``auto`` or ``none``."""
    storage_servers: NonNegativeInt | None = None
    """Storage servers; one per eight GPU servers when empty."""
    storage_server_gbps: PositiveFloat = 400
    """Bandwidth of one storage server, Gb/s."""
    storage_server_nic: str | None = None
    """NIC of a storage server, a catalogue id; one of that speed when empty."""
    storage_server_units: PositiveInt = 2
    """Height of a storage server, rack units."""
    storage_server_w: NonNegativeFloat = 1200
    """Largest draw of a storage server, W."""
    server_gbps: PositiveFloat | None = None
    """Storage bandwidth of one GPU server, Gb/s; all its storage NICs when empty."""
    lossless: Lossless | None = None
    """Flow control headroom that Ethernet storage must have buffer for; not looked at when empty."""


class Frontend(FabricBase):
    """In-band network of the servers."""

    protocols: tuple[Protocol, ...] = Field(default=(Protocol.ETHERNET,), min_length=1)
    """Protocols allowed."""
    oversubscription: float = Field(default=4.0, ge=1.0)
    """Largest downlink : uplink bandwidth allowed at each tier."""
    server_gbps: PositiveFloat = 100
    """In-band bandwidth of one GPU server, Gb/s."""


class Oob(FabricBase):
    """Management: one 1G port per server BMC, per switch and per PDU."""

    protocols: tuple[Protocol, ...] = Field(default=(Protocol.ETHERNET,), min_length=1)
    """Protocols allowed."""
    oversubscription: float = Field(default=48.0, ge=1.0)
    """Largest downlink : uplink bandwidth allowed."""
    pdus_per_rack: NonNegativeInt = 2
    """Power distribution units with a management port in every rack of servers or storage servers."""


def _bare_name_means_defaults(value: object) -> object:
    """A setting with nothing below it; one that is left out never comes here, so a dump must leave out what is none."""
    return {} if value is None else value


class Fabrics(Strict):
    """The fabrics wanted. Left out entirely: all four. Given: just the ones named."""

    backend: Backend | None = None
    """GPU to GPU."""
    storage: Storage | None = None
    """GPU servers to storage."""
    frontend: Frontend | None = None
    """In-band."""
    oob: Oob | None = None
    """Management."""

    _bare_names = field_validator("backend", "storage", "frontend", "oob", mode="before")(_bare_name_means_defaults)

    @staticmethod
    def all_defaults() -> Fabrics:
        """The four fabrics with their defaults."""
        return Fabrics(backend=Backend(), storage=Storage(), frontend=Frontend(), oob=Oob())


class Rack(Strict):
    """One rack."""

    units: PositiveInt = 48
    """Height, rack units."""
    power_kw: PositiveFloat = 44
    """Power, kW."""
    cooling_kw: PositiveFloat | None = None
    """Heat that can be removed, kW; as much as the power when empty."""
    airflow: AirDirection | None = None
    """Which way switches must blow: ``port-to-power`` or ``power-to-port``. Switches that are not offered so, or of
    which it is not known, are not used. Any way when empty."""
    cost_usd: NonNegativeFloat | None = None
    """Price of a network rack with its power distribution, USD: paid for every rack that a switch stands in, but for
    racks of servers. Network racks are not paid for when empty."""


class Site(Strict):
    """The room."""

    rows: PositiveInt | None = None
    """Rows of server racks; as many as needed for a square room when empty."""
    racks_per_row: PositiveInt | None = None
    """Server racks in a row; as many as needed for a square room when empty."""
    rack: Rack = Rack()
    """Every rack."""
    servers_per_rack: PositiveInt | None = None
    """As many as units, power and cooling allow when empty."""
    rack_pitch_m: PositiveFloat = 0.6
    """Width of a rack, m."""
    row_pitch_m: PositiveFloat = 3.0
    """Distance between rows with their aisle, m."""
    tray_rise_m: NonNegativeFloat = 2.5
    """Way from a port up to the tray, at each end, m."""
    slack_m: NonNegativeFloat = 1.0
    """Spare length per link, m."""
    switch_placement: Placement = Placement.ROW_END
    """Where leaves stand. ``shortest`` puts every zone of switches where the runs are shortest; ``cheapest`` designs
    the network for every placement and takes the best."""
    network_racks_per_row: PositiveInt | None = None
    """Rack places kept for leaves in each row; sized to the endpoints of the row when empty."""
    network_racks_central: PositiveInt | None = None
    """Rack places kept for spines, cores and shared switches; sized to the cluster when empty."""
    power_kw: PositiveFloat | None = None
    """Power of the whole site, servers included, kW."""
    fibre: tuple[Literal["OM3", "OM4", "OM5", "OS2"], ...] = Field(default=("OM4", "OS2"), min_length=1)
    """Fibre grades allowed."""
    plant: Plant | None = None
    """Panels and trunks between the ends of fibre links; every fibre is one direct cord when left out."""
    tray: Tray | None = None
    """Trays that cables must fit; trays hold any number of cables when left out."""

    _bare_names = field_validator("plant", mode="before")(_bare_name_means_defaults)


class Tco(Strict):
    """What running the network costs."""

    years: PositiveFloat = 4
    """Years counted."""
    usd_per_kwh: NonNegativeFloat = 0.09
    """Price of energy, USD per kWh."""
    pue: float = Field(default=1.3, ge=1.0)
    """Site energy : IT energy."""
    support_rate: NonNegativeFloat = 0.05
    """Yearly support as a share of the switch price."""


class Limits(Strict):
    """Ceilings on the whole network."""

    cost_usd: PositiveFloat | None = None
    """Most the network may cost, USD; for `gpunet phases` the most that is spent over all phases."""
    power_kw: PositiveFloat | None = None
    """Most the network may draw, servers not counted, kW."""
    racks: PositiveInt | None = None
    """Most network racks, by units and power of what stands in them."""
    lead_time_weeks: PositiveFloat | None = None
    """Longest delivery time of a part, weeks."""
    vendors: PositiveInt | None = None
    """Most vendors."""
    skus: PositiveInt | None = None
    """Most distinct parts; every stock length counts."""
    moved_cables: NonNegativeInt | None = None
    """Most installed cables that later ``phases`` may move, all together; ``gpunet phases`` alone looks at it."""


class Prices(Strict):
    """Which prices to use."""

    basis: Literal["low", "mid", "high"] = "mid"
    """End of the price band."""
    overrides_usd: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """Quoted unit price by part id, USD; discounts do not apply to it."""
    discounts: dict[str, Annotated[float, Field(ge=0, le=1)]] = Field(default_factory=dict)
    """Discount by vendor: 0.12 is 12 %."""


class Owned(Strict):
    """Parts already in the house. They cost nothing and still draw watts."""

    part: str
    """Catalogue id."""
    quantity: PositiveInt
    """How many."""


class Performance(Strict):
    """All-reduce efficiency by protocol, used by comparison, never by feasibility."""

    infiniband: float = Field(default=1.0, gt=0, le=1)
    """Share of the link bandwidth that collectives reach."""
    ethernet: float = Field(default=0.93, gt=0, le=1)
    """Share of the link bandwidth that collectives reach."""


class Case(Strict):
    """The user's problem, one YAML file."""

    name: str = ""
    """Name of the case; the file name without its ending when empty."""
    cluster: Cluster
    """The machines to connect."""
    fabrics: Fabrics = Fabrics.all_defaults()
    """The fabrics wanted; all four when left out."""
    site: Site = Site()
    """The room."""
    objective: Objective | tuple[Objective, ...] = Objective.COST
    """``cost``, ``power``, ``tco``, or a list for lexicographic order."""
    tco: Tco = Tco()
    """What running the network costs."""
    limits: Limits = Limits()
    """Ceilings."""
    parts: PartFilter = PartFilter()
    """Which parts may be used."""
    prices: Prices = Prices()
    """Which prices to use."""
    owned: tuple[Owned, ...] = ()
    """Parts already in the house."""
    terms: Terms | None = None
    """Price steps, packs, minimum orders, licences, laying of cables."""
    spares: Spares | None = None
    """Spare pieces that are bought with the network; none when empty."""
    supply: tuple[Supply, ...] | None = None
    """Parts of which only so many can be had."""
    quotes: tuple[Annotated[str, Field(min_length=1)] | QuoteFile, ...] | None = None
    """Quotes of suppliers: names of quote files, from the folder of the case on, or quotes written out. Their prices
    stand for those of the catalogue; of several for one part the lowest, unless ``buying`` says more."""
    buying: Buying | None = None
    """How the order is split among the suppliers that quote; every part at its lowest quote when empty."""
    order_date: Day | None = None
    """Day of the order, ISO 8601. Quotes that have lapsed by then do not count; every quote counts when empty."""
    phases: Annotated[tuple[Phase, ...], Field(min_length=2)] | None = None
    """How the cluster grows, first phase first; the last is the cluster of the case. For ``gpunet phases``."""
    price_decline_per_year: Annotated[float, Field(ge=0, lt=1)] | None = None
    """Share by which every price falls in a year, counted from the first of ``phases``: 0.15 is 15 %."""
    performance: Performance = Performance()
    """All-reduce efficiency by protocol."""

    @field_validator("objective")
    @classmethod
    def _objectives_differ(cls, value: Objective | tuple[Objective, ...]) -> object:
        if isinstance(value, tuple) and (not value or len(set(value)) != len(value)):
            raise ValueError("name at least one objective, each at most once")
        return value

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """The objectives in order of rank."""
        return self.objective if isinstance(self.objective, tuple) else (self.objective,)
