"""Registers the custom calls with XLA, and the artifacts that they launch.

A custom call names its artifact by content, so that a lowered module stays
small and means the same in every process that has the artifact.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any

import jax

from .. import _abi, _cache
from ..artifact import Artifact, compile, prebuilt_name
from ..problem import Problem

# Custom calls by the kind of problem.
TARGETS = {
    "forward": "uattn.ranker_attention",
    "backward": "uattn.ranker_attention_bwd",
}

_artifacts: dict[str, Artifact] = {}
_of_problem: dict[Problem, str] = {}


def artifact_of(problem: Problem) -> tuple[str, Artifact]:
    """The name under which a problem's kernels are known to the custom calls of
    this process, and the artifact."""
    name = _of_problem.get(problem)
    if name is None:
        name = _add(compile(problem))
        _of_problem[problem] = name
    return name, _artifacts[name]


def write_artifacts(folder: str | os.PathLike[str]) -> list[pathlib.Path]:
    """Writes the artifact of every call that this process lowered for a GPU,
    for processes that lower the same without a compiler or run serialized
    modules (jax.export): a folder of $UATTN_PREBUILT_PATH there. Returns the
    files."""
    target, paths = pathlib.Path(folder), []
    target.mkdir(parents=True, exist_ok=True)
    for problem, name in list(_of_problem.items()):  # others may lower meanwhile
        path = target / prebuilt_name(problem)
        _artifacts[name].write(path)
        paths.append(path)
    return paths


def _add(artifact: Artifact) -> str:
    name = artifact.digest
    library = _abi.xla()
    error = library.uattn_xla_add_artifact(
        name.encode(), artifact.data, len(artifact.data)
    )
    _abi.check(library, error)
    _artifacts[name] = artifact
    return name


def _add_prebuilt() -> None:
    for folder in _cache.prebuilt_dirs():
        for path in sorted(folder.glob("*" + _cache.SUFFIX)):
            try:
                _add(Artifact.read(path))
            except (OSError, ValueError) as error:
                warnings.warn(f"left out: {error}", RuntimeWarning, stacklevel=2)


def _register() -> None:
    library = _abi.xla()

    def capsule(function: str) -> Any:
        return jax.ffi.pycapsule(getattr(library, function))

    for target in TARGETS.values():
        jax.ffi.register_ffi_target(
            target, capsule("uattn_xla_host_execute"), platform="cpu"
        )
        stages = {
            "initialize": capsule("uattn_xla_cuda_initialize"),
            "execute": capsule("uattn_xla_cuda_execute"),
        }
        jax.ffi.register_ffi_target(target, stages, platform="CUDA")


_register()
_add_prebuilt()
