"""The parts that can be bought: what a catalogue file holds, one class per kind of part."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, PositiveInt

from gpunet.models.base import Strict
from gpunet.models.evidence import Fact, How, Price, Source

PART_ID = r"^[a-z0-9][a-z0-9.\-]*$"


class FormFactor(StrEnum):
    """Mechanical family of a cage or plug. OSFP, OSFP112 and OSFP224 share one cage (R1)."""

    SFP = "SFP"
    SFP_PLUS = "SFP+"
    SFP28 = "SFP28"
    SFP56 = "SFP56"
    SFP_DD = "SFP-DD"
    QSFP28 = "QSFP28"
    QSFP56 = "QSFP56"
    QSFP112 = "QSFP112"
    QSFP_DD = "QSFP-DD"
    QSFP_DD800 = "QSFP-DD800"
    OSFP = "OSFP"
    OSFP224 = "OSFP224"
    RJ45 = "RJ45"
    CO_PACKAGED = "co-packaged"


class Shell(StrEnum):
    """Heat-sink shell: IHS finned and RHS flat for OSFP (R2); ``none`` where the family has one shell."""

    IHS = "IHS"
    RHS = "RHS"
    NONE = "none"


class Protocol(StrEnum):
    """Link protocol."""

    INFINIBAND = "infiniband"
    ETHERNET = "ethernet"


class Status(StrEnum):
    """Whether a part can be ordered."""

    ACTIVE = "active"
    CONFIRM = "confirm-orderability"
    PLANNED = "planned"
    LEGACY = "legacy"
    DISCONTINUED = "discontinued"


class PortMode(Strict):
    """One way a cage can be split into logical ports."""

    ports: PositiveInt
    """Logical ports in the cage."""
    speed_gbps: float = Field(gt=0)
    """MAC rate of each port, Gb/s one way."""
    lanes: PositiveInt
    """Host lanes of each port."""
    lane_gbps: float = Field(gt=0)
    """Rate of each host lane, Gb/s."""
    protocols: tuple[Protocol, ...] = (Protocol.INFINIBAND, Protocol.ETHERNET)
    """Protocols that offer this mode; ConnectX-8 has 1x800G on InfiniBand only."""


class HotCages(Strict):
    """Cages of a group that take a hotter module than the rest, by port number."""

    count: PositiveInt
    """How many cages have the higher limit."""
    port_numbers: str = ""
    """The port numbers, as the vendor writes them; the first ``count`` ports when empty."""
    power_limit_w: Fact
    """Limit for one module in these cages, W."""


class CageLimits(Strict):
    """Limits of the cages of a group under one airflow."""

    power_limit_w: Fact
    """Limit for one module, W, for every cage of the group."""
    hot: HotCages | None = None
    """The cages with a higher limit, where the limit differs by port number."""


class AirDirection(StrEnum):
    """Which way a switch blows. The ports are what vendors call the connector side, the IO side or the front."""

    PORT_TO_POWER = "port-to-power"
    POWER_TO_PORT = "power-to-port"


class Airflow(Strict):
    """The directions in which a switch can be ordered, with their evidence."""

    offered: tuple[AirDirection, ...]
    """Directions; empty for a switch without fans, which blows neither way."""
    how: How
    """Whether it was read, recalled or estimated."""
    src: str
    """Key in ``catalogs/sources.yaml``."""
    note: str = ""
    """The vendor's own words, or a doubt about a reading."""


class CageGroup(Strict):
    """Cages of one kind on a switch, NIC or server."""

    name: str
    """Short name, unique on the device: ``fabric``, ``uplink``, ``management``."""
    count: PositiveInt
    """Number of cages."""
    form_factor: FormFactor
    """Cage family."""
    shell: Shell
    """Heat-sink shell the cage takes."""
    host_lanes: PositiveInt
    """Electrical lanes behind the cage."""
    lane_gbps: float = Field(gt=0)
    """Highest rate of one host lane, Gb/s."""
    modes: tuple[PortMode, ...]
    """Every way the cage may be split, as the vendor or the operating system lists it."""
    power_limit_w: Fact | None = None
    """Limit for one module, W, for every cage of the group; none where no limit is published."""
    hot: HotCages | None = None
    """The cages with a higher limit, where the limit differs by port number."""
    power_to_port: CageLimits | None = None
    """Limits where the air enters at the power supplies, where they are others; those above hold for the other way."""
    fabric: bool = True
    """False for management or test cages, which carry no fabric link."""
    also_accepts: tuple[FormFactor, ...] = ()
    """Plugs this cage takes beyond the default table of R1, where the vendor lists them."""
    accepts_codings: tuple[str, ...] = ()
    """Codings of modules that the host takes, where it does not take every one (R19)."""
    linear_host: bool = False
    """True when the host SerDes is qualified for linear optics (LPO) and linear copper."""
    how: How
    """Evidence for count, lanes and modes."""
    src: str
    """Source key."""
    note: str = ""
    """A trap or a doubt worth showing."""


class Part(Strict):
    """What every part has."""

    id: str = Field(pattern=PART_ID)
    """Catalogue id, as used in case files."""
    vendor: str = Field(pattern=r"^[a-z0-9][a-z0-9\-]*$")
    """Vendor in lower case, as used in ``nvidia:*`` and in discounts."""
    model: str
    """Name as the vendor writes it."""
    part_numbers: tuple[str, ...] = ()
    """Orderable numbers."""
    status: Status = Status.ACTIVE
    """Whether it can be ordered."""
    lead_time_weeks: Fact | None = None
    """Delivery time, weeks."""
    note: str = ""
    """A trap or a doubt worth showing."""


class Switch(Part):
    """A switch: cages, limits, watts and price without pluggables."""

    protocol: Protocol
    """What it switches."""
    asic: str = ""
    """Switching silicon."""
    cages: tuple[CageGroup, ...]
    """Cage groups, fabric and management."""
    max_logical_ports: Fact | None = None
    """Most logical ports the silicon drives at once; none where it never binds."""
    cages_per_pipeline: int | None = None
    """Adjacent cages that share one pipeline of the silicon (Tomahawk 5: 2)."""
    ports_per_pipeline: int | None = None
    """Logical ports one pipeline can drive (Tomahawk 5: 10)."""
    lossy_only_speeds_gbps: tuple[float, ...] = ()
    """Port speeds that the platform supports only without PFC, so not for a RoCE backend."""
    power_chassis_max_w: Fact
    """Largest draw of the switch itself without pluggables, W."""
    power_chassis_typ_w: Fact
    """Typical draw without active pluggables, W."""
    power_supply_w: Fact | None = None
    """Largest draw with pluggables that supply and cooling allow, W."""
    rack_units: Fact
    """Height, rack units."""
    latency_ns: Fact | None = None
    """Port-to-port latency, ns; none where no figure is published."""
    airflow: Airflow | None = None
    """Directions offered; none where they are not known."""
    cooling: str = "air"
    """``air`` or ``liquid``."""
    buffer_mb: Fact | None = None
    """Packet buffer, MB."""
    buffer_pools: PositiveInt = 1
    """Equal parts of the packet buffer that are no one pool; every port uses one of them (Tomahawk 4 and 5: 2)."""
    independent_switches: int = 1
    """Switches inside one box that share no ports (Q3200: 2)."""
    refuses_modules: tuple[str, ...] = ()
    """Module ids the vendor marks unsupported in this switch."""
    limits_modules: dict[str, str] = Field(default_factory=dict)
    """Module ids the vendor supports with a limitation, and the limitation."""
    price: Price | None = None
    """Unit price; a switch without one is never chosen unless the case gives a price."""


class Nic(Part):
    """A network adapter, bought only where the server does not include it."""

    protocols: tuple[Protocol, ...]
    """What its ports can speak."""
    cages: tuple[CageGroup, ...]
    """Its cages."""
    power_w: Fact | None = None
    """Draw without its module, W."""
    price: Price | None = None
    """Unit price."""


class ServerRole(StrEnum):
    """What a group of server cages is for."""

    BACKEND = "backend"
    STORAGE = "storage"
    FRONTEND = "frontend"


class ServerCages(Strict):
    """Cages of a server that serve one fabric."""

    role: ServerRole
    """Fabric they serve."""
    cages: CageGroup
    """The cages; with ``nic`` set they are the cages of ``nic_count`` such adapters."""
    protocols: tuple[Protocol, ...] = (Protocol.INFINIBAND, Protocol.ETHERNET)
    """What the ports can speak."""
    nic: str | None = None
    """NIC that must be bought for these cages; none where the server includes it."""


class Server(Part):
    """A GPU server, or one rack-scale system."""

    gpus: Fact
    """GPUs inside."""
    cages: tuple[ServerCages, ...]
    """Network cages by role."""
    bmc_ports: int = 1
    """1G RJ45 management ports."""
    power_max_w: Fact
    """Largest draw, W."""
    rack_units: Fact
    """Height, rack units."""
    cooling: str = "air"
    """``air`` or ``liquid``."""
    price: Price | None = None
    """Unit price, for information: servers are no part of the network's cost."""


class OpticalInterface(Strict):
    """An optical side, such as ``400G-DR4``: what two modules must have in common (R5)."""

    id: str
    """Name, such as ``400G-DR4``."""
    lanes: PositiveInt
    """Optical lanes."""
    gbps_per_lane: float
    """Gb/s of one optical lane."""
    media: str
    """``MMF`` or ``SMF``."""
    lane_class: str
    """Media, wavelength plan, modulation and rate in one key; it must be equal at both ends."""
    tier: str
    """Reach tier: VR, SR, DR, FR, LR6 or LR (R7)."""
    splittable_into_lanes: tuple[int, ...] = ()
    """Lane counts a splitter may take from it; empty for wavelength-muxed optics (R6)."""
    fibres: int
    """Fibres of one interface."""
    fec: str
    """FEC code, such as ``RS(544,514)`` (R8)."""
    reach_m: dict[str, float]
    """Standard reach by fibre grade, m."""
    loss_budget_db: dict[str, float] = Field(default_factory=dict)
    """Channel insertion loss allowed by fibre grade, dB."""
    how: How
    """Evidence."""
    src: str
    """Source key."""


class Connector(Strict):
    """An optical connector (R10, R11)."""

    kind: str
    """``MPO-12``, ``MPO-16``, ``LC``, ``CS`` or ``RJ45``."""
    polish: str = ""
    """``APC``, ``UPC`` or empty for copper."""


class Module(Part):
    """A pluggable transceiver: host side and optical side are separate facts."""

    protocols: tuple[Protocol, ...]
    """What it may carry."""
    form_factor: FormFactor
    """Plug family."""
    shell: Shell
    """Heat-sink shell."""
    host_lanes: PositiveInt
    """Electrical lanes."""
    host_lane_gbps: float = Field(gt=0)
    """Rate of one electrical lane, Gb/s."""
    optical_ports: PositiveInt
    """Independent optical ports: 2 for a twin-port module."""
    interface: str | None
    """Optical interface of each port; none for an RJ45 module."""
    connector: Connector
    """Connector of each optical port."""
    retiming: str = "full"
    """``full`` (DSP), ``linear`` (LPO) or ``half`` (LRO, TRO)."""
    coding: str = ""
    """Vendor whose hosts the module is coded for; the module's own vendor when empty."""
    reach_m: dict[str, float]
    """Reach by fibre grade (``OM3``, ``OM4``, ``OM5``, ``OS2``, ``Cat6A``), m."""
    power_max_w: Fact
    """Largest draw, W."""
    power_typ_w: Fact
    """Typical draw, W."""
    price: Price | None = None
    """Unit price."""

    @property
    def coded_for(self) -> str:
        """Vendor whose hosts the module is coded for."""
        return self.coding or self.vendor


class StockLength(Strict):
    """One length in which a cable or fibre is sold."""

    length_m: float = Field(gt=0)
    """Length, m."""
    price: Price
    """Unit price of that length."""


class CableEnd(Strict):
    """One side of a cable assembly."""

    form_factor: FormFactor
    """Plug family."""
    shell: Shell
    """Heat-sink shell."""
    count: PositiveInt = 1
    """Plugs on this side: 1, or the legs of a splitter."""
    lanes: PositiveInt
    """Lanes of one plug."""
    lane_gbps: float = Field(gt=0)
    """Rate of one lane, Gb/s."""
    power_w: Fact
    """Largest draw of one plug, W."""
    fec: str = ""
    """FEC of the end where the assembly states one (R8)."""


class CableKind(StrEnum):
    """Technology of a cable assembly."""

    DAC = "DAC"
    ACC = "ACC"
    AEC = "AEC"
    AOC = "AOC"
    COPPER = "copper"


class SoldByLength(Part):
    """What a cable and a fibre have in common."""

    diameter_mm: Fact | None = None
    """Outer diameter of each strand, mm; its thickest stock length. None where it is not known."""
    strands: PositiveInt = 1
    """Round strands side by side along its length: of a splitter its legs, of many a twin-port cable two."""
    lengths: tuple[StockLength, ...]
    """Stock lengths with prices."""


class Cable(SoldByLength):
    """An assembly with fixed ends. A splitter is directional: side a is the head."""

    kind: CableKind
    """Technology."""
    protocols: tuple[Protocol, ...]
    """What it may carry."""
    end_a: CableEnd
    """Head."""
    end_b: CableEnd
    """Far end or legs."""
    links_per_assembly: PositiveInt
    """Independent links one assembly carries when each plug port is its own link."""
    links_if_single_mac: int | None = None
    """Links when the whole plug is one MAC (1x800G); none where that is impossible."""
    retimed: bool = False
    """True for AEC and AOC."""
    converts_lane_rate: bool = False
    """True only for the named retimed gearbox cables."""


class FibreKind(StrEnum):
    """What a passive fibre part does."""

    JUMPER = "jumper"
    SPLITTER = "splitter"
    HARNESS = "harness"
    TRUNK = "trunk"
    CONVERSION = "conversion"


class Fibre(SoldByLength):
    """A passive jumper, trunk, splitter or harness between two modules."""

    kind: FibreKind
    """What it does."""
    grade: str
    """``OM3``, ``OM4``, ``OM5`` or ``OS2``."""
    fibres: PositiveInt
    """Fibres at side a."""
    connector_a: Connector
    """Connector at side a."""
    connector_b: Connector
    """Connector of each leg at side b."""
    legs: PositiveInt = 1
    """Ends at side b: 1 for a jumper, 2 for a 1:2 splitter, 4 for an MPO to 4 LC harness."""
    polarity: str = ""
    """Polarity type."""
    gender: str = ""
    """Gender of the ends."""
    loss_per_mated_pair_db: float = 0.35
    """Insertion loss of one mated pair, dB."""


class Accessory(Part):
    """A panel, cassette or tool."""

    rack_units: int = 0
    """Height, rack units."""
    connector: Connector | None = None
    """Connectors that meet in a panel, cord in front and trunk behind; none for what is no panel."""
    positions: PositiveInt | None = None
    """Channels that a panel has places for; none for what is no panel."""
    positions_per_unit: PositiveInt | None = None
    """Places that one rack unit of enclosure holds; none for what is no panel."""
    price: Price
    """Unit price."""


class Catalog(Strict):
    """Every part, by id, with the sources behind the numbers."""

    version: str
    """Hash of the catalogue's content: equal versions give equal answers."""
    sources: dict[str, Source]
    """Source keys."""
    interfaces: dict[str, OpticalInterface]
    """Optical interfaces by name."""
    switches: dict[str, Switch]
    """Switches by id."""
    nics: dict[str, Nic]
    """NICs by id."""
    servers: dict[str, Server]
    """Servers by id."""
    modules: dict[str, Module]
    """Modules by id."""
    cables: dict[str, Cable]
    """Cables by id, each with its stock lengths."""
    fibres: dict[str, Fibre]
    """Fibres by id, each with its stock lengths."""
    accessories: dict[str, Accessory] = Field(default_factory=dict)
    """Panels and tools by id."""
