#!/usr/bin/env python3
"""What a call from PyTorch costs the host, beside a custom op that does nothing.

Calls on tiny tensors are timed from call to return, while the GPU works on its
own; the difference to the minimal op, which is registered in the same way and
makes the same results, is the overhead (of two calls in a forward with its
backward). minimal_launching makes them by as many kernels as uattn launches,
one forward and three backward, each by an op of torch's;
minimal_register_autograd is the minimal op with its derivatives given to
torch.library.register_autograd, minimal_custom_op one made by
torch.library.custom_op; stubbed does all but the library's launch,
which tells the part that is Python's. Prints a JSON line a case: medians in
microseconds a call. With cpu as DEVICE only the stubbed ones.

forward_backward_one_thread is under torch.autograd.set_multithreading_enabled(
False): the backward then runs on the calling thread and not on one that has to
wake up.
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
from uattn.torch import _autograd, _ops

CALLS, REPEATS = 200, 50
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
LAUNCHES = {"cuda": "uattn_function_launch", "cpu": "uattn_host_run"}


def forward(q, k, v):
    batch, tokens, heads, _ = q.shape
    lse = q.new_empty((batch, heads, tokens), dtype=torch.float32)
    return q.new_empty(q.shape), lse


def backward(q, k, v, out, lse, dout):
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def forward_launching(q, k, v):
    batch, tokens, heads, _ = q.shape
    lse = q.new_empty((batch, heads, tokens), dtype=torch.float32)
    return q.neg(), lse


def backward_launching(q, k, v, out, lse, dout):
    return q.neg(), k.neg(), v.neg()


def keep(ctx, inputs, output):
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs, *output)


def register_minimal(namespace):
    """NAMESPACE::fwd and NAMESPACE::bwd without their derivatives; the library
    that holds them."""
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define("fwd(Tensor q, Tensor k, Tensor v) -> (Tensor, Tensor)")
    library.define("bwd(Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, "
                   "Tensor dout) -> (Tensor, Tensor, Tensor)")
    return library


def register_alike(namespace, run_forward, run_backward):
    """As uattn's ops are."""
    library = register_minimal(namespace)
    ops = getattr(torch.ops, namespace)

    def keep_all(ctx, operands, attributes, results):
        keep(ctx, operands, results)

    def pull_back(ctx, needs, dout, dlse):
        return ops.bwd.default(*ctx.saved_tensors, dout)

    for name, run in (("fwd", run_forward), ("bwd", run_backward)):
        _autograd.register(library, name, {"CPU": run, "CUDA": run},
                           keep_all, pull_back)
    return library, ops


def register_plain():
    """As torch's documentation has it."""
    library = register_minimal("plain")

    def pull_back(ctx, dout, dlse):
        return torch.ops.plain.bwd.default(*ctx.saved_tensors, dout)

    for key in ("CPU", "CUDA"):
        library.impl("fwd", forward, key)
        library.impl("bwd", backward, key)
    torch.library.register_autograd("plain::fwd", pull_back, setup_context=keep,
                                    lib=library)
    return library, torch.ops.plain


def register_documented():
    """As torch's documentation has it for Python: by torch.library.custom_op."""
    made = []
    for name, run in (("fwd", forward), ("bwd", backward)):
        schema = str(getattr(torch.ops.plain, name).default._schema)
        made.append(torch.library.custom_op(
            f"documented::{name}", run, mutates_args=(),
            schema=schema[schema.index("("):]))

    def pull_back(ctx, dout, dlse):
        return made[1](*ctx.saved_tensors, dout)

    made[0].register_autograd(pull_back, setup_context=keep)
    return made


class Stubbed:
    """While it lasts the library launches nothing: C functions that read no
    argument and return 0 are called instead."""

    def __enter__(self):
        self.name = LAUNCHES[DEVICE]
        self.kept = getattr(_abi.runtime(), self.name)
        stub = ctypes.CDLL("libm.so.6").fegetround
        stub.argtypes = self.kept.argtypes
        setattr(_abi.runtime(), self.name, stub)
        self.calls = [x for x in _ops._calls.values() if x.can_try]
        prototype = ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(_abi.ExchangeLaunch), ctypes.py_object)
        for call in self.calls:
            call._launch = prototype(("PyErr_CheckSignals", ctypes.pythonapi))

    def __exit__(self, *failure):
        setattr(_abi.runtime(), self.name, self.kept)
        for call in self.calls:
            call._launch = _abi.exchange_launch()


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def repeat(name, step):
    """Microseconds a call of one repeat."""
    if name == "stubbed_us":
        with Stubbed():
            return repeat("", step)
    start = time.perf_counter()
    for _ in range(CALLS):
        step()
    found = time.perf_counter() - start
    wait()
    return 1e6 * found / CALLS


def host_times(steps):
    """The median repeat of each, by name; in turn, so that what else the
    machine does falls on all."""
    for step in steps.values():
        repeat("", step)
    times = {name: [] for name in steps}
    for _ in range(REPEATS):
        for name, step in steps.items():
            times[name].append(repeat(name, step))
    return {name: round(statistics.median(found), 2) for name, found in times.items()}


class Ours:
    """As the minimal ops are called."""

    # What the schema has after the operands.
    attributes = ("none", 0.0, 0.0, 0.0, None, False, 0, 0, 0.0, False)

    @staticmethod
    def attend(*operands):
        return uattn.torch.ranker_attention(*operands)

    @classmethod
    def pull_back(cls, q, k, v, out, lse, dout):
        return torch.ops.uattn.ranker_attention_bwd.default(
            q, k, v, None, None, None, None, out, lse, dout, None, *cls.attributes,
            False)


class Minimal:
    def __init__(self, run_forward, run_backward):
        self.forward, self.pull_back = run_forward, run_backward

    def attend(self, *operands):
        return self.forward(*operands)[0]


def step_of(op, case, operands):
    """`backward` is the op alone, as autograd's thread calls it."""
    q, k, v = operands
    if case == "forward":
        return lambda: op.attend(q, k, v)
    dout = torch.ones_like(q)
    if case == "backward":
        out, lse = uattn.torch.ranker_attention(q, k, v, return_lse=True)
        return lambda: op.pull_back(q, k, v, out, lse, dout)
    inputs = [x.clone().requires_grad_() for x in operands]

    def step():
        with torch.autograd.set_multithreading_enabled(case == "forward_backward"):
            torch.autograd.grad(op.attend(*inputs), inputs, dout)

    return step


def main():
    kept = [register_alike("alike", forward, backward), register_plain(),
            register_alike("launching", forward_launching, backward_launching)]
    alike, plain, launching = (
        Minimal(ops.fwd.default, ops.bwd.default) for _, ops in kept)
    ops = {"minimal_us": alike, "minimal_register_autograd_us": plain,
           "minimal_custom_op_us": Minimal(*register_documented()),
           "minimal_launching_us": launching, "stubbed_us": Ours, "call_us": Ours}
    if DEVICE == "cpu":
        del ops["call_us"]
    operands = [torch.randn(1, 64, 1, 64, device=DEVICE).bfloat16() for _ in range(3)]
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu"
    for case in ("forward", "backward", "forward_backward",
                 "forward_backward_one_thread"):
        steps = {name: step_of(op, case, operands) for name, op in ops.items()}
        found = host_times(steps)
        if DEVICE == "cuda":
            for other in ("minimal", "minimal_custom_op", "minimal_launching"):
                found[f"over_{other}_us"] = round(
                    found["call_us"] - found[f"{other}_us"], 2)
        print(json.dumps({"case": case, "device": name, "torch": torch.__version__,
                          "calls": CALLS, "repeats": REPEATS} | found), flush=True)
    del kept


if __name__ == "__main__":
    main()
