#!/bin/sh
# PyTorch's standard variables from the PET_* variables that Kubeflow Trainer sets.
#   . /shared/setup_pytorch_env.sh
# For programs started without torchrun, one process a node. torchrun reads PET_* by itself.
export RANK="${PET_NODE_RANK:?PET_NODE_RANK is not set: is this a TrainJob with spec.trainer?}"
export WORLD_SIZE="${PET_NNODES:?PET_NNODES is not set}"
export MASTER_ADDR="${PET_MASTER_ADDR:?PET_MASTER_ADDR is not set}"
export MASTER_PORT="${PET_MASTER_PORT:-29500}"
export LOCAL_RANK=0
echo "PyTorch environment: RANK=$RANK WORLD_SIZE=$WORLD_SIZE MASTER=$MASTER_ADDR:$MASTER_PORT"
