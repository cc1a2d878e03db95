"""Which pieces of a design are pulled together, and in which order.

Cables that share two racks, or at least two rows, lie in one bundle. Routes between rows come first, those with the
longest cables before all others, and patching inside a rack last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from gpunet.models.ledger import Ledger, Link
from gpunet.models.parts import Cable
from gpunet.report.cabling_media import Medium, Side

BUNDLE_MOST = 24
"""Cables that are pulled and tied as one bundle."""
BUNDLE_LEAST = 4
"""Cables between two racks that are a bundle of their own; fewer go with those of their row or pair of rows."""
BETWEEN_ROWS, ALONG_ROW, IN_RACK = range(3)
"""Kinds of route, in the order in which they are pulled."""
TO = " > "
"""Stands between the near and the far end of a label, and between two rows."""

Cage = tuple[str, str, int]
"""Device, cage group and cage."""


class Way(NamedTuple):
    """Where pieces between two racks run."""

    kind: int
    rows: tuple[tuple[int, str], ...]
    """Each row with its place in the room; a way inside a rack names the rack."""
    route: str
    racks: tuple[int, int]


class Kind(NamedTuple):
    """What pieces have in common that are laid the same way round."""

    medium: str
    fabric: str
    link_class: str
    a_module: str
    b_module: str


class Piece(NamedTuple):
    """One jumper, splitter or cable."""

    legs: list[list[Link]]
    """Links of every leg."""
    first: Link
    way: Way
    kind: Kind
    a_order: int
    """Place of the device at a in the ledger."""


def pieces_of(ledger: Ledger, media: dict[str, Medium], modules: dict[Cage, str]) -> list[Piece]:
    """Every piece with its legs and its way, in the order of the ledger."""
    racks = {place.name: number for number, place in enumerate(ledger.places)}
    rows = _rows(ledger)
    rack_of = {d.name: d.rack for d in ledger.devices}
    order = {d.name: number for number, d in enumerate(ledger.devices)}
    cables = {name for name, medium in media.items() if isinstance(medium.part, Cable)}
    ways: dict[tuple[str, str], Way] = {}
    kinds: dict[tuple[str, ...], Kind] = {}
    by_number: dict[int, list[Link]] = {}
    for link in ledger.links:
        by_number.setdefault(link.assembly, []).append(link)
    found = []
    for links in by_number.values():
        first = links[0]
        ends = rack_of[first.a_device], rack_of[first.b_device]
        if ends not in ways:
            low, high = sorted(racks[rack] for rack in ends)
            ways[ends] = _way(ends, rows, (low, high))
        at_a, at_b = modules.get(cage_of(first, "a"), ""), modules.get(cage_of(first, "b"), "")
        common = (first.medium, first.fabric, first.link_class, at_a, at_b)
        kind = kinds.get(common)
        if kind is None:
            kind = kinds[common] = Kind(*common)
        if len(links) == 1:
            legs = [links]
        else:
            legs = _cable_legs(links) if first.medium in cables else [[link] for link in links]
        found.append(Piece(legs, first, ways[ends], kind, order[first.a_device]))
    return found


def _rows(ledger: Ledger) -> dict[str, tuple[int, str]]:
    """The row of every rack: its place in the room and its name, which is what most of its racks' names begin with."""
    names: dict[float, Counter[str]] = defaultdict(Counter)
    for place in ledger.places:
        names[place.y_m][place.name.rpartition("-")[0] or place.name] += 1
    rows = {y: (number, names[y].most_common(1)[0][0]) for number, y in enumerate(sorted(names))}
    return {place.name: rows[place.y_m] for place in ledger.places}


def _way(ends: tuple[str, str], rows: dict[str, tuple[int, str]], racks: tuple[int, int]) -> Way:
    low, high = sorted(rows[rack] for rack in ends)
    if ends[0] == ends[1]:
        return Way(IN_RACK, ((low[0], ends[0]),), ends[0], racks)
    if low == high:
        return Way(ALONG_ROW, (low,), low[1], racks)
    return Way(BETWEEN_ROWS, (low, high), f"{low[1]}{TO}{high[1]}", racks)


def _cable_legs(links: list[Link]) -> list[list[Link]]:
    """The links of a cable by the cages they join: a plug fills its cage, so they share a leg."""
    joined: dict[tuple[object, ...], list[Link]] = {}
    for link in links:
        joined.setdefault((*cage_of(link, "a"), *cage_of(link, "b")), []).append(link)
    return list(joined.values())


def cage_of(link: Link, side: Side) -> Cage:
    """The cage in which a link ends."""
    if side == "a":
        return link.a_device, link.a_group, link.a_cage
    return link.b_device, link.b_group, link.b_cage


def bundled(pieces: list[Piece]) -> Iterator[tuple[str, Piece]]:
    """The pieces in the order of pulling, each with its bundle."""
    alike: dict[tuple[tuple[int, int], str, str], list[Piece]] = {}
    for piece in pieces:
        alike.setdefault((piece.way.racks, piece.kind.fabric, piece.kind.medium), []).append(piece)
    longest: dict[str, float] = defaultdict(float)
    for first, *_ in alike.values():
        longest[first.way.route] = max(longest[first.way.route], first.first.length_m)

    def place(own: tuple[tuple[int, int], str, str]) -> tuple[object, ...]:
        racks, fabric, medium = own
        first, way = alike[own][0].first, alike[own][0].way
        thin = len(alike[own]) < BUNDLE_LEAST
        # What is gathered from several racks must stand together, behind the racks with bundles of their own.
        where = (fabric, medium, racks) if thin else own
        return way.kind, -longest[way.route], way.rows, thin, -first.length_m, where

    number, held, last = 0, 0, None
    for own in sorted(alike, key=place):
        together: tuple[object, ...] = own
        if len(alike[own]) < BUNDLE_LEAST:
            together = (alike[own][0].way.route, *own[1:])
        for piece in sorted(alike[own], key=_socket_order):
            if together != last or held == BUNDLE_MOST:
                number, held, last = number + 1, 0, together
                name = f"B{number:05d}"
            held += 1
            yield name, piece


def _socket_order(piece: Piece) -> tuple[object, ...]:
    link = piece.first
    return piece.a_order, link.a_group, link.a_cage, link.a_port, link.assembly
