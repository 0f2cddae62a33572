"""One run: an immutable ConfigMap with the code, and the TrainJob that mounts it."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi_kubernetes as kubernetes
from pulumi import ComponentResource, ResourceOptions

from runtimes.training_run import training_run
from stacks.models import Job, Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRunArgs:
    tenant: Tenant
    job: Job


class TrainingRun(ComponentResource):
    """Named by its content: no change, no diff; any change replaces the pair, new one first."""

    train_job: str

    def __init__(
        self, name: str, args: TrainingRunArgs, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("trainstack:training:TrainingRun", name, None, opts)
        run = training_run(args.tenant, args.job)
        code = kubernetes.core.v1.ConfigMap(
            f"{name}-code",
            metadata=run.code["metadata"],
            immutable=run.code["immutable"],
            data=run.code["data"],
            opts=ResourceOptions(parent=self),
        )
        kubernetes.apiextensions.CustomResource(
            f"{name}-job",
            api_version=run.train_job["apiVersion"],
            kind=run.train_job["kind"],
            metadata=run.train_job["metadata"],
            spec=run.train_job["spec"],
            opts=ResourceOptions(parent=self, depends_on=[code]),
        )
        self.train_job = run.name
        self.register_outputs({"trainJob": run.name})
