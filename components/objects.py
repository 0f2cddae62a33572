"""A manifest of `runtimes/` as a Pulumi resource of its own kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pulumi_kubernetes as kubernetes
from pulumi import CustomResource, ResourceOptions

from runtimes.manifest import Manifest

_BUILT_IN: dict[tuple[str, str], Callable[..., CustomResource]] = {
    ("v1", "ConfigMap"): kubernetes.core.v1.ConfigMap,
    ("v1", "Namespace"): kubernetes.core.v1.Namespace,
    ("v1", "PersistentVolumeClaim"): kubernetes.core.v1.PersistentVolumeClaim,
    ("v1", "ResourceQuota"): kubernetes.core.v1.ResourceQuota,
    ("rbac.authorization.k8s.io/v1", "Role"): kubernetes.rbac.v1.Role,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): kubernetes.rbac.v1.RoleBinding,
}


def kubernetes_object(name: str, manifest: Manifest, opts: ResourceOptions) -> CustomResource:
    kind = (manifest["apiVersion"], manifest["kind"])
    fields: dict[str, Any] = {
        _snake_case(key): value
        for key, value in manifest.items()
        if key not in ("apiVersion", "kind")
    }
    if kind in _BUILT_IN:
        return _BUILT_IN[kind](name, **fields, opts=opts)
    api_version, custom = kind
    return kubernetes.apiextensions.CustomResource(
        name, api_version=api_version, kind=custom, **fields, opts=opts
    )


def _snake_case(key: str) -> str:
    return re.sub(r"([A-Z])", lambda match: f"_{match[1].lower()}", key)
