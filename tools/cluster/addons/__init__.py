"""What the embedded cluster brings beyond a bare control plane, applied at every start."""

from __future__ import annotations

import string
from pathlib import Path

from tools import pins
from tools.cluster.instance import Instance, Mode

_FOLDER = Path(__file__).parent


def manifests(instance: Instance) -> str:
    real = ("coredns.yaml", "storage.yaml")
    simulated = ("storage.yaml", "simulated-node.yaml")
    values = {
        "COREDNS": pins.COREDNS,
        "DNS_SERVICE_IP": instance.networks.dns_service_ip,
    }
    files = real if instance.mode is Mode.REAL else simulated
    texts = [string.Template((_FOLDER / name).read_text()).substitute(values) for name in files]
    return "\n---\n".join(texts)
