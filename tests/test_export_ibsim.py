"""InfiniBand exports in the real consumers: ibsim simulates a fabric, opensm routes it, the diagnostics look at it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fabric_simulator import Simulation, Wire, simulated
from sample_design import converged, hand_catalog, two_by_two, two_pods, with_links

from gpunet.case_file import read_case
from gpunet.catalogs import load_catalog
from gpunet.export import ExportError, export, read_back
from gpunet.export.ibsim import read_links
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.ledger import Link
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError
from gpunet.solver.optimize import optimize

CASES = Path(__file__).parent.parent / "cases"
PORTS_PER_CAGE = 2
"""Of every switch in these tests: twin-port cages."""


def large(case: dict[str, object]) -> tuple[Design, Catalog]:
    catalog = load_catalog()
    return optimize(Case.model_validate(case), catalog), catalog


def h100() -> tuple[Design, Catalog]:
    """128 hosts under two tiers of 64-port switches."""
    fabrics = {"backend": {"protocols": ["infiniband"], "parts": {"allow": ["ib-qm9700"]}}}
    return large({"cluster": {"gpus": 128, "server": "dgx-h100"}, "fabrics": fabrics})


def xdr() -> tuple[Design, Catalog]:
    """144-port switches."""
    fabrics = {"backend": {"protocols": ["infiniband"], "parts": {"allow": ["ib-q3400"]}}}
    return large({"cluster": {"gpus": 192, "server": "dgx-b300"}, "fabrics": fabrics})


def shared() -> tuple[Design, Catalog]:
    """Storage on the switches of the backend."""
    catalog = load_catalog()
    return optimize(read_case(CASES / "storage-512-converged.yaml", catalog), catalog), catalog


DESIGNS = {
    "two-tiers": (lambda: (two_by_two(), hand_catalog()), 2),
    "three-tiers": (lambda: (two_pods(), hand_catalog()), 3),
    "converged": (shared, 2),
    "h100": (h100, 2),
    "xdr": (xdr, 2),
}
"""Designs with the tiers of their backend."""


class Subject:
    """A design on the simulator."""

    def __init__(self, design: Design, catalog: Catalog, tiers: int, net: Path, simulation: Simulation) -> None:
        self.tiers, self.net, self.simulation = tiers, net, simulation
        protocols = {d.name: catalog.switches[d.part].protocol for d in design.ledger.devices if d.kind == "switch"}
        self.links = [link for link in design.ledger.links if protocols[link.a_device].value == "infiniband"]
        self.switches = {link.a_device for link in self.links}
        self.switches |= {link.b_device for link in self.links if link.link_class != "endpoint-leaf"}
        self.ports = {
            PORTS_PER_CAGE * sum(group.count for group in catalog.switches[d.part].cages if group.fabric)
            for d in design.ledger.devices
            if d.name in self.switches
        }
        self.log = simulation.routed()


@pytest.fixture(scope="module", params=DESIGNS)
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subject]:
    make, tiers = DESIGNS[request.param]
    design, catalog = make()
    folder = tmp_path_factory.mktemp(request.param)
    (net,) = write_all(folder / "nets", export(design, catalog, "ibsim"))
    with simulated(net, folder) as simulation:
        yield Subject(design, catalog, tiers, net, simulation)
    shutil.rmtree(folder)


def node(device: str, group: str, cage: int, port: int, switch: bool) -> tuple[str, int]:
    return (device, (cage - 1) * PORTS_PER_CAGE + port) if switch else (f"{device}:{group}/{cage}/{port}", 1)


def wire(link: Link) -> Wire:
    """The two ports of a link on the subnet, worked out here by hand."""
    a = node(link.a_device, link.a_group, link.a_cage, link.a_port, switch=True)
    b = node(link.b_device, link.b_group, link.b_cage, link.b_port, switch=link.link_class != "endpoint-leaf")
    return frozenset({a, b})


def test_opensm_finds_a_fat_tree_of_the_right_rank(subject: Subject) -> None:
    """opensm takes the fabric for the fat-tree it is, with as many ranks as tiers, and has nothing to complain of."""
    assert f"FatTree rank (roots to leaf switches): {subject.tiers}" in subject.log
    hosts = sum(link.link_class == "endpoint-leaf" for link in subject.links)
    assert f"Fabric has {hosts} CAs, {hosts} CA ports ({hosts} of them CNs), {len(subject.switches)} switches" in (
        subject.log
    )
    assert "ftree tables configured on all switches" in subject.log
    assert "SUBNET UP" in subject.log
    assert "ERR" not in subject.log


def test_diagnostics_see_every_link_and_no_other(subject: Subject) -> None:
    """ibnetdiscover and iblinkinfo find the links of the ledger, port to port."""
    wires = {wire(link) for link in subject.links}
    assert len(wires) == len(subject.links)
    assert subject.simulation.discovered() == wires
    assert subject.simulation.listed() == wires


def test_every_pair_of_hosts_is_routed(subject: Subject) -> None:
    """Following opensm's tables from the leaf of any host, every other is reached up and down once."""
    tables, hosts = subject.simulation.tables()
    beyond = {here: there for link in subject.links for here, there in both_ways(wire(link))}
    assert set(tables) == subject.switches
    assert len(hosts) == sum(link.link_class == "endpoint-leaf" for link in subject.links)
    for leaf in {link.a_device for link in subject.links if link.link_class == "endpoint-leaf"}:
        for lid, host in hosts.items():
            at, hops = leaf, 0
            while at != host:
                at, hops = beyond[at, tables[at][lid]][0], hops + 1
                assert hops < 2 * subject.tiers, f"{leaf} does not reach {host}"


def test_switches_have_all_their_ports(subject: Subject) -> None:
    """A switch has its ports in the file also where they are free: 144 of a Quantum-X800."""
    records = set(re.findall(r'^Switch\t(\d+) "([^"]+)"', subject.net.read_text(), re.MULTILINE))
    assert {name for _, name in records} == subject.switches
    assert {int(count) for count, _ in records} == set(subject.ports)


def both_ways(wire: Wire) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    one, other = wire
    yield one, other
    yield other, one


def test_the_links_come_back(subject: Subject) -> None:
    """A net file holds every column of its links."""
    by_port = sorted(subject.links, key=lambda link: link.assembly)
    assert sorted(read_links(subject.net), key=lambda link: link.assembly) == by_port


# --- without the simulator --------------------------------------------------------------------------------------------


def net_of(design: Design, catalog: Catalog, folder: Path) -> Path:
    (net,) = write_all(folder, export(design, catalog, "ibsim"))
    return net


def test_fabrics_that_share_switches_are_one_subnet(tmp_path: Path) -> None:
    """Storage on the switches of the backend is in the file of the backend."""
    assert net_of(converged(1), hand_catalog(), tmp_path).name == "backend.net"
    assert {link.fabric for link in read_links(tmp_path / "backend.net")} == {"backend", "storage"}


def test_a_host_comes_first(tmp_path: Path) -> None:
    """The subnet manager attaches to the first port of the file, which is a host's."""
    lines = net_of(two_by_two(), hand_catalog(), tmp_path).read_text().splitlines()
    assert next(line for line in lines if line and line[0] != "#").startswith("Hca\t1 ")


def test_lanes_and_rates_are_told(tmp_path: Path) -> None:
    """A 400G port of four lanes runs as 4xNDR."""
    text = net_of(two_by_two(), hand_catalog(), tmp_path).read_text()
    assert {line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith("[")} == {"4xNDR"}


def test_a_design_without_infiniband_is_refused() -> None:
    """ibsim simulates InfiniBand only, and the message says so."""
    design = two_by_two()
    oob = [i for i, link in enumerate(design.ledger.links) if link.fabric == "backend"]
    alone = Design(design.case, design.result, design.ledger)
    alone.ledger.links = [link for i, link in enumerate(design.ledger.links) if i not in oob]
    with pytest.raises(ExportError, match="no fabric is InfiniBand"):
        export(alone, hand_catalog(), "ibsim")


def test_a_line_that_is_no_link_is_named(tmp_path: Path) -> None:
    """A spoilt line is refused with its number."""
    net = net_of(two_by_two(), hand_catalog(), tmp_path)
    lines = net.read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if line.startswith("[") and '"" ' not in line)
    lines[number] = lines[number].replace(" 400.0 ", " ")
    net.write_text("\n".join(lines))
    with pytest.raises(InputError, match=f":{number + 1}: found"):
        read_links(net)


def test_a_part_of_the_ledger_is_not_read_as_the_whole(tmp_path: Path) -> None:
    """What drops racks and modules does not pass for a ledger."""
    with pytest.raises(ValueError, match="does not hold the whole ledger"):
        read_back(tmp_path, "ibsim")


def test_a_changed_link_changes_the_file(tmp_path: Path) -> None:
    """The file follows the ledger, not the shape of the design."""
    design = two_by_two()
    changed = with_links(design, {0: {"length_m": 5.0}})
    before, after = (net_of(d, hand_catalog(), tmp_path / str(i)) for i, d in enumerate((design, changed)))
    assert before.read_text() != after.read_text()
