"""What lies in every section of tray, worked out from the names of rack places and the ledger alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, Placement
from gpunet.models.design import Check
from gpunet.models.ledger import RackPlace
from gpunet.models.parts import Cable, Catalog, Fibre
from gpunet.solver.verify_links import Wiring
from gpunet.solver.verify_report import Findings

CENTRAL = "central"
SLIP_M = 1e-6
PLACE = re.compile(r"(?:r(?P<row>\d+)-(?P<kind>[cn])(?P<number>\d+)|n\d+-c\d+)")
"""A rack of machines (``r01-c05``), a network rack of a row (``r01-n01``) or of the middle (``n01-c03``)."""


def check_trays(wiring: Wiring) -> Check:
    """No section of tray holds more cable than the case allows, and the result tells what lies in each."""
    book = wiring.book
    findings = Findings("trays")
    loads, lost = _loads(wiring)
    for text in lost:
        findings.add(text)
    told = {line.section: line for line in book.result.trays}
    fullest = 0.0
    for section, load in sorted(loads.items()):
        holds = _holds(book.case, section)
        if holds is None:
            continue
        if load > holds:
            findings.add(f"{section}: {load / 100:,.2f} mm2 of cable in a tray for {holds / 100:,.2f} mm2")
        fullest = max(fullest, load / holds if holds else math.inf)
        line = told.pop(section, None)
        if line is None:
            findings.add(f"{section}: the result does not tell its {load / 100:,.2f} mm2 of cable")
        elif (round(line.used_mm2 * 100), round(line.limit_mm2 * 100)) != (load, holds):
            findings.add(
                f"{section}: the result tells {line.used_mm2:,.2f} of {line.limit_mm2:,.2f} mm2, "
                f"the ledger has {load / 100:,.2f} of {holds / 100:,.2f} mm2"
            )
    for section, line in sorted(told.items()):
        if line.used_mm2:
            findings.add(f"{section}: the result tells {line.used_mm2:,.2f} mm2 of cable, the ledger has none")
    return findings.check(f"{len(loads):,} sections of tray, the fullest at {fullest:.1%} of what it may hold")


def _holds(case: Case, section: str) -> int | None:
    """Hundredths of mm² that cables may fill; none where the case limits no tray."""
    tray = case.site.tray
    if tray is None:
        return None
    size = Decimal(str(tray.width_mm)) * Decimal(str(tray.depth_mm)) * Decimal(str(tray.fill)) * 100
    return int(size) * (tray.central if section == CENTRAL else tray.per_row)


def _loads(wiring: Wiring) -> tuple[Counter[str], list[str]]:
    """Cross-section of everything in each section, hundredths of mm², and what could not be counted."""
    book = wiring.book
    rack_of = {device.name: device.rack for device in book.ledger.devices}
    panel_at = {panel.number: panel.rack for panel in book.ledger.panels}
    sides = _sides(book.case, book.ledger.places)
    loads: Counter[str] = Counter()
    lost: list[str] = []

    def lay(name: str, ways: Iterable[tuple[str, str]]) -> None:
        size = _size(book.catalog, name)
        if size is None:
            lost.append(f"{name}: no diameter is known")
            return
        for section in {s for way in ways for s in _sections(sides, *way)}:
            loads[section] += size

    ways: dict[int, set[tuple[str, str]]] = {}
    media: dict[int, str] = {}
    for link in book.ledger.links:
        if link.fabric != "oob":
            ways.setdefault(link.assembly, set()).add((rack_of.get(link.a_device, ""), rack_of.get(link.b_device, "")))
            media[link.assembly] = link.medium
    runs: dict[int, tuple[str, str, str]] = {}
    for row in book.ledger.channels:
        for a, b in ways.pop(row.assembly, ()):
            near, far = panel_at.get(row.near_panel, ""), panel_at.get(row.far_panel, "") if row.far_panel else a
            runs[row.trunk] = (row.run, near, far)
            lay(media[row.assembly], [(b, near)])
            if row.cord:
                lay(row.cord, [(a, far)])
    for name, near, far in runs.values():
        lay(name, [(near, far)])
    for assembly, several in ways.items():
        lay(media[assembly], several)
    return loads, list(dict.fromkeys(lost))


def _size(catalog: Catalog, name: str) -> int | None:
    """Cross-section of one piece, hundredths of mm²; none where its diameter is not known."""
    base, _ = split_medium_id(name)
    part: Cable | Fibre | None = catalog.cables.get(base) or catalog.fibres.get(base)
    if part is None or part.diameter_mm is None:
        return None
    radius_mm = part.diameter_mm.v / 2
    return math.ceil(100 * math.pi * radius_mm * radius_mm) * part.strands


def _sides(case: Case, places: Iterable[RackPlace]) -> dict[str, str]:
    """Side of its row's network racks on which each rack of machines stands, where they may stand within the row."""
    if case.site.switch_placement not in (Placement.ROW_MIDDLE, Placement.SHORTEST):
        return {}
    racks: dict[str, tuple[str, int, float]] = {}
    begins: dict[str, float] = {}
    for place in places:
        match = PLACE.fullmatch(place.name)
        if match is not None and match["row"] is not None:
            number = int(match["number"])
            if match["kind"] == "n":
                begins[match["row"]] = place.x_m - (number - 1) * case.site.rack_pitch_m
            else:
                racks[place.name] = match["row"], number, place.x_m
    found = {}
    for name, (row, number, x_m) in racks.items():
        # Where no network rack of the row is in use: racks beyond its place stand further along than their number says.
        begin = begins.get(row, number * case.site.rack_pitch_m)
        found[name] = "-left" if x_m < begin - SLIP_M else "-right"
    return found


def _sections(sides: dict[str, str], one: str, other: str) -> set[str]:
    """Sections that a cable between two rack places passes."""
    ends = [(name, PLACE.fullmatch(name)) for name in (one, other)]
    if one == other or any(match is None for _, match in ends):
        return set()
    found = set()
    rows = []
    for name, match in ends:
        assert match is not None
        row = match["row"]
        rows.append(row)
        if match["kind"] == "c":
            found.add(f"racks-{row}{sides.get(name, '')}")
    if rows[0] != rows[1]:
        found |= {CENTRAL if row is None else f"cross-{row}" for row in rows}
    return found
