"""Versions that were tested together. Another mix is refused before anything changes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Combination:
    trainer: str
    jobset: str
    kubernetes: str  # minor version
    karpenter: str
    ami: str  # alias as Karpenter takes it; never @latest, which replaces every node on a release


TESTED = (
    # Trainer's chart asks for exactly this JobSet; the embedded cluster is Kubernetes 1.34.3.
    # An AL2023 image of Kubernetes 1.34 with the NVIDIA 580 driver, which CUDA 13 images need.
    Combination(
        trainer="2.3.0",
        jobset="0.12.0",
        kubernetes="1.34",
        karpenter="1.14.1",
        ami="al2023@v20260512",
    ),
)
NEWEST = TESTED[-1]
