"""Flow control headroom of a fabric: what ports keep free on the fullest switch of every tier, against its buffer."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.design import TierHeadroom
from gpunet.models.evidence import How
from gpunet.report.blocks import Block, Cell, Column, Paragraph, Table, Tone
from gpunet.report.words import WEAK_MARK, percent

_COLUMNS = (
    Column("headroom", name=True),
    Column("switch", name=True),
    Column("ports", number=True),
    Column("bytes a port", number=True),
    Column("bytes in all", number=True),
    Column("buffer", number=True),
    Column("share", number=True),
)


def headroom(lines: Sequence[TierHeadroom]) -> list[Block]:
    """A table with a line for each tier; nothing where the case asks for no headroom."""
    if not lines:
        return []
    found: list[Block] = [Table(_COLUMNS, tuple(_row(line) for line in lines))]
    divided = [line for line in lines if line.pools > 1]
    if divided:
        pools = "; ".join(
            dict.fromkeys(
                f"{line.switch}: {line.pools} pools, at most {line.pool_bytes:,} bytes fall to one" for line in divided
            )
        )
        found.append(
            Paragraph(f"Where a buffer is no one pool, the share is that of the pool with the fullest cages: {pools}.")
        )
    return found


def _row(line: TierHeadroom) -> tuple[str | Cell, ...]:
    least, most = line.least_port_bytes, line.most_port_bytes
    each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    return line.tier, line.switch, f"{line.ports:,}", each, f"{line.total_bytes:,}", _buffer(line), _share(line)


def _buffer(line: TierHeadroom) -> str | Cell:
    if line.buffer_bytes is None:
        return Cell("not known", Tone.WEAK)
    text = f"{line.buffer_bytes:,}"
    return text if line.buffer_how == How.READ.value else Cell(WEAK_MARK + text, Tone.WEAK)


def _share(line: TierHeadroom) -> str | Cell:
    return Cell("not known", Tone.WEAK) if line.share is None else percent(line.share)
