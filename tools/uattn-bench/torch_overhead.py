#!/usr/bin/env python3
"""What a call from PyTorch costs the host, beside a custom op that does nothing.

Calls on tiny tensors are timed from call to return, while the GPU works on its
own; the difference to the minimal op, which is registered in the same way and
makes the same results, is the overhead. "stubbed" calls all but the library's
launch, which tells the part that is Python's. Prints a JSON line a case:
medians in microseconds a call. With cpu as DEVICE only the stubbed ones.
Usage: torch_overhead.py [DEVICE], with uattn installed, cuda if left out
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import statistics
import sys
import time

import torch
import uattn.torch
from uattn import _abi

CALLS, REPEATS = 200, 50
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
LAUNCHES = {"cuda": "uattn_function_launch", "cpu": "uattn_host_run"}


def register_minimal():
    """minimal::fwd and minimal::bwd; the library that holds them."""
    library = torch.library.Library("minimal", "FRAGMENT")
    library.define("fwd(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)")
    library.define("bwd(Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, "
                   "Tensor dout) -> (Tensor, Tensor, Tensor)")

    def forward(q, k, v):
        batch, tokens, heads, _ = q.shape
        lse = q.new_empty((batch, heads, tokens), dtype=torch.float32)
        return q.new_empty(q.shape), lse

    def backward(q, k, v, out, lse, dout):
        return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)

    def keep(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*inputs, *output)

    def pull_back(ctx, dout, dlse):
        return torch.ops.minimal.bwd.default(*ctx.saved_tensors, dout)

    for key in ("CPU", "CUDA"):
        library.impl("fwd", forward, key)
        library.impl("bwd", backward, key)
    torch.library.register_autograd("minimal::fwd", pull_back, setup_context=keep,
                                    lib=library)
    return library


def minimal(q, k, v):
    return torch.ops.minimal.fwd.default(q, k, v)[0]


class Stubbed:
    """While it lasts the library launches nothing: a C function that reads no
    argument and returns 0 is called instead."""

    def __enter__(self):
        self.name = LAUNCHES[DEVICE]
        self.kept = getattr(_abi.runtime(), self.name)
        stub = ctypes.CDLL("libm.so.6").fegetround
        stub.argtypes = self.kept.argtypes
        setattr(_abi.runtime(), self.name, stub)

    def __exit__(self, *failure):
        setattr(_abi.runtime(), self.name, self.kept)


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def host_time(step):
    """Microseconds a call, of the median repeat."""
    for _ in range(CALLS):
        step()
    wait()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(CALLS):
            step()
        times.append(time.perf_counter() - start)
        wait()
    return 1e6 * statistics.median(times) / CALLS


def step_of(function, case, operands):
    q, k, v = operands
    if case == "forward":
        return lambda: function(q, k, v)
    dout = torch.ones_like(q)
    inputs = [x.clone().requires_grad_() for x in operands]
    return lambda: torch.autograd.grad(function(*inputs), inputs, dout)


def main():
    kept = register_minimal()
    operands = [torch.randn(1, 64, 1, 64, device=DEVICE).bfloat16() for _ in range(3)]
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu"
    for case in ("forward", "forward_backward"):
        step = step_of(uattn.torch.ranker_attention, case, operands)
        floor = host_time(step_of(minimal, case, operands))
        step()
        with Stubbed():
            stubbed = host_time(step)
        line = {"case": case, "device": name, "torch": torch.__version__,
                "calls": CALLS, "repeats": REPEATS, "minimal_us": round(floor, 2),
                "stubbed_us": round(stubbed, 2)}
        if DEVICE == "cuda":
            found = host_time(step)
            line |= {"call_us": round(found, 2),
                     "over_minimal_us": round(found - floor, 2)}
        print(json.dumps(line), flush=True)
    del kept


if __name__ == "__main__":
    main()
