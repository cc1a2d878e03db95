"""gpunet designs the network of a GPU cluster and proves the design.

The functions below are the public interface for programs; the command line is built on the same parts. Nothing heavy
is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpunet.models.shown import show_with
from gpunet.python_export import read_export, write_export

if TYPE_CHECKING:
    from gpunet.models.case import Case, Objective
    from gpunet.models.design import Design, Verification
    from gpunet.models.parts import Catalog
    from gpunet.models.quote import QuoteCheck, QuoteFile, QuoteImport
    from gpunet.models.shown import Views
    from gpunet.models.study import Study
    from gpunet.models.study_alternatives import Alternatives
    from gpunet.models.study_ceiling import Ceiling
    from gpunet.models.study_compare import Comparison, Economics
    from gpunet.models.study_explain import Explanation
    from gpunet.models.study_frontier import Frontier
    from gpunet.models.study_phases import Phases
    from gpunet.models.study_sensitivity import Sensitivity

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "alternatives",
    "ceiling",
    "check_quote",
    "compare",
    "explain",
    "frontier",
    "html_report",
    "import_quote",
    "load_case",
    "load_quote",
    "optimize",
    "phases",
    "read_export",
    "sensitivity",
    "verify",
    "workbook",
    "write_export",
]


def _views() -> Views:
    from gpunet.report import notebook

    return notebook


show_with(_views)


def load_case(path: str | Path, *, catalog_dirs: Sequence[str | Path] = ()) -> Case:
    """The case in a file, checked against the catalogue and the folders laid over it.

    Raises ``gpunet.models.problems.InputError`` with every mistake, each with file, line and column.
    """
    from gpunet.case_file import read_case
    from gpunet.catalogs import load_catalog

    return read_case(path, load_catalog(catalog_dirs))


def optimize(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    time_limit_s: float | None = None,
    catalog_dirs: Sequence[str | Path] = (),
) -> Design:
    """The best network for a case, proven and verified.

    ``case`` is a path, the data of a case file as nested mappings, or a ``Case``. ``objective`` overrides that of the
    case: ``cost`` (USD), ``power`` (W), ``tco`` (USD), or several by rank, as a list or with commas. ``engine`` is
    ``highs``, ``scip`` or ``cp-sat``. With ``time_limit_s``, seconds, the result may be ``feasible`` with the gap that
    is left. ``Design.result.status`` says how it ended; an infeasible case is a result with reasons, not an error.

    Raises ``gpunet.models.problems.InputError`` for a case or catalogue that cannot be used and ``ValueError`` for an
    objective, an engine or a time limit that does not exist.
    """
    from gpunet.solver.engines import Engine
    from gpunet.solver.optimize import optimize as solve

    found, catalog = _ready(case, objective, catalog_dirs)
    if time_limit_s is not None and not 0 < time_limit_s < float("inf"):
        raise ValueError(f"time_limit_s must be a positive number of seconds, not {time_limit_s!r}")
    return solve(found, catalog, engine=Engine(engine), time_limit_s=time_limit_s)


def sensitivity(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    bands: bool = False,
    scenarios_usd: Mapping[str, Mapping[str, float]] | None = None,
    jobs: int = 1,
    catalog_dirs: Sequence[str | Path] = (),
) -> Sensitivity:
    """How firm the best network is: price ranges, requirement steps, what limits cost, and uncertain prices.

    ``case``, ``objective`` and ``engine`` as for ``optimize``. ``bands`` adds the tornado and the design of least worst
    regret over the catalogue's price bands; ``scenarios_usd`` (scenario -> part -> unit price, USD) the regret over
    those. ``jobs`` processes give the same answer for every number; more than one needs a main module that can be
    imported. Raises what ``optimize`` raises.
    """
    from gpunet.solver.engines import Engine
    from gpunet.solver.sensitivity import sensitivity as study
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, objective, catalog_dirs)
    return study(found, catalog, Plan(jobs), engine=Engine(engine), bands=bands, scenarios_usd=scenarios_usd)


def alternatives(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    within: float = 0.05,
    fabrics: Sequence[str] | None = None,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    jobs: int = 1,
    catalog_dirs: Sequence[str | Path] = (),
) -> Alternatives:
    """Every structurally different design within a share of the optimum (0.05 is 5 %), the best of each.

    ``fabrics`` names those to look at; all when left out. ``jobs`` processes give the same answer for every number.
    Raises what ``optimize`` raises, and ``ValueError`` for a slack below 0 or above 1 or a fabric that the case does
    not build.
    """
    from gpunet.solver.alternatives import alternatives as study
    from gpunet.solver.engines import Engine
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, objective, catalog_dirs)
    return study(found, catalog, Plan(jobs), within=within, fabrics=fabrics, engine=Engine(engine).value)


def compare(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    by: str | Path | Mapping[str, Any] | Case = "protocol",
    fabrics: Sequence[str] | None = None,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    jobs: int = 1,
    economics: Economics | None = None,
    catalog_dirs: Sequence[str | Path] = (),
) -> Comparison:
    """Choices side by side, each at its own optimum.

    ``by`` is ``protocol``, ``vendor``, ``form-factor``, ``optics``, ``objective``, ``placement``, or another case in
    any form that ``case`` can have. ``fabrics`` names those to narrow; the backend, or all for vendors, when left out.
    ``economics`` is what the break-even of protocols is reckoned with. ``jobs`` processes give the same answer for
    every number. Raises what ``optimize`` raises, and ``ValueError`` where there is nothing to compare.
    """
    from gpunet.solver.compare import compare as study
    from gpunet.solver.engines import Engine
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, objective, catalog_dirs)
    words = ("protocol", "vendor", "form-factor", "optics", "objective", "placement")
    what = by if isinstance(by, str) and by in words else _ready(by, None, catalog_dirs)[0]
    return study(found, catalog, Plan(jobs), by=what, fabrics=fabrics, economics=economics, engine=Engine(engine).value)


def explain(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    jobs: int = 1,
    catalog_dirs: Sequence[str | Path] = (),
) -> Explanation:
    """Why a case has no design: settings that cannot hold together, and the smallest change of each that is enough.

    Of a case with a design: which limits bind, what each costs in the unit of the objective, and which parts are kept
    out by what. ``jobs`` processes give the same answer for every number. Raises what ``optimize`` raises.
    """
    from gpunet.solver.engines import Engine
    from gpunet.solver.explain import explain as study
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, objective, catalog_dirs)
    return study(found, catalog, Plan(jobs), engine=Engine(engine).value)


def frontier(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    x: str = "cost",
    y: str = "power",
    fabric: str = "backend",
    from_value: float | None = None,
    to_value: float | None = None,
    step: float | None = None,
    engine: str = "highs",
    jobs: int = 1,
    catalog_dirs: Sequence[str | Path] = (),
) -> Frontier:
    """Every design that none beats on two goals, each proven; ``case``, ``engine`` and ``jobs`` as for ``sensitivity``.

    ``x`` is ``cost`` (USD), ``power`` (W) or ``tco`` (USD); ``y`` another of these, or ``gpus``, ``oversubscription``
    or ``latency`` (ns) of ``fabric``, or ``racks``, then from ``from_value`` to ``to_value``. ``step`` is the distance
    of GPU counts, or thins the points out, in the unit of ``y`` (of ``x`` where ``y`` is ``tco``). Raises what
    ``optimize`` raises, and ``ValueError`` for what cannot be weighed.
    """
    from gpunet.solver.engines import Engine
    from gpunet.solver.frontier import frontier as study
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, None, catalog_dirs)
    return study(
        found,
        catalog,
        Plan(jobs),
        x=x,
        y=y,
        fabric=fabric,
        from_value=from_value,
        to_value=to_value,
        step=step,
        engine=Engine(engine).value,
    )


def ceiling(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    cost_usd: float | None = None,
    power_kw: float | None = None,
    objective: str | Sequence[str] | None = None,
    engine: str = "highs",
    jobs: int = 1,
    catalog_dirs: Sequence[str | Path] = (),
) -> Ceiling:
    """The most GPUs whose network costs at most ``cost_usd`` and draws at most ``power_kw``, proven.

    And, for the GPUs of the case, the least oversubscription and the most growth within the same. The limits of the
    case stay in force. Raises what ``optimize`` raises, and ``ValueError`` where there is nothing to stay under.
    """
    from gpunet.solver.ceiling import ceiling as study
    from gpunet.solver.engines import Engine
    from gpunet.solver.tasks import Plan

    found, catalog = _ready(case, objective, catalog_dirs)
    return study(found, catalog, Plan(jobs), cost_usd=cost_usd, power_kw=power_kw, engine=Engine(engine).value)


def phases(
    case: str | Path | Mapping[str, Any] | Case,
    *,
    engine: str = "highs",
    time_limit_s: float | None = None,
    catalog_dirs: Sequence[str | Path] = (),
) -> Phases:
    """What to buy now and what later, for a case that grows in ``phases``: the cheapest plan, proven.

    Beside it the end state bought at once, and every phase by itself. Raises what ``optimize`` raises; a case without
    phases is an ``InputError``.
    """
    from gpunet.case_phases import refuse_unplanned
    from gpunet.catalogs.located_yaml import Located
    from gpunet.solver.engines import Engine
    from gpunet.solver.phases import phases as study

    found, catalog = _ready(case, None, catalog_dirs)
    refuse_unplanned(found, Located(found.name, found.model_dump(mode="json", exclude_none=True)))
    return study(found, catalog, engine=Engine(engine).value, time_limit_s=time_limit_s)


def import_quote(
    path: str | Path,
    *,
    supplier: str | None = None,
    valid_until: str | None = None,
    columns: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
    catalog_dirs: Sequence[str | Path] = (),
) -> QuoteImport:
    """A supplier's table, CSV or .xlsx, as a quote, with what each row was found to be.

    ``columns`` names headings that are not guessed, by meaning: ``{"part": "Art. Nr."}``. ``aliases`` says which part
    of the catalogue a supplier's number is. ``valid_until`` is the last day on which the prices hold, ISO 8601. A
    number that is not exactly one of the catalogue's prices nothing: see ``.quote.unmatched``.

    Raises ``gpunet.models.problems.InputError`` with every cell that cannot be read, each with row and column.
    """
    from datetime import date

    from gpunet.catalogs import load_catalog
    from gpunet.quote_import import ImportOptions
    from gpunet.quote_import import import_quote as read

    options = ImportOptions(supplier=supplier, valid_until=valid_until, columns=columns or {}, aliases=aliases or {})
    return read(path, load_catalog(catalog_dirs), options, date.today().isoformat())


def load_quote(path: str | Path, *, catalog_dirs: Sequence[str | Path] = ()) -> QuoteFile:
    """The quote in a quote file, checked against the catalogue.

    Raises ``gpunet.models.problems.InputError`` with every mistake, each with file, line and column.
    """
    from gpunet.catalogs import load_catalog
    from gpunet.quote_file import read_quote

    return read_quote(path, load_catalog(catalog_dirs))


def check_quote(
    quote: str | Path | QuoteFile,
    *,
    case: str | Path | Mapping[str, Any] | Case | None = None,
    have: Mapping[str, int] | None = None,
    engine: str = "highs",
    catalog_dirs: Sequence[str | Path] = (),
) -> QuoteCheck:
    """Whether a quoted list can be cabled: the most links it builds, what stays over and why, and what is missing.

    ``have`` are pieces that are there beside the list: ``{"dgx-h100:backend": 32}``. With ``case``, also whether the
    list builds a design of it, and the cheapest parts to add.

    Raises ``gpunet.models.problems.InputError`` for a file that cannot be used and ``ValueError`` for a part of
    ``have`` that does not exist.
    """
    from gpunet.catalogs import load_catalog
    from gpunet.models.quote import QuoteFile
    from gpunet.quote_file import read_quote
    from gpunet.solver.quote_case import check_with_case
    from gpunet.solver.quote_check import check_quote as check

    catalog = load_catalog(catalog_dirs)
    found = quote if isinstance(quote, QuoteFile) else read_quote(quote, catalog)
    if case is None:
        return check(found, catalog, have)
    asked, _ = _ready(case, None, catalog_dirs)
    return check_with_case(found, asked, catalog, have, engine)


def verify(design: Design, *, catalog_dirs: Sequence[str | Path] = ()) -> Verification:
    """Every rule checked again from the wiring of a design, by code that shares nothing with the solver."""
    from gpunet.catalogs import load_catalog
    from gpunet.solver.verify import verify as check

    return check(design, load_catalog(catalog_dirs))


def html_report(design: Design, studies: Sequence[Study] = (), *, catalog_dirs: Sequence[str | Path] = ()) -> str:
    """A design as one HTML page for people, with what the studies found: what ``gpunet report`` writes.

    ``studies`` are answers of the functions here about the same case. Nothing is solved; a chapter without its study
    says how to get it. Raises ``ValueError`` for a result without a design and for a study of something else.
    """
    from gpunet.catalogs import load_catalog
    from gpunet.report.html import html_report as page
    from gpunet.report.html_run import misfit

    for study in studies:
        if why := misfit(design, study):
            raise ValueError(why)
    return page(design, load_catalog(catalog_dirs), studies)


def workbook(design: Design, *, study: Sensitivity | None = None, catalog_dirs: Sequence[str | Path] = ()) -> bytes:
    """The design as an XLSX file whose totals follow the prices typed into it; equal designs give equal bytes.

    ``study`` is what ``sensitivity`` says about the same case: then a typed price is held against its range. Raises
    ``ValueError`` for a result without a design, or a study of another case, objective or catalogue.
    """
    from gpunet.catalogs import load_catalog
    from gpunet.report.workbook import workbook as made

    return made(design, load_catalog(catalog_dirs), study)


def _ready(
    case: str | Path | Mapping[str, Any] | Case,
    objective: str | Sequence[str] | None,
    catalog_dirs: Sequence[str | Path],
) -> tuple[Case, Catalog]:
    """A case however it is given, checked against the catalogue, which comes with it."""
    from gpunet.case_file import case_from_data, read_case
    from gpunet.catalogs import load_catalog
    from gpunet.models.case import Case

    catalog = load_catalog(catalog_dirs)
    if isinstance(case, Case):
        # Made in Python, it may name parts that the catalogue does not have.
        found = case_from_data(case.model_dump(mode="json", exclude_none=True), catalog)
    elif isinstance(case, Mapping):
        found = case_from_data(case, catalog)
    else:
        found = read_case(case, catalog)
    return (found if objective is None else with_objectives(found, objective)), catalog


def with_objectives(case: Case, objective: str | Sequence[str]) -> Case:
    """The case with other objectives, by rank: a list, or text with commas. Raises ``ValueError``."""
    from gpunet.models.case import Objective

    names = [name.strip() for name in objective.split(",")] if isinstance(objective, str) else list(objective)
    known = [known.value for known in Objective]
    for name in names:
        if name not in known:
            raise ValueError(f"found {name!r} as an objective, expected {', '.join(known)} or several with commas")
    if not names or len(set(names)) != len(names):
        raise ValueError("name at least one objective, each at most once")
    chosen: tuple[Objective, ...] = tuple(map(Objective, names))
    return case.model_copy(update={"objective": chosen if len(chosen) > 1 else chosen[0]})
