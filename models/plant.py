"""What is known of the passive plant of a site."""

from __future__ import annotations

from enum import StrEnum


class Mates(StrEnum):
    """Quality of mated pairs."""

    LOW_LOSS = "low-loss"
    STANDARD = "standard"
