"""Two modules and the fibre between them (R5 to R14)."""

from __future__ import annotations

from gpunet.catalogs.plant import family, plant_rules
from gpunet.models.parts import Catalog, Fibre, FibreKind, Module, OpticalInterface, Protocol
from gpunet.models.plant import Mates
from gpunet.solver.verify_seating import LinkKind, Verdict, cage_words, module_mode

TIERS_MATE = {
    frozenset(pair)
    for pair in (
        *(("DR",), ("DR", "FR"), ("FR",), ("FR", "LR6"), ("FR", "LR"), ("LR6",), ("LR6", "LR"), ("LR",)),
        *(("VR",), ("VR", "SR"), ("SR",)),
    )
}
"""R7: reach tiers that may face each other; DR to LR needs an attenuator, so it is not among them."""
LPO_FEC = "RS(544,514)"
MATED_PAIRS = 2


def judge_fibre(
    kind: LinkKind,
    fibre: Fibre,
    catalog: Catalog,
    common: frozenset[Protocol],
    grades: tuple[str, ...],
    mates: Mates,
    verdict: Verdict,
) -> None:
    if fibre.kind is FibreKind.TRUNK or fibre.gender.startswith("male"):
        verdict.mating.append(f"R12: {fibre.id} has male ends, which do not enter a module")
    if fibre.polarity.startswith("Type A"):
        verdict.mating.append(f"R12: {fibre.id} is of polarity Type A; two modules need a crossing one (Type B)")
    if fibre.grade not in grades:
        verdict.reach.append(f"{fibre.id} is {fibre.grade}; the site allows {', '.join(grades)}")
    if kind.a.module is None or kind.b.module is None:
        return  # the check of the seats names the cage without a module
    modules = (kind.a.module, kind.b.module)
    faces: list[OpticalInterface] = []
    ports = list(verdict.mode_ports)
    for i, (module, side) in enumerate(zip(modules, (kind.a, kind.b), strict=True)):
        if common and not common & set(module.protocols):
            verdict.mating.append(f"R9: {module.id} does not carry {' or '.join(sorted(common))}")
        mode, why = module_mode(module, side, kind.speed_gbps, common)
        if mode is None:
            verdict.mating.append(why)
        else:
            ports[i] = mode.ports
        face = catalog.interfaces.get(module.interface or "")
        if face is None:
            verdict.mating.append(f"R5: {module.id} has no optical side for {fibre.id}")
        else:
            faces.append(face)
    verdict.mode_ports = (ports[0], ports[1])
    if len(faces) == 2:
        verdict.mating += _sides_mate(modules, (faces[0], faces[1]), kind, common)
        best: list[str] | None = None
        for head_at_a in _fibre_orientations(kind):
            found = _plant(kind, fibre, modules, (faces[0], faces[1]), head_at_a, verdict.mode_ports)
            if best is None or not found:
                best, verdict.head_at_a = found, head_at_a
            if not found:
                break
        verdict.mating += best or []
        verdict.reach += _reach(kind, fibre, modules, (faces[0], faces[1]), mates)


def _fibre_orientations(kind: LinkKind) -> list[bool]:
    if kind.b.several:
        return [True]
    return [False] if kind.a.several else [True, False]


def _sides_mate(
    modules: tuple[Module, Module],
    faces: tuple[OpticalInterface, OpticalInterface],
    kind: LinkKind,
    common: frozenset[Protocol],
) -> list[str]:
    """R5, R7, R8 and linear optics."""
    (near, far), (x, y) = modules, faces
    found = []
    if x.lane_class != y.lane_class:
        found.append(f"R5: {near.id} ({x.id}, {x.lane_class}) never mates {far.id} ({y.id}, {y.lane_class})")
    if frozenset((x.tier, y.tier)) not in TIERS_MATE:
        found.append(f"R7: tiers {x.tier} of {near.id} and {y.tier} of {far.id} do not face each other")
    if x.fec != y.fec:
        found.append(f"R8: {near.id} runs {x.fec}, {far.id} runs {y.fec}")
    linear = [m.retiming == "linear" for m in modules]
    if any(linear):
        if not all(linear):
            found.append(f"R9: linear optics against retimed ones: {near.id} and {far.id}")
        if not all(f.fec.startswith(LPO_FEC) for f in faces):
            found.append(f"R9: linear optics need {LPO_FEC} at both ends")
        if Protocol.INFINIBAND in common:
            found.append("R9: linear optics are not for InfiniBand")
    for module, side in zip(modules, (kind.a, kind.b), strict=True):
        if module.retiming != "full" and not side.group.cages.linear_host:
            found.append(
                f"R9: {module.id} is not fully retimed and needs a linear host, not the {cage_words(side.group)}"
            )
    return found


def _plant(
    kind: LinkKind,
    fibre: Fibre,
    modules: tuple[Module, Module],
    faces: tuple[OpticalInterface, OpticalInterface],
    head_at_a: bool,
    mode_ports: tuple[int, int],
) -> list[str]:
    """R6, R10 to R12: lanes, connectors, polish and fibre count with the piece laid one way round."""
    found = []
    heads = (head_at_a, not head_at_a)
    for module, face, is_head, ports in zip(modules, faces, heads, mode_ports, strict=True):
        lanes = kind.speed_gbps / face.gbps_per_lane
        per_port = max(1, ports // module.optical_ports)
        legs = fibre.legs if is_head else 1
        if lanes * max(per_port, legs) > face.lanes or lanes != int(lanes):
            found.append(
                f"R6: {face.lanes} x {face.gbps_per_lane:g}G optical lanes of {module.id} do not carry "
                f"{max(per_port, legs)} x {kind.speed_gbps:g}G"
            )
        elif lanes != face.lanes and int(lanes) not in face.splittable_into_lanes:
            found.append(f"R6: {face.id} of {module.id} does not split into {lanes:g} lanes")
        elif lanes not in (1, face.lanes) and module.host_lane_gbps != face.gbps_per_lane:
            # A gearbox is only shown to advertise the whole port and its single lanes (R4).
            found.append(f"R4: {module.id} has a gearbox and is not listed with a {kind.speed_gbps:g}G breakout")
        cord, socket = fibre.connector_a if is_head else fibre.connector_b, module.connector
        if cord != socket:
            rule = "R10" if cord.kind != socket.kind else "R11"
            ends = f"{module.id} takes {socket.kind}/{socket.polish}, {fibre.id} ends in {cord.kind}/{cord.polish}"
            found.append(f"{rule}: {ends}")
        if is_head and fibre.fibres < face.fibres:
            found.append(f"R12: {fibre.id} has {fibre.fibres} fibres, {face.id} of {module.id} needs {face.fibres}")
    return found


def _reach(
    kind: LinkKind,
    fibre: Fibre,
    modules: tuple[Module, Module],
    faces: tuple[OpticalInterface, OpticalInterface],
    mates: Mates,
) -> list[str]:
    """R7, R13 and R14 on the length that the light travels: the stock length of the piece."""
    found = []
    for module in modules:
        reach_m = module.reach_m.get(fibre.grade)
        if reach_m is None:
            listed = ", ".join(f"{g} {m:g} m" for g, m in module.reach_m.items())
            found.append(f"{module.id} does not run on {fibre.grade} (its reach: {listed})")
        elif reach_m < kind.length_m:
            found.append(f"{module.id} reaches {reach_m:g} m on {fibre.grade}, the fibre is {kind.length_m:g} m")
    rules = plant_rules()
    if fibre.legs > 1 and kind.length_m > rules.splitter_reach_m.v:
        found.append(f"R13: splitter {fibre.id} of {kind.length_m:g} m; {rules.splitter_reach_m.v:g} m is the most")
    if kind.through_panels:
        return found
    standard_db = rules.mated_pair_db[Mates.STANDARD][family(fibre.connector_a.kind)].v
    loss_db = MATED_PAIRS * (standard_db if mates is Mates.STANDARD else fibre.loss_per_mated_pair_db)
    loss_db += kind.length_m * rules.attenuation_db_per_m["SMF" if fibre.grade == "OS2" else "MMF"].v
    for module, face in zip(modules, faces, strict=True):
        budget_db = face.loss_budget_db.get(fibre.grade)
        if budget_db is not None and loss_db > budget_db + 1e-9:
            found.append(f"R14: {loss_db:.2f} dB on {fibre.id}, the budget of {module.id} is {budget_db:g} dB")
    return found
