"""Scalars with a meaning, so that a model reads like prose.

Each says in words what is allowed and gives an example: for error messages, for the JSON Schema
that editors use, and for docs/configuration.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from stacks import gpu_shapes
from stacks.rules import Rule

TRAINING_FOLDER = Path(__file__).parents[1] / "training"

# A run is named `<job>-<hash8>` and its pods `<run>-node-0-<index>-xxxxx`, at most 63 characters
# with up to 512 nodes. A longer name shows up as an Event long after `pulumi up` succeeded.
LONGEST_JOB_NAME = 37
# etcd takes 1 MiB for the whole object; the rest is for names and labels.
LARGEST_SCRIPT_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a field takes, in words, and one value that is right."""

    words: str
    example: Any = field(hash=False)

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(core_schema), "examples": [self.example]}


def _wrong(rule: Rule, message: str, **facts: Any) -> PydanticCustomError:
    """An error whose type is the rule; `facts` are what the message to the writer needs."""
    make: Any = PydanticCustomError  # asks for literal text, and ours comes from a table
    return make(rule.value, message, facts)


def _known_shape(text: str) -> str:
    if text not in gpu_shapes.catalogue():
        near = gpu_shapes.nearest_shapes(text)
        raise _wrong(
            Rule.UNKNOWN_SHAPE,
            "no GPU shape of this name",
            nearest=near,
            allowed="a shape of the catalogue in docs/configuration.md",
        )
    return text


def _known_gpu(text: str) -> str:
    if not gpu_shapes.shapes_with(text):
        near = gpu_shapes.nearest_gpu_texts(text)
        raise _wrong(
            Rule.UNKNOWN_GPU,
            "no shape has these GPUs",
            nearest=near,
            allowed="a count, x and a GPU of the catalogue, such as 8xL40S",
        )
    return text


def _mountable_script(text: str) -> str:
    file = TRAINING_FOLDER / text
    if not file.resolve().is_relative_to(TRAINING_FOLDER.resolve()):
        raise _wrong(Rule.SCRIPT_OUTSIDE, "leads out of training/")
    if not file.is_file():
        raise _wrong(Rule.SCRIPT_MISSING, "no such file under training/")
    content = file.read_bytes()
    if len(content) > LARGEST_SCRIPT_BYTES:
        raise _wrong(
            Rule.SCRIPT_TOO_LARGE,
            "{size} bytes do not fit a ConfigMap",
            size=len(content),
            allowed=f"at most {LARGEST_SCRIPT_BYTES} bytes",
        )
    try:
        content.decode()
    except UnicodeDecodeError:
        raise _wrong(Rule.SCRIPT_NOT_TEXT, "not UTF-8 text") from None
    return text


_RESERVED_ENVIRONMENT = (
    "CHECKPOINT_FOLDER",
    "JOB_COMPLETION_INDEX",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "RANK",
    "TF_CONFIG",
    "WORLD_SIZE",
)
_RESERVED_ENVIRONMENT_PREFIXES = ("PET_", "KUBEFLOW_TRAINER_")


def _free_environment_name(name: str) -> str:
    if name in _RESERVED_ENVIRONMENT or name.startswith(_RESERVED_ENVIRONMENT_PREFIXES):
        raise _wrong(
            Rule.RESERVED_ENVIRONMENT,
            "Trainer or Trainstack sets this variable itself",
            allowed="another name; PET_*, KUBEFLOW_TRAINER_* and the ranks are reserved",
        )
    return name


def _process_count(value: object) -> object:
    whole = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 64
    if value != "auto" and not whole:
        raise _wrong(Rule.WRONG_VALUE, "not a number of processes")
    return value


_DNS_LABEL = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
_NAME_WORDS = "lower-case letters, digits and hyphens; begins with a letter, ends without a hyphen"

DnsLabel = Annotated[
    str,
    Field(pattern=_DNS_LABEL, max_length=63),
    Allowed(f"{_NAME_WORDS}; at most 63 characters", "research"),
]
PoolName = Annotated[
    str,
    Field(pattern=_DNS_LABEL, max_length=40),
    Allowed(f"{_NAME_WORDS}; at most 40 characters", "l40s-8"),
]
RuntimeName = Annotated[
    str,
    Field(pattern=_DNS_LABEL, max_length=63),
    Allowed(f"{_NAME_WORDS}; at most 63 characters", "torch-distributed"),
]
JobName = Annotated[
    str,
    Field(pattern=_DNS_LABEL, max_length=LONGEST_JOB_NAME),
    Allowed(
        f"{_NAME_WORDS}; at most {LONGEST_JOB_NAME} characters, so that names of pods stay "
        "within 63",
        "t5-large",
    ),
]
StackName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100),
    Allowed("the name of a stack whose file lies beside this one", "seoul"),
]
ClusterName = Annotated[
    str,
    Field(pattern=_DNS_LABEL, max_length=32),
    Allowed(f"{_NAME_WORDS}; at most 32 characters", "seoul"),
]
Region = Annotated[
    str,
    Field(pattern=r"^[a-z0-9-]+$", max_length=40),
    Allowed("an AWS region", "ap-northeast-2"),
]
Zone = Annotated[
    str,
    Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$"),
    Allowed("a zone: its region and a letter", "ap-northeast-2a"),
]
Version = Annotated[
    str,
    Field(pattern=r"^[0-9]+\.[0-9]+(\.[0-9]+)?$"),
    Allowed("a version of a tested combination", "2.3.0"),
]
MinorVersion = Annotated[
    str,
    Field(pattern=r"^[0-9]+\.[0-9]+$"),
    Allowed("a minor version of a tested combination, in quotes", "1.34"),
]
Shape = Annotated[
    str,
    AfterValidator(_known_shape),
    WithJsonSchema({"type": "string", "enum": list(gpu_shapes.catalogue())}),
    Allowed("a shape of the catalogue", "g6e.48xlarge"),
]
GpuText = Annotated[
    str,
    AfterValidator(_known_gpu),
    WithJsonSchema({"type": "string", "enum": gpu_shapes.gpu_texts()}),
    Allowed("a count, x and a GPU of the catalogue", "8xL40S"),
]
Cpu = Annotated[
    str,
    Field(
        pattern=r"^([1-9][0-9]{0,8}m|[1-9][0-9]{0,5}(\.[0-9]{1,3})?|0\.([1-9][0-9]{0,2}|0[1-9][0-9]?|00[1-9]))$"
    ),
    Allowed("cores or millicores as text, above zero", "500m"),
]
Memory = Annotated[
    str,
    Field(pattern=r"^[1-9][0-9]{0,9}(Mi|Gi|Ti)$"),
    Allowed("a whole number with Mi, Gi or Ti, above zero", "16Gi"),
]
Duration = Annotated[
    str,
    Field(pattern=r"^[1-9][0-9]{0,4}[mhd]$"),
    Allowed("a whole number of minutes (m), hours (h) or days (d)", "24h"),
]
TrainingFile = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$", max_length=200),
    AfterValidator(_mountable_script),
    Allowed("a file under training/, without a way out of it", "spirals_ddp.py"),
]
RepositoryFile = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$", max_length=200),
    Allowed("a file in the repository, without a way out of it", "samples/fsdp/t5.py"),
]
GitUrl = Annotated[
    str,
    Field(pattern=r"^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/[A-Za-z0-9._~/-]+$"),
    Allowed("an https address without credentials", "https://git.example.com/team/code.git"),
]
GitRef = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$", max_length=200),
    Allowed("a branch, tag or commit", "main"),
]
ImageName = Annotated[
    str,
    Field(
        pattern=r"^([a-z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
        r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$"
    ),
    Allowed("an image with a tag or digest", "pytorch/pytorch:2.13.0-cuda13.0-cudnn9-runtime"),
]
EnvName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200),
    AfterValidator(_free_environment_name),
    Allowed("letters, digits and underscores; does not begin with a digit", "LEARNING_RATE"),
]
Text = Annotated[
    str,
    Field(pattern=r"^[^\x00]*$"),
    Allowed("text without NUL characters, which no process can be given", "--epochs"),
]
SecretName = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", max_length=253
    ),
    Allowed("lower-case letters, digits, hyphens and dots", "hub"),
]
DiskSize = Annotated[
    str,
    Field(pattern=r"^([1-9][0-9]{1,3}|1[0-5][0-9]{3}|16[0-2][0-9]{2}|163[0-7][0-9]|1638[0-4])Gi$"),
    Allowed("10Gi to 16384Gi", "500Gi"),
]
SecretKey = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length=253),
    Allowed("letters, digits, dots, hyphens and underscores", "token"),
]
SubjectName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9@:._/+=,#-]*$", max_length=253),
    Allowed("a user or group as the cluster's authentication names it", "nlp-team"),
]
SnapshotId = Annotated[
    str,
    Field(pattern=r"^snap-[0-9a-f]{8,17}$"),
    Allowed("an EBS snapshot id", "snap-0123456789abcdef0"),
]
ReservationId = Annotated[
    str,
    Field(pattern=r"^cr-[0-9a-f]{8,17}$"),
    Allowed("an EC2 capacity reservation id", "cr-0123456789abcdef0"),
]
PlacementGroupName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=255),
    Allowed("the name of an EC2 placement group", "training"),
]
KubeContext = Annotated[
    str,
    Field(min_length=1, pattern=r"^[^\x00-\x1f]+$"),
    Allowed("a context of the kubeconfig file", "kind-trainstack"),
]
FilePath = Annotated[
    str,
    Field(min_length=1, pattern=r"^[^\x00-\x1f]+$"),
    Allowed("a path; ~ is your home folder", "~/.kube/config"),
]
ProcessCount = Annotated[
    Any,
    BeforeValidator(_process_count),
    WithJsonSchema(
        {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1, "maximum": 64}]}
    ),
    Allowed("auto, or a whole number from 1 to 64", "auto"),
]
