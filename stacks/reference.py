"""docs/configuration.md, written from the models, the rules and the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from stacks.anatomy import Part, all_models, field_part, fields_of
from stacks.gpu_shapes import PRICE_DATE, PRICE_REGION, catalogue
from stacks.mistakes import as_yaml
from stacks.models import Spec, StackConfig
from stacks.rules import Rule
from stacks.versions import TESTED
from stacks.yaml_document import OURS

_HEAD = Path(__file__).with_name("reference_head.md")


def configuration_page() -> str:
    parts = [_HEAD.read_text(), "## Blocks\n\n", *_table(StackConfig, prefix=OURS)]
    for model in all_models():
        if model is not StackConfig:
            parts += [f"\n## {model.__name__}\n\n", f"{_paragraph(model)}\n\n", *_table(model)]
    parts += ["\n## Versions tested together\n\n", *_versions()]
    parts += ["\n## GPU shapes\n\n", *_shapes()]
    parts += ["\n## Rules\n\n", *_rules()]
    return "".join(parts)


def _table(model: type[Spec], prefix: str = "") -> Iterator[str]:
    yield "| key | takes | default | meaning |\n|---|---|---|---|\n"
    for alias, field in fields_of(model):
        part = field_part(field)
        default = _default(field)
        meaning = (field.description or "").replace("\n", " ")
        yield f"| `{prefix}{alias}` | {_takes(part)} | {default} | {meaning} |\n"


def _takes(part: Part) -> str:
    models = [*part.variants.values()] or [*filter(None, [part.model])]
    if models:
        return " or ".join(_link(model) for model in models)
    several = {dict: "map of names to", tuple: "list of"}.get(get_origin(part.annotation), "")
    inner = [item for item in get_args(part.annotation) if isinstance(item, type)]
    linked = [_link(item) for item in inner if issubclass(item, Spec)]
    if linked:
        return f"{several} {linked[0]}"
    if part.allowed is not None:
        return f"{part.allowed.words}, such as `{as_yaml(part.allowed.example)}`"
    if part.choices:
        return ", ".join(f"`{choice}`" for choice in part.choices)
    return f"{several} text" if several else "true or false"


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Spec):
        value = value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if value is None or value in ((), {}):
        return ""
    return f"`{as_yaml(value)}`"


def _link(model: type[Spec]) -> str:
    return f"[{model.__name__}](#{model.__name__.lower()})"


def _paragraph(model: type[Spec]) -> str:
    lines = (line.strip() for line in (model.__doc__ or "").splitlines())
    return " ".join(line for line in lines if line)


def _versions() -> Iterator[str]:
    yield "| Trainer | JobSet | Kubernetes | Karpenter | node image |\n|---|---|---|---|---|\n"
    for tested in TESTED:
        yield (
            f"| {tested.trainer} | {tested.jobset} | {tested.kubernetes} | {tested.karpenter} "
            f"| `{tested.ami}` |\n"
        )


def _shapes() -> Iterator[str]:
    yield (
        "Figures of Karpenter 1.14.1. *For pods* is what is left after the node's own reserve and\n"
        "before its daemons. Prices are on-demand list prices in dollars an hour,\n"
        f"{PRICE_REGION}, {PRICE_DATE}: other regions, contracts and days differ, so they compare\n"
        "and size things and are not a bill.\n\n"
    )
    columns = ("shape", "`gpu`", "memory of a GPU", "vCPU", "memory", "EFA", "network", "NVMe")
    columns += ("CPU for pods", "memory for pods", "price")
    yield f"| {' | '.join(columns)} |\n|---|---|{'--:|' * (len(columns) - 2)}\n"
    for shape in catalogue().values():
        price = f"{shape.dollars_per_hour:.2f}" if shape.dollars_per_hour is not None else ""
        yield (
            f"| {shape.name} | {shape.gpu_text} | {shape.gpu_memory_mib} MiB | {shape.vcpus} "
            f"| {shape.memory_gib} GiB | {shape.efa_interfaces} | {shape.network_gbps:g} Gbit/s "
            f"| {shape.nvme_gb} GB | {shape.allocatable_cpu_millis}m "
            f"| {shape.allocatable_memory_mib}Mi | {price} |\n"
        )


def _rules() -> Iterator[str]:
    yield "Each mistake names its rule in brackets; `FORMAT=json` has it as `rule`.\n\n"
    yield "| rule | holds |\n|---|---|\n"
    for rule in Rule:
        yield f"| `{rule}` | {rule.meaning} |\n"
