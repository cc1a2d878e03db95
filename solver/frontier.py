"""What one goal costs in terms of another: every design that none beats on both, each found by an exact solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpunet.models.case import MAX_SERVERS, Case, FabricName, Objective, StorageMode
from gpunet.models.design import Status
from gpunet.models.evidence import usd_to_cents, watts_to_milliwatts
from gpunet.models.parts import Catalog
from gpunet.models.study_frontier import Axis, Frontier
from gpunet.solver.frontier_pairs import Walked, frontier_of_pair, pair_of
from gpunet.solver.frontier_steps import (
    GPUS,
    LATENCY,
    OVERSUBSCRIPTION,
    RACKS,
    fewest_racks,
    frontier_of_limit,
    frontier_of_servers,
    shown_ratio,
    start_of,
)
from gpunet.solver.price_ranges import changes
from gpunet.solver.tasks import Plan
from gpunet.solver.workbench import Workbench

UNITS = {
    "cost": "USD",
    "power": "W",
    "tco": "USD",
    GPUS: "GPUs",
    OVERSUBSCRIPTION: "ratio",
    LATENCY: "ns",
    RACKS: "racks",
}
"""Every axis with its unit."""
TOTALS = tuple(o.value for o in Objective)
STEPPED_FABRICS = (FabricName.BACKEND, FabricName.STORAGE, FabricName.FRONTEND)
MOST_COUNTS = 32
"""Server counts that are solved where nobody says how far apart they should be."""


class FrontierError(ValueError):
    """A pair of axes or a range that cannot be answered. ``option`` names what to change."""

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option


def frontier(
    case: Case,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    x: str = "cost",
    y: str = "power",
    fabric: str = "backend",
    from_value: float | None = None,
    to_value: float | None = None,
    step: float | None = None,
    engine: str = "highs",
) -> Frontier:
    """Every design of a case that none beats on both axes.

    ``x`` is ``cost`` (USD), ``power`` (W) or ``tco`` (USD). ``y`` is another of them, or ``gpus``, ``oversubscription``
    or ``latency`` (ns) of ``fabric``, or ``racks``; for those ``from_value`` and ``to_value`` bound what is looked at.
    ``step`` is the distance between server counts, in GPUs, or else the least distance between points in the unit of
    ``y`` (of ``x`` where ``y`` is ``tco``); without it every point is found. Raises FrontierError, EngineError and
    JournalError.
    """
    _check(case, x, y, fabric, from_value, to_value, step)
    plan = plan or Plan()
    totals = [Objective(name) for name in (x, y) if name in TOTALS]
    rest = [o for o in case.objectives if o not in totals]
    case = case.model_copy(update={"objective": tuple(totals + (rest if y not in TOTALS else []))})
    bench = Workbench(case, catalog, engine)
    name = FabricName(fabric)
    of_fabric = y in (OVERSUBSCRIPTION, LATENCY)
    none: list[float] = []
    if y in TOTALS:
        walked, how = _pair(bench, Objective(x), Objective(y), step, plan)
    elif y == GPUS:
        walked, none, how = _servers(bench, from_value, to_value, step, plan)
    else:
        start = start_of(case, y, name, to_value)
        least = from_value or (1.0 if y == OVERSUBSCRIPTION else 0.0)
        if y == RACKS:
            least = max(least, fewest_racks(bench) or 0)
        walked, none_at = frontier_of_limit(bench, y, name, start, least, step or 0.0, plan)
        how = _how_stepped(y, name if of_fabric else None, start, none_at)
    points = [_placed(point, x, y) for point in walked.points]
    best = unbeaten(points, more_is_better=y == GPUS)
    met = {point["y"] for point in best}
    return Frontier.model_validate(
        {
            **bench.head("frontier", Status.OPTIMAL if best else Status.INFEASIBLE),
            "solves": walked.solves + (y == RACKS),
            "complete": walked.complete,
            "x": Axis(name=x, unit=UNITS[x]),
            "y": Axis(name=y, unit=UNITS[y], more_is_better=y == GPUS),
            "fabric": fabric if of_fabric else None,
            "points": _described(catalog, best, more_is_better=y == GPUS),
            "beaten": sorted({p["y"] for p in points if p["y"] is not None} - met) if y == GPUS else (),
            "impossible": none,
            "spacing": step if y != GPUS else None,
            "how": how,
        }
    )


def _check(
    case: Case,
    x: str,
    y: str,
    fabric: str,
    from_value: float | None,
    to_value: float | None,
    step: float | None,
) -> None:
    if x not in TOTALS:
        raise FrontierError("--x", f"found {x!r}, expected {', '.join(TOTALS)}: what is paid is one of these")
    if y not in UNITS:
        raise FrontierError("--y", f"found {y!r}, expected {', '.join(UNITS)}")
    if x == y:
        raise FrontierError("--y", f"found {y} on both axes, expected two different ones")
    if y in TOTALS and (from_value is not None or to_value is not None):
        raise FrontierError("--from, --to", f"these bound gpus, oversubscription, latency and racks, not {y}")
    if from_value is not None and to_value is not None and from_value > to_value:
        raise FrontierError("--from, --to", f"found from {from_value:g} to {to_value:g}, expected a rising range")
    if (step is not None and step <= 0) or any(v is not None and v <= 0 for v in (from_value, to_value)):
        raise FrontierError("--from, --to, --step", "expected numbers above 0")
    if y == OVERSUBSCRIPTION and any(v is not None and v < 1 for v in (from_value, to_value)):
        raise FrontierError("--from, --to", "an oversubscription is 1 or more; 1 is non-blocking")
    if y not in (OVERSUBSCRIPTION, LATENCY):
        return
    names = [f.value for f in STEPPED_FABRICS if getattr(case.fabrics, f.value) is not None]
    storage = case.fabrics.storage
    if storage is not None and storage.mode is StorageMode.NONE:
        names.remove(FabricName.STORAGE.value)
    if fabric not in names:
        raise FrontierError("--fabric", f"found {fabric!r}, expected one the case has: {', '.join(names) or 'none'}")


def _pair(bench: Workbench, x: Objective, y: Objective, step: float | None, plan: Plan) -> tuple[Walked, str]:
    pair = pair_of(x, y)
    gap = 1
    if step is not None:
        gap = max(1, watts_to_milliwatts(step) if pair.stepped is Objective.POWER else usd_to_cents(step))
    unit = "mW" if pair.stepped is Objective.POWER else "cent"
    every = f"every design that none beats, to the {unit}" if gap == 1 else "designs that none beats, thinned by --step"
    return frontier_of_pair(bench, pair, gap, plan), f"{every}; the ceiling on {pair.stepped.value} was stepped"


def _servers(
    bench: Workbench, from_value: float | None, to_value: float | None, step: float | None, plan: Plan
) -> tuple[Walked, list[float], str]:
    case, catalog = bench.case, bench.catalog
    each = int(catalog.servers[case.cluster.server].gpus.v)
    own = case.cluster.servers or -(-(case.cluster.gpus or 0) // each)
    low = max(1, own // 2) if from_value is None else _whole_servers(from_value, each)
    high = max(low, 2 * own) if to_value is None else _whole_servers(to_value, each)
    if high > MAX_SERVERS:
        raise FrontierError("--to", f"found {high:,} servers, expected at most {MAX_SERVERS:,}")
    if low > high:
        raise FrontierError("--from, --to", f"found {low:,} to {high:,} servers, expected a rising range")
    apart = max(1, -(-(high - low + 1) // MOST_COUNTS)) if step is None else _whole_servers(step, each)
    counts = sorted({*range(low, high + 1, apart), high})
    walked, none = frontier_of_servers(bench, counts, each, plan)
    which = "every server count" if apart == 1 else f"every {apart} servers (--step {each} for all)"
    return walked, [float(n * each) for n in none], f"{which} from {low:,} to {high:,}, {each} GPUs each"


def _whole_servers(gpus: float, each: int) -> int:
    return max(1, int(-(-gpus // each)))


def _how_stepped(axis: str, fabric: FabricName | None, start: float | None, none_at: float | None) -> str:
    setting = "limits.racks" if fabric is None else f"fabrics.{fabric.value}.{axis}{'_ns' if axis == LATENCY else ''}"
    begin = "without a limit" if start is None else f"from {start:g}"
    end = "to the end of the range" if none_at is None else f"until no design is left, at {none_at:,.9g}"
    return f"every value of {setting} at which the optimum changes, {begin} down {end}"


def _placed(point: dict[str, Any], x: str, y: str) -> dict[str, Any]:
    """The point with its exact place: ``x`` in cents or milliwatts, ``y`` likewise or in the unit of its axis."""
    return {"x": point[x], "y": point[y if y in TOTALS else "y"], "x_name": x, "y_name": y, "design": point["design"]}


def unbeaten(points: Sequence[dict[str, Any]], more_is_better: bool = False) -> list[dict[str, Any]]:
    """Points that no other is as good as on both axes, least ``x`` first; a ``y`` of none is worse than any other."""

    def badness(point: dict[str, Any]) -> float:
        y = point["y"]
        return float("inf") if y is None else -y if more_is_better else y

    best: list[dict[str, Any]] = []
    for point in sorted(points, key=lambda p: (p["x"], badness(p))):
        if not best or badness(point) < badness(best[-1]):
            best.append(point)
    return best


def on_hull(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which of these points, x rising and y falling, lie on the lower left hull: those that some weighting finds."""
    hull: list[int] = []
    for i, (x, y) in enumerate(points):
        while len(hull) > 1:
            (ax, ay), (bx, by) = points[hull[-2]], points[hull[-1]]
            if (bx - ax) * (y - ay) >= (by - ay) * (x - ax):
                break
            hull.pop()
        hull.append(i)
    return [i in set(hull) for i in range(len(points))]


def _described(catalog: Catalog, best: list[dict[str, Any]], more_is_better: bool) -> list[dict[str, Any]]:
    """Points as the model has them: in the units of the axes, with what changes from one to the next."""
    known = [i for i, p in enumerate(best) if p["y"] is not None]
    sign = -1 if more_is_better else 1
    supported = dict(zip(known, on_hull([(best[i]["x"], sign * best[i]["y"]) for i in known]), strict=True))
    found = []
    for i, point in enumerate(best):
        before = best[i - 1]["design"]["parts"] if i else point["design"]["parts"]
        found.append(
            {
                "x": _in_units(point["x"], point["x_name"]),
                "y": None if point["y"] is None else _in_units(point["y"], point["y_name"]),
                "supported": supported.get(i, False),
                "change": changes(catalog, before, point["design"]["parts"]),
                "design": point["design"],
            }
        )
    return found


def _in_units(value: float, axis: str) -> float:
    if axis == OVERSUBSCRIPTION:
        return shown_ratio(value)
    return value / (1000 if axis == "power" else 100) if axis in TOTALS else round(value, 6)
