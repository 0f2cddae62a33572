"""A tenant's namespace with all that its jobs need, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi_kubernetes as kubernetes
from pulumi import ComponentResource, Resource, ResourceOptions

from components.training_run import TrainingRun, TrainingRunArgs
from runtimes.manifest import MANAGED
from runtimes.training_run import CHECKPOINT_CLAIM, pytorch_setup
from stacks.models import Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSpaceArgs:
    tenant: Tenant


class TenantSpace(ComponentResource):
    """Namespace, system ConfigMap and volumes of one tenant, and a TrainingRun for each job."""

    runs: dict[str, str]  # job -> TrainJob

    def __init__(
        self, name: str, args: TenantSpaceArgs, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("trainstack:tenancy:TenantSpace", name, None, opts)
        tenant = args.tenant
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace",
            metadata={
                "name": tenant.name,
                "labels": {**MANAGED, "trainstack.io/tenant": tenant.name},
            },
            opts=ResourceOptions(parent=self),
        )
        within = ResourceOptions(parent=self, depends_on=[namespace])
        setup = pytorch_setup(tenant)
        needed: list[Resource] = [
            kubernetes.core.v1.ConfigMap(
                f"{name}-pytorch-setup",
                metadata=setup["metadata"],
                data=setup["data"],
                opts=within,
            )
        ]
        if tenant.storage.checkpoints is not None:
            needed.append(
                kubernetes.core.v1.PersistentVolumeClaim(
                    f"{name}-checkpoints",
                    metadata={
                        "name": CHECKPOINT_CLAIM,
                        "namespace": tenant.name,
                        "labels": MANAGED,
                    },
                    spec={
                        "access_modes": [tenant.storage.access_mode],
                        "resources": {"requests": {"storage": tenant.storage.checkpoints}},
                    },
                    opts=within,
                )
            )
        self.runs = {
            job.name: TrainingRun(
                f"{name}-{job.name}",
                TrainingRunArgs(tenant=tenant, job=job),
                ResourceOptions(parent=self, depends_on=needed),
            ).train_job
            for job in tenant.jobs
        }
        self.register_outputs({"runs": self.runs})
