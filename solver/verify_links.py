"""Every link and every physical piece of cable and fibre: what ends where, and whether the rules allow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpunet.catalogs import split_medium_id
from gpunet.models.design import Check
from gpunet.models.parts import Cable, Fibre
from gpunet.models.plant import Mates
from gpunet.solver.verify_book import Book, Bools, Floats, Ints, distinct
from gpunet.solver.verify_fit import judge
from gpunet.solver.verify_report import Findings
from gpunet.solver.verify_seating import LinkKind, Side, Verdict

IN_RACK_M = 2.0
"""Routed length between two boxes of one rack: the tray is not used."""
LENGTH_SLIP_M = 1e-6
"""Rounding of sums of metres; a millionth of a metre is no cable length."""
OPTICAL_PORTS = 64
LARGEST_KEY = 2**62


@dataclass(frozen=True)
class Medium:
    """A medium of the ledger looked up in the catalogue."""

    name: str
    length_m: float
    part: Cable | Fibre | None
    problem: str
    """Why it cannot be bought; empty when it can."""


class Wiring:
    """The links of a book, sorted into kinds, with the verdict of the rules on each kind."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.media = [self._medium(name, length_m) for name, length_m in book.media]
        self.laid: Bools = np.isin(book.assembly_ids, [row.assembly for row in book.ledger.channels])
        """Which pieces are cords of a channel through panels."""
        self._sort_into_kinds()

    def _medium(self, name: str, length_m: float) -> Medium:
        catalog = self.book.catalog
        base, in_name_m = split_medium_id(name)
        part = catalog.fibres.get(base) or catalog.cables.get(base)
        problem = ""
        if part is None:
            problem = f"no fibre or cable {name!r} in the catalogue"
        elif in_name_m != length_m:
            problem = f"{name} is entered with {length_m:g} m"
        elif all(stock.length_m != length_m for stock in part.lengths):
            stock_m = ", ".join(f"{stock.length_m:g}" for stock in part.lengths)
            problem = f"{name}: {length_m:g} m is no stock length of {base} ({stock_m})"
        return Medium(name, length_m, part, problem)

    def _sort_into_kinds(self) -> None:
        book = self.book
        self._ends_of_pieces()
        columns = [
            book.cage_group[book.a_cage],
            book.cage_group[book.b_cage],
            book.cage_top[book.a_cage],
            book.cage_top[book.b_cage],
            book.cage_seat[book.a_cage] + 1,
            book.cage_seat[book.b_cage] + 1,
            book.medium,
            book.speed,
            (self.piece_a > 1)[book.assembly].astype(np.int64),
            (self.piece_b > 1)[book.assembly].astype(np.int64),
            self.laid[book.assembly].astype(np.int64),
        ]
        key, radix = np.zeros(len(book.row), np.int64), 1
        for column in columns:
            size = int(column.max(initial=0)) + 1
            if radix * size > LARGEST_KEY:
                found, at = np.unique(key, return_inverse=True)
                key, radix = at.reshape(-1), len(found)
            key, radix = key * size + column, radix * size
        _, first, kind = np.unique(key, return_index=True, return_inverse=True)
        self.kind: Ints = kind.reshape(-1)
        self.kinds: list[LinkKind] = [self._kind_of(i) for i in first.tolist()]
        self.parts_of_kind = [self._parts_of(i) for i in first.tolist()]
        """Speed in Gb/s, medium, and the modules at both ends, none where the cable is the plug."""
        grades, plant = tuple(book.case.site.fibre), book.case.site.plant
        mates = Mates.LOW_LOSS if plant is None else plant.mates
        self.verdicts: list[Verdict] = [judge(kind, book.catalog, grades, mates) for kind in self.kinds]
        ports = np.array([v.mode_ports for v in self.verdicts] or [(1, 1)], np.int64)
        self.mode_ports_a, self.mode_ports_b = ports[self.kind, 0], ports[self.kind, 1]

    def _ends_of_pieces(self) -> None:
        """Distinct cages at each side of every piece."""
        book = self.book
        count = len(book.assembly_ids)
        cages = len(book.cage_device) + 1
        self.piece_a = np.bincount(distinct(book.assembly * cages + book.a_cage) // cages, minlength=count)
        self.piece_b = np.bincount(distinct(book.assembly * cages + book.b_cage) // cages, minlength=count)

    def _kind_of(self, i: int) -> LinkKind:
        book = self.book
        piece = int(book.assembly[i])
        return LinkKind(
            self._side(int(book.a_cage[i]), bool(self.piece_a[piece] > 1)),
            self._side(int(book.b_cage[i]), bool(self.piece_b[piece] > 1)),
            self.media[int(book.medium[i])].part,
            self.media[int(book.medium[i])].length_m,
            float(book.gbps[i]),
            bool(self.laid[piece]),
        )

    def _parts_of(self, i: int) -> tuple[float, str, str | None, str | None]:
        book = self.book
        seats: list[str | None] = [*book.modules, None]
        a, b = seats[book.cage_seat[book.a_cage[i]]], seats[book.cage_seat[book.b_cage[i]]]
        return float(book.gbps[i]), book.media[book.medium[i]][0], a, b

    def _side(self, cage: int, several: bool) -> Side:
        book = self.book
        seat = int(book.cage_seat[cage])
        module = book.catalog.modules[book.modules[seat]] if seat >= 0 else None
        return Side(book.groups[int(book.cage_group[cage])], int(book.cage_top[cage]), module, several)

    @cached_property
    def cage_mode_ports(self) -> Ints:
        """Logical ports of the mode that each cage runs in; 0 for a cage that is not in use."""
        ports = np.zeros(len(self.book.cage_device), np.int64)
        np.maximum.at(ports, self.book.a_cage, self.mode_ports_a)
        np.maximum.at(ports, self.book.b_cage, self.mode_ports_b)
        return ports

    @cached_property
    def cage_mw(self) -> Ints:
        """Largest draw of the plug in each cage, mW: the module, or the end of the cable."""
        book = self.book
        watts = [book.catalog.modules[m].power_max_w.milli for m in book.modules]
        return self._plugs(watts)

    @cached_property
    def cage_typ_mw(self) -> Ints:
        """Typical draw of the plug in each cage, mW."""
        book = self.book
        return self._plugs([book.catalog.modules[m].power_typ_w.milli for m in book.modules])

    def _plugs(self, module_mw: list[int]) -> Ints:
        book = self.book
        mw: Ints = np.array([*module_mw, 0], np.int64)[book.cage_seat]
        np.maximum.at(mw, book.a_cage, self.end_mw[0])
        np.maximum.at(mw, book.b_cage, self.end_mw[1])
        return mw

    @cached_property
    def end_mw(self) -> tuple[Ints, Ints]:
        """Draw of the cable's plug at each end of each link, mW; 0 where a module draws instead."""
        ends = np.array([v.end_mw for v in self.verdicts] or [(0, 0)], np.int64)
        return ends[self.kind, 0], ends[self.kind, 1]

    @cached_property
    def is_cable(self) -> Ints:
        """1 for links over a cable assembly, 0 for links over fibre."""
        kinds = np.array([isinstance(m.part, Cable) for m in self.media] or [False], np.int64)
        found: Ints = kinds[self.book.medium]
        return found

    def optical_ports(self, cage: Ints, port: Ints, mode_ports: Ints) -> Ints:
        """Number of the optical port, unique in the design, that a logical port uses."""
        book = self.book
        per_module = [book.catalog.modules[m].optical_ports for m in book.modules]
        modules = np.array([*per_module, 1], np.int64)[book.cage_seat[cage]]
        found: Ints = cage * OPTICAL_PORTS + (port - 1) // np.maximum(1, mode_ports // modules)
        return found

    def routed_m(self) -> tuple[Floats, Ints]:
        """Routed length of every link from the rack places, m, and which links have both places."""
        book, site = self.book, self.book.case.site
        places = book.ledger.places
        x = np.array([p.x_m for p in places] or [0.0])
        y = np.array([p.y_m for p in places] or [0.0])
        a, b = (book.dev_rack[book.cage_device[cage]] for cage in (book.a_cage, book.b_cage))
        over = np.abs(x[a] - x[b]) + np.abs(y[a] - y[b]) + 2 * site.tray_rise_m + site.slack_m
        return np.where(a == b, IN_RACK_M, over), np.flatnonzero((a >= 0) & (b >= 0))


def check_seats(wiring: Wiring) -> Check:
    """One module in every optical cage in use, none elsewhere; every plug fits its cage (R1 to R3)."""
    book = wiring.book
    findings = Findings("seats")
    findings.add_rows(book.bad_seats, book.why_bad_seat)
    findings.add_rows(book.doubled_seats, lambda c: f"{book.cage_name(c)}: two modules in one cage")
    fibre = wiring.is_cable == 0
    ends = np.concatenate([book.a_cage[fibre], book.b_cage[fibre]])
    empty = distinct(ends[book.cage_seat[ends] < 0])
    findings.add_rows(empty, lambda c: f"{book.cage_name(c)}: a fibre ends here but no module is seated")
    stray = np.flatnonzero((book.cage_seat >= 0) & (book.cage_used == 0))
    findings.add_rows(stray, lambda c: f"{book.cage_name(c)}: module {_module(book, c)} carries no link")
    _add_verdicts(findings, wiring, "seats")
    seated = int((book.cage_seat >= 0).sum())
    return findings.check(f"{seated:,} modules, one in every optical cage in use, each of them fitting its cage")


def check_mating(wiring: Wiring) -> Check:
    """R4 to R12: host mode, lanes, tier, FEC, protocol, connector and polish at both ends of every link."""
    findings = Findings("mating")
    _add_verdicts(findings, wiring, "mating")
    return findings.check(
        f"{len(wiring.book.row):,} links of {len(wiring.kinds):,} kinds, both ends understand each other"
    )


def check_reach(wiring: Wiring) -> Check:
    """Stock lengths that cover the way between the racks, and glass that carries the light so far."""
    book = wiring.book
    findings = Findings("reach")
    problems = np.array([bool(m.problem) for m in wiring.media] or [False])
    direct = ~wiring.laid[book.assembly]
    unknown = np.flatnonzero(problems[book.medium] & direct)
    findings.add_rows(unknown, lambda i: f"{wiring.media[int(book.medium[i])].problem} ({book.link_name(i)})")
    routed_m, placed = wiring.routed_m()
    stock_m = np.array([m.length_m for m in wiring.media] or [0.0])[book.medium]
    short = placed[((stock_m + LENGTH_SLIP_M < routed_m) & direct)[placed]]
    findings.add_rows(
        short,
        lambda i: (
            f"{book.link_name(i)}: {wiring.media[int(book.medium[i])].name} of {stock_m[i]:g} m "
            f"does not cover the {routed_m[i]:.1f} m between the racks"
        ),
    )
    _add_verdicts(findings, wiring, "reach")
    longest = float(routed_m.max(initial=0.0))
    return findings.check(f"every piece is a stock length that covers its way; the longest way is {longest:.1f} m")


def _add_verdicts(findings: Findings, wiring: Wiring, part: str) -> None:
    """Each broken rule counts once per link of its kind; the first links of the kind are named."""
    counts = np.bincount(wiring.kind, minlength=len(wiring.kinds))
    for number, verdict in enumerate(wiring.verdicts):
        for why in getattr(verdict, part):
            first = int(np.argmax(wiring.kind == number))
            findings.add(f"{counts[number]:,} x {why} (first: {wiring.book.link_name(first)})")


def _module(book: Book, cage: int) -> str:
    name: str = book.modules[int(book.cage_seat[cage])]
    return name
