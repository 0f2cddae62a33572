"""Whether what jobs ask for can be had: on a node, in a pool, within a quota."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from stacks.checks.subject import PlacedJob, Subject
from stacks.gpu_shapes import GpuShape
from stacks.mistakes import Mistake, Path
from stacks.models import GpuPool, Tenant
from stacks.quantities import cpu_millis, mebibytes
from stacks.rules import Rule


def check(subject: Subject) -> Iterator[Mistake]:
    wanted_of_pool: dict[str, int] = defaultdict(int)
    for tenant_path, tenant in subject.tenants():
        wanted_of_tenant = 0
        for placed in subject.jobs_of(tenant_path, tenant):
            pools = subject.sound_pools_of(placed)
            yield from _fits_node(subject, placed, pools)
            yield from _fits_cpu_quota(subject, placed)
            yield from _volumes(subject, placed, pools)
            if pools and subject.sound((*placed.path, "nodes")):
                gpus = placed.job.nodes * pools[0].node_shape().gpus
                yield from _fits_pool(placed, pools, gpus)
                yield from _fits_gpu_quota(subject, placed, gpus)
                wanted_of_tenant += gpus
                if len(pools) == 1:
                    wanted_of_pool[pools[0].name] += gpus
        yield from _jobs_quota(subject, tenant_path, tenant)
        yield from _together_over_quota(subject, tenant_path, tenant, wanted_of_tenant)
    for number, pool in enumerate(subject.config.gpu_pools):
        wanted = wanted_of_pool[pool.name]
        if wanted > pool.max_gpus:
            yield Mistake(
                rule=Rule.JOBS_WAIT_FOR_POOL,
                path=("gpuPools", number, "maxGpus"),
                message=f"all its jobs at once want {wanted} GPUs, so some will wait",
                found=pool.max_gpus,
                allowed=f"{wanted}, if they should run at the same time",
            )


def _fits_node(
    subject: Subject, placed: PlacedJob, pools: tuple[GpuPool, ...]
) -> Iterator[Mistake]:
    if not pools:
        return
    job, path = placed.job, placed.path
    # Several pools: it is enough that the largest can take it, so that is the one to ask.
    shape = max((pool.node_shape() for pool in pools), key=lambda shape: shape.vcpus)
    count = job.processes_per_node
    if isinstance(count, int) and count > shape.gpus and subject.sound((*path, "processesPerNode")):
        yield Mistake(
            rule=Rule.PROCESSES_OVER_GPUS,
            path=(*path, "processesPerNode"),
            message=f"{shape.name} has {shape.gpus} GPUs",
            found=count,
            allowed=f"auto, or at most {shape.gpus}",
            write="processesPerNode: auto",
        )
    if job.resources is not None and subject.sound((*path, "resources")):
        millis = cpu_millis(job.resources.cpu)
        if millis > shape.allocatable_cpu_millis:
            yield Mistake(
                rule=Rule.CPU_OVER_NODE,
                path=(*path, "resources", "cpu"),
                message=f"a pod on {shape.name} can get {shape.allocatable_cpu_millis}m at most",
                found=job.resources.cpu,
                allowed=f"less than {shape.allocatable_cpu_millis}m; daemons of the node take some",
                write=f'cpu: "{shape.vcpus - max(1, shape.vcpus // 16)}"',
            )
    yield from _fits_memory(subject, placed, shape)


def _fits_memory(subject: Subject, placed: PlacedJob, shape: GpuShape) -> Iterator[Mistake]:
    job, path, allocatable = placed.job, placed.path, shape.allocatable_memory_mib
    own = job.resources.memory if job.resources is not None else None
    for key, text in ((("resources", "memory"), own), (("sharedMemory",), job.shared_memory)):
        place = (*path, *key)
        if text is not None and mebibytes(text) > allocatable and subject.sound(place):
            yield Mistake(
                rule=Rule.MEMORY_OVER_NODE,
                path=place,
                message=f"a pod on {shape.name} can get {allocatable}Mi at most",
                found=text,
                allowed=f"less than {allocatable}Mi; daemons of the node take some",
                write=f"{key[-1]}: {allocatable * 9 // 10 // 1024}Gi",
            )


def _volumes(subject: Subject, placed: PlacedJob, pools: tuple[GpuPool, ...]) -> Iterator[Mistake]:
    job, path, storage = placed.job, placed.path, placed.tenant.storage
    memory = job.resources.memory if job.resources is not None else None
    shared, place = job.shared_memory, (*path, "sharedMemory")
    both = memory is not None and shared is not None and subject.sound(place, (*path, "resources"))
    if both and mebibytes(str(shared)) > mebibytes(str(memory)):
        yield Mistake(
            rule=Rule.SHARED_OVER_MEMORY,
            path=place,
            message=f"what lies in /dev/shm counts as memory, and each node may use {memory}",
            found=shared,
            allowed=f"at most {memory}, or more resources.memory",
            write=f"sharedMemory: {memory}",
        )
    once = storage.checkpoints is not None and storage.access_mode == "ReadWriteOnce"
    known = subject.sound((*placed.tenant_path, "storage"), (*path, "nodes"))
    if once and known and pools and job.nodes > 1:
        yield Mistake(
            rule=Rule.VOLUME_ON_ONE_NODE,
            path=(*path, "nodes"),
            message="each of its nodes is a machine of its own, and a ReadWriteOnce volume can be "
            "on one machine only",
            found=job.nodes,
            allowed="storage.accessMode: ReadWriteMany, or one node",
            write=f"storage: {{accessMode: ReadWriteMany, checkpoints: {storage.checkpoints}}}",
        )


def _fits_pool(placed: PlacedJob, pools: tuple[GpuPool, ...], gpus: int) -> Iterator[Mistake]:
    job, path = placed.job, placed.path
    largest = max(pools, key=lambda pool: pool.max_gpus)
    if gpus > largest.max_gpus:
        each = largest.node_shape().gpus
        yield Mistake(
            rule=Rule.GPUS_OVER_CEILING,
            path=(*path, "nodes"),
            message=f"{job.nodes} nodes x {each} GPUs are {gpus}; pool {largest.name} has at most "
            f"{largest.max_gpus}",
            found=job.nodes,
            allowed=f"at most {largest.max_gpus // each} nodes, or a higher maxGpus of the pool",
            write=f"nodes: {max(1, largest.max_gpus // each)}",
        )


def _fits_gpu_quota(subject: Subject, placed: PlacedJob, gpus: int) -> Iterator[Mistake]:
    job, path, tenant = placed.job, placed.path, placed.tenant
    quota, place = tenant.quota.gpus, (*placed.tenant_path, "quota", "gpus")
    if quota is None or gpus <= quota or not subject.sound(place):
        return
    each = gpus // job.nodes
    yield Mistake(
        rule=Rule.GPUS_OVER_QUOTA,
        path=(*path, "nodes"),
        message=f"{job.nodes} nodes x {each} GPUs are {gpus}; tenant {tenant.name} may use {quota}",
        found=job.nodes,
        allowed=f"at most {quota // each} nodes, or quota.gpus: {gpus}",
        write=f"nodes: {quota // each}" if quota >= each else f"quota: {{gpus: {gpus}}}",
    )


def _fits_cpu_quota(subject: Subject, placed: PlacedJob) -> Iterator[Mistake]:
    job, path, tenant = placed.job, placed.path, placed.tenant
    quota = tenant.quota
    limited = [key for key in ("cpu", "memory") if getattr(quota, key) is not None]
    if not subject.sound((*placed.tenant_path, "quota"), (*path, "resources"), (*path, "nodes")):
        return
    if limited and job.resources is None:
        yield Mistake(
            rule=Rule.RESOURCES_NEEDED,
            path=path,
            message=f"tenant {tenant.name} has a quota of {' and '.join(limited)}, and Kubernetes "
            "refuses pods that do not say what they use",
            allowed="`resources` for each node",
            write="resources: {cpu: 500m, memory: 16Gi}",
        )
    if job.resources is None:
        return
    millis = job.nodes * cpu_millis(job.resources.cpu)
    if quota.cpu is not None and millis > cpu_millis(quota.cpu):
        yield Mistake(
            rule=Rule.CPU_OVER_QUOTA,
            path=(*path, "resources", "cpu"),
            message=f"{job.nodes} nodes want {millis}m; tenant {tenant.name} may use {quota.cpu}",
            found=job.resources.cpu,
            allowed=f"at most {cpu_millis(quota.cpu) // job.nodes}m, or a higher quota.cpu",
            write=f"cpu: {max(1, cpu_millis(quota.cpu) // job.nodes)}m",
        )
    memory = job.nodes * mebibytes(job.resources.memory)
    if quota.memory is not None and memory > mebibytes(quota.memory):
        yield Mistake(
            rule=Rule.MEMORY_OVER_QUOTA,
            path=(*path, "resources", "memory"),
            message=f"{job.nodes} nodes want {memory}Mi; tenant {tenant.name} may use "
            f"{quota.memory}",
            found=job.resources.memory,
            allowed=f"at most {mebibytes(quota.memory) // job.nodes}Mi, or a higher quota.memory",
            write=f"memory: {max(1, mebibytes(quota.memory) // job.nodes)}Mi",
        )


def _jobs_quota(subject: Subject, path: Path, tenant: Tenant) -> Iterator[Mistake]:
    quota, count = tenant.quota.jobs, len(tenant.jobs)
    if quota is not None and count > quota and subject.sound((*path, "quota", "jobs")):
        yield Mistake(
            rule=Rule.JOBS_OVER_QUOTA,
            path=(*path, "quota", "jobs"),
            message=f"tenant {tenant.name} has {count} jobs",
            found=quota,
            allowed=f"{count} or more, or fewer jobs",
            write=f"jobs: {count}",
        )


def _together_over_quota(
    subject: Subject, path: Path, tenant: Tenant, wanted: int
) -> Iterator[Mistake]:
    quota, place = tenant.quota.gpus, (*path, "quota", "gpus")
    if quota is not None and wanted > quota and len(tenant.jobs) > 1 and subject.sound(place):
        yield Mistake(
            rule=Rule.JOBS_WAIT_FOR_QUOTA,
            path=place,
            message=f"all its jobs at once want {wanted} GPUs, so some will wait",
            found=quota,
            allowed=f"{wanted}, if they should run at the same time",
        )
