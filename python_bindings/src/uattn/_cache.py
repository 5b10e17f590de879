"""Keeps artifacts on disk: those that were compiled, and prebuilt ones.

A file's name says all of what its content follows from. Files appear whole, by
renaming, so that processes may share a folder.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import tempfile
import warnings

CACHE_VARIABLE = "UATTN_CACHE_DIR"
PREBUILT_VARIABLE = "UATTN_PREBUILT_PATH"
SUFFIX = ".uattn"


def cache_dir() -> pathlib.Path:
    """Where compiled artifacts are kept: $UATTN_CACHE_DIR, else
    $XDG_CACHE_HOME/uattn, else ~/.cache/uattn."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return pathlib.Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(home) if home else pathlib.Path.home() / ".cache") / "uattn"


def prebuilt_dirs() -> list[pathlib.Path]:
    """The folders of $UATTN_PREBUILT_PATH, which colons separate."""
    named = os.environ.get(PREBUILT_VARIABLE, "")
    return [pathlib.Path(folder) for folder in named.split(os.pathsep) if folder]


def file_name(**facts: str) -> str:
    """The name of what follows from `facts`."""
    text = json.dumps(facts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest() + SUFFIX


def find_prebuilt(name: str) -> pathlib.Path | None:
    """The first prebuilt artifact of that name."""
    for folder in prebuilt_dirs():
        try:
            if (folder / name).is_file():
                return folder / name
        except OSError as error:
            warnings.warn(
                f"{PREBUILT_VARIABLE}: left out: {error}", RuntimeWarning, stacklevel=3
            )
    return None


def read(name: str) -> bytes | None:
    """What the cache holds under a name; None where it cannot be read."""
    try:
        return (cache_dir() / name).read_bytes()
    except (OSError, RuntimeError):  # the latter: nobody's home
        return None


def keep(name: str, data: bytes) -> None:
    """Puts data into the cache; where that is not possible, a warning says so."""
    try:
        write(cache_dir() / name, data)
    except (OSError, RuntimeError) as error:
        warnings.warn(
            f"nothing is cached: {error}; set {CACHE_VARIABLE} to a folder that "
            "can be written",
            RuntimeWarning,
            stacklevel=3,
        )


def write(path: pathlib.Path, data: bytes) -> None:
    """Makes or replaces a file, which nobody sees in part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".partial-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(scratch, 0o644)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
