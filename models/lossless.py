"""What a fabric asks of its switches so that it drops nothing: priority flow control (PFC) and its headroom."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field, NonNegativeFloat

from gpunet.models.base import Strict


class UnknownBuffers(StrEnum):
    """What becomes of switches whose packet buffer is not in the catalogue."""

    REFUSE = "refuse"
    WARN = "warn"


class Lossless(Strict):
    """Flow control by class: how much buffer every port keeps for what still arrives after it has said stop."""

    classes: int = Field(default=1, ge=1, le=8)
    """Classes of traffic that must not be dropped; each needs headroom of its own on every port."""
    mtu_bytes: int = Field(default=9216, ge=64, le=65_536)
    """Largest frame on the links, whatever its class, bytes."""
    lossless_mtu_bytes: int | None = Field(default=None, ge=64, le=65_536)
    """Largest frame of a lossless class, bytes; as ``mtu_bytes`` when empty."""
    response_ns: NonNegativeFloat | None = None
    """Time from the arrival of a pause until the sender stops, ns; by port speed as IEEE 802.3 allows when empty."""
    interface_ns: NonNegativeFloat = 0
    """Delay of MAC, PHY and gearbox at both ends together, there and back, ns."""
    cell_factor: float = Field(default=2.0, ge=1, le=16)
    """Buffer taken : bytes received at worst, as frames fill whole cells; 2 is a frame one byte longer than a cell."""
    buffer_share: float = Field(default=1.0, gt=0, le=1)
    """Share of a switch's packet buffer that may be headroom."""
    unknown_buffers: UnknownBuffers = UnknownBuffers.REFUSE
    """``refuse`` switches whose buffer is not in the catalogue, or ``warn`` and use them unchecked."""
