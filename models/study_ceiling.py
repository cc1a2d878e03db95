"""How much fits under a ceiling on cost or power."""

from __future__ import annotations

from gpunet.models.base import Strict
from gpunet.models.study import DesignSummary, Study


class Extreme(Strict):
    """The farthest value of one setting that stays within the ceilings, all else as in the case."""

    setting: str
    """Setting of the case file, such as ``cluster.growth``."""
    today: float
    """The value in the case."""
    value: float | None
    """The farthest value; none where no value looked at fits."""
    at_end: bool
    """Whether the value is the end of what the setting can be, so that more money would buy no more of it."""
    design: DesignSummary | None
    """The best design there."""


class Ceiling(Study):
    """The answer of ``gpunet ceiling``."""

    cost_usd: float | None
    """Ceiling on cost: the lower of the one asked and the one in the case, USD."""
    power_kw: float | None
    """Ceiling on the network's power, likewise, kW."""
    gpus_per_server: int
    """GPUs of one server."""
    servers: int | None
    """The largest number of servers for which a design fits; none where no number fits."""
    gpus: int | None
    """The GPUs of these servers."""
    at_most_servers: int
    """No more servers than this can fit, whatever the design; every number between is solved."""
    design: DesignSummary | None
    """The best design for the largest number."""
    next_design: DesignSummary | None = None
    """The best design for one server more with the ceilings of the study lifted; none where there is none."""
    next_reason: str = ""
    """Why there is no design for one server more, where something else than the ceilings ends it."""
    first_design: DesignSummary | None = None
    """Where no number of servers fits: the best design for one, ceilings lifted."""
    case_servers: int
    """Servers of the case itself."""
    case_design: DesignSummary | None = None
    """The best design for the case itself within the ceilings; none where it does not fit."""
    extremes: tuple[Extreme, ...] = ()
    """What else the ceilings allow at the number of servers of the case."""
