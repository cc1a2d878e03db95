"""Why this design and not the next: the best design without each of its switch models."""

from __future__ import annotations

from gpunet.models.base import Strict
from gpunet.models.design import Status
from gpunet.models.study import DesignSummary, Study


class Rival(Strict):
    """The best whole design in which one fabric does without one switch model; everything else is free."""

    fabric: str
    """Fabric that does without it."""
    part: str
    """Switch model, a catalogue id."""
    status: Status
    """``optimal``, or ``infeasible`` where nothing the case allows takes its place."""
    more: float | None
    """What the objective is above the optimum, USD or W; none without a design."""
    change: tuple[str, ...] = ()
    """What is built in place of the optimum: ``-1 x switch a``, ``+2 x switch b``."""
    design: DesignSummary | None = None
    """The design; none without one."""


class Rivals(Study):
    """The answer to: why this and not the runner-up."""

    value: float | None
    """The optimum: USD, or W for power; none without a design."""
    rivals: tuple[Rival, ...] = ()
    """One for every fabric and switch model of the optimum, in the order of the fabrics."""

    @property
    def runner_up(self) -> Rival | None:
        """The best of all designs with other switches; none where there is no such design.

        A design that builds some fabric of other models lacks one model of the optimum there, so it is no better than
        the best without that model.
        """
        found = [(rival.more, rival) for rival in self.rivals if rival.more is not None]
        return min(found, key=lambda pair: pair[0])[1] if found else None
