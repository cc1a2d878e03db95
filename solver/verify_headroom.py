"""Flow control headroom, counted again from the ledger: does every switch have buffer for the ports in use?"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from typing import NamedTuple

import numpy as np

from gpunet.models.case import Backend, Storage
from gpunet.models.design import Check, Design, TierHeadroom
from gpunet.models.lossless import Lossless
from gpunet.models.parts import Protocol, Switch
from gpunet.solver.verify_book import Bools, Ints
from gpunet.solver.verify_network import Network, spec_of
from gpunet.solver.verify_report import Findings

ALLOWED_NS = {
    10: "3430.4",
    25: "1638.4",
    40: "1510.4",
    50: "1505.28",
    100: "2017.28",
    200: "1159.68",
    400: "1158.4",
}
"""Time a port of so many Gb/s may take to obey a pause: the quanta of IEEE 802.3, 31B.3.7, in nanoseconds."""
NS_PER_M, PAUSE_FRAME, MB = 5, 84, 1_000_000
SHARE_SLIP = 1e-4
DIGITS = 60


def concerns_headroom(design: Design) -> bool:
    """Whether any fabric of the case has lossless traffic, or of the result headroom."""
    fabrics = design.case.fabrics
    asked = any(_rule(spec) is not None for spec in (fabrics.backend, fabrics.storage))
    return asked or any(fabric.headroom for fabric in design.result.fabrics.values())


def _rule(spec: object) -> Lossless | None:
    return spec.lossless if isinstance(spec, Backend | Storage) else None


def check_headroom(nets: list[Network]) -> Check:
    """Headroom within the buffer on every switch, no port that drops where nothing may be dropped, all as reported."""
    findings, fullest = Findings("headroom"), []
    for net in nets:
        rules = [rule for name in _asking(net) if (rule := _rule(spec_of(net.book, name))) is not None]
        loads = list(_loads(net, rules)) if rules else []
        for load in loads:
            _judge(load, rules, findings)
        if loads:
            worst = max(loads, key=lambda load: load.line.share or 0.0)
            if worst.line.share is None:
                fullest.append(
                    f"{net.name}: the buffer of {worst.switch.id} is not known, nothing is checked against it"
                )
            else:
                fullest.append(f"{net.name}: at most {worst.line.share:.1%} of the buffer, on {worst.name}")
        if rules or net.name == "backend":
            for text in _dropping(net):
                findings.add(text)
        _reported(net, [load.line for load in loads], findings)
    return findings.check("; ".join(fullest) or "no Ethernet fabric with lossless traffic")


def _asking(net: Network) -> set[str]:
    """Fabrics whose lossless traffic runs over a network."""
    return {net.name, *net.carried}


class _Load(NamedTuple):
    """One switch with what its ports keep free."""

    name: str
    switch: Switch
    line: TierHeadroom


def _loads(net: Network, rules: list[Lossless]) -> Iterator[_Load]:
    book = net.book
    mine = {
        i: book.catalog.switches[d.part]
        for i, d in enumerate(book.ledger.devices)
        if d.kind == "switch" and d.fabric == net.name and d.part in book.catalog.switches
    }
    # Management ports of switches carry nothing that must not be dropped.
    here = ~book.of_fabric("oob")
    each = _bytes_by_link(net, rules)[here]
    cages = np.concatenate([book.a_cage[here], book.b_cage[here]])
    per_port = np.concatenate([each, each])
    per_cage = np.zeros(len(book.cage_device), np.int64)
    np.add.at(per_cage, cages, per_port)
    owner = book.cage_device[cages]
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(len(book.ledger.devices) + 1))
    cage_starts = np.searchsorted(book.cage_device, np.arange(len(book.ledger.devices) + 1))
    for i, switch in mine.items():
        if switch.protocol is not Protocol.ETHERNET:
            continue
        device = book.ledger.devices[i]
        ports = per_port[order[starts[i] : starts[i + 1]]]
        line = _line(device.tier, switch, ports, per_cage[cage_starts[i] : cage_starts[i + 1]])
        yield _Load(device.name, switch, line)


def _line(tier: str, switch: Switch, ports: Ints, cages: Ints) -> TierHeadroom:
    n_cages = sum(group.count for group in switch.cages if group.fabric)
    per_pool = -(-n_cages // switch.buffer_pools)
    load = int(np.sort(cages)[::-1][:per_pool].sum()) if switch.buffer_pools > 1 else int(cages.sum())
    fact = switch.buffer_mb
    whole = None if fact is None else _down(Decimal(str(fact.v)) * MB)
    return TierHeadroom(
        tier=tier,
        switch=switch.id,
        ports=len(ports),
        least_port_bytes=int(ports.min()) if len(ports) else 0,
        most_port_bytes=int(ports.max()) if len(ports) else 0,
        total_bytes=int(ports.sum()),
        pools=switch.buffer_pools,
        pool_bytes=load,
        buffer_bytes=whole,
        share=None if whole is None else load * switch.buffer_pools / whole,
        buffer_how="" if fact is None else fact.how.value,
    )


def _bytes_by_link(net: Network, rules: list[Lossless]) -> Ints:
    """Headroom that a port at either end of each good link keeps, bytes."""
    book = net.book
    media = max(len(book.media), 1)
    kinds, at = np.unique(book.speed * media + book.medium, return_inverse=True)
    found = [
        max(_needs(rule, book.speeds[kind // media], book.media[kind % media][1]) for rule in rules)
        for kind in kinds.tolist()
    ]
    return np.array(found or [0], np.int64)[at.reshape(-1)]


def _needs(rule: Lossless, gbps: float, length_m: float) -> int:
    """What still arrives after a port has asked for a pause, for every class, in whole bytes of buffer."""
    with localcontext() as context:
        context.prec = DIGITS
        if rule.response_ns is not None:
            stopping = Decimal(str(rule.response_ns))
        else:
            known = [speed for speed in sorted(ALLOWED_NS) if speed <= gbps] or [min(ALLOWED_NS)]
            stopping = Decimal(ALLOWED_NS[known[-1]])
        on_the_way = Decimal(str(length_m)) * NS_PER_M
        waiting = on_the_way + on_the_way + stopping + Decimal(str(rule.interface_ns))
        arriving = Decimal(str(gbps)) * waiting / 8 + rule.mtu_bytes + PAUSE_FRAME
        last = rule.mtu_bytes if rule.lossless_mtu_bytes is None else rule.lossless_mtu_bytes
        buffered = arriving * Decimal(str(rule.cell_factor)) + last
        return int(buffered.to_integral_value(ROUND_CEILING)) * rule.classes


def _down(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_FLOOR))


def _judge(load: _Load, rules: list[Lossless], findings: Findings) -> None:
    line = load.line
    if line.buffer_bytes is None:
        if any(rule.unknown_buffers == "refuse" for rule in rules):
            findings.add(f"{load.name}: the buffer of {load.switch.id} is not known, which the case refuses")
        return
    share = min(Decimal(str(rule.buffer_share)) for rule in rules)
    room = _down(line.buffer_bytes * share / load.switch.buffer_pools)
    if line.pool_bytes > room:
        of = "the buffer" if load.switch.buffer_pools == 1 else f"one of {load.switch.buffer_pools} pools of the buffer"
        findings.add(f"{load.name}: {line.pool_bytes:,} bytes of headroom, {of} may give {room:,}")


def _dropping(net: Network) -> Iterator[str]:
    """Port speeds in use that a switch offers only without flow control."""
    book = net.book
    cages, gbps = np.concatenate([book.a_cage, book.b_cage]), np.concatenate([book.gbps, book.gbps])
    for number, device in enumerate(book.ledger.devices):
        switch = book.catalog.switches.get(device.part)
        if device.kind != "switch" or device.fabric != net.name or switch is None or not switch.lossy_only_speeds_gbps:
            continue
        here: Bools = book.cage_device[cages] == number
        for speed in sorted(set(switch.lossy_only_speeds_gbps) & set(np.unique(gbps[here]).tolist())):
            yield f"{device.name}: {switch.id} runs {speed:g}G without flow control, and nothing may be dropped there"


def _reported(net: Network, lines: list[TierHeadroom], findings: Findings) -> None:
    fabric = net.book.result.fabrics.get(net.name)
    told = {(x.tier, x.switch): x for x in (fabric.headroom if fabric is not None else ())}
    built: dict[tuple[str, str], TierHeadroom] = {}
    for line in lines:
        held = built.get((line.tier, line.switch))
        if held is None or (line.pool_bytes, line.total_bytes) > (held.pool_bytes, held.total_bytes):
            built[line.tier, line.switch] = line
    for key in sorted(set(told) | set(built)):
        mine, theirs = built.get(key), told.get(key)
        if mine is None or theirs is None:
            what = "not reported" if theirs is None else "reported, and there is none"
            findings.add(f"{net.name} {key[0]}: headroom of {key[1]} {what}")
            continue
        for name in TierHeadroom.model_fields:
            a, b = getattr(theirs, name), getattr(mine, name)
            close = name == "share" and a is not None and b is not None and abs(a - b) <= SHARE_SLIP
            if a != b and not close:
                findings.add(f"{net.name} {key[0]}: {name} of {key[1]} is {b}, reported {a}")
