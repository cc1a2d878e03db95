"""``site.switch_placement: cheapest``: every placement is proven, the best is taken; no two racks share a place."""

from __future__ import annotations

import dataclasses
import itertools
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gpunet
from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.cli import app
from gpunet.design_file import read_design, write_design
from gpunet.models.case import FIXED_PLACEMENTS, Case, Placement, Rack, Site
from gpunet.models.design import Design, Status
from gpunet.models.problems import InputError
from gpunet.report.answer import answer, no_answer
from gpunet.solver.candidates import Compiled
from gpunet.solver.layout import Room, ServerLoad
from gpunet.solver.optimize import optimize
from gpunet.solver.placements import placed
from gpunet.solver.search import Found, search
from gpunet.solver.verify import verify
from gpunet.solver.workbench import Workbench

CATALOG = awkward_catalog()
SEEDS = [("plain", 0), ("plain", 5), ("plain", 9), ("limits", 2), ("limits", 4), ("fabrics", 2), ("racks", 1)]
CLUSTER = {"cluster": {"gpus": 64, "server": "dgx-h100"}, "fabrics": {"backend": {"max_tiers": 1}}}
OPEN = CLUSTER | {"name": "open", "site": {"switch_placement": "cheapest", "servers_per_rack": 1, "racks_per_row": 4}}


@cache
def opened() -> Design:
    """Eight servers in two rows, the placement left open."""
    return gpunet.optimize(OPEN)


@pytest.mark.parametrize(("family", "seed"), SEEDS)
def test_the_cheapest_placement_is_the_best_of_all_of_them(family: str, seed: int) -> None:
    """Each comes to what the same case with that placement comes to; the least is taken, the first of equals."""
    case = random_case(seed, CATALOG, family)
    alone = {p: Workbench(placed(case, p), CATALOG).at({}) for p in FIXED_PLACEMENTS}
    there = {
        p: tuple(x.weight.of(o) / (1000 if o.value == "power" else 100) for o in case.objectives)
        for p, x in alone.items()
        if x.weight is not None
    }
    design = optimize(placed(case, Placement.CHEAPEST), CATALOG)
    result = design.result
    assert {x.placement: x.objectives for x in result.placements} == {
        p.value: there.get(p, ()) for p in FIXED_PLACEMENTS
    }
    assert there
    best = min(there, key=there.__getitem__)
    assert design.case.site.switch_placement is best
    assert [x.placement for x in result.placements if x.chosen] == [best.value]
    assert result.status is Status.OPTIMAL
    assert result.gap == 0
    assert result.objective is not None
    assert result.objective.value == there[best][0]


def test_a_placement_without_a_design_is_said_to_have_none() -> None:
    """All servers in one row, and a network row 300 m off: further than multimode goes."""
    design = gpunet.optimize(OPEN | {"site": OPEN["site"] | {"racks_per_row": 8, "row_pitch_m": 300, "fibre": ["OM4"]}})
    tried = {x.placement: x for x in design.result.placements}
    assert tried["network-row"].status is Status.INFEASIBLE
    assert tried["network-row"].objectives == ()
    assert tried["row-end"].status is Status.OPTIMAL
    assert "network-row has no design" in answer(design)


def test_no_placement_at_all() -> None:
    """Where none has a design, all are listed, and the reasons say about which one they are."""
    result = gpunet.optimize(OPEN | {"limits": {"cost_usd": 1}}).result
    assert result.status is Status.INFEASIBLE
    assert {x.status for x in result.placements} == {Status.INFEASIBLE}
    assert len(result.placements) == len(FIXED_PLACEMENTS)
    assert "what follows is about row-end" in no_answer(result)
    assert len(result.reasons) > 1


def test_the_design_file_keeps_the_placement_taken_and_all_that_were_weighed(tmp_path: Path) -> None:
    """The case of the design names the placement; read back, all is there and holds; no other design has the field."""
    design = opened()
    file = tmp_path / "design.json"
    file.write_text(write_design(design), encoding="utf-8")
    data = json.loads(file.read_text("utf-8"))
    taken = next(x["placement"] for x in data["placements"] if x["chosen"])
    assert data["case_file"]["site"]["switch_placement"] == taken
    again = read_design(file, load_catalog())
    assert again.result.placements == design.result.placements
    assert gpunet.verify(again).passed
    alone = gpunet.optimize(OPEN | {"site": OPEN["site"] | {"switch_placement": taken}})
    assert "placements" not in json.loads(write_design(alone))
    assert alone.ledger == design.ledger


def spoilt(design: Design, **changes: dict[str, Any]) -> Design:
    """The design with other figures for some placements."""
    found = tuple(x.model_copy(update=changes.get(x.placement.replace("-", "_"), {})) for x in design.result.placements)
    return dataclasses.replace(design, result=design.result.model_copy(update={"placements": found}))


def test_verification_sees_a_wrong_choice() -> None:
    """A better placement that was passed over, one not proven, one left out, and a figure that is not the design's."""
    design = opened()
    chosen = next(x for x in design.result.placements if x.chosen)
    other = next(x for x in design.result.placements if not x.chosen)
    mine, theirs = chosen.placement.replace("-", "_"), other.placement.replace("-", "_")
    wrong = [
        spoilt(design, **{theirs: {"objectives": (1.0,)}}),
        spoilt(design, **{theirs: {"status": Status.NO_SOLUTION, "objectives": ()}}),
        spoilt(design, **{theirs: {"status": Status.INFEASIBLE}}),
        spoilt(design, **{mine: {"objectives": (1.0,)}}),
        spoilt(design, **{mine: {"chosen": False}, theirs: {"chosen": True}}),
        dataclasses.replace(
            design, result=design.result.model_copy(update={"placements": design.result.placements[1:]})
        ),
    ]
    for bad in wrong:
        assert [c.name for c in verify(bad, load_catalog()).checks if not c.passed] == ["placement"]


@pytest.mark.parametrize("claimed", FIXED_PLACEMENTS, ids=lambda p: p.value)
def test_verification_sees_where_switches_stand(claimed: Placement) -> None:
    """A design of one placement that claims another is refused wherever the two put its switches apart."""
    held = []
    for built in FIXED_PLACEMENTS:
        design = gpunet.optimize(OPEN | {"site": OPEN["site"] | {"switch_placement": built.value}})
        told = tuple(
            x.model_copy(update={"chosen": x.placement == claimed.value, "objectives": (10.0**9,)})
            for x in opened().result.placements
        )
        result = design.result.model_copy(update={"placements": told})
        claims = Design(placed(design.case, claimed), result, design.ledger)
        check = next(c for c in verify(claims, load_catalog()).checks if c.name == "placement")
        if "stands" not in check.detail and "between switches" not in check.detail:
            held.append(built)
    assert claimed in held
    assert len(held) < len(FIXED_PLACEMENTS)


STUDIES = [["sensitivity"], ["frontier"], ["ceiling", "--cost", "900000"], ["alternatives"], ["compare"]]


@pytest.mark.parametrize("study", STUDIES, ids=lambda words: words[0])
def test_a_study_of_one_room_says_what_to_write_instead(study: list[str], tmp_path: Path) -> None:
    """At its line and column, with the placements that there are."""
    file = tmp_path / "case.yaml"
    file.write_text("cluster: {gpus: 64, server: dgx-h100}\nsite: {switch_placement: cheapest}\n", encoding="utf-8")
    answered = CliRunner().invoke(app, [study[0], str(file), *study[1:]])
    assert answered.exit_code == 2
    assert ":2:26: site.switch_placement: found cheapest, expected one of row-end, row-middle," in answered.output
    with pytest.raises(InputError, match=r"site\.switch_placement: found cheapest, expected one of row-end"):
        Workbench(case_from_data(OPEN, load_catalog()), load_catalog()).at({})


def test_placements_side_by_side() -> None:
    """``compare --by placement`` sets the same figures side by side, whichever placement the case has."""
    study = gpunet.compare(OPEN, by="placement")
    told = {x.placement: x.objectives[0] for x in opened().result.placements}
    assert {x.choice: x.design.cost_usd for x in study.choices if x.design is not None} == told
    assert study.status is Status.OPTIMAL
    assert study.reference == min(told, key=told.__getitem__)
    own = OPEN | {"site": OPEN["site"] | {"switch_placement": "network-row"}}
    assert gpunet.compare(own, by="placement").reference == "network-row"


def test_explain_looks_at_the_placement_taken() -> None:
    """It names the placement that it is about, and comes to the same design."""
    study = gpunet.explain(OPEN)
    taken = opened().case.site.switch_placement.value
    assert study.notes[0].startswith(f"site.switch_placement: what is said is about {taken}, the cheapest of")
    assert study.value == opened().result.totals.cost_usd  # type: ignore[union-attr]


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(
    placement=st.sampled_from(FIXED_PLACEMENTS),
    servers=st.integers(1, 70),
    storage=st.integers(0, 9),
    per_rack=st.sampled_from([None, 1, 2, 3]),
    racks_per_row=st.sampled_from([None, 1, 2, 5, 30]),
    per_row=st.sampled_from([None, 1, 2, 7]),
    central=st.sampled_from([None, 1, 3, 20]),
    rack_pitch_m=st.sampled_from([0.6, 0.8, 4.0]),
)
def test_no_two_racks_share_a_place(
    placement: Placement,
    servers: int,
    storage: int,
    per_rack: int | None,
    racks_per_row: int | None,
    per_row: int | None,
    central: int | None,
    rack_pitch_m: float,
) -> None:
    """Server racks, the leaves' zones and the central zone keep apart by a rack's pitch, in every placement."""
    site = Site(
        switch_placement=placement,
        servers_per_rack=per_rack,
        racks_per_row=racks_per_row,
        network_racks_per_row=per_row,
        network_racks_central=central,
        rack_pitch_m=rack_pitch_m,
        rack=Rack(power_kw=40),
    )
    case = Case.model_validate({"cluster": {"servers": servers, "server": "x"}}).model_copy(update={"site": site})
    room = Room(case, ServerLoad(8, 10_000_000), servers, ServerLoad(2, 1_000_000), storage, 3200.0)
    zones = [z for z in room.zones.values() if z.name == "central" or not room.network_places_together]
    places = [*room.racks, *(place for zone in zones for place in zone.places)]
    assert len({p.name for p in places}) == len(places)
    lines: dict[float, list[float]] = {}
    for place in places:
        lines.setdefault(round(place.y_m, 6), []).append(place.x_m)
    for xs in map(sorted, lines.values()):
        assert all(b - a > rack_pitch_m - 1e-6 for a, b in itertools.pairwise(xs))
    rows = sorted(lines)
    assert all(b - a > site.row_pitch_m - 1e-6 for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("has_design", [True, False])
def test_a_choice_that_time_cut_short_is_not_called_proven(has_design: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One placement stopped early leaves the whole unproven, with the least of all bounds; the design verifies."""

    def stopped(compiled: Compiled, *rest: Any) -> Found:
        found = search(compiled, *rest)
        if compiled.case.site.switch_placement is not Placement.NETWORK_ROW:
            return found
        cut: dict[str, Any] = {"status": Status.FEASIBLE, "bound": 100.0}
        if not has_design:
            cut = {"status": Status.NO_SOLUTION, "bound": None, "choice": None, "value": None}
        return dataclasses.replace(found, outcome=dataclasses.replace(found.outcome, **cut))

    monkeypatch.setattr("gpunet.solver.placements.search", stopped)
    result = gpunet.optimize(OPEN).result
    assert result.status is Status.FEASIBLE
    assert result.bound == (1.0 if has_design else None)
    assert result.gap is not None
    assert result.gap > 0.99
    assert result.verify is not None
    assert result.verify.passed
    assert result.objective == opened().result.objective
