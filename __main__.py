"""One stack file becomes a training platform. Read from top to bottom: this is all there is."""

import pulumi
from pulumi import ResourceOptions

from components.cluster import cluster_for
from components.gpu_pools import GpuPools, GpuPoolsArgs
from components.runtime_catalog import RuntimeCatalog, RuntimeCatalogArgs
from components.tenants import Tenants, TenantsArgs
from components.trainer import Trainer, TrainerArgs
from stacks.loader import load_stack

stack = load_stack()  # stops here, with every mistake named

cluster = cluster_for(stack.config.cluster)
on_cluster = ResourceOptions(provider=cluster.provider)

trainer = Trainer("trainer", TrainerArgs(cluster=cluster, trainer=stack.trainer), on_cluster)
after_trainer = ResourceOptions(provider=cluster.provider, depends_on=trainer.ready)

pools = GpuPools("gpu-pools", GpuPoolsArgs(stack=stack), on_cluster)
runtimes = RuntimeCatalog("runtimes", RuntimeCatalogArgs(runtimes=stack.runtimes), after_trainer)
after_all = ResourceOptions(provider=cluster.provider, depends_on=[pools, runtimes])

tenants = Tenants("tenants", TenantsArgs(stack=stack), after_all)

pulumi.export("kubeconfig", cluster.kubeconfig)  # secret; for stacks that stand on this one
pulumi.export("clusterIdentity", cluster.identity)
pulumi.export("gpuPools", pools.ceilings)  # pool -> most GPUs it may have
pulumi.export("runtimes", runtimes.names)
pulumi.export("runs", tenants.runs)  # tenant -> job -> TrainJob
