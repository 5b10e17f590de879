"""Attention to keys that are split over devices.

Each device attends to its own keys; the partial results p are merged through
their lse:

    lse = log sum_p exp(lse_p)        out = sum_p exp(lse_p - lse) out_p

Gradients follow from that formula and those of the parts, lse_p's among them.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp

from ..problem import Cap, scale_of
from ._attention import Attributes, ranker_attention
from ._caps import apply_cap
from ._manual_axes import vary, varying_axes
from ._operands import Operands, check_operands

Array: TypeAlias = jax.Array
_SPLIT = ("k", "v", "kv_segment_ids")


def context_parallel_attention(
    q: Array,
    k: Array,
    v: Array,
    temp: Array | None = None,
    bounds: Array | None = None,
    q_segment_ids: Array | None = None,
    kv_segment_ids: Array | None = None,
    *,
    axis_name: str,
    cap: Cap = Cap(),
    sm_scale: float | None = None,
    causal: bool = False,
    window_len: int | None = None,
    q_offset: int = 0,
    z_loss_weight: float = 0.0,
    deterministic: bool = False,
) -> tuple[Array, Array]:
    """`ranker_attention` inside shard_map, where device d of the mesh axis
    `axis_name` holds keys d * T to (d + 1) * T - 1 of a history that is too
    long for one: k, v and kv_segment_ids are its T, all other operands are the
    whole ones and the same on every device, and so are out and lse. Positions
    (bounds, causal, window_len, q_offset) count over all keys. shard_map has to
    check what varies over the axis (check_vma, its default).

    Communicates one all-reduce of out in float32 and two of lse, and one of
    q's and temp's gradients in float32. A mesh axis of n devices compiles n
    kernels where causal or window_len is given, whose offsets differ.
    """
    operands = check_operands(
        Operands(q, k, v, temp, bounds, q_segment_ids, kv_segment_ids)
    )
    Attributes(
        cap, sm_scale, causal, window_len, q_offset, z_loss_weight, deterministic
    ).check(operands)
    last_key = k.shape[1] * _axis_size(axis_name)
    if bounds is not None and not -(2**31) + last_key <= q_offset < 2**31 - q.shape[1]:
        raise ValueError(
            f"q_offset is {q_offset}: expected positions and their differences to "
            "fit 32 bits"
        )
    _check_axes(operands, axis_name)
    local = _own_copies(operands, axis_name)
    attend = functools.partial(
        _attend_at,
        cap=cap,
        sm_scale=sm_scale,
        deterministic=deterministic,
        causal=causal,
        window_len=window_len,
        first_row=q_offset,
        axis_name=axis_name,
    )
    if bounds is None:
        parts = [attend(local)]
    else:
        first_key = jax.lax.axis_index(axis_name) * k.shape[1]
        parts = [
            attend(_history(local, q_offset, first_key)),
            _attend_to_itself(local, q_offset, first_key, cap, sm_scale),
        ]
    out, lse = _merge(parts, axis_name)
    out, lse = _with_z_loss(z_loss_weight, out, lse)
    return out.astype(q.dtype), lse


def _axis_size(axis_name: Any) -> int:
    if not isinstance(axis_name, str):
        raise TypeError(f"axis_name is {axis_name!r}: expected the name of one axis")
    try:
        return int(jax.lax.axis_size(axis_name))
    except NameError:
        raise ValueError(
            f"axis_name is {axis_name!r}: expected an axis of the shard_map that "
            "this is called in"
        ) from None


def _check_axes(operands: Operands, axis_name: str) -> None:
    """What shard_map knows of the operands decides how gradients are summed."""
    if axis_name not in varying_axes(jax.lax.axis_index(axis_name)):
        raise ValueError(
            f"axis_name is {axis_name!r}, over which nothing is known to vary: "
            "expected shard_map with check_vma=True"
        )
    for name, operand in operands._asdict().items():
        if operand is None:
            continue
        is_split = axis_name in varying_axes(operand)
        if is_split and name not in _SPLIT:
            raise ValueError(
                f"{name} varies over {axis_name!r}: expected the whole operand, the "
                "same on every device"
            )
        if not is_split and name in _SPLIT:
            raise ValueError(
                f"{name} is the same on every device of {axis_name!r}: expected each "
                "one's part"
            )


def _own_copies(operands: Operands, axis_name: str) -> Operands:
    """Of what is the same on every device: gradients of the copies are summed,
    in float32."""

    temp = operands.temp
    return operands._replace(
        q=vary(operands.q, (axis_name,)),
        temp=None if temp is None else vary(temp, (axis_name,)),
    )


def _attend_at(
    operands: Operands, *, first_row: int, axis_name: str, **attributes: Any
) -> tuple[Array, Array]:
    """To this device's keys, which begin at a position of their own."""
    tokens = operands.k.shape[1]

    def attend(device: int, *given: Any) -> tuple[Array, Array]:
        out, lse = ranker_attention(
            *given, q_offset=first_row - device * tokens, **attributes
        )
        return out.astype(jnp.float32), lse

    if not attributes["causal"] and attributes["window_len"] is None:
        return attend(0, *operands)  # positions do not matter
    devices = range(jax.lax.axis_size(axis_name))
    branches = [functools.partial(attend, device) for device in devices]
    found: tuple[Array, Array] = jax.lax.switch(
        jax.lax.axis_index(axis_name), branches, *operands
    )
    return found


def _is_in(position: Array, bounds: Array, kind: int) -> Array:
    """(B, positions): whether positions are in the history (kind 0) or among
    the candidates (kind 1)."""
    lower, upper = bounds[:, 2 * kind, None], bounds[:, 2 * kind + 1, None]
    return (position >= 0) & (position >= lower) & (position < upper)


def _rows(operands: Operands, first_row: int) -> Array:
    return first_row + jnp.arange(operands.q.shape[1], dtype=jnp.int32)


def _history(operands: Operands, first_row: int, first_key: Array) -> Operands:
    """What the ranker mask lets rows see of the history, said by segment ids:
    those stand where bounds, which speak of all keys, cannot."""
    bounds, rows = operands.bounds, _rows(operands, first_row)
    keys = first_key + jnp.arange(operands.k.shape[1], dtype=jnp.int32)
    is_row = _is_in(rows, bounds, 0) | _is_in(rows, bounds, 1)
    is_key = _is_in(keys, bounds, 0)
    q_ids, kv_ids = operands.q_segment_ids, operands.kv_segment_ids
    if q_ids is None:
        q_ids = jnp.zeros(is_row.shape, jnp.int32)
        kv_ids = jnp.zeros(is_key.shape, jnp.int32)
    kv_ids = jnp.where(is_key, kv_ids, _fresh_id(q_ids))
    q_ids = jnp.where(is_row, q_ids, _fresh_id(kv_ids))
    return operands._replace(
        # Numbers of rows outside, NaN perhaps, must not reach any other.
        q=_only(is_row, operands.q),
        k=_only(is_key, operands.k),
        v=_only(is_key, operands.v),
        temp=None if operands.temp is None else _only(is_row, operands.temp),
        bounds=None,
        q_segment_ids=q_ids,
        kv_segment_ids=kv_ids,
    )


def _only(is_kept: Array, x: Array) -> Array:
    axes = tuple(range(is_kept.ndim, x.ndim))
    return jnp.where(jnp.expand_dims(is_kept, axes), x, jnp.zeros((), x.dtype))


def _fresh_id(ids: Array) -> Array:
    """An id that is not among `ids`: after the largest, before the least, or,
    where both are the ends of int32, in the first gap."""
    ascending = jnp.sort(ids.ravel())
    least, largest = ascending[0], ascending[-1]
    before, after = ascending[:-1], ascending[1:]
    has_gap = (before != after) & (before + 1 != after)
    in_gap = ascending[jnp.argmax(has_gap)] + 1 if has_gap.size else largest
    limits = jnp.iinfo(jnp.int32)
    outside = jnp.where(largest < limits.max, largest + 1, least - 1)
    is_full = (largest == limits.max) & (least == limits.min)
    return jnp.where(is_full, in_gap, outside)


def _attend_to_itself(
    operands: Operands,
    first_row: int,
    first_key: Array,
    cap: Cap,
    sm_scale: float | None,
) -> tuple[Array, Array]:
    """What candidates see beside the history: a row its own key, on the device
    that has it."""
    q, k, v, temp, bounds, q_ids, kv_ids = operands
    batch, q_tokens, heads, head_dim = q.shape
    kv_heads = k.shape[2]
    rows = _rows(operands, first_row)
    index = rows - first_key
    is_here = (index >= 0) & (index < k.shape[1])
    index = jnp.clip(index, 0, k.shape[1] - 1)
    sees = is_here & _is_in(rows, bounds, 1) & ~_is_in(rows, bounds, 0)
    if q_ids is not None:
        sees &= q_ids == kv_ids[:, index]
    q, own_k, own_v = (
        _only(sees, x).astype(jnp.float32) for x in (q, k[:, index], v[:, index])
    )
    grouped = q.reshape(batch, q_tokens, kv_heads, heads // kv_heads, head_dim)
    scale = scale_of(sm_scale, head_dim)
    logits = jnp.einsum("bskgd,bskd->bkgs", grouped, own_k, precision="highest")
    logits = apply_cap(cap, scale * logits)
    if temp is not None:
        logits *= _only(sees, temp).astype(jnp.float32)[:, None, None, :]
    lse = jnp.where(sees[:, None, None, :], logits, -jnp.inf)
    out = jnp.broadcast_to(own_v[:, :, :, None], grouped.shape)
    return out.reshape(q.shape), lse.reshape(batch, heads, q_tokens)


def _merge(
    parts: list[tuple[Array, Array]], axis_name: str
) -> tuple[Array, Array]:
    tops = [jax.lax.stop_gradient(lse) for _, lse in parts]
    top = jax.lax.pmax(functools.reduce(jnp.maximum, tops), axis_name)
    top = jnp.where(jnp.isneginf(top), 0.0, top)
    weights = [_weight(lse, top) for _, lse in parts]
    total = jax.lax.psum(sum(weights), axis_name)
    out = sum(_by_row(w) * out for w, (out, _) in zip(weights, parts))
    out = jax.lax.psum(out, axis_name)
    is_empty = total == 0
    total = jnp.where(is_empty, 1.0, total)
    lse = jnp.where(is_empty, -jnp.inf, top + jnp.log(total))
    return out / _by_row(total), lse


def _weight(lse: Array, top: Array) -> Array:
    is_empty = jnp.isneginf(lse)
    return jnp.where(is_empty, 0.0, jnp.exp(jnp.where(is_empty, 0.0, lse) - top))


def _by_row(x: Array) -> Array:
    """(B, H, Q) beside (B, Q, H, D)."""
    return jnp.swapaxes(x, 1, 2)[..., None]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _with_z_loss(weight: float, out: Array, lse: Array) -> tuple[Array, Array]:
    """The same; the loss has the term weight / 2 * sum of lse^2 beside."""
    return out, lse


def _with_z_loss_forward(weight: float, out: Array, lse: Array) -> Any:
    return (out, lse), lse


def _with_z_loss_backward(weight: float, lse: Array, cotangents: Any) -> Any:
    dout, dlse = cotangents
    return dout, dlse + weight * jnp.where(jnp.isneginf(lse), 0.0, lse)


_with_z_loss.defvjp(_with_z_loss_forward, _with_z_loss_backward)
