"""Leaves of two kinds under the same spines."""

from __future__ import annotations

import pytest

from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.design import Design, Status
from gpunet.solver.optimize import optimize

CATALOG = load_catalog()


def solve(mixed: bool, engine: str = "highs", owned: int = 1) -> Design:
    """80 GPUs on 64-port leaves, with one 32-port switch in the house."""
    case = Case.model_validate(
        {
            "name": "mixed",
            "cluster": {"gpus": 80, "server": "hgx-h100-xe9680"},
            "fabrics": {
                "backend": {
                    "protocols": ["ethernet"],
                    "mixed_leaves": mixed,
                    "parts": {"allow": ["eth-z9664f", "eth-z9432f"]},
                }
            },
            "prices": {"overrides_usd": {"eth-z9664f": 30000, "eth-z9432f": 31000}},
            "owned": [{"part": "eth-z9432f", "quantity": owned}] if owned else [],
        }
    )
    return optimize(case, CATALOG, engine=engine)


def test_an_owned_smaller_leaf_stands_under_larger_spines() -> None:
    """Two bought 64-port leaves and the owned 32-port one beat every design with leaves of one model."""
    design, uniform = solve(mixed=True), solve(mixed=False)
    assert design.result.status is uniform.result.status is Status.OPTIMAL
    assert design.result.verify is not None
    assert design.result.verify.passed
    assert design.result.totals is not None
    assert uniform.result.totals is not None
    assert design.result.totals.cost_usd < uniform.result.totals.cost_usd
    leaves = [(t.switch, t.count) for t in design.result.fabrics["backend"].tiers if t.tier == "leaf"]
    assert leaves == [("eth-z9664f", 2), ("eth-z9432f", 1)]
    (line,) = [line for line in design.result.bom if line.part == "eth-z9432f"]
    assert (line.quantity, line.owned, line.extended_usd) == (1, 1, 0)


@pytest.mark.parametrize("engine", ["scip", "cp-sat"])
def test_engines_agree_on_mixed_leaves(engine: str) -> None:
    """The program carries two kinds of leaves to every engine alike."""
    one, other = solve(mixed=True), solve(mixed=True, engine=engine)
    assert one.result.totals == other.result.totals
    assert one.ledger == other.ledger


def test_more_choice_never_costs_more() -> None:
    """Allowing two kinds of leaves can only help."""
    free, plain = solve(mixed=True, owned=0), solve(mixed=False, owned=0)
    assert free.result.totals is not None
    assert plain.result.totals is not None
    assert free.result.totals.cost_usd <= plain.result.totals.cost_usd
