"""Simulated GPU nodes: what Karpenter's kwok provider may create and how KWOK plays it.

No GPU is behind them. Nodes carry the label `trainstack.io/node: simulated` and the GPU taint, so
nothing lands there that did not ask for a simulated GPU.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.cluster.instance import Instance

# The region of the example stacks, so that a pool's zones read the same on `local` and on EKS.
ZONES = ("ap-northeast-2a", "ap-northeast-2b", "ap-northeast-2c")
# A simulated Job pod "works" this long; at zero, two 8-GPU pods can share one node in turn.
_POD_RUNS_MILLISECONDS = 20_000


@dataclass(frozen=True, slots=True)
class SimulatedType:
    name: str
    cpu: int
    memory_gib: int
    gpus: int
    efa: int
    nvme_gb: int
    price: float  # dollars an hour; here it only orders Karpenter's choices


SIMULATED_TYPES = (
    SimulatedType("g6e.xlarge", 4, 32, 1, 0, 250, 1.861),
    SimulatedType("g6e.2xlarge", 8, 64, 1, 0, 450, 2.24208),
    SimulatedType("g6e.4xlarge", 16, 128, 1, 0, 600, 3.00424),
    SimulatedType("g6e.8xlarge", 32, 256, 1, 1, 900, 4.52856),
    SimulatedType("g6e.16xlarge", 64, 512, 1, 1, 1900, 7.57719),
    SimulatedType("g6e.12xlarge", 48, 384, 4, 1, 3800, 10.49264),
    SimulatedType("g6e.24xlarge", 96, 768, 4, 2, 3800, 15.06559),
    SimulatedType("g6e.48xlarge", 192, 1536, 8, 4, 7600, 30.13118),
)


def write_simulation_config(instance: Instance, stages: Path) -> None:
    types = [_instance_type(simulated) for simulated in SIMULATED_TYPES]
    (instance.config / "instance-types.json").write_text(json.dumps(types, indent=1))
    (instance.config / "kwok-stages.yaml").write_text(_stages(stages))


def _instance_type(simulated: SimulatedType) -> dict[str, Any]:
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

    return {
        "name": simulated.name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {
            "cpu": str(simulated.cpu),
            "memory": f"{simulated.memory_gib}Gi",
            "ephemeral-storage": f"{simulated.nvme_gb}G",
            "pods": "100",
            "nvidia.com/gpu": str(simulated.gpus),
            "vpc.amazonaws.com/efa": str(simulated.efa),
        },
        "offerings": [
            offering(zone, capacity, simulated.price * factor)
            for zone in ZONES
            for capacity, factor in (("on-demand", 1.0), ("spot", 0.5))
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
