#!/usr/bin/env python3
"""Lowers small JAX functions around the attention op to the .mlir files here.

The files are what JAX itself prints, in MLIR's generic form, so that tests of
uattn-import-stablehlo need no JAX. Run again after the contract has changed:

    python3 lower_with_jax.py [FOLDER]

The committed files come from JAX 0.10.2 on a CPU. Lowering needs no kernel: the
target of a custom call is looked up when the program is compiled.
SPDX-License-Identifier: Apache-2.0
"""

import functools
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

BF16, F16, F32, I32 = jnp.bfloat16, jnp.float16, jnp.float32, jnp.int32
FORWARD = "uattn.ranker_attention"
BACKWARD = "uattn.ranker_attention_bwd"


def spec(*shape, dtype=BF16):
    return jax.ShapeDtypeStruct(shape, dtype)


def sizes(*values):
    return np.array(values, np.int32)


def attributes(operands, results, scale, method="none", cap=(0.0, 0.0, 0.0), **more):
    """The attributes that both forms carry, typed as the contract asks."""
    parameters = {
        "operandSegmentSizes": sizes(*operands),
        "resultSegmentSizes": sizes(*results),
        "cap_method": method,
        "sm_scale": np.float32(scale),
    }
    for name, value in zip(("cap", "cap_alpha", "cap_beta"), cap):
        parameters[name] = np.float32(value)
    return parameters | more


def forward_all_operands(q, k, v, temp, bounds, q_ids, kv_ids):
    """Every operand, both results, a kernel by name and its workspace."""
    results = [spec(*q.shape), spec(2, 10, 70, dtype=F32), spec(4096, dtype=jnp.uint8)]
    call = jax.ffi.ffi_call(FORWARD, results)
    out, lse, _ = call(q, k, v, temp, bounds, q_ids, kv_ids, **attributes(
        (1, 1, 1, 1, 1, 1, 1), (1, 1), 0.125, "alsc", (30.0, 1.5, -0.25),
        causal=True, window_len=np.int64(48), q_offset=np.int64(30), artifact="9f1c"))
    return out, lse


def forward_minimal(q, k, v):
    """What must be there, nothing else."""
    call = jax.ffi.ffi_call(FORWARD, spec(*q.shape))
    return call(q, k, v, operandSegmentSizes=sizes(1, 1, 1, 0, 0, 0, 0),
                resultSegmentSizes=sizes(1, 0), cap_method="none",
                sm_scale=np.float32(0.125))


def backward_dtemp(q, k, v, temp, out, lse, dout, dlse):
    """All four gradients."""
    results = [spec(*q.shape), spec(*k.shape), spec(*v.shape), spec(*temp.shape, dtype=F32)]
    call = jax.ffi.ffi_call(BACKWARD, results)
    return call(q, k, v, temp, out, lse, dout, dlse, **attributes(
        (1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1), (1, 1, 1, 1), 0.125, "tanh", (30.0, 0.0, 0.0),
        causal=np.bool_(True), window_len=np.int64(0), q_offset=np.int64(0),
        z_loss_weight=np.float32(1e-3), deterministic=False))


@jax.jit
def softmax(scores):
    weights = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def softmax_attention(q, k, v, **_):
    """A decomposition: what the op computes without masks and cap."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q.astype(F32), k.astype(F32)) * 0.125
    weights = softmax(scores)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v.astype(F32)).astype(BF16)


def composite(q, k, v):
    call = jax.lax.composite(softmax_attention, FORWARD, version=1)
    return call(q, k, v, **attributes((1, 1, 1, 0, 0, 0, 0), (1, 0), 0.125))


def composite_in_function(x, weights):
    """The op among others; its decomposition calls functions of its own."""
    qkv = jnp.einsum("bhsd,cde->cbshe", x, weights)
    out = composite(qkv[0], qkv[1], qkv[2])
    return jnp.transpose(out, (0, 2, 1, 3)), jnp.max(out)


def vmapped(q, k, v):
    """vmap puts the call into a function of its own, inside a loop."""
    call = jax.ffi.ffi_call(FORWARD, spec(*q.shape[1:]), vmap_method="sequential")
    one = functools.partial(call, **attributes((1, 1, 1, 0, 0, 0, 0), (1, 0), 0.125))
    return jax.vmap(one)(q, k, v)


def sharded(q, k, v):
    """The batch split over two devices: each runs the call on its half."""
    mesh = jax.make_mesh((2,), ("batch",), axis_types=(jax.sharding.AxisType.Auto,))
    axis = jax.sharding.PartitionSpec("batch")
    call = jax.ffi.ffi_call(FORWARD, spec(1, *q.shape[1:]))
    one = functools.partial(call, **attributes((1, 1, 1, 0, 0, 0, 0), (1, 0), 0.125))
    return jax.shard_map(one, mesh=mesh, in_specs=(axis,) * 3, out_specs=axis,
                         check_vma=False)(q, k, v)


QUERIES = spec(2, 70, 10, 64)
KEYS = spec(2, 100, 2, 64)
PROGRAMS = [
    (forward_all_operands,
     [QUERIES, KEYS, KEYS, spec(2, 70, dtype=F32), spec(2, 4, dtype=I32),
      spec(2, 70, dtype=I32), spec(2, 100, dtype=I32)]),
    (forward_minimal, [spec(1, 64, 2, 64), spec(1, 64, 1, 64), spec(1, 64, 1, 64)]),
    (backward_dtemp,
     [QUERIES, KEYS, KEYS, spec(2, 70, dtype=F32), QUERIES, spec(2, 10, 70, dtype=F32),
      QUERIES, spec(2, 10, 70, dtype=F32)]),
    (composite, [spec(1, 64, 2, 64)] * 3),
    (composite_in_function, [spec(1, 2, 64, 64), spec(3, 64, 64)]),
    (vmapped, [spec(3, 1, 64, 2, 64)] * 3),
    (sharded, [spec(2, 64, 2, 64)] * 3),
]


def main(arguments):
    jax.config.update("jax_num_cpu_devices", 2)
    folder = pathlib.Path(arguments[1] if len(arguments) > 1 else __file__)
    folder = folder if folder.is_dir() else folder.parent
    for function, specs in PROGRAMS:
        module = jax.jit(function).lower(*specs).compiler_ir("stablehlo")
        text = module.operation.get_asm(print_generic_op_form=True)
        (folder / f"{function.__name__}.mlir").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
