"""How CP-SAT buys a part: levels of spares and steps of price as alternatives, each with conditions of its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gpunet.solver.offers import ENDLESS
from gpunet.solver.purchase import PartTerms
from gpunet.solver.vendor_discounts import counted_by

if TYPE_CHECKING:
    from gpunet.solver.cp_sat import _Model


class Order:
    """Variables of one part."""

    def __init__(self, model: _Model, part: str, terms: PartTerms) -> None:
        self.terms, self._cp, self._name = terms, model.cp, part
        self._most = self._most_pieces(model, part)
        pieces = model.cp.new_int_var(0, self._most, f"pieces_{part}")
        model.cp.add(pieces == model.pieces(part))
        self._needed: Any = pieces + (self._spares(pieces) if terms.spare is not None else 0)
        useful = min(terms.owned, self._most + (terms.spares(self._most) if terms.spare is not None else 0))
        self.from_stock: Any = model.cp.new_int_var(0, useful, f"stock_{part}") if useful else 0
        if terms.owned:
            model.cp.add(self.from_stock <= self._needed)
        due = self._needed - self.from_stock
        self.from_supplier: dict[str, list[Any]] = {}
        """Pieces that come from every supplier, offer by offer; the catalogue is the one without a name."""
        if terms.sources is not None:
            ordered, price = self._offers(due)
        else:
            ordered, price = self._order(due) if terms.has_order_terms else (due, terms.unit_cents * due)
        if terms.most is not None and terms.most < ENDLESS:
            model.cp.add(ordered <= terms.most)
        self.price: Any = price
        """What is paid before the discount of the vendor, cents."""
        self.beyond_list: Any = price - terms.counted_cents * pieces
        """What buying costs beyond every piece of the design at its price, cents."""

    @staticmethod
    def _most_pieces(model: _Model, part: str) -> int:
        data = model.data
        found = data.fixed_pieces.get(part, 0)
        found += sum(max((t.switches.get(part, 0) for t in ts), default=0) for ts in data.templates.values())
        return found + sum(
            data.most(key) * max((dict(w.parts).get(part, 0) for w in ways), default=0)
            for key, ways in data.ways.items()
        )

    def _spares(self, pieces: Any) -> Any:
        """The level of spares that is open: each is enough for so many pieces."""
        assert self.terms.spare is not None
        most = self.terms.spares(self._most)
        levels = [0, *range(max(1, self.terms.spare.minimum), most + 1)]
        open_ = [self._cp.new_bool_var(f"spares_{self._name}_{n}") for n in levels]
        self._cp.add_exactly_one(open_)
        for n, level in zip(levels, open_, strict=True):
            reach = self.terms.spare.most_pieces(n) if n or not self.terms.spare.minimum else 0
            self._cp.add(pieces <= min(self._most, reach)).only_enforce_if(level)
        return sum(n * level for n, level in zip(levels, open_, strict=True))

    @property
    def most_cents(self) -> int:
        """No order of a part that suppliers do not offer costs more."""
        terms = self.terms
        if terms.has_order_terms:
            return self._most_price(terms.largest_order(self._most))
        return terms.unit_cents * (self._most + terms.spares(self._most))

    def _order(self, due: Any) -> tuple[Any, Any]:
        """Pieces ordered and their price, cents: nothing, or an order within one price step."""
        terms, cp = self.terms, self._cp
        largest = terms.largest_order(self._most)
        ordered = cp.new_int_var(0, largest, f"ordered_{self._name}")
        price = cp.new_int_var(0, self._most_price(largest), f"price_{self._name}")
        cp.add(ordered >= due)
        packs = cp.new_int_var(0, largest // terms.pack, f"packs_{self._name}")
        cp.add(ordered == terms.pack * packs)
        nothing = cp.new_bool_var(f"no_order_{self._name}")
        cp.add(ordered == 0).only_enforce_if(nothing)
        cp.add(price == 0).only_enforce_if(nothing)
        kinds = [nothing]
        for first, last, cents, once in terms.orders(largest):
            here = cp.new_bool_var(f"step_{self._name}_{first}")
            cp.add_linear_constraint(ordered, first, last).only_enforce_if(here)
            cp.add(price == cents * ordered + once).only_enforce_if(here)
            kinds.append(here)
        cp.add_exactly_one(kinds)
        return ordered, price

    def _offers(self, due: Any) -> tuple[Any, Any]:
        """Pieces ordered of all offers and their price, cents. An offer's pieces lie in one of its sizes, or are 0."""
        cp, terms = self._cp, self.terms
        largest = terms.largest_order(self._most)
        ordered: Any = 0
        price: Any = 0
        for j, source in enumerate(terms.sources or ()):
            name = f"{self._name}_{j}"
            sizes = list(source.sizes(largest))
            at = [self._within(first, last, f"{name}_{k}") for k, (first, last, _) in enumerate(sizes)]
            if len(sizes) > 1:
                cp.add_at_most_one(used for _, used in at)
            pieces: Any = sum(n for n, _ in at)
            if terms.pack > 1:
                cp.add(pieces == terms.pack * cp.new_int_var(0, largest // terms.pack, f"offer_packs_{name}"))
            ordered += pieces
            price += sum(cents * n for (_, _, cents), (n, _) in zip(sizes, at, strict=True))
            self.from_supplier.setdefault(source.supplier, []).append(pieces)
        cp.add(ordered >= due)
        return ordered, price

    def _within(self, first: int, last: int, name: str) -> tuple[Any, Any]:
        """So many pieces of one offer at one price: none, or between two bounds; and whether there are any."""
        pieces = self._cp.new_int_var(0, last, f"offer_{name}")
        used = self._cp.new_bool_var(f"offered_{name}")
        self._cp.add(pieces >= first * used)
        self._cp.add(pieces <= last * used)
        return pieces, used

    def _most_price(self, largest: int) -> int:
        sizes = [n for first, last, _, _ in self.terms.orders(largest) for n in (first, last)]
        return max((self.terms.price(n) for n in sizes), default=0)


def limit_suppliers(model: _Model) -> None:
    """Who delivers a part, and in all no more suppliers and split parts than the case allows."""
    buying, cp = model.data.buying, model.cp
    if buying is None or (buying.max_suppliers is None and buying.max_split_lines is None):
        return
    offered = {part: order.from_supplier for part, order in model.bought.items() if order.from_supplier}
    delivers: dict[str, list[Any]] = {}
    split = []
    for part, by_supplier in offered.items():
        here = []
        for name, pieces in by_supplier.items():
            any_ = cp.new_bool_var(f"delivers_{part}_{name}")
            cp.add(sum(pieces) == 0).only_enforce_if(any_.negated())
            here.append(any_)
            delivers.setdefault(name, []).append(any_)
        if len(here) > 1:
            split.append(cp.new_bool_var(f"split_{part}"))
            cp.add(sum(here) <= 1).only_enforce_if(split[-1].negated())
    if buying.max_split_lines is not None:
        cp.add(sum(split) <= min(buying.max_split_lines, len(split)))
    if buying.max_suppliers is not None:
        asked = {name: cp.new_bool_var(f"supplier_{name}") for name in delivers if name}
        for name, used in asked.items():
            cp.add_max_equality(used, delivers[name])
        cp.add(sum(asked.values()) <= min(buying.max_suppliers, len(asked)))


def saved_by_vendors(model: _Model) -> Any:
    """What vendors take off, cents: the most that nothing or any step of each takes off what is bought of it."""
    cp, found = model.cp, []
    for v, (schedule, parts) in enumerate(counted_by(model.data.terms)):
        orders = [model.bought[part] for part in parts]
        most = sum(order.most_cents for order in orders)
        spent = cp.new_int_var(0, most, f"spent_{v}")
        cp.add(spent == sum(order.price for order in orders))
        by_step = []
        for k, tier in enumerate(schedule.tiers):
            scale = math.lcm(tier.off.denominator, tier.before.denominator)
            share = cp.new_int_var(0, most, f"share_{v}_{k}")
            before = int(scale * tier.before)
            above = cp.new_int_var(0, int(scale * tier.off) * most, f"above_{v}_{k}")
            cp.add_max_equality(above, [0, int(scale * tier.off) * spent - before])
            cp.add_division_equality(share, above, scale)
            saved = cp.new_int_var(-tier.least_cents, most, f"saved_{v}_{k}")
            cp.add_min_equality(saved, [share, spent - tier.least_cents])
            by_step.append(saved)
        found.append(cp.new_int_var(0, most, f"saved_{v}"))
        cp.add_max_equality(found[-1], [0, *by_step])
    return sum(found)
