"""A run that cannot start says why in the table, not only in an event."""

from __future__ import annotations

from typing import Any

import yaml

from tests.platform import Platform, wait_for
from training.kube import Kube
from training.runs import list_runs

# Pods are named <run>-node-0-0-xxxxx: over 63 characters JobSet refuses, after the fact.
TOO_LONG = "a" * 60


def test_a_job_set_that_is_refused_is_explained(deployed: Platform) -> None:
    train_job: dict[str, Any] = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": TOO_LONG, "namespace": "research"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 1}},
    }
    deployed.kubectl("apply", "-f", "-", text=yaml.safe_dump(train_job))
    try:

        def reason() -> str | None:
            found = [run for run in list_runs(Kube(), "research") if run.name == TOO_LONG]
            why = found[0].reason if found else ""
            return why if why not in ("", "no pods yet") else None

        assert "63" in wait_for("the reason", reason, 30)
    finally:
        deployed.kubectl("delete", "trainjob", TOO_LONG, "--namespace=research")
