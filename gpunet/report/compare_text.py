"""Choices side by side, as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator

from gpunet.models.study import DesignSummary
from gpunet.models.study_compare import BreakEven, Compared, Comparison, Payback
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, gbps, kw, listed, percent, usd

_TOTALS = (
    Column("choice", name=True),
    Column("cost USD", number=True),
    Column("more USD", number=True),
    Column("draws", number=True),
    Column("owning USD", number=True),
    Column("switches", number=True),
    Column("modules", number=True),
    Column("cables", number=True),
    Column("fibres", number=True),
    Column("lead time"),
)
_FABRICS = (
    Column("choice", name=True),
    Column("fabric", name=True),
    Column("built as"),
    Column("hops", number=True),
    Column("latency", number=True),
)
_LINES = (
    Column("part", name=True),
    Column("kind", name=True),
    Column("quantity", number=True),
    Column("more", number=True),
    Column("USD", number=True),
    Column("more USD", number=True),
)
_DELIVERED = (
    Column("protocol", name=True),
    Column("efficiency from"),
    Column("efficiency", number=True),
    Column("per GPU", number=True),
)
_PAYBACKS = (
    Column("efficiency of the cheaper"),
    Column("of the dearer's", number=True),
    Column("step longer by", number=True),
    Column("lost USD", number=True),
    Column("pays", name=True),
    Column("from USD/GPU-hour", number=True),
    Column("from share", number=True),
    Column("from years", number=True),
)
_MEASURES = {"cost": "network cost", "tco": "cost of ownership", "stated": "stated cost"}


def compare_report(study: Comparison) -> list[Block]:
    """The answer in one paragraph; totals, fabrics and bills side by side; for protocols, what the dearer must earn."""
    if not study.choices:
        head = f"{study.case}: no design, so nothing to compare ({study.status.value})."
        return [Paragraph(head, Tone.BAD), *(Point(note) for note in study.notes)]
    blocks: list[Block] = [Paragraph(_answer(study)), *_totals(study), *_fabrics(study), *_refused(study)]
    blocks += _differences(study)
    blocks += _economy(study)
    blocks += [Point(note, Tone.WEAK) for note in study.notes]
    return blocks


def _built(study: Comparison) -> list[tuple[Compared, DesignSummary]]:
    return [(x, x.design) for x in study.choices if x.design is not None]


def _answer(study: Comparison) -> str:
    built = _built(study)
    where = f" of {', '.join(study.fabrics)}" if study.fabrics else ""
    what = "two cases" if study.by == "case" else f"by {study.by}{where}"
    head = f"{study.case}, compared {what}, each choice at its own proven optimum ({study.engine}). "
    if not built:
        return f"{head}No choice has a design."
    cheapest = min(built, key=lambda x: x[1].cost_usd)
    coolest = min(built, key=lambda x: x[1].power_max_w)
    text = f"{head}{cheapest[0].choice} costs least, {usd(cheapest[1].cost_usd)} USD"
    least_usd = cheapest[1].cost_usd
    dearer = [(x.choice, design.cost_usd - least_usd) for x, design in built if design.cost_usd > least_usd]
    others = [f"{name} {usd(more)} more ({percent(more / least_usd)})" for name, more in dearer if least_usd]
    text += f"; {listed(others)}. " if 0 < len(others) <= 3 else ". "
    text += f"{coolest[0].choice} draws least, {kw(coolest[1].power_max_w)}."
    without = [x.choice for x in study.choices if x.design is None]
    if without:
        text += f" No design: {', '.join(without)}."
    return text + _verdict(study.break_even)


def _verdict(even: BreakEven | None) -> str:
    """Whether the dearer fabric pays for itself under the first efficiency, and what would tip it."""
    if even is None or not even.paybacks:
        return ""
    first = even.paybacks[0]
    head = f" With {even.cheaper} at {percent(first.relative_efficiency)} of its all-reduce efficiency, {even.dearer} "
    if first.break_even_gpu_hour_usd is None:
        return f"{head}never pays for itself: it is dearer and no faster."
    does = "pays" if first.pays else "does not pay"
    return (
        f"{head}{does} for itself at {usd(even.gpu_hour_usd)} USD a GPU-hour; "
        f"{usd(first.break_even_gpu_hour_usd)} is where that turns."
    )


def _totals(study: Comparison) -> Iterator[Block]:
    built = _built(study)
    if not built:
        return
    base = {x.choice: design for x, design in built}[study.reference]
    rows = []
    for x, design in built:
        more = "" if x.choice == study.reference else _signed_usd(design.cost_usd - base.cost_usd)
        pieces = (f"{x.pieces.get(kind, 0):,}" for kind in ("switch", "module", "cable", "fibre"))
        rows.append(
            (x.choice, usd(design.cost_usd), more, kw(design.power_max_w), usd(design.tco_usd), *pieces, _lead_time(x))
        )
    yield Heading(f"Totals; more than {study.reference}")
    yield Table(_TOTALS, tuple(rows))


def _lead_time(x: Compared) -> str | Cell:
    if x.lead_time_weeks is None:
        return "unknown"
    more = " or more" if x.parts_without_lead_time else ""
    text = f"{x.lead_time_weeks:g} weeks{more}, {x.lead_time_part}"
    return text if x.lead_time_how == "read" else Cell(f"~{text}", Tone.WEAK)


def _fabrics(study: Comparison) -> Iterator[Block]:
    rows = []
    for x, design in _built(study):
        name = x.choice
        for fabric, built in design.fabrics.items():
            switches = ", ".join(f"{count:,} x {model} {tier}" for tier, model, count in _switches(built.switches))
            shares = ", carries storage" if built.carries_storage else ""
            latency = "unknown" if built.latency_ns is None else f"{built.latency_ns:,.0f} ns"
            built_as = f"{switches} ({built.protocol}, {built.topology}{shares})"
            rows.append((name, fabric, built_as, f"{built.hops}", latency))
            name = ""
    if rows:
        yield Heading("Fabrics")
        yield Table(_FABRICS, tuple(rows))


def _switches(switches: dict[str, int]) -> Iterator[tuple[str, str, int]]:
    for name, count in switches.items():
        tier, _, model = name.partition(" ")
        yield tier, model, count


def _refused(study: Comparison) -> Iterator[Block]:
    without = [x for x in study.choices if x.design is None]
    if without:
        yield Heading("No design, and why")
        for x in without:
            why = x.reasons[0] if x.reasons else x.status.value
            yield Point(f"{x.choice} ({x.narrowed}): {why}", Tone.BAD)


def _differences(study: Comparison) -> Iterator[Block]:
    """One bill for every choice, with what it has more or less than the reference; equal lines are left out."""
    for x, _ in _built(study):
        if x.choice == study.reference:
            continue
        rows = []
        for line in study.lines:
            own, other = line.choices.get(x.choice), line.choices.get(study.reference)
            quantity, base = (share.quantity if share else 0 for share in (own, other))
            cost, base_usd = (share.extended_usd if share else 0.0 for share in (own, other))
            if (quantity, cost) != (base, base_usd):
                more = _signed_usd(cost - base_usd)
                rows.append((line.part, line.kind, f"{quantity:,}", f"{quantity - base:+,}", usd(cost), more))
        if not rows:
            yield Paragraph(f"{x.choice} is built exactly as {study.reference} is.")
            continue
        total = sum(
            (line.choices[x.choice].extended_usd if x.choice in line.choices else 0)
            - (line.choices[study.reference].extended_usd if study.reference in line.choices else 0)
            for line in study.lines
        )
        yield Heading(f"Bill of {x.choice} where it differs from {study.reference}")
        yield Table(_LINES, tuple(rows), ("total", "", "", "", "", _signed_usd(total)))


def _economy(study: Comparison) -> Iterator[Block]:
    if study.delivered:
        yield Heading("Delivered all-reduce bandwidth")
        rows = ((x.choice, x.scenario, f"{x.efficiency:g}", gbps(round(x.per_gpu_gbps, 1))) for x in study.delivered)
        yield Table(_DELIVERED, tuple(rows))
    if study.break_even is not None:
        yield Heading(f"When {study.break_even.dearer} pays for itself")
        yield Paragraph(_assumed(study.break_even))
        yield Table(_PAYBACKS, tuple(_payback(x) for x in study.break_even.paybacks))


def _assumed(even: BreakEven) -> str:
    return (
        f"{even.dearer} is dearer by {usd(even.more_usd)} USD of {_MEASURES[even.basis]}. Assumed: "
        f"{counted(even.gpus, 'GPU')} at {usd(even.gpu_hour_usd)} USD an hour for {even.horizon_years:g} years, "
        f"{percent(even.communication_share)} of a step waiting for collectives on {even.dearer}. Then {even.cheaper} "
        f"stops being the cheaper one below {percent(even.least_efficiency)} of {even.dearer}'s all-reduce efficiency. "
        "Each figure after from is what is enough with the others as assumed."
    )


def _payback(x: Payback) -> tuple[str | Cell, ...]:
    never = "never"
    hour, share, years = x.break_even_gpu_hour_usd, x.break_even_communication, x.break_even_years
    return (
        x.scenario,
        percent(x.relative_efficiency),
        f"{100 * x.slowdown:+.2f} %",
        usd(x.lost_usd),
        Cell("yes", Tone.GOOD) if x.pays else "no",
        never if hour is None else usd(hour),
        never if share is None else percent(share),
        never if years is None else f"{years:.2f}",
    )


def _signed_usd(amount: float) -> str:
    return f"{amount:+,.2f}"
