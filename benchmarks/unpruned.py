"""The same search without leaving anything out: every template is enumerated and handed to the solver."""

from __future__ import annotations

from gpunet.models.case import FabricName
from gpunet.solver.candidates import Compiled, instance, oob_scopes, span_of, within
from gpunet.solver.instance import Instance
from gpunet.solver.scope import Cutoff
from gpunet.solver.templates import enumerate_templates


def instance_of_everything(compiled: Compiled) -> Instance:
    """An instance over every template of a case, with a cutoff that is never lowered."""
    first = compiled.case.objectives[0]
    held = {
        fabric: [t for scope in scopes for t in enumerate_templates(scope, Cutoff(), first)]
        for fabric, scopes in compiled.scopes.items()
        if fabric is not FabricName.OOB
    }
    if FabricName.OOB in compiled.scopes:
        scopes = oob_scopes(compiled, span_of(compiled, held))
        held[FabricName.OOB] = [t for scope in scopes for t in within(scope, Cutoff(), first)]
    return instance(compiled, held)
