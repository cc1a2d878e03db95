"""What makes no sense between ``phases`` and the rest of a case, and what cannot be planned in phases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from gpunet.catalogs.located_yaml import Located
from gpunet.catalogs.schema_words import Path
from gpunet.models.case import Case, Objective, StorageMode
from gpunet.models.parts import Catalog
from gpunet.models.phase import Phase
from gpunet.models.problems import InputError, Problem

LIMITS = ("power_kw", "racks", "vendors", "skus")
"""Limits that couple the fabrics of a phase."""
BUYING = ("owned", "terms", "spares", "supply", "buying")
"""Settings by which a piece costs more or less than its price."""


def phases_problems(case: Case, located: Located, catalog: Catalog) -> Iterator[Problem]:
    """Mistakes of a case about its phases."""
    if case.phases is not None:
        yield from _order(case, case.phases, located, catalog)


def refuse_unplanned(case: Case, located: Located) -> None:
    """Refuse settings that a plan in phases does not honour, each by name, so that none is passed over.

    Raises ``InputError``, also for a case without phases.
    """
    if case.phases is None:
        expected = "two phases or more, such as [{when: 2027Q1, gpus: 256}, {when: 2028Q1, gpus: 1024}]"
        raise InputError([located.problem(("phases",), found="no phases", expected=expected)])
    problems = list(_not_planned(case, located))
    if problems:
        raise InputError(problems)


def servers_of(phase: Phase, gpus_each: int) -> int:
    """Servers of a phase, GPUs rounded up to whole ones."""
    return phase.servers or -(-(phase.gpus or 0) // gpus_each)


def _order(case: Case, phases: tuple[Phase, ...], located: Located, catalog: Catalog) -> Iterator[Problem]:
    for i, (before, after) in enumerate(pairwise(phases), start=1):
        if after.quarter <= before.quarter:
            path: Path = ("phases", i, "when")
            yield located.problem(path, found=after.when, expected=f"a quarter after {before.when}, phase after phase")
    server = catalog.servers.get(case.cluster.server)
    if server is None:
        return
    each = int(server.gpus.v)
    sizes = [servers_of(phase, each) for phase in phases]
    for i, (small, large) in enumerate(pairwise(sizes), start=1):
        if large <= small:
            yield located.problem(
                ("phases", i),
                found=f"{large:,} servers after {small:,}",
                expected="more in every phase; give all by then, not those that are added",
            )
    end = case.cluster.servers or -(-(case.cluster.gpus or 0) // each)
    if sizes[-1] != end:
        yield located.problem(
            ("phases", len(phases) - 1),
            found=f"{sizes[-1]:,} servers in the last phase, {end:,} in cluster",
            expected="the same number, for cluster is the end state",
        )


def _not_planned(case: Case, located: Located) -> Iterator[Problem]:
    """Settings that couple the fabrics of a plan, or by which a piece costs other than its price."""
    storage = case.fabrics.storage
    refused: list[tuple[Path, bool, str]] = [
        (("objective",), case.objectives != (Objective.COST,), "cost, for what is planned is what to buy when"),
        (("cluster", "growth"), case.cluster.growth > 0, "no growth beside phases, which say when servers are added"),
        (
            ("fabrics", "storage", "mode"),
            storage is not None and storage.mode is StorageMode.AUTO,
            "separate or converged: with phases storage stays where it is put first",
        ),
        (
            ("fabrics", "oob"),
            case.fabrics.oob is not None,
            "backend, storage or frontend: out-of-band ports follow the switches of all fabrics, which are planned "
            "one by one",
        ),
        (("site", "power_kw"), case.site.power_kw is not None, "no limit over all fabrics beside phases"),
        (("site", "tray"), case.site.tray is not None, "no limit over all fabrics beside phases"),
        (
            ("site", "rack", "cost_usd"),
            bool(case.site.rack.cost_usd),
            "racks at no price: fabrics share them, and are planned one by one",
        ),
    ]
    limits: list[tuple[Path, bool, str]] = [
        (("limits", name), getattr(case.limits, name) is not None, "no limit over all fabrics beside phases")
        for name in LIMITS
    ]
    buying: list[tuple[Path, bool, str]] = [
        ((name,), bool(getattr(case, name)), "every piece at its price: phases cannot be planned with it yet")
        for name in BUYING
    ]
    for path, is_there, expected in (*refused, *limits, *buying):
        if is_there:
            yield located.problem(path, found="phases beside it", expected=expected)
