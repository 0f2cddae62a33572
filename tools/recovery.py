"""After a killed `pulumi up`: its lock and its left-over plugins go, a live run is respected."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.cluster import linux
from tools.commands import output_of
from tools.console import say
from tools.errors import ToolError

_PLUGIN_MARKS = ("pulumi-resource-", "pulumi-language-", "pulumi.dynamic")


@dataclass(frozen=True, slots=True)
class Lock:
    file: Path
    pid: int
    host: str
    user: str
    since: str

    @property
    def is_live(self) -> bool:
        """Of another machine we cannot know: then it counts as live."""
        if self.host != socket.gethostname():
            return True
        return _is_pulumi(self.pid)


def recover(project: Path, state: Path, stack: str, environment: dict[str, str]) -> None:
    """Clear what a dead run left behind, so that the next update starts from the truth."""
    locks = stack_locks(state, stack)
    for lock in locks:
        if lock.is_live:
            raise ToolError(
                f"another update of stack {stack} is running: process {lock.pid} of {lock.user} "
                f"on {lock.host}, since {lock.since}",
                "wait for it, or stop it with Ctrl-C where it runs; if that machine is gone: "
                f"pulumi cancel --stack {stack}",
            )
    leftovers = orphaned_plugins(state)
    _end(leftovers)
    if locks:
        _run(["pulumi", "cancel", "--yes", "--stack", stack], project, environment)
    if locks or leftovers:
        say(
            f"  [yellow]recovered[/yellow] from a killed update: {len(locks)} stale lock(s), "
            f"{len(leftovers)} left-over plugin process(es)"
        )
    adopt_pending(project, stack, environment)


def forget_lost_cluster(
    project: Path, stack: str, cluster: str, environment: dict[str, str]
) -> bool:
    """After a reset of the embedded cluster its objects are gone, and so is what the state says.

    True when the stack's state was of another cluster and has been dropped; config stays.
    """
    resources: list[dict[str, Any]] = _deployment(project, stack, environment).get("resources", [])
    recorded = {
        resource["inputs"].get("clusterIdentifier")
        for resource in resources
        if resource["type"] == "pulumi:providers:kubernetes"
    }
    if not recorded or cluster in recorded:
        return False
    remove = ["pulumi", "stack", "rm", "--force", "--yes", "--preserve-config", "--stack", stack]
    _run(remove, project, environment)
    say(f"  the cluster was reset: {len(resources)} resources that went with it are forgotten")
    return True


def adopt_pending(project: Path, stack: str, environment: dict[str, str]) -> None:
    """Settle what a killed run had begun to create and not yet recorded.

    Kubernetes objects have known names, so they are imported: a later change of the stack file can
    then remove them, and nothing is orphaned. What cannot be named is made again by `up`.
    """
    pending = _pending_creates(project, stack, environment)
    if not pending:
        return
    known: list[str] = []
    for resource in pending:
        metadata = resource.get("inputs", {}).get("metadata", {})
        if resource["type"].startswith("kubernetes:") and "name" in metadata:
            identity = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
            known += [resource["urn"], identity]
    command = ["pulumi", "refresh", "--yes", "--skip-preview", "--non-interactive"]
    command += ["--stack", stack, "--clear-pending-creates"]
    command += [part for word in known for part in ("--import-pending-creates", word)]
    _run(command, project, environment)
    say(f"  settled {len(pending)} unfinished creation(s), {len(known) // 2} of them imported")


def _pending_creates(
    project: Path, stack: str, environment: dict[str, str]
) -> list[dict[str, Any]]:
    deployment = _deployment(project, stack, environment)
    operations: list[dict[str, Any]] = deployment.get("pending_operations", [])
    return [entry["resource"] for entry in operations if entry["type"] == "creating"]


def _deployment(project: Path, stack: str, environment: dict[str, str]) -> dict[str, Any]:
    exported = _run(["pulumi", "stack", "export", "--stack", stack], project, environment)
    return json.loads(exported)["deployment"]


def _run(command: list[str], project: Path, environment: dict[str, str]) -> str:
    return output_of(
        command,
        doing=" ".join(command[:3]),
        next_step="run it by hand in a shell with `make env` and see what it says",
        folder=project,
        environment=environment,
    )


def stack_locks(state: Path, stack: str) -> list[Lock]:
    found: list[Lock] = []
    for file in sorted((state / ".pulumi" / "locks").glob(f"**/{stack}/*.json")):
        try:
            raw = json.loads(file.read_text())
        except FileNotFoundError:
            continue  # released while we looked
        found.append(
            Lock(file, int(raw["pid"]), raw["hostname"], raw["username"], raw["timestamp"])
        )
    return found


def orphaned_plugins(state: Path) -> list[int]:
    """Plugin processes that work on this state and whose `pulumi` is gone."""
    url = f"PULUMI_BACKEND_URL=file://{state}"
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            environment = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        ours = url in environment and any(mark in command for mark in _PLUGIN_MARKS)
        if ours and not _has_pulumi_above(int(entry.name)):
            found.append(int(entry.name))
    return sorted(found)


def _has_pulumi_above(pid: int) -> bool:
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            return False
        if _is_pulumi(pid):
            return True
    return False


def _is_pulumi(pid: int) -> bool:
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return name == "pulumi" and not linux.is_zombie(pid)


def _end(pids: list[int]) -> None:
    """Ask all of them to end; insist after a while."""
    _send(pids, signal.SIGTERM)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not all(linux.is_zombie(pid) for pid in pids):
        time.sleep(0.1)
    _send([pid for pid in pids if not linux.is_zombie(pid)], signal.SIGKILL)


def _send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # ended by itself
