"""Every rule a stack file is held to, each with its meaning in a line.

The names are stable: machines read them in `make validate FORMAT=json`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Rule(StrEnum):
    meaning: str

    def __new__(cls, code: str, meaning: str) -> Self:
        rule = str.__new__(cls, code)
        rule._value_ = code
        rule.meaning = meaning
        return rule

    # The file itself.
    FILE_MISSING = "file-missing", "the stack file exists"
    FILE_TOO_LARGE = "file-too-large", "the file has at most 4 MB; larger platforms are split"
    NOT_UTF8 = "not-utf8", "the file is UTF-8 text"
    BYTE_ORDER_MARK = "byte-order-mark", "the file does not begin with a byte order mark"
    CONTROL_CHARACTER = "control-character", "no control characters outside of quoted escapes"
    TAB = "tab", "lines are indented with spaces"
    BROKEN_YAML = "broken-yaml", "the file is YAML"
    EMPTY_DOCUMENT = "empty-document", "the file has content"
    SECOND_DOCUMENT = "second-document", "the file has one YAML document"
    TOO_DEEP = "too-deep", "nesting is at most 20 levels deep"
    DUPLICATE_KEY = "duplicate-key", "no key stands twice in one mapping"
    AMBIGUOUS = "ambiguous", "no unquoted text that YAML readers understand differently"
    ANCHOR = "anchor", "no anchors, aliases or merge keys"
    TAG = "tag", "no YAML tags"
    KEY_NOT_TEXT = "key-not-text", "keys are plain text"
    UNKNOWN_TOP_KEY = "unknown-top-key", "only keys that Pulumi knows stand at the top"
    NO_CONFIG = "no-config", "the file has a `config:` mapping"
    WRONG_NAMESPACE = "wrong-namespace", "our blocks are spelled `trainstack:<block>`"
    UNKNOWN_BLOCK = "unknown-block", "only known blocks stand under `trainstack:`"
    SECRET_BLOCK = "secret-block", "blocks are written in clear; secrets are references"
    EMPTY_VALUE = "empty-value", "a key has a value; what is not wanted is left out"
    NOT_STRUCTURED = "not-structured", "a block is a mapping or a list"

    # The form of each field.
    UNKNOWN_KEY = "unknown-key", "only documented keys, at every depth"
    MISSING_KEY = "missing-key", "required keys are there"
    WRONG_TYPE = "wrong-type", "a value has its type; nothing is converted"
    WRONG_VALUE = "wrong-value", "a value is one of those listed"
    WRONG_FORM = "wrong-form", "text has the form its field describes"
    OUT_OF_RANGE = "out-of-range", "numbers, texts and lists are within their limits"
    WRONG_KIND = "wrong-kind", "`kind` and `class` name a known variant"
    UNKNOWN_SHAPE = "unknown-shape", "a shape is in the catalogue"
    UNKNOWN_GPU = "unknown-gpu", "some shape of the catalogue has these GPUs"
    SCRIPT_MISSING = "script-missing", "a script exists under training/"
    SCRIPT_OUTSIDE = "script-outside", "a script does not lead out of training/, links included"
    SCRIPT_TOO_LARGE = "script-too-large", "a script fits a ConfigMap"
    SCRIPT_NOT_TEXT = "script-not-text", "a script is UTF-8 text"
    RESERVED_ENVIRONMENT = "reserved-environment", "variables that Trainer or we set are left alone"

    # Names.
    NAME_TWICE = "name-twice", "names are unique among tenants, pools, runtimes, a tenant's jobs"
    RESERVED_NAMESPACE = "reserved-namespace", "a tenant is not named like a system namespace"
    LISTED_TWICE = "listed-twice", "zones, capacities, members, reservations stand once in a list"

    # The cluster.
    UNKNOWN_REGION = "unknown-region", "the region is one of AWS"
    ZONE_OUTSIDE_REGION = "zone-outside-region", "the cluster's zones lie in its region"
    UNTESTED_VERSIONS = "untested-versions", "versions are a combination that was tested together"
    PLATFORM_MISSING = "platform-missing", "the platform stack's file lies beside this one"
    PLATFORM_BROKEN = "platform-broken", "the platform stack's file is right itself"
    PLATFORM_ON_PLATFORM = "platform-on-platform", "a platform stack has a cluster of its own"
    PLATFORMS_BLOCK = "platforms-block", "GPU pools and Trainer stand in the platform stack"
    PLATFORMS_NAME = "platforms-name", "tenants and runtimes are not those of the platform stack"

    # GPU pools.
    POOL_SHAPE = "pool-shape", "a pool gives exactly one of `shape` and `gpu`"
    GPU_AMBIGUOUS = "gpu-ambiguous", "a pool's `gpu` fits exactly one shape"
    ZONE_OUTSIDE_CLUSTER = "zone-outside-cluster", "a pool's zones are among the cluster's"
    CAPACITY_ORDER = "capacity-order", "capacity stands in the order Karpenter tries it"
    NOT_SIMULATED = "not-simulated", "on `local`, pools use what the simulation has"
    RESERVATIONS = "reservations", "`reserved` and `reservations` come together"
    NO_EFA = "no-efa", "`efa` only with shapes that have such interfaces"
    CEILING_BELOW_NODE = "ceiling-below-node", "a pool's ceiling takes at least one node"

    # Jobs.
    UNKNOWN_RUNTIME = "unknown-runtime", "runtimes that are named exist"
    RUNTIME_NOT_ALLOWED = "runtime-not-allowed", "a job's runtime is allowed to its tenant"
    PLACEMENT = "placement", "a job gives at most one of `pool`, `gpu`, `shape`"
    UNKNOWN_POOL = "unknown-pool", "a job's pool exists"
    NO_POOL_OFFERS = "no-pool-offers", "some pool has the GPUs or shape a job asks for"
    ZONE_OUTSIDE_POOL = "zone-outside-pool", "a job's zone is one of its pool's"
    ZONE_NEEDED = "zone-needed", "a gang with EFA stays in one zone"
    CODE = "code", "a job gives exactly one of `script` and `git`"
    NO_GIT = "no-git", "a job with `git` uses a runtime with a `gitImage`"
    SECRET_IN_CLEAR = "secret-in-clear", "what is named like a secret is a reference"
    VARIABLE_TWICE = "variable-twice", "a variable is in `env` or in `secretEnv`"
    PROCESSES_OVER_GPUS = "processes-over-gpus", "no more processes on a node than it has GPUs"
    CPU_OVER_NODE = "cpu-over-node", "CPU of a job's node fits the shape"
    MEMORY_OVER_NODE = "memory-over-node", "memory and shared memory fit the shape"
    TEXTS_TOO_LARGE = "texts-too-large", "arguments and variables fit a process and a TrainJob"
    SHARED_OVER_MEMORY = "shared-over-memory", "shared memory fits the memory of a job's node"
    VOLUME_ON_ONE_NODE = "volume-on-one-node", "a gang on GPU nodes has ReadWriteMany volumes"
    GPUS_OVER_CEILING = "gpus-over-ceiling", "a job's GPUs fit under its pool's ceiling"
    GPUS_OVER_QUOTA = "gpus-over-quota", "a job's GPUs fit its tenant's quota"
    CPU_OVER_QUOTA = "cpu-over-quota", "a job's CPU fits its tenant's quota"
    MEMORY_OVER_QUOTA = "memory-over-quota", "a job's memory fits its tenant's quota"
    JOBS_OVER_QUOTA = "jobs-over-quota", "a tenant has no more jobs than its quota"
    RESOURCES_NEEDED = "resources-needed", "with a CPU or memory quota each job says its resources"

    # Right, but perhaps not meant.
    JOBS_WAIT_FOR_QUOTA = (
        "jobs-wait-for-quota",
        "warning: a tenant's jobs exceed its quota together",
    )
    JOBS_WAIT_FOR_POOL = "jobs-wait-for-pool", "warning: a pool's jobs exceed its ceiling together"
    SPOT_COUNTED = "spot-counted", "warning: spot interruptions count against `maxRestarts`"

    @property
    def only_warns(self) -> bool:
        return self.meaning.startswith("warning:")
