"""The order split among suppliers, checked against the quotes of the case: every line is an offer that holds, and the
limits on suppliers are kept. Reads the case and the bill and nothing of the code that splits the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case
from gpunet.models.design import BomLine, Check
from gpunet.models.evidence import usd_to_cents
from gpunet.models.quote import QuoteFile, QuoteLine
from gpunet.solver.verify_purchase import Order, spares_of
from gpunet.solver.verify_report import Findings


def quoted_lines(case: Case, name: str) -> list[tuple[QuoteFile, QuoteLine]]:
    """Lines of the case's quotes for a part, without those that have lapsed by the day of the order and those that are
    delivered too late."""
    day, weeks = case.order_date or "", case.limits.lead_time_weeks
    found = []
    for quote in case.quotes or ():
        if not isinstance(quote, QuoteFile) or (quote.valid_until is not None and day > quote.valid_until):
            continue
        for line in quote.lines:
            late = weeks is not None and (line.lead_time_weeks or 0) > weeks
            if line.part == name and not late:
                found.append((quote, line))
    return found


def promised_weeks(case: Case, name: str, listed: float | None) -> float | None:
    """The delivery time that counts for a part: as its lowest quote in time states it, else the quickest quote, else
    the catalogue, which alone counts where the order is split or the case states the price."""
    if case.buying is not None or is_stated(case, name):
        return listed
    asked = [line for _, line in quoted_lines(case, name)]
    if asked:
        first = min(asked, key=lambda line: line.unit_usd).lead_time_weeks
        return listed if first is None else first
    day = case.order_date or ""
    late = [
        line.lead_time_weeks
        for quote in case.quotes or ()
        if isinstance(quote, QuoteFile) and not (quote.valid_until is not None and day > quote.valid_until)
        for line in quote.lines
        if line.part == name and line.lead_time_weeks is not None
    ]
    return min(late, default=listed)


def is_stated(case: Case, name: str) -> bool:
    """Whether the case itself states the price of a part."""
    base, _ = split_medium_id(name)
    return name in case.prices.overrides_usd or base in case.prices.overrides_usd


def may_be_listed(case: Case, name: str) -> bool:
    """Whether a part may be bought at its catalogue price."""
    if case.buying is None or is_stated(case, name) or case.buying.at_list == "always":
        return True
    return case.buying.at_list == "unquoted" and not quoted_lines(case, name)


def is_split(case: Case, name: str) -> bool:
    """Whether a part is bought from suppliers, or not at all, and not simply at its price."""
    if case.buying is None or is_stated(case, name):
        return False
    return bool(quoted_lines(case, name)) or not may_be_listed(case, name)


@dataclass(frozen=True)
class SplitPart:
    """A part of the design that suppliers offer, with its lines on the bill."""

    name: str
    kind: str
    pieces: int
    """In the design."""
    listed_cents: int | None
    """Price of the catalogue after discount, cents; none where it has none."""
    lines: tuple[BomLine, ...]

    def order(self, case: Case) -> Order:
        """What the lines come to, each at the price of its offer."""
        bought = sum(line.bought for line in self.lines)
        needed, spares, owned = self._needed(case)
        cents = sum(line.bought * (self._each(case, line) or 0) for line in self.lines)
        return Order(spares, owned, bought, bought - needed, 0, cents)

    def _needed(self, case: Case) -> tuple[int, int, int]:
        """Pieces to buy, spares, and what stock gives."""
        spares = 0 if case.spares is None else spares_of(case.spares, self.name, self.kind, self.pieces)
        owned = min(self.pieces + spares, sum(o.quantity for o in case.owned if o.part == self.name))
        return self.pieces + spares - owned, spares, owned

    def _offer(self, case: Case, line: BomLine) -> tuple[QuoteFile, QuoteLine] | None:
        """The quote and its line that a line of the bill stands for."""
        named = (line.supplier, line.price_source)
        every = quoted_lines(case, self.name)
        return next(((quote, asked) for quote, asked in every if (quote.supplier, quote.title) == named), None)

    def _each(self, case: Case, line: BomLine) -> int | None:
        """Price of a piece, cents; none where nobody asks any."""
        if not line.supplier:
            return self.listed_cents
        offer = self._offer(case, line)
        if offer is None:
            return None
        steps = [step for step in offer[1].steps if step.from_pieces <= line.bought]
        reached = max(steps, key=lambda step: step.from_pieces, default=None)
        return usd_to_cents(offer[1].unit_usd if reached is None else reached.unit_usd)

    def faults(self, case: Case) -> Iterator[str]:
        """What is wrong with the lines, in words."""
        order = self.order(case)
        for what, told, counted in (
            ("pieces", sum(x.quantity for x in self.lines), self.pieces),
            ("owned", sum(x.owned for x in self.lines), order.owned),
            ("spares", sum(x.spares for x in self.lines), order.spares),
            ("surplus", sum(x.surplus for x in self.lines), order.surplus),
        ):
            if told != counted:
                yield f"{told:,} {what} on the bill, {counted:,} by the ledger"
        sellers = Counter((x.supplier, x.price_source) for x in self.lines)
        yield from (f"{' '.join(seller)}: on the bill twice" for seller, n in sellers.items() if n > 1)
        for line in self.lines:
            if min(line.bought, line.quantity, line.spares, line.surplus, line.owned) < 0:
                yield f"{line.price_source}: a negative number of pieces"
            elif line.bought or line.supplier:
                yield from (f"{line.supplier or 'the catalogue'}: {text}" for text in self._faults_of(case, line))
            elif line.extended_usd:
                yield f"{line.extended_usd:,.2f} for pieces in stock"

    def _faults_of(self, case: Case, line: BomLine) -> Iterator[str]:
        base, _ = split_medium_id(self.name)
        packs, least = ({}, {}) if case.terms is None else (case.terms.packs, case.terms.minimum_order)
        fewest, most = least.get(self.name, least.get(base, 1)), None
        if line.supplier:
            offer = self._offer(case, line)
            if offer is None:
                yield f"no quote of the name {line.price_source} that holds on the day of the order offers it"
                return
            quote, asked = offer
            fewest = fewest if asked.minimum is None else asked.minimum
            most = asked.at_most if asked.at_most is not None else asked.quantity
            if (line.price_date, line.valid_until) != (quote.date or "", quote.valid_until or ""):
                yield f"dated {line.price_date} and valid until {line.valid_until}, which the quote is not"
        elif not may_be_listed(case, self.name):
            yield "the case does not let it be bought at catalogue price"
        if most is not None and line.bought > most:
            yield f"{line.bought:,} pieces are bought, {most:,} are offered"
        if line.bought < fewest:
            yield f"{line.bought:,} pieces are bought, no fewer than {fewest:,} are sold"
        pack = packs.get(self.name, packs.get(base, 1))
        if line.bought % pack:
            yield f"{line.bought:,} pieces are bought, which is no number of packs of {pack:,}"
        each = self._each(case, line)
        if each is None:
            yield "it has no price"
        elif (usd_to_cents(line.unit_price_usd), usd_to_cents(line.extended_usd)) != (each, each * line.bought):
            yield f"{line.bought:,} pieces at {each:,} cents are not what the bill says"


def check_buying(case: Case, bom: Iterable[BomLine], split: set[str]) -> Check:
    """Limits on suppliers and on split lines; ``split``: parts that suppliers offer."""
    findings = Findings("buying")
    buying = case.buying
    sellers: dict[str, set[str]] = {}
    for line in bom:
        if line.supplier and line.part not in split:
            findings.add(f"{line.part}: {line.supplier} is to deliver it, and no quote offers it")
        if line.part in split and line.bought:
            sellers.setdefault(line.part, set()).add(line.supplier)
    suppliers = {name for names in sellers.values() for name in names if name}
    several = sorted(part for part, names in sellers.items() if len(names) > 1)
    if buying is not None and buying.max_suppliers is not None and len(suppliers) > buying.max_suppliers:
        findings.add(f"{len(suppliers)} suppliers ({', '.join(sorted(suppliers))}), at most {buying.max_suppliers}")
    if buying is not None and buying.max_split_lines is not None and len(several) > buying.max_split_lines:
        findings.add(f"{', '.join(several)}: {len(several)} parts are split, at most {buying.max_split_lines}")
    return findings.check(f"{len(suppliers)} suppliers, {len(several)} parts from more than one")
