"""Which plug works in which cage, and which two modules understand each other.

The rules are numbered as in the documentation of the optics rules: R1 to R3 seating, R4 host electrical,
R5 to R9 the far end, R15 watts, R18 splitting, R19 vendor lists. Every check yields the rules that are broken,
so that one piece of code both decides and explains. Anything that is not listed as working is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpunet.catalogs.plugs import OSFP_FAMILY, plug_rules
from gpunet.models.interconnect import CageKind, Refusal
from gpunet.models.parts import FormFactor, Module, OpticalInterface, PortMode, Protocol, Shell

MATING_TIERS = frozenset(frozenset(pair) for pair in (("DR", "FR"), ("FR", "LR"), ("VR", "SR")))
"""R7: unequal reach tiers that still link. DR with LR overloads the receiver and is refused."""

_LINEAR_FEC = "RS(544,514)"
"""LPO: the code that a linear link leans on, since no chip in the module cleans the signal."""

_HALF_LIT_OF = 4
"""R18: only a four-lane port is documented with half of its lanes lit (200G on a 400G module)."""


@dataclass(frozen=True, slots=True)
class Seated:
    """A module in a cage, realising the cage's mode."""

    module: Module
    interface: OpticalInterface
    fan_out: int
    """Links that leave each optical port: 1, or the legs of the splitter the mode asks for."""
    lanes: int
    """Optical lanes of one link."""

    @property
    def half_lit(self) -> bool:
        """True when the cage lights only half of the module's lanes (R18, the adapter end of a 200G link)."""
        return self.fan_out * self.lanes < self.interface.lanes


def accepts(cage: CageKind) -> tuple[FormFactor, ...]:
    """Plug families that enter the cage (R1). No adapter is assumed: an SFP plug never enters a QSFP opening."""
    listed = plug_rules().cage_accepts[cage.form_factor] + cage.also_accepts
    return listed + OSFP_FAMILY if FormFactor.OSFP in cage.also_accepts else listed


def plug_refusals(cage: CageKind, part: str, form_factor: FormFactor, shell: Shell, power_mw: int) -> Iterator[Refusal]:
    """Broken seating rules of one plug, module or cable end, in one cage: R1, R2, R15, R19."""
    if form_factor not in accepts(cage):
        takes = ", ".join(accepts(cage)) or "no plug at all"
        yield Refusal("R1", (part,), f"{part} is a {form_factor} plug; a {cage.form_factor} cage takes {takes}")
    elif form_factor in OSFP_FAMILY and shell is not cage.shell:
        yield Refusal(
            "R2", (part,), f"{part} has an {shell} heat-sink shell; the {cage.form_factor} cage is {cage.shell}"
        )
    if cage.power_limit_mw is not None and power_mw > cage.power_limit_mw:
        yield Refusal(
            "R15", (part,), f"{part} draws up to {watts(power_mw)}; the cage is limited to {watts(cage.power_limit_mw)}"
        )
    if part in cage.refuses_modules:
        yield Refusal("R19", (part,), f"{part} is on the device vendor's list of unsupported parts")


def module_refusals(cage: CageKind, module: Module, interfaces: Mapping[str, OpticalInterface]) -> Iterator[Refusal]:
    """Every rule that keeps the module from realising the cage's mode; none when it fits."""
    part = module.id
    yield from plug_refusals(cage, part, module.form_factor, module.shell, module.power_max_w.milli)
    if _is_single_port_in_twin_cage(cage, module):
        yield Refusal(
            "R3",
            (part,),
            f"{part} is a single-port module of {module.host_lanes} lanes, for adapters; "
            f"the {cage.host_lanes}-lane {cage.form_factor} cage needs a twin-port module",
        )
    if module.interface is None:
        yield Refusal("R10", (part,), f"{part} has a copper jack, which no fibre of the catalogue enters")
    else:
        yield from _mode_refusals(cage.mode, module, interfaces[module.interface])
    if cage.accepts_codings and module.coded_for not in cage.accepts_codings:
        taken = ", ".join(cage.accepts_codings)
        yield Refusal(
            "R19", (part,), f"{part} is coded for {module.coded_for}; the host takes modules coded for {taken}"
        )
    if cage.protocol not in module.protocols:
        yield Refusal("R9", (part,), f"{part} does not carry {cage.protocol}")
    if module.retiming == "linear" and cage.protocol is Protocol.INFINIBAND:
        yield Refusal("LPO", (part,), f"{part} is a linear module, which is not offered for InfiniBand")
    elif module.retiming != "full" and not cage.linear_host:
        yield Refusal(
            "LPO", (part,), f"{part} needs a host qualified for linear optics; this one is not listed as such"
        )


def seat(cage: CageKind, module: Module, interfaces: Mapping[str, OpticalInterface]) -> Seated | None:
    """The module at work in the cage, or none when any rule refuses it."""
    if next(module_refusals(cage, module, interfaces), None) is not None or module.interface is None:
        return None
    interface = interfaces[module.interface]
    lighting = _lighting(cage.mode, module, interface)
    return None if lighting is None else Seated(module, interface, *lighting)


def pair_refusals(a: Seated, b: Seated) -> Iterator[Refusal]:
    """Every rule that keeps two seated modules from linking: R5, R7, R8, R18 and the linear-optics rule."""
    parts = (a.module.id, b.module.id)
    names = f"{a.interface.id} and {b.interface.id}"
    if (a.interface.lane_class, a.interface.media) != (b.interface.lane_class, b.interface.media):
        yield Refusal(
            "R5", parts, f"{names} do not mate: {a.interface.lane_class} lanes against {b.interface.lane_class}"
        )
        return
    if a.fan_out > 1 and b.fan_out > 1:
        yield Refusal("R18", parts, "both ends split their optical ports, and a splitter has only one head")
    elif (a.half_lit and b.fan_out == 1) or (b.half_lit and a.fan_out == 1):
        yield Refusal("R18", parts, "a half-lit module links only to a port that the far end splits")
    elif a.lanes != b.lanes:
        yield Refusal("R5", parts, f"{names} do not mate here: {a.lanes} optical lanes against {b.lanes}")
    tiers = frozenset((a.interface.tier, b.interface.tier))
    if len(tiers) == 2 and tiers not in MATING_TIERS:
        yield Refusal("R7", parts, f"{names} do not mate: reach tier {a.interface.tier} against {b.interface.tier}")
    if a.interface.fec != b.interface.fec:
        yield Refusal("R8", parts, f"{names} do not link: FEC {a.interface.fec} against {b.interface.fec}")
    if (a.module.retiming == "linear") != (b.module.retiming == "linear"):
        yield Refusal("LPO", parts, "a linear module links only to a linear module unless both vendors list the pair")
    elif a.module.retiming == "linear" and not a.interface.fec.startswith(_LINEAR_FEC):
        yield Refusal("LPO", parts, f"linear modules need {_LINEAR_FEC}; {a.interface.id} runs {a.interface.fec}")


def watts(power_mw: int) -> str:
    """Milliwatts as a person writes watts: ``16.5 W``."""
    return f"{power_mw / 1000:g} W"


def mode_name(mode: PortMode) -> str:
    """A mode as a person writes it: ``2 x 400G``."""
    return f"{mode.ports} x {mode.speed_gbps:g}G"


def _is_single_port_in_twin_cage(cage: CageKind, module: Module) -> bool:
    """R3: a plug with fewer lanes than an OSFP cage fits only a flat adapter cage whose one port it fills."""
    if module.form_factor not in OSFP_FAMILY or module.host_lanes >= cage.host_lanes:
        return False
    return not (cage.shell is Shell.RHS and cage.mode.ports == 1 and cage.mode.lanes <= module.host_lanes)


def _mode_refusals(mode: PortMode, module: Module, interface: OpticalInterface) -> Iterator[Refusal]:
    """R4 and R6: the module must realise exactly the cage's mode."""
    lighting = _lighting(mode, module, interface)
    if lighting is None:
        port_gbps = interface.lanes * interface.gbps_per_lane
        yield Refusal(
            "R4",
            (module.id,),
            f"{module.id} is {module.optical_ports} x {port_gbps:g}G on {module.host_lanes} host lanes of "
            f"{module.host_lane_gbps:g}G; the cage runs {mode_name(mode)} on {mode.ports * mode.lanes} lanes of "
            f"{mode.lane_gbps:g}G",
        )
        return
    _, lanes = lighting
    if lanes == interface.lanes:
        return
    if lanes not in interface.splittable_into_lanes:
        yield Refusal(
            "R6", (module.id,), f"{interface.id} of {module.id} gives one far end per port and cannot be split"
        )
    elif module.host_lane_gbps != interface.gbps_per_lane and lanes > 1:
        # A gearbox is only shown to advertise the whole port and its single optical lanes.
        yield Refusal(
            "R4",
            (module.id,),
            f"{module.id} has a gearbox and is not listed with a {mode.speed_gbps:g}G breakout",
        )


def _lighting(mode: PortMode, module: Module, interface: OpticalInterface) -> tuple[int, int] | None:
    """(fan-out per optical port, optical lanes per link) with which the lanes and rates of R4 add up, if any."""
    if module.host_lane_gbps != mode.lane_gbps or mode.ports % module.optical_ports:
        return None
    fan_out = mode.ports // module.optical_ports
    lit_lanes, lit_gbps = mode.ports * mode.lanes, mode.ports * mode.speed_gbps
    module_gbps = module.optical_ports * interface.lanes * interface.gbps_per_lane
    if lit_lanes == module.host_lanes and lit_gbps == module_gbps and interface.lanes % fan_out == 0:
        return fan_out, interface.lanes // fan_out
    is_half = lit_lanes * 2 == module.host_lanes and lit_gbps * 2 == module_gbps
    if is_half and fan_out == 1 and interface.lanes == _HALF_LIT_OF:
        return 1, interface.lanes // 2
    return None
