#!/usr/bin/env python3
"""Runs golden cases through uattn-run, files in and out.

The first form writes the results of CASE, a folder of test/Inputs/golden, to
FOUND/out.npy and the like. The second wants every case but those named to be
refused as not compiled yet.

Usage: run_golden.py CASE FOUND [options of uattn-run]
       run_golden.py --all-refused-but=NAME[,NAME...] CASES FOUND [options]
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


def all_refused(compiled, cases, found, options):
    wrong = 0
    count = 0
    for case in sorted(path.parent for path in cases.glob("*/case.json")):
        if case.name in compiled:
            continue
        done = run(case, found, options)
        is_refused = done.returncode == 2 and "compiled yet" in done.stderr
        wrong += not is_refused
        count += 1
        if not is_refused:
            print(f"{case.name}: exit code {done.returncode}: expected a refusal: {done.stderr}")
    print(f"{count} cases, {wrong} not refused")
    return 1 if wrong or not count else 0


def main():
    arguments = sys.argv[1:]
    prefix = "--all-refused-but="
    if arguments[0].startswith(prefix):
        compiled = arguments.pop(0)[len(prefix):].split(",")
        cases, found = map(pathlib.Path, arguments[:2])
        return all_refused(compiled, cases, found, arguments[2:])
    done = run(*map(pathlib.Path, arguments[:2]), arguments[2:])
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
