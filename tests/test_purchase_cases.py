"""Shipped cases under rules of buying and laying: their cost by hand, and what they cost without the rule."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_answers import CASES

from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.models.design import BomLine, Result
from gpunet.solver.optimize import optimize

CATALOG = load_catalog()
KNOWN: dict[str, dict[str, Any]] = {
    name: known
    for name, known in yaml.safe_load((Path(__file__).parent / "known_answers.yaml").read_text()).items()
    if "lines" in known
}
SPARE = "spares"
OPTICS = ("module", "cable", "fibre")


@cache
def solved(name: str) -> Result:
    """A shipped case, solved once."""
    return optimize(read_case(CASES / f"{name}.yaml", CATALOG), CATALOG).result


def cost_usd(result: Result) -> float:
    """What a design costs, USD."""
    assert result.totals is not None, result.reasons
    return result.totals.cost_usd


def in_use(result: Result) -> Counter[str]:
    """Pieces of the design by part, what is bought beside them left out."""
    found: Counter[str] = Counter()
    for line in result.bom:
        found[line.part] += line.quantity
    return found


@pytest.mark.parametrize("name", KNOWN)
def test_the_cost_is_what_the_header_adds_up(name: str) -> None:
    """Pieces and prices written down by hand come to the cost to the cent."""
    by_hand = sum(round(line["pieces"] * line["usd"] * 100) for line in KNOWN[name]["lines"])
    assert round(cost_usd(solved(name)) * 100) == by_hand


RULES = [(name, rule) for name, known in KNOWN.items() for rule in known["without"]]


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_the_rule_is_what_decides(name: str, rule: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its rule the case costs what is known of it, and where the rule turns the design it is another one."""
    monkeypatch.chdir(CASES)
    data = yaml.safe_load(Path(f"{name}.yaml").read_text())
    inside: Any = data
    *path, last = rule["field"]
    for key in path:
        inside = inside[key]
    del inside[last]
    free = optimize(case_from_data(data, CATALOG, name), CATALOG).result
    assert cost_usd(free) == rule["cost_usd"]
    if rule.get("another_design"):
        assert in_use(free) != in_use(solved(name))


def bought_usd(line: BomLine) -> float:
    """What a line costs without its spares, USD."""
    return line.extended_usd - line.spares * line.unit_price_usd


def test_which_parts_of_a_published_saving_hold() -> None:
    """Eight switches in the house save more in switches than is published, part of the spares and no adapters."""
    owned, new = solved("reuse-256-owned"), solved("reuse-256-new")
    found = {
        "switches": _difference(owned, new, ("switch",)),
        "adapters": _difference(owned, new, ("nic",)),
        "spares": sum(x.spares * x.unit_price_usd for x in new.bom)
        - sum(x.spares * x.unit_price_usd for x in owned.bom),
        "optics": _difference(owned, new, OPTICS),
    }
    assert found == KNOWN["reuse-256-owned"]["found_usd"]
    assert sum(found.values()) == cost_usd(new) - cost_usd(owned)
    published = KNOWN["reuse-256-owned"]["saving_usd"]
    assert sum(published.values()) == 180_000
    assert found["switches"] > published["switches"]
    assert 0 < found[SPARE] < published[SPARE]
    assert found["adapters"] == 0 < published["adapters"]


def _difference(owned: Result, new: Result, kinds: tuple[str, ...]) -> float:
    def total(result: Result) -> float:
        return sum(bought_usd(line) for line in result.bom if line.kind in kinds)

    return total(new) - total(owned)
