"""What a machine must have before a cluster starts; each lack with its cause and next step."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from tools.cache import require_free_space
from tools.cluster.instance import (
    Instance,
    Mode,
    overlapping_route,
    port_is_free,
    ports_on_the_host,
    running_as_root,
)
from tools.commands import output_of
from tools.console import say, step
from tools.errors import ToolError

# command -> Debian package
_NODE_COMMANDS: Mapping[str, str] = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mmdebstrap": "mmdebstrap",
}
_PORT_GRACE_SECONDS = 5
_CNI = Path("/usr/lib/cni/bridge")


def choose_mode() -> Mode:
    """A real node where the machine lets us have one; never a silent fallback."""
    if running_as_root():
        return Mode.REAL
    say(
        "[yellow]no root:[/yellow] the cluster gets simulated nodes only; pods are scheduled and "
        "counted but nothing trains for real\n  next: run it as root (sudo make up) for a real node"
    )
    return Mode.SIMULATED


def check_machine(instance: Instance) -> None:
    """Everything that must hold for this instance to start, checked before anything changes."""
    require_free_space(instance.home, 3, "a cluster and its images")
    check_ports(instance)
    if instance.mode is Mode.REAL:
        if not running_as_root():
            raise ToolError(
                f"no root: the cluster in {instance.home} has a real node, which needs root",
                "run it as root, or `make clean` first for a cluster with simulated nodes only",
            )
        check_kernel(Path("/proc/filesystems").read_text())
        ensure_packages()
        check_network(instance)


def check_ports(instance: Instance) -> None:
    # The kernel may still be closing the sockets of a cluster that was killed a moment ago.
    deadline = time.monotonic() + _PORT_GRACE_SECONDS
    for port in ports_on_the_host(instance):
        while not port_is_free(port) and time.monotonic() < deadline:
            time.sleep(0.1)
        if not port_is_free(port):
            raise ToolError(
                f"port taken: 127.0.0.1:{port} is in use by {_holder(port)}, "
                f"and the cluster in {instance.home} needs it",
                "stop that process and run it again, or `make clean` to move to other ports",
            )


def check_kernel(filesystems: str) -> None:
    if "overlay" in filesystems.split():
        return
    if (
        shutil.which("modprobe")
        and subprocess.run(["modprobe", "overlay"], check=False).returncode == 0
    ):
        return
    raise ToolError(
        "kernel without overlay: /proc/filesystems does not list it and no module can be loaded",
        "load or build the `overlay` module; containers need it",
    )


def check_network(instance: Instance) -> None:
    clash = overlapping_route(instance.networks.whole)
    if clash is not None and instance.namespace not in clash:
        raise ToolError(
            f"network taken: {instance.networks.whole} overlaps this machine's route {clash}",
            "`make clean` to move to another network, or remove that route",
        )


def missing_packages() -> list[str]:
    lacking = {package for name, package in _NODE_COMMANDS.items() if shutil.which(name) is None}
    if not _CNI.exists():
        lacking.add("containernetworking-plugins")
    return sorted(lacking)


def ensure_packages() -> None:
    """Install what is missing from Debian's archive."""
    lacking = missing_packages()
    if not lacking:
        return
    if shutil.which("apt-get") is None:
        raise ToolError(
            f"missing programs: {', '.join(lacking)} (Debian's names), and there is no apt-get",
            "install them with this system's package manager and run it again",
        )
    with step(f"Debian packages {', '.join(lacking)}"):
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *lacking],
        ):
            output_of(
                command,
                doing=f"missing Debian packages: installing {', '.join(lacking)}",
                next_step=f"apt-get install {' '.join(lacking)}",
                environment={"DEBIAN_FRONTEND": "noninteractive"},
            )


def _holder(port: int) -> str:
    """Who listens there, as far as we may look."""
    shown = subprocess.run(
        ["ss", "-Hltnp", f"sport = :{port}"], capture_output=True, text=True, check=False
    ).stdout
    _, _, users = shown.partition("users:")
    return users.strip() or "another process"
