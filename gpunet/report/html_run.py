"""The studies of a report: which are asked for, which of them fit the design, and making the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from gpunet.models.design import Design
from gpunet.models.evidence import usd_to_cents
from gpunet.models.parts import Catalog
from gpunet.models.study import Study
from gpunet.models.study_ceiling import Ceiling
from gpunet.models.study_compare import Comparison
from gpunet.models.study_frontier import Frontier
from gpunet.models.study_rivals import Rivals
from gpunet.models.study_sensitivity import Sensitivity
from gpunet.solver.tasks import Plan

STEPS_OF_POWER = 100
"""Points of the frontier lie at least this share of the design's draw apart."""


class Wanted(StrEnum):
    """How much is solved for a report."""

    NONE = "none"
    """Nothing: only what is given."""
    QUICK = "quick"
    """The runner-up and the protocols: seconds."""
    ALL = "all"
    """Also price ranges, the tornado, the frontier, the ceiling and its curve: a minute or more."""


class NotTheOptimumError(ValueError):
    """The design is not the optimum that its case has with these parts, so studies of the case are not about it."""


def misfit(design: Design, study: Study) -> str:
    """Why a study is not about a design, in words; empty where it may be."""
    result = design.result
    if study.case != result.case:
        return f"found a study of case {study.case!r}, expected one of {result.case!r}"
    if study.catalog_version != result.catalog_version:
        return (
            f"found a study made with catalogue {study.catalog_version}, expected {result.catalog_version}, that of "
            "the design; make it again"
        )
    if not isinstance(study, Rivals | Sensitivity) or result.objective is None:
        return ""
    found, wanted = study.value, result.objective.value
    if study.objective != result.objective.name or found is None or usd_to_cents(found) != usd_to_cents(wanted):
        return (
            f"found a study of the optimum {found:,.2f} ({study.objective}), expected {wanted:,.2f} "
            f"({result.objective.name}), that of the design"
            if found is not None
            else "found a study without a design"
        )
    return ""


def make_studies(
    design: Design,
    catalog: Catalog,
    wanted: Wanted,
    given: Sequence[Study],
    plan: Plan,
    *,
    engine: str = "highs",
) -> list[Study]:
    """The studies given and those wanted beside them, each solved exactly.

    A study that the case leaves nothing to ask for is left out. Once the plan is stopped no further one is begun.
    Raises NotTheOptimumError where the case has another optimum today than the design, EngineError when a solver fails.
    """
    if wanted is not Wanted.NONE and design.result.catalog_version != catalog.version:
        raise NotTheOptimumError("the design was made with another catalogue; gpunet optimize makes it anew")
    found = list(given)
    for name, is_there, make in _steps(design, catalog, wanted, plan, engine):
        if plan.stop.is_set():
            break
        if any(map(is_there, found)):
            continue
        plan.tell(name)
        study = make()
        if study is None:
            continue
        if isinstance(study, Rivals) and (why := misfit(design, study)):
            raise NotTheOptimumError(f"the design is not the proven optimum of its case: {why}")
        found.append(study)
    return found


Step = tuple[str, Callable[[Study], bool], Callable[[], Study | None]]


def _steps(design: Design, catalog: Catalog, wanted: Wanted, plan: Plan, engine: str) -> list[Step]:
    """What there is to solve in its order: name, whether a study is the answer, and how to find it."""
    case, totals = design.case, design.result.totals
    assert totals is not None
    asked = (case, catalog, plan)

    def rivals() -> Study:
        from gpunet.solver.rivals import rivals as study

        return study(*asked, engine=engine)

    def compare() -> Study | None:
        from gpunet.solver.choices import ChoiceError
        from gpunet.solver.compare import compare as study

        try:
            return study(*asked, by="protocol", engine=engine)
        except ChoiceError:
            return None

    def sensitivity() -> Study:
        from gpunet.solver.sensitivity import sensitivity as study

        return study(*asked, engine=engine, bands=True)

    def frontier(y: str, step: float | None) -> Study | None:
        from gpunet.solver.frontier import FrontierError
        from gpunet.solver.frontier import frontier as study

        try:
            return study(*asked, x="cost", y=y, step=step, engine=engine)
        except FrontierError:
            return None

    def ceiling() -> Study | None:
        from gpunet.solver.ceiling import CeilingError
        from gpunet.solver.ceiling import ceiling as study

        try:
            return study(*asked, cost_usd=case.limits.cost_usd or totals.cost_usd, engine=engine)
        except CeilingError:
            return None

    quick: list[Step] = [
        ("the runner-up", lambda s: isinstance(s, Rivals), rivals),
        ("protocols", lambda s: isinstance(s, Comparison) and s.by == "protocol", compare),
    ]
    slow: list[Step] = [
        ("prices", lambda s: isinstance(s, Sensitivity), sensitivity),
        (
            "cost against power",
            lambda s: isinstance(s, Frontier) and s.y.name != "gpus",
            lambda: frontier("power", totals.power_max_w / STEPS_OF_POWER),
        ),
        ("the most GPUs", lambda s: isinstance(s, Ceiling), ceiling),
        (
            "GPUs against cost",
            lambda s: isinstance(s, Frontier) and s.y.name == "gpus",
            lambda: frontier("gpus", None),
        ),
    ]
    return {Wanted.NONE: [], Wanted.QUICK: quick, Wanted.ALL: quick + slow}[wanted]
