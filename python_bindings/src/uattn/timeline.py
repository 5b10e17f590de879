"""Draws who does what when in a kernel, from a run on the emulator.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Mapping, Sequence

from . import _compiler
from .artifact import Artifact


def timeline(
    artifact: Artifact,
    shapes: Mapping[str, Sequence[int]] | None = None,
    *,
    function: str | None = None,
    cta: int = 0,
    cycles: tuple[int, int] | None = None,
    seed: int = 0,
) -> str:
    """An SVG of one CTA of each kernel: a lane for each warpgroup, the copy
    engine and the tensor cores, over emulated cycles.

    `shapes` gives those of arguments with dynamic dimensions, by name; inputs
    are drawn from `seed`. `cycles` is the range to draw.
    """
    if not isinstance(artifact, Artifact):
        raise TypeError(
            f"artifact is a {type(artifact).__name__}: expected a uattn.Artifact"
        )
    with tempfile.TemporaryDirectory(prefix="uattn-") as folder:
        source = pathlib.Path(folder) / "module.uattn"
        drawing = pathlib.Path(folder) / "timeline.svg"
        artifact.write(source)
        arguments = [
            str(source),
            "--device=emulator",
            f"--function={artifact.functions[artifact.function_index(function)]}",
            f"--timeline={drawing}",
            f"--timeline-cta={cta}",
            f"--seed={seed}",
        ]
        if cycles is not None:
            arguments.append(f"--timeline-range={cycles[0]}:{cycles[1]}")
        for name, shape in (shapes or {}).items():
            arguments.append(f"--shape={name}:" + "x".join(map(str, shape)))
        _compiler.run_tool("uattn-run", arguments)
        return drawing.read_text(encoding="utf-8")
