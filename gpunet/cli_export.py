"""``gpunet export``: a design in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpunet import completion
from gpunet.cli_design import DesignPath, design_of
from gpunet.cli_options import ChosenEngine, EngineName
from gpunet.export import FORMATS
from gpunet.shell import CatalogDirs, Exit, complain, load_parts, unknown

WIDEST = max(map(len, FORMATS), default=0)
EPILOG = "\n    ".join(
    [
        "\b",
        "Formats:",
        *(f"  {name:{WIDEST}}  {form.about}" for name, form in FORMATS.items()),
        "",
        "\b",
        "Examples:",
        "  gpunet export design --to netbox -o netbox",
        "  gpunet export case.yaml --to graphml -o network.graphml",
        "",
    ]
)


def export(
    design: DesignPath,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORMAT", help="One of the formats below.", autocompletion=completion.export_formats
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o",
            metavar="PLACE",
            readable=False,
            help="File to write, or the folder for a format of several files; all are written or none.",
        ),
    ],
    engine: ChosenEngine = EngineName.HIGHS,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Write a design for another program.

    The same design gives the same files, byte for byte.
    """
    from gpunet import progress
    from gpunet.export import ExportError, write

    if to not in FORMATS:
        raise unknown(to, list(FORMATS), "--to")
    catalog = load_parts(catalog_dirs)
    found = design_of(design, catalog, engine.value)
    try:
        with progress.shown("writing"):
            paths = write(found, catalog, to, out)
    except ExportError as error:
        complain(f"{design}: {error}")
        raise typer.Exit(Exit.FAILED) from None
    *rest, last = (str(path) if len(paths) == 1 else path.name for path in paths)
    listed = f"{paths[0].parent}: {', '.join(rest)} and {last} are" if rest else f"{last} is"
    complain(f"{listed} written")
