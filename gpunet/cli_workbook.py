"""``gpunet workbook`` and ``gpunet labels``: what a buyer and a cabling crew take along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.cli_design import DesignPath, design_of
from gpunet.cli_options import ChosenEngine, EngineName
from gpunet.shell import CatalogDirs, complain, load_parts, unknown

if TYPE_CHECKING:
    from collections.abc import Callable

WORKBOOK_EXAMPLES = """\b
    Examples:
      gpunet workbook case.yaml -o bom.xlsx
      gpunet sensitivity case.yaml --json > sensitivity.json
      gpunet workbook design -o bom.xlsx --study sensitivity.json
    """
LABELS_EXAMPLES = """\b
    Examples:
      gpunet labels design -o labels.pdf
      gpunet labels design -o labels.pdf --sheet a4-3x8 --skip 5
    \b
    Sheets:
      letter-3x10  30 labels of 2 5/8 x 1 inch      letter-4x20  80 of 1 3/4 x 1/2 inch
      a4-3x8       24 labels of 63.5 x 33.9 mm      a4-5x13      65 of 38.1 x 21.2 mm
    """
SHEET = "letter-3x10"


def workbook(
    design: DesignPath,
    out: Annotated[Path, typer.Option("-o", metavar="FILE", readable=False, help="Workbook to write, .xlsx.")],
    study: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="What gpunet sensitivity --json printed about the same case."
        ),
    ] = None,
    engine: ChosenEngine = EngineName.HIGHS,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Write a workbook whose totals follow the prices typed into it.

    Bill, power, cabling, racks and the evidence for every number; with a study, how far each price may move.
    """
    from gpunet.report.workbook import read_study
    from gpunet.report.workbook import workbook as made

    _check_name(out, ".xlsx")
    catalog = load_parts(catalog_dirs)
    found = read_study(study) if study is not None else None
    chosen = design_of(design, catalog, engine.value)

    def work() -> bytes:
        try:
            return made(chosen, catalog, found)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--study") from None

    _write(out, work)


def labels(
    design: DesignPath,
    out: Annotated[Path, typer.Option("-o", metavar="FILE", readable=False, help="Label sheets to write, .pdf.")],
    sheet: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Kind of label sheet, of those below.", autocompletion=completion.label_sheets
        ),
    ] = SHEET,
    skip: Annotated[int, typer.Option(metavar="N", min=0, help="Labels of the first sheet that are used up.")] = 0,
    engine: ChosenEngine = EngineName.HIGHS,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Write a label for every end of every cable, on sheets of stickers.

    In the order of pulling, both ends of a cable side by side. Print at 100 %, not fitted to the page.
    """
    from gpunet.report.labels import SHEETS, labels_pdf

    _check_name(out, ".pdf")
    if sheet not in SHEETS:
        raise unknown(sheet, list(SHEETS), "--sheet")
    room = SHEETS[sheet].columns * SHEETS[sheet].rows
    if skip >= room:
        raise typer.BadParameter(f"found {skip}, expected fewer than the {room} labels of a sheet", param_hint="--skip")
    catalog = load_parts(catalog_dirs)
    chosen = design_of(design, catalog, engine.value)
    _write(out, lambda: labels_pdf(chosen, catalog, sheet, skip))


def _check_name(out: Path, ending: str) -> None:
    """Whether the file is called what it will be, asked before the work and not after."""
    if out.suffix.lower() != ending:
        raise typer.BadParameter(f"found {out.name!r}, expected a name that ends in {ending}", param_hint="-o")


def _write(out: Path, work: Callable[[], bytes]) -> None:
    """Write one file whole or not at all, and say so."""
    from gpunet import progress
    from gpunet.files import write_all

    with progress.shown("writing"):
        write_all(out.parent, {out.name: work()})
    complain(f"{out} is written")
