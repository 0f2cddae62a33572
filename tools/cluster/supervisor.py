"""First process inside the cluster's namespaces: prepares them, starts the processes, minds them.

With root it is process 1 of an own PID and mount namespace. When it ends, the kernel ends every
process and mount of the cluster with it: nothing is left over, however it ended.
Run as `python -m tools.cluster.supervisor PLAN HOME MODE`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from tools.cluster.instance import Mode
from tools.cluster.linux import die_with_parent
from tools.cluster.processes import Process, read_plan

_STOP_SECONDS = 10
_READY_SECONDS = 120
_RESTARTS_ALLOWED = 8  # within one minute, of one process
_HOST_PATH_VOLUMES = Path("/tmp/hostpath_pv")  # noqa: S108 - the provisioner's fixed folder
# The kubelet writes these three when they differ. It sees its own values; the machine keeps its.
_KERNEL_SETTINGS = {"vm/overcommit_memory": "1", "kernel/panic": "10", "kernel/panic_on_oops": "1"}


class Supervisor:
    def __init__(self, plan: list[Process], home: Path) -> None:
        self._plan = plan
        self._home = home
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._starts: dict[str, list[float]] = {process.name: [] for process in plan}
        self._stopping = False

    def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        for process in self._plan:
            self._start(process)
            self._wait_ready(process)
            if self._stopping:
                break
        while not self._stopping:
            self._reap_orphans()
            if not self._restart_dead():
                self._shut_down()
                return 1
            time.sleep(0.2)
        self._shut_down()
        return 0

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _start(self, process: Process) -> None:
        self._starts[process.name].append(time.monotonic())
        log = (self._home / "logs" / f"{process.name}.log").open("ab")
        with log:
            self._running[process.name] = subprocess.Popen(
                process.command,
                env=os.environ | process.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self._record()

    def _wait_ready(self, process: Process) -> None:
        if process.ready is None:
            return
        deadline = time.monotonic() + _READY_SECONDS
        while not self._stopping and time.monotonic() < deadline:
            self._restart_dead()
            probe = subprocess.run(process.ready, capture_output=True, check=False)
            if probe.returncode == 0:
                return
            time.sleep(0.2)

    def _restart_dead(self) -> bool:
        """Start again what died; False when something dies over and over."""
        now = time.monotonic()
        for process in self._plan:
            running = self._running.get(process.name)
            if running is None or running.poll() is None:
                continue
            recent = [start for start in self._starts[process.name] if now - start < 60]
            print(f"{process.name} ended with {running.returncode}", flush=True)
            if len(recent) > _RESTARTS_ALLOWED:
                print(f"{process.name} keeps ending; giving up", flush=True)
                return False
            if not recent or now - recent[-1] > 1:
                self._start(process)
        return True

    def _reap_orphans(self) -> None:
        """Process 1 inherits orphans (container shims); reap those that are not our children."""
        ours = {running.pid for running in self._running.values()}
        if os.getpid() != 1:
            return
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in ours:
                continue
            try:
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if state == "Z" and parent == "1":
                os.waitpid(int(entry.name), os.WNOHANG)

    def _shut_down(self) -> None:
        """All at once but for the store and its server, which go last with everything written."""
        last = ("kube-apiserver", "etcd")
        others = [name for name in self._running if name not in last]
        for group in (others, *([name] for name in last)):
            self._end([self._running[name] for name in group if name in self._running])
        self._running.clear()
        self._record()

    def _end(self, group: list[subprocess.Popen[bytes]]) -> None:
        for running in group:
            running.terminate()
        deadline = time.monotonic() + _STOP_SECONDS
        for running in group:
            try:
                running.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                print(f"{running.args} did not end by itself", flush=True)
                running.kill()
                running.wait()

    def _record(self) -> None:
        state = {
            name: {"pid": running.pid, "restarts": len(self._starts[name]) - 1}
            for name, running in self._running.items()
        }
        aside = self._home / ".processes.json"
        aside.write_text(json.dumps(state))
        aside.rename(self._home / "processes.json")


def prepare_namespaces(home: Path) -> None:
    """Private /run, /var/log and kernel settings; volumes where the provisioner looks for them."""

    def mount(*arguments: str | Path) -> None:
        subprocess.run(["mount", *map(str, arguments)], check=True)

    mount("--make-rshared", "/")
    for folder in ("/run", "/var/log"):
        mount("-t", "tmpfs", "tmpfs", folder)
    for setting, value in _KERNEL_SETTINGS.items():
        file = home / "config" / setting.replace("/", "-")
        file.write_text(f"{value}\n")
        mount("--bind", file, f"/proc/sys/{setting}")
    volumes = home / "volumes"
    volumes.mkdir(exist_ok=True)
    _HOST_PATH_VOLUMES.mkdir(exist_ok=True)
    mount("--bind", volumes, _HOST_PATH_VOLUMES)
    state = home / "cni"
    state.mkdir(exist_ok=True)
    Path("/var/lib/cni").mkdir(exist_ok=True)
    mount("--bind", state, "/var/lib/cni")


def main() -> int:
    plan, home, mode = Path(sys.argv[1]), Path(sys.argv[2]), Mode(sys.argv[3])
    if mode is Mode.REAL:
        prepare_namespaces(home)
    return Supervisor(read_plan(plan), home).run()


if __name__ == "__main__":
    sys.exit(main())
