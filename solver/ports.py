"""What a switch's ports can do at once: modes, hot cages, logical-port and pipeline limits."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from gpunet.models.parts import CageGroup, PortMode, Protocol, Switch


class Face(NamedTuple):
    """A cage group of a switch run at one split: all its links have one speed."""

    group: CageGroup
    ports: int
    """Logical ports in one cage."""
    speed_gbps: float
    modes: tuple[PortMode, ...]
    """Ways to run that split: equal ports and speed, other lanes."""
    hot: bool
    """True for the cages with the higher module limit only."""

    @property
    def cages(self) -> int:
        """Cages available."""
        return self.group.hot.count if self.hot and self.group.hot else self.group.count


Use = tuple[Face, int]
"""A face and the cages taken from it."""


def faces(switch: Switch, protocol: Protocol) -> list[Face]:
    """Every face a switch can show to a fabric."""
    return list(_faces(switch.cages, protocol))


@cache
def _faces(cages: tuple[CageGroup, ...], protocol: Protocol) -> tuple[Face, ...]:
    found = []
    for group in cages:
        if not group.fabric:
            continue
        splits = sorted({(m.ports, m.speed_gbps) for m in group.modes if protocol in m.protocols})
        for ports, speed in splits:
            modes = tuple(
                m for m in group.modes if (m.ports, m.speed_gbps) == (ports, speed) and protocol in m.protocols
            )
            found.append(Face(group, ports, speed, modes, hot=False))
            if group.hot is not None:
                found.append(Face(group, ports, speed, modes, hot=True))
    return tuple(found)


def fits(switch: Switch, uses: Sequence[Use]) -> bool:
    """True when the switch can give all these cages at once.

    Cages of a group are shared by its faces; hot cages are part of their group. Logical ports are limited for
    the whole switch and, where the silicon has pipelines, for each set of cages that share one.
    """
    by_group: dict[str, int] = {}
    hot: dict[str, int] = {}
    logical = 0
    for face, cages in uses:
        name = face.group.name
        by_group[name] = by_group.get(name, 0) + cages
        if face.hot:
            hot[name] = hot.get(name, 0) + cages
        logical += cages * face.ports
    for group in switch.cages:
        if by_group.get(group.name, 0) > group.count:
            return False
        if group.hot is not None and hot.get(group.name, 0) > group.hot.count:
            return False
    if switch.max_logical_ports is not None and logical > switch.max_logical_ports.v:
        return False
    return _pipelines_hold(switch, uses)


def _pipelines_hold(switch: Switch, uses: Sequence[Use]) -> bool:
    share, limit = switch.cages_per_pipeline, switch.ports_per_pipeline
    if share is None or limit is None or all(face.ports * share <= limit for face, cages in uses if cages):
        return True
    return max(map(sum, pipeline_shares(switch, uses)), default=0) <= limit


def pipeline_shares(switch: Switch, uses: Sequence[Use]) -> list[list[int]]:
    """Ports per cage, pipeline by pipeline, dealt so that the fullest pipeline is as empty as can be.

    Fullest cages first, each to the emptiest pipeline that has a cage left. With two cages a pipeline that is the best
    deal there is; with more it is nearly so, and what it deals always holds.
    """
    share = switch.cages_per_pipeline or 1
    loads = sorted((face.ports for face, cages in uses for _ in range(cages)), reverse=True)
    pipelines = sum(g.count for g in switch.cages if g.fabric) // share
    dealt: list[list[int]] = [[] for _ in range(pipelines)]
    emptiest = [(0, i) for i in range(pipelines)]
    for load in loads[: pipelines * share]:
        total, i = heapq.heappop(emptiest)
        dealt[i].append(load)
        if len(dealt[i]) < share:
            heapq.heappush(emptiest, (total + load, i))
    return [found + [0] * (share - len(found)) for found in dealt]


def cage_numbers(switch: Switch, uses: Sequence[Use]) -> list[list[int]]:
    """Cage numbers, from 1, for each use, such that hot modules sit in hot cages and every pipeline holds.

    The uses must fit. Cages are given out in order, except where pipelines force fuller cages apart.
    """
    if not _in_order_holds(switch, uses):
        return _dealt_numbers(switch, uses)
    free = {g.name: list(range(1, g.count + 1)) for g in switch.cages}
    hot = {g.name: hot_numbers(g) for g in switch.cages}
    found: list[list[int]] = [[] for _ in uses]
    wants_hot = sorted(range(len(uses)), key=lambda i: not uses[i][0].hot)
    for i in wants_hot:
        face, cages = uses[i]
        name = face.group.name
        pool = free[name]
        if face.hot:
            order = [n for n in pool if n in hot[name]]
        else:
            order = [n for n in pool if n not in hot[name]] + [n for n in pool if n in hot[name]]
        found[i] = order[:cages]
        taken = set(found[i])
        free[name] = [n for n in pool if n not in taken]
    return found


def hot_numbers(group: CageGroup) -> set[int]:
    """Numbers of the cages with the higher limit, read from the vendor's list such as ``1,5,9-61``."""
    if group.hot is None:
        return set()
    text = group.hot.port_numbers.replace(" ", "")
    numbers: set[int] = set()
    for piece in filter(None, text.split(",")):
        if piece == "...":
            continue
        low, _, high = piece.partition("-")
        numbers.update(range(int(low), int(high or low) + 1))
    if len(numbers) == group.hot.count:
        return numbers
    return set(range(1, group.hot.count + 1))


def _in_order_holds(switch: Switch, uses: Sequence[Use]) -> bool:
    share, limit = switch.cages_per_pipeline, switch.ports_per_pipeline
    return share is None or limit is None or all(face.ports * share <= limit for face, cages in uses if cages)


def _dealt_numbers(switch: Switch, uses: Sequence[Use]) -> list[list[int]]:
    """Cage numbers where pipelines force fuller cages apart: fullest first, each to the emptiest pipeline that has a
    cage of its kind left, hot modules to hot cages."""
    share, limit = switch.cages_per_pipeline or 1, switch.ports_per_pipeline or math.inf
    free, pipeline_of = _free_cages(switch, share)
    taken: dict[int, int] = {}
    hot = {g.name: hot_numbers(g) for g in switch.cages}
    found: list[list[int]] = [[] for _ in uses]
    wanted_hot = Counter[str]()
    for face, cages in uses:
        wanted_hot[face.group.name] += cages if face.hot else 0
    asked = [(face, i) for i, (face, cages) in enumerate(uses) for _ in range(cages)]
    for face, i in sorted(asked, key=lambda x: (-x[0].ports, not x[0].hot, x[1])):
        name = face.group.name
        still_hot = [n for n in free[name] if n in hot[name]]
        spare_hot = len(still_hot) > wanted_hot[name]
        usable = still_hot if face.hot else [n for n in free[name] if spare_hot or n not in hot[name]]
        wanted_hot[name] -= face.hot

        def burden(n: int, face: Face = face, name: str = name) -> tuple[bool, int, bool, int]:
            load = taken.get(pipeline_of[name, n], 0)
            return load + face.ports > limit, load, not face.hot and n in hot[name], n

        number = min(usable, key=burden)
        taken[pipeline_of[name, number]] = taken.get(pipeline_of[name, number], 0) + face.ports
        free[name].remove(number)
        found[i].append(number)
    return [sorted(numbers) for numbers in found]


def _free_cages(switch: Switch, share: int) -> tuple[dict[str, list[int]], dict[tuple[str, int], int]]:
    """Cage numbers of every group, and the pipeline of each cage; groups follow one another over the pipelines."""
    free: dict[str, list[int]] = {}
    pipeline_of: dict[tuple[str, int], int] = {}
    seen = 0
    for group in switch.cages:
        if group.fabric:
            free[group.name] = list(range(1, group.count + 1))
            for n in free[group.name]:
                pipeline_of[group.name, n] = seen // share
                seen += 1
    return free, pipeline_of
