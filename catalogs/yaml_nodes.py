"""Composes YAML text into nodes that keep their position, one event at a time.

No recursion and no expansion happens here, so neither deep nesting nor an alias bomb costs more than its text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import yaml

from gpunet.models.problems import InputError, Problem, named, quoted

MAX_DEPTH = 40
MAX_NODES = 250_000
MAX_DIGITS = 40

# The reader of libyaml where PyYAML was built with it: about eight times faster, other words in its errors.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DIGITS = r"(?:0|[1-9][0-9]*(?:_[0-9]+)*)"
_WHOLE = re.compile(rf"[-+]?{_DIGITS}")
_REAL = re.compile(rf"[-+]?(?:{_DIGITS}(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MERGE = "<<"

_SYNTAX_HINTS = (
    ("cannot start any token", "indent with spaces, not tabs, and put text that starts with % @ or ` in quotes"),
    (
        "mapping values are not allowed",
        "check the indentation and the space after each ':', and put text that contains ': ' in quotes",
    ),
    ("could not find expected ':'", "a ':' is missing after a field name, or a space after the ':'"),
    ("did not find expected key", "check the indentation, and that each field has a line of its own"),
    ("did not find expected ','", "a comma or a closing bracket is missing"),
    ("unexpected end of stream", "a closing quote is missing"),
    ("did not find expected alphabetic", "put text that starts with * or & in quotes"),
)


class Position(NamedTuple):
    """A place in a file, both from 1; the column counts characters."""

    line: int
    column: int


@dataclass(slots=True)
class Node:
    """One value of the file."""

    position: Position
    data: object
    """Plain data: str, int, float, bool, None, list or dict."""
    source: str | None = None
    """A scalar as the user wrote it, where it stands without quotes."""
    items: dict[str, Node] | list[Node] | None = None
    """Children of a mapping or a list."""
    keys: dict[str, Position] = field(default_factory=dict)
    """Where each key of a mapping stands."""
    size: int = 1
    """Values inside when every alias is written out, this one included."""

    def child(self, key: str | int) -> Node | None:
        """The value under a key or at an index, none where there is none."""
        if isinstance(self.items, dict) and isinstance(key, str):
            return self.items.get(key)
        if isinstance(self.items, list) and isinstance(key, int) and 0 <= key < len(self.items):
            return self.items[key]
        return None


@dataclass(slots=True)
class _Open:
    """A mapping or a list whose end has not been read yet."""

    node: Node
    key: str | None = None
    """The key that waits for its value."""
    waiting: bool = False
    """True when the next value belongs to a key; ``key`` is none when that key was refused."""
    merged: list[Node] = field(default_factory=list)


def compose(text: str, file: str) -> Node:
    """The root value of a YAML text.

    Raises ``InputError`` for what is not valid YAML, and for what this project does not take: no document or several,
    tags, keys that repeat or are not text, recursive aliases, more than ``MAX_DEPTH`` levels or ``MAX_NODES`` values.
    """
    composer = _Composer(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        composer.refuse(_position(error.problem_mark or error.context_mark), _syntax(error))
    except yaml.YAMLError as error:
        composer.refuse(Position(1, 1), f"not valid YAML: {error}")
    if composer.problems:
        raise InputError(composer.problems)
    if composer.root is None:
        raise InputError([Problem(file, message="the file is empty")])
    return composer.root


class _Composer:
    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self._documents = 0
        self._open: list[_Open] = []
        self._anchors: dict[str, Node] = {}

    def refuse(self, position: Position, message: str) -> NoReturn:
        """Stop here, with what was noted before."""
        self._note(position, message)
        raise InputError(self.problems)

    def take(self, event: yaml.Event) -> None:
        position = _position(event.start_mark)
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self.refuse(position, "a second document starts here; a file holds one, without '---' lines inside")
            case yaml.AliasEvent():
                self._put(self._aliased(event.anchor, position), position)
            case yaml.ScalarEvent():
                self._check_tag(event.tag, position)
                node = self._scalar(event.value, event.implicit[0], position)
                self._name(event.anchor, node)
                self._put(node, position)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_tag(event.tag, position)
                if len(self._open) == MAX_DEPTH:
                    self.refuse(position, f"nested more than {MAX_DEPTH} levels deep")
                empty: dict[str, Node] | list[Node] = {} if isinstance(event, yaml.MappingStartEvent) else []
                node = Node(position, data={} if isinstance(empty, dict) else [], items=empty)
                self._name(event.anchor, node)
                self._open.append(_Open(node))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()

    def _note(self, position: Position, message: str) -> None:
        self.problems.append(Problem(self.file, position.line, position.column, message=message))

    def _name(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _aliased(self, anchor: str | None, position: Position) -> Node:
        node = self._anchors.get(anchor or "")
        if node is None:
            self.refuse(
                position, f"alias *{anchor} has no anchor &{anchor} before it; put text that starts with * in quotes"
            )
        if any(frame.node is node for frame in self._open):
            self.refuse(position, f"alias *{anchor} stands inside its own anchor")
        return node

    def _check_tag(self, tag: str | None, position: Position) -> None:
        if tag is not None:
            shown = quoted(tag.replace("tag:yaml.org,2002:", "!!"))
            self._note(position, f"found the tag {shown}, expected a value without a tag")

    def _scalar(self, text: str, plain: bool, position: Position) -> Node:
        if not plain:
            return Node(position, text)
        if _REAL.fullmatch(text) and len(text) > MAX_DIGITS:
            self._note(position, f"found a number of {len(text)} characters, expected one of at most {MAX_DIGITS}")
            return Node(position, 0, text)
        return Node(position, _resolve(text), text)

    def _put(self, node: Node, position: Position) -> None:
        if not self._open:
            self.root = node
            return
        frame = self._open[-1]
        items, data = frame.node.items, frame.node.data
        if isinstance(items, list) and isinstance(data, list):
            items.append(node)
            data.append(node.data)
        elif not frame.waiting:
            frame.waiting, frame.key = True, self._key(frame, node, position)
        elif isinstance(items, dict) and isinstance(data, dict):
            frame.waiting = False
            if frame.key == _MERGE and _MERGE not in frame.node.keys:
                self._merge(frame, node, position)
            elif frame.key is not None:
                items[frame.key] = node
                data[frame.key] = node.data

    def _key(self, frame: _Open, node: Node, position: Position) -> str | None:
        """The key to file the next value under; none when it was refused and the value is to be dropped."""
        key = node.data
        if not isinstance(key, str):
            nested = node.items is not None
            shown = "a list or a mapping" if nested else node.source or "nothing"
            hint = "put text that starts with { or [ in quotes" if nested else "put the name in quotes"
            self._note(position, f"found {shown} as a field name, expected text; {hint}")
            return None
        if key == _MERGE and node.source is not None:
            return key
        if key in frame.node.keys:
            first = frame.node.keys[key]
            where = f"line {first.line}, column {first.column}"
            self._note(position, f"found {named(key)} twice in one mapping, first at {where}")
            return None
        frame.node.keys[key] = position
        return key

    def _merge(self, frame: _Open, node: Node, position: Position) -> None:
        sources = node.items if isinstance(node.items, list) else [node]
        for source in sources:
            if isinstance(source.items, dict):
                frame.merged.append(source)
            else:
                self._note(position, "found a << that is no mapping, expected an alias of a mapping")

    def _close(self) -> None:
        frame = self._open.pop()
        node, position = frame.node, frame.node.position
        for source in frame.merged:
            if not (isinstance(node.items, dict) and isinstance(node.data, dict) and isinstance(source.items, dict)):
                continue
            for key, value in source.items.items():
                if key not in node.items:
                    node.items[key], node.data[key], node.keys[key] = value, value.data, source.keys[key]
        children = node.items.values() if isinstance(node.items, dict) else node.items or []
        node.size = 1 + sum(child.size for child in children)
        if node.size > MAX_NODES:
            self.refuse(position, f"more than {MAX_NODES:,} values once every alias is written out")
        self._put(node, position)


def _resolve(text: str) -> object:
    """What a scalar without quotes means."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    if _REAL.fullmatch(text):
        number = float(text)
        # So that 1e3 or 256.0 may stand where a whole number is wanted, and nothing is lost.
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    return float(text.replace(".", "")) if _NOT_FINITE.fullmatch(text) else text


def _position(mark: Any) -> Position:
    return Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)


def _syntax(error: yaml.MarkedYAMLError) -> str:
    said = error.problem or error.context or "it cannot be read"
    context = f" {error.context}" if error.context and error.context != said else ""
    if context and error.context_mark:
        context += f" that starts at line {error.context_mark.line + 1}"
    hint = next((hint for words, hint in _SYNTAX_HINTS if words in f"{said}{context}"), "")
    return f"not valid YAML: {said}{context}" + (f"; {hint}" if hint else "")
