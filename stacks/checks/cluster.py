"""The cluster's region and zones."""

from __future__ import annotations

from collections.abc import Iterator

from stacks.checks.subject import Subject
from stacks.mistakes import Mistake
from stacks.models import EksCluster
from stacks.nearest import closest
from stacks.rules import Rule

# Regions with EKS. A new one is a line here.
REGIONS = (
    "af-south-1",
    "ap-east-1",
    "ap-east-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ap-southeast-5",
    "ap-southeast-7",
    "ca-central-1",
    "ca-west-1",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "il-central-1",
    "me-central-1",
    "me-south-1",
    "mx-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
)


def check(subject: Subject) -> Iterator[Mistake]:
    cluster = subject.config.cluster
    if not isinstance(cluster, EksCluster) or not subject.sound(("cluster", "region")):
        return
    if cluster.region not in REGIONS:
        near = closest(cluster.region, REGIONS, 3)
        yield Mistake(
            rule=Rule.UNKNOWN_REGION,
            path=("cluster", "region"),
            message="no such region",
            found=cluster.region,
            allowed="a region of AWS with EKS",
            nearest=near,
            write=f"region: {near[0]}" if near else "",
        )
        return
    for number, zone in enumerate(cluster.zones):
        path = ("cluster", "zones", number)
        if subject.sound(path) and zone[:-1] != cluster.region:
            yield Mistake(
                rule=Rule.ZONE_OUTSIDE_REGION,
                path=path,
                message=f"not a zone of {cluster.region}",
                found=zone,
                allowed=f"{cluster.region} and a letter",
                write=f"- {cluster.region}{zone[-1]}",
            )
