"""The whole program under Pulumi mocks: what is declared, under what, and in which order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
# Mocks are process-wide state, so each graph is made in a process of its own.
_PROGRAM = Path(__file__).with_name("print_graph.py")
LOCAL: dict[str, Any] = {
    "cluster": {"kind": "kubeconfig", "context": "test", "path": ""},
    "gpuPools": [
        {"name": "l40s", "shape": "g6e.48xlarge", "zones": ["us-east-1a"], "maxGpus": 8},
        {"name": "l4", "shape": "g6.xlarge", "zones": ["us-east-1a"], "maxGpus": 8},
    ],
    "runtimes": [
        {"name": "torch-distributed", "framework": "torch"},
        {"name": "torch-once", "framework": "torch", "failure": {"class": "fail-fast"}},
    ],
    "tenants": [
        {
            "name": name,
            "storage": {"checkpoints": "1Gi"},
            "jobs": [
                {
                    "name": job,
                    "runtime": "torch-distributed",
                    "nodes": 2,
                    "script": "spirals_ddp.py",
                    "env": {"B": "2", "A": "1"},
                }
                for job in ("one", "two")
            ],
        }
        for name in ("vision", "research")
    ],
}
KUBECONFIG = """
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: test, user: {token: canary}}]
"""
Graph = list[dict[str, Any]]


def graph_of(blocks: dict[str, Any], folder: Path, seed: str = "0") -> Graph:
    (folder / "kubeconfig").write_text(KUBECONFIG)
    crds = folder / ".trainstack" / "assets" / "crds" / "trainer"
    crds.mkdir(parents=True, exist_ok=True)
    (crds / "crd.yaml").write_text("kind: CustomResourceDefinition\n")
    cluster = {**blocks["cluster"], "path": str(folder / "kubeconfig")}
    blocks = {**blocks, "cluster": cluster}
    bag = {f"trainstack:{name}": json.dumps(block) for name, block in blocks.items()}
    result = subprocess.run(
        [sys.executable, _PROGRAM],
        input=json.dumps(bag),
        cwd=folder,  # where the program looks for charts and CRDs
        env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_a_wrong_stack_registers_nothing(tmp_path: Path) -> None:
    wrong = {**LOCAL, "runtimes": [{**LOCAL["runtimes"][0], "framwork": "torch"}]}
    with pytest.raises(AssertionError, match=r"runtimes\[0\].framwork: no such key") as refused:
        graph_of(wrong, tmp_path)
    assert "1 mistake(s), nothing was changed" in str(refused.value)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    return graph_of(LOCAL, tmp_path_factory.mktemp("graph"))


def of_kind(graph: Graph, kind: str) -> Graph:
    return [resource for resource in graph if resource["type"].rpartition(":")[2] == kind]


def test_each_job_is_one_config_map_and_one_train_job(graph: Graph) -> None:
    jobs = of_kind(graph, "TrainJob")
    assert len(jobs) == 4
    maps = {
        (m["inputs"]["metadata"]["namespace"], m["inputs"]["metadata"]["name"])
        for m in of_kind(graph, "ConfigMap")
    }
    for job in jobs:
        metadata = job["inputs"]["metadata"]
        assert (metadata["namespace"], metadata["name"]) in maps


def test_every_tenant_has_its_namespace_set_up_and_storage(graph: Graph) -> None:
    namespaces = {n["inputs"]["metadata"]["name"] for n in of_kind(graph, "Namespace")}
    assert namespaces == {"kubeflow-system", "research", "vision"}
    claims = [c["inputs"]["metadata"]["namespace"] for c in of_kind(graph, "PersistentVolumeClaim")]
    assert claims == ["research", "vision"]
    setups = [c for c in of_kind(graph, "ConfigMap") if c["name"].endswith(".pytorch-pet-setup")]
    assert len(setups) == 2


def test_runtimes_are_our_own_resources(graph: Graph) -> None:
    runtimes = {r["name"]: r for r in of_kind(graph, "ClusterTrainingRuntime")}
    assert set(runtimes) == {"torch-distributed", "torch-once"}
    policy = runtimes["torch-distributed"]["inputs"]["spec"]["template"]["spec"]["failurePolicy"]
    assert policy["maxRestarts"] == 10


def test_every_kubernetes_object_uses_the_clusters_own_provider(graph: Graph) -> None:
    ours = [r for r in graph if r["type"].startswith("kubernetes:")]
    assert ours
    assert {r["provider"].rpartition("::")[0].rpartition("::")[2] for r in ours} == {"cluster"}


def test_the_same_stack_gives_the_same_graph(tmp_path: Path, graph: Graph) -> None:
    reversed_blocks = {**LOCAL}
    for block in ("tenants", "runtimes", "gpuPools"):
        reversed_blocks[block] = LOCAL[block][::-1]

    def comparable(resources: Graph) -> list[str]:
        plain = [{k: v for k, v in r.items() if k != "provider"} for r in resources]
        return sorted(json.dumps(r, sort_keys=True).replace(str(tmp_path), "") for r in plain)

    for seed in ("1", "42"):
        assert comparable(graph_of(reversed_blocks, tmp_path, seed)) == comparable(graph)


def test_names_that_look_alike_when_joined_stay_apart(tmp_path: Path) -> None:
    job = LOCAL["tenants"][0]["jobs"][0]
    tenants = [
        {"name": "a", "jobs": [{**job, "name": "b-c"}]},
        {"name": "a-b", "jobs": [{**job, "name": "c"}]},
    ]
    resources = graph_of({**LOCAL, "tenants": tenants}, tmp_path)
    names = [(resource["type"], resource["name"]) for resource in resources]
    assert len(names) == len(set(names))


def test_nodes_of_an_existing_cluster_are_not_ours_to_make(graph: Graph) -> None:
    assert of_kind(graph, "NodePool") == []


def test_one_tenant_does_not_touch_another(tmp_path: Path, graph: Graph) -> None:
    alone = graph_of({**LOCAL, "tenants": LOCAL["tenants"][:1]}, tmp_path)
    names = {(r["type"], r["name"]) for r in alone}
    before = {(r["type"], r["name"]): r["inputs"] for r in graph}
    for resource in alone:
        if "vision" in resource["name"]:
            assert before[resource["type"], resource["name"]] == resource["inputs"]
    assert not [name for name in names if "research" in name[1]]
