"""Designs that are nearly as good, as a person reads them."""

from __future__ import annotations

from collections.abc import Iterator

from gpunet.models.study_alternatives import Alternative, Alternatives, FabricAlternatives, PartUse
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, gbps, kw, listed, percent, usd

_LINES_SHOWN, _PARTS_SHOWN = 12, 15
_DESIGNS = (
    Column("more", number=True),
    Column("cost USD", number=True),
    Column("draws", number=True),
    Column("switches"),
    Column("links and optics"),
)
_PARTS = (
    Column("part", name=True),
    Column("kind", name=True),
    Column("chosen in", number=True),
    Column("fewest", number=True),
    Column("most", number=True),
    Column("in optimum", number=True),
    Column("without it"),
)


def alternatives_report(study: Alternatives) -> list[Block]:
    """The answer in one paragraph; for each fabric its structures, what they share and how each part is used."""
    if study.design is None or study.value is None or study.most is None:
        head = f"{study.case}: no design, so no alternatives ({study.status.value})."
        return [Paragraph(head, Tone.BAD), *(Point(note) for note in study.notes)]
    blocks: list[Block] = [Paragraph(_answer(study, study.value, study.most))]
    for name, found in study.fabrics.items():
        blocks += _fabric(study, name, found)
    blocks += [Point(note, Tone.WEAK) for note in study.notes]
    return blocks


def _amount(study: Alternatives, value: float) -> str:
    return kw(value) if study.objective.split(",")[0] == "power" else f"{usd(value)} USD"


def _answer(study: Alternatives, value: float, most: float) -> str:
    counts = [f"{counted(len(x.alternatives), 'structure')} of {name}" for name, x in study.fabrics.items()]
    text = (
        f"{study.case}: the optimum is {_amount(study, value)}. Within {percent(study.within)}, up to "
        f"{_amount(study, most)}, there are {listed(counts) if counts else 'none yet'}; "
        f"{'none is missing' if study.complete else 'stopped early, so some are missing'} "
        f"({counted(study.solves, 'solve')})."
    )
    ties = [f"{x.ties:,} other of {name}" for name, x in study.fabrics.items() if x.ties]
    if ties:
        text += f" Exactly as good as the optimum: {listed(ties)}."
    needed = [f"{use.part} ({name})" for name, x in study.fabrics.items() for use in x.parts if use.needed]
    if not study.complete:
        return text
    text += f" Every design within the slack has {listed(needed)}." if needed else " No part is in all of them."
    return text


def _fabric(study: Alternatives, name: str, found: FabricAlternatives) -> Iterator[Block]:
    yield Heading(f"Fabric {name}: {counted(len(found.alternatives), 'structure')}")
    if found.shared:
        yield Paragraph(f"All share: {listed(found.shared)}.")
    rows = tuple(_row(study, x) for x in found.alternatives[:_LINES_SHOWN])
    yield Table(_DESIGNS, rows)
    more = len(found.alternatives) - _LINES_SHOWN
    if more > 0:
        yield Paragraph(f"{more:,} more cost more than these; --json lists them all.")
    uses = [use for use in found.parts if use.in_optimum or use.needed] + [u for u in found.parts if not u.in_optimum]
    yield Table(_PARTS, tuple(_use(study, found, use) for use in uses[:_PARTS_SHOWN]))
    if len(uses) > _PARTS_SHOWN:
        yield Paragraph(f"{len(uses) - _PARTS_SHOWN:,} more parts are chosen less often; --json lists them all.")


def _row(study: Alternatives, x: Alternative) -> tuple[str | Cell, ...]:
    switches = ", ".join(
        f"{count:,} x {name.split(' ', 1)[1]} {name.split(' ', 1)[0]}" for name, count in x.switches.items()
    )
    power = study.objective.split(",")[0] == "power"
    more = "optimum" if x.in_optimum else "tie" if not x.more else kw(x.more) if power else usd(x.more)
    shape = x.structure
    storage = ", carries storage" if shape.carries_storage else ""
    links = "; ".join(
        f"{link_class} {'/'.join(gbps(speed) for speed in speeds)} {'+'.join(shape.optics.get(link_class, ()))}"
        for link_class, speeds in shape.speeds_gbps.items()
    )
    return (
        Cell(more, Tone.GOOD) if x.in_optimum else more,
        usd(x.cost_usd),
        kw(x.power_max_w),
        f"{switches} ({shape.protocol}, {shape.topology}{storage})",
        links,
    )


def _use(study: Alternatives, found: FabricAlternatives, use: PartUse) -> tuple[str | Cell, ...]:
    share = use.structures / len(found.alternatives)
    return (
        use.part,
        use.kind,
        f"{use.structures:,} ({percent(share)})",
        f"{use.fewest:,}",
        f"{use.most:,}",
        f"{use.in_optimum:,}",
        _without(study, use),
    )


def _without(study: Alternatives, use: PartUse) -> str | Cell:
    if use.needed:
        beyond = "no design" if use.without_more is None else f"{_amount(study, use.without_more)} more"
        return Cell(f"needed: {beyond} without", Tone.BAD)
    if use.without_more is None:
        return "the optimum does without"
    return f"{_amount(study, use.without_more)} more" if use.without_more else "nothing lost"
