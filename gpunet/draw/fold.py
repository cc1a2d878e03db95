"""Folds a fabric into few boxes: like devices become one box with a count, like groups are drawn once.

Every device and every link of the ledger is in exactly one box and one bundle of its fabric, so the counts of a
picture add up to the ledger.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gpunet.catalogs import split_medium_id
from gpunet.models.design import Design, FabricDesign
from gpunet.models.ledger import Device, Link

TIERS = ("leaf", "spine", "core")
MOST_KINDS = 4
"""Kinds of switches that are told apart as endpoints of one group; more of them share a box."""
OWN_SWITCH = "own-switch"
"""Kind of the box for switches that the fabric they belong to manages; they are counted in their tier already."""
_SEVERAL = 2
Range = tuple[int, int]


@dataclass
class Box:
    """Devices of one kind and part that stand in one place of the picture."""

    kind: str
    """As in the ledger."""
    part: str
    """Catalogue id; '' where several parts share the box, or for a PDU."""
    tier: str
    """Tier of a switch of this fabric; '' for an endpoint."""
    copies: list[list[Device]]
    """The devices of every copy of the group that the box stands in."""
    rails: dict[str, str] = field(default_factory=dict)
    """What rails a leaf carries, by device name, where it does not carry all of them."""

    @cached_property
    def total(self) -> int:
        """Devices in all copies."""
        return sum(map(len, self.copies))

    @cached_property
    def shown(self) -> int:
        """Number of the copy that is drawn: the first that holds any of them."""
        return next(i for i, copy in enumerate(self.copies) if copy)

    @property
    def each(self) -> Range:
        """Fewest and most devices of a copy."""
        counts = [len(copy) for copy in self.copies]
        return min(counts), max(counts)


@dataclass
class Strand:
    """The links between two devices, by the place of each in its copy."""

    lower: int
    upper_box: Box
    upper: int
    links: int
    medium: str
    """Cable or fibre id; '' where several are mixed."""


@dataclass
class Bundle:
    """All links of one class and speed that go up from a box."""

    lower: Box
    fabric: str
    link_class: str
    speed_gbps: float
    links: int
    """Links of all copies."""
    per_device: Range
    """Links of one lower device."""
    parallel: Range
    """Links between one lower and one upper device."""
    media: dict[str, tuple[int, float, float]]
    """Cable or fibre id: links, shortest and longest stock length, m."""
    strands: list[Strand]
    """Links of the copy that is drawn, device to device."""


@dataclass
class Group:
    """Groups that are drawn as one: a scalable unit with its endpoints, or a pod of units."""

    copies: int
    """How many there are."""
    alike: bool
    """True when all copies hold and link the same."""
    per_parent: Range
    """Copies in one pod of the pods around it; the copies themselves where there is no pod."""
    first: int
    """Number of the first copy within the fabric, from 1."""
    switches: list[Box]
    """Leaves of a unit, spines of a pod."""
    endpoints: list[Box] = field(default_factory=list)
    inner: list[Group] = field(default_factory=list)
    """Units of a pod."""

    def boxes(self) -> Iterable[Box]:
        """Every box in it."""
        yield from self.switches
        yield from self.endpoints
        for group in self.inner:
            yield from group.boxes()


@dataclass
class Panel:
    """One fabric with those that share its switches."""

    name: str
    shared: tuple[str, ...]
    """Fabrics that run on its switches."""
    fabric: FabricDesign | None
    top: list[Box]
    """Highest tier above the groups; empty where leaves are all there is."""
    groups: list[Group]
    bundles: list[Bundle]

    def boxes(self) -> list[Box]:
        """Every box, from the top."""
        return [*self.top, *(box for group in self.groups for box in group.boxes())]


@dataclass
class _Part:
    """A connected piece of a fabric: the devices below the top tier that hang together."""

    devices: list[Device]
    inner: list[_Part] = field(default_factory=list)
    number: int = 0
    parent: int = 0


class _Fold:
    """Folds one fabric."""

    def __init__(self, design: Design, name: str) -> None:
        self.design, self.name = design, name
        built = design.result.fabrics
        self.shared = tuple(other for other, fabric in built.items() if fabric.shared_with == name)
        carried = {name, *self.shared}
        self.links = [link for link in design.ledger.links if link.fabric in carried]
        self.order = {device.name: i for i, device in enumerate(design.ledger.devices)}
        by_name = {device.name: device for device in design.ledger.devices}
        self.tier = {d.name: d.tier for d in by_name.values() if d.kind == "switch" and d.fabric == name}
        self._managed_apart(by_name)
        ends = {end for link in self.links for end in (link.a_device, link.b_device)} & by_name.keys()
        reserved = {d.name for d in by_name.values() if d.kind == "reserved" and d.fabric in carried}
        self.devices = [by_name[n] for n in sorted(ends | reserved | self.tier.keys(), key=self.order.__getitem__)]
        present = {tier for tier in self.tier.values() if tier in TIERS}
        self.highest = max((TIERS.index(tier) for tier in present), default=0)
        self.rails = self._rails()
        self.box_of: dict[str, tuple[Box, int, int]] = {}
        """Box, copy and place in the copy of every device."""

    def _managed_apart(self, by_name: dict[str, Device]) -> None:
        """Switches of a management fabric are endpoints of it too: as such they get a stand-in of another name."""
        for i, link in enumerate(self.links):
            if link.link_class == "endpoint-leaf" and link.b_device in self.tier:
                name = f"{link.b_device} (managed)"
                by_name.setdefault(name, by_name[link.b_device]._replace(name=name, kind=OWN_SWITCH, part=""))
                self.order.setdefault(name, len(self.order))
                self.links[i] = link._replace(b_device=name)

    def panel(self) -> Panel:
        top_tier = TIERS[self.highest] if self.highest else ""
        top = [d for d in self.devices if top_tier and self.tier.get(d.name) == top_tier]
        below = [d for d in self.devices if not top_tier or self.tier.get(d.name) != top_tier]
        units = self._pieces([d for d in below if self.tier.get(d.name) in ("leaf", None)], {"endpoint-leaf"})
        spines = [d for d in below if self.tier.get(d.name) not in ("leaf", None)]
        if spines:
            pieces = self._pods(units, spines)
            groups = [self._pod(fold, alike) for fold, alike in self._folded(pieces, most=2)]
        else:
            groups = [self._unit(fold, alike, False) for fold, alike in self._folded(units, most=4)]
        boxes = self._boxes([top], by_tier=True) if top else []
        self._place(boxes)
        for group in groups:
            self._place(group.boxes())
        fabric = self.design.result.fabrics.get(self.name)
        return Panel(self.name, self.shared, fabric, boxes, groups, self._bundles())

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _pieces(self, devices: Sequence[Device], classes: set[str]) -> list[_Part]:
        """Devices that hang together by links of some classes, in the order of their first device."""
        head = {device.name: device.name for device in devices}

        def find(name: str) -> str:
            while head[name] != name:
                head[name] = head[head[name]]
                name = head[name]
            return name

        for link in self.links:
            if link.link_class in classes and link.a_device in head and link.b_device in head:
                head[find(link.a_device)] = find(link.b_device)
        found: dict[str, list[Device]] = defaultdict(list)
        for device in devices:
            found[find(device.name)].append(device)
        parts = sorted(found.values(), key=lambda part: self._rank(part))
        return [_Part(part, number=i) for i, part in enumerate(parts, start=1)]

    def _rank(self, devices: Sequence[Device]) -> tuple[bool, int]:
        """Pieces with switches go first, in the order of their first one."""
        switches = [self.order[d.name] for d in devices if d.name in self.tier]
        return not switches, min(switches or [self.order[d.name] for d in devices])

    def _pods(self, units: list[_Part], spines: list[Device]) -> list[_Part]:
        whole = [device for unit in units for device in unit.devices] + spines
        pods = self._pieces(whole, {"endpoint-leaf", "leaf-spine"})
        pod_of = {device.name: pod for pod in pods for device in pod.devices}
        for unit in units:
            pod = pod_of[unit.devices[0].name]
            unit.parent = pod.number
            pod.inner.append(unit)
        return pods

    # --- folding ------------------------------------------------------------------------------------------------------

    def _folded(self, parts: list[_Part], most: int) -> list[tuple[list[_Part], bool]]:
        """Like pieces together, at most ``most`` kinds of them; with whether they are truly alike."""
        if len(parts) <= _SEVERAL:
            return [([part], True) for part in parts]
        signs: list[Callable[[_Part], object]] = [self._sign, _kinds, lambda _: ()]
        folds = (self._by(sign, parts) for sign in signs)
        chosen, exact = next((fold, i == 0) for i, fold in enumerate(folds) if len(fold) <= most)
        return [(fold, exact or len(fold) == 1) for fold in chosen]

    @staticmethod
    def _by(sign: Callable[[_Part], object], parts: list[_Part]) -> list[list[_Part]]:
        found: dict[object, list[_Part]] = defaultdict(list)
        for part in parts:
            found[sign(part)].append(part)
        return list(found.values())

    @cached_property
    def _links_of(self) -> dict[str, Counter[tuple[str, str, float]]]:
        found: dict[str, Counter[tuple[str, str, float]]] = defaultdict(Counter)
        for link in self.links:
            kind = (link.fabric, link.link_class, link.speed_gbps)
            found[link.a_device][kind] += 1
            found[link.b_device][kind] += 1
        return found

    def _sign(self, part: _Part) -> object:
        """What two pieces must share to be alike: devices, parts, rails, and the links of every device."""
        return tuple(
            sorted(
                Counter(
                    (d.kind, d.part, self.tier.get(d.name, ""), self.rails.get(d.name, ""), *sorted(self._links(d)))
                    for d in part.devices
                ).items(),
                key=repr,
            )
        )

    def _links(self, device: Device) -> Iterable[tuple[tuple[str, str, float], int]]:
        return self._links_of[device.name].items()

    def _pod(self, fold: list[_Part], alike: bool) -> Group:
        units = [unit for pod in fold for unit in pod.inner]
        spines = [[d for d in pod.devices if self.tier.get(d.name) not in ("leaf", None)] for pod in fold]
        inner = [self._unit(kind, same, len(fold) > 1) for kind, same in self._folded(units, most=2)]
        return Group(
            len(fold), alike, (len(fold), len(fold)), fold[0].number, self._boxes(spines, by_tier=True), inner=inner
        )

    def _unit(self, fold: list[_Part], alike: bool, in_pods: bool) -> Group:
        leaves = [[d for d in unit.devices if d.name in self.tier] for unit in fold]
        ends = [[d for d in unit.devices if d.name not in self.tier] for unit in fold]
        counts = Counter(unit.parent for unit in fold).values() if in_pods else [len(fold)]
        return Group(
            len(fold),
            alike,
            (min(counts), max(counts)),
            fold[0].number,
            self._boxes(leaves, by_tier=True),
            self._boxes(ends, by_tier=False),
        )

    def _boxes(self, copies: list[list[Device]], by_tier: bool) -> list[Box]:
        """A box for every kind of device in the copies."""
        models = {d.part for copy in copies for d in copy if d.kind == "switch"}
        lumped = not by_tier and len(models) >= MOST_KINDS

        def key(device: Device) -> tuple[str, str, str]:
            part = "" if lumped and device.kind == "switch" else device.part
            return device.kind, part, self.tier.get(device.name, "")

        keys = dict.fromkeys(key(d) for copy in copies for d in copy)
        boxes = []
        for kind, part, tier in keys:
            held = [[d for d in copy if key(d) == (kind, part, tier)] for copy in copies]
            for copy in held:
                copy.sort(key=lambda d: (d.group, self.order[d.name]))
            rails = {d.name: self.rails[d.name] for copy in held for d in copy if d.name in self.rails}
            boxes.append(Box(kind, part, tier, held, rails))
        return boxes

    def _place(self, boxes: Iterable[Box]) -> None:
        for box in boxes:
            for number, copy in enumerate(box.copies):
                for place, device in enumerate(copy):
                    self.box_of[device.name] = box, number, place

    # --- links --------------------------------------------------------------------------------------------------------

    def _bundles(self) -> list[Bundle]:
        """The links of every box upwards, in the order of the ledger."""
        found: dict[tuple[int, str, str, float], list[tuple[str, str, Link]]] = defaultdict(list)
        for link in self.links:
            lower, upper = link.a_device, link.b_device
            if link.link_class == "endpoint-leaf":
                lower, upper = upper, lower
            box = self.box_of[lower][0]
            found[id(box), link.fabric, link.link_class, link.speed_gbps].append((lower, upper, link))
        return [
            self._bundle(self.box_of[rows[0][0]][0], fabric, link_class, speed, rows)
            for (_, fabric, link_class, speed), rows in found.items()
        ]

    def _bundle(
        self, box: Box, fabric: str, link_class: str, speed_gbps: float, rows: list[tuple[str, str, Link]]
    ) -> Bundle:
        per_device: Counter[str] = Counter({d.name: 0 for copy in box.copies for d in copy})
        per_device.update(lower for lower, _, _ in rows)
        pairs: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        media: dict[str, tuple[int, float, float]] = {}
        for lower, upper, link in rows:
            medium = split_medium_id(link.medium)[0]
            pairs[lower, upper][medium] += 1
            count, shortest, longest = media.get(medium, (0, link.length_m, link.length_m))
            media[medium] = count + 1, min(shortest, link.length_m), max(longest, link.length_m)
        strands = []
        for (lower, upper), kinds in pairs.items():
            _, copy, place = self.box_of[lower]
            if copy == box.shown:
                upper_box, _, at = self.box_of[upper]
                strands.append(
                    Strand(place, upper_box, at, kinds.total(), next(iter(kinds)) if len(kinds) == 1 else "")
                )
        totals = [kinds.total() for kinds in pairs.values()]
        return Bundle(
            box,
            fabric,
            link_class,
            speed_gbps,
            len(rows),
            (min(per_device.values()), max(per_device.values())),
            (min(totals), max(totals)),
            media,
            strands,
        )

    def _rails(self) -> dict[str, str]:
        """Which rails a leaf carries: a rail is the place of a server's port among those of this fabric."""
        fabric = self.design.result.fabrics.get(self.name)
        if fabric is None or fabric.topology != "rail-optimized":
            return {}
        own = [link for link in self.links if link.fabric == self.name and link.link_class == "endpoint-leaf"]
        ports: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
        servers = {d.name for d in self.devices if d.kind == "server"}
        for link in own:
            if link.b_device in servers:
                ports[link.b_device].append((link.b_group, link.b_cage, link.b_port))
        rail = {(name, port): i for name, all_ports in ports.items() for i, port in enumerate(sorted(all_ports), 1)}
        carried: dict[str, set[int]] = defaultdict(set)
        for link in own:
            if link.b_device in servers:
                carried[link.a_device].add(rail[link.b_device, (link.b_group, link.b_cage, link.b_port)])
        most = max(map(len, ports.values()), default=0)
        return {leaf: _spans(sorted(found)) for leaf, found in carried.items() if len(found) < most}


def panels(design: Design, names: Sequence[str] | None = None) -> list[Panel]:
    """A panel for every fabric that has switches of its own, or for those named."""
    own = [name for name, fabric in design.result.fabrics.items() if not fabric.shared_with]
    return [_Fold(design, name).panel() for name in own if names is None or name in names]


def _kinds(part: _Part) -> object:
    """The kinds of device in a piece."""
    return tuple(sorted({(d.kind, d.part, d.tier) for d in part.devices}))


def _spans(numbers: Sequence[int]) -> str:
    """``1–3, 5`` for 1, 2, 3, 5."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)
