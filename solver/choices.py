"""What ``compare`` sets side by side: the case narrowed to one protocol, vendor, cage or optic at a time.

Narrowing only ever denies parts. A list of allowed parts would also let in what the case keeps out, such as a part
that cannot be ordered yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gpunet.models.case import FIXED_PLACEMENTS, Case, FabricName, Objective
from gpunet.models.parts import CableKind, Module, Protocol, Switch
from gpunet.solver.candidates import Compiled
from gpunet.solver.interconnects import LinkParts
from gpunet.solver.placements import placed
from gpunet.solver.ports import faces


class By(StrEnum):
    """What can be varied."""

    PROTOCOL = "protocol"
    VENDOR = "vendor"
    FORM_FACTOR = "form-factor"
    OPTICS = "optics"
    OBJECTIVE = "objective"
    PLACEMENT = "placement"


ANY = "any"
"""The case as it stands, beside choices that narrow it."""
MULTIMODE, SINGLE_MODE, AOC, COPPER = "multimode", "single-mode", "AOC", "copper"
MEDIA = {"MMF": MULTIMODE, "SMF": SINGLE_MODE}


@dataclass(frozen=True)
class Choice:
    """One column of a comparison."""

    name: str
    says: str
    """What sets it apart, in settings of the case."""
    case: Case
    refused: str = ""
    """Why the case itself rules it out, where it does."""


class ChoiceError(ValueError):
    """A comparison that the case leaves nothing to compare for."""


def placement_choices(case: Case) -> list[Choice]:
    """Every placement of the switches, whichever the case has."""
    return [Choice(p.value, f"site.switch_placement: {p.value}", placed(case, p)) for p in FIXED_PLACEMENTS]


def choices(compiled: Compiled, by: By, fabrics: Iterable[FabricName] | None = None) -> list[Choice]:
    """The choices for a case, in a fixed order; narrowed in ``fabrics``, or where ``default_fabrics`` says.

    Raises ChoiceError when the case lacks a fabric, or leaves nothing to choose.
    """
    if by is By.OBJECTIVE:
        return _objectives(compiled.case)
    chosen = list(default_fabrics(compiled, by) if fabrics is None else fabrics)
    missing = [f.value for f in chosen if f not in compiled.eligible]
    if missing:
        there = ", ".join(f.value for f in compiled.eligible)
        raise ChoiceError(f"found {', '.join(missing)}, which the case does not ask for; it asks for {there}")
    if by is By.PROTOCOL:
        return _protocols(compiled.case, chosen)
    make: Callable[[Compiled, list[FabricName]], list[Choice]] = {
        By.VENDOR: _vendors,
        By.FORM_FACTOR: _form_factors,
        By.OPTICS: _optics,
    }[by]
    found = make(compiled, chosen)
    if not found:
        raise ChoiceError(f"nothing to compare by {by.value}: no part that the case allows can carry an endpoint")
    return [Choice(ANY, "as the case allows", compiled.case), *found]


def default_fabrics(compiled: Compiled, by: By) -> list[FabricName]:
    """Every fabric for vendors; else the backend, or the first fabric of a case without one."""
    there = list(compiled.eligible)
    if by is By.VENDOR:
        return there
    return [FabricName.BACKEND] if FabricName.BACKEND in there else there[:1]


def _protocols(case: Case, fabrics: list[FabricName]) -> list[Choice]:
    """A backend that carries storage takes storage with it; storage of its own keeps the protocols it may have."""
    found = []
    for protocol in Protocol:
        narrowed, refused = case, ""
        for fabric in fabrics:
            spec = getattr(case.fabrics, fabric.value)
            if protocol not in spec.protocols:
                allowed = ", ".join(p.value for p in spec.protocols)
                refused = f"fabrics.{fabric.value}.protocols: {allowed} allowed; {protocol.value} is not"
            narrowed = _with_spec(narrowed, fabric, protocols=(protocol,))
        says = ", ".join(f"fabrics.{f.value}.protocols: [{protocol.value}]" for f in fabrics)
        found.append(Choice(protocol.value, says, case if refused else narrowed, refused))
    return found


def _objectives(case: Case) -> list[Choice]:
    """Each objective first, and the cheapest of equals; of the cheapest, the coolest."""
    then = {Objective.COST: Objective.POWER, Objective.POWER: Objective.COST, Objective.TCO: Objective.COST}
    return [
        Choice(o.value, f"objective: [{o.value}, {then[o].value}]", case.model_copy(update={"objective": (o, then[o])}))
        for o in Objective
    ]


def _vendors(compiled: Compiled, fabrics: list[FabricName]) -> list[Choice]:
    vendors = sorted({s.vendor for f in fabrics for s in compiled.eligible[f].switches})
    return [_of_switches(compiled, fabrics, v, f"switches of {v} only", lambda switch: switch.vendor) for v in vendors]


def _form_factors(compiled: Compiled, fabrics: list[FabricName]) -> list[Choice]:
    families = sorted(
        {
            cage_family(s)
            for f in fabrics
            for scope in compiled.scopes.get(f, ())
            for s in scope.switches
            if any(x.speed_gbps >= scope.kinds[0].speed_gbps for x in faces(s, scope.protocol))
        }
    )
    return [_of_switches(compiled, fabrics, x, f"switches with {x} cages only", cage_family) for x in families]


def cage_family(switch: Switch) -> str:
    """Form factors of the cages that carry a fabric: ``OSFP``, or ``OSFP + QSFP112`` where there are two."""
    return " + ".join(sorted({g.form_factor.value for g in switch.cages if g.fabric}))


def _optics(compiled: Compiled, fabrics: list[FabricName]) -> list[Choice]:
    """One reach tier of modules at a time, then all of one glass; copper cables stay, active optical ones do not."""
    tiers: dict[str, set[str]] = {}
    cables = set()
    for fabric in fabrics:
        links = compiled.eligible[fabric].links
        least_gbps = min((k.speed_gbps for s in compiled.scopes.get(fabric, ()) for k in s.kinds[:1]), default=0.0)
        for module in links.modules.values():
            interface = links.interfaces.get(module.interface or "")
            if interface is not None and interface.lanes * interface.gbps_per_lane >= least_gbps:
                tiers.setdefault(interface.tier, set()).add(MEDIA[interface.media])
        cables |= {AOC if c.kind is CableKind.AOC else COPPER for c in links.cables.values()}
    kept = {tier: {tier} for tier in sorted(tiers)}
    for glass in MEDIA.values():
        of_glass = {tier for tier, media in tiers.items() if media == {glass}}
        if len(of_glass) > 1:
            kept[glass] = of_glass
    if not tiers:
        return []
    kept |= {name: {name} for name in (AOC, COPPER) if name in cables}
    return [_of_optics(compiled, fabrics, name, families) for name, families in kept.items()]


def optics_family(module: Module, links: LinkParts) -> str:
    """Reach tier of a module, such as ``DR``; ``copper`` for one with an RJ45 socket."""
    interface = links.interfaces.get(module.interface or "")
    return COPPER if interface is None else interface.tier


def _of_optics(compiled: Compiled, fabrics: list[FabricName], name: str, families: set[str]) -> Choice:
    case = compiled.case
    for fabric in fabrics:
        links = compiled.eligible[fabric].links
        kept = {*families, COPPER}
        deny = [m.id for m in links.modules.values() if optics_family(m, links) not in kept]
        deny += [c.id for c in links.cables.values() if c.kind is CableKind.AOC and AOC not in kept]
        case = denying(case, fabric, deny)
    beside = "" if name == COPPER else ", copper cables as the case allows"
    modules = "no optics" if name == COPPER else "active optical cables" if name == AOC else f"{name} modules"
    return Choice(name, f"{modules} in {_names(fabrics)}{beside}", case)


def _of_switches(
    compiled: Compiled, fabrics: list[FabricName], name: str, says: str, family: Callable[[Switch], str]
) -> Choice:
    case = compiled.case
    for fabric in fabrics:
        case = denying(case, fabric, [s.id for s in compiled.eligible[fabric].switches if family(s) != name])
    return Choice(name, f"{says} in {_names(fabrics)}", case)


def _names(fabrics: list[FabricName]) -> str:
    return ", ".join(f.value for f in fabrics)


def denying(case: Case, fabric: FabricName, parts: Iterable[str]) -> Case:
    """The case with some parts denied to one fabric."""
    spec = getattr(case.fabrics, fabric.value)
    deny = tuple(sorted({*spec.parts.deny, *parts}))
    return _with_spec(case, fabric, parts=spec.parts.model_copy(update={"deny": deny}))


def _with_spec(case: Case, fabric: FabricName, **fields: object) -> Case:
    update: Mapping[str, object] = {
        fabric.value: getattr(case.fabrics, fabric.value).model_copy(update=fields),
    }
    return case.model_copy(update={"fabrics": case.fabrics.model_copy(update=update)})
