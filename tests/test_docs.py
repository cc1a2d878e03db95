"""The documentation is true: its commands run, its examples are cases, its tables are those of the code."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from gpunet import cli
from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.cli_watch import Saves
from gpunet.models.case import Case
from gpunet.models.design import Status
from gpunet.report.csv_files import BOM_COLUMNS, CABLING_COLUMNS, RACK_COLUMNS
from gpunet.shell import Exit
from gpunet.solver.engines import Engine
from gpunet.solver.optimize import optimize

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
SMALLEST = "cluster: {gpus: 256, server: dgx-h100}\n"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a page in one language."""
    return [found[2] for found in FENCE.finditer(text) if found[1] == language]


def commands(text: str) -> Iterator[tuple[list[str], int]]:
    """The ``gpunet`` commands of a page with their exit code: 0, or what the comment behind them states."""
    for line in "".join(blocks(text, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        stated = re.search(r"# exit code (\d+)", line)
        if words[:1] == ["gpunet"]:
            yield words[1:], int(stated[1]) if stated else 0


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to follow a page in: the smallest case, and the shipped cases."""
    (tmp_path / "case.yaml").write_text(SMALLEST, encoding="utf-8")
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    return tmp_path


ELSEWHERE = [["--install-completion"]]
"""Commands that other tests run, because they need a shell: ``test_completion.py``."""
SHOWN = re.compile(r"^<!-- shown -->\n+```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""What a page says that its commands print; three dots stand for what is left out."""
WITH_COMMANDS = [page for page in PAGES if list(commands(page.read_text("utf-8")))]


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_run(page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who writes the files of a page and types its commands sees them work, and print what it shows."""
    text = page.read_text(encoding="utf-8")
    for block in blocks(text, "yaml"):
        name = re.match(r"# ([\w./-]+\.yaml)\n", block)
        if name:
            (desk / name[1]).parent.mkdir(exist_ok=True)
            (desk / name[1]).write_text(block, encoding="utf-8")
    # Watching ends with Ctrl-C, here as soon as a save is waited for.
    monkeypatch.setattr(Saves, "wait", _interrupted)
    said: list[str] = []
    for words, code in commands(text):
        if words in ELSEWHERE:
            continue
        done = CliRunner().invoke(cli.app, words)
        if words[0] == "watch":
            code = Exit.INTERRUPTED
        assert (words, done.exit_code) == (words, code), done.output
        said += map(_timeless, done.output.splitlines())
    for shown in SHOWN.findall(text):
        assert [line for line in shown.splitlines() if line != "..." and _timeless(line) not in said] == []


def _interrupted(_: Saves) -> None:
    raise KeyboardInterrupt


def test_pages_with_commands_are_those_one_would_expect() -> None:
    """The test above has something to do."""
    assert {name_of(page) for page in WITH_COMMANDS} >= {"README.md", "docs/catalogue.md"}


def test_make_targets_exist() -> None:
    """What the pages ask to make can be made."""
    targets = set(re.findall(r"^([a-z]+):", text_of("Makefile"), re.MULTILINE))
    asked = {word for page in PAGES for word in re.findall(r"\bmake ([a-z]+)\b(?=[`\s]|$)", _code(page))}
    assert {"demo", "test"} <= asked <= targets


def _code(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return "\n".join([*blocks(text, "sh"), *re.findall(r"`(make [a-z]+)`", text)])


def test_the_answer_shown_is_the_answer(desk: Path) -> None:
    """Every line of the report in the README stands in the report, seconds aside; and the files are named right."""
    shown = blocks(text_of("README.md"), "text")[0]
    done = CliRunner().invoke(cli.app, ["optimize", "cases/guide-256.yaml", "-o", "out"])
    assert done.exit_code == Exit.DONE, (done.output, done.exception)
    real = [_timeless(line) for line in done.stdout.splitlines()]
    assert [line for line in shown.splitlines() if line != "..." and _timeless(line) not in real] == []
    assert {path.name for path in (desk / "out").iterdir()} == set(
        re.findall(r"`(\w+\.(?:json|csv))` \|", text_of("docs/result.md"))
    )
    checks = {check["name"] for check in json.loads((desk / "out/design.json").read_text())["verify"]["checks"]}
    table = text_of("docs/result.md").split("| check | asks |")[1].split("\n\n")[0]
    assert set(re.findall(r"`([\w-]+)`", table)) == checks


def _timeless(line: str) -> str:
    return re.sub(r"\d+\.\d s\)", "0.0 s)", line).rstrip()


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_example_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The Python of a page is Python, and prints what it says."""
    (example,) = blocks(text_of(name), "python")
    exec(compile(example, name, "exec"), {})
    assert re.fullmatch(r"optimal [\d.]+\n(True\n)?", capsys.readouterr().out)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Links between pages, to files and to headings resolve; so do the paths of sources that prose names."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, heading = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        assert not heading or heading in _headings(there), target
    for path in re.findall(r"`((?:solver|models|catalogs|gpunet|tests|docs|cases|\.ci)/[\w./*-]*)`", text):
        assert list(ROOT.glob(path)) or (ROOT / path).exists(), path


def _headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


GENERATED = [
    "docs/case-file.md",
    "docs/catalogue-schema.md",
    "docs/commands.md",
    "docs/families.md",
    "docs/formulation.md",
    "docs/result.md",
    "docs/rules-of-thumb.md",
]


@pytest.fixture(scope="module")
def generate() -> Any:
    """The module that makes the generated parts."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date(generate: Any) -> None:
    """``make docs`` would change nothing."""
    found = {name_of(path): text == wanted for path, text, wanted in generate.pages()}
    assert found == dict.fromkeys(GENERATED, True)


def test_examples_of_the_help_are_commands(generate: Any) -> None:
    """Every example that a help text gives is a command with options that exist and values that they take."""
    known = dict(generate.commands())
    examples = [
        line.strip()
        for command in [generate.get_command(cli.app), *known.values()]
        for line in f"{command.help or ''}\n{command.epilog or ''}".splitlines()
        if line.strip().startswith("gpunet ")
    ]
    assert len(examples) > 30
    for example in examples:
        # What follows two blanks says what the example is for; a pipe and a file are the shell's.
        words = shlex.split(re.split(r" {2,}| [|>] ", example)[0])
        name = max((name for name in known if f"{' '.join(words)} ".startswith(f"{name} ")), key=len, default="")
        assert name, example
        known[name].make_context(name, words[len(name.split()) :])


def leaves(schema: dict[str, Any], node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every setting of the schema with its default; lists of parts and rows of ``owned`` count as one thing each."""
    for option in (node, *node.get("anyOf", ()), node.get("items", {})):
        if "$ref" in option:
            model = schema["$defs"][option["$ref"].rsplit("/", 1)[1]]
            if "properties" in model and "allow" not in model["properties"]:
                for name, field in model["properties"].items():
                    yield from leaves(schema, field, (*path, name))
                return
    yield ".".join(path), node.get("default")


def test_every_setting_is_documented_with_its_default() -> None:
    """The page of the case file has a row for each field, its own or that of all fabrics, with the right default."""
    schema = Case.model_json_schema()
    rows = dict(re.findall(r"^\| `([\w.*]+)` \| [^|]+ \| ([^|]+) \|", text_of("docs/case-file.md"), re.MULTILINE))
    settings = [leaf for name, field in schema["properties"].items() for leaf in leaves(schema, field, (name,))]
    assert len(settings) > 80
    for path, default in settings:
        shown = rows.get(path) or rows[re.sub(r"^fabrics\.\w+", "fabrics.*", path)]
        if shown in ("none", "needed"):
            assert default in (None, "", [], {}, {"allow": [], "deny": []}), path
        else:
            assert yaml.safe_load(shown.strip("`")) == default, path


def test_examples_are_cases() -> None:
    """Every case in the pages is one that gpunet reads, and the long one of the case file has a design."""
    catalog = load_catalog()
    found = [
        (page.name, case_from_data(yaml.safe_load(block), catalog))
        for page in PAGES
        for block in blocks(page.read_text("utf-8"), "yaml")
        if re.search(r"^cluster:", block, re.MULTILINE)
    ]
    assert len(found) >= 3
    of_case_file = [case for name, case in found if name == "case-file.md"]
    longest = max(of_case_file, key=lambda case: len(case.model_dump_json(exclude_defaults=True)))
    assert longest.limits.vendors is not None
    assert optimize(longest, catalog).result.status is Status.OPTIMAL


def test_link_rules_are_explained() -> None:
    """Every rule that can refuse a link is on the page of the optics rules, and no other is called one."""
    code = "".join(text_of(f"solver/{name}.py") for name in ("mating", "passive", "copper", "interconnects"))
    rules = set(re.findall(r'"(R\d+|LPO|Stock|Copper \([a-g]\))"', code))
    page = text_of("docs/optics.md")
    assert len(rules) > 15
    assert rules <= set(re.findall(r"^\| (R\d+|LPO|Stock|Copper \([a-g]\)) \|", page, re.MULTILINE)) | {"R17"}


def test_words_of_the_code_are_explained() -> None:
    """Exit codes, statuses, engines and columns of files: each is on its page."""
    codes = re.findall(r"^\| (\d+) \|", text_of("README.md"), re.MULTILINE)
    assert sorted(map(int, codes)) == sorted(Exit)
    result = text_of("docs/result.md")
    assert set(re.findall(r"^\| `(\w+)` \| [^|]+ \| \d \|", result, re.MULTILINE)) == set(Status)
    assert set(re.findall(r"^\| `([\w-]+)`[^|]*\| [^|]+ \| [^|]+ \|", text_of("docs/engines.md"), re.MULTILINE)) == set(
        Engine
    )
    columns = {
        column.removeprefix("a_").removeprefix("b_") for column in (*BOM_COLUMNS, *CABLING_COLUMNS, *RACK_COLUMNS)
    }
    assert columns <= set(re.findall(r"`(\w+)`", result.split("## The files")[1]))
