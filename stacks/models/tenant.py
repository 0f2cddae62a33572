"""A tenant: one namespace, its limits, its people, its volumes, its jobs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.models.base import Spec
from stacks.models.job import Job
from stacks.scalars import Allowed, Cpu, DnsLabel, Memory, RuntimeName, SubjectName


class Quota(Spec):
    """Ceilings over all pods of the tenant at one time. What is absent is not limited."""

    gpus: Annotated[int, Field(ge=0, le=100_000), Allowed("0 to 100000", 16)] | None = None
    """GPUs; 0 keeps the tenant on CPU nodes."""
    cpu: Cpu | None = None
    """CPU, as text. Every job then says its `resources`."""
    memory: Memory | None = None
    """Memory. Every job then says its `resources`."""
    jobs: Annotated[int, Field(ge=0, le=10_000), Allowed("0 to 10000", 20)] | None = None
    """TrainJobs in the namespace, finished ones included."""


class Members(Spec):
    """Who may work in the namespace: create, read and delete TrainJobs, read pods and logs."""

    users: Annotated[tuple[SubjectName, ...], Field(max_length=1000)] = ()
    """Users, as the cluster's authentication names them."""
    groups: Annotated[tuple[SubjectName, ...], Field(max_length=1000)] = ()
    """Groups, as the cluster's authentication names them."""


class Storage(Spec):
    """Volumes that outlive a run and its restarts."""

    checkpoints: Memory | None = None
    """Size of the volume at /checkpoints; each run has a folder of its own in it."""
    access_mode: Annotated[
        Literal["ReadWriteMany", "ReadWriteOnce"],
        Allowed("ReadWriteMany or ReadWriteOnce", "ReadWriteMany"),
    ] = "ReadWriteMany"
    """ReadWriteOnce only where all nodes of a job share one machine."""


class Tenant(Spec):
    """A namespace with what its jobs need, and the jobs."""

    name: DnsLabel
    """Name of the tenant and of its namespace."""
    quota: Quota = Quota()
    """What the tenant may use at one time."""
    members: Members = Members()
    """Who may work in the namespace."""
    allowed_runtimes: (
        Annotated[
            tuple[RuntimeName, ...],
            Field(min_length=1, max_length=100),
            Allowed("names of runtimes", ["torch-distributed"]),
        ]
        | None
    ) = None
    """Runtimes its jobs may use; absent: all."""
    storage: Storage = Storage()
    """Volumes."""
    jobs: Annotated[tuple[Job, ...], Field(max_length=1000)] = ()
    """Training jobs."""
