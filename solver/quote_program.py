"""How many links a list of parts can build, and the shortest list of what it lacks: integer programs for CP-SAT.

```text
cages[f, m]      cages run as face f that hold module m            seats
pieces[w, l]     fibres or cables of stock length l laid as way w  media
links[w]         links over them
devices[d, s]    devices of a model in share s                     shares
buy[p]           pieces bought beside the list
```

A link joins different devices. Switches of one model are dealt into a few shares, and links run between shares only: so
whatever is found can be wired, and with as many shares as switches nothing is lost. The bound comes from the same
program with one share, where links within a model are allowed: no way of wiring can do better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Any

from gpunet.catalogs import split_medium_id
from gpunet.models.parts import Catalog
from gpunet.solver.interconnects import InterconnectTable, LinkOption, LinkParts
from gpunet.solver.quote_devices import DeviceKind, Face, devices_of, faces_of

SHARES = 3
MOST_BOUGHT = 1_000_000

Seat = tuple[Face, str]
"""A face and the module in its cages."""


@dataclass(frozen=True)
class Way:
    """A link option between two faces."""

    a: Face
    b: Face
    option: LinkOption


@dataclass(frozen=True)
class Pool:
    """Parts at hand."""

    pieces: Mapping[str, int]
    """Parts of the list and beside it, stock lengths by themselves."""
    catalog: Catalog
    buyable: bool = False
    """Whether modules and fibres of the catalogue and switches of the models at hand may be bought."""
    shares: int = SHARES
    offered: frozenset[str] = frozenset()
    """Modules and fibres of the catalogue that may be bought, where any may."""

    def stock(self, base: str) -> dict[float, int]:
        """Pieces of a cable or fibre by length, m."""
        found = {}
        for part, count in self.pieces.items():
            of, length_m = split_medium_id(part)
            if of == base and length_m is not None:
                found[length_m] = count
        return found

    def link_parts(self) -> LinkParts:
        """Modules, cables and fibres that links may be made of."""
        catalog = self.catalog
        bases = {split_medium_id(part)[0] for part in self.pieces} | self.offered
        return LinkParts(
            modules={m.id: m for m in catalog.modules.values() if m.id in bases},
            cables={c.id: c for c in catalog.cables.values() if c.id in bases},
            fibres={f.id: f for f in catalog.fibres.values() if f.id in bases},
            interfaces=dict(catalog.interfaces),
            grades=tuple(sorted({f.grade for f in catalog.fibres.values()})),
        )


class QuoteProgram:
    """One list of parts, as variables and rows."""

    def __init__(self, pool: Pool) -> None:
        from ortools.sat.python import cp_model

        self.pool, self.cp, self.library = pool, cp_model.CpModel(), cp_model
        self.devices = devices_of(pool.pieces, pool.catalog)
        self.parts = pool.link_parts()
        self.table = InterconnectTable(self.parts)
        self.buy: dict[str, Any] = {}
        self.shares: dict[tuple[str, int], Any] = {}
        self.faces = self._faces()
        self.cages: dict[Seat, Any] = {}
        self.ways = list(self._ways())
        self.links = [self.count(self._most(way), f"l{i}") for i, way in enumerate(self.ways)]
        self.media: list[dict[float | None, Any]] = []
        self.at: dict[Face, list[Any]] = defaultdict(list)
        """Cages of a face that hold plugs of cables."""
        self.lit: dict[Seat, list[Any]] = defaultdict(list)
        self.linked: dict[tuple[str, str], list[tuple[Any, int]]] = defaultdict(list)
        """Links that end in cages of servers and cards, with how many fill a cage."""
        for i, way in enumerate(self.ways):
            self._lay(i, way)
        self._supply()
        self._seats()
        self._room()

    # --- variables ----------------------------------------------------------------------------------------------------

    def count(self, most: int, name: str) -> Any:
        """A variable that counts from 0."""
        return self.cp.new_int_var(0, most, name)

    def buying(self, part: str) -> Any:
        """Pieces of a part that are bought; 0 where it may not be."""
        if not self.pool.buyable or not (part in self.pool.offered or part in self.pool.catalog.switches):
            return 0
        if part not in self.buy:
            self.buy[part] = self.count(MOST_BOUGHT, f"buy {part}")
        return self.buy[part]

    def _faces(self) -> list[Face]:
        found: list[Face] = []
        for device in self.devices:
            can_grow = self.pool.buyable and device.switch is not None
            wanted = self.pool.shares if can_grow else min(self.pool.shares, device.count)
            shares = wanted if device.switch is not None else 1
            most = MOST_BOUGHT if can_grow else device.count
            dealt = [self.count(most, f"{device.part} share {s}") for s in range(shares)]
            self.cp.add(sum(dealt) == device.count + (self.buying(device.part) if can_grow else 0))
            for one, other in pairwise(dealt):
                self.cp.add(one >= other)
            for share, count in enumerate(dealt):
                self.shares[device.part, share] = count
                found += faces_of(device, share)
        return found

    def _ways(self) -> Iterator[Way]:
        for a, b in self._pairs():
            yield from (Way(a, b, option) for option in self.table.options(a.kind, b.kind))
            if a.is_switch and b.is_switch and a != b:
                # Between two switches a splitter cable may have its head at either.
                turned = self.table.options(b.kind, a.kind)
                yield from (Way(b, a, option) for option in turned if option.is_cable and option.legs > 1)

    def _pairs(self) -> Iterator[tuple[Face, Face]]:
        """Faces whose cages may link, each pair once, a switch first."""
        alike: dict[tuple[object, float], list[Face]] = defaultdict(list)
        for face in self.faces:
            alike[face.kind.protocol, face.kind.mode.speed_gbps].append(face)
        for faces in alike.values():
            for one, other in combinations_with_replacement(faces, 2):
                first, second = (one, other) if one.is_switch else (other, one)
                if first.is_switch and self._apart(first, second):
                    yield first, second

    def _apart(self, one: Face, other: Face) -> bool:
        """Whether the two faces can be on different devices."""
        if one.device != other.device:
            return True
        return one.share != other.share or (self.pool.shares == 1 and self._has_peer(one.device))

    def _has_peer(self, part: str) -> bool:
        return any(d.part == part and (d.count > 1 or self._can_grow(d)) for d in self.devices)

    def _can_grow(self, device: DeviceKind) -> bool:
        return self.pool.buyable and device.switch is not None

    def _most(self, way: Way) -> int:
        """More links than the pieces at hand can make by one way."""
        if way.option.medium_base in self.pool.offered:
            return MOST_BOUGHT
        option = way.option
        pieces = sum(n for m, n in self.pool.stock(option.medium_base).items() if m in option.stock_m)
        ends = [part for part in (option.a_part, option.b_part) if part is not None and part not in self.pool.offered]
        ports = [self.pool.pieces[part] * self.parts.modules[part].optical_ports * option.legs for part in ends]
        return min(pieces * option.media_den, *ports, MOST_BOUGHT)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _lay(self, i: int, way: Way) -> None:
        """Media of a way, and the cages or optical ports it takes at both ends.

        links <= legs x pieces   for a splitter, whose legs may stay open; else links = links per piece x pieces
        """
        option, links = way.option, self.links[i]
        stock = self.pool.stock(option.medium_base)
        lengths: list[float | None] = [m for m in stock if m in option.stock_m]
        if option.medium_base in self.pool.offered and option.stock_m:
            lengths.append(None)
        pieces = {m: self.count(MOST_BOUGHT if m is None else stock[m], f"m{i} {m}") for m in lengths}
        self.media.append(pieces)
        laid = sum(pieces.values())
        if option.legs > 1:
            self.cp.add(links <= option.legs * laid)
        else:
            self.cp.add(links == option.media_den * laid)
        if option.is_cable:
            # A straight cable fills one cage at each end; every leg of a splitter fills one.
            at_b = links if option.legs > 1 else laid
            self._plug(way.a, laid)
            self._plug(way.b, at_b)
            return
        for face, part, is_head in (
            (way.a, option.a_part, option.legs > 1 and option.head_at_a),
            (way.b, option.b_part, option.legs > 1 and not option.head_at_a),
        ):
            assert part is not None
            self.lit[face, part].append(laid if is_head else links)
            self._touch(face, links, face.ports)

    def _plug(self, face: Face, cages: Any) -> None:
        self.at[face].append(cages)
        self._touch(face, cages, 1)

    def _touch(self, face: Face, count: Any, per_cage: int) -> None:
        if not face.is_switch:
            self.linked[face.device, face.bank].append((count, per_cage))

    def _supply(self) -> None:
        """No more pieces of a cable or fibre than there are: sum of pieces[w, l] <= stock[l] + buy."""
        by_stock: dict[tuple[str, float | None], list[Any]] = defaultdict(list)
        for way, pieces in zip(self.ways, self.media, strict=True):
            for length_m, count in pieces.items():
                by_stock[way.option.medium_base, length_m].append(count)
        self.laid = {key: sum(counts) for key, counts in by_stock.items()}
        for (base, length_m), laid in self.laid.items():
            self.cp.add(laid <= (self.buying(base) if length_m is None else self.pool.stock(base)[length_m]))

    def _seats(self) -> None:
        """No more ports lit than the modules in a face have, and no more modules than there are.

        lit[f, m] <= optical ports x cages[f, m]; sum over f of cages[f, m] <= pieces[m] + buy[m]
        """
        of_module: dict[str, list[Any]] = defaultdict(list)
        for (face, part), lit in self.lit.items():
            most = MOST_BOUGHT if part in self.pool.offered else self.pool.pieces[part]
            cages = self.cages[face, part] = self.count(most, f"seat {part} {len(self.cages)}")
            module = self.parts.modules[part]
            self.cp.add(sum(lit) <= module.optical_ports * cages)
            of_module[part].append(cages)
            self.at[face].append(cages)
            self._no_link_to_itself(face, part, cages)
        self.seated = {part: sum(counts) for part, counts in of_module.items()}
        for part, seated in self.seated.items():
            self.cp.add(seated <= self.pool.pieces.get(part, 0) + self.buying(part))

    def _no_link_to_itself(self, face: Face, part: str, cages: Any) -> None:
        """Links between two modules of one kind in one face need two of them: links <= ports x (cages - 1), or none."""
        among = [
            links
            for way, links in zip(self.ways, self.links, strict=True)
            if way.a == way.b == face and way.option.a_part == way.option.b_part == part
        ]
        if among:
            is_used = self.cp.new_bool_var(f"used {part} {len(self.cages)}")
            self.cp.add(sum(among) <= face.ports * (cages - is_used))
            self.cp.add(sum(among) == 0).only_enforce_if(is_used.negated())

    def _room(self) -> None:
        """Cages, logical ports, pipelines and watts of the devices of a share, together.

        sum of cages <= cages of a device x devices, and likewise for hot cages, ports and watts
        """
        by_device: dict[tuple[str, int], list[Face]] = defaultdict(list)
        for face in self.at:
            by_device[face.device, face.share].append(face)
        for device in self.devices:
            for (part, share), faces in by_device.items():
                if part == device.part:
                    self._room_of(device, faces, self.shares[part, share])

    def _room_of(self, device: DeviceKind, faces: list[Face], devices: Any) -> None:
        cages = {face: sum(self.at[face]) for face in faces}
        for bank in device.banks:
            here = [face for face in faces if face.bank == bank.name]
            self.cp.add(sum(cages[face] for face in here) <= bank.count * devices)
            if bank.group.hot is not None:
                hot = sum(cages[face] for face in here if face.hot)
                self.cp.add(hot <= bank.group.hot.count * devices)
        switch = device.switch
        if switch is None:
            return
        own = [face for face in faces if face.is_switch]
        if switch.max_logical_ports is not None:
            ports = sum(face.ports * cages[face] for face in own)
            self.cp.add(ports <= int(switch.max_logical_ports.v) * devices)
        share, limit = switch.cages_per_pipeline, switch.ports_per_pipeline
        if share is not None and limit is not None:
            pipelines = sum(bank.count for bank in device.banks if bank.group.fabric) // share
            for beside in range(1, share):
                # So many of these do not fit a pipeline together with one more.
                wide = [face for face in own if face.ports * (beside + 1) > limit]
                self.cp.add(sum(cages[face] for face in wide) <= beside * pipelines * devices)
            self.cp.add(sum(face.ports * cages[face] for face in own) <= limit * pipelines * devices)
