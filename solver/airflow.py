"""Which way switches blow: what a room with one airflow shuts out, and what its modules may draw."""

from __future__ import annotations

from gpunet.models.case import Case
from gpunet.models.parts import AirDirection, CageGroup, Catalog, Switch

SETTING = "site.rack.airflow"
UNKNOWN = f"{SETTING}: which way it blows is not known"


def breathing(case: Case, catalog: Catalog) -> Catalog:
    """The catalogue with the cage limits that hold for the airflow of the case; the same where it asks for none."""
    if case.site.rack.airflow is not AirDirection.POWER_TO_PORT:
        return catalog
    switches = {
        s.id: s.model_copy(update={"cages": tuple(map(_reversed, s.cages))})
        if any(group.power_to_port for group in s.cages)
        else s
        for s in catalog.switches.values()
    }
    return catalog.model_copy(update={"switches": switches})


def _reversed(group: CageGroup) -> CageGroup:
    limits = group.power_to_port
    if limits is None:
        return group
    return group.model_copy(update={"power_limit_w": limits.power_limit_w, "hot": limits.hot})


def against_the_air(case: Case, switch: Switch) -> str | None:
    """Why the airflow of the room keeps a switch out; none where it does not. One without fans stands in any room."""
    asked = case.site.rack.airflow
    if asked is None:
        return None
    if switch.airflow is None:
        return UNKNOWN
    offered = switch.airflow.offered
    return f"{SETTING}: offered {offered[0].value} only" if offered and asked not in offered else None


def air_to_order(case: Case, switch: Switch) -> str | None:
    """What an order must say of a switch that is offered both ways."""
    asked = case.site.rack.airflow
    if asked is None or switch.airflow is None or len(switch.airflow.offered) < 2:
        return None
    return f"{switch.id}: offered with either airflow: order it {asked.value}"
