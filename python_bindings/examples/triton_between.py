"""uattn's attention between two Triton kernels, on one stream: the first turns
q by its position (rotary embedding), the last adds a residual.

Prints the errors against float64. Needs a Hopper GPU, torch and Triton 3.6.

Usage: triton_between.py [--graph], which captures the three into a CUDA graph.
SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy as np
import torch
import triton
import triton.language as tl
import uattn
import uattn.triton

BATCH, TOKENS, HEADS, KV_HEADS, HEAD_DIM = 2, 300, 8, 2, 128
PROBLEM = uattn.Problem(head_dim=HEAD_DIM, causal=True)


@triton.jit
def rotate(x, out, tokens, heads, HEAD_DIM: tl.constexpr):
    """A row a program: pairs (i, i + HEAD_DIM / 2) turn by token / 10000^(2i / D)."""
    row = tl.program_id(0)
    at = row.to(tl.int64) * HEAD_DIM + tl.arange(0, HEAD_DIM // 2)
    low = tl.load(x + at).to(tl.float32)
    high = tl.load(x + at + HEAD_DIM // 2).to(tl.float32)
    token = ((row // heads) % tokens).to(tl.float32)
    # ln(10000) = 9.2103...
    fraction = tl.arange(0, HEAD_DIM // 2).to(tl.float32) / (HEAD_DIM // 2)
    angle = token * tl.exp(-9.210340371976184 * fraction)
    cos, sin = tl.cos(angle), tl.sin(angle)
    tl.store(out + at, (low * cos - high * sin).to(out.dtype.element_ty))
    tl.store(out + at + HEAD_DIM // 2, (low * sin + high * cos).to(out.dtype.element_ty))


@triton.jit
def add(x, residual, out, count, BLOCK: tl.constexpr):
    """out = x + residual."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.load(x + at, inside).to(tl.float32) + tl.load(residual + at, inside)
    tl.store(out + at, total, inside)


class Layer:
    """The three kernels, with memory for what flows between them."""

    def __init__(self, q):
        self.attention = uattn.triton.stub(PROBLEM)
        self.rotated, self.attended = torch.empty_like(q), torch.empty_like(q)
        self.out = torch.empty(q.shape, device=q.device)

    def __call__(self, q, k, v, residual):
        rows = q.shape[0] * q.shape[1] * q.shape[2]
        rotate[(rows,)](q, self.rotated, q.shape[1], q.shape[2], HEAD_DIM=HEAD_DIM)
        # The same as self.attention.run(self.rotated, k, v, self.attended).
        tensors = self.rotated, k, v, self.attended
        self.attention.kernel[self.attention.grid(*tensors)](
            *self.attention.arguments(*tensors), **self.attention.constexprs
        )
        grid = (triton.cdiv(q.numel(), 1024),)
        add[grid](self.attended, residual, self.out, q.numel(), BLOCK=1024)


def capture(layer, *tensors):
    """A graph of the layer; kernels are compiled and loaded before."""
    layer(*tensors)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        layer(*tensors)
    layer.out.fill_(torch.nan)
    return graph


def bits(tensor):
    """A bf16 tensor on the host, as uattn takes it."""
    return tensor.view(torch.int16).cpu().numpy().view(np.uint16)


def rotated_by_numpy(q):
    q = q.double().cpu().numpy()
    half = HEAD_DIM // 2
    angle = np.arange(TOKENS)[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = (f(angle)[None, :, None, :] for f in (np.cos, np.sin))
    low, high = q[..., :half], q[..., half:]
    return np.concatenate([low * cos - high * sin, low * sin + high * cos], axis=-1)


def error(found, wanted):
    """Relative, in the Frobenius norm."""
    found = found.double().cpu().numpy()
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


def main(use_graph=False):
    """Errors of the rotation, and of the whole on what the rotation gave."""
    torch.manual_seed(0)

    def draw(heads):
        shape = (BATCH, TOKENS, heads, HEAD_DIM)
        return torch.randn(shape, device="cuda", dtype=torch.bfloat16)

    q, k, v = draw(HEADS), draw(KV_HEADS), draw(KV_HEADS)
    residual = torch.randn(q.shape, device="cuda")
    layer = Layer(q)
    if use_graph:
        capture(layer, q, k, v, residual).replay()
    else:
        layer(q, k, v, residual)
    torch.cuda.synchronize()
    wanted = uattn.run_reference(
        PROBLEM, q=bits(layer.rotated), k=bits(k), v=bits(v)
    )["out"]
    return error(layer.rotated, rotated_by_numpy(q)), error(
        layer.out, wanted + residual.double().cpu().numpy()
    )


if __name__ == "__main__":
    rotation, whole = main("--graph" in sys.argv[1:])
    print(f"relative errors: rotation {rotation:.1e}, whole {whole:.1e}")
    sys.exit(not (rotation < 5e-3 and whole < 5e-3))
