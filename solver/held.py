"""Every template that an instance must hold within the cutoffs of its groups, and those that stand in for others."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from gpunet.models.case import FabricName, Objective
from gpunet.solver.candidates import Compiled, Finder, Held, instance, oob_scopes, passes, span_of
from gpunet.solver.dominance import undominated
from gpunet.solver.purchase_bound import most_weight, not_outweighed, pieces_in_all
from gpunet.solver.racks_bound import by_racks_alone, lean
from gpunet.solver.scope import OBJECTIVES, Cutoff, Scope, StandIn
from gpunet.solver.space import fit_room
from gpunet.solver.template import Template

FIRST_PIECES = 10_000
"""Pieces of one part in the largest design, as first guessed."""

Group = tuple[FabricName, bool]
"""A fabric, and whether its switches carry storage beside it: a choice has at most one template of each group."""


@dataclass(frozen=True)
class Kept:
    """Every template of a group that weighs at most ``limit`` on the first objective."""

    templates: list[Template]
    limit: int


def groups(compiled: Compiled) -> dict[Group, list[Scope]]:
    """The scopes of every fabric but out-of-band, by group."""
    found: dict[Group, list[Scope]] = {}
    for fabric, scopes in compiled.scopes.items():
        for scope in scopes:
            found.setdefault((fabric, scope.carries_storage), []).append(scope)
    return found


def ceilings_of(compiled: Compiled) -> dict[Objective, int]:
    """Ceilings on what templates weigh: cost without adapters, power without machines."""
    probe = instance(compiled, {})
    found = {}
    if probe.cost_limit is not None:
        found[Objective.COST] = probe.cost_limit - compiled.fixed.cost
    powers = [p for p in (probe.power_limit, probe.site_limit) if p is not None]
    if probe.site_limit is not None:
        powers[-1] = probe.site_limit - probe.servers_mw
    if powers:
        found[Objective.POWER] = min(powers)
    return found


def by_fabric(compiled: Compiled, found: dict[Group, list[Template]]) -> Held:
    """Templates of all groups but out-of-band, by fabric."""
    held: Held = {fabric: [] for fabric in compiled.scopes if fabric is not FabricName.OOB}
    for (fabric, _), templates in found.items():
        held[fabric] += templates
    return held


def held_within(
    compiled: Compiled,
    cutoffs: dict[Group, Cutoff],
    first: Objective,
    kept: dict[Group, Kept],
    finder: Finder,
) -> Held:
    """Every template that a best design may have within its group's cutoff; those kept are all up to their limit.

    Where spares leave the proof much room, stand-ins take most of it away again. What they add at most depends on the
    pieces in the largest design, which is known once templates are found; so is whether all of them have room.
    """
    limits = compiled.case.limits
    rack_usd = compiled.case.site.rack.cost_usd
    counted = any(x is not None for x in (limits.skus, limits.vendors, limits.racks, rack_usd, compiled.case.site.tray))
    told_by_weight = not counted and not set(ceilings_of(compiled)) - {first}
    rules = compiled.prices.rules
    # Under the discount of a vendor one more piece may add nothing, so no least weight says what a template adds.
    if not (told_by_weight and rules.has_spares and not rules.discounts):
        held = every_within(compiled, cutoffs, first, kept, finder, True, None)
        return lean(held, first) if by_racks_alone(compiled) and not set(ceilings_of(compiled)) - {first} else held
    pieces = FIRST_PIECES
    while True:
        held = every_within(compiled, cutoffs, first, kept, finder, True, pieces)
        largest = pieces_in_all(held.values())
        if largest <= pieces:
            break
        pieces = 2 * largest
    if fit_room(compiled.machines.room, list(held.values())):
        return held
    return every_within(compiled, cutoffs, first, kept, finder, True, None)


def every_within(
    compiled: Compiled,
    cutoffs: dict[Group, Cutoff],
    first: Objective,
    kept: dict[Group, Kept],
    finder: Finder,
    thinned: bool,
    pieces: int | None,
) -> Held:
    """Every template within its group's cutoff, or with ``pieces`` in the largest design those no stand-in replaces."""
    found: dict[Group, list[Template]] = {}
    for group, scopes in groups(compiled).items():
        if group not in cutoffs:
            continue
        cutoff = cutoffs[group]
        if cutoff.most[first] <= kept[group].limit:
            found[group] = [t for t in kept[group].templates if passes(t, cutoff)]
        else:
            found[group] = finder.within(scopes, _tightened(compiled, scopes, cutoff, first, pieces, finder), first)
        limits = compiled.case.limits
        many = limits.vendors is not None or limits.skus is not None or any(s.spec.mixed_leaves for s in scopes)
        if thinned and (many or pieces is not None):
            # These leave many templates in; those beaten in every count would only slow the solver down.
            found[group] = undominated(found[group])
        if pieces is not None:
            found[group] = not_outweighed(compiled.measures[group[0]], found[group], first, pieces)
    return with_oob(compiled, by_fabric(compiled, found), first, cutoffs.get((FabricName.OOB, False)), finder, pieces)


def with_oob(
    compiled: Compiled,
    held: Held,
    first: Objective,
    cutoff: Cutoff | None,
    finder: Finder,
    pieces: int | None = None,
) -> Held:
    """Add out-of-band templates for every number of switches that the held ones can bring.

    Without a cutoff: the best of every size.
    """
    if FabricName.OOB not in compiled.scopes:
        return dict(held)
    found: list[Template] = []
    for scope in oob_scopes(compiled, span_of(compiled, held)):
        if cutoff is None:
            found += finder.near([scope], first, 0)
        else:
            found += finder.within([scope], _tightened(compiled, [scope], cutoff, first, pieces, finder), first)
    return {**held, FabricName.OOB: found}


def _tightened(
    compiled: Compiled, scopes: list[Scope], cutoff: Cutoff, first: Objective, pieces: int | None, finder: Finder
) -> Cutoff:
    """A cutoff with the best templates of a group as stand-ins, where spares and terms of sale leave the proof room.

    A stand-in takes the place of any template that has no fewer switches and weighs more, parts at their least, than
    the stand-in can ever add: so no such template is in a best design. Room is looked at afterwards (``fit_room``).
    """
    if pieces is None:
        return cutoff
    found = []
    for t in finder.near(scopes, first, 0):
        most = most_weight(compiled.measures[t.fabric], t, first, pieces)
        if most is not None:
            found.append(StandIn(t.n_leaves, t.n_spines + t.n_cores, OBJECTIVES.index(first), most))
    return dataclasses.replace(cutoff, stand_ins=tuple(found))
