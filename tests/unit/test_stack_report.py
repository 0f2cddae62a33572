"""What a person and a machine get to see of a stack file's check."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stacks.loader import check_bag
from stacks.models import GangRestart, LocalCluster
from stacks.validation import STACKS, stack_file, validate_blocks, validate_file

CHECKOUT = Path(__file__).parents[2]
SMALLEST = """\
config:
  trainstack:cluster: {kind: local}
  trainstack:runtimes:
    - {name: torch-distributed, framework: torch}
  trainstack:tenants:
    - name: research
      jobs:
        - {name: spirals, runtime: torch-distributed, nodes: 2, script: spirals_ddp.py}
"""
WRONG = """\
config:
  trainstack:cluster: {kind: local}
  trainstack:runtimes:
    - {name: torch-distributed, framework: torch, iamge: "torch:1"}
  trainstack:tenants:
    - name: research
      jobs:
        - {name: spirals, runtime: torch-distributd, nodes: 0, script: gone.py}
        - {name: "two\\e[2J", runtime: torch-distributed, nodes: no, script: spirals_ddp.py}
  trainstack:tennants: []
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "Pulumi.case.yaml"
    file.write_text(text)
    return file


def test_the_smallest_useful_stack_has_sensible_defaults(tmp_path: Path) -> None:
    report = validate_file(write(tmp_path, SMALLEST))
    assert report.stack is not None
    config = report.stack.config
    assert isinstance(config.cluster, LocalCluster)
    assert config.trainer.version == "2.3.0"
    assert config.runtimes[0].failure == GangRestart.model_validate({"class": "gang-restart"})
    assert config.tenants[0].jobs[0].processes_per_node == "auto"
    assert len(SMALLEST.splitlines()) <= 10


@pytest.mark.parametrize("file", sorted(STACKS.glob("Pulumi.*.yaml")), ids=lambda f: f.name)
def test_committed_stacks_are_right_without_a_warning(file: Path) -> None:
    assert validate_file(file).text() == ""


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    report = validate_file(write(tmp_path, WRONG))
    told = [(e.place.line, str(e.mistake.rule)) for e in report.errors if e.place is not None]
    assert told == [
        (4, "unknown-key"),
        (8, "unknown-runtime"),
        (8, "out-of-range"),
        (8, "script-missing"),
        (9, "wrong-form"),
        (9, "ambiguous"),
        (10, "unknown-block"),
    ]


def test_a_message_has_place_path_remedy_and_rule(tmp_path: Path) -> None:
    file = write(tmp_path, WRONG)
    assert (
        f"{file}:8:36: error: tenants[0](research).jobs[0](spirals).runtime: no such runtime "
        "[unknown-runtime]\n"
        "    found    torch-distributd\n"
        "    allowed  torch-distributed\n"
        "    nearest  torch-distributed\n"
        "    write    runtime: torch-distributed\n"
    ) in validate_file(file).text()


def test_what_is_printed_cannot_play_tricks_on_a_terminal(tmp_path: Path) -> None:
    text = validate_file(write(tmp_path, WRONG)).text()
    assert all(character.isprintable() or character == "\n" for character in text)
    assert "two\\u001b[2J" in text


def test_a_broken_platform_does_not_hide_the_teams_own_mistakes(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.base.yaml").write_text(WRONG)
    team = SMALLEST.replace("{kind: local}", "{kind: stack, stack: base}")
    report = validate_file(write(tmp_path, team.replace("nodes: 2", "nodes: 0")))
    rules = [str(found.mistake.rule) for found in report.errors]
    assert rules == ["platform-broken", "out-of-range"]


def bag_of(text: str) -> dict[str, str]:
    config: dict[str, object] = yaml.safe_load(text)["config"]
    return {key: json.dumps(value) for key, value in config.items()}


def test_the_program_tells_lines_when_config_comes_from_the_file() -> None:
    report = check_bag(bag_of(stack_file("local").read_text()), "local")
    assert report.stack is not None


def test_config_from_the_command_line_counts_more_than_the_file() -> None:
    bag = bag_of(SMALLEST.replace("nodes: 2", "nodes: 0"))
    report = check_bag(bag, "local")
    (error,) = report.errors
    assert error.place is None
    assert error.where == "tenants[0].jobs[0].nodes"


def test_other_namespaces_of_the_bag_are_not_ours() -> None:
    bag = bag_of(SMALLEST) | {"aws:region": "eu-west-1"}
    assert check_bag(bag, "nowhere").stack is not None


def test_a_scalar_in_the_bag_is_refused_not_crashed_on() -> None:
    report = check_bag({"trainstack:cluster": "local"}, "nowhere")
    assert report.errors[0].where == "cluster"


def test_without_any_config_the_cluster_is_missing() -> None:
    (error,) = validate_blocks(stack_file("nowhere"), {}).errors
    assert error.mistake.write == "trainstack:cluster: {kind: local}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout of its own, so that wrong files do not lie in ours."""
    for folder in ("stacks", "training"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    shutil.copy2(CHECKOUT / "Makefile", tmp_path)
    shutil.copy2(CHECKOUT / "requirements.lock", tmp_path)
    (tmp_path / ".venv").symlink_to(CHECKOUT / ".venv")
    return tmp_path


def make(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-s", f"PYTHON={sys.executable}", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_validate_of_all_stacks(project: Path) -> None:
    result = make(project, "validate")
    assert result.returncode == 0, result.stderr
    assert "stacks/Pulumi.seoul.yaml: right; eks cluster, 1 GPU pool(s)" in result.stdout
    assert len(result.stdout.splitlines()) == len(list(STACKS.glob("Pulumi.*.yaml")))


def test_make_validate_of_a_wrong_stack(project: Path) -> None:
    (project / "stacks" / "Pulumi.wrong.yaml").write_text(WRONG)
    result = make(project, "validate", "STACK=wrong")
    assert result.returncode != 0
    assert "stacks/Pulumi.wrong.yaml:4:51: error: runtimes[0](torch-distributed).iamge" in (
        result.stdout
    )
    assert result.stdout.endswith("stacks/Pulumi.wrong.yaml: 7 mistake(s); nothing was changed\n")
    assert "Traceback" not in result.stdout + result.stderr


def test_make_validate_for_machines(project: Path) -> None:
    (project / "stacks" / "Pulumi.wrong.yaml").write_text(WRONG)
    result = make(project, "validate", "STACK=wrong", "FORMAT=json")
    assert result.returncode != 0
    report = json.loads(result.stdout)
    assert (report["file"], report["valid"]) == ("stacks/Pulumi.wrong.yaml", False)
    assert report["errors"][0] == {
        "rule": "unknown-key",
        "path": "runtimes[0](torch-distributed).iamge",
        "line": 4,
        "column": 51,
        "message": "no such key",
        "found": "iamge",
        "allowed": "name, framework, image, gitImage, failure",
        "nearest": ["image"],
        "write": "image: torch:1",
    }
    everything = make(project, "validate", "FORMAT=json")
    assert len(json.loads(everything.stdout)) == len(list(STACKS.glob("Pulumi.*.yaml"))) + 1


def test_make_new_then_validate(project: Path) -> None:
    made = make(project, "new", "STACK=mine", "KIND=eks")
    assert made.returncode == 0, made.stderr
    assert "wrote stacks/Pulumi.mine.yaml" in made.stdout
    assert make(project, "validate", "STACK=mine").returncode == 0
    again = make(project, "new", "STACK=mine", "KIND=eks")
    assert again.returncode != 0
    assert "is there already" in again.stdout
    assert make(project, "new", "STACK=other", "KIND=moon").returncode != 0
