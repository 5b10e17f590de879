"""Tensor maps as Triton's launcher takes them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

from triton.runtime import driver

from .. import _abi

# CUtensorMapDataType and the bytes of an element.
_ELEMENTS = {"bf16": (9, 2), "f16": (6, 2), "f32": (7, 4), "i32": (3, 4)}
_SWIZZLE_128B = 3
_ZEROS_OUTSIDE = 0


def tensor_map(description: _abi.MapDescription) -> Any:
    """The CUtensorMap of a description, in the object that Triton's launcher
    copies a parameter of type nvTmaDesc from.

    Triton's utility asks for what ours are: tiled, not interleaved, element
    strides of 1. It promotes to 128 bytes in L2 where the runtime has 256,
    which no result depends on. It takes dimensions outermost first.
    """
    utils = driver.active.utils
    # Triton 3.7 has one utility a kind of map.
    fill = getattr(utils, "fill_tma_descriptor_tiled", None)
    if fill is None:
        fill = utils.fill_tma_descriptor
    element_type, element_bytes = _ELEMENTS[_abi.DTYPES[description.dtype]]
    strides = [size // element_bytes for size in reversed(description.stride_bytes)]
    return fill(
        description.data or 0,
        _SWIZZLE_128B,
        element_bytes,
        element_type,
        list(reversed(description.box)),
        list(reversed(description.sizes)),
        [*strides, 1],
        _ZEROS_OUTSIDE,
    )
