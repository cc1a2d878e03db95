"""The optics rules one by one, each with the examples that mate and those that do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from link_parts import ETH, IB, cable, cage, end, fibre, mode, module

from gpunet.catalogs import load_catalog
from gpunet.models.interconnect import CageKind, Refusal
from gpunet.models.parts import (
    Cable,
    CableKind,
    FibreKind,
    FormFactor,
    Module,
    OpticalInterface,
    PortMode,
    Protocol,
    Shell,
)
from gpunet.models.plant import Mates
from gpunet.solver.copper import cable_refusals, fit_cable, limit_of
from gpunet.solver.mating import Seated, module_refusals, pair_refusals, plug_refusals, seat
from gpunet.solver.passive import fibre_refusals, reach_of

IHS, RHS = Shell.IHS, Shell.RHS
INTERFACES: dict[str, OpticalInterface] = load_catalog().interfaces


def rules(refusals: Iterable[Refusal]) -> set[str]:
    """The rules that are broken."""
    return {refusal.rule for refusal in refusals}


def at_work(interface: str, fan_out: int = 1, half_lit: bool = False, **kwargs: object) -> Seated:
    """A module that realises its port whole, split ``fan_out`` ways, or half lit."""
    side = INTERFACES[interface]
    part: Module = module(interface, "QSFP-DD", "8@50", **kwargs)  # type: ignore[arg-type]
    return Seated(part, side, fan_out, side.lanes // fan_out // (2 if half_lit else 1))


# R1: seating --------------------------------------------------------------------------------------------------------

TAKES = {
    "SFP": "SFP",
    "SFP+": "SFP SFP+",
    "SFP28": "SFP SFP+ SFP28",
    "SFP56": "SFP SFP+ SFP28 SFP56",
    "SFP-DD": "SFP SFP+ SFP28 SFP56 SFP-DD",
    "QSFP28": "QSFP28 QSFP56",
    "QSFP56": "QSFP28 QSFP56",
    "QSFP112": "QSFP28 QSFP56 QSFP112",
    "QSFP-DD": "QSFP28 QSFP56 QSFP-DD",
    "QSFP-DD800": "QSFP28 QSFP56 QSFP-DD QSFP-DD800",
    "OSFP": "OSFP OSFP224",
    "OSFP224": "OSFP OSFP224",
    "RJ45": "RJ45",
    "co-packaged": "",
}


@pytest.mark.parametrize("opening", TAKES)
@pytest.mark.parametrize("plug", list(FormFactor))
def test_a_cage_takes_exactly_the_plugs_of_the_table(opening: str, plug: FormFactor) -> None:
    """R1 over every pair of families, the two counter-examples quoted in the rules among them."""
    kind = cage(opening, 8, "1x400:8@50", IHS)
    assert ("R1" in rules(plug_refusals(kind, "plug", plug, IHS, 0))) == (plug.value not in TAKES[opening].split())


def test_a_dd800_cage_takes_qsfp112_only_where_the_host_lists_it() -> None:
    """R1 and section 8: QSFP112 in a QSFP-DD800 cage is refused until the host says otherwise."""
    optic = module("400G-DR4", "QSFP112", "4@100")
    plain = cage("QSFP-DD800", 8, "1x400:4@100")
    assert rules(module_refusals(plain, optic, INTERFACES)) == {"R1"}
    assert seat(replace(plain, also_accepts=(FormFactor.QSFP112,)), optic, INTERFACES) is not None


def test_osfp_of_any_lane_rate_enters_a_cage_that_also_accepts_osfp() -> None:
    """R1: OSFP and OSFP224 are one opening, also when a host lists it as an extra."""
    kind = cage("QSFP-DD800", 8, "1x800:8@100", IHS, also_accepts=(FormFactor.OSFP,))
    assert not rules(plug_refusals(kind, "plug", FormFactor.OSFP224, IHS, 0))


# R2, R3: shell and number of ports ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opening", "plug", "fits"), [(IHS, IHS, True), (RHS, RHS, True), (IHS, RHS, False), (RHS, IHS, False)]
)
def test_finned_and_flat_never_share_an_osfp_cage(opening: Shell, plug: Shell, fits: bool) -> None:
    """R2, with MMS4X00-NM in a flat tray as the counter-example."""
    optic = module("400G-DR4", "OSFP", "8@100", 2, plug)
    assert rules(module_refusals(cage("OSFP", 8, "2x400:4@100", opening), optic, INTERFACES)) == (
        set() if fits else {"R2"}
    )


def test_shell_means_nothing_outside_osfp() -> None:
    """R2 is about OSFP: a QSFP112 optic that its vendor calls flat-top fits a QSFP112 cage."""
    optic = module("400G-DR4", "QSFP112", "4@100", shell=RHS)
    assert not rules(module_refusals(cage("QSFP112", 4, "1x400:4@100"), optic, INTERFACES))


@pytest.mark.parametrize(
    ("kind", "broken"),
    [
        (cage("OSFP", 4, "1x400:4@100", RHS), set()),
        (cage("OSFP", 8, "1x400:4@100", RHS), set()),
        (cage("OSFP", 8, "2x400:4@100", RHS), {"R3", "R4"}),
        (cage("OSFP", 8, "1x800:8@100", RHS), {"R3", "R4"}),
        (cage("OSFP", 8, "2x400:4@100", IHS), {"R2", "R3", "R4"}),
        (cage("OSFP", 8, "1x400:4@100", IHS), {"R2", "R3"}),
    ],
    ids=[
        "adapter",
        "8-lane-adapter-in-one-port-mode",
        "twin-server-cage",
        "800G-server-cage",
        "twin-switch-cage",
        "half-a-switch-cage",
    ],
)
def test_a_single_port_osfp_module_is_for_adapters(kind: CageKind, broken: set[str]) -> None:
    """R3: four lanes fill an adapter cage; a twin cage of a switch or a server needs a twin-port module."""
    assert rules(module_refusals(kind, module("400G-DR4", "OSFP", "4@100", shell=RHS), INTERFACES)) == broken


def test_a_short_finned_module_is_refused_in_a_switch_cage_for_its_lanes() -> None:
    """R3 holds by itself: with the right shell a 4-lane OSFP optic still has no place in an 8-lane switch cage."""
    optic = module("400G-DR4", "OSFP", "4@100", shell=IHS)
    assert rules(module_refusals(cage("OSFP", 8, "1x400:4@100", IHS), optic, INTERFACES)) == {"R3"}


# R4, R6, R18: the mode ----------------------------------------------------------------------------------------------

DR4_8X50 = module("400G-DR4", "QSFP-DD", "8@50")
DR4_4X100 = module("400G-DR4", "QSFP112", "4@100")
TWO_DR4 = module("400G-DR4", "OSFP", "8@100", 2)
DR8 = module("800G-DR8", "OSFP", "8@100")


@pytest.mark.parametrize(
    ("opening", "lanes", "mode_text", "optic", "fan_out", "lit"),
    [
        ("OSFP", 8, "2x400:4@100", TWO_DR4, 1, 4),
        ("OSFP", 8, "4x200:2@100", TWO_DR4, 2, 2),
        ("OSFP", 8, "8x100:1@100", TWO_DR4, 4, 1),
        ("OSFP", 8, "1x800:8@100", DR8, 1, 8),
        ("OSFP", 8, "2x400:4@100", DR8, 2, 4),
        ("OSFP", 8, "8x100:1@100", DR8, 8, 1),
        ("QSFP-DD", 8, "1x400:8@50", DR4_8X50, 1, 4),
        ("QSFP-DD", 8, "4x100:2@50", DR4_8X50, 4, 1),
        ("QSFP112", 4, "1x400:4@100", DR4_4X100, 1, 4),
        ("QSFP112", 4, "2x200:2@100", DR4_4X100, 2, 2),
        ("QSFP112", 4, "1x200:2@100", DR4_4X100, 1, 2),
        ("QSFP112", 2, "1x200:2@100", DR4_4X100, 1, 2),
        ("QSFP-DD", 8, "2x200:4@50", module("400G-SR8", "QSFP-DD", "8@50"), 2, 4),
        ("QSFP-DD", 8, "4x100:2@50", module("400G-SR4.2", "QSFP-DD", "8@50"), 4, 2),
        ("QSFP-DD", 8, "1x200:4@50", module("200G-SR4", "QSFP56", "4@50"), 1, 4),
        ("QSFP-DD", 8, "4x25:1@25", module("100G-SR4", "QSFP28", "4@25"), 4, 1),
        ("QSFP28", 4, "1x100:4@25", module("100G-DR1", "QSFP28", "4@25"), 1, 1),
        ("OSFP", 8, "1x400:8@50", module("400G-DR4", "OSFP", "8@50"), 1, 4),
        ("OSFP", 8, "2x200:4@50", module("200G-FR4", "OSFP", "8@50", 2), 1, 4),
    ],
)
def test_modes_that_a_module_realises(
    opening: str, lanes: int, mode_text: str, optic: Module, fan_out: int, lit: int
) -> None:
    """R4: the module's ports, lanes and rates add up to exactly the cage's mode."""
    found = seat(cage(opening, lanes, mode_text), optic, INTERFACES)
    assert found is not None
    assert (found.fan_out, found.lanes) == (fan_out, lit)


@pytest.mark.parametrize(
    ("opening", "lanes", "mode_text", "optic", "broken"),
    [
        ("OSFP", 8, "1x800:8@100", TWO_DR4, {"R4"}),
        ("OSFP", 8, "2x400:4@100", module("400G-DR4", "OSFP", "8@50"), {"R4"}),
        ("OSFP", 8, "1x400:8@50", TWO_DR4, {"R4"}),
        ("OSFP", 8, "2x400:4@100", module("200G-FR4", "OSFP", "8@50", 2), {"R4"}),
        ("QSFP112", 4, "1x200:4@50", DR4_4X100, {"R4"}),
        ("QSFP112", 4, "1x100:4@25", DR4_4X100, {"R4"}),
        ("OSFP", 8, "2x400:4@100", module("800G-DR4", "OSFP224", "8@200", 2), {"R4"}),
        ("QSFP-DD", 8, "1x400:8@50", module("100G-LR4", "QSFP28", "4@25"), {"R4"}),
        ("QSFP28", 4, "1x100:4@26.5625", module("100G-SR4", "QSFP28", "4@25"), {"R4"}),
        ("QSFP-DD", 8, "2x200:4@50", DR4_8X50, {"R4"}),
        ("QSFP112", 4, "1x100:1@100", DR4_4X100, {"R4"}),
        ("OSFP", 8, "1x400:4@100", DR8, {"R4"}),
        ("OSFP", 8, "4x200:2@100", module("400G-FR4", "OSFP", "8@100", 2), {"R6"}),
        ("QSFP-DD", 8, "4x100:2@50", module("400G-FR4", "QSFP-DD", "8@50"), {"R6"}),
        ("QSFP-DD", 8, "4x100:2@50", module("400G-LR4", "QSFP-DD", "8@50"), {"R6"}),
        ("QSFP-DD", 8, "4x100:2@50", module("400G-FR8", "QSFP-DD", "8@50"), {"R6"}),
        ("QSFP-DD", 8, "4x25:1@25", module("100G-CWDM4", "QSFP28", "4@25"), {"R6"}),
        ("QSFP112", 4, "1x200:2@100", module("400G-FR4", "QSFP112", "4@100"), {"R6"}),
    ],
    ids=[
        "1x800-is-not-2x400",
        "8x50-in-100G-lanes",
        "100G-lanes-in-50G-mode",
        "2FR4-of-400G-is-2x200",
        "no-down-shift-to-50G",
        "no-down-shift-to-25G",
        "200G-lanes-do-not-down-shift",
        "QSFP28-LR4-in-a-400G-port",
        "lane-rate-alone",
        "gearbox-2x200-not-advertised",
        "one-lane-lit-of-four",
        "half-of-eight-lanes",
        "2xFR4-as-4x200",
        "FR4-as-4x100",
        "LR4-as-4x100",
        "FR8-as-4x100",
        "CWDM4-as-4x25",
        "half-lit-FR4",
    ],
)
def test_modes_that_a_module_does_not_realise(
    opening: str, lanes: int, mode_text: str, optic: Module, broken: set[str]
) -> None:
    """R4 and R6: no down-shift, no other split than the plug's, no split of muxed optics."""
    kind = cage(opening, lanes, mode_text)
    assert rules(module_refusals(kind, optic, INTERFACES)) == broken
    assert seat(kind, optic, INTERFACES) is None


def test_a_module_with_a_copper_jack_joins_no_fibre() -> None:
    """R10: a 10GBASE-T module has no optical side."""
    optic = module(None, "SFP+", "1@10", connector="RJ45", reach_m={"Cat6A": 30})
    assert rules(module_refusals(cage("SFP+", 1, "1x10:1@10"), optic, INTERFACES)) == {"R10"}


# R5, R7, R8, R18: the far end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (("400G-DR4", 1), ("400G-DR4", 1)),
        (("400G-DR4", 4), ("100G-DR1", 1)),
        (("800G-DR8", 8), ("100G-DR1", 1)),
        (("800G-DR8", 2), ("400G-DR4", 1)),
        (("400G-FR4", 1), ("400G-FR4", 1)),
        (("400G-VR4", 1), ("400G-SR4", 1)),
        (("400G-VR4", 1), ("400G-VR4", 1)),
        (("400G-SR4", 1), ("400G-SR4", 1)),
        (("400G-SR8", 2), ("200G-SR4", 1)),
        (("400G-SR4.2", 4), ("100G-SR1.2", 1)),
        (("800G-DR4", 1), ("800G-DR4", 1)),
        (("400G-DR4", 1), ("400G-XDR4", 1)),
        (("400G-XDR4", 1), ("400G-XDR4", 1)),
        (("400G-XDR4", 1), ("400G-PLR4", 1)),
        (("400G-PLR4", 1), ("400G-PLR4", 1)),
        (("400G-FR4", 1), ("400G-LR4", 1)),
        (("400G-LR4", 1), ("400G-LR4", 1)),
        (("400G-XDR4", 4), ("100G-FR1", 1)),
        (("400G-DR4", 4), ("100G-FR1", 1)),
        (("100G-FR1", 1), ("100G-LR1", 1)),
        (("100G-SR4", 4), ("25G-SR", 1)),
    ],
)
def test_optical_sides_that_mate(a: tuple[str, int], b: tuple[str, int]) -> None:
    """R5 and R7, whole ports or split ones, both ways round."""
    assert not rules(pair_refusals(at_work(*a), at_work(*b)))
    assert not rules(pair_refusals(at_work(*b), at_work(*a)))


@pytest.mark.parametrize(
    ("a", "b", "rule"),
    [
        (("400G-SR8", 1), ("400G-SR4", 1), "R5"),
        (("400G-SR8", 1), ("400G-SR4.2", 1), "R5"),
        (("400G-SR4", 1), ("400G-SR4.2", 1), "R5"),
        (("400G-SR8", 1), ("400G-VR4", 1), "R5"),
        (("400G-DR4", 1), ("400G-FR4", 1), "R5"),
        (("400G-FR4", 1), ("400G-FR8", 1), "R5"),
        (("400G-LR4", 1), ("400G-LR8", 1), "R5"),
        (("400G-SR4", 4), ("100G-SR4", 1), "R5"),
        (("200G-SR4", 1), ("400G-SR4", 1), "R5"),
        (("400G-SR4", 2), ("200G-SR4", 1), "R5"),
        (("100G-CWDM4", 1), ("100G-FR1", 1), "R5"),
        (("100G-CWDM4", 1), ("100G-LR1", 1), "R5"),
        (("100G-CWDM4", 1), ("100G-DR1", 1), "R5"),
        (("100G-CWDM4", 1), ("400G-FR4", 1), "R5"),
        (("100G-LR4", 1), ("100G-FR1", 1), "R5"),
        (("100G-LR4", 1), ("100G-LR1", 1), "R5"),
        (("100G-LR4", 1), ("100G-DR1", 1), "R5"),
        (("800G-DR4", 1), ("800G-DR8", 1), "R5"),
        (("800G-DR4", 2), ("400G-DR4", 1), "R5"),
        (("800G-DR4", 1), ("400G-DR4", 1), "R5"),
        (("400G-VR4", 1), ("400G-DR4", 1), "R5"),
        (("25G-SR", 1), ("25G-LR", 1), "R5"),
        (("400G-DR4", 1), ("100G-DR1", 1), "R5"),
        (("800G-DR8", 1), ("400G-DR4", 1), "R5"),
        (("400G-DR4", 1), ("400G-PLR4", 1), "R7"),
        (("100G-DR1", 1), ("100G-LR1", 1), "R7"),
        (("400G-LR4", 1), ("400G-LR4-6", 1), "R7"),
        (("400G-DR4", 2), ("400G-DR4", 2), "R18"),
    ],
)
def test_optical_sides_that_do_not_mate(a: tuple[str, int], b: tuple[str, int], rule: str) -> None:
    """R5, R7 and R18: every pair the rules name as not mating, both ways round."""
    assert rules(pair_refusals(at_work(*a), at_work(*b))) == {rule}
    assert rules(pair_refusals(at_work(*b), at_work(*a))) == {rule}


def test_half_the_lanes_are_lit_only_against_a_split_port() -> None:
    """R18: 200G to an adapter is a 400G module with two lanes lit, at the end of a splitter."""
    half = at_work("400G-DR4", half_lit=True)
    assert not rules(pair_refusals(at_work("400G-DR4", 2), half))
    assert rules(pair_refusals(at_work("400G-DR4"), half)) == {"R18"}
    assert rules(pair_refusals(half, half)) == {"R18"}
    assert rules(pair_refusals(at_work("400G-DR4", 4), half)) == {"R5"}


def test_fec_must_be_one_code() -> None:
    """R8: equal lane classes with another FEC do not link."""
    other = at_work("400G-DR4")
    other = replace(other, interface=other.interface.model_copy(update={"fec": "RS(528,514)"}))
    assert rules(pair_refusals(at_work("400G-DR4"), other)) == {"R8"}


# R9, R15, R19 and linear optics -------------------------------------------------------------------------------------


def test_the_protocol_must_be_carried() -> None:
    """R9: an Ethernet-only ``-T`` part is refused in an InfiniBand cage."""
    optic = module("400G-DR4", "QSFP112", "4@100", protocols=(ETH,))
    assert rules(module_refusals(cage("QSFP112", 4, "1x400:4@100", protocol=IB), optic, INTERFACES)) == {"R9"}
    assert seat(cage("QSFP112", 4, "1x400:4@100", protocol=ETH), optic, INTERFACES) is not None


@pytest.mark.parametrize(
    ("power_w", "limit_w", "fits"), [(17, 17, True), (33.5, 18, False), (17.001, 17, False), (99, None, True)]
)
def test_watts_against_the_cage(power_w: float, limit_w: float | None, fits: bool) -> None:
    """R15: up to the limit fits; the 33.5 W module in an 18 W cage does not; no limit published limits nothing."""
    optic = module("400G-DR4", "QSFP112", "4@100", power_w=power_w)
    broken = rules(module_refusals(cage("QSFP112", 4, "1x400:4@100", limit_w=limit_w), optic, INTERFACES))
    assert broken == (set() if fits else {"R15"})


def test_parts_the_vendor_refuses() -> None:
    """R19: a module or cable on the unsupported list of the device is refused there."""
    refusing = cage("QSFP112", 4, "1x400:4@100", refuses=frozenset({"optic", "assembly"}))
    assert rules(module_refusals(refusing, DR4_4X100, INTERFACES)) == {"R19"}
    dac = cable("DAC", end("QSFP112", "4@100"), end("QSFP112", "4@100"), 1)
    assert rules(
        cable_refusals(dac, dac.end_a, dac.end_b, refusing, replace(refusing, refuses_modules=frozenset()))
    ) == {"R19"}


@pytest.mark.parametrize(
    ("retiming", "linear_host", "protocol", "fits"),
    [
        ("linear", True, ETH, True),
        ("linear", False, ETH, False),
        ("linear", True, IB, False),
        ("half", True, ETH, True),
        ("half", False, ETH, False),
    ],
)
def test_linear_optics_need_a_linear_host(retiming: str, linear_host: bool, protocol: Protocol, fits: bool) -> None:
    """LPO and LRO: only in hosts listed for them, LPO not on InfiniBand."""
    optic = module("400G-DR4", "QSFP112", "4@100", retiming=retiming)
    kind = cage("QSFP112", 4, "1x400:4@100", linear_host=linear_host, protocol=protocol)
    assert rules(module_refusals(kind, optic, INTERFACES)) == (set() if fits else {"LPO"})


@pytest.mark.parametrize(
    ("a", "b", "mates"),
    [
        ("linear", "linear", True),
        ("linear", "full", False),
        ("linear", "half", False),
        ("half", "full", True),
        ("half", "half", True),
    ],
)
def test_lpo_links_only_to_lpo(a: str, b: str, mates: bool) -> None:
    """LPO against DSP optics is refused, since no pair is listed by both vendors."""
    broken = rules(pair_refusals(at_work("400G-DR4", retiming=a), at_work("400G-DR4", retiming=b)))
    assert broken == (set() if mates else {"LPO"})


def test_lpo_needs_the_strong_code() -> None:
    """LPO links lean on RS(544,514); two linear ends with a weaker code do not link."""
    weak = at_work("100G-SR4", retiming="linear")
    assert rules(pair_refusals(weak, weak)) == {"LPO"}


# R10 to R14: the passive plant --------------------------------------------------------------------------------------

APC, UPC, LC, MPO16 = "MPO-12/APC", "MPO-12/UPC", "LC/UPC", "MPO-16/APC"
DR4, VR4 = at_work("400G-DR4"), at_work("400G-VR4", reach_m={"OM3": 30, "OM4": 50})
DR4_BY_4, DR4_BY_2 = at_work("400G-DR4", 4), at_work("400G-DR4", 2)
HALF_DR4, DR1 = at_work("400G-DR4", half_lit=True), at_work("100G-DR1", connector=LC)
DR8_BY_2 = at_work("800G-DR8", 2, connector=MPO16)
SPLITTER, HARNESS = FibreKind.SPLITTER, FibreKind.HARNESS


@pytest.mark.parametrize(
    ("part", "a", "b", "broken"),
    [
        (fibre(f"{APC} {APC}"), DR4, DR4, set()),
        (fibre(f"{APC} {APC}", grade="OM4"), VR4, VR4, set()),
        (fibre(f"{APC} {APC}", fibres=12), DR4, DR4, set()),
        (fibre(f"{APC} {APC}", legs=2, kind=SPLITTER), DR4_BY_2, HALF_DR4, set()),
        (fibre(f"{APC} {APC}", legs=2, kind=SPLITTER), HALF_DR4, DR4_BY_2, set()),
        (fibre(f"{APC} {LC}", legs=4, kind=HARNESS), DR4_BY_4, DR1, set()),
        (fibre(f"{MPO16} {APC}", legs=2, kind=FibreKind.CONVERSION, fibres=16), DR8_BY_2, DR4, set()),
        (fibre(f"{LC} {LC}", fibres=2), DR1, DR1, set()),
        (fibre(f"{LC} {APC}"), DR4, at_work("400G-DR4", connector=LC), set()),
        (fibre(f"{UPC} {UPC}"), DR4, DR4, {"R11"}),
        (fibre(f"{MPO16} {MPO16}", fibres=16), DR4, DR4, {"R10"}),
        (fibre(f"{LC} {LC}", fibres=8), DR4, DR4, {"R10"}),
        (fibre(f"{APC} {APC}", grade="OM4"), DR4, at_work("400G-DR4", reach_m={"OS2": 500}), {"R5"}),
        (fibre(f"{APC} {APC}", grade="OS2"), VR4, VR4, {"R5"}),
        (fibre(f"{APC} {APC}", legs=2, kind=SPLITTER), DR4, DR4, {"R6"}),
        (fibre(f"{APC} {APC}"), DR4_BY_2, HALF_DR4, {"R6"}),
        (fibre(f"{APC} {UPC}", legs=2, kind=SPLITTER), DR4_BY_2, HALF_DR4, {"R11"}),
        (fibre(f"{LC} {APC}", legs=4, kind=HARNESS), DR4_BY_4, DR1, {"R10"}),
        (fibre(f"{APC} {APC}", kind=FibreKind.TRUNK), DR4, DR4, {"R12"}),
        (fibre(f"{APC} {APC}", gender="male/male"), DR4, DR4, {"R12"}),
        (fibre(f"{APC} {APC}", polarity="Type A"), DR4, DR4, {"R12"}),
        (fibre(f"{APC} {APC}", fibres=4), DR4, DR4, {"R12"}),
        (fibre(f"{MPO16} {APC}", legs=2, kind=FibreKind.CONVERSION, fibres=8), DR8_BY_2, DR4, {"R12"}),
    ],
)
def test_which_fibre_joins_which_modules(part: object, a: Seated, b: Seated, broken: set[str]) -> None:
    """R5 (glass), R6 (legs), R10 (kind), R11 (polish), R12 (gender, polarity, fibre count)."""
    assert rules(fibre_refusals(part, a, b)) == broken  # type: ignore[arg-type]


def test_an_old_upc_plant_does_not_carry_ndr() -> None:
    """R11: a UPC jumper fits 200G-SR4 and is refused for 400G-VR4, with the same connector otherwise."""
    jumper = fibre(f"{UPC} {UPC}", grade="OM4")
    assert not rules(fibre_refusals(jumper, at_work("200G-SR4", connector=UPC), at_work("200G-SR4", connector=UPC)))
    assert rules(fibre_refusals(jumper, VR4, VR4)) == {"R11"}


@pytest.mark.parametrize(
    ("part", "a", "b", "reach"),
    [
        (
            fibre(f"{APC} {APC}"),
            at_work("400G-DR4", reach_m={"OS2": 500}),
            at_work("400G-DR4", reach_m={"OS2": 100}),
            100,
        ),
        (fibre(f"{APC} {APC}", grade="OM4"), VR4, at_work("400G-SR4", reach_m={"OM3": 60, "OM4": 100}), 50),
        (fibre(f"{APC} {APC}", grade="OM3"), VR4, at_work("400G-SR4", reach_m={"OM3": 60, "OM4": 100}), 30),
        (fibre(f"{APC} {APC}", legs=2, kind=SPLITTER), DR4_BY_2, HALF_DR4, 50),
        (fibre(f"{APC} {APC}", legs=2, kind=SPLITTER), DR4_BY_2, at_work("400G-DR4", reach_m={"OS2": 40}), 40),
        (fibre(f"{APC} {APC}"), at_work("400G-XDR4", reach_m={"OS2": 2000}), DR4, 500),
    ],
    ids=["500-with-100", "VR4-with-SR4-OM4", "VR4-with-SR4-OM3", "splitter-cap", "below-the-cap", "XDR4-with-DR4"],
)
def test_reach_is_the_least_of_modules_grade_and_splitter(part: object, a: Seated, b: Seated, reach: float) -> None:
    """R7 and R13: the shorter module decides on the grade used, and a splitter ends at 50 m."""
    assert reach_of(part, a, b)[0] == reach  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("per_pair_db", "reach", "rule"),
    [(0.35, 50, "R7"), (0.7, 50, "R7"), (0.78, 140 / 3, "R14"), (0.84, 20 / 3, "R14"), (0.85, None, "R14")],
)
def test_loss_uses_up_the_budget(per_pair_db: float, reach: float | None, rule: str) -> None:
    """R14: two mated pairs and 3 dB/km within the 1.7 dB of 400G-VR4 on OM4."""
    cord = fibre(f"{APC} {APC}", grade="OM4").model_copy(update={"loss_per_mated_pair_db": per_pair_db})
    if reach is None:
        assert rules(fibre_refusals(cord, VR4, VR4)) == {rule}
    else:
        assert not rules(fibre_refusals(cord, VR4, VR4))
        metres, by = reach_of(cord, VR4, VR4)
        assert metres == pytest.approx(reach)
        assert by == rule


@pytest.mark.parametrize(
    ("part", "a", "b", "left_db"),
    [
        (fibre(f"{APC} {APC}"), DR4, DR4, 3.0 - 2 * 0.75),
        (fibre(f"{LC} {LC}", fibres=2), DR1, DR1, 3.0 - 2 * 0.75),
        (fibre(f"{APC} {APC}", grade="OM4"), VR4, VR4, 1.7 - 2 * 0.75),
    ],
)
def test_standard_mates_leave_less(part: object, a: Seated, b: Seated, left_db: float) -> None:
    """R14: at the worst case of 0.75 dB a pair even one cord uses up most of the budget of 400G-VR4."""
    reach_m, rule = reach_of(part, a, b, Mates.STANDARD)  # type: ignore[arg-type]
    db_per_m = 0.003 if a.interface.media == "MMF" else 0.0004
    module_m = min(end.module.reach_m[part.grade] for end in (a, b))  # type: ignore[attr-defined]
    assert reach_m == pytest.approx(min(module_m, left_db / db_per_m))
    assert rule == ("R7" if reach_m == module_m else "R14")


# Copper -------------------------------------------------------------------------------------------------------------

TWIN = end("OSFP", "8@100")
FLAT_TWIN = end("OSFP", "8@100", RHS)
TWIN_DAC = cable("DAC", TWIN, TWIN, 2, single_mac=1)
FLAT_TO_FINNED = cable("ACC", FLAT_TWIN, TWIN, 2, protocols=(IB,), vendor="nvidia", lengths_m=(3,))
TO_TWO_OSFP = cable("DAC", TWIN, end("OSFP", "4@100", RHS, count=2), 2)
TO_TWO_Q112 = cable("DAC", TWIN, end("QSFP112", "4@100", count=2), 2)
TO_FOUR_Q112 = cable("DAC", TWIN, end("QSFP112", "2@100", count=4), 4)
HDR_SPLITTER = cable("DAC", end("OSFP", "8@50"), end("QSFP56", "4@50", count=2), 2)
DD_DAC = cable("DAC", end("QSFP-DD", "8@50"), end("QSFP-DD", "8@50"), 1, single_mac=1)
GEARBOX_AEC = cable("AEC", end("OSFP", "4@100", RHS), end("QSFP-DD", "8@50"), 1, converts=True)
GEARBOX_SPLITTER = cable("AEC", end("QSFP-DD", "8@50"), end("QSFP28", "4@25", count=4), 4, converts=True)

SWITCH_2X400 = cage("OSFP", 8, "2x400:4@100")
SWITCH_1X800 = cage("OSFP", 8, "1x800:8@100")
SWITCH_4X200 = cage("OSFP", 8, "4x200:2@100")
SERVER_2X400 = cage("OSFP", 8, "2x400:4@100", RHS)
NIC_OSFP = cage("OSFP", 4, "1x400:4@100", RHS)
NIC_Q112 = cage("QSFP112", 4, "1x400:4@100")
NIC_200 = cage("QSFP112", 4, "1x200:2@100")
DD_400 = cage("QSFP-DD", 8, "1x400:8@50")
DD_4X100 = cage("QSFP-DD", 8, "4x100:2@50")


@pytest.mark.parametrize(
    ("part", "a", "b", "links"),
    [
        (TWIN_DAC, SWITCH_2X400, SWITCH_2X400, 2),
        (TWIN_DAC, SWITCH_1X800, SWITCH_1X800, 1),
        (FLAT_TO_FINNED, replace(SWITCH_2X400, protocol=IB), replace(SERVER_2X400, protocol=IB), 2),
        (TO_TWO_OSFP, SWITCH_2X400, NIC_OSFP, 2),
        (TO_TWO_Q112, SWITCH_2X400, NIC_Q112, 2),
        (TO_FOUR_Q112, SWITCH_4X200, NIC_200, 4),
        (HDR_SPLITTER, cage("OSFP", 8, "2x200:4@50"), cage("QSFP56", 4, "1x200:4@50"), 2),
        (HDR_SPLITTER, cage("OSFP", 8, "2x200:4@50"), cage("QSFP112", 4, "1x200:4@50"), 2),
        (DD_DAC, DD_400, DD_400, 1),
        (GEARBOX_AEC, DD_400, NIC_OSFP, 1),
        (GEARBOX_SPLITTER, DD_4X100, cage("QSFP28", 4, "1x100:4@25"), 4),
        (cable("copper", end("RJ45", "1@10"), end("RJ45", "1@10"), 1), *[cage("RJ45", 1, "1x1:1@1")] * 2, 1),
    ],
)
def test_cables_that_fit(part: Cable, a: CageKind, b: CageKind, links: int) -> None:
    """Copper: each end seats and fills its cage's mode; a cable carries a link per port of the ``a`` cage."""
    found = fit_cable(part, a, b)
    assert found is not None
    assert (found.links, found.legs) == (links, part.end_b.count)


@pytest.mark.parametrize(
    ("part", "a", "b", "broken"),
    [
        (DD_DAC, SWITCH_2X400, SWITCH_2X400, {"R1", "Copper (a)", "R4"}),
        (TWIN_DAC, SWITCH_2X400, SERVER_2X400, {"R2"}),
        (TWIN_DAC, SWITCH_4X200, SWITCH_4X200, {"R4"}),
        (cable("DAC", TWIN, TWIN, 2), SWITCH_1X800, SWITCH_1X800, {"R4"}),
        (TWIN_DAC, SWITCH_2X400, NIC_OSFP, {"R2", "R4"}),
        (TO_TWO_OSFP, SWITCH_2X400, SERVER_2X400, {"R4", "Copper (e)"}),
        (TO_TWO_OSFP, SWITCH_4X200, cage("OSFP", 4, "1x200:2@100", RHS), {"R4", "Copper (e)"}),
        (TO_TWO_Q112, SWITCH_2X400, cage("QSFP112", 4, "1x400:8@50"), {"Copper (a)"}),
        (cable("DAC", TWIN, end("QSFP-DD800", "4@100", count=2), 2), SWITCH_2X400, DD_400, {"R1", "Copper (a)"}),
        (cable("DAC", end("OSFP", "4@100", RHS), end("QSFP-DD", "8@50"), 1), DD_400, NIC_OSFP, {"Copper (a)"}),
        (cable("DAC", end("QSFP-DD", "8@50"), end("QSFP56", "2@50", count=4), 4),
         DD_4X100, cage("QSFP28", 4, "1x100:4@25"), {"Copper (a)"}),
        (cable("AOC", end("QSFP112", "4@100", fec="RS(544,514)"), end("QSFP112", "4@100", fec="none"), 1),
         NIC_Q112, NIC_Q112, {"R8"}),
        (cable("DAC", end("QSFP112", "4@100"), end("QSFP112", "4@100"), 1, protocols=(ETH,)),
         replace(NIC_Q112, protocol=IB), replace(NIC_Q112, protocol=IB), {"R9"}),
        (cable("AEC", TWIN, end("OSFP", "4@100", RHS, count=2, power_w=10), 2),
         SWITCH_2X400, replace(NIC_OSFP, power_limit_mw=9000), {"R15"}),
        (cable("copper", end("RJ45", "1@1"), end("RJ45", "1@1"), 1), *[cage("RJ45", 1, "1x10:1@10")] * 2,
         {"Copper (a)"}),
    ],
    ids=[
        "QSFP-DD-DAC-in-OSFP", "finned-in-flat", "straight-4x200", "no-single-MAC", "twin-into-single",
        "legs-over-a-twin-cage", "400G-legs-for-200G", "100G-lanes-on-a-50G-host", "800G-legs-in-a-50G-cage",
        "passive-converts-nothing", "PAM4-legs-on-NRZ", "two-FECs", "Ethernet-cable-on-InfiniBand",
        "AEC-leg-over-9W", "1G-cord-at-10G",
    ],
)  # fmt: skip
def test_cables_that_do_not_fit(part: Cable, a: CageKind, b: CageKind, broken: set[str]) -> None:
    """Copper: the counter-examples of the rules, each with what it breaks in its better direction."""
    assert fit_cable(part, a, b) is None
    ways = ((part.end_a, part.end_b), (part.end_b, part.end_a))
    found = [tuple(cable_refusals(part, at_a, at_b, a, b)) for at_a, at_b in ways]
    better = min(found, key=len)
    assert rules(better) == broken


def test_a_flat_to_finned_cable_fits_one_way_only() -> None:
    """R2, copper: MCA4J80-FTF fitted backwards puts the finned end into the server."""
    a, b = replace(SWITCH_2X400, protocol=IB), replace(SERVER_2X400, protocol=IB)
    flat, finned = FLAT_TO_FINNED.end_a, FLAT_TO_FINNED.end_b
    assert not rules(cable_refusals(FLAT_TO_FINNED, finned, flat, a, b))
    assert rules(cable_refusals(FLAT_TO_FINNED, flat, finned, a, b)) == {"R2"}


def test_a_splitter_has_its_head_in_the_switch() -> None:
    """Copper (e): with the legs at the switch the assembly is laid backwards."""
    assert fit_cable(TO_TWO_Q112, NIC_Q112, SWITCH_2X400) is None
    assert rules(cable_refusals(TO_TWO_Q112, TO_TWO_Q112.end_b, TO_TWO_Q112.end_a, NIC_Q112, SWITCH_2X400)) == {
        "Copper (e)"
    }


@pytest.mark.parametrize(
    ("vendor", "protocol", "linear_hosts", "fits"),
    [
        ("nvidia", IB, False, True),
        ("nvidia", ETH, False, False),
        ("lumen", IB, False, False),
        ("lumen", ETH, True, True),
    ],
)
def test_active_copper_needs_a_host_that_takes_it(
    vendor: str, protocol: Protocol, linear_hosts: bool, fits: bool
) -> None:
    """Copper (g): linear hosts at both ends, or NVIDIA's own InfiniBand cable."""
    acc = cable("ACC", TWIN, TWIN, 2, vendor=vendor)
    kind = cage("OSFP", 8, "2x400:4@100", protocol=protocol, linear_host=linear_hosts)
    assert rules(cable_refusals(acc, TWIN, TWIN, kind, kind)) == (set() if fits else {"Copper (g)"})
    one_sided = replace(kind, linear_host=False)
    assert vendor == "nvidia" or rules(cable_refusals(acc, TWIN, TWIN, kind, one_sided)) == {"Copper (g)"}


@pytest.mark.parametrize(
    ("kind", "rate", "legs", "vendor", "limit", "rule"),
    [
        ("DAC", 25, 1, "lumen", 5, "Copper (c)"),
        ("DAC", 50, 1, "lumen", 3, "Copper (c)"),
        ("DAC", 100, 1, "lumen", 2, "Copper (c)"),
        ("DAC", 200, 1, "lumen", 1, "Copper (c)"),
        ("DAC", 100, 2, "nvidia", 3, "Copper (c)"),
        ("DAC", 100, 1, "nvidia", 2, "Copper (c)"),
        ("DAC", 100, 2, "lumen", 2, "Copper (c)"),
        ("DAC", 200, 2, "nvidia", 1, "Copper (c)"),
        ("ACC", 100, 1, "lumen", 5, "Copper (d)"),
        ("ACC", 50, 1, "lumen", 5, "Copper (d)"),
        ("ACC", 200, 1, "lumen", 3, "Copper (d)"),
        ("AEC", 100, 1, "lumen", 7, "Copper (d)"),
        ("AOC", 100, 1, "lumen", 30, "Copper (b)"),
        ("copper", 10, 1, "lumen", 30, "Copper (b)"),
    ],
)
def test_copper_ends_where_the_rules_end(
    kind: CableKind, rate: float, legs: int, vendor: str, limit: float, rule: str
) -> None:
    """Copper (b) to (d): passive and active limits by lane rate, else the longest stock length."""
    part = cable(
        kind, end("OSFP", f"8@{rate}"), end("OSFP", f"8@{rate}", count=legs), 1, vendor=vendor, lengths_m=(1, 30)
    )
    assert limit_of(part) == (limit, rule)


def test_a_mode_is_what_it_is_written_as() -> None:
    """The shorthand of these tests: ports, speed, lanes of a port, lane rate."""
    assert mode("4x200:2@100") == PortMode(ports=4, speed_gbps=200, lanes=2, lane_gbps=100)
