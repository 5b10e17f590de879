#!/usr/bin/env python3
"""Prints how often each opcode stands in a PTX file, with its first modifiers
for wgmma: a line "OPCODE COUNT" each, sorted.

Usage: count_instructions.py FILE.ptx
SPDX-License-Identifier: Apache-2.0
"""

import collections
import re
import sys

INSTRUCTION = re.compile(r"^\s*(?:@!?[%\w]+\s+)?([a-z][a-z0-9_]*(?:[.:]+[a-z0-9_]+)+)[\s;]")


def main():
    counts = collections.Counter()
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            found = INSTRUCTION.match(line)
            if found:
                counts[found.group(1)] += 1
    for opcode, count in sorted(counts.items()):
        print(f"{opcode} {count}")


if __name__ == "__main__":
    main()
