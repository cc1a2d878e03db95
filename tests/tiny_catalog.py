"""A catalogue small enough to search by hand or exhaustively, with made-up parts and round prices.

Four switches of 4 to 16 cages, one server with two 400G NICs, multimode to 50 m, single mode to 500 m, copper to 2 m.

- InfiniBand and the big Ethernet switch have twin-port OSFP cages (2x400G), the small Ethernet switch QSFP112 (1x400G).
- The server has flat-top OSFP NICs (1x400G, or 1x200G by a splitter).
- Copper: OSFP twin to two OSFP NICs, OSFP twin to OSFP twin, QSFP112 to QSFP112.
"""

from __future__ import annotations

from gpunet.models.evidence import Fact, How, Price, Source
from gpunet.models.parts import (
    Accessory,
    Cable,
    CableEnd,
    CableKind,
    CageGroup,
    Catalog,
    Connector,
    Fibre,
    FibreKind,
    FormFactor,
    Module,
    Nic,
    OpticalInterface,
    PortMode,
    Protocol,
    Server,
    ServerCages,
    ServerRole,
    Shell,
    StockLength,
    Switch,
)

SRC = "made-up"
BOTH = (Protocol.INFINIBAND, Protocol.ETHERNET)
MPO = Connector(kind="MPO-12", polish="APC")
FEC = "RS(544,514)"
M400 = PortMode(ports=1, speed_gbps=400, lanes=4, lane_gbps=100)
M200 = PortMode(ports=1, speed_gbps=200, lanes=2, lane_gbps=100)
TWIN_400 = PortMode(ports=2, speed_gbps=400, lanes=4, lane_gbps=100)
QUAD_200 = PortMode(ports=4, speed_gbps=200, lanes=2, lane_gbps=100)


def fact(value: float) -> Fact:
    """A number of this catalogue."""
    return Fact(v=value, how=How.ESTIMATED, src=SRC)


def price(usd: float) -> Price:
    """A unit price with a band of 10 % to either side, USD."""
    return Price(mid_usd=usd, low_usd=round(usd * 0.9, 2), high_usd=round(usd * 1.1, 2), how=How.ESTIMATED, src=SRC)


def lengths(usd_by_length_m: dict[float, float]) -> tuple[StockLength, ...]:
    """Stock lengths with their prices."""
    return tuple(StockLength(length_m=length, price=price(usd)) for length, usd in usd_by_length_m.items())


def _osfp_cages(count: int) -> CageGroup:
    return CageGroup(
        name="fabric",
        count=count,
        form_factor=FormFactor.OSFP,
        shell=Shell.IHS,
        host_lanes=8,
        lane_gbps=100,
        modes=(TWIN_400, QUAD_200),
        power_limit_w=fact(18),
        how=How.ESTIMATED,
        src=SRC,
    )


def _qsfp_cages(count: int) -> CageGroup:
    return CageGroup(
        name="fabric",
        count=count,
        form_factor=FormFactor.QSFP112,
        shell=Shell.NONE,
        host_lanes=4,
        lane_gbps=100,
        modes=(M400,),
        power_limit_w=fact(12),
        how=How.ESTIMATED,
        src=SRC,
    )


def _nic_cages(count: int) -> CageGroup:
    return CageGroup(
        name="nic",
        count=count,
        form_factor=FormFactor.OSFP,
        shell=Shell.RHS,
        host_lanes=4,
        lane_gbps=100,
        modes=(M400, M200),
        power_limit_w=fact(10),
        how=How.ESTIMATED,
        src=SRC,
    )


def _switch(
    part: str, vendor: str, protocol: Protocol, cages: CageGroup, power_w: float, latency_ns: float, usd: float
) -> Switch:
    return Switch(
        id=part,
        vendor=vendor,
        model=part.upper(),
        protocol=protocol,
        cages=(cages,),
        power_chassis_max_w=fact(power_w),
        power_chassis_typ_w=fact(power_w * 0.8),
        power_supply_w=fact(2000),
        rack_units=fact(1),
        latency_ns=fact(latency_ns),
        price=price(usd),
    )


def _module(
    part: str,
    *,
    form_factor: FormFactor,
    shell: Shell,
    twin: bool,
    interface: str,
    reach_m: dict[str, float],
    power_w: float,
    usd: float,
) -> Module:
    return Module(
        id=part,
        vendor="lumen",
        model=part.upper(),
        protocols=BOTH,
        form_factor=form_factor,
        shell=shell,
        host_lanes=8 if twin else 4,
        host_lane_gbps=100,
        optical_ports=2 if twin else 1,
        interface=interface,
        connector=MPO,
        reach_m=reach_m,
        power_max_w=fact(power_w),
        power_typ_w=fact(power_w - 1),
        price=price(usd),
    )


def _fibre(part: str, kind: FibreKind, grade: str, legs: int, usd_by_length_m: dict[float, float]) -> Fibre:
    return Fibre(
        id=part,
        vendor="lumen",
        model=part.upper(),
        kind=kind,
        grade=grade,
        fibres=8,
        connector_a=MPO,
        connector_b=MPO,
        legs=legs,
        lengths=lengths(usd_by_length_m),
    )


def _cable(part: str, end_a: CableEnd, end_b: CableEnd, links: int, usd_by_length_m: dict[float, float]) -> Cable:
    return Cable(
        id=part,
        vendor="lumen",
        model=part.upper(),
        kind=CableKind.DAC,
        protocols=BOTH,
        end_a=end_a,
        end_b=end_b,
        links_per_assembly=links,
        lengths=lengths(usd_by_length_m),
    )


def _plug(form_factor: FormFactor, shell: Shell, lanes: int, count: int = 1) -> CableEnd:
    return CableEnd(form_factor=form_factor, shell=shell, count=count, lanes=lanes, lane_gbps=100, power_w=fact(0.1))


def _interface(name: str, media: str, tier: str, reach_m: dict[str, float]) -> OpticalInterface:
    return OpticalInterface(
        id=name,
        lanes=4,
        gbps_per_lane=100,
        media=media,
        lane_class=f"{media} 4 lanes PAM4 100G",
        tier=tier,
        splittable_into_lanes=(1, 2),
        fibres=8,
        fec=FEC,
        reach_m=reach_m,
        how=How.ESTIMATED,
        src=SRC,
    )


def tiny_catalog() -> Catalog:
    """The whole catalogue; every call builds an equal one."""
    mmf: dict[str, float] = {"OM3": 30, "OM4": 50}
    smf: dict[str, float] = {"OS2": 500}
    osfp, qsfp = FormFactor.OSFP, FormFactor.QSFP112
    switches = (
        _switch("ib-tiny-4", "northstar", Protocol.INFINIBAND, _osfp_cages(4), 200, 200, 4_000),
        _switch("ib-tiny-8", "northstar", Protocol.INFINIBAND, _osfp_cages(8), 350, 250, 9_000),
        _switch("eth-tiny-8", "southern", Protocol.ETHERNET, _qsfp_cages(8), 180, 600, 3_000),
        _switch("eth-tiny-16", "southern", Protocol.ETHERNET, _osfp_cages(16), 600, 700, 14_000),
    )
    modules = (
        _module(
            "twin-sr4",
            form_factor=osfp,
            shell=Shell.IHS,
            twin=True,
            interface="400G-SR4",
            reach_m=mmf,
            power_w=15,
            usd=900,
        ),
        _module(
            "twin-dr4",
            form_factor=osfp,
            shell=Shell.IHS,
            twin=True,
            interface="400G-DR4",
            reach_m=smf,
            power_w=16,
            usd=1300,
        ),
        _module(
            "flat-sr4",
            form_factor=osfp,
            shell=Shell.RHS,
            twin=False,
            interface="400G-SR4",
            reach_m=mmf,
            power_w=8,
            usd=500,
        ),
        _module(
            "flat-dr4",
            form_factor=osfp,
            shell=Shell.RHS,
            twin=False,
            interface="400G-DR4",
            reach_m=smf,
            power_w=9,
            usd=700,
        ),
        _module(
            "qsfp-sr4",
            form_factor=qsfp,
            shell=Shell.NONE,
            twin=False,
            interface="400G-SR4",
            reach_m=mmf,
            power_w=8,
            usd=450,
        ),
        _module(
            "qsfp-dr4",
            form_factor=qsfp,
            shell=Shell.NONE,
            twin=False,
            interface="400G-DR4",
            reach_m=smf,
            power_w=9,
            usd=650,
        ),
    )
    fibres = (
        _fibre("mpo-om4", FibreKind.JUMPER, "OM4", 1, {5: 40, 10: 50, 30: 90, 50: 130}),
        _fibre("mpo-os2", FibreKind.JUMPER, "OS2", 1, {10: 45, 30: 60, 100: 140, 500: 500}),
        _fibre("mpo-om4-split", FibreKind.SPLITTER, "OM4", 2, {5: 80, 10: 95, 30: 150}),
    )
    twin = _plug(osfp, Shell.IHS, 8)
    cables = (
        _cable("dac-twin-nic", twin, _plug(osfp, Shell.RHS, 4, count=2), 2, {1: 180, 2: 220}),
        _cable("dac-twin-twin", twin, twin, 2, {1: 160, 2: 200}),
        _cable("dac-qsfp", _plug(qsfp, Shell.NONE, 4), _plug(qsfp, Shell.NONE, 4), 1, {1: 90, 2: 110}),
    )
    server = Server(
        id="server-2",
        vendor="eastern",
        model="Server 2",
        gpus=fact(2),
        cages=(ServerCages(role=ServerRole.BACKEND, cages=_nic_cages(2)),),
        power_max_w=fact(2_000),
        rack_units=fact(4),
    )
    nic = Nic(
        id="nic-400",
        vendor="northstar",
        model="NIC 400",
        protocols=BOTH,
        cages=(_nic_cages(1),),
        power_w=fact(20),
        price=price(1_500),
    )
    interfaces = (
        _interface("400G-SR4", "MMF", "SR", mmf),
        _interface("400G-DR4", "SMF", "DR", smf),
    )
    panel = Accessory(id="panel-1u", vendor="lumen", model="Panel", rack_units=1, price=price(100))
    return Catalog(
        version="tiny",
        sources={SRC: Source(at="made up for tests", how=How.ESTIMATED, date="2026")},
        interfaces={interface.id: interface for interface in interfaces},
        switches={part.id: part for part in switches},
        nics={nic.id: nic},
        servers={server.id: server},
        modules={part.id: part for part in modules},
        cables={part.id: part for part in cables},
        fibres={part.id: part for part in fibres},
        accessories={panel.id: panel},
    )
