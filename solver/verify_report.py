"""Collects what a check finds and turns it into one line a person can act on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpunet.models.design import Check

SHOWN = 20
"""Violations named in a detail; the rest are counted."""


class Findings:
    """The violations of one check, in the order found; only the first ``SHOWN`` are put into words."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self._shown: list[str] = []

    def add(self, text: str) -> None:
        """One violation."""
        self.count += 1
        if len(self._shown) < SHOWN:
            self._shown.append(text)

    def add_rows(self, rows: Iterable[int], words: Callable[[int], str]) -> None:
        """One violation for each row; ``words`` is called only for the rows that are named."""
        for row in rows:
            self.count += 1
            if len(self._shown) < SHOWN:
                self._shown.append(words(int(row)))

    def check(self, held: str) -> Check:
        """The check: passed with the detail ``held`` when nothing was found, else failed with the violations."""
        if not self.count:
            return Check(name=self.name, passed=True, detail=held)
        left = self.count - len(self._shown)
        more = f"; and {left:,} more" if left else ""
        noun = "violation" if self.count == 1 else "violations"
        return Check(name=self.name, passed=False, detail=f"{self.count:,} {noun}: {'; '.join(self._shown)}{more}")
