"""Hand-made cages, modules, fibres and cables for the tests of the link rules. Every number is made up."""

from __future__ import annotations

from gpunet.models.evidence import Fact, How, Price
from gpunet.models.interconnect import CageKind
from gpunet.models.parts import (
    Cable,
    CableEnd,
    CableKind,
    Connector,
    Fibre,
    FibreKind,
    FormFactor,
    Module,
    PortMode,
    Protocol,
    Shell,
    StockLength,
)

BOTH = (Protocol.INFINIBAND, Protocol.ETHERNET)
IB, ETH = BOTH
OSFP_FAMILY = (FormFactor.OSFP, FormFactor.OSFP224)


def fact(value: float) -> Fact:
    """A number of these tests."""
    return Fact(v=value, how=How.ESTIMATED, src="made-up")


def stock(*lengths_m: float) -> tuple[StockLength, ...]:
    """Stock lengths at one price."""
    price = Price(mid_usd=10, how=How.ESTIMATED, src="made-up")
    return tuple(StockLength(length_m=length_m, price=price) for length_m in lengths_m)


def mode(text: str) -> PortMode:
    """A mode written as ``2x400:4@100``: ports x Gb/s, host lanes of a port @ Gb/s of a lane."""
    split, _, lanes = text.partition(":")
    ports, _, speed = split.partition("x")
    count, _, rate = lanes.partition("@")
    return PortMode(ports=int(ports), speed_gbps=float(speed), lanes=int(count), lane_gbps=float(rate))


def cage(
    form_factor: FormFactor | str,
    lanes: int,
    mode_text: str,
    shell: Shell | None = None,
    *,
    limit_w: float | None = 20,
    protocol: Protocol = ETH,
    linear_host: bool = False,
    also_accepts: tuple[FormFactor, ...] = (),
    refuses: frozenset[str] = frozenset(),
) -> CageKind:
    """A cage in one mode; OSFP cages are finned (IHS) unless told otherwise."""
    form_factor = FormFactor(form_factor)
    running = mode(mode_text)
    return CageKind(
        form_factor=form_factor,
        shell=shell or (Shell.IHS if form_factor in OSFP_FAMILY else Shell.NONE),
        host_lanes=lanes,
        lane_gbps=running.lane_gbps,
        mode=running,
        power_limit_mw=None if limit_w is None else round(limit_w * 1000),
        protocol=protocol,
        linear_host=linear_host,
        also_accepts=also_accepts,
        refuses_modules=refuses,
    )


def module(
    interface: str | None,
    form_factor: FormFactor | str,
    host: str,
    ports: int = 1,
    shell: Shell | None = None,
    *,
    part: str = "optic",
    power_w: float = 9,
    protocols: tuple[Protocol, ...] = BOTH,
    retiming: str = "full",
    connector: str = "MPO-12/APC",
    reach_m: dict[str, float] | None = None,
) -> Module:
    """A module; ``host`` is written ``8@50``: lanes @ Gb/s of a lane."""
    form_factor = FormFactor(form_factor)
    lanes, _, rate = host.partition("@")
    return Module(
        id=part,
        vendor="lumen",
        model=part,
        protocols=protocols,
        form_factor=form_factor,
        shell=shell or (Shell.IHS if form_factor in OSFP_FAMILY else Shell.NONE),
        host_lanes=int(lanes),
        host_lane_gbps=float(rate),
        optical_ports=ports,
        interface=interface,
        connector=plug(connector),
        retiming=retiming,
        reach_m=reach_m or {"OM4": 50, "OS2": 500},
        power_max_w=fact(power_w),
        power_typ_w=fact(power_w),
    )


def plug(text: str) -> Connector:
    """A connector written ``MPO-12/APC``."""
    kind, _, polish = text.partition("/")
    return Connector(kind=kind, polish=polish)


def fibre(
    ends: str,
    *,
    legs: int = 1,
    kind: FibreKind = FibreKind.JUMPER,
    grade: str = "OS2",
    fibres: int = 8,
    polarity: str = "Type B",
    gender: str = "female/female",
    lengths_m: tuple[float, ...] = (5, 50, 150),
    part: str = "cord",
) -> Fibre:
    """A fibre part; ``ends`` is written ``MPO-12/APC MPO-12/APC``: side a, then each leg of side b."""
    side_a, side_b = ends.split()
    return Fibre(
        id=part,
        vendor="lumen",
        model=part,
        kind=kind,
        grade=grade,
        fibres=fibres,
        connector_a=plug(side_a),
        connector_b=plug(side_b),
        legs=legs,
        polarity=polarity,
        gender=gender,
        lengths=stock(*lengths_m),
    )


def end(
    form_factor: FormFactor | str,
    lanes: str,
    shell: Shell | None = None,
    *,
    count: int = 1,
    power_w: float = 0.1,
    fec: str = "",
) -> CableEnd:
    """One side of a cable; ``lanes`` is written ``8@100``."""
    form_factor = FormFactor(form_factor)
    number, _, rate = lanes.partition("@")
    return CableEnd(
        form_factor=form_factor,
        shell=shell or (Shell.IHS if form_factor in OSFP_FAMILY else Shell.NONE),
        count=count,
        lanes=int(number),
        lane_gbps=float(rate),
        power_w=fact(power_w),
        fec=fec,
    )


def cable(
    kind: CableKind | str,
    end_a: CableEnd,
    end_b: CableEnd,
    links: int,
    *,
    single_mac: int | None = None,
    converts: bool = False,
    protocols: tuple[Protocol, ...] = BOTH,
    lengths_m: tuple[float, ...] = (1, 2, 3),
    vendor: str = "lumen",
    part: str = "assembly",
) -> Cable:
    """A cable assembly that carries ``links`` links, one per plug port."""
    return Cable(
        id=part,
        vendor=vendor,
        model=part,
        kind=CableKind(kind),
        protocols=protocols,
        end_a=end_a,
        end_b=end_b,
        links_per_assembly=links,
        links_if_single_mac=single_mac,
        converts_lane_rate=converts,
        lengths=stock(*lengths_m),
    )
