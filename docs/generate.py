"""Writes the parts of these pages that follow from the code: ``make docs``.

A page marks each such part with ``<!-- generated: name -->`` and ``<!-- end -->``. A test fails when a page is behind.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_args

from typer.main import get_command

from gpunet import cli
from gpunet.catalogs.load import FILES
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
    makers: dict[str, Callable[[str], str]] = {
        "case": case_table,
        "result": result_table,
        "program": program_part,
        "catalogue": catalogue_part,
        "commands": commands_part,
        "thumb": thumb_part,
    }
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
        # What several fabrics have alike stands once, as ``fabrics.*.lossless``.
        for step in part.replace("*", "backend").split("."):
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


def program_part(what: str) -> str:
    """``symbols``, ``families`` or ``code`` of the mixed-integer program, from its docstrings and its functions."""
    if what == "symbols":
        paragraphs = (program.__doc__ or "").strip().split("\n\n")
        return "\n\n".join(f"```text\n{p}\n```" if "[" in p else _prose(p) for p in paragraphs[1:]) + "\n"
    if what == "code":
        return "\n".join(map(_side_by_side, program.FAMILIES))
    return _table(("equation", "name", "setting", "function"), (_family(family) for family in program.FAMILIES))


def _family(family: program.Family) -> tuple[str, ...]:
    said, maths = (family.build.__doc__ or "").strip().split("\n\n", 1)
    equations = (f"`{re.sub(' +', ' ', line.strip())}`" for line in maths.strip().splitlines())
    settings = _settings(family) if family.setting else "physics"
    return f"{_prose(said)}<br>{'<br>'.join(equations)}", f"`{family.name}`", settings, f"`{family.build.__name__}`"


def _side_by_side(family: program.Family) -> str:
    """A family in words and mathematics, and the function that builds it without its docstring."""
    said, maths = (family.build.__doc__ or "").strip().split("\n\n", 1)
    setting = f"Setting: {_settings(family)}." if family.setting else "Physics: no setting lifts it."
    return (
        f"## `{family.name}`\n\n{_prose(said)} {setting}\n\n"
        f'<div class="side" markdown>\n\n```text\n{inspect.cleandoc(maths)}\n```\n\n'
        f"```python\n{_code(family.build)}```\n\n</div>\n"
    )


def _settings(family: program.Family) -> str:
    return ", ".join(f"`{setting}`" for setting in family.setting.split(", "))


def _code(function: Callable[..., Any]) -> str:
    """The text of a function, docstring left out."""
    source = inspect.getsource(function)
    body = ast.parse(source).body[0]
    if not isinstance(body, ast.FunctionDef):
        raise TypeError(f"{function} is no plain function")
    docstring = body.body[0]
    lines = source.splitlines(keepends=True)
    return "".join([*lines[: docstring.lineno - 1], *lines[docstring.end_lineno :]])


# --- the catalogue ----------------------------------------------------------------------------------------------------


def catalogue_part(what: str) -> str:
    """``files``: the fields of every file of the catalogue; ``within``: those of the things in an entry."""
    entries = {kind.model: f"{stem}.yaml" for stem, kind in FILES.items()}
    if what == "files":
        return "\n".join(_model_section(f"`{file}`", model) for model, file in entries.items())
    inner: dict[type[Strict], None] = {}
    for model in entries:
        inner |= dict.fromkeys(_models_within(model))
    return "\n".join(_model_section(f"`{model.__name__}`", model) for model in inner if model not in entries)


def _models_within(model: type[Strict]) -> Iterator[type[Strict]]:
    for info in model.model_fields.values():
        for found in _classes(info.annotation):
            yield found
            yield from _models_within(found)


def _classes(hint: object) -> Iterator[type[Strict]]:
    if isinstance(hint, type) and issubclass(hint, Strict):
        yield hint
    for inner in get_args(hint):
        yield from _classes(inner)


def _model_section(title: str, model: type[Strict]) -> str:
    schema = model.model_json_schema()
    rows = (
        (
            f"`{name}`",
            _link_to_models(schema, field) or _takes(schema, field),
            "needed" if name in schema.get("required", ()) else _default(field.get("default")),
            _prose(field.get("description", "")),
        )
        for name, field in schema["properties"].items()
        if name != "id"
    )
    says = _prose((model.__doc__ or "").strip())
    return f"### {title}\n\n{says}\n\n{_table(('field', 'takes', 'default', 'meaning'), rows)}"


def _link_to_models(schema: Schema, field: Schema) -> str:
    """For a field that holds things with fields of their own, where these stand on the page."""
    found = _model(schema, field)
    if "properties" not in found:
        return ""
    name = found["title"]
    link = f"[`{name}`](#{name.lower()})"
    listed = any(option.get("type") == "array" for option in (field, *field.get("anyOf", ())))
    return f"list of {link}" if listed else link


# --- the commands -----------------------------------------------------------------------------------------------------


def commands_part(what: str) -> str:
    """``all``: every command as its help has it."""
    del what
    return "\n".join(_command_section(name, command) for name, command in commands())


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with the words that call it; those that only hold others are left out."""
    root: Any = get_command(cli.app)
    waiting = [("gpunet", root)]
    while waiting:
        name, command = waiting.pop(0)
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            waiting[:0] = [(f"{name} {word}", one) for word, one in inner.items()]


def _command_section(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    rows = ((f"`{words}`", _prose(meaning)) for words, meaning in records if words != "--help")
    epilog = inspect.cleandoc((command.epilog or "").replace("\b", "")).strip()
    shown = f"\n```text\n{epilog}\n```\n" if epilog else ""
    return (
        f"## {name}\n\n{inspect.cleandoc(command.help)}\n\n```text\n{usage}\n```\n\n"
        f"{_table(('argument or option', 'meaning'), rows)}{shown}"
    )


# --- rules of thumb ---------------------------------------------------------------------------------------------------


def thumb_part(rule: str) -> str:
    """A rule of thumb beside computed optima: a table, and what it comes to."""
    head, rows, said = getattr(_beside("rules_of_thumb"), rule)()
    return f"{_table(head, iter(rows))}\n{said}\n"


def _beside(name: str) -> Any:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> Iterator[tuple[Path, str, str]]:
    """Every page that has generated parts: where, what it says, and what it should say."""
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if _BLOCK.search(text):
            yield path, text, page(text)


if __name__ == "__main__":
    for path, _, wanted in pages():
        path.write_text(wanted, encoding="utf-8")
