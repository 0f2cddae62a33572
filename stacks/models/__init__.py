"""The stack file as types: frozen, strict, unknown keys refused at every depth."""

from stacks.models.base import Spec
from stacks.models.cluster import (
    Cluster,
    EksCluster,
    KubeconfigCluster,
    LocalCluster,
    StackCluster,
)
from stacks.models.gpu_pool import Capacity, GpuPool
from stacks.models.job import Git, Job, Resources, SecretReference
from stacks.models.runtime import FailFast, Failure, GangRestart, Runtime, SpotSafe
from stacks.models.stack import StackConfig
from stacks.models.tenant import Members, Quota, Storage, Tenant
from stacks.models.trainer import Trainer

__all__ = [
    "Capacity",
    "Cluster",
    "EksCluster",
    "FailFast",
    "Failure",
    "GangRestart",
    "Git",
    "GpuPool",
    "Job",
    "KubeconfigCluster",
    "LocalCluster",
    "Members",
    "Quota",
    "Resources",
    "Runtime",
    "SecretReference",
    "Spec",
    "SpotSafe",
    "StackCluster",
    "StackConfig",
    "Storage",
    "Tenant",
    "Trainer",
]
