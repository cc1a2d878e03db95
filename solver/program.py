r"""The mixed-integer program, one function per constraint family.

Symbols: f fabric, t template, k link class, w way to build a block, p part.

z[t]   in {0,1}   template t is chosen
x[k,w] in Z+      blocks of class k built by way w
y[p]   in Z+      pieces of part p taken from owned stock
n[t,k]            blocks of class k that template t needs

The objective is written as excess over the least weight of each fabric and class, so that the solver compares
cents with cents instead of hundreds of millions with each other; the constant is added back in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpunet.models.case import FabricName, Objective
from gpunet.solver.instance import Choice, Instance, Key
from gpunet.solver.links import Way
from gpunet.solver.network_racks import Cut
from gpunet.solver.program_plant import tray_fill
from gpunet.solver.program_purchase import (
    beyond_list,
    offers,
    orders,
    owned_stock,
    spares,
    split_limit,
    supplier_limit,
    supply,
    vendor_discounts,
)
from gpunet.solver.program_room import network_racks, network_space, rack_limit, top_of_rack_space
from gpunet.solver.template import Template


class Family(NamedTuple):
    """A constraint family under the name its user knows it by."""

    name: str
    setting: str
    """Field of the case that it comes from; '' when it is physics."""
    build: Callable[[Formulation], None]


@dataclass
class Formulation:
    """The program under construction. Keeps every variable alive and findable by what it means."""

    data: Instance
    prob: Any
    z: dict[FabricName, list[Any]] = field(default_factory=dict)
    x: dict[Key, list[Any]] = field(default_factory=dict)
    y: dict[str, Any] = field(default_factory=dict)
    s: dict[str, Any] = field(default_factory=dict)
    """Spares of a part, an expression."""
    order: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)
    """Of a part that has terms of sale, by price step: whether it is the step reached, and the pieces ordered."""
    offered: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    """Of a part that suppliers offer, by offer: the supplier, and whether anything is bought of it, an expression."""
    fixed: dict[str, Any] = field(default_factory=dict)
    """Pieces that every design has of an offered adapter, a variable with one value."""
    saved: list[tuple[Instance, Any]] = field(default_factory=list)
    """What vendors take off, cents, an expression by the instance whose prices it is at."""
    racks: list[Any] = field(default_factory=list)
    """Network racks in each zone of a group of zones, where they have a price or a limit."""
    rows: int = 0

    def add(self, family: str, row: Any) -> None:
        """Add one row, named by its family and a number."""
        self.rows += 1
        self.prob += row, f"{family}__{self.rows}"

    def var(self, name: str, upper: float | None, binary: bool = False) -> Any:
        """A new integer or 0/1 variable."""
        from pulp import LpBinary, LpInteger

        return self.prob.add_variable(name, 0, 1 if binary else upper, LpBinary if binary else LpInteger)

    def chosen(self, fabrics: Iterable[FabricName] | None = None) -> Iterable[tuple[Template, Any]]:
        """Every template with its variable."""
        for fabric in fabrics if fabrics is not None else self.z:
            yield from zip(self.data.templates[fabric], self.z[fabric], strict=True)

    def built(self) -> Iterable[tuple[Way, Any]]:
        """Every way of every class with its variable."""
        for key, variables in self.x.items():
            yield from zip(self.data.ways[key], variables, strict=True)

    def total(self, objective: Objective) -> Any:
        """A total of the network as an expression, fixed parts not included."""
        from pulp import lpSum

        data = self.data
        switches = lpSum(data.weights[id(t)].of(objective) * z for t, z in self.chosen())
        links = lpSum(w.weight.of(objective) * x for w, x in self.built())
        if objective is Objective.POWER:
            return switches + links
        return switches + links + self.beyond(data)

    def beyond(self, there: Instance) -> Any:
        """What is paid beyond every piece at its price, cents, as an expression, at the prices of an instance."""
        found: Any = beyond_list(self, there) if there.terms else 0
        priced = there.racks is not None and there.racks.cents
        return found + self.network_racks() * priced if priced else found

    def network_racks(self) -> Any:
        """Network racks as an expression."""
        from pulp import lpSum

        assert self.data.racks is not None
        return lpSum(len(g.zones) * r for g, r in zip(self.data.racks.groups, self.racks, strict=True))

    def told(self, cuts: Iterable[Cut]) -> None:
        """Add what is known of the racks that some choices need."""
        from pulp import lpSum

        for cut in cuts:
            members = [z for t, z in self.chosen(cut.members) if id(t) in cut.members[t.fabric]]
            all_of_them = lpSum(members) - (len(cut.members) - 1)
            self.add("network_racks", cut.racks * all_of_them - self.racks[cut.group] <= 0)

    def pieces(self, part: str) -> Any:
        """Pieces of a part in the design, of adapters only those that suppliers offer, as an expression."""
        from pulp import lpSum

        switches = lpSum(t.switches[part] * z for t, z in self.chosen() if part in t.switches)
        links = lpSum(dict(w.parts)[part] * x for w, x in self.built() if part in dict(w.parts))
        return switches + links + self.fixed[part] if part in self.fixed else switches + links

    def total_at(self, there: Instance, objective: Objective) -> Any:
        """A total of the network at the weights of another instance, one of the same templates and ways."""
        from pulp import lpSum

        switches = lpSum(
            there.weights[id(t)].of(objective) * z
            for fabric, zs in self.z.items()
            for t, z in zip(there.templates[fabric], zs, strict=True)
        )
        links = lpSum(
            w.weight.of(objective) * x for key, xs in self.x.items() for w, x in zip(there.ways[key], xs, strict=True)
        )
        return switches + links + self.beyond(there)


def one_template(f: Formulation) -> None:
    r"""Every fabric has one template; storage has none where the backend carries it.

    sum_t z[t] = 1 for every fabric; for storage = sum of z over backends that do not carry storage.
    """
    from pulp import lpSum

    for fabric, variables in f.z.items():
        if fabric is FabricName.STORAGE and f.data.storage_optional:
            alone = lpSum(z for t, z in f.chosen([FabricName.BACKEND]) if not t.carries_storage)
            f.add("one_template", lpSum(variables) - alone == 0)
        else:
            f.add("one_template", lpSum(variables) == 1)


def every_link_built(f: Formulation) -> None:
    r"""Every block is built some way.

    sum_w x[k,w] = sum_t n[t,k] z[t] for every class k
    """
    from pulp import lpSum

    for key, variables in f.x.items():
        need = lpSum(n * z for t, z in f.chosen() if (n := f.data.need(key, t)))
        f.add("every_link_built", lpSum(variables) - need == 0)


def management_ports(f: Formulation) -> None:
    r"""The out-of-band leaves have a port for every BMC, every PDU and every switch.

    sum_{t in oob} c[t] z[t] >= c0 + sum_t s[t] z[t]   in the rows;   the same without c0 in the central zone
    s[t] switches of t served there; c[t] ports of t there; c0 ports for BMCs and PDUs
    """
    from pulp import lpSum

    management = f.data.management
    if management is None:
        return
    oob = list(f.chosen([FabricName.OOB]))
    in_rows = lpSum(t.facts.row_switches * z for t, z in f.chosen())
    central = lpSum(t.facts.central_switches * z for t, z in f.chosen())
    f.add("management_ports", lpSum(management.row_ports(t) * z for t, z in oob) - in_rows >= management.fixed_ports)
    f.add("management_ports", lpSum(management.central_ports(t) * z for t, z in oob) - central >= 0)


def cost_ceiling(f: Formulation) -> None:
    r"""The network costs no more than limits.cost_usd.

    sum_t c[t] z[t] + sum_kw c[w] x[k,w] - sum_p c[p] y[p] <= limit - adapters
    """
    if f.data.cost_limit is not None:
        f.add("cost_ceiling", f.total(Objective.COST) <= f.data.cost_limit - f.data.fixed.cost)


def power_ceiling(f: Formulation) -> None:
    r"""The network draws no more than limits.power_kw, modules at both ends included.

    sum_t q[t] z[t] + sum_kw q[w] x[k,w] <= limit
    """
    if f.data.power_limit is not None:
        f.add("power_ceiling", f.total(Objective.POWER) <= f.data.power_limit)


def site_power(f: Formulation) -> None:
    r"""Machines and network draw no more than site.power_kw.

    sum_t q[t] z[t] + sum_kw q[w] x[k,w] <= site - machines
    """
    if f.data.site_limit is not None:
        f.add("site_power", f.total(Objective.POWER) <= f.data.site_limit - f.data.servers_mw)


def _limit_distinct(f: Formulation, name: str, most: int, label: Callable[[str], str]) -> None:
    """At most ``most`` labels are used: a 0/1 per label, opened by every template and way that carries it."""
    from pulp import lpSum

    fixed = {label(p) for p in f.data.fixed_parts}
    templates: dict[tuple[str, FabricName], list[Any]] = {}
    ways: dict[tuple[str, Key], list[Any]] = {}
    for t, z in f.chosen():
        for tag in {label(p) for p in t.switches} - fixed:
            templates.setdefault((tag, t.fabric), []).append(z)
    for key, variables in f.x.items():
        for way, x in zip(f.data.ways[key], variables, strict=True):
            for tag in {label(p) for p, _ in way.parts} - fixed:
                ways.setdefault((tag, key), []).append(x)
    tags = sorted({tag for tag, _ in templates} | {tag for tag, _ in ways})
    used = {tag: f.var(f"{name}_{i}", 1, binary=True) for i, tag in enumerate(tags)}
    # A fabric has at most one template and a class at most so many blocks, so one row each is enough, and tight.
    for (tag, _), zs in templates.items():
        f.add(name, lpSum(zs) - used[tag] <= 0)
    for (tag, key), xs in ways.items():
        f.add(name, lpSum(xs) - f.data.most(key) * used[tag] <= 0)
    f.add(name, lpSum(used.values()) <= most - len(fixed))


def vendor_limit(f: Formulation) -> None:
    r"""At most limits.vendors vendors.

    sum_v u[v] <= limit;  sum_{t of f with v} z[t] <= u[v];  sum_{w with v} x[k,w] <= N[k] u[v]
    """
    if f.data.case.limits.vendors is not None:
        _limit_distinct(f, "vendor_limit", f.data.case.limits.vendors, f.data.vendor)


def sku_limit(f: Formulation) -> None:
    r"""At most limits.skus distinct parts.

    sum_p u[p] <= limit;  sum_{t of f with p} z[t] <= u[p];  sum_{w with p} x[k,w] <= N[k] u[p]
    """
    if f.data.case.limits.skus is not None:
        _limit_distinct(f, "sku_limit", f.data.case.limits.skus, lambda part: part)


FAMILIES: tuple[Family, ...] = (
    Family("one_template", "", one_template),
    Family("every_link_built", "", every_link_built),
    Family("management_ports", "", management_ports),
    Family("spares", "spares", spares),
    Family("owned_stock", "owned", owned_stock),
    Family("orders", "terms.price_breaks, terms.minimum_order, terms.packs", orders),
    Family("offers", "quotes, buying.at_list", offers),
    Family("supplier_limit", "buying.max_suppliers", supplier_limit),
    Family("split_limit", "buying.max_split_lines", split_limit),
    Family("supply", "supply", supply),
    Family("vendor_discounts", "terms.vendor_discounts", vendor_discounts),
    Family("network_space", "site.network_racks_per_row, site.network_racks_central", network_space),
    Family("top_of_rack_space", "site.rack", top_of_rack_space),
    Family("network_racks", "site.rack.cost_usd, limits.racks", network_racks),
    Family("tray_fill", "site.tray", tray_fill),
    Family("cost_ceiling", "limits.cost_usd", cost_ceiling),
    Family("power_ceiling", "limits.power_kw", power_ceiling),
    Family("site_power", "site.power_kw", site_power),
    Family("rack_limit", "limits.racks", rack_limit),
    Family("vendor_limit", "limits.vendors", vendor_limit),
    Family("sku_limit", "limits.skus", sku_limit),
)


def formulate(data: Instance, without: frozenset[str] = frozenset()) -> Formulation:
    """Build the program, leaving out the families named in ``without``."""
    from pulp import LpMinimize, LpProblem

    f = Formulation(data, LpProblem("gpunet", LpMinimize))
    for fabric, templates in data.templates.items():
        f.z[fabric] = [f.var(f"z_{fabric.value}_{i}", 1, binary=True) for i in range(len(templates))]
    for k, (key, ways) in enumerate(data.ways.items()):
        most = f.data.most(key)
        f.x[key] = [f.var(f"x_{k}_{w}", most) for w in range(len(ways))]
    for i, (part, quantity) in enumerate(sorted(data.owned.items())):
        f.y[part] = f.var(f"y_{i}", quantity)
    for i, (part, quantity) in enumerate(data.fixed_pieces.items()):
        # As a variable, for a constant in the objective would be lost on the way to some solvers.
        f.fixed[part] = f.prob.add_variable(f"fixed_{i}", quantity, quantity, "Integer")
    for family in FAMILIES:
        if family.name not in without:
            family.build(f)
    return f


def set_objective(f: Formulation, objective: Objective) -> int:
    """Minimise the excess over the least weight of every class; return the constant left out."""
    from pulp import lpSum

    data = f.data
    least = {key: min(w.weight.of(objective) for w in ways) for key, ways in data.ways.items()}
    base = {
        id(t): data.weights[id(t)].of(objective) + sum(least[key] * data.need(key, t) for key in data.ways)
        for t, _ in f.chosen()
    }
    constant = data.fixed.of(objective)
    shift: dict[FabricName, int] = {}
    for fabric, templates in data.templates.items():
        # A constant per fabric may be taken out only where the fabric always has a template.
        always = not (fabric is FabricName.STORAGE and data.storage_optional)
        shift[fabric] = min((base[id(t)] for t in templates), default=0) if always else 0
        constant += shift[fabric]
    excess = lpSum((base[id(t)] - shift[t.fabric]) * z for t, z in f.chosen())
    extra = lpSum(
        (w.weight.of(objective) - least[key]) * x
        for key, variables in f.x.items()
        for w, x in zip(data.ways[key], variables, strict=True)
        if w.weight.of(objective) != least[key]
    )
    goal = excess + extra
    if objective is not Objective.POWER:
        goal = goal + f.beyond(data)
    f.prob.setObjective(goal)
    return constant


def set_tie_break(f: Formulation) -> None:
    """Minimise the rank of what is chosen: templates first in rank order, then ways in part order."""
    from pulp import lpSum

    blocks = 1 + sum(f.data.most(key) * max(0, len(ways) - 1) for key, ways in f.data.ways.items())
    templates = lpSum(i * blocks * z for zs in f.z.values() for i, z in enumerate(zs) if i)
    ways = lpSum(i * x for xs in f.x.values() for i, x in enumerate(xs) if i)
    stock = [y for part, y in f.y.items() if f.data.terms[part].is_stock_alone]
    f.prob.setObjective(templates + ways - lpSum(stock) if stock else templates + ways)


def read_choice(f: Formulation, value: Callable[[Any], float]) -> Choice:
    """Round a solution to integers. Raises ValueError when a value is not near an integer."""

    def whole(variable: Any) -> int:
        v = value(variable)
        if abs(v - round(v)) > 1e-4:
            raise ValueError(f"{variable.name} = {v} is not an integer")
        return round(v)

    chosen = {}
    for fabric, templates in f.data.templates.items():
        picked = [t for t, z in zip(templates, f.z[fabric], strict=True) if whole(z)]
        if picked:
            chosen[fabric] = picked[0]
    return Choice(chosen, {key: [whole(x) for x in xs] for key, xs in f.x.items()})
