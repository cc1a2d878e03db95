"""Proof of a design, by code that shares nothing with the code that made it.

The ledger is read as a graph, every rule is checked again from the catalogue and the case, and every figure of
the result is counted anew. It imports the models, the catalogue and mathematics; never a template, the program,
the layout, the interconnect rules or the ledger's builder.
"""

from __future__ import annotations

from gpunet.models.design import Check, Design, Verification
from gpunet.models.parts import Catalog


def verify(design: Design, catalog: Catalog) -> Verification:
    """Check a design against its case and the catalogue.

    Never raises for a wrong design: whatever is wrong is a failed check that names it. A result without a
    design (infeasible, stopped) fails the one check ``design``.
    """
    if design.result.totals is None or not design.ledger.devices:
        nothing = Check(name="design", passed=False, detail=f"no design to check: {design.result.status.value}")
        return Verification(passed=False, checks=(nothing,))
    # numpy and networkx are heavy; the command line imports this module at its start.
    from gpunet.solver import (
        verify_demand,
        verify_limits,
        verify_links,
        verify_money,
        verify_ports,
        verify_site,
    )
    from gpunet.solver.verify_airflow import check_airflow
    from gpunet.solver.verify_book import Book
    from gpunet.solver.verify_channels import check_channels
    from gpunet.solver.verify_delivery import check_delivery
    from gpunet.solver.verify_flow import check_flow
    from gpunet.solver.verify_growth import check_oversubscription
    from gpunet.solver.verify_headroom import check_headroom, concerns_headroom
    from gpunet.solver.verify_network import check_connected, check_hops, check_latency, check_striping, networks
    from gpunet.solver.verify_offers import check_buying
    from gpunet.solver.verify_pieces import check_pieces
    from gpunet.solver.verify_placement import check_placement
    from gpunet.solver.verify_purchase import check_supply
    from gpunet.solver.verify_trays import check_trays

    book = Book(design, catalog)
    wiring = verify_links.Wiring(book)
    heat = verify_site.Heat(wiring)
    bill = verify_money.Bill(wiring)
    nets = networks(book)
    has_plant = book.case.site.plant is not None or bool(book.ledger.channels or book.ledger.panels)
    checks = (
        verify_ports.check_ledger(book),
        verify_ports.check_ports(wiring),
        verify_ports.check_logical_ports(wiring),
        verify_links.check_seats(wiring),
        check_pieces(wiring),
        verify_links.check_mating(wiring),
        verify_links.check_reach(wiring),
        verify_site.check_cage_power(heat),
        verify_site.check_switch_power(heat),
        verify_site.check_rack(heat),
        verify_site.check_site_power(heat),
        verify_demand.check_attached(book),
        check_striping(nets),
        check_oversubscription(nets),
        verify_demand.check_rails(book),
        check_flow(nets),
        check_connected(nets),
        check_hops(nets),
        check_latency(nets),
        verify_limits.check_fabrics(nets, wiring),
        verify_money.check_bom(bill),
        verify_money.check_totals(bill),
        verify_limits.check_limits(bill),
        verify_limits.check_parts(bill),
        *((check_supply(book.case, bill.orders),) if book.case.supply else ()),
        *((check_delivery(bill),) if book.result.delivery is not None else ()),
        *((check_buying(book.case, book.result.bom, set(bill.split)),) if book.case.buying else ()),
        *((check_headroom(nets),) if concerns_headroom(design) else ()),
        *((check_channels(wiring),) if has_plant else ()),
        *((check_airflow(book),) if book.case.site.rack.airflow is not None else ()),
        *((check_placement(book),) if book.result.placements else ()),
        *((check_trays(wiring),) if book.case.site.tray is not None or book.result.trays else ()),
    )
    return Verification(passed=all(c.passed for c in checks), checks=checks)
