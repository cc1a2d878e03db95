"""The cabling schedule: every cable once with both its ends, laid the right way round, labelled and grouped."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sample_design import hand_catalog, one_rack, two_by_two, two_pods, with_ledger
from typer.testing import CliRunner

from gpunet import cli, optimize
from gpunet.catalogs import load_catalog, split_medium_id
from gpunet.cli_workbook import LABELS_EXAMPLES, SHEET
from gpunet.design_file import write_design
from gpunet.export import export
from gpunet.files import write_all
from gpunet.models.design import Design
from gpunet.models.ledger import Link
from gpunet.models.parts import Catalog, Fibre, FibreKind
from gpunet.report.cabling import End, Run, bundles, schedule
from gpunet.report.cabling_media import Medium, Socket, head_side, medium_of
from gpunet.report.cabling_order import ALONG_ROW, BETWEEN_ROWS, BUNDLE_LEAST, BUNDLE_MOST, IN_RACK
from gpunet.report.csv_files import CABLING_COLUMNS
from gpunet.report.labels import SHEETS, labels, labels_pdf
from gpunet.shell import Exit

CATALOG = hand_catalog()
SHIPPED = load_catalog()
ROOT = Path(__file__).parent.parent
SPLIT_CASE: dict[str, Any] = {
    "name": "split",
    "cluster": {"gpus": 64, "server": "dgx-h100"},
    "fabrics": {"backend": {"speed_gbps": 200, "protocols": ["infiniband"]}, "storage": {}, "frontend": {}, "oob": {}},
}
HUGE = ROOT / "cases/superpod-h100-64su.yaml"


@pytest.fixture(scope="module")
def split() -> Design:
    """A real design with 1:2 splitters on the backend, straight jumpers, active cables and copper cords."""
    return optimize(SPLIT_CASE)


@pytest.fixture(scope="module")
def rows_apart() -> Design:
    """A design over several rows of racks, with spines in a row of their own."""
    return optimize(ROOT / "cases/superpod-h100-4su.yaml")


def both(run: Run) -> tuple[End, End]:
    return run.a, run.b


def wired(links: list[Link]) -> Counter[tuple[object, ...]]:
    """Ends of the links of a ledger with the piece that joins them."""
    return Counter(tuple(link) for link in links)


def told(runs: list[Run]) -> Counter[tuple[object, ...]]:
    """The links of a schedule, put together again from its rows."""
    found: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        a_ports, b_ports = ([int(port) for port in end.port.split("+")] for end in both(run))
        assert len(a_ports) == len(b_ports) == run.links
        for a_port, b_port in zip(a_ports, b_ports, strict=True):
            a, b = (
                (run.a.device, run.a.cage_group, run.a.cage, a_port),
                (run.b.device, run.b.cage_group, run.b.cage, b_port),
            )
            head = (run.fabric, run.link_class, run.speed_gbps)
            found[(*head, *a, *b, run.assembly, run.part, run.length_m)] += 1
    return found


@pytest.mark.parametrize(
    "make", [two_by_two, two_pods, *(lambda k=k: one_rack(k) for k in ("dac", "split", "straight"))]
)
def test_every_link_is_in_the_schedule_once(make: Any) -> None:
    """The rows give back the links of the ledger, each with both its ends, and no other."""
    design = make()
    runs = schedule(design, CATALOG)
    assert told(runs) == wired(design.ledger.links)
    places = {d.name: (d.rack, d.unit) for d in design.ledger.devices}
    modules = {(s.device, s.group, s.cage): s.part for s in design.ledger.seats}
    for run in runs:
        for end in both(run):
            assert (end.rack, end.unit) == places[end.device]
            assert end.module == modules.get((end.device, end.cage_group, end.cage), "")


def test_real_designs_are_told_in_full(split: Design, rows_apart: Design) -> None:
    """So it is for designs of the shipped catalogue, with splitters and over many racks."""
    for design in (split, rows_apart):
        assert told(schedule(design, SHIPPED)) == wired(design.ledger.links)
    assert any(run.leg == 2 for run in schedule(split, SHIPPED))


# --- polarity and connectors ------------------------------------------------------------------------------------------


def test_plugs_are_those_that_the_sockets_take(split: Design, rows_apart: Design) -> None:
    """R10, R11: at every module the cord ends in the connector and polish of that module, at a cage in its plug."""
    seen = set()
    for design in (split, rows_apart):
        for run in schedule(design, SHIPPED):
            for end in both(run):
                if end.module:
                    connector = SHIPPED.modules[end.module].connector
                    assert end.connector == f"{connector.kind}/{connector.polish}"
                seen.add(end.connector)
    assert {"MPO-12/APC", "RJ45"} <= seen


CROSSED = {"MPO-12": ("Type B", "crossover"), "MPO-16": ("Type B", "crossover"), "LC": ("A-B",)}
CORDS = [f for f in SHIPPED.fibres.values() if f.kind is not FibreKind.TRUNK and not f.gender.startswith("male")]


@pytest.mark.parametrize("fibre", CORDS, ids=lambda fibre: fibre.id)
def test_polarity_is_that_of_the_kind_of_fibre(fibre: Fibre) -> None:
    """R12: a parallel cord crosses over as type B, a duplex cord as A to B; each leg has fibres of its own."""
    medium = medium_of(f"{fibre.id}-n{fibre.lengths[0].length_m:03.0f}", SHIPPED)
    assert medium.polarity in CROSSED[fibre.connector_a.kind]
    assert medium.name == fibre.grade
    assert len(medium.fibres) == medium.legs == fibre.legs
    if fibre.connector_a.kind == "MPO-12" and fibre.fibres == 8 and fibre.kind is not FibreKind.CONVERSION:
        positions = [position for leg in medium.fibres for position in _positions(leg)]
        # 8 of 12 positions are filled, the outer four on either side, and each lane takes a mirrored pair.
        assert sorted(positions) == [1, 2, 3, 4, 9, 10, 11, 12]
        for leg in medium.fibres:
            assert {13 - position for position in _positions(leg)} == set(_positions(leg))
    else:
        assert set(medium.fibres) == {""}


def _positions(text: str) -> list[int]:
    found: list[int] = []
    for span in text.split():
        first, _, last = span.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def test_a_trunk_of_type_a_is_not_called_type_b() -> None:
    """What the catalogue says about a fibre is handed on as it is."""
    trunk = next(f for f in SHIPPED.fibres.values() if f.polarity.startswith("Type A"))
    assert medium_of(f"{trunk.id}-n{trunk.lengths[0].length_m:03.0f}", SHIPPED).polarity == trunk.polarity


def test_copper_and_active_cables_have_no_polarity() -> None:
    """An assembly with fixed ends cannot be crossed, so nothing is said about it; its medium is its technology."""
    for cable in SHIPPED.cables.values():
        medium = medium_of(f"{cable.id}-n{cable.lengths[0].length_m:03.0f}", SHIPPED)
        assert (medium.polarity, set(medium.fibres)) == ("", {""})
        assert medium.name == cable.kind.value
    assert medium_of("nobody-sells-this", SHIPPED).part is None


def test_legs_of_a_breakout_take_the_lanes_in_their_order(split: Design) -> None:
    """Leg 1 of a 1:2 splitter carries the first two lanes, to the lower port of the head; leg 2 the others."""
    legs = [run for run in schedule(split, SHIPPED) if run.fabric == "backend"]
    assert {(run.leg, run.fibres, run.polarity) for run in legs} == {
        (1, "1-2 11-12", "Type B"),
        (2, "3-4 9-10", "Type B"),
    }
    for first, second in zip(legs[::2], legs[1::2], strict=True):
        assert first.assembly == second.assembly
        assert first.head == second.head == "a"
        assert int(first.a.port) + 1 == int(second.a.port)
        assert (first.a.label, first.pull) == (second.a.label, second.pull)
        assert first.b.label != second.b.label
        tails = [run.b.label.split(" > ")[0].partition(" ")[2] for run in (first, second)]
        assert first.a.label.endswith(f"/{first.a.port}+{second.a.port} > {' + '.join(tails)}")


@pytest.mark.parametrize(("kind", "heads"), [("dac", {"a"}), ("split", {"a"}), ("straight", {""})])
def test_the_head_is_where_one_plug_serves_all_legs(kind: str, heads: set[str]) -> None:
    """The head of a splitter is at the leaf; wired the other way round, it is found at the other end."""
    design = one_rack(kind)
    assert {run.head for run in schedule(design, CATALOG)} == heads
    turned = {"a": "b"}
    swapped = schedule(with_ledger(design, links=[swap(link) for link in design.ledger.links]), CATALOG)
    assert {run.head for run in swapped} == {turned.get(side, side) for side in heads}


def swap(link: Link) -> Link:
    """The link with its ends exchanged."""
    return link._replace(
        a_device=link.b_device,
        a_group=link.b_group,
        a_cage=link.b_cage,
        a_port=link.b_port,
        b_device=link.a_device,
        b_group=link.a_group,
        b_cage=link.a_cage,
        b_port=link.a_port,
    )


def test_a_splitter_with_one_leg_in_use_is_laid_like_the_others() -> None:
    """Its lone link leaves open where the head is; others of its kind tell, and its label says one far end."""
    design = one_rack("split")
    lone = with_ledger(design, links=[swap(link) for link in design.ledger.links[:3]])
    runs = schedule(lone, CATALOG)
    last = next(run for run in runs if run.assembly == design.ledger.links[2].assembly)
    assert (last.head, last.leg, last.fibres) == ("b", 1, "1-2 11-12")
    assert "+" not in last.a.label + last.b.label


def test_a_head_is_known_by_more_ports_than_its_module_has_sockets() -> None:
    """Where both legs end in one twin-port module, cages do not tell head and legs apart, but ports do."""
    splitter = medium_of("nv-mfp7e20-n010", SHIPPED)
    low = [Link("f", "c", 200, "x", "g", 1, port, "y", "g", 1, port, 1, "m", 10) for port in (1, 2)]
    high = [Link("f", "c", 200, "x", "g", 1, port - 2, "y", "g", 1, port, 2, "m", 10) for port in (3, 4)]
    twin = Socket("MPO-12/APC", 2)
    assert head_side(splitter, [[[link] for link in low]], twin, twin) == "a"
    assert head_side(splitter, [[[link] for link in low], [[link] for link in high]], twin, twin) == "b"


def test_a_cord_with_unlike_ends_is_turned_to_fit() -> None:
    """A straight cord between unlike connectors has its head at the module that takes it."""
    cord = Medium(None, "OM4", "MPO-12/APC", "LC/UPC", 1, "", ("",))
    mpo, lc = Socket("MPO-12/APC", 1), Socket("LC/UPC", 1)
    assert head_side(cord, [], mpo, lc) == "a"
    assert head_side(cord, [], lc, mpo) == "b"


# --- names and labels -------------------------------------------------------------------------------------------------


def test_ends_are_named_by_rack_and_unit() -> None:
    """The place that a person walks to: rack, unit, then group, cage and port; a PDU has no unit and keeps its name."""
    runs = schedule(two_by_two(), CATALOG)
    link = next(run for run in runs if run.link_class == "leaf-spine")
    near, far = f"r01-n01-U{link.a.unit:02d}", f"r01-n01-U{link.b.unit:02d}"
    a, b = (f"{end.cage_group}/{end.cage}/{end.port}" for end in both(link))
    assert link.a.label == f"{link.assembly} {near}:{a} > {far}:{b}"
    assert link.b.label == f"{link.assembly} {far}:{b} > {near}:{a}"
    assert {run.b.label.split(" > ")[0].split()[1] for run in runs if run.b.device == "pdu-1"} == {"pdu-1:mgmt/1/1"}


def test_devices_that_share_a_place_keep_their_names() -> None:
    """Two boxes in one unit would have labels alike, so there the names stand."""
    design = two_by_two()
    devices = [d._replace(unit=1) if d.kind == "switch" else d for d in design.ledger.devices]
    texts = [label.text for label in labels(schedule(with_ledger(design, devices=devices), CATALOG))]
    assert len(set(texts)) == len(texts)
    assert any("leaf-1:" in text for text in texts)


def plugs(design: Design, catalog: Catalog) -> int:
    """Plugs of all pieces, counted from the ledger: a straight piece has 2, a splitter a head and its used legs."""
    count = 0
    for number in {link.assembly for link in design.ledger.links}:
        links = [link for link in design.ledger.links if link.assembly == number]
        if split_medium_id(links[0].medium)[0] in catalog.fibres:
            count += 1 + len(links)
        else:
            count += 1 + len({(x.a_device, x.a_group, x.a_cage, x.b_device, x.b_group, x.b_cage) for x in links})
    return count


def test_no_two_labels_are_alike_and_every_plug_has_one(split: Design) -> None:
    """As many labels as plugs, all different, each the text of the schedule for that end."""
    designs = [(two_by_two(), CATALOG), (two_pods(), CATALOG), (split, SHIPPED)]
    designs += [(one_rack(kind), CATALOG) for kind in ("dac", "split", "straight")]
    for design, catalog in designs:
        runs = schedule(design, catalog)
        texts = [label.text for label in labels(runs)]
        assert len(texts) == len(set(texts)) == plugs(design, catalog)
        assert set(texts) == {end.label for run in runs for end in both(run)}


# --- order ------------------------------------------------------------------------------------------------------------


def test_bundles_hold_what_runs_together(rows_apart: Design, split: Design) -> None:
    """A bundle is of one fabric, part and route, no thicker than allowed, and its pulls follow one another."""
    for design in (rows_apart, split):
        runs = schedule(design, SHIPPED)
        assert [run.pull for run in runs] == sorted(run.pull for run in runs)
        assert {run.pull for run in runs} == set(range(1, len({run.assembly for run in runs}) + 1))
        found = bundles(runs)
        assert sum(bundle.pieces for bundle in found) == len({run.assembly for run in runs})
        assert [bundle.bundle for bundle in found] == sorted({run.bundle for run in runs})
        for before, after in pairwise(found):
            assert after.first_pull == before.last_pull + 1
        for bundle in found:
            inside = [run for run in runs if run.bundle == bundle.bundle]
            assert len({(run.fabric, run.part, run.route) for run in inside}) == 1
            assert 1 <= bundle.pieces <= BUNDLE_MOST
            racks = {frozenset((run.a.rack, run.b.rack)) for run in inside if run.leg == 1}
            if len(racks) == 1:
                assert {bundle.a_place, bundle.b_place} == set(next(iter(racks)))
            else:
                assert bundle.route in (bundle.a_place, f"{bundle.a_place} > {bundle.b_place}")


def test_few_cables_between_two_racks_go_with_their_rows() -> None:
    """Four leaves in one rack send 16 cables to a rack of servers; spread over 12 racks, few go from rack to rack."""
    design = two_pods()
    places = [p._replace(name=f"r0{i}-c01", y_m=3.0 * i) for i, p in enumerate(design.ledger.places, start=1)]
    names = {old.name: new.name for old, new in zip(design.ledger.places, places, strict=True)}
    devices = [d._replace(rack=names[d.rack]) for d in design.ledger.devices]
    together = bundles(schedule(with_ledger(design, places=places, devices=devices), CATALOG))
    assert all({bundle.a_place, bundle.b_place} <= set(names.values()) for bundle in together)
    # One server in every rack of row 1: a leaf has one cable to each, fewer than a bundle needs.
    racks = [places[0]._replace(name=f"r01-c0{i}", x_m=0.6 * i) for i in range(1, 9)]
    spread = [d._replace(rack=f"r01-c0{i + 1}") if d.kind == "server" else d for i, d in enumerate(devices)]
    moved = with_ledger(design, places=[*racks, *places[1:]], devices=spread)
    pairs = Counter(frozenset((run.a.rack, run.b.rack)) for run in schedule(moved, CATALOG))
    assert min(pairs.values()) < BUNDLE_LEAST
    found = [bundle for bundle in bundles(schedule(moved, CATALOG)) if bundle.route == "r01 > r03"]
    assert [(bundle.a_place, bundle.b_place, bundle.pieces) for bundle in found] == [("r01", "r03", 16)]


def test_long_routes_between_rows_are_pulled_first(rows_apart: Design) -> None:
    """Between rows, then along a row, then within a rack; of each, the route with the longest cables first."""
    rows = {place.name: place.y_m for place in rows_apart.ledger.places}
    order = []
    for run in schedule(rows_apart, SHIPPED):
        a, b = run.a.rack, run.b.rack
        kind = IN_RACK if a == b else ALONG_ROW if rows[a] == rows[b] else BETWEEN_ROWS
        if not order or order[-1][1] != run.route:
            order.append((kind, run.route, run.length_m))
        # Within a route, a cable is no longer than those before it.
        assert run.length_m <= order[-1][2]
        order[-1] = (kind, run.route, order[-1][2])
    assert len({route for _, route, _ in order}) == len(order) > 4
    assert [kind for kind, _, _ in order] == sorted(kind for kind, _, _ in order)
    for kind in (BETWEEN_ROWS, ALONG_ROW):
        lengths = [length for k, _, length in order if k == kind]
        assert lengths == sorted(lengths, reverse=True)


# --- files ------------------------------------------------------------------------------------------------------------


def test_csv_and_workbook_hold_the_same_schedule(split: Design, tmp_path: Path) -> None:
    """Row for row the same runs in the same order, in the file of optimize, in the export and on the sheet."""
    from openpyxl import load_workbook

    runs = schedule(split, SHIPPED)
    write_all(tmp_path, export(split, SHIPPED, "cabling-csv"))
    with (tmp_path / "cabling.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert tuple(rows[0]) == CABLING_COLUMNS
    assert [(row["pull"], row["a_label"], row["b_label"], row["polarity"]) for row in rows] == [
        (str(run.pull), run.a.label, run.b.label, run.polarity) for run in runs
    ]
    made = export(split, SHIPPED, "cabling-xlsx")["cabling.xlsx"]
    assert isinstance(made, bytes)
    book = load_workbook(io.BytesIO(made))
    assert book.sheetnames == ["Bundles", "Cabling", "Lengths"]
    sheet = list(book["Cabling"].iter_rows(values_only=True))
    head = next(i for i, row in enumerate(sheet) if row[0] == "Pull")
    lines = [dict(zip(sheet[head], row, strict=True)) for row in sheet[head + 1 :]]
    assert [(x["Pull"], x["Leg"], x["A label"], x["B label"]) for x in lines] == [
        (run.pull, run.leg, run.a.label, run.b.label) for run in runs
    ]
    total = next(row for row in book["Bundles"].iter_rows(values_only=True) if row[0] == "Total")
    assert total[8] == len({link.assembly for link in split.ledger.links})
    order = list(book["Lengths"].iter_rows(values_only=True))
    pieces = {link.assembly: link.medium for link in split.ledger.links}
    assert {row[0]: row[6] for row in order if row[0] in set(pieces.values())} == Counter(pieces.values())


def test_files_are_the_same_at_any_hour(split: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """No clock stands in a schedule or on a label sheet."""
    import time

    first = [export(split, SHIPPED, name) for name in ("cabling-xlsx", "labels-pdf")]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 100_000)
    assert [export(split, SHIPPED, name) for name in ("cabling-xlsx", "labels-pdf")] == first


def test_a_cluster_of_16384_gpus_has_every_link_once() -> None:
    """Half a hundred thousand cables: all there, no two labels alike, thick bundles, no route torn apart."""
    design = optimize(HUGE)
    runs = schedule(design, SHIPPED)
    assert told(runs) == wired(design.ledger.links)
    texts = [label.text for label in labels(runs)]
    assert len(texts) == len(set(texts)) == 2 * len(runs) > 90_000
    found = bundles(runs)
    assert len(found) < len(runs) / 12
    routes = [bundle.route for i, bundle in enumerate(found) if i == 0 or found[i - 1].route != bundle.route]
    assert len(routes) == len(set(routes))


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHEETS)
def test_labels_are_on_the_sheet_once_and_inside_their_stickers(split: Design, name: str) -> None:
    """Read back from the PDF: every label once, each line within its sticker, none on a sticker that is used up."""
    from pypdf import PdfReader
    from reportlab.pdfbase.pdfmetrics import stringWidth

    form, skip = SHEETS[name], 3
    reader = PdfReader(io.BytesIO(labels_pdf(split, SHIPPED, name, skip)))
    stickers: dict[tuple[int, int, int], list[str]] = {}
    per_mm = 72 / 25.4
    for number, page in enumerate(reader.pages):
        height = float(page.mediabox.height)
        assert (float(page.mediabox.width), height) == pytest.approx(
            tuple(side * per_mm for side in form.page_mm), abs=0.01
        )
        for x, y, size, bold, text in lines_of(page):
            column = int((x / per_mm - form.margin_mm[0]) // form.pitch_mm[0])
            row = int(((height - y) / per_mm - form.margin_mm[1]) // form.pitch_mm[1])
            left, top = form.margin_mm[0] + column * form.pitch_mm[0], form.margin_mm[1] + row * form.pitch_mm[1]
            width = stringWidth(text, "Helvetica-Bold" if bold else "Helvetica", size)
            assert left < x / per_mm
            assert (x + width) / per_mm <= left + form.label_mm[0] + 0.01
            assert top < (height - y) / per_mm - size * 0.2 / per_mm
            assert (height - y) / per_mm <= top + form.label_mm[1]
            assert size >= 3.5
            stickers.setdefault((number, row, column), []).append(text)
    spoken = [said(lines) for _, lines in sorted(stickers.items())]
    wanted = [label.text for label in labels(schedule(split, SHIPPED))]
    assert spoken == wanted
    per_page = form.columns * form.rows
    assert min(stickers) == (0, *divmod(skip, form.columns))
    assert len(reader.pages) == -(-(len(wanted) + skip) // per_page)


def lines_of(page: Any) -> list[tuple[float, float, float, bool, str]]:
    """Every line of text on a page: place, size, weight and what it says."""
    found: list[tuple[float, float, float, bool, str]] = []

    def visit(text: str, cm: Any, tm: Any, font: Any, size: float) -> None:
        if text.strip():
            found.append((tm[4] + cm[4], tm[5] + cm[5], size, "Bold" in str(font["/BaseFont"]), text.strip("\n")))

    page.extract_text(visitor_text=visit)
    return found


def said(lines: list[str]) -> str:
    """The text of the schedule, put together from the lines of one sticker."""
    number, near = re.fullmatch(r"#(\d+)  (\S+)", lines[0]).groups()  # type: ignore[union-attr]
    far = [line.partition(" ")[2] for line in lines[1:] if re.match(r"(to|\+) ", line)]
    return f"{number} {near} > {' + '.join(far)}"


@pytest.mark.parametrize("name", SHEETS)
def test_sheets_are_symmetrical(name: str) -> None:
    """A sheet of stickers has equal margins left and right, top and bottom, and its labels do not overlap."""
    form = SHEETS[name]
    for side in (0, 1):
        count = (form.columns, form.rows)[side]
        used = form.margin_mm[side] + (count - 1) * form.pitch_mm[side] + form.label_mm[side]
        assert form.page_mm[side] - used == pytest.approx(form.margin_mm[side], abs=0.3)
        assert form.pitch_mm[side] >= form.label_mm[side]
    assert name in LABELS_EXAMPLES
    assert SHEET in SHEETS


def test_the_command_writes_labels_and_says_what_is_wrong(tmp_path: Path) -> None:
    """A sheet by its name, used stickers, and one line for a sheet that does not exist or a name of another kind."""
    design = optimize({"cluster": {"gpus": 8, "server": "dgx-h100"}, "fabrics": {"backend": {}}})
    (tmp_path / "design.json").write_text(write_design(design), encoding="utf-8")
    place = tmp_path / "labels.pdf"

    def run(*words: str) -> Any:
        return CliRunner().invoke(cli.app, ["labels", str(tmp_path), *words])

    done = run("-o", str(place), "--sheet", "a4-3x8", "--skip", "2")
    assert (done.exit_code, done.stdout) == (Exit.DONE, "")
    assert place.read_bytes() == labels_pdf(design, SHIPPED, "a4-3x8", 2)
    for words, reason in (
        (("-o", str(place), "--sheet", "a4-3x9"), "nearest: a4-3x8"),
        (("-o", str(place), "--skip", "30"), "fewer than the 30"),
        (("-o", str(tmp_path / "labels.txt")), "ends in .pdf"),
    ):
        done = run(*words)
        assert done.exit_code == Exit.BAD_INPUT
        assert reason in done.stderr
    with pytest.raises(ValueError, match="24 labels"):
        labels_pdf(design, SHIPPED, "a4-3x8", 24)
