"""The one host process of a running cluster: holds its namespaces and its door on loopback.

It makes the network namespace, starts the supervisor inside, forwards `127.0.0.1:PORT` to the API
server, and takes all of it down again when it is told to stop. If it is killed, the kernel takes
the supervisor and so the whole cluster with it.
Run as `python -m tools.cluster.keeper HOME`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from tools.cluster import linux
from tools.cluster.instance import Instance, Mode, load_instance


async def keep(instance: Instance) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if instance.mode is Mode.REAL:
        make_network(instance)
        linux.make_cgroup(instance.namespace)
    launcher = subprocess.Popen(_supervisor_command(instance), preexec_fn=linux.die_with_parent)
    door = await _open_door(instance) if instance.mode is Mode.REAL else None
    ended = loop.run_in_executor(None, launcher.wait)
    await asyncio.wait(
        [asyncio.ensure_future(stop.wait()), asyncio.ensure_future(ended)],
        return_when=asyncio.FIRST_COMPLETED,
    )
    if launcher.poll() is None:
        _signal_supervisor(instance, launcher)
        await ended
    if door is not None:
        door.close()
    if instance.mode is Mode.REAL:
        remove_network(instance)
        linux.remove_cgroup(instance.namespace)
    return launcher.returncode


def _supervisor_command(instance: Instance) -> list[str]:
    supervisor = [sys.executable, "-m", "tools.cluster.supervisor"]
    supervisor += [str(instance.home / "plan.json"), str(instance.home), str(instance.mode)]
    if instance.mode is Mode.SIMULATED:
        return supervisor
    return [
        "nsenter",
        f"--net=/run/netns/{instance.namespace}",
        "unshare",
        *("--mount", "--propagation", "private", "--pid", "--fork", "--mount-proc"),
        "--kill-child",
        *supervisor,
    ]


def _signal_supervisor(instance: Instance, launcher: subprocess.Popen[bytes]) -> None:
    """`unshare` waits for its child and does not pass signals on."""
    targets = [launcher.pid] if instance.mode is Mode.SIMULATED else linux.children(launcher.pid)
    for pid in targets:
        os.kill(pid, signal.SIGTERM)


def make_network(instance: Instance) -> None:
    """A namespace without a default route: no packet of the cluster can leave this machine."""
    remove_network(instance)
    name, networks = instance.namespace, instance.networks
    inside = ["ip", "-n", name]
    for command in (
        ["ip", "netns", "add", name],
        ["ip", "link", "add", name, "type", "veth", "peer", "name", "uplink", "netns", name],
        ["ip", "addr", "add", f"{networks.host_ip}/30", "dev", name],
        ["ip", "link", "set", name, "up"],
        [*inside, "link", "set", "lo", "up"],
        [*inside, "addr", "add", f"{networks.node_ip}/30", "dev", "uplink"],
        [*inside, "link", "set", "uplink", "up"],
        # Packets to services need a route before kube-proxy rewrites them; loopback leaks nothing.
        [*inside, "route", "add", networks.services, "dev", "lo", "src", networks.node_ip],
        ["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.ip_forward=1"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def remove_network(instance: Instance) -> None:
    """Also of a crashed run: both commands fail harmlessly when there is nothing to remove."""
    for command in (
        ["ip", "link", "del", instance.namespace],
        ["ip", "netns", "del", instance.namespace],
    ):
        subprocess.run(command, capture_output=True, check=False)


async def _open_door(instance: Instance) -> asyncio.Server:
    """Loopback only: with the cluster down a client gets `connection refused`, no lost packet."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection(
                instance.api_ip, instance.ports.api
            )
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    return await asyncio.start_server(pass_on, "127.0.0.1", instance.ports.api)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(256 * 1024):
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass  # one side went away: the finally clause tells the other
    finally:
        writer.close()


def main() -> int:
    instance = load_instance(Path(sys.argv[1]))
    assert instance is not None, f"no instance in {sys.argv[1]}"
    return asyncio.run(keep(instance))


if __name__ == "__main__":
    sys.exit(main())
