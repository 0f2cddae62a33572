"""Pools of GPU nodes: what Karpenter may start, where, and how much of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.gpu_shapes import GpuShape, catalogue, shapes_with
from stacks.models.base import Spec
from stacks.scalars import (
    Allowed,
    DiskSize,
    GpuText,
    PlacementGroupName,
    PoolName,
    ReservationId,
    Shape,
    SnapshotId,
    Zone,
)

Capacity = Literal["reserved", "spot", "on-demand"]


class GpuPool(Spec):
    """A NodePool and its node class: EC2NodeClass on `eks`, simulated nodes on `local`.

    On `kubeconfig` nothing is made: the pool describes nodes that are there already.
    """

    name: PoolName
    """Name of the pool, of its NodePool and of its node class."""
    shape: Shape | None = None
    """EC2 instance type of all its nodes. Give this or `gpu`."""
    gpu: GpuText | None = None
    """GPUs of each node, where exactly one shape has them. Give this or `shape`."""
    zones: Annotated[
        tuple[Zone, ...],
        Field(min_length=1, max_length=6),
        Allowed("one to six zones of the cluster", ["ap-northeast-2a"]),
    ]
    """Zones where nodes may start. One zone keeps a gang's traffic short."""
    capacity: Annotated[
        tuple[Capacity, ...],
        Field(min_length=1, max_length=3),
        Allowed("reserved, spot, on-demand; in this order", ["on-demand"]),
    ] = ("on-demand",)
    """Kinds of capacity, in the order Karpenter tries them."""
    max_gpus: Annotated[int, Field(ge=1, le=100_000), Allowed("1 to 100000", 32)]
    """Ceiling of GPUs over all nodes of the pool. No pool is without one."""
    efa: bool = False
    """Attach every EFA interface the shape has."""
    disk: DiskSize = "200Gi"
    """Root volume of each node; simulated nodes have none."""
    image_cache: SnapshotId | None = None
    """Snapshot of a volume with container images, so that first pulls are short."""
    reservations: Annotated[
        tuple[ReservationId, ...],
        Field(max_length=30),
        Allowed("capacity reservation ids", ["cr-0123456789abcdef0"]),
    ] = ()
    """Capacity reservations to use; needs `reserved` in `capacity`."""
    placement_group: PlacementGroupName | None = None
    """Placement group for the nodes. Never implied by `efa`."""
    weight: Annotated[int, Field(ge=1, le=100), Allowed("1 to 100", 10)] = 10
    """A job that fits several pools gets the one with the highest weight first."""

    def node_shape(self) -> GpuShape:
        """The shape of this pool's nodes, however it was written."""
        if self.shape is not None:
            return catalogue()[self.shape]
        assert self.gpu is not None, "a check makes sure of one of them"
        return shapes_with(self.gpu)[0]
