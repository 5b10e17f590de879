"""Launches kernels that uattn-emit-ttgir wrote through Triton on an sm_90 GPU and
compares out and lse with the op in float64. Needs torch, Triton 3.6 and numpy;
no LLVM, and nothing of uattn but this file and ttgir_testing.py.

usage: ttgir_cuda_test.py [--bench=BATCHxTOKENSxHEADS] FILE.ttgir...
  beside each file lies its case, NAME.json, which ttgir_folder.py writes
  --bench  then prints the time of those without bounds and segments, too
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import dataclasses
import sys

import numpy
import torch
import triton
from triton.backends.compiler import GPUTarget

import ttgir_testing as testing

TORCH_TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
MAP_TYPES = {"bf16": 9, "f16": 6}  # CUtensorMapDataType
SWIZZLE_128_BYTES = 3
Q_BOX_ROWS = 64


def tensor_map(tensor, dtype, rows):
    """[batch, tokens, heads, dim] as the kernel names it: [batch, heads, tokens, dim]."""
    batch, tokens, heads, dim = tensor.shape
    return triton.runtime.driver.active.utils.fill_tma_descriptor(
        tensor.data_ptr(), SWIZZLE_128_BYTES, tensor.element_size(), MAP_TYPES[dtype],
        [1, 1, rows, 64], [batch, heads, tokens, dim],
        [tokens * heads * dim, dim, heads * dim, 1], 0)


class Launch:
    """A kernel with its arguments on the device."""

    def __init__(self, path, case, arrays):
        self.kernel = triton.compile(str(path), target=GPUTarget("cuda", 90, 32))
        q_rows, kv_rows = testing.tile_rows(path)
        self.grid = (-(-case.q_tokens // q_rows), case.q_heads, case.batch)
        types = {"temp": case.temp, "bounds": None, "q_ids": None, "kv_ids": None}
        self.tensors = {}
        for name, array in arrays.items():
            tensor = torch.from_numpy(numpy.ascontiguousarray(array)).cuda()
            dtype = types.get(name, case.dtype)
            self.tensors[name] = tensor.to(TORCH_TYPES[dtype]) if dtype else tensor
        self.out = torch.full_like(self.tensors["q"], float("nan"))
        self.lse = None
        if case.lse:
            shape = (case.batch, case.q_heads, case.q_tokens)
            self.lse = torch.full(shape, float("nan"), device="cuda")
        self.arguments = [tensor_map(self.tensors["q"], case.dtype, Q_BOX_ROWS)]
        self.arguments += [tensor_map(self.tensors[name], case.dtype, kv_rows)
                           for name in ("k", "v")]
        self.arguments += list(self.tensors.values())[3:]
        self.arguments.append(tensor_map(self.out, case.dtype, Q_BOX_ROWS))
        if case.lse:
            self.arguments.append(self.lse)
        self.arguments += [case.q_tokens, case.kv_tokens, case.q_heads, case.kv_heads]

    def __call__(self):
        self.kernel[self.grid](*self.arguments)


def check(path, case):
    arrays = testing.draw_inputs(case)
    launch = Launch(path, case, arrays)
    launch()
    torch.cuda.synchronize()
    first = launch.out.clone()
    out = launch.out.double().cpu().numpy()
    lse = launch.lse.double().cpu().numpy() if case.lse else None
    wrong, text = testing.complaint(case, arrays, out, lse)
    for _ in range(20):
        launch()
    torch.cuda.synchronize()
    if not torch.equal(first.view(torch.int16), launch.out.view(torch.int16)):
        wrong = text = f"{text}, another launch gives other bits"
    print(f"{case.name}: {text}: {'wrong' if wrong else 'ok'}", flush=True)
    return wrong is None


def bench(path, case, sizes):
    batch, tokens, heads = map(int, sizes.split("x"))
    group = case.q_heads // case.kv_heads
    large = dataclasses.replace(case, batch=batch, q_tokens=tokens, kv_tokens=tokens,
                                q_heads=heads, kv_heads=max(heads // group, 1))
    launch = Launch(path, large, testing.draw_inputs(large))
    for _ in range(5):
        launch()
    times = []
    for _ in range(20):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    milliseconds = sorted(times)[len(times) // 2]
    pairs = batch * heads * tokens * tokens * (0.5 if case.causal else 1.0)
    flops = 4.0 * pairs * case.head_dim
    print(f"{case.name} {sizes}: {milliseconds:.3f} ms, "
          f"{flops / milliseconds / 1e9:.1f} TFLOP/s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    failures = 0
    for path in options.files:
        case = testing.read_case(path)
        try:
            failures += not check(path, case)
        except Exception as error:  # the next case may still say something
            failures += 1
            print(f"{case.name}: {type(error).__name__}: {error}: wrong", flush=True)
    for path in options.files if options.bench else ():
        case = testing.read_case(path)
        if not (case.bounds or case.segments or case.window):
            bench(path, case, options.bench)
    print("all right" if failures == 0 else f"{failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
