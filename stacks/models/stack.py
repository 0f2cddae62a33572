"""The whole stack file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stacks.models.base import Spec
from stacks.models.cluster import Cluster
from stacks.models.gpu_pool import GpuPool
from stacks.models.runtime import Runtime
from stacks.models.tenant import Tenant
from stacks.models.trainer import Trainer


class StackConfig(Spec):
    """One stack file. Each block is a key `trainstack:<block>`; what is absent is not made."""

    cluster: Cluster
    """The cluster to work on."""
    gpu_pools: Annotated[tuple[GpuPool, ...], Field(max_length=100)] = ()
    """Pools of GPU nodes."""
    trainer: Trainer = Trainer()
    """Kubeflow Trainer and JobSet."""
    runtimes: Annotated[tuple[Runtime, ...], Field(max_length=100)] = ()
    """Training runtimes for all tenants."""
    tenants: Annotated[tuple[Tenant, ...], Field(max_length=5000)] = ()
    """Tenants and their jobs."""
