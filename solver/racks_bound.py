"""What network racks cost at least, and which templates they leave out of the proof."""

from __future__ import annotations

from gpunet.models.case import FabricName, Objective
from gpunet.models.evidence import usd_to_cents
from gpunet.solver.candidates import Compiled, Held, access_ports
from gpunet.solver.network_racks import size_of
from gpunet.solver.stands import Stand
from gpunet.solver.template import Template


def racks_floor(compiled: Compiled, objective: Objective) -> int:
    """What the network racks of any design cost at least, cents; 0 where they have no price, and for power."""
    cost_usd = compiled.case.site.rack.cost_usd
    return 0 if cost_usd is None or objective is Objective.POWER else _fewest(compiled) * usd_to_cents(cost_usd)


def _fewest(compiled: Compiled) -> int:
    """One rack where some leaf stands on no rack of servers; one more where management leaves need a spine."""
    always = [f for f in compiled.scopes if not (f is FabricName.STORAGE and compiled.storage_optional)]
    if all(compiled.measures[f].on_racks for f in always):
        return 0
    if compiled.endpoints is None or compiled.machines.room.network_places_together:
        return 1
    widest = max((n for s in compiled.eligible[FabricName.OOB].switches for n in access_ports(s)), default=0)
    return 1 if compiled.endpoints.future_cages <= widest else 2


def by_racks_alone(compiled: Compiled) -> bool:
    """Whether network racks and management ports are all that the fabrics share."""
    limits, rules = compiled.case.limits, compiled.prices.rules
    counted = compiled.machines.room.counts_network_racks and compiled.case.site.tray is None
    return counted and limits.skus is None and limits.vendors is None and rules.is_plain and not rules.owned


def lean(held: Held, first: Objective) -> Held:
    """Templates without those that another betters: as many switches at the same places, none larger, for less.

    In any design the other stands in for such a template, with the same ports to manage and no rack more.
    """
    found: Held = {}
    for fabric, templates in held.items():
        alike: dict[object, list[tuple[tuple[int, ...], Template]]] = {}
        for t in templates:
            alike.setdefault(id(t) if t.wings else _form(t), []).append((_sizes(t), t))
        kept = []
        for some in alike.values():
            smallest = _smallest(some, first)
            for sizes, t in some:
                least = t.facts.least[first]
                if not any(x.facts.least[first] < least and _no_larger(own, sizes) for own, x in smallest):
                    kept.append(t)
        found[fabric] = kept
    return found


def _no_larger(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


def _smallest(some: list[tuple[tuple[int, ...], Template]], first: Objective) -> list[tuple[tuple[int, ...], Template]]:
    """The cheapest template of every set of sizes."""
    best: dict[tuple[int, ...], Template] = {}
    for sizes, t in some:
        if sizes not in best or t.facts.least[first] < best[sizes].facts.least[first]:
            best[sizes] = t
    return list(best.items())


def _form(t: Template) -> object:
    """Where switches stand and what they manage, whatever their sizes."""
    ports = t.downs[0].cages * t.downs[0].ports if t.management else 0
    places: dict[Stand, int] = {}
    for stand, n in t.facts.stands.items():
        place = stand._replace(units=0, power_mw=0)
        places[place] = places.get(place, 0) + n
    counts = (t.n_leaves, t.central_leaves, t.n_spines, t.n_cores, t.facts.row_switches, t.facts.central_switches)
    return t.carries_storage, ports, counts, frozenset(places.items())


def _sizes(t: Template) -> tuple[int, ...]:
    """Units and watts of a leaf, a spine and a core; what does not exist takes nothing."""
    uppers = [u.switch for u in (t.spine, t.core) if u is not None]
    found = [n for switch in (t.leaf, *uppers) for n in size_of(switch)]
    return (*found, t.facts.leaf_load, t.facts.central_load, t.facts.top_units, t.facts.top_mw)
