"""The parts that can be bought, as YAML with evidence for every number, and the code that reads and checks them."""

from gpunet.catalogs.load import PART_KINDS, find_part, load_catalog, part_kind
from gpunet.catalogs.media import medium_id, split_medium_id

__all__ = ["PART_KINDS", "find_part", "load_catalog", "medium_id", "part_kind", "split_medium_id"]
