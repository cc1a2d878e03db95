"""What is wrong with an input, said so that a person can mend it: where, what was found, what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

SHOWN_CHARACTERS = 60
_PLAIN_NAME = re.compile(r"[\w:*+-]+")


def shortened(text: str) -> str:
    """Text cut to what a message can show."""
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def quoted(text: str) -> str:
    """Text of the input as a message shows it: in quotes, shortened, control characters escaped."""
    return repr(shortened(text))


def named(name: str) -> str:
    """A name of the input as a message shows it: bare where it is an ordinary word, else quoted."""
    return name if _PLAIN_NAME.fullmatch(name) and len(name) <= SHOWN_CHARACTERS else quoted(name)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in an input. Every field but ``file`` may be left out where it says nothing."""

    file: str
    """File as the user named it, or a name for data that came from no file."""
    line: int | None = None
    """Line, from 1; none where the data came from no file or the whole file is meant."""
    column: int | None = None
    """Column in characters, from 1."""
    path: str = ""
    """Field, such as ``fabrics.backend.protocols[0]``."""
    found: str = ""
    """What stands there, as the user wrote it, shortened."""
    expected: str = ""
    """What should stand there, in words."""
    nearest: str = ""
    """The accepted value or name that comes closest; empty where none is close."""
    message: str = ""
    """Anything that found and expected cannot say."""

    def render(self) -> str:
        """One line: ``file:line:column: path: found …, expected …; nearest: …``."""
        where = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        contrast = ", ".join(
            f"{word} {text}" for word, text in (("found", self.found), ("expected", self.expected)) if text
        )
        nearest = f"nearest: {self.nearest}" if self.nearest else ""
        says = "; ".join(text for text in (contrast, self.message, nearest) if text)
        return ": ".join(text for text in (where, self.path, says) if text)


class InputError(Exception):
    """An input that cannot be used, with every problem found in it, in the order of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(
            sorted(problems, key=lambda problem: (problem.file, problem.line or 0, problem.column or 0))
        )
        super().__init__(self.render())

    def render(self) -> str:
        """A header per file, such as ``case.yaml: 2 problems``, and a line for each of its problems."""
        lines: list[str] = []
        for file in dict.fromkeys(problem.file for problem in self.problems):
            here = [problem for problem in self.problems if problem.file == file]
            lines.append(f"{file}: {len(here)} problem{'s' if len(here) != 1 else ''}")
            lines += [problem.render() for problem in here]
        return "\n".join(lines)
