"""The commands that look into the catalogue."""

from __future__ import annotations

from typing import Annotated

import typer

from gpunet import completion
from gpunet.shell import CatalogDirs, Exit, complain, load_parts, print_report, unknown

catalog_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="""Look into the parts that can be bought.

    \b
    Examples:
      gpunet catalog list switch --vendor nvidia
      gpunet catalog show nv-mfp7e10-n030
      gpunet catalog check --catalog my-parts
    """,
)


@catalog_app.command("list")
def list_parts(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="switch, nic, server, module, cable, …", autocompletion=completion.part_kinds
        ),
    ] = "",
    vendor: Annotated[
        str, typer.Option(metavar="NAME", help="Only this vendor.", autocompletion=completion.vendors)
    ] = "",
    catalog_dirs: CatalogDirs = None,
) -> None:
    """List parts with their prices and how each price is known."""
    from gpunet.catalogs import PART_KINDS
    from gpunet.catalogs.load import FILES
    from gpunet.report.catalog_text import parts_list, parts_of

    catalog = load_parts(catalog_dirs)
    plurals = {stem: entry.kind for stem, entry in FILES.items() if entry.kind}
    chosen = plurals.get(kind, kind)
    if chosen and chosen not in PART_KINDS:
        raise unknown(kind, PART_KINDS, "KIND")
    vendors = sorted({part.vendor for parts in parts_of(catalog).values() for part in parts})
    if vendor and vendor not in vendors:
        raise unknown(vendor, vendors, "--vendor")
    print_report(parts_list(catalog, chosen, vendor))


@catalog_app.command("show")
def show_part(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Part, stock length or optical interface.", autocompletion=completion.part_ids
        ),
    ],
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Show one part: every figure with its source, its date and how it is known."""
    from gpunet.report.part_text import names_of, part_report

    catalog = load_parts(catalog_dirs)
    names = names_of(catalog)
    report = part_report(catalog, names.get(name.casefold(), name))
    if report is None:
        raise unknown(name, list(names.values()), "ID", advice="see gpunet catalog list")
    print_report(report)


@catalog_app.command("check")
def check_parts(
    everything: Annotated[
        bool, typer.Option("--all", help="Also list what is estimated, old or without price.")
    ] = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Check the catalogue: sources, dates, contradictions, parts that nothing fits."""
    from datetime import date

    from gpunet.catalogs.check import Level, check_catalog
    from gpunet.report.catalog_text import check_report

    catalog = load_parts(catalog_dirs)
    findings = check_catalog(catalog, date.today())
    print_report(check_report(catalog, findings, everything))
    errors = [finding for finding in findings if finding.level is Level.ERROR]
    if errors:
        complain(f"gpunet: the catalogue has {len(errors)} error{'s' if len(errors) > 1 else ''}")
        raise typer.Exit(Exit.FAILED)
