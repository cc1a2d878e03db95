"""What the catalogue holds: a list of parts with their prices, and what a check of it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gpunet.catalogs.findings import Finding, Level
from gpunet.catalogs.load import FILES
from gpunet.models.evidence import How, Price
from gpunet.models.parts import Cable, Catalog, Fibre, Part, Status
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Table, Tone
from gpunet.report.words import WEAK_MARK, counted, listed, price, usd

_COLUMNS = (
    Column("id", name=True),
    Column("vendor", name=True),
    Column("price USD", number=True),
    Column("known by"),
    Column("date", name=True),
    Column("model"),
)
_WEAKEST_FIRST = tuple(reversed(How))
_TONES = {Level.ERROR: Tone.BAD, Level.WARNING: Tone.WEAK, Level.INFO: None}


def parts_of(catalog: Catalog, kind: str = "", vendor: str = "") -> dict[str, list[Part]]:
    """Parts by kind, of one kind or vendor where given."""
    return {
        entry.kind: [part for part in getattr(catalog, stem).values() if vendor in ("", part.vendor)]
        for stem, entry in FILES.items()
        if entry.kind and kind in ("", entry.kind)
    }


def parts_list(catalog: Catalog, kind: str = "", vendor: str = "") -> list[Block]:
    """A table for each kind of part."""
    blocks: list[Block] = []
    found = {name: parts for name, parts in parts_of(catalog, kind, vendor).items() if parts}
    for name, parts in found.items():
        blocks += [
            Heading(f"{name} ({len(parts)})"),
            Table(_COLUMNS, tuple(_row(catalog, part) for part in parts)),
        ]
    closing = (
        f"Middle prices before tax, from the shortest to the longest stock length where there are several. {WEAK_MARK} "
        "marks prices that nobody has offered. gpunet catalog show ID tells the source of every figure."
    )
    return [*blocks, Paragraph(closing if blocks else "No part of that kind and vendor.")]


def prices_of(part: Part) -> list[Price]:
    """Every price of a part: one, one for each stock length, or none."""
    if isinstance(part, Cable | Fibre):
        return [stock.price for stock in part.lengths]
    found = getattr(part, "price", None)
    return [found] if found is not None else []


def price_date(catalog: Catalog, found: Price) -> str:
    """The day of a price, or of the first of its sources."""
    source = catalog.sources.get(found.src.split("+")[0])
    return found.date or (source.date if source else "")


def _row(catalog: Catalog, part: Part) -> tuple[str | Cell, ...]:
    prices = prices_of(part)
    model = part.model if part.status is Status.ACTIVE else f"{part.model} ({part.status.value})"
    if not prices:
        return part.id, part.vendor, "none", "", "", model
    how = min((found.how for found in prices), key=_WEAKEST_FIRST.index)
    low, high = min(found.mid_usd for found in prices), max(found.mid_usd for found in prices)
    shown = price(low, how) if low == high else f"{price(low, how)} to {usd(high)}"
    oldest = min(price_date(catalog, found) for found in prices)
    weak = how is not How.READ
    known = how.value if all(found.how is how for found in prices) else f"partly {how.value}"
    return (
        part.id,
        part.vendor,
        Cell(shown, Tone.WEAK) if weak else shown,
        Cell(known, Tone.WEAK) if weak else known,
        oldest,
        model,
    )


def check_report(catalog: Catalog, findings: Sequence[Finding], everything: bool) -> list[Block]:
    """Errors and warnings, each in a line, and how many notes there are; ``everything`` lists the notes too."""
    shown = [f for f in findings if everything or f.level is not Level.INFO]
    parts = sum(map(len, parts_of(catalog).values()))
    levels = Counter(finding.level for finding in findings)
    text = (
        f"Catalogue {catalog.version}: {counted(parts, 'part')}; {counted(levels[Level.ERROR], 'error')}, "
        f"{counted(levels[Level.WARNING], 'warning')}, {counted(levels[Level.INFO], 'note')}."
    )
    if topics := _topics(findings):
        text += f" Notes: {topics}."
    if levels[Level.INFO] and not everything:
        text += " --all lists them."
    points: list[Block] = [Point(finding.render(), _TONES[finding.level]) for finding in shown]
    return [*points, Paragraph(text)]


def _topics(findings: Iterable[Finding]) -> str:
    """How many parts rest on estimates, on old figures, or have no price."""
    notes = [finding for finding in findings if finding.level is Level.INFO]
    counts = Counter(note.message.partition(":")[0] for note in notes)
    named = [
        (counts["estimated"], "with estimated figures"),
        (counts["more than a year old"], "with figures more than a year old"),
        (counts["no price"], "without a price"),
    ]
    return listed([f"{counted(number, 'part')} {what}" for number, what in named if number])
