"""The sketch of a design in a wide terminal says what the design says, and stays away where there is no room."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from sample_design import CASE, converged, hand_catalog, two_by_two, two_pods
from typer.testing import CliRunner

from gpunet import cli
from gpunet.models.design import Design
from gpunet.report.design_text import design_page
from gpunet.report.screen import Screen, render
from gpunet.report.sketch import WIDE, sketch
from gpunet.shell import Exit

CATALOG = hand_catalog()
DESIGNS = {"two tiers": two_by_two, "three tiers": two_pods, "converged": lambda: converged(1.0)}


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest) -> Design:
    made: Design = DESIGNS[request.param]()
    return made


def shown(design: Design, width: int = 120, unicode: bool = False) -> str:
    """The sketches alone, on a page of some width."""
    return render(sketch(design, CATALOG), Screen(width, unicode=unicode))


def figures(found: list[tuple[str, str]]) -> Counter[str]:
    """Sums by name of what stands in front of it."""
    counts: Counter[str] = Counter()
    for number, name in found:
        counts[name] += int(number.replace(",", ""))
    return counts


def test_the_stack_counts_what_the_ledger_holds(design: Design) -> None:
    """Switches by part and links by speed are those of the ledger; a fabric that rides on another stands beside it."""
    text = shown(design)
    parts = figures(re.findall(r"\| ([\d,]+) x ([\w-]+)", text))
    assert parts == Counter(d.part for d in design.ledger.devices if d.kind == "switch")
    links = figures(re.findall(r"(?<!\| )\b([\d,]+) x (\d+G)", text))
    assert links == Counter(f"{link.speed_gbps:g}G" for link in design.ledger.links)
    servers = sum(d.kind == "server" for d in design.ledger.devices)
    own = [name for name, fabric in design.result.fabrics.items() if not fabric.shared_with]
    assert text.count(f"| {servers} servers") == len(own)
    if any(fabric.shared_with for fabric in design.result.fabrics.values()):
        assert text.startswith("backend + storage")


def test_the_bars_add_up(design: Design) -> None:
    """Amounts at the bars are the totals of the result; the longest bar is the dearest and the hottest fabric."""
    lines = [line for line in shown(design).splitlines() if " USD" in line]
    totals = design.result.totals
    assert totals is not None
    usd = [float(re.findall(r"([\d,.]+) USD", line)[0].replace(",", "")) for line in lines]
    kw = [float(re.findall(r"([\d,.]+) kW", line)[0].replace(",", "")) for line in lines]
    assert sum(usd) == pytest.approx(totals.cost_usd, abs=0.005)
    assert sum(kw) == pytest.approx(totals.power_max_w / 1000, abs=0.006 * len(kw))
    for amounts, column in ((usd, 0), (kw, 1)):
        bars = [len(re.findall(r"(?<= )[#=:.\-~]+(?= )", line)[column]) for line in lines]
        assert bars[amounts.index(max(amounts))] == max(bars) == 30
        for amount, bar in zip(amounts, bars, strict=True):
            assert bar == pytest.approx(30 * amount / max(amounts), abs=1.2)


def test_every_kind_in_a_bar_is_named() -> None:
    """The line under the bars explains each of their characters, and no other."""
    lines = shown(two_by_two()).splitlines()
    used = {
        mark for line in lines if " USD" in line for bar in re.findall(r"(?<= )[#=:.\-~]+(?= )", line) for mark in bar
    }
    named = dict(re.findall(r"(\S) (\w+)", lines[-1]))
    assert used <= set(named)
    assert set(named.values()) == {"module", "part", "switch"}


@pytest.mark.parametrize("width", [WIDE, 120, 200])
def test_nothing_leaves_the_page(design: Design, width: int) -> None:
    """No line is longer than the page, whatever its width."""
    assert max(map(len, shown(design, width).splitlines())) <= width


def test_fabrics_wrap_where_the_page_ends() -> None:
    """Stacks that do not fit side by side stand under one another."""
    side_by_side = sketch(two_by_two(), CATALOG)[0].draw(60, False)  # type: ignore[union-attr]
    stacked = sketch(two_by_two(), CATALOG)[0].draw(30, False)  # type: ignore[union-attr]
    assert side_by_side[0].split() == ["backend", "oob"]
    assert [line for line in stacked if line and line[0] not in "+| "] == ["backend", "oob"]


def test_a_narrow_page_goes_without() -> None:
    """Below the least width the report is the one without sketches, line for line."""
    design = two_by_two(CASE)
    for width in (40, 80, WIDE - 1):
        assert shown(design, width) == ""
        assert "+--" not in render(design_page(design, CATALOG), Screen(width))
    assert "+--" in render(design_page(design, CATALOG), Screen(WIDE))


def test_box_characters_only_where_they_can_be_shown() -> None:
    """Plain characters in files and on screens of another encoding."""
    assert shown(two_by_two()).isascii()
    boxes = shown(two_by_two(), unicode=True)
    assert set("┌┐└┘─│┬┴█×") <= set(boxes)
    assert not set("+|#") & set(boxes.replace("backend + ", ""))


@pytest.mark.parametrize(("columns", "expected"), [("80", False), ("120", True), ("", True)])
def test_the_command_sketches_on_wide_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str, expected: bool
) -> None:
    """``optimize`` sketches on wide pages, 120 columns where nobody says; never in JSON."""
    case = tmp_path / "case.yaml"
    case.write_text("cluster: {gpus: 8, server: dgx-h100}\nfabrics: {backend: {}}\n", encoding="utf-8")
    monkeypatch.setenv("COLUMNS", columns)
    done = CliRunner().invoke(cli.app, ["optimize", str(case)])
    assert done.exit_code == Exit.DONE, done.output
    assert ("largest draw\n" in done.stdout, "+- leaf" in done.stdout) == (expected, expected)
    if expected:
        plain = CliRunner().invoke(cli.app, ["optimize", str(case), "--json"])
        assert "+- leaf" not in plain.stdout
