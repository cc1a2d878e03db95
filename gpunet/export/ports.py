"""Names and numbers of ports as other programs know them: a number on the face plate, a channel of a split cage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpunet.export import ExportError
from gpunet.models.design import Design
from gpunet.models.ledger import Device, Link
from gpunet.models.parts import CageGroup, Catalog, PortMode, Protocol
from gpunet.solver.verify_groups import MGMT, groups_of

Cage = tuple[str, str, int]
"""Device, cage group, cage."""

NVOS_LANE_GBPS = 200
"""InfiniBand switches with lanes this fast (XDR) run NVOS, which names ports in its own way."""


class End(NamedTuple):
    """One end of a link."""

    device: str
    group: str
    cage: int
    port: int

    @property
    def label(self) -> str:
        """The port on its device, as the cabling schedule writes it: ``fabric/12/2``."""
        return f"{self.group}/{self.cage}/{self.port}"


def a_end(link: Link) -> End:
    """The leaf of an endpoint link, the lower switch of any other."""
    return End(link.a_device, link.a_group, link.a_cage, link.a_port)


def b_end(link: Link) -> End:
    """The endpoint, or the upper switch."""
    return End(link.b_device, link.b_group, link.b_cage, link.b_port)


class _Group(NamedTuple):
    """A cage group of one model, and what stands before it on the face plate."""

    cages: CageGroup
    cages_before: int
    ports_before: int
    ports_per_cage: int
    """The most ports that any cage of the group is split into, on any device of the model."""


class Ports:
    """The ports of a design. Raises ``ExportError`` for a link to cages that a device does not have."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        self._switches = catalog.switches
        self.devices = {device.name: device for device in design.ledger.devices}
        groups = self._cage_groups(design, catalog)
        self._splits = self._split(design, groups)
        most: dict[tuple[str, str, str], int] = {}
        for (device, group, _), ports in self._splits.items():
            key = (*self._model(device), group)
            most[key] = max(most.get(key, 1), ports)
        self._groups: dict[tuple[str, str], dict[str, _Group]] = {}
        for model, own in groups.items():
            cages_before = ports_before = 0
            # Ports that carry no fabric come last, so that they shift no number of one that does.
            for cages in sorted(own, key=lambda cages: not cages.fabric):
                per = most.get((*model, cages.name), 1)
                self._groups.setdefault(model, {})[cages.name] = _Group(cages, cages_before, ports_before, per)
                cages_before += cages.count
                ports_before += cages.count * per

    def _model(self, device: str) -> tuple[str, str]:
        return self.devices[device].kind, self.devices[device].part

    @staticmethod
    def _cage_groups(design: Design, catalog: Catalog) -> dict[tuple[str, str], list[CageGroup]]:
        """Cage groups of every model, in the order of the catalogue."""
        models: dict[tuple[str, str], Device] = {}
        for device in design.ledger.devices:
            models.setdefault((device.kind, device.part), device)
        return {
            model: [
                group.cages.model_copy(update={"name": group.name}) for group in groups_of(device, design.case, catalog)
            ]
            for model, device in models.items()
        }

    def _split(self, design: Design, groups: dict[tuple[str, str], list[CageGroup]]) -> dict[Cage, int]:
        """Ports of every cage in use: those of the narrowest mode that has its speed and its highest port."""
        highest: dict[Cage, int] = {}
        speed: dict[Cage, float] = {}
        for link in design.ledger.links:
            for end in (a_end(link), b_end(link)):
                cage = end[:3]
                highest[cage] = max(highest.get(cage, 1), end.port)
                speed[cage] = link.speed_gbps
        modes = {
            (*model, cages.name): [(mode.ports, mode.speed_gbps) for mode in cages.modes]
            for model, own in groups.items()
            for cages in own
        }
        splits: dict[Cage, int] = {}
        for cage, port in highest.items():
            device, group, _ = cage
            own = modes.get((*self._model(device), group))
            if own is None:
                raise ExportError(f"{device} has no cages {group!r}; gpunet verify says what else is wrong")
            fitting = (ports for ports, gbps in own if gbps == speed[cage] and ports >= port)
            splits[cage] = min(fitting, default=port)
        return splits

    def group(self, device: str, group: str) -> CageGroup:
        """The cages of a group, with its name on this device."""
        return self._groups[self._model(device)][group].cages

    def is_switch(self, device: str) -> bool:
        """Whether it is a switch."""
        return self.devices[device].kind == "switch"

    def is_infiniband(self, device: str) -> bool:
        """Whether it is an InfiniBand switch."""
        return self.is_switch(device) and self._switches[self.devices[device].part].protocol is Protocol.INFINIBAND

    def split(self, cage: Cage) -> int:
        """Logical ports that a cage in use is split into."""
        return self._splits[cage]

    def mode(self, cage: Cage, speed_gbps: float) -> PortMode | None:
        """The mode that a cage in use is in at a speed; none where the catalogue lists none like it."""
        wanted = self.split(cage), speed_gbps
        modes = self.group(*cage[:2]).modes
        return next((mode for mode in modes if (mode.ports, mode.speed_gbps) == wanted), None)

    def used(self) -> Iterator[Cage]:
        """Cages with a link."""
        return iter(self._splits)

    def cage_number(self, end: End) -> int:
        """Number of the cage on the face plate, from 1, the groups counted through."""
        return self._groups[self._model(end.device)][end.group].cages_before + end.cage

    def port_number(self, end: End) -> int:
        """Number of the port on the device, from 1, the same for the same port on every device of a model."""
        return self._groups[self._model(end.device)][end.group].ports_before + self.port_in_group(end)

    def port_in_group(self, end: End) -> int:
        """Number of the port in its group, from 1: the rail of a backend port."""
        return (end.cage - 1) * self._groups[self._model(end.device)][end.group].ports_per_cage + end.port

    def port_count(self, device: str) -> int:
        """Ports of a device that can carry a fabric: the highest number of any."""
        groups = self._groups[self._model(device)].values()
        return sum(group.cages.count * group.ports_per_cage for group in groups if group.cages.fabric)

    def swp(self, end: End) -> str:
        """The name of an Ethernet switch port in Cumulus Linux: ``swp3``, or ``swp3s1`` where the cage is split."""
        if end.group == MGMT:
            return "eth0"
        number = self.cage_number(end)
        return f"swp{number}" if self.split(end[:3]) == 1 else f"swp{number}s{end.port - 1}"

    def ib_port(self, end: End) -> str:
        """The name of an InfiniBand switch port: its number, or ``sw3p2`` where NVOS runs, at 200 Gb/s a lane."""
        if end.group == MGMT:
            return "eth0"
        if self.group(end.device, end.group).lane_gbps < NVOS_LANE_GBPS:
            return str(self.port_number(end))
        return f"sw{self.cage_number(end)}p{end.port}"

    def host_port(self, end: End) -> str:
        """The name of a port of anything but a switch: ``rail3`` on the backend, else ``storage2`` or ``bmc1``."""
        return f"{'rail' if end.group == 'backend' else end.group}{self.port_in_group(end)}"

    def name(self, end: End) -> str:
        """The name of a port: that of the switch port or the host port."""
        if not self.is_switch(end.device):
            return self.host_port(end)
        return self.ib_port(end) if self.is_infiniband(end.device) else self.swp(end)
