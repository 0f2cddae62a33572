"""The stack file as types: frozen, strict, unknown keys refused at every depth.

Keys are camelCase in YAML, as in Kubernetes, and snake_case in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from stacks.scalars import DnsLabel, EnvName, ImageName, JobName, Quantity, TrainingFile

TRAINING_FOLDER = Path(__file__).parents[1] / "training"
_CONFIG_MAP_LIMIT = 1_000_000  # etcd takes 1 MiB for the whole object


class Spec(BaseModel):
    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", alias_generator=to_camel, populate_by_name=False
    )


class LocalCluster(Spec):
    """The embedded cluster that `make up` starts beside this program."""

    kind: Literal["local"]


class KubeconfigCluster(Spec):
    """An existing cluster (kind, EKS, any other) by a context of a kubeconfig file."""

    kind: Literal["kubeconfig"]
    context: str = Field(min_length=1, examples=["kind-trainstack"])
    path: str = Field(default="~/.kube/config", min_length=1)


Cluster = Annotated[LocalCluster | KubeconfigCluster, Field(discriminator="kind")]


class Trainer(Spec):
    """Kubeflow Trainer and the JobSet that belongs to it."""

    version: Literal["2.3.0"] = "2.3.0"


class GangRestart(Spec):
    """Any worker fails: all workers restart, at most `maxRestarts` times, then Failed."""

    kind: Literal["gang-restart"] = Field(alias="class")
    max_restarts: int = Field(default=10, ge=0, le=1000)


class FailFast(Spec):
    """Any worker fails: the run is Failed at once."""

    kind: Literal["fail-fast"] = Field(alias="class")


Failure = Annotated[GangRestart | FailFast, Field(discriminator="kind")]


class Runtime(Spec):
    """A ClusterTrainingRuntime that jobs of all tenants may use."""

    name: DnsLabel
    framework: Literal["torch"]
    image: ImageName = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"
    failure: Failure = GangRestart.model_validate({"class": "gang-restart"})


class Resources(Spec):
    """What one node of a job is promised. Memory is also its limit; idle CPU may be used."""

    cpu: Quantity
    memory: Quantity


class Job(Spec):
    """One training run. Changing any field or the script makes a new run; the old one goes."""

    name: JobName
    runtime: DnsLabel
    nodes: int = Field(ge=1, le=512)
    processes_per_node: int = Field(default=1, ge=1, le=64)
    script: TrainingFile
    args: tuple[str, ...] = ()
    env: dict[EnvName, str] = {}
    resources: Resources | None = None
    run: int = Field(default=1, ge=1, description="a higher number runs unchanged code again")

    @model_validator(mode="after")
    def _script_can_be_mounted(self) -> Self:
        file = TRAINING_FOLDER / self.script
        if not file.resolve().is_relative_to(TRAINING_FOLDER.resolve()) or not file.is_file():
            raise ValueError(f"script {self.script!r} is not a file under training/")
        if file.stat().st_size > _CONFIG_MAP_LIMIT:
            raise ValueError(
                f"script {self.script!r} is larger than a ConfigMap ({_CONFIG_MAP_LIMIT} bytes)"
            )
        return self

    @model_validator(mode="after")
    def _no_reserved_environment(self) -> Self:
        reserved = sorted(name for name in self.env if name.startswith("PET_"))
        if reserved:
            raise ValueError(
                f"env {', '.join(reserved)}: names that begin with PET_ belong to Trainer"
            )
        return self


class Storage(Spec):
    """Volumes that outlive a run and its restarts."""

    checkpoints: Quantity | None = Field(default=None, description="mounted at /checkpoints")
    access_mode: Literal["ReadWriteMany", "ReadWriteOnce"] = Field(
        default="ReadWriteMany",
        description="ReadWriteOnce only where all nodes of a job share one machine",
    )


class Tenant(Spec):
    """A namespace with what its jobs need, and the jobs."""

    name: DnsLabel
    storage: Storage = Storage()
    jobs: tuple[Job, ...] = ()

    @model_validator(mode="after")
    def _job_names_differ(self) -> Self:
        _require_unique(f"jobs of tenant {self.name}", (job.name for job in self.jobs))
        return self


class StackConfig(Spec):
    """One stack file. What is absent is not made."""

    cluster: Cluster
    trainer: Trainer = Trainer()
    runtimes: tuple[Runtime, ...] = ()
    tenants: tuple[Tenant, ...] = ()

    @model_validator(mode="after")
    def _references_hold(self) -> Self:
        _require_unique("runtimes", (runtime.name for runtime in self.runtimes))
        _require_unique("tenants", (tenant.name for tenant in self.tenants))
        known = {runtime.name for runtime in self.runtimes}
        for tenant in self.tenants:
            for job in tenant.jobs:
                if job.runtime not in known:
                    raise ValueError(
                        f"job {tenant.name}/{job.name} uses runtime {job.runtime!r}; "
                        f"this stack has: {', '.join(sorted(known)) or 'none'}"
                    )
        return self


def _require_unique(what: str, names: Iterable[str]) -> None:
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise ValueError(f"{what}: the name {', '.join(twice)} is used more than once")
