"""The compiled problem: templates, link classes with their ways, and what the fabrics share.

Engines see nothing but this, so they cannot disagree about the case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gpunet.models.case import Case, FabricName
from gpunet.models.evidence import usd_to_cents, watts_to_milliwatts
from gpunet.models.parts import Catalog
from gpunet.models.terms import Buying
from gpunet.solver.demand import Machines
from gpunet.solver.links import Way
from gpunet.solver.network_racks import Cut, NetworkRacks
from gpunet.solver.order import order_all
from gpunet.solver.prices import PriceList, Weight
from gpunet.solver.purchase import PartTerms
from gpunet.solver.template import LinkClass, Template
from gpunet.solver.vendor_discounts import saved_cents


class Key(NamedTuple):
    """A link class of one fabric."""

    fabric: FabricName
    link: LinkClass


@dataclass
class Management:
    """Links of the out-of-band fabric that other fabrics bring: one per switch."""

    in_rows: Key
    """Class of the management links of switches served from the rows."""
    central: Key
    """The same for switches served from the central zone."""
    fixed_ports: int
    """Ports for server BMCs and PDUs, growth included."""
    leaf_ports: dict[int, int]
    """Access ports of one leaf, by id of the out-of-band template."""

    def switches(self, key: Key, t: Template) -> int:
        """Links of class ``key`` that a template brings; 0 for any other class."""
        if key == self.in_rows:
            return t.facts.row_switches
        return t.facts.central_switches if key == self.central else 0

    def row_ports(self, t: Template) -> int:
        """Access ports that an out-of-band template has in the rows."""
        return (t.n_leaves - t.central_leaves) * self.leaf_ports[id(t)]

    def central_ports(self, t: Template) -> int:
        """Access ports that an out-of-band template has in the central zone."""
        return t.central_leaves * self.leaf_ports[id(t)]


@dataclass
class Instance:
    """One problem for an engine."""

    case: Case
    catalog: Catalog
    machines: Machines
    prices: PriceList
    templates: dict[FabricName, list[Template]]
    """Candidates by fabric, in rank order."""
    weights: dict[int, Weight]
    """Weight of a template's switches, by id of the template."""
    ways: dict[Key, tuple[Way, ...]]
    """Ways to build one block of each link class, in a fixed order."""
    fixed: Weight
    """What every design carries: adapters, those in the house at no cost."""
    fixed_parts: dict[str, int]
    """Adapters by part."""
    storage_optional: bool
    """True when the backend may carry storage instead of a storage fabric of its own."""
    management: Management | None
    terms: dict[str, PartTerms] = field(default_factory=dict)
    """Stock, spares, supply and terms of sale of the parts that have any; of adapters, which are fixed, only those
    that suppliers offer or that count towards the discount of their vendor."""
    racks: NetworkRacks | None = None
    """Network racks and their price; none where they have neither a price nor a limit."""
    trays: dict[str, int] = field(default_factory=dict)
    """What cables may fill of every section of tray, hundredths of mm²; empty where the case limits none."""

    @property
    def owned(self) -> dict[str, int]:
        """Pieces in the house, by part."""
        return {part: terms.owned for part, terms in self.terms.items() if terms.owned}

    @property
    def fixed_pieces(self) -> dict[str, int]:
        """Adapters of which what they cost is decided with everything else, by part: who delivers them, or what their
        vendor takes off."""
        return {part: n for part, n in sorted(self.fixed_parts.items()) if part in self.terms}

    @property
    def buying(self) -> Buying | None:
        """How the order is split among suppliers."""
        return self.case.buying

    @property
    def servers_mw(self) -> int:
        """Largest draw of the machines themselves, mW."""
        storage = self.case.fabrics.storage
        each = watts_to_milliwatts(storage.storage_server_w) if storage else 0
        return self.machines.n_servers * self.machines.server.power_max_w.milli + self.machines.n_storage * each

    @property
    def cost_limit(self) -> int | None:
        """Ceiling on cost, cents."""
        limit = self.case.limits.cost_usd
        return None if limit is None else usd_to_cents(limit)

    @property
    def power_limit(self) -> int | None:
        """Ceiling on the network's power, mW."""
        limit = self.case.limits.power_kw
        return None if limit is None else watts_to_milliwatts(limit * 1000)

    @property
    def site_limit(self) -> int | None:
        """Ceiling on the power of network and machines, mW."""
        limit = self.case.site.power_kw
        return None if limit is None else watts_to_milliwatts(limit * 1000)

    def passes(self, key: Key, section: str) -> bool:
        """Whether the blocks of a class pass a section of tray."""
        trays = key.link.shape.trays
        return trays is not None and section in trays.sections

    def need(self, key: Key, t: Template) -> int:
        """Blocks of class ``key`` that a template of any fabric needs."""
        if self.management is not None and key in (self.management.in_rows, self.management.central):
            return self.management.switches(key, t)
        return t.facts.blocks.get(key.link, 0) if t.fabric is key.fabric else 0

    def most(self, key: Key) -> int:
        """Most blocks of a class that any choice can need."""
        return sum(max((self.need(key, t) for t in ts), default=0) for ts in self.templates.values())

    def vendor(self, part: str) -> str:
        """Vendor of a part; a stock length has the vendor of its cable or fibre."""
        from gpunet.catalogs import split_medium_id

        c = self.catalog
        base, _ = split_medium_id(part)
        for table in (c.switches, c.modules, c.nics, c.cables, c.fibres, c.accessories):
            item = table.get(part) or table.get(base)
            if item is not None:
                return item.vendor
        raise KeyError(part)


@dataclass
class Choice:
    """What an engine decided: one template per fabric, and blocks per way."""

    templates: dict[FabricName, Template]
    built: dict[Key, list[int]]
    """Blocks by way, aligned with ``Instance.ways``."""

    def weight(self, instance: Instance) -> Weight:
        """Totals of the choice in integers, every piece at its price."""
        total = instance.fixed
        for t in self.templates.values():
            total += instance.weights[id(t)]
        for key, counts in self.built.items():
            for way, n in zip(instance.ways[key], counts, strict=True):
                total += way.weight.times(n)
        return total

    def tray_loads(self, instance: Instance) -> dict[str, int]:
        """What lies in every section of tray that is limited, hundredths of mm²."""
        return {
            section: sum(
                way.tray_load * n
                for key, counts in self.built.items()
                if instance.passes(key, section)
                for way, n in zip(instance.ways[key], counts, strict=True)
            )
            for section in instance.trays
        }

    def parts(self, instance: Instance) -> dict[str, int]:
        """Quantity of every part."""
        found = dict(instance.fixed_parts)
        for t in self.templates.values():
            for part, n in t.switches.items():
                found[part] = found.get(part, 0) + n
        for key, counts in self.built.items():
            for way, n in zip(instance.ways[key], counts, strict=True):
                for part, pieces in way.parts if n else ():
                    found[part] = found.get(part, 0) + pieces * n
        return found

    def net(self, instance: Instance) -> Weight:
        """Totals of what is bought: stock, spares and terms of sale counted. Raises KeyError where supply ends before
        the need.
        """
        total = self.weight(instance)
        if instance.racks is not None:
            racks = instance.racks.cents * instance.racks.count(self.templates)
            total += Weight(racks, 0, racks)
        if not instance.terms:
            return total
        beyond, parts = 0, self.parts(instance)
        orders = order_all(instance.terms, parts, instance.buying)
        for part, purchase in orders.items():
            if purchase is None:
                raise KeyError(part)
            beyond += purchase.cents - instance.terms[part].counted_cents * parts.get(part, 0)
        beyond -= saved_cents(instance.terms, orders)
        return Weight(total.cost + beyond, total.power, total.tco + beyond)

    def racks_lacking(self, instance: Instance, opened: Sequence[int]) -> list[Cut]:
        """What an engine that opened so many racks in each group of zones is to be told, and solve again."""
        if instance.racks is None:
            return []
        return instance.racks.lacking(self.templates, opened)

    def short_of(self, instance: Instance) -> list[str]:
        """Parts of which fewer can be had than the choice needs, within the limits on suppliers."""
        parts = self.parts(instance)
        return sorted(p for p, x in order_all(instance.terms, parts, instance.buying).items() if x is None)
