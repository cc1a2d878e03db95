"""Whether the switches of a choice have places: in the zones, and on top of servers.

Racks are filled first-fit, which turns a switch away only when the others fill every rack beyond what it would leave.
So whatever goes into a zone of W racks finds its place when all of it, and W - 1 times the largest switch of it, are at
most W racks. The largest is of what is chosen, not of what is only allowed: a part that nobody takes takes no place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gpunet.solver.layout import Room
from gpunet.solver.template import Facts, Measure, Template

Groups = Sequence[Iterable[Template]]
"""Templates of which one each is chosen."""


def fit_zones(room: Room, groups: Groups) -> bool:
    """Whether every choice of one template of each group has places in the zones."""
    return (
        _most(groups, lambda x: x.leaf_load) + _largest(groups, lambda x: x.leaf_reserve) <= room.leaf_room
        and _most(groups, lambda x: x.central_load) + _largest(groups, lambda x: x.central_reserve) <= room.central_room
    )


def fit_on_top(room: Room, groups: Groups) -> bool:
    """Whether every choice of one template of each group has places on top of servers."""
    return _most(groups, lambda x: x.top_units) <= room.free_units and _most(groups, lambda x: x.top_mw) <= room.free_mw


def fit_room(room: Room, groups: Groups) -> bool:
    """Whether every choice of one template of each group has all its places."""
    return fit_zones(room, groups) and fit_on_top(room, groups)


def uppers_fit(measure: Measure, t: Template) -> bool:
    """Whether spines and cores alone have places, before anything else of a template is known.

    True where network racks are counted one by one: then packing decides, not this rule.
    """
    room = measure.room
    if room.counts_network_racks:
        return True
    shares = [(measure.rack_share(u.switch), n) for u, n in ((t.spine, t.n_spines), (t.core, t.n_cores)) if u]
    reserve = (room.central_width - 1) * max((share for share, _ in shares), default=0)
    return sum(share * n for share, n in shares) + reserve <= room.central_room


def _most(groups: Groups, of: Callable[[Facts], int]) -> int:
    return sum(max((of(t.facts) for t in ts), default=0) for ts in groups)


def _largest(groups: Groups, of: Callable[[Facts], int]) -> int:
    return max((of(t.facts) for ts in groups for t in ts), default=0)
