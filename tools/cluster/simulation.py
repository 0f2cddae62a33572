"""Simulated GPU nodes: what Karpenter's kwok provider may create and how KWOK plays it.

No GPU is behind them. Nodes carry the label `trainstack.io/node: simulated` and the GPU taint, so
nothing lands there that did not ask for a simulated GPU.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from stacks.gpu_shapes import GpuShape, catalogue
from stacks.simulation import SIMULATED_CAPACITY, SIMULATED_ZONES
from tools.cluster.instance import Instance

# A simulated Job pod "works" this long; at zero, two 8-GPU pods can share one node in turn.
_POD_RUNS_MILLISECONDS = 20_000
# Dollars an hour only order Karpenter's choices here; a shape without a list price comes last.
_UNKNOWN_PRICE = 200.0
_SPOT_DISCOUNT = 0.5


def write_simulation_config(instance: Instance, stages: Path) -> None:
    types = [_instance_type(shape) for shape in catalogue().values()]
    (instance.config / "instance-types.json").write_text(json.dumps(types, indent=1))
    (instance.config / "kwok-stages.yaml").write_text(_stages(stages))


def _instance_type(shape: GpuShape) -> dict[str, Any]:
    def offering(zone: str, capacity: str, price: float) -> dict[str, Any]:
        requirements = {"karpenter.sh/capacity-type": capacity, "topology.kubernetes.io/zone": zone}
        return {
            "Price": round(price, 5),
            "Available": True,
            "Requirements": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in requirements.items()
            ],
        }

    listed = shape.dollars_per_hour if shape.dollars_per_hour is not None else _UNKNOWN_PRICE
    price = {"on-demand": listed, "spot": listed * _SPOT_DISCOUNT}
    return {
        "name": shape.name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {
            "cpu": str(shape.vcpus),
            "memory": f"{shape.memory_gib}Gi",
            "ephemeral-storage": f"{shape.nvme_gb}G",
            "pods": "100",
            "nvidia.com/gpu": str(shape.gpus),
            "vpc.amazonaws.com/efa": str(shape.efa_interfaces),
        },
        "offerings": [
            offering(zone, capacity, price[capacity])
            for zone in SIMULATED_ZONES
            for capacity in SIMULATED_CAPACITY
        ],
    }


def _stages(folder: Path) -> str:
    documents: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.yaml")):
        stage: dict[str, Any] = yaml.safe_load(file.read_text())
        if stage["metadata"]["name"] == "pod-complete":
            stage["spec"]["delay"] = {"durationMilliseconds": _POD_RUNS_MILLISECONDS}
        documents.append(stage)
    return yaml.safe_dump_all(documents, sort_keys=False)
