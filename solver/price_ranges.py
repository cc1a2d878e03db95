"""Between which unit prices a design stays the best, and what takes over beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gpunet.catalogs import split_medium_id
from gpunet.models.case import FabricName, Objective
from gpunet.models.parts import Catalog
from gpunet.models.study import DesignSummary
from gpunet.models.study_sensitivity import PricePiece, PriceRange
from gpunet.solver.candidates import Compiled
from gpunet.solver.envelope import Line, Piece, envelope, lower_end
from gpunet.solver.instance import Key
from gpunet.solver.interconnects import at_length
from gpunet.solver.links import laid_parts
from gpunet.solver.workbench import Answer, Workbench

LOOK_UP = 100
"""How many times today's price is looked at."""
LEAST_LOOK_UP = 1_000_000
"""Cents that are looked at, at least."""


def kind_of(catalog: Catalog, part: str) -> str:
    """``switch``, ``module``, ``nic``, ``cable``, ``panel`` or ``fibre``."""
    base, _ = split_medium_id(part)
    for kind, table in (
        ("switch", catalog.switches),
        ("module", catalog.modules),
        ("nic", catalog.nics),
        ("cable", catalog.cables),
        ("panel", catalog.accessories),
    ):
        if part in table or base in table:
            return kind
    return "fibre"


def line_of(bench: Workbench, part: str, price: int) -> Line:
    """The line of the best design at a unit price of one part, cents. Raises ValueError where there is no design."""
    return _line(bench, bench.at({part: price}), part, price)


def _line(bench: Workbench, answer: Answer, part: str, price: int) -> Line:
    at_price = answer.value
    assert answer.at_list is not None
    assert answer.parts is not None
    bought = answer.at_list.get(part, 0)
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    is_tco = answer.case.objectives[0] is Objective.TCO
    supported = answer.parts.get(part, 0) if is_tco and part in bench.catalog.switches else 0
    prices = compiled.prices

    def worth(other: int) -> int:
        support = supported * (prices.support_of(other) - prices.support_of(price)) if supported else 0
        return at_price + bought * (other - price) + support

    return Line(worth, bought + supported, answer)


def rivals(bench: Workbench, today: Answer) -> list[str]:
    """Parts that could displace one: every allowed switch, module, cable and fibre that the design does without.

    Fibre and cable at the stock lengths that the runs of the design call for.
    """
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    assert today.data is not None
    assert today.choice is not None
    found: set[str] = set()
    for fabric, allowed in compiled.eligible.items():
        if fabric not in today.templates and fabric is not FabricName.STORAGE:
            continue
        found |= {s.id for s in allowed.switches} | set(allowed.links.modules)
    for key, counts in today.choice.built.items():
        if any(counts):
            found |= set(_media(compiled, key))
    return sorted(part for part in found if part not in (today.parts or {}))


def _media(compiled: Compiled, key: Key) -> Iterator[str]:
    """Every cable, fibre and panel, with its stock length, that could make a link between these cages."""
    book = compiled.measures[key.fabric].book
    for option in book.options(key.link.pair):
        interconnect = at_length(option, key.link.step_m, key.link.shape.cords)
        if interconnect is not None:
            yield interconnect.medium
            yield from (part for part, _ in laid_parts(interconnect, 1))


def range_of(bench: Workbench, part: str) -> dict[str, Any] | None:
    """The price range of one part as data for JSON, or none for a part that is not used even when it is free."""
    today = bench.at({})
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    assert today.bought is not None
    compiled.suppose({})
    quote = compiled.prices.quote(part)
    assert quote is not None
    in_design = part in today.bought
    top = max(quote.cents * LOOK_UP, LEAST_LOOK_UP) if in_design else quote.cents

    def probe(price: int) -> Line:
        return line_of(bench, part, price) if price != quote.cents else base

    base = _line(bench, today, part, quote.cents)
    if in_design:
        pieces = envelope(probe, 0, top)
    else:
        # Switches that cost nothing can be strung together in a thousand ways: a price above that is quicker answered.
        first = (quote.cents // 4,) if part in bench.catalog.switches else ()
        end, rival = lower_end(probe, base, 0, quote.cents, first)
        if rival is None:
            return None
        # The rival's own piece ends at the price before; how far down it reaches is not asked.
        pieces = [Piece(end - 1, end - 1, rival), Piece(end, quote.cents, base)]
    own = next(p for p in pieces if p.first <= quote.cents <= p.last)
    # A tie belongs to the piece below; today's design is still among the best there.
    tie = own.first > 0 and own.line.worth(own.first - 1) == pieces[pieces.index(own) - 1].line.worth(own.first - 1)
    open_end = own.last >= top if in_design else True
    found = PriceRange(
        part=part,
        kind=kind_of(bench.catalog, part),
        in_design=in_design,
        price_usd=quote.cents / 100,
        price_how=quote.how,
        stays_from_usd=(own.first - tie) / 100,
        stays_to_usd=None if open_end else own.last / 100,
        looked_to_usd=top / 100,
        pieces=tuple(
            PricePiece(
                from_usd=p.first / 100,
                to_usd=None if p is pieces[-1] else pieces[i + 1].first / 100,
                quantity=p.line.quantity,
                design=_summary(today if p is own else p.line.design),
                change=() if p is own else changes(bench.catalog, today.parts or {}, p.line.design.parts),
            )
            for i, p in enumerate(pieces)
        ),
    )
    return found.model_dump(mode="json")


def _summary(answer: Answer) -> DesignSummary:
    found = answer.summary()
    assert found is not None
    return found


def changes(catalog: Catalog, before: Mapping[str, int], after: Mapping[str, int]) -> tuple[str, ...]:
    """What is taken out and put in, switches first, then modules, then cables and fibre: ``-2 x a``, ``+1 x b``."""
    moved = Counter(after)
    moved.subtract(before)
    order = ("switch", "nic", "module", "cable", "fibre", "panel")
    listed = sorted(
        ((p, n) for p, n in moved.items() if n), key=lambda x: (order.index(kind_of(catalog, x[0])), x[1] > 0, x[0])
    )
    return tuple(f"{n:+,d} x {part}" for part, n in listed)
