"""Plugs and cages (R1 to R4): what enters what, and in which mode the cage then runs.

Rule numbers are those of ``optics-rules.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpunet.models.parts import Cable, Fibre, FormFactor, Module, PortMode, Protocol, Shell
from gpunet.solver.verify_groups import GroupType

SFP = (FormFactor.SFP, FormFactor.SFP_PLUS, FormFactor.SFP28, FormFactor.SFP56)
_QSFP56 = (FormFactor.QSFP28, FormFactor.QSFP56)
OSFP = (FormFactor.OSFP, FormFactor.OSFP224)
TAKES: dict[FormFactor, tuple[FormFactor, ...]] = {
    **{cage: SFP[: i + 1] for i, cage in enumerate(SFP)},
    FormFactor.SFP_DD: (FormFactor.SFP_DD, *SFP),
    **dict.fromkeys(_QSFP56, _QSFP56),
    FormFactor.QSFP112: (FormFactor.QSFP112, *_QSFP56),
    FormFactor.QSFP_DD: (FormFactor.QSFP_DD, *_QSFP56),
    FormFactor.QSFP_DD800: (FormFactor.QSFP_DD800, FormFactor.QSFP_DD, *_QSFP56),
    **dict.fromkeys(OSFP, OSFP),
    FormFactor.RJ45: (FormFactor.RJ45,),
}
"""R1: plugs that a cage takes."""


@dataclass(frozen=True)
class Side:
    """One end of a kind of link."""

    group: GroupType
    top: int
    """Highest logical port in use in the cage."""
    module: Module | None
    several: bool
    """True when the physical piece ends in several cages on this side."""


@dataclass(frozen=True)
class LinkKind:
    """Links that are alike in everything the rules look at."""

    a: Side
    b: Side
    medium: Cable | Fibre | None
    length_m: float
    speed_gbps: float
    through_panels: bool = False
    """True where the medium is one cord of a channel: its loss and its lengths are judged with the whole channel."""


@dataclass
class Verdict:
    """What the rules say about a kind of link. Empty lists mean that it holds."""

    seats: list[str] = field(default_factory=list)
    mating: list[str] = field(default_factory=list)
    reach: list[str] = field(default_factory=list)
    head_at_a: bool = True
    """For a splitter: True when its single end is at ``a``."""
    mode_ports: tuple[int, int] = (1, 1)
    """Logical ports of the mode each cage runs in."""
    end_mw: tuple[int, int] = (0, 0)
    """Draw of the cable's plug in each cage, mW; 0 over fibre, where modules draw."""

    def all(self) -> list[str]:
        """Everything found."""
        return self.seats + self.mating + self.reach


def any_mode_ports(side: Side, speed_gbps: float) -> int:
    wide = [m.ports for m in side.group.modes(speed_gbps) if m.ports >= side.top]
    return wide[0] if wide else side.top


def plug_fits(form: FormFactor, shell: Shell, group: GroupType) -> bool:
    """R1 and R2."""
    cage = group.cages
    if form not in TAKES.get(cage.form_factor, ()) and form not in cage.also_accepts:
        return False
    return form not in OSFP or shell is cage.shell


def cage_words(group: GroupType) -> str:
    shell = "" if group.cages.shell is Shell.NONE else f"-{group.cages.shell.value}"
    return f"{group.cages.form_factor.value}{shell} cage of {group.part or group.kind}"


def module_seats(module: Module, group: GroupType) -> str:
    """R1 to R3 for a module; empty when it fits."""
    if not plug_fits(module.form_factor, module.shell, group):
        rule = "R2" if module.form_factor in TAKES.get(group.cages.form_factor, ()) else "R1"
        shell = "" if module.shell is Shell.NONE else f"-{module.shell.value}"
        return f"{rule}: {module.id} is {module.form_factor.value}{shell}, not for the {cage_words(group)}"
    # A cage is twin-port when it belongs to a switch, or when it has no way to run as one port.
    twin = group.switch is not None or all(m.ports > 1 for m in group.cages.modes)
    narrow = module.optical_ports == 1 and module.host_lanes < group.cages.host_lanes
    if twin and narrow and module.form_factor in OSFP:
        return f"R3: {module.id} is a single-port module for adapters, not for the twin-port {cage_words(group)}"
    return ""


def modes_of(side: Side, speed_gbps: float, common: frozenset[Protocol]) -> Iterator[PortMode]:
    for mode in side.group.modes(speed_gbps):
        if mode.ports >= side.top and (not common or common & set(mode.protocols)):
            yield mode


def module_mode(
    module: Module, side: Side, speed_gbps: float, common: frozenset[Protocol]
) -> tuple[PortMode | None, str]:
    """R4: a mode of the cage with the module's lane rate and no more lanes than it has."""
    for mode in modes_of(side, speed_gbps, common):
        if mode.lane_gbps == module.host_lane_gbps and mode.ports * mode.lanes <= module.host_lanes:
            return mode, ""
    return None, (
        f"R4: {module.id} has {module.host_lanes} x {module.host_lane_gbps:g}G host lanes; "
        f"the {cage_words(side.group)} has no such mode with {speed_gbps:g}G on port {side.top}"
    )
