"""All tenants of a stack, in the order of their names whatever the order in the file."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, ResourceOptions

from components.tenant_space import TenantSpace, TenantSpaceArgs
from runtimes.stack_objects import tenant_runs
from stacks.validation import Stack


@dataclass(frozen=True, kw_only=True, slots=True)
class TenantsArgs:
    stack: Stack


class Tenants(ComponentResource):
    runs: dict[str, dict[str, str]]  # tenant -> job -> TrainJob

    def __init__(self, name: str, args: TenantsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("trainstack:tenancy:Tenants", name, None, opts)
        self.runs = {
            tenant.name: TenantSpace(
                tenant.name,
                TenantSpaceArgs(tenant=tenant, runs=tenant_runs(tenant, args.stack)),
                ResourceOptions(parent=self),
            ).runs
            for tenant in sorted(args.stack.config.tenants, key=lambda tenant: tenant.name)
        }
        self.register_outputs({"runs": self.runs})
