"""Channels through panels: which cords, panels and trunks lie between two modules, and how far they go (R10 to R14).

A channel through two panels is a cord, a panel, a trunk, a panel, a cord; through one panel a cord, a panel, and a run
that enters the far module itself. The *tail* is the cord at the end ``b``, the *run* is what leaves the panel there. A
trunk of several legs carries several channels, so it pays only for links that run together. Splitters pass no panel:
their legs part at the panel, and where each of them goes is known only once everything stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpunet.catalogs import medium_id
from gpunet.catalogs.plant import family, plant_rules
from gpunet.models.interconnect import Laid, Refusal
from gpunet.models.parts import Accessory, Connector, Fibre, FibreKind
from gpunet.models.plant import Mates, Plant, Structure
from gpunet.solver.layout import IN_RACK_M
from gpunet.solver.mating import Seated
from gpunet.solver.passive import fibre_refusals, head_of, loss_limited_m, pair_db

Cords = tuple[float, float]
"""Way from the ports to the panel at ``a`` and at ``b``, m."""
IN_THE_RACK: Cords = (IN_RACK_M, IN_RACK_M)


class Pieces(NamedTuple):
    """The parts of one channel."""

    structure: Structure
    tail: Fibre
    """Cord at the end ``b``; through two panels one like it is at ``a``."""
    run: Fibre
    panel: Accessory

    @property
    def cords(self) -> int:
        """Cords of the channel."""
        return self.structure.panels

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all parts."""
        return self.tail.id, self.run.id, self.panel.id


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel before its lengths are known: what an option needs to lay it."""

    structure: Structure
    run: str
    run_legs: int
    panel: str
    positions: int
    cord: str
    cord_stock_m: tuple[float, ...]

    def lay(self, run_stock_m: Sequence[float], step_m: float, reach_m: float, cords: Cords) -> Lengths | None:
        """The shortest stock lengths that cover a route and its cords; none where they go beyond the reach."""
        at_a, at_b = cords
        run = _first(run_stock_m, step_m)
        tail = _first(self.cord_stock_m, at_b)
        cord = _first(self.cord_stock_m, at_a) if self.structure.panels > 1 else 0.0
        if run is None or tail is None or cord is None or run + tail + cord > reach_m + 1e-9:
            return None
        return Lengths(run, tail, cord)

    def laid(self, lengths: Lengths) -> Laid:
        """The channel with the parts as they are bought."""
        return Laid(
            structure=self.structure,
            run=medium_id(self.run, lengths.run_m),
            run_legs=self.run_legs,
            panel=self.panel,
            positions=self.positions,
            panels=self.structure.panels,
            cord=medium_id(self.cord, lengths.cord_m) if lengths.cord_m else None,
        )


class Lengths(NamedTuple):
    """Stock lengths of a channel, m."""

    run_m: float
    tail_m: float
    cord_m: float
    """0 where the run enters the module."""

    @property
    def total_m(self) -> float:
        """The way of the light, m."""
        return self.run_m + self.tail_m + self.cord_m


def candidates(
    fibres: Sequence[Fibre], panels: Mapping[str, Accessory], plant: Plant, a: Seated, b: Seated
) -> Iterator[Pieces]:
    """Combinations of parts that may be worth a look: right structure and glass, cords that could enter the panels."""
    if head_of(a, b)[0].fan_out > 1:
        return
    for structure in plant.structures:
        if structure is Structure.DIRECT:
            continue
        for tail in fibres:
            if tail.kind is not FibreKind.JUMPER or tail.legs > 1 or _is_male(tail):
                continue
            for run in fibres:
                if run.grade != tail.grade or not _may_run(structure, tail, run):
                    continue
                for _, panel in sorted(panels.items()):
                    # A panel for one channel stands with its device; larger ones serve a trunk of several legs.
                    if panel.positions == 1 or run.legs > 1:
                        yield Pieces(structure, tail, run, panel)


def _may_run(structure: Structure, tail: Fibre, run: Fibre) -> bool:
    if family(run.connector_a.kind) == "LC":
        return run.id == tail.id
    if structure is Structure.ONE_PANEL:
        return run.kind is FibreKind.JUMPER and run.legs == 1 and _is_male(run)
    return run.kind is FibreKind.TRUNK


def channel_refusals(pieces: Pieces, a: Seated, b: Seated, mates: Mates) -> Iterator[Refusal]:
    """Every rule that keeps a channel from joining two modules that would otherwise mate."""
    structure, tail, run, panel = pieces
    yield from (found for found in fibre_refusals(tail, a, b) if found.rule != "R14")
    parts = (*pieces.ids, a.module.id, b.module.id)
    at_panel = tail.connector_a
    if panel.connector is None or panel.connector.kind != at_panel.kind:
        takes = "none" if panel.connector is None else panel.connector.kind
        yield Refusal("R10", parts, f"{panel.id} takes {takes}; {tail.id} ends in {_name(at_panel)}")
    for have in {run.connector_a, run.connector_b} - {at_panel}:
        rule = "R11" if have.kind == at_panel.kind else "R10"
        yield Refusal(rule, parts, f"{run.id} ends in {_name(have)} where {_name(at_panel)} is needed")
    if family(at_panel.kind) == "MPO":
        yield from _mpo_refusals(pieces, parts)
    per_leg, needed = run.fibres // run.legs, a.interface.fibres
    if per_leg < needed:
        yield Refusal("R12", parts, f"{run.id} has {per_leg} fibres per connector; {a.interface.id} needs {needed}")
    if structure.panels > plant_rules().most_panels.v:
        yield Refusal("R13", parts, f"{structure.panels} panels; {plant_rules().most_panels.v:g} are the most")
    if _loss_limited_m(pieces, a, b, mates) <= 0:
        yield Refusal(
            "R14",
            parts,
            f"{tail.id}, {run.id} and {structure} lose {mates_db(pieces, mates):g} dB at mated pairs, which is the "
            f"whole budget of {a.module.id} and {b.module.id} or more",
        )


def _mpo_refusals(pieces: Pieces, parts: tuple[str, ...]) -> Iterator[Refusal]:
    """R12 at panels: one male end in every mated pair, and an odd number of crossovers from end to end."""
    tail, run = pieces.tail, pieces.run
    males = run.gender.startswith("male/male") if pieces.cords > 1 else run.gender == "male/female"
    if not males:
        yield Refusal("R12", parts, f"{run.id} ({run.gender}) and {tail.id} ({tail.gender}) do not mate at a panel")
    crossings = pieces.cords * (not tail.polarity.startswith("Type A")) + (not run.polarity.startswith("Type A"))
    if crossings % 2 == 0:
        yield Refusal(
            "R12",
            parts,
            f"{tail.id} and {run.id} cross over {crossings} times through {pieces.structure}: sender meets sender",
        )


def mates_db(pieces: Pieces, mates: Mates) -> float:
    """What the mated pairs of a channel lose: at both modules and at every panel, the worse of two that meet, dB."""
    tail, run = pair_db(pieces.tail, mates), pair_db(pieces.run, mates)
    at_panels = pieces.structure.panels * max(tail, run)
    return tail + at_panels + (tail if pieces.cords > 1 else run)


def _loss_limited_m(pieces: Pieces, a: Seated, b: Seated, mates: Mates) -> float:
    return loss_limited_m(mates_db(pieces, mates), pieces.tail.grade, a, b)


def channel_reach(pieces: Pieces, a: Seated, b: Seated, mates: Mates) -> tuple[float, str]:
    """Longest channel, cords and run together, m, and the rule that sets it: R7, R13 or R14."""
    grade, rules = pieces.tail.grade, plant_rules()
    media, kind = a.interface.media, family(pieces.run.connector_a.kind)
    limits = [
        (min(a.module.reach_m[grade], b.module.reach_m[grade]), "R7"),
        (rules.panel_reach_m[media][kind].v, "R13"),
        (_loss_limited_m(pieces, a, b, mates), "R14"),
    ]
    metres, rule = min(limits, key=lambda limit: limit[0])
    return float(metres), rule


def channel_of(pieces: Pieces) -> Channel:
    """The channel that an option lays."""
    return Channel(
        structure=pieces.structure,
        run=pieces.run.id,
        run_legs=pieces.run.legs,
        panel=pieces.panel.id,
        positions=pieces.panel.positions or 1,
        cord=pieces.tail.id,
        cord_stock_m=_stock(pieces.tail),
    )


def run_stock(pieces: Pieces, reach_m: float) -> tuple[float, ...]:
    """Stock lengths of the run that leave the shortest cords within the reach, m."""
    shortest = min((m for m in _stock(pieces.tail) if m >= IN_RACK_M), default=math.inf)
    return tuple(m for m in _stock(pieces.run) if m + pieces.cords * shortest <= reach_m + 1e-9)


def words(laid: Laid) -> str:
    """The parts of a channel beside the cord at ``b``, for people."""
    shared = f" (1 for {laid.run_legs} links)" if laid.run_legs > 1 else ""
    cord = "" if laid.cord is None else f" + {laid.cord}"
    return f"with {laid.run}{shared}{cord}, {laid.panels} x {laid.panel}"


def _stock(fibre: Fibre) -> tuple[float, ...]:
    return tuple(sorted(length.length_m for length in fibre.lengths))


def _first(stock_m: Sequence[float], metres: float) -> float | None:
    return next((stock for stock in stock_m if stock >= metres - 1e-9), None)


def _is_male(fibre: Fibre) -> bool:
    return fibre.gender.startswith("male")


def _name(connector: Connector) -> str:
    return f"{connector.kind}/{connector.polish}" if connector.polish else connector.kind
