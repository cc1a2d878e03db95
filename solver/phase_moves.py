"""Plans that move few cables: the cheapest within a limit, and of the cheapest the one that moves the fewest.

Moved cables are counted from ledgers, pair by pair. Before a pair is wired, what its templates say of servers, leaves
and uplinks bounds how many it moves at least; series of templates are gone through in order of their least cost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.design import Status
from gpunet.models.ledger import Ledger
from gpunet.solver.build import Builder
from gpunet.solver.candidates import instance
from gpunet.solver.instance import Choice, Key
from gpunet.solver.moved import moved_cables
from gpunet.solver.phase_program import Built, Step, built_of, cost_of, solve_plan
from gpunet.solver.phase_search import COST, FabricPlanner, Models, Planned, Stage
from gpunet.solver.template import Template

WIDENED = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
"""How much more than the cheapest plan one within the limit is looked for to cost, step by step."""
Rows = list[dict[str, int]]
"""Links of every leaf by the machine that they lead to."""


class Moving(NamedTuple):
    """The cheapest plan of one fabric that moves no more cables than it may."""

    plan: Planned
    """Without designs where none was found; its bound holds all the same."""
    moved: int
    """Cables that it moves."""


class FewMoves(FabricPlanner):
    """Plans one fabric with an eye on the cables that move."""

    def __init__(self, planner: FabricPlanner, cheapest: Planned) -> None:
        super().__init__(planner.stages, planner.timeline, planner.listed, planner.engine, planner.clock)
        self.cheapest, self.floors = cheapest, planner.floors
        self.limit: float = math.inf
        self.moved: float = math.inf
        """Cables that the best plan so far moves."""
        self._ledgers: dict[object, Ledger] = {}
        self._counts: dict[tuple[int, int], int] = {}
        self._rows: dict[object, Rows] = {}
        self._leaves: dict[object, int] = {}

    def as_cheap(self) -> Moving:
        """Of the plans that cost no more than the cheapest known, one that moves the fewest cables."""
        self.limit = math.inf
        known = self._moves(self.cheapest.built)
        found = self._look(self.cheapest.cents)
        if not found.plan.built or (found.plan.cents, found.moved) >= (self.cheapest.cents, known):
            return Moving(self.cheapest, known)
        return Moving(found.plan._replace(bound=self.cheapest.bound), found.moved)

    def within(self, limit: int) -> Moving:
        """The cheapest plan that moves at most so many cables."""
        self.limit = limit
        for more in WIDENED:
            found = self._look(math.ceil(self.cheapest.cents * (1 + more)))
            if found.plan.built or self._is_late():
                break
        return found

    def _look(self, most: int) -> Moving:
        """The best plan of those that cost at most so many cents."""
        self.best, self.moved, self.unfinished = Planned((), most, 0), math.inf, math.inf
        self.descend(self.last, ())
        assert self.best is not None
        bound = min(self.best.cents if self.best.built else most + 1, self.unfinished)
        bound = max(math.ceil(bound - 1e-3), self.cheapest.bound)
        return Moving(self.best._replace(bound=bound), 0 if math.isinf(self.moved) else int(self.moved))

    def _is_late(self) -> bool:
        left = self.clock.left()
        return left is not None and left <= 0.01

    # --- which templates ------------------------------------------------------------------------------------------

    def held(self, stage: Stage, most: float, later: tuple[Models, ...]) -> list[Template]:
        """The templates of a phase that need be looked at beside these of the later ones.

        Where fewer cables may move than servers have, some leaf stays: then a leaf of the next phase is of its model.
        """
        links = sum(kind.present_links for kind in stage.scopes[0].kinds) if stage.scopes else 0
        mixed = any(scope.spec.mixed_leaves for scope in stage.scopes)
        if later and not mixed and self.limit < links // most_links(stage):
            return stage.within(most, frozenset(t.leaf.id for t in later[0].templates))
        return stage.within(most)

    def is_hopeless(self, least: int) -> bool:
        """Whether a plan that costs so much at least is none to look for; one that costs as much may move fewer."""
        assert self.best is not None
        return least > self.best.cents

    def solve(self, chosen: tuple[Models, ...]) -> None:
        """Look for the best plan among these templates of all phases."""
        for least, templates in self._series(chosen, self.last, (), 0, 0):
            if self._is_late():
                self.unfinished = min(self.unfinished, least)
                return
            self._weigh(least, templates)

    def _series(
        self, chosen: tuple[Models, ...], q: int, later: tuple[Template, ...], cost: int, moved: int
    ) -> Iterator[tuple[int, tuple[Template, ...]]]:
        """Series of templates that may be better than the best, with the least that each costs."""
        assert self.best is not None
        before = sum(x.least for x in chosen[:q])
        for t in sorted(chosen[q].templates, key=lambda t: (t.facts.least[COST], t.rank())):
            least = cost + t.facts.least[COST]
            if self.is_hopeless(least + before):
                return
            moves = moved + (self._at_least(q, t, later[0]) if later else 0)
            if moves > self.limit or (least + before == self.best.cents and moves >= self.moved):
                continue
            if q:
                yield from self._series(chosen, q - 1, (t, *later), least, moves)
            else:
                yield least, (t, *later)

    def _weigh(self, least: int, templates: tuple[Template, ...]) -> None:
        """Compare the cheapest plan with these templates with the best so far."""
        assert self.best is not None
        steps = self.steps(0, [[t] for t in templates], {})
        built = self._each_at_its_best(steps, templates)
        cents = cost_of(steps, tuple(x.parts for x in built), {})
        if cents != least:
            found = solve_plan(steps, {}, self.engine, self.clock)
            self.solves += 1
            if found.status is not Status.OPTIMAL:
                self.unfinished = min(self.unfinished, least)
                return
            built, cents = found.built, cost_of(steps, tuple(x.parts for x in found.built), {})
        if cents > self.best.cents:
            return
        moved = self._moves(built)
        if moved > self.limit:
            # With other ways to build its links it might move fewer; it costs no less then.
            self.unfinished = min(self.unfinished, cents)
        elif (cents, moved) < (self.best.cents, self.moved):
            self.best, self.moved = Planned(built, cents, 0), moved

    def _each_at_its_best(self, steps: tuple[Step, ...], templates: tuple[Template, ...]) -> tuple[Built, ...]:
        """Every link built the way that costs least given what the later phases are made of."""
        found: list[Built] = []
        sooner: dict[str, int] = {}
        for q in range(self.last, -1, -1):
            blocks = {}
            for link, ways in steps[q].ways.items():
                worth = [
                    sum(
                        self.timeline.held(q, sooner.get(part), self.listed.cents(part) or 0) * n for part, n in w.parts
                    )
                    for w in ways
                ]
                best = worth.index(min(worth))
                n = templates[q].facts.blocks[link]
                blocks[link] = [n if i == best else 0 for i in range(len(ways))]
            found.insert(0, built_of(steps[q], templates[q], blocks))
            sooner |= dict.fromkeys(found[0].parts, q)
        return tuple(found)

    # --- how many cables move -------------------------------------------------------------------------------------

    def _moves(self, built: tuple[Built, ...]) -> int:
        """Cables that a plan moves, all phases together."""
        ledgers = [self._ledger(q, x) for q, x in enumerate(built)]
        total = 0
        for a, b in itertools.pairwise(ledgers):
            if (id(a), id(b)) not in self._counts:
                self._counts[id(a), id(b)] = moved_cables(a, b).at_most
            total += self._counts[id(a), id(b)]
        return total

    def _ledger(self, q: int, built: Built) -> Ledger:
        """The fabric by itself in one phase."""
        blocks = tuple(sorted((link, tuple(counts)) for link, counts in built.blocks.items()))
        key = (q, built.template.rank(), blocks)
        if key not in self._ledgers:
            stage = self.stages[q]
            data = instance(stage.compiled, {stage.fabric: [built.template]})
            choice = Choice(
                {stage.fabric: built.template},
                {Key(stage.fabric, link): counts for link, counts in built.blocks.items()},
            )
            self._ledgers[key] = Builder(stage.compiled, data, choice).build()
        return self._ledgers[key]

    def _at_least(self, q: int, t: Template, after: Template) -> int:
        """No renaming of switches and no ways to build the links move fewer cables from phase ``q`` to the next."""
        if t.wings or after.wings:
            return 0
        links = self._leave_leaf(q, t, after) + _uplinks_moved(t, after)
        each = max(
            math.ceil(link.shape.links / max(1, min(n for part, n in way.parts if part == way.interconnect.medium)))
            for link in t.facts.blocks
            for way in self.stages[q].ways(link)
        )
        return -(-links // each)

    def _leave_leaf(self, q: int, t: Template, after: Template) -> int:
        """Links of machines that cannot stay, each leaf becoming the one that suits it best."""
        key = (q, _attached(t), _attached(after))
        if key not in self._leaves:
            rows, later = self._rows_of(q, t), self._rows_of(q + 1, after)
            total = sum(sum(row.values()) for row in rows)
            if t.leaf.id != after.leaf.id:
                self._leaves[key] = total
            else:
                leaves_of: dict[str, list[tuple[int, int]]] = {}
                for j, row in enumerate(later):
                    for host, n in row.items():
                        leaves_of.setdefault(host, []).append((j, n))
                stay = 0
                for row in rows:
                    shared: dict[int, int] = {}
                    for host, n in row.items():
                        for j, there in leaves_of.get(host, ()):
                            shared[j] = shared.get(j, 0) + min(n, there)
                    stay += max(shared.values(), default=0)
                self._leaves[key] = total - stay
        return self._leaves[key]

    def _rows_of(self, q: int, t: Template) -> Rows:
        key = (q, _attached(t))
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = rows_of(t)
        return found


def fewest_moves(
    planners: Mapping[FabricName, FabricPlanner], cheapest: Mapping[FabricName, Planned], limit: int | None
) -> dict[FabricName, Moving]:
    """The cheapest plan of every fabric, together within a limit on moved cables; one without designs where none is."""
    looks = {fabric: FewMoves(planner, cheapest[fabric]) for fabric, planner in planners.items()}
    found = {fabric: look.as_cheap() for fabric, look in looks.items()}
    if limit is None or sum(x.moved for x in found.values()) <= limit:
        return found
    fronts: dict[FabricName, list[Moving]] = {}
    for fabric, look in looks.items():
        front = fronts[fabric] = [found[fabric]] if found[fabric].moved <= limit else [look.within(limit)]
        while len(looks) > 1 and front[-1].plan.built and front[-1].moved:
            front.append(look.within(front[-1].moved - 1))
    return dict(zip(fronts, _together(list(fronts.values()), limit), strict=True))


def _together(fronts: list[list[Moving]], limit: int) -> list[Moving]:
    """The cheapest choice of a plan for each fabric, with a bound on all such choices.

    Every plan of a front costs more than the one before and moves fewer cables; what moves fewer than it, but no fewer
    than the next, costs no less than the next.
    """
    chosen: tuple[Moving, ...] | None = None
    bound: float = math.inf
    for picks in itertools.product(*(range(len(front)) for front in fronts)):
        choice = [front[i] for front, i in zip(fronts, picks, strict=True)]
        fewest = [x.moved if i + 1 < len(front) else 0 for x, front, i in zip(choice, fronts, picks, strict=True)]
        if sum(fewest) <= limit:
            bound = min(bound, sum(x.plan.bound for x in choice))
        if all(x.plan.built for x in choice) and sum(x.moved for x in choice) <= limit:
            worth = sum(x.plan.cents for x in choice), sum(x.moved for x in choice)
            if chosen is None or worth < (sum(x.plan.cents for x in chosen), sum(x.moved for x in chosen)):
                chosen = tuple(choice)
    if chosen is None:
        left = int(bound) - sum(front[0].plan.bound for front in fronts)
        return [
            Moving(front[0].plan._replace(built=(), bound=front[0].plan.bound + (0 if i else left)), 0)
            for i, front in enumerate(fronts)
        ]
    short = sum(x.plan.cents for x in chosen) - int(bound)
    return [
        x._replace(plan=x.plan._replace(bound=x.plan.cents - (0 if i else max(0, short)))) for i, x in enumerate(chosen)
    ]


def rows_of(t: Template) -> Rows:
    """What every leaf of a template is joined to, machines that come later left out."""
    rows: Rows = [{} for _ in range(t.n_leaves)]
    for kind, plan in zip(t.kinds, t.plans, strict=True):
        cages = 0
        for i, host in enumerate(kind.hosts):
            for port in range(host.cages * kind.ports_per_cage):
                if plan.rails_per_leaf:
                    leaf = i // plan.hosts_per_group * t.leaves_per_group + port // plan.rails_per_leaf
                else:
                    leaf = (cages + port // kind.ports_per_cage) // plan.cages_per_leaf
                if host.device is not None:
                    rows[leaf][host.device] = rows[leaf].get(host.device, 0) + 1
            cages += host.cages
    return rows


def _attached(t: Template) -> tuple[object, ...]:
    """What decides which machine is on which leaf, for templates of one phase."""
    return t.protocol, t.carries_storage, t.leaf.id, t.n_leaves, t.leaves_per_group, t.plans


def _uplinks_moved(t: Template, after: Template) -> int:
    """Uplinks of leaves that cannot stay: a leaf keeps no more to a spine than both phases have there."""
    if t.spine is None:
        return 0
    total, later = t.n_leaves * t.spine.links_per_lower, after.spine
    if later is None or t.leaf.id != after.leaf.id or t.spine.switch.id != later.switch.id:
        return total
    kept = min(t.spine.links_per_lower, later.links_per_lower)
    if t.spine.multiplicity and later.multiplicity:
        spines = [x.links_per_lower // x.multiplicity for x in (t.spine, later)]
        kept = min(spines) * min(t.spine.multiplicity, later.multiplicity)
    return total - min(t.n_leaves, after.n_leaves) * kept


def most_links(stage: Stage) -> int:
    """The most links that one cable or fibre of the fabric carries."""
    parts = stage.compiled.eligible[stage.fabric].links
    fibres = [fibre.legs for fibre in parts.fibres.values()]
    cables = [cable.links_per_assembly for cable in parts.cables.values()]
    return max([1, *fibres, *cables])
