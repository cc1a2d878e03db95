"""Ties: every other way to build one fabric that is exactly as good is counted, and nothing else is."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog

import gpunet
from gpunet.models.case import Case, FabricName
from gpunet.models.design import Status
from gpunet.solver.candidates import Compiled, Finder, compile_case, instance
from gpunet.solver.demand import NoPortsError
from gpunet.solver.engines import Engine, solve
from gpunet.solver.held import groups
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.scope import Cutoff
from gpunet.solver.search import search
from gpunet.solver.ties import ties_of

CATALOG = awkward_catalog()
CASES = Path(__file__).parent.parent / "cases"
SEEDS = [
    *(("plain", seed) for seed in (0, 4, 6, 10, 14, 16, 24)),
    *(("limits", seed) for seed in (0, 6, 8, 12)),
    *(("fabrics", seed) for seed in (0, 1, 3, 5, 8, 11)),
    *(("parts", seed) for seed in range(8)),
]


def worth(data: Instance, choice: Choice) -> tuple[int, ...]:
    """Every objective of the case."""
    net = choice.net(data)
    return tuple(net.of(o) for o in data.case.objectives)


def solved(case: Case) -> tuple[Compiled, Instance, Choice] | None:
    """The compiled case with its proven optimum; none without a design."""
    try:
        compiled = compile_case(case, CATALOG)
    except (SiteTooSmallError, NoPortsError):
        return None
    found = search(compiled)
    if found.data is None or found.outcome.choice is None:
        return None
    assert found.outcome.status is Status.OPTIMAL
    return compiled, found.data, found.outcome.choice


@pytest.mark.parametrize(("family", "seed"), SEEDS)
def test_every_tie_is_counted(family: str, seed: int) -> None:
    """Each template that there is, put in place of one fabric's and solved with the rest: as many are as good."""
    case = random_case(seed, CATALOG, family)
    found = solved(case)
    if found is None:
        return
    compiled, data, choice = found
    ties = ties_of(compiled, data, choice, Engine.HIGHS)
    assert set(ties) == set(choice.templates)
    first = case.objectives[0]
    for fabric, own in choice.templates.items():
        scopes = [scope for (name, _), some in groups(compiled).items() if name is fabric for scope in some]
        as_good = 0
        for t in Finder().within(scopes, Cutoff(), first):
            # One that weighs more than the whole optimum by itself need not be solved for.
            if t.rank() == own.rank() or t.facts.least[first] > worth(data, choice)[0]:
                continue
            held = {f: [x] for f, x in choice.templates.items()} | {fabric: [t]}
            some = instance(compiled, {FabricName.STORAGE: [], **held} if data.storage_optional else held)
            outcome = solve(some, Engine.HIGHS)
            as_good += outcome.choice is not None and worth(some, outcome.choice) == worth(data, choice)
        assert ties[fabric].templates == as_good, fabric


@pytest.mark.parametrize(("family", "seed"), SEEDS[::2])
def test_links_that_other_parts_would_build(family: str, seed: int) -> None:
    """A class counts when the program, forbidden the way it has taken, finds another for the same."""
    case = random_case(seed, CATALOG, family)
    found = solved(case)
    if found is None or case.owned:
        return
    compiled, data, choice = found
    ties = ties_of(compiled, data, choice, Engine.HIGHS)
    for fabric in choice.templates:
        as_good = 0
        for key, counts in choice.built.items():
            left = tuple(way for way, n in zip(data.ways[key], counts, strict=True) if not n)
            if key.fabric is not fabric or not sum(counts) or not left:
                continue
            held = {f: [t] for f, t in choice.templates.items()}
            if data.storage_optional:
                held.setdefault(FabricName.STORAGE, [])
            some = dataclasses.replace(data, templates=held, ways={**data.ways, key: left})
            outcome = solve(some, Engine.HIGHS)
            as_good += outcome.choice is not None and worth(some, outcome.choice) == worth(data, choice)
        assert ties[fabric].links == as_good


@pytest.mark.parametrize(("family", "seed"), [("plain", 0), ("limits", 12), ("fabrics", 3)])
def test_no_two_templates_have_one_rank(family: str, seed: int) -> None:
    """The search tells templates apart by rank, so each has its own; leaves and spines that change places too."""
    compiled = compile_case(random_case(seed, CATALOG, family), CATALOG)
    for scopes in groups(compiled).values():
        ranks = [t.rank() for t in Finder().within(scopes, Cutoff(), compiled.case.objectives[0])]
        assert len(set(ranks)) == len(ranks)


def test_a_second_objective_breaks_ties() -> None:
    """Frontend switches at one price tie on cost; once watts decide among them, only the coolest is left."""
    by_cost = gpunet.optimize(CASES / "guide-256.yaml").result.fabrics
    by_both = gpunet.optimize(CASES / "guide-256.yaml", objective="cost,power").result.fabrics
    assert by_cost["frontend"].ties == 4
    assert by_both["frontend"].ties < by_cost["frontend"].ties


def test_ties_are_the_structures_that_alternatives_finds() -> None:
    """What optimize counts and what alternatives lists without slack agree where each tie is of another structure."""
    counted = gpunet.optimize(CASES / "guide-256.yaml").result.fabrics
    listed = gpunet.alternatives(CASES / "guide-256.yaml", within=0.0, fabrics=["oob"]).fabrics
    assert counted["oob"].ties == listed["oob"].ties == 3


def test_a_design_that_is_not_proven_claims_no_ties() -> None:
    """Ties are about the optimum; a run that was stopped early has none."""
    design = gpunet.optimize(CASES / "superpod-b200-64su.yaml", time_limit_s=0.01)
    assert design.result.status is not Status.OPTIMAL
    assert all(fabric.ties == fabric.link_ties == 0 for fabric in design.result.fabrics.values())
