"""Which part sets the date, in a sentence."""

from __future__ import annotations

from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.report.words import FIRM, WEAK_MARK, counted, listed
from gpunet.solver.delivery import delivery_of

_SHOWN = 3
"""Parts that are named; of more the rest is counted."""
_HOW = {"quoted": "as quoted", "supply": "the week of the supply that the order reaches into"}


def delivery_words(design: Design, catalog: Catalog | None = None) -> str:
    """When everything is there and what sets that date; empty where no delivery time is known.

    Without a catalogue, only what the result says itself.
    """
    result = design.result
    found = result.delivery
    if found is None and catalog is not None:
        found = delivery_of(design.case, catalog, result.bom)
    if found is None:
        return ""
    firm = found.how in (*FIRM, "supply")
    weeks = counted(1, "week") if found.weeks == 1 else f"{found.weeks:g} weeks"
    known = _HOW.get(found.how, found.how)
    text = f"The date is set by {_named(found.parts)}: {'' if firm else WEAK_MARK}{weeks} after the order ({known})."
    if found.unknown:
        text += f" No delivery time is known of {_named(found.unknown)}."
    return text


def _named(parts: tuple[str, ...]) -> str:
    more = len(parts) - _SHOWN
    return listed([*parts[:_SHOWN], *([counted(more, "other part")] if more > 0 else [])])
