"""GPU pools by themselves and against the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic.alias_generators import to_camel

from stacks.checks.subject import Subject, one_shape
from stacks.gpu_shapes import shapes_with
from stacks.mistakes import Mistake, Path, as_yaml
from stacks.models import EksCluster, GpuPool, LocalCluster
from stacks.nearest import closest
from stacks.rules import Rule
from stacks.simulation import SIMULATED_CAPACITY, SIMULATED_ZONES

# The order in which Karpenter tries the capacity types of one NodePool; it cannot be changed.
_KARPENTERS_ORDER = ("reserved", "spot", "on-demand")


def check(subject: Subject) -> Iterator[Mistake]:
    for number, pool in enumerate(subject.config.gpu_pools):
        path: Path = ("gpuPools", number)
        yield from _shape(subject, path, pool)
        yield from _zones(subject, path, pool)
        yield from _capacity(subject, path, pool)
        yield from _node(subject, path, pool)


def _shape(subject: Subject, path: Path, pool: GpuPool) -> Iterator[Mistake]:
    if not subject.sound((*path, "shape"), (*path, "gpu")):
        return
    if not one_shape(pool):
        yield Mistake(
            rule=Rule.POOL_SHAPE,
            path=path,
            message="gives both `shape` and `gpu`" if pool.shape else "gives no `shape`",
            allowed="exactly one of `shape` and `gpu`",
            write=f"shape: {pool.shape or 'g6e.48xlarge'}",
        )
    elif pool.gpu is not None and len(shapes_with(pool.gpu)) > 1:
        names = tuple(shape.name for shape in shapes_with(pool.gpu))
        yield Mistake(
            rule=Rule.GPU_AMBIGUOUS,
            path=(*path, "gpu"),
            message="several shapes have these GPUs",
            found=pool.gpu,
            allowed=", ".join(names),
            nearest=names[:1],
            write=f"shape: {names[0]}",
        )


def _zones(subject: Subject, path: Path, pool: GpuPool) -> Iterator[Mistake]:
    zones = _zones_of_cluster(subject)
    for number, zone in enumerate(pool.zones):
        place = (*path, "zones", number)
        if zones and zone not in zones and subject.sound(place):
            near = closest(zone, zones)
            yield Mistake(
                rule=Rule.ZONE_OUTSIDE_CLUSTER,
                path=place,
                message="not a zone of the cluster",
                found=zone,
                allowed=", ".join(zones),
                nearest=near,
                write=f"- {near[0] if near else zones[0]}",
            )


def _zones_of_cluster(subject: Subject) -> tuple[str, ...]:
    """Empty: not known, so not checked."""
    cluster = subject.config.cluster
    if not subject.sound(("cluster", "kind"), ("cluster", "zones")):
        return ()
    match cluster:
        case EksCluster():
            return cluster.zones
        case LocalCluster():
            return SIMULATED_ZONES
        case _:
            return ()


def _capacity(subject: Subject, path: Path, pool: GpuPool) -> Iterator[Mistake]:
    place = (*path, "capacity")
    if not subject.sound(place):
        return
    order = [kind for kind in _KARPENTERS_ORDER if kind in pool.capacity]
    if list(pool.capacity) != order:
        yield Mistake(
            rule=Rule.CAPACITY_ORDER,
            path=place,
            message="Karpenter would not try them in this order",
            found=list(pool.capacity),
            allowed="reserved, spot, on-demand in this order, each once; for another order make "
            "two pools and give the preferred one a higher weight",
            write=f"capacity: {as_yaml(order)}",
        )
    if isinstance(subject.config.cluster, LocalCluster) and subject.sound(("cluster", "kind")):
        for key in ("image_cache", "placement_group"):
            if getattr(pool, key) is not None:
                alias = to_camel(key)
                yield Mistake(
                    rule=Rule.NOT_SIMULATED,
                    path=(*path, alias),
                    at_key=True,
                    message="simulated nodes have no such thing",
                    found=getattr(pool, key),
                    allowed=f"no {alias} on `local`",
                )
        for number, kind in enumerate(pool.capacity):
            if kind not in SIMULATED_CAPACITY:
                yield Mistake(
                    rule=Rule.NOT_SIMULATED,
                    path=(*place, number),
                    message="simulated nodes have no such capacity",
                    found=kind,
                    allowed=", ".join(SIMULATED_CAPACITY),
                )
    if not subject.sound((*path, "reservations")):
        return
    if "reserved" in pool.capacity and not pool.reservations:
        yield Mistake(
            rule=Rule.RESERVATIONS,
            path=place,
            message="`reserved` needs to know which reservations",
            found=list(pool.capacity),
            allowed="`reservations` beside it",
            write="reservations: [cr-0123456789abcdef0]",
        )
    if pool.reservations and "reserved" not in pool.capacity:
        yield Mistake(
            rule=Rule.RESERVATIONS,
            path=(*path, "reservations"),
            message="reservations that `capacity` does not use",
            found=list(pool.reservations),
            allowed="`reserved` in `capacity`",
            write=f"capacity: {as_yaml(['reserved', *pool.capacity])}",
        )


def _node(subject: Subject, path: Path, pool: GpuPool) -> Iterator[Mistake]:
    if not one_shape(pool) or not subject.sound((*path, "shape"), (*path, "gpu")):
        return
    if pool.gpu is not None and len(shapes_with(pool.gpu)) > 1:
        return
    shape = pool.node_shape()
    if pool.efa and shape.efa_interfaces == 0 and subject.sound((*path, "efa")):
        yield Mistake(
            rule=Rule.NO_EFA,
            path=(*path, "efa"),
            message=f"{shape.name} has no EFA interface",
            found=True,
            allowed=f"false, or a larger shape of {shape.name.partition('.')[0]}",
            write="efa: false",
        )
    if pool.max_gpus < shape.gpus and subject.sound((*path, "maxGpus")):
        yield Mistake(
            rule=Rule.CEILING_BELOW_NODE,
            path=(*path, "maxGpus"),
            message=f"one {shape.name} has {shape.gpus} GPUs, so no node could ever start",
            found=pool.max_gpus,
            allowed=f"{shape.gpus} or more",
            write=f"maxGpus: {shape.gpus}",
        )
