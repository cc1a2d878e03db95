"""What is enumerated for one fabric over one protocol, within which cutoff, and the limits that refuse by themselves.

A cutoff is a ceiling per objective that a template must not exceed by itself; with no cutoff everything is
enumerated. Lower bounds used to skip are sums of switches and cheapest links, so nothing within the cutoff is lost.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.case import FabricBase, FabricName, Objective, Topology
from gpunet.models.parts import Protocol, Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.eligible import lossy_where_lossless
from gpunet.solver.headroom_gauge import Gauge
from gpunet.solver.ports import Face, faces
from gpunet.solver.template import FIBRE_NS_PER_M, Measure, Template
from gpunet.solver.wiring import Attach

if TYPE_CHECKING:
    from gpunet.solver.cores import CorePort
    from gpunet.solver.spreads import Leaf
    from gpunet.solver.tiers import Above, Tiers

OBJECTIVES = tuple(Objective)
ROUNDING = 0.25
"""Bounds are sums of floats and totals whole cents or milliwatts: so much more lets in nothing but what is equal."""
Bound = tuple[float, float, float]
"""Lower bounds, one per objective in the order of ``OBJECTIVES``."""


def plus(bound: Bound, weight: Sequence[float], times: float) -> Bound:
    """``bound + weight * times``, objective by objective."""
    return (bound[0] + weight[0] * times, bound[1] + weight[1] * times, bound[2] + weight[2] * times)


class StandIn(NamedTuple):
    """A template by its counts and the most that it can ever add to a total."""

    leaves: int
    above: int
    """Spines and cores."""
    rank: int
    """Number of the objective in ``OBJECTIVES``."""
    most: float


@dataclass
class Cutoff:
    """The most a template may weigh by itself, per objective."""

    most: dict[Objective, float] = field(default_factory=lambda: dict.fromkeys(OBJECTIVES, math.inf))
    stand_ins: tuple[StandIn, ...] = ()
    """Templates that stand in for any that has no fewer leaves and no fewer switches above, and weighs more."""

    def passes(self, bound: Sequence[float], leaves: int = 0, above: int = 0) -> bool:
        """True when a lower bound (cost, power, tco), and counts that are no higher, are within the cutoff."""
        cost, power, tco = bound
        most = self.most
        if (
            cost > most[Objective.COST] + ROUNDING
            or power > most[Objective.POWER] + ROUNDING
            or tco > most[Objective.TCO] + ROUNDING
        ):
            return False
        return not any(x.leaves <= leaves and x.above <= above and bound[x.rank] > x.most for x in self.stand_ins)


@dataclass
class Scope:
    """One fabric over one protocol: what to connect and with which parts."""

    fabric: FabricName
    protocol: Protocol
    spec: FabricBase
    topologies: tuple[Topology, ...]
    kinds: tuple[Endpoints, ...]
    switches: list[Switch]
    measure: Measure
    carries_storage: bool = False
    gauge: Gauge | None = None
    """Judges flow control headroom; none where the case asks for none."""
    row_leaves: int = 0
    """Management leaves in the rows; out-of-band only."""
    central_leaves: int = 0
    """Management leaves in the central zone; out-of-band only."""
    management: bool = False
    leaf_models: frozenset[str] | None = None
    """Models that may be leaves; any when none."""
    core_ports: dict[tuple[str, int, int], list[CorePort]] = field(default_factory=dict, init=False)
    """Cores over each face of each spine model, by objective, thriftiest first; found when first asked for."""
    bases: dict[int, Bound | None] = field(default_factory=dict, init=False)
    """Least weight of all endpoint links, by the number of the leaf in ``leaves``; found when first asked for."""
    only: Affected | None = field(default=None, init=False)
    """Only templates that one part's price can affect; every template where none."""
    standing: list[Tiers] | None = field(default=None, init=False)
    """Two tiers that the part of ``only`` cannot affect, all that there can be; none where they are not known."""
    tiers: dict[int, list[Tiers]] = field(default_factory=dict, init=False)
    """Leaves under spines by objective, as last looked at: all within the cutoff that was left in the end."""
    above: dict[int, dict[float, list[Above]]] = field(default_factory=dict, init=False)
    """Spine models and faces by objective and speed, thriftiest first; found when first asked for."""
    deadline_s: float = math.inf
    """Moment of the monotonic clock after which enumeration stops, once it has found a template."""
    yielded: int = 0
    cut_short: bool = False
    """True when the deadline ended an enumeration: what it found is not all there is."""
    refused: dict[str, int] = field(default_factory=dict)
    """Why templates were refused, by the name of the limit, counted; read by explain."""
    usable: dict[str, list[Face]] = field(default_factory=dict, init=False)
    """Faces of each switch model; found when first asked for, whatever the prices."""
    leaves: list[Leaf] | None = field(default=None, init=False)
    """Leaf models with their down faces; found when first asked for, whatever the prices."""

    def forget_price(self, part: str) -> None:
        """Drop what depends on the price of a part, which has changed."""
        affected = Affected(part, self.measure)
        for number, leaf in enumerate(self.leaves or ()):
            if affected.links(leaf):
                self.bases.pop(number, None)
        if part in self.usable:
            self.above.clear()
        for key, ports in list(self.core_ports.items()):
            if any(affected.tier(x.core, x.pair) for x in ports):
                del self.core_ports[key]

    def forget_prices(self) -> None:
        """Drop what depends on prices, for all of them have changed."""
        for known in (self.core_ports, self.bases, self.above):
            known.clear()

    def affected_by(self, part: str, tiers: Sequence[Tiers] | None) -> Scope:
        """The same scope with only those templates that the price of a part can affect; what is known is shared.

        ``tiers`` are all within any cutoff to come, at some price of that part; none where they are not known.
        """
        narrow = copy.copy(self)
        narrow.only = Affected(part, self.measure)
        narrow.standing = None if tiers is None else [t for t in tiers if not t.is_touched_by(narrow.only)]
        return narrow

    def out_of_time(self) -> bool:
        """True when the deadline has passed and something has been found; remembers that it cut a search short."""
        if self.yielded and time.monotonic() > self.deadline_s:
            self.cut_short = True
        return self.cut_short

    def refuse(self, limit: str) -> None:
        """Count one refusal."""
        self.refused[limit] = self.refused.get(limit, 0) + 1


class Affected:
    """What the price of one part can affect: a switch model, or all links between cages that it can help to join."""

    def __init__(self, part: str, measure: Measure) -> None:
        self.base, self._measure = split_medium_id(part)[0], measure
        self._pairs: dict[int, bool] = {}

    def pair(self, pair: int) -> bool:
        """Whether a link between two cages can use the part."""
        if pair not in self._pairs:
            self._pairs[pair] = self._measure.book.mentions(pair, self.base)
        return self._pairs[pair]

    def tier(self, switch: Switch, pair: int) -> bool:
        """Whether switches of a tier, or their links to those below, are affected."""
        return switch.id == self.base or self.pair(pair)

    def leaf(self, leaf: Leaf) -> bool:
        """Whether a leaf model or the links to its endpoints are affected."""
        return leaf.switch.id == self.base or self.links(leaf)

    def links(self, leaf: Leaf) -> bool:
        """Whether the links between a leaf and its endpoints are affected."""
        pairs = zip(leaf.downs, leaf.scope.kinds, strict=True)
        return any(self.pair(self._measure.endpoint_pair(face, leaf.switch, kind)) for face, kind in pairs)

    def template(self, t: Template) -> bool:
        """Whether a template is affected."""
        return self.base in t.switches or any(self.pair(link.pair) for link in t.facts.blocks)


@dataclass(frozen=True)
class Spread:
    """Endpoints over leaves of one model: plans and what one leaf must carry."""

    topology: Topology
    n_leaves: int
    leaves_per_group: int
    plans: tuple[Attach, ...]
    uplink_gbps: Fraction
    """Bandwidth one leaf needs upwards: every kind's downlinks over its oversubscription."""
    central_leaves: int = 0


def is_overfull(scope: Scope, switch: Switch, *ports: tuple[str, float, int]) -> bool:
    """Whether flow control headroom alone forbids so many ports (link class, Gb/s, count) on a switch."""
    if scope.gauge is None or not scope.gauge.is_beyond(scope.measure, switch, ports):
        return False
    scope.refuse("lossless")
    return True


def too_slow(scope: Scope, passed: Sequence[Switch], link_classes: Sequence[str]) -> bool:
    """True when these switches and the shortest fibre between them already break the latency limit.

    A switch without a published latency cannot be shown to keep it.
    """
    limit = scope.spec.latency_ns
    if limit is None:
        return False
    metres = 2 * sum(scope.measure.shortest_m[link_class] for link_class in link_classes)
    known = [s.latency_ns.v for s in passed if s.latency_ns is not None]
    if len(known) == len(passed) and sum(known) + metres * FIBRE_NS_PER_M <= limit:
        return False
    scope.refuse("latency_ns")
    return True


def usable_faces(scope: Scope, switch: Switch) -> list[Face]:
    """Faces of a switch that the fabric may use; none that is supported only as lossy where losslessness is asked."""
    asked = scope.gauge is not None
    return [
        f for f in faces(switch, scope.protocol) if not lossy_where_lossless(switch, scope.fabric, f.speed_gbps, asked)
    ]


def least_link(measure: Measure, pair: int, link_class: str) -> tuple[float, ...] | None:
    """Least weight of a link between two cages per objective; none when nothing joins them."""
    return measure.book.least_per_link(pair, measure.shortest_m[link_class])
