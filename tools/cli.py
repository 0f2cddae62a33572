"""Commands behind the Makefile; each does one thing and says what it does."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tools.cluster import lifecycle
from tools.cluster.instance import Instance, Mode, load_instance
from tools.console import heading, say, step
from tools.deploy import STACK, deploy, require_valid, show_results
from tools.errors import ToolError
from tools.shell import (
    as_exports,
    cluster_home,
    link_assets,
    local_folder,
    settings,
    state_folder,
)
from tools.toolchain import Toolchain, ensure_toolchain

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
cluster_app = typer.Typer(no_args_is_help=True, help="The embedded cluster of this checkout.")
app.add_typer(cluster_app, name="cluster")

PROJECT = Path(__file__).resolve().parents[1]
HOME = cluster_home(PROJECT)


@app.command()
def up() -> None:
    """Tools, cluster, `pulumi up` of stack local, and a look at what runs."""
    require_valid(PROJECT, STACK)
    tools = ensure_toolchain()
    instance = _start(tools)
    if instance.mode is Mode.SIMULATED:
        raise ToolError(
            "no root: stack local runs Trainer and trains in real pods, and this cluster has none",
            "run `make up` as root; without it `make env` still gives you pulumi and kubectl "
            "against the simulated cluster",
        )
    heading("pulumi up")
    deploy(PROJECT, tools)
    show_results(PROJECT, tools)


@app.command()
def env() -> None:
    """Print the settings of a shell for `eval`."""
    tools = ensure_toolchain()
    link_assets(PROJECT, tools)
    print(as_exports(settings(PROJECT, tools)))


@app.command()
def toolchain() -> None:
    """Make all tools available and print where they are."""
    tools = ensure_toolchain()
    for name in sorted(path.name for path in tools.bin.iterdir()):
        print(tools.bin / name)


@app.command()
def clean() -> None:
    """Remove cluster and state of this checkout; the machine's tool cache stays."""
    with step("removing the cluster and the local state"):
        lifecycle.reset(HOME)
        shutil.rmtree(local_folder(PROJECT), ignore_errors=True)


@cluster_app.command("start")
def start() -> None:
    """Start the cluster and wait until it is ready; safe to call twice."""
    _start(ensure_toolchain())


@cluster_app.command("stop")
def stop() -> None:
    """Stop the cluster and keep its data."""
    with step("stopping the cluster"):
        running = lifecycle.stop(HOME)
    say("  stopped; `make up` brings it back with its data" if running else "  it was not running")


@cluster_app.command("reset")
def reset() -> None:
    """Remove the cluster and all of its data. Pulumi's state stays and sees another cluster."""
    with step("removing the cluster"):
        lifecycle.reset(HOME)


@cluster_app.command("status")
def status(
    as_json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """The cluster's processes, their memory and restarts."""
    instance = load_instance(HOME)
    processes = lifecycle.process_table(instance) if instance is not None else []
    if as_json:
        print(json.dumps([asdict(process) for process in processes], indent=1))
        return
    if instance is None or not processes:
        say("the cluster is not running\n  next: make up")
        raise typer.Exit(1)
    lifecycle.describe(instance)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("PROCESS", "PID", "MEMORY", "RESTARTS"):
        table.add_column(column, justify="left" if column == "PROCESS" else "right")
    for process in processes:
        memory = f"{process.resident_bytes / 2**20:.0f} MiB"
        table.add_row(process.name, str(process.pid), memory, str(process.restarts))
    total = sum(process.resident_bytes for process in processes)
    table.add_row("together", "", f"{total / 2**20:.0f} MiB", "")
    Console().print(table)


def _start(tools: Toolchain) -> Instance:
    heading("Embedded cluster")
    instance = lifecycle.start(HOME, tools)
    state_folder(PROJECT).mkdir(parents=True, exist_ok=True)
    lifecycle.describe(instance)
    return instance
