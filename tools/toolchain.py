"""All tools in their pinned versions: from PATH where they are, else built once per machine."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools import assets, pins
from tools.cache import cache_root, obtain, require_free_space
from tools.commands import output_of
from tools.console import heading, say, step
from tools.golang import MODULES, Go, find_go

_PROVIDER_MODULE = "github.com/pulumi/pulumi-kubernetes/provider/v4"
# Scripts that Pulumi's Python support runs beside its language host.
_PULUMI_SCRIPTS = ("pulumi-language-python-exec", "pulumi-resource-pulumi-python")


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The folder to put first on PATH, the charts and CRDs, and Pulumi's home with the plugin."""

    bin: Path
    assets: Path
    pulumi_home: Path

    def path(self) -> str:
        return f"{self.bin}{os.pathsep}{os.environ.get('PATH', '')}"

    def tool(self, name: str) -> str:
        return str(self.bin / name)


def ensure_toolchain() -> Toolchain:
    """Make every pinned tool available; the first run builds, later ones only look."""
    found: dict[str, Path] = {}
    missing: list[pins.GoTool] = []
    for tool in pins.GO_TOOLS:
        ready = _built(tool) if _built(tool).exists() else _on_path(tool)
        if ready is None:
            missing.append(tool)
        else:
            found[tool.name] = ready
    if missing or not assets.folder().exists():
        found |= _build(missing)
    bin_folder = _bin_folder(found)
    home = _pulumi_home(found["pulumi"], found["pulumi-resource-kubernetes"])
    return Toolchain(bin=bin_folder, assets=assets.folder(), pulumi_home=home)


def _build(missing: list[pins.GoTool]) -> dict[str, Path]:
    require_free_space(cache_root(), 12, "building the tools")
    go = find_go()
    seconds_left = sum(tool.expected_seconds for tool in missing)
    heading(f"Building {len(missing)} tools, once per machine (about {seconds_left // 60 + 1} min)")
    started = time.monotonic()
    built: dict[str, Path] = {}
    for number, tool in enumerate(missing, start=1):
        left = f"about {max(1, seconds_left // 60)} min left"
        with step(f"[{number}/{len(missing)}] {tool.name} {tool.version}", left):
            built[tool.name] = build(tool, go)
        seconds_left -= tool.expected_seconds
    with step("charts, CRDs and scripts out of the Go modules"):
        assets.collect(go)
    say(f"  tools ready after {time.monotonic() - started:.0f} s, kept in {cache_root()}")
    _drop_build_caches()
    return built


def build(tool: pins.GoTool, go: Go) -> Path:
    """Build one tool into the cache, from a copy of its module so that the checkout stays clean."""

    def make(aside: Path) -> None:
        module = aside / "module"
        shutil.copytree(MODULES / tool.module, module)
        prepare = _PREPARE.get(tool.name)
        if prepare is not None:
            prepare(module, go)
        flags = f"-s -w {tool.ldflags}".strip()
        go.run(["build", "-ldflags", flags, "-o", str(aside / tool.name), tool.package], module)
        shutil.rmtree(module)

    obtain(_built(tool).parent, tool.name, make)
    return _built(tool)


def _embed_provider_schema(module: Path, go: Go) -> None:
    """The provider's own build embeds its schema with the version filled in; so do we."""
    sources = go.module_folder(_PROVIDER_MODULE, module) / "cmd" / "pulumi-resource-kubernetes"
    schema = json.loads((sources / "schema.json").read_text())
    schema["version"] = pins.PULUMI_KUBERNETES
    (module / "schema-embed.json").write_text(json.dumps(schema))
    mapping = (sources / "terraform-mapping.json").read_bytes()
    (module / "terraform-mapping-embed.json").write_bytes(mapping)


_PREPARE: dict[str, Callable[[Path, Go], None]] = {
    "pulumi-resource-kubernetes": _embed_provider_schema,
}


def key_of(tool: pins.GoTool) -> str:
    """What the binary depends on: its pin and every file of its module."""
    pin = (tool.name, tool.version, tool.package, tool.ldflags)
    digest = hashlib.sha256(repr(pin).encode())
    for file in sorted((MODULES / tool.module).rglob("*")):
        if file.is_file():
            digest.update(file.relative_to(MODULES).as_posix().encode() + b"\0")
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _built(tool: pins.GoTool) -> Path:
    return cache_root() / "tools" / tool.name / f"{tool.version}-{key_of(tool)}" / tool.name


def _on_path(tool: pins.GoTool) -> Path | None:
    """The tool on PATH, if it says it is the pinned version."""
    if tool.name == "pulumi-language-python":
        return _language_host_beside_pulumi()
    candidate = shutil.which(tool.name) if tool.version_arguments else None
    if candidate is None:
        return None
    result = subprocess.run(
        [candidate, *tool.version_arguments], capture_output=True, text=True, check=False
    )
    printed = (result.stdout + result.stderr).split()
    wanted = tool.version_text.split()
    says_so = any(
        printed[i : i + len(wanted)] == wanted for i in range(len(printed) - len(wanted) + 1)
    )
    return Path(candidate).resolve() if says_so else None


def _language_host_beside_pulumi() -> Path | None:
    """An official Pulumi brings its language host in the same folder and in the same version."""
    cli = next(tool for tool in pins.GO_TOOLS if tool.name == "pulumi")
    pulumi = _on_path(cli)
    if pulumi is None:
        return None
    folder = pulumi.parent
    complete = all(
        (folder / name).exists() for name in ("pulumi-language-python", *_PULUMI_SCRIPTS)
    )
    return folder / "pulumi-language-python" if complete else None


def _bin_folder(tools: dict[str, Path]) -> Path:
    """One folder with all of them, so that a shell needs a single PATH entry.

    Hard links for what we built: Pulumi looks for its helpers beside its own, resolved, file.
    """
    # The provider is installed as a plugin instead: on PATH it would make Pulumi warn on every run.
    links = {name: path for name, path in tools.items() if name != "pulumi-resource-kubernetes"}
    official = tools["pulumi-language-python"].parent
    for script in _PULUMI_SCRIPTS:
        beside = official / script
        links[script] = beside if beside.exists() else assets.folder() / "pulumi" / script
    key = hashlib.sha256(repr(sorted(links.items())).encode()).hexdigest()[:12]

    def make(aside: Path) -> None:
        for name, target in sorted(links.items()):
            if target.is_relative_to(cache_root()):
                (aside / name).hardlink_to(target)
            else:
                (aside / name).symlink_to(target)

    return obtain(cache_root() / "bin" / key, "the bin folder", make)


def _pulumi_home(pulumi: Path, provider: Path) -> Path:
    """Pulumi's home with our plugin in it; further plugins may still be downloaded by Pulumi."""
    home = cache_root() / "pulumi-home"
    key = provider.parent.name
    stamp = home / "plugins" / f".trainstack-kubernetes-{key}"

    def install(aside: Path) -> None:
        with step(f"pulumi plugin install resource kubernetes {pins.PULUMI_KUBERNETES}"):
            output_of(
                [
                    *(pulumi, "plugin", "install", "resource", "kubernetes"),
                    *(pins.PULUMI_KUBERNETES, "--file", provider, "--reinstall"),
                ],
                doing="installing the Kubernetes plugin",
                next_step=f"remove {home} and run it again",
                environment={"PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"},
            )
        (aside / "installed").write_text(key)

    obtain(stamp, "the Kubernetes plugin", install)
    return home


def _drop_build_caches() -> None:
    """Module sources and object files are several GB that only a new pin would need again."""
    if os.environ.get("TRAINSTACK_KEEP_BUILD_CACHE") != "1":
        shutil.rmtree(cache_root() / "build", ignore_errors=True)
