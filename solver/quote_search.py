"""The searches on a quote's program: the most links, and the shortest list of what is missing."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpunet.catalogs import medium_id, split_medium_id
from gpunet.models.parts import Module
from gpunet.solver.ports import Face as PortFace
from gpunet.solver.ports import fits
from gpunet.solver.quote_devices import Bank, DeviceKind
from gpunet.solver.quote_program import Pool, QuoteProgram

WORK_LIMIT = 120.0
"""Deterministic time of one search, about seconds; the same on every machine."""


@dataclass(frozen=True)
class Built:
    """What a search found."""

    links: int
    used: dict[str, int]
    """Modules, cables and fibres at work, stock lengths by themselves; of bought media the base id."""
    lit: dict[str, int]
    """Ports that carry a link, or legs of a splitter the one port they share: module -> ports."""
    open_cages: dict[tuple[str, str], int]
    """Cages of servers and cards without a link: device and bank -> cages."""
    busy_cages: dict[str, int]
    """Cages of switches in use."""
    bought: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    """Ports of modules, or cables, that find no place even with everything that can be bought."""
    proven: bool = True
    """Whether nothing better exists in the program."""


def most_links(pool: Pool) -> Built:
    """The most links; among equals those that reach the most cages of servers and cards, with the fewest pieces."""
    return _Search(QuoteProgram(pool)).most_links()


def fewest_missing(pool: Pool) -> Built:
    """What to buy so that every module, cable and cage of a server finds its place: as few places left over as can be,
    then the fewest different parts, the fewest pieces, and the least money."""
    return _Search(QuoteProgram(pool)).fewest_missing()


def must_be_lit(module: Module, count: int) -> int:
    """Ports that must carry a link for all modules of a kind to be of use; one of them may have a dark port."""
    return module.optical_ports * (count - 1) + 1 if count else 0


class _Search:
    def __init__(self, program: QuoteProgram) -> None:
        self.program = program

    def most_links(self) -> Built:
        total = sum(self.program.links)
        reached = sum(self._linked(device, bank) for device, bank in self._must_link())
        pieces = sum(self.program.laid.values()) + sum(self.program.seated.values())
        found = self._ranked([(total, True), (reached, True), (pieces, False)])
        return self._built(found)

    def fewest_missing(self) -> Built:
        left: dict[str, Any] = {}
        for part, count in self.program.pool.pieces.items():
            base = split_medium_id(part)[0]
            if part in self.program.parts.modules:
                ports = must_be_lit(self.program.parts.modules[part], count)
                lit = sum(sum(lit) for (_, module), lit in self.program.lit.items() if module == part)
                left[part] = self._short_of(ports, lit, part)
            elif base in self.program.parts.cables:
                laid = self.program.laid.get((base, split_medium_id(part)[1]), 0)
                left[part] = self._short_of(count, laid, part)
        for device, bank in self._must_link():
            wanted = bank.count * device.count * self._scale(bank)
            name = f"{device.part} {bank.name}"
            left[name] = self._short_of(wanted, self._linked(device, bank), name)
        lines = []
        for part, count in self.program.buy.items():
            is_bought = self.program.cp.new_bool_var(f"line {part}")
            self.program.cp.add(count == 0).only_enforce_if(is_bought.negated())
            lines.append(is_bought)
        prices = sum(self._cents(part) * count for part, count in self.program.buy.items())
        goals = [
            (sum(left.values()), False),
            (sum(lines), False),
            (sum(self.program.buy.values()), False),
            (prices, False),
        ]
        return self._built(self._ranked(goals), left)

    def _short_of(self, wanted: int, there: Any, name: str) -> Any:
        short = self.program.count(wanted, f"short of {name}")
        self.program.cp.add(short >= wanted - there)
        return short

    def _must_link(self) -> list[tuple[DeviceKind, Bank]]:
        return [(device, bank) for device in self.program.devices for bank in device.banks if bank.must_link]

    def _scale(self, bank: Bank) -> int:
        """Parts into which a cage is counted, so that a link fills a whole number of them in every mode."""
        return math.lcm(*(mode.ports for mode in bank.group.modes))

    def _linked(self, device: DeviceKind, bank: Bank) -> Any:
        """Cages of servers or cards in use, in parts."""
        scale = self._scale(bank)
        return sum(count * (scale // ports) for count, ports in self.program.linked[device.part, bank.name])

    def _cents(self, part: str) -> int:
        """Catalogue price, for a cable or fibre of its shortest length; 0 where none is known."""
        catalog = self.program.pool.catalog
        medium = catalog.fibres.get(part) or catalog.cables.get(part)
        if medium is not None:
            return min(medium.lengths, key=lambda stock: stock.length_m).price.cents()
        item = catalog.modules.get(part) or catalog.switches.get(part)
        return item.price.cents() if item is not None and item.price is not None else 0

    def _ranked(self, goals: Sequence[tuple[Any, bool]]) -> tuple[Any, bool]:
        """Solve by one goal after another, each held at its best; the values, and whether all is proven."""
        proven, solver, spent = True, None, 0.0
        for goal, is_most in goals:
            if isinstance(goal, int):
                continue
            (self.program.cp.maximize if is_most else self.program.cp.minimize)(goal)
            if solver is not None:
                self._hint(solver)
            attempt = self._solver(max(1.0, WORK_LIMIT - spent))
            status = attempt.solve(self.program.cp)
            spent += attempt.response_proto.deterministic_time
            if status not in (self.program.library.OPTIMAL, self.program.library.FEASIBLE):
                if solver is None:
                    raise RuntimeError(
                        f"a program that nothing built satisfies has no solution: {attempt.status_name()}"
                    )
                return solver, False
            solver, proven = attempt, proven and status == self.program.library.OPTIMAL
            best = solver.value(goal)
            self.program.cp.add(goal >= best if is_most else goal <= best)
        if solver is None:
            solver = self._solver(WORK_LIMIT)
            solver.solve(self.program.cp)
        return solver, proven

    def _solver(self, limit: float) -> Any:
        solver = self.program.library.CpSolver()
        # One worker and a limit in deterministic time: the same answer on every machine.
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_deterministic_time = limit
        return solver

    def _hint(self, solver: Any) -> None:
        self.program.cp.clear_hints()
        for index in range(len(self.program.cp.proto.variables)):
            variable = self.program.cp.get_int_var_from_proto_index(index)
            self.program.cp.add_hint(variable, solver.value(variable))

    def _built(self, found: tuple[Any, bool], left: Mapping[str, Any] | None = None) -> Built:
        solver, proven = found

        def value(expression: Any) -> int:
            return int(expression if isinstance(expression, int) else solver.value(expression))

        used: dict[str, int] = {}
        for (base, length_m), laid in sorted(self.program.laid.items(), key=str):
            part = base if length_m is None else medium_id(base, length_m)
            if n := value(laid):
                used[part] = n
        used |= {part: n for part, seated in sorted(self.program.seated.items()) if (n := value(seated))}
        lit = dict.fromkeys(self.program.seated, 0)
        for (_, part), ports in self.program.lit.items():
            lit[part] += value(sum(ports))
        open_cages = {}
        for device, bank in self._must_link():
            reached = value(self._linked(device, bank)) // self._scale(bank)
            if short := bank.count * device.count - reached:
                open_cages[device.part, bank.name] = short
        busy: dict[str, int] = defaultdict(int)
        for face, cages in self.program.at.items():
            if face.is_switch:
                busy[face.device] += value(sum(cages))
        return Built(
            links=value(sum(self.program.links)),
            used=used,
            lit=lit,
            open_cages=open_cages,
            busy_cages=dict(busy),
            bought={part: n for part, count in sorted(self.program.buy.items()) if (n := value(count))},
            left={name: n for name, short in (left or {}).items() if (n := value(short))},
            proven=proven and self._deals(value),
        )

    def _deals(self, value: Callable[[Any], int]) -> bool:
        """Whether the cages of every share can be dealt to its switches, one by one. Where the rows for ports and
        pipelines hold for all switches together, they nearly always hold for each."""
        for device in self.program.devices:
            switch = device.switch
            if switch is None or (switch.max_logical_ports is None and switch.ports_per_pipeline is None):
                continue
            for (part, share), devices in self.program.shares.items():
                if part == device.part and not self._share_deals(device, share, value(devices), value):
                    return False
        return True

    def _share_deals(self, device: DeviceKind, share: int, devices: int, value: Callable[[Any], int]) -> bool:
        assert device.switch is not None
        groups = {bank.name: bank.group for bank in device.banks}
        cages = [
            PortFace(groups[face.bank], face.ports, face.kind.mode.speed_gbps, (face.kind.mode,), face.hot)
            for face, at in self.program.at.items()
            if (face.device, face.share) == (device.part, share) and face.is_switch
            for _ in range(value(sum(at)))
        ]
        cages.sort(key=lambda cage: (not cage.hot, -cage.ports))
        dealt: list[Counter[PortFace]] = [Counter() for _ in range(devices)]
        for i, cage in enumerate(cages):
            dealt[i % devices][cage] += 1
        return all(fits(device.switch, list(uses.items())) for uses in dealt)
