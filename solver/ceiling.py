"""The most servers whose network stays within a ceiling, and what else the same money buys.

What a network costs need not rise with every server, so no halving finds the largest number. A bound that does rise
(``server_floor``) says beyond which number nothing can fit; from there downwards every number is solved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpunet.models.case import MAX_SERVERS, Case, FabricName, Objective, StorageMode
from gpunet.models.design import Status
from gpunet.models.evidence import usd_to_cents, watts_to_milliwatts
from gpunet.models.parts import Catalog
from gpunet.models.study_ceiling import Ceiling, Extreme
from gpunet.solver.candidates import best_of
from gpunet.solver.demand import NoPortsError, survey
from gpunet.solver.frontier_steps import (
    OVERSUBSCRIPTION,
    below,
    limited,
    reached,
    shown_ratio,
    start_of,
    template_of,
)
from gpunet.solver.held import groups
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.requirement_steps import moved
from gpunet.solver.search import Floors
from gpunet.solver.server_floor import ServerFloor, ceilings_of, largest
from gpunet.solver.tasks import Finished, Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench

SIDE_BY_SIDE = 8
"""Steps of one round."""
MOST_PER_STEP = 16
"""Numbers that one step looks at; the first round looks at one each, every next at twice as many."""
GROWTH_DIGITS = 6
"""Decimals of a growth: enough for a million servers."""
MOST_GROWTH = 100
"""Largest growth that a case may ask for."""


class CeilingError(ValueError):
    """Nothing to stay under, or a ceiling that is none."""


class Scan(NamedTuple):
    """How the search for a largest number ended."""

    number: int | None
    design: dict[str, Any] | None
    solves: int
    complete: bool


def ceiling(
    case: Case,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    cost_usd: float | None = None,
    power_kw: float | None = None,
    engine: str = "highs",
) -> Ceiling:
    """The most servers, and what else, within ``cost_usd`` and ``power_kw`` of network, and all limits of the case.

    Raises CeilingError where neither the call nor the case sets a ceiling, EngineError and JournalError.
    """
    plan = plan or Plan()
    capped = with_ceilings(case, cost_usd, power_kw)
    bench = Workbench(capped, catalog, engine)
    each = int(catalog.servers[case.cluster.server].gpus.v)
    own = case.cluster.servers or -(-(case.cluster.gpus or 0) // each)
    try:
        floor = ServerFloor(capped, catalog)
        top = _in_room(capped, catalog, largest(floor, None, MAX_SERVERS))
        keep = largest(floor, own, min(MAX_SERVERS, own * (1 + MOST_GROWTH)))
        reason = ""
    except (SiteTooSmallError, NoPortsError) as error:
        top, keep, reason = 0, 0, f"{error.setting}: {error}"
    most = _scan(bench, fit_servers, "servers", top, 1, plan)
    asides = [
        Task("one server more", lifted, (_plain(case), (most.number or 0) + 1)),
        Task("the case itself", fit_servers, ([own],)),
        *(Task(f"oversubscription of {f.value}", least_ratio, (f.value,)) for f in _oversubscribed(case)),
    ]
    found = run_tasks(bench, "ceiling", asides, plan) if most.complete else {}
    growth = (
        _scan(bench, fit_growth, "places for servers", max(keep, 0), own, plan) if len(found) == len(asides) else None
    )
    complete = growth is not None and growth.complete
    solves = most.solves + sum(x.solves for x in found.values()) + (growth.solves if growth else 0)
    more = _data(found, asides[0].name) or {"design": None, "reason": ""}
    fits = most.number is not None
    return Ceiling.model_validate(
        {
            **bench.head("ceiling", Status.OPTIMAL if fits else Status.INFEASIBLE),
            "solves": solves,
            "complete": complete,
            "cost_usd": capped.limits.cost_usd,
            "power_kw": capped.limits.power_kw,
            "gpus_per_server": each,
            "servers": most.number,
            "gpus": None if most.number is None else most.number * each,
            "at_most_servers": top,
            "design": most.design,
            "next_design": more["design"] if fits else None,
            "next_reason": more["reason"] or reason,
            "first_design": None if fits else more["design"],
            "case_servers": own,
            "case_design": (_data(found, asides[1].name) or {}).get("design"),
            "extremes": _extremes(case, own, found, growth),
        }
    )


def with_ceilings(case: Case, cost_usd: float | None, power_kw: float | None) -> Case:
    """The case with these ceilings where they are lower than its own. Raises CeilingError."""
    for name, value, unit in (("cost_usd", cost_usd, "USD"), ("power_kw", power_kw, "kW")):
        if value is not None and not 0 < value < float("inf"):
            raise CeilingError(f"{name}: found {value:g}, expected {unit} above 0")
    asked = {"cost_usd": cost_usd, "power_kw": power_kw}
    own = {"cost_usd": case.limits.cost_usd, "power_kw": case.limits.power_kw}
    both = {name: min((x for x in (asked[name], own[name]) if x is not None), default=None) for name in asked}
    if both["cost_usd"] is None and both["power_kw"] is None and case.site.power_kw is None:
        raise CeilingError(
            "nothing to stay under: give a ceiling on cost or power, or set limits.cost_usd, limits.power_kw or "
            "site.power_kw in the case"
        )
    if (both["cost_usd"] is not None and usd_to_cents(both["cost_usd"]) == 0) or (
        both["power_kw"] is not None and watts_to_milliwatts(both["power_kw"] * 1000) == 0
    ):
        raise CeilingError("a ceiling below one cent or one milliwatt is none")
    return case.model_copy(update={"limits": case.limits.model_copy(update=both)})


def _in_room(case: Case, catalog: Catalog, most: int) -> int:
    """The most servers up to ``most`` that the room given holds; as many racks as servers need never get fewer."""

    def holds(n: int) -> bool:
        try:
            survey(moved(case, "cluster.servers", n), catalog)
        except SiteTooSmallError:
            return False
        return True

    if most == 0 or case.site.rows is None or case.site.racks_per_row is None or holds(most):
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _scan(bench: Workbench, step: Any, what: str, top: int, bottom: int, plan: Plan) -> Scan:
    """The largest number from ``top`` down to ``bottom`` at which a design fits, every one above it solved."""
    solves, per_step = 0, 1
    while top >= bottom:
        blocks = []
        for _ in range(SIDE_BY_SIDE):
            block = list(range(top, max(top - per_step, bottom - 1), -1))
            if block:
                blocks.append(block)
            top -= len(block)
        tasks = [Task(f"{what} {block[0]} down to {block[-1]}", step, (block,)) for block in blocks]
        found = run_tasks(bench, "ceiling", tasks, plan)
        solves += sum(x.solves for x in found.values())
        if len(found) < len(tasks):
            return Scan(None, None, solves, complete=False)
        for task in tasks:
            data = found[task.name].data
            if data is not None:
                return Scan(data["number"], data["design"], solves, complete=True)
        per_step = min(2 * per_step, MOST_PER_STEP)
    return Scan(None, None, solves, complete=True)


def within(bench: Workbench, case: Case) -> Answer | None:
    """The optimum of a case within its ceilings on cost and power; none where nothing fits.

    Most cases that do not fit have a fabric that by itself is too dear or too hot. Others fail on the least cost or
    power, asked for with the ceilings lifted; where the one ceiling is on the first objective, that is the answer.
    """
    if _is_hopeless(bench, case):
        return None
    limits = case.limits.model_copy(update={"cost_usd": None, "power_kw": None})
    free = case.model_copy(update={"limits": limits, "site": case.site.model_copy(update={"power_kw": None})})
    ceilings, alone = 0, None
    for objective in (Objective.COST, Objective.POWER):
        if objective is Objective.COST and case.limits.cost_usd is None:
            continue
        if objective is Objective.POWER and case.limits.power_kw is None and case.site.power_kw is None:
            continue
        ceilings += 1
        leads = case.objectives[0] is objective
        answer = bench.of(free if leads else free.model_copy(update={"objective": objective}), keep=False)
        if answer.weight is None or not _keeps(case, answer):
            return None
        alone = answer if leads else None
    if ceilings == 1 and alone is not None:
        return alone
    answer = bench.of(case, keep=False)
    return answer if answer.is_optimal else None


def _is_hopeless(bench: Workbench, case: Case) -> bool:
    """Whether the fabrics, each as cheap or as cool as it can be by itself, already break a ceiling."""
    compiled = bench.ready(case)
    if isinstance(compiled, str):
        return True
    for objective, most in ceilings_of(compiled).items():
        least = {}
        for group, scopes in groups(compiled).items():
            near = best_of(scopes, objective, 0, most)
            # Nothing within the ceiling: whatever there may be weighs more.
            least[group] = min((t.facts.least[objective] for t in near), default=most + 1)
        if Floors(least, compiled.storage_optional).total() > most:
            return True
    return False


def _keeps(case: Case, answer: Answer) -> bool:
    """Whether the least of the first objective of an answer is within the ceilings on it."""
    assert answer.data is not None
    assert answer.weight is not None
    limits, site = case.limits, case.site.power_kw
    if answer.case.objectives[0] is Objective.COST:
        return limits.cost_usd is None or answer.weight.cost <= usd_to_cents(limits.cost_usd)
    power = answer.weight.power
    if limits.power_kw is not None and power > watts_to_milliwatts(limits.power_kw * 1000):
        return False
    return site is None or power + answer.data.servers_mw <= watts_to_milliwatts(site * 1000)


def _first(bench: Workbench, cases: dict[int, Case]) -> dict[str, Any] | None:
    """The first of these cases that has a design, as data for JSON."""
    for number, case in cases.items():
        answer = within(bench, case)
        if answer is not None:
            return {"number": number, "design": _design(answer)}
    return None


def fit_servers(bench: Workbench, counts: list[int]) -> dict[str, Any] | None:
    """The first of these server counts with a design."""
    return _first(bench, {n: moved(bench.case, "cluster.servers", n) for n in counts})


def fit_growth(bench: Workbench, counts: list[int]) -> dict[str, Any] | None:
    """The first of these numbers of places, today's servers included, with a design."""
    own = bench.case.cluster.servers or survey(bench.case, bench.catalog).n_servers
    return _first(bench, {m: moved(bench.case, "cluster.growth", growth_of(own, m)) for m in counts})


def growth_of(servers: int, places: int) -> float:
    """The growth that keeps so many places: a share just too small for one more once it is rounded up."""
    unit: int = 10**GROWTH_DIGITS
    return (places - servers) * unit // servers / unit


def least_ratio(bench: Workbench, fabric: str) -> dict[str, Any]:
    """The least oversubscription of a fabric at which a design fits, as data for JSON.

    A ratio allows whatever a smaller one does, so halving is right; what a design is built with names the exact ratio.
    """
    name = FabricName(fabric)

    def at(ratio: float) -> Answer | None:
        return within(bench, limited(bench.case, OVERSUBSCRIPTION, name, ratio))

    def built(answer: Answer, asked: float) -> float:
        t = template_of(answer, name)
        assert t is not None
        return min(asked, float(reached(t, name)))

    answer = at(1.0)
    if answer is not None:
        return {"value": 1.0, "at_end": True, "design": _design(answer)}
    loosest = start_of(bench.case, OVERSUBSCRIPTION, name, None) or 1.0
    best = at(loosest)
    if best is None:
        return {"value": None, "at_end": False, "design": None}
    low, ratio = 1.0, built(best, loosest)
    while True:
        just_below = below(OVERSUBSCRIPTION, ratio)
        if just_below <= low:
            break
        answer = at(just_below)
        if answer is None:
            break
        best, ratio = answer, built(answer, just_below)
        middle = round((low + ratio) / 2, 6)
        if not low < middle < ratio:
            continue
        answer = at(middle)
        if answer is not None:
            best, ratio = answer, built(answer, middle)
        else:
            low = middle
    return {"value": shown_ratio(ratio), "at_end": False, "design": _design(best)}


def lifted(bench: Workbench, case: dict[str, Any], servers: int) -> dict[str, Any]:
    """The best design of the case as its file has it for another number of servers, or why there is none."""
    answer = bench.of(moved(Case.model_validate(case), "cluster.servers", servers))
    return {"design": _design(answer), "reason": answer.reason}


def _plain(case: Case) -> dict[str, Any]:
    return case.model_dump(mode="json", exclude_none=True)


def _design(answer: Answer) -> dict[str, Any] | None:
    summary = answer.summary()
    return None if summary is None else summary.model_dump(mode="json")


def _data(found: dict[str, Finished], name: str) -> Any:
    return found[name].data if name in found else None


def _oversubscribed(case: Case) -> list[FabricName]:
    storage = case.fabrics.storage
    found = [FabricName.BACKEND] if case.fabrics.backend is not None else []
    if storage is not None and storage.mode is not StorageMode.NONE:
        found.append(FabricName.STORAGE)
    return found


def _extremes(case: Case, own: int, found: dict[str, Finished], growth: Scan | None) -> list[Extreme]:
    extremes = []
    for fabric in _oversubscribed(case):
        data = _data(found, f"oversubscription of {fabric.value}")
        if data is not None:
            extremes.append(
                {
                    "setting": f"fabrics.{fabric.value}.{OVERSUBSCRIPTION}",
                    "today": getattr(case.fabrics, fabric.value).oversubscription,
                    **data,
                }
            )
    if growth is not None and growth.complete:
        places = growth.number
        extremes.append(
            {
                "setting": "cluster.growth",
                "today": case.cluster.growth,
                "value": None if places is None else growth_of(own, places),
                "at_end": places is not None and places == own * (1 + MOST_GROWTH),
                "design": growth.design,
            }
        )
    return [Extreme.model_validate(x) for x in extremes]
