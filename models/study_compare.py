"""Choices side by side: each at its own optimum, line by line, and what the dearer of two protocols must earn."""

from __future__ import annotations

from pydantic import Field, PositiveFloat, model_validator

from gpunet.models.base import Strict
from gpunet.models.design import Status
from gpunet.models.study import DesignSummary, Study

Band = tuple[float, float]


class Economics(Strict):
    """What a break-even is reckoned with. Where the defaults come from: docs/compare.md."""

    gpu_hour_usd: PositiveFloat = 2.5
    """What one hour of one GPU is worth, USD."""
    communication_share: float = Field(default=0.2, gt=0, le=1)
    """Share of a training step that waits for collectives on the dearer fabric."""
    horizon_years: PositiveFloat | None = None
    """Time over which the dearer fabric must earn its price; ``tco.years`` of the case when empty."""
    efficiencies: dict[str, Band] = Field(default_factory=dict)
    """Lowest and highest all-reduce efficiency by protocol, in place of the case's ``performance``."""
    costs_usd: dict[str, PositiveFloat] = Field(default_factory=dict)
    """Stated network cost by protocol, in place of what the designs cost, USD."""

    @model_validator(mode="after")
    def _bands_are_shares(self) -> Economics:
        for protocol, (low, high) in self.efficiencies.items():
            if not 0 < low <= high <= 1:
                raise ValueError(f"the efficiency of {protocol} must lie above 0, rise and end at 1 or less")
        return self


class Compared(Strict):
    """One choice at its own optimum."""

    choice: str
    """Name, such as ``infiniband``."""
    narrowed: str
    """What sets this choice apart from the case, in its settings."""
    status: Status
    """``optimal``, or ``infeasible`` with the reasons."""
    reasons: tuple[str, ...] = ()
    """Why there is no design, most helpful first."""
    design: DesignSummary | None = None
    """The design in figures; none without one."""
    pieces: dict[str, int] = Field(default_factory=dict)
    """Pieces by kind: ``switch``, ``module``, ``cable``, ``fibre``, ``nic``."""
    lead_time_weeks: float | None = None
    """Longest lead time that is known of a part in the design; none where none is known."""
    lead_time_part: str = ""
    """The part that takes longest."""
    lead_time_how: str = ""
    """How its lead time is known: ``read``, ``recalled`` or ``estimated``."""
    parts_without_lead_time: int = 0
    """Different parts of the design whose lead time nobody gives."""


class LineShare(Strict):
    """What one choice has of a part."""

    quantity: int
    """Pieces in the design."""
    extended_usd: float
    """Price of those that must be bought, USD."""


class ComparedLine(Strict):
    """One part in every choice."""

    part: str
    """Catalogue id; for a cable or fibre with its stock length."""
    kind: str
    """``switch``, ``nic``, ``module``, ``cable`` or ``fibre``."""
    choices: dict[str, LineShare]
    """By choice; choices without the part and without a design are left out."""


class Delivered(Strict):
    """All-reduce bandwidth of one GPU over one protocol."""

    choice: str
    """Protocol."""
    scenario: str
    """Where the efficiency comes from: ``case``, ``tuned, low``, ``untuned``, ``given``."""
    efficiency: float
    """Share of the link bandwidth that collectives reach."""
    per_gpu_gbps: float
    """Bandwidth of a GPU's adapter ports times the efficiency, Gb/s."""


class Payback(Strict):
    """When the dearer fabric has earned its price, under one pair of efficiencies."""

    scenario: str
    """Efficiency of the cheaper fabric, and of the dearer where that is a band."""
    relative_efficiency: float
    """Efficiency of the cheaper over that of the dearer fabric."""
    slowdown: float
    """How much longer a step takes on the cheaper fabric: 0.01 is one per cent; below 0 where it is the faster."""
    lost_usd: float
    """Value of the GPU time lost on the cheaper fabric over the horizon, USD."""
    pays: bool
    """Whether that is more than what the dearer fabric costs more."""
    break_even_gpu_hour_usd: float | None
    """Value of a GPU-hour from which it pays, share and horizon as assumed, USD; none where no value is enough."""
    break_even_communication: float | None
    """Communication share from which it pays; none where not even a step of nothing else is enough."""
    break_even_years: float | None
    """Horizon from which it pays; none where no time is enough."""


class BreakEven(Strict):
    """What the dearer of two protocols must earn, and does."""

    dearer: str
    """Protocol."""
    cheaper: str
    """Protocol."""
    basis: str
    """What is compared: ``cost``, ``tco``, or ``stated`` costs."""
    more_usd: float
    """What the dearer costs more, USD."""
    gpus: int
    """GPUs installed."""
    gpu_hour_usd: float
    """Assumed value of one GPU-hour, USD."""
    communication_share: float
    """Assumed share of a step that waits for collectives on the dearer fabric."""
    horizon_years: float
    """Assumed time."""
    least_efficiency: float
    """Efficiency, relative to the dearer fabric's, below which the cheaper one stops being cheaper."""
    paybacks: tuple[Payback, ...]
    """By scenario."""


class Comparison(Study):
    """Choices on the same demand, each at its own optimum."""

    by: str
    """What was varied: ``protocol``, ``vendor``, ``form-factor``, ``optics``, ``objective``,
    ``placement`` or ``case``."""
    fabrics: tuple[str, ...] = ()
    """Fabrics that were narrowed."""
    reference: str = ""
    """The choice that differences are taken from; empty where none has a design."""
    choices: tuple[Compared, ...] = ()
    """Every choice, also those without a design."""
    lines: tuple[ComparedLine, ...] = ()
    """Every part of any of the designs."""
    delivered: tuple[Delivered, ...] = ()
    """All-reduce bandwidth, by protocol only."""
    break_even: BreakEven | None = None
    """By protocol only, and only where both have a design or a stated cost, and one is dearer."""
    notes: tuple[str, ...] = ()
    """What the reader should know."""

    def of(self, choice: str) -> Compared:
        """A choice by name. Raises KeyError."""
        found = next((x for x in self.choices if x.choice == choice), None)
        if found is None:
            raise KeyError(choice)
        return found
