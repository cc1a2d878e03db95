"""The cabling schedule: every run with both its ends, in the order in which the cables are pulled.

Ends are named in the manner of ANSI/TIA-606: rack and unit, then the port; a label names its own end first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpunet.models.design import Design
from gpunet.models.ledger import Ledger, Link
from gpunet.models.parts import Catalog
from gpunet.report.cabling_media import Medium, Side, Socket, connector_name, head_side, medium_of, plug
from gpunet.report.cabling_order import TO, Cage, Kind, Piece, bundled, cage_of, pieces_of
from gpunet.report.cabling_panels import names_of_channels

JOINED = " + "
"""Stands between the far ends of a splitter."""


class End(NamedTuple):
    """One end of a run."""

    device: str
    rack: str
    unit: int
    """Lowest rack unit of the device; 0 for what stands beside the units."""
    cage_group: str
    cage: int
    port: str
    """Logical port in the cage; ``1+2`` where one plug carries two links."""
    module: str
    """Module in the cage; empty for a cable."""
    connector: str
    """Plug of the cable at this end."""
    label: str
    """Text for the label at this end: number of the piece, this end, then the far end or ends."""


class Run(NamedTuple):
    """A jumper, a cable, or one leg of a splitter."""

    pull: int
    """Place of the piece in the order of pulling, from 1; legs of one splitter share it."""
    bundle: str
    route: str
    """Rows that the run joins, or the row or rack that it stays in."""
    assembly: int
    """Number of the piece in the design."""
    leg: int
    """Number of the run within its piece, from 1."""
    fabric: str
    link_class: str
    links: int
    """Links that the run carries."""
    speed_gbps: float
    part: str
    """Cord, run and cord where the piece is a channel through panels."""
    length_m: float
    medium: str
    """Grade of fibre or kind of cable."""
    polarity: str
    fibres: str
    """Positions in the head's MPO connector that the run uses."""
    a: End
    b: End
    head: str
    """``a`` or ``b``, where the one plug of a splitter is; empty for a straight piece."""


class Bundle(NamedTuple):
    """Pieces that are pulled together."""

    bundle: str
    route: str
    a_place: str
    """Rack, or row where the bundle gathers what single racks have too little of."""
    b_place: str
    fabric: str
    part: str
    length_m: float
    medium: str
    pieces: int
    first_pull: int
    last_pull: int


def schedule(design: Design, catalog: Catalog) -> list[Run]:
    """Every run of the design in the order of pulling; legs of a splitter follow one another."""
    ledger = design.ledger
    media = {medium: medium_of(medium, catalog) for medium in {link.medium for link in ledger.links}}
    modules = {(s.device, s.group, s.cage): s.part for s in ledger.seats}
    pieces = pieces_of(ledger, media, modules)
    ends = _Ends(ledger, modules, _lay(pieces, media, ledger, catalog))
    found: list[Run] = []
    for pull, (bundle, piece) in enumerate(bundled(pieces), start=1):
        if len(piece.legs) == 1 == len(piece.legs[0]):
            found.append(ends.plain_run(piece, pull, bundle))
        else:
            found += ends.runs(piece, pull, bundle)
    channels = names_of_channels(ledger)
    return [run._replace(part=channels.get(run.assembly, run.part)) for run in found] if channels else found


def bundles(runs: Sequence[Run]) -> list[Bundle]:
    """The bundles of a schedule, in the order of pulling."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.bundle, []).append(run)
    return [_bundle(name, inside) for name, inside in found.items()]


def _bundle(name: str, runs: list[Run]) -> Bundle:
    first, last = runs[0], runs[-1]
    a_place, b_place = first.a.rack, first.b.rack
    # A splitter may end in several racks; what counts is where its first leg goes.
    if any({run.a.rack, run.b.rack} != {a_place, b_place} for run in runs if run.leg == 1):
        a_place, _, b_place = first.route.partition(TO)
    return Bundle(
        name,
        first.route,
        a_place,
        b_place or a_place,
        first.fabric,
        first.part,
        first.length_m,
        first.medium,
        last.pull - first.pull + 1,
        first.pull,
        last.pull,
    )


# --- ends -------------------------------------------------------------------------------------------------------------


class _Laid(NamedTuple):
    """How the pieces of one kind are laid."""

    medium: Medium
    head: Side
    a_connector: str
    b_connector: str


def _lay(pieces: list[Piece], media: dict[str, Medium], ledger: Ledger, catalog: Catalog) -> dict[Kind, _Laid]:
    """Which way round each kind of piece is laid: where one piece leaves that open, others like it tell."""
    alike: dict[Kind, list[Piece]] = {}
    for piece in pieces:
        alike.setdefault(piece.kind, []).append(piece)
    parts = {d.name: d.part for d in ledger.devices}
    found = {}
    for kind, same in alike.items():
        medium, link = media[kind.medium], same[0].first
        sockets = (
            _socket(catalog, kind.a_module, parts[link.a_device], link.a_group),
            _socket(catalog, kind.b_module, parts[link.b_device], link.b_group),
        )
        head = head_side(medium, (piece.legs for piece in same), *sockets)
        connectors = (medium.head, medium.tail) if head == "a" else (medium.tail, medium.head)
        found[kind] = _Laid(medium, head, *connectors)
    return found


def _socket(catalog: Catalog, module: str, part: str, group: str) -> Socket:
    """What a piece plugs into: a module, or the cage itself."""
    if module in catalog.modules:
        seated = catalog.modules[module]
        return Socket(connector_name(seated.connector), seated.optical_ports)
    server = catalog.servers.get(part)
    groups = [found.cages for found in server.cages] if server else []
    for owner in (catalog.switches.get(part), catalog.nics.get(part)):
        groups += owner.cages if owner else ()
    return Socket(next((plug(cages) for cages in groups if cages.name == group), ""), 0)


class _Ends:
    """Writes the runs of a piece; holds what is looked up for every end."""

    def __init__(self, ledger: Ledger, modules: dict[Cage, str], laid: dict[Kind, _Laid]) -> None:
        self._modules = modules
        self._laid = laid
        names = _end_names(ledger)
        self._places = {d.name: (names[d.name], d.rack, d.unit) for d in ledger.devices}

    def plain_run(self, piece: Piece, pull: int, bundle: str) -> Run:
        """The run of a piece with one leg and one link, as nearly all are: that of ``runs``, and quicker."""
        laid, link, kind = self._laid[piece.kind], piece.first, piece.kind
        medium = laid.medium
        a_place, a_rack, a_unit = self._places[link.a_device]
        b_place, b_rack, b_unit = self._places[link.b_device]
        a_id = f"{a_place}:{link.a_group}/{link.a_cage}/{link.a_port}"
        b_id = f"{b_place}:{link.b_group}/{link.b_cage}/{link.b_port}"
        a_label, b_label = f"{link.assembly} {a_id}{TO}{b_id}", f"{link.assembly} {b_id}{TO}{a_id}"
        a_port, b_port = str(link.a_port), str(link.b_port)
        a = (link.a_device, a_rack, a_unit, link.a_group, link.a_cage, a_port, kind.a_module, laid.a_connector, a_label)
        b = (link.b_device, b_rack, b_unit, link.b_group, link.b_cage, b_port, kind.b_module, laid.b_connector, b_label)
        return Run(
            pull,
            bundle,
            piece.way.route,
            link.assembly,
            1,
            link.fabric,
            link.link_class,
            1,
            link.speed_gbps,
            link.medium,
            link.length_m,
            medium.name,
            medium.polarity,
            medium.fibres[0],
            End._make(a),
            End._make(b),
            laid.head if medium.legs > 1 else "",
        )

    def runs(self, piece: Piece, pull: int, bundle: str) -> Iterator[Run]:
        """The runs of one piece, by the port at the head."""
        laid, legs = self._laid[piece.kind], piece.legs
        if len(legs) == 1:
            (leg,) = legs
            yield self._run(piece, pull, bundle, laid, 1, leg, self._id(leg, "a"), self._id(leg, "b"), "", "")
            return
        head_at_a = laid.head == "a"
        legs = sorted(legs, key=lambda leg: ((leg[0].a_port if head_at_a else leg[0].b_port), leg[0]))
        # The head is one plug with one label, which names all its ports and every far end.
        whole = self._id([link for leg in legs for link in leg], laid.head)
        tails = [self._id(leg, "b" if head_at_a else "a") for leg in legs]
        far = JOINED.join(tails)
        for number, (leg, tail) in enumerate(zip(legs, tails, strict=True), start=1):
            if head_at_a:
                yield self._run(piece, pull, bundle, laid, number, leg, whole, tail, far, "")
            else:
                yield self._run(piece, pull, bundle, laid, number, leg, tail, whole, "", far)

    def _run(
        self,
        piece: Piece,
        pull: int,
        bundle: str,
        laid: _Laid,
        number: int,
        leg: list[Link],
        a_id: str,
        b_id: str,
        a_far: str,
        b_far: str,
    ) -> Run:
        link, medium = leg[0], laid.medium
        one = len(leg) == 1
        a_port, b_port = (str(link.a_port), str(link.b_port)) if one else (_ports(leg, "a"), _ports(leg, "b"))
        a, b = cage_of(link, "a"), cage_of(link, "b")
        _, a_rack, a_unit = self._places[a[0]]
        _, b_rack, b_unit = self._places[b[0]]
        a_label = f"{link.assembly} {a_id}{TO}{a_far or b_id}"
        b_label = f"{link.assembly} {b_id}{TO}{b_far or a_id}"
        a_module, b_module = self._modules.get(a, ""), self._modules.get(b, "")
        return Run(
            pull,
            bundle,
            piece.way.route,
            link.assembly,
            number,
            link.fabric,
            link.link_class,
            len(leg),
            link.speed_gbps,
            link.medium,
            link.length_m,
            medium.name,
            medium.polarity,
            medium.fibres[number - 1] if number <= medium.legs else "",
            End(a[0], a_rack, a_unit, a[1], a[2], a_port, a_module, laid.a_connector, a_label),
            End(b[0], b_rack, b_unit, b[1], b[2], b_port, b_module, laid.b_connector, b_label),
            laid.head if medium.legs > 1 else "",
        )

    def _id(self, links: list[Link], side: Side) -> str:
        """An end in the manner of TIA-606: ``r01-n01-U03:fabric/1/2``."""
        device, group, cage = cage_of(links[0], side)
        return f"{self._places[device][0]}:{group}/{cage}/{_ports(links, side)}"


def _ports(links: list[Link], side: Side) -> str:
    if len(links) == 1:
        return str(links[0].a_port if side == "a" else links[0].b_port)
    return "+".join(str(port) for port in sorted({link.a_port if side == "a" else link.b_port for link in links}))


def _end_names(ledger: Ledger) -> dict[str, str]:
    """Every device by rack and unit; by its own name where it stands beside the units, or another stands there too."""
    places = Counter((d.rack, d.unit) for d in ledger.devices)
    return {
        d.name: f"{d.rack}-U{d.unit:02d}" if d.unit and places[d.rack, d.unit] == 1 else d.name for d in ledger.devices
    }
