"""Splits the op over processes, by batch and by heads, with torch.distributed,
and holds the results and gradients against the whole computation.

A mesh of processes (data, heads): each attends with its part of the batch and
its heads of q, in whole groups with their head of k. Nothing is exchanged but,
as each process has a part of its heads, the sum of temp's gradient. 2 x 2 by
NCCL where there are 4 GPUs, 1 x 2 where there are 2, else 2 x 2 by gloo on the
CPU.

Usage: torch_distributed.py
SPDX-License-Identifier: Apache-2.0
"""

import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch.distributed.device_mesh import init_device_mesh
from uattn.torch import ranker_attention

BATCH, TOKENS, HEADS, KV_HEADS, HEAD_DIM = 4, 160, 8, 4, 64
NAMES = ("out", "lse", "dq", "dk", "dv", "dtemp")
# The dimensions of batch and heads.
SPLIT = {"q": (0, 2), "k": (0, 2), "v": (0, 2), "temp": (0, None),
         "bounds": (0, None), "dout": (0, 2), "out": (0, 2), "lse": (0, 1)}


def make_operands(device):
    """The whole of them, the same in every process."""
    torch.manual_seed(0)
    q, dout = (torch.randn(BATCH, TOKENS, HEADS, HEAD_DIM) for _ in range(2))
    k, v = (torch.randn(BATCH, TOKENS, KV_HEADS, HEAD_DIM) for _ in range(2))
    halves = {"q": q, "k": k, "v": v, "dout": dout}
    operands = {name: x.bfloat16() for name, x in halves.items()}
    operands["temp"] = torch.rand(BATCH, TOKENS) + 0.5
    history = torch.tensor([100, 120, 80, 140])
    bounds = [torch.zeros_like(history), history, history, history + 20]
    operands["bounds"] = torch.stack(bounds, dim=1).int()
    return {name: x.to(device) for name, x in operands.items()}


def attend(operands):
    """Results and gradients."""
    inputs = [operands[n].clone().requires_grad_() for n in ("q", "k", "v", "temp")]
    q, k, v, temp = inputs
    out, lse = ranker_attention(
        q, k, v, temp=temp, bounds=operands["bounds"], cap=("tanh", 20.0, 0.0, 0.0),
        z_loss_weight=1e-3, return_lse=True)
    gradients = torch.autograd.grad(out, inputs, operands["dout"])
    return dict(zip(NAMES, (out.detach(), lse.detach(), *gradients)))


def part(name, tensor, mesh):
    """What this process has of a tensor."""
    axes = SPLIT[name if name in SPLIT else name.removeprefix("d")]
    for axis, (count, place) in zip(axes, zip(mesh.shape, mesh.get_coordinate())):
        if axis is not None:
            tensor = tensor.chunk(count, axis)[place]
    return tensor.contiguous()


def check(found, wanted, mesh):
    for name in NAMES:
        mine = part(name, wanted[name], mesh).float()
        dead = mine.isneginf()
        assert torch.equal(found[name].isneginf(), dead), name
        off = torch.where(dead, 0.0, found[name].float() - mine).norm()
        norm = torch.where(dead, 0.0, mine).norm()
        # Whole and part round alike; temp's gradient is summed in another order,
        # and so is what several blocks add up on a GPU.
        assert off <= 5e-3 * norm, f"{name}: {off / norm:.1e} off"


def choose_mesh():
    """Processes along the batch and along the heads, and whether on GPUs."""
    gpus = torch.cuda.device_count()
    return (1, 2) if gpus in (2, 3) else (2, 2), gpus >= 2


def work(rank, port):
    shape, on_gpus = choose_mesh()
    device = f"cuda:{rank}" if on_gpus else "cpu"
    if on_gpus:
        torch.cuda.set_device(rank)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("nccl" if on_gpus else "gloo", rank=rank,
                            world_size=shape[0] * shape[1])
    torch.set_num_threads(1)
    mesh = init_device_mesh("cuda" if on_gpus else "cpu", shape,
                            mesh_dim_names=("data", "heads"))
    operands = make_operands(device)
    found = attend({name: part(name, x, mesh) for name, x in operands.items()})
    dist.all_reduce(found["dtemp"], group=mesh.get_group("heads"))
    check(found, attend(operands), mesh)
    dist.barrier()
    if rank == 0:
        print(f"{shape[0]} x {shape[1]} processes on {device.split(':')[0]}: results and "
              "gradients are those of the whole")
    dist.destroy_process_group()


def main():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (data, heads), _ = choose_mesh()
    processes.spawn(work, args=(port,), nprocs=data * heads)


if __name__ == "__main__":
    main()
