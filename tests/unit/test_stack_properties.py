"""Over all stacks hypothesis can think of: right ones render, wrong ones are refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from runtimes.stack_objects import stack_objects
from stacks.bag import blocks_of
from stacks.mistakes import as_yaml
from stacks.models import StackConfig
from stacks.validation import Report, Stack, validate_blocks
from stacks.values import is_list, is_mapping
from stacks.yaml_document import read_text
from tests.strategies import Blocks, stacks

NOWHERE = Path("Pulumi.drawn.yaml")
Step = tuple[str | int, ...]
# Deterministic, so that a red run is red again.
_SETTINGS = settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check(blocks: Blocks) -> Report:
    return validate_blocks(NOWHERE, blocks)


def right(blocks: Blocks) -> Stack:
    report = check(blocks)
    assert report.stack is not None, report.text()
    return report.stack


def as_file(blocks: Blocks) -> str:
    return "config:\n" + "".join(f"  trainstack:{k}: {as_yaml(v)}\n" for k, v in blocks.items())


@_SETTINGS
@given(stacks())
def test_a_right_stack_renders(blocks: Blocks) -> None:
    for item in stack_objects(right(blocks)):
        assert item["apiVersion"]
        assert len(item["metadata"]["name"]) <= 63
        json.dumps(item)


@_SETTINGS
@given(stacks())
def test_every_yaml_reader_reads_what_we_tell_people_to_write(blocks: Blocks) -> None:
    document = read_text(as_file(blocks))
    assert document.mistakes == ()
    assert blocks_of(document) == (blocks, [])
    theirs: dict[str, Any] = yaml.safe_load(as_file(blocks))["config"]
    assert {key.removeprefix("trainstack:"): value for key, value in theirs.items()} == blocks


@_SETTINGS
@given(stacks(), st.randoms(use_true_random=False))
def test_order_in_the_file_means_nothing(blocks: Blocks, random: Any) -> None:
    def objects(of: Blocks) -> list[str]:
        return sorted(json.dumps(item, sort_keys=True) for item in stack_objects(right(of)))

    shuffled = copy.deepcopy(blocks)
    for block in ("gpuPools", "runtimes", "tenants"):
        random.shuffle(shuffled[block])
    assert objects(shuffled) == objects(blocks)


@_SETTINGS
@given(stacks())
def test_a_written_default_is_the_same_as_none(blocks: Blocks) -> None:
    stack = right(blocks)
    explicit = json.loads(stack.config.model_dump_json(by_alias=True, exclude_none=True))
    assert right(explicit).config == stack.config
    assert StackConfig.model_validate_json(json.dumps(explicit)) == stack.config


def places(value: Any, path: Step = ()) -> Iterator[Step]:
    if is_mapping(value):
        for key, item in value.items():
            yield (*path, key)
            yield from places(item, (*path, key))
    elif is_list(value):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def at(blocks: Any, path: Step) -> Any:
    for step in path:
        blocks = blocks[step]
    return blocks


def free_names(path: Step) -> bool:
    """Below these the keys are the writer's own."""
    return "env" in path[:-1] or ("secretEnv" in path and path[-2] == "secretEnv")


@_SETTINGS
@given(stacks(), st.data())
def test_a_misspelled_key_is_refused(blocks: Blocks, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([p for p in places(blocks) if not free_names(p)]))
    key = str(path[-1])
    spellings = [key.upper(), key.title(), key + "s", key[:-1], key[::-1], key + " "]
    wrong = data.draw(st.sampled_from(spellings))
    changed = copy.deepcopy(blocks)
    holder = at(changed, path[:-1])
    assume(wrong and wrong not in holder and wrong != path[-1])
    # Two keys of a job or pool that are each other's plural or prefix do not exist.
    holder[wrong] = holder.pop(path[-1])
    assert check(changed).stack is None, wrong


@_SETTINGS
@given(stacks(), st.data())
def test_a_value_of_another_type_is_refused(blocks: Blocks, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(list(places(blocks))))
    original = at(blocks, path)
    others: list[Any] = [7.5, True, {"a": {"b": "c"}}, [["x"]], "\n", -1]
    other = data.draw(st.sampled_from([o for o in others if type(o) is not type(original)]))
    text = "args" in path or "env" in path  # a line break is text like any other there
    assume(not (text and other == "\n"))
    changed = copy.deepcopy(blocks)
    at(changed, path[:-1])[path[-1]] = other
    report = check(changed)
    assert report.stack is None, (path, other)
    assert "Traceback" not in report.text()


@_SETTINGS
@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_but_never_crashes(text: str) -> None:
    document = read_text(text)
    blocks, _ = blocks_of(document)
    check(blocks)


# Words of the models in any place, so that wrong structures look right from afar.
_WORDS = (
    *("kind", "class", "stack", "eks", "local", "fail-fast", "gang-restart", "name", "jobs"),
    *("nodes", "failure", "zones", "quota", "env", "secure", "x"),
)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(_WORDS)
)


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_WORDS), inner, max_size=5)


@_SETTINGS
@given(st.recursive(_LEAVES, _inside, max_leaves=25))
def test_any_structure_is_checked_to_the_end(value: Any) -> None:
    """Whatever stands in a block, all mistakes are told and nothing is raised."""
    for block in ("cluster", "gpuPools", "trainer", "runtimes", "tenants"):
        report = check({"cluster": {"kind": "local"}, block: value})
        assert report.stack is not None or report.errors
