"""Striping that counts ports only: every template can be wired, and none is passed over by its bounds."""

from __future__ import annotations

from functools import cache

import pytest
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data
from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Design, Result, Status
from gpunet.solver.apart import solve_apart
from gpunet.solver.build import Builder
from gpunet.solver.candidates import Compiled, compile_case, instance, within
from gpunet.solver.optimize import optimize
from gpunet.solver.scope import Cutoff
from gpunet.solver.template import Template
from gpunet.solver.templates import enumerate_templates
from gpunet.solver.verify import verify
from gpunet.solver.verify_book import Book
from gpunet.solver.verify_growth import check_oversubscription
from gpunet.solver.verify_links import Wiring, check_mating, check_seats
from gpunet.solver.verify_network import check_connected, check_hops, networks
from gpunet.solver.verify_pieces import check_pieces
from gpunet.solver.verify_ports import check_ledger, check_logical_ports, check_ports

CATALOG = tiny_catalog()
NOTHING = Result(
    case="", status=Status.OPTIMAL, gap=0, objective=None, totals=None,
    catalog_version="", gpunet_version="", engine="",
)  # fmt: skip


@cache
def compiled(servers: int, growth: float) -> Compiled:
    backend = {"striping": "ports", "oversubscription": 2, "max_tiers": 3, "protocols": ["ethernet"]}
    cluster = {"servers": servers, "server": "server-2", "growth": growth}
    return compile_case(
        case_from_data({"name": "p", "cluster": cluster, "fabrics": {"backend": backend}}, CATALOG), CATALOG
    )


@cache
def every_template(servers: int, growth: float) -> list[Template]:
    (scope,) = compiled(servers, growth).scopes[FabricName.BACKEND]
    return list(enumerate_templates(scope, Cutoff()))


@pytest.mark.parametrize(("servers", "growth"), [(9, 0.25), (16, 0.0)])
def test_every_template_can_be_wired(servers: int, growth: float) -> None:
    """Of two and three tiers: no cage, port or module is used that is not there, and all are connected."""
    this = compiled(servers, growth)
    templates = every_template(servers, growth)
    assert sum(t.tiers == 3 for t in templates) > 50
    for template in templates[::6]:
        data = instance(this, {FabricName.BACKEND: [template]})
        outcome = solve_apart(data)
        assert outcome is not None
        assert outcome.choice is not None
        book = Book(Design(this.case, NOTHING, Builder(this, data, outcome.choice).build()), CATALOG)
        wiring, nets = Wiring(book), networks(book)
        assert len(book.ledger.links) == template.facts.links
        for check in (
            check_ledger(book),
            *(f(wiring) for f in (check_ports, check_logical_ports, check_seats, check_pieces, check_mating)),
            *(f(nets) for f in (check_oversubscription, check_connected, check_hops)),
        ):
            assert check.passed, f"{check.name}: {check.detail}"


@pytest.mark.parametrize("objective", [Objective.COST, Objective.POWER])
def test_bounds_pass_over_no_template(objective: Objective) -> None:
    """Within a cutoff are just those templates of all that weigh no more."""
    (scope,) = compiled(9, 0.25).scopes[FabricName.BACKEND]
    weights = {t.rank(): t.facts.least[objective] for t in every_template(9, 0.25)}
    for most in sorted(set(weights.values()))[::12]:
        cutoff = Cutoff()
        cutoff.most[objective] = most
        assert {t.rank() for t in within(scope, cutoff, objective)} == {r for r, w in weights.items() if w <= most}


def test_three_tiers_by_ports_are_a_whole_design() -> None:
    """Where leaves are too many for the spines of two tiers, cores are wired round-robin, and all is verified."""
    backend = {"striping": "ports", "oversubscription": 1.5, "parts": {"allow": ["eth-tiny-8"]}}
    data = {"name": "p", "cluster": {"servers": 18, "server": "server-2"}, "fabrics": {"backend": backend}}
    design = optimize(case_from_data(data, CATALOG), CATALOG)
    assert design.result.status is Status.OPTIMAL
    assert [tier.tier for tier in design.result.fabrics["backend"].tiers] == ["leaf", "spine", "core"]
    assert verify(design, CATALOG).passed
