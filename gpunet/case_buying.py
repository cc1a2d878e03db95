"""What makes no sense between ``buying``, the quotes and the rest of a case."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpunet.catalogs import split_medium_id
from gpunet.catalogs.located_yaml import Located
from gpunet.models.case import Case
from gpunet.models.problems import Problem
from gpunet.models.quote import QuoteFile

MOST_SETS = 2_000
"""Sets of suppliers that are tried at most where ``buying.max_suppliers`` limits them."""


def buying_problems(case: Case, located: Located) -> Iterator[Problem]:
    """Mistakes of a case whose quotes have been read; a quote that could not be read is passed over."""
    buying = case.buying
    if buying is None:
        return
    if not case.quotes:
        yield located.problem(("buying",), found="no quotes", expected="quotes to buy from; or leave buying out")
        return
    quotes = {i: quote for i, quote in enumerate(case.quotes) if isinstance(quote, QuoteFile)}
    first: dict[str, int] = {}
    for i, quote in quotes.items():
        if first.setdefault(quote.title, i) != i:
            message = (
                f"quotes[{first[quote.title]}] is a quote of {quote.title} too; with buying the bill must tell them "
                "apart, so give each a reference of its own"
            )
            yield located.problem(("quotes", i), message=message)
    suppliers = len({quote.supplier for quote in quotes.values()})
    most = buying.max_suppliers
    if most is not None and most < suppliers and math.comb(suppliers, most) > MOST_SETS:
        yield located.problem(
            ("buying", "max_suppliers"),
            found=f"{most} of {suppliers} suppliers",
            expected=f"no more than {MOST_SETS:,} ways to choose them; leave out quotes that are out of the question",
        )
    offered = {line.part for quote in quotes.values() for line in quote.lines}
    stated = case.prices.overrides_usd
    for i, price_break in enumerate(case.terms.price_breaks if case.terms else ()):
        for part in sorted(offered):
            names = {part, split_medium_id(part)[0]}
            if price_break.part in names and not names & set(stated):
                yield located.problem(
                    ("terms", "price_breaks", i, "part"),
                    found=f"{part}, which is quoted",
                    expected="a part that no quote offers, for with buying the steps are those of the quotes",
                )
                break
