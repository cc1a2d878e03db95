"""Price ranges, steps and regret: exact against brute force, the published example, and the same in any number of
processes."""

from __future__ import annotations

import itertools
import json
import math
import threading
from pathlib import Path

import pytest
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gpunet.cli import app
from gpunet.models.case import Case, Objective
from gpunet.models.design import Status
from gpunet.models.study_sensitivity import PriceRange, Sensitivity
from gpunet.solver.candidates import Compiled, Finder, compile_case, instance
from gpunet.solver.envelope import Line, envelope, lower_end
from gpunet.solver.price_ranges import range_of, rivals
from gpunet.solver.regret import bands_of, regrets_of, scenarios_of
from gpunet.solver.requirement_steps import moved, questions, step_of
from gpunet.solver.scope import Cutoff
from gpunet.solver.sensitivity import sensitivity
from gpunet.solver.tasks import JournalError, Plan
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
TOP = 60


def probe_of(lines: list[tuple[int, int]], asked: list[int]):  # type: ignore[no-untyped-def]
    """A probe over designs given as (worth at price 0, pieces)."""

    def probe(price: int) -> Line:
        asked.append(price)
        fixed, pieces = min(lines, key=lambda x: (x[0] + x[1] * price, x))
        return Line(lambda p: fixed + pieces * p, pieces, (fixed, pieces))

    return probe


LINES = st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 40)), min_size=1, max_size=12)


@given(LINES)
@settings(derandomize=True, deadline=None)
def test_the_envelope_is_the_least_at_every_price(lines: list[tuple[int, int]]) -> None:
    """At every whole price exactly one piece holds, and its line is worth the least of all designs."""
    pieces = envelope(probe_of(lines, []), 0, TOP)
    assert [p.first for p in pieces] == [0, *(p.last + 1 for p in pieces[:-1])]
    assert pieces[-1].last == TOP
    for piece in pieces:
        for price in range(piece.first, piece.last + 1):
            assert piece.line.worth(price) == min(fixed + n * price for fixed, n in lines)


@given(LINES, st.lists(st.integers(0, TOP - 1), max_size=3))
@settings(derandomize=True, deadline=None)
def test_the_lower_end_is_exact_whatever_is_looked_at_first(lines: list[tuple[int, int]], first: list[int]) -> None:
    """The design stays the best down to the end and no further; where to look first changes nothing."""
    probe = probe_of(lines, [])
    base = probe(TOP)
    least = {p: min(fixed + n * p for fixed, n in lines) for p in range(TOP + 1)}
    expected = max((p + 1 for p in least if least[p] < base.worth(p)), default=0)
    for looked_at in ((), first):
        end, rival = lower_end(probe, base, 0, TOP, looked_at)
        assert end == expected
        assert (rival is None) == (end == 0)
        if rival is not None:
            assert rival.worth(end - 1) == least[end - 1]


def test_the_published_example_is_reproduced() -> None:
    """2,000 endpoints at 3:1: optimum 4,767,200, the best from 6,500 to 66,000; then 66,461.54 and 95,000."""
    ports = {"m32": 32, "m64": 64, "m128": 128, "m144": 144}
    usd = {"m32": 15_000, "m64": 36_000, "m144": 95_000}
    designs = set()
    for leaf, spine in itertools.product(ports, repeat=2):
        for down in range(1, ports[leaf]):
            up = math.ceil(down / 3)
            leaves = math.ceil(2_000 / down)
            if down + up <= ports[leaf] and leaves <= ports[spine]:
                spines = math.ceil(up / (ports[spine] // leaves))
                fixed = 2_000 * 700 + leaves * up * 2_600
                fixed += usd.get(leaf, 0) * leaves + usd.get(spine, 0) * spines
                designs.add((fixed * 100, leaves * (leaf == "m128") + spines * (spine == "m128")))
    asked: list[int] = []
    pieces = envelope(probe_of(sorted(designs), asked), 0, 200_000_00)
    today = next(p for p in pieces if p.first <= 60_000_00 <= p.last)
    assert today.line.worth(60_000_00) == 4_767_200_00
    assert today.line.worth(6_500_00) == pieces[pieces.index(today) - 1].line.worth(6_500_00)
    assert (today.first, today.last) == (6_500_01, 66_000_00)
    ends = [p.last / 100 for p in pieces if p.first > 60_000_00]
    assert ends[:2] == [66_461.53, 95_000.0]
    assert len(asked) < 3 * len(pieces) + 5


def workbench(seed: int, family: str = "plain") -> Workbench:
    """A small random case; the seeds used here have a design, and prices matter to it."""
    bench = Workbench(random_case(seed, CATALOG, family), CATALOG)
    assert bench.at({}).is_optimal
    assert bench.case.objectives[0] is not Objective.POWER
    return bench


def value_at(case: Case, part: str, cents: int) -> int:
    """The optimum with one other price, by a fresh search of a case that quotes it."""
    prices = case.prices.model_copy(update={"overrides_usd": {**case.prices.overrides_usd, part: cents / 100}})
    return Workbench(case.model_copy(update={"prices": prices}), CATALOG).at({}).value


@pytest.mark.parametrize("seed", [1, 5, 6, 7, 8, 9, 10, 12, 14, 15, 17, 18, 19, 20, 25, 26])
def test_every_price_range_ends_where_fresh_solves_say(seed: int) -> None:
    """At the ends of a range today's design is still the best, and a cent beyond it is not: by fresh solves."""
    bench = workbench(seed)
    today = bench.at({})
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    others = rivals(bench, today)
    for part in [*sorted(today.bought or {})[:3], *others[seed % 4 :: 6]]:
        data = range_of(bench, part)
        if data is None:
            assert value_at(bench.case, part, 0) == today.value, f"{part} is used when it is free"
            continue
        found = PriceRange.model_validate(data)
        compiled.suppose({})
        price = compiled.prices.cents(part)
        assert price is not None
        n = (today.bought or {}).get(part, 0)
        if bench.case.objectives[0].value == "tco" and part in CATALOG.switches:
            continue
        low = round(found.stays_from_usd * 100)
        assert value_at(bench.case, part, low) == today.value - n * (price - low)
        if low:
            assert value_at(bench.case, part, low - 1) < today.value - n * (price - low + 1)
        if found.stays_to_usd is not None and found.in_design:
            high = round(found.stays_to_usd * 100)
            assert value_at(bench.case, part, high) == today.value + n * (high - price)
            assert value_at(bench.case, part, high + 1) < today.value + n * (high + 1 - price)


@pytest.mark.parametrize("seed", [2, 4, 6, 9])
def test_other_prices_are_solved_as_a_fresh_case_would_be(seed: int) -> None:
    """A workbench whose prices moved many times answers like a new one, design and all."""
    bench = workbench(seed, "fabrics")
    parts = sorted(bench.at({}).bought or {})
    for part, cents in itertools.product(parts, (0, 12_345, 999_999)):
        fresh = Workbench(bench.case, CATALOG)
        assert bench.at({part: cents}).weight == fresh.at({part: cents}).weight
        assert bench.at({part: cents}).parts == fresh.at({part: cents}).parts


@pytest.mark.parametrize("seed", [1, 5, 6, 7])
def test_steps_are_where_they_are_said_to_be(seed: int) -> None:
    """The value that holds and the next one are solved anew: the jump in cost is theirs."""
    bench = workbench(seed)
    for question in questions(bench, bench.at({})):
        step = step_of(bench, question)
        if step["next_value"] is None or step["cost_change_usd"] is None:
            continue
        if "oversubscription" in step["setting"] or step["setting"].startswith("limits."):
            there = Workbench(moved(bench.case, step["setting"], step["next_value"]), CATALOG).at({})
            assert there.value != bench.at({}).value


def test_the_least_worst_regret_is_least() -> None:
    """Over every template and every mixture of ways of a small case, none has a smaller worst regret."""
    case = Case.model_validate(
        {"name": "r", "cluster": {"servers": 3, "server": "server-2"}, "fabrics": {"backend": {"max_tiers": 1}}}
    )
    bench = Workbench(case, CATALOG)
    names = sorted(p for p in bench.at({}).bought or {})
    scenarios = {f"{p} {k}": {p: cents} for p in names for k, cents in (("down", 100), ("up", 900_000))}
    regrets = regrets_of(bench, scenarios)
    least = {name: bench.at(prices).value for name, prices in {"today": {}, **scenarios}.items()}
    best = math.inf
    for compiled, choice_worths in _all_worths(case, {"today": {}, **scenarios}):
        del compiled
        best = min(best, max(choice_worths[name] - least[name] for name in least))
    assert round(regrets[0]["worst_regret_usd"] * 100) == best
    assert all(r["worst_regret_usd"] >= regrets[0]["worst_regret_usd"] for r in regrets)


def _all_worths(case: Case, scenarios: dict[str, dict[str, int]]):  # type: ignore[no-untyped-def]
    """Worth in every scenario of every design, each class built one way throughout or not at all mixed."""
    compiled = compile_case(case, CATALOG)
    (scopes,) = compiled.scopes.values()
    templates = Finder().within(scopes, Cutoff(), case.objectives[0])
    for t in templates:
        data = instance(compiled, {t.fabric: [t]})
        keys = [key for key in data.ways if data.need(key, t)]
        for ways in itertools.product(*(data.ways[key] for key in keys)):
            worths = {}
            parts: dict[str, int] = dict(t.switches)
            for key, way in zip(keys, ways, strict=True):
                for part, n in way.parts:
                    parts[part] = parts.get(part, 0) + n * data.need(key, t)
            for name, prices in scenarios.items():
                worths[name] = sum((prices.get(p, compiled.prices.cents(p)) or 0) * n for p, n in parts.items())
            yield compiled, worths


def small_study(plan: Plan, bands: bool = False) -> Sensitivity:
    """The sensitivity of a small case."""
    case = random_case(7, CATALOG, "plain")
    return sensitivity(case, CATALOG, plan, bands=bands)


def test_any_number_of_processes_gives_the_same_bytes() -> None:
    """Two processes answer like one, counts of solves included."""
    one, two = small_study(Plan()), small_study(Plan(jobs=2))
    assert one.model_dump_json() == two.model_dump_json()
    assert one.complete
    assert one.solves > len(one.prices)


def test_a_stopped_study_goes_on_where_it_was(tmp_path: Path) -> None:
    """What was finished is kept and said to be incomplete; the next run gives what one run would have given."""
    whole = small_study(Plan())
    stop = threading.Event()
    journal = tmp_path / "work.jsonl"
    seen = []

    def tell(text: str) -> None:
        seen.append(text)
        if len(seen) == 6:
            stop.set()

    part = small_study(Plan(journal=journal, stop=stop, tell=tell))
    assert not part.complete
    assert 0 < len(part.prices) + len(part.never) < len(whole.prices) + len(whole.never)
    journal.write_text(journal.read_text() + '["price of', encoding="utf-8")
    again = small_study(Plan(journal=journal))
    assert again.model_dump_json() == whole.model_dump_json()


def test_a_journal_of_something_else_is_refused(tmp_path: Path) -> None:
    """Steps of another case are never taken for those of this one."""
    journal = tmp_path / "work.jsonl"
    small_study(Plan(journal=journal))
    with pytest.raises(JournalError, match="not a journal of this study"):
        sensitivity(random_case(3, CATALOG, "plain"), CATALOG, Plan(journal=journal))


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["sensitivity", *words])
    return result.exit_code, result.output


def test_the_command_says_how_firm_a_shipped_case_is(tmp_path: Path) -> None:
    """The published dilemma of optics: the price at which SR4 would beat DR4 is found and shown."""
    case = tmp_path / "case.yaml"
    case.write_text(Path("cases/h800-400g-qdd.yaml").read_text().replace("gpus: 1024", "gpus: 128"), encoding="utf-8")
    code, output = run(str(case), "--json", "-j", "1")
    assert code == 0, output
    study = Sensitivity.model_validate(json.loads(output))
    sr4 = next(r for r in study.prices if r.part == "nv-mma4z00-ns400-t")
    assert not sr4.in_design
    assert 0 < sr4.stays_from_usd < sr4.price_usd


def test_a_case_without_a_design_says_so() -> None:
    """Exit code 1, one line, no traceback."""
    code, output = run("cases/no-tiers.yaml")
    assert code == 1
    assert "no design" in output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scenarios: {a: {no-such-part: 3}}", "no-such-part"),
        ("scenarios: {a: {osfp-800g-vr8: -3}}", "osfp-800g-vr8"),
        ("scenarios: {}", "scenarios"),
        ("prices: {}", "prices"),
    ],
)
def test_scenarios_that_cannot_be_used_are_refused(tmp_path: Path, text: str, says: str) -> None:
    """File, line and what was expected, before anything is solved."""
    file = tmp_path / "prices.yaml"
    file.write_text(text, encoding="utf-8")
    code, output = run("cases/guide-128.yaml", "--scenarios", str(file))
    assert code == 2
    assert says in output
    assert "prices.yaml:1" in output


def test_a_journal_that_does_not_fit_is_a_bad_option(tmp_path: Path) -> None:
    """The command line says which option is wrong."""
    journal = tmp_path / "notes.txt"
    journal.write_text("shopping list\n", encoding="utf-8")
    code, output = run("cases/guide-128.yaml", "--resume", str(journal))
    assert code == 2
    assert "--resume" in output
    assert journal.read_text(encoding="utf-8") == "shopping list\n"


def test_no_price_matters_to_the_coolest_design() -> None:
    """With power first the study leaves prices out and says why."""
    case = random_case(2, CATALOG, "plain").model_copy(update={"objective": Objective.POWER})
    study = sensitivity(case, CATALOG, bands=True)
    assert study.status is Status.OPTIMAL
    assert not study.prices
    assert any("power" in note for note in study.notes)
    assert bands_of(Workbench(case, CATALOG), Workbench(case, CATALOG).at({})) is not None
    assert list(scenarios_of({"a": (1, 2)})) == ["today", "everything low", "everything high", "a low", "a high"]
