"""The one error a person sees: what is wrong, and what to do next."""

from __future__ import annotations


class ToolError(Exception):
    """A failure with its cause and the next step; printed without a traceback."""

    def __init__(self, cause: str, next_step: str) -> None:
        super().__init__(f"{cause}\n  next: {next_step}")
        self.cause = cause
        self.next_step = next_step
