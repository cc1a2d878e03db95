"""Cable assemblies: DAC, ACC, AEC, AOC and RJ45 cords between two cages.

Copper rules keep the letters of ``optics-rules.md``.
"""

from __future__ import annotations

from gpunet.models.parts import Cable, CableEnd, CableKind, FormFactor, PortMode, Protocol, Shell
from gpunet.solver.verify_seating import LinkKind, Side, Verdict, cage_words, modes_of, plug_fits

COPPER_M: dict[CableKind, dict[float, float]] = {
    CableKind.DAC: {25: 5, 50: 3, 100: 2, 200: 1},
    CableKind.ACC: {50: 5, 100: 5, 200: 3},
    CableKind.AEC: {50: 7, 100: 7},
}
"""Copper (c) and (d): longest assembly by Gb/s of a lane, m."""
NVIDIA_SPLITTER_M = {100.0: 3.0}
"""Copper (c): passive splitters that NVIDIA itself sells beyond the common limit, m by Gb/s of a lane."""


def judge_cable(kind: LinkKind, cable: Cable, common: frozenset[Protocol], verdict: Verdict) -> None:
    if common and not common & set(cable.protocols):
        verdict.mating.append(f"R9: {cable.id} does not carry {' or '.join(sorted(common))}")
    if cable.end_a.fec and cable.end_b.fec and cable.end_a.fec != cable.end_b.fec:
        verdict.mating.append(f"R8: {cable.id} has {cable.end_a.fec} at one end, {cable.end_b.fec} at the other")
    if cable.kind is CableKind.ACC and not _linear_copper_taken(kind, cable, common):
        verdict.mating.append(f"copper (g): {cable.id} is linear copper and needs a linear host at both ends")
    rate = max(cable.end_a.lane_gbps, cable.end_b.lane_gbps)
    longest_m = COPPER_M.get(cable.kind, {}).get(rate, kind.length_m)
    if cable.kind is CableKind.DAC and cable.vendor == "nvidia" and cable.end_b.count > 1:
        longest_m = NVIDIA_SPLITTER_M.get(rate, longest_m)
    if kind.length_m > longest_m:
        verdict.reach.append(
            f"copper (c, d): {cable.id} of {kind.length_m:g} m; {longest_m:g} m is the most at {rate:g}G"
        )
    if cable.end_a.lane_gbps != cable.end_b.lane_gbps and not cable.converts_lane_rate:
        verdict.mating.append(f"copper (a): {cable.id} joins lanes of two rates without a gearbox")
    best: tuple[list[str], list[str]] | None = None
    for head_at_a in _orientations(kind, cable):
        ends = (cable.end_a, cable.end_b) if head_at_a else (cable.end_b, cable.end_a)
        seats = [why for s, e in zip((kind.a, kind.b), ends, strict=True) if (why := _end_seats(cable, e, s))]
        mating = []
        ports = list(verdict.mode_ports)
        for i, (side, end) in enumerate(zip((kind.a, kind.b), ends, strict=True)):
            mode, why = _cable_mode(cable, end, side, kind.speed_gbps, common)
            if mode is None:
                mating.append(why)
            else:
                ports[i] = mode.ports
        if best is None or (not seats and not mating):
            best = (seats, mating)
            verdict.head_at_a, verdict.mode_ports = head_at_a, (ports[0], ports[1])
            verdict.end_mw = (ends[0].power_w.milli, ends[1].power_w.milli)
        if not seats and not mating:
            break
    if best is not None:
        verdict.seats += best[0]
        verdict.mating += best[1]


def _linear_copper_taken(kind: LinkKind, cable: Cable, common: frozenset[Protocol]) -> bool:
    """Copper (g): linear hosts, or InfiniBand cables of the switch's own vendor, who lists them for its hosts."""
    switch = kind.a.group.switch
    own = switch is not None and switch.vendor == cable.vendor and Protocol.INFINIBAND in common
    return own or (kind.a.group.cages.linear_host and kind.b.group.cages.linear_host)


def _orientations(kind: LinkKind, cable: Cable) -> list[bool]:
    """Ways to lay the cable: True with its head at ``a``. A splitter's head goes where it ends in one cage."""
    if cable.end_b.count > 1:
        if kind.b.several:
            return [True]
        if kind.a.several:
            return [False]
    return [True, False]


def _end_seats(cable: Cable, end: CableEnd, side: Side) -> str:
    group = side.group
    if end is cable.end_a and cable.end_b.count > 1 and group.switch is None:
        return f"R1: {cable.id} is a splitter; its head goes into a switch, not into {group.part or group.kind}"
    if side.module is not None:
        return f"{cable.id} is a plug of its own; module {side.module.id} is in its way"
    if plug_fits(end.form_factor, end.shell, group):
        return ""
    shell = "" if end.shell is Shell.NONE else f"-{end.shell.value}"
    return f"R1: {cable.id} ends in {end.form_factor.value}{shell}, not for the {cage_words(group)}"


def _cable_mode(
    cable: Cable, end: CableEnd, side: Side, speed_gbps: float, common: frozenset[Protocol]
) -> tuple[PortMode | None, str]:
    """R4 for copper: a mode of the cage that the plug's lanes carry."""
    for mode in modes_of(side, speed_gbps, common):
        # RJ45 negotiates its rate down; every other plug runs at the rate of its lanes.
        rate = (
            mode.lane_gbps <= end.lane_gbps if end.form_factor is FormFactor.RJ45 else mode.lane_gbps == end.lane_gbps
        )
        if (
            rate
            and mode.ports * mode.lanes <= end.lanes
            and (mode.ports > 1 or not _whole_plug_barred(cable, end, mode))
        ):
            return mode, ""
    return None, (
        f"R4: {cable.id} has {end.lanes} x {end.lane_gbps:g}G lanes; the {cage_words(side.group)} has no such "
        f"mode with {speed_gbps:g}G on port {side.top}"
    )


def _whole_plug_barred(cable: Cable, end: CableEnd, mode: PortMode) -> bool:
    """True where one MAC would take a whole twin plug (1x800G) and the assembly cannot do that."""
    whole = mode.lanes == end.lanes and end.count == 1 and cable.links_per_assembly > 1
    return whole and cable.end_b.count == 1 and cable.links_if_single_mac is None


def links_of(cable: Cable, mode_ports: tuple[int, int]) -> int:
    """Most links one assembly carries with the cages in these modes."""
    if cable.end_b.count == 1 and max(mode_ports) == 1:
        return cable.links_if_single_mac or cable.links_per_assembly
    return cable.links_per_assembly
