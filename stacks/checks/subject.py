"""What a check looks at: the stack, the platform it stands on, and which parts to trust."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacks.mending import Soundness
from stacks.mistakes import Mistake, Path
from stacks.models import GpuPool, Job, Runtime, StackConfig, Tenant
from stacks.placement import pools_of


@dataclass(frozen=True, slots=True)
class Platform:
    """The stack that `cluster.kind: stack` names, if its file could be read."""

    config: StackConfig | None
    mistake: Mistake | None


@dataclass(frozen=True, slots=True)
class PlacedJob:
    """A job, its tenant, and where both stand."""

    job: Job
    path: Path
    tenant: Tenant
    tenant_path: Path


@dataclass(frozen=True, slots=True)
class Subject:
    config: StackConfig
    sound: Soundness
    platform: Platform | None = None  # None: this stack has a cluster of its own

    @property
    def below(self) -> StackConfig | None:
        return self.platform.config if self.platform is not None else None

    @property
    def pools(self) -> tuple[GpuPool, ...]:
        below = self.below
        return below.gpu_pools if below is not None else self.config.gpu_pools

    @property
    def runtimes(self) -> tuple[Runtime, ...]:
        below = self.below
        return (*self.config.runtimes, *(below.runtimes if below is not None else ()))

    @property
    def knows_the_platform(self) -> bool:
        """Whether pools and runtimes are all there to be seen."""
        return self.sound(("cluster", "kind")) and (self.platform is None or self.below is not None)

    def jobs(self) -> Iterator[PlacedJob]:
        for path, tenant in self.tenants():
            yield from self.jobs_of(path, tenant)

    def jobs_of(self, tenant_path: Path, tenant: Tenant) -> Iterator[PlacedJob]:
        for number, job in enumerate(tenant.jobs):
            yield PlacedJob(job, (*tenant_path, "jobs", number), tenant, tenant_path)

    def tenants(self) -> Iterator[tuple[Path, Tenant]]:
        for number, tenant in enumerate(self.config.tenants):
            yield ("tenants", number), tenant

    def sound_pools_of(self, placed: PlacedJob) -> tuple[GpuPool, ...]:
        """The pools a job may run on; none while it is not certain which."""
        asked = [(*placed.path, key) for key in ("pool", "gpu", "shape", "zone")]
        if not self.knows_the_platform or not self.sound(*asked):
            return ()
        if not all(one_shape(pool) for pool in self.pools):
            return ()
        found = pools_of(placed.job, self.pools)
        if self.below is None:
            places = [("gpuPools", self.config.gpu_pools.index(pool)) for pool in found]
            return found if self.sound(*places) else ()
        return found


def one_shape(pool: GpuPool) -> bool:
    return (pool.shape is None) != (pool.gpu is None)
