from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtimes.training_run import pytorch_setup, training_run
from runtimes.training_runtime import cluster_training_runtime, explain_failure
from stacks.models import Job, Runtime, Tenant

CHECKOUT = Path(__file__).parents[2]
SETUP = CHECKOUT / "training" / "setup" / "setup_pytorch_env.sh"


def runtime(**fields: Any) -> Runtime:
    return Runtime.model_validate({"name": "torch", "framework": "torch", **fields})


def tenant(**fields: Any) -> Tenant:
    return Tenant.model_validate({"name": "research", **fields})


def job(**fields: Any) -> Job:
    required = {"name": "spirals", "runtime": "torch", "nodes": 2, "script": "spirals_ddp.py"}
    return Job.model_validate_json(json.dumps({**required, **fields}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spirals_ddp.py").write_bytes(b"print('hi')\r\n# \xf0\x9f\x94\xa5 $HOME `x`\n")
    return tmp_path


def test_gang_restart_sits_where_jobset_and_job_read_it() -> None:
    failure = {"class": "gang-restart", "maxRestarts": 10}
    manifest = cluster_training_runtime(runtime(failure=failure))
    job_set = manifest["spec"]["template"]["spec"]
    assert job_set["failurePolicy"] == {"maxRestarts": 10}
    batch_job = job_set["replicatedJobs"][0]["template"]
    assert batch_job["spec"]["backoffLimit"] == 0
    assert batch_job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    step = "trainer.kubeflow.org/trainjob-ancestor-step"
    assert batch_job["metadata"]["labels"][step] == "trainer"
    assert "ttlSecondsAfterFinished" not in job_set


def test_fail_fast_has_no_failure_policy() -> None:
    manifest = cluster_training_runtime(runtime(failure={"class": "fail-fast"}))
    assert "failurePolicy" not in manifest["spec"]["template"]["spec"]


def test_failure_classes_are_explained_in_words() -> None:
    gang = runtime(failure={"class": "gang-restart", "maxRestarts": 3})
    expected = "any worker fails: all workers restart, at most 3 times, then Failed"
    assert explain_failure(gang) == expected
    assert "Failed at once" in explain_failure(runtime(failure={"class": "fail-fast"}))


def test_same_content_same_name(folder: Path) -> None:
    assert training_run(tenant(), job(), folder) == training_run(tenant(), job(), folder)


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": 3},
        {"processesPerNode": 2},
        {"args": ["--steps", "1"]},
        {"env": {"A": "1"}},
        {"resources": {"cpu": "1", "memory": "1Gi"}},
        {"run": 2},
        {"runtime": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_change_of_the_job_is_another_run(change: dict[str, Any], folder: Path) -> None:
    before = training_run(tenant(), job(), folder).name
    assert training_run(tenant(), job(**change), folder).name != before


def test_a_change_of_the_code_or_the_storage_is_another_run(folder: Path) -> None:
    before = training_run(tenant(), job(), folder).name
    stored = tenant(storage={"checkpoints": "1Gi"})
    assert training_run(stored, job(), folder).name != before
    (folder / "spirals_ddp.py").write_text("print('ho')")
    assert training_run(tenant(), job(), folder).name != before


def test_the_code_reaches_the_pod_byte_for_byte(folder: Path) -> None:
    run = training_run(tenant(), job(), folder)
    original = (folder / "spirals_ddp.py").read_bytes()
    assert run.code["data"]["spirals_ddp.py"].encode() == original
    assert run.code["immutable"] is True
    assert run.code["metadata"]["name"] == run.name == run.train_job["metadata"]["name"]


def test_each_argument_stays_one_argument(folder: Path) -> None:
    odd = ["--note", "a b; $(rm -rf /) `x` \"'\n", "", "${HOME}"]
    trainer = training_run(tenant(), job(args=odd), folder).train_job["spec"]["trainer"]
    assert trainer["command"] == ["torchrun", "/workspace/scripts/spirals_ddp.py", *odd]
    assert "args" not in trainer


def test_trainer_is_always_there_and_cpu_is_never_limited(folder: Path) -> None:
    spec = training_run(tenant(), job(), folder).train_job["spec"]
    assert spec["trainer"]["numNodes"] == 2
    assert spec["trainer"]["numProcPerNode"] == 1
    given = {"cpu": "2", "memory": "4Gi"}
    limited = training_run(tenant(), job(resources=given), folder).train_job["spec"]["trainer"]
    assert limited["resourcesPerNode"] == {"requests": given, "limits": {"memory": "4Gi"}}


def test_checkpoints_have_a_folder_of_the_run(folder: Path) -> None:
    run = training_run(tenant(storage={"checkpoints": "1Gi"}), job(), folder)
    patch = run.train_job["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]
    pod = patch["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    mounts = {mount["name"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts["checkpoints"]["subPath"] == f"runs/{run.name}"
    environment = run.train_job["spec"]["trainer"]["env"]
    assert environment == [{"name": "CHECKPOINT_FOLDER", "value": "/checkpoints"}]


def test_pod_names_fit_the_name_budget(folder: Path) -> None:
    run = training_run(tenant(), job(name="a" * 37, nodes=512), folder)
    assert len(f"{run.name}-node-0-511-abcde") <= 63


def test_the_setup_script_translates_trainers_variables() -> None:
    manifest = pytorch_setup(tenant())
    assert manifest["metadata"]["name"] == "pytorch-pet-setup"
    assert manifest["data"]["setup_pytorch_env.sh"] == SETUP.read_text()
    given = {"PET_NODE_RANK": "1", "PET_NNODES": "2", "PET_MASTER_ADDR": "run-node-0-0.run"}
    command = f'. {SETUP} && echo "$RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT $LOCAL_RANK"'
    result = subprocess.run(
        ["sh", "-c", command], env=given, capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "1 2 run-node-0-0.run 29500 0"


def test_the_setup_script_says_what_is_missing() -> None:
    result = subprocess.run(
        ["sh", "-c", f". {SETUP}"], env={}, capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert "PET_NODE_RANK is not set" in result.stderr
