"""``gpunet watch``: every save is noticed, what it changed is told, mistakes are waited out, Ctrl-C ends it."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest
from sample_design import hand_catalog
from typer.testing import CliRunner

from gpunet import cli
from gpunet.case_file import case_from_data
from gpunet.cli_watch import Saves
from gpunet.models.design import Design, Status
from gpunet.report.blocks import Block, Heading, Paragraph, Table
from gpunet.report.changes_text import changes
from gpunet.shell import Exit
from gpunet.solver.optimize import optimize

CATALOG = hand_catalog()
SMALL = "cluster: {servers: SERVERS, server: dgx-h100}\nfabrics: {backend: {}}\n"
WAITING = "waiting for the next save"


def designed(data: dict[str, Any]) -> Design:
    """A design on the hand catalogue."""
    return optimize(case_from_data(data, CATALOG), CATALOG)


@pytest.fixture(scope="module")
def before() -> Design:
    """Four servers, two fabrics."""
    return designed({"cluster": {"servers": 4, "server": "server-2"}, "fabrics": {"backend": {}, "oob": {}}})


# --- noticing a save --------------------------------------------------------------------------------------------------


class Clock:
    """Stands in for sleeping: at every look at the files, the next thing happens to them."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.steps = list(steps)

    def __call__(self, seconds: float) -> None:
        assert seconds > 0
        assert self.steps, "waited on although the files have come to rest"
        self.steps.pop(0)()


def nothing() -> None:
    """A look at which all is as before."""


def watched(tmp_path: Path, *steps: Callable[[], object]) -> list[Callable[[], object]]:
    """Which of the steps are left when a wait for ``case.yaml`` and ``parts`` ends."""
    clock = Clock(*steps)
    saves = Saves(clock)
    saves.mark([tmp_path / "case.yaml", tmp_path / "parts"])
    saves.wait()
    return clock.steps


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A case and a folder with parts."""
    (tmp_path / "case.yaml").write_text("a")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "modules.yaml").write_text("a")
    return tmp_path


def replaced(path: Path) -> None:
    """Write a file as most editors do: beside the old one, with the same size and time, and then in its place."""
    was = path.stat()
    new = path.with_suffix(".new")
    new.write_text("b" * was.st_size)
    os.utime(new, ns=(was.st_atime_ns, was.st_mtime_ns))
    os.replace(new, path)


def test_a_file_put_in_the_place_of_the_old_one_is_a_save(files: Path) -> None:
    """Even one of the same size and time; and the wait goes on until then."""
    assert watched(files, nothing, nothing, lambda: replaced(files / "case.yaml"), nothing, nothing) == [nothing]


def test_a_file_that_is_still_written_is_waited_for(files: Path) -> None:
    """Emptied, then filled in two goes: one save, told when all of it is there."""
    case = files / "case.yaml"
    steps = (lambda: case.write_text(""), lambda: case.write_text("bc"), lambda: case.write_text("bcd"))
    assert watched(files, *steps, nothing) == []


def test_a_file_that_is_gone_for_a_moment_is_no_loss(files: Path) -> None:
    """Removed at one look and back at the next."""
    case = files / "case.yaml"
    assert watched(files, case.unlink, lambda: case.write_text("back"), nothing) == []


def test_parts_are_watched_too(files: Path) -> None:
    """A part changed, and a file of parts added."""
    assert watched(files, lambda: (files / "parts" / "modules.yaml").write_text("ab"), nothing) == []
    assert watched(files, lambda: (files / "parts" / "cables.yaml").write_text("a"), nothing) == []


def test_a_save_during_the_work_is_not_missed(files: Path) -> None:
    """What was saved between the mark and the wait is found at the first looks."""
    clock = Clock(nothing, nothing)
    saves = Saves(clock)
    saves.mark([files / "case.yaml"])
    replaced(files / "case.yaml")
    saves.wait()
    assert clock.steps == []


# --- what changed -----------------------------------------------------------------------------------------------------


def tables(blocks: list[Block]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Tables by the heading over them, rows by their first cell."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for heading, table in itertools.pairwise(blocks):
        if isinstance(heading, Heading):
            assert isinstance(table, Table)
            rows = [tuple(c if isinstance(c, str) else c.text for c in row) for row in table.rows]
            found[heading.text] = {row[0]: row[1:] for row in reversed(rows) if row[0]}
    return found


def told(blocks: list[Block]) -> str:
    """The paragraph that comes first."""
    assert isinstance(blocks[0], Paragraph)
    return blocks[0].text


def test_nothing_changed_is_said_in_a_line(before: Design) -> None:
    """The same design again: no table."""
    blocks = changes(before, before)
    assert len(blocks) == 1
    assert "as before" in told(blocks)
    assert "The same design as before." in told(blocks)


def test_every_line_that_differs_is_told(before: Design) -> None:
    """The differences of the lines of the bill add up to that of the cost; equal lines are left out."""
    now = designed(
        {"cluster": {"servers": 8, "server": "server-2"}, "fabrics": {"backend": {"protocols": ["infiniband"]}}}
    )
    assert before.result.totals is not None
    assert now.result.totals is not None
    blocks = changes(before, now)
    found = tables(blocks)
    assert found["Settings that changed"]["cluster.servers"] == ("4", "8")
    assert found["Settings that changed"]["fabrics.backend.protocols"] == ("infiniband, ethernet", "infiniband")
    assert found["Settings that changed"]["fabrics.oob"] == ("designed", "left out")
    assert "fabrics.oob.max_tiers" not in found["Settings that changed"]
    assert found["Fabrics that changed"]["oob"][0] == "built as"
    assert found["Fabrics that changed"]["oob"][2] == "-"
    bill = found["Lines of the bill that changed"]
    more = sum(float(row[4].replace(",", "")) for row in bill.values())
    assert more == pytest.approx(now.result.totals.cost_usd - before.result.totals.cost_usd)
    quantities = [{line.part: line.quantity for line in design.result.bom} for design in (before, now)]
    different = {part for part in quantities[0] | quantities[1] if quantities[0].get(part) != quantities[1].get(part)}
    assert set(bill) == different
    cost = found["Totals that changed"]["cost USD"]
    assert cost == tuple(
        form.format(amount)
        for form, amount in (
            ("{:,.2f}", before.result.totals.cost_usd),
            ("{:,.2f}", now.result.totals.cost_usd),
            ("{:+,.2f}", more),
        )
    )


def test_a_price_alone_changes_no_design(before: Design) -> None:
    """A line that only costs more is told as such, with the quantity as it was."""
    line = before.result.bom[0]
    dearer = line.model_copy(update={"extended_usd": line.extended_usd + 10})
    totals = before.result.totals
    assert totals is not None
    result = before.result.model_copy(
        update={
            "bom": (dearer, *before.result.bom[1:]),
            "totals": totals.model_copy(update={"cost_usd": totals.cost_usd + 10}),
            "status": Status.FEASIBLE,
            "gap": 0.02,
        }
    )
    blocks = changes(before, replace(before, result=result))
    assert "10.00 more" in told(blocks)
    assert "stopped early, within 2.0 % of the best" in told(blocks)
    (row,) = tables(blocks)["Lines of the bill that changed"].values()
    assert row[1] == row[2]
    assert row[4] == "+10.00"


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """``gpunet watch`` at work on the case of a folder."""
    (tmp_path / "case.yaml").write_text(SMALL.replace("SERVERS", "4"))
    code = "import sys; sys.argv = ['gpunet', 'watch', 'case.yaml']; from gpunet.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def until_it_waits(stream: IO[str] | None) -> str:
    """What the program says until it waits for a save."""
    assert stream is not None
    said: list[str] = []
    for line in stream:
        said.append(line)
        if WAITING in line:
            return "".join(said)
    raise AssertionError(f"ended with: {''.join(said)}")


def save(path: Path, text: str) -> None:
    """Save as an editor does."""
    new = path.with_suffix(".swp")
    new.write_text(text)
    os.replace(new, path)


def test_a_session(program: subprocess.Popen[str], tmp_path: Path) -> None:
    """Answer; a save and what it changed; a mistake and a case without a design, waited out; Ctrl-C: 130, one line."""
    case = tmp_path / "case.yaml"
    assert "Proven optimal" in until_it_waits(program.stdout)
    save(case, SMALL.replace("SERVERS", "8"))
    said = until_it_waits(program.stdout)
    assert "cluster.servers" in said
    assert "Lines of the bill that changed" in said
    save(case, SMALL.replace("SERVERS", "eight"))
    assert "case.yaml:1:20: cluster.servers: found 'eight'" in until_it_waits(program.stdout)
    save(case, SMALL.replace("SERVERS", "8") + "limits: {cost_usd: 1}\n")
    assert "no design meets the case" in until_it_waits(program.stdout)
    save(case, SMALL.replace("SERVERS", "8"))
    assert "as before; proven optimal" in until_it_waits(program.stdout)
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=30)[0] == "gpunet: stopped by Ctrl-C\n"
    assert program.returncode == Exit.INTERRUPTED


QUOTE = "supplier: one\nlines:\n- {part: ib-qm9700, unit_usd: PRICE}\n"


def test_quotes_are_watched_too(program: subprocess.Popen[str], tmp_path: Path) -> None:
    """A quote that the case names since its last save: its price in a file of its own changes the totals."""
    quotes = tmp_path / "quotes"
    quotes.mkdir()
    (quotes / "one.yaml").write_text(QUOTE.replace("PRICE", "20000"))
    assert "Proven optimal" in until_it_waits(program.stdout)
    text = SMALL.replace("{backend: {}}", "{backend: {protocols: [infiniband], parts: {allow: [ib-qm9700]}}}")
    save(tmp_path / "case.yaml", text.replace("SERVERS", "4") + "quotes: [quotes/one.yaml]\n")
    assert "fabrics.backend.parts.allow" in until_it_waits(program.stdout)
    save(quotes / "one.yaml", QUOTE.replace("PRICE", "20500"))
    said = until_it_waits(program.stdout)
    assert "500.00 more" in said
    assert re.search(r"^quotes\[0\]\.lines\[0\]\.unit_usd +20000 +20500$", said, re.MULTILINE)
    save(quotes / "one.yaml", QUOTE.replace("PRICE", "much"))
    assert "one.yaml:3:" in until_it_waits(program.stdout)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("nowhere.yaml",), "nowhere.yaml: no such file"),
        (("case.yaml", "--time-limit", "-1"), "expected a positive number of seconds"),
        (("case.yaml", "--objective", "beauty"), "'beauty'"),
    ],
)
def test_what_no_save_would_mend_is_refused(
    words: tuple[str, ...], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not there, and wrong options, end the command at once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "case.yaml").write_text(SMALL.replace("SERVERS", "4"))
    done = CliRunner().invoke(cli.app, ["watch", *words])
    assert done.exit_code == Exit.BAD_INPUT
    assert expected in done.output
