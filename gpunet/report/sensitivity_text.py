"""The sensitivity of a design, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterable

from gpunet.models.study_sensitivity import PriceRange, Sensitivity, Step
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, kw, listed, percent, price, usd

_CHANGES_SHOWN = 3
_RIVALS_SHOWN = 20
_OWN = (
    Column("part", name=True),
    Column("price USD", number=True),
    Column("stays from", number=True),
    Column("to", number=True),
    Column("room up", number=True),
    Column("above that"),
)
_RIVALS = (
    Column("part", name=True),
    Column("price USD", number=True),
    Column("enters below", number=True),
    Column("cheaper by", number=True),
    Column("and then"),
)
_STEPS = (
    Column("setting", name=True),
    Column("today", number=True),
    Column("holds to", number=True),
    Column("next", number=True),
    Column("cost there", number=True),
    Column("what changes"),
)
_LIMITS = (Column("limit", name=True), Column("loosened"), Column("saves", number=True), Column("what changes"))
_BANDS = (
    Column("part", name=True),
    Column("price USD", number=True),
    Column("low", number=True),
    Column("high", number=True),
    Column("total at low", number=True),
    Column("total at high", number=True),
    Column("design"),
)
_REGRETS = (
    Column("design"),
    Column("worst regret USD", number=True),
    Column("in scenario"),
    Column("built with instead"),
)


def sensitivity_report(study: Sensitivity) -> list[Block]:
    """The answer in one paragraph, then price ranges, steps, limits and bands."""
    if study.design is None:
        return [Paragraph(f"{study.case}: no design, so nothing to vary ({study.status.value}).", Tone.BAD)]
    blocks: list[Block] = [Paragraph(_answer(study))]
    blocks += _prices(study)
    blocks += _steps(study)
    blocks += _limits(study)
    blocks += _uncertain(study)
    blocks += [Point(note, Tone.WEAK) for note in study.notes]
    return blocks


def _answer(study: Sensitivity) -> str:
    assert study.design is not None
    text = [
        f"{study.case}: {usd(study.design.cost_usd)} USD and {kw(study.design.power_max_w)}, proven; "
        f"{study.solves:,} designs solved to see how firm it is."
    ]
    own = [r for r in study.prices if r.in_design and r.stays_to_usd is not None and r.price_usd]
    if own:
        tightest = min(own, key=lambda r: _room_up(r) or 0.0)
        text.append(
            f"The tightest price is that of {tightest.part}: the design stays the best up to "
            f"{usd(tightest.stays_to_usd or 0)} ({percent(_room_up(tightest) or 0.0)} above today)."
        )
    near = [r for r in study.prices if not r.in_design and r.price_usd]
    if near:
        closest = min(near, key=_fall)
        share = _fall(closest)
        how = "at today's price already" if not share else f"{percent(share)} below today"
        tie = "ties with it " if not share else "displaces a part "
        text.append(f"The nearest rival is {closest.part}: it {tie}{how}.")
    return " ".join(text)


def _room_up(found: PriceRange) -> float | None:
    return None if found.stays_to_usd is None else (found.stays_to_usd - found.price_usd) / found.price_usd


def _prices(study: Sensitivity) -> Iterable[Block]:
    own = [r for r in study.prices if r.in_design]
    if own:
        yield Heading("Prices: where the design stays the best, every other price held")
        yield Table(_OWN, tuple(_own_row(r) for r in own))
        beyond = [text for r in own for text in _beyond(r)]
        if beyond:
            yield Heading("Further breakpoints")
            yield from (Point(text) for text in beyond)
    rivals = sorted(
        (r for r in study.prices if not r.in_design), key=lambda r: (r.price_usd - r.stays_from_usd, r.part)
    )
    if rivals:
        yield Heading("Parts that could displace one, nearest first")
        yield Table(_RIVALS, tuple(_rival_row(r) for r in rivals[:_RIVALS_SHOWN]))
        if len(rivals) > _RIVALS_SHOWN:
            yield Paragraph(f"{len(rivals) - _RIVALS_SHOWN:,} more would have to fall further; --json lists them all.")
    if study.never:
        yield Paragraph(f"{counted(len(study.never), 'part')} would not be used even free of charge.")


def _fall(found: PriceRange) -> float:
    """By what share a price must fall for the part to enter."""
    return (found.price_usd - found.stays_from_usd) / found.price_usd if found.price_usd else 0.0


def _own_row(found: PriceRange) -> tuple[str | Cell, ...]:
    room = _room_up(found)
    above = next((p for p in found.pieces if p.from_usd > found.price_usd), None)
    return (
        found.part,
        price(found.price_usd, found.price_how),
        usd(found.stays_from_usd),
        "open" if found.stays_to_usd is None else usd(found.stays_to_usd),
        "-" if room is None else Cell(percent(room), Tone.BAD) if room < 0.05 else percent(room),
        "-" if above is None else _changes(above.change),
    )


def _beyond(found: PriceRange) -> Iterable[str]:
    """The breakpoints other than those of today's piece."""
    above = [p for p in found.pieces if p.from_usd > found.price_usd][1:]
    below = [p for p in found.pieces if p.to_usd is not None and p.to_usd <= found.price_usd]
    for piece in above:
        yield f"{found.part} above {usd(piece.from_usd)}: {_changes(piece.change)}"
    for piece in reversed(below):
        yield f"{found.part} below {usd(piece.to_usd or 0)}: {_changes(piece.change)}"


def _rival_row(found: PriceRange) -> tuple[str | Cell, ...]:
    share = _fall(found)
    return (
        found.part,
        price(found.price_usd, found.price_how),
        usd(found.stays_from_usd),
        "a tie" if not share else percent(share),
        _changes(found.pieces[0].change),
    )


def _steps(study: Sensitivity) -> Iterable[Block]:
    if study.steps:
        yield Heading("Requirements: the next step")
        yield Table(_STEPS, tuple(_step_row(s) for s in study.steps))
    if study.headroom:
        free = [f"{h.amount:,g} {h.unit} on {h.where}" for h in study.headroom if h.what == "free cages" and h.amount]
        other = [f"{h.amount:,g} {h.unit} below {h.where}" for h in study.headroom if h.what != "free cages"]
        if free or other:
            yield Paragraph(f"Paid for already and free: {listed([*free, *other])}.")


def _step_row(step: Step) -> tuple[str | Cell, ...]:
    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:,.6g}"

    nothing = step.next_value is None
    return (
        f"{step.setting} {step.direction}",
        f"{shown(step.value)} {step.unit}",
        f"past {shown(step.looked_to)}" if nothing else shown(step.holds_to),
        shown(step.next_value),
        "-" if nothing else "none" if step.cost_change_usd is None else f"{step.cost_change_usd:+,.2f}",
        "nothing" if nothing else _changes(step.change),
    )


def _limits(study: Sensitivity) -> Iterable[Block]:
    if not study.limits:
        return
    worth = sorted((w for w in study.limits if w.saved), key=lambda w: -(w.saved or 0))
    yield Heading("Limits: what each one costs")
    if worth:
        yield Table(
            _LIMITS, tuple((w.setting, w.change, f"{w.saved or 0:,.2f}", _changes(w.design_change)) for w in worth)
        )
    free = [f"{w.setting} ({w.change})" for w in study.limits if not w.saved]
    if free:
        yield Paragraph(f"Nothing would be gained by loosening {listed(free)}.")


def _uncertain(study: Sensitivity) -> Iterable[Block]:
    if study.bands:
        yield Heading("Uncertain prices, widest first: one moved over its band")
        yield Table(
            _BANDS,
            tuple(
                (
                    b.part,
                    price(b.price_usd, b.price_how),
                    usd(b.low_usd),
                    usd(b.high_usd),
                    usd(b.at_low_usd),
                    usd(b.at_high_usd),
                    "changes" if b.changes_design else "stays",
                )
                for b in study.bands
            ),
        )
    if study.regrets:
        best = study.regrets[0]
        yield Heading("Regret: what a design costs more than the best, at worst")
        own = "today's design" if not best.change else "another design"
        yield Paragraph(
            f"The smallest worst regret is {usd(best.worst_regret_usd)} USD, in scenario {best.worst_scenario}, "
            f"with {own}; no design whatever has a smaller one over these scenarios."
        )
        yield Table(
            _REGRETS,
            tuple(
                (
                    "best in " + r.name if r.name != "least worst regret" else r.name,
                    usd(r.worst_regret_usd),
                    r.worst_scenario,
                    _changes(r.change) or "today's design",
                )
                for r in study.regrets
            ),
        )


def _changes(change: Iterable[str]) -> str:
    every = list(change)
    shown = every[:_CHANGES_SHOWN] if len(every) > _CHANGES_SHOWN + 1 else every
    rest = f" and {len(every) - len(shown)} more" if len(shown) < len(every) else ""
    return ", ".join(shown) + rest
