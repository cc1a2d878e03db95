"""``gpunet alternatives``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
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
    from gpunet.models.study_alternatives import Alternatives
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet alternatives case.yaml
      gpunet alternatives case.yaml --within 2% --fabric backend
      gpunet alternatives case.yaml --within 0%     only what ties with the optimum
      gpunet alternatives case.yaml --json | jq .fabrics.backend.parts
    """


def alternatives(
    case: CasePath,
    within: Annotated[
        str, typer.Option(metavar="SHARE", help="How far from the optimum to look: 5% or 0.05, at most 100%.")
    ] = "5%",
    fabric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Fabric to look at, may be repeated; all of them when left out.",
            autocompletion=completion.fabrics,
        ),
    ] = None,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """List every different kind of design that is nearly as good.

    Other tiers, switch models, speeds or optics: the best design of each kind within the slack, what all of them
    share, which parts can be avoided at what price, and how often each part is chosen. None is missing.
    """
    from gpunet.report.alternatives_text import alternatives_report

    share = _share(within)

    def work(found: Case, catalog: Catalog, plan: Plan) -> Alternatives:
        from gpunet.solver.alternatives import UnknownFabricError
        from gpunet.solver.alternatives import alternatives as study

        try:
            return study(found, catalog, plan, within=share, fabrics=fabric or None, engine=engine.value)
        except UnknownFabricError as error:
            raise typer.BadParameter(str(error), param_hint="--fabric") from None

    answer(case, catalog_dirs, objective, as_json, work, alternatives_report, jobs, resume)


def _share(text: str) -> float:
    """A share from ``5%`` or ``0.05``."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share <= 1:
        raise typer.BadParameter(
            f"found {text!r}, expected a share such as 5% or 0.05, at most 100%", param_hint="--within"
        )
    return share
