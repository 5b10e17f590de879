"""Artifacts on a GPU: loaded once, launched on the caller's stream.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import functools
import weakref
from collections.abc import Sequence
from typing import Any

from . import _abi, _dlpack
from ._checks import expect_int
from ._launches import set_options
from .artifact import Artifact
from .problem import Cap, TensorSpec


class _Device:
    """A GPU's primary context, which frameworks use too."""

    def __init__(self, ordinal: int) -> None:
        library = _abi.runtime()
        options = _abi.DeviceOptions(
            struct_size=C.sizeof(_abi.DeviceOptions), ordinal=ordinal
        )
        self.ordinal = ordinal
        self.handle = C.c_void_p()
        error = library.uattn_device_open(C.byref(options), C.byref(self.handle))
        _abi.check(library, error)


@functools.cache
def _device(ordinal: int) -> _Device:
    """Opened once and kept: programs of it may live until the process ends."""
    return _Device(ordinal)


class Program:
    """An artifact whose kernels are on a GPU. May be launched from several
    threads at once."""

    def __init__(self, artifact: Artifact, device: int) -> None:
        expect_int("device", device, or_none=False)
        self._library = _abi.runtime()
        self._device = _device(device)
        self.artifact = artifact
        self.handle = C.c_void_p()
        error = self._library.uattn_program_create(
            self._device.handle, artifact.handle, C.byref(self.handle)
        )
        _abi.check(self._library, error)
        # The artifact must outlive the program, and so is held by its end.
        weakref.finalize(self, _destroy, self.handle, artifact)

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: object) -> Program:
        return self

    @property
    def device(self) -> int:
        """The GPU's ordinal."""
        return self._device.ordinal

    def result_specs(
        self, arguments: Sequence[Any], *, function: str | None = None, stream: Any = 0
    ) -> tuple[TensorSpec, ...]:
        """Shapes and types of the results that a launch with these arguments
        writes."""
        index, handle = self.artifact.function_index(function), stream_handle(stream)
        given, _capsules = self._arguments(arguments, function, handle)
        specs = self.artifact.results(function)
        found = (_abi.Tensor * len(specs))()
        error = self._library.uattn_function_results(
            self.handle, index, given, len(given), found
        )
        _abi.check(self._library, error)
        return tuple(
            TensorSpec(spec.name, spec.dtype, tuple(tensor.shape[: tensor.rank]))
            for spec, tensor in zip(specs, found)
        )

    def workspace_bytes(
        self, arguments: Sequence[Any], *, function: str | None = None, stream: Any = 0
    ) -> int:
        """Memory that a launch with these arguments wants beside them; often 0
        forward."""
        index, handle = self.artifact.function_index(function), stream_handle(stream)
        given, _capsules = self._arguments(arguments, function, handle)
        size = C.c_size_t()
        error = self._library.uattn_function_workspace_bytes(
            self.handle, index, given, len(given), C.byref(size)
        )
        _abi.check(self._library, error)
        return size.value

    def launch(
        self,
        arguments: Sequence[Any],
        results: Sequence[Any],
        *,
        stream: Any = 0,
        workspace: Any = None,
        function: str | None = None,
        sm_scale: float | None = None,
        cap: Cap | None = None,
    ) -> None:
        """Enqueues a function's kernels on the caller's stream and returns.

        Arguments and results are tensors of the program's GPU with __dlpack__,
        read and written where they lie: they stay alive and unchanged until the
        stream is through, which a framework's own allocator sees to. `stream`
        is a handle (0: the default stream), or a framework's stream object.
        `workspace` is a dense tensor of `workspace_bytes` bytes or more.
        `sm_scale` and `cap` replace what was compiled; the method must stay.
        Nothing is allocated, so a launch may be captured into a CUDA graph. On
        an error nothing was enqueued.
        """
        index, handle = self.artifact.function_index(function), stream_handle(stream)
        given, capsules = self._arguments(arguments, function, handle)
        written, more = self._borrow(
            results, self.artifact.results(function), "results", handle, True
        )
        launch = _abi.Launch(
            struct_size=C.sizeof(_abi.Launch),
            arguments=given,
            argument_count=len(given),
            results=written,
            result_count=len(written),
            stream=handle,
        )
        more += set_options(
            launch,
            workspace=workspace,
            sm_scale=sm_scale,
            cap=cap,
            ordinal=self.device,
            stream=handle,
        )
        error = self._library.uattn_function_launch(
            self.handle, index, C.byref(launch)
        )
        del capsules, more  # they kept the tensors alive until here
        _abi.check(self._library, error)

    def _arguments(
        self, tensors: Sequence[Any], function: str | None, stream: int
    ) -> tuple[Any, list[Any]]:
        specs = self.artifact.arguments(function)
        return self._borrow(tensors, specs, "arguments", stream, False)

    def _borrow(
        self,
        tensors: Sequence[Any],
        specs: tuple[TensorSpec, ...],
        what: str,
        stream: int,
        is_written: bool,
    ) -> tuple[Any, list[Any]]:
        return _dlpack.borrow_all(
            tensors,
            specs,
            what,
            ordinal=self.device,
            stream=stream,
            is_written=is_written,
        )


def load(artifact: Artifact, device: int = 0) -> Program:
    """Loads an artifact's kernels on a GPU; RuntimeError where there is no
    driver, no such GPU, or another kind of GPU than was compiled for."""
    if not isinstance(artifact, Artifact):
        raise TypeError(
            f"artifact is a {type(artifact).__name__}: expected a uattn.Artifact"
        )
    return Program(artifact, device)


def stream_handle(stream: Any) -> int:
    """The CUstream of a handle, of torch's stream (`cuda_stream`), of cupy's
    (`ptr`), or of any object with `__cuda_stream__`."""
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    else:
        for attribute in ("cuda_stream", "ptr"):
            stream = getattr(stream, attribute, stream)
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < 0:
        raise TypeError(
            f"stream is {stream!r}: expected a CUstream handle or a stream object"
        )
    return stream


def _destroy(program: C.c_void_p, artifact: Artifact) -> None:
    del artifact  # held until here
    _abi.runtime().uattn_program_destroy(program)
