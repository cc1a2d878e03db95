"""Every switch blows the way the room needs."""

from __future__ import annotations

from collections import Counter

from gpunet.models.design import Check
from gpunet.solver.verify_book import Book
from gpunet.solver.verify_report import Findings


def check_airflow(book: Book) -> Check:
    """Switch models of the ledger that cannot be had in the direction of the case, or of which nobody knows."""
    findings = Findings("airflow")
    asked = book.case.site.rack.airflow
    if asked is None:
        return findings.check("the case asks for no direction")
    counts = Counter(d.part for d in book.ledger.devices if d.kind == "switch")
    without_fans = 0
    for part, count in sorted(counts.items()):
        switch = book.catalog.switches.get(part)
        flow = None if switch is None else switch.airflow
        if flow is None:
            findings.add(f"{count:,} x {part}: which way it blows is not known")
        elif not flow.offered:
            without_fans += count
        elif asked.value not in {direction.value for direction in flow.offered}:
            findings.add(f"{count:,} x {part}: offered {', '.join(flow.offered)}, the room needs {asked.value}")
    note = f"; {without_fans:,} have no fans" if without_fans else ""
    return findings.check(f"all {counts.total():,} switches can be had {asked.value}{note}")
