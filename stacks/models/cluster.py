"""The cluster a stack works on: one of four kinds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stacks.models.base import Spec
from stacks.scalars import (
    Allowed,
    ClusterName,
    FilePath,
    KubeContext,
    MinorVersion,
    Region,
    StackName,
    Version,
    Zone,
)
from stacks.versions import NEWEST


class LocalCluster(Spec):
    """The embedded cluster that `make up` starts; its GPU nodes are simulated."""

    kind: Literal["local"]
    """Which kind of cluster this is."""


class EksCluster(Spec):
    """An EKS cluster made by this stack, with Karpenter for its GPU pools."""

    kind: Literal["eks"]
    """Which kind of cluster this is."""
    name: ClusterName
    """Name of the cluster; also the tag by which Karpenter finds subnets and security groups."""
    region: Region
    """AWS region of everything in this stack."""
    zones: Annotated[
        tuple[Zone, ...],
        Field(min_length=2, max_length=6),
        Allowed("two to six zones of the region", ["ap-northeast-2a", "ap-northeast-2c"]),
    ]
    """Zones with subnets. EKS wants at least two; a pool may use fewer."""
    kubernetes_version: MinorVersion = NEWEST.kubernetes
    """Minor version of Kubernetes, in quotes."""
    karpenter_version: Version = NEWEST.karpenter
    """Version of Karpenter."""


class KubeconfigCluster(Spec):
    """An existing cluster (kind, EKS, any other) by a context of a kubeconfig file."""

    kind: Literal["kubeconfig"]
    """Which kind of cluster this is."""
    context: KubeContext
    """The context to use; nothing else of the file is read."""
    path: FilePath = "~/.kube/config"
    """The kubeconfig file."""


class StackCluster(Spec):
    """The platform of another stack: its cluster, Trainer, runtimes and GPU pools."""

    kind: Literal["stack"]
    """Which kind of cluster this is."""
    stack: StackName
    """The platform stack. Its file lies beside this one, and its outputs give the cluster."""


Cluster = Annotated[
    LocalCluster | EksCluster | KubeconfigCluster | StackCluster,
    Field(discriminator="kind"),
    Allowed("a mapping with kind local, eks, kubeconfig or stack", {"kind": "local"}),
]
