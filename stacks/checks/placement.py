"""Where a job runs: its pool, its GPUs, its zone."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.checks.subject import Subject, one_shape
from stacks.mistakes import Mistake, Path
from stacks.models import GpuPool, Job, SpotSafe
from stacks.nearest import closest
from stacks.placement import pools_of
from stacks.rules import Rule


def check(subject: Subject) -> Iterator[Mistake]:
    if not subject.knows_the_platform:
        return
    whole = [pool for pool in subject.pools if one_shape(pool)]
    failures = {runtime.name: runtime.failure for runtime in subject.runtimes}
    for placed in subject.jobs():
        job, path = placed.job, placed.path
        places = [(*path, key) for key in ("pool", "gpu", "shape")]
        if not subject.sound(*places):
            continue
        given = [key for key in ("pool", "gpu", "shape") if getattr(job, key) is not None]
        if len(given) > 1:
            yield _several(path, given)
            continue
        yield from _offered(subject, path, job, whole)
        yield from _zone(subject, path, job, whole)
        pools = pools_of(job, whole)
        counted = not isinstance(failures.get(job.runtime), SpotSafe) and job.runtime in failures
        if counted and any("spot" in pool.capacity for pool in pools):
            yield _spot(path, pools)


def _several(path: Path, given: list[str]) -> Mistake:
    return Mistake(
        rule=Rule.PLACEMENT,
        path=(*path, given[1]),
        at_key=True,
        message=f"beside `{given[0]}`",
        allowed="at most one of `pool`, `gpu` and `shape`; none: CPU nodes",
    )


def _offered(subject: Subject, path: Path, job: Job, pools: list[GpuPool]) -> Iterator[Mistake]:
    asked = job.placement()
    without_zone = job.model_copy(update={"zone": None})
    if asked is None or pools_of(without_zone, pools):
        return
    kind, wanted = asked
    names = [pool.name for pool in subject.pools]
    if subject.below is None and not subject.sound.names("gpuPools", len(names)):
        return
    if kind == "pool" and wanted in names:
        return  # it is there, and its own mistake is told
    if kind != "pool" and len(pools) < len(subject.pools):
        return  # one of the pools that cannot be seen yet may offer it
    offers = {
        "pool": names,
        "gpu": sorted({pool.node_shape().gpu_text for pool in pools}),
        "shape": sorted({pool.node_shape().name for pool in pools}),
    }[kind]
    near = closest(wanted, offers)
    yield Mistake(
        rule=Rule.UNKNOWN_POOL if kind == "pool" else Rule.NO_POOL_OFFERS,
        path=(*path, kind),
        message="no such pool" if kind == "pool" else "no pool of this stack offers it",
        found=wanted,
        allowed=", ".join(offers) or "this stack has no GPU pools; add them to trainstack:gpuPools",
        nearest=near,
        write=f"{kind}: {near[0]}" if near else "",
    )


def _zone(subject: Subject, path: Path, job: Job, pools: list[GpuPool]) -> Iterator[Mistake]:
    place = (*path, "zone")
    if not subject.sound(place):
        return
    fitting = pools_of(job.model_copy(update={"zone": None}), pools)
    zones = sorted({zone for pool in fitting for zone in pool.zones})
    if job.zone is not None and job.zone not in zones and (fitting or job.placement() is None):
        near = closest(job.zone, zones)
        yield Mistake(
            rule=Rule.ZONE_OUTSIDE_POOL,
            path=place,
            message="not a zone of its pool" if fitting else "only jobs on GPU pools have a zone",
            found=job.zone,
            allowed=", ".join(zones) or "no zone",
            nearest=near,
            write=f"zone: {near[0]}" if near else "",
        )
    spread = any(pool.efa for pool in fitting) and len(zones) > 1
    if job.zone is None and job.nodes > 1 and spread and subject.sound((*path, "nodes")):
        yield Mistake(
            rule=Rule.ZONE_NEEDED,
            path=path,
            message="EFA works within one zone, and the pool has several",
            allowed=f"one of {', '.join(zones)}",
            write=f"zone: {zones[0]}",
        )


def _spot(path: Path, pools: tuple[GpuPool, ...]) -> Mistake:
    names = ", ".join(pool.name for pool in pools if "spot" in pool.capacity)
    return Mistake(
        rule=Rule.SPOT_COUNTED,
        path=(*path, "runtime"),
        message=f"pool {names} may be spot, and this runtime counts each interruption as a failure",
        allowed="a runtime with failure class spot-safe",
    )
