"""The formats that ``gpunet export`` writes, by name.

To add one, write a module with a function ``files(design, catalog)`` that gives back the content of every file by
name, and add a line to ``FORMATS``. Modules are named, not imported, so that a help text needs none of their libraries.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gpunet.files import Content, write_all

if TYPE_CHECKING:
    from gpunet.models.design import Design
    from gpunet.models.ledger import Ledger
    from gpunet.models.parts import Catalog


class ExportError(ValueError):
    """A design that a format cannot hold; the text says why, for people."""


class Format(NamedTuple):
    """One format."""

    about: str
    """What it is and who reads it: a line of the help text."""
    module: str
    """Where its function stands: ``files(design, catalog) -> Mapping[str, Content]``; may raise ``ExportError``."""
    one_file: bool = True
    """Whether it is one file, which may then go by any name, or a folder of files."""
    function: str = "files"
    """Name of the function in the module."""
    reader: str = ""
    """Name of the function that reads the ledger back, ``reader(path) -> Ledger``; none where the format drops some."""


FORMATS: dict[str, Format] = {
    "ibsim": Format(
        "InfiniBand subnets for ibsim, which simulates them for opensm", "gpunet.export.ibsim", one_file=False
    ),
    "netbox": Format(
        "racks, devices, modules, interfaces and cables for NetBox, CSV", "gpunet.export.netbox", one_file=False
    ),
    "containerlab": Format(
        "Ethernet fabrics as a topology of containerlab", "gpunet.export.labs", function="containerlab_files"
    ),
    "netlab": Format("Ethernet fabrics as a topology of netlab", "gpunet.export.labs", function="netlab_files"),
    "nvidia-p2p": Format("point-to-point list for NVIDIA's cable validation tool, Excel", "gpunet.export.p2p"),
    "dot": Format("graph in DOT, for Graphviz and network simulators", "gpunet.export.dot", reader="read"),
    "graphml": Format("graph in GraphML, for networkx, yEd and Gephi", "gpunet.export.graphml", reader="read"),
    "csv": Format(
        "ledger, a CSV file per table, for pandas and spreadsheets",
        "gpunet.export.tables",
        one_file=False,
        function="csv_files",
        reader="read_csv",
    ),
    "parquet": Format(
        "ledger, a Parquet file per table, for pandas",
        "gpunet.export.tables",
        one_file=False,
        function="parquet_files",
        reader="read_parquet",
    ),
    "workbook": Format(
        "bill with live totals, power, cabling, racks and evidence, for Excel", "gpunet.report.workbook"
    ),
    "cabling-csv": Format(
        "cabling schedule in the order of pulling, CSV", "gpunet.report.csv_files", function="cabling_file"
    ),
    "cabling-xlsx": Format("cabling schedule with bundles and lengths, for Excel", "gpunet.report.workbook_cabling"),
    "labels-pdf": Format("a label for every cable end, on sheets of stickers", "gpunet.report.labels"),
}
"""Formats by the name that ``--to`` takes, in the order of the help text."""


def export(design: Design, catalog: Catalog, name: str) -> Mapping[str, Content]:
    """Every file of a design in a format, content by file name; ``gpunet.files.write_all`` writes them.

    Raises ``ExportError`` where the format cannot hold the design, and ``KeyError`` for a format that does not exist.
    """
    form = FORMATS[name]
    made: Mapping[str, Content] = getattr(importlib.import_module(form.module), form.function)(design, catalog)
    return made


def write(design: Design, catalog: Catalog, name: str, place: str | Path) -> list[Path]:
    """Write a design in a format, all files or none, and give back their paths.

    ``place`` is the file, or the folder for a format of several files; a format of one file goes into a folder that is
    there under its own name. Raises what ``export`` raises, and ``gpunet.files.OutputError``.
    """
    contents = dict(export(design, catalog, name))
    folder = Path(place)
    if FORMATS[name].one_file and not folder.is_dir():
        (content,) = contents.values()
        folder, contents = folder.parent, {folder.name: content}
    return write_all(folder, contents)


def read_back(path: str | Path, name: str) -> Ledger:
    """The ledger in what ``export`` wrote: the file, or the folder for a format of several files.

    Equal to the one that was exported. Raises ``gpunet.models.problems.InputError`` for what cannot be read,
    ``ValueError`` for a format that does not hold the whole ledger, and ``KeyError`` for one that does not exist.
    """
    form = FORMATS[name]
    if not form.reader:
        raise ValueError(f"{name} does not hold the whole ledger, so it cannot be read back")
    found: Ledger = getattr(importlib.import_module(form.module), form.reader)(Path(path))
    return found
