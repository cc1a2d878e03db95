"""What cables fill of the trays at least: which leaves, tiers and templates no trays of the case can take.

Every bound counts links at their thinnest cable, whatever its reach and price, so nothing that fits is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from gpunet.models.parts import Switch
from gpunet.solver.demand import CENTRAL
from gpunet.solver.ports import Face
from gpunet.solver.scope import Scope
from gpunet.solver.template import Template


def endpoints_overfill(scope: Scope, leaf: Switch, downs: Sequence[Face]) -> bool:
    """Whether the endpoint links alone, to leaves that stand in a zone, are more than some section holds."""
    measure = scope.measure
    if measure.trays is None or measure.on_racks:
        return False
    loads: dict[str, Fraction] = {}
    central = measure.room.central.name
    for kind, face in zip(scope.kinds, downs, strict=True):
        least = measure.book.least_tray_load(measure.endpoint_pair(face, leaf, kind), bundled=False)
        for host in kind.hosts:
            if least is None or host.device is None or host.rack == CENTRAL:
                continue
            together = measure.room.network_places_together
            passed = measure.trays.passed([(host.rack, central)]) if together else [measure.trays.over(host.rack)]
            for section in passed:
                loads[section] = loads.get(section, Fraction(0)) + least * host.cages * kind.ports_per_cage
    return _overfull(scope, any(load > measure.trays.limits[section] for section, load in loads.items()))


def uplinks_overfill(scope: Scope, pair: int, uplinks: int) -> bool:
    """Whether so many links from leaves in the rows to the central zone are more than its trays hold."""
    measure = scope.measure
    if measure.trays is None or measure.room.network_places_together:
        return False
    least = measure.book.least_tray_load(pair, measure.bundles)
    return _overfull(scope, least is not None and least * uplinks > measure.trays.limits[measure.trays.central])


def overfills(scope: Scope, t: Template) -> bool:
    """Whether a template by itself, every block built its thinnest way, is more than some section holds."""
    measure = scope.measure
    if measure.trays is None:
        return False
    loads: Counter[str] = Counter()
    for link, n in t.facts.blocks.items():
        if link.shape.trays is not None:
            ways = measure.book.ways(link.pair, link.step_m, link.shape)
            least = min((way.tray_load for way in ways), default=0)
            for section in link.shape.trays.sections:
                loads[section] += least * n
    return _overfull(scope, any(load > measure.trays.limits[section] for section, load in loads.items()))


def _overfull(scope: Scope, found: bool) -> bool:
    if found:
        scope.refuse("site.tray")
    return found
