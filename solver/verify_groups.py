"""Kinds of cage: what each device offers by the catalogue and the case."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpunet.models.case import Case, FabricName
from gpunet.models.evidence import How
from gpunet.models.ledger import Device
from gpunet.models.parts import (
    AirDirection,
    CageGroup,
    Catalog,
    FormFactor,
    Nic,
    PortMode,
    Protocol,
    Server,
    ServerCages,
    Shell,
    Switch,
)

BMC = "bmc"
MGMT = "mgmt"


@dataclass(frozen=True)
class GroupType:
    """One cage group of one kind of device."""

    kind: str
    """Device kind."""
    part: str
    name: str
    cages: CageGroup
    protocols: frozenset[Protocol]
    switch: Switch | None = None
    """The switch, for a switch."""
    nic: str | None = None
    """NIC that has to be bought for these cages."""
    nics: int = 0
    """How many of them."""

    @property
    def managed(self) -> bool:
        """True for a management port: an endpoint of the out-of-band fabric, also on a switch."""
        return self.name in (MGMT, BMC)

    def modes(self, speed_gbps: float) -> list[PortMode]:
        """Modes at one speed that the protocols of the device offer, fewest ports first."""
        found = [m for m in self.cages.modes if m.speed_gbps == speed_gbps and self.protocols & set(m.protocols)]
        return sorted(found, key=lambda m: m.ports)

    def most_ports(self, speed_gbps: float) -> int:
        """Most logical ports of one cage at a speed; 0 where the cage has no such mode."""
        return max((m.ports for m in self.modes(speed_gbps)), default=0)


def _rj45(name: str, count: int) -> CageGroup:
    """Management ports: 1000BASE-T by definition of the fabric, so no part of any catalogue entry."""
    return CageGroup(
        name=name,
        count=count,
        form_factor=FormFactor.RJ45,
        shell=Shell.NONE,
        host_lanes=1,
        lane_gbps=1,
        modes=(PortMode(ports=1, speed_gbps=1, lanes=1, lane_gbps=1),),
        fabric=False,
        how=How.READ,
        src="",
    )


def server_cages(case: Case, catalog: Catalog, server: Server) -> dict[str, tuple[ServerCages, int]]:
    """Cages of the server by role, and NICs to buy for them; a NIC the case names replaces the server's choice."""
    found: dict[str, tuple[ServerCages, int]] = {}
    for own in server.cages:
        role = own.role.value
        if role in found:
            continue
        default = catalog.nics.get(own.nic or "")
        cards = own.cages.count // default.cages[0].count if default else own.cages.count
        chosen = catalog.nics.get(case.cluster.nics.get(FabricName(role), ""))
        if chosen is None:
            found[role] = (own, cards if own.nic else 0)
        else:
            found[role] = (_with_nic(own, chosen, cards), cards)
    for fabric, nic_id in case.cluster.nics.items():
        nic = catalog.nics.get(nic_id)
        if fabric.value not in found and nic is not None and fabric is not FabricName.OOB:
            cages = ServerCages.model_validate({"role": fabric.value, "cages": nic.cages[0]})
            found[fabric.value] = (_with_nic(cages, nic, 1), 1)
    return found


def _with_nic(cages: ServerCages, nic: Nic, cards: int) -> ServerCages:
    group = nic.cages[0].model_copy(update={"count": nic.cages[0].count * cards})
    return cages.model_copy(update={"cages": group, "protocols": nic.protocols, "nic": nic.id})


def storage_cards(case: Case, nic: Nic) -> int:
    """NICs in one storage server: as many as its bandwidth asks for."""
    storage = case.fabrics.storage
    each = nic.cages[0].count * max((m.ports * m.speed_gbps for m in nic.cages[0].modes), default=0)
    return max(1, math.ceil(storage.storage_server_gbps / each)) if storage and each else 1


def _aired(case: Case, group: CageGroup) -> CageGroup:
    """The limits of a group where the room's air enters a switch at its power supplies and they are others then."""
    other = group.power_to_port
    if other is None or case.site.rack.airflow is not AirDirection.POWER_TO_PORT:
        return group
    return group.model_copy(update={"power_limit_w": other.power_limit_w, "hot": other.hot})


def groups_of(device: Device, case: Case, catalog: Catalog) -> list[GroupType]:
    """Cage groups of a device, management port included; none where its part is not in the catalogue."""
    kind, part = device.kind, device.part
    mgmt = GroupType(kind, part, MGMT, _rj45(MGMT, 1), frozenset({Protocol.ETHERNET}))
    if kind == "switch" and part in catalog.switches:
        switch = catalog.switches[part]
        speaks = frozenset({switch.protocol})
        own = [GroupType(kind, part, g.name, _aired(case, g), speaks, switch) for g in switch.cages if g.name != MGMT]
        return [*own, GroupType(kind, part, MGMT, mgmt.cages, mgmt.protocols, switch)]
    if kind in ("server", "reserved") and part in catalog.servers:
        server = catalog.servers[part]
        roles = server_cages(case, catalog, server)
        own = [
            GroupType(kind, part, role, c.cages, frozenset(c.protocols), None, c.nic, cards)
            for role, (c, cards) in roles.items()
        ]
        if server.bmc_ports and kind == "server":
            own.append(GroupType(kind, part, BMC, _rj45(BMC, server.bmc_ports), mgmt.protocols))
        return own if kind == "server" else [*own, mgmt]
    if kind in ("storage-server", "reserved") and part in catalog.nics:
        nic = catalog.nics[part]
        cards = storage_cards(case, nic) if kind == "storage-server" else 1
        own = [
            GroupType(kind, part, g.name, g.model_copy(update={"count": g.count * cards}), frozenset(nic.protocols))
            for g in nic.cages
            if g.name != MGMT
        ]
        return [*own, mgmt]
    if kind == "pdu" and not part:
        return [mgmt]
    return []
