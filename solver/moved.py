"""Cables that must be moved from one phase to the next, counted from the two ledgers.

A piece of an earlier phase stays where it is when a piece of the same part joins the same devices in the later one.
Servers keep their names. A switch may become any switch of its model and tier in its fabric, so the count is the least
over all such renamings: it is found tier by tier, and a bound says whether it is the least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gpunet.models.ledger import Device, Ledger

TIERS = ("leaf", "spine", "core")


class Piece(NamedTuple):
    """A cable or fibre: its part and what it joins."""

    medium: str
    devices: frozenset[str]

    def renamed(self, name: Mapping[str, str], switches: Collection[str]) -> Piece | None:
        """The piece with its switches renamed; none where one of them is gone."""
        if any(d in switches and d not in name for d in self.devices):
            return None
        return Piece(self.medium, frozenset(name.get(d, d) for d in self.devices))


class Moved(NamedTuple):
    """Cables that are moved."""

    installed: int
    """Cables of the earlier phase."""
    at_most: int
    """Moved where switches are renamed as well as was found."""
    at_least: int
    """Fewer cannot be, however switches are renamed."""


def moved_cables(before: Ledger, after: Ledger) -> Moved:
    """Cables of the earlier ledger that do not stay in the later one."""
    old, new = pieces_of(before), pieces_of(after)
    name, most = _renamed(before, after, old, new)
    switches = _switches(before)
    renamed: Counter[Piece] = Counter()
    for piece, n in old.items():
        becomes = piece.renamed(name, switches)
        if becomes is not None:
            renamed[becomes] += n
    kept = sum(min(n, new[piece]) for piece, n in renamed.items())
    installed = sum(old.values())
    return Moved(installed, installed - kept, installed - min(most, installed))


def cables_kept(before: Ledger, after: Ledger) -> dict[int, int]:
    """Which cable of the later ledger each that stays becomes, by the numbers of the pieces.

    As many are missing as ``moved_cables`` says are moved at most.
    """
    name, _ = _renamed(before, after, pieces_of(before), pieces_of(after))
    switches = _switches(before)
    there: dict[Piece, list[int]] = {}
    for number, piece in by_number(after).items():
        there.setdefault(piece, []).append(number)
    places = {piece: iter(numbers) for piece, numbers in there.items()}
    found: dict[int, int] = {}
    for number, piece in by_number(before).items():
        becomes = piece.renamed(name, switches)
        place = None if becomes is None else next(places.get(becomes, iter(())), None)
        if place is not None:
            found[number] = place
    return found


def _renamed(before: Ledger, after: Ledger, old: Counter[Piece], new: Counter[Piece]) -> tuple[dict[str, str], int]:
    """What every switch becomes that is there in both ledgers, and the most cables that any renaming keeps."""
    switches, later = _switches(before), _switches(after)
    name: dict[str, str] = {}
    most = _crossing(old, new, switches, later)
    for tier in TIERS:
        of_tier = [d for d in switches.values() if d.tier == tier]
        ends, ends_later = _ends(old, switches, tier), _ends(new, later, tier)
        lowest, lowest_later = _ends(old, switches, tier, True), _ends(new, later, tier, True)
        for kind in sorted({(d.fabric, d.part) for d in of_tier}):
            here = [d.name for d in of_tier if (d.fabric, d.part) == kind]
            there = [d.name for d in later.values() if d.tier == tier and (d.fabric, d.part) == kind]
            found, _ = _match(here, there, ends, ends_later, name, switches, later)
            _, kept = _match(here, there, lowest, lowest_later, {}, switches, later)
            name |= found
            most += kept
    return name, most


def pieces_of(ledger: Ledger) -> Counter[Piece]:
    """Every cable and fibre of a ledger; a splitter is one."""
    return Counter(by_number(ledger).values())


def by_number(ledger: Ledger) -> dict[int, Piece]:
    """Every cable and fibre of a ledger by its number."""
    media: dict[int, str] = {}
    ends: dict[int, set[str]] = {}
    for link in ledger.links:
        media[link.assembly] = link.medium
        ends.setdefault(link.assembly, set()).update((link.a_device, link.b_device))
    return {i: Piece(media[i], frozenset(devices)) for i, devices in ends.items()}


def _switches(ledger: Ledger) -> dict[str, Device]:
    return {d.name: d for d in ledger.devices if d.kind == "switch"}


Ends = dict[str, dict[tuple[str, frozenset[str]], int]]
"""By switch, and by part and the other devices of a piece: how many."""


def _tiers_of(piece: Piece, switches: Mapping[str, Device]) -> list[int]:
    return sorted(TIERS.index(switches[d].tier) for d in piece.devices if d in switches)


def _ends(pieces: Counter[Piece], switches: Mapping[str, Device], tier: str, lowest_only: bool = False) -> Ends:
    """What each switch of a tier is joined to; ``lowest_only``: by pieces that have it as their one lowest switch."""
    found: Ends = {}
    level = TIERS.index(tier)
    for piece, n in pieces.items():
        tiers = _tiers_of(piece, switches)
        if lowest_only and (not tiers or tiers[0] != level or tiers.count(level) > 1):
            continue
        for d in piece.devices:
            if d in switches and switches[d].tier == tier:
                found.setdefault(d, {})[piece.medium, piece.devices - {d}] = n
    return found


def _crossing(
    old: Counter[Piece], new: Counter[Piece], switches: Mapping[str, Device], later: Mapping[str, Device]
) -> int:
    """The most that can stay of pieces that join several switches of their lowest tier, or none."""

    def of(pieces: Counter[Piece], known: Mapping[str, Device]) -> Counter[str]:
        found: Counter[str] = Counter()
        for piece, n in pieces.items():
            tiers = _tiers_of(piece, known)
            if not tiers or tiers.count(tiers[0]) > 1:
                found[piece.medium] += n
        return found

    there = of(new, later)
    return sum(min(n, there[medium]) for medium, n in of(old, switches).items())


def _match(
    here: Sequence[str],
    there: Sequence[str],
    ends: Ends,
    ends_later: Ends,
    name: Mapping[str, str],
    switches: Mapping[str, Device],
    later: Mapping[str, Device],
) -> tuple[dict[str, str], int]:
    """Rename switches so that most of their pieces stay, those to switches without a name yet as well as they can."""
    from ortools.graph.python import linear_sum_assignment

    if not here or not there:
        return {}, 0
    known = set(name.values())
    sides = [_side(ends.get(d, {}), name, switches, set(name)) for d in here]
    sides_later = [_side(ends_later.get(d, {}), {}, later, known) for d in there]
    size = max(len(here), len(there))
    solver = linear_sum_assignment.SimpleLinearSumAssignment()
    kept = {}
    for i in range(size):
        for j in range(size):
            worth = 0
            if i < len(here) and j < len(there):
                kept[i, j] = _stay(sides[i], sides_later[j])
                # Of renamings that keep as many, one that leaves names as they are.
                worth = 2 * kept[i, j] + (here[i] == there[j])
            solver.add_arc_with_cost(i, j, -worth)
    if solver.solve() != solver.OPTIMAL:
        raise RuntimeError("switches cannot be matched")
    pairs = [(i, solver.right_mate(i)) for i in range(len(here)) if solver.right_mate(i) < len(there)]
    return {here[i]: there[j] for i, j in pairs}, sum(kept[pair] for pair in pairs)


class _Side(NamedTuple):
    """What a switch is joined to: by name where that is settled, else only how often, the most first."""

    named: dict[tuple[str, frozenset[str]], int]
    unnamed: dict[str, list[int]]


def _side(
    ends: Mapping[tuple[str, frozenset[str]], int],
    name: Mapping[str, str],
    switches: Mapping[str, Device],
    settled: Iterable[str],
) -> _Side:
    settled = set(settled)
    named: dict[tuple[str, frozenset[str]], int] = {}
    unnamed: dict[str, list[int]] = {}
    for (medium, others), n in ends.items():
        if all(d in settled or d not in switches for d in others):
            named[medium, frozenset(name.get(d, d) for d in others)] = n
        else:
            unnamed.setdefault(medium, []).append(n)
    return _Side(named, {medium: sorted(counts, reverse=True) for medium, counts in unnamed.items()})


def _stay(a: _Side, b: _Side) -> int:
    """No more pieces stay where the one switch becomes the other."""
    named = sum(min(n, b.named.get(key, 0)) for key, n in a.named.items())
    return named + sum(
        min(x, y)
        for medium, counts in a.unnamed.items()
        for x, y in zip(counts, b.unnamed.get(medium, []), strict=False)
    )
