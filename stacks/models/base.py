"""What all models of the stack file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Spec(BaseModel):
    """Frozen, strict, unknown keys refused; camelCase in YAML, snake_case in Python."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=False,
        use_attribute_docstrings=True,
    )
