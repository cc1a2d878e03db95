"""Quote files: reads them with every mistake told at its line, and writes them as YAML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpunet.catalogs import PART_KINDS, part_kind
from gpunet.catalogs.located_yaml import Located, check, read_yaml
from gpunet.catalogs.part_numbers import PartNumbers
from gpunet.catalogs.schema_words import nearest
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted
from gpunet.models.quote import QuoteFile

_PLAIN = re.compile(r"[A-Za-z][\w.\-]*")
_WORDS = frozenset(("true", "false", "yes", "no", "on", "off", "null", "y", "n"))


def read_quote(path: str | Path, catalog: Catalog) -> QuoteFile:
    """The quote in a file. Raises ``InputError`` with everything that is wrong with it."""
    located = read_yaml(path)
    quote, problems = check(QuoteFile, located)
    told = {problem.path for problem in problems}
    problems += [problem for problem in unknown_parts(located, catalog) if problem.path not in told]
    if quote is None or problems:
        raise InputError(problems)
    return quote


def read_quotes(located: Located, catalog: Catalog, folder: Path) -> tuple[dict[int, QuoteFile], list[Problem]]:
    """The quote files that a case names in ``quotes``, by their place in the list, and what is wrong with them and with
    quotes that are written out there."""
    data = located.data.get("quotes") if isinstance(located.data, dict) else None
    found: dict[int, QuoteFile] = {}
    problems: list[Problem] = []
    for index, entry in enumerate(data if isinstance(data, list) else ()):
        if isinstance(entry, str):
            path = folder / entry
            if not entry or not _is_file(path):
                beside = [file.relative_to(folder).as_posix() for file in sorted(path.parent.glob("*.y*ml"))]
                expected = f"the name of a quote file, from the folder {str(folder)!r} on"
                near = nearest(entry, beside)
                problems.append(located.problem(("quotes", index), expected=expected, nearest=near))
                continue
            try:
                found[index] = read_quote(path, catalog)
            except InputError as error:
                problems += error.problems
        else:
            _, wrong = check(QuoteFile, located, ("quotes", index))
            told = {problem.path for problem in wrong}
            unknown = unknown_parts(located, catalog, ("quotes", index))
            problems += [*wrong, *(problem for problem in unknown if problem.path not in told)]
    return found, problems


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def unknown_parts(located: Located, catalog: Catalog, prefix: tuple[str | int, ...] = ()) -> Iterator[Problem]:
    """Lines of a quote, which stands at ``prefix``, whose part is none that can be bought."""
    quote = located.at(prefix)
    lines = quote.get("lines") if isinstance(quote, dict) else None
    numbers: PartNumbers | None = None
    for index, line in enumerate(lines if isinstance(lines, list) else ()):
        part = line.get("part") if isinstance(line, dict) else None
        if not isinstance(part, str) or _is_sold(catalog, part):
            continue
        numbers = numbers or PartNumbers(catalog)
        found = numbers.find(part)
        yield located.problem(
            (*prefix, "lines", index, "part"),
            found=quoted(part),
            expected=f"an id of the catalogue ({', '.join(PART_KINDS)}), for a cable or fibre with its length",
            nearest=found.part or ", ".join(found.nearest),
        )


def _is_sold(catalog: Catalog, part: str) -> bool:
    """Whether a part is one that a quote can name: a cable or fibre comes in a length."""
    return part_kind(catalog, part) is not None and part not in catalog.cables and part not in catalog.fibres


def write_quote(quote: QuoteFile) -> str:
    """A quote as a YAML file that ``read_quote`` reads back to the same quote."""
    head = quote.model_dump(mode="json", exclude_defaults=True, exclude={"lines", "unmatched"})
    head.setdefault("currency", quote.currency)
    text = [f"# Quote of {quote.title}, made by gpunet quote import." if quote.title.isprintable() else "# Quote"]
    text += [f"{name}: {_scalar(head[name])}" for name in QuoteFile.model_fields if name in head]
    text += ["lines:", *(f"- {_flow(line.model_dump(mode='json', exclude_defaults=True))}" for line in quote.lines)]
    if quote.unmatched:
        text.append("# None of these is a part of the catalogue. They price nothing.")
        rows = (line.model_dump(mode="json", exclude_defaults=True) for line in quote.unmatched)
        text += ["unmatched:", *(f"- {_flow(row)}" for row in rows)]
    return "\n".join(text) + "\n"


def _flow(data: object) -> str:
    match data:
        case Mapping():
            return "{" + ", ".join(f"{name}: {_flow(value)}" for name, value in data.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, data)) + "]"
        case _:
            return _scalar(data)


def _scalar(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.casefold() not in _WORDS:
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False)


def overrides_of(quote: QuoteFile) -> str:
    """The prices of a quote as a piece of a case file, for those who would rather keep them there."""
    end = f", valid until {quote.valid_until}" if quote.valid_until else ""
    dated = f", {quote.date}" if quote.date else ""
    rows = [f"    {line.part}: {_scalar(line.unit_usd)}" for line in quote.lines]
    return "\n".join([f"# Quoted by {quote.title}{dated}{end}", "prices:", "  overrides_usd:", *rows]) + "\n"
