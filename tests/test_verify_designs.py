"""The verifier on other shapes of design: cables, splitters, pods under cores, converged storage, and wrecks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample_design import (
    converged,
    hand_catalog,
    one_rack,
    two_by_two,
    two_pods,
    with_ledger,
    with_links,
    with_module,
    with_result,
    without_links,
)
from tiny_catalog import fact

from gpunet.models.design import Check, Design
from gpunet.models.parts import Catalog, HotCages
from gpunet.solver.verify import verify

CATALOG = hand_catalog()
SOUND = two_by_two(catalog=CATALOG)


def checks(design: Design, catalog: Catalog = CATALOG) -> dict[str, Check]:
    """The checks by name."""
    return {check.name: check for check in verify(design, catalog).checks}


@pytest.mark.parametrize(
    "design",
    [one_rack("dac"), one_rack("split"), one_rack("straight"), two_pods(), converged(2.0)],
    ids=["splitter cable", "splitter fibre", "jumper", "pods under cores", "converged storage"],
)
def test_sound_designs_of_every_shape_pass(design: Design) -> None:
    """Shapes that differ in media, tiers and sharing are all proven."""
    report = verify(design, CATALOG)
    assert report.passed, [c for c in report.checks if not c.passed]


def test_converged_storage_may_be_entered_under_the_network() -> None:
    """What a link is for is read from the port at its far end, so the name of the carrying network does as well."""
    design = converged(2.0)
    renamed = [link._replace(fabric="backend") for link in design.ledger.links]
    found = checks(with_ledger(design, links=renamed))
    assert all(found[name].passed for name in ("ports", "attached", "oversubscription"))
    apart = {
        **design.result.fabrics,
        "storage": design.result.fabrics["storage"].model_copy(update={"shared_with": ""}),
    }
    found = checks(with_result(with_ledger(design, links=renamed), fabrics=apart))
    assert "link of the fabric 'backend'" in found["ports"].detail


def spine_core_moved() -> Design:
    """Both spines of pod 2 run to core 2, where half of the ports of core 1 should be theirs."""
    design = two_pods()
    rows = [i for i, x in enumerate(design.ledger.links) if x.a_device == "spine-2-1" and x.link_class == "spine-core"]
    return with_links(design, {r: {"b_device": "core-2", "b_cage": 1 + n // 2} for n, r in enumerate(rows)})


def rows_of(design: Design, **match: Any) -> list[int]:
    """Rows of the links that match."""
    return [i for i, x in enumerate(design.ledger.links) if all(getattr(x, k) == v for k, v in match.items())]


def one_cable_for_all() -> Design:
    """All four links of the rack on one splitter cable."""
    design = one_rack("dac")
    return with_links(design, {i: {"assembly": 1} for i in range(4)})


def backwards() -> Design:
    """Splitter cables between two NICs' cages: no head in a switch."""
    design = one_rack("dac")
    return with_links(design, {0: {"a_device": "server-1", "a_group": "backend", "a_cage": 2, "a_port": 1}})


def module_under_cable() -> Design:
    """A module in a cage that a cable fills."""
    return with_module(one_rack("dac"), "twin-sr4", ("leaf-1", "fabric", 1))


def straight_beside_split() -> Design:
    """One port of a twin module on a splitter, the other on a jumper."""
    return with_links(one_rack("split"), {2: {"medium": "mpo-om4-n005"}, 3: {"medium": "mpo-om4-n005", "assembly": 9}})


def thin_core() -> Design:
    """One link from a spine to its core is missing."""
    design = two_pods()
    return without_links(design, {rows_of(design, a_device="spine-2-2", link_class="spine-core")[0]})


FAULTS = {
    "too many links on a cable": ("pieces", "4 links on one dac-twin-nic-n002; at most 2", one_cable_for_all),
    "head in a NIC": ("seats", "is a splitter; its head goes into a switch", backwards),
    "module under a cable": ("seats", "module twin-sr4 is in its way", module_under_cable),
    "straight beside split": ("pieces", "R18: leaf-1 fabric 1 has a straight and a splitter", straight_beside_split),
    "two jumpers in one socket": ("pieces", "several pieces end in one plug or optical port", straight_beside_split),
    "other core planes": ("striping", "meets other core planes", spine_core_moved),
    "spine above its ratio": ("oversubscription", "1600 Gb/s down and 1200 up, more than 1:1", thin_core),
    "uneven spines": ("striping", "have 1200 to 1600 Gb/s up", thin_core),
    "pod to pod": ("flow", "2800 of 3200 Gb/s promised", thin_core),
    "storage not throttled": (
        "oversubscription",
        "leaf leaf-1 owes 3200 Gb/s to its endpoints, has 2400 up",
        lambda: converged(1.0),
    ),
    "storage on a network of its own": ("fabrics", "the case says converged", lambda: apart()),
}


def apart() -> Design:
    """The leaf is bought for storage though the case wants storage on the backend's switches."""
    design = converged(2.0)
    return with_ledger(design, devices=[d._replace(fabric="storage") if d.tier else d for d in design.ledger.devices])


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_other_shapes_are_named(name: str) -> None:
    """Cables, splitters, cores and shared leaves have faults of their own."""
    check, words, spoil = FAULTS[name]
    found = checks(spoil())[check]
    assert not found.passed
    assert words in found.detail


def hot_in(hot: HotCages) -> list[int]:
    """Cages of leaf 1 in which a 19 W module passes, where most cages stop at 18 W."""
    switch = CATALOG.switches["ib-tiny-8"]
    cages = switch.cages[0].model_copy(update={"hot": hot})
    switches = {**CATALOG.switches, switch.id: switch.model_copy(update={"cages": (cages,)})}
    catalog = CATALOG.model_copy(update={"switches": switches})
    spoilt = {n: with_module(SOUND, "twin-hot", ("leaf-1", "fabric", n)) for n in range(1, 5)}
    return [n for n, design in spoilt.items() if checks(design, catalog)["cage-power"].passed]


def test_hot_cages_take_the_hot_module() -> None:
    """A module too hot for most cages passes in the cages that the vendor lists by number, else in the first ones."""
    assert hot_in(HotCages(count=3, port_numbers="2,4-5", power_limit_w=fact(21))) == [2, 4]
    assert hot_in(HotCages(count=1, power_limit_w=fact(21))) == [1]


def test_halves_of_a_box_are_not_one_switch() -> None:
    """A spine box of two switches joins what is plugged into one half, never one half to the other."""
    box = CATALOG.switches["ib-tiny-8"].model_copy(update={"id": "ib-two", "independent_switches": 2})
    catalog = CATALOG.model_copy(update={"switches": {**CATALOG.switches, "ib-two": box}})
    devices = [d._replace(part="ib-two") if d.name == "spine-1" else d for d in SOUND.ledger.devices]
    devices = [d for d in devices if d.name != "spine-2"]
    apart = {row: {"b_device": "spine-1", "b_cage": 5 + SOUND.ledger.links[row].b_cage} for row in (6, 7, 14, 15)}
    links = with_links(SOUND, apart).ledger.links[:25]
    sound = checks(with_ledger(SOUND, devices=devices, links=links), catalog)
    assert sound["connected"].passed
    assert sound["striping"].passed
    halved = {**apart, **{row: {"b_device": "spine-1", "b_cage": 3} for row in (6, 7)}}
    halved |= {row: {"b_cage": 6} for row in (12, 13)}
    links = with_links(SOUND, halved).ledger.links[:25]
    split = checks(with_ledger(SOUND, devices=devices, links=links), catalog)
    assert not split["connected"].passed


VALUES: dict[type, Any] = {
    str: st.sampled_from(["leaf-1", "server-1", "fabric", "backend", "mgmt", "", "twin-sr4", "mpo-om4-n010", "oob"]),
    int: st.sampled_from([-1, 0, 1, 2, 3, 8, 9, 70, 10**9]),
    float: st.sampled_from([-5.0, 0.0, 0.5, 1.0, 10.0, 200.0, 400.0, 1e9]),
}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_wreck_is_judged_and_never_breaks_the_verifier(data: st.DataObject) -> None:
    """Whatever stands in a ledger's rows, the verifier returns its checks, and a changed link is never overlooked."""
    base = data.draw(st.sampled_from([SOUND, two_pods(), one_rack("split"), converged(2.0)]))
    tables = {name: list(getattr(base.ledger, name)) for name in ("places", "devices", "seats", "links")}
    for _ in range(data.draw(st.integers(1, 4))):
        name = data.draw(st.sampled_from(sorted(tables)))
        rows = tables[name]
        number = data.draw(st.integers(0, len(rows) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "change"]))
        if what == "drop" and len(rows) > 1:
            del rows[number]
        elif what == "double":
            rows.append(rows[number])
        else:
            field = data.draw(st.integers(0, len(rows[number]) - 1))
            kind = type(rows[number][field])
            value = data.draw(VALUES[kind])
            rows[number] = rows[number]._replace(**{rows[number]._fields[field]: value})
    report = verify(with_ledger(base, **tables), CATALOG)
    assert len(report.checks) in (1, 24)
    if sorted(tables["links"]) != sorted(base.ledger.links) and {x[:11] for x in tables["links"]} != {
        x[:11] for x in base.ledger.links
    }:
        assert not report.passed
