"""Physical pieces: what one jumper, splitter or cable joins, and that nothing else sits in the same socket."""

from __future__ import annotations

import numpy as np

from gpunet.models.design import Check
from gpunet.models.parts import Cable, Fibre
from gpunet.solver.verify_book import Ints, distinct
from gpunet.solver.verify_copper import links_of
from gpunet.solver.verify_links import OPTICAL_PORTS, Wiring
from gpunet.solver.verify_report import Findings


class _Pieces:
    """Arrays with one entry for every piece."""

    def __init__(self, wiring: Wiring, a_port: Ints, b_port: Ints) -> None:
        book = wiring.book
        self.ids = book.assembly_ids
        count = len(self.ids)
        self.medium: Ints = np.full(count, -1, np.int64)
        self.medium[book.assembly] = book.medium
        self.mixed = np.unique(book.assembly[self.medium[book.assembly] != book.medium])
        self.links: Ints = np.bincount(book.assembly, minlength=count)
        head_at_a = np.ones(count, bool)
        head_at_a[book.assembly] = np.array([v.head_at_a for v in wiring.verdicts] or [True])[wiring.kind]
        self.modes: Ints = np.ones((count, 2), np.int64)
        self.modes[book.assembly, 0], self.modes[book.assembly, 1] = wiring.mode_ports_a, wiring.mode_ports_b
        span = (len(book.cage_device) + 1) * OPTICAL_PORTS
        cable = np.array([isinstance(m.part, Cable) for m in wiring.media] or [False])[self.medium]
        # A cable fills cages, a fibre fills optical ports.
        at_a = np.where(cable, wiring.piece_a, _distinct(book.assembly, a_port, span, count))
        at_b = np.where(cable, wiring.piece_b, _distinct(book.assembly, b_port, span, count))
        self.heads: Ints = np.where(head_at_a, at_a, at_b)
        self.tails: Ints = np.where(head_at_a, at_b, at_a)


def check_pieces(wiring: Wiring) -> Check:
    """Each piece joins as many ports as it has ends; the ports of a twin module are both straight or both split."""
    book = wiring.book
    findings = Findings("pieces")
    a_port = wiring.optical_ports(book.a_cage, book.a_port, wiring.mode_ports_a)
    b_port = wiring.optical_ports(book.b_cage, book.b_port, wiring.mode_ports_b)
    pieces = _Pieces(wiring, a_port, b_port)
    findings.add_rows(pieces.mixed, lambda p: f"piece {pieces.ids[p]} is listed as several parts")
    for number, medium in enumerate(wiring.media):
        here = pieces.medium == number
        if isinstance(medium.part, Cable):
            legs = medium.part.end_b.count
            for modes in np.unique(pieces.modes[here], axis=0).tolist():
                most = links_of(medium.part, (modes[0], modes[1]))
                over = here & (pieces.modes == modes).all(axis=1) & (pieces.links > most)
                for p in np.flatnonzero(over).tolist():
                    findings.add(f"piece {pieces.ids[p]}: {pieces.links[p]} links on one {medium.name}; at most {most}")
        elif isinstance(medium.part, Fibre):
            legs = medium.part.legs
        else:
            continue  # the check of the reach names a medium that does not exist
        for p in np.flatnonzero(here & ((pieces.heads != 1) | (pieces.tails > legs))).tolist():
            joined = f"{pieces.heads[p]} and {pieces.tails[p]}"
            findings.add(f"piece {pieces.ids[p]}: one {medium.name} has 1 and {legs} ends, not {joined}")
    _one_piece_per_port(wiring, findings, a_port, b_port)
    _same_fibre_in_twins(wiring, findings)
    return findings.check(f"{len(pieces.ids):,} pieces, each joining as many ports as it has ends")


def _distinct(piece: Ints, port: Ints, span: int, count: int) -> Ints:
    return np.bincount(distinct(piece * span + port) // span, minlength=count)


def _one_piece_per_port(wiring: Wiring, findings: Findings, a_port: Ints, b_port: Ints) -> None:
    """A fibre fills an optical port, a cable fills a cage: nothing else ends there."""
    book = wiring.book
    cable = np.concatenate([wiring.is_cable, wiring.is_cable]) == 1
    cage = np.concatenate([book.a_cage, book.b_cage])
    port = np.where(cable, cage * OPTICAL_PORTS, np.concatenate([a_port, b_port]))
    piece = np.concatenate([book.assembly, book.assembly])
    pairs = distinct(port * (len(book.assembly_ids) + 1) + piece) // (len(book.assembly_ids) + 1)
    findings.add_rows(
        distinct(pairs[1:][pairs[1:] == pairs[:-1]]),
        lambda p: f"{book.cage_name(p // OPTICAL_PORTS)}: several pieces end in one plug or optical port",
    )


def _same_fibre_in_twins(wiring: Wiring, findings: Findings) -> None:
    """R18: both optical ports of a module straight, or both split."""
    book = wiring.book
    legs = np.array([m.part.legs if isinstance(m.part, Fibre) else 1 for m in wiring.media] or [1], np.int64)
    head_at_a = np.array([v.head_at_a for v in wiring.verdicts] or [True])[wiring.kind]
    a_legs = np.where(head_at_a, legs[book.medium], 1)
    b_legs = np.where(head_at_a, 1, legs[book.medium])
    cage, split = np.concatenate([book.a_cage, book.b_cage]), np.concatenate([a_legs, b_legs])
    most = np.zeros(len(book.cage_device), np.int64)
    np.maximum.at(most, cage, split)
    odd = np.unique(cage[(most[cage] != split) & (book.cage_seat[cage] >= 0)])
    findings.add_rows(odd, lambda c: f"R18: {book.cage_name(c)} has a straight and a splitter fibre on one module")
