"""Coding of modules: which hosts take which, by the catalogue and by the case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tiny_catalog import tiny_catalog

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.case import Case
from gpunet.models.design import Design, Status
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError
from gpunet.solver.explain import explain
from gpunet.solver.links import cage_kinds
from gpunet.solver.mating import module_refusals
from gpunet.solver.optimize import optimize
from gpunet.solver.verify import verify

CATALOG = tiny_catalog()
NO_COPPER = {"deny": ["cable:*"]}


def case_of(coding: dict[str, list[str]] | None, **more: Any) -> Case:
    """Eight small servers on one backend, without copper."""
    data: dict[str, Any] = {"name": "coded", "cluster": {"servers": 8, "server": "server-2"}, "parts": NO_COPPER}
    data |= {"fabrics": {"backend": {}}, "terms": {} if coding is None else {"coding": coding}}
    return Case.model_validate(data | more)


def recoded(**codings: str) -> Catalog:
    """The tiny catalogue with other codings of some modules; underscores stand for dashes."""
    names = {part.replace("_", "-"): coding for part, coding in codings.items()}
    modules = {p: m.model_copy(update={"coding": names.get(p, "")}) for p, m in CATALOG.modules.items()}
    return CATALOG.model_copy(update={"modules": modules})


def modules(design: Design) -> set[str]:
    """Modules of a design."""
    return {line.part for line in design.result.bom if line.kind == "module"}


NORTH = recoded(twin_dr4="northstar", flat_dr4="eastern")
"""Single-mode modules are coded for the InfiniBand switches and the servers, all others for lumen, who makes them."""


@pytest.mark.parametrize("engine", ["highs", "scip", "cp-sat"])
def test_a_host_that_takes_one_coding_turns_the_optics(engine: str) -> None:
    """Without a rule multimode is cheapest; where switches take their own modules alone, single mode is left."""
    free = optimize(case_of(None), NORTH, engine=engine)
    strict = optimize(case_of({"switch:*": ["northstar"]}), NORTH, engine=engine)
    assert modules(free) == {"twin-sr4", "flat-sr4"}
    assert strict.result.status is Status.OPTIMAL
    assert modules(strict) == {"twin-dr4", "flat-dr4"}


@pytest.mark.parametrize(
    ("coding", "found"),
    [
        ({"switch:*": ["northstar", "lumen"]}, {"twin-sr4", "flat-sr4"}),
        ({"switch:*": ["northstar"], "northstar:*": ["any"]}, {"twin-sr4", "flat-sr4"}),
        ({"northstar:*": ["northstar"], "ib-tiny-8": ["lumen"], "southern:*": ["northstar"]}, {"twin-sr4", "flat-sr4"}),
        ({"server:*": ["eastern"]}, {"twin-dr4", "flat-dr4"}),
        ({"server-2": ["eastern"], "nic:*": ["lumen"]}, {"twin-dr4", "flat-dr4"}),
    ],
)
def test_the_most_exact_name_counts(coding: dict[str, list[str]], found: set[str]) -> None:
    """A part before its vendor, a vendor before the kind; servers are hosts as switches are."""
    design = optimize(case_of(coding), NORTH)
    assert design.result.status is Status.OPTIMAL
    assert modules(design) == found


def test_the_catalogue_can_say_what_a_host_takes() -> None:
    """A list in the catalogue counts without a word in the case, and gives way to the case."""
    switches = {
        p: s.model_copy(
            update={"cages": tuple(c.model_copy(update={"accepts_codings": ("northstar",)}) for c in s.cages)}
        )
        for p, s in NORTH.switches.items()
    }
    listed = NORTH.model_copy(update={"switches": switches})
    assert modules(optimize(case_of(None), listed)) == {"twin-dr4", "flat-dr4"}
    assert modules(optimize(case_of({"switch:*": ["any"]}), listed)) == {"twin-sr4", "flat-sr4"}


def test_the_refusal_names_both_codings() -> None:
    """R19 says what the module is coded for and what the host takes."""
    switch = CATALOG.switches["ib-tiny-8"]
    (kind, *_) = cage_kinds(switch.cages[0], switch.cages[0].modes[:1], switch.protocol, switch=switch)
    module = CATALOG.modules["twin-sr4"]
    assert not list(module_refusals(kind, module, CATALOG.interfaces))
    (refused,) = module_refusals(replace(kind, accepts_codings=("northstar",)), module, CATALOG.interfaces)
    assert (refused.rule, refused.parts) == ("R19", ("twin-sr4",))
    assert "coded for lumen" in refused.message
    assert "northstar" in refused.message


def test_explain_names_the_coding() -> None:
    """Where no module with an accepted coding is left there is no design, and the setting is named."""
    study = explain(case_of({"switch:*": ["northstar"]}), CATALOG)
    assert study.status is Status.INFEASIBLE
    assert "terms.coding" in {limit.setting for clash in study.clashes for limit in clash.limits}


def test_verify_refuses_a_module_of_another_coding() -> None:
    """A design made without the rule fails against a case that has it, at either end."""
    design = optimize(case_of(None), NORTH)
    for coding, host in (({"switch:*": ["northstar"]}, "ib-tiny-8"), ({"server-2": ["eastern"]}, "server-2")):
        spoilt = Design(case_of(coding), design.result, design.ledger)
        checks = {check.name: check for check in verify(spoilt, NORTH).checks}
        assert not checks["support"].passed
        assert f"{host} takes modules coded for" in checks["support"].detail


@pytest.mark.parametrize(
    ("coding", "says"),
    [({"switch-x": ["nvidia"]}, "switch-x"), ({"switch:*": ["nvidea"]}, "nearest: nvidia"), ({"switch:*": []}, "1")],
)
def test_a_coding_that_makes_no_sense_is_refused(coding: dict[str, list[str]], says: str) -> None:
    """Unknown hosts, unknown codings and empty lists are mistakes of the case."""
    data = {"cluster": {"gpus": 64, "server": "dgx-h100"}, "terms": {"coding": coding}}
    with pytest.raises(InputError) as told:
        case_from_data(data, load_catalog())
    assert says in str(told.value)
