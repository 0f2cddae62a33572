"""One training job of a tenant."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.models.base import Spec
from stacks.scalars import (
    Allowed,
    Cpu,
    Duration,
    EnvName,
    GitRef,
    GitUrl,
    GpuText,
    JobName,
    Memory,
    PoolName,
    ProcessCount,
    RepositoryFile,
    RuntimeName,
    SecretKey,
    SecretName,
    Shape,
    Text,
    TrainingFile,
    Zone,
)


class Resources(Spec):
    """What one node of a job is promised. Memory is also its limit; idle CPU may be used."""

    cpu: Cpu
    """CPU of each node, as text."""
    memory: Memory
    """Memory of each node; more than this and the worker is killed."""


class Git(Spec):
    """Code from a git repository, cloned before training starts. Its runtime has a `gitImage`."""

    repo: GitUrl
    """The repository."""
    ref: GitRef
    """Branch, tag or commit."""
    script: RepositoryFile
    """The file to run, from the top of the repository."""


class SecretReference(Spec):
    """A key of a Secret in the tenant's namespace. Its value never passes through the stack."""

    secret: SecretName
    """Name of the Secret."""
    key: SecretKey
    """Key in it."""


class Job(Spec):
    """One training run. Changing any field or the script makes a new run; the old one goes."""

    name: JobName
    """Name of the job; each of its runs is named `<job>-<hash>`."""
    runtime: RuntimeName
    """A runtime of this stack, or of the platform it stands on."""
    nodes: Annotated[int, Field(ge=1, le=512), Allowed("1 to 512", 2)]
    """Number of nodes; each is one pod."""
    pool: PoolName | None = None
    """Run on this GPU pool. Give one of `pool`, `gpu`, `shape`, or none for CPU nodes."""
    gpu: GpuText | None = None
    """Run on any pool whose nodes have exactly these GPUs, highest weight first."""
    shape: Shape | None = None
    """Run on any pool of this shape, highest weight first."""
    zone: Zone | None = None
    """Run in this zone only, one of the pool's."""
    processes_per_node: ProcessCount = "auto"
    """Processes on each node; auto: one for each GPU, or for each CPU core without GPUs."""
    script: TrainingFile | None = None
    """The training script, under training/. Give this or `git`."""
    git: Git | None = None
    """The training script, from a repository. Give this or `script`."""
    args: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    """Arguments of the script; each stays one argument. Numbers in quotes."""
    env: dict[EnvName, Text] = Field(default_factory=dict[str, str], max_length=500)
    """Environment variables, as text. Not for secrets."""
    secret_env: dict[EnvName, SecretReference] = Field(
        default_factory=dict[str, SecretReference], max_length=500
    )
    """Environment variables whose values are in Secrets of the tenant's namespace."""
    resources: Resources | None = None
    """CPU and memory of each node; none: what the node has."""
    shared_memory: Memory | None = None
    """Size of /dev/shm; data loaders with many workers want gigabytes."""
    deadline: Duration | None = None
    """A run that takes longer is stopped and Failed."""
    run: Annotated[int, Field(ge=1, le=1_000_000), Allowed("1 or more", 2)] = 1
    """A higher number runs unchanged code again."""

    def placement(self) -> tuple[Literal["pool", "gpu", "shape"], str] | None:
        """How the job asks for GPU nodes, or None for CPU nodes."""
        if self.pool is not None:
            return "pool", self.pool
        if self.gpu is not None:
            return "gpu", self.gpu
        if self.shape is not None:
            return "shape", self.shape
        return None
