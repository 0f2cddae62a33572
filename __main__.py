"""One stack file becomes a training platform. Read from top to bottom: this is all there is."""

import pulumi
from pulumi import ResourceOptions

from components.cluster import cluster_for
from components.runtime_catalog import RuntimeCatalog, RuntimeCatalogArgs
from components.tenants import Tenants, TenantsArgs
from components.trainer import Trainer, TrainerArgs
from stacks.loader import load_stack_config

config = load_stack_config()  # stops here, with every mistake named

cluster = cluster_for(config.cluster)
on_cluster = ResourceOptions(provider=cluster.provider)

trainer = Trainer("trainer", TrainerArgs(cluster=cluster, trainer=config.trainer), on_cluster)
after_trainer = ResourceOptions(provider=cluster.provider, depends_on=[trainer.ready])

runtimes = RuntimeCatalog("runtimes", RuntimeCatalogArgs(runtimes=config.runtimes), after_trainer)
after_runtimes = ResourceOptions(provider=cluster.provider, depends_on=[runtimes])

tenants = Tenants("tenants", TenantsArgs(tenants=config.tenants), after_runtimes)

pulumi.export("trainer", config.trainer.version)
pulumi.export("runtimes", runtimes.names)
pulumi.export("runs", tenants.runs)  # tenant -> job -> TrainJob
