"""What fits what, and how far copper carries, read from ``plugs.yaml``: one table for the check and the solver."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from pydantic import Field

from gpunet.catalogs.plain_yaml import read_plain_yaml
from gpunet.models.base import Strict
from gpunet.models.parts import CableKind, CageGroup, FormFactor, Shell

OSFP_FAMILY = (FormFactor.OSFP, FormFactor.OSFP224)


class Family(Strict):
    """One form factor."""

    lanes: int = Field(gt=0)
    """Electrical lanes."""
    lane_gbps: float = Field(gt=0)
    """Highest rate of one lane, Gb/s."""


class PlugRules(Strict):
    """Families, what fits where, and how far copper carries."""

    families: dict[FormFactor, Family]
    """Lanes and rate of each form factor."""
    cage_accepts: dict[FormFactor, tuple[FormFactor, ...]]
    """Plugs that each cage takes by its shape (R1)."""
    copper_reach_m: dict[CableKind, dict[float, float]]
    """Longest assembly by technology and lane rate in Gb/s, m."""
    splitter_reach_m: dict[CableKind, dict[float, float]]
    """The same for splitters, where it is longer, m."""

    def seats(self, cage: CageGroup, plug: FormFactor, shell: Shell) -> bool:
        """Whether a plug enters a cage: shape and heat-sink shell (R1, R2)."""
        accepted = (*self.cage_accepts[cage.form_factor], *cage.also_accepts)
        return plug in accepted and (plug not in OSFP_FAMILY or shell is cage.shell)

    def reach_m(self, kind: CableKind, lane_gbps: float, *, splitter: bool) -> float | None:
        """Longest copper assembly, m; none where no limit is known, as for optical cables."""
        reach = self.copper_reach_m.get(kind, {}).get(lane_gbps)
        longer = self.splitter_reach_m.get(kind, {}).get(lane_gbps) if splitter else None
        return longer or reach


@cache
def plug_rules() -> PlugRules:
    """The rules of the shipped catalogue."""
    return PlugRules.model_validate(read_plain_yaml(files(__package__).joinpath("plugs.yaml").read_text("utf-8")))
