"""The workbook of a design: summary, bill with live totals, power, cabling, racks, sensitivity and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem
from gpunet.models.study_sensitivity import Sensitivity
from gpunet.report.cabling import schedule
from gpunet.report.workbook_bom import bom_cells, write_bom
from gpunet.report.workbook_cabling import write_panels, write_runs
from gpunet.report.workbook_evidence import write_evidence
from gpunet.report.workbook_page import Book
from gpunet.report.workbook_power import write_power
from gpunet.report.workbook_racks import write_racks
from gpunet.report.workbook_sensitivity import write_sensitivity
from gpunet.report.workbook_summary import Summary

FILE = "bom.xlsx"


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``bom.xlsx`` without a study."""
    return {FILE: workbook(design, catalog)}


def workbook(design: Design, catalog: Catalog, study: Sensitivity | None = None) -> bytes:
    """The workbook as an XLSX file; equal designs give equal bytes.

    ``study`` fills the sheet on sensitivity. Raises ``ValueError`` for a result without a design, or a study of
    another case, objective or catalogue.
    """
    totals = design.result.totals
    if totals is None:
        raise ValueError(f"{design.result.case} has no design, so there is nothing to put into a workbook")
    if study is not None:
        _check_study(design, study)
    stream = BytesIO()
    book = Book(stream, design.result.case)
    cells = bom_cells(design)
    runs = schedule(design, catalog)
    summary = Summary(book, design)
    write_bom(book, design, catalog, cells)
    power = write_power(book, design, catalog, runs)
    write_runs(book, design, runs)
    write_panels(book, design)
    write_racks(book, design, catalog)
    write_sensitivity(book, design, cells, study)
    write_evidence(book, design, catalog)
    summary.write(design, totals, catalog, cells, power)
    book.close()
    return stream.getvalue()


def _check_study(design: Design, study: Sensitivity) -> None:
    result = design.result
    pairs = (
        ("case", study.case, result.case),
        ("objective", study.objective, result.objective.name if result.objective else ""),
        ("catalogue", study.catalog_version, result.catalog_version),
    )
    for what, found, wanted in pairs:
        if found != wanted:
            raise ValueError(f"the study is of {what} {found}, the design of {what} {wanted}; run both on the same")


def read_study(path: Path) -> Sensitivity:
    """The study that ``gpunet sensitivity --json`` printed into a file. Raises ``InputError``."""
    from pydantic import ValidationError

    expected = "what gpunet sensitivity --json prints"
    try:
        return Sensitivity.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(
            [Problem(str(path), message=f"cannot be read: {(error.strerror or str(error)).lower()}")]
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError([Problem(str(path), path=place, expected=expected, message=first["msg"])]) from None
