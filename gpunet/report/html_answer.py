"""The answer: what to build, for how much and how hot, how sure that is, and why this and not the next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from gpunet.models.design import Design, FabricDesign, Result, Status
from gpunet.models.parts import Catalog
from gpunet.models.study_rivals import Rival, Rivals
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.delivery import delivery_words
from gpunet.report.html_page import Command, Facts, Fold, Item, Section
from gpunet.report.words import FIRM, counted, kw, listed, percent, usd

_FABRICS = (
    Column("fabric", name=True),
    Column("built as"),
    Column("switches"),
    Column("links", number=True),
    Column("oversubscription", number=True),
    Column("longest path"),
)
_RIVALS = (
    Column("fabric", name=True),
    Column("without", name=True),
    Column("more", number=True),
    Column("cost USD", number=True),
    Column("draws", number=True),
    Column("what is built instead"),
)
_ASKED = (Column("setting", name=True), Column("value"))
_PLURALS = {"switch": "switches"}
_CHANGES_SHOWN = 4
_MEASURES = {"cost": "cost", "power": "largest draw", "tco": "cost of ownership"}


def answer_section(design: Design, catalog: Catalog, rivals: Rivals | None, ask: Command) -> Section:
    """The first chapter. ``ask`` says how to get the runner-up where nobody asked for it."""
    result = design.result
    items: list[Item] = [Paragraph(_build(design)), _facts(design), Paragraph(_proof(result))]
    told = delivery_words(design, catalog)
    if told:
        items.append(Paragraph(told))
    items += [Heading("What to build"), Table(_FABRICS, tuple(_fabric(n, f) for n, f in result.fabrics.items()))]
    why = _why(rivals, list(result.fabrics)) if rivals else [ask]
    items += [Heading("Why this and not the runner-up"), *why, *_ties(result)]
    if result.warnings:
        items += [Heading("What to know before ordering"), *(Point(text, Tone.WEAK) for text in result.warnings)]
    items.append(Fold("What was asked: settings of the case that are not the default", (_asked(design),)))
    return Section("answer", "The answer", tuple(items))


def _build(design: Design) -> str:
    kinds: dict[str, int] = {}
    for line in design.result.bom:
        # What a vendor takes off is nothing to build.
        if line.kind != "discount":
            kinds[line.kind] = kinds.get(line.kind, 0) + line.quantity
    pieces = [counted(n, kind, _PLURALS.get(kind, "")) for kind, n in kinds.items()]
    built = [name for name, fabric in design.result.fabrics.items() if not fabric.shared_with]
    servers = sum(d.kind == "server" for d in design.ledger.devices)
    asked = design.case.cluster
    size = f"{counted(asked.gpus, 'GPU')} in " if asked.gpus else ""
    return (
        f"For {size}{counted(servers, 'server')} ({asked.server}): build {listed(pieces)} as "
        f"{counted(len(built), 'fabric')}, {listed(built)}."
    )


def _facts(design: Design) -> Facts:
    result = design.result
    totals, verify = result.totals, result.verify
    assert totals is not None
    switches = sum(line.quantity for line in result.bom if line.kind == "switch")
    items = [
        ("Network cost, USD", usd(totals.cost_usd), "all of the bill, before tax"),
        ("Largest draw", kw(totals.power_max_w), f"{kw(totals.power_typical_w)} typically; servers not counted"),
        ("Owning it, USD", usd(totals.tco_usd), f"{design.case.tco.years:g} years, with energy and support"),
        ("Switches", f"{switches:,}", f"in {counted(totals.rack_units, 'rack unit')}"),
    ]
    gap = "gap not known" if result.gap is None else f"gap {percent(result.gap)}"
    proven = result.status is Status.OPTIMAL
    items.append(("Proof", "optimal" if proven else "not proven", "gap 0" if proven else gap))
    if verify is not None:
        passed = sum(check.passed for check in verify.checks)
        items.append(("Checks", f"{passed} of {len(verify.checks)}", "passed, counted again from the wiring"))
    firm, total = _firm_usd(result), totals.cost_usd
    if total:
        items.append(("Firm prices", percent(firm / total), "of the cost is read or quoted, the rest estimated"))
    links = sum(sum(fabric.links.values()) for fabric in result.fabrics.values() if not fabric.shared_with)
    items.append(
        ("Links", f"{links:,}", f"over {counted(len({x.assembly for x in design.ledger.links}), 'piece')} of cable")
    )
    return Facts(tuple(items))


def _firm_usd(result: Result) -> float:
    return math.fsum(line.extended_usd for line in result.bom if line.price_how in FIRM)


def _proof(result: Result) -> str:
    names = result.objective.name.split(",") if result.objective else ["cost"]
    first = _MEASURES.get(names[0], names[0])
    then = "".join(f", then of {_MEASURES.get(name, name)}" for name in names[1:])
    if result.status is Status.OPTIMAL:
        return f"Proven optimal: no design that meets the case has a lower {first}{then}."
    if result.gap is None or result.bound is None:
        return "The search was stopped early: how far from the best this is, is not known."
    bound = kw(result.bound) if names[0] == "power" else f"{usd(result.bound)} USD"
    return (
        f"The search was stopped early: the {first} is within {percent(result.gap)} of the best possible, "
        f"which is {bound} or more."
    )


def _fabric(name: str, fabric: FabricDesign) -> tuple[str, ...]:
    if fabric.shared_with:
        return name, f"on the switches of {fabric.shared_with}", "", "", "", ""
    switches = ", ".join(f"{tier.count:,} x {tier.switch} ({tier.tier})" for tier in fabric.tiers)
    latency = "latency not published" if fabric.latency_ns is None else f"{fabric.latency_ns:,.0f} ns"
    return (
        name,
        f"{fabric.protocol}, {fabric.topology}",
        switches,
        f"{sum(fabric.links.values()):,}",
        f"{fabric.oversubscription:g}:1",
        f"{counted(fabric.hops, 'switch', 'switches')}, {latency}",
    )


# --- the runner-up ----------------------------------------------------------------------------------------------------


def _why(study: Rivals, fabrics: list[str]) -> Iterator[Block]:
    ranked = sorted(study.rivals, key=lambda r: fabrics.index(r.fabric) if r.fabric in fabrics else len(fabrics))
    study = study.model_copy(update={"rivals": tuple(ranked)})
    power = study.objective.split(",")[0] == "power"
    yield Paragraph(_verdict(study, power))
    if study.rivals:
        yield Table(_RIVALS, tuple(_rival(r, power, study.value or 0) for r in study.rivals))
        yield Paragraph(
            "Each line is the best whole design in which that fabric does without that switch model, everything else "
            f"free; {counted(study.solves, 'design')} solved to the end, none estimated."
        )


def _verdict(study: Rivals, power: bool) -> str:
    """The first fabric's rival, then the nearest of all, then what ties."""
    value = study.value or 0
    ahead = [r for r in study.rivals if r.more]
    tied = [r for r in study.rivals if r.more == 0]
    if not ahead and not tied:
        return (
            "No design that meets the case does without any of these switch models, so there is no runner-up with "
            "other switches."
        )
    said = []
    if ahead:
        main, nearest = ahead[0], min(ahead, key=lambda r: r.more or 0)
        said.append(f"Without {main.part} in {main.fabric} the best design costs {_more(main, power, value)}.")
        if nearest is not main:
            said.append(
                f"The nearest runner-up with other switches costs {_more(nearest, power, value)}: {_instead(nearest)}."
            )
    if tied:
        names = listed([f"{r.fabric} ({_changes(r.change)})" for r in tied])
        said.append(f"Other switches come to exactly the same in {names}; fixed rules picked these.")
    return " ".join(said)


def _more(rival: Rival, power: bool, value: float) -> str:
    more = rival.more or 0
    amount = kw(more) if power else f"{usd(more)} USD"
    return f"{amount} more ({percent(more / value)})" if value else f"{amount} more"


def _instead(rival: Rival) -> str:
    return f"{rival.fabric} without {rival.part} ({_changes(rival.change)})"


def _rival(rival: Rival, power: bool, value: float) -> tuple[str | Cell, ...]:
    if rival.design is None:
        return rival.fabric, rival.part, "no design", "", "", "nothing the case allows takes its place"
    more = "exactly the same" if not rival.more else _more(rival, power, value).replace(" more", "")
    draws, cost = kw(rival.design.power_max_w), usd(rival.design.cost_usd)
    return rival.fabric, rival.part, more, cost, draws, _changes(rival.change)


def _changes(change: tuple[str, ...]) -> str:
    shown = change if len(change) <= _CHANGES_SHOWN + 1 else change[:_CHANGES_SHOWN]
    rest = f" and {len(change) - len(shown)} more" if len(shown) < len(change) else ""
    return ", ".join(shown) + rest


def _ties(result: Result) -> Iterator[Block]:
    own = [(name, fabric) for name, fabric in result.fabrics.items() if not fabric.shared_with]
    said = [f"{counted(x.ties, 'other way', 'other ways')} to build {name}" for name, x in own if x.ties]
    said += [
        f"other parts for {counted(x.link_ties, 'class', 'classes')} of links of {name}"
        for name, x in own
        if x.link_ties
    ]
    if said:
        yield Paragraph(f"Everything else as it is, these come to exactly the same: {listed(said)}.")


# --- the question -----------------------------------------------------------------------------------------------------


def _asked(design: Design) -> Table:
    given = design.case.model_dump(mode="json", exclude_defaults=True)
    return Table(_ASKED, tuple(_settings("", given)))


def _settings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _settings(f"{path}.{name}" if path else name, inner)
    elif isinstance(value, list):
        yield path, ", ".join(map(_word, value)) or "none"
    else:
        yield path, "with its defaults" if value == {} else _word(value)


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_word(inner)}" for name, inner in value.items())
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
