"""One run of one job: the ConfigMap with its code and the TrainJob, both named by their content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runtimes.manifest import MANAGED, TRAINER_API, Manifest, content_hash
from stacks.models import TRAINING_FOLDER, Job, Tenant

# Where things are inside a training container.
CODE_FOLDER = "/workspace/scripts"
SETUP_FOLDER = "/shared"
CHECKPOINT_FOLDER = "/checkpoints"

PYTORCH_SETUP = "pytorch-pet-setup"
CHECKPOINT_CLAIM = "checkpoints"
_PATCH_MANAGER = "trainstack.io/stack"


@dataclass(frozen=True, slots=True)
class TrainingRunManifests:
    name: str
    code: Manifest
    train_job: Manifest


def training_run(tenant: Tenant, job: Job, folder: Path = TRAINING_FOLDER) -> TrainingRunManifests:
    """Same job, script and run number: same name. Any change: another name, so another run."""
    file_name = PurePosixPath(job.script).name
    code = (folder / job.script).read_bytes().decode()
    spec = _spec(tenant, job, file_name, code_name="")
    name = f"{job.name}-{content_hash(spec, file_name, code, job.run)}"
    labels = {**MANAGED, "trainstack.io/tenant": tenant.name, "trainstack.io/job": job.name}
    metadata = {"name": name, "namespace": tenant.name, "labels": labels}
    return TrainingRunManifests(
        name=name,
        code={
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "immutable": True,
            "data": {file_name: code},
        },
        train_job={
            "apiVersion": TRAINER_API,
            "kind": "TrainJob",
            "metadata": metadata,
            "spec": _spec(tenant, job, file_name, code_name=name),
        },
    )


def pytorch_setup(tenant: Tenant, folder: Path = TRAINING_FOLDER) -> Manifest:
    """The system ConfigMap that turns Trainer's PET_* variables into PyTorch's own."""
    script = folder / "setup" / "setup_pytorch_env.sh"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": PYTORCH_SETUP, "namespace": tenant.name, "labels": MANAGED},
        "data": {script.name: script.read_bytes().decode()},
    }


def _spec(tenant: Tenant, job: Job, file_name: str, code_name: str) -> Manifest:
    # Always with `trainer`: without it Trainer 2.3.0 injects no rendezvous environment.
    trainer: Manifest = {
        "numNodes": job.nodes,
        "numProcPerNode": job.processes_per_node,
        # An argv list, never a shell string: each argument stays one argument.
        "command": ["torchrun", f"{CODE_FOLDER}/{file_name}", *job.args],
    }
    environment = job.env | _storage_environment(tenant)
    if environment:
        trainer["env"] = [{"name": key, "value": environment[key]} for key in sorted(environment)]
    if job.resources is not None:
        # No limit on CPU: a throttled worker slows the whole gang and protects nobody.
        trainer["resourcesPerNode"] = {
            "requests": {"cpu": job.resources.cpu, "memory": job.resources.memory},
            "limits": {"memory": job.resources.memory},
        }
    return {
        "runtimeRef": {
            "apiGroup": TRAINER_API.split("/")[0],
            "kind": "ClusterTrainingRuntime",
            "name": job.runtime,
        },
        "trainer": trainer,
        "runtimePatches": [
            {
                "manager": _PATCH_MANAGER,
                "trainingRuntimeSpec": {
                    "template": {
                        "spec": {
                            "replicatedJobs": [
                                {
                                    "name": "node",
                                    "template": {"spec": {"template": _pod(tenant, code_name)}},
                                }
                            ]
                        }
                    }
                },
            }
        ],
    }


def _storage_environment(tenant: Tenant) -> dict[str, str]:
    if tenant.storage.checkpoints is None:
        return {}
    return {"CHECKPOINT_FOLDER": CHECKPOINT_FOLDER}


def _pod(tenant: Tenant, code_name: str) -> Manifest:
    volumes: list[Manifest] = [
        {"name": "code", "configMap": {"name": code_name}},
        {"name": "setup", "configMap": {"name": PYTORCH_SETUP}},
    ]
    mounts: list[Manifest] = [
        {"name": "code", "mountPath": CODE_FOLDER, "readOnly": True},
        {"name": "setup", "mountPath": SETUP_FOLDER, "readOnly": True},
    ]
    if tenant.storage.checkpoints is not None:
        claim = {"claimName": CHECKPOINT_CLAIM}
        volumes.append({"name": "checkpoints", "persistentVolumeClaim": claim})
        # Each run has a folder of its own: a restart finds its checkpoints, a new run starts anew.
        own = {"mountPath": CHECKPOINT_FOLDER, "subPath": f"runs/{code_name}"}
        mounts.append({"name": "checkpoints", **own})
    return {
        # Consolidation must not evict a running gang.
        "metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}},
        "spec": {
            "volumes": volumes,
            "containers": [{"name": "node", "volumeMounts": mounts}],
        },
    }
