"""Start, stop, look at and reset an embedded cluster. `start` is safe to call at any time."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.cache import exclusive
from tools.cluster import linux
from tools.cluster.addons import manifests
from tools.cluster.instance import (
    Instance,
    Mode,
    create_instance,
    load_instance,
    release_slot,
)
from tools.cluster.node import CONTAINERD_SOCKET, write_node_config
from tools.cluster.pki import NODE_NAME, ensure_pki
from tools.cluster.preflight import check_machine, choose_mode
from tools.cluster.processes import all_processes, write_plan
from tools.cluster.simulation import write_simulation_config
from tools.commands import output_of
from tools.console import say, step
from tools.errors import ToolError
from tools.images.catalogue import Image, ensure_images
from tools.toolchain import Toolchain

_CHECKOUT = Path(__file__).parents[2]
_STOP_SECONDS = 90


def start(home: Path, tools: Toolchain) -> Instance:
    """Bring the cluster in `home` up and wait until it can run pods."""
    home = home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    with exclusive(home / ".lock", "this cluster"):
        instance = load_instance(home)
        if instance is None:
            instance = create_instance(home, choose_mode())
        running = keeper_pid(instance) is not None
        if not running:
            check_machine(instance)
        images = ensure_images(tools) if instance.mode is Mode.REAL else []
        if not running:
            _prepare(instance, tools)
            _launch(instance)
        _wait_until_ready(instance, tools, images)
    return instance


def stop(home: Path) -> bool:
    """Stop the cluster and keep its data; False when it was not running."""
    instance = load_instance(home.resolve())
    pid = keeper_pid(instance) if instance is not None else None
    if instance is None or pid is None:
        return False
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while keeper_pid(instance) is not None:
        if time.monotonic() > deadline:
            raise ToolError(
                f"the cluster in {home} did not stop within {_STOP_SECONDS} s",
                f"kill -9 {pid}; the kernel then ends all its processes",
            )
        time.sleep(0.1)
    instance.keeper_file.unlink(missing_ok=True)
    return True


def reset(home: Path) -> None:
    """Stop the cluster and remove all of its data."""
    home = home.resolve()
    stop(home)
    instance = load_instance(home)
    if instance is not None:
        release_slot(instance)
    if home.exists():
        shutil.rmtree(home)


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    name: str
    pid: int
    restarts: int
    resident_bytes: int


def process_table(instance: Instance) -> list[ProcessStatus]:
    """The cluster's processes with the machine's own pids; empty when it is down."""
    if keeper_pid(instance) is None or not instance.processes_file.exists():
        return []
    recorded: dict[str, dict[str, int]] = json.loads(instance.processes_file.read_text())
    if instance.mode is Mode.REAL:
        supervisor = supervisor_pid(instance)
        mapped = linux.host_pids(supervisor) if supervisor is not None else {}
    else:
        mapped = {entry["pid"]: entry["pid"] for entry in recorded.values()}
    return [
        ProcessStatus(name, pid, entry["restarts"], linux.resident_bytes(pid))
        for name, entry in recorded.items()
        if (pid := mapped.get(entry["pid"])) is not None
    ]


def keeper_pid(instance: Instance) -> int | None:
    """The running keeper of this instance: the very process we started, not one with its number."""
    if not instance.keeper_file.exists():
        return None
    recorded: dict[str, str | int] = json.loads(instance.keeper_file.read_text())
    pid = int(recorded["pid"])
    same = recorded["boot"] == linux.boot_id() and recorded["started"] == linux.start_time(pid)
    return pid if same and not linux.is_zombie(pid) else None


def supervisor_pid(instance: Instance) -> int | None:
    """The supervisor as the machine sees it: keeper > unshare > supervisor."""
    keeper = keeper_pid(instance)
    launchers = linux.children(keeper) if keeper is not None else []
    if instance.mode is Mode.SIMULATED:
        return launchers[0] if launchers else None
    inside = linux.children(launchers[0]) if launchers else []
    return inside[0] if inside else None


def in_namespaces(instance: Instance, command: list[str]) -> list[str]:
    """`command` as run inside the cluster's own mounts and network."""
    pid = supervisor_pid(instance)
    if pid is None:
        raise ToolError(f"the cluster in {instance.home} is not running", "make up")
    return ["nsenter", f"--target={pid}", "--mount", "--net", "--pid", *command]


def kubectl(instance: Instance, tools: Toolchain, *arguments: str, text: str | None = None) -> str:
    return output_of(
        [tools.tool("kubectl"), f"--kubeconfig={instance.kubeconfig}", *arguments],
        doing=f"kubectl {' '.join(arguments)}",
        next_step=f"see the logs in {instance.logs}",
        stdin=text,
    )


def _prepare(instance: Instance, tools: Toolchain) -> None:
    for folder in (instance.logs, instance.config):
        folder.mkdir(parents=True, exist_ok=True)
    ensure_pki(instance)
    write_node_config(instance)
    write_simulation_config(instance, tools.assets / "kwok-stages")
    write_plan(instance, all_processes(instance, tools))


def _launch(instance: Instance) -> None:
    log = (instance.logs / "keeper.log").open("ab")
    with log:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tools.cluster.keeper", str(instance.home)],
            cwd=_CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    record = {"pid": keeper.pid, "started": linux.start_time(keeper.pid), "boot": linux.boot_id()}
    instance.keeper_file.write_text(json.dumps(record))


def _wait_until_ready(instance: Instance, tools: Toolchain, images: list[Image]) -> None:
    def api_answers() -> bool:
        probe = [
            tools.tool("kubectl"),
            f"--kubeconfig={instance.kubeconfig}",
            "get",
            "--raw=/readyz",
        ]
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    def default_account_exists() -> bool:
        return "default" in kubectl(instance, tools, "get", "serviceaccounts", "-o=name")

    with step("control plane"):
        _wait(instance, "the API server", api_answers, 120)
        _wait(instance, "the controller manager", default_account_exists, 60)
    _import_images(instance, images)
    with step("cluster services"):
        _apply(instance, tools, "-f", "-", text=manifests(instance))
    if instance.mode is Mode.REAL:
        with step("real node and the pods that serve it"):
            _wait(instance, "the kubelet", lambda: _node_ready(instance, tools), 90)
            _wait(instance, "a service", lambda: _deployments_serve(instance, tools), 180)


def _apply(instance: Instance, tools: Toolchain, *arguments: str, text: str | None = None) -> None:
    options = ("--server-side", "--force-conflicts", "--field-manager=trainstack-cluster")
    kubectl(instance, tools, "apply", *options, *arguments, text=text)


def _import_images(instance: Instance, images: list[Image]) -> None:
    """Each image once per instance; a marker is written only after a whole import."""
    done = instance.home / "images"
    done.mkdir(exist_ok=True)
    ctr = ["ctr", f"--address={CONTAINERD_SOCKET}", "--namespace=k8s.io"]

    def containerd_answers() -> bool:
        probe = in_namespaces(instance, [*ctr, "version"])
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    for image in images:
        if (done / image.key).exists():
            continue
        _wait(instance, "containerd", containerd_answers, 30)
        with step(f"import {image.name} ({image.archive.stat().st_size / 1e6:.0f} MB)"):
            output_of(
                in_namespaces(instance, [*ctr, "images", "import", str(image.archive)]),
                doing=f"importing {image.name}",
                next_step=f"see {instance.logs / 'containerd.log'}",
            )
        (done / image.key).touch()


def _node_ready(instance: Instance, tools: Toolchain) -> bool:
    template = "{.items[*].status.conditions[?(@.type=='Ready')].status}"
    query = (
        "get",
        "nodes",
        f"--field-selector=metadata.name={NODE_NAME}",
        f"-o=jsonpath={template}",
    )
    return kubectl(instance, tools, *query).strip() == "True"


def _deployments_serve(instance: Instance, tools: Toolchain) -> bool:
    """Every Deployment has its pods, ready and started by this run of the cluster.

    Right after a restart the stored status is still that of the run before: node and pods look
    ready although nothing answers. Only containers that are younger than the keeper count.
    """
    since = dt.datetime.fromtimestamp(int(instance.keeper_file.stat().st_mtime), dt.UTC)
    pods = _items(instance, tools, "pods")
    for deployment in _items(instance, tools, "deployments"):
        labels = deployment["spec"]["selector"]["matchLabels"].items()
        serving = [
            pod
            for pod in pods
            if pod["metadata"]["namespace"] == deployment["metadata"]["namespace"]
            and labels <= pod["metadata"].get("labels", {}).items()
            and _started_since(pod, since)
        ]
        if len(serving) < deployment["spec"]["replicas"]:
            return False
    return True


def _started_since(pod: dict[str, Any], moment: dt.datetime) -> bool:
    containers = pod["status"].get("containerStatuses", [])
    return bool(containers) and all(
        container["ready"]
        and dt.datetime.fromisoformat(container["state"]["running"]["startedAt"]) >= moment
        for container in containers
    )


def _items(instance: Instance, tools: Toolchain, kind: str) -> list[dict[str, Any]]:
    return json.loads(kubectl(instance, tools, "get", kind, "-A", "-o=json"))["items"]


def _wait(instance: Instance, what: str, holds: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        if keeper_pid(instance) is None:
            tail = (instance.logs / "keeper.log").read_text().strip().splitlines()[-5:]
            raise ToolError(
                "the cluster stopped while starting:\n    " + "\n    ".join(tail),
                f"read the logs in {instance.logs}; `make clean` starts from nothing",
            )
        if holds():
            return
        if time.monotonic() > deadline:
            raise ToolError(
                f"{what} is not ready after {seconds:.0f} s", f"read the logs in {instance.logs}"
            )
        time.sleep(0.3)


def describe(instance: Instance) -> None:
    real = "one real node and simulated GPU nodes"
    kind = real if instance.mode is Mode.REAL else "simulated nodes only (no root)"
    say(f"  cluster in {instance.home}: {kind}, API on 127.0.0.1:{instance.ports.api}")
