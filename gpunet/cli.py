"""The command line: reads what was asked, calls what answers it, prints, and leaves with an exit code.

Nothing heavy is imported at the top, so that ``gpunet --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpunet import completion
from gpunet.cli_alternatives import EPILOG as ALTERNATIVES_EXAMPLES
from gpunet.cli_alternatives import alternatives
from gpunet.cli_catalog import catalog_app
from gpunet.cli_ceiling import EPILOG as CEILING_EXAMPLES
from gpunet.cli_ceiling import ceiling
from gpunet.cli_compare import EPILOG as COMPARE_EXAMPLES
from gpunet.cli_compare import compare
from gpunet.cli_draw import EPILOG as DRAW_EXAMPLES
from gpunet.cli_draw import draw
from gpunet.cli_explain import EPILOG as EXPLAIN_EXAMPLES
from gpunet.cli_explain import explain
from gpunet.cli_export import EPILOG as EXPORT_FORMATS
from gpunet.cli_export import export
from gpunet.cli_frontier import EPILOG as FRONTIER_EXAMPLES
from gpunet.cli_frontier import frontier
from gpunet.cli_options import CasePath, ChosenEngine, EngineName, ObjectiveNames, TimeLimit, case_of, check_seconds
from gpunet.cli_phases import EPILOG as PHASES_EXAMPLES
from gpunet.cli_phases import phases
from gpunet.cli_quote import quote_app
from gpunet.cli_report import EPILOG as REPORT_EXAMPLES
from gpunet.cli_report import report
from gpunet.cli_sensitivity import EPILOG as SENSITIVITY_EXAMPLES
from gpunet.cli_sensitivity import sensitivity
from gpunet.cli_watch import EPILOG as WATCH_EXAMPLES
from gpunet.cli_watch import watch
from gpunet.cli_workbook import LABELS_EXAMPLES, WORKBOOK_EXAMPLES, labels, workbook
from gpunet.shell import (
    AsJson,
    CatalogDirs,
    Commands,
    Exit,
    complain,
    give_up,
    load_parts,
    print_json,
    print_report,
    problems_as_json,
)

if TYPE_CHECKING:
    from gpunet.files import OutputError
    from gpunet.models.design import Design
    from gpunet.models.parts import Catalog

CASE_FILE = "case.yaml"
SHOW_TRACE = "GPUNET_TRACEBACK"
"""Environment variable: when set, a fault of gpunet itself shows where it happened."""


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="""Design the network of a GPU cluster, and prove the design.

    \b
    Examples:
      gpunet init                           write a case to start from
      gpunet optimize case.yaml             the cheapest network that meets it
      gpunet optimize case.yaml -o design   also write BOM, cabling, racks
      gpunet verify design/design.json      check a design again
      gpunet catalog show ib-qm9700         every figure with its source
    """,
    epilog="""\b
    Exit codes:
      0 done   1 no feasible design, or one that fails verification
      2 bad input   3 stopped early with a design and its gap   130 Ctrl-C
    """,
)
app.add_typer(catalog_app, name="catalog")
app.add_typer(quote_app, name="quote")


def _show_version(wanted: bool) -> None:
    if wanted:
        from gpunet import __version__

        typer.echo(f"gpunet {__version__}")
        raise typer.Exit(Exit.DONE)


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version


@app.command(
    epilog="""\b
    Examples:
      gpunet optimize case.yaml
      gpunet optimize case.yaml --objective cost,power -o design
      gpunet optimize case.yaml --json | jq .totals
    """
)
def optimize(
    case: CasePath,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            metavar="DIR",
            readable=False,
            help="Write design.json, bom.csv, cabling.csv and racks.csv there, all or none.",
        ),
    ] = None,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    time_limit: TimeLimit = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Find the best network for a case.

    The same case gives the same files, byte for byte; so design.json leaves the seconds of the run at 0.
    """
    from gpunet import progress

    check_seconds(time_limit)
    _check_place(out)
    with problems_as_json(as_json):
        catalog = load_parts(catalog_dirs)
        found = case_of(case, catalog, objective)

        def work(tell: progress.Tell) -> Design:
            from gpunet.solver.optimize import optimize as solve

            return solve(found, catalog, engine=engine.value, time_limit_s=time_limit, tell=tell)

        design = progress.run("designing", work)
    result = design.result
    refused = result.verify is not None and not result.verify.passed
    usable = result.totals is not None and not refused
    unwritten: OutputError | None = None
    if out is not None and usable:
        from gpunet.files import OutputError, write_all
        from gpunet.report.csv_files import design_files

        try:
            with progress.shown("writing"):
                write_all(out, design_files(design, catalog))
        except OutputError as error:
            # A design that took an hour to find is shown even when the disk is full.
            unwritten = error
    _show(design, catalog, usable, as_json)
    if unwritten is not None:
        raise unwritten
    if not usable:
        from gpunet.report.answer import failed_checks, no_answer

        complain(failed_checks(result) if refused else no_answer(result))
        raise typer.Exit(Exit.FAILED)
    if out is not None:
        panels = ", panels.csv" if design.ledger.channels else ""
        typer.echo(f"{out}: design.json, bom.csv, cabling.csv{panels} and racks.csv are written", err=True)
    raise typer.Exit(Exit.STOPPED_EARLY if result.status.value == "feasible" else Exit.DONE)


@app.command(
    epilog="""\b
    Example:
      gpunet verify design/design.json
    """
)
def verify(
    design: Annotated[
        Path,
        typer.Argument(
            metavar="DESIGN",
            readable=False,
            help="design.json, as gpunet optimize -o writes it.",
            autocompletion=completion.design_files,
        ),
    ],
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Check a design again, and name everything wrong with it."""
    from gpunet import progress

    with problems_as_json(as_json):
        catalog = load_parts(catalog_dirs)

        def work(tell: progress.Tell) -> tuple[Design, Any]:
            from gpunet.design_file import read_design
            from gpunet.solver.verify import verify as check

            found = read_design(design, catalog)
            tell("verifying")
            return found, check(found, catalog)

        found, verified = progress.run("reading", work)
    if found.result.catalog_version != catalog.version:
        complain(
            f"{design}: made with catalogue {found.result.catalog_version}, checked against {catalog.version}: "
            "prices and parts may differ"
        )
    if as_json:
        print_json(verified.model_dump(mode="json"))
    else:
        from gpunet.report.design_text import verification

        print_report(verification(verified))
    if not verified.passed:
        names = ", ".join(check.name for check in verified.checks if not check.passed)
        complain(f"{design}: verification failed: {names}")
        raise typer.Exit(Exit.FAILED)


app.command(epilog=SENSITIVITY_EXAMPLES)(sensitivity)
app.command(epilog=FRONTIER_EXAMPLES)(frontier)
app.command(epilog=CEILING_EXAMPLES)(ceiling)
app.command(epilog=PHASES_EXAMPLES)(phases)
app.command(epilog=COMPARE_EXAMPLES)(compare)
app.command(epilog=ALTERNATIVES_EXAMPLES)(alternatives)
app.command(epilog=EXPLAIN_EXAMPLES)(explain)
app.command(epilog=WATCH_EXAMPLES)(watch)
app.command(epilog=REPORT_EXAMPLES)(report)
app.command(epilog=EXPORT_FORMATS)(export)
app.command(epilog=DRAW_EXAMPLES)(draw)
app.command(epilog=WORKBOOK_EXAMPLES)(workbook)
app.command(epilog=LABELS_EXAMPLES)(labels)


@app.command()
def init(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", readable=False, help="File to write; it must not exist yet.")
    ] = Path(CASE_FILE),
) -> None:
    """Write a case to start from.

    It is the smallest case, with every other setting and its default in comments.
    """
    from gpunet.files import write_new
    from gpunet.starter import starter_case

    write_new(file, starter_case())
    typer.echo(f"{file} is written; edit it, then run: gpunet optimize {file}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a case.

    An editor that knows it completes and checks case files.
    """
    from gpunet.starter import json_schema

    print_json(json_schema())


def main() -> None:
    """Run the command line; the entry point of the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show must not end the program.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            # What a help text left in the buffer must fail here, where it can be told, and not on the way out.
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as leave:
        if leave.code == Exit.INTERRUPTED:
            # A solver may still run in a thread; unloading its library under it would crash.
            sys.stderr.flush()
            os._exit(Exit.INTERRUPTED)
        raise
    except OSError as error:
        sys.exit(give_up(error))
    except Exception as error:
        if os.environ.get(SHOW_TRACE):
            raise
        complain(
            f"gpunet: a fault of gpunet itself: {type(error).__name__}: {error}\n"
            f"Set {SHOW_TRACE}=1 to see where it happened, and please report it."
        )
        sys.exit(Exit.FAULT)


def _check_place(out: Path | None) -> None:
    """Whether files can go there, asked before the work and not after."""
    from gpunet.files import OutputError

    if out is None:
        return
    there = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not there.is_dir():
        raise OutputError(there, "a file stands where the directory should go")
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(there, "this directory must not be written to")


def _show(design: Design, catalog: Catalog, usable: bool, as_json: bool) -> None:
    if as_json:
        print_json(design.result.model_dump(mode="json"))
    elif usable:
        from gpunet.report.design_text import design_page

        print_report(design_page(design, catalog))
