"""``gpunet ceiling``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gpunet.cli_study import (
    AsJson,
    CasePath,
    CatalogDirs,
    ChosenEngine,
    EngineName,
    Jobs,
    ObjectiveNames,
    Resume,
    answer,
)

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog
    from gpunet.models.study_ceiling import Ceiling
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet ceiling case.yaml --cost 900000
      gpunet ceiling case.yaml --cost 900000 --power-kw 80 -j 4
      gpunet ceiling case.yaml --power-kw 80 --json | jq .gpus
    """


def ceiling(
    case: CasePath,
    cost: Annotated[float | None, typer.Option("--cost", metavar="USD", help="Most the network may cost, USD.")] = None,
    power_kw: Annotated[
        float | None,
        typer.Option("--power-kw", metavar="KW", help="Most the network may draw, kW, servers not counted."),
    ] = None,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Find the most GPUs whose network fits a budget.

    Then, for the number of GPUs in the case: the least oversubscription and the most growth that the same ceilings
    allow. The limits of the case stay in force; the lower one of two counts.
    """
    from gpunet.report.ceiling_text import ceiling_report

    def work(found: Case, catalog: Catalog, plan: Plan) -> Ceiling:
        from gpunet.solver.ceiling import CeilingError
        from gpunet.solver.ceiling import ceiling as study

        try:
            return study(found, catalog, plan, cost_usd=cost, power_kw=power_kw, engine=engine.value)
        except CeilingError as error:
            raise typer.BadParameter(str(error), param_hint="--cost, --power-kw") from None

    answer(case, catalog_dirs, objective, as_json, work, ceiling_report, jobs, resume)
