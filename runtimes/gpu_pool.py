"""GPU pools as Karpenter objects: a NodePool, and the node class of the cluster's kind."""

from __future__ import annotations

from typing import Any

from runtimes.manifest import MANAGED, Manifest
from stacks.models import EksCluster, GpuPool
from stacks.versions import TESTED

POOL_LABEL = "trainstack.io/pool"
GPU_RESOURCE = "nvidia.com/gpu"
EFA_RESOURCE = "vpc.amazonaws.com/efa"
GPU_TOLERATION = {"key": GPU_RESOURCE, "operator": "Exists", "effect": "NoSchedule"}
# The value the NVIDIA device plugin's own node discovery tolerates; with another one it never
# lands, and a node without it never counts as initialized.
_GPU_TAINT = {"key": GPU_RESOURCE, "value": "present", "effect": "NoSchedule"}


def simulated_pool(pool: GpuPool) -> list[Manifest]:
    """On the embedded cluster: real Karpenter, simulated machines, labelled so."""
    node_class = {
        "apiVersion": "karpenter.kwok.sh/v1alpha1",
        "kind": "KWOKNodeClass",
        "metadata": {"name": pool.name, "labels": MANAGED},
    }
    reference = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": pool.name}
    labels = {"trainstack.io/node": "simulated"}
    return [node_class, _node_pool(pool, reference, labels, empty_for="30s")]


def eks_pool(pool: GpuPool, cluster: EksCluster) -> list[Manifest]:
    node_class = {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": pool.name, "labels": MANAGED},
        "spec": _ec2_node_class(pool, cluster),
    }
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": pool.name}
    return [node_class, _node_pool(pool, reference, {}, empty_for="10m")]


def _node_pool(
    pool: GpuPool, node_class: Manifest, labels: dict[str, str], empty_for: str
) -> Manifest:
    shape = pool.node_shape()
    requirements = {
        "node.kubernetes.io/instance-type": [shape.name],
        "topology.kubernetes.io/zone": list(pool.zones),
        "karpenter.sh/capacity-type": list(pool.capacity),
        "kubernetes.io/arch": ["amd64"],
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": pool.name, "labels": MANAGED},
        "spec": {
            "template": {
                "metadata": {
                    "labels": {
                        POOL_LABEL: pool.name,
                        "nvidia.com/gpu.present": "true",  # what the device plugin looks for
                        **labels,
                    }
                },
                "spec": {
                    "nodeClassRef": node_class,
                    # Expiry ignores budgets and would take nodes away from running gangs.
                    "expireAfter": "Never",
                    "taints": [_GPU_TAINT],
                    "requirements": [
                        {"key": key, "operator": "In", "values": values}
                        for key, values in requirements.items()
                    ],
                },
            },
            "disruption": {
                "consolidationPolicy": "WhenEmpty",
                "consolidateAfter": empty_for,
                # One node at a time when its image or class changes.
                "budgets": [{"nodes": "1", "reasons": ["Drifted"]}, {"nodes": "100%"}],
            },
            "limits": {GPU_RESOURCE: str(pool.max_gpus)},
            "weight": pool.weight,
        },
    }


def _ec2_node_class(pool: GpuPool, cluster: EksCluster) -> Manifest:
    ours = [{"tags": {"karpenter.sh/discovery": cluster.name}}]
    root: dict[str, Any] = {
        "volumeSize": pool.disk,
        "volumeType": "gp3",
        "encrypted": True,
        "deleteOnTermination": True,
    }
    if pool.image_cache is not None:
        root["snapshotID"] = pool.image_cache
    spec: Manifest = {
        "role": f"{cluster.name}-karpenter-node",
        "amiSelectorTerms": [{"alias": _image(cluster)}],
        "subnetSelectorTerms": ours,
        "securityGroupSelectorTerms": ours,
        "instanceStorePolicy": "RAID0",  # local NVMe becomes the pods' scratch space
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "rootVolume": True, "ebs": root}],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
        "tags": {"trainstack.io/pool": pool.name, "trainstack.io/cluster": cluster.name},
    }
    if pool.reservations:
        spec["capacityReservationSelectorTerms"] = [{"id": name} for name in pool.reservations]
    if pool.placement_group is not None:
        spec["placementGroupSelector"] = {"name": pool.placement_group}
    if pool.efa:
        spec["networkInterfaces"] = _efa_interfaces(pool.node_shape().efa_interfaces)
    return spec


def _image(cluster: EksCluster) -> str:
    tested = (t for t in TESTED if t.kubernetes == cluster.kubernetes_version)
    return next(combination.ami for combination in tested)


def _efa_interfaces(count: int) -> list[Manifest]:
    """The primary interface, and one EFA on each network card beside it."""
    primary = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
    efa = [
        {"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"}
        for card in range(count)
    ]
    return [primary, *efa]
