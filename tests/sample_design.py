"""Designs wired by hand on a small catalogue, for tests of the verifier and of design files.

Parts come from ``tiny_catalog``; added are management switches and cords, and parts that must be refused.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from tiny_catalog import MPO, SRC, fact, lengths, price, tiny_catalog

from gpunet.models.case import Case
from gpunet.models.design import (
    BomLine,
    Design,
    FabricDesign,
    InterconnectLine,
    ObjectiveValue,
    Result,
    Status,
    Tier,
    Totals,
)
from gpunet.models.ledger import Device, Ledger, Link, RackPlace, Seat
from gpunet.models.parts import (
    Cable,
    CableEnd,
    CableKind,
    CageGroup,
    Catalog,
    FormFactor,
    How,
    PortMode,
    Protocol,
    ServerCages,
    ServerRole,
    Shell,
)

CASE: dict[str, Any] = {
    "name": "by-hand",
    "cluster": {"servers": 4, "server": "server-2"},
    "fabrics": {"backend": {"topologies": ["rail-optimized"]}, "oob": {}},
    "site": {"rack": {"units": 20, "power_kw": 12}, "power_kw": 20, "fibre": ["OM4", "OS2"]},
}


def hand_catalog() -> Catalog:
    """The tiny catalogue with a management switch, a cord, storage cages on the server, and parts to be refused."""
    tiny = tiny_catalog()
    rj45 = CageGroup(
        name="access",
        count=16,
        form_factor=FormFactor.RJ45,
        shell=Shell.NONE,
        host_lanes=1,
        lane_gbps=1,
        modes=(PortMode(ports=1, speed_gbps=1, lanes=1, lane_gbps=1),),
        how=How.ESTIMATED,
        src=SRC,
    )
    oob = tiny.switches["eth-tiny-8"].model_copy(
        update={"id": "oob-16", "cages": (rj45,), "power_chassis_max_w": fact(40), "price": price(500)}
    )
    end = CableEnd(form_factor=FormFactor.RJ45, shell=Shell.NONE, lanes=1, lane_gbps=10, power_w=fact(0))
    cord = Cable(
        id="cord",
        vendor="lumen",
        model="CORD",
        kind=CableKind.COPPER,
        protocols=(Protocol.ETHERNET,),
        end_a=end,
        end_b=end,
        links_per_assembly=1,
        lengths=lengths({2: 3, 10: 8}),
    )
    server = tiny.servers["server-2"]
    nics = server.cages[0].cages
    storage = ServerCages(role=ServerRole.STORAGE, cages=nics.model_copy(update={"name": "storage", "count": 1}))
    twin, flat = tiny.modules["twin-sr4"], tiny.modules["flat-sr4"]
    sr4 = tiny.interfaces["400G-SR4"]
    changes: dict[str, dict[str, Any]] = {
        "400G-SR8": {"lanes": 8, "gbps_per_lane": 50, "lane_class": "MMF 8 lanes PAM4 50G"},
        "400G-SR4-DR": {"tier": "DR"},
        "400G-SR4-FEC": {"fec": "RS(528,514)"},
    }
    faces = {name: sr4.model_copy(update={"id": name, **change}) for name, change in changes.items()}
    refused = {
        "twin-hdr": twin.model_copy(update={"id": "twin-hdr", "interface": "400G-SR8"}),
        "twin-50g-host": twin.model_copy(update={"id": "twin-50g-host", "host_lane_gbps": 50}),
        "twin-rhs": twin.model_copy(update={"id": "twin-rhs", "shell": Shell.RHS}),
        "single-ihs": flat.model_copy(update={"id": "single-ihs", "shell": Shell.IHS}),
        "twin-hot": twin.model_copy(update={"id": "twin-hot", "power_max_w": fact(19)}),
        "twin-lpo": twin.model_copy(update={"id": "twin-lpo", "retiming": "linear"}),
        "twin-upc": twin.model_copy(update={"id": "twin-upc", "connector": MPO.model_copy(update={"polish": "UPC"})}),
        "twin-eth": twin.model_copy(update={"id": "twin-eth", "protocols": (Protocol.ETHERNET,)}),
    }
    return tiny.model_copy(
        update={
            "switches": {**tiny.switches, "oob-16": oob},
            "cables": {**tiny.cables, "cord": cord},
            "servers": {"server-2": server.model_copy(update={"cages": (*server.cages, storage)})},
            "modules": {**tiny.modules, **refused},
            "interfaces": {**tiny.interfaces, **faces},
        }
    )


class Bench:
    """Wires a ledger: seats follow from the links, pieces are numbered as they are laid."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.ledger = Ledger()
        self._pieces = 0
        self._unit: Counter[str] = Counter()

    def place(self, name: str, x_m: float, y_m: float) -> str:
        """A rack."""
        self.ledger.places.append(RackPlace(name, x_m, y_m))
        return name

    def device(
        self, name: str, kind: str, part: str, rack: str, *, fabric: str = "", tier: str = "", group: int = -1
    ) -> str:
        """A box in the next free units of a rack."""
        units = {"server": 4, "storage-server": 2, "switch": 1}.get(kind, 0)
        unit = self._unit[rack] + 1 if units else 0
        self._unit[rack] += units
        self.ledger.devices.append(Device(name, kind, part, fabric, tier, group, rack, unit, units))
        return name

    def link(
        self,
        fabric: str,
        link_class: str,
        speed_gbps: float,
        a: tuple[str, str, int, int],
        b: tuple[str, str, int, int],
        medium: str,
        *,
        same_piece: bool = False,
    ) -> None:
        """One link; ``same_piece`` lays it over the piece of the link before."""
        self._pieces += not same_piece
        length_m = float(medium.rsplit("-n", 1)[1])
        self.ledger.links.append(Link(fabric, link_class, speed_gbps, *a, *b, self._pieces, medium, length_m))

    def seat(self, device: str, group: str, cage: int, part: str) -> None:
        """One module."""
        self.ledger.seats.append(Seat(device, group, cage, part))

    def manage(self, rack: str) -> None:
        """A management switch with a port for every server, switch and PDU there is."""
        self.device("oob-leaf-1", "switch", "oob-16", rack, fabric="oob", tier="leaf", group=0)
        groups = {"server": "bmc", "switch": "mgmt", "pdu": "mgmt"}
        owed = [d for d in self.ledger.devices if d.kind in groups and d.fabric != "oob"]
        for port, device in enumerate(owed, start=1):
            cord = "cord-n002" if device.rack == rack else "cord-n010"
            a, b = ("oob-leaf-1", "access", port, 1), (device.name, groups[device.kind], 1, 1)
            self.link("oob", "endpoint-leaf", 1, a, b, cord)


def complete(case: Case, catalog: Catalog, ledger: Ledger, fabrics: dict[str, dict[str, Any]]) -> Design:
    """A design whose bill and totals are counted from the ledger in the plainest way."""
    media = {(link.assembly, link.medium) for link in ledger.links}
    count = Counter(d.part for d in ledger.devices if d.kind == "switch")
    count += Counter(s.part for s in ledger.seats) + Counter(m for _, m in media)
    for adapter in ledger.adapters:
        count[adapter.part] += adapter.quantity
    owned = {o.part: o.quantity for o in case.owned}
    bom = []
    for part, quantity in sorted(count.items()):
        have = min(owned.get(part, 0), quantity)
        usd = _usd(case, catalog, part)
        bom.append(
            BomLine(
                part=part,
                kind="part",
                quantity=quantity,
                owned=have,
                unit_price_usd=usd,
                extended_usd=round((quantity - have) * usd, 2),
                price_source=SRC,
                price_date="2026",
                price_how="estimated",
            )
        )
    cost = round(sum(line.extended_usd for line in bom), 2)
    switches = [catalog.switches[d.part] for d in ledger.devices if d.kind == "switch"]
    modules = [catalog.modules[s.part] for s in ledger.seats]
    ends = [w for w in (_cable_end_w(catalog, link) for link in {x.assembly: x for x in ledger.links}.values()) if w]
    draws = (
        [s.power_chassis_max_w.v for s in switches] + [m.power_max_w.v for m in modules] + [w for e in ends for w in e]
    )
    typical = (
        sum(s.power_chassis_typ_w.v for s in switches) + sum(m.power_typ_w.v for m in modules) + sum(map(sum, ends))
    )
    tco, years = case.tco, case.tco.years
    energy = sum(round(years * 8766 * w / 1000 * tco.pue * tco.usd_per_kwh, 2) for w in draws)
    support = sum(round(years * tco.support_rate * _usd(case, catalog, s.id), 2) for s in switches)
    result = Result(
        case=case.name,
        status=Status.OPTIMAL,
        gap=0.0,
        objective=ObjectiveValue(name="cost", value=cost),
        totals=Totals(
            cost_usd=cost,
            power_max_w=round(sum(draws), 3),
            power_typical_w=round(typical, 3),
            rack_units=len(switches),
            tco_usd=round(cost + energy + support, 2),
        ),
        fabrics={name: _fabric(name, ledger, **known) for name, known in fabrics.items()},
        bom=tuple(bom),
        catalog_version=catalog.version,
        gpunet_version="0",
        engine="hand",
    )
    return Design(case, result, ledger)


def _usd(case: Case, catalog: Catalog, part: str) -> float:
    if part in case.prices.overrides_usd:
        return case.prices.overrides_usd[part]
    whole = catalog.switches.get(part) or catalog.modules.get(part) or catalog.nics.get(part)
    if whole is not None:
        assert whole.price is not None
        found, vendor = whole.price, whole.vendor
    else:
        base, metres = part.rsplit("-n", 1)
        medium = catalog.fibres.get(base) or catalog.cables[base]
        found, vendor = next(s.price for s in medium.lengths if s.length_m == float(metres)), medium.vendor
    return round(found.mid_usd * (1 - case.prices.discounts.get(vendor, 0)), 2)


def _cable_end_w(catalog: Catalog, link: Link) -> tuple[float, float] | None:
    cable = catalog.cables.get(link.medium.rsplit("-n", 1)[0])
    return (cable.end_a.power_w.v, cable.end_b.power_w.v * cable.end_b.count) if cable else None


def _fabric(name: str, ledger: Ledger, **known: Any) -> FabricDesign:
    built = Counter((d.tier, d.part) for d in ledger.devices if d.kind == "switch" and d.fabric == name)
    tiers = tuple(
        Tier(tier=tier, switch=part, count=n, down_ports=0, up_ports=0) for (tier, part), n in sorted(built.items())
    )
    seats = {(s.device, s.group, s.cage): s.part for s in ledger.seats}
    links = Counter(link.link_class for link in ledger.links if link.fabric == name)
    lines = Counter(
        (
            x.link_class,
            x.length_m,
            x.speed_gbps,
            seats.get((x.a_device, x.a_group, x.a_cage)),
            x.medium,
            seats.get((x.b_device, x.b_group, x.b_cage)),
        )
        for x in ledger.links
        if x.fabric == name
    )
    interconnects = tuple(
        InterconnectLine(link_class=k, length_m=m, speed_gbps=g, count=n, a_part=a, medium=medium, b_part=b)
        for (k, m, g, a, medium, b), n in lines.items()
    )
    fields = {"protocol": "ethernet", "topology": "leaf-spine", "oversubscription": 1.0, "hops": 1, "latency_ns": None}
    return FabricDesign(**{**fields, "tiers": tiers, "links": dict(links), "interconnects": interconnects, **known})


def two_by_two(case: dict[str, Any] | None = None, catalog: Catalog | None = None) -> Design:
    """4 servers with 2 rails, 2 leaves of 4 down and 4 up, 2 spines, 2 links between every leaf and spine."""
    catalog = catalog or hand_catalog()
    bench = Bench(catalog)
    servers, network = bench.place("r01-c01", 0, 0), bench.place("r01-n01", 0.6, 0)
    for i in range(1, 5):
        bench.device(f"server-{i}", "server", "server-2", servers)
    for i in (1, 2):
        bench.device(f"pdu-{i}", "pdu", "", servers)
    for i in (1, 2):
        bench.device(f"leaf-{i}", "switch", "ib-tiny-8", network, fabric="backend", tier="leaf", group=0)
    for i in (1, 2):
        bench.device(f"spine-{i}", "switch", "ib-tiny-8", network, fabric="backend", tier="spine")
    for rail in (1, 2):
        for server in range(1, 5):
            cage, port = (server + 1) // 2, 2 - server % 2
            a, b = (f"leaf-{rail}", "fabric", cage, port), (f"server-{server}", "backend", rail, 1)
            bench.link("backend", "endpoint-leaf", 400, a, b, "mpo-om4-n010")
            bench.seat(f"server-{server}", "backend", rail, "flat-sr4")
        for cage in (1, 2, 3, 4):
            bench.seat(f"leaf-{rail}", "fabric", cage, "twin-sr4")
        for spine in (1, 2):
            bench.seat(f"spine-{spine}", "fabric", rail, "twin-sr4")
            for port in (1, 2):
                up, down = (f"leaf-{rail}", "fabric", 2 + spine, port), (f"spine-{spine}", "fabric", rail, port)
                bench.link("backend", "leaf-spine", 400, up, down, "mpo-om4-n005")
    bench.manage(network)
    backend = {"protocol": "infiniband", "topology": "rail-optimized", "hops": 3}
    return complete(Case.model_validate(case or CASE), catalog, bench.ledger, {"backend": backend, "oob": {}})


def one_rack(link: str, case: dict[str, Any] | None = None) -> Design:
    """2 servers under one leaf: by splitter cable (``dac``), at 200G by splitter fibre (``split``), or by jumper."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    rack = bench.place("r01-c01", 0, 0)
    for i in (1, 2):
        bench.device(f"server-{i}", "server", "server-2", rack)
    bench.device("leaf-1", "switch", "ib-tiny-4", rack, fabric="backend", tier="leaf", group=0)
    speed, per_cage, medium = {
        "dac": (400, 2, "dac-twin-nic-n002"),
        "split": (200, 4, "mpo-om4-split-n005"),
        "straight": (400, 2, "mpo-om4-n005"),
    }[link]
    for number in range(4):
        server, nic, cage, port = number // 2 + 1, number % 2 + 1, number // per_cage + 1, number % per_cage + 1
        a, b = ("leaf-1", "fabric", cage, port), (f"server-{server}", "backend", nic, 1)
        bench.link("backend", "endpoint-leaf", speed, a, b, medium, same_piece=link != "straight" and number % 2 == 1)
        if link != "dac":
            bench.seat(f"server-{server}", "backend", nic, "flat-sr4")
            if port == 1:
                bench.seat("leaf-1", "fabric", cage, "twin-sr4")
    base = {"cluster": {"servers": 2, "server": "server-2"}, "fabrics": {"backend": {"speed_gbps": speed}}}
    backend = {"protocol": "infiniband", "topology": "leaf-spine"}
    return complete(Case.model_validate({**base, **(case or {})}), catalog, bench.ledger, {"backend": backend})


def two_pods(case: dict[str, Any] | None = None) -> Design:
    """8 servers, 2 pods of 2 leaves and 2 spines, 2 core planes of 1 core; every switch has 8 ports."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    rack = [bench.place(f"r01-c0{i}", 0.6 * i, 0) for i in (1, 2, 3)]
    for i in range(8):
        bench.device(f"server-{i + 1}", "server", "server-2", rack[i // 4])
    for tier, group in (("leaf", 0), ("leaf", 1), ("spine", 0), ("spine", 1)):
        for i in (1, 2):
            name = f"{tier}-{group + 1}-{i}"
            bench.device(name, "switch", "ib-tiny-4", rack[2], fabric="backend", tier=tier, group=group)
    for plane in (1, 2):
        bench.device(f"core-{plane}", "switch", "ib-tiny-4", rack[2], fabric="backend", tier="core", group=plane - 1)
    for pod in (1, 2):
        for i in (1, 2):
            for k in range(4):
                server = f"server-{4 * pod - 3 + k}"
                a, b = (f"leaf-{pod}-{i}", "fabric", k // 2 + 1, k % 2 + 1), (server, "backend", i, 1)
                bench.link("backend", "endpoint-leaf", 400, a, b, "mpo-om4-n010")
                bench.seat(server, "backend", i, "flat-sr4")
                port, up = k % 2 + 1, 3 + k // 2
                a, b = (f"leaf-{pod}-{i}", "fabric", up, port), (f"spine-{pod}-{k // 2 + 1}", "fabric", i, port)
                bench.link("backend", "leaf-spine", 400, a, b, "mpo-om4-n005")
                a, b = (f"spine-{pod}-{i}", "fabric", up, port), (f"core-{i}", "fabric", 2 * pod - 1 + k // 2, port)
                bench.link("backend", "spine-core", 400, a, b, "mpo-om4-n005")
    for device in bench.ledger.devices[8:]:
        for cage in (1, 2, 3, 4):
            bench.seat(device.name, "fabric", cage, "twin-sr4")
    base = {"cluster": {"servers": 8, "server": "server-2"}, "fabrics": {"backend": {}}}
    backend = {"protocol": "infiniband", "topology": "rail-optimized", "hops": 5}
    return complete(Case.model_validate({**base, **(case or {})}), catalog, bench.ledger, {"backend": backend})


def converged(sigma: float, storage_servers: int = 2) -> Design:
    """2 servers and storage servers on one leaf and one spine; 4 backend, 2 + 2 storage links down, 6 up."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    rack = bench.place("r01-c01", 0, 0)
    for i in (1, 2):
        bench.device(f"server-{i}", "server", "server-2", rack)
    for i in range(1, storage_servers + 1):
        bench.device(f"storage-{i}", "storage-server", "nic-400", rack)
    bench.device("leaf-1", "switch", "ib-tiny-8", rack, fabric="backend", tier="leaf", group=0)
    bench.device("spine-1", "switch", "ib-tiny-8", rack, fabric="backend", tier="spine")
    ends = [("backend", f"server-{s}", "backend", n) for s in (1, 2) for n in (1, 2)]
    ends += [("storage", f"server-{s}", "storage", 1) for s in (1, 2)]
    ends += [("storage", f"storage-{s}", "nic", 1) for s in range(1, storage_servers + 1)]
    for number, (fabric, device, group, cage) in enumerate(ends):
        a = ("leaf-1", "fabric", number // 2 + 1, number % 2 + 1)
        bench.link(fabric, "endpoint-leaf", 400, a, (device, group, cage, 1), "mpo-om4-n005")
        bench.seat(device, group, cage, "flat-sr4")
    for number in range(6):
        cage, port = number // 2, number % 2 + 1
        up, down = ("leaf-1", "fabric", 6 + cage, port), ("spine-1", "fabric", 1 + cage, port)
        bench.link("backend", "leaf-spine", 400, up, down, "mpo-om4-n005")
    for device, cages in (("leaf-1", (1, 2, 3, 4, 6, 7, 8)), ("spine-1", (1, 2, 3))):
        for cage in cages:
            bench.seat(device, "fabric", cage, "twin-sr4")
    storage = {"mode": "converged", "storage_servers": storage_servers, "oversubscription": sigma}
    case = {"cluster": {"servers": 2, "server": "server-2"}, "fabrics": {"backend": {}, "storage": storage}}
    shape = {"protocol": "infiniband", "hops": 3}
    known = {"backend": shape, "storage": {**shape, "shared_with": "backend"}}
    return complete(Case.model_validate(case), catalog, bench.ledger, known)


def with_ledger(design: Design, **tables: Any) -> Design:
    """The design with other tables in its ledger; the result stays as it is."""
    return Design(design.case, design.result, replace(design.ledger, **tables))


def with_links(design: Design, change: dict[int, dict[str, Any]]) -> Design:
    """The design with some links changed, by row."""
    links = [link._replace(**change.get(i, {})) for i, link in enumerate(design.ledger.links)]
    return with_ledger(design, links=links)


def without_links(design: Design, rows: set[int]) -> Design:
    """The design without some links."""
    return with_ledger(design, links=[link for i, link in enumerate(design.ledger.links) if i not in rows])


def with_module(design: Design, part: str, *cages: tuple[str, str, int]) -> Design:
    """The design with another module in some cages; an empty part leaves them empty."""
    seats = [s for s in design.ledger.seats if s[:3] not in cages]
    return with_ledger(design, seats=seats + [Seat(*cage, part) for cage in cages if part])


def with_result(design: Design, **fields: Any) -> Design:
    """The design with other fields in its result."""
    return Design(design.case, design.result.model_copy(update=fields), design.ledger)
