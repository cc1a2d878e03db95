"""What must hold of every optimum, whatever the case: tighter is never cheaper, prices scale, the books add up.

The cases are random and small. Three tests show where a rule that one might expect does not hold, and why.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpunet.models.case import Case, Objective
from gpunet.models.design import Design, Status
from gpunet.models.evidence import Price
from gpunet.models.ledger import Link
from gpunet.models.parts import Cable, Catalog, Fibre
from gpunet.solver.candidates import compile_case
from gpunet.solver.demand import NoPortsError
from gpunet.solver.layout import SiteTooSmallError
from gpunet.solver.optimize import optimize
from gpunet.solver.search import search

CATALOG = awkward_catalog()
PLUGGED = [*CATALOG.switches, *CATALOG.modules, *CATALOG.cables, *CATALOG.fibres]
Path = tuple[str, ...]
Tighten = Callable[[Case, Design], Iterable[tuple[Path, Any]]]


def some_cases(*families: str, most_servers: int = 9) -> st.SearchStrategy[Case]:
    """Random cases of the families, up to a size."""
    found = st.builds(
        lambda family, seed: random_case(seed, CATALOG, family), st.sampled_from(families), st.integers(0, 9999)
    )
    return found.filter(lambda case: (case.cluster.servers or 0) <= most_servers)


def examples(n: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The same ``n`` examples in every run; many random cases have no design, and are passed over."""
    passed_over = [HealthCheck.filter_too_much, HealthCheck.too_slow]
    return settings(max_examples=n, deadline=None, derandomize=True, database=None, suppress_health_check=passed_over)


def least(case: Case, catalog: Catalog = CATALOG) -> float:
    """The optimum of the first objective, cents or milliwatts; infinite when there is no design."""
    try:
        outcome = search(compile_case(case, catalog)).outcome
    except (SiteTooSmallError, NoPortsError):
        return math.inf
    assert outcome.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return math.inf if outcome.value is None else outcome.value


def design_of(case: Case, catalog: Catalog = CATALOG) -> Design:
    """The optimum of a case; a case without one is passed over."""
    assume(least(case, catalog) < math.inf)
    design = optimize(case, catalog)
    assert design.result.status is Status.OPTIMAL
    return design


def worth(design: Design) -> int:
    """First objective of a design, cents or milliwatts."""
    objective, totals = design.case.objectives[0], design.result.totals
    assert totals is not None
    if objective is Objective.POWER:
        return round(totals.power_max_w * 1000)
    return round((totals.cost_usd if objective is Objective.COST else totals.tco_usd) * 100)


def changed(case: Case, *changes: tuple[Path, Any]) -> Case:
    """The case with other settings; ``None`` takes one away."""
    data = case.model_dump(mode="json", exclude_none=True)
    for path, value in changes:
        section = functools.reduce(lambda inner, name: inner.setdefault(name, {}), path[:-1], data)
        section.pop(path[-1], None)
        section |= {} if value is None else {path[-1]: value}
    return Case.model_validate(data)


def small(servers: int, **sections: dict[str, Any]) -> Case:
    """A case written by hand: two-GPU servers under switches of one model."""
    data = {
        "cluster": {"servers": servers, "server": "server-2"},
        "parts": {"allow": ["ib-tiny-4"]},
        "fabrics": {"backend": sections.pop("backend", {})},
    }
    return Case.model_validate(data | sections)


# --- tighter is never cheaper -----------------------------------------------------------------------------------------


def _fabrics(case: Case) -> dict[str, Any]:
    found = {"backend": case.fabrics.backend, "storage": case.fabrics.storage, "frontend": case.fabrics.frontend}
    return {name: fabric for name, fabric in found.items() if fabric is not None}


def _less(setting: str, steps: tuple[float, ...]) -> Tighten:
    """The next lower of ``steps`` for a setting of every fabric."""

    def tighten(case: Case, _: Design) -> Iterable[tuple[Path, Any]]:
        for name, fabric in _fabrics(case).items():
            now = getattr(fabric, setting)
            lower = [step for step in steps if now is None or step < now]
            if lower:
                yield ("fabrics", name, setting), max(lower)

    return tighten


def _more(setting: str) -> Tighten:
    def tighten(case: Case, _: Design) -> Iterable[tuple[Path, Any]]:
        for name, fabric in _fabrics(case).items():
            yield ("fabrics", name, setting), getattr(fabric, setting) + 1

    return tighten


def _longer(setting: str, factor: float, more_m: float) -> Tighten:
    def tighten(case: Case, _: Design) -> Iterable[tuple[Path, Any]]:
        yield ("site", setting), getattr(case.site, setting) * factor + more_m

    return tighten


def _deny_what_is_used(case: Case, design: Design) -> Iterable[tuple[Path, Any]]:
    used = {part for line in design.result.bom for part in (line.part, line.part.rsplit("-n", 1)[0])}
    denied = sorted(used & set(PLUGGED))[case.cluster.servers or 0 :: 4] or sorted(used & set(PLUGGED))[:1]
    yield ("parts", "deny"), [*case.parts.deny, *denied]


def _draw_less(_: Case, design: Design) -> Iterable[tuple[Path, Any]]:
    assert design.result.totals is not None
    yield ("limits", "power_kw"), (design.result.totals.power_max_w - 0.001) / 1000


def _cost_less(_: Case, design: Design) -> Iterable[tuple[Path, Any]]:
    assert design.result.totals is not None
    if design.result.totals.cost_usd > 0.01:
        yield ("limits", "cost_usd"), design.result.totals.cost_usd - 0.01


def _two_vendors(*_: object) -> Iterable[tuple[Path, Any]]:
    yield ("limits", "vendors"), 2


TIGHTER: dict[str, Tighten] = {
    "oversubscription": _less("oversubscription", (1, 1.5, 2, 3, 4)),
    "max_tiers": _less("max_tiers", (1, 2)),
    "max_hops": _less("max_hops", (1, 3)),
    "latency_ns": _less("latency_ns", (700, 1400, 2500)),
    "min_leaves": _more("min_leaves"),
    "min_spines": _more("min_spines"),
    "cost ceiling": _cost_less,
    "power ceiling": _draw_less,
    "vendors": _two_vendors,
    "denied parts": _deny_what_is_used,
    "slack": _longer("slack_m", 1, 2),
    "tray rise": _longer("tray_rise_m", 1, 4),
    "rack pitch": _longer("rack_pitch_m", 3, 0),
    "row pitch": _longer("row_pitch_m", 3, 0),
}


def with_sane_media(case: Case) -> Case:
    """The case without quotes for single stock lengths, so that a longer piece never costs less."""
    quotes = {part: usd for part, usd in case.prices.overrides_usd.items() if "-n0" not in part}
    return changed(case, (("prices", "overrides_usd"), quotes))


@pytest.mark.parametrize("limit", TIGHTER)
@examples(12)
@given(case=some_cases("plain", "limits", "fabrics"))
def test_tighter_is_never_cheaper(limit: str, case: Case) -> None:
    """A limit that tightens takes designs away and adds none, so the optimum of the first objective never falls."""
    case = with_sane_media(case)
    # Denying a part may shorten the longest piece that latency counts: that is a test of its own.
    if limit == "denied parts":
        case = changed(case, *((("fabrics", name, "latency_ns"), None) for name in _fabrics(case)))
    design = design_of(case)
    changes = list(TIGHTER[limit](case, design))
    assume(changes)
    assert least(changed(case, *changes)) >= worth(design)


@examples(25)
@given(case=some_cases("plain", "fabrics"))
def test_a_ceiling_bites_exactly_at_the_optimum(case: Case) -> None:
    """At the optimum a ceiling on cost or power changes nothing; a cent or a milliwatt below there is no design."""
    objective = case.objectives[0] if case.objectives[0] is not Objective.TCO else Objective.COST
    case = changed(case, (("objective",), objective.value))
    best = least(case)
    assume(1 < best < math.inf)
    path, unit = (("limits", "cost_usd"), 100) if objective is Objective.COST else (("limits", "power_kw"), 1_000_000)
    assert least(changed(case, (path, best / unit))) == best
    assert least(changed(case, (path, (best - 1) / unit))) == math.inf


@pytest.mark.parametrize(("setting", "kinds"), [("protocols", 2), ("topologies", 2)])
@examples(20)
@given(case=some_cases("plain", "limits"))
def test_the_best_of_all_is_the_best_of_each(setting: str, kinds: int, case: Case) -> None:
    """With two protocols or topologies allowed, the optimum is the better of the two optima."""
    allowed = [kind.value for kind in getattr(case.fabrics.backend, setting)]
    assume(len(allowed) == kinds)
    each = [least(changed(case, (("fabrics", "backend", setting), [kind]))) for kind in allowed]
    assert least(case) == min(each)


@examples(25)
@given(case=some_cases("plain", "fabrics"), more=st.integers(1, 3))
def test_more_servers_are_never_cheaper(case: Case, more: int) -> None:
    """Without minima, growth and reserved ports, the network of a larger cluster weighs no less."""
    free: list[tuple[Path, None]] = [(("cluster", "growth"), None), (("cluster", "reserved_ports"), None)]
    for name in _fabrics(case):
        free += [(("fabrics", name, setting), None) for setting in ("min_leaves", "min_spines")]
    servers = case.cluster.servers
    assert servers is not None
    # Storage servers follow from the GPU servers unless they are given; here they are.
    case = with_sane_media(changed(case, *free))
    assert least(changed(case, (("cluster", "servers"), servers + more))) >= least(case)


@examples(20)
@given(case=some_cases("plain", "fabrics"))
def test_what_is_owned_saves_no_more_than_its_price(case: Case) -> None:
    """Owned parts of a design come off its cost; another design may make more of them, but never more than all."""
    case = changed(case, (("objective",), "cost"))
    design = design_of(case)
    line = max((x for x in design.result.bom if x.kind != "nic"), key=lambda x: x.extended_usd)
    owned = [{"part": line.part, "quantity": line.quantity + 1}]
    all_of_it = (line.quantity + 1) * round(line.unit_price_usd * 100)
    best = least(changed(case, (("owned",), owned)))
    assert worth(design) - all_of_it <= best <= worth(design) - line.quantity * round(line.unit_price_usd * 100)


# --- where a rule that one might expect does not hold -----------------------------------------------------------------


def test_one_server_more_may_cost_less_where_leaves_are_a_minimum() -> None:
    """Endpoints are spread evenly: four cages go on two leaves or four, never on three; six go on three.

    So with three leaves as a minimum, two servers of two cages buy four leaves and three servers three.
    """
    two, three = (optimize(small(n, backend={"min_leaves": 3}), CATALOG).result for n in (2, 3))
    assert [two.fabrics["backend"].tiers[0].count, three.fabrics["backend"].tiers[0].count] == [4, 3]
    assert two.totals is not None
    assert three.totals is not None
    assert (two.totals.cost_usd, three.totals.cost_usd) == (29_400, 25_900)


def test_a_longer_way_may_cost_less_where_a_short_piece_is_dear() -> None:
    """A link takes the shortest piece that covers it, also where a quote makes the next longer piece cheaper."""
    dear = {"overrides_usd": {"mpo-om4-n010": 900}}
    near, far = (
        optimize(small(2, prices=dear, site={"fibre": ["OM4"], "tray_rise_m": rise}), CATALOG) for rise in (2.5, 8)
    )
    media = [{link.medium for link in design.ledger.links} for design in (near, far)]
    assert media == [{"mpo-om4-n010"}, {"mpo-om4-n030"}]
    assert worth(near) == worth(far) + 4 * 810_00


def test_a_part_less_may_give_a_design_where_latency_is_limited() -> None:
    """Latency counts the longest piece that any permitted way would use: 100 m of OS2, without it 50 m of OM4.

    So a design keeps its limit however its links are mixed, and denying the longer piece opens the case.
    """
    slow = small(6, backend={"latency_ns": 1500, "min_leaves": 2, "max_tiers": 2}, site={"tray_rise_m": 14})
    assert least(slow) == math.inf
    assert least(changed(slow, (("parts", "deny"), ["mpo-os2"]))) < math.inf


# --- prices and books -------------------------------------------------------------------------------------------------


def at_twice_the_price(catalog: Catalog) -> Catalog:
    """The catalogue with every price doubled."""

    def doubled(price: Price) -> Price:
        ends = {name: 2 * usd for name, usd in price if name.endswith("_usd") and usd is not None}
        return price.model_copy(update=ends)

    def dearer(item: Any) -> Any:
        if isinstance(item, Cable | Fibre):
            lengths = tuple(s.model_copy(update={"price": doubled(s.price)}) for s in item.lengths)
            return item.model_copy(update={"lengths": lengths})
        return item.model_copy(update={"price": doubled(item.price)})

    tables = ("switches", "modules", "cables", "fibres", "nics", "accessories")
    return catalog.model_copy(
        update={name: {part: dearer(item) for part, item in getattr(catalog, name).items()} for name in tables}
    )


TWICE = at_twice_the_price(CATALOG)


@examples(25)
@given(case=some_cases("plain", "limits", "fabrics"))
def test_twice_the_prices_are_twice_the_cost_of_the_same_design(case: Case) -> None:
    """With every price, quote and ceiling doubled the same things are wired the same way, for twice the money."""
    # With rounding to the cent out of the way: no discounts, energy or support.
    plain = [(("prices", "discounts"), None), (("tco",), {"usd_per_kwh": 0, "support_rate": 0})]
    case = changed(case, *plain)
    twice: list[tuple[Path, Any]] = [
        (("prices", "overrides_usd"), {p: 2 * usd for p, usd in case.prices.overrides_usd.items()})
    ]
    if case.limits.cost_usd is not None:
        twice.append((("limits", "cost_usd"), 2 * case.limits.cost_usd))
    once, double = design_of(case), optimize(changed(case, *twice), TWICE)
    assert once.ledger == double.ledger
    a, b = once.result.totals, double.result.totals
    assert a is not None
    assert b is not None
    assert (2 * a.cost_usd, 2 * a.tco_usd, a.power_max_w) == pytest.approx((b.cost_usd, b.tco_usd, b.power_max_w))
    assert [(x.part, x.quantity, x.owned) for x in once.result.bom] == [
        (x.part, x.quantity, x.owned) for x in double.result.bom
    ]


def pieces(design: Design) -> Counter[str]:
    """Everything that is bought or owned, counted in the wiring alone."""
    ledger = design.ledger
    found = Counter(device.part for device in ledger.devices if device.kind == "switch")
    found.update(seat.part for seat in ledger.seats)
    found.update({(x.fabric, x.assembly): x.medium for x in ledger.links}.values())
    for adapter in ledger.adapters:
        found[adapter.part] += adapter.quantity
    return found


def ends(link: Link) -> tuple[tuple[str, str, int, int], tuple[str, str, int, int]]:
    """Both ports of a link."""
    return (
        (link.a_device, link.a_group, link.a_cage, link.a_port),
        (link.b_device, link.b_group, link.b_cage, link.b_port),
    )


def plugs_of_cables_mw(design: Design) -> int:
    """Draw of all plugs of cables that sit in a cage, mW; the plugs of a cable are alike here."""
    plugged = {
        (link.assembly, *end[:3]): CATALOG.cables[link.medium.rsplit("-n", 1)[0]].end_a.power_w.milli
        for link in design.ledger.links
        for end in ends(link)
        if link.medium.rsplit("-n", 1)[0] in CATALOG.cables
    }
    return sum(plugged.values())


@examples(30)
@given(case=some_cases("plain", "limits", "fabrics"))
def test_wiring_bill_and_objective_are_one_sum(case: Case) -> None:
    """Pieces counted in the wiring, times the prices on the bill, are the cost; their watts are the power."""
    design = design_of(case)
    result, counted = design.result, pieces(design)
    assert result.totals is not None
    assert result.objective is not None
    assert {line.part: line.quantity for line in result.bom} == counted
    cents = sum((line.quantity - line.owned) * round(line.unit_price_usd * 100) for line in result.bom)
    assert cents == sum(round(line.extended_usd * 100) for line in result.bom) == round(result.totals.cost_usd * 100)
    drawn = {part: item.power_chassis_max_w for part, item in CATALOG.switches.items()}
    drawn |= {part: item.power_max_w for part, item in CATALOG.modules.items()}
    # Adapters are part of their servers, whose power is not the network's.
    watts_mw = plugs_of_cables_mw(design) + sum(n * drawn[part].milli for part, n in counted.items() if part in drawn)
    assert watts_mw == round(result.totals.power_max_w * 1000)
    scale = 1000 if case.objectives[0] is Objective.POWER else 100
    assert round(result.objective.value * scale) == worth(design) == least(case)


@examples(30)
@given(case=some_cases("plain", "limits", "fabrics"))
def test_a_port_has_one_link_and_a_cage_one_plug(case: Case) -> None:
    """Every port in use carries exactly one link; every cage in use holds one module, or the end of one cable."""
    ledger = design_of(case).ledger
    assert Counter(Counter(end for link in ledger.links for end in ends(link)).values()) == {1: 2 * len(ledger.links)}
    seats = Counter((seat.device, seat.group, seat.cage) for seat in ledger.seats)
    assert set(seats.values()) <= {1}
    plugs: dict[tuple[str, str, int], set[int | None]] = {}
    for link in ledger.links:
        is_cable = link.medium.rsplit("-n", 1)[0] in CATALOG.cables
        for device, group, cage, _ in ends(link):
            plugs.setdefault((device, group, cage), set()).add(link.assembly if is_cable else None)
    assert {cage for cage, held in plugs.items() if held == {None}} == set(seats)
    assert all(len(held) == 1 for held in plugs.values())
    switches = {device.name: device.part for device in ledger.devices if device.kind == "switch"}
    for device, group, cage in plugs:
        if device in switches:
            count = next(g.count for g in CATALOG.switches[switches[device]].cages if g.name == group)
            assert 1 <= cage <= count
