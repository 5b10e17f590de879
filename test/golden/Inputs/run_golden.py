#!/usr/bin/env python3
"""Runs a golden case through uattn-run, files in and out.

Writes the results of CASE, a folder of test/Inputs/golden, to FOUND/out.npy and
the like.

Usage: run_golden.py CASE FOUND [options of uattn-run]
SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import subprocess
import sys


def run(case, found, options):
    """What uattn-run did."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    command = ["uattn-run", case / "case.mlir", *options]
    command += [f"--input={case / f'in_{name}.npy'}" for name in facts["inputs"]]
    command += [f"--output={found / name}.npy" for name in facts["results"]]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    arguments = sys.argv[1:]
    done = run(*map(pathlib.Path, arguments[:2]), arguments[2:])
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
