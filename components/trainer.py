"""Kubeflow Trainer with JobSet: CRDs, managers, and webhooks that answer."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi_kubernetes as kubernetes
from pulumi import (
    ComponentResource,
    Resource,
    ResourceOptions,
    ResourceTransformArgs,
    ResourceTransformResult,
)

from components.cluster import ASSETS, Cluster
from components.crds import CrdBundle
from components.webhooks import WebhookGate
from stacks.models import Trainer as TrainerSpec

_NAMESPACE = "kubeflow-system"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainerArgs:
    cluster: Cluster
    trainer: TrainerSpec | None  # None: a platform stack has installed it


class Trainer(ComponentResource):
    """The managers of Trainer and JobSet in `kubeflow-system`; depend on it to wait for them."""

    ready: list[Resource]

    def __init__(self, name: str, args: TrainerArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("trainstack:platform:Trainer", name, None, opts)
        self.ready = (
            [self._install(name, args.cluster, args.trainer)] if args.trainer is not None else []
        )
        self.register_outputs({})

    def _install(self, name: str, cluster: Cluster, spec: TrainerSpec) -> WebhookGate:
        inside = ResourceOptions(parent=self)
        version, jobset_version = spec.version, spec.jobset_version
        release = f"trainer-{version}-jobset-{jobset_version}"

        crds = CrdBundle(
            f"{name}-crds",
            title=release,
            folder=ASSETS / "crds" / "trainer",
            kubeconfig=cluster.kubeconfig,
            cluster=cluster.identity,
            opts=inside,
        )
        namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace", metadata={"name": _NAMESPACE}, opts=inside
        )
        after_crds = ResourceOptions(
            parent=self, depends_on=[crds, namespace], transforms=[_leave_certificates_alone]
        )
        jobset = kubernetes.helm.v4.Chart(
            "jobset",
            chart=f"./{ASSETS}/charts/jobset",
            namespace=_NAMESPACE,
            skip_crds=True,
            values={
                "fullnameOverride": "jobset",
                "image": {
                    "repository": "registry.k8s.io/jobset/jobset",
                    "tag": f"v{jobset_version}",
                    "pullPolicy": "IfNotPresent",
                },
            },
            opts=after_crds,
        )
        manager = kubernetes.helm.v4.Chart(
            "kubeflow-trainer",
            chart=f"./{ASSETS}/charts/kubeflow-trainer",
            namespace=_NAMESPACE,
            skip_crds=True,
            values={
                "crds": {"enabled": False},  # they are in the bundle
                "jobset": {"install": False},  # it is the chart above, in the open
                "image": {"tag": f"v{version}"},
            },
            opts=after_crds,
        )
        return WebhookGate(
            f"{name}-webhooks",
            release=release,
            kubeconfig=cluster.kubeconfig,
            opts=ResourceOptions(parent=self, depends_on=[jobset, manager]),
        )


def _leave_certificates_alone(args: ResourceTransformArgs) -> ResourceTransformResult | None:
    """The managers fill these Secrets themselves; a refresh must not make us empty them again."""
    if args.type_ != "kubernetes:core/v1:Secret":
        return None
    kept = ResourceOptions.merge(args.opts, ResourceOptions(ignore_changes=["data"]))
    return ResourceTransformResult(props=args.props, opts=kept)
