"""ClusterTrainingRuntimes: what Trainer builds a job's pods from."""

from __future__ import annotations

from runtimes.manifest import MANAGED, TRAINER_API, Manifest
from stacks.models import FailFast, GangRestart, Runtime, SpotSafe

GIT_CLONE = "git-clone"
REPOSITORY_FOLDER = "/workspace/code"
# A constant program: what differs comes by environment and is always quoted. A job with a script
# of its own names no repository, and the step is over at once.
_CLONE = """\
[ -n "${GIT_SYNC_REPO:-}" ] || exit 0
git init --quiet "$CODE_FOLDER"
cd "$CODE_FOLDER"
git fetch --quiet --depth 1 -- "$GIT_SYNC_REPO" "$GIT_SYNC_BRANCH"
git -c advice.detachedHead=false checkout --quiet FETCH_HEAD
git log -1 --oneline
"""


def cluster_training_runtime(runtime: Runtime) -> Manifest:
    """The runtime with its failure policy where JobSet reads it: beside `replicatedJobs`."""
    return {
        "apiVersion": TRAINER_API,
        "kind": "ClusterTrainingRuntime",
        "metadata": {
            "name": runtime.name,
            # The framework label is what the Kubeflow SDK lists runtimes by.
            "labels": {**MANAGED, "trainer.kubeflow.org/framework": runtime.framework},
            "annotations": {"trainstack.io/on-failure": explain_failure(runtime)},
        },
        "spec": {
            "mlPolicy": {"numNodes": 1, "torch": {}},
            "template": {
                "spec": {
                    **_failure_policy(runtime),
                    "replicatedJobs": [{"name": "node", "template": _job_template(runtime)}],
                }
            },
        },
    }


def explain_failure(runtime: Runtime) -> str:
    """The failure class in words, for diffs and `kubectl describe`."""
    match runtime.failure:
        case GangRestart(max_restarts=limit):
            return f"any worker fails: all workers restart, at most {limit} times, then Failed"
        case FailFast():
            return "any worker fails: the run is Failed at once"
        case SpotSafe(max_restarts=limit):
            return (
                f"any worker fails: all workers restart, at most {limit} times, then Failed; "
                "a restart because a node was taken away is not counted"
            )


def _failure_policy(runtime: Runtime) -> Manifest:
    match runtime.failure:
        case GangRestart(max_restarts=limit):
            return {"failurePolicy": {"maxRestarts": limit}}
        case FailFast():
            return {}  # without a policy JobSet fails with its first failed Job
        case SpotSafe(max_restarts=limit):
            uncounted = {
                "name": "nodeTakenAway",
                "action": "RestartJobSetAndIgnoreMaxRestarts",
                "onJobFailureReasons": ["PodFailurePolicy"],
            }
            return {"failurePolicy": {"maxRestarts": limit, "rules": [uncounted]}}


def _disruption_policy(runtime: Runtime) -> Manifest:
    """A pod lost with its node fails the Job by a reason of its own, so JobSet can tell."""
    if not isinstance(runtime.failure, SpotSafe):
        return {}
    taken_away = {"type": "DisruptionTarget", "status": "True"}
    rule = {"action": "FailJob", "onPodConditions": [taken_away]}
    return {"podFailurePolicy": {"rules": [rule]}}


def _clone_step(runtime: Runtime) -> Manifest:
    if runtime.git_image is None:
        return {}
    step = {
        "name": GIT_CLONE,
        "image": runtime.git_image,
        "command": ["sh", "-euc", _CLONE],
        "env": [{"name": "CODE_FOLDER", "value": REPOSITORY_FOLDER}],
        # Under a quota Kubernetes refuses pods with a container that does not say what it uses.
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
    }
    return {"initContainers": [step]}


def _job_template(runtime: Runtime) -> Manifest:
    return {
        # Without this label Trainer ignores numNodes and injects no environment.
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {
            # All nodes are pods of one Job. Its own retries would bring back a single worker into
            # a gang that has moved on; at zero the first failure reaches JobSet, and all restart.
            "backoffLimit": 0,
            **_disruption_policy(runtime),
            # A pod that is still terminating holds its GPUs; replace it only when it is gone.
            "podReplacementPolicy": "Failed",
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    **_clone_step(runtime),
                    "containers": [{"name": "node", "image": runtime.image}],
                }
            },
        },
    }
