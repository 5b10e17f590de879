#!/usr/bin/env python3
"""Fails when a file includes what its layer must not know.

The table below is the design's: a layer may include the headers of the layers
that it uses, directly or through others. From outside a layer only its own
`<layer>/<layer>.h` (see OPEN_HEADERS) and its public headers in include/uattn
may be included.
Usage: check_layers.py [ROOT]
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

# Layer: the layers right below it.
USES = {
    "support": [],
    "spec": ["support"],
    "mask": ["spec"],
    "plan": ["mask"],
    "artifact": ["spec"],
    "reference": ["spec"],
    "host": ["mask"],
    "runtime": ["artifact"],
    "emulator": ["artifact"],
    "dialect": ["plan"],
    "emit": ["dialect"],
    "passes": ["emit"],
    "target": ["emit"],
    "compiler": ["passes", "target", "artifact"],
    "tools": ["compiler", "runtime", "emulator", "reference", "host"],
    "python_bindings": ["compiler", "runtime", "emulator", "reference", "host"],
}

# Tests may look into any layer, at private headers too.
UNCHECKED = {"test"}

# Layers (and tools) that stay free of MLIR and LLVM.
WITHOUT_MLIR = {
    "support", "spec", "mask", "plan", "reference", "artifact", "emulator",
    "runtime", "host", "tools/uattn-run",
}

# Public header: the layer that it belongs to.
PUBLIC = {
    "base": "support",
    "error": "support",
    "problem": "spec",
    "artifact": "artifact",
    "exchange": "runtime",
    "kernels": "artifact",
    "reference": "reference",
    "runtime": "runtime",
    "tensor": "spec",
    "host": "host",
    "emulator": "emulator",
    "mlir": "dialect",
    "compiler": "compiler",
}

# A layer's headers that other layers may include, where it is not the one that
# has the layer's name: ops are built through emit's builders by all above it;
# call.h of artifact is for those that launch kernels, parallel_for.h of support
# for those that compute.
OPEN_HEADERS = {
    "artifact": {"artifact.h", "call.h"},
    "emit": {"emit.h", "builder.h", "clamp_bounds.h", "mask_algebra.h",
             "pipeline_builder.h", "thread_builder.h"},
    "support": {"support.h", "parallel_for.h"},
    "passes": {"pass.h", "pass_pipeline.h", "plan_attribute.h", "walk.h"},
}

# Folder: words that its code must not use, and why. `emit` takes names and
# types from the dialect and its decisions from a plan.
READS_ATTRIBUTES = (
    r"uattn_op_(get|has)_\w+|uattn_op_view|uattn_problem_from_op|"
    r"mlirOperationGet(Discardable|Inherent)?Attribute\w*"
)
FORBIDDEN_WORDS = [
    ("lib/emit", READS_ATTRIBUTES, "emit takes a plan, never attributes"),
    ("lib", r"getenv|secure_getenv", "the environment is read in tools alone"),
    ("passes", r"getenv|secure_getenv", "the environment is read in tools alone"),
    ("lib", r"exit|_exit|abort|assert", "return an error or use UATTN_CHECK"),
    ("passes", r"exit|_exit|abort|assert", "return an error or use UATTN_CHECK"),
]
MAY_ABORT = {"lib/support/check.c"}

COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
MLIR = re.compile(r"^(mlir|llvm)(-c)?/")
CUDA = re.compile(r"^(cuda|nv|cublas|cudnn)[A-Za-z_]*(\.h$|/)", re.IGNORECASE)
CPP_SUFFIXES = {".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"}


def everything_below(layer):
    found = {layer}
    for used in USES[layer]:
        found |= everything_below(used)
    return found


def layer_of(path):
    """The layer of a path relative to the root; None where none is meant."""
    parts = path.parts
    if parts[:2] == ("include", "uattn"):
        return PUBLIC.get(path.stem)
    if parts[0] == "lib" and len(parts) > 2:
        return parts[1]
    return parts[0]


def target_of(root, path, name):
    """The file that a quoted include means, relative to the root, or None."""
    for folder in (path.parent, pathlib.Path("include"), pathlib.Path("lib"),
                   pathlib.Path(".")):
        if (root / folder / name).is_file():
            return pathlib.Path(*(folder / name).parts)
    return None


def may_include(layer, target):
    """A complaint about a layer's include of a file, or None."""
    owner = layer_of(target)
    if owner not in USES:
        return f"{target} belongs to no layer"
    if owner not in everything_below(layer):
        return f"layer {layer} must not know layer {owner}"
    is_public = target.parts[0] == "include"
    is_open = target.name in OPEN_HEADERS.get(owner, {owner + ".h"})
    if owner != layer and not is_public and not is_open:
        return f"{target} is private to layer {owner}"
    return None


def check_file(root, path):
    layer = layer_of(path)
    if layer in UNCHECKED:
        return
    if layer not in USES:
        yield f"{path}: belongs to no layer: expected one of {', '.join(USES)}"
        return
    folder = "/".join(path.parts[:2])
    is_without_mlir = layer in WITHOUT_MLIR or folder in WITHOUT_MLIR
    text = (root / path).read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        name = match[2]
        complaint = None
        if MLIR.match(name):
            if is_without_mlir:
                complaint = f"{folder} must not know MLIR or LLVM"
            elif not re.match(r"^(mlir|llvm)-c/", name):
                complaint = "only the C interface may be used"
        elif CUDA.match(name):
            complaint = "no file may need the CUDA toolkit"
        elif match[1] == '"':
            target = target_of(root, path, name)
            complaint = may_include(layer, target) if target else "no such header"
        if complaint:
            yield f"{path}:{line}: includes `{name}`: {complaint}"


def blank(match):
    """As many lines as the comment or text had."""
    return "\n" * match[0].count("\n")


def check_words(root, path):
    if str(path) in MAY_ABORT:
        return
    text = COMMENT_OR_TEXT.sub(blank, (root / path).read_text(encoding="utf-8"))
    for folder, words, reason in FORBIDDEN_WORDS:
        if not str(path).startswith(folder + "/"):
            continue
        for match in re.finditer(rf"\b({words})\s*\(", text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: calls `{match[1]}`: {reason}"


def sources(root):
    for top in ("include", "lib", "passes", "tools", "python_bindings", "test"):
        for path in sorted((root / top).rglob("*")):
            if path.is_file():
                yield path.relative_to(root)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                        pathlib.Path(__file__).resolve().parents[2])
    complaints = []
    checked = 0
    names = {}
    for path in sources(root):
        if path.suffix in CPP_SUFFIXES:
            complaints.append(f"{path}: C++: expected C11")
        if path.suffix not in {".c", ".h"}:
            continue
        checked += 1
        complaints += check_file(root, path)
        complaints += check_words(root, path)
        is_public = path.parts[0] == "include"
        if not is_public and "Inputs" not in path.parts:
            if path.name in names:
                complaints.append(f"{path}: the name is also that of "
                                  f"{names[path.name]}: expected unique names")
            names[path.name] = path
    if not checked:
        complaints.append(f"{root}: holds no C file")
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"check_layers: {checked} files, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
