"""Chapters from studies: frontiers, ceilings, prices and protocols. One that was not made says how to get it."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.models.study import Study
from gpunet.models.study_alternatives import Alternatives
from gpunet.models.study_ceiling import Ceiling
from gpunet.models.study_compare import Comparison
from gpunet.models.study_explain import Explanation
from gpunet.models.study_frontier import Frontier, FrontierPoint
from gpunet.report.blocks import Block, Column, Paragraph, Table
from gpunet.report.charts import Chart, Row, Series, scatter, stacked
from gpunet.report.html_design import colour, kind_series
from gpunet.report.html_page import Command, Fold, Grid, Item, Section
from gpunet.report.words import counted, kw, percent, usd

MOST_POINTS = 600
"""Points of a frontier that are drawn and listed; of more, evenly spread ones."""
_AXES = {
    "cost": ("network cost, USD", "~s"),
    "power": ("largest draw, W", "~s"),
    "tco": ("cost of ownership, USD", "~s"),
    "gpus": ("GPUs", ",d"),
    "oversubscription": ("oversubscription", "~g"),
    "latency": ("latency, ns", "~s"),
    "racks": ("network racks", ",d"),
}
_HULL, _OFF, _OWN = "on the convex hull", "found by no weighting", "this design"


def frontier_section(design: Design, catalog: Catalog, studies: Sequence[Study], case_name: str) -> Section:
    """What less of one thing costs in another."""
    found = [s for s in studies if isinstance(s, Frontier) and s.y.name != "gpus" and s.points]
    items: list[Item] = []
    for study in found:
        items += _frontier(design, study, _own_point(design, catalog, study))
    if not found:
        items.append(ask("what a cooler design would cost, point by point", case_name, "frontier", "all"))
    return Section("frontier", "Cost against power", tuple(items))


def _frontier(design: Design, study: Frontier, own: tuple[float, float] | None) -> list[Item]:
    from gpunet.report.frontier_text import frontier_report

    title = f"{_AXES[study.y.name][0].partition(',')[0]} against {_AXES[study.x.name][0].partition(',')[0]}"
    first, *rest = frontier_report(study)
    chart = _points(f"frontier-{study.x.name}-{study.y.name}", title.capitalize(), study, own)
    return [first, *_beaten(design, study, own), chart, Fold("What changes from point to point", tuple(rest))]


def _own_point(design: Design, catalog: Catalog, study: Frontier) -> tuple[float, float] | None:
    """Where the design stands on both axes, as far as its totals say."""
    totals = design.result.totals
    assert totals is not None
    servers = [d.part for d in design.ledger.devices if d.kind == "server"]
    gpus = sum(catalog.servers[part].gpus.v for part in servers)
    known = {"cost": totals.cost_usd, "power": totals.power_max_w, "tco": totals.tco_usd, "gpus": gpus}
    x, y = known.get(study.x.name), known.get(study.y.name)
    return None if x is None or y is None else (x, y)


def _beaten(design: Design, study: Frontier, own: tuple[float, float] | None) -> list[Block]:
    """Whether some point is at least as good on both axes as the design and better on one."""
    if own is None or study.y.more_is_better:
        return []
    better = [p for p in study.points if p.y is not None and p.x <= own[0] and p.y <= own[1] and (p.x, p.y) != own]
    if not better:
        return []
    best = min(better, key=lambda p: (p.x, p.y or 0))
    objective = design.result.objective.name if design.result.objective else "its objective"
    return [
        Paragraph(
            f"This design was made for {objective} alone, and {_figure(best.x, study.x.name)} {study.x.unit} also buys "
            f"{_figure(best.y or 0, study.y.name)} {study.y.unit} in place of {_figure(own[1], study.y.name)}: "
            f"the objective {study.x.name},{study.y.name} finds that one."
        )
    ]


def _points(name: str, title: str, study: Frontier, own: tuple[float, float] | None) -> Chart:
    listed = _spread([p for p in study.points if p.y is not None])
    rows: list[Row] = [
        {"x": p.x, "y": p.y, "kind": _HULL if p.supported else _OFF, "change": _changes(p), "chosen": ""}
        for p in listed
    ]
    if own is not None:
        same = next((row for row in rows if (row["x"], row["y"]) == own), None)
        if same is None:
            rows.append({"x": own[0], "y": own[1], "kind": _OWN, "change": "", "chosen": _OWN})
        else:
            same["chosen"] = _OWN
    kinds = {row["kind"] for row in rows}
    colours = ((_HULL, "own"), (_OFF, "rival"), (_OWN, "mark"))
    series = tuple(Series(kind, colour(c)) for kind, c in colours if kind in kinds)
    (x_title, x_form), (y_title, y_form) = _AXES[study.x.name], _AXES[study.y.name]
    table = Table(
        (
            Column(x_title, number=True),
            Column(y_title, number=True),
            Column("kind"),
            Column("in place of the point before"),
        ),
        tuple(
            (
                _figure(row["x"], study.x.name),
                _figure(row["y"], study.y.name),
                f"{row['kind']}{', this design' if row['chosen'] and row['kind'] != _OWN else ''}",
                row["change"],
            )
            for row in rows
        ),
    )
    says = f"{counted(len(study.points), 'design')} that none beats on both."
    if len(listed) < len(study.points):
        says += f" {len(listed):,} of them are drawn."
    says += " The diamond is this design." if own is not None else ""
    spec = scatter(rows, series, x="x", y="y", x_title=x_title, y_title=y_title, x_form=x_form, y_form=y_form)
    return Chart(name, title, says, spec, table, series, zooms=True)


def _spread(points: list[FrontierPoint]) -> list[FrontierPoint]:
    if len(points) <= MOST_POINTS:
        return points
    return [points[round(i * (len(points) - 1) / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]


def _changes(point: FrontierPoint) -> str:
    shown = point.change[:4]
    return ", ".join(shown) + (f" and {len(point.change) - 4} more" if len(point.change) > 4 else "")


def _figure(value: float, axis: str) -> str:
    if axis in ("cost", "tco"):
        return usd(value)
    return f"{value:,.3f}" if axis == "power" else f"{value:,.6g}" if axis != "gpus" else f"{value:,.0f}"


# --- ceiling ----------------------------------------------------------------------------------------------------------


def ceiling_section(design: Design, catalog: Catalog, studies: Sequence[Study], case_name: str) -> Section:
    """How many GPUs how much money connects."""
    from gpunet.report.ceiling_text import ceiling_report

    curves = [s for s in studies if isinstance(s, Frontier) and s.y.name == "gpus" and s.points]
    found = [s for s in studies if isinstance(s, Ceiling)]
    items: list[Item] = []
    for study in found:
        first, *rest = ceiling_report(study)
        items += [first, Fold("The design under the ceiling, and what else fits", tuple(rest))] if rest else [first]
    for curve in curves:
        own = _own_point(design, catalog, curve)
        items.append(_curve(own, curve, [c for c in found if c.cost_usd is not None]))
    if not found:
        items.append(ask("the most GPUs that a budget connects", case_name, "ceiling", "all", "--cost 900000"))
    if not curves:
        items.append(ask("the curve of GPUs against cost", case_name, "frontier", "all", "--y gpus"))
    return Section("ceiling", "What a budget connects", tuple(items))


def _curve(own: tuple[float, float] | None, study: Frontier, ceilings: Sequence[Ceiling]) -> Chart:
    rows: list[Row] = [
        {
            "gpus": p.y,
            "cost": p.x,
            "kind": "cheapest for its GPUs",
            "change": _changes(p),
            "chosen": _OWN if own is not None and p.y == own[1] else "",
        }
        for p in _spread([p for p in study.points if p.y is not None])
    ]
    lines: list[Row] = []
    for c in ceilings:
        gpus = "no GPUs" if not c.gpus else f"{counted(c.gpus, 'GPU')} at most"
        lines.append({"at": c.cost_usd, "label": f"ceiling {usd(c.cost_usd or 0)} USD: {gpus}"})
    series = (Series("cheapest for its GPUs", colour("own")),)
    x_title = _AXES[study.x.name][0]
    table = Table(
        (
            Column("GPUs", number=True),
            Column(x_title, number=True),
            Column(f"{study.x.unit} per GPU", number=True),
            Column("in place of the point before"),
        ),
        tuple(
            (
                f"{row['gpus']:,.0f}{', this design' if row['chosen'] else ''}",
                _figure(row["cost"], study.x.name),
                f"{row['cost'] / row['gpus']:,.2f}",
                row["change"],
            )
            for row in rows
        ),
    )
    spec = scatter(
        rows,
        series,
        x="gpus",
        y="cost",
        x_title="GPUs",
        y_title=x_title,
        x_form=",d",
        y_form="~s",
        ceilings=lines if study.x.name == "cost" else (),
    )
    name = f"curve-{study.x.name}"
    says = "The least that each number of GPUs costs; where the line jumps, another tier or a larger switch begins."
    says += " The diamond is this design." if any(row["chosen"] for row in rows) else ""
    return Chart(
        name, f"GPUs against {_AXES[study.x.name][0].partition(',')[0]}", says, spec, table, series, zooms=True
    )


# --- protocols --------------------------------------------------------------------------------------------------------


def compare_section(studies: Sequence[Study], case_name: str) -> Section:
    """InfiniBand against RoCE, and any other comparison that was made."""
    from gpunet.report.compare_text import compare_report

    found = [s for s in studies if isinstance(s, Comparison)]
    items: list[Item] = []
    for study in found:
        first, *rest = compare_report(study)
        items += [first, *_compared(study)]
        if rest:
            items.append(Fold("Side by side: totals, fabrics, bills and when the dearer pays for itself", tuple(rest)))
    if not any(s.by == "protocol" for s in found):
        items.append(ask("what InfiniBand costs against RoCE", case_name, "compare", "quick"))
    return Section("protocols", "InfiniBand or RoCE", tuple(items))


def _compared(study: Comparison) -> list[Item]:
    built = {x.choice: x.design for x in study.choices if x.design is not None}
    if len(built) < 2:
        return []
    money: list[Row] = [
        {"choice": choice, "kind": line.kind, "usd": 0.0 + share.extended_usd}
        for line in study.lines
        for choice, share in line.choices.items()
        if share.extended_usd and choice in built
    ]
    sums: dict[tuple[str, str], float] = {}
    for row in money:
        key = row["choice"], row["kind"]
        sums[key] = sums.get(key, 0) + row["usd"]
    series = kind_series([kind for _, kind in sums])
    kinds = [s.name for s in series]
    rows: list[Row] = [
        {"choice": choice, "kind": kind, "usd": round(sums[choice, kind], 2)}
        for choice in built
        for kind in kinds
        if (choice, kind) in sums
    ]
    costs = Table(
        (
            Column("choice", name=True),
            *(Column(f"{kind} USD", number=True) for kind in kinds),
            Column("total USD", number=True),
        ),
        tuple(
            (choice, *(usd(sums.get((choice, kind), 0)) for kind in kinds), usd(d.cost_usd))
            for choice, d in built.items()
        ),
    )
    draws = Table(
        (
            Column("choice", name=True),
            Column("largest draw", number=True),
            Column("cost of ownership USD", number=True),
        ),
        tuple((choice, kw(d.power_max_w), usd(d.tco_usd)) for choice, d in built.items()),
    )
    watts: list[Row] = [{"choice": c, "kind": "network", "w": d.power_max_w} for c, d in built.items()]
    base = built[study.reference]
    other = max(built.values(), key=lambda d: d.cost_usd)
    more = (other.cost_usd - base.cost_usd) / base.cost_usd if base.cost_usd else 0
    one = (Series("network", colour("own")),)
    name = f"compare-{study.by}"
    return [
        Grid(
            (
                Chart(
                    f"{name}-cost",
                    "Network cost by part",
                    f"The dearest costs {percent(more)} more than {study.reference}." if more else "All cost the same.",
                    stacked(rows, series, row="choice", colour="kind", value="usd", title="USD", form="~s"),
                    costs,
                    series,
                ),
                Chart(
                    f"{name}-power",
                    "Largest draw",
                    "Switches and both ends of every link; servers not counted.",
                    stacked(watts, one, row="choice", colour="kind", value="w", title="W", form="~s"),
                    draws,
                ),
            )
        )
    ]


# --- others -----------------------------------------------------------------------------------------------------------


def other_sections(studies: Sequence[Study]) -> list[Section]:
    """Studies that were given and have no chapter of their own, as they read on a terminal."""
    from gpunet.report.alternatives_text import alternatives_report
    from gpunet.report.explain_text import explain_report

    found = []
    for study in studies:
        if isinstance(study, Alternatives):
            found.append(Section("alternatives", "Nearly as good", tuple(alternatives_report(study))))
        if isinstance(study, Explanation):
            found.append(Section("explanation", "What holds the design where it is", tuple(explain_report(study))))
    return found


def ask(what: str, case_name: str, study: str, studies: str, options: str = "") -> Command:
    """How to get a chapter that was not asked for."""
    command = " ".join(filter(None, ["gpunet", study, f"{case_name}.yaml", options, "--json"]))
    return Command(what, f"--studies {studies}", f"{command} > {study}.json")
