"""Choices side by side: every one searched and proven like the case itself, on the same demand."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, FabricName, Objective
from gpunet.models.design import Status
from gpunet.models.parts import Catalog, Part, Protocol
from gpunet.models.study_compare import (
    BreakEven,
    Compared,
    ComparedLine,
    Comparison,
    Delivered,
    Economics,
    LineShare,
)
from gpunet.solver.break_even import least_efficiency, pairs, payback
from gpunet.solver.candidates import compile_case
from gpunet.solver.choices import ANY, By, Choice, choices, default_fabrics, placement_choices
from gpunet.solver.demand import backend, survey
from gpunet.solver.obstacles import obstacles, refusals
from gpunet.solver.tasks import Finished, Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench

KINDS = ("switch", "nic", "module", "cable", "fibre", "panel")
OF_CASE, TUNED, UNTUNED, GIVEN = "case", "tuned", "untuned", "given"
ROCE_TUNED, ROCE_UNTUNED = (0.90, 0.95), 0.70
"""All-reduce efficiency of Ethernet with and without care for its lossless settings (docs/compare.md)."""


def compare(
    case: Case,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    by: str | Case = "protocol",
    fabrics: Iterable[str] | None = None,
    economics: Economics | None = None,
    engine: str = "highs",
) -> Comparison:
    """Every choice at its own optimum.

    ``by`` is ``protocol``, ``vendor``, ``form-factor``, ``optics``, ``objective``, ``placement`` or another case.
    ``fabrics`` names those to narrow, in place of the backend (of all, for vendors). ``economics`` is for the
    break-even of protocols.
    Raises ChoiceError where the case leaves nothing to compare, ValueError for a ``by`` or a fabric that does not
    exist, EngineError when a solver fails.
    """
    plan = plan or Plan()
    bench = Workbench(case, catalog, engine)
    asked = None if fabrics is None else [FabricName(name) for name in fabrics]
    what = "case" if isinstance(by, Case) else By(by).value
    by_placement = what == By.PLACEMENT.value
    if not by_placement:
        plan.tell("solving the case")
    # Where its own switches stand is one of the placements, or open: they are solved below, all of them.
    own = Answer(Status.INFEASIBLE, case) if by_placement else bench.at({})
    narrowed: tuple[str, ...] = ()
    if by_placement:
        found = placement_choices(case)
    elif isinstance(by, Case):
        second = by.name if by.name != case.name else f"{by.name} (second)"
        found = [Choice(case.name, "the case", case), Choice(second, "the other case", by)]
    elif isinstance(bench.compiled, str) or not own.is_optimal:
        # What narrows a case without a design has none either.
        notes = [own.reason] if own.reason else _reasons(bench, case)
        return Comparison(**bench.head("compare", own.status), by=what, notes=tuple(notes))
    else:
        found = choices(bench.compiled, By(by), asked)
        if By(by) is not By.OBJECTIVE:
            chosen = default_fabrics(bench.compiled, By(by)) if asked is None else asked
            narrowed = tuple(f.value for f in chosen)
    names = {_task_name(choice): choice for choice in found}
    tasks = [Task(name, _solve, (choice.case, choice.refused)) for name, choice in names.items()]
    done = run_tasks(bench, "compare", tasks, plan)
    solved = {choice.name: done[name] for name, choice in names.items() if name in done}
    return _comparison(bench, own, what, narrowed, found, solved, economics or Economics())


def _task_name(choice: Choice) -> str:
    """The same choice of another case, or narrowed elsewhere, is another step."""
    return f"{choice.name} {hashlib.sha256(choice.case.model_dump_json().encode()).hexdigest()[:8]}"


def _solve(bench: Workbench, case: Case, refused: str) -> dict[str, Any]:
    """One choice as data: status, reasons, value, design, and cents paid by part."""
    if refused:
        return {"status": Status.INFEASIBLE.value, "reasons": [refused]}
    answer = bench.of(case, keep=False)
    summary = answer.summary()
    if summary is None or answer.data is None:
        reasons = [answer.reason] if answer.reason else _reasons(bench, case)
        return {"status": answer.status.value, "reasons": reasons}
    return {
        "status": answer.status.value,
        "value": answer.value,
        "cost": answer.weight.cost if answer.weight else 0,
        "design": summary.model_dump(mode="json"),
        "paid": dict(answer.paid_cents or {}),
    }


def _reasons(bench: Workbench, case: Case) -> list[str]:
    """What stands in the way of a choice. Limits that clash are left to ``explain``, which takes far longer."""
    compiled = compile_case(case, bench.catalog)
    found = obstacles(compiled) or refusals(compiled)
    return found or ["no design is within the limits of the case; gpunet explain says which of them clash"]


def _comparison(
    bench: Workbench,
    own: Answer,
    by: str,
    fabrics: tuple[str, ...],
    found: list[Choice],
    solved: Mapping[str, Finished],
    economics: Economics,
) -> Comparison:
    data = {name: finished.data for name, finished in solved.items()}
    compared = [_compared(bench.catalog, choice, data[choice.name]) for choice in found if choice.name in data]
    built = [x.choice for x in compared if x.design is not None]
    by_placement = by == By.PLACEMENT.value
    status = Status.OPTIMAL if by_placement and built else own.status
    head = bench.head("compare", status) | {"solves": (not by_placement) + sum(f.solves for f in solved.values())}
    study = Comparison(
        **head,
        complete=len(data) == len(found),
        by=by,
        fabrics=fabrics,
        reference=_reference(bench.case, by, built, data),
        choices=tuple(compared),
        lines=_lines(bench.catalog, compared, data),
    )
    if by != By.PROTOCOL.value or not study.complete:
        return study
    return study.model_copy(update=_economy(bench, study, economics))


def _reference(case: Case, by: str, built: list[str], data: Mapping[str, Any]) -> str:
    """What differences are taken from: the case as it stands, its own objective, or else the best choice."""
    preferred = {
        By.OBJECTIVE.value: case.objectives[0].value,
        By.PLACEMENT.value: case.site.switch_placement.value,
        "case": case.name,
    }.get(by, ANY)
    if preferred in built:
        return preferred
    return min(built, key=lambda name: (data[name]["value"], data[name]["cost"]), default="")


def _compared(catalog: Catalog, choice: Choice, data: Mapping[str, Any]) -> Compared:
    given = {"choice": choice.name, "narrowed": choice.says, "status": data["status"]}
    if "design" not in data:
        return Compared.model_validate(given | {"reasons": data["reasons"]})
    parts: dict[str, int] = data["design"]["parts"]
    pieces = Counter(dict.fromkeys(KINDS, 0))
    longest: Part | None = None
    unknown = 0
    for name, count in parts.items():
        kind, part = find_part(catalog, name)
        pieces[kind] += count
        if part.lead_time_weeks is None:
            unknown += 1
        elif longest is None or longest.lead_time_weeks is None or part.lead_time_weeks.v > longest.lead_time_weeks.v:
            longest = part
    lead = {}
    if longest is not None and longest.lead_time_weeks is not None:
        known = longest.lead_time_weeks
        lead = {"lead_time_weeks": known.v, "lead_time_part": longest.id, "lead_time_how": known.how.value}
    more = {"design": data["design"], "pieces": dict(pieces), "parts_without_lead_time": unknown}
    return Compared.model_validate(given | more | lead)


def find_part(catalog: Catalog, name: str) -> tuple[str, Part]:
    """Kind and catalogue entry of a part of a bill. Raises KeyError."""
    base, _ = split_medium_id(name)
    tables: dict[str, Mapping[str, Part]] = {
        "switch": catalog.switches,
        "nic": catalog.nics,
        "module": catalog.modules,
        "cable": catalog.cables,
        "fibre": catalog.fibres,
        "panel": catalog.accessories,
    }
    for kind, table in tables.items():
        part = table.get(name) or table.get(base)
        if part is not None:
            return kind, part
    raise KeyError(name)


def _lines(catalog: Catalog, compared: list[Compared], data: Mapping[str, Any]) -> tuple[ComparedLine, ...]:
    designs = {x.choice: x.design for x in compared if x.design is not None}
    parts = {part: find_part(catalog, part)[0] for design in designs.values() for part in design.parts}
    found = []
    for part, kind in sorted(parts.items(), key=lambda item: (KINDS.index(item[1]), item[0])):
        shares = {
            name: LineShare(
                quantity=design.parts[part],
                extended_usd=data[name]["paid"].get(part, 0) / 100,
            )
            for name, design in designs.items()
            if part in design.parts
        }
        found.append(ComparedLine(part=part, kind=kind, choices=shares))
    return tuple(found)


# --- protocols: what is delivered, and what the dearer one must earn --------------------------------------------------


def _economy(bench: Workbench, study: Comparison, economics: Economics) -> dict[str, Any]:
    """Delivered bandwidth, break-even and what to say about them."""
    efficiencies = {p.value: _efficiencies(bench.case, p, economics) for p in Protocol}
    notes: list[str] = []
    delivered = []
    machines = survey(bench.case, bench.catalog)
    gpus_each = int(machines.server.gpus.v)
    if bench.case.fabrics.backend is not None and FabricName.BACKEND.value in study.fabrics:
        for protocol in Protocol:
            if study.of(protocol.value).design is None:
                continue
            kind = backend(bench.case, bench.catalog, machines, protocol)[0]
            per_gpu = kind.ports_per_host * kind.speed_gbps / gpus_each
            delivered += [
                Delivered(choice=protocol.value, scenario=name, efficiency=e, per_gpu_gbps=round(per_gpu * e, 6))
                for name, e in efficiencies[protocol.value]
            ]
        if bench.case.fabrics.backend.oversubscription > 1:
            notes.append("The backend is oversubscribed: what collectives reach across its spines is not counted here.")
    costs, basis = _costs(bench.case, study, economics)
    even = None
    if len(costs) == len(Protocol):
        cheaper, dearer = sorted(costs, key=lambda name: costs[name])
        more_usd = round(costs[dearer] - costs[cheaper], 2)
        if more_usd:
            even = _break_even(bench.case, economics, dearer, cheaper, more_usd, basis, machines.n_servers * gpus_each)
            scenarios = pairs(efficiencies[dearer], efficiencies[cheaper])
            assumed = (even.more_usd, even.gpus, even.gpu_hour_usd, even.communication_share, even.horizon_years)
            paybacks = tuple(payback(name, e, *assumed) for name, e in scenarios)
            even = even.model_copy(update={"paybacks": paybacks})
        else:
            notes.append("Both cost the same, so there is nothing to pay back.")
    elif study.status is Status.OPTIMAL:
        notes.append("Only one of the two has a design and a cost, so there is no break-even.")
    return {"delivered": tuple(delivered), "break_even": even, "notes": tuple(notes)}


def _efficiencies(case: Case, protocol: Protocol, economics: Economics) -> list[tuple[str, float]]:
    """Efficiencies of a protocol by scenario: those given, or the case's with the band of tuned and untuned RoCE."""
    given = economics.efficiencies.get(protocol.value)
    if given is not None:
        low, high = given
        return [(GIVEN, low)] if low == high else [(f"{GIVEN}, low", low), (f"{GIVEN}, high", high)]
    found = [(OF_CASE, float(getattr(case.performance, protocol.value)))]
    if protocol is Protocol.ETHERNET:
        low, high = ROCE_TUNED
        found += [(f"{TUNED}, low", low), (f"{TUNED}, high", high), (UNTUNED, ROCE_UNTUNED)]
    return found


def _costs(case: Case, study: Comparison, economics: Economics) -> tuple[dict[str, float], str]:
    """Cost by protocol, USD, and its basis: stated, or that of the designs, of owning them where that is minimised."""
    if economics.costs_usd:
        return {p.value: economics.costs_usd[p.value] for p in Protocol if p.value in economics.costs_usd}, "stated"
    tco = case.objectives[0] is Objective.TCO
    designs = {x.choice: x.design for x in study.choices if x.design is not None}
    costs = {name: design.tco_usd if tco else design.cost_usd for name, design in designs.items()}
    return costs, "tco" if tco else "cost"


def _break_even(
    case: Case, economics: Economics, dearer: str, cheaper: str, more_usd: float, basis: str, gpus: int
) -> BreakEven:
    years = economics.horizon_years or case.tco.years
    return BreakEven(
        dearer=dearer,
        cheaper=cheaper,
        basis=basis,
        more_usd=more_usd,
        gpus=gpus,
        gpu_hour_usd=economics.gpu_hour_usd,
        communication_share=economics.communication_share,
        horizon_years=years,
        least_efficiency=least_efficiency(more_usd, gpus, economics.gpu_hour_usd, economics.communication_share, years),
        paybacks=(),
    )
