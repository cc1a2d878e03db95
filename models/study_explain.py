"""What ``gpunet explain`` answers: why there is no design, or what holds the design where it is."""

from __future__ import annotations

from gpunet.models.base import Strict
from gpunet.models.design import Status
from gpunet.models.study import DesignSummary, Study
from gpunet.models.study_sensitivity import Worth


class Held(Strict):
    """One limit of a clash, and the smallest change of it alone with which the case has a design."""

    setting: str
    """Setting of the case file."""
    given: str
    """The value it has in this case."""
    is_default: bool
    """Whether the case leaves it as it comes."""
    enough: str | None
    """The value that is enough, every other setting as it is; of lists what to add or to leave out. None where no
    change of this setting alone is enough."""
    words: str
    """What was asked and what is enough, in words."""
    design: DesignSummary | None
    """The best design then; none where there is none."""


class Clash(Strict):
    """Limits that cannot hold together, whatever the others are. Each is needed: with the rest of these alone there is
    a design."""

    limits: tuple[Held, ...]
    """The limits: ceilings first, the size of the cluster last."""


class GiveWay(Strict):
    """Limits that must all move where no single one helps."""

    limits: tuple[Held, ...]
    """Each with a value that is enough once those before it have moved."""
    design: DesignSummary
    """The best design without these limits."""


class ShutOutPart(Strict):
    """A part that would make the design better if it were let in, alone."""

    part: str
    """Catalogue id."""
    saved: float
    """What the objective falls by, USD or W."""
    design_change: tuple[str, ...]
    """What is built with in place of today's design."""


class ShutOut(Strict):
    """The parts that one setting, or one fact about them, keeps out."""

    by: str
    """Setting of the case file, or status, or what the part lacks."""
    fabrics: tuple[str, ...]
    """Fabrics they are kept out of."""
    parts: tuple[str, ...]
    """Catalogue ids."""
    saved: float | None
    """What the objective falls by with all of them let in, USD or W; none where they cannot be let in."""
    better: tuple[ShutOutPart, ...] = ()
    """Those that make the design better by themselves, best first."""


class Explanation(Study):
    """The answer of ``gpunet explain``."""

    design: DesignSummary | None
    """The best design; none when the case has none."""
    value: float | None
    """Its objective, USD or W."""
    obstacles: tuple[str, ...] = ()
    """Without a design: parts asked for and shut out, and links that nothing allowed can make, in words."""
    clashes: tuple[Clash, ...] = ()
    """Without a design: limits that cannot hold together; several where each is in the way by itself."""
    elsewhere: tuple[Held, ...] = ()
    """Without a design: sizes of the room at their defaults, in no clash, that are enough by themselves."""
    together: GiveWay | None = None
    """Without a design, and where no single limit helps: limits that are enough together."""
    limits: tuple[Worth, ...] = ()
    """With a design: what each limit costs; those that bind first."""
    shut_out: tuple[ShutOut, ...] = ()
    """With a design: parts kept out, by what keeps them out."""
    notes: tuple[str, ...] = ()
    """What to know about the answer."""

    @property
    def is_infeasible(self) -> bool:
        """Whether the case has no design."""
        return self.status is Status.INFEASIBLE
