"""What a template can add to a design at most, however its parts are bought and shared: spares and terms of sale leave
the proof much room, and this takes most of it away again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from gpunet.models.case import Objective
from gpunet.solver.template import Measure, Template

TRIED = 200
"""Templates, lightest first, that others are held against."""


def pieces_in_all(groups: Iterable[Collection[Template]]) -> int:
    """No design of one template of each group has more pieces of one part."""
    # A link has two modules, and every switch a link to manage it.
    return 2 * sum(max((t.facts.links + 2 * sum(t.switches.values()) for t in ts), default=0) for ts in groups)


def most_weight(measure: Measure, t: Template, objective: Objective, pieces: int) -> int | None:
    """The most that a template adds to a total of any design, cents or milliwatts, each link class built one way.

    No design has more than ``pieces`` of one part. None where a part of the template may be out of supply or a link
    class cannot be built.
    """
    total, parts = t.facts.switch_weight, Counter(t.switches)
    for key, n in t.facts.blocks.items():
        ways = measure.book.ways(key.pair, key.step_m, key.shape)
        if not ways:
            return None
        way = min(ways, key=lambda w: w.weight.of(objective))
        total += way.weight.times(n)
        for part, each in way.parts:
            parts[part] += each * n
    if objective is Objective.POWER:
        return total.power
    found = total.of(objective)
    for part, n in parts.items():
        terms = measure.prices.terms(part)
        if terms is not None:
            most = terms.most_for(n, pieces)
            if most is None:
                return None
            found += most - terms.unit_cents * n
    return found


def not_outweighed(measure: Measure, templates: list[Template], objective: Objective, pieces: int) -> list[Template]:
    """Templates of one group without those that weigh more, parts at their least, than another can ever add.

    The other takes no more room and brings no more switches, so it can stand in for them in any design.
    """
    lightest = sorted(templates, key=lambda t: (t.facts.least[objective], t.rank()))[:TRIED]
    better: list[tuple[tuple[int, ...], int]] = []
    for t in lightest:
        most, room = most_weight(measure, t, objective, pieces), _room(t)
        if most is not None and not any(m <= most and _within(r, room) for r, m in better):
            better.append((room, most))
    return [t for t in templates if not any(m < t.facts.least[objective] and _within(r, _room(t)) for r, m in better)]


def _room(t: Template) -> tuple[int, ...]:
    x = t.facts
    zones = (x.leaf_load, x.central_load, x.leaf_reserve, x.central_reserve)
    loads = (x.top_units, x.top_mw, x.row_switches, x.central_switches)
    # Which of two can carry storage is a difference too.
    return (*zones, *loads, int(t.carries_storage), -int(t.carries_storage))


def _within(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))
