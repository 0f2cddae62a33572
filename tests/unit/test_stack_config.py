from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from stacks.loader import describe, parse_stack_config
from stacks.models import GangRestart, LocalCluster

CHECKOUT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {
    "cluster": {"kind": "local"},
    "runtimes": [{"name": "torch-distributed", "framework": "torch"}],
    "tenants": [
        {
            "name": "research",
            "jobs": [
                {
                    "name": "spirals",
                    "runtime": "torch-distributed",
                    "nodes": 2,
                    "script": "spirals_ddp.py",
                }
            ],
        }
    ],
}


def bag(blocks: dict[str, Any]) -> dict[str, str]:
    return {f"trainstack:{name}": json.dumps(block) for name, block in blocks.items()}


def changed(path: str, value: object) -> dict[str, str]:
    blocks = deepcopy(GOOD)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    target: Any = blocks
    for part in parents:
        target = target[part]
    target[last] = value
    return bag(blocks)


def test_the_smallest_stack_has_sensible_defaults() -> None:
    config = parse_stack_config(bag(GOOD))
    assert isinstance(config.cluster, LocalCluster)
    assert config.trainer.version == "2.3.0"
    assert config.runtimes[0].failure == GangRestart.model_validate({"class": "gang-restart"})
    assert config.tenants[0].jobs[0].processes_per_node == 1


def test_other_namespaces_of_the_bag_are_not_ours() -> None:
    assert parse_stack_config(bag(GOOD) | {"aws:region": "eu-west-1"})


@pytest.mark.parametrize("file", sorted((CHECKOUT / "stacks").glob("Pulumi.*.yaml")))
def test_committed_stacks_are_valid(file: Path) -> None:
    config = yaml.safe_load(file.read_text())["config"]
    assert parse_stack_config({key: json.dumps(value) for key, value in config.items()})


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("tenantz", [], "tenantz: Extra inputs"),
        ("cluster", {"kind": "eks"}, "cluster: Input tag 'eks'"),
        ("cluster", {"kind": "kubeconfig"}, "cluster.kubeconfig.context: Field required"),
        ("trainer", {"version": "2.1.0"}, "trainer.version: Input should be '2.3.0'"),
        ("runtimes.0.image", "pytorch/pytorch", "runtimes.0.image: String should match"),
        ("runtimes.0.failure", {"class": "gang-restart", "maxRestarts": -1}, "greater than"),
        ("runtimes.0.failure", {"class": "retry"}, "runtimes.0.failure: Input tag 'retry'"),
        ("tenants.0.name", "Research", "tenants.0.name: String should match"),
        ("tenants.0.name", "research\n", "tenants.0.name: String should match"),
        ("tenants.0.storage", {"checkpoints": "1 GB"}, "checkpoints: String should match"),
        ("tenants.0.jobs.0.name", "a" * 38, "at most 37 characters"),
        ("tenants.0.jobs.0.nodes", 0, "greater than or equal to 1"),
        ("tenants.0.jobs.0.nodes", "2", 'valid integer (found "2")'),
        ("tenants.0.jobs.0.nodes", True, "valid integer"),
        ("tenants.0.jobs.0.nodez", 2, "nodez: Extra inputs"),
        ("tenants.0.jobs.0.runtime", "torch", "uses runtime 'torch'; this stack has: torch-dist"),
        ("tenants.0.jobs.0.script", "gone.py", "'gone.py' is not a file under training/"),
        ("tenants.0.jobs.0.script", "../Pulumi.yaml", "script: String should match"),
        ("tenants.0.jobs.0.script", "/etc/passwd", "script: String should match"),
        ("tenants.0.jobs.0.script", "setup/../../Makefile", "script: String should match"),
        ("tenants.0.jobs.0.env", {"PET_NNODES": "3"}, "PET_NNODES: names that begin with PET_"),
        ("tenants.0.jobs.0.env", {"1A": "x"}, "String should match"),
        ("tenants.0.jobs.0.args", [1], "valid string"),
        ("tenants.0.jobs.0.run", 0, "greater than or equal to 1"),
        ("tenants", [GOOD["tenants"][0]] * 2, "tenants: the name research is used more than once"),
        ("runtimes", GOOD["runtimes"] * 2, "runtimes: the name torch-distributed is used"),
    ],
)
def test_mistakes_are_refused_with_place_and_reason(path: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        parse_stack_config(changed(path, value))
    text = describe(refused.value, "local")
    assert text.startswith("stacks/Pulumi.local.yaml has 1 mistake(s); nothing was changed.")
    assert message in text


def test_many_mistakes_are_told_in_one_go() -> None:
    blocks = deepcopy(GOOD)
    blocks["cluster"] = {"kind": "moon"}
    blocks["trainer"] = {"versoin": "2.3.0"}
    blocks["tenants"][0]["jobs"][0]["nodes"] = 0
    with pytest.raises(ValidationError) as refused:
        parse_stack_config(bag(blocks))
    assert len(describe(refused.value, "local").splitlines()) == 4
