"""Channels through panels for those who lay them: what is plugged where, and what must be on site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from gpunet.models.design import Design
from gpunet.models.ledger import Ledger, Link


class ChannelRow(NamedTuple):
    """One channel, from the end ``a`` over panels and run to the end ``b``."""

    assembly: int
    """Number of the piece, as in the schedule."""
    structure: str
    a_device: str
    a_port: str
    """Cage group, cage and port."""
    a_cord: str
    """Cord at ``a``; empty where the run enters the module."""
    far_panel: str
    """Panel at ``a``: number and place; empty through one panel."""
    far_rack: str
    run: str
    trunk: int
    """Number of the run. Channels with one number share it."""
    leg: int
    """Connector of the run, from 1."""
    near_panel: str
    """Panel at ``b``: number and place."""
    near_rack: str
    b_cord: str
    b_device: str
    b_port: str


def channel_rows(design: Design) -> Iterator[ChannelRow]:
    """Every channel in the order of its pieces."""
    ledger = design.ledger
    links: dict[int, Link] = {link.assembly: link for link in reversed(ledger.links)}
    racks = {panel.number: panel.rack for panel in ledger.panels}
    for row in ledger.channels:
        link = links[row.assembly]
        yield ChannelRow(
            row.assembly,
            row.structure,
            link.a_device,
            f"{link.a_group} {link.a_cage}/{link.a_port}",
            row.cord,
            f"{row.far_panel}/{row.far_position}" if row.far_panel else "",
            racks.get(row.far_panel, ""),
            row.run,
            row.trunk,
            row.leg,
            f"{row.near_panel}/{row.near_position}",
            racks.get(row.near_panel, ""),
            link.medium,
            link.b_device,
            f"{link.b_group} {link.b_cage}/{link.b_port}",
        )


def names_of_channels(ledger: Ledger) -> dict[int, str]:
    """What every piece with a channel is made of, from ``a`` to ``b``: cord, run and cord."""
    media = {link.assembly: link.medium for link in ledger.links}
    return {row.assembly: " + ".join(filter(None, (row.cord, row.run, media[row.assembly]))) for row in ledger.channels}


def passive_parts(ledger: Ledger) -> Counter[str]:
    """Pieces of every cord and run that lie in channels."""
    media = {link.assembly: link.medium for link in ledger.links}
    cords = [name for row in ledger.channels for name in (row.cord, media[row.assembly]) if name]
    runs = {row.trunk: row.run for row in ledger.channels}
    return Counter([*cords, *runs.values()])
