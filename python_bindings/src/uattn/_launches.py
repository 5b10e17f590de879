"""An artifact's kernels, and what each is launched with, as plain data.

Mirrors include/uattn/kernels.h.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _abi, _dlpack
from ._checks import expect_real
from .problem import Cap

if TYPE_CHECKING:
    from .artifact import Artifact


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter of a kernel, in its order: a tensor "map" or a "pointer" to a
    tensor of type `dtype`, or a number "i32" or "f32"."""

    kind: str
    dtype: str
    name: str


@dataclasses.dataclass(frozen=True, eq=False)
class Kernel:
    """Code and how it is launched; `image` is a cubin or, where there is none,
    PTX with its terminator: what cuModuleLoadData takes."""

    entry: str
    chip: str
    image: bytes
    ptx: str
    threads: int
    dynamic_smem_bytes: int
    params: tuple[Param, ...]

    @property
    def warps(self) -> int:
        """Warps a CTA."""
        return self.threads // 32


@dataclasses.dataclass(frozen=True, eq=False)
class Launch:
    """One kernel's launch: `values` are a `_abi.MapDescription`, an int or a
    float for each parameter."""

    kernel: Kernel
    cta_count: int
    values: tuple[Any, ...]


class Launches:
    """The kernels of an artifact's functions."""

    def __init__(self, artifact: Artifact) -> None:
        self._library = library = _abi.runtime()
        self._handle = C.c_void_p()
        error = library.uattn_kernels_create(artifact.handle, C.byref(self._handle))
        _abi.check(library, error)
        self.artifact = artifact
        # The two hold each other and end together, in any order: the end of
        # this handle does not read the artifact's.
        weakref.finalize(self, library.uattn_kernels_destroy, self._handle)

    @functools.cached_property
    def _kernels(self) -> list[tuple[Kernel, ...]]:
        count = self._library.uattn_kernels_count
        return [
            tuple(
                self._kernel(function, kernel)
                for kernel in range(count(self._handle, function))
            )
            for function in range(len(self.artifact.functions))
        ]

    def _kernel(self, function: int, kernel: int) -> Kernel:
        info = self._library.uattn_kernels_get(self._handle, function, kernel)
        names = self._library.uattn_kernels_param
        params = (
            names(self._handle, function, kernel, index)
            for index in range(info.param_count)
        )
        ptx = info.ptx
        return Kernel(
            info.entry.decode(),
            info.chip.decode(),
            C.string_at(info.cubin, info.cubin_bytes) if info.cubin else ptx + b"\0",
            ptx.decode(),
            info.threads,
            info.dynamic_smem_bytes,
            tuple(
                Param(
                    _abi.PARAM_KINDS[param.kind],
                    _abi.DTYPES[param.dtype],
                    param.name.decode(),
                )
                for param in params
            ),
        )

    def kernels(self, function: str | None = None) -> tuple[Kernel, ...]:
        """A function's, in the order in which they are launched; None names the
        first function."""
        return self._kernels[self.artifact.function_index(function)]

    def describe(
        self,
        arguments: Sequence[Any],
        results: Sequence[Any],
        *,
        function: str | None = None,
        workspace: Any = None,
        device: int = 0,
        stream: int = 0,
        sm_scale: float | None = None,
        cap: Cap | None = None,
    ) -> list[Launch]:
        """What launches the function on these tensors, to be enqueued in this
        order on `stream`, for which the tensors' producers are asked to wait.
        Takes and refuses what `Program.launch` does. NotImplementedError says
        that kernels alone do not make up the function."""
        artifact = self.artifact
        where: Any = {"ordinal": device, "stream": stream}
        given, capsules = _dlpack.borrow_all(
            arguments,
            artifact.arguments(function),
            "arguments",
            is_written=False,
            **where,
        )
        written, more = _dlpack.borrow_all(
            results, artifact.results(function), "results", is_written=True, **where
        )
        call = _abi.KernelsCall(
            struct_size=C.sizeof(_abi.KernelsCall),
            arguments=given,
            argument_count=len(given),
            results=written,
            result_count=len(written),
        )
        more += set_options(
            call, workspace=workspace, sm_scale=sm_scale, cap=cap, **where
        )
        kernels = self.kernels(function)
        found = (_abi.KernelArguments * len(kernels))()
        error = self._library.uattn_kernels_describe(
            self._handle, artifact.function_index(function), C.byref(call), found
        )
        del capsules, more  # they kept the tensors alive until here
        _abi.check(self._library, error)
        return [_launch(kernel, made) for kernel, made in zip(kernels, found)]


def set_options(
    call: _abi.Launch | _abi.KernelsCall,
    *,
    workspace: Any,
    sm_scale: float | None,
    cap: Cap | None,
    ordinal: int,
    stream: int,
) -> list[Any]:
    """Fills in what is not a tensor of the function; returns what keeps the
    workspace alive."""
    kept = []
    if workspace is not None:
        call.workspace, call.workspace_bytes, capsule = _dlpack.borrow_bytes(
            workspace, "workspace", ordinal=ordinal, stream=stream
        )
        kept.append(capsule)
    if sm_scale is not None:
        expect_real("sm_scale", sm_scale)
        call.sm_scale = C.pointer(C.c_double(sm_scale))
    if cap is not None:
        if not isinstance(cap, Cap):
            raise TypeError(f"cap is {cap!r}: expected a uattn.Cap")
        call.cap = C.pointer(cap.struct())
    return kept


def _launch(kernel: Kernel, made: _abi.KernelArguments) -> Launch:
    values = (
        _value(param, value) for param, value in zip(kernel.params, made.params)
    )
    return Launch(kernel, made.cta_count, tuple(values))


def _value(param: Param, value: _abi.ParamValue) -> Any:
    if param.kind == "map":
        return value.map
    if param.kind == "pointer":
        return value.address or 0
    return value.i32 if param.kind == "i32" else value.f32
