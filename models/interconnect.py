"""Interconnects: the buildable ways to make a link between two given cages."""

from __future__ import annotations

from dataclasses import dataclass

from gpunet.models.parts import FormFactor, PortMode, Protocol, Shell
from gpunet.models.plant import Structure


@dataclass(frozen=True, slots=True)
class CageKind:
    """All that decides what may be plugged into a cage, and how it behaves in one mode.

    Two cages with equal kinds have the same interconnects, so results are cached by a pair of kinds.
    """

    form_factor: FormFactor
    shell: Shell
    host_lanes: int
    lane_gbps: float
    mode: PortMode
    """The mode the cage runs in for this link class."""
    power_limit_mw: int | None
    """Limit for one plug, mW; none where no limit is published."""
    protocol: Protocol
    linear_host: bool = False
    also_accepts: tuple[FormFactor, ...] = ()
    refuses_modules: frozenset[str] = frozenset()
    """Module ids that the device's vendor marks unsupported (R19, support lists)."""
    accepts_codings: tuple[str, ...] = ()
    """Codings of modules that the host takes; every one where empty (R19, coding)."""


@dataclass(frozen=True, slots=True)
class Laid:
    """What a channel through panels takes beside the cord that is the interconnect's medium."""

    structure: Structure
    run: str
    """The trunk, or the long cord of a channel through one panel, with its stock length."""
    run_legs: int
    """Channels that one run carries."""
    panel: str
    positions: int
    """Channels that one panel has places for."""
    panels: int
    """Panels that one channel passes."""
    cord: str | None
    """Cord at the other end, with its stock length; none where the run enters the module."""


@dataclass(frozen=True, slots=True)
class Interconnect:
    """One buildable way to make links between an ``a`` cage and a ``b`` cage at one length step.

    ``a`` is the end nearer the endpoint's switch side in a link class: the lower-tier device is ``b``
    for endpoint links (a = leaf, b = endpoint) and ``a`` for switch links (a = leaf, b = spine).

    A module pair uses one module per cage in use, and ``media_per_link`` media pieces per link as the
    fraction ``media_num / media_den``: 1/1 for a jumper, 1/2 for a 1:2 splitter, 1/4 for a 1:4 harness.
    A cable has no modules; ``links_per_medium`` links share one assembly between one ``a`` cage and
    ``b_cages_per_medium`` ``b`` cages.
    """

    speed_gbps: float
    length_step_m: float
    """Routed length covered, m: the class's step."""
    a_part: str | None
    """Module id at the ``a`` cage; none for a cable."""
    b_part: str | None
    """Module id at the ``b`` cage; none for a cable."""
    medium_base: str
    """Catalogue id of the fibre or cable."""
    medium: str
    """Id with its stock length, such as ``nv-mfp7e10-n030``: the part on the bill."""
    medium_length_m: float
    """Stock length bought, m; cords and run together where there are panels."""
    media_num: int
    media_den: int
    """Media pieces per link = media_num / media_den; a started piece is a whole piece per cage."""
    is_cable: bool
    head_at_a: bool
    """For a splitter cable or fibre: True when its single end is at ``a``."""
    a_power_mw: int
    """Largest draw of the plug in one ``a`` cage, mW (module, or cable end)."""
    b_power_mw: int
    a_power_typ_mw: int
    b_power_typ_mw: int
    reach_m: float
    """Longest routed length this pair of modules or this cable covers, m."""
    reason: str
    """One line for people: reach, rate and watts, and which limit decides."""
    legs: int = 1
    """Far ends of one medium: 1 for a jumper or a straight cable (whose links then all join the same two cages),
    N for a splitter, whose head ``head_at_a`` places and whose legs go to N ports of the other side."""
    laid: Laid | None = None
    """Panels and trunks of the channel; none for a direct cord and for a cable."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one combination of parts cannot make the link: used by explain and by reports."""

    rule: str
    """Rule broken, such as ``R5``."""
    parts: tuple[str, ...]
    message: str
