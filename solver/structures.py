"""What makes two designs of a fabric differ in kind: tiers, switch models, speeds, and the optics of each link class.

Counts make no difference in kind, nor do two modules of one family. The optics of a structure are a set of families for
each link class, and a set counts when leaving out any family of it would cost more, or leave no design. So a class of
short and long runs can be copper and DR together, but no set holds a family only for the sake of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gpunet.models.case import FabricName, Objective
from gpunet.models.parts import CableKind, Catalog
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.links import Way
from gpunet.solver.template import ENDPOINT_LEAF, LEAF_SPINE, SPINE_CORE, Template

COPPER, AOC = "copper", "AOC"
Worth = tuple[int, ...]
"""Objectives in their order, cents or milliwatts."""
Optics = tuple[tuple[str, tuple[str, ...]], ...]
"""Families of each link class, both in a fixed order."""


class Shape(NamedTuple):
    """Everything of a structure but its optics."""

    protocol: str
    topology: str
    leaves: tuple[str, ...]
    spine: str
    core: str
    speeds_gbps: tuple[tuple[str, tuple[float, ...]], ...]
    """Speeds of the links of each class."""
    carries_storage: bool

    @property
    def tiers(self) -> int:
        """Switch tiers."""
        return 1 + bool(self.spine) + bool(self.core)


class Structure(NamedTuple):
    """A kind of design of one fabric."""

    shape: Shape
    optics: Optics


class Build(NamedTuple):
    """One set of families for every link class, with what the template weighs and how its blocks are built."""

    optics: Optics
    worth: Worth
    ways: tuple[tuple[Key, int], ...]
    """Index of the way of each key."""


def shape_of(t: Template) -> Shape:
    """The shape of a template."""
    wings = t.wings or (t,)
    speeds = [(ENDPOINT_LEAF, tuple(sorted({k.speed_gbps for wing in wings for k in wing.kinds})))]
    if t.spine is not None:
        uppers = [wing.spine for wing in wings if wing.spine is not None]
        speeds.append((LEAF_SPINE, tuple(sorted({upper.face.speed_gbps for upper in uppers}))))
    if t.core is not None:
        speeds.append((SPINE_CORE, (t.core.face.speed_gbps,)))
    return Shape(
        t.protocol.value,
        t.topology.value,
        tuple(sorted({wing.leaf.id for wing in wings})),
        t.spine.switch.id if t.spine else "",
        t.core.switch.id if t.core else "",
        tuple(speeds),
        t.carries_storage,
    )


def families_of(way: Way, catalog: Catalog) -> frozenset[str]:
    """Optics families of a way: the reach tiers of its two modules, ``AOC``, or ``copper``."""
    ic = way.interconnect
    if ic.is_cable:
        return frozenset({AOC if catalog.cables[ic.medium_base].kind is CableKind.AOC else COPPER})
    found = set()
    for part in (ic.a_part, ic.b_part):
        module = catalog.modules[part] if part else None
        interface = catalog.interfaces.get(module.interface or "") if module else None
        found.add(interface.tier if interface else COPPER)
    return frozenset(found)


class Optician:
    """Every set of families that a link class can be built with, for the templates of one instance."""

    def __init__(self, data: Instance) -> None:
        self._data = data
        self._objectives: tuple[Objective, ...] = data.case.objectives
        self._ways: dict[Key, list[tuple[frozenset[str], Worth]]] = {}
        self._sets: dict[frozenset[Key], list[tuple[tuple[str, ...], dict[Key, int]]]] = {}

    def ways(self, key: Key) -> list[tuple[frozenset[str], Worth]]:
        """Families and worth of one block, for every way of a class."""
        if key not in self._ways:
            self._ways[key] = [
                (families_of(way, self._data.catalog), tuple(way.weight.of(o) for o in self._objectives))
                for way in self._data.ways[key]
            ]
        return self._ways[key]

    def builds(self, t: Template, most: float) -> Iterator[Build]:
        """Every choice of families for the classes of a template that weighs at most ``most`` by itself."""
        classes: dict[str, list[tuple[Key, int]]] = {}
        for link, n in t.facts.blocks.items():
            classes.setdefault(link.link_class, []).append((Key(t.fabric, link), n))
        weight = self._data.weights[id(t)]
        start = tuple(weight.of(o) for o in self._objectives)
        options = []
        for name, needs in sorted(classes.items()):
            found = []
            for families, chosen in self._sets_of(frozenset(key for key, _ in needs)):
                worth = plus(*(times(self.ways(key)[chosen[key]][1], n) for key, n in needs))
                found.append((name, families, worth, chosen))
            options.append(sorted(found, key=lambda x: x[2]))
        for picked in _within(options, most - start[0]):
            yield Build(
                tuple((name, families) for name, families, _, _ in picked),
                plus(start, *(worth for _, _, worth, _ in picked)),
                tuple((key, i) for _, _, _, chosen in picked for key, i in chosen.items()),
            )

    def _sets_of(self, keys: frozenset[Key]) -> list[tuple[tuple[str, ...], dict[Key, int]]]:
        """Sets of families of which no key can do without any at the same worth, with the best way of each key."""
        if keys not in self._sets:
            known = sorted({family for key in keys for families, _ in self.ways(key) for family in families})
            found = []
            for size in range(1, len(known) + 1):
                for some in itertools.combinations(known, size):
                    chosen = self._best(keys, frozenset(some))
                    if chosen is not None:
                        found.append((some, chosen))
            self._sets[keys] = found
        return self._sets[keys]

    def _best(self, keys: frozenset[Key], families: frozenset[str]) -> dict[Key, int] | None:
        """The best way of each key within a set; none when a key has none, or some family of the set is not needed."""
        chosen: dict[Key, int] = {}
        needed: set[str] = set()
        for key in keys:
            fitting = [(worth, i) for i, (own, worth) in enumerate(self.ways(key)) if own <= families]
            if not fitting:
                return None
            worth, chosen[key] = min(fitting)
            needed |= frozenset.intersection(*(self.ways(key)[i][0] for w, i in fitting if w == worth))
        return chosen if needed == families else None


Option = tuple[str, tuple[str, ...], Worth, dict[Key, int]]


def _within(options: Sequence[list[Option]], most: float) -> Iterator[tuple[Option, ...]]:
    """One option of every list, lightest first, as long as they weigh at most ``most`` together."""
    if not options:
        if most >= 0:
            yield ()
        return
    first, *others = options
    rest = sum(min((x[2][0] for x in found), default=0) for found in others)
    for option in first:
        if option[2][0] + rest > most:
            return
        for more in _within(others, most - option[2][0]):
            yield (option, *more)


def plus(*worths: Worth) -> Worth:
    """The sum, objective by objective."""
    return tuple(map(sum, zip(*worths, strict=True)))


def times(worth: Worth, n: int) -> Worth:
    """``n`` times a worth."""
    return tuple(x * n for x in worth)


def counting(found: Mapping[Structure, Worth]) -> list[Structure]:
    """Those structures that do not hold a family which another of the same shape does without at no more."""
    by_shape: dict[Shape, list[Structure]] = {}
    for structure in found:
        by_shape.setdefault(structure.shape, []).append(structure)
    return [
        x
        for alike in by_shape.values()
        for x in alike
        if not any(is_part_of(y.optics, x.optics) and found[y] <= found[x] for y in alike if y != x)
    ]


def is_part_of(some: Optics, other: Optics) -> bool:
    """Whether every family of every class is among those of the same class."""
    every = dict(other)
    return all(set(families) <= set(every.get(name, ())) for name, families in some)


Allowed = Mapping[str, frozenset[str]]
"""Families that each link class may use."""


def restricted(data: Instance, fabric: FabricName, allowed: Allowed) -> dict[Key, tuple[Way, ...]]:
    """The ways of an instance, those of a fabric's link classes limited to the families given."""
    return {
        key: ways
        if key.fabric is not fabric or key.link.link_class not in allowed
        else tuple(w for w in ways if families_of(w, data.catalog) <= allowed[key.link.link_class])
        for key, ways in data.ways.items()
    }


def used_optics(data: Instance, choice: Choice, fabric: FabricName) -> Optics:
    """Families that the link classes of one fabric of a choice are built with; management links are not looked at."""
    found: dict[str, set[str]] = {}
    own = choice.templates[fabric].facts.blocks
    for key, counts in choice.built.items():
        for way, n in zip(data.ways[key], counts, strict=True):
            if n and key.fabric is fabric and key.link in own:
                found.setdefault(key.link.link_class, set()).update(families_of(way, data.catalog))
    return tuple((name, tuple(sorted(families))) for name, families in sorted(found.items()))
