"""Stack files from the command line: check them, begin one, write what follows from the models."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from stacks.generated import write_generated
from stacks.starter import Kind, StarterError, write_starter
from stacks.validation import STACKS, Report, stack_file, validate_file

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)


class Format(StrEnum):
    TEXT = "text"
    JSON = "json"


@app.command()
def validate(
    stack: Annotated[str, typer.Argument(help="a stack; none: all of stacks/")] = "",
    output: Annotated[Format, typer.Option("--format", help="for people or machines")] = (
        Format.TEXT
    ),
) -> None:
    """Check stack files without Pulumi and without a cluster. Changes nothing."""
    files = [stack_file(stack)] if stack else sorted(STACKS.glob("Pulumi.*.yaml"))
    reports = [validate_file(file) for file in files]
    if output is Format.JSON:
        as_json = [report.as_json() for report in reports]
        print(json.dumps(as_json[0] if stack else as_json, indent=2))
    else:
        for report in reports:
            _print(report)
    if any(report.stack is None for report in reports):
        raise typer.Exit(1)


def _print(report: Report) -> None:
    if report.errors or report.warnings:
        print(report.text())
    if report.stack is None:
        print(f"{report.file}: {len(report.errors)} mistake(s); nothing was changed")
        return
    config = report.stack.config
    counts = {
        "GPU pool(s)": len(config.gpu_pools),
        "runtime(s)": len(config.runtimes),
        "tenant(s)": len(config.tenants),
        "job(s)": sum(len(tenant.jobs) for tenant in config.tenants),
    }
    if report.warnings:
        counts["warning(s)"] = len(report.warnings)
    listed = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{report.file}: right; {config.cluster.kind} cluster, {listed}")


@app.command()
def new(
    stack: Annotated[str, typer.Argument(help="name of the new stack")],
    kind: Annotated[Kind, typer.Argument(help="kind of its cluster")],
    platform: Annotated[str, typer.Option(help="for kind stack: the stack to stand on")] = "",
) -> None:
    """Write a small commented stack file that is right as it stands."""
    try:
        file = write_starter(stack, kind, platform)
    except StarterError as refused:
        print(f"error: {refused}")
        raise typer.Exit(1) from None
    print(f"wrote stacks/{file.name}")
    _print(validate_file(file))
    print(f"next: edit it, then make validate STACK={stack}")


@app.command()
def generate() -> None:
    """Write the JSON Schema and docs/configuration.md from the models."""
    for file in write_generated():
        print(f"wrote {file}")


if __name__ == "__main__":
    app(prog_name="python -m stacks")
