"""A tenant's namespace with all that its jobs need, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, ResourceOptions

from components.objects import kubernetes_object
from components.training_run import TrainingRun, TrainingRunArgs
from runtimes.tenant import namespace, tenant_objects
from runtimes.training_run import TrainingRunManifests
from stacks.models import Tenant


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantSpaceArgs:
    tenant: Tenant
    runs: dict[str, TrainingRunManifests]  # job -> its run


class TenantSpace(ComponentResource):
    """Namespace, quota, members' rights, volumes of one tenant, and a TrainingRun for each job.

    Names are joined by dots, which no tenant or job can have: tenant `a` with job `b-c` and tenant
    `a-b` with job `c` stay apart.
    """

    runs: dict[str, str]  # job -> TrainJob

    def __init__(
        self, name: str, args: TenantSpaceArgs, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("trainstack:tenancy:TenantSpace", name, None, opts)
        space = kubernetes_object(
            f"{name}.namespace", namespace(args.tenant), ResourceOptions(parent=self)
        )
        within = ResourceOptions(parent=self, depends_on=[space])
        needed = [
            kubernetes_object(f"{name}.{manifest['metadata']['name']}", manifest, within)
            for manifest in tenant_objects(args.tenant)
        ]
        after_all = ResourceOptions(parent=self, depends_on=needed)
        self.runs = {
            job: TrainingRun(f"{name}.{job}", TrainingRunArgs(run=run), after_all).train_job
            for job, run in args.runs.items()
        }
        self.register_outputs({"runs": self.runs})
