"""Watts and room: every cage, switch, rack and the site as a whole."""

from __future__ import annotations

import math
from collections import defaultdict
from functools import cached_property
from itertools import pairwise

import numpy as np

from gpunet.models.design import Check
from gpunet.models.evidence import watts_to_milliwatts
from gpunet.models.ledger import Device
from gpunet.models.parts import HotCages
from gpunet.solver.verify_book import Ints
from gpunet.solver.verify_links import LENGTH_SLIP_M, Wiring
from gpunet.solver.verify_report import Findings

W_PER_KW = 1000
NO_LIMIT = np.iinfo(np.int64).max


class Heat:
    """Draw of every device with the plugs in its cages, mW."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.book = wiring.book
        devices = len(self.book.ledger.devices)
        self.plugs_mw: Ints = np.bincount(self.book.cage_device, weights=wiring.cage_mw, minlength=devices).astype(
            np.int64
        )
        bodies = (self._body_mw(d) for d in self.book.ledger.devices)
        self.body_mw: Ints = np.fromiter(bodies, np.int64, devices)

    def _body_mw(self, device: Device) -> int:
        """Largest draw of a device without plugs; reserved endpoints and PDUs count nothing of their own."""
        catalog = self.book.catalog
        if device.kind == "switch" and device.part in catalog.switches:
            return catalog.switches[device.part].power_chassis_max_w.milli
        if device.kind == "server" and device.part in catalog.servers:
            return catalog.servers[device.part].power_max_w.milli
        storage = self.book.case.fabrics.storage
        if device.kind == "storage-server" and storage is not None:
            return watts_to_milliwatts(storage.storage_server_w)
        return 0

    @cached_property
    def rack_mw(self) -> Ints:
        """Draw of every rack place."""
        rack = self.book.dev_rack
        draw = self.body_mw + self.plugs_mw
        placed = rack >= 0
        places = len(self.book.ledger.places)
        return np.bincount(rack[placed], weights=draw[placed], minlength=places).astype(np.int64)


def check_cage_power(heat: Heat) -> Check:
    """R15: the plug in every cage within the limit of that cage, by port number where the vendor says so."""
    book, wiring = heat.book, heat.wiring
    findings = Findings("cage-power")
    limits = np.full(len(book.groups) or 1, NO_LIMIT, np.int64)
    for number, group in enumerate(book.groups):
        if group.cages.power_limit_w is not None:
            limits[number] = group.cages.power_limit_w.milli
    limit = limits[book.cage_group]
    for number, group in enumerate(book.groups):
        if group.cages.hot is not None:
            hot = hot_cages(group.cages.hot)
            cages = np.flatnonzero(book.cage_group == number)
            warm = cages[np.isin(book.cage_no[cages], hot)]
            limit[warm] = group.cages.hot.power_limit_w.milli
    over = np.flatnonzero(wiring.cage_mw > limit)
    findings.add_rows(over, lambda c: f"{book.cage_name(c)}: {_w(wiring.cage_mw[c])} in a cage of {_w(limit[c])}")
    unknown = int(((limit == NO_LIMIT) & (wiring.cage_mw > 0)).sum())
    note = f"; {unknown:,} cages publish no limit" if unknown else ""
    return findings.check(f"every plug draws no more than its cage allows{note}")


def hot_cages(hot: HotCages) -> list[int]:
    """Cage numbers with the higher limit: ``1,5,9-12`` read as a list with ranges, or the first ``count``."""
    if not hot.port_numbers:
        return list(range(1, hot.count + 1))
    found: list[int] = []
    for item in hot.port_numbers.split(","):
        first, _, last = item.partition("-")
        if first.strip().isdigit() and (last.strip() or first.strip()).isdigit():
            found += range(int(first), int(last or first) + 1)
    return found


def check_switch_power(heat: Heat) -> Check:
    """R16: chassis and plugs within what supply and cooling of the switch allow."""
    book = heat.book
    findings = Findings("switch-power")
    unknown = 0
    for i in book.devices_of("switch"):
        switch = book.catalog.switches.get(book.ledger.devices[i].part)
        if switch is None or switch.power_supply_w is None:
            unknown += 1
            continue
        draw = int(heat.body_mw[i] + heat.plugs_mw[i])
        if draw > switch.power_supply_w.milli:
            name = book.ledger.devices[i].name
            findings.add(f"{name}: {_w(draw)} with its plugs; {switch.id} supplies {_w(switch.power_supply_w.milli)}")
    note = f"; {unknown:,} switches publish no supply limit" if unknown else ""
    return findings.check(f"every switch draws no more than its supply gives{note}")


def check_rack(heat: Heat) -> Check:
    """Units free and within the rack, power and cooling with all plugs included, racks apart by their pitch."""
    book, site = heat.book, heat.book.case.site
    findings = Findings("rack")
    by_rack: dict[int, list[Device]] = defaultdict(list)
    for device, rack in zip(book.ledger.devices, book.dev_rack.tolist(), strict=True):
        if rack >= 0:
            by_rack[rack].append(device)
    for rack, devices in by_rack.items():
        _units(findings, heat, book.ledger.places[rack].name, devices)
    power_mw = watts_to_milliwatts(site.rack.power_kw * W_PER_KW)
    cooling_mw = watts_to_milliwatts((site.rack.cooling_kw or site.rack.power_kw) * W_PER_KW)
    for what, limit in (("power", power_mw), ("cooling", cooling_mw)):
        for rack in np.flatnonzero(heat.rack_mw > limit).tolist():
            findings.add(f"{book.ledger.places[rack].name}: {_w(heat.rack_mw[rack])}, {what} of {_w(limit)}")
    _places(findings, heat, by_rack)
    hottest = int(heat.rack_mw.max(initial=0))
    return findings.check(
        f"{len(by_rack):,} racks in use; the hottest draws {_w(hottest)} of {_w(min(power_mw, cooling_mw))}"
    )


def _units(findings: Findings, heat: Heat, rack: str, devices: list[Device]) -> None:
    units = heat.book.case.site.rack.units
    end, below = 0, ""
    for device in sorted(devices, key=lambda d: (d.unit, d.name)):
        expected = _height(heat, device)
        if expected is not None and device.rack_units != expected:
            findings.add(f"{device.name} is entered with {device.rack_units} units; it has {expected}")
        if device.unit == 0 and device.kind in ("pdu", "reserved"):
            continue  # stands beside the units, or outside the design
        if device.unit < 1 or device.unit + device.rack_units - 1 > units:
            findings.add(
                f"{device.name} takes units {device.unit} to {device.unit + device.rack_units - 1} of {units} in {rack}"
            )
        elif device.unit <= end:
            findings.add(f"{device.name} and {below} overlap in unit {device.unit} of {rack}")
        if device.unit + device.rack_units - 1 >= end:
            end, below = device.unit + device.rack_units - 1, device.name
    most = heat.book.case.site.servers_per_rack
    servers = sum(d.kind == "server" for d in devices)
    if most is not None and servers > most:
        findings.add(f"{rack}: {servers} servers, the site allows {most}")


def _height(heat: Heat, device: Device) -> int | None:
    """Rack units of a device by the catalogue or the case, none where neither says."""
    catalog, storage = heat.book.catalog, heat.book.case.fabrics.storage
    if device.kind == "switch" and device.part in catalog.switches:
        return math.ceil(catalog.switches[device.part].rack_units.v)
    if device.kind == "server" and device.part in catalog.servers:
        return math.ceil(catalog.servers[device.part].rack_units.v)
    if device.kind == "storage-server" and storage is not None:
        return storage.storage_server_units
    return None


def _places(findings: Findings, heat: Heat, by_rack: dict[int, list[Device]]) -> None:
    """Racks do not stand inside one another, and server racks keep to the rows and columns of the site."""
    site = heat.book.case.site
    rows: dict[float, list[tuple[float, str]]] = defaultdict(list)
    servers: dict[float, int] = defaultdict(int)
    for rack, devices in by_rack.items():
        place = heat.book.ledger.places[rack]
        rows[round(place.y_m, 6)].append((place.x_m, place.name))
        servers[round(place.y_m, 6)] += any(d.kind == "server" for d in devices)
    for racks in rows.values():
        racks.sort()
        for (x, left), (next_x, right) in pairwise(racks):
            if next_x - x < site.rack_pitch_m - LENGTH_SLIP_M:
                findings.add(f"{left} and {right} are {next_x - x:g} m apart; a rack takes {site.rack_pitch_m:g} m")
    lines = sorted(rows)
    for y, next_y in pairwise(lines):
        if next_y - y < site.row_pitch_m - LENGTH_SLIP_M:
            findings.add(f"two rows are {next_y - y:g} m apart; a row takes {site.row_pitch_m:g} m")
    used = {y: n for y, n in servers.items() if n}
    if site.rows is not None and len(used) > site.rows:
        findings.add(f"servers stand in {len(used)} rows, the site has {site.rows}")
    if site.racks_per_row is not None and max(used.values(), default=0) > site.racks_per_row:
        findings.add(f"{max(used.values())} server racks in a row, the site has {site.racks_per_row}")


def check_site_power(heat: Heat) -> Check:
    """Everything that stands in the room, servers and plugs included, within the power of the site."""
    findings = Findings("site-power")
    total = int((heat.body_mw + heat.plugs_mw).sum())
    site_kw = heat.book.case.site.power_kw
    if site_kw is None:
        return findings.check(f"{_w(total)} in the room; the case sets no limit")
    limit = watts_to_milliwatts(site_kw * W_PER_KW)
    if total > limit:
        findings.add(f"{_w(total)} in the room, the site gives {_w(limit)}")
    return findings.check(f"{_w(total)} of {_w(limit)} in the room")


def _w(power_mw: int) -> str:
    return f"{int(power_mw) / 1000:,.1f} W"
