"""The answer in one paragraph: what to build, for how much, how hot, and how sure that is."""

from __future__ import annotations

from gpunet.models.design import Design, ObjectiveValue, Result, Status
from gpunet.report.words import counted, kw, listed, percent, usd

_PLURALS = {"switch": "switches"}
_ENDED = {Status.INFEASIBLE: "has no design", Status.NO_SOLUTION: "stopped before a design was found"}
_MEASURES = {"cost": "cost", "power": "largest draw", "tco": "cost of ownership"}


def answer(design: Design) -> str:
    """What to build, what it costs and draws, what is proven. For a result that has a design."""
    result = design.result
    totals = result.totals
    if totals is None:
        raise ValueError("a result without a design has no answer; see no_answer")
    pieces = [counted(n, kind, _PLURALS.get(kind, "")) for kind, n in _kinds(result).items()]
    built = [name for name, fabric in result.fabrics.items() if not fabric.shared_with]
    return (
        f"{result.case}: build {listed(pieces)} as {counted(len(built), 'fabric')} ({', '.join(built)}) for "
        f"{usd(totals.cost_usd)} USD. The network draws {kw(totals.power_max_w)} at most, "
        f"{kw(totals.power_typical_w)} typically, and fills {counted(totals.rack_units, 'rack unit')}; with energy and "
        f"support, {design.case.tco.years:g} years cost {usd(totals.tco_usd)} USD. {_proof(result)}{_ties(result)}"
        f"{_placement(result)}"
    )


def _placement(result: Result) -> str:
    """Which placement of the switches was taken, and how far ahead of the others it is on the first objective."""
    chosen = next((x for x in result.placements if x.chosen), None)
    if chosen is None or result.objective is None:
        return ""
    said = []
    for other in result.placements:
        if other.chosen:
            continue
        if not other.objectives:
            said.append(f"{other.placement} {_ENDED.get(other.status, other.status.value)}")
            continue
        more = other.objectives[0] - chosen.objectives[0]
        shown = _in_unit(result.objective.model_copy(update={"value": abs(more)}))
        early = "" if other.status is Status.OPTIMAL else " (stopped early)"
        said.append(f"{other.placement} {f'{shown} more' if more > 0 else 'no better'}{early}")
    return f" Switches stand by {chosen.placement}, the best of {len(result.placements)} placements: {'; '.join(said)}."


def no_answer(result: Result) -> str:
    """Why there is no design, a line for every reason."""
    head = {
        Status.INFEASIBLE: "no design meets the case",
        Status.NO_SOLUTION: "stopped before a design was found; there may be one",
    }.get(result.status, "the solver failed")
    return "\n".join([f"{result.case}: {head}", *(f"  {reason}" for reason in result.reasons)])


def failed_checks(result: Result) -> str:
    """What a design that was refused does wrong, a line for every failed check."""
    checks = result.verify.checks if result.verify else ()
    failed = [check for check in checks if not check.passed]
    return "\n".join(
        [
            f"{result.case}: the design failed {len(failed)} of {counted(len(checks), 'check')} and must not be built",
            *(f"  {check.name}: {check.detail}" for check in failed),
        ]
    )


def _kinds(result: Result) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in result.bom:
        # What a vendor takes off is nothing to build.
        if line.kind != "discount":
            found[line.kind] = found.get(line.kind, 0) + line.quantity
    return found


def _proof(result: Result) -> str:
    by = f"{result.engine}, {result.seconds:.1f} s"
    names = result.objective.name.split(",") if result.objective else ["cost"]
    first = _MEASURES.get(names[0], names[0])
    then = "".join(f", then of {_MEASURES.get(name, name)}" for name in names[1:])
    if result.status is Status.OPTIMAL:
        return f"Proven optimal: no design that meets the case has a lower {first}{then} (gap 0; {by})."
    if result.gap is None or result.bound is None or result.objective is None:
        return f"Stopped early: how far from the best this is, is not known ({by})."
    return (
        f"Stopped early: the {first} is within {percent(result.gap)} of the best possible, which is "
        f"{_in_unit(result.objective.model_copy(update={'value': result.bound}))} or more ({by})."
    )


def _in_unit(objective: ObjectiveValue) -> str:
    return kw(objective.value) if objective.name.split(",")[0] == "power" else f"{usd(objective.value)} USD"


def _ties(result: Result) -> str:
    own = [(name, fabric) for name, fabric in result.fabrics.items() if not fabric.shared_with]
    tied = [f"{counted(x.ties, 'other way', 'other ways')} to build {name}" for name, x in own if x.ties]
    links = [f"{counted(x.link_ties, 'class', 'classes')} of links of {name}" for name, x in own if x.link_ties]
    said = []
    if tied:
        said.append(f"everything else as it is, {listed(tied)} would come to exactly the same")
    if links:
        said.append(f"other parts would build {listed(links)} for exactly the same")
    return f" Ties: {'; '.join(said)}; fixed rules picked this design." if said else ""
