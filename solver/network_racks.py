"""Network racks that have a price or a limit: where every switch of a choice stands, and how few racks hold them.

A rack counts where a switch stands in it, so the number follows from the templates of all fabrics together: the
switches of one zone are packed into as few of its racks as units and watts allow (``packing``). The ledger stands them
by the same packing. An engine counts racks by units, by watts and by each size alone, which is a bound, mostly the
number itself. Where the switches it chose need more, it is told so by a cut, and solves again: so what it pays for in
the end is what the ledger holds.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Switch
from gpunet.solver.demand import Endpoints
from gpunet.solver.layout import Room
from gpunet.solver.packing import Rackful, Size, most_of, pack
from gpunet.solver.racks import rack_draw_mw
from gpunet.solver.stands import Stand
from gpunet.solver.template import Template

Chosen = Mapping[FabricName, Template]
"""One template per fabric."""


class Cut(NamedTuple):
    """Wherever every fabric has one of its members, the racks of a group of zones are no fewer than this, each."""

    group: int
    racks: int
    members: dict[FabricName, frozenset[int]]
    """Templates by id."""


class Group(NamedTuple):
    """Zones as wide in which every template stands alike; one number of racks holds for each of them."""

    zones: tuple[str, ...]
    most: int
    """No choice has more racks in one of them: so many there are, or so many switches."""


def size_of(switch: Switch) -> Size:
    """What a switch takes of a rack, its modules included."""
    return Size(math.ceil(switch.rack_units.v), rack_draw_mw(switch))


class NetworkRacks:
    """Counts the network racks of choices among the templates of one instance."""

    def __init__(
        self,
        room: Room,
        cents: int,
        templates: Mapping[FabricName, Sequence[Template]],
        optional: frozenset[FabricName],
        managed: Endpoints | None,
    ) -> None:
        """``optional`` fabrics may have no template; ``managed`` are the BMCs and PDUs of an out-of-band fabric."""
        self.room, self.cents = room, cents
        self.units = room.case.site.rack.units
        self.cuts: list[Cut] = []
        self._hosts = self._rows_of_hosts(managed)
        self._later = 0 if managed is None else managed.future_cages - sum(self._hosts)
        self._templates = [t for ts in templates.values() for t in ts]
        self._known: dict[int, dict[str, Counter[Size]]] = {}
        self._loose = False
        least, most = self._switches_by_row(templates, optional)
        for t in self._templates:
            here = self._known[id(t)] = _by_zone(t.facts.stands)
            if t.management:
                early, late = self._leaf_rows(t, most), self._leaf_rows(t, least)
                for a, b in zip(early, late, strict=True):
                    if a == b:
                        here.setdefault(self._zone(a), Counter())[size_of(t.leaf)] += 1
                    else:
                        self._loose = True
        self.groups = self._grouped(templates)

    @classmethod
    def of(
        cls,
        room: Room,
        templates: Mapping[FabricName, Sequence[Template]],
        storage_optional: bool,
        managed: Endpoints | None,
    ) -> NetworkRacks | None:
        """The racks of one instance; none where they have neither a price nor a limit."""
        if not room.counts_network_racks:
            return None
        optional = frozenset({FabricName.STORAGE} if storage_optional else ())
        return cls(room, usd_to_cents(room.case.site.rack.cost_usd or 0), templates, optional, managed)

    def known(self, t: Template, group: int) -> Counter[Size]:
        """Switches of a template that stand in one zone of a group whatever else is chosen."""
        return self._known[id(t)].get(self.groups[group].zones[0], Counter())

    def bounds(self, group: int) -> list[tuple[dict[int, int], int]]:
        """Rows that bound the racks of a group: what each template by id takes, and what one rack holds of it."""
        known = {id(t): self.known(t, group) for t in self._templates}
        sizes = sorted({size for found in known.values() for size in found})
        rows = [
            ({i: sum(s.units * n for s, n in c.items()) for i, c in known.items()}, self.units),
            ({i: sum(s.power_mw * n for s, n in c.items()) for i, c in known.items()}, self.room.rack_mw),
        ]
        rows += [({i: c[s] for i, c in known.items()}, most_of(s, self.units, self.room.rack_mw)) for s in sizes]
        return [({i: n for i, n in loads.items() if n}, holds) for loads, holds in rows]

    def count(self, chosen: Chosen) -> int:
        """Network racks of a choice."""
        return sum(len(racks) for racks in self.packed(chosen).values())

    def is_beyond(self, chosen: Chosen) -> bool:
        """Whether some zone has fewer racks than a choice needs there."""
        return any(len(racks) > len(self.room.zones[zone].places) for zone, racks in self.packed(chosen).items())

    def packed(self, chosen: Chosen) -> dict[str, tuple[Rackful, ...]]:
        """How the switches of a choice stand in the racks of every zone."""
        return {zone: self._pack(boxes) for zone, boxes in self._contents(chosen).items() if boxes}

    def lacking(self, chosen: Chosen, opened: Sequence[int]) -> list[Cut]:
        """What an engine that opened so many racks in each group is to be told."""
        found = []
        contents = self._contents(chosen)
        for number, group in enumerate(self.groups):
            for zone in group.zones:
                needed = len(self._pack(contents.get(zone, Counter())))
                if needed <= opened[number]:
                    continue
                known: Counter[Size] = sum(
                    (self._known[id(t)].get(zone, Counter()) for t in chosen.values()), Counter()
                )
                if len(self._pack(known)) == needed:
                    members = {
                        f: self._with_no_less(t, zone) for f, t in chosen.items() if self._known[id(t)].get(zone)
                    }
                else:
                    members = {f: self._alike(t) for f, t in chosen.items()}
                found.append(Cut(number, needed, members))
                break
        self.cuts += found
        return found

    def _pack(self, boxes: Counter[Size]) -> tuple[Rackful, ...]:
        return pack(tuple(sorted(boxes.items())), self.units, self.room.rack_mw)

    def _contents(self, chosen: Chosen) -> dict[str, Counter[Size]]:
        """Every switch of a choice by zone, those on the servers' racks not among them."""
        found: dict[str, Counter[Size]] = {}
        by_row = [0] * self.room.rows
        for t in chosen.values():
            for zone, boxes in _by_zone(t.facts.stands).items():
                found.setdefault(zone, Counter()).update(boxes)
            for stand, n in t.facts.stands.items():
                if stand.row is not None:
                    by_row[stand.row] += n
        for t in chosen.values():
            for row in self._leaf_rows(t, by_row) if t.management else ():
                found.setdefault(self._zone(row), Counter())[size_of(t.leaf)] += 1
        return found

    def _zone(self, row: int) -> str:
        return self.room.central.name if self.room.network_places_together else self.room.row_zones[row].name

    def _rows_of_hosts(self, managed: Endpoints | None) -> list[int]:
        """BMCs and PDUs by row."""
        found = [0] * self.room.rows
        for host in managed.hosts if managed is not None else ():
            if host.device is not None:
                found[self.room.row_of(host.rack)] += host.cages
        return found

    def _leaf_rows(self, t: Template, by_row: Sequence[int]) -> list[int]:
        """Row of every out-of-band leaf in the rows, given the switches by row: that of the first port it serves.

        Ports are dealt in the order of the rows, and each leaf is managed by the next one (``build.deal``).
        """
        leaves, ports = t.n_leaves - t.central_leaves, t.downs[0].cages * t.downs[0].ports
        up_to = list(itertools.accumulate(n + by_row[row] for row, n in enumerate(self._hosts)))
        found, start = [], 0
        for i in range(leaves):
            # Ports kept for growth come last; without any, a leaf that serves no port stands with the last one.
            port = start if self._later else min(start, up_to[-1] - 1)
            found.append(min(bisect.bisect_right(up_to, port), self.room.rows - 1))
            start += ports - (i > 0) - (i == leaves - 2)
        return found

    def _switches_by_row(
        self, templates: Mapping[FabricName, Sequence[Template]], optional: frozenset[FabricName]
    ) -> tuple[list[int], list[int]]:
        """Switches by row whose sums up to every row are the fewest and the most that any choice brings."""
        least, most = [0] * self.room.rows, [0] * self.room.rows
        for fabric, ts in templates.items():
            up_to = []
            for t in ts:
                rows = [0] * self.room.rows
                for stand, n in t.facts.stands.items():
                    if stand.row is not None:
                        rows[stand.row] += n
                up_to.append([sum(rows[: i + 1]) for i in range(self.room.rows)])
            for row in range(self.room.rows):
                least[row] += 0 if fabric in optional else min((x[row] for x in up_to), default=0)
                most[row] += max((x[row] for x in up_to), default=0)
        return _steps(least), _steps(most)

    def _grouped(self, templates: Mapping[FabricName, Sequence[Template]]) -> tuple[Group, ...]:
        """Zones with a rack to count, those in which every template stands alike together."""
        found: dict[object, list[str]] = {}
        for zone in self.room.zones:
            stands = tuple(tuple(sorted(known.get(zone, Counter()).items())) for known in self._known.values())
            key: object = (len(self.room.zones[zone].places), stands)
            # Leaves whose row depends on the choice may fall into any row, so rows are told apart then.
            if self._loose or any(known.get(zone) for known in self._known.values()):
                found.setdefault((key, zone) if self._loose else key, []).append(zone)
        loose = sum(max((t.n_leaves for t in ts if t.management), default=0) for ts in templates.values())
        return tuple(
            Group(
                tuple(zones),
                min(
                    len(self.room.zones[zones[0]].places),
                    sum(
                        max((self._known[id(t)].get(zones[0], Counter()).total() for t in ts), default=0)
                        for ts in templates.values()
                    )
                    + (loose if self._loose else 0),
                ),
            )
            for zones in found.values()
        )

    def _with_no_less(self, t: Template, zone: str) -> frozenset[int]:
        """Templates of the same fabric with no fewer switches of any size in a zone."""
        own = self._known[id(t)][zone]
        return frozenset(
            id(x) for x in self._templates if x.fabric is t.fabric and own <= self._known[id(x)].get(zone, Counter())
        )

    def _alike(self, t: Template) -> frozenset[int]:
        """Templates of the same fabric that stand as one does."""

        def form(x: Template) -> object:
            leaves = (
                (x.n_leaves, x.central_leaves, size_of(x.leaf), x.downs[0].cages * x.downs[0].ports)
                if x.management
                else ()
            )
            return sorted(x.facts.stands.items(), key=str), leaves

        return frozenset(id(x) for x in self._templates if x.fabric is t.fabric and form(x) == form(t))


def _by_zone(stands: Mapping[Stand, int]) -> dict[str, Counter[Size]]:
    found: dict[str, Counter[Size]] = {}
    for stand, n in stands.items():
        if stand.zone:
            found.setdefault(stand.zone, Counter())[Size(stand.units, stand.power_mw)] += n
    return found


def _steps(sums: Sequence[int]) -> list[int]:
    return [n - before for n, before in zip(sums, [0, *sums[:-1]], strict=True)]
