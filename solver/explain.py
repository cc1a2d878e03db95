"""Why nothing fits: which of the user's own limits stand in the way, and the smallest change that helps.

Each limit is lifted alone and the case solved again, for the figure that the limit is about. Nothing is moved in
the user's case; the answer only says what would have to move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpunet.models.case import Case, FabricBase, FabricName, Objective, PartFilter
from gpunet.models.design import Status
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.prices import Weight
from gpunet.solver.search import Found, search

EVERY_GRADE = ("OM3", "OM4", "OM5", "OS2")
MOST_TIERS = 3


class Lift(NamedTuple):
    """One limit taken away."""

    setting: str
    case: Case
    """The case without it, minimising what it limits."""
    say: Callable[[Found], str]
    """The sentence that tells what would be enough."""


def why_not(compiled: Compiled, found: Found, engine: Engine) -> tuple[str, ...]:
    """Reasons for an infeasible case, most helpful first."""
    reasons = [f"fabrics.{f.value}: {text}" for f, texts in compiled.refused.items() for text in texts]
    for fabric in found.empty:
        reasons += _out_of_reach(compiled, fabric)
    helped = False
    for lift in _lifts(compiled.case):
        answer = _solve(lift.case, compiled, engine)
        if answer is not None:
            reasons.append(f"{lift.setting}: {lift.say(answer)}")
            helped = True
    if not helped:
        named = ", ".join(f.value for f in found.empty) or "the fabrics together"
        reasons.append(
            f"no single limit is in the way of {named}: two or more clash, "
            "or the parts allowed cannot carry the endpoints"
        )
    return tuple(reasons)


def _solve(case: Case, compiled: Compiled, engine: Engine) -> Found | None:
    """The solved case, or none when it has no design either."""
    try:
        found = search(compile_case(case, compiled.catalog), engine)
    except (SiteTooSmallError, NoPortsError):
        return None
    return found if found.outcome.status is Status.OPTIMAL else None


def _net(found: Found) -> Weight:
    assert found.outcome.choice is not None
    assert found.data is not None
    return found.outcome.choice.net(found.data)


def _lifts(case: Case) -> Iterator[Lift]:
    yield from _ceilings(case)
    for name in FabricName:
        spec = getattr(case.fabrics, name.value)
        if spec is not None:
            yield from _fabric_lifts(case, name, spec)
    if set(case.site.fibre) != set(EVERY_GRADE):
        site = case.site.model_copy(update={"fibre": EVERY_GRADE})

        def fibre(found: Found) -> str:
            used = sorted({p for p in _parts(found) if p.startswith("nv-mfp") or "os2" in p or "om" in p})
            allowed = ", ".join(case.site.fibre)
            return f"{allowed} allowed; with every grade allowed a design exists, using {', '.join(used)}"

        yield Lift("site.fibre", case.model_copy(update={"site": site}), fibre)
    if case.parts != PartFilter():
        yield Lift(
            "parts",
            case.model_copy(update={"parts": PartFilter()}),
            lambda found: f"with every part allowed a design exists, using {_switches(found)}",
        )


def _ceilings(case: Case) -> Iterator[Lift]:
    limits = case.limits

    def without(objective: Objective, **update: object) -> Case:
        return case.model_copy(update={"limits": limits.model_copy(update=update), "objective": objective})

    if limits.cost_usd is not None:
        yield Lift(
            "limits.cost_usd",
            without(Objective.COST, cost_usd=None),
            lambda f: (
                f"{limits.cost_usd:,.2f} allowed; the cheapest design that keeps every other limit costs "
                f"{_net(f).cost / 100:,.2f}"
            ),
        )
    if limits.power_kw is not None:
        yield Lift(
            "limits.power_kw",
            without(Objective.POWER, power_kw=None),
            lambda f: (
                f"{limits.power_kw:g} kW allowed; the coolest design that keeps every other limit draws "
                f"{_net(f).power / 1e6:.3f} kW"
            ),
        )
    if case.site.power_kw is not None:
        site = case.site.model_copy(update={"power_kw": None})
        yield Lift(
            "site.power_kw",
            case.model_copy(update={"site": site, "objective": Objective.POWER}),
            lambda f: (
                f"{case.site.power_kw:g} kW allowed; machines and the coolest network together draw "
                f"{(_net(f).power + (f.data.servers_mw if f.data else 0)) / 1e6:.3f} kW"
            ),
        )
    for field, counted in (("vendors", "vendors"), ("skus", "distinct parts"), ("racks", "network racks")):
        value = getattr(limits, field)
        if value is not None:

            def say(found: Found, field: str = field, value: int = value, counted: str = counted) -> str:
                return f"{value} {counted} allowed; without this limit a design exists with {_used(found, field)}"

            yield Lift(f"limits.{field}", without(Objective.COST, **{field: None}), say)
    if limits.lead_time_weeks is not None:
        yield Lift(
            "limits.lead_time_weeks",
            without(Objective.COST, lead_time_weeks=None),
            lambda f: (
                f"{limits.lead_time_weeks:g} weeks allowed; without this limit a design exists, using {_switches(f)}"
            ),
        )


def _fabric_lifts(case: Case, name: FabricName, spec: FabricBase) -> Iterator[Lift]:
    def lifted(**update: object) -> Case:
        fabrics = case.fabrics.model_copy(update={name.value: spec.model_copy(update=update)})
        return case.model_copy(update={"fabrics": fabrics})

    where = f"fabrics.{name.value}"
    if spec.max_tiers < MOST_TIERS:
        yield Lift(
            f"{where}.max_tiers",
            lifted(max_tiers=MOST_TIERS),
            lambda f: f"{spec.max_tiers} allowed; {_tiers(f, name)} tiers are enough, using {_switches(f, name)}",
        )
    if spec.latency_ns is not None:
        yield Lift(
            f"{where}.latency_ns",
            lifted(latency_ns=None),
            lambda f: f"{spec.latency_ns:g} ns allowed; without this limit the best design has {_latency(f, name)}",
        )
    if spec.max_hops is not None:
        yield Lift(
            f"{where}.max_hops",
            lifted(max_hops=None),
            lambda f: f"{spec.max_hops} allowed; without this limit the best design has {2 * _tiers(f, name) - 1} hops",
        )
    if spec.parts != PartFilter():
        yield Lift(
            f"{where}.parts",
            lifted(parts=PartFilter()),
            lambda f: f"with every part allowed a design exists, using {_switches(f, name)}",
        )
    if max(spec.min_leaves, spec.min_spines, spec.min_cores) > 1:
        yield Lift(
            f"{where}.min_leaves, min_spines, min_cores",
            lifted(min_leaves=1, min_spines=1, min_cores=1),
            lambda f: f"without redundancy minima a design exists, using {_switches(f, name)}",
        )


def _parts(found: Found) -> dict[str, int]:
    assert found.outcome.choice is not None
    assert found.data is not None
    return found.outcome.choice.parts(found.data)


def _switches(found: Found, fabric: FabricName | None = None) -> str:
    assert found.outcome.choice is not None
    counts: dict[str, int] = {}
    for name, t in found.outcome.choice.templates.items():
        if fabric is None or name is fabric:
            for part, n in t.switches.items():
                counts[part] = counts.get(part, 0) + n
    return ", ".join(f"{n} x {part}" for part, n in sorted(counts.items()))


def _tiers(found: Found, fabric: FabricName) -> int:
    assert found.outcome.choice is not None
    return found.outcome.choice.templates[fabric].tiers


def _latency(found: Found, fabric: FabricName) -> str:
    assert found.outcome.choice is not None
    latency = found.outcome.choice.templates[fabric].facts.latency_ns
    return "no published latency" if latency is None else f"{latency:,.0f} ns"


def _used(found: Found, field: str) -> str:
    assert found.data is not None
    assert found.outcome.choice is not None
    parts = _parts(found)
    if field == "skus":
        return str(len(parts))
    if field == "vendors":
        vendors = sorted({found.data.vendor(p) for p in parts})
        return f"{len(vendors)} ({', '.join(vendors)})"
    room = found.data.machines.room
    facts = [t.facts for t in found.outcome.choice.templates.values()]
    fill = found.data.central_room // max(1, room.central_width)
    leaf, central = sum(x.leaf_load for x in facts), sum(x.central_load for x in facts)
    return str(room.rows * math.ceil(leaf / fill) + math.ceil(central / fill))


def _out_of_reach(compiled: Compiled, fabric: FabricName) -> list[str]:
    """The longest runs of a fabric against the longest reach that its parts have."""
    room, measure = compiled.machines.room, compiled.measures[fabric]
    reaches: dict[str, float] = {}
    for module in compiled.eligible[fabric].links.modules.values():
        for grade, metres in module.reach_m.items():
            if grade in compiled.case.site.fibre:
                reaches[grade] = max(reaches.get(grade, 0.0), metres)
    longest_stock = measure.book.ladder[-1] if measure.book.ladder else 0.0
    zones = [z.name for z in room.row_zones] if not room.network_places_together else [room.central.name]
    runs = {
        "endpoint to leaf": max(room.rack_to_zone_m(r, room.leaf_zone(r)) for r in range(room.n_racks)),
        "leaf to spine": max(room.zone_to_zone_m(z, room.central.name) for z in zones),
    }
    refused: dict[str, int] = {}
    for scope in compiled.scopes[fabric]:
        for limit, n in scope.refused.items():
            refused[limit] = refused.get(limit, 0) + n
    found = []
    if "interconnect" in refused:
        best = ", ".join(f"{grade} {metres:g} m" for grade, metres in sorted(reaches.items())) or "none"
        for what, run in runs.items():
            if run > max([*reaches.values(), 0.0]) or run > longest_stock:
                found.append(
                    f"fabrics.{fabric.value}: {what} needs {run:g} m; the longest reach of the modules allowed here "
                    f"is {best}; the longest stock length is {longest_stock:g} m"
                )
        if not found:
            found.append(
                f"fabrics.{fabric.value}: {refused['interconnect']:,} otherwise fitting designs have a link that no "
                f"allowed module, fibre or cable can make (reach allowed: {best})"
            )
    return found
