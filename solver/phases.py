"""What to buy now and what later: the cheapest plan over all phases, beside buying at once and not planning."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gpunet.models.case import Case, FabricName
from gpunet.models.design import Design, Status
from gpunet.models.evidence import usd_to_cents
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.models.study import FabricSummary
from gpunet.models.study_phases import PhasedPlan, PhaseLine, Phases, PhaseStep
from gpunet.solver.bill import KIND_ORDER
from gpunet.solver.candidates import Compiled, compile_case, instance
from gpunet.solver.demand import NoPortsError, survey
from gpunet.solver.engines import Clock, Engine, Outcome, broken
from gpunet.solver.instance import Choice, Key
from gpunet.solver.interconnects import Tables
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.moved import moved_cables
from gpunet.solver.optimize import designed
from gpunet.solver.phase_moves import fewest_moves
from gpunet.solver.phase_prices import PhasePrices, Timeline
from gpunet.solver.phase_program import Built
from gpunet.solver.phase_search import FabricPlanner, Planned, Stage
from gpunet.solver.prices import PriceList
from gpunet.solver.remembering import reweigh
from gpunet.solver.search import Found
from gpunet.solver.workbench import summarise

Tell = Callable[[str], None]
PLAN, AT_ONCE, UNPLANNED = "plan", "end-state-at-once", "unplanned"


class PhasesError(ValueError):
    """A case without phases."""


class DesignedPhases(NamedTuple):
    """The answer with what stands in every phase."""

    study: Phases
    designs: tuple[Design, ...]
    """The whole network in each phase of the plan, at the prices of the first; none without a plan."""


def phases(
    case: Case,
    catalog: Catalog,
    *,
    engine: str = "highs",
    time_limit_s: float | None = None,
    tell: Tell | None = None,
) -> Phases:
    """The cheapest plan for a case that grows in phases. Raises PhasesError without phases, and EngineError.

    Its status is ``optimal`` where no plan is cheaper, else ``feasible`` with the gap left.
    """
    return designed_phases(case, catalog, engine=engine, time_limit_s=time_limit_s, tell=tell).study


def designed_phases(
    case: Case,
    catalog: Catalog,
    *,
    engine: str = "highs",
    time_limit_s: float | None = None,
    tell: Tell | None = None,
) -> DesignedPhases:
    """The cheapest plan with the design of each of its phases. Raises as ``phases`` does."""
    if case.phases is None:
        raise PhasesError("the case has no phases: give phases, such as [{when: 2027Q1, gpus: 256}, ..]")
    work = _Study(case, catalog, engine, Clock(time_limit_s), tell or (lambda _: None))
    study = work.answer()
    return DesignedPhases(study, tuple(work.designs) if study.plans else ())


def phase_cases(case: Case) -> list[Case]:
    """The case as it is in every phase, by itself."""
    # Both limits are on the plan: what its networks would cost at the prices of the first phase is not what is spent.
    limits = case.limits.model_copy(update={"moved_cables": None, "cost_usd": None})
    found = []
    for phase in case.phases or ():
        cluster = case.cluster.model_copy(update={"gpus": phase.gpus, "servers": phase.servers})
        alone = {"cluster": cluster, "limits": limits, "phases": None, "price_decline_per_year": None}
        found.append(case.model_copy(update=alone))
    return found


class _NoRoomError(ValueError):
    """Fabrics that each fit the room and do not together."""


class _Stands(NamedTuple):
    """The whole network in one phase."""

    design: Design
    fabrics: dict[str, FabricSummary]
    power_max_w: float


class _Study:
    def __init__(self, case: Case, catalog: Catalog, engine: str, clock: Clock, say: Tell) -> None:
        assert case.phases is not None
        self.case, self.catalog, self.engine, self.clock, self.say = case, catalog, engine, clock, say
        self.timeline = Timeline.of(case)
        self.listed = PriceList(case, catalog)
        self.compiled: list[Compiled] = []
        self.prices: list[PhasePrices] = []
        self.solves = 0
        self.kinds: dict[str, str] = {}
        self.designs: list[Design] = []
        """What stands in each phase of the plan."""

    def answer(self) -> Phases:
        """The whole study."""
        try:
            self._compile()
        except (SiteTooSmallError, NoPortsError) as error:
            return self._none(Status.INFEASIBLE, f"{error.setting}: {error}")
        plans: dict[FabricName, Planned] = {}
        planners: dict[FabricName, FabricPlanner] = {}
        unplanned: dict[FabricName, Planned] = {}
        ends: dict[FabricName, Built] = {}
        for fabric in self.compiled[0].fabrics:
            self.say(f"planning {fabric.value}")
            planner = planners[fabric] = self._planner(fabric)
            by_itself, end = planner.unplanned(), planner.end_state()
            plan = None if by_itself is None else planner.plan(by_itself.built)
            if by_itself is None or plan is None or end is None:
                late = any(stage.was_cut_short for stage in planner.stages)
                status = Status.NO_SOLUTION if late else Status.INFEASIBLE
                why = (
                    "stopped before any plan was found: give it more time"
                    if late
                    else "no design for one of the phases"
                )
                return self._none(status, f"{fabric.value}: {why}")
            plans[fabric], unplanned[fabric], ends[fabric] = plan, by_itself, end
        self.say("counting cables that move")
        limit = self.case.limits.moved_cables
        plans = {fabric: x.plan for fabric, x in fewest_moves(planners, plans, limit).items()}
        self.solves = sum(planner.solves for planner in planners.values())
        if not all(plan.built for plan in plans.values()):
            least = sum(plan.bound for plan in plans.values()) / 100
            late = any(stage.was_cut_short for planner in planners.values() for stage in planner.stages)
            return self._none(
                Status.NO_SOLUTION,
                f"None that costs less than {least:,.2f} USD, adapters left out, moves at most {limit:,} cables "
                f"(limits.moved_cables){'; stopped there: give it more time' if late else ''}.",
            )
        try:
            found = self._compared(plans, unplanned, ends)
        except _NoRoomError as error:
            return self._none(Status.NO_SOLUTION, str(error))
        best = found[0]
        most = self.case.limits.cost_usd
        if most is not None and usd_to_cents(best.cost_usd) > usd_to_cents(most):
            # The cheapest plan is known up to its bound, so a ceiling on what is spent needs no search of its own.
            proven = usd_to_cents(best.bound_usd) > usd_to_cents(most)
            return self._none(
                Status.INFEASIBLE if proven else Status.NO_SOLUTION,
                f"None costs less than {best.bound_usd:,.2f} USD over all phases; at most {most:,.2f} USD may be spent "
                f"(limits.cost_usd){'' if proven else '; stopped there: give it more time'}.",
            )
        is_proven = all(plan.is_proven for plan in plans.values())
        return Phases.model_validate(
            {
                **self._head(Status.OPTIMAL if is_proven else Status.FEASIBLE),
                "gap": 0.0 if is_proven else (best.cost_usd - best.bound_usd) / best.cost_usd,
                "plans": found,
            }
        )

    def _head(self, status: Status) -> dict[str, object]:
        return {
            "study": "phases",
            "case": self.case.name,
            "objective": ",".join(o.value for o in self.case.objectives),
            "status": status,
            "engine": self.engine,
            "solves": self.solves,
            "complete": status is not Status.FEASIBLE,
            "catalog_version": self.catalog.version,
            "gpunet_version": importlib.metadata.version("gpunet"),
            "price_decline_per_year": self.case.price_decline_per_year or 0.0,
            "limit_moved_cables": self.case.limits.moved_cables,
            "limit_cost_usd": self.case.limits.cost_usd,
        }

    def _none(self, status: Status, reason: str) -> Phases:
        return Phases.model_validate({**self._head(status), "gap": None, "reasons": (reason,)})

    def _compile(self) -> None:
        """Every phase made ready in the room of the last one."""
        tables, room = Tables(), survey(self.case, self.catalog).room
        for case in phase_cases(self.case):
            machines = dataclasses.replace(survey(case, self.catalog), room=room)
            prices = PhasePrices(case, self.catalog)
            self.compiled.append(compile_case(case, self.catalog, tables, machines, prices))
            self.prices.append(prices)

    # --- plans as people read them --------------------------------------------------------------------------------

    def _compared(
        self,
        plans: Mapping[FabricName, Planned],
        unplanned: Mapping[FabricName, Planned],
        ends: Mapping[FabricName, Built],
    ) -> tuple[PhasedPlan, ...]:
        """The plan, then what it is compared with."""
        count = range(self.timeline.phases)
        used = [[{f: x.built[q] for f, x in of.items()} for q in count] for of in (plans, unplanned)]
        at_once = [dict(ends) for _ in count]
        self.say("wiring and verifying")
        best = self._told(PLAN, used[0], sum(x.bound for x in plans.values()), None)
        return (
            best,
            self._told(AT_ONCE, at_once, None, best.cost_usd),
            self._told(UNPLANNED, used[1], sum(x.bound for x in unplanned.values()), best.cost_usd),
        )

    def _told(
        self, name: str, used: Sequence[Mapping[FabricName, Built]], bound: int | None, against_usd: float | None
    ) -> PhasedPlan:
        """A plan from what stands in every phase; ``bound`` is without adapters, cents; none where all is proven."""
        steps: list[PhaseStep] = []
        stock: dict[tuple[str, str], int] = {}
        before: Ledger | None = None
        total = adapters = 0
        for q, fabrics in enumerate(used):
            stands = self._stands(self.timeline.phases - 1 if name == AT_ONCE else q, fabrics)
            parts = {(f.value, part): n for f, x in fabrics.items() for part, n in x.parts.items()}
            nics = {("", part): n for part, n in self.compiled[q].fixed_parts.items()}
            bought = {key: max(0, n - stock.get(key, 0)) for key, n in (parts | nics).items()}
            stock = {key: stock.get(key, 0) + bought.get(key, 0) for key in stock.keys() | bought.keys()}
            cents = {key: self.timeline.cents(q, self.listed.cents(key[1]) or 0) for key in stock}
            spent = sum(cents[key] * n for key, n in bought.items())
            total, adapters = total + spent, adapters + sum(cents[key] * n for key, n in bought.items() if not key[0])
            ledger = stands.design.ledger
            assert ledger is not None
            moved = None if before is None else moved_cables(before, ledger)
            before = ledger
            if name == PLAN:
                self.designs.append(stands.design)
            assert self.case.phases is not None
            verified = stands.design.result.verify
            steps.append(
                PhaseStep(
                    when=self.case.phases[q].when,
                    gpus=self.compiled[q].machines.n_servers * int(self.compiled[q].machines.server.gpus.v),
                    asked_gpus=self._asked_gpus(q),
                    servers=self.compiled[q].machines.n_servers,
                    price_factor=round(float(self.timeline.factors[q]), 6),
                    cost_usd=spent / 100,
                    power_max_w=stands.power_max_w,
                    fabrics=stands.fabrics,
                    lines=self._lines(q, parts | nics, bought, stock, stands.design),
                    verified=verified is not None and verified.passed,
                    cables_before=0 if moved is None else moved.installed,
                    moved_cables=0 if moved is None else moved.at_most,
                    moved_cables_at_least=0 if moved is None else moved.at_least,
                )
            )
        return PhasedPlan(
            name=name,
            cost_usd=total / 100,
            bound_usd=total / 100 if bound is None else (bound + adapters) / 100,
            more_usd=0.0 if against_usd is None else round(total / 100 - against_usd, 2),
            moved_cables=sum(step.moved_cables for step in steps),
            steps=tuple(steps),
        )

    def _asked_gpus(self, q: int) -> int:
        """GPUs of a phase as the case gives them."""
        assert self.case.phases is not None
        machines = self.compiled[q].machines
        return self.case.phases[q].gpus or machines.n_servers * int(machines.server.gpus.v)

    def _lines(
        self,
        q: int,
        used: Mapping[tuple[str, str], int],
        bought: Mapping[tuple[str, str], int],
        stock: Mapping[tuple[str, str], int],
        design: Design,
    ) -> tuple[PhaseLine, ...]:
        """What is bought or idle, by part over all fabrics."""
        kinds = {line.part: line.kind for line in design.result.bom}
        found = []
        for part in sorted({part for _, part in stock}):
            there, n, uses = (sum(m for key, m in of.items() if key[1] == part) for of in (stock, bought, used))
            if n or there > uses:
                self.kinds.setdefault(part, kinds.get(part, ""))
                cents = self.timeline.cents(q, self.listed.cents(part) or 0)
                found.append(
                    PhaseLine(
                        part=part,
                        kind=self.kinds[part],
                        quantity=n,
                        in_use=uses,
                        idle=there - uses,
                        unit_price_usd=cents / 100,
                        extended_usd=n * cents / 100,
                    )
                )
        return tuple(sorted(found, key=lambda x: (KIND_ORDER.index(x.kind), x.part)))

    def _stands(self, q: int, fabrics: Mapping[FabricName, Built]) -> _Stands:
        """The whole network as it stands in a phase, wired and verified, at the prices of the first."""
        compiled = self.compiled[q]
        self.prices[q].charge(lambda _, cents: cents)
        for measure in compiled.measures.values():
            measure.forget_all()
        for fabric, built in fabrics.items():
            reweigh(compiled.measures[fabric], built.template)
        data = instance(compiled, {fabric: [built.template] for fabric, built in fabrics.items()})
        choice = Choice(
            {fabric: built.template for fabric, built in fabrics.items()},
            {Key(fabric, link): counts for fabric, built in fabrics.items() for link, counts in built.blocks.items()},
        )
        if broken(data, choice):
            raise _NoRoomError(
                f"the fabrics' best plans do not fit the room together ({', '.join(broken(data, choice))}): give it "
                "more places with site.network_racks_per_row and site.network_racks_central"
            )
        outcome = Outcome(Status.FEASIBLE, choice, choice.net(data).cost, None)
        design = designed(compiled, Found(outcome, data), self.engine, lambda _: None, time.perf_counter())
        summary = summarise(data, choice)
        return _Stands(design, summary.fabrics, summary.power_max_w)

    def _planner(self, fabric: FabricName) -> FabricPlanner:
        stages = [Stage(fabric, compiled, p) for compiled, p in zip(self.compiled, self.prices, strict=True)]
        return FabricPlanner(stages, self.timeline, self.listed, Engine(self.engine), self.clock)
