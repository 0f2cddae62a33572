"""One run of one job: the ConfigMap with its code and the TrainJob, both named by their content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runtimes.gpu_pool import EFA_RESOURCE, GPU_RESOURCE
from runtimes.manifest import MANAGED, TRAINER_API, Manifest, content_hash
from runtimes.pod import CHECKPOINT_FOLDER, node_pod, script_path
from stacks.models import GpuPool, Job, Tenant
from stacks.placement import pools_of
from stacks.quantities import seconds
from stacks.scalars import TRAINING_FOLDER

_PATCH_MANAGER = "trainstack.io/stack"


@dataclass(frozen=True, slots=True)
class TrainingRunManifests:
    name: str
    code: Manifest | None  # None: it comes from git
    train_job: Manifest


def training_run(
    tenant: Tenant,
    job: Job,
    pools: Sequence[GpuPool] = (),
    *,
    pools_are_ours: bool = True,
    folder: Path = TRAINING_FOLDER,
) -> TrainingRunManifests:
    """Same job, script and run number: same name. Any change: another name, so another run.

    `pools_are_ours`: the nodes carry our label, because a stack of ours made their pool.
    """
    fitting = pools_of(job, pools)
    code = _code(job, folder)
    unnamed = _spec(tenant, job, fitting, "", pools_are_ours)
    name = f"{job.name}-{content_hash(unnamed, code, job.run)}"
    labels = {**MANAGED, "trainstack.io/tenant": tenant.name, "trainstack.io/job": job.name}
    metadata = {"name": name, "namespace": tenant.name, "labels": labels}
    # A TrainJob that waits for its JobSet to be gone is still reconciled: Trainer 2.3.0 makes the
    # JobSet anew, over and over. So the TrainJob goes first, and the rest follows.
    first = {"pulumi.com/deletionPropagationPolicy": "background"}
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "immutable": True,
        "data": code,
    }
    return TrainingRunManifests(
        name=name,
        code=config_map if code else None,
        train_job={
            "apiVersion": TRAINER_API,
            "kind": "TrainJob",
            "metadata": {**metadata, "annotations": first},
            "spec": _spec(tenant, job, fitting, name, pools_are_ours),
        },
    )


def _code(job: Job, folder: Path) -> dict[str, str]:
    if job.script is None:
        return {}
    return {PurePosixPath(job.script).name: (folder / job.script).read_bytes().decode()}


def _spec(
    tenant: Tenant, job: Job, pools: Sequence[GpuPool], run: str, pools_are_ours: bool
) -> Manifest:
    pod = node_pod(tenant, job, pools, run, pools_are_ours=pools_are_ours)
    node = {"name": "node", "template": {"spec": {"template": pod}}}
    patch = {
        "manager": _PATCH_MANAGER,
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [node]}}},
    }
    spec: Manifest = {
        "runtimeRef": {
            "apiGroup": TRAINER_API.split("/")[0],
            "kind": "ClusterTrainingRuntime",
            "name": job.runtime,
        },
        "trainer": _trainer(tenant, job, pools),
        "runtimePatches": [patch],
    }
    if job.deadline is not None:
        spec["activeDeadlineSeconds"] = seconds(job.deadline)
    return spec


def _trainer(tenant: Tenant, job: Job, pools: Sequence[GpuPool]) -> Manifest:
    """Always there: without it Trainer 2.3.0 injects no rendezvous environment."""
    trainer: Manifest = {
        "numNodes": job.nodes,
        # An argv list, never a shell string: each argument stays one argument.
        "command": ["torchrun", script_path(job), *map(_literal, job.args)],
    }
    if job.processes_per_node != "auto":
        trainer["numProcPerNode"] = job.processes_per_node
    environment = _environment(tenant, job)
    if environment:
        trainer["env"] = environment
    resources = _resources(job, pools)
    if resources:
        trainer["resourcesPerNode"] = resources
    return trainer


def _environment(tenant: Tenant, job: Job) -> list[Manifest]:
    plain = dict(job.env)
    if tenant.storage.checkpoints is not None:
        plain["CHECKPOINT_FOLDER"] = CHECKPOINT_FOLDER
    variables: dict[str, Manifest] = {
        name: {"value": _literal(value)} for name, value in plain.items()
    }
    for name, reference in job.secret_env.items():
        key = {"name": reference.secret, "key": reference.key}
        variables[name] = {"valueFrom": {"secretKeyRef": key}}
    return [{"name": name, **variables[name]} for name in sorted(variables)]


def _literal(text: str) -> str:
    """Text that arrives as it is: Kubernetes would turn `$$` into `$` and fill in `$(NAME)`."""
    return text.replace("$", "$$")


def _resources(job: Job, pools: Sequence[GpuPool]) -> Manifest:
    """No limit on CPU: a throttled worker slows the whole gang and protects nobody."""
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    if job.resources is not None:
        requests |= {"cpu": job.resources.cpu, "memory": job.resources.memory}
        limits |= {"memory": job.resources.memory}
    if pools:
        # All GPUs of the node: Karpenter starts no node for a part of them.
        shape = pools[0].node_shape()
        devices = {GPU_RESOURCE: str(shape.gpus)}
        if all(pool.efa for pool in pools):
            devices[EFA_RESOURCE] = str(min(pool.node_shape().efa_interfaces for pool in pools))
        requests |= devices
        limits |= devices
    return {"requests": requests, "limits": limits} if requests else {}
