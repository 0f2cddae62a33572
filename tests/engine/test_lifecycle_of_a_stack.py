"""A stack from nothing to nothing through the real engine, on the real cluster.

The tests of this file run in order and build on each other, as an operator's days do.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.platform import STACK, Platform, operations, wait_for
from tools.deploy import deploy
from tools.errors import ToolError
from tools.recovery import orphaned_plugins, stack_locks
from tools.shell import state_folder

UP = ["pulumi", "up", "--yes", "--skip-preview", "--stack", STACK, "--non-interactive"]


def test_a_wrong_stack_file_changes_nothing(platform: Platform) -> None:
    original = platform.stack_file().read_text()

    def misspell(config: dict[str, Any]) -> None:
        job = config["trainstack:tenants"][0]["jobs"][0]
        job["nodez"] = job.pop("nodes")
        job["runtime"] = "torch-distribute"

    platform.edit_stack(misspell)
    state = state_folder(platform.project)
    try:
        with pytest.raises(ToolError, match=r"has 2 mistake\(s\); nothing was changed"):
            deploy(platform.project, platform.toolchain)
        assert [file for file in state.rglob("*") if file.is_file()] == []
        platform.stack()
        result = subprocess.run(
            [argument for argument in UP if argument != "--skip-preview"],
            cwd=platform.project,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        platform.stack_file().write_text(original)
    printed = result.stdout + result.stderr
    assert result.returncode != 0
    assert "jobs[0](spirals).nodez: no such key [unknown-key]" in printed
    assert "jobs[0](spirals).runtime: no such runtime [unknown-runtime]" in printed
    assert "nearest  torch-distributed" in printed
    assert "Traceback" not in printed
    assert platform.deployment().get("resources", []) == []
    assert platform.objects("namespaces", "--selector=trainstack.io/tenant") == []


def test_a_killed_first_update_is_recovered_by_the_next(platform: Platform) -> None:
    state = state_folder(platform.project)
    update = _begin_update(platform)

    def half_way() -> bool | None:
        return True if platform.objects("deployments", "--namespace=kubeflow-system") else None

    wait_for("the update to be half-way", half_way, 60)

    assert len(stack_locks(state, STACK)) == 1
    with pytest.raises(ToolError, match=f"process {update.pid} of"):
        deploy(platform.project, platform.toolchain)  # a live run is respected
    assert update.poll() is None

    update.send_signal(signal.SIGKILL)
    update.wait()
    assert orphaned_plugins(state), "a killed pulumi leaves its plugins behind"

    deploy(platform.project, platform.toolchain)
    assert stack_locks(state, STACK) == []
    assert orphaned_plugins(state) == []
    assert platform.deployment().get("pending_operations", []) == []


def test_the_job_trains_on_two_nodes(platform: Platform) -> None:
    assert platform.wait_until_finished("spirals") == "Complete"
    pods = platform.pods(platform.train_job("spirals")["metadata"]["name"])
    assert len(pods) == 2
    for rank, pod in enumerate(pods):
        log = platform.logs(pod)
        assert f"[rank {rank}/2] torch" in log
        assert f"[rank {rank}/2] done" in log
    log = platform.logs(pods[0])
    losses = [float(line.split()[-1]) for line in log.splitlines() if " loss " in line]
    assert losses[-1] < losses[0] / 2
    assert "checkpoint /checkpoints/step-200.pt" in log


def test_the_runtime_restarts_the_gang(platform: Platform) -> None:
    runtime = platform.objects("clustertrainingruntimes")[0]
    job_set = runtime["spec"]["template"]["spec"]
    assert job_set["failurePolicy"]["maxRestarts"] == 10
    assert job_set["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] == 0
    live = platform.objects("jobsets", "--namespace=research")[0]
    assert live["spec"]["failurePolicy"]["maxRestarts"] == 10


@pytest.mark.parametrize("refresh", [False, True], ids=["plain", "after a refresh"])
def test_a_second_update_changes_nothing(platform: Platform, refresh: bool) -> None:
    """Also after the controllers have added status, defaults, certificates and finalizers."""
    stack = platform.stack()
    steps = operations(lambda on_event: stack.up(on_event=on_event, refresh=refresh))
    assert steps == {}


def test_crds_do_not_weigh_on_the_state(platform: Platform) -> None:
    exported = platform.deployment()
    assert len(json.dumps(exported)) < 500_000
    bundle = [r for r in exported["resources"] if r["type"].endswith(":CrdBundle")]
    assert len(bundle) == 1
    assert "trainjobs.trainer.kubeflow.org" in bundle[0]["outputs"]["names"]


def test_a_damaged_crd_is_drift_and_is_mended(platform: Platform) -> None:
    mark = "trainstack.io/bundle-hash-"
    platform.kubectl("annotate", "crd", "jobsets.jobset.x-k8s.io", mark)
    stack = platform.stack()
    steps = operations(lambda on_event: stack.up(on_event=on_event, refresh=True))
    assert steps == {("update", "CrdBundle"): 1}


def test_no_credential_is_in_clear_in_the_state(platform: Platform) -> None:
    files = [file for file in state_folder(platform.project).rglob("*.json") if file.is_file()]
    state = "".join(file.read_text() for file in files)
    key = platform.instance.kubeconfig.read_text().partition("client-key-data: ")[2][:60]
    assert len(key) == 60
    assert "CrdBundle" in state
    assert key not in state


def test_editing_a_script_makes_new_runs_of_its_jobs_and_nothing_else(platform: Platform) -> None:
    before = platform.train_job("spirals")["metadata"]["name"]
    script = platform.project / "training" / "spirals_ddp.py"
    script.write_text(script.read_text() + "\n# one more comment\n")
    stack = platform.stack()

    previewed = operations(lambda on_event: stack.preview(on_event=on_event))
    expected = {
        (operation, kind): 2  # both jobs of the stack train with this script
        for operation in ("create-replacement", "replace", "delete-replaced")
        for kind in ("ConfigMap", "TrainJob")
    }
    assert previewed == expected
    assert operations(lambda on_event: stack.up(on_event=on_event)) == expected

    after = platform.train_job("spirals")["metadata"]["name"]
    assert after != before
    names = {item["metadata"]["name"] for item in platform.objects("configmaps", "-n=research")}
    assert after in names
    assert before not in names
    assert platform.wait_until_finished("spirals") == "Complete"


def test_a_higher_run_number_runs_unchanged_code_again(platform: Platform) -> None:
    before = platform.train_job("spirals")["metadata"]["name"]

    def again(config: dict[str, Any]) -> None:
        config["trainstack:tenants"][0]["jobs"][0]["run"] = 2

    platform.edit_stack(again)
    platform.stack().up()
    assert platform.train_job("spirals")["metadata"]["name"] != before


def test_status_and_logs_speak_of_the_run(platform: Platform) -> None:
    platform.wait_until_finished("spirals")
    run = platform.train_job("spirals")["metadata"]["name"]
    table = _training(platform.project, "status")
    assert " ".join(table.split()[:9]) == "TENANT JOB RUN STATE NODES ON RESTARTS AGE WHY"
    rows = [line.split() for line in table.splitlines()]
    assert ["research", "spirals", run, "Complete", "2", "real", "0"] in [row[:7] for row in rows]
    row = json.loads(_training(platform.project, "status", "--json"))[0]
    assert (row["state"], row["nodes"], row["restarts"]) == ("Complete", 2, 0)
    assert "[rank 1/2] done" in _training(platform.project, "logs", "research/spirals", "--node=1")


def test_an_unknown_run_is_refused_with_the_next_step(platform: Platform) -> None:
    result = _run_training(platform.project, "logs", "research/nothing")
    assert result.returncode == 1
    assert result.stderr == "error: no run of research/nothing\n  next: python -m training status\n"


TEAM = """\
config:
  trainstack:cluster: {kind: stack, stack: local}
  trainstack:tenants:
    - name: speech
      quota: {gpus: 8}
      members: {groups: [speech-team]}
      jobs:
        - {name: tune, runtime: torch-distributed, nodes: 1, pool: l40s-8, script: spirals_ddp.py}
"""


def test_a_team_has_a_stack_of_its_own_on_the_platform(platform: Platform) -> None:
    """Its jobs use the platform's runtime and pool; its update touches nothing of the platform."""
    platform.stack_file("team").write_text(TEAM)
    team = platform.stack("team")
    try:
        made = operations(lambda on_event: team.up(on_event=on_event))
        assert made["create", "TrainJob"] == 1
        assert made["create", "RoleBinding"] == 1
        kinds = {kind for _, kind in made}
        assert not kinds & {"CrdBundle", "Chart", "NodePool", "ClusterTrainingRuntime"}

        def simulated() -> str | None:
            pods = platform.objects("pods", "--namespace=speech")
            return next((pod["spec"].get("nodeName") for pod in pods), None)

        node = wait_for("the pod to be placed", simulated, 60)
        labels = json.loads(platform.kubectl("get", "node", node, "-o=json"))["metadata"]["labels"]
        assert labels["trainstack.io/pool"] == "l40s-8"
        assert labels["topology.kubernetes.io/zone"] == "ap-northeast-2a"
        stack = platform.stack()
        assert operations(lambda on_event: stack.preview(on_event=on_event)) == {}
    finally:
        team.destroy()
        team.workspace.remove_stack("team")
        platform.stack_file("team").unlink(missing_ok=True)
    namespaces = [item["metadata"]["name"] for item in platform.objects("namespaces")]
    assert "speech" not in namespaces


def test_an_update_that_dies_late_loses_nothing(platform: Platform) -> None:
    """Killed while the second tenant is being made: the next `make up` knows what is there."""

    def add_tenant(config: dict[str, Any]) -> None:
        config["trainstack:tenants"].append({"name": "speech", "storage": {"checkpoints": "1Gi"}})

    platform.edit_stack(add_tenant)
    update = _begin_update(platform)

    def begun() -> bool | None:
        names = [item["metadata"]["name"] for item in platform.objects("namespaces")]
        return True if "speech" in names else None

    wait_for("the tenant's namespace", begun, 60)
    os.kill(update.pid, signal.SIGKILL)
    update.wait()

    def remove_tenant(config: dict[str, Any]) -> None:
        config["trainstack:tenants"].pop()

    platform.edit_stack(remove_tenant)
    deploy(platform.project, platform.toolchain)
    deploy(platform.project, platform.toolchain)
    assert "speech" not in [item["metadata"]["name"] for item in platform.objects("namespaces")]


def _begin_update(platform: Platform) -> subprocess.Popen[bytes]:
    """An update in the background, to be killed."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(UP, cwd=platform.project, stdout=quiet, stderr=quiet)


def _training(project: Path, *arguments: str) -> str:
    result = _run_training(project, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def _run_training(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [project / ".venv/bin/python", "-m", "training", *arguments],
        cwd=project,
        env=os.environ | {"COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
    )
