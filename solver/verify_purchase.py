"""What the pieces of a design cost to buy, worked out again from the case alone: stock, spares, packs, price steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case
from gpunet.models.design import Check
from gpunet.models.evidence import usd_to_cents
from gpunet.models.terms import PriceBreak, Spares
from gpunet.solver.verify_report import Findings

DAYS_PER_YEAR = Decimal("365.25")
SURE = Decimal("1e-9")
"""Probabilities closer than this to the level asked for are taken for it."""


@dataclass(frozen=True)
class Order:
    """One line of an order."""

    spares: int
    owned: int
    bought: int
    surplus: int
    each_cents: int
    """Price of a piece as the bill shows it."""
    cents: int


def order_of(case: Case, name: str, kind: str, pieces: int, unit_cents: int) -> Order:
    """The cheapest order for so many pieces of a part, the smallest where several cost the same."""
    spares = 0 if case.spares is None else spares_of(case.spares, name, kind, pieces)
    owned = min(pieces + spares, sum(o.quantity for o in case.owned if o.part == name))
    due = pieces + spares - owned
    found = _break_of(case, name)
    if due == 0:
        return Order(spares, owned, 0, 0, unit_cents, 0)
    pack, least = (_told(case, table, name) for table in ("packs", "minimum_order"))
    steps = [] if found is None else [(s.from_pieces, usd_to_cents(s.usd)) for s in found.steps]
    most = supply_of(case, name)
    incremental = found is not None and found.kind == "incremental"
    # Beyond the last step a larger order only costs more, so no more than a pack beyond it need be looked at.
    sizes = {n + -n % pack for n in (max(due, least, wanted) for wanted in (due, *(pieces for pieces, _ in steps)))}
    within = [n for n in sizes if most is None or n <= most]
    # Where supply ends before the need the smallest order is told, and refused by ``check_supply``.
    prices = {n: _price(n, unit_cents, steps, incremental) for n in within or [min(sizes)]}
    bought = min(prices, key=lambda n: (prices[n][1], n))
    each, cents = prices[bought]
    return Order(spares, owned, bought, bought - due, each, cents)


def _price(n: int, unit_cents: int, steps: list[tuple[int, int]], incremental: bool) -> tuple[int, int]:
    """Price of a piece as shown, and of the order, cents."""
    if not incremental:
        each = next((cents for pieces, cents in reversed(steps) if pieces <= n), unit_cents)
        return each, each * n
    total, before, each = 0, 0, unit_cents
    for pieces, cents in steps:
        if pieces > n:
            break
        total += (pieces - 1 - before) * each
        before, each = pieces - 1, cents
    return unit_cents, total + (n - before) * each


def supply_of(case: Case, name: str) -> int | None:
    """Pieces that can be had in time; none where the case sets no limit."""
    told = [s for s in case.supply or () if s.part == name]
    by = case.limits.lead_time_weeks
    return sum(s.at_most for s in told if by is None or s.from_week <= by) if told else None


def spares_of(asked: Spares, name: str, kind: str, pieces: int) -> int:
    """The fewest spares that last with the probability asked for while replacements are on their way."""
    if pieces == 0 or kind not in ("switch", "module", "cable", "fibre", "panel"):
        return 0
    base, _ = split_medium_id(name)
    keys = (name, base, kind)
    least = next((asked.minimum[k] for k in keys if k in asked.minimum), 0)
    percent = next((asked.failure_percent_per_year[k] for k in keys if k in asked.failure_percent_per_year), 0.0)
    with localcontext() as context:
        context.prec = 40
        weeks = Decimal(str(asked.replenish_weeks))
        mean = pieces * Decimal(str(percent)) / 100 * weeks * 7 / DAYS_PER_YEAR
        term = total = (-mean).exp()
        count = 0
        while count < least or total < Decimal(str(asked.service_level)) - SURE:
            count += 1
            term = term * mean / count
            total += term
        return count


def _told(case: Case, table: str, name: str) -> int:
    found: dict[str, int] = {} if case.terms is None else getattr(case.terms, table)
    base, _ = split_medium_id(name)
    return found.get(name, found.get(base, 1))


def _break_of(case: Case, name: str) -> PriceBreak | None:
    base, _ = split_medium_id(name)
    breaks = () if case.terms is None else case.terms.price_breaks
    by_part = {b.part: b for b in breaks}
    return by_part.get(name) or by_part.get(base)


@dataclass(frozen=True)
class Service:
    """A line of the bill that is no part."""

    kind: str
    quantity: int
    each_cents: int
    yearly_cents: int
    """Per piece over the years of the case."""


def services_of(case: Case, parts: dict[str, tuple[str, str, int]]) -> dict[tuple[str, str, int], Service]:
    """Licences and laying by kind, name and price. ``parts``: part -> kind, vendor, pieces in the design."""
    found: dict[tuple[str, str, int], Service] = {}
    if case.terms is None:
        return found

    def add(kind: str, name: str, each: int, yearly: int, n: int) -> None:
        before = found.get((kind, name, each))
        more = 0 if before is None else before.quantity
        total = yearly * n + (0 if before is None else before.yearly_cents)
        found[kind, name, each] = Service(kind, more + n, each, total)

    years = case.tco.years
    for part, (kind, vendor, n) in parts.items():
        if kind == "switch":
            for licence in case.terms.licences:
                if licence.switch in (part, f"{vendor}:*", "switch:*"):
                    paid = licence.prepaid_years or 0
                    left = max(Decimal(0), Decimal(str(years)) - Decimal(str(paid)))
                    yearly = Decimal(str(licence.usd_per_year)) * left * 100
                    if paid:
                        each = Decimal(str(licence.usd_per_year)) * Decimal(str(paid)) * 100
                        name = f"{licence.name}, {paid:g} years"
                        add("licence", name, math.floor(each + Decimal("0.5")), 0, n)
                    add("licence", licence.name, usd_to_cents(licence.usd), math.floor(yearly + Decimal("0.5")), n)
        laying = case.terms.installation
        _, length_m = split_medium_id(part)
        if laying is not None and kind in ("cable", "fibre") and length_m is not None:
            if length_m > laying.in_rack_m:
                add("installation", "across racks", usd_to_cents(laying.across_racks_usd), 0, n)
            else:
                add("installation", "in a rack", usd_to_cents(laying.in_rack_usd), 0, n)
    return found


def discounts_of(case: Case, spent: dict[str, int]) -> dict[tuple[str, str, int], Service]:
    """What every vendor takes off, by kind, name and cents. ``spent``: vendor -> cents of what counts."""
    found: dict[tuple[str, str, int], Service] = {}
    for told in () if case.terms is None else case.terms.vendor_discounts:
        bought = spent.get(told.vendor, 0)
        starts = [usd_to_cents(step.from_usd) for step in told.steps]
        shares = [int(Decimal(str(step.off_percent)) * 100) for step in told.steps]
        best, name = 0, ""
        for i, start in enumerate(starts):
            if told.kind == "all-units":
                # Who buys less may still pay for as much as the step begins at.
                counted = max(bought, start)
                off = counted * shares[i] // 10_000 - (counted - bought)
            else:
                ends = [*starts[1 : i + 1], max(bought, start)]
                off = sum(s * (end - begin) for s, begin, end in zip(shares, starts, ends, strict=False)) // 10_000
                off = off if bought > start else 0
            if off > best:
                up_to = "up to " if told.kind == "incremental" and i else ""
                percent = told.steps[i].off_percent
                best, name = off, f"{told.vendor}: {up_to}{percent:g} % off from {start / 100:,.2f} USD"
        if best:
            found["discount", name, -best] = Service("discount", 1, -best, 0)
    return found


def check_supply(case: Case, orders: dict[str, Order]) -> Check:
    """No part is ordered beyond what can be had in time."""
    findings = Findings("supply")
    limited = sorted({s.part for s in case.supply or ()} & set(orders))
    for name in limited:
        most = supply_of(case, name)
        if most is not None and orders[name].bought > most:
            findings.add(f"{name}: {orders[name].bought:,} are ordered, and {most:,} can be had")
    return findings.check(f"{len(limited)} parts of limited supply are within it")
