"""The design as CSV files for NetBox's bulk import, numbered in the order in which they have to be imported.

A cage is a module bay, and a module in it a module, as NetBox advises for pluggable transceivers; free bays are free
cages. Every logical port of a cage in use is a physical interface of its own, and every link a cable between two of
them: that is how NetBox models channels, for an import holds one termination to a side and an interface of a virtual
kind no cable. Cables of one splitter share the number of their assembly as label.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gpunet.catalogs import split_medium_id
from gpunet.export import ExportError
from gpunet.export.netbox_words import (
    CABLE_TYPES,
    FIBRE_TYPES,
    GENERIC,
    ROLE_COLORS,
    ROLE_NAMES,
    ethernet_type,
    infiniband_type,
)
from gpunet.export.ports import End, Ports, a_end, b_end
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog, FormFactor, Part
from gpunet.solver.verify_groups import BMC, MGMT, groups_of

STATUS = "planned"
INTERFACE = "dcim.interface"
KBPS_PER_GBPS = 10**6
RACK_WIDTH_IN = 19

Rows = Iterable[Sequence[object]]


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``01-sites.csv`` to ``11-cables.csv``."""
    netbox = _Netbox(design, catalog)
    tables: dict[str, tuple[str, Callable[[], Rows]]] = {
        "sites": ("name,slug,status", netbox.sites),
        "manufacturers": ("name,slug", netbox.manufacturers),
        "device-roles": ("name,slug,color", netbox.roles),
        "device-types": ("manufacturer,model,slug,part_number,u_height,description", netbox.device_types),
        "module-types": ("manufacturer,model,part_number,description", netbox.module_types),
        "racks": ("site,name,status,width,u_height,description", netbox.racks),
        "devices": ("name,role,manufacturer,device_type,status,site,rack,position,face,description", netbox.devices),
        "module-bays": ("device,name,position", netbox.bays),
        "modules": ("device,module_bay,module_type,status,replicate_components", netbox.modules),
        "interfaces": ("device,name,type,speed,mgmt_only,description", netbox.interfaces),
        "cables": (
            "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,"
            "type,status,label,length,length_unit,description",
            netbox.cables,
        ),
    }
    return {
        f"{number:02}-{name}.csv": _csv(head.split(","), rows)
        for number, (name, (head, rows)) in enumerate(tables.items(), 1)
    }


def _csv(head: Sequence[str], rows: Callable[[], Rows]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(head)
            writer.writerows(rows())

    return write


class _Netbox:
    """The rows of every file."""

    def __init__(self, design: Design, catalog: Catalog) -> None:
        self.design, self.catalog, self.ledger = design, catalog, design.ledger
        self.ports = Ports(design, catalog)
        self.site = design.case.name or "design"
        bought: Mapping[str, Part] = {**catalog.modules, **catalog.nics}
        seated = [seat.part for seat in self.ledger.seats] + [adapter.part for adapter in self.ledger.adapters]
        self.plugged = {part: bought[part] for part in sorted(set(seated))}
        # NetBox looks a module type up by its model alone, and some vendors sell two parts under one.
        models = Counter(part.model for part in self.plugged.values())
        self.module_models = {
            id_: part.model if models[part.model] == 1 else f"{part.model} [{id_}]"
            for id_, part in self.plugged.items()
        }
        self.kinds: dict[tuple[str, str], Device] = {}
        for device in self.ledger.devices:
            self.kinds.setdefault((device.kind, device.part), device)

    def _made_by(self, device: Device) -> tuple[str, str, str, str]:
        """Manufacturer, model, slug and part number of a device; generic where only its NIC is known."""
        parts: Mapping[str, Part] = {"switch": self.catalog.switches, "server": self.catalog.servers}.get(
            device.kind, {}
        )  # type: ignore[assignment]
        part = parts.get(device.part)
        if part is None:
            name = f"{device.kind} with {device.part}" if device.part else device.kind
            return GENERIC, name, name.replace(" ", "-").replace(".", "-"), ""
        return part.vendor, part.model, part.id.replace(".", "-"), " ".join(part.part_numbers[:1])

    def sites(self) -> Rows:
        slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in self.site.lower())
        yield self.site, slug.strip("-") or "design", STATUS

    def manufacturers(self) -> Rows:
        names = {self._made_by(device)[0] for device in self.kinds.values()}
        return ((name, name) for name in sorted(names | {part.vendor for part in self.plugged.values()}))

    def roles(self) -> Rows:
        return ((role, _slug(role), ROLE_COLORS[role]) for role in sorted({_role(d) for d in self.ledger.devices}))

    def device_types(self) -> Rows:
        for device in self.kinds.values():
            vendor, model, slug, number = self._made_by(device)
            yield vendor, model, slug, number, device.rack_units if device.unit else 0, device.part

    def module_types(self) -> Rows:
        for id_, part in self.plugged.items():
            yield part.vendor, self.module_models[id_], " ".join(part.part_numbers[:1]), id_

    def racks(self) -> Rows:
        units = self.design.case.site.rack.units
        for place in self.ledger.places:
            yield self.site, place.name, STATUS, RACK_WIDTH_IN, units, f"at {place.x_m:g} m, {place.y_m:g} m"

    def devices(self) -> Rows:
        for device in self.ledger.devices:
            vendor, model, *_ = self._made_by(device)
            place = (device.unit, "front") if device.unit else ("", "")
            what = " ".join(word for word in (device.fabric, device.tier) if word)
            yield device.name, _role(device), vendor, model, STATUS, self.site, device.rack, *place, what

    def bays(self) -> Rows:
        """A bay for every cage of every device that takes a plug, and for every NIC that is bought for one."""
        cages = {
            kind: [
                (f"{group.name}/{cage}", cage)
                for group in groups_of(device, self.design.case, self.catalog)
                if group.cages.form_factor is not FormFactor.RJ45
                for cage in range(1, group.cages.count + 1)
            ]
            for kind, device in self.kinds.items()
        }
        for device in self.ledger.devices:
            yield from ((device.name, *bay) for bay in cages[device.kind, device.part])
        yield from ((device, bay, number) for device, bay, number, _ in self._cards())

    def _cards(self) -> Iterator[tuple[str, str, int, str]]:
        last: Counter[str] = Counter()
        for adapter in self.ledger.adapters:
            for _ in range(adapter.quantity):
                last[adapter.device] += 1
                yield adapter.device, f"nic-{last[adapter.device]}", last[adapter.device], adapter.part

    def modules(self) -> Rows:
        for seat in self.ledger.seats:
            yield seat.device, f"{seat.group}/{seat.cage}", self.module_models[seat.part], STATUS, "false"
        for device, bay, _, part in self._cards():
            yield device, bay, self.module_models[part], STATUS, "false"

    def interfaces(self) -> Rows:
        """Every port of a cage that is in use, with or without a link of its own."""
        speeds = {end[:3]: link.speed_gbps for link in self.ledger.links for end in (a_end(link), b_end(link))}
        infiniband = {
            end[:3]
            for link in self.ledger.links
            if self.ports.is_infiniband(link.a_device)
            for end in (a_end(link), b_end(link))
        }
        rank = {device.name: number for number, device in enumerate(self.ledger.devices)}
        firsts = [End(device, group, number, 1) for device, group, number in self.ports.used()]
        for device, group, number, _ in sorted(firsts, key=lambda end: (rank[end.device], self.ports.port_number(end))):
            cage = device, group, number
            split, speed = self.ports.split(cage), speeds[cage]
            kind = (
                infiniband_type(self.ports.mode(cage, speed))
                if cage in infiniband
                else ethernet_type(self.ports.group(device, group), speed)
            )
            management = "true" if group in (BMC, MGMT) else "false"
            for port in range(1, split + 1):
                end = End(device, group, number, port)
                yield device, end.label, kind, round(speed * KBPS_PER_GBPS), management, self.ports.name(end)

    def cables(self) -> Rows:
        for link in self.ledger.links:
            a, b = a_end(link), b_end(link)
            ends = (a.device, INTERFACE, a.label, b.device, INTERFACE, b.label)
            yield *ends, self._medium(link.medium), STATUS, link.assembly, f"{link.length_m:g}", "m", link.medium

    def _medium(self, medium: str) -> str:
        part = split_medium_id(medium)[0]
        cable, fibre = self.catalog.cables.get(part), self.catalog.fibres.get(part)
        if cable is None and fibre is None:
            raise ExportError(f"{medium} is no cable or fibre of the catalogue; gpunet verify says what else is wrong")
        return CABLE_TYPES[cable.kind] if cable else FIBRE_TYPES[fibre.grade] if fibre else ""


def _role(device: Device) -> str:
    return ROLE_NAMES.get(device.tier) or ROLE_NAMES.get(device.kind, device.kind)


def _slug(name: str) -> str:
    return name.lower().replace(" ", "-")
