"""How links fall into cages: every pair gets its links, no cage is overfull, and a block is what it says it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_catalog import SRC, fact

from gpunet.models.case import FabricName
from gpunet.models.evidence import How
from gpunet.models.parts import CageGroup, FormFactor, PortMode, Protocol, Shell
from gpunet.solver.demand import Endpoints, Host
from gpunet.solver.wiring import (
    Attach,
    Block,
    Shape,
    Stripe,
    Wire,
    attach,
    layers,
    leaf_cages,
    leaves_alike,
    lower_cages,
    stripe_blocks,
    upper_cages,
)

PER_CAGE = st.sampled_from([1, 2, 4, 8])
"""Ports of one cage; no product splits a cage into anything but a power of two."""
STRIPES = st.builds(Stripe, st.integers(1, 9), st.integers(1, 20), PER_CAGE, PER_CAGE)
LENGTHS_M = st.lists(st.sampled_from([5.0, 10.0, 30.0]), min_size=1, max_size=11)
thorough = settings(max_examples=150, deadline=None, derandomize=True, database=None)


def written_out(blocks: Iterable[Block]) -> list[tuple[Block, list[Wire]]]:
    """Every single block with its wires."""
    return [(block, block.wires(i)) for block in blocks for i in range(block.count)]


def check_blocks(found: list[tuple[Block, list[Wire]]], per_a_cage: int, per_b_cage: int) -> None:
    """What holds of all blocks: ports exist and are used once, no two share a cage, and shapes tell the truth."""
    wires = [wire for _, block in found for wire in block]
    for ends in ([w[:3] for w in wires], [w[3:] for w in wires]):
        assert max(Counter(ends).values()) == 1
    assert {w.a_port for w in wires} <= set(range(per_a_cage))
    assert {w.b_port for w in wires} <= set(range(per_b_cage))
    for cages in ([{w[:2] for w in block} for _, block in found], [{w[3:5] for w in block} for _, block in found]):
        assert sum(map(len, cages)) == len(set().union(*cages))
    for block, members in found:
        assert block.shape == shape_of(members)
        assert block.shape.links == len(members)


def shape_of(wires: list[Wire]) -> Shape:
    """The shape of a block, counted wire by wire; fills in the order that blocks are written in."""
    a_fill, b_fill = Counter(w[:2] for w in wires), Counter(w[3:5] for w in wires)
    pairs = {(w[:2], w[3:5]) for w in wires}
    return Shape(
        tuple(a_fill.values()),
        tuple(n for _, n in sorted(b_fill.items())),
        len(pairs) == len(a_fill),
        len(pairs) == len(b_fill),
    )


# --- between switches -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("multiplicity", "lower", "upper", "expected"),
    [
        (1, 1, 1, [1]),
        (3, 1, 1, [1, 1, 1]),
        (5, 2, 2, [2, 2, 1]),
        (7, 4, 2, [4, 2, 1]),
        (8, 4, 4, [4, 4]),
        (13, 8, 1, [8, 4, 1]),
        (32, 2, 2, [2] * 16),
    ],
)
def test_layers_are_whole_cages_and_binary_digits(
    multiplicity: int, lower: int, upper: int, expected: list[int]
) -> None:
    """As many whole cage pairs as fit, then the binary digits of the rest, the largest first."""
    assert layers(Stripe(4, multiplicity, lower, upper)) == expected


@thorough
@given(stripe=STRIPES, lengths_m=LENGTHS_M)
def test_every_pair_of_switches_has_its_links(stripe: Stripe, lengths_m: list[float]) -> None:
    """Equal multiplicity throughout: that, and not the number of links, makes a fabric non-blocking."""
    found = written_out(stripe_blocks(stripe, lengths_m))
    pairs = Counter((w.a, w.b) for _, wires in found for w in wires)
    assert pairs == {(a, b): stripe.multiplicity for a in range(len(lengths_m)) for b in range(stripe.upper)}
    check_blocks(found, stripe.ports_per_lower_cage, stripe.ports_per_upper_cage)


@thorough
@given(stripe=STRIPES, lengths_m=LENGTHS_M)
def test_cages_counted_are_cages_wired(stripe: Stripe, lengths_m: list[float]) -> None:
    """What a template counts against a switch's cages is what the wiring takes, numbered without a gap."""
    wires = [w for _, block in written_out(stripe_blocks(stripe, lengths_m)) for w in block]
    n = len(lengths_m)
    for a in range(n):
        assert {w.a_cage for w in wires if w.a == a} == set(range(lower_cages(stripe)))
    for b in range(stripe.upper):
        assert {w.b_cage for w in wires if w.b == b} == set(range(upper_cages(stripe, n)))
    assert lower_cages(stripe) >= math.ceil(stripe.upper * stripe.multiplicity / stripe.ports_per_lower_cage)
    assert upper_cages(stripe, n) >= math.ceil(n * stripe.multiplicity / stripe.ports_per_upper_cage)


@thorough
@given(stripe=STRIPES, lengths_m=LENGTHS_M)
def test_a_block_is_as_long_as_its_longest_link(stripe: Stripe, lengths_m: list[float]) -> None:
    """Links that share a cage share their length, and no block is longer than it must be."""
    for block, wires in written_out(stripe_blocks(stripe, lengths_m)):
        assert block.length_m == max(lengths_m[w.a] for w in wires)


def test_two_twin_cages_carry_two_links_to_one_spine() -> None:
    """By hand: two links to each of two spines over twin cages: one whole cage pair for each leaf and spine."""
    (block,) = {block for block, _ in written_out(stripe_blocks(Stripe(2, 2, 2, 2), [10.0]))}
    assert block.shape == Shape((2,), (2,), True, True)
    assert block.count == 2
    assert block.wires(1) == [Wire(0, 1, 0, 1, 0, 0), Wire(0, 1, 1, 1, 0, 1)]
    assert (lower_cages(Stripe(2, 2, 2, 2)), upper_cages(Stripe(2, 2, 2, 2), 4)) == (2, 4)


def test_single_links_of_twin_cages_share_a_square() -> None:
    """By hand: one link to each of two spines over twin cages joins two leaves and two spines in one block."""
    (found,) = written_out(stripe_blocks(Stripe(2, 1, 2, 2), [10.0, 30.0]))
    block, wires = found
    assert block.shape == Shape((2, 2), (2, 2), False, False)
    assert block.length_m == 30
    assert {(w.a, w.b) for w in wires} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert {(w.a_cage, w.b_cage) for w in wires} == {(0, 0)}


def test_half_filled_cages_may_cost_more_cages_than_ports() -> None:
    """5 links over twin cages to 3 spines: 2 x 3 whole cages and 2 for the odd ones, one more than 15 ports fill."""
    assert lower_cages(Stripe(3, 5, 2, 2)) == 8
    assert upper_cages(Stripe(3, 5, 2, 2), 3) == 8


# --- endpoints --------------------------------------------------------------------------------------------------------


def endpoints(hosts: tuple[Host, ...], cages_per_host: int, ports_per_cage: int) -> Endpoints:
    """A kind of endpoint; only its hosts and the split of its cages matter here."""
    mode = PortMode(ports=ports_per_cage, speed_gbps=100, lanes=1, lane_gbps=100)
    cage = CageGroup(
        name="nic",
        count=cages_per_host,
        form_factor=FormFactor.OSFP,
        shell=Shell.RHS,
        host_lanes=ports_per_cage,
        lane_gbps=100,
        modes=(mode,),
        power_limit_w=fact(10),
        how=How.ESTIMATED,
        src=SRC,
    )
    return Endpoints(
        fabric=FabricName.BACKEND,
        kind="server",
        group="nic",
        cage=cage,
        modes=(mode,),
        hosts=hosts,
        cages_per_host=cages_per_host,
        rail=True,
        oversubscription=Fraction(1),
        protocols=(Protocol.ETHERNET,),
    )


@st.composite
def kinds(draw: st.DrawFn) -> Endpoints:
    """Up to nine hosts: some only places for growth, some part-filled."""
    cages = draw(st.sampled_from([1, 2, 3, 4, 8]))
    hosts = tuple(
        Host(f"server-{i}" if draw(st.integers(0, 4)) else None, 0, draw(st.integers(1, cages)) if i % 3 else cages)
        for i in range(draw(st.integers(1, 9)))
    )
    return endpoints(hosts, cages, draw(st.sampled_from([1, 2, 4])))


@st.composite
def by_rail(draw: st.DrawFn) -> tuple[Endpoints, Attach]:
    """A kind with leaves that serve one rail or whole endpoint cages."""
    kind = draw(kinds())
    rails = kind.ports_per_host
    k = draw(st.sampled_from([1, *(k for k in range(1, rails + 1) if rails % k == 0 and k % kind.ports_per_cage == 0)]))
    g = math.ceil(len(kind.hosts) / draw(st.integers(1, len(kind.hosts))))
    return kind, Attach(k, g, math.ceil(g * k / kind.ports_per_cage), draw(PER_CAGE))


@st.composite
def in_order(draw: st.DrawFn) -> tuple[Endpoints, Attach]:
    """A kind whose cages go to leaves in host order."""
    kind = draw(kinds())
    cages = sum(host.cages for host in kind.hosts)
    return kind, Attach(0, 0, math.ceil(cages / draw(st.integers(1, cages))), draw(PER_CAGE))


def length_m(host: Host, group: int) -> float:
    """Some length that depends on both ends."""
    return 5.0 + host.cages + group


def check_endpoints(kind: Endpoints, plan: Attach) -> list[Wire]:
    """What holds however endpoints are spread; returns the wires."""
    found = written_out(attach(kind, plan, length_m))
    wires = [w for _, block in found for w in block]
    wanted = {
        (i, c, r)
        for i, host in enumerate(kind.hosts)
        if host.device is not None
        for c in range(host.cages)
        for r in range(kind.ports_per_cage)
    }
    assert {w[3:] for w in wires} == wanted
    if wires:
        check_blocks([(b, w) for b, w in found], plan.ports_per_leaf_cage, kind.ports_per_cage)
        assert max(w.a_cage for w in wires) < leaf_cages(kind, plan)
    return wires


@thorough
@given(spread=by_rail())
def test_every_rail_of_a_group_has_one_leaf(spread: tuple[Endpoints, Attach]) -> None:
    """GPU i of every server of a group is on one leaf, so traffic within a rail never climbs."""
    kind, plan = spread
    leaves = kind.ports_per_host // plan.rails_per_leaf
    for w in check_endpoints(kind, plan):
        rail = w.b_cage * kind.ports_per_cage + w.b_port
        assert w.a == w.b // plan.hosts_per_group * leaves + rail // plan.rails_per_leaf


@thorough
@given(spread=in_order())
def test_leaves_take_endpoint_cages_in_host_order(spread: tuple[Endpoints, Attach]) -> None:
    """A leaf takes its number of cages, places for growth counted, and whole cages only."""
    kind, plan = spread
    order = [(i, c) for i, host in enumerate(kind.hosts) for c in range(host.cages)]
    for w in check_endpoints(kind, plan):
        assert w.a == order.index((w.b, w.b_cage)) // plan.cages_per_leaf


@thorough
@given(spread=st.one_of(by_rail(), in_order()))
def test_an_endpoint_block_is_as_long_as_its_longest_link(spread: tuple[Endpoints, Attach]) -> None:
    """The length of a block of endpoints is the longest of its hosts to that leaf's group."""
    kind, plan = spread
    leaves = kind.ports_per_host // plan.rails_per_leaf if plan.rails_per_leaf else 1
    for block, wires in written_out(attach(kind, plan, length_m)):
        assert block.length_m == max(length_m(kind.hosts[w.b], w.a // leaves) for w in wires)


@thorough
@given(spread=st.one_of(by_rail(), in_order()), full=st.booleans())
def test_the_first_leaves_stand_for_all_that_are_alike(spread: tuple[Endpoints, Attach], full: bool) -> None:
    """Where the leaves of a group are said to be alike, the first counts for all of them."""
    kind, plan = spread
    if full:
        kind = replace(kind, hosts=tuple(replace(host, cages=kind.cages_per_host) for host in kind.hosts))
    alike = leaves_alike(kind, plan)
    every = Counter[tuple[float, Shape]]()
    for block in attach(kind, plan, length_m):
        every[block.length_m, block.shape] += block.count
    first = Counter[tuple[float, Shape]]()
    for block in attach(kind, plan, length_m, first_leaves=alike > 1):
        first[block.length_m, block.shape] += block.count * alike
    assert first == every
    if full and plan.rails_per_leaf >= kind.ports_per_cage:
        assert alike == kind.ports_per_host // plan.rails_per_leaf


def test_places_for_growth_keep_their_ports() -> None:
    """By hand: a place without a machine has no link, and the machine behind it is where it would be anyway."""
    hosts = (Host("one", 0, 2), Host(None, 0, 2), Host("three", 0, 2))
    kind, plan = endpoints(hosts, 2, 1), Attach(1, 3, 3, 2)
    found = {
        (w.b, w.b_cage): (w.a, w.a_cage, w.a_port) for _, ws in written_out(attach(kind, plan, length_m)) for w in ws
    }
    assert found == {(0, 0): (0, 0, 0), (0, 1): (1, 0, 0), (2, 0): (0, 1, 0), (2, 1): (1, 1, 0)}


def test_a_cage_is_not_split_over_some_of_its_leaves() -> None:
    """Rails of one cage go to one leaf, or each to its own: nothing between has a layout."""
    kind = endpoints((Host("one", 0, 1),), 1, 4)
    with pytest.raises(ValueError, match="one rail each"):
        list(attach(kind, Attach(2, 1, 1, 2), length_m))
