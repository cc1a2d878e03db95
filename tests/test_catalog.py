"""The shipped catalogue, the check that guards it, and the catalogue folders of a user."""

from __future__ import annotations

from collections import Counter
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpunet.catalogs import PART_KINDS, find_part, load_catalog, medium_id, part_kind, split_medium_id
from gpunet.catalogs.check import Finding, Level, check_catalog
from gpunet.catalogs.load import FILES
from gpunet.catalogs.plain_yaml import read_plain_yaml
from gpunet.catalogs.plugs import plug_rules
from gpunet.models.evidence import Fact, How, Price
from gpunet.models.parts import (
    Cable,
    CageGroup,
    Catalog,
    Connector,
    Fibre,
    FormFactor,
    Module,
    OpticalInterface,
    PortMode,
    Protocol,
    Shell,
    Status,
    Switch,
)
from gpunet.models.problems import InputError

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


def modes_of(switch: Switch, group: int = 0) -> set[tuple[int, float, int, float]]:
    return {(mode.ports, mode.speed_gbps, mode.lanes, mode.lane_gbps) for mode in switch.cages[group].modes}


# The shipped parts


def test_nothing_got_lost(catalog: Catalog) -> None:
    """Every file holds as many entries as were compiled."""
    counts = {stem: len(getattr(catalog, stem)) for stem in FILES}
    assert counts == {
        "sources": 194,
        "interfaces": 30,
        "switches": 113,
        "nics": 21,
        "servers": 14,
        "modules": 97,
        "cables": 56,
        "fibres": 21,
        "accessories": 10,
    }


def test_check_finds_no_error(catalog: Catalog) -> None:
    """The shipped catalogue does not contradict itself, and every source key resolves."""
    assert [finding.render() for finding in check_catalog(catalog, TODAY) if finding.level is Level.ERROR] == []


def test_warnings_are_the_known_ones(catalog: Catalog) -> None:
    """Only these parts can be joined with nothing: 1.6T parts too hot for any cage, linear optics, lone shells."""
    warned = {finding.part for finding in check_catalog(catalog, TODAY) if finding.level is Level.WARNING}
    assert warned == {
        "nv-mms4a00-ihs",
        "nv-mms4a00-rhs",
        "nv-mms4c10-rhs",
        "nv-mms4b10-xm",
        "nv-mfa7u10-flt",
        "osfp56-400g-2fr4",
        "q112-400g-dr4-lpo",
        "osfp-800g-dr8-lpo",
        "osfp-800g-dr8-lro",
        "osfp224-1.6t-dr8-lpo",
    }


def test_every_estimate_states_its_basis(catalog: Catalog) -> None:
    """An estimated number without a note could not be challenged."""
    bare = [
        (stem, key, value)
        for stem in FILES
        for key, item in getattr(catalog, stem).items()
        for value in evidence_in(item)
        if value.how is How.ESTIMATED and not value.note
    ]
    assert bare == []


def evidence_in(value: object) -> list[Fact | Price]:
    """Facts and prices anywhere inside a part."""
    if isinstance(value, Fact | Price):
        return [value]
    if isinstance(value, tuple):
        return [inner for item in value for inner in evidence_in(item)]
    fields = getattr(type(value), "model_fields", {})
    return [inner for name in fields for inner in evidence_in(getattr(value, name))]


def test_every_used_source_is_used(catalog: Catalog) -> None:
    """No source stands in the list for nothing."""
    used: set[str] = set()
    for stem in FILES:
        text = files("gpunet.catalogs").joinpath(f"{stem}.yaml").read_text(encoding="utf-8")
        used |= {key for source in sources_in(read_plain_yaml(text)) for key in source.split("+")}
    assert set(catalog.sources) - used == set()


def sources_in(data: object) -> list[str]:
    if isinstance(data, dict):
        own = [data["src"]] if isinstance(data.get("src"), str) else []
        return own + [key for value in data.values() for key in sources_in(value)]
    return [key for item in data for key in sources_in(item)] if isinstance(data, list) else []


def test_infiniband_ndr_switch_has_no_800g_mode(catalog: Catalog) -> None:
    """A Quantum-2 cage is always two NDR ports; it also runs NDR200, HDR and HDR100."""
    switch = catalog.switches["ib-qm9700"]
    assert modes_of(switch) == {(2, 400, 4, 100), (4, 200, 2, 100), (2, 200, 4, 50), (4, 100, 2, 50)}
    assert switch.cages[0].shell is Shell.IHS
    assert switch.max_logical_ports is not None
    assert switch.max_logical_ports.v == 128


def test_xdr_switch_also_runs_ndr(catalog: Catalog) -> None:
    """Quantum-X800 offers XDR, XDR-Lite and, with NDR optics, NDR; none of them takes the 33.5 W module."""
    switch = catalog.switches["ib-q3400"]
    assert modes_of(switch) == {(2, 800, 4, 200), (4, 400, 2, 200), (2, 400, 4, 100)}
    limit = switch.cages[0].power_limit_w
    assert limit is not None
    assert limit.v == 30 < catalog.modules["nv-mms4a00-ihs"].power_max_w.v


def test_spectrum_4_splits_at_most_four_ways(catalog: Catalog) -> None:
    """The SN5600 family has 1x800, 2x400 and 4x200, lower speeds on the same splits, and 256 logical ports."""
    for key in ("eth-sn5600", "eth-sn5600d", "eth-sn5610"):
        switch = catalog.switches[key]
        modes = modes_of(switch)
        assert {(1, 800, 8, 100), (2, 400, 4, 100), (4, 200, 2, 100)} <= modes
        assert {(1, 400, 8, 50), (2, 200, 4, 50), (4, 100, 2, 50)} <= modes
        assert max(ports for ports, *_ in modes) == 4
        assert switch.max_logical_ports is not None
        assert switch.max_logical_ports.v == 256
        assert 100 in switch.lossy_only_speeds_gbps


def test_tomahawk_5_pipelines(catalog: Catalog) -> None:
    """Two cages share ten logical ports on Tomahawk 5, but for the 512-port variant and the 128-cage boxes."""
    shares = {key: (s.cages_per_pipeline, s.ports_per_pipeline) for key, s in catalog.switches.items()}
    for key in ("eth-z9864f", "eth-ds5000", "eth-7060x6-64pe", "eth-qfx5240-64-q", "eth-as9817-64d", "eth-n9600-64od"):
        assert shares[key] == (2, 10), key
    assert shares["eth-7060x6-64pe-b"] == (None, None)
    assert shares["eth-micas-6940-128qc"] == shares["eth-n9600-128qc"] == (4, 10)


def test_hot_cages_of_the_sn5400(catalog: Catalog) -> None:
    """Every fourth cage takes 21 W, the rest 12 W."""
    group = catalog.switches["eth-sn5400"].cages[0]
    assert group.power_limit_w is not None
    assert group.hot is not None
    assert (group.power_limit_w.v, group.hot.power_limit_w.v, group.hot.count) == (12, 21, 16)
    assert group.hot.port_numbers.split(",") == [str(port) for port in range(1, 62, 4)]


def test_variants_are_parts_of_their_own(catalog: Catalog) -> None:
    """Alternatives of one data row became separate switches with one kind of main cage each."""
    cages = {key: s.cages[0] for key, s in catalog.switches.items()}
    assert cages["eth-9364e-sg2"].form_factor is FormFactor.OSFP
    assert cages["eth-9364e-sg2-q"].form_factor is FormFactor.QSFP_DD800
    assert (cages["eth-micas-6940"].count, cages["eth-micas-6940-128qc"].count) == (64, 128)
    assert (cages["eth-7060xe7"].shell, cages["eth-7060xe7-prs"].shell) == (Shell.IHS, Shell.RHS)


def test_management_cages_carry_no_fabric_link(catalog: Catalog) -> None:
    """SFP cages beside 800G cages are for management; on out-of-band switches the copper ports are fabric."""
    assert [group.fabric for group in catalog.switches["eth-sn5610"].cages] == [True, False]
    oob = {group.name: group for group in catalog.switches["oob-sn2201"].cages}
    assert {name: group.fabric for name, group in oob.items()} == {"access": True, "uplink": True}
    assert modes_of(catalog.switches["oob-sn2201"]) == {(1, 1, 1, 1)}


def test_watts_of_a_chassis_leave_room_for_its_modules(catalog: Catalog) -> None:
    """What the supply gives covers the chassis and a module at the limit in every cage, wherever limits are known."""
    for key, switch in catalog.switches.items():
        limits = [(g.count, g.power_limit_w.v, g.hot) for g in switch.cages if g.power_limit_w]
        pluggables = sum(
            count * watts + (hot.count * (hot.power_limit_w.v - watts) if hot else 0) for count, watts, hot in limits
        )
        assert switch.power_supply_w is not None, key
        assert switch.power_chassis_max_w.v + pluggables <= switch.power_supply_w.v + 0.5, key
    assert catalog.switches["ib-qm9700"].power_chassis_max_w.v == 1720 - 32 * 17


def test_four_cages_serve_eight_adapters_in_a_dgx_h100(catalog: Catalog) -> None:
    """Four flat-top twin-port cages make eight 400G ports; the other four cages are shared by storage and in-band."""
    roles = {role.role.value: role.cages for role in catalog.servers["dgx-h100"].cages}
    backend = roles["backend"]
    assert (backend.count, backend.shell, backend.host_lanes) == (4, Shell.RHS, 8)
    assert backend.count * max(mode.ports for mode in backend.modes if mode.speed_gbps == 400) == 8
    assert (roles["storage"].count, roles["frontend"].count) == (2, 2)


def test_connectx_8_has_800g_on_infiniband_alone(catalog: Catalog) -> None:
    """On Ethernet a ConnectX-8 tops at 400G per port, in the card and in the servers built with it."""
    groups = [catalog.nics["cx8-c8180"].cages[0]]
    groups += [catalog.servers[key].cages[0].cages for key in ("dgx-b300", "gb300-nvl72", "hgx-b300-xe9780", "xe9712")]
    for group in groups:
        assert {mode.protocols for mode in group.modes if mode.speed_gbps == 800} == {(Protocol.INFINIBAND,)}
        ethernet = [mode for mode in group.modes if Protocol.ETHERNET in mode.protocols]
        assert max(mode.speed_gbps for mode in ethernet) == 400


def test_bought_adapters_come_as_whole_cards(catalog: Catalog) -> None:
    """Where the buyer chooses the adapter, the server names a default that has a price."""
    nics = {key: [role.nic for role in server.cages] for key, server in catalog.servers.items()}
    assert nics["hgx-h100-xe9680"] == ["cx7-osfp", "cx7-qsfp112-2x200", "cx7-qsfp112-2x200"]
    assert (nics["mi300x-8"][0], nics["mi355x-xe9785"][0]) == ("thor2", "pollara400")
    assert nics["dgx-h100"] == [None, None, None]
    assert all(catalog.nics[name].price for names in nics.values() for name in names if name)


def test_prices_follow_the_rules(catalog: Catalog) -> None:
    """Medians of readings; used units are left out, and genuine prices far above the others."""
    sn5600 = catalog.switches["eth-sn5600"].price
    assert sn5600 is not None
    assert (sn5600.low_usd, sn5600.mid_usd, sn5600.high_usd, sn5600.how) == (67213, 68802, 87125, How.READ)
    assert price_usd(catalog.switches["eth-sn4700"].price) == 34880
    assert price_usd(catalog.switches["ib-q3400"].price) == 149939
    dr4 = catalog.modules["qdd-400g-dr4"].price
    assert dr4 is not None
    assert (dr4.low_usd, dr4.mid_usd, dr4.high_usd) == (369, 559, 1156)
    assert catalog.switches["eth-7800r3"].price is None


def price_usd(price: Price | None) -> float:
    assert price is not None
    return price.mid_usd


def test_status_of_parts_that_cannot_simply_be_ordered(catalog: Catalog) -> None:
    """Announced, discontinued and doubtful parts say so."""
    assert catalog.cables["nv-mca7j60"].status is Status.DISCONTINUED
    assert catalog.cables["nv-mca7j65"].status is Status.CONFIRM
    assert catalog.modules["nv-mms4a00-rhs"].status is Status.PLANNED
    assert catalog.modules["qdd-400g-fr8"].status is Status.LEGACY
    assert catalog.nics["cx9"].status is Status.PLANNED
    assert "confirm orderability" in catalog.modules["nv-mma4z00-ns"].note


def test_copper_runs_for_the_management_network(catalog: Catalog) -> None:
    """RJ45 cords match 1G ports, and runs terminated on site reach 100 m."""
    run = catalog.cables["rj45-cat6a-run"]
    assert [stock.length_m for stock in run.lengths] == [15, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert run.end_a.lane_gbps == catalog.switches["oob-sn2201"].cages[0].lane_gbps == 1
    assert run.lengths[-1].price.mid_usd == 98.5


def test_copper_too_long_for_its_lane_rate_is_not_listed(catalog: Catalog) -> None:
    """Lengths that a seller lists beyond what its lane rate carries were left out."""
    assert [stock.length_m for stock in catalog.cables["gen-acc-qdd400"].lengths] == [3, 5]
    assert [stock.length_m for stock in catalog.cables["gen-dac-osfp800-2q56dd"].lengths] == [1, 2]


def test_half_retimed_and_linear_optics_say_so(catalog: Catalog) -> None:
    """LPO is linear, LRO and TRO are half retimed, everything else is not."""
    kinds = {key: module.retiming for key, module in catalog.modules.items() if module.retiming != "full"}
    assert kinds == {
        "nv-mms4b10-xm": "half",
        "osfp-800g-dr8-lro": "half",
        "q112-400g-dr4-lpo": "linear",
        "osfp-800g-dr8-lpo": "linear",
        "osfp224-1.6t-dr8-lpo": "linear",
    }


def test_plug_rules_agree_with_the_optics_rules() -> None:
    """The check and the solver let the same plugs into the same cages and the same copper reach as far."""
    from gpunet.solver import copper, mating

    rules = plug_rules()
    assert {cage: set(plugs) for cage, plugs in rules.cage_accepts.items()} == {
        cage: set(plugs) for cage, plugs in mating.SEATS.items()
    }
    for kind, limits in copper.LIMIT_M.items():
        for lane_gbps, metres in limits.items():
            assert rules.reach_m(kind, lane_gbps, splitter=False) == metres


# Names


def test_medium_ids() -> None:
    """A stock length has an id of its own, which leads back to its part and length."""
    assert medium_id("nv-mfp7e10", 30) == "nv-mfp7e10-n030"
    assert medium_id("nv-mcp4y10", 0.5) == "nv-mcp4y10-n000.5"
    assert medium_id("x", 1500) == "x-n1500"
    assert split_medium_id("nv-mfp7e10-n030") == ("nv-mfp7e10", 30.0)
    assert split_medium_id("eth-n9600-64od") == ("eth-n9600-64od", None)
    with pytest.raises(ValueError, match="at least a millimetre"):
        medium_id("x", 0)


@given(base=st.from_regex(r"[a-z0-9][a-z0-9.\-]*", fullmatch=True), millimetres=st.integers(1, 10_000_000))
def test_medium_ids_come_back(base: str, millimetres: int) -> None:
    """For every part id and length, the id of a stock length is a part id and splits into what it was made of."""
    made = medium_id(base, millimetres / 1000)
    assert split_medium_id(made) == (base, millimetres / 1000)


def test_every_shipped_stock_length_is_found(catalog: Catalog) -> None:
    """All stock lengths have different ids, and each id leads to its cable or fibre."""
    parts: list[Cable | Fibre] = [*catalog.cables.values(), *catalog.fibres.values()]
    media = [(part, stock.length_m) for part in parts for stock in part.lengths]
    names = [medium_id(part.id, length_m) for part, length_m in media]
    assert len(set(names)) == len(names) == 400
    assert all(find_part(catalog, name) is part for name, (part, _) in zip(names, media, strict=True))


def test_find_part_and_kind(catalog: Catalog) -> None:
    """Every kind of part is found by id; unknown ids and lengths that are not sold are not."""
    examples = {
        "switch": "ib-qm9700",
        "nic": "cx7-osfp",
        "server": "dgx-h100",
        "module": "nv-mma4z00-ns",
        "cable": "nv-mcp4y10",
        "fibre": "nv-mfp7e10",
        "accessory": "enc-1u",
    }
    assert tuple(examples) == PART_KINDS
    for kind, part_id in examples.items():
        found = find_part(catalog, part_id)
        assert found is not None
        assert found.id == part_id
        assert part_kind(catalog, part_id) == kind
    assert part_kind(catalog, "nv-mfp7e10-n030") == "fibre"
    for unknown in ("nv-mfp7e10-n031", "no-such-part", "no-such-part-n030", "400G-DR4"):
        assert part_kind(catalog, unknown) is None
        assert find_part(catalog, unknown) is None


def test_no_id_is_used_twice_in_a_file() -> None:
    """The reader refuses a key given twice, so no entry hides another."""
    with pytest.raises(ValueError, match="'a' is given twice, line 2"):
        read_plain_yaml("a: 1\na: 2\n")
    with pytest.raises(ValueError, match="an alias"):
        read_plain_yaml("a: &x 1\nb: *x\n")


# The check


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


# Folders of a user


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a source, a new fibre and a changed one."""
    (tmp_path / "sources.yaml").write_text("quote-1: {at: quotation 1, date: 2026-11-30}\n")
    (tmp_path / "fibres.yaml").write_text(FIBRES)
    return tmp_path


FIBRES = """\
nv-mfp7e30:
  vendor: nvidia
  model: MFP7E30, quoted
  kind: jumper
  grade: OS2
  fibres: 8
  connector_a: {kind: MPO-12, polish: APC}
  connector_b: {kind: MPO-12, polish: APC}
  lengths:
  - {length_m: 250, price: {mid_usd: 400, how: read, src: quote-1}}
my-jumper:
  vendor: acme
  model: jumper
  kind: jumper
  grade: OS2
  fibres: 8
  connector_a: {kind: MPO-12, polish: APC}
  connector_b: {kind: MPO-12, polish: APC}
  lengths:
  - {length_m: 500, price: {mid_usd: 900, how: read, src: quote-1}}
"""


def test_a_folder_adds_and_replaces_parts(catalog: Catalog, folder: Path) -> None:
    """Known ids are replaced as a whole, new ones are added, the rest stays, and nothing is wrong with it."""
    own = load_catalog([folder])
    assert [stock.length_m for stock in own.fibres["nv-mfp7e30"].lengths] == [250]
    assert isinstance(find_part(own, "my-jumper-n500"), Fibre)
    assert own.sources["quote-1"].date == "2026-11-30"
    assert own.switches == catalog.switches
    assert [f.render() for f in check_catalog(own, TODAY) if f.level is Level.ERROR] == []
    assert "my-jumper" not in load_catalog().fibres


def test_later_folders_win(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Folders lie on top of each other in the order given."""
    second = tmp_path_factory.mktemp("second")
    (second / "fibres.yaml").write_text(FIBRES.replace("mid_usd: 900", "mid_usd: 800"))
    assert load_catalog([folder, second]).fibres["my-jumper"].lengths[0].price.mid_usd == 800
    assert load_catalog([second, folder]).fibres["my-jumper"].lengths[0].price.mid_usd == 900


def test_version_is_a_hash_of_the_content(catalog: Catalog, folder: Path) -> None:
    """Equal content has an equal version, whatever the layout and the place; other content has another."""
    version = load_catalog([folder]).version
    assert version != catalog.version
    assert len(version) == len(catalog.version) == 12
    copied = folder / "elsewhere"
    copied.mkdir()
    for name in ("sources.yaml", "fibres.yaml"):
        text = (folder / name).read_text()
        (copied / name).write_text("# a comment\n" + text)
    assert load_catalog([copied]).version == version
    (copied / "fibres.yaml").write_text(FIBRES.replace("900", "901"))
    assert load_catalog([copied]).version != version


def test_shipped_files_given_as_a_folder_change_nothing(catalog: Catalog, tmp_path: Path) -> None:
    """Both readers understand the shipped files alike, so a copied file is the same catalogue."""
    for stem in ("servers", "fibres", "sources"):
        with files("gpunet.catalogs").joinpath(f"{stem}.yaml").open("rb") as shipped:
            (tmp_path / f"{stem}.yaml").write_bytes(shipped.read())
    own = load_catalog([tmp_path])
    assert own.version == catalog.version
    assert own == catalog


def test_mistakes_of_a_user_are_placed(folder: Path) -> None:
    """Every mistake is reported at once, each with file, line and column."""
    text = FIBRES.replace("grade: OS2", "grades: OS2", 1).replace("kind: jumper", "kind: jumpr", 1)
    (folder / "fibres.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_catalog([folder])
    shown = caught.value.render()
    assert f"{folder / 'fibres.yaml'}:4:9: nv-mfp7e30.kind: found 'jumpr'" in shown
    assert "nearest: jumper" in shown
    assert "fibres.yaml:5:3: nv-mfp7e30.grades: found an unknown field" in shown


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("fibre.yaml", "{}", "nearest: fibres.yaml"),
        ("fibres.yaml", "- a\n", "expected a mapping from ids to entries"),
        ("fibres.yaml", FIBRES.replace("my-jumper:", "my-jumper:\n  id: other"), "expected no id, or 'my-jumper'"),
        ("fibres.yaml", FIBRES.replace("my-jumper", "my-jumper-n030"), "may not end like a stock length"),
        ("fibres.yaml", FIBRES.replace("my-jumper", "ib-qm9700"), "switches.yaml has a part of this id"),
        ("fibres.yaml", "a: [", "fibres.yaml"),
    ],
)
def test_folders_that_cannot_be_used(folder: Path, name: str, text: str, says: str) -> None:
    """Unknown file names, wrong shapes and ids that collide are refused in plain words."""
    (folder / "fibres.yaml").unlink()
    (folder / name).write_text(text)
    with pytest.raises(InputError, match="1 problem") as caught:
        load_catalog([folder])
    assert says in caught.value.render()


def test_references_must_exist(tmp_path: Path) -> None:
    """A module of an unknown interface and a server of an unknown adapter are refused where they are named."""
    for stem, key, wrong, right in (
        ("modules", "osfp56-400g-2fr4", "interface: 200G-FR5", "interface: 200G-FR4"),
        ("servers", "mi300x-8", "nic: thor3", "nic: thor2"),
    ):
        entry = shipped_entry(stem, key)
        (tmp_path / f"{stem}.yaml").write_text(entry.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_catalog([tmp_path])
    shown = caught.value.render()
    assert "osfp56-400g-2fr4.interface: found '200G-FR5', expected an optical interface" in shown
    assert "nearest: 200G-FR4" in shown
    assert "mi300x-8.cages[0].nic: found 'thor3', expected a NIC of the catalogue; nearest: thor2" in shown


def shipped_entry(stem: str, key: str) -> str:
    """The text of one entry of a shipped file."""
    text = files("gpunet.catalogs").joinpath(f"{stem}.yaml").read_text(encoding="utf-8")
    (entry,) = [block for block in text.split("\n\n") if block.startswith(f"{key}:")]
    return entry + "\n"


def test_a_folder_must_exist_and_hold_something(tmp_path: Path) -> None:
    """A folder that is missing or empty is a mistake, not an empty catalogue."""
    with pytest.raises(InputError, match="found no folder"):
        load_catalog([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="found no catalogue file"):
        load_catalog([tmp_path])


def test_an_empty_mapping_adds_nothing(catalog: Catalog, tmp_path: Path) -> None:
    """A file without entries leaves everything as shipped."""
    (tmp_path / "switches.yaml").write_text("{}\n")
    assert load_catalog([str(tmp_path)]) == catalog
