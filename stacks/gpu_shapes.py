"""The GPU shapes a pool may ask for, and which ones a person may have meant.

Figures are those of Karpenter 1.14.1: its instance type reference, and its built-in price list.
"""

from __future__ import annotations

import csv
import difflib
import math
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# On-demand list prices of us-east-1 on this day. Other regions, contracts and days differ; they
# order and size things, they are not a bill.
PRICE_DATE = "2026-07-06"
PRICE_REGION = "us-east-1"
_TABLE = Path(__file__).with_name("gpu_shapes.csv")
_GPU_TEXT = re.compile(r"([1-9][0-9]?)[xX](.+)")
_SIZE = re.compile(r"([1-9][0-9]{0,3})?xlarge")


@dataclass(frozen=True, slots=True)
class GpuShape:
    """One EC2 instance type. What a pod can get is allocatable minus the daemons of its node."""

    name: str
    gpus: int
    gpu: str  # product name, with the memory where one name has two sizes
    gpu_memory_mib: int
    vcpus: int
    memory_gib: int
    efa_interfaces: int
    network_gbps: float
    nvme_gb: int
    allocatable_cpu_millis: int
    allocatable_memory_mib: int
    dollars_per_hour: float | None  # None: not in the price list

    @property
    def gpu_text(self) -> str:
        """As people write it: `8xL40S`."""
        return f"{self.gpus}x{self.gpu}"


@cache
def catalogue() -> dict[str, GpuShape]:
    with _TABLE.open(newline="", encoding="utf-8") as file:
        return {row["shape"]: _shape(row) for row in csv.DictReader(file)}


def _shape(row: dict[str, str]) -> GpuShape:
    price = row["dollars_per_hour"]
    return GpuShape(
        name=row["shape"],
        gpus=int(row["gpus"]),
        gpu=row["gpu"],
        gpu_memory_mib=int(row["gpu_memory_mib"]),
        vcpus=int(row["vcpus"]),
        memory_gib=int(row["memory_gib"]),
        efa_interfaces=int(row["efa_interfaces"]),
        network_gbps=float(row["network_gbps"]),
        nvme_gb=int(row["nvme_gb"]),
        allocatable_cpu_millis=int(row["allocatable_cpu_millis"]),
        allocatable_memory_mib=int(row["allocatable_memory_mib"]),
        dollars_per_hour=float(price) if price else None,
    )


def gpu_texts() -> list[str]:
    """Every `<count>x<GPU>` that some shape offers, sorted by GPU and count."""
    offered = {(shape.gpu, shape.gpus) for shape in catalogue().values()}
    return [f"{count}x{gpu}" for gpu, count in sorted(offered)]


def shapes_with(gpu_text: str) -> list[GpuShape]:
    """The shapes with exactly these GPUs, smallest first."""
    found = [shape for shape in catalogue().values() if shape.gpu_text == gpu_text]
    return sorted(found, key=lambda shape: (shape.vcpus, shape.name))


def nearest_shapes(text: str, count: int = 3) -> list[str]:
    """Same family by closeness of size; otherwise the names that look most alike."""
    family, _, size = text.strip().lower().partition(".")
    relatives = [name for name in catalogue() if re.match(rf"{re.escape(family)}[.-]", name)]
    if relatives:
        wanted = _SIZE.fullmatch(size)
        if wanted is None:  # not a size at all: perhaps a slip of the finger
            close = difflib.get_close_matches(text.strip().lower(), relatives, count, cutoff=0.8)
            relatives = close or relatives
            return relatives[:count]
        return sorted(relatives, key=lambda name: _size_distance(name, wanted))[:count]
    return difflib.get_close_matches(text.strip().lower(), catalogue(), count, cutoff=0.5)


def nearest_gpu_texts(text: str, count: int = 3) -> list[str]:
    """The same GPU in counts that exist; otherwise the texts that look most alike."""
    canonical = {offer.lower(): offer for offer in gpu_texts()}
    compact = re.sub(r"[\s*_]+", "", text).lower().replace("\N{MULTIPLICATION SIGN}", "x")
    if compact in canonical:
        return [canonical[compact]]
    parsed = _GPU_TEXT.fullmatch(compact)
    if parsed:
        wanted, gpu = int(parsed[1]), parsed[2]
        same = [
            o for low, o in canonical.items() if re.fullmatch(rf"\d+x{re.escape(gpu)}(-.+)?", low)
        ]
        if same:
            return sorted(same, key=lambda offer: abs(int(offer.split("x")[0]) - wanted))[:count]
    close = difflib.get_close_matches(compact, canonical, count, cutoff=0.4)
    return [canonical[low] for low in close]


def _size_distance(name: str, wanted: re.Match[str]) -> tuple[float, str]:
    size = _SIZE.fullmatch(name.partition(".")[2])
    if size is None:  # metal
        return math.inf, name
    return abs(math.log(int(size[1] or 1) / int(wanted[1] or 1))), name
