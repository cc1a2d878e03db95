"""CP-SAT's own formulation: one index per fabric, totals looked up in tables, everything an integer.

It shares no rows with the program: the template of a fabric is a single variable, and each link class reads its
number of blocks from a table by that index. Agreement with the other engines is therefore a real check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gpunet.models.case import FabricName, Objective
from gpunet.models.design import Status
from gpunet.solver.cp_sat_purchase import Order, limit_suppliers, saved_by_vendors
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.network_racks import Cut, NetworkRacks
from gpunet.solver.template import Template

if TYPE_CHECKING:
    from gpunet.solver.engines import Clock, Outcome


class _Model:
    """Variables of one instance."""

    def __init__(self, data: Instance) -> None:
        from ortools.sat.python import cp_model

        self.data, self.cp = data, cp_model.CpModel()
        self.index: dict[FabricName, Any] = {}
        self.none: dict[FabricName, int] = {}
        for fabric, templates in data.templates.items():
            optional = fabric is FabricName.STORAGE and data.storage_optional
            self.none[fabric] = len(templates) if optional else -1
            self.index[fabric] = self.cp.new_int_var(0, len(templates) - (0 if optional else 1), f"t_{fabric.value}")
        self.blocks: dict[Key, list[Any]] = {}
        for k, (key, ways) in enumerate(data.ways.items()):
            self.blocks[key] = [self.cp.new_int_var(0, data.most(key), f"b_{k}_{w}") for w in range(len(ways))]
            self.cp.add(sum(self.blocks[key]) == self._sum(partial(data.need, key), f"need_{k}"))
        self.racks: list[Any] = []
        if data.racks is not None:
            self._network_racks(data.racks)
        self.bought = {part: Order(self, part, terms) for part, terms in sorted(data.terms.items())}
        limit_suppliers(self)
        self.saved_by_vendors = saved_by_vendors(self)
        self._rules()

    def look_up(self, fabric: FabricName, table: list[int], name: str) -> Any:
        """The entry of ``table`` at the chosen index; 0 where the fabric has no template."""
        table = [*table, 0] if self.none[fabric] >= 0 else table
        if len(set(table)) == 1:
            return table[0]
        found = self.cp.new_int_var(min(table), max(table), name)
        self.cp.add_element(self.index[fabric], table, found)
        return found

    def _sum(self, value: Callable[[Template], int], name: str) -> Any:
        """Sum over the fabrics of a figure of the chosen template."""
        return sum(
            self.look_up(fabric, [value(t) for t in templates], f"{name}_{fabric.value}")
            for fabric, templates in self.data.templates.items()
        )

    def total(self, objective: Objective) -> Any:
        """A total of the network, adapters included."""
        data = self.data
        found: Any = data.fixed.of(objective)
        for fabric, templates in data.templates.items():
            weights = [data.weights[id(t)].of(objective) for t in templates]
            found += self.look_up(fabric, weights, f"w_{fabric.value}_{objective.value}")
        for key, variables in self.blocks.items():
            found += sum(w.weight.of(objective) * v for w, v in zip(data.ways[key], variables, strict=True))
        if objective is not Objective.POWER:
            found += sum(order.beyond_list for order in self.bought.values()) - self.saved_by_vendors
            if data.racks is not None:
                found += data.racks.cents * self._racks_in_all(data.racks)
        return found

    def _racks_in_all(self, racks: NetworkRacks) -> Any:
        return sum(len(g.zones) * r for g, r in zip(racks.groups, self.racks, strict=True))

    def _network_racks(self, racks: NetworkRacks) -> None:
        """Racks in each zone of every group: no fewer than units, watts and sizes of switches ask for."""
        for g, group in enumerate(racks.groups):
            opened = self.cp.new_int_var(0, group.most, f"racks_{g}")
            self.racks.append(opened)
            for i, (loads, holds) in enumerate(racks.bounds(g)):
                self.cp.add(holds * opened >= self._sum(partial(_load, loads), f"racks_{g}_{i}"))
        self.told(racks.cuts)

    def told(self, cuts: Sequence[Cut]) -> None:
        """Add what is known of the racks that some choices need."""
        for cut in cuts:
            within = [
                self.look_up(fabric, [int(id(t) in members) for t in self.data.templates[fabric]], "cut")
                for fabric, members in cut.members.items()
            ]
            self.cp.add(self.racks[cut.group] >= cut.racks * (sum(within) - len(within) + 1))

    def _rules(self) -> None:
        data, cp = self.data, self.cp
        if data.storage_optional:
            carried = [int(t.carries_storage) for t in data.templates[FabricName.BACKEND]]
            carries = self.look_up(FabricName.BACKEND, carried, "carries_storage")
            apart = cp.new_bool_var("storage_apart")
            cp.add(apart + carries == 1)
            none = self.none[FabricName.STORAGE]
            cp.add(self.index[FabricName.STORAGE] == none).only_enforce_if(apart.negated())
            cp.add(self.index[FabricName.STORAGE] != none).only_enforce_if(apart)
        if data.management is not None:
            m = data.management
            oob = data.templates[FabricName.OOB]
            rows = self.look_up(FabricName.OOB, [m.row_ports(t) for t in oob], "row_ports")
            middle = self.look_up(FabricName.OOB, [m.central_ports(t) for t in oob], "central_ports")
            cp.add(rows >= m.fixed_ports + self._sum(lambda t: t.facts.row_switches, "row_switches"))
            cp.add(middle >= self._sum(lambda t: t.facts.central_switches, "central_switches"))
        for limit, objective, more in (
            (data.cost_limit, Objective.COST, 0),
            (data.power_limit, Objective.POWER, 0),
            (data.site_limit, Objective.POWER, data.servers_mw),
        ):
            if limit is not None:
                cp.add(self.total(objective) + more <= limit)
        room = data.machines.room
        if data.racks is None:
            leaves = self._sum(lambda t: t.facts.leaf_load, "leaf_load")
            central = self._sum(lambda t: t.facts.central_load, "central_load")
            for fabric, templates in data.templates.items():
                in_rows = self.look_up(fabric, [t.facts.leaf_reserve for t in templates], "leaf_reserve")
                in_middle = self.look_up(fabric, [t.facts.central_reserve for t in templates], "central_reserve")
                cp.add(leaves + in_rows <= room.leaf_room)
                cp.add(central + in_middle <= room.central_room)
        cp.add(self._sum(lambda t: t.facts.top_units, "top_units") <= room.free_units)
        cp.add(self._sum(lambda t: t.facts.top_mw, "top_mw") <= room.free_mw)
        for section, most in data.trays.items():
            lying = ((data.ways[k], vs) for k, vs in self.blocks.items() if data.passes(k, section))
            cp.add(sum(w.tray_load * v for ws, vs in lying for w, v in zip(ws, vs, strict=True)) <= most)
        limits = data.case.limits
        if limits.racks is not None and data.racks is not None:
            cp.add(self._racks_in_all(data.racks) <= limits.racks)
        if limits.vendors is not None:
            self._distinct(limits.vendors, data.vendor, "vendor")
        if limits.skus is not None:
            self._distinct(limits.skus, str, "sku")

    def pieces(self, part: str) -> Any:
        """Pieces of a part in the design, of adapters only those that suppliers offer."""
        data = self.data
        found: Any = data.fixed_pieces.get(part, 0)
        for fabric, templates in data.templates.items():
            found += self.look_up(fabric, [t.switches.get(part, 0) for t in templates], f"p_{fabric.value}_{part}")
        for key, variables in self.blocks.items():
            found += sum(dict(w.parts).get(part, 0) * v for w, v in zip(data.ways[key], variables, strict=True))
        return found

    def _distinct(self, most: int, label: Any, name: str) -> None:
        data, cp = self.data, self.cp
        fixed = {label(p) for p in data.fixed_parts}
        switches = [p for ts in data.templates.values() for t in ts for p in t.switches]
        media = [p for ways in data.ways.values() for w in ways for p, _ in w.parts]
        tags = sorted({label(p) for p in [*switches, *media]} - fixed)
        used = {tag: cp.new_bool_var(f"{name}_{i}") for i, tag in enumerate(tags)}
        for fabric, templates in data.templates.items():
            for tag in tags:
                carries = [int(any(label(p) == tag for p in t.switches)) for t in templates]
                cp.add(used[tag] >= self.look_up(fabric, carries, f"{name}_{fabric.value}_{tag}"))
        for key, variables in self.blocks.items():
            for way, variable in zip(data.ways[key], variables, strict=True):
                for tag in {label(p) for p, _ in way.parts} - fixed:
                    cp.add(variable == 0).only_enforce_if(used[tag].negated())
        cp.add(sum(used.values()) + len(fixed) <= most)

    def ranks(self) -> Any:
        """What the tie-break minimises: the same ranks as the program's."""
        data = self.data
        extra = 1 + sum(data.most(key) * max(0, len(ways) - 1) for key, ways in data.ways.items())
        templates = sum(
            self.look_up(fabric, list(range(len(ts))), f"rank_{fabric.value}") for fabric, ts in data.templates.items()
        )
        ways_rank = sum(i * v for vs in self.blocks.values() for i, v in enumerate(vs))
        stock = [order.from_stock for order in self.bought.values() if order.terms.is_stock_alone]
        return templates * extra + ways_rank - sum(stock)


def solve_cp_sat(data: Instance, clock: Clock) -> Outcome:
    """Solve an instance with CP-SAT. Same contract as ``engines.solve``."""
    from gpunet.solver.engines import EngineError, Outcome, broken

    if any(not ts and not (f is FabricName.STORAGE and data.storage_optional) for f, ts in data.templates.items()):
        return Outcome(Status.INFEASIBLE, None, None, None)
    model = _Model(data)
    first: tuple[int, float] | None = None
    choice: Choice | None = None
    proven = True
    for objective in data.case.objectives:
        total = model.total(objective)
        status, found, bound = _minimise(model, total, clock)
        if found is None:
            if choice is None:
                return Outcome(status, None, None, bound)
            proven = False
            break
        choice = found
        value = choice.net(data).of(objective)
        first = first or (value, value if bound is None else bound)
        if broken(data, choice):
            raise EngineError(f"CP-SAT's answer breaks {', '.join(broken(data, choice))}")
        if status is not Status.OPTIMAL:
            proven = False
            break
        model.cp.add(total <= value)
    if proven:
        ranks = model.ranks()
        status, found, bound = _minimise(model, ranks, clock)
        choice = found or choice
        if data.trays and status is Status.OPTIMAL and bound is not None:
            model.cp.add(ranks <= round(bound))
            blocks = enumerate(model.blocks.values(), 1)
            _, found, _ = _minimise(model, sum(k * i * v for k, vs in blocks for i, v in enumerate(vs)), clock)
            choice = found or choice
    if choice is None or first is None:
        raise EngineError("no objective was solved")
    return Outcome(Status.OPTIMAL if proven else Status.FEASIBLE, choice, first[0], first[1])


def new_solver(clock: Clock) -> Any:
    """CP-SAT with one worker and the fixed seed, so that runs repeat, and with the time that is left."""
    from ortools.sat.python import cp_model

    from gpunet.solver.engines import SEED

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    left = clock.left()
    if left is not None:
        solver.parameters.max_time_in_seconds = left
    return solver


def _minimise(model: _Model, goal: Any, clock: Clock) -> tuple[Status, Choice | None, float | None]:
    from ortools.sat.python import cp_model

    from gpunet.solver.engines import EngineError, broken

    solver = new_solver(clock)
    model.cp.minimize(goal)
    status = solver.solve(model.cp)
    while status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        # The racks opened only bound those that the choice needs; it is told which it lacks, and solves again.
        choice = _choice(model, solver)
        cuts = choice.racks_lacking(model.data, [solver.value(r) for r in model.racks])
        if not cuts:
            break
        if status == cp_model.FEASIBLE:
            if broken(model.data, choice):
                return Status.NO_SOLUTION, None, solver.best_objective_bound
            break
        model.told(cuts)
        left = clock.left()
        if left is not None:
            solver.parameters.max_time_in_seconds = left
        status = solver.solve(model.cp)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        ended = Status.OPTIMAL if status == cp_model.OPTIMAL else Status.FEASIBLE
        return ended, _choice(model, solver), solver.best_objective_bound
    if status == cp_model.INFEASIBLE:
        return Status.INFEASIBLE, None, None
    if status == cp_model.UNKNOWN:
        return Status.NO_SOLUTION, None, None
    raise EngineError(f"CP-SAT ended with {solver.status_name(status)}")


def _choice(model: _Model, solver: Any) -> Choice:
    """What the solver has found."""
    chosen = {
        fabric: model.data.templates[fabric][solver.value(index)]
        for fabric, index in model.index.items()
        if solver.value(index) != model.none[fabric]
    }
    return Choice(chosen, {key: [solver.value(v) for v in vs] for key, vs in model.blocks.items()})


def _load(loads: dict[int, int], t: Template) -> int:
    return loads.get(id(t), 0)
