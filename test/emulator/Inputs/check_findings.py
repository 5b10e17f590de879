#!/usr/bin/env python3
"""Runs kernels that have one fault each, and their clean twins, in several
orders: every order must find the fault, none may find anything in the twin.

Usage: check_findings.py FOLDER
  Every .ptx of FOLDER says in comments how it is launched and what is found:
    // launch: STATEMENT   of the launch description ('block 32' where no
                           statement has a block)
    // CHECK: TEXT         for FileCheck; there must be no other finding. `OR`
                           lines say the same where the other party came first.
    ... // clean: TEXT     the clean twin has TEXT in the line's place
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import subprocess
import sys

SEEDS = 12


def run(ptx, launch, *options):
    command = ["uattn-run", ptx, f"--launch={launch}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_launch(text, path):
    statements = re.findall(r"^// launch: (.*)$", text, re.MULTILINE)
    if not any(line.startswith("block") for line in statements):
        statements.append("block 32")
    if not any(line.startswith("buffer") for line in statements):
        statements.append("buffer unused u32 1 out")
    path.write_text("\n".join(statements) + "\n")


def file_check(ptx, prefix, report):
    command = ["FileCheck", ptx, f"--check-prefix={prefix}"]
    command += ["--implicit-check-not=cta (", "--dump-input=never"]
    return subprocess.run(command, input=report, capture_output=True, text=True, check=False)


def is_expected(ptx, text, report):
    found = file_check(ptx, "CHECK", report)
    if found.returncode and "// OR: " in text:
        found = file_check(ptx, "OR", report)
    if found.returncode:
        errors = [line for line in found.stderr.splitlines() if "error:" in line]
        print(f"{ptx}: not the expected report:\n{report}", *errors, sep="\n")
    return found.returncode == 0


def check_fault(ptx, text, launch):
    reports = set()
    for seed in range(SEEDS):
        result = run(ptx, launch, f"--schedule-seed={seed}")
        if result.returncode != 1:
            print(f"{ptx}: exit code {result.returncode} with seed {seed}, wanted 1\n{result.stderr}")
            return False
        reports.add(result.stderr)
    return all([is_expected(ptx, text, report) for report in sorted(reports)])


def check_twin(ptx, text, launch):
    twin = ptx.parent / "twins" / ptx.name
    twin.parent.mkdir(exist_ok=True)
    clean = re.sub(r"^.*// clean: ?", "", text, flags=re.MULTILINE)
    if clean == text:
        print(f"{ptx}: no line has a clean twin")
        return False
    twin.write_text(clean)
    result = run(twin, launch, f"--schedules={SEEDS}")
    if result.returncode or result.stderr:
        print(f"{twin}: exit code {result.returncode}, wanted 0 and no report\n{result.stderr}")
    return result.returncode == 0 and not result.stderr


def check(ptx):
    text = ptx.read_text()
    launch = ptx.with_suffix(".launch")
    write_launch(text, launch)
    return all([check_fault(ptx, text, launch), check_twin(ptx, text, launch)])


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.ptx"))
    results = [check(ptx) for ptx in files]
    print(f"{sum(results)} of {len(files)} right")
    if not files or not all(results):
        sys.exit(1)


main()
