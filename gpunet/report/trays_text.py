"""How full the trays are, section by section."""

from __future__ import annotations

from gpunet.models.design import Result
from gpunet.report.blocks import Block, Column, Heading, Table
from gpunet.report.words import percent

_COLUMNS = (
    Column("section", name=True),
    Column("cable", number=True),
    Column("at most", number=True),
    Column("share", number=True),
)


def trays(result: Result) -> list[Block]:
    """A table with a line for each section; nothing where the case limits no tray."""
    if not result.trays:
        return []
    rows = tuple(
        (x.section, f"{x.used_mm2:,.0f} mm²", f"{x.limit_mm2:,.0f} mm²", percent(x.share)) for x in result.trays
    )
    return [Heading("Trays: cross-section of the cables"), Table(_COLUMNS, rows)]
