#!/usr/bin/env python3
"""Runs a .ptx by launch descriptions that are wrong.

The cases stand in a test's text after its first line of ===: a line
"=== MESSAGE", then the description. uattn-run must end with 2 and say
"DESCRIPTION:MESSAGE".

Usage: refuse_launches.py TEST PTX SCRATCH
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys


def main():
    test, ptx, scratch = sys.argv[1:4]
    cases = pathlib.Path(test).read_text(encoding="utf-8").split("\n=== ")[1:]
    path = pathlib.Path(f"{scratch}.launch")
    failed = 0
    for case in cases:
        message, _, description = case.partition("\n")
        path.write_text(description, encoding="utf-8")
        done = subprocess.run(
            ["uattn-run", ptx, f"--launch={path}"], capture_output=True, text=True, check=False
        )
        if done.returncode != 2 or f"uattn-run: {path}:{message}" not in done.stderr:
            failed += 1
            print(f"wanted {message}\nfound {done.returncode}: {done.stderr}", file=sys.stderr)
    print(f"{len(cases)} cases, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
