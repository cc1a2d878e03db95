"""Trays that hold only so much: sections, cross-sections, the limit in the program, the ledger and the report."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from case_answers import CASES
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog, thick_catalog

from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.design import Design, Status
from gpunet.models.plant import Tray
from gpunet.report.design_text import design_report
from gpunet.report.html_design import lengths_section
from gpunet.solver.alternatives import alternatives
from gpunet.solver.candidates import compile_case
from gpunet.solver.eligible import NO_DIAMETER
from gpunet.solver.engines import Engine, broken, solve
from gpunet.solver.optimize import optimize
from gpunet.solver.search import search
from gpunet.solver.trays import Trays, cross_section, holds
from gpunet.solver.verify import verify

CATALOG = load_catalog()


def small(gpus: int, **site: Any) -> Case:
    data = {"cluster": {"gpus": gpus, "server": "dgx-h100"}, "fabrics": {"backend": {"protocols": ["infiniband"]}}}
    return Case.model_validate({**data, "site": site})


def with_tray(case: Case, tray: Tray | None) -> Case:
    return case.model_copy(update={"site": case.site.model_copy(update={"tray": tray})})


@cache
def copper() -> Design:
    return optimize(read_case(CASES / "tray-copper.yaml", CATALOG), CATALOG)


def test_cross_sections_are_those_of_circles() -> None:
    """Two strands of 8 mm fill 2 x 50.27 mm², rounded up; a tray holds its share, rounded down, times trays."""
    assert cross_section(CATALOG.cables["nv-mca4j80-ftf"]) == 2 * 5027
    assert cross_section(CATALOG.fibres["nv-mfp7e10"]) == 707
    tray = Tray(width_mm=60.5, depth_mm=50, fill=0.333, central=3)
    assert (holds(tray, central=False), holds(tray, central=True)) == (100_732, 3 * 100_732)


def test_a_tray_takes_what_passes_it() -> None:
    """Two rows of four racks, leaves at their ends: which sections lie between places, by hand."""
    room = compile_case(small(128, racks_per_row=2), CATALOG).machines.room
    trays = Trays(room)
    own, other = (zone.name for zone in room.row_zones[:2])
    middle = room.central.name
    assert trays.passed([(0, 0), (own, own), (middle, middle)]) == ()
    assert trays.passed([(0, 1)]) == trays.passed([(0, own)]) == ("racks-01",)
    assert trays.passed([(0, other)]) == ("cross-01", "cross-02", "racks-01")
    assert trays.passed([(own, middle)]) == ("central", "cross-01")
    assert trays.passed([(2, middle), (own, own)]) == ("central", "cross-02", "racks-02")


def test_leaves_in_the_middle_of_a_row_divide_its_tray() -> None:
    """Racks left and right of the leaves send their cables over trays of their own."""
    room = compile_case(small(128, racks_per_row=2, switch_placement="row-middle"), CATALOG).machines.room
    zone = room.row_zones[0].name
    assert Trays(room).passed([(0, zone)]) == ("racks-01-left",)
    assert Trays(room).passed([(1, zone)]) == ("racks-01-right",)


def test_copper_for_as_many_ports_as_fit() -> None:
    """The header of ``tray-copper``: 100.54 n + 14.14 (32 - n) <= 1,500 allows twelve cables of copper."""
    design = copper()
    lines = {line.medium: line.count for line in design.result.fabrics["backend"].interconnects}
    assert lines == {"nv-mca4j80-ftf-n003": 24, "nv-mfp7e10-n003": 40}
    fullest = max(design.result.trays, key=lambda section: section.share)
    assert (fullest.section, fullest.used_mm2, fullest.limit_mm2) == ("racks-01", 1489.28, 1500)
    text = "\n".join(map(str, design_report(design)))
    assert "racks-01" in text
    assert "1,489 mm²" in text
    page = lengths_section(design, CATALOG)
    assert "1,489 mm²" in str(page.items[-1])


def test_a_limit_that_is_wide_enough_changes_nothing() -> None:
    """As wide as copper needs: the design without a limit; 0.01 % narrower and it is another."""
    case = copper().case
    free = optimize(with_tray(case, None), CATALOG)
    wide, narrow = (optimize(with_tray(case, Tray(width_mm=w, depth_mm=1, fill=1)), CATALOG) for w in (3217.28, 3217.2))
    assert free.result.trays == ()
    assert wide.ledger == free.ledger
    assert narrow.result.objective != free.result.objective


def test_a_choice_that_overfills_a_tray_is_broken() -> None:
    """Every block built its thickest way breaks the limit on trays, and nothing else."""
    found = search(compile_case(copper().case, CATALOG))
    assert found.data is not None
    assert found.outcome.choice is not None
    assert broken(found.data, found.outcome.choice) == []
    for key, counts in found.outcome.choice.built.items():
        loads = [way.tray_load for way in found.data.ways[key]]
        thickest = loads.index(max(loads))
        counts[:] = [sum(counts) if way == thickest else 0 for way in range(len(counts))]
    assert broken(found.data, found.outcome.choice) == ["tray_fill"]


@pytest.mark.parametrize("seed", [6, 18, 25])
def test_engines_agree(seed: int) -> None:
    """HiGHS, SCIP and CP-SAT find the same where a tray binds."""
    parts = thick_catalog()
    found = search(compile_case(random_case(seed, parts, "trays"), parts))
    assert found.data is not None
    values = {solve(found.data, engine).value for engine in Engine}
    assert values == {found.outcome.value}
    assert found.outcome.value is not None


@pytest.mark.parametrize("placement", ["row-end", "row-middle", "network-row", "top-of-rack", "shortest"])
def test_the_ledger_lies_in_the_sections_that_were_counted(placement: str) -> None:
    """Wherever leaves stand: no section of the wiring holds more than the program counted, and verify agrees."""
    tray = {"width_mm": 200, "depth_mm": 50, "fill": 0.4}
    case = small(256, racks_per_row=3, switch_placement=placement, tray=tray, plant={})
    found = search(compile_case(case, CATALOG))
    assert found.data is not None
    assert found.outcome.choice is not None
    counted = found.outcome.choice.tray_loads(found.data)
    result = optimize(case, CATALOG).result
    assert result.status is Status.OPTIMAL
    there = {section.section: round(100 * section.used_mm2) for section in result.trays}
    assert there.keys() == counted.keys()
    assert all(there[section] <= counted[section] for section in there)
    if placement != "top-of-rack":
        assert there == counted


def test_verification_finds_cable_beyond_the_limit() -> None:
    """A narrower tray under the same wiring, another figure in the result, a thicker cable: each fails the check."""
    design = copper()
    assert verify(design, CATALOG).passed
    section = design.result.trays[-1]
    told = design.result.model_copy(
        update={"trays": (*design.result.trays[:-1], section.model_copy(update={"used_mm2": 1.0}))}
    )
    narrow = with_tray(design.case, Tray(width_mm=59, depth_mm=50, fill=0.5))
    thick = CATALOG.fibres["nv-mfp7e10"].model_copy(update={"strands": 2})
    for case, result, catalog, words in (
        (narrow, design.result, CATALOG, "1,489.28 mm2 of cable in a tray for 1,475.00 mm2"),
        (design.case, told, CATALOG, "the result tells 1.00 of 1,500.00 mm2, the ledger has 1,489.28"),
        (
            design.case,
            design.result,
            CATALOG.model_copy(update={"fibres": {**CATALOG.fibres, thick.id: thick}}),
            "1,772.08 mm2 of cable in a tray",
        ),
    ):
        checks = verify(Design(case, result, design.ledger), catalog).checks
        (trays,) = [check for check in checks if check.name == "trays"]
        assert not trays.passed
        assert words in trays.detail


def test_explain_says_how_wide_is_enough() -> None:
    """256 links of 7.07 mm² over one row need 1,809.92 mm²: 90.5 mm of a tray 50 mm deep, filled to 40 %."""
    design = optimize(small(256, tray={"width_mm": 80, "depth_mm": 50, "fill": 0.4}), CATALOG)
    assert design.result.status is Status.INFEASIBLE
    assert "site.tray.width_mm: 80 mm set; 90.5 mm is enough, using 12 x ib-qm9700" in design.result.reasons


def test_alternatives_keep_the_limit() -> None:
    """The best of every structure fits the tray: none is cheaper than the design, as all copper would be."""
    study = alternatives(copper().case, CATALOG, within=0.02)
    values = [found.value for found in study.fabrics["backend"].alternatives]
    assert min(values) == study.value == 88_930


def test_a_part_without_a_diameter_is_left_out() -> None:
    """Nobody can say that it fits; without a limit it may be used."""
    parts, case = awkward_catalog(), random_case(6, thick_catalog(), "trays")
    shut = {
        name
        for e in compile_case(case, parts).eligible.values()
        for name, why in e.shut_out.items()
        if why == NO_DIAMETER
    }
    assert {*parts.cables, *parts.fibres} - shut == set(case.parts.deny) & {*parts.cables, *parts.fibres}
    free = compile_case(with_tray(case, None), parts)
    assert NO_DIAMETER not in {why for e in free.eligible.values() for why in e.shut_out.values()}
