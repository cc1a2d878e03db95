"""Pictures are true and legible: their counts add up to the ledger, nothing overlaps, nothing is cut off."""

from __future__ import annotations

import functools
import html
import itertools
import json
import os
import re
import struct
import subprocess
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawn import NS, Drawn, contrast, corners, counted, figure, tinted
from hypothesis import given, settings
from hypothesis import strategies as st
from outside_tools import tool
from sample_design import Bench, complete, converged, hand_catalog, one_rack, two_by_two, two_pods
from typer.testing import CliRunner

from gpunet import cli
from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog, split_medium_id
from gpunet.draw import svg as writer
from gpunet.draw.elevation import elevations_svg
from gpunet.draw.fold import panels
from gpunet.draw.layout import ROW, arranged, measured
from gpunet.draw.palette import BODIES, LINES, MIXED, TINT
from gpunet.draw.png import to_png
from gpunet.draw.rack_fold import MOST_DRAWN, folded_racks
from gpunet.draw.topology import topology_svg
from gpunet.files import write_all
from gpunet.models.case import Case
from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.report.csv_files import design_files, rack_rows
from gpunet.shell import Exit
from gpunet.solver.optimize import optimize

ROOT = Path(__file__).parent.parent
Given = tuple[Design, Catalog]


@functools.cache
def real_catalog() -> Catalog:
    return load_catalog()


@functools.cache
def solved(case: str | int) -> Given:
    """The best network of a shipped case, or of a number of servers with all four fabrics."""
    catalog = real_catalog()
    if isinstance(case, str):
        found = read_case(ROOT / "cases" / f"{case}.yaml", catalog)
    else:
        cluster = {"servers": case, "server": "dgx-h100"}
        found = case_from_data({"name": f"{case}-servers", "cluster": cluster}, catalog)
    design = optimize(found, catalog)
    assert design.result.totals is not None
    return design, catalog


def by_hand(make: Callable[[], Design]) -> Callable[[], Given]:
    return lambda: (make(), hand_catalog())


def with_reserved() -> Given:
    """A leaf with a server and a reserved endpoint, as a fabric manager takes it."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    rack = bench.place("r01-c01", 0, 0)
    bench.device("server-1", "server", "server-2", rack)
    bench.device("reserved-1", "reserved", "nic-400", rack, fabric="backend")
    bench.device("leaf-1", "switch", "ib-tiny-4", rack, fabric="backend", tier="leaf", group=0)
    ends = [("server-1", "backend", 1), ("server-1", "backend", 2), ("reserved-1", "nic", 1)]
    for i, (device, group, cage) in enumerate(ends):
        bench.link(
            "backend", "endpoint-leaf", 400, ("leaf-1", "fabric", i // 2 + 1, i % 2 + 1), (device, group, cage, 1),
            "mpo-om4-n005",
        )  # fmt: skip
    case = Case.model_validate({"cluster": {"servers": 1, "server": "server-2"}, "fabrics": {"backend": {}}})
    known = {"backend": {"protocol": "infiniband"}}
    return complete(case, catalog, bench.ledger, known), catalog


DESIGNS: dict[str, Callable[[], Given]] = {
    "two-by-two": by_hand(two_by_two),
    "one-rack": by_hand(lambda: one_rack("dac")),
    "two-pods": by_hand(two_pods),
    "converged": by_hand(lambda: converged(1.0)),
    "reserved": with_reserved,
    "8-gpus": lambda: solved(1),
    "256-gpus": lambda: solved(32),
    "1024-gpus": lambda: solved("guide-1024"),
    "1024-gpus-all-fabrics": lambda: solved(128),
    "16384-gpus": lambda: solved("superpod-h100-64su"),
}
"""From one server to the largest published pod, one to three tiers, one to four fabrics."""


@pytest.fixture(params=DESIGNS)
def given_design(request: pytest.FixtureRequest) -> Given:
    return DESIGNS[request.param]()


@functools.cache
def pictures(name: str) -> tuple[str, str]:
    """Topology and racks of one of the designs."""
    design, catalog = DESIGNS[name]()
    return topology_svg(design, catalog), elevations_svg(design, catalog)


@pytest.fixture(params=DESIGNS)
def both(request: pytest.FixtureRequest) -> tuple[str, str]:
    return pictures(request.param)


# --- true -------------------------------------------------------------------------------------------------------------


def check_topology(design: Design, catalog: Catalog) -> Drawn:
    """Everything that must hold of a topology picture of any design."""
    drawn = Drawn(topology_svg(design, catalog))
    assert drawn.overlaps() == []
    assert drawn.outside() == []
    devices = {d.name: d for d in design.ledger.devices}
    shared = {name: fabric.shared_with or name for name, fabric in design.result.fabrics.items()}
    seen: set[str] = set()
    for name, panel in drawn.panels().items():
        links = [link for link in design.ledger.links if shared[link.fabric] == name]
        there = {end for link in links for end in (link.a_device, link.b_device)}
        there |= {d.name for d in devices.values() if shared.get(d.fabric) == name and d.kind in ("switch", "reserved")}
        seen |= there
        boxes = [e for e in panel.iter(f"{NS}g") if e.get("data-devices")]
        kinds = counted(boxes, "devices", "kind")
        assert kinds == Counter((devices[n].kind,) for n in there)
        parts = counted([e for e in boxes if e.get("data-part")], "devices", "kind", "part")
        lumped = {kind for kind, part in counted(boxes, "devices", "kind", "part") if not part}
        assert parts == Counter(
            (devices[n].kind, devices[n].part)
            for n in there
            if (devices[n].kind, devices[n].part) in parts or devices[n].kind not in lumped
        )
        tiers = Counter(d.tier for d in devices.values() if d.kind == "switch" and d.fabric == name)
        assert {k[0]: n for k, n in counted(boxes, "devices", "tier").items() if k[0]} == tiers
        bundles = [e for e in panel.iter(f"{NS}g") if e.get("data-links")]
        assert counted(bundles, "links", "link-class", "fabric", "gbps") == Counter(
            (link.link_class, link.fabric, f"{link.speed_gbps:g}") for link in links
        )
        for bundle in bundles:
            head = drawn.words(bundle)[0].text
            count, _, speed = head.partition(" × ")
            assert figure(count.rsplit(" ", 1)[-1]) == int(bundle.get("data-links", ""))
            assert speed.split("G")[0] == bundle.get("data-gbps")
        for box in boxes:
            assert _shown_total(drawn, box) == int(box.get("data-devices", ""))
    check_alike(design)
    legend = drawn.groups("legend")
    for entry in legend:
        assert figure(drawn.words(entry)[0].text) == int(entry.get("data-count", ""))
    counts = {what: [e for e in legend if e.get("data-legend") == what] for what in ("devices", "links")}
    assert counted(counts["devices"], "count", "kind", "part") == Counter(
        (devices[n].kind, devices[n].part) for n in seen
    )
    media = Counter((split_medium_id(link.medium)[0],) for link in design.ledger.links)
    assert counted(counts["links"], "count", "part") == media
    return drawn


def check_alike(design: Design) -> None:
    """Groups that are called alike hold as many of every part and as many links of every kind, group by group."""
    links: defaultdict[str, Counter[tuple[str, str, float]]] = defaultdict(Counter)
    for link in design.ledger.links:
        for end in (link.a_device, link.b_device):
            links[end][link.fabric, link.link_class, link.speed_gbps] += 1
    for panel in panels(design):
        groups = [*panel.groups, *(unit for pod in panel.groups for unit in pod.inner)]
        whole = {id(box) for group in groups if group.alike for box in [*group.switches, *group.endpoints]}
        for bundle in panel.bundles:
            if id(bundle.lower) in whole:
                assert sum(s.links for s in bundle.strands) * len(bundle.lower.copies) == bundle.links
        for box in (box for group in groups if group.alike for box in [*group.switches, *group.endpoints]):
            assert len({Counter(d.part for d in copy).total() for copy in box.copies}) == 1
            kinds = [sorted(map(str, (links[d.name] for d in copy))) for copy in box.copies]
            assert box.kind == "own-switch" or all(copy == kinds[0] for copy in kinds)


def three_groups(odd: int) -> Design:
    """Three leaves with two servers each under a spine; one server of the last has ``odd`` links, the others 2."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    rack = bench.place("r01-c01", 0, 0)
    for i in range(6):
        bench.device(f"server-{i}", "server", "server-2", rack)
    for i in range(3):
        bench.device(f"leaf-{i}", "switch", "ib-tiny-8", rack, fabric="backend", tier="leaf", group=i)
    bench.device("spine", "switch", "ib-tiny-8", rack, fabric="backend", tier="spine")
    for i in range(3):
        ends = [(2 * i, 1), (2 * i, 2), (2 * i + 1, 1), (2 * i + 1, 2)]
        for port, (server, nic) in enumerate(ends[: 4 if i < 2 else 2 + odd]):
            a, b = (f"leaf-{i}", "fabric", port // 2 + 1, port % 2 + 1), (f"server-{server}", "backend", nic, 1)
            bench.link("backend", "endpoint-leaf", 400, a, b, "mpo-om4-n005")
        bench.link(
            "backend", "leaf-spine", 400, (f"leaf-{i}", "fabric", 5, 1), ("spine", "fabric", i + 1, 1), "mpo-om4-n005"
        )
    case = Case.model_validate({"cluster": {"servers": 6, "server": "server-2"}, "fabrics": {"backend": {}}})
    return complete(case, catalog, bench.ledger, {"backend": {"protocol": "infiniband"}})


@pytest.mark.parametrize(("odd", "folds"), [(2, [3]), (1, [2, 1])])
def test_one_link_less_makes_a_group_another(odd: int, folds: list[int]) -> None:
    """Groups fold when every device has the same links, not when there are merely as many devices."""
    design = three_groups(odd)
    (panel,) = panels(design)
    assert [(group.copies, group.alike) for group in panel.groups] == [(n, True) for n in folds]
    check_topology(design, hand_catalog())


def test_labels_stack_where_they_have_no_room_side_by_side() -> None:
    """At its least width a box with two bundles has its labels one above the other, and room for both."""
    (panel,) = panels(converged(1.0))
    found = measured(panel, hand_catalog())
    spots = arranged(found, found.least).spots.values()
    (narrow,) = [spot for spot in spots if len(spot.labels) == 2]
    lines = sum(len(said) for _, said in narrow.labels)
    assert not narrow.beside
    assert narrow.label_height >= lines * ROW
    wide = next(s for s in arranged(measured(panel, hand_catalog()), 2000).spots.values() if len(s.labels) == 2)
    assert wide.beside
    assert wide.label_height < narrow.label_height


def _shown_total(drawn: Drawn, box: Any) -> int:
    """Devices of a box as a reader adds them up: what is "in all", or else the number in front."""
    lines = [w.text for w in drawn.words(box)]
    in_all = [re.search(r"([\d,]+) in all", line) for line in lines]
    found = [hit[1] for hit in in_all if hit]
    heads = [line for line in lines if re.match(r"[\d,]+ (?!in )[A-Za-z]", line) and "GPU" not in line]
    return figure(found[0] if found else heads[0])


def test_counts_add_up_to_the_ledger(given_design: Given) -> None:
    """Folded devices and links, in numbers a reader sees, are those of the ledger, fabric by fabric and in the legend;
    no text lies over another and nothing leaves the picture."""
    check_topology(*given_design)


SMALL = hand_catalog()


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(
    servers=st.integers(1, 24),
    oversubscription=st.sampled_from([1.0, 2.0, 3.0]),
    topology=st.sampled_from(["rail-optimized", "leaf-spine"]),
    storage=st.booleans(),
    oob=st.booleans(),
)
def test_any_size_can_be_drawn(servers: int, oversubscription: float, topology: str, storage: bool, oob: bool) -> None:
    """Whatever the size: counts add up, nothing overlaps, nothing is cut off, in both pictures."""
    fabrics: dict[str, Any] = {"backend": {"oversubscription": oversubscription, "topologies": [topology]}}
    fabrics |= {"oob": {}} if oob else {}
    fabrics |= {"storage": {"mode": "converged", "storage_servers": 2}} if storage else {}
    case = {"cluster": {"servers": servers, "server": "server-2"}, "fabrics": fabrics}
    design = optimize(case_from_data(case, SMALL), SMALL)
    if design.result.totals is not None:
        check_topology(design, SMALL)
        check_racks(design, SMALL)


def check_racks(design: Design, catalog: Catalog) -> Drawn:
    """Everything that must hold of the racks of any design."""
    drawn = Drawn(elevations_svg(design, catalog))
    assert drawn.overlaps() == []
    assert drawn.outside() == []
    devices = drawn.groups("devices")
    assert counted(devices, "devices", "kind") == Counter((d.kind,) for d in design.ledger.devices)
    parts = Counter((d.part,) for d in design.ledger.devices if d.unit)
    assert +counted([e for e in devices if e.get("data-part")], "devices", "part") == parts
    held = defaultdict(list)
    for d in design.ledger.devices:
        held[d.rack].append((d.unit, d.rack_units, d.kind, d.part, d.fabric))
    found = folded_racks(design, catalog)
    for fold in (*found.drawn, *found.told):
        assert len({tuple(sorted(held[name])) for name in fold.names}) == 1
    racks = drawn.groups("racks")
    assert sum(int(e.get("data-racks", "")) for e in racks) == len({d.rack for d in design.ledger.devices})
    return drawn


def test_racks_add_up_and_show_their_heat(given_design: Given) -> None:
    """Every device stands in one drawn rack or its copies; the watts over a rack are those of the rack list."""
    design, catalog = given_design
    drawn = check_racks(design, catalog)
    watts: dict[str, float] = defaultdict(float)
    for row in rack_rows(design, catalog):
        watts[str(row[1])] += float(str(row[-1]))
    limit = min(design.case.site.rack.power_kw, design.case.site.rack.cooling_kw or 1e9)
    for rack in drawn.groups("racks"):
        names = (rack.findtext(f"{NS}title") or "").split(", ")
        assert len(names) == int(rack.get("data-racks", ""))
        heat = next(w.text for w in drawn.words(rack) if " kW (" in w.text)
        stated = re.fullmatch(r"(?:([\d.]+)–)?([\d.]+) of ([\d.]+) kW \(.*\)", heat)
        assert stated is not None
        low, high = min(watts[n] for n in names) / 1000, max(watts[n] for n in names) / 1000
        assert float(stated[2]) == pytest.approx(high, abs=0.051)
        assert float(stated[1] or stated[2]) == pytest.approx(low, abs=0.051)
        assert float(stated[3]) == pytest.approx(limit)


def test_units_are_where_the_ledger_has_them() -> None:
    """Higher units stand higher, and a device is as tall as its units."""
    design, catalog = two_by_two(), hand_catalog()
    drawn = Drawn(elevations_svg(design, catalog))
    server_rack = next(e for e in drawn.groups("racks") if "r01-c01" in (e.findtext(f"{NS}title") or ""))
    tops = {}
    for box in server_rack.iter(f"{NS}g"):
        if box.get("data-kind") == "server":
            name = (box.findtext(f"{NS}title") or "").split(":")[0]
            tops[name] = corners(box.findall(f"{NS}rect")[0])
    found = [tops[f"server-{i}"] for i in (1, 2, 3, 4)]
    assert [above[3] for above in found[1:]] == [below[1] for below in found[:-1]]
    rack_floor = max(corners(rect)[3] for rect in server_rack.findall(f"{NS}rect"))
    assert found[0][3] == rack_floor
    one = (found[0][3] - found[0][1]) / 4
    assert all(bottom - top == pytest.approx(4 * one) for _, top, _, bottom in found)


def test_like_racks_fold_and_the_rarest_are_told() -> None:
    """Racks that hold the same are one drawing; beyond the most that are drawn, the rest is told and still counted."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    for i in range(MOST_DRAWN + 5):
        rack = bench.place(f"r01-c{i + 1:02d}", 0.6 * i, 0)
        for k in range(i % (MOST_DRAWN + 2) + 1):
            bench.device(f"storage-{i}-{k}", "storage-server", "nic-400", rack)
    case = Case.model_validate(
        {"cluster": {"servers": 1, "server": "server-2"}, "site": {"rack": {"units": 60, "power_kw": 99}}}
    )
    design = complete(case, catalog, bench.ledger, {})
    racks = folded_racks(design, catalog)
    assert (len(racks.drawn), len(racks.told)) == (MOST_DRAWN, 2)
    assert [len(fold.names) for fold in racks.drawn][:4] == [2, 2, 2, 1]
    check_racks(design, catalog)


def test_racks_that_differ_in_a_unit_are_two() -> None:
    """The same devices in other units are another rack to build."""
    catalog = hand_catalog()
    bench = Bench(catalog)
    for i in range(3):
        rack = bench.place(f"r01-c{i + 1:02d}", 0.6 * i, 0)
        bench.device(f"switch-{i}", "switch", "ib-tiny-4", rack, fabric="backend")
        bench.device(f"storage-{i}", "storage-server", "nic-400", rack)
    last = bench.ledger.devices[-1]
    bench.ledger.devices[-1] = last._replace(unit=last.unit + 1)
    case = Case.model_validate({"cluster": {"servers": 1, "server": "server-2"}})
    racks = folded_racks(complete(case, catalog, bench.ledger, {}), catalog)
    assert [fold.names for fold in racks.drawn] == [("r01-c01", "r01-c02"), ("r01-c03",)]


def test_every_kind_of_device_is_drawn() -> None:
    """Switches, servers, storage servers, reserved endpoints and PDUs all have a box."""
    kinds = set()
    for name in ("two-by-two", "converged", "reserved"):
        drawn = Drawn(topology_svg(*DESIGNS[name]()))
        kinds |= {e.get("data-kind") for e in drawn.groups("devices")}
    assert kinds == {"switch", "server", "storage-server", "reserved", "pdu"}


def test_pods_and_planes_are_seen() -> None:
    """Three tiers show pods inside the fabric, units inside the pods, and cores by their planes."""
    design, catalog = DESIGNS["16384-gpus"]()
    drawn = Drawn(topology_svg(design, catalog))
    texts = {w.text for w in drawn.words()}
    pods = {d.group for d in design.ledger.devices if d.tier == "spine"}
    planes = {d.group for d in design.ledger.devices if d.tier == "core"}
    assert f"{len(pods)} pods; alike, one is drawn" in texts
    assert {f"plane {i + 1}" for i in range(len(planes))} <= texts
    assert len(drawn.words()) < 120


def test_rails_are_named() -> None:
    """Leaves of a rail-optimised fabric say which rails they carry; with one link of every server each."""
    drawn = Drawn(topology_svg(*DESIGNS["1024-gpus"]()))
    texts = [w.text for w in drawn.words()]
    assert {f"rail {i}" for i in range(1, 9)} <= set(texts)
    design, _ = two_pods(), None
    (panel,) = panels(design)
    rails = [box.rails for group in panel.groups for unit in group.inner for box in unit.switches]
    assert rails == [{"leaf-1-1": "1", "leaf-1-2": "2"}, {"leaf-2-1": "1", "leaf-2-2": "2"}]


def test_parallel_links_are_told_and_drawn() -> None:
    """Two links between a leaf and a spine are two lines, and the label says so."""
    drawn = Drawn(topology_svg(two_by_two(), hand_catalog(), ["backend"]))
    bundle = next(e for e in drawn.groups("links") if e.get("data-link-class") == "leaf-spine")
    assert "2 parallel" in drawn.words(bundle)[1].text
    (panel,) = drawn.panels().values()
    ends = [(e.get("d") or "").split()[-2:] for e in panel.findall(f"{NS}path")]
    spine_bottom = Counter(y for _, y in ends).most_common()
    assert {n for _, n in spine_bottom} == {8}


def test_unlike_groups_are_not_called_alike() -> None:
    """Groups with other parts or other links are told apart; where too many differ, the picture says so."""
    design, catalog = DESIGNS["1024-gpus-all-fabrics"]()
    texts = [w.text for w in Drawn(topology_svg(design, catalog, ["oob"])).words()]
    (said,) = [text for text in texts if "leaf groups" in text]
    assert said.endswith("not alike, the counts are of all")
    (panel,) = panels(design, ["oob"])
    assert any(low != high for low, high in (box.each for box in panel.boxes()))


def test_fabrics_can_be_picked() -> None:
    """One fabric alone; one that shares switches comes with them; one that does not exist is refused."""
    design, catalog = DESIGNS["256-gpus"]()
    assert list(Drawn(topology_svg(design, catalog, ["storage"])).panels()) == ["storage"]
    shared = Drawn(topology_svg(converged(1.0), hand_catalog(), ["storage"]))
    assert list(shared.panels()) == ["backend"]
    racks = Drawn(elevations_svg(design, catalog, ["storage"]))
    assert len(racks.groups("racks")) == 1
    for draw in (topology_svg, elevations_svg):
        with pytest.raises(ValueError, match="'bakend'"):
            draw(design, catalog, ["bakend"])


# --- legible ----------------------------------------------------------------------------------------------------------


def test_a_picture_stands_alone_in_any_page(both: tuple[str, str]) -> None:
    """Well-formed, with title and description, nothing loaded from anywhere, every id and class under one prefix."""
    for text, prefix, what in zip(both, ("gn-topology", "gn-racks"), ("topology", "racks"), strict=True):
        root = Drawn(text).root
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{prefix}-title {prefix}-desc"
        assert (root.findtext(f"{NS}title") or "").endswith(f": {what}")
        assert len(root.findtext(f"{NS}desc") or "") > 40
        names = [name for e in root.iter() for name in [*e.get("class", "").split(), e.get("id")] if name]
        assert names
        assert all(name.startswith(prefix) for name in names)
        style = root.findtext(f"{NS}style") or ""
        assert style.startswith("@media screen and (prefers-color-scheme:dark)")
        assert all(
            rule.startswith(f".{prefix} .{prefix}-")
            for rule in re.findall(r"[.{}]([^{}]+)\{", style[50:])
            if "." in rule[:1]
        )
        assert not re.search(r"href|url\(|<script|<image|<foreignObject|\bon\w+=", text)


def test_two_pictures_of_a_kind_fit_in_one_page() -> None:
    """With another prefix, no id or class is that of the first."""
    for draw, name in ((topology_svg, "gn-topology"), (elevations_svg, "gn-racks")):
        other = draw(two_by_two(), hand_catalog(), prefix="gn-other")
        assert 'id="gn-other-title"' in other
        assert name not in other


def test_text_can_be_read_on_every_ground() -> None:
    """All inks stand out at 4.5 : 1 on paper, panels and tints (twice tinted too), light and dark; lines at 3 : 1."""
    for colours in (writer.LIGHT, writer.DARK):
        grounds = [colours["paper"], colours["panel"]]
        once = [tinted(ground, body, TINT) for ground in grounds for body in (*BODIES, MIXED)]
        twice = [tinted(tinted(ground, body, TINT), body, TINT) for ground in grounds for body in (*BODIES, MIXED)]
        assert min(contrast(colours["ink"], ground) for ground in [*grounds, *once, *twice]) >= 4.5
        assert min(contrast(colours["soft"], ground) for ground in grounds) >= 4.5
        assert min(contrast(line, ground) for line in (*LINES, MIXED) for ground in grounds) >= 3.0


def test_lesser_ink_stays_off_the_tints(both: tuple[str, str]) -> None:
    """Text in boxes has the strong ink, for only that is tried on tints."""
    drawn = Drawn(both[0])
    inks = {w.ink for box in drawn.groups("devices") for w in drawn.words(box)}
    assert inks == {writer.LIGHT["ink"]}


def test_colours_differ_for_every_colour_vision() -> None:
    """The first six bodies stay apart for people without red, green or blue cones, by a plain projection."""
    sights = {
        "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
        "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
        "tritan": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
    }

    def seen(colour: str, sight: tuple[tuple[float, ...], ...]) -> list[float]:
        linear = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
        return [max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) ** (1 / 2.2) for row in sight]

    for sight in sights.values():
        for a, b in itertools.combinations(BODIES[:6], 2):
            assert sum((x - y) ** 2 for x, y in zip(seen(a, sight), seen(b, sight), strict=True)) ** 0.5 > 0.08, (a, b)


def test_widths_are_not_underrated(both: tuple[str, str]) -> None:
    """Text is at most as wide as the layout takes it to be, in the widths of Helvetica, which the first fonts share."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    for picture in both:
        for element in Drawn(picture).root.iter(f"{NS}text"):
            bold = element.get("font-weight") == "bold"
            text = (element.text or "").replace("…", "...").replace("–", "-").replace("×", "+")
            real = stringWidth(text, "Helvetica-Bold" if bold else "Helvetica", 12)
            assert real <= writer.text_width(element.text or "", 12, bold) * 1.001, text


def test_text_stays_in_its_box(both: tuple[str, str]) -> None:
    """What is written in a box does not run over its edges, in fabrics and in racks."""
    for drawn in map(Drawn, both):
        for box in drawn.groups("devices"):
            edges = [corners(rect) for rect in box.findall(f"{NS}rect")]
            left, top = (min([e[i] for e in edges], default=0) for i in (0, 1))
            right, bottom = (max([e[i] for e in edges], default=0) + 0.1 for i in (2, 3))
            for w in drawn.words(box):
                assert left <= w.left, w
                assert w.right <= right, w
                assert top <= w.top, w
                assert w.bottom <= bottom, w


def test_a_browser_sees_no_overlap(tmp_path: Path) -> None:
    """Measured by Chromium in the font it has: texts do not lie over each other, in both pictures."""
    shown = "".join(pictures("1024-gpus-all-fabrics"))
    script = """
      const all = [...document.querySelectorAll('svg')].map(svg => [...svg.querySelectorAll('text')].map(t => {
        const b = t.getBBox(), wide = svg.viewBox.baseVal.width;
        return [t.textContent, b.x, b.y, b.x + b.width, b.y + b.height, wide];
      })); document.title = 'done'; document.body.textContent = JSON.stringify(all);"""
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{shown}<script>{script}</script>", encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    done = subprocess.run(
        [tool("chromium"), *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    body = re.search(r"<body>(.*)</body>", done.stdout, re.DOTALL)
    assert body is not None
    for boxes in json.loads(html.unescape(body[1])):
        assert len(boxes) > 50
        assert all(left >= 0 and right <= width for _, left, _, right, _, width in boxes)
        # A line of text reaches further up and down than its letters do, so heights are taken in by a quarter.
        kept = [(t, x0, y0 + (y1 - y0) / 8, x1, y1 - (y1 - y0) / 8) for t, x0, y0, x1, y1, _ in boxes]
        bad = [
            (a[0], b[0])
            for a, b in itertools.combinations(kept, 2)
            if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
        ]
        assert bad == []


# --- bytes ------------------------------------------------------------------------------------------------------------


def test_equal_designs_give_equal_bytes(tmp_path: Path) -> None:
    """Drawn again, in another process with other hashes, both pictures are the same to the last byte."""
    design, catalog = DESIGNS["256-gpus"]()
    write_all(tmp_path, design_files(design, catalog))
    code = (
        "import sys; from gpunet.catalogs import load_catalog; from gpunet.design_file import read_design\n"
        "from gpunet.draw.topology import topology_svg; from gpunet.draw.elevation import elevations_svg\n"
        "c = load_catalog(); d = read_design(sys.argv[1], c)\n"
        "sys.stdout.buffer.write((topology_svg(d, c) + elevations_svg(d, c)).encode())"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "design.json")],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.stdout.decode() == topology_svg(design, catalog) + elevations_svg(design, catalog)


def test_png_has_the_size_and_the_text() -> None:
    """Two pixels to a unit on white; and the letters are there: without them the picture is another."""
    design, catalog = DESIGNS["8-gpus"]()
    svg = topology_svg(design, catalog)
    png = to_png(svg)
    drawn = Drawn(svg)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (round(drawn.width * 2), round(drawn.height * 2))
    assert png == to_png(svg)
    dark = [_dark_pixels(picture) for picture in (png, to_png(re.sub(r"<text[^>]*>[^<]*</text>", "", svg)))]
    assert dark[0] > dark[1] + 1000


def _dark_pixels(png: bytes) -> int:
    """Bytes of the raw picture that are darker than any tint: letters and outlines."""
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw = zlib.decompress(data)
    return len(raw) - raw.count(0)


def test_names_from_a_case_are_harmless() -> None:
    """A name with markup, control characters or a very long one spoils no picture."""
    design, catalog = two_by_two({**_CASE, "name": "<b>&\x07" + "é" * 300}), hand_catalog()
    for draw in (topology_svg, elevations_svg):
        drawn = Drawn(draw(design, catalog))
        assert drawn.outside() == []
        assert "<b>&" in drawn.words()[0].text


_CASE: dict[str, Any] = {
    "cluster": {"servers": 4, "server": "server-2"},
    "fabrics": {"backend": {"topologies": ["rail-optimized"]}, "oob": {}},
    "site": {"rack": {"units": 20, "power_kw": 12}, "power_kw": 20, "fibre": ["OM4", "OS2"]},
}


# --- command ----------------------------------------------------------------------------------------------------------


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(cli.app, ["draw", *map(str, words)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as ``gpunet optimize -o`` writes it."""
    write_all(tmp_path / "design", design_files(*DESIGNS["8-gpus"]()))
    return tmp_path / "design"


def test_the_command_draws_folders_files_and_cases(folder: Path, tmp_path: Path) -> None:
    """All three ways to name a design give the same picture; standard output stays empty."""
    (tmp_path / "case.yaml").write_text("name: 1-servers\ncluster: {servers: 1, server: dgx-h100}\n", encoding="utf-8")
    pictures = []
    for name in ("design", "design/design.json", "case.yaml"):
        done = run(tmp_path / name, "-o", tmp_path / "out" / "t.svg")
        assert (done.exit_code, done.stdout) == (Exit.DONE, ""), done.output
        pictures.append((tmp_path / "out" / "t.svg").read_bytes())
    assert pictures == [topology_svg(*DESIGNS["8-gpus"]()).encode()] * 3
    done = run(folder, "-o", tmp_path / "r.PNG", "--what", "racks")
    assert done.exit_code == Exit.DONE
    assert (tmp_path / "r.PNG").read_bytes() == to_png(elevations_svg(*DESIGNS["8-gpus"]()))
    assert run(folder, "-o", tmp_path / "b.svg", "--fabric", "backend").exit_code == Exit.DONE
    assert list(Drawn((tmp_path / "b.svg").read_text(encoding="utf-8")).panels()) == ["backend"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x.gif"], ".svg or .png"),
        (["-o", "x.svg", "--fabric", "bakend"], "nearest: backend"),
        (["-o", "x.svg", "--what", "rooms"], "racks"),
    ],
)
def test_wrong_options_are_one_message(folder: Path, words: list[str], said: str) -> None:
    """An ending, a fabric or a picture that does not exist is told with what there is."""
    done = run(folder, *words)
    assert done.exit_code == Exit.BAD_INPUT
    assert said in re.sub(r"[\s│]+", " ", done.output)
    assert "Traceback" not in done.output


def test_what_is_no_design_is_told(tmp_path: Path) -> None:
    """A folder without a design, a file that is not there, and a case that has no design."""
    out = tmp_path / "x.svg"
    done = run(tmp_path, "-o", out)
    assert (done.exit_code, "a folder without design.json" in done.output) == (Exit.BAD_INPUT, True)
    done = run(tmp_path / "missing.json", "-o", out)
    assert (done.exit_code, "no such file" in done.output) == (Exit.BAD_INPUT, True)
    done = run(ROOT / "cases" / "no-reach.yaml", "-o", out)
    assert (done.exit_code, "no design meets the case" in done.output) == (Exit.FAILED, True)
    assert not out.exists()


def test_a_design_of_another_catalogue_is_told(folder: Path, tmp_path: Path) -> None:
    """Prices and parts may differ then, and the picture says so on the way."""
    file = folder / "design.json"
    text = file.read_text(encoding="utf-8").replace(f'"{real_catalog().version}"', '"another"')
    file.write_text(text, encoding="utf-8")
    done = run(folder, "-o", tmp_path / "x.svg")
    assert done.exit_code == Exit.DONE
    assert "made with catalogue another" in done.output


def test_a_design_that_failed_its_checks_is_not_drawn(folder: Path, tmp_path: Path) -> None:
    """What must not be built gets no picture."""
    file = folder / "design.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    data["verify"]["passed"] = False
    data["verify"]["checks"][0] |= {"passed": False, "detail": "spoilt"}
    file.write_text(json.dumps(data), encoding="utf-8")
    done = run(folder, "-o", tmp_path / "x.svg")
    assert (done.exit_code, "must not be built" in done.output) == (Exit.FAILED, True)
