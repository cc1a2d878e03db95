"""The design as a DOT graph: what Graphviz reads, and network simulators that take their topology in DOT.

``"leaf-1":"swp3s0" -- "server-2":"rail1"`` is a link between two ports, the upper first, so that a drawing has its
spines on top. Columns of the ledger stand as attributes, and the tables that are no graph as comments, so that nothing
is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gpunet.design_file import EVERY_TABLE, PLANT_TABLES
from gpunet.export import ExportError
from gpunet.export.graphml import EDGES, NODES, WHOLE
from gpunet.export.ports import Ports, a_end, b_end
from gpunet.export.tables import columns, ledger_of, texts, types
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Device, Ledger
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted

ROLES = {"leaf": "leaf", "spine": "spine", "core": "super_spine"}
"""Tiers in the words of those who simulate networks from DOT; anything but a switch is a host."""
RUNS = {"nvidia": "cumulus"}
"""Operating system of an Ethernet switch by its vendor, where simulators know it by that name."""
BACKSLASH = "\\"
ENDPOINT = "endpoint-leaf"
"""Class of the links whose a-end, the leaf, is above its b-end."""
ENDS = ("a_device", "b_device")
WRITTEN_OUT = (*WHOLE, *PLANT_TABLES)
"""Tables that stand as comments, a line for every row."""


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``network.dot``: an undirected graph, a line for every device and every link."""
    return {"network.dot": lambda path: _write(path, design, catalog)}


def _write(path: Path, design: Design, catalog: Catalog) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in _lines(design, catalog))


def _lines(design: Design, catalog: Catalog) -> Iterator[str]:
    ports = Ports(design, catalog)
    yield f"graph {_quote((design.case.name or 'design').replace(BACKSLASH, '/'))} {{"
    for table in WRITTEN_OUT:
        for row in zip(*columns(design.ledger, table).values(), strict=True):
            yield f"// {table} {json.dumps(row, separators=(',', ':'), ensure_ascii=False)}"
    for device, values in zip(design.ledger.devices, texts(columns(design.ledger, NODES), _attribute), strict=True):
        given = {"label": device.name, "role": ROLES.get(device.tier, "host"), **_system(device, catalog)}
        drawn = "".join(_attribute(field, value) for field, value in given.items())
        yield f"{_quote(device.name)} [{drawn}{values}]"
    rest = {field: values for field, values in columns(design.ledger, EDGES).items() if field not in ENDS}
    for link, values in zip(design.ledger.links, texts(rest, _attribute), strict=True):
        a, b = (f"{_quote(end.device)}:{_quote(ports.name(end))}" for end in (a_end(link), b_end(link)))
        ends = f"{a} -- {b}" if link.link_class == ENDPOINT else f"{b} -- {a}"
        yield f"{ends} [{values}]"
    yield "}"


def _system(device: Device, catalog: Catalog) -> dict[str, str]:
    switch = catalog.switches.get(device.part) if device.kind == "switch" else None
    if switch is None or switch.protocol.value != "ethernet" or switch.vendor not in RUNS:
        return {}
    return {"os": RUNS[switch.vendor]}


def _attribute(field: str, value: object) -> str:
    return f"{field}={_quote(str(value))} "


def _quote(text: str) -> str:
    """Text in quotes. Raises ``ExportError`` for a backslash, which DOT cannot tell from one that escapes a quote."""
    if BACKSLASH in text:
        raise ExportError(f"a backslash as in {text!r} has no place in DOT")
    return '"' + text.replace('"', '\\"') + '"'


# --- back -------------------------------------------------------------------------------------------------------------

_TEXT = r'"((?:[^"\\]|\\.)*)"'
_COMMENT = re.compile(rf"// ({'|'.join(WRITTEN_OUT)}) (\[.*\])")
_NODE = re.compile(rf"{_TEXT} \[(.*)\]")
_EDGE = re.compile(rf"{_TEXT}:{_TEXT} -- {_TEXT}:{_TEXT} \[(.*)\]")
_ATTRIBUTE = re.compile(rf"(\w+)={_TEXT}")


def read(path: Path) -> Ledger:
    """The ledger in a DOT file as ``files`` writes it, line by line; of another's DOT it knows nothing.

    Raises ``InputError``.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError([Problem(str(path), message=f"cannot be read: {(error.strerror or '').lower()}")]) from None
    rows: dict[str, list[list[Any]]] = {table: [] for table in EVERY_TABLE}
    for number, line in enumerate(text.splitlines(), 1):
        try:
            _take(line, rows)
        except (KeyError, ValueError):
            found = Problem(str(path), number, found=quoted(line), expected="a line as gpunet export writes it")
            raise InputError([found]) from None
    whole = {
        table: {field: [row[at] for row in rows[table]] for at, field in enumerate(types(table))}
        for table in EVERY_TABLE
    }
    return ledger_of(whole)


def _take(line: str, rows: Mapping[str, list[list[Any]]]) -> None:
    """Add what a line says. Raises ``KeyError`` or ``ValueError`` for one that says nothing known."""
    if found := _COMMENT.fullmatch(line):
        rows[found[1]].append(json.loads(found[2]))
    elif found := _EDGE.fullmatch(line):
        given = _given(found[5])
        upper, lower = _plain(found[1]), _plain(found[3])
        given |= zip(ENDS, (upper, lower) if given["link_class"] == ENDPOINT else (lower, upper), strict=True)
        rows[EDGES].append([kind(given[field]) for field, kind in types(EDGES).items()])
    elif found := _NODE.fullmatch(line):
        given = _given(found[2])
        rows[NODES].append([kind(given[field]) for field, kind in types(NODES).items()])
    elif not (line == "}" or (line.startswith("graph ") and line.endswith("{"))):
        raise ValueError(line)


def _given(text: str) -> dict[str, str]:
    return {name: _plain(value) for name, value in _ATTRIBUTE.findall(text)}


def _plain(text: str) -> str:
    return text.replace('\\"', '"')
