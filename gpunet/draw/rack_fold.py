"""Folds racks: those that hold the same devices in the same units are drawn once, with their count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from gpunet.models.design import Design
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog

MOST_DRAWN = 24
"""Kinds of racks that are drawn; of more, those that are met least often are told in words."""


@dataclass(frozen=True)
class RackFold:
    """Racks that are filled alike."""

    names: tuple[str, ...]
    """Rack places."""
    adjacent: bool
    """Whether they follow one another without a gap."""
    devices: tuple[Device, ...]
    """What stands in the first one, from the lowest unit; PDUs and the like last."""
    heat_mw: tuple[int, int]
    """Least and largest draw of one of them, plugs included, mW."""

    @property
    def span(self) -> str:
        """``r01-c01``, ``r01-c01 to r02-c04``, or ``r01-n03, …, r10-n03`` where others stand between them."""
        first, last = self.names[0], self.names[-1]
        return first if first == last else f"{first} to {last}" if self.adjacent else f"{first}, …, {last}"


@dataclass(frozen=True)
class Racks:
    """All racks of a design that hold anything."""

    drawn: tuple[RackFold, ...]
    told: tuple[RackFold, ...]
    """Folds that are told in words."""
    limit_mw: int
    """What a rack may draw and cool, mW."""
    units: int
    """Height of a rack, rack units."""


def folded_racks(design: Design, catalog: Catalog, fabrics: Sequence[str] | None = None) -> Racks:
    """The racks of a design, or those with a switch of the fabrics named: network racks first."""
    # numpy is heavy, and only who draws racks should wait for it.
    from gpunet.solver.verify_book import Book
    from gpunet.solver.verify_links import Wiring
    from gpunet.solver.verify_site import Heat

    heat = Heat(Wiring(Book(design, catalog))).rack_mw.tolist()
    draw_mw = {place.name: heat[i] for i, place in enumerate(design.ledger.places)}
    held: dict[str, list[Device]] = defaultdict(list)
    for device in design.ledger.devices:
        held[device.rack].append(device)
    rank = {place.name: i for i, place in enumerate(design.ledger.places)}
    like: dict[object, list[str]] = defaultdict(list)
    used = sorted(held, key=lambda name: rank.get(name, len(rank)))
    for name in used:
        held[name].sort(key=lambda d: (d.unit == 0, d.unit, d.name))
        if fabrics is None or any(d.kind == "switch" and d.fabric in fabrics for d in held[name]):
            like[tuple((d.unit, d.rack_units, d.kind, d.part, d.fabric, d.tier) for d in held[name])].append(name)
    folds = []
    for names in like.values():
        watts = [draw_mw.get(name, 0) for name in names]
        adjacent = used.index(names[-1]) - used.index(names[0]) == len(names) - 1
        folds.append(RackFold(tuple(names), adjacent, tuple(held[names[0]]), (min(watts), max(watts))))
    folds.sort(key=lambda fold: (not _network(fold), rank.get(fold.names[0], 0)))
    often = sorted(folds, key=lambda fold: -len(fold.names))[:MOST_DRAWN]
    kept = {fold.names[0] for fold in often}
    rack = design.case.site.rack
    return Racks(
        tuple(fold for fold in folds if fold.names[0] in kept),
        tuple(fold for fold in folds if fold.names[0] not in kept),
        round(min(rack.power_kw, rack.cooling_kw or rack.power_kw) * 1e6),
        rack.units,
    )


def _network(fold: RackFold) -> bool:
    """Whether a rack holds switches and no server."""
    kinds = {device.kind for device in fold.devices}
    return "switch" in kinds and not kinds & {"server", "storage-server"}
