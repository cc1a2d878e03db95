"""``gpunet phases``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet.cli_options import TimeLimit, check_seconds
from gpunet.cli_study import AsJson, CasePath, CatalogDirs, ChosenEngine, EngineName, answer
from gpunet.shell import complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpunet.models.case import Case
    from gpunet.models.design import Design
    from gpunet.models.parts import Catalog
    from gpunet.models.study_phases import Phases
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet phases case.yaml
      gpunet phases case.yaml -o plan
      gpunet phases case.yaml --json | jq '.plans[0].steps[0].lines'
    """


def phases(
    case: CasePath,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            metavar="DIR",
            readable=False,
            help="Write phases.json and phases.html there, and for every phase a folder with its design, buy.csv and "
            "moves.csv, all or none.",
        ),
    ] = None,
    engine: ChosenEngine = EngineName.HIGHS,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Say what to buy now and what later, as the cluster grows in phases.

    The cheapest way through all phases of the case, with the cables that must be moved; beside it what the end state
    bought at once costs, and what it costs to design every phase by itself.
    """
    from gpunet.files import OutputError
    from gpunet.report.phases_text import phases_report

    check_seconds(time_limit)
    ended: list[OutputError | str] = []

    def work(found: Case, catalog: Catalog, plan: Plan) -> Phases:
        from gpunet.case_file import read_case_file
        from gpunet.case_phases import refuse_unplanned
        from gpunet.solver.phases import designed_phases

        refuse_unplanned(found, read_case_file(case, catalog).located)
        study, designs = designed_phases(found, catalog, engine=engine.value, time_limit_s=time_limit, tell=plan.tell)
        if out is not None and designs:
            try:
                ended.append(_write(out, study, designs, catalog))
            except OutputError as error:
                # A plan that took an hour to find is shown even when the disk is full.
                ended.append(error)
        return study

    try:
        answer(case, catalog_dirs, None, as_json, work, phases_report)
    finally:
        for what in ended:
            if isinstance(what, OutputError):
                raise what
            complain(what)


def _write(out: Path, study: Phases, designs: Sequence[Design], catalog: Catalog) -> str:
    """Write the files of a plan, unless one of its phases fails a check; say which was done."""
    from gpunet.files import write_all
    from gpunet.report.phases_files import phases_files

    failed = [step.when for step in study.plans[0].steps if not step.verified]
    if failed:
        return f"{out} is not written: verification failed in {', '.join(failed)}"
    write_all(out, phases_files(study, designs, catalog))
    return f"{out}: phases.json, phases.html and {', '.join(step.when for step in study.plans[0].steps)} are written"
