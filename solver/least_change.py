"""How little one setting of a case must move for the case to have a design. Every value named is solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, FabricName, Objective
from gpunet.solver.admit import let_in, shut_out
from gpunet.solver.lifts import How, Limit, get, put, shown
from gpunet.solver.workbench import Answer, Workbench

BARELY_NS = 0.001
"""Nanoseconds by which a latency limit is set below the latency of a design."""
FEW = 3
"""Entries of a list that are written out."""
ANY_NS = 1e9
"""A latency that every design keeps whose switches publish theirs."""

_NOTHING = object()
"""Told apart from every value, of which none may be one."""


@dataclass(frozen=True)
class Change:
    """One setting moved as little as will do."""

    value: Any
    """The value, as the setting has it."""
    text: str
    """The value as a case file shows it; for lists what to add or to leave out."""
    words: str
    """A sentence about it."""
    answer: Answer
    """The design then."""


def least_change(bench: Workbench, case: Case, limit: Limit) -> Change | None:
    """The smallest change of one limit with which a case has a design; none when no change of it alone does.

    A ladder of values is halved: where asking for less can only help, the value found is the least change there is; of
    sizes of the room and counts of machines the value found has a design and its neighbour has none.
    """
    freed = limit.lifted(case)
    helps = bench.has_design(freed)
    if not helps and (limit.is_default or not limit.is_choice):
        return None
    if limit.how is How.LEAST:
        return _least(bench, case, limit)
    if limit.how is How.LATENCY:
        return _latency(bench, case, limit)
    if limit.how is How.PARTS:
        return _parts(bench, case, limit, bench.of(freed))
    value = _nearest(bench, case, limit)
    if value is _NOTHING:
        if not helps:
            return None
        value = limit.away
    answer = _at(bench, case, limit, value)
    return Change(value, shown(value), _words(limit, value, answer), answer)


def switches(answer: Answer) -> str:
    """The switches of a design, for people: ``8 x ib-qm9700``."""
    counts: dict[str, int] = {}
    for template in answer.templates.values():
        for part, n in template.switches.items():
            counts[part] = counts.get(part, 0) + n
    return ", ".join(f"{n} x {part}" for part, n in sorted(counts.items()))


def _at(bench: Workbench, case: Case, limit: Limit, value: Any) -> Answer:
    return bench.of(put(case, limit.setting, value))


def _nearest(bench: Workbench, case: Case, limit: Limit) -> Any:
    """The first value that has a design. Of a ladder it is taken that all values after it have one too."""
    values = limit.nearer

    def works(i: int) -> bool:
        return bench.has_design(put(case, limit.setting, values[i]))

    if limit.how is How.EACH:
        return next((values[i] for i in range(len(values)) if works(i)), _NOTHING)
    if not len(values):
        return _NOTHING
    low, high, step = -1, 0, 1
    while not works(high):
        if high == len(values) - 1:
            return _NOTHING
        low, high, step = high, min(high + step, len(values) - 1), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return values[high]


def _words(limit: Limit, value: Any, answer: Answer) -> str:
    """What was asked, what is enough, and with which switches."""
    unit, units = limit.unit, limit.unit
    if value == 1 and unit in (" servers", " ports", " vendors", " distinct parts", " network racks"):
        unit = unit.removesuffix("s")
    if limit.setting == "site.fibre":
        return _fibre_words(limit, value, answer)
    if value is None:
        return f"{limit.text}{units} {limit.verb}; without it a design exists, using {switches(answer)}"
    if isinstance(value, tuple):
        more = [str(x) for x in value if x not in limit.value]
        now = ", ".join(map(str, limit.value))
        return f"{now} {limit.verb}; adding {', '.join(more)} is enough, using {switches(answer)}"
    enough = "can be had" if limit.verb == "asked" else "are enough" if _is_many(value) else "is enough"
    return f"{limit.text}{units} {limit.verb}; {shown(value)}{unit} {enough}, using {switches(answer)}"


def _is_many(value: Any) -> bool:
    return isinstance(value, int) and value > 1


def _fibre_words(limit: Limit, value: Sequence[str], answer: Answer) -> str:
    assert answer.data is not None
    fibres = answer.data.catalog.fibres
    extra = [grade for grade in value if grade not in limit.value]
    used = [p for p in answer.parts or {} if split_medium_id(p)[0] in fibres]
    new = [p for p in used if fibres[split_medium_id(p)[0]].grade in extra]
    longest = max(new or used, key=lambda p: split_medium_id(p)[1] or 0)
    return f"{', '.join(limit.value)} allowed; adding {', '.join(extra)} is enough, with runs up to {longest}"


def _least(bench: Workbench, case: Case, limit: Limit) -> Change | None:
    """A ceiling on cost or power: the least of it that any design needs."""
    assert limit.aim is not None
    aimed = bench.of(limit.lifted(case).model_copy(update={"objective": limit.aim}))
    assert aimed.weight is not None
    assert aimed.data is not None
    needed = aimed.value
    if limit.setting == "site.power_kw":
        needed += aimed.data.servers_mw
    cost = limit.aim is Objective.COST
    value = needed / (100 if cost else 1_000_000)
    answer = _at(bench, case, limit, value)
    if not answer.is_optimal:
        return None
    least = f"{value:,.2f}" if cost else f"{value:,.{3 if needed % 1000 == 0 else 6}f} kW"
    allowed = f"{limit.value:,.2f}" if cost else f"{limit.text} kW"
    if cost:
        words = f"the cheapest design that keeps every other limit costs {least}"
    elif limit.setting == "site.power_kw":
        words = f"machines and the coolest network together draw {least}"
    else:
        words = f"the coolest design that keeps every other limit draws {least}"
    return Change(value, f"{value:.2f}" if cost else shown(value), f"{allowed} allowed; {words}", answer)


def _latency(bench: Workbench, case: Case, limit: Limit) -> Change | None:
    """The least latency of any design: halved, and ended where a design just a little quicker does not exist."""
    fabric = FabricName(limit.setting.split(".")[1])
    best = _at(bench, case, limit, ANY_NS)
    if not best.is_optimal:
        answer = bench.of(limit.lifted(case))
        words = "designs exist, but of switches that publish no latency"
        return Change(None, shown(None), f"{limit.text} ns {limit.verb}; {words}: {switches(answer)}", answer)
    low, high = float(limit.value), latency_ns(best, fabric)
    while high - low > BARELY_NS:
        # Once the bracket is narrow, a look just below the design in hand ends the search.
        middle = (low + high) / 2 if high - low > 1 else high - BARELY_NS
        tried = _at(bench, case, limit, middle)
        if tried.is_optimal:
            best, high = tried, latency_ns(tried, fabric)
        else:
            low = middle
    value = math.ceil(high * 1000 - 1e-6) / 1000
    answer = _at(bench, case, limit, value)
    words = f"the quickest design that keeps every other limit has {value:,.12g} ns, using {switches(answer)}"
    return Change(value, shown(value), f"{limit.text} ns {limit.verb}; {words}", answer)


def latency_ns(answer: Answer, fabric: FabricName) -> float:
    """The latency of a fabric, ns; that of the backend where it carries the storage fabric."""
    template = answer.templates.get(fabric) or answer.templates[FabricName.BACKEND]
    assert template.facts.latency_ns is not None
    return template.facts.latency_ns


def _parts(bench: Workbench, case: Case, limit: Limit, freed: Answer) -> Change | None:
    """Of the parts that a design without the list uses: as few as are enough, each of them needed."""
    where, field = limit.setting.rsplit(".", 1)
    part_filter = get(case, where)
    stopped = {p for parts in shut_out(case, bench.catalog).values() for p, by in parts.items() if by == limit.setting}
    used = {name for p in freed.parts or {} for name in (p, split_medium_id(p)[0])}

    def with_parts(parts: Sequence[str]) -> Answer:
        return bench.of(put(case, where, let_in(part_filter, bench.catalog, parts, case)))

    needed, answer = sorted(stopped & used), with_parts(sorted(stopped & used))
    if not answer.is_optimal:
        return None
    for part in list(needed):
        fewer = [p for p in needed if p != part]
        tried = with_parts(fewer)
        if tried.is_optimal:
            needed, answer = fewer, tried
    named = ", ".join(needed)
    move = f"adding {named}" if field == "allow" else f"leaving out {named}"
    now = f"{len(limit.value)} entries" if len(limit.value) > FEW else ", ".join(limit.value)
    value = getattr(let_in(part_filter, bench.catalog, needed, case), field)
    return Change(value, move, f"{now} {limit.verb}; {move} is enough, using {switches(answer)}", answer)
