"""Which pools a job may run on."""

from __future__ import annotations

from collections.abc import Sequence

from stacks.models import GpuPool, Job


def pools_of(job: Job, pools: Sequence[GpuPool]) -> tuple[GpuPool, ...]:
    """The pools that fit, highest weight first; none for a CPU job, or when nothing fits."""
    asked = job.placement()
    if asked is None:
        return ()
    kind, wanted = asked
    fitting = [
        pool
        for pool in pools
        if _offers(pool, kind, wanted) and (job.zone is None or job.zone in pool.zones)
    ]
    return tuple(sorted(fitting, key=lambda pool: (-pool.weight, pool.name)))


def _offers(pool: GpuPool, kind: str, wanted: str) -> bool:
    match kind:
        case "pool":
            return pool.name == wanted
        case "gpu":
            return pool.node_shape().gpu_text == wanted
        case _:
            return pool.node_shape().name == wanted
