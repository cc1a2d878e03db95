"""A design survives its file byte for byte; a file that is no design is refused with a reason."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_design import converged, hand_catalog, two_by_two, two_pods, with_ledger, with_result

from gpunet.design_file import read_design, write_design
from gpunet.models.case import Case
from gpunet.models.design import Design, Result, Status
from gpunet.models.ledger import Adapter, Ledger
from gpunet.models.problems import InputError
from gpunet.solver.verify import verify

CATALOG = hand_catalog()
SOUND = two_by_two(catalog=CATALOG)
TEXT = write_design(SOUND)


def refusal(path: Path) -> str:
    """What is said about a file that is no design."""
    with pytest.raises(InputError) as caught:
        read_design(path, CATALOG)
    return caught.value.render()


def edited(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The file of ``SOUND`` with its data changed."""
    data = json.loads(TEXT)
    change(data)
    path = tmp_path / "design.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


@pytest.mark.parametrize("design", [SOUND, two_pods(), converged(2.0)], ids=["two by two", "pods", "converged"])
def test_a_design_survives_its_file(design: Design, tmp_path: Path) -> None:
    """Written and read back, case, result and ledger are equal, the proof still holds, and the bytes are the same."""
    path = tmp_path / "design.json"
    path.write_text(write_design(design), encoding="utf-8")
    back = read_design(path, CATALOG)
    assert back == design
    assert verify(back, CATALOG).passed
    assert write_design(back) == write_design(design)


def test_the_result_stands_at_the_top_as_the_contract_has_it() -> None:
    """Other programs find the result's fields at the top level; the seconds of one run are not among the facts."""
    data = json.loads(write_design(with_result(SOUND, seconds=12.5)))
    assert [k for k in data if k not in Result.model_fields] == ["case_file", "ledger"]
    assert data["totals"]["cost_usd"] == 52080
    assert data["seconds"] == 0
    assert data["ledger"]["links"]["columns"][:3] == ["fabric", "link_class", "speed_gbps"]


def test_fabrics_left_out_stay_out(tmp_path: Path) -> None:
    """A fabric that the case does not name comes back as not wanted, not as wanted with defaults."""
    path = tmp_path / "design.json"
    path.write_text(TEXT, encoding="utf-8")
    fabrics = read_design(path, CATALOG).case.fabrics
    assert fabrics.storage is None
    assert fabrics.frontend is None


def test_a_result_without_a_design_has_a_file_too(tmp_path: Path) -> None:
    """An infeasible case is written with empty tables and read back."""
    result = Result(
        case="none", status=Status.INFEASIBLE, gap=None, objective=None, totals=None,
        catalog_version="tiny", gpunet_version="0", engine="highs",
    )  # fmt: skip
    case = Case.model_validate({"name": "none", "cluster": {"servers": 4, "server": "server-2"}})
    design = Design(case, result, Ledger())
    path = tmp_path / "design.json"
    path.write_text(write_design(design), encoding="utf-8")
    assert read_design(path, CATALOG) == design


def test_adapters_survive(tmp_path: Path) -> None:
    """The one table that the hand-wired designs leave empty is read too."""
    design = with_ledger(SOUND, adapters=[Adapter("server-1", "nic-400", 2)])
    path = tmp_path / "design.json"
    path.write_text(write_design(design), encoding="utf-8")
    assert read_design(path, CATALOG).ledger.adapters == design.ledger.adapters


def at(*steps: str | int, value: Any) -> Callable[[dict[str, Any]], object]:
    """Put a value at a place of the data."""

    def change(data: dict[str, Any]) -> object:
        here: Any = data
        for step in steps[:-1]:
            here = here[step]
        here[steps[-1]] = value
        return data

    return change


def links(row: int, column: int, value: Any) -> Callable[[dict[str, Any]], object]:
    """Put a value in a row of the links."""
    return at("ledger", "links", "rows", row, column, value=value)


EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no ledger": (lambda d: d.pop("ledger"), "ledger: found nothing, expected an object, as gpunet writes it"),
    "no case": (lambda d: d.pop("case_file"), "case_file: found nothing"),
    "case of a kind": (at("case_file", value=3), "case_file: found a number"),
    "no table": (lambda d: d["ledger"].pop("links"), "ledger.links: found nothing, expected an object with columns"),
    "unknown table": (at("ledger", "cables", value={}), "ledger.cables: found an unknown table"),
    "table of a kind": (at("ledger", "links", value=[]), "ledger.links: found a list"),
    "other columns": (at("ledger", "seats", "columns", value=["device"]), "ledger.seats.columns: found"),
    "no rows": (lambda d: d["ledger"]["seats"].pop("rows"), "ledger.seats.rows: found nothing, expected a list"),
    "short row": (at("ledger", "seats", "rows", 2, value=["leaf-1"]), "ledger.seats.rows[2]: found 1 values"),
    "row of a kind": (at("ledger", "seats", "rows", 2, value="leaf-1"), "ledger.seats.rows[2]: found text"),
    "text for a number": (links(3, 5, "one"), "ledger.links.rows[3].a_cage: found 'one', expected a whole number"),
    "truth for a number": (links(3, 5, True), "ledger.links.rows[3].a_cage: found true"),
    "fraction for a count": (links(3, 5, 1.5), "ledger.links.rows[3].a_cage: found 1.5"),
    "null for a name": (links(3, 3, None), "ledger.links.rows[3].a_device: found null, expected printable text"),
    "list for a name": (links(3, 3, []), "ledger.links.rows[3].a_device: found [], expected printable text"),
    "huge number": (links(3, 5, 10**30), "expected a whole number of at most 1,000,000,000"),
    "huge length": (links(3, 13, 1e200), "ledger.links.rows[3].length_m"),
    "unknown device": (links(3, 3, "leaf-7"), "a_device: found 'leaf-7', expected a device that exists; near"),
    "unknown far device": (links(3, 7, "nobody"), "ledger.links.rows[3].b_device: found 'nobody'"),
    "unknown module": (at("ledger", "seats", "rows", 0, 3, value="flat-sr5"), "nearest: flat-sr4"),
    "unknown switch": (at("ledger", "devices", "rows", 6, 2, value="ib-tiny-9"), "expected a switch of the catalogue"),
    "unknown kind": (at("ledger", "devices", "rows", 0, 1, value="host"), "expected a kind of device that exists"),
    "unknown rack": (at("ledger", "devices", "rows", 0, 6, value="r7"), "expected a rack place that exists"),
    "unknown field": (at("speed", value=1), "speed: found an unknown field"),
    "wrong status": (at("status", value="optimum"), "status: found 'optimum'"),
    "wrong total": (at("totals", "cost_usd", value="dear"), "totals.cost_usd: found 'dear', expected a number"),
    "wrong case": (at("case_file", "cluster", "servers", value=-1), "case_file.cluster.servers: found -1"),
    "unknown server": (at("case_file", "cluster", "server", value="server-3"), "cluster.server: found 'server-3'"),
    "half a character": (links(3, 3, "leaf-\ud800"), "expected printable text"),
    "escape codes": (links(3, 3, "leaf\x1b[31m"), "expected printable text"),
    "half a character on top": (at("engine", value="\ud800"), "half of a character"),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_refused_at_the_place_of_the_edit(name: str, tmp_path: Path) -> None:
    """The message names the place, what stands there, and what should."""
    change, words = EDITS[name]
    assert words in refusal(edited(tmp_path, change))


def test_many_faults_of_one_kind_are_counted(tmp_path: Path) -> None:
    """Five rows are named, the rest counted."""

    def change(data: dict[str, Any]) -> None:
        for row in data["ledger"]["links"]["rows"]:
            row[3] = 1

    told = refusal(edited(tmp_path, change))
    assert told.count("expected printable text") == 5
    assert "21 more rows have the same problem" in told


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a design file (JSON); Expecting value"),
        (b"{", "Expecting property name"),
        (TEXT.encode()[:-3], "design.json:"),
        (b"[]", "found a list, expected a design file"),
        (b"cluster: {gpus: 8}\n", "expected a design file (JSON)"),
        (b"\xff\xfe{}", "found the byte 0xff, expected text in UTF-8"),
        (b'{"gap": NaN}', "NaN is no number"),
        (b'{"gap": ' + b"9" * 5000 + b"}", "expected a design file (JSON)"),
        (b"[" * 100_000, "nested too deep"),
        (b"{}", "case_file: found nothing"),
    ],
    ids=["empty", "cut", "cut late", "list", "YAML", "UTF-16", "NaN", "long number", "deep", "bare"],
)
def test_a_file_that_is_no_design_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    """Whatever the file holds, there is one message with the reason."""
    path = tmp_path / "design.json"
    path.write_bytes(content)
    assert words in refusal(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A missing file and a directory are said to be that."""
    assert "no such file" in refusal(tmp_path / "none.json")
    assert "found a directory" in refusal(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere_is_read_or_refused(data: st.DataObject, tmp_path: Path) -> None:
    """Whatever stands in one place of the file, it is read and judged, or refused; nothing else happens."""

    def change(document: dict[str, Any]) -> None:
        here: Any = document
        while True:
            key = data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
            if isinstance(here[key], dict | list) and here[key] and data.draw(st.booleans()):
                here = here[key]
            else:
                here[key] = data.draw(JSON)
                return

    path = edited(tmp_path, change)
    with contextlib.suppress(InputError):
        assert verify(read_design(path, CATALOG), CATALOG).checks
