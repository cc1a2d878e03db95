"""The words NetBox has for roles, interfaces and cables."""

from __future__ import annotations

from gpunet.models.parts import CableKind, CageGroup, FormFactor, PortMode, Shell

GENERIC = "generic"
"""Manufacturer of what no catalogue entry describes."""
ROLE_NAMES = {
    "leaf": "Leaf switch",
    "spine": "Spine switch",
    "core": "Core switch",
    "server": "GPU server",
    "storage-server": "Storage server",
    "reserved": "Reserved endpoint",
    "pdu": "PDU",
}
"""Names of device roles by tier, or by kind for anything but a switch."""
ROLE_COLORS = {
    "Leaf switch": "2196f3",
    "Spine switch": "3f51b5",
    "Core switch": "673ab7",
    "GPU server": "4caf50",
    "Storage server": "ff9800",
    "Reserved endpoint": "9e9e9e",
    "PDU": "607d8b",
}
"""Colours of device roles, RGB."""
CABLE_TYPES = {
    CableKind.DAC: "dac-passive",
    CableKind.ACC: "dac-active",
    CableKind.AEC: "dac-active",
    CableKind.AOC: "aoc",
    CableKind.COPPER: "cat6a",
}
"""Types of cables; the copper cables of the catalogue are category 6A."""
FIBRE_TYPES = {"OM3": "mmf-om3", "OM4": "mmf-om4", "OM5": "mmf-om5", "OS2": "smf-os2"}
"""Types of fibres by grade."""
ETHERNET_TYPES = {
    (FormFactor.RJ45, 1): "1000base-t",
    (FormFactor.RJ45, 10): "10gbase-t",
    (FormFactor.SFP, 1): "1000base-x-sfp",
    (FormFactor.SFP_PLUS, 1): "1000base-x-sfp",
    (FormFactor.SFP_PLUS, 10): "10gbase-x-sfpp",
    (FormFactor.SFP28, 10): "10gbase-x-sfpp",
    (FormFactor.SFP28, 25): "25gbase-x-sfp28",
    (FormFactor.SFP56, 25): "25gbase-x-sfp28",
    (FormFactor.SFP56, 50): "50gbase-x-sfp56",
    (FormFactor.SFP_DD, 100): "100gbase-x-sfpdd",
    (FormFactor.QSFP28, 50): "50gbase-x-sfp28",
    (FormFactor.QSFP28, 100): "100gbase-x-qsfp28",
    (FormFactor.QSFP56, 100): "100gbase-x-qsfp28",
    (FormFactor.QSFP56, 200): "200gbase-x-qsfp56",
    (FormFactor.QSFP112, 100): "100gbase-x-qsfp28",
    (FormFactor.QSFP112, 200): "200gbase-x-qsfp56",
    (FormFactor.QSFP112, 400): "400gbase-x-qsfp112",
    (FormFactor.QSFP_DD, 100): "100gbase-x-qsfpdd",
    (FormFactor.QSFP_DD, 200): "200gbase-x-qsfpdd",
    (FormFactor.QSFP_DD, 400): "400gbase-x-qsfpdd",
    (FormFactor.QSFP_DD800, 100): "100gbase-x-qsfpdd",
    (FormFactor.QSFP_DD800, 200): "200gbase-x-qsfpdd",
    (FormFactor.QSFP_DD800, 400): "400gbase-x-qsfpdd",
    (FormFactor.QSFP_DD800, 800): "800gbase-x-qsfpdd",
    (FormFactor.OSFP, 400): "400gbase-x-osfp",
    (FormFactor.OSFP, 800): "800gbase-x-osfp",
    (FormFactor.OSFP224, 400): "400gbase-x-osfp",
    (FormFactor.OSFP224, 800): "800gbase-x-osfp",
}
"""Types of Ethernet interfaces by cage and speed in Gb/s; NetBox has no word for the rest."""
FLAT_OSFP = "400gbase-x-osfp-rhs"
INFINIBAND_TYPES = {25: "infiniband-edr", 50: "infiniband-hdr", 100: "infiniband-ndr", 200: "infiniband-xdr"}
"""Types of InfiniBand interfaces by the rate of a lane in Gb/s: NDR200 is two lanes of NDR."""
OTHER = "other"


def ethernet_type(cages: CageGroup, speed_gbps: float) -> str:
    """NetBox's type for an Ethernet port of a cage at a speed; ``other`` where it has none."""
    kind = ETHERNET_TYPES.get((cages.form_factor, round(speed_gbps)), OTHER)
    return FLAT_OSFP if kind == ETHERNET_TYPES[FormFactor.OSFP, 400] and cages.shell is Shell.RHS else kind


def infiniband_type(mode: PortMode | None) -> str:
    """NetBox's type for an InfiniBand port of a cage in a mode; ``other`` where it has none."""
    return INFINIBAND_TYPES.get(round(mode.lane_gbps), OTHER) if mode else OTHER
