"""Figures as people write them."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.evidence import How

WEAK_MARK = "~"
"""Stands before every price that nobody has seen in print, so that an estimate never looks like an offer."""
FIRM = (How.READ.value, "quoted")
"""Ways in which a price is known that make it a price someone asked."""


def usd(amount: float) -> str:
    """``923,520.00``."""
    return f"{amount:,.2f}"


def price(amount_usd: float, how: str) -> str:
    """A unit price, marked where it is none that was read or quoted: ``~12,000.00``."""
    return usd(amount_usd) if how in FIRM else WEAK_MARK + usd(amount_usd)


def kw(watts: float) -> str:
    """``10.67 kW``."""
    return f"{watts / 1000:,.2f} kW"


def percent(share: float) -> str:
    """``61.2 %``; a share that is not quite nothing or everything never looks like it."""
    for digits in (1, 2, 4):
        text = f"{100 * share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 100.0):
            return f"{text} %"
    return "under 0.0001 %" if share < 0.5 else "over 99.9999 %"


def counted(number: int, singular: str, plural: str = "") -> str:
    """``1 switch``, ``12 switches``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)


def gbps(speed: float) -> str:
    """``400G``."""
    return f"{speed:g}G"
