"""Uncertain prices: each price over its band, and the design that is never far from the best.

The regret of a design in a scenario is what it costs more than the best design at that scenario's prices. A design with
a worst regret below r costs less than r more than today's best, for today is a scenario too; so the program needs only
the templates within r of today's best, where r is the worst regret of the best design known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpunet.models.study_sensitivity import Band, Regret
from gpunet.solver.candidates import Compiled, instance
from gpunet.solver.engines import Clock, EngineError, run_highs, with_racks
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.price_ranges import changes
from gpunet.solver.program import formulate, read_choice
from gpunet.solver.remembering import reweigh
from gpunet.solver.search import all_within
from gpunet.solver.workbench import Answer, Workbench, summarise

Scenario = dict[str, int]
"""Unit prices that differ from today's, cents."""
TODAY = "today"


def bands_of(bench: Workbench, today: Answer) -> dict[str, tuple[int, int]]:
    """The band of every priced part of the design that has one, cents. A quoted price has none."""
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    compiled.suppose({})
    found = {}
    for part in sorted(today.bought or {}):
        band = compiled.prices.band(part)
        if band is not None and band[0] < band[1]:
            found[part] = band
    return found


def band_of(bench: Workbench, part: str, low: int, high: int) -> dict[str, Any]:
    """One bar of the tornado, as data for JSON."""
    today = bench.at({})
    at_low, at_high = bench.at({part: low}), bench.at({part: high})
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    compiled.suppose({})
    quote = compiled.prices.quote(part)
    assert quote is not None
    return Band(
        part=part,
        low_usd=low / 100,
        high_usd=high / 100,
        price_usd=quote.cents / 100,
        price_how=quote.how,
        at_low_usd=at_low.value / 100,
        at_high_usd=at_high.value / 100,
        changes_design=any(a.parts != today.parts for a in (at_low, at_high)),
    ).model_dump(mode="json")


def scenarios_of(bands: Mapping[str, tuple[int, int]]) -> dict[str, Scenario]:
    """Today, everything low, everything high, and each part alone at either end of its band."""
    found: dict[str, Scenario] = {TODAY: {}}
    found["everything low"] = {part: low for part, (low, _) in bands.items()}
    found["everything high"] = {part: high for part, (_, high) in bands.items()}
    for part, (low, high) in bands.items():
        found[f"{part} low"], found[f"{part} high"] = {part: low}, {part: high}
    return found


def regrets_of(bench: Workbench, scenarios: dict[str, Scenario]) -> list[dict[str, Any]]:
    """The best design of every scenario and the design of least worst regret, smallest worst regret first."""
    names = list({TODAY: {}, **scenarios})
    prices = {name: scenarios.get(name, {}) for name in names}
    best = {name: bench.at(prices[name]) for name in names}
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    least = {name: best[name].value for name in names}
    today = best[TODAY]
    rows: dict[tuple[tuple[str, int], ...], Regret] = {}
    for name, answer in best.items():
        assert answer.data is not None
        assert answer.choice is not None
        _note(rows, bench, name, answer.data, answer.choice, prices, least, today)
    bound = min(row.worst_regret_usd for row in rows.values())
    compiled.suppose({})
    held = all_within(compiled, today.value + round(bound * 100), bench.finder)
    data, choice = _least_worst(compiled, held, prices, least)
    _note(rows, bench, "least worst regret", data, choice, prices, least, today)
    compiled.suppose({})
    ordered = sorted(rows.values(), key=lambda r: (r.worst_regret_usd, r.name != "least worst regret", r.name))
    return [row.model_dump(mode="json") for row in ordered]


def _note(
    rows: dict[tuple[tuple[str, int], ...], Regret],
    bench: Workbench,
    name: str,
    data: Instance,
    choice: Choice,
    prices: Mapping[str, Scenario],
    least: Mapping[str, int],
    today: Answer,
) -> None:
    """Add a design with its worth in every scenario, unless it is there already."""
    parts = choice.parts(data)
    key = tuple(sorted(parts.items()))
    if key in rows:
        return
    compiled = bench.compiled
    assert isinstance(compiled, Compiled)
    values = {scenario: _worth(compiled, choice, prices[scenario]) for scenario in prices}
    worst = max(values, key=lambda s: values[s] - least[s])
    compiled.suppose({})
    rows[key] = Regret(
        name=name,
        worst_regret_usd=(values[worst] - least[worst]) / 100,
        worst_scenario=worst,
        by_scenario_usd={s: v / 100 for s, v in values.items()},
        change=changes(bench.catalog, today.parts or {}, parts),
        design=summarise(*_alone(compiled, choice)),
    )


def _alone(compiled: Compiled, choice: Choice) -> tuple[Instance, Choice]:
    """A design in an instance of its own templates alone, weighed at the prices supposed now."""
    for fabric, t in choice.templates.items():
        reweigh(compiled.measures[fabric], t)
    data = instance(compiled, {fabric: [t] for fabric, t in choice.templates.items()})
    return data, Choice(choice.templates, {key: n for key, n in choice.built.items() if key in data.ways})


def _worth(compiled: Compiled, choice: Choice, prices: Scenario) -> int:
    """What a design is worth in a scenario, cents."""
    compiled.suppose(prices)
    data, alone = _alone(compiled, choice)
    return alone.net(data).of(compiled.case.objectives[0])


def _least_worst(
    compiled: Compiled, held: Instance, prices: Mapping[str, Scenario], least: Mapping[str, int]
) -> tuple[Instance, Choice]:
    """min r subject to r >= worth in s - least of s, for every scenario s."""
    f = formulate(held)
    worst = f.var("worst_regret", None)
    first = compiled.case.objectives[0]
    templates = held.templates
    for name, scenario in prices.items():
        compiled.suppose(scenario)
        for fabric, ts in templates.items():
            for t in ts:
                reweigh(compiled.measures[fabric], t)
        there = instance(compiled, templates)
        f.add("regret", f.total_at(there, first) + there.fixed.of(first) - worst <= least[name])
    compiled.suppose({})
    f.prob.setObjective(worst)
    raw = with_racks(f, run_highs, Clock(None))
    if raw.value_of is None:
        raise EngineError(f"the design of least worst regret could not be found: {raw.status.value}")
    return held, read_choice(f, raw.value_of)
