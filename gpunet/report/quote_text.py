"""What an import of a quote found, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpunet.models.problems import shortened
from gpunet.models.quote import QuoteImport, QuoteLine, UnmatchedLine
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import counted, listed, usd

_PARTS = (
    Column("row", number=True),
    Column("supplier's number"),
    Column("part", name=True),
    Column("found by"),
    Column("pieces", number=True),
    Column("unit USD", number=True),
    Column("total USD", number=True),
)
_UNMATCHED = (
    Column("row", number=True),
    Column("supplier's number"),
    Column("pieces", number=True),
    Column("unit USD", number=True),
    Column("why"),
    Column("nearest"),
)


def import_report(found: QuoteImport) -> list[Block]:
    """Who offers what until when, which part each row is, and which rows are none that the catalogue knows."""
    return list(_import(found))


def _import(found: QuoteImport) -> Iterator[Block]:
    quote = found.quote
    rows = len(found.matches) + len(quote.unmatched)
    dated = f" of {quote.date}" if quote.date else ""
    until = f", valid until {quote.valid_until}" if quote.valid_until else ", with no end of validity stated"
    all_known = (
        "all are parts of the catalogue"
        if not quote.unmatched
        else (f"{len(found.matches):,} are parts of the catalogue and {len(quote.unmatched):,} are not")
    )
    yield Paragraph(f"{found.file}: quote of {quote.title}{dated}{until}. {counted(rows, 'row')}: {all_known}.")
    if found.lapsed_on is not None:
        yield Paragraph(lapsed(quote.title, quote.valid_until or "", found.lapsed_on), Tone.BAD)
    yield Paragraph(f"Columns: {listed([f'{heading!r} is the {what}' for what, heading in found.columns.items()])}.")
    yield Heading("Parts")
    yield _parts(found)
    if quote.unmatched:
        yield Heading("Not in the catalogue: no price is taken from these rows")
        yield Table(_UNMATCHED, tuple(map(_unmatched_row, quote.unmatched)))
        yield Paragraph(f"Where the nearest is the part after all, say so: {_advice(quote.unmatched)}.")
    yield from (Point(note, Tone.WEAK) for note in found.notes)


def lapsed(title: str, until: str, today: str) -> str:
    """A quote whose prices no longer hold, in words."""
    return f"The quote of {title} was valid until {until}, and today is {today}: its prices no longer hold. Ask again."


def _parts(found: QuoteImport) -> Table:
    lines: dict[str, QuoteLine] = {line.part: line for line in found.quote.lines}
    rows = []
    total = 0.0
    for match in found.matches:
        line = lines.pop(match.part, None)
        if line is None:
            rows.append((f"{match.row}", match.sku, match.part, match.by, "added", "above", ""))
            continue
        amount = "" if line.quantity is None else usd(line.quantity * line.unit_usd)
        total += (line.quantity or 0) * line.unit_usd
        pieces = "any" if line.quantity is None else f"{line.quantity:,}"
        rows.append((f"{match.row}", match.sku, match.part, match.by, pieces, usd(line.unit_usd), amount))
    return Table(_PARTS, tuple(rows), ("", "total", "", "", "", "", usd(total)) if total else ())


def _unmatched_row(line: UnmatchedLine) -> tuple[str | Cell, ...]:
    return (
        f"{line.row}" if line.row else "",
        line.sku,
        "" if line.quantity is None else f"{line.quantity:,}",
        "" if line.unit_usd is None else usd(line.unit_usd),
        Cell(line.why, Tone.BAD),
        ", ".join(line.nearest) or "none is close",
    )


def _advice(lines: Sequence[UnmatchedLine]) -> str:
    line = next((line for line in lines if line.nearest), lines[0])
    part = line.nearest[0] if line.nearest else "ID"
    sku = shortened(line.sku)
    return f'--as "{sku}={part}"' if " " in sku else f"--as {sku}={part}"
