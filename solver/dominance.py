"""Which templates another makes needless, at any prices."""

from __future__ import annotations

from gpunet.solver.template import Template


def undominated(templates: list[Template]) -> list[Template]:
    """Templates of one group without those that another beats in every count that can carry a price or a limit.

    A template is dropped only when another of the same switch models needs no more of any model, of any link
    class and of any space. Whatever a design does with the first, it can do with the second, at any prices.
    """
    buckets: dict[frozenset[str], list[Template]] = {}
    for t in sorted(templates, key=lambda t: t.rank()):
        bucket = buckets.setdefault(frozenset(t.switches), [])
        if not any(_beats(other, t) for other in bucket):
            bucket.append(t)
    return [t for bucket in buckets.values() for t in bucket]


def _beats(a: Template, b: Template) -> bool:
    x, y = a.facts, b.facts
    return (
        a.carries_storage == b.carries_storage
        and a.central_leaves >= b.central_leaves
        and a.n_leaves - a.central_leaves >= (b.n_leaves - b.central_leaves if b.management else 0)
        and all(n <= b.switches[part] for part, n in a.switches.items())
        and x.leaf_load <= y.leaf_load
        and x.central_load <= y.central_load
        and x.leaf_reserve <= y.leaf_reserve
        and x.central_reserve <= y.central_reserve
        and x.top_units <= y.top_units
        and x.top_mw <= y.top_mw
        and x.stands == y.stands
        and x.row_switches <= y.row_switches
        and x.central_switches <= y.central_switches
        and all(n <= y.blocks.get(key, 0) for key, n in x.blocks.items())
    )
