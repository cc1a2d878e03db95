"""Other ways to build one fabric of a design that come to exactly the same on every objective of the case.

Everything but that fabric stays as it is. Each template that could tie is solved for by itself with the rest of the
design, so that management ports, stock and limits count; those that weigh too much alone are passed over.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.apart import solve_apart
from gpunet.solver.candidates import Compiled, Finder
from gpunet.solver.engines import Engine, broken, solve
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.search import all_within
from gpunet.solver.template import Template


class Ties(NamedTuple):
    """How many other ways there are to build one fabric."""

    templates: int
    """Other templates: other switches, or other counts of them."""
    links: int
    """Classes of links of one length that other parts would build."""


def ties_of(compiled: Compiled, data: Instance, choice: Choice, engine: Engine) -> dict[FabricName, Ties]:
    """Ties of every fabric of a proven optimum. ``data`` is the instance that proved it.

    Raises EngineError when a solver fails.
    """
    first = compiled.case.objectives[0]
    limits = compiled.case.limits
    specs = [scope.spec for scopes in compiled.scopes.values() for scope in scopes]
    if limits.vendors is not None or limits.skus is not None or any(spec.mixed_leaves for spec in specs):
        # There the search leaves out what others beat or match in every count.
        every = all_within(compiled, choice.net(data).of(first), Finder(), thinned=False)
    else:
        every = data
    return {
        fabric: Ties(_templates(every, data, choice, fabric, engine), _links(data, choice, fabric))
        for fabric in choice.templates
    }


def _worth(data: Instance, choice: Choice) -> tuple[int, ...]:
    net = choice.net(data)
    return tuple(net.of(o) for o in data.case.objectives)


def _templates(every: Instance, data: Instance, choice: Choice, fabric: FabricName, engine: Engine) -> int:
    worth, own = _worth(data, choice), choice.templates[fabric]
    rest = _least_rest(data, choice, fabric)
    first = data.case.objectives[0]
    others = {t.rank(): t for t in every.templates[fabric] if rest + t.facts.least[first] <= worth[0]}
    others.pop(own.rank(), None)
    if data.racks is not None and first is not Objective.POWER:
        # What racks cost with a template is known without solving, and leaves few that could tie.
        def racks(t: Template) -> int:
            assert every.racks is not None
            return every.racks.cents * every.racks.count(
                {f: _twin(every, x) for f, x in (choice.templates | {fabric: t}).items()}
            )

        others = {rank: t for rank, t in others.items() if rest + t.facts.least[first] + racks(t) <= worth[0]}
    return sum(_best_with(every, choice, t, engine) == worth for t in others.values())


def _least_rest(data: Instance, choice: Choice, fabric: FabricName) -> int:
    """What all but one fabric weighs at least on the first objective, whatever stands for it: parts at the least they
    may cost, and without the links to manage its switches."""
    first = data.case.objectives[0]
    total = data.fixed.of(first)
    total += sum(data.weights[id(t)].of(first) for f, t in choice.templates.items() if f is not fabric)
    managed = () if data.management is None else (data.management.in_rows, data.management.central)
    for key, counts in choice.built.items():
        if key.fabric is not fabric and key not in managed:
            total += sum(w.weight.of(first) * n for w, n in zip(data.ways[key], counts, strict=True))
    pieces = choice.parts(data)
    return total - sum((x.counted_cents - x.floor_cents) * pieces.get(part, 0) for part, x in data.terms.items())


def _best_with(every: Instance, choice: Choice, t: Template, engine: Engine) -> tuple[int, ...] | None:
    """Every objective of the best design with another template of one fabric and the same of all others."""
    held = {f: [x] for f, x in choice.templates.items()} | {t.fabric: [t]}
    if every.storage_optional:
        held.setdefault(FabricName.STORAGE, [])
    needed = {Key(f, link) for f, ts in held.items() for x in ts for link in x.facts.blocks}
    if every.management is not None:
        needed |= {every.management.in_rows, every.management.central}
    same = {f: [_twin(every, x) for x in ts] for f, ts in held.items()}
    ways = {key: found for key, found in every.ways.items() if key in needed}
    some = dataclasses.replace(every, templates=same, ways=ways)
    outcome = solve_apart(some) or solve(some, engine)
    if outcome.status is not Status.OPTIMAL or outcome.choice is None:
        return None
    return _worth(some, outcome.choice)


def _twin(every: Instance, t: Template) -> Template:
    """The same template as an instance enumerated afresh holds it; weights go by the object."""
    if id(t) in every.weights:
        return t
    return next(x for x in every.templates[t.fabric] if x.rank() == t.rank())


def _links(data: Instance, choice: Choice, fabric: FabricName) -> int:
    """Classes of links of one length that could be built another way for the same."""
    worth = _worth(data, choice)
    found = 0
    for key, counts in choice.built.items():
        total = sum(counts)
        if key.fabric is not fabric or not total:
            continue
        for i in range(len(counts)):
            if counts[i] == total or not _weighs_alike(data, key, counts, i):
                continue
            other = Choice(choice.templates, choice.built | {key: [total * (i == j) for j in range(len(counts))]})
            if not broken(data, other) and _worth(data, other) == worth:
                found += 1
                break
    return found


def _weighs_alike(data: Instance, key: Key, counts: list[int], i: int) -> bool:
    """Whether a class built one way could weigh the same: a quick look before all is summed. Stock may hide it."""
    if data.terms:
        return True
    way = data.ways[key][i].weight
    built = [sum(w.weight.of(o) * n for w, n in zip(data.ways[key], counts, strict=True)) for o in data.case.objectives]
    return built == [way.of(o) * sum(counts) for o in data.case.objectives]
