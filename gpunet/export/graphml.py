"""The design as a graph in GraphML, for networkx, yEd and Gephi: devices are nodes, links are edges.

A node has the columns of its row of the ledger and the place of its rack; an edge those of its row and the modules at
both ends. The tables that are no graph stand as JSON in attributes of the graph itself, so that nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from gpunet.design_file import PLANT_TABLES, TABLES, tables_of
from gpunet.export.ports import a_end, b_end
from gpunet.export.tables import columns, ledger_of, texts, types
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem

GRAPH, NODES, EDGES = "http://graphml.graphdrawing.org/xmlns", "devices", "links"
WHOLE = tuple(name for name in TABLES if name not in (NODES, EDGES))
"""Tables that are neither nodes nor edges."""
_TYPES = {str: "string", int: "int", float: "double"}


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``network.graphml``: an undirected graph with parallel edges."""
    del catalog
    return {"network.graphml": lambda path: _write(path, design)}


def _write(path: Path, design: Design) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in _lines(design))


def _lines(design: Design) -> Iterator[str]:
    ledger = design.ledger
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{GRAPH}">'
    node_types = {**types(NODES), "x_m": float, "y_m": float}
    edge_types = {**types(EDGES), "a_module": str, "b_module": str}
    whole = [name for name in tables_of(ledger) if name not in (NODES, EDGES)]
    for domain, fields in (("graph", dict.fromkeys(whole, str)), ("node", node_types), ("edge", edge_types)):
        for field, kind in fields.items():
            name = quoteattr(field)
            yield f'<key id="{domain}-{field}" for="{domain}" attr.name={name} attr.type="{_TYPES[kind]}"/>'
    yield f'<graph id={quoteattr(design.case.name or "design")} edgedefault="undirected">'
    for name in whole:
        rows = list(zip(*columns(ledger, name).values(), strict=True))
        yield _data_of("graph")(name, json.dumps(rows, separators=(",", ":"), ensure_ascii=False))
    for device, values in zip(ledger.devices, texts(_nodes(ledger), _data_of("node")), strict=True):
        yield f"<node id={quoteattr(device.name)}>{values}</node>"
    for number, (link, values) in enumerate(zip(ledger.links, texts(_edges(ledger), _data_of("edge")), strict=True)):
        ends = f"source={quoteattr(link.a_device)} target={quoteattr(link.b_device)}"
        yield f'<edge id="{number}" {ends}>{values}</edge>'
    yield "</graph>"
    yield "</graphml>"


def _nodes(ledger: Ledger) -> dict[str, list[Any]]:
    places = {place.name: place for place in ledger.places}
    racks = [places[device.rack] for device in ledger.devices]
    where = {"x_m": [float(place.x_m) for place in racks], "y_m": [float(place.y_m) for place in racks]}
    return {**columns(ledger, NODES), **where}


def _edges(ledger: Ledger) -> dict[str, list[Any]]:
    modules = {seat[:3]: seat.part for seat in ledger.seats}
    plugs = {
        "a_module": [modules.get(a_end(link)[:3], "") for link in ledger.links],
        "b_module": [modules.get(b_end(link)[:3], "") for link in ledger.links],
    }
    return {**columns(ledger, EDGES), **plugs}


def _data_of(domain: str) -> Callable[[str, object], str]:
    return lambda field, value: f'<data key="{domain}-{field}">{escape(str(value))}</data>'


def read(path: Path) -> Ledger:
    """The ledger in a GraphML file. Raises ``InputError``."""
    import xml.etree.ElementTree as Xml

    import networkx

    try:
        graph: Any = networkx.read_graphml(path, force_multigraph=True)
    except OSError as error:
        raise InputError([Problem(str(path), message=f"cannot be read: {(error.strerror or '').lower()}")]) from None
    except (Xml.ParseError, networkx.NetworkXError, ValueError, KeyError) as error:
        raise InputError([Problem(str(path), expected="GraphML", message=str(error))]) from None
    try:
        edges = [data for *_, data in sorted(graph.edges(keys=True, data=True), key=lambda edge: int(edge[2]))]
        there = [*WHOLE, *(name for name in PLANT_TABLES if name in graph.graph)]
        tables = {name: _columns(name, json.loads(graph.graph[name])) for name in there}
        tables[NODES] = {field: [data[field] for _, data in graph.nodes(data=True)] for field in types(NODES)}
        tables[EDGES] = {field: [data[field] for data in edges] for field in types(EDGES)}
    except (KeyError, ValueError) as error:
        expected = f"a graph as gpunet export writes it, with {error}"
        raise InputError([Problem(str(path), expected=expected)]) from None
    return ledger_of(tables)


def _columns(table: str, rows: list[list[Any]]) -> dict[str, list[Any]]:
    return {field: [row[number] for row in rows] for number, field in enumerate(types(table))}
