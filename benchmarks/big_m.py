"""The naive way to write the same problem: integers for counts, binaries for models, big-M rows for everything between.

A case is narrowed until both ways can state it exactly: switches with one port per cage, one module, one stock length
(the parts in ``flat/``), so that a link costs the same everywhere. One or two tiers, strict striping:

    minimise   sum_m p[m] l[m] + sum_m p[m] s[m] + c (N + W)
    L = sum l,  S = sum s         leaves and spines
    L d >= N                      every endpoint has a port
    U = S b >= d                  as many uplinks as ports down; none in one tier
    d + U <= R[m] if l[m] > 0     ports of a leaf
    L b <= R[m]   if s[m] > 0     ports of a spine, b links from every leaf
    W = L U                       links between the tiers

The four products are written out bit by bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.parts import Catalog

FLAT = Path(__file__).parent / "flat"
LINK_USD = 2600
"""Two modules and a jumper of ``flat/``."""


class Solved(NamedTuple):
    """How one formulation did."""

    usd: float | None
    """Optimum; none when the time limit came first."""
    lp_usd: float
    """Optimum with integrality dropped."""
    columns: int
    rows: int
    nodes: int
    seconds: float


def flat_case(gpus: int, models: int) -> tuple[Case, Catalog]:
    """The narrowed case: so many GPUs, and the so many smallest switches of ``flat/``."""
    catalog = load_catalog([FLAT])
    switches = [part for part in catalog.switches if part.startswith("flat-")][:models]
    data = {
        "cluster": {"gpus": gpus, "server": "flat-8"},
        "fabrics": {"backend": {"protocols": ["ethernet"], "topologies": ["leaf-spine"], "max_tiers": 2}},
        "parts": {"allow": [*switches, "flat-dr4", "flat-jumper", "cable:*"], "deny": ["cable:*"]},
        "site": {"fibre": ["OS2"]},
    }
    return case_from_data(data, catalog), catalog


def solve_big_m(gpus: int, prices_usd: Mapping[int, float], limit_s: float) -> Solved:
    """The naive program, for switches by number of ports."""
    import pulp

    begun = time.perf_counter()
    most = max(prices_usd)
    bits = math.ceil(math.log2(most + 1))
    prob = pulp.LpProblem("naive", pulp.LpMinimize)

    def whole(name: str, upper: float) -> Any:
        return prob.add_variable(name, 0, upper, pulp.LpInteger)

    def add(row: Any) -> None:
        nonlocal prob
        prob += row

    def in_bits(name: str, value: Any) -> list[Any]:
        found = [whole(f"{name}_{k}", 1) for k in range(bits)]
        add(pulp.lpSum(2**k * bit for k, bit in enumerate(found)) - value == 0)
        return found

    def times(name: str, value_bits: list[Any], other: Any, upper: float) -> Any:
        """The product of a number in bits and an integer, each bit with the usual three rows."""
        parts = []
        for k, bit in enumerate(value_bits):
            part = whole(f"{name}_{k}", upper)
            add(part - upper * bit <= 0)
            add(part - other <= 0)
            add(part - other - upper * bit >= -upper)
            parts.append(2**k * part)
        return pulp.lpSum(parts)

    leaves = {r: whole(f"leaves_{r}", most) for r in prices_usd}
    spines = {r: whole(f"spines_{r}", most) for r in prices_usd}
    is_leaf = {r: whole(f"is_leaf_{r}", 1) for r in prices_usd}
    is_spine = {r: whole(f"is_spine_{r}", 1) for r in prices_usd}
    down, up, multiplicity = whole("down", most), whole("up", most), whole("multiplicity", most)
    n_leaves, n_spines, two_tiers = (pulp.lpSum(x.values()) for x in (leaves, spines, is_spine))
    leaf_bits, spine_bits = in_bits("leaf_bit", n_leaves), in_bits("spine_bit", n_spines)
    links = times("links", leaf_bits, up, most)
    add(pulp.lpSum(is_leaf.values()) == 1)
    add(two_tiers <= 1)
    add(n_leaves - most * two_tiers <= 1)
    add(times("ports", leaf_bits, down, most) >= gpus)
    add(times("uplinks", spine_bits, multiplicity, most) - up == 0)
    add(up - down - most * two_tiers >= -most)
    bundles = times("bundles", leaf_bits, multiplicity, most)
    for ports in prices_usd:
        add(leaves[ports] - most * is_leaf[ports] <= 0)
        add(spines[ports] - most * is_spine[ports] <= 0)
        add(down + up + 2 * most * is_leaf[ports] <= ports + 2 * most)
        add(bundles + most * most * is_spine[ports] <= ports + most * most)
    switches = pulp.lpSum(usd * (leaves[r] + spines[r]) for r, usd in prices_usd.items())
    prob.setObjective(switches + LINK_USD * links)
    constant = LINK_USD * gpus
    options: dict[str, Any] = {"msg": False, "threads": 1, "gapRel": 0.0, "timeLimit": limit_s}
    prob.solve(pulp.HiGHS(mip=False, **options))
    relaxed = prob.solverModel.getInfo().objective_function_value + constant
    prob.solve(pulp.HiGHS(**options))
    info = prob.solverModel.getInfo()
    proven = prob.solverModel.modelStatusToString(prob.solverModel.getModelStatus()) == "Optimal"
    return Solved(
        round(info.objective_function_value) + constant if proven else None,
        relaxed,
        prob.numVariables(),
        prob.numConstraints(),
        int(info.mip_node_count),
        time.perf_counter() - begun,
    )


def solve_templates(case: Case, catalog: Catalog) -> Solved:
    """The same case as gpunet solves it, proof included. Size, nodes and LP bound are those over every template."""
    import pulp
    from unpruned import instance_of_everything

    from gpunet.models.case import Objective
    from gpunet.solver.candidates import compile_case
    from gpunet.solver.program import formulate, set_objective
    from gpunet.solver.search import search

    begun = time.perf_counter()
    found = search(compile_case(case, catalog))
    seconds = time.perf_counter() - begun
    assert found.outcome.value is not None
    f = formulate(instance_of_everything(compile_case(case, catalog)))
    constant = set_objective(f, Objective.COST)
    f.prob.solve(pulp.HiGHS(mip=False, msg=False, threads=1))
    relaxed = (f.prob.solverModel.getInfo().objective_function_value + constant) / 100
    f.prob.solve(pulp.HiGHS(msg=False, threads=1, gapRel=0.0))
    info = f.prob.solverModel.getInfo()
    if round(info.objective_function_value) + constant != found.outcome.value:
        raise SystemExit(f"{case.name}: the search and the program over every template disagree")
    size = f.prob.numVariables(), f.prob.numConstraints()
    return Solved(found.outcome.value / 100, relaxed, *size, int(info.mip_node_count), seconds)
