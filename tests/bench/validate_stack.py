"""Time, growth and memory of checking a large stack file: `make bench`.

Each size runs in a process of its own, so that memory is that size's own; times are the best of
three, and the growth is a ratio within this run.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stacks.validation import validate_file

SIZES = (100, 300, 1000)
_JOB = """\
        - name: job-{job}
          runtime: torch-distributed
          nodes: 2
          pool: l40s-8
          script: spirals_ddp.py
          args: [--model, "model-{tenant}-{job}", --epochs, "10"]
          env: {{LEARNING_RATE: "0.1", SEED: "{tenant}"}}
          resources: {{cpu: "8", memory: 64Gi}}
          sharedMemory: 8Gi
          deadline: 1d
"""
_HEAD = """\
config:
  trainstack:cluster: {kind: local}
  trainstack:gpuPools:
    - {name: l40s-8, shape: g6e.48xlarge, zones: [ap-northeast-2a], maxGpus: 100000}
  trainstack:runtimes:
    - {name: torch-distributed, framework: torch}
  trainstack:tenants:
"""
_TENANT = """\
    - name: tenant-{tenant}
      quota: {{gpus: 48, cpu: "100", memory: 1Ti, jobs: 10}}
      members: {{groups: [group-{tenant}]}}
      storage: {{checkpoints: 100Gi}}
      jobs:
"""


def stack_text(tenants: int, wrong: bool) -> str:
    """`tenants` with three jobs each; when wrong, a mistake in every second job."""
    parts = [_HEAD]
    for tenant in range(tenants):
        parts.append(_TENANT.format(tenant=tenant))
        for job in range(3):
            text = _JOB.format(tenant=tenant, job=job)
            broken = wrong and job % 2 == 1
            parts.append(text.replace("nodes: 2", "nodez: 2") if broken else text)
    return "".join(parts)


def measure(tenants: int, wrong: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "Pulumi.bench.yaml"
        file.write_text(stack_text(tenants, wrong))
        best = float("inf")
        for _ in range(3):
            started = time.perf_counter()
            report = validate_file(file)
            best = min(best, time.perf_counter() - started)
            assert (report.stack is None) == wrong
            assert len(report.errors) == (tenants if wrong else 0)
        size = file.stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": best, "peak_mib": peak, "megabytes": size / 1e6}


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]), sys.argv[2] == "wrong")))
        return
    print(f"{'tenants x 3 jobs':20} {'file':>8} {'seconds':>8} {'peak':>9} {'growth':>7}")
    for kind in ("right", "wrong"):
        first: dict[str, float] | None = None
        for tenants in SIZES:
            command = [sys.executable, "-m", "tests.bench.validate_stack", str(tenants), kind]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            row: dict[str, float] = json.loads(printed)
            first = first or row
            growth = row["seconds"] / first["seconds"] / (tenants / SIZES[0])
            print(
                f"{tenants:>8} {kind:11} {row['megabytes']:6.1f}MB {row['seconds']:8.2f} "
                f"{row['peak_mib']:6.0f}MiB {growth:6.2f}x"
            )
    print("growth: time beside the smallest size's, divided by how many times more tenants")


if __name__ == "__main__":
    main()
