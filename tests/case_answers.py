"""The answer that stands in the header of every shipped case, read and written.

A header ends in a block that tells what gpunet finds, such as

    # Answer: optimal, 928,888.00 USD, 22.816 kW
    #   backend: 8 x ib-qm9700 leaf, 4 x ib-qm9700 spine

Tests hold every block to what is found. After a change of the catalogue or the rules that ought to move answers:
``python tests/case_answers.py`` rewrites the blocks, and the diff is there to be read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.models.design import Result
from gpunet.solver.optimize import optimize

CASES = Path(__file__).parent.parent / "cases"
FIRST, MORE = "# Answer: ", "#   "


def case_paths() -> list[Path]:
    """Every shipped case."""
    return sorted(CASES.glob("*.yaml"))


def answer_of(result: Result) -> list[str]:
    """The lines that tell a result."""
    if result.totals is None:
        return [FIRST + result.status.value]
    found = [
        f"{FIRST}{result.status.value}, {result.totals.cost_usd:,.2f} USD, {result.totals.power_max_w / 1000:,.3f} kW"
    ]
    for name, fabric in result.fabrics.items():
        tiers = ", ".join(f"{tier.count} x {tier.switch} {tier.tier}" for tier in fabric.tiers)
        found.append(f"{MORE}{name}: {tiers or f'on the switches of the {fabric.shared_with}'}")
    return found


def written_answer(path: Path) -> list[str]:
    """The lines that stand in the header."""
    lines = path.read_text().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(FIRST)), len(lines))
    end = start + 1
    while end < len(lines) and lines[end].startswith(MORE):
        end += 1
    return lines[start:end]


def write_answer(path: Path, answer: list[str]) -> None:
    """Put an answer at the end of the header."""
    old = set(written_answer(path))
    lines = [line for line in path.read_text().splitlines() if line not in old]
    header = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    path.write_text("\n".join([*lines[:header], *answer, *lines[header:]]) + "\n")


def main(names: list[str]) -> None:
    """Rewrite the answers of the cases named, or of all."""
    catalog = load_catalog()
    for path in case_paths():
        if not names or path.stem in names:
            write_answer(path, answer_of(optimize(read_case(path, catalog), catalog).result))


if __name__ == "__main__":
    main(sys.argv[1:])
