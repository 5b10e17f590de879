"""The C interface: structs, functions and errors of the two libraries.

Layouts mirror include/uattn/*.h; test/python/abi_layout.py holds them to it.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import functools
from typing import Any

from . import _files

# The interface that these declarations describe; see include/uattn/base.h.
ABI_MAJOR, ABI_MINOR = 0, 2

DTYPES = ("bf16", "f16", "f32", "i32")
CAP_METHODS = ("none", "tanh", "soft_sign", "alsc")
KINDS = ("forward", "backward")
OPERAND_COUNT, FORWARD_OPERAND_COUNT = 11, 7
RESULT_COUNT, FORWARD_RESULT_COUNT = 4, 2
DIM_DYNAMIC = -1
PARAM_KINDS = ("map", "pointer", "i32", "f32")
KERNEL_PARAM_LIMIT = 64


class Version(C.Structure):
    _fields_ = [("abi_major", C.c_int32), ("abi_minor", C.c_int32)]


class Cap(C.Structure):
    _fields_ = [
        ("method", C.c_int),
        ("cap", C.c_double),
        ("alpha", C.c_double),
        ("beta", C.c_double),
    ]


class Problem(C.Structure):
    _fields_ = [
        ("kind", C.c_int),
        ("dtype", C.c_int),
        ("temp_dtype", C.c_int),
        ("batch", C.c_int64),
        ("q_tokens", C.c_int64),
        ("kv_tokens", C.c_int64),
        ("q_heads", C.c_int64),
        ("kv_heads", C.c_int64),
        ("head_dim", C.c_int64),
        ("cap", Cap),
        ("sm_scale", C.c_double),
        ("is_causal", C.c_bool),
        ("window_tokens", C.c_int64),
        ("q_offset", C.c_int64),
        ("z_loss_weight", C.c_double),
        ("is_deterministic", C.c_bool),
        ("has_operand", C.c_bool * OPERAND_COUNT),
        ("has_result", C.c_bool * RESULT_COUNT),
    ]


class ValueInfo(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("dtype", C.c_int),
        ("rank", C.c_int32),
        ("shape", C.c_int64 * 4),
    ]


class Tensor(C.Structure):
    _fields_ = [
        ("data", C.c_void_p),
        ("dtype", C.c_int),
        ("rank", C.c_int32),
        ("shape", C.c_int64 * 4),
        ("strides", C.c_int64 * 4),
    ]


class DeviceOptions(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("context", C.c_int),
        ("ordinal", C.c_int32),
        ("driver_path", C.c_char_p),
    ]


class Launch(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("arguments", C.POINTER(Tensor)),
        ("argument_count", C.c_size_t),
        ("results", C.POINTER(Tensor)),
        ("result_count", C.c_size_t),
        ("workspace", C.c_void_p),
        ("workspace_bytes", C.c_size_t),
        ("stream", C.c_void_p),
        ("sm_scale", C.POINTER(C.c_double)),
        ("cap", C.POINTER(Cap)),
        ("is_place_known", C.c_bool),
    ]


class Framework(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("exchange_api", C.c_void_p),
        ("tuple_item", C.c_void_p),
        ("none", C.c_void_p),
        ("release_lock", C.c_void_p),
        ("take_lock", C.c_void_p),
        ("clear_exception", C.c_void_p),
    ]


class ExchangeLaunch(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("framework", C.POINTER(Framework)),
        ("program", C.c_void_p),
        ("function", C.c_size_t),
        ("device_type", C.c_int32),
        ("device_ordinal", C.c_int32),
        ("tensors", C.POINTER(Tensor)),
        ("argument_count", C.c_size_t),
        ("result_count", C.c_size_t),
        ("workspace_bytes", C.c_size_t),
    ]


class MapDescription(C.Structure):
    _fields_ = [
        ("name", C.c_char_p),
        ("data", C.c_void_p),
        ("dtype", C.c_int),
        ("sizes", C.c_uint64 * 4),
        ("stride_bytes", C.c_uint64 * 3),
        ("box", C.c_uint32 * 4),
    ]


class ParamValue(C.Union):
    _fields_ = [
        ("map", MapDescription),
        ("address", C.c_void_p),
        ("i32", C.c_int32),
        ("f32", C.c_float),
    ]


class KernelInfo(C.Structure):
    _fields_ = [
        ("entry", C.c_char_p),
        ("chip", C.c_char_p),
        ("cubin", C.c_void_p),
        ("cubin_bytes", C.c_size_t),
        ("ptx", C.c_char_p),
        ("threads", C.c_int32),
        ("dynamic_smem_bytes", C.c_int32),
        ("param_count", C.c_uint32),
    ]


class ParamInfo(C.Structure):
    _fields_ = [("kind", C.c_int), ("dtype", C.c_int), ("name", C.c_char_p)]


class KernelsCall(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("arguments", C.POINTER(Tensor)),
        ("argument_count", C.c_size_t),
        ("results", C.POINTER(Tensor)),
        ("result_count", C.c_size_t),
        ("workspace", C.c_void_p),
        ("workspace_bytes", C.c_size_t),
        ("sm_scale", C.POINTER(C.c_double)),
        ("cap", C.POINTER(Cap)),
    ]


class KernelArguments(C.Structure):
    _fields_ = [
        ("cta_count", C.c_uint32),
        ("param_count", C.c_uint32),
        ("params", ParamValue * KERNEL_PARAM_LIMIT),
    ]


class EmulatorCall(C.Structure):
    _fields_ = [
        ("struct_size", C.c_size_t),
        ("arguments", C.POINTER(Tensor)),
        ("argument_count", C.c_size_t),
        ("results", C.POINTER(Tensor)),
        ("result_count", C.c_size_t),
        ("sm_scale", C.POINTER(C.c_double)),
        ("cap", C.POINTER(Cap)),
        ("seed", C.c_uint64),
        ("thread_count", C.c_int32),
        ("progress", C.c_void_p),
        ("progress_data", C.c_void_p),
        ("ignores_hazards", C.c_bool),
        ("trace", C.c_void_p),
        ("timeline", C.c_void_p),
    ]


class ReferenceTensors(C.Structure):
    _fields_ = [
        ("operands", C.c_void_p * OPERAND_COUNT),
        ("results", C.c_void_p * RESULT_COUNT),
    ]


class HostTensors(C.Structure):
    _fields_ = [
        ("operands", Tensor * OPERAND_COUNT),
        ("results", Tensor * RESULT_COUNT),
    ]


class HostOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("thread_count", C.c_int32)]


# Header -> (name in C, struct); what the layout test compares.
STRUCTS = {
    "base.h": [("uattn_version_t", Version)],
    "problem.h": [("uattn_cap_t", Cap), ("uattn_problem_t", Problem)],
    "artifact.h": [("uattn_value_info_t", ValueInfo)],
    "kernels.h": [
        ("uattn_map_description_t", MapDescription),
        ("uattn_param_value_t", ParamValue),
        ("uattn_kernel_info_t", KernelInfo),
        ("uattn_param_info_t", ParamInfo),
        ("uattn_kernels_call_t", KernelsCall),
        ("uattn_kernel_arguments_t", KernelArguments),
    ],
    "tensor.h": [("uattn_tensor_t", Tensor)],
    "runtime.h": [
        ("uattn_device_options_t", DeviceOptions),
        ("uattn_launch_t", Launch),
    ],
    "exchange.h": [
        ("uattn_framework_t", Framework),
        ("uattn_exchange_launch_t", ExchangeLaunch),
    ],
    "emulator.h": [("uattn_emulator_call_t", EmulatorCall)],
    "reference.h": [("uattn_reference_tensors_t", ReferenceTensors)],
    "host.h": [
        ("uattn_host_tensors_t", HostTensors),
        ("uattn_host_options_t", HostOptions),
    ],
}

_P, _SIZE, _TEXT = C.c_void_p, C.c_size_t, C.c_char_p
_TENSORS = C.POINTER(Tensor)

# Name: (result, arguments). A result of _P is an owned error unless it is said
# otherwise by its name.
_ERROR_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "uattn_version": (Version, []),
    "uattn_error_code": (C.c_int, [_P]),
    "uattn_error_message": (_TEXT, [_P]),
    "uattn_error_destroy": (None, [_P]),
}
_RUNTIME_FUNCTIONS = _ERROR_FUNCTIONS | {
    "uattn_problem_validate": (_P, [C.POINTER(Problem)]),
    "uattn_operand_name": (_TEXT, [C.c_int]),
    "uattn_result_name": (_TEXT, [C.c_int, C.c_int]),
    "uattn_operand_shape": (C.c_int, [C.POINTER(Problem), C.c_int, C.c_int64 * 4]),
    "uattn_result_shape": (C.c_int, [C.POINTER(Problem), C.c_int, C.c_int64 * 4]),
    "uattn_operand_dtype": (C.c_int, [C.POINTER(Problem), C.c_int]),
    "uattn_result_dtype": (C.c_int, [C.POINTER(Problem), C.c_int]),
    "uattn_artifact_parse": (_P, [_TEXT, _SIZE, C.POINTER(_P)]),
    "uattn_artifact_destroy": (None, [_P]),
    "uattn_artifact_function_count": (_SIZE, [_P]),
    "uattn_artifact_function_name": (_TEXT, [_P, _SIZE]),
    "uattn_artifact_argument_count": (_SIZE, [_P, _SIZE]),
    "uattn_artifact_result_count": (_SIZE, [_P, _SIZE]),
    "uattn_artifact_argument": (ValueInfo, [_P, _SIZE, _SIZE]),
    "uattn_artifact_result": (ValueInfo, [_P, _SIZE, _SIZE]),
    "uattn_artifact_op_count": (_SIZE, [_P, _SIZE]),
    "uattn_artifact_plan_text": (_TEXT, [_P, _SIZE, _SIZE]),
    "uattn_artifact_workspace_bytes": (
        _P,
        [_P, _SIZE, _TENSORS, _SIZE, C.POINTER(_SIZE)],
    ),
    "uattn_kernels_create": (_P, [_P, C.POINTER(_P)]),
    "uattn_kernels_destroy": (None, [_P]),
    "uattn_kernels_count": (_SIZE, [_P, _SIZE]),
    "uattn_kernels_get": (KernelInfo, [_P, _SIZE, _SIZE]),
    "uattn_kernels_param": (ParamInfo, [_P, _SIZE, _SIZE, _SIZE]),
    "uattn_kernels_describe": (
        _P,
        [_P, _SIZE, C.POINTER(KernelsCall), C.POINTER(KernelArguments)],
    ),
    "uattn_device_open": (_P, [C.POINTER(DeviceOptions), C.POINTER(_P)]),
    "uattn_device_close": (None, [_P]),
    "uattn_device_name": (_TEXT, [_P]),
    "uattn_device_compute_capability": (C.c_int, [_P]),
    "uattn_program_create": (_P, [_P, _P, C.POINTER(_P)]),
    "uattn_program_destroy": (None, [_P]),
    "uattn_function_results": (_P, [_P, _SIZE, _TENSORS, _SIZE, _TENSORS]),
    "uattn_function_workspace_bytes": (
        _P,
        [_P, _SIZE, _TENSORS, _SIZE, C.POINTER(_SIZE)],
    ),
    "uattn_function_launch": (_P, [_P, _SIZE, C.POINTER(Launch)]),
    "uattn_host_run": (
        _P,
        [C.POINTER(Problem), C.POINTER(HostTensors), C.POINTER(HostOptions)],
    ),
    "uattn_emulator_program_create": (_P, [_P, C.POINTER(_P)]),
    "uattn_emulator_program_destroy": (None, [_P]),
    "uattn_emulator_program_results": (
        _P,
        [_P, _SIZE, _TENSORS, _SIZE, _TENSORS],
    ),
    "uattn_emulator_program_run": (_P, [_P, _SIZE, C.POINTER(EmulatorCall), _P]),
}
_REFERENCE_FUNCTIONS = _ERROR_FUNCTIONS | {
    "uattn_reference_run": (
        _P,
        [C.POINTER(Problem), C.POINTER(ReferenceTensors), _P],
    ),
}
# The handlers are XLA's to call.
_XLA_FUNCTIONS = _ERROR_FUNCTIONS | {
    "uattn_xla_add_artifact": (_P, [_TEXT, _TEXT, _SIZE]),
    "uattn_xla_host_execute": (_P, [_P]),
    "uattn_xla_cuda_initialize": (_P, [_P]),
    "uattn_xla_cuda_execute": (_P, [_P]),
}

# uattn_error_code_t: what a caller of Python expects of it.
_EXCEPTIONS: dict[int, type[Exception]] = {
    1: ValueError,  # the user's mistake
    2: NotImplementedError,  # valid, not compiled yet
    3: OSError,  # a file: missing, torn
    4: RuntimeError,  # driver, GPU, its memory
    5: RuntimeError,  # ptxas and the like
    6: RuntimeError,  # a bug of uattn, host memory
    7: RuntimeError,  # a kernel did what it must not
}


def _open(name: str, functions: dict[str, tuple[Any, list[Any]]]) -> C.CDLL:
    path = _files.library(name)
    # RTLD_LOCAL: no symbol meets one of another library of the process.
    library = C.CDLL(str(path), mode=C.RTLD_LOCAL)
    for function, (result, arguments) in functions.items():
        found = getattr(library, function, None)
        if found is None:
            raise ImportError(f"{path} has no {function}: expected the library "
                              "that belongs to this package")
        found.restype, found.argtypes = result, arguments
    version = library.uattn_version()
    if version.abi_major != ABI_MAJOR or version.abi_minor < ABI_MINOR:
        raise ImportError(
            f"{path} has ABI {version.abi_major}.{version.abi_minor}: expected "
            f"{ABI_MAJOR}.{ABI_MINOR} or a newer minor number"
        )
    return library


@functools.cache
def runtime() -> C.CDLL:
    """libuattn_runtime, opened once."""
    return _open("uattn_runtime", _RUNTIME_FUNCTIONS)


@functools.cache
def reference() -> C.CDLL:
    """libuattn_reference, opened once."""
    return _open("uattn_reference", _REFERENCE_FUNCTIONS)


@functools.cache
def xla() -> C.CDLL:
    """libuattn_xla, opened once."""
    return _open("uattn_xla", _XLA_FUNCTIONS)


@functools.cache
def exchange_launch() -> Any:
    """libuattn_runtime's uattn_exchange_launch, which wants Python's lock."""
    prototype = C.PYFUNCTYPE(_P, C.POINTER(ExchangeLaunch), C.py_object)
    return prototype(("uattn_exchange_launch", runtime()))


def is_refusal(library: C.CDLL, error: int) -> bool:
    """Whether what was given is at fault."""
    code: int = library.uattn_error_code(error)
    return code == 1


def check(library: C.CDLL, error: int | None, doing: str = "") -> None:
    """Raises what an error of `library` means, and destroys it."""
    if not error:
        return
    kind = _EXCEPTIONS.get(library.uattn_error_code(error), RuntimeError)
    message = library.uattn_error_message(error).decode(errors="replace")
    library.uattn_error_destroy(error)
    raise kind(f"{doing}: {message}" if doing else message)
