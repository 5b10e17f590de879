"""Axes of shard_map over which values vary from device to device.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp


def align(operands: Sequence[Any]) -> list[Any]:
    """The same, each varying over every axis that any of them varies over; None
    stays None. Gradients of an operand that did not vary over an axis are thus
    summed over it."""
    axes = [frozenset() if x is None else varying_axes(x) for x in operands]
    every = frozenset[Any]().union(*axes)
    return [
        x if x is None or own == every else vary(x, tuple(sorted(every - own)))
        for x, own in zip(operands, axes)
    ]


def varying_axes(operand: Any) -> frozenset[Any]:
    """None outside shard_map, and where it does not check them."""
    aval = jax.typeof(operand)
    manual = getattr(aval, "mat", None)
    found = getattr(aval, "vma", None) if manual is None else manual.varying
    return found or frozenset()


def vary(x: Any, axes: tuple[str, ...]) -> Any:
    """A copy on each device of the axes; gradients of the copies are summed in
    float32."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return jax.lax.pcast(x, axes, to="varying")
    wide = jax.lax.pcast(x.astype(jnp.float32), axes, to="varying")
    return wide.astype(x.dtype)
