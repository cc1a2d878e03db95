"""The least value over designs as one price moves: concave, piecewise linear, found by probing (Eisner-Severance).

Prices are integer cents. Each probe solves exactly at one price and returns the line of the best design: what that
design is worth at every price. Where two neighbouring lines cross, a probe either confirms the crossing or finds a
better design between them, so no piece of a cent or more can be missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Line(NamedTuple):
    """A design's worth as a function of one price."""

    worth: Callable[[int], int]
    """Objective, cents, at a unit price in cents."""
    quantity: int
    """Pieces that are paid for: the slope."""
    design: Any
    """What the line stands for."""


class Piece(NamedTuple):
    """Prices ``first`` to ``last``, cents, both included, at which one line is the least."""

    first: int
    last: int
    line: Line


Probe = Callable[[int], Line]


def envelope(probe: Probe, low: int, high: int) -> list[Piece]:
    """The pieces from ``low`` to ``high``, cents; where two lines tie, the lower price's line goes on."""
    pieces: list[Piece] = []
    for piece in _between(probe, low, probe(low), high, probe(high)):
        if pieces and pieces[-1].line.quantity == piece.line.quantity and _same(pieces[-1], piece):
            pieces[-1] = Piece(pieces[-1].first, piece.last, pieces[-1].line)
        else:
            pieces.append(piece)
    return pieces


def _same(a: Piece, b: Piece) -> bool:
    """Whether the line of ``a`` is as good as that of ``b`` at both ends of ``b``."""
    return a.line.worth(b.first) == b.line.worth(b.first) and a.line.worth(b.last) == b.line.worth(b.last)


def _between(probe: Probe, low: int, below: Line, high: int, above: Line) -> list[Piece]:
    """Pieces from ``low``, where ``below`` is best, to ``high``, where ``above`` is."""
    if below.worth(high) == above.worth(high):
        return [Piece(low, high, below)]
    if above.worth(low) == below.worth(low):
        return [Piece(low, low, below), Piece(low + 1, high, above)] if low < high else [Piece(low, low, below)]
    last = crossing(below, above, low, high)
    at_last = below if last == low else probe(last)
    if at_last.worth(last) < below.worth(last):
        left = _between(probe, low, below, last, at_last)
        return left + _after(_between(probe, last, at_last, high, above), last)
    if last + 1 == high:
        return [Piece(low, last, below), Piece(high, high, above)]
    at_next = probe(last + 1)
    if at_next.worth(last + 1) < above.worth(last + 1):
        return [Piece(low, last, below), *_between(probe, last + 1, at_next, high, above)]
    return [Piece(low, last, below), Piece(last + 1, high, above)]


def _after(pieces: list[Piece], last: int) -> list[Piece]:
    """The pieces without the price ``last``, which the pieces before them hold already."""
    return [Piece(max(p.first, last + 1), p.last, p.line) for p in pieces if p.last > last]


def crossing(below: Line, above: Line, low: int, high: int) -> int:
    """The last price from ``low`` to ``high`` at which ``below`` is no dearer than ``above``; it is so at ``low``."""
    while low < high:
        middle = (low + high + 1) // 2
        if below.worth(middle) <= above.worth(middle):
            low = middle
        else:
            high = middle - 1
    return low


def lower_end(probe: Probe, base: Line, low: int, high: int, first: Sequence[int] = ()) -> tuple[int, Line | None]:
    """The lowest price down to which ``base``, best at ``high``, stays the best, and the line that takes over below.

    None takes over when ``base`` is the best down to ``low`` itself. Prices to look at ``first``, from ``low`` up to
    ``high``, change how many probes it takes and never the answer: the least is concave, so below a price at which
    something is better, something is.
    """
    for end in (*first, low):
        rival = probe(end)
        if rival.worth(end) < base.worth(end):
            break
    else:
        return low, None
    while True:
        # The rival is better at ``end``; it stops being so at the price after the crossing.
        end = crossing_down(rival, base, end, high)
        at_end = probe(end) if end < high else base
        if at_end.worth(end) >= base.worth(end):
            # Where both lines meet at the very cent, the rival is best just below too: the least is concave.
            return end, rival if rival.worth(end) == base.worth(end) else probe(end - 1)
        rival = at_end


def crossing_down(rival: Line, base: Line, low: int, high: int) -> int:
    """The first price from ``low`` to ``high`` at which ``base`` is no dearer than ``rival``; it is so at ``high``."""
    while low < high:
        middle = (low + high) // 2
        if base.worth(middle) <= rival.worth(middle):
            high = middle
        else:
            low = middle + 1
    return low
