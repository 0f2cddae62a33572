"""`python -m training …`: see runs and their logs. Needs a KUBECONFIG and nothing of Pulumi."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from training.kube import Kube
from training.runs import Run, State, list_runs, pod_of_node

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
_COLOURS = {State.COMPLETE: "green", State.FAILED: "red", State.RUNNING: "cyan"}


@app.command()
def status(
    tenant: Annotated[str | None, typer.Option(help="only this tenant")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="for machines")] = False,
) -> None:
    """A table of tenants and their runs."""
    runs = list_runs(_connect(), tenant)
    if as_json:
        print(json.dumps([asdict(run) for run in runs], indent=1))
    elif runs:
        show(runs_table(runs))
    else:
        print("no runs; a stack file declares them under trainstack:tenants")


@app.command()
def logs(
    run: Annotated[str, typer.Argument(help="TENANT/JOB, as in the table")],
    node: Annotated[int, typer.Option(help="which node's log")] = 0,
    tail: Annotated[int, typer.Option(help="how many lines")] = 50,
    follow: Annotated[bool, typer.Option(help="until the run ends")] = False,
) -> None:
    """The log of one node of a job's newest run."""
    tenant, _, job = run.partition("/")
    kube = _connect()
    found = [r for r in list_runs(kube, tenant) if r.job == job]
    if not found:
        _fail(f"no run of {run}", "python -m training status")
    pod = pod_of_node(kube, found[0], node)
    if pod is None:
        _fail(
            f"run {found[0].name} has no pod for node {node} ({found[0].reason})", "try again later"
        )
    for line in kube.log_lines(pod, tail=tail, follow=follow):
        print(safe(line))


def runs_table(runs: list[Run]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("TENANT", "JOB", "RUN", "STATE", "NODES", "ON", "RESTARTS", "AGE", "WHY"):
        table.add_column(column, no_wrap=column != "WHY")
    for run in runs:
        colour = _COLOURS.get(run.state, "yellow")
        nodes = f"{run.nodes_running}/{run.nodes}" if not run.state.finished else str(run.nodes)
        cells = [run.tenant, run.job, run.name, f"[{colour}]{run.state}[/{colour}]", nodes]
        cells += [run.hardware, str(run.restarts), age(run.age_seconds), escape(safe(run.reason))]
        table.add_row(*cells)
    return table


def show(table: Table) -> None:
    """Names are never cut: on a narrow screen lines wrap instead."""
    console = Console()
    needed = Measurement.get(console, console.options.update(max_width=1000), table).minimum
    console.width = max(console.width, needed)
    console.print(table)


def age(seconds: int) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{max(0, seconds)}s"


def safe(text: str) -> str:
    """Without control characters: what a pod prints must not steer the reader's terminal."""
    return "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in text)


def _connect() -> Kube:
    try:
        return Kube()
    except Exception as error:  # noqa: BLE001 - any failure to reach the cluster has one next step
        _fail(f"no cluster: {error}", 'make up, then eval "$(make -s env)"')


def _fail(cause: str, next_step: str) -> NoReturn:
    print(f"error: {cause}\n  next: {next_step}", file=sys.stderr)
    raise typer.Exit(1)


if __name__ == "__main__":
    app()
