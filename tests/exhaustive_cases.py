"""Small random cases, the same for a seed on every machine; a good share of them cannot be met."""

from __future__ import annotations

from random import Random
from typing import Any

from gpunet.models.case import Case
from gpunet.models.parts import Catalog

SERVERS = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 11, 13, 16)
FEW_SERVERS = (1, 1, 2, 2, 3, 4)


def random_case(seed: int, catalog: Catalog, family: str) -> Case:
    """A case of one family: ``plain`` (nothing couples), ``limits`` (ceilings and ranked objectives), ``parts``
    (limits on parts and vendors, owned stock), ``fabrics`` (several fabrics), ``terms`` (spares, supply, terms of
    sale, owned stock), ``quotes`` (an order split among suppliers), ``racks`` (network racks with a price or a
    limit) or ``trays`` (trays that hold only so much)."""
    draw = Random(f"{family} {seed}")
    coupled = family in ("parts", "fabrics", "terms", "vendors", "quotes", "racks", "trays")
    servers = draw.choice(FEW_SERVERS if coupled else SERVERS)
    case: dict[str, Any] = {
        "name": f"{family}-{seed}",
        "cluster": _cluster(draw, servers, family),
        "fabrics": {"backend": _backend(draw, servers)},
        "site": _site(draw),
        "prices": _prices(draw, catalog),
        "parts": _parts(draw, catalog),
        "objective": draw.choice(["cost", "cost", "power", "tco"]),
    }
    if family == "limits" or (coupled and draw.random() < 0.4):
        case["objective"] = draw.choice(["cost", "power", "tco", ["cost", "power"], ["power", "cost"], ["tco", "cost"]])
        case["limits"] = _ceilings(draw, servers)
    if family == "parts":
        # A limit on parts makes every mixture a case of its own, so most of these stay within two tiers.
        if draw.random() < 0.85:
            case["fabrics"]["backend"]["max_tiers"] = draw.choice([1, 2, 2, 2])
        case["limits"] = case.get("limits", {}) | _counts(draw)
        case["owned"] = _owned(draw, catalog)
    if family == "terms":
        case["fabrics"]["backend"]["max_tiers"] = draw.choice([1, 2, 2, 2])
        case |= _terms(draw, catalog)
    if family == "vendors":
        case["cluster"]["servers"] = draw.choice([1, 2, 2, 3])
        case["fabrics"]["backend"]["max_tiers"] = draw.choice([1, 2, 2])
        case |= _vendors(draw, catalog)
    if family == "quotes":
        case["cluster"]["servers"] = draw.choice([1, 1, 2, 2, 3])
        case["fabrics"]["backend"]["max_tiers"] = draw.choice([1, 1, 2])
        case["prices"].pop("overrides_usd")
        case |= _quotes(draw, catalog)
    if family == "trays":
        case["fabrics"]["backend"]["max_tiers"] = draw.choice([1, 2, 2, 2])
        case["site"] |= _tray(draw)
    if family == "racks":
        case |= _racks(draw, case)
    if family == "fabrics" or (family == "racks" and case["cluster"]["server"] == "server-4"):
        case["fabrics"] |= _more_fabrics(draw)
    return Case.model_validate(case)


def _terms(draw: Random, catalog: Catalog) -> dict[str, Any]:
    """What buying is like, for one or two parts: with more of them every mixture would be a case of its own."""
    parts = [*catalog.switches, *catalog.modules, "mpo-om4-n010", "dac-twin-nic-n002"]
    named = draw.sample(parts, k=draw.choice([1, 2, 2]))
    found: dict[str, Any] = {"terms": {}}
    for part in named:
        if draw.random() < 0.5:
            steps = [{"from_pieces": draw.randint(2, 8), "usd": draw.choice([0, 100, 400, 700])}]
            if draw.random() < 0.4:
                steps.append({"from_pieces": steps[0]["from_pieces"] + draw.randint(1, 20), "usd": 0})
            kind = draw.choice(["all-units", "incremental"])
            found["terms"].setdefault("price_breaks", []).append({"part": part, "kind": kind, "steps": steps})
        if draw.random() < 0.35:
            found["terms"].setdefault("minimum_order", {})[part] = draw.randint(2, 12)
        if draw.random() < 0.35:
            found["terms"].setdefault("packs", {})[part] = draw.randint(2, 12)
        if draw.random() < 0.5:
            found.setdefault("spares", {}).setdefault("failure_percent_per_year", {})[part] = draw.choice([2, 60, 300])
        if draw.random() < 0.3:
            found.setdefault("spares", {}).setdefault("minimum", {})[part] = draw.randint(1, 3)
        if draw.random() < 0.3:
            found.setdefault("supply", []).append({"part": part, "at_most": draw.randint(0, 12)})
        if draw.random() < 0.25:
            found.setdefault("owned", []).append({"part": part, "quantity": draw.randint(1, 6)})
    if draw.random() < 0.3:
        switch = draw.choice(["switch:*", *catalog.switches])
        found["terms"]["licences"] = [{"switch": switch, "name": "software", "usd": 900, "usd_per_year": 33.33}]
    if draw.random() < 0.3:
        found["terms"]["installation"] = {"in_rack_usd": 10, "across_racks_usd": draw.choice([30, 400])}
    return found


def _vendors(draw: Random, catalog: Catalog) -> dict[str, Any]:
    """Discounts of one or two vendors, often with steps that few pieces more would reach, at times terms of a part."""
    vendors = sorted({item.vendor for parts in (catalog.switches, catalog.modules) for item in parts.values()})
    found: dict[str, Any] = {"terms": {"vendor_discounts": []}}
    for vendor in draw.sample(vendors, k=min(len(vendors), draw.choice([1, 1, 2]))):
        first, off = draw.choice([800, 2500, 3333.33, 7000, 12000]), draw.choice([3, 7.25, 12.5, 33.33])
        steps = [{"from_usd": first, "off_percent": off}]
        if draw.random() < 0.5:
            more = draw.choice([0.01, 700, 5000, 11000])
            steps.append({"from_usd": round(first + more, 2), "off_percent": draw.choice([40, 55.5, 100])})
        kind = draw.choice(["all-units", "all-units", "incremental"])
        found["terms"]["vendor_discounts"].append({"vendor": vendor, "kind": kind, "steps": steps})
    part = draw.choice([*catalog.switches, *catalog.modules])
    if draw.random() < 0.2:
        steps = [{"from_pieces": draw.randint(2, 6), "usd": draw.choice([100, 400])}]
        found["terms"]["price_breaks"] = [{"part": part, "steps": steps}]
    if draw.random() < 0.2:
        found["terms"]["packs"] = {part: draw.randint(2, 6)}
    if draw.random() < 0.2:
        found["spares"] = {"minimum": {part: draw.randint(1, 2)}}
    if draw.random() < 0.2:
        found["owned"] = [{"part": part, "quantity": draw.randint(1, 3)}]
    return found


def _quotes(draw: Random, catalog: Catalog) -> dict[str, Any]:
    """Offers of two or three suppliers for one or two parts, and limits on how the order is split."""
    priced = [part.id for parts in (catalog.switches, catalog.modules) for part in parts.values() if part.price]
    named = draw.sample([*priced, "mpo-om4-n010", "dac-twin-nic-n002"], k=draw.choice([1, 2, 2]))
    found: dict[str, Any] = {"quotes": [], "buying": {"at_list": draw.choice(["unquoted", "unquoted", "always"])}}
    for supplier in ("first", "second", "third")[: draw.choice([2, 2, 3])]:
        lines = []
        for part in named:
            line: dict[str, Any] = {"part": part, "unit_usd": draw.choice([20, 90, 400, 700, 1500])}
            if draw.random() < 0.5:
                line[draw.choice(["at_most", "quantity"])] = draw.randint(1, 10)
            if draw.random() < 0.3:
                line["minimum"] = draw.randint(2, 9)
            if draw.random() < 0.3:
                line["steps"] = [{"from_pieces": draw.randint(2, 9), "unit_usd": draw.choice([0, 15, 300])}]
            if draw.random() < 0.85:
                lines.append(line)
        if lines:
            ends = {"valid_until": draw.choice(["2026-11-30", "2026-12-31"])} if draw.random() < 0.4 else {}
            found["quotes"].append({"supplier": supplier, "lines": lines, **ends})
    if draw.random() < 0.7:
        found["order_date"] = "2026-12-10"
    if draw.random() < 0.5:
        found["buying"]["max_suppliers"] = draw.choice([1, 1, 2])
    if draw.random() < 0.4:
        found["buying"]["max_split_lines"] = draw.choice([0, 0, 1])
    if draw.random() < 0.25:
        found["owned"] = [{"part": named[0], "quantity": draw.randint(1, 6)}]
    if draw.random() < 0.2:
        found["supply"] = [{"part": named[-1], "at_most": draw.randint(2, 14)}]
    if draw.random() < 0.2:
        found["terms"] = {"packs": {named[0]: draw.randint(2, 5)}}
    if draw.random() < 0.25:
        found["spares"] = {"minimum": {named[0]: draw.randint(1, 2)}}
    return found


def _racks(draw: Random, case: dict[str, Any]) -> dict[str, Any]:
    """Racks that hold few switches, mostly with places enough for them; many of these cases have several rows."""
    many = [1, 2, 3, 4] if case["cluster"]["server"] == "server-4" else [3, 4, 5, 6, 8, 9]
    case["cluster"]["servers"] = draw.choice(many)
    backend = case["fabrics"]["backend"]
    backend["max_tiers"] = max(backend.get("max_tiers", 2), draw.choice([2, 2, 2, 3]))
    if draw.random() < 0.6:
        case["parts"] = {}
    rack: dict[str, Any] = {"units": draw.choice([6, 6, 7, 9]), "power_kw": draw.choice([3.2, 3.6, 4.1, 5, 6.5])}
    rack["cost_usd"] = draw.choice([800.5, 2_500, 8_000, 30_000])
    places = {"network_racks_per_row": 14, "network_racks_central": 24, "rack": rack}
    few = {"racks_per_row": draw.choice([1, 2, 3, 4])} if draw.random() < 0.7 else {}
    found: dict[str, Any] = {"site": case["site"] | few | places | {"servers_per_rack": 1}}
    found["site"].pop("rows", None)
    found["objective"] = draw.choice(["cost"] * 4 + ["tco", ["cost", "power"], ["power", "cost"]])
    if draw.random() < 0.25:
        found["limits"] = {"cost_usd": draw.randint(15, 150) * 1_000}
    else:
        case.pop("limits", None)
    if draw.random() < 0.15:
        found["owned"] = [{"part": draw.choice(["ib-tiny-4", "ib-tiny-8"]), "quantity": draw.randint(1, 4)}]
    if draw.random() < 0.15:
        found["terms"] = {"packs": {draw.choice(["ib-tiny-4", "eth-tiny-8"]): draw.randint(2, 4)}}
    if draw.random() < 0.4:
        found["limits"] = found.get("limits", {}) | {"racks": draw.choice([1, 2, 2, 3, 3, 4, 5, 6])}
        if draw.random() < 0.5:
            rack.pop("cost_usd")
            found["objective"] = draw.choice(["cost", "cost", "power", "tco", ["power", "cost"]])
    if draw.random() < 0.4:
        found["site"] |= {
            "network_racks_per_row": draw.choice([1, 2, 3]),
            "network_racks_central": draw.choice([1, 2, 4]),
        }
    return found


def _cluster(draw: Random, servers: int, family: str) -> dict[str, Any]:
    models = ["server-4"] if family == "fabrics" else ["server-2", "server-2", "server-twin", "server-4"]
    found: dict[str, Any] = {"servers": servers, "server": draw.choice(models)}
    if draw.random() < 0.35:
        found["growth"] = draw.choice([0.1, 0.25, 0.5, 1.0])
    if draw.random() < 0.3:
        found["reserved_ports"] = {"backend": draw.randint(1, 5)}
    return found


def _fabric(draw: Random) -> dict[str, Any]:
    """What any fabric may ask for."""
    found: dict[str, Any] = {}
    if draw.random() < 0.5:
        found["oversubscription"] = draw.choice([1, 1.5, 2, 3, 4, 7])
    if draw.random() < 0.25:
        found["max_tiers"] = draw.choice([1, 2, 2, 3])
    if draw.random() < 0.2:
        found["min_leaves"] = draw.randint(1, 4)
    if draw.random() < 0.2:
        found["min_spines"] = draw.randint(1, 3)
    if draw.random() < 0.15:
        found["max_hops"] = draw.choice([1, 3, 5])
    if draw.random() < 0.15:
        found["latency_ns"] = draw.choice([300, 800, 1500, 2600, 4000])
    return found


def _backend(draw: Random, servers: int) -> dict[str, Any]:
    found = _fabric(draw)
    # Halving the speed doubles the ports, which is more than an exhaustive search takes for the largest clusters.
    if draw.random() < (0.4 if servers <= 8 else 0.1):
        found["speed_gbps"] = draw.choice([200, 400])
    if draw.random() < 0.4:
        found["protocols"] = draw.choice([["infiniband"], ["ethernet"], ["ethernet", "infiniband"]])
    if draw.random() < 0.4:
        found["topologies"] = draw.choice([["rail-optimized"], ["leaf-spine"]])
    return found


def _more_fabrics(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw.random() < 0.85:
        found["storage"] = _fabric(draw) | {
            "mode": draw.choice(["separate", "converged", "auto", "auto"]),
            "storage_servers": draw.randint(0, 4),
            "storage_server_nic": draw.choice(["nic-400", "nic-qsfp"]),
            "storage_server_gbps": draw.choice([200, 400, 800]),
            "server_gbps": draw.choice([200, 400, 800]),
        }
    if draw.random() < 0.35 or not found:
        found["frontend"] = _fabric(draw)
    return found


def _site(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw.random() < 0.5:
        found["switch_placement"] = draw.choice(["row-end", "row-middle", "network-row"])
    if draw.random() < 0.4:
        found["servers_per_rack"] = draw.choice([1, 2, 3, 4])
    if draw.random() < 0.4:
        found["racks_per_row"] = draw.choice([1, 2, 3, 5, 12])
    if draw.random() < 0.1:
        found["rows"] = draw.choice([1, 2, 3])
    if draw.random() < 0.4:
        found |= draw.choice(
            [
                {"tray_rise_m": 0, "slack_m": 0, "rack_pitch_m": 0.3, "row_pitch_m": 0.5},
                {"tray_rise_m": 0.2, "slack_m": 0, "rack_pitch_m": 0.4},
                {"row_pitch_m": 9},
                {"rack_pitch_m": 4, "slack_m": 3},
                {"tray_rise_m": 20},
            ]
        )
    if draw.random() < 0.2:
        found["fibre"] = draw.choice([["OM4"], ["OS2"], ["OM3", "OM4", "OS2"]])
    return found


def _tray(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tray": {"width_mm": draw.choice([10, 15, 20, 30, 50]), "depth_mm": draw.choice([5, 10.5])}
    }
    found["tray"] |= {"fill": draw.choice([0.4, 0.5, 0.33]), "per_row": draw.choice([1, 1, 2])}
    found["tray"] |= {"central": draw.choice([1, 1, 2, 3])}
    if draw.random() < 0.7:
        # Runs short enough for copper, which is cheap and thick.
        found |= {"tray_rise_m": 0.1, "slack_m": 0.1, "rack_pitch_m": 0.2, "row_pitch_m": 0.3}
        found |= {"network_racks_per_row": 1, "network_racks_central": 1}
    if draw.random() < 0.5:
        found["racks_per_row"] = draw.choice([1, 2])
    return found


def _prices(draw: Random, catalog: Catalog) -> dict[str, Any]:
    found: dict[str, Any] = {"basis": draw.choice(["low", "mid", "mid", "high"])}
    if draw.random() < 0.3:
        found["discounts"] = {draw.choice(["northstar", "southern", "lumen", "umbra"]): draw.choice([0.07, 0.333])}
    priced = [*catalog.switches, *catalog.modules]
    media = ["mpo-om4-n010", "mpo-om4", "mpo-os2-n030", "dac-qsfp"]
    chosen = draw.sample(priced + media, k=draw.choice([0, 2, 6]))
    found["overrides_usd"] = {part: round(draw.choice([1, 1, 4, 9]) * draw.uniform(20, 1500), 2) for part in chosen}
    return found


def _parts(draw: Random, catalog: Catalog) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw.random() < 0.3:
        every = [*catalog.switches, *catalog.modules, *catalog.cables, *catalog.fibres]
        found["deny"] = draw.sample(every, k=draw.randint(1, 5))
    if draw.random() < 0.12:
        found["deny"] = [*found.get("deny", []), draw.choice(["umbra:*", "southern:*", "cable:*", "northstar:*"])]
    if draw.random() < 0.12:
        found["allow"] = draw.choice(
            [["ib-tiny-4"], ["eth-tiny-8", "eth-duo-6"], ["southern:*"], ["lumen:*"], ["mpo-os2"], ["switch:*"]]
        )
    return found


def _ceilings(draw: Random, servers: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw.random() < 0.6:
        found["cost_usd"] = round(draw.uniform(0.6, 1.8) * (3_000 + 3_500 * servers), 2)
    if draw.random() < 0.5:
        found["power_kw"] = round(draw.uniform(0.6, 1.8) * (0.25 + 0.15 * servers), 4)
    return found


def _counts(draw: Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if draw.random() < 0.55:
        found["skus"] = draw.randint(3, 8)
    if draw.random() < 0.45:
        found["vendors"] = draw.randint(1, 3)
    return found


def _owned(draw: Random, catalog: Catalog) -> list[dict[str, Any]]:
    if draw.random() < 0.4:
        return []
    priced = [*catalog.switches, *catalog.modules, "mpo-om4-n010", "dac-twin-nic-n002"]
    return [{"part": part, "quantity": draw.randint(1, 6)} for part in draw.sample(priced, k=draw.choice([1, 1, 2]))]
