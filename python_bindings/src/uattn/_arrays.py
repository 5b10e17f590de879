"""Host arrays: numpy's types for the op's, and what is wrong with an array.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _abi
from .problem import TensorSpec

try:
    import ml_dtypes

    _BFLOAT16: np.dtype[Any] | None = np.dtype(ml_dtypes.bfloat16)
except ImportError:
    _BFLOAT16 = None

Array = np.ndarray[Any, np.dtype[Any]]

# bf16 has no type of numpy's own: its bits as uint16, or ml_dtypes' bfloat16.
NUMPY_DTYPES: dict[str, np.dtype[Any]] = {
    "bf16": np.dtype(np.uint16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "i32": np.dtype(np.int32),
}


def to_bf16(values: Any) -> Array:
    """Rounds numbers to bf16, to nearest, ties to even; the bits as uint16."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    quiet = (bits >> 16) | 0x40
    return np.where(is_nan, quiet, rounded).astype(np.uint16)


def from_bf16(bits: Any) -> Array:
    """The numbers of bf16 bits (uint16, or ml_dtypes' bfloat16), as float32."""
    array = np.ascontiguousarray(bits)
    if array.dtype != np.uint16 and array.dtype != _BFLOAT16:
        raise TypeError(f"bits has dtype {array.dtype}: expected uint16 or bfloat16")
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def check_array(array: Any, spec: TensorSpec) -> Array:
    """`array` itself, once its type and shape are those of `spec`."""
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"{spec.name} is a {type(array).__name__}: expected a numpy array"
        )
    wanted = NUMPY_DTYPES[spec.dtype]
    is_bfloat16 = spec.dtype == "bf16" and array.dtype == _BFLOAT16
    if array.dtype != wanted and not is_bfloat16:
        also = " (bits of bf16) or bfloat16" if spec.dtype == "bf16" else ""
        raise TypeError(
            f"{spec.name} has dtype {array.dtype}: expected {wanted}{also}"
        )
    if array.ndim != len(spec.shape):
        raise ValueError(
            f"{spec.name} has rank {array.ndim}: expected {len(spec.shape)}"
        )
    for axis, (found, size) in enumerate(zip(array.shape, spec.shape)):
        if size is not None and found != size:
            raise ValueError(
                f"{spec.name} has {found} in dimension {axis}: expected {size}"
            )
    return array


def values_of(array: Array, spec: TensorSpec) -> Array:
    """The numbers of a checked array, dense: float32, or int32 where the type
    is i32."""
    if spec.dtype == "bf16":
        return from_bf16(array)
    wanted = np.int32 if spec.dtype == "i32" else np.float32
    return np.ascontiguousarray(array, dtype=wanted)


def describe(array: Array, dtype: str, name: str) -> _abi.Tensor:
    """The library's form of an array, whose memory it borrows."""
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        raise ValueError(
            f"{name} has strides of {array.strides} bytes: expected multiples of "
            f"{size}"
        )
    tensor = _abi.Tensor(
        data=array.ctypes.data, dtype=_abi.DTYPES.index(dtype), rank=array.ndim
    )
    tensor.shape[: array.ndim] = array.shape
    tensor.strides[: array.ndim] = [stride // size for stride in array.strides]
    return tensor
