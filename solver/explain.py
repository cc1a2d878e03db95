"""Why a case has no design, or what holds its design where it is. All by solving the case again with something moved.

Nothing is moved in the user's case; the answer only says what would have to move.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from gpunet.models.case import FIXED_PLACEMENTS, Case, Objective
from gpunet.models.design import Status
from gpunet.models.parts import Catalog
from gpunet.models.study_explain import Explanation, GiveWay, Held
from gpunet.solver.clash import clashes, give_way, known_limits
from gpunet.solver.least_change import Change, least_change
from gpunet.solver.lifts import Limit, put
from gpunet.solver.limit_worth import worth_of
from gpunet.solver.obstacles import obstacles, refusals
from gpunet.solver.placements import is_open, placed, worth
from gpunet.solver.shut_out import gain_of, shut_out_groups
from gpunet.solver.tasks import Plan, Task, Tell, run_tasks
from gpunet.solver.workbench import Answer, Workbench

STUDY, CLUSTER = "explain", ("cluster.gpus", "cluster.servers")
CLASH, CHANGE, TOGETHER, LIMIT, PARTS = "clash", "change of ", "together", "limit ", "parts shut out: "
NO_LIMIT = "No design exists even without the limits of the case: the catalogue cannot carry the endpoints."
STOPPED = "stopped before every limit was looked at: gpunet explain takes the time it needs"
SIZES = (
    "Sizes of the room and counts of machines: the value named has a design and the step before it has none; that the "
    "values before go the same way is taken for granted."
)


def explain(case: Case, catalog: Catalog, plan: Plan | None = None, *, engine: str = "highs") -> Explanation:
    """Why a case has no design: limits that cannot hold together, and the smallest change of each. Or, of a case with
    a design, which limits bind and which parts are shut out.

    Raises EngineError when a solver fails.
    """
    plan = plan or Plan()
    if is_open(case):
        return _at_one_placement(case, catalog, plan, engine)
    bench = Workbench(case, catalog, engine)
    plan.tell("solving the case")
    today = bench.at({})
    return _design(bench, today, plan) if today.is_optimal else _no_design(bench, today, plan)


def _at_one_placement(case: Case, catalog: Catalog, plan: Plan, engine: str) -> Explanation:
    """A case that leaves the placement open, explained at the one it takes; at the first where none has a design."""
    ask = Workbench(placed(case, FIXED_PLACEMENTS[0]), catalog, engine)
    worths = {}
    for placement in FIXED_PLACEMENTS:
        plan.tell(f"solving the case with {placement.value}")
        answer = ask.of(placed(case, placement))
        if answer.weight is not None:
            worths[placement] = worth(case, answer.weight)
    taken = min(worths, key=worths.__getitem__, default=FIXED_PLACEMENTS[0])
    others = ", ".join(p.value for p in FIXED_PLACEMENTS)
    why = "the cheapest" if worths else "the first, for none has a design,"
    note = f"site.switch_placement: what is said is about {taken.value}, {why} of {others}."
    study = explain(placed(case, taken), catalog, plan, engine=engine)
    return study.model_copy(update={"notes": (note, *study.notes), "solves": study.solves + len(FIXED_PLACEMENTS)})


def why_not(
    case: Case, catalog: Catalog, engine: str, limit_s: float | None = None, tell: Tell | None = None
) -> tuple[str, ...]:
    """Reasons for a case without a design, in words, most helpful first.

    After ``limit_s`` seconds no further step is begun, and what is known by then is told. Raises EngineError.
    """
    plan = Plan(tell=tell or (lambda _: None))
    if limit_s is not None and limit_s <= 0:
        plan.stop.set()
    clock = threading.Timer(limit_s or 0.0, plan.stop.set)
    clock.daemon = True
    if limit_s is not None:
        clock.start()
    try:
        study = explain(case, catalog, plan, engine=engine)
    finally:
        clock.cancel()
    late = () if study.complete else (STOPPED,)
    return tuple(dict.fromkeys([*reasons(study), *late]))


def reasons(study: Explanation) -> Iterator[str]:
    """An explanation of a case without a design, a line for every reason."""
    yield from study.obstacles
    for clash in study.clashes:
        if len(clash.limits) > 1:
            given = ", ".join(f"{limit.setting} {limit.given}" for limit in clash.limits)
            yield f"cannot hold together: {given}"
    held = {limit.setting: limit for clash in study.clashes for limit in clash.limits}
    for limit in (*held.values(), *study.elsewhere):
        if limit.enough is not None:
            yield f"{limit.setting}: {limit.words}"
    if study.together is not None:
        settings = " and ".join(limit.setting for limit in study.together.limits)
        design = study.together.design
        named = _switch_words(design.fabrics.values())
        yield (
            f"{settings}: each of these is in the way, so no single one helps; without them a design exists that costs "
            f"{design.cost_usd:,.2f} and draws {design.power_max_w / 1000:.3f} kW, using {named}"
        )
        for limit in study.together.limits:
            yield f"{limit.setting}: {limit.words}"
    yield from study.notes[: len(study.notes) if not study.clashes else 0]


def _switch_words(fabrics: Iterable[Any]) -> str:
    counts: dict[str, int] = {}
    for fabric in fabrics:
        for name, n in fabric.switches.items():
            counts[name.split(" ", 1)[1]] = counts.get(name.split(" ", 1)[1], 0) + n
    return ", ".join(f"{n} x {part}" for part, n in sorted(counts.items()))


def _no_design(bench: Workbench, today: Answer, plan: Plan) -> Explanation:
    found = run_tasks(bench, STUDY, [Task(CLASH, clash_settings)], plan)
    groups: list[list[str]] = found[CLASH].data["clashes"] if CLASH in found else []
    usual: list[str] = found[CLASH].data["usual"] if CLASH in found else []
    changed = list(dict.fromkeys([*(setting for group in groups for setting in group), *usual]))
    tasks = [Task(CHANGE + setting, change_of, (setting,)) for setting in changed]
    found |= run_tasks(bench, STUDY, tasks, plan) if tasks else {}
    held = {setting: found[CHANGE + setting].data for setting in changed if CHANGE + setting in found}
    complete = len(found) == 1 + len(tasks)
    if complete and groups and not any(x["enough"] for x in held.values() if not x["setting"].startswith(CLUSTER)):
        last = run_tasks(bench, STUDY, [Task(TOGETHER, together, (groups,))], plan)
        found, complete = found | last, bool(last)
    told, notes = [today.reason] if today.reason else [], [SIZES] if groups else []
    if not isinstance(bench.compiled, str):
        told += obstacles(bench.compiled)
        notes += refusals(bench.compiled) if CLASH in found and not groups else []
    if CLASH in found and not groups:
        notes.insert(0, NO_LIMIT)
    head = bench.head(STUDY, today.status) | {"solves": 1 + sum(x.solves for x in found.values())}
    return Explanation.model_validate(
        {
            **head,
            "complete": complete,
            "design": None,
            "value": None,
            "obstacles": tuple(told),
            "clashes": [{"limits": [held[x] for x in group if x in held]} for group in groups],
            "elsewhere": [held[x] for x in usual if x in held and held[x]["enough"] is not None],
            "together": found[TOGETHER].data if TOGETHER in found else None,
            "notes": notes,
        }
    )


def clash_settings(bench: Workbench) -> dict[str, list[Any]]:
    """The settings of every clash, ceilings first and the size of the cluster last, and others that may help."""
    found, usual = clashes(bench)
    return {
        "clashes": [[x.setting for x in sorted(clash, key=lambda x: (x.is_cluster, -x.order))] for clash in found],
        "usual": [limit.setting for limit in usual],
    }


def _named(bench: Workbench) -> dict[str, Limit]:
    return {limit.setting: limit for limit in known_limits(bench)}


def change_of(bench: Workbench, setting: str) -> dict[str, Any]:
    """The smallest change of one limit alone, as data for JSON."""
    limit = _named(bench)[setting]
    return _held(limit, least_change(bench, bench.case, limit)).model_dump(mode="json")


def _held(limit: Limit, change: Change | None) -> Held:
    return Held(
        setting=limit.setting,
        given=limit.text,
        is_default=limit.is_default,
        enough=None if change is None else change.text,
        words=f"{limit.text}{limit.unit} {limit.verb}; no change of it alone helps" if change is None else change.words,
        design=None if change is None else change.answer.summary(),
    )


def together(bench: Workbench, groups: list[list[str]]) -> dict[str, Any] | None:
    """The limits that must give way together, as data for JSON; none where all of them are not enough."""
    named = _named(bench)
    found = give_way(bench, [[named[setting] for setting in group] for group in groups])
    if found is None:
        return None
    moved, answer = found
    design = answer.summary()
    assert design is not None
    return GiveWay(limits=tuple(_held(limit, change) for limit, change in moved), design=design).model_dump(mode="json")


def _design(bench: Workbench, today: Answer, plan: Plan) -> Explanation:
    limits = [x for x in known_limits(bench) if not _is_size(x)]
    groups = shut_out_groups(bench)
    tasks = [Task(LIMIT + x.setting, worth_of_limit, (x.setting,)) for x in limits]
    tasks += [Task(PARTS + x.by, gain_of, tuple(x)) for x in groups]
    found = run_tasks(bench, STUDY, tasks, plan)
    worth = [x.data for name, x in found.items() if name.startswith(LIMIT)]
    unit = 1000 if bench.case.objectives[0] is Objective.POWER else 100
    return Explanation.model_validate(
        {
            **bench.head(STUDY, Status.OPTIMAL),
            "solves": 1 + sum(x.solves for x in found.values()),
            "complete": len(found) == len(tasks),
            "design": today.summary(),
            "value": today.value / unit,
            "limits": sorted(worth, key=lambda x: (-(x["saved"] or 0), x["setting"])),
            "shut_out": [x.data for name, x in found.items() if name.startswith(PARTS)],
        }
    )


def _is_size(limit: Limit) -> bool:
    """The size of the cluster is what is asked for; zones that follow from it are no limit of the user's."""
    return limit.is_cluster or (limit.is_choice and limit.is_default)


def worth_of_limit(bench: Workbench, setting: str) -> dict[str, Any]:
    """What the optimum is without one limit, as data for JSON."""
    limit = _named(bench)[setting]
    if setting.endswith(".oversubscription"):
        # Without any bound a network would be one cable; twice the ratio is a question that someone asks.
        twice = 2 * limit.value
        return worth_of(bench, setting, f"{limit.text} : 1 doubled", put(bench.case, setting, twice))
    then = "; as many as wanted" if setting.startswith("owned[") else ", taken away"
    return worth_of(bench, setting, f"{limit.text}{limit.unit} {limit.verb}{then}", limit.lifted(bench.case))
