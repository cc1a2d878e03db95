"""What fits under a ceiling, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from gpunet.models.study import DesignSummary
from gpunet.models.study_ceiling import Ceiling, Extreme
from gpunet.report.blocks import Block, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, kw, listed, usd

_DESIGN = (Column("fabric", name=True), Column("protocol"), Column("switches"))
_MORE = (
    Column("setting", name=True),
    Column("in the case", number=True),
    Column("farthest", number=True),
    Column("cost USD", number=True),
    Column("power", number=True),
)


def ceiling_report(study: Ceiling) -> list[Block]:
    """The answer in one paragraph, then the design, and what else the same money buys."""
    if study.servers is None or study.design is None:
        return [Paragraph(_nothing(study), Tone.BAD)]
    blocks: list[Block] = [Paragraph(_answer(study, study.design)), *_design(study.design)]
    blocks += _extremes(study)
    blocks += [Point(text, Tone.WEAK) for text in _how(study)]
    return blocks


def _ceilings(study: Ceiling) -> str:
    found = [] if study.cost_usd is None else [f"{usd(study.cost_usd)} USD"]
    found += [] if study.power_kw is None else [f"{study.power_kw:,g} kW"]
    return listed(found) or "the power of the site"


def _answer(study: Ceiling, design: DesignSummary) -> str:
    text = (
        f"{study.case}: at most {counted(study.gpus or 0, 'GPU')} ({counted(study.servers or 0, 'server')}) fit within "
    )
    text += (
        f"{_ceilings(study)}, proven. The network costs {usd(design.cost_usd)} USD and draws {kw(design.power_max_w)}"
    )
    if study.cost_usd is not None:
        text += f"; {usd(study.cost_usd - design.cost_usd)} USD are left"
    more = study.next_design
    if more is not None:
        return f"{text}. One server more would take {usd(more.cost_usd)} USD and {kw(more.power_max_w)}."
    why = f" ({study.next_reason})" if study.next_reason else ""
    return f"{text}. For one server more there is no design at any price{why}."


def _nothing(study: Ceiling) -> str:
    if not study.complete:
        return f"{study.case}: stopped before the largest number was known."
    text = f"{study.case}: no number of servers fits within {_ceilings(study)}."
    if study.first_design is not None:
        first = study.first_design
        text += f" One server takes {usd(first.cost_usd)} USD and {kw(first.power_max_w)}."
    return text + (f" {study.next_reason}." if study.next_reason else "")


def _design(design: DesignSummary) -> Iterator[Block]:
    yield Heading("The design")
    yield Table(
        _DESIGN,
        tuple(
            (name, fabric.protocol, listed([f"{n:,} x {what}" for what, n in fabric.switches.items()]))
            for name, fabric in design.fabrics.items()
        ),
    )


def _extremes(study: Ceiling) -> Iterator[Block]:
    yield Heading(f"What else fits at the {counted(study.case_servers, 'server')} of the case, one at a time")
    if study.case_design is None:
        yield Paragraph("The case itself does not fit within the ceilings.", Tone.BAD)
    else:
        yield Paragraph(
            f"The case itself takes {usd(study.case_design.cost_usd)} USD and {kw(study.case_design.power_max_w)}."
        )
    if study.extremes:
        yield Table(_MORE, tuple(_row(x) for x in study.extremes))


def _row(found: Extreme) -> tuple[str, ...]:
    end = " (the end)" if found.at_end else ""
    return (
        found.setting,
        f"{found.today:g}",
        "nothing fits" if found.value is None else f"{found.value:g}{end}",
        "-" if found.design is None else usd(found.design.cost_usd),
        "-" if found.design is None else kw(found.design.power_max_w),
    )


def _how(study: Ceiling) -> Iterator[str]:
    servers = study.servers or 0
    if study.at_most_servers == servers:
        yield f"More cannot fit, whatever the design; {counted(study.solves, 'solve')} in all."
    else:
        yield (
            f"More than {counted(study.at_most_servers, 'server')} cannot fit, whatever the design; every number from "
            f"there down to {servers:,} was solved, for cost does not always rise with the number: "
            f"{counted(study.solves, 'solve')} in all."
        )
