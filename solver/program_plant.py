r"""What the passive plant of the room adds to the program.

a[w]              cross-section of the cables of one block built by way w, hundredths of mm²
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpunet.solver.program import Formulation


def tray_fill(f: Formulation) -> None:
    r"""The cables that pass a section of tray fill no more of it than site.tray allows.

    sum over classes k that pass s, sum_w a[w] x[k,w] <= width * depth * fill * trays[s] for every section s
    """
    from pulp import lpSum

    for section, holds in f.data.trays.items():
        lying = [
            way.tray_load * x
            for key, variables in f.x.items()
            if f.data.passes(key, section)
            for way, x in zip(f.data.ways[key], variables, strict=True)
        ]
        if lying:
            f.add("tray_fill", lpSum(lying) <= holds)


def set_class_order(f: Formulation, rank: int) -> None:
    """Among the choices of this rank, let the order of the link classes decide.

    A tray may hold so many blocks of either of two classes built one way; then ranks alone leave open of which.
    """
    from pulp import lpSum

    f.add("at_best_rank", f.prob.objective <= rank)
    f.prob.setObjective(lpSum(k * i * x for k, xs in enumerate(f.x.values(), 1) for i, x in enumerate(xs) if i))
