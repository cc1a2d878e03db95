"""Offers of suppliers for one part, and the cheapest way to buy so many pieces of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gpunet.models.evidence import usd_to_cents
from gpunet.solver.quotes import Offer

ENDLESS = 1 << 40
"""More pieces than any design has."""


class Step(NamedTuple):
    """A unit price from some quantity on."""

    pieces: int
    cents: int


class Source(NamedTuple):
    """Where a part can be bought: an offer of a supplier, or the catalogue."""

    supplier: str
    """Empty for the catalogue."""
    title: str
    """Supplier and number of the quote; empty for the catalogue."""
    steps: tuple[Step, ...]
    """Unit prices by the pieces ordered here, each for all of them, from one piece on."""
    least: int = 1
    """Fewest pieces that are sold."""
    most: int = ENDLESS
    """Most pieces that are sold."""
    date: str = ""
    until: str = ""
    """Last day on which the offer holds, ISO 8601; empty for no end."""

    @property
    def is_plain(self) -> bool:
        """Whether any number of pieces has the same price."""
        return self.least <= 1 and len(self.steps) == 1

    @property
    def least_price_cents(self) -> int:
        """The least that a piece is sold for."""
        return min(step.cents for step in self.steps)

    def sizes(self, most: int) -> Iterator[tuple[int, int, int]]:
        """Sizes of order by price step, up to ``most``: from, to, unit price in cents."""
        for i, step in enumerate(self.steps):
            last = self.steps[i + 1].pieces - 1 if i + 1 < len(self.steps) else ENDLESS
            first, last = max(step.pieces, self.least), min(last, self.most, most)
            if first <= last:
                yield first, last, step.cents

    def price(self, bought: int) -> int:
        """Unit price at so many pieces, cents."""
        return [step.cents for step in self.steps if step.pieces <= max(1, bought)][-1]

    def at(self, cents: int) -> Source:
        """The same offer at one price whatever the quantity; its steps stay in place."""
        return self._replace(steps=tuple(Step(step.pieces, cents) for step in self.steps))


def source_of(offer: Offer, least: int) -> Source:
    """An offer as a source; ``least`` is the minimum order where the quote states none."""
    line, quote = offer.line, offer.quote
    steps = sorted((step.from_pieces, usd_to_cents(step.unit_usd)) for step in line.steps)
    return Source(
        quote.supplier,
        quote.title,
        (Step(1, offer.cents), *(Step(*step) for step in steps)),
        max(1, least if line.minimum is None else line.minimum),
        line.at_most or line.quantity or ENDLESS,
        quote.date or "",
        quote.valid_until or "",
    )


class Bought(NamedTuple):
    """Pieces of one part from every source."""

    cents: int
    pieces: int
    """In all."""
    used: int
    """Sources."""
    order: tuple[int, ...]
    """Pieces by source, with the sign turned, so that of equal orders the least has most from the first source."""

    @property
    def by_source(self) -> tuple[int, ...]:
        """Pieces by source."""
        return tuple(-n for n in self.order)


@lru_cache(maxsize=20_000)
def cheapest(
    sources: tuple[Source, ...], due: int, pack: int, most: int | None, allowed: frozenset[str] | None
) -> Bought | None:
    """The cheapest order of at least ``due`` pieces and at most ``most``, in whole packs from every source; none where
    there is none.

    Of orders at one cost the smallest, then the one from fewer sources. ``allowed``: suppliers that may be asked, the
    catalogue being the one without a name; all where none.
    """
    here = [i for i, x in enumerate(sources) if allowed is None or x.supplier in allowed]
    need = math.ceil(due / pack)
    limit = ENDLESS if most is None else most // pack
    choices: list[list[tuple[int, int, int] | None]] = []
    for i in here:
        sizes = _packs(sources[i], pack)
        choices.append(list(sizes) if sources[i].is_plain else [None, *sizes])
    best: Bought | None = None
    for chosen in itertools.product(*choices):
        packs = _filled([(0, 0, 0) if x is None else x for x in chosen], need)
        if packs is None or sum(packs) > limit:
            continue
        order = [0] * len(sources)
        for i, n in zip(here, packs, strict=True):
            order[i] = -n * pack
        cents = sum(n * pack * x[2] for n, x in zip(packs, chosen, strict=True) if x is not None)
        found = Bought(cents, sum(packs) * pack, sum(n > 0 for n in packs), tuple(order))
        if best is None or found < best:
            best = found
    return best


def _packs(source: Source, pack: int) -> Iterator[tuple[int, int, int]]:
    """Sizes of order by price step in packs. From a source without a minimum, where nothing is bought too."""
    for first, last, cents in source.sizes(ENDLESS):
        low, high = math.ceil(first / pack), last // pack
        if source.is_plain:
            yield 0, high, cents
        elif low <= high:
            yield low, high, cents


def _filled(chosen: list[tuple[int, int, int]], need: int) -> list[int] | None:
    """Packs from every source, each within its size and together enough, at the least cost; none where they are not."""
    packs = [first for first, _, _ in chosen]
    rest = need - sum(packs)
    for i in sorted(range(len(chosen)), key=lambda i: (chosen[i][2], i)):
        more = max(0, min(rest, chosen[i][1] - packs[i]))
        packs[i] += more
        rest -= more
    return None if rest > 0 else packs


def in_order(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Sources in an order that does not depend on how the case lists them: the cheapest first."""
    return tuple(sorted(sources, key=lambda x: (x.steps[0].cents, x)))
