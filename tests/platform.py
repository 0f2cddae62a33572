"""A deployed project under test: its stack through the real engine, its cluster through kubectl."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pulumi import automation as auto

from tools.cluster import lifecycle
from tools.cluster.instance import Instance
from tools.toolchain import Toolchain

STACK = "local"
T = TypeVar("T")
Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Platform:
    project: Path
    toolchain: Toolchain
    instance: Instance

    def stack(self, name: str = STACK) -> auto.Stack:
        return auto.create_or_select_stack(name, work_dir=str(self.project))

    def deployment(self) -> Object:
        """The stack's state as the engine knows it, secrets decrypted."""
        exported = self.stack().export_stack().deployment
        assert exported is not None
        return dict(exported)

    def stack_file(self, name: str = STACK) -> Path:
        return self.project / "stacks" / f"Pulumi.{name}.yaml"

    def edit_stack(self, change: Callable[[Object], None], name: str = STACK) -> None:
        """Change the `config:` part of a stack file as a person would, with an editor."""
        document: Object = yaml.safe_load(self.stack_file(name).read_text())
        change(document["config"])
        self.stack_file(name).write_text(yaml.safe_dump(document, sort_keys=False))

    def kubectl(self, *arguments: str, text: str | None = None) -> str:
        return lifecycle.kubectl(self.instance, self.toolchain, *arguments, text=text)

    def objects(self, kind: str, *arguments: str) -> list[Object]:
        return json.loads(self.kubectl("get", kind, "-o=json", *arguments))["items"]

    def train_job(self, job: str) -> Object:
        """The one TrainJob of a job of tenant `research`."""
        selector = f"--selector=trainstack.io/job={job}"
        found = self.objects("trainjobs", "--namespace=research", selector)
        assert len(found) == 1, [item["metadata"]["name"] for item in found]
        return found[0]

    def pods(self, run: str) -> list[Object]:
        selector = f"--selector=jobset.sigs.k8s.io/jobset-name={run}"
        found = self.objects("pods", "--namespace=research", selector)
        key = "batch.kubernetes.io/job-completion-index"
        return sorted(found, key=lambda pod: pod["metadata"]["annotations"][key])

    def logs(self, pod: Object) -> str:
        return self.kubectl("logs", "--namespace=research", pod["metadata"]["name"])

    def wait_until_finished(self, job: str, seconds: float = 180) -> str:
        """`Complete` or `Failed`."""

        def finished() -> str | None:
            conditions = self.train_job(job).get("status", {}).get("conditions", [])
            ends = [c["type"] for c in conditions if c["type"] in ("Complete", "Failed")]
            return ends[0] if ends else None

        return wait_for(f"{job} to finish", finished, seconds)


def wait_for(what: str, look: Callable[[], T | None], seconds: float) -> T:
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found is not None:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.5)


def operations(run: Callable[[Callable[[Any], None]], object]) -> Counter[tuple[str, str]]:
    """(operation, resource type) of every step an engine run took, `same` left out.

    `run` gets the callback to hand to the Automation API as `on_event`.
    """
    steps: Counter[tuple[str, str]] = Counter()

    def on_event(event: Any) -> None:
        if event.resource_pre_event is not None:
            metadata = event.resource_pre_event.metadata
            if metadata.op.value not in ("same", "refresh"):
                steps[metadata.op.value, metadata.type.rpartition(":")[2]] += 1

    run(on_event)
    return steps
