"""Facts of one part that contradict each other: lanes, rates and speeds, form factors, lengths, watts, prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from gpunet.catalogs.findings import Finding, Level
from gpunet.catalogs.plugs import OSFP_FAMILY, plug_rules
from gpunet.models.evidence import Price
from gpunet.models.parts import (
    Cable,
    CableEnd,
    CageGroup,
    Catalog,
    FormFactor,
    Module,
    OpticalInterface,
    Server,
    Shell,
    SoldByLength,
    StockLength,
    Switch,
)

_CONNECTORS = {2: ("LC", "CS"), 8: ("MPO-12",), 16: ("MPO-16",)}
"""Connector kinds by fibres of the interface (R10, R12)."""

Report = Iterator[tuple[Level, str, str]]
"""Level, field and message; the caller knows the part."""


def contradictions(catalog: Catalog) -> Iterator[Finding]:
    """Every contradiction within a part."""
    for key, switch in catalog.switches.items():
        yield from _findings("switches", key, _switch(switch))
    for key, nic in catalog.nics.items():
        yield from _findings("nics", key, _cages(nic.cages, "cages"))
        yield from _findings("nics", key, _price(nic.price, "price"))
    for key, server in catalog.servers.items():
        yield from _findings("servers", key, _server(server, catalog))
    for key, module in catalog.modules.items():
        yield from _findings("modules", key, _module(module, catalog.interfaces))
    for key, cable in catalog.cables.items():
        yield from _findings("cables", key, _cable(cable))
    for key, fibre in catalog.fibres.items():
        yield from _findings("fibres", key, _sold_by_length(fibre))
    for key, accessory in catalog.accessories.items():
        yield from _findings("accessories", key, _price(accessory.price, "price"))


def _findings(stem: str, key: str, report: Report) -> Iterator[Finding]:
    for level, field, message in report:
        yield Finding(level, stem, key, message, field)


def _switch(switch: Switch) -> Report:
    yield from _cages(switch.cages, "cages")
    yield from _price(switch.price, "price")
    cages = sum(group.count for group in switch.cages if group.fabric)
    if not cages:
        yield Level.ERROR, "cages", "no cage carries a fabric link"
    chassis_w, typical_w = switch.power_chassis_max_w.v, switch.power_chassis_typ_w.v
    if typical_w > chassis_w:
        yield Level.ERROR, "power_chassis_typ_w", f"{typical_w:g} W typical is above {chassis_w:g} W at most"
    if switch.power_supply_w and switch.power_supply_w.v < chassis_w:
        yield (
            Level.ERROR,
            "power_supply_w",
            f"{switch.power_supply_w.v:g} W is below the chassis alone, {chassis_w:g} W",
        )
    if switch.max_logical_ports and switch.max_logical_ports.v < cages:
        yield Level.ERROR, "max_logical_ports", f"{switch.max_logical_ports.v:g} is below the {cages} cages"
    if (switch.cages_per_pipeline is None) != (switch.ports_per_pipeline is None):
        yield (
            Level.ERROR,
            "ports_per_pipeline",
            "cages_per_pipeline and ports_per_pipeline only mean something together",
        )


def _cages(groups: Sequence[CageGroup], place: str) -> Report:
    names = [group.name for group in groups]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Level.ERROR, place, f"two cage groups are called {name}"
    for number, group in enumerate(groups):
        yield from _cage(group, f"{place}[{number}]")


def _cage(group: CageGroup, place: str) -> Report:
    yield from _family(group.form_factor, group.shell, group.host_lanes, group.lane_gbps, place)
    if not group.modes:
        yield Level.ERROR, f"{place}.modes", "a cage without a port mode carries nothing"
    for number, mode in enumerate(group.modes):
        here = f"{place}.modes[{number}]"
        if mode.lanes * mode.lane_gbps != mode.speed_gbps:
            yield Level.ERROR, here, f"{mode.lanes} lanes x {mode.lane_gbps:g} Gb/s is not {mode.speed_gbps:g} Gb/s"
        if mode.ports * mode.lanes > group.host_lanes:
            yield Level.ERROR, here, f"{mode.ports} ports x {mode.lanes} lanes exceed the cage's {group.host_lanes}"
        if mode.lane_gbps > group.lane_gbps:
            yield Level.ERROR, here, f"lanes of {mode.lane_gbps:g} Gb/s in a cage of {group.lane_gbps:g}"
    if len(set(group.modes)) < len(group.modes):
        yield Level.ERROR, f"{place}.modes", "a mode is listed twice"
    other = group.power_to_port
    for where, hot, rest in (
        (f"{place}.hot", group.hot, group.power_limit_w),
        (f"{place}.power_to_port.hot", other and other.hot, other and other.power_limit_w),
    ):
        if hot and hot.count > group.count:
            yield Level.ERROR, where, f"{hot.count} hot cages of {group.count}"
        if hot and rest and hot.power_limit_w.v <= rest.v:
            yield Level.ERROR, where, "the limit of the hot cages is not above that of the rest"


def _server(server: Server, catalog: Catalog) -> Report:
    yield from _cages([role.cages for role in server.cages], "cages")
    yield from _price(server.price, "price")
    for number, role in enumerate(server.cages):
        nic = catalog.nics.get(role.nic or "")
        if role.nic is None:
            continue
        here = f"cages[{number}].nic"
        if nic is None:
            yield Level.ERROR, here, f"{role.nic} is not in nics.yaml"
        elif len(nic.cages) != 1:
            yield Level.ERROR, here, f"{role.nic} has more than one group of cages"
        else:
            card, cages = nic.cages[0], role.cages
            if (card.form_factor, card.shell, card.modes) != (cages.form_factor, cages.shell, cages.modes):
                yield Level.ERROR, here, f"the cages are not those of {role.nic}"
            if cages.count % card.count:
                yield Level.ERROR, here, f"{cages.count} cages are no whole number of cards with {card.count} each"


def _module(module: Module, interfaces: dict[str, OpticalInterface]) -> Report:
    yield from _family(module.form_factor, module.shell, module.host_lanes, module.host_lane_gbps, "")
    yield from _price(module.price, "price")
    if module.power_typ_w.v > module.power_max_w.v:
        yield (
            Level.ERROR,
            "power_typ_w",
            f"{module.power_typ_w.v:g} W typical is above {module.power_max_w.v:g} W at most",
        )
    if not module.reach_m:
        yield Level.ERROR, "reach_m", "no reach is given"
    if module.interface is None:
        return
    optics = interfaces.get(module.interface)
    if optics is None:
        yield Level.ERROR, "interface", f"{module.interface} is not in interfaces.yaml"
        return
    host_gbps = module.host_lanes * module.host_lane_gbps
    optical_gbps = module.optical_ports * optics.lanes * optics.gbps_per_lane
    if host_gbps != optical_gbps:
        yield (
            Level.ERROR,
            "interface",
            f"the host side carries {module.host_lanes} x {module.host_lane_gbps:g} = {host_gbps:g} Gb/s, the optical "
            f"side {module.optical_ports} x {module.interface} = {optical_gbps:g} Gb/s",
        )
    expected = _CONNECTORS.get(optics.fibres, (module.connector.kind,))
    if module.connector.kind not in expected:
        found = f"{module.connector.kind} for an interface of {optics.fibres} fibres"
        yield Level.ERROR, "connector", f"{found}, expected {' or '.join(expected)}"
    multimode = optics.media == "MMF"
    for grade in module.reach_m:
        if grade.startswith("OM") != multimode:
            yield Level.ERROR, "reach_m", f"a reach over {grade} on a {optics.media} interface"


def _cable(cable: Cable) -> Report:
    for place, end in (("end_a", cable.end_a), ("end_b", cable.end_b)):
        yield from _family(end.form_factor, end.shell, end.lanes, end.lane_gbps, place)
    a, b = cable.end_a, cable.end_b
    if _total_gbps(a) != _total_gbps(b):
        yield Level.ERROR, "end_b", f"{_total_gbps(a):g} Gb/s at side a, {_total_gbps(b):g} Gb/s at side b"
    if a.lane_gbps != b.lane_gbps and not cable.converts_lane_rate:
        yield Level.ERROR, "end_b", f"lanes of {a.lane_gbps:g} and {b.lane_gbps:g} Gb/s without converts_lane_rate"
    if cable.links_per_assembly % b.count:
        yield Level.ERROR, "links_per_assembly", f"{cable.links_per_assembly} links on {b.count} legs"
    reach_m = plug_rules().reach_m(cable.kind, max(a.lane_gbps, b.lane_gbps), splitter=b.count > 1)
    for number, stock in enumerate(cable.lengths):
        if reach_m is not None and stock.length_m > reach_m:
            found = f"{stock.length_m:g} m of {cable.kind} at {a.lane_gbps:g} Gb/s per lane"
            yield Level.ERROR, f"lengths[{number}]", f"{found}, expected at most {reach_m:g} m"
    yield from _sold_by_length(cable)


def _sold_by_length(piece: SoldByLength) -> Report:
    yield from _lengths(piece.lengths)
    if piece.diameter_mm is None:
        yield Level.INFO, "diameter_mm", "no diameter; give the outer diameter of one strand, with its source"
    elif piece.diameter_mm.v <= 0:
        yield Level.ERROR, "diameter_mm", f"{piece.diameter_mm.v:g} mm, expected more than 0"


def _total_gbps(end: CableEnd) -> float:
    return end.count * end.lanes * end.lane_gbps


def _family(form_factor: FormFactor, shell: Shell, lanes: int, lane_gbps: float, place: str) -> Report:
    """Lanes, rate and shell that the form factor does not have."""
    family = plug_rules().families[form_factor]
    if lanes > family.lanes:
        yield Level.ERROR, place, f"{lanes} lanes, but {form_factor} has {family.lanes}"
    if lane_gbps > family.lane_gbps:
        yield Level.ERROR, place, f"lanes of {lane_gbps:g} Gb/s, but {form_factor} carries {family.lane_gbps:g}"
    if (form_factor in OSFP_FAMILY) != (shell is not Shell.NONE):
        expected = "IHS or RHS" if form_factor in OSFP_FAMILY else "none"
        yield Level.ERROR, place, f"shell {shell} on {form_factor}, expected {expected}"


def _lengths(lengths: Sequence[StockLength]) -> Report:
    if not lengths:
        yield Level.ERROR, "lengths", "no stock length"
    for number, stock in enumerate(lengths):
        yield from _price(stock.price, f"lengths[{number}].price")
    for number, (one, other) in enumerate(pairwise(lengths), start=1):
        here = f"lengths[{number}]"
        if other.length_m <= one.length_m:
            yield Level.ERROR, here, f"{other.length_m:g} m after {one.length_m:g} m: lengths must rise"
        elif other.price.mid_usd < one.price.mid_usd:
            yield Level.INFO, here, f"{other.length_m:g} m costs less than {one.length_m:g} m"


def _price(price: Price | None, place: str) -> Report:
    if price is None:
        return
    low, high = price.cents("low"), price.cents("high")
    if not low <= price.cents() <= high:
        yield Level.ERROR, place, f"the band {low / 100:g} to {high / 100:g} does not hold the price {price.mid_usd:g}"
