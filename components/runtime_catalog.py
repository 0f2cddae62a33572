"""The stack's training runtimes, declared by us: the chart's own come by a hook that never runs."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, ResourceOptions

from components.objects import kubernetes_object
from runtimes.training_runtime import cluster_training_runtime
from stacks.models import Runtime


@dataclass(frozen=True, kw_only=True, slots=True)
class RuntimeCatalogArgs:
    runtimes: tuple[Runtime, ...]


class RuntimeCatalog(ComponentResource):
    """One ClusterTrainingRuntime for each runtime of the stack file."""

    names: tuple[str, ...]

    def __init__(
        self, name: str, args: RuntimeCatalogArgs, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("trainstack:training:RuntimeCatalog", name, None, opts)
        runtimes = sorted(args.runtimes, key=lambda runtime: runtime.name)
        for runtime in runtimes:
            manifest = cluster_training_runtime(runtime)
            kubernetes_object(runtime.name, manifest, ResourceOptions(parent=self))
        self.names = tuple(runtime.name for runtime in runtimes)
        self.register_outputs({"names": list(self.names)})
