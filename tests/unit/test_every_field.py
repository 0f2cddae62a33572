"""Nothing is lost between stack file and cluster: every field of every model ends somewhere.

Each field is changed in a stack that uses all of them; the object and the place in it that change
with it are named here. A field without a place in an object names the rule that checks it.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runtimes.manifest import Manifest
from runtimes.stack_objects import stack_objects
from stacks.anatomy import all_models, fields_of
from stacks.rules import Rule
from stacks.validation import STACKS, stack_file, validate_blocks, validate_file
from stacks.values import is_list, is_mapping
from tests.unit.test_every_mistake import CASES, MARK, PLATFORM

JOB = {
    "name": "t5",
    "runtime": "gang",
    "nodes": 2,
    "pool": "l40s-8",
    "zone": "ap-northeast-2a",
    "processesPerNode": 4,
    "script": "spirals_ddp.py",
    "args": ["--epochs", "10"],
    "env": {"LEARNING_RATE": "0.1"},
    "secretEnv": {"HF_TOKEN": {"secret": "hub", "key": "token"}},
    "resources": {"cpu": "4", "memory": "16Gi"},
    "sharedMemory": "8Gi",
    "deadline": "1h",
    "run": 1,
}
GIT = {"repo": "https://git.example.com/a", "ref": "main", "script": "a.py"}
FULL: dict[str, Any] = {
    "cluster": {
        "kind": "eks",
        "name": "seoul",
        "region": "ap-northeast-2",
        "zones": ["ap-northeast-2a", "ap-northeast-2c"],
    },
    "gpuPools": [
        {
            "name": "l40s-8",
            "shape": "g6e.48xlarge",
            "zones": ["ap-northeast-2a", "ap-northeast-2c"],
            "capacity": ["reserved", "on-demand"],
            "maxGpus": 32,
            "efa": True,
            "disk": "500Gi",
            "imageCache": "snap-0123456789",
            "reservations": ["cr-0123456789"],
            "placementGroup": "near",
            "weight": 50,
        },
        {"name": "b200", "gpu": "8xB200", "zones": ["ap-northeast-2a"], "maxGpus": 16},
        {"name": "h100", "shape": "p5.48xlarge", "zones": ["ap-northeast-2a"], "maxGpus": 8},
        {"name": "spare", "gpu": "8xA10G", "zones": ["ap-northeast-2a"], "maxGpus": 8},
    ],
    "trainer": {"version": "2.3.0", "jobsetVersion": "0.12.0"},
    "runtimes": [
        {
            "name": "gang",
            "framework": "torch",
            "gitImage": "git:1",
            "image": "torch:1",
            "failure": {"class": "gang-restart", "maxRestarts": 3},
        },
        {"name": "once", "framework": "torch", "failure": {"class": "fail-fast"}},
        {"name": "spot", "framework": "torch", "failure": {"class": "spot-safe", "maxRestarts": 3}},
    ],
    "tenants": [
        {
            "name": "nlp",
            "quota": {"gpus": 64, "cpu": "64", "memory": "1Ti", "jobs": 9},
            "members": {"users": ["ann"], "groups": ["nlp-team"]},
            "allowedRuntimes": ["gang", "once"],
            "storage": {"checkpoints": "1Gi", "accessMode": "ReadWriteMany"},
            "jobs": [
                JOB,
                {
                    "name": "from-git",
                    "runtime": "gang",
                    "nodes": 1,
                    "gpu": "8xB200",
                    "git": GIT,
                    "resources": JOB["resources"],
                },
                {
                    "name": "by-shape",
                    "runtime": "gang",
                    "nodes": 1,
                    "shape": "p5.48xlarge",
                    "script": "spirals_ddp.py",
                    "resources": JOB["resources"],
                },
            ],
        },
        {"name": "cpu", "storage": {"checkpoints": "1Gi", "accessMode": "ReadWriteMany"}},
    ],
}


@dataclass(frozen=True)
class Ends:
    """Setting `path` to `value` changes `place` in an object of ours."""

    path: str
    value: Any
    place: str


POOL, NODE_CLASS = "NodePool", "EC2NodeClass"
TRAINER = "TrainJob spec.trainer"
POD = (
    "TrainJob spec.runtimePatches.0.trainingRuntimeSpec.template.spec.replicatedJobs.0"
    ".template.spec.template.spec"
)
JOB_SET = "ClusterTrainingRuntime spec.template.spec"

FIELDS: dict[str, Ends | Rule] = {
    "StackConfig.cluster": Ends("cluster", {"kind": "local"}, "KWOKNodeClass"),
    "StackConfig.gpuPools": Ends("gpuPools.0.weight", 9, f"{POOL} spec.weight"),
    "StackConfig.trainer": Rule.UNTESTED_VERSIONS,
    "StackConfig.runtimes": Ends("runtimes.2.name", "spot2", "ClusterTrainingRuntime"),
    "StackConfig.tenants": Ends("tenants.0.name", "nlp2", "Namespace metadata.name"),
    "LocalCluster.kind": Ends("cluster", {"kind": "local"}, "KWOKNodeClass"),
    "EksCluster.kind": Ends("cluster", {"kind": "local"}, "EC2NodeClass"),
    "EksCluster.name": Ends("cluster.name", "busan", f"{NODE_CLASS} spec.role"),
    "EksCluster.region": Rule.ZONE_OUTSIDE_REGION,
    "EksCluster.zones": Rule.ZONE_OUTSIDE_CLUSTER,
    "EksCluster.kubernetesVersion": Rule.UNTESTED_VERSIONS,
    "EksCluster.karpenterVersion": Rule.UNTESTED_VERSIONS,
    "KubeconfigCluster.kind": Ends("cluster", {"kind": "kubeconfig", "context": "x"}, POOL),
    # tests/unit/test_cluster_handle.py shows that only this context of this file is used.
    "KubeconfigCluster.context": Rule.MISSING_KEY,
    "KubeconfigCluster.path": Rule.WRONG_TYPE,
    "StackCluster.kind": Rule.PLATFORMS_BLOCK,
    "StackCluster.stack": Rule.PLATFORM_MISSING,
    "GpuPool.name": Ends("gpuPools.3.name", "b200-8", f"{POOL} metadata.name"),
    "GpuPool.shape": Ends(
        "gpuPools.0.shape", "p4d.24xlarge", f"{POOL} spec.template.spec.requirements"
    ),
    "GpuPool.gpu": Ends("gpuPools.3.gpu", "8xB300", f"{POOL} spec.template.spec.requirements"),
    "GpuPool.zones": Ends(
        "gpuPools.0.zones", ["ap-northeast-2a"], f"{POOL} spec.template.spec.requirements"
    ),
    "GpuPool.capacity": Ends(
        "gpuPools.0.capacity", ["reserved"], f"{POOL} spec.template.spec.requirements"
    ),
    "GpuPool.maxGpus": Ends("gpuPools.0.maxGpus", 64, f"{POOL} spec.limits"),
    "GpuPool.efa": Ends("gpuPools.0.efa", False, f"{NODE_CLASS} spec.networkInterfaces"),
    "GpuPool.disk": Ends("gpuPools.0.disk", "1000Gi", f"{NODE_CLASS} spec.blockDeviceMappings"),
    "GpuPool.imageCache": Ends(
        "gpuPools.0.imageCache", "snap-9876543210", f"{NODE_CLASS} spec.blockDeviceMappings"
    ),
    "GpuPool.reservations": Ends(
        "gpuPools.0.reservations",
        ["cr-9876543210"],
        f"{NODE_CLASS} spec.capacityReservationSelectorTerms",
    ),
    "GpuPool.placementGroup": Ends(
        "gpuPools.0.placementGroup", "far", f"{NODE_CLASS} spec.placementGroupSelector"
    ),
    "GpuPool.weight": Ends("gpuPools.0.weight", 9, f"{POOL} spec.weight"),
    "Trainer.version": Rule.UNTESTED_VERSIONS,
    "Trainer.jobsetVersion": Rule.UNTESTED_VERSIONS,
    "Runtime.name": Ends("runtimes.2.name", "spot2", "ClusterTrainingRuntime metadata.name"),
    "Runtime.framework": Rule.WRONG_VALUE,  # one value so far, shown by the label of every runtime
    "Runtime.image": Ends("runtimes.0.image", "torch:2", f"{JOB_SET}.replicatedJobs"),
    "Runtime.gitImage": Ends("runtimes.0.gitImage", "git:2", f"{JOB_SET}.replicatedJobs"),
    "Runtime.failure": Ends(
        "runtimes.0.failure", {"class": "fail-fast"}, f"{JOB_SET}.failurePolicy"
    ),
    "GangRestart.class": Ends(
        "runtimes.0.failure", {"class": "fail-fast"}, f"{JOB_SET}.failurePolicy"
    ),
    "GangRestart.maxRestarts": Ends(
        "runtimes.0.failure.maxRestarts", 4, f"{JOB_SET}.failurePolicy.maxRestarts"
    ),
    "FailFast.class": Ends(
        "runtimes.1.failure", {"class": "gang-restart"}, f"{JOB_SET}.failurePolicy"
    ),
    "SpotSafe.class": Ends(
        "runtimes.2.failure", {"class": "gang-restart"}, f"{JOB_SET}.failurePolicy.rules"
    ),
    "SpotSafe.maxRestarts": Ends(
        "runtimes.2.failure.maxRestarts", 4, f"{JOB_SET}.failurePolicy.maxRestarts"
    ),
    "Tenant.name": Ends("tenants.0.name", "nlp2", "Namespace metadata.name"),
    "Tenant.quota": Ends("tenants.0.quota", {"gpus": 32}, "ResourceQuota spec.hard"),
    "Tenant.members": Ends("tenants.0.members", {}, "RoleBinding"),
    "Tenant.allowedRuntimes": Rule.RUNTIME_NOT_ALLOWED,
    "Tenant.storage": Ends("tenants.0.storage", {}, "PersistentVolumeClaim"),
    "Tenant.jobs": Ends("tenants.0.jobs", [], "TrainJob"),
    "Quota.gpus": Ends("tenants.0.quota.gpus", 32, "ResourceQuota spec.hard.requests.nvidia"),
    "Quota.cpu": Ends("tenants.0.quota.cpu", "128", "ResourceQuota spec.hard.requests.cpu"),
    "Quota.memory": Ends(
        "tenants.0.quota.memory", "2Ti", "ResourceQuota spec.hard.requests.memory"
    ),
    "Quota.jobs": Ends("tenants.0.quota.jobs", 8, "ResourceQuota spec.hard.count/trainjobs"),
    "Members.users": Ends("tenants.0.members.users", ["bob"], "RoleBinding subjects"),
    "Members.groups": Ends("tenants.0.members.groups", ["all"], "RoleBinding subjects"),
    "Storage.checkpoints": Ends(
        "tenants.0.storage.checkpoints", "2Gi", "PersistentVolumeClaim spec.resources"
    ),
    "Storage.accessMode": Ends(
        "tenants.1.storage.accessMode", "ReadWriteOnce", "PersistentVolumeClaim spec.accessModes"
    ),
    "Job.name": Ends("tenants.0.jobs.0.name", "t6", "TrainJob metadata.labels"),
    "Job.runtime": Ends("tenants.0.jobs.0.runtime", "once", "TrainJob spec.runtimeRef.name"),
    "Job.nodes": Ends("tenants.0.jobs.0.nodes", 3, f"{TRAINER}.numNodes"),
    "Job.pool": Ends("tenants.0.jobs.0.pool", "b200", f"{POD}.nodeSelector"),
    "Job.gpu": Ends("tenants.0.jobs.1.gpu", "8xL40S", f"{POD}.nodeSelector"),
    "Job.shape": Ends("tenants.0.jobs.2.shape", "p6-b200.48xlarge", f"{POD}.nodeSelector"),
    "Job.zone": Ends("tenants.0.jobs.0.zone", "ap-northeast-2c", f"{POD}.nodeSelector"),
    "Job.processesPerNode": Ends(
        "tenants.0.jobs.0.processesPerNode", "auto", f"{TRAINER}.numProcPerNode"
    ),
    "Job.script": Ends("tenants.0.jobs.0.script", "runs.py", "ConfigMap data"),
    "Job.git": Ends("tenants.0.jobs.1.git.ref", "v2", f"{POD}.initContainers"),
    "Job.args": Ends("tenants.0.jobs.0.args", ["--epochs", "11"], f"{TRAINER}.command"),
    "Job.env": Ends("tenants.0.jobs.0.env", {"A": "b"}, f"{TRAINER}.env"),
    "Job.secretEnv": Ends("tenants.0.jobs.0.secretEnv", {}, f"{TRAINER}.env"),
    "Job.resources": Ends(
        "tenants.0.jobs.0.resources", {"cpu": "8", "memory": "9Gi"}, f"{TRAINER}.resourcesPerNode"
    ),
    "Job.sharedMemory": Ends("tenants.0.jobs.0.sharedMemory", "9Gi", f"{POD}.volumes"),
    "Job.deadline": Ends("tenants.0.jobs.0.deadline", "2h", "TrainJob spec.activeDeadlineSeconds"),
    "Job.run": Ends("tenants.0.jobs.0.run", 2, "TrainJob metadata.name"),
    "Resources.cpu": Ends(
        "tenants.0.jobs.0.resources.cpu", "5", f"{TRAINER}.resourcesPerNode.requests.cpu"
    ),
    "Resources.memory": Ends(
        "tenants.0.jobs.0.resources.memory", "9Gi", f"{TRAINER}.resourcesPerNode.limits.memory"
    ),
    "Git.repo": Ends(
        "tenants.0.jobs.1.git.repo", "https://git.example.com/b", f"{POD}.initContainers"
    ),
    "Git.ref": Ends("tenants.0.jobs.1.git.ref", "v2", f"{POD}.initContainers"),
    "Git.script": Ends("tenants.0.jobs.1.git.script", "b.py", f"{TRAINER}.command"),
    "SecretReference.secret": Ends(
        "tenants.0.jobs.0.secretEnv.HF_TOKEN.secret", "other", f"{TRAINER}.env"
    ),
    "SecretReference.key": Ends(
        "tenants.0.jobs.0.secretEnv.HF_TOKEN.key", "other", f"{TRAINER}.env"
    ),
}


def every_field() -> list[str]:
    return [f"{model.__name__}.{alias}" for model in all_models() for alias, _ in fields_of(model)]


def test_every_field_is_accounted_for() -> None:
    assert sorted(FIELDS) == sorted(every_field())


def objects_of(blocks: dict[str, Any]) -> list[Manifest]:
    report = validate_blocks(stack_file("every-field"), blocks)
    assert report.stack is not None, report.text()
    return stack_objects(report.stack)


def places_of(objects: list[Manifest]) -> set[tuple[str, str, str]]:
    """("Kind path.to.leaf", value, object); the hash in a run's name shows in names only."""
    found: set[tuple[str, str, str]] = set()

    def visit(item: Manifest, path: str, value: Any) -> None:
        if is_mapping(value):
            for key, inner in value.items():
                visit(item, f"{path}.{key}" if path else key, inner)
        elif is_list(value):
            for number, inner in enumerate(value):
                visit(item, f"{path}.{number}", inner)
        else:
            text = json.dumps(value)
            if path != "metadata.name":
                text = re.sub(r"-[0-9a-f]{8}\b", "-HASH", text)
            name = re.sub(r"-[0-9a-f]{8}$", "", item["metadata"]["name"])
            found.add((f"{item['kind']} {path}", text, name))

    for item in objects:
        visit(item, "", item)
    return found


@pytest.mark.parametrize(
    ("field", "ends"),
    [(field, ends) for field, ends in FIELDS.items() if isinstance(ends, Ends)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_ends_in_an_object(field: str, ends: Ends) -> None:
    changed = copy.deepcopy(FULL)
    if ends.path == "cluster":
        changed["gpuPools"][0] |= {"capacity": ["on-demand"], "reservations": []}
        for key in ("imageCache", "placementGroup"):
            del changed["gpuPools"][0][key]
    *parents, last = [int(step) if step.isdigit() else step for step in ends.path.split(".")]
    target: Any = changed
    for step in parents:
        target = target[step]
    assert target[last] != ends.value, f"{field}: the test changes nothing"
    target[last] = ends.value
    difference = places_of(objects_of(FULL)) ^ places_of(objects_of(changed))
    assert [place for place, *_ in difference if place.startswith(ends.place)], sorted(difference)


@pytest.mark.parametrize(
    ("field", "rule"),
    [(field, rule) for field, rule in FIELDS.items() if isinstance(rule, Rule)],
    ids=str,
)
def test_a_field_without_an_object_is_checked(field: str, rule: Rule, tmp_path: Path) -> None:
    assert [case for case in CASES if case.rule is rule], field
    assert rule.meaning in (STACKS.parent / "docs" / "configuration.md").read_text()


def test_a_case_of_a_checked_field_names_it(tmp_path: Path) -> None:
    """The red cases of version rules are told at the very fields that have no object."""
    (tmp_path / "Pulumi.platform.yaml").write_text(PLATFORM)
    told: set[str] = set()
    for case in CASES:
        if case.rule in (Rule.UNTESTED_VERSIONS, Rule.PLATFORM_MISSING, Rule.ZONE_OUTSIDE_REGION):
            file = tmp_path / "Pulumi.case.yaml"
            file.write_text(case.base.replace(case.old, case.new, 1).replace(MARK, ""))
            told |= {error.where.split("[")[0] for error in validate_file(file).errors}
    assert told == {
        "trainer.version",
        "trainer.jobsetVersion",
        "cluster.kubernetesVersion",
        "cluster.karpenterVersion",
        "cluster.stack",
        "cluster.zones",
    }
