"""Why a part of a list finds no place: the rule that keeps it from every cage, every mate or every fibre there is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gpunet.catalogs import split_medium_id
from gpunet.models.interconnect import CageKind, Refusal
from gpunet.models.parts import Cable, Catalog, Fibre, Module
from gpunet.solver.copper import fewest_cable_refusals
from gpunet.solver.mating import Seated, module_refusals, pair_refusals, seat
from gpunet.solver.passive import fibre_refusals, reach_of
from gpunet.solver.quote_devices import devices_of, faces_of

NO_CAGE, NO_MATE, NO_FIBRE, NUMBERS = "no cage", "no mate", "no fibre", "numbers"


class Reason(NamedTuple):
    """Why pieces stay over."""

    kind: str
    """``no cage``, ``no mate``, ``no fibre``, or ``numbers`` where the parts fit and there are too few of something."""
    rule: str
    why: str


class Reasons:
    """The cages, modules and fibres of a list, to ask why one of them is of no use."""

    def __init__(self, pieces: Mapping[str, int], catalog: Catalog) -> None:
        self.catalog = catalog
        self._devices: dict[CageKind, dict[str, int]] = {}
        """Cages of the list in every mode -> the models that have them, with how many devices there are of each."""
        self._switches: set[tuple[CageKind, str]] = set()
        for device in devices_of(pieces, catalog):
            for face in faces_of(device, 0):
                self._devices.setdefault(face.kind, {})[device.part] = device.count
                if face.is_switch:
                    self._switches.add((face.kind, device.part))
        bases = {split_medium_id(part)[0] for part in pieces}
        self.modules = [catalog.modules[base] for base in sorted(bases) if base in catalog.modules]
        self.fibres = [catalog.fibres[base] for base in sorted(bases) if base in catalog.fibres]
        self._seats: dict[str, list[tuple[CageKind, Seated]]] = {}

    def seats(self, module: Module) -> list[tuple[CageKind, Seated]]:
        """Cages that take the module, in the modes that it realises."""
        if module.id not in self._seats:
            found = ((kind, seat(kind, module, self.catalog.interfaces)) for kind in self._devices)
            self._seats[module.id] = [(kind, seated) for kind, seated in found if seated is not None]
        return self._seats[module.id]

    def of_module(self, module: Module) -> Reason:
        """Why modules of one kind stay over."""
        if not self.seats(module):
            return self._no_cage(module)
        mates = list(self._mates(module))
        if not mates:
            return self._no_mate(module)
        if not any(self._fibre_for(a, b) for a, b in mates):
            return self._no_fibre(mates)
        return Reason(NUMBERS, "", "it fits, and too little is there for it: see what is missing")

    def of_cable(self, cable: Cable) -> Reason:
        """Why cables stay over."""
        fewest: tuple[Refusal, ...] | None = None
        for a in self._devices:
            for b in self._devices:
                if not any((a, part) in self._switches for part in self._devices[a]) or not self._may_link(a, b):
                    continue
                broken = fewest_cable_refusals(cable, a, b)
                if not broken:
                    return Reason(NUMBERS, "", "it fits, and too few cages are free for it")
                fewest = broken if fewest is None or len(broken) < len(fewest) else fewest
        if fewest is None:
            return Reason(NO_CAGE, "", "the list has no two cages of one speed to join, one of them a switch's")
        return Reason(NO_CAGE, fewest[0].rule, fewest[0].message)

    def of_fibre(self, fibre: Fibre, length_m: float) -> Reason:
        """Why fibres stay over."""
        refused: list[tuple[Refusal, ...]] = []
        for module in self.modules:
            for a, b in self._mates(module):
                broken = tuple(fibre_refusals(fibre, a, b))
                if broken:
                    refused.append(broken)
                elif reach_of(fibre, a, b)[0] >= length_m:
                    return Reason(NUMBERS, "", "more than the links need")
                else:
                    reach_m, rule = reach_of(fibre, a, b)
                    message = f"{fibre.id} of {length_m:g} m is longer than {a.module.id} reaches, {reach_m:g} m"
                    refused.append((Refusal(rule, (), message),))
        if not refused:
            return Reason(NO_MATE, "", "no two modules of the list mate, so no fibre is needed")
        first = min(refused, key=len)[0]
        return Reason(NO_FIBRE, first.rule, first.message)

    def _mates(self, module: Module) -> Iterable[tuple[Seated, Seated]]:
        """Pairs of the module with one of the list, itself among them, one end in a switch."""
        for kind, at_a in self.seats(module):
            for other in self.modules:
                for far, at_b in self.seats(other):
                    if self._may_link(kind, far) and next(pair_refusals(at_a, at_b), None) is None:
                        yield at_a, at_b

    def _may_link(self, one: CageKind, other: CageKind) -> bool:
        """Whether the list has two devices with these cages, a switch among them, that run at one speed."""
        return (
            one.protocol is other.protocol
            and one.mode.speed_gbps == other.mode.speed_gbps
            and any(
                (first != second or count > 1) and ((one, first) in self._switches or (other, second) in self._switches)
                for first, count in self._devices[one].items()
                for second in self._devices[other]
            )
        )

    def _fibre_for(self, a: Seated, b: Seated) -> bool:
        return any(next(fibre_refusals(fibre, a, b), None) is None for fibre in self.fibres)

    def _no_cage(self, module: Module) -> Reason:
        if not self._devices:
            return Reason(NO_CAGE, "", "the list has no switch, card or server, so no cage for it")
        broken = [tuple(module_refusals(kind, module, self.catalog.interfaces)) for kind in self._devices]
        # A cage that it does not even enter says the least.
        near = min(filter(None, broken), key=lambda rules: (rules[0].rule == "R1", len(rules)))
        return Reason(NO_CAGE, near[0].rule, near[0].message)

    def _no_mate(self, module: Module) -> Reason:
        """The nearest thing to a mate, and what is wrong with it."""
        refused: list[tuple[Refusal, ...]] = []
        for kind, at_a in self.seats(module):
            for other in self.modules:
                for far, at_b in self.seats(other):
                    if self._may_link(kind, far):
                        refused.append(tuple(pair_refusals(at_a, at_b)))
        first = min(filter(None, refused), key=len, default=None)
        if first is None:
            return Reason(NO_MATE, "", "no module of the list takes the far end: it is for one end only")
        return Reason(NO_MATE, first[0].rule, f"no mate on the list: {first[0].message}")

    def _no_fibre(self, mates: list[tuple[Seated, Seated]]) -> Reason:
        a, b = mates[0]
        if not self.fibres:
            return Reason(NO_FIBRE, "", f"no fibre on the list to join {a.module.id} and {b.module.id}")
        broken = [tuple(fibre_refusals(fibre, *pair)) for fibre in self.fibres for pair in mates]
        first = min(filter(None, broken), key=len)[0]
        return Reason(NO_FIBRE, first.rule, first.message)


def takers(catalog: Catalog, module: Module) -> list[str]:
    """Cards, servers and switches of the catalogue that take a module."""
    return [
        part
        for part in (*catalog.nics, *catalog.servers, *catalog.switches)
        for device in devices_of({part: 1}, catalog)
        if any(seat(face.kind, module, catalog.interfaces) is not None for face in faces_of(device, 0))
    ]
