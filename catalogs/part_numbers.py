"""Finds parts of the catalogue by the numbers that suppliers write, lengths included.

Vendors put the length into the number: ``MFP7E10-N030`` is 30 m, ``MCP4Y10-N00A`` half a metre and ``-N01A`` one and a
half. The catalogue lists numbers the way vendors print them: one by one, as a range (``MFP7E10-N003..N050``), with
what changes alone (``-H005V``), or with x for the length (``DAC-SFP-25G-xM``). All of them become plain numbers here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpunet.catalogs.load import FILES
from gpunet.catalogs.media import medium_id, split_medium_id
from gpunet.models.parts import Cable, Catalog, Fibre, Nic, Part, Server, Switch

MOST_NEAREST = 3
LEAST_LIKENESS = 0.6
"""Share of characters in common from which two numbers count as close."""
_SHORTEST_CONTAINED = 4
"""A number this short that stands within another says nothing about it."""

_SHORTEST_NAME = 5
"""A word of a model this long that holds a digit names it."""
_ORDER_CODE = "980-"
"""How NVIDIA's order codes begin; they change with the length in more than the length."""
_NO_NAME = re.compile(r"\d+x.*|\d+[GT]|x\d+|[QO]?SFP(\d+|-DD\d*)?|-.*")

_CODE = re.compile(r"(?<=[NHWECXA])(?P<code>\d\d[\dA])(?![\d])")
_RANGE = re.compile(r"(?P<stem>.+-[A-Z])(?P<first>\d\d[\dA])\.\.[A-Z](?P<last>\d\d[\dA])")
_TAIL = re.compile(r"(?P<stem>.*\D)(?P<code>\d{2,3})M?")
_METRES = re.compile(r"(?P<stem>.*?)[\s,;/-]+(?P<metres>\d+(?:[.,]\d+)?)\s*(?:m|mtr|meters?|metres?)\.?", re.IGNORECASE)
_STEM = re.compile(r"[A-Z0-9]+(?=-)")
_ANY_LENGTH = re.compile(r"(?<=[NHWECXA])\d\d[\dA](?!\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """What a supplier's number stands for."""

    part: str | None
    """Catalogue id, with its length for a cable or fibre; none where no part, or more than one, has that number."""
    by: str = ""
    """``id``, ``part number``, ``model`` or ``length``."""
    nearest: tuple[str, ...] = ()
    """Without a part: the ids that come closest."""
    why: str = ""
    """Without a part: what is in the way, in words."""


def folded(number: str) -> str:
    """A number as it is compared: upper and lower case, spaces and the kind of dash make no difference."""
    return re.sub(r"\s+", "", number).replace("–", "-").replace("—", "-").replace("‑", "-").casefold()


class PartNumbers:
    """Every name and number of a catalogue's parts."""

    def __init__(self, catalog: Catalog) -> None:
        self._media: dict[str, Cable | Fibre] = {**catalog.cables, **catalog.fibres}
        self._known: dict[str, dict[str, str]] = {}
        """Folded number -> id -> what kind of name it is. An id of a cable or fibre without length asks for one."""
        self._families: dict[str, str] = {}
        """Folded number with its length left out -> id of the cable or fibre."""
        for stem, entry in FILES.items():
            if entry.kind:
                for part in getattr(catalog, stem).values():
                    for number, target, by in _names(part):
                        self._known.setdefault(folded(number), {}).setdefault(target, by)
                        base, length_m = split_medium_id(target)
                        if length_m is not None and by == "part number" and not number.startswith(_ORDER_CODE):
                            self._families[_without_length(number)] = base

    def find(self, number: str, length_m: float | None = None) -> Found:
        """The part with a number. ``length_m`` is a length that the supplier states apart from the number, m.

        A number that several parts have, that lacks a length or names one that is not sold finds none of them.
        """
        here, by, length_m = self._named(number, length_m)
        if not here:
            return Found(None, nearest=self._nearest(number), why="no part of the catalogue has this number")
        if len(here) > 1:
            names = tuple(sorted(here))
            return Found(
                None, nearest=names[:MOST_NEAREST], why=f"{len(names)} parts of the catalogue have this number"
            )
        ((target, named_by),) = here.items()
        if target not in self._media:
            return Found(target, named_by)
        stocks = [stock.length_m for stock in self._media[target].lengths]
        if length_m in stocks:
            return Found(medium_id(target, length_m), by)
        if length_m is None:
            nearest = tuple(medium_id(target, metres) for metres in stocks[:MOST_NEAREST])
            return Found(None, nearest=nearest, why=f"{target} is sold by length, and no length is given")
        closest = min(stocks, key=lambda stock: (abs(stock - length_m), stock))
        return Found(
            None, nearest=(medium_id(target, closest),), why=f"the catalogue has no {target} of {length_m:g} m"
        )

    def _named(self, number: str, length_m: float | None) -> tuple[dict[str, str], str, float | None]:
        """Ids that have the number, what it was found by where a length was apart, and that length."""
        wanted = folded(number)
        here = self._known.get(wanted, {})
        exact = {target: by for target, by in here.items() if by == "id"}
        if here:
            return exact or here, "length", length_m
        base, length_in_id = split_medium_id(wanted)
        if length_in_id is not None and base in self._media:
            return {base: "id"}, "id", length_in_id
        family, code = self._families.get(_without_length(number)), _ANY_LENGTH.search(wanted)
        if family is not None and code is not None:
            return {family: "part number"}, "part number", _metres(code[0].upper())
        apart = _METRES.fullmatch(number.strip())
        if apart:
            return self._known.get(folded(apart["stem"]), {}), "length", float(apart["metres"].replace(",", "."))
        return {}, "", None

    def _nearest(self, number: str) -> tuple[str, ...]:
        """Ids whose numbers stand within this one, the longest first, else those that look most like it."""
        wanted = folded(number)
        within = [known for known in self._known if len(known) >= _SHORTEST_CONTAINED and known in wanted]
        if wanted and len(wanted) >= _SHORTEST_CONTAINED:
            within += [known for known in self._known if known.startswith(wanted)]
        close = sorted(within, key=lambda known: (-len(known), known)) or difflib.get_close_matches(
            wanted, list(self._known), n=MOST_NEAREST, cutoff=LEAST_LIKENESS
        )
        ids = dict.fromkeys(target for known in close for target in self._known[known])
        return tuple(ids)[:MOST_NEAREST]


def _without_length(number: str) -> str:
    return _ANY_LENGTH.sub("*", folded(number), count=1)


def _names(part: Part) -> Iterator[tuple[str, str, str]]:
    """(name, id, kind of name) of a part and of its stock lengths."""
    yield part.id, part.id, "id"
    media = part if isinstance(part, Cable | Fibre) else None
    if media is not None:
        for stock in media.lengths:
            yield medium_id(part.id, stock.length_m), medium_id(part.id, stock.length_m), "id"
    numbered = _with_lengths(media) if media is not None else ((number, None) for number in part.part_numbers)
    for number, length_m in numbered:
        yield number, part.id if length_m is None else medium_id(part.id, length_m), "part number"
    yield from ((name, part.id, "model") for name in _model_names(part))


def _model_names(part: Part) -> Iterator[str]:
    """The model as the vendor writes it, and the words of it that by themselves mean this model and no other thing:
    ``QM9700/QM9790`` is two names, of ``NVIDIA DGX H100`` the vendor may be left out, ``2x100G`` names nothing."""
    yield part.model
    first, _, rest = part.model.partition(" ")
    if isinstance(part, Server):
        yield rest
    words = re.split(r"[\s/;,()=]+", part.model) if isinstance(part, Switch | Nic | Server) else [first]
    for word in words:
        if len(word) >= _SHORTEST_NAME and re.search(r"\d", word) and not _NO_NAME.fullmatch(word):
            yield word


def _with_lengths(part: Cable | Fibre) -> Iterator[tuple[str, float | None]]:
    """Numbers of a cable or fibre with the stock length each stands for; none where it leaves the length open."""
    stocks = [stock.length_m for stock in part.lengths]
    stem = ""
    for entry in part.part_numbers:
        if not entry.startswith("-") and " " in entry:
            yield entry, None
        for word in re.sub(r"\(.*?\)|=.*", " ", entry).split():
            if word.startswith("-"):
                word = stem + word
            elif found := _STEM.match(word):
                stem = found[0]
            yield from _expanded(word, stocks)


def _expanded(word: str, stocks: list[float]) -> Iterator[tuple[str, float | None]]:
    whole = _RANGE.fullmatch(word)
    marks = re.search(r"(?<=[-A-Z0])x+(?=M?$)", word)
    if whole:
        yield whole["stem"].rsplit("-", 1)[0], None
        ends = _metres(whole["first"]), _metres(whole["last"])
        yield from ((f"{whole['stem']}{_code(m)}", m) for m in stocks if ends[0] <= m <= ends[1])
    elif marks:
        for stock_m in stocks:
            for digits in _x_codes(marks[0], stock_m):
                yield f"{word[: marks.start()]}{digits}{word[marks.end() :]}", stock_m
    else:
        found = _CODE.search(word, word.find("-") + 1) or _TAIL.fullmatch(word)
        length_m = _metres(found["code"]) if found else None
        if length_m in stocks:
            yield word, length_m
        elif len(stocks) == 1 and found:
            yield word, stocks[0]


def _metres(code: str) -> float:
    """``030`` is 30 m, ``00A`` half a metre, ``01A`` one and a half."""
    return int(code[:-1]) + 0.5 if code.endswith("A") else float(int(code))


def _code(length_m: float) -> str:
    return f"{int(length_m):02d}A" if length_m % 1 == 0.5 else f"{int(length_m):03d}"


def _x_codes(marks: str, length_m: float) -> Iterator[str]:
    """Ways to write a length where the number has so many x: any decimal for one, a code of fixed width for more."""
    if len(marks) == 1:
        yield f"{length_m:g}"
    elif length_m % 1 == 0.5:
        yield _code(length_m)[-len(marks) :]
    elif length_m < 10 ** len(marks):
        yield f"{int(length_m):0{len(marks)}d}"
