"""Faults that other tools and published tables have: gpunet makes each impossible, or refuses it with its reason.

Where the designer could make the fault, a design is made and counted; where only a foreign hand could, a sound design
is spoilt that way and the verifier must name it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from sample_design import one_rack, with_links, with_module, with_result, without_links
from spoilt_designs import CATALOG as HAND
from spoilt_designs import SOUND, bill, dark_spine, link, rebuilt

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case, FabricName
from gpunet.models.design import Design, Result, Status, Tier
from gpunet.models.parts import Protocol
from gpunet.solver.candidates import compile_case
from gpunet.solver.interconnects import InterconnectTable, LinkOption
from gpunet.solver.links import cage_kinds
from gpunet.solver.optimize import optimize
from gpunet.solver.ports import faces
from gpunet.solver.scope import Cutoff
from gpunet.solver.template import Template
from gpunet.solver.templates import enumerate_templates
from gpunet.solver.verify import verify

CATALOG = load_catalog()
Data = dict[str, Any]


def case(gpus: int, switch: str = "ib-qm9700", server: str = "dgx-h100", **sections: Data) -> Case:
    """A backend of one switch model; ``backend``, ``cluster`` and other sections add to it."""
    parts = {"allow": [switch, *sections.pop("modules", {})]}
    data = {
        "cluster": {"gpus": gpus, "server": server, **sections.pop("cluster", {})},
        "fabrics": {"backend": {"parts": parts, **sections.pop("backend", {})}},
        **sections,
    }
    return case_from_data(data, CATALOG)


def solve(what: Case) -> Design:
    """The verified optimum of a case."""
    design = optimize(what, CATALOG)
    assert design.result.status is Status.OPTIMAL, design.result.reasons
    return design


@cache
def of_gpus(gpus: int) -> Design:
    """The optimum for so many GPUs on 64-port switches."""
    return solve(case(gpus))


def reasons(what: Case) -> str:
    """Why a case has no design."""
    result = optimize(what, CATALOG).result
    assert result.status is Status.INFEASIBLE
    return "\n".join(result.reasons)


def tiers(result: Result) -> tuple[Tier, ...]:
    """The backend's tiers."""
    return result.fabrics["backend"].tiers


def caught(design: Design, check: str) -> str:
    """What a check of the verifier says about a spoilt design; it must fail."""
    found = {c.name: c for c in verify(design, HAND).checks}[check]
    assert not found.passed
    return found.detail


def on_the_bill(result: Result, kinds: set[str]) -> int:
    """Pieces of some kinds on the bill."""
    return sum(line.quantity for line in result.bom if line.kind in kinds)


def templates(what: Case) -> Iterator[Template]:
    """Every way to build the backend that the designer knows, good or bad."""
    for scope in compile_case(what, CATALOG).scopes[FabricName.BACKEND]:
        yield from enumerate_templates(scope, Cutoff())


@pytest.mark.parametrize(
    ("gpus", "switch", "leaves", "spines"),
    [(1024, "ib-qm9700", 32, 16), (512, "ib-qm9700", 16, 8), (512, "eth-sn5600", 8, 4)],
)
def test_no_template_uses_a_port_twice(gpus: int, switch: str, leaves: int, spines: int) -> None:
    """16 leaves with 1 spine for 1,024 GPUs, or 56 spines for 512: ports down and up of every way there is are counted
    against the ports of its switches, and the uplinks of all leaves are exactly what the spines take."""
    fewest = []
    for t in templates(case(gpus, switch, backend={"max_tiers": 2})):
        assert t.spine is not None
        up, face = t.spine.links_per_lower, t.spine.face
        (plan,), (kind,) = t.plans, t.kinds
        down = plan.hosts_per_group * plan.rails_per_leaf or plan.cages_per_leaf * kind.ports_per_cage
        assert up * face.speed_gbps >= down * kind.speed_gbps
        assert up == t.n_spines * t.spine.multiplicity
        assert t.n_leaves * t.spine.multiplicity <= face.cages * face.ports
        cages = math.ceil(down / t.downs[0].ports) + math.ceil(up / t.spine.lower_face.ports)
        assert cages <= t.downs[0].group.count
        fewest.append((t.n_leaves, t.n_spines))
    assert min(fewest) == (leaves, spines)
    assert min(n for _, n in fewest) == spines


def test_bandwidth_is_no_number_of_switches() -> None:
    """512 GPUs at 400G ask for 8 spines, every port of them in use; idle ones would be dark."""
    leaf, spine = tiers(of_gpus(512).result)
    assert (leaf.count, spine.count) == (16, 8)
    assert spine.count * spine.down_ports == leaf.count * leaf.up_ports == 512
    assert "spine spine-3 is dark" in caught(dark_spine(), "striping")


def test_cables_without_ports_are_refused() -> None:
    """200 cables on 144 spine ports: a cable on a cage or a port that is not there, or is taken, is named."""
    assert "spine-1 fabric has cages 1 to 8, not 9" in caught(link(4, b_cage=9), "ports")
    assert "is used twice" in caught(link(5, b_port=1, a_port=1), "ports")


def test_cables_are_leaves_times_uplinks() -> None:
    """Parallel links count: 8 leaves of 32 uplinks on 4 spines are 256 cables, not 32."""
    design = of_gpus(256)
    leaf, spine = tiers(design.result)
    assert (leaf.count, leaf.up_ports, spine.count) == (8, 32, 4)
    built = Counter((x.a_device, x.b_device) for x in design.ledger.links if x.link_class == "leaf-spine")
    assert set(built.values()) == {8}
    assert sum(built.values()) == leaf.count * leaf.up_ports == 256
    assert "owes 1600 Gb/s" in caught(without_links(SOUND, {5, 7}), "oversubscription")


def test_runs_are_links_and_links_are_ports() -> None:
    """640 runs on 560 leaf ports: a run stands on the bill only if both its ends are ports of one speed."""
    design = of_gpus(256)
    leaf_ports = {(x.a_device, x.a_cage, x.a_port) for x in design.ledger.links}
    assert len(leaf_ports) == len(design.ledger.links) == on_the_bill(design.result, {"fibre"}) == 512
    assert "links of different speeds in one cage" in caught(link(0, speed_gbps=200), "ports")
    assert "9 pieces on the bill, 8" in caught(bill("mpo-om4-n010", quantity=9), "bom")


def test_glass_and_module_are_chosen_together() -> None:
    """208 single-mode modules on OM4: no way to make a link has a module that does not run on its fibre."""
    ways = list(switch_links("eth-n9600-64od"))
    assert {CATALOG.fibres[w.medium_base].grade for w in ways if not w.is_cable} == {"OM4", "OS2"}
    for way in ways:
        for module in (way.a_part, way.b_part):
            if module is not None:
                assert CATALOG.fibres[way.medium_base].grade in CATALOG.modules[module].reach_m
    ends = (("leaf-1", "fabric", 3), ("spine-1", "fabric", 1))
    assert "twin-dr4 does not run on OM4" in caught(with_module(SOUND, "twin-dr4", *ends), "reach")


def switch_links(part: str, protocol: Protocol = Protocol.ETHERNET) -> Iterator[LinkOption]:
    """Every way to join two cages of a switch model."""
    switch = CATALOG.switches[part]
    eligible = compile_case(case(64, part), CATALOG).eligible[FabricName.BACKEND]
    table = InterconnectTable(eligible.links)
    for face in faces(switch, protocol):
        for kind in cage_kinds(face.group, face.modes, protocol, face.hot, switch):
            yield from table.options(kind, kind)


def test_no_spine_is_dark() -> None:
    """Spines 5 and 6 dark: with more spines than a leaf has links to one, every spine still meets every leaf alike."""
    design = solve(case(512, "eth-sn5600", backend={"min_spines": 6}))
    built = Counter((x.a_device, x.b_device) for x in design.ledger.links if x.link_class == "leaf-spine")
    leaf, spine = tiers(design.result)
    assert spine.count >= 6
    assert len(built) == leaf.count * spine.count
    assert len(set(built.values())) == 1


def test_a_design_that_does_not_close_is_not_found() -> None:
    """512 links into 256 spine ports: 1,024 GPUs never fit two tiers of 32-port switches, and the reason says so."""
    small = case(1024, "eth-7060dx5-32", "hgx-h100-xe9680", backend={"max_tiers": 2})
    assert "fabrics.backend.max_tiers: 2 allowed; 3 are enough" in reasons(small)
    half = solve(case(512, "eth-7060dx5-32", "hgx-h100-xe9680", backend={"max_tiers": 2}))
    leaf, spine = tiers(half.result)
    assert (leaf.count * leaf.up_ports, spine.count * 32) == (512, 512)


def test_no_match_is_no_design() -> None:
    """A module is never taken because nothing matches: another speed, or another plug, ends in a reason."""
    assert "no switch allowed has 400G ports" in reasons(case(64, "ib-qm8700"))
    alone = reasons(case(64, modules={"nv-mma4z00-ns-flt": None}))
    assert "server to leaf needs 7.8 m in this room; with the parts allowed such a link covers at most 3 m" in alone
    bare = case(64, modules={"nv-mma4z00-ns-flt": None}, parts={"deny": ["cable:*"]})
    assert "server to leaf: no module, fibre or cable allowed joins such ports at any length" in reasons(bare)


def test_a_rack_limit_is_never_moved() -> None:
    """A rack too weak for one server ends in a reason that names the rack; the limit of the case stays as it is."""
    weak = case(64, site={"rack": {"power_kw": 10}})
    design = optimize(weak, CATALOG)
    assert design.result.status is Status.INFEASIBLE
    assert design.result.reasons[0].startswith("site.rack: one dgx-h100 needs 8 units and 10.")
    assert design.case.site.rack.power_kw == 10
    assert "r01-c01: 8,064.0 W" in caught(rebuilt(site={"rack": {"units": 20, "power_kw": 8}}), "rack")


def test_growth_is_bandwidth() -> None:
    """25 % more servers ask for uplinks for 320 endpoints from the first day, though 256 are connected."""
    design = solve(case(256, cluster={"growth": 0.25}))
    links = design.result.fabrics["backend"].links
    leaf, _ = tiers(design.result)
    assert links["endpoint-leaf"] == 256
    assert links["leaf-spine"] >= 320
    assert leaf.count * leaf.down_ports >= 320
    assert leaf.up_gbps >= leaf.down_gbps
    assert "serve 0 more servers on backend, growth asks for 2" in caught(
        rebuilt(cluster__growth=0.5), "oversubscription"
    )


def test_a_cable_is_bought_once() -> None:
    """A DAC has two ends and is one piece: half as many as links where it carries two, on the bill and in the rack."""
    top = {"switch_placement": "top-of-rack", "servers_per_rack": 2}
    design = solve(case(16, server="hgx-h100-xe9680", site={**top, "rack": {"units": 48, "power_kw": 44}}))
    pieces = {x.assembly: x.medium for x in design.ledger.links}
    assert set(pieces.values()) == {"nv-mcp7y00-n002"}
    assert len(design.ledger.links) == 16
    assert on_the_bill(design.result, {"cable"}) == len(pieces) == 8
    dac = one_rack("dac")
    doubled = tuple(x.model_copy(update={"quantity": 2 * x.quantity}) if "dac" in x.part else x for x in dac.result.bom)
    assert "4 pieces on the bill, 2" in caught(with_result(dac, bom=doubled), "bom")


def test_single_port_modules_stay_out_of_twin_cages() -> None:
    """R3: the cage of a switch runs two ports of 400G, and a single-port module is for adapters."""
    assert "R3: single-ihs is a single-port" in caught(
        with_module(SOUND, "single-ihs", ("leaf-1", "fabric", 1)), "seats"
    )
    single = {m.id for m in CATALOG.modules.values() if m.optical_ports == 1 and m.host_lanes == 4}
    used = {part for way in switch_links("ib-qm9700", Protocol.INFINIBAND) for part in (way.a_part, way.b_part)}
    assert used
    assert not used & single


def test_generations_of_modulation_do_not_link() -> None:
    """R5: eight lanes of 50G never mate four of 100G."""
    spoilt = with_module(SOUND, "twin-hdr", ("leaf-1", "fabric", 1))
    assert "R5: twin-hdr (400G-SR8" in caught(spoilt, "mating")
    for way in switch_links("eth-7060dx5-64s"):
        if way.a_part and way.b_part:
            faces_of = [CATALOG.interfaces[CATALOG.modules[m].interface or ""] for m in (way.a_part, way.b_part)]
            assert faces_of[0].lane_class == faces_of[1].lane_class


def test_every_link_has_its_fibre() -> None:
    """A table lists 32 fibres for 64 links, counting cages: 64 GPUs have 64 links and 64 jumpers on 32 + 32 modules."""
    result = of_gpus(64).result
    assert result.fabrics["backend"].links == {"endpoint-leaf": 64}
    assert on_the_bill(result, {"fibre"}) == 64
    assert on_the_bill(result, {"module"}) == 64
    shared = link(1, assembly=SOUND.ledger.links[0].assembly)
    assert "has 1 and 1 ends, not 2 and 2" in caught(shared, "pieces")


def test_counting_ports_never_breaks_a_fabric_apart() -> None:
    """With ``striping: ports`` a spine still reaches every leaf: 80 leaves do not stand under spines of 40 ports."""
    loose = case(1600, "ib-qm8700", "dgx-a100", backend={"striping": "ports"})
    assert all(t.n_leaves <= 40 for t in templates(loose) if t.core is None)
    swapped = with_links(SOUND, {6: {"b_device": "spine-1", "b_cage": 3}, 7: {"b_device": "spine-1", "b_cage": 3}})
    assert "leaf-1 has 4 x 400G to spine-1" in caught(swapped, "striping")
