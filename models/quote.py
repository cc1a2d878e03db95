"""Quotes: what a supplier offers, as a file of its own, and what became of the lines of the supplier's document."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveInt, field_validator, model_validator

from gpunet.models.base import Strict

Name = Annotated[str, Field(min_length=1)]
DAY = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
"""A day, ISO 8601; as text, earlier days sort first."""
Day = Annotated[str, Field(pattern=DAY)]


class QuoteStep(Strict):
    """A lower price from some quantity on."""

    from_pieces: int = Field(ge=2)
    """Pieces ordered from which the price holds, for all of them."""
    unit_usd: NonNegativeFloat
    """Price of one piece, USD."""


class QuoteLine(Strict):
    """One part in a quote."""

    part: Name
    """Catalogue id; for a cable or fibre with its length, such as ``nv-mfp7e10-n030``."""
    unit_usd: NonNegativeFloat
    """Price of one piece, USD."""
    quantity: PositiveInt | None = None
    """Pieces in the quoted list; empty for a price without a quantity."""
    at_most: PositiveInt | None = None
    """Most pieces the supplier can deliver; empty where no limit is stated."""
    minimum: PositiveInt | None = None
    """Fewest pieces the supplier sells; empty where none is stated."""
    steps: tuple[QuoteStep, ...] = ()
    """Prices by the quantity ordered, each for all pieces; below the first, ``unit_usd`` holds."""
    lead_time_weeks: NonNegativeFloat | None = None
    """Delivery time, weeks; empty where none is stated."""
    sku: str = ""
    """Part number as the supplier writes it."""


class UnmatchedLine(Strict):
    """A line of the supplier's document that names no part of the catalogue. Kept for the record; it prices nothing."""

    sku: str
    """Part number as the supplier writes it."""
    description: str = ""
    """The supplier's words."""
    quantity: PositiveInt | None = None
    """Pieces in the quoted list."""
    unit_usd: NonNegativeFloat | None = None
    """Price of one piece, USD."""
    nearest: tuple[str, ...] = ()
    """Catalogue ids that come closest. None of them is taken for the part."""
    why: str = ""
    """Why it is none of the catalogue's parts, in words."""
    row: PositiveInt | None = None
    """Row of the supplier's document, from 1."""


class QuoteFile(Strict):
    """What one supplier offers: a quote file."""

    supplier: Name
    """Who offers, as it stands on the bill."""
    reference: str = ""
    """The supplier's number of the quote."""
    currency: Literal["USD"] = "USD"
    """Currency; every price of gpunet is in USD, so no other is taken."""
    date: Day | None = None
    """Day of the quote, ISO 8601."""
    valid_until: Day | None = None
    """Last day on which the prices hold, ISO 8601; empty for no end."""
    lines: tuple[QuoteLine, ...] = Field(min_length=1)
    """Parts, each at most once."""
    unmatched: tuple[UnmatchedLine, ...] = ()
    """Lines of the document that name no part of the catalogue."""

    @field_validator("lines")
    @classmethod
    def _parts_differ(cls, value: tuple[QuoteLine, ...]) -> tuple[QuoteLine, ...]:
        seen: set[str] = set()
        for line in value:
            if line.part in seen:
                raise ValueError(f"{line.part} is quoted twice; give one line per part")
            seen.add(line.part)
        return value

    @model_validator(mode="after")
    def _valid_after_its_date(self) -> QuoteFile:
        if self.date is not None and self.valid_until is not None and self.valid_until < self.date:
            raise ValueError(f"valid_until {self.valid_until} is before date {self.date}")
        return self

    @property
    def title(self) -> str:
        """Supplier and number, as reports show them."""
        return f"{self.supplier} {self.reference}".rstrip()

    def has_lapsed(self, day: str) -> bool:
        """Whether the prices no longer hold on a day, ISO 8601."""
        return self.valid_until is not None and self.valid_until < day


class Match(Strict):
    """A row of the supplier's document and the part it is."""

    row: PositiveInt
    """Row of the document, from 1."""
    sku: str
    """Part number as the supplier writes it."""
    part: str
    """Catalogue id, with its length for a cable or fibre."""
    by: str
    """What the number was found by: ``id``, ``part number``, ``model``, ``length`` or ``--as``."""


class QuoteImport(Strict):
    """What ``gpunet quote import`` found in a supplier's document."""

    file: str
    """The document."""
    quote: QuoteFile
    """The quote, ready to be written."""
    columns: dict[str, str]
    """What each column was taken for: meaning -> heading."""
    matches: tuple[Match, ...]
    """Rows whose part is known."""
    notes: tuple[str, ...] = ()
    """What a reader should look at: rows left out, sums that do not add up."""
    lapsed_on: Day | None = None
    """The day of the import, where the quote was no longer valid on it."""


class Leftover(Strict):
    """Pieces that no link uses when as many links as possible are built."""

    part: str
    """Catalogue id, with its length for a cable or fibre."""
    quantity: PositiveInt
    """Pieces left over."""
    of: PositiveInt
    """Pieces there are."""
    rule: str
    """Rule of the optics page that is broken, such as ``R5``; empty where only numbers are short."""
    why: str
    """Why, in words."""


class Missing(Strict):
    """A part that must be bought beside the list."""

    part: str
    """Catalogue id; for a cable or fibre without its length, which depends on the room, unless a case gives it."""
    quantity: PositiveInt
    """Pieces."""
    unit_usd: NonNegativeFloat | None = None
    """Price of one piece in the catalogue, of the shortest length for a cable or fibre, USD."""


class OpenPorts(Strict):
    """Ports of servers or network cards that get no link."""

    part: str
    """Catalogue id of the server or card."""
    cages: str
    """Name of the group of cages."""
    quantity: PositiveInt
    """Cages without a link, of all pieces together."""
    of: PositiveInt
    """Cages there are."""


class CaseFit(Strict):
    """Whether a list builds a design of a case."""

    case: str
    """Name of the case."""
    status: str
    """``builds``, ``incomplete``, ``infeasible`` where the case has no design from any parts, or how a solver ended."""
    missing: tuple[Missing, ...] = ()
    """The cheapest parts to add so that the list builds a design."""
    missing_usd: float = 0.0
    """What they cost at catalogue prices, USD."""
    used: dict[str, int] = Field(default_factory=dict)
    """Pieces of the list that the design uses."""
    surplus: dict[str, int] = Field(default_factory=dict)
    """Pieces of the list that it does not use."""
    switches: dict[str, int] = Field(default_factory=dict)
    """Switches of the design: fabric, tier and part -> how many."""
    notes: tuple[str, ...] = ()
    """What a reader should know."""


class QuoteCheck(Strict):
    """The answer of ``gpunet quote check``."""

    quote: str
    """Supplier and number."""
    have: dict[str, int]
    """Pieces that are there beside the list."""
    builds: bool
    """Whether every module and cable of the list finds its place, and every cage of a server or card a link."""
    links: int = Field(ge=0)
    """Most links that can be built from the list, port to port."""
    links_bound: int = Field(ge=0)
    """Number of links that no way of cabling exceeds; equal to ``links`` when that is proven the most."""
    used: dict[str, int]
    """Pieces at work in those links, as few as do."""
    leftover: tuple[Leftover, ...]
    """Modules, cables and fibres that stay over."""
    open_ports: tuple[OpenPorts, ...]
    """Ports of servers and cards without a link."""
    free_cages: dict[str, int]
    """Cages of switches that stay empty, by switch."""
    missing: tuple[Missing, ...]
    """The shortest list of parts with which every module, every cable and every server port is used."""
    links_then: int = Field(ge=0)
    """Links with these parts added."""
    hopeless: dict[str, int]
    """Pieces that no part of the catalogue helps, for nothing on the list has a cage for them."""
    unmatched: tuple[str, ...] = ()
    """Numbers of the quote that are no parts of the catalogue; nothing is known of them."""
    without_quantity: tuple[str, ...] = ()
    """Parts that are quoted without a quantity; they are no part of the list."""
    fit: CaseFit | None = None
    """Whether the list builds a design of a case, where one was given."""
    notes: tuple[str, ...] = ()
    """What a reader should know: a quote that has lapsed, a search that was not finished."""
