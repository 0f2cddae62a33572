"""Run `__main__.py` under Pulumi mocks; config bag on stdin, registered resources on stdout."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import Any, cast

from pulumi.runtime import mocks, resource, set_mocks
from pulumi.runtime.config import CONFIG
from pulumi.runtime.proto.callback_pb2 import Callback
from pulumi.runtime.stack import wait_for_rpcs

CHECKOUT = Path(__file__).parents[2]
Inputs = dict[str, Any]


class Recorder(mocks.Mocks):
    def __init__(self) -> None:
        self.resources: list[Inputs] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        given: Inputs = cast(Any, args).inputs
        inputs = {key: value for key, value in given.items() if key != "__provider"}
        entry = {"type": args.typ, "name": args.name, "inputs": inputs, "provider": args.provider}
        self.resources.append(entry)
        return f"{args.name}-id", given

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]]]:
        return {}, []


class NoTransforms:
    """Mocks have no engine to call transforms back; the engine tests prove what they do."""

    def register_transform(self, _transform: object) -> Callback:
        return Callback(target="mock", token="mock")


async def record(bag: dict[str, str]) -> list[Inputs]:
    async def no_transforms() -> NoTransforms:
        return NoTransforms()

    resource._get_callbacks = no_transforms  # pyright: ignore  # the SDK offers no public way
    recorder = Recorder()
    set_mocks(recorder, project="trainstack", stack="test", preview=False)
    CONFIG.set(bag)
    runpy.run_path(str(CHECKOUT / "__main__.py"))
    await wait_for_rpcs()
    return sorted(recorder.resources, key=lambda entry: (entry["type"], entry["name"]))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(record(json.load(sys.stdin))), default=str))
