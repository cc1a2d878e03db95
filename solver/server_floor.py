"""What any network for so many servers weighs at least, whatever the design: a bound that never falls as servers join.

It forgets the room (every run may be as short as the cheapest piece), whole switches (only their bandwidth counts) and
how links fall into cages. What is left rises with every server: its links and adapters, the bandwidth that leaves,
spines and cores must have, and the tiers that so many endpoints cannot do without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpunet.models.case import Case, FabricName, Objective
from gpunet.models.interconnect import CageKind
from gpunet.models.parts import Catalog, Switch
from gpunet.solver.candidates import Compiled, compile_case, instance
from gpunet.solver.demand import Endpoints
from gpunet.solver.held import groups
from gpunet.solver.links import cage_kinds
from gpunet.solver.ports import Face, faces
from gpunet.solver.requirement_steps import moved
from gpunet.solver.scope import OBJECTIVES, Scope
from gpunet.solver.search import Floors

Weights = tuple[float, ...]
"""One figure per objective."""
ROUNDING = 1e-9
"""Share by which a sum of floats may be off."""


@dataclass(frozen=True)
class _Kind:
    """Endpoints of one kind as functions of the servers."""

    per_server: int
    """Ports of one server."""
    others: int
    """Ports that are there with one server and belong to none: reserved ports, storage servers."""
    gbps: float
    oversubscription: float

    def ports(self, servers: int) -> int:
        return self.per_server * servers + self.others


@dataclass(frozen=True)
class _Leaf:
    """What a leaf model brings with it, per objective where it is a weight."""

    ports: float
    gbps: float
    one: Weights
    """One switch."""
    links: tuple[Weights, ...]
    """One endpoint link, by kind."""
    above: dict[int, Weights]
    """All that stands above 1 Gb/s of uplink, by tiers."""


def ceilings_of(compiled: Compiled) -> dict[Objective, int]:
    """The most that the switches and links of a case may cost, cents, and draw, milliwatts, where it sets a ceiling."""
    data = instance(compiled, {})
    found = {} if data.cost_limit is None else {Objective.COST: data.cost_limit - compiled.fixed.cost}
    powers = [] if data.power_limit is None else [data.power_limit]
    if data.site_limit is not None:
        powers.append(data.site_limit - data.servers_mw)
    return found | ({Objective.POWER: min(powers)} if powers else {})


class ServerFloor:
    """Lower bounds on cost, cents, and power, milliwatts, of any network for a number of servers.

    Raises what ``compile_case`` raises, SiteTooSmallError and NoPortsError, where not even one server can be had.
    """

    def __init__(self, case: Case, catalog: Catalog) -> None:
        self._compiled = compile_case(moved(case, "cluster.servers", 1), catalog)
        data = instance(self._compiled, {})
        self._cost, self._power, self._site = data.cost_limit, data.power_limit, data.site_limit
        server = self._compiled.machines.server.power_max_w.milli
        self._server_mw, self._other_mw = server, data.servers_mw - server
        self._scopes = {
            group: [_ScopeFloor(scope) for scope in scopes] for group, scopes in groups(self._compiled).items()
        }
        prices = self._compiled.prices
        nics = self._compiled.fixed_parts
        terms = {part: prices.rules.of(part, prices.cents(part) or 0) for part in nics}
        each = {part: (prices.cents(part) or 0) if (x := terms[part]) is None else x.least_price_cents for part in nics}
        self._nics_cents = sum(n * each[part] for part, n in nics.items())
        self._owned_nics_cents = sum(x.owned * each[part] for part, x in terms.items() if x is not None)

    def least(self, objective: Objective, servers: int, future: int) -> float:
        """The least that a network weighs which connects ``servers`` and has room for ``future``.

        Infinite where no design has so many ports. It never falls as either number rises.
        """
        found = {
            group: least
            for group, scopes in self._scopes.items()
            if math.isfinite(least := min((s.least(objective, servers, future) for s in scopes), default=math.inf))
        }
        fabrics = {fabric for fabric, _ in found}
        carried = (FabricName.BACKEND, True) in found and self._compiled.storage_optional
        for fabric in self._compiled.scopes:
            optional = fabric is FabricName.OOB or (fabric is FabricName.STORAGE and carried)
            if fabric not in fabrics and not optional:
                return math.inf
        floors = Floors({g: math.floor(x * (1 - ROUNDING)) for g, x in found.items()}, self._compiled.storage_optional)
        if objective is Objective.POWER:
            return floors.total()
        return floors.total() + max(0, self._nics_cents * servers - self._owned_nics_cents)

    def may_fit(self, servers: int, future: int) -> bool:
        """False when no network for so many servers is within the ceilings of the case."""
        if self._cost is not None and self.least(Objective.COST, servers, future) > self._cost:
            return False
        power = math.inf if self._power is None else self._power
        if self._site is not None:
            power = min(power, self._site - self._server_mw * servers - self._other_mw)
        least = self.least(Objective.POWER, servers, future)
        return math.isfinite(least) and least <= power


class _ScopeFloor:
    """The bound of one fabric over one protocol."""

    def __init__(self, scope: Scope) -> None:
        self.spec = scope.spec
        self.kinds = [_kind(kind) for kind in scope.kinds]
        self.sigma = max(kind.oversubscription for kind in self.kinds)
        self.leaves = list(_leaves(scope, self.sigma))
        self.most_ports = max((_ports(s) for s in scope.switches), default=0.0)
        fastest = max(kind.gbps for kind in self.kinds)
        self.most_in_pod = max(
            (min(_ports(s), _gbps(s) / (1 + 1 / self.sigma) / fastest) for s in scope.switches), default=0.0
        )

    def least(self, objective: Objective, servers: int, future: int) -> float:
        rank = OBJECTIVES.index(objective)
        down = sum(kind.ports(future) * kind.gbps for kind in self.kinds)
        up = sum(kind.ports(future) * kind.gbps / kind.oversubscription for kind in self.kinds)
        ports = sum(kind.ports(future) for kind in self.kinds)
        best = math.inf
        for tiers in range(1, self.spec.max_tiers + 1):
            holds = [self._holds(leaf, tiers, ports, down) for leaf in self.leaves]
            if self.spec.mixed_leaves:
                # Leaves of two models share the endpoints: together they hold what the larger one would hold alone.
                holds = [any(holds)] * len(holds)
            for leaf, can in zip(self.leaves, holds, strict=True):
                if not can:
                    continue
                links = sum(kind.ports(servers) * link[rank] for kind, link in zip(self.kinds, leaf.links, strict=True))
                if tiers == 1:
                    best = min(best, links + leaf.one[rank])
                elif tiers in leaf.above:
                    switches = leaf.one[rank] / leaf.gbps * (down + up)
                    best = min(best, links + switches + leaf.above[tiers][rank] * up)
        return best

    def _holds(self, leaf: _Leaf, tiers: int, ports: int, down: float) -> bool:
        """Whether so many endpoints fit under such leaves: a spine reaches each of its leaves, a core each pod."""
        if tiers == 1:
            return ports <= leaf.ports and down <= leaf.gbps * (1 + ROUNDING)
        leaves = self.most_ports * (self.most_in_pod if tiers == 3 else 1)
        return down <= leaves * leaf.gbps / (1 + 1 / self.sigma) * (1 + ROUNDING)


def _kind(kind: Endpoints) -> _Kind:
    present = sum(h.cages for h in kind.hosts if h.device is not None)
    per_server = kind.cages_per_host if kind.kind == "server" else 0
    return _Kind(
        per_server * kind.ports_per_cage,
        (present - per_server) * kind.ports_per_cage,
        kind.speed_gbps,
        float(kind.oversubscription),
    )


def _leaves(scope: Scope, sigma: float) -> Iterator[_Leaf]:
    measure, book = scope.measure, scope.measure.book
    shown = {s.id: faces(s, scope.protocol) for s in scope.switches}
    per_gbps = {s.id: tuple(w / _gbps(s) for w in measure.bound_weight(s)) for s in scope.switches if _gbps(s)}
    fastest = max(kind.speed_gbps for kind in scope.kinds)

    # Many models have the same cages, so links are looked up once per kind of cage.
    kinds = {
        (s.id, face): cage_kinds(face.group, face.modes, s.protocol, face.hot, s)
        for s in scope.switches
        for face in shown[s.id]
    }

    def over(lower: Switch, slowest: float, further: dict[str, Weights]) -> Weights | None:
        """The least of link and switch above per Gb/s, with what stands further up."""
        ends: dict[tuple[float, tuple[CageKind, ...]], Weights] = {}
        for (part, face), cage in kinds.items():
            if part in further:
                key = face.speed_gbps, cage
                ends[key] = _least([further[part], ends.get(key, further[part])])
        found = []
        for up in shown[lower.id]:
            for (speed, cage), weight in ends.items():
                if up.speed_gbps == speed >= slowest:
                    link = book.least_per_link(book.pair(kinds[lower.id, up], cage), 0.0)
                    if link is not None:
                        found.append(tuple(a / speed + b for a, b in zip(link, weight, strict=True)))
        return _least(found) if found else None

    # A spine under cores spends bandwidth on both sides; what goes on is at least a share 1 / sigma.
    cores = {s.id: over(s, 0.0, per_gbps) for s in scope.switches}
    deep = {
        part: tuple(w + (w + c) / sigma for w, c in zip(per_gbps[part], core, strict=True))
        for part, core in cores.items()
        if core is not None and part in per_gbps
    }
    for leaf in scope.switches:
        links = [_endpoint_link(scope, leaf, shown[leaf.id], kind) for kind in scope.kinds]
        found = [link for link in links if link is not None]
        if len(found) < len(links) or leaf.id not in per_gbps:
            continue
        above = {
            tiers: weight
            for tiers, further in ((2, per_gbps), (3, deep))
            if (weight := over(leaf, fastest, further)) is not None
        }
        yield _Leaf(_ports(leaf), _gbps(leaf), tuple(measure.bound_weight(leaf)), tuple(found), above)


def _endpoint_link(scope: Scope, leaf: Switch, shown: list[Face], kind: Endpoints) -> Weights | None:
    measure = scope.measure
    found = [
        link
        for face in shown
        if face.speed_gbps == kind.speed_gbps
        and (link := measure.book.least_per_link(measure.endpoint_pair(face, leaf, kind), 0.0)) is not None
    ]
    return _least(found) if found else None


def _least(every: Sequence[Weights]) -> Weights:
    return tuple(map(min, zip(*every, strict=True)))


def _gbps(switch: Switch) -> float:
    """Bandwidth of all fabric cages at their widest mode, Gb/s."""
    return sum(g.count * max((m.ports * m.speed_gbps for m in g.modes), default=0.0) for g in switch.cages if g.fabric)


def _ports(switch: Switch) -> float:
    """Most logical ports, whatever their speed."""
    limit = switch.max_logical_ports.v if switch.max_logical_ports else math.inf
    return min(limit, sum(g.count * max((m.ports for m in g.modes), default=0) for g in switch.cages if g.fabric))


def largest(floor: ServerFloor, future_of: int | None, most: int) -> int:
    """The largest number that ``may_fit`` does not rule out, up to ``most``; 0 where it rules out all.

    Of servers where ``future_of`` is none, else of places kept for that many servers, its own included.
    """

    def may(n: int) -> bool:
        return floor.may_fit(n, n) if future_of is None else floor.may_fit(future_of, n)

    low, high = 0, 1
    while high < most and may(high):
        low, high = high, min(most, 2 * high)
    if may(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if may(middle) else (low, middle)
    return low
