"""Finds the certified optimum: hold enough templates, solve, and prove that none left out could be better."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.candidates import Compiled, Finder, Span, access_ports, best_of, instance, oob_scopes
from gpunet.solver.engines import Clock, Engine, Outcome, solve
from gpunet.solver.held import Group, Kept, by_fabric, ceilings_of, every_within, groups, held_within, with_oob
from gpunet.solver.instance import Instance
from gpunet.solver.racks_bound import racks_floor
from gpunet.solver.scope import Cutoff, Scope
from gpunet.solver.template import Template

WIDER = (1.01, 1.03, 1.1, 1.3, 2.0, 5.0, math.inf)
"""How far beyond its best a group's templates are tried while no feasible design is known."""

Progress = Callable[[str], None]
Solver = Callable[[Instance, Engine, float | None], Outcome]


@dataclass
class Found:
    """A solved instance. ``data`` is none when a fabric has no template at all."""

    outcome: Outcome
    data: Instance | None
    empty: tuple[FabricName, ...] = ()
    """Fabrics without any template."""


INFEASIBLE = Outcome(Status.INFEASIBLE, None, None, None)


@dataclass
class Floors:
    """The least that each group weighs by itself, on one objective. A group without templates is missing."""

    least: dict[Group, int]
    storage_optional: bool
    racks: int = 0
    """The least that the network racks of any design weigh."""

    def others(self, group: Group) -> int:
        """The least that everything else weighs in a design that has a template of ``group``."""
        storage = self.least.get((FabricName.STORAGE, False), 0)
        plain = self.least.get((FabricName.BACKEND, False), 0)
        both = (FabricName.BACKEND, FabricName.STORAGE)
        rest = self.racks + sum(w for g, w in self.least.items() if g[0] not in (group[0], *both))
        if group[0] is FabricName.STORAGE:
            return rest + plain
        if group[0] is FabricName.BACKEND:
            return rest + (0 if group[1] else storage)
        return rest + self._backend_and_storage()

    def total(self) -> int:
        """The least that any design weighs."""
        both = (FabricName.BACKEND, FabricName.STORAGE)
        rest = self.racks + sum(w for g, w in self.least.items() if g[0] not in both)
        return rest + self._backend_and_storage()

    def _backend_and_storage(self) -> int:
        storage = self.least.get((FabricName.STORAGE, False), 0)
        ways = [w + (0 if g[1] else storage) for g, w in self.least.items() if g[0] is FabricName.BACKEND]
        return min(ways) if ways else storage


def search(
    compiled: Compiled,
    engine: Engine = Engine.HIGHS,
    limit_s: float | None = None,
    tell: Progress | None = None,
    finder: Finder | None = None,
    solver: Solver | None = None,
) -> Found:
    """Solve a compiled case to proven optimality, or to the best design within the time limit.

    A ``finder`` that remembers makes a second search of the same case quicker; ``solver`` solves the instances.
    """
    finder, solver = finder or Finder(), solver or solve
    clock = Clock(limit_s)
    say = tell or (lambda _: None)
    first = compiled.case.objectives[0]
    for scopes in compiled.scopes.values():
        for scope in scopes:
            scope.deadline_s = clock.end_s
    ceilings = ceilings_of(compiled)
    floors: dict[Objective, Floors] = {}
    seeds: dict[Group, dict[tuple[object, ...], Template]] = {}
    kept: dict[Group, Kept] = {}
    for objective in dict.fromkeys([first, *ceilings]):
        best: dict[Group, list[Template]] = {}
        for group, scopes in groups(compiled).items():
            say(f"templates of {group[0].value}")
            slack = _step(compiled, first) if objective is first else 0
            near = finder.near(scopes, objective, slack)
            least_here = min((t.facts.least[objective] for t in near), default=0)
            best[group] = [t for t in near if t.facts.least[objective] == least_here]
            if objective is first:
                kept[group] = Kept(near, least_here + slack)
            seeds.setdefault(group, {}).update((t.rank(), t) for t in best[group])
        empty = _empty(compiled, best)
        if empty and any(_cut_short(compiled, g) for g in best):
            # The time went before anything was found; that says nothing about what there is.
            return Found(Outcome(Status.NO_SOLUTION, None, None, None), None)
        if empty:
            return Found(INFEASIBLE, None, empty)
        # Of a group cut short the best is not known; it weighs no less than nothing.
        least = {
            g: 0 if _cut_short(compiled, g) else min(t.facts.least[objective] for t in ts)
            for g, ts in best.items()
            if ts
        }
        if FabricName.OOB in compiled.scopes:
            oob_floor = _oob_floor(compiled, objective, finder)
            if oob_floor is None:
                return Found(INFEASIBLE, None, (FabricName.OOB,))
            least[FabricName.OOB, False] = oob_floor
        floors[objective] = Floors(least, compiled.storage_optional, racks_floor(compiled, objective))
    for group, scopes in groups(compiled).items():
        for t in _of_one_vendor(compiled, scopes, first):
            seeds[group].setdefault(t.rank(), t)
    if any(floors[o].total() > ceiling for o, ceiling in ceilings.items()):
        return Found(INFEASIBLE, None)
    say("solving")
    held = with_oob(
        compiled, by_fabric(compiled, {g: list(ts.values()) for g, ts in seeds.items()}), first, None, finder
    )
    data = instance(compiled, held)
    outcome = solver(data, engine, clock.left())
    for factor in WIDER:
        if outcome.status is not Status.INFEASIBLE:
            break
        say("looking beyond each fabric's best")
        # A fabric of owned parts alone may weigh nothing, and a share of nothing is nothing.
        most = {g: factor * w if w else math.inf for g, w in floors[first].least.items()}
        cutoffs = {g: _cutoff(g, first, floors, ceilings, most[g]) for g in most}
        data = instance(compiled, held_within(compiled, cutoffs, first, kept, finder))
        outcome = solver(data, engine, clock.left())
    late = any(_cut_short(compiled, g) for g in groups(compiled))
    if outcome.value is None or outcome.status is not Status.OPTIMAL or late:
        if late and outcome.status is Status.INFEASIBLE:
            outcome = Outcome(Status.NO_SOLUTION, None, None, None)
        return Found(_unproven(outcome, _floor(compiled, floors[first])), data)
    return _certify(compiled, engine, clock, Found(outcome, data), floors, ceilings, kept, finder, solver, say)


def _cut_short(compiled: Compiled, group: Group) -> bool:
    """True when the time limit ended an enumeration of the group."""
    return any(scope.cut_short for scope in groups(compiled).get(group, []))


def _of_one_vendor(compiled: Compiled, scopes: list[Scope], first: Objective) -> list[Template]:
    """Where vendors or parts are limited: the best template of every vendor's switches, as a start."""
    limits = compiled.case.limits
    if limits.vendors is None and limits.skus is None:
        return []
    vendors = sorted({s.vendor for scope in scopes for s in scope.switches})
    found = []
    for vendor in vendors:
        own = [
            dataclasses.replace(scope, switches=[s for s in scope.switches if s.vendor == vendor]) for scope in scopes
        ]
        found += best_of([scope for scope in own if scope.switches], first)
    return found


def _empty(compiled: Compiled, best: dict[Group, list[Template]]) -> tuple[FabricName, ...]:
    """Fabrics that have no template, storage excepted where a backend can carry it."""
    has = {fabric for (fabric, _), ts in best.items() if ts}
    carried = bool(best.get((FabricName.BACKEND, True)))
    return tuple(
        fabric
        for fabric in compiled.scopes
        if fabric is not FabricName.OOB
        and fabric not in has
        and not (fabric is FabricName.STORAGE and compiled.storage_optional and carried)
    )


def _step(compiled: Compiled, objective: Objective) -> int:
    """How much dearer a template may be and still pay by bringing fewer switches to manage: three management leaves.

    Only a guess that saves a second enumeration: the proof never relies on it.
    """
    if FabricName.OOB not in compiled.scopes:
        return 0
    measure = compiled.measures[FabricName.OOB]
    oob = [s for s in compiled.eligible[FabricName.OOB].switches if access_ports(s)]
    return 3 * min((measure.switch_weight(s).of(objective) for s in oob), default=0)


def _oob_floor(compiled: Compiled, objective: Objective, finder: Finder) -> int | None:
    """The least that the out-of-band fabric weighs in any design, or none where it cannot be built.

    Asked with no switch to manage, for every switch only adds to it; the switches of the best templates are no
    measure, for a dearer template may bring fewer.
    """
    none = Span((0, 0), (0, 0))
    found = [t for scope in oob_scopes(compiled, none) for t in finder.near([scope], objective, 0)]
    return min((t.facts.least[objective] for t in found), default=None)


def _cutoff(
    group: Group, first: Objective, floors: dict[Objective, Floors], ceilings: dict[Objective, int], most: float
) -> Cutoff:
    """The most a template may weigh: ``most`` on the first objective, and what each ceiling leaves it."""
    cutoff = Cutoff()
    cutoff.most[first] = most
    for objective, ceiling in ceilings.items():
        left = ceiling - floors[objective].others(group)
        cutoff.most[objective] = min(cutoff.most[objective], left)
    return cutoff


def _certify(
    compiled: Compiled,
    engine: Engine,
    clock: Clock,
    found: Found,
    floors: dict[Objective, Floors],
    ceilings: dict[Objective, int],
    kept: dict[Group, Kept],
    finder: Finder,
    solver: Solver,
    say: Progress,
) -> Found:
    """Add every template that could still be in a better or equal design, and solve again if there is any.

    With a design of worth U known, a template is out when it weighs more than U less the least that everything
    else in its design weighs. A small step first: a better U leaves fewer to add.
    """
    assert found.data is not None
    first = compiled.case.objectives[0]
    say("proving that nothing left out is better")
    for share in (0.1, 1.0):
        assert found.outcome.value is not None
        worth = found.outcome.value - compiled.fixed.of(first)
        slack = worth - floors[first].total()
        if share < 1 and not slack:
            continue
        cutoffs = {
            g: _cutoff(g, first, floors, ceilings, least + slack * share)
            for g, least in ((g, worth - slack - floors[first].others(g)) for g in floors[first].least)
        }
        held = held_within(compiled, cutoffs, first, kept, finder)
        if any(_cut_short(compiled, g) for g in floors[first].least):
            return Found(_unproven(found.outcome, _floor(compiled, floors[first])), found.data)
        known = {(f, t.rank()) for f, ts in found.data.templates.items() for t in ts}
        if all((f, t.rank()) in known for f, ts in held.items() for t in ts):
            continue
        data = instance(compiled, held)
        outcome = solver(data, engine, clock.left())
        if outcome.value is None and outcome.status is Status.INFEASIBLE and share < 1:
            continue
        better = outcome.value is not None and outcome.value <= found.outcome.value
        if better or (share == 1 and outcome.status is Status.OPTIMAL):
            found = Found(outcome, data)
        if outcome.status is not Status.OPTIMAL:
            # The time limit struck: the better design in hand stands. Only the last step's bound speaks for all.
            floor = _floor(compiled, floors[first])
            bound = floor if share < 1 or outcome.bound is None else max(floor, outcome.bound)
            return Found(_unproven(found.outcome, bound), found.data)
    return found


def _floor(compiled: Compiled, floors: Floors) -> float:
    """The least that any design weighs, adapters included, whatever has been held so far."""
    return floors.total() + compiled.fixed.of(compiled.case.objectives[0])


def _unproven(outcome: Outcome, bound: float) -> Outcome:
    """An outcome that the time limit cut short. An engine's bound holds for what it was given; ``bound`` for all."""
    if outcome.status is Status.INFEASIBLE:
        return outcome
    if outcome.value is None:
        return dataclasses.replace(outcome, bound=bound)
    return dataclasses.replace(outcome, status=Status.FEASIBLE, bound=bound)


def all_within(compiled: Compiled, worth: int, finder: Finder, thinned: bool = True) -> Instance:
    """An instance with every template that a design of at most ``worth`` on the first objective can have.

    ``worth`` counts adapters too, cents or milliwatts. The case must have a design. ``thinned=False`` also keeps, where
    parts are limited, templates that another of the same switch models beats in every count.
    """
    first = compiled.case.objectives[0]
    ceilings = ceilings_of(compiled)
    floors: dict[Objective, Floors] = {}
    for objective in dict.fromkeys([first, *ceilings]):
        least = {
            group: min(t.facts.least[objective] for t in near)
            for group, scopes in groups(compiled).items()
            if (near := finder.near(scopes, objective, 0))
        }
        if FabricName.OOB in compiled.scopes:
            least[FabricName.OOB, False] = _oob_floor(compiled, objective, finder) or 0
        floors[objective] = Floors(least, compiled.storage_optional, racks_floor(compiled, objective))
    left = worth - compiled.fixed.of(first)
    cutoffs = {
        group: _cutoff(group, first, floors, ceilings, left - floors[first].others(group))
        for group in floors[first].least
    }
    nothing = {group: Kept([], -1) for group in groups(compiled)}
    return instance(compiled, every_within(compiled, cutoffs, first, nothing, finder, thinned, None))
