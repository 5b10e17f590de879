"""Reads where a framework's tensor lies, by the DLPack protocol.

Nothing is copied and nothing is owned: the capsule keeps its tensor alive.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
from collections.abc import Sequence
from typing import Any

from . import _abi, _exchange
from .problem import TensorSpec


class _Versioned(C.Structure):
    _fields_ = [
        ("version", _exchange.Version),
        ("manager_context", C.c_void_p),
        ("deleter", C.c_void_p),
        ("flags", C.c_uint64),
        ("tensor", _exchange.Tensor),
    ]


_DEVICE_TYPES = {1: "cpu", _exchange.CUDA: "cuda", 3: "cuda_host", 10: "rocm", 13: "cuda_managed"}
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
# (code, bits) of the types that kernels take.
_DTYPES = {(4, 16): 0, (2, 16): 1, (2, 32): 2, (0, 32): 3}
_READ_ONLY = 1
_VERSION = (_exchange.MAJOR_VERSION, 0)

_pointer = _exchange.capsule_pointer
_is_valid = C.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = C.c_int, [C.py_object, C.c_char_p]


def _export(tensor: Any, name: str, stream: int) -> Any:
    """The capsule of a tensor; its producer lets `stream` wait for its work."""
    export = getattr(tensor, "__dlpack__", None)
    locate = getattr(tensor, "__dlpack_device__", None)
    if export is None or locate is None:
        raise TypeError(
            f"{name} is a {type(tensor).__name__}: expected a tensor with __dlpack__"
        )
    # Before the capsule, since a producer elsewhere knows no such stream.
    kind, ordinal = locate()
    _check_device(kind, ordinal, name)
    # The protocol writes the default stream, 0 to CUDA, as 1.
    wanted = {"stream": stream or 1}
    try:
        try:
            return export(**wanted, max_version=_VERSION)
        except TypeError:  # a producer from before DLPack 1.0
            return export(**wanted)
    except (BufferError, RuntimeError) as error:
        raise ValueError(f"{name} cannot be had by DLPack: {error}") from error


def _check_device(kind: int, ordinal: int, name: str) -> None:
    if kind != _exchange.CUDA:
        found = _DEVICE_TYPES.get(int(kind), f"of DLPack's type {int(kind)}")
        raise ValueError(
            f"{name} is on device {found}:{ordinal}: expected a cuda device "
            "(uattn.emulate takes host arrays)"
        )


def _read(tensor: Any, name: str, stream: int) -> tuple[_exchange.Tensor, int, Any]:
    """A tensor, its flags, and the capsule that must live as long as both."""
    capsule = _export(tensor, name, stream)
    if not _is_valid(capsule, b"dltensor_versioned"):
        return _exchange.Tensor.from_address(_pointer(capsule, b"dltensor")), 0, capsule
    versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
    if versioned.version.major != _VERSION[0]:
        raise ValueError(f"{name} has DLPack {versioned.version.major}: expected 1")
    return versioned.tensor, versioned.flags, capsule


def _glance(tensor: Any, ordinal: int, stream: int) -> _exchange.Tensor | None:
    """A GPU's tensor by its framework's C interface, in a tenth of the time.
    None where there is no such interface, where `stream` would have to wait for
    another of the framework's, and where a capsule might be refused."""
    kind: Any = type(tensor)
    exchange = _exchange.of(kind)
    if (
        exchange is None
        or getattr(tensor, "requires_grad", True)
        or not getattr(tensor, "is_cuda", False)
        or tensor.is_neg()
        or exchange.current_stream(ordinal) != stream
    ):
        return None
    return exchange.describe(tensor)


def _view(
    tensor: Any, name: str, *, ordinal: int, stream: int, is_written: bool = False
) -> tuple[_exchange.Tensor, Any]:
    """A tensor of the GPU `ordinal`, and what must live as long as it."""
    flags, kept = 0, tensor
    found = _glance(tensor, ordinal, stream)
    if found is None:
        found, flags, kept = _read(tensor, name, stream)
    if is_written and flags & _READ_ONLY:
        raise ValueError(f"{name} is read-only: expected memory that can be written")
    if found.device.device_id != ordinal:
        raise ValueError(
            f"{name} is on device cuda:{found.device.device_id}: expected "
            f"cuda:{ordinal}, the program's"
        )
    return found, kept


def borrow(
    tensor: Any, name: str, *, ordinal: int, stream: int, is_written: bool
) -> tuple[_abi.Tensor, Any]:
    """The library's form of a GPU tensor, and what must live as long as it is
    used."""
    found, kept = _view(
        tensor, name, ordinal=ordinal, stream=stream, is_written=is_written
    )
    return _describe(found, name), kept


def borrow_all(
    tensors: Sequence[Any],
    specs: Sequence[TensorSpec],
    what: str,
    *,
    ordinal: int,
    stream: int,
    is_written: bool,
) -> tuple[Any, list[Any]]:
    """The library's forms of "arguments" or "results", checked against what a
    function says of them, and their capsules."""
    if len(tensors) != len(specs):
        raise TypeError(
            f"{len(tensors)} {what} are given: expected "
            + ", ".join(spec.name for spec in specs)
        )
    found, capsules = (_abi.Tensor * len(specs))(), []
    for position, (tensor, spec) in enumerate(zip(tensors, specs)):
        found[position], capsule = borrow(
            tensor, spec.name, ordinal=ordinal, stream=stream, is_written=is_written
        )
        capsules.append(capsule)
        dtype = _abi.DTYPES[found[position].dtype]
        if dtype != spec.dtype:
            raise TypeError(f"{spec.name} has dtype {dtype}: expected {spec.dtype}")
    return found, capsules


def _describe(found: _exchange.Tensor, name: str) -> _abi.Tensor:
    kind = found.dtype
    dtype = _DTYPES.get((kind.code, kind.bits))
    if dtype is None or kind.lanes != 1:
        text = f"{_CODES.get(kind.code, kind.code)}{kind.bits}"
        if kind.lanes != 1:
            text += f"x{kind.lanes}"
        raise TypeError(
            f"{name} has dtype {text}: expected bfloat16, float16, float32 or int32"
        )
    rank = found.ndim
    if rank > 4:
        raise ValueError(f"{name} has rank {rank}: expected at most 4")
    data = (found.data or 0) + found.byte_offset
    tensor = _abi.Tensor(data=data, dtype=dtype, rank=rank)
    tensor.shape[:rank] = found.shape[:rank]
    if found.strides:
        tensor.strides[:rank] = found.strides[:rank]
    else:  # dense, in C order
        stride = 1
        for axis in reversed(range(rank)):
            tensor.strides[axis] = stride
            stride *= tensor.shape[axis]
    return tensor


def borrow_bytes(tensor: Any, name: str, *, ordinal: int, stream: int) -> Any:
    """(address, bytes, what must live as long) of a dense GPU tensor of any
    type."""
    found, kept = _view(tensor, name, ordinal=ordinal, stream=stream)
    count = 1
    for axis in reversed(range(found.ndim)):
        size = found.shape[axis]
        if found.strides and size != 1 and found.strides[axis] != count:
            raise ValueError(f"{name} is not dense: expected C order without gaps")
        count *= size
    size = count * found.dtype.bits * found.dtype.lanes // 8
    return (found.data or 0) + found.byte_offset, size, kept
