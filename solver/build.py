"""Wires a choice port by port. The same blocks that were counted are written out, so costed is wired."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from gpunet.models.case import FabricName
from gpunet.models.evidence import watts_to_milliwatts
from gpunet.models.interconnect import Laid
from gpunet.models.ledger import Adapter, Channel, Device, Ledger, Link, Panel, Seat
from gpunet.models.parts import Switch
from gpunet.solver.candidates import Compiled
from gpunet.solver.demand import BMC_GROUP, CENTRAL, MGMT_GROUP, Endpoints, Host, server_name, storage_name
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.links import Way
from gpunet.solver.oob import pdu_name
from gpunet.solver.ports import cage_numbers
from gpunet.solver.racks import NoRackError, Racks
from gpunet.solver.template import (
    ENDPOINT_LEAF,
    LEAF_SPINE,
    SPINE_CORE,
    LinkClass,
    Measure,
    Position,
    Template,
    Upper,
)
from gpunet.solver.wiring import Block, Wire


@dataclass(frozen=True)
class End:
    """One end of a wire, by name."""

    device: str
    group: str
    cage: int
    port: int


class Place(NamedTuple):
    """Where a switch goes: a zone, or a rack of servers."""

    zone: str | None
    rack: int | None
    row: int | None
    """Row it stands in; none in the central zone."""


class Managed(NamedTuple):
    """A switch with a management port."""

    name: str
    row: int | None


class Port(NamedTuple):
    """A management port to serve; a place kept for growth has no device."""

    device: str | None
    group: str
    cage: int
    row: int
    key: Key


@dataclass
class Wired:
    """One fabric's switches by tier, with the cage numbers of every face."""

    leaves: list[str] = field(default_factory=list)
    spines: list[list[str]] = field(default_factory=list)
    """By pod."""
    cores: list[list[str]] = field(default_factory=list)
    """By plane; one list when only ports are counted."""
    leaf_cages: list[list[int]] = field(default_factory=list)
    """Cage numbers of a leaf: one list per kind of endpoint, then the uplinks."""
    spine_cages: list[list[int]] = field(default_factory=list)
    """Cage numbers of a spine: down, then up."""
    core_cages: list[int] = field(default_factory=list)


class Builder:
    """Builds the ledger of a choice."""

    def __init__(self, compiled: Compiled, data: Instance, choice: Choice) -> None:
        self.compiled, self.data, self.choice = compiled, data, choice
        self.room = compiled.machines.room
        self.ledger = Ledger()
        self.racks = Racks(self.room, None if data.racks is None else data.racks.packed(choice.templates))
        self._assembly = 0
        self._trunk = 0
        self._ways = {key: self._in_order(key) for key in data.ways}
        self._wired: dict[FabricName, Wired] = {}
        self._wings: dict[FabricName, list[Wired]] = {}
        self._managed: list[Managed] = []
        """Switches of every fabric, in building order."""

    def build(self) -> Ledger:
        """The whole ledger."""
        self._machines()
        others: dict[FabricName, Template] = {f: t for f, t in self.choice.templates.items() if f is not FabricName.OOB}
        for fabric, t in others.items():
            if t.wings:
                self._mixed(fabric, t)
            else:
                self._wired[fabric] = self._switches(fabric, t, [self._place(p) for p in self._stands(fabric, t)])
        oob = self.choice.templates.get(FabricName.OOB)
        if oob is not None:
            self._management(oob)
        for fabric, t in self.choice.templates.items():
            if t.wings:
                for wing, wired in zip(t.wings, self._wings[fabric], strict=True):
                    assert wing.spine is not None
                    self._endpoint_links(fabric, wing, wired)
                    self._spine_links(fabric, wing, wing.spine, wired)
                continue
            if fabric is not FabricName.OOB:
                self._endpoint_links(fabric, t, self._wired[fabric])
            if t.spine is not None:
                self._spine_links(fabric, t, t.spine, self._wired[fabric])
            if t.core is not None:
                self._core_links(fabric, t, t.core)
        self._adapters()
        self.ledger.places = sorted(self.racks.used.values())
        return self.ledger

    def _in_order(self, key: Key) -> Iterator[Way]:
        """The way of each successive block of a class."""
        counts = self.choice.built[key]
        return itertools.chain.from_iterable(
            itertools.repeat(way, n) for way, n in zip(self.data.ways[key], counts, strict=True)
        )

    # --- what stands in the racks -----------------------------------------------------------------------------

    def _machines(self) -> None:
        machines, room, case = self.compiled.machines, self.room, self.compiled.case
        server = machines.server
        height = math.ceil(server.rack_units.v)
        for i in range(machines.n_servers):
            place = room.racks[room.server_rack(i)]
            unit = self.racks.stack(place, height, room.server_mw)
            self._device(server_name(i), "server", server.id, place.name, unit, height)
        storage = case.fabrics.storage
        if storage is not None and machines.n_storage:
            nic = self._storage_nic()
            for i in range(machines.n_storage):
                place = room.racks[room.storage_rack(i)]
                power = watts_to_milliwatts(storage.storage_server_w)
                unit = self.racks.stack(place, storage.storage_server_units, power)
                self._device(storage_name(i), "storage-server", nic, place.name, unit, storage.storage_server_units)
        if case.fabrics.oob is not None:
            for place in room.racks:
                for p in range(case.fabrics.oob.pdus_per_rack):
                    self._device(pdu_name(place.name, p), "pdu", "", place.name, 0, 0)
        reserved = {
            (t.fabric, h.device)
            for t in self.choice.templates.values()
            for kind in t.kinds
            for h in kind.hosts
            if h.rack == CENTRAL and h.device
        }
        for fabric, name in sorted(reserved):
            place = room.central.places[0]
            self.racks.used[place.name] = place
            self.ledger.devices.append(Device(name, "reserved", server.id, fabric.value, "", -1, place.name, 0, 0))

    def _storage_nic(self) -> str:
        for t in self.choice.templates.values():
            for kind in t.kinds:
                if kind.kind == "storage-server":
                    return kind.device_part
        return ""

    def _device(self, name: str, kind: str, part: str, rack: str, unit: int, height: int) -> None:
        self.ledger.devices.append(Device(name, kind, part, "", "", -1, rack, unit, height))

    def _adapters(self) -> None:
        for t in self.choice.templates.values():
            for kind in t.kinds:
                if kind.nic is not None:
                    self.ledger.adapters += [
                        Adapter(h.device, kind.nic, kind.nics_per_host)
                        for h in kind.hosts
                        if h.device is not None and h.rack != CENTRAL
                    ]

    def _stands(self, fabric: FabricName, t: Template) -> list[tuple[Position, int]]:
        """Position and number within its group, of every leaf."""
        positions = self.compiled.measures[fabric].positions(t)
        return [(positions[i // t.leaves_per_group], i % t.leaves_per_group) for i in range(t.n_leaves)]

    def _place(self, stand: tuple[Position, int]) -> Place:
        """Where a leaf goes: any place of its zone, or one server rack (top-of-rack)."""
        position, number = stand
        if position.zone is None:
            rack = range(position.first, position.last + 1)[number % (position.last - position.first + 1)]
            return Place(None, rack, self.room.row_of(rack))
        rows = {zone.name: row for row, zone in enumerate(self.room.row_zones)}
        return Place(position.zone, None, rows.get(position.zone))

    def _mixed(self, fabric: FabricName, t: Template) -> None:
        """Leaves of every wing, numbered through, and the spines they share."""
        assert t.spine is not None
        wired = []
        leaves = groups = 0
        for wing in t.wings:
            places = [self._place(p) for p in self._stands(fabric, wing)]
            wired.append(self._leaves(fabric, wing, places, leaves, groups))
            leaves += wing.n_leaves
            groups += wing.n_leaves // wing.leaves_per_group
        spines = [self._tier(fabric, t.spine, "spine", 0, t.spine.count, 0)]
        uses = [(w.spine.face, w.down_cages(w.spine, w.n_leaves)) for w in t.wings if w.spine is not None]
        for found, cages in zip(wired, cage_numbers(t.spine.switch, uses), strict=True):
            found.spines, found.spine_cages = spines, [cages]
        self._wings[fabric] = wired

    def _leaves(self, fabric: FabricName, t: Template, places: list[Place], first: int = 0, group: int = 0) -> Wired:
        found = Wired(leaf_cages=cage_numbers(t.leaf, t.leaf_uses()))
        for i, place in enumerate(places):
            if place.rack is not None:
                here = self.room.racks[place.rack]
                unit = self.racks.on(here, t.leaf)
                if unit is None:
                    raise NoRackError(f"{t.leaf.id} does not fit rack {here.name}")
                rack = here.name
            else:
                rack, unit = self.racks.in_zone(place.zone or self.room.central.name, t.leaf)
            name = f"{fabric.value}-leaf-{first + i + 1:04d}"
            self._switch(name, t.leaf, fabric, "leaf", group + i // t.leaves_per_group, rack, unit)
            found.leaves.append(name)
            self._managed.append(Managed(name, place.row))
        return found

    def _switches(self, fabric: FabricName, t: Template, places: list[Place]) -> Wired:
        found = self._leaves(fabric, t, places)
        if t.spine is not None:
            uses = [(t.spine.face, t.down_cages(t.spine, t.leaves_per_pod))]
            if t.core is not None:
                uses.append((t.core.lower_face, t.up_cages(t.core)))
            found.spine_cages = cage_numbers(t.spine.switch, uses)
            for pod in range(t.n_pods):
                found.spines.append(self._tier(fabric, t.spine, "spine", pod, t.spine.count, pod))
        if t.core is not None and t.spine is not None:
            n_lower = t.n_pods if t.core.multiplicity else t.n_spines
            found.core_cages = cage_numbers(t.core.switch, [(t.core.face, t.down_cages(t.core, n_lower))])[0]
            for plane in range(t.spine.count if t.core.multiplicity else 1):
                group = plane if t.core.multiplicity else -1
                found.cores.append(self._tier(fabric, t.core, "core", plane, t.core.count, group))
        return found

    def _tier(self, fabric: FabricName, upper: Upper, tier: str, n: int, count: int, group: int) -> list[str]:
        names = []
        for i in range(count):
            name = f"{fabric.value}-{tier}-{n * count + i + 1:04d}"
            rack, unit = self.racks.in_zone(self.room.central.name, upper.switch)
            self._switch(name, upper.switch, fabric, tier, group, rack, unit)
            self._managed.append(Managed(name, None))
            names.append(name)
        return names

    def _switch(
        self, name: str, switch: Switch, fabric: FabricName, tier: str, group: int, rack: str, unit: int
    ) -> None:
        height = math.ceil(switch.rack_units.v)
        self.ledger.devices.append(Device(name, "switch", switch.id, fabric.value, tier, group, rack, unit, height))

    # --- links --------------------------------------------------------------------------------------------------

    def _endpoint_links(self, fabric: FabricName, t: Template, wired: Wired) -> None:
        measure = self.compiled.measures[fabric]
        for i, kind in enumerate(t.kinds):
            pair = measure.endpoint_pair(t.downs[i], t.leaf, kind)
            group, numbers = t.downs[i].group.name, wired.leaf_cages[i]

            def leaf_end(wire: Wire, group: str = group, numbers: list[int] = numbers) -> End:
                return End(wired.leaves[wire.a], group, numbers[wire.a_cage], wire.a_port)

            def host_end(wire: Wire, kind: Endpoints = kind) -> End:
                host = kind.hosts[wire.b]
                return End(host.device or "", kind.group, wire.b_cage + 1, wire.b_port)

            blocks = measure.attach_blocks(t, i)
            self._blocks(fabric, measure, ENDPOINT_LEAF, pair, blocks, leaf_end, host_end, kind.fabric)

    def _spine_links(self, fabric: FabricName, t: Template, upper: Upper, wired: Wired) -> None:
        measure = self.compiled.measures[fabric]
        pair = measure.pair((upper.lower_face, t.leaf), (upper.face, upper.switch))
        up, down = wired.leaf_cages[-1], wired.spine_cages[0]
        a_group, b_group = upper.lower_face.group.name, upper.face.group.name
        if not upper.multiplicity:
            spines = [s for pod in wired.spines for s in pod]
            length = max(measure.leaf_lengths(t))
            lower, higher = (wired.leaves, a_group, up), (spines, b_group, down)
            self._counted(fabric, LEAF_SPINE, pair, t, upper, lower, higher, length)
            return
        for pod in range(t.n_pods):
            leaves = wired.leaves[pod * t.leaves_per_pod : (pod + 1) * t.leaves_per_pod]

            def leaf_end(wire: Wire, leaves: list[str] = leaves) -> End:
                return End(leaves[wire.a], a_group, up[wire.a_cage], wire.a_port)

            def spine_end(wire: Wire, spines: list[str] = wired.spines[pod]) -> End:
                return End(spines[wire.b], b_group, down[wire.b_cage], wire.b_port)

            self._blocks(fabric, measure, LEAF_SPINE, pair, measure.spine_blocks(t, pod), leaf_end, spine_end)

    def _core_links(self, fabric: FabricName, t: Template, upper: Upper) -> None:
        assert t.spine is not None
        measure, wired = self.compiled.measures[fabric], self._wired[fabric]
        pair = measure.pair((upper.lower_face, t.spine.switch), (upper.face, upper.switch))
        up, down = wired.spine_cages[1], wired.core_cages
        a_group, b_group = upper.lower_face.group.name, upper.face.group.name
        central = self.room.central.name
        if not upper.multiplicity:
            spines = [s for pod in wired.spines for s in pod]
            length = self.room.zone_to_zone_m(central, central)
            cores = wired.cores[0]
            self._counted(fabric, SPINE_CORE, pair, t, upper, (spines, a_group, up), (cores, b_group, down), length)
            return
        for plane in range(t.spine.count):
            spines = [pod[plane] for pod in wired.spines]

            def spine_end(wire: Wire, spines: list[str] = spines) -> End:
                return End(spines[wire.a], a_group, up[wire.a_cage], wire.a_port)

            def core_end(wire: Wire, cores: list[str] = wired.cores[plane]) -> End:
                return End(cores[wire.b], b_group, down[wire.b_cage], wire.b_port)

            self._blocks(fabric, measure, SPINE_CORE, pair, measure.core_blocks(t), spine_end, core_end)

    def _management(self, t: Template) -> None:
        """Out-of-band: deal the ports to leaves, put the leaves where their ports are, and wire them.

        Spines come first, because their own management ports are dealt too.
        """
        management, kind = self.data.management, t.kinds[0]
        assert management is not None
        ports, fabric = management.leaf_ports[id(t)], FabricName.OOB
        in_rows, central = t.n_leaves - t.central_leaves, t.central_leaves
        one_pool = self.room.rows == 1 or self.room.network_places_together
        spines = [f"{fabric.value}-spine-{i + 1:04d}" for i in range(t.n_spines)]
        cores = [f"{fabric.value}-core-{i + 1:04d}" for i in range(t.n_cores)]
        switches = [*self._managed, *(Managed(name, None) for name in (*spines, *cores))]
        last_row = self.room.rows - 1
        hosts = [
            Port(host.device, _management_group(host), cage + 1, self.room.row_of(host.rack), Key(fabric, link))
            for host, link in ((h, self._endpoint_class(t)) for h in kind.hosts if h.device is not None)
            for cage in range(host.cages)
        ]
        later = kind.future_cages - len(hosts)
        rows_first = [
            Port(m.name, MGMT_GROUP, 1, last_row + 1 if m.row is None else m.row, management.in_rows)
            for m in switches
            if one_pool or m.row is not None
        ]
        queue = sorted([*hosts, *rows_first], key=lambda p: p.row)
        queue += [Port(None, "", 0, last_row, management.in_rows)] * later
        row_leaves = [f"{fabric.value}-leaf-{i + 1:04d}" for i in range(in_rows)]
        dealt = deal(queue, row_leaves, ports, management.in_rows)
        places = [self._row_place(first) for first, _ in dealt]
        middle = [
            Port(m.name, MGMT_GROUP, 1, 0, management.central) for m in switches if m.row is None and not one_pool
        ]
        central_leaves = [f"{fabric.value}-leaf-{in_rows + i + 1:04d}" for i in range(central)]
        dealt += deal(middle, central_leaves, ports, management.central)
        places += [Place(self.room.central.name, None, None)] * central
        self._wired[fabric] = wired = self._switches(fabric, t, places)
        group, numbers = t.downs[0].group.name, wired.leaf_cages[0]
        for leaf, (_, served) in zip(wired.leaves, dealt, strict=True):
            for cage, port in enumerate(served):
                if port.device is not None:
                    a = End(leaf, group, numbers[cage], 0)
                    b = End(port.device, port.group, port.cage, 0)
                    self._write(fabric, ENDPOINT_LEAF, next(self._ways[port.key]), [(a, b)])

    def _endpoint_class(self, t: Template) -> LinkClass:
        """The class of every BMC and PDU link: there is one, since all are measured alike."""
        (found,) = [link for link in t.facts.blocks if link.link_class == ENDPOINT_LEAF]
        return found

    def _row_place(self, row: int) -> Place:
        if self.room.network_places_together:
            return Place(self.room.central.name, None, None)
        row = min(row, self.room.rows - 1)
        return Place(self.room.row_zones[row].name, None, row)

    def _blocks(
        self,
        fabric: FabricName,
        measure: Measure,
        link_class: str,
        pair: int,
        blocks: Iterable[Block],
        a_end: Callable[[Wire], End],
        b_end: Callable[[Wire], End],
        label: FabricName | None = None,
    ) -> None:
        """Write every block; ``label`` names the fabric served where another fabric's switches carry it."""
        for block in blocks:
            key = Key(fabric, LinkClass(link_class, pair, measure.book.step(block.length_m), block.shape))
            ways = self._ways[key]
            for n in range(block.count):
                ends = [(a_end(w), b_end(w)) for w in block.wires(n)]
                self._write(label or fabric, link_class, next(ways), ends)

    def _counted(
        self,
        fabric: FabricName,
        link_class: str,
        pair: int,
        t: Template,
        upper: Upper,
        lower: tuple[list[str], str, list[int]],
        higher: tuple[list[str], str, list[int]],
        length_m: float,
    ) -> None:
        """Round-robin wiring that only counts ports: link n of all goes to upper switch n mod their number."""
        measure = self.compiled.measures[fabric]
        shape = measure.counted_shape(t, upper, len(lower[0]), len(higher[0]))
        key = Key(fabric, LinkClass(link_class, pair, measure.book.step(length_m), shape))
        p_a, p_b = upper.lower_face.ports, upper.face.ports
        ends = []
        for n in range(len(lower[0]) * upper.links_per_lower):
            switch, link = divmod(n, upper.links_per_lower)
            turn, target = divmod(n, len(higher[0]))
            a = End(lower[0][switch], lower[1], lower[2][link // p_a], link % p_a)
            b = End(higher[0][target], higher[1], higher[2][turn // p_b], turn % p_b)
            ends.append((a, b))
        self._write(fabric, link_class, next(self._ways[key]), ends)

    def _write(self, fabric: FabricName, link_class: str, way: Way, ends: list[tuple[End, End]]) -> None:
        """Write the links of one block, its modules, and the pieces of fibre or cable."""
        ic = way.interconnect
        a_fill: dict[tuple[str, int], int] = {}
        b_seats: dict[tuple[str, str, int], None] = {}
        pieces: dict[tuple[object, ...], int] = {}
        for a, b in ends:
            place = (a.device, a.cage)
            port = a_fill.get(place, 0)
            a_fill[place] = port + 1
            if port == 0 and ic.a_part is not None:
                self.ledger.seats.append(Seat(a.device, a.group, a.cage, ic.a_part))
            b_seats[b.device, b.group, b.cage] = None
            if ic.is_cable:
                piece: tuple[object, ...] = (a.device, a.cage) if ic.head_at_a else (b.device, b.group, b.cage)
            elif ic.media_den == 1:
                piece = (len(pieces),)
            elif ic.head_at_a:
                piece = (a.device, a.cage, port * ic.media_num // ic.media_den)
            else:
                piece = (b.device, b.group, b.cage, b.port * ic.media_num // ic.media_den)
            if piece not in pieces:
                self._assembly += 1
                pieces[piece] = self._assembly
            self.ledger.links.append(
                Link(
                    fabric.value,
                    link_class,
                    ic.speed_gbps,
                    a.device,
                    a.group,
                    a.cage,
                    port + 1,
                    b.device,
                    b.group,
                    b.cage,
                    b.port + 1,
                    pieces[piece],
                    ic.medium,
                    ic.medium_length_m,
                )
            )
        if ic.laid is not None:
            self._lay(ic.laid, ends, list(pieces.values()))
        if ic.b_part is not None:
            self.ledger.seats += [Seat(device, group, cage, ic.b_part) for device, group, cage in b_seats]

    def _lay(self, laid: Laid, ends: list[tuple[End, End]], assemblies: list[int]) -> None:
        """Panels, runs and far cords of the pieces of one block; a run of several legs serves pieces in their order.

        A shared panel stands with the first port of the block on its side, a panel of one place with the port itself.
        """
        racks = self._racks_by_device
        last = self.ledger.links[-len(ends) :]
        first: dict[int, tuple[End, End]] = {}
        for link, pair in zip(last, ends, strict=True):
            first.setdefault(link.assembly, pair)
        panels: dict[tuple[bool, int], int] = {}

        def panel(near: bool, piece: int) -> tuple[int, int]:
            number, position = divmod(piece, laid.positions)
            if (near, number) not in panels:
                a, b = first[assemblies[piece if laid.run_legs == 1 else 0]]
                device = (b if near else a).device
                panels[near, number] = len(self.ledger.panels) + 1
                self.ledger.panels.append(Panel(len(self.ledger.panels) + 1, laid.panel, racks[device]))
            return panels[near, number], position + 1

        for i, assembly in enumerate(assemblies):
            if i % laid.run_legs == 0:
                self._trunk += 1
            near = panel(True, i)
            far = panel(False, i) if laid.panels > 1 else (0, 0)
            leg = i % laid.run_legs + 1
            self.ledger.channels.append(
                Channel(assembly, laid.structure.value, laid.cord or "", laid.run, self._trunk, leg, *near, *far)
            )

    @cached_property
    def _racks_by_device(self) -> dict[str, str]:
        """Rack place of every device; asked for once all stand."""
        return {device.name: device.rack for device in self.ledger.devices}


def _management_group(host: Host) -> str:
    """Management ports are named after what they manage: the BMC of a GPU server, or the box itself."""
    return BMC_GROUP if host.device is not None and host.device.startswith("server-") else MGMT_GROUP


def deal(queue: list[Port], leaves: list[str], ports: int, own: Key) -> list[tuple[int, list[Port]]]:
    """Give each leaf its ports in order: (row of its first port, ports).

    A leaf is managed by the next one, and the last by the one before it; a single leaf has nobody and is left to
    its console.
    """
    found: list[tuple[int, list[Port]]] = []
    waiting = list(queue)
    start = 0
    for i in range(len(leaves)):
        served: list[Port] = []
        row = waiting[min(start, len(waiting) - 1)].row if waiting else 0
        if i > 0:
            served.append(Port(leaves[i - 1], MGMT_GROUP, 1, row, own))
        if i == len(leaves) - 2:
            served.append(Port(leaves[-1], MGMT_GROUP, 1, row, own))
        room = ports - len(served)
        served += waiting[start : start + room]
        start += room
        found.append((row, served))
    if start < len(waiting) and any(p.device is not None for p in waiting[start:]):
        raise RuntimeError("management leaves have fewer ports than they were counted with")
    return found
