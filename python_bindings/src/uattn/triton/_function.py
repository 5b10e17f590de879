"""The Triton function of a kernel: its signature, and a body that is never
assembled.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Mapping, Sequence
from typing import Any

import triton.language as tl
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from .._launches import Kernel, Param
from ._hook import VERSION, install, stub_name
from ._loader import launcher_type

# The frontend knows no type for a tensor map. A parameter that is annotated as
# a float is taken without a look at what is given, and its place in the
# signature is filled in for the launcher.
_MAP_ANNOTATION = "fp32"

# A stub's body. Where the hook is gone when a stub is compiled, a body without
# an error would become a kernel that does nothing, and be cached.
_WITHOUT_HOOK = "uattn_stage_hook_is_not_installed; mov.u32 $0, 0;"


class StubSource(ASTSource):
    """A stub's source: a signature for Triton's frontend and, in it, tensor
    maps for Triton's launcher."""

    signature: dict[str, str]

    def __init__(
        self,
        fn: StubFunction,
        signature: Mapping[str, str],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Any = None,
    ) -> None:
        install()  # others may have set a hook of theirs since
        super().__init__(fn, dict(signature), constexprs, attrs)
        _check_constexprs(fn, self.constants)
        self._declared = self.signature
        self.signature = {**self.signature, **dict.fromkeys(fn.maps, "nvTmaDesc")}

    def make_ir(self, *arguments: Any, **options: Any) -> Any:
        """Triton's own, from the signature that the frontend knows."""
        launched, self.signature = self.signature, self._declared
        try:
            return super().make_ir(*arguments, **options)
        finally:
            self.signature = launched


class StubFunction(JITFunction):
    """A @triton.jit function whose code the stage hook provides."""

    def __init__(
        self, fn: Any, kernel: Kernel, maps: Sequence[str], constexprs: Mapping[str, Any]
    ) -> None:
        names = fn.__code__.co_varnames[: len(kernel.params)]
        # A number of 1, or an aligned address, would be another kernel to Triton.
        super().__init__(fn, do_not_specialize=list(names), repr=_ir_name)
        self.maps = tuple(maps)
        self.expected = dict(constexprs)
        self._types = dict(zip(names, map(_annotation, kernel.params)))

    def create_binder(self) -> Any:
        """Triton's own, but compiles through StubSource."""
        made = super().create_binder()
        self.ASTSource = StubSource
        return made

    def source(self) -> StubSource:
        """The one source that this function ever has."""
        types = self._types | dict.fromkeys(self.expected, "constexpr")
        return StubSource(self, types, self.expected)


def make_function(kernel: Kernel, constexprs: Mapping[str, Any]) -> StubFunction:
    """The function of a kernel, from a text that inspect can show."""
    names = _parameter_names(kernel.params)
    lines = [f"def {kernel.entry}("]
    lines += [
        f'    {name}: "{_annotation(param)}",'
        for name, param in zip(names, kernel.params)
    ]
    lines += [f"    {name}: tl.constexpr," for name in constexprs]
    lines += ["):", f"    # Version {VERSION} of the stage hook."]
    lines += [f"    tl.inline_asm_elementwise({_WITHOUT_HOOK!r}, '=r', [],",
              "                              tl.int32, is_pure=False, pack=1)"]
    text = "\n".join(lines) + "\n"
    path = f"<uattn stub {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    scope: dict[str, Any] = {"tl": tl, "__name__": __name__}
    # Annotations are values there, whatever this file imports.
    exec(compile(text, path, "exec", dont_inherit=True), scope)
    maps = [name for name, param in zip(names, kernel.params) if param.kind == "map"]
    return StubFunction(scope[kernel.entry], kernel, maps, constexprs)


def _annotation(param: Param) -> str:
    return _MAP_ANNOTATION if param.kind == "map" else launcher_type(param)


def _parameter_names(params: Sequence[Param]) -> list[str]:
    """q_map, k_map, k_map2, lse, q_tokens: a kernel may have several maps of
    one tensor."""
    names: list[str] = []
    for param in params:
        stem = f"{param.name}_map" if param.kind == "map" else param.name
        name, count = stem, 1
        while name in names:
            count += 1
            name = f"{stem}{count}"
        names.append(name)
    return names


def _ir_name(specialization: Any) -> str:
    """What the hook knows the function by."""
    constants = specialization.constants
    return stub_name(*(constants[x] for x in ("ARTIFACT", "FUNCTION", "KERNEL")))


def _check_constexprs(fn: StubFunction, constants: Mapping[Any, Any]) -> None:
    """The attributes are the artifact's: others would be ignored."""
    for (position,), value in constants.items():
        name = fn.arg_names[position]
        if name not in fn.expected:
            raise ValueError(f"{name} is a constexpr: expected an argument")
        if value != fn.expected[name]:
            raise ValueError(
                f"{name} is {value!r}: expected {fn.expected[name]!r}, as the "
                "artifact was compiled"
            )
