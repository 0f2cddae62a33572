"""Kubeflow Trainer as a stack installs it."""

from __future__ import annotations

from stacks.models.base import Spec
from stacks.scalars import Version
from stacks.versions import NEWEST


class Trainer(Spec):
    """Kubeflow Trainer and the JobSet that belongs to it."""

    version: Version = NEWEST.trainer
    """Version of Kubeflow Trainer."""
    jobset_version: Version = NEWEST.jobset
    """Version of JobSet."""
