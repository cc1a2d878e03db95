"""Which parts a case keeps out, by what, and what the design would gain by letting them in."""

from __future__ import annotations

from typing import Any, NamedTuple

from gpunet.models.case import FabricName, Objective
from gpunet.models.study_explain import ShutOut, ShutOutPart
from gpunet.solver.admit import admit, shut_out
from gpunet.solver.airflow import SETTING
from gpunet.solver.eligible import NOT_OWNED
from gpunet.solver.price_ranges import changes
from gpunet.solver.workbench import Answer, Workbench

WITH_MORE = ("limits.lead_time_weeks", SETTING)
"""Settings whose reasons go on with what is so about each part."""


class Group(NamedTuple):
    """Parts kept out by one thing."""

    by: str
    fabrics: tuple[FabricName, ...]
    parts: tuple[str, ...]


def shut_out_groups(bench: Workbench) -> list[Group]:
    """Every part that is kept out of some fabric, by what keeps it out."""
    parts: dict[str, set[str]] = {}
    fabrics: dict[str, set[FabricName]] = {}
    kept_out = shut_out(bench.case, bench.catalog)
    for fabric, reasons in kept_out.items():
        glass = {f.id: "site.fibre" for f in bench.catalog.fibres.values() if f.grade not in bench.case.site.fibre}
        for part, reason in {**glass, **reasons}.items():
            by = next((limit for limit in WITH_MORE if reason.startswith(f"{limit}:")), reason)
            parts.setdefault(by, set()).add(part)
            fabrics.setdefault(by, set()).add(fabric)
    order = list(FabricName)
    return [
        Group(by, tuple(sorted(fabrics[by], key=order.index)), tuple(sorted(parts[by])))
        for by in sorted(parts, key=lambda by: (not _can_give_way(bench, by), by))
    ]


def _can_give_way(bench: Workbench, by: str) -> bool:
    """Whether a case can let parts in that this keeps out."""
    if by.endswith(".protocols"):
        # Management and in-band networks speak what they speak unless the case says otherwise.
        spec = getattr(bench.case.fabrics, by.split(".")[1])
        return bool(spec.protocols != type(spec).model_fields["protocols"].default)
    return (
        by.endswith((".allow", ".deny"))
        or (by.startswith("status ") and by != NOT_OWNED)
        or by in ("site.fibre", "limits.lead_time_weeks")
    )


def gain_of(bench: Workbench, by: str, fabrics: tuple[FabricName, ...], parts: tuple[str, ...]) -> dict[str, Any]:
    """What letting in the parts of a group saves, all of them and one by one, as data for JSON.

    Letting in more parts can only help, so where a set of them saves nothing, none of them does alone.
    """
    today = bench.at({})
    unit = 1000 if bench.case.objectives[0] is Objective.POWER else 100

    def then(chosen: tuple[str, ...]) -> Answer:
        return bench.of(admit(bench.case, bench.catalog, chosen, fabrics, by))

    better: list[ShutOutPart] = []

    def look(chosen: tuple[str, ...]) -> None:
        answer = then(chosen)
        # Latency counts every fibre that is permitted, so that letting one in may end in no design at all.
        if answer.value >= today.value if answer.is_optimal else len(chosen) == 1:
            return
        if len(chosen) > 1:
            look(chosen[: len(chosen) // 2])
            look(chosen[len(chosen) // 2 :])
            return
        change = changes(bench.catalog, today.parts or {}, answer.parts or {})
        better.append(ShutOutPart(part=chosen[0], saved=(today.value - answer.value) / unit, design_change=change))

    saved = None
    if _can_give_way(bench, by):
        admitted = then(parts)
        saved = (today.value - admitted.value) / unit if admitted.is_optimal else 0.0
        look(parts)
    return ShutOut(
        by=by,
        fabrics=tuple(f.value for f in fabrics),
        parts=parts,
        saved=saved,
        better=tuple(sorted(better, key=lambda x: (-x.saved, x.part))),
    ).model_dump(mode="json")
