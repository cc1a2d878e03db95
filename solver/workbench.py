"""Many exact solves of one case and its neighbours, sharing everything that stays the same.

A study asks for the optimum at other prices, with other limits or for another cluster. What does not change is kept:
the interconnects of all cases that allow the same parts; and, where only prices change, the room, the wiring of every
template seen, and what each fabric's best was. No answer is an estimate: each is searched and certified like the first.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpunet.models.case import Case, FabricName, Objective
from gpunet.models.design import Status
from gpunet.models.parts import Catalog
from gpunet.models.study import DesignSummary, FabricSummary
from gpunet.solver.apart import solve_apart
from gpunet.solver.candidates import Compiled, Finder, compile_case, passes
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine, EngineError, Outcome, solve
from gpunet.solver.held import ceilings_of
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.interconnects import Tables
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.order import bought
from gpunet.solver.prices import Weight
from gpunet.solver.remembering import Remembering
from gpunet.solver.scope import Cutoff, Scope
from gpunet.solver.search import Found, search
from gpunet.solver.template import Template
from gpunet.solver.templates import enumerate_templates

FEW = 100
"""Templates of a scope that are looked at first where any design under the ceilings will do."""


@dataclass(frozen=True)
class Answer:
    """One solved question. Without a design only ``status`` and ``reason`` say anything."""

    status: Status
    case: Case
    weight: Weight | None = None
    """Cents, milliwatts and cents of the design, owned stock taken off; none without a design."""
    parts: Mapping[str, int] | None = None
    """Pieces of every part."""
    bought: Mapping[str, int] | None = None
    """Pieces that must be bought."""
    at_list: Mapping[str, int] | None = None
    """Pieces among them that are paid at the unit price of the part, no price step reached."""
    paid_cents: Mapping[str, int] | None = None
    """What the pieces of each part cost to buy, from whomever and at whichever price step."""
    data: Instance | None = None
    choice: Choice | None = None
    reason: str = ""
    """Why the room or the machines cannot be had at all, where that is why there is no design."""

    @property
    def is_optimal(self) -> bool:
        """Whether there is a design, proven the best."""
        return self.status is Status.OPTIMAL

    @property
    def value(self) -> int:
        """What the first objective sums to, cents or milliwatts. Raises ValueError without a design."""
        if self.weight is None:
            raise ValueError(f"no design: {self.status.value}")
        return self.weight.of(self.case.objectives[0])

    @property
    def templates(self) -> dict[FabricName, Template]:
        """The template of each fabric; empty without a design."""
        return {} if self.choice is None else self.choice.templates

    def summary(self) -> DesignSummary | None:
        """The design in figures; none without one."""
        if self.weight is None or self.choice is None:
            return None
        assert self.data is not None
        return _summary(self.weight, self.data, self.choice)


class Workbench:
    """Solves one case again and again. Every answer is proven, and the same as a fresh ``optimize`` would give."""

    def __init__(self, case: Case, catalog: Catalog, engine: str = "highs") -> None:
        self.case, self.catalog, self.engine = case, catalog, Engine(engine)
        self._asked: set[object] = set()
        self._asked_before = 0
        self._tables = Tables()
        self._compiled: Compiled | str | None = None
        self._answers: dict[object, Answer] = {}
        self._exists: dict[str, bool] = {}
        self.finder: Finder = Finder()

    @property
    def solves(self) -> int:
        """Different questions asked so far, task by task: the same however tasks are dealt to processes."""
        return self._asked_before + len(self._asked)

    def begin_task(self) -> None:
        """Count the questions of what follows apart from those before."""
        self._asked_before += len(self._asked)
        self._asked = set()

    def head(self, study: str, status: Status) -> dict[str, Any]:
        """The fields that every study carries."""
        return {
            "study": study,
            "case": self.case.name,
            "objective": ",".join(o.value for o in self.case.objectives),
            "status": status,
            "engine": self.engine.value,
            "solves": self.solves,
            "catalog_version": self.catalog.version,
            "gpunet_version": importlib.metadata.version("gpunet"),
        }

    def at(self, prices: Mapping[str, int] | None = None) -> Answer:
        """The optimum of the case, with other unit prices, cents, for some parts.

        Raises EngineError when a solver fails.
        """
        key = tuple(sorted((prices or {}).items()))
        self._asked.add(key)
        if key not in self._answers:
            compiled = self.compiled
            if isinstance(compiled, str):
                self._answers[key] = Answer(Status.INFEASIBLE, self.case, reason=compiled)
            else:
                compiled.suppose(prices or {})
                self._answers[key] = self._solve(compiled, self.finder)
        return self._answers[key]

    def of(self, case: Case, keep: bool = True) -> Answer:
        """The optimum of another case against the same catalogue. Raises EngineError when a solver fails.

        ``keep=False`` for one of thousands of questions that nobody asks again: its answer is not held in memory.
        """
        key = case.model_dump_json()
        self._asked.add(key)
        if key in self._answers:
            return self._answers[key]
        compiled = self.ready(case)
        if isinstance(compiled, str):
            found = Answer(Status.INFEASIBLE, case, reason=compiled)
        else:
            found = self._solve(compiled, Finder())
        if keep:
            self._answers[key] = found
        return found

    def has_design(self, case: Case) -> bool:
        """Whether another case has any design at all, good or bad: quicker to say than which is best.

        Raises EngineError when a solver fails.
        """
        case = _aimed_at_a_ceiling(case)
        key = case.model_dump_json()
        if key in self._answers:
            self._asked.add(key)
            return self._answers[key].is_optimal
        if key not in self._exists:
            self._asked.add(key)
            self._exists[key] = self._has_design(case)
        return self._exists[key]

    def _has_design(self, case: Case) -> bool:
        try:
            compiled = compile_case(case, self.catalog, self._tables)
        except (SiteTooSmallError, NoPortsError):
            return False
        ceilings = ceilings_of(compiled)
        for few in (FEW if ceilings else 1, None):
            finder = _Enough(ceilings, few)
            choice = search(compiled, self.engine, finder=finder, solver=_solve).outcome.choice
            if choice is not None or not finder.left_out:
                break
        return choice is not None

    def ready(self, case: Case) -> Compiled | str:
        """Another case made ready to be searched, or why its room or machines cannot be had; counts as a question."""
        self._asked.add(case.model_dump_json())
        try:
            return compile_case(case, self.catalog, self._tables)
        except (SiteTooSmallError, NoPortsError) as error:
            return f"{error.setting}: {error}"

    @property
    def compiled(self) -> Compiled | str:
        """The case made ready at the prices last asked for, or why its room or machines cannot be had."""
        if self._compiled is None:
            try:
                self._compiled = compile_case(self.case, self.catalog, self._tables)
                self.finder = Remembering(self._compiled)
            except (SiteTooSmallError, NoPortsError) as error:
                self._compiled = f"{error.setting}: {error}"
        return self._compiled

    def _solve(self, compiled: Compiled, finder: Finder) -> Answer:
        found = search(compiled, self.engine, finder=finder, solver=_solve)
        status = found.outcome.status
        if found.outcome.choice is None or found.data is None:
            return Answer(status, compiled.case)
        if status is not Status.OPTIMAL:
            raise EngineError(f"{self.engine.value} ended with {status.value} without a time limit")
        return _answer(compiled.case, found)


def _solve(data: Instance, engine: Engine, limit_s: float | None) -> Outcome:
    """Without an engine where nothing couples the fabrics, else with it."""
    return (solve_apart(data) if engine is Engine.HIGHS else None) or solve(data, engine, limit_s)


def _answer(case: Case, found: Found) -> Answer:
    data, choice = found.data, found.outcome.choice
    assert data is not None
    assert choice is not None
    parts = choice.parts(data)
    return Answer(
        found.outcome.status, case, choice.net(data), parts, *bought(data.prices, parts, data.buying), data, choice
    )


def summarise(data: Instance, choice: Choice) -> DesignSummary:
    """A choice in figures, at the prices of its instance."""
    return _summary(choice.net(data), data, choice)


def _summary(weight: Weight, data: Instance, choice: Choice) -> DesignSummary:
    parts = choice.parts(data)
    return DesignSummary(
        cost_usd=weight.cost / 100,
        power_max_w=weight.power / 1000,
        tco_usd=weight.tco / 100,
        fabrics={f.value: _fabric(choice.templates[f]) for f in FabricName if f in choice.templates},
        parts=dict(sorted(parts.items())),
        bought=dict(sorted(bought(data.prices, parts, data.buying).pieces.items())),
    )


def _fabric(t: Template) -> FabricSummary:
    switches: dict[str, int] = {}
    for wing in t.wings or (t,):
        name = f"leaf {wing.leaf.id}"
        switches[name] = switches.get(name, 0) + wing.n_leaves
    for tier, upper, count in (("spine", t.spine, t.n_spines), ("core", t.core, t.n_cores)):
        if upper is not None:
            switches[f"{tier} {upper.switch.id}"] = count
    return FabricSummary(
        protocol=t.protocol.value,
        topology=t.topology.value,
        tiers=t.tiers,
        switches=switches,
        hops=t.facts.hops,
        latency_ns=t.facts.latency_ns,
        carries_storage=t.carries_storage,
    )


def _aimed_at_a_ceiling(case: Case) -> Case:
    """The case with one objective, one that a ceiling is on if there is any: that shows soonest whether it holds."""
    if case.limits.cost_usd is not None:
        return case.model_copy(update={"objective": Objective.COST})
    if case.limits.power_kw is not None or case.site.power_kw is not None:
        return case.model_copy(update={"objective": Objective.POWER})
    return case.model_copy(update={"objective": case.objectives[0]})


class _Enough(Finder):
    """Looks at templates that keep the ceilings by themselves, and at the first few of a scope: any design will do."""

    def __init__(self, ceilings: Mapping[Objective, int], few: int | None) -> None:
        self._ceilings, self._few = ceilings, few
        self.left_out = False
        """Whether there may be more templates that keep the ceilings."""

    def near(self, scopes: list[Scope], objective: Objective, slack: int) -> list[Template]:
        cutoff = Cutoff()
        cutoff.most.update(self._ceilings)
        found = []
        for scope in scopes:
            for t in self._first(scope, cutoff, objective):
                found.append(t)
                cutoff.most[objective] = min(cutoff.most[objective], t.facts.least[objective] + slack)
        return [t for t in found if passes(t, cutoff)]

    def within(self, scopes: list[Scope], cutoff: Cutoff, first: Objective) -> list[Template]:
        return [t for scope in scopes for t in self._first(scope, cutoff, first) if passes(t, cutoff)]

    def _first(self, scope: Scope, cutoff: Cutoff, objective: Objective) -> Iterator[Template]:
        for i, t in enumerate(enumerate_templates(scope, cutoff, objective), start=1):
            yield t
            if i == self._few:
                self.left_out = True
                return
