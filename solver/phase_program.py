r"""The plan of one fabric as a program: a template and its links in every phase, and what must be bought for them.

Bought pieces stay in the fabric. With prices that never rise, buying late is never dearer, so every phase buys what it
needs beyond what there is, and a piece costs

p[q] = h[q] + h[q+1] + ... + h[Q]     h[q] = p[q] - p[q+1]: what it costs to have it from phase q on, not from q+1 on

so a plan costs sum_qk h[q,k] S[q,k], where S[q,k] >= n[q,k], S[q,k] >= S[q-1,k] are the pieces of part k that are
there. The program counts pieces in use and idle ones apart, S = n + e: then nearly all of the cost stands at templates
and ways, where a bound of the relaxed program is tight.

z[q,t]   in {0,1}   template t stands in phase q
x[q,k,w] in Z+      blocks of class k built by way w in phase q
e[q,p]   >= 0       pieces of part p that are there and not in use in phase q
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpunet.models.design import Status
from gpunet.solver.engines import Clock, Engine, EngineError, Raw, run_highs, run_scip
from gpunet.solver.links import Way
from gpunet.solver.template import LinkClass, Template


class Step(NamedTuple):
    """One fabric in one phase: what it may be, and what a piece costs from this phase until the next."""

    templates: list[Template]
    """In rank order; at least one."""
    ways: Mapping[LinkClass, tuple[Way, ...]]
    held_cents: Mapping[str, int]
    """By part; of the last phase its price."""


class Built(NamedTuple):
    """One fabric in one phase, decided."""

    template: Template
    blocks: dict[LinkClass, list[int]]
    """Blocks by way, aligned with the ways of the step."""
    parts: dict[str, int]
    """Pieces of every part."""


class Solved(NamedTuple):
    """How a program ended."""

    status: Status
    built: tuple[Built, ...]
    """One per phase; none without a plan."""
    bound: float | None
    """No plan among the templates given costs less, cents."""


def built_of(step: Step, template: Template, blocks: dict[LinkClass, list[int]]) -> Built:
    """Count the pieces of a decision."""
    parts = dict(template.switches)
    for link, counts in blocks.items():
        for way, n in zip(step.ways[link], counts, strict=True):
            for part, pieces in way.parts if n else ():
                parts[part] = parts.get(part, 0) + pieces * n
    laid = {link: counts for link, counts in blocks.items() if sum(counts)}
    return Built(template, laid, {part: n for part, n in parts.items() if n})


def cost_of(steps: tuple[Step, ...], parts: tuple[Mapping[str, int], ...], stock: Mapping[str, int]) -> int:
    """What must be paid for these pieces in turn, beyond a stock that is paid for, cents."""
    total, there = 0, dict(stock)
    for step, used in zip(steps, parts, strict=True):
        there = {part: max(there.get(part, 0), used.get(part, 0)) for part in there.keys() | used.keys()}
        total += sum(step.held_cents.get(part, 0) * n for part, n in there.items())
    return total - sum(step.held_cents.get(part, 0) * n for step in steps for part, n in stock.items())


def solve_plan(steps: tuple[Step, ...], stock: Mapping[str, int], engine: Engine, clock: Clock) -> Solved:
    """The cheapest plan among the templates of the steps; of several the first in rank order. Raises EngineError."""
    if engine is Engine.CP_SAT:
        from gpunet.solver.phase_cp_sat import solve_plan_cp_sat

        return solve_plan_cp_sat(steps, stock, clock)
    run = run_highs if engine is Engine.HIGHS else run_scip
    f = _formulate(steps, stock)
    constant = _set_cost(f)
    raw = run(f, clock)
    bound = None if raw.bound is None else raw.bound + constant
    if raw.value_of is None:
        return Solved(raw.status, (), bound)
    built = _read(f, raw)
    cost = cost_of(steps, tuple(x.parts for x in built), stock)
    if raw.status is not Status.OPTIMAL:
        return Solved(raw.status, built, bound)
    if bound is not None and abs(cost - bound) > max(1.0, abs(cost) * 1e-9):
        raise EngineError(f"called optimal at {bound}, but the plan costs {cost}")
    f.add("at_best", f.cost <= cost - constant)
    _set_rank(f)
    raw = run(f, clock)
    if raw.value_of is not None:
        built = _read(f, raw)
        if cost_of(steps, tuple(x.parts for x in built), stock) != cost:
            raise EngineError("the tie-break changed the cost of the plan")
    return Solved(Status.OPTIMAL, built, float(cost))


@dataclass
class _Formulation:
    steps: tuple[Step, ...]
    stock: Mapping[str, int]
    prob: Any
    z: list[list[Any]] = field(default_factory=list)
    x: list[dict[LinkClass, list[Any]]] = field(default_factory=list)
    idle: list[dict[str, Any]] = field(default_factory=list)
    cost: Any = None
    rows: int = 0

    def add(self, family: str, row: Any) -> None:
        self.rows += 1
        self.prob += row, f"{family}__{self.rows}"

    def var(self, name: str, upper: float | None, kind: str) -> Any:
        return self.prob.add_variable(name, 0, upper, kind)


def most_of(step: Step, link: LinkClass) -> int:
    """The most blocks of a class that any template of a step needs."""
    return max(t.facts.blocks.get(link, 0) for t in step.templates)


def parts_of(step: Step) -> set[str]:
    """Every part that a template of a step may be made of."""
    switches = {part for t in step.templates for part in t.switches}
    return switches | {part for ways in step.ways.values() for way in ways for part, _ in way.parts}


def _formulate(steps: tuple[Step, ...], stock: Mapping[str, int]) -> _Formulation:
    from pulp import LpMinimize, LpProblem

    f = _Formulation(steps, stock, LpProblem("plan", LpMinimize))
    for q, step in enumerate(steps):
        f.z.append([f.var(f"z_{q}_{i}", 1, "Binary") for i in range(len(step.templates))])
        f.x.append(
            {
                link: [f.var(f"x_{q}_{k}_{w}", most_of(step, link), "Integer") for w in range(len(ways))]
                for k, (link, ways) in enumerate(step.ways.items())
            }
        )
    for family in (one_template, every_link_built, bought_stays):
        family(f)
    return f


def one_template(f: _Formulation) -> None:
    r"""The fabric has one template in every phase.

    sum_t z[q,t] = 1
    """
    from pulp import lpSum

    for zs in f.z:
        f.add("one_template", lpSum(zs) == 1)


def every_link_built(f: _Formulation) -> None:
    r"""Every block is built some way.

    sum_w x[q,k,w] = sum_t n[t,k] z[q,t]
    """
    from pulp import lpSum

    for step, zs, xs in zip(f.steps, f.z, f.x, strict=True):
        for link, ways in xs.items():
            need = lpSum(n * z for t, z in zip(step.templates, zs, strict=True) if (n := t.facts.blocks.get(link, 0)))
            f.add("every_link_built", lpSum(ways) - need == 0)


def bought_stays(f: _Formulation) -> None:
    r"""What has been there in a phase and is not in use in the next is idle in it.

    e[q,p] >= n[q-1,p] + e[q-1,p] - n[q,p]
    """
    from pulp import lpSum

    before: dict[str, Any] = dict(f.stock)
    for q, (step, zs, xs) in enumerate(zip(f.steps, f.z, f.x, strict=True)):
        used: dict[str, list[Any]] = {}
        for t, z in zip(step.templates, zs, strict=True):
            for part, n in t.switches.items():
                used.setdefault(part, []).append(n * z)
        for link, ways in xs.items():
            for way, x in zip(step.ways[link], ways, strict=True):
                for part, n in way.parts:
                    used.setdefault(part, []).append(n * x)
        pieces = {part: lpSum(terms) for part, terms in used.items()}
        f.idle.append({})
        for i, part in enumerate(sorted(before)):
            e = f.idle[-1][part] = f.var(f"e_{q}_{i}", None, "Continuous")
            f.add("bought_stays", e + pieces.get(part, 0) - before[part] >= 0)
        before = {part: pieces.get(part, 0) + f.idle[-1].get(part, 0) for part in sorted(before.keys() | pieces.keys())}


def _set_cost(f: _Formulation) -> int:
    """Minimise the cost beyond the least of every phase; return the constant left out, cents."""
    from pulp import lpSum

    goal, constant = [], 0
    for step, zs, xs, idle in zip(f.steps, f.z, f.x, f.idle, strict=True):
        cents = step.held_cents
        weights = {
            link: [sum(cents[part] * n for part, n in way.parts) for way in ways] for link, ways in step.ways.items()
        }
        least = {link: min(found) for link, found in weights.items()}
        base = [
            sum(cents[part] * n for part, n in t.switches.items())
            + sum(least[link] * n for link, n in t.facts.blocks.items())
            for t in step.templates
        ]
        goal += [(cost - min(base)) * z for cost, z in zip(base, zs, strict=True)]
        goal += [
            (weight - least[link]) * x
            for link, ways in xs.items()
            for weight, x in zip(weights[link], ways, strict=True)
            if weight != least[link]
        ]
        goal += [cents.get(part, 0) * e for part, e in idle.items()]
        constant += min(base) - sum(cents.get(part, 0) * n for part, n in f.stock.items())
    f.cost = lpSum(goal)
    f.prob.setObjective(f.cost)
    return constant


def _set_rank(f: _Formulation) -> None:
    """Minimise the rank of what is chosen: templates first in rank order, then ways in part order."""
    from pulp import lpSum

    f.prob.setObjective(
        lpSum(i * rank_scale(f.steps) * z for zs in f.z for i, z in enumerate(zs) if i)
        + lpSum(i * x for xs in f.x for ways in xs.values() for i, x in enumerate(ways) if i)
    )


def rank_scale(steps: tuple[Step, ...]) -> int:
    """More than the ranks of all ways can sum to."""
    return 1 + sum(most_of(step, link) * (len(ways) - 1) for step in steps for link, ways in step.ways.items())


def _read(f: _Formulation, raw: Raw) -> tuple[Built, ...]:
    assert raw.value_of is not None
    value_of: Callable[[Any], float] = raw.value_of

    def whole(variable: Any) -> int:
        value = value_of(variable)
        if abs(value - round(value)) > 1e-4:
            raise EngineError(f"{variable.name} = {value} is not an integer")
        return round(value)

    found = []
    for step, zs, xs in zip(f.steps, f.z, f.x, strict=True):
        template = next(t for t, z in zip(step.templates, zs, strict=True) if whole(z))
        blocks = {link: [whole(x) for x in ways] for link, ways in xs.items()}
        if any(sum(counts) != template.facts.blocks.get(link, 0) for link, counts in blocks.items()):
            raise EngineError("the solver's plan leaves links unbuilt once rounded")
        found.append(built_of(step, template, blocks))
    return tuple(found)
