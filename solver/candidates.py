"""Which templates an instance must hold so that its optimum is the optimum over all of them.

Alone, every fabric wants its best template. What fabrics share (ceilings, space, stock, management ports) may force
dearer ones. Given one feasible design of worth U, a template whose own worth exceeds U minus the least the other
fabrics can do can be in no better design, so it may be left out; and a ceiling says the same about its own total.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gpunet.models.case import Case, FabricBase, FabricName, Objective, PartFilter, Placement, StorageMode, Topology
from gpunet.models.parts import Catalog, FormFactor, Protocol, Switch
from gpunet.solver import demand
from gpunet.solver.airflow import breathing
from gpunet.solver.coding import coded
from gpunet.solver.demand import RJ45_PORT, Endpoints, Machines, NoPortsError
from gpunet.solver.eligible import Eligible, eligible
from gpunet.solver.headroom_gauge import gauge_for
from gpunet.solver.instance import Instance, Key, Management
from gpunet.solver.interconnects import Tables
from gpunet.solver.links import LinkBook, Way, cage_kinds
from gpunet.solver.network_racks import NetworkRacks
from gpunet.solver.oob import ManagementMeasure, management_runs, oob_endpoints
from gpunet.solver.prices import ZERO, PriceList, Weight
from gpunet.solver.purchase import PartTerms
from gpunet.solver.scope import OBJECTIVES, Cutoff, Scope
from gpunet.solver.template import LinkClass, Measure, Template
from gpunet.solver.templates import enumerate_templates
from gpunet.solver.trays import Trays
from gpunet.solver.wiring import Shape

ONE_LINK = Shape((1,), (1,), True, True)
ROW_SWITCH, CENTRAL_SWITCH = "row-switch-leaf", "central-switch-leaf"
Held = dict[FabricName, list[Template]]
"""Templates by fabric."""


@dataclass
class Compiled:
    """Everything about a case that does not depend on which templates are held."""

    case: Case
    catalog: Catalog
    machines: Machines
    prices: PriceList
    eligible: dict[FabricName, Eligible]
    scopes: dict[FabricName, list[Scope]]
    measures: dict[FabricName, Measure]
    fixed: Weight
    fixed_parts: dict[str, int]
    storage_optional: bool
    offered_adapters: dict[str, PartTerms] = field(default_factory=dict)
    """Terms of the adapters that suppliers offer, at the least that one may cost."""
    refused: dict[FabricName, list[str]] = field(default_factory=dict)
    """Why a protocol of a fabric has no endpoints, in words."""
    endpoints: Endpoints | None = None
    """BMCs and PDUs, where there is an out-of-band fabric."""
    management_keys: tuple[Key, Key] | None = None
    """Classes of the management links of switches, in the rows and in the central zone."""
    oob_scopes: dict[tuple[int, int, int], Scope] = field(default_factory=dict)
    """Out-of-band scopes asked for so far, by leaves in the rows, leaves in the central zone and ports of a leaf."""

    def suppose(self, prices: Mapping[str, int]) -> None:
        """Take other unit prices, cents, for some parts; what was supposed before is forgotten."""
        every = (*(scope for scopes in self.scopes.values() for scope in scopes), *self.oob_scopes.values())
        for part in self.prices.suppose(prices):
            for book in {id(m.book): m.book for m in self.measures.values()}.values():
                book.forget(part)
            for measure in self.measures.values():
                measure.forget(part)
            for scope in every:
                scope.forget_price(part)
        _adapters(self)

    @property
    def fabrics(self) -> list[FabricName]:
        """Fabrics with switches of their own."""
        return list(self.scopes)


def compile_case(
    case: Case,
    catalog: Catalog,
    tables: Tables | None = None,
    machines: Machines | None = None,
    prices: PriceList | None = None,
) -> Compiled:
    """Resolve a case against a catalogue. Raises SiteTooSmallError and NoPortsError.

    Cases compiled with the same ``tables``, against one catalogue, share interconnects. ``machines`` may stand in
    another room than the case gives, ``prices`` be others than its own.
    """
    catalog = breathing(case, coded(case, catalog))
    tables, prices = tables or Tables(), prices or PriceList(case, catalog)
    machines = machines or demand.survey(case, catalog)
    compiled = Compiled(case, catalog, machines, prices, {}, {}, {}, ZERO, {}, storage_optional=False)
    wanted = {name: spec for name in FabricName if (spec := getattr(case.fabrics, name.value)) is not None}
    storage = case.fabrics.storage
    mode = storage.mode if storage is not None else StorageMode.NONE
    if mode is StorageMode.NONE:
        wanted.pop(FabricName.STORAGE, None)
    # Fabrics that allow the same parts share the work on interconnects.
    books: dict[PartFilter, LinkBook] = {}
    on_racks = case.site.switch_placement is Placement.TOP_OF_RACK
    for name, spec in wanted.items():
        allowed = compiled.eligible[name] = eligible(case, catalog, prices, name, spec)
        book = books.setdefault(spec.parts, LinkBook(allowed.links, prices, tables.of(allowed.links)))
        compiled.measures[name] = (
            ManagementMeasure(machines.room, book, prices, management_runs(case, machines))
            if name is FabricName.OOB
            else Measure(machines.room, book, prices, on_racks=on_racks and name is FabricName.BACKEND)
        )
    compiled.scopes |= {n: _scopes(compiled, n) for n in (FabricName.BACKEND, FabricName.FRONTEND) if n in wanted}
    if FabricName.STORAGE in wanted and mode in (StorageMode.SEPARATE, StorageMode.AUTO):
        compiled.scopes[FabricName.STORAGE] = _scopes(compiled, FabricName.STORAGE)
    if FabricName.STORAGE in wanted and mode in (StorageMode.CONVERGED, StorageMode.AUTO):
        carrying = _carrying(compiled)
        plain = compiled.scopes[FabricName.BACKEND] if mode is StorageMode.AUTO else []
        compiled.scopes[FabricName.BACKEND] = [*plain, *carrying]
        compiled.storage_optional = mode is StorageMode.AUTO
    if FabricName.OOB in wanted:
        compiled.scopes[FabricName.OOB] = []
        _management(compiled)
    _adapters(compiled)
    return compiled


def _scopes(compiled: Compiled, name: FabricName) -> list[Scope]:
    case, catalog = compiled.case, compiled.catalog
    spec = getattr(case.fabrics, name.value)
    make = {
        FabricName.BACKEND: demand.backend,
        FabricName.STORAGE: demand.storage,
        FabricName.FRONTEND: demand.frontend,
    }[name]
    topologies = spec.topologies if name is FabricName.BACKEND else (Topology.LEAF_SPINE,)
    found = []
    for protocol in spec.protocols:
        try:
            kinds = tuple(make(case, catalog, compiled.machines, protocol))
        except NoPortsError as error:
            compiled.refused.setdefault(name, []).append(f"{protocol.value}: {error}")
            continue
        switches = [s for s in compiled.eligible[name].switches if s.protocol is protocol]
        gauge = gauge_for(case, name, protocol)
        found.append(Scope(name, protocol, spec, topologies, kinds, switches, compiled.measures[name], gauge=gauge))
    return found


def _carrying(compiled: Compiled) -> list[Scope]:
    """Backends that carry storage too: the storage endpoints join the backend's leaves."""
    case, catalog, machines = compiled.case, compiled.catalog, compiled.machines
    storage = case.fabrics.storage
    assert storage is not None
    found = []
    for scope in _scopes(compiled, FabricName.BACKEND):
        if scope.protocol not in storage.protocols:
            continue
        try:
            kinds = demand.storage(case, catalog, machines, scope.protocol)
        except NoPortsError as error:
            compiled.refused.setdefault(FabricName.STORAGE, []).append(f"{scope.protocol.value}: {error}")
            continue
        scope.kinds = (*scope.kinds, *kinds)
        scope.carries_storage = True
        scope.gauge = gauge_for(case, FabricName.BACKEND, scope.protocol, carries_storage=True)
        scope.spec = _stricter(scope.spec, storage)
        found.append(scope)
    return found


def _stricter(backend: FabricBase, storage: FabricBase) -> FabricBase:
    """The backend's settings with the limits that storage sets on the network that carries both."""

    def least(field: str) -> float | None:
        return min((x for spec in (backend, storage) if (x := getattr(spec, field)) is not None), default=None)

    at_least = {f: max(getattr(backend, f), getattr(storage, f)) for f in ("min_leaves", "min_spines", "min_cores")}
    at_most = {f: least(f) for f in ("max_tiers", "max_hops", "latency_ns")}
    return backend.model_copy(update=at_least | at_most)


def _management(compiled: Compiled) -> None:
    """BMCs, PDUs, and the classes of management links that switches bring, at one conservative length each."""
    compiled.endpoints = oob_endpoints(compiled.case, compiled.machines)
    measure = compiled.measures[FabricName.OOB]
    kinds = cage_kinds(RJ45_PORT, RJ45_PORT.modes, Protocol.ETHERNET)
    pair = measure.book.pair(kinds, kinds)
    runs = management_runs(compiled.case, compiled.machines)

    def key(name: str, length_m: float) -> Key:
        return Key(FabricName.OOB, LinkClass(name, pair, measure.book.step(length_m), ONE_LINK))

    compiled.management_keys = key(ROW_SWITCH, runs.row_switch_m), key(CENTRAL_SWITCH, runs.central_switch_m)


def _adapters(compiled: Compiled) -> None:
    """NICs that the server does not include: bought with every design alike."""
    parts: dict[str, int] = {}
    for scopes in compiled.scopes.values():
        for kind in scopes[0].kinds if scopes else ():
            if kind.nic is not None:
                hosts = sum(1 for h in kind.hosts if h.device is not None and not h.device.count("reserved"))
                parts[kind.nic] = parts.get(kind.nic, 0) + hosts * kind.nics_per_host
    total = ZERO
    compiled.offered_adapters = {}
    for part, n in parts.items():
        unit = compiled.prices.weight(part, 0)
        if unit is None and compiled.prices.rules.is_unquoted(part):
            raise NoPortsError("buying.at_list", f"every design needs {part}, and no quote offers it")
        if unit is None:
            raise NoPortsError(
                "prices.overrides_usd", f"no price is known for {part}: give one in prices.overrides_usd"
            )
        terms = compiled.prices.terms(part)
        bought = None if terms is None else terms.buy(n)
        if terms is not None and bought is None:
            why = compiled.prices.rules.stock_alone(part)
            raise NoPortsError(
                "owned" if why else "supply" if terms.sources is None else "quotes",
                f"the case needs {n:,} of {part} and fewer can be had" + (f": {why}" if why else ""),
            )
        if terms is not None and (terms.sources is not None or terms.discount is not None):
            # What they cost is decided with the rest of the order; until then they count for the least it may be.
            least = terms.floor_cents
            compiled.offered_adapters[part] = dataclasses.replace(terms, weighed_cents=least)
            total += (unit + Weight(least - terms.unit_cents, 0, least - terms.unit_cents)).times(n)
            continue
        beyond = 0 if terms is None or bought is None else bought.cents - terms.unit_cents * n
        total += unit.times(n) + Weight(beyond, 0, beyond)
    compiled.fixed, compiled.fixed_parts = total, parts


def within(scope: Scope, cutoff: Cutoff, first: Objective) -> list[Template]:
    """Every template of a scope within the cutoff."""
    return [t for t in enumerate_templates(scope, cutoff, first) if passes(t, cutoff)]


def passes(t: Template, cutoff: Cutoff) -> bool:
    """True when a template by itself is within the cutoff."""
    return cutoff.passes([t.facts.least[o] for o in OBJECTIVES])


def best_of(scopes: Iterable[Scope], objective: Objective, slack: int = 0, most: float = math.inf) -> list[Template]:
    """Every template of a group within ``slack`` of its own best, found with a cutoff that falls as it goes.

    ``most`` is what the best is known to weigh at most, plus the slack: it saves looking at what is dearer.
    """
    cutoff = Cutoff()
    cutoff.most[objective] = most
    found: list[Template] = []
    for scope in scopes:
        for t in enumerate_templates(scope, cutoff, objective):
            found.append(t)
            cutoff.most[objective] = min(cutoff.most[objective], t.facts.least[objective] + slack)
    return [t for t in found if passes(t, cutoff)]


class Finder:
    """Enumerates templates afresh each time it is asked."""

    def near(self, scopes: list[Scope], objective: Objective, slack: int) -> list[Template]:
        """Every template of a group within ``slack`` of its own best."""
        return best_of(scopes, objective, slack)

    def within(self, scopes: list[Scope], cutoff: Cutoff, first: Objective) -> list[Template]:
        """Every template of a group within the cutoff."""
        return [t for scope in scopes for t in within(scope, cutoff, first)]


@dataclass(frozen=True)
class Span:
    """How many switches the other fabrics may bring, by where their management ports are served."""

    rows: tuple[int, int]
    central: tuple[int, int]


def span_of(compiled: Compiled, held: Held) -> Span:
    """The fewest and the most switches that a choice among the held templates brings."""
    low, high = [0, 0], [0, 0]
    for fabric, ts in held.items():
        counts = ([t.facts.row_switches for t in ts], [t.facts.central_switches for t in ts])
        for i, of_place in enumerate(counts):
            optional = fabric is FabricName.STORAGE and compiled.storage_optional
            low[i] += 0 if optional else min(of_place, default=0)
            high[i] += max(of_place, default=0)
    return Span((low[0], high[0]), (low[1], high[1]))


def oob_scopes(compiled: Compiled, span: Span) -> list[Scope]:
    """Out-of-band scopes by size: every number of leaves that some number of switches within the span calls for.

    Leaf models differ in ports, so each model has sizes of its own.
    """
    spec = compiled.case.fabrics.oob
    assert spec is not None
    assert compiled.endpoints is not None
    fixed = compiled.endpoints.future_cages
    switches = [s for s in compiled.eligible[FabricName.OOB].switches if s.protocol is Protocol.ETHERNET]
    found = []
    widths = sorted({ports for s in switches for ports in access_ports(s)})
    for ports in widths:
        others = [s for s in switches if ports not in access_ports(s)]
        leaves = [s for s in switches if ports in access_ports(s)]
        row_sizes = _sizes(fixed + span.rows[0], fixed + span.rows[1], ports)
        for rows in sorted({*row_sizes, max(row_sizes[0], spec.min_leaves)}):
            lowest = 0 if span.central[0] == 0 else 1
            central_sizes = _sizes(span.central[0], span.central[1], ports) if compiled.machines.room.rows > 1 else [0]
            for central in sorted({max(lowest, c) for c in [0, *central_sizes]}):
                if rows + central < spec.min_leaves:
                    continue
                size = (rows, central, ports)
                if size not in compiled.oob_scopes:
                    compiled.oob_scopes[size] = Scope(
                        FabricName.OOB,
                        Protocol.ETHERNET,
                        spec,
                        (Topology.LEAF_SPINE,),
                        (compiled.endpoints,),
                        [*leaves, *others],
                        compiled.measures[FabricName.OOB],
                        row_leaves=rows,
                        central_leaves=central,
                        management=True,
                        leaf_models=frozenset(s.id for s in leaves),
                    )
                found.append(compiled.oob_scopes[size])
    return found


def access_ports(switch: Switch) -> set[int]:
    """Management ports a switch can give: one figure per group of RJ45 cages and mode."""
    return {g.count * m.ports for g in switch.cages if g.fabric and g.form_factor is FormFactor.RJ45 for m in g.modes}


def _sizes(low: int, high: int, ports: int) -> list[int]:
    """Numbers of leaves from what the fewest ports need to what the most need with the leaves' own and a few more."""
    return list(range(max(1, math.ceil(low / ports)), math.ceil((high + ports // 2) / max(1, ports - 1)) + 1))


def instance(compiled: Compiled, held: Held) -> Instance:
    """An instance over the templates held."""
    templates = {fabric: sorted(ts, key=lambda t: t.rank()) for fabric, ts in held.items()}
    ways: dict[Key, tuple[Way, ...]] = {}
    weights = {}
    for fabric, ts in templates.items():
        measure = compiled.measures[fabric]
        for t in ts:
            weights[id(t)] = t.facts.switch_weight
            for link in t.facts.blocks:
                key = Key(fabric, link)
                if key not in ways:
                    ways[key] = measure.book.ways(link.pair, link.step_m, link.shape)
    management = None
    if FabricName.OOB in templates and compiled.management_keys is not None and compiled.endpoints is not None:
        for key in compiled.management_keys:
            link = key.link
            ways[key] = compiled.measures[FabricName.OOB].book.ways(link.pair, link.step_m, link.shape)
        leaf_ports = {id(t): t.downs[0].cages * t.downs[0].ports for t in templates[FabricName.OOB]}
        management = Management(*compiled.management_keys, compiled.endpoints.future_cages, leaf_ports)
    parts = {p for t in templates.values() for x in t for p in x.switches} | {
        p for ws in ways.values() for w in ws for p, _ in w.parts
    }
    return Instance(
        case=compiled.case,
        catalog=compiled.catalog,
        machines=compiled.machines,
        prices=compiled.prices,
        templates=templates,
        weights=weights,
        ways=ways,
        fixed=compiled.fixed,
        fixed_parts=compiled.fixed_parts,
        storage_optional=compiled.storage_optional,
        management=management,
        racks=NetworkRacks.of(compiled.machines.room, templates, compiled.storage_optional, compiled.endpoints),
        terms={p: terms for p in sorted(parts) if (terms := compiled.prices.terms(p)) is not None}
        | compiled.offered_adapters,
        trays=Trays(compiled.machines.room).limits,
    )
