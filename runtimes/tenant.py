"""What a tenant's namespace holds beside its runs."""

from __future__ import annotations

from pathlib import Path

from runtimes.gpu_pool import GPU_RESOURCE
from runtimes.manifest import MANAGED, Manifest
from stacks.models import Tenant
from stacks.scalars import TRAINING_FOLDER

PYTORCH_SETUP = "pytorch-pet-setup"
CHECKPOINT_CLAIM = "checkpoints"
_MEMBER_ROLE = "trainstack-member"
_RBAC = "rbac.authorization.k8s.io"


def namespace(tenant: Tenant) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": tenant.name,
            "labels": {**MANAGED, "trainstack.io/tenant": tenant.name},
        },
    }


def tenant_objects(tenant: Tenant, folder: Path = TRAINING_FOLDER) -> list[Manifest]:
    """Everything in the namespace that outlives a run."""
    return [
        _pytorch_setup(tenant, folder),
        *_quota(tenant),
        *_members(tenant),
        *_checkpoints(tenant),
    ]


def _metadata(tenant: Tenant, name: str) -> Manifest:
    return {"name": name, "namespace": tenant.name, "labels": MANAGED}


def _pytorch_setup(tenant: Tenant, folder: Path) -> Manifest:
    """The system ConfigMap that turns Trainer's PET_* variables into PyTorch's own."""
    script = folder / "setup" / "setup_pytorch_env.sh"
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _metadata(tenant, PYTORCH_SETUP),
        "data": {script.name: script.read_bytes().decode()},
    }


def _quota(tenant: Tenant) -> list[Manifest]:
    quota = tenant.quota
    limits = {
        f"requests.{GPU_RESOURCE}": quota.gpus,
        "requests.cpu": quota.cpu,
        "requests.memory": quota.memory,
        "count/trainjobs.trainer.kubeflow.org": quota.jobs,
    }
    hard = {name: str(limit) for name, limit in limits.items() if limit is not None}
    if not hard:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": _metadata(tenant, "tenant"),
            "spec": {"hard": hard},
        }
    ]


def _members(tenant: Tenant) -> list[Manifest]:
    """Create, read and delete TrainJobs; read what they make. Nobody named: nothing made."""
    subjects = [
        {"apiGroup": _RBAC, "kind": kind, "name": name}
        for kind, names in (("User", tenant.members.users), ("Group", tenant.members.groups))
        for name in sorted(names)
    ]
    if not subjects:
        return []
    reading = ["get", "list", "watch"]
    rules = [
        {
            "apiGroups": ["trainer.kubeflow.org"],
            "resources": ["trainjobs"],
            "verbs": ["create", "delete", *reading],
        },
        {"apiGroups": [""], "resources": ["pods", "pods/log", "events"], "verbs": reading},
    ]
    return [
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "Role",
            "metadata": _metadata(tenant, _MEMBER_ROLE),
            "rules": rules,
        },
        {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": _metadata(tenant, _MEMBER_ROLE),
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": _MEMBER_ROLE},
            "subjects": subjects,
        },
    ]


def _checkpoints(tenant: Tenant) -> list[Manifest]:
    if tenant.storage.checkpoints is None:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": _metadata(tenant, CHECKPOINT_CLAIM),
            "spec": {
                "accessModes": [tenant.storage.access_mode],
                "resources": {"requests": {"storage": tenant.storage.checkpoints}},
            },
        }
    ]
