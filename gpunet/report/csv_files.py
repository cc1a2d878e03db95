"""The files of a design for spreadsheets: bill, cabling schedule and rack list.

Rows stand in a fixed order and lines end in a line feed, so that two runs of one case write the same bytes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from gpunet.catalogs import find_part, split_medium_id
from gpunet.design_file import write_design
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.evidence import MILLIWATTS_PER_WATT
from gpunet.models.ledger import Link
from gpunet.models.parts import Catalog

BOM_COLUMNS = (
    "part",
    "kind",
    "vendor",
    "model",
    "part_numbers",
    "quantity",
    "owned",
    "unit_price_usd",
    "extended_usd",
    "price_how",
    "price_source",
    "price_date",
    "note",
)
_END_COLUMNS = ("device", "rack", "unit", "cage_group", "cage", "port", "module", "label")
CABLING_COLUMNS = (
    "assembly",
    "leg",
    "fabric",
    "link_class",
    "links",
    "speed_gbps",
    "part",
    "length_m",
    *(f"a_{column}" for column in _END_COLUMNS),
    *(f"b_{column}" for column in _END_COLUMNS),
)
RACK_COLUMNS = ("device", "rack", "unit", "rack_units", "kind", "part", "fabric", "tier", "power_max_w")


def design_files(design: Design, catalog: Catalog) -> dict[str, Content]:
    """Every file of a design by name: what ``-o`` writes."""
    return {
        "design.json": write_design(design),
        "bom.csv": _csv(BOM_COLUMNS, lambda: _bom_rows(design, catalog)),
        "cabling.csv": _csv(CABLING_COLUMNS, lambda: cabling_rows(design, catalog)),
        "racks.csv": _csv(RACK_COLUMNS, lambda: rack_rows(design, catalog)),
    }


def _csv(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[object]]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows())

    return write


def _bom_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    for line in design.result.bom:
        part = find_part(catalog, line.part)
        yield (
            line.part,
            line.kind,
            part.vendor if part else "",
            part.model if part else "",
            " ".join(part.part_numbers) if part else "",
            line.quantity,
            line.owned,
            f"{line.unit_price_usd:.2f}",
            f"{line.extended_usd:.2f}",
            line.price_how,
            line.price_source,
            line.price_date,
            line.note,
        )


# --- cabling ----------------------------------------------------------------------------------------------------------


def cabling_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    """A row for every jumper, cable and leg of a splitter; legs of one splitter share the number of their assembly.

    A port reads ``1+2`` where one plug carries several links. A label names its own end first, then the far one.
    """
    places = {d.name: (d.rack, d.unit or "") for d in design.ledger.devices}
    modules = {(s.device, s.group, s.cage): s.part for s in design.ledger.seats}
    plain = _Plain()
    for links, leg in _legs(design.ledger.links, catalog):
        link = links[0]
        a, b = (link.a_device, link.a_group, link.a_cage), (link.b_device, link.b_group, link.b_cage)
        if len(links) == 1:
            a_ports, b_ports = str(link.a_port), str(link.b_port)
        else:
            a_ports = "+".join(str(one.a_port) for one in links)
            b_ports = "+".join(str(one.b_port) for one in links)
        a_end, b_end = f"{a[0]}:{a[1]}/{a[2]}/{a_ports}", f"{b[0]}:{b[1]}/{b[2]}/{b_ports}"
        yield (
            link.assembly,
            leg,
            link.fabric,
            link.link_class,
            len(links),
            plain[link.speed_gbps],
            link.medium,
            plain[link.length_m],
            a[0],
            *places[a[0]],
            a[1],
            a[2],
            a_ports,
            modules.get(a, ""),
            f"{link.assembly} {a_end} > {b_end}",
            b[0],
            *places[b[0]],
            b[1],
            b[2],
            b_ports,
            modules.get(b, ""),
            f"{link.assembly} {b_end} > {a_end}",
        )


class _Plain(dict[float, str]):
    """Figures as text, each made once: few lengths and speeds stand in half a million rows."""

    def __missing__(self, value: float) -> str:
        text = self[value] = f"{value:g}"
        return text


def _legs(links: list[Link], catalog: Catalog) -> Iterator[tuple[list[Link], int]]:
    """The links of every leg with the number of the leg in its piece, in the order of the ledger.

    A plug of a cable fills a cage, so its links between the same two cages are one leg; every leg of a fibre carries
    one link.
    """
    cables = {m for m in {link.medium for link in links} if split_medium_id(m)[0] in catalog.cables}
    joined: dict[tuple[object, ...], list[Link]] = {}
    for link in links:
        if link.medium in cables:
            joined.setdefault(_cages(link), []).append(link)
    legs_of: dict[int, int] = {}
    for link in links:
        together = joined[_cages(link)] if link.medium in cables else [link]
        if together[0] is link:
            number = legs_of[link.assembly] = legs_of.get(link.assembly, 0) + 1
            yield together, number


def _cages(link: Link) -> tuple[object, ...]:
    """The piece and the two cages that a link of a cable joins."""
    return link.assembly, link.a_device, link.a_group, link.a_cage, link.b_device, link.b_group, link.b_cage


# --- racks ------------------------------------------------------------------------------------------------------------


def rack_rows(design: Design, catalog: Catalog) -> Iterator[Sequence[object]]:
    """A row for every device, rack by rack from the lowest unit, with its largest draw, plugs included."""
    # numpy is heavy, and only who writes files should wait for it.
    from gpunet.solver.verify_book import Book
    from gpunet.solver.verify_links import Wiring
    from gpunet.solver.verify_site import Heat

    heat = Heat(Wiring(Book(design, catalog)))
    draw_mw = (heat.body_mw + heat.plugs_mw).tolist()
    rank = {place.name: number for number, place in enumerate(design.ledger.places)}
    order = sorted(
        range(len(draw_mw)),
        key=lambda i: (rank[design.ledger.devices[i].rack], design.ledger.devices[i].unit, i),
    )
    for i in order:
        d = design.ledger.devices[i]
        yield d.name, d.rack, d.unit or "", d.rack_units, d.kind, d.part, d.fabric, d.tier, _watts(draw_mw[i])


def _watts(milliwatts: int) -> str:
    return f"{milliwatts / MILLIWATTS_PER_WATT:.3f}".rstrip("0").rstrip(".")
