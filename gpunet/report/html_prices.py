"""Chapters about prices: which matter most, and how far each may move before something else is the best."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.study import Study
from gpunet.models.study_sensitivity import Band, PriceRange, Sensitivity
from gpunet.report.blocks import Column, Paragraph, Table
from gpunet.report.charts import Chart, Row, Series, spans
from gpunet.report.html_design import colour
from gpunet.report.html_page import Fold, Item, Section
from gpunet.report.html_studies import ask
from gpunet.report.words import counted, percent, price, usd

_MOST_BARS = 20
"""Bars of one chart; its table has them all."""
_CAP = 3.0
"""Share of today's price at which the axis of price ranges ends."""
_LOW, _HIGH = "at its low price", "at its high price"
_ENDS, _BEYOND, _OPEN = "ends where another takes over", "ends beyond the axis", "nothing takes over"
_FALL = "must fall by"


def tornado_section(studies: Sequence[Study], case_name: str) -> Section:
    """The tornado: every uncertain price over its band."""
    found = [s for s in studies if isinstance(s, Sensitivity) and s.bands and s.value is not None]
    if not found:
        command = ask("which uncertain prices move the total most", case_name, "sensitivity", "all", "--bands")
        return Section("prices", "Which prices matter", (command,))
    study = found[0]
    items: list[Item] = [_tornado(study, study.value or 0)]
    if study.regrets:
        best = study.regrets[0]
        own = "this design" if not best.change else "another design"
        items.append(
            Paragraph(
                f"Wherever prices end up in these bands, one at a time or all together at either end, {own} is never "
                f"more than {usd(best.worst_regret_usd)} USD above the best; no design has a smaller worst case."
            )
        )
    return Section("prices", "Which prices matter", tuple(items))


def _tornado(study: Sensitivity, value: float) -> Chart:
    shown = study.bands[:_MOST_BARS]
    rows: list[Row] = []
    for band in shown:
        for kind, at, to in ((_LOW, band.low_usd, band.at_low_usd), (_HIGH, band.high_usd, band.at_high_usd)):
            rows.append(
                {
                    "part": band.part,
                    "kind": kind,
                    "from": 0.0,
                    "to": round(to - value, 2),
                    "unit price USD": usd(at),
                    "total USD": usd(to),
                    "design": "changes at an end" if band.changes_design else "stays",
                }
            )
    series = (Series(_LOW, colour("low")), Series(_HIGH, colour("high")))
    widest = shown[0]
    says = (
        f"One price moved over its band, every other held; the design is chosen anew at each end. {widest.part} moves "
        f"the total most: by {usd(widest.at_high_usd - widest.at_low_usd)} USD."
    )
    changing = sum(band.changes_design for band in study.bands)
    says += (
        f" {counted(changing, 'price changes', 'prices change')} the design at an end of the band." if changing else ""
    )
    spec = spans(
        rows,
        series,
        title="change of the total, USD",
        form="+~s",
        line_at=0.0,
        tips=("unit price USD", "total USD", "design"),
    )
    return Chart("tornado", "Tornado of prices", says, spec, _band_table(study.bands), series)


def _band_table(bands: Sequence[Band]) -> Table:
    return Table(
        (
            Column("part", name=True),
            Column("price USD", number=True),
            Column("low", number=True),
            Column("high", number=True),
            Column("total at low", number=True),
            Column("total at high", number=True),
            Column("design"),
        ),
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
            for b in bands
        ),
    )


def ranges_section(studies: Sequence[Study], case_name: str) -> Section:
    """Price ranges: of the parts in the design, and of those that would displace one."""
    from gpunet.report.sensitivity_text import sensitivity_report

    found = [s for s in studies if isinstance(s, Sensitivity) and s.prices]
    if not found:
        command = ask("between which prices the design stays the best", case_name, "sensitivity", "all", "--bands")
        return Section("ranges", "How far each price can move", (command,))
    study = found[0]
    own = [r for r in study.prices if r.in_design and r.price_usd]
    rivals = sorted((r for r in study.prices if not r.in_design and r.price_usd), key=lambda r: (-_enters(r), r.part))
    first, *rest = sensitivity_report(study)
    items: list[Item] = [first]
    if own:
        items.append(_ranges(sorted(own, key=lambda r: (_up(r), r.part))))
    if rivals:
        items.append(_rivals(rivals))
    items.append(Fold("All ranges, breakpoints, next steps of each requirement, and what limits cost", tuple(rest)))
    return Section("ranges", "How far each price can move", tuple(items))


def _up(found: PriceRange) -> float:
    return float("inf") if found.stays_to_usd is None else found.stays_to_usd / found.price_usd


def _enters(found: PriceRange) -> float:
    return found.stays_from_usd / found.price_usd


def _ranges(own: Sequence[PriceRange]) -> Chart:
    rows: list[Row] = []
    ticks: list[Row] = []
    for r in own[:_MOST_BARS]:
        end = "open" if r.stays_to_usd is None else usd(r.stays_to_usd)
        rows.append(
            {
                "part": r.part,
                "kind": _OPEN if r.is_open else _BEYOND if _up(r) > _CAP else _ENDS,
                "from": round(r.stays_from_usd / r.price_usd, 6),
                "to": round(min(_up(r), _CAP), 6),
                "price today USD": usd(r.price_usd),
                "stays the best USD": f"{usd(r.stays_from_usd)} to {end}",
            }
        )
        for piece in r.pieces:
            at = piece.from_usd / r.price_usd
            if 0 < at <= _CAP:
                says = ", ".join(piece.change[:4]) or "today's design begins"
                ticks.append({"part": r.part, "at": round(at, 6), "says": f"from {usd(piece.from_usd)} USD: {says}"})
    kinds = {row["kind"] for row in rows}
    series = tuple(
        Series(k, colour(c)) for k, c in ((_ENDS, "own"), (_BEYOND, "fibre"), (_OPEN, "cable")) if k in kinds
    )
    says = (
        "Unit price as a share of today's, at which this design stays the best, every other price held. Ticks are "
        f"prices at which the best design changes; the axis ends at {_CAP:.0%}. Tightest first."
    )
    if len(own) > _MOST_BARS:
        says += f" {_MOST_BARS} of {len(own)} are drawn."
    spec = spans(
        rows,
        series,
        title="unit price, share of today's",
        form=".0%",
        line_at=1.0,
        ticks=ticks,
        tips=("price today USD", "stays the best USD"),
    )
    table = Table(
        (
            Column("part", name=True),
            Column("price USD", number=True),
            Column("stays from", number=True),
            Column("to", number=True),
            Column("breakpoints USD"),
        ),
        tuple(
            (
                r.part,
                price(r.price_usd, r.price_how),
                usd(r.stays_from_usd),
                "open" if r.stays_to_usd is None else usd(r.stays_to_usd),
                ", ".join(usd(p.from_usd) for p in r.pieces[1:]) or "none",
            )
            for r in own
        ),
    )
    return Chart("ranges-own", "Parts of the design", says, spec, table, series)


def _rivals(rivals: Sequence[PriceRange]) -> Chart:
    shown = rivals[:_MOST_BARS]
    rows: list[Row] = [
        {
            "part": r.part,
            "kind": _FALL,
            "from": 0.0,
            "to": round(1 - _enters(r), 6),
            "price today USD": usd(r.price_usd),
            "enters below USD": usd(r.stays_from_usd),
        }
        for r in shown
    ]
    ticks: list[Row] = [
        {"part": row["part"], "at": row["to"], "says": ", ".join(r.pieces[0].change[:4])}
        for row, r in zip(rows, shown, strict=True)
    ]
    tied = sum(row["to"] == 0 for row in rows)
    says = "By what share of its price a part outside the design must fall to displace one, every other price held."
    says += f" {counted(tied, 'part ties', 'parts tie')} with one of the design today." if tied else ""
    if len(rivals) > _MOST_BARS:
        says += f" The nearest {_MOST_BARS} of {len(rivals)} are drawn."
    spec = spans(
        rows,
        (Series(_FALL, colour("rival")),),
        title="must fall by, share of today's price",
        form=".3~%",
        line_at=0.0,
        ticks=ticks,
        tips=("price today USD", "enters below USD"),
    )
    table = Table(
        (
            Column("part", name=True),
            Column("price USD", number=True),
            Column("enters below USD", number=True),
            Column("cheaper by", number=True),
            Column("and then"),
        ),
        tuple(
            (
                r.part,
                price(r.price_usd, r.price_how),
                usd(r.stays_from_usd),
                percent(1 - _enters(r)),
                ", ".join(r.pieces[0].change[:4]),
            )
            for r in rivals
        ),
    )
    return Chart("ranges-rivals", "Parts that could displace one", says, spec, table)
