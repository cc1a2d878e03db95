"""Constraint families of the room: what the switches of a design take of its racks (symbols as in ``program.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpunet.solver.program import Formulation


def network_space(f: Formulation) -> None:
    r"""The switches of every zone fit the W rack places kept for it, by units and by watts.

    sum_t leaf[t] z[t] + (W_leaf - 1) sum_{t of f} largest[t] z[t] <= W_leaf   for every fabric f, in shares of a rack;
    the same in the central zone, each with the largest switch that t has there: first-fit may leave so much free.
    Where racks have a price or a limit they are counted one by one in place of this (network_racks).
    """
    from pulp import lpSum

    room = f.data.machines.room
    if f.data.racks is not None:
        return
    leaves = lpSum(t.facts.leaf_load * z for t, z in f.chosen())
    central = lpSum(t.facts.central_load * z for t, z in f.chosen())
    for fabric in f.z:
        beside = list(f.chosen([fabric]))
        f.add("network_space", leaves + lpSum(t.facts.leaf_reserve * z for t, z in beside) <= room.leaf_room)
        f.add("network_space", central + lpSum(t.facts.central_reserve * z for t, z in beside) <= room.central_room)


def top_of_rack_space(f: Formulation) -> None:
    r"""Leaves on top of servers fit what the fullest rack has left, by units and by watts.

    sum_t units[t] z[t] <= free units;  sum_t watts[t] z[t] <= free watts
    """
    from pulp import lpSum

    room = f.data.machines.room
    if any(t.facts.top_units for t, _ in f.chosen()):
        f.add("top_of_rack_space", lpSum(t.facts.top_units * z for t, z in f.chosen()) <= room.free_units)
        f.add("top_of_rack_space", lpSum(t.facts.top_mw * z for t, z in f.chosen()) <= room.free_mw)


def network_racks(f: Formulation) -> None:
    r"""A rack counts wherever a switch stands, and holds no more than its units and its watts; a zone has so many.

    for every zone: units * R >= sum_t units[t] z[t];  watts * R >= sum_t watts[t] z[t];
    per rack[s] * R >= sum_t n[t,s] z[t] for every size s of switch
    R <= places of the zone
    R >= racks * (sum_f sum_{t in members of f} z[t] - fabrics + 1) where packing a choice has shown that it needs more
    """
    from pulp import lpSum

    if f.data.racks is None:
        return
    for g, group in enumerate(f.data.racks.groups):
        racks = f.var(f"racks_{g}", group.most)
        f.racks.append(racks)
        for loads, holds in f.data.racks.bounds(g):
            taken = lpSum(loads[id(t)] * z for t, z in f.chosen() if id(t) in loads)
            f.add("network_racks", taken - holds * racks <= 0)
    f.told(f.data.racks.cuts)


def rack_limit(f: Formulation) -> None:
    r"""No more network racks than limits.racks, each zone packed into the fewest.

    sum over zones of R <= limit
    """
    limit = f.data.case.limits.racks
    if limit is not None and f.racks:
        f.add("rack_limit", f.network_racks() <= limit)
