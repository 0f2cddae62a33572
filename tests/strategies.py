"""Stacks without mistakes, as hypothesis draws them: every field, every kind of cluster."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from stacks.gpu_shapes import catalogue, shapes_with

Blocks = dict[str, Any]
ZONES = ("ap-northeast-2a", "ap-northeast-2b", "ap-northeast-2c")
LABELS = st.from_regex(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True).filter(
    lambda name: not name.startswith(("kube", "karpenter", "default", "trainstack-", "openshift-"))
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
VARIABLES = st.from_regex(r"[A-Z][A-Z0-9_]{0,10}", fullmatch=True).filter(
    lambda name: (
        not name.startswith(("PET_", "KUBEFLOW_TRAINER_"))
        and name
        not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "TF_CONFIG")
        and not any(word in name for word in ("TOKEN", "SECRET", "PASS", "CREDENTIAL", "KEY"))
    )
)
MEMORY = st.builds("{}{}".format, st.integers(1, 64), st.sampled_from(["Mi", "Gi"]))
CPU = st.one_of(st.integers(1, 2000).map("{}m".format), st.integers(1, 3).map(str))


def names(count: int) -> SearchStrategy[list[str]]:
    return st.lists(LABELS, min_size=count, max_size=count, unique=True)


def with_some(draw: DrawFn, required: Blocks, optional: dict[str, SearchStrategy[Any]]) -> Blocks:
    """The required keys, and some of the others, in any order."""
    chosen = {key: draw(value) for key, value in optional.items() if draw(st.booleans())}
    items = [*required.items(), *chosen.items()]
    return dict(draw(st.permutations(items)))


@st.composite
def clusters(draw: DrawFn) -> Blocks:
    eks: Blocks = {
        "kind": "eks",
        "name": draw(LABELS),
        "region": "ap-northeast-2",
        "zones": list(ZONES),
    }
    kubeconfig = {"kind": "kubeconfig", "context": "some context"}
    return draw(st.sampled_from([{"kind": "local"}, eks, kubeconfig]))


@st.composite
def pools(draw: DrawFn, name: str, kind: str) -> Blocks:
    shape = draw(st.sampled_from(sorted(catalogue().values(), key=lambda shape: shape.name)))
    written = {"shape": shape.name}
    if len(shapes_with(shape.gpu_text)) == 1 and draw(st.booleans()):
        written = {"gpu": shape.gpu_text}
    orders = [["on-demand"], ["spot"], ["spot", "on-demand"]]
    capacity = draw(st.sampled_from(orders))
    optional: dict[str, SearchStrategy[Any]] = {
        "disk": st.integers(20, 900).map("{}Gi".format),
        "weight": st.integers(1, 100),
    }
    if kind != "local":
        optional["imageCache"] = st.just("snap-0123456789abcdef0")
        optional["placementGroup"] = st.just("near")
    if kind != "local" and draw(st.booleans()):
        capacity = ["reserved", *capacity]
        written["reservations"] = cast(Any, ["cr-0123456789abcdef0"])
    if shape.efa_interfaces:
        optional["efa"] = st.booleans()
    zone = draw(st.sampled_from(ZONES))  # one, so that gangs with EFA need not choose
    required = {"name": name, "zones": [zone], "capacity": capacity, "maxGpus": 4096, **written}
    return with_some(draw, required, optional)


@st.composite
def runtimes(draw: DrawFn, name: str, git: bool) -> Blocks:
    kind = draw(st.sampled_from(["fail-fast", "gang-restart", "spot-safe"]))
    failure: Blocks = {"class": kind}
    if kind != "fail-fast" and draw(st.booleans()):
        failure["maxRestarts"] = draw(st.integers(0, 1000))
    image = st.sampled_from(["a:1", "r.example.com:5000/a/b:v1", "x@sha256:" + "a" * 64])
    required = {"name": name, "framework": "torch"} | ({"gitImage": "git:1"} if git else {})
    return with_some(draw, required, {"failure": st.just(failure), "image": image})


@st.composite
def jobs(draw: DrawFn, name: str, runtime_names: list[str], pool_names: list[str]) -> Blocks:
    """The first runtime of a stack can clone repositories."""
    git = {"repo": "https://git.example.com/a.git", "ref": "v1.0/x", "script": "a/b.py"}
    runtime = draw(st.sampled_from(runtime_names))
    script: Blocks = {"script": "spirals_ddp.py"}
    can_clone = runtime == runtime_names[0]
    code = draw(st.sampled_from([script, {"git": git}])) if can_clone else script
    required: Blocks = {
        "name": name,
        "runtime": runtime,
        "nodes": draw(st.integers(1, 512)),
        **code,
    }
    on_pool = bool(pool_names) and draw(st.booleans())
    if on_pool:
        required["pool"] = draw(st.sampled_from(pool_names))
    reference = st.fixed_dictionaries({"secret": LABELS, "key": st.just("a.b_c-d")})
    optional: dict[str, SearchStrategy[Any]] = {
        "processesPerNode": st.one_of(st.just("auto"), st.just(1)),
        "args": st.lists(TEXTS, max_size=4),
        "env": st.dictionaries(VARIABLES.map("E_{}".format), TEXTS, max_size=3),
        "secretEnv": st.dictionaries(VARIABLES.map("S_{}".format), reference, max_size=2),
        "resources": st.fixed_dictionaries({"cpu": CPU, "memory": MEMORY.filter(_small)}),
        "sharedMemory": st.just("1Mi"),
        "deadline": st.sampled_from(["1m", "36h", "99d"]),
        "run": st.integers(1, 99),
    }
    return with_some(draw, required, optional)


def _small(memory: str) -> bool:
    """Fits every shape of the catalogue."""
    return memory.endswith("Mi") or int(memory[:-2]) <= 8


@st.composite
def tenants(draw: DrawFn, name: str, runtime_names: list[str], pool_names: list[str]) -> Blocks:
    job_names = draw(names(draw(st.integers(0, 3))))
    optional: dict[str, SearchStrategy[Any]] = {
        "quota": st.fixed_dictionaries(
            {"gpus": st.integers(4096, 9999), "jobs": st.integers(3, 9)}
        ),
        "members": st.fixed_dictionaries(
            {"users": st.just(["ann", "arn:aws:iam::1:user/x"]), "groups": st.just(["all"])}
        ),
        "allowedRuntimes": st.permutations(runtime_names),
        "storage": st.fixed_dictionaries(
            {
                "checkpoints": MEMORY,
                "accessMode": st.sampled_from(
                    ["ReadWriteMany"] if pool_names else ["ReadWriteMany", "ReadWriteOnce"]
                ),
            }
        ),
        "jobs": st.tuples(*(jobs(job, runtime_names, pool_names) for job in job_names)).map(list),
    }
    return with_some(draw, {"name": name}, optional)


@st.composite
def stacks(draw: DrawFn) -> Blocks:
    cluster = draw(clusters())
    pool_names = draw(names(draw(st.integers(0, 3))))
    runtime_names = draw(names(draw(st.integers(1, 3))))
    tenant_names = draw(names(draw(st.integers(0, 3))))
    blocks: Blocks = {
        "cluster": cluster,
        "gpuPools": [draw(pools(name, cluster["kind"])) for name in pool_names],
        "runtimes": [draw(runtimes(name, name == runtime_names[0])) for name in runtime_names],
        "tenants": [draw(tenants(name, runtime_names, pool_names)) for name in tenant_names],
    }
    return dict(draw(st.permutations(list(blocks.items()))))
