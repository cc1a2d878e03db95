"""Writes the parts of these pages that follow from the code: ``make docs``.

A page marks each such part with ``<!-- generated: name -->`` and ``<!-- end -->``. A test fails when a page is behind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpunet.models import design
from gpunet.models.base import Strict
from gpunet.models.case import Case, FabricBase
from gpunet.solver import program

DOCS = Path(__file__).parent
_BLOCK = re.compile(r"(<!-- generated: (?P<name>[\w.*-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

Schema = dict[str, Any]


def page(text: str) -> str:
    """A page with every generated part made anew."""
    return _BLOCK.sub(lambda found: f"{found[1]}{_make(found['name'])}{found[3]}", text)


def _make(name: str) -> str:
    kind, _, what = name.partition(".")
    makers: dict[str, Callable[[str], str]] = {"case": case_table, "result": result_table, "program": program_table}
    return f"\n{makers[kind](what)}\n"


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _prose(text: str) -> str:
    """A docstring in Markdown."""
    return " ".join(text.replace("``", "`").split())


# --- the case file ----------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """One setting of a case."""

    path: str
    takes: str
    default: str
    meaning: str


def case_fields(part: str) -> Iterator[Field]:
    """The settings of one part of the case: ``case`` for the top, ``fabrics.*`` for what all fabrics have in common.

    A fabric lists what it has of its own and what starts from another default.
    """
    schema = Case.model_json_schema()
    common = FabricBase.model_json_schema()
    if part == "case":
        node, prefix = schema, ""
    elif part == "fabrics.*":
        schema = node = common
        prefix = f"{part}."
    else:
        node, prefix = schema, f"{part}."
        for step in part.split("."):
            node = _model(schema, node["properties"][step])
    inherited = common["properties"] if part.startswith("fabrics.") and part != "fabrics.*" else {}
    for name, field in node["properties"].items():
        inner = _model(schema, field).get("properties", {})
        if inner and "allow" not in inner:
            # It has a section of its own.
            continue
        same = name in inherited and inherited[name].get("default") == field.get("default")
        if not same:
            needed = name in node.get("required", ())
            default = "needed" if needed else _default(field.get("default"))
            yield Field(f"{prefix}{name}", _takes(schema, field), default, _prose(field.get("description", "")))


def case_table(part: str) -> str:
    """The table of ``case_fields``."""
    rows = ((f"`{f.path}`", f.takes, f.default, f.meaning) for f in case_fields(part))
    return _table(("field", "takes", "default", "meaning"), rows)


def _model(schema: Schema, field: Schema) -> Schema:
    """What a field refers to, by itself or in a list; the field itself where it refers to nothing."""
    for option in (field, *field.get("anyOf", ()), field.get("items", {})):
        if "$ref" in option:
            found: Schema = schema["$defs"][option["$ref"].rsplit("/", 1)[1]]
            return found
    return field


def _default(value: object) -> str:
    match value:
        case None | [] | {} | "" | {"allow": [], "deny": []}:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"`{value:g}`"
        case list():
            return f"`[{', '.join(map(str, value))}]`"
        case dict():
            return f"`{{{', '.join(f'{key}: {item}' for key, item in value.items())}}}`"
        case _:
            return f"`{value}`"


def _takes(schema: Schema, field: Schema) -> str:
    """What a field takes, in words."""
    if "anyOf" in field:
        return " or ".join(_takes(schema, option) for option in field["anyOf"] if option.get("type") != "null")
    found = field if field.get("type") == "array" else _model(schema, field)
    if "enum" in found:
        return ", ".join(f"`{word}`" for word in found["enum"])
    match found.get("type"):
        case "integer" | "number":
            return ("whole number" if found["type"] == "integer" else "number") + _range(found)
        case "boolean":
            return "`true` or `false`"
        case "array":
            return f"list of {_takes(schema, found['items'])}"
        case "object" if "allow" in found.get("properties", {}):
            return "`allow` and `deny`: lists of part ids, `vendor:*`, `kind:*`"
        case "object" if "properties" in found:
            return ", ".join(f"`{name}`" for name in found["properties"])
        case "object":
            keys = f"each of {_takes(schema, found['propertyNames'])}" if "propertyNames" in found else "name"
            return f"mapping: {keys} to {_takes(schema, found['additionalProperties'])}"
        case _:
            return "text"


def _range(found: Schema) -> str:
    ends = (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
    return "".join(f" {word} {found[key]:g}" for key, word in ends if key in found)


# --- the result -------------------------------------------------------------------------------------------------------


def result_table(model: str) -> str:
    """Fields of one class of the result."""
    fields: type[Strict] = getattr(design, model)
    rows = ((f"`{name}`", _prose(info.description or "")) for name, info in fields.model_fields.items())
    return _table(("field", "meaning"), rows)


# --- the program ------------------------------------------------------------------------------------------------------


def program_table(what: str) -> str:
    """``symbols`` or ``families`` of the mixed-integer program, from its docstrings."""
    if what == "symbols":
        paragraphs = (program.__doc__ or "").strip().split("\n\n")
        return "\n\n".join(f"```text\n{p}\n```" if "[" in p else _prose(p) for p in paragraphs[1:]) + "\n"
    return _table(("equation", "name", "setting", "function"), (_family(family) for family in program.FAMILIES))


def _family(family: program.Family) -> tuple[str, ...]:
    said, maths = (family.build.__doc__ or "").strip().split("\n\n", 1)
    equations = (f"`{re.sub(' +', ' ', line.strip())}`" for line in maths.strip().splitlines())
    settings = ", ".join(f"`{setting}`" for setting in family.setting.split(", ")) if family.setting else "physics"
    return f"{_prose(said)}<br>{'<br>'.join(equations)}", f"`{family.name}`", settings, f"`{family.build.__name__}`"


def pages() -> Iterator[tuple[Path, str, str]]:
    """Every page that has generated parts: where, what it says, and what it should say."""
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if _BLOCK.search(text):
            yield path, text, page(text)


if __name__ == "__main__":
    for path, _, wanted in pages():
        path.write_text(wanted, encoding="utf-8")
