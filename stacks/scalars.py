"""Scalars with a meaning, so that a model reads like prose."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

# A run is named `<job>-<hash8>` and its pods `<run>-node-0-<index>-xxxxx`, at most 63 characters.
_LONGEST_JOB_NAME = 37

DnsLabel = Annotated[
    str,
    Field(
        pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$",
        max_length=63,
        description="lower-case letters, digits and hyphens; begins with a letter",
        examples=["research"],
    ),
]
JobName = Annotated[DnsLabel, Field(max_length=_LONGEST_JOB_NAME)]
Quantity = Annotated[
    str,
    Field(
        pattern=r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$",
        description="a Kubernetes quantity",
        examples=["500m", "1Gi"],
    ),
]
TrainingFile = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$",
        description="a file under training/, without a way out of it",
        examples=["spirals_ddp.py"],
    ),
]
ImageName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][A-Za-z0-9./_-]*(:[0-9]+/[A-Za-z0-9./_-]+)?(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})$",
        description="an image with a tag or digest",
        examples=["pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"],
    ),
]
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
