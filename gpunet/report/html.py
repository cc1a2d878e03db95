"""The design as one HTML file for people: the answer first, then everything that it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from gpunet.models.design import Design
from gpunet.models.parts import Catalog
from gpunet.models.study import Study
from gpunet.models.study_rivals import Rivals
from gpunet.report.html_answer import answer_section
from gpunet.report.html_design import (
    bill_section,
    checks_section,
    evidence_section,
    lengths_section,
    money_section,
    topology_section,
)
from gpunet.report.html_page import Command, Page, render
from gpunet.report.html_prices import ranges_section, tornado_section
from gpunet.report.html_racks import racks_section
from gpunet.report.html_studies import ceiling_section, compare_section, frontier_section, other_sections


def html_report(design: Design, catalog: Catalog, studies: Sequence[Study] = ()) -> str:
    """The report of a design that may be built. Equal designs and studies give equal bytes; nothing is solved here.

    ``studies`` fill the chapters that need them; a chapter without its study says how to get it. Raises ValueError for
    a result without a design.
    """
    result = design.result
    if result.totals is None:
        raise ValueError("a result without a design has no report")
    name = result.case or "case"
    rivals = next((s for s in studies if isinstance(s, Rivals)), None)
    ask = Command("how far ahead of other switches this design is", "--studies quick")
    sections = (
        topology_section(design, catalog),
        money_section(design, catalog),
        frontier_section(design, catalog, studies, name),
        ceiling_section(design, catalog, studies, name),
        tornado_section(studies, name),
        ranges_section(studies, name),
        compare_section(studies, name),
        *other_sections(studies),
        racks_section(design, catalog),
        lengths_section(design, catalog),
        bill_section(design),
        evidence_section(design, catalog),
        checks_section(design),
    )
    made_with = (
        f"gpunet {result.gpunet_version}, catalogue {result.catalog_version}, solver {result.engine}. All money in USD."
    )
    return render(Page(f"Network design: {name}", answer_section(design, catalog, rivals, ask), sections, made_with))
