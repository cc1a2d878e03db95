"""``gpunet phases``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpunet.cli_options import TimeLimit, check_seconds
from gpunet.cli_study import AsJson, CasePath, CatalogDirs, ChosenEngine, EngineName, answer

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog
    from gpunet.models.study_phases import Phases
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet phases case.yaml
      gpunet phases case.yaml --json | jq '.plans[0].steps[0].lines'
    """


def phases(
    case: CasePath,
    engine: ChosenEngine = EngineName.HIGHS,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Say what to buy now and what later, as the cluster grows in phases.

    The cheapest way through all phases of the case, with the cables that must be moved; beside it what the end state
    bought at once costs, and what it costs to design every phase by itself.
    """
    from gpunet.report.phases_text import phases_report

    check_seconds(time_limit)

    def work(found: Case, catalog: Catalog, plan: Plan) -> Phases:
        from gpunet.case_file import read_case_file
        from gpunet.case_phases import refuse_unplanned
        from gpunet.solver.phases import phases as study

        refuse_unplanned(found, read_case_file(case, catalog).located)
        return study(found, catalog, engine=engine.value, time_limit_s=time_limit, tell=plan.tell)

    answer(case, catalog_dirs, None, as_json, work, phases_report)
