"""YAML that knows where everything stands: reads a file into plain data with positions, and checks it against a model.

The reader takes the part of YAML that means the same to everybody. Numbers are what a person means by them
(``1e3`` is a number, ``010`` and ``1:30`` are text), ``yes``, ``no``, ``on``, ``off`` and dates are text, tags are
refused, and whatever a file holds, the only exception is ``InputError``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from gpunet.catalogs.schema_words import Path, Shape, nearest
from gpunet.catalogs.yaml_nodes import Node, Position, compose
from gpunet.models.problems import InputError, Problem, named, quoted, shortened

MAX_BYTES = 5_000_000

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")
_NUMBER_IN_TEXT = re.compile(r"(-?\d+(?:\.\d+)?)\s*(%|:1|/1|[a-zA-Z][a-zA-Z/]*)?")

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Located:
    """Plain data and where each part of it stands."""

    file: str
    """File as the user named it, or a name for data that came from no file."""
    data: object
    """Nested dicts, lists and scalars."""
    root: Node | None = None
    """The same with positions; none for data that came from no file."""

    def at(self, path: Path) -> object:
        """The data at a key path. Raises ``KeyError`` where there is none."""
        found, data = _step(self.data, path)
        if found < len(path):
            raise KeyError(path_text(path))
        return data

    def node(self, path: Path) -> Node | None:
        """The node at a key path, none where there is none."""
        node = self.root
        for key in path:
            node = node.child(key) if node else None
        return node

    def value_position(self, path: Path) -> Position | None:
        """Where the value at a key path starts, none where there is none."""
        node = self.node(path)
        return node.position if node else None

    def key_position(self, path: Path) -> Position | None:
        """Where the key at the end of a path stands; for an item of a list, where the item starts."""
        parent = self.node(path[:-1])
        if parent and path and isinstance(path[-1], str):
            return parent.keys.get(path[-1])
        return self.value_position(path)

    def problem(
        self,
        path: Path,
        *,
        found: str | None = None,
        expected: str = "",
        nearest: str = "",
        message: str = "",
        at_key: bool = False,
    ) -> Problem:
        """A problem at a key path: at the key where asked, else at the value, or at what is there of the path.

        ``found`` is what stands there unless given.
        """
        depth, data = _step(self.data, path)
        if depth < len(path) or at_key or isinstance(data, dict):
            position = self.key_position(path[: max(depth, 1)]) or self.value_position(path[:depth])
        else:
            position = self.value_position(path)
        if found is None:
            found = "nothing" if depth < len(path) else self.shown(path)
        line, column = position or (None, None)
        return Problem(self.file, line, column, path_text(path), found, expected, nearest, message)

    def shown(self, path: Path) -> str:
        """What stands at a path, as the user wrote it, shortened."""
        data, node = self.at(path), self.node(path)
        match data:
            case None:
                return "nothing"
            case dict():
                return f"a mapping with {_names(list(data))}" if data else "an empty mapping"
            case list() | tuple():
                return f"a list of {len(data)}" if data else "an empty list"
            case str():
                return quoted(data)
            case bool():
                return node.source if node and node.source else str(data).lower()
            case _:
                return shortened(node.source if node and node.source else repr(data))


def read_yaml(path: str | FilePath) -> Located:
    """Read a YAML file. Raises ``InputError`` for every file that cannot be read or means nothing definite."""
    file = str(path) if str(path).isprintable() else repr(str(path))
    text = _decode(file, _read_bytes(path, file))
    root = compose(text, file)
    return Located(file, root.data, root)


def validate(model: type[M], located: Located, prefix: Path = ()) -> M:
    """The data at a key path as a model. Raises ``InputError`` with every problem found, each at its place.

    Numbers are strict: text and true or false are no numbers. A whole number may be written 256.0 or 1e3.
    """
    instance, problems = check(model, located, prefix)
    if instance is None:
        raise InputError(problems)
    return instance


def check(model: type[M], located: Located, prefix: Path = ()) -> tuple[M | None, list[Problem]]:
    """Like ``validate``, but hands the problems back, so that the caller can add its own; none means there are some."""
    data = located.at(prefix)
    errors = {}
    try:
        instance = model.model_validate(data)
    except ValidationError as error:
        instance = None
        errors = _by_place(error, data)
    shape = Shape.of(model)
    problems = {place: _explain(located, prefix, place, error, shape) for place, error in errors.items()}
    for place in _coerced(data, shape, ()):
        problems[place] = _unexpected(located, prefix, place, shape)
    return (None if problems else instance), list(problems.values())


def path_text(path: Path) -> str:
    """A key path as people write it: ``fabrics.backend.protocols[0]``."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            name = named(key)
            text += f"[{name}]" if name[0] in "'\"" else f".{name}" if text else name
    return text


def _read_bytes(path: str | FilePath, file: str) -> bytes:
    try:
        # One byte more than the limit tells a file that is too large, also where its size is not known beforehand.
        with open(path, "rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        folder = FilePath(path).parent
        near = nearest(FilePath(path).name, (entry.name for entry in folder.iterdir())) if folder.is_dir() else ""
        raise InputError([Problem(file, message="no such file", nearest=near and str(folder / near))]) from None
    except IsADirectoryError:
        raise InputError([Problem(file, found="a directory", expected="a YAML file")]) from None
    except PermissionError:
        raise InputError([Problem(file, message="no permission to read this file")]) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([Problem(shortened(file), message=f"cannot be read: {reason}")]) from None
    if len(content) > MAX_BYTES:
        raise InputError([Problem(file, found=f"more than {MAX_BYTES:,} bytes", expected="a smaller file")])
    return content


def _decode(file: str, content: bytes) -> str:
    """The text of a file, without a byte order mark."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError([Problem(file, found="text in UTF-16", expected="text in UTF-8")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig", errors="replace")
        found = f"the byte 0x{content[error.start]:02x}"
        raise InputError([_at_end_of(before, file, found, "text in UTF-8")]) from None
    if forbidden := _FORBIDDEN.search(text):
        found = f"the character U+{ord(forbidden[0]):04X}"
        raise InputError([_at_end_of(text[: forbidden.start()], file, found, "printable text")])
    return text


def _at_end_of(before: str, file: str, found: str, expected: str) -> Problem:
    line_start = before.rfind("\n") + 1
    return Problem(file, before.count("\n") + 1, len(before) - line_start + 1, found=found, expected=expected)


def _step(data: object, path: Path) -> tuple[int, object]:
    """Follow a path as far as the data goes: how many steps, and what is there."""
    for steps, key in enumerate(path):
        in_list = isinstance(data, list | tuple) and isinstance(key, int) and 0 <= key < len(data)
        if not in_list and not (isinstance(data, dict) and key in data):
            return steps, data
        data = data[key]  # type: ignore[index]
    return len(path), data


@dataclass(frozen=True)
class _Error:
    """One error of the model, with its place in the data."""

    type: str
    message: str
    at_key: bool = False
    in_union: bool = False


def _by_place(error: ValidationError, data: object) -> dict[Path, _Error]:
    """The errors by place in the data, one for each place; alternatives of one union are one error."""
    by_place: dict[Path, _Error] = {}
    for entry in error.errors(include_url=False, include_input=False):
        place, in_union, here = [], False, data
        steps = entry["loc"]
        at_key = steps[-1:] == ("[key]",)
        for number, step in enumerate(steps[:-1] if at_key else steps, start=1):
            depth, below = _step(here, (step,))
            absent = entry["type"] == "missing" and number == len(steps)
            if depth or absent:
                place.append(step)
                here = below
            else:
                in_union = True  # the step names an alternative of a union, not a place in the data
        by_place.setdefault(tuple(place), _Error(entry["type"], entry["msg"], at_key, in_union))
    # ['cost', 'powr'] fails as a word and, deeper, as a list with a wrong word; a list with a wrong word also counts
    # as too short. The deeper error says all.
    follows = {place for place, found in by_place.items() if found.in_union or found.type == "too_short"}
    deeper = {other[:depth] for other in by_place for depth in range(len(other))}
    return {place: found for place, found in by_place.items() if place not in follows & deeper}


def _explain(located: Located, prefix: Path, place: Path, error: _Error, shape: Shape) -> Problem:
    """One error of a model, in the user's words."""
    path = prefix + place
    parent = shape.at(place[:-1]) if place else None
    here = shape.at(place)
    if error.type == "extra_forbidden" and parent:
        return _unknown_field(located, prefix, place, parent, shape)
    if error.at_key and parent:
        return located.problem(
            path,
            found=f"the name {quoted(str(place[-1]))}",
            expected=parent.keys().expected(),
            nearest=nearest(str(place[-1]), parent.keys().choices()),
            at_key=True,
        )
    if error.type == "missing" and here:
        return located.problem(path, found="nothing", expected=here.expected(), message=here.meaning())
    if error.type == "value_error":
        bare = error.message.removeprefix("Value error, ")
        return located.problem(path, found="" if here is None or here.fields() else None, message=bare)
    if here is None or not here.expected():
        return located.problem(path, message=error.message)
    return _unexpected(located, prefix, place, shape)


def _unknown_field(located: Located, prefix: Path, place: Path, parent: Shape, shape: Shape) -> Problem:
    name = str(place[-1])
    near = nearest(name, parent.fields())
    # A known field under the wrong heading is as common as a slip of the pen.
    elsewhere = next(shape.places_of(name), None)
    split_number = name[:1].isdigit() and located.at(prefix + place) is None
    return located.problem(
        prefix + place,
        found="an unknown field",
        expected=f"one of the fields {', '.join(parent.fields())}" if parent.fields() else "",
        nearest=near or (path_text(prefix + elsewhere) if elsewhere else ""),
        message="write a large number without commas" if split_number else "",
        at_key=True,
    )


def _unexpected(located: Located, prefix: Path, place: Path, shape: Shape) -> Problem:
    """A value that is not what the model takes here."""
    here = shape.at(place)
    if here is None:
        return located.problem(prefix + place)
    value = located.at(prefix + place)
    near, message = "", ""
    if isinstance(value, str):
        near = nearest(value, here.choices())
        if here.takes("integer") or here.takes("number"):
            near = near or _number_meant(value)
        if here.fields() and ":" in value:
            message = "put a space after the ':'"
    elif here.takes("string") and not here.choices() and isinstance(value, bool | int | float):
        message = "put it in quotes"
    elif isinstance(value, float) and not math.isfinite(value):
        message = "it must be finite"
    elif value is None and place and here.fields():
        message = "leave the field out to use its defaults"
    return located.problem(prefix + place, expected=here.expected(), nearest=near, message=message)


def _number_meant(text: str) -> str:
    """The number that a text such as ``'256'``, ``2:1``, ``20%``, ``1,000`` or ``400G`` most likely means."""
    match = _NUMBER_IN_TEXT.fullmatch(text.strip().replace(",", ""))
    if not match:
        return ""
    number = float(match[1])
    return f"{number / 100 if match[2] == '%' else number:.12g}"


def _coerced(data: object, shape: Shape, place: Path) -> Iterator[Path]:
    """Places where a model would take text or true and false for a number, or the reverse, and say nothing."""
    if isinstance(data, dict):
        for key, value in data.items():
            if child := shape.child(key):
                yield from _coerced(value, child, (*place, key))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            if child := shape.child(index):
                yield from _coerced(value, child, (*place, index))
    elif (isinstance(data, bool) and not shape.takes("boolean")) or (
        isinstance(data, str | int | float) and not isinstance(data, bool) and _would_coerce(data, shape)
    ):
        yield place


def _would_coerce(data: str | int | float, shape: Shape) -> bool:
    if isinstance(data, str):
        return not shape.takes("string")
    return shape.takes("boolean") and not (shape.takes("integer") or shape.takes("number"))


def _names(names: list[str]) -> str:
    shown = ", ".join(named(name) for name in names[:4])
    return f"{'field' if len(names) == 1 else 'fields'} {shown}{', …' if len(names) > 4 else ''}"
