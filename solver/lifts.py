"""The settings of a case that ask for something or forbid something, each with what the case is like without it.

A limit is a setting of the case file and two values: the user's, and one that asks for nothing. Nothing is ever moved
in the user's case; a lifted limit is the same case with the other value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any, get_args

from gpunet.catalogs import find_part
from gpunet.models.base import Strict
from gpunet.models.case import (
    FIXED_PLACEMENTS,
    Backend,
    Case,
    FabricBase,
    FabricName,
    Frontend,
    Objective,
    Oob,
    PartFilter,
    Placement,
    Site,
    Storage,
    StorageMode,
    Striping,
)
from gpunet.models.lossless import Lossless, UnknownBuffers
from gpunet.models.parts import AirDirection, Catalog, Protocol, ServerRole, Status
from gpunet.solver.demand import cages_of
from gpunet.solver.eligible import KINDS, PANELS, parts_by_kind
from gpunet.solver.ladders import Ladder, Shares, down, finer, looser_plants, up
from gpunet.solver.quotes import later_weeks

MOST_TIERS = 3
ANY_RATIO = 10_000.0
"""An oversubscription that asks for one uplink and no more."""
ENDLESS_KW = 100_000.0
ENDLESS_UNITS = 1_000
ENDLESS_MM = 100_000.0
WIDER_ZONES = 4
"""How many times wider the zones of network racks are at most."""
USUAL_FRAME_BYTES = 1500
"""The frame that every Ethernet port takes; no smaller largest frame is looked at."""
MOST_SUPPLIERS = 1_000
"""How many suppliers, or split lines, more than allowed are looked at."""
ENOUGH = 10_000_000
"""More pieces of a part than any design has."""


class Order(IntEnum):
    """In which order limits are let go in the search for a clash: what a user is least attached to first."""

    ROOM = 0
    """Sizes of the room that the case leaves at their defaults."""
    USUAL = 1
    """Settings of fabrics at their defaults."""
    OWN_ROOM = 2
    OWN_FABRIC = 3
    PARTS = 4
    DEMAND = 5
    CEILING = 6


class How(StrEnum):
    """How the smallest change of a limit is found."""

    ALONG = "along"
    """Along its ladder of values, each of which asks for less than the one before, by halving."""
    EACH = "each"
    """By trying each of some values in turn."""
    LEAST = "least"
    """A ceiling on what can be minimised: by minimising it."""
    LATENCY = "latency"
    PARTS = "parts"
    """A list of parts: by what a design without the list uses."""


@dataclass(frozen=True)
class Limit:
    """One setting that may stand in the way."""

    setting: str
    """The field of the case file."""
    value: Any
    """The user's value."""
    away: Any
    """The value that asks for nothing."""
    order: Order
    how: How = How.ALONG
    nearer: Sequence[Any] = ()
    """Values to look at, nearest first; the last asks for as little as ``away``."""
    verb: str = "asked"
    unit: str = ""
    aim: Objective | None = None
    """What a ceiling is on."""
    is_default: bool = False
    """True where the case leaves the setting as it comes."""
    is_choice: bool = False
    """True where ``away`` asks for something else rather than for less: then both values are tried."""

    def lifted(self, case: Case) -> Case:
        """A case without this limit."""
        return put(case, self.setting, self.away)

    @property
    def is_cluster(self) -> bool:
        """Whether it is the size of the cluster: what the network is for."""
        return self.setting in ("cluster.gpus", "cluster.servers")

    @property
    def text(self) -> str:
        """The user's value as a case file shows it."""
        return shown(self.value)


def get(case: Case, setting: str) -> Any:
    """The value of one setting."""
    found: Any = case
    for step in _steps(setting):
        found = found[int(step)] if isinstance(found, tuple) else getattr(found, step)
    return found


def _steps(setting: str) -> list[str]:
    """``supply[0].at_most`` as ``supply``, ``0`` and ``at_most``."""
    return setting.replace("[", ".").replace("]", "").split(".")


def put(case: Case, setting: str, value: Any) -> Case:
    """The case with another value for one setting."""
    found = _put(case, _steps(setting), value)
    assert isinstance(found, Case)
    return found


def _put(model: Any, path: list[str], value: Any) -> Any:
    head, rest = path[0], path[1:]
    if model is None:
        # A setting of a section that has been lifted as a whole.
        return None
    if isinstance(model, Mapping):
        return {**model, head: value}
    if isinstance(model, tuple):
        return tuple(_put(x, rest, value) if i == int(head) else x for i, x in enumerate(model))
    inner = _put(getattr(model, head), rest, value) if rest else value
    return model.model_copy(update={head: inner})


def without(case: Case, lifted: Iterable[Limit]) -> Case:
    """The case without some limits."""
    for limit in lifted:
        case = limit.lifted(case)
    return case


def shown(value: Any) -> str:
    """A value as a case file shows it."""
    if value is None:
        return "not set"
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, Strict):
        value = value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{k}: {v}' for k, v in value.items())}}}"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def limits_of(case: Case, catalog: Catalog, zones: tuple[int, int] | None) -> list[Limit]:
    """Every limit of a case, in the order in which they are let go.

    ``zones`` are the rack places kept for leaves in a row and in the central zone; none where the room cannot be had.
    """
    found = [
        *_ceilings(case, catalog),
        *_site(case, catalog, zones),
        *_cluster(case, catalog),
        *_parts(case, "parts", case.parts),
        *_buying(case, catalog),
    ]
    for name in FabricName:
        spec: FabricBase | None = getattr(case.fabrics, name.value)
        if spec is not None:
            found += _fabric(case, catalog, name, spec)
    return sorted(found, key=lambda limit: limit.order)


def _buying(case: Case, catalog: Catalog) -> Iterator[Limit]:
    """What can be had of a part, and what must be bought beside what the design holds."""
    by = case.limits.lead_time_weeks
    for i, supply in enumerate(case.supply or ()):
        if by is None or supply.from_week <= by:
            most = Ladder(supply.at_most + 1, 1, ENOUGH - supply.at_most, whole=True)
            setting = f"supply[{i}].at_most"
            yield Limit(setting, supply.at_most, ENOUGH, Order.CEILING, nearer=most, verb=f"of {supply.part} allowed")
    for i, owned in enumerate(case.owned):
        item = find_part(catalog, owned.part)
        if item is not None and item.status is Status.DISCONTINUED:
            more = Ladder(owned.quantity + 1, 1, ENOUGH - owned.quantity, whole=True)
            verb = f"of {owned.part} owned, which is discontinued"
            yield Limit(f"owned[{i}].quantity", owned.quantity, ENOUGH, Order.CEILING, nearer=more, verb=verb)
    buying = case.buying
    for field, unit in (("max_suppliers", " suppliers"), ("max_split_lines", " split lines")) if buying else ():
        value = getattr(buying, field)
        if value is not None:
            nearer = up(value, value + MOST_SUPPLIERS)
            yield Limit(f"buying.{field}", value, None, Order.CEILING, nearer=nearer, verb="allowed", unit=unit)
    if buying is not None and buying.at_list != "always":
        wider = ["unquoted", "always"] if buying.at_list == "never" else ["always"]
        yield Limit("buying.at_list", buying.at_list, "always", Order.CEILING, How.EACH, wider, "set")
    if case.spares is not None:
        yield Limit("spares", case.spares, None, Order.OWN_FABRIC, How.EACH, [None])
    if case.terms is not None and case.terms.coding:
        yield Limit("terms.coding", case.terms.coding, None, Order.PARTS, How.EACH, [None], "taken")
    for field in ("minimum_order", "packs"):
        if case.terms is not None and getattr(case.terms, field):
            yield Limit(f"terms.{field}", getattr(case.terms, field), {}, Order.OWN_FABRIC, How.EACH, [{}])


def _ceilings(case: Case, catalog: Catalog) -> Iterator[Limit]:
    limits = case.limits

    def ceiling(field: str, **more: Any) -> Iterator[Limit]:
        value = getattr(limits, field)
        if value is not None:
            yield Limit(f"limits.{field}", value, None, Order.CEILING, verb="allowed", **more)

    if limits.lead_time_weeks is not None:
        parts = (part for found in parts_by_kind(catalog, case).values() for part in found.values())
        yield from ceiling("lead_time_weeks", nearer=later_weeks(case, parts), unit=" weeks")
    for field, unit in (("skus", " distinct parts"), ("vendors", " vendors"), ("racks", " network racks")):
        yield from ceiling(field, nearer=up(getattr(limits, field) or 0), unit=unit)
    if case.site.power_kw is not None:
        more: dict[str, Any] = {"how": How.LEAST, "unit": " kW", "aim": Objective.POWER, "verb": "allowed"}
        yield Limit("site.power_kw", case.site.power_kw, None, Order.CEILING, **more)
    yield from ceiling("power_kw", how=How.LEAST, unit=" kW", aim=Objective.POWER)
    yield from ceiling("cost_usd", how=How.LEAST, unit=" USD", aim=Objective.COST)


def _site(case: Case, catalog: Catalog, zones: tuple[int, int] | None) -> Iterator[Limit]:
    site = case.site

    def room(field: str, away: Any, nearer: Sequence[Any], unit: str, choice: bool = False) -> Iterator[Limit]:
        above, _, name = f"site.{field}".rpartition(".")
        owner = get(case, above)
        value = getattr(owner, name)
        usual = value == type(owner).model_fields[name].default
        order = Order.ROOM if usual else Order.OWN_ROOM
        if value is not None and value != away:
            yield Limit(f"site.{field}", value, away, order, How.ALONG, nearer, "set", unit, None, usual, choice)

    for field, least in (("rack_pitch_m", 0.01), ("row_pitch_m", 0.01), ("tray_rise_m", 0.0), ("slack_m", 0.0)):
        yield from room(field, least, finer(getattr(site, field), least), " m")
    yield from room("rack.units", ENDLESS_UNITS, up(site.rack.units, ENDLESS_UNITS), " units")
    yield from room("rack.power_kw", ENDLESS_KW, finer(site.rack.power_kw, ENDLESS_KW), " kW")
    if site.rack.cooling_kw is not None:
        yield from room("rack.cooling_kw", None, finer(site.rack.cooling_kw, ENDLESS_KW), " kW")
    if site.rack.airflow is not None:
        ways = [way for way in AirDirection if way is not site.rack.airflow]
        yield Limit("site.rack.airflow", site.rack.airflow, None, Order.OWN_ROOM, How.EACH, [*ways, None], "needed")
    per_rack = site.servers_per_rack or 1
    yield from room("servers_per_rack", None, down(per_rack, 1), "", choice=True)
    for field in ("rows", "racks_per_row"):
        # A rack for every machine, storage servers and one more, is as many as any room needs.
        most = 2 * _servers(case, catalog) + 1
        yield from room(field, None, up(getattr(site, field) or 0, most), "", choice=True)
    for i, field in enumerate(("network_racks_per_row", "network_racks_central")):
        value = getattr(site, field)
        now = value or (zones[i] if zones else None)
        if now is not None:
            away, order = WIDER_ZONES * now, Order.ROOM if value is None else Order.OWN_ROOM
            kept = How.ALONG, up(now, away), "kept", " racks", None, value is None, True
            yield Limit(f"site.{field}", now, away, order, *kept)
    if site.switch_placement is not Placement.ROW_END:
        others = [p for p in Placement if p in FIXED_PLACEMENTS and p is not site.switch_placement]
        yield Limit(
            "site.switch_placement", site.switch_placement, Placement.ROW_END, Order.OWN_ROOM, How.EACH, others, "set",
            is_choice=True,
        )  # fmt: skip
    grades = get_args(get_args(Site.model_fields["fibre"].annotation)[0])
    missing = [grade for grade in grades if grade not in site.fibre]
    if missing:
        usual = site.fibre == Site.model_fields["fibre"].default
        wider = [*((*site.fibre, grade) for grade in missing), (*site.fibre, *missing)]
        order = Order.ROOM if usual else Order.OWN_FABRIC
        yield Limit("site.fibre", site.fibre, wider[-1], order, How.EACH, wider, "allowed", is_default=usual)
    if site.tray is not None:
        yield from room("tray.width_mm", ENDLESS_MM, finer(site.tray.width_mm, ENDLESS_MM), " mm")
    for field, value, looser, verb in looser_plants(site.plant):
        yield Limit(f"site.plant.{field}", value, looser[-1], Order.OWN_ROOM, How.EACH, looser, verb)


def _servers(case: Case, catalog: Catalog) -> int:
    cluster = case.cluster
    return cluster.servers or math.ceil((cluster.gpus or 0) / int(catalog.servers[cluster.server].gpus.v))


def _cluster(case: Case, catalog: Catalog) -> Iterator[Limit]:
    cluster = case.cluster
    gpus_each = int(catalog.servers[cluster.server].gpus.v)
    servers = _servers(case, catalog)
    if cluster.nics:
        yield Limit("cluster.nics", cluster.nics, {}, Order.OWN_FABRIC, How.EACH, [{}], is_choice=True)
    for fabric, n in cluster.reserved_ports.items():
        if n:
            yield Limit(f"cluster.reserved_ports.{fabric.value}", n, 0, Order.DEMAND, nearer=down(n, 0), unit=" ports")
    if cluster.growth:
        more = math.ceil(servers * Fraction(str(cluster.growth)))
        yield Limit("cluster.growth", cluster.growth, 0.0, Order.DEMAND, nearer=Shares(servers, more - 1))
    if servers > 1:
        if cluster.servers is not None:
            yield Limit("cluster.servers", servers, 1, Order.DEMAND, nearer=down(servers, 1), unit=" servers")
        else:
            fewer = Ladder((servers - 1) * gpus_each, -gpus_each, servers - 1, whole=True)
            yield Limit("cluster.gpus", cluster.gpus, gpus_each, Order.DEMAND, nearer=fewer, unit=" GPUs")


def _parts(case: Case, where: str, parts: PartFilter) -> Iterator[Limit]:
    kinds = KINDS if case.site.plant is None else (*KINDS, PANELS)
    if parts.allow:
        # Adding every kind keeps what is named for its own sake, such as a part that is no longer sold.
        every = (*parts.allow, *(f"{kind}:*" for kind in kinds))
        yield Limit(f"{where}.allow", parts.allow, every, Order.PARTS, How.PARTS, verb="allowed")
    if parts.deny:
        yield Limit(f"{where}.deny", parts.deny, (), Order.PARTS, How.PARTS, verb="denied")


def _fabric(case: Case, catalog: Catalog, name: FabricName, spec: FabricBase) -> Iterator[Limit]:
    where = f"fabrics.{name.value}"
    defaults = type(spec).model_fields

    def limit(field: str, away: Any, how: How, nearer: Sequence[Any], verb: str, unit: str = "", **more: Any) -> Limit:
        value = getattr(spec, field)
        usual = value == defaults[field].default
        order = Order.USUAL if usual else Order.OWN_FABRIC
        return Limit(f"{where}.{field}", value, away, order, how, nearer, verb, unit, None, usual, **more)

    if spec.oversubscription < ANY_RATIO:
        yield limit(
            "oversubscription", ANY_RATIO, How.ALONG, finer(spec.oversubscription, ANY_RATIO), "allowed", " : 1"
        )
    if spec.max_tiers < MOST_TIERS:
        yield limit("max_tiers", MOST_TIERS, How.ALONG, up(spec.max_tiers, MOST_TIERS), "allowed")
    if spec.max_hops is not None:
        yield limit("max_hops", None, How.ALONG, up(spec.max_hops, 2 * MOST_TIERS - 1), "allowed")
    if spec.latency_ns is not None:
        yield limit("latency_ns", None, How.LATENCY, (), "allowed", " ns")
    for field in ("min_leaves", "min_spines", "min_cores"):
        if getattr(spec, field) > 1:
            yield limit(field, 1, How.ALONG, down(getattr(spec, field), 1), "asked")
    if spec.striping is Striping.PORTS:
        yield limit("striping", Striping.STRICT, How.EACH, [Striping.STRICT], "asked", is_choice=True)
    for field in ("protocols", "topologies"):
        allowed = getattr(spec, field, ())
        every = defaults[field].default if allowed else ()
        if set(allowed) < set(every):
            yield limit(field, (*allowed, *(x for x in every if x not in allowed)), How.EACH, [every], "allowed")
    if isinstance(spec, Storage):
        yield from _storage(case, catalog, spec, limit)
    elif isinstance(spec, Backend) and spec.speed_gbps is not None:
        speeds = [speed for speed in _speeds(case, catalog) if speed != spec.speed_gbps]
        yield limit("speed_gbps", None, How.EACH, [*speeds, None], "asked", " Gb/s", is_choice=True)
    elif isinstance(spec, Frontend) and spec.server_gbps != (usual := defaults["server_gbps"].default):
        yield limit("server_gbps", usual, How.EACH, [usual], "asked", " Gb/s", is_choice=True)
    elif isinstance(spec, Oob) and spec.pdus_per_rack > defaults["pdus_per_rack"].default:
        yield limit("pdus_per_rack", 0, How.ALONG, down(spec.pdus_per_rack, 0), "asked")
    rule = spec.lossless if isinstance(spec, Backend | Storage) else None
    if rule is not None and Protocol.ETHERNET in spec.protocols:
        yield from _lossless(f"{where}.lossless", rule)
    yield from _parts(case, f"{where}.parts", spec.parts)


def _lossless(where: str, rule: Lossless) -> Iterator[Limit]:
    """Flow control headroom: less of it, more buffer for it, unknown buffers used, or none asked for at all."""

    def limit(field: str, away: Any, how: How, nearer: Sequence[Any], unit: str = "") -> Iterator[Limit]:
        value, usual = getattr(rule, field), Lossless.model_fields[field].default
        if value != away:
            order = Order.USUAL if value == usual else Order.OWN_FABRIC
            verb = "allowed" if field == "buffer_share" else "asked"
            yield Limit(f"{where}.{field}", value, away, order, how, nearer, verb, unit, None, value == usual)

    yield from limit("classes", 1, How.ALONG, down(rule.classes, 1))
    least = min(rule.mtu_bytes, USUAL_FRAME_BYTES)
    yield from limit("mtu_bytes", least, How.ALONG, down(rule.mtu_bytes, least), " bytes")
    yield from limit("buffer_share", 1.0, How.ALONG, finer(rule.buffer_share, 1.0))
    yield from limit("unknown_buffers", UnknownBuffers.WARN, How.EACH, [UnknownBuffers.WARN])
    yield Limit(where, rule, None, Order.OWN_FABRIC, How.EACH, [None])


def _speeds(case: Case, catalog: Catalog) -> list[float]:
    """Speeds of the server's backend ports, fastest first, Gb/s."""
    cages = cages_of(case, catalog, ServerRole.BACKEND)
    return sorted({mode.speed_gbps for found in cages for mode in found.cages.modes}, reverse=True)


def _storage(case: Case, catalog: Catalog, spec: Storage, limit: Any) -> Iterator[Limit]:
    if case.fabrics.backend is not None and spec.mode in (StorageMode.SEPARATE, StorageMode.CONVERGED):
        other = StorageMode.CONVERGED if spec.mode is StorageMode.SEPARATE else StorageMode.SEPARATE
        yield limit("mode", StorageMode.AUTO, How.EACH, [other, StorageMode.AUTO], "asked")
    if spec.storage_servers:
        yield limit("storage_servers", 0, How.ALONG, down(spec.storage_servers, 0), "asked")
    if spec.server_gbps is not None:
        cages = cages_of(case, catalog, ServerRole.STORAGE)
        widths = {n * m.ports * m.speed_gbps for x in cages for m in x.cages.modes for n in range(1, x.cages.count + 1)}
        fewer = sorted((w for w in widths if w < spec.server_gbps), reverse=True)
        yield limit("server_gbps", None, How.EACH, [*fewer, None], "asked", " Gb/s", is_choice=True)
    fields = type(spec).model_fields
    for field in ("storage_server_gbps", "storage_server_nic", "storage_server_units", "storage_server_w"):
        usual = fields[field].default
        if getattr(spec, field) != usual:
            yield limit(field, usual, How.EACH, [usual], "asked", is_choice=True)
