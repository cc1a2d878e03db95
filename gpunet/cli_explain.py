"""``gpunet explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from gpunet.models.study_explain import Explanation
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet explain case.yaml
      gpunet explain case.yaml -j 2 --json | jq .clashes
    """


def explain(
    case: CasePath,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Say why there is no design, or what holds the design where it is.

    Without a design: which of your own settings cannot hold together, and the smallest change of each that alone is
    enough. With one: which limits bind, what each costs, and which parts are kept out by what.
    """
    from gpunet.report.explain_text import explain_report

    def work(found: Case, catalog: Catalog, plan: Plan) -> Explanation:
        from gpunet.solver.explain import explain as study

        return study(found, catalog, plan, engine=engine.value)

    answer(case, catalog_dirs, objective, as_json, work, explain_report, jobs, resume, one_room=False)
