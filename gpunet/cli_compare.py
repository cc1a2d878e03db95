"""``gpunet compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpunet import completion
from gpunet.cli_study import (
    AsJson,
    CasePath,
    CatalogDirs,
    ChosenEngine,
    EngineName,
    Jobs,
    ObjectiveNames,
    Resume,
    answer,
)
from gpunet.completion import FABRICS, WORDS

if TYPE_CHECKING:
    from gpunet.models.case import Case
    from gpunet.models.parts import Catalog
    from gpunet.models.study_compare import Comparison, Economics
    from gpunet.solver.tasks import Plan

EPILOG = """\b
    Examples:
      gpunet compare case.yaml
      gpunet compare case.yaml --by form-factor
      gpunet compare case.yaml --by other.yaml --json
      gpunet compare case.yaml --efficiency ethernet=0.85-0.95 --gpu-hour 3
      gpunet compare case.yaml --costs infiniband=680000,ethernet=410000
    """
PROTOCOLS = ("infiniband", "ethernet")


def compare(
    case: CasePath,
    by: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="protocol, vendor, form-factor, optics, objective, placement, or another case file.",
            autocompletion=completion.comparisons,
        ),
    ] = "protocol",
    fabric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Fabric to narrow, may be repeated; the backend, or all fabrics for vendors.",
            autocompletion=completion.fabrics,
        ),
    ] = None,
    gpu_hour: Annotated[
        float | None, typer.Option(metavar="USD", help="Value of one GPU-hour, for the break-even; 2.50.")
    ] = None,
    communication: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of a step that waits for collectives on the dearer fabric; 0.20."),
    ] = None,
    years: Annotated[
        float | None, typer.Option(metavar="Y", help="Horizon of the break-even; tco.years of the case.")
    ] = None,
    efficiency: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P=E", help="All-reduce efficiency of a protocol, ethernet=0.93 or a band ethernet=0.90-0.95."
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(metavar="P=USD,..", help="Costs to reckon the break-even with, such as those of two quotes."),
    ] = None,
    objective: ObjectiveNames = None,
    engine: ChosenEngine = EngineName.HIGHS,
    jobs: Jobs = 1,
    resume: Resume = None,
    as_json: AsJson = False,
    catalog_dirs: CatalogDirs = None,
) -> None:
    """Set choices side by side, each at its own optimum.

    Totals, switches, hops, latency and the bill, line by line. For protocols also the all-reduce bandwidth delivered,
    and what a GPU-hour must be worth for the dearer one to pay for itself.
    """
    from gpunet.report.compare_text import compare_report

    reckoned = _economics(by, gpu_hour, communication, years, efficiency, costs)
    fabrics = _fabrics(by, fabric)
    if by not in WORDS and not Path(by).is_file():
        raise typer.BadParameter(
            f"found {by!r}, which is no file; expected {', '.join(WORDS)} or a case file", param_hint="--by"
        )

    def work(found: Case, catalog: Catalog, plan: Plan) -> Comparison:
        from gpunet.case_file import read_case
        from gpunet.solver.choices import ChoiceError
        from gpunet.solver.compare import compare as study

        what = by if by in WORDS else read_case(by, catalog)
        try:
            return study(found, catalog, plan, by=what, fabrics=fabrics, economics=reckoned, engine=engine.value)
        except ChoiceError as error:
            raise typer.BadParameter(str(error), param_hint="--fabric" if fabrics else "--by") from None

    answer(case, catalog_dirs, objective, as_json, work, compare_report, jobs, resume, one_room=by != "placement")


def _fabrics(by: str, names: list[str] | None) -> list[str] | None:
    if not names:
        return None
    unknown = [name for name in names if name not in FABRICS]
    if unknown:
        raise typer.BadParameter(f"found {unknown[0]!r}, expected {', '.join(FABRICS)}", param_hint="--fabric")
    if by not in WORDS or by in ("objective", "placement"):
        raise typer.BadParameter(f"nothing is narrowed by {by}, so no fabric can be named", param_hint="--fabric")
    return list(dict.fromkeys(names))


def _economics(
    by: str,
    gpu_hour: float | None,
    communication: float | None,
    years: float | None,
    efficiency: list[str] | None,
    costs: str | None,
) -> Economics | None:
    given: dict[str, Any] = {"gpu_hour_usd": gpu_hour, "communication_share": communication, "horizon_years": years}
    options = {"gpu_hour_usd": "--gpu-hour", "communication_share": "--communication", "horizon_years": "--years"}
    given = {name: value for name, value in given.items() if value is not None}
    bands = [_named(text, "--efficiency") for text in efficiency or ()]
    amounts = [_named(text, "--costs") for text in costs.split(",")] if costs else []
    asked = [
        *(options[name] for name in given),
        *(["--efficiency"] if bands else []),
        *(["--costs"] if amounts else []),
    ]
    if asked and by != "protocol":
        raise typer.BadParameter(f"this is about protocols, and --by is {by}", param_hint=asked[0])
    if not asked:
        return None
    from pydantic import ValidationError

    from gpunet.models.study_compare import Economics

    given["efficiencies"] = {name: _band(text) for name, text in bands}
    given["costs_usd"] = {name: _number(text, "--costs") for name, text in amounts}
    if amounts and len(given["costs_usd"]) < len(PROTOCOLS):
        raise typer.BadParameter(f"expected a cost for each of {', '.join(PROTOCOLS)}", param_hint="--costs")
    try:
        return Economics.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = str(first["loc"][0]) if first["loc"] else "efficiencies"
        hint = options.get(where, "--costs" if where == "costs_usd" else "--efficiency")
        message = first["msg"].removeprefix("Value error, ")
        raise typer.BadParameter(f"{message[0].lower()}{message[1:]}", param_hint=hint) from None


def _named(text: str, option: str) -> tuple[str, str]:
    name, equals, value = (piece.strip() for piece in text.partition("="))
    if name not in PROTOCOLS or not equals:
        expected = " or ".join(f"{protocol}=..." for protocol in PROTOCOLS)
        raise typer.BadParameter(f"found {text!r}, expected {expected}", param_hint=option)
    return name, value


def _band(text: str) -> tuple[float, float]:
    low, _, high = text.partition("-")
    return _number(low, "--efficiency"), _number(high or low, "--efficiency")


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"found {text!r}, expected a number", param_hint=option) from None
