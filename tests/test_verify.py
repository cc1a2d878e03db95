"""Every check of the verifier holds on a sound design and fails, with the right words, when one thing is spoilt."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from sample_design import with_links, with_result
from spoilt_designs import CATALOG, SOUND, SPOILT, case_with, rebuilt, uneven

from gpunet.models.design import Check, Design
from gpunet.models.parts import Catalog
from gpunet.solver.verify import verify

ALLOWED = ("gpunet.models", "gpunet.catalogs", "gpunet.solver.verify")


def checks(design: Design, catalog: Catalog = CATALOG) -> dict[str, Check]:
    """The checks by name."""
    return {check.name: check for check in verify(design, catalog).checks}


def test_a_sound_design_passes_every_check() -> None:
    """Nothing is refused in a design wired by hand, and every check says what it looked at."""
    report = verify(SOUND, CATALOG)
    assert report.passed, [c for c in report.checks if not c.passed]
    assert all(c.detail for c in report.checks)


@pytest.mark.parametrize("name", SPOILT)
def test_one_fault_fails_its_check_by_name(name: str) -> None:
    """One thing spoilt fails the check it belongs to, and the detail names the thing."""
    check, words, spoil = SPOILT[name]
    spoilt = spoil()
    design, catalog = spoilt if isinstance(spoilt, tuple) else (spoilt, CATALOG)
    found = checks(design, catalog)[check]
    assert not found.passed
    assert words in found.detail


def test_every_check_can_fail() -> None:
    """No check is without a fault that it catches."""
    assert set(checks(SOUND)) == {check for check, _, _ in SPOILT.values()}


def test_growth_that_fits_passes() -> None:
    """At 2:1 the same uplinks serve half as many servers again, and the detail says so."""
    design = rebuilt(cluster__growth=0.5, fabrics={"backend": {"oversubscription": 2}, "oob": {}})
    found = checks(design)["oversubscription"]
    assert found.passed
    assert "room for 2 more servers" in found.detail


def test_counting_ports_is_a_note_not_a_proof() -> None:
    """With ``striping: ports`` the (3,1)/(1,3) wiring passes, but is called not proven, and its thin cut is told."""
    found = checks(uneven(case_with(fabrics={"backend": {"striping": "ports"}, "oob": {}})))
    assert found["striping"].passed
    assert "not proven non-blocking" in found["striping"].detail
    assert found["flow"].passed
    assert "carry less than non-blocking" in found["flow"].detail


def test_owned_parts_overrides_and_discounts_enter_the_bill() -> None:
    """Owned switches cost nothing and draw watts, a quote keeps its figure, a discount takes its share."""
    prices = {"overrides_usd": {"twin-sr4": 700}, "discounts": {"lumen": 0.1}}
    design = rebuilt(prices=prices, owned=[{"part": "ib-tiny-8", "quantity": 3}])
    assert verify(design, CATALOG).passed
    assert design.result.totals is not None
    assert design.result.totals.power_max_w == 1684
    assert design.result.totals.cost_usd < 9_000 + 12 * 700 + 8 * 500 + 500 + 16 * 50 + 10 * 8


def test_long_lists_of_faults_are_cut() -> None:
    """A fault in every link is counted in full and named twenty times."""
    detail = checks(with_links(SOUND, {row: {"medium": "string-n010"} for row in range(26)}))["reach"].detail
    assert detail.startswith("26 violations: ")
    assert detail.endswith("; and 6 more")
    assert detail.count("no fibre or cable") == 20


def test_a_result_without_a_design_is_not_proven() -> None:
    """An infeasible case has nothing to check and does not pass."""
    report = verify(with_result(SOUND, totals=None), CATALOG)
    assert not report.passed
    assert [c.name for c in report.checks] == ["design"]


def test_verify_imports_nothing_that_made_the_design() -> None:
    """No file of the verifier imports a template, the program, the layout, the interconnect rules or the builder."""
    files = sorted(Path(__file__).parent.parent.joinpath("solver").glob("verify*.py"))
    assert len(files) > 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, file.name
                modules = [f"{node.module}.{a.name}" for a in node.names]
            own = [m for m in modules if m.startswith(("gpunet", "solver", "models", "catalogs"))]
            assert all(m.startswith(ALLOWED) for m in own), (file.name, own)
