"""The choice made without a solver is the one that the program makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog

from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.models.case import FIXED_PLACEMENTS, Case
from gpunet.models.parts import Catalog
from gpunet.solver.apart import solve_apart
from gpunet.solver.candidates import Finder, compile_case, instance
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine, Outcome, solve
from gpunet.solver.instance import Instance
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.placements import is_open, placed
from gpunet.solver.scope import Cutoff
from gpunet.solver.search import search

CASES = sorted(Path("cases").glob("*.yaml"))
CATALOG = awkward_catalog()


def both(case: Case, catalog: Catalog) -> int:
    """Solve every instance of a search both ways; returns how many could be solved apart."""
    solved = 0

    def compare(data: Instance, engine: Engine, limit_s: float | None) -> Outcome:
        nonlocal solved
        with_engine, apart = solve(data, engine, limit_s), solve_apart(data)
        if apart is not None:
            solved += 1
            assert apart.status is with_engine.status
            assert apart.value == with_engine.value
            if apart.choice is not None and with_engine.choice is not None:
                assert apart.choice.templates == with_engine.choice.templates
                assert apart.choice.built == with_engine.choice.built
        return with_engine

    try:
        search(compile_case(case, catalog), solver=compare)
    except (SiteTooSmallError, NoPortsError):
        return 0
    return solved


@pytest.mark.parametrize("family", ["plain", "fabrics"])
def test_random_cases_come_out_alike(family: str) -> None:
    """The same templates, built the same way, on random cases."""
    assert sum(both(random_case(seed, CATALOG, family), CATALOG) for seed in range(200, 260)) > 20


@pytest.mark.parametrize(
    "path", [p for p in CASES if "16su" not in p.name and "64su" not in p.name], ids=lambda p: p.stem
)
def test_shipped_cases_come_out_alike(path: Path) -> None:
    """The same on the shipped cases, four fabrics and management ports included."""
    catalog = load_catalog()
    case = read_case(path, catalog)
    for room in [placed(case, p) for p in FIXED_PLACEMENTS] if is_open(case) else [case]:
        both(room, catalog)


def test_a_choice_among_many_templates_comes_out_alike() -> None:
    """With every template of a small case held, ranks break ties as the program does."""
    for seed in range(6):
        case = random_case(seed, CATALOG, "plain")
        try:
            compiled = compile_case(case, CATALOG)
        except (SiteTooSmallError, NoPortsError):
            continue
        held = {f: Finder().within(scopes, Cutoff(), case.objectives[0])[:30] for f, scopes in compiled.scopes.items()}
        if not all(held.values()):
            continue
        data = instance(compiled, held)
        apart, with_engine = solve_apart(data), solve(data, Engine.HIGHS)
        assert apart is not None
        assert apart.choice is not None
        assert with_engine.choice is not None
        assert apart.value == with_engine.value
        assert apart.choice.templates == with_engine.choice.templates


def test_what_couples_the_fabrics_is_left_to_an_engine() -> None:
    """With a ceiling or owned stock the short way is not taken."""
    case = Case.model_validate(
        {"cluster": {"servers": 2, "server": "server-2"}, "fabrics": {"backend": {"max_tiers": 1}}}
    )
    for update in (
        {"limits": {"cost_usd": 1e9}},
        {"owned": [{"part": "eth-tiny-16", "quantity": 1}]},
        {"limits": {"skus": 50}},
    ):
        more = Case.model_validate(case.model_dump(mode="json", exclude_none=True) | update)
        compiled = compile_case(more, CATALOG)
        held = {f: Finder().within(scopes, Cutoff(), more.objectives[0]) for f, scopes in compiled.scopes.items()}
        assert solve_apart(instance(compiled, held)) is None
