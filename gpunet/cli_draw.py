"""``gpunet draw``: a design as a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpunet import completion
from gpunet.cli_design import DesignPath, design_of
from gpunet.cli_options import ChosenEngine, EngineName
from gpunet.shell import CatalogDirs, load_parts, unknown

if TYPE_CHECKING:
    from gpunet.models.design import Design
    from gpunet.models.parts import Catalog

EPILOG = """\b
    Examples:
      gpunet draw case.yaml -o topology.svg
      gpunet draw design -o racks.png --what racks
      gpunet draw design -o backend.svg --fabric backend
    """
ENDINGS = (".svg", ".png")


class What(StrEnum):
    """What there is to draw."""

    TOPOLOGY = "topology"
    RACKS = "racks"


def draw(
    design: DesignPath,
    out: Annotated[Path, typer.Option("-o", metavar="FILE", readable=False, help="Picture to write: .svg or .png.")],
    what: Annotated[What, typer.Option("--what", help="The fabrics, or what stands in every rack.")] = What.TOPOLOGY,
    fabric: Annotated[
        list[str] | None,
        typer.Option(
            "--fabric",
            metavar="NAME",
            help="Only this fabric; may be given several times.",
            autocompletion=completion.fabrics,
        ),
    ] = None,
    engine: ChosenEngine = EngineName.HIGHS,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Draw a design: its topology, or its racks.

    Like things are drawn once with their count, and the counts add up to the design. Equal designs give equal bytes.
    """
    from gpunet import progress
    from gpunet.files import write_all

    ending = out.suffix.lower()
    if ending not in ENDINGS:
        raise unknown(out.name, [f"a name that ends in {' or '.join(ENDINGS)}"], "-o")
    catalog = load_parts(catalog_dirs)
    found = design_of(design, catalog, engine.value)
    for name in fabric or ():
        if name not in found.result.fabrics:
            raise unknown(name, list(found.result.fabrics), "--fabric")

    def work(tell: progress.Tell) -> str | bytes:
        svg = _svg(found, catalog, what, fabric)
        if ending == ".svg":
            return svg
        from gpunet.draw.png import to_png

        tell("rendering")
        return to_png(svg)

    content = progress.run("drawing", work)
    write_all(out.parent, {out.name: content})
    typer.echo(f"{out} is written", err=True)


def _svg(design: Design, catalog: Catalog, what: What, fabrics: list[str] | None) -> str:
    if what is What.RACKS:
        from gpunet.draw.elevation import elevations_svg

        return elevations_svg(design, catalog, fabrics)
    from gpunet.draw.topology import topology_svg

    return topology_svg(design, catalog, fabrics)
