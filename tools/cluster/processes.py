"""The command line of every process of the cluster, in the order they start."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tools.cluster.instance import Instance, Mode
from tools.cluster.pki import NODE_NAME
from tools.toolchain import Toolchain


@dataclass(frozen=True, slots=True)
class Process:
    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict[str, str])
    ready: list[str] | None = None  # polled until it exits 0; the next process starts after that


def all_processes(instance: Instance, tools: Toolchain) -> list[Process]:
    node = _node(instance, tools) if instance.mode is Mode.REAL else []
    return [*control_plane(instance, tools), *node, *_simulation(instance, tools)]


def write_plan(instance: Instance, processes: list[Process]) -> Path:
    """The supervisor starts in other namespaces; a file carries its work there."""
    plan = instance.home / "plan.json"
    plan.write_text(json.dumps([asdict(process) for process in processes], indent=1))
    return plan


def read_plan(plan: Path) -> list[Process]:
    raw: list[dict[str, Any]] = json.loads(plan.read_text())
    return [Process(**entry) for entry in raw]


def control_plane(instance: Instance, tools: Toolchain) -> list[Process]:
    pki, ports, networks = instance.pki, instance.ports, instance.networks
    etcd = f"http://127.0.0.1:{ports.etcd}"
    etcd_peer = f"http://127.0.0.1:{ports.etcd_peer}"

    def clients(name: str) -> list[str]:
        file = pki / f"{name}.kubeconfig"
        return [
            f"--kubeconfig={file}",
            f"--authentication-kubeconfig={file}",
            f"--authorization-kubeconfig={file}",
            "--bind-address=127.0.0.1",
            "--leader-elect=false",
        ]

    return [
        Process(
            "etcd",
            [
                tools.tool("etcd"),
                "--name=trainstack",
                f"--data-dir={instance.home / 'etcd'}",
                f"--listen-client-urls={etcd}",
                f"--advertise-client-urls={etcd}",
                f"--listen-peer-urls={etcd_peer}",
                f"--initial-advertise-peer-urls={etcd_peer}",
                f"--initial-cluster=trainstack={etcd_peer}",
                "--log-level=warn",
            ],
        ),
        Process(
            "kube-apiserver",
            [
                tools.tool("kube-apiserver"),
                f"--etcd-servers={etcd}",
                f"--bind-address={instance.api_ip}",
                f"--advertise-address={instance.api_ip}",
                f"--secure-port={ports.api}",
                f"--service-cluster-ip-range={networks.services}",
                "--allow-privileged=true",
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction",
                f"--client-ca-file={pki}/ca.crt",
                f"--tls-cert-file={pki}/apiserver.crt",
                f"--tls-private-key-file={pki}/apiserver.key",
                f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
                f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
                f"--kubelet-certificate-authority={pki}/ca.crt",
                "--kubelet-preferred-address-types=InternalIP",
                f"--service-account-key-file={pki}/service-account.pub",
                f"--service-account-signing-key-file={pki}/service-account.key",
                "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
                f"--requestheader-client-ca-file={pki}/ca.crt",
                "--requestheader-allowed-names=front-proxy-client",
                "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                "--requestheader-group-headers=X-Remote-Group",
                "--requestheader-username-headers=X-Remote-User",
                f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
                f"--proxy-client-key-file={pki}/front-proxy-client.key",
                # On loopback the built-in reconciler would refuse to publish the endpoint.
                *(["--endpoint-reconciler-type=none"] if instance.mode is Mode.SIMULATED else []),
                "--profiling=false",
            ],
            ready=[
                tools.tool("kubectl"),
                f"--kubeconfig={pki}/admin.kubeconfig",
                "get",
                "--raw=/readyz",
            ],
        ),
        Process(
            "kube-controller-manager",
            [
                tools.tool("kube-controller-manager"),
                *clients("kube-controller-manager"),
                f"--secure-port={ports.controller_manager}",
                "--use-service-account-credentials=true",
                f"--service-account-private-key-file={pki}/service-account.key",
                f"--root-ca-file={pki}/ca.crt",
                f"--cluster-signing-cert-file={pki}/ca.crt",
                f"--cluster-signing-key-file={pki}/ca.key",
                "--controllers=*,bootstrapsigner,tokencleaner",
                "--node-monitor-grace-period=40s",
                # Volumes for data and checkpoints: folders of the one real node.
                "--enable-hostpath-provisioner=true",
            ],
        ),
        Process(
            "kube-scheduler",
            [
                tools.tool("kube-scheduler"),
                *clients("kube-scheduler"),
                f"--secure-port={ports.scheduler}",
            ],
        ),
    ]


def _node(instance: Instance, tools: Toolchain) -> list[Process]:
    config = instance.config
    return [
        Process(
            "containerd",
            ["containerd", f"--config={config / 'containerd.toml'}", "--log-level=warn"],
            ready=["ctr", "--address=/run/containerd/containerd.sock", "version"],
        ),
        Process(
            "kubelet",
            [
                tools.tool("kubelet"),
                f"--config={config / 'kubelet.yaml'}",
                f"--kubeconfig={instance.pki}/kubelet.kubeconfig",
                f"--root-dir={instance.home / 'kubelet'}",
                f"--cert-dir={instance.home / 'kubelet' / 'pki'}",
                f"--hostname-override={NODE_NAME}",
                f"--node-ip={instance.networks.node_ip}",
                "--node-labels=trainstack.io/node=real",
            ],
        ),
        Process("kube-proxy", [tools.tool("kube-proxy"), f"--config={config / 'kube-proxy.yaml'}"]),
    ]


def _karpenters_crds(instance: Instance, tools: Toolchain) -> list[str]:
    """Karpenter that starts before its CRDs works half: it starts nodes and never ends them."""
    kubectl = [tools.tool("kubectl"), f"--kubeconfig={instance.pki}/admin.kubeconfig"]
    crds = str(tools.assets / "crds" / "karpenter")
    options = ["--server-side", "--force-conflicts", "--field-manager=trainstack-cluster"]
    apply = [*kubectl, "apply", *options, "-f", crds]
    wait = [*kubectl, "wait", "--for=condition=Established", "--timeout=30s", "-f", crds]
    return ["sh", "-c", f"{shlex.join(apply)} && {shlex.join(wait)}"]


def _simulation(instance: Instance, tools: Toolchain) -> list[Process]:
    ports, admin = instance.ports, instance.pki / "admin.kubeconfig"
    return [
        Process(
            "kwok",
            [
                tools.tool("kwok"),
                f"--kubeconfig={admin}",
                f"--config={instance.config / 'kwok-stages.yaml'}",
                "--manage-all-nodes=false",
                "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
                f"--cidr={instance.networks.simulated_pods}",
                f"--node-ip={instance.api_ip}",
                f"--node-port={ports.kwok}",
                f"--server-address={instance.api_ip}:{ports.kwok}",
                "--node-lease-duration-seconds=40",
            ],
            ready=_karpenters_crds(instance, tools),
        ),
        Process(
            "karpenter",
            [tools.tool("karpenter-kwok")],
            {
                "KUBECONFIG": str(admin),
                "INSTANCE_TYPES_FILE_PATH": str(instance.config / "instance-types.json"),
                "DISABLE_LEADER_ELECTION": "true",
                "METRICS_PORT": str(ports.karpenter_metrics),
                "HEALTH_PROBE_PORT": str(ports.karpenter_health),
                "SYSTEM_NAMESPACE": "kube-system",
            },
        ),
    ]
