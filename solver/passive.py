"""Which fibre joins two seated modules, and how far it carries them (rules R5, R6, R10 to R14)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpunet.catalogs.plant import family, plant_rules
from gpunet.models.interconnect import Refusal
from gpunet.models.parts import Connector, Fibre, FibreKind
from gpunet.models.plant import Mates
from gpunet.solver.mating import Seated

MATED_PAIRS = 2
"""R14: connections of a cord that runs from module to module."""


def head_of(a: Seated, b: Seated) -> tuple[Seated, Seated]:
    """The end at side a of the fibre and the end at its legs; for a straight fibre the order of the call."""
    return (b, a) if b.fan_out > 1 else (a, b)


def fibre_refusals(fibre: Fibre, a: Seated, b: Seated, mates: Mates = Mates.LOW_LOSS) -> Iterator[Refusal]:
    """Every rule that keeps the fibre from joining two modules that would otherwise mate."""
    head, tail = head_of(a, b)
    parts = (fibre.id, a.module.id, b.module.id)
    if any(fibre.grade not in end.module.reach_m for end in (a, b)):
        yield Refusal("R5", parts, f"{fibre.id} is {fibre.grade} glass, which these modules do not use")
    if fibre.legs != head.fan_out:
        yield Refusal("R6", parts, f"{fibre.id} has {fibre.legs} far ends; the link needs {head.fan_out}")
    yield from _connector_refusals(fibre, head, tail, parts)
    # Modules are male, so a cord that enters one is female; trunks are male and meet cords behind panels only.
    if fibre.kind is FibreKind.TRUNK or fibre.gender.startswith("male"):
        yield Refusal("R12", parts, f"{fibre.id} has male ends, which do not enter a module")
    if fibre.polarity.startswith("Type A"):
        yield Refusal("R12", parts, f"{fibre.id} has polarity Type A; a direct link needs a crossover (Type B)")
    if fibre.fibres < head.interface.fibres:
        yield Refusal(
            "R12", parts, f"{fibre.id} has {fibre.fibres} fibres; {head.interface.id} needs {head.interface.fibres}"
        )
    if _loss_limited_m(fibre, a, b, mates) <= 0:
        loss_db = MATED_PAIRS * pair_db(fibre, mates)
        yield Refusal("R14", parts, f"{fibre.id} loses {loss_db:g} dB at its ends, which is the whole budget or more")


def reach_of(fibre: Fibre, a: Seated, b: Seated, mates: Mates = Mates.LOW_LOSS) -> tuple[float, str]:
    """Longest fibre that carries the link, m, and the rule that sets it: R7, R13 for a splitter, R14 for loss."""
    limits = [(min(a.module.reach_m[fibre.grade], b.module.reach_m[fibre.grade]), "R7")]
    if fibre.legs > 1:
        limits.append((plant_rules().splitter_reach_m.v, "R13"))
    limits.append((_loss_limited_m(fibre, a, b, mates), "R14"))
    metres, rule = min(limits, key=lambda limit: limit[0])
    return float(metres), rule


def pair_db(fibre: Fibre, mates: Mates) -> float:
    """What one mated pair at the ends of a fibre loses, dB."""
    if mates is Mates.LOW_LOSS:
        return fibre.loss_per_mated_pair_db
    return plant_rules().mated_pair_db[mates][family(fibre.connector_a.kind)].v


def loss_limited_m(pairs_db: float, grade: str, a: Seated, b: Seated) -> float:
    """Length at which the glass uses up what mated pairs leave of the smaller budget, m; infinite without a budget."""
    left_db = min(end.interface.loss_budget_db.get(grade, math.inf) for end in (a, b)) - pairs_db
    return left_db / plant_rules().attenuation_db_per_m[a.interface.media].v


def _loss_limited_m(fibre: Fibre, a: Seated, b: Seated, mates: Mates) -> float:
    return loss_limited_m(MATED_PAIRS * pair_db(fibre, mates), fibre.grade, a, b)


def _connector_refusals(fibre: Fibre, head: Seated, tail: Seated, parts: tuple[str, ...]) -> Iterator[Refusal]:
    want = (head.module.connector, tail.module.connector)
    have = (fibre.connector_a, fibre.connector_b)
    if want == have or (fibre.legs == 1 and want == have[::-1]):
        return
    kinds = _kinds(have)
    rule = "R11" if kinds == _kinds(want) or (fibre.legs == 1 and kinds[::-1] == _kinds(want)) else "R10"
    yield Refusal(
        rule,
        parts,
        f"{fibre.id} ends in {_name(have[0])} and {_name(have[1])}; the modules have {_name(want[0])} and "
        f"{_name(want[1])}",
    )


def _kinds(pair: tuple[Connector, Connector]) -> tuple[str, str]:
    return pair[0].kind, pair[1].kind


def _name(connector: Connector) -> str:
    return f"{connector.kind}/{connector.polish}" if connector.polish else connector.kind
