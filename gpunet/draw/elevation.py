"""Rack elevations: what stands in which unit, and the heat of every rack against what it may draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpunet.draw.legend import KINDS, device_entries, legend_height, write_legend
from gpunet.draw.palette import TINT, Palette
from gpunet.draw.rack_fold import RackFold, Racks, folded_racks
from gpunet.draw.svg import Picture, shortened, text_width
from gpunet.models.design import Design
from gpunet.models.ledger import Device
from gpunet.models.parts import Catalog
from gpunet.report.words import counted, listed, percent

PREFIX = "gn-racks"
WIDTH, MARGIN, HEADER = 1120.0, 20.0, 64.0
UNIT = 14.0
"""Height of a rack unit: one line of text."""
_SIZE, _SMALL, _TITLE = 12.0, 11.0, 14.0
_ACROSS = 4
_GAP, _SCALE = 24.0, 22.0
"""Between racks, and what the numbers of the units take."""
_ABOVE, _BELOW = 66.0, 44.0
_STACK = 4.0
_TEXT_LINE = 16.0
_EVERY = 4
"""Units between two numbers of the scale."""
HOT, COOL = "#d55e00", "#0072b2"
_WARM = 1.0


def elevations_svg(
    design: Design, catalog: Catalog, fabrics: Sequence[str] | None = None, *, prefix: str = PREFIX
) -> str:
    """Every rack in use as SVG, or those with a switch of the fabrics named; like racks are drawn once.

    ``prefix`` starts every id and class, so that several pictures can stand in one page. Equal designs give equal
    bytes. Raises ``ValueError`` for a fabric that the design does not have.
    """
    built = design.result.fabrics
    for name in fabrics or ():
        if name not in built:
            raise ValueError(f"found {name!r} as a fabric, expected {', '.join(built)}")
    own = None if fabrics is None else [built[name].shared_with or name for name in fabrics]
    racks = folded_racks(design, catalog, own)
    palette = Palette(design, catalog)
    shown = [*racks.drawn, *racks.told]
    entries = device_entries(
        [device for fold in shown for device in fold.devices for _ in fold.names], catalog, palette
    )
    tallest = max([racks.units, *(d.unit + d.rack_units - 1 for fold in racks.drawn for d in fold.devices)])
    deep = _ABOVE + tallest * UNIT + _BELOW
    rows = -(-len(racks.drawn) // _ACROSS)
    told = len(racks.told) * _TEXT_LINE + (_TEXT_LINE if racks.told else 0)
    height = HEADER + rows * deep + told + legend_height(entries, WIDTH - 2 * MARGIN) + MARGIN
    name = design.result.case or "design"
    summary = _summary(racks)
    said = " ".join([summary, *(_in_words(fold, racks) for fold in shown)])
    picture = Picture(prefix, WIDTH, height, f"{name}: racks", said)
    picture.text(MARGIN, 30, shortened(f"{name}: racks", 20, WIDTH - 2 * MARGIN, True), 20, bold=True)
    picture.text(MARGIN, 50, summary, 13, ink="soft")
    wide = (WIDTH - 2 * MARGIN - (_ACROSS - 1) * _GAP) / _ACROSS
    for i, fold in enumerate(racks.drawn):
        row, column = divmod(i, _ACROSS)
        _Rack(picture, fold, racks, palette, MARGIN + column * (wide + _GAP), HEADER + row * deep, wide, tallest).all()
    y = HEADER + rows * deep
    for fold in racks.told:
        y += _TEXT_LINE
        _tell(picture, fold, racks, y)
    write_legend(picture, entries, MARGIN, HEADER + rows * deep + told, WIDTH - 2 * MARGIN)
    return str(picture)


def _summary(racks: Racks) -> str:
    folds = [*racks.drawn, *racks.told]
    if not folds:
        return "There is nothing in the racks asked for."
    kinds: Counter[str] = Counter()
    for fold in folds:
        kinds[_kind(fold)] += len(fold.names)
    hottest = max(fold.heat_mw[1] for fold in folds)
    total = sum(kinds.values())
    return (
        f"{counted(total, 'rack')}: {listed([f'{n:,} {kind}' for kind, n in kinds.items()])}. "
        f"The hottest draws {_kw(hottest)} of {racks.limit_mw / 1e6:g} kW, plugs included."
    )


def _kind(fold: RackFold) -> str:
    """``network``, ``server``, ``storage`` or a mixture."""
    kinds = {device.kind for device in fold.devices}
    names = {"switch": "network", "server": "server", "storage-server": "storage"}
    return " and ".join(name for kind, name in names.items() if kind in kinds) or "other"


def _kw(milliwatts: int) -> str:
    return f"{milliwatts / 1e6:,.1f}"


def _heat(fold: RackFold, racks: Racks) -> str:
    low, high = (_kw(mw) for mw in fold.heat_mw)
    share = percent(fold.heat_mw[1] / racks.limit_mw)
    return f"{low if low == high else f'{low}–{high}'} of {racks.limit_mw / 1e6:g} kW ({share})"


def _held(devices: Sequence[Device]) -> str:
    counts = Counter((device.kind, device.part) for device in devices)
    return listed(
        [f"{counted(n, *KINDS.get(kind, (kind, kind)))} {part}".rstrip() for (kind, part), n in counts.items()]
    )


def _in_words(fold: RackFold, racks: Racks) -> str:
    each = " each" if len(fold.names) > 1 else ""
    what = f"{counted(len(fold.names), f'{_kind(fold)} rack')} ({fold.span})"
    return f"{what}: {_held(fold.devices)}{each}; {_heat(fold, racks)}."


def _tell(picture: Picture, fold: RackFold, racks: Racks, y: float) -> None:
    picture.open(racks=len(fold.names))
    for (kind, part), count in Counter((d.kind, d.part) for d in fold.devices).items():
        picture.open(devices=count * len(fold.names), kind=kind, part=part)
        picture.close()
    text = shortened(_in_words(fold, racks), _SIZE, WIDTH - 2 * MARGIN)
    picture.text(MARGIN, y, text, _SIZE)
    picture.close()


class _Rack:
    """Draws one rack, which stands for all that are filled like it."""

    def __init__(
        self,
        picture: Picture,
        fold: RackFold,
        racks: Racks,
        palette: Palette,
        x: float,
        y: float,
        width: float,
        units: int,
    ) -> None:
        self.picture, self.fold, self.racks, self.palette = picture, fold, racks, palette
        self.x, self.y, self.width, self.units = x, y, width, units
        self.top = y + _ABOVE
        self.floor = self.top + units * UNIT
        self.left, self.inner = x + _SCALE, width - _SCALE - _STACK

    def all(self) -> None:
        picture, fold = self.picture, self.fold
        picture.open(racks=len(fold.names), heat_w=round(fold.heat_mw[1] / 1000))
        picture.hint(", ".join(fold.names))
        self._head()
        for back in range(2 if len(fold.names) > 1 else 0, -1, -1):
            off = back * _STACK / 2
            picture.rect(
                self.left + off,
                self.floor - self.racks.units * UNIT + off,
                self.inner,
                self.racks.units * UNIT,
                fill="panel",
                stroke="rule",
                radius=2,
            )
        for unit in range(1, self.units + 1):
            if unit == 1 or unit % _EVERY == 0:
                picture.text(self.left - 5, self.floor - unit * UNIT + 11, str(unit), 10, ink="soft", at="end")
        beside = [device for device in fold.devices if device.unit == 0]
        for device in fold.devices:
            if device.unit:
                self._device(device)
        if beside:
            self._beside(beside)
        picture.close()

    def _head(self) -> None:
        picture, fold = self.picture, self.fold
        count = f"{len(fold.names):,} × " if len(fold.names) > 1 else ""
        title = shortened(f"{count}{_kind(fold)} rack", _TITLE, self.width, True)
        picture.text(self.x, self.y + 16, title, _TITLE, bold=True)
        picture.text(self.x, self.y + 31, shortened(fold.span, _SIZE, self.width), _SIZE, ink="soft")
        picture.text(self.x, self.y + 46, shortened(_heat(fold, self.racks), _SIZE, self.width), _SIZE)
        share = fold.heat_mw[1] / self.racks.limit_mw
        wide = self.width - _STACK
        picture.rect(self.x, self.y + 51, wide, 6, fill="paper", stroke="rule", radius=2)
        if share:
            picture.rect(self.x, self.y + 51, wide * min(1, share), 6, fill=HOT if share > _WARM else COOL, radius=2)

    def _device(self, device: Device) -> None:
        picture, colour = self.picture, self.palette.body(device.part)
        tall = max(1, device.rack_units) * UNIT
        y = self.floor - (device.unit - 1) * UNIT - tall
        picture.open(devices=len(self.fold.names), kind=device.kind, part=device.part)
        picture.hint(f"{device.name}: {device.part}, unit {device.unit}" if len(self.fold.names) == 1 else device.part)
        picture.rect(self.left + 2, y, self.inner - 4, tall, fill="paper")
        picture.rect(self.left + 2, y, self.inner - 4, tall, fill=colour, opacity=TINT, stroke="rule")
        picture.rect(self.left + 2, y, 5, tall, fill=colour)
        room = self.inner - 18
        lines = self._said(device)
        if device.rack_units < len(lines):
            # A name that is whole says more than a name and half a part.
            whole = " ".join(lines)
            lines = [whole if text_width(whole, _SMALL) <= room else lines[0]]
        start = y + (tall - len(lines) * UNIT) / 2 + 11
        for i, line in enumerate(lines):
            picture.text(self.left + 11, start + i * UNIT, shortened(line, _SMALL, room), _SMALL)
        picture.close()

    def _said(self, device: Device) -> list[str]:
        """Name and part; of racks that are drawn once for many, the role in place of the name."""
        role = f"{device.fabric} {device.tier}" if device.kind == "switch" else KINDS.get(device.kind, ("",))[0]
        part = f"NIC {device.part}" if device.kind == "storage-server" else device.part
        return [device.name if len(self.fold.names) == 1 else role, part]

    def _beside(self, devices: Sequence[Device]) -> None:
        picture = self.picture
        for kind, count in Counter(device.kind for device in devices).items():
            picture.open(devices=count * len(self.fold.names), kind=kind, part="")
            picture.close()
        counts = Counter(device.kind for device in devices)
        text = "beside: " + listed([counted(n, *KINDS.get(kind, (kind, kind))) for kind, n in counts.items()])
        picture.text(self.left, self.floor + 20, shortened(text, _SIZE, self.inner), _SIZE, ink="soft")
