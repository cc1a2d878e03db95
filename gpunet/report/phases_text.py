"""What to buy now and what later, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from gpunet.models.study_phases import PhasedPlan, Phases, PhaseStep
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, kw, listed, percent, usd

_WAYS = {
    "plan": "this plan",
    "end-state-at-once": "the end state at once",
    "unplanned": "each phase by itself",
}
_LINES = (
    Column("part", name=True),
    Column("kind"),
    Column("buy", number=True),
    Column("in use", number=True),
    Column("idle", number=True),
    Column("each USD", number=True),
    Column("USD", number=True),
)


def phases_report(study: Phases) -> list[Block]:
    """The answer in one paragraph, what it is compared with, and what is bought in every phase."""
    if not study.plans:
        return [Paragraph(f"{study.case}: no plan. {' '.join(study.reasons)}".rstrip(), Tone.BAD)]
    return list(_report(study))


def _report(study: Phases) -> Iterator[Block]:
    yield in_short(study)
    yield Heading("What it is compared with")
    yield ways_table(study)
    for step in study.plans[0].steps:
        yield Heading(f"{step.when}: {counted(step.gpus, 'GPU')}, buy for {usd(step.cost_usd)} USD")
        yield from step_blocks(step)
    yield from notes(study)


def in_short(study: Phases) -> Paragraph:
    """What the plan costs, whether no plan costs less, which cables move, and what the two other ways cost more."""
    plan, at_once, unplanned = study.plans
    proven = study.gap == 0
    text = f"{study.case}: {usd(plan.cost_usd)} USD over {counted(len(plan.steps), 'phase')}, "
    text += "proven the least" if proven else "not proven the least: no plan costs less than "
    text += "" if proven else f"{usd(plan.bound_usd)} USD, a gap of {percent(study.gap or 0)}"
    text += f". {_moved_text(plan)}"
    if study.limit_moved_cables is not None:
        text += f" At most {study.limit_moved_cables:,} may be."
    text += f" The end state at once costs {_more(at_once)}; each phase by itself costs {_more(unplanned)}."
    return Paragraph(text, Tone.GOOD if proven else None)


def ways_table(study: Phases) -> Table:
    """What every way spends in each phase, what it costs more, and the cables it moves; a broken limit is marked."""
    quarters = [step.when for step in study.plans[0].steps]
    columns = (Column("way"), *(Column(f"{q} USD", number=True) for q in quarters), Column("all USD", number=True))
    columns += (Column("more USD", number=True), Column("cables moved", number=True))
    return Table(columns, tuple(_way(x, study) for x in study.plans))


def _more(plan: PhasedPlan) -> str:
    if plan.more_usd == 0:
        return "the same"
    return f"{usd(abs(plan.more_usd))} USD {'more' if plan.more_usd > 0 else 'less'}"


def _moved_text(plan: PhasedPlan) -> str:
    before = sum(step.cables_before for step in plan.steps)
    least = sum(step.moved_cables_at_least for step in plan.steps)
    text = f"{plan.moved_cables:,} of {counted(before, 'installed cable')} must be moved"
    return f"{text}." if least == plan.moved_cables else f"{text} at most, {least:,} at least."


def _way(plan: PhasedPlan, study: Phases) -> tuple[str | Cell, ...]:
    most_cables, most_usd = study.limit_moved_cables, study.limit_cost_usd
    moves_too_many = most_cables is not None and plan.moved_cables > most_cables
    costs_too_much = most_usd is not None and plan.cost_usd > most_usd
    return (
        way_name(plan),
        *(usd(step.cost_usd) for step in plan.steps),
        _held_to(usd(plan.cost_usd), costs_too_much),
        usd(plan.more_usd),
        _held_to(f"{plan.moved_cables:,}", moves_too_many),
    )


def _held_to(figure: str, is_over: bool) -> str | Cell:
    return Cell(f"{figure}, over the limit", Tone.BAD) if is_over else figure


def way_name(plan: PhasedPlan) -> str:
    """What a way is called in a report."""
    return _WAYS[plan.name]


def step_blocks(step: PhaseStep) -> Iterator[Block]:
    """What stands in a phase and what is bought for it."""
    if step.asked_gpus != step.gpus:
        yield Point(
            f"{counted(step.asked_gpus, 'GPU')} asked for: {counted(step.servers, 'whole server')} hold {step.gpus:,}"
        )
    for name, fabric in step.fabrics.items():
        switches = listed([f"{n:,} x {what}" for what, n in fabric.switches.items()])
        yield Point(f"{name}: {fabric.protocol}, {switches}")
    moved = (
        f"; {step.moved_cables:,} of {counted(step.cables_before, 'installed cable')} moved"
        if step.cables_before
        else ""
    )
    checked = "verified" if step.verified else "verification failed"
    yield Point(f"draws {kw(step.power_max_w)}; {checked}{moved}", None if step.verified else Tone.BAD)
    if step.lines:
        yield Table(
            _LINES,
            tuple(
                (
                    line.part,
                    line.kind,
                    f"{line.quantity:,}",
                    f"{line.in_use:,}",
                    f"{line.idle:,}",
                    usd(line.unit_price_usd),
                    usd(line.extended_usd),
                )
                for line in step.lines
            ),
            ("", "", "", "", "", "", usd(step.cost_usd)),
        )


def notes(study: Phases) -> Iterator[Point]:
    """What the figures rest on."""
    yield from (Point(note, Tone.WEAK) for note in _notes(study))


def _notes(study: Phases) -> Iterator[str]:
    fall = study.price_decline_per_year
    if fall:
        yield f"Every price falls by {percent(fall)} a year, counted from the first phase; money is not discounted."
    else:
        yield "Prices stay as they are, for price_decline_per_year is not given."
    yield "Every phase is designed in the room of the last; what is bought stays in its fabric and is never sold."
