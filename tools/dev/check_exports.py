#!/usr/bin/env python3
"""Fails unless each library exports what its installed headers declare.

Installs the two components into scratch folders and compares the functions
marked UATTN_EXPORT with the library's dynamic symbols, both ways.
Usage: check_exports.py BUILD_FOLDER
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Headers of the runtime's component that are not those of a library: the
# compiler runs nothing, and the reference knows of problems, tensors and errors
# alone.
NOT_OF_COMPILER = {"emulator.h", "exchange.h", "host.h", "runtime.h"}
NOT_OF_RUNTIME = {"reference.h"}
OF_REFERENCE = {"base.h", "error.h", "problem.h", "reference.h", "tensor.h"}

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
EXPORTED = re.compile(r"\bUATTN_EXPORT\b[^;{]*?\b(uattn_\w+)\s*\(")


def declared(headers):
    names = set()
    for header in headers:
        text = COMMENT.sub("", header.read_text(encoding="utf-8"))
        names |= set(EXPORTED.findall(text))
    return names


def exported(library):
    text = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--format=posix", str(library)],
        check=True, capture_output=True, text=True).stdout
    return {line.split()[0].split("@")[0] for line in text.splitlines()}


def install(build, component, prefix):
    subprocess.run(
        ["cmake", "--install", build, "--component", component, "--prefix",
         str(prefix)],
        check=True, stdout=subprocess.DEVNULL)
    return sorted((prefix / "include" / "uattn").glob("*.h"))


def compare(library, headers):
    """Complaints about a library and its headers."""
    wanted = declared(headers)
    found = exported(library)
    if not wanted:
        yield f"{library.name}: its headers declare nothing"
    for name in sorted(wanted - found):
        yield f"{library.name}: {name} is declared and not exported"
    for name in sorted(found - wanted):
        yield f"{library.name}: {name} is exported and not declared"


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        runtime = pathlib.Path(folder) / "runtime"
        compiler = pathlib.Path(folder) / "compiler"
        runtime_headers = install(build, "runtime", runtime)
        compiler_headers = install(build, "compiler", compiler)
        complaints = list(compare(
            runtime / "lib/libuattn_runtime.so",
            [h for h in runtime_headers if h.name not in NOT_OF_RUNTIME]))
        complaints += compare(
            runtime / "lib/libuattn_reference.so",
            [h for h in runtime_headers if h.name in OF_REFERENCE])
        complaints += compare(
            compiler / "lib/libuattn.so",
            [h for h in runtime_headers if h.name not in NOT_OF_COMPILER]
            + compiler_headers)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"check_exports: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
