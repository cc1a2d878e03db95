"""What a check of the catalogue reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """The catalogue contradicts itself; answers computed with the part would be wrong."""
    WARNING = "warning"
    """The part can never be used as it stands."""
    INFO = "info"
    """Worth knowing: estimates, old figures, oddities of a price list."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in the catalogue."""

    level: Level
    kind: str
    """File of the part by stem, such as ``switches``."""
    part: str
    """Id of the part, interface or source."""
    message: str
    """What was found and what was expected."""
    field: str = ""
    """Field, such as ``cages[0].modes[2]``; empty where the whole part is meant."""

    def render(self) -> str:
        """One line: ``error: switches: eth-sn5600: cages[0]: …``."""
        return ": ".join(text for text in (self.level.value, self.kind, self.part, self.field, self.message) if text)
