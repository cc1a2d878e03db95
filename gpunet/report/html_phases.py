"""A plan in phases as one HTML page for people: what is spent when, beside the other ways, and every phase."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.models.study_phases import Phases, PhaseStep
from gpunet.report.blocks import Column, Table
from gpunet.report.charts import Chart, Row, Series, stacked
from gpunet.report.html_design import colour, kind_series
from gpunet.report.html_page import Facts, Item, Page, Picture, Section, render
from gpunet.report.phases_text import in_short, notes, step_blocks, way_name, ways_table
from gpunet.report.words import counted, kw, percent, usd

_COLOURS = ("first", "second", "third", "fourth", "fifth", "sixth")


def phases_page(study: Phases, designs: Sequence[Design], catalog: Catalog) -> str:
    """The page of a plan with the designs of its phases. Equal plans give equal bytes; nothing is solved here.

    Raises ValueError for a study without a plan.
    """
    if not study.plans:
        raise ValueError("a study without a plan has no page")
    steps = study.plans[0].steps
    made_with = (
        f"gpunet {study.gpunet_version}, catalogue {study.catalog_version}, solver {study.engine}. All money in USD."
    )
    answer = Section("answer", "The plan", (in_short(study), _facts(study)))
    sections = (
        Section("spending", "What is spent when", (_by_way(study), _by_kind(steps), *notes(study))),
        Section("growth", "How the network grows", (_growth(steps),)),
        *(_phase(step, design, catalog) for step, design in zip(steps, designs, strict=True)),
    )
    return render(Page(f"Growth in phases: {study.case or 'case'}", answer, sections, made_with))


def _facts(study: Phases) -> Facts:
    plan, at_once, unplanned = study.plans
    before = sum(step.cables_before for step in plan.steps)
    return Facts(
        (
            ("Spent in all", f"{usd(plan.cost_usd)} USD", f"over {counted(len(plan.steps), 'phase')}"),
            ("Now", f"{usd(plan.steps[0].cost_usd)} USD", plan.steps[0].when),
            ("The end state at once", f"{_signed(at_once.more_usd)} USD", "beside the plan"),
            ("Each phase by itself", f"{_signed(unplanned.more_usd)} USD", "beside the plan"),
            ("Cables moved", f"{plan.moved_cables:,}", f"of {before:,} installed"),
            ("Left to prove", percent(study.gap or 0.0), "no plan is cheaper by more"),
        )
    )


def _signed(amount_usd: float) -> str:
    return f"{'+' if amount_usd > 0 else ''}{usd(amount_usd)}"


def _by_way(study: Phases) -> Chart:
    rows: list[Row] = [
        {"way": way_name(plan), "phase": step.when, "usd": step.cost_usd}
        for plan in study.plans
        for step in plan.steps
        if step.cost_usd
    ]
    series = tuple(
        Series(step.when, colour(_COLOURS[i % len(_COLOURS)])) for i, step in enumerate(study.plans[0].steps)
    )
    says = "What each way spends, phase by phase, at the prices of the phase."
    spec = stacked(rows, series, row="way", colour="phase", value="usd", title="USD", form="~s")
    return Chart("spent-by-way", "This plan beside the other ways", says, spec, ways_table(study), series)


def _by_kind(steps: Sequence[PhaseStep]) -> Chart:
    sums: dict[tuple[str, str], float] = {}
    for step in steps:
        for line in step.lines:
            if line.extended_usd:
                sums[step.when, line.kind] = sums.get((step.when, line.kind), 0.0) + line.extended_usd
    series = kind_series([kind for _, kind in sums])
    kinds = [s.name for s in series]
    rows: list[Row] = [
        {"phase": step.when, "kind": kind, "usd": round(sums[step.when, kind], 2)}
        for step in steps
        for kind in kinds
        if (step.when, kind) in sums
    ]
    table = Table(
        (
            Column("phase", name=True),
            *(Column(f"{kind} USD", number=True) for kind in kinds),
            Column("all USD", number=True),
        ),
        tuple((s.when, *(usd(sums.get((s.when, kind), 0.0)) for kind in kinds), usd(s.cost_usd)) for s in steps),
    )
    says = "What the plan buys in each phase, by kind of part."
    spec = stacked(rows, series, row="phase", colour="kind", value="usd", title="USD", form="~s")
    return Chart("spent-by-kind", "What the plan buys", says, spec, table, series)


def _growth(steps: Sequence[PhaseStep]) -> Table:
    figures = ("GPUs", "servers", "switches", "idle pieces", "cables before", "moved", "price factor", "draw")
    return Table(
        (Column("phase", name=True), *(Column(title, number=True) for title in figures)),
        tuple(
            (
                step.when,
                f"{step.gpus:,}",
                f"{step.servers:,}",
                f"{sum(n for fabric in step.fabrics.values() for n in fabric.switches.values()):,}",
                f"{sum(line.idle for line in step.lines):,}",
                f"{step.cables_before:,}",
                f"{step.moved_cables:,}",
                f"{step.price_factor:.4f}",
                kw(step.power_max_w),
            )
            for step in steps
        ),
    )


def _phase(step: PhaseStep, design: Design, catalog: Catalog) -> Section:
    from gpunet.draw.topology import topology_svg

    says = "Switches by tier, with the links between them; groups that are alike are drawn once with their number."
    svg = topology_svg(design, catalog)
    for name in ("gn-topology-title", "gn-topology-desc"):
        # Several drawings of one kind stand on the page, and an id may be there once.
        svg = svg.replace(name, f"{name}-{step.when}")
    drawing = Picture(f"topology-{step.when}", f"All fabrics in {step.when}", says, svg)
    items: tuple[Item, ...] = (*step_blocks(step), drawing)
    return Section(f"phase-{step.when}", f"{step.when}: {counted(step.gpus, 'GPU')}", items)
