"""A model's JSON Schema, walked by key path and put into words that a user of the file understands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import BaseModel

Path = tuple[str | int, ...]
Node = dict[str, Any]


def nearest(word: str, choices: Iterable[str]) -> str:
    """The choice closest to a word, upper and lower case being equal; empty when none is close."""
    by_folded = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(word.casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[close[0]] if close else ""


@dataclass(frozen=True)
class Shape:
    """What a model accepts at one place: a node of its JSON Schema with the root that references resolve in."""

    root: Node
    node: Node

    @staticmethod
    @cache
    def of(model: type[BaseModel]) -> Shape:
        """The shape of a whole model."""
        schema = model.model_json_schema()
        return Shape(schema, schema)

    def branches(self) -> list[Node]:
        """The alternatives with references followed, but for ``null``, which only says that a field is optional."""
        node = self.node
        while "$ref" in node:
            node = self.root["$defs"][node["$ref"].rsplit("/", 1)[1]]
        if "anyOf" not in node:
            return [node]
        nested = (Shape(self.root, option).branches() for option in node["anyOf"])
        return [branch for branches in nested for branch in branches if branch.get("type") != "null"]

    def child(self, key: str | int) -> Shape | None:
        """The shape one step down, none where the schema has nothing there."""
        for branch in self.branches():
            if isinstance(key, int):
                node = branch.get("items")
            else:
                node = branch.get("properties", {}).get(key, branch.get("additionalProperties"))
            if isinstance(node, dict):
                return Shape(self.root, node)
        return None

    def at(self, path: Path) -> Shape | None:
        """The shape at a key path, none where the schema has nothing there."""
        shape: Shape | None = self
        for key in path:
            shape = shape.child(key) if shape else None
        return shape

    def fields(self) -> list[str]:
        """Names of the fields of a model at this place; empty where it is no model."""
        return [name for branch in self.branches() for name in branch.get("properties", {})]

    def choices(self) -> list[str]:
        """The accepted words where only certain words are accepted."""
        return [word for branch in self.branches() for word in _words(branch)]

    def keys(self) -> Shape:
        """The shape of the names in a mapping with free names."""
        node = next((branch["propertyNames"] for branch in self.branches() if "propertyNames" in branch), None)
        return Shape(self.root, node or {"type": "string"})

    def takes(self, kind: str) -> bool:
        """Whether a value of a JSON type (``string``, ``boolean``, …) may stand here."""
        return any("type" not in branch or branch["type"] == kind for branch in self.branches())

    def meaning(self) -> str:
        """What the field is for, in the words of the models; empty where they say nothing."""
        said = next((str(node["description"]) for node in (self.node, *self.branches()) if "description" in node), "")
        return said.replace("``", "").removesuffix(".")

    def expected(self) -> str:
        """What is accepted here, in words."""
        return ", or ".join(dict.fromkeys(self._in_words(branch) for branch in self.branches()))

    def places_of(self, field: str, under: Path = ()) -> Iterator[Path]:
        """Every place in the model that has a field of this name."""
        for name in self.fields():
            if name == field:
                yield (*under, name)
            shape = self.child(name)
            if shape and shape.fields():
                yield from shape.places_of(field, (*under, name))

    def _in_words(self, branch: Node) -> str:
        if words := _words(branch):
            return f"one of {', '.join(words)}" if len(words) > 1 else words[0]
        match branch.get("type"):
            case "integer":
                return "a whole number" + _bounds(branch)
            case "number":
                return "a number" + _bounds(branch)
            case "boolean":
                return "true or false"
            case "array":
                item = Shape(self.root, branch["items"]).expected()
                least = branch.get("minItems", 0)
                size = f" of at least {least}" if least > 1 else " that is not empty" if least else ""
                return f"a list{size}, each item {item}"
            case "object" if "properties" in branch:
                return f"a mapping with the fields {', '.join(branch['properties'])}"
            case "object" if isinstance(branch.get("additionalProperties"), dict):
                values = Shape(self.root, branch["additionalProperties"]).expected()
                return f"a mapping from {Shape(self.root, branch).keys().expected()} to {values}"
            case _ if "pattern" in branch:
                return f"text that matches {branch['pattern']}"
            case _:
                return "text that is not empty" if branch.get("minLength") else "text"


def _words(branch: Node) -> list[str]:
    return [str(word) for word in branch.get("enum", [branch["const"]] if "const" in branch else [])]


def _bounds(branch: Node) -> str:
    """Bounds of a number: `` from 1 to 3``, `` above 0``, `` of at least 1 and at most 8``."""
    if "minimum" in branch and "maximum" in branch:
        return f" from {branch['minimum']:g} to {branch['maximum']:g}"
    says = (("exclusiveMinimum", "above"), ("minimum", "of at least"), ("exclusiveMaximum", "below"))
    words = [f"{word} {branch[bound]:g}" for bound, word in (*says, ("maximum", "at most")) if bound in branch]
    return f" {' and '.join(words)}" if words else ""
