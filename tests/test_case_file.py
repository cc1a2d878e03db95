"""What is wrong with a case is said in full, in words, at its place; what is right is read as it was meant.

``tests/invalid`` holds a wrong case and the exact message for it, side by side. After a wanted change of a message,
``GPUNET_REGENERATE=1 pytest tests/test_case_file.py`` writes the messages anew; read the difference before committing.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data, read_case, read_case_file
from gpunet.catalogs import load_catalog
from gpunet.catalogs.located_yaml import Located, check, read_yaml, validate
from gpunet.catalogs.schema_words import Shape
from gpunet.catalogs.yaml_nodes import MAX_NODES, compose
from gpunet.models.case import Case, FabricBase, FabricName, Fabrics, Objective, StorageMode
from gpunet.models.plant import Plant
from gpunet.models.problems import InputError, Problem
from gpunet.starter import json_schema, starter_case

INVALID = Path(__file__).parent / "invalid"
CATALOG = tiny_catalog()
SMALLEST = {"cluster": {"gpus": 8, "server": "server-2"}}


def written(folder: Path, content: str | bytes) -> Path:
    """A case file with the given content."""
    path = folder / "case.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def message_for(folder: Path, content: str | bytes) -> str:
    """What is said about a file, without the folder and the header."""
    with pytest.raises(InputError) as caught:
        read_case(written(folder, content), CATALOG)
    header, *lines = caught.value.render().replace(f"{folder}/", "").split("\n")
    assert header == f"case.yaml: {len(lines)} problem{'s' * (len(lines) != 1)}"
    return "\n".join(lines)


@pytest.mark.parametrize("name", sorted(path.stem for path in INVALID.glob("*.yaml")))
def test_every_wrong_case_has_its_exact_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, so that a message gets worse only where somebody looks."""
    monkeypatch.chdir(INVALID)
    with pytest.raises(InputError) as caught:
        read_case(f"{name}.yaml", CATALOG)
    expected = INVALID / f"{name}.err"
    said = caught.value.render() + "\n"
    if os.environ.get("GPUNET_REGENERATE") == "1":
        expected.write_text(said, encoding="utf-8")
    assert said == expected.read_text(encoding="utf-8")


def test_no_message_is_left_without_its_case() -> None:
    """A renamed case takes its message along."""
    assert {path.stem for path in INVALID.glob("*.err")} == {path.stem for path in INVALID.glob("*.yaml")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfec\x00", "case.yaml: found text in UTF-16, expected text in UTF-8"),
        (b"name: a\ncluster: \xe4", "case.yaml:2:10: found the byte 0xe4, expected text in UTF-8"),
        ("name: é".encode() + b"\xe4", "case.yaml:1:8: found the byte 0xe4, expected text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "case.yaml:1:1: found the byte 0x89, expected text in UTF-8"),
        (b"PK\x03\x04\x00", "case.yaml:1:3: found the character U+0003, expected printable text"),
        (b"name: \x00", "case.yaml:1:7: found the character U+0000, expected printable text"),
        (b"\n" * 5_000_001, "case.yaml: found more than 5,000,000 bytes, expected a smaller file"),
        (b"\xef\xbb\xbf", "case.yaml: the file is empty"),
        (b"---\n...\n", "case.yaml:2:1: found nothing, expected a mapping with the fields name, cluster, fabrics, "
         "site, objective, tco, limits, parts, prices, owned, terms, spares, supply, quotes, buying, order_date, "
         "phases, price_decline_per_year, performance"),
    ],
)  # fmt: skip
def test_files_that_are_no_text(tmp_path: Path, content: bytes, message: str) -> None:
    """Binary files, other encodings, oversized and empty files are told apart."""
    assert message_for(tmp_path, content) == message


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reason is named, and a file of a similar name is offered."""
    written(tmp_path, "cluster: {gpus: 8, server: server-2}")
    said = {}
    for path in (tmp_path / "caze.yaml", tmp_path / "no" / "case.yaml", tmp_path, Path("a\0b")):
        with pytest.raises(InputError) as caught:
            read_case(path, CATALOG)
        said[path.name] = caught.value.problems[0].render().replace(str(tmp_path), "DIR")
    assert said == {
        "caze.yaml": "DIR/caze.yaml: no such file; nearest: DIR/case.yaml",
        "case.yaml": "DIR/no/case.yaml: no such file",
        tmp_path.name: "DIR: found a directory, expected a YAML file",
        "a\0b": "'a\\x00b': cannot be read: embedded null byte",
    }
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        read_case("a" * 5000, CATALOG)

    def denied(*_arguments: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(InputError, match=r"case\.yaml: no permission to read this file"):
        read_case("case.yaml", CATALOG)


def test_a_file_without_a_size_is_not_read_for_ever() -> None:
    """A device that never ends is refused like a large file."""
    with pytest.raises(InputError, match="more than 5,000,000 bytes"):
        read_yaml("/dev/zero")


def test_the_smallest_case_means_all_defaults(tmp_path: Path) -> None:
    """Two facts make a case, named after its file; all four fabrics are designed."""
    case = read_case(written(tmp_path, "cluster: {gpus: 8, server: server-2}"), CATALOG)
    assert case == Case.model_validate(SMALLEST | {"name": "case"})
    assert case.fabrics == Fabrics.all_defaults()


def test_a_bare_plant_is_a_plant_with_its_defaults(tmp_path: Path) -> None:
    """``plant:`` with nothing below it asks for panels like ``plant: {}``; left out, there are none."""
    text = "cluster: {gpus: 8, server: server-2}\nsite:\n  rows: 1\n"
    bare, braces, without = (
        read_case(written(tmp_path, text + more), CATALOG).site.plant for more in ("  plant:\n", "  plant: {}\n", "")
    )
    assert bare == braces == Plant()
    assert without is None


def test_yaml_means_what_people_mean(tmp_path: Path) -> None:
    """Exponents and whole floats are numbers; yes, no, on, off and dates are text; aliases and merges work."""
    case = read_case(
        written(
            tmp_path,
            """\
%YAML 1.2
---
name: 2026-12-02
cluster: {gpus: 1e3, server: server-2, growth: 1, reserved_ports: {backend: 4.0}}
fabrics:
  backend: &common {protocols: &one [infiniband], min_spines: 2, max_tiers: 2}
  storage: {<<: *common, mode: none, max_tiers: 3}
  oob:
site: {rows: 1_0, row_pitch_m: +3.5E+0, slack_m: .5, tray_rise_m: 2., fibre: [OS2]}
limits: {cost_usd: ~, power_kw: null, racks: }
objective: [tco, 'cost']
...
""",
        ),
        CATALOG,
    )
    assert (case.name, case.cluster.gpus, case.cluster.growth) == ("2026-12-02", 1000, 1.0)
    assert case.cluster.reserved_ports == {FabricName.BACKEND: 4}
    assert case.fabrics.backend is not None
    assert case.fabrics.storage is not None
    assert case.fabrics.storage.protocols == case.fabrics.backend.protocols == ("infiniband",)
    assert (case.fabrics.storage.min_spines, case.fabrics.storage.max_tiers) == (2, 3)
    assert case.fabrics.frontend is None
    assert case.fabrics.oob == Fabrics.all_defaults().oob
    assert (case.site.rows, case.site.row_pitch_m, case.site.slack_m, case.site.tray_rise_m) == (10, 3.5, 0.5, 2.0)
    assert case.limits.cost_usd is None
    assert case.objectives == (Objective.TCO, Objective.COST)
    for word in ("yes", "No", "on", "OFF", "1:30", "010", "0x10", "1e3e3", "-1-", "1__0"):
        assert compose(f"a: {word}", "x").data == {"a": word}


def test_parts_may_be_named_in_every_documented_way(tmp_path: Path) -> None:
    """Ids, vendors and kinds in filters; cables and fibres with and without a length in prices and stock."""
    case = read_case(
        written(
            tmp_path,
            """\
cluster: {servers: 4, server: server-2, nics: {backend: nic-400}}
fabrics:
  backend: {parts: {deny: ["southern:*"]}}
  storage: {mode: auto, storage_server_nic: nic-400}
parts:
  allow: [ib-tiny-4, "northstar:*", "switch:*", "nic:*", "server:*", "module:*", "cable:*", "fibre:*", "accessory:*"]
  deny: [mpo-om4, panel-1u]
prices: {overrides_usd: {mpo-os2: 5, mpo-os2-n030: 6, dac-qsfp-n001: 7, ib-tiny-8: 0}, discounts: {lumen: 0.1}}
owned: [{part: mpo-om4-n005, quantity: 3}, {part: eth-tiny-8, quantity: 1}]
""",
        ),
        CATALOG,
    )
    assert case.prices.overrides_usd["mpo-os2-n030"] == 6
    assert case.owned[0].quantity == 3


def test_orderable_numbers_lead_to_the_id() -> None:
    """A user who writes what the vendor writes is shown the catalogue id."""
    switch = CATALOG.switches["ib-tiny-8"].model_copy(update={"part_numbers": ("920-9B210-00FN",)})
    catalog = CATALOG.model_copy(update={"switches": CATALOG.switches | {"ib-tiny-8": switch}})
    with pytest.raises(InputError) as caught:
        case_from_data(SMALLEST | {"parts": {"allow": ["920-9b210-00fn"]}}, catalog)
    assert caught.value.problems[0].nearest == "ib-tiny-8"


def test_positions_of_fields(tmp_path: Path) -> None:
    """Other code can point into the file, by text or by key path."""
    content = "cluster:\n  gpus: 8\n  server: server-2\nowned:\n- part: ib-tiny-4\n  quantity: 2\nfabrics: {oob: }\n"
    file = read_case_file(written(tmp_path, content), CATALOG)
    assert file.position_of("cluster.gpus") == (2, 3)
    assert file.position_of("owned[0].quantity") == file.position_of(("owned", 0, "quantity")) == (6, 3)
    assert file.position_of("owned[0]") == (5, 3)
    assert file.position_of("fabrics.oob") == (7, 11)
    assert file.located.value_position(("cluster", "gpus")) == (2, 9)
    for absent in ("limits.cost_usd", "owned[1]", "fabrics.oob.parts", "cluster[0]", "['cluster']['x']"):
        assert file.position_of(absent) is None
    assert file.position_of("['cluster']['gpus']") == (2, 3)


def test_data_of_a_program_are_read_like_a_file() -> None:
    """Enumerations, tuples and numbers of other libraries are taken; the name is kept or filled."""
    case = case_from_data(
        {
            "cluster": {"gpus": np.int64(8), "server": "server-2", "reserved_ports": {FabricName.BACKEND: 4}},
            "fabrics": {"backend": {"oversubscription": Fraction(3, 2), "protocols": ("ethernet",)}},
            "objective": (Objective.POWER, Objective.COST),
            "limits": {"cost_usd": Decimal("1000.50"), "power_kw": np.float32(2.5)},
        },
        CATALOG,
        name="study",
    )
    assert case.fabrics.backend is not None
    assert (case.name, case.cluster.gpus, case.fabrics.backend.oversubscription) == ("study", 8, 1.5)
    assert case.objectives == (Objective.POWER, Objective.COST)
    assert (case.limits.cost_usd, case.limits.power_kw) == (1000.5, 2.5)
    assert case_from_data(SMALLEST | {"name": "mine"}, CATALOG).name == "mine"


LOOP: dict[str, Any] = {}
LOOP["cluster"] = LOOP


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (SMALLEST | {"limit": {}}, "case: limit: found an unknown field, expected one of the fields name, cluster, "
         "fabrics, site, objective, tco, limits, parts, prices, owned, "
         "terms, spares, supply, quotes, buying, order_date, phases, "
         "price_decline_per_year, performance; nearest: limits"),
        ({"cluster": {"gpus": "8", "server": "server-2"}},
         "case: cluster.gpus: found '8', expected a whole number above 0; nearest: 8"),
        ({"cluster": {8: "gpus"}}, "case: cluster: found '8' as a field name, expected text"),
        ({"cluster": {"server": {"server-2"}}},
         "case: cluster.server: found a set, expected text, a number, a list or a mapping"),
        (SMALLEST | {"limits": {"cost_usd": float("nan")}},
         "case: limits.cost_usd: found a number that is not finite or too large, expected at most 40 digits"),
        (SMALLEST | {"limits": {"racks": 10**5000}},
         "case: limits.racks: found a number that is not finite or too large, expected at most 40 digits"),
        (LOOP, "case: found data nested in itself or too deep, expected at most 40 levels"),
    ],
)  # fmt: skip
def test_wrong_data_of_a_program(data: dict[str, Any], message: str) -> None:
    """The same messages as for a file, without a line."""
    with pytest.raises(InputError) as caught:
        case_from_data(data, CATALOG)
    assert caught.value.render() == f"case: 1 problem\n{message}"


def test_a_part_of_a_file_can_be_checked() -> None:
    """A prefix selects the data, and paths and positions are those of the whole file."""
    text = "cases:\n- cluster: {gpus: 8, server: a}\n- cluster: {gpus: x, server: a}\n"
    root = compose(text, "all.yaml")
    located = Located("all.yaml", root.data, root)
    assert validate(Case, located, ("cases", 0)).cluster.gpus == 8
    with pytest.raises(InputError) as caught:
        validate(Case, located, ("cases", 1))
    assert caught.value.problems == (
        Problem("all.yaml", 3, 19, "cases[1].cluster.gpus", "'x'", "a whole number above 0"),
    )
    with pytest.raises(KeyError, match=re.escape("cases[2]")):
        located.at(("cases", 2))


def test_problems_of_several_files_are_grouped() -> None:
    """Files in order of name, problems in order of lines."""
    error = InputError(
        [Problem("b", 2, message="z"), Problem("a", message="x"), Problem("b", 1, 3, "p", "f", "e", "n")]
    )
    assert (
        str(error)
        == error.render()
        == "a: 1 problem\na: x\nb: 2 problems\nb:1:3: p: found f, expected e; nearest: n\nb:2: z"
    )


class Sample(BaseModel):
    """Every kind of field that a catalogue may have and a case has not."""

    flag: bool = False
    exact: int = 0
    below: float = 0
    either: int | str = 0
    anything: Any = None
    by_name: dict[str, list[int]] = {}
    code: str = "a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flag: no", "flag: found 'no', expected true or false"),
        ("flag: 1", "flag: found 1, expected true or false"),
        ("exact: false", "exact: found false, expected a whole number"),
        ("either: true", "either: found true, expected a whole number, or text; put it in quotes"),
        ("by_name: {a: [1, 2.5]}", "by_name.a[1]: found 2.5, expected a whole number"),
        ("by_name: {a.b: {c: 1}}",
         "by_name['a.b']: found a mapping with field c, expected a list, each item a whole number"),
        ("by_name: [1]",
         "by_name: found a list of 1, expected a mapping from text to a list, each item a whole number"),
    ],
)  # fmt: skip
def test_kinds_are_strict(text: str, message: str) -> None:
    """No kind of value passes for another: 1 is not true, no is not false, true is not 1."""
    root = compose(text, "x")
    with pytest.raises(InputError) as caught:
        validate(Sample, Located("x", root.data, root))
    assert re.sub(r"^x:\d+:\d+: ", "", caught.value.problems[0].render()) == message
    root = compose(
        "{flag: true, exact: 2.0, below: 1, either: a, anything: [true], by_name: {a: [1e1]}, code: on}", "x"
    )
    sample = validate(Sample, Located("x", root.data, root))
    assert sample == Sample(flag=True, exact=2, below=1.0, either="a", anything=[True], by_name={"a": [10]}, code="on")


def test_an_alias_bomb_costs_nothing(tmp_path: Path) -> None:
    """Ten to the thirty values are refused by counting, without being written out."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 30)]
    assert message_for(tmp_path, "\n".join(lines)) == (
        f"case.yaml:6:5: more than {MAX_NODES:,} values once every alias is written out"
    )


def test_deep_nesting_in_one_line(tmp_path: Path) -> None:
    """A million brackets are one message, not a crash of the reader."""
    assert message_for(tmp_path, "[" * 1_000_000).startswith("case.yaml:1:")


def uncommented(text: str) -> str:
    """The starting case with every setting switched on; prose stays prose."""
    return "\n".join(line if re.match(r"#( \S|$)", line) else line.removeprefix("#") for line in text.splitlines())


def leaves(data: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every setting of a case with its key path."""
    if isinstance(data, dict) and path not in {
        ("prices", "overrides_usd"),
        ("prices", "discounts"),
        ("cluster", "nics"),
    }:
        for key, value in data.items():
            yield from leaves(value, (*path, key))
    elif path:
        yield path, data


def test_the_starting_case_is_the_smallest_case(tmp_path: Path) -> None:
    """As written it is a case with all defaults."""
    case = read_case(written(tmp_path, starter_case()), load_catalog())
    assert case == Case.model_validate({"name": "case", "cluster": {"gpus": 256, "server": "dgx-h100"}})


def test_every_setting_of_the_starting_case_is_valid(tmp_path: Path) -> None:
    """With all its settings switched on it is a case, its part names are those of the shipped catalogue, and what it
    shows as a default is the default."""
    lines = starter_case().splitlines()
    file = read_case_file(written(tmp_path, uncommented(starter_case())), load_catalog())
    located = file.located
    assert file.case.owned
    default = Case.model_validate({"cluster": {"gpus": 256, "server": "dgx-h100"}}).model_dump(mode="json")
    examples = set()
    for path, value in leaves(located.data):
        known: Any = default
        for key in path:
            known = known.get(key) if isinstance(known, dict) else None
        if known != value:
            examples.add(path)
            position = located.value_position(path)
            assert position
            # An example says so, on its line or in the words above its heading.
            heading = starter_case().split(f"#{path[0]}:")[0].rsplit("\n\n", 1)[-1]
            assert "default:" in lines[position.line - 1] or "Default:" in heading, path
    assert ("limits", "cost_usd") in examples
    assert ("site", "rack_pitch_m") not in examples


def test_each_setting_of_the_starting_case_is_valid_alone() -> None:
    """Whoever takes away one # and those of the headings above it has a case."""
    lines = starter_case().splitlines()
    settings = {at: line[1:] for at, line in enumerate(lines) if re.match(r"#(?! \S|$)", line)}
    switched_on = 0
    for at, setting in settings.items():
        if re.search(r":\s*$", setting):
            continue  # a heading
        on, indent = {at}, len(setting) - len(setting.lstrip())
        for above in range(at, -1, -1):
            depth = len(settings[above]) - len(settings[above].lstrip()) if above in settings else indent
            if depth < indent:
                on.add(above)
                indent = depth
        text = "\n".join(settings[index] if index in on else line for index, line in enumerate(lines))
        root = compose(text, "case.yaml")
        validate(Case, Located("case.yaml", root.data, root))
        switched_on += 1
    assert switched_on > 60


def test_every_field_is_in_the_starting_case(tmp_path: Path) -> None:
    """A field added to the models must be added to the starting case. What all fabrics share stands at the backend."""
    data = read_yaml(written(tmp_path, uncommented(starter_case()))).data

    def missing(shape: Shape, data: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name in shape.fields():
            shared = (
                path[:1] == ("fabrics",) and len(path) == 2 and path[1] != "backend" and name in FabricBase.model_fields
            )
            if isinstance(data, dict) and name in data:
                child = shape.child(name)
                assert child
                yield from missing(child, data[name], (*path, name))
            elif not shared:
                yield (*path, name)

    assert list(missing(Shape.of(Case), data)) == [("cluster", "servers")]
    assert "`servers: 32`" in starter_case()


def test_the_schema_is_complete() -> None:
    """It is plain JSON, closed, with a description of every field, and lists no part id."""
    schema = json.loads(json.dumps(json_schema()))
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["required"] == ["cluster"]
    for model in (schema, *schema["$defs"].values()):
        assert model["description"]
        if "properties" in model:
            assert model["additionalProperties"] is False
            # Where a field and its model say the same, the schema says it once, at the model.
            assert all(field.get("description") or "$ref" in field for field in model["properties"].values())
    assert schema["$defs"]["Cluster"]["properties"]["server"]["type"] == "string"
    assert "ib-qm9700" not in json.dumps(schema)


scraps = st.sampled_from([
    "cluster", "gpus", ": ", "\n", "  ", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "!!x ", "!%1B ", "'", '"', "|",
    ">", "#", "? ", "<<: ", "---\n", "...\n", "%YAML 1.1\n", "1e3", ".nan", "~", "yes", "0x1", "\t", "\x85", "\u2028",
    "é", "😀",
])  # fmt: skip


def outcome(read: Callable[[], tuple[object, list[Problem]]]) -> list[Problem]:
    """The problems of an input, none for a good one. Any other exception is a fault."""
    try:
        return read()[1]
    except InputError as error:
        return list(error.problems)


@given(st.lists(scraps, max_size=25).map("".join))
def test_whatever_the_text_the_answer_is_data_or_a_message(text: str) -> None:
    """No text makes the reader or the check fail in any other way, and each message is one line with a place in it."""

    def read() -> tuple[object, list[Problem]]:
        root = compose(text, "case.yaml")
        return check(Case, Located("case.yaml", root.data, root))

    lines = len(text.splitlines()) + 1  # a missing end is found behind the last line
    for problem in outcome(read):
        assert problem.render().isprintable()
        assert problem.line is None or 1 <= problem.line <= lines


@given(st.binary(max_size=60))
def test_whatever_the_bytes_the_answer_is_data_or_a_message(content: bytes) -> None:
    """The same for bytes."""
    with TemporaryDirectory() as folder:
        path = written(Path(folder), content)
        for problem in outcome(lambda: check(Case, read_yaml(path))):
            assert problem.render().isprintable()


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**9)
    | st.floats(0, 5)
    | st.sampled_from(["cost", "server-2", "8", "", "\x1b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Shape.of(Case).fields(), "backend", "gpus", "server", "allow", "mode", "\n"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*Shape.of(Case).fields(), "x"]), values, max_size=4))
def test_whatever_the_data_the_answer_is_a_case_or_messages(data: dict[str, Any]) -> None:
    """A wrong value in any place gives a message that names the place; a case that passes obeys the rules."""
    passed: list[Case] = []
    problems = outcome(lambda: (passed.append(case_from_data(SMALLEST | data, CATALOG)), []))
    for problem in problems:
        assert problem.path
        assert problem.found or problem.message
        assert problem.render().isprintable()
    assert bool(passed) != bool(problems)
    for case in passed:
        assert not (case.fabrics.storage and case.fabrics.storage.mode is StorageMode.AUTO and not case.fabrics.backend)
