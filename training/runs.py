"""The runs in a cluster as people think of them: state, nodes, restarts, and why it waits.

TrainJob 2.3.0 has no Pending or Running condition and hides creation errors in events, so the
state is put together from the TrainJob, its JobSet, its pods and its events.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from training.kube import EVERYWHERE, Kube, Object

TRAIN_JOBS = "trainjobs.trainer.kubeflow.org"
JOB_SETS = "jobsets.jobset.x-k8s.io"
_TENANT = "trainstack.io/tenant"
_JOB = "trainstack.io/job"
_JOB_SET_OF_POD = "jobset.sigs.k8s.io/jobset-name"
_INDEX_OF_POD = "batch.kubernetes.io/job-completion-index"


class State(StrEnum):
    PENDING = "Pending"
    RUNNING = "Running"
    SUSPENDED = "Suspended"
    COMPLETE = "Complete"
    FAILED = "Failed"

    @property
    def finished(self) -> bool:
        return self in (State.COMPLETE, State.FAILED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    tenant: str
    job: str
    name: str
    state: State
    nodes: int
    nodes_running: int
    restarts: int
    hardware: str  # "real", "simulated", "" while no pod has a node
    age_seconds: int
    reason: str  # why it waits or failed; empty when there is nothing to say


def list_runs(kube: Kube, tenant: str | None = None) -> list[Run]:
    """All runs, or one tenant's, in the order of tenant, job and age."""
    where = tenant if tenant is not None else EVERYWHERE
    namespaces = {
        item["metadata"]["name"]
        for item in kube.objects("namespaces")
        if _TENANT in item["metadata"].get("labels", {})
    }
    jobs = [j for j in kube.objects(TRAIN_JOBS, where) if j["metadata"]["namespace"] in namespaces]
    job_sets = {_key(item): item for item in kube.objects(JOB_SETS, where)}
    pods: dict[tuple[str, str], list[Object]] = {}
    for pod in kube.objects("pods", where):
        owner = pod["metadata"].get("labels", {}).get(_JOB_SET_OF_POD)
        if owner is not None:
            pods.setdefault((pod["metadata"]["namespace"], owner), []).append(pod)
    simulated = {
        node["metadata"]["name"]
        for node in kube.objects("nodes")
        if node["metadata"].get("labels", {}).get("trainstack.io/node") == "simulated"
    }
    now = dt.datetime.now(dt.UTC)
    runs: list[Run] = []
    for job in jobs:
        its_pods = pods.get(_key(job), [])
        run = describe_run(job, job_sets.get(_key(job)), its_pods, simulated, now)
        if run.state is State.PENDING and not its_pods:
            run = replace(run, reason=_newest_warning(kube, job) or run.reason)
        runs.append(run)
    return sorted(runs, key=lambda run: (run.tenant, run.job, run.age_seconds, run.name))


def describe_run(
    job: Object,
    job_set: Object | None,
    pods: Sequence[Object],
    simulated_nodes: Iterable[str],
    now: dt.datetime,
) -> Run:
    metadata = job["metadata"]
    labels = metadata.get("labels", {})
    state, reason = _state(job, pods)
    created = dt.datetime.fromisoformat(metadata["creationTimestamp"])
    placed = {pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}
    hardware = "simulated" if placed & set(simulated_nodes) else "real"
    return Run(
        tenant=labels.get(_TENANT, metadata["namespace"]),
        job=labels.get(_JOB, metadata["name"]),
        name=metadata["name"],
        state=state,
        nodes=job["spec"].get("trainer", {}).get("numNodes", 1),
        nodes_running=sum(pod.get("status", {}).get("phase") == "Running" for pod in pods),
        restarts=(job_set or {}).get("status", {}).get("restarts", 0),
        hardware=hardware if placed else "",
        age_seconds=int((now - created).total_seconds()),
        reason=reason,
    )


def pod_of_node(kube: Kube, run: Run, index: int) -> Object | None:
    """The newest pod of one node of a run (node 0 holds rank 0), or None while there is none."""
    found = [
        pod
        for pod in kube.objects("pods", run.tenant, {_JOB_SET_OF_POD: run.name})
        if pod["metadata"].get("annotations", {}).get(_INDEX_OF_POD) == str(index)
    ]

    def created(pod: Object) -> str:
        return pod["metadata"]["creationTimestamp"]

    return max(found, key=created, default=None)


def _state(job: Object, pods: Sequence[Object]) -> tuple[State, str]:
    conditions = {c["type"]: c for c in job.get("status", {}).get("conditions", [])}
    for kind in (State.COMPLETE, State.FAILED, State.SUSPENDED):
        condition = conditions.get(kind)
        if condition is not None and condition["status"] == "True":
            return kind, "" if kind is State.COMPLETE else str(condition.get("message", ""))
    nodes: int = job["spec"].get("trainer", {}).get("numNodes", 1)
    running = sum(pod.get("status", {}).get("phase") == "Running" for pod in pods)
    if running >= nodes:
        return State.RUNNING, ""
    return State.PENDING, _why_pending(pods)


def _why_pending(pods: Sequence[Object]) -> str:
    for pod in pods:
        status = pod.get("status", {})
        for condition in status.get("conditions", []):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return str(condition.get("message", condition.get("reason", "")))
        for container in status.get("containerStatuses", []):
            waiting = container.get("state", {}).get("waiting")
            if waiting is not None:
                return str(waiting.get("message", waiting.get("reason", "")))
    return "" if pods else "no pods yet"


def _newest_warning(kube: Kube, job: Object) -> str:
    """Trainer reports a JobSet it could not create only as an event."""
    namespace, name = _key(job)
    warnings = [
        event
        for event in kube.objects("events", namespace)
        if event["involvedObject"].get("name") == name and event.get("type") == "Warning"
    ]

    def last_seen(event: Object) -> str:
        return event.get("lastTimestamp") or event["metadata"]["creationTimestamp"]

    newest = max(warnings, key=last_seen, default=None)
    return str(newest["message"]) if newest is not None else ""


def _key(item: Object) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]
