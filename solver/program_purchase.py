r"""What buying adds to the program: spares, supply, packs, minimum orders and price steps, one function per family.

q[p]              pieces of part p in the design, an expression of z and x
y[p]   in Z+      pieces taken from stock
s[p]   in Z+      spares, a sum over levels: d[p,j] in {0,1} opens level j
o[p,k] in Z+      pieces ordered at price step k, w[p,k] in {0,1} whether k is the step reached
o[p,j,k], w[p,j,k] the same for offer j of a supplier; u[g] in {0,1} whether supplier g has any order
g[v,k], a[v,k], e[v,k] of step k of the discount of vendor v: whether it holds, what is bought under it, what it saves
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gpunet.solver.offers import ENDLESS
from gpunet.solver.purchase import PartTerms
from gpunet.solver.vendor_discounts import counted_by

if TYPE_CHECKING:
    from gpunet.solver.instance import Instance
    from gpunet.solver.program import Formulation


def most_pieces(f: Formulation, part: str) -> int:
    """No choice has more pieces of a part in the design."""
    data = f.data
    found = data.fixed_pieces.get(part, 0)
    found += sum(max((t.switches.get(part, 0) for t in ts), default=0) for ts in data.templates.values())
    for key, ways in data.ways.items():
        found += data.most(key) * max((n for w in ways for p, n in w.parts if p == part), default=0)
    return found


def owned_stock(f: Formulation) -> None:
    r"""Owned parts are taken from stock, as far as it goes and as far as they are needed.

    y[p] <= owned[p];  y[p] <= q[p] + s[p]
    """
    for part, y in f.y.items():
        f.add("owned_stock", y - f.pieces(part) - f.s.get(part, 0) <= 0)


def spares(f: Formulation) -> None:
    r"""Enough spares of every part for the failures to be expected while a replacement is on its way.

    q[p] <= sum_j (T[j] - T[j-1]) d[p,j];  d[p,j] <= d[p,j-1];  s[p] = sum_j g[j] d[p,j]
    T[j] most pieces that level j is enough for; g[j] spares that level j adds to the one before
    """
    from pulp import lpSum

    for i, (part, terms) in enumerate(f.data.terms.items()):
        if terms.spare is None:
            continue
        levels = _levels(terms, most_pieces(f, part))
        opened = [f.var(f"spare_{i}_{j}", 1, binary=True) for j in range(len(levels))]
        reach = [most - (levels[j - 1][0] if j else 0) for j, (most, _) in enumerate(levels)]
        f.add("spares", f.pieces(part) - lpSum(n * d for n, d in zip(reach, opened, strict=True)) <= 0)
        for before, after in pairwise(opened):
            f.add("spares", after - before <= 0)
        f.s[part] = lpSum(more * d for (_, more), d in zip(levels, opened, strict=True))


def _levels(terms: PartTerms, most: int) -> list[tuple[int, int]]:
    """For each level: the most pieces it is enough for, and the spares it adds to the level before."""
    assert terms.spare is not None
    found: list[tuple[int, int]] = []
    reached, spares = 0, 0
    while reached < most:
        more = terms.spares(reached + 1)
        reached = min(most, terms.spare.most_pieces(more))
        found.append((reached, more - spares))
        spares = more
    return found


def orders(f: Formulation) -> None:
    r"""What is ordered covers what stock does not, in whole packs, no fewer than the minimum order, at one price step.

    sum_k o[p,k] >= q[p] + s[p] - y[p];  from[k] w[p,k] <= o[p,k] <= to[k] w[p,k];  sum_k w[p,k] <= 1
    sum_k o[p,k] = pack[p] m[p]
    """
    from pulp import lpSum

    for i, (part, terms) in enumerate(f.data.terms.items()):
        if not terms.has_order_terms or terms.sources is not None:
            continue
        due = f.pieces(part) + f.s.get(part, 0) - f.y.get(part, 0)
        sizes = list(terms.orders(terms.largest_order(most_pieces(f, part))))
        step = [f.var(f"step_{i}_{k}", 1, binary=True) for k in range(len(sizes))]
        at = [f.var(f"order_{i}_{k}", last) for k, (_, last, _, _) in enumerate(sizes)]
        for w, o, (first, last, _, _) in zip(step, at, sizes, strict=True):
            f.add("orders", first * w - o <= 0)
            f.add("orders", o - last * w <= 0)
        f.add("orders", lpSum(step) <= 1)
        f.add("orders", due - lpSum(at) <= 0)
        if terms.pack > 1:
            f.add("orders", lpSum(at) - terms.pack * f.var(f"packs_{i}", None) == 0)
        f.order[part] = list(zip(step, at, strict=True))


def offers(f: Formulation) -> None:
    r"""Offered parts come from the offers for them: each within its minimum, its most and one of its price steps.

    sum_jk o[p,j,k] >= q[p] + s[p] - y[p];  from[j,k] w[p,j,k] <= o[p,j,k] <= to[j,k] w[p,j,k];  sum_k w[p,j,k] <= 1
    sum_k o[p,j,k] = pack[p] m[p,j]
    """
    from pulp import lpSum

    for i, (part, terms) in enumerate(f.data.terms.items()):
        if terms.sources is None:
            continue
        due = f.pieces(part) + f.s.get(part, 0) - f.y.get(part, 0)
        largest = terms.largest_order(most_pieces(f, part))
        f.order[part] = []
        f.offered[part] = []
        for j, source in enumerate(terms.sources):
            sizes = list(source.sizes(largest))
            step = [f.var(f"step_{i}_{j}_{k}", 1, binary=True) for k in range(len(sizes))]
            at = [f.var(f"order_{i}_{j}_{k}", last) for k, (_, last, _) in enumerate(sizes)]
            for w, o, (first, last, _) in zip(step, at, sizes, strict=True):
                f.add("offers", first * w - o <= 0)
                f.add("offers", o - last * w <= 0)
            if len(sizes) > 1:
                f.add("offers", lpSum(step) <= 1)
            if terms.pack > 1 and sizes:
                f.add("offers", lpSum(at) - terms.pack * f.var(f"packs_{i}_{j}", None) == 0)
            f.order[part] += zip(step, at, strict=True)
            if sizes:
                f.offered[part].append((source.supplier, lpSum(step)))
        f.add("offers", due - lpSum(o for _, o in f.order[part]) <= 0)


def supplier_limit(f: Formulation) -> None:
    r"""No more than buying.max_suppliers suppliers have any part of the order.

    sum_k w[p,j,k] <= u[g] for every offer j of g;  sum_g u[g] <= limit
    """
    from pulp import lpSum

    limit = None if f.data.buying is None else f.data.buying.max_suppliers
    asked = [(name, used) for part in f.offered for name, used in f.offered[part] if name]
    names = sorted({name for name, _ in asked})
    if limit is None or len(names) <= limit:
        return
    chosen = {name: f.var(f"supplier_{g}", 1, binary=True) for g, name in enumerate(names)}
    for name, used in asked:
        f.add("supplier_limit", used - chosen[name] <= 0)
    f.add("supplier_limit", lpSum(chosen.values()) <= limit)


def split_limit(f: Formulation) -> None:
    r"""No more than buying.max_split_lines parts come from more than one supplier, the catalogue counting as one.

    sum_k w[p,j,k] <= v[p,g] for every offer j of g;  sum_g v[p,g] <= 1 + (G[p] - 1) b[p];  sum_p b[p] <= limit
    v[p,g] whether any p comes from g; G[p] suppliers that offer p; b[p] whether p is split
    """
    from pulp import lpSum

    limit = None if f.data.buying is None else f.data.buying.max_split_lines
    split = []
    for i, asked in enumerate(f.offered.values() if limit is not None else ()):
        names = sorted({name for name, _ in asked})
        if len(names) < 2:
            continue
        serves = {name: f.var(f"serves_{i}_{g}", 1, binary=True) for g, name in enumerate(names)}
        split.append(f.var(f"split_{i}", 1, binary=True))
        for name, used in asked:
            f.add("split_limit", used - serves[name] <= 0)
        f.add("split_limit", lpSum(serves.values()) - (len(names) - 1) * split[-1] <= 1)
    if split:
        f.add("split_limit", lpSum(split) <= limit)


def supply(f: Formulation) -> None:
    r"""No more is ordered than can be had by the time that counts.

    ordered[p] <= supply[p]
    """
    from pulp import lpSum

    for part, terms in f.data.terms.items():
        if terms.most is None or terms.most >= ENDLESS:
            continue
        due = f.pieces(part) + f.s.get(part, 0) - f.y.get(part, 0)
        ordered = lpSum(o for _, o in f.order[part]) if part in f.order else due
        f.add("supply", ordered <= terms.most)


def vendor_discounts(f: Formulation) -> None:
    r"""A vendor takes off no more than one step of its discount gives on what is bought of it.

    sum_k a[v,k] <= sum of what the orders of its parts cost;  a[v,k] <= A[v] g[v,k];  sum_k g[v,k] <= 1
    e[v,k] <= off[k] a[v,k] - before[k] g[v,k];  e[v,k] <= a[v,k] - least[k] g[v,k]
    g[v,k] whether step k holds; a[v,k] what is bought under it; e[v,k] what is taken off, whole cents; A[v] the most
    that any design buys; before[k] what lesser steps keep; least[k] what is paid at least to keep the step
    """
    save_at(f, f.data)


def save_at(f: Formulation, there: Instance) -> None:
    """What vendors take off at the prices of an instance, which are the program's own or suppose others."""
    from pulp import lpSum

    found = []
    for v, (schedule, parts) in enumerate(counted_by(there.terms)):
        most = _most_spent(f, there, parts)
        tiers = [tier for tier in schedule.tiers if tier.saves(most) > 0]
        name = f"{len(f.saved)}_{v}"
        holds = [f.var(f"tier_{name}_{k}", 1, binary=True) for k in range(len(tiers))]
        spent = [f.var(f"spent_{name}_{k}", most) for k in range(len(tiers))]
        saved = [f.var(f"saved_{name}_{k}", tier.saves(most)) for k, tier in enumerate(tiers)]
        for tier, g, a, e in zip(tiers, holds, spent, saved, strict=True):
            scale = math.lcm(tier.off.denominator, tier.before.denominator)
            f.add("vendor_discounts", a - most * g <= 0)
            f.add("vendor_discounts", scale * e - int(scale * tier.off) * a + int(scale * tier.before) * g <= 0)
            if tier.least_cents:
                f.add("vendor_discounts", e - a + tier.least_cents * g <= 0)
        if tiers:
            f.add("vendor_discounts", lpSum(holds) <= 1)
            f.add("vendor_discounts", lpSum(spent) - lpSum(_price(f, there, part) for part in parts) <= 0)
        found += saved
    f.saved.append((there, lpSum(found)))


def _most_spent(f: Formulation, there: Instance, parts: list[str]) -> int:
    """No best design buys more than that of some parts, cents: of every fabric its dearest template, of every class of
    links the dearest way, and with each part what spares, packs, minimum orders and price steps may add."""
    each = {part: there.terms[part].unit_cents for part in parts}
    found = sum(n * each[part] for part, n in there.fixed_pieces.items() if part in each)
    for templates in there.templates.values():
        found += max((sum(n * each.get(p, 0) for p, n in t.switches.items()) for t in templates), default=0)
    for key, ways in there.ways.items():
        found += there.most(key) * max((sum(n * each.get(p, 0) for p, n in w.parts) for w in ways), default=0)
    for part in parts:
        terms = there.terms[part]
        more = terms.spares(most_pieces(f, part))
        if terms.has_order_terms:
            more += terms.pack + max(terms.least, terms.steps[-1].pieces)
        found += more * each[part]
    return found


def _price(f: Formulation, there: Instance, part: str) -> Any:
    """What the order of a part costs, cents, as an expression."""
    from pulp import lpSum

    terms = there.terms[part]
    if part not in f.order:
        return terms.unit_cents * (f.pieces(part) + f.s.get(part, 0) - f.y.get(part, 0))
    sizes = terms.orders(terms.largest_order(most_pieces(f, part)))
    return lpSum(cents * o + once * w for (w, o), (_, _, cents, once) in zip(f.order[part], sizes, strict=True))


def beyond_list(f: Formulation, there: Instance) -> Any:
    """What buying costs beyond what every piece of the design counts for, cents, as an expression, at the prices there.

    What vendors take off is taken off.
    """
    from pulp import lpSum

    found = []
    for part, terms in there.terms.items():
        if part in f.order or terms.weighed_cents is not None:
            found.append(_price(f, there, part) - terms.counted_cents * f.pieces(part))
        else:
            found.append(terms.unit_cents * (f.s.get(part, 0) - f.y.get(part, 0)))
    if there is not f.data and not any(x is there for x, _ in f.saved):
        save_at(f, there)
    return lpSum(found) - lpSum(saved for x, saved in f.saved if x is there)
