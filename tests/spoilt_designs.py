"""A sound design with one thing spoilt at a time, and the check and the words that must catch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sample_design import (
    CASE,
    hand_catalog,
    two_by_two,
    with_ledger,
    with_links,
    with_module,
    with_result,
    without_links,
)
from tiny_catalog import fact

from gpunet.models.design import Design
from gpunet.models.ledger import Adapter, Device, RackPlace, Seat
from gpunet.models.parts import Catalog, Status

CATALOG = hand_catalog()
SOUND = two_by_two(catalog=CATALOG)
DOWN_1, UP_1, DOWN_2, UP_2, OOB = range(4), range(4, 8), range(8, 12), range(12, 16), range(16, 26)
"""Rows of the links of ``SOUND``: down and up of leaf 1, of leaf 2, and management."""
ALLOWED = ("gpunet.models", "gpunet.catalogs", "gpunet.solver.verify", "numpy", "networkx")
Spoil = Callable[[], Design | tuple[Design, Catalog]]


def case_with(**changes: Any) -> dict[str, Any]:
    """The case of ``SOUND`` with some fields changed; ``section__field`` reaches one level down."""
    case: dict[str, Any] = {key: dict(value) if isinstance(value, dict) else value for key, value in CASE.items()}
    for path, value in changes.items():
        section, _, field = path.partition("__")
        if field:
            case.setdefault(section, {})[field] = value
        else:
            case[section] = value
    return case


def rebuilt(**changes: Any) -> Design:
    """``SOUND`` under another case."""
    return two_by_two(case_with(**changes), CATALOG)


def backend(**fields: Any) -> Design:
    """``SOUND`` with other wishes for the backend."""
    wishes = {"topologies": ["rail-optimized"], **fields}
    return rebuilt(fabrics={"backend": wishes, "oob": {}})


def link(row: int, **fields: Any) -> Design:
    """``SOUND`` with one link changed."""
    return with_links(SOUND, {row: fields})


def other_part(kind: str, part: str, **fields: Any) -> tuple[Design, Catalog]:
    """``SOUND`` on a catalogue in which one part differs."""
    parts = dict(getattr(CATALOG, kind))
    parts[part] = parts[part].model_copy(update=fields)
    return SOUND, CATALOG.model_copy(update={kind: parts})


def other_cages(**fields: Any) -> tuple[Design, Catalog]:
    """``SOUND`` on a catalogue in which the cages of the backend switch differ."""
    cages = CATALOG.switches["ib-tiny-8"].cages[0].model_copy(update=fields)
    return other_part("switches", "ib-tiny-8", cages=(cages,))


def device(which: str, **fields: Any) -> Design:
    """``SOUND`` with one device changed."""
    return with_ledger(SOUND, devices=[d._replace(**fields) if d.name == which else d for d in SOUND.ledger.devices])


def without(table: str, **match: Any) -> Design:
    """``SOUND`` without the rows of a table that match."""
    rows = [r for r in getattr(SOUND.ledger, table) if any(getattr(r, k) != v for k, v in match.items())]
    return with_ledger(SOUND, **{table: rows})


def uneven(case: dict[str, Any] | None = None) -> Design:
    """Leaf 1 runs (3, 1) links to the two spines, leaf 2 runs (1, 3)."""
    change = {6: {"b_device": "spine-1", "b_cage": 3}, 12: {"b_device": "spine-2", "b_cage": 3}}
    design = with_links(two_by_two(case, CATALOG), change)
    return with_module(design, "twin-sr4", ("spine-1", "fabric", 3), ("spine-2", "fabric", 3))


def dark_spine() -> Design:
    """A third spine that no leaf is linked to."""
    spare = Device("spine-3", "switch", "ib-tiny-8", "backend", "spine", -1, "r01-n01", 20, 1)
    return with_ledger(SOUND, devices=[*SOUND.ledger.devices, spare])


def bill(line: str, **fields: Any) -> Design:
    """``SOUND`` with one line of the bill changed."""
    bom = tuple(x.model_copy(update=fields) if x.part == line else x for x in SOUND.result.bom)
    return with_result(SOUND, bom=bom)


def totals(**fields: Any) -> Design:
    """``SOUND`` with other totals."""
    assert SOUND.result.totals is not None
    return with_result(SOUND, totals=SOUND.result.totals.model_copy(update=fields))


def told(**fields: Any) -> Design:
    """``SOUND`` whose result says something else about the backend."""
    fabric = SOUND.result.fabrics["backend"].model_copy(update=fields)
    return with_result(SOUND, fabrics={**SOUND.result.fabrics, "backend": fabric})


def leaf_1_module(part: str) -> Design:
    """``SOUND`` with another module in the first cage of leaf 1."""
    return with_module(SOUND, part, ("leaf-1", "fabric", 1))


SPINE_3 = ("spine-1", "fabric", 1)
SPOILT: dict[str, tuple[str, str, Spoil]] = {
    "device listed twice": ("ledger", "'leaf-2' is listed 2 times", lambda: device("leaf-1", name="leaf-2")),
    "device in no rack": ("ledger", "stands in no rack place 'r9'", lambda: device("leaf-1", rack="r9")),
    "switch out of the blue": ("ledger", "no switch 'ib-9' in the catalogue", lambda: device("leaf-1", part="ib-9")),
    "unheard-of kind": ("ledger", "is a 'router'", lambda: device("leaf-1", kind="router")),
    "adapter for nobody": (
        "ledger",
        "adapter nic-400 for no device 'server-9'",
        lambda: with_ledger(SOUND, adapters=[Adapter("server-9", "nic-400", 1)]),
    ),
    "foreign row": ("ports", "link 1: no device 'leaf-9'", lambda: link(0, a_device="leaf-9")),
    "no such group": ("ports", "has no cage group 'uplink'", lambda: link(0, a_group="uplink")),
    "no such cage": ("ports", "leaf-1 fabric has cages 1 to 8, not 9", lambda: link(0, a_cage=9)),
    "no such port": ("ports", "port 3 is used; the cage has 2 ports of 400G", lambda: link(0, a_port=3)),
    "port zero": ("ports", "ports count from 1", lambda: link(0, a_port=0)),
    "no such speed": ("ports", "the cage has no mode of 300G", lambda: link(0, speed_gbps=300)),
    "two speeds": ("ports", "links of different speeds in one cage", lambda: link(0, speed_gbps=200)),
    "port used twice": ("ports", "leaf-1 fabric 1 port 1 is used twice", lambda: link(1, a_port=1)),
    "wrong class": ("ports", "is no leaf-spine link of the fabric 'backend'", lambda: link(0, link_class="leaf-spine")),
    "unknown class": ("ports", "link class 'leaf-leaf'", lambda: link(0, link_class="leaf-leaf")),
    "traffic on a BMC": ("ports", "is no endpoint-leaf link", lambda: link(0, b_group="bmc")),
    "other fabric": ("ports", "link of the fabric 'storage'", lambda: link(0, fabric="storage")),
    "logical ports": (
        "logical-ports",
        "leaf-1: 8 logical ports, ib-tiny-8 drives 7",
        lambda: other_part("switches", "ib-tiny-8", max_logical_ports=fact(7)),
    ),
    "pipeline": (
        "logical-ports",
        "leaf-1 fabric 1 to 2: 4 ports on a pipeline for 3",
        lambda: other_part("switches", "ib-tiny-8", cages_per_pipeline=2, ports_per_pipeline=3),
    ),
    "module missing": ("seats", "leaf-1 fabric 1: a fibre ends here but no module", lambda: leaf_1_module("")),
    "module missing at the far end": (
        "seats",
        "server-1 backend 1: a fibre ends here but no module",
        lambda: with_module(SOUND, "", ("server-1", "backend", 1)),
    ),
    "stray module": (
        "seats",
        "module twin-sr4 carries no link",
        lambda: with_module(SOUND, "twin-sr4", ("leaf-1", "fabric", 8)),
    ),
    "two modules": (
        "seats",
        "leaf-1 fabric 1: two modules in one cage",
        lambda: with_ledger(SOUND, seats=[*SOUND.ledger.seats, Seat("leaf-1", "fabric", 1, "twin-sr4")]),
    ),
    "module in no cage": (
        "seats",
        "module twin-sr4 has no cage",
        lambda: with_module(SOUND, "twin-sr4", ("leaf-1", "fabric", 9)),
    ),
    "unknown module": ("seats", "no module 'twin-x' in the catalogue", lambda: leaf_1_module("twin-x")),
    "wrong family": ("seats", "R1: qsfp-sr4 is QSFP112, not for the OSFP-IHS cage", lambda: leaf_1_module("qsfp-sr4")),
    "wrong shell": ("seats", "R2: twin-rhs is OSFP-RHS", lambda: leaf_1_module("twin-rhs")),
    "single port in a twin cage": ("seats", "R3: single-ihs is a single-port", lambda: leaf_1_module("single-ihs")),
    "one jumper for two links": (
        "pieces",
        "one mpo-om4-n010 has 1 and 1 ends, not 2 and 2",
        lambda: link(1, assembly=SOUND.ledger.links[0].assembly),
    ),
    "one piece, two parts": (
        "pieces",
        "is listed as several parts",
        lambda: link(1, assembly=SOUND.ledger.links[0].assembly, medium="mpo-om4-n030", length_m=30),
    ),
    "host lanes": ("mating", "R4: twin-50g-host has 8 x 50G host lanes", lambda: leaf_1_module("twin-50g-host")),
    "HDR against NDR": ("mating", "R5: twin-hdr (400G-SR8", lambda: leaf_1_module("twin-hdr")),
    "SM against MM": ("mating", "R5: twin-dr4", lambda: leaf_1_module("twin-dr4")),
    "linear against retimed": ("mating", "linear optics against retimed ones", lambda: leaf_1_module("twin-lpo")),
    "Ethernet only": ("mating", "R9: twin-eth does not carry infiniband", lambda: leaf_1_module("twin-eth")),
    "polish": ("mating", "R11: twin-upc takes MPO-12/UPC", lambda: leaf_1_module("twin-upc")),
    "tiers": (
        "mating",
        "R7: tiers SR of twin-sr4 and DR of flat-sr4",
        lambda: other_part("modules", "flat-sr4", interface="400G-SR4-DR"),
    ),
    "FEC": (
        "mating",
        "R8: twin-sr4 runs RS(544,514)",
        lambda: other_part("modules", "flat-sr4", interface="400G-SR4-FEC"),
    ),
    "single mode on OM4": (
        "reach",
        "twin-dr4 does not run on OM4",
        lambda: with_module(SOUND, "twin-dr4", ("leaf-1", "fabric", 3), ("spine-1", "fabric", 1)),
    ),
    "too short": (
        "reach",
        "mpo-om4-n005 of 5 m does not cover the 6.6 m",
        lambda: link(0, medium="mpo-om4-n005", length_m=5),
    ),
    "no stock length": (
        "reach",
        "7 m is no stock length of mpo-om4",
        lambda: link(0, medium="mpo-om4-n007", length_m=7),
    ),
    "length against name": ("reach", "mpo-om4-n010 is entered with 30 m", lambda: link(0, length_m=30)),
    "unknown medium": ("reach", "no fibre or cable 'string-n010'", lambda: link(0, medium="string-n010")),
    "grade not allowed": ("reach", "mpo-om4 is OM4; the site allows OS2", lambda: rebuilt(site={"fibre": ["OS2"]})),
    "beyond the reach": (
        "reach",
        "twin-sr4 reaches 8 m on OM4, the fibre is 10 m",
        lambda: other_part("modules", "twin-sr4", reach_m={"OM4": 8}),
    ),
    "loss": (
        "reach",
        "R14: 0.73 dB on mpo-om4, the budget of twin-sr4 is 0.7 dB",
        lambda: other_part("interfaces", "400G-SR4", loss_budget_db={"OM4": 0.7}),
    ),
    "hot module": ("cage-power", "leaf-1 fabric 1: 19.0 W in a cage of 18.0 W", lambda: leaf_1_module("twin-hot")),
    "switch supply": (
        "switch-power",
        "leaf-1: 410.0 W with its plugs; ib-tiny-8 supplies 400.0 W",
        lambda: other_part("switches", "ib-tiny-8", power_supply_w=fact(400)),
    ),
    "overlap": ("rack", "server-2 and server-1 overlap in unit 4", lambda: device("server-2", unit=4)),
    "above the rack": ("rack", "takes units 18 to 21 of 20", lambda: device("server-2", unit=18)),
    "wrong height": ("rack", "server-2 is entered with 2 units; it has 4", lambda: device("server-2", rack_units=2)),
    "rack power": (
        "rack",
        "r01-c01: 8,064.0 W, power of 8,000.0 W",
        lambda: rebuilt(site={"rack": {"units": 20, "power_kw": 8}}),
    ),
    "rack cooling": (
        "rack",
        "r01-c01: 8,064.0 W, cooling of 8,000.0 W",
        lambda: rebuilt(site={"rack": {"power_kw": 12, "cooling_kw": 8}}),
    ),
    "too many servers": ("rack", "r01-c01: 4 servers, the site allows 3", lambda: rebuilt(site__servers_per_rack=3)),
    "racks in one another": (
        "rack",
        "are 0.1 m apart; a rack takes 0.6 m",
        lambda: with_ledger(SOUND, places=[SOUND.ledger.places[0], RackPlace("r01-n01", 0.1, 0)]),
    ),
    "rows in one another": (
        "rack",
        "two rows are 1 m apart; a row takes 3 m",
        lambda: with_ledger(SOUND, places=[SOUND.ledger.places[0], RackPlace("r01-n01", 0.6, 1)]),
    ),
    "site power": ("site-power", "in the room, the site gives 9,000.0 W", lambda: rebuilt(site__power_kw=9)),
    "server not attached": (
        "attached",
        "server-4: 1 backend ports attached, 2 asked for",
        lambda: without_links(SOUND, {3}),
    ),
    "server left out": (
        "attached",
        "3 servers in the design, the",
        lambda: without("devices", name="server-4"),
    ),
    "BMC not attached": ("attached", "server-1 bmc 1 has no management link", lambda: without_links(SOUND, {16})),
    "switch not managed": ("attached", "spine-2 mgmt 1 has no management link", lambda: without_links(SOUND, {25})),
    "PDU left out": ("attached", "r01-c01: 1 PDUs with a management port, 2", lambda: without("devices", name="pdu-1")),
    "reserved port": (
        "attached",
        "backend: 0 reserved ports attached, 1 asked for",
        lambda: rebuilt(cluster__reserved_ports={"backend": 1}),
    ),
    "NIC not bought": (
        "attached",
        "server-1: 0 x nic-400 bought, it takes 2",
        lambda: rebuilt(cluster__nics={"backend": "nic-400"}),
    ),
    "fabric left out": (
        "attached",
        "frontend: asked for, not in the result",
        lambda: rebuilt(fabrics={"backend": {}, "oob": {}, "frontend": {}}),
    ),
    "fabric nobody wants": ("attached", "oob: has links, the case does not", lambda: rebuilt(fabrics={"backend": {}})),
    "dark spine": ("striping", "spine spine-3 is dark", dark_spine),
    "uneven striping": ("striping", "leaf-1 has 3 x 400G to spine-1, 1 x 400G to spine-2", uneven),
    "spine left out": (
        "striping",
        "leaf-1 has 4 x 400G to spine-1; its group has 2 spines",
        lambda: with_links(SOUND, {r: {"b_device": "spine-1", "b_cage": 3} for r in (6, 7)}),
    ),
    "uneven flow": ("flow", "leaf-1 to leaf-2 carries 800 of 1600 Gb/s promised", uneven),
    "thin half": ("flow", "halves of the pod of leaf-1 800 of 1600", lambda: without_links(SOUND, {6, 7, 14, 15})),
    "oversubscribed": (
        "oversubscription",
        "leaf leaf-1 owes 1600 Gb/s to its endpoints, has 1200 up",
        lambda: without_links(SOUND, {7}),
    ),
    "growth without bandwidth": (
        "oversubscription",
        "backend: free ports and uplink bandwidth serve 0 more servers on backend, growth asks for 2",
        lambda: rebuilt(cluster__growth=0.5),
    ),
    "growth without ports": (
        "oversubscription",
        "serve 6 more servers on oob, growth asks for 8",
        lambda: rebuilt(cluster__growth=2),
    ),
    "crossed rails": (
        "rails",
        "server-1: rail 1 goes to leaf-2, that of its group to leaf-1",
        lambda: with_links(SOUND, {0: {"b_cage": 2}, 8: {"b_cage": 1}}),
    ),
    "in pieces": ("connected", "backend: 4 parts without a link", lambda: without_links(SOUND, {*UP_1, *UP_2})),
    "too many hops": ("hops", "crosses 3 switches, the case allows 2", lambda: backend(max_hops=2)),
    "hops misreported": ("hops", "crosses 3 switches, 1 are reported", lambda: told(hops=1)),
    "too slow": ("latency", "800 ns on the longest path, the case allows 799 ns", lambda: backend(latency_ns=799)),
    "latency unknown": (
        "latency",
        "a switch publishes no latency",
        lambda: (backend(latency_ns=9999), other_part("switches", "ib-tiny-8", latency_ns=None)[1]),
    ),
    "protocol": ("fabrics", "infiniband is not allowed by the case", lambda: backend(protocols=["ethernet"])),
    "topology": ("fabrics", "rail-optimized is not allowed", lambda: backend(topologies=["leaf-spine"])),
    "tiers allowed": ("fabrics", "2 tiers, at most 1", lambda: backend(max_tiers=1)),
    "redundancy": ("fabrics", "2 spines, at least 3", lambda: backend(min_spines=3)),
    "tiers misreported": ("fabrics", "backend leaf: 0 x ib-tiny-8 reported, 2 built", lambda: told(tiers=())),
    "links misreported": ("fabrics", "0 leaf-spine links reported, 8 built", lambda: told(links={"endpoint-leaf": 8})),
    "build misreported": (
        "fabrics",
        "0 leaf-spine links of 400G over mpo-om4-n005",
        lambda: told(interconnects=()),
    ),
    "pieces on the bill": (
        "bom",
        "twin-sr4: 11 pieces on the bill, 12",
        lambda: bill("twin-sr4", quantity=11),
    ),
    "price on the bill": (
        "bom",
        "90,001 cents each on the bill",
        lambda: bill("twin-sr4", unit_price_usd=900.01),
    ),
    "sum on the bill": ("bom", "cents in all on the bill, 1,080,000", lambda: bill("twin-sr4", extended_usd=1)),
    "owned on the bill": ("bom", "twin-sr4: 1 owned on the bill, 0", lambda: bill("twin-sr4", owned=1)),
    "line left out": ("bom", "ib-tiny-8: 4 in the design, not on the bill", lambda: with_result(SOUND, bom=())),
    "line too many": ("bom", "on the bill, not in the design", lambda: bill("twin-sr4", part="twin-dr4")),
    "cost": ("totals", "cost in cents: 5,208,001 reported, 5,208,000", lambda: totals(cost_usd=52080.01)),
    "power": ("totals", "largest draw in mW: 1,684,001 reported", lambda: totals(power_max_w=1684.001)),
    "typical power": ("totals", "typical draw in mW", lambda: totals(power_typical_w=1)),
    "units": ("totals", "rack units: 6 reported, 5", lambda: totals(rack_units=6)),
    "ownership": ("totals", "cost of ownership in cents", lambda: totals(tco_usd=66288.61)),
    "cost ceiling": (
        "limits",
        "52,080.00 USD, at most 52,079.99",
        lambda: rebuilt(limits={"cost_usd": 52079.99}),
    ),
    "power ceiling": ("limits", "power: 1.684 kW, at most 1.6839", lambda: rebuilt(limits={"power_kw": 1.6839})),
    "vendor ceiling": ("limits", "vendors: 3 (lumen, northstar, southern), at", lambda: rebuilt(limits={"vendors": 2})),
    "SKU ceiling": ("limits", "distinct parts: 8, at most 7", lambda: rebuilt(limits={"skus": 7})),
    "lead time": (
        "limits",
        "lead time: twin-sr4 takes 30 weeks, at most 20",
        lambda: (
            rebuilt(limits={"lead_time_weeks": 20}),
            other_part("modules", "twin-sr4", lead_time_weeks=fact(30))[1],
        ),
    ),
    "part denied": (
        "support",
        "ib-tiny-8: not allowed by parts.deny",
        lambda: rebuilt(parts={"deny": ["northstar:*"]}),
    ),
    "kind narrowed": (
        "support",
        "twin-sr4: not allowed by fabrics.backend.parts.allow",
        lambda: backend(parts={"allow": ["twin-dr4"]}),
    ),
    "discontinued": (
        "support",
        "twin-sr4: status discontinued",
        lambda: other_part("modules", "twin-sr4", status=Status.DISCONTINUED),
    ),
    "refused by the host": (
        "support",
        "ib-tiny-8 does not support twin-sr4",
        lambda: other_part("switches", "ib-tiny-8", refuses_modules=("twin-sr4",)),
    ),
}
