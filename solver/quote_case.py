"""Whether a quoted list builds a design of a case, and the cheapest parts that it lacks.

The list is taken as stock in the house, which costs nothing, and the design that needs the least bought beside it is
looked for, exactly. If nothing has to be bought, the list builds a design.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpunet.models.case import Case, Objective, Owned
from gpunet.models.design import Status
from gpunet.models.parts import Catalog
from gpunet.models.quote import CaseFit, Missing, QuoteFile
from gpunet.solver.optimize import optimize

BUILDS, INCOMPLETE, INFEASIBLE = "builds", "incomplete", "infeasible"
_LEAST_USD = 0.01
"""A part that costs nothing to buy would not be missed."""


def fit_case(
    quote: QuoteFile, case: Case, catalog: Catalog, have: Mapping[str, int] | None = None, engine: str = "highs"
) -> CaseFit:
    """Compare a list with a case. Servers come with the case; of ``have`` the other parts count."""
    listed = {line.part: line.quantity for line in quote.lines if line.quantity is not None}
    listed = {part: n for part, n in listed.items() if part not in catalog.servers}
    stock = dict(listed)
    beside = {part: n for part, n in (have or {}).items() if part.split(":")[0] not in catalog.servers}
    for part, n in [*beside.items(), *((owned.part, owned.quantity) for owned in case.owned)]:
        stock[part] = stock.get(part, 0) + n
    design = optimize(_asked(case, quote, stock), catalog, engine=engine)
    notes = ["limits.cost_usd is set aside: it is asked what can be built."] if case.limits.cost_usd is not None else []
    result = design.result
    if result.totals is None:
        status = INFEASIBLE if result.status is Status.INFEASIBLE else result.status.value
        return CaseFit(case=case.name, status=status, notes=(*notes, *result.reasons))
    bought = {line.part: (line.bought, line.unit_price_usd) for line in result.bom if line.bought > 0}
    from_stock = {line.part: line.owned for line in result.bom if line.owned > 0}
    used = {part: min(n, from_stock.get(part, 0)) for part, n in listed.items()}
    if result.status is not Status.OPTIMAL:
        notes.append("The search was stopped; a shorter list may do.")
    return CaseFit(
        case=case.name,
        status=INCOMPLETE if bought else BUILDS,
        missing=tuple(Missing(part=part, quantity=n, unit_usd=usd) for part, (n, usd) in bought.items()),
        missing_usd=round(sum(n * usd for n, usd in bought.values()), 2),
        used={part: n for part, n in used.items() if n},
        surplus={part: n - used[part] for part, n in listed.items() if n > used[part]},
        switches={
            f"{fabric} {tier.tier} {tier.switch}": tier.count
            for fabric, found in result.fabrics.items()
            for tier in found.tiers
        },
        notes=tuple(notes),
    )


def _asked(case: Case, quote: QuoteFile, stock: Mapping[str, int]) -> Case:
    """The case with the list as stock, and cost as the only aim: what must be bought beside the list."""
    prices = {part: max(usd, _LEAST_USD) for part, usd in case.prices.overrides_usd.items()}
    prices |= {line.part: max(line.unit_usd, _LEAST_USD) for line in quote.lines}
    return case.model_copy(
        update={
            "owned": tuple(Owned(part=part, quantity=n) for part, n in sorted(stock.items())),
            "objective": Objective.COST,
            "limits": case.limits.model_copy(update={"cost_usd": None}),
            "prices": case.prices.model_copy(update={"overrides_usd": prices}),
            "terms": None,
        }
    )
