"""gpunet export: the command, the ledgers for pandas, the graphs, and the ledger back from each."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import networkx
import pandas
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outside_tools import tool
from sample_design import converged, hand_catalog, one_rack, two_by_two, two_pods, with_ledger, with_links
from typer.testing import CliRunner

import gpunet
from gpunet.catalogs import load_catalog
from gpunet.cli import app
from gpunet.design_file import TABLES, write_design
from gpunet.export import FORMATS, ExportError, export, read_back, write
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.ledger import Adapter, Device, Ledger, Link, RackPlace, Seat
from gpunet.models.problems import InputError
from gpunet.solver.optimize import optimize

WHOLE = [name for name, form in FORMATS.items() if form.reader]
"""Formats that hold the whole ledger."""


def mixed() -> Design:
    """A rack with a splitter, and a NIC that is bought."""
    design = one_rack("split")
    return with_ledger(design, adapters=[Adapter("server-1", "nic-400", 2)])


DESIGNS: dict[str, Callable[[], Design]] = {
    "two-tiers": two_by_two,
    "three-tiers": two_pods,
    "converged": lambda: converged(1),
    "splitters": mixed,
}


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest) -> Design:
    return DESIGNS[request.param]()


def written(design: Design, name: str, folder: Path) -> Path:
    """Where a design stands in a format: the file, or the folder of several."""
    paths = write_all(folder, export(design, hand_catalog(), name))
    return paths[0] if FORMATS[name].one_file else folder


# --- there and back ---------------------------------------------------------------------------------------------------


def test_formats_that_hold_the_ledger_are_known() -> None:
    """Graphs and tables hold all of it; labs, simulators and lists do not."""
    assert set(WHOLE) == {"dot", "graphml", "csv", "parquet"}


@pytest.mark.parametrize("name", WHOLE)
def test_the_ledger_comes_back(design: Design, name: str, tmp_path: Path) -> None:
    """What is read back equals what went out, row by row and in the same order."""
    assert read_back(written(design, name, tmp_path), name) == design.ledger


@pytest.mark.parametrize("name", WHOLE)
def test_an_empty_ledger_comes_back(name: str, tmp_path: Path) -> None:
    """Tables without rows keep their columns."""
    empty = Design(two_by_two().case, two_by_two().result, Ledger())
    assert read_back(written(empty, name, tmp_path), name) == Ledger()


@pytest.mark.parametrize("name", FORMATS)
def test_two_runs_write_the_same_bytes(name: str, tmp_path: Path) -> None:
    """No clock and no chance gets into a file; none is empty either."""
    runs = [write_all(tmp_path / run, export(two_by_two(), hand_catalog(), name)) for run in ("one", "two")]
    assert [path.read_bytes() for path in runs[0]] == [path.read_bytes() for path in runs[1]]
    assert all(path.stat().st_size for path in runs[0])
    assert len(runs[0]) == 1 or not FORMATS[name].one_file


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_missing_is_named(name: str, tmp_path: Path) -> None:
    """A place without an export is one clear message with its name."""
    with pytest.raises(InputError, match="nowhere"):
        read_back(tmp_path / "nowhere", name)


def spoil(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "says"),
    [
        ("csv", "links.csv", "speed_gbps", "speed", r"links.csv:1: found fabric, link_class, speed,"),
        ("csv", "links.csv", ",400,", ",fast,", r"links.csv:2: speed_gbps: found 'fast', expected a number"),
        ("csv", "devices.csv", "\nserver-1,", "\nserver-1,,", r"devices.csv:2: found 10 values, expected 9 values"),
        ("dot", "network.dot", " a_cage=", " cage=", r"network.dot:\d+: found .* expected a line as gpunet export"),
        ("dot", "network.dot", " -- ", " -> ", r"network.dot:\d+: found"),
        ("graphml", "network.graphml", "</graphml>", "", r"network.graphml: .*expected GraphML"),
        ("graphml", "network.graphml", '<data key="edge-medium">', '<data key="edge-fabric">', r"medium"),
    ],
)
def test_a_spoilt_export_is_refused(name: str, file: str, old: str, new: str, says: str, tmp_path: Path) -> None:
    """The message says which file, where in it, what was found and what was expected."""
    place = written(two_by_two(), name, tmp_path)
    path = tmp_path / file
    text = path.read_text(encoding="utf-8").replace("400.0", "400")
    path.write_text(spoil(text, old, new), encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_back(place, name)


text = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="\\"), min_size=1, max_size=8)
number = st.integers(1, 10**9)
length = st.floats(0.001, 10**9)


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    """A ledger of anything that a design file may hold: a hand may have named racks, servers and parts."""
    places = [RackPlace(name, *draw(st.tuples(length, length))) for name in draw(st.sets(text, min_size=1, max_size=3))]
    names = sorted(draw(st.sets(text, min_size=2, max_size=4)))
    racks = st.sampled_from([place.name for place in places])
    devices = [Device(name, "pdu", "", draw(text), "", -1, draw(racks), draw(number), 1) for name in names]
    of = st.sampled_from(names)
    adapters = [Adapter(*draw(st.tuples(of, text, number)))]
    seats = [Seat(*draw(st.tuples(of, text, number, text)))]
    classes = st.sampled_from(["endpoint-leaf", "leaf-spine", "spine-core"])
    end = (of, st.just("mgmt"), number, number)
    row = st.tuples(text, classes, length, *end, *end, number, text, length)
    return Ledger(places, devices, adapters, seats, [Link(*link) for link in draw(st.lists(row, max_size=4))])


ODD = "a \"<&>', ;|[]{}#ü"
ODD_LEDGER = Ledger(
    [RackPlace(ODD, 0.1, 1e-9)],
    [Device(ODD, "pdu", "", ODD, "", -1, ODD, 0, 1), Device("]", "pdu", "", "", "", -1, ODD, 0, 1)],
    [Adapter(ODD, ODD, 1)],
    [Seat(ODD, ODD, 1, ODD)],
    [Link(ODD, "leaf-spine", 0.1, ODD, "mgmt", 1, 1, "]", "mgmt", 1, 1, 1, ODD, 2.5)],
)


@pytest.mark.parametrize("name", WHOLE)
@example(ledger=ODD_LEDGER)
@settings(max_examples=25, deadline=None)
@given(ledger=ledgers())
def test_any_ledger_comes_back(name: str, ledger: Ledger) -> None:
    """Quotes, brackets, commas, foreign letters and odd figures pass through every format unharmed."""
    sample = two_by_two()
    with TemporaryDirectory() as folder:
        place = written(Design(sample.case, sample.result, ledger), name, Path(folder))
        assert read_back(place, name) == ledger


# --- in their consumers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_pandas_reads_every_table(design: Design, name: str, tmp_path: Path) -> None:
    """pandas finds the rows of the ledger with numbers as numbers."""
    written(design, name, tmp_path)
    for table in TABLES:
        path = tmp_path / f"{table}.{name}"
        frame = pandas.read_csv(path, keep_default_na=False) if name == "csv" else pandas.read_parquet(path)
        assert list(map(tuple, frame.itertuples(index=False))) == getattr(design.ledger, table)


def test_networkx_reads_the_graph(design: Design, tmp_path: Path) -> None:
    """networkx finds every device with its rack, every link with its modules, and parallel links apart."""
    graph: Any = networkx.read_graphml(written(design, "graphml", tmp_path))
    ledger = design.ledger
    assert set(graph.nodes) == {device.name for device in ledger.devices}
    assert graph.number_of_edges() == len(ledger.links)
    pairs = sorted(tuple(sorted((link.a_device, link.b_device))) for link in ledger.links)
    assert sorted(tuple(sorted(edge)) for edge in graph.edges()) == pairs
    places = {place.name: place.x_m for place in ledger.places}
    modules = {seat[:3]: seat.part for seat in ledger.seats}
    for device in ledger.devices:
        assert graph.nodes[device.name]["x_m"] == places[device.rack]
        assert graph.nodes[device.name]["rack_units"] == device.rack_units
    for *_, data in graph.edges(data=True):
        assert data["a_module"] == modules.get((data["a_device"], data["a_group"], data["a_cage"]), "")
        assert data["b_module"] == modules.get((data["b_device"], data["b_group"], data["b_cage"]), "")
        assert isinstance(data["speed_gbps"], float)


def test_networkx_sees_the_bandwidth_of_a_fabric(tmp_path: Path) -> None:
    """The graph is good for sums over it: each spine of the sample has two links of 400G to either leaf."""
    graph: Any = networkx.read_graphml(written(two_by_two(), "graphml", tmp_path))
    speeds = [data["speed_gbps"] for *_, data in graph.edges("spine-1", data=True) if data["fabric"] == "backend"]
    assert speeds == [400.0] * 4


def graphviz(path: Path) -> dict[str, Any]:
    """A DOT file as Graphviz understands it."""
    done = subprocess.run(
        [tool("dot"), "-Tdot_json", str(path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_graphviz_reads_the_dot_file(design: Design, tmp_path: Path) -> None:
    """Graphviz finds the devices and the links, each with its attributes."""
    drawn = graphviz(written(design, "dot", tmp_path))
    names = [node["name"] for node in drawn["objects"]]
    assert names == [device.name for device in design.ledger.devices]
    assert [node["rack"] for node in drawn["objects"]] == [device.rack for device in design.ledger.devices]
    edges = [(names[edge["tail"]], names[edge["head"]], int(edge["assembly"])) for edge in drawn["edges"]]
    links = [
        (link.a_device, link.b_device, link.assembly)
        if link.link_class == "endpoint-leaf"
        else (link.b_device, link.a_device, link.assembly)
        for link in design.ledger.links
    ]
    assert sorted(edges) == sorted(links)


def test_graphviz_draws_spines_over_leaves(tmp_path: Path) -> None:
    """The upper end of a link comes first, so that tiers stand in their order."""
    drawn = graphviz(written(two_pods(), "dot", tmp_path))
    order = {"core": 0, "spine": 1, "leaf": 2, "": 3}
    tiers = [order[node.get("tier", "")] for node in drawn["objects"]]
    assert all(tiers[edge["tail"]] < tiers[edge["head"]] for edge in drawn["edges"])


def test_simulators_find_the_names_that_they_look_for(tmp_path: Path) -> None:
    """Roles, the operating system of NVIDIA's switches, ``swp`` ports and rails, split cages by their channel."""
    catalog = load_catalog()
    fabrics = {"backend": {"protocols": ["ethernet"], "parts": {"allow": ["eth-sn5600"]}}}
    case = Case.model_validate({"cluster": {"servers": 4, "server": "dgx-h100"}, "fabrics": fabrics})
    (path,) = write_all(tmp_path, export(optimize(case, catalog), catalog, "dot"))
    drawn = graphviz(path)
    roles = {node["name"]: (node["role"], node.get("os")) for node in drawn["objects"]}
    assert roles["backend-leaf-0001"] == ("leaf", "cumulus")
    assert roles["server-00001"] == ("host", None)
    ports = {(edge["tailport"], edge["headport"]) for edge in drawn["edges"]}
    assert ("swp1s0", "rail1") in ports
    assert {rail for _, rail in ports} == {f"rail{number}" for number in range(1, 9)}
    assert len({port for port, _ in ports}) == 32


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the design of a small case."""
    catalog = load_catalog()
    fabrics = {"backend": {"protocols": ["ethernet"]}}
    case = Case.model_validate({"cluster": {"servers": 2, "server": "dgx-h100"}, "fabrics": fabrics})
    made = tmp_path_factory.mktemp("design")
    (made / "design.json").write_text(write_design(optimize(case, catalog)), encoding="utf-8")
    return made


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.mark.parametrize("asked", ["folder", "file"])
def test_a_folder_and_its_design_file_are_exported(folder: Path, asked: str, tmp_path: Path) -> None:
    """The command takes what optimize wrote, by folder or file, and says what it wrote."""
    place = folder if asked == "folder" else folder / "design.json"
    out = tmp_path / "graph.xml"
    assert run(place, "--to", "graphml", "-o", out) == (0, f"{out} is written\n")
    assert networkx.read_graphml(out).number_of_nodes() == 3


def test_a_case_is_designed_and_exported(tmp_path: Path) -> None:
    """The command takes a case as well; a format of several files fills a folder."""
    case = tmp_path / "case.yaml"
    case.write_text("cluster: {servers: 2, server: dgx-h100}\nfabrics: {backend: {}}\n", encoding="utf-8")
    code, said = run(case, "--to", "csv", "-o", tmp_path / "out")
    assert code == 0
    assert said.endswith(
        f"{tmp_path / 'out'}: places.csv, devices.csv, adapters.csv, seats.csv and links.csv are written\n"
    )
    with (tmp_path / "out" / "devices.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["kind"] for row in csv.DictReader(stream)] == ["server", "server", "switch"]


def test_one_file_goes_into_a_folder_that_is_there(folder: Path, tmp_path: Path) -> None:
    """Under its own name."""
    assert run(folder, "--to", "dot", "-o", tmp_path)[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["network.dot"]


def test_one_file_goes_to_the_directory_at_work(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare name is a file in the current directory."""
    monkeypatch.chdir(tmp_path)
    assert run(folder, "--to", "dot", "-o", "net.dot")[0] == 0
    assert (tmp_path / "net.dot").is_file()


def test_an_unknown_format_names_the_nearest(folder: Path, tmp_path: Path) -> None:
    """A slip of the pen gets the word that was meant."""
    code, said = run(folder, "--to", "graphlm", "-o", tmp_path / "x")
    assert code == 2
    assert "nearest: graphml" in said.replace("\n", " ")


def test_a_format_that_cannot_hold_the_design_says_why(folder: Path, tmp_path: Path) -> None:
    """Nothing is written, and one message tells what is wrong."""
    code, said = run(folder, "--to", "ibsim", "-o", tmp_path / "x")
    assert (code, said) == (1, f"{folder}: no fabric is InfiniBand, and ibsim simulates no other\n")
    assert not (tmp_path / "x").exists()


def test_a_file_in_the_way_stays(folder: Path, tmp_path: Path) -> None:
    """A folder cannot go where a file stands, and the file is as before."""
    (tmp_path / "x").write_text("mine", encoding="utf-8")
    code, said = run(folder, "--to", "csv", "-o", tmp_path / "x")
    assert code == 2
    assert "a file stands where the directory should go; nothing was changed" in said
    assert (tmp_path / "x").read_text(encoding="utf-8") == "mine"


def test_the_help_lists_every_format() -> None:
    """With a line on each."""
    said = run("--help")[1]
    assert all(name in said and form.about in said for name, form in FORMATS.items())


@pytest.mark.parametrize(
    ("name", "fields", "says"),
    [
        ("netbox", {"a_group": "roof"}, "leaf-1 has no cages 'roof'; gpunet verify says what else is wrong"),
        ("nvidia-p2p", {"b_group": "roof"}, "server-1 has no cages 'roof'"),
        ("netbox", {"medium": "string-n005"}, "string-n005 is no cable or fibre of the catalogue"),
        ("dot", {"medium": "up\\down"}, "has no place in DOT"),
    ],
)
def test_a_design_that_does_not_hold_is_refused(name: str, fields: dict[str, Any], says: str, tmp_path: Path) -> None:
    """A design file changed by hand gets a reason, and nothing is written."""
    spoilt = with_links(two_by_two(), {0: fields})
    with pytest.raises(ExportError, match=says):
        write(spoilt, hand_catalog(), name, tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- from Python ------------------------------------------------------------------------------------------------------


def test_programs_write_and_read_back(tmp_path: Path) -> None:
    """The public interface does what the command does, and the ledger comes back."""
    design = gpunet.optimize({"cluster": {"servers": 2, "server": "dgx-h100"}, "fabrics": {"backend": {}}})
    assert gpunet.write_export(design, "dot", tmp_path / "a.dot") == [tmp_path / "a.dot"]
    assert gpunet.read_export(tmp_path / "a.dot", "dot") == design.ledger


@pytest.mark.parametrize(
    ("name", "says"), [("dott", "found 'dott' as a format, expected"), ("netbox", "does not hold the whole ledger")]
)
def test_programs_are_told_what_cannot_be_read(name: str, says: str, tmp_path: Path) -> None:
    """A format that does not exist, or does not hold the ledger, is a ValueError."""
    with pytest.raises(ValueError, match=says):
        gpunet.read_export(tmp_path, name)
