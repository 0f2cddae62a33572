"""The training script by itself, as on a laptop: one process, no torchrun, no Trainer."""

from __future__ import annotations

import yaml

from tests.platform import Object, Platform, wait_for
from tools.images.torch import TORCH_IMAGE


def pod(script: str) -> list[Object]:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "laptop"},
        "data": {"spirals_ddp.py": script},
    }
    train = "python spirals_ddp.py --checkpoints /tmp/c --checkpoint-every 10"
    shell = f"{train} --steps 20 && {train} --steps 30"
    container = {
        "name": "laptop",
        "image": TORCH_IMAGE,
        "workingDir": "/scripts",
        "command": ["sh", "-c", shell],
        "volumeMounts": [{"name": "scripts", "mountPath": "/scripts"}],
    }
    volume = {"name": "scripts", "configMap": {"name": "laptop"}}
    spec = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "laptop"}, "spec": spec}
    return [config_map, body]


def test_the_script_runs_and_resumes_without_a_cluster_around_it(platform: Platform) -> None:
    script = (platform.project / "training" / "spirals_ddp.py").read_text()
    text = yaml.safe_dump_all(pod(script))
    platform.kubectl("apply", "-f", "-", text=text)
    try:

        def finished() -> str | None:
            query = ("get", "pod", "laptop", "-o=jsonpath={.status.phase}")
            phase = platform.kubectl(*query)
            return phase if phase in ("Succeeded", "Failed") else None

        phase = wait_for("the script", finished, 120)
        log = platform.kubectl("logs", "laptop")
        assert phase == "Succeeded", log
        assert "[rank 0/1] step 20 loss" in log
        assert "[rank 0/1] resumed from /tmp/c/step-20.pt at step 20" in log
        assert "[rank 0/1] step 30 loss" in log
    finally:
        platform.kubectl("delete", "pod,configmap", "laptop", "--grace-period=1")
