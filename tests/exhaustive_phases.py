"""The least that any plan in phases costs, by plain enumeration: what the solver must find.

Every design of every phase is taken with every mixture of ways to build its links, as the pieces it needs; then every
series of them is bought phase by phase, what is needed beyond what is there. Only a design that needs no less of every
part than another is left out. Meant for one fabric, a handful of servers and few parts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_UP, Decimal

from exhaustive import _Exhaustive, _FabricFront
from exhaustive_designs import designs
from exhaustive_room import Room

from gpunet.models.case import Case, FabricName
from gpunet.models.parts import Catalog

Pieces = tuple[tuple[str, int], ...]


def least_plan(case: Case, catalog: Catalog, fabric: FabricName) -> int | None:
    """The least that a plan for the fabric costs, adapters left out, cents; none where a phase has no design."""
    every = [needs(case, catalog, fabric, q) for q in range(len(case.phases or ()))]
    prices = first_prices(case, catalog, {part for found in every for pieces in found for part, _ in pieces})
    return min((spent(case, prices, series) for series in itertools.product(*every)), default=None)


def spent(case: Case, first_cents: Mapping[str, int], series: tuple[Pieces, ...]) -> int:
    """What it costs to buy these pieces phase by phase, cents."""
    assert case.phases is not None
    total = 0
    stock: dict[str, int] = {}
    for phase, pieces in zip(case.phases, series, strict=True):
        years = Decimal(phase.quarter - case.phases[0].quarter) / 4
        factor = (1 - Decimal(str(case.price_decline_per_year or 0))) ** years
        for part, n in pieces:
            cents = int((first_cents[part] * factor).to_integral_value(ROUND_HALF_UP))
            total += cents * max(0, n - stock.get(part, 0))
            stock[part] = max(n, stock.get(part, 0))
    return total


def first_prices(case: Case, catalog: Catalog, parts: set[str]) -> dict[str, int]:
    """Prices in the first phase, cents."""
    whole = _Exhaustive(case, catalog)
    return {part: whole._part_price(part) for part in parts}


def needs(case: Case, catalog: Catalog, fabric: FabricName, phase: int) -> list[Pieces]:
    """What every design of one phase needs, in the room of the last phase."""
    assert case.phases is not None
    whole = _Exhaustive(case, catalog)
    whole.room = Room(case, catalog)
    servers = case.phases[phase].servers
    assert servers is not None, "sizes are given as servers"
    whole.room.servers = whole.room.future = servers
    found: set[Pieces] = set()
    for option in whole._fabrics(fabric, getattr(case.fabrics, fabric.value)):
        front = _FabricFront(whole, option)
        for design in designs(option):
            found |= set(_mixtures(front, design.switches, design.blocks()))
    return _unbeaten(found)


def _mixtures(front: _FabricFront, switches: Pieces, blocks: Counter) -> Iterator[Pieces]:  # type: ignore[type-arg]
    """The pieces of a design under every mixture of ways."""
    base = Counter[str]()
    for part, n in switches:
        base[part] += n
    partial = {tuple(sorted(base.items()))}
    for block, count in blocks.items():
        ways = front.ways(block)
        laid = []
        for mix in _compositions(count, len(ways)) if ways else ():
            more = Counter[str]()
            for way, n in zip(ways, mix, strict=True):
                for part, each in way.parts:
                    more[part] += each * n
            laid.append(more)
        partial = set(
            _unbeaten({tuple(sorted((Counter(dict(had)) + more).items())) for had in partial for more in laid})
        )
    yield from partial


def _compositions(total: int, places: int) -> Iterator[tuple[int, ...]]:
    if places == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, places - 1):
            yield (first, *rest)


def _unbeaten(found: set[Pieces]) -> list[Pieces]:
    """Those that need more than every other of at least one part."""
    kept: list[dict[str, int]] = []
    for pieces in sorted(found, key=lambda x: (sum(n for _, n in x), x)):
        own = dict(pieces)
        if not any(all(n <= own.get(part, 0) for part, n in other.items()) for other in kept):
            kept.append(own)
    return [tuple(sorted(x.items())) for x in kept]
