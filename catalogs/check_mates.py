"""Parts that can never be used: a plug without a cage, a cage without a plug, a module without a far end or a fibre."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpunet.catalogs.findings import Finding, Level
from gpunet.catalogs.plugs import OSFP_FAMILY, plug_rules
from gpunet.models.parts import CableEnd, CageGroup, Catalog, Fibre, FormFactor, Module, Protocol, Shell


@dataclass(frozen=True)
class _Cage:
    """A cage group and the device that has it."""

    stem: str
    device: str
    number: int
    group: CageGroup
    protocols: frozenset[Protocol]

    @property
    def hottest_w(self) -> float:
        """Highest limit of any cage of the group, W; unbounded where none is published."""
        limits = [self.group.power_limit_w, self.group.hot.power_limit_w if self.group.hot else None]
        return max((limit.v for limit in limits if limit), default=float("inf"))


@dataclass(frozen=True)
class _Plug:
    """What decides whether a plug works in a cage."""

    form_factor: FormFactor
    shell: Shell
    lanes: int
    lane_gbps: float
    protocols: frozenset[Protocol]


def unusable_parts(catalog: Catalog) -> Iterator[Finding]:
    """A warning for every module, cable and cage that nothing in the catalogue can be joined with."""
    cages = list(_cages(catalog))
    seats = {key: [cage for cage in cages if _works(_of_module(m), cage)] for key, m in catalog.modules.items()}
    yield from _modules(catalog, seats)
    yield from _cables(catalog, cages)
    yield from _empty_cages(catalog, cages)


def _cages(catalog: Catalog) -> Iterator[_Cage]:
    for key, switch in catalog.switches.items():
        for number, group in enumerate(switch.cages):
            yield _Cage("switches", key, number, group, frozenset({switch.protocol}))
    for key, nic in catalog.nics.items():
        for number, group in enumerate(nic.cages):
            yield _Cage("nics", key, number, group, frozenset(nic.protocols))
    for key, server in catalog.servers.items():
        for number, role in enumerate(server.cages):
            yield _Cage("servers", key, number, role.cages, frozenset(role.protocols))


def _works(plug: _Plug, cage: _Cage) -> bool:
    """Whether a plug enters the cage and meets a mode of its lane rate in a protocol of both. Watts are left out."""
    if not plug_rules().seats(cage.group, plug.form_factor, plug.shell):
        return False
    common = plug.protocols & cage.protocols
    return any(
        mode.lane_gbps == plug.lane_gbps
        and mode.lanes <= plug.lanes
        and not common.isdisjoint(mode.protocols)
        and not (_is_narrow(plug, cage.group) and mode.ports > 1)
        for mode in cage.group.modes
    )


def _is_narrow(plug: _Plug, group: CageGroup) -> bool:
    """R3: a single-port OSFP plug works in a wider cage only where the cage runs as one port, as in an adapter."""
    return plug.form_factor in OSFP_FAMILY and plug.lanes < group.host_lanes


def _of_module(module: Module) -> _Plug:
    protocols = frozenset(module.protocols)
    return _Plug(module.form_factor, module.shell, module.host_lanes, module.host_lane_gbps, protocols)


def _of_end(end: CableEnd, protocols: Iterable[Protocol]) -> _Plug:
    return _Plug(end.form_factor, end.shell, end.lanes, end.lane_gbps, frozenset(protocols))


def _modules(catalog: Catalog, seats: dict[str, list[_Cage]]) -> Iterator[Finding]:
    for key, module in catalog.modules.items():
        if not seats[key]:
            message = f"no cage takes a {module.form_factor} plug with lanes of {module.host_lane_gbps:g} Gb/s"
            yield Finding(Level.WARNING, "modules", key, message)
            continue
        if all(cage.hottest_w < module.power_max_w.v for cage in seats[key]):
            most_w = max(cage.hottest_w for cage in seats[key])
            message = f"draws {module.power_max_w.v:g} W; no cage that takes it grants more than {most_w:g} W"
            yield Finding(Level.WARNING, "modules", key, message, "power_max_w")
        if module.retiming != "full" and not any(cage.group.linear_host for cage in seats[key]):
            message = "needs a host qualified for linear optics; no cage that takes it is"
            yield Finding(Level.WARNING, "modules", key, message, "retiming")
        if module.interface not in catalog.interfaces:
            continue
        partners = [other for other in catalog.modules.values() if _mate(catalog, module, other)]
        in_switch = [m for m in partners if _in_switch(seats[m.id]) or (_in_switch(seats[key]) and seats[m.id])]
        if not in_switch:
            message = f"no module for a switch cage has the optical lanes of {module.interface}"
            yield Finding(Level.WARNING, "modules", key, message, "interface")
        elif not any(_joined(fibre, module, other) for fibre in catalog.fibres.values() for other in in_switch):
            ends = f"{module.connector.kind}/{module.connector.polish}".rstrip("/")
            message = f"no fibre leads from {ends} on {catalog.interfaces[module.interface].media} to a far end"
            yield Finding(Level.WARNING, "modules", key, message, "connector")


def _in_switch(seats: list[_Cage]) -> bool:
    return any(cage.stem == "switches" for cage in seats)


def _mate(catalog: Catalog, one: Module, other: Module) -> bool:
    """Whether two modules have optical lanes, code and protocol in common (R5, R8, R9)."""
    if other.interface not in catalog.interfaces or one.interface not in catalog.interfaces:
        return False
    a, b = catalog.interfaces[one.interface], catalog.interfaces[other.interface]
    return (a.lane_class, a.fec) == (b.lane_class, b.fec) and not set(one.protocols).isdisjoint(other.protocols)


def _joined(fibre: Fibre, one: Module, other: Module) -> bool:
    """Whether a fibre has the connectors of both modules, either way round, and a grade that both reach over."""
    ends = {(fibre.connector_a, fibre.connector_b), (fibre.connector_b, fibre.connector_a)}
    return (one.connector, other.connector) in ends and fibre.grade in one.reach_m and fibre.grade in other.reach_m


def _cables(catalog: Catalog, cages: list[_Cage]) -> Iterator[Finding]:
    for key, cable in catalog.cables.items():
        for place, end in (("end_a", cable.end_a), ("end_b", cable.end_b)):
            plug = _of_end(end, cable.protocols)
            if end.form_factor is not FormFactor.RJ45 and not any(_works(plug, cage) for cage in cages):
                message = f"no cage takes this {end.form_factor} plug with lanes of {end.lane_gbps:g} Gb/s"
                yield Finding(Level.WARNING, "cables", key, message, place)


def _empty_cages(catalog: Catalog, cages: list[_Cage]) -> Iterator[Finding]:
    plugs = {_of_module(module) for module in catalog.modules.values()}
    plugs |= {_of_end(end, cable.protocols) for cable in catalog.cables.values() for end in (cable.end_a, cable.end_b)}
    for cage in cages:
        if not cage.group.fabric or any(_works(plug, cage) for plug in plugs):
            continue
        here = f"cages[{cage.number}]"
        if cage.group.form_factor is FormFactor.CO_PACKAGED:
            message = "co-packaged optics: nothing is plugged, and links to it are not modelled"
            yield Finding(Level.INFO, cage.stem, cage.device, message, here)
        else:
            message = f"no module or cable works in this {cage.group.form_factor} cage"
            yield Finding(Level.WARNING, cage.stem, cage.device, message, here)
