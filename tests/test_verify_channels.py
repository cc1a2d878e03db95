"""Designs with panels and trunks: proven as they are built, and refused with anything in the plant spoilt."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from sample_design import with_ledger, with_links

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.design import Check, Design, Status
from gpunet.models.ledger import Channel, Ledger, Panel
from gpunet.models.parts import Catalog, Fibre
from gpunet.solver.enclosures import crowded_racks, panel_units
from gpunet.solver.optimize import optimize
from gpunet.solver.verify import verify

CATALOG = load_catalog()
TRUNK, SINGLE = "trunk-mtp8-om4-96f-apc", "trunk-mtp12-om4-8f-apc"


def case_data(structure: object, **plant: str) -> dict[str, Any]:
    """Two leaves, one spine; shared trunks are nearly given away, panels for twelve too."""
    return {
        "cluster": {"gpus": 64, "server": "dgx-h100"},
        "fabrics": {"backend": {"protocols": ["infiniband"], "min_leaves": 2}},
        "site": {"network_racks_per_row": 1, "network_racks_central": 1, "plant": {"structure": structure, **plant}},
        "prices": {"overrides_usd": {TRUNK: 1, "panel-mpo-12": 1}},
    }


@cache
def design_of(structure: str) -> Design:
    """A design that lays every fibre this way."""
    design = optimize(case_from_data(case_data(structure), CATALOG), CATALOG)
    assert design.result.status is Status.OPTIMAL, design.result.reasons
    return design


def checks(design: Design, catalog: Catalog = CATALOG) -> dict[str, Check]:
    """The checks by name."""
    return {check.name: check for check in verify(design, catalog).checks}


def shared() -> list[int]:
    """Rows of channels that share trunks."""
    return [i for i, row in enumerate(design_of("two-panels").ledger.channels) if row.run.startswith(TRUNK)]


@pytest.mark.parametrize("structure", ["one-panel", "two-panels"])
def test_a_design_through_panels_is_proven(structure: str) -> None:
    """Every fibre has its channel, all parts are on the bill, and nothing is found wrong."""
    design = design_of(structure)
    assert verify(design, CATALOG).passed
    ledger = design.ledger
    assert {row.assembly for row in ledger.channels} == {link.assembly for link in ledger.links}
    panels = {"one-panel": 1, "two-panels": 2}[structure]
    singles = [row for row in ledger.channels if not row.run.startswith(TRUNK)]
    assert sum(panel.part == "panel-mpo-1" for panel in ledger.panels) == panels * len(singles)
    bill = {line.part: line for line in design.result.bom}
    assert bill["panel-mpo-1"].kind == "panel"
    assert "of enclosure" in bill["panel-mpo-1"].note


def test_trunks_are_filled_and_shared() -> None:
    """The 32 links of a leaf run in three trunks, twelve to a plate at each end."""
    ledger = design_of("two-panels").ledger
    trunks: dict[int, list[Channel]] = {}
    for i in shared():
        trunks.setdefault(ledger.channels[i].trunk, []).append(ledger.channels[i])
    assert sorted(len(rows) for rows in trunks.values()) == [8, 8, 12, 12, 12, 12]
    assert sum(panel.part == "panel-mpo-12" for panel in ledger.panels) == 12
    bill = {line.part: line.quantity for line in design_of("two-panels").result.bom}
    assert sum(n for part, n in bill.items() if part.startswith(TRUNK)) == 6


def channel(row: int, structure: str = "two-panels", **fields: Any) -> Design:
    """A design with one channel changed."""
    design = design_of(structure)
    rows = list(design.ledger.channels)
    rows[row] = rows[row]._replace(**fields)
    return with_ledger(design, channels=rows)


def fibre(part: str, **fields: Any) -> tuple[Design, Catalog]:
    """The design through two panels with another catalogue."""
    changed: dict[str, Fibre] = {**CATALOG.fibres, part: CATALOG.fibres[part].model_copy(update=fields)}
    return design_of("two-panels"), CATALOG.model_copy(update={"fibres": changed})


def case(structure: object, **plant: str) -> Design:
    """The design through two panels under another case."""
    design = design_of("two-panels")
    return Design(case_from_data(case_data(structure, **plant), CATALOG), design.result, design.ledger)


def panels(change: Callable[[list[Panel]], list[Panel]]) -> Design:
    """The design through two panels with other panels."""
    design = design_of("two-panels")
    return with_ledger(design, panels=change(list(design.ledger.panels)))


SPOILT: dict[str, tuple[Callable[[], Design | tuple[Design, Catalog]], str, str]] = {
    "place used twice": (
        lambda: channel(shared()[1], near_position=1), "channels", "is used 2 times"),
    "connector used twice": (lambda: channel(shared()[1], leg=1), "channels", "connector 1 of run"),
    "more connectors than there are": (lambda: channel(shared()[1], leg=13), "channels", "has 12"),
    "place beyond the panel": (lambda: channel(0, near_position=2), "channels", "which has 1"),
    "no such panel": (lambda: channel(0, near_panel=99_999), "channels", "no panel 99999"),
    "one panel for both ends": (
        lambda: channel(0, far_panel=design_of("two-panels").ledger.channels[0].near_panel), "channels", "both ends"),
    "idle panel": (
        lambda: panels(lambda p: [*p, Panel(len(p) + 1, "panel-mpo-1", p[0].rack)]), "channels", "serves no channel"),
    "idle panel on the bill": (
        lambda: panels(lambda p: [*p, Panel(len(p) + 1, "panel-mpo-1", p[0].rack)]), "bom", "pieces on the bill"),
    "panel numbered twice": (lambda: panels(lambda p: [*p, p[0]]), "channels", "is entered 2 times"),
    "panel of another connector": (
        lambda: panels(lambda p: [p[0]._replace(part="panel-lc-1"), *p[1:]]), "channels", "R10: panel-lc-1 takes LC"),
    "no panel at all": (
        lambda: panels(lambda p: [p[0]._replace(part="otdr-mpo"), *p[1:]]), "channels", "is no panel"),
    "panel in another rack": (
        lambda: panels(lambda p: [p[0]._replace(rack="n01-c01"), *p[1:]]), "channels", "does not cover"),
    "run too short": (lambda: channel(0, run=f"{SINGLE}-n003"), "channels", "does not cover"),
    "no stock length": (lambda: channel(0, run=f"{SINGLE}-n004"), "channels", "of that stock length"),
    "run of other glass": (
        lambda: channel(0, run="trunk-mtp12-os2-8f-n010"), "channels", "R5: glass of OM4 and OS2"),
    "run of other polish": (
        lambda: channel(0, run="trunk-mtp12-om4-8f-n010"), "channels", "R11: trunk-mtp12-om4-8f-n010 has MPO-12/UPC"),
    "run named twice": (
        lambda: channel(shared()[0], run=f"{SINGLE}-n010"), "channels", "and also"),
    "a trunk torn in two": (lambda: channel(shared()[1], trunk=99_999), "bom", f"{TRUNK}"),
    "female run": (lambda: fibre(SINGLE, gender="female/female"), "channels", "R12"),
    "straight run": (lambda: fibre(SINGLE, polarity="Type A"), "channels", "cross over 2 times"),
    "fewer fibres": (lambda: fibre(SINGLE, fibres=4), "channels", "4 fibres per connector"),
    "male cord": (lambda: fibre("nv-mfp7e10", gender="male/female"), "channels", "male ends and enters"),
    "lossy run": (lambda: fibre(SINGLE, loss_per_mated_pair_db=0.6), "channels", "R14: 1.9"),
    "worst-case pairs": (lambda: case("two-panels", mates="standard"), "channels", "R14: 3.0"),
    "structure not allowed": (lambda: case(["direct", "one-panel"]), "channels", "two-panels; the case allows"),
    "a channel left out": (
        lambda: with_ledger(design_of("two-panels"), channels=design_of("two-panels").ledger.channels[1:]),
        "channels", "is a direct cord"),
    "a channel twice": (
        lambda: with_ledger(
            design_of("two-panels"),
            channels=[*design_of("two-panels").ledger.channels, design_of("two-panels").ledger.channels[0]],
        ),
        "channels", "has 2 channels"),
    "a channel of nothing": (lambda: channel(0, assembly=99_999), "channels", "which no link uses"),
    "a cord missing": (lambda: channel(0, cord=""), "channels", "with the cord ''"),
    "a cord too many": (
        lambda: channel(0, "one-panel", cord="nv-mfp7e10-n003"), "channels", "with the cord"),
    "a far panel too many": (
        lambda: channel(0, "one-panel", far_panel=2, far_position=1), "channels", "a far panel 2"),
    "a straight piece where one crossing is needed": (
        lambda: channel(0, "one-panel", run="nv-mfp7e10-n010"), "channels", "R12"),
    "another length": (
        lambda: with_links(design_of("two-panels"), {0: {"length_m": 15.0}}), "channels", "its pieces come to"),
    "a part shut out": (
        lambda: Design(
            case_from_data({**case_data("two-panels"), "parts": {"deny": ["panel-mpo-1"]}}, CATALOG),
            design_of("two-panels").result,
            design_of("two-panels").ledger,
        ),
        "support", "panel-mpo-1: not allowed"),
}  # fmt: skip
"""What is spoilt: the design, the check that must fail, and words of what it says."""


@pytest.mark.parametrize("name", SPOILT)
def test_anything_spoilt_in_the_plant_is_found(name: str) -> None:
    """One thing wrong, and the check of its kind fails and says so."""
    spoil, check, words = SPOILT[name]
    made = spoil()
    found = checks(*made) if isinstance(made, tuple) else checks(made)
    assert not found[check].passed
    assert words in found[check].detail


def test_a_plant_in_the_ledger_needs_one_in_the_case() -> None:
    """Channels of a case that says nothing of panels are refused."""
    design = design_of("two-panels")
    data = case_data("direct")
    del data["site"]["plant"]
    found = checks(Design(case_from_data(data, CATALOG), design.result, design.ledger))
    assert "two-panels; the case allows direct" in found["channels"].detail


def test_without_a_plant_there_is_no_check_of_it() -> None:
    """A case without a plant has the checks it always had."""
    data = case_data("direct")
    del data["site"]["plant"]
    design = optimize(case_from_data(data, CATALOG), CATALOG)
    assert "channels" not in checks(design)
    assert not design.ledger.panels


def test_racks_without_room_for_their_enclosures_are_named() -> None:
    """Where the units beside switches and servers are fewer than the panels fill, every such rack is told."""
    ledger = design_of("two-panels").ledger
    taken = {panel.rack: 0 for panel in ledger.panels}
    for device in ledger.devices:
        if device.rack in taken:
            taken[device.rack] += device.rack_units
    filled: dict[str, int] = dict.fromkeys(taken, 0)
    for (_, rack), units in panel_units(ledger, CATALOG).items():
        filled[rack] += units
    fullest = max(taken, key=lambda rack: taken[rack] + filled[rack])
    just_enough = taken[fullest] + filled[fullest]
    assert crowded_racks(ledger, CATALOG, just_enough) == ()
    (warning,) = crowded_racks(ledger, CATALOG, just_enough - 1)
    assert f"{fullest}: {filled[fullest]} of enclosure, {filled[fullest] - 1} free" in warning


def test_enclosures_are_counted_rack_by_rack() -> None:
    """Fifty places of one kind in a rack fill two units of 48; two places in another rack a third."""
    panels = [Panel(i + 1, "panel-mpo-1", "n01-c01" if i < 50 else "r01-n01") for i in range(52)]
    assert panel_units(Ledger(panels=panels), CATALOG) == {
        ("panel-mpo-1", "n01-c01"): 2,
        ("panel-mpo-1", "r01-n01"): 1,
    }
