"""Why there is no design, or what holds the design where it is, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpunet.models.study_explain import Explanation, Held
from gpunet.models.study_sensitivity import Worth
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, kw, listed, usd

_SHOWN = 4
"""Parts or changes that are written out; --json has all of them."""
_HELD = (
    Column("setting", name=True),
    Column("this case"),
    Column("alone enough"),
    Column("cost then USD", number=True),
    Column("draws then", number=True),
    Column("switches"),
)
_BINDING = (Column("limit", name=True), Column("loosened"), Column("saves", number=True), Column("what changes"))
_SHUT = (
    Column("kept out by"),
    Column("parts", number=True),
    Column("of", name=True),
    Column("all let in, saves", number=True),
    Column("such as"),
)
_BETTER = (Column("part", name=True), Column("kept out by"), Column("saves", number=True), Column("what changes"))


def explain_report(study: Explanation) -> list[Block]:
    """The answer in one paragraph, then the limits it is about and how far each must move."""
    return list(_no_design(study) if study.design is None else _design(study))


def _no_design(study: Explanation) -> Iterator[Block]:
    if not study.is_infeasible:
        yield Paragraph(f"{study.case}: no design was found, and none is ruled out ({study.status.value}).", Tone.BAD)
        return
    yield Paragraph(_answer(study), Tone.BAD)
    yield from (Point(text) for text in study.obstacles)
    for clash in study.clashes:
        given = ", ".join(f"{x.setting} {x.given}" for x in clash.limits)
        if len(clash.limits) == 1:
            yield Heading(f"Out of reach by itself: {given}")
        else:
            yield Heading("These cannot hold together, whatever the others are")
        yield _held_table(clash.limits)
    if study.elsewhere:
        yield Heading("Sizes of the room at their defaults that would help alone")
        yield _held_table(study.elsewhere)
    if study.together is not None:
        design, limits = study.together.design, study.together.limits
        yield Heading(f"{listed([x.setting for x in limits])}: all of these must give way, and that is enough")
        yield from (Point(f"{x.setting}: {x.words}") for x in limits)
        yield Paragraph(
            f"Without them the best design costs {usd(design.cost_usd)} USD and draws {kw(design.power_max_w)}."
        )
    yield from (Point(note, Tone.WEAK) for note in study.notes)


def _answer(study: Explanation) -> str:
    text = [f"{study.case}: no design meets the case, proven; {study.solves:,} cases like it were solved to see why."]
    # Half way, when it has been stopped, a setting may not have been looked at.
    held = list({x.setting: x for clash in study.clashes for x in clash.limits}.values())
    helps = [x for x in [*held, *study.elsewhere] if x.enough is not None]
    if helps:
        changes = [f"{x.setting} {x.enough}" for x in helps]
        one = "One change is enough" if len(changes) == 1 else "Any one of these changes is enough"
        text.append(f"{one}: {'; '.join(changes)}.")
    elif study.together is not None:
        text.append(f"No single change is enough: {listed([x.setting for x in study.together.limits])} must all move.")
    elif held and study.complete:
        text.append("No single change is enough.")
    return " ".join(text)


def _held_table(limits: Sequence[Held]) -> Table:
    rows = []
    for x in limits:
        given = f"{x.given} (default)" if x.is_default else x.given
        design = x.design
        rows.append(
            (
                x.setting,
                given,
                Cell("nothing", Tone.BAD) if x.enough is None else Cell(x.enough, Tone.GOOD),
                "-" if design is None else usd(design.cost_usd),
                "-" if design is None else kw(design.power_max_w),
                "-" if design is None else _switches(x),
            )
        )
    return Table(_HELD, tuple(rows))


def _switches(held: Held) -> str:
    assert held.design is not None
    counts: dict[str, int] = {}
    for fabric in held.design.fabrics.values():
        for name, n in fabric.switches.items():
            part = name.split(" ", 1)[1]
            counts[part] = counts.get(part, 0) + n
    return _some([f"{n} x {part}" for part, n in sorted(counts.items())])


def _design(study: Explanation) -> Iterator[Block]:
    assert study.design is not None
    binding = [w for w in study.limits if (w.saved or 0) > 0]
    better = [(group, x) for group in study.shut_out for x in group.better]
    yield Paragraph(_held_by(study, binding, [x.part for _, x in better]))
    if binding:
        yield Heading("Limits that bind: what the design saves without each")
        yield Table(_BINDING, tuple((w.setting, w.change, f"{w.saved:,.2f}", _some(w.design_change)) for w in binding))
    free = [f"{w.setting} ({w.change})" for w in study.limits if not (w.saved or 0) > 0]
    if free:
        yield Paragraph(f"These do not bind: {listed(free)}.")
    if study.shut_out:
        yield Heading("Parts that are kept out")
        rows = []
        for group in study.shut_out:
            saved = "not asked" if group.saved is None else f"{group.saved:,.2f}" if group.saved else "nothing"
            where = "every fabric" if 1 < len(group.fabrics) == len(study.design.fabrics) else ", ".join(group.fabrics)
            rows.append((group.by, f"{len(group.parts):,}", where, saved, _some(group.parts)))
        yield Table(_SHUT, tuple(rows))
    if better:
        yield Heading("Parts that would make the design better, each let in alone")
        yield Table(
            _BETTER, tuple((x.part, group.by, f"{x.saved:,.2f}", _some(x.design_change)) for group, x in better)
        )
    yield from (Point(note, Tone.WEAK) for note in study.notes)


def _held_by(study: Explanation, binding: Sequence[Worth], better: Sequence[str]) -> str:
    assert study.design is not None
    unit = "W" if study.objective.split(",")[0] == "power" else "USD"
    text = [
        f"{study.case}: {usd(study.design.cost_usd)} USD and {kw(study.design.power_max_w)}, proven; {study.solves:,} "
        "designs solved to see what holds it there."
    ]
    if binding:
        first = binding[0]
        text.append(
            f"{counted(len(binding), 'limit binds', 'limits bind')} of {len(study.limits)}, most of all "
            f"{first.setting} ({first.change}): {first.saved:,.2f} {unit}."
        )
    else:
        text.append("None of its limits binds.")
    kept_out = {part for group in study.shut_out for part in group.parts}
    if kept_out:
        gain = f"{listed(_few(better))} would make it better" if better else "none of those that may be let in helps"
        text.append(f"{counted(len(kept_out), 'part is', 'parts are')} kept out of some fabric; {gain}.")
    return " ".join(text)


def _few(items: Iterable[str]) -> list[str]:
    every = list(items)
    return every if len(every) <= _SHOWN + 1 else [*every[:_SHOWN], f"{len(every) - _SHOWN} more"]


def _some(items: Iterable[str]) -> str:
    return ", ".join(_few(items))
