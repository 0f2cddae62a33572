"""Training runtimes: framework, image, and what happens when a worker fails."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.models.base import Spec
from stacks.scalars import Allowed, ImageName, RuntimeName

_Restarts = Annotated[int, Field(ge=0, le=1000), Allowed("0 to 1000", 10)]


class GangRestart(Spec):
    """Any worker fails: all workers restart, at most `maxRestarts` times, then Failed."""

    kind: Literal["gang-restart"] = Field(alias="class")
    """Which failure class this is."""
    max_restarts: _Restarts = 10
    """Restarts of the whole gang before the run is Failed."""


class FailFast(Spec):
    """Any worker fails: the run is Failed at once."""

    kind: Literal["fail-fast"] = Field(alias="class")
    """Which failure class this is."""


class SpotSafe(Spec):
    """Like gang-restart, but a restart because a node was taken away is not counted."""

    kind: Literal["spot-safe"] = Field(alias="class")
    """Which failure class this is."""
    max_restarts: _Restarts = 10
    """Restarts by the training code's own fault before the run is Failed."""


Failure = Annotated[
    GangRestart | FailFast | SpotSafe,
    Field(discriminator="kind"),
    Allowed(
        "a mapping with class gang-restart, fail-fast or spot-safe",
        {"class": "gang-restart", "maxRestarts": 10},
    ),
]


class Runtime(Spec):
    """A ClusterTrainingRuntime that jobs of all tenants may use."""

    name: RuntimeName
    """Name of the runtime, as jobs refer to it."""
    framework: Annotated[Literal["torch"], Allowed("torch", "torch")]
    """Framework; Trainer sets up its rendezvous and the Kubeflow SDK lists runtimes by it."""
    image: ImageName = "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"
    """Container image of every node."""
    git_image: ImageName | None = None
    """Image with git. With it, jobs may bring code from a repository: a step before training
    clones it."""
    failure: Failure = GangRestart.model_validate({"class": "gang-restart"})
    """What happens when a worker fails."""
