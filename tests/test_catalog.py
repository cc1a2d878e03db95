"""The shipped catalogue and the names of its parts."""

from __future__ import annotations

from datetime import date
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpunet.catalogs import PART_KINDS, find_part, load_catalog, medium_id, part_kind, split_medium_id
from gpunet.catalogs.check import Level, check_catalog
from gpunet.catalogs.load import FILES
from gpunet.catalogs.plain_yaml import read_plain_yaml
from gpunet.catalogs.plant import plant_rules
from gpunet.catalogs.plugs import plug_rules
from gpunet.models.evidence import Fact, How, Price
from gpunet.models.parts import (
    Cable,
    CableKind,
    Catalog,
    Fibre,
    FormFactor,
    Protocol,
    Shell,
    Status,
    Switch,
)
from gpunet.models.plant import Mates

TODAY = date(2026, 12, 2)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def modes_of(switch: Switch, group: int = 0) -> set[tuple[int, float, int, float]]:
    return {(mode.ports, mode.speed_gbps, mode.lanes, mode.lane_gbps) for mode in switch.cages[group].modes}


# The shipped parts


def test_nothing_got_lost(catalog: Catalog) -> None:
    """Every file holds as many entries as were compiled."""
    counts = {stem: len(getattr(catalog, stem)) for stem in FILES}
    assert counts == {
        "sources": 201,
        "interfaces": 30,
        "switches": 113,
        "nics": 21,
        "servers": 14,
        "modules": 97,
        "cables": 56,
        "fibres": 25,
        "accessories": 13,
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
    for stem in (*FILES, "plant"):
        text = files("gpunet.catalogs").joinpath(f"{stem}.yaml").read_text(encoding="utf-8")
        used |= {key for source in sources_in(read_plain_yaml(text)) for key in source.split("+")}
    assert set(catalog.sources) - used == set()


def test_the_numbers_of_the_plant_have_sources(catalog: Catalog) -> None:
    """R13, R14: losses, attenuation and reaches stand in the catalogue, each with how it is known and from where."""
    rules = plant_rules()
    tables = [*rules.mated_pair_db.values(), rules.attenuation_db_per_m, *rules.panel_reach_m.values()]
    facts = [rules.splitter_reach_m, rules.most_panels, *(fact for table in tables for fact in table.values())]
    assert {fact.src for fact in facts} <= set(catalog.sources)
    assert all(fact.note for fact in facts if fact.how is How.ESTIMATED)
    assert rules.mated_pair_db[Mates.LOW_LOSS]["MPO"].v == 0.35
    assert rules.mated_pair_db[Mates.STANDARD]["MPO"].v == 0.75


def test_every_cable_has_a_diameter_with_its_source(catalog: Catalog) -> None:
    """Every cable and fibre says how thick it is and how that is known; an estimate says from what."""
    facts = {p.id: p.diameter_mm for table in (catalog.cables, catalog.fibres) for p in table.values()}
    assert all(facts.values())
    known = {part: fact for part, fact in facts.items() if fact is not None}
    assert {key for fact in known.values() for key in fact.src.split("+")} <= set(catalog.sources)
    assert [part for part, fact in known.items() if fact.how is How.ESTIMATED and not fact.note] == []
    # Two round cables of 11 mm in 26 AWG, as the maker's page has them.
    assert (known["nv-mcp4y10"].v, catalog.cables["nv-mcp4y10"].strands) == (11, 2)


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


@pytest.mark.parametrize(
    ("plug", "cage", "seats"),
    [
        ((FormFactor.OSFP, Shell.IHS), "eth-sn5600", True),
        ((FormFactor.OSFP, Shell.RHS), "eth-sn5600", False),
        ((FormFactor.OSFP224, Shell.RHS), "eth-qfx5250", True),
        ((FormFactor.QSFP56, Shell.NONE), "eth-sn5400", True),
        ((FormFactor.QSFP112, Shell.NONE), "eth-sn5400", False),
        ((FormFactor.QSFP112, Shell.NONE), "eth-9364e-sg2-q", False),
        ((FormFactor.QSFP_DD, Shell.NONE), "eth-9364e-sg2-q", True),
        ((FormFactor.QSFP28, Shell.NONE), "eth-s5448f", False),
    ],
)
def test_seating(catalog: Catalog, plug: tuple[FormFactor, Shell], cage: str, seats: bool) -> None:
    """Which plug enters the main cages of a switch: shells and look-alikes that do not fit."""
    assert plug_rules().seats(catalog.switches[cage].cages[0], *plug) is seats


def test_copper_reach() -> None:
    """Passive copper ends at 2 m at 100 Gb/s per lane, splitters at 3 m; optical cables end with their stock list."""
    reach = plug_rules().reach_m
    assert [reach(CableKind.DAC, rate, splitter=False) for rate in (25, 50, 100, 200)] == [5, 3, 2, 1]
    assert reach(CableKind.DAC, 100, splitter=True) == 3
    assert reach(CableKind.ACC, 200, splitter=True) == 3
    assert reach(CableKind.AOC, 100, splitter=False) is None


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
    assert len(set(names)) == len(names) == 422
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
