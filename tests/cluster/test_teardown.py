"""`destroy` leaves nothing of ours behind. The last file of this folder, by its name."""

from __future__ import annotations

from tests.platform import Platform
from tools.cluster import lifecycle
from tools.deploy import deploy


def test_after_a_reset_the_stack_is_made_anew(deployed: Platform) -> None:
    lifecycle.reset(deployed.instance.home)
    lifecycle.start(deployed.instance.home, deployed.toolchain)
    deploy(deployed.project, deployed.toolchain)
    assert [item["metadata"]["name"] for item in deployed.objects("trainjobs", "-n=research")]


def test_destroy_leaves_no_object_behind(deployed: Platform) -> None:
    deployed.stack().destroy()
    # `Namespace` deletion is awaited, so everything namespaced is gone with it.
    names = {item["metadata"]["name"] for item in deployed.objects("namespaces")}
    assert names == {"default", "kube-system", "kube-public", "kube-node-lease"}
    groups = ("trainer.kubeflow.org", "jobset.x-k8s.io")
    crds = [item["spec"]["group"] for item in deployed.objects("crds")]
    assert not [group for group in crds if group in groups]
    for kind in (
        "clusterroles",
        "clusterrolebindings",
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "persistentvolumes",
    ):
        left = [item["metadata"]["name"] for item in deployed.objects(kind)]
        assert not [n for n in left if "jobset" in n or "trainer" in n or n.startswith("pvc-")]
    assert deployed.deployment().get("resources", []) == []
