"""What a right stack renders, a real API server takes: CRDs of Trainer, JobSet and Karpenter."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from runtimes.gpu_pool import eks_pool
from runtimes.manifest import Manifest
from runtimes.stack_objects import stack_objects
from stacks.gpu_shapes import catalogue
from stacks.models import EksCluster, GpuPool
from stacks.validation import STACKS, Stack, validate_blocks, validate_file
from tests.api_server import ApiServer, api_server
from tests.strategies import Blocks, stacks
from tools.toolchain import Toolchain

CLUSTER: dict[str, Any] = {
    "kind": "eks",
    "name": "seoul",
    "region": "ap-northeast-2",
    "zones": ["ap-northeast-2a", "ap-northeast-2c"],
}
_EXAMPLES = 100


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[ApiServer]:
    crds = toolchain.assets / "crds"
    kwok = next((crds / "karpenter").glob("*kwoknodeclasses*.yaml"))
    folders = [crds / "trainer", crds / "karpenter-aws", kwok]
    with api_server(tmp_path_factory.mktemp("api-server"), toolchain, folders) as running:
        yield running


def with_job_sets(objects: list[Manifest]) -> list[Manifest]:
    """Each runtime's template is a JobSet; as one it must please JobSet's own CRD."""
    runtimes = [item for item in objects if item["kind"] == "ClusterTrainingRuntime"]
    return objects + [
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": item["metadata"]["name"], "namespace": "default"},
            "spec": item["spec"]["template"]["spec"],
        }
        for item in runtimes
    ]


def refusals(server: ApiServer, stack: Stack) -> list[str]:
    objects = with_job_sets(stack_objects(stack))
    for item in objects:
        if item["kind"] == "Namespace":
            server.ensure_namespace(item)
    others = [item for item in objects if item["kind"] != "Namespace"]
    return [refusal for item in others if (refusal := server.refusal(item)) is not None]


@pytest.mark.parametrize("file", sorted(STACKS.glob("Pulumi.*.yaml")), ids=lambda f: f.name)
def test_the_committed_stacks(file: Path, server: ApiServer) -> None:
    stack = validate_file(file).stack
    assert stack is not None
    assert refusals(server, stack) == []


@settings(
    max_examples=_EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(blocks=stacks())
def test_any_right_stack(server: ApiServer, blocks: Blocks) -> None:
    report = validate_blocks(Path("Pulumi.drawn.yaml"), blocks)
    assert report.stack is not None, report.text()
    assert refusals(server, report.stack) == []


@pytest.mark.parametrize("shape", sorted(catalogue()))
def test_a_pool_of_every_shape(shape: str, server: ApiServer) -> None:
    efa = catalogue()[shape].efa_interfaces > 0
    fields = {"name": "p", "shape": shape, "zones": ["ap-northeast-2a"], "maxGpus": 8, "efa": efa}
    pool = GpuPool.model_validate_json(json.dumps(fields))
    cluster = EksCluster.model_validate_json(json.dumps(CLUSTER))
    assert [server.refusal(item) for item in eks_pool(pool, cluster)] == [None, None]


def damaged(manifest: Manifest, path: str, value: Any) -> Manifest:
    copied = copy.deepcopy(manifest)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    target: Any = copied
    for step in parents:
        target = target[step]
    target[last] = value
    return copied


@pytest.mark.parametrize(
    ("kind", "path", "value", "says"),
    [
        ("TrainJob", "spec.podTemplateOverrides", [], "unknown field"),
        ("TrainJob", "spec.trainer.numNodes", "2", "numNodes"),
        ("TrainJob", "spec.runtimePatches.0.time", "now", "time"),
        ("ClusterTrainingRuntime", "spec.mlPolicy.torch.numProcPerNode", "auto", "unknown field"),
        ("JobSet", "spec.failurePolicy.restartStrategy", "Sometimes", "restartStrategy"),
        ("NodePool", "spec.template.spec.nodeClassRef.group", "", "group"),
        ("NodePool", "spec.disruption.budgets.0.nodes", "many", "nodes"),
        ("EC2NodeClass", "spec.instanceStorePolicy", "RAID1", "instanceStorePolicy"),
        ("EC2NodeClass", "spec.amiSelectorTerms.0.alias", "al2023", "alias"),
        ("EC2NodeClass", "spec.networkInterfaces.2.networkCardIndex", 0, "networkInterfaces"),
    ],
)
def test_the_server_would_have_said_so(
    kind: str, path: str, value: Any, says: str, server: ApiServer
) -> None:
    """Red cases: a green answer above means something."""
    stack = validate_file(STACKS / "Pulumi.seoul.yaml").stack
    assert stack is not None
    objects = with_job_sets(stack_objects(stack))
    server.ensure_namespace(next(item for item in objects if item["kind"] == "Namespace"))
    item = next(item for item in objects if item["kind"] == kind)
    assert server.refusal(item) is None
    assert says in (server.refusal(damaged(item, path, value)) or "")
