"""Real Karpenter makes simulated g6e nodes for pods that ask for GPUs, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from tests.platform import Object, Platform, wait_for


def gpu_pod(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "restartPolicy": "Never",
            "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
            "containers": [
                {
                    "name": "node",
                    "image": "gpu:1",
                    "resources": {"limits": {"nvidia.com/gpu": "8"}},
                }
            ],
        },
    }


@pytest.fixture
def gpu_pods(platform: Platform) -> Iterator[list[str]]:
    names = ["gpu-0", "gpu-1"]
    text = yaml.safe_dump_all([gpu_pod(name) for name in names])
    platform.kubectl("apply", "-f", "-", text=text)
    yield names
    platform.kubectl("delete", "pods", *names, "--wait=false", "--ignore-not-found")


def test_the_stacks_gpu_job_completes_on_its_simulated_pool(deployed: Platform) -> None:
    """Its pods go with their nodes; the TrainJob keeps the record."""

    def complete() -> Object | None:
        (job,) = deployed.objects("trainjobs", "--namespace=vision")
        conditions = job.get("status", {}).get("conditions", [])
        ended = {c["type"] for c in conditions if c["status"] == "True"}
        return job if "Complete" in ended else None

    job = wait_for("the GPU job to complete", complete, 120)
    assert job["spec"]["trainer"]["resourcesPerNode"]["limits"] == {"nvidia.com/gpu": "8"}
    (pool,) = deployed.objects("nodepools")
    assert pool["spec"]["limits"] == {"nvidia.com/gpu": "64"}
    (node_class,) = deployed.objects("kwoknodeclasses")
    assert node_class["metadata"]["name"] == pool["metadata"]["name"] == "l40s-8"


def test_two_eight_gpu_pods_get_two_simulated_nodes(
    deployed: Platform, gpu_pods: list[str]
) -> None:
    def running() -> list[str] | None:
        pods = [pod for pod in deployed.objects("pods") if pod["metadata"]["name"] in gpu_pods]
        nodes = [pod["spec"].get("nodeName", "") for pod in pods]
        up = all(pod["status"]["phase"] == "Running" for pod in pods)
        return nodes if up and len(nodes) == 2 else None

    nodes = wait_for("the GPU pods to run", running, 60)
    assert len(set(nodes)) == 2
    by_name = {node["metadata"]["name"]: node for node in deployed.objects("nodes")}
    for name in nodes:
        labels, spec = by_name[name]["metadata"]["labels"], by_name[name]["spec"]
        assert labels["trainstack.io/node"] == "simulated"
        assert labels["node.kubernetes.io/instance-type"] == "g6e.48xlarge"
        taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
        assert taint in spec["taints"]

    everything = deployed.objects("pods", "--all-namespaces")
    elsewhere = [p for p in everything if p["metadata"]["name"] not in gpu_pods]
    assert not [p for p in elsewhere if p["spec"].get("nodeName") in nodes]

    deployed.kubectl("delete", "pods", *gpu_pods)

    def gone() -> bool | None:
        left = {node["metadata"]["name"] for node in deployed.objects("nodes")}
        return True if left.isdisjoint(nodes) else None

    wait_for("the empty nodes to go", gone, 120)
