"""Compiles each public header alone as strict C11 and as C++17.

Usage: compile_headers.py INCLUDE LLVM_INCLUDE C_COMPILER
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

include, llvm_include, compiler = sys.argv[1:]
headers = sorted(pathlib.Path(include, "uattn").glob("*.h"))
assert len(headers) >= 4, f"only {len(headers)} headers in {include}"
failures = 0
for header in headers:
    line = f'#include "uattn/{header.name}"\n'
    for language, standard in (("c", "c11"), ("c++", "c++17")):
        result = subprocess.run(
            [compiler, "-x", language, f"-std={standard}", "-pedantic-errors",
             "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}",
             "-isystem", llvm_include, "-"],
            input=line * 2 + "int main(void) { return 0; }\n", text=True)
        if result.returncode != 0:
            print(f"{header.name} does not compile alone as {standard}")
            failures += 1
sys.exit(1 if failures else 0)
