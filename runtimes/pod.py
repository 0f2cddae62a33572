"""The pod of one node of a run, as a patch over the runtime's: code, volumes, placement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from runtimes.gpu_pool import GPU_TOLERATION, POOL_LABEL
from runtimes.manifest import Manifest
from runtimes.tenant import CHECKPOINT_CLAIM, PYTORCH_SETUP
from runtimes.training_runtime import GIT_CLONE, REPOSITORY_FOLDER
from stacks.models import Git, GpuPool, Job, Tenant

# Where things are inside a training container.
_SCRIPT_FOLDER = "/workspace/scripts"
_SETUP_FOLDER = "/shared"
CHECKPOINT_FOLDER = "/checkpoints"


def script_path(job: Job) -> str:
    """The training script as the container sees it."""
    if job.git is not None:
        return f"{REPOSITORY_FOLDER}/{job.git.script}"
    assert job.script is not None, "a check makes sure of one of them"
    return f"{_SCRIPT_FOLDER}/{PurePosixPath(job.script).name}"


def node_pod(
    tenant: Tenant, job: Job, pools: Sequence[GpuPool], run: str, *, pools_are_ours: bool
) -> Manifest:
    volumes: list[Manifest] = []
    mounts: list[Manifest] = []

    def mount(name: str, source: Manifest, path: str, **options: Any) -> None:
        volumes.append({"name": name, **source})
        mounts.append({"name": name, "mountPath": path, **options})

    if job.git is None:
        mount("code", {"configMap": {"name": run}}, _SCRIPT_FOLDER, readOnly=True)
    else:
        mount("code", {"emptyDir": {}}, REPOSITORY_FOLDER)
    mount("setup", {"configMap": {"name": PYTORCH_SETUP}}, _SETUP_FOLDER, readOnly=True)
    if tenant.storage.checkpoints is not None:
        # Each run has a folder of its own: a restart finds its checkpoints, a new run starts anew.
        claim = {"persistentVolumeClaim": {"claimName": CHECKPOINT_CLAIM}}
        mount("checkpoints", claim, CHECKPOINT_FOLDER, subPath=f"runs/{run}")
    if job.shared_memory is not None:
        memory = {"emptyDir": {"medium": "Memory", "sizeLimit": job.shared_memory}}
        mount("shared-memory", memory, "/dev/shm")  # noqa: S108 - the path frameworks expect
    return {
        # Consolidation must not evict a running gang.
        "metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        "spec": {
            **_placement(job, pools, pools_are_ours),
            "volumes": volumes,
            **({"initContainers": [_clone(job.git)]} if job.git is not None else {}),
            "containers": [{"name": "node", "volumeMounts": mounts}],
        },
    }


def _clone(git: Git) -> Manifest:
    """What the runtime's clone step is told; a patch may not bring containers of its own."""
    environment = {"GIT_SYNC_REPO": git.repo, "GIT_SYNC_BRANCH": git.ref}
    return {
        "name": GIT_CLONE,
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "volumeMounts": [{"name": "code", "mountPath": REPOSITORY_FOLDER}],
    }


def _placement(job: Job, pools: Sequence[GpuPool], pools_are_ours: bool) -> Manifest:
    """Node labels that every fitting pool has; where pools differ, any of theirs."""
    if not pools:
        return {}
    wanted = {
        "node.kubernetes.io/instance-type": {pool.node_shape().name for pool in pools},
        "topology.kubernetes.io/zone": {job.zone}
        if job.zone is not None
        else {zone for pool in pools for zone in pool.zones},
    }
    if pools_are_ours:
        wanted[POOL_LABEL] = {pool.name for pool in pools}
    selector = {key: min(values) for key, values in wanted.items() if len(values) == 1}
    several = [
        {"key": key, "operator": "In", "values": sorted(values)}
        for key, values in wanted.items()
        if len(values) > 1
    ]
    placement: Manifest = {"nodeSelector": selector, "tolerations": [GPU_TOLERATION]}
    if several:
        terms = {"nodeSelectorTerms": [{"matchExpressions": several}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
        placement["affinity"] = {"nodeAffinity": required}
    return placement
