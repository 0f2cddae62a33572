"""Small facts of Linux that the cluster needs: process identity, namespaces, cgroups."""

from __future__ import annotations

import ctypes
import signal
import subprocess
from pathlib import Path

_PR_SET_PDEATHSIG = 1
CGROUPS = Path("/sys/fs/cgroup")


def die_with_parent() -> None:
    """For a child before exec: the kernel kills it when its parent is gone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def start_time(pid: int) -> str | None:
    """When a process started, in ticks since boot: with the pid it names one process for ever."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def resident_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS")), 0)


def host_pids(supervisor: int) -> dict[int, int]:
    """Pids inside the supervisor's PID namespace mapped to the machine's own."""
    namespace = _pid_namespace(supervisor)
    mapped: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and namespace and _pid_namespace(int(entry.name)) == namespace:
            try:
                lines = (entry / "status").read_text().splitlines()
            except (FileNotFoundError, ProcessLookupError):
                continue
            inside = next(line for line in lines if line.startswith("NSpid")).split()[-1]
            mapped[int(inside)] = int(entry.name)
    return mapped


def children(pid: int) -> list[int]:
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def _pid_namespace(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink().name
    except OSError:  # gone, or not ours to look at
        return ""


def make_cgroup(name: str) -> None:
    """An own cgroup root for the kubelet in every hierarchy, so that instances stay apart."""
    if (CGROUPS / "cgroup.controllers").exists():
        wanted = " ".join(f"+{name}" for name in ("cpu", "cpuset", "memory", "pids"))
        (CGROUPS / "cgroup.subtree_control").write_text(wanted)
        (CGROUPS / name).mkdir(exist_ok=True)
        return
    for hierarchy in CGROUPS.iterdir():
        if not (hierarchy / "cgroup.procs").exists():
            continue
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        for setting in ("cpuset.cpus", "cpuset.mems"):
            if (group / setting).exists():
                (group / setting).write_text((hierarchy / setting).read_text())


def remove_cgroup(name: str) -> None:
    for group in [CGROUPS / name, *CGROUPS.glob(f"*/{name}")]:
        if group.exists():
            subprocess.run(
                ["find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"],
                capture_output=True,
                check=False,
            )
