"""The op as two primitives of JAX: their types, batching and lowering.

`call_op` knows nothing of derivatives; see _attention.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir

from ..problem import Problem, presence
from ._sharding import can_partition, needs_devices, partitioned
from ._targets import TARGETS, artifact_of

Array: TypeAlias = jax.Array


def call_op(problem: Problem, operands: Sequence[Any]) -> list[Array]:
    """The results of `problem`, whose sizes are open, for its operands, which
    have been checked and aligned; in the order of the op."""
    results: list[Array] = _OPS[problem.kind].bind(*operands, problem=problem)
    return results


def _stand_in(problem: Problem, *operands: Array) -> list[Array]:
    """Arrays of the results' types. JAX infers from it what else a type says:
    shardings, the axes of shard_map over which a value varies."""
    given = {spec.name: x for spec, x in zip(problem.operands, operands)}
    row_sums = functools.partial(jnp.sum, axis=-1, dtype=jnp.float32)
    makers = {
        "out": lambda: -given["q"],
        "lse": lambda: jnp.swapaxes(row_sums(given["q"]), 1, 2),
        "dq": lambda: -given["q"],
        "dk": lambda: -given["k"],
        "dv": lambda: -given["v"],
        "dtemp": lambda: given["temp"].astype(jnp.float32),
    }
    return [makers[spec.name]() for spec in problem.results]


def _abstract_eval(*avals: Any, problem: Problem) -> Any:
    return jax.make_jaxpr(functools.partial(_stand_in, problem))(*avals).out_avals


@functools.partial(jax.jit, static_argnames=("primitive", "problem"))
def _compiled(*operands: Any, primitive: Any, problem: Problem) -> Any:
    return primitive.bind(*operands, problem=problem)


def _run(*operands: Any, primitive: Any, problem: Problem) -> Any:
    with jax.disable_jit(False):  # there is no other way to run it
        return _compiled(*operands, primitive=primitive, problem=problem)


def _batch(
    primitive: Any, operands: Any, axes: Any, *, problem: Problem
) -> tuple[list[Array], list[int]]:
    """A mapped axis becomes the minor part of the batch, so that a batch that is
    split over devices stays so."""
    size = next(
        x.shape[axis] for x, axis in zip(operands, axes) if axis is not None
    )
    if size == 0:
        raise ValueError("vmap maps an axis of size 0: expected 1 or more")
    folded = []
    for operand, axis in zip(operands, axes):
        if axis is None:
            shape = (operand.shape[0], size, *operand.shape[1:])
            stacked = jnp.broadcast_to(jnp.expand_dims(operand, 1), shape)
        else:
            stacked = jnp.moveaxis(operand, axis, 1)
        folded.append(jax.lax.collapse(stacked, 0, 2))
    results = primitive.bind(*folded, problem=problem)
    unfolded = [x.reshape(-1, size, *x.shape[1:]) for x in results]
    return unfolded, [1] * len(unfolded)


def attributes(problem: Problem) -> dict[str, Any]:
    """What a custom call says of its op; --uattn-import-stablehlo reads it."""
    operands, results = presence(problem)
    found = {
        "operandSegmentSizes": np.array(operands, np.int32),
        "resultSegmentSizes": np.array(results, np.int32),
        "cap_method": problem.cap.method,
        "cap": np.float32(problem.cap.cap),
        "cap_alpha": np.float32(problem.cap.alpha),
        "cap_beta": np.float32(problem.cap.beta),
        "sm_scale": np.float32(problem.struct().sm_scale),
        "causal": np.bool_(problem.causal),
        "window_len": np.int64(problem.window_len or 0),
        "q_offset": np.int64(problem.q_offset),
    }
    if problem.kind == "backward":
        found["z_loss_weight"] = np.float32(problem.z_loss_weight)
        found["deterministic"] = np.bool_(problem.deterministic)
    return found


def _lower_host(ctx: Any, *operands: Any, problem: Problem) -> Any:
    lower = jax.ffi.ffi_lowering(TARGETS[problem.kind])
    return lower(ctx, *operands, **attributes(problem))


def _lower_cuda(ctx: Any, *operands: Any, problem: Problem) -> Any:
    """As on the host, with the kernels' name and a workspace as last result."""
    name, artifact = artifact_of(problem)
    size = artifact.workspace_bytes([aval.shape for aval in ctx.avals_in])
    results = list(ctx.avals_out)
    if size:
        results.append(jax.core.ShapedArray((size,), np.dtype(np.uint8)))
    lower = jax.ffi.ffi_lowering(TARGETS[problem.kind])
    values = lower(
        ctx.replace(avals_out=results),
        *operands,
        artifact=name,
        **attributes(problem),
    )
    return values[: len(ctx.avals_out)]


def _make_primitives(name: str) -> Any:
    """A primitive for a user's program, which partitions itself, and the custom
    call that each device then runs."""
    call, op = Primitive(f"{name}_call"), Primitive(name)
    for primitive in (call, op):
        primitive.multiple_results = True
        primitive.def_abstract_eval(_abstract_eval)
        primitive.def_impl(functools.partial(_run, primitive=primitive))
        batching.primitive_batchers[primitive] = functools.partial(_batch, primitive)
    mlir.register_lowering(call, _lower_host, platform="cpu")
    mlir.register_lowering(call, _lower_cuda, platform="cuda")
    split = partitioned(call)

    def lower(ctx: Any, *operands: Any, problem: Problem) -> Any:
        if can_partition(ctx):
            run = functools.partial(split, problem)
        else:
            run = functools.partial(call.bind, problem=problem)
        return mlir.lower_fun(run, multiple_results=True)(ctx, *operands)

    mlir.register_lowering(op, lower)
    needs_devices(op)
    return op


_OPS = {
    "forward": _make_primitives("uattn_ranker_attention"),
    "backward": _make_primitives("uattn_ranker_attention_bwd"),
}
