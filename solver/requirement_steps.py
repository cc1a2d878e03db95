"""How far each requirement can move before other switches are built, and what that costs.

Every value named as the last that holds, and the first that does not, is solved. Where a requirement has a natural
order (a limit on power or latency, an oversubscription) the optimum cannot get better as it tightens, so the next
step is found by halving and is the true one; server counts and lengths are halved too, on whether the same switches
are built, and ``notes`` of the study says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, FabricName
from gpunet.models.study_sensitivity import Headroom, Step
from gpunet.solver.candidates import Compiled
from gpunet.solver.price_ranges import changes
from gpunet.solver.workbench import Answer, Workbench

MOST_MORE_SERVERS = 1.0
"""Server counts up to twice today's are looked at."""
MOST_OVERSUBSCRIPTION = 16.0
LEAST_NS = 0.001
"""Nanoseconds by which a latency limit is set below a latency."""
MOST_MORE_M = 200.0
"""Metres by which every run is lengthened at most."""


class Question(NamedTuple):
    """One requirement, moved in one direction."""

    setting: str
    direction: str
    unit: str
    start: float
    values: tuple[float, ...]
    """Values to look at, nearest first; for a limit the first only, the next follow from what is found there."""


def questions(bench: Workbench, today: Answer) -> list[Question]:
    """The requirements of a case that can be moved, with the values that can matter."""
    case = today.case
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    servers = compiled.machines.n_servers
    more = range(1, math.ceil(servers * MOST_MORE_SERVERS) + 1)
    found = [
        Question("cluster.servers", "up", "servers", servers, tuple(float(servers + n) for n in more)),
        Question(
            "cluster.growth",
            "up",
            "share",
            case.cluster.growth,
            tuple(n / servers for n in range(math.ceil(case.cluster.growth * servers) + 1, 2 * servers + 1)),
        ),
        Question(
            "site.slack_m",
            "up",
            "m",
            case.site.slack_m,
            tuple(case.site.slack_m + n for n in range(1, int(MOST_MORE_M) + 1)),
        ),
    ]
    for name in (FabricName.BACKEND, FabricName.STORAGE, FabricName.FRONTEND):
        spec = getattr(case.fabrics, name.value)
        if spec is None or name not in {*today.templates, FabricName.STORAGE}:
            continue
        where, start = f"fabrics.{name.value}.oversubscription", spec.oversubscription
        looser = tuple(start + n / 100 for n in range(1, round((MOST_OVERSUBSCRIPTION - start) * 100) + 1))
        found.append(Question(where, "up", "ratio", start, looser))
        if start > 1:
            found.append(
                Question(
                    where,
                    "down",
                    "ratio",
                    start,
                    tuple(start - n / 100 for n in range(1, round((start - 1) * 100) + 1)),
                )
            )
        template = today.templates.get(name)
        if template is not None and template.facts.latency_ns is not None and template.tiers > 1:
            latency = template.facts.latency_ns
            found.append(Question(f"fabrics.{name.value}.latency_ns", "down", "ns", latency, (latency - LEAST_NS,)))
    assert today.weight is not None
    found.append(Question("limits.power_kw", "down", "kW", today.weight.power / 1e6, ((today.weight.power - 1) / 1e6,)))
    found += _rack_power(bench, compiled)
    return [q for q in found if q.values]


def _rack_power(bench: Workbench, compiled: Compiled) -> Iterator[Question]:
    """Rack powers at which one server more, or one fewer, fits a rack."""
    room, site = compiled.machines.room, bench.case.site
    fewer = room.servers_per_rack - 1
    if site.servers_per_rack is None:
        up = (room.servers_per_rack + 1) * room.server_mw / 1e6
        if site.rack.cooling_kw is None and (room.servers_per_rack + 1) * room.server_units <= site.rack.units:
            yield Question("site.rack.power_kw", "up", "kW", site.rack.power_kw, (up,))
    if fewer >= 1:
        down = (room.servers_per_rack * room.server_mw - 1) / 1e6
        if down < site.rack.power_kw:
            yield Question("site.rack.power_kw", "down", "kW", site.rack.power_kw, (down,))


def moved(case: Case, setting: str, value: float) -> Case:
    """The case with one setting at another value."""
    path = setting.split(".")
    if setting == "cluster.servers":
        cluster = case.cluster.model_copy(update={"servers": round(value), "gpus": None})
        return case.model_copy(update={"cluster": cluster})

    def put(model: Any, names: list[str]) -> Any:
        name, *rest = names
        return model.model_copy(update={name: put(getattr(model, name), rest) if rest else value})

    found: Case = put(case, path)
    return found


def step_of(bench: Workbench, question: Question) -> dict[str, Any]:
    """The next step of one requirement, as data for JSON."""
    today, values = bench.at({}), question.values

    def at(value: float) -> Answer:
        return bench.of(moved(bench.case, question.setting, value))

    before, holds = today, None
    there: Answer | None = None
    next_value: float | None = None
    if question.setting in LIMITS or question.setting.endswith("latency_ns"):
        before, holds, there, next_value = _descend(question, today, at)
    else:
        monotone = question.setting.endswith("oversubscription")
        differs = _other_value if monotone else _other_kinds if question.setting == "site.slack_m" else _other_switches
        if monotone and not differs(today, at(values[-1])):
            first = None
        else:
            first = _first(lambda i: differs(today, at(values[i])), len(values))
        if first is not None:
            holds, next_value, there = (
                (values[first - 1] if first else question.start),
                values[first],
                at(values[first]),
            )
            # Where the optimum is worth the same, today's design serves too, whatever that optimum is built with.
            before = today if first == 0 or monotone else at(values[first - 1])
    weight = None if there is None else there.weight
    assert before.weight is not None
    return Step(
        setting=question.setting,
        direction=question.direction,
        unit=question.unit,
        value=question.start,
        holds_to=_plain(holds),
        next_value=_plain(next_value),
        cost_change_usd=None if weight is None else (weight.cost - before.weight.cost) / 100,
        power_change_w=None if weight is None else (weight.power - before.weight.power) / 1000,
        change=()
        if there is None
        else changes(bench.catalog, before.parts or {}, there.parts)
        if there.parts
        else ("no design",),
        looked_to=values[-1] if next_value is None else next_value,
    ).model_dump(mode="json")


LIMITS = {"limits.power_kw"}


def _descend(question: Question, today: Answer, at: Callable[[float], Answer]) -> tuple[Answer, float, Answer, float]:
    """Tighten a limit to just below what the design needs, again and again, until the optimum gets worse."""
    before, holds = today, question.start
    value = question.values[0]
    while True:
        there = at(value)
        if there.weight is None or there.value != today.value:
            return before, holds, there, value
        before = there
        if question.setting in LIMITS:
            assert there.weight is not None
            holds, value = there.weight.power / 1e6, (there.weight.power - 1) / 1e6
        else:
            latency = there.templates[FabricName(question.setting.split(".")[1])].facts.latency_ns
            assert latency is not None
            holds, value = latency, latency - LEAST_NS


def _plain(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _first(differs: Callable[[int], bool], n: int) -> int | None:
    """The first of ``n`` values that differs, found by doubling and halving; none when the last does not."""
    low, step = -1, 1
    while True:
        high = min(low + step, n - 1)
        if differs(high):
            break
        if high == n - 1:
            return None
        low, step = high, step * 2
    while high - low > 1:
        middle = (low + high) // 2
        if differs(middle):
            high = middle
        else:
            low = middle
    return high


def switches_of(answer: Answer) -> dict[str, int]:
    """Switches of a design by fabric, tier and model."""
    summary = answer.summary()
    if summary is None:
        return {}
    return {f"{name} {what}": n for name, fabric in summary.fabrics.items() for what, n in fabric.switches.items()}


def _other_switches(today: Answer, there: Answer) -> bool:
    return switches_of(today) != switches_of(there)


def _other_value(today: Answer, there: Answer) -> bool:
    return there.weight is None or there.value != today.value


def _other_kinds(today: Answer, there: Answer) -> bool:
    """Whether anything but stock lengths differs."""

    def kinds(answer: Answer) -> set[str]:
        return {split_medium_id(part)[0] for part in answer.parts or {}}

    return there.weight is None or kinds(today) != kinds(there) or _other_switches(today, there)


def headroom(today: Answer) -> tuple[Headroom, ...]:
    """What is paid for and not used: free cages by tier, watts and money below limits."""
    found = []
    for name, t in today.templates.items():
        for wing in t.wings or (t,):
            used: dict[str, int] = {}
            for face, cages in wing.leaf_uses():
                used[face.group.name] = used.get(face.group.name, 0) + cages
            free = sum(g.count - used.get(g.name, 0) for g in wing.leaf.cages if g.fabric)
            found.append(
                Headroom(
                    what="free cages",
                    where=f"{name.value} leaf {wing.leaf.id}",
                    amount=free * wing.n_leaves,
                    unit="cages",
                )
            )
        for tier, upper, lower, count in (
            ("spine", t.spine, t.leaves_per_pod, t.n_spines),
            ("core", t.core, t.n_pods, t.n_cores),
        ):
            if upper is None or t.wings:
                continue
            taken = t.down_cages(upper, lower) + (t.up_cages(t.core) if tier == "spine" and t.core is not None else 0)
            free = sum(g.count for g in upper.switch.cages if g.fabric) - taken
            found.append(
                Headroom(
                    what="free cages", where=f"{name.value} {tier} {upper.switch.id}", amount=free * count, unit="cages"
                )
            )
    assert today.weight is not None
    assert today.data is not None
    for setting, limit, used_mw in (
        ("limits.power_kw", today.data.power_limit, today.weight.power),
        ("site.power_kw", today.data.site_limit, today.weight.power + today.data.servers_mw),
    ):
        if limit is not None:
            found.append(Headroom(what="watts below a limit", where=setting, amount=(limit - used_mw) / 1000, unit="W"))
    if today.data.cost_limit is not None:
        found.append(
            Headroom(
                what="money below a limit",
                where="limits.cost_usd",
                amount=(today.data.cost_limit - today.weight.cost) / 100,
                unit="USD",
            )
        )
    return tuple(found)
