"""The Tab key: commands, options, their values, case files and parts, in the shells that people use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from outside_tools import tool
from typer.testing import CliRunner

from gpunet import cli, completion
from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.cli_compare import WORDS
from gpunet.models.case import FabricName, Objective
from gpunet.report.part_text import names_of

GPUNET = "import sys; sys.argv[0] = 'gpunet'; from gpunet.cli import main; main()"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two cases, a folder of cases, and things that are none."""
    for name in ("alpha.yaml", "beta.yml", "notes.txt", "result.json", "cases/gamma.yaml", "cases/deep/delta.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "with blank.yaml").touch()
    (tmp_path / ".hidden.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*words: str) -> list[str]:
    """What is offered for the last of the words."""
    line = " ".join(["gpunet", *words])
    env = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), "_GPUNET_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(cli.app, [], prog_name="gpunet", env=env)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output.split()


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("wat",), ["watch"]),
        (("optimize", "a"), ["alpha.yaml"]),
        (("watch", ""), ["alpha.yaml", "beta.yml", "cases/"]),
        (("optimize", "./b"), ["./beta.yml"]),
        (("optimize", ".h"), [".hidden.yaml"]),
        (("optimize", "ca"), ["cases/deep/", "cases/gamma.yaml"]),
        (("optimize", "cases/d"), ["cases/deep/delta.yaml"]),
        (("optimize", "nowhere/"), []),
        (("optimize", "with"), []),
        (("verify", "r"), ["result.json"]),
        (("optimize", "alpha.yaml", "--eng"), ["--engine"]),
        (("optimize", "alpha.yaml", "--engine", ""), ["highs", "scip", "cp-sat"]),
        (("optimize", "alpha.yaml", "--objective", "p"), ["power"]),
        (("optimize", "alpha.yaml", "--objective", "power,"), ["power,cost", "power,tco"]),
        (("frontier", "alpha.yaml", "--y", "g"), ["gpus"]),
        (("compare", "alpha.yaml", "--by", "p"), ["protocol", "placement"]),
        (("compare", "alpha.yaml", "--by", "be"), ["beta.yml"]),
        (("alternatives", "alpha.yaml", "--fabric", "s"), ["storage"]),
        (("export", "alpha.yaml", "--to", "gr"), ["graphml"]),
        (("labels", "alpha.yaml", "--sheet", "a4-3"), ["a4-3x8"]),
        (("catalog", "sh"), ["show"]),
        (("catalog", "list", "sw"), ["switch"]),
        (("catalog", "list", "--vendor", "nv"), ["nvidia"]),
        (("catalog", "show", "ib-qm97"), ["ib-qm9700", "ib-qm9701"]),
    ],
)
def test_what_is_offered(words: tuple[str, ...], expected: list[str]) -> None:
    """Commands, options, their values, cases with the folders on the way, and parts by their id."""
    assert offered(*words) == expected


def test_a_wrong_folder_of_parts_is_no_error(desk: Path) -> None:
    """Nothing is offered, and nothing is said."""
    assert offered("catalog", "show", "--catalog", str(desk / "nowhere"), "ib") == []


def test_every_part_that_is_offered_can_be_shown() -> None:
    """Ids alone, each once."""
    names = completion.part_ids(type("Words", (), {"params": {}}), "")
    assert sorted(set(names_of(load_catalog()).values())) == names


def test_the_words_are_those_of_the_case() -> None:
    """The short lists that need no import agree with the models."""
    assert set(completion.OBJECTIVES) == set(Objective)
    assert set(completion.FABRICS) == set(FabricName)
    assert completion.WORDS is WORDS
    assert case_from_data({"cluster": {"gpus": 8, "server": "dgx-h100"}}, load_catalog()).objective in (
        completion.OBJECTIVES
    )


FILES = {
    "bash": ".bash_completions/gpunet.sh",
    "zsh": ".zfunc/_gpunet",
    "fish": ".config/fish/completions/gpunet.fish",
}
"""Where each shell finds the completion."""


@pytest.fixture(params=FILES)
def shell(request: pytest.FixtureRequest, desk: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A shell in which a person with a home of their own has installed completion."""
    name: str = request.param
    program = tool(name)
    home = desk / "home"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "gpunet").write_text(f'#!/bin/sh\nexec \'{sys.executable}\' -c "{GPUNET}" "$@"\n')
    (home / "bin" / "gpunet").chmod(0o755)
    for variable in [name for name in os.environ if name.startswith(("XDG_", "ZDOTDIR"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("TERM", "vt100")
    installed = pexpect.run(f"{program} -c 'gpunet --install-completion; true'", encoding="utf-8", timeout=60)
    assert f"{name} completion installed" in installed
    assert (home / FILES[name]).exists()
    return name


def test_installed_completion_works_in_a_new_shell(shell: str) -> None:
    """Tab writes out a command, a case and the value of an option."""
    program = tool(shell)
    if shell == "fish":
        # It says by itself what it would offer.
        for line, word in (("optim", "optimize"), ("optimize al", "alpha.yaml"), ("optimize a --engine sc", "scip")):
            words = [program, "-c", f"complete --do-complete 'gpunet {line}'"]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            assert [offer.split("\t")[0] for offer in done.stdout.splitlines()] == [word]
        return
    session = pexpect.spawn(program, ["-i"], encoding="utf-8", timeout=60, dimensions=(24, 200))
    session.send("gpunet optim\t")
    if shell == "zsh":
        # Its first Tab only loads the function, and beeps.
        session.expect("\a")
        session.send("\t")
    session.expect("ize")
    session.send("al\t")
    session.expect("pha.yaml")
    session.send(" --engine sc\t")
    session.expect("ip")
    session.sendcontrol("c")
    session.close(force=True)
