"""From a case to a verified design: compile, search, wire, price, verify."""

from __future__ import annotations

import importlib.metadata
import time
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction

from gpunet.models.case import FIXED_PLACEMENTS, Case, FabricName
from gpunet.models.design import (
    Design,
    FabricDesign,
    InterconnectLine,
    ObjectiveValue,
    PlacementTried,
    Result,
    Status,
    Tier,
)
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.models.parts import Status as PartStatus
from gpunet.solver.airflow import air_to_order
from gpunet.solver.bill import Bill, make_bill
from gpunet.solver.build import Builder
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.delivery import asks_for_time, delivery_of
from gpunet.solver.demand import NoPortsError
from gpunet.solver.enclosures import crowded_racks
from gpunet.solver.engines import Engine, EngineError
from gpunet.solver.explain import why_not
from gpunet.solver.headroom import headroom_of, headroom_warnings, rules_for
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.placements import UNIT, is_open, none_stands, placed, settle
from gpunet.solver.quotes import weeks_of
from gpunet.solver.search import Found, search
from gpunet.solver.template import ENDPOINT_LEAF, FIBRE_NS_PER_M, Template, Upper, path_switches
from gpunet.solver.ties import Ties, ties_of
from gpunet.solver.tray_fill import tray_fill
from gpunet.solver.verify import verify
from gpunet.solver.wiring import Attach

Tell = Callable[[str], None]


def optimize(
    case: Case,
    catalog: Catalog,
    *,
    engine: str = "highs",
    time_limit_s: float | None = None,
    tell: Tell | None = None,
) -> Design:
    """Design the network of a case and prove it.

    The design's result says ``optimal`` (gap 0), ``feasible`` (stopped early, with the gap left), ``infeasible``
    (with the reasons), ``no_solution`` (stopped before anything was found) or ``failed``.
    """
    begun = time.perf_counter()
    say = tell or (lambda _: None)
    try:
        placements: tuple[PlacementTried, ...] = ()
        try:
            if is_open(case):
                settled = settle(case, catalog, Engine(engine), time_limit_s, say)
                compiled, found, placements = settled.compiled, settled.found, settled.placements
            else:
                compiled = compile_case(case, catalog)
                found = search(compiled, Engine(engine), time_limit_s, say)
        except (SiteTooSmallError, NoPortsError):
            status = Status.INFEASIBLE
        else:
            if found.outcome.choice is not None and found.data is not None:
                return designed(compiled, found, engine, say, begun, placements)
            status = found.outcome.status
        reasons: tuple[str, ...] = ()
        if status is Status.INFEASIBLE:
            say("looking for the limits that clash")
            left_s = None if time_limit_s is None else time_limit_s - (time.perf_counter() - begun)
            one = placed(case, FIXED_PLACEMENTS[0]) if is_open(case) else case
            reasons = (*none_stands(placements), *why_not(one, catalog, engine, left_s, say))
        elif status is Status.NO_SOLUTION:
            reasons = (f"stopped after {time_limit_s:g} s before any design was found: give it more time",)
        return _without(case, catalog, engine, status, reasons, begun, placements)
    except EngineError as error:
        return _without(case, catalog, engine, Status.FAILED, (f"{engine}: {error}",), begun)


def _without(
    case: Case,
    catalog: Catalog,
    engine: str,
    status: Status,
    reasons: tuple[str, ...],
    begun: float,
    placements: tuple[PlacementTried, ...] = (),
) -> Design:
    result = Result(
        case=case.name,
        status=status,
        gap=None,
        objective=None,
        totals=None,
        placements=placements,
        reasons=reasons,
        catalog_version=catalog.version,
        gpunet_version=importlib.metadata.version("gpunet"),
        engine=engine,
        seconds=round(time.perf_counter() - begun, 3),
    )
    return Design(case, result)


def designed(
    compiled: Compiled,
    found: Found,
    engine: str,
    say: Tell,
    begun: float,
    placements: tuple[PlacementTried, ...] = (),
) -> Design:
    """The choice that a search found, wired, priced and verified. Raises EngineError where the figures disagree.

    ``placements`` are those it was chosen among; the design's case names its own.
    """
    case, catalog, data = compiled.case, compiled.catalog, found.data
    assert data is not None
    choice = found.outcome.choice
    assert choice is not None
    say("wiring")
    ledger = Builder(compiled, data, choice).build()
    bill = make_bill(ledger, catalog, compiled.prices)
    if bill.net != choice.net(data):
        raise EngineError(f"the ledger totals {bill.net}, the program {choice.net(data)}")
    first = case.objectives[0]
    unit = UNIT[first]
    ties = {}
    if found.outcome.status is Status.OPTIMAL:
        say("looking for ties")
        ties = ties_of(compiled, data, choice, Engine(engine))
    bound = found.outcome.bound
    result = Result(
        case=case.name,
        status=found.outcome.status,
        gap=found.outcome.gap,
        objective=ObjectiveValue(name=",".join(o.value for o in case.objectives), value=bill.net.of(first) / unit),
        bound=bill.net.of(first) / unit if found.outcome.status is Status.OPTIMAL else _over(bound, unit),
        totals=bill.totals(),
        fabrics=_fabrics(data, choice, ledger, ties),
        bom=bill.lines,
        delivery=delivery_of(case, catalog, bill.lines) if asks_for_time(case) else None,
        placements=placements,
        trays=tray_fill(ledger, catalog, compiled.machines.room),
        warnings=(*_warnings(compiled, choice, bill), *crowded_racks(ledger, catalog, case.site.rack.units)),
        catalog_version=catalog.version,
        gpunet_version=importlib.metadata.version("gpunet"),
        engine=engine,
    )
    say("verifying")
    checked = verify(Design(case, result, ledger), catalog)
    status = result.status if checked.passed else Status.FAILED
    result = result.model_copy(
        update={"verify": checked, "status": status, "seconds": round(time.perf_counter() - begun, 3)}
    )
    return Design(case, result, ledger)


def _over(bound: float | None, unit: int) -> float | None:
    return None if bound is None else bound / unit


def _fabrics(
    data: Instance, choice: Choice, ledger: Ledger, ties: Mapping[FabricName, Ties]
) -> dict[str, FabricDesign]:
    found = {}
    lines = _interconnects(data, choice, ledger)
    for fabric, t in choice.templates.items():
        found[fabric.value] = FabricDesign(
            protocol=t.protocol.value,
            topology=t.topology.value,
            oversubscription=_built_oversubscription(t),
            striping=t.striping.value if t.spine is not None else "strict",
            tiers=_tiers(t),
            links=_link_counts(ledger, fabric.value),
            interconnects=lines.get(fabric.value, ()),
            hops=t.facts.hops,
            latency_ns=_latency_ns(t, ledger),
            ties=ties[fabric].templates if fabric in ties else 0,
            link_ties=ties[fabric].links if fabric in ties else 0,
            headroom=headroom_of(
                ledger, data.catalog, fabric, rules_for(data.case, fabric, t.protocol, t.carries_storage)
            ),
        )
        if t.carries_storage:
            found[FabricName.STORAGE.value] = found[fabric.value].model_copy(
                update={
                    "shared_with": fabric.value,
                    "tiers": (),
                    "headroom": (),
                    "links": _link_counts(ledger, FabricName.STORAGE.value),
                    "interconnects": lines.get(FabricName.STORAGE.value, ()),
                }
            )
    return {name: found[name] for name in (f.value for f in FabricName) if name in found}


def _latency_ns(t: Template, ledger: Ledger) -> float | None:
    """Switches and fibre on the longest path as bought, ns; none where a switch publishes no latency."""
    totals = []
    longest: dict[str, float] = {}
    for link in ledger.links:
        if link.fabric == t.fabric and link.link_class != ENDPOINT_LEAF:
            longest[link.link_class] = max(longest.get(link.link_class, 0.0), link.length_m)
    for wing in t.wings or (t,):
        known = [s.latency_ns for s in path_switches(wing)]
        if any(fact is None for fact in known):
            return None
        totals.append(sum(fact.v for fact in known if fact is not None))
    return max(totals) + 2 * FIBRE_NS_PER_M * sum(longest.values())


def _down_ports(t: Template, plans: tuple[Attach, ...]) -> int:
    ports = 0
    for kind, plan in zip(t.kinds, plans, strict=True):
        if plan.rails_per_leaf:
            ports += plan.hosts_per_group * plan.rails_per_leaf
        else:
            ports += plan.cages_per_leaf * kind.ports_per_cage
    return ports


def _leaf_tier(t: Template) -> Tier:
    gbps = sum(
        (plan.hosts_per_group * plan.rails_per_leaf if plan.rails_per_leaf else plan.cages_per_leaf * k.ports_per_cage)
        * k.speed_gbps
        for k, plan in zip(t.kinds, t.plans, strict=True)
    )
    up = t.spine.links_per_lower if t.spine else 0
    return Tier(
        tier="leaf",
        switch=t.leaf.id,
        count=t.n_leaves,
        down_ports=_down_ports(t, t.plans),
        up_ports=up,
        down_gbps=gbps,
        up_gbps=up * (t.spine.face.speed_gbps if t.spine else 0),
    )


def _tiers(t: Template) -> tuple[Tier, ...]:
    def down_gbps(upper: Upper, n_lower: int, groups: int) -> tuple[int, float]:
        ports = n_lower * upper.links_per_lower // (upper.count * groups)
        return ports, ports * upper.face.speed_gbps

    tiers = [_leaf_tier(wing) for wing in t.wings or (t,)]
    if t.spine is not None:
        down, gbps = 0, 0.0
        for wing in t.wings or (t,):
            assert wing.spine is not None
            ports, rate = down_gbps(wing.spine, min(wing.leaves_per_pod, wing.n_leaves), 1)
            down, gbps = down + ports, gbps + rate
        up = t.core.links_per_lower if t.core else 0
        tiers.append(
            Tier(
                tier="spine",
                switch=t.spine.switch.id,
                count=t.n_spines,
                down_ports=down,
                up_ports=up,
                down_gbps=gbps,
                up_gbps=up * (t.core.face.speed_gbps if t.core else 0),
            )
        )
    if t.core is not None:
        n_lower = t.n_pods if t.core.multiplicity else t.n_spines
        down, gbps = down_gbps(t.core, n_lower, 1)
        tiers.append(
            Tier(tier="core", switch=t.core.switch.id, count=t.n_cores, down_ports=down, up_ports=0, down_gbps=gbps)
        )
    return tuple(tiers)


def _built_oversubscription(t: Template) -> float:
    ratios = [Fraction(x.down_gbps) / Fraction(x.up_gbps) for x in _tiers(t) if x.up_gbps]
    return round(float(max(ratios, default=Fraction(1))), 4)


def _link_counts(ledger: Ledger, fabric: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for link in ledger.links:
        if link.fabric == fabric:
            counts[link.link_class] = counts.get(link.link_class, 0) + 1
    return counts


def _interconnects(data: Instance, choice: Choice, ledger: Ledger) -> dict[str, tuple[InterconnectLine, ...]]:
    """How the links of every fabric are built, counted in the ledger; the reasons are those of the choice."""
    reasons = {}
    for key, counts in choice.built.items():
        for way, n in zip(data.ways[key], counts, strict=True):
            if n:
                ic = way.interconnect
                run = ic.laid.run if ic.laid else ""
                reasons[ic.a_part, ic.medium, ic.b_part, ic.medium_length_m, run] = ic.reason
    runs = {row.assembly: row.run for row in ledger.channels}
    seats = {(s.device, s.group, s.cage): s.part for s in ledger.seats}
    counted = Counter(
        (
            x.fabric,
            x.link_class,
            x.length_m,
            x.speed_gbps,
            seats.get((x.a_device, x.a_group, x.a_cage)),
            x.medium,
            seats.get((x.b_device, x.b_group, x.b_cage)),
            runs.get(x.assembly, ""),
        )
        for x in ledger.links
    )
    found: dict[str, list[InterconnectLine]] = {}
    for (fabric, link_class, length_m, speed, a_part, medium, b_part, run), n in counted.items():
        line = InterconnectLine(
            link_class=link_class,
            length_m=length_m,
            speed_gbps=speed,
            count=n,
            a_part=a_part,
            medium=medium,
            b_part=b_part,
            reason=reasons.get((a_part, medium, b_part, length_m, run), ""),
        )
        found.setdefault(fabric, []).append(line)
    return {
        fabric: tuple(sorted(lines, key=lambda x: (x.link_class, x.length_m, x.medium, x.a_part or "", x.b_part or "")))
        for fabric, lines in found.items()
    }


def _warnings(compiled: Compiled, choice: Choice, bill: Bill) -> tuple[str, ...]:
    catalog, found = compiled.catalog, []
    modules = {line.part for line in bill.lines if line.kind == "module"}
    for t in choice.templates.values():
        if t.spine is not None and t.striping.value == "ports":
            found.append(f"{t.fabric.value}: striping counts ports only: not proven non-blocking")
        for switch in {s.id: s for s in (t.leaf, *(u.switch for u in (t.spine, t.core) if u))}.values():
            if (order := air_to_order(compiled.case, switch)) is not None:
                found.append(order)
            for module, limitation in switch.limits_modules.items():
                if module in modules:
                    found.append(f"{module} in {switch.id}: {limitation}")
        found += headroom_warnings(t, compiled.case)
    tables = (catalog.switches, catalog.modules, catalog.cables, catalog.fibres, catalog.nics, catalog.accessories)
    limit = compiled.case.limits.lead_time_weeks
    for line in bill.lines:
        base = line.part.rsplit("-n", 1)[0]
        item = next((table[p] for table in tables for p in (line.part, base) if p in table), None)
        if item is None:
            continue
        if item.status is PartStatus.DISCONTINUED:
            found.append(f"{line.part}: discontinued: these are in the house, and no other can be bought")
        elif item.status is not PartStatus.ACTIVE:
            found.append(f"{line.part}: status {item.status.value}: confirm that it can be ordered")
        if limit is not None and weeks_of(compiled.case, line.part, item.lead_time_weeks) is None:
            found.append(f"{line.part}: no lead time is known, so limits.lead_time_weeks could not be checked")
    return tuple(dict.fromkeys(found))
