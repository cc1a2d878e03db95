"""Chapters that follow from the design alone: money and watts, racks, lengths, bill, evidence and checks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from gpunet.catalogs import find_part, split_medium_id
from gpunet.models.design import Design, InterconnectLine
from gpunet.models.parts import Catalog, Module
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Table, Tone
from gpunet.report.charts import Chart, Row, Series, columns, stacked
from gpunet.report.html_breakdown import Booked, booked, tier_rank
from gpunet.report.html_page import Fold, Grid, Item, Picture, Section, Shelf
from gpunet.report.trays_text import trays
from gpunet.report.words import FIRM, counted, gbps, listed, percent, price, usd

KINDS = {
    "switch": "switch",
    "module": "module",
    "cable": "cable",
    "fibre": "fibre",
    "panel": "fibre",
    "nic": "nic",
    "licence": "other",
    "installation": "other",
    "rack": "other",
    "discount": "other",
}
"""Kinds of parts with their colours."""
_HOW = {"quoted": "quoted", "read": "firm", "recalled": "recalled", "estimated": "estimated"}
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth")
_FAR = 2.5
"""A reach this many times the longest link is told and not drawn: it would flatten the bars."""


def colour(name: str) -> str:
    """A colour of the page."""
    return f"var(--{name})"


def kind_series(kinds: Sequence[str]) -> tuple[Series, ...]:
    """The kinds that occur, in their order; those without a colour of their own come last."""
    ordered = [kind for kind in KINDS if kind in kinds] + sorted(set(kinds) - set(KINDS))
    return tuple(Series(kind, colour(KINDS.get(kind, "other"))) for kind in ordered)


def topology_section(design: Design, catalog: Catalog) -> Section:
    """The drawing of tiers, rails and bundles."""
    from gpunet.draw.topology import topology_svg

    says = "Switches by tier, with the links between them; groups that are alike are drawn once with their number."
    return Section(
        "topology", "Topology", (Picture("topology-drawing", "All fabrics", says, topology_svg(design, catalog)),)
    )


# --- money and watts --------------------------------------------------------------------------------------------------


def money_section(design: Design, catalog: Catalog) -> Section:
    """Cost and power by fabric, tier and kind of part."""
    found = booked(design, catalog)
    made = (
        _by("cost-by-fabric", "Cost by fabric", found, "fabric", "cost_usd"),
        _by("power-by-fabric", "Largest draw by fabric", found, "fabric", "power_max_w"),
        _by("cost-by-tier", "Cost by tier", found, "tier", "cost_usd"),
        _by("power-by-tier", "Largest draw by tier", found, "tier", "power_max_w"),
    )
    says = Paragraph(
        "Every piece of the wiring is booked once: to its fabric, to the tier of the switch it is or is plugged into, "
        "and to its kind. The sums are those of the bill, to the cent and to the milliwatt."
    )
    return Section("breakdown", "Cost and power", (says, Grid(tuple(chart for chart in made if chart))))


def _by(name: str, title: str, found: list[Booked], row: str, value: str) -> Chart | None:
    """The chart of one sum; none where nothing is paid, or nothing draws."""
    cells: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one in found:
        if getattr(one, value):
            cells[getattr(one.place, row), one.kind] += getattr(one, value)
    if not cells:
        return None
    series = kind_series([kind for _, kind in cells])
    money = value == "cost_usd"
    names = list(dict.fromkeys(at for at, _ in cells))
    if row == "tier":
        names.sort(key=tier_rank)
    rows: list[Row] = [
        {row: at, "kind": s.name, value: round(cells[at, s.name], 3)}
        for at in names
        for s in series
        if (at, s.name) in cells
    ]
    total = sum(cells.values())

    def shown(amount: float) -> str:
        return usd(amount) if money else f"{amount:,.3f}"

    table = Table(
        (
            Column(row, name=True),
            *(Column(f"{s.name} {'USD' if money else 'W'}", number=True) for s in series),
            Column("total", number=True),
        ),
        tuple(
            (
                at,
                *(shown(cells.get((at, s.name), 0)) for s in series),
                shown(sum(cells.get((at, s.name), 0) for s in series)),
            )
            for at in names
        ),
        ("total", *(shown(sum(cells.get((at, s.name), 0) for at in names)) for s in series), shown(total)),
    )
    most = max(names, key=lambda at: sum(cells.get((at, s.name), 0) for s in series))
    share = sum(cells.get((most, s.name), 0) for s in series) / total
    says = f"{percent(share)} goes to {most}." if len(names) > 1 else f"All of it goes to {most}."
    title_x = "USD" if money else "W"
    spec = stacked(rows, series, row=row, colour="kind", value=value, title=title_x, form="~s")
    return Chart(name, title, says, spec, table, series)


# --- lengths ----------------------------------------------------------------------------------------------------------


def lengths_section(design: Design, catalog: Catalog) -> Section:
    """Links by length with the reach of what they are made of."""
    charts = tuple(
        _lengths(name, fabric.interconnects, catalog)
        for name, fabric in design.result.fabrics.items()
        if fabric.interconnects
    )
    says = Paragraph(
        "Stock lengths of every link: the way over the trays, the rise at both ends and the slack of the case, up to "
        "the next length that is sold. A dashed line is the farthest that a link of that kind may be."
    )
    told = trays(design.result)
    fill = (Fold("How full every section of tray is", tuple(told)),) if told else ()
    return Section("lengths", "Cable lengths and reach", (says, Grid(charts), *fill))


def _lengths(fabric: str, lines: Sequence[InterconnectLine], catalog: Catalog) -> Chart:
    counts: Counter[tuple[str, float]] = Counter()
    reach_m: dict[str, float] = {}
    for line in lines:
        base, _ = split_medium_id(line.medium)
        kind = f"{line.link_class}, {gbps(line.speed_gbps)}, {base}"
        counts[kind, line.length_m] += line.count
        reach_m[kind] = min(_reach_m(line, catalog), reach_m.get(kind, float("inf")))
    kinds = sorted(reach_m, key=lambda k: -sum(n for (kind, _), n in counts.items() if kind == k))
    named = {
        kind: (kind if len(kinds) <= len(_ORDER) or i < len(_ORDER) - 1 else "others") for i, kind in enumerate(kinds)
    }
    rows: list[Row] = [{"kind": named[kind], "x": m, "count": n} for (kind, m), n in sorted(counts.items())]
    series = tuple(Series(name, colour(c)) for name, c in zip(dict.fromkeys(named.values()), _ORDER, strict=False))
    longest_m = max(m for _, m in counts)
    drawn = sorted({r for r in reach_m.values() if r <= _FAR * longest_m})
    far = sorted({r for r in reach_m.values() if r > _FAR * longest_m})
    limits: list[Row] = [{"x": r, "label": f"reach {r:g} m"} for r in drawn]
    tightest = max((max(m for (kind, m) in counts if kind == k) / reach_m[k], k) for k in kinds)
    says = f"{counted(sum(counts.values()), 'link')} of up to {longest_m:g} m. The nearest to its reach uses "
    says += f"{percent(tightest[0])} of it."
    if far:
        says += f" Beyond the axis: reach {listed([f'{r:g} m' for r in far])}."
    table = Table(
        (
            Column("links"),
            Column("length m", number=True),
            Column("count", number=True),
            Column("reach m", number=True),
        ),
        tuple((kind, f"{m:g}", f"{n:,}", f"{reach_m[kind]:g}") for (kind, m), n in sorted(counts.items())),
    )
    spec = columns(rows, series, x_title="length, m", y_title="links", limits=limits)
    return Chart(
        f"lengths-{fabric}", fabric.capitalize() if fabric != "oob" else "Out of band", says, spec, table, series
    )


def _reach_m(line: InterconnectLine, catalog: Catalog) -> float:
    """The farthest a link of these parts may be: of two modules the lesser reach, of a cable the longest sold."""
    base, _ = split_medium_id(line.medium)
    fibre = catalog.fibres.get(base)
    if fibre is None:
        return max(stock.length_m for stock in catalog.cables[base].lengths)
    ends: list[Module] = [catalog.modules[part] for part in (line.a_part, line.b_part) if part]
    return min(module.reach_m[fibre.grade] for module in ends)


# --- bill, links, evidence and checks ---------------------------------------------------------------------------------


def bill_section(design: Design) -> Section:
    """What to buy, and how every link is made."""
    from gpunet.report.bill import bill
    from gpunet.report.fabrics import fabrics

    links = Fold("How every link is built, and why it fits", tuple(fabrics(design.result)))
    return Section("bill", "Bill of materials", (*_without_heading(bill(design.result)), links))


def _without_heading(blocks: list[Block]) -> list[Block]:
    return [block for block in blocks if not isinstance(block, Heading)]


_EVIDENCE = (
    Column("part", name=True),
    Column("unit USD", number=True),
    Column("known by", name=True),
    Column("date", name=True),
    Column("source"),
    Column("basis"),
)
_SOURCES = (Column("source", name=True), Column("date", name=True), Column("how", name=True), Column("what it is"))


def evidence_section(design: Design, catalog: Catalog) -> Section:
    """Where every price comes from, and every figure of every part behind it."""
    result = design.result
    rows = tuple(
        (
            line.part,
            price(line.unit_price_usd, line.price_how),
            line.price_how if line.price_how in FIRM else Cell(line.price_how, Tone.WEAK),
            line.price_date,
            line.price_source,
            line.note,
        )
        for line in result.bom
    )
    keys = dict.fromkeys(key for line in result.bom for key in line.price_source.split("+"))
    sources = [(key, catalog.sources[key]) for key in keys if key in catalog.sources]
    known = Table(_SOURCES, tuple((k, s.date, s.how.value, f"{s.at}\n{s.note}".strip()) for k, s in sources))
    items: list[Item] = [*_evidence_chart(design), Heading("Prices"), Table(_EVIDENCE, rows)]
    if sources:
        items += [Heading("Sources of the prices"), known]
    items.append(Shelf("Every figure of every part", tuple(_parts(design, catalog))))
    return Section("evidence", "Evidence", tuple(items))


def _evidence_chart(design: Design) -> list[Chart]:
    cells: defaultdict[tuple[str, str], float] = defaultdict(float)
    for line in design.result.bom:
        if line.extended_usd:
            cells[line.kind, line.price_how] += line.extended_usd
    if not cells:
        return []
    rows: list[Row] = [{"part kind": k, "known by": h, "cost_usd": round(x, 2)} for (k, h), x in cells.items()]
    series = tuple(Series(how, colour(name)) for how, name in _HOW.items() if any(h == how for _, h in cells))
    table = Table(
        (Column("part kind", name=True), Column("known by", name=True), Column("USD", number=True)),
        tuple((k, h, usd(x)) for (k, h), x in cells.items()),
    )
    total = sum(cells.values())
    weak = sum(x for (_, how), x in cells.items() if how not in FIRM)
    says = (
        f"{percent(weak / total)} of the cost rests on prices that nobody has offered."
        if total
        else "Nothing is paid for."
    )
    spec = stacked(rows, series, row="part kind", colour="known by", value="cost_usd", title="USD", form="~s")
    return [Chart("evidence-chart", "Cost by how its prices are known", says, spec, table, series)]


def _parts(design: Design, catalog: Catalog) -> list[Fold]:
    """One fold for every part: ports, watts, reach and price, each with how and when it was found."""
    from gpunet.report.part_text import part_report

    names = list(dict.fromkeys(line.part for line in design.result.bom if find_part(catalog, line.part)))
    by_base: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        base, _ = split_medium_id(name)
        medium = base in catalog.fibres or base in catalog.cables
        by_base[base if medium else name].append(name)
    found: list[Fold] = []
    for base in by_base:
        blocks = part_report(catalog, base)
        if blocks:
            head = blocks[0].text if isinstance(blocks[0], Heading) else base
            found.append(Fold(head, tuple(_without_heading(blocks))))
    return found


def checks_section(design: Design) -> Section:
    """Every check of the finished wiring."""
    from gpunet.report.design_text import verification

    verified = design.result.verify
    if verified is None:
        return Section("checks", "Checks", (Paragraph("This design was not verified.", Tone.BAD),))
    passed = sum(check.passed for check in verified.checks)
    says = (
        f"{passed} of {counted(len(verified.checks), 'check')} passed. They are counted again from the finished "
        "wiring, by code that shares nothing with the solver."
    )
    return Section("checks", "Checks", (Paragraph(says), *_without_heading(verification(verified))))
