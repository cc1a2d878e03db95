"""What a notebook asks of a result: to be shown, and to be a table.

How that is done is nothing a model should know: the face of gpunet puts its own ``Views`` here when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Views(Protocol):
    """Turns results into what people and programs look at."""

    def page(self, result: Any) -> str:
        """HTML."""

    def line(self, result: Any) -> str:
        """One line of text."""

    def frame(self, result: Any, table: str) -> Any:
        """A pandas DataFrame."""

    def tables(self, result: Any) -> tuple[str, ...]:
        """Names of the tables."""


_views: list[Callable[[], Views]] = []


def show_with(views: Callable[[], Views]) -> None:
    """Show results by what the function gives, which is called when something is to be shown."""
    _views[:] = [views]


class Shown:
    """A result that shows itself in a notebook and gives its tables."""

    def to_frame(self, table: str = "") -> Any:
        """A table of the result as a pandas DataFrame: the most telling one, or one of ``tables()``.

        Fields within fields are columns with a dot. Tables within tables have a column that holds the row of the outer
        one. Raises ``ValueError`` for a table that there is not.
        """
        return _views[0]().frame(self, table)

    def tables(self) -> tuple[str, ...]:
        """Names of the tables that ``to_frame`` gives, the one it gives by itself first."""
        return _views[0]().tables(self)

    def _repr_html_(self) -> str:
        return _views[0]().page(self)

    def __repr__(self) -> str:
        return _views[0]().line(self)
