"""Channels through panels (R10 to R14): every cord, run, panel and place of a panel, judged from the ledger alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.catalogs.plant import family, plant_rules
from gpunet.models.design import Check
from gpunet.models.ledger import Channel, Link, Panel, RackPlace
from gpunet.models.parts import Accessory, Connector, Fibre, Module
from gpunet.models.plant import Mates, Structure
from gpunet.solver.verify_links import IN_RACK_M, LENGTH_SLIP_M, Wiring
from gpunet.solver.verify_report import Findings

PANELS = {Structure.ONE_PANEL.value: 1, Structure.TWO_PANELS.value: 2}
"""Panels of a channel by what its row says."""


class Piece(NamedTuple):
    """One cord or run of a channel."""

    name: str
    fibre: Fibre
    length_m: float


class Kind(NamedTuple):
    """All that the optical rules look at: channels that agree in it are judged once."""

    structure: str
    cord: str
    run: str
    medium: str
    a_module: str
    b_module: str
    panels: tuple[str, ...]
    total_m: float


class Plant:
    """What the rows of panels and channels refer to."""

    def __init__(self, wiring: Wiring) -> None:
        self.book = wiring.book
        ledger = self.book.ledger
        self.panels: dict[int, Panel] = {panel.number: panel for panel in ledger.panels}
        self.links: dict[int, Link] = {link.assembly: link for link in reversed(ledger.links)}
        self._modules = {(s.device, s.group, s.cage): s.part for s in ledger.seats}
        self._racks = {d.name: d.rack for d in ledger.devices}
        self._places: dict[str, RackPlace] = {place.name: place for place in ledger.places}

    @cached_property
    def mates(self) -> Mates:
        """Quality of mated pairs that the case reckons with."""
        plant = self.book.case.site.plant
        return Mates.LOW_LOSS if plant is None else plant.mates

    def kind_of(self, row: Channel, link: Link) -> Kind:
        """What the rules look at."""
        panels = tuple(self.panels[n].part for n in (row.near_panel, row.far_panel) if n in self.panels)
        a = self._modules.get((link.a_device, link.a_group, link.a_cage), "")
        b = self._modules.get((link.b_device, link.b_group, link.b_cage), "")
        return Kind(row.structure, row.cord, row.run, link.medium, a, b, panels, link.length_m)

    def piece(self, name: str) -> Piece | None:
        """A cord or run at a stock length; none where the catalogue has no such fibre of that length."""
        base, length_m = split_medium_id(name)
        fibre = self.book.catalog.fibres.get(base)
        if fibre is None or length_m is None or all(stock.length_m != length_m for stock in fibre.lengths):
            return None
        return Piece(name, fibre, length_m)

    def way_m(self, one: str, other: str) -> float | None:
        """Way over the trays between two rack places, m; none where one does not exist."""
        if one not in self._places or other not in self._places:
            return None
        if one == other:
            return IN_RACK_M
        site, (p, q) = self.book.case.site, (self._places[one], self._places[other])
        return abs(p.x_m - q.x_m) + abs(p.y_m - q.y_m) + 2 * site.tray_rise_m + site.slack_m

    def racks_of(self, row: Channel, link: Link) -> tuple[str, str, str, str]:
        """Rack places from the end ``b`` to the end ``a``: the device, near panel, far end of the run, the device."""
        a, b = self._racks.get(link.a_device, ""), self._racks.get(link.b_device, "")
        near = self.panels[row.near_panel].rack if row.near_panel in self.panels else ""
        if PANELS.get(row.structure) == 1:
            return b, near, a, a
        return b, near, self.panels[row.far_panel].rack if row.far_panel in self.panels else "", a


def check_channels(wiring: Wiring) -> Check:
    """Structures that the case allows; connectors, gender, polarity, fibres, loss, lengths; every place used once."""
    plant = Plant(wiring)
    findings = Findings("channels")
    rows = plant.book.ledger.channels
    _allowed(plant, findings)
    judged: dict[Kind, list[str]] = {}
    for row in rows:
        link = plant.links.get(row.assembly)
        if link is None:
            findings.add(f"channel of piece {row.assembly}, which no link uses")
            continue
        kind = plant.kind_of(row, link)
        if kind not in judged:
            judged[kind] = list(_judge(plant, kind))
        for why in [*judged[kind], *_places(plant, row), *_lengths(plant, row, link)]:
            findings.add(f"piece {row.assembly}: {why}")
    for text in [*_used_once(plant), *_runs(plant)]:
        findings.add(text)
    runs = len({row.trunk for row in rows})
    held = f"{len(rows):,} channels over {runs:,} runs and {len(plant.panels):,} panels, each place used once"
    return findings.check(held)


def _allowed(plant: Plant, findings: Findings) -> None:
    """Every piece of fibre laid as the case allows."""
    case, ledger = plant.book.case, plant.book.ledger
    allowed = {x.value for x in case.site.plant.structures} if case.site.plant else {Structure.DIRECT.value}
    laid = Counter(row.assembly for row in ledger.channels)
    for assembly, rows in laid.items():
        if rows > 1:
            findings.add(f"piece {assembly} has {rows} channels")
    for row in ledger.channels:
        if row.structure not in PANELS or row.structure not in allowed:
            findings.add(f"piece {row.assembly}: {row.structure}; the case allows {', '.join(sorted(allowed))}")
    if Structure.DIRECT.value not in allowed:
        fibres = plant.book.catalog.fibres
        for assembly, link in plant.links.items():
            if assembly not in laid and split_medium_id(link.medium)[0] in fibres:
                findings.add(f"piece {assembly} is a direct cord; the case allows {', '.join(sorted(allowed))}")


def _judge(plant: Plant, kind: Kind) -> Iterator[str]:
    """What does not depend on where the pieces lie."""
    names = [kind.run, kind.medium] if PANELS.get(kind.structure) == 1 else [kind.cord, kind.run, kind.medium]
    if (PANELS.get(kind.structure) == 1) != (kind.cord == ""):
        yield f"{kind.structure} with the cord {kind.cord!r} at the far end"
        return
    found = [plant.piece(name) for name in names]
    pieces = [piece for piece in found if piece is not None]
    for name, piece in zip(names, found, strict=True):
        if piece is None:
            yield f"no fibre {name!r} of that stock length in the catalogue"
    catalog = plant.book.catalog
    ends = [catalog.modules[m] for m in (kind.a_module, kind.b_module) if m in catalog.modules]
    panels = [catalog.accessories.get(part) for part in kind.panels]
    if len(pieces) < len(names) or len(ends) < 2:
        return  # the check of the seats names an end without a module
    total_m = sum(piece.length_m for piece in pieces)
    if abs(total_m - kind.total_m) > LENGTH_SLIP_M:
        yield f"{kind.total_m:g} m are entered, its pieces come to {total_m:g} m"
    yield from _connectors(pieces, ends, panels)
    yield from _gender_and_polarity(pieces)
    yield from _reach(plant, pieces, ends, total_m)


def _connectors(pieces: list[Piece], ends: list[Module], panels: list[Accessory | None]) -> Iterator[str]:
    """R10 and R11: one kind and one polish from module to module; R5: one grade of glass."""
    want = ends[0].connector
    for name, connector in [(ends[1].id, ends[1].connector)] + [
        (piece.name, connector) for piece in pieces for connector in (piece.fibre.connector_a, piece.fibre.connector_b)
    ]:
        if connector != want:
            rule = "R10" if connector.kind != want.kind else "R11"
            yield f"{rule}: {name} has {_words(connector)}, {ends[0].id} has {_words(want)}"
    for panel in panels:
        if panel is None or panel.connector is None or panel.positions is None:
            yield f"R10: {panel.id if panel else 'an unknown part'} is no panel"
        elif panel.connector.kind != want.kind:
            yield f"R10: {panel.id} takes {panel.connector.kind}, not {want.kind}"
    grades = sorted({piece.fibre.grade for piece in pieces})
    if len(grades) > 1:
        yield f"R5: glass of {' and '.join(grades)} in one channel"


def _gender_and_polarity(pieces: list[Piece]) -> Iterator[str]:
    """R12: in every mated pair one male, where modules are male; fibres cross over an odd number of times."""
    run, cords = pieces[-2], [piece for piece in pieces if piece is not pieces[-2]]
    if family(run.fibre.connector_a.kind) != "MPO":
        return
    for cord in cords:
        if any(_males(cord.fibre)):
            yield f"R12: {cord.name} has male ends and enters a male module"
    wanted = 2 if len(cords) == 2 else 1
    if sum(_males(run.fibre)) != wanted:
        yield f"R12: {run.name} has {sum(_males(run.fibre))} male ends, {wanted} are needed"
    crossings = sum(not piece.fibre.polarity.startswith("Type A") for piece in pieces)
    if crossings % 2 == 0:
        yield f"R12: the fibres cross over {crossings} times, so sender meets sender"


def _males(fibre: Fibre) -> tuple[bool, bool]:
    one, _, other = fibre.gender.partition("/")
    return one.startswith("male"), (other or one).startswith("male")


def _reach(plant: Plant, pieces: list[Piece], ends: list[Module], total_m: float) -> Iterator[str]:
    """R12 fibres per connector, R13 the longest channel with panels, R14 the loss against both budgets."""
    rules, catalog = plant_rules(), plant.book.catalog
    grade, kind = pieces[0].fibre.grade, family(pieces[0].fibre.connector_a.kind)
    glass = "SMF" if grade == "OS2" else "MMF"
    if len(pieces) - 1 > rules.most_panels.v:
        yield f"R13: {len(pieces) - 1} panels; {rules.most_panels.v:g} are the most"
    longest_m = rules.panel_reach_m[glass][kind].v
    if total_m > longest_m:
        yield f"R13: {total_m:g} m through panels; {longest_m:g} m are the most"
    pairs = [_pair_db(plant, piece.fibre) for piece in pieces]
    loss_db = pairs[0] + sum(max(x, y) for x, y in pairwise(pairs)) + pairs[-1]
    loss_db += total_m * rules.attenuation_db_per_m[glass].v
    for module in ends:
        face = catalog.interfaces.get(module.interface or "")
        if face is None:
            continue
        budget_db = face.loss_budget_db.get(grade)
        if budget_db is not None and loss_db > budget_db + 1e-9:
            yield f"R14: {loss_db:.2f} dB, the budget of {module.id} is {budget_db:g} dB"
        for piece in pieces:
            if piece.fibre.fibres // piece.fibre.legs < face.fibres:
                each = piece.fibre.fibres // piece.fibre.legs
                yield f"R12: {piece.name} has {each} fibres per connector, {module.id} needs {face.fibres}"


def _pair_db(plant: Plant, fibre: Fibre) -> float:
    if plant.mates is Mates.STANDARD:
        return plant_rules().mated_pair_db[Mates.STANDARD][family(fibre.connector_a.kind)].v
    return fibre.loss_per_mated_pair_db


def _places(plant: Plant, row: Channel) -> Iterator[str]:
    """Panels that exist, different ones, and a place that each of them has."""
    far = [] if PANELS.get(row.structure) == 1 else [(row.far_panel, row.far_position)]
    for number, position in [(row.near_panel, row.near_position), *far]:
        panel = plant.panels.get(number)
        part = plant.book.catalog.accessories.get(panel.part) if panel else None
        if panel is None:
            yield f"no panel {number}"
        elif part is not None and part.positions is not None and not 1 <= position <= part.positions:
            yield f"place {position} of panel {number}, which has {part.positions}"
    if far and row.near_panel == row.far_panel:
        yield f"both ends of the run are in panel {row.near_panel}"
    if not far and (row.far_panel or row.far_position):
        yield f"a far panel {row.far_panel} in a channel through one panel"


def _lengths(plant: Plant, row: Channel, link: Link) -> Iterator[str]:
    """Every piece covers its way: cords from device to panel, the run between its ends."""
    b, near, far, a = plant.racks_of(row, link)
    spans = [(link.medium, b, near), (row.run, near, far), *([(row.cord, far, a)] if row.cord else [])]
    for name, one, other in spans:
        piece, way_m = plant.piece(name), plant.way_m(one, other)
        if piece is not None and way_m is not None and piece.length_m + LENGTH_SLIP_M < way_m:
            yield f"{name} does not cover the {way_m:.1f} m from {one} to {other}"


def _used_once(plant: Plant) -> Iterator[str]:
    """A place of a panel and a connector of a run serve one channel; no panel stands idle or is numbered twice."""
    rows, panels = plant.book.ledger.channels, plant.book.ledger.panels
    taken = Counter((row.near_panel, row.near_position) for row in rows)
    taken += Counter((row.far_panel, row.far_position) for row in rows if row.far_panel)
    for (number, position), n in taken.items():
        if n > 1:
            yield f"place {position} of panel {number} is used {n} times"
    for (trunk, leg), n in Counter((row.trunk, row.leg) for row in rows).items():
        if n > 1:
            yield f"connector {leg} of run {trunk} is used {n} times"
    for number, n in Counter(panel.number for panel in panels).items():
        if n > 1:
            yield f"panel {number} is entered {n} times"
    idle = sorted(plant.panels.keys() - {number for number, _ in taken})
    for number in idle:
        yield f"panel {number} serves no channel"


def _runs(plant: Plant) -> Iterator[str]:
    """A run is one part with so many connectors, and runs from one rack place to one other."""
    first: dict[int, tuple[str, str, str]] = {}
    for row in plant.book.ledger.channels:
        link = plant.links.get(row.assembly)
        if link is None:
            continue
        _, near, far, _ = plant.racks_of(row, link)
        here = (row.run, near, far)
        if first.setdefault(row.trunk, here) != here:
            yield f"run {row.trunk} is {' '.join(first[row.trunk])} and also {' '.join(here)}"
        fibre = plant.book.catalog.fibres.get(split_medium_id(row.run)[0])
        if fibre is not None and not 1 <= row.leg <= fibre.legs:
            yield f"connector {row.leg} of run {row.trunk}: {row.run} has {fibre.legs}"


def _words(connector: Connector) -> str:
    return f"{connector.kind}/{connector.polish}" if connector.polish else connector.kind
