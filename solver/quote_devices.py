"""The cages that a list of parts brings, and every way to run each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpunet.models.interconnect import CageKind
from gpunet.models.parts import CageGroup, Catalog, Protocol, Switch
from gpunet.solver.demand import RJ45_PORT
from gpunet.solver.links import cage_kinds

ANY = "*"
"""In place of a role: every cage, and no matter whether it is linked."""


@dataclass(frozen=True)
class Bank:
    """Cages of one kind on one kind of device."""

    name: str
    group: CageGroup
    count: int
    """Cages on one device."""
    protocols: tuple[Protocol, ...]
    must_link: bool
    """Whether a list is short of something when one of these cages gets no link: ports of servers and cards."""


@dataclass(frozen=True)
class DeviceKind:
    """One model of device on a list."""

    part: str
    count: int
    switch: Switch | None
    """The switch; none for a server or card, which links only to switches."""
    banks: tuple[Bank, ...]


@dataclass(frozen=True)
class Face:
    """One way to run one of a device's cages."""

    device: str
    share: int
    """Which share of the devices of this model, for links join different devices; 0 where there is one share."""
    bank: str
    hot: bool
    """True for cages with the higher module limit alone."""
    kind: CageKind
    is_switch: bool

    @property
    def ports(self) -> int:
        """Logical ports of one cage."""
        return self.kind.mode.ports


def devices_of(pieces: Mapping[str, int], catalog: Catalog) -> list[DeviceKind]:
    """The devices among the parts of a list.

    ``server:role`` is the cages of one role of a server; ``server:*`` and ``card:*`` are all, none needs a link.
    """
    found = []
    for part, count in sorted(pieces.items()):
        base, _, role = part.partition(":")
        if count <= 0:
            continue
        if base in catalog.switches:
            switch = catalog.switches[base]
            found.append(DeviceKind(part, count, switch, tuple(_switch_banks(switch))))
        elif base in catalog.nics:
            nic = catalog.nics[base]
            banks = tuple(Bank(g.name, g, g.count, nic.protocols, role != ANY) for g in nic.cages if g.fabric)
            found.append(DeviceKind(part, count, None, banks))
        elif base in catalog.servers:
            found.append(DeviceKind(part, count, None, tuple(_server_banks(catalog, base, role))))
    return found


def _switch_banks(switch: Switch) -> Iterator[Bank]:
    for group in switch.cages:
        if group.fabric:
            yield Bank(group.name, group, group.count, (switch.protocol,), False)
    yield Bank(RJ45_PORT.name, RJ45_PORT, 1, (Protocol.ETHERNET,), False)


def _server_banks(catalog: Catalog, part: str, role: str) -> Iterator[Bank]:
    server = catalog.servers[part]
    for cages in server.cages:
        if role in ("", ANY, cages.role.value):
            group = cages.cages
            name = " ".join(dict.fromkeys((cages.role.value, group.name)))
            yield Bank(name, group, group.count, cages.protocols, role != ANY)
    if server.bmc_ports and role in ("", ANY):
        yield Bank("management", RJ45_PORT, server.bmc_ports, (Protocol.ETHERNET,), False)


def is_management(device: DeviceKind, bank: Bank) -> bool:
    """Whether cages of a switch are its own management port, which is an endpoint of another switch."""
    return device.switch is not None and bank.group is RJ45_PORT


def faces_of(device: DeviceKind, share: int) -> Iterator[Face]:
    """Every way to run the cages of a device."""
    for bank in device.banks:
        for protocol in bank.protocols:
            for hot in (False, True) if bank.group.hot is not None else (False,):
                modes = tuple(mode for mode in bank.group.modes if protocol in mode.protocols)
                for kind in cage_kinds(bank.group, modes, protocol, hot, device.switch):
                    is_switch = device.switch is not None and not is_management(device, bank)
                    yield Face(device.part, share, bank.name, hot, kind, is_switch)
