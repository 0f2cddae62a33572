"""Ready means the webhooks answer: an Available manager may still refuse connections."""

from __future__ import annotations

import time
from typing import Any

import pulumi
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

from components.kubectl import KubectlError, kubectl

_TIMEOUT_SECONDS = 180
# Valid objects: a dry run passes them through every webhook of their kind and stores nothing.
_PROBE = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: trainstack-probe, namespace: default}
spec: {replicatedJobs: [{name: node, template: &job {spec: {template: {spec: {restartPolicy: Never,
  containers: [{name: node, image: "probe:1"}]}}}}}]}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: trainstack-probe}
spec: {mlPolicy: {numNodes: 1, torch: {}}, template: {spec: {replicatedJobs: [{name: node,
  template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}},
  spec: {template: {spec: {containers: [{name: node, image: "probe:1"}]}}}}}]}}}
"""


class _WebhookGateProvider(ResourceProvider):
    def diff(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> DiffResult:
        return DiffResult(changes=_olds["release"] != _news["release"])

    def create(self, props: dict[str, Any]) -> CreateResult:
        _wait_for_answer(props["kubeconfig"])
        return CreateResult("webhooks", props)

    def update(self, _id: str, _olds: dict[str, Any], _news: dict[str, Any]) -> UpdateResult:
        _wait_for_answer(_news["kubeconfig"])
        return UpdateResult(_news)


def _wait_for_answer(kubeconfig: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while True:
        try:
            kubectl(kubeconfig, "create", "--dry-run=server", "-f", "-", stdin=_PROBE)
            return
        except KubectlError as refused:
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"the Trainer and JobSet webhooks did not answer within {_TIMEOUT_SECONDS} s: "
                    f"{refused}\n  next: kubectl -n kubeflow-system get pods"
                ) from refused
            time.sleep(1)


class WebhookGate(Resource, module="trainstack", name="WebhookGate"):
    """Created when the webhooks of this release answer; asked again when the release changes."""

    def __init__(
        self,
        name: str,
        *,
        release: str,
        kubeconfig: pulumi.Output[str],
        opts: pulumi.ResourceOptions,
    ) -> None:
        secret = pulumi.ResourceOptions(additional_secret_outputs=["kubeconfig"])
        properties = {"release": release, "kubeconfig": kubeconfig}
        merged = pulumi.ResourceOptions.merge(opts, secret)
        super().__init__(_WebhookGateProvider(), name, properties, merged)
