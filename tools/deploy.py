"""`make up`: cluster, `pulumi up`, and what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.markup import escape

from stacks.validation import stack_file, validate_file
from tools.cluster.instance import load_instance
from tools.commands import output_of
from tools.console import console, heading, say, step
from tools.errors import ToolError
from tools.recovery import forget_lost_cluster, recover
from tools.shell import cluster_home, link_assets, settings, state_folder
from tools.toolchain import Toolchain

STACK = "local"
_WAIT_FOR_RUNS_SECONDS = 240


def require_valid(project: Path, stack: str) -> None:
    """Stop with every mistake of the stack file before cluster, state or plugins are touched."""
    report = validate_file(stack_file(stack, project / "stacks"))
    if report.errors or report.warnings:
        say(escape(report.text()))
    if report.stack is None:
        raise ToolError(
            f"{report.file} has {len(report.errors)} mistake(s); nothing was changed",
            f"mend what is named above; make validate STACK={stack} checks it again",
        )


def deploy(project: Path, tools: Toolchain, stack: str = STACK) -> None:
    """`pulumi up` of one stack on its local state, after any mess of a killed run is cleared."""
    require_valid(project, stack)
    link_assets(project, tools)
    environment = settings(project, tools)
    select_stack(project, environment, stack)
    instance = load_instance(cluster_home(project))
    assert instance is not None, "the cluster is started first"
    recover(project, state_folder(project), stack, environment)
    if forget_lost_cluster(project, stack, instance.identity, environment):
        select_stack(project, environment, stack)
    command = ["pulumi", "up", "--stack", stack, "--yes", "--skip-preview"]
    if not sys.stdout.isatty():
        command += ["--non-interactive", "--suppress-progress"]
    if _pulumi(project, environment, command) != 0:
        raise ToolError(
            f"pulumi up of stack {stack} failed; its messages are above",
            "mend what they name and run `make up` again: it goes on where it stopped",
        )


def select_stack(project: Path, environment: dict[str, str], stack: str) -> None:
    output_of(
        ["pulumi", "stack", "select", "--create", "--stack", stack, "--non-interactive"],
        doing=f"selecting stack {stack}",
        next_step=f"look at stacks/Pulumi.{stack}.yaml and {state_folder(project)}",
        folder=project,
        environment=environment,
    )


def show_results(project: Path, tools: Toolchain, stack: str = STACK) -> None:
    """The resource tree and outputs, the table of runs, and rank 0's last words."""
    environment = settings(project, tools)
    heading(f"Stack {stack}")
    _pulumi(project, environment, ["pulumi", "stack", "--stack", stack])
    wait_for_runs(project, environment)
    heading("Tenants and jobs")
    _training(project, environment, ["status"])
    for run in _runs(project, environment):
        if run["hardware"] == "real":
            heading(f"Rank 0 of {run['tenant']}/{run['job']}, last lines")
            _training(
                project, environment, ["logs", f"{run['tenant']}/{run['job']}", "--tail", "10"]
            )
    heading("Next")
    say('  eval "$(make -s env)"      pulumi, kubectl and the cluster in this shell')
    say("  make status               the table again; make logs RUN=tenant/job follows one")
    say("  edit training/spirals_ddp.py, then pulumi preview --stack local: new runs, no more")


def wait_for_runs(project: Path, environment: dict[str, str]) -> None:
    """Small local runs finish in about a minute; longer ones are shown as they are."""
    deadline = time.monotonic() + _WAIT_FOR_RUNS_SECONDS
    unfinished = _unfinished(project, environment)
    if not unfinished:
        return
    with step(f"training: {', '.join(unfinished)}", "Ctrl-C only stops the watching"):
        while unfinished and time.monotonic() < deadline:
            time.sleep(2)
            unfinished = _unfinished(project, environment)
    if unfinished:
        say(f"  still running: {', '.join(unfinished)}; `make status` shows them")


def _unfinished(project: Path, environment: dict[str, str]) -> list[str]:
    return [
        f"{run['tenant']}/{run['job']}"
        for run in _runs(project, environment)
        if run["state"] in ("Pending", "Running")
    ]


def _runs(project: Path, environment: dict[str, str]) -> list[dict[str, str]]:
    printed = output_of(
        [sys.executable, "-m", "training", "status", "--json"],
        doing="reading the runs",
        next_step="make status",
        folder=project,
        environment=environment,
    )
    return json.loads(printed)


def _training(project: Path, environment: dict[str, str], arguments: list[str]) -> None:
    command = [sys.executable, "-m", "training", *arguments]
    subprocess.run(command, cwd=project, env=os.environ | environment, check=False)


def _pulumi(project: Path, environment: dict[str, str], command: list[str]) -> int:
    console.file.flush()
    return subprocess.run(
        command, cwd=project, env=os.environ | environment, check=False
    ).returncode
