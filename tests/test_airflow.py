"""``site.rack.airflow``: switches that blow the other way are kept out by name, and cages take less the other way."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from exhaustive import least
from exhaustive_catalog import awkward_catalog
from tiny_catalog import SRC, fact

import gpunet
from gpunet.catalogs import load_catalog
from gpunet.catalogs.check import check_catalog
from gpunet.models.case import Case
from gpunet.models.design import Design, Status
from gpunet.models.evidence import How
from gpunet.models.parts import AirDirection, Airflow, CageLimits, Catalog, HotCages, Switch
from gpunet.solver.airflow import UNKNOWN
from gpunet.solver.explain import explain
from gpunet.solver.optimize import optimize
from gpunet.solver.verify import verify

FORTH, BACK = AirDirection.PORT_TO_POWER, AirDirection.POWER_TO_PORT


def flow(*offered: AirDirection) -> Airflow:
    return Airflow(offered=offered, how=How.ESTIMATED, src=SRC)


def blowing(catalog: Catalog, **flows: Airflow | None) -> Catalog:
    """A catalogue with the airflow of some switches; underscores stand for dashes."""
    names = {part.replace("_", "-"): air for part, air in flows.items()}
    switches: dict[str, Switch] = {
        s.id: s.model_copy(update={"airflow": names.get(s.id)}) for s in catalog.switches.values()
    }
    return catalog.model_copy(update={"switches": switches})


MIXED = blowing(
    awkward_catalog(),
    ib_tiny_4=flow(FORTH),
    ib_tiny_8=flow(BACK),
    eth_tiny_8=flow(FORTH, BACK),
    eth_tiny_16=flow(),
    ib_hot_6=flow(BACK, FORTH),
)
"""One way, the other, both, without fans; of the others nothing is known."""


def case_of(airflow: str | None, servers: int = 5, **more: Any) -> Case:
    rack = {} if airflow is None else {"airflow": airflow}
    data = {"name": "air", "cluster": {"servers": servers, "server": "server-2"}, "site": {"rack": rack}}
    return Case.model_validate(data | {"fabrics": {"backend": {}}} | more)


@pytest.mark.parametrize(
    ("airflow", "out"),
    [
        (None, []),
        ("port-to-power", ["ib-tiny-8", "eth-duo-6", "eth-pipe-6"]),
        ("power-to-port", ["ib-tiny-4", "eth-duo-6", "eth-pipe-6"]),
    ],
)
@pytest.mark.parametrize("servers", [2, 5, 7])
def test_it_is_the_case_without_the_switches_that_blow_otherwise(
    airflow: str | None, out: list[str], servers: int
) -> None:
    """The same optimum as plain enumeration has with those denied, and every switch of it passes the check."""
    design = optimize(case_of(airflow, servers), MIXED)
    without = {name for name in MIXED.switches if name in out}
    denied = case_of(None, servers, parts={"deny": sorted(without)}) if without else case_of(None, servers)
    expected = least(denied, MIXED)
    assert (design.result.status is Status.OPTIMAL) == (expected is not None)
    if design.result.totals is not None and design.result.verify is not None and expected is not None:
        assert (round(design.result.totals.cost_usd * 100),) == expected
        assert design.result.verify.passed
        assert ("airflow" in [c.name for c in design.result.verify.checks]) == (airflow is not None)


def test_the_check_names_what_blows_the_wrong_way() -> None:
    """A design for one room, claimed for another: one way only, and nothing known."""
    design = optimize(case_of(None, parts={"allow": ["ib-tiny-8"]}), MIXED)
    claimed = Design(case_of("port-to-power"), design.result, design.ledger)
    for catalog, words in ((MIXED, "offered power-to-port"), (blowing(MIXED), "is not known")):
        (check,) = (c for c in verify(claimed, catalog).checks if c.name == "airflow")
        assert not check.passed
        assert "ib-tiny-8" in check.detail
        assert words in check.detail


def test_a_switch_asked_for_by_name_is_said_to_be_kept_out_and_what_helps() -> None:
    """Not known counts as kept out, with that reason; the limit can be lifted, and the other way would do."""
    unknown = explain(case_of("port-to-power", parts={"allow": ["eth-duo-6"]}), MIXED)
    assert unknown.status is Status.INFEASIBLE
    assert any(UNKNOWN in told for told in unknown.obstacles)
    other = explain(case_of("port-to-power", parts={"allow": ["ib-tiny-8"]}), MIXED)
    held = {limit.setting: limit for clash in other.clashes for limit in clash.limits}
    assert held["site.rack.airflow"].enough == "power-to-port"


def test_what_a_direction_costs() -> None:
    """Of a design, ``explain`` says what it would save to take any airflow, and lists what the airflow keeps out."""
    study = explain(case_of("port-to-power"), MIXED)
    (group,) = (group for group in study.shut_out if group.by == "site.rack.airflow")
    assert {"ib-tiny-8", "eth-duo-6"} <= set(group.parts)
    worth = next(limit for limit in study.limits if limit.setting == "site.rack.airflow")
    free = optimize(case_of(None), MIXED).result.totals
    assert worth.saved is not None
    assert study.value is not None
    assert free is not None
    assert worth.saved == pytest.approx(study.value - free.cost_usd)


def test_both_ways_must_be_said_in_the_order() -> None:
    """A switch that is offered both ways has one part number each: the warning says which."""
    result = optimize(case_of("power-to-port", parts={"allow": ["eth-tiny-8"]}), MIXED).result
    assert "eth-tiny-8: offered with either airflow: order it power-to-port" in result.warnings
    assert not optimize(case_of(None, parts={"allow": ["eth-tiny-8"]}), MIXED).result.warnings


def test_cages_take_less_the_other_way() -> None:
    """64 cages of 18 W, or 32 of 17 W and copper: one switch or six, and the one is refused where six are needed."""
    data: dict[str, Any] = {
        "cluster": {"gpus": 128, "server": "dgx-h100"},
        "fabrics": {"backend": {"parts": {"allow": ["eth-z9864f"]}}},
    }
    forth, back = (gpunet.optimize(data | {"site": {"rack": {"airflow": way.value}}}) for way in (FORTH, BACK))

    def switches(design: Design) -> int:
        return sum(tier.count for tier in design.result.fabrics["backend"].tiers)

    assert (switches(forth), switches(back)) == (1, 6)
    claimed = dataclasses.replace(forth, case=back.case)
    (check,) = (c for c in gpunet.verify(claimed).checks if c.name == "cage-power")
    assert not check.passed
    assert "16 W" in check.detail.replace(".0 W", " W") or "16.0 W" in check.detail


def test_the_catalogue_says_what_was_read_and_guesses_nothing() -> None:
    """Directions carry their source; where the vendor only says air or liquid there is none."""
    catalog = load_catalog()
    known = {s.id: s.airflow for s in catalog.switches.values() if s.airflow is not None}
    assert all(air.src in catalog.sources for air in known.values())
    assert known["eth-sn5600"].offered == (FORTH,)
    assert set(known["eth-sn5400"].offered) == {FORTH, BACK}
    assert known["eth-sn6800"].offered == ()
    for part in ("ib-q3401", "eth-sn6600", "ib-q3450", "ib-cs9500"):
        assert catalog.switches[part].airflow is None


def test_a_limit_that_contradicts_itself_is_an_error_of_the_catalogue() -> None:
    """More hot cages than there are, and a hot limit below the rest."""
    catalog = awkward_catalog()
    switch = catalog.switches["eth-tiny-8"]
    group = switch.cages[0].model_copy(
        update={"power_to_port": CageLimits(power_limit_w=fact(9), hot=HotCages(count=99, power_limit_w=fact(8)))}
    )
    spoilt = {**catalog.switches, switch.id: switch.model_copy(update={"cages": (group,)})}
    found = check_catalog(catalog.model_copy(update={"switches": spoilt}))
    place = "cages[0].power_to_port.hot"
    assert [f.message for f in found if f.field == place] == [
        "99 hot cages of 8",
        "the limit of the hot cages is not above that of the rest",
    ]
