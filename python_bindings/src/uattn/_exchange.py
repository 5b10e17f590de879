"""DLPack's C exchange interface (1.3): a framework's functions that say what
its tensors are without making a capsule of each.

Mirrors include/uattn/exchange.h and the interface's documentation.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import functools
from typing import Any


class Device(C.Structure):
    _fields_ = [("device_type", C.c_int32), ("device_id", C.c_int32)]


class DataType(C.Structure):
    _fields_ = [("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16)]


class Tensor(C.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", C.c_void_p),
        ("device", Device),
        ("ndim", C.c_int32),
        ("dtype", DataType),
        ("shape", C.POINTER(C.c_int64)),
        ("strides", C.POINTER(C.c_int64)),
        ("byte_offset", C.c_uint64),
    ]


class Version(C.Structure):
    _fields_ = [("major", C.c_uint32), ("minor", C.c_uint32)]


class _Api(C.Structure):
    """DLPackExchangeAPI."""

    _fields_ = [
        ("version", Version),
        ("older", C.c_void_p),
        ("allocate", C.c_void_p),
        ("export_managed", C.c_void_p),
        ("import_managed", C.c_void_p),
        ("describe", C.c_void_p),
        ("current_stream", C.c_void_p),
    ]


CUDA = 2
MAJOR_VERSION = 1

capsule_pointer = C.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = C.c_void_p, [C.py_object, C.c_char_p]

_Describe = C.PYFUNCTYPE(C.c_int, C.py_object, C.POINTER(Tensor))
_CurrentStream = C.PYFUNCTYPE(C.c_int, C.c_int32, C.c_int32, C.POINTER(C.c_void_p))


class Exchange:
    """A framework's functions. They keep Python's lock."""

    def __init__(self, address: int, api: _Api) -> None:
        self.address = address
        """Of the table."""
        self._describe = _Describe(api.describe)
        self._current_stream = _CurrentStream(api.current_stream)

    def describe(self, tensor: Any) -> Tensor:
        """Where a tensor lies, and how; true as long as it lives unchanged."""
        found = Tensor()
        self._describe(tensor, C.byref(found))
        return found

    def current_stream(self, ordinal: int) -> int:
        """The CUstream of a GPU on which the framework works now."""
        found = C.c_void_p()
        self._current_stream(CUDA, ordinal, C.byref(found))
        return found.value or 0


@functools.cache
def of(tensor_type: type) -> Exchange | None:
    """That of a type of tensors; None where it has none."""
    capsule = getattr(tensor_type, "__dlpack_c_exchange_api__", None)
    address = capsule_pointer(capsule, b"dlpack_exchange_api") if capsule else None
    while address:
        api = _Api.from_address(address)
        if api.version.major == MAJOR_VERSION:
            # Which DLPack leaves to the framework.
            return Exchange(address, api) if api.describe else None
        address = api.older
    return None
