"""What each limit of a case costs: the optimum without it, or with one step more of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args

from gpunet.models.case import Case, FabricName, Objective, PartFilter, Site
from gpunet.models.parts import Protocol
from gpunet.models.plant import Mates, Structure
from gpunet.models.study_sensitivity import Worth
from gpunet.solver.price_ranges import changes
from gpunet.solver.workbench import Workbench


class Looser(NamedTuple):
    """A case with one limit loosened."""

    setting: str
    change: str
    case: Case


def looser(case: Case) -> Iterator[Looser]:
    """Every case that differs from this one by one limit loosened by one step, or taken away."""
    for name in type(case.limits).model_fields:
        value = getattr(case.limits, name)
        if value is not None:
            limits = case.limits.model_copy(update={name: None})
            yield Looser(f"limits.{name}", f"{value:g} taken away", case.model_copy(update={"limits": limits}))
    for name in ("max_suppliers", "max_split_lines"):
        value = None if case.buying is None else getattr(case.buying, name)
        if value is not None and case.buying is not None:
            buying = case.buying.model_copy(update={name: None})
            yield Looser(f"buying.{name}", f"{value} taken away", case.model_copy(update={"buying": buying}))
    yield from _site(case)
    cluster = case.cluster
    for name, value, nothing in (("growth", cluster.growth, 0.0), ("reserved_ports", cluster.reserved_ports, {})):
        if value:
            less = cluster.model_copy(update={name: nothing})
            yield Looser(f"cluster.{name}", "none at all", case.model_copy(update={"cluster": less}))
    yield from _filters("parts", case.parts, lambda parts: case.model_copy(update={"parts": parts}))
    for fabric in FabricName:
        if getattr(case.fabrics, fabric.value) is not None:
            yield from _fabric(case, fabric)


def _site(case: Case) -> Iterator[Looser]:
    def with_site(**update: Any) -> Case:
        return case.model_copy(update={"site": case.site.model_copy(update=update)})

    site = case.site
    if site.power_kw is not None:
        yield Looser("site.power_kw", f"{site.power_kw:g} kW taken away", with_site(power_kw=None))
    rack = site.rack.model_copy(update={"power_kw": site.rack.power_kw + 1})
    if site.rack.cooling_kw is not None:
        rack = rack.model_copy(update={"cooling_kw": site.rack.cooling_kw + 1})
    yield Looser("site.rack.power_kw", "1 kW more, power and cooling", with_site(rack=rack))
    if site.rack.airflow is not None:
        any_way = site.rack.model_copy(update={"airflow": None})
        yield Looser("site.rack.airflow", "any airflow", with_site(rack=any_way))
    grades = get_args(get_args(Site.model_fields["fibre"].annotation)[0])
    for grade in grades:
        if grade not in site.fibre:
            yield Looser("site.fibre", f"{grade} allowed too", with_site(fibre=(*site.fibre, grade)))
    plant = site.plant
    for structure in Structure:
        if plant is not None and structure not in plant.structures:
            wider = plant.model_copy(update={"structure": (*plant.structures, structure)})
            yield Looser("site.plant.structure", f"{structure} allowed too", with_site(plant=wider))
    if plant is not None and plant.mates is not Mates.LOW_LOSS:
        better = plant.model_copy(update={"mates": Mates.LOW_LOSS})
        yield Looser("site.plant.mates", f"{Mates.LOW_LOSS} mated pairs", with_site(plant=better))


def _filters(where: str, parts: PartFilter, put: Any) -> Iterator[Looser]:
    for name in parts.deny:
        left = tuple(x for x in parts.deny if x != name)
        yield Looser(f"{where}.deny", f"{name} allowed", put(parts.model_copy(update={"deny": left})))
    if parts.allow:
        yield Looser(f"{where}.allow", "every part allowed", put(parts.model_copy(update={"allow": ()})))


def _fabric(case: Case, fabric: FabricName) -> Iterator[Looser]:
    spec, where = getattr(case.fabrics, fabric.value), f"fabrics.{fabric.value}"

    def put(**update: Any) -> Case:
        fabrics = case.fabrics.model_copy(update={fabric.value: spec.model_copy(update=update)})
        return case.model_copy(update={"fabrics": fabrics})

    if spec.max_tiers < 3 and fabric is not FabricName.OOB:
        yield Looser(f"{where}.max_tiers", "one tier more", put(max_tiers=spec.max_tiers + 1))
    for name in ("max_hops", "latency_ns"):
        if getattr(spec, name) is not None:
            yield Looser(f"{where}.{name}", f"{getattr(spec, name):g} taken away", put(**{name: None}))
    for name in ("min_leaves", "min_spines", "min_cores"):
        if getattr(spec, name) > 1:
            yield Looser(f"{where}.{name}", "1 is enough", put(**{name: 1}))
    for protocol in Protocol:
        if protocol not in spec.protocols and fabric in (FabricName.BACKEND, FabricName.STORAGE):
            change = put(protocols=(*spec.protocols, protocol))
            yield Looser(f"{where}.protocols", f"{protocol.value} allowed too", change)
    yield from _filters(f"{where}.parts", spec.parts, lambda parts: put(parts=parts))


def worth_of(bench: Workbench, setting: str, change: str, case: Case) -> dict[str, Any]:
    """What the optimum is in the looser case, as data for JSON."""
    today, there = bench.at({}), bench.of(case)
    unit = 1000 if case.objectives[0] is Objective.POWER else 100
    return Worth(
        setting=setting,
        change=change,
        value=there.value / unit if there.is_optimal else None,
        saved=(today.value - there.value) / unit if there.is_optimal and today.is_optimal else None,
        design_change=changes(bench.catalog, today.parts or {}, there.parts)
        if there.parts is not None and there.value != today.value
        else (),
    ).model_dump(mode="json")
