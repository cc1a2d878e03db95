"""What lies in every section of tray, counted in the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gpunet.catalogs import split_medium_id
from gpunet.models.case import FabricName
from gpunet.models.design import TraySection
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.solver.layout import Room
from gpunet.solver.trays import PER_MM2, Place, Trays, cross_section

Run = tuple[Place, Place]


def tray_fill(ledger: Ledger, catalog: Catalog, room: Room) -> tuple[TraySection, ...]:
    """Every section that the case limits, in order of name; nothing where it limits none."""
    trays = Trays(room)
    if not trays.limits:
        return ()
    loads: Counter[str] = Counter()
    for medium, runs in _pieces(ledger, _places(ledger, room)):
        base, _ = split_medium_id(medium)
        part = catalog.cables.get(base) or catalog.fibres[base]
        for section in trays.passed(runs):
            loads[section] += cross_section(part)
    return tuple(
        TraySection(
            section=section,
            used_mm2=loads[section] / PER_MM2,
            limit_mm2=limit / PER_MM2,
            share=round(loads[section] / limit, 4) if limit else 0.0,
        )
        for section, limit in sorted(trays.limits.items())
    )


def _places(ledger: Ledger, room: Room) -> dict[str, Place]:
    """Zone or rack number of every rack place in use, by name."""
    racks: dict[str, Place] = {rack.name: number for number, rack in enumerate(room.racks)}
    zones = {place.name: zone.name for zone in room.zones.values() for place in zone.places}
    return {place.name: racks[place.name] if place.name in racks else zones[place.name] for place in ledger.places}


def _pieces(ledger: Ledger, places: dict[str, Place]) -> Iterator[tuple[str, list[Run]]]:
    """Every piece of cable and fibre with the ways between its ends; a splitter has several."""
    devices = {device.name: places[device.rack] for device in ledger.devices}
    panels = {panel.number: places[panel.rack] for panel in ledger.panels}
    media: dict[int, str] = {}
    runs: dict[int, list[Run]] = {}
    for link in ledger.links:
        if link.fabric != FabricName.OOB.value:
            media[link.assembly] = link.medium
            runs.setdefault(link.assembly, []).append((devices[link.a_device], devices[link.b_device]))
    trunks: dict[int, tuple[str, Run]] = {}
    for row in ledger.channels:
        ((a, b),) = set(runs.pop(row.assembly))
        near = panels[row.near_panel]
        far = panels[row.far_panel] if row.far_panel else a
        trunks.setdefault(row.trunk, (row.run, (far, near)))
        yield media[row.assembly], [(near, b)]
        if row.cord:
            yield row.cord, [(a, far)]
    for name, run in trunks.values():
        yield name, [run]
    for assembly, several in runs.items():
        yield media[assembly], several
