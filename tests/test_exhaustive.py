"""The solver against plain enumeration on random small cases: the same optimum, or no design on both sides."""

from __future__ import annotations

from functools import cache

import pytest
from exhaustive import least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog, sized_catalog, thick_catalog

from gpunet.models.case import Case, Objective
from gpunet.models.design import Status
from gpunet.models.parts import Catalog, Part
from gpunet.models.parts import Status as PartStatus
from gpunet.solver.candidates import compile_case
from gpunet.solver.demand import NoPortsError
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.optimize import optimize
from gpunet.solver.search import search

BATCH = 10
TAKES_LONG = {
    "plain-140",
    "terms-16",
    "terms-18",
    "terms-22",
    "terms-23",
    "terms-24",
    "terms-28",
    "terms-35",
    "terms-43",
    "terms-47",
    "terms-54",
}
TAKES_LONG |= {
    "vendors-8",
    "vendors-15",
    "racks-0",
    "racks-20",
    "racks-25",
    "racks-32",
    "trays-47",
    "trays-50",
    "trays-58",
}
"""Cases for which plain enumeration, or the proof where a price step is free, takes more than some seconds."""
CASES = {
    "plain": 160,
    "limits": 180,
    "fabrics": 140,
    "parts": 50,
    "terms": 60,
    "vendors": 20,
    "quotes": 80,
    "racks": 40,
    "trays": 60,
}


@cache
def catalog(family: str = "") -> Catalog:
    make = {"racks": sized_catalog, "trays": thick_catalog}
    return make.get(family, awkward_catalog)()


def found_by_solver(case: Case, parts: Catalog) -> tuple[int, ...] | None:
    """Objectives of the design in their order, cents or milliwatts; none when no design exists."""
    totals = optimize(case, parts).result.totals
    assert totals is not None
    worth = {
        Objective.COST: round(totals.cost_usd * 100),
        Objective.POWER: round(totals.power_max_w * 1000),
        Objective.TCO: round(totals.tco_usd * 100),
    }
    return tuple(worth[objective] for objective in case.objectives)


def is_infeasible(case: Case, parts: Catalog) -> bool:
    """Whether the solver finds nothing; the search for the reasons is left out."""
    try:
        return search(compile_case(case, parts)).outcome.status is Status.INFEASIBLE
    except (SiteTooSmallError, NoPortsError):
        return True


@pytest.mark.parametrize(
    ("family", "first"), [(family, first) for family, n in CASES.items() for first in range(0, n, BATCH)]
)
def test_the_solver_agrees_with_exhaustive_search(family: str, first: int) -> None:
    """Every random case has the same optimum, to the cent and milliwatt, or no design on either side."""
    parts = catalog(family)
    for seed in range(first, first + BATCH):
        case = random_case(seed, parts, family)
        if case.name in TAKES_LONG:
            continue
        expected = least(case, parts)
        if expected is None:
            assert is_infeasible(case, parts), f"{case.name}: the solver found a design, exhaustive search none"
        else:
            assert found_by_solver(case, parts) == expected, case.name


@pytest.mark.parametrize("family", CASES)
def test_the_random_cases_are_a_fair_mixture(family: str) -> None:
    """Of every family some cases have a design and some have none."""
    parts = catalog(family)
    cases = [case for seed in range(2 * BATCH) if (case := random_case(seed, parts, family)).name not in TAKES_LONG]
    outcomes = {least(case, parts) is None for case in cases}
    assert outcomes == {True, False}


@cache
def no_longer_sold(*owned: str) -> Catalog:
    """The catalogue after some parts have been discontinued."""
    named = {name for part in owned for name in (part, part.rpartition("-n")[0])}
    tables: dict[str, dict[str, Part]] = {
        name: {
            part.id: part.model_copy(update={"status": PartStatus.DISCONTINUED}) if part.id in named else part
            for part in getattr(catalog(), name).values()
        }
        for name in ("switches", "modules", "cables", "fibres")
    }
    return catalog().model_copy(update=tables)


@pytest.mark.parametrize("family", ["parts", "terms"])
def test_no_more_discontinued_parts_are_used_than_are_owned(family: str) -> None:
    """Random cases that own parts which nobody sells any more: the same optimum as exhaustive search, or none."""
    cases = [random_case(seed, catalog(), family) for seed in range(25)]
    cases = [case for case in cases if case.owned and case.name not in TAKES_LONG]
    outcomes = set()
    for case in cases:
        parts = no_longer_sold(*(owned.part for owned in case.owned))
        expected = least(case, parts)
        outcomes.add((expected is None, expected == least(case, catalog())))
        if expected is None:
            assert is_infeasible(case, parts), case.name
        else:
            assert found_by_solver(case, parts) == expected, case.name
    assert len(outcomes) > 1
