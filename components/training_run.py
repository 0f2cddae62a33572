"""One run: an immutable ConfigMap with the code, and the TrainJob that mounts it."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, ResourceOptions

from components.objects import kubernetes_object
from runtimes.training_run import TrainingRunManifests


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRunArgs:
    run: TrainingRunManifests


class TrainingRun(ComponentResource):
    """Named by its content: no change, no diff; any change replaces the pair, new one first."""

    train_job: str

    def __init__(
        self, name: str, args: TrainingRunArgs, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("trainstack:training:TrainingRun", name, None, opts)
        run = args.run
        inside = ResourceOptions(parent=self)
        if run.code is not None:
            code = kubernetes_object(f"{name}.code", run.code, inside)
            inside = ResourceOptions(parent=self, depends_on=[code])
        kubernetes_object(f"{name}.job", run.train_job, inside)
        self.train_job = run.name
        self.register_outputs({"trainJob": run.name})
