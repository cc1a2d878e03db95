"""The least cost, power or tco at every step of something that is no total: a server count or a limit of the case.

A limit is stepped from its loosest value down. A design that needs less of it than the limit allows answers for every
limit down to what it needs, so the next question starts just below that, until no design is left: every value at which
the optimum can change is met, and no other.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from gpunet.models.case import Case, FabricName, Objective, Placement, Prices
from gpunet.solver.candidates import Compiled
from gpunet.solver.frontier_pairs import Walked, point_of
from gpunet.solver.racks import rack_draw_mw
from gpunet.solver.requirement_steps import LEAST_NS, MOST_OVERSUBSCRIPTION, moved
from gpunet.solver.tasks import Plan, Task, run_tasks
from gpunet.solver.template import Template
from gpunet.solver.workbench import Answer, Workbench

GPUS, OVERSUBSCRIPTION, LATENCY, RACKS = "gpus", "oversubscription", "latency", "racks"
RATIO_DIGITS = 9
"""Decimals of a stepped oversubscription: ratios of whole ports differ by more."""
ENDLESS_RACKS = 1_000_000
"""More network racks than any design has."""
FULL = 1_000_000
"""Millionths of a rack in a whole one."""
POINTS = 16
"""Designs found per step of the study."""


def template_of(answer: Answer, fabric: FabricName) -> Template | None:
    """The template that a fabric runs on: its own, or the backend's where that carries storage."""
    found = answer.templates.get(fabric)
    backend = answer.templates.get(FabricName.BACKEND)
    if found is None and fabric is FabricName.STORAGE and backend is not None and backend.carries_storage:
        return backend
    return found


def reached(t: Template, fabric: FabricName) -> Fraction:
    """The smallest oversubscription of a fabric under which this template would still be a design; at least 1."""
    ratios = [Fraction(1)]
    for wing in t.wings or (t,):
        if wing.spine is None:
            continue
        own = others = Fraction(0)
        for kind, plan in zip(wing.kinds, wing.plans, strict=True):
            ports = plan.hosts_per_group * plan.rails_per_leaf or plan.cages_per_leaf * kind.ports_per_cage
            gbps = ports * Fraction(kind.speed_gbps)
            if kind.fabric is fabric:
                own += gbps
            else:
                others += gbps / kind.oversubscription
        ratios.append(own / (wing.spine.links_per_lower * Fraction(wing.spine.lower_face.speed_gbps) - others))
        if wing.core is None:
            continue
        down = math.ceil(Fraction(wing.leaves_per_pod * wing.spine.links_per_lower, wing.spine.count))
        upwards = wing.core.links_per_lower * Fraction(wing.core.face.speed_gbps)
        # Towards the cores the largest ratio of all that share them counts.
        ratio = down * Fraction(wing.spine.face.speed_gbps) / upwards
        if all(kind.fabric is fabric or kind.oversubscription < ratio for kind in wing.kinds):
            ratios.append(ratio)
    return max(ratios)


def racks_of(answer: Answer) -> int:
    """Network racks of a design, as ``limits.racks`` counts them; the case must have such a limit."""
    assert answer.data is not None
    assert answer.data.racks is not None
    return answer.data.racks.count(answer.templates)


def value_of(answer: Answer, axis: str, fabric: FabricName) -> float | None:
    """What a design needs of a limit; none for a latency that is not published."""
    if axis == RACKS:
        return racks_of(answer)
    t = template_of(answer, fabric)
    assert t is not None
    return t.facts.latency_ns if axis == LATENCY else float(reached(t, fabric))


def below(axis: str, value: float) -> float:
    """The loosest limit that shuts out a design which needs ``value``."""
    if axis == RACKS:
        return value - 1
    if axis == LATENCY:
        return value - LEAST_NS
    unit = 10**RATIO_DIGITS
    return float((math.ceil(Fraction(value) * unit - Fraction(1, 1000)) - 1) / unit)


def shown_ratio(ratio: float) -> float:
    """An oversubscription to six decimals, rounded up: typed into a case, it allows the design that reached it."""
    return math.ceil(ratio * 1e6 - 1e-6) / 1e6


def limited(case: Case, axis: str, fabric: FabricName, limit: float | None) -> Case:
    """The case with one limit at another value; none keeps the case's own."""
    if axis == RACKS:
        own = ENDLESS_RACKS if case.limits.racks is None else case.limits.racks
        return within_racks(case, own if limit is None else round(limit))
    if limit is None:
        return case
    name = "latency_ns" if axis == LATENCY else OVERSUBSCRIPTION
    return moved(case, f"fabrics.{fabric.value}.{name}", limit)


def fewest_racks(bench: Workbench) -> int | None:
    """Network racks that every design needs at least; none when there is no design.

    A rack holds no more than one whole of the mean share by units and by watts, so all switches together need no fewer
    than the least sum of these: an optimum at prices that are such shares. It spares much of the proof that no design
    has fewer, which takes long.
    """
    case = bench.case
    compiled = bench.compiled
    if not isinstance(compiled, Compiled):
        return None
    if any(measure.on_racks for measure in compiled.measures.values()):
        return 0
    rack_mw, units = compiled.machines.room.rack_mw, case.site.rack.units
    shares = {
        s.id: math.floor(FULL / 2 * (s.rack_units.v / units + rack_draw_mw(s) / rack_mw)) / 100
        for allowed in compiled.eligible.values()
        for s in allowed.switches
    }
    catalog = bench.catalog
    free = (catalog.modules, catalog.cables, catalog.fibres, catalog.nics, catalog.accessories)
    prices = Prices(overrides_usd={**{part: 0.0 for table in free for part in table}, **shares})
    limits = case.limits.model_copy(update={"cost_usd": None, "power_kw": None})
    site = case.site.model_copy(update={"rack": case.site.rack.model_copy(update={"cost_usd": None})})
    bought = dict.fromkeys(("terms", "spares", "quotes", "buying"))
    asked = {"prices": prices, "limits": limits, "site": site, "objective": Objective.COST, "owned": (), **bought}
    answer = bench.of(case.model_copy(update=asked), keep=False)
    if not answer.is_optimal:
        return None
    return -(-answer.value // FULL)


def within_racks(case: Case, racks: int) -> Case:
    """The case with so many network racks, and with what follows from one: it stands in a row, so there is no spine."""
    case = moved(case, "limits.racks", racks)
    in_rows = case.site.switch_placement in (Placement.ROW_END, Placement.ROW_MIDDLE, Placement.SHORTEST)
    if not in_rows or racks > 1:
        return case
    specs = {name: spec for name in FabricName if (spec := getattr(case.fabrics, name.value)) is not None}
    flat = {name.value: spec.model_copy(update={"max_tiers": 1}) for name, spec in specs.items()}
    return case.model_copy(update={"fabrics": case.fabrics.model_copy(update=flat)})


def descend(
    bench: Workbench, axis: str, fabric: str, limit: float | None, least: float, gap: float, points: int
) -> dict[str, Any]:
    """Up to ``points`` optima under a limit that falls from ``limit`` to ``least``, and the limit to go on with."""
    found: list[dict[str, Any]] = []
    name = FabricName(fabric)
    while len(found) < points and (limit is None or limit >= least):
        answer = bench.of(limited(bench.case, axis, name, limit), keep=False)
        if not answer.is_optimal:
            return {"points": found, "next": None, "none_at": limit}
        value = value_of(answer, axis, name)
        found.append({**point_of(answer), "y": value})
        if value is None:
            # Nobody knows what this design needs, so any finite limit shuts it out.
            limit = 1e9
            continue
        limit = below(axis, value if limit is None else min(value, limit))
        limit = limit if gap == 0 else min(limit, value - gap)
        if axis == OVERSUBSCRIPTION and limit < 1:
            return {"points": found, "next": None, "none_at": None}
    return {"points": found, "next": limit if limit is not None and limit >= least else None, "none_at": None}


def frontier_of_limit(
    bench: Workbench,
    axis: str,
    fabric: FabricName,
    start: float | None,
    least: float,
    gap: float,
    plan: Plan,
) -> tuple[Walked, float | None]:
    """Every optimum under a falling limit, and the limit under which none is left."""
    points: list[dict[str, Any]] = []
    solves = 0
    limit, none_at, first = start, None, True
    while first or limit is not None:
        name = f"{axis} of {fabric.value} from {limit} to {least} by {gap}"
        task = Task(name, descend, (axis, fabric.value, limit, least, gap, POINTS))
        found = run_tasks(bench, "frontier", [task], plan).get(name)
        if found is None:
            return Walked(points, False, solves), None
        points += found.data["points"]
        solves += found.solves
        limit, none_at, first = found.data["next"], found.data["none_at"], False
    return Walked(points, True, solves), none_at


def start_of(case: Case, axis: str, fabric: FabricName, to: float | None) -> float | None:
    """The loosest limit to look at; none where the case sets none and nobody asks for one."""
    if axis == RACKS:
        own: float | None = case.limits.racks
    else:
        own = getattr(getattr(case.fabrics, fabric.value), "latency_ns" if axis == LATENCY else OVERSUBSCRIPTION)
    if to is not None:
        return to
    if axis == OVERSUBSCRIPTION:
        return max(own or 1.0, MOST_OVERSUBSCRIPTION)
    return own


def at_servers(bench: Workbench, servers: int) -> dict[str, Any] | None:
    """The optimum for one number of servers, as data for JSON."""
    answer = bench.of(moved(bench.case, "cluster.servers", servers), keep=False)
    return point_of(answer) if answer.is_optimal else None


def frontier_of_servers(bench: Workbench, counts: list[int], gpus_each: int, plan: Plan) -> tuple[Walked, list[int]]:
    """The optimum of every server count, and the counts without a design."""
    tasks = [Task(f"{n} servers", at_servers, (n,)) for n in counts]
    found = run_tasks(bench, "frontier", tasks, plan)
    points, none = [], []
    for task in tasks:
        if task.name not in found:
            continue
        n = task.args[0]
        point = found[task.name].data
        if point is None:
            none.append(n)
        else:
            points.append({**point, "y": n * gpus_each})
    return Walked(points, len(found) == len(tasks), sum(x.solves for x in found.values())), none
