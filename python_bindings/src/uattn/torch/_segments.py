"""Bounds of the ranker mask from the segment ids of each token.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import torch

from .._segments import KINDS, check_contiguous_ids, check_shape
from ._operands import check_layout


def bounds_from_segment_ids(
    segment_ids: torch.Tensor, *, check: bool | None = None
) -> torch.Tensor:
    """The operand bounds, int32 (B, 4), of segment ids (B, S) in {1 history,
    -1 candidate, 0 padding}: the first index and the last index + 1 of each
    kind, (0, 0) where there is none. Computed on the device that has the ids.

    Ids of one kind are expected without another kind between them; else the
    bounds take in whatever stands between the first and the last. `check` says
    whether such ids raise ValueError, as from `check_segment_ids`, which waits
    for the values: None checks tensors of the CPU where they have values, which
    they have not inside torch.compile and under torch.func, say.
    """
    _check_type(segment_ids)
    if check is not None and not isinstance(check, bool):
        raise TypeError(f"check is {check!r}: expected True, False or None")
    has_values = _has_values(segment_ids)
    if check and not has_values:
        raise ValueError(
            "check is True where segment_ids has no values (inside torch.compile, "
            "under torch.func, on device meta, of a DTensor): expected None or False"
        )
    if check is None:
        check = segment_ids.device.type == "cpu" and has_values
    if check:
        check_segment_ids(segment_ids)
    tokens = segment_ids.shape[1]
    # By an op on the ids, so that it lies as they do where they are a DTensor.
    position = torch.ones_like(segment_ids, dtype=torch.int32).cumsum(1) - 1
    bounds = []
    for kind in KINDS.values():
        is_kind = segment_ids == kind
        lower = torch.where(is_kind, position, tokens).amin(1)
        upper = torch.where(is_kind, position + 1, 0).amax(1)
        bounds += [torch.where(upper > 0, lower, 0), upper]
    return torch.stack(bounds, dim=1).to(torch.int32)


def check_segment_ids(segment_ids: torch.Tensor) -> None:
    """Raises ValueError where ids (B, S) are not of {1, -1, 0}, or those of a
    kind do not stand together. Waits for the values."""
    _check_type(segment_ids)
    check_contiguous_ids(segment_ids.detach().cpu().numpy())


def _has_values(segment_ids: torch.Tensor) -> bool:
    """Whether numpy may see them."""
    return not (
        torch.compiler.is_compiling()
        or torch._C._are_functorch_transforms_active()
        or segment_ids.is_meta
        or torch._is_functional_tensor(segment_ids)
        # Of subclasses that see ops, such as fake tensors and DTensors.
        or torch._C._dispatch_keys(segment_ids).has(torch._C.DispatchKey.Python)
    )


def _check_type(segment_ids: Any) -> None:
    if not isinstance(segment_ids, torch.Tensor):
        raise TypeError(
            f"segment_ids is a {type(segment_ids).__name__}: expected a torch.Tensor"
        )
    check_layout("segment_ids", segment_ids)
    if segment_ids.dtype not in _SIGNED:
        dtype = str(segment_ids.dtype).removeprefix("torch.")
        raise TypeError(
            f"segment_ids has dtype {dtype}: expected a signed integer type"
        )
    check_shape(tuple(segment_ids.shape))


_SIGNED = (torch.int8, torch.int16, torch.int32, torch.int64)
