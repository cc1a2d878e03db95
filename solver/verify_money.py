"""The bill and the totals, counted again from the ledger in integer cents and milliwatts.

The network's power is the chassis of its switches and the plugs at both ends of every link. Watts of NICs are
part of the server's own maximum, and servers, storage servers and PDUs are no network: none of them is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property

import numpy as np

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case
from gpunet.models.design import BomLine, Check
from gpunet.models.evidence import Price, usd_to_cents, watts_to_milliwatts
from gpunet.models.parts import Part
from gpunet.models.quote import QuoteFile
from gpunet.solver.verify_links import Wiring
from gpunet.solver.verify_offers import SplitPart, is_split, is_stated, may_be_listed, quoted_lines
from gpunet.solver.verify_purchase import Order, Service, discounts_of, order_of, services_of
from gpunet.solver.verify_report import Findings

HOURS_PER_YEAR = 8766
SERVICES = ("licence", "installation", "rack", "discount")
"""Kinds of line that are no part."""


@dataclass(frozen=True)
class BoughtPart:
    """One part of the bill."""

    kind: str
    quantity: int
    part: Part | None
    unit_cents: int | None
    """Unit price after override or discount; none where nobody gives one."""
    listed_cents: int | None
    """Price of the catalogue after discount; none where it has none."""


class Bill:
    """Quantities and sums of the ledger."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.book = wiring.book
        self.case, self.catalog = self.book.case, self.book.catalog
        ledger = self.book.ledger
        quantities: list[tuple[str, Counter[str]]] = [
            ("switch", Counter(d.part for d in ledger.devices if d.kind == "switch")),
            ("module", Counter(s.part for s in ledger.seats)),
            ("medium", Counter(medium for _, medium in {(x.assembly, x.medium) for x in ledger.links})),
            ("nic", Counter()),
            ("panel", Counter(panel.part for panel in ledger.panels)),
        ]
        runs = {row.trunk: row.run for row in ledger.channels}
        quantities[2][1].update([*runs.values(), *(row.cord for row in ledger.channels if row.cord)])
        for adapter in ledger.adapters:
            quantities[3][1][adapter.part] += adapter.quantity
        self.lines: dict[str, BoughtPart] = {}
        for kind, counts in quantities:
            for name, count in counts.items():
                self.lines[name] = self._line(kind, name, count)

    def _line(self, kind: str, name: str, quantity: int) -> BoughtPart:
        catalog = self.catalog
        part: Part | None
        price: Price | None
        if kind == "medium":
            base, length_m = split_medium_id(name)
            medium = catalog.fibres.get(base) or catalog.cables.get(base)
            kind = "fibre" if base in catalog.fibres else "cable"
            prices = [s.price for s in medium.lengths if s.length_m == length_m] if medium else []
            part, price = medium, prices[0] if prices else None
        else:
            tables = {
                "switch": catalog.switches,
                "module": catalog.modules,
                "nic": catalog.nics,
                "panel": catalog.accessories,
            }
            priced = tables[kind].get(name)  # type: ignore[attr-defined]
            part, price = priced, priced.price if priced else None
        return BoughtPart(kind, quantity, part, self._cents(name, part, price), self._listed_cents(part, price))

    def _cents(self, name: str, part: Part | None, price: Price | None) -> int | None:
        """An override or a quote keeps its figure; a discount takes its share off the catalogue's price."""
        prices = self.case.prices
        for quoted in (name, split_medium_id(name)[0]):
            if quoted in prices.overrides_usd:
                return usd_to_cents(prices.overrides_usd[quoted])
        asked = [usd_to_cents(line.unit_usd) for _, line in quoted_lines(self.case, name)]
        listed = self._listed_cents(part, price)
        if listed is not None and self.case.buying is not None and may_be_listed(self.case, name):
            asked.append(listed)
        return min(asked) if asked else listed

    def _listed_cents(self, part: Part | None, price: Price | None) -> int | None:
        """The price of the catalogue after discount."""
        if part is None or price is None:
            return None
        cents = Decimal(price.cents(self.case.prices.basis))
        return _whole(cents * (1 - Decimal(str(self.case.prices.discounts.get(part.vendor, 0)))))

    @cached_property
    def split(self) -> dict[str, SplitPart]:
        """Parts that suppliers offer, where the order is split among them."""
        told: dict[str, list[BomLine]] = {}
        for line in self.book.result.bom:
            told.setdefault(line.part, []).append(line)
        return {
            name: SplitPart(name, line.kind, line.quantity, line.listed_cents, tuple(told.get(name, ())))
            for name, line in self.lines.items()
            if is_split(self.case, name)
        }

    @cached_property
    def orders(self) -> dict[str, Order]:
        """What is bought of every part."""
        return {
            name: self.split[name].order(self.case)
            if name in self.split
            else order_of(self.case, name, line.kind, line.quantity, line.unit_cents or 0)
            for name, line in self.lines.items()
        }

    @cached_property
    def services(self) -> dict[tuple[str, str, int], Service]:
        """Licences, laying of cables and network racks."""
        parts = {
            name: (line.kind, line.part.vendor if line.part else "", line.quantity) for name, line in self.lines.items()
        }
        found = services_of(self.case, parts)
        rack_usd = self.case.site.rack.cost_usd
        if rack_usd is not None and (racks := len(self._network_racks)):
            cents = usd_to_cents(rack_usd)
            found["rack", "network rack", cents] = Service("rack", racks, cents, 0)
        return found | discounts_of(self.case, self._spent)

    @property
    def _spent(self) -> dict[str, int]:
        """What is bought of every vendor at catalogue price, cents: neither quoted by anyone nor stated by the case."""
        found: Counter[str] = Counter()
        for name, line in self.lines.items():
            if line.part is not None and not is_stated(self.case, name) and not _is_quoted(self.case, name):
                found[line.part.vendor] += self.orders[name].cents
        return found

    @property
    def _network_racks(self) -> set[str]:
        """Racks with a switch on a unit of theirs, those apart in which machines are mounted."""
        mounted: dict[str, set[str]] = {}
        for device in self.book.ledger.devices:
            mounted.setdefault(device.rack, set()).add(device.kind)
        return {r for r, kinds in mounted.items() if "switch" in kinds and not kinds & {"server", "storage-server"}}

    @property
    def cost_cents(self) -> int:
        """What the network costs."""
        services = sum(x.quantity * x.each_cents for x in self.services.values())
        return sum(order.cents for order in self.orders.values()) + services

    @property
    def power_mw(self) -> int:
        """Largest draw of the network."""
        switches = [self.catalog.switches.get(d.part) for d in self.book.ledger.devices if d.kind == "switch"]
        return sum(s.power_chassis_max_w.milli for s in switches if s) + int(self.wiring.cage_mw.sum())

    @property
    def typical_mw(self) -> int:
        """Typical draw of the network."""
        switches = [self.catalog.switches.get(d.part) for d in self.book.ledger.devices if d.kind == "switch"]
        return sum(s.power_chassis_typ_w.milli for s in switches if s) + int(self.wiring.cage_typ_mw.sum())

    @property
    def rack_units(self) -> int:
        """Rack units of the switches."""
        return sum(d.rack_units for d in self.book.ledger.devices if d.kind == "switch")

    @property
    def tco_cents(self) -> int:
        """Cost, energy and support over the years of the case; energy and support rounded to the cent per unit."""
        tco = self.case.tco
        years = Decimal(str(tco.years))
        per_mw = years * HOURS_PER_YEAR / 1_000_000 * Decimal(str(tco.pue)) * Decimal(str(tco.usd_per_kwh)) * 100
        support = years * Decimal(str(tco.support_rate))
        total = self.cost_cents + sum(x.yearly_cents for x in self.services.values())
        for name, line in self.lines.items():
            if line.kind == "switch":
                chassis = self.catalog.switches[name].power_chassis_max_w.milli if name in self.catalog.switches else 0
                total += line.quantity * (_whole(per_mw * chassis) + _whole(support * (line.unit_cents or 0)))
        draws, cages = np.unique(self.wiring.cage_mw, return_counts=True)
        for draw, count in zip(draws.tolist(), cages.tolist(), strict=True):
            total += count * _whole(per_mw * draw)
        return total


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))


def _is_quoted(case: Case, name: str) -> bool:
    """Whether a quote that has not lapsed offers a part, in time or not."""
    quotes = [q for q in case.quotes or () if isinstance(q, QuoteFile)]
    lasting = [q for q in quotes if q.valid_until is None or (case.order_date or "") <= q.valid_until]
    return any(line.part == name for quote in lasting for line in quote.lines)


def check_bom(bill: Bill) -> Check:
    """Quantities, owned parts, unit and extended prices of every line."""
    findings = Findings("bom")
    lines = [line for line in bill.book.result.bom if line.kind not in SERVICES and line.part not in bill.split]
    reported = {line.part: line for line in lines}
    if len(reported) != len(lines):
        findings.add("a part is on the bill twice")
    _check_services(bill, findings)
    for name, part in sorted(bill.split.items()):
        for text in part.faults(bill.case):
            findings.add(f"{name}: {text}")
    for name in sorted(set(reported) | set(bill.lines) - set(bill.split)):
        line, mine = reported.get(name), bill.lines.get(name)
        if mine is None:
            findings.add(f"{name}: on the bill, not in the design")
            continue
        if line is None:
            findings.add(f"{name}: {mine.quantity:,} in the design, not on the bill")
            continue
        if mine.unit_cents is None:
            findings.add(f"{name}: neither the catalogue nor the case gives a price")
            continue
        order = bill.orders[name]
        for what, told, counted in (
            ("pieces", line.quantity, mine.quantity),
            ("owned", line.owned, order.owned),
            ("spares", line.spares, order.spares),
            ("surplus", line.surplus, order.surplus),
            ("cents each", usd_to_cents(line.unit_price_usd), order.each_cents),
            ("cents in all", usd_to_cents(line.extended_usd), order.cents),
        ):
            if told != counted:
                findings.add(f"{name}: {told:,} {what} on the bill, {counted:,} by the ledger")
    versions = (bill.book.result.catalog_version, bill.catalog.version)
    note = "" if versions[0] == versions[1] else " (the design was made with another version of the catalogue)"
    return findings.check(f"{len(bill.lines):,} lines agree with the ledger in pieces and cents{note}")


def _check_services(bill: Bill, findings: Findings) -> None:
    """Licences and laying of cables: how many, and what they cost."""
    services = [line for line in bill.book.result.bom if line.kind in SERVICES]
    lines = {(x.kind, x.part, usd_to_cents(x.unit_price_usd)): x for x in services}
    if len(lines) != len(services):
        findings.add("a licence, the laying of cables, the network racks or a discount are on the bill twice")
    for key in sorted({*lines, *bill.services}):
        quantity = lines[key].quantity if key in lines else 0
        counted = bill.services[key].quantity if key in bill.services else 0
        if quantity != counted:
            findings.add(f"{key[0]} {key[1]} at {key[2]:,} cents: {quantity:,} on the bill, {counted:,} by the ledger")
        elif lines[key].spares or lines[key].surplus or lines[key].owned:
            findings.add(f"{key[0]} {key[1]}: only parts are kept in stock or bought beyond the need")
        elif usd_to_cents(lines[key].extended_usd) != quantity * key[2]:
            findings.add(f"{key[0]} {key[1]}: {quantity:,} at {key[2]:,} cents do not come to the line's total")


def check_totals(bill: Bill) -> Check:
    """Cost to the cent, power to the milliwatt, rack units and cost over the years."""
    findings = Findings("totals")
    totals = bill.book.result.totals
    if totals is None:
        findings.add("the result has no totals")
        return findings.check("")
    for what, told, counted in (
        ("cost in cents", usd_to_cents(totals.cost_usd), bill.cost_cents),
        ("largest draw in mW", watts_to_milliwatts(totals.power_max_w), bill.power_mw),
        ("typical draw in mW", watts_to_milliwatts(totals.power_typical_w), bill.typical_mw),
        ("rack units", totals.rack_units, bill.rack_units),
        ("cost of ownership in cents", usd_to_cents(totals.tco_usd), bill.tco_cents),
    ):
        if told != counted:
            findings.add(f"{what}: {told:,} reported, {counted:,} by the ledger")
    return findings.check(
        f"{bill.cost_cents / 100:,.2f} USD, {bill.power_mw / 1000:,.1f} W, {bill.rack_units} rack units"
    )
