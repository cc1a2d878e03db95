"""How firm a design is: price ranges, requirement steps, what limits cost, uncertain prices. All by re-solving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpunet.models.case import Case, Objective
from gpunet.models.design import Status
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.models.study_sensitivity import Sensitivity
from gpunet.solver.limit_worth import looser, worth_of
from gpunet.solver.price_ranges import kind_of, range_of, rivals
from gpunet.solver.prices import PriceList
from gpunet.solver.quotes import offers
from gpunet.solver.regret import band_of, bands_of, regrets_of, scenarios_of
from gpunet.solver.requirement_steps import headroom, questions, step_of
from gpunet.solver.tasks import Finished, Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench

PRICE, STEP, LIMIT, BAND, REGRET = "price of ", "step of ", "limit ", "band of ", "regret"
STEPS_NOTE = (
    "Server counts, growth and lengths: the last value that holds and the next one are both solved; between them it is "
    "taken that the same switches serve all the way."
)
NO_QUOTED = "buying: parts whose order is split among quotes have no one price, so their price ranges are left out."
NO_DISCOUNTED = (
    "terms.vendor_discounts: what a piece adds depends on all that is bought of its vendor, so price ranges leave out"
)
NO_PRICES = "The first objective is power, so no price changes the design: price ranges and bands are left out."


def sensitivity(
    case: Case,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    engine: str = "highs",
    bands: bool = False,
    scenarios_usd: Mapping[str, Mapping[str, float]] | None = None,
) -> Sensitivity:
    """Every price range, requirement step and limit of a case.

    ``bands`` adds the tornado and the design of least worst regret over the catalogue's price bands; with
    ``scenarios_usd`` (scenario -> part -> unit price, USD) the regret is over those scenarios instead. Raises
    EngineError when a solver fails.
    """
    plan = plan or Plan()
    bench = Workbench(case, catalog, engine)
    plan.tell("solving the case")
    today = bench.at({})
    if not today.is_optimal:
        return Sensitivity(
            **bench.head("sensitivity", today.status),
            design=None,
            value=None,
            notes=(today.reason,) if today.reason else (),
        )
    priced = case.objectives[0] is not Objective.POWER
    tasks = _tasks(bench, today, priced, bands, scenarios_usd)
    found = run_tasks(bench, "sensitivity", tasks, plan)
    return _study(bench, today, found, len(tasks), priced)


def _tasks(
    bench: Workbench,
    today: Answer,
    priced: bool,
    bands: bool,
    scenarios_usd: Mapping[str, Mapping[str, float]] | None,
) -> list[Task]:
    tasks = []
    if priced:
        own = [p for p in sorted(today.bought or {}) if kind_of(bench.catalog, p) != "nic"]
        left_out = _offered(bench) | _discounted(bench, today)
        looked_at = [part for part in (*own, *rivals(bench, today)) if part not in left_out]
        tasks += [Task(PRICE + part, range_of, (part,)) for part in looked_at]
    tasks += [Task(f"{STEP}{q.setting} {q.direction}", step_of, (q,)) for q in questions(bench, today)]
    tasks += [Task(f"{LIMIT}{x.setting}: {x.change}", worth_of, x) for x in looser(bench.case)]
    if priced and (bands or scenarios_usd):
        known = bands_of(bench, today)
        if bands:
            tasks += [Task(BAND + part, band_of, (part, low, high)) for part, (low, high) in known.items()]
        if scenarios_usd:
            scenarios = {s: {p: usd_to_cents(usd) for p, usd in ps.items()} for s, ps in scenarios_usd.items()}
        else:
            scenarios = scenarios_of(known)
        tasks.append(Task(REGRET, regrets_of, (scenarios,)))
    return tasks


def _offered(bench: Workbench) -> set[str]:
    """Parts whose order is split among quotes: no one price is theirs."""
    rules = PriceList(bench.case, bench.catalog).rules
    return {part for part in offers(bench.case) if rules.is_offered(part)}


def _discounted(bench: Workbench, today: Answer) -> set[str]:
    """Parts of the design and rivals of them counting towards a discount of their vendor: cost is not linear there."""
    rules = PriceList(bench.case, bench.catalog).rules
    if not rules.discounts:
        return set()
    return {part for part in (*(today.bought or {}), *rivals(bench, today)) if rules.discount_of(part)}


def _study(bench: Workbench, today: Answer, found: Mapping[str, Finished], wanted: int, priced: bool) -> Sensitivity:
    def of(prefix: str) -> list[Any]:
        return [x.data for name, x in found.items() if name.startswith(prefix) and x.data is not None]

    prices, left = of(PRICE), _discounted(bench, today) if priced else set()
    never = [name.removeprefix(PRICE) for name, x in found.items() if name.startswith(PRICE) and x.data is None]
    unit = 1000 if today.case.objectives[0] is Objective.POWER else 100
    head = bench.head("sensitivity", Status.OPTIMAL) | {"solves": 1 + sum(x.solves for x in found.values())}
    return Sensitivity.model_validate(
        {
            **head,
            "complete": len(found) == wanted,
            "design": today.summary(),
            "value": today.value / unit,
            "prices": sorted(prices, key=lambda r: (not r["in_design"], r["part"])),
            "never": sorted(never),
            "steps": of(STEP),
            "headroom": headroom(today),
            "limits": of(LIMIT),
            "bands": sorted(of(BAND), key=lambda b: (-abs(b["at_high_usd"] - b["at_low_usd"]), b["part"])),
            "regrets": found[REGRET].data if REGRET in found else (),
            "notes": (
                STEPS_NOTE,
                *(() if priced else (NO_PRICES,)),
                *((NO_QUOTED,) if priced and _offered(bench) else ()),
                *((f"{NO_DISCOUNTED} {', '.join(sorted(left))}.",) if priced and left else ()),
            ),
        }
    )
