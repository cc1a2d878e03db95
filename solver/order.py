"""The whole order: what is bought of every part and from whom, at the least cost within the limits on suppliers.

Parts that no quote offers are bought one by one. Of those that are offered, the limits on suppliers and on split lines
couple the purchases: every set of suppliers is tried, and within it the parts that gain most are split.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gpunet.models.terms import Buying
from gpunet.solver.offers import Bought, cheapest
from gpunet.solver.purchase import PartTerms, Purchase

if TYPE_CHECKING:
    from gpunet.solver.prices import PriceList

LIST = ""
"""The catalogue, as the supplier without a name."""


class Ordered(NamedTuple):
    """The order of a design, part by part; parts of which nothing is bought are left out."""

    pieces: dict[str, int]
    """Pieces ordered."""
    at_list: dict[str, int]
    """Pieces among them that are paid at the unit price of the part, no price step reached."""
    cents: dict[str, int]
    """What they cost, from whomever and at whichever price step."""


def bought(prices: PriceList, parts: Mapping[str, int], buying: Buying | None) -> Ordered:
    """What is bought of so many pieces of every part."""
    found = Ordered({}, {}, {})
    terms = {part: x for part in parts if (x := prices.terms(part)) is not None}
    orders = order_all(terms, parts, buying)
    for part, n in parts.items():
        order = orders.get(part)
        figures = (n, n, n * (prices.cents(part) or 0)) if order is None else (order.bought, order.at_list, order.cents)
        for filled, figure in zip(found, figures, strict=True):
            if figure:
                filled[part] = figure
    return found


class _Need(NamedTuple):
    """Pieces to buy of one part that is offered."""

    part: str
    terms: PartTerms
    due: int

    def buy(self, suppliers: Iterable[str]) -> Bought | None:
        x = self.terms
        assert x.sources is not None
        return cheapest(x.sources, self.due, x.pack, x.most, frozenset(suppliers))


def order_all(
    terms: Mapping[str, PartTerms], pieces: Mapping[str, int], buying: Buying | None
) -> dict[str, Purchase | None]:
    """The cheapest purchase of every part that has terms; none for parts of which not enough can be had.

    Where limits on suppliers leave no order at all, none for every part that is offered.
    """
    found = {part: x.buy(pieces.get(part, 0)) for part, x in terms.items()}
    if buying is None or (buying.max_suppliers is None and buying.max_split_lines is None):
        return found
    needs = [
        _Need(part, terms[part], order.bought - order.surplus)
        for part, order in found.items()
        if terms[part].sources is not None and order is not None and order.bought
    ]
    best = min(_orders(needs, buying), default=None)
    for i, need in enumerate(needs):
        found[need.part] = None if best is None else need.terms.shared(pieces.get(need.part, 0), best.orders[i])
    return found


class _Order(NamedTuple):
    """Purchases of all parts together; the least is the best."""

    cents: int
    pieces: int
    suppliers: int
    orders: tuple[Bought, ...]


def _orders(needs: list[_Need], buying: Buying) -> Iterator[_Order]:
    """The best order within every set of suppliers, as many as are allowed."""
    offering = sorted({s.supplier for need in needs for s in need.terms.sources or ()} - {LIST})
    most = len(offering) if buying.max_suppliers is None else min(buying.max_suppliers, len(offering))
    for chosen in itertools.combinations(offering, most):
        orders = _within(needs, (*chosen, LIST), buying.max_split_lines)
        if orders is not None:
            used = {name for need, x in zip(needs, orders, strict=True) for name in _suppliers(need, x)} - {LIST}
            yield _Order(sum(x.cents for x in orders), sum(x.pieces for x in orders), len(used), tuple(orders))


def _suppliers(need: _Need, order: Bought) -> set[str]:
    assert need.terms.sources is not None
    return {s.supplier for s, n in zip(need.terms.sources, order.by_source, strict=True) if n}


def _within(needs: list[_Need], suppliers: tuple[str, ...], most_split: int | None) -> list[Bought] | None:
    """Purchases from some suppliers; none where they cannot deliver, or only with too many parts split."""
    split: list[Bought] = []
    for need in needs:
        order = need.buy(suppliers)
        if order is None:
            return None
        split.append(order)
    if most_split is None:
        return split
    whole = [min(filter(None, (need.buy([name]) for name in suppliers)), default=None) for need in needs]
    several = [i for i, need in enumerate(needs) if len(_suppliers(need, split[i])) > 1]
    # What cannot be bought whole must be split; of the others those that save most.
    several.sort(key=lambda i: (whole[i] is not None, split[i].cents - _cents(whole[i]), i))
    kept = several[most_split:]
    if any(whole[i] is None for i in kept):
        return None
    return [x if i in kept and (x := whole[i]) is not None else split[i] for i in range(len(needs))]


def _cents(order: Bought | None) -> int:
    return 0 if order is None else order.cents
