"""Choices side by side: each the optimum of its own parts, bills that add up, and break-evens reckoned by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from exhaustive import least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import gpunet
from gpunet import cli
from gpunet.models.case import Case, FabricName, Objective
from gpunet.models.design import Status
from gpunet.models.parts import Catalog, Protocol
from gpunet.models.study_compare import Comparison, Economics
from gpunet.solver.break_even import least_efficiency, payback, slowdown
from gpunet.solver.choices import ANY, ChoiceError, cage_family, optics_family
from gpunet.solver.compare import compare
from gpunet.solver.eligible import eligible
from gpunet.solver.prices import PriceList
from gpunet.solver.tasks import Plan

CATALOG = awkward_catalog()
CASES = Path(__file__).parent.parent / "cases"
DILEMMA = str(CASES / "protocol-dilemma.yaml")
STATED = ("--costs", "infiniband=680000,ethernet=410000", "--efficiency", "ethernet=0.95")
SEEDS = range(12)


def value_of(case: Case, study: Comparison, choice: str) -> int | None:
    """The first objective of a choice, cents or milliwatts; none without a design."""
    design = study.of(choice).design
    if design is None:
        return None
    return {
        Objective.COST: round(design.cost_usd * 100),
        Objective.POWER: round(design.power_max_w * 1000),
        Objective.TCO: round(design.tco_usd * 100),
    }[case.objectives[0]]


def only(catalog: Catalog, **kept: set[str]) -> Catalog:
    """The catalogue with these switches, modules or cables alone."""
    tables = {kind: {k: v for k, v in getattr(catalog, kind).items() if k in ids} for kind, ids in kept.items()}
    return catalog.model_copy(update=tables)


def first(case: Case, catalog: Catalog = CATALOG) -> int | None:
    """The least first objective over all designs, by plain enumeration."""
    found = least(case, catalog)
    return None if found is None else found[0]


# --- every choice is the best of its kind -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_protocols_are_each_the_best_there_is(seed: int) -> None:
    """Enumeration with one protocol finds the same optimum, or nothing either; the better one is the case's own."""
    case = random_case(seed, CATALOG, "plain")
    study = compare(case, CATALOG, by="protocol")
    own = first(case)
    if own is None:
        assert study.status is Status.INFEASIBLE
        assert study.notes
        return
    backend = case.fabrics.backend
    assert backend is not None
    found = []
    for protocol in Protocol:
        narrowed = backend.model_copy(update={"protocols": (protocol,)})
        expected = None
        if protocol in backend.protocols:
            expected = first(case.model_copy(update={"fabrics": case.fabrics.model_copy(update={"backend": narrowed})}))
        assert value_of(case, study, protocol.value) == expected
        found.append(expected)
    assert min(x for x in found if x is not None) == own


@pytest.mark.parametrize("seed", SEEDS)
def test_narrowed_switches_are_a_catalogue_without_the_others(seed: int) -> None:
    """A vendor's optimum, and that of a cage, is the optimum over a catalogue that sells no other switch."""
    case = random_case(seed, CATALOG, "plain")
    for by in ("vendor", "form-factor"):
        try:
            study = compare(case, CATALOG, by=by)
        except ChoiceError:
            continue
        for x in study.choices:
            if x.choice == ANY:
                assert value_of(case, study, ANY) == first(case)
                continue
            switches = {
                s.id for s in CATALOG.switches.values() if x.choice == (s.vendor if by == "vendor" else cage_family(s))
            }
            assert value_of(case, study, x.choice) == first(case, only(CATALOG, switches=switches))
            if x.design is None:
                assert x.reasons


@pytest.mark.parametrize("seed", SEEDS)
def test_narrowed_optics_are_a_catalogue_without_the_others(seed: int) -> None:
    """The optimum of a reach tier is that over a catalogue with no other module and no active optical cable."""
    case = random_case(seed, CATALOG, "plain")
    try:
        study = compare(case, CATALOG, by="optics")
    except ChoiceError:
        return
    backend = case.fabrics.backend
    assert backend is not None
    links = eligible(case, CATALOG, PriceList(case, CATALOG), FabricName.BACKEND, backend).links
    passive = {c.id for c in CATALOG.cables.values() if c.kind.value != "AOC"}
    for x in study.choices:
        if x.choice in (ANY, "multimode", "single-mode", "AOC"):
            continue
        modules = {m.id for m in links.modules.values() if optics_family(m, links) in (x.choice, "copper")}
        assert value_of(case, study, x.choice) == first(case, only(CATALOG, modules=modules, cables=passive))


@pytest.mark.parametrize("seed", [1, 5, 6, 7])
def test_each_objective_is_at_its_own_least(seed: int) -> None:
    """No other choice beats an objective at what it minimises, and enumeration agrees to the cent and milliwatt."""
    case = random_case(seed, CATALOG, "plain")
    study = compare(case, CATALOG, by="objective")
    for objective in Objective:
        asked = case.model_copy(update={"objective": objective})
        assert value_of(asked, study, objective.value) == first(asked)
    assert study.reference == case.objectives[0].value


# --- bills ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 3, 4, 8, 9])
def test_the_lines_of_every_choice_add_up(seed: int) -> None:
    """With owned stock and several fabrics, each bill sums to the cost, and pieces are those of the parts."""
    for family in ("parts", "fabrics"):
        study = compare(random_case(seed, CATALOG, family), CATALOG, by="objective")
        for x in study.choices:
            assert x.design is not None
            shares = {line.part: line.choices[x.choice] for line in study.lines if x.choice in line.choices}
            assert {part: share.quantity for part, share in shares.items()} == x.design.parts
            assert sum(share.extended_usd for share in shares.values()) == pytest.approx(x.design.cost_usd, abs=1e-6)
            assert sum(x.pieces.values()) == sum(x.design.parts.values())
        if not study.choices:
            assert study.status is Status.INFEASIBLE


def test_two_cases_keep_their_own_prices() -> None:
    """A second case with another price is solved at that price, and its bill shows it."""
    case = gpunet.load_case(CASES / "guide-128.yaml")
    dear = case.model_copy(
        update={"name": "dear", "prices": case.prices.model_copy(update={"overrides_usd": {"eth-n9600-64od": 90_000}})}
    )
    study = gpunet.compare(case, by=dear)
    line = next(line for line in study.lines if line.part == "eth-n9600-64od")
    assert study.reference == "guide-128"
    assert line.choices["dear"].extended_usd == 90_000 * line.choices["dear"].quantity
    assert line.choices["guide-128"].extended_usd != line.choices["dear"].extended_usd


@pytest.mark.parametrize("name", ["buying-split", "terms-price-step"])
def test_bills_by_offer_or_price_step_add_up(name: str) -> None:
    """Where pieces of one part have different prices, each bill still sums to what its design costs."""
    case = gpunet.load_case(CASES / f"{name}.yaml")
    study = gpunet.compare(case, by=case.model_copy(update={"name": "list", "buying": None, "terms": None}))
    for x in study.choices:
        assert x.design is not None
        paid = sum(line.choices[x.choice].extended_usd for line in study.lines if x.choice in line.choices)
        assert paid == x.design.cost_usd


# --- break-even -------------------------------------------------------------------------------------------------------


def test_break_evens_by_hand() -> None:
    """100 GPUs for a year at 2 USD, half of a step communication, half the efficiency: a step takes half as long again,
    100 x 8,766 x 2 x 0.5 = 876,600 USD are lost; against 438,300 USD every break-even is half of what is assumed."""
    assert slowdown(0.5, 0.5) == 0.5
    found = payback("by hand", 0.5, 438_300, 100, 2.0, 0.5, 1.0)
    assert found.lost_usd == 876_600
    assert found.pays
    assert found.break_even_gpu_hour_usd == 1.0
    assert found.break_even_communication == 0.25
    assert found.break_even_years == 0.5
    # v n H s = 876,600: with as much again at stake as the price, efficiency may fall to a half.
    assert least_efficiency(876_600, 100, 2.0, 0.5, 1.0) == 0.5


def test_what_is_no_slower_is_never_paid_back() -> None:
    """Equal or better efficiency of the cheaper fabric leaves nothing that time could earn; nor can a tiny loss."""
    for efficiency in (1.0, 1.1):
        found = payback("no slower", efficiency, 1000, 100, 2.0, 0.5, 1.0)
        ends = (found.break_even_gpu_hour_usd, found.break_even_communication, found.break_even_years)
        assert (found.pays, *ends) == (False, None, None, None)
    # 876,600 x (1/0.999 - 1) = 877.48 USD lost; a share would have to be 57 times one half.
    tiny = payback("tiny", 0.999, 100_000, 100, 2.0, 0.5, 1.0)
    assert tiny.break_even_communication is None
    assert tiny.break_even_gpu_hour_usd is not None


@given(
    st.floats(0.3, 0.99),
    st.floats(1e3, 1e7),
    st.integers(1, 100_000),
    st.floats(0.1, 20),
    st.floats(0.01, 1),
    st.floats(0.5, 9),
)
@settings(derandomize=True, deadline=None)
def test_break_evens_break_even(e: float, more: float, gpus: int, hour: float, share: float, years: float) -> None:
    """At each break-even the loss equals the price; at the least efficiency too."""
    found = payback("any", e, more, gpus, hour, share, years)
    hours = gpus * years * 8766
    assert found.break_even_gpu_hour_usd is not None
    assert found.break_even_years is not None
    assert found.break_even_gpu_hour_usd * hours * slowdown(share, e) == pytest.approx(more)
    assert hour * hours / years * found.break_even_years * slowdown(share, e) == pytest.approx(more)
    if found.break_even_communication is not None:
        assert hour * hours * slowdown(found.break_even_communication, e) == pytest.approx(more)
    floor = least_efficiency(more, gpus, hour, share, years)
    assert hour * hours * slowdown(share, floor) == pytest.approx(more)


# --- the command ------------------------------------------------------------------------------------------------------


def run(*words: str) -> Any:
    return CliRunner().invoke(cli.app, list(words))


def study_of(*words: str) -> Comparison:
    done = run("compare", *words, "--json")
    assert done.exit_code == 0, done.output
    return Comparison.model_validate(json.loads(done.stdout))


def test_the_published_dilemma() -> None:
    """The header of the case, the page and the command tell the same: 236,220.63 USD against 270,000."""
    even = study_of(DILEMMA, *STATED).break_even
    assert even is not None
    (found,) = even.paybacks
    by_hand = 2.5 * 256 * 4 * 8766 * 0.2 * (1 / 0.95 - 1)
    assert (even.dearer, even.more_usd, even.gpus, even.basis) == ("infiniband", 270_000, 256, "stated")
    assert found.lost_usd == round(by_hand, 2) == 236_220.63
    assert not found.pays
    shown = (found.break_even_gpu_hour_usd, found.break_even_communication, found.break_even_years)
    assert shown == pytest.approx((2.8575, 0.2286, 4.572), rel=1e-3)
    assert even.least_efficiency == pytest.approx(0.9433, rel=1e-4)
    assert "236,220.63" in Path(DILEMMA).read_text()


def test_the_computed_dilemma() -> None:
    """Both optima of the shipped case, the bandwidth of both, and every scenario of RoCE."""
    study = study_of(DILEMMA)
    costs = {x.choice: x.design.cost_usd for x in study.choices if x.design}
    assert costs == {"infiniband": 928_888.0, "ethernet": 397_792.0}
    delivered = {(x.choice, x.scenario): x.per_gpu_gbps for x in study.delivered}
    assert delivered == {
        ("infiniband", "case"): 400,
        ("ethernet", "case"): 380,
        ("ethernet", "tuned, low"): 360,
        ("ethernet", "tuned, high"): 380,
        ("ethernet", "untuned"): 280,
    }
    assert study.break_even is not None
    assert study.break_even.more_usd == 531_096
    assert {x.scenario: x.pays for x in study.break_even.paybacks}["untuned"]
    assert study.of("infiniband").lead_time_weeks == 16


def test_the_report_says_the_answer_first() -> None:
    """A person reads the totals, the difference, the bill and the break-even; nothing is broken off."""
    text = " ".join(run("compare", DILEMMA, *STATED).stdout.split())
    assert "ethernet costs least, 397,792.00 USD; infiniband 531,096.00 more (133.5 %)" in text
    assert "Bill of infiniband where it differs from ethernet" in text
    assert "+531,096.00" in text
    assert "270,000.00 USD of stated cost" in text


def test_cages_and_optics_of_a_shipped_case() -> None:
    """QSFP-DD against OSFP for 64 GPUs: both have a design, and none is cheaper than the case as it stands."""
    case = {"cluster": {"gpus": 64, "server": "dgx-h100"}, "fabrics": {"backend": {}}}
    study = gpunet.compare(case, by="form-factor")
    costs = {x.choice: x.design.cost_usd for x in study.choices if x.design}
    assert {ANY, "OSFP", "QSFP-DD"} <= set(costs)
    assert costs[ANY] == min(costs.values())
    optics = gpunet.compare(case, by="optics")
    assert optics.of("DR").design is not None
    refused = optics.of("copper")
    assert refused.design is None
    assert "m in this room" in refused.reasons[0]


def test_any_number_of_processes_gives_the_same_bytes(tmp_path: Path) -> None:
    """Two processes say what one says, and so does a run that finds its steps in a journal."""
    words = ("compare", str(CASES / "guide-128.yaml"), "--by", "objective", "--json")
    alone = run(*words).stdout
    assert run(*words, "-j", "2").stdout == alone
    journal = str(tmp_path / "steps.jsonl")
    assert run(*words, "--resume", journal).stdout == alone
    assert run(*words, "--resume", journal).stdout == alone


def test_a_stopped_comparison_says_what_it_has() -> None:
    """Stopped before the first step, it is incomplete and has no choice."""
    plan = Plan()
    plan.stop.set()
    study = compare(random_case(1, CATALOG, "plain"), CATALOG, plan, by="objective")
    assert not study.complete
    assert study.choices == ()


def test_a_case_without_a_design_says_so() -> None:
    """Exit code 1 and the reason, for people and as JSON."""
    done = run("compare", str(CASES / "no-reach.yaml"))
    assert done.exit_code == 1
    assert "no design, so nothing to compare" in done.stdout
    assert "112 m" in done.stdout
    done = run("compare", str(CASES / "no-reach.yaml"), "--json", "--by", "vendor")
    assert (done.exit_code, json.loads(done.stdout)["status"]) == (1, "infeasible")


def test_what_the_case_rules_out_is_named() -> None:
    """A case that allows Ethernet alone gets no InfiniBand column, and is told which setting says so."""
    study = gpunet.compare(CASES / "guide-128.yaml")
    assert study.of("infiniband").reasons == ("fabrics.backend.protocols: ethernet allowed; infiniband is not",)
    assert study.reference == "ethernet"
    assert study.break_even is None
    assert study.notes


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--by", "colour"), "found 'colour', which is no file; expected protocol, vendor"),
        (("--by", "vendor", "--gpu-hour", "3"), "this is about protocols, and --by is vendor"),
        (("--gpu-hour", "0"), "greater than 0"),
        (("--communication", "1.5"), "less than or equal to 1"),
        (("--efficiency", "tokenring=0.9"), "expected infiniband=... or ethernet=..."),
        (("--efficiency", "ethernet=0.95-0.9"), "must lie above 0"),
        (("--efficiency", "ethernet=much"), "expected a number"),
        (("--costs", "infiniband=680000"), "expected a cost for each of infiniband, ethernet"),
        (("--fabric", "middle"), "found 'middle', expected backend"),
        (("--fabric", "oob"), "which the case does not ask for; it asks for backend"),
        (("--by", "objective", "--fabric", "oob"), "nothing is narrowed by objective"),
    ],
)
def test_options_that_cannot_be_used(words: tuple[str, ...], says: str) -> None:
    """Every bad option is told with what was expected, and exit code 2."""
    done = run("compare", DILEMMA, *words)
    assert done.exit_code == 2, done.output
    assert says in " ".join(done.output.replace("│", " ").split())


def test_economics_are_checked_in_python_too() -> None:
    """A band that falls is refused where it is made."""
    with pytest.raises(ValueError, match="must lie above 0"):
        Economics(efficiencies={"ethernet": (0.9, 0.8)})
