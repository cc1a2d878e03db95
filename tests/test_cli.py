"""The command line: exit codes, one message for every error, JSON alone on standard output, nothing lost."""

from __future__ import annotations

import ctypes
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample_design import hand_catalog, two_by_two, with_result
from typer.testing import CliRunner

import gpunet
from gpunet import cli, progress
from gpunet.catalogs import PART_KINDS
from gpunet.design_file import write_design
from gpunet.models.case import Case
from gpunet.models.design import Check, Design, Result, Status, Verification
from gpunet.models.problems import InputError
from gpunet.shell import Exit
from gpunet.solver.engines import Engine
from gpunet.solver.verify import verify

CATALOG = hand_catalog()
FILES = {"design.json", "bom.csv", "cabling.csv", "racks.csv"}
CASE = "cluster: {servers: 4, server: server-2}\nfabrics: {backend: {}, oob: {}}\n"
SMALL = "cluster: {servers: 4, server: dgx-h100}\nfabrics: {backend: {}}\n"
"""A case of the shipped catalogue that solves at once."""


def run(*words: str | Path) -> Any:
    """Run a command in this process."""
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def program(script: str, *words: str, **options: Any) -> subprocess.Popen[bytes]:
    """Run a script that ends in ``main()`` as the program would run."""
    code = f"import sys\nsys.argv = ['gpunet', *{list(words)!r}]\n{script}\nfrom gpunet.cli import main\nmain()"
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, **options)


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case of the hand catalogue."""
    path = tmp_path / "case.yaml"
    path.write_text(CASE)
    return path


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Stands in for the solver: ``solved(status=…)`` makes it return a design with these fields in its result."""
    monkeypatch.setattr("gpunet.catalogs.load_catalog", lambda _=(): CATALOG)
    asked: dict[str, Any] = {}

    def answer(**fields: Any) -> dict[str, Any]:
        design = two_by_two(catalog=CATALOG)
        fields = {"verify": verify(design, CATALOG), "engine": "highs", "seconds": 1.5, **fields}

        def optimize(case: Case, _catalog: object, **options: Any) -> Design:
            asked.update(options, case=case)
            return with_result(design, **fields)

        monkeypatch.setattr("gpunet.solver.optimize.optimize", optimize)
        return asked

    return answer


# --- starting ---------------------------------------------------------------------------------------------------------


def test_nothing_heavy_is_imported_for_help() -> None:
    """Loading the command line loads no solver, no table library, no models and no colours."""
    heavy = ["pulp", "ortools", "highspy", "pandas", "numpy", "networkx", "pydantic", "rich", "yaml"]
    code = f"import gpunet.cli, sys; print([m for m in {heavy!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [(), ("optimize",), ("verify",), ("catalog",), ("catalog", "list"), ("schema",)])
def test_every_command_has_help(words: tuple[str, ...]) -> None:
    """Help for everything, with examples where there are several ways to use it."""
    found = run(*words, "--help")
    assert found.exit_code == Exit.DONE
    assert "Usage: " in found.stdout
    if words not in (("schema",), ("catalog", "list")):
        assert "Example" in found.stdout
        assert "gpunet " in found.stdout


def test_version_is_that_of_the_package() -> None:
    """The version stands in two places, which agree."""
    from importlib.metadata import version

    found = run("--version")
    assert (found.exit_code, found.stdout) == (Exit.DONE, f"gpunet {version('gpunet')}\n")
    assert gpunet.__version__ == version("gpunet")


def test_the_engines_offered_are_those_there_are() -> None:
    """The command line names the engines without importing them."""
    assert {name.value for name in cli.EngineName} == {engine.value for engine in Engine}


# --- optimize ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": Status.OPTIMAL}, Exit.DONE),
        ({"status": Status.FEASIBLE, "gap": 0.02, "bound": 42000.0}, Exit.STOPPED_EARLY),
        ({"status": Status.INFEASIBLE, "totals": None, "verify": None, "reasons": ("limits.cost_usd: low",)}, 1),
        ({"status": Status.NO_SOLUTION, "totals": None, "verify": None, "reasons": ("limits.x: slow",)}, 1),
        ({"status": Status.FAILED, "totals": None, "verify": None, "reasons": ("limits.y: crash",)}, 1),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_exit_codes_of_optimize(
    case: Path, solved: Callable[..., Any], fields: dict[str, Any], expected: int, as_json: bool
) -> None:
    """Done, stopped early and without a design are told apart; JSON alone stands on standard output where asked for."""
    solved(**fields)
    found = run("optimize", case, *(["--json"] if as_json else []))
    assert found.exit_code == expected
    if as_json:
        result = Result.model_validate(json.loads(found.stdout))
        assert (result.status, result.seconds) == (fields["status"], 1.5)
        assert result.reasons == fields.get("reasons", ())
    if expected == Exit.FAILED:
        assert fields["reasons"][0] in found.stderr
        assert as_json or found.stdout == ""
    else:
        assert found.stderr == ""


def test_a_design_that_fails_its_check_is_not_handed_out(
    case: Path, solved: Callable[..., Any], tmp_path: Path
) -> None:
    """A design that is not verified is neither shown nor written; what is wrong is named."""
    wrong = Verification(passed=False, checks=(Check(name="reach", passed=False, detail="too short"),))
    solved(status=Status.FAILED, verify=wrong)
    found = run("optimize", case, "-o", tmp_path / "out")
    assert found.exit_code == Exit.FAILED
    assert "reach: too short" in found.stderr
    assert "must not be built" in found.stderr
    assert found.stdout == ""
    assert not (tmp_path / "out").exists()


def test_options_reach_the_solver(case: Path, solved: Callable[..., Any]) -> None:
    """Engine, time limit and objective of the command line are those of the run; the case keeps its name."""
    asked = solved()
    found = run("optimize", case, "--engine", "cp-sat", "--time-limit", "7.5", "--objective", "power,cost")
    assert found.exit_code == Exit.DONE
    assert (asked["engine"], asked["time_limit_s"]) == ("cp-sat", 7.5)
    assert [o.value for o in asked["case"].objectives] == ["power", "cost"]
    assert asked["case"].name == "case"
    run("optimize", case)
    assert (asked["engine"], asked["time_limit_s"]) == ("highs", None)
    assert [o.value for o in asked["case"].objectives] == ["cost"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--engine", "gurobi"), "--engine"),
        (("--objective", "beauty"), "found 'beauty'"),
        (("--objective", "cost,cost"), "each at most once"),
        (("--objective", ""), "expected cost, power, tco"),
        (("--time-limit", "0"), "positive number of seconds"),
        (("--time-limit", "-3"), "positive number of seconds"),
        (("--time-limit", "nan"), "positive number of seconds"),
        (("--time-limit", "inf"), "positive number of seconds"),
        (("--time-limit", "soon"), "--time-limit"),
        (("--colour",), "--colour"),
    ],
)
def test_wrong_options_are_refused(
    case: Path, solved: Callable[..., Any], words: tuple[str, ...], expected: str
) -> None:
    """A wrong option ends with exit code 2 before any work, and the message names what was found."""
    asked = solved()
    found = run("optimize", case, *words)
    assert found.exit_code == Exit.BAD_INPUT
    assert expected in found.stderr
    assert found.stdout == ""
    assert not asked


def test_a_wrong_case_is_told_with_line_and_column(tmp_path: Path) -> None:
    """All problems on standard error in one message; with --json also as data on standard output."""
    path = tmp_path / "wrong.yaml"
    path.write_text("cluster:\n  gpus: 64\n  server: dgx-h1000\nobjectiv: cost\n")
    found = run("optimize", path)
    assert (found.exit_code, found.stdout) == (Exit.BAD_INPUT, "")
    assert f"{path}:3:" in found.stderr
    assert f"{path}:4:" in found.stderr
    as_json = run("optimize", path, "--json")
    assert as_json.exit_code == Exit.BAD_INPUT
    data = json.loads(as_json.stdout)
    assert data["error"]
    assert [(p["line"], p["nearest"]) for p in data["problems"]] == [(3, "dgx-h100"), (4, "objective")]
    assert as_json.stderr == found.stderr


@pytest.mark.parametrize("name", ["absent.yaml", "", "folder"])
def test_a_case_that_cannot_be_read_is_one_message(tmp_path: Path, name: str) -> None:
    """No file, an empty name and a folder are bad input like any other."""
    (tmp_path / "folder").mkdir()
    found = run("optimize", tmp_path / name)
    assert found.exit_code == Exit.BAD_INPUT
    assert found.stderr.strip()
    assert "Traceback" not in found.stderr


def test_a_wrong_catalogue_folder_is_one_message(tmp_path: Path, case: Path) -> None:
    """A folder for --catalog that is none is bad input."""
    found = run("optimize", case, "--catalog", tmp_path / "absent")
    assert found.exit_code == Exit.BAD_INPUT
    assert "absent" in found.stderr


# --- files ------------------------------------------------------------------------------------------------------------


def test_all_files_are_written(case: Path, solved: Callable[..., Any], tmp_path: Path) -> None:
    """-o writes the four files, says so on standard error, and leaves the report where it was."""
    solved()
    plain = run("optimize", case)
    found = run("optimize", case, "-o", tmp_path / "deep" / "out")
    assert found.exit_code == Exit.DONE
    assert {path.name for path in (tmp_path / "deep" / "out").iterdir()} == FILES
    assert found.stdout == plain.stdout
    assert "deep/out" in found.stderr


@pytest.mark.parametrize("spoil", ["file", "file above", "locked"])
def test_a_place_that_cannot_be_written_is_told_before_the_work(
    case: Path, solved: Callable[..., Any], tmp_path: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits an hour to hear that the directory was a file."""
    asked = solved()
    out = tmp_path / "out"
    if spoil == "locked":
        out.mkdir()
        monkeypatch.setattr("os.access", lambda *_: False)
    else:
        out.write_text("mine")
    found = run("optimize", case, "-o", out / "sub" if spoil == "file above" else out)
    assert found.exit_code == Exit.BAD_INPUT
    assert "nothing was changed" in found.stderr
    assert len(found.stderr.splitlines()) == 1
    assert not asked
    assert out.is_dir() or out.read_text() == "mine"


def test_a_disk_that_fails_late_loses_no_design(case: Path, solved: Callable[..., Any], tmp_path: Path) -> None:
    """Where writing fails after all, old files stand and the report is shown all the same."""
    solved()
    plain = run("optimize", case)
    out = tmp_path / "out"
    (out / "racks.csv").mkdir(parents=True)
    (out / "bom.csv").write_text("old")
    found = run("optimize", case, "-o", out)
    assert found.exit_code == Exit.BAD_INPUT
    assert found.stdout == plain.stdout
    assert "racks.csv" in found.stderr
    assert (out / "bom.csv").read_text() == "old"
    assert not (out / "design.json").exists()


def test_two_runs_write_the_same_bytes_and_verify_agrees(tmp_path: Path) -> None:
    """From a case to files twice, with the solver at work: equal bytes, and verify finds nothing wrong in them."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    for name in ("one", "two"):
        assert run("optimize", path, "-o", tmp_path / name).exit_code == Exit.DONE
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    found = run("verify", tmp_path / "one" / "design.json")
    assert (found.exit_code, found.stderr) == (Exit.DONE, "")
    by_api = gpunet.optimize(path)
    assert write_design(by_api) == (tmp_path / "one" / "design.json").read_text()
    assert gpunet.verify(by_api).passed


# --- verify -----------------------------------------------------------------------------------------------------------


def test_verify_names_every_violation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spoilt design fails with exit code 1; every failed check stands in the table, in JSON and in the message."""
    monkeypatch.setattr("gpunet.catalogs.load_catalog", lambda _=(): CATALOG)
    design = two_by_two(catalog=CATALOG)
    design.ledger.links[0] = design.ledger.links[0]._replace(a_port=2)
    failed = [check for check in verify(design, CATALOG).checks if not check.passed]
    assert failed
    path = tmp_path / "design.json"
    path.write_text(write_design(design))
    found = run("verify", path)
    assert found.exit_code == Exit.FAILED
    assert all(f"{check.name} " in found.stdout for check in failed)
    assert found.stdout.count("FAILED") == len(failed)
    assert ", ".join(check.name for check in failed) in found.stderr
    as_json = run("verify", path, "--json")
    assert as_json.exit_code == Exit.FAILED
    assert Verification.model_validate(json.loads(as_json.stdout)) == verify(design, CATALOG)


def test_verify_tells_of_another_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A design made with other parts or prices is checked, and the reader is told."""
    monkeypatch.setattr("gpunet.catalogs.load_catalog", lambda _=(): CATALOG)
    design = with_result(two_by_two(catalog=CATALOG), catalog_version="older")
    path = tmp_path / "design.json"
    path.write_text(write_design(design))
    found = run("verify", path)
    assert found.exit_code == Exit.DONE
    assert "older" in found.stderr


@pytest.mark.parametrize("text", ["", "{}", "[1]", "not json", '{"case": 1}'])
def test_what_is_no_design_is_bad_input(tmp_path: Path, text: str) -> None:
    """Any other file is refused in one message, and as data with --json."""
    path = tmp_path / "design.json"
    path.write_text(text)
    found = run("verify", path, "--json")
    assert found.exit_code == Exit.BAD_INPUT
    assert json.loads(found.stdout)["problems"]
    assert "Traceback" not in found.stderr


# --- catalogue, init, schema ------------------------------------------------------------------------------------------


def test_catalog_list_filters_by_kind_and_vendor() -> None:
    """Kind in singular or plural, vendor by name."""
    one, many = run("catalog", "list", "switch"), run("catalog", "list", "switches")
    assert one.exit_code == Exit.DONE
    assert one.stdout == many.stdout
    assert "ib-qm9700" in one.stdout
    assert "nv-mfp7e10" not in one.stdout
    assert "ib-qm9700" not in run("catalog", "list", "switch", "--vendor", "arista").stdout
    everything = run("catalog", "list").stdout
    assert all(f"{kind} (" in everything for kind in PART_KINDS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("list", "swich"), "nearest: switch"),
        (("list", "--vendor", "nvidai"), "nearest: nvidia"),
        (("show", "ib-qm970"), "nearest: ib-qm97"),
        (("show", "nv-mfp7e10-n031"), "nearest: nv-mfp7e10"),
        (("show", "\x1b[2J"), "\\x1b"),
    ],
)
def test_unknown_names_bring_the_nearest(words: tuple[str, ...], expected: str) -> None:
    """A slip of the pen is answered with the name that was meant."""
    found = run("catalog", *words)
    assert found.exit_code == Exit.BAD_INPUT
    assert expected in found.stderr
    assert "\x1b" not in found.stderr


@pytest.mark.parametrize("name", ["ib-qm9700", "IB-QM9700", "QM9700", "nv-mfp7e10-n030", "400G-DR4"])
def test_catalog_show_finds_parts_by_any_of_their_names(name: str) -> None:
    """Ids in any case, vendors' names, stock lengths and optical interfaces."""
    found = run("catalog", "show", name)
    assert found.exit_code == Exit.DONE
    assert "known by" in found.stdout


def test_catalog_check_fails_on_errors_alone(tmp_path: Path) -> None:
    """The shipped catalogue passes; one whose figure names no listed source does not."""
    assert run("catalog", "check").exit_code == Exit.DONE
    (tmp_path / "accessories.yaml").write_text(
        "odd-panel:\n  vendor: acme\n  model: P1\n  price: {mid_usd: 5, how: read, src: nowhere}\n"
    )
    found = run("catalog", "check", "--catalog", tmp_path)
    assert found.exit_code == Exit.FAILED
    assert "odd-panel" in found.stdout
    assert "1 error" in found.stderr


def test_init_writes_a_case_once(tmp_path: Path) -> None:
    """The starting case can be read, and is never written over what is there."""
    path = tmp_path / "new.yaml"
    assert run("init", path).exit_code == Exit.DONE
    assert gpunet.load_case(path).cluster.gpus == 256
    path.write_text("mine")
    found = run("init", path)
    assert found.exit_code == Exit.BAD_INPUT
    assert "exists already" in found.stderr
    assert path.read_text() == "mine"


def test_schema_is_json() -> None:
    """An editor can read what schema prints."""
    found = run("schema")
    assert found.exit_code == Exit.DONE
    assert "cluster" in json.loads(found.stdout)["properties"]


# --- the program as the system sees it --------------------------------------------------------------------------------


def test_ctrl_c_leaves_with_a_line(case: Path) -> None:
    """Ctrl-C ends the program at once though the work goes on in native code; one line, exit code 130."""
    script = (
        # A program started in the background is born deaf to Ctrl-C; the one at a terminal is not.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import gpunet.solver.optimize as o, gpunet.catalogs as c, time\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from sample_design import hand_catalog\n"
        "c.load_catalog = lambda _=(): hand_catalog()\n"
        "def stuck(*_, **__):\n    sys.stderr.write('ready\\n'); sys.stderr.flush(); time.sleep(60)\n"
        "o.optimize = stuck"
    )
    process = program(script, "optimize", str(case), stdout=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    try:
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    assert (process.returncode, stdout, stderr) == (Exit.INTERRUPTED, b"", b"gpunet: stopped by Ctrl-C\n")


@pytest.mark.parametrize("words", [("schema",), ("--help",)])
def test_a_reader_that_leaves_is_no_error(words: tuple[str, ...]) -> None:
    """``gpunet … | head`` ends quietly."""
    end, other = os.pipe()
    os.close(end)
    process = program("", *words, stdout=other)
    os.close(other)
    _, stderr = process.communicate(timeout=30)
    assert stderr == b""
    assert process.returncode in (Exit.READER_GONE, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [("schema",), ("--help",)])
def test_output_to_a_full_disk_is_one_message(words: tuple[str, ...]) -> None:
    """Redirected output that does not fit is told, with exit code 2."""
    with open("/dev/full", "wb") as full:
        process = program("", *words, stdout=full)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == Exit.BAD_INPUT
    assert stderr.count(b"\n") == 1
    assert b"no space left" in stderr


@pytest.mark.parametrize("trace", ["", "1"])
def test_a_fault_of_gpunet_is_told_as_one(trace: str) -> None:
    """What nobody foresaw ends in one message too; the trace is there for who asks."""
    script = "import gpunet.starter as s\ndef broken():\n    raise ZeroDivisionError('oh')\ns.json_schema = broken"
    env = {**os.environ, "GPUNET_TRACEBACK": trace}
    process = program(script, "schema", stdout=subprocess.PIPE, env=env)
    _, stderr = process.communicate(timeout=30)
    assert b"ZeroDivisionError" in stderr
    assert (b"Traceback" in stderr) == bool(trace)
    assert trace or process.returncode == Exit.FAULT


# --- progress ---------------------------------------------------------------------------------------------------------


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def test_long_work_shows_on_a_terminal_what_it_is_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while the line appears and follows what the work says."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "QUIET_S", 0.01)
    terminal = _Terminal()

    def work(tell: progress.Tell) -> int:
        _until(lambda: "designing" in terminal.getvalue())
        tell("wiring")
        _until(lambda: "wiring" in terminal.getvalue())
        return 7

    assert progress.run("designing", work, terminal) == 7


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_no_progress_where_nobody_looks(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    """A file gets no moving line, a dumb terminal neither, nor does quick work."""
    monkeypatch.setenv("TERM", term)
    quiet: io.StringIO = _Terminal() if term == "dumb" else io.StringIO()
    monkeypatch.setattr(progress, "QUIET_S", 0.0)
    progress.run("designing", lambda _: time.sleep(0.05), quiet)
    assert quiet.getvalue() == ""
    monkeypatch.setattr(progress, "QUIET_S", 60.0)
    quick = _Terminal()
    assert progress.run("designing", lambda _: 3, quick) == 3
    assert quick.getvalue() == ""


def test_native_chatter_stays_off_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """A solver's banner, written past Python and buffered by the C library, does not mix with the result."""
    libc = ctypes.CDLL(None)

    def work(_: progress.Tell) -> None:
        os.write(1, b"banner\n")
        libc.puts(b"buffered banner")

    progress.run("designing", work)
    os.write(1, b"result\n")
    libc.fflush(None)
    assert capfd.readouterr().out == "result\n"


def test_errors_of_the_work_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the work raises is raised where it was asked for, and no thread is left behind."""
    monkeypatch.setattr(progress, "QUIET_S", 0.0)

    def work(_: progress.Tell) -> None:
        raise InputError([])

    with pytest.raises(InputError):
        progress.run("designing", work, _Terminal())
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gpunet-")]


# --- the Python interface ---------------------------------------------------------------------------------------------


def test_the_interface_takes_files_data_and_cases(tmp_path: Path, solved: Callable[..., Any]) -> None:
    """A path, text of a path, nested data and a case all mean the same problem."""
    asked = solved()
    path = tmp_path / "four.yaml"
    path.write_text(CASE)
    cases = []
    data = {"name": "four", "cluster": {"servers": 4, "server": "server-2"}, "fabrics": {"backend": {}, "oob": None}}
    for given in (path, str(path), data, gpunet.load_case(path)):
        design = gpunet.optimize(given, time_limit_s=3, engine="scip")
        assert design.result.status is Status.OPTIMAL
        cases.append(asked["case"])
    assert all(found == cases[0] for found in cases)
    assert (asked["engine"], asked["time_limit_s"]) == ("scip", 3)


@pytest.mark.parametrize("objective", ["power,cost", ["power", "cost"]])
def test_the_interface_overrides_the_objective(
    case: Path, solved: Callable[..., Any], objective: str | list[str]
) -> None:
    """Objectives by rank as text or as a list."""
    asked = solved()
    gpunet.optimize(case, objective=objective)
    assert [o.value for o in asked["case"].objectives] == ["power", "cost"]


@pytest.mark.parametrize(
    "options",
    [
        {"objective": "speed"},
        {"objective": []},
        {"engine": "cplex"},
        {"time_limit_s": 0},
        {"time_limit_s": float("nan")},
    ],
)
def test_the_interface_refuses_what_does_not_exist(
    case: Path, solved: Callable[..., Any], options: dict[str, Any]
) -> None:
    """Wrong arguments are errors of the caller, raised before any work."""
    asked = solved()
    with pytest.raises(ValueError, match=r"speed|at least one|cplex|time_limit_s"):
        gpunet.optimize(case, **options)
    assert not asked


def test_a_case_made_in_python_is_checked_against_the_catalogue(solved: Callable[..., Any]) -> None:
    """A case that names a server nobody knows is refused like a file would be."""
    solved()
    odd = Case.model_validate({"cluster": {"servers": 4, "server": "server-9"}})
    with pytest.raises(InputError, match="server-9"):
        gpunet.optimize(odd)
