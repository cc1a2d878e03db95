"""Cores over the spines of three tiers: which can be linked, at what weight, and how many make a plane."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from gpunet.models.case import Striping
from gpunet.models.parts import Switch
from gpunet.solver.ports import Face, fits
from gpunet.solver.scope import Scope, least_link
from gpunet.solver.template import SPINE_CORE, Upper
from gpunet.solver.wiring import Stripe, upper_cages


class CorePort(NamedTuple):
    """A core model, run with one face down, over one face of a spine."""

    per_port: float
    """Least weight of one link with its share of the core, on one objective."""
    core: Switch
    face: Face
    pair: int
    across: tuple[float, ...]
    """Least weight of one link."""


def cores_over(scope: Scope, usable: dict[str, list[Face]], spine: Switch, up: int, rank: int) -> list[CorePort]:
    """Core models and faces that can be linked to face number ``up`` of a spine, thriftiest first."""
    key = (spine.id, up, rank)
    if key not in scope.core_ports:
        measure, lower = scope.measure, usable[spine.id][up]
        found = []
        for core in scope.switches:
            weight = measure.bound_weight(core)
            for face in usable[core.id]:
                if face.speed_gbps != lower.speed_gbps:
                    continue
                pair = measure.pair((lower, spine), (face, core))
                across = least_link(measure, pair, SPINE_CORE)
                if across is not None:
                    share = weight[rank] / (face.cages * face.ports)
                    found.append(CorePort(share + across[rank], core, face, pair, across))
        scope.core_ports[key] = sorted(found, key=lambda x: x.per_port)
    return scope.core_ports[key]


def spine_counts(need: int, most: int, fewest: int) -> Iterator[int]:
    """For every multiplicity up to ``most``, the fewest upper switches that give ``need`` links, in rising order.

    With one multiplicity, more switches are only more of everything.
    """
    count = max(fewest, math.ceil(need / most))
    while True:
        yield count
        b = math.ceil(need / count)
        if b <= 1:
            return
        count = max(count + 1, math.ceil(need / (b - 1)))


def core_counts(
    scope: Scope, core: Switch, face: Face, spine_up: Face, pods: int, need: int, planes: int
) -> Iterator[Upper]:
    """Cores of one plane; by ports only, the cores of all planes together."""
    spec = scope.spec
    ports = face.cages * face.ports
    if spec.striping is Striping.PORTS:
        total = max(spec.min_cores, math.ceil(pods * planes * need / ports))
        yield Upper(core, spine_up, face, total, 0, need)
        return
    most = ports // pods
    if scope.gauge is not None:
        held = scope.gauge.most_ports(scope.measure, core, SPINE_CORE, face.speed_gbps)
        if held < pods:
            scope.refuse("lossless")
        most = int(min(most, held // pods))
    if most < 1:
        return
    whole = max(spine_up.ports, face.ports)
    seen: set[int] = set()
    for count in spine_counts(need, most, spec.min_cores):
        b = math.ceil(need / count)
        for multiplicity in sorted({b, math.ceil(b / whole) * whole}):
            stripe = Stripe(count, multiplicity, spine_up.ports, face.ports)
            if multiplicity > most or multiplicity in seen or upper_cages(stripe, pods) > face.cages:
                continue
            if not fits(core, [(face, upper_cages(stripe, pods))]):
                continue
            seen.add(multiplicity)
            yield Upper(core, spine_up, face, count, multiplicity, count * multiplicity)
