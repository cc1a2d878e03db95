"""How firm a design is: at which prices, requirements and limits it changes, and by how much."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gpunet.models.base import Strict
from gpunet.models.study import DesignSummary, Study


class PricePiece(Strict):
    """Unit prices of one part at which one design stays the best."""

    from_usd: float
    """First price of the piece, USD."""
    to_usd: float | None
    """Price at which the next piece begins, USD; none where no price ends it, or none that was looked at."""
    quantity: int
    """Pieces of the part that this design buys."""
    design: DesignSummary
    """The design, at the last price of today's piece or the first price of any other that was solved."""
    change: tuple[str, ...] = ()
    """What it is built with in place of today's design: ``-1 x switch a``, ``+2 x switch b``; empty for today's."""


class PriceRange(Strict):
    """What the price of one part does to the design, every other price held."""

    part: str
    """Catalogue id; a fibre or cable with its stock length."""
    kind: str
    """``switch``, ``module``, ``cable`` or ``fibre``."""
    in_design: bool
    """Whether today's design buys it; else it is a part that could displace one."""
    price_usd: float
    """Unit price today, after basis, override and discount, USD."""
    price_how: str
    """``read``, ``recalled``, ``estimated``, or ``quoted`` by the case."""
    stays_from_usd: float
    """Lowest price at which today's design stays the best, USD."""
    stays_to_usd: float | None
    """Highest price at which it does, USD; none where the end is open."""
    looked_to_usd: float
    """Highest price that was looked at, USD."""
    pieces: tuple[PricePiece, ...]
    """The designs by price, cheapest first. A part that is not in the design: its own piece and today's only."""

    @property
    def is_open(self) -> bool:
        """Whether no price looked at changes the design upwards."""
        return self.stays_to_usd is None


class Step(Strict):
    """Where a requirement next changes what is built."""

    setting: str
    """Setting of the case file, such as ``cluster.gpus``."""
    direction: str
    """``up`` or ``down``."""
    unit: str
    """Unit of the setting."""
    value: float
    """The setting today."""
    holds_to: float | None
    """Farthest value at which the same switches serve; none where nothing looked at changes them."""
    next_value: float | None
    """First value at which other switches are built, or none can be."""
    cost_change_usd: float | None
    """Network cost there less the cost at the last value before, USD; none where no design exists there."""
    power_change_w: float | None
    """Largest draw there less that before, W."""
    change: tuple[str, ...]
    """What is built with in place of what was before; ``no design`` where none exists."""
    looked_to: float
    """Farthest value that was looked at."""


class Headroom(Strict):
    """What is paid for already and not used."""

    what: str
    """``free ports``, ``watts below a limit``, ``metres below reach``."""
    where: str
    """Fabric and tier, or setting."""
    amount: float
    """How much."""
    unit: str
    """Unit of the amount."""


class Worth(Strict):
    """What one limit costs: the design without it, or with one step more."""

    setting: str
    """Setting of the case file."""
    change: str
    """What was loosened, in words."""
    value: float | None
    """The objective then, USD or W; none where still no design exists."""
    saved: float | None
    """What the objective falls by, USD or W; 0 where the limit costs nothing."""
    design_change: tuple[str, ...]
    """What is built with in place of today's design."""


class Band(Strict):
    """One price moved over its band, every other held: a bar of the tornado."""

    part: str
    """Catalogue id."""
    low_usd: float
    """Low end of the band, USD."""
    high_usd: float
    """High end, USD."""
    price_usd: float
    """Unit price today, USD."""
    price_how: str
    """How today's price is known."""
    at_low_usd: float
    """The objective with the price at the low end, USD."""
    at_high_usd: float
    """The objective with the price at the high end, USD."""
    changes_design: bool
    """Whether another design is best at either end."""


class Regret(Strict):
    """One design over all price scenarios."""

    name: str
    """The scenario in which it is the best; the first of several."""
    worst_regret_usd: float
    """The most it costs more than the best design of a scenario, USD."""
    worst_scenario: str
    """The scenario in which it does."""
    by_scenario_usd: dict[str, float]
    """Objective of this design in every scenario, USD."""
    change: tuple[str, ...]
    """What it is built with in place of today's design; empty for today's."""
    design: DesignSummary
    """The design."""


class PriceScenarios(Strict):
    """A file of price scenarios."""

    scenarios: dict[str, dict[str, Annotated[float, Field(ge=0)]]] = Field(min_length=1)
    """Unit prices that differ from the case's own, USD: scenario, then part; a cable or fibre with its length."""


class Sensitivity(Study):
    """The answer of ``gpunet sensitivity``."""

    design: DesignSummary | None
    """Today's design; none when the case has none."""
    value: float | None
    """Its objective, USD or W."""
    prices: tuple[PriceRange, ...] = ()
    """Price ranges: parts of the design first, then parts that could displace one."""
    never: tuple[str, ...] = ()
    """Parts that would not be used at any price, not even free."""
    steps: tuple[Step, ...] = ()
    """Where requirements next change what is built."""
    headroom: tuple[Headroom, ...] = ()
    """What is paid for and not used."""
    limits: tuple[Worth, ...] = ()
    """What loosening each limit is worth."""
    bands: tuple[Band, ...] = ()
    """The tornado, widest first; only where asked for."""
    regrets: tuple[Regret, ...] = ()
    """Designs by worst regret, smallest first; only where asked for."""
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""
