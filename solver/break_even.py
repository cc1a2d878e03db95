"""When a dearer fabric pays for itself: the arithmetic of docs/compare.md.

A step on the dearer fabric takes 1, of which the share s waits for collectives. With efficiency e relative to the
dearer fabric the same collectives take s/e, so a step on the cheaper one takes 1 + s (1/e - 1).
"""

from __future__ import annotations

from collections.abc import Iterable

from gpunet.models.study_compare import Payback
from gpunet.solver.prices import HOURS_PER_YEAR


def slowdown(communication_share: float, relative_efficiency: float) -> float:
    """How much longer a step takes: s (1/e - 1)."""
    return communication_share * (1 / relative_efficiency - 1)


def gpu_hours(gpus: int, years: float) -> float:
    """Hours of all GPUs over some years."""
    return gpus * years * HOURS_PER_YEAR


def least_efficiency(
    more_usd: float, gpus: int, gpu_hour_usd: float, communication_share: float, years: float
) -> float:
    """Relative efficiency at which lost time is worth as much as the price between the fabrics."""
    at_stake_usd = gpu_hour_usd * communication_share * gpu_hours(gpus, years)
    return at_stake_usd / (at_stake_usd + more_usd)


def payback(
    scenario: str,
    relative_efficiency: float,
    more_usd: float,
    gpus: int,
    gpu_hour_usd: float,
    communication_share: float,
    years: float,
) -> Payback:
    """What is lost on the cheaper fabric, and the value, share and horizon at which the loss equals ``more_usd``."""
    slower = slowdown(communication_share, relative_efficiency)
    hours = gpu_hours(gpus, years)
    lost = gpu_hour_usd * hours * slower
    share = communication_share * more_usd / lost if slower > 0 else None
    return Payback(
        scenario=scenario,
        relative_efficiency=relative_efficiency,
        slowdown=slower,
        lost_usd=round(lost, 2),
        pays=lost > more_usd,
        break_even_gpu_hour_usd=more_usd / (hours * slower) if slower > 0 else None,
        break_even_communication=share if share is not None and share <= 1 else None,
        break_even_years=years * more_usd / lost if slower > 0 else None,
    )


def pairs(dearer: Iterable[tuple[str, float]], cheaper: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """(scenario, relative efficiency) for every efficiency of one fabric with every one of the other."""
    of_dearer = list(dearer)
    return [
        (name if len(of_dearer) == 1 else f"{name}; dearer {other}", value / most)
        for name, value in cheaper
        for other, most in of_dearer
    ]
