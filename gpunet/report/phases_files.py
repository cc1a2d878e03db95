"""The files of a plan in phases: what stands in every phase, what is bought for it, and which cables move."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.models.study_phases import Phases, PhaseStep
from gpunet.report.csv_files import csv_file, design_files
from gpunet.report.html_phases import phases_page
from gpunet.solver.moved import cables_kept

BUY_COLUMNS = ("part", "kind", "buy", "in_use", "idle", "unit_price_usd", "extended_usd")
MOVE_COLUMNS = (
    "change",
    "fabric",
    "link_class",
    "part",
    *(f"{side}_{field}_{when}" for when in ("before", "after") for side in "ab" for field in ("device", "rack")),
)
KEPT, PULLED, LAID = "kept", "pulled", "laid"
_NOWHERE = ("", "", "", "")


def phases_files(study: Phases, designs: Sequence[Design], catalog: Catalog) -> dict[str, Content]:
    """Every file of a plan by name: the study, and for each phase a folder with its design, purchase and moves.

    ``designs`` are those of the plan, one per phase. Raises ValueError for a study without a plan.
    """
    if not study.plans:
        raise ValueError("a study without a plan has no files")
    found: dict[str, Content] = {
        "phases.json": json.dumps(study.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    }
    found["phases.html"] = phases_page(study, designs, catalog)
    before: Ledger | None = None
    for step, design in zip(study.plans[0].steps, designs, strict=True):
        found |= {f"{step.when}/{name}": content for name, content in design_files(design, catalog).items()}
        found[f"{step.when}/buy.csv"] = csv_file(BUY_COLUMNS, _Bought(step))
        found[f"{step.when}/moves.csv"] = csv_file(MOVE_COLUMNS, _Moves(before, design.ledger))
        before = design.ledger
    return found


class _Bought:
    """Rows of what is bought in one phase and what is idle in it."""

    def __init__(self, step: PhaseStep) -> None:
        self.step = step

    def __call__(self) -> Iterator[Sequence[object]]:
        for x in self.step.lines:
            price, extended = f"{x.unit_price_usd:.2f}", f"{x.extended_usd:.2f}"
            yield x.part, x.kind, x.quantity, x.in_use, x.idle, price, extended


class _Moves:
    """A row for every cable of two phases in turn: first those that stand, in their order, then those that are laid."""

    def __init__(self, before: Ledger | None, after: Ledger) -> None:
        self.before, self.after = before or Ledger(), after

    def __call__(self) -> Iterator[Sequence[object]]:
        kept = cables_kept(self.before, self.after)
        old, new = _cables(self.before), _cables(self.after)
        for number, (head, ends) in old.items():
            if number in kept:
                yield KEPT, *head, *ends, *new[kept[number]][1]
            else:
                yield PULLED, *head, *ends, *_NOWHERE
        stay = set(kept.values())
        for number, (head, ends) in new.items():
            if number not in stay:
                yield LAID, *head, *_NOWHERE, *ends


def _cables(ledger: Ledger) -> dict[int, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every cable by its number: fabric, class and part, then device and rack at both ends, of a splitter all."""
    racks = {d.name: d.rack for d in ledger.devices}
    heads: dict[int, tuple[str, ...]] = {}
    ends: dict[int, tuple[dict[str, None], dict[str, None]]] = {}
    for link in ledger.links:
        heads.setdefault(link.assembly, (link.fabric, link.link_class, link.medium))
        a, b = ends.setdefault(link.assembly, ({}, {}))
        a[link.a_device] = b[link.b_device] = None
    return {
        number: (head, tuple(x for side in ends[number] for x in (_joined(side), _joined(racks[d] for d in side))))
        for number, head in heads.items()
    }


def _joined(words: Iterator[str] | dict[str, None]) -> str:
    return " ".join(dict.fromkeys(words))
