"""Runs the compiler's program: a module's text in, an artifact's bytes out.

The compiler is a process of its own, so that its LLVM meets no other one.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from . import _files

# The tools' exit codes that are not the user's mistake.
_USER_MISTAKE = 2


def run_tool(name: str, arguments: list[str], text: str = "", called: str = "") -> None:
    """Runs a bundled program on `text` as its stdin, which its messages shall
    call `called`; raises ValueError for the user's mistake and RuntimeError for
    all else, with the program's message."""
    done = subprocess.run(
        [str(_files.program(name)), *arguments],
        input=text.encode(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode == 0:
        return
    message = done.stderr.decode(errors="replace").strip()
    message = message.replace("<stdin>", called)
    if done.returncode == _USER_MISTAKE:
        raise ValueError(message)
    raise RuntimeError(message or f"{name} ended with {done.returncode}")


@functools.cache
def _digest(path: pathlib.Path) -> str:
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def version() -> str:
    """Says of two compilers whether they are one: what their file holds."""
    return _digest(_files.program("uattn-compile"))


def _assembler() -> pathlib.Path | None:
    """The assembler that uattn-compile finds by itself, in its order."""
    found = shutil.which("ptxas")
    if found:
        return pathlib.Path(found)
    roots = [os.environ.get("CUDA_HOME"), "/usr/local/cuda"]
    for name in ("bin/ptxas", "lib64/libnvJitLink.so.13", "lib/libnvJitLink.so.13"):
        for root in roots:
            if root and (path := pathlib.Path(root) / name).is_file():
                return path
    return None


def assembler_version(ptxas: str | None) -> str:
    """Says of two assemblers whether they are one: path, size and age."""
    if ptxas == "none":
        return "none"
    path = pathlib.Path(ptxas) if ptxas else _assembler()
    if path is None or not path.is_file():
        return "none"
    path = path.resolve()
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def compile_text(text: str, called: str, chip: str, ptxas: str | None) -> bytes:
    """The artifact of a module; ValueError with its diagnostics, which call it
    `called`, where it is wrong."""
    with tempfile.TemporaryDirectory(prefix="uattn-") as folder:
        output = pathlib.Path(folder) / "module.uattn"
        arguments = ["-", "-o", str(output), f"--chip={chip}"]
        if ptxas:
            arguments.append(f"--ptxas={ptxas}")
        run_tool("uattn-compile", arguments, text, called)
        return output.read_bytes()
