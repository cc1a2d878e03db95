"""The compatibility rules, judged once per kind of link: do the plugs fit, do the ends understand each other."""

from __future__ import annotations

from gpunet.models.parts import Cable, Catalog, Fibre
from gpunet.models.plant import Mates
from gpunet.solver.verify_copper import judge_cable
from gpunet.solver.verify_groups import GroupType
from gpunet.solver.verify_optics import judge_fibre
from gpunet.solver.verify_seating import LinkKind, Verdict, any_mode_ports, module_seats


def judge(kind: LinkKind, catalog: Catalog, grades: tuple[str, ...], mates: Mates = Mates.LOW_LOSS) -> Verdict:
    """Every rule that one kind of link can break on its own; ``grades`` are the fibre grades of the site."""
    verdict = Verdict()
    verdict.mode_ports = (any_mode_ports(kind.a, kind.speed_gbps), any_mode_ports(kind.b, kind.speed_gbps))
    for side in (kind.a, kind.b):
        if side.module is not None and (why := module_seats(side.module, side.group)):
            verdict.seats.append(why)
    common = kind.a.group.protocols & kind.b.group.protocols
    if not common:
        verdict.mating.append(f"R9: {_speaks(kind.a.group)} against {_speaks(kind.b.group)}")
    if isinstance(kind.medium, Cable):
        judge_cable(kind, kind.medium, common, verdict)
    elif isinstance(kind.medium, Fibre):
        judge_fibre(kind, kind.medium, catalog, common, grades, mates, verdict)
    return verdict


def _speaks(group: GroupType) -> str:
    return f"{group.part or group.kind} speaks {' and '.join(sorted(group.protocols))}"
