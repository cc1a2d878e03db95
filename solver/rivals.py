"""The best design without each switch model of the optimum, fabric by fabric: what stands next to the answer.

Every design in which some fabric is built of other switch models is among those asked for, or no better than one of
them. So the least of what they cost more is exactly how far the answer is ahead of other switches.
"""

from __future__ import annotations

from typing import Any

from gpunet.models.case import Case, FabricName
from gpunet.models.parts import Catalog
from gpunet.models.study_rivals import Rival, Rivals
from gpunet.solver.choices import denying
from gpunet.solver.placements import UNIT
from gpunet.solver.price_ranges import changes
from gpunet.solver.tasks import Plan, Task, run_tasks
from gpunet.solver.workbench import Answer, Workbench

STUDY = "rivals"


def rivals(case: Case, catalog: Catalog, plan: Plan | None = None, *, engine: str = "highs") -> Rivals:
    """The runner-up of every switch model. Raises EngineError when a solver fails."""
    plan = plan or Plan()
    bench = Workbench(case, catalog, engine)
    plan.tell("solving the case")
    own = bench.at({})
    if not own.is_optimal:
        return Rivals(**bench.head(STUDY, own.status), value=None)
    tasks = [
        Task(f"{fabric.value} without {part}", rival_of, (fabric.value, part))
        for fabric in own.templates
        for part in _models(own, fabric)
    ]
    done = run_tasks(bench, STUDY, tasks, plan)
    found = tuple(Rival.model_validate(finished.data) for finished in done.values())
    head = bench.head(STUDY, own.status) | {"solves": 1 + len(done), "complete": len(done) == len(tasks)}
    return Rivals(**head, value=own.value / UNIT[case.objectives[0]], rivals=found)


def rival_of(bench: Workbench, fabric: str, part: str) -> dict[str, Any]:
    """The best design in which a fabric does without a switch model, as data for JSON."""
    own = bench.at({})
    found = bench.of(denying(bench.case, FabricName(fabric), [part]))
    if not found.is_optimal:
        return Rival(fabric=fabric, part=part, status=found.status, more=None).model_dump(mode="json")
    return Rival(
        fabric=fabric,
        part=part,
        status=found.status,
        more=(found.value - own.value) / UNIT[bench.case.objectives[0]],
        change=changes(bench.catalog, own.parts or {}, found.parts or {}),
        design=found.summary(),
    ).model_dump(mode="json")


def _models(own: Answer, fabric: FabricName) -> list[str]:
    """The switch models of a fabric of the design, from the leaves up."""
    summary = own.summary()
    assert summary is not None
    named = summary.fabrics[fabric.value].switches
    return list(dict.fromkeys(name.partition(" ")[2] for name in named))
