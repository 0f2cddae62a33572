"""The little of a Kubernetes API that watching runs needs, with types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import kr8s

Object = Mapping[str, Any]
EVERYWHERE: str = kr8s.ALL


class Kube:
    """A cluster, by KUBECONFIG or the usual places; asks for its version at once."""

    def __init__(self) -> None:
        self._api: Any = kr8s.api()
        self._api.version()

    def objects(
        self, kind: str, namespace: str = EVERYWHERE, labels: Mapping[str, str] | None = None
    ) -> list[Object]:
        found = self._api.get(kind, namespace=namespace, label_selector=dict(labels or {}))
        return [item.raw for item in found]

    def log_lines(self, pod: Object, *, tail: int, follow: bool) -> Iterator[str]:
        metadata = pod["metadata"]
        for item in self._api.get("pods", metadata["name"], namespace=metadata["namespace"]):
            yield from item.logs(tail_lines=tail, follow=follow)
