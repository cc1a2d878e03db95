"""The tiny catalogue with the awkward parts that real ones have.

- ``eth-duo-6`` has two cage groups, ``ib-hot-6`` cages with two limits, ``eth-pipe-6`` pipelines and a port limit.
- ``server-twin`` has one cage of two ports, so that the ports of a cage may go to different leaves.
- ``server-4`` has storage and in-band cages beside four NICs; its in-band NIC is bought.
- A second vendor sells modules that are cheaper and hotter, or dearer and cooler.
"""

from __future__ import annotations

from tiny_catalog import BOTH, M200, M400, MPO, QUAD_200, SRC, TWIN_400, fact, lengths, price, tiny_catalog

from gpunet.models.evidence import How
from gpunet.models.parts import (
    Cable,
    CableEnd,
    CableKind,
    CageGroup,
    Catalog,
    Fibre,
    FormFactor,
    HotCages,
    Module,
    Nic,
    PortMode,
    Protocol,
    Server,
    ServerCages,
    ServerRole,
    Shell,
    Switch,
)

OSFP, QSFP = FormFactor.OSFP, FormFactor.QSFP112


def _cages(
    name: str,
    count: int,
    form_factor: FormFactor,
    shell: Shell,
    modes: tuple[PortMode, ...],
    limit_w: float,
    hot: HotCages | None = None,
) -> CageGroup:
    lanes = max(mode.ports * mode.lanes for mode in modes)
    return CageGroup(
        name=name,
        count=count,
        form_factor=form_factor,
        shell=shell,
        host_lanes=lanes,
        lane_gbps=100,
        modes=modes,
        power_limit_w=fact(limit_w),
        hot=hot,
        how=How.ESTIMATED,
        src=SRC,
    )


def _switch(
    part: str,
    vendor: str,
    protocol: Protocol,
    cages: tuple[CageGroup, ...],
    power_w: float,
    usd: float,
    latency_ns: float | None = None,
    logical_ports: int | None = None,
    pipeline: tuple[int, int] | tuple[None, None] = (None, None),
) -> Switch:
    return Switch(
        id=part,
        vendor=vendor,
        model=part.upper(),
        protocol=protocol,
        cages=cages,
        max_logical_ports=None if logical_ports is None else fact(logical_ports),
        cages_per_pipeline=pipeline[0],
        ports_per_pipeline=pipeline[1],
        power_chassis_max_w=fact(power_w),
        power_chassis_typ_w=fact(power_w * 0.8),
        power_supply_w=fact(2000),
        rack_units=fact(1),
        latency_ns=None if latency_ns is None else fact(latency_ns),
        price=price(usd),
    )


def _module(
    part: str, vendor: str, form_factor: FormFactor, shell: Shell, twin: bool, kind: str, power_w: float, usd: float
) -> Module:
    return Module(
        id=part,
        vendor=vendor,
        model=part.upper(),
        protocols=BOTH,
        form_factor=form_factor,
        shell=shell,
        host_lanes=8 if twin else 4,
        host_lane_gbps=100,
        optical_ports=2 if twin else 1,
        interface=f"400G-{kind}",
        connector=MPO,
        reach_m={"OM3": 30, "OM4": 50} if kind == "SR4" else {"OS2": 500},
        power_max_w=fact(power_w),
        power_typ_w=fact(power_w - 1),
        price=price(usd),
    )


def _straight_cable(part: str, shell: Shell) -> Cable:
    def end(shell: Shell) -> CableEnd:
        return CableEnd(form_factor=OSFP, shell=shell, lanes=8, lane_gbps=100, power_w=fact(0.1))

    return Cable(
        id=part,
        vendor="umbra",
        model=part.upper(),
        kind=CableKind.DAC,
        protocols=BOTH,
        end_a=end(Shell.IHS),
        end_b=end(shell),
        links_per_assembly=2,
        lengths=lengths({1: 170, 2: 210}),
    )


def awkward_catalog() -> Catalog:
    """The whole catalogue; every call builds an equal one."""
    tiny = tiny_catalog()
    nic_cages = tiny.nics["nic-400"].cages[0]
    nic_qsfp = _cages("nic", 1, QSFP, Shell.NONE, (M400, M200), 10)
    hot = HotCages(count=2, port_numbers="2,5", power_limit_w=fact(18))
    ib, eth = Protocol.INFINIBAND, Protocol.ETHERNET
    switches = (
        _switch(
            "eth-duo-6",
            "southern",
            eth,
            (
                _cages("fabric", 6, QSFP, Shell.NONE, (M400,), 12),
                _cages("uplink", 2, OSFP, Shell.IHS, (TWIN_400, QUAD_200), 18),
            ),
            250,
            4_500,
            550,
        ),
        _switch(
            "ib-hot-6",
            "northstar",
            ib,
            (_cages("fabric", 6, OSFP, Shell.IHS, (TWIN_400, QUAD_200), 15, hot),),
            240,
            5_500,
        ),
        _switch(
            "eth-pipe-6",
            "umbra",
            eth,
            (_cages("fabric", 6, OSFP, Shell.IHS, (TWIN_400, QUAD_200), 18),),
            300,
            6_000,
            650,
            logical_ports=16,
            pipeline=(2, 6),
        ),
    )
    modules = (
        _module("flat-twin-sr4", "lumen", OSFP, Shell.RHS, True, "SR4", 15, 880),
        _module("flat-twin-dr4", "lumen", OSFP, Shell.RHS, True, "DR4", 16, 1_250),
        _module("twin-sr4-hot", "umbra", OSFP, Shell.IHS, True, "SR4", 17.5, 700),
        _module("flat-sr4-cool", "umbra", OSFP, Shell.RHS, False, "SR4", 6.5, 620),
        _module("qsfp-sr4-cool", "umbra", QSFP, Shell.NONE, False, "SR4", 7, 560),
        _module("twin-dr4-cool", "umbra", OSFP, Shell.IHS, True, "DR4", 14.5, 1_600),
    )
    cables = (_straight_cable("dac-twin-flat", Shell.RHS), _straight_cable("dac-twin-umbra", Shell.IHS))
    nic = Nic(
        id="nic-qsfp",
        vendor="southern",
        model="NIC QSFP",
        protocols=BOTH,
        cages=(nic_qsfp,),
        power_w=fact(15),
        price=price(800),
    )
    servers = (
        Server(
            id="server-twin",
            vendor="eastern",
            model="Server Twin",
            gpus=fact(4),
            cages=(
                ServerCages(role=ServerRole.BACKEND, cages=_cages("nic", 2, OSFP, Shell.RHS, (TWIN_400, QUAD_200), 17)),
            ),
            power_max_w=fact(2_000),
            rack_units=fact(4),
        ),
        Server(
            id="server-4",
            vendor="eastern",
            model="Server 4",
            gpus=fact(4),
            cages=(
                ServerCages(role=ServerRole.BACKEND, cages=nic_cages.model_copy(update={"count": 4})),
                ServerCages(role=ServerRole.STORAGE, cages=nic_qsfp.model_copy(update={"name": "storage", "count": 2})),
                ServerCages(
                    role=ServerRole.FRONTEND,
                    cages=nic_qsfp.model_copy(update={"name": "frontend"}),
                    protocols=(eth,),
                    nic="nic-qsfp",
                ),
            ),
            power_max_w=fact(3_000),
            rack_units=fact(6),
        ),
    )
    return tiny.model_copy(
        update={
            "version": "awkward",
            "switches": tiny.switches | {part.id: part for part in switches},
            "modules": tiny.modules | {part.id: part for part in modules},
            "cables": tiny.cables | {part.id: part for part in cables},
            "nics": tiny.nics | {nic.id: nic},
            "servers": tiny.servers | {server.id: server for server in servers},
        }
    )


SIZES = {
    "ib-tiny-4": (1, 1_100),
    "ib-tiny-8": (2, 1_500),
    "eth-tiny-8": (1, 1_250),
    "eth-tiny-16": (4, 2_100),
    "eth-duo-6": (3, 700),
    "ib-hot-6": (2, 900),
    "eth-pipe-6": (1, 1_000),
}
"""Rack units and watts of supply."""


def sized_catalog() -> Catalog:
    """The same with switches of many sizes, which fill racks by units or by watts."""
    whole = awkward_catalog()
    switches = {
        part: switch.model_copy(update={"rack_units": fact(SIZES[part][0]), "power_supply_w": fact(SIZES[part][1])})
        for part, switch in whole.switches.items()
    }
    return whole.model_copy(update={"version": "sized", "switches": switches})


THICK_MM = {"dac": 9.0, "mpo-om4": 3.0, "mpo-os2": 2.0}
"""Diameters by the beginning of a part's name; 4 mm for any other."""


def thick_catalog() -> Catalog:
    """The same with diameters of every cable and fibre."""
    whole = awkward_catalog()

    def thick(part: Cable | Fibre) -> dict[str, object]:
        known = (mm for begin, mm in THICK_MM.items() if part.id.startswith(begin))
        return {"diameter_mm": fact(next(known, 4.0)), "strands": getattr(part, "legs", 1)}

    return whole.model_copy(
        update={
            "version": "thick",
            "cables": {part.id: part.model_copy(update=thick(part)) for part in whole.cables.values()},
            "fibres": {part.id: part.model_copy(update=thick(part)) for part in whole.fibres.values()},
        }
    )
