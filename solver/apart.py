"""The optimum of an instance whose fabrics share nothing but space and management ports, without a solver.

Then every block is built its own best way, a template's weight is a constant, and the program collapses to a choice
of one template per fabric. Studies ask thousands of such questions; ``optimize`` always asks an engine. Tests hold
the two to the same design.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.design import Status
from gpunet.solver.engines import Outcome
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.space import fit_room
from gpunet.solver.template import Template

MOST_CHOICES = 50_000
"""Combinations beyond which an engine is quicker."""
Rank = tuple[int, ...]
"""Objectives in their order, then the sums that break ties as the program does."""


class Option(NamedTuple):
    """A template with what it adds to a choice."""

    rank: Rank
    template: Template


def solve_apart(data: Instance) -> Outcome | None:
    """The optimum, or none where something couples the fabrics or the combinations are too many to try."""
    limits = data.case.limits
    ceilings = (data.cost_limit, data.power_limit, data.site_limit, limits.racks, limits.skus, limits.vendors)
    if data.terms or data.trays or data.racks is not None or any(limit is not None for limit in ceilings):
        return None
    best_way = {
        key: min(range(len(ways)), key=lambda i: (*(ways[i].weight.of(o) for o in data.case.objectives), i))
        for key, ways in data.ways.items()
        if ways
    }
    options = {fabric: _options(data, fabric, best_way) for fabric in data.templates}
    oob = options.pop(FabricName.OOB, None)
    if math.prod(len(found) + 1 for found in options.values()) > MOST_CHOICES:
        return None
    lightest = 0 if oob is None else min((x.rank[0] for x in oob), default=0)
    best: tuple[Rank, list[Template]] | None = None

    def most() -> float:
        return math.inf if best is None else best[0][0] - lightest

    for lists in _kinds_of_choice(data, options):
        for chosen in _choices(lists, most):
            templates, rank = [x.template for x in chosen], _sum([x.rank for x in chosen])
            if oob is not None:
                manager = next((x for x in oob if _manages(data, templates, x.template)), None)
                if manager is None:
                    continue
                rank = _sum([*([rank] if chosen else []), manager.rank])
                templates.append(manager.template)
            elif not fit_room(data.machines.room, [[t] for t in templates]):
                continue
            if best is None or rank < best[0]:
                best = rank, templates
    if best is None:
        return Outcome(Status.INFEASIBLE, None, None, None)
    built = {}
    for key, ways in data.ways.items():
        built[key] = [0] * len(ways)
        if key in best_way:
            built[key][best_way[key]] = sum(data.need(key, t) for t in best[1])
    choice = Choice({t.fabric: t for t in best[1]}, built)
    value = choice.net(data).of(data.case.objectives[0])
    return Outcome(Status.OPTIMAL, choice, value, float(value))


def _options(data: Instance, fabric: FabricName, best_way: dict[Key, int]) -> list[Option]:
    """Every template of a fabric whose links can be built, lightest first."""
    found = []
    for i, t in enumerate(data.templates[fabric]):
        needs = [(key, n) for key in data.ways if (n := data.need(key, t))]
        if any(key not in best_way for key, _ in needs):
            continue
        worth = (
            data.weights[id(t)].of(o) + sum(data.ways[key][best_way[key]].weight.of(o) * n for key, n in needs)
            for o in data.case.objectives
        )
        found.append(Option((*worth, i, sum(best_way[key] * n for key, n in needs)), t))
    return sorted(found, key=lambda x: x.rank)


def _kinds_of_choice(data: Instance, options: dict[FabricName, list[Option]]) -> list[list[list[Option]]]:
    """The lists to choose from: a backend that carries storage stands without a storage fabric."""
    if not data.storage_optional:
        return [list(options.values())]
    backend = options[FabricName.BACKEND]
    rest = [found for fabric, found in options.items() if fabric not in (FabricName.BACKEND, FabricName.STORAGE)]
    alone = [x for x in backend if not x.template.carries_storage]
    carrying = [x for x in backend if x.template.carries_storage]
    return [[alone, options.get(FabricName.STORAGE, []), *rest], [carrying, *rest]]


def _choices(lists: list[list[Option]], most: Callable[[], float]) -> Iterator[tuple[Option, ...]]:
    """One option of every list, as long as their first objective sums to no more than ``most`` says at the moment."""
    if not lists:
        yield ()
        return
    first, *others = lists
    least = sum(min((x.rank[0] for x in found), default=0) for found in others)
    for option in first:
        if option.rank[0] + least > most():
            return
        for rest in _choices(others, _less(most, option.rank[0])):
            yield (option, *rest)


def _less(most: Callable[[], float], taken: int) -> Callable[[], float]:
    """What is left of a limit that may change."""
    return lambda: most() - taken


def _sum(ranks: Iterable[Rank]) -> Rank:
    return tuple(map(sum, zip(*ranks, strict=True)))


def _manages(data: Instance, templates: list[Template], oob: Template) -> bool:
    """Whether the out-of-band template has a port for everything, and all switches have a place."""
    management = data.management
    assert management is not None
    every = [*templates, oob]
    in_rows = sum(t.facts.row_switches for t in every)
    central = sum(t.facts.central_switches for t in every)
    return (
        management.row_ports(oob) - in_rows >= management.fixed_ports
        and management.central_ports(oob) >= central
        and fit_room(data.machines.room, [[t] for t in every])
    )
