"""Reads the design that a command works on, however it is named: a folder, a design file or a case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.shell import Exit, complain

if TYPE_CHECKING:
    from gpunet.models.design import Design
    from gpunet.models.parts import Catalog
    from gpunet.progress import Tell

DESIGN_FILE = "design.json"

DesignPath = Annotated[
    Path,
    typer.Argument(
        metavar="CASE|DIR|DESIGN",
        readable=False,
        help="Folder that gpunet optimize -o wrote, its design.json, or a case file, which is designed first.",
        autocompletion=completion.cases_and_designs,
    ),
]


def design_of(path: Path, catalog: Catalog, engine: str = "highs") -> Design:
    """The design in a folder or a design file, or the best one for a case.

    ``engine`` is ``highs``, ``scip`` or ``cp-sat``, for a case. Says so where the design was made with another
    catalogue. Raises ``InputError`` for what cannot be read; leaves with exit code 1, and the reasons, where a case
    has no design or one that fails its checks.
    """
    from gpunet import progress
    from gpunet.models.problems import InputError, Problem

    file = path / DESIGN_FILE if path.is_dir() else path
    if path.is_dir() and not file.exists():
        expected = f"a folder with {DESIGN_FILE}, as gpunet optimize -o writes it"
        raise InputError([Problem(str(path), found=f"a folder without {DESIGN_FILE}", expected=expected)])
    if file.suffix.lower() != ".json":
        return _designed(file, catalog, engine)

    def read(tell: Tell) -> Design:
        del tell
        from gpunet.design_file import read_design

        return read_design(file, catalog)

    design = progress.run("reading", read)
    if design.result.catalog_version != catalog.version:
        complain(
            f"{file}: made with catalogue {design.result.catalog_version}, read with {catalog.version}: "
            "prices and parts may differ"
        )
    return _usable(design)


def _designed(file: Path, catalog: Catalog, engine: str) -> Design:
    from gpunet import progress
    from gpunet.case_file import read_case

    case = read_case(file, catalog)

    def work(tell: Tell) -> Design:
        from gpunet.solver.engines import Engine
        from gpunet.solver.optimize import optimize

        return optimize(case, catalog, engine=Engine(engine), tell=tell)

    return _usable(progress.run("designing", work))


def _usable(design: Design) -> Design:
    """The design, where it is one that may be built."""
    from gpunet.report.answer import failed_checks, no_answer

    result = design.result
    refused = result.verify is not None and not result.verify.passed
    if refused or result.totals is None:
        complain(failed_checks(result) if refused else no_answer(result))
        raise typer.Exit(Exit.FAILED)
    return design
