"""Whether a quoted list builds a design of a case, and the cheapest parts that it lacks.

The list is taken as stock in the house, which costs nothing, and the design that needs the least bought beside it is
looked for, exactly. If nothing has to be bought, the list builds a design.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping

from gpunet.models.case import Case, Objective, Owned, StorageMode
from gpunet.models.design import Status
from gpunet.models.parts import Catalog, ServerRole
from gpunet.models.quote import CaseFit, Missing, QuoteCheck, QuoteFile
from gpunet.solver.demand import NoPortsError, cages_of, default_storage_nic
from gpunet.solver.optimize import optimize
from gpunet.solver.quote_check import check_quote
from gpunet.solver.quote_devices import ANY

BUILDS, INCOMPLETE, INFEASIBLE = "builds", "incomplete", "infeasible"
_LEAST_USD = 0.01
"""A part that costs nothing to buy would not be missed."""


def check_with_case(
    quote: QuoteFile, case: Case, catalog: Catalog, have: Mapping[str, int] | None = None, engine: str = "highs"
) -> QuoteCheck:
    """Check a list by itself, with the servers of a case there unless ``have`` names servers, and against the case."""
    beside = dict(have or {})
    if not any(part.split(":")[0] in catalog.servers for part in beside):
        with contextlib.suppress(NoPortsError):
            beside |= hosts_of(case, catalog)
    fit = fit_case(quote, case, catalog, have, engine)
    return check_quote(quote, catalog, beside).model_copy(update={"fit": fit})


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


def hosts_of(case: Case, catalog: Catalog) -> dict[str, int]:
    """The servers of a case and the cards of its storage servers, as pieces whose cages may be linked and need not.

    Raises NoPortsError where no card has the speed that the case asks of a storage server.
    """
    server = catalog.servers[case.cluster.server]
    count = case.cluster.servers or math.ceil((case.cluster.gpus or 0) / int(server.gpus.v))
    found = {f"{server.id}:{ANY}": count}
    for fabric, card in case.cluster.nics.items():
        roles = [role for role in ServerRole if role.value == fabric.value]
        cages = sum(c.cages.count for role in roles for c in cages_of(case, catalog, role))
        found[f"{card}:{ANY}"] = count * cages
    storage = case.fabrics.storage
    if storage is not None and storage.mode is not StorageMode.NONE:
        n_storage = math.ceil(count / 8) if storage.storage_servers is None else storage.storage_servers
        for protocol in storage.protocols if n_storage else ():
            card = storage.storage_server_nic or default_storage_nic(catalog, storage.storage_server_gbps, protocol)
            found[f"{card}:{ANY}"] = found.get(f"{card}:{ANY}", 0) + n_storage
    return found


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
            "buying": None,
        }
    )
