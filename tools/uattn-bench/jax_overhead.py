#!/usr/bin/env python3
"""What a launch from JAX costs the host, beside an FFI handler that does nothing.

A jitted chain of calls on tiny tensors is timed from call to return, while the
GPU works on its own; the difference to a chain of the empty handler, a call, is
the overhead. Prints a JSON line a case: medians in microseconds a call.
Usage: jax_overhead.py SOURCE_ROOT, with uattn installed, on a GPU
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

# Command buffers would make one launch of a chain.
os.environ["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer="

import jax
import jax.numpy as jnp
import uattn.jax

CALLS, REPEATS = 200, 50
ROOT = pathlib.Path(sys.argv[1])


def register_noop(folder):
    library = pathlib.Path(folder) / "libnoop.so"
    subprocess.run(
        ["cc", "-std=c11", "-O2", "-shared", "-fPIC", f"-I{ROOT}/include",
         f"-I{ROOT}/python_bindings/xla", f"{ROOT}/python_bindings/xla/noop_handler.c",
         "-o", str(library)], check=True)
    handler = ctypes.CDLL(str(library)).noop_execute
    jax.ffi.register_ffi_target("noop", jax.ffi.pycapsule(handler), platform="CUDA")


def forward_calls(q, k, v):
    for _ in range(CALLS):
        q, _ = uattn.jax.ranker_attention(q, k, v)
    return q


def backward_calls(q, k, v):
    """One forward call, and as many of its backward."""
    (dout, lse), pull = jax.vjp(uattn.jax.ranker_attention, q, k, v)
    for _ in range(CALLS):
        dout, _, _ = pull((dout, jnp.zeros_like(lse)))
    return dout


def noop_calls(q, k, v):
    for _ in range(CALLS):
        q = jax.ffi.ffi_call("noop", jax.ShapeDtypeStruct(q.shape, q.dtype))(q, k, v)
    return q


def host_time(function, operands):
    """Microseconds a call, of the median repeat."""
    chain = jax.jit(function)
    jax.block_until_ready(chain(*operands))
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = chain(*operands)
        times.append(time.perf_counter() - start)
        jax.block_until_ready(result)
    return 1e6 * statistics.median(times) / CALLS


def main():
    with tempfile.TemporaryDirectory() as folder:
        register_noop(folder)
        key = jax.random.key(0)
        operands = [jax.random.normal(key, (1, 64, 1, 64)).astype(jnp.bfloat16)] * 3
        floor = host_time(noop_calls, operands)
        for name, function in (("forward", forward_calls),
                               ("backward", backward_calls)):
            found = host_time(function, operands)
            print(json.dumps({
                "case": name, "device": jax.devices()[0].device_kind,
                "jax": jax.__version__, "calls": CALLS, "repeats": REPEATS,
                "noop_us": round(floor, 2), "call_us": round(found, 2),
                "over_noop_us": round(found - floor, 2)}))


if __name__ == "__main__":
    main()
