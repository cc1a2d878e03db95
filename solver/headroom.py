"""Flow control headroom: what every port keeps free, and whether a switch's packet buffer holds it for its ports.

The figures of a result are those of the ledger. The formula and where it is from: docs/lossless.md.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from gpunet.models.case import Case, FabricName
from gpunet.models.design import TierHeadroom
from gpunet.models.evidence import How
from gpunet.models.ledger import Ledger
from gpunet.models.lossless import Lossless
from gpunet.models.parts import Catalog, Protocol, Switch

if TYPE_CHECKING:
    from gpunet.solver.template import Template, Upper

PAUSE_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905}
"""Quanta of 512 bit times within which IEEE 802.3, 31B.3.7, lets a port of so many Gb/s stop."""
QUANTUM_BITS = 512
PAUSE_FRAME_BYTES = 84
"""A pause frame of 64 bytes with its preamble of 8 and the gap of 12 before it."""
NS_PER_M = 5
"""Light in glass (evidence.md 4)."""
BYTES_PER_MB = 1_000_000
"""The smaller of the two meanings that vendors give a megabyte."""


def rules_for(
    case: Case, fabric: FabricName, protocol: Protocol, carries_storage: bool = False
) -> tuple[Lossless, ...]:
    """What the switches of a fabric must hold headroom for; nothing where the case asks for none."""
    if protocol is not Protocol.ETHERNET:
        return ()
    named = {
        FabricName.BACKEND: (case.fabrics.backend, case.fabrics.storage if carries_storage else None),
        FabricName.STORAGE: (case.fabrics.storage,),
    }
    return tuple(spec.lossless for spec in named.get(fabric, ()) if spec is not None and spec.lossless is not None)


def reaction_ns(speed_gbps: float) -> Fraction:
    """Time a sender takes to stop at most, by IEEE 802.3, ns; of a speed not listed, that of the next slower listed."""
    listed = max((speed for speed in PAUSE_QUANTA if speed <= speed_gbps), default=min(PAUSE_QUANTA))
    return Fraction(PAUSE_QUANTA[listed] * QUANTUM_BITS, listed)


def port_bytes(rule: Lossless, speed_gbps: float, length_m: float) -> int:
    """Headroom of one port for all lossless classes, bytes, rounded up for each class."""
    response = reaction_ns(speed_gbps) if rule.response_ns is None else exact(rule.response_ns)
    delay_ns = 2 * NS_PER_M * exact(length_m) + response + exact(rule.interface_ns)
    received = rule.mtu_bytes + PAUSE_FRAME_BYTES + exact(speed_gbps) * delay_ns / 8
    return rule.classes * math.ceil(exact(rule.cell_factor) * received + (rule.lossless_mtu_bytes or rule.mtu_bytes))


def exact(value: float) -> Fraction:
    """A number of a case or the catalogue as it is written there, without the error of binary fractions."""
    return Fraction(str(value))


def buffer_bytes(switch: Switch) -> int | None:
    """Packet buffer of a switch, all pools, bytes; none where it is not in the catalogue."""
    return None if switch.buffer_mb is None else math.floor(exact(switch.buffer_mb.v) * BYTES_PER_MB)


def pool_load(switch: Switch, cages: Iterable[int]) -> int:
    """Headroom that can fall to one pool of the buffer at most, bytes.

    Which cages share a pool is not published. Pools serve equally many cages, so none can serve more than its share
    of them, and at worst those are the fullest.
    """
    if switch.buffer_pools == 1:
        return sum(cages)
    served = math.ceil(sum(group.count for group in switch.cages if group.fabric) / switch.buffer_pools)
    return sum(heapq.nlargest(served, cages))


# --- what the ledger says ---------------------------------------------------------------------------------------------


def headroom_of(
    ledger: Ledger, catalog: Catalog, fabric: FabricName, rules: Sequence[Lossless]
) -> tuple[TierHeadroom, ...]:
    """Headroom by tier and switch model on the switches of a fabric, each on its fullest one; empty without rules."""
    if not rules:
        return ()
    mine = {d.name: d for d in ledger.devices if d.kind == "switch" and d.fabric == fabric.value}
    carrying = {
        part: {g.name for g in catalog.switches[part].cages if g.fabric} for part in {d.part for d in mine.values()}
    }
    ports: dict[str, list[tuple[str, int, int]]] = {name: [] for name in mine}
    needed: dict[tuple[float, float], int] = {}
    for link in ledger.links:
        kind = (link.speed_gbps, link.length_m)
        if kind not in needed:
            needed[kind] = max(port_bytes(rule, *kind) for rule in rules)
        for device, group, cage in (
            (link.a_device, link.a_group, link.a_cage),
            (link.b_device, link.b_group, link.b_cage),
        ):
            if device in mine and group in carrying[mine[device].part]:
                ports[device].append((group, cage, needed[kind]))
    fullest: dict[tuple[str, str], TierHeadroom] = {}
    for name, box in mine.items():
        line = _line(catalog.switches[box.part], box.tier, ports[name])
        key = (box.tier, box.part)
        if key not in fullest or _rank(line) > _rank(fullest[key]):
            fullest[key] = line
    return tuple(fullest.values())


def _rank(line: TierHeadroom) -> tuple[int, int]:
    return line.pool_bytes, line.total_bytes


def _line(switch: Switch, tier: str, ports: Sequence[tuple[str, int, int]]) -> TierHeadroom:
    cages: Counter[tuple[str, int]] = Counter()
    for group, cage, each in ports:
        cages[group, cage] += each
    whole, load = buffer_bytes(switch), pool_load(switch, cages.values())
    return TierHeadroom(
        tier=tier,
        switch=switch.id,
        ports=len(ports),
        least_port_bytes=min((each for *_, each in ports), default=0),
        most_port_bytes=max((each for *_, each in ports), default=0),
        total_bytes=sum(cages.values()),
        pools=switch.buffer_pools,
        pool_bytes=load,
        buffer_bytes=whole,
        share=None if whole is None else round(load * switch.buffer_pools / whole, 4),
        buffer_how="" if switch.buffer_mb is None else switch.buffer_mb.how.value,
    )


def uppers(t: Template) -> tuple[Upper, ...]:
    """The tiers above the leaves."""
    return tuple(upper for upper in (t.spine, t.core) if upper is not None)


def headroom_warnings(t: Template, case: Case) -> Iterator[str]:
    """What of a template's headroom rests on less than a published figure."""
    rules = rules_for(case, t.fabric, t.protocol, t.carries_storage)
    if not rules:
        return
    where = f"{t.fabric.value}: headroom"
    leaves = [wing.leaf for wing in t.wings or (t,)]
    for switch in {s.id: s for s in (*leaves, *(upper.switch for upper in uppers(t)))}.values():
        fact = switch.buffer_mb
        if fact is None:
            yield f"{where}: the buffer of {switch.id} is not known, so nothing is checked against it"
        elif fact.how is not How.READ:
            yield f"{where}: the buffer of {switch.id}, {fact.v:g} MB, is {fact.how.value}, not read in a document"
        if fact is not None and fact.note:
            yield f"{where}: the buffer of {switch.id}, {fact.v:g} MB: {fact.note}"
    if any(rule.response_ns is None for rule in rules):
        speeds = {kind.speed_gbps for kind in t.kinds} | {upper.face.speed_gbps for upper in uppers(t)}
        for speed in sorted(speeds - set(PAUSE_QUANTA)):
            yield (
                f"{where}: no pause reaction time is listed for {speed:g}G; {float(reaction_ns(speed)):,.0f} ns of a "
                "slower speed is taken: give lossless.response_ns"
            )
