"""The ways between real cages: what must be buildable, what must not, at which length, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_parts import ETH, IB, cable, cage, end, fibre, mode, module

from gpunet.catalogs import load_catalog
from gpunet.models.interconnect import CageKind, Refusal
from gpunet.models.parts import CageGroup, FibreKind, Protocol, ServerRole, Shell, Status
from gpunet.solver.interconnects import (
    InterconnectTable,
    LinkOption,
    LinkParts,
    at_length,
    length_ladder,
    options,
    refusals,
)

CATALOG = load_catalog()
PARTS = LinkParts(
    modules={k: m for k, m in CATALOG.modules.items() if m.status is not Status.DISCONTINUED},
    cables={k: c for k, c in CATALOG.cables.items() if c.status is not Status.DISCONTINUED},
    fibres=CATALOG.fibres,
    interfaces=CATALOG.interfaces,
    grades=("OM4", "OS2"),
)
TABLE = InterconnectTable(PARTS)


def kind_of(group: CageGroup, protocol: Protocol, mode_text: str, hot: bool = False) -> CageKind:
    """A catalogue cage in the mode written ``2x400:4@100``, which it must offer."""
    found = [m for m in group.modes if (m.ports, m.speed_gbps, m.lanes, m.lane_gbps) == _numbers(mode_text)]
    limit = group.hot.power_limit_w if hot and group.hot else group.power_limit_w
    return CageKind(
        form_factor=group.form_factor,
        shell=group.shell,
        host_lanes=group.host_lanes,
        lane_gbps=group.lane_gbps,
        mode=found[0],
        power_limit_mw=None if limit is None else limit.milli,
        protocol=protocol,
        linear_host=group.linear_host,
        also_accepts=group.also_accepts,
    )


def _numbers(mode_text: str) -> tuple[int, float, int, float]:
    wanted = mode(mode_text)
    return wanted.ports, wanted.speed_gbps, wanted.lanes, wanted.lane_gbps


def switch(part: str, mode_text: str, hot: bool = False) -> CageKind:
    """A fabric cage of a switch."""
    found = CATALOG.switches[part]
    return kind_of(next(group for group in found.cages if group.fabric), found.protocol, mode_text, hot)


def nic(part: str, protocol: Protocol, mode_text: str) -> CageKind:
    """A cage of an adapter."""
    return kind_of(CATALOG.nics[part].cages[0], protocol, mode_text)


def server(part: str, role: ServerRole, protocol: Protocol, mode_text: str) -> CageKind:
    """A cage of a server."""
    return kind_of(next(c.cages for c in CATALOG.servers[part].cages if c.role is role), protocol, mode_text)


QM9700 = switch("ib-qm9700", "2x400:4@100")
QM9700_4X200 = switch("ib-qm9700", "4x200:2@100")
QM9700_HDR = switch("ib-qm9700", "2x200:4@50")
QM8700 = switch("ib-qm8700", "1x200:4@50")
Q3400 = switch("ib-q3400", "2x800:4@200")
SN5400 = switch("eth-sn5400", "1x400:8@50")
SN5400_HOT = switch("eth-sn5400", "1x400:8@50", hot=True)
SN5400_4X100 = switch("eth-sn5400", "4x100:2@50")
SN5600 = switch("eth-sn5600", "2x400:4@100")
SN5600_4X200 = switch("eth-sn5600", "4x200:2@100")
SN5600_1X800 = switch("eth-sn5600", "1x800:8@100")
Z9432F = switch("eth-z9432f", "1x400:8@50")
N9600_128 = switch("eth-n9600-128qc", "1x400:4@100")
DGX_H100 = server("dgx-h100", ServerRole.BACKEND, IB, "2x400:4@100")
DGX_H100_ETH = server("dgx-h100", ServerRole.BACKEND, ETH, "2x400:4@100")
DGX_H100_200 = server("dgx-h100", ServerRole.BACKEND, IB, "2x200:2@100")
DGX_B300 = server("dgx-b300", ServerRole.BACKEND, IB, "1x800:4@200")
CX7 = nic("cx7-osfp", IB, "1x400:4@100")
CX7_ETH = nic("cx7-osfp", ETH, "1x400:4@100")
CX7_200 = nic("cx7-osfp", IB, "1x200:2@100")
CX7_Q112_200 = nic("cx7-qsfp112-2x200", ETH, "1x200:2@100")
CX8_NDR = nic("cx8-c8180", IB, "1x400:4@100")
CX6 = nic("cx6-vpi", IB, "1x200:4@50")
POLLARA = nic("pollara400", ETH, "1x400:4@100")
E810 = nic("e810", ETH, "1x100:4@25")
BMC = switch("oob-sn2201", "1x1:1@1")


def find(a: CageKind, b: CageKind, a_part: str | None, b_part: str | None, medium: str) -> LinkOption:
    """The one option made of these parts."""
    found = [o for o in TABLE.options(a, b) if (o.a_part, o.b_part, o.medium_base) == (a_part, b_part, medium)]
    assert len(found) == 1, f"{a_part} {medium} {b_part}: {len(found)} options"
    return found[0]


@pytest.mark.parametrize(
    ("a", "b", "a_part", "b_part", "medium", "reach_m", "pieces"),
    [
        (QM9700, DGX_H100, "nv-mma4z00-ns", "nv-mma4z00-ns-flt", "nv-mfp7e10", 50, "1/1"),
        (QM9700, DGX_H100, "nv-mms4x00-ns", "nv-mms4x00-ns-flt", "nv-mfp7e30", 100, "1/1"),
        (QM9700, DGX_H100, "nv-mms4x00-nm", "nv-mms4x00-nm-flt", "nv-mfp7e30", 500, "1/1"),
        (QM9700, DGX_H100, None, None, "nv-mca4j80-ftf", 3, "1/2"),
        (QM9700, CX7, "nv-mma4z00-ns", "nv-mma4z00-ns400", "nv-mfp7e10", 50, "1/1"),
        (QM9700, CX7, "nv-mms4x00-ns", "nv-mms4x00-ns400", "nv-mfp7e30", 100, "1/1"),
        (QM9700, CX7, "nv-mms4x00-nm", "nv-mms4x00-ns400", "nv-mfp7e30", 100, "1/1"),
        (QM9700, CX7, None, None, "nv-mcp7y00", 3, "1/2"),
        (QM9700, CX8_NDR, "nv-mms4x00-ns", "nv-mms4x00-ns400", "nv-mfp7e30", 100, "1/1"),
        (QM9700, QM9700, "nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 50, "1/1"),
        (QM9700, QM9700, "nv-mms4x00-nm", "nv-mms4x00-nm", "nv-mfp7e30", 500, "1/1"),
        (QM9700, QM9700, "nv-mms4x50-nm", "nv-mms4x50-nm", "gen-lc-os2", 2000, "1/1"),
        (QM9700, QM9700, None, None, "nv-mcp4y10", 2, "1/2"),
        (QM9700, QM9700, None, None, "nv-mca4j80", 5, "1/2"),
        (QM9700_4X200, CX7_200, "nv-mma4z00-ns", "nv-mma4z00-ns400", "nv-mfp7e20", 50, "1/2"),
        (QM9700_4X200, CX7_200, "nv-mms4x00-ns", "nv-mms4x00-ns400", "nv-mfp7e40", 50, "1/2"),
        (QM9700_4X200, CX7_200, None, None, "nv-mcp7y50", 3, "1/4"),
        (QM9700_4X200, CX7_200, None, None, "nv-mca7j70", 5, "1/4"),
        (QM9700_4X200, DGX_H100_200, "nv-mma4z00-ns", "nv-mma4z00-ns-flt", "nv-mfp7e20", 50, "1/2"),
        (QM9700_HDR, QM8700, None, None, "nv-mcp7y60", 2, "1/2"),
        (QM9700_HDR, QM8700, None, None, "nv-mfa7u10", 30, "1/2"),
        (QM9700_HDR, CX6, None, None, "nv-mfa7u10", 30, "1/2"),
        (QM8700, CX6, "nv-mma1t00-vs", "nv-mma1t00-vs", "gen-mpo12-om4-upc", 100, "1/1"),
        (QM8700, CX6, None, None, "nv-mcp1650", 2, "1/1"),
        (SN5400, CX7_ETH, "qdd-400g-dr4", "nv-mms4x00-ns400", "nv-mfp7e30", 100, "1/1"),
        (SN5400, CX7_ETH, "qdd-400g-dr4", "osfp112-400g-dr4", "nv-mfp7e30", 500, "1/1"),
        (SN5400, CX7_ETH, "qdd-400g-vsr4", "nv-mma4z00-ns400", "nv-mfp7e10", 50, "1/1"),
        (SN5400, CX7_ETH, "qdd-400g-fr4", "osfp112-400g-fr4", "gen-lc-os2", 2000, "1/1"),
        (SN5400, CX7_ETH, None, None, "aec-speedshift-400", 5, "1/1"),
        (Z9432F, POLLARA, "qdd-400g-vsr4", "q112-400g-sr4", "nv-mfp7e10", 50, "1/1"),
        (Z9432F, POLLARA, "qdd-400g-dr4", "q112-400g-dr4", "nv-mfp7e30", 500, "1/1"),
        (SN5400, SN5600, "qdd-400g-dr4", "osfp-800g-2dr4", "nv-mfp7e30", 500, "1/1"),
        (SN5400, SN5600, "qdd-400g-fr4", "nv-mms4x50-nm", "gen-lc-os2", 2000, "1/1"),
        (SN5400, SN5600, "qdd-400g-fr4", "osfp-800g-2lr4", "gen-lc-os2", 2000, "1/1"),
        (SN5400, SN5600, "qdd-400g-dr4", "osfp-800g-dr8-mpo16", "gen-mpo16-2xmpo8-os2", 50, "1/2"),
        (SN5600, DGX_H100_ETH, "nv-mma4z00-ns-t", "nv-mma4z00-ns-flt", "nv-mfp7e10", 50, "1/1"),
        (SN5600, N9600_128, "osfp-800g-2dr4", "q112-400g-dr4", "nv-mfp7e30", 500, "1/1"),
        (SN5600_4X200, CX7_Q112_200, "nv-mms4x00-nm", "q112-400g-dr4", "nv-mfp7e40", 50, "1/2"),
        (SN5600_4X200, CX7_Q112_200, None, None, "nv-mcp7y40", 3, "1/4"),
        (SN5600_1X800, SN5600_1X800, "osfp-800g-dr8-mpo16", "osfp-800g-dr8-mpo16", "gen-mpo16-os2", 500, "1/1"),
        (SN5600_1X800, SN5600_1X800, "osfp-800g-sr8-mpo16", "osfp-800g-vsr8-mpo16", "gen-mpo16-om4", 50, "1/1"),
        (SN5600_1X800, SN5600_1X800, None, None, "nv-mcp4y10", 2, "1/1"),
        (SN5400_4X100, E810, "qdd-400g-dr4", "gen-100g-dr1", "gen-mpo12-4lc-os2", 50, "1/4"),
        (SN5400_4X100, E810, "qdd-400g-sr4.2", "gen-100g-sr1.2", "gen-mpo12-4lc-om4", 50, "1/4"),
        (SN5400_4X100, E810, None, None, "arista-h-d400-4q100", 5, "1/4"),
        (Q3400, DGX_B300, "nv-mms4c10-ihs", "nv-mms4a20", "nv-mfp7e30", 500, "1/1"),
        (Q3400, DGX_B300, None, None, "nv-mca7k10", 2, "1/2"),
        (Q3400, Q3400, "osfp224-1.6t-2dr4", "nv-mms4c10-ihs", "nv-mfp7e30", 500, "1/1"),
        (BMC, BMC, None, None, "rj45-cat6a-run", 100, "1/1"),
    ],
)  # fmt: skip
def test_links_that_must_be_buildable(
    a: CageKind, b: CageKind, a_part: str | None, b_part: str | None, medium: str, reach_m: float, pieces: str
) -> None:
    """Named combinations of the vendors' guides come out, with their reach and their pieces per link (R17)."""
    found = find(a, b, a_part, b_part, medium)
    assert found.reach_m == reach_m
    assert f"{found.media_num}/{found.media_den}" == pieces
    assert found.is_cable == (a_part is None)


@pytest.mark.parametrize(
    ("a", "b", "end_name", "part", "rule"),
    [
        (SN5400, CX7_ETH, "a_part", "qdd-400g-sr8", "R5"),
        (SN5400, CX7_ETH, "a_part", "qdd-400g-sr4.2", "R5"),
        (SN5400, CX7_ETH, "b_part", "q112-400g-dr4", "R1"),
        (SN5400, SN5400, "a_part", "q112-400g-dr4", None),
        (QM9700, CX7, "a_part", "nv-mms4x00-ns400", None),
        (QM9700, CX7, "a_part", "nv-mms4x00-nm-flt", "R2"),
        (QM9700, DGX_H100, "b_part", "nv-mms4x00-nm", "R2"),
        (QM9700, DGX_H100, "b_part", "nv-mms4x00-ns400", None),
        (QM9700, DGX_H100, "a_part", "nv-mms4x00-ns-t", "R9"),
        (QM9700, QM9700, "a_part", "nv-mms4x90-nr", "R15"),
        (SN5600_1X800, SN5600_1X800, "a_part", "osfp-800g-2dr4", "R4"),
        (SN5600_1X800, SN5600_1X800, "a_part", "osfp-800g-vr8", "R4"),
        (SN5600_4X200, CX7_Q112_200, "a_part", "osfp-800g-2fr4", "R6"),
        (SN5400_4X100, E810, "a_part", "qdd-400g-fr4", "R6"),
        (SN5400_4X100, E810, "b_part", "gen-100g-cwdm4", "R5"),
        (SN5400_4X100, E810, "b_part", "gen-100g-lr4", "R5"),
        (SN5600, SN5600, "a_part", "osfp-800g-dr8-lpo", "LPO"),
        (SN5600, SN5600, "a_part", "osfp-800g-dr8-lro", "LPO"),
        (SN5400, SN5400, "a_part", "qdd-400g-lr8", "R15"),
        (Q3400, Q3400, "a_part", "nv-mms4a00-ihs", "R15"),
        (QM9700, QM9700, "medium_base", "nv-mcp7y00", None),
        (QM9700, QM9700, "medium_base", "nv-mcp4y10-flt", None),
        (QM9700, DGX_H100, "medium_base", "nv-mcp4y10", "R2"),
        (QM9700, CX7, "medium_base", "nv-mcp7y10", "R1"),
        (QM9700, QM9700, "medium_base", "gen-aec-osfp800", "R9"),
        (SN5600, SN5600, "medium_base", "nv-mca4j80", None),
        (SN5600, POLLARA, "medium_base", "gen-acc-osfp800-2q112", "Copper (g)"),
        (SN5400, SN5400, "medium_base", "gen-acc-qdd400", "Copper (g)"),
        (SN5400_4X100, E810, "medium_base", "nv-mcp7f60", "Copper (a)"),
        (SN5600, SN5600, "medium_base", "nv-mcp1660", None),
        (SN5400, SN5600, "medium_base", "gen-dac-osfp800-2q56dd", None),
    ],
)  # fmt: skip
def test_links_that_must_not_be_buildable(a: CageKind, b: CageKind, end_name: str, part: str, rule: str | None) -> None:
    """A part in the wrong place is in no option; where it breaks one rule only, the refusals name that rule."""
    assert part in {**PARTS.modules, **PARTS.cables}
    assert part not in {getattr(option, end_name) for option in TABLE.options(a, b)}
    if rule is not None:
        assert rule in {refusal.rule for refusal in TABLE.refusals(a, b) if part in refusal.parts}


def test_a_module_hotter_than_most_cages_goes_where_the_vendor_allows_it() -> None:
    """R15 by port number: the 14 W LR8 is refused in a 12 W cage of the SN5400 and fits its 21 W cages."""
    assert not [o for o in TABLE.options(SN5400, SN5400_HOT) if o.a_part == "qdd-400g-lr8"]
    assert find(SN5400_HOT, SN5400_HOT, "qdd-400g-lr8", "qdd-400g-lr8", "gen-lc-os2").a_power_mw == 14_000


def test_every_plug_of_a_dgx_is_flat_and_of_its_switch_finned() -> None:
    """R2 and R3 over all options at once: twin-port modules at both ends, shells as the cages have them."""
    found = [o for o in TABLE.options(QM9700, DGX_H100) if not o.is_cable]
    for option in found:
        near, far = PARTS.modules[option.a_part or ""], PARTS.modules[option.b_part or ""]
        assert (near.shell, near.optical_ports) == (Shell.IHS, 2)
        assert (far.shell, far.optical_ports) == (Shell.RHS, 2)
    assert len(found) > 10


def test_both_sides_split_is_not_a_link() -> None:
    """R18: two 4x200 cages face to face have no fibre between them, only nothing."""
    assert TABLE.options(QM9700_4X200, QM9700_4X200) == ()


def test_a_splitter_may_have_its_head_at_the_far_cage() -> None:
    """A DR8 module in a spine splits to two leaves: one piece per two links, head at ``b``."""
    found = find(SN5400, SN5600, "qdd-400g-dr4", "osfp-800g-dr8-mpo16", "gen-mpo16-2xmpo8-os2")
    assert (found.legs, found.head_at_a) == (2, False)
    mirrored = find(SN5600, SN5400, "osfp-800g-dr8-mpo16", "qdd-400g-dr4", "gen-mpo16-2xmpo8-os2")
    assert (mirrored.legs, mirrored.head_at_a) == (2, True)


def test_a_straight_cable_and_a_splitter_are_told_apart() -> None:
    """Both carry two links a piece; only the splitter has two far ends."""
    straight, splitter = find(QM9700, QM9700, None, None, "nv-mcp4y10"), find(QM9700, CX7, None, None, "nv-mcp7y00")
    assert (straight.media_den, straight.legs, straight.head_at_a) == (2, 1, False)
    assert (splitter.media_den, splitter.legs, splitter.head_at_a) == (2, 2, True)


# Lengths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a_part", "b_part", "medium", "step_m", "bought"),
    [
        ("nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 30, "nv-mfp7e10-n030"),
        ("nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 30.5, "nv-mfp7e10-n035"),
        ("nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 1, "nv-mfp7e10-n003"),
        ("nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 50, "nv-mfp7e10-n050"),
        ("nv-mma4z00-ns", "nv-mma4z00-ns", "nv-mfp7e10", 50.1, None),
        ("nv-mms4x00-nm", "nv-mms4x00-ns", "nv-mfp7e30", 100, "nv-mfp7e30-n100"),
        ("nv-mms4x00-nm", "nv-mms4x00-ns", "nv-mfp7e30", 101, None),
        ("nv-mms4x00-nm", "nv-mms4x00-nm", "nv-mfp7e30", 101, "nv-mfp7e30-n150"),
        ("nv-mms4x00-nm", "nv-mms4x00-nm", "nv-mfp7e30", 151, None),
        (None, None, "nv-mcp4y10", 0.2, "nv-mcp4y10-n000.5"),
        (None, None, "nv-mcp4y10", 1.2, "nv-mcp4y10-n001.5"),
        (None, None, "nv-mcp4y10", 2.1, None),
        (None, None, "nv-mca4j80", 2.1, "nv-mca4j80-n003"),
    ],
)
def test_the_shortest_stock_length_that_covers_the_route(
    a_part: str | None, b_part: str | None, medium: str, step_m: float, bought: str | None
) -> None:
    """Copper (b), R7: the next stock length, none beyond the reach or beyond the longest stock length."""
    found = at_length(find(QM9700, QM9700, a_part, b_part, medium), step_m)
    assert (found.medium if found else None) == bought
    assert found is None or (found.length_step_m == step_m <= found.medium_length_m)


def test_the_reason_is_one_line_with_reach_rate_and_watts() -> None:
    """What a person reads beside the choice, with the splitter cap named where it decides."""
    straight = at_length(find(QM9700, CX7, "nv-mma4z00-ns", "nv-mma4z00-ns400", "nv-mfp7e10"), 30)
    assert straight is not None
    assert straight.reason == ("OM4 reach 50 m covers 30 m; 2 x 400G over 4x100G lanes; 17 W + 9 W (limits 17 W, 10 W)")
    split = at_length(find(QM9700_4X200, CX7_200, "nv-mms4x00-ns", "nv-mms4x00-ns400", "nv-mfp7e40"), 20)
    assert split is not None
    assert split.reason.startswith("OS2 reach 50 m (splitter limit) covers 20 m; 4 x 200G over 2x100G lanes;")
    cord = at_length(find(BMC, BMC, None, None, "rj45-cat6a"), 8)
    assert cord is not None
    assert cord.reason == "copper of up to 30 m covers 8 m; 1 x 1G over 1x1G lanes; 0 W + 0 W (limits none, none)"


def test_a_stock_length_beyond_the_reach_does_not_count() -> None:
    """Light travels the whole cord: with 70 m of reach, 50 m and 100 m cords cover no route above 50 m."""
    optic = module("200G-SR4", "QSFP56", "4@50", reach_m={"OM4": 70}, connector="MPO-12/UPC")
    cord = fibre("MPO-12/UPC MPO-12/UPC", grade="OM4", lengths_m=(50, 100))
    kind = cage("QSFP56", 4, "1x200:4@50")
    (only,) = options(kind, kind, LinkParts({"optic": optic}, {}, {"cord": cord}, CATALOG.interfaces, ("OM4",)))
    assert at_length(only, 50) is not None
    assert at_length(only, 60) is None


PAIRS = [
    (QM9700, DGX_H100), (QM9700, CX7), (QM9700, QM9700), (QM9700_4X200, CX7_200), (QM9700_HDR, QM8700),
    (SN5400, CX7_ETH), (SN5400, SN5600), (SN5600, SN5600), (SN5600_1X800, SN5600_1X800), (SN5400_4X100, E810),
    (Z9432F, POLLARA), (Q3400, DGX_B300), (BMC, BMC),
]  # fmt: skip
LADDER = length_ladder(PARTS)


@given(st.sampled_from(PAIRS), st.integers(1, len(LADDER) - 1), st.floats(0, 1, exclude_min=True))
@settings(deadline=None, max_examples=200)
def test_nothing_changes_within_a_step_of_the_ladder(pair: tuple[CageKind, CageKind], upper: int, share: float) -> None:
    """Any length of a step buys the same medium as the step itself, so link classes may be keyed by steps."""
    low, high = LADDER[upper - 1], LADDER[upper]
    length_m = min(high, low + share * (high - low))
    if length_m > low:
        for option in TABLE.options(*pair):
            at, on = at_length(option, length_m), at_length(option, high)
            assert (at and at.medium) == (on and on.medium)


def test_the_ladder_ends_with_the_longest_stock_length() -> None:
    """Beyond the last step nothing is sold; reaches up to it are steps, longer ones are not."""
    assert LADDER[-1] == 150
    assert {0.5, 1.1, 2, 3, 30, 50, 100} <= set(LADDER)
    assert list(LADDER) == sorted(set(LADDER))
    assert length_ladder(LinkParts({}, {}, {}, {}, ())) == ()


def test_the_ladder_holds_reaches_that_no_stock_length_has() -> None:
    """A module that reaches 70 m makes 70 m a step between 50 m and 150 m cords; 10 km is beyond every cord."""
    optic = module("400G-DR4", "QSFP112", "4@100", reach_m={"OM4": 70, "OS2": 10_000})
    steps = length_ladder(LinkParts({"optic": optic}, {}, {"cord": fibre("LC/UPC LC/UPC")}, {}, ("OS2",)))
    assert steps == (5, 50, 70, 150)


def test_the_ladder_holds_the_limits_of_splitters_and_copper() -> None:
    """A splitter ends at 50 m and a passive cable at 2 m even where the stock lists go from 1 m to 60 m."""
    dac = cable("DAC", end("OSFP", "8@100"), end("OSFP", "8@100"), 2, lengths_m=(1, 60))
    assert length_ladder(LinkParts({}, {"dac": dac}, {}, {}, ())) == (1, 2, 50, 60)


# Choice and order ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_a_fibre_link_works_the_same_from_either_end(pair: tuple[CageKind, CageKind]) -> None:
    """Mating is symmetric: swapping the cages swaps the modules and nothing else."""
    a, b = pair
    there = {(o.a_part, o.b_part, o.medium_base, o.reach_m) for o in TABLE.options(a, b) if not o.is_cable}
    back = {(o.b_part, o.a_part, o.medium_base, o.reach_m) for o in TABLE.options(b, a) if not o.is_cable}
    assert there == back


@given(st.sampled_from(PAIRS), st.sets(st.sampled_from(sorted({**PARTS.modules, **PARTS.cables, **PARTS.fibres}))))
@settings(deadline=None, max_examples=60)
def test_taking_parts_away_takes_exactly_their_options_away(pair: tuple[CageKind, CageKind], gone: set[str]) -> None:
    """No option depends on a part it does not use."""
    fewer = LinkParts(
        {k: v for k, v in PARTS.modules.items() if k not in gone},
        {k: v for k, v in PARTS.cables.items() if k not in gone},
        {k: v for k, v in PARTS.fibres.items() if k not in gone},
        PARTS.interfaces,
        PARTS.grades,
    )
    kept = [o for o in TABLE.options(*pair) if not gone & {o.a_part, o.b_part, o.medium_base}]
    assert list(options(*pair, fewer)) == kept


def test_only_allowed_glass_is_used() -> None:
    """A site without multimode fibre gets no OM4 medium."""
    single = options(QM9700, CX7, replace(PARTS, grades=("OS2",)))
    assert {o.medium_base for o in single if not o.is_cable} == {"nv-mfp7e30", "gen-lc-os2"}


def test_the_table_answers_at_a_length() -> None:
    """At 40 m no cable is left between NDR switches, at 2 m the DAC and the 3 m active cable are there."""
    assert not [ic for ic in TABLE.at_length(QM9700, QM9700, 40) if ic.is_cable]
    near = {ic.medium for ic in TABLE.at_length(QM9700, QM9700, 2) if ic.is_cable}
    assert near == {"gen-dac-osfp800-n002", "nv-mcp4y10-n002", "nv-mca4j80-n003"}


# Refusals -----------------------------------------------------------------------------------------------------------


def sentences(found: tuple[Refusal, ...], rule: str) -> list[str]:
    """The sentences said under a rule."""
    return [refusal.message for refusal in found if refusal.rule == rule]


def test_a_route_too_long_is_refused_by_the_limit_that_decides() -> None:
    """R7 for the modules, R13 for a splitter, the stock list and the copper letters: each says the metres."""
    far = refusals(QM9700, QM9700, PARTS, 60)
    assert "nv-mma4z00-ns to nv-mma4z00-ns over nv-mfp7e10 reaches 50 m; 60 m are needed" in sentences(far, "R7")
    assert (
        "nv-mms4x50-nm to nv-mms4x50-nm over gen-lc-os2: the longest stock length within reach is 50 m; "
        "60 m are needed" in sentences(far, "Stock")
    )
    assert "nv-mcp4y10 reaches 2 m; 60 m are needed" in sentences(far, "Copper (b)")
    split = refusals(QM9700_4X200, CX7_200, PARTS, 60)
    assert "nv-mms4x00-ns to nv-mms4x00-ns400 over nv-mfp7e40 reaches 50 m; 60 m are needed" in sentences(split, "R13")


def test_long_enough_options_are_not_refused() -> None:
    """With a length that everything covers, the length adds no refusal."""
    assert TABLE.refusals(QM9700, QM9700, 0.3) == TABLE.refusals(QM9700, QM9700)


def test_ends_that_cannot_share_a_class_are_told_so_first() -> None:
    """One protocol, one speed, and a mode that the cage offers on that protocol."""
    assert sentences(TABLE.refusals(QM9700, CX7_ETH), "R9") == ["one end speaks infiniband, the other ethernet"]
    assert sentences(TABLE.refusals(QM9700, CX7_200), "R4") == [
        "one end runs 2 x 400G, the other 1 x 200G; a link has one speed"
    ]
    over_ethernet = replace(DGX_B300, protocol=ETH)
    assert TABLE.options(over_ethernet, over_ethernet) == ()
    assert sentences(TABLE.refusals(over_ethernet, SN5600_1X800), "R4") == [
        "the OSFP224 cage does not offer 1 x 800G on ethernet"
    ]


def test_a_cage_that_takes_nothing_is_explained_all_the_same() -> None:
    """Co-packaged optics seat no plug: every module is refused by R1, none silently left out."""
    packaged = switch("ib-q3450", "1x800:4@200")
    assert TABLE.options(packaged, DGX_B300) == ()
    said = {r.rule for r in TABLE.refusals(packaged, DGX_B300) if "co-packaged" in r.message}
    assert said == {"R1"}


def test_where_no_part_is_near_the_nearest_are_named() -> None:
    """With one optic on the shelf that breaks two rules at each end, both are told."""
    optic = module("400G-DR4", "QSFP112", "4@100", protocols=(IB,), power_w=30)
    kind = cage("QSFP112", 4, "1x400:4@100")
    found = refusals(kind, kind, LinkParts({"optic": optic}, {}, {}, CATALOG.interfaces, ()))
    assert {r.rule for r in found} == {"R9", "R15"}


def test_fibres_that_do_not_fit_are_silent_where_another_does() -> None:
    """Between NDR switches every mating pair has its cord, so no connector is complained about."""
    assert not {r.rule for r in TABLE.refusals(QM9700, QM9700)} & {"R10", "R11", "R12", "R13"}


def test_a_cord_with_two_kinds_of_ends_is_laid_either_way() -> None:
    """R10: an MPO-to-LC cord joins an MPO module at either end to an LC module at the other."""
    optics = {
        "mpo": module("400G-DR4", "QSFP112", "4@100", part="mpo"),
        "lc": module("400G-DR4", "QSFP112", "4@100", part="lc", connector="LC/UPC"),
    }
    kind = cage("QSFP112", 4, "1x400:4@100")
    cord = fibre("LC/UPC MPO-12/APC")
    found = options(kind, kind, LinkParts(optics, {}, {"cord": cord}, CATALOG.interfaces, ("OS2",)))
    assert [(o.a_part, o.b_part) for o in found] == [("lc", "mpo"), ("mpo", "lc")]


def test_mating_modules_without_a_cord_name_the_connector() -> None:
    """R11: with only UPC jumpers on the shelf, two 400G-VR4 modules find no cord."""
    shelf = {"gen-mpo12-om4-upc": PARTS.fibres["gen-mpo12-om4-upc"]}
    found = refusals(QM9700, QM9700, replace(PARTS, fibres=shelf))
    assert {"nv-mma4z00-ns", "gen-mpo12-om4-upc"} <= {
        part for refusal in found if refusal.rule == "R11" for part in refusal.parts
    }


def test_refusals_are_merged_by_sentence() -> None:
    """The same reason for several pairs of parts is said once, with all the parts."""
    found = TABLE.refusals(SN5400, CX7_ETH)
    keys = [(refusal.rule, refusal.message) for refusal in found]
    assert len(keys) == len(set(keys))
    (mismatch,) = [r for r in found if r.message.startswith("400G-SR8 and 400G-VR4 do not mate")]
    assert {"qdd-400g-sr8", "nv-mma4z00-ns400", "osfp112-400g-sr4"} <= set(mismatch.parts)


def test_a_listed_refusal_removes_the_part() -> None:
    """R19: a module on the vendor's unsupported list of this device is gone and named."""
    refusing = replace(QM9700, refuses_modules=frozenset({"osfp-800g-2dr4"}))
    assert "osfp-800g-2dr4" not in {o.a_part for o in TABLE.options(refusing, CX7)}
    assert ("osfp-800g-2dr4",) in {r.parts for r in TABLE.refusals(refusing, CX7) if r.rule == "R19"}


def test_a_splitter_cable_in_the_making_counts_links_by_the_head() -> None:
    """R17: an assembly with four legs is one piece per four links, whatever its ends draw."""
    four = cable("DAC", end("OSFP", "8@100"), end("QSFP112", "2@100", count=4, power_w=0.3), 4, part="four")
    parts = LinkParts({}, {"four": four}, {}, {}, ())
    (only,) = options(cage("OSFP", 8, "4x200:2@100"), cage("QSFP112", 4, "1x200:2@100"), parts)
    assert (only.media_num, only.media_den, only.a_power_mw, only.b_power_mw) == (1, 4, 100, 300)
    assert at_length(only, 2.5) is None


def test_a_trunk_never_joins_two_modules() -> None:
    """R12: trunks have male ends and meet cords behind panels; no option lays one between modules."""
    trunks = {k for k, f in PARTS.fibres.items() if f.kind is FibreKind.TRUNK}
    assert trunks
    assert not trunks & {option.medium_base for pair in PAIRS for option in TABLE.options(*pair)}
