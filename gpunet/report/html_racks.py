"""The chapter of the room: what stands where, and how much heat each rack gives off."""

from __future__ import annotations

from collections import Counter, defaultdict

from gpunet.models.design import Design
from gpunet.models.evidence import MILLIWATTS_PER_WATT
from gpunet.models.parts import Catalog
from gpunet.report.blocks import Column, Paragraph, Table
from gpunet.report.charts import Chart, Row, Series, plan, stacked
from gpunet.report.html_design import colour
from gpunet.report.html_page import Item, Picture, Section
from gpunet.report.words import counted, percent

_MOST_BARS = 32
"""Racks drawn one by one; of more, racks that are alike are one bar."""
_MOST_ON_PLAN = 4_000
_NETWORK = "network"
_KINDS = {
    "server": ("GPU servers", "own"),
    "storage-server": ("storage servers", "cable"),
    "switch": (_NETWORK, "rival"),
}
_CLASSES = ((0.25, "heat1"), (0.5, "heat2"), (0.75, "heat3"), (0.9, "heat4"), (float("inf"), "heat5"))
_KW = MILLIWATTS_PER_WATT * 1000


def racks_section(design: Design, catalog: Catalog) -> Section:
    """Heat per rack, the room from above, and the elevations."""
    from gpunet.draw.elevation import elevations_svg

    heat = _heat(design, catalog)
    limit_kw = _limit_kw(design)
    used = {rack: kinds for rack, kinds in heat.items() if sum(kinds.values())}
    if not used:
        return Section("racks", "Racks and heat", (Paragraph("Nothing in the racks gives off heat."),))
    items: list[Item] = [_bars(used, limit_kw)]
    if 1 < len(used) <= _MOST_ON_PLAN:
        items.append(_plan(design, used, limit_kw))
    says = "Every rack from the front, heat included; racks that are alike are drawn once with their number."
    items.append(Picture("rack-elevations", "Elevations", says, elevations_svg(design, catalog)))
    return Section("racks", "Racks and heat", tuple(items))


def _limit_kw(design: Design) -> float:
    rack = design.case.site.rack
    return rack.power_kw if rack.cooling_kw is None else min(rack.power_kw, rack.cooling_kw)


def _heat(design: Design, catalog: Catalog) -> dict[str, dict[str, float]]:
    """Largest draw by rack and kind of device, plugs included, kW; racks in the order of the room."""
    from gpunet.solver.verify_book import Book
    from gpunet.solver.verify_links import Wiring
    from gpunet.solver.verify_site import Heat

    heat = Heat(Wiring(Book(design, catalog)))
    draw_mw = (heat.body_mw + heat.plugs_mw).tolist()
    found: dict[str, Counter[str]] = {place.name: Counter() for place in design.ledger.places}
    for device, mw in zip(design.ledger.devices, draw_mw, strict=True):
        found[device.rack][_KINDS.get(device.kind, _KINDS["switch"])[0]] += mw
    return {rack: {kind: mw / _KW for kind, mw in kinds.items() if mw} for rack, kinds in found.items()}


def _bars(used: dict[str, dict[str, float]], limit_kw: float) -> Chart:
    groups: defaultdict[tuple[tuple[str, float], ...], list[str]] = defaultdict(list)
    for rack, kinds in used.items():
        groups[tuple(sorted((kind, round(kw, 6)) for kind, kw in kinds.items()))].append(rack)
    alone = len(used) <= _MOST_BARS
    bars = [((rack,), used[rack]) for rack in used] if alone else [(tuple(r), dict(k)) for k, r in groups.items()]
    if not alone:
        bars.sort(key=lambda bar: -sum(bar[1].values()))
    drawn = bars[:_MOST_BARS]
    rows: list[Row] = [
        {"rack": _named(racks), "kind": kind, "heat_kw": round(kw, 6)}
        for racks, kinds in drawn
        for kind, kw in kinds.items()
    ]
    series = tuple(Series(name, colour(c)) for name, c in _KINDS.values() if any(row["kind"] == name for row in rows))
    hottest = max(used, key=lambda rack: sum(used[rack].values()))
    most_kw = sum(used[hottest].values())
    says = (
        f"{counted(len(used), 'rack')} in use; the hottest, {hottest}, gives off {most_kw:,.2f} kW, "
        f"{percent(most_kw / limit_kw)} of the {limit_kw:g} kW that a rack may draw and shed (the red line). "
        "Largest draw, plugs included."
    )
    if len(bars) > len(drawn):
        says += f" The {len(drawn)} hottest kinds of rack of {len(bars)} are drawn."
    table = Table(
        (
            Column("rack", name=alone),
            *(Column(f"{s.name} kW", number=True) for s in series),
            Column("heat kW", number=True),
        ),
        tuple(
            (_named(racks), *(f"{kinds.get(s.name, 0):,.3f}" for s in series), f"{sum(kinds.values()):,.3f}")
            for racks, kinds in bars
        ),
    )
    spec = stacked(
        rows, series, row="rack", colour="kind", value="heat_kw", title="heat, kW", form=",.3~f", line_at=limit_kw
    )
    return Chart("heat", "Heat per rack", says, spec, table, series)


def _named(racks: tuple[str, ...]) -> str:
    return racks[0] if len(racks) == 1 else f"{len(racks):,} like {racks[0]}"


def _plan(design: Design, used: dict[str, dict[str, float]], limit_kw: float) -> Chart:
    labels = ["under 25 %", "25 to 50 %", "50 to 75 %", "75 to 90 %", "over 90 %"]
    rows: list[Row] = []
    for place in design.ledger.places:
        if place.name not in used:
            continue
        kw = sum(used[place.name].values())
        at = next(i for i, (end, _) in enumerate(_CLASSES) if kw / limit_kw <= end)
        rows.append(
            {"rack": place.name, "x_m": place.x_m, "y_m": place.y_m, "heat_kw": round(kw, 3), "kind": labels[at]}
        )
    seen = {row["kind"] for row in rows}
    series = tuple(Series(label, colour(c)) for label, (_, c) in zip(labels, _CLASSES, strict=True) if label in seen)
    across = len({place.x_m for place in design.ledger.places})
    table = Table(
        (
            Column("rack", name=True),
            Column("x m", number=True),
            Column("y m", number=True),
            Column("heat kW", number=True),
        ),
        tuple((row["rack"], f"{row['x_m']:g}", f"{row['y_m']:g}", f"{row['heat_kw']:,.3f}") for row in rows),
    )
    says = f"Where the heat is: every rack in use from above, by the share of its {limit_kw:g} kW."
    return Chart(
        "heat-plan",
        "The room from above",
        says,
        plan(rows, series, cell_px=max(5, min(22, 520 / across))),
        table,
        series,
    )
