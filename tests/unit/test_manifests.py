from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtimes.tenant import tenant_objects
from runtimes.training_run import TrainingRunManifests, training_run
from runtimes.training_runtime import cluster_training_runtime, explain_failure
from stacks.models import GpuPool, Job, Runtime, Tenant

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
    assert training_run(tenant(), job(), folder=folder) == training_run(
        tenant(), job(), folder=folder
    )


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
    before = training_run(tenant(), job(), folder=folder).name
    assert training_run(tenant(), job(**change), folder=folder).name != before


def test_a_change_of_the_code_or_the_storage_is_another_run(folder: Path) -> None:
    before = training_run(tenant(), job(), folder=folder).name
    stored = tenant(storage={"checkpoints": "1Gi"})
    assert training_run(stored, job(), folder=folder).name != before
    (folder / "spirals_ddp.py").write_text("print('ho')")
    assert training_run(tenant(), job(), folder=folder).name != before


def test_the_code_reaches_the_pod_byte_for_byte(folder: Path) -> None:
    run = training_run(tenant(), job(), folder=folder)
    original = (folder / "spirals_ddp.py").read_bytes()
    assert run.code is not None
    assert run.code["data"]["spirals_ddp.py"].encode() == original
    assert run.code["immutable"] is True
    assert run.code["metadata"]["name"] == run.name == run.train_job["metadata"]["name"]


def test_each_argument_stays_one_argument(folder: Path) -> None:
    odd = ["--note", "a b; $(rm -rf /) `x` \"'\n", "", "${HOME}"]
    trainer = training_run(tenant(), job(args=odd), folder=folder).train_job["spec"]["trainer"]
    # Kubernetes turns `$$` back into `$` and fills in nothing.
    escaped = [text.replace("$", "$$") for text in odd]
    assert trainer["command"] == ["torchrun", "/workspace/scripts/spirals_ddp.py", *escaped]
    assert "args" not in trainer


def test_trainer_is_always_there_and_cpu_is_never_limited(folder: Path) -> None:
    spec = training_run(tenant(), job(), folder=folder).train_job["spec"]
    assert spec["trainer"]["numNodes"] == 2
    assert "numProcPerNode" not in spec["trainer"]  # auto: Trainer decides
    given = {"cpu": "2", "memory": "4Gi"}
    limited = training_run(tenant(), job(resources=given), folder=folder).train_job["spec"][
        "trainer"
    ]
    assert limited["resourcesPerNode"] == {"requests": given, "limits": {"memory": "4Gi"}}


def pool(**fields: Any) -> GpuPool:
    required = {"name": "l40s-8", "shape": "g6e.48xlarge", "zones": ["us-east-2a"], "maxGpus": 32}
    return GpuPool.model_validate_json(json.dumps({**required, **fields}))


def pod_of(run: TrainingRunManifests) -> dict[str, Any]:
    patch = run.train_job["spec"]["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]
    return patch["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]


def test_a_gpu_job_asks_for_whole_nodes_of_its_pool() -> None:
    run = training_run(tenant(), job(pool="l40s-8"), [pool(efa=True)])
    devices = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"}
    trainer = run.train_job["spec"]["trainer"]
    assert trainer["resourcesPerNode"] == {"requests": devices, "limits": devices}
    pod = pod_of(run)
    assert pod["nodeSelector"] == {
        "node.kubernetes.io/instance-type": "g6e.48xlarge",
        "topology.kubernetes.io/zone": "us-east-2a",
        "trainstack.io/pool": "l40s-8",
    }
    assert pod["tolerations"][0]["key"] == "nvidia.com/gpu"
    assert "affinity" not in pod


def test_a_gpu_job_may_use_any_pool_that_has_its_gpus() -> None:
    pools = [
        pool(),
        pool(name="spot", zones=["us-east-2b"], weight=50),
        pool(name="t", gpu=None, shape="g4dn.xlarge"),
    ]
    pod = pod_of(training_run(tenant(), job(gpu="8xL40S"), pools))
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "g6e.48xlarge"}
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    expressions = required["nodeSelectorTerms"][0]["matchExpressions"]
    assert {e["key"]: e["values"] for e in expressions} == {
        "topology.kubernetes.io/zone": ["us-east-2a", "us-east-2b"],
        "trainstack.io/pool": ["l40s-8", "spot"],
    }


def test_nodes_that_others_made_are_known_by_their_shape_only() -> None:
    run = training_run(tenant(), job(pool="l40s-8"), [pool()], pools_are_ours=False)
    assert "trainstack.io/pool" not in pod_of(run)["nodeSelector"]


def test_code_from_git_is_cloned_by_a_constant_program() -> None:
    git = {"repo": "https://git.example.com/a.git", "ref": "v1", "script": "a/train.py"}
    run = training_run(tenant(), job(script=None, git=git))
    assert run.code is None
    assert run.train_job["spec"]["trainer"]["command"] == ["torchrun", "/workspace/code/a/train.py"]
    clone = pod_of(run)["initContainers"][0]
    assert {e["name"]: e["value"] for e in clone["env"]}["GIT_SYNC_BRANCH"] == "v1"
    assert set(clone) == {"name", "env", "volumeMounts"}  # all that a patch may say
    manifest = cluster_training_runtime(runtime(gitImage="git:1"))
    node = manifest["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]
    (step,) = node["template"]["spec"]["initContainers"]
    assert (step["name"], step["image"]) == (clone["name"], "git:1")


def test_the_clone_step_brings_the_commit_that_was_asked_for(tmp_path: Path) -> None:
    origin, target = tmp_path / "origin; rm -rf x", tmp_path / "code"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(origin)]
    subprocess.run(["git", "init", "-q", "-b", "main", origin], check=True)
    (origin / "train.py").write_text("print(1)")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    manifest = cluster_training_runtime(runtime(gitImage="git:1"))
    node = manifest["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]
    command = node["template"]["spec"]["initContainers"][0]["command"]
    told = {"CODE_FOLDER": str(target), "GIT_SYNC_REPO": str(origin), "GIT_SYNC_BRANCH": "main"}
    path = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    subprocess.run(command, env=path | told, check=True)
    assert (target / "train.py").read_text() == "print(1)"
    subprocess.run(command, env=path, check=True)  # a job with a script: nothing to clone
    gone = subprocess.run(
        command, env=path | told | {"GIT_SYNC_BRANCH": "gone"}, capture_output=True, check=False
    )
    assert gone.returncode != 0


def test_secrets_are_references() -> None:
    reference = {"HF_TOKEN": {"secret": "hub", "key": "token"}}
    environment = training_run(tenant(), job(secretEnv=reference)).train_job["spec"]["trainer"]
    key = {"name": "hub", "key": "token"}
    assert environment["env"] == [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": key}}]


def test_spot_safe_does_not_count_a_lost_node() -> None:
    failure = {"class": "spot-safe", "maxRestarts": 3}
    job_set = cluster_training_runtime(runtime(failure=failure))["spec"]["template"]["spec"]
    rule = job_set["failurePolicy"]["rules"][0]
    assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    assert rule["onJobFailureReasons"] == ["PodFailurePolicy"]
    batch = job_set["replicatedJobs"][0]["template"]["spec"]
    condition = batch["podFailurePolicy"]["rules"][0]["onPodConditions"][0]
    assert condition == {"type": "DisruptionTarget", "status": "True"}


def test_a_quota_names_what_it_limits() -> None:
    objects = tenant_objects(tenant(quota={"gpus": 16, "cpu": "8", "memory": "1Ti", "jobs": 0}))
    quota = next(item for item in objects if item["kind"] == "ResourceQuota")
    assert quota["spec"]["hard"] == {
        "requests.nvidia.com/gpu": "16",
        "requests.cpu": "8",
        "requests.memory": "1Ti",
        "count/trainjobs.trainer.kubeflow.org": "0",
    }
    assert [item["kind"] for item in tenant_objects(tenant())] == ["ConfigMap"]


def test_checkpoints_have_a_folder_of_the_run(folder: Path) -> None:
    run = training_run(tenant(storage={"checkpoints": "1Gi"}), job(), folder=folder)
    pod = pod_of(run)
    mounts = {mount["name"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts["checkpoints"]["subPath"] == f"runs/{run.name}"
    environment = run.train_job["spec"]["trainer"]["env"]
    assert environment == [{"name": "CHECKPOINT_FOLDER", "value": "/checkpoints"}]


def test_pod_names_fit_the_name_budget(folder: Path) -> None:
    run = training_run(tenant(), job(name="a" * 37, nodes=512), folder=folder)
    assert len(f"{run.name}-node-0-511-abcde") <= 63


def test_the_setup_script_translates_trainers_variables() -> None:
    manifest = tenant_objects(tenant())[0]
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
