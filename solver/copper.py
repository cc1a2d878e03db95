"""Which cable assembly joins two cages: DAC, ACC, AEC, AOC and RJ45 cords.

The copper rules keep their letters: (a) lane rate, (b) stock lengths, (c) passive limits, (d) active limits,
(e) direction of splitters, (g) linear hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpunet.catalogs.plugs import plug_rules
from gpunet.models.interconnect import CageKind, Refusal
from gpunet.models.parts import Cable, CableEnd, CableKind, PortMode, Protocol
from gpunet.solver.mating import mode_name, plug_refusals

_NVIDIA = "nvidia"


@dataclass(frozen=True, slots=True)
class CableFit:
    """A cable at work between two cages."""

    at_a: CableEnd
    at_b: CableEnd
    links: int
    """Links that one assembly carries in these modes."""

    @property
    def legs(self) -> int:
        """Far ends of the assembly: 1 for a straight cable."""
        return self.at_b.count


def fit_cable(cable: Cable, a: CageKind, b: CageKind) -> CableFit | None:
    """The cable between the two cages, turned so that it fits, or none when a rule refuses it either way."""
    for at_a, at_b in _orientations(cable):
        if next(cable_refusals(cable, at_a, at_b, a, b), None) is None:
            return CableFit(at_a, at_b, a.mode.ports)
    return None


def fewest_cable_refusals(cable: Cable, a: CageKind, b: CageKind) -> tuple[Refusal, ...]:
    """The broken rules of the better way round; none when the cable fits."""
    return min((tuple(cable_refusals(cable, *ends, a, b)) for ends in _orientations(cable)), key=len)


def cable_refusals(cable: Cable, at_a: CableEnd, at_b: CableEnd, a: CageKind, b: CageKind) -> Iterator[Refusal]:
    """Every rule that keeps the cable, laid with ``at_a`` in the ``a`` cage, from joining the cages."""
    part = (cable.id,)
    for end, cage in ((at_a, a), (at_b, b)):
        yield from plug_refusals(cage, cable.id, end.form_factor, end.shell, end.power_w.milli)
        yield from _lane_refusals(cable, end, cage.mode)
    if at_a.lane_gbps != at_b.lane_gbps and not cable.converts_lane_rate:
        yield Refusal(
            "Copper (a)",
            part,
            f"{cable.id} joins {at_a.lane_gbps:g}G and {at_b.lane_gbps:g}G lanes but has no gearbox",
        )
    yield from _link_refusals(cable, at_a, at_b, a.mode, b.mode)
    if at_a.fec and at_b.fec and at_a.fec != at_b.fec:
        yield Refusal("R8", part, f"{cable.id} lists FEC {at_a.fec} at one end and {at_b.fec} at the other")
    if a.protocol not in cable.protocols:
        yield Refusal("R9", part, f"{cable.id} does not carry {a.protocol}")
    if cable.kind is CableKind.ACC and not _is_linear_copper_accepted(cable, a, b):
        yield Refusal(
            "Copper (g)", part, f"{cable.id} is linear active copper, which these hosts are not listed to accept"
        )


def limit_of(cable: Cable) -> tuple[float, str]:
    """Longest assembly that may be used, m, and the copper rule that sets it."""
    lane_gbps = max(cable.end_a.lane_gbps, cable.end_b.lane_gbps)
    # Only NVIDIA sells passive splitters beyond the common limit.
    is_long_splitter = cable.vendor == _NVIDIA and cable.end_b.count > 1
    limit_m = plug_rules().reach_m(cable.kind, lane_gbps, splitter=is_long_splitter)
    longest_m = max(stock.length_m for stock in cable.lengths)
    if limit_m is None or longest_m <= limit_m:
        return longest_m, "Copper (b)"
    return limit_m, "Copper (c)" if cable.kind is CableKind.DAC else "Copper (d)"


def _orientations(cable: Cable) -> tuple[tuple[CableEnd, CableEnd], ...]:
    ends = (cable.end_a, cable.end_b)
    return (ends,) if cable.end_a == cable.end_b else (ends, ends[::-1])


def _lane_refusals(cable: Cable, end: CableEnd, mode: PortMode) -> Iterator[Refusal]:
    # A twisted-pair cord is rated up to a speed; every other assembly runs at exactly its lane rate.
    is_rate_met = mode.lane_gbps <= end.lane_gbps if cable.kind is CableKind.COPPER else mode.lane_gbps == end.lane_gbps
    if not is_rate_met:
        yield Refusal(
            "Copper (a)",
            (cable.id,),
            f"{cable.id} runs {end.lane_gbps:g}G lanes; the cage runs {mode_name(mode)} on {mode.lane_gbps:g}G lanes",
        )
    elif mode.ports * mode.lanes != end.lanes:
        yield Refusal(
            "R4",
            (cable.id,),
            f"{cable.id} has {end.lanes} lanes in the cage; as {mode_name(mode)} it lights {mode.ports * mode.lanes}",
        )


def _link_refusals(
    cable: Cable, at_a: CableEnd, at_b: CableEnd, a_mode: PortMode, b_mode: PortMode
) -> Iterator[Refusal]:
    part = (cable.id,)
    if at_a.count > 1:
        yield Refusal("Copper (e)", part, f"{cable.id} is laid backwards: its single end belongs in the switch")
    elif at_b.count > 1:
        if b_mode.ports != 1 or a_mode.ports != at_b.count:
            yield Refusal(
                "Copper (e)",
                part,
                f"{cable.id} has {at_b.count} legs of one port each; the cages run {mode_name(a_mode)} and "
                f"{mode_name(b_mode)}",
            )
    elif a_mode.ports != b_mode.ports or not _carries(cable, a_mode.ports):
        yield Refusal(
            "R4",
            part,
            f"{cable.id} carries {cable.links_per_assembly} links straight through; the cages run "
            f"{mode_name(a_mode)} and {mode_name(b_mode)}",
        )


def _carries(cable: Cable, links: int) -> bool:
    """R17: a straight cable carries one link per plug port, or one link when both cages are a single MAC."""
    return links == cable.links_per_assembly or (links == 1 and cable.links_if_single_mac == 1)


def _is_linear_copper_accepted(cable: Cable, a: CageKind, b: CageKind) -> bool:
    """Copper (g): a linear host, or NVIDIA's own InfiniBand cables, which NVIDIA lists for its own hosts."""
    is_vendor_listed = cable.vendor == _NVIDIA and a.protocol is Protocol.INFINIBAND
    return is_vendor_listed or (a.linear_host and b.linear_host)
