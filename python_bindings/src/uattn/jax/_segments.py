"""Bounds of the ranker mask from the segment ids of each token.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .._segments import KINDS, check_contiguous_ids, check_shape


def bounds_from_segment_ids(segment_ids: Any) -> jax.Array:
    """The operand bounds, int32 (B, 4), of segment ids (B, S) in {1 history,
    -1 candidate, 0 padding}: the first index and the last index + 1 of each
    kind, (0, 0) where there is none. Computed on the device that has the ids,
    in the program that uses the bounds.

    Ids of one kind are expected without another kind between them. Where the
    values are known (outside jit) others raise ValueError, as
    `check_segment_ids` does; under jit the bounds take in whatever stands
    between the first and the last.
    """
    _check_type(segment_ids)
    if not isinstance(segment_ids, jax.core.Tracer):
        check_segment_ids(segment_ids)
    ids = jnp.asarray(segment_ids)
    position = jnp.arange(ids.shape[1], dtype=jnp.int32)
    bounds = []
    for kind in KINDS.values():
        is_kind = ids == kind
        lower = jnp.min(jnp.where(is_kind, position, ids.shape[1]), axis=1)
        upper = jnp.max(jnp.where(is_kind, position + 1, 0), axis=1)
        bounds += [jnp.where(upper > 0, lower, 0), upper]
    return jnp.stack(bounds, axis=1).astype(jnp.int32)


def check_segment_ids(segment_ids: Any) -> None:
    """Raises ValueError where ids (B, S) are not of {1, -1, 0}, or those of a
    kind do not stand together. Waits for the values."""
    _check_type(segment_ids)
    check_contiguous_ids(np.asarray(segment_ids))


def _check_type(segment_ids: Any) -> None:
    if not isinstance(segment_ids, (jax.Array, np.ndarray)):
        raise TypeError(
            f"segment_ids is a {type(segment_ids).__name__}: expected a jax array"
        )
    if np.dtype(segment_ids.dtype).kind != "i":
        raise TypeError(
            f"segment_ids has dtype {segment_ids.dtype}: expected a signed integer "
            "type"
        )
    check_shape(segment_ids.shape)
