"""The files of a plan in phases: complete, in agreement with the answer, and each phase a design that holds."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from test_phases import CATALOG, case_of, drawn
from typer.testing import CliRunner

from gpunet.cli import app
from gpunet.design_file import read_design
from gpunet.files import write_all
from gpunet.models.study_phases import Phases
from gpunet.report.html_phases import phases_page
from gpunet.report.phases_files import phases_files
from gpunet.report.phases_text import phases_report
from gpunet.solver.phases import designed_phases
from gpunet.solver.verify import verify


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("seed", [4, 8, 9])
def test_files_tell_what_the_answer_tells(seed: int, tmp_path: Path) -> None:
    """What is bought, pulled, kept and laid adds up; every phase is a design that passes its checks when read back."""
    study, designs = designed_phases(drawn(seed), CATALOG)
    write_all(tmp_path, phases_files(study, designs, CATALOG))
    assert Phases.model_validate(json.loads((tmp_path / "phases.json").read_text(encoding="utf-8"))) == study
    cables = 0
    for step in study.plans[0].steps:
        folder = tmp_path / step.when
        design = read_design(folder / "design.json", CATALOG)
        assert verify(design, CATALOG).passed
        bought = rows(folder / "buy.csv")
        assert sum(round(float(x["extended_usd"]) * 100) for x in bought) == round(step.cost_usd * 100)
        change = Counter(x["change"] for x in rows(folder / "moves.csv"))
        assert change["pulled"] == step.moved_cables
        assert change["pulled"] + change["kept"] == step.cables_before == cables
        cables = change["kept"] + change["laid"]
        assert cables == len({link.assembly for link in design.ledger.links})


def test_some_cable_is_pulled() -> None:
    """Among the cases above is one whose plan moves cables."""
    assert any(designed_phases(drawn(seed), CATALOG).study.plans[0].moved_cables for seed in (4, 8, 9))


def test_equal_plans_give_equal_files(tmp_path: Path) -> None:
    """Two runs write the same bytes."""
    for name in "ab":
        write_all(tmp_path / name, phases_files(*designed_phases(case_of(2, 4), CATALOG), CATALOG))
    a, b = ({str(x.relative_to(tmp_path / n)): x.read_bytes() for x in (tmp_path / n).rglob("*.*")} for n in "ab")
    assert a == b
    assert len(a) == 14


def test_the_page_tells_the_plan_and_marks_a_broken_limit() -> None:
    """The cost, both other ways and every phase; no id twice; a way that moves too many cables is marked."""
    study, designs = designed_phases(case_of(2, 4), CATALOG)
    worse = study.plans[2].model_copy(update={"moved_cables": 7})
    plans = (*study.plans[:2], worse)
    page = phases_page(study.model_copy(update={"plans": plans, "limit_moved_cables": 3}), designs, CATALOG)
    assert f"{study.plans[0].cost_usd:,.2f}" in page
    assert "7, over the limit" in page
    assert all(f'id="phase-{step.when}"' in page for step in study.plans[0].steps)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_gpus_that_fill_no_whole_server_are_told() -> None:
    """Three GPUs on servers of two: four are bought, and the report says so; where they are whole it is silent."""
    case = case_of(2, 4)
    odd = [{"when": "2027Q1", "gpus": 3}, {"when": "2028Q1", "gpus": 8}]
    study = designed_phases(case_of(2, 4, phases=odd), CATALOG).study
    told = [str(block) for block in phases_report(study) if "asked for" in str(block)]
    assert len(told) == 1
    assert "3 GPUs asked for: 2 whole servers hold 4" in told[0]
    assert not any("asked for" in str(block) for block in phases_report(designed_phases(case, CATALOG).study))


def test_a_study_without_a_plan_has_no_files() -> None:
    """It says so."""
    study, designs = designed_phases(case_of(2, 4), CATALOG)
    with pytest.raises(ValueError, match="no files"):
        phases_files(study.model_copy(update={"plans": ()}), designs, CATALOG)


def test_the_command_writes_a_plan_and_shows_it_when_it_cannot(tmp_path: Path) -> None:
    """``-o`` names what it wrote; where a file stands in the way the plan is printed all the same."""
    case = tmp_path / "grow.yaml"
    text = "cluster: {gpus: 64, server: dgx-h100}\nfabrics: {frontend: {}}\n"
    case.write_text(text + "phases: [{when: 2027Q1, gpus: 16}, {when: 2028Q1, gpus: 64}]\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["phases", str(case), "-o", str(tmp_path / "plan")])
    assert done.exit_code == 0, done.output
    assert "2027Q1, 2028Q1 are written" in done.output
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "plan" / "2028Q1" / "design.json")]).exit_code == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "2028Q1").write_text("mine", encoding="utf-8")
    done = CliRunner().invoke(app, ["phases", str(case), "-o", str(tmp_path / "other")])
    assert done.exit_code != 0
    assert "a file stands where the directory should go" in done.output
    assert "proven the least" in done.output
    assert [x.name for x in (tmp_path / "other").iterdir()] == ["2028Q1"]
