"""Standard output while work goes on: native chatter is dropped, results are not, however runs follow or overlap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpunet import cli, progress


class Run(threading.Thread):
    """A run in a thread of its own, which chatters when it starts and goes on until it is let go."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._begun, self._over = threading.Event(), threading.Event()
        self.start()
        assert self._begun.wait(10)

    def run(self) -> None:
        progress.run("designing", self._work)

    def _work(self, _: progress.Tell) -> None:
        os.write(1, b"banner\n")
        self._begun.set()
        self._over.wait(10)

    def finish(self) -> None:
        """Let the run end, and wait for it."""
        self._over.set()
        self.join(10)
        assert not self.is_alive()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_overlapping_runs_leave_standard_output_as_it_was(
    order: tuple[int, int], capfd: pytest.CaptureFixture[str]
) -> None:
    """Whichever ends first, the silence ends with the last: what is printed then is read."""
    runs = [Run(), Run()]
    runs[order[0]].finish()
    os.write(1, b"still working\n")
    runs[order[1]].finish()
    os.write(1, b"result\n")
    assert capfd.readouterr().out == "result\n"


def test_run_after_run_prints_every_result(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing of one run is left to the next, neither a file nor a silence."""
    before = open_files()
    for n in range(50):
        progress.run("designing", lambda _: os.write(1, b"banner\n"))
        os.write(1, b"%d\n" % n)
    assert capfd.readouterr().out == "".join(f"{n}\n" for n in range(50))
    assert open_files() == before


def open_files() -> int:
    """Files that this process has open."""
    return sum(1 for number in range(256) if is_open(number))


def is_open(number: int) -> bool:
    """Whether a file descriptor is in use."""
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def broken(_: progress.Tell) -> None:
    """Work that fails."""
    raise ZeroDivisionError


def quiet(_: progress.Tell) -> None:
    """Work that does nothing."""


@pytest.mark.parametrize("work", [broken, quiet])
def test_a_run_that_fails_ends_its_silence(
    work: Callable[[progress.Tell], None], capfd: pytest.CaptureFixture[str]
) -> None:
    """An error on the way is no reason to stay silent."""
    try:
        progress.run("designing", work)
    except ZeroDivisionError:
        assert work is broken
    os.write(1, b"result\n")
    assert capfd.readouterr().out == "result\n"


def test_closed_standard_output_is_no_obstacle() -> None:
    """A program without standard output works all the same."""
    script = (
        "import os, sys\nfrom gpunet import progress\nos.close(1)\nsys.stdout = None\n"
        "sys.exit(progress.run('designing', lambda _: 7))"
    )
    done = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


def test_a_command_run_again_and_again_says_the_same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """In one process, under a captured standard output, each run prints its whole result and nothing beside it."""
    case = tmp_path / "case.yaml"
    case.write_text("cluster: {servers: 4, server: dgx-h100}\nfabrics: {backend: {}}\n")
    said = []
    for _ in range(8):
        done = CliRunner().invoke(cli.app, ["optimize", str(case), "--json"])
        assert done.exit_code == 0, done.output
        said.append(json.loads(done.stdout) | {"seconds": 0})
    assert said[0]["status"] == "optimal"
    assert said == [said[0]] * 8
    assert capfd.readouterr() == ("", "")
