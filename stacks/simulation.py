"""What the embedded cluster's simulated nodes offer.

The zones are those of the example stacks, so that a pool reads the same on `local` and on EKS.
"""

from __future__ import annotations

SIMULATED_ZONES = ("ap-northeast-2a", "ap-northeast-2b", "ap-northeast-2c")
SIMULATED_CAPACITY = ("spot", "on-demand")
