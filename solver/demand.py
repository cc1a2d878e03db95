"""What each fabric must connect: the endpoints, counted from the case and the catalogue."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from gpunet.models.case import Case, FabricName
from gpunet.models.evidence import Fact, How, watts_to_milliwatts
from gpunet.models.parts import (
    CageGroup,
    Catalog,
    FormFactor,
    PortMode,
    Protocol,
    Server,
    ServerCages,
    ServerRole,
    Shell,
)
from gpunet.solver.layout import Room, ServerLoad

CENTRAL = -1
"""Rack number that stands for the central zone."""
BMC_GROUP = "bmc"
MGMT_GROUP = "mgmt"
ONE_GIG = PortMode(ports=1, speed_gbps=1, lanes=1, lane_gbps=1)
RJ45_PORT = CageGroup(
    name=MGMT_GROUP,
    count=1,
    form_factor=FormFactor.RJ45,
    shell=Shell.NONE,
    host_lanes=1,
    lane_gbps=1,
    modes=(ONE_GIG,),
    how=How.READ,
    src="case-file",
)
"""The management port that every switch, PDU and storage server has: 1000BASE-T, by definition of the fabric."""


class NoPortsError(ValueError):
    """The server has no ports that could serve a fabric as asked. ``setting`` names the field to change."""

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass(frozen=True, slots=True)
class Host:
    """One machine with cages on a fabric, or the place kept for one that comes later."""

    device: str | None
    """Device name; none for a place kept for growth."""
    rack: int
    """Rack number of the room, or CENTRAL."""
    cages: int
    """Cages on this fabric that are in use."""


@dataclass(frozen=True)
class Endpoints:
    """Endpoints of one kind on one fabric, all alike: same cage, same mode, same speed."""

    fabric: FabricName
    """The fabric they belong to, also where another fabric's switches carry it."""
    kind: str
    """``server``, ``storage-server`` or ``management``."""
    group: str
    """Cage group name on the device."""
    cage: CageGroup
    modes: tuple[PortMode, ...]
    """Ways the cage can run at this speed: equal ports and speed, other lanes."""
    hosts: tuple[Host, ...]
    """Every machine in order, growth places included."""
    cages_per_host: int
    """Cages of a full host."""
    rail: bool
    """True when NIC i of every server belongs to rail i."""
    oversubscription: Fraction
    protocols: tuple[Protocol, ...]
    nic: str | None = None
    """NIC to buy with each host."""
    nics_per_host: int = 0
    device_part: str = ""
    """Catalogue id of the NIC that a storage server has."""

    @property
    def ports_per_cage(self) -> int:
        """Links that one cage takes."""
        return self.modes[0].ports

    @property
    def speed_gbps(self) -> float:
        """Speed of one link, Gb/s."""
        return self.modes[0].speed_gbps

    @property
    def ports_per_host(self) -> int:
        """Links of a full host: the rails, where the kind has rails."""
        return self.cages_per_host * self.ports_per_cage

    @cached_property
    def future_cages(self) -> int:
        """Cages to be served once every growth place is filled."""
        return sum(h.cages for h in self.hosts)

    @cached_property
    def present_links(self) -> int:
        """Links to build now."""
        return sum(h.cages for h in self.hosts if h.device is not None) * self.ports_per_cage


@dataclass(frozen=True)
class Machines:
    """Counts and racks that all fabrics share."""

    server: Server
    n_servers: int
    n_servers_future: int
    n_storage: int
    room: Room


def survey(case: Case, catalog: Catalog) -> Machines:
    """Count machines and lay out the room.

    Raises SiteTooSmallError when the racks or rows given cannot hold them.
    """
    server = catalog.servers[case.cluster.server]
    gpus_each = int(server.gpus.v)
    n_servers = case.cluster.servers or math.ceil((case.cluster.gpus or 0) / gpus_each)
    future = math.ceil(n_servers * (1 + Fraction(str(case.cluster.growth))))
    n_storage = _storage_servers(case, n_servers)
    gbps = sum(
        c.cages.count * max(m.ports * m.speed_gbps for m in c.cages.modes)
        for c in server.cages
        if c.role is ServerRole.BACKEND
    )
    room = Room(case, server_load(case, catalog), n_servers, _storage_load(case), n_storage, gbps)
    return Machines(server, n_servers, future, n_storage, room)


def server_load(case: Case, catalog: Catalog) -> ServerLoad:
    """Units and watts of one server with a module at the limit in every cage, and the cages of the fabrics built."""
    server = catalog.servers[case.cluster.server]
    limit_mw = cables = 0
    for role in ServerRole:
        for cages in cages_of(case, catalog, role):
            limit = cages.cages.power_limit_w
            limit_mw += cages.cages.count * (limit.milli if limit else 0)
            cables += cages.cages.count * (getattr(case.fabrics, role.value) is not None)
    return ServerLoad(math.ceil(server.rack_units.v), server.power_max_w.milli + limit_mw, cables)


def _storage_load(case: Case) -> ServerLoad:
    storage = case.fabrics.storage
    if storage is None:
        return ServerLoad(1, 0)
    return ServerLoad(storage.storage_server_units, watts_to_milliwatts(storage.storage_server_w))


def _storage_servers(case: Case, n_servers: int) -> int:
    storage = case.fabrics.storage
    if storage is None or storage.mode.value == "none":
        return 0
    return math.ceil(n_servers / 8) if storage.storage_servers is None else storage.storage_servers


def cages_of(case: Case, catalog: Catalog, role: ServerRole) -> tuple[ServerCages, ...]:
    """Cages of the case's server for one role, with the NIC that the case chose put in."""
    server = catalog.servers[case.cluster.server]
    own = tuple(c for c in server.cages if c.role is role)
    chosen = case.cluster.nics.get(FabricName(role.value))
    if chosen is None:
        return own
    nic = catalog.nics[chosen]
    cards = nic_cards(own, catalog) or 1
    cage = nic.cages[0].model_copy(update={"count": nic.cages[0].count * cards, "name": role.value})
    return (ServerCages(role=role, cages=cage, protocols=nic.protocols, nic=chosen),)


def nic_cards(cages: Sequence[ServerCages], catalog: Catalog) -> int:
    """NIC cards behind a server's cages: the cages over the cages of one card, or one card a cage."""
    total = 0
    for c in cages:
        per_card = catalog.nics[c.nic].cages[0].count if c.nic else 1
        total += c.cages.count // per_card
    return total


def backend(case: Case, catalog: Catalog, machines: Machines, protocol: Protocol) -> list[Endpoints]:
    """Backend endpoints: every NIC port of every server; reserved ports follow as part-filled hosts.

    A reserved port is wired like a server port: same cage, same module. Raises NoPortsError.
    """
    spec = case.fabrics.backend
    assert spec is not None
    (cages,) = _one(cages_of(case, catalog, ServerRole.BACKEND), "backend", case)
    modes = _modes(cages, protocol, spec.speed_gbps, "fabrics.backend.speed_gbps")
    hosts = _server_hosts(machines, cages.cages.count)
    ports = modes[0].ports
    hosts += _reserved(case, FabricName.BACKEND, ports, cages.cages.count)
    return [
        Endpoints(
            fabric=FabricName.BACKEND,
            kind="server",
            group=ServerRole.BACKEND.value,
            cage=cages.cages,
            modes=modes,
            hosts=tuple(hosts),
            cages_per_host=cages.cages.count,
            rail=True,
            oversubscription=Fraction(str(spec.oversubscription)),
            protocols=cages.protocols,
            nic=cages.nic,
            nics_per_host=nic_cards([cages], catalog) if cages.nic else 0,
        )
    ]


def storage(case: Case, catalog: Catalog, machines: Machines, protocol: Protocol) -> list[Endpoints]:
    """Storage endpoints: the GPU servers' storage ports and the storage servers. Raises NoPortsError."""
    spec = case.fabrics.storage
    assert spec is not None
    sigma = Fraction(str(spec.oversubscription))
    server_side = _shared_bandwidth(
        case, catalog, machines, protocol, ServerRole.STORAGE, spec.server_gbps, sigma, FabricName.STORAGE
    )
    found = [server_side]
    if machines.n_storage:
        nic_id = spec.storage_server_nic or default_storage_nic(catalog, spec.storage_server_gbps, protocol)
        nic = catalog.nics[nic_id]
        cage = nic.cages[0]
        speed = min(spec.storage_server_gbps, max(m.speed_gbps for m in cage.modes if protocol in m.protocols))
        modes = _at_speed(cage, protocol, speed)
        if not modes or protocol not in nic.protocols:
            raise NoPortsError(
                "fabrics.storage.storage_server_nic", f"{nic_id} has no {speed:g}G {protocol.value} port"
            )
        n_cages = math.ceil(spec.storage_server_gbps / speed / modes[0].ports)
        room = machines.room
        found.append(
            Endpoints(
                fabric=FabricName.STORAGE,
                kind="storage-server",
                group=cage.name,
                cage=cage,
                modes=modes,
                hosts=tuple(Host(storage_name(i), room.storage_rack(i), n_cages) for i in range(machines.n_storage)),
                cages_per_host=n_cages,
                rail=False,
                oversubscription=sigma,
                protocols=nic.protocols,
                device_part=nic_id,
            )
        )
    return found


def frontend(case: Case, catalog: Catalog, machines: Machines, protocol: Protocol) -> list[Endpoints]:
    """In-band endpoints of the GPU servers. Raises NoPortsError."""
    spec = case.fabrics.frontend
    assert spec is not None
    return [
        _shared_bandwidth(
            case,
            catalog,
            machines,
            protocol,
            ServerRole.FRONTEND,
            spec.server_gbps,
            Fraction(str(spec.oversubscription)),
            FabricName.FRONTEND,
        )
    ]


def default_storage_nic(catalog: Catalog, gbps: float, protocol: Protocol) -> str:
    """The NIC a storage server is taken to have: the plainest one whose fastest port does not exceed ``gbps``."""
    fits = [
        (-max(m.speed_gbps for m in n.cages[0].modes), n.cages[0].count, n.price is None, n.id)
        for n in catalog.nics.values()
        if n.status.value == "active"
        and protocol in n.protocols
        and max(m.speed_gbps for m in n.cages[0].modes) <= gbps
    ]
    if not fits:
        raise NoPortsError("fabrics.storage.storage_server_gbps", f"no NIC of at most {gbps:g}G in the catalogue")
    return min(fits)[3]


def server_name(i: int) -> str:
    """Device name of GPU server ``i``, from 0."""
    return f"server-{i + 1:05d}"


def storage_name(i: int) -> str:
    """Device name of storage server ``i``, from 0."""
    return f"storage-{i + 1:04d}"


def _server_hosts(machines: Machines, cages: int) -> list[Host]:
    room = machines.room
    present = [Host(server_name(i), room.server_rack(i), cages) for i in range(machines.n_servers)]
    last = room.server_rack(machines.n_servers - 1)
    return present + [Host(None, last, cages)] * (machines.n_servers_future - machines.n_servers)


def _reserved(case: Case, fabric: FabricName, ports_per_cage: int, cages_per_host: int) -> list[Host]:
    wanted = math.ceil(case.cluster.reserved_ports.get(fabric, 0) / ports_per_cage)
    hosts: list[Host] = []
    while wanted > 0:
        taken = min(wanted, cages_per_host)
        hosts.append(Host(f"{fabric.value}-reserved-{len(hosts) + 1:02d}", CENTRAL, taken))
        wanted -= taken
    return hosts


def _one(cages: tuple[ServerCages, ...], role: str, case: Case) -> tuple[ServerCages]:
    if not cages:
        raise NoPortsError(
            f"cluster.nics.{role}", f"{case.cluster.server} lists no {role} ports: name a NIC in cluster.nics.{role}"
        )
    return (cages[0],)


def _at_speed(cage: CageGroup, protocol: Protocol, speed: float) -> tuple[PortMode, ...]:
    """Modes at one speed; of several port counts the largest, since more ports never waste a cage."""
    fits = [m for m in cage.modes if m.speed_gbps == speed and protocol in m.protocols]
    most = max((m.ports for m in fits), default=0)
    return tuple(m for m in fits if m.ports == most)


def _modes(cages: ServerCages, protocol: Protocol, speed: float | None, setting: str) -> tuple[PortMode, ...]:
    """The cage's modes at ``speed``, or at the speed of its widest mode. Raises NoPortsError."""
    usable = [m for m in cages.cages.modes if protocol in m.protocols] if protocol in cages.protocols else []
    if not usable:
        raise NoPortsError("cluster.server", f"the server's ports do not speak {protocol.value}")
    if speed is None:
        speed = max(usable, key=lambda m: (m.ports * m.speed_gbps, -m.ports)).speed_gbps
    found = _at_speed(cages.cages, protocol, speed)
    if not found:
        offered = ", ".join(f"{s:g}" for s in sorted({m.speed_gbps for m in usable}))
        raise NoPortsError(setting, f"the server's {cages.role.value} ports offer {offered} Gb/s, not {speed:g}")
    return found


def _shared_bandwidth(
    case: Case,
    catalog: Catalog,
    machines: Machines,
    protocol: Protocol,
    role: ServerRole,
    gbps: float | None,
    sigma: Fraction,
    fabric: FabricName,
) -> Endpoints:
    """Ports that together give a server ``gbps``: the fewest cages, each at the lowest speed that is enough."""
    (cages,) = _one(cages_of(case, catalog, role), role.value, case)
    setting = f"fabrics.{fabric.value}.server_gbps"
    if gbps is None:
        modes = _modes(cages, protocol, None, setting)
        n_cages = cages.cages.count
    else:
        usable = [m for m in cages.cages.modes if protocol in m.protocols] if protocol in cages.protocols else []
        ways = [
            (n, m.speed_gbps)
            for m in usable
            for n in range(1, cages.cages.count + 1)
            if n * m.ports * m.speed_gbps >= gbps
        ]
        if not ways:
            most = cages.cages.count * max((m.ports * m.speed_gbps for m in usable), default=0)
            raise NoPortsError(
                setting, f"{gbps:g} Gb/s asked, the server's {role.value} ports give {most:g} over {protocol.value}"
            )
        n_cages, speed = min(ways)
        modes = _at_speed(cages.cages, protocol, speed)
    hosts = _server_hosts(machines, n_cages) + _reserved(case, fabric, modes[0].ports, n_cages)
    return Endpoints(
        fabric=fabric,
        kind="server",
        group=role.value,
        cage=cages.cages,
        modes=modes,
        hosts=tuple(hosts),
        cages_per_host=n_cages,
        rail=False,
        oversubscription=sigma,
        protocols=cages.protocols,
        nic=cages.nic,
        nics_per_host=nic_cards([cages], catalog) if cages.nic else 0,
    )


__all__ = [
    "CENTRAL",
    "Endpoints",
    "Fact",
    "Host",
    "Machines",
    "NoPortsError",
    "backend",
    "frontend",
    "storage",
    "survey",
]
