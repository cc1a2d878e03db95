"""Growth in phases: how large the cluster is, and when."""

from __future__ import annotations

from pydantic import Field, PositiveInt, model_validator

from gpunet.models.base import Strict


class Phase(Strict):
    """The cluster as it stands from some quarter on."""

    when: str = Field(pattern=r"^\d{4}Q[1-4]$")
    """Quarter in which the phase is bought and built: ``2027Q1``."""
    gpus: PositiveInt | None = None
    """GPUs by then, those of former phases included; rounded up to whole servers. Give this or ``servers``."""
    servers: PositiveInt | None = None
    """Servers by then, those of former phases included. Give this or ``gpus``."""

    @model_validator(mode="after")
    def _one_size(self) -> Phase:
        if (self.gpus is None) == (self.servers is None):
            raise ValueError("give exactly one of gpus and servers")
        return self

    @property
    def quarter(self) -> int:
        """The quarter counted from the year 0."""
        return int(self.when[:4]) * 4 + int(self.when[-1]) - 1
