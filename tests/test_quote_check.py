"""Quoted lists: faults of published bills are found, and the number of links is the most there is, by plain search."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gpunet
from gpunet import cli
from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog, medium_id
from gpunet.models.parts import Catalog
from gpunet.models.quote import QuoteCheck, QuoteFile, QuoteLine, UnmatchedLine
from gpunet.report.quote_check_text import check_report
from gpunet.report.screen import Screen, render
from gpunet.shell import Exit
from gpunet.solver.quote_case import check_with_case, fit_case
from gpunet.solver.quote_check import check_quote

ROOT = Path(__file__).parent.parent
CATALOG = load_catalog()


def listed(pieces: Mapping[str, int]) -> QuoteFile:
    return QuoteFile(supplier="x", lines=tuple(QuoteLine(part=p, unit_usd=1, quantity=n) for p, n in pieces.items()))


def checked(pieces: Mapping[str, int], have: Mapping[str, int] | None = None, catalog: Catalog = CATALOG) -> QuoteCheck:
    found = check_quote(listed(pieces), catalog, have)
    assert found.links == found.links_bound
    return found


def missing(found: QuoteCheck) -> dict[str, int]:
    return {x.part: x.quantity for x in found.missing}


def over(found: QuoteCheck) -> dict[str, tuple[int, str]]:
    return {x.part: (x.quantity, x.rule) for x in found.leftover}


NDR = {"ib-qm9700": 12, "nv-mma4z00-ns": 384, "nv-mfp7e10-n030": 416}
HOSTS = {"nv-mma4z00-ns-flt": 128, "nv-mfp7e10-n015": 96}


# --- lists that are right ---------------------------------------------------------------------------------------------


def test_a_right_list() -> None:
    """The parts of the 256-GPU backend make its 512 links with its servers, and nothing stays over."""
    found = checked({**NDR, **HOSTS}, {"dgx-h100:backend": 32})
    assert found.builds
    assert found.links == found.links_then == 512
    assert not found.leftover
    assert not found.missing
    assert not found.free_cages
    assert not found.open_ports


def test_spare_fibres_are_no_fault() -> None:
    """More fibres than links can be cabled; how many are too many is told."""
    found = checked(NDR)
    assert found.builds
    assert over(found) == {"nv-mfp7e10-n030": (32, "")}


def test_mixed_generations_and_splitters() -> None:
    """400G QSFP-DD leaves under 800G spines mate over half of a twin-port module each; a splitter serves two links."""
    down = checked({"eth-sn5400": 2, "eth-sn5600": 1, "qdd-400g-dr4": 64, "nv-mms4x00-nm-t": 32, "nv-mfp7e30-n030": 64})
    assert down.builds
    assert down.links == 64
    split = {"ib-qm9700": 1, "nv-mma4z00-ns": 1, "nv-mfp7e20-n010": 2, "nv-mma4z00-ns400": 4, "cx7-osfp": 4}
    assert checked(split).links == 4
    assert checked(split).builds
    legs = checked({"ib-qm9700": 1, "nv-mcp7y00-n002": 2, "cx7-osfp": 4})
    assert (legs.builds, legs.links) == (True, 4)


# --- faults of published bills ----------------------------------------------------------------------------------------


def test_more_cables_than_ports() -> None:
    """200 leaf-spine cables on 4 x 36 spine ports: of the whole list as many cables stay over as there are too many."""
    switch = CATALOG.switches["ib-qm8700"]
    cages = tuple(group.model_copy(update={"count": 36}) for group in switch.cages)
    narrow = switch.model_copy(update={"cages": cages, "max_logical_ports": None})
    catalog = CATALOG.model_copy(update={"switches": {**CATALOG.switches, "ib-qm8700": narrow}})
    # 8 leaves, 18 servers' cards on each, and the 200 cables up to the 4 spines.
    found = checked({"ib-qm8700": 12, "nv-mcp1650-n002": 200 + 144, "cx6-vpi": 144}, catalog=catalog)
    assert not found.builds
    assert found.links == 144 + (12 * 36 - 144) // 2
    assert over(found) == {"nv-mcp1650-n002": (200 - 144, "")}
    assert missing(found) == {"ib-qm8700": 4}


def test_uplinks_that_do_not_close() -> None:
    """32 leaves with 16 uplinks each into 8 spines of 32 ports: 256 of 512 links have no second port."""
    leaf = {"eth-sn3700": 32, "gen-200g-sr4": 1024, "gen-mpo12-om4-upc-n010": 512}
    found = checked({**leaf, "eth-sn3700": 32 + 8}, {})
    assert found.links == 512
    hosts = {"cx6-vpi": 512, "nv-mcp1650-n001": 512}
    found = checked({**leaf, **hosts, "eth-sn3700": 32 + 8})
    assert not found.builds
    assert found.links == 512 + (40 * 32 - 512) // 2
    assert missing(found)["eth-sn3700"] == 8


def test_optics_for_one_end_only() -> None:
    """Modules for the switches and none for the cards: the cards stay dark, and just their modules are missing."""
    found = checked({"ib-qm9700": 1, "nv-mma4z00-ns": 32, "nv-mfp7e10-n030": 64, "cx7-osfp": 64})
    assert not found.builds
    assert found.links == 0
    assert [(x.part, x.quantity) for x in found.open_ports] == [("cx7-osfp", 64)]
    ((part, count),) = missing(found).items()
    assert (CATALOG.modules[part].interface, count) == ("400G-VR4", 64) or count == 64
    assert found.links_then == 64
    back = checked({"ib-qm9700": 1, "nv-mma4z00-ns400": 64, "nv-mfp7e10-n030": 64, "cx7-osfp": 64})
    assert over(back)["nv-mma4z00-ns400"] == (64, "")
    assert "one end only" in next(x.why for x in back.leftover if x.part == "nv-mma4z00-ns400")
    assert missing(back) == {"nv-mma4z00-ns": 32}


def test_single_mode_modules_on_multimode_fibre() -> None:
    """208 single-mode modules and only OM4 glass: no link, rule R5, and 208 jumpers of the right glass are missing."""
    found = checked({"ib-qm9700": 8, "nv-mms4x00-nm": 208, "nv-mfp7e10-n030": 208})
    assert found.links == 0
    assert over(found)["nv-mms4x00-nm"] == (208, "R5")
    assert over(found)["nv-mfp7e10-n030"] == (208, "R5")
    assert missing(found) == {"nv-mfp7e30": 208}
    assert found.links_then == 208
    turned = checked({"ib-qm9700": 2, "nv-mma4z00-ns": 8, "nv-mfp7e30-n030": 8})
    assert (turned.links, over(turned)["nv-mma4z00-ns"]) == (0, (8, "R5"))
    assert missing(turned) == {"nv-mfp7e10": 8}


def test_cages_counted_and_links_not() -> None:
    """32 fibres for 64 links of 64 twin-port modules: half of the modules are dark, and 32 fibres are missing."""
    found = checked({"ib-qm9700": 2, "nv-mma4z00-ns": 64, "nv-mfp7e10-n030": 32})
    assert (found.links, found.links_then) == (32, 64)
    assert over(found) == {"nv-mma4z00-ns": (32, "")}
    assert missing(found) == {"nv-mfp7e10": 32}


def test_a_cable_counted_once_per_end() -> None:
    """64 cables for two switches of 32 cages are twice what fits."""
    found = checked({"ib-qm9700": 2, "nv-mcp4y10-n001": 64})
    assert over(found) == {"nv-mcp4y10-n001": (32, "")}
    assert found.links == 64


def test_a_single_port_module_in_a_twin_port_cage() -> None:
    """The cage does not take it, and the cards that do are named."""
    found = checked({"eth-sn5600": 2, "osfp112-400g-dr4": 8, "nv-mfp7e30-n030": 8})
    assert found.hopeless == {"osfp112-400g-dr4": 8}
    assert over(found)["osfp112-400g-dr4"][1] in ("R2", "R3")
    assert "--have" in found.notes[0]


def test_another_modulation_never_links() -> None:
    """HDR modules of one switch and NDR modules of another have no mate, though both are SR4 on the same fibre."""
    found = checked({"ib-qm8700": 1, "ib-qm9700": 1, "nv-mma1t00-vs": 16, "nv-mma4z00-ns": 8, "nv-mfp7e10-n010": 16})
    assert found.links == 0
    assert over(found)["nv-mma1t00-vs"] == (16, "R5")
    assert over(found)["nv-mma4z00-ns"] == (8, "R5")


def test_wrong_connector_polish_and_length() -> None:
    """UPC cords on APC modules (R11), LC cords on MPO modules (R10), and cords longer than the modules reach (R7)."""
    base = {"ib-qm9700": 2, "nv-mma4z00-ns": 4}
    for cord, rule in (("gen-mpo12-om4-upc-n010", "R11"), ("gen-lc-om4-n010", "R10")):
        found = checked({**base, cord: 4})
        assert (found.links, over(found)[cord]) == (0, (4, rule))
    long = checked({"eth-sn5600": 2, "nv-mms4x00-ns-t": 4, "nv-mfp7e30-n150": 4})
    assert long.links == 0
    assert over(long)["nv-mfp7e30-n150"] == (4, "R7")


def test_too_hot_and_refused() -> None:
    """A module above the limit of the cage (R15), and one that the switch's vendor refuses (R19), find no cage."""
    hot = checked({"ib-q3400": 2, "nv-mms4a00-ihs": 8, "nv-mfp7e30-n010": 16})
    assert over(hot)["nv-mms4a00-ihs"] == (8, "R15")
    switch = CATALOG.switches["ib-qm9700"].model_copy(update={"refuses_modules": ("nv-mma4z00-ns",)})
    catalog = CATALOG.model_copy(update={"switches": {**CATALOG.switches, "ib-qm9700": switch}})
    refused = checked({"ib-qm9700": 2, "nv-mma4z00-ns": 4, "nv-mfp7e10-n010": 4}, catalog=catalog)
    assert over(refused)["nv-mma4z00-ns"] == (4, "R19")


def test_hot_cages_are_counted() -> None:
    """Of 40 modules of 14 W only 16 a switch find a cage that stands them."""
    found = checked({"eth-sn5400": 2, "qdd-400g-lr8": 40, "gen-lc-os2-n010": 40})
    assert found.links == 16
    assert over(found)["qdd-400g-lr8"] == (8, "")


def test_one_switch_links_to_nothing() -> None:
    """A link joins two devices: the modules of a single switch have no mate."""
    found = checked({"ib-qm9700": 1, "nv-mma4z00-ns": 2, "nv-mfp7e10-n010": 2})
    assert found.links == 0
    assert not found.builds


def test_what_is_not_known_is_not_judged() -> None:
    """Unknown lines and lines without quantity are named."""
    quote = QuoteFile(
        supplier="x",
        lines=(QuoteLine(part="ib-qm9700", unit_usd=1),),
        unmatched=(UnmatchedLine(sku="MYSTERY"),),
    )
    found = check_quote(quote, CATALOG)
    assert found.unmatched == ("MYSTERY",)
    assert found.without_quantity == ("ib-qm9700",)
    for part in ("dgx-h1000", "dgx-h100:gpu", "nv-mfp7e10", "nv-mma4z00-ns:backend"):
        with pytest.raises(ValueError, match="expected"):
            check_quote(quote, CATALOG, {part: 1})


# --- the most links, against plain search -----------------------------------------------------------------------------

CAGES = 2
FAMILIES = {"nv-mma4z00-ns": "nv-mfp7e10", "nv-mms4x00-nm": "nv-mfp7e30"}
"""Twin-port modules that mate among themselves alone, and the fibre that joins them."""


def small_catalog() -> Catalog:
    """The catalogue with two cages on the switch, so that few modules fill it."""
    switch = CATALOG.switches["ib-qm9700"]
    cages = tuple(group.model_copy(update={"count": CAGES}) for group in switch.cages)
    small = switch.model_copy(update={"cages": cages, "max_logical_ports": None})
    return CATALOG.model_copy(update={"switches": {**CATALOG.switches, "ib-qm9700": small}})


SMALL = small_catalog()


def placements(switches: int, modules: Mapping[str, int]) -> Iterator[list[Counter[str]]]:
    """Every way to put modules, or fewer of them, into the cages of the switches."""
    kinds = list(modules)
    one = [
        Counter({k: n for k, n in zip(kinds, counts, strict=True) if n})
        for counts in itertools.product(range(CAGES + 1), repeat=len(kinds))
        if sum(counts) <= CAGES
    ]
    for chosen in itertools.combinations_with_replacement(range(len(one)), switches):
        total: Counter[str] = sum((one[i] for i in chosen), Counter())
        if all(total[k] <= modules[k] for k in kinds):
            yield [one[i] for i in chosen]


def most_by_search(switches: int, modules: Mapping[str, int], fibres: Mapping[str, int]) -> int:
    """The most links over all placements: per family a greatest matching of ports on different switches."""
    best = 0
    for placed in placements(switches, modules):
        links = 0
        for module in modules:
            graph = nx.Graph()
            ports = [(i, p) for i, held in enumerate(placed) for p in range(2 * held[module])]
            graph.add_edges_from((a, b) for a, b in itertools.combinations(ports, 2) if a[0] != b[0])
            links += min(len(nx.max_weight_matching(graph, maxcardinality=True)), fibres[module])
        best = max(best, links)
    return best


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4), st.tuples(st.integers(0, 5), st.integers(0, 4)), st.tuples(st.integers(0, 8), st.integers(0, 6))
)
@example(2, (3, 0), (9, 0))
@example(3, (3, 3), (3, 3))
@example(4, (5, 3), (8, 6))
def test_no_plain_search_finds_more(switches: int, modules: tuple[int, int], fibres: tuple[int, int]) -> None:
    """For small lists the number of links is exactly the most that trying every placement of every module finds."""
    kinds = list(FAMILIES)
    counts, cords = dict(zip(kinds, modules, strict=True)), dict(zip(kinds, fibres, strict=True))
    pieces = {"ib-qm9700": switches, **{k: n for k, n in counts.items() if n}}
    pieces |= {medium_id(FAMILIES[k], 10): n for k, n in cords.items() if n}
    found = checked(pieces, catalog=SMALL)
    assert found.links == most_by_search(switches, counts, cords)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 4), st.integers(0, 6), st.integers(0, 8), st.integers(0, 4))
@example(1, 1, 0, 1)
@example(4, 0, 0, 1)
@example(2, 3, 2, 3)
def test_what_is_missing_is_enough(switches: int, modules: int, fibres: int, cards: int) -> None:
    """With the missing parts added the list builds; a check of the longer list says so."""
    pieces = {"ib-qm9700": switches, "nv-mma4z00-ns": modules, "nv-mfp7e10-n010": fibres, "cx7-osfp": cards}
    pieces = {part: n for part, n in pieces.items() if n}
    first = checked(pieces, catalog=SMALL)
    if first.builds:
        assert not first.missing
        return
    assert first.missing
    more = Counter(pieces)
    for x in first.missing:
        media = SMALL.fibres.get(x.part)
        more[medium_id(x.part, media.lengths[0].length_m) if media else x.part] += x.quantity
    assert checked(more, catalog=SMALL).builds
    for x in first.missing:
        media = SMALL.fibres.get(x.part)
        part = medium_id(x.part, media.lengths[0].length_m) if media else x.part
        less = Counter({**more, part: more[part] - 1})
        assert not checked(+less, catalog=SMALL).builds, f"one {part} fewer would have done"


# --- with a case ------------------------------------------------------------------------------------------------------


def small_case() -> dict[str, object]:
    backend = {"protocols": ["infiniband"], "parts": {"allow": ["ib-qm9700"]}}
    return {"cluster": {"servers": 4, "server": "dgx-h100"}, "fabrics": {"backend": backend}}


def test_a_list_against_a_case() -> None:
    """The parts of the best design build it; without one kind of them just that kind is missing, to the piece."""
    case = case_from_data(small_case(), CATALOG)
    bom = {line.part: line.quantity for line in gpunet.optimize(case).result.bom}
    whole = fit_case(listed(bom), case, CATALOG)
    assert (whole.status, whole.missing, whole.surplus) == ("builds", (), {})
    rest = {part: n for part, n in bom.items() if part != "ib-qm9700"}
    short = fit_case(listed(rest), case, CATALOG)
    assert {x.part: x.quantity for x in short.missing} == {"ib-qm9700": bom["ib-qm9700"]}
    less = fit_case(listed({**bom, "nv-mma4z00-ns": bom["nv-mma4z00-ns"] - 3, "ib-q3400": 2}), case, CATALOG)
    assert {x.part: x.quantity for x in less.missing} == {"nv-mma4z00-ns": 3}
    assert less.surplus == {"ib-q3400": 2}
    owned = fit_case(listed({**bom, "nv-mma4z00-ns": 1}), case, CATALOG, {"nv-mma4z00-ns": 100})
    assert owned.status == "builds"


def test_the_servers_of_a_case_are_there() -> None:
    """With a case the servers' modules have cages, none of which must be linked; named with --have they must be."""
    case = case_from_data(small_case(), CATALOG)
    bom = {line.part: line.quantity for line in gpunet.optimize(case).result.bom}
    found = check_with_case(listed(bom), case, CATALOG)
    assert (found.builds, found.have) == (True, {"dgx-h100:*": 4})
    named = check_with_case(listed(bom), case, CATALOG, {"dgx-h100": 4})
    assert {x.cages for x in named.open_ports} == {"storage", "frontend"}


def test_a_case_without_a_design() -> None:
    """Where no parts at all build the case, that is said, and not that something is missing."""
    case = case_from_data({**small_case(), "parts": {"deny": ["switch:*"]}}, CATALOG)
    fit = fit_case(listed({"ib-qm9700": 12}), case, CATALOG)
    assert fit.status == "infeasible"
    assert not fit.missing


def test_a_cost_limit_is_set_aside() -> None:
    """Whether a list builds a case does not hang on what it costs; that this was left out is told."""
    data = {**small_case(), "limits": {"cost_usd": 1}}
    case = case_from_data(data, CATALOG)
    bom = {line.part: line.quantity for line in gpunet.optimize(small_case()).result.bom}
    fit = fit_case(listed(bom), case, CATALOG)
    assert fit.status == "builds"
    assert "limits.cost_usd" in fit.notes[0]


# --- report, command, Python ------------------------------------------------------------------------------------------


def shown(check: QuoteCheck) -> str:
    return " ".join(render(check_report(check), Screen(width=200)).split())


def test_the_report() -> None:
    """The verdict comes first; reasons, missing parts and the proof are in it."""
    good = shown(checked({**NDR, **HOSTS}, {"dgx-h100:backend": 32}))
    assert good.startswith("The list of x can be cabled, with 32 x dgx-h100:backend there already")
    assert "512 links can be built, port to port, and no way of cabling builds more: proven." in good
    bad = shown(checked({"ib-qm9700": 8, "nv-mms4x00-nm": 208, "nv-mfp7e10-n030": 208}))
    assert bad.startswith("The list of x cannot be cabled as it is: ")
    assert "R5 nv-mfp7e10 is OM4 glass, which these modules do not use" in bad
    assert "nv-mfp7e30 208" in bad


def test_the_command(tmp_path: Path) -> None:
    """Exit code 0 where all is well, 1 where not; the table of a supplier will do; JSON is the whole answer."""
    runner = CliRunner()
    file = str(ROOT / "cases/quotes/reseller-a.yaml")
    good = runner.invoke(cli.app, ["quote", "check", file])
    assert good.exit_code == Exit.DONE, good.output
    bad = runner.invoke(cli.app, ["quote", "check", file, "--have", "dgx-h100:backend=32", "--json"])
    assert bad.exit_code == Exit.FAILED
    answer = QuoteCheck.model_validate(json.loads(bad.stdout))
    assert missing(answer)["nv-mma4z00-ns-flt"] == 128
    table = runner.invoke(cli.app, ["quote", "check", file.replace(".yaml", ".csv")])
    assert "MQM9700-NS2F" in table.stdout
    case = tmp_path / "case.yaml"
    case.write_text(json.dumps(small_case()))
    fit = runner.invoke(cli.app, ["quote", "check", file, "--case", str(case)])
    assert fit.exit_code == Exit.FAILED
    assert "The cheapest parts to add" in fit.stdout
    for have in ("dgx-h100", "dgx-h100=x", "dgx-h999=1"):
        wrong = runner.invoke(cli.app, ["quote", "check", file, "--have", have])
        assert wrong.exit_code == Exit.BAD_INPUT
        assert "--have" in wrong.stderr


def test_python() -> None:
    """The same for programs."""
    found = gpunet.check_quote(ROOT / "cases/quotes/reseller-a.yaml", case=small_case())
    assert found.builds
    assert found.fit is not None
    assert found.fit.status == "incomplete"
