"""Bill and totals, read from the ledger and from nothing else."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.design import BomLine, Totals
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.solver.enclosures import panel_units
from gpunet.solver.offers import ENDLESS
from gpunet.solver.order import order_all
from gpunet.solver.prices import PriceList, Weight
from gpunet.solver.purchase import PartTerms, Purchase
from gpunet.solver.vendor_discounts import Saved, saved_on

KIND_ORDER = ("switch", "module", "cable", "fibre", "panel", "nic", "licence", "installation", "rack", "discount")


@dataclass(frozen=True)
class Count:
    """Pieces of one part, and what each draws."""

    kind: str
    quantity: int
    power_mw: int = 0
    typical_mw: int = 0


@dataclass(frozen=True)
class Bill:
    """The bill with exact totals."""

    lines: tuple[BomLine, ...]
    net: Weight
    """Totals in cents and milliwatts, owned parts at no cost."""
    typical_mw: int
    rack_units: int

    def totals(self) -> Totals:
        """The totals as the result shows them."""
        return Totals(
            cost_usd=self.net.cost / 100,
            power_max_w=self.net.power / 1000,
            power_typical_w=self.typical_mw / 1000,
            rack_units=self.rack_units,
            tco_usd=self.net.tco / 100,
        )


def count_parts(ledger: Ledger, catalog: Catalog) -> tuple[dict[str, Count], list[tuple[int, int]]]:
    """Every part with its quantity, and the watts (number of plugs, mW each) of cable ends, which are no parts."""
    found: dict[str, Count] = {}
    for part, n in Counter(d.part for d in ledger.devices if d.kind == "switch").items():
        switch = catalog.switches[part]
        found[part] = Count("switch", n, switch.power_chassis_max_w.milli, switch.power_chassis_typ_w.milli)
    for part, n in Counter(s.part for s in ledger.seats).items():
        module = catalog.modules[part]
        found[part] = Count("module", n, module.power_max_w.milli, module.power_typ_w.milli)
    pieces = {link.assembly: link.medium for link in ledger.links}
    for part, n in Counter(pieces.values()).items():
        base, _ = split_medium_id(part)
        found[part] = Count("cable" if base in catalog.cables else "fibre", n)
    runs = {channel.trunk: channel.run for channel in ledger.channels}
    for part, n in Counter([*runs.values(), *(c.cord for c in ledger.channels if c.cord)]).items():
        found[part] = Count("fibre", n + (found[part].quantity if part in found else 0))
    for part, n in Counter(panel.part for panel in ledger.panels).items():
        found[part] = Count("panel", n)
    adapters: Counter[str] = Counter()
    for adapter in ledger.adapters:
        adapters[adapter.part] += adapter.quantity
    for part, n in adapters.items():
        found[part] = Count("nic", n)
    return found, _cable_ends(ledger, catalog, found)


def _cable_ends(ledger: Ledger, catalog: Catalog, counts: dict[str, Count]) -> list[tuple[int, int]]:
    drawing = {}
    for part, count in counts.items():
        base, _ = split_medium_id(part)
        cable = catalog.cables.get(base) if count.kind == "cable" else None
        if cable is not None and (cable.end_a.power_w.milli or cable.end_b.power_w.milli):
            drawing[part] = cable
    ends: list[tuple[int, int]] = []
    for part, cable in drawing.items():
        a = {(x.a_device, x.a_group, x.a_cage) for x in ledger.links if x.medium == part}
        b = {(x.b_device, x.b_group, x.b_cage) for x in ledger.links if x.medium == part}
        # A cable with unlike ends lies head first in the ledger only where a is its head.
        head, legs = (a, b) if _head_at_a(cable.end_b.count, a, b) else (b, a)
        ends += [(len(head), cable.end_a.power_w.milli), (len(legs), cable.end_b.power_w.milli)]
    return ends


def _head_at_a(legs: int, a: set[tuple[str, str, int]], b: set[tuple[str, str, int]]) -> bool:
    return legs == 1 or len(a) <= len(b)


def make_bill(ledger: Ledger, catalog: Catalog, prices: PriceList) -> Bill:
    """Price the ledger. Raises ValueError where fewer pieces of a part can be had than are needed."""
    counts, ends = count_parts(ledger, catalog)
    lines: list[BomLine] = []
    orders = _orders(counts, prices)
    services: dict[tuple[str, str, int], int] = {}
    enclosures: Counter[str] = Counter()
    for (part, _), n in panel_units(ledger, catalog).items():
        enclosures[part] += n
    cost = power = typical = extra = 0
    for part in sorted(counts, key=lambda p: (KIND_ORDER.index(counts[p].kind), p)):
        count = counts[part]
        quote = prices.quote(part)
        assert quote is not None
        terms, order = orders[part]
        cost += order.cents
        for added in prices.added(part):
            cost += count.quantity * added.cents
            extra += count.quantity * added.later_cents
            key = (added.kind, added.name, added.cents)
            services[key] = services.get(key, 0) + count.quantity
        power += count.quantity * count.power_mw
        typical += count.quantity * count.typical_mw
        support = prices.support_cents(part) if count.kind == "switch" else 0
        extra += count.quantity * (prices.energy_cents(count.power_mw) + support)
        if order.shares:
            lines += _shared_lines(part, count, order, prices)
            continue
        lines.append(
            BomLine(
                part=part,
                kind=count.kind,
                quantity=count.quantity,
                owned=order.from_stock,
                spares=order.spares,
                surplus=order.surplus,
                unit_price_usd=_unit_cents(terms, order) / 100,
                extended_usd=order.cents / 100,
                price_source=quote.source,
                price_date=quote.date,
                price_how=quote.how,
                note="; ".join(
                    filter(None, [_units_note(enclosures.get(part)), _steps_note(terms, order), quote.note])
                ),
            )
        )
    for kind, name, cents in sorted(services, key=lambda x: (KIND_ORDER.index(x[0]), x)):
        lines.append(
            BomLine(
                part=name,
                kind=kind,
                quantity=services[kind, name, cents],
                unit_price_usd=cents / 100,
                extended_usd=services[kind, name, cents] * cents / 100,
                price_source="case file",
                price_date="",
                price_how="quoted",
                note="terms.licences" if kind == "licence" else "terms.installation",
            )
        )
    racks = network_racks(ledger)
    if prices.rack_cents is not None and racks:
        cost += racks * prices.rack_cents
        lines.append(
            BomLine(
                part="network rack",
                kind="rack",
                quantity=racks,
                unit_price_usd=prices.rack_cents / 100,
                extended_usd=racks * prices.rack_cents / 100,
                price_source="case file",
                price_date="",
                price_how="quoted",
                note="site.rack.cost_usd",
            )
        )
    for saved in saved_on({p: x for p, (x, _) in orders.items()}, {p: order for p, (_, order) in orders.items()}):
        cost -= saved.cents
        lines.append(_discount_line(saved))
    for n, each in ends:
        power += n * each
        typical += n * each
        extra += n * prices.energy_cents(each)
    units = sum(math.ceil(catalog.switches[d.part].rack_units.v) for d in ledger.devices if d.kind == "switch")
    return Bill(tuple(lines), Weight(cost, power, cost + extra), typical, units)


def _discount_line(saved: Saved) -> BomLine:
    """What a vendor takes off: the vendor and the step in the name, what it is taken off in the note."""
    schedule, tier = saved.schedule, saved.tier
    told = [f"on {saved.spent / 100:,.2f} USD of {schedule.vendor}"]
    unused = tier.unused_cents(saved.spent)
    if unused:
        told.append(f"{unused / 100:,.2f} USD more are paid for, to keep the step")
    up_to = "up to " if schedule.incremental and tier is not schedule.tiers[0] else ""
    return BomLine(
        part=f"{schedule.vendor}: {up_to}{float(tier.off * 100):g} % off from {tier.from_cents / 100:,.2f} USD",
        kind="discount",
        quantity=1,
        unit_price_usd=-saved.cents / 100,
        extended_usd=-saved.cents / 100,
        price_source="case file",
        price_date="",
        price_how="quoted",
        note=f"terms.vendor_discounts: {'; '.join(told)}",
    )


def _orders(counts: dict[str, Count], prices: PriceList) -> dict[str, tuple[PartTerms, Purchase]]:
    """Terms and purchase of every part. Raises ValueError where fewer pieces of a part can be had than are needed."""
    terms = {part: prices.terms(part) or PartTerms(prices.cents(part) or 0) for part in counts}
    found = {}
    for part, order in order_all(terms, {p: c.quantity for p, c in counts.items()}, prices.rules.buying).items():
        if order is None:
            raise ValueError(f"{counts[part].quantity:,} of {part} are needed and fewer can be had")
        found[part] = terms[part], order
    return found


def _shared_lines(part: str, count: Count, order: Purchase, prices: PriceList) -> Iterator[BomLine]:
    """A line for every source of a part. Stock stands on the first; what is bought is for the design first, then for
    spares, and what is left is surplus."""
    left = {"quantity": count.quantity, "spares": order.spares, "surplus": order.surplus}
    listed = prices.listed(part)
    for i, share in enumerate(order.shares):
        source, owned = share.source, 0 if i else order.from_stock
        dealt, pieces = {}, share.pieces + owned
        for what in left:
            dealt[what] = min(pieces, left[what])
            left[what] -= dealt[what]
            pieces -= dealt[what]
        cents = source.price(share.pieces)
        told = [f"price from {s.pieces:,} pieces" for s in source.steps[1:] if s.pieces <= share.pieces][-1:]
        told += [f"{source.most:,} at most"] if source.most < ENDLESS else []
        known = None if source.supplier else listed
        told += [known.note] if known is not None and known.note else []
        yield BomLine(
            part=part,
            kind=count.kind,
            quantity=dealt["quantity"],
            owned=owned,
            spares=dealt["spares"],
            surplus=dealt["surplus"],
            unit_price_usd=cents / 100,
            extended_usd=share.cents / 100,
            price_source=source.title if known is None else known.source,
            price_date=source.date if known is None else known.date,
            price_how="quoted" if known is None else known.how,
            note="; ".join(told),
            supplier=source.supplier,
            valid_until=source.until,
        )


def network_racks(ledger: Ledger) -> int:
    """Racks that a switch stands in, and neither a server nor a storage server."""
    hosts = {d.rack for d in ledger.devices if d.kind in ("server", "storage-server")}
    return len({d.rack for d in ledger.devices if d.kind == "switch"} - hosts)


def _unit_cents(terms: PartTerms, order: Purchase) -> int:
    """The price of a piece, that of the step reached where it holds for every piece."""
    reached = [step.cents for step in terms.steps if step.pieces <= max(1, order.bought)]
    return terms.unit_cents if terms.incremental else reached[-1]


def _units_note(units: int | None) -> str:
    return "" if units is None else f"{units:,} rack {'unit' if units == 1 else 'units'} of enclosure"


def _steps_note(terms: PartTerms, order: Purchase) -> str:
    """Which price steps an order reaches, in words."""
    reached = [step for step in terms.breaks if step.pieces <= order.bought]
    if not reached:
        return ""
    if not terms.incremental:
        return (
            f"price from {reached[-1].pieces:,} pieces; {terms.unit_cents / 100:,.2f} below {terms.breaks[0].pieces:,}"
        )
    return "; ".join(f"{step.cents / 100:,.2f} each from piece {step.pieces:,} on" for step in reached)
