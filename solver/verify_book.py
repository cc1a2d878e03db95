"""The ledger compiled into arrays: every cage gets one number, every link end points at one.

Half a million links are checked in seconds because rules are judged once per kind of link and counts are
taken over arrays. A row that names something that does not exist is kept out of the arrays; the checks
``ledger``, ``ports`` and ``seats`` name it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gpunet.models.case import Case
from gpunet.models.design import Design, Result
from gpunet.models.ledger import Device, Ledger, Link
from gpunet.models.parts import Catalog
from gpunet.solver.verify_groups import GroupType, groups_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
K = TypeVar("K", bound=Hashable)

ENDPOINT_LEAF, LEAF_SPINE, SPINE_CORE = "endpoint-leaf", "leaf-spine", "spine-core"
CLASSES = (ENDPOINT_LEAF, LEAF_SPINE, SPINE_CORE)
KINDS = ("switch", "server", "storage-server", "reserved", "pdu")
MOST_PORTS = 64
"""More logical ports than any cage has; a larger port number is no port."""


class Book:
    """The arrays. Names say what an index counts: ``cage_*`` per cage, ``dev_*`` per device; the rest per good link."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        self.case: Case = design.case
        self.result: Result = design.result
        self.ledger: Ledger = design.ledger
        self.catalog = catalog
        self.groups: list[GroupType] = []
        self._types: dict[tuple[str, str], tuple[int, dict[str, tuple[int, GroupType]]]] = {}
        self._compile_devices()
        self._compile_links()
        self._compile_seats()

    # --- devices and cages ------------------------------------------------------------------------------------------

    def _type_of(self, device: Device) -> int:
        key = (device.kind, device.part)
        if key not in self._types:
            by_name = {g.name: g for g in groups_of(device, self.case, self.catalog)}
            numbered = {name: (len(self.groups) + i, g) for i, (name, g) in enumerate(by_name.items())}
            self.groups += by_name.values()
            self._types[key] = (len(self._types), numbered)
        return self._types[key][0]

    def _compile_devices(self) -> None:
        devices = self.ledger.devices
        self.device_index: dict[str, int] = {}
        for i, device in enumerate(devices):
            self.device_index.setdefault(device.name, i)
        dev_type = np.fromiter((self._type_of(d) for d in devices), np.int64, len(devices))
        types = list(self._types.values())
        # Per type: the group of each cage, and each cage's number within its group.
        layout_group, layout_no = [], []
        for _, groups in types:
            layout_group.append(np.repeat([g for g, _ in groups.values()], [t.cages.count for _, t in groups.values()]))
            numbers = [np.arange(1, t.cages.count + 1) for _, t in groups.values()]
            layout_no.append(np.concatenate(numbers) if numbers else np.zeros(0))
        sizes = np.array([len(x) for x in layout_no], np.int64)
        counts = sizes[dev_type] if len(devices) else np.zeros(0, np.int64)
        self._dev_type = dev_type
        self._base = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.cage_device: Ints = np.repeat(np.arange(len(devices)), counts)
        self.cage_group: Ints = _joined([layout_group[t] for t in dev_type])
        self.cage_no: Ints = _joined([layout_no[t] for t in dev_type])
        # A box of k independent switches is k nodes; any other device is one.
        blocks = [
            max((t.switch.independent_switches if t.switch else 1 for _, t in g.values()), default=1) for _, g in types
        ]
        dev_blocks = np.array(blocks, np.int64)[dev_type] if len(devices) else np.zeros(0, np.int64)
        self.node_base: Ints = np.concatenate([[0], np.cumsum(dev_blocks)]).astype(np.int64)
        self.node_device: Ints = np.repeat(np.arange(len(devices)), dev_blocks)
        group_size = np.array([g.cages.count for g in self.groups] or [1], np.int64)
        group_blocks = np.array(
            [g.switch.independent_switches if g.switch and g.cages.fabric else 1 for g in self.groups] or [1], np.int64
        )
        block = (self.cage_no - 1) * group_blocks[self.cage_group] // group_size[self.cage_group]
        self.cage_block: Ints = block
        self.cage_node: Ints = self.node_base[self.cage_device] + block

    def devices_of(self, kind: str) -> list[int]:
        """Indices of the devices of a kind."""
        return [i for i, d in enumerate(self.ledger.devices) if d.kind == kind]

    def node_name(self, node: int) -> str:
        """Device name, with the number of the switch inside a box that holds several."""
        device = int(self.node_device[node])
        several = self.node_base[device + 1] - self.node_base[device] > 1
        name = self.ledger.devices[device].name
        return f"{name}#{node - int(self.node_base[device]) + 1}" if several else name

    def cage_name(self, cage: int) -> str:
        """``leaf-1 fabric 3``: device, cage group and cage number."""
        group = self.groups[int(self.cage_group[cage])]
        return f"{self.ledger.devices[int(self.cage_device[cage])].name} {group.name} {int(self.cage_no[cage])}"

    def cage_at(self, device: str, group: str, cage: int) -> int:
        """Number of a cage, -1 where there is none."""
        index = self.device_index.get(device)
        if index is None:
            return -1
        offset = 0
        for _, kind in list(self._types.values())[int(self._dev_type[index])][1].values():
            if kind.name == group:
                return int(self._base[index]) + offset + cage - 1 if 1 <= cage <= kind.cages.count else -1
            offset += kind.cages.count
        return -1

    def why_no_cage(self, device: str, group: str, cage: int) -> str:
        """Why ``cage_at`` finds nothing."""
        index = self.device_index.get(device)
        if index is None:
            return f"no device {device!r}"
        groups = list(self._types.values())[int(self._dev_type[index])][1]
        if group not in groups:
            return f"{device} has no cage group {group!r} (it has {', '.join(groups) or 'none'})"
        return f"{device} {group} has cages 1 to {groups[group][1].cages.count}, not {cage}"

    # --- links ------------------------------------------------------------------------------------------------------

    def _compile_links(self) -> None:
        links = self.ledger.links
        n = len(links)
        columns = list(zip(*links, strict=True)) if n else [()] * len(Link._fields)
        column = dict(zip(Link._fields, columns, strict=True))
        fabric, self.fabric_names = coded(column["fabric"])
        klass, self.class_names = coded(column["link_class"])
        speed, self.speeds = coded(column["speed_gbps"])
        piece = zip(column["medium"], column["length_m"], strict=True)
        medium, self.media = coded(piece)
        a = self._cages(column["a_device"], column["a_group"], column["a_cage"])
        b = self._cages(column["b_device"], column["b_group"], column["b_cage"])
        a_port = np.array(column["a_port"], np.int64)
        b_port = np.array(column["b_port"], np.int64)
        sound = np.ones(n, bool)
        for port in (a_port, b_port):
            sound &= (port >= 1) & (port <= MOST_PORTS)
        known = np.array([c in CLASSES for c in self.class_names] or [True])
        good = (a >= 0) & (b >= 0) & sound & known[klass]
        self.bad_rows: Ints = np.flatnonzero(~good)
        self.row: Ints = np.flatnonzero(good)
        self.fabric, self.klass, self.speed, self.medium = fabric[good], klass[good], speed[good], medium[good]
        self.a_cage, self.b_cage, self.a_port, self.b_port = a[good], b[good], a_port[good], b_port[good]
        numbers = np.array(column["assembly"], np.int64)[good]
        self.assembly_ids, assembly = np.unique(numbers, return_inverse=True)
        self.assembly: Ints = assembly.reshape(-1)
        self.speed_gbps: Floats = np.array(self.speeds or [0.0], np.float64)
        self.gbps: Floats = self.speed_gbps[self.speed]
        ends = np.concatenate([self.a_cage, self.b_cage])
        ports = np.concatenate([self.a_port, self.b_port])
        cages = len(self.cage_device)
        self.cage_used: Ints = np.bincount(ends, minlength=cages)
        self.cage_top: Ints = np.zeros(cages, np.int64)
        np.maximum.at(self.cage_top, ends, ports)
        self.cage_speed: Ints = np.full(cages, -1, np.int64)
        self.cage_speed[ends] = np.concatenate([self.speed, self.speed])

        self.served = self._fabric_served()

    def _fabric_served(self) -> Ints:
        """The fabric whose endpoint each link attaches: what the port at the far end is for.

        Converged storage runs over the backend's switches, and its links may be entered under either name.
        Links between switches serve the fabric they are entered under.
        """
        names = {name: i for i, name in enumerate(self.fabric_names)}
        by_group = []
        for group in self.groups:
            role = {"server": group.name, "storage-server": "storage"}.get(group.kind, "")
            role = "oob" if group.managed else role
            by_group.append(names.setdefault(role, len(names)) if role else -1)
        reserved = [names.setdefault(d.fabric, len(names)) if d.kind == "reserved" else -1 for d in self.ledger.devices]
        self.fabric_names = list(names)
        group = self.cage_group[self.b_cage]
        served = np.array(by_group or [-1], np.int64)[group]
        served = np.where(served < 0, np.array(reserved or [-1], np.int64)[self.cage_device[self.b_cage]], served)
        found: Ints = np.where(self.in_class(ENDPOINT_LEAF) & (served >= 0), served, self.fabric)
        return found

    def _cages(self, devices: Iterable[str], groups: Iterable[str], cages: Iterable[int]) -> Ints:
        """Number of the cage that each link end names, -1 where there is none."""
        group, names = coded(groups)
        number = np.array(cages, np.int64)
        if not len(number):
            return np.zeros(0, np.int64)
        index = self.device_index
        device = np.fromiter((index.get(d, -1) for d in devices), np.int64, len(number))
        offset = np.full((len(self._types), len(names)), -1, np.int64)
        size = np.zeros((len(self._types), len(names)), np.int64)
        for t, found in self._types.values():
            start = 0
            for name, (_, kind) in found.items():
                if name in names:
                    offset[t, names.index(name)] = start
                    size[t, names.index(name)] = kind.cages.count
                start += kind.cages.count
        if not len(self._dev_type):
            return np.full(len(number), -1, np.int64)
        kind_no = self._dev_type[device]
        at = offset[kind_no, group]
        exists = (device >= 0) & (at >= 0) & (number >= 1) & (number <= size[kind_no, group])
        return np.where(exists, self._base[device] + at + number - 1, -1)

    def link_name(self, i: int) -> str:
        """Both ends of good link ``i``."""
        a, b = self.cage_name(int(self.a_cage[i])), self.cage_name(int(self.b_cage[i]))
        return f"{a} port {int(self.a_port[i])} to {b} port {int(self.b_port[i])}"

    def in_class(self, name: str) -> Bools:
        """Which good links are of a class."""
        found: Bools = self.klass == (self.class_names.index(name) if name in self.class_names else -1)
        return found

    def of_fabric(self, name: str) -> Bools:
        """Which good links serve a fabric."""
        found: Bools = self.served == (self.fabric_names.index(name) if name in self.fabric_names else -1)
        return found

    # --- modules ----------------------------------------------------------------------------------------------------

    def _compile_seats(self) -> None:
        seats = self.ledger.seats
        device, group, number, part = list(zip(*seats, strict=True)) if seats else ((), (), (), ())
        cage = self._cages(device, group, number)
        code, names = coded(part)
        self.modules: list[str] = [m for m in names if m in self.catalog.modules]
        # A module that nobody sells has no number, so that nothing looks it up.
        renumbered = np.array([self.modules.index(m) if m in self.modules else -1 for m in names] or [-1], np.int64)
        code = renumbered[code]
        good = (cage >= 0) & (code >= 0)
        self.cage_seat: Ints = np.full(len(self.cage_device), -1, np.int64)
        self.cage_seat[cage[good]] = code[good]
        taken = np.sort(cage[good])
        self.doubled_seats: Ints = distinct(taken[1:][taken[1:] == taken[:-1]])
        """Cages with two modules."""
        self.bad_seats: Ints = np.flatnonzero(~good)
        """Rows of seats without a cage or without a part."""

    def why_bad_seat(self, row: int) -> str:
        """What is wrong with a row of ``bad_seats``."""
        seat = self.ledger.seats[row]
        if self.cage_at(seat.device, seat.group, seat.cage) < 0:
            return f"module {seat.part} has no cage: {self.why_no_cage(seat.device, seat.group, seat.cage)}"
        return f"{seat.device} {seat.group} {seat.cage}: no module {seat.part!r} in the catalogue"

    @cached_property
    def dev_rack(self) -> Ints:
        """Rack number of every device, -1 where the rack place does not exist."""
        places = {p.name: i for i, p in reversed(list(enumerate(self.ledger.places)))}
        return np.fromiter((places.get(d.rack, -1) for d in self.ledger.devices), np.int64, len(self.ledger.devices))

    @cached_property
    def server_count(self) -> int:
        """GPU servers the case asks for."""
        cluster = self.case.cluster
        server = self.catalog.servers.get(cluster.server)
        if cluster.servers is not None or server is None:
            return cluster.servers or 0
        return -(-(cluster.gpus or 0) // int(server.gpus.v))


def coded(values: Iterable[K]) -> tuple[Ints, list[K]]:
    """Values as small numbers in order of first appearance, and what each number stands for."""
    table: dict[K, int] = {}
    codes = [table.setdefault(v, len(table)) for v in values]
    return np.array(codes, np.int64), list(table)


def distinct(values: Ints) -> Ints:
    """The different values in rising order; a sort is several times faster here than ``numpy.unique``."""
    ordered = np.sort(values)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def tally(index: Ints, weights: Floats, size: int) -> Floats:
    """Sum of the weights at every index below ``size``."""
    return np.bincount(index, weights=weights, minlength=size).astype(np.float64)


def _joined(parts: list[npt.NDArray[np.int64]]) -> Ints:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
