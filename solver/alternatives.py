"""Every structurally different design within a share of the optimum, fabric by fabric, and what all of them need.

Which structures there are follows from every template within the slack; for each, the best whole design. Whether a
part can be avoided is asked by solving the case without it. Nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

from gpunet.catalogs import split_medium_id
from gpunet.models.case import Case, FabricName
from gpunet.models.parts import Catalog
from gpunet.models.study_alternatives import Alternative, Alternatives, FabricAlternatives, PartUse, Structure
from gpunet.solver import structures
from gpunet.solver.choices import denying
from gpunet.solver.compare import find_part
from gpunet.solver.engines import EngineError
from gpunet.solver.instance import Choice, Instance
from gpunet.solver.near_optimal import best_of_structures, is_coupled, shapes
from gpunet.solver.placements import UNIT
from gpunet.solver.search import all_within
from gpunet.solver.tasks import Finished, Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench, summarise

STRUCTURES, WITHOUT = "structures of ", " without "
COMBINE = (
    "A line is the best whole design with that structure in its fabric; structures of different fabrics combine, and a "
    "combination is within the slack when what its lines cost more, together, is (exactly so where nothing couples the "
    "fabrics)."
)
ASK = "gpunet explain says which limits are in the way."
MOST_SLACK = 1.0


class UnknownFabricError(ValueError):
    """A fabric was asked for that the case does not build."""


def alternatives(
    case: Case,
    catalog: Catalog,
    plan: Plan | None = None,
    *,
    within: float = 0.05,
    fabrics: Iterable[str] | None = None,
    engine: str = "highs",
) -> Alternatives:
    """Every structure within ``within`` of the optimum (0.05 is 5 %), the best design of each, and how far every part
    can be avoided. ``fabrics`` names those to look at; all of them when left out.

    Raises ValueError for a slack below 0 or above 1 and for a fabric that the case does not build, EngineError when a
    solver fails.
    """
    if not 0 <= within <= MOST_SLACK:
        raise ValueError(f"within must be a share from 0 to {MOST_SLACK:g}, not {within:g}")
    plan = plan or Plan()
    bench = Workbench(case, catalog, engine)
    plan.tell("solving the case")
    own = bench.at({})
    if not own.is_optimal:
        return Alternatives(
            **bench.head("alternatives", own.status),
            within=within,
            value=None,
            most=None,
            design=None,
            notes=(own.reason or ASK,),
        )
    most = int(own.value * (1 + Fraction(str(within))))
    data = _everything(bench, most)
    asked = list(data.templates) if fabrics is None else _named(fabrics, data)
    tasks = _tasks(own, data, most, asked)
    found = run_tasks(bench, f"alternatives within {within:g}", tasks, plan)
    return _study(bench, own, within, most, found, len(tasks))


_held: WeakKeyDictionary[Workbench, dict[int, Instance]] = WeakKeyDictionary()
"""What a process has enumerated already, for the steps that follow."""


def _everything(bench: Workbench, most: int) -> Instance:
    """An instance with every template that a design of at most ``most`` can have."""
    known = _held.setdefault(bench, {})
    if most not in known:
        assert not isinstance(bench.compiled, str)
        known[most] = all_within(bench.compiled, most, bench.finder, thinned=False)
    return known[most]


def _named(fabrics: Iterable[str], data: Instance) -> list[FabricName]:
    """Fabrics by name, in their own order."""
    names = set(fabrics)
    unknown = sorted(names - {f.value for f in data.templates})
    if unknown:
        there = ", ".join(f.value for f in data.templates)
        raise UnknownFabricError(f"found {unknown[0]!r}, which the case does not build; it builds {there}")
    return [f for f in data.templates if f.value in names]


def _tasks(own: Answer, data: Instance, most: int, fabrics: Sequence[FabricName]) -> list[Task]:
    assert own.data is not None
    assert own.choice is not None
    tasks = []
    for fabric in fabrics:
        if is_coupled(data):
            # Each structure is a solve, so that the work is worth dealing out.
            forms = shapes(data, fabric)
            tasks += [
                Task(f"{STRUCTURES}{fabric.value}, {i + 1} of {len(forms)}", _structures, (most, fabric.value, i))
                for i in range(len(forms))
            ]
        else:
            tasks.append(Task(f"{STRUCTURES}{fabric.value}", _structures, (most, fabric.value)))
    for fabric in fabrics:
        parts = parts_of(own.data, own.choice, fabric) if fabric in own.choice.templates else ()
        for part in parts:
            tasks.append(Task(f"{fabric.value}{WITHOUT}{part}", _without, (fabric.value, part)))
    return tasks


def _structures(bench: Workbench, most: int, fabric: str, form: int | None = None) -> dict[str, Any]:
    """The best design of every structure of a fabric, or of one shape of it."""
    name, data = FabricName(fabric), _everything(bench, most)
    shape = None if form is None else shapes(data, name)[form]
    found = []
    for best in best_of_structures(data, name, most, bench.engine, shape):
        net = best.choice.net(data)
        if tuple(net.of(o) for o in data.case.objectives) != best.worth:
            raise EngineError(f"a structure of {fabric} weighs {net}, not {best.worth}")
        summary = summarise(data, best.choice)
        found.append(
            {
                "structure": _structure(best.structure),
                "worth": best.worth,
                "cost_usd": summary.cost_usd,
                "power_max_w": summary.power_max_w,
                "tco_usd": summary.tco_usd,
                "switches": summary.fabrics[fabric].switches,
                "parts": parts_of(data, best.choice, name),
            }
        )
    return {"found": found}


def _structure(found: structures.Structure) -> dict[str, Any]:
    shape = found.shape
    return Structure(
        protocol=shape.protocol,
        topology=shape.topology,
        tiers=shape.tiers,
        leaves=shape.leaves,
        spine=shape.spine,
        core=shape.core,
        speeds_gbps=dict(shape.speeds_gbps),
        optics=dict(found.optics),
        carries_storage=shape.carries_storage,
    ).model_dump(mode="json")


def parts_of(data: Instance, choice: Choice, fabric: FabricName) -> dict[str, int]:
    """Pieces of every part of one fabric; for fibre and cable all lengths together."""
    found = dict(choice.templates[fabric].switches)
    for key, counts in choice.built.items():
        for way, n in zip(data.ways[key], counts, strict=True):
            for part, pieces in way.parts if n and key.fabric is fabric else ():
                base, _ = split_medium_id(part)
                found[base] = found.get(base, 0) + pieces * n
    return dict(sorted(found.items()))


def _without(bench: Workbench, fabric: str, part: str) -> dict[str, Any]:
    """The optimum of the case without a part in one fabric."""
    answer = bench.of(denying(bench.case, FabricName(fabric), [part]), keep=False)
    return {"value": answer.value if answer.is_optimal else None}


# --- putting it together ----------------------------------------------------------------------------------------------


def _study(
    bench: Workbench, own: Answer, within: float, most: int, found: Mapping[str, Finished], tasks: int
) -> Alternatives:
    assert own.data is not None
    assert own.choice is not None
    unit = UNIT[bench.case.objectives[0]]
    by_fabric = {f: [r for name, x in found.items() if _is_of(name, f) for r in x.data["found"]] for f in FabricName}
    listed = sum(len(rows) for rows in by_fabric.values())
    asked = sum(x.solves for x in found.values())
    fabrics = {}
    for fabric, rows in by_fabric.items():
        if rows:
            fabrics[fabric.value] = _fabric(bench, own, fabric, rows, most, found)
    return Alternatives(
        **bench.head("alternatives", own.status) | {"solves": 1 + listed + asked},
        complete=len(found) == tasks,
        within=within,
        value=own.value / unit,
        most=most / unit,
        design=own.summary(),
        fabrics=fabrics,
        notes=(COMBINE,) if len(fabrics) > 1 else (),
    )


def _is_of(task: str, fabric: FabricName) -> bool:
    name = STRUCTURES + fabric.value
    return task == name or task.startswith(f"{name}, ")


def _fabric(
    bench: Workbench,
    own: Answer,
    fabric: FabricName,
    rows: list[dict[str, Any]],
    most: int,
    found: Mapping[str, Finished],
) -> FabricAlternatives:
    assert own.data is not None
    assert own.choice is not None
    unit = UNIT[bench.case.objectives[0]]
    own_worth = [own.weight.of(o) for o in bench.case.objectives] if own.weight is not None else []
    built = fabric in own.choice.templates
    own_parts = parts_of(own.data, own.choice, fabric) if built else {}
    mine = _mine(own, fabric, rows)
    rows = sorted(rows, key=lambda r: (tuple(r["worth"]), r is not mine, str(r["structure"])))
    listed = tuple(
        Alternative(
            structure=r["structure"],
            value=r["worth"][0] / unit,
            more=(r["worth"][0] - own.value) / unit,
            cost_usd=r["cost_usd"],
            power_max_w=r["power_max_w"],
            tco_usd=r["tco_usd"],
            switches=r["switches"],
            parts=r["parts"],
            in_optimum=r is mine,
        )
        for r in rows
    )
    uses = []
    for part in sorted({part for x in listed for part in x.parts} | set(own_parts)):
        kind, _ = find_part(bench.catalog, part)
        counts = [x.parts.get(part, 0) for x in listed]
        step = found.get(f"{fabric.value}{WITHOUT}{part}")
        without = None if step is None else step.data["value"]
        uses.append(
            PartUse(
                part=part,
                kind=kind,
                structures=sum(1 for n in counts if n),
                fewest=min(counts),
                most=max(counts),
                in_optimum=own_parts.get(part, 0),
                needed=step is not None and (without is None or without > most),
                without_more=None if without is None else (without - own.value) / unit,
            )
        )
    return FabricAlternatives(
        alternatives=listed,
        shared=_shared([x.structure for x in listed]),
        parts=tuple(sorted(uses, key=lambda u: (not u.needed, -u.structures, u.kind, u.part))),
        ties=sum(1 for r, x in zip(rows, listed, strict=True) if list(r["worth"]) == own_worth and not x.in_optimum),
    )


def _mine(own: Answer, fabric: FabricName, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The row that stands for the optimum: its shape and worth, and none but its families."""
    assert own.data is not None
    assert own.choice is not None
    assert own.weight is not None
    if fabric not in own.choice.templates:
        return None
    worth = [own.weight.of(o) for o in own.case.objectives]
    form = structures.shape_of(own.choice.templates[fabric])
    optics = structures.used_optics(own.data, own.choice, fabric)
    found = _structure(structures.Structure(form, optics))
    for row in rows:
        part = tuple((name, tuple(families)) for name, families in row["structure"]["optics"].items())
        alike = row["structure"] | {"optics": found["optics"]} == found
        if alike and list(row["worth"]) == worth and structures.is_part_of(part, optics):
            return row
    return None


def _shared(found: Sequence[Structure]) -> tuple[str, ...]:
    """What every structure has in common, in words."""
    said: list[list[str]] = []
    for x in found:
        words = [f"protocol {x.protocol}", f"topology {x.topology}", f"{x.tiers} tier{'s' if x.tiers > 1 else ''}"]
        words += [f"leaf {leaf}" for leaf in x.leaves]
        words += [f"spine {x.spine}"] if x.spine else []
        words += [f"core {x.core}"] if x.core else []
        words += [f"{name} links at {'/'.join(f'{g:g}G' for g in gbps)}" for name, gbps in x.speeds_gbps.items()]
        words += [f"{family} in {name}" for name, families in x.optics.items() for family in families]
        words += ["storage on the same switches"] if x.carries_storage else []
        said.append(words)
    return tuple(word for word in said[0] if all(word in words for words in said)) if said else ()
