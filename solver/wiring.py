"""How links fall into cages. Counting and wiring use the same functions, so what is costed is what is wired.

A *block* is a set of links closed under sharing a cage: no cage of it carries a link of another block. All links
of a block use one interconnect at one length, the longest of the block. A block's *shape* says how full its cages
are; that is all a price needs to know.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gpunet.solver.demand import Endpoints, Host


class InTrays(NamedTuple):
    """The trays that the cables of a block lie in."""

    sections: tuple[str, ...]
    """Sections that some link of the block passes, in order of name."""
    with_cords: bool = False
    """True where the lower switches of a bundle stand apart, so that cords to a panel they share lie there too."""


class Shape(NamedTuple):
    """How the links of a block fill its cages."""

    a_fill: tuple[int, ...]
    """Links in each a cage."""
    b_fill: tuple[int, ...]
    """Links in each b cage."""
    a_one_b: bool
    """True when all links of an a cage end in one b cage."""
    b_one_a: bool
    """True when all links of a b cage end in one a cage."""
    times: int = 1
    """Blocks of this shape that are one bundle: built one way, sharing trunks."""
    cords: tuple[float, float] | None = None
    """Way from the ports of a bundle to its panel at a and at b, m; none for what is no bundle."""
    trays: InTrays | None = None
    """Trays passed; none where the case limits none, or the block passes none."""

    @property
    def links(self) -> int:
        """Links of the block, or of the bundle."""
        return self.times * sum(self.a_fill)


class Wire(NamedTuple):
    """One link of a block. Devices and cages are numbered from 0, in the order of their kind."""

    a: int
    a_cage: int
    a_port: int
    b: int
    b_cage: int
    b_port: int


class Block(NamedTuple):
    """``count`` blocks that are alike, and how to write each one out."""

    length_m: float
    shape: Shape
    count: int  # type: ignore[assignment]  # hides tuple.count, which nothing needs here
    wires: Callable[[int], list[Wire]]
    """Wires of block ``i``, 0 <= i < count."""


class Attach(NamedTuple):
    """How one kind of endpoint is spread over leaves.

    With ``rails_per_leaf`` k > 0: leaf group q serves hosts q*hosts_per_group onwards, leaf j of the group their
    rails j*k to j*k+k-1. With k = 0: leaf j takes host cages j*cages_per_leaf onwards, in host order.
    """

    rails_per_leaf: int
    hosts_per_group: int
    cages_per_leaf: int
    """Host cages that one leaf must be able to take, growth included."""
    ports_per_leaf_cage: int


def leaf_cages(kind: Endpoints, plan: Attach) -> int:
    """Leaf cages that one leaf keeps for this kind of endpoint."""
    if 0 < plan.rails_per_leaf < kind.ports_per_cage:
        return math.ceil(plan.hosts_per_group / plan.ports_per_leaf_cage) * plan.rails_per_leaf
    return math.ceil(plan.cages_per_leaf * kind.ports_per_cage / plan.ports_per_leaf_cage)


LengthOf = Callable[[Host, int], float]
"""Routed length from a host to leaf group ``q`` (rails) or leaf ``q`` (no rails), m."""


HostTrays = Callable[[Sequence[Host], int], InTrays | None]
"""Trays between these hosts and leaf group or leaf ``q``."""
SwitchTrays = Callable[[range], InTrays | None]
"""Trays between these lower switches, by number, and the switches above."""


def no_trays(_: object, __: object = None) -> None:
    """Trays that nobody limits."""


def attach(
    kind: Endpoints, plan: Attach, length_m: LengthOf, first_leaves: bool = False, trays: HostTrays = no_trays
) -> Iterator[Block]:
    """Blocks that join endpoints (b) to leaves (a). Leaf numbers are group-major.

    With ``first_leaves`` only the first leaf of every group is joined, where ``leaves_alike`` says it stands for all.
    """
    if 0 < plan.rails_per_leaf < kind.ports_per_cage:
        yield from _rail_split(kind, plan, length_m, trays)
    else:
        yield from _packed(kind, plan, length_m, first_leaves, trays)


def leaves_alike(kind: Endpoints, plan: Attach) -> int:
    """Leaves of a group that are joined alike: all its rails where every host has all its cages, else 1."""
    if plan.rails_per_leaf < kind.ports_per_cage:
        return 1
    leaves = kind.ports_per_host // plan.rails_per_leaf
    cages = leaves * (plan.rails_per_leaf // kind.ports_per_cage)
    return leaves if all(host.cages == cages for host in kind.hosts if host.device is not None) else 1


def _rail_split(kind: Endpoints, plan: Attach, length_m: LengthOf, trays: HostTrays) -> Iterator[Block]:
    """The ports of one endpoint cage go to different leaves: blocks of p_a hosts x p_b rails."""
    p_a, p_b, g = plan.ports_per_leaf_cage, kind.ports_per_cage, plan.hosts_per_group
    if plan.rails_per_leaf != 1:
        raise ValueError("a cage is split over leaves one rail each")
    leaves_per_group = kind.ports_per_host
    for q in range(math.ceil(len(kind.hosts) / g)):
        for j in range(math.ceil(g / p_a)):
            first = q * g + j * p_a
            chunk = [
                (i, kind.hosts[i])
                for i in range(first, min(first + p_a, (q + 1) * g, len(kind.hosts)))
                if kind.hosts[i].device is not None
            ]
            for columns, members in _columns(chunk):
                passed = trays([h for _, h in members], q)
                shape = Shape((len(members),) * p_b, (p_b,) * len(members), len(members) == 1, False, trays=passed)
                longest = max(length_m(h, q) for _, h in members)

                def wires(
                    n: int,
                    columns: list[int] = columns,
                    members: list[tuple[int, Host]] = members,
                    base: int = q * leaves_per_group,
                    cage: int = j,
                    first: int = first,
                ) -> list[Wire]:
                    c = columns[n]
                    return [Wire(base + c * p_b + r, cage, i - first, i, c, r) for i, _ in members for r in range(p_b)]

                yield Block(longest, shape, len(columns), wires)


def _columns(chunk: list[tuple[int, Host]]) -> list[tuple[list[int], list[tuple[int, Host]]]]:
    """Cage columns of a chunk of hosts, grouped by which hosts have that cage."""
    found: dict[tuple[int, ...], list[int]] = {}
    for c in range(max((h.cages for _, h in chunk), default=0)):
        found.setdefault(tuple(i for i, h in chunk if h.cages > c), []).append(c)
    hosts = dict(chunk)
    return [(columns, [(i, hosts[i]) for i in members]) for members, columns in found.items()]


def _packed(kind: Endpoints, plan: Attach, length_m: LengthOf, first_leaves: bool, trays: HostTrays) -> Iterator[Block]:
    """All ports of an endpoint cage go to one leaf: blocks of whole endpoint cages in leaf port order."""
    p_a, p_b = plan.ports_per_leaf_cage, kind.ports_per_cage
    b_cages, a_cages = max(p_a, p_b) // p_b, max(p_a, p_b) // p_a
    for leaf, group, seats in _seats(kind, plan, first_leaves):
        filled: dict[int, list[tuple[int, int, int]]] = {}
        for position, host, cage in seats:
            filled.setdefault(position // b_cages, []).append((position, host, cage))
        runs: dict[tuple[Shape, float], list[tuple[int, list[tuple[int, int, int]]]]] = {}
        for number, members in filled.items():
            n = len(members)
            passed = trays([kind.hosts[host] for _, host, _ in members], group)
            shape = (
                Shape((n * p_b,), (p_b,) * n, n == 1, True, trays=passed)
                if a_cages == 1
                else Shape((p_a,) * a_cages, (p_b,), True, False, trays=passed)
            )
            longest = max(length_m(kind.hosts[host], group) for _, host, _ in members)
            runs.setdefault((shape, longest), []).append((number, members))
        for (shape, longest), blocks in runs.items():

            def wires(
                k: int, blocks: list[tuple[int, list[tuple[int, int, int]]]] = blocks, leaf: int = leaf
            ) -> list[Wire]:
                number, members = blocks[k]
                found = []
                for position, host, cage in members:
                    for port in range(p_b):
                        link = (position - number * b_cages) * p_b + port
                        found.append(Wire(leaf, number * a_cages + link // p_a, link % p_a, host, cage, port))
                return found

            yield Block(longest, shape, len(blocks), wires)


def _seats(kind: Endpoints, plan: Attach, first_leaves: bool) -> Iterator[tuple[int, int, list[tuple[int, int, int]]]]:
    """For every leaf: its number, its group, and its endpoint cages as (position, host, cage)."""
    k = plan.rails_per_leaf
    if k:
        per_host = k // kind.ports_per_cage
        leaves = kind.ports_per_host // k
        g = plan.hosts_per_group
        for q in range(math.ceil(len(kind.hosts) / g)):
            for j in range(1 if first_leaves else leaves):
                seats = [
                    ((i - q * g) * per_host + c - j * per_host, i, c)
                    for i in range(q * g, min((q + 1) * g, len(kind.hosts)))
                    if kind.hosts[i].device is not None
                    for c in range(j * per_host, min((j + 1) * per_host, kind.hosts[i].cages))
                ]
                if seats:
                    yield q * leaves + j, q, seats
        return
    per_leaf = plan.cages_per_leaf
    leaf, position = 0, 0
    seats = []
    for i, host in enumerate(kind.hosts):
        for c in range(host.cages):
            if host.device is not None:
                seats.append((position, i, c))
            position += 1
            if position == per_leaf:
                if seats:
                    yield leaf, leaf, seats
                leaf, position, seats = leaf + 1, 0, []
    if seats:
        yield leaf, leaf, seats


class Stripe(NamedTuple):
    """Every lower switch runs ``multiplicity`` links to every upper switch of its group."""

    upper: int
    multiplicity: int
    ports_per_lower_cage: int
    ports_per_upper_cage: int


def layers(stripe: Stripe) -> list[int]:
    """The multiplicity as a sum of powers of two, whole cage pairs first: 5 links over twin cages are 2 + 2 + 1."""
    whole = max(stripe.ports_per_lower_cage, stripe.ports_per_upper_cage)
    found = [whole] * (stripe.multiplicity // whole)
    rest = stripe.multiplicity % whole
    return found + [1 << bit for bit in reversed(range(whole.bit_length())) if rest >> bit & 1]


def lower_cages(stripe: Stripe) -> int:
    """Uplink cages of one lower switch."""
    p = stripe.ports_per_lower_cage
    total = 0
    for b in layers(stripe):
        beta = max(1, p // b)
        total += (stripe.upper // beta) * max(1, b // p) + math.ceil(stripe.upper % beta * b / p)
    return total


def upper_cages(stripe: Stripe, n_lower: int) -> int:
    """Downlink cages of one upper switch under which ``n_lower`` lower switches stand."""
    p = stripe.ports_per_upper_cage
    total = 0
    for b in layers(stripe):
        alpha = max(1, p // b)
        total += (n_lower // alpha) * max(1, b // p) + math.ceil(n_lower % alpha * b / p)
    return total


CordsOf = Callable[[range], tuple[float, float]]
"""Ways to the panels of a bundle, m: at the lower switches given by number, and at the upper ones."""


def bundled(blocks: list[Block], cords_m: tuple[float, float]) -> Block:
    """Blocks of one shape and length as one bundle, which counts and is built as one block."""
    first = blocks[0]

    def wires(_: int) -> list[Wire]:
        return [wire for block in blocks for n in range(block.count) for wire in block.wires(n)]

    times = sum(block.count for block in blocks)
    return Block(first.length_m, first.shape._replace(times=times, cords=cords_m), 1, wires)


def stripe_bundles(
    stripe: Stripe, lengths_m: list[float], cords_of: CordsOf, trays: SwitchTrays = no_trays
) -> Iterator[Block]:
    """The same links in bundles: what joins one switch, or the few that share cages above, to all upper switches."""
    found: dict[tuple[range, Shape], list[Block]] = {}
    for lowers, block in _stripe_parts(stripe, lengths_m, trays):
        found.setdefault((lowers, block.shape), []).append(block)
    for (lowers, _), blocks in found.items():
        yield bundled(blocks, cords_of(lowers))


def stripe_blocks(stripe: Stripe, lengths_m: list[float], trays: SwitchTrays = no_trays) -> Iterator[Block]:
    """Blocks that join lower switches (a, one length each) to upper switches (b), equal multiplicity throughout."""
    return (block for _, block in _stripe_parts(stripe, lengths_m, trays))


def _stripe_parts(stripe: Stripe, lengths_m: list[float], trays: SwitchTrays) -> Iterator[tuple[range, Block]]:
    p_a, p_b = stripe.ports_per_lower_cage, stripe.ports_per_upper_cage
    a_base, b_base = 0, 0
    for b in layers(stripe):
        alpha, beta = max(1, p_b // b), max(1, p_a // b)
        a_per_full, b_per_full = max(1, b // p_a), max(1, b // p_b)
        full, rest = divmod(stripe.upper, beta)
        for t in range(math.ceil(len(lengths_m) / alpha)):
            lowers = range(t * alpha, min((t + 1) * alpha, len(lengths_m)))
            longest, passed = max(lengths_m[i] for i in lowers), trays(lowers)
            for columns, count, start in ((beta, full, 0), (rest, 1, full)):
                if not columns or not count:
                    continue
                rows = len(lowers)
                shape = _grid_shape(rows, columns, b, p_a, p_b)._replace(trays=passed)

                def wires(
                    n: int,
                    b: int = b,
                    lowers: range = lowers,
                    columns: int = columns,
                    start: int = start,
                    beta: int = beta,
                    a_first: int = a_base,
                    b_first: int = b_base + t * b_per_full,
                    a_per_full: int = a_per_full,
                ) -> list[Wire]:
                    found = []
                    column = start + n
                    for row, lower in enumerate(lowers):
                        for x in range(columns):
                            for y in range(b):
                                a_link, b_link = x * b + y, row * b + y
                                found.append(
                                    Wire(
                                        lower,
                                        a_first + column * a_per_full + a_link // p_a,
                                        a_link % p_a,
                                        column * beta + x,
                                        b_first + b_link // p_b,
                                        b_link % p_b,
                                    )
                                )
                    return found

                yield lowers, Block(longest, shape, count, wires)
        a_base += full * a_per_full + math.ceil(rest * b / p_a)
        b_base += (len(lengths_m) // alpha) * b_per_full + math.ceil(len(lengths_m) % alpha * b / p_b)


def _grid_shape(rows: int, columns: int, b: int, p_a: int, p_b: int) -> Shape:
    """Shape of ``rows`` lower x ``columns`` upper switches with ``b`` links a pair."""
    a_fill, b_fill = _fill(columns * b, p_a), _fill(rows * b, p_b)
    return Shape(
        a_fill * rows,
        b_fill * columns,
        max(a_fill) <= min(b, p_b),
        max(b_fill) <= min(b, p_a),
    )


def _fill(links: int, per_cage: int) -> tuple[int, ...]:
    full, rest = divmod(links, per_cage)
    return (per_cage,) * full + ((rest,) if rest else ())
