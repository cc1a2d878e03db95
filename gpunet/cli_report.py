"""``gpunet report``: a design as one HTML file for people."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.cli_design import DesignPath, design_of
from gpunet.cli_options import ChosenEngine, EngineName
from gpunet.cli_study import Jobs
from gpunet.shell import CatalogDirs, Exit, complain, load_parts

if TYPE_CHECKING:
    import threading

    from gpunet.models.design import Design
    from gpunet.models.parts import Catalog
    from gpunet.models.study import Study

EPILOG = """\b
    Examples:
      gpunet report case.yaml -o report.html
      gpunet report design -o report.html --studies all -j 4
      gpunet sensitivity case.yaml --bands --json > prices.json
      gpunet report design -o report.html --study prices.json
    """
ENDINGS = (".html", ".htm")


class Studies(StrEnum):
    """What is solved for the report, by the names of ``gpunet.report.html_run.Wanted``."""

    NONE = "none"
    QUICK = "quick"
    ALL = "all"


def report(
    design: DesignPath,
    out: Annotated[Path, typer.Option("-o", metavar="FILE", readable=False, help="Page to write, .html.")],
    studies: Annotated[
        Studies,
        typer.Option(
            help="Questions to solve for it: quick is the runner-up and InfiniBand against RoCE, some seconds; all "
            "also prices, frontier and ceilings, a minute or more."
        ),
    ] = Studies.QUICK,
    study: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            readable=False,
            help="What sensitivity, frontier, ceiling, compare, alternatives or explain --json printed about the case; "
            "may be given several times.",
            autocompletion=completion.design_files,
        ),
    ] = None,
    jobs: Jobs = 1,
    engine: ChosenEngine = EngineName.HIGHS,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Write a report: the answer first, then everything it rests on.

    One page that needs no network: what to build, why this and not the runner-up, pictures, charts, bill, evidence and
    checks. It reads on paper too. Ctrl-C ends the studies early; the report then holds those that are finished.
    """
    import threading

    from gpunet import progress
    from gpunet.files import write_all
    from gpunet.study_file import read_study

    if out.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"found {out.name!r}, expected a name that ends in .html", param_hint="-o")
    given = [(path, read_study(path)) for path in study or ()]
    catalog = load_parts(catalog_dirs)
    found = design_of(design, catalog, engine.value)
    _check_given(found, given)
    stop = threading.Event()
    answers = _studies(found, catalog, studies, [s for _, s in given], jobs, engine.value, stop)

    def work(tell: progress.Tell) -> str:
        from gpunet.report.html import html_report

        del tell
        return html_report(found, catalog, answers)

    content = progress.run("writing", work)
    write_all(out.parent, {out.name: content})
    complain(f"{out} is written")
    if stop.is_set():
        complain("gpunet: the studies were stopped before all of them were answered")
        raise typer.Exit(Exit.STOPPED_EARLY)


def _check_given(design: Design, given: list[tuple[Path, Study]]) -> None:
    from gpunet.models.problems import InputError, Problem
    from gpunet.report.html_run import misfit

    problems = [Problem(str(path), message=why) for path, study in given if (why := misfit(design, study))]
    if problems:
        raise InputError(problems)


def _studies(
    design: Design,
    catalog: Catalog,
    wanted: Studies,
    given: list[Study],
    jobs: int,
    engine: str,
    stop: threading.Event,
) -> list[Study]:
    """The studies given and those wanted; only the given ones where the case has another optimum than the design."""
    from gpunet import progress
    from gpunet.report.html_run import NotTheOptimumError, Wanted, make_studies

    def work(tell: progress.Tell) -> list[Study]:
        from gpunet.solver.tasks import Plan

        return make_studies(design, catalog, Wanted(wanted.value), given, Plan(jobs, None, stop, tell), engine=engine)

    try:
        return progress.run("solving", work, stop=stop)
    except NotTheOptimumError as error:
        complain(f"nothing is solved for the report: {error}")
        return given
