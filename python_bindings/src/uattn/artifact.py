"""Compiled kernels with what a launch must know, and how they are had.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import functools
import hashlib
import os
import pathlib
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import _abi, _cache, _compiler
from ._launches import Launches
from .problem import Problem, TensorSpec, make_spec

Source = Problem | str | os.PathLike[str]
"""A problem, a .mlir file (a path, or a str that ends in ".mlir"), or the text
of a module."""


class Artifact:
    """The functions of a module, compiled. Immutable."""

    def __init__(self, data: bytes) -> None:
        """From the bytes of a .uattn file; ValueError where they are none."""
        if not isinstance(data, bytes):
            raise TypeError(f"data is a {type(data).__name__}: expected bytes")
        library = _abi.runtime()
        handle = C.c_void_p()
        error = library.uattn_artifact_parse(data, len(data), C.byref(handle))
        _abi.check(library, error)
        self.data = data
        self.handle = handle
        weakref.finalize(self, library.uattn_artifact_destroy, handle)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Artifact:
        """The artifact of a .uattn file."""
        data = pathlib.Path(path).read_bytes()
        try:
            return cls(data)
        except (ValueError, OSError) as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the .uattn file, at once and whole."""
        _cache.write(pathlib.Path(path), self.data)

    @functools.cached_property
    def functions(self) -> tuple[str, ...]:
        """Names, in the order of the source."""
        library = _abi.runtime()
        count = library.uattn_artifact_function_count(self.handle)
        names = (
            library.uattn_artifact_function_name(self.handle, index)
            for index in range(count)
        )
        return tuple(name.decode() for name in names)

    def function_index(self, function: str | None) -> int:
        """Of a function by name; None names the first."""
        if function is None:
            return 0
        if function not in self.functions:
            raise ValueError(
                f"function is {function!r}: expected " + ", ".join(self.functions)
            )
        return self.functions.index(function)

    def arguments(self, function: str | None = None) -> tuple[TensorSpec, ...]:
        """What a function takes; None names the first function."""
        return self._arguments[self.function_index(function)]

    def results(self, function: str | None = None) -> tuple[TensorSpec, ...]:
        """What a function returns."""
        return self._results[self.function_index(function)]

    @functools.cached_property
    def _arguments(self) -> list[tuple[TensorSpec, ...]]:
        library = _abi.runtime()
        return self._values(
            library.uattn_artifact_argument_count, library.uattn_artifact_argument
        )

    @functools.cached_property
    def _results(self) -> list[tuple[TensorSpec, ...]]:
        library = _abi.runtime()
        return self._values(
            library.uattn_artifact_result_count, library.uattn_artifact_result
        )

    def _values(
        self, count: Callable[..., int], get: Callable[..., Any]
    ) -> list[tuple[TensorSpec, ...]]:
        """Of every function, by its index."""
        found = []
        for index in range(len(self.functions)):
            positions = range(count(self.handle, index))
            infos = (get(self.handle, index, position) for position in positions)
            found.append(
                tuple(make_spec(x.name, x.dtype, x.rank, x.shape) for x in infos)
            )
        return found

    def plan(self, function: str | None = None) -> str:
        """What was chosen for the ops of a function and why: tiles, stages,
        roles, registers, cost; as `uattn-opt --uattn-print-plan` prints it."""
        library = _abi.runtime()
        index = self.function_index(function)
        return "".join(
            library.uattn_artifact_plan_text(self.handle, index, op).decode()
            for op in range(library.uattn_artifact_op_count(self.handle, index))
        )

    def workspace_bytes(
        self, shapes: Sequence[Sequence[int]], *, function: str | None = None
    ) -> int:
        """Memory that a launch with arguments of these shapes wants beside
        them; no GPU is asked."""
        specs = self.arguments(function)
        if len(shapes) != len(specs):
            raise TypeError(
                f"{len(shapes)} shapes are given: expected those of "
                + ", ".join(spec.name for spec in specs)
            )
        given = (_abi.Tensor * len(specs))()
        for tensor, spec, shape in zip(given, specs, shapes):
            if len(shape) != len(spec.shape):
                raise ValueError(
                    f"{spec.name} has rank {len(shape)}: expected {len(spec.shape)}"
                )
            tensor.dtype, tensor.rank = _abi.DTYPES.index(spec.dtype), len(shape)
            tensor.shape[: len(shape)] = shape
        library, size = _abi.runtime(), C.c_size_t()
        index = self.function_index(function)
        error = library.uattn_artifact_workspace_bytes(
            self.handle, index, given, len(given), C.byref(size)
        )
        _abi.check(library, error)
        return size.value

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of `data`, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @functools.cached_property
    def launches(self) -> Launches:
        """Its kernels as data, for those who launch them by other means than
        `load`; see uattn.triton."""
        return Launches(self)

    def __copy__(self) -> Artifact:
        return self

    def __deepcopy__(self, memo: object) -> Artifact:
        return self

    def __reduce__(self) -> tuple[type[Artifact], tuple[bytes]]:
        return Artifact, (self.data,)

    def __repr__(self) -> str:
        return f"Artifact({', '.join(self.functions)}; {len(self.data)} bytes)"


def compile(
    source: Source,
    *,
    chip: str = "sm_90a",
    ptxas: str | os.PathLike[str] | None = None,
    use_cache: bool = True,
) -> Artifact:
    """Compiles a problem or module, or finds what it was compiled to.

    Looks into the folders of $UATTN_PREBUILT_PATH first, which hold what
    `prebuild` wrote and are taken as they are; then into the cache (`cache_dir`),
    whose files belong to this very compiler, assembler and source; then runs
    the compiler. `ptxas` is the assembler, or "none" to leave it to the driver;
    None finds one. A wrong module raises ValueError with its diagnostics.
    """
    text, called = _source_text(source)
    assembler = None if ptxas is None else os.fspath(ptxas)
    if not isinstance(chip, str):
        raise TypeError(f"chip is {chip!r}: expected a str such as 'sm_90a'")
    prebuilt = prebuilt_name(source, chip)
    path = _cache.find_prebuilt(prebuilt)
    if path is not None:
        return Artifact.read(path)
    try:
        compiler = _compiler.version()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{error}; or {prebuilt} in a folder of {_cache.PREBUILT_VARIABLE}"
        ) from None
    name = _cache.file_name(
        text=text,
        chip=chip,
        compiler=compiler,
        assembler=_compiler.assembler_version(assembler),
    )
    cached = _cached(name) if use_cache else None
    if cached is not None:
        return cached
    artifact = Artifact(_compiler.compile_text(text, called, chip, assembler))
    if use_cache:
        _cache.keep(name, artifact.data)
    return artifact


def prebuild(
    sources: Iterable[Source],
    folder: str | os.PathLike[str],
    *,
    chip: str = "sm_90a",
    ptxas: str | os.PathLike[str] | None = None,
) -> list[pathlib.Path]:
    """Compiles for machines without the compiler: writes an artifact a source
    into a folder, which $UATTN_PREBUILT_PATH shall name there. Returns the
    files, in the order of the sources."""
    paths = []
    for source in sources:
        artifact = compile(source, chip=chip, ptxas=ptxas)
        path = pathlib.Path(folder) / prebuilt_name(source, chip)
        artifact.write(path)
        paths.append(path)
    return paths


def prebuilt_name(source: Source, chip: str = "sm_90a") -> str:
    """The file in which `compile` looks for a prebuilt artifact."""
    return _cache.file_name(text=_source_text(source)[0], chip=chip)


def _cached(name: str) -> Artifact | None:
    """A torn or foreign file is as good as none: it is replaced."""
    data = _cache.read(name)
    try:
        return None if data is None else Artifact(data)
    except (ValueError, OSError):
        return None


def _source_text(source: Source) -> tuple[str, str]:
    """A module's text, and what messages call it."""
    if isinstance(source, Problem):
        return source.mlir(), "<problem>"
    if isinstance(source, str) and not source.endswith(".mlir"):
        return source, "<source>"
    if isinstance(source, (str, os.PathLike)):
        return pathlib.Path(source).read_text(encoding="utf-8"), os.fspath(source)
    raise TypeError(
        f"source is a {type(source).__name__}: expected a uattn.Problem, a path "
        "of a .mlir file, or the text of a module"
    )
