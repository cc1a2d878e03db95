"""``site.switch_placement: shortest``: no room has shorter runs, and every length follows from the room found."""

from __future__ import annotations

from typing import Any

import pytest
from exhaustive import least
from exhaustive_cases import random_case
from exhaustive_catalog import awkward_catalog
from exhaustive_shortest import ShortestRoom
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from gpunet.case_file import case_from_data
from gpunet.models.case import Case, Placement
from gpunet.models.design import Status
from gpunet.solver.demand import survey
from gpunet.solver.layout import Room
from gpunet.solver.optimize import optimize
from gpunet.solver.placements import placed
from gpunet.solver.shortest import Sizes, shortest

CATALOG = awkward_catalog()
SEEDS = [("plain", 3), ("plain", 8), ("limits", 3), ("limits", 5), ("fabrics", 2), ("fabrics", 4), ("racks", 1)]


def small(servers: int, **site: Any) -> Case:
    data = {
        "cluster": {"servers": servers, "server": "server-2"},
        "fabrics": {"backend": {}, "storage": {"storage_servers": servers // 3, "storage_server_nic": "nic-400"}},
        "site": {"switch_placement": "shortest", "servers_per_rack": 1, **site},
    }
    return case_from_data(data, CATALOG)


def total_um(room: Room) -> int:
    """What ``shortest`` minimises, of any room."""
    each = room.server_cables
    racks = [(room.server_rack(i), each) for i in range(room.n_servers)]
    racks += [(room.storage_rack(i), 1) for i in range(room.n_storage)]
    total = 0
    for rack, cables in racks:
        zone = room.row_zones[room.row_of(rack)].name
        runs_m = room.rack_to_zone_m(rack, zone) + room.zone_to_zone_m(zone, room.central.name)
        total += cables * round(runs_m * 1_000_000)
    return total


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    servers=st.integers(1, 10),
    racks_per_row=st.sampled_from([1, 2, 3, 4, 10]),
    zone=st.integers(1, 3),
    central=st.integers(1, 5),
    pitches_m=st.sampled_from([(0.6, 3.0), (0.8, 0.9), (4.0, 0.5), (0.7, 12.0)]),
    lifted=st.booleans(),
)
def test_no_room_is_shorter(
    servers: int, racks_per_row: int, zone: int, central: int, pitches_m: tuple[float, float], lifted: bool
) -> None:
    """Every room that there is, measured place by place by other code: the same least, and the same room of equals."""
    if servers > 7:
        racks_per_row = max(racks_per_row, 3)
    case = small(
        servers,
        racks_per_row=racks_per_row,
        network_racks_per_row=zone,
        network_racks_central=central,
        rack_pitch_m=pitches_m[0],
        row_pitch_m=pitches_m[1],
        **({} if lifted else {"tray_rise_m": 0, "slack_m": 0}),
    )
    plain, room = ShortestRoom(case, CATALOG), survey(case, CATALOG).room
    assert plain.best is not None
    assert total_um(room) == plain.best[0]
    assert [(p.x_m, p.y_m) for p in room.central.places] == plain.middle()
    assert [(p.x_m, p.y_m) for p in room.racks] == [plain.rack(i) for i in range(room.n_racks)]


def by_cp_sat(sizes: Sizes) -> int:
    """The least total of a room of several rows, micrometres, by a solver that knows no rows to be apart."""
    model = cp_model.CpModel()
    pitch, row_pitch, extra, least_um = (
        round(x * 1_000_000) for x in (sizes.pitch_m, sizes.row_pitch_m, sizes.extra_m, sizes.least_m)
    )
    rows, most = len(sizes.weights), 10**12
    before = model.new_int_var(0, rows, "before")
    start = model.new_int_var(0, sizes.racks_per_row + sizes.leaf_width - sizes.central_columns, "start")
    lines = [
        (i, min(sizes.central_columns, sizes.central_width - i * sizes.central_columns))
        for i in range(sizes.central_rows)
    ]
    runs = []

    def size(expression: Any, name: str) -> Any:
        found = model.new_int_var(0, most, name)
        model.add_abs_equality(found, expression)
        return found

    for row, weights in enumerate(sizes.weights):
        zone = model.new_int_var(0, len(weights), f"zone {row}")
        beyond = model.new_bool_var(f"row {row} beyond the block")
        model.add(before <= row).only_enforce_if(beyond)
        model.add(before > row).only_enforce_if(~beyond)
        here = row + sizes.central_rows * beyond
        ends = [zone, zone + sizes.leaf_width - 1]
        for rack, weight in enumerate(weights):
            moved = model.new_bool_var(f"rack {row} {rack} beyond the zone")
            model.add(zone <= rack).only_enforce_if(moved)
            model.add(zone > rack).only_enforce_if(~moved)
            at = rack + sizes.leaf_width * moved
            run = model.new_int_var(least_um, most, f"run {row} {rack}")
            for end in ends:
                model.add(run >= size(at - end, f"way {row} {rack}") * pitch + extra)
            runs.append(weight * run)
        run = model.new_int_var(least_um, most, f"run {row}")
        for line, columns in lines:
            across = size(here - before - line, f"across {row} {line}")
            for end in ends:
                for edge in (0, columns - 1):
                    model.add(
                        run >= size(start + edge - end, f"along {row} {line}") * pitch + across * row_pitch + extra
                    )
        runs.append(sum(weights) * run)
    model.minimize(sum(runs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


@pytest.mark.parametrize("racks", [9, 13])
def test_cp_sat_agrees(racks: int) -> None:
    """A program over all rows at once comes to the same total as rows that are placed one by one."""
    weights = [8 if i < racks - 3 else 3 for i in range(racks)]
    in_row = tuple(tuple(weights[i : i + 4]) for i in range(0, racks, 4))
    sizes = Sizes(in_row, 4, 2, 5, 3, pitch_m=0.6, row_pitch_m=1.1, extra_m=0.3, least_m=2.0)
    assert by_cp_sat(sizes) == shortest(sizes).total_um


@pytest.mark.parametrize("servers", [40, 200, 700])
def test_it_is_no_longer_than_any_other_placement_with_zones_in_the_rows(servers: int) -> None:
    """Row ends and row middles are rooms like any other, so the shortest is no longer than they, and here shorter."""
    case = small(servers)
    shortest_um = total_um(survey(case, CATALOG).room)
    for placement in (Placement.ROW_END, Placement.ROW_MIDDLE):
        assert shortest_um < total_um(survey(placed(case, placement), CATALOG).room)


@pytest.mark.parametrize(("family", "seed"), SEEDS)
def test_lengths_follow_from_the_room(family: str, seed: int) -> None:
    """The optimum in the room found is what plain enumeration finds in the room that it finds itself; it verifies."""
    case = placed(random_case(seed, CATALOG, family), Placement.SHORTEST)
    expected = least(case, CATALOG)
    result = optimize(case, CATALOG).result
    assert (result.status is Status.OPTIMAL) == (expected is not None)
    if expected is None or result.totals is None:
        return
    totals = result.totals
    worth = {"cost": totals.cost_usd * 100, "power": totals.power_max_w * 1000, "tco": totals.tco_usd * 100}
    assert tuple(round(worth[o.value]) for o in case.objectives) == expected
    assert result.verify is not None
    assert result.verify.passed
