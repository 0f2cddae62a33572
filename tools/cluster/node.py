"""Config files of the real node: containerd, CNI, kubelet, kube-proxy."""

from __future__ import annotations

import json

import yaml

from tools import pins
from tools.cluster.instance import Instance

CONTAINERD_SOCKET = "/run/containerd/containerd.sock"  # inside the instance's own /run
_CONTAINERD = """\
version = 2
root = "{home}/containerd"
state = "/run/containerd/state"
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{home}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:{pause}"
  disable_apparmor = true
  # Machines that drop CAP_SYS_RESOURCE let nobody lower oom_score_adj; sandboxes would die at once.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{home}/config/cni"
"""


def write_node_config(instance: Instance) -> None:
    config = instance.config
    (config / "cni").mkdir(parents=True, exist_ok=True)
    (config / "resolv.conf").write_text("")  # no resolver: names outside the cluster do not resolve
    (config / "containerd.toml").write_text(
        _CONTAINERD.format(home=instance.home, socket=CONTAINERD_SOCKET, pause=pins.PAUSE)
    )
    (config / "cni" / "10-trainstack.conflist").write_text(json.dumps(_cni(instance), indent=1))
    (config / "kubelet.yaml").write_text(yaml.safe_dump(_kubelet(instance)))
    (config / "kube-proxy.yaml").write_text(yaml.safe_dump(_kube_proxy(instance)))


def _cni(instance: Instance) -> dict[str, object]:
    networks = instance.networks
    ipam = {
        "type": "host-local",
        "dataDir": "/run/cni-ipam",  # gone with the instance's /run, as are the pods it was for
        "ranges": [[{"subnet": networks.pods}]],
        "routes": [{"dst": networks.whole}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "pods",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": ipam,
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "1.0.0", "name": "trainstack", "plugins": [bridge, portmap]}


def _kubelet(instance: Instance) -> dict[str, object]:
    pki = instance.pki
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": instance.networks.node_ip,
        "port": instance.ports.kubelet,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": instance.ports.kubelet_health,
        "readOnlyPort": 0,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{pki}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{pki}/kubelet.crt",
        "tlsPrivateKeyFile": f"{pki}/kubelet.key",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{instance.namespace}",
        "failSwapOn": False,
        # Mounted Secrets follow at this pace. The managers make their webhook certificates after
        # they start, and were not ready for up to two minutes with the default of one.
        "syncFrequency": "5s",
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "clusterDNS": [instance.networks.dns_service_ip],
        "clusterDomain": "cluster.local",
        "resolvConf": str(instance.config / "resolv.conf"),
        "podLogsDir": str(instance.home / "pod-logs"),
        "volumePluginDir": str(instance.home / "volume-plugins"),
        # The machine is shared with other work: only a truly full disk evicts training.
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
        },
        "imageGCHighThresholdPercent": 100,  # images were imported and cannot be pulled again
        "imageGCLowThresholdPercent": 99,
    }


def _kube_proxy(instance: Instance) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "iptables",
        "clusterCIDR": instance.networks.pods,
        "hostnameOverride": "node-0",
        "bindAddress": instance.networks.node_ip,
        "healthzBindAddress": f"127.0.0.1:{instance.ports.proxy_health}",
        "metricsBindAddress": f"127.0.0.1:{instance.ports.proxy_metrics}",
        "clientConnection": {"kubeconfig": str(instance.pki / "kube-proxy.kubeconfig")},
        # Connection-tracking limits belong to the machine, not to a namespace: leave them alone.
        "conntrack": {
            "maxPerCore": 0,
            "min": 0,
            "tcpEstablishedTimeout": "0s",
            "tcpCloseWaitTimeout": "0s",
        },
    }
