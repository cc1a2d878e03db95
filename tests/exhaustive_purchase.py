"""What so many pieces of one part cost to buy, by trying every size of order."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gpunet.models.case import Case
from gpunet.models.parts import Catalog
from gpunet.models.quote import QuoteFile
from gpunet.models.terms import VendorDiscount

MARGIN = 60
"""Pieces beyond what is needed that orders are tried up to; no step, pack or minimum order of the cases is larger."""


def cents(usd: float) -> int:
    """Cents of an amount, USD."""
    return round(Decimal(str(usd)) * 100)


def is_tracked(case: Case, part: str) -> bool:
    """Whether the number of pieces of a part matters beyond its price."""
    names = {part, part.rpartition("-n")[0]}
    terms = case.terms
    found = {s.part for s in case.supply or ()} | {o.part for o in case.owned}
    if terms is not None:
        found |= {b.part for b in terms.price_breaks} | set(terms.minimum_order) | set(terms.packs)
    if case.buying is not None:
        quotes = [quote for quote in case.quotes or () if isinstance(quote, QuoteFile)]
        found |= {line.part for quote in quotes for line in quote.lines}
    if case.spares is not None:
        found |= set(case.spares.failure_percent_per_year) | set(case.spares.minimum)
    return bool(names & found)


def purchase_cents(case: Case, part: str, pieces: int, unit_cents: int) -> int | None:
    """What the cheapest order costs, cents; none where not enough can be had."""
    base = part.rpartition("-n")[0]
    needed = needed_pieces(case, part, pieces)
    if not needed:
        return 0
    terms = case.terms
    packs, minimum = (terms.packs, terms.minimum_order) if terms is not None else ({}, {})
    pack, least = (table.get(part, table.get(base, 1)) for table in (packs, minimum))
    most = supplied(case, part)
    sizes = [n for n in range(needed, needed + MARGIN) if n % pack == 0 and n >= least and (most is None or n <= most)]
    return min((_order_cents(case, part, base, n, unit_cents) for n in sizes), default=None)


def needed_pieces(case: Case, part: str, pieces: int) -> int:
    """Pieces that must be bought for so many in the design, spares with them and stock taken off."""
    needed = pieces + _spares(case, part, part.rpartition("-n")[0], pieces)
    return needed - min(needed, sum(o.quantity for o in case.owned if o.part == part))


def supplied(case: Case, part: str) -> int | None:
    """Pieces that can be had; none without a limit."""
    week = case.limits.lead_time_weeks
    entries = [s for s in case.supply or () if s.part == part]
    return sum(s.at_most for s in entries if week is None or s.from_week <= week) if entries else None


def _order_cents(case: Case, part: str, base: str, pieces: int, unit_cents: int) -> int:
    breaks = case.terms.price_breaks if case.terms is not None else ()
    found = next((b for name in (part, base) for b in breaks if b.part == name), None)
    if found is None:
        return pieces * unit_cents

    def at(n: int) -> int:
        """Price of the n-th piece of an order in which every piece has the price of its own step."""
        reached = [cents(step.usd) for step in found.steps if step.from_pieces <= n]
        return reached[-1] if reached else unit_cents

    return pieces * at(pieces) if found.kind == "all-units" else sum(at(n) for n in range(1, pieces + 1))


def _spares(case: Case, part: str, base: str, pieces: int) -> int:
    asked = case.spares
    if asked is None or not pieces:
        return 0
    percent = asked.failure_percent_per_year.get(part, asked.failure_percent_per_year.get(base, 0.0))
    least = asked.minimum.get(part, asked.minimum.get(base, 0))
    years = Fraction(str(asked.replenish_weeks)) * 7 / Fraction("365.25")
    mean = float(pieces * Fraction(str(percent)) / 100 * years)
    # Poisson, term by term, scaled so that the first is 1: the sum of all is then e to the mean.
    term, total, count = 1.0, 1.0, 0
    while count < least or total < asked.service_level * 2.718281828459045**mean:
        count += 1
        term *= mean / count
        total += term
    return count


def discounted_vendor(case: Case, catalog: Catalog, part: str) -> str | None:
    """The vendor of whose discount a part is a matter; none where it has none or the part has another price."""
    names = (part, part.rpartition("-n")[0])
    quotes = [quote for quote in case.quotes or () if isinstance(quote, QuoteFile)]
    if case.terms is None or set(names) & set(case.prices.overrides_usd):
        return None
    if any(line.part == part for quote in quotes for line in quote.lines):
        return None
    tables = (catalog.switches, catalog.modules, catalog.nics, catalog.fibres, catalog.cables)
    vendor = next(table[name].vendor for name in names for table in tables if name in table)
    return vendor if any(x.vendor == vendor for x in case.terms.vendor_discounts) else None


def paid_cents(discount: VendorDiscount, spent: int) -> int:
    """What is left to pay of ``spent`` cents: by all-units the least of all sums at least as large, step by step."""
    steps = [(cents(step.from_usd), Fraction(str(step.off_percent)) / 100) for step in discount.steps]
    if discount.kind == "incremental":
        bounds = [start for start, _ in steps] + [max(spent, steps[-1][0])]
        parts = [max(0, min(spent, bounds[i + 1]) - start) * off for i, (start, off) in enumerate(steps)]
        return spent - int(sum(parts))
    sums = [spent, *(start for start, _ in steps if start > spent)]
    return min(n - int(n * max((off for start, off in steps if start <= n), default=Fraction(0))) for n in sums)
