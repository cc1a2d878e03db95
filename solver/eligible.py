"""Which parts a case lets into a fabric, and what shut the others out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from gpunet.models.case import Backend, Case, FabricBase, FabricName, PartFilter, Storage
from gpunet.models.lossless import UnknownBuffers
from gpunet.models.parts import Catalog, Part, Protocol, SoldByLength, Status, Switch
from gpunet.solver.airflow import against_the_air
from gpunet.solver.interconnects import LinkParts
from gpunet.solver.prices import PriceList
from gpunet.solver.quotes import weeks_of

P = TypeVar("P", bound=Part)
ORDERABLE = (Status.ACTIVE, Status.CONFIRM)
UNPRICED = "no price is known: give one in prices.overrides_usd"
NOT_OWNED = "status discontinued: only pieces that are owned may be used, and none is"
NO_DIAMETER = "site.tray: its diameter is not known"
UNQUOTED = "buying.at_list: never, and no quote offers it"
KINDS = ("switch", "module", "cable", "fibre")
"""Kinds of part that a case's lists choose among."""
PANELS = "accessory"
"""Kind of the catalogue that panels are of: a case chooses among them where it has a plant."""


@dataclass
class Eligible:
    """Parts of one fabric after every filter of the case."""

    switches: list[Switch]
    links: LinkParts
    shut_out: dict[str, str] = field(default_factory=dict)
    """Part id -> the limit that shut it out, in the case's terms."""


def eligible(case: Case, catalog: Catalog, prices: PriceList, fabric: FabricName, spec: FabricBase) -> Eligible:
    """Filter the catalogue by the case's and the fabric's part lists, status, lead time and price."""
    shut_out: dict[str, str] = {}
    kinds = parts_by_kind(catalog, case)
    owned = {o.part for o in case.owned} | {o.part.rsplit("-n", 1)[0] for o in case.owned}
    filters = [("parts", case.parts), (f"fabrics.{fabric.value}.parts", spec.parts)]

    def keep(kind: str, parts: Mapping[str, P]) -> dict[str, P]:
        kept = {}
        for part in parts.values():
            reason = _why_not(case, kinds, filters, kind, part, part.id in owned)
            if reason is None and kind in ("switch", "module") and prices.quote(part.id) is None:
                reason = UNQUOTED if prices.rules.is_unquoted(part.id) else UNPRICED
            if reason is None and isinstance(part, SoldByLength) and case.site.tray and part.diameter_mm is None:
                reason = NO_DIAMETER
            if reason is None:
                kept[part.id] = part
            else:
                shut_out[part.id] = reason
        return kept

    switches = []
    for s in keep("switch", catalog.switches).values():
        if s.protocol not in spec.protocols:
            shut_out[s.id] = f"fabrics.{fabric.value}.protocols"
        elif (against := against_the_air(case, s)) is not None:
            shut_out[s.id] = against
        elif unknown_buffer(s, spec):
            shut_out[s.id] = f"fabrics.{fabric.value}.lossless.unknown_buffers"
        elif s.independent_switches > 1:
            shut_out[s.id] = f"holds {s.independent_switches} switches that share no ports; a template has one per box"
        else:
            switches.append(s)
    panels = {p.id: p for p in keep(PANELS, catalog.accessories).values() if p.positions} if PANELS in kinds else {}
    links = LinkParts(
        modules=keep("module", catalog.modules),
        cables=keep("cable", catalog.cables),
        fibres=keep("fibre", catalog.fibres),
        interfaces=dict(catalog.interfaces),
        grades=tuple(case.site.fibre),
        plant=case.site.plant,
        panels=panels,
    )
    return Eligible(switches, links, shut_out)


def unknown_buffer(switch: Switch, spec: FabricBase) -> bool:
    """Whether a fabric that asks for headroom refuses a switch because nobody knows its buffer."""
    rule = spec.lossless if isinstance(spec, Backend | Storage) else None
    is_judged = rule is not None and switch.protocol is Protocol.ETHERNET and switch.buffer_mb is None
    return is_judged and rule is not None and rule.unknown_buffers is UnknownBuffers.REFUSE


def parts_by_kind(catalog: Catalog, case: Case) -> dict[str, Mapping[str, Part]]:
    """The parts that a case's lists choose among, by kind and id."""
    tables: tuple[Mapping[str, Part], ...] = (catalog.switches, catalog.modules, catalog.cables, catalog.fibres)
    found = dict(zip(KINDS, tables, strict=True))
    return found if case.site.plant is None else {**found, PANELS: catalog.accessories}


def _why_not(
    case: Case,
    kinds: Mapping[str, Mapping[str, Part]],
    filters: Iterable[tuple[str, PartFilter]],
    kind: str,
    part: Part,
    owned: bool,
) -> str | None:
    named = False
    for where, part_filter in filters:
        if any(matches(p, kind, part) for p in part_filter.deny):
            return f"{where}.deny"
        narrowing = [p for p in part_filter.allow if names_kind(p, kind, kinds)]
        if narrowing and not any(matches(p, kind, part) for p in narrowing):
            return f"{where}.allow"
        named = named or part.id in part_filter.allow
    if part.status is Status.DISCONTINUED and not owned:
        return NOT_OWNED
    if part.status not in ORDERABLE and not owned and not named:
        return f"status {part.status.value}"
    limit = case.limits.lead_time_weeks
    if limit is not None and not owned:
        weeks = weeks_of(case, part.id, part.lead_time_weeks)
        if weeks is not None and weeks > limit:
            return f"limits.lead_time_weeks: {weeks:g} weeks"
    return None


def names_kind(pattern: str, kind: str, kinds: Mapping[str, Mapping[str, Part]]) -> bool:
    """An id names its own kind, ``kind:*`` that kind, and ``vendor:*`` every kind the vendor makes."""
    if not pattern.endswith(":*"):
        return pattern in kinds[kind]
    head = pattern.removesuffix(":*")
    return head == kind or (head not in kinds and any(p.vendor == head for p in kinds[kind].values()))


def matches(pattern: str, kind: str, part: Part) -> bool:
    """Whether an id, ``kind:*`` or ``vendor:*`` stands for a part of a kind."""
    if pattern.endswith(":*"):
        return pattern.removesuffix(":*") in (kind, part.vendor)
    return pattern == part.id


def lossy_where_lossless(switch: Switch, fabric: FabricName, speed_gbps: float, asked: bool = False) -> bool:
    """True where a platform offers a port speed only without PFC, which a RoCE backend cannot use.

    ``asked``: the case asks for lossless traffic in the fabric, whichever it is.
    """
    return (
        (asked or fabric is FabricName.BACKEND)
        and switch.protocol is Protocol.ETHERNET
        and speed_gbps in switch.lossy_only_speeds_gbps
    )
