"""A real API server that knows our CRDs and runs nothing: for asking whether it takes an object."""

from __future__ import annotations

import ssl
import subprocess
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from runtimes.manifest import Manifest
from tools.cluster.instance import Instance, Mode, create_instance, release_slot
from tools.cluster.pki import ensure_pki
from tools.cluster.processes import Process, control_plane
from tools.toolchain import Toolchain

_READY_SECONDS = 60


@dataclass(slots=True)
class ApiServer:
    client: httpx.Client
    _resources: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def refusal(self, manifest: Manifest, *, dry_run: bool = True) -> str | None:
        """What the server says against creating `manifest`; None when it takes it."""
        # Strict: a field the server does not know is an error and not silently dropped.
        options = {"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry_run else {})
        answer = self.client.post(self._collection(manifest), json=manifest, params=options)
        return None if answer.is_success else str(answer.json()["message"])

    def ensure_namespace(self, manifest: Manifest) -> None:
        refusal = self.refusal(manifest, dry_run=False)
        assert refusal is None or "already exists" in refusal, refusal

    def _collection(self, manifest: Manifest) -> str:
        api, kind = manifest["apiVersion"], manifest["kind"]
        root = f"/apis/{api}" if "/" in api else f"/api/{api}"
        if (api, kind) not in self._resources:
            listed: dict[str, Any] = self.client.get(root).raise_for_status().json()
            for entry in listed["resources"]:
                if "/" not in entry["name"]:
                    self._resources[api, entry["kind"]] = entry["name"]
        namespace = manifest["metadata"].get("namespace")
        scope = f"/namespaces/{namespace}" if namespace is not None else ""
        return f"{root}{scope}/{self._resources[api, kind]}"


@contextmanager
def api_server(home: Path, tools: Toolchain, crds: list[Path]) -> Generator[ApiServer]:
    """etcd and kube-apiserver on ports of their own, with `crds` established."""
    instance = create_instance(home, Mode.SIMULATED)
    ensure_pki(instance)
    with ExitStack() as running:
        running.callback(release_slot, instance)
        for process in control_plane(instance, tools)[:2]:
            running.enter_context(_running(process, home))
        kubectl = [tools.tool("kubectl"), f"--kubeconfig={instance.pki}/admin.kubeconfig"]
        files = [f"--filename={folder}" for folder in crds]
        for command in (["apply", "--server-side"], ["wait", "--for=condition=Established"]):
            subprocess.run([*kubectl, *command, *files], check=True, capture_output=True)
        yield ApiServer(running.enter_context(_client(instance)))


@contextmanager
def _running(process: Process, home: Path) -> Generator[None]:
    with (home / f"{process.name}.log").open("wb") as log:
        started = subprocess.Popen(process.command, stdout=log, stderr=log)
        try:
            _wait_ready(process, started)
            yield
        finally:
            started.kill()
            started.wait()


def _wait_ready(process: Process, started: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while process.ready is not None:
        if subprocess.run(process.ready, capture_output=True, check=False).returncode == 0:
            return
        assert started.poll() is None, f"{process.name} ended with {started.returncode}"
        assert time.monotonic() < deadline, f"{process.name} does not answer"
        time.sleep(0.2)


def _client(instance: Instance) -> httpx.Client:
    context = ssl.create_default_context(cafile=str(instance.pki / "ca.crt"))
    context.load_cert_chain(instance.pki / "admin.crt", instance.pki / "admin.key")
    return httpx.Client(base_url=instance.api_url, verify=context, timeout=30)
