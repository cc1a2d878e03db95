"""Where the switches stand, and what was weighed for it, where the placement was chosen among several."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from gpunet.models.case import Placement
from gpunet.models.design import Check, PlacementTried, Result, Status
from gpunet.solver.verify_book import Book
from gpunet.solver.verify_report import Findings

SLIP = 1e-6
"""Metres, and parts of a cent or of a milliwatt, that are no difference."""
ORDER = ("row-end", "row-middle", "network-row", "top-of-rack", "shortest")
"""The placements, the first of equals first."""
PROVEN = (Status.OPTIMAL, Status.INFEASIBLE)


class Stand(NamedTuple):
    """A device in a rack."""

    x_m: float
    name: str
    is_switch: bool
    is_backend_leaf: bool


def check_placement(book: Book) -> Check:
    """Every placement was looked at, the best was taken, and the switches stand by it."""
    findings = Findings("placement")
    tried = book.result.placements
    names = tuple(x.placement for x in tried)
    if names != ORDER:
        findings.add(f"looked at {', '.join(names)}; expected {', '.join(ORDER)}")
    taken = [x for x in tried if x.chosen]
    placement = book.case.site.switch_placement
    if [x.placement for x in taken] != [placement.value]:
        shown = ", ".join(x.placement for x in taken) or "none"
        findings.add(f"{shown} marked as taken; the case of the design has {placement.value}")
    for chosen in taken[:1]:
        _best(findings, book.result, chosen)
        _adds_up(findings, book, chosen)
    _stands(findings, book, placement)
    return findings.check(f"{placement.value} is the best of {len(tried)} placements, and the switches stand by it")


def _best(findings: Findings, result: Result, chosen: PlacementTried) -> None:
    for other in result.placements:
        if other.chosen:
            continue
        if bool(other.objectives) != (other.status in (Status.OPTIMAL, Status.FEASIBLE)):
            findings.add(f"{other.placement}: {other.status.value} with {len(other.objectives)} objectives")
        if result.status is Status.OPTIMAL and other.status not in PROVEN:
            findings.add(f"{other.placement}: {other.status.value}, so the design is not proven the best")
        if not other.objectives:
            continue
        first = min(chosen, other, key=lambda x: ORDER.index(x.placement) if x.placement in ORDER else -1)
        better = other.objectives < chosen.objectives
        if better or (other.objectives == chosen.objectives and first is other):
            findings.add(f"{other.placement} comes to {other.objectives}, {chosen.placement} to {chosen.objectives}")


def _adds_up(findings: Findings, book: Book, chosen: PlacementTried) -> None:
    """What the placement taken is said to weigh is what the design weighs."""
    totals = book.result.totals
    if totals is None:
        return
    weighs = {"cost": totals.cost_usd, "power": totals.power_max_w, "tco": totals.tco_usd}
    own = tuple(weighs[objective.value] for objective in book.case.objectives)
    if len(own) != len(chosen.objectives) or any(
        abs(a - b) > SLIP for a, b in zip(own, chosen.objectives, strict=False)
    ):
        findings.add(f"{chosen.placement} is said to come to {chosen.objectives}; the design comes to {own}")


def _stands(findings: Findings, book: Book, placement: Placement) -> None:
    """Switches and servers row by row."""
    places = {place.name: place for place in book.ledger.places}
    rows: dict[float, list[Stand]] = defaultdict(list)
    racks_of_servers = {d.rack for d in book.ledger.devices if d.kind == "server"}
    for device in book.ledger.devices:
        if device.rack not in places or device.kind not in ("switch", "server", "storage-server"):
            continue
        is_leaf = device.kind == "switch" and device.fabric == "backend" and device.tier == "leaf"
        if is_leaf and (device.rack in racks_of_servers) != (placement is Placement.TOP_OF_RACK):
            findings.add(f"{device.name} stands in {device.rack}, which is not by {placement.value}")
        place = places[device.rack]
        rows[round(place.y_m, 6)].append(Stand(place.x_m, device.name, device.kind == "switch", is_leaf))
    several = sum(any(not s.is_switch for s in row) for row in rows.values()) > 1
    for row in rows.values():
        servers = [s.x_m for s in row if not s.is_switch]
        for switch in row:
            if not switch.is_switch or not servers:
                continue
            if placement is Placement.NETWORK_ROW:
                findings.add(f"{switch.name} stands in a row of servers, which is not by network-row")
            if placement is Placement.ROW_END and switch.x_m <= max(servers) + SLIP:
                findings.add(f"{switch.name} stands before the end of its row, which is not by row-end")
        if placement is Placement.ROW_MIDDLE and several:
            switches = [s.x_m for s in row if s.is_switch]
            between = [x for x in servers if min(switches, default=0) < x < max(switches, default=0)]
            if between and switches:
                findings.add(f"{len(between)} racks of servers between switches of a row, which is not by row-middle")
