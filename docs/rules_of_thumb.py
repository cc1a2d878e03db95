"""Computes the optima that the page of rules of thumb holds them against; ``generate.py`` writes them into it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from gpunet.case_file import case_from_data
from gpunet.catalogs import load_catalog
from gpunet.models.design import FabricDesign
from gpunet.models.parts import Catalog, Switch
from gpunet.report.words import kw, listed, percent
from gpunet.solver.optimize import optimize

SIZES = (16, 32, 64, 128, 256, 512, 1024)
"""GPUs: powers of two, as the rules have them."""
WIDE_GBPS = 400
"""A cage of 400G carries no more than this; one of 800G carries twice as much, split or not."""


class Optimum(NamedTuple):
    """The least cost of a backend and what it is built of."""

    cost_usd: float
    power_max_w: float
    switches: str
    uplinks: str
    modules: int
    wide: bool
    """Whether any of its switches has cages of more than 400G."""


@cache
def parts() -> Catalog:
    """The shipped parts."""
    return load_catalog()


def _wide(switch: Switch) -> bool:
    cages = [cages for cages in switch.cages if cages.fabric]
    return any(mode.ports * mode.speed_gbps > WIDE_GBPS for cage in cages for mode in cage.modes)


@cache
def _optimum(gpus: int, settings: tuple[tuple[str, Any], ...]) -> Optimum:
    backend = {name: list(value) if isinstance(value, tuple) else value for name, value in settings}
    if "switches" in backend:
        backend["parts"] = {"allow": backend.pop("switches")}
    if backend.pop("narrow", False):
        backend["parts"] = {"deny": [switch.id for switch in parts().switches.values() if _wide(switch)]}
    case = case_from_data({"cluster": {"gpus": gpus, "server": "dgx-h100"}, "fabrics": {"backend": backend}}, parts())
    result = optimize(case, parts()).result
    if result.totals is None:
        raise ValueError(f"no design for {gpus} GPUs with {backend}")
    fabric = result.fabrics["backend"]
    speeds = sorted({line.speed_gbps for line in fabric.interconnects if line.link_class != "endpoint-leaf"})
    return Optimum(
        result.totals.cost_usd,
        result.totals.power_max_w,
        _switches(fabric),
        listed([f"{speed:g}G" for speed in speeds]) or "none",
        sum(line.quantity for line in result.bom if line.kind == "module"),
        any(_wide(parts().switches[tier.switch]) for tier in fabric.tiers),
    )


def optimum(gpus: int, **settings: Any) -> Optimum:
    """The cheapest backend for so many GPUs under settings of ``fabrics.backend``.

    ``switches`` allows these alone; ``narrow`` allows none with cages of more than 400G.
    """
    return _optimum(gpus, tuple(sorted(settings.items())))


def _switches(fabric: FabricDesign) -> str:
    """``16 + 8 x `model``` where both tiers have one model, which is named once."""
    models = list(dict.fromkeys(tier.switch for tier in fabric.tiers))
    counts = (" + ".join(str(tier.count) for tier in fabric.tiers if tier.switch == model) for model in models)
    return ", ".join(f"{count} x `{model}`" for count, model in zip(counts, models, strict=True))


def _usd(amount: float) -> str:
    return f"{amount:,.0f}"


Row = tuple[str, ...]


def cages() -> tuple[Row, Iterable[Row], str]:
    """800G from 128 GPUs: the optimum of all switches against that of switches with cages of 400G at most."""
    head = ("GPUs", "all switches USD", "400G at most USD", "dearer by", "kW", "400G at most kW", "cheapest", "uplinks")
    rows = []
    for gpus in SIZES:
        free, narrow = optimum(gpus), optimum(gpus, narrow=True)
        more = "the same" if not free.wide else percent(narrow.cost_usd / free.cost_usd - 1)
        costs = (_usd(free.cost_usd), _usd(narrow.cost_usd), more)
        watts = (kw(free.power_max_w).removesuffix(" kW"), kw(narrow.power_max_w).removesuffix(" kW"))
        rows.append((f"{gpus:,}", *costs, *watts, free.switches, free.uplinks))
    first = next(gpus for gpus in range(8, SIZES[-1], 8) if optimum(gpus).wide)
    largest = max(SIZES, key=lambda gpus: optimum(gpus, narrow=True).cost_usd / optimum(gpus).cost_usd)
    last = SIZES[-1]
    gain = optimum(largest, narrow=True).cost_usd / optimum(largest).cost_usd - 1
    end = optimum(last, narrow=True).cost_usd / optimum(last).cost_usd - 1
    watts = 1 - optimum(last).power_max_w / optimum(last, narrow=True).power_max_w
    said = (
        f"Counting up by servers, {first} GPUs are the first size whose cheapest design has cages of 800G. They are "
        f"worth most at {largest} GPUs, where doing without costs {percent(gain)} more. At {last:,} GPUs that is "
        f"{percent(end)}, but the network with them draws {percent(watts)} less."
    )
    return head, rows, said


def protocols() -> tuple[Row, Iterable[Row], str]:
    """RoCE costs 60 %: each protocol at its own optimum."""
    head = ("GPUs", "InfiniBand USD", "RoCE USD", "RoCE : InfiniBand", "InfiniBand", "RoCE")
    rows, ratios = [], {}
    for gpus in SIZES:
        ib, roce = (optimum(gpus, protocols=(name,)) for name in ("infiniband", "ethernet"))
        ratios[gpus] = roce.cost_usd / ib.cost_usd
        rows.append(
            (f"{gpus:,}", _usd(ib.cost_usd), _usd(roce.cost_usd), percent(ratios[gpus]), ib.switches, roce.switches)
        )
    least, most = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    nearest = min(ratios, key=lambda gpus: abs(ratios[gpus] - 0.6))
    said = (
        f"The share runs from {percent(ratios[least])} at {least} GPUs to {percent(ratios[most])} at {most}; it is "
        f"nearest to 60 % at {nearest} GPUs, with {percent(ratios[nearest])}."
    )
    return head, rows, said


def leaves() -> tuple[Row, Iterable[Row], str]:
    """16 leaves and 8 spines for 256 GPUs: with 32-port switches, with 64-port ones, with any."""
    forced = {"min_leaves": 16, "min_spines": 8}
    small, large = ("eth-dcs240",), ("ib-qm9700",)
    asked = (
        ("any switch", optimum(256)),
        ("any switch, 16 + 8 asked for", optimum(256, **forced)),
        ("32 ports of 400G a switch", optimum(256, switches=small)),
        ("64 ports of 400G a switch, InfiniBand", optimum(256, switches=large)),
        ("the same, 16 + 8 asked for", optimum(256, switches=large, **forced)),
    )
    head = ("allowed", "cheapest", "modules", "USD", "kW")
    rows = [
        (name, found.switches, f"{found.modules}", _usd(found.cost_usd), kw(found.power_max_w).removesuffix(" kW"))
        for name, found in asked
    ]
    any_switch, _, _, least, twice = (found for _, found in asked)
    said = (
        f"On 64-port switches the rule costs {_usd(twice.cost_usd - least.cost_usd)} USD more than the optimum "
        f"({percent(twice.cost_usd / least.cost_usd - 1)}); against the cheapest network of all it costs "
        f"{twice.cost_usd / any_switch.cost_usd:.1f} times as much."
    )
    return head, rows, said
