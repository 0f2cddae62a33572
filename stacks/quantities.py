"""Kubernetes quantities and durations as numbers; the scalars have made sure of their form."""

from __future__ import annotations

from decimal import Decimal

_MEBIBYTES = {"Mi": 1, "Gi": 1024, "Ti": 1024 * 1024}
_SECONDS = {"m": 60, "h": 3600, "d": 86400}


def cpu_millis(text: str) -> int:
    if text.endswith("m"):
        return int(text[:-1])
    return int(Decimal(text) * 1000)


def mebibytes(text: str) -> int:
    return int(text[:-2]) * _MEBIBYTES[text[-2:]]


def seconds(text: str) -> int:
    return int(text[:-1]) * _SECONDS[text[-1]]
