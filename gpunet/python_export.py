"""Exports for programs: what ``gpunet`` offers of them in Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpunet.models.design import Design
    from gpunet.models.ledger import Ledger


def write_export(
    design: Design, name: str, place: str | Path, *, catalog_dirs: Sequence[str | Path] = ()
) -> list[Path]:
    """Write a design in the format of another program, all files or none, and give back their paths.

    ``name`` is a format of ``gpunet export``, such as ``netbox``; ``place`` the file, or the folder for a
    format of several. Raises ``ValueError`` for a format that does not exist or cannot hold the design and
    ``gpunet.files.OutputError`` where nothing can be written.
    """
    from gpunet.catalogs import load_catalog
    from gpunet.export import write

    return write(design, load_catalog(catalog_dirs), _known_format(name), place)


def read_export(place: str | Path, name: str) -> Ledger:
    """The ledger in what ``write_export`` wrote, equal to the one that went out.

    Raises ``ValueError`` for a format that does not exist or does not hold the whole ledger, and
    ``gpunet.models.problems.InputError`` for what cannot be read.
    """
    from gpunet.export import read_back

    return read_back(place, _known_format(name))


def _known_format(name: str) -> str:
    from gpunet.export import FORMATS

    if name not in FORMATS:
        raise ValueError(f"found {name!r} as a format, expected {', '.join(FORMATS)}")
    return name
