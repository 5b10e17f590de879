"""The operands and attributes of the ops, and what may be wrong with them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import torch

from .._shapes import check_heads, check_shape, known_sizes
from ..problem import Cap, Problem, scale_of

# Operands of the forward op, in its order.
NAMES = ("q", "k", "v", "temp", "bounds", "q_segment_ids", "kv_segment_ids")
# What the backward op takes beside.
BACKWARD_NAMES = (*NAMES, "out", "lse", "dout", "dlse")

# A tensor; None is absent.
Operand: TypeAlias = torch.Tensor | None

SHORT_NAMES = {
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.float32: "f32",
    torch.int32: "i32",
}
_HALVES: tuple[torch.dtype, ...] = (torch.bfloat16, torch.float16)
_DTYPES = {
    "temp": (torch.float32, *_HALVES),
    "bounds": (torch.int32,),
    "q_segment_ids": (torch.int32,),
    "kv_segment_ids": (torch.int32,),
}


class Attributes(NamedTuple):
    """What an op says apart from its operands, as its schema lists it."""

    cap_method: str
    cap: float
    cap_alpha: float
    cap_beta: float
    sm_scale: float | None
    causal: bool
    window_len: int
    q_offset: int
    z_loss_weight: float
    deterministic: bool

    def problem(self, operands: Sequence[Operand]) -> Problem:
        """The forward problem, whose sizes are open, of checked operands."""
        q, _, _, temp, bounds, q_ids, _ = operands
        assert q is not None
        head_dim, dtype = int(q.shape[3]), SHORT_NAMES[q.dtype]
        sm_scale = self.sm_scale
        if dtype == "f32":
            sm_scale = scale_of(sm_scale, head_dim)
            head_dim, dtype = 64, "bf16"
        if self.window_len < 0:
            raise ValueError(
                f"window_len is {self.window_len}: expected 1 or more, or 0 for none"
            )
        return Problem(
            head_dim=head_dim,
            dtype=dtype,
            temp=None if temp is None else SHORT_NAMES[temp.dtype],
            bounds=bounds is not None,
            segment_ids=q_ids is not None,
            lse=True,
            cap=Cap(self.cap_method, self.cap, self.cap_alpha, self.cap_beta),
            sm_scale=sm_scale,
            causal=self.causal,
            window_len=self.window_len or None,
            q_offset=self.q_offset,
        )

    def backward(self, forward: Problem, dlse: bool, dtemp: bool) -> Problem:
        """The backward problem of a forward one."""
        return forward.backward(
            dlse=dlse,
            dtemp=dtemp,
            z_loss_weight=self.z_loss_weight,
            deterministic=self.deterministic,
        )


def check(operands: Sequence[Operand], attributes: Attributes) -> Problem:
    """The forward problem of operands; TypeError or ValueError names the first
    operand or attribute that is wrong.

    Of float32 operands, which no kernel takes, it is that of bfloat16 ones; as
    the CPU code takes any head_dim of them, the problem has one of kernels.
    """
    q, k, v, temp, bounds, q_ids, kv_ids = operands
    assert q is not None
    if (q_ids is None) != (kv_ids is None):
        missing = "q" if q_ids is None else "kv"
        raise TypeError(
            f"{missing}_segment_ids is None: expected both segment ids or neither"
        )
    sizes = known_sizes()
    for name, value in zip(NAMES, operands):
        if value is not None:
            _check_dtype(name, value, q)
            check_shape(name, value.shape, sizes)
            check_device(name, value, q)
    check_heads(sizes)
    problem = attributes.problem(operands)
    # What the backward alone reads is refused by the forward already.
    attributes.backward(problem, dlse=False, dtemp=False)
    return problem


def check_device(name: str, value: torch.Tensor, q: torch.Tensor) -> None:
    if value.device != q.device:
        raise ValueError(
            f"{name} is on {value.device}: expected {q.device}, where q is"
        )


def check_layout(name: str, value: torch.Tensor) -> None:
    if value.layout != torch.strided or value.is_nested:
        found = "nested" if value.is_nested else _text(value.layout)
        raise TypeError(f"{name} has layout {found}: expected strided")


def as_int32(value: torch.Tensor) -> torch.Tensor:
    """Integers of fewer bits than int32 become int32; all else is left for the
    check to name."""
    return value.to(torch.int32) if value.dtype in _SHORT_INTEGERS else value


_SHORT_INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.uint16)


def _check_dtype(name: str, value: torch.Tensor, q: torch.Tensor) -> None:
    why, wanted = "", _HALVES
    if name == "q":
        if value.device.type != "cuda":
            wanted = (*_HALVES, torch.float32)
    elif name in ("k", "v"):
        wanted, why = (q.dtype,), " as q"
    else:
        wanted = _DTYPES[name]
    if value.dtype not in wanted:
        if name == "q" and value.dtype == torch.float32:
            why = "; float32 is for CPU tensors alone"
        raise TypeError(
            f"{name} has dtype {_text(value.dtype)}: expected "
            + " or ".join(map(_text, wanted)) + why
        )


def _text(value: torch.dtype | torch.layout) -> str:
    return str(value).removeprefix("torch.")
