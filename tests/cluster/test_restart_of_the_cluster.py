"""Stopping, crashing and starting the embedded cluster keeps what tenants have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.platform import Platform, wait_for
from tools.cache import cache_root
from tools.cluster import lifecycle
from tools.cluster.instance import Mode, load_instance
from tools.errors import ToolError

CHECKOUT = Path(__file__).parents[2]


def _objects_of_tenant(platform: Platform) -> set[tuple[str, str]]:
    kinds = ("configmaps", "persistentvolumeclaims", "trainjobs", "jobsets", "jobs")
    return {
        (kind, item["metadata"]["uid"])
        for kind in kinds
        for item in platform.objects(kind, "--namespace=research")
    }


def _traces_on_the_machine(platform: Platform) -> list[str]:
    """Namespaces, links, mounts and processes that would outlive the cluster."""
    name, home = platform.instance.namespace, str(platform.instance.home)
    found = ""
    for look in (["ip", "netns"], ["ip", "-br", "link"]):
        found += subprocess.run(look, capture_output=True, text=True, check=True).stdout
    traces = [line for line in found.splitlines() if line.split("@")[0].split(" ")[0] == name]
    traces += [line for line in Path("/proc/mounts").read_text().splitlines() if home in line]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if home in command:
                traces.append(command)
    return traces


def test_start_is_safe_to_call_twice(platform: Platform) -> None:
    before = lifecycle.keeper_pid(platform.instance)
    lifecycle.start(platform.instance.home, platform.toolchain)
    assert before is not None
    assert lifecycle.keeper_pid(platform.instance) == before


def test_stop_and_start_keep_the_tenants_objects(deployed: Platform) -> None:
    before = _objects_of_tenant(deployed)
    assert before
    assert lifecycle.stop(deployed.instance.home)
    assert _traces_on_the_machine(deployed) == []
    assert not lifecycle.stop(deployed.instance.home)
    lifecycle.start(deployed.instance.home, deployed.toolchain)
    assert _objects_of_tenant(deployed) == before


def test_a_crash_is_recovered_with_the_data_intact(deployed: Platform) -> None:
    before = _objects_of_tenant(deployed)
    keeper = lifecycle.keeper_pid(deployed.instance)
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)

    def all_gone() -> bool | None:
        return True if lifecycle.process_table(deployed.instance) == [] else None

    wait_for("the kernel to end the cluster", all_gone, 20)
    lifecycle.start(deployed.instance.home, deployed.toolchain)
    assert _objects_of_tenant(deployed) == before


def test_a_dead_component_is_started_again(deployed: Platform) -> None:
    table = {p.name: p for p in lifecycle.process_table(deployed.instance)}
    os.kill(table["kube-scheduler"].pid, signal.SIGKILL)

    def restarted() -> bool | None:
        now = {p.name: p for p in lifecycle.process_table(deployed.instance)}
        scheduler = now.get("kube-scheduler")
        return True if scheduler and scheduler.restarts > table["kube-scheduler"].restarts else None

    wait_for("the scheduler", restarted, 20)


def test_a_taken_port_is_named(deployed: Platform) -> None:
    lifecycle.stop(deployed.instance.home)
    port = deployed.instance.ports.api
    squatter = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(1)
        with pytest.raises(ToolError, match=f"port taken: 127.0.0.1:{port}") as refused:
            lifecycle.start(deployed.instance.home, deployed.toolchain)
        assert "make clean" in refused.value.next_step
    finally:
        squatter.terminate()
        squatter.wait()
    lifecycle.start(deployed.instance.home, deployed.toolchain)


def test_without_root_a_second_instance_has_simulated_nodes(
    platform: Platform, tmp_path: Path
) -> None:
    """In a user namespace: not root, no capability on this machine, beside the first instance."""
    home = tmp_path / "unprivileged"
    script = (
        "import sys; from pathlib import Path; from tools.cluster import lifecycle as cluster; "
        "from tools.toolchain import ensure_toolchain; home = Path(sys.argv[1]); "
        "tools = ensure_toolchain(); instance = cluster.start(home, tools); "
        "print(cluster.kubectl(instance, tools, 'get', 'nodes', '--no-headers')); "
        "cluster.stop(home)"
    )
    result = subprocess.run(
        [
            *("unshare", "--user", "--map-user=1000", "--map-group=1000"),
            *(sys.executable, "-c", script, str(home)),
        ],
        cwd=CHECKOUT,
        env=os.environ | {"TRAINSTACK_CACHE": str(cache_root())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "no root: the cluster gets simulated nodes only" in result.stderr
    assert result.stdout.split()[:2] == ["simulated-0", "Ready"]
    instance = load_instance(home)
    assert instance is not None
    assert instance.mode is Mode.SIMULATED
    assert instance.slot != platform.instance.slot
    lifecycle.reset(home)
