"""A case that lets in parts which it shuts out, and nothing else besides."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, FabricName, PartFilter
from gpunet.models.parts import Catalog, Part, Protocol
from gpunet.solver.eligible import ORDERABLE, eligible, matches, names_kind, parts_by_kind
from gpunet.solver.lifts import put
from gpunet.solver.prices import PriceList
from gpunet.solver.quotes import weeks_of


def shut_out(case: Case, catalog: Catalog) -> dict[FabricName, dict[str, str]]:
    """What keeps parts out of each fabric of the case: part -> the setting or the status that does."""
    prices = PriceList(case, catalog)
    specs = {name: spec for name in FabricName if (spec := getattr(case.fabrics, name.value)) is not None}
    return {name: eligible(case, catalog, prices, name, spec).shut_out for name, spec in specs.items()}


def let_in(part_filter: PartFilter, catalog: Catalog, parts: Collection[str], case: Case) -> PartFilter:
    """A filter that no longer stops some parts and treats every other part as before.

    A denied pattern that covers one of them gives way to the ids of everything else that it covers.
    """
    kinds = parts_by_kind(catalog, case)
    wanted = [(kind, table[p]) for kind, table in kinds.items() for p in sorted(parts) if p in table]
    deny: list[str] = []
    for pattern in part_filter.deny:
        if any(matches(pattern, kind, part) for kind, part in wanted):
            deny += [
                part.id
                for kind, table in kinds.items()
                for part in table.values()
                if matches(pattern, kind, part) and part.id not in parts
            ]
        else:
            deny.append(pattern)
    allow = list(part_filter.allow)
    for kind, part in wanted:
        narrowing = [p for p in part_filter.allow if names_kind(p, kind, kinds)]
        if narrowing and not any(matches(p, kind, part) for p in narrowing):
            allow.append(part.id)
    return PartFilter(allow=tuple(allow), deny=tuple(dict.fromkeys(deny)))


def admit(case: Case, catalog: Catalog, parts: Collection[str], fabrics: Iterable[FabricName], by: str) -> Case:
    """The case with some parts let in, every other part treated as before.

    The lists of the whole case and of the ``fabrics`` give way, and so do status, lead time and fibre grade. ``by`` is
    what shut the parts out: a fabric's protocols give way where they did.
    """
    kinds = parts_by_kind(catalog, case)
    wanted = [(kind, table[p]) for kind, table in kinds.items() for p in sorted(parts) if p in table]
    case = _grades(_lead_times(case, catalog, wanted), catalog, wanted)
    for name in fabrics:
        spec = getattr(case.fabrics, name.value)
        case = put(case, f"fabrics.{name.value}.parts", let_in(spec.parts, catalog, parts, case))
        if by == f"fabrics.{name.value}.protocols":
            case = _protocols(case, catalog, name, parts)
    return case.model_copy(update={"parts": _named(let_in(case.parts, catalog, parts, case), catalog, wanted, case)})


def _named(part_filter: PartFilter, catalog: Catalog, wanted: Iterable[tuple[str, Part]], case: Case) -> PartFilter:
    """A filter that names the parts whose status alone would keep them out; kinds left open stay open."""
    kinds = parts_by_kind(catalog, case)
    allow = list(part_filter.allow)
    for kind, part in wanted:
        if part.status not in ORDERABLE and part.id not in allow:
            if not any(names_kind(pattern, kind, kinds) for pattern in allow):
                allow.append(f"{kind}:*")
            allow.append(part.id)
    return part_filter.model_copy(update={"allow": tuple(allow)})


def _denied(case: Case, where: str, part_filter: PartFilter, parts: Iterable[str]) -> Case:
    deny = tuple(dict.fromkeys([*part_filter.deny, *parts]))
    return put(case, where, part_filter.model_copy(update={"deny": deny}))


def _lead_times(case: Case, catalog: Catalog, wanted: Iterable[tuple[str, Part]]) -> Case:
    limit = case.limits.lead_time_weeks
    late = [part for _, part in wanted if weeks_of(case, part.id, part.lead_time_weeks) is not None]
    longest = max((weeks_of(case, part.id, part.lead_time_weeks) or 0.0 for part in late), default=0.0)
    if limit is None or longest <= limit:
        return case
    let = {part.id for part in late} | {split_medium_id(o.part)[0] for o in case.owned} | {o.part for o in case.owned}
    others = [
        part.id
        for table in parts_by_kind(catalog, case).values()
        for part in table.values()
        if limit < (weeks_of(case, part.id, part.lead_time_weeks) or 0.0) <= longest and part.id not in let
    ]
    return _denied(put(case, "limits.lead_time_weeks", longest), "parts", case.parts, others)


def _grades(case: Case, catalog: Catalog, wanted: Iterable[tuple[str, Part]]) -> Case:
    let = [catalog.fibres[part.id] for kind, part in wanted if kind == "fibre"]
    new = sorted({fibre.grade for fibre in let} - set(case.site.fibre))
    if not new:
        return case
    ids = {fibre.id for fibre in let}
    others = [fibre.id for fibre in catalog.fibres.values() if fibre.grade in new and fibre.id not in ids]
    return _denied(put(case, "site.fibre", (*case.site.fibre, *new)), "parts", case.parts, others)


def _protocols(case: Case, catalog: Catalog, name: FabricName, parts: Collection[str]) -> Case:
    spec = getattr(case.fabrics, name.value)
    new = [p for p in Protocol if p not in spec.protocols and any(catalog.switches[x].protocol is p for x in parts)]
    others = [s.id for s in catalog.switches.values() if s.protocol in new and s.id not in parts]
    where = f"fabrics.{name.value}"
    return _denied(put(case, f"{where}.protocols", (*spec.protocols, *new)), f"{where}.parts", spec.parts, others)
