"""Progress for people: a live line in a terminal, plain lines with a heartbeat in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console

# stderr, so that `eval "$(make -s env)"` and `--json` stay clean on stdout.
console = Console(stderr=True, highlight=False, soft_wrap=True)
HEARTBEAT_SECONDS = 30


def say(message: str) -> None:
    console.print(message)


def heading(message: str) -> None:
    console.print(f"\n[bold]{message}[/bold]")


@contextmanager
def step(title: str, expected: str = "") -> Generator[None]:
    """Show one piece of work while it runs and how long it took when it is done."""
    started = time.monotonic()
    note = f" ({expected})" if expected else ""
    if sys.stderr.isatty():
        with console.status(f"{title}{note}"):
            yield
    else:
        console.print(f"  .. {title}{note}")
        finished = threading.Event()
        threading.Thread(target=_heartbeat, args=(title, started, finished), daemon=True).start()
        try:
            yield
        finally:
            finished.set()
    console.print(f"  [green]ok[/green] {title}  [dim]{time.monotonic() - started:.1f} s[/dim]")


def _heartbeat(title: str, started: float, finished: threading.Event) -> None:
    while not finished.wait(HEARTBEAT_SECONDS):
        console.print(f"  .. {title}: {time.monotonic() - started:.0f} s so far")
