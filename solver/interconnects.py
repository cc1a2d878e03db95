"""The buildable ways to make a link between two cages, and why the near misses fail.

A link class joins ``a`` cages to ``b`` cages in given modes of one speed. Every way is found once for a pair of
cage kinds, without a length; ``at_length`` then picks the stock length. The rules themselves are in ``mating``
(cages and modules), ``passive`` (fibres) and ``copper`` (cable assemblies).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from gpunet.catalogs import medium_id
from gpunet.catalogs.plant import plant_rules
from gpunet.models.interconnect import CageKind, Interconnect, Refusal
from gpunet.models.parts import Accessory, Cable, Connector, Fibre, Module, OpticalInterface, StockLength
from gpunet.models.plant import Mates, Plant, Structure
from gpunet.solver import channels
from gpunet.solver.channels import Channel, Cords, Pieces
from gpunet.solver.copper import CableFit, fewest_cable_refusals, fit_cable, limit_of
from gpunet.solver.mating import Seated, accepts, mode_name, module_refusals, pair_refusals, seat, watts
from gpunet.solver.passive import fibre_refusals, head_of, reach_of


@dataclass(frozen=True, eq=False)
class LinkParts:
    """The parts a case allows for its links, by id: filtered by status, lists, lead time and known price."""

    modules: Mapping[str, Module]
    cables: Mapping[str, Cable]
    fibres: Mapping[str, Fibre]
    interfaces: Mapping[str, OpticalInterface]
    grades: Collection[str]
    """Fibre grades the site allows: ``OM4``, ``OS2``."""
    plant: Plant | None = None
    """How fibre is laid; direct cords when empty."""
    panels: Mapping[str, Accessory] = field(default_factory=dict)
    """Panels allowed, by id."""

    @property
    def is_direct(self) -> bool:
        """Whether cords may run from module to module."""
        return self.plant is None or Structure.DIRECT in self.plant.structures

    @property
    def through_panels(self) -> bool:
        """Whether fibre may pass panels."""
        return self.plant is not None and any(structure.panels for structure in self.plant.structures)

    @property
    def mates(self) -> Mates:
        """Quality of mated pairs."""
        return Mates.LOW_LOSS if self.plant is None else self.plant.mates

    def allowed_fibres(self) -> list[Fibre]:
        """The fibres of an allowed grade, in order of id."""
        return [fibre for _, fibre in sorted(self.fibres.items()) if fibre.grade in self.grades]


@dataclass(frozen=True, slots=True)
class LinkOption:
    """One buildable way between two cage kinds, before its length is known. Fields as in ``Interconnect``."""

    speed_gbps: float
    a_part: str | None
    b_part: str | None
    medium_base: str
    media_num: int
    media_den: int
    is_cable: bool
    head_at_a: bool
    legs: int
    a_power_mw: int
    b_power_mw: int
    a_power_typ_mw: int
    b_power_typ_mw: int
    reach_m: float
    """Longest medium that carries the link, m."""
    reach_rule: str
    """The rule that sets the reach: R7, R13, R14, or the letter of a copper rule."""
    stock_m: tuple[float, ...]
    """Stock lengths within the reach, m, ascending."""
    reach_name: str
    """The reach for people: ``OM4 reach 50 m``."""
    facts: str
    """Rate and watts for people."""
    channel: Channel | None = None
    """Panels and trunk; none for a direct cord and for a cable. ``stock_m`` is then that of the run."""

    @property
    def media(self) -> tuple[str, ...]:
        """Ids of everything passive that the option takes."""
        if self.channel is None:
            return (self.medium_base,)
        return tuple(dict.fromkeys((self.medium_base, self.channel.run, self.channel.panel)))


def at_length(option: LinkOption, step_m: float, cords: Cords | None = None) -> Interconnect | None:
    """The option with the shortest stock length that covers ``step_m`` metres of route; none when none does.

    The whole stock length carries light, so a stock length beyond the reach does not count. ``cords`` are the ways to
    the panels of links that run together; without them no trunk is shared and every panel stands with its port.
    """
    channel = option.channel
    if channel is not None:
        return _through_panels(option, channel, step_m, cords)
    length_m = next((stock for stock in option.stock_m if stock >= step_m), None)
    return None if length_m is None else _interconnect(option, step_m, length_m, length_m)


def _through_panels(option: LinkOption, channel: Channel, step_m: float, cords: Cords | None) -> Interconnect | None:
    if channel.run_legs > 1 and cords is None:
        return None
    ways = channels.IN_THE_RACK if channel.run_legs == 1 or cords is None else cords
    lengths = channel.lay(option.stock_m, step_m, option.reach_m, ways)
    if lengths is None:
        return None
    found, laid = _interconnect(option, step_m, lengths.tail_m, lengths.total_m), channel.laid(lengths)
    return replace(found, laid=laid, reason=f"{found.reason}; {lengths.total_m:g} m in all, {channels.words(laid)}")


def _interconnect(option: LinkOption, step_m: float, length_m: float, total_m: float) -> Interconnect:
    return Interconnect(
        speed_gbps=option.speed_gbps,
        length_step_m=step_m,
        a_part=option.a_part,
        b_part=option.b_part,
        medium_base=option.medium_base,
        medium=medium_id(option.medium_base, length_m),
        medium_length_m=total_m,
        media_num=option.media_num,
        media_den=option.media_den,
        is_cable=option.is_cable,
        head_at_a=option.head_at_a,
        a_power_mw=option.a_power_mw,
        b_power_mw=option.b_power_mw,
        a_power_typ_mw=option.a_power_typ_mw,
        b_power_typ_mw=option.b_power_typ_mw,
        reach_m=option.reach_m,
        reason=f"{option.reach_name} covers {step_m:g} m; {option.facts}",
        legs=option.legs,
    )


def length_ladder(parts: LinkParts) -> tuple[float, ...]:
    """Lengths, m, between which nothing about the choice of a link changes: every stock length and every reach.

    A route is rounded up to the next step. A route beyond the last step cannot be built from these parts.
    """
    lists = [fibre.lengths for fibre in parts.allowed_fibres()] + [cable.lengths for cable in parts.cables.values()]
    stock = {length.length_m for lengths in lists for length in lengths}
    reaches = {metres for module in parts.modules.values() for metres in module.reach_m.values()}
    reaches |= {limit_of(cable)[0] for cable in parts.cables.values()} | {plant_rules().splitter_reach_m.v}
    longest_m = max(stock, default=0.0)
    return tuple(sorted(float(step) for step in stock | {reach for reach in reaches if reach <= longest_m}))


def options(a: CageKind, b: CageKind, parts: LinkParts) -> tuple[LinkOption, ...]:
    """Every buildable way to link ``a`` to ``b``. Callers with many pairs keep one ``InterconnectTable``."""
    return InterconnectTable(parts).options(a, b)


def refusals(a: CageKind, b: CageKind, parts: LinkParts, length_m: float | None = None) -> tuple[Refusal, ...]:
    """Why the near misses between ``a`` and ``b`` fail. Callers with many pairs keep one ``InterconnectTable``."""
    return InterconnectTable(parts).refusals(a, b, length_m)


class InterconnectTable:
    """The ways between cage kinds for one set of parts, each pair worked out once."""

    def __init__(self, parts: LinkParts) -> None:
        self._parts = parts
        self._modules = [module for _, module in sorted(parts.modules.items())]
        self._cables = [cable for _, cable in sorted(parts.cables.items())]
        self._fibres = parts.allowed_fibres()
        self._fibres_by_ends: dict[tuple[int, Connector, Connector], list[Fibre]] = {}
        for fibre in self._fibres:
            ends = {(fibre.connector_a, fibre.connector_b)}
            if fibre.legs == 1:
                ends.add((fibre.connector_b, fibre.connector_a))
            for head, tail in ends:
                self._fibres_by_ends.setdefault((fibre.legs, head, tail), []).append(fibre)
        self._seated: dict[CageKind, tuple[Seated, ...]] = {}
        self._options: dict[tuple[CageKind, CageKind], tuple[LinkOption, ...]] = {}

    def options(self, a: CageKind, b: CageKind) -> tuple[LinkOption, ...]:
        """Every buildable way to link ``a`` to ``b``, fibres first, in order of part ids."""
        if (a, b) not in self._options:
            found = () if _class_refusals(a, b) else (*self._fibre_options(a, b), *self._cable_options(a, b))
            self._options[a, b] = found
        return self._options[a, b]

    def at_length(self, a: CageKind, b: CageKind, step_m: float) -> tuple[Interconnect, ...]:
        """Every interconnect that covers ``step_m`` metres between ``a`` and ``b``."""
        return tuple(found for option in self.options(a, b) if (found := at_length(option, step_m)) is not None)

    def refusals(self, a: CageKind, b: CageKind, length_m: float | None = None) -> tuple[Refusal, ...]:
        """Why the near misses fail: parts that break one rule only, or the least where nothing fits at all.

        With a length, also every option that does not cover it.
        """
        mismatch = _class_refusals(a, b)
        if mismatch:
            return mismatch
        found = [*self._end_refusals(a), *self._end_refusals(b), *self._pair_refusals(a, b)]
        found += _least(fewest_cable_refusals(cable, a, b) for cable in self._cables)
        if length_m is not None:
            found += [_too_short(option, length_m) for option in self.options(a, b) if not at_length(option, length_m)]
        return _merged(found)

    def _seats(self, cage: CageKind) -> tuple[Seated, ...]:
        """The modules that fit the cage in its mode."""
        if cage not in self._seated:
            plugs, lane_gbps = accepts(cage), cage.mode.lane_gbps
            fitting = (
                seat(cage, module, self._parts.interfaces)
                for module in self._modules
                if module.host_lane_gbps == lane_gbps and module.form_factor in plugs
            )
            self._seated[cage] = tuple(seated for seated in fitting if seated is not None)
        return self._seated[cage]

    def _mating_pairs(self, a: CageKind, b: CageKind) -> Iterator[tuple[Seated, Seated]]:
        by_class: dict[str, list[Seated]] = {}
        for at_b in self._seats(b):
            by_class.setdefault(at_b.interface.lane_class, []).append(at_b)
        for at_a in self._seats(a):
            for at_b in by_class.get(at_a.interface.lane_class, ()):
                if next(pair_refusals(at_a, at_b), None) is None:
                    yield at_a, at_b

    def _fibre_options(self, a: CageKind, b: CageKind) -> Iterator[LinkOption]:
        for at_a, at_b in self._mating_pairs(a, b):
            yield from self._channel_options(at_a, at_b, a, b)
            if not self._parts.is_direct:
                continue
            head, tail = head_of(at_a, at_b)
            ends = (head.fan_out, head.module.connector, tail.module.connector)
            for fibre in self._fibres_by_ends.get(ends, ()):
                if next(fibre_refusals(fibre, at_a, at_b, self._parts.mates), None) is None:
                    yield _fibre_option(fibre, reach_of(fibre, at_a, at_b, self._parts.mates), at_a, at_b, a, b)

    def _candidates(self, at_a: Seated, at_b: Seated) -> Iterator[Pieces]:
        """Channels through panels worth a look; none without a plant."""
        plant = self._parts.plant
        if plant is not None:
            yield from channels.candidates(self._fibres, self._parts.panels, plant, at_a, at_b)

    def _channel_options(self, at_a: Seated, at_b: Seated, a: CageKind, b: CageKind) -> Iterator[LinkOption]:
        mates = self._parts.mates
        for pieces in self._candidates(at_a, at_b):
            if next(channels.channel_refusals(pieces, at_a, at_b, mates), None) is None:
                yield _channel_option(pieces, channels.channel_reach(pieces, at_a, at_b, mates), at_a, at_b, a, b)

    def _cable_options(self, a: CageKind, b: CageKind) -> Iterator[LinkOption]:
        for cable in self._cables:
            fit = fit_cable(cable, a, b)
            if fit is not None:
                yield _cable_option(cable, fit, a, b)

    def _end_refusals(self, cage: CageKind) -> Iterator[Refusal]:
        """Near misses of one end."""
        broken = (tuple(module_refusals(cage, module, self._parts.interfaces)) for module in self._modules)
        return iter(_least(broken, only_single=bool(self._seats(cage))))

    def _pair_refusals(self, a: CageKind, b: CageKind) -> Iterator[Refusal]:
        """Why modules that fit their cages do not mate, and why mating modules find no fibre."""
        for at_a, at_b in product(self._seats(a), self._seats(b)):
            broken = tuple(pair_refusals(at_a, at_b))
            yield from broken
            if not broken:
                mates = self._parts.mates
                direct = self._fibres if self._parts.is_direct else []
                by_fibre = [tuple(fibre_refusals(fibre, at_a, at_b, mates)) for fibre in direct]
                by_fibre += [
                    tuple(channels.channel_refusals(pieces, at_a, at_b, mates))
                    for pieces in self._candidates(at_a, at_b)
                ]
                if all(by_fibre):
                    yield from _least(by_fibre)


def _class_refusals(a: CageKind, b: CageKind) -> tuple[Refusal, ...]:
    """Whether the two cages can share a link class at all."""
    if a.protocol is not b.protocol:
        return (Refusal("R9", (), f"one end speaks {a.protocol}, the other {b.protocol}"),)
    if a.mode.speed_gbps != b.mode.speed_gbps:
        message = f"one end runs {mode_name(a.mode)}, the other {mode_name(b.mode)}; a link has one speed"
        return (Refusal("R4", (), message),)
    return tuple(
        Refusal("R4", (), f"the {cage.form_factor} cage does not offer {mode_name(cage.mode)} on {cage.protocol}")
        for cage in (a, b)
        if cage.protocol not in cage.mode.protocols
    )


def _channel_option(
    pieces: Pieces, reach: tuple[float, str], at_a: Seated, at_b: Seated, a: CageKind, b: CageKind
) -> LinkOption:
    plain = _fibre_option(pieces.tail, reach, at_a, at_b, a, b)
    panels = "a panel" if pieces.structure is Structure.ONE_PANEL else "two panels"
    return replace(
        plain,
        stock_m=channels.run_stock(pieces, plain.reach_m),
        reach_name=f"{plain.reach_name} through {panels}",
        channel=channels.channel_of(pieces),
    )


def _fibre_option(
    fibre: Fibre, reach: tuple[float, str], at_a: Seated, at_b: Seated, a: CageKind, b: CageKind
) -> LinkOption:
    reach_m, rule = reach
    cap = {"R13": " (splitter limit)" if fibre.legs > 1 else " (panel limit)", "R14": " (loss budget)"}.get(rule, "")
    a_mw, b_mw = at_a.module.power_max_w.milli, at_b.module.power_max_w.milli
    return LinkOption(
        speed_gbps=a.mode.speed_gbps,
        a_part=at_a.module.id,
        b_part=at_b.module.id,
        medium_base=fibre.id,
        media_num=1,
        media_den=fibre.legs,
        is_cable=False,
        head_at_a=at_a.fan_out > 1,
        legs=fibre.legs,
        a_power_mw=a_mw,
        b_power_mw=b_mw,
        a_power_typ_mw=at_a.module.power_typ_w.milli,
        b_power_typ_mw=at_b.module.power_typ_w.milli,
        reach_m=reach_m,
        reach_rule=rule,
        stock_m=_stock(fibre.lengths, reach_m),
        reach_name=f"{fibre.grade} reach {reach_m:g} m{cap}",
        facts=f"{mode_name(a.mode)} over {at_a.lanes}x{at_a.interface.gbps_per_lane:g}G lanes; "
        + _power_text(a_mw, b_mw, a, b),
    )


def _cable_option(cable: Cable, fit: CableFit, a: CageKind, b: CageKind) -> LinkOption:
    reach_m, rule = limit_of(cable)
    a_mw, b_mw = fit.at_a.power_w.milli, fit.at_b.power_w.milli
    return LinkOption(
        speed_gbps=a.mode.speed_gbps,
        a_part=None,
        b_part=None,
        medium_base=cable.id,
        media_num=1,
        media_den=fit.links,
        is_cable=True,
        head_at_a=fit.legs > 1,
        legs=fit.legs,
        a_power_mw=a_mw,
        b_power_mw=b_mw,
        a_power_typ_mw=a_mw,
        b_power_typ_mw=b_mw,
        reach_m=reach_m,
        reach_rule=rule,
        stock_m=_stock(cable.lengths, reach_m),
        reach_name=f"{cable.kind} of up to {reach_m:g} m",
        facts=f"{mode_name(a.mode)} over {a.mode.lanes}x{fit.at_a.lane_gbps:g}G lanes; "
        + _power_text(a_mw, b_mw, a, b),
    )


def _stock(lengths: Iterable[StockLength], reach_m: float) -> tuple[float, ...]:
    return tuple(sorted(stock.length_m for stock in lengths if stock.length_m <= reach_m))


def _power_text(a_mw: int, b_mw: int, a: CageKind, b: CageKind) -> str:
    limits = ", ".join("none" if cage.power_limit_mw is None else watts(cage.power_limit_mw) for cage in (a, b))
    return f"{watts(a_mw)} + {watts(b_mw)} (limits {limits})"


def _too_short(option: LinkOption, length_m: float) -> Refusal:
    """Why the option does not cover the length: its reach, or the lengths it is sold in."""
    ids = tuple(part for part in (option.a_part, option.b_part, *option.media) if part is not None)
    media = ", ".join(option.media)
    over = f"{option.a_part} to {option.b_part} over {media}" if option.a_part else media
    if option.reach_m < length_m:
        return Refusal(option.reach_rule, ids, f"{over} reaches {option.reach_m:g} m; {length_m:g} m are needed")
    longest_m = max(option.stock_m, default=0.0)
    message = f"{over}: the longest stock length within reach is {longest_m:g} m; {length_m:g} m are needed"
    return Refusal("Stock", ids, message)


def _least(broken: Iterable[tuple[Refusal, ...]], only_single: bool = True) -> list[Refusal]:
    """The refusals of parts that break exactly one rule; if none does and it is asked for, of the nearest parts."""
    failing = [rules for rules in broken if rules]
    fewest = 1 if only_single else min(map(len, failing), default=1)
    return [refusal for rules in failing if len(rules) == fewest for refusal in rules]


def _merged(found: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """One refusal per rule and sentence, naming all the parts it holds for."""
    parts: dict[tuple[str, str], dict[str, None]] = {}
    for refusal in found:
        parts.setdefault((refusal.rule, refusal.message), {}).update(dict.fromkeys(refusal.parts))
    return tuple(Refusal(rule, tuple(ids), message) for (rule, message), ids in parts.items())


class Tables:
    """Interconnect tables by what parts they are made of, so that many solves of like cases share them."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], InterconnectTable] = {}

    def of(self, parts: LinkParts) -> InterconnectTable:
        """The table for these parts. Parts of one id must be one part: a set of tables serves one catalogue."""
        key = (
            frozenset(parts.modules),
            frozenset(parts.cables),
            frozenset(parts.fibres),
            parts.grades,
            parts.plant,
            frozenset(parts.panels),
        )
        if key not in self._known:
            self._known[key] = InterconnectTable(parts)
        return self._known[key]
