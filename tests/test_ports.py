"""What a switch's cages can do at once: splits, pipelines, logical ports, and cages that take hotter modules."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from exhaustive_catalog import awkward_catalog
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tiny_catalog import fact

from gpunet.catalogs import load_catalog
from gpunet.models.parts import CageGroup, HotCages, Protocol, Switch
from gpunet.solver.ports import Face, Use, cage_numbers, faces, fits, hot_numbers, pipeline_shares

CATALOG = load_catalog()
AWKWARD = awkward_catalog()
TOMAHAWK_5 = CATALOG.switches["eth-7060x6-64pe"]
thorough = settings(max_examples=150, deadline=None, derandomize=True, database=None)


@cache
def faces_of(part: str) -> tuple[Face, ...]:
    """Every face of a switch of the shipped catalogue."""
    switch = CATALOG.switches[part]
    return tuple(faces(switch, switch.protocol))


def face(switch: Switch, ports: int, hot: bool = False) -> Face:
    """The face of a switch with so many ports a cage."""
    return next(f for f in faces(switch, switch.protocol) if f.ports == ports and f.hot == hot)


def uses(switch: Switch, **cages: int) -> list[Use]:
    """Cages by split: ``x8=32`` are 32 cages of eight ports."""
    return [(face(switch, int(split[1:])), n) for split, n in cages.items()]


# --- faces ------------------------------------------------------------------------------------------------------------


def test_a_face_is_a_split_at_one_speed() -> None:
    """Modes of equal ports and speed but other lanes are one face; cages that are not for fabrics show none."""
    assert [(f.ports, f.speed_gbps) for f in faces(TOMAHAWK_5, Protocol.ETHERNET)] == [
        (1, 400),
        (1, 800),
        (2, 400),
        (4, 200),
        (8, 100),
    ]
    assert "management" in {group.name for group in TOMAHAWK_5.cages}
    assert {f.group.name for f in faces(TOMAHAWK_5, Protocol.ETHERNET)} == {"fabric"}
    for f in (f for part in CATALOG.switches for f in faces_of(part)):
        assert {(m.ports, m.speed_gbps) for m in f.modes} == {(f.ports, f.speed_gbps)}


def test_hot_cages_show_faces_of_their_own() -> None:
    """The cages with the higher limit can be used alone; there are as many as the vendor says."""
    switch = AWKWARD.switches["ib-hot-6"]
    found = faces(switch, Protocol.INFINIBAND)
    assert [(f.ports, f.hot, f.cages) for f in found] == [(2, False, 6), (2, True, 2), (4, False, 6), (4, True, 2)]


# --- what fits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cages", "ports", "possible"),
    [
        ({"x1": 64}, 64, True),
        ({"x2": 64}, 128, True),
        ({"x4": 64}, 256, True),
        ({"x8": 32}, 256, True),
        ({"x8": 33}, 264, False),
        ({"x8": 32, "x2": 32}, 320, True),
        ({"x8": 32, "x4": 1}, 260, False),
        ({"x8": 16, "x4": 32}, 256, True),
        ({"x8": 16, "x4": 33}, 260, False),
        ({"x8": 16, "x4": 32, "x1": 16}, 272, True),
        ({"x4": 64, "x1": 1}, 257, False),
    ],
)
def test_tomahawk_5(cages: dict[str, int], ports: int, possible: bool) -> None:
    """320 logical ports, and 10 to each pair of cages: the chip that most 64-cage switches are built on."""
    asked = uses(TOMAHAWK_5, **cages)
    assert sum(f.ports * n for f, n in asked) == ports
    assert fits(TOMAHAWK_5, asked) is possible


def test_logical_ports_are_limited_over_all_faces() -> None:
    """A limit on the chip counts ports down and up together, in cages that would take more."""
    switch = AWKWARD.switches["eth-pipe-6"]
    assert fits(switch, uses(switch, x4=2, x2=4))
    three = switch.model_copy(update={"max_logical_ports": fact(15)})
    assert not fits(three, uses(switch, x4=2, x2=4))


def test_faces_of_a_group_share_its_cages() -> None:
    """Cages used one way are gone for the other, hot cages are part of their group, and groups are apart."""
    hot = AWKWARD.switches["ib-hot-6"]
    assert fits(hot, [(face(hot, 2), 4), (face(hot, 4, hot=True), 2)])
    assert not fits(hot, [(face(hot, 2), 5), (face(hot, 4, hot=True), 2)])
    assert not fits(hot, [(face(hot, 2, hot=True), 3)])
    assert not fits(hot, [(face(hot, 2, hot=True), 1), (face(hot, 4, hot=True), 2)])
    duo = AWKWARD.switches["eth-duo-6"]
    assert fits(duo, [(face(duo, 1), 6), (face(duo, 2), 2)])
    assert not fits(duo, [(face(duo, 1), 6), (face(duo, 2), 3)])


def deals(loads: tuple[int, ...], share: int, limit: int) -> bool:
    """Whether some way to put cages together keeps every pipeline within its limit; every way is tried."""
    if not loads:
        return True
    first, *rest = loads
    for chosen in itertools.combinations(range(len(rest)), share - 1):
        if first + sum(rest[i] for i in chosen) <= limit:
            left = tuple(load for i, load in enumerate(rest) if i not in chosen)
            if deals(left, share, limit):
                return True
    return False


@thorough
@given(x1=st.integers(0, 8), x2=st.integers(0, 8), x4=st.integers(0, 8), x8=st.integers(0, 8), limit=st.integers(4, 16))
def test_pairs_of_cages_are_dealt_as_well_as_they_can_be(x1: int, x2: int, x4: int, x8: int, limit: int) -> None:
    """With two cages a pipeline, what is refused cannot be arranged in any way, and what fits can."""
    assume(x1 + x2 + x4 + x8 <= 8)
    group = TOMAHAWK_5.cages[0].model_copy(update={"count": 8})
    switch = TOMAHAWK_5.model_copy(update={"cages": (group,), "max_logical_ports": None, "ports_per_pipeline": limit})
    asked = uses(switch, x1=x1, x2=x2, x4=x4, x8=x8)
    loads = sorted((f.ports for f, n in asked for _ in range(n)), reverse=True)
    assert fits(switch, asked) == deals(tuple(loads + [0] * (8 - len(loads))), 2, limit)


def test_four_cages_of_a_pipeline_are_dealt_as_well_as_they_can_be() -> None:
    """48 cages of four and 64 of two fill 32 pipelines of ten: half of them as 4+4+2, the others as 4+2+2+2."""
    switch = CATALOG.switches["eth-n9600-128qc"]
    assert (switch.cages_per_pipeline, switch.ports_per_pipeline, switch.cages[0].count) == (4, 10, 128)
    assert fits(switch, uses(switch, x4=48, x2=64))


# --- which cages ------------------------------------------------------------------------------------------------------


@st.composite
def used_switches(draw: st.DrawFn) -> tuple[Switch, list[Use]]:
    """A switch of the catalogue with up to three faces in use."""
    part = draw(st.sampled_from([part for part in CATALOG.switches if faces_of(part)]))
    chosen = draw(st.lists(st.sampled_from(faces_of(part)), min_size=1, max_size=3, unique=True))
    return CATALOG.switches[part], [(f, draw(st.integers(1, f.cages))) for f in chosen]


def pipelines(switch: Switch, asked: list[Use], numbers: list[list[int]]) -> Iterator[int]:
    """Ports on every pipeline of neighbouring cages."""
    assert switch.cages_per_pipeline is not None
    loads = Counter[int]()
    for (f, _), found in zip(asked, numbers, strict=True):
        for number in found:
            loads[(number - 1) // switch.cages_per_pipeline] += f.ports
    yield from loads.values()


def dealt(switch: Switch, asked: list[Use]) -> bool:
    """Whether some face is too full to fill whole pipelines with."""
    share, limit = switch.cages_per_pipeline, switch.ports_per_pipeline
    return bool(share and limit) and any(f.ports * (share or 1) > (limit or 0) for f, _ in asked)


@thorough
@given(asked=used_switches())
def test_cages_that_fit_have_numbers(asked: tuple[Switch, list[Use]]) -> None:
    """Every use has its cages, none is given twice, all exist, and hot modules sit where they may."""
    switch, wanted = asked
    assume(fits(switch, wanted))
    # Hot modules beside cages too full for their pipeline are a test of their own.
    assume(not any(f.hot for f, _ in wanted) or not dealt(switch, wanted))
    numbers = cage_numbers(switch, wanted)
    assert [len(found) for found in numbers] == [n for _, n in wanted]
    given_out = Counter((f.group.name, n) for (f, _), found in zip(wanted, numbers, strict=True) for n in found)
    assert set(given_out.values()) == {1}
    for (f, _), found in zip(wanted, numbers, strict=True):
        assert set(found) <= set(range(1, f.group.count + 1))
        if f.hot:
            assert set(found) <= hot_numbers(f.group)
    if switch.cages_per_pipeline and switch.ports_per_pipeline:
        assert max(pipelines(switch, wanted, numbers)) <= switch.ports_per_pipeline


def test_hot_modules_sit_right_beside_fuller_cages() -> None:
    """Eight cages of eight ports keep to pipelines of their own, and hot modules to cages 1 to 16."""
    switch = CATALOG.switches["eth-dcs240"]
    asked = [*uses(switch, x8=8), (face(switch, 1, hot=True), 16)]
    assert fits(switch, asked)
    assert set(cage_numbers(switch, asked)[1]) <= hot_numbers(switch.cages[0])


def test_fuller_cages_are_kept_apart() -> None:
    """By hand: 32 cages of eight ports on the odd numbers, 32 of two between them, ten ports to every pair."""
    asked = uses(TOMAHAWK_5, x8=32, x2=32)
    odd, even = cage_numbers(TOMAHAWK_5, asked)
    assert odd == list(range(1, 65, 2))
    assert even == list(range(2, 65, 2))
    assert set(pipelines(TOMAHAWK_5, asked, [odd, even])) == {10}
    assert set(map(sum, pipeline_shares(TOMAHAWK_5, asked))) == {10}


def test_cages_are_given_out_in_order() -> None:
    """Where nothing forces them apart, a person finds ports down first and ports up behind them."""
    assert cage_numbers(TOMAHAWK_5, uses(TOMAHAWK_5, x2=3, x1=2)) == [[1, 2, 3], [4, 5]]


def test_cool_modules_leave_the_hot_cages_free() -> None:
    """Cages 2 and 5 take the hotter module: they are the last to be given to any other, and the only ones for it."""
    switch = AWKWARD.switches["ib-hot-6"]
    cool, hot = face(switch, 2), face(switch, 2, hot=True)
    assert cage_numbers(switch, [(cool, 4), (hot, 2)]) == [[1, 3, 4, 6], [2, 5]]
    assert cage_numbers(switch, [(cool, 5), (hot, 1)]) == [[1, 3, 4, 6, 5], [2]]


def hot_group(text: str, count: int) -> CageGroup:
    """Sixteen cages, of which some are hot."""
    hot = HotCages(count=count, port_numbers=text, power_limit_w=fact(20))
    return AWKWARD.switches["ib-hot-6"].cages[0].model_copy(update={"count": 16, "hot": hot})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,5,9,13", {1, 5, 9, 13}),
        ("2, 4 , 6-8", {2, 4, 6, 7, 8}),
        ("13-16", {13, 14, 15, 16}),
        ("", {1, 2, 3}),
    ],
)
def test_hot_cages_are_read_as_the_vendor_writes_them(text: str, expected: set[int]) -> None:
    """Numbers and ranges; without a list it is the first cages."""
    assert hot_numbers(hot_group(text, len(expected))) == expected


def test_hot_cages_of_the_catalogue_are_listed_in_full() -> None:
    """No switch that is shipped falls back on its first cages because its list does not add up."""
    listed = [g for s in CATALOG.switches.values() for g in s.cages if g.hot is not None and g.hot.port_numbers]
    assert listed
    for group in listed:
        assert group.hot is not None
        assert len(hot_numbers(group)) == group.hot.count
        assert {n for n in hot_numbers(group) if str(n) in group.hot.port_numbers.split(",")} == hot_numbers(group)
    plain = TOMAHAWK_5.cages[0]
    assert plain.hot is None
    assert hot_numbers(plain) == set()
