"""Every Kubernetes object of ours that a stack becomes, without Pulumi and without a cluster."""

from __future__ import annotations

from runtimes.gpu_pool import eks_pool, simulated_pool
from runtimes.manifest import Manifest
from runtimes.tenant import namespace, tenant_objects
from runtimes.training_run import TrainingRunManifests, training_run
from runtimes.training_runtime import cluster_training_runtime
from stacks.models import (
    EksCluster,
    GpuPool,
    KubeconfigCluster,
    LocalCluster,
    StackCluster,
    StackConfig,
    Tenant,
)
from stacks.validation import Stack


def stack_objects(stack: Stack) -> list[Manifest]:
    objects = [item for pool in stack.config.gpu_pools for item in pool_objects(pool, stack)]
    objects += [cluster_training_runtime(runtime) for runtime in stack.runtimes]
    for tenant in stack.config.tenants:
        objects += [namespace(tenant), *tenant_objects(tenant)]
        for run in tenant_runs(tenant, stack).values():
            objects += [run.code] if run.code is not None else []
            objects.append(run.train_job)
    return objects


def tenant_runs(tenant: Tenant, stack: Stack) -> dict[str, TrainingRunManifests]:
    """The run of each job, by the job's name."""
    return {
        job.name: training_run(
            tenant, job, stack.pools, pools_are_ours=_pools_are_ours(stack.platform or stack.config)
        )
        for job in tenant.jobs
    }


def pool_objects(pool: GpuPool, stack: Stack) -> list[Manifest]:
    match stack.config.cluster:
        case LocalCluster():
            return simulated_pool(pool)
        case EksCluster() as cluster:
            return eks_pool(pool, cluster)
        case KubeconfigCluster() | StackCluster():
            return []  # the nodes are there already


def _pools_are_ours(platform: StackConfig) -> bool:
    """Whether the nodes were labelled by a pool that this program made."""
    return not isinstance(platform.cluster, KubeconfigCluster)
