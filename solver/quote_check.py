"""Whether a quoted list can be cabled: the most links it builds, what stays over and why, and what is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from gpunet.catalogs import medium_id, split_medium_id
from gpunet.models.parts import Cable, Catalog, Fibre, FibreKind
from gpunet.models.quote import Leftover, Missing, OpenPorts, QuoteCheck, QuoteFile
from gpunet.solver.eligible import ORDERABLE
from gpunet.solver.quote_devices import ANY, devices_of
from gpunet.solver.quote_program import SHARES, Pool
from gpunet.solver.quote_search import Built, fewest_missing, most_links, must_be_lit
from gpunet.solver.quote_why import NO_CAGE, Reason, Reasons, takers

MOST_TAKERS = 3
MOST_SHARES = 24
"""Shares up to which a wiring of as many links as the bound is looked for."""
LAID = (FibreKind.JUMPER, FibreKind.SPLITTER, FibreKind.HARNESS)
"""Fibres that run from module to module."""


def check_quote(quote: QuoteFile, catalog: Catalog, have: Mapping[str, int] | None = None) -> QuoteCheck:
    """Check a quote against the rules of optics and the cages it brings.

    ``have`` are pieces that are there beside the list: servers, ``server:role`` for the cages of one role, ``server:*``
    for cages that may be linked and need not, switches, anything of the catalogue. Raises ``ValueError`` for a part of
    ``have`` that the catalogue does not have.
    """
    beside = dict(have or {})
    for part in beside:
        _check_known(part, catalog)
    listed = {line.part: line.quantity for line in quote.lines if line.quantity is not None}
    pieces = {part: listed.get(part, 0) + beside.get(part, 0) for part in sorted({*listed, *beside})}
    built, bound, notes = _most_links(pieces, catalog)
    reasons = Reasons(pieces, catalog)
    leftover = list(_leftover(pieces, built, reasons, catalog))
    hopeless = {x.part: x.of for x in leftover if _reason(x.part, reasons, catalog).kind == NO_CAGE}
    then, missing, is_short = built, dict[str, int](), any(_places(built, pieces, catalog).values())
    if is_short:
        wanted, then, told = _shortest(pieces, hopeless, reasons, catalog)
        missing, notes = wanted.bought, [*notes, *told]
        if not (missing or hopeless or wanted.left):
            # With other links, though not with more of them, everything is of use.
            is_short, leftover = False, list(_leftover(pieces, wanted, reasons, catalog))
    return QuoteCheck(
        quote=quote.title,
        have=beside,
        builds=not is_short,
        links=built.links,
        links_bound=bound,
        used=built.used,
        leftover=tuple(leftover),
        open_ports=tuple(_open(built, pieces, catalog)),
        free_cages=_free(built, pieces, catalog),
        missing=tuple(_missing(part, n, catalog) for part, n in missing.items()),
        links_then=then.links,
        hopeless=hopeless,
        unmatched=tuple(line.sku for line in quote.unmatched),
        without_quantity=tuple(line.part for line in quote.lines if line.quantity is None),
        notes=tuple(notes),
    )


def _check_known(part: str, catalog: Catalog) -> None:
    base, _, role = part.partition(":")
    roles = [cages.role.value for cages in catalog.servers[base].cages] if base in catalog.servers else []
    length = split_medium_id(base)
    media = _media(catalog)
    sold = base in catalog.switches or base in catalog.nics or base in catalog.modules or base in catalog.servers
    roles += [ANY] if base in catalog.servers or base in catalog.nics else []
    if role and role not in roles:
        expected = f"one of {', '.join(roles)}" if roles else "a role of a server"
        raise ValueError(f"found {role!r} in {part!r}, expected {expected}")
    if not sold and not (length[0] in media and any(s.length_m == length[1] for s in media[length[0]].lengths)):
        raise ValueError(f"found {part!r}, expected an id of the catalogue, for a cable or fibre with its length")


# --- the most links ---------------------------------------------------------------------------------------------------


def _most_links(pieces: Mapping[str, int], catalog: Catalog) -> tuple[Built, int, list[str]]:
    """What can be built, how many links no wiring exceeds, and what to say about the search."""
    bound = most_links(Pool(pieces, catalog, shares=1))
    most = max((device.count for device in devices_of(pieces, catalog) if device.switch is not None), default=0)
    shares = SHARES
    while True:
        built = most_links(Pool(pieces, catalog, shares=shares), bound.bound)
        told = [] if built.deals else ["The ports of all switches together hold; switch by switch they may not."]
        if built.links == bound.bound or (built.proven and shares >= most):
            return built, built.links, told
        if shares >= min(most, MOST_SHARES) or not built.proven:
            told += [] if built.proven and bound.proven else ["The search was stopped; more links may be possible."]
            return built, max(bound.bound, built.links), told
        shares *= 2


def _media(catalog: Catalog) -> dict[str, Cable | Fibre]:
    return {**catalog.cables, **catalog.fibres}


def _is_fibre(part: str, catalog: Catalog) -> bool:
    return split_medium_id(part)[0] in catalog.fibres


def _reason(part: str, reasons: Reasons, catalog: Catalog) -> Reason:
    base, length_m = split_medium_id(part)
    if part in catalog.modules:
        return reasons.of_module(catalog.modules[part])
    if base in catalog.cables:
        return reasons.of_cable(catalog.cables[base])
    return reasons.of_fibre(catalog.fibres[base], length_m or 0.0)


def _leftover(pieces: Mapping[str, int], built: Built, reasons: Reasons, catalog: Catalog) -> Iterable[Leftover]:
    for part, count in pieces.items():
        base = split_medium_id(part)[0]
        if part in catalog.modules or base in catalog.cables or base in catalog.fibres:
            over = count - built.used.get(part, 0)
            if over > 0:
                reason = _reason(part, reasons, catalog)
                yield Leftover(part=part, quantity=over, of=count, rule=reason.rule, why=reason.why)


def _open(built: Built, pieces: Mapping[str, int], catalog: Catalog) -> Iterable[OpenPorts]:
    banks = {(d.part, bank.name): d.count * bank.count for d in devices_of(pieces, catalog) for bank in d.banks}
    for (device, bank), cages in built.open_cages.items():
        yield OpenPorts(part=device, cages=bank, quantity=cages, of=banks[device, bank])


def _free(built: Built, pieces: Mapping[str, int], catalog: Catalog) -> dict[str, int]:
    """Empty cages of each switch, management ports not counted."""
    found = {}
    for device in devices_of(pieces, catalog):
        if device.switch is not None:
            cages = device.count * sum(group.count for group in device.switch.cages if group.fabric)
            if free := cages - built.busy_cages.get(device.part, 0):
                found[device.part] = free
    return found


# --- what is missing --------------------------------------------------------------------------------------------------


def _shortest(
    pieces: Mapping[str, int], hopeless: Mapping[str, int], reasons: Reasons, catalog: Catalog
) -> tuple[Built, Built, list[str]]:
    """The shortest list, what is built with it added, and what to say about it."""
    helped = {part: n for part, n in pieces.items() if part not in hopeless}
    notes = [_homeless(part, n, catalog) for part, n in hopeless.items()]
    # Fibres of the kinds on the list, and jumpers; other splitters only where those help no further.
    kinds = {fibre.kind for fibre in reasons.fibres} | {FibreKind.JUMPER}
    for offered_kinds, shares in ((kinds, 1), (kinds, SHARES), ({*LAID}, 1), ({*LAID}, SHARES)):
        offered = _offered(helped, reasons, catalog, offered_kinds)
        wanted = fewest_missing(Pool(helped, catalog, buyable=True, shares=shares, offered=offered))
        if wanted.proven and wanted.left and offered_kinds != {*LAID}:
            continue
        more = _with(helped, wanted.bought, catalog)
        then = _most_links(more, catalog)[0]
        # Where everything has its place, it must have it in the wiring too; else the most links may leave out others.
        if not wanted.proven or wanted.left or not any(_places(then, more, catalog).values()):
            break
    if not wanted.proven:
        notes.append("The search for what is missing was stopped; a shorter list may do.")
    for name, n in wanted.left.items():
        unit = "pieces" if split_medium_id(name)[0] in catalog.cables else "ports"
        notes.append(f"Modules, fibres and more of what is listed give {name} no place: {n:,} {unit} stay over.")
    return wanted, then, notes


def _with(pieces: Mapping[str, int], bought: Mapping[str, int], catalog: Catalog) -> dict[str, int]:
    """The list with what was bought, cables and fibres in their shortest length."""
    media = _media(catalog)
    more = dict(pieces)
    for part, n in bought.items():
        stock = part
        if part in media:
            stock = medium_id(part, min(length.length_m for length in media[part].lengths))
        more[stock] = more.get(stock, 0) + n
    return more


def _places(built: Built, pieces: Mapping[str, int], catalog: Catalog) -> dict[str, int]:
    """What finds no place: cables, ports of modules, cages of servers."""
    found = {f"{device} {bank}": n for (device, bank), n in built.open_cages.items()}
    for part, count in pieces.items():
        if part in catalog.modules:
            found[part] = max(0, must_be_lit(catalog.modules[part], count) - built.lit.get(part, 0))
        elif split_medium_id(part)[0] in catalog.cables:
            found[part] = count - built.used.get(part, 0)
    return found


def _offered(
    pieces: Mapping[str, int], reasons: Reasons, catalog: Catalog, kinds: Collection[FibreKind]
) -> frozenset[str]:
    """Modules that could be a mate of one on the list or fill the cages of a server, and fibres to join them."""
    listed = {split_medium_id(part)[0] for part in pieces}
    has_hosts = any(bank.must_link for device in devices_of(pieces, catalog) for bank in device.banks)
    classes = {catalog.interfaces[m.interface].lane_class for m in reasons.modules if m.interface is not None}
    found = {base for base in listed if base in catalog.modules or base in catalog.cables or base in catalog.fibres}
    for module in catalog.modules.values():
        if module.interface is None or module.status not in ORDERABLE or module.id in found:
            continue
        is_mate = catalog.interfaces[module.interface].lane_class in classes
        if (is_mate or (has_hosts and not classes)) and reasons.seats(module):
            found.add(module.id)
    found |= {f.id for f in catalog.fibres.values() if f.kind in kinds and f.status in ORDERABLE}
    return frozenset(found)


def _homeless(part: str, count: int, catalog: Catalog) -> str:
    """Where parts without a cage on the list could go, in words."""
    module = catalog.modules.get(part)
    known = takers(catalog, module) if module is not None else []
    text = f"{count:,} x {part} find no cage on the list"
    if not known:
        return f"{text}."
    some = ", ".join(known[:MOST_TAKERS]) + (
        f" and {len(known) - MOST_TAKERS} more" if len(known) > MOST_TAKERS else ""
    )
    return f"{text}; {some} have cages for it. If such are there already, say so with --have {known[0]}=N."


def _missing(part: str, count: int, catalog: Catalog) -> Missing:
    medium = catalog.fibres.get(part) or catalog.cables.get(part)
    if medium is not None:
        price = min(medium.lengths, key=lambda stock: stock.length_m).price
    else:
        item = catalog.modules.get(part) or catalog.switches[part]
        if item.price is None:
            return Missing(part=part, quantity=count)
        price = item.price
    return Missing(part=part, quantity=count, unit_usd=price.cents() / 100)
