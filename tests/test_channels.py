"""Channels through panels: which parts make one, how far it goes, and what links that run together share."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_parts import IB, cage, fibre, module

from gpunet.case_file import case_from_data, read_case
from gpunet.catalogs import load_catalog
from gpunet.catalogs.plant import plant_rules
from gpunet.models.evidence import How, Price
from gpunet.models.interconnect import Refusal
from gpunet.models.parts import Accessory, Connector, Fibre, FibreKind
from gpunet.models.plant import Mates, Plant, Structure
from gpunet.models.problems import InputError
from gpunet.solver.interconnects import InterconnectTable, LinkOption, LinkParts, at_length
from gpunet.solver.links import LinkBook, laid_parts
from gpunet.solver.prices import PriceList
from gpunet.solver.wiring import Shape, Stripe, Wire, stripe_blocks, stripe_bundles

CATALOG = load_catalog()
SWITCH = cage("OSFP", 8, "2x400:4@100", protocol=IB)
OM4 = {"OM4": 50.0}
CORD = fibre("MPO-12/APC MPO-12/APC", grade="OM4", lengths_m=(3, 10), part="cord")
TRUNK = fibre(
    "MPO-12/APC MPO-12/APC", grade="OM4", kind=FibreKind.TRUNK, gender="male/male", lengths_m=(10, 20, 40), part="run"
)
WIDE = TRUNK.model_copy(update={"id": "wide", "fibres": 96, "legs": 12})
EXTENSION = fibre(
    "MPO-12/APC MPO-12/APC", grade="OM4", polarity="Type A", gender="male/female", lengths_m=(10, 20), part="extension"
)
SPLITTER = fibre("MPO-12/APC MPO-12/APC", grade="OM4", kind=FibreKind.SPLITTER, legs=2, part="splitter")


def panel(positions: int = 1, kind: str = "MPO-12") -> Accessory:
    """A made-up panel."""
    price = Price(mid_usd=10, how=How.ESTIMATED, src="made-up")
    part = f"panel-{positions}"
    return Accessory(
        id=part, vendor="lumen", model=part, connector=Connector(kind=kind), positions=positions, price=price
    )


def parts(
    *fibres: Fibre,
    structure: Structure | tuple[Structure, ...] = Structure.TWO_PANELS,
    mates: Mates = Mates.LOW_LOSS,
    panels: tuple[Accessory, ...] = (panel(), panel(12)),
    reach_m: dict[str, float] | None = None,
) -> LinkParts:
    """Parts with one twin-port multimode module."""
    optic = module("400G-VR4", "OSFP", "8@100", 2, reach_m=reach_m or OM4)
    return LinkParts(
        modules={optic.id: optic},
        cables={},
        fibres={f.id: f for f in fibres},
        interfaces=CATALOG.interfaces,
        grades=("OM4", "OS2"),
        plant=Plant(structure=structure, mates=mates),
        panels={p.id: p for p in panels},
    )


def found(parts: LinkParts) -> tuple[LinkOption, ...]:
    """Ways between two switches."""
    return InterconnectTable(parts).options(SWITCH, SWITCH)


def told(parts: LinkParts) -> tuple[Refusal, ...]:
    """Why there is none."""
    return InterconnectTable(parts).refusals(SWITCH, SWITCH)


def test_a_direct_plant_with_low_loss_changes_nothing() -> None:
    """A plant of direct cords gives the very options that no plant gives; panels alone give none of them."""
    given = parts(CORD, TRUNK, WIDE, EXTENSION, structure=Structure.DIRECT)
    without = replace(given, plant=None, panels={})
    assert found(given) == found(without)
    assert [option.medium_base for option in found(without)] == ["cord"]
    assert all(option.channel for option in found(replace(given, plant=Plant(structure=Structure.TWO_PANELS))))


def test_two_panels_take_cord_trunk_and_cord() -> None:
    """Single trunks use panels for one channel, shared trunks either; what is bought follows from the lengths."""
    ways = {(o.channel.run, o.channel.panel): o for o in found(parts(CORD, TRUNK, WIDE, EXTENSION)) if o.channel}
    assert set(ways) == {("run", "panel-1"), ("wide", "panel-1"), ("wide", "panel-12")}
    single = at_length(ways["run", "panel-1"], 15.0)
    assert single is not None
    assert single.laid is not None
    assert (single.medium, single.laid.run, single.laid.cord) == ("cord-n003", "run-n020", "cord-n003")
    assert single.medium_length_m == 20 + 3 + 3
    assert laid_parts(single, 5) == [("cord-n003", 5), ("run-n020", 5), ("panel-1", 10)]
    assert at_length(ways["wide", "panel-12"], 15.0) is None
    shared = at_length(ways["wide", "panel-12"], 15.0, (2.0, 6.0))
    assert shared is not None
    assert shared.laid is not None
    assert (shared.medium, shared.laid.cord, shared.medium_length_m) == ("cord-n010", "cord-n003", 33)
    assert laid_parts(shared, 25) == [("cord-n003", 25), ("wide-n020", 3), ("panel-12", 6)]


def test_one_panel_takes_a_cord_and_a_run_into_the_module() -> None:
    """One cord only, and the run enters the far module itself."""
    (option,) = found(parts(CORD, TRUNK, EXTENSION, structure=Structure.ONE_PANEL))
    built = at_length(option, 15.0)
    assert built is not None
    assert built.laid is not None
    assert (built.medium, built.laid.run, built.laid.cord) == ("cord-n003", "extension-n020", None)
    assert built.medium_length_m == 23
    assert laid_parts(built, 2) == [("extension-n020", 2), ("panel-1", 2)]


def test_duplex_cords_make_channels_of_cords() -> None:
    """Duplex cords cross over A to B each, so that any number of them does."""
    optic = module("400G-FR4", "OSFP", "8@100", 2, connector="LC/UPC", reach_m={"OS2": 2000})
    cord = fibre("LC/UPC LC/UPC", fibres=2, polarity="A-B", gender="")
    given = replace(parts(cord, panels=(panel(kind="LC"),)), modules={"optic": optic})
    for structure in (Structure.ONE_PANEL, Structure.TWO_PANELS):
        (option,) = found(replace(given, plant=Plant(structure=structure)))
        assert option.channel is not None
        assert (option.channel.run, option.medium_base) == ("cord", "cord")


def test_the_whole_channel_stays_within_the_reach() -> None:
    """Run and cords together carry light: 40 m of run and two cords of 3 m fit into 50 m, cords of 10 m do not."""
    option = next(o for o in found(parts(CORD, WIDE, panels=(panel(12),))))
    assert at_length(option, 40.0, (2.0, 2.0)) is not None
    assert at_length(option, 40.0, (2.0, 6.0)) is None
    assert option.reach_m == 50
    long = found(parts(CORD, WIDE, panels=(panel(12),), reach_m={"OM4": 100}))[0]
    assert (long.reach_m, long.reach_rule) == (plant_rules().panel_reach_m["MMF"]["MPO"].v, "R13")


def test_loss_by_hand() -> None:
    """R14: four pairs of 0.41 dB leave 0.06 of the 1.7 dB of VR4 on OM4: 20 m at 3 dB/km; three pairs leave more."""
    worn = {"loss_per_mated_pair_db": 0.41}
    given = parts(*(f.model_copy(update=worn) for f in (CORD, TRUNK, EXTENSION)))
    (option,) = found(given)
    assert option.reach_m == pytest.approx((1.7 - 4 * 0.41) / 0.003)
    assert option.reach_rule == "R14"
    assert at_length(option, 10.0) is not None
    assert at_length(option, 15.0) is None
    (one,) = found(replace(given, plant=Plant(structure=Structure.ONE_PANEL)))
    assert one.reach_m == 50


def _other(part: Fibre, **fields: object) -> Fibre:
    return part.model_copy(update=fields)


@pytest.mark.parametrize(
    ("given", "rule", "words"),
    [
        (parts(CORD, TRUNK, panels=(panel(kind="LC"),)), "R10", "takes LC"),
        (parts(CORD, _other(TRUNK, connector_b=Connector(kind="MPO-12", polish="UPC"))), "R11", "MPO-12/UPC"),
        (parts(CORD, _other(TRUNK, connector_a=Connector(kind="MPO-16", polish="APC"))), "R10", "MPO-16/APC"),
        (parts(CORD, _other(TRUNK, gender="female/female")), "R12", "do not mate at a panel"),
        (parts(CORD, _other(TRUNK, polarity="Type A stock")), "R12", "cross over 2 times"),
        (parts(CORD, _other(WIDE, fibres=48)), "R12", "4 fibres per connector"),
        (parts(CORD, TRUNK, mates=Mates.STANDARD), "R14", "lose 3 dB at mated pairs"),
        (parts(CORD, _other(EXTENSION, polarity="Type B"), structure=Structure.ONE_PANEL), "R12", "cross over 2 times"),
    ],
)
def test_what_keeps_parts_from_a_channel(given: LinkParts, rule: str, words: str) -> None:
    """R10 to R14: one wrong piece, and the rule that refuses it is named with what is wrong."""
    assert not found(given)
    assert any(refusal.rule == rule and words in refusal.message for refusal in told(given)), told(given)


def test_splitters_pass_no_panel() -> None:
    """A splitter is laid directly or not at all."""
    optic = module("400G-VR4", "OSFP", "8@100", 2, reach_m=OM4)
    half = cage("OSFP", 8, "4x200:2@100", protocol=IB)
    card = cage("OSFP", 4, "1x200:2@100", protocol=IB)
    single = module("400G-VR4", "OSFP", "4@100", part="single", reach_m=OM4)
    given = replace(
        parts(CORD, TRUNK, SPLITTER, structure=tuple(Structure)), modules={"optic": optic, "single": single}
    )
    options = InterconnectTable(given).options(half, card)
    assert {option.medium_base for option in options} == {"splitter"}
    assert not any(option.channel for option in options)


stripes = st.builds(
    Stripe, upper=st.integers(1, 6), multiplicity=st.integers(1, 6), ports_per_lower_cage=st.sampled_from((1, 2, 4)),
    ports_per_upper_cage=st.sampled_from((1, 2, 4)),
)  # fmt: skip


@given(stripes, st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_bundles_wire_what_blocks_wire(stripe: Stripe, lowers: int) -> None:
    """Bundles hold every wire of the blocks once, and as many links as their shape says."""
    lengths = [10.0 + lower for lower in range(lowers)]

    def wires(blocks: object) -> list[Wire]:
        return sorted(w for b in blocks for n in range(b.count) for w in b.wires(n))  # type: ignore[attr-defined]

    bundles = list(stripe_bundles(stripe, lengths, lambda _: (2.0, 6.0)))
    assert wires(bundles) == wires(stripe_blocks(stripe, lengths))
    assert all(bundle.count == 1 and len(bundle.wires(0)) == bundle.shape.links for bundle in bundles)


CASE = case_from_data({"cluster": {"gpus": 8, "server": "dgx-h100"}}, CATALOG)
PRICED = LinkParts(
    modules={m.id: m for m in CATALOG.modules.values() if m.price is not None},
    cables={},
    fibres=CATALOG.fibres,
    interfaces=CATALOG.interfaces,
    grades=("OM4", "OS2"),
    plant=Plant(),
    panels={p.id: p for p in CATALOG.accessories.values() if p.positions},
)
BOOK = LinkBook(PRICED, PriceList(CASE, CATALOG), InterconnectTable(PRICED))
PAIR = BOOK.pair((SWITCH,), (SWITCH,))


@pytest.mark.parametrize("times", [1, 5, 6, 7, 12])
@pytest.mark.parametrize("length_m", [3.0, 9.0, 20.0, 40.0])
def test_no_bundle_costs_less_than_the_bound(times: int, length_m: float) -> None:
    """The bound per link that skips templates is never above what a bundle of any size costs, owned parts apart."""
    shape = Shape((2,), (2,), True, True, times, (2.0, 2.0))
    ways = BOOK.ways(PAIR, BOOK.step(length_m), shape)
    assert {way.interconnect.laid.run_legs for way in ways if way.interconnect.laid} == {1, 12}
    bound = BOOK.least_per_link(PAIR, length_m)
    assert bound is not None
    assert min(way.weight.cost for way in ways) / shape.links >= bound[0] - 1e-6
    full = BOOK.ways(PAIR, BOOK.step(length_m), shape._replace(times=600))
    assert math.isclose(min(way.weight.cost for way in full) / 1200, bound[0])


def test_a_trunk_that_is_full_costs_its_share() -> None:
    """Twelve links share one trunk and two plates; a thirteenth takes a second of each."""
    wide = [12, 24, 26]
    pieces = {}
    for links in wide:
        shape = Shape((2,), (2,), True, True, links // 2, (2.0, 2.0))
        ways = [dict(w.parts) for w in BOOK.ways(PAIR, BOOK.step(9.0), shape)]
        pieces[links] = next(p for p in ways if "trunk-mtp8-om4-96f-apc-n010" in p and "panel-mpo-12" in p)
    bought = [(p["trunk-mtp8-om4-96f-apc-n010"], p["panel-mpo-12"], p["nv-mfp7e10-n003"]) for p in pieces.values()]
    assert bought == [(1, 2, 24), (2, 4, 48), (3, 6, 52)]


@pytest.mark.parametrize(
    ("plant", "words"),
    [
        ("{structure: three-panels}", "three-panels"),
        ("{structure: []}", "not empty"),
        ("{structure: [direct, direct]}", "at most once"),
        ("{mates: good}", "good"),
        ("{panels: 2}", "panels"),
    ],
)
def test_a_plant_that_makes_no_sense_is_refused_at_its_place(tmp_path: object, plant: str, words: str) -> None:
    """A mistake names file and line, and what was found."""
    path = tmp_path / "case.yaml"  # type: ignore[operator]
    path.write_text(f"cluster: {{gpus: 8, server: dgx-h100}}\nsite:\n  plant: {plant}\n")
    with pytest.raises(InputError) as caught:
        read_case(path, CATALOG)
    (problem,) = caught.value.problems
    assert problem.line == 3
    assert words in str(caught.value)
