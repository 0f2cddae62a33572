from pathlib import Path
import typer
from tools.toolchain import ensure_toolchain
from tools.cluster import lifecycle
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
@app.command()
def toolchain() -> None:
    print(ensure_toolchain())
@app.command()
def start() -> None:
    lifecycle.describe(lifecycle.start(Path(".trainstack/cluster"), ensure_toolchain()))
@app.command()
def stop() -> None:
    print(lifecycle.stop(Path(".trainstack/cluster")))
@app.command()
def reset() -> None:
    lifecycle.reset(Path(".trainstack/cluster"))
