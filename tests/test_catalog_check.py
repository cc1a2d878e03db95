"""The check of the catalogue: every kind of contradiction and every part that can never be used is reported."""

from __future__ import annotations

from collections import Counter
from datetime import date
from functools import cache
from typing import Any

import pytest

from gpunet.catalogs import load_catalog
from gpunet.catalogs.check import Finding, Level, check_catalog
from gpunet.models.evidence import Fact, How, Price
from gpunet.models.parts import (
    CageGroup,
    Catalog,
    Connector,
    FormFactor,
    Module,
    OpticalInterface,
    PortMode,
    Protocol,
    Shell,
)

TODAY = date(2026, 12, 2)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def edited(catalog: Catalog, field: str, key: str, **changes: Any) -> Catalog:
    """The catalogue with some fields of one entry changed."""
    entries = dict(getattr(catalog, field))
    entries[key] = entries[key].model_copy(update=changes)
    return catalog.model_copy(update={field: entries})


def added(catalog: Catalog, field: str, *parts: Any) -> Catalog:
    """The catalogue with entries added."""
    return catalog.model_copy(update={field: {**getattr(catalog, field), **{part.id: part for part in parts}}})


def new_findings(before: Catalog, after: Catalog) -> list[Finding]:
    """What a change makes the check report that it did not report before."""
    return list((Counter(check_catalog(after, TODAY)) - findings_of(before)).elements())


@cache
def _shipped_findings() -> Counter[Finding]:
    return Counter(check_catalog(load_catalog(), TODAY))


def findings_of(catalog: Catalog) -> Counter[Finding]:
    """What the check reports, computed once for the shipped catalogue."""
    return _shipped_findings() if catalog is load_catalog() else Counter(check_catalog(catalog, TODAY))


def only(findings: list[Finding], level: Level) -> Finding:
    """The one finding of a level."""
    (finding,) = [finding for finding in findings if finding.level is level]
    return finding


def fact(value: float) -> Fact:
    return Fact(v=value, how=How.READ, src="est")


def test_check_finds_an_unknown_source(catalog: Catalog) -> None:
    """A figure must name a source that is listed, also as one of several."""
    changed = edited(catalog, "switches", "eth-sn5600", rack_units=Fact(v=2, how=How.READ, src="nv-eth+nowhere"))
    finding = only(new_findings(catalog, changed), Level.ERROR)
    assert (finding.part, finding.field) == ("eth-sn5600", "rack_units.src")
    assert "'nowhere'" in finding.message


def test_check_finds_lanes_that_do_not_make_the_speed(catalog: Catalog) -> None:
    """A module whose host side and optical side carry different rates, and a mode whose lanes do not make its speed."""
    changed = edited(catalog, "modules", "qdd-400g-dr4", host_lanes=4)
    finding = only(new_findings(catalog, changed), Level.ERROR)
    assert "4 x 50 = 200 Gb/s" in finding.message
    assert "400G-DR4 = 400 Gb/s" in finding.message

    cages = catalog.switches["eth-ds3000"].cages
    wrong = PortMode(ports=1, speed_gbps=100, lanes=2, lane_gbps=25)
    broken = cages[0].model_copy(update={"modes": (*cages[0].modes, wrong)})
    changed = edited(catalog, "switches", "eth-ds3000", cages=(broken, *cages[1:]))
    assert "2 lanes x 25 Gb/s is not 100 Gb/s" in only(new_findings(catalog, changed), Level.ERROR).message


@pytest.mark.parametrize(
    ("field", "key", "changes", "says"),
    [
        ("modules", "qdd-400g-dr4", {"form_factor": FormFactor.QSFP112}, "8 lanes, but QSFP112 has 4"),
        ("modules", "qdd-400g-dr4", {"shell": Shell.RHS}, "shell RHS on QSFP-DD, expected none"),
        ("modules", "qdd-400g-dr4", {"interface": "400G-DR5"}, "400G-DR5 is not in interfaces.yaml"),
        ("modules", "qdd-400g-dr4", {"connector": Connector(kind="LC", polish="UPC")}, "expected MPO-12"),
        ("modules", "qdd-400g-dr4", {"reach_m": {"OM4": 50}}, "a reach over OM4 on a SMF interface"),
        ("modules", "qdd-400g-dr4", {"power_typ_w": fact(13)}, "13 W typical is above 12 W"),
        ("switches", "eth-sn5600", {"power_supply_w": fact(900)}, "900 W is below the chassis alone"),
        ("switches", "eth-sn5600", {"power_chassis_typ_w": fact(1100)}, "1100 W typical is above 1038 W"),
        ("switches", "eth-sn5600", {"max_logical_ports": fact(60)}, "60 is below the 64 cages"),
        ("switches", "eth-sn5600", {"cages_per_pipeline": 2}, "only mean something together"),
        ("switches", "eth-sn5600", {"refuses_modules": ("no-such-module",)}, "which the catalogue does not have"),
        ("cables", "nv-mcp4y10", {"diameter_mm": fact(0)}, "0 mm, expected more than 0"),
        ("sources", "est", {"date": "2. 12. 2026"}, "expected a date such as 2026-09-22"),
        ("sources", "est", {"date": "2027"}, "2027 lies in the future"),
        ("nics", "cx7-osfp", {"id": "cx7"}, "calls itself cx7"),
    ],
)
def test_check_finds_contradictions(catalog: Catalog, field: str, key: str, changes: dict[str, Any], says: str) -> None:
    """Each contradiction within one entry is an error that says what was found."""
    errors = [f for f in new_findings(catalog, edited(catalog, field, key, **changes)) if f.level is Level.ERROR]
    assert any(says in finding.message for finding in errors), [finding.render() for finding in errors]


def test_check_finds_copper_that_is_too_long(catalog: Catalog) -> None:
    """A passive cable at 100 Gb/s per lane ends at 2 m."""
    cable = catalog.cables["gen-dac-osfp800"]
    longer = cable.lengths[-1].model_copy(update={"length_m": 4})
    changed = edited(catalog, "cables", cable.id, lengths=(*cable.lengths, longer))
    finding = only(new_findings(catalog, changed), Level.ERROR)
    assert "4 m of DAC at 100 Gb/s per lane, expected at most 2 m" in finding.message


def test_check_finds_stock_lengths_out_of_order_and_falling_prices(catalog: Catalog) -> None:
    """Lengths must rise; a longer cord that costs less is only worth a note."""
    fibre = catalog.fibres["nv-mfp7e30"]
    changed = edited(catalog, "fibres", fibre.id, lengths=(*fibre.lengths, fibre.lengths[0]))
    assert "lengths must rise" in only(new_findings(catalog, changed), Level.ERROR).message
    cheap = fibre.lengths[-1].model_copy(update={"price": fibre.lengths[0].price})
    changed = edited(catalog, "fibres", fibre.id, lengths=(*fibre.lengths[:-1], cheap))
    assert "150 m costs less than 100 m" in {f.message for f in new_findings(catalog, changed) if f.level is Level.INFO}


def test_check_finds_a_price_outside_its_band(catalog: Catalog) -> None:
    """The working price lies between the ends of the band."""
    price = Price(mid_usd=100, low_usd=120, how=How.READ, src="est")
    changed = edited(catalog, "accessories", "enc-1u", price=price)
    assert "does not hold the price 100" in only(new_findings(catalog, changed), Level.ERROR).message


def test_check_finds_a_server_whose_cages_are_not_its_adapters(catalog: Catalog) -> None:
    """Cages copied from an adapter must be those of the adapter, and make whole cards."""
    roles = catalog.servers["mi300x-8"].cages
    for changes, says in (
        ({"nic": "cx7-osfp"}, "not those of cx7-osfp"),
        ({"nic": "no-such-nic"}, "no-such-nic is not in nics.yaml"),
        ({"cages": roles[1].cages.model_copy(update={"count": 3})}, "3 cages are no whole number of cards"),
    ):
        changed = edited(
            catalog, "servers", "mi300x-8", cages=(roles[0], roles[1].model_copy(update=changes), roles[2])
        )
        errors = [finding.message for finding in new_findings(catalog, changed) if finding.level is Level.ERROR]
        assert any(says in message for message in errors), errors


def lone_module(catalog: Catalog, **changes: Any) -> Module:
    """A module that mates, to spoil."""
    return catalog.modules["osfp-800g-2dr4"].model_copy(update={"id": "lone", **changes})


def test_check_finds_a_module_without_a_cage(catalog: Catalog) -> None:
    """A module that no cage takes can never be used."""
    module = lone_module(catalog, form_factor=FormFactor.QSFP_DD800, shell=Shell.NONE, protocols=(Protocol.INFINIBAND,))
    finding = only(new_findings(catalog, added(catalog, "modules", module)), Level.WARNING)
    assert "no cage takes a QSFP-DD800 plug" in finding.message


def test_check_finds_a_module_without_a_far_end(catalog: Catalog) -> None:
    """A module for adapters whose lanes no switch module has can be linked to no switch."""
    base = catalog.interfaces["400G-DR4"]
    odd = OpticalInterface.model_validate({**base.model_dump(), "id": "400G-ODD4", "lane_class": "smf1550-100"})
    module = catalog.modules["osfp112-400g-dr4"].model_copy(update={"id": "lone", "interface": "400G-ODD4"})
    changed = added(added(catalog, "interfaces", odd), "modules", module)
    finding = only(new_findings(catalog, changed), Level.WARNING)
    assert (finding.part, finding.message) == ("lone", "no module for a switch cage has the optical lanes of 400G-ODD4")


def test_check_finds_a_module_without_a_fibre(catalog: Catalog) -> None:
    """A polish that no fibre has leaves a module without a way to the far end."""
    module = lone_module(catalog, connector=Connector(kind="MPO-12", polish="UPC"))
    finding = only(new_findings(catalog, added(catalog, "modules", module)), Level.WARNING)
    assert "no fibre leads from MPO-12/UPC on SMF" in finding.message


def test_check_finds_a_module_too_hot_for_every_cage(catalog: Catalog) -> None:
    """More watts than any cage grants."""
    module = lone_module(catalog, power_max_w=fact(40))
    finding = only(new_findings(catalog, added(catalog, "modules", module)), Level.WARNING)
    assert "draws 40 W; no cage that takes it grants more than 30 W" in finding.message


def test_check_finds_a_cage_that_no_plug_fits(catalog: Catalog) -> None:
    """A cage with a lane rate that no module and no cable has."""
    odd = CageGroup(
        name="odd",
        count=2,
        form_factor=FormFactor.SFP,
        shell=Shell.NONE,
        host_lanes=1,
        lane_gbps=0.1,
        modes=(PortMode(ports=1, speed_gbps=0.1, lanes=1, lane_gbps=0.1),),
        how=How.READ,
        src="est",
    )
    cages = catalog.switches["eth-ds3000"].cages
    changed = edited(catalog, "switches", "eth-ds3000", cages=(*cages, odd))
    finding = only(new_findings(catalog, changed), Level.WARNING)
    assert finding.field == "cages[2]"
    assert "no module or cable works in this SFP cage" in finding.message


def test_check_finds_ids_that_mean_two_things(catalog: Catalog) -> None:
    """A module may not have a switch's id, nor end like a stock length."""
    module = lone_module(catalog)
    changed = added(catalog, "modules", module.model_copy(update={"id": "ib-qm9700"}))
    assert "switches has a part of this id already" in only(new_findings(catalog, changed), Level.ERROR).message
    changed = added(catalog, "modules", module.model_copy(update={"id": "lone-n030"}))
    assert "may not end like a stock length" in only(new_findings(catalog, changed), Level.ERROR).message


def test_check_lists_what_is_estimated_and_what_is_old(catalog: Catalog) -> None:
    """Notes name the estimated fields of a part, and with a day given those that are more than a year old."""
    told = {(f.part, f.message) for f in check_catalog(catalog, TODAY) if f.level is Level.INFO}
    assert ("eth-sn3700", "more than a year old: price (2022-05)") in told
    assert any(part == "ib-qm9700" and "power_chassis_max_w" in text for part, text in told)
    assert not any(part == "eth-sn5600" and "old" in text for part, text in told)
    undated = {(f.part, f.message) for f in check_catalog(catalog)}
    assert not any("year old" in text for _, text in undated)
