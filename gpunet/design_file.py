"""The design file: a result with its case and its ledger, as JSON that any program can read.

The fields of the result stand at the top level, as the contract has them; ``case_file`` is the whole case, and
``ledger`` holds one table per kind of row: ``{"columns": [...], "rows": [[...], ...]}``, one row to a line.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, NoReturn, get_type_hints

from gpunet.case_file import case_from_data
from gpunet.catalogs.located_yaml import Located, check
from gpunet.catalogs.schema_words import nearest
from gpunet.models.case import Case
from gpunet.models.design import Design, Result
from gpunet.models.ledger import Adapter, Channel, Device, Ledger, Link, Panel, RackPlace, Seat
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted

CASE, LEDGER = "case_file", "ledger"
TABLES: dict[str, Any] = {"places": RackPlace, "devices": Device, "adapters": Adapter, "seats": Seat, "links": Link}
"""Tables of the ledger and the row each holds."""
PLANT_TABLES: dict[str, Any] = {"panels": Panel, "channels": Channel}
"""Tables that only a design with panels has."""
EVERY_TABLE = {**TABLES, **PLANT_TABLES}
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
LARGEST = 10**9
"""No count, port, length or speed of a design is larger."""
MOST_NAMED = 5
"""Problems of one kind that are listed for one table; the rest are counted."""
MOST_COMPARED = 2_000
"""Names among which the nearest is looked for; among more, it takes longer than it helps."""


def tables_of(ledger: Ledger) -> dict[str, Any]:
    """The tables that a ledger fills, and the row each holds: those of panels only where there are any."""
    return {name: row for name, row in EVERY_TABLE.items() if name in TABLES or getattr(ledger, name)}


def write_design(design: Design) -> str:
    """The design file. Equal designs give equal bytes: ``seconds`` says how long one run took, so it is left at 0."""
    head = json.dumps(
        {
            **design.result.model_dump(mode="json"),
            "seconds": 0.0,
            CASE: design.case.model_dump(mode="json", exclude_none=True),
        },
        indent=2,
        ensure_ascii=False,
    )
    tables = []
    for name, row in tables_of(design.ledger).items():
        rows = ",\n".join(_lines(getattr(design.ledger, name)))
        tables.append(f'"{name}": {{"columns": {_encode(row._fields)}, "rows": [\n{rows}\n]}}')
    ledger = ",\n".join(tables)
    return f'{head.removesuffix("}").rstrip()},\n  "{LEDGER}": {{\n{ledger}\n}}}}\n'


class _Words(dict[Any, str]):
    """The JSON of a value, made once: the few values of a column stand in half a million rows."""

    def __missing__(self, value: Any) -> str:
        text = self[value] = _encode(value)
        return text


def _lines(rows: list[Any]) -> Iterator[str]:
    words = [map(_Words().__getitem__, column) for column in zip(*rows, strict=True)]
    return (f"[{','.join(cells)}]" for cells in zip(*words, strict=True))


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """No search for reference cycles: millions of plain values hold none, and the search takes longer than reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_collection()
def read_design(path: str | FilePath, catalog: Catalog) -> Design:
    """The design in a file.

    Raises ``InputError`` for whatever keeps the file from being a design: it cannot be read, is no JSON, lacks a
    table, holds a value of the wrong kind, or names a part, device or rack that does not exist. Whether the design
    holds is not judged here: that is ``verify``.
    """
    file = str(path)
    data = _object(file)
    problems: list[Problem] = []
    for field in (CASE, LEDGER):
        if not isinstance(data.get(field), dict):
            found = "nothing" if field not in data else _kind(data[field])
            problems.append(Problem(file, path=field, found=found, expected="an object, as gpunet writes it"))
    if problems:
        raise InputError(problems)
    head = {k: v for k, v in data.items() if k not in (CASE, LEDGER)}
    if any("\ud800" <= mark <= "\udfff" for mark in json.dumps(head, ensure_ascii=False)):
        raise InputError([Problem(file, found="half of a character (a lone surrogate)", expected="text in Unicode")])
    result, wrong = check(Result, Located(file, head))
    problems += wrong
    case = _case(file, data[CASE], catalog, problems)
    ledger = Ledger()
    plant = {name: row for name, row in PLANT_TABLES.items() if name in data[LEDGER]}
    for name, row in {**TABLES, **plant}.items():
        found_rows, wrong = _table(file, name, row, data[LEDGER].get(name))
        setattr(ledger, name, found_rows)
        problems += wrong
    for name in data[LEDGER]:
        if name not in EVERY_TABLE:
            known = ", ".join(EVERY_TABLE)
            problems.append(
                Problem(file, path=f"{LEDGER}.{name}", found="an unknown table", expected=f"one of {known}")
            )
    if not problems:
        problems += _references(file, ledger, catalog)
    if problems or result is None or case is None:
        raise InputError(problems)
    return Design(case, result, ledger)


def _object(file: str) -> dict[str, Any]:
    """The file as a JSON object."""
    try:
        text = FilePath(file).read_bytes().decode("utf-8-sig")
        data = json.loads(text, parse_constant=_no_number)
    except FileNotFoundError:
        _refuse(file, message="no such file")
    except IsADirectoryError:
        _refuse(file, found="a directory", expected="a design file (JSON)")
    except OSError as error:
        _refuse(file, message=f"cannot be read: {error.strerror}")
    except UnicodeDecodeError as error:
        _refuse(file, found=f"the byte 0x{error.object[error.start]:02x}", expected="text in UTF-8")
    except json.JSONDecodeError as error:
        raise InputError(
            [Problem(file, error.lineno, error.colno, expected="a design file (JSON)", message=error.msg)]
        ) from None
    except RecursionError:
        _refuse(file, found="data nested too deep", expected="a design file (JSON)")
    except ValueError as error:
        _refuse(file, expected="a design file (JSON)", message=str(error))
    if not isinstance(data, dict):
        _refuse(file, found=_kind(data), expected="a design file: an object with the result, its case and its ledger")
    return data


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _refuse(file: str, **says: str) -> NoReturn:
    raise InputError([Problem(file, **says)]) from None  # type: ignore[arg-type]


def _case(file: str, data: dict[str, Any], catalog: Catalog, problems: list[Problem]) -> Case | None:
    try:
        case = case_from_data(data, catalog, file)
    except InputError as error:
        problems += (replace(p, path=f"{CASE}.{p.path}" if p.path else CASE) for p in error.problems)
        return None
    # A case without a name is named after the file it stands in, and this file is not that.
    return case if data.get("name") else case.model_copy(update={"name": ""})


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(file: str, name: str, row: Any, data: object) -> tuple[list[Any], list[Problem]]:
    """The rows of one table, and what is wrong with them; no rows where anything is."""
    place = f"{LEDGER}.{name}"
    if not isinstance(data, dict):
        found = "nothing" if data is None else _kind(data)
        return [], [Problem(file, path=place, found=found, expected="an object with columns and rows")]
    fields = list(row._fields)
    if data.get("columns") != fields:
        return [], [Problem(file, path=f"{place}.columns", found=_shown(data.get("columns")), expected=_shown(fields))]
    rows = data.get("rows")
    if not isinstance(rows, list):
        found = "nothing" if rows is None else _kind(rows)
        return [], [Problem(file, path=f"{place}.rows", found=found, expected="a list of rows")]
    wrong = [i for i, r in enumerate(rows) if type(r) is not list or len(r) != len(fields)]
    if wrong:

        def shape(i: int) -> Problem:
            found = f"{len(rows[i])} values" if isinstance(rows[i], list) else _kind(rows[i])
            return Problem(file, path=f"{place}.rows[{i}]", found=found, expected=f"a list of {len(fields)} values")

        return [], list(_some(file, place, wrong, shape))
    problems: list[Problem] = []
    hints = get_type_hints(row)
    columns = list(zip(*rows, strict=True)) if rows else []
    for number, column in enumerate(columns):
        problems += _column(file, place, fields[number], hints[fields[number]], column)
    return ([], problems) if problems else (list(map(row._make, rows)), [])


def _column(file: str, place: str, field: str, wanted: type, column: Sequence[Any]) -> Iterator[Problem]:
    """Values of a column that are of the wrong kind or out of any range."""
    allowed = {float, int} if wanted is float else {wanted}
    expected = {
        str: "printable text",
        int: f"a whole number of at most {LARGEST:,}",
        float: f"a number of at most {LARGEST:,}",
    }[wanted]

    def holds(value: Any) -> bool:
        if type(value) not in allowed:
            return False
        return value.isprintable() if wanted is str else math.isfinite(value) and abs(value) <= LARGEST

    # A column of half a million rows holds few different values of the right kind.
    if set(map(type, column)) <= allowed and all(map(holds, set(column))):
        return
    wrong = [i for i, value in enumerate(column) if not holds(value)]
    yield from _some(
        file,
        place,
        wrong,
        lambda i: Problem(file, path=f"{place}.rows[{i}].{field}", found=_shown(column[i]), expected=expected),
    )


def _some(file: str, place: str, rows: Sequence[int], words: Callable[[int], Problem]) -> Iterator[Problem]:
    """Problems of the first rows, and how many more there are."""
    yield from map(words, rows[:MOST_NAMED])
    if len(rows) > MOST_NAMED:
        yield Problem(file, path=place, message=f"{len(rows) - MOST_NAMED:,} more rows have the same problem")


# --- references -------------------------------------------------------------------------------------------------------


def _references(file: str, ledger: Ledger, catalog: Catalog) -> Iterator[Problem]:
    """Names in the tables that stand for nothing."""
    devices = {d.name for d in ledger.devices}
    places = {p.name for p in ledger.places}
    bought = {
        "switch": set(catalog.switches),
        "server": set(catalog.servers),
        "storage-server": set(catalog.nics),
        "reserved": set(catalog.nics) | set(catalog.servers),
        "pdu": {""},
    }
    yield from _unknown(file, "devices", "kind", (d.kind for d in ledger.devices), set(bought), "kind of device")
    for kind, parts in bought.items():
        names = [d.part if d.kind == kind else None for d in ledger.devices]
        yield from _unknown(file, "devices", "part", names, parts, f"{kind} of the catalogue")
    yield from _unknown(file, "devices", "rack", (d.rack for d in ledger.devices), places, "rack place")
    yield from _unknown(file, "adapters", "device", (a.device for a in ledger.adapters), devices, "device")
    yield from _unknown(file, "adapters", "part", (a.part for a in ledger.adapters), set(catalog.nics), "NIC")
    yield from _unknown(file, "seats", "device", (s.device for s in ledger.seats), devices, "device")
    yield from _unknown(file, "seats", "part", (s.part for s in ledger.seats), set(catalog.modules), "module")
    yield from _unknown(file, "panels", "rack", (p.rack for p in ledger.panels), places, "rack place")
    yield from _unknown(file, "links", "a_device", (x.a_device for x in ledger.links), devices, "device")
    yield from _unknown(file, "links", "b_device", (x.b_device for x in ledger.links), devices, "device")


def _unknown(
    file: str, table: str, field: str, names: Iterable[str | None], known: set[str], what: str
) -> Iterator[Problem]:
    listed = list(names)
    if set(listed) - {None} <= known:
        return
    rows = [i for i, name in enumerate(listed) if name is not None and name not in known]

    def words(i: int) -> Problem:
        name = listed[i] or ""
        near = nearest(name, known) if len(known) <= MOST_COMPARED else ""
        place = f"{LEDGER}.{table}.rows[{i}].{field}"
        return Problem(file, path=place, found=quoted(name), expected=f"a {what} that exists", nearest=near)

    yield from _some(file, f"{LEDGER}.{table}", rows, words)


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else quoted(json.dumps(value, ensure_ascii=False))[1:-1]
