#!/usr/bin/env python3
"""Copies a module from stdin to stdout, its gpu.modules from the last to the first.

Usage: reverse_modules.py < lowered.mlir > reversed.mlir
SPDX-License-Identifier: Apache-2.0
"""

import re
import sys


def main():
    text = sys.stdin.read()
    starts = [match.start() for match in re.finditer(r"^  gpu\.module", text, re.MULTILINE)]
    end = text.rindex("}")
    modules = [text[a:b] for a, b in zip(starts, starts[1:] + [end])]
    sys.stdout.write(text[:starts[0]] + "".join(reversed(modules)) + text[end:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
