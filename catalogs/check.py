"""Checks a catalogue: does every figure name its source, do the facts of a part agree, can the part be used at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from pydantic import BaseModel

from gpunet.catalogs.check_mates import unusable_parts
from gpunet.catalogs.check_parts import contradictions
from gpunet.catalogs.findings import Finding, Level
from gpunet.catalogs.load import FILES, find_part
from gpunet.catalogs.media import split_medium_id
from gpunet.models.evidence import Fact, How, Price, Source
from gpunet.models.parts import Airflow, CageGroup, Catalog, OpticalInterface

__all__ = ["Finding", "Level", "check_catalog"]

_LEVELS = tuple(Level)
_SOURCED = (Airflow, Fact, Price, CageGroup, OpticalInterface)


def check_catalog(catalog: Catalog, today: date | None = None) -> list[Finding]:
    """Everything worth knowing about a catalogue: errors first, then warnings, then notes.

    Errors: sources that are not listed, impossible dates, ids that collide, contradictions within a part. Warnings:
    parts that nothing in the catalogue can be joined with. Notes: for each part, what is estimated and, with ``today``
    given, which figures are more than a year old; also prices that fall with length, and parts without a price.
    """
    findings = [
        *_ids(catalog),
        *_evidence(catalog, today),
        *contradictions(catalog),
        *unusable_parts(catalog),
        *_without_price(catalog),
    ]
    return sorted(findings, key=lambda finding: _LEVELS.index(finding.level))


def _ids(catalog: Catalog) -> Iterator[Finding]:
    homes: dict[str, str] = {}
    for stem, entry in FILES.items():
        for key, item in getattr(catalog, stem).items():
            if stem != "sources" and item.id != key:
                yield Finding(Level.ERROR, stem, key, f"the entry is filed under {key} and calls itself {item.id}")
            if not entry.kind:
                continue
            if homes.setdefault(key, stem) != stem:
                yield Finding(Level.ERROR, stem, key, f"{homes[key]} has a part of this id already")
            if split_medium_id(key)[1] is not None:
                yield Finding(Level.ERROR, stem, key, "an id may not end like a stock length (-n030)")
    for key, switch in catalog.switches.items():
        for name in (*switch.refuses_modules, *switch.limits_modules):
            if find_part(catalog, name) is None:
                yield Finding(Level.ERROR, "switches", key, f"names {name}, which the catalogue does not have")


def _evidence(catalog: Catalog, today: date | None) -> Iterator[Finding]:
    """Sources that are not listed, dates that are none, and the lists of what is estimated and what is old."""
    for key, source in catalog.sources.items():
        if (problem := _date_problem(source.date, today)) is not None:
            yield Finding(Level.ERROR, "sources", key, problem, "date")
    for stem in FILES:
        for key, item in getattr(catalog, stem).items() if stem != "sources" else ():
            estimated: list[str] = []
            old: list[str] = []
            for path, sourced in _sourced(item, ""):
                for name in sourced.src.split("+"):
                    if name not in catalog.sources:
                        message = f"source {name!r} is not in sources.yaml"
                        yield Finding(Level.ERROR, stem, key, message, f"{path}.src".lstrip("."))
                stated = getattr(sourced, "date", "")
                if stated and (problem := _date_problem(stated, today)) is not None:
                    yield Finding(Level.ERROR, stem, key, problem, f"{path}.date")
                if sourced.how is How.ESTIMATED:
                    estimated.append(path)
                elif today and (when := stated or _newest(sourced.src, catalog.sources)) and _is_old(when, today):
                    old.append(f"{path} ({when})")
            if estimated:
                yield Finding(Level.INFO, stem, key, f"estimated: {', '.join(estimated)}")
            if old:
                yield Finding(Level.INFO, stem, key, f"more than a year old: {', '.join(old)}")


def _sourced(value: object, path: str) -> Iterator[tuple[str, Airflow | Fact | Price | CageGroup | OpticalInterface]]:
    """Everything with a source inside a part, with its place."""
    if isinstance(value, _SOURCED):
        yield path, value
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _sourced(getattr(value, name), f"{path}.{name}" if path else name)
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _sourced(item, f"{path}[{number}]")


def _newest(keys: str, sources: dict[str, Source]) -> str:
    """Date of the newest of the sources that stand behind a figure; empty where none is listed."""
    return max((sources[key].date for key in keys.split("+") if key in sources), default="")


def _earliest_day(text: str) -> date:
    """First day of a date given as ``2026``, ``2026-09`` or ``2026-09-22``. Raises ``ValueError`` for other text."""
    if len(text) not in (4, 7, 10):
        raise ValueError(text)
    return date.fromisoformat(text + "-01-01"[len(text) - 4 :])


def _date_problem(text: str, today: date | None) -> str | None:
    try:
        first = _earliest_day(text)
    except ValueError:
        return f"found {text!r}, expected a date such as 2026-09-22, 2026-09 or 2026"
    return f"{text} lies in the future" if today and first > today else None


def _is_old(text: str, today: date) -> bool:
    """Whether even the last day that a date may mean is more than a year ago."""
    try:
        first = _earliest_day(text)
    except ValueError:
        return False
    match len(text):
        case 4:
            last = first.replace(month=12, day=31)
        case 7:
            last = first.replace(day=28)
        case _:
            last = first
    return (today - last).days > 366


def _without_price(catalog: Catalog) -> Iterable[Finding]:
    for stem in ("switches", "modules", "nics"):
        for key, part in getattr(catalog, stem).items():
            if part.price is None:
                yield Finding(Level.INFO, stem, key, "no price: never chosen unless the case gives one")
