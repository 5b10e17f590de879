"""The op with its derivatives.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ..problem import Cap, Problem
from ._manual_axes import align
from ._operands import Operands, check_operands
from ._primitive import call_op

Array: TypeAlias = jax.Array


@dataclasses.dataclass(frozen=True)
class Attributes:
    """What the op says apart from its operands; static under jit."""

    cap: Cap
    sm_scale: float | None
    causal: bool
    window_len: int | None
    q_offset: int
    z_loss_weight: float
    deterministic: bool

    def check(self, operands: Operands) -> None:
        """Refuses, before any tracing, what the op refuses."""
        self.forward(operands, lse=True).backward(
            z_loss_weight=self.z_loss_weight, deterministic=self.deterministic
        )

    def forward(self, operands: Operands, lse: bool) -> Problem:
        """The problem of operands that have been checked."""
        q, temp = operands.q, operands.temp
        return Problem(
            head_dim=q.shape[3],
            dtype=_NAMES[q.dtype.name],
            temp=None if temp is None else _NAMES[temp.dtype.name],
            bounds=operands.bounds is not None,
            segment_ids=operands.q_segment_ids is not None,
            lse=lse,
            cap=self.cap,
            sm_scale=self.sm_scale,
            causal=self.causal,
            window_len=self.window_len,
            q_offset=self.q_offset,
        )


_NAMES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


def ranker_attention(
    q: Array,
    k: Array,
    v: Array,
    temp: Array | None = None,
    bounds: Array | None = None,
    q_segment_ids: Array | None = None,
    kv_segment_ids: Array | None = None,
    *,
    cap: Cap = Cap(),
    sm_scale: float | None = None,
    causal: bool = False,
    window_len: int | None = None,
    q_offset: int = 0,
    z_loss_weight: float = 0.0,
    deterministic: bool = False,
) -> tuple[Array, Array]:
    """`uattn.ranker_attention` and its lse: (out, lse), out as q and lse
    float32 (B, H, Q). Differentiable in q, k, v and temp, through both results.

    q is (B, Q, H, D), k and v are (B, KV, H_kv, D), bfloat16 or float16, D of
    64, 128, 192 or 256; temp (B, Q) in float32, bfloat16 or float16; bounds
    int32 (B, 4) asks for the ranker mask; segment ids are int32 (B, Q) and
    (B, KV), both or neither. `cap`, `sm_scale` (None: 1 / sqrt(D)), `causal`,
    `window_len` and `q_offset` are those of `uattn.Problem` and, as all keyword
    arguments, static. A row without an allowed key gives out 0 and lse -inf.

    With `z_loss_weight` w, gradients are those of a loss that has the term
    w / 2 * sum of lse^2 (over rows with an allowed key) beside what the caller
    made of the results; its value is not returned. `deterministic` gives the
    same gradients in every run on a GPU.

    TypeError and ValueError name an operand, what was found and what was
    expected. Under vmap the mapped axis joins the batch, so that an operand
    without it is repeated. Reverse mode alone, once.
    """
    attributes = Attributes(
        cap,
        sm_scale,
        causal,
        window_len,
        q_offset,
        z_loss_weight,
        deterministic,
    )
    operands = check_operands(
        Operands(q, k, v, temp, bounds, q_segment_ids, kv_segment_ids)
    )
    attributes.check(operands)
    out, lse = _attend_jitted(attributes, *align(operands))
    return out, lse


@functools.partial(jax.jit, static_argnums=0)
def _attend_jitted(
    attributes: Attributes, *operands: Array | None
) -> tuple[Array, Array]:
    """Of its own, since shard_map outside jit cannot run a custom_vjp that asks
    which gradients are wanted."""
    return _attend(attributes, *operands)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(attributes: Attributes, *operands: Array | None) -> tuple[Array, Array]:
    given = Operands(*operands)
    out, lse = call_op(attributes.forward(given, lse=True), given.present())
    return out, lse


def _attend_forward(attributes: Attributes, *primals: Any) -> Any:
    """Each primal says whether a gradient of it is wanted."""
    values = [None if primal is None else primal.value for primal in primals]
    operands = Operands(*values)
    out, lse = _attend(attributes, *operands)
    temp = primals[3]
    wants_dtemp = temp is not None and temp.perturbed
    return (out, lse), (operands, out, lse, _Flag(wants_dtemp))


def _attend_backward(attributes: Attributes, kept: Any, cotangents: Any) -> Any:
    operands, out, lse, wants_dtemp = kept
    dout, dlse = cotangents
    if isinstance(dout, SymbolicZero):
        dout = jnp.zeros_like(out)
    if isinstance(dlse, SymbolicZero):
        dlse = None
    problem = attributes.forward(operands, lse=False).backward(
        dlse=dlse is not None,
        dtemp=bool(wants_dtemp),
        z_loss_weight=attributes.z_loss_weight,
        deterministic=attributes.deterministic,
    )
    given = [*operands.present(), out, lse, dout]
    if dlse is not None:
        given.append(dlse)
    dq, dk, dv, *rest = call_op(problem, given)
    dtemp = rest[0].astype(operands.temp.dtype) if rest else None
    return dq, dk, dv, dtemp, None, None, None


_attend.defvjp(_attend_forward, _attend_backward, symbolic_zeros=True)


@jax.tree_util.register_static
@dataclasses.dataclass(frozen=True)
class _Flag:
    """A bool that is a part of a tree's structure, not a value of it."""

    value: bool

    def __bool__(self) -> bool:
        return self.value
