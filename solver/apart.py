"""The optimum of an instance whose fabrics share nothing but space and management ports, without a solver.

Then every block is built its own best way, a template's weight is a constant, and the program collapses to a choice
of one template per fabric. Studies ask thousands of such questions; ``optimize`` always asks an engine. Tests hold
the two to the same design.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.design import Status
from gpunet.solver.engines import Outcome
from gpunet.solver.instance import Choice, Instance, Key
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
    if data.owned or any(limit is not None for limit in ceilings):
        return None
    best_way = {
        key: min(range(len(ways)), key=lambda i: (*(ways[i].weight.of(o) for o in data.case.objectives), i))
        for key, ways in data.ways.items()
        if ways
    }
    options = {fabric: _options(data, fabric, best_way) for fabric in data.templates}
    oob = sorted(options.pop(FabricName.OOB, []), key=lambda x: x.rank)
    if math.prod(len(found) + 1 for found in options.values()) > MOST_CHOICES:
        return None
    best: tuple[Rank, list[Template]] | None = None
    for chosen in _choices(data, options):
        rank = _sum(x.rank for x in chosen)
        if best is not None and rank and rank[0] > best[0][0]:
            continue
        templates = [x.template for x in chosen]
        if FabricName.OOB in data.templates:
            manager = next((x for x in oob if _manages(data, templates, x.template)), None)
            if manager is None:
                continue
            rank = _sum([rank, manager.rank]) if chosen else manager.rank
            templates.append(manager.template)
        elif not _has_space(data, templates):
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
    """Every template of a fabric whose links can be built, with its rank."""
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
    return found


def _choices(data: Instance, options: dict[FabricName, list[Option]]) -> Iterable[tuple[Option, ...]]:
    """One option per fabric; no storage fabric beside a backend that carries storage."""
    if not data.storage_optional:
        return itertools.product(*options.values())
    alone = [x for x in options[FabricName.BACKEND] if not x.template.carries_storage]
    carrying = [x for x in options[FabricName.BACKEND] if x.template.carries_storage]
    rest = [found for fabric, found in options.items() if fabric not in (FabricName.BACKEND, FabricName.STORAGE)]
    storage = options.get(FabricName.STORAGE, [])
    return itertools.chain(itertools.product(alone, storage, *rest), itertools.product(carrying, *rest))


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
        and _has_space(data, every)
    )


def _has_space(data: Instance, templates: list[Template]) -> bool:
    facts, room = [t.facts for t in templates], data.machines.room
    return (
        sum(x.leaf_load for x in facts) <= data.leaf_room
        and sum(x.central_load for x in facts) <= data.central_room
        and sum(x.top_units for x in facts) <= room.free_units
        and sum(x.top_mw for x in facts) <= room.free_mw
    )
