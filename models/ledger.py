"""The ledger: every physical thing of a design and every link, port to port.

Rows are named tuples, not models, because a 131,072-GPU design has half a million of them. Cost, power,
bill, cabling, racks and reports are read from here and from nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class RackPlace(NamedTuple):
    """One rack place of the room."""

    name: str
    """``r03-c07`` for a server rack, ``r03-n01`` for a network rack."""
    x_m: float
    """Position along the row, m, centre of the rack."""
    y_m: float
    """Position across the rows, m."""


class Device(NamedTuple):
    """One box, or one endpoint that is not bought (a server, a PDU, a fabric manager)."""

    name: str
    """Unique name, such as ``backend-leaf-003`` or ``server-0012``."""
    kind: str
    """``switch``, ``server``, ``storage-server``, ``reserved`` or ``pdu``."""
    part: str
    """Catalogue id of the switch or server; the NIC id for ``storage-server`` and ``reserved``; '' for a PDU."""
    fabric: str
    """Fabric of a switch, also of a reserved endpoint; '' for things that serve several fabrics."""
    tier: str
    """``leaf``, ``spine``, ``core``; '' for anything but a switch."""
    group: int
    """Scalable unit of a leaf, pod of a spine under cores, plane of a core; -1 where there is none."""
    rack: str
    """Rack place."""
    unit: int
    """Lowest rack unit taken, from 1; 0 for a PDU, which stands beside the units."""
    rack_units: int
    """Height."""


class Adapter(NamedTuple):
    """NICs bought for a server or for nothing else in the design, one row per server and part."""

    device: str
    part: str
    quantity: int


class Seat(NamedTuple):
    """One module in one cage."""

    device: str
    group: str
    """Cage group name on the device."""
    cage: int
    """Cage number within the group, from 1."""
    part: str
    """Module id."""


class Link(NamedTuple):
    """One logical connection between two ports at one speed."""

    fabric: str
    link_class: str
    """``endpoint-leaf``, ``leaf-spine`` or ``spine-core``."""
    speed_gbps: float
    a_device: str
    a_group: str
    a_cage: int
    a_port: int
    """Logical port within the cage, from 1."""
    b_device: str
    b_group: str
    b_cage: int
    b_port: int
    assembly: int
    """Number of the physical piece (jumper, splitter, cable). Links with one number share one piece."""
    medium: str
    """Part id with its stock length, such as ``nv-mfp7e10-n030``."""
    length_m: float
    """Stock length, m; of a piece with a channel the way of the light, cords and run together."""


class Panel(NamedTuple):
    """One patch panel, or one place of a panel that channels share."""

    number: int
    """Unique number, from 1."""
    part: str
    rack: str
    """Rack place."""


class Channel(NamedTuple):
    """What a piece of fibre passes beside the cord that its links name: panels, a run, the cord at the other end."""

    assembly: int
    """Number of the piece, as in its links."""
    structure: str
    """``one-panel`` or ``two-panels``."""
    cord: str
    """Cord at the end that the medium of the links is not at, with its length; '' where the run enters the module."""
    run: str
    """Trunk or long cord, with its length."""
    trunk: int
    """Unique number of the physical run. Channels with one number share it."""
    leg: int
    """Connector of the run that the channel takes, from 1."""
    near_panel: int
    """Panel between the medium of the links and the run."""
    near_position: int
    """Place in that panel, from 1."""
    far_panel: int
    """Panel between the run and the cord; 0 through one panel."""
    far_position: int
    """Place in that panel, from 1; 0 through one panel."""


@dataclass
class Ledger:
    """Everything that is built. ``a`` is the higher-tier end of an endpoint link (the leaf) and the lower-tier
    end of a switch link (leaf of leaf-spine, spine of spine-core)."""

    places: list[RackPlace] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    adapters: list[Adapter] = field(default_factory=list)
    seats: list[Seat] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    """By assembly; empty where every fibre is a direct cord."""
