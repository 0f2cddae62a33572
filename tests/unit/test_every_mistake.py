"""One red case for every rule, each with the place it is told at and what to write instead.

A case changes a right file. The mark `¦` in the new text is where the mistake must be reported; it
is taken out before the file is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stacks.mistakes import Reported
from stacks.rules import Rule
from stacks.validation import Report, validate_file

PLATFORM = """\
config:
  trainstack:cluster:
    kind: eks
    name: seoul
    region: ap-northeast-2
    zones: [ap-northeast-2a, ap-northeast-2c]
  trainstack:gpuPools:
    - name: l40s-8
      shape: g6e.48xlarge
      zones: [ap-northeast-2a]
      capacity: [on-demand]
      maxGpus: 32
      efa: true
    - {name: l4-1, shape: g6.xlarge, zones: [ap-northeast-2a, ap-northeast-2c], maxGpus: 8}
  trainstack:trainer: {version: 2.3.0}
  trainstack:runtimes:
    - name: torch-distributed
      framework: torch
      image: registry.example.com/torch:1
      gitImage: registry.example.com/git:1
      failure: {class: gang-restart, maxRestarts: 10}
    - {name: torch-once, framework: torch, failure: {class: fail-fast}}
  trainstack:tenants:
    - name: nlp
      quota: {gpus: 16, jobs: 5}
      allowedRuntimes: [torch-distributed]
      jobs:
        - name: t5-large
          runtime: torch-distributed
          nodes: 2
          pool: l40s-8
          script: spirals_ddp.py
          env: {LEARNING_RATE: "0.1"}
          run: 1
    - name: vision
      quota: {cpu: "8", memory: 16Gi}
      members: {users: [ann]}
      jobs:
        - name: resnet
          runtime: torch-once
          nodes: 2
          script: spirals_ddp.py
          resources: {cpu: "1", memory: 2Gi}
"""
TEAM = """\
config:
  trainstack:cluster:
    kind: stack
    stack: platform
  trainstack:tenants:
    - name: speech
      jobs:
        - name: tune
          runtime: torch-distributed
          nodes: 1
          pool: l40s-8
          script: spirals_ddp.py
"""
LOCAL = """\
config:
  trainstack:cluster: {kind: local}
  trainstack:gpuPools:
    - {name: simulated, shape: g6e.48xlarge, zones: [ap-northeast-2a], capacity: [spot], maxGpus: 8}
"""
MARK = "¦"


@dataclass(frozen=True)
class Case:
    rule: Rule
    name: str
    old: str
    new: str
    write: str | None = None  # part of the line to paste
    nearest: str | None = None
    says: str = ""  # part of the whole message
    base: str = field(default=PLATFORM, repr=False)


CASES = [
    # YAML's traps.
    Case(Rule.BYTE_ORDER_MARK, "bom", "config:", "\ufeffconfig:"),
    Case(Rule.CONTROL_CHARACTER, "escape", "name: nlp", "name: ¦\x1bnlp", says="U+001B"),
    Case(Rule.CONTROL_CHARACTER, "C1", "name: nlp", "name: ¦\x80nlp", says="U+0080"),
    Case(Rule.TAB, "tab", "    name: seoul", "¦\tname: seoul", says="spaces"),
    Case(Rule.BROKEN_YAML, "bracket", "zones: [ap-northeast-2a]", "zones: [ap-northeast-2a"),
    Case(Rule.EMPTY_DOCUMENT, "empty", PLATFORM, "¦# nothing but a comment\n"),
    Case(Rule.SECOND_DOCUMENT, "two documents", "    - name: vision", "¦---\n    - name: vision"),
    Case(Rule.TOO_DEEP, "deep", "run: 1", f"run: {'[' * 14}{MARK}{'[' * 400}{']' * 414}"),
    Case(
        Rule.DUPLICATE_KEY,
        "same key",
        "nodes: 2\n          pool",
        "nodes: 2\n          ¦nodes: 3\n          pool",
        says="line 30",
    ),
    Case(Rule.AMBIGUOUS, "yes", "efa: true", "efa: ¦yes", write="true"),
    Case(Rule.AMBIGUOUS, "on", "efa: true", "efa: ¦on", write="true"),
    Case(Rule.AMBIGUOUS, "off", "efa: true", "efa: ¦OFF", write="false"),
    Case(Rule.AMBIGUOUS, "no as a name", "name: nlp", "name: ¦no", write='"no"'),
    Case(Rule.AMBIGUOUS, "exponent", "maxGpus: 32", "maxGpus: ¦1e3", write="plain number"),
    Case(Rule.AMBIGUOUS, "octal", "maxGpus: 32", "maxGpus: ¦010", write='"010"'),
    Case(Rule.AMBIGUOUS, "new octal", "maxGpus: 32", "maxGpus: ¦0o10"),
    Case(Rule.AMBIGUOUS, "hexadecimal", "maxGpus: 32", "maxGpus: ¦0x20"),
    Case(Rule.AMBIGUOUS, "underscore", "maxGpus: 32", "maxGpus: ¦1_000"),
    Case(Rule.AMBIGUOUS, "base sixty", "maxGpus: 32", "maxGpus: ¦1:30"),
    Case(Rule.AMBIGUOUS, "date", "version: 2.3.0", "version: ¦2026-01-01"),
    Case(Rule.AMBIGUOUS, "infinity", "maxGpus: 32", "maxGpus: ¦.inf"),
    Case(Rule.ANCHOR, "anchor", "quota: {gpus: 16, jobs: 5}", "quota: ¦&q {gpus: 16, jobs: 5}"),
    Case(Rule.ANCHOR, "alias", "- name: vision", "- name: ¦*q", says="written out"),
    Case(Rule.ANCHOR, "merge key", "run: 1", "¦<<: {run: 1}"),
    Case(Rule.TAG, "tag", "nodes: 2\n          pool", "nodes: ¦!!int 2\n          pool"),
    Case(Rule.KEY_NOT_TEXT, "number as key", "env: {LEARNING_RATE:", "env: {¦1:"),
    Case(Rule.KEY_NOT_TEXT, "list as key", "run: 1", "? ¦[a]\n          : 1"),
    # Around the blocks.
    Case(Rule.UNKNOWN_TOP_KEY, "top typo", "config:", "¦confg: {}\nconfig:", nearest="config"),
    Case(Rule.NO_CONFIG, "no config", PLATFORM, "¦encryptionsalt: v1:x\n", write="config:"),
    Case(Rule.NO_CONFIG, "a list", PLATFORM, "¦- 1\n"),
    Case(
        Rule.WRONG_NAMESPACE,
        "namespace typo",
        "trainstack:trainer",
        "¦trainstak:trainer",
        nearest="trainstack:trainer",
    ),
    Case(
        Rule.WRONG_NAMESPACE,
        "no namespace",
        "trainstack:trainer",
        "¦trainer",
        nearest="trainstack:trainer",
    ),
    Case(
        Rule.UNKNOWN_BLOCK,
        "block typo",
        "trainstack:trainer:",
        "¦trainstack:trianer:",
        nearest="trainer",
    ),
    Case(
        Rule.UNKNOWN_BLOCK,
        "singular",
        "trainstack:trainer:",
        "¦trainstack:tenant:",
        nearest="tenants",
    ),
    Case(
        Rule.SECRET_BLOCK,
        "secure",
        "trainstack:trainer: {version: 2.3.0}",
        "trainstack:trainer: ¦{secure: v1:abc}",
    ),
    Case(
        Rule.NOT_STRUCTURED,
        "scalar block",
        "trainstack:trainer: {version: 2.3.0}",
        "trainstack:trainer: ¦2.3.0",
        write="version",
    ),
    # Form.
    Case(
        Rule.UNKNOWN_KEY,
        "typo",
        "nodes: 2\n          pool",
        "¦nodez: 2\n          pool",
        nearest="nodes",
        write="nodes: 2",
    ),
    Case(
        Rule.UNKNOWN_KEY,
        "snake case",
        "maxGpus: 32",
        "¦max_gpus: 32",
        nearest="maxGpus",
        write="maxGpus: 32",
    ),
    Case(
        Rule.UNKNOWN_KEY,
        "another tool's name",
        "nodes: 2\n          pool",
        "¦numNodes: 2\n          pool",
        nearest="nodes",
    ),
    Case(
        Rule.UNKNOWN_KEY,
        "look-alike",
        "maxGpus: 32",
        "¦m\N{CYRILLIC SMALL LETTER A}xGpus: 32",
        nearest="maxGpus",
        says="cyrillic small letter a",
    ),
    Case(
        Rule.UNKNOWN_KEY,
        "in a variant",
        "maxRestarts: 10",
        "¦maxRestart: 10",
        nearest="maxRestarts",
    ),
    Case(
        Rule.MISSING_KEY,
        "missing",
        "          nodes: 2\n          pool",
        "          pool",
        write="nodes: 2",
    ),
    Case(
        Rule.MISSING_KEY,
        "no cluster",
        PLATFORM.partition("  trainstack:gpuPools")[0],
        "config:\n",
        write="cluster: {kind: local}",
    ),
    Case(
        Rule.WRONG_TYPE,
        "text for number",
        "nodes: 2\n          pool",
        'nodes: ¦"2"\n          pool',
        write="nodes: 2",
    ),
    Case(Rule.WRONG_TYPE, "decimal", "nodes: 2\n          pool", "nodes: ¦2.5\n          pool"),
    Case(Rule.WRONG_TYPE, "boolean", "nodes: 2\n          pool", "nodes: ¦true\n          pool"),
    Case(Rule.EMPTY_VALUE, "null", "name: nlp", "name: ¦null", says="leave the key out"),
    Case(Rule.EMPTY_VALUE, "limit", "{gpus: 16, jobs: 5}", "{gpus: ¦, jobs: 5}"),
    Case(Rule.EMPTY_VALUE, "block", "trainstack:trainer: {version: 2.3.0}", "trainstack:trainer:¦"),
    Case(Rule.SECRET_BLOCK, "deep", "{LEARNING_RATE: ", "¦{secure: "),
    Case(Rule.AMBIGUOUS, "question mark in brackets", "users: [ann]", "users: [¦ann?]"),
    Case(Rule.AMBIGUOUS, "escaped slash", 'cpu: "8"', 'cpu: ¦"8\\/"'),
    Case(Rule.AMBIGUOUS, "sign and underscore", "maxGpus: 32", "maxGpus: ¦+_1"),
    Case(Rule.TAG, "directive", "config:", "¦%YAML 1.2\n---\nconfig:"),
    Case(Rule.ANCHOR, "alias as a key", "run: 1", "¦*q : 1"),
    Case(
        Rule.UNKNOWN_KEY,
        "beside the kind",
        "kind: stack\n",
        "kind: stack\n    ¦region: x\n",
        base=TEAM,
    ),
    Case(Rule.WRONG_TYPE, "number for text", 'cpu: "8"', "cpu: ¦8", write='cpu: "8"'),
    Case(
        Rule.WRONG_TYPE,
        "version as number",
        "name: seoul\n",
        "name: seoul\n    kubernetesVersion: ¦1.34\n",
        write='"1.34"',
    ),
    Case(
        Rule.WRONG_TYPE,
        "text for list",
        "allowedRuntimes: [torch-distributed]",
        "allowedRuntimes: ¦torch-distributed",
        write="[torch-distributed]",
    ),
    Case(Rule.WRONG_TYPE, "list for mapping", "quota: {gpus: 16, jobs: 5}", "quota: ¦[1]"),
    Case(
        Rule.WRONG_TYPE,
        "text for a pool",
        "- {name: l4-1, shape: g6.xlarge, zones: [ap-northeast-2a, ap-northeast-2c], maxGpus: 8}",
        "- ¦l4-1",
    ),
    Case(
        Rule.WRONG_VALUE,
        "framework",
        "framework: torch\n      image",
        "framework: ¦pytorch\n      image",
        nearest="torch",
    ),
    Case(Rule.WRONG_VALUE, "capacity", "[on-demand]", "[¦on_demand]", nearest="on-demand"),
    Case(Rule.WRONG_VALUE, "processes", "run: 1", "processesPerNode: ¦all", says="auto, or"),
    Case(Rule.WRONG_FORM, "capitals", "name: nlp", "name: ¦NLP", says="lower-case"),
    Case(
        Rule.WRONG_FORM,
        "line break",
        "name: nlp",
        "name: ¦|\n        nlp",
        says="ends with a line break",
    ),
    Case(
        Rule.WRONG_FORM,
        "look-alike value",
        "name: nlp",
        "name: ¦nl\N{CYRILLIC SMALL LETTER ER}",
        nearest="nlp",
        says="cyrillic small letter er",
    ),
    Case(Rule.WRONG_FORM, "image without tag", "torch:1", "torch", says=""),
    Case(Rule.WRONG_FORM, "milli-bytes", "memory: 16Gi", "memory: ¦500m", says="Mi, Gi or Ti"),
    Case(
        Rule.WRONG_FORM,
        "zone",
        "zones: [ap-northeast-2a]",
        "zones: [¦a]",
        says="its region and a letter",
    ),
    Case(
        Rule.WRONG_FORM, "variable", "LEARNING_RATE", "¦1RATE", says="does not begin with a digit"
    ),
    Case(
        Rule.WRONG_FORM,
        "way out",
        "script: spirals_ddp.py\n          env",
        "script: ¦../Pulumi.yaml\n          env",
    ),
    Case(
        Rule.WRONG_FORM,
        "absolute",
        "script: spirals_ddp.py\n          env",
        "script: ¦/etc/passwd\n          env",
    ),
    Case(
        Rule.WRONG_FORM,
        "credentials in the address",
        "script: spirals_ddp.py\n          env",
        "git: {repo: ¦https://me:pw@git.example.com/a, ref: main, script: a.py}\n          env",
    ),
    Case(
        Rule.WRONG_FORM,
        "option as ref",
        "script: spirals_ddp.py\n          env",
        "git: {repo: https://git.example.com/a, ref: ¦--upload-pack=x, script: a.py}\n"
        "          env",
    ),
    Case(
        Rule.OUT_OF_RANGE,
        "zero nodes",
        "nodes: 2\n          pool",
        "nodes: ¦0\n          pool",
        says="1 to 512",
    ),
    Case(
        Rule.OUT_OF_RANGE, "long name", "name: t5-large", f"name: ¦{'a' * 38}", says="38 characters"
    ),
    Case(
        Rule.OUT_OF_RANGE,
        "one zone",
        "zones: [ap-northeast-2a, ap-northeast-2c]\n",
        "zones: ¦[ap-northeast-2a]\n",
        says="two to six",
    ),
    Case(Rule.WRONG_KIND, "kind", "kind: eks", "kind: ¦ecs", nearest="eks"),
    Case(Rule.WRONG_KIND, "no kind", "    kind: eks\n", "", write="kind:"),
    Case(Rule.WRONG_KIND, "class", "class: fail-fast", "class: ¦failfast", nearest="fail-fast"),
    Case(
        Rule.UNKNOWN_SHAPE,
        "shape",
        "shape: g6e.48xlarge",
        "shape: ¦g6e.32xlarge",
        nearest="g6e.24xlarge",
        write="shape: g6e.24xlarge",
    ),
    Case(
        Rule.UNKNOWN_GPU,
        "gpu",
        "shape: g6e.48xlarge",
        "gpu: ¦8xL40",
        nearest="8xL4",
        says="no shape has",
    ),
    Case(Rule.UNKNOWN_GPU, "gpu count", "shape: g6e.48xlarge", "gpu: ¦3xL40S", nearest="4xL40S"),
    Case(
        Rule.SCRIPT_MISSING,
        "script",
        "script: spirals_ddp.py\n          env",
        "script: ¦spirals.py\n          env",
        nearest="spirals_ddp.py",
    ),
    Case(Rule.RESERVED_ENVIRONMENT, "PET", "LEARNING_RATE", "¦PET_NNODES"),
    Case(Rule.RESERVED_ENVIRONMENT, "ours", "LEARNING_RATE", "¦CHECKPOINT_FOLDER"),
    # Names.
    Case(Rule.NAME_TWICE, "tenants", "name: vision", "name: ¦nlp", says="tenants[0]"),
    Case(
        Rule.NAME_TWICE,
        "runtimes",
        "    - {name: torch-once",
        "    - {name: twice, framework: torch}\n    - {name: ¦twice, framework: torch}\n"
        "    - {name: torch-once",
    ),
    Case(
        Rule.NAME_TWICE,
        "pools",
        "    - {name: l4-1",
        "    - {name: ¦l40s-8, gpu: 8xL40S, zones: [ap-northeast-2a], maxGpus: 8}\n"
        "    - {name: l4-1",
    ),
    Case(
        Rule.NAME_TWICE,
        "jobs",
        "    - name: vision",
        "        - {name: ¦t5-large, runtime: torch-distributed, nodes: 1, "
        "script: spirals_ddp.py}\n    - name: vision",
    ),
    Case(Rule.RESERVED_NAMESPACE, "kube-system", "name: nlp", "name: ¦kube-system", write="team-"),
    Case(
        Rule.LISTED_TWICE,
        "zone",
        "zones: [ap-northeast-2a]",
        "zones: [ap-northeast-2a, ¦ap-northeast-2a]",
    ),
    Case(Rule.LISTED_TWICE, "member", "users: [ann]", "users: [ann, ¦ann]"),
    # The cluster.
    Case(
        Rule.UNKNOWN_REGION,
        "region",
        "region: ap-northeast-2",
        "region: ¦ap-northest-2",
        nearest="ap-northeast-2",
    ),
    Case(
        Rule.ZONE_OUTSIDE_REGION,
        "zone",
        "ap-northeast-2c]\n  t",
        "ap-northeast-2c, ¦ap-northeast-1b]\n  t",
        write="ap-northeast-2b",
    ),
    Case(Rule.UNTESTED_VERSIONS, "trainer", "version: 2.3.0", "version: ¦2.2.0", nearest="2.3.0"),
    Case(
        Rule.UNTESTED_VERSIONS,
        "kubernetes",
        "name: seoul\n",
        'name: seoul\n    kubernetesVersion: ¦"1.29"\n',
        nearest="1.34",
    ),
    Case(
        Rule.UNTESTED_VERSIONS,
        "karpenter",
        "name: seoul\n",
        "name: seoul\n    karpenterVersion: ¦1.8.0\n",
        nearest="1.14.1",
    ),
    Case(
        Rule.UNTESTED_VERSIONS,
        "jobset",
        "version: 2.3.0",
        "version: 2.3.0, jobsetVersion: ¦0.8.0",
        nearest="0.12.0",
    ),
    Case(
        Rule.PLATFORM_MISSING,
        "platform",
        "stack: platform",
        "stack: ¦plattform",
        says="platform",
        base=TEAM,
    ),
    Case(Rule.PLATFORM_ON_PLATFORM, "itself", "stack: platform", "stack: ¦case", base=TEAM),
    Case(
        Rule.PLATFORM_BROKEN,
        "platform",
        "stack: platform",
        "stack: ¦broken",
        says="make validate STACK=broken",
        base=TEAM,
    ),
    Case(
        Rule.PLATFORMS_BLOCK,
        "pools",
        "  trainstack:tenants:",
        "  ¦trainstack:gpuPools: []\n  trainstack:tenants:",
        base=TEAM,
    ),
    Case(
        Rule.PLATFORMS_BLOCK,
        "trainer",
        "  trainstack:tenants:",
        "  ¦trainstack:trainer: {version: 2.3.0}\n  trainstack:tenants:",
        base=TEAM,
    ),
    Case(Rule.PLATFORMS_NAME, "tenant", "name: speech", "name: ¦nlp", base=TEAM),
    # Pools.
    Case(Rule.POOL_SHAPE, "both", "shape: g6e.48xlarge", "shape: g6e.48xlarge\n      gpu: 8xL40S"),
    Case(Rule.POOL_SHAPE, "neither", "      shape: g6e.48xlarge\n", ""),
    Case(
        Rule.GPU_AMBIGUOUS,
        "gpu",
        "{name: l4-1, shape: g6.xlarge",
        "{name: l4-1, gpu: ¦4xL4",
        nearest="g6.12xlarge",
        write="shape: g6.12xlarge",
    ),
    Case(
        Rule.ZONE_OUTSIDE_CLUSTER,
        "zone",
        "zones: [ap-northeast-2a]",
        "zones: [¦ap-northeast-2b]",
        says="ap-northeast-2a, ap-northeast-2c",
    ),
    Case(
        Rule.ZONE_OUTSIDE_CLUSTER,
        "simulated",
        "zones: [ap-northeast-2a]",
        "zones: [¦us-east-1a]",
        base=LOCAL,
    ),
    Case(
        Rule.CAPACITY_ORDER, "order", "[on-demand]", "¦[on-demand, spot]", write="[spot, on-demand]"
    ),
    Case(
        Rule.CAPACITY_ORDER, "twice", "[on-demand]", "¦[on-demand, on-demand]", write="[on-demand]"
    ),
    Case(
        Rule.NOT_SIMULATED,
        "reserved",
        "[spot], maxGpus: 8",
        "[¦reserved], reservations: [cr-01234567], maxGpus: 8",
        base=LOCAL,
    ),
    Case(Rule.RESERVATIONS, "none", "[on-demand]", "¦[reserved, on-demand]", write="reservations:"),
    Case(
        Rule.RESERVATIONS,
        "unused",
        "maxGpus: 32",
        "maxGpus: 32\n      reservations: ¦[cr-01234567]",
    ),
    Case(Rule.NO_EFA, "efa", "maxGpus: 8}", "maxGpus: 8, efa: ¦true}", write="efa: false"),
    Case(
        Rule.CEILING_BELOW_NODE,
        "ceiling",
        "shape: g6.xlarge, zones: [ap-northeast-2a, ap-northeast-2c], maxGpus: 8}",
        "shape: g6e.48xlarge, zones: [ap-northeast-2a], maxGpus: ¦7}",
        write="maxGpus: 8",
    ),
    # Jobs.
    Case(
        Rule.UNKNOWN_RUNTIME,
        "runtime",
        "runtime: torch-once",
        "runtime: ¦torch-onec",
        nearest="torch-once",
    ),
    Case(
        Rule.UNKNOWN_RUNTIME,
        "allowed",
        "allowedRuntimes: [torch-distributed]",
        "allowedRuntimes: [torch-distributed, ¦torch]",
    ),
    Case(
        Rule.UNKNOWN_RUNTIME,
        "of the platform",
        "runtime: torch-distributed",
        "runtime: ¦torch",
        base=TEAM,
    ),
    Case(
        Rule.RUNTIME_NOT_ALLOWED,
        "runtime",
        "runtime: torch-distributed",
        "runtime: ¦torch-once",
        says="may not use",
    ),
    Case(Rule.PLACEMENT, "two ways", "pool: l40s-8", "pool: l40s-8\n          ¦gpu: 8xL40S"),
    Case(Rule.UNKNOWN_POOL, "pool", "pool: l40s-8", "pool: ¦l40s-88", nearest="l40s-8"),
    Case(Rule.UNKNOWN_POOL, "of the platform", "pool: l40s-8", "pool: ¦h100", base=TEAM),
    Case(Rule.NO_POOL_OFFERS, "gpu", "pool: l40s-8", "gpu: ¦8xH100", says="1xL4, 8xL40S"),
    Case(
        Rule.NO_POOL_OFFERS, "shape", "pool: l40s-8", "shape: ¦g6e.24xlarge", nearest="g6e.48xlarge"
    ),
    Case(
        Rule.ZONE_OUTSIDE_POOL,
        "zone",
        "pool: l40s-8",
        "pool: l40s-8\n          zone: ¦ap-northeast-2c",
    ),
    Case(
        Rule.ZONE_OUTSIDE_POOL,
        "on CPU",
        "          pool: l40s-8\n",
        "          zone: ¦ap-northeast-2a\n",
    ),
    Case(
        Rule.ZONE_NEEDED,
        "gang with EFA",
        "zones: [ap-northeast-2a]\n",
        "zones: [ap-northeast-2a, ap-northeast-2c]\n",
        write="zone: ap-northeast-2a",
    ),
    Case(Rule.CODE, "none", "          script: spirals_ddp.py\n          env", "          env"),
    Case(
        Rule.CODE,
        "both",
        "script: spirals_ddp.py\n          env",
        "script: spirals_ddp.py\n"
        "          git: {repo: https://git.example.com/a, ref: main, script: a.py}\n"
        "          env",
    ),
    Case(Rule.TEXTS_TOO_LARGE, "argument", "run: 1", f"¦args: [{'x' * 100_001}]"),
    Case(
        Rule.TEXTS_TOO_LARGE,
        "together",
        "run: 1",
        f"¦args: [{'xxx, ' * 900}{'x' * 99_000}, {'x' * 99_000}, {'x' * 99_000}, {'x' * 9_000}]",
    ),
    Case(
        Rule.SHARED_OVER_MEMORY,
        "shared memory",
        "run: 1",
        'resources: {cpu: "1", memory: 1Gi}\n          sharedMemory: ¦2Gi',
        write="sharedMemory: 1Gi",
    ),
    Case(
        Rule.VOLUME_ON_ONE_NODE,
        "checkpoints",
        "      quota: {gpus: 16, jobs: 5}",
        "      quota: {gpus: 16, jobs: 5}\n"
        "      storage: {checkpoints: 1Gi, accessMode: ReadWriteOnce}",
        says="ReadWriteMany",
    ),
    Case(
        Rule.NOT_SIMULATED,
        "snapshot",
        "maxGpus: 8",
        "maxGpus: 8, ¦imageCache: snap-01234567",
        base=LOCAL,
    ),
    Case(
        Rule.NO_GIT,
        "runtime",
        "      gitImage: registry.example.com/git:1\n",
        "",
        write="gitImage:",
    ),
    Case(
        Rule.SECRET_IN_CLEAR, "token", "LEARNING_RATE", "¦HF_TOKEN", write="secretEnv: {HF_TOKEN:"
    ),
    Case(
        Rule.VARIABLE_TWICE,
        "variable",
        "env: {LEARNING_RATE:",
        "secretEnv: {A: {secret: s, key: k}}\n          env: {¦A:",
    ),
    Case(Rule.PROCESSES_OVER_GPUS, "processes", "run: 1", "processesPerNode: ¦9", write="auto"),
    Case(
        Rule.CPU_OVER_NODE, "cpu", "run: 1", 'resources: {cpu: ¦"192", memory: 1Gi}', says="191450m"
    ),
    Case(Rule.MEMORY_OVER_NODE, "memory", "run: 1", 'resources: {cpu: "1", memory: ¦2Ti}'),
    Case(Rule.MEMORY_OVER_NODE, "shared memory", "run: 1", "sharedMemory: ¦2Ti"),
    Case(
        Rule.GPUS_OVER_CEILING,
        "nodes",
        "gpus: 16, jobs: 5}",
        "gpus: 100}",
        says="40; pool l40s-8 has at most 32",
    ),
    Case(
        Rule.GPUS_OVER_QUOTA,
        "nodes",
        "nodes: 2\n          pool",
        "nodes: ¦3\n          pool",
        write="nodes: 2",
    ),
    Case(
        Rule.CPU_OVER_QUOTA,
        "cpu",
        '{cpu: "1", memory: 2Gi}',
        '{cpu: ¦"5", memory: 2Gi}',
        write="cpu: 4000m",
    ),
    Case(
        Rule.MEMORY_OVER_QUOTA,
        "memory",
        '{cpu: "1", memory: 2Gi}',
        '{cpu: "1", memory: ¦9Gi}',
        write="memory: 8192Mi",
    ),
    Case(Rule.JOBS_OVER_QUOTA, "jobs", "jobs: 5", "jobs: ¦0", write="jobs: 1"),
    Case(
        Rule.RESOURCES_NEEDED,
        "resources",
        '          resources: {cpu: "1", memory: 2Gi}\n',
        "",
        write="resources:",
    ),
    # Warnings.
    Case(
        Rule.JOBS_WAIT_FOR_QUOTA,
        "two jobs",
        "    - name: vision",
        "        - {name: two, runtime: torch-distributed, nodes: 2, pool: l40s-8, "
        "script: spirals_ddp.py}\n    - name: vision",
    ),
    Case(Rule.JOBS_WAIT_FOR_POOL, "two jobs", "gpus: 16, jobs: 5}", "jobs: 5}"),
    Case(Rule.SPOT_COUNTED, "spot", "[on-demand]", "[spot]", says="spot-safe"),
]
# Cases that need a file of another kind; each has a test of its own below.
ELSEWHERE = {
    Rule.FILE_MISSING,
    Rule.FILE_TOO_LARGE,
    Rule.NOT_UTF8,
    Rule.SCRIPT_OUTSIDE,
    Rule.SCRIPT_TOO_LARGE,
    Rule.SCRIPT_NOT_TEXT,
}
# A second change that these need to be what they are.
ALSO = {
    (Rule.NO_GIT, "runtime"): (
        "script: spirals_ddp.py\n          env",
        "¦git: {repo: https://git.example.com/a, ref: main, script: a.py}\n          env",
    ),
    (Rule.GPUS_OVER_CEILING, "nodes"): ("nodes: 2\n          pool", "nodes: ¦5\n          pool"),
    (Rule.JOBS_WAIT_FOR_POOL, "two jobs"): (
        "    - name: vision",
        "        - {name: two, runtime: torch-distributed, nodes: 4, pool: l40s-8, "
        "script: spirals_ddp.py}\n    - name: vision",
    ),
}


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.platform.yaml").write_text(PLATFORM)
    (tmp_path / "Pulumi.broken.yaml").write_text(PLATFORM.replace("nodes: 2", "nodes: 0"))
    return tmp_path


def check(folder: Path, text: str | bytes) -> Report:
    file = folder / "Pulumi.case.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return validate_file(file)


@pytest.mark.parametrize("text", [PLATFORM, TEAM, LOCAL], ids=["platform", "team", "local"])
def test_the_files_that_cases_change_are_right(text: str, stacks: Path) -> None:
    report = check(stacks, text)
    assert report.text() == ""
    assert report.stack is not None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.name}")
def test_a_mistake_is_told_where_it_is(case: Case, stacks: Path) -> None:
    assert case.old in case.base
    text = case.base.replace(case.old, case.new, 1)
    if (case.rule, case.name) in ALSO:
        text = text.replace(*ALSO[case.rule, case.name], 1)
    report = check(stacks, text.replace(MARK, ""))
    found = report.warnings if case.rule.only_warns else report.errors
    told = [str(entry.mistake.rule) for entry in found]
    assert set(told) == {str(case.rule)}, report.text()
    if MARK in text:
        before = text.partition(MARK)[0]
        expected = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        places = [(e.place.line, e.place.column) for e in found if e.place is not None]
        assert expected in places, report.text()
    whole = "\n".join(found[0].lines(report.file))
    assert case.says in whole
    _has(found[0], case)


def _has(found: Reported, case: Case) -> None:
    if case.write is not None:
        assert case.write in found.mistake.write
    if case.nearest is not None:
        assert case.nearest in found.mistake.nearest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shape: g6e.48xlarge", "shpae: g6e.48xlarge"),
        ("script: spirals_ddp.py\n          env", "scirpt: spirals_ddp.py\n          env"),
        ('resources: {cpu: "1"', 'resource: {cpu: "1"'),
        ("pool: l40s-8", "pol: l40s-8"),
        ("- name: l40s-8", "- nam: l40s-8"),
        ("- name: torch-distributed", "- nam: torch-distributed"),
        ("trainstack:gpuPools:", "trainstack:gpuPool:"),
        ("trainstack:runtimes:", "trainstak:runtimes:"),
        ("class: gang-restart", "class: gang"),
        ("kind: eks", "knd: eks"),
    ],
)
def test_one_cause_gives_one_message(old: str, new: str, stacks: Path) -> None:
    report = check(stacks, PLATFORM.replace(old, new, 1))
    assert len(report.errors) == 1, report.text()


@pytest.mark.parametrize(
    "block",
    [
        "trainstack:cluster: {kind: stack, stack: platform, region: x, stac: y}",
        "trainstack:cluster: {kind: stack, a: 1}",
        "trainstack:cluster: {kind: eks, eks: {}, stack: 1}",
        "trainstack:cluster: {kind: local, local: {a: 1}, b: 2}",
        "trainstack:runtimes: [{class: fail-fast, failure: {class: fail-fast, fail-fast: {a: 1}}}]",
        "trainstack:tenants: [{name: a, quota: {cpu: " + "9" * 5000 + "m}}]",
        "trainstack:tenants: [*a]",
        "trainstack:tenants: {*a : b}",
    ],
)
def test_odd_structures_are_refused_without_a_traceback(block: str, stacks: Path) -> None:
    base = "" if "cluster" in block else "  trainstack:cluster: {kind: local}\n"
    report = check(stacks, f"config:\n{base}  {block}\n")
    assert report.stack is None
    assert report.errors


def test_digits_are_told_as_they_were_written(stacks: Path) -> None:
    text = PLATFORM.replace("name: seoul", "name: seoul\n    kubernetesVersion: 1.30")
    (error,) = check(stacks, text).errors
    assert error.mistake.write == 'kubernetesVersion: "1.30"'


def test_every_rule_has_a_red_case() -> None:
    assert {case.rule for case in CASES} | ELSEWHERE == set(Rule)


@pytest.mark.parametrize("name", ["platfrom", "x" * 300])
def test_a_missing_file_is_named_with_those_that_are_there(name: str, stacks: Path) -> None:
    (error,) = validate_file(stacks / f"Pulumi.{name}.yaml").errors
    assert error.mistake.rule is Rule.FILE_MISSING
    assert error.mistake.allowed == "broken, platform"
    assert error.mistake.nearest == (("platform",) if name == "platfrom" else ())


def test_ten_megabytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    report = check(tmp_path, PLATFORM + "# comment\n" * 1_000_000)
    assert [found.mistake.rule for found in report.errors] == [Rule.FILE_TOO_LARGE]
    assert "10.0 MB" in report.text()


def test_latin_1_is_refused(tmp_path: Path) -> None:
    report = check(tmp_path, "# caf\xe9\n".encode("latin-1"))
    assert [found.mistake.rule for found in report.errors] == [Rule.NOT_UTF8]


@pytest.mark.parametrize(
    ("rule", "content"),
    [
        (Rule.SCRIPT_OUTSIDE, None),
        (Rule.SCRIPT_TOO_LARGE, b"#" * 1_000_001),
        (Rule.SCRIPT_NOT_TEXT, b"\xff\xfe"),
    ],
)
def test_scripts_that_cannot_be_mounted(
    rule: Rule, content: bytes | None, stacks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = stacks / "training"
    training.mkdir()
    script = training / "spirals_ddp.py"
    if content is None:
        script.symlink_to("/etc/hostname")
    else:
        script.write_bytes(content)
    monkeypatch.setattr("stacks.scalars.TRAINING_FOLDER", training)
    report = check(stacks, PLATFORM)
    assert {found.mistake.rule for found in report.errors} == {rule}
    assert len(report.errors) == 2  # both jobs
