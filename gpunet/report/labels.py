"""Labels for every end of every cable, on sheets of stickers, in the order in which the cables are pulled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.report.cabling import JOINED, End, Run, schedule
from gpunet.report.cabling_order import TO

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

FILE = "labels.pdf"
_POINTS_PER_MM = 72 / 25.4


class LabelSheet(NamedTuple):
    """A sheet of stickers; lengths in millimetres."""

    about: str
    """What stands on the packet."""
    page_mm: tuple[float, float]
    """Width and height of the paper."""
    columns: int
    rows: int
    label_mm: tuple[float, float]
    """Width and height of one label."""
    margin_mm: tuple[float, float]
    """From the left and from the top edge of the paper to the first label."""
    pitch_mm: tuple[float, float]
    """From label to label, across and down."""


_LETTER, _A4 = (215.9, 279.4), (210.0, 297.0)
SHEETS: dict[str, LabelSheet] = {
    "letter-3x10": LabelSheet(
        "US Letter, 30 labels of 2 5/8 x 1 inch (Avery 5160 and its equals)",
        _LETTER, 3, 10, (66.675, 25.4), (4.7625, 12.7), (69.85, 25.4),
    ),
    "letter-4x20": LabelSheet(
        "US Letter, 80 labels of 1 3/4 x 1/2 inch (Avery 5167 and its equals)",
        _LETTER, 4, 20, (44.45, 12.7), (7.62, 12.7), (52.07, 12.7),
    ),
    "a4-3x8": LabelSheet(
        "A4, 24 labels of 63.5 x 33.9 mm (Avery L7159 and its equals)",
        _A4, 3, 8, (63.5, 33.9), (7.25, 12.9), (66.0, 33.9),
    ),
    "a4-5x13": LabelSheet(
        "A4, 65 labels of 38.1 x 21.2 mm (Avery L7651 and its equals)",
        _A4, 5, 13, (38.1, 21.2), (4.75, 10.7), (40.6, 21.2),
    ),
}  # fmt: skip
"""Sheets by the name that ``--sheet`` takes."""
DEFAULT = "letter-3x10"


class Label(NamedTuple):
    """What one label says."""

    text: str
    """The text of the schedule: number of the piece, near end, far end or ends."""
    devices: str
    """Both devices by name."""
    piece: str
    """Part, polarity and bundle."""
    fabric: str


def labels(runs: Sequence[Run]) -> Iterator[Label]:
    """One label for every plug, both ends of a piece one after the other; the head of a splitter is one plug."""
    legs: dict[int, list[Run]] = {}
    for run in runs:
        legs.setdefault(run.assembly, []).append(run)
    for same in legs.values():
        shared = same[0].head if len(same) > 1 else ""
        for number, run in enumerate(same):
            for side, near, far in (("a", run.a, run.b), ("b", run.b, run.a)):
                if side == shared:
                    if number == 0:
                        yield _label(run, near, [leg.b if shared == "a" else leg.a for leg in same])
                else:
                    yield _label(run, near, [far])


def _label(run: Run, near: End, far: Sequence[End]) -> Label:
    others = list(dict.fromkeys(end.device for end in far))
    piece = " ".join(filter(None, [run.part, run.polarity, run.bundle]))
    return Label(near.label, f"{near.device}{TO}{JOINED.join(others)}", piece, run.fabric)


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``labels.pdf`` on the usual sheet."""
    return {FILE: labels_pdf(design, catalog)}


def labels_pdf(design: Design, catalog: Catalog, sheet: str = DEFAULT, skip: int = 0) -> bytes:
    """Label sheets as a PDF file; equal designs give equal bytes.

    ``sheet`` is a name of ``SHEETS``; ``skip`` labels of the first sheet are used up already and stay free. Raises
    ``KeyError`` for a sheet that does not exist and ``ValueError`` for more used labels than a sheet has.
    """
    from reportlab.pdfgen.canvas import Canvas

    form = SHEETS[sheet]
    per_page = form.columns * form.rows
    if not 0 <= skip < per_page:
        raise ValueError(f"a sheet has {per_page} labels, so {skip} of them cannot be used up already")
    stream = BytesIO()
    width, height = (side * _POINTS_PER_MM for side in form.page_mm)
    canvas = Canvas(stream, pagesize=(width, height), invariant=True, pageCompression=1)
    canvas.setTitle(f"{design.result.case}: cable labels")
    canvas.setSubject(form.about)
    pen = _Pen(canvas, form)
    last = 0
    for number, label in enumerate(labels(schedule(design, catalog)), start=skip):
        page, place = divmod(number, per_page)
        if page != last:
            canvas.showPage()
            last = page
        row, column = divmod(place, form.columns)
        left = (form.margin_mm[0] + column * form.pitch_mm[0]) * _POINTS_PER_MM
        top = height - (form.margin_mm[1] + row * form.pitch_mm[1]) * _POINTS_PER_MM
        pen.draw(label, left, top)
    canvas.save()
    return stream.getvalue()


_BOLD, _PLAIN = "Helvetica-Bold", "Helvetica"
_LEADING = 1.18
_MOST_POINTS = 11.0
_LEAST_POINTS = 3.5
"""Smallest letters that are printed; what is longer still runs into the margin rather than being cut off."""


class _Pen:
    """Draws labels of one size."""

    def __init__(self, canvas: Canvas, form: LabelSheet) -> None:
        self._canvas = canvas
        self._width, self._height = (side * _POINTS_PER_MM for side in form.label_mm)
        self._pad = min(6.0, self._height / 9)

    def draw(self, label: Label, left: float, top: float) -> None:
        """One label with its upper left corner there: the near end large, the far end, then what helps to find it."""
        number, _, ends = label.text.partition(" ")
        near, _, far = ends.partition(TO)
        lines = [(f"#{number}  {near}", _BOLD, 1.25)]
        fars = far.split(JOINED)
        lines += [(f"to {end}" if i == 0 else f"+ {end}", _PLAIN, 1.1) for i, end in enumerate(fars)]
        lines += [(label.devices, _PLAIN, 0.85), (f"{label.fabric}  {label.piece}", _PLAIN, 0.85)]
        room = self._height - 2 * self._pad
        needed = sum(share * _LEADING for _, _, share in lines)
        unit = min(room / needed, _MOST_POINTS)
        y = top - self._pad - (room - unit * needed) / 2
        largest = unit * lines[0][2]
        block = self._canvas.beginText()
        for text, font, share in lines:
            # No line is set larger than the one above it: the near end must catch the eye.
            largest = min(unit * share, largest, self._fitting(text, font))
            size = max(_LEAST_POINTS, largest)
            y -= unit * share * _LEADING
            block.setFont(font, size)
            block.setTextOrigin(left + self._pad, y + size * 0.25)
            block.textOut(text)
        self._canvas.drawText(block)

    def _fitting(self, text: str, font: str) -> float:
        """Largest size at which the text keeps to the width of the label, points."""
        return (self._width - 2 * self._pad) / self._canvas.stringWidth(text, font, 1)
