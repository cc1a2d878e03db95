"""Ways to build a block of links, and what each adds to every total.

The interconnect rules work on pairs of cage kinds; here they meet the shape of a block, the price list and the
watts. Results are kept per (pair, length step, shape), because thousands of templates share a few dozen of them.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from gpunet.catalogs import medium_id, split_medium_id
from gpunet.models.case import Objective
from gpunet.models.interconnect import CageKind, Interconnect
from gpunet.models.parts import CageGroup, PortMode, Protocol, Switch
from gpunet.solver.channels import IN_THE_RACK
from gpunet.solver.interconnects import InterconnectTable, LinkOption, LinkParts, at_length, length_ladder
from gpunet.solver.layout import IN_RACK_M
from gpunet.solver.prices import ZERO, PriceList, Weight
from gpunet.solver.trays import cross_section
from gpunet.solver.wiring import Shape


class Way(NamedTuple):
    """One way to build one block."""

    interconnect: Interconnect
    parts: tuple[tuple[str, int], ...]
    """Part id and pieces for one block: modules of both ends, then media."""
    weight: Weight
    a_power_mw: int
    """Watts of all plugs at the a side of one block, mW."""
    b_power_mw: int
    typ_mw: int
    """Typical watts of all plugs of one block, mW."""
    tray_load: int = 0
    """Cross-section of what one block lays in the trays it passes, hundredths of mm²; 0 where it passes none."""


class Pair(NamedTuple):
    """The cages at both ends of a link class; several kinds where a cage can run the speed in several modes."""

    a: tuple[CageKind, ...]
    b: tuple[CageKind, ...]


class LinkBook:
    """Every way to build links under one case and one fabric."""

    def __init__(self, parts: LinkParts, prices: PriceList, table: InterconnectTable | None = None) -> None:
        self.parts = parts
        self._table = table or InterconnectTable(parts)
        self._prices = prices
        self.ladder = length_ladder(parts)
        self._pairs: dict[Pair, int] = {}
        self.pairs: list[Pair] = []
        self._ways: dict[tuple[int, float, Shape], tuple[Way, ...]] = {}
        self._best: dict[tuple[int, float, Shape, Objective], int | None] = {}
        self._least: dict[int, dict[float, tuple[float, ...] | None]] = {}
        self._shares: dict[tuple[str, int, int], tuple[float, float, float] | None] = {}
        self._mentioned: dict[tuple[int, str], bool] = {}
        self._thinnest: dict[tuple[int, bool], Fraction | None] = {}
        self._pieces: dict[tuple[str, tuple[float, ...], float], int | None] = {}

    def pair(self, a: tuple[CageKind, ...], b: tuple[CageKind, ...]) -> int:
        """A small number that stands for the pair of cages."""
        key = Pair(a, b)
        found = self._pairs.get(key)
        if found is None:
            found = self._pairs[key] = len(self.pairs)
            self.pairs.append(key)
        return found

    def step(self, length_m: float) -> float:
        """The length step a routed length falls in, m; infinite beyond every stock length."""
        i = bisect.bisect_left(self.ladder, length_m - 1e-9)
        return self.ladder[i] if i < len(self.ladder) else math.inf

    def ways(self, pair: int, step_m: float, shape: Shape) -> tuple[Way, ...]:
        """Every way to build a block of ``shape`` at ``step_m``, in a fixed order."""
        key = (pair, step_m, shape)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = self._find(pair, step_m, shape)
        return found

    def best(self, pair: int, step_m: float, shape: Shape, objective: Objective) -> int | None:
        """Least weight of a block with owned parts free, or none when it cannot be built."""
        key = (pair, step_m, shape, objective)
        if key not in self._best:
            self._best[key] = min((self._at_least(w, objective) for w in self.ways(*key[:3])), default=None)
        return self._best[key]

    def _at_least(self, way: Way, objective: Objective) -> int:
        weight = way.weight.of(objective)
        if objective is Objective.POWER:
            return weight
        return weight - sum(self._prices.free_cents(part) * n for part, n in way.parts)

    def least_per_link(self, pair: int, shortest_m: float) -> tuple[float, ...] | None:
        """Lower bounds on one link between these cages, of ``shortest_m`` or longer, in any shape.

        One per objective (cost, power, tco); none when nothing joins the cages at such a length.
        """
        known = self._least.setdefault(pair, {})
        if shortest_m not in known:
            cages = self.pairs[pair]
            found = [
                bound
                for a in cages.a
                for b in cages.b
                for option in self._table.options(a, b)
                if (bound := self._per_link(option, shortest_m, a.mode.ports, b.mode.ports)) is not None
            ]
            known[shortest_m] = tuple(map(min, zip(*found, strict=True))) if found else None
        return known[shortest_m]

    def least_tray_load(self, pair: int, bundled: bool) -> Fraction | None:
        """What one link between these cages fills of a tray at least, hundredths of mm²; none where nothing can be.

        Only links in bundles share trunks.
        """
        if (pair, bundled) not in self._thinnest:
            cages = self.pairs[pair]
            loads = [
                self._load_per_link(option, max(a.mode.ports, b.mode.ports))
                for a in cages.a
                for b in cages.b
                for option in self._table.options(a, b)
                if bundled or option.channel is None or option.channel.run_legs == 1
            ]
            self._thinnest[pair, bundled] = min(loads, default=None)
        return self._thinnest[pair, bundled]

    def _load_per_link(self, option: LinkOption, ports: int) -> Fraction:
        if option.channel is not None:
            return Fraction(self._cross_section(option.channel.run), option.channel.run_legs)
        load = self._cross_section(option.medium_base)
        return Fraction(load, ports) if option.is_cable else Fraction(load * option.media_num, option.media_den)

    def forget(self, part: str) -> None:
        """Drop what depends on the price of a part, which has changed."""
        stale = [key for key, ways in self._ways.items() if any(part == p for way in ways for p, _ in way.parts)]
        for key in stale:
            del self._ways[key]
            for objective in Objective:
                self._best.pop((*key, objective), None)
        base, length_m = split_medium_id(part)
        for pair in [pair for pair in self._least if self.mentions(pair, part if length_m is None else base)]:
            del self._least[pair]
        self._pieces = {key: found for key, found in self._pieces.items() if key[0] != base}
        self._shares = {key: found for key, found in self._shares.items() if key[0] != part}

    def forget_all(self) -> None:
        """Drop everything that depends on prices, for all of them have changed."""
        for kept in (self._ways, self._best, self._least, self._pieces, self._shares):
            kept.clear()

    def options(self, pair: int) -> Iterator[LinkOption]:
        """Every buildable way to link two cages, at any length."""
        cages = self.pairs[pair]
        return (option for a in cages.a for b in cages.b for option in self._table.options(a, b))

    def mentions(self, pair: int, part: str) -> bool:
        """Whether any way to link two cages takes a part; a length of fibre or cable by its base."""
        key = (pair, part)
        if key not in self._mentioned:
            self._mentioned[key] = any(part in (x.a_part, x.b_part, *x.media) for x in self.options(pair))
        return self._mentioned[key]

    def reaches(self, pair: int, length_m: float) -> bool:
        """True when some interconnect joins the two cages over ``length_m``."""
        step = self.step(length_m)
        cages = self.pairs[pair]
        return any(
            at_length(option, step, IN_THE_RACK) is not None
            for a in cages.a
            for b in cages.b
            for option in self._table.options(a, b)
        )

    def _find(self, pair: int, step_m: float, shape: Shape) -> tuple[Way, ...]:
        if math.isinf(step_m):
            return ()
        cages = self.pairs[pair]
        found: dict[tuple[tuple[str, int], ...], Way] = {}
        for a in cages.a:
            for b in cages.b:
                for option in self._table.options(a, b):
                    interconnect = at_length(option, step_m, shape.cords)
                    way = None if interconnect is None else self._way(interconnect, shape, a, b)
                    if way is not None:
                        found.setdefault(way.parts, way)
        return tuple(sorted(found.values(), key=lambda w: w.parts))

    def _way(self, ic: Interconnect, shape: Shape, a: CageKind, b: CageKind) -> Way | None:
        n_a, n_b = len(shape.a_fill), len(shape.b_fill)
        media = _media(ic, shape, a.mode, b.mode)
        if media is None:
            return None
        n_a, n_b, media = n_a * shape.times, n_b * shape.times, media * shape.times
        parts = [(ic.medium, media), *laid_parts(ic, media)]
        total = ZERO
        for laid, pieces in parts:
            weight = self._prices.weight(laid, 0)
            if weight is None:
                return None
            total += weight.times(pieces)
        for part, pieces, power in ((ic.a_part, n_a, ic.a_power_mw), (ic.b_part, n_b, ic.b_power_mw)):
            if part is None:
                # A cable has no module: its ends draw, and their energy counts.
                total += Weight(0, power, self._prices.energy_cents(power)).times(pieces)
                continue
            unit = self._prices.weight(part, power)
            if unit is None:
                return None
            total += unit.times(pieces)
            parts.append((part, pieces))
        merged: dict[str, int] = {}
        for part, pieces in parts:
            merged[part] = merged.get(part, 0) + pieces
        return Way(
            ic,
            tuple(sorted(merged.items())),
            total,
            n_a * ic.a_power_mw,
            n_b * ic.b_power_mw,
            n_a * ic.a_power_typ_mw + n_b * ic.b_power_typ_mw,
            self._tray_load(ic, shape, media),
        )

    def _tray_load(self, ic: Interconnect, shape: Shape, media: int) -> int:
        """Cables of a block by their cross-section. Cords to a panel in their own rack or zone lie in no tray."""
        if shape.trays is None:
            return 0
        if ic.laid is None:
            return media * self._cross_section(ic.medium_base)
        laid = ic.laid
        runs = math.ceil(media / laid.run_legs) * self._cross_section(split_medium_id(laid.run)[0])
        if not shape.trays.with_cords or laid.run_legs == 1 or laid.cord is None:
            return runs
        return runs + media * self._cross_section(split_medium_id(laid.cord)[0])

    def _cross_section(self, part: str) -> int:
        return cross_section(self.parts.cables.get(part) or self.parts.fibres[part])

    def _per_link(
        self, option: LinkOption, shortest_m: float, a_ports: int, b_ports: int
    ) -> tuple[float, float, float] | None:
        medium = self._cheapest_medium(option, shortest_m)
        if medium is None:
            return None
        shared = max(a_ports, b_ports) if option.is_cable else option.media_den / option.media_num
        cost, power, tco = medium / shared, 0.0, medium / shared
        for part, draw, ports in (
            (option.a_part, option.a_power_mw, a_ports),
            (option.b_part, option.b_power_mw, b_ports),
        ):
            share = self._share(part or "", draw, ports)
            if share is None:
                return None
            cost, power, tco = cost + share[0], power + share[1], tco + share[2]
        return cost, power, tco

    def _share(self, part: str, draw: int, ports: int) -> tuple[float, float, float] | None:
        """Least weight of a module that so many links share, by the link; of a cable's end where there is no module."""
        key = (part, draw, ports)
        if key not in self._shares:
            free = self._prices.free_cents(part) if part else 0
            unit = self._prices.weight(part, draw) if part else Weight(0, draw, self._prices.energy_cents(draw))
            self._shares[key] = (
                None if unit is None else ((unit.cost - free) / ports, unit.power / ports, (unit.tco - free) / ports)
            )
        return self._shares[key]

    def _cheapest_medium(self, option: LinkOption, shortest_m: float) -> float | None:
        """The least that all glass of one link costs, cents; its share of a full trunk and of full panels."""
        channel = option.channel
        if channel is None:
            return self._cheapest_piece(option.medium_base, option.stock_m, shortest_m)
        panel = self._prices.cents(channel.panel)
        run = self._cheapest_piece(channel.run, option.stock_m, shortest_m)
        cord = self._cheapest_piece(channel.cord, channel.cord_stock_m, IN_RACK_M)
        if panel is None or run is None or cord is None:
            return None
        each = cord + (panel - self._prices.free_cents(channel.panel)) / channel.positions
        return run / channel.run_legs + channel.structure.panels * each

    def _cheapest_piece(self, base: str, stock_m: tuple[float, ...], shortest_m: float) -> int | None:
        """Cheapest stock length of at least ``shortest_m``, cents. A longer piece is not always dearer."""
        key = (base, stock_m, shortest_m)
        if key not in self._pieces:
            ids = [medium_id(base, m) for m in stock_m if m >= shortest_m - 1e-9]
            prices = [p - self._prices.free_cents(i) for i in ids if (p := self._prices.cents(i)) is not None]
            self._pieces[key] = min(prices, default=None)
        return self._pieces[key]


def laid_parts(ic: Interconnect, channels: int) -> list[tuple[str, int]]:
    """Cords, trunks and panels of so many channels that run together, beside the medium of each."""
    if ic.laid is None:
        return []
    laid = ic.laid
    cords = [] if laid.cord is None else [(laid.cord, channels)]
    panels = laid.panels * math.ceil(channels / laid.positions)
    return [*cords, (laid.run, math.ceil(channels / laid.run_legs)), (laid.panel, panels)]


def _media(ic: Interconnect, shape: Shape, a: PortMode, b: PortMode) -> int | None:
    """Pieces of fibre or cable for one block; none where the cable cannot be laid in this shape.

    A 1:1 cable joins one a cage to one b cage. A started splitter is a whole one: unused legs are paid for (R18).
    """
    if ic.is_cable:
        if a.ports == b.ports:
            return len(shape.a_fill) if shape.a_one_b and shape.b_one_a else None
        if ic.head_at_a:
            return len(shape.a_fill) if shape.b_one_a else None
        return len(shape.b_fill) if shape.a_one_b else None
    fill = shape.a_fill if ic.head_at_a else shape.b_fill
    return sum(math.ceil(links * ic.media_num / ic.media_den) for links in fill)


def cage_kinds(
    group: CageGroup,
    modes: tuple[PortMode, ...],
    protocol: Protocol,
    hot: bool = False,
    switch: Switch | None = None,
) -> tuple[CageKind, ...]:
    """The kinds a cage has in each of ``modes``; ``hot`` picks the cages with the higher module limit."""
    limit = group.hot.power_limit_w if hot and group.hot else group.power_limit_w
    return tuple(
        CageKind(
            form_factor=group.form_factor,
            shell=group.shell,
            host_lanes=group.host_lanes,
            lane_gbps=group.lane_gbps,
            mode=mode,
            power_limit_mw=None if limit is None else limit.milli,
            protocol=protocol,
            linear_host=group.linear_host,
            also_accepts=group.also_accepts,
            refuses_modules=frozenset(switch.refuses_modules) if switch else frozenset(),
            accepts_codings=group.accepts_codings,
        )
        for mode in modes
    )
