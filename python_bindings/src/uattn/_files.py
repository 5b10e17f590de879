"""Finds the libraries and programs that the package runs.

Knows only where files lie, not what they do.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import pathlib

PREFIX_VARIABLE = "UATTN_PREFIX"
_BUNDLED = pathlib.Path(__file__).parent / "_bundled"


def prefix() -> pathlib.Path:
    """The folder that holds `bin` and `lib`: $UATTN_PREFIX (a build folder or
    an installed tree), else what the wheel brought along."""
    named = os.environ.get(PREFIX_VARIABLE)
    return pathlib.Path(named) if named else _BUNDLED


def library(name: str) -> pathlib.Path:
    """The shared library `name`; FileNotFoundError where it is missing."""
    return _required(prefix() / "lib" / f"lib{name}.so")


def program(name: str) -> pathlib.Path:
    """The program `name`; FileNotFoundError where it is missing."""
    return _required(prefix() / "bin" / name)


def _required(path: pathlib.Path) -> pathlib.Path:
    if path.is_file():
        return path
    raise FileNotFoundError(
        f"{path} is missing: expected it from the wheel of uattn, or a build "
        f"or installed tree named by {PREFIX_VARIABLE}"
    )
