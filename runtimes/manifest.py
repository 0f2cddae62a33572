"""Kubernetes objects as plain dicts, and names that follow from their content."""

from __future__ import annotations

import hashlib
import json
from typing import Any

Manifest = dict[str, Any]

TRAINER_API = "trainer.kubeflow.org/v1alpha1"
MANAGED = {"app.kubernetes.io/managed-by": "trainstack"}


def content_hash(*parts: object) -> str:
    """Eight hex digits that change when, and only when, one of the parts does."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:8]
