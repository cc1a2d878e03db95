"""Which codings of modules every host takes under one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpunet.models.case import Case
from gpunet.models.parts import CageGroup, Catalog, Part, ServerCages

ANY = "any"
"""Stands for every coding."""


def coded(case: Case, catalog: Catalog) -> Catalog:
    """The catalogue with the codings that the case says its hosts take; the same where it says nothing."""
    told = None if case.terms is None else case.terms.coding
    if not told:
        return catalog
    update = {
        "switches": {s.id: s.model_copy(update=_cages(told, "switch", s, s.cages)) for s in catalog.switches.values()},
        "nics": {n.id: n.model_copy(update=_cages(told, "nic", n, n.cages)) for n in catalog.nics.values()},
        "servers": {
            s.id: s.model_copy(update={"cages": tuple(_of_server(told, catalog, s, cages) for cages in s.cages)})
            for s in catalog.servers.values()
        },
    }
    return catalog.model_copy(update=update)


def _cages(
    told: Mapping[str, Sequence[str]], kind: str, host: Part, cages: Sequence[CageGroup]
) -> dict[str, tuple[CageGroup, ...]]:
    return {"cages": tuple(_coded_cage(told, kind, host, cage) for cage in cages)}


def _of_server(told: Mapping[str, Sequence[str]], catalog: Catalog, server: Part, cages: ServerCages) -> ServerCages:
    """Cages of a NIC that is bought for the server follow the NIC, others the server."""
    if cages.nic is not None:
        group = _coded_cage(told, "nic", catalog.nics[cages.nic], cages.cages)
    else:
        group = _coded_cage(told, "server", server, cages.cages)
    return cages.model_copy(update={"cages": group})


def _coded_cage(told: Mapping[str, Sequence[str]], kind: str, host: Part, cage: CageGroup) -> CageGroup:
    name = next((name for name in (host.id, f"{host.vendor}:*", f"{kind}:*") if name in told), None)
    if name is None:
        return cage
    codings = () if ANY in told[name] else tuple(sorted(told[name]))
    return cage.model_copy(update={"accepts_codings": codings})
