"""Names of stock lengths: each length of a cable or fibre is a part of its own on the bill."""

from __future__ import annotations

import re
from functools import lru_cache

_MEDIUM_ID = re.compile(r"(?P<base>.+)-n(?P<metres>\d{3,}(?:\.\d*[1-9])?)")


def medium_id(base_id: str, length_m: float) -> str:
    """Id of one stock length: the id of the cable or fibre, ``-n`` and the metres in at least three digits.

    30 m of ``nv-mfp7e10`` is ``nv-mfp7e10-n030``, half a metre of ``nv-mcp4y10`` is ``nv-mcp4y10-n000.5``.
    Lengths are kept to the millimetre. Raises ``ValueError`` where that leaves no length.
    """
    millimetres = round(length_m * 1000)
    if millimetres <= 0:
        raise ValueError(f"a stock length must be at least a millimetre, not {length_m} m")
    metres, rest = divmod(millimetres, 1000)
    return f"{base_id}-n{metres:03d}" + (f".{rest:03d}".rstrip("0") if rest else "")


@lru_cache(maxsize=4096)
def split_medium_id(part_id: str) -> tuple[str, float | None]:
    """Base id and length, m, of an id made by ``medium_id``; any other id comes back with no length."""
    match = _MEDIUM_ID.fullmatch(part_id)
    return (match["base"], float(match["metres"])) if match else (part_id, None)
