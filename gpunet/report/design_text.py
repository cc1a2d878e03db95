"""The whole report of a design, as a person reads it."""

from __future__ import annotations

from gpunet.models.design import Design, Verification
from gpunet.models.parts import Catalog
from gpunet.report.answer import answer
from gpunet.report.bill import bill
from gpunet.report.blocks import Block, Cell, Column, Heading, Paragraph, Point, Shown, Table, Tone
from gpunet.report.delivery import delivery_words
from gpunet.report.fabrics import fabrics
from gpunet.report.sketch import sketch
from gpunet.report.trays_text import trays

_CHECKS = (Column("check", name=True), Column("result", name=True), Column("what was found"))


def design_page(design: Design, catalog: Catalog) -> list[Shown]:
    """The report with sketches under its answer, for a page of text."""
    answered, *rest = design_report(design, catalog)
    return [answered, *sketch(design, catalog), *rest]


def design_report(design: Design, catalog: Catalog | None = None) -> list[Block]:
    """Answer, fabrics, bill, date, checks and warnings of a result that has a design.

    Without a catalogue the date is told only where the result has it.
    """
    result = design.result
    blocks: list[Block] = [Paragraph(answer(design)), *fabrics(result), *trays(result), *bill(result)]
    told = delivery_words(design, catalog)
    if told:
        blocks.append(Paragraph(told))
    if result.verify is not None:
        blocks += verification(result.verify)
    if result.warnings:
        blocks += [Heading("Warnings"), *(Point(text, Tone.WEAK) for text in result.warnings)]
    return blocks


def verification(verified: Verification) -> list[Block]:
    """Every check with what it found; those that failed first."""
    checks = sorted(verified.checks, key=lambda check: check.passed)
    passed = sum(check.passed for check in checks)
    rows = tuple(
        (c.name, Cell("ok", Tone.GOOD) if c.passed else Cell("FAILED", Tone.BAD), c.detail or "-") for c in checks
    )
    return [Heading(f"Verification: {passed} of {len(checks)} checks passed"), Table(_CHECKS, rows)]
