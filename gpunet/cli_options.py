"""Options that several commands share."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.shell import complain

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog


class EngineName(StrEnum):
    """Solvers by the names of ``gpunet.solver.engines.Engine``, which is too heavy to import for a help text."""

    HIGHS = "highs"
    SCIP = "scip"
    CP_SAT = "cp-sat"


CasePath = Annotated[
    Path,
    typer.Argument(
        metavar="CASE",
        readable=False,
        help="Case file, YAML; gpunet init writes one.",
        autocompletion=completion.case_files,
    ),
]
ObjectiveNames = Annotated[
    str | None,
    typer.Option(
        "--objective",
        metavar="NAMES",
        help="cost, power or tco; several by rank: cost,power. Overrides the case.",
        autocompletion=completion.objectives,
    ),
]
ChosenEngine = Annotated[EngineName, typer.Option("--engine", help="Solver.")]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", metavar="S", help="Stop after S seconds with the best design so far.")
]


def case_of(path: Path, catalog: Catalog, objective: str | None) -> Case:
    """The case in a file, with other objectives where the command line names them; quotes that have lapsed are told."""
    from datetime import date

    from gpunet import with_objectives
    from gpunet.case_file import read_case
    from gpunet.solver.quotes import lapsed_quotes

    case = read_case(path, catalog)
    for text in lapsed_quotes(case, date.today().isoformat()):
        complain(f"gpunet: {path}: {text}")
    if objective is None:
        return case
    try:
        return with_objectives(case, objective)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--objective") from None


def check_seconds(seconds: float | None) -> None:
    """Refuse a time limit that is none."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise typer.BadParameter(f"found {seconds:g}, expected a positive number of seconds", param_hint="--time-limit")
