"""The search leaves templates out. These tests hold it to the answer over all of them, where that is hardest.

What one fabric chooses is felt by another through the management ports: a dearer backend with fewer switches may
save a management leaf. The cases are built so that it does.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver import search as searching
from gpunet.solver.candidates import Compiled, compile_case, instance, oob_scopes, span_of, within
from gpunet.solver.engines import Engine, Outcome, solve
from gpunet.solver.scope import Cutoff, plus
from gpunet.solver.search import search
from gpunet.solver.templates import enumerate_templates

SMALL, LARGE, MANAGEMENT = "eth-n9600-64od", "eth-nokia-h6-128", "oob-7010tx-48"


def compiled_case(servers: int, oob: dict[str, Any], leaf_usd: float) -> Compiled:
    """Two backend switches: six of one model are cheaper than one of the other. Management leaves are dear."""
    catalog = load_catalog()
    data = {
        "cluster": {"servers": servers, "server": "dgx-h100"},
        "fabrics": {"backend": {"protocols": ["ethernet"], "max_tiers": 2}, "oob": oob},
        "parts": {"allow": [SMALL, LARGE, "eth-7050cx3-32s", MANAGEMENT]},
        "prices": {"overrides_usd": {MANAGEMENT: leaf_usd, LARGE: 600_000}},
    }
    return compile_case(case_from_data(data, catalog), catalog)


def over_everything(compiled: Compiled) -> Outcome:
    """The optimum over every template, none left out."""
    first = compiled.case.objectives[0]
    held = {
        fabric: [t for scope in scopes for t in enumerate_templates(scope, Cutoff(), first)]
        for fabric, scopes in compiled.scopes.items()
        if fabric is not FabricName.OOB
    }
    oob = [t for scope in oob_scopes(compiled, span_of(compiled, held)) for t in within(scope, Cutoff(), first)]
    return solve(instance(compiled, {**held, FabricName.OOB: oob}), Engine.HIGHS)


def backend_switches(outcome: Outcome) -> dict[str, int]:
    assert outcome.choice is not None
    return outcome.choice.templates[FabricName.BACKEND].switches


# 28 servers and 63 PDUs leave 5 ports of two management leaves: enough for the large switch alone.
CROWDED = {"servers": 28, "oob": {"pdus_per_rack": 9}, "leaf_usd": 400_000}


def test_a_dearer_backend_that_saves_a_management_leaf_is_found() -> None:
    """The least that management weighs is not what the cheapest backend makes of it."""
    compiled = compiled_case(**CROWDED)
    found = search(compiled).outcome
    assert backend_switches(found) == {LARGE: 1}
    assert (found.status, found.value) == (Status.OPTIMAL, over_everything(compiled).value)


def test_a_dearer_backend_that_alone_leaves_management_possible_is_found() -> None:
    """One management leaf allowed: the cheapest backend has too many switches for it, which is no reason to give up."""
    compiled = compiled_case(servers=30, oob={"max_tiers": 1}, leaf_usd=4_500)
    found = search(compiled).outcome
    assert backend_switches(found) == {LARGE: 1}
    assert (found.status, found.value) == (Status.OPTIMAL, over_everything(compiled).value)


def test_more_management_leaves_than_needed_can_be_asked_for() -> None:
    """``min_leaves`` is a floor, not a reason to find nothing."""
    found = search(compiled_case(servers=8, oob={"min_leaves": 3}, leaf_usd=4_500)).outcome
    assert found.status is Status.OPTIMAL
    assert found.choice is not None
    assert found.choice.templates[FabricName.OOB].n_leaves == 3


@pytest.mark.parametrize("interrupted", [1, 2])
def test_a_bound_that_is_not_proven_is_not_told(monkeypatch: pytest.MonkeyPatch, interrupted: int) -> None:
    """The time limit strikes while few templates are held: the engine's bound speaks for those alone, not for all."""
    compiled = compiled_case(**CROWDED)
    best = search(compiled).outcome.value
    calls = 0

    def stopped(*args: Any) -> Outcome:
        nonlocal calls
        calls += 1
        outcome = solve(*args)
        return dataclasses.replace(outcome, status=Status.FEASIBLE) if calls == interrupted else outcome

    monkeypatch.setattr(searching, "solve", stopped)
    found = search(compiled).outcome
    assert calls == interrupted
    assert found.status is Status.FEASIBLE
    assert best is not None
    assert found.value is not None
    assert found.bound is not None
    assert found.bound <= best <= found.value
    assert found.gap is not None
    assert found.gap > 0


@given(st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 144)), min_size=1, max_size=8))
@settings(derandomize=True, deadline=None)
def test_a_bound_made_of_shares_never_cuts_off_what_it_bounds(shared: list[tuple[int, int]]) -> None:
    """Trunks and panels count by the link, in thirds and twelfths: summed up, they are whole cents and within it."""
    bound = (0.0, 0.0, 0.0)
    for cents, links in shared:
        for _ in range(links):
            bound = plus(bound, (cents / links, cents / links, cents / links), 1)
    total = sum(cents for cents, _ in shared)
    assert Cutoff(dict.fromkeys(Objective, total)).passes(bound)
    assert not Cutoff(dict.fromkeys(Objective, total - 1)).passes(bound)
