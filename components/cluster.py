"""The cluster a stack works on: one handle, whoever made the cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import yaml

from stacks.models import EksCluster, KubeconfigCluster, LocalCluster, StackCluster

PROJECT = Path(__file__).parents[1]
_LOCAL = PROJECT / ".trainstack" / "cluster"
ASSETS = Path(".trainstack/assets")  # relative, so that state is the same on every machine


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """What the rest of the program may know of a cluster."""

    provider: kubernetes.Provider
    kubeconfig: pulumi.Output[str]  # secret, and of this one cluster only
    identity: pulumi.Input[str]  # another cluster has another identity, even at the same address


def cluster_for(
    spec: LocalCluster | EksCluster | KubeconfigCluster | StackCluster,
) -> Cluster:
    match spec:
        case LocalCluster():
            return _local()
        case KubeconfigCluster():
            return _from_kubeconfig(spec)
        case StackCluster():
            return _of_stack(spec)
        case EksCluster():
            raise pulumi.RunError(
                "cluster.kind is `eks`: this version checks such a stack and cannot make it yet\n"
                "  next: make the cluster by other means and use cluster.kind `kubeconfig`"
            )


def _local() -> Cluster:
    file = _LOCAL / "kubeconfig"
    if not file.exists():
        raise pulumi.RunError(
            "cluster.kind is `local`, but no embedded cluster was started in this checkout\n"
            "  next: make up"
        )
    instance: dict[str, Any] = yaml.safe_load((_LOCAL / "instance.json").read_text())
    return _handle(file.read_text(), str(instance["identity"]))


def _from_kubeconfig(spec: KubeconfigCluster) -> Cluster:
    file = Path(spec.path).expanduser()
    if not file.exists():
        raise pulumi.RunError(
            f"cluster.path {spec.path} does not exist\n  next: name a kubeconfig file that does"
        )
    text = single_context(file.read_text(), spec.context)
    server: str = yaml.safe_load(text)["clusters"][0]["cluster"]["server"]
    return _handle(text, server)


def single_context(kubeconfig: str, context: str) -> str:
    """The kubeconfig with nothing but `context`: no other cluster's credentials reach the state."""
    document: dict[str, Any] = yaml.safe_load(kubeconfig)
    contexts = {entry["name"]: entry for entry in document["contexts"]}
    if context not in contexts:
        raise pulumi.RunError(
            f"cluster.context {context!r} is not in the kubeconfig\n"
            f"  next: use one of {', '.join(sorted(contexts))}"
        )
    chosen = contexts[context]
    reduced = {
        "apiVersion": "v1",
        "kind": "Config",
        "contexts": [chosen],
        "clusters": [c for c in document["clusters"] if c["name"] == chosen["context"]["cluster"]],
        "users": [u for u in document["users"] if u["name"] == chosen["context"]["user"]],
        "current-context": context,
    }
    return yaml.safe_dump(reduced, sort_keys=True)


def _of_stack(spec: StackCluster) -> Cluster:
    """The platform's cluster, through its outputs; the engine keeps the kubeconfig secret."""
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{spec.stack}"
    platform = pulumi.StackReference("platform", stack_name=name)
    return _handle(
        platform.require_output("kubeconfig"), platform.require_output("clusterIdentity")
    )


def _handle(kubeconfig: pulumi.Input[str], identity: pulumi.Input[str]) -> Cluster:
    secret = pulumi.Output.secret(kubeconfig)
    provider = kubernetes.Provider("cluster", kubeconfig=secret, cluster_identifier=identity)
    return Cluster(provider=provider, kubeconfig=secret, identity=identity)
