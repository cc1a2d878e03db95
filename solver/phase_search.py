"""The cheapest plan of one fabric over all phases, proven: which templates can be in it, and the program over them.

A piece that later phases can use costs an earlier phase only what it costs to have it sooner; one that they cannot use
costs its whole price. So once it is settled which switches the later phases have, the parts they may be made of bound
what the earlier ones cost, tightly. Later phases are gone through by their switch models, the least costly first, and
each is left out as soon as its own least and the least of the earlier phases beside it exceed the best plan known.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.candidates import Compiled, best_of, within
from gpunet.solver.dominance import undominated
from gpunet.solver.engines import Clock, Engine
from gpunet.solver.links import Way
from gpunet.solver.phase_prices import Charge, PhasePrices, Timeline
from gpunet.solver.phase_program import Built, Step, built_of, cost_of, parts_of, solve_plan
from gpunet.solver.prices import PriceList
from gpunet.solver.scope import Cutoff, Scope
from gpunet.solver.search import WIDER
from gpunet.solver.space import fit_room
from gpunet.solver.template import LinkClass, Template

COST = Objective.COST
EVERYTHING = 10**15
"""More cents than any network costs."""


class Models(NamedTuple):
    """Templates of one phase with the same switch models."""

    templates: list[Template]
    least: int
    """No template of them costs less in this phase by itself, cents."""
    parts: frozenset[str]
    """What they may be made of."""


class Planned(NamedTuple):
    """The plan of one fabric."""

    built: tuple[Built, ...]
    """One per phase; none where no plan was found."""
    cents: int
    bound: int
    """No plan costs less, cents."""

    @property
    def is_proven(self) -> bool:
        """Whether no plan is cheaper."""
        return bool(self.built) and self.bound >= self.cents


@dataclass
class Stage:
    """One fabric in one phase. Pieces count at their price in the first phase until they are charged otherwise."""

    fabric: FabricName
    compiled: Compiled
    prices: PhasePrices
    was_cut_short: bool = False
    """Whether the time limit ended an enumeration."""

    @property
    def scopes(self) -> list[Scope]:
        """Where the templates of the fabric come from."""
        return self.compiled.scopes[self.fabric]

    def charge(self, how: Charge) -> None:
        """Count pieces otherwise from now on."""
        self.prices.charge(how)
        self.compiled.measures[self.fabric].forget_all()
        for scope in self.scopes:
            scope.forget_prices()

    def least(self) -> int:
        """No template costs less as pieces are charged now, cents."""
        found = self._near(0)
        return 0 if self.was_cut_short else min((t.facts.least[COST] for t in found), default=0)

    def _near(self, slack: int) -> list[Template]:
        found = best_of(self.scopes, COST, slack)
        self.was_cut_short |= any(scope.cut_short for scope in self.scopes)
        return found

    def best(self) -> Template | None:
        """The template that costs least as pieces are charged now, of those that fit the room; none where none does."""
        near = self._near(0)
        least = min((t.facts.least[COST] for t in near), default=0)
        for factor in WIDER:
            found = self.fitting(near)
            if found:
                return min(found, key=lambda t: (t.facts.least[COST], t.rank()))
            near = self._near(EVERYTHING if math.isinf(factor) else int(least * (factor - 1)))
        return None

    def within(self, most: float, leaves: frozenset[str] | None = None) -> list[Template]:
        """Every template that fits the room and costs at most so much; where given, with leaves of these models."""
        cutoff = Cutoff()
        cutoff.most[COST] = most
        scopes = self.scopes
        if leaves is not None:
            scopes = [dataclasses.replace(scope, leaf_models=leaves) for scope in scopes]
        found = [t for scope in scopes for t in within(scope, cutoff, COST)]
        self.was_cut_short |= any(scope.cut_short for scope in scopes)
        return self.fitting(found)

    def fitting(self, templates: Iterable[Template]) -> list[Template]:
        """Those that fit the room by themselves."""
        return [t for t in templates if fit_room(self.compiled.machines.room, [[t]])]

    def ways(self, link: LinkClass) -> tuple[Way, ...]:
        """Every way to build a block of a class."""
        return self.compiled.measures[self.fabric].book.ways(link.pair, link.step_m, link.shape)

    def models(self, templates: Iterable[Template]) -> list[Models]:
        """Templates by their switch models, the least costly first."""
        groups: dict[tuple[str, ...], list[Template]] = {}
        for t in templates:
            groups.setdefault(tuple(sorted(t.switches)), []).append(t)
        found = []
        for switches, ts in groups.items():
            media = {
                part
                for link in {x for t in ts for x in t.facts.blocks}
                for way in self.ways(link)
                for part, _ in way.parts
            }
            found.append((min(t.facts.least[COST] for t in ts), switches, ts, frozenset({*switches, *media})))
        return [Models(ts, least, parts) for least, _, ts, parts in sorted(found, key=lambda x: x[:2])]

    def built(self, t: Template) -> Built:
        """A template with every link built the way that costs least as pieces are charged now."""
        blocks = {}
        for link, n in t.facts.blocks.items():
            ways = self.ways(link)
            best = min(range(len(ways)), key=lambda i: (ways[i].weight.cost, i))
            blocks[link] = [n if i == best else 0 for i in range(len(ways))]
        return built_of(Step([t], {link: self.ways(link) for link in t.facts.blocks}, {}), t, blocks)


class FabricPlanner:
    """Plans one fabric."""

    def __init__(
        self, stages: Sequence[Stage], timeline: Timeline, listed: PriceList, engine: Engine, clock: Clock
    ) -> None:
        self.stages, self.timeline, self.listed = stages, timeline, listed
        self.engine, self.clock = engine, clock
        self.last = len(stages) - 1
        self.solves = 0
        """Programs solved."""
        self.best: Planned | None = None
        self.unfinished: float = math.inf
        """The least that a plan may cost among those that time left no room to look at, cents."""
        self.floors: list[int] = []
        for stage in stages:
            for scope in stage.scopes:
                scope.deadline_s = clock.end_s

    def plan(self, known: tuple[Built, ...]) -> Planned | None:
        """The cheapest plan, no dearer than one that is known; none where some phase has no design that fits."""
        first = self._one_after_the_other()
        if first is None:
            return None
        plans = [Planned(built, self._cost(built, 0, {}), 0) for built in (first, known)]
        self.best = min(plans, key=lambda x: x.cents)
        self.floors = [self.floor(q) for q in range(self.last + 1)]
        self.unfinished = math.inf
        self.descend(self.last, ())
        bound = min(self.best.cents, self.unfinished)
        return self.best._replace(bound=math.ceil(bound - 1e-3))

    def unplanned(self) -> Planned | None:
        """Every phase by itself, the cheapest with what the former ones have bought; none where one has no design."""
        found: list[Built] = []
        stock: dict[str, int] = {}
        total = bound = 0
        for q in range(self.last + 1):
            step = self._next(q, stock)
            if step is None:
                return None
            found += step.built
            total, bound = total + step.cents, bound + step.bound
            used = step.built[0].parts
            stock = {part: max(stock.get(part, 0), used.get(part, 0)) for part in stock.keys() | used.keys()}
        return Planned(tuple(found), total, bound)

    def end_state(self) -> Built | None:
        """The cheapest design of the last phase, all of it bought in the first; none where there is none."""
        stage = self.stages[-1]
        stage.charge(lambda _, cents: cents)
        t = stage.best()
        return None if t is None else stage.built(t)

    # --- the plan -------------------------------------------------------------------------------------------------

    def _one_after_the_other(self) -> tuple[Built, ...] | None:
        """A good plan: the last phase at its best, and every one before at its best given what comes after."""
        found: list[Built] = []
        sooner: dict[str, int] = {}
        for q in range(self.last, -1, -1):
            self._charge(q, sooner)
            t = self.stages[q].best()
            if t is None:
                return None
            found.insert(0, self.stages[q].built(t))
            sooner |= dict.fromkeys(found[0].parts, q)
        return tuple(found)

    def _charge(self, q: int, needed: Mapping[str, int]) -> None:
        """Charge pieces until the next phase that can use them, all of their price where none can."""
        self.stages[q].charge(lambda part, cents: self.timeline.held(q, needed.get(part), cents))

    def floor(self, q: int) -> int:
        """No plan spends less on having what a phase needs from then until the next, cents."""
        if self.timeline.is_flat(q):
            return 0
        self.stages[q].charge(lambda _, cents: self.timeline.held(q, None if q == self.last else q + 1, cents))
        return self.stages[q].least()

    def descend(self, q: int, later: tuple[Models, ...]) -> None:
        """Look at everything that phase ``q`` and those before it may be beside these of the later phases."""
        assert self.best is not None
        needed = {part: q + 1 + i for i, x in reversed(list(enumerate(later))) for part in x.parts}
        self._charge(q, needed)
        stage, beside = self.stages[q], sum(x.least for x in later)
        before = sum(self.floors[:q])
        found = self.held(stage, self.best.cents - beside - before, later)
        if stage.was_cut_short:
            self.unfinished = min(self.unfinished, beside + before + self.floors[q])
            return
        if q == 0:
            if found:
                self.solve((Models(found, min(t.facts.least[COST] for t in found), frozenset()), *later))
            return
        for models in stage.models(found):
            if self.is_hopeless(models.least + beside + before):
                return
            self.descend(q - 1, (models, *later))

    def held(self, stage: Stage, most: float, later: tuple[Models, ...]) -> list[Template]:
        """The templates of a phase that need be looked at beside these of the later ones."""
        del later
        return undominated(stage.within(most))

    def is_hopeless(self, least: int) -> bool:
        """Whether a plan that costs so much at least is none to look for."""
        assert self.best is not None
        return least >= self.best.cents

    def solve(self, chosen: tuple[Models, ...]) -> None:
        """Look for the best plan among these templates of all phases."""
        assert self.best is not None
        least = sum(x.least for x in chosen)
        if self.is_hopeless(least):
            return
        steps = self.steps(0, [x.templates for x in chosen], {})
        found = solve_plan(steps, {}, self.engine, self.clock)
        self.solves += 1
        if found.built:
            cents = cost_of(steps, tuple(x.parts for x in found.built), {})
            if cents < self.best.cents:
                self.best = Planned(found.built, cents, 0)
        if found.status is not Status.OPTIMAL:
            self.unfinished = min(self.unfinished, max(least, found.bound or 0))

    def steps(self, first: int, templates: Sequence[list[Template]], stock: Mapping[str, int]) -> tuple[Step, ...]:
        """The steps of a program from phase ``first`` on."""
        bare = []
        for q, ts in enumerate(templates, start=first):
            links = {link: self.stages[q].ways(link) for t in ts for link in t.facts.blocks}
            bare.append(Step(sorted(ts, key=lambda t: t.rank()), links, {}))
        parts = set(stock).union(*(parts_of(step) for step in bare))
        prices = {part: self.listed.cents(part) or 0 for part in sorted(parts)}
        end = first + len(bare) - 1
        return tuple(
            step._replace(
                held_cents={
                    part: self.timeline.held(q, None if q == end else q + 1, cents) for part, cents in prices.items()
                }
            )
            for q, step in enumerate(bare, start=first)
        )

    def _cost(self, built: tuple[Built, ...], first: int, stock: Mapping[str, int]) -> int:
        """What these designs cost from phase ``first`` on beyond a stock that is paid for, cents."""
        steps = self.steps(first, [[x.template] for x in built], stock)
        return cost_of(steps, tuple(x.parts for x in built), stock)

    # --- without a plan -------------------------------------------------------------------------------------------

    def _next(self, q: int, stock: Mapping[str, int]) -> Planned | None:
        """The cheapest design of one phase with a stock in the house."""
        stage, prices = self.stages[q], {part: self.listed.cents(part) or 0 for part in stock}
        stage.charge(lambda _, cents: self.timeline.cents(q, cents))
        t = stage.best()
        if t is None:
            return None
        best = Planned((stage.built(t),), 0, 0)
        best = best._replace(cents=self._cost(best.built, q, stock))

        def saved(parts: Iterable[str]) -> int:
            return sum(self.timeline.cents(q, prices[part]) * stock.get(part, 0) for part in parts if part in stock)

        found = undominated(stage.within(best.cents + saved(stock)))
        unfinished = 0.0 if stage.was_cut_short else math.inf
        order = sorted(stage.models(found), key=lambda x: x.least - saved(x.parts))
        for models in order:
            if models.least - saved(models.parts) >= best.cents:
                break
            steps = self.steps(q, [models.templates], stock)
            solved = solve_plan(steps, stock, self.engine, self.clock)
            self.solves += 1
            if solved.built:
                cents = cost_of(steps, (solved.built[0].parts,), stock)
                if cents < best.cents:
                    best = Planned(solved.built, cents, 0)
            if solved.status is not Status.OPTIMAL:
                unfinished = min(unfinished, max(models.least - saved(models.parts), solved.bound or 0))
        return best._replace(bound=math.ceil(min(best.cents, unfinished) - 1e-3))
