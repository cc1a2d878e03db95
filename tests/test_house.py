"""The rules of the house: who may import whom, where libraries may appear, how long files get, what names must say."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import subprocess
import types
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from gpunet.models.case import Case
from gpunet.models.evidence import Fact
from gpunet.solver import program, program_plant, program_purchase, program_room

ROOT = Path(__file__).parent.parent
LAYERS = ("models", "catalogs", "solver", "gpunet")
"""From the bottom up: a layer may import itself and those before it."""
SOURCES = [path for layer in LAYERS for path in sorted((ROOT / layer).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(params=SOURCES, ids=name_of)
def source(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it, in dots; names imported from a package count as modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: imports are written in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer_of(module: str) -> str | None:
    """The layer that an imported module belongs to; none where it is no part of gpunet."""
    first, _, rest = module.partition(".")
    if first != "gpunet":
        return None
    head = rest.split(".")[0]
    return head if head in LAYERS else "gpunet"


# --- imports ----------------------------------------------------------------------------------------------------------


def test_arrows_run_one_way(source: Path) -> None:
    """The face calls the solver, the solver the catalogue, the catalogue the models; nothing ever calls back."""
    own = LAYERS.index(name_of(source).split("/")[0])
    above = [m for m in imports(source) if (layer := layer_of(m)) is not None and LAYERS.index(layer) > own]
    assert not above


PLAIN = {
    "__future__",
    "collections",
    "dataclasses",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "math",
    "pydantic",
    "re",
    "typing",
}
"""What a file of models may build on: nothing here can read, write, wait or solve."""


@pytest.mark.parametrize("path", sorted((ROOT / "models").glob("*.py")), ids=name_of)
def test_models_do_no_work(path: Path) -> None:
    """Models say what things are: they read no file, print nothing and solve nothing."""
    assert {m.split(".")[0] for m in imports(path) if layer_of(m) is None} <= PLAIN
    called = {node.func.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if _is_plain_call(node)}
    assert not called & {"open", "print", "input", "exec", "eval", "__import__"}


def _is_plain_call(node: ast.AST) -> typing.TypeGuard[typing.Any]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


FENCES = {
    "pulp": {
        "solver/program.py",
        "solver/program_plant.py",
        "solver/program_purchase.py",
        "solver/program_room.py",
        "solver/phase_program.py",
        "solver/engines.py",
    },
    "highspy": {"solver/engines.py"},
    "ortools": {
        "solver/engines.py",
        "solver/cp_sat.py",
        "solver/moved.py",
        "solver/packing.py",
        "solver/phase_cp_sat.py",
        "solver/quote_program.py",
    },
    "typer": {"gpunet/"},
    "rich": {"gpunet/"},
    "yaml": {"catalogs/"},
}
"""Where a library may be imported: files, or folders with their slash."""


def test_libraries_stay_behind_their_fence(source: Path) -> None:
    """A solver, a terminal or a file format can be exchanged in one place."""
    here = name_of(source)
    for module in imports(source):
        for allowed in [FENCES.get(module.split(".")[0])]:
            assert allowed is None or any(
                here == place or (place[-1] == "/" and here.startswith(place)) for place in allowed
            )


HEAVY = {"highspy", "networkx", "numpy", "ortools", "pandas", "pulp", "rich"}


def test_the_command_line_starts_without_heavy_libraries() -> None:
    """Importing everything that ``gpunet --help`` needs loads none of the libraries that take long."""
    code = "import sys, gpunet.cli; print(*{m.split('.')[0] for m in sys.modules})"
    python = importlib.import_module("sys").executable
    loaded = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    assert "gpunet" in loaded
    assert not HEAVY & set(loaded)


# --- files ------------------------------------------------------------------------------------------------------------

MOST_LINES = 420
LONGER = {
    "models/parts.py": "one class per kind of part, side by side with the files of the catalogue",
    "solver/build.py": "writes out the wiring of all fabrics, whose helpers share the state of one ledger",
    "solver/template.py": "a template and everything that is measured on it, which must change together",
}
"""Files that may be longer, and why."""


def test_files_stay_short(source: Path) -> None:
    """A file does one thing; a longer one says why, and is taken off the list when it is short again."""
    lines = len(source.read_text(encoding="utf-8").splitlines())
    assert (lines > MOST_LINES) == (name_of(source) in LONGER), f"{lines} lines"


def tracked() -> list[Path]:
    """Files under version control; outside of a checkout, the sources."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else SOURCES
    return [path for path in paths if path.is_file()]


FOREIGN = re.compile(
    "|".join(
        [
            r"(?<![\w.:/-])/(?:home|root|Users|work|opt|mnt|srv)/",  # a place on one machine
            r"[A-Z]:\\\\?(?:Users|home)",
            r"file:" + "//",
            r"--(?:extra-)?index" + "-url",
            r"pypi" + r"\.org|find" + "-links",
        ]
    )
)


def test_nothing_names_a_place_on_one_machine() -> None:
    """The repository works wherever it is cloned and whatever registry is used."""
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        found += [f"{name_of(path)}: {match[0]}" for match in FOREIGN.finditer(text)]
    assert not found


def test_versions_are_pinned_exactly() -> None:
    """Every line of constraints.txt is one exact version, and every dependency has one."""
    lines = [line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    pins = [re.fullmatch(r"([\w.-]+)==[\w.]+(?:; python_version [<>]=? \"3\.12\")?", line) for line in lines]
    assert all(pins)
    pinned = {pin[1].lower().replace("_", "-") for pin in pins if pin}
    wanted = re.findall(r'^  "([\w-]+)[>=<]', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert wanted
    assert {name.lower().replace("_", "-") for name in wanted} <= pinned


# --- the program ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", program.FAMILIES, ids=lambda family: family.name)
def test_a_constraint_family_reads_like_its_mathematics(family: program.Family) -> None:
    """Its docstring says it in words, then in mathematics; its setting exists; the formulation page has it."""
    said, _, maths = (family.build.__doc__ or "").strip().partition("\n\n")
    assert said.endswith(".")
    assert re.search(r"(<=|>=|=)", maths)
    assert f"`{family.name}`" in (ROOT / "docs/formulation.md").read_text("utf-8")
    for setting in filter(None, family.setting.split(", ")):
        model: typing.Any = Case
        for step in setting.split("."):
            own = [x for x in typing.get_args(model) or (model,) if hasattr(x, "model_fields")]
            model = own[0].model_fields[step].annotation


def test_every_constraint_is_a_family() -> None:
    """A function of the program that adds rows is registered, so that ``explain`` and the documentation see it."""
    names = [family.name for family in program.FAMILIES]
    assert len(set(names)) == len(names)
    functions = [
        found
        for module in (program, program_plant, program_purchase, program_room)
        for found in inspect.getmembers(module, inspect.isfunction)
        if found[1].__module__ == module.__name__
    ]
    of_program_alone = {
        name for name, f in functions if name[0] != "_" and list(inspect.signature(f).parameters) == ["f"]
    }
    # The tie-break sets an objective and adds no row.
    assert of_program_alone - {"set_tie_break"} == {family.build.__name__ for family in program.FAMILIES}


# --- names ------------------------------------------------------------------------------------------------------------

UNITS = (
    "_bytes",
    "_db",
    "_gbps",
    "_kw",
    "_kwh",
    "_m",
    "_mb",
    "_mm",
    "_mm2",
    "_mw",
    "_ns",
    "_per_lane",
    "_usd",
    "_w",
    "units",
    "weeks",
    "years",
)
COUNTS_AND_RATIOS = {
    "a_cage", "a_port", "amount", "asked_gpus", "assembly", "at_most", "at_most_servers", "b_cage", "b_port", "beaten",
    "bmc_ports", "bought", "bound", "break_even_communication", "buffer_pools", "buffer_share", "cables_before", "cage",
    "cages_per_pipeline", "case_servers", "cell_factor", "central", "classes", "column", "communication_share", "count",
    "discounts", "down_ports", "efficiencies", "efficiency", "ethernet", "failure_percent_per_year", "far_panel",
    "far_position", "fewest", "fibres", "fill", "free_cages", "from_pieces", "from_week", "gap", "gpus",
    "gpus_per_server", "group", "growth", "have", "holds_to", "hopeless", "hops", "host_lanes", "idle", "impossible",
    "in_optimum", "in_use", "independent_switches", "infiniband", "lanes", "least_efficiency", "leg", "legs",
    "limit_moved_cables", "line", "link_ties", "links", "links_bound", "links_if_single_mac", "links_per_assembly",
    "links_then", "looked_to", "max_hops", "max_logical_ports", "max_split_lines", "max_suppliers", "max_tiers",
    "media_den", "media_num", "min_cores", "min_leaves", "min_spines", "minimum", "minimum_order", "more", "most",
    "moved_cables", "moved_cables_at_least", "near_panel", "near_position", "network_racks_central",
    "network_racks_per_row", "next_value", "number", "objectives", "of", "off_percent", "optical_ports",
    "oversubscription", "owned", "packs", "panels", "parts", "parts_without_lead_time", "pdus_per_rack", "per_row",
    "pieces", "pools", "ports",
    "ports_per_pipeline", "positions", "positions_per_unit", "price_decline_per_year", "price_factor", "pue",
    "quantity", "racks", "racks_per_row", "relative_efficiency", "reserved_ports", "row", "rows", "run_legs", "saved",
    "scenarios", "seconds", "servers", "servers_per_rack", "service_level", "share", "skus", "slowdown", "solves",
    "spacing", "spares", "splittable_into_lanes", "storage_servers", "strands", "structures", "support_rate", "surplus",
    "switches", "tiers", "ties", "today", "trunk", "unit", "up_ports", "usd", "usd_per_year", "used", "v", "value",
    "vendors", "within", "without_more", "x", "y",
}  # fmt: skip
"""Numbers without a unit, and two that stand in the unit of something else (``v``, ``value`` and ``bound``)."""


def numeric_fields() -> Iterator[tuple[str, str]]:
    """(class, field) for every number that the models hold, alone, in a list or in a mapping."""
    for path in sorted((ROOT / "models").glob("[a-z]*.py")):
        module = importlib.import_module(f"gpunet.models.{path.stem}")
        for name, item in vars(module).items():
            if isinstance(item, type) and item.__module__ == module.__name__ and _holds_fields(item):
                hints = typing.get_type_hints(item)
                yield from ((name, field) for field, hint in hints.items() if _is_numeric(hint) and field[0] != "_")


def _holds_fields(item: type) -> bool:
    return issubclass(item, BaseModel) or dataclasses.is_dataclass(item) or hasattr(item, "_fields")


def _is_numeric(hint: object) -> bool:
    if hint in (int, float, Fact):
        return True
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is dict:
        return _is_numeric(inner[1])
    return origin in (typing.Union, types.UnionType, tuple, list) and any(map(_is_numeric, inner))


def test_every_number_says_its_unit() -> None:
    """A number's name ends in its unit, unless it is a count or a ratio; the list holds nothing that is gone."""
    fields = list(numeric_fields())
    plain = {field for _, field in fields if not field.endswith(UNITS)}
    assert len(fields) > 100
    assert plain == COUNTS_AND_RATIOS
