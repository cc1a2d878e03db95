"""All benchmarks in one run: ``make bench``. Prints tables in Markdown; the page docs/benchmarks.md quotes one run.

Seconds and memory depend on the machine, so each table has a yardstick measured in the same run beside them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from big_m import flat_case, solve_big_m, solve_templates
from unpruned import instance_of_everything

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.solver.candidates import Compiled, compile_case
from gpunet.solver.engines import Engine, solve
from gpunet.solver.optimize import optimize
from gpunet.solver.search import search
from gpunet.solver.workbench import Workbench

LIBRARIES = "import highspy, networkx, numpy, pulp, pydantic, typer, yaml"
"""What ``gpunet optimize`` loads."""
GPUNET = "from gpunet.cli import main; main()"
MB = 1e6 if sys.platform == "darwin" else 1e3
"""Units of the largest resident set in a megabyte: bytes on macOS, kilobytes elsewhere."""
DENSE = "\nsite: {rack: {power_kw: 88}}"
"""Eight servers to a rack, so that runs in the largest room stay within the lengths that are sold."""
BIG_M_LIMIT_S = 120.0

OPTIMIZE = (
    ("256, backend", 256, "\nfabrics: {backend: {}}", False, 3),
    ("256, four fabrics", 256, "", False, 3),
    ("1,024, backend", 1024, "\nfabrics: {backend: {}}", False, 3),
    ("1,024, four fabrics", 1024, "", False, 3),
    ("16,384, backend", 16384, "\nfabrics: {backend: {}}", False, 2),
    ("16,384, backend, with files", 16384, "\nfabrics: {backend: {}}", True, 2),
    ("131,072, backend", 131072, "\nfabrics: {backend: {}}" + DENSE, False, 1),
)
"""GPUs and fabrics; how often each is run, the quickest counts."""

RE_SOLVES = (
    ("256, four fabrics", 256, ""),
    ("1,024, four fabrics", 1024, ""),
    ("16,384, backend", 16384, "\nfabrics: {backend: {}}"),
)
STUDIES = (("256, four fabrics", 256, ""), ("16,384, backend", 16384, "\nfabrics: {backend: {}}"))
FRESH_EVERY = 5
"""Of so many moved prices one is also solved afresh, to compare seconds and answers."""

NARROW = """
cluster: {gpus: 256, server: dgx-h100}
fabrics: {backend: {protocols: [ethernet], max_tiers: 2}, oob: {}}
parts: {allow: [eth-sn5600, eth-n9600-64od, eth-7050cx3-32s, oob-7010tx-48]}
"""
FLAT = ((256, 3), (512, 4), (1024, 4), (2048, 6))
"""GPUs, and switch models to choose from."""


class Used(NamedTuple):
    """What a process used."""

    seconds: float
    peak_mb: float
    output: str


def run(code: str, *words: str) -> Used:
    """Run Python code in a process of its own. Ends the benchmark where it fails."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([sys.executable, "-c", code, *words], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        output = out.read()
    if child.returncode:
        sys.exit(f"{' '.join(words) or code} ended with {child.returncode}: {output}")
    return Used(seconds, usage.ru_maxrss / MB, output)


def quickest(times: int, code: str, *words: str) -> Used:
    """The quickest of several runs."""
    return min((run(code, *words) for _ in range(times)), key=lambda used: used.seconds)


def table(title: str, head: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    """Print a table row by row, as the rows come."""
    print(f"\n## {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def whole_runs() -> Iterator[Sequence[str]]:
    """From the command to the verified report, against loading the same libraries and nothing else."""
    bare = quickest(5, LIBRARIES)
    yield "loading the libraries alone", f"{bare.seconds:.2f}", f"{bare.peak_mb:.0f}", "1", "1"
    with tempfile.TemporaryDirectory() as folder:
        for name, gpus, rest, files, times in OPTIMIZE:
            case = Path(folder) / "case.yaml"
            case.write_text(f"cluster: {{gpus: {gpus}, server: dgx-h100}}{rest}\n", encoding="utf-8")
            words = ["optimize", str(case), *(["-o", str(Path(folder) / "design")] if files else [])]
            used = quickest(times, GPUNET, *words)
            yield (
                name,
                f"{used.seconds:.2f}",
                f"{used.peak_mb:.0f}",
                f"{used.seconds / bare.seconds:.1f}",
                f"{used.peak_mb / bare.peak_mb:.1f}",
            )


def formulations() -> Iterator[Sequence[str]]:
    """The search against the naive program; both must find the same optimum."""
    for gpus, models in FLAT:
        case, catalog = flat_case(gpus, models)
        prices = {
            switch.cages[0].count: switch.price.mid_usd
            for part, switch in catalog.switches.items()
            if part in case.parts.allow and switch.price is not None
        }
        ours, naive = solve_templates(case, catalog), solve_big_m(gpus, prices, BIG_M_LIMIT_S)
        if naive.usd is not None and abs(naive.usd - (ours.usd or 0)) > 0.005:
            sys.exit(f"{gpus} GPUs: the search finds {ours.usd}, the naive program {naive.usd}")
        yield (
            f"{gpus:,}",
            str(models),
            f"{ours.usd or 0:,.0f}",
            "yes" if naive.usd is not None else "no proof",
            f"{ours.lp_usd / (ours.usd or 1):.1%}",
            f"{naive.lp_usd / (ours.usd or 1):.1%}",
            f"{ours.nodes}",
            f"{naive.nodes}",
            f"{ours.seconds:.3f}",
            f"{naive.seconds:.3f}",
            f"{naive.seconds / ours.seconds:.0f}",
        )


def pruning() -> Iterator[Sequence[str]]:
    """The search with its bounds and without; both must find the same optimum."""
    catalog = load_catalog()
    case = case_from_data(yaml.safe_load(NARROW), catalog)
    begun = time.perf_counter()
    found = search(compile_case(case, catalog))
    pruned = time.perf_counter() - begun
    assert found.data is not None
    begun = time.perf_counter()
    everything = instance_of_everything(compile_case(case, catalog))
    outcome = solve(everything, Engine.HIGHS)
    whole = time.perf_counter() - begun
    if outcome.value != found.outcome.value:
        sys.exit(f"pruned {found.outcome.value}, unpruned {outcome.value}")
    for name, data, seconds in (("bounds", found.data, pruned), ("nothing left out", everything, whole)):
        held = sum(map(len, data.templates.values()))
        yield name, f"{held:,}", f"{(outcome.value or 0) / 100:,.2f}", f"{seconds:.2f}", f"{seconds / pruned:.0f}"


def re_solves() -> Iterator[Sequence[str]]:
    """Solving again at other prices in one workbench, against calling ``optimize`` afresh each time."""
    catalog = load_catalog()
    for name, gpus, rest in RE_SOLVES:
        case = case_from_data(yaml.safe_load(f"cluster: {{gpus: {gpus}, server: dgx-h100}}{rest}"), catalog)
        bench = Workbench(case, catalog)
        today, compiled = bench.at({}), bench.compiled
        assert isinstance(compiled, Compiled)
        parts = sorted(today.bought or {})
        prices = [{p: round((compiled.prices.cents(p) or 0) * f)} for p in parts for f in (0.9, 1.1)]
        begun = time.perf_counter()
        answers = [bench.at(price) for price in prices]
        again = (time.perf_counter() - begun) / len(prices)
        begun = time.perf_counter()
        for price, answer in list(zip(prices, answers, strict=True))[::FRESH_EVERY]:
            overrides = {part: cents / 100 for part, cents in price.items()}
            moved = case.model_copy(update={"prices": case.prices.model_copy(update={"overrides_usd": overrides})})
            totals = optimize(moved, catalog).result.totals
            if totals is None or round(totals.cost_usd * 100) != answer.value:
                sys.exit(f"{gpus} GPUs at {price}: {totals} afresh, {answer.value} in the workbench")
        afresh = (time.perf_counter() - begun) / len(prices[::FRESH_EVERY])
        yield name, f"{len(prices)}", f"{1 / again:.1f}", f"{1 / afresh:.1f}", f"{afresh / again:.0f}"


def studies() -> Iterator[Sequence[str]]:
    """A full sensitivity from the command, in two processes."""
    bare = quickest(3, LIBRARIES)
    with tempfile.TemporaryDirectory() as folder:
        for name, gpus, rest in STUDIES:
            case = Path(folder) / "case.yaml"
            case.write_text(f"cluster: {{gpus: {gpus}, server: dgx-h100}}{rest}\n", encoding="utf-8")
            used = run(GPUNET, "sensitivity", str(case), "-j", "2", "--json")
            solves = json.loads(used.output)["solves"]
            yield name, f"{solves:,}", f"{used.seconds:.1f}", f"{used.seconds / bare.seconds:.0f}"


def warm_up() -> None:
    """Load the solver, so that no row pays for it."""
    case, catalog = flat_case(64, 1)
    search(compile_case(case, catalog))


def main() -> None:
    """Run everything."""
    head = ("gpunet optimize", "s", "peak MB", "time : loading", "memory : loading")
    table("Whole runs", head, whole_runs())
    warm_up()
    head = ("GPUs", "prices moved", "solves/s again", "optimize/s afresh", "ratio")
    table("Solving again", head, re_solves())
    table("gpunet sensitivity -j 2", ("GPUs", "solves", "s", "time : loading"), studies())
    head = (
        "GPUs",
        "models",
        "optimum USD",
        "agree",
        "LP bound",
        "big-M",
        "nodes",
        "big-M",
        "s",
        "big-M",
        "ratio",
    )
    table("Templates against big-M", head, formulations())
    table("With and without pruning", ("enumeration", "templates held", "optimum USD", "s", "ratio"), pruning())


if __name__ == "__main__":
    main()
