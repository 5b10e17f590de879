"""The op under the signature that rankers know it by.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from .._checks import expect_int, expect_one_of, expect_real
from .. import _abi
from ..problem import Cap
from ._attention import ranker_attention
from ._operands import check_devices
from ._segments import bounds_from_segment_ids


@dataclasses.dataclass(frozen=True)
class CapParams:
    """Parameters of a cap; a method reads those that it has."""

    cap: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("cap", "alpha", "beta"):
            expect_real(f"cap_params {name}", getattr(self, name))


_READS = {
    "none": (),
    "tanh": ("cap",),
    "soft_sign": ("cap",),
    "alsc": ("cap", "alpha", "beta"),
}
_HINTS = ("block_q", "block_kv", "block_q_bwd", "block_kv_bwd")


@dataclasses.dataclass(frozen=True, kw_only=True)
class KernelConfig:
    """What a call asks for beside its tensors. Hashable: static under jit."""

    cap_method: str = "none"
    """"none", "tanh", "soft_sign" or "alsc"; see uattn.Cap for the formulas."""
    cap_params: CapParams = CapParams()
    sm_scale: float | None = None
    """None: 1 / sqrt(D)."""
    causal: bool = False
    window_len: int | None = None
    """A query sees the last window_len positions; None or 0: all."""
    z_loss_weight: float = 0.0
    """w: gradients are those of a loss with the term w / 2 * sum of lse^2."""
    deterministic: bool = False
    """The same gradients in every run on a GPU."""
    block_q: int | None = None
    """Block sizes are hints: results do not depend on them, and uattn's own
    cost model chooses tiles; `uattn.compile(...).plan()` tells which."""
    block_kv: int | None = None
    block_q_bwd: int | None = None
    block_kv_bwd: int | None = None

    def __post_init__(self) -> None:
        expect_one_of("cap_method", self.cap_method, _abi.CAP_METHODS)
        if not isinstance(self.cap_params, CapParams):
            raise TypeError(
                f"cap_params is {self.cap_params!r}: expected uattn.jax.CapParams"
            )
        expect_int("window_len", self.window_len, or_none=True)
        for name in _HINTS:
            value = getattr(self, name)
            expect_int(name, value, or_none=True)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}: expected 1 or more")

    def cap(self) -> Cap:
        """The cap of uattn: parameters that the method does not read are 0."""
        read = _READS[self.cap_method]
        values = {name: getattr(self.cap_params, name) for name in read}
        return Cap(self.cap_method, **values)


def unified_attention(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    temp: jax.Array | None,
    segment_ids: jax.Array | None,
    config: KernelConfig = KernelConfig(),
) -> jax.Array:
    """Ranker attention: out (B, Q, H, D), as q. Differentiable in q, k, v, temp.

    q is (B, Q, H, D), k and v are (B, KV, H_kv, D), bfloat16 or float16; temp
    (B, Q) or (B, Q, 1), float32, bfloat16 or float16, multiplies the capped
    logits of a query, or is None. segment_ids (B, Q), with Q = KV, in
    {1 history, -1 candidate, 0 padding}, ask for the ranker mask: history is
    seen by history and candidates, a candidate by itself alone, padding by
    nobody; None: no such mask. Ids of a kind stand together; see
    `bounds_from_segment_ids` for when that is checked.
    """
    if not isinstance(config, KernelConfig):
        raise TypeError(f"config is {config!r}: expected a uattn.jax.KernelConfig")
    bounds = None
    if segment_ids is not None:
        bounds = bounds_from_segment_ids(segment_ids)
        _check_tokens(q, k, segment_ids)
        check_devices({"q": q, "segment_ids": segment_ids})
    if temp is not None and getattr(temp, "ndim", None) == 3:
        if temp.shape[2] != 1:
            raise ValueError(
                f"temp has shape {temp.shape}: expected (B, Q) or (B, Q, 1)"
            )
        temp = temp[..., 0]
    out, _ = ranker_attention(
        q,
        k,
        v,
        temp,
        bounds,
        cap=config.cap(),
        sm_scale=config.sm_scale,
        causal=config.causal,
        window_len=config.window_len or None,
        z_loss_weight=config.z_loss_weight,
        deterministic=config.deterministic,
    )
    return out


def _check_tokens(q: Any, k: Any, segment_ids: Any) -> None:
    for name, tensor in (("q", q), ("k", k)):
        shape = getattr(tensor, "shape", ())
        if len(shape) == 4 and shape[:2] != segment_ids.shape:
            raise ValueError(
                f"segment_ids has shape {segment_ids.shape}: expected "
                f"{tuple(shape[:2])}, as {name} has (B, tokens); "
                "uattn.jax.ranker_attention takes bounds of another q_offset"
            )
