"""The stages of Triton's compiler that give a stub uattn's code.

The hook sees no source, only stages; a stub is known by the name of its
function in the IR, which says whose kernel it stands for. It changes nothing
of any other function, and asks a hook that was set before it first.

Caches: the name comes from a constexpr of the stub that holds the artifact's
SHA-256, and is so in every key of Triton's. That is all that 3.6 has; from 3.7
on, a hook that is called without arguments adds to the keys of all functions,
and this one adds nothing, so that ordinary kernels stay cached.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable
from typing import Any

from triton import knobs

from .._launches import Kernel
from ..artifact import Artifact
from ._loader import LAUNCH_METADATA, check_chip, size_metadata

# Of what the hook makes of a stub: stands in its text, and so in its keys.
VERSION = 2

Stage = Callable[[Any, dict[str, Any]], Any]

_NAME = re.compile(r"uattn_([0-9a-f]{64})_(\d+)_(\d+)")
_METADATA_KEY = "uattn_stub"

# By digest: what a stub's function may name.
_artifacts: weakref.WeakValueDictionary[str, Artifact] = weakref.WeakValueDictionary()


def stub_name(artifact: str, function: int, kernel: int) -> str:
    """What the function of a stub is called in the IR."""
    return f"uattn_{artifact}_{function}_{kernel}"


def register(artifact: Artifact) -> None:
    """Lets the hook find an artifact by its digest, as long as it lives."""
    _artifacts[artifact.digest] = artifact


def install() -> None:
    """Sets the hook, before one that is set already; stubs do so by
    themselves."""
    runtime = knobs.runtime
    if not hasattr(runtime, "add_stages_inspection_hook"):
        raise RuntimeError(
            "this Triton has no knobs.runtime.add_stages_inspection_hook: "
            "expected Triton 3.6 or newer"
        )
    earlier = runtime.add_stages_inspection_hook
    if not isinstance(earlier, _Hook):
        # One of its own: a scope of knobs that ends takes both away.
        runtime.add_stages_inspection_hook = _Hook(earlier)


class _Hook:
    """Callable in both of Triton's ways: with (backend, stages, options,
    language, capability), and with nothing, for a key and a hash."""

    def __init__(self, earlier: Callable[..., Any] | None) -> None:
        self._earlier = earlier
        self._local = threading.local()

    def __call__(self, *arguments: Any) -> Any:
        found = self._ask_earlier(arguments)
        if not arguments:
            return found or ("", "")
        backend, stages, _options, _language, capability = arguments
        for name, stage in stages.items():
            stages[name] = _stage(name, stage, backend.target.backend, capability)
        return None

    def _ask_earlier(self, arguments: tuple[Any, ...]) -> Any:
        """Nothing where the earlier hook calls this one in its turn."""
        if self._earlier is None or getattr(self._local, "is_asking", False):
            return None
        self._local.is_asking = True
        try:
            return self._earlier(*arguments)
        finally:
            self._local.is_asking = False


def _stage(name: str, stage: Stage, target: str, capability: Any) -> Stage:
    """A stage that is itself but for stubs."""

    def run(source: Any, metadata: dict[str, Any]) -> Any:
        kernel = _kernel_of(source, metadata)
        if kernel is None:
            return stage(source, metadata)
        if target != "cuda":
            raise RuntimeError(
                f"found a target of Triton's backend {target}: expected cuda, as "
                f"{kernel.entry} was compiled for {kernel.chip}"
            )
        return _replacement(name, kernel, source, metadata, capability)

    return run


def _kernel_of(source: Any, metadata: dict[str, Any]) -> Kernel | None:
    """The kernel that a stub stands for, which the first stage notes for the
    later ones; None where it is none."""
    name = metadata.get(_METADATA_KEY)
    if name is None:
        entry = getattr(source, "get_entry_func_name", None)
        name = entry() if entry is not None else ""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    artifact = _artifacts.get(found[1])
    if artifact is None:
        raise RuntimeError(
            f"the stub {name} names an artifact that is not in this process: "
            "expected uattn.triton.stub to have made it"
        )
    metadata[_METADATA_KEY] = name
    function = artifact.functions[int(found[2])]
    return artifact.launches.kernels(function)[int(found[3])]


def _replacement(
    stage: str,
    kernel: Kernel,
    source: Any,
    metadata: dict[str, Any],
    capability: Any,
) -> Any:
    """What a stage gives for a stub: its own IR as long as there is a module,
    then the kernel's PTX and code."""
    if stage == "cubin":
        check_chip(kernel.chip, capability)
        metadata.update(LAUNCH_METADATA)
        metadata.update(size_metadata(kernel))
        return kernel.image
    if stage == "ptx":
        return kernel.ptx
    if stage == "llir":
        return f"; {kernel.entry} was not made from LLVM IR of Triton's\n"
    return source
