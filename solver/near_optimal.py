"""The best whole design for every structure of one fabric, within a worth that none may exceed. All of it exact.

Where nothing but management ports couples the fabrics, every template is weighed by itself, and what the other fabrics
add depends only on where its switches stand. Anything else that couples them (ceilings, stock, limits on parts, space)
is left to the program: one solve for each structure, with that fabric held to it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.design import Status
from gpunet.solver.apart import solve_apart
from gpunet.solver.dominance import undominated
from gpunet.solver.engines import Engine, EngineError, solve
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.space import fit_room
from gpunet.solver.structures import (
    Allowed,
    Build,
    Optician,
    Shape,
    Structure,
    Worth,
    counting,
    families_of,
    plus,
    restricted,
    shape_of,
    times,
    used_optics,
)
from gpunet.solver.template import Template

Where = tuple[int, int]
"""Switches whose management port is served from the rows, and from the central zone."""


class Best(NamedTuple):
    """The best design of one structure."""

    structure: Structure
    worth: Worth
    choice: Choice


class Option(NamedTuple):
    """Templates of several fabrics, built their best way, with what they weigh together."""

    worth: Worth
    builds: tuple[tuple[Template, Build], ...]


def is_coupled(data: Instance) -> bool:
    """Whether anything but management ports couples the fabrics, or might: then the program must decide."""
    limits = data.case.limits
    ceilings = (data.cost_limit, data.power_limit, data.site_limit, limits.racks, limits.skus, limits.vendors)
    if data.terms or data.trays or data.racks is not None or any(limit is not None for limit in ceilings):
        return True
    return not fit_room(data.machines.room, list(data.templates.values()))


def best_of_structures(
    data: Instance, fabric: FabricName, most: int, engine: Engine, shape: Shape | None = None
) -> list[Best]:
    """The best design of every structure of ``fabric`` that weighs at most ``most``, best first.

    ``data`` holds every template that such a design can have. ``shape`` keeps to the structures of one shape. Raises
    EngineError when a solver fails.
    """
    every = _coupled(data, fabric, most, engine, shape) if is_coupled(data) else _apart(data, fabric, most, shape)
    found: dict[Structure, Best] = {}
    for best in every:
        if best.structure not in found or best.worth < found[best.structure].worth:
            found[best.structure] = best
    kept = counting({structure: best.worth for structure, best in found.items()})
    return sorted((found[structure] for structure in kept), key=lambda x: (x.worth, x.structure))


def shapes(data: Instance, fabric: FabricName) -> list[Shape]:
    """Every shape of a fabric's templates, in a fixed order."""
    return sorted({shape_of(t) for t in data.templates[fabric]})


# --- nothing couples but management ports -----------------------------------------------------------------------------


def _apart(data: Instance, fabric: FabricName, most: int, shape: Shape | None) -> Iterator[Best]:
    others = _Others(data, fabric)
    best: dict[Structure, tuple[Worth, Template, Build, Option]] = {}
    floor = {carries: others.floor(carries) for carries in (False, True)}
    for t in data.templates[fabric]:
        form = shape_of(t)
        if shape is not None and form != shape:
            continue
        rest = others.beside(t)
        if rest is None:
            continue
        for build in others.optician.builds(t, most - floor[t.carries_storage]):
            worth = plus(build.worth, rest.worth)
            structure = Structure(form, build.optics)
            if worth[0] <= most and (structure not in best or worth < best[structure][0]):
                best[structure] = worth, t, build, rest
    for structure, (worth, t, build, rest) in best.items():
        yield Best(structure, worth, others.choice([(t, build), *rest.builds]))


class _Others:
    """What the fabrics beside one add at least, by where its switches stand; adapters and management links counted."""

    def __init__(self, data: Instance, fabric: FabricName) -> None:
        self._data, self._fabric = data, fabric
        self.optician = Optician(data)
        self._objectives = data.case.objectives
        self._fixed = tuple(data.fixed.of(o) for o in self._objectives)
        self._zero = tuple(0 for _ in self._objectives)
        self._managers = self._options(FabricName.OOB) if FabricName.OOB in data.templates else []
        self._fronts: dict[bool, dict[Where, Option]] = {}
        self._beside: dict[object, Option | None] = {}
        management = data.management
        self._per_switch = (
            [] if management is None else [self._link(management.in_rows), self._link(management.central)]
        )

    def _link(self, key: Key) -> tuple[Key, int | None, Worth]:
        ways = self.optician.ways(key)
        if not ways:
            return key, None, self._zero
        worth, i = min((worth, i) for i, (_, worth) in enumerate(ways))
        return key, i, worth

    def _options(self, fabric: FabricName) -> list[tuple[Template, Build]]:
        """Every template of a fabric built its best way, lightest first."""
        found = []
        for t in self._data.templates[fabric]:
            build = next(self.optician.builds(t, math.inf), None)
            if build is not None:
                found.append((t, build))
        return sorted(found, key=lambda x: x[1].worth)

    def _front(self, carries_storage: bool) -> dict[Where, Option]:
        """The lightest choice of the other fabrics, out-of-band apart, for each number of switches by place."""
        if carries_storage not in self._fronts:
            front = {(0, 0): Option(self._zero, ())}
            for fabric in self._data.templates:
                if fabric in (self._fabric, FabricName.OOB):
                    continue
                if fabric is FabricName.STORAGE and carries_storage and self._data.storage_optional:
                    continue
                front = _joined(
                    front, self._options(fabric), None if fabric is not FabricName.BACKEND else carries_storage
                )
            self._fronts[carries_storage] = front
        return self._fronts[carries_storage]

    def _fronts_beside(self, t: Template) -> list[dict[Where, Option]]:
        """The choices of other fabrics that go with a template: a backend that carries storage leaves storage out."""
        if not self._data.storage_optional:
            carries = {x.carries_storage for x in self._data.templates.get(FabricName.BACKEND, [])}
            return [self._front(carried) for carried in sorted(carries or {False})]
        if self._fabric is FabricName.BACKEND:
            return [self._front(t.carries_storage)]
        if self._fabric is FabricName.STORAGE:
            return [self._front(False)]
        return [self._front(False), self._front(True)]

    def floor(self, carries_storage: bool) -> int:
        """The least that everything beside a template weighs, on the first objective."""
        fronts = [self._front(carries_storage)] if self._fabric is FabricName.BACKEND else []
        fronts = fronts or [self._front(False), self._front(True)]
        least = min((x.worth[0] for front in fronts for x in front.values()), default=0)
        oob = 0 if self._fabric is FabricName.OOB else min((b.worth[0] for _, b in self._managers), default=0)
        return self._fixed[0] + least + oob

    def beside(self, t: Template) -> Option | None:
        """The lightest rest of a design with this template; none where its switches cannot all be managed."""
        is_manager = self._fabric is FabricName.OOB
        key = id(t) if is_manager else (t.facts.row_switches, t.facts.central_switches, t.carries_storage)
        if key not in self._beside:
            found = [
                option
                for front in self._fronts_beside(t)
                for where, x in front.items()
                for option in self._managed(t, where, x)
            ]
            self._beside[key] = min(found, key=lambda x: x.worth, default=None)
        return self._beside[key]

    def _managed(self, t: Template, where: Where, rest: Option) -> Iterator[Option]:
        """The rest with an out-of-band template that serves everything, and with the links it takes."""
        if self._data.management is None:
            yield Option(plus(self._fixed, rest.worth), rest.builds)
            return
        if self._fabric is FabricName.OOB:
            links = self._links(t, where)
            if links is not None:
                yield Option(plus(self._fixed, rest.worth, links), rest.builds)
            return
        all_where = where[0] + t.facts.row_switches, where[1] + t.facts.central_switches
        best: Option | None = None
        for manager, build in self._managers:
            if best is not None and plus(self._fixed, rest.worth, build.worth) >= best.worth:
                break
            links = self._links(manager, all_where)
            if links is not None:
                worth = plus(self._fixed, rest.worth, build.worth, links)
                if best is None or worth < best.worth:
                    best = Option(worth, (*rest.builds, (manager, build)))
        if best is not None:
            yield best

    def _links(self, manager: Template, where: Where) -> Worth | None:
        """Weight of the management links of all switches; none where they lack a port or a way to build them."""
        management = self._data.management
        assert management is not None
        in_rows = where[0] + manager.facts.row_switches
        central = where[1] + manager.facts.central_switches
        if management.row_ports(manager) - in_rows < management.fixed_ports:
            return None
        if management.central_ports(manager) < central:
            return None
        total = self._zero
        for (_, way, worth), n in zip(self._per_switch, (in_rows, central), strict=True):
            if n and way is None:
                return None
            total = plus(total, times(worth, n))
        return total

    def choice(self, builds: Sequence[tuple[Template, Build]]) -> Choice:
        """The choice that these templates make, built as they say; classes that it does not need are left out."""
        templates = {t.fabric: t for t, _ in builds}
        chosen = [(key, i, self._data.need(key, t)) for t, build in builds for key, i in build.ways]
        for key, way, _ in self._per_switch:
            if way is not None:
                chosen.append((key, way, sum(self._data.need(key, t) for t in templates.values())))
        built = {}
        for key, i, n in chosen:
            built[key] = [0] * len(self._data.ways[key])
            built[key][i] = n
        return Choice(templates, built)


def _joined(
    front: dict[Where, Option], options: list[tuple[Template, Build]], carries_storage: bool | None
) -> dict[Where, Option]:
    """A front with one template more; of a backend, one that carries storage or one that does not."""
    found: dict[Where, Option] = {}
    for t, build in options:
        if carries_storage is not None and t.carries_storage != carries_storage:
            continue
        for (rows, central), x in front.items():
            where = rows + t.facts.row_switches, central + t.facts.central_switches
            worth = plus(x.worth, build.worth)
            if where not in found or worth < found[where].worth:
                found[where] = Option(worth, (*x.builds, (t, build)))
    return found


# --- the program decides ----------------------------------------------------------------------------------------------


def _coupled(data: Instance, fabric: FabricName, most: int, engine: Engine, shape: Shape | None) -> Iterator[Best]:
    """Solves with a fabric held to a shape, and to fewer and fewer families of optics.

    Whatever families are left out of those that a best design does not use, it stays the best. So it is enough to leave
    out one after the other of those that it uses, and to stop where the best weighs more than ``most``.
    """
    for form in shapes(data, fabric) if shape is None else [shape]:
        templates = [t for t in data.templates[fabric] if shape_of(t) == form]
        some = _held_to(data, fabric, templates, most)
        all_families: dict[str, set[str]] = {}
        for key, ways in some.ways.items():
            if key.fabric is fabric and any(key.link in t.facts.blocks for t in templates):
                for way in ways:
                    all_families.setdefault(key.link.link_class, set()).update(families_of(way, data.catalog))
        left = [{name: frozenset(families) for name, families in all_families.items()}]
        seen: set[object] = set()
        while left:
            allowed = left.pop()
            asked = tuple(sorted((name, tuple(sorted(families))) for name, families in allowed.items()))
            if asked in seen:
                continue
            seen.add(asked)
            held = _with_optics(some, fabric, allowed)
            best = None if held is None else _solve(data, held, fabric, form, engine)
            if best is None or best.worth[0] > most:
                continue
            yield best
            left += [
                allowed | {name: allowed[name] - {family}}
                for name, families in best.structure.optics
                for family in families
            ]


def _solve(data: Instance, some: Instance, fabric: FabricName, form: Shape, engine: Engine) -> Best | None:
    """The best design of an instance, by the ways of another that has them all; none where there is no design."""
    outcome = (solve_apart(some) if engine is Engine.HIGHS else None) or solve(some, engine)
    if outcome.status is Status.INFEASIBLE:
        return None
    if outcome.choice is None or outcome.status is not Status.OPTIMAL:
        raise EngineError(f"{engine.value} ended with {outcome.status.value} without a time limit")
    choice = _over_all_ways(data, some, outcome.choice)
    net = choice.net(data)
    structure = Structure(form, used_optics(data, choice, fabric))
    return Best(structure, tuple(net.of(o) for o in data.case.objectives), choice)


def _with_optics(some: Instance, fabric: FabricName, allowed: Allowed) -> Instance | None:
    """The instance with fewer families of optics, and without templates that cannot be built then; none with none."""
    ways = restricted(some, fabric, allowed)
    left = [t for t in some.templates[fabric] if all(ways[Key(fabric, link)] for link in t.facts.blocks)]
    if not left:
        return None
    used = {key: found for key, found in ways.items() if found or key.fabric is not fabric}
    return dataclasses.replace(some, templates={**some.templates, fabric: left}, ways=used)


def _held_to(data: Instance, fabric: FabricName, templates: list[Template], most: int) -> Instance:
    """The instance with some templates of one fabric, and without what no design within ``most`` can have then."""
    first = data.case.objectives[0]
    optional = data.storage_optional and fabric is not FabricName.STORAGE
    floors = {f: min((t.facts.least[first] for t in ts), default=0) for f, ts in data.templates.items()}
    floors[fabric] = min(t.facts.least[first] for t in templates)
    if optional:
        floors[FabricName.STORAGE] = 0
    held: dict[FabricName, list[Template]] = {}
    for f, ts in data.templates.items():
        left = most - data.fixed.of(first) - sum(least for other, least in floors.items() if other is not f)
        fitting = templates if f is fabric else [t for t in ts if t.facts.least[first] <= left]
        if f is FabricName.BACKEND and fabric is FabricName.STORAGE and data.storage_optional:
            fitting = [t for t in fitting if not t.carries_storage]
        held[f] = sorted(undominated(fitting) if f is not FabricName.OOB else fitting, key=lambda t: t.rank())
    needed = {Key(f, link) for f, ts in held.items() for t in ts for link in t.facts.blocks}
    if data.management is not None:
        needed |= {data.management.in_rows, data.management.central}
    ways = {key: found for key, found in data.ways.items() if key in needed}
    return dataclasses.replace(data, templates=held, ways=ways, storage_optional=optional)


def _over_all_ways(data: Instance, some: Instance, choice: Choice) -> Choice:
    """A choice among some of the ways as one among all of them."""
    built: dict[Key, list[int]] = {}
    for key, counts in choice.built.items():
        for way, n in zip(some.ways[key], counts, strict=True):
            if n:
                built.setdefault(key, [0] * len(data.ways[key]))[data.ways[key].index(way)] = n
    return Choice(choice.templates, built)
