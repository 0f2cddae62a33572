"""What is written from the models is fresh, documents every field, and agrees with the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from stacks.anatomy import all_models, fields_of
from stacks.generated import PROJECT, generated_files
from stacks.models import Spec
from stacks.rules import Rule
from stacks.schema import stack_file_schema
from tests.unit.test_every_mistake import CASES, MARK, Case

STACKS = sorted((PROJECT / "stacks").glob("Pulumi.*.yaml"))
STARTERS = sorted((PROJECT / "stacks" / "starters").glob("*.yaml"))
# Rules of form that a schema can hold, too.
IN_THE_SCHEMA = {
    Rule.UNKNOWN_KEY,
    Rule.UNKNOWN_BLOCK,
    Rule.UNKNOWN_TOP_KEY,
    Rule.WRONG_NAMESPACE,
    Rule.MISSING_KEY,
    Rule.WRONG_TYPE,
    Rule.WRONG_VALUE,
    Rule.WRONG_KIND,
    Rule.OUT_OF_RANGE,
    Rule.UNKNOWN_SHAPE,
    Rule.UNKNOWN_GPU,
    Rule.NOT_STRUCTURED,
}


@pytest.mark.parametrize("file", generated_files(), ids=str)
def test_generated_files_are_fresh(file: Path) -> None:
    assert (PROJECT / file).read_text() == generated_files()[file], "next: make generate"


@pytest.mark.parametrize("model", all_models(), ids=lambda model: model.__name__)
def test_every_field_is_documented(model: type[Spec]) -> None:
    page = (PROJECT / "docs" / "configuration.md").read_text()
    assert model.__doc__
    for alias, field in fields_of(model):
        assert field.description, f"{model.__name__}.{alias}"
        assert field.description.replace("\n", " ") in page


def test_every_field_is_described_in_the_schema() -> None:
    definitions = stack_file_schema()["definitions"]
    for model in all_models():
        definition: dict[str, Any] = definitions.get(model.__name__, _root_properties())
        for alias, _ in fields_of(model):
            assert definition["properties"][alias]["description"], f"{model.__name__}.{alias}"


def _root_properties() -> dict[str, Any]:
    blocks: dict[str, Any] = stack_file_schema()["properties"]["config"]["properties"]
    return {"properties": {key.removeprefix("trainstack:"): block for key, block in blocks.items()}}


def schema() -> Draft7Validator:
    committed: dict[str, Any] = json.loads((PROJECT / "stacks/stack.schema.json").read_text())
    Draft7Validator.check_schema(committed)
    return Draft7Validator(committed)


def errors_of(text: str) -> list[str]:
    return [error.message for error in schema().iter_errors(yaml.safe_load(text))]  # pyright: ignore


@pytest.mark.parametrize("file", [*STACKS, *STARTERS], ids=lambda file: file.name)
def test_the_schema_accepts_what_is_right_and_editors_find_it(file: Path) -> None:
    text = file.read_text()
    filled = text.replace("$CLUSTER", "c").replace("$TENANT", "t").replace("$PLATFORM", "p")
    assert errors_of(filled.replace("$RUNTIME", "r")) == []
    assert text.startswith("# yaml-language-server: $schema=./stack.schema.json\n")


def test_vs_code_finds_the_schema() -> None:
    settings = json.loads((PROJECT / ".vscode" / "settings.json").read_text())
    (schema_file,) = settings["yaml.schemas"]
    assert (PROJECT / schema_file).exists()


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.rule in IN_THE_SCHEMA],
    ids=lambda case: f"{case.rule}: {case.name}",
)
def test_editors_see_mistakes_of_form(case: Case) -> None:
    assert errors_of(case.base) == []
    assert errors_of(case.base.replace(case.old, case.new, 1).replace(MARK, ""))
