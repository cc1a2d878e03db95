"""What needs one room of a case, and may not be asked while the case leaves the placement of its switches open."""

from __future__ import annotations

from dataclasses import replace

from gpunet.catalogs.located_yaml import Located
from gpunet.models.case import Case, Placement
from gpunet.models.problems import InputError


def refuse_open_placement(case: Case, located: Located) -> None:
    """Raise ``InputError`` for ``site.switch_placement: cheapest``, at its place in the file."""
    from gpunet.solver.layout import no_one_room

    if case.site.switch_placement is Placement.CHEAPEST:
        why = no_one_room(case)
        there = located.problem(("site", "switch_placement"), found=why.found, expected=why.expected)
        raise InputError([replace(there, message=why.message)])
