"""The commands for suppliers' quotes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.cli_options import ChosenEngine, EngineName, case_of
from gpunet.shell import (
    AsJson,
    CatalogDirs,
    Exit,
    complain,
    load_parts,
    print_json,
    print_report,
    problems_as_json,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpunet.models.parts import Catalog
    from gpunet.models.quote import QuoteFile, QuoteImport
    from gpunet.quote_values import Mark

quote_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Read what suppliers quote.

    \b
    Examples:
      gpunet quote import acme.xlsx -o acme.yaml
      gpunet quote import acme.csv --as MQM9700-NS2F=ib-qm9700 --prices
      gpunet quote check acme.yaml --have dgx-h100:backend=32
      gpunet quote check acme.yaml --case case.yaml
    """,
)
_MARKS = {"point": ".", "comma": ","}
MOST_PIECES = 1_000_000


@quote_app.command("import")
def import_quote(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", readable=False, help="The supplier's quote: CSV, or a workbook (.xlsx).")
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", metavar="QUOTE", readable=False, help="Quote file to write, YAML; it must not exist yet."),
    ] = None,
    supplier: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who offers; default: what the file says, else its name.")
    ] = None,
    reference: Annotated[str | None, typer.Option(metavar="TEXT", help="The supplier's number of the quote.")] = None,
    dated: Annotated[str | None, typer.Option("--date", metavar="DAY", help="Day of the quote, 2026-11-30.")] = None,
    valid_until: Annotated[
        str | None, typer.Option(metavar="DAY", help="Last day on which the prices hold, 2026-12-31.")
    ] = None,
    currency: Annotated[
        str | None, typer.Option(metavar="CODE", help="Currency of the prices; only USD is taken.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column", metavar="WHAT=HEADING", help='A heading that is not guessed: part="Art. Nr.", price=E, …'
        ),
    ] = None,
    alias: Annotated[
        list[str] | None,
        typer.Option("--as", metavar="NUMBER=ID", help="A supplier's number and the part of the catalogue it is."),
    ] = None,
    sheet: Annotated[str | None, typer.Option(metavar="NAME", help="Sheet of a workbook; default: the first.")] = None,
    delimiter: Annotated[str | None, typer.Option(metavar="MARK", help="What stands between cells of a CSV.")] = None,
    decimal: Annotated[str | None, typer.Option(metavar="point|comma", help="Decimal mark of the prices.")] = None,
    prices: Annotated[bool, typer.Option("--prices", help="Print the prices as a piece of a case file.")] = False,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Read a supplier's quote and find its parts in the catalogue.

    A part is taken only where its number is exactly one that the catalogue knows, or where --as says so. For every
    other row the nearest parts are named, and none is taken.
    """
    from datetime import date

    from gpunet.files import write_new
    from gpunet.quote_file import overrides_of, write_quote
    from gpunet.quote_import import ImportOptions
    from gpunet.quote_import import import_quote as read
    from gpunet.report.quote_text import import_report, lapsed

    if as_json and prices:
        raise typer.BadParameter("give --json or --prices, not both", param_hint="--prices")
    with problems_as_json(as_json):
        options = ImportOptions(
            supplier=supplier,
            reference=reference,
            date=_day(dated, "--date"),
            valid_until=_day(valid_until, "--valid-until"),
            currency=currency,
            columns=_columns(column or []),
            aliases=_pairs(alias or [], "--as", "a supplier's number and a part, such as MQM9700-NS2F=ib-qm9700"),
            sheet=sheet,
            delimiter=_delimiter(delimiter),
            decimal=_decimal(decimal),
        )
        found: QuoteImport = read(file, load_parts(catalog_dirs), options, date.today().isoformat())
    if out is not None:
        write_new(out, write_quote(found.quote))
    if as_json:
        print_json(found.model_dump(mode="json"))
    elif prices:
        typer.echo(overrides_of(found.quote), nl=False)
        if found.lapsed_on is not None:
            complain(lapsed(found.quote.title, found.quote.valid_until or "", found.lapsed_on))
    else:
        print_report(import_report(found))
    if out is not None:
        typer.echo(f"{out} is written; a case names it with quotes: [{out.name}]", err=True)


def _pairs(texts: list[str], option: str, expected: str) -> dict[str, str]:
    found = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not (mark and name.strip() and value.strip()):
            raise typer.BadParameter(f"found {text!r}, expected {expected}", param_hint=option)
        found[name.strip()] = value.strip()
    return found


def _columns(texts: list[str]) -> Mapping[str, str]:
    from gpunet.quote_columns import HEADINGS

    found = _pairs(texts, "--column", 'what a column holds and its heading, such as part="Art. Nr."')
    for what in found:
        if what not in HEADINGS:
            raise unknown(what, list(HEADINGS), "--column")
    return found


def _day(text: str | None, option: str) -> str | None:
    from gpunet.quote_values import CellError, day

    if text is None:
        return None
    try:
        return day(text)
    except CellError as error:
        raise typer.BadParameter(f"found {text!r}, expected {error}", param_hint=option) from None


def _delimiter(text: str | None) -> str | None:
    mark = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if mark is not None and (len(mark) != 1 or mark in '\r\n"'):
        raise typer.BadParameter(f"found {text!r}, expected one character, or tab", param_hint="--delimiter")
    return mark


def _decimal(text: str | None) -> Mark | None:
    if text is None:
        return None
    if text not in _MARKS and text not in _MARKS.values():
        raise unknown(text, list(_MARKS), "--decimal")
    return "." if text in ("point", ".") else ","


@quote_app.command("check")
def check(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", readable=False, help="Quote file (YAML), or a supplier's table as import reads it."
        ),
    ],
    case: Annotated[
        Path | None,
        typer.Option(
            metavar="CASE",
            readable=False,
            help="Also ask whether the list builds a design of this case.",
            autocompletion=completion.case_files,
        ),
    ] = None,
    have: Annotated[
        list[str] | None,
        typer.Option(
            "--have", metavar="PART=N", help="What is there beside the list: dgx-h100=32, dgx-h100:backend=32, …"
        ),
    ] = None,
    engine: ChosenEngine = EngineName.HIGHS,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Say whether a quoted list can be cabled, and what is missing, surplus or incompatible.

    The most links that the list can build are counted exactly, by the rules of optics and the cages of the list; then
    the shortest list of parts with which every module, every cable and every server port is used.
    """
    from datetime import date

    from gpunet import progress
    from gpunet.models.quote import QuoteCheck
    from gpunet.report.quote_check_text import check_report
    from gpunet.report.quote_text import lapsed

    with problems_as_json(as_json):
        catalog = load_parts(catalog_dirs)
        quote = _quote_of(file, catalog)
        beside = _counts(have or [])
        found_case = None if case is None else case_of(case, catalog, None)

        def work(tell: progress.Tell) -> QuoteCheck:
            from gpunet.solver.quote_case import check_with_case
            from gpunet.solver.quote_check import check_quote

            if found_case is None:
                return check_quote(quote, catalog, beside)
            tell("comparing with the case")
            return check_with_case(quote, found_case, catalog, beside, engine.value)

        try:
            found = progress.run("checking", work)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--have") from None
    today = date.today().isoformat()
    if quote.has_lapsed(today):
        notes = (lapsed(quote.title, quote.valid_until or "", today), *found.notes)
        found = found.model_copy(update={"notes": notes})
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        print_report(check_report(found))
    is_enough = found.builds if found.fit is None else found.fit.status == "builds"
    raise typer.Exit(Exit.DONE if is_enough else Exit.FAILED)


def _quote_of(file: Path, catalog: Catalog) -> QuoteFile:
    """The quote in a quote file, or in a supplier's table."""
    if file.suffix.lower() in (".yaml", ".yml"):
        from gpunet.quote_file import read_quote

        return read_quote(file, catalog)
    from gpunet.quote_import import import_quote as read

    return read(file, catalog).quote


def _counts(texts: list[str]) -> dict[str, int]:
    expected = "a part and how many, such as dgx-h100=32"
    found = {}
    for part, count in _pairs(texts, "--have", expected).items():
        if not count.isdecimal() or not 0 < int(count) <= MOST_PIECES:
            raise typer.BadParameter(f"found {part}={count}, expected {expected}", param_hint="--have")
        found[part] = int(count)
    return found
