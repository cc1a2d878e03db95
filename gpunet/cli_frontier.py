"""``gpunet frontier``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet.cli_study import (
    AsJson,
    CasePath,
    CatalogDirs,
    ChosenEngine,
    EngineName,
    Jobs,
    Resume,
    answer,
)

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog
    from gpunet.models.study_frontier import Frontier
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet frontier case.yaml
      gpunet frontier case.yaml --step 100 -j 4
      gpunet frontier case.yaml --y gpus --from 512 --to 1024
      gpunet frontier case.yaml --y oversubscription --fabric storage
      gpunet frontier case.yaml --x tco --y latency --json
    """


class XName(StrEnum):
    """What is paid."""

    COST = "cost"
    POWER = "power"
    TCO = "tco"


class YName(StrEnum):
    """What is had for it."""

    POWER = "power"
    COST = "cost"
    TCO = "tco"
    GPUS = "gpus"
    OVERSUBSCRIPTION = "oversubscription"
    LATENCY = "latency"
    RACKS = "racks"


class SteppedFabric(StrEnum):
    """Fabrics whose settings can be stepped."""

    BACKEND = "backend"
    STORAGE = "storage"
    FRONTEND = "frontend"


def frontier(
    case: CasePath,
    x: Annotated[XName, typer.Option("--x", help="What is paid.")] = XName.COST,
    y: Annotated[YName, typer.Option("--y", help="What is had for it.")] = YName.POWER,
    fabric: Annotated[
        SteppedFabric, typer.Option("--fabric", help="Whose oversubscription or latency.")
    ] = SteppedFabric.BACKEND,
    from_value: Annotated[
        float | None,
        typer.Option("--from", metavar="Y", help="Least y looked at: GPUs (half the case's), ratio (1), ns, racks."),
    ] = None,
    to_value: Annotated[
        float | None,
        typer.Option("--to", metavar="Y", help="Largest y looked at: GPUs (twice the case's), ratio (16), ns, racks."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            "--step",
            metavar="N",
            help="GPUs from one count to the next, or the least distance between points in the unit of y "
            "(of x for tco). Left out: every point; of GPUs, at most 33 counts.",
        ),
    ] = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """List every design that none beats on two goals.

    Each is solved to proven optimality, also those that no weighting of the two goals would find. The limits of the
    case stay in force.
    """
    from gpunet.report.frontier_text import frontier_report

    def work(found: Case, catalog: Catalog, plan: Plan) -> Frontier:
        from gpunet.solver.frontier import FrontierError
        from gpunet.solver.frontier import frontier as study

        try:
            return study(
                found,
                catalog,
                plan,
                x=x.value,
                y=y.value,
                fabric=fabric.value,
                from_value=from_value,
                to_value=to_value,
                step=step,
                engine=engine.value,
            )
        except FrontierError as error:
            raise typer.BadParameter(str(error), param_hint=error.option) from None

    answer(case, catalog_dirs, None, as_json, work, frontier_report, jobs, resume)
