"""Which limits of a case cannot hold together, and which must give way together.

A clash is a set of named settings: with every other limit lifted, a case that keeps these has no design, and one that
keeps all of them but any one has a design. It is found by letting go of limits, in blocks and then one by one, as long
as there is still no design.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpunet.models.case import Case
from gpunet.solver.least_change import Change, least_change
from gpunet.solver.lifts import Limit, Order, limits_of, put, without
from gpunet.solver.workbench import Answer, Workbench


def known_limits(bench: Workbench) -> list[Limit]:
    """Every limit of the case of a workbench, in the order in which they are let go."""
    compiled = bench.compiled
    zones = None
    if not isinstance(compiled, str):
        room = compiled.machines.room
        zones = room.leaf_width, room.central_width
    return limits_of(bench.case, bench.catalog, zones)


def keeping(case: Case, limits: Sequence[Limit], kept: Iterable[Limit]) -> list[Case]:
    """The case with all limits lifted but those kept: it has a design when one of these has.

    Settings that ask for something else rather than for less are lifted and, in a second case, left as they are, for a
    limit that is lifted must never make a case harder.
    """
    names = {limit.setting for limit in kept}
    lifted = [limit for limit in limits if limit.setting not in names]
    plain = [limit for limit in lifted if not limit.is_choice]
    found = [without(case, lifted)]
    if len(plain) < len(lifted):
        found.append(without(case, plain))
    return found


def clashes(bench: Workbench) -> tuple[list[list[Limit]], list[Limit]]:
    """Clashes that share nothing but the size of the cluster, and sizes of the room that may help by themselves.

    The room is taken as it is where the case leaves its sizes at their defaults, unless a clash needs them. There is no
    clash where even a case without any limit has no design.
    """
    limits = known_limits(bench)
    usual = [limit for limit in limits if limit.order is Order.ROOM]
    found = _series(bench, [limit for limit in limits if limit.order is not Order.ROOM])
    if not found:
        return _series(bench, limits), []
    helpful = _solvable(bench, usual, ())
    return found, usual if helpful else []


def _series(bench: Workbench, limits: Sequence[Limit]) -> list[list[Limit]]:
    """Clash after clash among some limits, until the rest of them has a design."""
    left = list(limits)
    found: list[list[Limit]] = []
    while not _solvable(bench, limits, left):
        clash = _clash(bench, limits, left)
        gone = {limit.setting for limit in clash if not limit.is_cluster}
        if clash:
            found.append(clash)
        if not gone:
            break
        left = [limit for limit in left if limit.setting not in gone]
    return found


def _solvable(bench: Workbench, limits: Sequence[Limit], kept: Sequence[Limit]) -> bool:
    """Whether there is a design that keeps some of the limits."""
    return any(bench.has_design(case) for case in keeping(bench.case, limits, kept))


def _clash(bench: Workbench, limits: Sequence[Limit], among: Sequence[Limit]) -> list[Limit]:
    """A clash among some limits; empty where there is no design without them either."""
    held = _let_go(bench, limits, list(among), list(among))
    # Where a limit lifted made a case harder after all, one more round finds what can go.
    settled = False
    while not settled:
        settled = True
        for limit in list(held):
            fewer = [x for x in held if x is not limit]
            if not _solvable(bench, limits, fewer):
                held, settled = fewer, False
    return held


def _let_go(bench: Workbench, limits: Sequence[Limit], held: list[Limit], block: Sequence[Limit]) -> list[Limit]:
    """What is left of the held limits when as much as possible of a block has been let go."""
    fewer = [x for x in held if x not in block]
    if not _solvable(bench, limits, fewer):
        return fewer
    if len(block) == 1:
        return held
    half = len(block) // 2
    for part in (block[:half], block[half:]):
        held = _let_go(bench, limits, held, part)
    return held


def give_way(bench: Workbench, found: Sequence[Sequence[Limit]]) -> tuple[list[tuple[Limit, Change]], Answer] | None:
    """Limits that must give way together where no single one helps, each as little as will do after those before it.

    Each of them is needed. What is asked for is kept before ceilings are. None where even all of them together are not
    enough.
    """
    lifted = list({limit.setting: limit for clash in found for limit in clash}.values())
    if not bench.has_design(without(bench.case, lifted)):
        return None
    for limit in sorted(lifted, key=lambda x: x.order):
        fewer = [x for x in lifted if x is not limit]
        if bench.has_design(without(bench.case, fewer)):
            lifted = fewer
    answer = bench.of(without(bench.case, lifted))
    case, moved = without(bench.case, lifted), []
    for limit in lifted:
        # The value of the user is put back into the case of which the others have been lifted or moved.
        change = least_change(bench, put(case, limit.setting, limit.value), limit)
        if change is None:
            return None
        case = put(case, limit.setting, change.value)
        moved.append((limit, change))
    return moved, answer
