"""``gpunet export``: a design in the format of another program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet.cli_design import DesignPath, design_of
from gpunet.cli_options import ChosenEngine, EngineName
from gpunet.export import FORMATS
from gpunet.shell import CatalogDirs, Exit, complain, load_parts, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpunet.files import Content

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
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="One of the formats below.")],
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
    from gpunet.export import ExportError
    from gpunet.export import export as made
    from gpunet.files import write_all

    if to not in FORMATS:
        raise unknown(to, list(FORMATS), "--to")
    catalog = load_parts(catalog_dirs)
    found = design_of(design, catalog, engine.value)
    try:
        with progress.shown("writing"):
            contents = made(found, catalog, to)
            folder, named = _placed(out, contents, FORMATS[to].one_file)
            paths = write_all(folder, named)
    except ExportError as error:
        complain(f"{design}: {error}")
        raise typer.Exit(Exit.FAILED) from None
    if FORMATS[to].one_file:
        complain(f"{paths[0]} is written")
    else:
        complain(f"{folder}: {', '.join(path.name for path in paths)} are written")


def _placed(out: Path, contents: Mapping[str, Content], one_file: bool) -> tuple[Path, dict[str, Content]]:
    """The folder to write to and the contents under their names there."""
    if not one_file or out.is_dir():
        return out, dict(contents)
    (content,) = contents.values()
    return Path(os.path.dirname(out)), {out.name: content}
