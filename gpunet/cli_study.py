"""What the commands of all studies share: options, reading the case, progress, output and exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from gpunet.cli_options import CasePath, ChosenEngine, EngineName, ObjectiveNames, case_of
from gpunet.shell import AsJson, CatalogDirs, Exit, complain, load_parts, print_json, print_report, problems_as_json

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog
    from gpunet.models.study import Study
    from gpunet.report.blocks import Block
    from gpunet.solver.tasks import Plan

__all__ = [
    "AsJson",
    "CasePath",
    "CatalogDirs",
    "ChosenEngine",
    "EngineName",
    "Jobs",
    "ObjectiveNames",
    "Resume",
    "answer",
]

S = TypeVar("S", bound="Study")

Jobs = Annotated[int, typer.Option("-j", metavar="N", min=1, help="Processes; the answer is the same for every N.")]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", readable=False, help="Keep finished steps in FILE, and go on from those already there."
    ),
]


def answer(
    case: Path,
    catalog_dirs: list[Path] | None,
    objective: str | None,
    as_json: bool,
    work: Callable[[Case, Catalog, Plan], S],
    report: Callable[[S], Iterable[Block]],
    jobs: int = 1,
    resume: Path | None = None,
    one_room: bool = True,
) -> None:
    """Read the case, do the work, print its study, and leave with the exit code that it earns.

    ``one_room``: the question needs a case that says how its switches stand.

    Ctrl-C stops after the steps at work, and what is finished is printed; pressed again, it stops at once.
    """
    import threading

    from gpunet import progress

    stop = threading.Event()
    with problems_as_json(as_json):
        catalog = load_parts(catalog_dirs)
        found = case_of(case, catalog, objective)
        if one_room and found.site.switch_placement.value == "cheapest":
            # The file is read once more for the line and column.
            from gpunet.case_file import read_case_file
            from gpunet.case_placement import refuse_open_placement

            refuse_open_placement(found, read_case_file(case, catalog).located)

        def run(tell: progress.Tell) -> S:
            from gpunet.solver.tasks import Plan

            return work(found, catalog, Plan(jobs, resume, stop, tell))

        from gpunet.solver.tasks import JournalError

        try:
            study = progress.run("solving", run, stop=stop)
        except JournalError as error:
            raise typer.BadParameter(str(error), param_hint="--resume") from None
    if as_json:
        print_json(study.model_dump(mode="json"))
    else:
        print_report(report(study))
    if not study.complete:
        rest = f"; go on with --resume {resume}" if resume else ""
        complain(f"gpunet: stopped before everything was answered{rest}")
        raise typer.Exit(Exit.STOPPED_EARLY)
    raise typer.Exit(Exit.DONE if study.status.value == "optimal" else Exit.FAILED)
