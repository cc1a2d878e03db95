"""Puts every switch into a rack: first-fit by units and watts within the zone that its lengths were measured to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpunet.models.ledger import RackPlace
from gpunet.models.parts import Switch
from gpunet.solver.layout import Room
from gpunet.solver.packing import Rackful, Size


class NoRackError(RuntimeError):
    """A switch found no rack, although the zone was sized for it: an error of the program, never of the user."""


@dataclass
class _Load:
    units: int = 0
    power_mw: int = 0


class Racks:
    """Rack places in use."""

    def __init__(self, room: Room, planned: Mapping[str, Sequence[Rackful]] | None = None) -> None:
        """``planned`` says which sizes of switches stand together in the racks of each zone; first-fit without it."""
        self._room = room
        self._planned = None if planned is None else {z: [dict(rack) for rack in racks] for z, racks in planned.items()}
        self._loads: dict[str, _Load] = {}
        self.used: dict[str, RackPlace] = {}

    def stack(self, place: RackPlace, height: int, power_mw: int) -> int:
        """Put a box on the next free units of a place; returns its lowest unit."""
        load = self._loads.setdefault(place.name, _Load())
        unit = load.units + 1
        load.units += height
        load.power_mw += power_mw
        self.used[place.name] = place
        return unit

    def in_zone(self, zone: str, switch: Switch) -> tuple[str, int]:
        """First place of a zone with room for a switch: rack name and lowest unit."""
        size = Size(math.ceil(switch.rack_units.v), rack_draw_mw(switch))
        for i, place in enumerate(self._room.zones[zone].places):
            if self._planned is not None:
                racks = self._planned.get(zone, [])
                if i >= len(racks) or not racks[i].get(size):
                    continue
                racks[i][size] -= 1
            found = self.on(place, switch)
            if found is not None:
                return place.name, found
        raise NoRackError(f"no place in zone {zone} for {switch.id}")

    def on(self, place: RackPlace, switch: Switch) -> int | None:
        """Lowest unit of a switch on a place, or none when it does not fit by units or watts."""
        load = self._loads.get(place.name, _Load())
        height, power = math.ceil(switch.rack_units.v), rack_draw_mw(switch)
        rack = self._room.case.site.rack
        if load.units + height > rack.units or load.power_mw + power > self._room.rack_mw:
            return None
        return self.stack(place, height, power)


def rack_draw_mw(switch: Switch) -> int:
    """What a switch may draw with its modules, mW: its supply, or its chassis where no supply figure is known."""
    return (switch.power_supply_w or switch.power_chassis_max_w).milli
