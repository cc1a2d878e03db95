"""The least objective over every design of a case, by plain enumeration: what the solver must find.

Written from ``docs/method.md`` alone. It borrows from the solver only which parts may mate with which
(``InterconnectTable``), which has tests of its own. It is slow and meant for small cases.

Not covered: spares by kind, port-count striping, leaves on top of racks, out-of-band fabrics, lead times, and
network space, which small cases never run short of.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple, TypeVar

from exhaustive_designs import NS_PER_M, Block, Counts, Design, Fabric, Face, designs, group_of, modes_of
from exhaustive_offers import is_offered, lowest_cents, order_cents
from exhaustive_purchase import discounted_vendor, is_tracked, needed_pieces, paid_cents, purchase_cents
from exhaustive_racks import Stands, fewest_racks, is_within, stands_of, together
from exhaustive_room import Kind, Room, TooSmallError, kinds_of
from exhaustive_shortest import room_of
from exhaustive_trays import Loads, is_overfull, piece_load, with_more
from exhaustive_trays import together as lying_together

from gpunet.catalogs import medium_id
from gpunet.models.case import Case, FabricBase, FabricName, Objective, StorageMode, Topology
from gpunet.models.evidence import Price
from gpunet.models.interconnect import CageKind, Interconnect
from gpunet.models.parts import Catalog, Part, Status
from gpunet.solver.interconnects import InterconnectTable, LinkParts

P = TypeVar("P", bound=Part)
HOURS_PER_YEAR = Decimal(8766)
DIMENSIONS = (Objective.COST, Objective.POWER, Objective.TCO)


class Sums(NamedTuple):
    """Totals of some parts: cents, milliwatts, cents over the years."""

    cost: int
    power: int
    tco: int

    def plus(self, other: Sums, times: int = 1) -> Sums:
        """``self + times * other``."""
        return Sums(self.cost + times * other.cost, self.power + times * other.power, self.tco + times * other.tco)


NOTHING = Sums(0, 0, 0)


class Way(NamedTuple):
    """One way to build one block."""

    sums: Sums
    parts: tuple[tuple[str, int], ...]
    tray_load: int = 0


class Tag(NamedTuple):
    """What must be remembered of a partial design beside its sums, because a limit counts it."""

    parts: frozenset[str]
    """Parts in use, where their number or their vendors are limited."""
    stock: tuple[int, ...]
    """Pieces in use of every part of which the number matters, such as owned ones."""
    stands: Stands = ()
    """Where switches stand, where network racks have a price or a limit."""
    trays: Loads = ()
    """What lies in trays, where they are limited."""


Front = dict[Tag, list[Sums]]
"""The sums of partial designs, tag by tag, without those that another of the same tag beats in everything."""


def least(case: Case, catalog: Catalog) -> tuple[int, ...] | None:
    """The least objectives in their order, cents or milliwatts, over all designs; none when there is no design."""
    return _Exhaustive(case, catalog).least()


def front(case: Case, catalog: Catalog) -> list[tuple[int, int]]:
    """Every pair of the case's two objectives that no design beats, cents or milliwatts, first objective rising."""
    whole = _WholeFront(case, catalog)
    whole.least()
    return sorted(whole.found)


class _Exhaustive:
    def __init__(self, case: Case, catalog: Catalog) -> None:
        self.case, self.catalog = case, catalog
        every = [*catalog.switches, *catalog.modules, *catalog.nics]
        media = (*catalog.fibres.values(), *catalog.cables.values())
        every += [medium_id(medium.id, stock.length_m) for medium in media for stock in medium.lengths]
        self.stock = {owned.part: owned.quantity for owned in case.owned}
        named = {name for part in self.stock for name in (part, part.rpartition("-n")[0])}
        items = (*catalog.switches.values(), *catalog.modules.values(), *media)
        gone = {item.id for item in items if item.status is Status.DISCONTINUED and item.id in named}
        self.gone = {part for part in every if gone & {part, part.rpartition("-n")[0]}}
        """Parts that are in the house and cannot be bought, every stock length of them."""
        self.discounted = {part: vendor for part in every if (vendor := discounted_vendor(case, catalog, part))}
        matters = self.gone | set(self.discounted)
        self.tracked = tuple(part for part in sorted(every) if part in matters or is_tracked(case, part))
        self.has_terms = (case.terms, case.spares, case.supply, case.buying) != (None, None, None, None)
        limits = case.limits
        self.remembers_parts = limits.skus is not None or limits.vendors is not None
        self.cost_limit = None if limits.cost_usd is None else _cents(limits.cost_usd)
        self.power_limits_mw: list[int] = []
        ceilings = {Objective.COST} if self.cost_limit is not None else set()
        if limits.power_kw is not None or case.site.power_kw is not None:
            ceilings.add(Objective.POWER)
        counted = {*case.objectives} | ceilings
        self.counts = tuple(int(objective in counted) for objective in DIMENSIONS)
        self.ranks = tuple(DIMENSIONS.index(objective) for objective in case.objectives)
        self._switch_sums: dict[str, Sums] = {}
        self.is_plain = not (ceilings - {case.objectives[0]} or self.remembers_parts or self.tracked or case.site.tray)
        """Whether the best of every block makes the best of the whole."""
        self.most_saved = sum(count * self._part_price(part) for part, count in self.stock.items())
        if case.buying is not None or (case.terms is not None and (case.terms.price_breaks or self.discounted)):
            # A price step, a discount or an offer may save any amount.
            self.most_saved = 1 << 60
        counts_racks = (case.site.rack.cost_usd, limits.racks) != (None, None)
        self.rack_cents = _cents(case.site.rack.cost_usd or 0) if counts_racks else None
        self.best: tuple[int, ...] | None = None

    def least(self) -> tuple[int, ...] | None:
        """See the function of this name."""
        try:
            self.room: Room = room_of(self.case, self.catalog)
            alternatives = self._alternatives()
        except TooSmallError:
            return None
        self._power_limits()
        for fabrics, adapters in alternatives:
            whole: Front = {self.tag(adapters): [self._adapter_sums(adapters)]}
            for options in fabrics:
                front: Front = {}
                for fabric in options:
                    _FabricFront(self, fabric).add_to(front, whole if len(fabrics) == 1 else None)
                whole = self._both(whole, front)
            self.note(whole)
        return self.best

    def note(self, whole: Front) -> None:
        """Remember the best of these whole designs."""
        for tag, sums in ((tag, sums) for tag, found in whole.items() for sums in found):
            value = self._value(tag, sums)
            if value is not None and (self.best is None or value < self.best):
                self.best = value

    def _power_limits(self) -> None:
        case, limits = self.case, self.case.limits
        if limits.power_kw is not None:
            self.power_limits_mw.append(_milli(limits.power_kw * 1000))
        if case.site.power_kw is not None:
            spec = case.fabrics.storage
            machines_mw = self.room.servers * self.catalog.servers[case.cluster.server].power_max_w.milli
            machines_mw += self.room.storage_servers * _milli(spec.storage_server_w) if spec is not None else 0
            self.power_limits_mw.append(_milli(case.site.power_kw * 1000) - machines_mw)

    def _alternatives(self) -> list[tuple[list[list[Fabric]], dict[str, int]]]:
        """Which fabrics are built: per alternative the fabrics, each over any of its protocols, and the adapters."""
        specs: dict[FabricName, FabricBase] = {
            name: spec for name in FabricName if (spec := getattr(self.case.fabrics, name.value)) is not None
        }
        assert FabricName.OOB not in specs, "out-of-band fabrics are not covered"
        storage = self.case.fabrics.storage
        mode = StorageMode.NONE if storage is None else storage.mode
        others = [name for name in specs if name is not FabricName.STORAGE]
        found = []
        if mode is not StorageMode.CONVERGED:
            separate = [*others, FabricName.STORAGE] if mode is not StorageMode.NONE else others
            found.append([self._fabrics(name, specs[name]) for name in separate])
        if mode in (StorageMode.CONVERGED, StorageMode.AUTO):
            apart = [self._fabrics(name, specs[name]) for name in others if name is not FabricName.BACKEND]
            found.append([self._fabrics(FabricName.BACKEND, specs[FabricName.BACKEND], carries=True), *apart])
        return [(fabrics, self._adapters(fabrics)) for fabrics in found if all(fabrics)]

    def _fabrics(self, name: FabricName, spec: FabricBase, carries: bool = False) -> list[Fabric]:
        found = []
        storage = self.case.fabrics.storage
        asked = _limits_of_both(spec, storage) if carries and storage is not None else spec
        for protocol in spec.protocols:
            try:
                kinds = kinds_of(self.case, self.catalog, self.room, name, protocol)
                if carries:
                    assert storage is not None
                    if protocol not in storage.protocols:
                        continue
                    kinds += kinds_of(self.case, self.catalog, self.room, FabricName.STORAGE, protocol)
            except TooSmallError:
                continue
            switches = tuple(
                switch
                for switch in self._allowed(spec, "switch", self.catalog.switches)
                if switch.protocol is protocol and self._price(switch.id) is not None
            )
            topologies = getattr(spec, "topologies", (Topology.LEAF_SPINE,))
            found.append(Fabric(asked, protocol, topologies, tuple(kinds), switches, self.room))
        return found

    def _adapters(self, fabrics: list[list[Fabric]]) -> dict[str, int]:
        """NICs that the servers do not include, by part."""
        found: dict[str, int] = {}
        for options in fabrics:
            for kind in options[0].kinds:
                if kind.nic is not None:
                    found[kind.nic] = found.get(kind.nic, 0) + self.room.servers * kind.cards
        return found

    def _adapter_sums(self, adapters: Mapping[str, int]) -> Sums:
        total = NOTHING
        for part, count in adapters.items():
            cents = self._price(part)
            assert cents is not None
            total = total.plus(self.counted(cents, 0, cents), count)
        return total

    def counted(self, cost: int, power: int, tco: int) -> Sums:
        """Sums with 0 for whatever neither an objective nor a ceiling asks for."""
        return Sums(cost * self.counts[0], power * self.counts[1], tco * self.counts[2])

    def _allowed(self, spec: FabricBase, kind: str, parts: Mapping[str, P]) -> list[P]:
        return [part for part in parts.values() if self._is_allowed(spec, kind, part, parts)]

    def _is_allowed(self, spec: FabricBase, kind: str, part: Part, alike: Mapping[str, Part]) -> bool:
        names = {part.id, f"{part.vendor}:*", f"{kind}:*"}
        vendors = {f"{other.vendor}:*" for other in alike.values()}
        for parts in (self.case.parts, spec.parts):
            narrowing = [p for p in parts.allow if p in alike or p in vendors or p == f"{kind}:*"]
            if names & set(parts.deny) or (narrowing and not names & set(narrowing)):
                return False
        is_owned = any(part.id in (owned, owned.rpartition("-n")[0]) for owned in self.stock)
        return part.status in (Status.ACTIVE, Status.CONFIRM) or is_owned

    def link_parts(self, spec: FabricBase) -> LinkParts:
        """The parts that may make the links of a fabric."""
        modules = self._allowed(spec, "module", self.catalog.modules)
        return LinkParts(
            modules={m.id: m for m in modules if self._price(m.id) is not None},
            cables={c.id: c for c in self._allowed(spec, "cable", self.catalog.cables)},
            fibres={f.id: f for f in self._allowed(spec, "fibre", self.catalog.fibres)},
            interfaces=self.catalog.interfaces,
            grades=self.case.site.fibre,
        )

    def _price(self, part: str) -> int | None:
        """Unit price of a switch, module or NIC, cents."""
        catalog = self.catalog
        item = catalog.switches.get(part) or catalog.modules.get(part) or catalog.nics[part]
        return self._quoted(part, part, item.vendor, item.price)

    def medium_price(self, base: str, length_m: float, part: str) -> int:
        """Unit price of a stock length, cents."""
        item = self.catalog.fibres.get(base) or self.catalog.cables[base]
        price = next(stock.price for stock in item.lengths if stock.length_m == length_m)
        cents = self._quoted(part, base, item.vendor, price)
        assert cents is not None
        return cents

    def _quoted(self, part: str, base: str, vendor: str, price: Price | None) -> int | None:
        prices = self.case.prices
        for name in (part, base):
            if name in prices.overrides_usd:
                return _cents(prices.overrides_usd[name])
        if price is None:
            return None
        usd = {"low": price.low_usd, "mid": price.mid_usd, "high": price.high_usd}[prices.basis]
        cents = _cents(price.mid_usd if usd is None else usd)
        return _whole(Decimal(cents) * (1 - Decimal(str(prices.discounts.get(vendor, 0)))))

    def switch_sums(self, part: str) -> Sums:
        """One switch."""
        if part not in self._switch_sums:
            self._switch_sums[part] = self._weigh_switch(part)
        return self._switch_sums[part]

    def _weigh_switch(self, part: str) -> Sums:
        cents, power = self._price(part), self.catalog.switches[part].power_chassis_max_w.milli
        assert cents is not None
        years, rate = Decimal(str(self.case.tco.years)), Decimal(str(self.case.tco.support_rate))
        once = later = 0
        vendor = self.catalog.switches[part].vendor
        for licence in self.case.terms.licences if self.case.terms is not None else ():
            if licence.switch in (part, "switch:*", f"{vendor}:*"):
                prepaid = Decimal(str(licence.prepaid_years or 0))
                once += _cents(licence.usd) + _whole(prepaid * Decimal(str(licence.usd_per_year)) * 100)
                later += _whole(max(years - prepaid, Decimal(0)) * Decimal(str(licence.usd_per_year)) * 100)
        priced = lowest_cents(self.case, part, cents) if is_offered(self.case, part) else cents
        support = _whole(years * rate * priced)
        return self.counted(cents + once, power, cents + once + later + self.energy(power) + support)

    def module_sums(self, part: str) -> Sums:
        """One module."""
        cents, power = self._price(part), self.catalog.modules[part].power_max_w.milli
        assert cents is not None
        return self.counted(cents, power, cents + self.energy(power))

    def laying(self, length_m: float) -> int:
        """What laying one piece costs, cents."""
        laid = self.case.terms.installation if self.case.terms is not None else None
        if laid is None:
            return 0
        return _cents(laid.in_rack_usd if length_m <= laid.in_rack_m else laid.across_racks_usd)

    def energy(self, power_mw: int) -> int:
        """Energy of one unit over the years, cents."""
        tco = self.case.tco
        kwh = Decimal(power_mw) / 1_000_000 * HOURS_PER_YEAR * Decimal(str(tco.years)) * Decimal(str(tco.pue))
        return _whole(kwh * Decimal(str(tco.usd_per_kwh)) * 100)

    def tag(self, parts: Mapping[str, int]) -> Tag:
        """The tag of these parts alone."""
        names = frozenset(part for part, count in parts.items() if count) if self.remembers_parts else frozenset()
        return Tag(names, tuple(self._as_far_as_it_counts(part, parts.get(part, 0)) for part in self.tracked))

    def _as_far_as_it_counts(self, part: str, pieces: int) -> int:
        """Pieces of a part; where stock alone makes it special, no more than there are in stock."""
        return pieces if self.has_terms or part in self.gone else min(self.stock[part], pieces)

    def tagged(self, tag: Tag, parts: Iterable[tuple[str, int]]) -> Tag:
        """The tag with more parts."""
        return self._joined(tag, self.tag(dict(parts)))

    def _joined(self, one: Tag, other: Tag) -> Tag:
        pairs = zip(self.tracked, one.stock, other.stock, strict=True)
        stock = (self._as_far_as_it_counts(part, a + b) for part, a, b in pairs)
        stands, trays = together(one.stands, other.stands), lying_together(one.trays, other.trays)
        return Tag(one.parts | other.parts, tuple(stock), stands, trays)

    def standing(self, tag: Tag, design: Design) -> Tag:
        """The tag with where the switches of a design stand."""
        if self.rack_cents is None:
            return tag
        return tag._replace(stands=stands_of(self.catalog, design.switches, design.leaf_rows))

    def _paid_for_racks(self, tag: Tag, sums: Sums) -> Sums | None:
        """The sums with the racks that the switches need; none where one is larger than a rack or they are too many."""
        if self.rack_cents is None:
            return sums
        racks, limit = fewest_racks(self.case, tag.stands), self.case.limits.racks
        if racks is None or (limit is not None and racks > limit):
            return None
        return sums.plus(self.counted(self.rack_cents, 0, self.rack_cents), racks)

    def _both(self, one: Front, other: Front) -> Front:
        found: dict[Tag, set[Sums]] = {}
        for (tag, sums), (more, others) in itertools.product(one.items(), other.items()):
            joined = found.setdefault(self._joined(tag, more), set())
            joined |= {a.plus(b) for a in sums for b in others}
        return self.kept(found)

    def kept(self, found: Mapping[Tag, Iterable[Sums]], to_come: Sums = NOTHING) -> Front:
        """What is within the limits, however it is completed, and not beaten; at least ``to_come`` will be added."""
        front = {}
        for tag, every in found.items():
            left = unbeaten(sums for sums in every if not self.is_beyond(tag, sums.plus(to_come)))
            if left:
                front[tag] = left
        return front

    def is_beyond(self, tag: Tag, sums: Sums) -> bool:
        """Whether no completion of a partial design can be within the limits."""
        limits = self.case.limits
        paid = self._paid_for_racks(tag, sums)
        if paid is None or is_overfull(self.room, tag.trays):
            return True
        sums = paid
        if any(sums.power > limit for limit in self.power_limits_mw):
            return True
        # Stock is taken off once at the end, so only the cost less all that stock may save is certain here.
        if self.cost_limit is not None and sums.cost - self.most_saved > self.cost_limit:
            return True
        if self.best is not None and sums[self.ranks[0]] - self.most_saved > self.best[0]:
            return True
        if limits.skus is not None and len(tag.parts) > limits.skus:
            return True
        return limits.vendors is not None and len({self._vendor(part) for part in tag.parts}) > limits.vendors

    def _part_price(self, part: str) -> int:
        base, _, length = part.rpartition("-n")
        if base in self.catalog.fibres or base in self.catalog.cables:
            return self.medium_price(base, float(length), part)
        return self._price(part) or 0

    def _vendor(self, part: str) -> str:
        base = part.rpartition("-n")[0]
        c = self.catalog
        for parts in (c.switches, c.modules, c.nics, c.fibres, c.cables):
            item = parts.get(part) or parts.get(base)
            if item is not None:
                return item.vendor
        raise KeyError(part)

    def _value(self, tag: Tag, sums: Sums) -> tuple[int, ...] | None:
        """The objectives of a whole design as bought; none when a limit is broken."""
        beyond = 0
        pieces = dict(zip(self.tracked, tag.stock, strict=True))
        offered = {part: n for part, n in pieces.items() if is_offered(self.case, part)}
        if offered:
            listed = {part: self._part_price(part) for part in offered}
            together = order_cents(self.case, offered, listed)
            if together is None:
                return None
            beyond += together - sum(n * listed[part] for part, n in offered.items())
        if any(needed_pieces(self.case, part, pieces[part]) for part in self.gone):
            return None
        spent: Counter[str] = Counter()
        for part, n in pieces.items():
            if part in offered:
                continue
            price = self._part_price(part)
            order = purchase_cents(self.case, part, n, price)
            if order is None:
                return None
            beyond += order - n * price
            if part in self.discounted:
                spent[self.discounted[part]] += order
        for discount in self.case.terms.vendor_discounts if self.case.terms is not None else ():
            beyond -= spent[discount.vendor] - paid_cents(discount, spent[discount.vendor])
        paid = self._paid_for_racks(tag, sums)
        if paid is None:
            return None
        net = Sums(paid.cost + beyond * self.counts[0], paid.power, paid.tco + beyond * self.counts[2])
        if self.is_beyond(tag, sums) or (self.cost_limit is not None and net.cost > self.cost_limit):
            return None
        return tuple(net[rank] for rank in self.ranks)


class _WholeFront(_Exhaustive):
    """Keeps every unbeaten pair of two objectives in place of the least first one."""

    def __init__(self, case: Case, catalog: Catalog) -> None:
        assert len(case.objectives) == 2
        super().__init__(case, catalog)
        # The best of every block by one objective is not all there is.
        self.is_plain = False
        self.found: set[tuple[int, int]] = set()

    def note(self, whole: Front) -> None:
        """Remember the pairs of these whole designs that nothing beats."""
        for tag, every in whole.items():
            for value in (self._value(tag, sums) for sums in every):
                if value is not None and not self._beaten((value[0], value[1])):
                    pair = (value[0], value[1])
                    self.found = {x for x in self.found if x[0] < pair[0] or x[1] < pair[1]} | {pair}

    def is_beyond(self, tag: Tag, sums: Sums) -> bool:
        """Also when a known pair is as good as anything a partial design can come to."""
        floor = [sums[rank] - (0 if DIMENSIONS[rank] is Objective.POWER else self.most_saved) for rank in self.ranks]
        return super().is_beyond(tag, sums) or any(a < floor[0] and b < floor[1] for a, b in self.found)

    def _beaten(self, pair: tuple[int, int]) -> bool:
        return any(a <= pair[0] and b <= pair[1] for a, b in self.found)


def unbeaten(every: Iterable[Sums]) -> list[Sums]:
    """Those that no other is as good as in everything."""
    found: list[Sums] = []
    for sums in sorted(set(every)):
        # What comes earlier costs no more, so it beats this one unless it draws more or has the larger tco.
        if not any(have.power <= sums.power and have.tco <= sums.tco for have in reversed(found)):
            found.append(sums)
    return found


def _together(counts: Counts) -> Counter[str]:
    """Switches by model: leaves and spines may be of one."""
    found: Counter[str] = Counter()
    for part, count in counts:
        found[part] += count
    return found


class _FabricFront:
    """All designs of one fabric over one protocol, priced."""

    def __init__(self, whole: _Exhaustive, fabric: Fabric) -> None:
        self.whole, self.fabric = whole, fabric
        self.table = InterconnectTable(whole.link_parts(fabric.spec))
        self.switches = {switch.id: switch for switch in fabric.switches}
        self._ways: dict[Block, list[tuple[Interconnect, Way]]] = {}
        self._cages: dict[Face, list[CageKind]] = {}

    def add_to(self, front: Front, rest: Front | None) -> None:
        """Put every design of the fabric on the front. With ``rest`` the fabric completes a whole design."""
        whole = self.whole

        def is_hopeless(counts: Counts) -> bool:
            start, switches = whole.tag(_together(counts)), self._switch_sums(counts)
            return whole.is_beyond(start, switches) or self._is_hopeless(front, start, switches)

        for design in designs(self.fabric, is_hopeless):
            if is_hopeless(design.switches):
                continue
            start = whole.standing(whole.tag(_together(design.switches)), design)
            switches = self._switch_sums(design.switches)
            if whole.is_beyond(start, switches):
                continue
            blocks = design.blocks()
            ways = {block: self.ways(block) for block in blocks}
            if not all(ways.values()) or self._is_slow(design, blocks):
                continue
            floor = switches
            for block, count in blocks.items():
                floor = floor.plus(_floor(ways[block]), count)
            if whole.is_beyond(start, floor) or self._is_hopeless(front, start, floor):
                continue
            added = self._mixed(start, switches, blocks, ways)
            if rest is not None:
                whole.note(whole._both(rest, added))
            for tag, sums in added.items():
                front[tag] = unbeaten([*front.get(tag, ()), *sums])

    def _is_slow(self, design: Design, blocks: Iterable[Block]) -> bool:
        """Whether the longest pieces that might be bought break the latency limit."""
        limit = self.fabric.spec.latency_ns
        if limit is None:
            return False
        longest: dict[str, float] = {}
        for block in blocks:
            pieces = [interconnect.medium_length_m for interconnect, _ in self.built(block)]
            longest[block.tier] = max([longest.get(block.tier, 0.0), *pieces])
        longest.pop("endpoint", None)
        return design.switch_ns is None or design.switch_ns + 2 * NS_PER_M * sum(longest.values()) > limit

    def _is_hopeless(self, front: Front, tag: Tag, floor: Sums) -> bool:
        """Whether something on the front, with no part that this design lacks, is as good as its best."""
        if self.whole.tracked:
            return False
        return any(
            have.parts <= tag.parts
            and is_within(have.stands, tag.stands)
            and have.trays == tag.trays
            and any(all(map(int.__le__, sums, floor)) for sums in found)
            for have, found in front.items()
        )

    def _switch_sums(self, counts: Counts) -> Sums:
        total = NOTHING
        for part, count in counts:
            total = total.plus(self.whole.switch_sums(part), count)
        return total

    def _mixed(self, start: Tag, switches: Sums, blocks: Counter[Block], ways: Mapping[Block, list[Way]]) -> Front:
        """Every mixture of ways, block by block."""
        whole = self.whole
        if whole.is_plain:
            for block, count in blocks.items():
                best = min(ways[block], key=lambda way: [way.sums[rank] for rank in whole.ranks])
                switches = switches.plus(best.sums, count)
            return whole.kept({start: [switches]})
        to_come = NOTHING
        for block, count in blocks.items():
            to_come = to_come.plus(_floor(ways[block]), count)
        partial: Front = {start: [switches]}
        for block, count in blocks.items():
            floor = _floor(ways[block])
            for _ in range(count):
                to_come = to_come.plus(floor, -1)
                longer: dict[Tag, set[Sums]] = {}
                for (tag, found), way in itertools.product(partial.items(), ways[block]):
                    laid = tag._replace(trays=with_more(tag.trays, block.trays, way.tray_load))
                    more = longer.setdefault(whole.tagged(laid, way.parts), set())
                    more |= {sums.plus(way.sums) for sums in found}
                partial = whole.kept(longer, to_come)
        return partial

    def ways(self, block: Block) -> list[Way]:
        """Every way to build the block."""
        return [way for _, way in self.built(block)]

    def built(self, block: Block) -> list[tuple[Interconnect, Way]]:
        """Every interconnect that builds the block, with what it takes."""
        if block not in self._ways:
            self._ways[block] = [
                (interconnect, way)
                for a, b in itertools.product(self._cage_kinds(block.a), self._cage_kinds(block.b))
                for interconnect in self.table.at_length(a, b, block.length_m)
                if (way := self._way(block, interconnect)) is not None
            ]
        return self._ways[block]

    def _way(self, block: Block, ic: Interconnect) -> Way | None:
        links = dict(block.joins)
        a_cages, b_cages = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
        for (a, b), n in links.items():
            a_cages[a] += n
            b_cages[b] += n
        if ic.is_cable:
            # The plug of a cable fills its cage, so the cage has no link to anywhere else.
            a_partners, b_partners = Counter(a for a, _ in links), Counter(b for _, b in links)
            if max(b_partners.values()) > 1 or max(a_partners.values()) > ic.legs:
                return None
            media = len(a_cages)
        elif ic.legs == 1:
            media = sum(links.values())
        else:
            media = sum(math.ceil(n / ic.legs) for n in (a_cages if ic.head_at_a else b_cages).values())
        cents = self.whole.medium_price(ic.medium_base, ic.medium_length_m, ic.medium)
        cents += self.whole.laying(ic.medium_length_m)
        total = self.whole.counted(cents * media, 0, cents * media)
        parts = Counter({ic.medium: media})
        for part, power, count in ((ic.a_part, ic.a_power_mw, len(a_cages)), (ic.b_part, ic.b_power_mw, len(b_cages))):
            if part is None:
                total = total.plus(self.whole.counted(0, power, self.whole.energy(power)), count)
            else:
                parts[part] += count
                total = total.plus(self.whole.module_sums(part), count)
        load = media * piece_load(self.whole.catalog, ic.medium_base) if block.trays else 0
        return Way(total, tuple(parts.items()), load)

    def _cage_kinds(self, face: Face) -> list[CageKind]:
        if face not in self._cages:
            switch = self.switches.get(face.owner)
            if switch is not None:
                group = group_of(switch, face)
                modes = modes_of(group, self.fabric.protocol, face)
            else:
                kind: Kind = self.fabric.kinds[int(face.owner.partition(":")[0])]
                group, modes = kind.cage, list(kind.modes)
            limit = group.hot.power_limit_w if face.hot and group.hot else group.power_limit_w
            self._cages[face] = [
                CageKind(
                    form_factor=group.form_factor,
                    shell=group.shell,
                    host_lanes=group.host_lanes,
                    lane_gbps=group.lane_gbps,
                    mode=mode,
                    power_limit_mw=None if limit is None else limit.milli,
                    protocol=self.fabric.protocol,
                    linear_host=group.linear_host,
                    also_accepts=group.also_accepts,
                    refuses_modules=frozenset(switch.refuses_modules if switch else ()),
                )
                for mode in modes
            ]
        return self._cages[face]


def _limits_of_both(backend: FabricBase, storage: FabricBase) -> FabricBase:
    """The backend's settings, no looser than storage asks of the switches that carry both."""
    hops = [spec.max_hops for spec in (backend, storage) if spec.max_hops is not None]
    latencies = [spec.latency_ns for spec in (backend, storage) if spec.latency_ns is not None]
    return backend.model_copy(
        update={
            "max_tiers": min(backend.max_tiers, storage.max_tiers),
            "min_leaves": max(backend.min_leaves, storage.min_leaves),
            "min_spines": max(backend.min_spines, storage.min_spines),
            "min_cores": max(backend.min_cores, storage.min_cores),
            "max_hops": min(hops) if hops else None,
            "latency_ns": min(latencies) if latencies else None,
        }
    )


def _floor(ways: Iterable[Way]) -> Sums:
    """The least of each sum over the ways."""
    return Sums(*(min(sums) for sums in zip(*(way.sums for way in ways), strict=True)))


def _cents(usd: float) -> int:
    return _whole(Decimal(str(usd)) * 100)


def _milli(watts: float) -> int:
    return _whole(Decimal(str(watts)) * 1000)


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))
