"""From Pulumi's config bag to the typed stack; stops before the first resource when it is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pulumi
from pulumi.runtime.config import CONFIG
from pydantic import ValidationError

from stacks.models import StackConfig

_PREFIX = "trainstack:"


def load_stack_config() -> StackConfig:
    """The stack's config, or every mistake in it and no resource registered."""
    try:
        return parse_stack_config(CONFIG.get())
    except ValidationError as error:
        raise pulumi.RunError(describe(error, pulumi.get_stack())) from None


def parse_stack_config(bag: Mapping[str, str]) -> StackConfig:
    """`bag` maps `trainstack:<block>` to the block as JSON text."""
    blocks = {
        key.removeprefix(_PREFIX): json.loads(text)
        for key, text in bag.items()
        if key.startswith(_PREFIX)
    }
    return StackConfig.model_validate_json(json.dumps(blocks))


def describe(error: ValidationError, stack: str) -> str:
    problems = error.errors(include_url=False, include_context=False)
    lines = [f"stacks/Pulumi.{stack}.yaml has {len(problems)} mistake(s); nothing was changed."]
    for problem in problems:
        path = ".".join(str(part) for part in problem["loc"]) or "the whole file"
        found = problem["input"]
        shown = (
            f" (found {json.dumps(found)})" if isinstance(found, str | int | float | bool) else ""
        )
        lines.append(f"  {_PREFIX}{path}: {problem['msg'].removeprefix('Value error, ')}{shown}")
    return "\n".join(lines)
