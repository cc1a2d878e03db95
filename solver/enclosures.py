"""Enclosures of panels: how many rack units they fill, and the racks that have fewer to spare."""

from __future__ import annotations

import math
from collections import Counter

from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog

SHOWN = 3
"""Racks that a warning names."""


def panel_units(ledger: Ledger, catalog: Catalog) -> dict[tuple[str, str], int]:
    """Rack units of enclosure that the panels of each part fill in each rack, by part and rack place."""
    found = {}
    for (part, rack), n in Counter((panel.part, panel.rack) for panel in ledger.panels).items():
        panel = catalog.accessories[part]
        found[part, rack] = math.ceil(n * (panel.positions or 1) / (panel.positions_per_unit or 1))
    return found


def crowded_racks(ledger: Ledger, catalog: Catalog, units: int) -> tuple[str, ...]:
    """A warning where racks of so many units cannot take their enclosures beside what stands in them; else none."""
    wanted: Counter[str] = Counter()
    for (_, rack), n in panel_units(ledger, catalog).items():
        wanted[rack] += n
    taken: Counter[str] = Counter()
    for device in ledger.devices:
        taken[device.rack] += device.rack_units
    crowded = [
        f"{rack}: {n} of enclosure, {max(0, units - taken[rack])} free"
        for rack, n in sorted(wanted.items())
        if taken[rack] + n > units
    ]
    if not crowded:
        return ()
    more = f"; and {len(crowded) - SHOWN:,} more" if len(crowded) > SHOWN else ""
    return (
        f"enclosures of panels fill more rack units than are free ({'; '.join(crowded[:SHOWN])}{more}): "
        "hang them beside or above the units, or keep more racks for the network",
    )
