"""What stands in the way before any limit is counted: parts asked for and shut out, and links that nothing can make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from gpunet.models.case import FabricName
from gpunet.models.interconnect import CageKind
from gpunet.solver.candidates import Compiled
from gpunet.solver.eligible import lossy_where_lossless
from gpunet.solver.interconnects import InterconnectTable, LinkOption
from gpunet.solver.links import cage_kinds
from gpunet.solver.ports import faces
from gpunet.solver.scope import Cutoff, Scope
from gpunet.solver.template import ENDPOINT_LEAF, LEAF_SPINE
from gpunet.solver.templates import enumerate_templates

WORDS = {
    "network_racks": "site.network_racks_per_row or site.network_racks_central: places too few for the switches",
    "interconnect": "a link that no allowed module, fibre or cable can make",
    "site.tray": "site.tray: more cable than the trays hold",
    "lossless": "lossless: headroom beyond the buffer of a switch",
    "lossless.unknown_buffers": "lossless.unknown_buffers: a switch whose buffer is not known",
}
"""Limits that a template may fail for, in other words than their names."""


def obstacles(compiled: Compiled) -> list[str]:
    """Obstacles of a case without a design, most helpful first, each after the setting it is about."""
    found = [f"fabrics.{f.value}: {text}" for f, texts in compiled.refused.items() for text in texts]
    for fabric in _empty(compiled):
        found += _asked_and_shut_out(compiled, fabric)
        usable = [scope for scope in compiled.scopes[fabric] if scope.switches]
        if not usable:
            found.append(f"fabrics.{fabric.value}: no switch is allowed")
        for scope in usable:
            found += _joins(compiled, scope)
    return list(dict.fromkeys(found))


def refusals(compiled: Compiled) -> list[str]:
    """What cut off designs that otherwise fit, counted, for every fabric that has no design at all."""
    found = []
    for fabric in _empty(compiled):
        counted: dict[str, int] = {}
        for scope in compiled.scopes[fabric]:
            for limit, n in scope.refused.items():
                counted[limit] = counted.get(limit, 0) + n
        for limit, n in sorted(counted.items()):
            found.append(f"fabrics.{fabric.value}: {n:,} otherwise fitting designs fail for {WORDS.get(limit, limit)}")
    return found


def _empty(compiled: Compiled) -> list[FabricName]:
    """Fabrics that no template exists for. Out-of-band leaves depend on the other fabrics and are not looked at."""
    first = compiled.case.objectives[0]

    def has_template(scopes: Iterable[Scope]) -> bool:
        return any(next(enumerate_templates(scope, Cutoff(), first), None) is not None for scope in scopes)

    empty = [f for f, scopes in compiled.scopes.items() if f is not FabricName.OOB and not has_template(scopes)]
    carried = compiled.storage_optional and has_template(
        scope for scope in compiled.scopes.get(FabricName.BACKEND, []) if scope.carries_storage
    )
    return [f for f in empty if not (f is FabricName.STORAGE and carried)]


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
    lossy: dict[float, set[str]] = {}
    for switch in scope.switches:
        for face in faces(switch, scope.protocol):
            if lossy_where_lossless(switch, scope.fabric, face.speed_gbps, scope.gauge is not None):
                lossy.setdefault(face.speed_gbps, set()).add(switch.id)
                continue
            kinds = cage_kinds(face.group, face.modes, scope.protocol, face.hot, switch)
            if kinds not in leaves.setdefault(face.speed_gbps, []):
                leaves[face.speed_gbps].append(kinds)
    for kind in scope.kinds:
        own = [k for kinds in leaves.get(kind.speed_gbps, []) for k in kinds]
        if not own:
            without = ", ".join(sorted(lossy.get(kind.speed_gbps, ())))
            also = f" with flow control (PFC), which lossless traffic needs; without it: {without}" if without else ""
            yield f"{where}: no switch allowed has {kind.speed_gbps:g}G ports{also}"
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
