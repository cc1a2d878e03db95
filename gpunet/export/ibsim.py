"""InfiniBand fabrics as net files of ibsim, which simulates them for opensm and the InfiniBand diagnostics.

One file per subnet: the fabrics that share switches are one. A host has an adapter of one port for each of its ports.
The port numbers are those of a subnet manager, switch by switch. Lanes and their rate stand where ibsim looks for them,
at the end of the comment of a link; what is quoted there says which cages and which cable the link is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO

from gpunet.export import ExportError
from gpunet.export.ports import End, Ports, a_end, b_end
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Link
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted

MOST_PORTS = 254
"""Ports that the InfiniBand port number can tell apart on one switch."""

RATES = {25: "EDR", 50: "HDR", 100: "NDR", 200: "NDR"}
"""What ibsim calls a lane by its rate in Gb/s; it knows none faster than NDR, so XDR runs as that."""
SLOWEST = "SDR"


class _Line(NamedTuple):
    """One end of a link as a node's record has it."""

    port: int
    far: str
    far_port: int
    note: str
    rate: str


def files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """A net file for every InfiniBand subnet, such as ``backend.net``. Raises ``ExportError`` where there is none."""
    ports = Ports(design, catalog)
    subnets: dict[str, list[Link]] = {}
    for link in design.ledger.links:
        if ports.is_infiniband(link.a_device):
            subnets.setdefault(ports.devices[link.a_device].fabric, []).append(link)
    if not subnets:
        raise ExportError("no fabric is InfiniBand, and ibsim simulates no other")
    return {f"{name}.net": _net(name, links, ports) for name, links in subnets.items()}


def _net(name: str, links: Sequence[Link], ports: Ports) -> Callable[[Path], None]:
    nodes: dict[str, list[_Line]] = {}
    hosts: dict[str, list[_Line]] = {}
    for link in links:
        a, b = a_end(link), b_end(link)
        (a_node, a_port), (b_node, b_port) = _node(a, ports), _node(b, ports)
        note = (
            f"{link.fabric} {link.link_class} {a.label} {b.label} {float(link.speed_gbps)!r} "
            f"{link.assembly} {link.medium} {float(link.length_m)!r}"
        )
        rate = _rate(a, link.speed_gbps, ports)
        for end, node, line in (
            (a, a_node, _Line(a_port, b_node, b_port, note, rate)),
            (b, b_node, _Line(b_port, a_node, a_port, "", rate)),
        ):
            (nodes if ports.is_switch(end.device) else hosts).setdefault(node, []).append(line)
    crowded = next((node for node in nodes if ports.port_count(node) > MOST_PORTS), None)
    if crowded is not None:
        raise ExportError(f"{crowded} has {ports.port_count(crowded)} ports, and ibsim knows at most {MOST_PORTS}")
    return lambda path: _write(path, name, nodes, hosts, ports)


def _node(end: End, ports: Ports) -> tuple[str, int]:
    """The node and port that an end is in a subnet: every port of a host belongs to an adapter of its own."""
    return (end.device, ports.port_number(end)) if ports.is_switch(end.device) else (f"{end.device}:{end.label}", 1)


def _rate(end: End, speed_gbps: float, ports: Ports) -> str:
    """Lanes and their rate at an end, such as ``4xNDR``."""
    mode = ports.mode(end[:3], speed_gbps)
    return f"{mode.lanes}x{RATES.get(round(mode.lane_gbps), SLOWEST)}" if mode else f"4x{SLOWEST}"


def _write(
    path: Path, name: str, switches: Mapping[str, list[_Line]], hosts: Mapping[str, list[_Line]], ports: Ports
) -> None:
    counts = {node: ports.port_count(node) for node in switches}
    # ibsim counts the port 0 of every switch too.
    every = sum(counts.values()) + len(switches) + len(hosts)
    with path.open("w", encoding="utf-8") as stream:
        print(f"# {name}: {len(switches)} switches, {len(hosts)} host ports", file=stream)
        print(f"# ibsim -s -S {len(switches)} -N {len(switches) + len(hosts)} -P {every} {path.name}", file=stream)
        print("# Of every link, once: fabric, class, ports of switch and far end, Gb/s, piece, cable, m", file=stream)
        # The first port of the file is where a subnet manager attaches: a host's, as in real life.
        for node in hosts:
            _record(stream, "Hca", node, 1, hosts[node])
        for node, count in counts.items():
            _record(stream, "Switch", node, count, sorted(switches[node]))


def _record(stream: TextIO, kind: str, node: str, count: int, lines: Sequence[_Line]) -> None:
    print(f'\n{kind}\t{count} "{node}"', file=stream)
    for line in lines:
        print(f'[{line.port}]\t"{line.far}"[{line.far_port}]\t# "{line.note}" lid 0 {line.rate}', file=stream)


# --- back -------------------------------------------------------------------------------------------------------------

_LINE = re.compile(
    r'\[\d+\]\t"(?P<far>[^"]+)"\[\d+\]\t# "(?P<fabric>\S+) (?P<kind>\S+) (?P<a>\S+) (?P<b>\S+) (?P<gbps>\S+)'
    r' (?P<assembly>\d+) (?P<medium>\S+) (?P<length>\S+)" lid 0 \S+'
)
_SWITCH = re.compile(r'Switch\t\d+ "(?P<name>[^"]+)"')


def read_links(path: str | Path) -> list[Link]:
    """The links of a net file as ``files`` writes it, in the order of the file.

    Racks, modules, adapters and devices without a link on the subnet are not in the file. Raises ``InputError``.
    """
    return list(_links(Path(path)))


def _links(path: Path) -> Iterator[Link]:
    switch = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head = _SWITCH.fullmatch(line)
        switch = head["name"] if head else switch
        if not line.startswith("[") or '\t# "" ' in line:
            continue
        found = _LINE.fullmatch(line)
        if found is None or not switch:
            raise InputError([Problem(str(path), number, found=quoted(line), expected="a link, as gpunet writes it")])
        yield Link(
            found["fabric"],
            found["kind"],
            float(found["gbps"]),
            *_end(switch, found["a"]),
            *_end(found["far"].partition(":")[0], found["b"]),
            int(found["assembly"]),
            found["medium"],
            float(found["length"]),
        )


def _end(device: str, label: str) -> End:
    group, cage, port = label.rsplit("/", 2)
    return End(device, group, int(cage), int(port))
