"""What is different between two designs of one case, as a person who edits the case reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from gpunet.models.case import Case
from gpunet.models.design import BomLine, Design, FabricDesign, Result, Status, Totals
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Table, Tone
from gpunet.report.words import counted, kw, percent, usd

_NONE = "-"
_SETTINGS = (Column("setting", name=True), Column("before"), Column("now"))
_TOTALS = (
    Column("total", name=True),
    Column("before", number=True),
    Column("now", number=True),
    Column("change", number=True),
)
_FABRICS = (Column("fabric", name=True), Column("what", name=True), Column("before"), Column("now"))
_BILL = (
    Column("part", name=True),
    Column("kind", name=True),
    Column("before", number=True),
    Column("now", number=True),
    Column("total USD", number=True),
    Column("change USD", number=True),
)


def changes(before: Design, now: Design) -> list[Block]:
    """What was set anew and what that did: totals, fabrics, bill. For results that have a design each."""
    old, new = before.result, now.result
    if old.totals is None or new.totals is None:
        raise ValueError("only designs can be compared; see no_answer for a result without one")
    settings = tuple(_settings(before.case, now.case))
    fabrics = tuple(_fabrics(old.fabrics, new.fabrics))
    bill = tuple(_bill(old, new))
    totals = tuple(_totals(old.totals, new.totals))
    blocks: list[Block] = [Paragraph(_head(new, old.totals, new.totals, bool(fabrics or bill)))]
    for title, columns, rows in (
        ("Settings that changed", _SETTINGS, settings),
        ("Totals that changed", _TOTALS, totals),
        ("Fabrics that changed", _FABRICS, fabrics),
        ("Lines of the bill that changed", _BILL, bill),
    ):
        if rows:
            blocks += [Heading(title), Table(columns, rows)]
    return blocks


def _head(result: Result, old: Totals, new: Totals, different: bool) -> str:
    if result.status is Status.OPTIMAL:
        proof = "proven optimal"
    else:
        proof = "stopped early" if result.gap is None else f"stopped early, within {percent(result.gap)} of the best"
    cost = f"{usd(new.cost_usd)} USD, {_more_usd(old.cost_usd, new.cost_usd)}"
    power = f"{kw(new.power_max_w)}, {_more_kw(old.power_max_w, new.power_max_w)}"
    same = "" if different else " The same design as before."
    return f"{result.case}: {cost}; {power}; {proof}.{same}"


def _more_usd(old: float, new: float) -> str:
    if new == old:
        return "as before"
    share = f" ({percent(abs(new - old) / old)})" if old else ""
    return f"{usd(abs(new - old))} {'more' if new > old else 'less'}{share}"


def _more_kw(old: float, new: float) -> str:
    return "as before" if new == old else f"{kw(abs(new - old))} {'more' if new > old else 'less'}"


# --- settings ---------------------------------------------------------------------------------------------------------


def _settings(old: Case, new: Case) -> Iterator[tuple[str, ...]]:
    """Settings by their path in the case file; one that is written as its default is no change."""
    yield from _differences(old.model_dump(mode="json"), new.model_dump(mode="json"), "")


def _differences(old: object, new: object, path: str) -> Iterator[tuple[str, ...]]:
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(old, list) and isinstance(new, list) and any(isinstance(item, Mapping) for item in (*old, *new)):
        for index, (before, now) in enumerate(zip_longest(old, new)):
            yield from _differences(before, now, f"{path}[{index}]")
    elif isinstance(old, Mapping) and old and path.startswith("fabrics."):
        yield path, "designed", "left out"
    elif isinstance(new, Mapping) and new and path.startswith("fabrics."):
        yield path, "left out", "designed"
    else:
        yield path, _said(old), _said(new)


def _said(value: object) -> str:
    match value:
        case None | "" | [] | {}:
            return _NONE
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.12g}"
        case list():
            return ", ".join(map(_said, value))
        case dict():
            return ", ".join(f"{key} {_said(item)}" for key, item in value.items() if item not in (None, ""))
        case _:
            return str(value)


# --- the design -------------------------------------------------------------------------------------------------------


def _totals(old: Totals, new: Totals) -> Iterator[tuple[str, ...]]:
    rows = (
        ("cost USD", old.cost_usd, new.cost_usd, "{:,.2f}"),
        ("owning USD", old.tco_usd, new.tco_usd, "{:,.2f}"),
        ("draw at most W", old.power_max_w, new.power_max_w, "{:,.1f}"),
        ("draw typically W", old.power_typical_w, new.power_typical_w, "{:,.1f}"),
        ("rack units", old.rack_units, new.rack_units, "{:,}"),
    )
    for name, before, now, form in rows:
        if before != now:
            yield name, form.format(before), form.format(now), form.replace(":", ":+").format(now - before)


def _fabrics(old: Mapping[str, FabricDesign], new: Mapping[str, FabricDesign]) -> Iterator[tuple[str, ...]]:
    for name in dict.fromkeys((*old, *new)):
        shown = name
        before, now = (_facts(fabrics[name]) if name in fabrics else {} for fabrics in (old, new))
        for what in dict.fromkeys((*before, *now)) if before and now else ("built as",):
            if before.get(what) != now.get(what):
                yield shown, what, before.get(what, _NONE), now.get(what, _NONE)
                shown = ""


def _facts(fabric: FabricDesign) -> dict[str, str]:
    """What is worth telling of a fabric, in words."""
    if fabric.shared_with:
        built = f"on the switches of {fabric.shared_with}"
    else:
        switches = ", ".join(f"{tier.count:,} x {tier.switch} {tier.tier}" for tier in fabric.tiers)
        built = f"{switches} ({fabric.protocol}, {fabric.topology})"
    return {
        "built as": built,
        "oversubscription": f"{fabric.oversubscription:.4g}:1",
        "longest path": counted(fabric.hops, "switch", "switches"),
        "latency": "unknown" if fabric.latency_ns is None else f"{fabric.latency_ns:,.0f} ns",
        "links": ", ".join(f"{link_class} {count:,}" for link_class, count in fabric.links.items()) or _NONE,
    }


def _bill(old: Result, new: Result) -> Iterator[tuple[str | Cell, ...]]:
    before, now = (_by_part(result) for result in (old, new))
    parts = [(now.get(part), before.get(part)) for part in dict.fromkeys((*now, *before))]
    for new_line, old_line in parts:
        line = new_line or old_line
        if line is None or _counted(old_line) == _counted(new_line):
            continue
        (count_before, usd_before), (count_now, usd_now) = _counted(old_line), _counted(new_line)
        yield (
            line.part,
            line.kind,
            f"{count_before:,}" if old_line else _NONE,
            f"{count_now:,}" if new_line else Cell("gone", Tone.WEAK),
            usd(usd_now),
            f"{usd_now - usd_before:+,.2f}",
        )


def _by_part(result: Result) -> dict[str, BomLine]:
    """Lines by part; where several suppliers deliver one, together."""
    found: dict[str, BomLine] = {}
    for line in result.bom:
        quantity, paid = _counted(found.get(line.part))
        together = {"quantity": quantity + line.quantity, "extended_usd": paid + line.extended_usd}
        found[line.part] = line.model_copy(update=together) if quantity or paid else line
    return found


def _counted(line: BomLine | None) -> tuple[int, float]:
    return (line.quantity, line.extended_usd) if line else (0, 0.0)
