"""What all commands share: exit codes, errors in one message, output for people and for machines.

Nothing heavy is imported at the top, so that the command line starts at once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from gpunet.models.parts import Catalog
    from gpunet.report.blocks import Shown

CatalogDirs = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog", metavar="DIR", readable=False, help="Folder with parts of your own; may be given several times."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    """No feasible design, or a design or catalogue that fails its check."""
    BAD_INPUT = 2
    """The case, the catalogue, an option or the place of the output cannot be used."""
    STOPPED_EARLY = 3
    """A design that is not proven the best, with the gap left."""
    FAULT = 70
    """A fault of gpunet itself."""
    INTERRUPTED = 130
    """Ctrl-C."""
    READER_GONE = 141
    """Whoever read the output went away."""


class Commands(TyperGroup):
    """Turns every error that a user can cause into one message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        from gpunet.files import OutputError
        from gpunet.models.problems import InputError

        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except (InputError, OutputError) as error:
            complain(error.render())
            raise typer.Exit(Exit.BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("gpunet: stopped by Ctrl-C")
            raise typer.Exit(Exit.INTERRUPTED) from None
        except OSError as error:
            raise typer.Exit(give_up(error)) from None
        return result


def load_parts(folders: Sequence[Path] | None) -> Catalog:
    """The catalogue with the folders of ``--catalog`` laid over it. Raises ``InputError``."""
    from gpunet.catalogs import load_catalog

    catalog = load_catalog(folders or ())
    spare_collecting()
    return catalog


def spare_collecting() -> None:
    """Keep the garbage collector off what is loaded for good, and let it look less often at what a search makes."""
    import gc

    gc.freeze()
    gc.set_threshold(100_000, 20, 20)


def unknown(word: str, known: Sequence[str], what: str, advice: str = "") -> typer.BadParameter:
    """The error for a word that is not known: names the nearest that is, and all of them unless there is advice."""
    from gpunet.catalogs.schema_words import nearest
    from gpunet.models.problems import quoted

    close = nearest(word, known)
    says = [f"found {quoted(word)}" if advice else f"found {quoted(word)}, expected {', '.join(known)}"]
    says += [f"nearest: {close}"] if close else []
    return typer.BadParameter("; ".join([*says, *filter(None, [advice])]), param_hint=what)


@contextlib.contextmanager
def problems_as_json(wanted: bool) -> Iterator[None]:
    """Print what is wrong with an input as JSON too, where JSON is wanted."""
    from gpunet.models.problems import InputError

    try:
        yield
    except InputError as error:
        if wanted:
            print_json({"error": "bad input", "problems": [dataclasses.asdict(found) for found in error.problems]})
        raise


def print_report(blocks: Iterable[Shown]) -> None:
    """Print a report for people."""
    from gpunet.report.screen import render, screen_of

    typer.echo(render(blocks, screen_of(sys.stdout)), nl=False, color=True)


def print_json(data: object) -> None:
    """Print data for machines."""
    typer.echo(json.dumps(data, indent=2))


def complain(text: str) -> None:
    """Print a message to standard error."""
    from gpunet.report.screen import printable

    typer.echo(printable(text), err=True)


def give_up(error: OSError) -> Exit:
    """Say what the operating system refused, and how to leave; quiet where nobody reads the output any more."""
    _abandon(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return Exit.READER_GONE
    complain(f"gpunet: {error.filename or 'output'}: {(error.strerror or str(error)).lower()}")
    return Exit.BAD_INPUT


def _abandon(stream: TextIO) -> None:
    """Send a stream nowhere, so that leaving the program does not fail on it once more."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
