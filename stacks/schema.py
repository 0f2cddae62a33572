"""The JSON Schema of a stack file, for editors that complete and check while one types."""

from __future__ import annotations

from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from stacks.models import StackConfig
from stacks.yaml_document import OURS


class _WithoutFieldTitles(GenerateJsonSchema):
    """Titles made from field names ("Maxgpus") say less than the names themselves."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        """Without OpenAPI's `discriminator`, whose references editors do not follow."""
        json_schema = super().tagged_union_schema(schema)
        json_schema.pop("discriminator", None)
        return json_schema


def stack_file_schema() -> dict[str, Any]:
    models = StackConfig.model_json_schema(
        by_alias=True,
        ref_template="#/definitions/{model}",  # where draft 7, the one editors know best, has them
        schema_generator=_WithoutFieldTitles,
    )
    blocks: dict[str, Any] = models["properties"]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Trainstack stack file",
        "description": "A Pulumi stack file whose trainstack: blocks describe a training platform.",
        "type": "object",
        "required": ["config"],
        "additionalProperties": False,
        "properties": {
            "config": {
                "type": "object",
                "description": "Configuration of the stack.",
                "required": [f"{OURS}{name}" for name in models["required"]],
                "properties": {f"{OURS}{name}": block for name, block in blocks.items()},
                # Settings of providers and of Pulumi itself are theirs to check.
                "patternProperties": {"^(aws|kubernetes|pulumi):": {}},
                "additionalProperties": False,
            },
            "encryptionsalt": {"type": "string", "description": "Written by Pulumi."},
            "encryptedkey": {"type": "string", "description": "Written by Pulumi."},
            "secretsprovider": {"type": "string", "description": "Written by Pulumi."},
            "environment": {"description": "Environments of Pulumi ESC."},
        },
        "definitions": models["$defs"],
    }
