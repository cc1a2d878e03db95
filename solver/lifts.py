"""The limits of a case that can be taken away one at a time, and what to say when that helps.

A lift never moves anything in the user's case. It gives the case without one limit, minimising what that limit is
about, so that the answer is the smallest change that would do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.case import (
    Case,
    FabricBase,
    FabricName,
    Limits,
    Objective,
    PartFilter,
    Placement,
    Site,
    StorageMode,
    Striping,
)
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.layout import Room
from gpunet.solver.prices import Weight
from gpunet.solver.search import Found

EVERY_GRADE = ("OM3", "OM4", "OM5", "OS2")
MOST_TIERS = 3
WIDER_ZONES = (2, 4)
"""How many times wider the zones of network racks are tried."""
Counted = Callable[[Found], str]


@dataclass(frozen=True)
class Step:
    """One way to loosen a limit."""

    free: Callable[[Case], Case]
    """The case with the limit loosened."""
    say: Callable[[Found], str]
    """The sentence that tells what would be enough."""


@dataclass(frozen=True)
class Lift:
    """One limit taken away."""

    setting: str
    """The field of the case file."""
    steps: tuple[Step, ...]
    """Least change first; the last one takes the limit away as far as it goes."""
    aim: Objective | None = None
    """What to minimise without the limit: what it limits; the case's own objective when none."""

    def cases(self, case: Case) -> Iterator[tuple[Case, Step]]:
        """The case loosened step by step, each with its step."""
        for step in self.steps:
            freed = step.free(case)
            yield (freed if self.aim is None else freed.model_copy(update={"objective": self.aim})), step

    def away(self, case: Case) -> Case:
        """The case without this limit, its objective kept."""
        return self.steps[-1].free(case)


def lifts(case: Case, room: Room) -> list[Lift]:
    """Every limit of the case that differs from having none, in the order in which a person would look."""
    found = [*_ceilings(case.limits), *_site(case.site, room)]
    for name in FabricName:
        spec: FabricBase | None = getattr(case.fabrics, name.value)
        if spec is not None:
            found += _of_fabric(name, spec)
    if case.cluster.growth:
        found.append(_cluster("growth", f"{case.cluster.growth:g} asked; without growth a design exists", growth=0.0))
    if case.parts != PartFilter():
        found.append(
            _simple(
                "parts",
                lambda c: c.model_copy(update={"parts": PartFilter()}),
                lambda f: f"with every part allowed a design exists, using {switches(f)}",
            )
        )
    return found


def totals(found: Found) -> Weight:
    """What a solved case weighs, owned parts free."""
    choice, data = _solved(found)
    return choice.net(data)


def switches(found: Found, fabric: FabricName | None = None) -> str:
    """The switches of a solved case, for people: ``8 x ib-qm9700``."""
    counts: dict[str, int] = {}
    for name, t in _solved(found)[0].templates.items():
        if fabric is None or name is fabric:
            for part, n in t.switches.items():
                counts[part] = counts.get(part, 0) + n
    return ", ".join(f"{n} x {part}" for part, n in sorted(counts.items()))


def _solved(found: Found) -> tuple[Choice, Instance]:
    assert found.outcome.choice is not None
    assert found.data is not None
    return found.outcome.choice, found.data


def _simple(
    setting: str, free: Callable[[Case], Case], say: Callable[[Found], str], aim: Objective | None = None
) -> Lift:
    return Lift(setting, (Step(free, say),), aim)


def _limit(field: str, say: Callable[[Found], str], aim: Objective | None = None) -> Lift:
    return _simple(
        f"limits.{field}",
        lambda c: c.model_copy(update={"limits": c.limits.model_copy(update={field: None})}),
        say,
        aim,
    )


def _ceilings(limits: Limits) -> Iterator[Lift]:
    if limits.cost_usd is not None:
        yield _limit(
            "cost_usd",
            lambda f: (
                f"{limits.cost_usd:,.2f} allowed; the cheapest design that keeps every other limit costs "
                f"{totals(f).cost / 100:,.2f}"
            ),
            Objective.COST,
        )
    if limits.power_kw is not None:
        yield _limit(
            "power_kw",
            lambda f: (
                f"{limits.power_kw:g} kW allowed; the coolest design that keeps every other limit draws "
                f"{totals(f).power / 1e6:.3f} kW"
            ),
            Objective.POWER,
        )
    for field, counted, used in (
        ("vendors", "vendors", _vendors_used),
        ("skus", "distinct parts", _parts_used),
        ("racks", "network racks", _racks_used),
    ):
        value = getattr(limits, field)
        if value is not None:

            def say(found: Found, value: int = value, counted: str = counted, used: Counted = used) -> str:
                return f"{value} {counted} allowed; without this limit a design exists with {used(found)}"

            yield _limit(field, say)
    if limits.lead_time_weeks is not None:
        yield _limit(
            "lead_time_weeks",
            lambda f: (
                f"{limits.lead_time_weeks:g} weeks allowed; without this limit a design exists, using {switches(f)}"
            ),
        )


def _site(site: Site, room: Room) -> Iterator[Lift]:
    def without(**update: object) -> Callable[[Case], Case]:
        return lambda c: c.model_copy(update={"site": c.site.model_copy(update=update)})

    if site.power_kw is not None:
        yield _simple(
            "site.power_kw",
            without(power_kw=None),
            lambda f: (
                f"{site.power_kw:g} kW allowed; machines and the coolest network together draw "
                f"{(totals(f).power + _solved(f)[1].servers_mw) / 1e6:.3f} kW"
            ),
            Objective.POWER,
        )
    missing = [grade for grade in EVERY_GRADE if grade not in site.fibre]
    if missing:
        yield Lift("site.fibre", tuple(_grade_step(site, extra) for extra in [*([g] for g in missing), missing]))
    if site.switch_placement is Placement.TOP_OF_RACK:
        yield _simple(
            "site.switch_placement",
            without(switch_placement=Placement.ROW_END),
            lambda f: f"top-of-rack asked; with leaves at the row's end a design exists, using {switches(f)}",
        )

    def said(found: Found) -> str:
        per_row, central = _racks_needed(found)
        return (
            f"{room.leaf_width} places per row and {room.central_width} in the central zone are kept; a design that "
            f"takes {per_row} and {central} exists"
        )

    yield Lift(
        "site.network_racks_per_row, network_racks_central",
        tuple(
            Step(
                without(
                    network_racks_per_row=times * room.leaf_width, network_racks_central=times * room.central_width
                ),
                said,
            )
            for times in WIDER_ZONES
        ),
    )


def _grade_step(site: Site, extra: list[str]) -> Step:
    grades = (*site.fibre, *extra)

    def say(found: Found) -> str:
        choice, data = _solved(found)
        used = [p for p in choice.parts(data) if split_medium_id(p)[0] in data.catalog.fibres]
        new = [p for p in used if data.catalog.fibres[split_medium_id(p)[0]].grade in extra]
        longest = max(new or used, key=lambda p: split_medium_id(p)[1] or 0)
        return f"{', '.join(site.fibre)} allowed; adding {', '.join(extra)} is enough, with runs up to {longest}"

    return Step(lambda c: c.model_copy(update={"site": c.site.model_copy(update={"fibre": grades})}), say)


def _of_fabric(name: FabricName, spec: FabricBase) -> Iterator[Lift]:
    where = f"fabrics.{name.value}"

    def lifted(**update: object) -> Callable[[Case], Case]:
        def free(case: Case) -> Case:
            now = getattr(case.fabrics, name.value).model_copy(update=update)
            return case.model_copy(update={"fabrics": case.fabrics.model_copy(update={name.value: now})})

        return free

    def tiers(found: Found) -> str:
        n = _solved(found)[0].templates[name].tiers
        return f"{spec.max_tiers} allowed; {n} are enough, using {switches(found, name)}"

    if spec.max_tiers < MOST_TIERS:
        more = range(spec.max_tiers + 1, MOST_TIERS + 1)
        yield Lift(f"{where}.max_tiers", tuple(Step(lifted(max_tiers=n), tiers) for n in more))
    if spec.latency_ns is not None:
        yield _simple(
            f"{where}.latency_ns",
            lifted(latency_ns=None),
            lambda f: f"{spec.latency_ns:g} ns allowed; without this limit the best design has {_latency(f, name)}",
        )
    if spec.max_hops is not None:
        yield _simple(
            f"{where}.max_hops",
            lifted(max_hops=None),
            lambda f: f"{spec.max_hops} allowed; without this limit the best design has {_hops(f, name)} hops",
        )
    if spec.parts != PartFilter():
        yield _simple(
            f"{where}.parts",
            lifted(parts=PartFilter()),
            lambda f: f"with every part allowed a design exists, using {switches(f, name)}",
        )
    for field, least in (("min_leaves", 1), ("min_spines", 1), ("min_cores", 1)):
        if getattr(spec, field) > least:
            yield _simple(
                f"{where}.{field}",
                lifted(**{field: least}),
                lambda f, field=field: (  # type: ignore[misc]
                    f"{getattr(spec, field)} asked; without it a design exists, using {switches(f, name)}"
                ),
            )
    if spec.striping is Striping.PORTS:
        yield _simple(
            f"{where}.striping",
            lifted(striping=Striping.STRICT),
            lambda f: f"ports asked; with strict striping a design exists, using {switches(f, name)}",
        )
    for field in ("protocols", "topologies"):
        allowed = getattr(spec, field, ())
        every = type(spec).model_fields[field].default if allowed else ()
        if set(allowed) < set(every):
            yield _simple(
                f"{where}.{field}",
                lifted(**{field: every}),
                lambda f, field=field, allowed=allowed: (  # type: ignore[misc]
                    f"{', '.join(allowed)} allowed; with every one of the {field} a design exists, using "
                    f"{switches(f, name)}"
                ),
            )
    if getattr(spec, "mode", None) is StorageMode.CONVERGED:
        yield _simple(
            f"{where}.mode",
            lifted(mode=StorageMode.SEPARATE),
            lambda f: f"converged asked; a separate storage fabric can be built, using {switches(f, name)}",
        )


def _cluster(field: str, words: str, **update: object) -> Lift:
    return _simple(
        f"cluster.{field}",
        lambda c: c.model_copy(update={"cluster": c.cluster.model_copy(update=update)}),
        lambda f: f"{words}, using {switches(f)}",
    )


def _latency(found: Found, fabric: FabricName) -> str:
    latency = _solved(found)[0].templates[fabric].facts.latency_ns
    return "no published latency" if latency is None else f"{latency:,.0f} ns"


def _hops(found: Found, fabric: FabricName) -> int:
    return 2 * _solved(found)[0].templates[fabric].tiers - 1


def _parts_used(found: Found) -> str:
    choice, data = _solved(found)
    return str(len(choice.parts(data)))


def _vendors_used(found: Found) -> str:
    choice, data = _solved(found)
    vendors = sorted({data.vendor(p) for p in choice.parts(data)})
    return f"{len(vendors)} ({', '.join(vendors)})"


def _racks_needed(found: Found) -> tuple[int, int]:
    """Network racks that a design fills: in the fullest row, and in the central zone."""
    choice, data = _solved(found)
    room = data.machines.room
    facts = [t.facts for t in choice.templates.values()]
    fill = data.central_room // max(1, room.central_width)
    return math.ceil(sum(x.leaf_load for x in facts) / fill), math.ceil(sum(x.central_load for x in facts) / fill)


def _racks_used(found: Found) -> str:
    per_row, central = _racks_needed(found)
    return str(_solved(found)[1].machines.room.rows * per_row + central)
