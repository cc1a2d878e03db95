"""Ceilings of the case, parts it may use, and what the result says about its fabrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gpunet.catalogs import split_medium_id
from gpunet.models.case import FabricBase, PartFilter, StorageMode
from gpunet.models.design import Check
from gpunet.models.evidence import usd_to_cents, watts_to_milliwatts
from gpunet.models.parts import Part, Protocol, Status
from gpunet.solver.verify_book import LEAF_SPINE, SPINE_CORE, Book
from gpunet.solver.verify_groups import GroupType
from gpunet.solver.verify_links import Wiring
from gpunet.solver.verify_money import Bill
from gpunet.solver.verify_network import Network, spec_of
from gpunet.solver.verify_offers import promised_weeks
from gpunet.solver.verify_report import Findings

ORDERABLE = (Status.ACTIVE, Status.CONFIRM)


def check_limits(bill: Bill) -> Check:
    """Cost, power, racks, lead time, vendors and distinct parts within the case's ceilings."""
    findings = Findings("limits")
    limits, book = bill.case.limits, bill.book
    bought = {name: line for name, line in bill.lines.items() if bill.orders[name].bought}
    if limits.cost_usd is not None and bill.cost_cents > usd_to_cents(limits.cost_usd):
        findings.add(f"cost: {bill.cost_cents / 100:,.2f} USD, at most {limits.cost_usd:,.2f}")
    if limits.power_kw is not None and bill.power_mw > watts_to_milliwatts(limits.power_kw * 1000):
        findings.add(f"power: {bill.power_mw / 1e6:,.3f} kW, at most {limits.power_kw:,g}")
    vendors = sorted({line.part.vendor for line in bill.lines.values() if line.part is not None})
    if limits.vendors is not None and len(vendors) > limits.vendors:
        findings.add(f"vendors: {len(vendors)} ({', '.join(vendors)}), at most {limits.vendors}")
    if limits.skus is not None and len(bill.lines) > limits.skus:
        findings.add(f"distinct parts: {len(bill.lines)}, at most {limits.skus}")
    racks = network_racks(book)
    if limits.racks is not None and len(racks) > limits.racks:
        findings.add(f"network racks: {len(racks)}, at most {limits.racks}")
    if limits.lead_time_weeks is not None:
        for name, line in sorted(bought.items()):
            known = line.part.lead_time_weeks if line.part is not None else None
            weeks = promised_weeks(bill.case, name, None if known is None else known.v)
            if weeks is not None and weeks > limits.lead_time_weeks:
                findings.add(f"lead time: {name} takes {weeks:g} weeks, at most {limits.lead_time_weeks:g}")
    return findings.check(f"{len(bill.lines)} distinct parts of {len(vendors)} vendors, {len(racks)} network racks")


def network_racks(book: Book) -> set[str]:
    """Racks that hold a switch and neither servers nor storage servers."""
    hosts = {d.rack for d in book.ledger.devices if d.kind in ("server", "storage-server")}
    return {d.rack for d in book.ledger.devices if d.kind == "switch"} - hosts


def check_parts(bill: Bill) -> Check:
    """Parts that the case and the fabric allow, that can be ordered, and that their hosts support."""
    findings = Findings("support")
    book, catalog = bill.book, bill.catalog
    kinds: dict[str, Mapping[str, Part]] = {
        "switch": catalog.switches,
        "module": catalog.modules,
        "cable": catalog.cables,
        "fibre": catalog.fibres,
        "accessory": catalog.accessories,
    }
    used = sorted(_parts_by_fabric(bill))
    named = {pattern for f in [bill.case.parts, *(s.parts for s in _specs(book))] for pattern in f.allow}
    owned = {o.part for o in bill.case.owned}
    for fabric, kind, name in used:
        part = kinds[kind].get(name)
        if part is None:
            continue
        spec = spec_of(book, fabric)
        for where, part_filter in (
            ("parts", bill.case.parts),
            (f"fabrics.{fabric}.parts", spec.parts if spec else None),
        ):
            if part_filter is not None and (why := _shut_out(part_filter, kind, part, kinds)):
                findings.add(f"{name}: not allowed by {where}.{why}")
        is_owned = any(o == name or o.startswith(f"{name}-n") for o in owned)
        may_be_named = part.status is not Status.DISCONTINUED and name in named
        if part.status not in ORDERABLE and not is_owned and not may_be_named:
            findings.add(f"{name}: status {part.status.value}")
    for name, line in sorted(bill.lines.items()):
        if line.part is not None and line.part.status is Status.DISCONTINUED and bill.orders[name].bought:
            findings.add(f"{name}: discontinued, and {bill.orders[name].bought:,} of it are to be bought")
    notes = _host_lists(bill, findings)
    return findings.check(f"every part is allowed and orderable, no host refuses its modules{notes}")


def _specs(book: Book) -> list[FabricBase]:
    return [s for f in ("backend", "storage", "frontend", "oob") if (s := spec_of(book, f)) is not None]


def _parts_by_fabric(bill: Bill) -> set[tuple[str, str, str]]:
    """(fabric, kind, id) of every part in use; media by their id without the length."""
    book, wiring = bill.book, bill.wiring
    found = {(d.fabric, "switch", d.part) for d in book.ledger.devices if d.kind == "switch"}
    for fabric, name in enumerate(book.fabric_names):
        here = book.fabric == fabric
        ends = np.concatenate([book.a_cage[here], book.b_cage[here]])
        seats = np.unique(book.cage_seat[ends])
        found |= {(name, "module", book.modules[s]) for s in seats.tolist() if s >= 0}
        for medium in np.unique(book.medium[here]).tolist():
            part = wiring.media[medium].part
            if part is not None:
                found.add((name, "fibre" if part.id in bill.catalog.fibres else "cable", part.id))
    fabrics = {link.assembly: link.fabric for link in book.ledger.links}
    panels = {panel.number: panel.part for panel in book.ledger.panels}
    for row in book.ledger.channels:
        fabric_name = fabrics.get(row.assembly, "")
        found |= {(fabric_name, "fibre", split_medium_id(x)[0]) for x in (row.run, row.cord) if x}
        used = [panels[n] for n in (row.near_panel, row.far_panel) if n in panels]
        found |= {(fabric_name, "accessory", part) for part in used}
    return found


def _shut_out(part_filter: PartFilter, kind: str, part: Part, kinds: Mapping[str, Mapping[str, Part]]) -> str:
    """``deny`` or ``allow`` where that list shuts the part out; empty where it may be used."""

    def covers(pattern: str, other_kind: str, other: Part) -> bool:
        head, star, _ = pattern.partition(":*")
        return head in (other_kind, other.vendor) if star else pattern == other.id

    if any(covers(p, kind, part) for p in part_filter.deny):
        return "deny"
    # A list of allowed parts narrows a kind only when it names something of that kind.
    narrows = any(covers(p, kind, other) for p in part_filter.allow for other in kinds[kind].values())
    return "allow" if narrows and not any(covers(p, kind, part) for p in part_filter.allow) else ""


def _host_lists(bill: Bill, findings: Findings) -> str:
    """Modules that the vendor of the switch refuses, and speeds without flow control in a RoCE backend."""
    book = bill.book
    limited: set[str] = set()
    groups, seats = book.cage_group, book.cage_seat
    pairs = np.unique(groups[seats >= 0] * (len(book.modules) + 1) + seats[seats >= 0])
    for pair in pairs.tolist():
        group, module = book.groups[pair // (len(book.modules) + 1)], book.modules[pair % (len(book.modules) + 1)]
        if group.switch is not None and module in group.switch.refuses_modules:
            findings.add(f"{group.part} does not support {module}")
        coding, taken = _coding(bill, group, module)
        if taken and coding not in taken:
            findings.add(f"{group.part} takes modules coded for {', '.join(taken)}; {module} is coded for {coding}")
        if group.switch is not None and module in group.switch.limits_modules:
            limited.add(f"{module} in {group.part}: {group.switch.limits_modules[module]}")
    backend = book.of_fabric("backend")
    ends = np.concatenate([book.a_cage[backend], book.b_cage[backend]])
    speeds = np.concatenate([book.gbps[backend], book.gbps[backend]])
    for number in np.unique(groups[ends]).tolist():
        switch = book.groups[number].switch
        if switch is None or switch.protocol is not Protocol.ETHERNET:
            continue
        lossy = set(switch.lossy_only_speeds_gbps) & set(np.unique(speeds[groups[ends] == number]).tolist())
        for speed in sorted(lossy):
            findings.add(f"{switch.id} runs {speed:g}G without flow control, which a RoCE backend needs")
    return f"; supported with a limitation: {'; '.join(sorted(limited))}" if limited else ""


def _coding(bill: Bill, group: GroupType, module: str) -> tuple[str, list[str]]:
    """The coding of a module, and the codings that the host takes; none of these where it takes every one."""
    catalog, told = bill.catalog, bill.case.terms.coding if bill.case.terms is not None else None
    named = group.nic or group.part
    host = catalog.switches.get(named) or catalog.nics.get(named) or catalog.servers.get(named)
    plugged = catalog.modules.get(module)
    if host is None or plugged is None:
        return "", []
    kind = "switch" if named in catalog.switches else "nic" if named in catalog.nics else "server"
    taken: Sequence[str] = group.cages.accepts_codings
    for name in (f"{kind}:*", f"{host.vendor}:*", named):
        taken = (told or {}).get(name, taken)
    return plugged.coding or plugged.vendor, [] if "any" in taken else sorted(taken)


def check_fabrics(nets: list[Network], wiring: Wiring) -> Check:
    """Protocol, topology, tiers and redundancy as the case allows, and as the result reports them."""
    findings, book = Findings("fabrics"), wiring.book
    for net in nets:
        for fabric in net.carried or [net.name]:
            for text in _choices(net, fabric):
                findings.add(f"{fabric}: {text}")
        reported = book.result.fabrics.get(net.name)
        if reported is None:
            findings.add(f"{net.name}: has switches, but is not in the result")
            continue
        devices = [d for d in book.ledger.devices if d.kind == "switch" and d.fabric == net.name]
        built = Counter((d.tier, d.part) for d in devices)
        told: Counter[tuple[str, str]] = Counter()
        for tier in reported.tiers:
            told[tier.tier, tier.switch] += tier.count
        for key in sorted(set(built) | set(told)):
            if built[key] != told[key]:
                findings.add(f"{net.name} {key[0]}: {told[key]} x {key[1]} reported, {built[key]} built")
    _link_counts(book, findings)
    _interconnects(wiring, findings)
    return findings.check(f"{len(nets)} networks as the case allows and as reported")


def _link_counts(book: Book, findings: Findings) -> None:
    pairs = zip(book.fabric.tolist(), book.klass.tolist(), strict=True)
    built = Counter(pairs)
    for fabric, reported in book.result.fabrics.items():
        here = {book.class_names[k]: n for (f, k), n in built.items() if book.fabric_names[f] == fabric}
        for klass in sorted(set(here) | set(reported.links)):
            if here.get(klass, 0) != reported.links.get(klass, 0):
                findings.add(
                    f"{fabric}: {reported.links.get(klass, 0)} {klass} links reported, {here.get(klass, 0)} built"
                )


def _interconnects(wiring: Wiring, findings: Findings) -> None:
    """The lines that say how links are built add up to the links there are."""
    book = wiring.book
    built: Counter[tuple[object, ...]] = Counter()
    classes, kinds = len(book.class_names), len(wiring.kinds)
    for combined, count in enumerate(np.bincount((book.fabric * classes + book.klass) * kinds + wiring.kind).tolist()):
        if count:
            names = book.fabric_names[combined // kinds // classes], book.class_names[combined // kinds % classes]
            built[*names, *wiring.parts_of_kind[combined % kinds]] += count
    told: Counter[tuple[object, ...]] = Counter()
    for name, reported in book.result.fabrics.items():
        for line in reported.interconnects:
            told[name, line.link_class, line.speed_gbps, line.medium, line.a_part, line.b_part] += line.count
    for key in sorted(set(built) | set(told), key=str):
        if built[key] != told[key]:
            fabric, klass, speed, medium, a, b = key
            what = f"{klass} links of {speed:g}G over {medium} from {a or 'the cable'} to {b or 'the cable'}"
            findings.add(f"{fabric}: {told[key]} {what} reported, {built[key]} built")


def _choices(net: Network, fabric: str) -> Iterator[str]:
    book = net.book
    spec, reported = spec_of(book, fabric), book.result.fabrics.get(fabric)
    if spec is None:
        return
    parts = {d.part for d in book.ledger.devices if d.kind == "switch" and d.fabric == net.name}
    protocols = {book.catalog.switches[p].protocol for p in parts if p in book.catalog.switches}
    if len(protocols) > 1:
        yield f"switches of several protocols ({', '.join(sorted(protocols))})"
    for protocol in sorted(protocols - set(spec.protocols)):
        yield f"{protocol.value} is not allowed by the case"
    if reported is not None and {reported.protocol} != {p.value for p in protocols}:
        yield f"{reported.protocol} is reported, the switches speak {', '.join(sorted(protocols)) or 'nothing'}"
    topologies = getattr(spec, "topologies", None)
    if topologies is not None and reported is not None and reported.topology not in [t.value for t in topologies]:
        yield f"the topology {reported.topology} is not allowed by the case"
    mode = getattr(spec, "mode", None)
    apart = net.name == fabric
    if (mode is StorageMode.SEPARATE and not apart) or (mode is StorageMode.CONVERGED and apart):
        yield f"storage runs on the network of {net.name}, the case says {mode.value}"
    if net.tiers > spec.max_tiers:
        yield f"{net.tiers} tiers, at most {spec.max_tiers}"
    for what, have, least in (
        ("leaves", len(net.leaves), spec.min_leaves),
        ("spines", len(net.spines), spec.min_spines if net.tiers > 1 else 0),
        ("cores", len(net.cores), spec.min_cores if net.tiers > 2 else 0),
    ):
        if have < least:
            yield f"{have} {what}, at least {least}"
    for klass, upper in ((LEAF_SPINE, net.spines), (SPINE_CORE, net.cores)):
        if reported is not None and reported.links.get(klass, 0) and not len(upper) and apart:
            yield f"{klass} links are reported without switches above"
