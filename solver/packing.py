"""How many racks a set of boxes needs at least, by units and by watts, and which boxes stand together then."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple


class Size(NamedTuple):
    """What one box takes of a rack."""

    units: int
    power_mw: int


Rackful = tuple[tuple[Size, int], ...]
"""Boxes of one rack: how many of every size."""


def most_of(size: Size, units: int, power_mw: int) -> int:
    """Boxes of one size that an empty rack holds."""
    by_power = power_mw // size.power_mw if size.power_mw else units
    return min(units // size.units if size.units else by_power, by_power)


@lru_cache(maxsize=100_000)
def pack(boxes: tuple[tuple[Size, int], ...], units: int, power_mw: int) -> tuple[Rackful, ...]:
    """The fewest racks of so many units and so much power that hold the boxes, fullest first.

    ``boxes`` are sorted, every size once. Raises ValueError where a box is larger than a rack.
    """
    if any(most_of(size, units, power_mw) < 1 for size, _ in boxes):
        raise ValueError("a box is larger than a rack")
    if not boxes:
        return ()
    orders: tuple[Callable[[Size], object], ...] = (
        lambda s: (s.units / units + s.power_mw / power_mw, s),
        lambda s: (max(s.units / units, s.power_mw / power_mw), s),
        lambda s: (s.units, s),
        lambda s: (s.power_mw, s),
    )
    found = min((_first_fit(boxes, units, power_mw, order) for order in orders), key=len)
    if len(found) > fewest(boxes, units, power_mw):
        found = _exact(boxes, units, power_mw, len(found))
    return tuple(sorted(found, key=lambda rack: (sum(n for _, n in rack), rack), reverse=True))


def fewest(boxes: tuple[tuple[Size, int], ...], units: int, power_mw: int) -> int:
    """No fewer racks hold the boxes: by units, by watts, and by how many of one size share a rack."""
    return max(
        math.ceil(sum(s.units * n for s, n in boxes) / units),
        math.ceil(sum(s.power_mw * n for s, n in boxes) / power_mw),
        *(math.ceil(n / most_of(s, units, power_mw)) for s, n in boxes),
    )


def _first_fit(
    boxes: tuple[tuple[Size, int], ...], units: int, power_mw: int, order: Callable[[Size], object]
) -> list[Rackful]:
    """Largest first into the first rack with room."""
    racks: list[tuple[int, int, Counter[Size]]] = []
    for size, count in sorted(boxes, key=lambda x: order(x[0]), reverse=True):  # type: ignore[arg-type, return-value]
        left = count
        for i, (free_units, free_mw, held) in enumerate(racks):
            if not left:
                break
            n = min(left, most_of(size, free_units, free_mw))
            if n > 0:
                racks[i] = (free_units - n * size.units, free_mw - n * size.power_mw, held + Counter({size: n}))
                left -= n
        while left:
            n = min(left, most_of(size, units, power_mw))
            racks.append((units - n * size.units, power_mw - n * size.power_mw, Counter({size: n})))
            left -= n
    return [tuple(sorted(held.items())) for _, _, held in racks]


def _exact(boxes: tuple[tuple[Size, int], ...], units: int, power_mw: int, most: int) -> list[Rackful]:
    """The fewest racks over every way to fill one, as an integer program of its own."""
    from ortools.sat.python import cp_model

    fillings = list(_fillings(boxes, units, power_mw))
    cp = cp_model.CpModel()
    racks = [cp.new_int_var(0, most, f"filling_{i}") for i in range(len(fillings))]
    for size, n in boxes:
        cp.add(sum(filling.get(size, 0) * r for filling, r in zip(fillings, racks, strict=True)) >= n)
    cp.add(sum(racks) >= fewest(boxes, units, power_mw))
    cp.minimize(sum(racks))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    status = solver.solve(cp)
    if status != cp_model.OPTIMAL:
        raise RuntimeError(f"the fewest racks could not be found: {solver.status_name(status)}")
    left, found = dict(boxes), []
    for filling, r in zip(fillings, racks, strict=True):
        for _ in range(solver.value(r)):
            rack = {s: min(n, left[s]) for s, n in filling.items() if min(n, left[s])}
            for s, n in rack.items():
                left[s] -= n
            if rack:
                found.append(tuple(sorted(rack.items())))
    return found


def _fillings(boxes: tuple[tuple[Size, int], ...], units: int, power_mw: int) -> Iterator[dict[Size, int]]:
    """Every way to fill a rack to which no box of a size that comes last could be added."""
    if not boxes:
        yield {}
        return
    (size, count), *others = boxes
    most = min(count, most_of(size, units, power_mw))
    for n in range(most, -1, -1) if others else [most]:
        for rest in _fillings(tuple(others), units - n * size.units, power_mw - n * size.power_mw):
            yield {size: n, **rest} if n else rest
