"""Why nothing fits: which of the user's own limits stand in the way, and the smallest change that helps.

Three looks, most helpful first: parts that were asked for and cannot be used; runs that nothing allowed can cover;
and limits. Each limit is lifted alone and the case solved again, for the figure that the limit is about. Where no
single one helps, the smallest set that must give way together is found by putting limits back one at a time.
Nothing is moved in the user's case; the answer only says what would have to move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from gpunet.models.case import Case, FabricName
from gpunet.models.design import Status
from gpunet.models.interconnect import CageKind
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine
from gpunet.solver.interconnects import InterconnectTable, LinkOption
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.lifts import Lift, lifts, switches, totals
from gpunet.solver.links import cage_kinds
from gpunet.solver.ports import faces
from gpunet.solver.search import Found, search
from gpunet.solver.template import ENDPOINT_LEAF, LEAF_SPINE
from gpunet.solver.templates import Scope

CEILINGS = ("limits.", "site.power_kw")
"""What settings that clash with each other most often begin with."""


def why_not(compiled: Compiled, found: Found, engine: Engine) -> tuple[str, ...]:
    """Reasons for an infeasible case, most helpful first."""
    reasons = [f"fabrics.{f.value}: {text}" for f, texts in compiled.refused.items() for text in texts]
    for fabric in found.empty:
        reasons += _asked_and_shut_out(compiled, fabric)
        usable = [scope for scope in compiled.scopes[fabric] if scope.switches]
        if not usable:
            reasons.append(f"fabrics.{fabric.value}: no switch is allowed")
        for scope in usable:
            reasons += _joins(compiled, scope)
    known = lifts(compiled.case, compiled.machines.room)
    alone = [text for lift in known if (text := _alone(lift, compiled, engine)) is not None]
    return tuple(dict.fromkeys([*reasons, *(alone or _together(known, compiled, found, engine))]))


def _alone(lift: Lift, compiled: Compiled, engine: Engine) -> str | None:
    """What is enough when one limit gives way, or none when that does not help."""
    for case, step in lift.cases(compiled.case):
        answer = _solve(case, compiled, engine)
        if answer is not None:
            return f"{lift.setting}: {step.say(answer)}"
    return None


def _together(known: list[Lift], compiled: Compiled, found: Found, engine: Engine) -> list[str]:
    """The smallest set of limits that must give way together; ceilings are tried before everything else."""
    named = ", ".join(f.value for f in found.empty) or "the fabrics together"
    ceilings = [lift for lift in known if lift.setting.startswith(CEILINGS)]
    for lifted in (ceilings, known):
        if len(lifted) < 2:
            continue
        answer = _solve(_without(compiled.case, lifted), compiled, engine)
        if answer is None:
            continue
        for lift in list(lifted):
            fewer = [x for x in lifted if x is not lift]
            still = _solve(_without(compiled.case, fewer), compiled, engine)
            if still is not None:
                lifted, answer = fewer, still
        weight = totals(answer)
        settings = " and ".join(lift.setting for lift in lifted)
        return [
            f"{settings}: each of these is in the way, so no single one helps; without them a design exists that costs "
            f"{weight.cost / 100:,.2f} and draws {weight.power / 1e6:.3f} kW, using {switches(answer)}"
        ]
    return [
        f"no design exists for {named} even without the limits of the case: the catalogue cannot carry the endpoints",
        *(text for fabric in found.empty for text in _refused(compiled, fabric)),
    ]


def _without(case: Case, lifted: Iterable[Lift]) -> Case:
    for lift in lifted:
        case = lift.away(case)
    return case


def _solve(case: Case, compiled: Compiled, engine: Engine) -> Found | None:
    """The solved case, or none when it has no design either."""
    try:
        found = search(compile_case(case, compiled.catalog), engine)
    except (SiteTooSmallError, NoPortsError):
        return None
    return found if found.outcome.status is Status.OPTIMAL else None


def _asked_and_shut_out(compiled: Compiled, fabric: FabricName) -> Iterator[str]:
    """Parts that the case names and that some other limit shuts out all the same."""
    spec = getattr(compiled.case.fabrics, fabric.value)
    for where, named in ((f"fabrics.{fabric.value}.parts", spec.parts), ("parts", compiled.case.parts)):
        for part in named.allow:
            why = compiled.eligible[fabric].shut_out.get(part)
            if why is not None and not why.endswith(".allow"):
                yield f"{where}.allow: {part} is shut out: {why}"


def _joins(compiled: Compiled, scope: Scope) -> Iterator[str]:
    """Link classes of a fabric for which nothing allowed is long enough, or nothing at all joins the cages."""
    where = f"fabrics.{scope.fabric.value}: {scope.protocol.value}"
    table = InterconnectTable(compiled.eligible[scope.fabric].links)
    leaves: dict[float, list[tuple[CageKind, ...]]] = {}
    for switch in scope.switches:
        for face in faces(switch, scope.protocol):
            kinds = cage_kinds(face.group, face.modes, scope.protocol, face.hot, switch)
            if kinds not in leaves.setdefault(face.speed_gbps, []):
                leaves[face.speed_gbps].append(kinds)
    for kind in scope.kinds:
        own = [k for kinds in leaves.get(kind.speed_gbps, []) for k in kinds]
        if not own:
            yield f"{where}: no switch allowed has {kind.speed_gbps:g}G ports"
            return
        far = cage_kinds(kind.cage, kind.modes, scope.protocol)
        far_m = scope.measure.needed_m if kind.kind == "server" else scope.measure.shortest_m
        short = _covers(f"{where} {kind.kind.replace('-', ' ')} to leaf", table, own, far, far_m[ENDPOINT_LEAF])
        if short is not None:
            yield short
            return
    fastest = max(kind.speed_gbps for kind in scope.kinds)
    between = [k for speed, found in leaves.items() if speed >= fastest for kinds in found for k in kinds]
    if scope.spec.max_tiers > 1:
        short = _covers(f"{where} leaf to spine", table, between, between, scope.measure.needed_m[LEAF_SPINE])
        if short is not None:
            yield short


def _covers(
    what: str, table: InterconnectTable, a: Iterable[CageKind], b: Iterable[CageKind], needed_m: float
) -> str | None:
    """Why no cage of ``a`` can be joined to one of ``b`` over a length; none where one can."""
    ways = [way for x, y in product(a, b) if x.mode.speed_gbps == y.mode.speed_gbps for way in table.options(x, y)]
    longest: LinkOption | None = max((w for w in ways if w.stock_m), key=lambda w: w.stock_m[-1], default=None)
    if longest is None:
        return f"{what}: no module, fibre or cable allowed joins such ports at any length"
    if longest.stock_m[-1] >= needed_m:
        return None
    return (
        f"{what} needs {needed_m:g} m in this room; with the parts allowed such a link covers at most "
        f"{longest.stock_m[-1]:g} m ({longest.a_part or longest.medium_base}: {longest.reach_name})"
    )


def _refused(compiled: Compiled, fabric: FabricName) -> Iterator[str]:
    """What cut off designs that otherwise fit, counted."""
    counted: dict[str, int] = {}
    for scope in compiled.scopes[fabric]:
        for limit, n in scope.refused.items():
            counted[limit] = counted.get(limit, 0) + n
    for limit, n in sorted(counted.items()):
        what = "a link that no allowed module, fibre or cable can make" if limit == "interconnect" else limit
        yield f"fabrics.{fabric.value}: {n:,} otherwise fitting designs fail for {what}"
