"""Where the money and the watts go: every piece of the ledger booked to a fabric, a tier and a kind of part.

Sums are those of the result, to the cent and to the milliwatt. What is bought beyond the ledger, such as spares, goes
with the pieces of its part; what has no pieces there, such as a licence, is booked to the whole network.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.design import Design
from gpunet.models.evidence import usd_to_cents
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog

WHOLE = "whole network"
"""Fabric and tier of what belongs to no single one."""
SERVER_END = "server end"
"""Tier of what is plugged into servers, storage servers and reserved endpoints."""
CABLE_ENDS = "cable"
"""Kind that the plugs of cables draw as."""


class Place(NamedTuple):
    """Where a piece belongs."""

    fabric: str
    tier: str
    """``leaf``, ``spine``, ``core``, ``server end``, or a class of links for what lies between two devices."""


class Booked(NamedTuple):
    """What one kind of part costs and draws in one place."""

    place: Place
    kind: str
    cost_usd: float
    power_max_w: float


def booked(design: Design, catalog: Catalog) -> list[Booked]:
    """Every fabric, tier and kind with a cost or a draw, in the order of the fabrics and from the servers up."""
    seated = _seated(design)
    pieces = _pieces(design, seated)
    cents: Counter[tuple[Place, str]] = Counter()
    for line in design.result.bom:
        shares = pieces.get(line.part) or Counter({Place(WHOLE, WHOLE): 1})
        for place, amount in _dealt(usd_to_cents(line.extended_usd), shares).items():
            cents[place, line.kind] += amount
    draw_mw = _draw_mw(design, seated, catalog)
    fabrics = [*design.result.fabrics, WHOLE]
    keys = [key for key in cents.keys() | draw_mw.keys() if cents[key] or draw_mw[key]]
    keys.sort(key=lambda key: (_rank(fabrics, key[0].fabric), tier_rank(key[0].tier), key[1]))
    return [Booked(place, kind, cents[place, kind] / 100, draw_mw[place, kind] / 1000) for place, kind in keys]


_TIER_ORDER = [SERVER_END, "endpoint-leaf", "leaf", "leaf-spine", "spine", "spine-core", "core", WHOLE]


def tier_rank(tier: str) -> int:
    """Place of a tier in the order from the servers up."""
    return _rank(_TIER_ORDER, tier)


def _rank(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _pieces(design: Design, seated: Counter[tuple[str, Place]]) -> dict[str, Counter[Place]]:
    """Pieces of every part of the ledger by place."""
    ledger = design.ledger
    found: defaultdict[str, Counter[Place]] = defaultdict(Counter)
    for device in ledger.devices:
        if device.kind == "switch":
            found[device.part][Place(device.fabric, device.tier)] += 1
    for (part, place), n in seated.items():
        found[part][place] += n
    laid = {link.assembly: (link.medium, link.fabric, link.link_class) for link in reversed(ledger.links)}
    for (medium, fabric, link_class), n in Counter(laid.values()).items():
        found[medium][Place(fabric, link_class)] += n
    at = {assembly: Place(fabric, link_class) for assembly, (_, fabric, link_class) in laid.items()}
    for part, assembly in _passive(ledger):
        found[part][at[assembly]] += 1
    nics = {d.name: "storage" if d.kind == "storage-server" else d.fabric or WHOLE for d in ledger.devices}
    for adapter in ledger.adapters:
        found[adapter.part][Place(nics[adapter.device], SERVER_END)] += adapter.quantity
    return found


def _passive(ledger: Ledger) -> Iterator[tuple[str, int]]:
    """Far cords, runs and panels of channels, each with the piece of fibre that it serves first."""
    runs: dict[int, tuple[str, int]] = {}
    panels: dict[int, int] = {}
    for row in ledger.channels:
        runs.setdefault(row.trunk, (row.run, row.assembly))
        panels.setdefault(row.near_panel, row.assembly)
        panels.setdefault(row.far_panel, row.assembly)
        if row.cord:
            yield row.cord, row.assembly
    yield from runs.values()
    yield from ((panel.part, panels[panel.number]) for panel in ledger.panels)


def _seated(design: Design) -> Counter[tuple[str, Place]]:
    """Modules of each part by place: that of their switch, or the fabric of their link at a server."""
    ledger = design.ledger
    switches = {d.name: Place(d.fabric, d.tier) for d in ledger.devices if d.kind == "switch"}
    server_ends = {fabric: Place(fabric, SERVER_END) for fabric in {link.fabric for link in ledger.links}}
    at_server = {
        (link.b_device, link.b_group, link.b_cage): server_ends[link.fabric]
        for link in ledger.links
        if link.b_device not in switches
    }
    nowhere = Place(WHOLE, SERVER_END)
    return Counter(
        (seat.part, switches.get(seat.device) or at_server.get((seat.device, seat.group, seat.cage)) or nowhere)
        for seat in ledger.seats
    )


def _dealt(cents: int, shares: Mapping[Place, int]) -> dict[Place, int]:
    """An amount dealt out by pieces, whole cents each; the cents left over go to the first places."""
    total = sum(shares.values())
    dealt = {place: cents * n // total for place, n in shares.items()}
    for place in list(dealt)[: cents - sum(dealt.values())]:
        dealt[place] += 1
    return dealt


def _draw_mw(design: Design, seated: Counter[tuple[str, Place]], catalog: Catalog) -> Counter[tuple[Place, str]]:
    """Largest draw of chassis, modules and cable ends, mW."""
    found: Counter[tuple[Place, str]] = Counter()
    for device in design.ledger.devices:
        if device.kind == "switch":
            draw = catalog.switches[device.part].power_chassis_max_w.milli
            found[Place(device.fabric, device.tier), "switch"] += draw
    for (part, place), n in seated.items():
        found[place, "module"] += catalog.modules[part].power_max_w.milli * n
    for place, draw in _cable_ends_mw(design, catalog):
        found[place, CABLE_ENDS] += draw
    return found


def _cable_ends_mw(design: Design, catalog: Catalog) -> Iterator[tuple[Place, int]]:
    """Draw of the two sides of every cable: a splitter draws as its head once and as a leg at every far cage."""
    sides: dict[int, tuple[str, Place, set[tuple[str, str, int]], set[tuple[str, str, int]]]] = {}
    drawing = {base for base, c in catalog.cables.items() if c.end_a.power_w.milli or c.end_b.power_w.milli}
    if not drawing:
        return
    for link in design.ledger.links:
        base, _ = split_medium_id(link.medium)
        if base not in drawing:
            continue
        piece = sides.setdefault(link.assembly, (base, Place(link.fabric, link.link_class), set(), set()))
        piece[2].add((link.a_device, link.a_group, link.a_cage))
        piece[3].add((link.b_device, link.b_group, link.b_cage))
    for base, place, a, b in sides.values():
        cable = catalog.cables[base]
        head, legs = (a, b) if cable.end_b.count == 1 or len(a) <= len(b) else (b, a)
        yield place, len(head) * cable.end_a.power_w.milli + len(legs) * cable.end_b.power_w.milli
