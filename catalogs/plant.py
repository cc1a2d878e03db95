"""Numbers of the passive plant, read from ``plant.yaml``: losses, and how far a channel may go (R13, R14)."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from gpunet.catalogs.plain_yaml import read_plain_yaml
from gpunet.models.base import Strict
from gpunet.models.evidence import Fact
from gpunet.models.plant import Mates


class PlantRules(Strict):
    """What mated pairs and glass lose, and how far channels with splitters and panels go."""

    mated_pair_db: dict[Mates, dict[str, Fact]]
    """Loss of one mated pair by quality and family of connector (``MPO``, ``LC``), dB."""
    attenuation_db_per_m: dict[str, Fact]
    """Loss of glass by kind (``MMF``, ``SMF``), dB/m."""
    splitter_reach_m: Fact
    """Longest channel with a splitter, m."""
    panel_reach_m: dict[str, dict[str, Fact]]
    """Longest channel with panels by kind of glass and family of connector, m."""
    most_panels: Fact
    """Most panels in one channel."""


def family(connector: str) -> str:
    """Family of a kind of connector: ``MPO`` for ``MPO-12`` and ``MPO-16``, ``LC`` for every single-fibre kind."""
    return "MPO" if connector.startswith("MPO") else "LC"


@cache
def plant_rules() -> PlantRules:
    """The numbers of the shipped catalogue."""
    return PlantRules.model_validate(read_plain_yaml(files(__package__).joinpath("plant.yaml").read_text("utf-8")))
