"""@triton.jit functions that stand for uattn's kernels.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from .._launches import Kernel, Launch
from ..artifact import Artifact, Source, compile
from ..problem import Problem
from . import _hook
from ._function import StubFunction, StubSource, make_function
from ._loader import argument_list, current_device, current_stream


def stub(source: Source | Artifact, *, function: str | None = None) -> Stub:
    """The stub of a problem, of a function of a module, or of a compiled
    artifact; the same stub for the same one. Compiles what is not compiled."""
    artifact = source if isinstance(source, Artifact) else compile(source)
    index = artifact.function_index(function)
    attributes = _attributes(source) if isinstance(source, Problem) else {}
    key = (artifact.digest, index, tuple(attributes.items()))
    if key not in _stubs:
        _stubs[key] = Stub(artifact, artifact.functions[index], attributes)
    return _stubs[key]


_stubs: dict[tuple[Any, ...], Stub] = {}


class Stub:
    """A function's kernels as Triton functions, in launch order.

    `run` and the others take the tensors that the function takes and then those
    that it gives, by position or by name: (q, k, v, out, lse). Tensors and
    `workspace` are refused as `Program.launch` does.
    """

    def __init__(
        self, artifact: Artifact, function: str, attributes: Mapping[str, Any]
    ) -> None:
        _hook.install()
        _hook.register(artifact)
        self.artifact = artifact
        self.function = function
        found = artifact.launches.kernels(function)
        if not found:
            raise NotImplementedError(
                f"function {function} has no kernel in this artifact: it runs on "
                "the reference only"
            )
        self.kernels = tuple(
            StubKernel(self, index, kernel, attributes)
            for index, kernel in enumerate(found)
        )

    def run(self, *tensors: Any, workspace: Any = None, **named: Any) -> None:
        """Enqueues all kernels on Triton's current stream."""
        launches = self._describe(tensors, named, workspace)
        values = [argument_list(made) for made in launches]
        for kernel, made, given in zip(self.kernels, launches, values):
            kernel.function[(made.cta_count, 1, 1)](*given, **kernel.constexprs)

    @property
    def kernel(self) -> StubFunction:
        """The only kernel's Triton function."""
        return self._only.function

    @property
    def constexprs(self) -> dict[str, Any]:
        """The only kernel's constexpr arguments."""
        return self._only.constexprs

    def grid(self, *tensors: Any, workspace: Any = None, **named: Any) -> Any:
        """The only kernel's grid for these tensors."""
        return self._only.grid(*tensors, workspace=workspace, **named)

    def arguments(
        self, *tensors: Any, workspace: Any = None, **named: Any
    ) -> list[Any]:
        """The only kernel's arguments for these tensors, without constexprs."""
        return self._only.arguments(*tensors, workspace=workspace, **named)

    @property
    def _only(self) -> StubKernel:
        if len(self.kernels) != 1:
            raise ValueError(
                f"function {self.function} has {len(self.kernels)} kernels: "
                "expected `run`, or each of `kernels` in its turn"
            )
        return self.kernels[0]

    def _describe(
        self, tensors: tuple[Any, ...], named: Mapping[str, Any], workspace: Any
    ) -> list[Launch]:
        specs = self.artifact.arguments(self.function)
        given = self._bind(tensors, named)
        device = current_device()
        return self.artifact.launches.describe(
            given[: len(specs)],
            given[len(specs) :],
            function=self.function,
            workspace=workspace,
            device=device,
            stream=current_stream(device),
        )

    def _bind(self, tensors: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        names = self._names
        if len(tensors) > len(names):
            raise TypeError(
                f"{len(tensors)} tensors are given: expected " + ", ".join(names)
            )
        given = dict(zip(names, tensors))
        for name, tensor in named.items():
            if name not in names:
                raise TypeError(
                    f"{name} is not a tensor of {self.function}: expected "
                    + ", ".join(names)
                )
            if name in given:
                raise TypeError(f"{name} is given twice")
            given[name] = tensor
        for name in names:
            if name not in given:
                raise TypeError(f"{name} is missing: expected " + ", ".join(names))
        return [given[name] for name in names]

    @functools.cached_property
    def _names(self) -> list[str]:
        specs = self.artifact.arguments(self.function)
        specs += self.artifact.results(self.function)
        return [spec.name for spec in specs]

    def __repr__(self) -> str:
        return f"Stub({self.function}; {len(self.kernels)} kernels)"


class StubKernel:
    """One kernel of a stub: `function[grid(...)](*arguments(...),
    **constexprs)` launches it, as any Triton function."""

    def __init__(
        self, owner: Stub, index: int, kernel: Kernel, attributes: Mapping[str, Any]
    ) -> None:
        artifact = owner.artifact
        self._owner = owner
        self._index = index
        self.constexprs: dict[str, Any] = {
            **attributes,
            "ARTIFACT": artifact.digest,
            "FUNCTION": artifact.function_index(owner.function),
            "KERNEL": index,
        }
        self.function = make_function(kernel, self.constexprs)

    def grid(
        self, *tensors: Any, workspace: Any = None, **named: Any
    ) -> tuple[int, int, int]:
        """The grid for these tensors."""
        return (self._launch(tensors, named, workspace).cta_count, 1, 1)

    def arguments(
        self, *tensors: Any, workspace: Any = None, **named: Any
    ) -> list[Any]:
        """The arguments for these tensors, without constexprs: tensor maps,
        addresses, numbers."""
        return argument_list(self._launch(tensors, named, workspace))

    def source(self) -> StubSource:
        """What `triton.compile(source, target=...)` takes ahead of time."""
        return self.function.source()

    def _launch(
        self, tensors: tuple[Any, ...], named: Mapping[str, Any], workspace: Any
    ) -> Launch:
        return self._owner._describe(tensors, named, workspace)[self._index]


def _attributes(problem: Problem) -> dict[str, Any]:
    """What is asked of the op, as constexprs: for readers, since the code is
    what ARTIFACT names."""
    return {
        "KIND": problem.kind,
        "HEAD_DIM": problem.head_dim,
        "DTYPE": problem.dtype,
        "CAP": problem.cap.method,
        "CAUSAL": problem.causal,
        "WINDOW": problem.window_len or 0,
        "BOUNDS": problem.bounds,
        "SEGMENT_IDS": problem.segment_ids,
        "TEMP": problem.temp or "none",
    }
