"""The op as users call it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, overload

import torch

from .._checks import expect_int, expect_real
from ..problem import Cap
from ._operands import NAMES, as_int32
from ._ops import FORWARD, call

_Tensor = torch.Tensor
CapLike: TypeAlias = Cap | tuple[str, float, float, float]


@overload
def ranker_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    temp: torch.Tensor | None = ...,
    bounds: torch.Tensor | None = ...,
    q_segment_ids: torch.Tensor | None = ...,
    kv_segment_ids: torch.Tensor | None = ...,
    cap: CapLike = ...,
    sm_scale: float | None = ...,
    causal: bool = ...,
    window_len: int | None = ...,
    q_offset: int = ...,
    z_loss_weight: float = ...,
    deterministic: bool = ...,
    return_lse: Literal[False] = ...,
) -> torch.Tensor: ...


@overload
def ranker_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    temp: torch.Tensor | None = ...,
    bounds: torch.Tensor | None = ...,
    q_segment_ids: torch.Tensor | None = ...,
    kv_segment_ids: torch.Tensor | None = ...,
    cap: CapLike = ...,
    sm_scale: float | None = ...,
    causal: bool = ...,
    window_len: int | None = ...,
    q_offset: int = ...,
    z_loss_weight: float = ...,
    deterministic: bool = ...,
    return_lse: Literal[True],
) -> tuple[torch.Tensor, torch.Tensor]: ...


def ranker_attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    temp: torch.Tensor | None = None,
    bounds: torch.Tensor | None = None,
    q_segment_ids: torch.Tensor | None = None,
    kv_segment_ids: torch.Tensor | None = None,
    cap: CapLike = ("none", 0.0, 0.0, 0.0),
    sm_scale: float | None = None,
    causal: bool = False,
    window_len: int | None = 0,
    q_offset: int = 0,
    z_loss_weight: float = 0.0,
    deterministic: bool = False,
    return_lse: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """`uattn.ranker_attention`: out, as q, or with `return_lse` (out, lse), lse
    float32 (B, H, Q). Differentiable in q, k, v and temp, through both results.

    q is (B, Q, H, D), k and v are (B, KV, H_kv, D), bfloat16 or float16, D of
    64, 128, 192 or 256; CPU tensors may also be float32, with any D. temp
    (B, Q) in float32, bfloat16 or float16; bounds int32 (B, 4) asks for the
    ranker mask; segment ids are int32 (B, Q) and (B, KV), both or neither.
    `cap` is a `uattn.Cap` or its (method, cap, alpha, beta); `sm_scale` (None:
    1 / sqrt(D)), `causal`, `window_len` (None or 0: no window) and `q_offset`
    are those of `uattn.Problem`: another value is another kernel. A row without
    an allowed key gives out 0 and lse -inf.

    With `z_loss_weight` w, gradients are those of a loss that has the term
    w / 2 * sum of lse^2 (over rows with an allowed key) beside what the caller
    made of the results; its value is not returned. `deterministic`, or
    torch.use_deterministic_algorithms, gives the same gradients in every run
    on a GPU.

    TypeError and ValueError name an operand, what was found and what was
    expected. On a GPU tensors are read where they lie: q, k and v need an inner
    stride of 1 and other strides that are multiples of 16 bytes, all others are
    dense; only gradients that arrive otherwise are copied. Under vmap the
    mapped dimension joins the batch, so that an operand without it is repeated.
    Reverse mode alone, once.
    """
    # One expression a group: this runs in every call.
    if not (
        isinstance(q, _Tensor)
        and isinstance(k, _Tensor)
        and isinstance(v, _Tensor)
        and (temp is None or isinstance(temp, _Tensor))
        and (bounds is None or isinstance(bounds, _Tensor))
        and (q_segment_ids is None or isinstance(q_segment_ids, _Tensor))
        and (kv_segment_ids is None or isinstance(kv_segment_ids, _Tensor))
    ):
        _refuse((q, k, v, temp, bounds, q_segment_ids, kv_segment_ids))
    if bounds is not None:
        bounds = as_int32(bounds)
    if q_segment_ids is not None:
        q_segment_ids = as_int32(q_segment_ids)
    if kv_segment_ids is not None:
        kv_segment_ids = as_int32(kv_segment_ids)
    if isinstance(cap, Cap):
        cap = (cap.method, cap.cap, cap.alpha, cap.beta)
    elif not isinstance(cap, tuple) or len(cap) != 4 or not isinstance(cap[0], str):
        raise TypeError(
            f"cap is {cap!r}: expected a uattn.Cap or (method, cap, alpha, beta)"
        )
    if not isinstance(causal, bool):
        raise TypeError(f"causal is {causal!r}: expected True or False")
    if not isinstance(deterministic, bool):
        raise TypeError(f"deterministic is {deterministic!r}: expected True or False")
    if not isinstance(return_lse, bool):
        raise TypeError(f"return_lse is {return_lse!r}: expected True or False")
    method, cap_value, alpha, beta = cap
    if not (
        type(cap_value) is type(alpha) is type(beta) is type(z_loss_weight) is float
        and type(window_len) is type(q_offset) is int
        and -_LIMIT <= window_len < _LIMIT
        and -_LIMIT <= q_offset < _LIMIT
        and (sm_scale is None or type(sm_scale) is float)
    ):
        cap_value, alpha, beta, sm_scale, window_len, q_offset, z_loss_weight = (
            _numbers(
                cap_value, alpha, beta, sm_scale, window_len, q_offset, z_loss_weight
            )
        )
    out, lse = call(
        FORWARD,
        q,
        k,
        v,
        temp,
        bounds,
        q_segment_ids,
        kv_segment_ids,
        method,
        cap_value,
        alpha,
        beta,
        sm_scale,
        causal,
        window_len,
        q_offset,
        z_loss_weight,
        deterministic or torch.are_deterministic_algorithms_enabled(),
    )
    return (out, lse) if return_lse else out


def _refuse(operands: tuple[Any, ...]) -> None:
    for i, (name, operand) in enumerate(zip(NAMES, operands)):
        if not isinstance(operand, torch.Tensor) and (operand is not None or i < 3):
            raise TypeError(
                f"{name} is a {type(operand).__name__}: expected a torch.Tensor"
            )


_LIMIT = 2**63  # of a schema's int
_NUMBERS = ("cap cap", "cap alpha", "cap beta", "sm_scale", "window_len", "q_offset",
            "z_loss_weight")


def _numbers(*values: Any) -> Any:
    """The same as floats and ints of Python; TypeError where one is no number."""
    found: list[Any] = []
    for name, value in zip(_NUMBERS, values):
        if value is None and name == "window_len":
            found.append(0)
        elif name in ("window_len", "q_offset"):
            expect_int(name, value, or_none=False)
            found.append(int(value))
        elif value is None and name == "sm_scale":
            found.append(None)
        else:
            expect_real(name, value)
            found.append(float(value))
    return found
