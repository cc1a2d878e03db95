"""What a cable is made of: medium, connectors, polarity, fibres, and which of its ends is the head."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.ledger import Link
from gpunet.models.parts import Cable, CableEnd, CageGroup, Catalog, Connector, Fibre, FibreKind, Shell

Side = Literal["a", "b"]
_MPO_12, _LANES_OF_8 = "MPO-12", 4
_MIRROR = 13


class Medium(NamedTuple):
    """A part of the catalogue as the person who pulls it knows it."""

    part: Cable | Fibre | None
    """None where the catalogue does not have it."""
    name: str
    """``OM4``, ``OS2``, ``DAC``, ``AOC``, ``copper``."""
    head: str
    """Connector of the head; of a straight piece, of either end."""
    tail: str
    """Connector of the far end, or of every leg."""
    legs: int
    """Far ends."""
    polarity: str
    """``Type B``, ``A-B`` or ``crossover``; empty for an assembly with fixed ends, where nothing can be crossed."""

    fibres: tuple[str, ...]
    """Positions in the head's MPO connector that each leg uses; empty text where none are known."""


def _fibres(part: Fibre) -> tuple[str, ...]:
    """The two fibres of a lane stand at mirrored positions of an MPO-12: 1 sends where 12 receives."""
    parallel = part.connector_a.kind == _MPO_12 and part.fibres == 2 * _LANES_OF_8
    if not parallel or part.kind is FibreKind.CONVERSION or _LANES_OF_8 % part.legs:
        return ("",) * part.legs
    lanes = _LANES_OF_8 // part.legs
    firsts = range(1, _LANES_OF_8 + 1, lanes)
    return tuple(
        f"{_span(first, first + lanes - 1)} {_span(_MIRROR - first - lanes + 1, _MIRROR - first)}" for first in firsts
    )


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def medium_of(medium: str, catalog: Catalog) -> Medium:
    """What stands behind an id with a stock length."""
    base, _ = split_medium_id(medium)
    if base in catalog.fibres:
        fibre = catalog.fibres[base]
        head, tail = connector_name(fibre.connector_a), connector_name(fibre.connector_b)
        return Medium(fibre, fibre.grade, head, tail, fibre.legs, fibre.polarity, _fibres(fibre))
    if base in catalog.cables:
        cable = catalog.cables[base]
        return Medium(
            cable,
            cable.kind.value,
            plug(cable.end_a),
            plug(cable.end_b),
            cable.end_b.count,
            "",
            ("",) * cable.end_b.count,
        )
    return Medium(None, "", "", "", 1, "", ("",))


def connector_name(connector: Connector) -> str:
    """``MPO-12/APC``, ``LC/UPC``, ``RJ45``."""
    return f"{connector.kind}/{connector.polish}" if connector.polish else connector.kind


def plug(end: CableEnd | CageGroup) -> str:
    """``OSFP-IHS``, ``QSFP112``: what a cage takes or a cable ends in."""
    return end.form_factor.value + ("" if end.shell is Shell.NONE else f"-{end.shell.value}")


class Socket(NamedTuple):
    """What the pieces of one kind plug into at one side."""

    connector: str
    """Connector of the module there, or kind of cage."""
    optical_ports: int
    """Optical ports of the module; 0 for a cage."""


def head_side(medium: Medium, pieces: Iterable[Sequence[Sequence[Link]]], at_a: Socket, at_b: Socket) -> Side:
    """Which side of the links holds the head of pieces that are laid alike; ``a`` for straight ones with equal ends.

    ``pieces`` lists the legs of each.
    """
    if medium.legs > 1:
        for legs in pieces:
            links = [link for leg in legs for link in leg]
            cages_a, cages_b = {_cage(link, "a") for link in links}, {_cage(link, "b") for link in links}
            if len(cages_a) != len(cages_b):
                return "a" if len(cages_a) < len(cages_b) else "b"
            # Both legs may end in one twin-port module; only a head has more logical ports than the module has sockets.
            for side, socket, most in (
                ("a", at_a, max(link.a_port for link in links)),
                ("b", at_b, max(link.b_port for link in links)),
            ):
                if most > socket.optical_ports > 0:
                    return "a" if side == "a" else "b"
    if medium.head != medium.tail and (medium.head, medium.tail) == (at_b.connector, at_a.connector):
        return "b"
    return "a"


def _cage(link: Link, side: Side) -> tuple[str, str, int]:
    if side == "a":
        return link.a_device, link.a_group, link.a_cage
    return link.b_device, link.b_group, link.b_cage
