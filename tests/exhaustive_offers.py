"""What an order from several suppliers costs, by trying every number of pieces from every offer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from exhaustive_purchase import cents, needed_pieces, supplied

from gpunet.models.case import Case
from gpunet.models.quote import QuoteFile

MARGIN = 12
"""Pieces beyond what is needed that orders are tried up to; no step, pack or minimum of the cases is larger."""


class Ask(NamedTuple):
    """What one supplier asks for a part, the catalogue being the one without a name."""

    supplier: str
    prices: tuple[tuple[int, int], ...]
    """From so many pieces on, cents."""
    least: int
    most: int | None


def is_offered(case: Case, part: str) -> bool:
    """Whether suppliers offer a part."""
    stated = case.prices.overrides_usd
    return case.buying is not None and bool(_asked(case, part)) and not {part, part.rpartition("-n")[0]} & set(stated)


def _asked(case: Case, part: str) -> list[Ask]:
    found = []
    for quote in case.quotes or ():
        assert isinstance(quote, QuoteFile)
        if case.order_date is not None and quote.valid_until is not None and quote.valid_until < case.order_date:
            continue
        for line in quote.lines:
            if line.part == part:
                prices = [(1, cents(line.unit_usd)), *((s.from_pieces, cents(s.unit_usd)) for s in line.steps)]
                least = line.minimum or _named(case, "minimum_order", part)
                found.append(Ask(quote.supplier, tuple(sorted(prices)), least, line.at_most or line.quantity))
    return found


def _named(case: Case, table: str, part: str) -> int:
    named: dict[str, int] = {} if case.terms is None else getattr(case.terms, table)
    return named.get(part, named.get(part.rpartition("-n")[0], 1))


def lowest_cents(case: Case, part: str, listed: int) -> int:
    """The lowest price of one piece, below every step."""
    asked = [ask.prices[0][1] for ask in _asked(case, part)]
    assert case.buying is not None
    return min([*asked, listed] if case.buying.at_list == "always" else asked)


def order_cents(case: Case, pieces: Mapping[str, int], listed: Mapping[str, int]) -> int | None:
    """What the cheapest order of these parts costs, all of them offered; none where there is none."""
    buying = case.buying
    assert buying is not None
    every = []
    for part, n in pieces.items():
        needed = needed_pieces(case, part, n)
        asks = _asked(case, part)
        if buying.at_list == "always":
            asks.append(Ask("", ((1, listed[part]),), _named(case, "minimum_order", part), None))
        if needed:
            every.append(_by_sellers(tuple(asks), needed, _named(case, "packs", part), supplied(case, part)))
    best = None
    for chosen in itertools.product(*(sorted(found.items(), key=str) for found in every)):
        sellers = frozenset().union(*(names for names, _ in chosen)) - {""}
        split = sum(len(names) > 1 for names, _ in chosen)
        if buying.max_suppliers is not None and len(sellers) > buying.max_suppliers:
            continue
        if buying.max_split_lines is not None and split > buying.max_split_lines:
            continue
        total = sum(usd for _, usd in chosen)
        best = total if best is None else min(best, total)
    return best


@cache
def _by_sellers(asks: tuple[Ask, ...], needed: int, pack: int, most: int | None) -> dict[frozenset[str], int]:
    """The least cost by the set of those who deliver."""
    reached: dict[tuple[frozenset[str], int], int] = {(frozenset(), 0): 0}
    for ask in asks:
        after = dict(reached)
        for n in range(max(ask.least, 1), needed + MARGIN + 1):
            if n % pack or (ask.most is not None and n > ask.most):
                continue
            cost = n * [each for start, each in ask.prices if start <= n][-1]
            for (names, total), before in reached.items():
                key = (names | {ask.supplier}, total + n)
                if total + n <= needed + MARGIN * 2 and before + cost < after.get(key, before + cost + 1):
                    after[key] = before + cost
        reached = after
    found: dict[frozenset[str], int] = {}
    for (names, total), cost in reached.items():
        if total >= needed and (most is None or total <= most):
            found[names] = min(cost, found.get(names, cost))
    return found
