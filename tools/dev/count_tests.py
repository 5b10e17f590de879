#!/usr/bin/env python3
"""Adds up lit's result files into the line "N passed, N failed, N skipped".

Fails when a test failed or none passed.
Usage: count_tests.py RESULTS.json...
SPDX-License-Identifier: Apache-2.0
"""

import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    passed = failed = skipped = 0
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
        except (OSError, ValueError, KeyError) as error:
            print(f"count_tests: cannot read `{path}`: {error}", file=sys.stderr)
            failed += 1
            continue
        for test in tests:
            if test["code"] in PASSED:
                passed += 1
            elif test["code"] in SKIPPED:
                skipped += 1
            else:
                failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
