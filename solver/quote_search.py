"""The searches on a quote's program: the most links, and the shortest list of what is missing."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpunet.catalogs import medium_id, split_medium_id
from gpunet.models.parts import Module
from gpunet.solver.ports import Face as PortFace
from gpunet.solver.ports import fits
from gpunet.solver.quote_devices import Bank, DeviceKind
from gpunet.solver.quote_program import Pool, QuoteProgram

WORK_LIMIT = 6.0
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
    deals: bool = True
    """Whether the cages in use were dealt to single switches with the ports and pipelines of each held."""
    bound: int = 0
    """The first aim at its best by what is proven: no more links, or no fewer places left over."""


class Goal(NamedTuple):
    """One aim of a search."""

    sum: Any
    is_most: bool
    """True to get as much as can be, False as little."""
    is_firm: bool
    """Whether it must be proven; otherwise a good answer will do."""


class Found(NamedTuple):
    """The solver with the values of the variables, and what they are worth."""

    solver: Any
    proven: bool
    bound: int


def most_links(pool: Pool, at_most: int | None = None) -> Built:
    """The most links; among equals those that reach the most cages of servers and cards, with few pieces.

    ``at_most`` is a number of links that is known to be impossible to exceed: it saves the search the proof.
    """
    return _Search(QuoteProgram(pool)).most_links(at_most)


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

    def most_links(self, at_most: int | None) -> Built:
        total = sum(self.program.links)
        reached = sum(self._linked(device, bank) for device, bank in self._must_link())
        pieces = sum(self.program.laid.values()) + sum(self.program.seated.values())
        if at_most is not None:
            self.program.cp.add(total <= at_most)
        goals = [Goal(total, True, True), Goal(reached, True, False), Goal(pieces, False, False)]
        return self._built(self._ranked(goals))

    def fewest_missing(self) -> Built:
        left: dict[str, Any] = {}
        for part, count in self.program.pool.pieces.items():
            base = split_medium_id(part)[0]
            if part in self.program.parts.modules:
                module = self.program.parts.modules[part]
                more = module.optical_ports * self.program.buying(part)
                left[part] = self._short_of(must_be_lit(module, count), self._lit(part) - more, part)
            elif base in self.program.parts.cables:
                laid = self.program.laid.get((base, split_medium_id(part)[1]), 0)
                left[part] = self._short_of(count, laid, part)
        for device, bank in self._must_link():
            wanted = bank.count * device.count * self._scale(bank)
            name = f"{device.part} {bank.name}"
            left[name] = self._short_of(wanted, self._linked(device, bank), name)
        for part, module in self.program.parts.modules.items():
            # What is bought must be of use too, so that the longer list passes when it is checked.
            if not self.program.pool.pieces.get(part):
                dark = module.optical_ports - 1
                self.program.cp.add(self._lit(part) + dark >= module.optical_ports * self.program.buying(part))
        lines = []
        for part, count in self.program.buy.items():
            is_bought = self.program.cp.new_bool_var(f"line {part}")
            self.program.cp.add(count == 0).only_enforce_if(is_bought.negated())
            lines.append(is_bought)
        prices = sum(self._cents(part) * count for part, count in self.program.buy.items())
        goals = [
            Goal(sum(left.values()), False, True),
            Goal(sum(lines), False, True),
            Goal(sum(self.program.buy.values()), False, True),
            Goal(prices, False, False),
        ]
        return self._built(self._ranked(goals), left)

    def _lit(self, part: str) -> Any:
        """Ports of a module's pieces that carry a link."""
        return sum(sum(lit) for (_, module), lit in self.program.lit.items() if module == part)

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

    def _ranked(self, goals: Sequence[Goal]) -> Found:
        """Solve by one goal after another, each held at the best that was found."""
        library, cp = self.program.library, self.program.cp
        solver: Any = None
        proven, bound = True, None
        for goal in goals:
            if isinstance(goal.sum, int):
                continue
            (cp.maximize if goal.is_most else cp.minimize)(goal.sum)
            if solver is not None:
                self._hint(solver)
            attempt = self._solver(WORK_LIMIT if goal.is_firm else WORK_LIMIT / 10)
            status = attempt.solve(cp)
            if bound is None:
                bound = round(attempt.best_objective_bound)
            proven = proven and (status == library.OPTIMAL or not goal.is_firm)
            if status in (library.OPTIMAL, library.FEASIBLE):
                solver = attempt
            solver = solver or self._any()
            best = solver.value(goal.sum)
            cp.add(goal.sum >= best if goal.is_most else goal.sum <= best)
        return Found(solver or self._any(), proven, bound or 0)

    def _any(self) -> Any:
        """Anything that holds: building nothing does, so there is always something."""
        self.program.cp.clear_objective()
        solver = self.program.library.CpSolver()
        status = solver.solve(self.program.cp)
        if status not in (self.program.library.OPTIMAL, self.program.library.FEASIBLE):
            raise RuntimeError(f"a program that building nothing satisfies is found {solver.status_name(status)}")
        return solver

    def _solver(self, limit: float) -> Any:
        solver = self.program.library.CpSolver()
        # One worker and a limit in deterministic time: the same answer on every machine.
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        # These programs are flows with few whole-number twists, which the linear relaxation nearly solves.
        solver.parameters.linearization_level = 2
        solver.parameters.max_deterministic_time = limit
        return solver

    def _hint(self, solver: Any) -> None:
        self.program.cp.clear_hints()
        for index in range(len(self.program.cp.proto.variables)):
            variable = self.program.cp.get_int_var_from_proto_index(index)
            self.program.cp.add_hint(variable, solver.value(variable))

    def _built(self, found: Found, left: Mapping[str, Any] | None = None) -> Built:
        solver = found.solver

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
            proven=found.proven,
            deals=self._deals(value),
            bound=found.bound,
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
