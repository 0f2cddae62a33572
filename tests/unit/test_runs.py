from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from training.__main__ import age, safe
from training.runs import Run, State, describe_run

NOW = dt.datetime(2026, 1, 1, 12, 0, tzinfo=dt.UTC)


def train_job(*conditions: dict[str, str]) -> dict[str, Any]:
    labels = {"trainstack.io/tenant": "research", "trainstack.io/job": "spirals"}
    return {
        "metadata": {
            "name": "spirals-1",
            "namespace": "research",
            "labels": labels,
            "creationTimestamp": "2026-01-01T11:58:30Z",
        },
        "spec": {"trainer": {"numNodes": 2}},
        "status": {"conditions": list(conditions)},
    }


def pod(phase: str, node: str = "", **status: Any) -> dict[str, Any]:
    return {"spec": {"nodeName": node} if node else {}, "status": {"phase": phase, **status}}


def describe(job: dict[str, Any], *pods: dict[str, Any]) -> Run:
    return describe_run(job, {"status": {"restarts": 3}}, pods, {"gpu-node"}, NOW)


@pytest.mark.parametrize(
    ("conditions", "pods", "state"),
    [
        ([{"type": "Complete", "status": "True"}], [], State.COMPLETE),
        ([{"type": "Failed", "status": "True"}], [pod("Failed")], State.FAILED),
        ([{"type": "Suspended", "status": "True"}], [], State.SUSPENDED),
        ([{"type": "Suspended", "status": "False"}], [pod("Running")] * 2, State.RUNNING),
        ([], [pod("Running"), pod("Pending")], State.PENDING),
        ([], [], State.PENDING),
    ],
)
def test_state_is_put_together_from_job_and_pods(
    conditions: list[dict[str, str]], pods: list[dict[str, Any]], state: State
) -> None:
    assert describe(train_job(*conditions), *pods).state is state


def test_restarts_age_and_hardware_are_told() -> None:
    run = describe(train_job(), pod("Running", "node-0"), pod("Running", "node-0"))
    assert (run.restarts, run.age_seconds, run.hardware) == (3, 90, "real")
    assert describe(train_job(), pod("Pending", "gpu-node")).hardware == "simulated"
    assert describe(train_job(), pod("Pending")).hardware == ""


def test_it_says_why_a_run_waits() -> None:
    unschedulable = {"type": "PodScheduled", "status": "False", "message": "no node has 8 GPUs"}
    assert describe(train_job(), pod("Pending", conditions=[unschedulable])).reason == (
        "no node has 8 GPUs"
    )
    waiting = {"state": {"waiting": {"reason": "ErrImagePull"}}}
    run = describe(train_job(), pod("Pending", containerStatuses=[waiting]))
    assert run.reason == "ErrImagePull"
    assert describe(train_job()).reason == "no pods yet"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-1, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (90000, "1d")]
)
def test_ages_are_short(seconds: int, shown: str) -> None:
    assert age(seconds) == shown


def test_what_a_pod_prints_cannot_steer_the_terminal() -> None:
    assert safe("ok\x1b[2Jgone\r") == "ok\\x1b[2Jgone\\x0d"
