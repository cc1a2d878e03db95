"""Finds the certified optimum: hold enough templates, solve, and prove that none left out could be better."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.candidates import (
    Compiled,
    Finder,
    Held,
    Span,
    access_ports,
    best_of,
    instance,
    oob_scopes,
    passes,
    span_of,
    undominated,
)
from gpunet.solver.engines import Clock, Engine, Outcome, solve
from gpunet.solver.instance import Instance
from gpunet.solver.purchase_bound import most_weight, not_outweighed, pieces_in_all
from gpunet.solver.template import Facts, Template
from gpunet.solver.templates import OBJECTIVES, Cutoff, Scope, StandIn

WIDER = (1.01, 1.03, 1.1, 1.3, 2.0, 5.0, math.inf)
"""How far beyond its best a group's templates are tried while no feasible design is known."""

FIRST_PIECES = 10_000
"""Pieces of one part in the largest design, as first guessed."""

Progress = Callable[[str], None]
Solver = Callable[[Instance, Engine, float | None], Outcome]
Group = tuple[FabricName, bool]
"""A fabric, and whether its switches carry storage beside it: a choice has at most one template of each group."""


@dataclass
class Found:
    """A solved instance. ``data`` is none when a fabric has no template at all."""

    outcome: Outcome
    data: Instance | None
    empty: tuple[FabricName, ...] = ()
    """Fabrics without any template."""


@dataclass(frozen=True)
class Kept:
    """Every template of a group that weighs at most ``limit`` on the first objective."""

    templates: list[Template]
    limit: int


INFEASIBLE = Outcome(Status.INFEASIBLE, None, None, None)


@dataclass
class Floors:
    """The least that each group weighs by itself, on one objective. A group without templates is missing."""

    least: dict[Group, int]
    storage_optional: bool

    def others(self, group: Group) -> int:
        """The least that everything else weighs in a design that has a template of ``group``."""
        storage = self.least.get((FabricName.STORAGE, False), 0)
        plain = self.least.get((FabricName.BACKEND, False), 0)
        both = (FabricName.BACKEND, FabricName.STORAGE)
        rest = sum(w for g, w in self.least.items() if g[0] not in (group[0], *both))
        if group[0] is FabricName.STORAGE:
            return rest + plain
        if group[0] is FabricName.BACKEND:
            return rest + (0 if group[1] else storage)
        return rest + self._backend_and_storage()

    def total(self) -> int:
        """The least that any design weighs."""
        both = (FabricName.BACKEND, FabricName.STORAGE)
        return sum(w for g, w in self.least.items() if g[0] not in both) + self._backend_and_storage()

    def _backend_and_storage(self) -> int:
        storage = self.least.get((FabricName.STORAGE, False), 0)
        ways = [w + (0 if g[1] else storage) for g, w in self.least.items() if g[0] is FabricName.BACKEND]
        return min(ways) if ways else storage


def groups(compiled: Compiled) -> dict[Group, list[Scope]]:
    """The scopes of every fabric but out-of-band, by group."""
    found: dict[Group, list[Scope]] = {}
    for fabric, scopes in compiled.scopes.items():
        for scope in scopes:
            found.setdefault((fabric, scope.carries_storage), []).append(scope)
    return found


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
        floors[objective] = Floors(least, compiled.storage_optional)
    for group, scopes in groups(compiled).items():
        for t in _of_one_vendor(compiled, scopes, first):
            seeds[group].setdefault(t.rank(), t)
    if any(floors[o].total() > ceiling for o, ceiling in ceilings.items()):
        return Found(INFEASIBLE, None)
    say("solving")
    held = _with_oob(
        compiled, _by_fabric(compiled, {g: list(ts.values()) for g, ts in seeds.items()}), first, None, finder
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
        data = instance(compiled, _held_within(compiled, cutoffs, first, kept, finder))
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
            dataclasses.replace(
                scope, switches=[s for s in scope.switches if s.vendor == vendor], core_gbps={}, core_faces={}
            )
            for scope in scopes
        ]
        found += best_of([scope for scope in own if scope.switches], first)
    return found


def ceilings_of(compiled: Compiled) -> dict[Objective, int]:
    """Ceilings on what templates weigh: cost without adapters, power without machines."""
    probe = instance(compiled, {})
    found = {}
    if probe.cost_limit is not None:
        found[Objective.COST] = probe.cost_limit - compiled.fixed.cost
    powers = [p for p in (probe.power_limit, probe.site_limit) if p is not None]
    if probe.site_limit is not None:
        powers[-1] = probe.site_limit - probe.servers_mw
    if powers:
        found[Objective.POWER] = min(powers)
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


def _by_fabric(compiled: Compiled, found: dict[Group, list[Template]]) -> Held:
    held: Held = {fabric: [] for fabric in compiled.scopes if fabric is not FabricName.OOB}
    for (fabric, _), templates in found.items():
        held[fabric] += templates
    return held


def _held_within(
    compiled: Compiled,
    cutoffs: dict[Group, Cutoff],
    first: Objective,
    kept: dict[Group, Kept],
    finder: Finder,
    thinned: bool = True,
) -> Held:
    """Every template within its group's cutoff; those kept are all there are up to their limit.

    Where spares leave the proof much room, stand-ins take most of it away again. What they add at most depends on the
    pieces in the largest design, which is known once templates are found; so is whether all of them have room.
    """
    limits = compiled.case.limits
    counted = any(x is not None for x in (limits.skus, limits.vendors, limits.racks))
    told_by_weight = not counted and not set(ceilings_of(compiled)) - {first}
    if not (thinned and told_by_weight and compiled.prices.rules.has_spares):
        return _every_within(compiled, cutoffs, first, kept, finder, thinned, None)
    pieces = FIRST_PIECES
    while True:
        held = _every_within(compiled, cutoffs, first, kept, finder, thinned, pieces)
        largest = pieces_in_all(held.values())
        if largest <= pieces:
            break
        pieces = 2 * largest
    return held if _has_room(compiled, held) else _every_within(compiled, cutoffs, first, kept, finder, thinned, None)


def _every_within(
    compiled: Compiled,
    cutoffs: dict[Group, Cutoff],
    first: Objective,
    kept: dict[Group, Kept],
    finder: Finder,
    thinned: bool,
    pieces: int | None,
) -> Held:
    """Every template within its group's cutoff, or with ``pieces`` in the largest design those no stand-in replaces."""
    found: dict[Group, list[Template]] = {}
    for group, scopes in groups(compiled).items():
        if group not in cutoffs:
            continue
        cutoff = cutoffs[group]
        if cutoff.most[first] <= kept[group].limit:
            found[group] = [t for t in kept[group].templates if passes(t, cutoff)]
        else:
            found[group] = finder.within(scopes, _tightened(compiled, scopes, cutoff, first, pieces, finder), first)
        limits = compiled.case.limits
        many = limits.vendors is not None or limits.skus is not None or any(s.spec.mixed_leaves for s in scopes)
        if thinned and (many or pieces is not None):
            # These leave many templates in; those beaten in every count would only slow the solver down.
            found[group] = undominated(found[group])
        if pieces is not None:
            found[group] = not_outweighed(compiled.measures[group[0]], found[group], first, pieces)
    return _with_oob(compiled, _by_fabric(compiled, found), first, cutoffs.get((FabricName.OOB, False)), finder, pieces)


def _step(compiled: Compiled, objective: Objective) -> int:
    """How much dearer a template may be and still pay by bringing fewer switches to manage: three management leaves.

    Only a guess that saves a second enumeration: the proof never relies on it.
    """
    if FabricName.OOB not in compiled.scopes:
        return 0
    measure = compiled.measures[FabricName.OOB]
    oob = [s for s in compiled.eligible[FabricName.OOB].switches if access_ports(s)]
    return 3 * min((measure.switch_weight(s).of(objective) for s in oob), default=0)


def _with_oob(
    compiled: Compiled,
    held: Held,
    first: Objective,
    cutoff: Cutoff | None,
    finder: Finder,
    pieces: int | None = None,
) -> Held:
    """Add out-of-band templates for every number of switches that the held ones can bring.

    Without a cutoff: the best of every size.
    """
    if FabricName.OOB not in compiled.scopes:
        return dict(held)
    found: list[Template] = []
    for scope in oob_scopes(compiled, span_of(compiled, held)):
        if cutoff is None:
            found += finder.near([scope], first, 0)
        else:
            found += finder.within([scope], _tightened(compiled, [scope], cutoff, first, pieces, finder), first)
    return {**held, FabricName.OOB: found}


def _tightened(
    compiled: Compiled, scopes: list[Scope], cutoff: Cutoff, first: Objective, pieces: int | None, finder: Finder
) -> Cutoff:
    """A cutoff with the best templates of a group as stand-ins, where spares and terms of sale leave the proof room.

    A stand-in takes the place of any template that has no fewer switches and weighs more, parts at their least, than
    the stand-in can ever add: so no such template is in a best design. Room is looked at afterwards (``_has_room``).
    """
    if pieces is None:
        return cutoff
    found = []
    for t in finder.near(scopes, first, 0):
        most = most_weight(compiled.measures[t.fabric], t, first, pieces)
        if most is not None:
            found.append(StandIn(t.n_leaves, t.n_spines + t.n_cores, OBJECTIVES.index(first), most))
    return dataclasses.replace(cutoff, stand_ins=tuple(found))


def _has_room(compiled: Compiled, held: Held) -> bool:
    """Whether any choice among the templates held fits the room: then stand-ins always do."""
    rest, room = instance(compiled, {}), compiled.machines.room

    def most(of: Callable[[Facts], int]) -> int:
        return sum(max((of(t.facts) for t in ts), default=0) for ts in held.values())

    return (
        most(lambda x: x.leaf_load) <= rest.leaf_room
        and most(lambda x: x.central_load) <= rest.central_room
        and most(lambda x: x.top_units) <= room.free_units
        and most(lambda x: x.top_mw) <= room.free_mw
    )


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
        held = _held_within(compiled, cutoffs, first, kept, finder)
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
        floors[objective] = Floors(least, compiled.storage_optional)
    left = worth - compiled.fixed.of(first)
    cutoffs = {
        group: _cutoff(group, first, floors, ceilings, left - floors[first].others(group))
        for group in floors[first].least
    }
    nothing = {group: Kept([], -1) for group in groups(compiled)}
    return instance(compiled, _held_within(compiled, cutoffs, first, nothing, finder, thinned))
