"""The stack's GPU pools: a NodePool and a node class for each."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, ResourceOptions

from components.objects import kubernetes_object
from runtimes.stack_objects import pool_objects
from stacks.validation import Stack


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuPoolsArgs:
    stack: Stack


class GpuPools(ComponentResource):
    """What Karpenter may start. Nothing on clusters whose nodes are not ours to make."""

    ceilings: dict[str, int]  # pool -> GPUs

    def __init__(self, name: str, args: GpuPoolsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("trainstack:platform:GpuPools", name, None, opts)
        pools = sorted(args.stack.config.gpu_pools, key=lambda pool: pool.name)
        for pool in pools:
            needed = ResourceOptions(parent=self)
            for manifest in pool_objects(pool, args.stack):
                # The node class first, and last on the way down: Karpenter needs it to the end.
                made = kubernetes_object(f"{pool.name}.{manifest['kind']}", manifest, needed)
                needed = ResourceOptions(parent=self, depends_on=[made])
        self.ceilings = {pool.name: pool.max_gpus for pool in pools}
        self.register_outputs({"ceilings": self.ceilings})
