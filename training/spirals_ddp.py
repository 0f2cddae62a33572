"""Learn to tell two spirals apart: a small model, data it makes itself, DDP, checkpoints.

On a laptop:    python training/spirals_ddp.py
On N nodes:     torchrun training/spirals_ddp.py     (Kubeflow Trainer sets the PET_* variables)

Every `--checkpoint-every` steps rank 0 writes a checkpoint; a restarted run goes on from the newest
one, so a failure costs at most that many steps.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import socket
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=256, help="samples per process and step")
    parser.add_argument("--log-every", type=int, default=10, metavar="STEPS")
    parser.add_argument("--checkpoint-every", type=int, default=20, metavar="STEPS")
    parser.add_argument("--checkpoints", type=Path, default=default_checkpoint_folder())
    parser.add_argument("--seconds-per-step", type=float, default=0.0, help="slow down, to watch")
    return parser.parse_args()


def default_checkpoint_folder() -> Path:
    return Path(os.environ.get("CHECKPOINT_FOLDER", "checkpoints"))


def two_spirals(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points on two arms around each other, with a little noise; label 0 or 1."""
    label = torch.randint(0, 2, (count,), generator=generator)
    turn = torch.sqrt(torch.rand(count, generator=generator)) * 3 * math.pi
    angle = turn + label * math.pi
    noise = torch.randn(count, 2, generator=generator) * 0.15
    points = torch.stack([turn * torch.cos(angle), turn * torch.sin(angle)], dim=1) / 3 + noise
    return points, label


def build_model() -> nn.Module:
    layers: list[nn.Module] = []
    width = 2
    for _ in range(3):
        layers += [nn.Linear(width, 64), nn.Tanh()]
        width = 64
    return nn.Sequential(*layers, nn.Linear(width, 2))


def newest_checkpoint(folder: Path) -> Path | None:
    """The checkpoint with the highest step; half-written files have another name."""
    numbered = {
        int(found.group(1)): file
        for file in folder.glob("step-*.pt")
        if (found := re.fullmatch(r"step-(\d+)\.pt", file.name))
    }
    return numbered[max(numbered)] if numbered else None


def save_checkpoint(
    folder: Path, step: int, model: nn.Module, optimizer: torch.optim.Optimizer
) -> Path:
    """Write aside, then rename: a kill in the middle leaves the previous checkpoint whole."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"step-{step}.pt"
    aside = folder / f".step-{step}.partial"
    state = {"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, aside)
    aside.rename(target)
    return target


def train(arguments: argparse.Namespace) -> None:
    rank, world_size = dist.get_rank(), dist.get_world_size()

    def say(message: str) -> None:
        print(f"[rank {rank}/{world_size}] {message}", flush=True)

    say(f"torch {torch.__version__} on {socket.gethostname()}, backend {dist.get_backend()}")
    torch.manual_seed(0)
    device = (
        torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else None
    )
    module = build_model().to(device)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3)
    first_step = 0
    resumed_from = newest_checkpoint(arguments.checkpoints)
    if resumed_from is not None:
        state = torch.load(resumed_from, map_location=device, weights_only=True)
        module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first_step = state["step"]
        say(f"resumed from {resumed_from} at step {first_step}")
    model = DistributedDataParallel(module)
    for step in range(first_step + 1, arguments.steps + 1):
        # A function of rank and step, so that a resumed run sees the data it would have seen.
        generator = torch.Generator().manual_seed(step * 10_007 + rank)
        points, labels = two_spirals(arguments.batch, generator)
        loss = nn.functional.cross_entropy(model(points.to(device)), labels.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(arguments.seconds_per_step)
        if step % arguments.log_every == 0 or step == arguments.steps:
            say(f"step {step} loss {mean_over_ranks(loss):.4f}")
        if step % arguments.checkpoint_every == 0 or step == arguments.steps:
            if rank == 0:
                say(f"checkpoint {save_checkpoint(arguments.checkpoints, step, module, optimizer)}")
            dist.barrier()
    say("done")


def mean_over_ranks(value: Tensor) -> float:
    total = value.detach().clone()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


def main() -> None:
    arguments = parse_arguments()
    if "RANK" not in os.environ:  # started by hand: a group of one
        os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        train(arguments)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
