"""One worker dies for real; the whole gang restarts and goes on from its checkpoint."""

from __future__ import annotations

import re
import subprocess
from typing import Any

from tests.platform import Object, Platform, wait_for
from tools.cluster.lifecycle import in_namespaces
from tools.cluster.node import CONTAINERD_SOCKET

CHECKPOINT_EVERY = 10
STEPS = 80


def test_a_killed_worker_restarts_the_gang_from_the_checkpoint(deployed: Platform) -> None:
    platform = deployed

    def add_slow_job(config: dict[str, Any]) -> None:
        arguments = f"--steps {STEPS} --checkpoint-every {CHECKPOINT_EVERY} --log-every 1"
        config["trainstack:tenants"][0]["jobs"] = [
            {
                "name": "slow",
                "runtime": "torch-distributed",
                "nodes": 2,
                "script": "spirals_ddp.py",
                "args": [*arguments.split(), "--seconds-per-step", "0.4"],
                "resources": {"cpu": "250m", "memory": "1Gi"},
            }
        ]

    platform.edit_stack(add_slow_job)
    platform.stack().up()
    run = platform.train_job("slow")["metadata"]["name"]

    def far_enough() -> int | None:
        step = _last_step(platform, run)
        return step if step >= 2 * CHECKPOINT_EVERY + 3 else None

    wait_for("some steps", far_enough, 120)
    first_gang = {pod["metadata"]["uid"] for pod in platform.pods(run)}
    _kill(platform, platform.pods(run)[1])
    step_at_death = _last_step(platform, run)

    assert platform.wait_until_finished("slow") == "Complete"
    second_gang = platform.pods(run)
    assert len(second_gang) == 2
    assert first_gang.isdisjoint(pod["metadata"]["uid"] for pod in second_gang)
    job_set = platform.objects("jobsets", "-n=research", f"--field-selector=metadata.name={run}")[0]
    assert job_set["status"]["restarts"] == 1
    for rank, pod in enumerate(second_gang):
        log = platform.logs(pod)
        resumed = re.search(rf"\[rank {rank}/2\] resumed from .* at step (\d+)", log)
        assert resumed is not None, log
        assert step_at_death - int(resumed.group(1)) <= CHECKPOINT_EVERY
        assert f"[rank {rank}/2] done" in log


def _last_step(platform: Platform, run: str) -> int:
    running = [pod for pod in platform.pods(run) if pod["status"]["phase"] != "Pending"]
    if not running:
        return 0
    steps = re.findall(r"step (\d+) loss", platform.logs(running[0]))
    return int(steps[-1]) if steps else 0


def _kill(platform: Platform, pod: Object) -> None:
    """As a crash would: SIGKILL from outside to the container's first process."""
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    ctr = ["ctr", f"--address={CONTAINERD_SOCKET}", "--namespace=k8s.io"]
    command = [*ctr, "tasks", "kill", "--signal=SIGKILL", container]
    subprocess.run(in_namespaces(platform.instance, command), check=True)
