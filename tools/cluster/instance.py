"""One embedded cluster: its folder, its identity, and the ports and networks only it uses."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import subprocess
import uuid
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from tools.cache import cache_root, exclusive
from tools.errors import ToolError

# Each instance owns one slot: one /16 and forty ports.
SLOTS = 16
_FIRST_PORT = 26000
_PORTS_PER_SLOT = 40
_FIRST_NETWORK = 224  # 10.224.0.0/16 and up: rarely used by VPCs, home networks or Docker


class Mode(StrEnum):
    """What the machine allows: a real node needs root."""

    REAL = "real"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Ports:
    """Loopback ports. Inside a node's own network namespace the numbers are the same."""

    api: int
    etcd: int
    etcd_peer: int
    controller_manager: int
    scheduler: int
    kwok: int
    karpenter_metrics: int
    karpenter_health: int
    kubelet: int
    kubelet_health: int
    proxy_health: int
    proxy_metrics: int

    @classmethod
    def of_slot(cls, slot: int) -> Ports:
        base = _FIRST_PORT + slot * _PORTS_PER_SLOT
        return cls(*range(base, base + len(fields(cls))))


@dataclass(frozen=True, slots=True)
class Networks:
    """The slot's /16, divided. Outside the instance's namespace only one /30 of it has a route."""

    whole: str
    pods: str
    services: str
    simulated_pods: str
    link: str
    host_ip: str
    node_ip: str
    api_service_ip: str
    dns_service_ip: str

    @classmethod
    def of_slot(cls, slot: int) -> Networks:
        prefix = f"10.{_FIRST_NETWORK + slot}"
        return cls(
            whole=f"{prefix}.0.0/16",
            pods=f"{prefix}.0.0/17",
            services=f"{prefix}.128.0/18",
            simulated_pods=f"{prefix}.192.0/19",
            link=f"{prefix}.255.0/30",
            host_ip=f"{prefix}.255.1",
            node_ip=f"{prefix}.255.2",
            api_service_ip=f"{prefix}.128.1",
            dns_service_ip=f"{prefix}.128.10",
        )


@dataclass(frozen=True, slots=True)
class Instance:
    home: Path
    identity: str  # new after every reset, so that Pulumi knows another cluster when it sees one
    slot: int
    mode: Mode

    @property
    def ports(self) -> Ports:
        return Ports.of_slot(self.slot)

    @property
    def networks(self) -> Networks:
        return Networks.of_slot(self.slot)

    @property
    def namespace(self) -> str:
        """Name of the network namespace, the cgroup and the host's end of the link."""
        return f"trainstack-{self.slot}"

    @property
    def api_ip(self) -> str:
        """Where the API server listens."""
        return self.networks.node_ip if self.mode is Mode.REAL else "127.0.0.1"

    @property
    def api_url(self) -> str:
        """How processes of the cluster reach the API server."""
        return f"https://{self.api_ip}:{self.ports.api}"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's, for people and Pulumi; always by loopback."""
        return self.home / "kubeconfig"

    @property
    def pki(self) -> Path:
        return self.home / "pki"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def config(self) -> Path:
        return self.home / "config"

    @property
    def keeper_file(self) -> Path:
        return self.home / "keeper.json"

    @property
    def processes_file(self) -> Path:
        return self.home / "processes.json"


def load_instance(home: Path) -> Instance | None:
    """The instance that lives in `home`, or None when none was made there."""
    file = home / "instance.json"
    if not file.exists():
        return None
    raw: dict[str, Any] = json.loads(file.read_text())
    return Instance(home=home, identity=raw["identity"], slot=raw["slot"], mode=Mode(raw["mode"]))


def create_instance(home: Path, mode: Mode) -> Instance:
    """Claim a free slot for `home` and remember it there."""
    home.mkdir(parents=True, exist_ok=True)
    with exclusive(_slots() / "lock", "a cluster slot"):
        slot = _free_slot(mode)
        (_slots() / str(slot)).write_text(str(home))
    instance = Instance(home=home, identity=str(uuid.uuid4()), slot=slot, mode=mode)
    record = {k: v for k, v in asdict(instance).items() if k != "home"}
    (home / "instance.json").write_text(json.dumps(record, indent=1))
    return instance


def release_slot(instance: Instance) -> None:
    claim = _slots() / str(instance.slot)
    if claim.exists() and claim.read_text() == str(instance.home):
        claim.unlink()


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def ports_on_the_host(instance: Instance) -> list[int]:
    """Ports this instance binds on the machine's own loopback."""
    everything = list(asdict(instance.ports).values())
    return [instance.ports.api] if instance.mode is Mode.REAL else everything


def overlapping_route(network: str) -> str | None:
    """A route of this machine that would clash with `network`, other than the default one."""
    listed = subprocess.run(["ip", "-j", "route"], capture_output=True, text=True, check=False)
    ours = ipaddress.ip_network(network)
    for route in json.loads(listed.stdout or "[]"):
        destination = str(route.get("dst", "default"))
        if destination != "default" and ipaddress.ip_network(destination).overlaps(ours):
            return f"{destination} dev {route.get('dev', '?')}"
    return None


def _free_slot(mode: Mode) -> int:
    for slot in range(SLOTS):
        claim = _slots() / str(slot)
        if claim.exists() and (Path(claim.read_text()) / "instance.json").exists():
            continue
        ports_free = all(port_is_free(port) for port in asdict(Ports.of_slot(slot)).values())
        network_free = mode is Mode.SIMULATED or not overlapping_route(Networks.of_slot(slot).whole)
        if ports_free and network_free:
            return slot
    raise ToolError(
        f"all {SLOTS} cluster slots of this machine are taken (see {_slots()})",
        "run `make clean` in a checkout you no longer need",
    )


def _slots() -> Path:
    folder = cache_root() / "slots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def running_as_root() -> bool:
    return os.geteuid() == 0
