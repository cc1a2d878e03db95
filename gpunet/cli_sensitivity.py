"""``gpunet sensitivity``."""

from __future__ import annotations

from pathlib import Path
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
    from gpunet.models.study_sensitivity import Sensitivity
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet sensitivity case.yaml
      gpunet sensitivity case.yaml -j 4 --resume work.jsonl
      gpunet sensitivity case.yaml --bands --json | jq .regrets[0]
    """


def sensitivity(
    case: CasePath,
    bands: Annotated[
        bool, typer.Option("--bands", help="Also move each price over its band, and find the design of least regret.")
    ] = False,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", readable=False, help="Price scenarios for the regret, YAML: scenarios: {name: {part: USD}}."
        ),
    ] = None,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Say how firm a design is: prices, requirements, limits.

    For every price, between which figures the design stays the best and what takes over beyond; for every requirement,
    the next step and its cost; for every limit, what it costs. Exact re-solving throughout.
    """
    from gpunet.report.sensitivity_text import sensitivity_report

    def work(found: Case, catalog: Catalog, plan: Plan) -> Sensitivity:
        from gpunet.case_file import read_scenarios
        from gpunet.solver.sensitivity import sensitivity as study

        prices = None if scenarios is None else read_scenarios(scenarios, catalog)
        return study(found, catalog, plan, engine=engine.value, bands=bands, scenarios_usd=prices)

    answer(case, catalog_dirs, objective, as_json, work, sensitivity_report, jobs, resume)
