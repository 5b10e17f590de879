"""Calls of the library: prepared once for operands of given shapes, strides and
types, then run with no more than new addresses.

A prepared call holds frames, the C structs that a run fills in. A run takes a
frame that is idle, or makes one, and gives it back: threads share nothing that
is written, and lists of frames change by single operations.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import functools
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .. import _abi, _exchange
from ..artifact import compile
from ..problem import Problem, indexed_operands, indexed_results
from ..program import Program, load
from ._operands import SHORT_NAMES

# An op's, in their order; None where one is not given. Never of q, k and v.
Operands = Sequence[Any]
# (shape, type) of a result.
ResultSpec = tuple[tuple[int, ...], torch.dtype]


class _Frame(NamedTuple):
    """One run's structs; `operands` and `results` view those whose addresses
    change."""

    operands: list[_abi.Tensor]
    results: list[_abi.Tensor]
    keep: Any
    """What the others point to."""
    arguments: tuple[Any, ...]
    """Of the C function."""
    settings: Any
    """What else changes from run to run."""


class Call:
    """An op, ready for operands as those given."""

    can_try = False
    """Whether `try_run` may give results."""

    def __init__(
        self, problem: Problem, operands: Operands, results: Sequence[ResultSpec]
    ) -> None:
        self._library = _abi.runtime()
        self._described = [_describe(x) for x in _present(operands)]
        self._results = [_prototype(x, operands[0].device) for x in results]
        self._idle: list[_Frame] = []
        self._prepare(problem, operands)

    def _prepare(self, problem: Problem, operands: Operands) -> None:
        """What a kind of call needs beside."""
        raise NotImplementedError

    def run(self, operands: Operands) -> list[torch.Tensor]:
        """The results, in new tensors."""
        try:
            frame = self._idle.pop()
        except IndexError:
            frame = self._frame()
        present = _present(operands)
        results = self._allocate()
        for slot, tensor in zip(frame.operands, present):
            slot.data = tensor.data_ptr()
        for slot, tensor in zip(frame.results, results):
            slot.data = tensor.data_ptr()
        error = self._enter(frame, present[0])
        self._idle.append(frame)
        if error:
            _abi.check(self._library, error)
        return results

    def try_run(self, operands: Operands) -> list[torch.Tensor] | None:
        """The same for operands of which only the attributes and the shape of q
        are known to be as the call wants them; None where it cannot tell, or
        they are others."""
        return None

    def _allocate(self) -> list[torch.Tensor]:
        return [torch.empty_like(x) for x in self._results]

    def _frame(self) -> _Frame:
        raise NotImplementedError

    def _enter(self, frame: _Frame, first: torch.Tensor) -> int | None:
        """Calls the library; its error."""
        raise NotImplementedError

    def _described_results(self) -> list[_abi.Tensor]:
        return [_describe(torch.empty_like(x, device="meta")) for x in self._results]


class HostCall(Call):
    """On the CPU, by as many threads as torch's own ops take."""

    def _prepare(self, problem: Problem, operands: Operands) -> None:
        self._struct = _sized(problem, operands)
        self._operand_indices = [i for i, _ in indexed_operands(problem)]
        self._result_indices = [i for i, _ in indexed_results(problem)]

    def _frame(self) -> _Frame:
        tensors = _abi.HostTensors()
        operands = _place(tensors.operands, self._operand_indices, self._described)
        results = _place(
            tensors.results, self._result_indices, self._described_results()
        )
        options = _abi.HostOptions(struct_size=C.sizeof(_abi.HostOptions))
        arguments = (C.byref(self._struct), C.byref(tensors), C.byref(options))
        return _Frame(operands, results, tensors, arguments, options)

    def _enter(self, frame: _Frame, first: torch.Tensor) -> int | None:
        frame.settings.thread_count = torch.get_num_threads()
        error: int | None = self._library.uattn_host_run(*frame.arguments)
        return error


class CudaCall(Call):
    """On a GPU: a launch on the stream that is torch's current one."""

    def _prepare(self, problem: Problem, operands: Operands) -> None:
        self._ordinal = operands[0].get_device()
        self._program = _program(problem, self._ordinal)
        self._workspace_bytes = self._ask_workspace_bytes()

    def _ask_workspace_bytes(self) -> int:
        count, size = len(self._described), C.c_size_t()
        error = self._library.uattn_function_workspace_bytes(
            self._program.handle,
            0,
            (_abi.Tensor * count)(*self._described),
            count,
            C.byref(size),
        )
        _abi.check(self._library, error)
        return size.value

    def _frame(self) -> _Frame:
        given = (_abi.Tensor * len(self._described))(*self._described)
        written = (_abi.Tensor * len(self._results))(*self._described_results())
        launch = _abi.Launch(
            struct_size=C.sizeof(_abi.Launch),
            arguments=given,
            argument_count=len(given),
            results=written,
            result_count=len(written),
            workspace_bytes=self._workspace_bytes,
            is_place_known=True,  # torch says where tensors are
        )
        arguments = (self._program.handle, 0, C.byref(launch))
        keep = (given, written)
        return _Frame([*given], [*written], keep, arguments, launch)

    def _enter(self, frame: _Frame, first: torch.Tensor) -> int | None:
        launch = frame.settings
        launch.stream = _raw_stream(self._ordinal)
        if self._workspace_bytes:
            # Free for others as soon as the launch stands in the stream.
            workspace = first.new_empty(self._workspace_bytes, dtype=torch.uint8)
            launch.workspace = workspace.data_ptr()
        error: int | None = self._library.uattn_function_launch(*frame.arguments)
        return error


class ExchangeCall(CudaCall):
    """The same where torch (2.10 and newer) has DLPack's C exchange interface:
    the library looks at the tensors itself, and takes stream and workspace from
    torch."""

    can_try = True

    def _prepare(self, problem: Problem, operands: Operands) -> None:
        super()._prepare(problem, operands)
        absent = _abi.Tensor(rank=-1)
        described = iter(self._described)
        tensors = [absent if x is None else next(described) for x in operands]
        tensors += self._described_results()
        self._given = _abi.ExchangeLaunch(
            struct_size=C.sizeof(_abi.ExchangeLaunch),
            framework=C.pointer(_framework()),
            program=self._program.handle,
            device_type=_exchange.CUDA,
            device_ordinal=self._ordinal,
            tensors=(_abi.Tensor * len(tensors))(*tensors),
            argument_count=len(operands),
            result_count=len(self._results),
            workspace_bytes=self._workspace_bytes,
        )
        self._reference = C.byref(self._given)
        self._launch = _abi.exchange_launch()

    def _attempt(self, operands: Operands) -> tuple[list[torch.Tensor], int | None]:
        """Results, and what was wrong."""
        results = self._allocate()
        return results, self._launch(self._reference, (*operands, *results))

    def run(self, operands: Operands) -> list[torch.Tensor]:
        results, error = self._attempt(operands)
        _abi.check(self._library, error)
        return results

    def try_run(self, operands: Operands) -> list[torch.Tensor] | None:
        results, error = self._attempt(operands)
        if not error:
            return results
        if not _abi.is_refusal(self._library, error):
            _abi.check(self._library, error)
        self._library.uattn_error_destroy(error)
        return None


@functools.cache
def _framework() -> _abi.Framework:
    exchange = _exchange.of(torch.Tensor)
    assert exchange is not None
    return _abi.Framework(
        struct_size=C.sizeof(_abi.Framework),
        exchange_api=exchange.address,
        none=id(None),
        tuple_item=C.cast(C.pythonapi.PyTuple_GetItem, C.c_void_p),
        release_lock=C.cast(C.pythonapi.PyEval_SaveThread, C.c_void_p),
        take_lock=C.cast(C.pythonapi.PyEval_RestoreThread, C.c_void_p),
        clear_exception=C.cast(C.pythonapi.PyErr_Clear, C.c_void_p),
    )


def cuda_call(
    problem: Problem, operands: Operands, results: Sequence[ResultSpec]
) -> Call:
    """Of the faster kind that this torch allows."""
    kind = CudaCall if _exchange.of(torch.Tensor) is None else ExchangeCall
    return kind(problem, operands, results)


def _stream_of(ordinal: int) -> int:
    handle: int = torch.cuda.current_stream(ordinal).cuda_stream
    return handle


# The first makes no object of the stream.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", _stream_of)

_programs: dict[tuple[Problem, int], Program] = {}
_lock = threading.Lock()


def _program(problem: Problem, ordinal: int) -> Program:
    """Compiled and loaded once for all shapes."""
    with _lock:
        program = _programs.get((problem, ordinal))
        if program is None:
            program = load(compile(problem), ordinal)
            _programs[problem, ordinal] = program
        return program


def _present(operands: Operands) -> list[torch.Tensor]:
    return [x for x in operands if x is not None]


def _sized(problem: Problem, operands: Operands) -> _abi.Problem:
    """The problem with the sizes and type that q and k have; the CPU code takes
    float32 too."""
    struct, (q, k) = problem.struct(), operands[:2]
    struct.batch, struct.q_tokens, struct.q_heads, struct.head_dim = q.shape
    struct.kv_tokens, struct.kv_heads = k.shape[1:3]
    struct.dtype = _abi.DTYPES.index(SHORT_NAMES[q.dtype])
    return struct


@functools.cache
def _element(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.empty(1, dtype=dtype, device=device)


@functools.cache
def no_elements(device: torch.device) -> torch.Tensor:
    """The prototype of what is not wanted."""
    return torch.empty(0, dtype=torch.float32, device=device)


def _prototype(result: ResultSpec, device: torch.device) -> torch.Tensor:
    """One element that stands for all of a result: torch makes a tensor that is
    dense and otherwise like a given one faster than one from a description."""
    shape, dtype = result
    return _element(dtype, device).expand(shape)


def _describe(tensor: torch.Tensor) -> _abi.Tensor:
    """The library's form, without an address."""
    dtype, rank = SHORT_NAMES.get(tensor.dtype), tensor.ndim
    if dtype is None or rank > 4:
        raise TypeError(
            f"a tensor has dtype {tensor.dtype} and rank {rank}: expected bfloat16, "
            "float16, float32 or int32, and at most 4"
        )
    found = _abi.Tensor(dtype=_abi.DTYPES.index(dtype), rank=rank)
    found.shape[:rank] = tensor.shape
    found.strides[:rank] = tensor.stride()
    return found


def _place(
    array: Any, indices: Sequence[int], described: Sequence[_abi.Tensor]
) -> list[_abi.Tensor]:
    """Copies descriptions into an array of structs; views of the copies."""
    for index, tensor in zip(indices, described):
        array[index] = tensor
    return [array[index] for index in indices]
