"""Alternatives: no structure within the slack is missing, each is at its best, and what is needed is needed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from exhaustive import NOTHING, Sums, _Exhaustive, _FabricFront, least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from exhaustive_designs import designs
from exhaustive_room import Room
from sample_design import hand_catalog
from typer.testing import CliRunner

import gpunet
from gpunet import cli
from gpunet.models.case import Case, FabricName, Limits, Objective
from gpunet.models.design import Status
from gpunet.models.interconnect import Interconnect
from gpunet.models.parts import Catalog
from gpunet.models.study_alternatives import Alternatives, Structure
from gpunet.solver import near_optimal, structures
from gpunet.solver.alternatives import alternatives
from gpunet.solver.candidates import Finder, compile_case, instance
from gpunet.solver.engines import Engine, solve
from gpunet.solver.held import groups
from gpunet.solver.instance import Instance, Key
from gpunet.solver.near_optimal import best_of_structures, is_coupled
from gpunet.solver.scope import Cutoff
from gpunet.solver.search import all_within
from gpunet.solver.structures import shape_of
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
CLASSES = {"endpoint": "endpoint-leaf", "leaf-spine": "leaf-spine", "spine-core": "spine-core"}

Kind = tuple[str, tuple[str, ...], tuple[tuple[str, tuple[float, ...]], ...]]
"""Protocol, switch model of each tier, speeds of each link class."""
Optics = tuple[tuple[str, tuple[str, ...]], ...]


def families(ic: Interconnect) -> frozenset[str]:
    """Reach tiers of both modules, copper or AOC."""
    if ic.is_cable:
        return frozenset({"AOC" if CATALOG.cables[ic.medium_base].kind.value == "AOC" else "copper"})
    interfaces = (CATALOG.modules[part].interface for part in (ic.a_part, ic.b_part) if part)
    return frozenset(CATALOG.interfaces[name].tier if name else "copper" for name in interfaces)


def subsets(names: frozenset[str]) -> Iterator[frozenset[str]]:
    for size in range(1, len(names) + 1):
        yield from map(frozenset, itertools.combinations(sorted(names), size))


def by_enumeration(case: Case, most: Fraction) -> dict[Kind, dict[Optics, int]]:
    """The least first objective for every kind of backend and every choice of families, over all designs there are.

    Designs whose switches alone weigh more than ``most`` are passed over.
    """
    whole = _Exhaustive(case, CATALOG)
    whole.room = Room(case, CATALOG)
    rank = whole.ranks[0]
    found: dict[Kind, dict[Optics, int]] = {}
    for fabrics, adapters in whole._alternatives():
        fixed = whole._adapter_sums(adapters)
        for fabric in fabrics[0]:
            priced = _FabricFront(whole, fabric)
            for design in designs(fabric, lambda counts: _switches(whole, counts)[rank] > most):
                blocks = design.blocks()
                ways = {block: priced.built(block) for block in blocks}
                if not all(ways.values()) or priced._is_slow(design, blocks):
                    continue
                start = fixed.plus(_switches(whole, design.switches))[rank]
                speeds: dict[str, set[float]] = {}
                for block in blocks:
                    speeds.setdefault(CLASSES[block.tier], set()).add(block.b.speed)
                kind = (
                    fabric.protocol.value,
                    tuple(part for part, _ in design.switches),
                    tuple(sorted((name, tuple(sorted(found))) for name, found in speeds.items())),
                )
                options = []
                for tier, name in CLASSES.items():
                    own = [(ways[block], count) for block, count in blocks.items() if block.tier == tier]
                    if not own:
                        continue
                    known = frozenset().union(*(families(ic) for found, _ in own for ic, _ in found))
                    costs = []
                    for some in subsets(known):
                        each = [
                            (min((w.sums[rank] for ic, w in found if families(ic) <= some), default=None), count)
                            for found, count in own
                        ]
                        if all(worth is not None for worth, _ in each):
                            costs.append(((name, tuple(sorted(some))), sum((w or 0) * n for w, n in each)))
                    options.append(costs)
                best = found.setdefault(kind, {})
                for picked in itertools.product(*options):
                    optics = tuple(sorted(name for name, _ in picked))
                    value = start + sum(worth for _, worth in picked)
                    best[optics] = min(value, best.get(optics, value))
    return found


def _switches(whole: _Exhaustive, counts: tuple[tuple[str, int], ...]) -> Sums:
    total = NOTHING
    for part, n in counts:
        total = total.plus(whole.switch_sums(part), n)
    return total


def expected(case: Case, within: float) -> dict[tuple[Kind, Optics], int]:
    """Kinds and optics that count, within the slack: leaving out any family would cost more."""
    found = least(case, CATALOG)
    assert found is not None
    most = found[0] * (1 + Fraction(str(within)))
    every = by_enumeration(case, most)
    return {
        (kind, optics): value
        for kind, by_optics in every.items()
        for optics, value in by_optics.items()
        if value <= most and not any(_less(other, optics) and by_optics[other] <= value for other in by_optics)
    }


def _less(some: Optics, other: Optics) -> bool:
    """Whether some are part of the others, and not the same."""
    every = dict(other)
    return some != other and all(set(names) <= set(every[name]) for name, names in some)


def kind_of(structure: Structure) -> tuple[Kind, Optics]:
    tiers = (*structure.leaves, *filter(None, [structure.spine, structure.core]))
    speeds = tuple(sorted(structure.speeds_gbps.items()))
    return (structure.protocol, tiers, speeds), tuple(sorted(structure.optics.items()))


@pytest.mark.parametrize("seed", [2, 4, 6, 12, 14, 32, 36, 44, 76, 86, 90, 94, 96])
def test_nothing_within_the_slack_is_missing(seed: int) -> None:
    """Plain enumeration of every design finds the same structures, each worth the same, and no other."""
    case = random_case(seed, CATALOG, "plain")
    study = alternatives(case, CATALOG, within=0.2)
    if least(case, CATALOG) is None:
        assert study.status is Status.INFEASIBLE
        assert study.fabrics == {}
        return
    unit = 1000 if case.objectives[0] is Objective.POWER else 100
    found: dict[tuple[Kind, Optics], int] = {}
    for x in study.fabrics[FabricName.BACKEND.value].alternatives:
        key, value = kind_of(x.structure), round(x.value * unit)
        # The enumeration does not tell topologies apart: the better one stands for both.
        found[key] = min(value, found.get(key, value))
    assert found == expected(case, 0.2)


# --- fabrics that share something -------------------------------------------------------------------------------------


def everything(case: Case, catalog: Catalog, within: float) -> tuple[Instance, int] | None:
    """All templates within the slack and its end; none without a design."""
    bench = Workbench(case, catalog)
    own = bench.at({})
    if not own.is_optimal:
        return None
    assert not isinstance(bench.compiled, str)
    most = int(own.value * (1 + Fraction(str(within))))
    return all_within(bench.compiled, most, bench.finder, thinned=False), most


MANAGED = {"cluster": {"servers": 4, "server": "server-2"}, "fabrics": {"backend": {}, "oob": {}}}
SHARED = [*(("fabrics", seed) for seed in (0, 3, 5, 8, 11, 14, 17, 20)), ("managed", 0)]


@pytest.mark.parametrize(("family", "seed"), SHARED)
def test_weighing_apart_is_what_the_program_finds(family: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several fabrics, storage on the backend or not, and management ports: the same structures at the same worth,
    whether each template is weighed by itself or an engine solves for each structure."""
    catalog = hand_catalog() if family == "managed" else CATALOG
    case = Case.model_validate(MANAGED) if family == "managed" else random_case(seed, CATALOG, family)
    case = case.model_copy(update={"limits": Limits()})
    found = everything(case, catalog, 0.1)
    if found is None:
        return
    data, most = found
    assert not is_coupled(data)
    monkeypatch.setattr(near_optimal, "solve_apart", lambda _: None)
    for fabric in data.templates:
        apart = counted(near_optimal._apart(data, fabric, most, None))
        assert apart == counted(near_optimal._coupled(data, fabric, most, Engine.HIGHS, None))
        # Storage on the backend's switches leaves none of its own.
        assert apart or fabric is FabricName.STORAGE


def counted(found: Iterable[near_optimal.Best]) -> dict[structures.Structure, tuple[int, ...]]:
    """Worth of every structure that counts."""
    best: dict[structures.Structure, tuple[int, ...]] = {}
    for x in found:
        best[x.structure] = min(x.worth, best.get(x.structure, x.worth))
    return {structure: best[structure] for structure in structures.counting(best)}


@pytest.mark.parametrize(
    ("family", "seed"), [("parts", s) for s in (0, 1, 2, 4, 6, 7, 9, 12)] + [("limits", 5), ("limits", 9)]
)
def test_stock_and_limits_are_minded(family: str, seed: int) -> None:
    """Where owned parts, ceilings or limits on parts couple everything: every set of families solved by itself, over
    all templates there are, counts and weighs the same."""
    case = random_case(seed, CATALOG, family)
    found = everything(case, CATALOG, 0.05)
    if found is None:
        return
    data, most = found
    fabric = FabricName.BACKEND
    compiled = compile_case(case, CATALOG)
    scopes = [scope for group in groups(compiled).values() for scope in group if scope.fabric is fabric]
    every = instance(compiled, {fabric: Finder().within(scopes, Cutoff(), case.objectives[0])})
    worth: dict[structures.Structure, tuple[int, ...]] = {}
    for form in near_optimal.shapes(every, fabric):
        some = dataclasses.replace(
            every, templates={fabric: [t for t in every.templates[fabric] if shape_of(t) == form]}
        )
        worth |= solved_sets(some, form, most)
    expected = {s: w for s, w in worth.items() if s in structures.counting(worth)}
    assert counted(best_of_structures(data, fabric, most, Engine.HIGHS)) == expected
    assert expected


def solved_sets(some: Instance, form: structures.Shape, most: int) -> dict[structures.Structure, tuple[int, ...]]:
    """The worth of every set of families within the end of the slack."""
    fabric = FabricName.BACKEND
    known: dict[str, set[str]] = {}
    for key, ways in some.ways.items():
        if any(key.link in t.facts.blocks for t in some.templates[fabric]):
            for way in ways:
                known.setdefault(key.link.link_class, set()).update(structures.families_of(way, CATALOG))
    found = {}
    names = sorted(known)
    for picked in itertools.product(*(list(subsets(frozenset(known[name]))) for name in names)):
        ways = structures.restricted(some, fabric, dict(zip(names, picked, strict=True)))
        left = [t for t in some.templates[fabric] if all(ways[Key(fabric, link)] for link in t.facts.blocks)]
        if not left:
            continue
        held = dataclasses.replace(some, templates={fabric: left}, ways={k: w for k, w in ways.items() if w})
        outcome = solve(held, Engine.HIGHS)
        if outcome.choice is not None and outcome.value is not None and outcome.value <= most:
            net = outcome.choice.net(held)
            optics = tuple((name, tuple(sorted(families))) for name, families in zip(names, picked, strict=True))
            found[structures.Structure(form, optics)] = tuple(net.of(o) for o in some.case.objectives)
    return found


# --- what is needed, and the command ----------------------------------------------------------------------------------

CASES = Path(__file__).parent.parent / "cases"


@pytest.mark.parametrize("seed", [2, 6, 12, 36, 44])
def test_what_is_needed_is_in_every_design(seed: int) -> None:
    """Enumeration over a catalogue without the part finds what the study says avoiding it costs."""
    case = random_case(seed, CATALOG, "plain")
    study = alternatives(case, CATALOG, within=0.2)
    unit = 1000 if case.objectives[0] is Objective.POWER else 100
    assert study.value is not None
    assert study.most is not None
    found = study.fabrics[FabricName.BACKEND.value]
    for use in found.parts:
        assert use.structures == sum(use.part in x.parts for x in found.alternatives)
        assert use.fewest == min(x.parts.get(use.part, 0) for x in found.alternatives)
        assert use.most == max(x.parts.get(use.part, 0) for x in found.alternatives)
        if use.in_optimum:
            denied = case.parts.model_copy(update={"deny": (*case.parts.deny, use.part)})
            without = least(case.model_copy(update={"parts": denied}), CATALOG)
            more = None if without is None else without[0] / unit - study.value
            assert (use.without_more is None) == (more is None)
            assert use.without_more == pytest.approx(more)
            assert use.needed == (more is None or without is None or without[0] / unit > study.most)
        if use.needed:
            assert use.structures == len(found.alternatives)


@pytest.mark.parametrize("seed", [2, 12, 32, 90])
def test_the_optimum_stands_first_and_ties_are_counted(seed: int) -> None:
    """One line is the optimum, on top; with no slack at all, what is left besides is exactly the ties."""
    case = random_case(seed, CATALOG, "plain")
    study = alternatives(case, CATALOG, within=0.2)
    (found,) = study.fabrics.values()
    assert [x.in_optimum for x in found.alternatives] == [True, *[False] * (len(found.alternatives) - 1)]
    assert found.alternatives[0].value == study.value
    ends = [x.value for x in found.alternatives]
    assert ends == sorted(ends)
    tied = alternatives(case, CATALOG, within=0.0).fabrics[FabricName.BACKEND.value]
    assert len(tied.alternatives) == 1 + tied.ties
    assert tied.ties == found.ties


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli.app, ["alternatives", *words])
    return done.exit_code, done.output


def test_the_command_lists_what_a_shipped_case_could_be() -> None:
    """Beyond 50 m only DR reaches, below VR is cheaper or not; four kinds of optics, with rails and without."""
    path = str(CASES / "hot-cages-rack.yaml")
    code, text = run(path)
    assert code == 0
    plain = " ".join(text.split())
    assert "there are 8 structures of backend; none is missing" in plain
    assert "Exactly as good as the optimum: 1 other of backend" in plain
    code, text = run(path, "--json", "--within", "0.05")
    study = Alternatives.model_validate_json(text)
    assert {tuple(x.structure.optics["endpoint-leaf"]) for x in study.fabrics["backend"].alternatives} == {
        ("DR",),
        ("DR", "VR"),
    }
    assert "ib-qm9700" in {use.part for use in study.fabrics["backend"].parts if use.needed}


def test_any_number_of_processes_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two processes say what one says, and so does a run that finds its steps in a journal."""
    words = (str(CASES / "storage-512-auto.yaml"), "--within", "1%", "--json")
    alone = run(*words)
    assert run(*words, "-j", "2") == alone
    journal = str(tmp_path / "steps.jsonl")
    assert run(*words, "--resume", journal) == alone
    assert run(*words, "--resume", journal) == alone


def test_fabrics_by_name() -> None:
    """Only the fabric asked for is looked at; the rest of the design is free all the same."""
    path = CASES / "storage-512-auto.yaml"
    study = gpunet.alternatives(path, within=0.01, fabrics=["storage"])
    assert list(study.fabrics) == ["storage"]
    assert study.fabrics["storage"] == gpunet.alternatives(path, within=0.01).fabrics["storage"]


def test_a_case_without_a_design_says_so() -> None:
    """Exit code 1, and where to ask further."""
    code, text = run(str(CASES / "no-power.yaml"))
    assert code == 1
    assert "no design, so no alternatives" in text
    assert "gpunet explain" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--within", "5"), "found '5', expected a share such as 5% or 0.05"),
        (("--within", "-1%"), "found '-1%'"),
        (("--within", "nan"), "found 'nan'"),
        (("--within", "a lot"), "found 'a lot'"),
        (("--fabric", "oob"), "found 'oob', which the case does not build; it builds backend"),
    ],
)
def test_options_that_cannot_be_used(words: tuple[str, ...], says: str) -> None:
    """Every bad option is told with what was expected, and exit code 2."""
    code, text = run(str(CASES / "guide-128.yaml"), *words)
    assert code == 2
    assert says in text


def test_a_slack_that_is_none_is_refused_in_python_too() -> None:
    """A share below 0 or above 1 is a ValueError."""
    with pytest.raises(ValueError, match="share from 0 to 1"):
        gpunet.alternatives(CASES / "guide-128.yaml", within=5)
