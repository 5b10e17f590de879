"""Loads and launches kernels by Triton's driver, without its compiler.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from triton.runtime import driver

from .._checks import expect_int
from .._launches import Kernel, Launch, Param
from ..artifact import Artifact
from ..problem import Cap
from ..program import Program, stream_handle
from ._maps import tensor_map

_TYPES = {"bf16": "bf16", "f16": "fp16", "f32": "fp32", "i32": "i32"}


def launch(
    source: Artifact | Program,
    arguments: Sequence[Any],
    results: Sequence[Any],
    *,
    stream: Any = None,
    workspace: Any = None,
    device: int | None = None,
    function: str | None = None,
    sm_scale: float | None = None,
    cap: Cap | None = None,
) -> None:
    """Enqueues a function's kernels by Triton's loader and launcher.

    Tensors, workspace, scale and cap are those of `Program.launch`, and are
    refused as there. `device` is the GPU's ordinal and `stream` a handle or a
    framework's stream object; None: Triton's current ones (a Program's own
    device). Kernels are loaded at the first launch on a device, which
    therefore must not be under capture, and are kept.
    """
    artifact = source.artifact if isinstance(source, Program) else source
    if not isinstance(artifact, Artifact):
        raise TypeError(
            f"source is a {type(source).__name__}: expected a uattn.Artifact or "
            "a uattn.Program"
        )
    if device is None:
        device = source.device if isinstance(source, Program) else current_device()
    expect_int("device", device, or_none=False)
    with _on_device(device):
        if stream is None:
            stream = current_stream(device)
        handle = stream_handle(stream)
        launches = artifact.launches.describe(
            arguments,
            results,
            function=function,
            workspace=workspace,
            device=device,
            stream=handle,
            sm_scale=sm_scale,
            cap=cap,
        )
        # All of them before the first launch: on an error nothing is enqueued.
        key = (artifact.digest, artifact.function_index(function), device)
        loaded = [
            _loaded((*key, index), made.kernel) for index, made in enumerate(launches)
        ]
        values = [argument_list(made) for made in launches]
        for code, made, given in zip(loaded, launches, values):
            code.launch(made.cta_count, handle, given)


def argument_list(made: Launch) -> list[Any]:
    """What Triton's launcher takes for each parameter of a kernel."""
    return [
        tensor_map(value) if param.kind == "map" else value
        for param, value in zip(made.kernel.params, made.values)
    ]


def launcher_type(param: Param) -> str:
    """A parameter's type in a signature of Triton's launcher."""
    if param.kind == "map":
        return "nvTmaDesc"
    name = _TYPES[param.dtype]
    return f"*{name}" if param.kind == "pointer" else name


def current_device() -> int:
    """The ordinal of the GPU on which Triton launches now."""
    try:
        found = driver.active.get_current_device()
    except RuntimeError as error:
        raise RuntimeError(
            f"Triton finds no GPU ({error}): expected one to launch on"
        ) from error
    assert isinstance(found, int)
    return found


def current_stream(device: int) -> int:
    """The CUstream to which Triton launches on a GPU now."""
    found = driver.active.get_current_stream(device)
    assert isinstance(found, int)
    return found


def check_chip(chip: str, capability: Any) -> None:
    """Kernels of sm_90a run on 9.0 alone."""
    wanted = chip.removeprefix("sm_").removesuffix("a")
    if str(capability) != wanted:
        raise RuntimeError(
            f"found a GPU of compute capability {capability}: expected {wanted}, "
            f"as the artifact was compiled for {chip}"
        )


# What a launcher asks of a compiled kernel, beside its size: no clusters, no
# scratch memory of Triton's, no descriptors that it would have to make.
LAUNCH_METADATA = {
    "num_ctas": 1,
    "cluster_dims": (1, 1, 1),
    "global_scratch_size": 0,
    "global_scratch_align": 1,
    "profile_scratch_size": 0,
    "profile_scratch_align": 1,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "tensordesc_meta": None,
    "tmem_size": 0,
}


def size_metadata(kernel: Kernel) -> dict[str, Any]:
    """A kernel's own part of the metadata."""
    return {
        "name": kernel.entry,
        "num_warps": kernel.warps,
        "shared": kernel.dynamic_smem_bytes,
    }


class _Loaded:
    """A kernel in a GPU's context, with the launcher of its signature."""

    def __init__(self, kernel: Kernel, device: int) -> None:
        active = driver.active
        check_chip(kernel.chip, active.get_current_target().arch)
        self.module, self.function, *_ = active.utils.load_binary(
            kernel.entry, kernel.image, kernel.dynamic_smem_bytes, device
        )
        signature = dict(enumerate(map(launcher_type, kernel.params)))
        self.launcher = active.launcher_cls(
            SimpleNamespace(signature=signature, constants={}),
            SimpleNamespace(**size_metadata(kernel), **LAUNCH_METADATA),
        )
        self.packed = (kernel.warps, 1, kernel.dynamic_smem_bytes)

    def launch(self, cta_count: int, stream: int, values: list[Any]) -> None:
        """No metadata for launch hooks, and none that would be called."""
        hooks = (None, None, None)
        self.launcher(
            cta_count, 1, 1, stream, self.function, self.packed, *hooks, *values
        )


# Never unloaded, as Triton's own kernels are not. By an artifact's content, a
# function, a device and a kernel of the function: an artifact that is read
# again finds what is loaded.
_kernels: dict[tuple[str, int, int, int], _Loaded] = {}
_lock = threading.Lock()


def _loaded(key: tuple[str, int, int, int], kernel: Kernel) -> _Loaded:
    with _lock:
        if key not in _kernels:
            _kernels[key] = _Loaded(kernel, device=key[2])
        return _kernels[key]


@contextlib.contextmanager
def _on_device(device: int) -> Iterator[None]:
    before = current_device()
    if before == device:
        yield
        return
    driver.active.set_current_device(device)
    try:
        yield
    finally:
        driver.active.set_current_device(before)
